/*
 * The probe `memory`: how many bytes experiments may have now.  It runs no
 * kernel; it is a probe so that a recording knows the answer, too.
 */
#include "probe/run.h"
#include "probe/check.h"

enum column { COLUMN_FREE = 1 };

struct memory {
    uint64_t hold;
};

/* clang-format off */
static const struct param memory_params[] = {
    NUMBER(struct memory, hold, "0", 0, (uint64_t)1 << 40, "bytes that experiments to come shall find taken for their buffer"),
    {0},
};
/* clang-format on */

/* What earlier experiments took for their rings is given back when a larger
 * one wants it.  The driver then clears it, behind the program's back and at
 * the cost of a tenth of the memory's bandwidth (H200), so who measures that
 * takes the largest buffer beforehand. */
static int memory_once(struct prober *prober, const struct experiment *e,
                       struct samples *samples, struct error *err)
{
    const struct memory *const m = e->own;
    uint64_t bytes, address;
    if (device_memory_free(prober_device(prober), &bytes, err) != 0)
        return err->code;
    samples_row(samples)[COLUMN_FREE] =
        (int64_t)(bytes + prober_buffer_bytes(prober, BUFFER_RING));
    return m->hold == 0
               ? 0
               : prober_buffer(prober, BUFFER_RING, m->hold, &address, err);
}

const struct probe probe_memory = {
    .name = "memory",
    .what = "bytes of device memory that are free",
    .params = memory_params,
    .bytes = sizeof(struct memory),
    .columns = TEXTS("free"),
    .figure_column = COLUMN_FREE,
    .repeats_least = 1,
    .repeats_most = 1,
    .once = memory_once,
    .sound = rows_are_one,
};
