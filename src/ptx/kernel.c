#include "ptx/kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The lowest PTX version for each architecture (PTX ISA, release notes): the
 * first row whose capability is not above the device's. */
static const struct {
    int cc;
    const char *version;
} versions[] = {
    {120, "8.7"}, {103, "8.8"}, {101, "8.6"}, {100, "8.6"},
    {90, "7.8"},  {89, "7.8"},  {87, "7.4"},  {86, "7.1"},
    {80, "7.0"},  {75, "6.3"},  {0, "6.0"},
};

static const char *version_for(int cc)
{
    size_t i = 0;
    while (versions[i].cc > cc)
        i++;
    return versions[i].version;
}

/* The newest PTX version that CUDA's drivers take (PTX ISA, release notes):
 * the first row whose CUDA is not above theirs. */
static const struct {
    int cuda;
    const char *version;
} taken[] = {
    {1300, "9.0"}, {1209, "8.8"}, {1208, "8.7"}, {1207, "8.6"}, {1205, "8.5"},
    {1204, "8.4"}, {1203, "8.3"}, {1202, "8.2"}, {1201, "8.1"}, {1200, "8.0"},
    {1108, "7.8"}, {1107, "7.7"}, {1106, "7.6"}, {1105, "7.5"}, {1104, "7.4"},
    {1103, "7.3"}, {1102, "7.2"}, {1101, "7.1"}, {1100, "7.0"}, {1002, "6.5"},
    {1001, "6.4"}, {1000, "6.3"}, {902, "6.2"},  {901, "6.1"},  {0, "6.0"},
};

/* 1204 for "12.4". */
static int number_of(const char *version)
{
    int major = 0, minor = 0;
    sscanf(version, "%d.%d", &major, &minor);
    return 100 * major + minor;
}

bool kernel_driver_takes(const char *cuda, const char *ptx)
{
    size_t i = 0;
    while (taken[i].cuda > number_of(cuda))
        i++;
    return number_of(ptx) <= number_of(taken[i].version);
}

static void write_parameters(struct buf *out, const char *parameters)
{
    const char *before = "";
    for (const char *word = parameters; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        buf_printf(out, "%s\n    .param .u64 %.*s", before, (int)length, word);
        before = ",";
        word += length;
        word += strspn(word, " ");
    }
}

void kernel_begin(struct kernel_text *k, struct buf *out, int cc_major,
                  int cc_minor, const char *variables, const char *name,
                  const char *parameters)
{
    kernel_begin_since(k, out, cc_major, cc_minor, NULL, variables, name,
                       parameters);
}

/* All but what stands between the parameters and the body. */
static void write_head(struct kernel_text *k, struct buf *out, int cc,
                       const char *suffix, const char *least,
                       const char *variables, const char *name,
                       const char *parameters)
{
    const char *version = version_for(cc);
    if (least != NULL && number_of(least) > number_of(version))
        version = least;
    k->out = out;
    buf_printf(out, ".version %s\n.target sm_%d%s\n.address_size 64\n\n%s",
               version, cc, suffix, variables);
    buf_printf(out, ".visible .entry %s(", name);
    write_parameters(out, parameters);
    buf_text(out, ")\n");
}

void kernel_begin_since(struct kernel_text *k, struct buf *out, int cc_major,
                        int cc_minor, const char *least, const char *variables,
                        const char *name, const char *parameters)
{
    write_head(k, out, cc_major * 10 + cc_minor, "", least, variables, name,
               parameters);
    buf_text(out, "{\n");
}

void kernel_begin_only(struct kernel_text *k, struct buf *out, int cc_major,
                       int cc_minor, const char *least, const char *variables,
                       const char *name, const char *parameters)
{
    write_head(k, out, cc_major * 10 + cc_minor, "a", least, variables, name,
               parameters);
    buf_text(out, "{\n");
}

void kernel_begin_resident(struct kernel_text *k, struct buf *out, int cc_major,
                           int cc_minor, const char *least,
                           const char *variables, const char *name,
                           const char *parameters, unsigned threads,
                           unsigned blocks)
{
    write_head(k, out, cc_major * 10 + cc_minor, "", least, variables, name,
               parameters);
    buf_printf(out, ".maxntid %u, 1, 1\n.minnctapersm %u\n{\n", threads,
               blocks);
}

void kernel_line(struct kernel_text *k, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    const size_t length = strlen(line);
    const int label = length > 0 && line[length - 1] == ':';
    buf_printf(k->out, "%s%s\n", label ? "" : "    ", line);
}

void kernel_note(struct kernel_text *k, const char *text)
{
    kernel_line(k, "// %s", text);
}

void kernel_end(struct kernel_text *k)
{
    kernel_line(k, "ret;");
    buf_text(k->out, "}\n");
}
