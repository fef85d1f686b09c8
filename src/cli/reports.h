/* Reports that a command line names. */
#ifndef SONDE_CLI_REPORTS_H
#define SONDE_CLI_REPORTS_H

#include "cli/options.h"
#include "sonde.h"

struct reports {
    struct sonde **sessions;
    size_t count;
};

/* Reads all words of the line, "-" from standard input; 0, or says what is
 * wrong and returns an exit status.  reports_close() in either case. */
int reports_read(struct reports *reports, const struct options *options);
void reports_close(struct reports *reports);

#endif
