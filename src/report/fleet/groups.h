/* GPUs of one host, and hosts of one rack. */
#ifndef SONDE_REPORT_FLEET_GROUPS_H
#define SONDE_REPORT_FLEET_GROUPS_H

#include "report/fleet/column.h"

struct groups {
    size_t count;
    const char **name;
    double *middle; /* the number in the middle of the group */
    size_t *first, *gpus;
};

/* The groups of two GPUs or more; `centre` is that of all GPUs. */
struct groups fleet_groups(const struct fleet *fleet,
                           const struct column *column, enum fleet_level level,
                           double centre);
void fleet_groups_free(struct groups *groups);

/* Fills in fleet->racks. */
int fleet_name_racks(struct fleet *fleet, struct error *err);
/* Fills in the model's hosts and racks; how many are asked something. */
size_t fleet_groups_count(const struct fleet *fleet, struct fleet_model *model);

#endif
