/*
 * The probe `trace`: what each single dependent load costs, and what it read
 * (the fine-grained chase of Mei 2014, listing 4).
 *
 * Around each load stand two clock reads; before the second, the loaded value
 * is stored to shared memory, which waits for it, so the second read cannot
 * come early.  The time of that store and of the clock itself is in every
 * sample; the probe `clock` tells how much it is.  With `above` only slower
 * accesses are kept, so that a long walk fits in little memory.  With `each`
 * more loads than one stand between the reads: what two cost more than one is
 * free of what timing adds.
 */
#include <string.h>

#include "probe/run.h"
#include "probe/walk/pointer_chase.h"
#include "ptx/repeat.h"

enum { UNROLL = 64, RECORD_BYTES = 16 };

enum column {
    COLUMN_SM = 1,
    COLUMN_EVENTS,
    COLUMN_VISIT,
    COLUMN_OFFSET,
    COLUMN_CYCLES
};

/* Words of the probe's own in a job. */
enum { OWN_WARM, OWN_WARM_REST, OWN_VISITS, OWN_ABOVE, OWN_MOST };
/* Words of the result before the records, an even number of them; `done` is the
 * very last word. */
enum { OUT_SM, OUT_EVENTS, OUT_WATCH, OUT_HEAD = 4 };

/* clang-format off */
static const struct param trace_params[] = {
    POINTER_CHASE_PARAMS,
    NUMBER(struct pointer_chase, visits, "0", 0, 1u << 30, "loads that are timed; 0: one lap"),
    NUMBER(struct pointer_chase, above, "0", 0, 1u << 20, "keep only loads of at least so many cycles"),
    NUMBER(struct pointer_chase, each, "1", 1, 64, "dependent loads between two reads of the clock; a visit is so many"),
    NUMBER(struct pointer_chase, records, "2048", 1, 8192, "most loads that are kept (16 B of shared memory each)"),
    ASSEMBLER_LEVEL,
    {0},
};
/* clang-format on */

static void timed_load(struct kernel_text *k, const struct pointer_chase *w)
{
    const char *const pointer = w->space->pointer_bytes == 8 ? "u64" : "u32";
    ptx_note(k, "where it reads, relative to the ring");
    if (w->space->pointer_bytes == 8) {
        ptx(k, "sub.u64 %ptr64, %ptr, %base;\n"
               "cvt.u32.u64 %offset, %ptr64;\n");
    } else {
        ptx(k, "sub.u32 %offset, %ptr, %base32;");
        if (space_unit(w->space) > 1)
            ptx_with(k, "mul.lo.u32 %offset, %offset, $space_unit;",
                     WORD(space_unit, space_unit(w->space)));
    }
    ptx(k, "mov.u32 %t0, %clock;");
    for (unsigned copy = 0; copy < w->each; copy++)
        pointer_chase_load(k, copy, w);
    ptx_with(k,
             "st.shared.$pointer [pool+8], %ptr;\n"
             "mov.u32 %t1, %clock;\n",
             WORD(pointer, pointer));
}

static void trace_keep(struct kernel_text *k)
{
    pin_mark(k, "%t1");
    ptx_with(k,
             "sub.u32 %t1, %t1, %t0;\n"
             "setp.ge.u32 %slow, %t1, %above;\n"
             "@!%slow bra KEPT;\n"
             "setp.lt.u32 %again, %events, %most;\n"
             "add.u32 %events, %events, 1;\n"
             "@!%again bra KEPT;\n"
             "st.shared.v4.u32 [%record], {%visit, %offset, %t1, %t1};\n"
             "add.u32 %record, %record, $bytes;\n"
             "KEPT:\n",
             WORD(bytes, RECORD_BYTES));
}

static void declare(struct kernel_text *k)
{
    ptx(k, ".reg .b32 %t0, %t1, %offset, %visit, %visits, %above, %most, "
           "%events, %record, %base32, %a, %b, %c, %d;\n"
           ".reg .b64 %base, %left, %rest, %out;\n"
           ".reg .pred %slow;\n");
}

/* Words of an SM's result: an even number, so that records stay aligned. */
static size_t out_words(uint64_t records)
{
    return OUT_HEAD + RECORD_BYTES / 8 * records + 2;
}

