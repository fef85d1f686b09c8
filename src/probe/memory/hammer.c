/*
 * The probe `hammer`: what atomics cost on lines while other SMs send atomics
 * to one line, or to a few, without a pause.
 *
 * A slice of L2 does one atomic after the other.  So those on lines of the
 * slice that is hammered wait, and on lines of others they do not.
 *
 * Some SMs time the lines, a thread each, in turn; others hammer, one thread of
 * each warp, which has so many atomics under way.  All meet before; each line
 * is loaded once then, while the hammered one's atomics pile up, and timed
 * after that; who hammers goes on until all others are done.  Lines lie `step`
 * apart, modulo `bytes`.  An atomic takes the larger of what is there and what
 * was there, so memory stays as it is.
 *
 * A row for each time that a line was timed; and one for each warp that
 * hammered, with its atomics and how long it took.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "probe/run/grid_barrier.h"
#include "probe/run/pin.h"

enum column { COLUMN_SM = 1, COLUMN_LINE, COLUMN_CYCLES, COLUMN_ATOMICS };
static const char *const hammer_columns[] = {"sm", "line", "cycles", "atomics",
                                             NULL};

enum { LANES = 32, WARPS_MOST = 32, LINES_MOST = 8192, FLIGHT_MOST = 8 };
/* Words of a warp that hammers. */
enum { OUT_ATOMICS, OUT_CYCLES, OUT_WORDS };
/* Cycles for which one hammers at most: a quarter of a second. */
#define LIMIT ((uint64_t)1 << 28)

struct hammer {
    uint64_t bytes, step, lines, laps, hot, hots;
    unsigned warps, flight;
    const char *timing, *hammering; /* SMs */
    uint64_t sms[PIN_SLOTS];        /* those that time, and then the others */
    size_t timers, hammers;
};

/* clang-format off */
static const struct param hammer_params[] = {
    NUMBER(struct hammer, bytes, "2097152", 128, 1ull << 36, "of memory: a power of two"),
    NUMBER(struct hammer, step, "128", 4, 1ull << 36, "from a line to the next, modulo bytes"),
    NUMBER(struct hammer, lines, "1024", 0, LINES_MOST, "that are timed"),
    NUMBER(struct hammer, laps, "3", 1, 64, "times that each is"),
    NUMBER(struct hammer, hot, "0", 0, LINES_MOST, "number of the line that is hammered"),
    NUMBER(struct hammer, hots, "1", 1, 1 << 20, "lines from that one on that are, a warp each"),
    PARAM_ROW("timers", struct hammer, timing, PARAM_TEXT, "0", 0, 0, NULL, "SMs that time: 0,4-7"),
    PARAM_ROW("hammers", struct hammer, hammering, PARAM_TEXT, "", 0, 0, NULL, "SMs that hammer"),
    NUMBER(struct hammer, warps, "32", 1, WARPS_MOST, "of each of these"),
    NUMBER(struct hammer, flight, "1", 1, FLIGHT_MOST, "atomics that each has under way"),
    {0},
};
/* clang-format on */

/* ---- reading ----------------------------------------------------------- */

/* Adds the SMs of a list; how many they are. */
static int add_sms(struct hammer *h, const char *list, size_t *count,
                   struct error *err)
{
    bool in[PIN_SLOTS] = {false};
    if (list[0] != '\0' && !text_to_set(list, in, PIN_SLOTS))
        return error_set(err, ERR_USAGE,
                         "hammer: %s is not a list of SMs and ranges of them: "
                         "0,4-7, below %d",
                         list, PIN_SLOTS);
    for (uint64_t sm = 0; sm < PIN_SLOTS; sm++) {
        if (!in[sm])
            continue;
        for (size_t i = 0; i < h->timers; i++)
            if (h->sms[i] == sm)
                return error_set(err, ERR_USAGE,
                                 "hammer: SM %" PRIu64 " times and hammers",
                                 sm);
        h->sms[h->timers + (*count)++] = sm;
    }
    return 0;
}

