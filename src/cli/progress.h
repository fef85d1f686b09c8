/*
 * One line on a terminal's standard error that says what is measured now.  It
 * is rewritten in place and gone at the end.  On anything but a terminal a long
 * run gets a line for each study, which stays.
 */
#ifndef SONDE_CLI_PROGRESS_H
#define SONDE_CLI_PROGRESS_H

#include "sonde.h"

void progress_show(const struct sonde_progress *progress);
/* Takes the line away, if there is one. */
void progress_clear(void);

#endif
