/*
 * How well findings foretell what no study asked: held-out experiments are
 * drawn by seed, what each load of them finds is foretold by the simulated GPU
 * that was made of the findings (profile.h), and then they are run.
 *
 * One value that is wrong shows in what others than its own study never asked:
 * where loads are not as foretold, or values contradict each other, each value
 * is tried that could be meant in the stead of one of them; the one with which
 * all is as it was measured, and nothing contradicts, was wrong.
 */
#ifndef SONDE_TWIN_VALIDATE_H
#define SONDE_TWIN_VALIDATE_H

#include "finding/finding.h"
#include "probe/run.h"

struct validation {
    size_t findings, doubted; /* that were tried; of these not foretold */
    size_t loads, loads_right;
    size_t means, means_right;
    size_t refused; /* that cannot be asked as drawn: a fault of who drew them,
                       which costs no more than what they would have told */
};

/* How much of it is asked. */
struct validation_wish {
    double seconds;  /* at most so long; 0: as long as it takes */
    bool means_only; /* what loads cost, and not where they are found: of that
                        only what contradicts itself is seen */
    bool brief;      /* only sums are told, and what is in doubt */
};

/*
 * The results may be of another run than the device's.  A finding that is not
 * as foretold gets the status in_doubt and says why; for each that was tried
 * `predicted.ID` is added: the share of its loads that was foretold, or of a
 * time 1 or 0; and the sums, of what was asked at all.  ERR_FILE if too little
 * was found to foretell anything.  `wish` NULL: all, as long as it takes.
 */
int twin_validate(struct results *results, struct prober *device,
                  const struct validation_wish *wish,
                  struct validation *verdict, struct error *err);

#endif
