/*
 * The probe `isa`: how long copies of an instruction, or of a snippet, take.
 *
 * One block on one SM runs the kernel of probe/run/snippet_kernel.h.  A row a
 * lap: cycles of the region with `copies` copies in each of the chains, and of
 * the one with three times as many, from the first warp's beginning to the last
 * one's end.  The first lap finds its code not yet cached.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/run.h"
#include "probe/run/snippet_kernel.h"

enum column { COLUMN_LAP = 1, COLUMN_SHORT, COLUMN_LONG };
/* A snippet of the user's may never end. */
enum { DEADLINE_S = 5 };
enum { REGIONS = 2, READS = 2, LAPS_MOST = 64 };

/* clang-format off */
static const struct param params[] = {
    SNIPPET_PARAMS{"warps",            PARAM_NUMBER, "1", 1, SNIPPET_WARPS_MOST, NULL,
                  "warps of the block"},
    {"laps",               PARAM_NUMBER, "4", 2, LAPS_MOST, NULL, "laps"},
    {0},
};
/* clang-format on */

static const char *const columns[] = {"lap", "short", "long", NULL};

/* Clock reads: [lap][region][warp][first, last]. */
static const uint64_t *reads_of(const uint64_t *out, size_t lap, size_t region)
{
    return out + (lap * REGIONS + region) * SNIPPET_WARPS_MOST * READS;
}

static int64_t elapsed(const uint64_t *reads, unsigned warps)
{
    uint64_t begun = reads[0], ended = reads[1];
    for (unsigned w = 1; w < warps; w++) {
        const uint64_t *const own = reads + w * READS;
        begun = own[0] < begun ? own[0] : begun;
        ended = own[1] > ended ? own[1] : ended;
    }
    return (int64_t)(ended - begun);
}

static void add_rows(const uint64_t *out, size_t laps, unsigned warps,
                     struct samples *samples)
{
    for (size_t lap = 0; lap < laps; lap++) {
        int64_t *const row = samples_row(samples);
        row[COLUMN_LAP] = (int64_t)lap;
        row[COLUMN_SHORT] = elapsed(reads_of(out, lap, 0), warps);
        row[COLUMN_LONG] = elapsed(reads_of(out, lap, 1), warps);
    }
}

/* Scratch between two guards of ones; zeros. */
static int fill_scratch(struct prober *prober, uint64_t *scratch,
                        struct error *err)
{
    enum { ALL = SCRATCH_GLOBAL + 2 * SCRATCH_GUARD };
    if (prober_buffer(prober, BUFFER_RING, ALL, scratch, err) != 0)
        return err->code;
    unsigned char *const bytes = xcalloc(1, ALL);
    memset(bytes, 0xff, SCRATCH_GUARD);
    memset(bytes + ALL - SCRATCH_GUARD, 0xff, SCRATCH_GUARD);
    device_copy_in(prober_device(prober), *scratch, bytes, ALL, err);
    free(bytes);
    return err->code;
}

static bool is_whole(const unsigned char *guard)
{
    for (size_t i = 0; i < SCRATCH_GUARD; i++)
        if (guard[i] != 0xff)
            return false;
    return true;
}

static int check_scratch(struct prober *prober, uint64_t scratch,
                         struct error *err)
{
    static const uint64_t guards[] = {0, SCRATCH_GUARD + SCRATCH_GLOBAL};
    unsigned char *const guard = xmalloc(SCRATCH_GUARD);
    int code = 0;
    for (size_t i = 0; code == 0 && i < COUNT_OF(guards); i++) {
        code = device_copy_out(prober_device(prober), guard,
                               scratch + guards[i], SCRATCH_GUARD, err);
        if (code == 0 && !is_whole(guard))
            code = error_set(err, ERR_USAGE,
                             "the snippet wrote outside of its scratch memory "
                             "(%d KiB at %%rd_global)",
                             SCRATCH_GLOBAL >> 10);
    }
    free(guard);
    return code;
}

enum argument {
    ARGUMENT_DATA,
    ARGUMENT_OUT,
    ARGUMENT_SCRATCH,
    ARGUMENT_LAPS,
    ARGUMENTS
};

static int launch(struct prober *prober, const struct experiment *e,
                  const uint64_t *args, struct error *err)
{
    struct kernel *k;
    struct launch launch = {
        .block = {32 * (unsigned)experiment_number(e, "warps")},
        .carve_out = CARVE_OUT_DEFAULT,
        .arg_count = ARGUMENTS,
        .deadline_s = DEADLINE_S,
    };
    for (size_t i = 0; i < ARGUMENTS; i++)
        launch.args[i] = &args[i];
    if (prober_kernel(prober, e, "isa", &k, err) != 0)
        return err->code;
    return device_launch(prober_device(prober), k, &launch, err);
}

static int run(struct prober *prober, const struct experiment *e,
               const struct snippet_kernel *t, struct samples *samples,
               struct error *err)
{
    const size_t laps = experiment_number(e, "laps");
    const size_t bytes = laps * REGIONS * SNIPPET_WARPS_MOST * READS * 8;
    const bool scratch = t->snippet.global || t->setup.global;
    uint64_t args[ARGUMENTS] = {[ARGUMENT_LAPS] = laps};
    size_t words;
    uint64_t *const data = snippet_kernel_data(t, &words, err);
    if (data == NULL)
        return err->code;
    uint64_t *const out = xcalloc(1, bytes);
    struct device *const device = prober_device(prober);
    int code = prober_buffer(prober, BUFFER_JOBS, 8 * words,
                             &args[ARGUMENT_DATA], err);
    if (code == 0)
        code =
            prober_buffer(prober, BUFFER_OUT, bytes, &args[ARGUMENT_OUT], err);
    if (code == 0 && scratch)
        code = fill_scratch(prober, &args[ARGUMENT_SCRATCH], err);
    args[ARGUMENT_SCRATCH] += scratch ? SCRATCH_GUARD : 0;
    if (code == 0)
        code =
            device_copy_in(device, args[ARGUMENT_DATA], data, 8 * words, err);
    if (code == 0)
        code = launch(prober, e, args, err);
    if (code == 0)
        code = device_copy_out(device, out, args[ARGUMENT_OUT], bytes, err);
    if (code == 0 && scratch)
        code =
            check_scratch(prober, args[ARGUMENT_SCRATCH] - SCRATCH_GUARD, err);
    if (code == 0)
        add_rows(out, laps, (unsigned)experiment_number(e, "warps"), samples);
    free(out);
    free(data);
    return code;
}

static int once(struct prober *prober, const struct experiment *e,
                struct samples *samples, struct error *err)
{
    struct snippet_kernel t;
    if (snippet_kernel_read(e, &t, err) != 0)
        return err->code;
    *err = (struct error){0};
    const int code = run(prober, e, &t, samples, err);
    snippet_kernel_free(&t);
    return code;
}

/* Cycles that the long region takes more, in the last lap. */
static double figure(const struct experiment *e, const struct samples *samples,
                     size_t from)
{
    (void)e;
    (void)from;
    const size_t last = samples->rows - 1;
    return (double)(samples_at(samples, last, COLUMN_LONG) -
                    samples_at(samples, last, COLUMN_SHORT));
}

const struct probe probe_isa = {
    .name = "isa",
    .what = "cost of an instruction, by copies of it between clock reads",
    .params = params,
    .columns = columns,
    .figure = figure,
    .repeats_least = 3,
    .repeats_most = 9,
    .kernel = snippet_kernel_write,
    .once = once,
};
