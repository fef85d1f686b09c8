/*
 * The probe `memory`: how many bytes experiments may have now.  It runs no
 * kernel; it is a probe so that a recording knows the answer, too.
 */
#include "probe/run.h"

enum column { COLUMN_FREE = 1 };

/* clang-format off */
static const struct param params[] = {
    {"hold", PARAM_NUMBER, "0", 0, (uint64_t)1 << 40, NULL, "bytes that experiments to come shall find taken for their buffer"},
    {0},
};
/* clang-format on */

static const char *const columns[] = {"free", NULL};

static int kernel(const struct experiment *e, const struct device_info *info,
                  struct buf *out, struct error *err)
{
    (void)e;
    (void)info;
    (void)out;
    return error_set(err, ERR_UNSUPPORTED, "the probe memory has no kernel");
}

/* What earlier experiments took for their rings is given back when a larger
 * one wants it.  The driver then clears it, behind the program's back and at
 * the cost of a tenth of the memory's bandwidth (H200), so who measures that
 * takes the largest buffer beforehand. */
static int once(struct prober *prober, const struct experiment *e,
                struct samples *samples, struct error *err)
{
    uint64_t bytes, address;
    const uint64_t hold = experiment_number(e, "hold");
    if (device_memory_free(prober_device(prober), &bytes, err) != 0)
        return err->code;
    samples_row(samples)[COLUMN_FREE] =
        (int64_t)(bytes + prober_buffer_bytes(prober, BUFFER_RING));
    return hold == 0 ? 0
                     : prober_buffer(prober, BUFFER_RING, hold, &address, err);
}

static double figure(const struct experiment *e, const struct samples *samples,
                     size_t from)
{
    (void)e;
    return (double)samples_at(samples, from, COLUMN_FREE);
}

const struct probe probe_memory = {
    .name = "memory",
    .what = "bytes of device memory that are free",
    .params = params,
    .columns = columns,
    .figure = figure,
    .repeats_least = 1,
    .repeats_most = 1,
    .kernel = kernel,
    .once = once,
};
