/*
 * Points: a fault (tests/driver/faulty/fault.h) at one call of one entry point
 * of the driver or the management library, tried on the program as users run
 * it, and what must hold of each:
 *
 *   it ends by itself, with a status of 0 to 4;
 *   it ends in time: as soon as a run without faults, some seconds added; where
 *   a call does not come back, a second after the first Ctrl-C;
 *   there is a report, which fits its schema, unless the GPU could not be
 *   opened, which a sentence says;
 *   what it says that has a value is what a run without faults says, or stands
 *   in doubt; and what came from studies that had ended before is the same;
 *   a failure that passes, and a context that is lost once, leave no mark at
 *   all;
 *   of garbage, which may be any number, no more than that nothing measured is
 *   below zero or no number.
 */
#ifndef SONDE_TESTS_DRIVER_FAULT_POINTS_H
#define SONDE_TESTS_DRIVER_FAULT_POINTS_H

#include <stdbool.h>
#include <stddef.h>

enum fault_kind {
    FAULT_PASSES, /* a code at one call */
    FAULT_STAYS,  /* from a call on */
    FAULT_LOSES,  /* the context is lost */
    FAULT_HANGS,  /* ended by Ctrl-C */
    FAULT_GARBAGE,
    FAULT_LACKS, /* the library has no such entry point */
    FAULT_KINDS
};
extern const char *const fault_kind_names[FAULT_KINDS];

struct fault_point {
    enum fault_kind kind;
    char entry[64];
    char what[96]; /* "cuMemAlloc_v2:999@3"; "" of one that is lacking */
    int call;
};

struct fault_points {
    struct fault_point *at;
    size_t count;
};

struct fault_rig;

/* Runs without faults and counts calls; NULL, after a line on standard error,
 * where that fails.  `build` is the folder of the build, `folder` an empty one.
 */
struct fault_rig *fault_rig_new(const char *build, const char *folder);
void fault_rig_free(struct fault_rig *rig);

/* All points there are; the caller frees `at`. */
struct fault_points fault_points_of(const struct fault_rig *rig);

/* NULL if all holds, else what does not; the caller frees. */
char *fault_try(const struct fault_rig *rig, const struct fault_point *point);
/* The command that shows it again; the caller frees. */
char *fault_command(const struct fault_rig *rig,
                    const struct fault_point *point);
/* Seconds from the latest Ctrl-C to the end; 0: none was needed. */
double fault_last_wait(void);

#endif
