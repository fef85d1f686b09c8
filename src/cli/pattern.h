/*
 * Names of files with marks for what is measured: %h the host, %i the number of
 * the GPU on it, %u its uuid, %% a percent sign.
 */
#ifndef SONDE_CLI_PATTERN_H
#define SONDE_CLI_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern_names {
    size_t index;
    const char *uuid; /* or what else tells the GPU; NULL: not known yet */
};

/* False, and it says so, if the path has a mark that is none. */
bool pattern_check(const char *option, const char *path);
/* True if it has that mark. */
bool pattern_has(const char *path, char mark);
/* With the marks filled in; of a path without one a copy.  The folder of a path
 * with marks is made if it is not there.  NULL for NULL; the caller frees. */
char *pattern_fill(const char *path, const struct pattern_names *names);

#endif
