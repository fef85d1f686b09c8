/*
 * A finding that is a list: what was measured while one thing changed, and in
 * its protocol what that thing was each time.
 *
 *     struct sweep s = sweep_begin(lab, "l1", "bandwidth_by_width", "widths");
 *     for (each width)
 *         sweep_add(&s, value_number(width), rate, experiment);
 *     sweep_end(&s);
 */
#ifndef SONDE_STUDY_LOAD_SWEEP_H
#define SONDE_STUDY_LOAD_SWEEP_H

#include "study/lab.h"

struct sweep {
    struct lab *lab;
    struct finding *finding;
    const char *name; /* of what changes; NULL: the finding does not say */
    struct value at, values;
    struct value low, high; /* where each value lies … */
    bool unbounded;         /* … which is not known of all */
};

struct sweep sweep_begin(struct lab *lab, const char *component,
                         const char *attribute, const char *name);
/* After an error nothing is added. */
void sweep_add(struct sweep *sweep, struct value at, double value,
               const char *experiment);
/* … and where it lies: with all of them the finding says `low` and `high`. */
void sweep_add_within(struct sweep *sweep, struct value at, double value,
                      double low, double high, const char *experiment);
/* Says what was measured, or which error excuses that it was not; false if
 * there was an error. */
bool sweep_end(struct sweep *sweep);

#endif
