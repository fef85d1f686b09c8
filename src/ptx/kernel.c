#include "ptx/kernel.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
        const size_t length = strcspn(word, ", ");
        buf_printf(out, "%s\n    .param .u64 %.*s", before, (int)length, word);
        before = ",";
        word += length;
        word += strspn(word, ", ");
    }
}

void kernel_open(struct kernel_text *k, struct buf *out, int cc,
                 const struct kernel_head *head)
{
    const char *version = version_for(cc);
    if (head->least != NULL && number_of(head->least) > number_of(version))
        version = head->least;
    *k = (struct kernel_text){.out = out};
    buf_printf(out, ".version %s\n.target sm_%d%s\n.address_size 64\n\n",
               version, cc, head->only ? "a" : "");
    if (head->variables != NULL)
        buf_text(out, head->variables);
    buf_printf(out, ".visible .entry %s(", head->name);
    write_parameters(out, head->parameters);
    buf_text(out, ")\n");
    if (head->resident_blocks > 0)
        buf_printf(out, ".maxntid %u, 1, 1\n.minnctapersm %u\n", head->threads,
                   head->resident_blocks);
    buf_text(out, "{\n");
}

void kernel_end(struct kernel_text *k)
{
    ptx(k, "ret;");
    buf_text(k->out, "}\n");
}

/* ---- blocks ------------------------------------------------------------ */

struct ptx_word ptx_word_text(const char *name, const char *text)
{
    return (struct ptx_word){.name = name, .text = text};
}

struct ptx_word ptx_word_signed(const char *name, int64_t number)
{
    struct ptx_word word = {.name = name};
    snprintf(word.number, sizeof word.number, "%" PRId64, number);
    return word;
}

struct ptx_word ptx_word_unsigned(const char *name, uint64_t number)
{
    struct ptx_word word = {.name = name};
    snprintf(word.number, sizeof word.number, "%" PRIu64, number);
    return word;
}

static const struct ptx_word *find_among(const struct ptx_word *words,
                                         const char *name, size_t length)
{
    for (; words->name != NULL; words++)
        if (strlen(words->name) == length &&
            strncmp(words->name, name, length) == 0)
            return words;
    return NULL;
}

/* One of these words or of the kernel's; a text with an unknown one is a
 * mistake of the program. */
static const struct ptx_word *find_word(const struct kernel_text *k,
                                        const struct ptx_word *words,
                                        const char *name, size_t length)
{
    const struct ptx_word *found = find_among(words, name, length);
    if (found == NULL)
        found = find_among(k->words, name, length);
    if (found != NULL)
        return found;
    fprintf(stderr, "sonde: no word for $%.*s\n", (int)length, name);
    abort();
}

/* Writes what $word or ${word} stands for; returns what follows it. */
static const char *write_word(struct kernel_text *k, const char *at,
                              const struct ptx_word *words)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const bool braced = at[1] == '{';
    const char *const name = at + 1 + braced;
    const size_t length = strspn(name, letters);
    const struct ptx_word *const word = find_word(k, words, name, length);
    buf_text(k->out, word->text != NULL ? word->text : word->number);
    return name + length + braced;
}

/* One line, up to \n or the end; returns where it ends. */
static const char *write_line(struct kernel_text *k, const char *at,
                              const struct ptx_word *words)
{
    const size_t length = strcspn(at, "\n");
    const char *const end = at + length;
    if (length == 0 || end[-1] != ':')
        buf_text(k->out, "    ");
    while (at < end) {
        const size_t plain = strcspn(at, "$\n");
        buf_append(k->out, at, plain);
        at += plain;
        if (*at == '$')
            at = write_word(k, at, words);
    }
    buf_text(k->out, "\n");
    return end;
}

void ptx_substitute(struct kernel_text *k, const char *text,
                    const struct ptx_word *words)
{
    while (*text != '\0') {
        text = write_line(k, text, words);
        text += *text == '\n';
    }
}

void ptx(struct kernel_text *k, const char *text)
{
    ptx_substitute(k, text, &(struct ptx_word){0});
}

void ptx_times(struct kernel_text *k, unsigned count, const char *text)
{
    for (unsigned i = 0; i < count; i++)
        ptx_with(k, text, WORD(i, i));
}

void ptx_define(struct kernel_text *k, const struct ptx_word *words)
{
    for (; words->name != NULL; words++) {
        assert(k->word_count < KERNEL_WORDS);
        k->words[k->word_count++] = *words;
    }
}

void ptx_note(struct kernel_text *k, const char *text)
{
    ptx_with(k, "// $text", WORD(text, text));
}
