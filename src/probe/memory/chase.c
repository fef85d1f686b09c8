/*
 * The probe `chase`: what a dependent load costs on average.
 *
 * One thread follows a ring of pointers with loads unrolled 64 times, the
 * timer outside.  A launch times a short run and one twice as long after it;
 * their difference divided by the short one's loads is free of the clock
 * reads, the loop's entry and cold instructions (Saavedra's and Wong's chase;
 * Mei 2014, listing 2; Groessler 2022, 4.4, but with pointers, so that no
 * address arithmetic is in the chain).
 */
#include "probe/run.h"
#include "probe/check.h"
#include "probe/walk/pointer_chase.h"
#include "ptx/repeat.h"

/* Loads hide the loop's own instructions, and the little code fits every
 * instruction cache. */
enum { UNROLL = 64, PHASES = 3 };
/* The short run and the one twice as long. */
enum { REACH = 3 };

enum out_word {
    OUT_SM,
    OUT_WARM,
    OUT_SHORT,
    OUT_LONG,
    OUT_WATCH,
    OUT_DONE,
    OUT_WORDS
};

enum column { COLUMN_SM = 1, COLUMN_VISITS, COLUMN_SHORT, COLUMN_LONG };

/* clang-format off */
static const struct param chase_params[] = {
    POINTER_CHASE_PARAMS,
    NUMBER(struct pointer_chase, visits, "0", 0, 1u << 30, "loads of the short run, rounded up to 64s; 0: one lap"),
    REPEATS(1000, "repetitions; 0: as many as the stopping rule wants"),
    ASSEMBLER_LEVEL,
    {0},
};
/* clang-format on */

static int chase_prepare(struct experiment *e, const struct device_info *info,
                         struct error *err)
{
    return pointer_chase_prepare(e, info, REACH, err);
}

/*
 * A load, and behind some of them one instruction of the watch.  A read of the
 * clock holds the thread up for longer than quick loads take, so only turns do
 * with an even number of turns to come, the last one among them: one of the
 * short run's one turn at the least, and one of the long one's two, so that
 * their difference is free of it.  Two reads are no further apart than a turn
 * that does not and the loads up to the first read.
 */
static const char *beside_near(unsigned copy)
{
    static const char read[] = "@%watch mov.u64 %now, %clock64;";
    static const char *const behind[UNROLL] = {
        [2] = "and.b64 %odd, %left, 1;",
        [4] = "setp.eq.u64 %watch, %odd, 0;",
        [6] = read,
        [20] = "cvt.u32.u64 %low, %now;",
        [24] = "sub.u32 %gap, %low, %last;",
        [28] = "max.u32 %longest, %longest, %gap;",
        [36] = "mov.u32 %last, %low;",
        [UNROLL - 1] = read,
    };
    return behind[copy];
}

/* A load over a link takes thousands of cycles, so that of 71 nobody could tell
 * whether the clock leapt; and it hides any read of the clock. */
static const char *beside_far(unsigned copy)
{
    enum { EACH = 8 };
    static const char *const behind[EACH] = {
        "mov.u64 %now, %clock64;",
        "cvt.u32.u64 %low, %now;",
        "sub.u32 %gap, %low, %last;",
        "max.u32 %longest, %longest, %gap;",
        "mov.u32 %last, %low;",
    };
    return behind[copy % EACH];
}

static void watched_load(struct kernel_text *k, unsigned copy, const void *walk)
{
    const struct pointer_chase *const w = walk;
    const char *const behind =
        w->place == PLACE_OWN ? beside_near(copy) : beside_far(copy);
    pointer_chase_load(k, copy, walk);
    if (behind != NULL)
        ptx(k, behind);
}

