/*
 * Several GPUs, each measured by a process of its own, so that one that is
 * lost, hangs or crashes its driver costs nobody else's report.
 */
#ifndef SONDE_CLI_GPUS_SEVERAL_H
#define SONDE_CLI_GPUS_SEVERAL_H

#include <stddef.h>

#include "cli/gpus/devices.h"
#include "cli/options.h"

/* Measures one of them; returns the exit status. */
typedef int several_act(const struct options *options, const char *spec,
                        size_t index, const void *context);

/* Calls `act` in a child for each; shows what they put out in the order of the
 * list, how far they all are, and which failed.  Returns the worst status. */
int several_run(const struct options *options, const struct devices *devices,
                several_act *act, const void *context);

#endif
