/*
 * One line on a terminal's standard error that says what is measured now.  It
 * is rewritten in place and gone at the end.  On anything but a terminal a long
 * run gets a line for each study, which stays.
 */
#ifndef SONDE_CLI_PROGRESS_H
#define SONDE_CLI_PROGRESS_H

#include "sonde.h"

void progress_show(const struct sonde_progress *progress);
/* Any other such line; nothing where there is no terminal. */
void progress_line(const char *text);
/* Takes the line away, if there is one. */
void progress_clear(void);

/* How far a process is that measures one of several GPUs: from now on it writes
 * this to its parent instead of showing it. */
struct progress_far {
    double part; /* 0 to 1 */
    char study[32];
};
void progress_tell(int fd);

#endif