static void chase_kernel(const struct experiment *e,
                         const struct device_info *info, struct buf *out)
{
    const struct pointer_chase *const walk = e->own;
    struct kernel_text k;
    pointer_chase_begin(&k, out, e, info);
    ptx(&k, ".reg .b64 %left, %t0, %t1, %out, %odd;\n"
            ".reg .b32 %phase;\n"
            ".reg .pred %watch;\n");
    pin_job_word(&k, "%out", JOB_OUT);
    ptx(&k, "cvt.u64.u32 %t0, %sm;\n"
            "st.global.u64 [%out], %t0;\n"
            "mov.u32 %phase, 0;\n"
            "// warm, short and long run through the same loop\n"
            "PHASE:\n");
    pin_job_word(&k, "%left", JOB_OWN);
    ptx(&k, "setp.eq.u64 %again, %left, 0;\n"
            "@%again bra NEXT;\n"
            "mov.u64 %t0, %clock64;\n");
    repeat_loop(&k, "CHASE", "%left", UNROLL, watched_load, walk);
    pointer_chase_wait(&k);
    ptx_with(&k,
             "mov.u64 %t1, %clock64;\n"
             "sub.u64 %t1, %t1, %t0;\n"
             "st.global.u64 [%out+8], %t1;\n"
             "NEXT:\n"
             "add.u64 %job, %job, 8;\n"
             "add.u64 %out, %out, 8;\n"
             "add.u32 %phase, %phase, 1;\n"
             "setp.lt.u32 %again, %phase, $phases;\n"
             "@%again bra PHASE;\n",
             WORD(phases, PHASES));
    pointer_chase_mark_now(&k);
    pointer_chase_watch_word(&k, "%t0");
    ptx(&k, "st.global.u64 [%out+8], %t0;\n"
            "mov.u64 %t0, 1;\n"
            "st.global.u64 [%out+16], %t0;\n");
    pointer_chase_closing(&k);
}

/* Turns of the unrolled loop that make at least so many loads. */
static uint64_t turns(uint64_t loads)
{
    return (loads + UNROLL - 1) / UNROLL;
}

static uint64_t short_turns(const struct pointer_chase *walk, size_t elements)
{
    return turns(walk->visits > 0 ? walk->visits : elements);
}

/* Of the piece that is launched. */
static uint64_t piece_turns(const struct experiment *e, size_t elements)
{
    const uint64_t all = short_turns(e->own, elements);
    return experiment_piece_end(e, all) - experiment_piece_begin(e, all);
}

static void chase_own(const struct experiment *e, size_t elements,
                      uint64_t *words)
{
    words[0] = turns(pointer_chase_warm(e, elements));
    words[1] = piece_turns(e, elements);
    words[2] = 2 * words[1];
}

/* Those of the pieces before this one. */
static uint64_t visits_before(const struct experiment *e)
{
    const struct pointer_chase *const walk = e->own;
    return pointer_chase_is_only_swept(walk)
               ? 0
               : REACH * UNROLL *
                     experiment_piece_begin(e, turns(walk->visits));
}

static int chase_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    const struct pointer_chase *const walk = e->own;
    const bool shared = walk->space->memory == MEMORY_SHARED;
    const struct pointer_chase_work work = {
        .own = chase_own,
        .words_each = OUT_WORDS,
        .pool = shared ? pointer_chase_region(walk) : 0,
        .before = visits_before(e),
    };
    struct pointer_chase_out out;
    if (pointer_chase_run(prober, e, &work, &out, err) != 0)
        return err->code;
    for (uint64_t i = 0; i < walk->sms; i++) {
        const uint64_t *const words = out.words + i * OUT_WORDS;
        samples_add(samples, words[OUT_SM],
                    UNROLL * piece_turns(e, out.elements[i]), words[OUT_SHORT],
                    words[OUT_LONG]);
        prober_watched(prober, words[OUT_WATCH]);
    }
    pointer_chase_done(&out);
    return 0;
}

/* Where they may be as many on all SMs. */
static unsigned chase_pieces(const struct experiment *e)
{
    const struct pointer_chase *const walk = e->own;
    return pointer_chase_pieces(walk->visits);
}

/* Sums, by SM. */
static void chase_join(struct samples *samples, size_t from,
                       const struct samples *piece)
{
    for (size_t i = 0; i < piece->rows; i++) {
        int64_t *const row = samples_row_of(samples, from, COLUMN_SM,
                                            samples_at(piece, i, COLUMN_SM));
        for (size_t c = COLUMN_VISITS; c <= COLUMN_LONG; c++)
            row[c] += samples_at(piece, i, c);
    }
}

/* Cycles a load, of the first SM. */
static double chase_figure(const struct experiment *e,
                           const struct samples *samples, size_t from)
{
    (void)e;
    return (double)(samples_at(samples, from, COLUMN_LONG) -
                    samples_at(samples, from, COLUMN_SHORT)) /
           (double)samples_at(samples, from, COLUMN_VISITS);
}

const struct probe probe_chase = {
    .name = "chase",
    .what = "average cost of a dependent load over a ring of pointers",
    .params = chase_params,
    .bytes = sizeof(struct pointer_chase),
    .columns = TEXTS("sm", "visits", "short", "long"),
    .figure = chase_figure,
    .repeats_least = 9,
    .repeats_most = 25,
    .prepare = chase_prepare,
    .kernel = chase_kernel,
    .once = chase_once,
    .sound = rows_are_one,
    .pieces = chase_pieces,
    .join = chase_join,
    .loads = pointer_chase_loads,
};
