/* What is declared in bandwidth_rows.h. */
#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "probe/guard.h"
#include "study/assume.h"
#include "study/load/bandwidth_rows.h"

/* The set of memory: so many times what L2 holds; and the least that is
 * streamed in order, of which L2 cannot keep what the next run wants. */
enum { SETS = 32, FEW_SETS = 2 };
/* So long memory is read at least.  It pauses now and then: 65536 cycles have a
 * pause or none (H200: 4.55 or 4.75 TB/s), so many about as many as any (4.61
 * to 4.67). */
enum { MEMORY_CYCLES = 262144 };
/* As long on GPUs with other clocks: that was at 2 GHz. */
static const double memory_s = 131.072e-6;

/* B of a bulk copy, where the search begins. */
enum { BULK_START = 4096 };

/* What question_of() says of most is not said here. */
/* clang-format off */
#define ROW(of, what, how) .component = of, .attribute = what, .words = how
static const struct bandwidth_question rows[] = {
    [L1_READ]       = {ROW("l1", "read_bandwidth", "cache=ca")},
    [READONLY_READ] = {ROW("readonly", "read_bandwidth", "space=readonly")},
    [TEXTURE_READ]  = {ROW("texture", "read_bandwidth", "space=texture"), .width = 4},
    [CONST_READ]    = {ROW("const_l1", "read_bandwidth", "space=constant"), .lanes = 1},
    [SHARED_READ]   = {ROW("shared", "read_bandwidth", "space=shared"), .shared = true},
    [SHARED_WRITE]  = {ROW("shared", "write_bandwidth", "space=shared op=write"), .shared = true},
    [MEMORY_ROUND]  = {ROW("memory", "read_bandwidth", "warm=0"), .way = STREAM_GPU},
    [MEMORY_ORDER]  = {ROW("memory", "ordered_read_bandwidth", ""), .way = STREAM_BLOCKS},
    [MEMORY_BULK]   = {ROW("memory", "bulk_read_bandwidth", "warm=0"), .way = STREAM_GPU, .bulk = true},
    [MEMORY_WRITE]  = {ROW("memory", "write_bandwidth", "op=write"), .way = STREAM_BLOCKS},
    [MEMORY_COPY]   = {ROW("memory", "copy_bandwidth", "op=copy"), .way = STREAM_BLOCKS, .arrays = 2},
    [MEMORY_TRIAD]  = {ROW("memory", "triad_bandwidth", "op=triad"), .way = STREAM_BLOCKS, .arrays = 3},
    [L2_READ]       = {ROW("l2", "read_bandwidth", "cache=cg"), .way = STREAM_GPU, .part = 4},
    [L2_HALF]       = {ROW("l2", "read_bandwidth_half", "cache=cg"), .way = STREAM_GPU, .part = 2},
    [L2_BULK]       = {ROW("l2", "bulk_read_bandwidth", "warm=2"), .way = STREAM_GPU, .part = 2, .bulk = true},
    [L2_WRITE]      = {ROW("l2", "write_bandwidth", "op=write"), .way = STREAM_GPU, .part = 8},
};
#undef ROW
/* clang-format on */

/* In cycles of the clock that the driver tells, if it does; in whole thousands,
 * so that experiments are the same where clocks nearly are. */
static uint64_t memory_least(const struct lab *lab)
{
    const double hz = (double)device_told(lab->info, PROPERTY_CLOCK, 0);
    const uint64_t cycles = ((uint64_t)(memory_s * hz) | 1023) + 1;
    return hz > 0 ? u64_min(cycles, MEMORY_CYCLES) : MEMORY_CYCLES;
}

struct bandwidth_question bandwidth_question(struct lab *lab,
                                             const struct memory *m,
                                             enum bandwidth_row id)
{
    struct bandwidth_question q = rows[id];
    q.lab = lab;
    q.lanes = q.lanes > 0 ? q.lanes : BANDWIDTH_LANES;
    q.width = q.bulk ? BULK_START : q.width > 0 ? q.width : 16;
    q.arrays = q.arrays > 0 ? q.arrays : 1;
    q.of_memory = q.way != STREAM_SM && q.part == 0;
    if (q.way == STREAM_SM)
        q.least = SM_CYCLES;
    else if (q.part > 0)
        q.bytes = m->l2 / q.part;
    else if (q.way == STREAM_BLOCKS)
        q.bytes = FEW_SETS * m->l2;
    else
        q.bytes = u64_min(SETS * m->l2, m->room);
    if (q.of_memory && q.way == STREAM_GPU)
        q.least = memory_least(lab);
    q.room = q.of_memory ? m->room : 0;
    return q;
}

