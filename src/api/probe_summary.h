/* What the samples of an experiment come to: their median, in a line that says
 * how it is made of their columns. */
#ifndef SONDE_API_PROBE_SUMMARY_H
#define SONDE_API_PROBE_SUMMARY_H

#include "base/buf.h"
#include "probe/probe.h"

/* Appends "# median 36 cycles a load = (long - short) / visits; …" and a
 * newline; nothing where the samples are of no such kind or too few. */
void probe_summary(const struct experiment *experiment,
                   const struct samples *samples, struct buf *out);

#endif
