/*
 * The probe `copy`: what copy engines move in a time.  It runs no kernel; the
 * driver notes when copies begin and end.  With `against` the other way is busy
 * meanwhile: it begins before, and `over` says by how many nanoseconds it
 * outlasted what was timed; below 0 it did not, and what was timed is no rate
 * of both ways.
 */
#include "base/num.h"
#include "probe/check.h"
#include "probe/run.h"

struct copy {
    enum device_place from, to;
    uint64_t bytes, times, against;
};

enum column { COLUMN_BYTES = 1, COLUMN_NS, COLUMN_OVER };

/* clang-format off */
static const struct param copy_params[] = {
    CHOICE(struct copy, from, "host", prober_places, "whose memory is copied: the GPU's own; the host's, pinned; another GPU's; the host's, pageable"),
    CHOICE(struct copy, to, "own", prober_places, "where to"),
    NUMBER(struct copy, bytes, "1048576", 1, (uint64_t)1 << 36, "of a copy"),
    NUMBER(struct copy, times, "1", 1, 4096, "copies, one after the other, that are timed together"),
    NUMBER(struct copy, against, "0", 0, 65536, "copies the other way meanwhile"),
    REPEATS(1000, "repetitions; 0: as many as the stopping rule wants"),
    {0},
};
/* clang-format on */

static int copy_prepare(struct experiment *e, const struct device_info *info,
                        struct error *err)
{
    const struct copy *const c = e->own;
    (void)info;
    if ((c->from == PLACE_OWN) == (c->to == PLACE_OWN))
        return error_set(err, ERR_USAGE,
                         "copy: one of from and to is own memory");
    if (c->against > 0 &&
        (c->from == PLACE_PAGEABLE || c->to == PLACE_PAGEABLE))
        return error_set(err, ERR_USAGE,
                         "copy: the driver copies pageable memory by the "
                         "host, one way at a time");
    return 0;
}

/* What is copied each way lies apart from what is copied the other way. */
static int place(struct prober *prober, const struct copy *c, bool against,
                 struct transfer *t, struct error *err)
{
    const bool to_own = (c->to == PLACE_OWN) != against;
    const enum device_place far = c->to == PLACE_OWN ? c->from : c->to;
    uint64_t own_at, far_at;
    if (prober_buffer(prober, against ? BUFFER_FLUSH : BUFFER_RING, c->bytes,
                      &own_at, err) != 0 ||
        prober_buffer_at(prober, against ? BUFFER_FAR_TOO : BUFFER_FAR, far,
                         c->bytes, &far_at, err) != 0)
        return err->code;
    *t = (struct transfer){
        .to = to_own ? own_at : far_at,
        .from = to_own ? far_at : own_at,
        .bytes = c->bytes,
        .times = (unsigned)(against ? c->against : c->times),
    };
    return 0;
}

static int copy_once(struct prober *prober, const struct experiment *e,
                     struct samples *samples, struct error *err)
{
    const struct copy *const c = e->own;
    struct transfer t[2];
    const size_t count = c->against > 0 ? 2 : 1;
    for (size_t i = 0; i < count; i++)
        if (place(prober, c, i > 0, &t[i], err) != 0)
            return err->code;
    if (device_transfer(prober_device(prober), t, count, err) != 0)
        return err->code;
    int64_t *const row = samples_row(samples);
    row[COLUMN_BYTES] = (int64_t)(c->bytes * c->times);
    row[COLUMN_NS] = (int64_t)(t[0].ended - t[0].began);
    if (count > 1)
        row[COLUMN_OVER] = (int64_t)(t[1].ended - t[0].ended);
    return 0;
}

const struct probe probe_copy = {
    .name = "copy",
    .what = "bandwidth of copy engines between the GPU and the host, or another GPU",
    .params = copy_params,
    .bytes = sizeof(struct copy),
    .columns = TEXTS("bytes", "ns", "over"),
    .figure_column = COLUMN_NS,
    .repeats_least = 5,
    .repeats_most = 15,
    .prepare = copy_prepare,
    .once = copy_once,
    .sound = rows_are_one,
};