static int hammer_prepare(struct experiment *e, const struct device_info *info,
                          struct error *err)
{
    struct hammer *const h = e->own;
    const struct grid_barrier_blocks wanted = {
        .probe = "hammer", .warps = h->warps, .blocks = 1};
    size_t timers = 0;
    if (!u64_is_power(h->bytes) || h->step % 4 != 0)
        return error_set(err, ERR_USAGE,
                         "hammer: bytes is a power of two, and step of whole "
                         "words of 4 B");
    if (add_sms(h, h->timing, &timers, err) != 0)
        return err->code;
    h->timers = timers;
    if (add_sms(h, h->hammering, &h->hammers, err) != 0)
        return err->code;
    if ((h->timers > 0) != (h->lines > 0) || h->timers + h->hammers == 0)
        return error_set(err, ERR_USAGE,
                         "hammer: lines are timed by timers: give both, or "
                         "hammers alone");
    return grid_barrier_room(&wanted, info, err);
}

/* ---- the kernel -------------------------------------------------------- */

/* A job: the buffer, its bytes less one, lines' distance, the first line and
 * the next (numbers), how many, laps, results, their last
 * word, which says that the job is done, how many time; who hammers has laps 0.
 */
enum job {
    JOB_BASE,
    JOB_MASK,
    JOB_STEP,
    JOB_LINE,
    JOB_NEXT,
    JOB_LINES,
    JOB_LAPS,
    JOB_OUT,
    JOB_DONE,
    JOB_TIMERS,
    JOB_WORDS
};

static void aim(struct kernel_text *k)
{
    static const char *const words[JOB_WORDS] = {
        "%base",  "%mask", "%step", "%first", "%next",
        "%lines", "%laps", "%out",  "%done",  "%timers"};
    ptx(k, ".reg .b64 %base, %mask, %step, %first, %next, %lines, %laps, %out, "
           "%done, %timers, %line, %left, %t0, %t1, %atomics;\n"
           ".reg .b32 %value, %warp, %end;\n"
           ".reg .pred %hammers, %on;\n");
    for (int i = 0; i < JOB_WORDS; i++)
        pin_job_word(k, words[i], i);
    ptx(k, "setp.eq.u64 %hammers, %laps, 0;");
}

/* %at becomes the address of line %line. */
static void find_line(struct kernel_text *k)
{
    ptx(k, "mul.lo.u64 %at, %line, %step;\n"
           "and.b64 %at, %at, %mask;\n"
           "add.u64 %at, %at, %base;\n");
}

/* All lines once, by thread 0; `body` is what is done at %at. */
static void each_line(struct kernel_text *k, const char *name,
                      void (*body)(struct kernel_text *k))
{
    ptx_with(k,
             "mov.u64 %line, %first;\n"
             "mov.u64 %left, %lines;\n"
             "$name:\n",
             WORD(name, name));
    find_line(k);
    body(k);
    ptx_with(k,
             "add.u64 %line, %line, %next;\n"
             "sub.u64 %left, %left, 1;\n"
             "setp.ne.u64 %again, %left, 0;\n"
             "@%again bra $name;\n",
             WORD(name, name));
}

static void bring(struct kernel_text *k)
{
    ptx(k, "atom.global.max.u32 %value, [%at], 0;");
}

/* The second clock read waits for what was read; cycles are 0 if that is one
 * number of all. */
static void time_line(struct kernel_text *k)
{
    ptx(k, "mov.u64 %t0, %clock64;\n"
           "max.u64 %t1, %t0, %at;\n"
           "setp.ne.u64 %again, %t1, 0xffffffffffffffff;\n"
           "@!%again bra DONE;\n"
           "atom.global.max.u32 %value, [%at], 0;\n"
           "setp.ne.u32 %again, %value, 0x9e3779b9;\n"
           "mov.u64 %t1, %t0;\n"
           "@%again mov.u64 %t1, %clock64;\n"
           "sub.u64 %t1, %t1, %t0;\n"
           "st.global.u64 [%out], %t1;\n"
           "add.u64 %out, %out, 8;\n");
}

