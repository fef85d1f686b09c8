/*
 * Recordings: every sample of a run with the experiment that gave it, so that
 * any study can be run again on it, without the GPU and with the same report.
 *
 * The file (docs/recordings.md) is zstd-compressed text with a checksum:
 *
 *     sonde-recording 1
 *     seed 1
 *     device {…}                      as JSON, on one line
 *     experiment chase space=global …
 *     columns repeat sm short long
 *     rows 9
 *     0 0 16420 32836                 one line a row
 *     …
 *     experiment trace …
 *     disturbed another process ran on the GPU during 3 of 17 runs
 *     columns …
 *     experiment chase bytes=1099511627776 …
 *     refused -7 there is too little memory
 *     stopped measuring was stopped   only of a run that was
 *     end 42                          the number of experiments
 *
 * While it grows it is several frames: one with the first three lines, then one
 * for each experiment, and no end.
 *
 * The same experiment run twice is kept twice and replayed in that order; the
 * last is repeated when it is asked for once more.
 */
#ifndef SONDE_PROBE_RECORD_H
#define SONDE_PROBE_RECORD_H

#include "probe/probe.h"

struct recording;

struct recording *recording_new(const struct device_info *info, uint64_t seed);
void recording_free(struct recording *recording);

void recording_add(struct recording *recording, const char *experiment,
                   const struct samples *samples);
/* … and of an experiment that the device refused: a replay refuses it, too. */
void recording_refuse(struct recording *recording, const char *experiment,
                      const struct error *why);
/* Has the file grow with the recording, an experiment at a time, so that a run
 * which is killed leaves what it came to; recording_write ends it. */
void recording_grow(struct recording *recording, const char *path);
/* Says why the run came to no end; NULL of one that did. */
void recording_stop(struct recording *recording, const char *why);
const char *recording_stopped(const struct recording *recording);
/* Appends to samples (initialised for the probe), or fails as it did then.
 * ERR_NOT_RECORDED names an experiment that is not in it, or not with these
 * columns, ERR_INTERRUPTED says
 * that the run was stopped before. */
int recording_find(struct recording *recording, const char *experiment,
                   struct samples *samples, struct error *err);

/* Forgets what was handed out: the next run on it gets what the first one did.
 */
void recording_rewind(struct recording *recording);

const struct device_info *recording_info(const struct recording *recording);
uint64_t recording_seed(const struct recording *recording);

int recording_write(const struct recording *recording, const char *path,
                    struct error *err);
/* ERR_FILE for what is no recording, of another version, or damaged. */
int recording_read(const char *path, struct recording **recording,
                   struct error *err);
/* The same from bytes; `where` names them in errors. */
int recording_parse(const void *data, size_t length, const char *where,
                    struct recording **recording, struct error *err);

#endif
