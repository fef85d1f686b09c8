#include "study/assume.h"

const struct assumption assume_table[ASSUME_COUNT] = {
#define ASSUME(id, value, low, high, study, basis, why)                        \
    {#id, value, low, high, #study, basis, why},
#include "study/assume.def"
#undef ASSUME
};

/* What is assumed: of the table, but for what a test has moved. */
static double assumed[ASSUME_COUNT] = {
#define ASSUME(id, value, low, high, study, basis, why) value,
#include "study/assume.def"
#undef ASSUME
};

double assume(enum assumption_id id)
{
    return assumed[id];
}

void assume_move(enum assumption_id id, double value)
{
    assumed[id] = value;
}

void assume_restore(enum assumption_id id)
{
    assumed[id] = assume_table[id].value;
}