static void time_lines(struct kernel_text *k)
{
    ptx(k, "@%other bra DONE;");
    each_line(k, "BRING", bring);
    ptx(k, "LAP:");
    each_line(k, "TIME", time_line);
    ptx(k, "sub.u64 %laps, %laps, 1;\n"
           "setp.ne.u64 %again, %laps, 0;\n"
           "@%again bra LAP;\n");
    pin_count(k);
    ptx(k, "mov.u64 %left, 1;\n"
           "st.global.u64 [%done], %left;\n"
           "bra DONE;\n");
}

/* Each warp its line, lane 0. */
static void choose_hot(struct kernel_text *k)
{
    ptx_with(k,
             "HAMMER:\n"
             "and.b32 %warp, %me, 31;\n"
             "setp.ne.u32 %again, %warp, 0;\n"
             "@%again bra DONE;\n"
             "shr.u32 %warp, %me, 5;\n"
             "cvt.u64.u32 %line, %warp;\n"
             "add.u64 %line, %line, %next;\n"
             "rem.u64 %line, %line, %lines;\n"
             "add.u64 %line, %line, %first;\n"
             "mad.wide.u32 %out, %warp, $words, %out;\n"
             "cvt.u32.u64 %end, %timers;\n"
             "add.u32 %end, %end, %want;\n"
             "mov.u64 %atomics, 0;\n",
             WORD(words, 8 * OUT_WORDS));
    find_line(k);
}

static void hammer_lines(struct kernel_text *k, const struct hammer *h)
{
    choose_hot(k);
    for (unsigned i = 0; i < h->flight; i++)
        ptx_with(k,
                 ".reg .b32 %v$i;\n"
                 "mov.u32 %v$i, 0;\n",
                 WORD(i, i));
    ptx(k, "mov.u64 %t0, %clock64;\n"
           "AGAIN:\n");
    for (unsigned i = 0; i < FLIGHT_MOST; i++)
        ptx_with(k, "atom.global.max.u32 %v$i, [%at], %v$i;",
                 WORD(i, i % h->flight));
    pin_counted(k);
    ptx_with(k,
             "add.u64 %atomics, %atomics, $unroll;\n"
             "setp.lt.u32 %on, %count, %end;\n"
             "mov.u64 %t1, %clock64;\n"
             "sub.u64 %t1, %t1, %t0;\n"
             "setp.lt.u64 %again, %t1, $limit;\n"
             "and.pred %again, %again, %on;\n"
             "@%again bra AGAIN;\n"
             "st.global.u64 [%out], %atomics;\n"
             "st.global.u64 [%out+$cycles], %t1;\n"
             "@%other bra DONE;\n"
             "mov.u64 %left, 1;\n"
             "st.global.u64 [%done], %left;\n"
             "DONE:\n",
             WORD(unroll, FLIGHT_MOST),
             WORD(limit, h->timers > 0 ? LIMIT : LIMIT >> 12),
             WORD(cycles, 8 * OUT_CYCLES));
}

static void hammer_kernel(const struct experiment *e,
                          const struct device_info *info, struct buf *out)
{
    const struct hammer *const h = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "hammer",
                 .parameters = PIN_PARAMETERS, .variables = PIN_VARIABLES);
    pin_opening(&k, 8 * JOB_WORDS);
    aim(&k);
    pin_meet(&k);
    ptx(&k, "bar.sync 0;\n"
            "@%hammers bra HAMMER;\n");
    time_lines(&k);
    hammer_lines(&k, h);
    kernel_end(&k);
}

/* ---- running ----------------------------------------------------------- */

