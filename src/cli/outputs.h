/* Where reports go: standard output, and the files that --json, --csv, --html
 * and -o name, each in its format. */
#ifndef SONDE_CLI_OUTPUTS_H
#define SONDE_CLI_OUTPUTS_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/pattern.h"
#include "sonde.h"

/* True, or says which output of the options cannot be written and why: before
 * anything is measured. */
bool outputs_check(const struct options *options);

/* False, and it says so, where what is written of several GPUs would be one
 * file: it needs %i or %u in its name; or cannot stand one after the other on
 * standard output. */
bool outputs_check_several(const struct options *options);

/* The same options with the marks of names filled in, and without --record.
 * outputs_free() frees the names. */
struct options outputs_named(const struct options *options,
                             const struct pattern_names *names);
void outputs_free(struct options *named);
/* True, or says which of the files that have marks cannot be written. */
bool outputs_check_named(const struct options *options);

/* The option that asks for a file, as "--json"; NULL: none does. */
const char *outputs_option(const struct options *options);

/* True if text on standard output has colours. */
bool outputs_colored(const struct options *options);

/* A report that can be had in any format. */
struct shown {
    const char *format; /* on standard output, where --as says no other */
    bool tree;          /* text: the memory hierarchy, else a flat list */
    bool instead;       /* with -o nothing goes to standard output */
    bool only_files;    /* nothing goes there that no option sends there */
    int (*make)(const void *from, const char *format,
                const struct sonde_style *style, char **text,
                struct sonde_error *err);
    const void *from;
};

/* Writes it to all of them; returns the exit status. */
int outputs_write(const struct options *options, const struct shown *shown);

#endif
