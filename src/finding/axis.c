/*
 * Items are counted from 0 or from 1, or are of what the protocol lists under
 * some name.
 */
#include "finding/axis.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* The first row whose pattern is the id's holds. */
static const struct axis_row {
    const char *pattern, *name, *unit;
    const char *entry; /* of the protocol; NULL: they are counted */
    unsigned first;    /* from here */
} rows[] = {
    {"shared.conflict_latency", "degree", "", NULL, 1},
    {"shared.stride_latency*", "stride", "words", NULL, 0},
    {"*.copy_of_warp", "warp", "", NULL, 0},
    {"*.set_ways", "set", "", NULL, 0},
    {"*.set_bits", "index_bit", "", NULL, 0},
    {"memory.patterns_*", "pattern", "", NULL, 1},
    {"*_by_width", "width", "B", "widths", 0},
    {"*_by_stride", "stride", "words", "strides", 0},
    {"*_by_use", "use", "", "uses", 0},
    {"*_by_shape", "shape", "", "shapes", 0},
    {"*_by_operator", "operator", "", "operators", 0},
    {"*_effects", "operator", "", "operators", 0},
    {"*_by_bytes", "bytes", "B", "sizes", 0},
    {"link.*", "peer", "", "peers", 0},
    {"*_by_sms", "sms", "", "sms", 0},
    {"tensor.wgmma.*.by_warps", "groups", "", NULL, 1},
    {"tensor.*.by_warps", "warps", "", NULL, 1},
    {"tensor.*.by_blocks", "blocks_per_sm", "", NULL, 1},
    {"isa.*.throughput_by_warps.*", "warps", "", NULL, 1},
    {"arithmetic.*.by_warps", "warps", "", NULL, 1},
    {"arithmetic.*.by_blocks", "blocks", "", "blocks", 0},
    {"contention.*_by_warps", "warps", "", "warps", 0},
    {"contention.*", "blocks", "", NULL, 1},
    {"*loaded_latency", "load", "B/s", "bandwidth", 0},
    {"scheduling.sm_of_block", "block", "", NULL, 0},
    {"*_of_sm", "sm", "", NULL, 0},
    {"*.bandwidth_by_blocks", "blocks_per_sm", "", "blocks_per_sm", 0},
    {"*", "item", "", NULL, 0},
};

/* The protocol's list of that name, if it is as long as the finding's. */
static const struct value *listed(const struct finding *f, const char *name)
{
    const struct value *const list =
        name != NULL ? finding_said(f, name) : NULL;
    const bool fits = list != NULL && list->kind == VALUE_LIST &&
                      list->count == f->value.count;
    return fits ? list : NULL;
}

struct axis axis_of(const struct finding *f)
{
    const struct axis_row *row = rows;
    while (!text_glob(row->pattern, f->id) ||
           (row->entry != NULL && listed(f, row->entry) == NULL))
        row++;
    if (row->entry != NULL)
        return (struct axis){row->name, row->unit,
                             value_copy(listed(f, row->entry))};
    struct axis axis = {row->name, row->unit, value_list()};
    for (size_t i = 0; i < f->value.count; i++)
        value_push(&axis.values, value_number((double)(row->first + i)));
    return axis;
}
