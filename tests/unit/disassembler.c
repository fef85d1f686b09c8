#include "unit/disassembler.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "ptx/sass/listing.h"
#include "testing.h"

#define IN_PATH "PATH=$PATH:/usr/local/cuda/bin; "

enum { LINE_MAX_BYTES = 4096 };

bool disassembler_installed(void)
{
    return system(IN_PATH "command -v nvdisasm >/dev/null") == 0;
}

/* A kernel's name out of "//---- .text.NAME ----". */
static bool begins_kernel(const char *line, char *kernel)
{
    return sscanf(line, "//%*[-] .text.%511s", kernel) == 1;
}

/* The address and the mnemonic with its words of
 * "/\*0040*\/   @!P0 IMAD.WIDE R2, …"; false for other lines. */
static bool is_instruction(const char *line, unsigned long *at, char *mnemonic)
{
    char guard[32];
    if (sscanf(line, " /*%lx*/ %31s", at, guard) != 2)
        return false;
    return sscanf(line,
                  guard[0] == '@' ? " /*%*x*/ %*s %511[^ ;]"
                                  : " /*%*x*/ %511[^ ;]",
                  mnemonic) == 1;
}

static bool has_word(const char *mnemonic, const char *word, size_t length)
{
    for (const char *w = mnemonic; *w != '\0'; w += *w == '.') {
        const size_t n = strcspn(w, ".");
        if (n == length && memcmp(w, word, n) == 0)
            return true;
        w += n;
    }
    return false;
}

static void assert_same(const struct sass *s, const char *mnemonic,
                        const char *where)
{
    const size_t name = strcspn(mnemonic, ".");
    ck_assert_msg(strlen(s->name) == name &&
                      memcmp(s->name, mnemonic, name) == 0,
                  "%s: %s is read as %s", where, mnemonic, s->form);
    for (const char *w = s->form; *w != '\0'; w += *w == '.') {
        const size_t n = strcspn(w, ".");
        ck_assert_msg(has_word(mnemonic, w, n), "%s: %s is read as %s", where,
                      mnemonic, s->form);
        w += n;
    }
}

/* The kernels of a file are compared one after the other. */
struct comparison {
    const char *path;
    struct buf file;
    char kernel[512];
    struct listing listing;
    unsigned long compared;
};

static void begin_kernel(struct comparison *c, const char *kernel)
{
    struct error err;
    listing_free(&c->listing);
    snprintf(c->kernel, sizeof c->kernel, "%s", kernel);
    ASSERT_DONE(
        listing_read(c->file.data, c->file.length, kernel, &c->listing, &err),
        err);
}

static void compare(struct comparison *c, unsigned long at,
                    const char *mnemonic)
{
    char where[1024];
    snprintf(where, sizeof where, "%s, %s at %#lx", c->path, c->kernel, at);
    ck_assert_msg(at / SASS_BYTES < c->listing.count, "%s: not there", where);
    assert_same(&c->listing.code[at / SASS_BYTES], mnemonic, where);
    c->compared++;
}

static void compare_line(struct comparison *c, const char *line)
{
    char word[512];
    unsigned long at;
    if (begins_kernel(line, word))
        begin_kernel(c, word);
    else if (c->kernel[0] != '\0' && is_instruction(line, &at, word))
        compare(c, at, word);
}

static FILE *start(const char *path)
{
    char *const command = xasprintf(IN_PATH "exec nvdisasm -c '%s'", path);
    FILE *const output = popen(command, "r");
    ck_assert_ptr_nonnull(output);
    free(command);
    return output;
}

static unsigned long finish(const char *path, FILE *output)
{
    struct comparison c = {.path = path};
    struct error err;
    char line[LINE_MAX_BYTES];
    ASSERT_DONE(file_read(path, 1 << 26, &c.file, &err), err);
    while (fgets(line, sizeof line, output) != NULL)
        compare_line(&c, line);
    ck_assert_int_eq(pclose(output), 0);
    listing_free(&c.listing);
    buf_free(&c.file);
    return c.compared;
}

unsigned long disassembler_compare(const char *path)
{
    return finish(path, start(path));
}

enum { AT_ONCE = 16 };

unsigned long disassembler_compare_all(char *const *paths, size_t count)
{
    FILE *runs[AT_ONCE] = {NULL};
    unsigned long compared = 0;
    for (size_t i = 0; i < count + AT_ONCE; i++) {
        FILE **const run = &runs[i % AT_ONCE];
        if (*run != NULL)
            compared += finish(paths[i - AT_ONCE], *run);
        *run = i < count ? start(paths[i]) : NULL;
    }
    return compared;
}
