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
#include "probe/check.h"
#include "probe/run/shot.h"
#include "probe/run/snippet_kernel.h"

enum { COLUMN_LAP = 1, COLUMN_SHORT, COLUMN_LONG };
/* A snippet of the user's may never end. */
enum { DEADLINE_S = 5 };
enum { REGIONS = 2, READS = 2, LAPS_MOST = 64 };

struct isa {
    struct snippet_kernel timed; /* first: its rows say so */
    uint64_t warps, laps;
};

/* clang-format off */
static const struct param isa_params[] = {
    SNIPPET_PARAMS,
    NUMBER(struct isa, warps, "1", 1, SNIPPET_WARPS_MOST, "warps of the block"),
    NUMBER(struct isa, laps, "4", 2, LAPS_MOST, "laps"),
    {0},
};
/* clang-format on */

/* Clock reads: [lap][region][warp][first, last]. */
static const uint64_t *reads_of(const uint64_t *out, size_t lap, size_t region)
{
    return out + (lap * REGIONS + region) * SNIPPET_WARPS_MOST * READS;
}

static uint64_t isa_elapsed(const uint64_t *reads, uint64_t warps)
{
    uint64_t begun = reads[0], ended = reads[1];
    for (uint64_t w = 1; w < warps; w++) {
        const uint64_t *const own = reads + w * READS;
        begun = own[0] < begun ? own[0] : begun;
        ended = own[1] > ended ? own[1] : ended;
    }
    return ended - begun;
}

static void add_rows(const struct isa *i, const uint64_t *out,
                     struct samples *samples)
{
    for (size_t lap = 0; lap < i->laps; lap++)
        samples_add(samples, lap, isa_elapsed(reads_of(out, lap, 0), i->warps),
                    isa_elapsed(reads_of(out, lap, 1), i->warps));
}

static bool uses_scratch(const struct snippet_kernel *t)
{
    return t->snippet.global || t->setup.global;
}

/* Scratch between two guards of ones; zeros. */
static int fill_scratch(struct prober *prober, uint64_t *scratch,
                        struct error *err)
{
    enum { ALL = SCRATCH_GLOBAL + 2 * SCRATCH_GUARD };
    unsigned char *const bytes = xcalloc(1, ALL);
    memset(bytes, 0xff, SCRATCH_GUARD);
    memset(bytes + ALL - SCRATCH_GUARD, 0xff, SCRATCH_GUARD);
    const int status =
        prober_place(prober, BUFFER_RING, bytes, ALL, scratch, err);
    free(bytes);
    return status;
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

/* Where the kernel's data, results and scratch memory are. */
static int isa_place(struct prober *prober, const struct snippet_kernel *t,
                     size_t out_bytes, uint64_t *args, struct error *err)
{
    size_t words;
    uint64_t *const data = snippet_kernel_data(t, &words, err);
    if (data == NULL)
        return err->code;
    int code = prober_place(prober, BUFFER_JOBS, data, 8 * words,
                            &args[ARGUMENT_DATA], err);
    if (code == 0)
        code = prober_buffer(prober, BUFFER_OUT, out_bytes, &args[ARGUMENT_OUT],
                             err);
    if (code == 0 && uses_scratch(t)) {
        code = fill_scratch(prober, &args[ARGUMENT_SCRATCH], err);
        args[ARGUMENT_SCRATCH] += SCRATCH_GUARD;
    }
    free(data);
    return code;
}

static int isa_once(struct prober *prober, const struct experiment *e,
                    struct samples *samples, struct error *err)
{
    const struct isa *const i = e->own;
    const size_t bytes = i->laps * REGIONS * SNIPPET_WARPS_MOST * READS * 8;
    uint64_t args[ARGUMENTS] = {[ARGUMENT_LAPS] = i->laps};
    const struct shot shot = {
        .kernel = "isa",
        .blocks = 1,
        .threads = 32 * (unsigned)i->warps,
        .carve_out = CARVE_OUT_DEFAULT,
        .deadline_s = DEADLINE_S,
        .args = args,
        .arg_count = ARGUMENTS,
    };
    if (isa_place(prober, &i->timed, bytes, args, err) != 0 ||
        prober_shoot(prober, e, &shot, err) != 0)
        return err->code;
    uint64_t *const out = prober_fetch(prober, args[ARGUMENT_OUT], bytes, err);
    if (out != NULL && uses_scratch(&i->timed))
        check_scratch(prober, args[ARGUMENT_SCRATCH] - SCRATCH_GUARD, err);
    if (err->code == 0)
        add_rows(i, out, samples);
    free(out);
    return err->code;
}

/* Cycles that the long region takes more, in the last lap. */
static double isa_figure(const struct experiment *e,
                         const struct samples *samples, size_t from)
{
    (void)e;
    (void)from;
    const size_t last = samples->rows - 1;
    return (double)(samples_at(samples, last, COLUMN_LONG) -
                    samples_at(samples, last, COLUMN_SHORT));
}

static const char *isa_sound(const struct experiment *e,
                             const struct rows *rows)
{
    const struct isa *const i = e->own;
    const char *const why = rows_are(rows, i->laps);
    return why != NULL ? why : rows_are_below(rows, COLUMN_LAP, i->laps);
}

const struct probe probe_isa = {
    .name = "isa",
    .what = "cost of an instruction, by copies of it between clock reads",
    .params = isa_params,
    .bytes = sizeof(struct isa),
    .columns = TEXTS("lap", "short", "long"),
    .figure = isa_figure,
    .repeats_least = 3,
    .repeats_most = 9,
    .prepare = snippet_kernel_prepare,
    .release = snippet_kernel_release,
    .kernel = snippet_kernel_write,
    .once = isa_once,
    .sound = isa_sound,
};
