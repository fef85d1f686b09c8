/*
 * The string literals of a C source, for tests that say which may stand there.
 */
#ifndef SONDE_TESTS_LITERALS_H
#define SONDE_TESTS_LITERALS_H

#include <stdbool.h>
#include <stddef.h>

struct literal {
    const char *text; /* neighbours joined, escapes as written */
    size_t line;
    /* The function or macro that it is an argument of; else the word before it,
     * as of `return "…"`; else what the statement sets, as of `.question =
     * "…"`.
     */
    const char *of;
};

/* Shows each literal in turn. */
void literals_each(const char *source,
                   void (*see)(void *context, const struct literal *),
                   void *context);

/* True if it reads as a sentence: four words of letters or more. */
bool literal_is_prose(const char *text);

#endif