/* Lines of the timer `i`. */
static uint64_t lines_of(const struct hammer *h, size_t i)
{
    return h->lines / h->timers + (i < h->lines % h->timers);
}

static void fill_job(const struct hammer *h, size_t i, uint64_t *job)
{
    const bool times = i < h->timers;
    job[JOB_MASK] = h->bytes - 1;
    job[JOB_STEP] = h->step;
    job[JOB_LINE] = times ? i : h->hot;
    job[JOB_NEXT] = times ? h->timers : (i - h->timers) * h->warps;
    job[JOB_LINES] = times ? lines_of(h, i) : h->hots;
    job[JOB_LAPS] = times ? h->laps : 0;
    job[JOB_TIMERS] = h->timers > 0 ? h->timers : 1;
}

static void add_times(const struct hammer *h, size_t i, const uint64_t *words,
                      struct samples *samples)
{
    for (uint64_t n = 0; n < h->laps * lines_of(h, i); n++)
        samples_add(samples, h->sms[i], i + n % lines_of(h, i) * h->timers,
                    words[n], 0);
}

static void add_warps(const struct hammer *h, uint64_t sm,
                      const uint64_t *words, struct samples *samples)
{
    for (unsigned w = 0; w < h->warps; w++, words += OUT_WORDS)
        samples_add(samples, sm, h->hot, words[OUT_CYCLES], words[OUT_ATOMICS]);
}

/* Room for what the largest job gives, and the word that says it is done,
 * which is the last of all: so every job has just as many. */
static size_t words_each(const struct hammer *h)
{
    const size_t timed = h->timers > 0 ? h->laps * lines_of(h, 0) : 0;
    return u64_max(timed, OUT_WORDS * h->warps) + 1;
}

static int run_jobs(struct prober *prober, const struct experiment *e,
                    struct samples *samples, uint64_t *jobs, struct error *err)
{
    const struct hammer *const h = e->own;
    uint64_t buffer;
    struct pin pin = {.count = h->timers + h->hammers,
                      .sms = h->sms,
                      .jobs = jobs,
                      .job_bytes = 8 * JOB_WORDS,
                      .words_each = words_each(h),
                      .threads = LANES * h->warps,
                      .shared_bytes = PIN_POOL};
    if (prober_buffer(prober, BUFFER_RING, h->bytes, &buffer, err) != 0 ||
        pin_place(prober, &pin, err) != 0)
        return err->code;
    for (size_t i = 0; i < pin.count; i++) {
        fill_job(h, i, jobs + i * JOB_WORDS);
        jobs[i * JOB_WORDS + JOB_BASE] = buffer;
        jobs[i * JOB_WORDS + JOB_OUT] = pin_out(&pin, i);
        jobs[i * JOB_WORDS + JOB_DONE] = pin_out(&pin, i + 1) - 8;
    }
    uint64_t *const words = pin_run(prober, e, &pin, err);
    for (size_t i = 0; words != NULL && i < pin.count; i++)
        (i < h->timers
             ? add_times(h, i, words + i * pin.words_each, samples)
             : add_warps(h, h->sms[i], words + i * pin.words_each, samples));
    free(words);
    return err->code;
}

/* Jobs of all SMs are more than a small stack holds. */
static int hammer_once(struct prober *prober, const struct experiment *e,
                       struct samples *samples, struct error *err)
{
    uint64_t *const jobs = xcalloc(PIN_SLOTS * JOB_WORDS, sizeof *jobs);
    const int status = run_jobs(prober, e, samples, jobs, err);
    free(jobs);
    return status;
}

/* One run gives many samples: it is not repeated. */
const struct probe probe_hammer = {
    .name = "hammer",
    .what = "what atomics cost while other SMs send some to one line",
    .params = hammer_params,
    .bytes = sizeof(struct hammer),
    .columns = hammer_columns,
    .figure_column = COLUMN_CYCLES,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = hammer_prepare,
    .kernel = hammer_kernel,
    .once = hammer_once,
};