/* And takes the largest buffer, so that none is given back on the way. */
static uint64_t find_room(struct lab *lab, uint64_t l2)
{
    enum { ARRAYS = 3 };
    const uint64_t most = BANDWIDTH_BLOCKS_MOST * FEW_SETS * l2 * ARRAYS;
    const struct column free = lab_column(lab, "free", "memory");
    const uint64_t room = free.count > 0 ? (uint64_t)free.at[0] / 2 : 0;
    lab_probe(lab, "memory hold=%" PRIu64, u64_min(most, room));
    return room;
}

bool bandwidth_find_memory(struct lab *lab, struct memory *m)
{
    *m = (struct memory){.l2 = device_told(lab->info, PROPERTY_L2_BYTES, 0)};
    if (m->l2 == 0) {
        lab_refuse(lab, "memory.*", why_l2_untold);
        lab_refuse(lab, "l2.*", why_l2_untold);
        return false;
    }
    m->room = find_room(lab, m->l2);
    return lab_ok(lab);
}

/* ---- findings ---------------------------------------------------------- */

/* What the stated clock and width of memory come to, two transfers a cycle,
 * B/s; 0: not told. */
static double stated_peak(const struct lab *lab)
{
    const int64_t hz = lab->info->value[PROPERTY_MEMORY_CLOCK];
    const int64_t bits = lab->info->value[PROPERTY_MEMORY_BUS];
    if (hz <= 0 || bits <= 0)
        return 0;
    return 2 * (double)hz * (double)bits / 8;
}

void bandwidth_say_setup(struct finding *f, const struct bandwidth_question *q,
                         const struct bandwidth_setup *s)
{
    static const char *const shares[] = {
        [STREAM_SM] = "each warp goes over all of the set",
        [STREAM_GPU] = "each block goes round a part of its own",
        [STREAM_BLOCKS] = "each block has a tile, in order",
    };
    finding_protocol(f, "access",
                     value_text(q->bulk ? "cp.async.bulk" : q->words));
    finding_protocol(f, "share", value_text(shares[q->way]));
    finding_protocol(f, q->bulk ? "bytes_each" : "width",
                     value_number(s->width));
    finding_protocol(f, "in_flight", value_number(s->unroll));
    finding_protocol(f, "warps", value_number(s->warps));
    finding_protocol(f, "blocks", value_number(s->blocks));
    finding_protocol(f, "bytes",
                     value_number(q->way == STREAM_BLOCKS
                                      ? (double)s->length
                                      : (double)bandwidth_set_bytes(q, s)));
}

/* The clock that the kernel saw, and what was said of it. */
static void say_clock(struct finding *f, const struct bandwidth_question *q,
                      const struct bandwidth_rate *rate)
{
    static const char *const timers[] = {[STREAM_SM] = "clock64",
                                         [STREAM_GPU] = "clock64",
                                         [STREAM_BLOCKS] = "launch"};
    const bool off =
        rate->told_hz > 0 && fabs(rate->clock_hz - rate->told_hz) >
                                 assume(ASSUME_ALIKE) * rate->told_hz;
    finding_protocol(f, "timer", value_text(timers[q->way]));
    if (rate->fine)
        finding_protocol(f, "sm_clock", value_number(rate->clock_hz));
    if (rate->told_hz > 0)
        finding_protocol(f, "sm_clock_reported", value_number(rate->told_hz));
    finding_protocol(f, "clock",
                     value_text(!rate->fine && q->hz > 0 ? "as before the runs"
                                : !rate->fine ? "the timer is too coarse to see"
                                : rate->moved ? "moved during the run"
                                : off         ? "not the one reported"
                                              : "steady"));
}

/* What is but a bound is one to the end of its interval. */
static void be_bound(struct finding *f, enum finding_status status,
                     const char *why)
{
    finding_value(f, status,
                  value_number(f->interval[status == STATUS_AT_MOST]));
    finding_because(f, "%s", why);
    f->has_interval = false;
    f->confidence = -1;
}

static void say_memory(const struct lab *lab, struct finding *f,
                       const struct bandwidth_rate *rate)
{
    const double peak = stated_peak(lab);
    if (peak <= 0)
        return;
    finding_protocol(f, "stated_peak", value_number(peak));
    finding_protocol(f, "fraction", value_number(rate->value / peak));
    if (rate->value > (1 + assume(ASSUME_ALIKE)) * peak)
        be_bound(f, STATUS_AT_MOST, why_over_peak);
}

const char *bandwidth_flaw(const struct bandwidth_rate *rate)
{
    if (!rate->even)
        return why_blocks_uneven;
    if (rate->held)
        return why_warps_held;
    if (!(rate->value > 0) || !isfinite(rate->value))
        return why_timer_coarse;
    return NULL;
}

