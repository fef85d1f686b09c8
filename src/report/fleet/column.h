/* What all GPUs of a model say in a column. */
#ifndef SONDE_REPORT_FLEET_COLUMN_H
#define SONDE_REPORT_FLEET_COLUMN_H

#include "report/fleet/fleet.h"

struct cell {
    uint32_t gpu; /* in the set */
    bool words;   /* the number is that of words */
    float half;
    double number;
};

struct column {
    uint32_t number;
    struct cell *cells; /* of those that have a value */
    size_t count, unknown;
};

/* Calls `each` for the columns of so many GPUs that are wanted, in the order of
 * their names. */
void columns_each(const struct fleet *fleet, const struct fleet_set *set,
                  size_t from, size_t count,
                  void (*each)(void *context, const struct column *column),
                  void *context);

/* True of words and of what is counted. */
bool column_is_structure(const struct fleet *fleet,
                         const struct column *column);

#endif