/* The records leave shared memory only when all is over. */
static void write_out(struct kernel_text *k, uint64_t records)
{
    pin_job_word(k, "%out", JOB_OUT);
    pointer_chase_watch_word(k, "%left");
    ptx_with(k,
             "st.global.u64 [%out+$watch], %left;\n"
             "cvt.u64.u32 %left, %sm;\n"
             "st.global.u64 [%out+$sm], %left;\n"
             "cvt.u64.u32 %left, %events;\n"
             "st.global.u64 [%out+$events], %left;\n"
             "mov.u64 %left, 1;\n"
             "st.global.u64 [%out+$records], %left;\n"
             "mov.u32 %record, %first;\n"
             "min.u32 %events, %events, %most;\n"
             "WRITE:\n"
             "setp.eq.u32 %again, %events, 0;\n"
             "@%again ret;\n"
             "ld.shared.v4.u32 {%a, %b, %c, %d}, [%record];\n"
             "st.global.v4.u32 [%out+$head], {%a, %b, %c, %d};\n"
             "add.u32 %record, %record, $bytes;\n"
             "add.u64 %out, %out, $bytes;\n"
             "sub.u32 %events, %events, 1;\n"
             "bra WRITE;\n",
             WORD(watch, 8 * OUT_WATCH), WORD(sm, 8 * OUT_SM),
             WORD(events, 8 * OUT_EVENTS),
             WORD(records, 8 * (out_words(records) - 1)),
             WORD(head, 8 * OUT_HEAD), WORD(bytes, RECORD_BYTES));
}

/* Bytes of the pool before the records: the opening's and a shared ring. */
static uint64_t records_at(const struct pointer_chase *w)
{
    const uint64_t ring =
        w->space->memory == MEMORY_SHARED ? pointer_chase_region(w) : 0;
    return POINTER_CHASE_POOL_OWN + ring;
}

static int trace_prepare(struct experiment *e, const struct device_info *info,
                         struct error *err)
{
    const struct pointer_chase *const walk = e->own;
    return pointer_chase_prepare(e, info, walk->each, err);
}

static void read_job(struct kernel_text *k, const struct pointer_chase *walk)
{
    ptx_note(k, "all is read before the warm-up, which then has the last word "
                "in every cache");
    pin_job_word(k, "%left", JOB_OWN + OWN_VISITS);
    ptx(k, "cvt.u32.u64 %visits, %left;");
    pin_job_word(k, "%left", JOB_OWN + OWN_ABOVE);
    ptx(k, "cvt.u32.u64 %above, %left;");
    pin_job_word(k, "%left", JOB_OWN + OWN_MOST);
    ptx(k, "cvt.u32.u64 %most, %left;");
    pin_job_word(k, "%base", JOB_BASE);
    ptx(k, "cvt.u32.u64 %base32, %base;");
    if (!walk->space->indexed)
        ptx(k, "add.u32 %base32, %base32, %memory;");
    ptx_with(k,
             ".reg .b32 %first;\n"
             "mov.u32 %first, pool;\n"
             "add.u32 %first, %first, $records;\n",
             WORD(records, records_at(walk)));
}

static void trace_kernel(const struct experiment *e,
                         const struct device_info *info, struct buf *out)
{
    const struct pointer_chase *const walk = e->own;
    struct kernel_text k;
    pointer_chase_begin(&k, out, e, info);
    declare(&k);
    read_job(&k, walk);
    pin_job_word(&k, "%rest", JOB_OWN + OWN_WARM_REST);
    pin_job_word(&k, "%left", JOB_OWN + OWN_WARM);
    repeat_loop(&k, "WARM", "%left", UNROLL, pointer_chase_watched, walk);
    ptx_note(&k, "to the load, so that the trace begins where a lap does");
    repeat_loop(&k, "REST", "%rest", 1, pointer_chase_watched, walk);
    pointer_chase_mark_now(&k);
    ptx(&k, "mov.u32 %record, %first;\n"
            "mov.u32 %events, 0;\n"
            "mov.u32 %visit, 0;\n"
            "TRACE:\n");
    timed_load(&k, walk);
    trace_keep(&k);
    ptx(&k, "add.u32 %visit, %visit, 1;\n"
            "setp.lt.u32 %again, %visit, %visits;\n"
            "@%again bra TRACE;\n");
    write_out(&k, walk->records);
    pointer_chase_closing(&k);
}

