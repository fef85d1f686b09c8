/* What the commands that need a device share: opening it as the options say,
 * and showing what was found. */
#ifndef SONDE_CLI_GPUS_SESSION_H
#define SONDE_CLI_GPUS_SESSION_H

#include "cli/options.h"
#include "sonde.h"

/* Runs studies and reports a flat list; returns the exit status. */
int session_measure(const struct options *options, const char *const *studies,
                    size_t count);

/* The same of what `measure` does with its context: the memory hierarchy. */
typedef int session_act(struct sonde *session, const void *context,
                        struct sonde_error *err);
int session_measure_tree(const struct options *options, session_act *measure);
/* … shown as `format` on standard output; NULL: there `measure` says all. */
int session_measure_with(const struct options *options, session_act *measure,
                         const void *context, const char *format);
/* Opens the device and prints the text that `make` makes. */
int session_print_with(const struct options *options,
                       int (*make)(struct sonde *session, const void *context,
                                   char **text, struct sonde_error *err),
                       const void *context);

/* Opens the device, lets `act` make a text of the words of the command line
 * (name and parameters), and prints it; returns the exit status. */
typedef int session_words(struct sonde *session, const char *name,
                          const char *const *parameters, size_t count,
                          char **text, struct sonde_error *err);
int session_print(const struct options *options, session_words *act);

#endif