/* Beside others as much passes as they leave: their copies go on while the GPU
 * is ours, and they take what an SM's caches held.  Loads that are late hold
 * warps of an SM, and a few of them are all that it has in flight; of the GPU
 * thousands are.  NULL: neither. */
static const char *disturbed_by(const struct bandwidth_question *q)
{
    if (q->others || prober_guard(q->lab->prober)->leapt)
        return why_others_take;
    return q->late && q->way == STREAM_SM ? why_warps_wait : NULL;
}

/* Why it is but what passes at least; NULL: it is what passes. */
static const char *why_more_may_pass(const struct bandwidth_question *q,
                                     const struct bandwidth_found *found)
{
    if (!found->saturated)
        return found->untold ? why_more_untold : why_no_more_room;
    if (found->unlike)
        return why_runs_unlike;
    return q->brief ? disturbed_by(q) : NULL;
}

/* Warps that are held up leave theirs to the others, whose times are others: so
 * where runs differ their rates may add up to more than passes. */
static void be_least(struct finding *f, const struct bandwidth_question *q,
                     const struct bandwidth_rate *rate, const char *why)
{
    if (q->way == STREAM_SM && rate->spread >= assume(ASSUME_ALIKE))
        f->interval[0] = fmin(f->interval[0], rate->sure);
    be_bound(f, STATUS_AT_LEAST, why);
}

bool bandwidth_report(const struct bandwidth_question *q,
                      const struct bandwidth_found *found)
{
    const struct bandwidth_rate *const rate = &found->rate;
    struct finding *const f = lab_finding(q->lab, q->component, q->attribute);
    finding_cite(f, rate->experiment);
    const char *flaw = bandwidth_flaw(rate);
    if (flaw == NULL && (!(rate->low > 0) || !isfinite(rate->high)))
        flaw = why_runs_wild;
    if (flaw != NULL) {
        finding_none(f, "%s", flaw);
        return false;
    }
    finding_measured(f, rate->value);
    finding_interval(f, rate->low, rate->high,
                     rate->stepped ? -1 : LAB_CONFIDENCE_PERCENT / 100.0);
    const char *const more = why_more_may_pass(q, found);
    if (more != NULL)
        be_least(f, q, rate, more);
    else if (rate->disturbed > assume(ASSUME_ALIKE)) {
        f->status = STATUS_IN_DOUBT;
        finding_because(f, why_runs_late, 100 * rate->disturbed);
    }
    bandwidth_say_setup(f, q, &found->setup);
    say_clock(f, q, rate);
    if (q->of_memory)
        say_memory(q->lab, f, rate);
    return true;
}

bool bandwidth_was_excused(const struct bandwidth_question *q)
{
    const char *const why = lab_excuse(q->lab);
    if (why != NULL)
        finding_none(lab_finding(q->lab, q->component, q->attribute), "%s",
                     why);
    return why != NULL;
}

struct bandwidth_found bandwidth_ask(const struct bandwidth_question *q,
                                     const struct bandwidth_found *like)
{
    struct bandwidth_found found = bandwidth_find(q, like);
    if (!bandwidth_was_excused(q) && lab_ok(q->lab) &&
        bandwidth_report(q, &found))
        found.value = found.rate.value;
    return found;
}

void bandwidth_judge_l2(struct lab *lab, const char *attribute,
                        const struct bandwidth_found *l2,
                        const struct bandwidth_found *memory)
{
    if (l2->value > 0 &&
        l2->value <= (1 + 5 * assume(ASSUME_ALIKE)) * memory->value)
        be_bound(results_edit(lab->results, "l2", attribute), STATUS_AT_LEAST,
                 why_no_faster);
}

struct bandwidth_found bandwidth_ask_l2(const struct bandwidth_question *q,
                                        const struct bandwidth_found *memory)
{
    const struct bandwidth_found l2 = bandwidth_ask(q, NULL);
    bandwidth_judge_l2(q->lab, q->attribute, &l2, memory);
    return l2;
}

/* ---- what was found before --------------------------------------------- */

struct fact_reading bandwidth_reading(const struct bandwidth_found *found)
{
    const struct bandwidth_setup *const s = &found->setup;
    return (struct fact_reading){.value = found->value,
                                 .unroll = s->unroll,
                                 .warps = s->warps,
                                 .blocks = s->blocks,
                                 .width = s->width,
                                 .length = s->length};
}

struct bandwidth_found bandwidth_known(const struct fact_reading *r,
                                       unsigned sms)
{
    return (struct bandwidth_found){
        .value = r->value,
        .setup = {.unroll = r->unroll,
                  .warps = r->warps,
                  .blocks = r->blocks,
                  .width = r->width,
                  .sms = sms,
                  .stride = 1,
                  .row = BANDWIDTH_LANES,
                  .length = r->length,
                  .repeats = BANDWIDTH_REPEATS_FINAL},
    };
}
