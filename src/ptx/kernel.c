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
    {120, "8.7"},
    {103, "8.8"},
    {101, "8.6"},
    {100, "8.6"},
    {90,  "7.8"},
    {89,  "7.8"},
    {87,  "7.4"},
    {86,  "7.1"},
    {80,  "7.0"},
    {75,  "6.3"},
    {0,   "6.0"},
};

static const char *version_for(int cc)
{
    size_t i = 0;
    while (versions[i].cc > cc)
        i++;
    return versions[i].version;
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
    const int cc = cc_major * 10 + cc_minor;
    k->out = out;
    buf_printf(out, ".version %s\n.target sm_%d\n.address_size 64\n\n%s",
               version_for(cc), cc, variables);
    buf_printf(out, ".visible .entry %s(", name);
    write_parameters(out, parameters);
    buf_text(out, ")\n{\n");
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
