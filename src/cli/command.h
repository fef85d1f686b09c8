/*
 * A command is a file with one `const struct command`, and one line in
 * commands.def.  Commands know the library's public header and no GPU.
 */
#ifndef SONDE_CLI_COMMAND_H
#define SONDE_CLI_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"

enum { WORDS_ANY = 1 << 20 };

struct command {
    const char *name;
    const char *arguments; /* "STUDY..."; "" if it takes none */
    const char *summary;   /* one line */
    /* Paragraphs between empty lines; lines of four spaces are examples. */
    const char *help;
    uint64_t options; /* beside those that all take: set of OPTION_BIT */
    size_t words_least, words_most; /* after the command's name */
    /* Returns the exit status.  options->words begins after the name. */
    int (*run)(const struct options *options);
};

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

/* In the order of the help; NULL ends.  The first is the default. */
extern const struct command *const command_table[];
const struct command *command_find(const char *name);
/* "there is no command 'ru'; did you mean 'run'?"; returns 2. */
int command_unknown(const char *name);

/* Options that every command takes. */
#define OPTIONS_ALL                                                            \
    (OPTION_BIT(QUIET) | OPTION_BIT(VERBOSE) | OPTION_BIT(HELP) |              \
     OPTION_BIT(COLOR) | OPTION_BIT(VERSION))

#endif
