/* Small helpers on text that several rooms need. */
#ifndef SONDE_BASE_TEXT_H
#define SONDE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A list in place, which NULL ends. */
#define TEXTS(...)                                                             \
    (const char *const[])                                                      \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }

/*
 * Whole text as an unsigned number: decimal or 0x…, with an optional suffix
 * K, M, G or T (KiB, MiB, …, an "iB" or "B" may follow).  False if it is
 * anything else or does not fit.
 */
bool text_to_u64(const char *text, uint64_t *value);

/* Where the word is in `words` (NULL ends); of one that is not, their number.
 */
size_t text_find(const char *word, const char *const *words);
bool text_is_among(const char *word, const char *const *words);

/* The name of `names` (NULL-terminated) nearest to `word` by edit distance;
 * NULL when none is near enough to be what was meant. */
const char *text_nearest(const char *word, const char *const *names);
/* What a complaint ends with: "; did you mean 'NAME'?", or "". */
struct text_guess {
    char text[128];
};
struct text_guess text_guess(const char *word, const char *const *names);

/* True if `text` matches `pattern`, where * stands for any run. */
bool text_glob(const char *pattern, const char *text);

/* The line of the text that a complaint means by "line N", from 1, without the
 * blanks before it; NULL: it means none.  The caller frees. */
char *text_line_meant(const char *text, const char *complaint);

/* The numbers that are `in`, as ranges: "0-3,8".  The caller frees. */
char *text_ranges(const bool *in, size_t count);
/* The other way: sets what the text names; false where it is something else, or
 * names a number that is not below `count`. */
bool text_to_set(const char *text, bool *in, size_t count);

/* ---- characters --------------------------------------------------------- */

/* What the text begins with, in UTF-8. */
struct text_character {
    uint32_t code; /* of Unicode, if it is valid */
    size_t bytes;  /* of what is none, those that seem to be of one */
    bool valid;
    bool shown; /* neither steers a terminal nor turns the text around it: no
                   control, no sign of direction, none that ends a line */
};

struct text_character text_character(const char *text);

/* Text of others as it may stand in a line that a person or a program reads:
 * what is not shown is written out, as \x1b, and tabs and ends of lines are
 * spaces. */
void text_put_plain(struct buf *out, const char *text);
/* The same; the caller frees. */
char *text_plain(const char *text);

#endif