static void trace_own(const struct experiment *e, size_t elements,
                      uint64_t *words)
{
    const struct pointer_chase *const walk = e->own;
    const uint64_t all = walk->visits > 0 ? walk->visits : elements;
    const uint64_t warm = pointer_chase_warm(e, elements);
    words[OWN_WARM] = warm / UNROLL;
    words[OWN_WARM_REST] = warm % UNROLL;
    words[OWN_VISITS] =
        experiment_piece_end(e, all) - experiment_piece_begin(e, all);
    words[OWN_ABOVE] = walk->above;
    words[OWN_MOST] = walk->records;
}

/* Rows of one SM: a row for each record; one with visit −1 if there is none;
 * `before` visits were those of other pieces. */
static void add_rows(struct samples *samples, const uint64_t *words,
                     uint64_t most, uint64_t before)
{
    const uint64_t events = words[OUT_EVENTS];
    const uint64_t kept = events < most ? events : most;
    for (uint64_t i = 0; i < kept || i == 0; i++) {
        uint32_t record[4] = {UINT32_MAX, 0, 0, 0};
        if (kept > 0)
            memcpy(record, words + OUT_HEAD + 2 * i, sizeof record);
        int64_t *const row = samples_row(samples);
        row[COLUMN_SM] = (int64_t)words[OUT_SM];
        row[COLUMN_EVENTS] = (int64_t)events;
        row[COLUMN_VISIT] =
            kept > 0 ? (int64_t)(before + record[0]) : (int32_t)record[0];
        row[COLUMN_OFFSET] = record[1];
        row[COLUMN_CYCLES] = record[2];
    }
}

static int trace_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    const struct pointer_chase *const walk = e->own;
    const struct pointer_chase_work work = {
        .own = trace_own,
        .words_each = out_words(walk->records),
        .pool = records_at(walk) - POINTER_CHASE_POOL_OWN +
                RECORD_BYTES * walk->records,
        .before = walk->each * experiment_piece_begin(e, walk->visits),
    };
    struct pointer_chase_out out;
    if (pointer_chase_run(prober, e, &work, &out, err) != 0)
        return err->code;
    for (uint64_t i = 0; i < walk->sms; i++) {
        const uint64_t *const words = out.words + i * work.words_each;
        prober_watched(prober, words[OUT_WATCH]);
        add_rows(samples, words, walk->records,
                 experiment_piece_begin(e, walk->visits));
    }
    pointer_chase_done(&out);
    return 0;
}

static unsigned trace_pieces(const struct experiment *e)
{
    const struct pointer_chase *const walk = e->own;
    return pointer_chase_is_only_swept(walk)
               ? 1
               : pointer_chase_pieces(walk->visits);
}

/* All rows of an SM say how many slow loads it had in all. */
static void count_events(struct samples *samples, size_t from, int64_t sm,
                         int64_t more)
{
    int64_t before = -1;
    for (size_t i = from; i < samples->rows; i++) {
        int64_t *const row = samples->data + i * samples->columns;
        if (row[COLUMN_SM] != sm)
            continue;
        before = before < 0 ? row[COLUMN_EVENTS] : before;
        row[COLUMN_EVENTS] = before + more;
    }
}

/* A further piece of the walk. */
static void trace_join(struct samples *samples, size_t from,
                       const struct samples *piece)
{
    const bool first = samples->rows == from;
    for (size_t i = 0; i < piece->rows; i++) {
        const int64_t *const more = piece->data + i * piece->columns;
        if (first || more[COLUMN_VISIT] >= 0)
            memcpy(samples_row(samples), more, piece->columns * sizeof *more);
    }
    for (size_t i = 0; !first && i < piece->rows; i++) {
        const int64_t sm = samples_at(piece, i, COLUMN_SM);
        if (i == 0 || samples_at(piece, i - 1, COLUMN_SM) != sm)
            count_events(samples, from, sm,
                         samples_at(piece, i, COLUMN_EVENTS));
    }
}

/* One walk gives thousands of samples: it is not repeated. */
const struct probe probe_trace = {
    .name = "trace",
    .what = "latency and address of every load of a walk over a ring",
    .params = trace_params,
    .bytes = sizeof(struct pointer_chase),
    .columns = TEXTS("sm", "events", "visit", "offset", "cycles"),
    .figure_column = COLUMN_EVENTS,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = trace_prepare,
    .kernel = trace_kernel,
    .once = trace_once,
    .pieces = trace_pieces,
    .join = trace_join,
    .loads = pointer_chase_loads,
};
