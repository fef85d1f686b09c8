/* The help and the man page, made of the tables of commands and options. */
#ifndef SONDE_CLI_HELP_H
#define SONDE_CLI_HELP_H

#include "cli/command.h"

/* All print to standard output and return the exit status. */
int help_overview(void);
int help_command(const struct command *command);
int help_man(void);
/* Prints what a shell completes words by. */
int help_completion(const char *shell);

/* The exit statuses and what they mean; an empty text ends. */
struct help_status {
    const char *status, *meaning;
};
extern const struct help_status help_statuses[];

#endif
