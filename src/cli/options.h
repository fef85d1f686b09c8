/*
 * The command line: words and options in any order, by one table of rows
 * (options.def).
 */
#ifndef SONDE_CLI_OPTIONS_H
#define SONDE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_id {
#define OPTION(id, field, name, letter, argument, kind, help) OPTION_##id,
#include "cli/options.def"
#undef OPTION
    OPTION_COUNT
};

/* A set of options, for struct command. */
#define OPTION_BIT(id) (UINT64_C(1) << OPTION_##id)
/* Where a report goes. */
#define OPTIONS_OF_REPORTS                                                     \
    (OPTION_BIT(JSON) | OPTION_BIT(CSV) | OPTION_BIT(HTML) |                   \
     OPTION_BIT(OUTPUT) | OPTION_BIT(AS))
/* What all commands take that measure findings. */
#define OPTIONS_OF_RUNS                                                        \
    (OPTION_BIT(DEVICE) | OPTIONS_OF_REPORTS | OPTION_BIT(RECORD) |            \
     OPTION_BIT(SEED) | OPTION_BIT(NO_CACHE) | OPTION_BIT(REQUIRE) |           \
     OPTION_BIT(STRICT) | OPTION_BIT(JOBS))

enum option_kind { OPTION_TEXT, OPTION_WHOLE, OPTION_SECONDS, OPTION_SHARE, OPTION_FLAG };

struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: takes none */
    enum option_kind kind;
    size_t offset; /* of its field in struct options */
    const char *help;
};

extern const struct option_row option_rows[OPTION_COUNT];

struct options {
    const char *device, *json, *record, *csv, *html, *output, *as, *levels,
        *init, *values, *copies, *file, *require, *color, *only, *since,
        *expect, *rack;
    uint64_t seed, chains, warps, jobs;
    double budget_s, tolerance, alarms;
    unsigned no_cache, quiet, verbose, help, version, parallelism, explain,
        strict, merge;        /* how often given */
    uint64_t given;           /* set of OPTION_BIT */
    const char *const *words; /* what is no option; the first is the command */
    size_t word_count;
    const char *const *command; /* all words of the line, as typed */
    size_t command_count;
    bool one_of_many; /* of several GPUs: JSON on standard output is a line */
};

/* Says what is wrong and returns false if the line cannot be understood.
 * `argv` is put in order: its options first. */
bool options_parse(int argc, char **argv, struct options *options);

#endif
