/* What the commands that need a device share: opening it as the options say,
 * and showing what was found. */
#ifndef SONDE_CLI_SESSION_H
#define SONDE_CLI_SESSION_H

#include "cli/options.h"
#include "sonde.h"

/* Runs studies (count 0: those of topology) and reports; returns the exit
 * status.  `tree`: the memory hierarchy, else a flat list. */
int session_measure(const struct options *options, const char *const *studies,
                    size_t count, bool tree);

/* Opens the device, lets `act` make a text of the words of the command line
 * (name and parameters), and prints it; returns the exit status. */
int session_print(const struct options *options,
                  int (*act)(struct sonde *session, const char *name,
                             const char *const *parameters, size_t count,
                             char **text, struct sonde_error *err));

/* Prints a report and writes its JSON as the options say.  `make` gives it in
 * a format; the caller's `from` goes with it. */
int session_show(const struct options *options, bool tree,
                 int (*make)(const void *from, const char *format,
                             const struct sonde_style *style, char **text,
                             struct sonde_error *err),
                 const void *from);

/* True, or says why an output file of the options cannot be written. */
bool session_outputs(const struct options *options);

#endif
