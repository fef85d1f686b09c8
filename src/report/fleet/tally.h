/* How many GPUs of each host, or rack, are out. */
#ifndef SONDE_REPORT_FLEET_TALLY_H
#define SONDE_REPORT_FLEET_TALLY_H

#include "report/fleet/fleet.h"

struct tally {
    struct tally_row {
        const char *name;
        size_t out, gpus;
    } * rows; /* of those with one that is out, the most first */
    size_t count;
};

struct tally fleet_tally(const struct fleet *fleet,
                         const struct fleet_model *model,
                         enum fleet_level level);
void fleet_tally_free(struct tally *tally);

#endif
