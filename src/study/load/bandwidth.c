/*
 * How many bytes pass in a time, with as many warps and accesses in flight as
 * it takes (van Stigt 2022, 7; Mei 2014 and Groessler 2022 plan it).
 *
 * Of each place the study looks for the configuration that saturates it: from
 * a few warps on it doubles what is in flight, wherever that gives most, until
 * nothing does.  What still grew at the end of its range is a bound.
 *
 * In an SM one SM works, and laps are timed by its clock.  On all SMs, reads
 * (and L2) are timed in the middle of the work, while each SM goes round a part
 * of its own; B/clk of the SMs times what their clock is by the GPU's timer.
 * Bulk copies, where there are any, are asked in that way too: how large they
 * are and how many a warp has in flight is then what the search changes.
 * Memory is also streamed in order, by blocks as the hardware hands them out;
 * there two sizes are timed and their difference counts, so that what begins
 * and ends a launch does not.  Either is made longer until that changes
 * nothing.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/hits.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/load/bandwidth_search.h"
#include "study/load/sweep.h"

static const char *const read_by_sm[] = {"readonly", "texture", "const_l1",
                                         "shared", NULL};
/* clang-format off */
static const struct answer answers[] = {
    {ONE("l1"),     "default_operator",           ""},
    {ONE("l1"),     "read_bandwidth",             "B/clk/SM"},
    {ONE("l1"),     "read_bandwidth_by_use",      "B/clk/SM"},
    {ONE("l1"),     "read_bandwidth_by_stride",   "B/clk/SM"},
    {ONE("l1"),     "read_bandwidth_by_shape",    "B/clk/SM"},
    {ONE("l1"),     "read_bandwidth_by_width",    "B/clk/SM"},
    {read_by_sm,    "read_bandwidth",             "B/clk/SM"},
    {ONE("shared"), "read_bandwidth_by_width",    "B/clk/SM"},
    {ONE("shared"), "write_bandwidth",            "B/clk/SM"},
    {ONE("memory"), "read_bandwidth",             "B/s"},
    {ONE("memory"), "bulk_read_bandwidth",        "B/s"},
    {ONE("memory"), "write_bandwidth",            "B/s"},
    {ONE("memory"), "copy_bandwidth",             "B/s"},
    {ONE("memory"), "triad_bandwidth",            "B/s"},
    {ONE("memory"), "read_bandwidth_by_width",    "B/s"},
    {ONE("memory"), "read_bandwidth_by_sms",      "B/s"},
    {ONE("memory"), "read_bandwidth_by_operator", "B/s"},
    {ONE("l2"),     "read_bandwidth",             "B/s"},
    {ONE("l2"),     "read_bandwidth_half",        "B/s"},
    {ONE("l2"),     "read_bandwidth_by_width",    "B/s"},
    {ONE("l2"),     "read_bandwidth_by_sms",      "B/s"},
    {ONE("l2"),     "bulk_read_bandwidth",        "B/s"},
    {ONE("l2"),     "write_bandwidth",            "B/s"},
    {0},
};
/* clang-format on */
static const char *const kernels[] = {"chase op=ca", "chase op=cg",
                                      "chase op=default", NULL};

/* The set of memory: so many times what L2 holds; and the least that is
 * streamed in order, of which L2 cannot keep what the next run wants. */
enum { SETS = 32, FEW_SETS = 2 };
/* So long an SM works at least: some hundred tiles of each warp. */
enum { SM_CYCLES = 32768 };
/* So long memory is read at least.  It pauses now and then: 65536 cycles have a
 * pause or none (H200: 4.55 or 4.75 TB/s), so many about as many as any (4.61
 * to 4.67). */
enum { MEMORY_CYCLES = 262144 };

/* ---- what is asked ----------------------------------------------------- */

enum row_id {
    L1_READ,
    READONLY_READ,
    TEXTURE_READ,
    CONST_READ,
    SHARED_READ,
    SHARED_WRITE,
    MEMORY_ROUND,
    MEMORY_ORDER,
    MEMORY_BULK,
    MEMORY_WRITE,
    MEMORY_COPY,
    MEMORY_TRIAD,
    L2_READ,
    L2_HALF,
    L2_BULK,
    L2_WRITE
};

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
    [MEMORY_ORDER]  = {ROW("memory", "read_bandwidth", ""), .way = STREAM_BLOCKS},
    [MEMORY_BULK]   = {ROW("memory", "bulk_read_bandwidth", "warm=0"), .way = STREAM_GPU, .bulk = true},
    [MEMORY_WRITE]  = {ROW("memory", "write_bandwidth", "op=write"), .way = STREAM_BLOCKS},
    [MEMORY_COPY]   = {ROW("memory", "copy_bandwidth", "op=copy"), .way = STREAM_BLOCKS, .arrays = 2},
    [MEMORY_TRIAD]  = {ROW("memory", "triad_bandwidth", "op=triad"), .way = STREAM_BLOCKS, .arrays = 3},
    [L2_READ]       = {ROW("l2", "read_bandwidth", "cache=cg"), .way = STREAM_GPU, .part = 8},
    [L2_HALF]       = {ROW("l2", "read_bandwidth_half", "cache=cg"), .way = STREAM_GPU, .part = 2},
    [L2_BULK]       = {ROW("l2", "bulk_read_bandwidth", "warm=2"), .way = STREAM_GPU, .part = 2, .bulk = true},
    [L2_WRITE]      = {ROW("l2", "write_bandwidth", "op=write"), .way = STREAM_GPU, .part = 8},
};
#undef ROW
/* clang-format on */

/* What the sets of memory and L2 are made of; and what was found of memory. */
struct memory {
    uint64_t l2, room; /* B; the latter of all arrays */
    struct bandwidth_found read, write;
};

/* A row, with how large its set is and how long it is measured at least. */
static struct bandwidth_question
question_of(struct lab *lab, const struct memory *m, enum row_id id)
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
        q.least = MEMORY_CYCLES;
    q.room = q.of_memory ? m->room : 0;
    return q;
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

static void say_setup(struct finding *f, const struct bandwidth_question *q,
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
                     value_text(!rate->fine   ? "the timer is too coarse to see"
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

/* Why a rate is no number; NULL if it is one. */
static const char *flaw_of(const struct bandwidth_rate *rate)
{
    if (!rate->even)
        return why_blocks_uneven;
    if (rate->held)
        return why_warps_held;
    if (!(rate->value > 0) || !isfinite(rate->value))
        return why_timer_coarse;
    return NULL;
}

/* Says what was found; false if that is no number. */
static bool bandwidth_report(const struct bandwidth_question *q,
                             const struct bandwidth_found *found)
{
    const struct bandwidth_rate *const rate = &found->rate;
    struct finding *const f = lab_finding(q->lab, q->component, q->attribute);
    finding_cite(f, rate->experiment);
    const char *flaw = flaw_of(rate);
    if (flaw == NULL && (!(rate->low > 0) || !isfinite(rate->high)))
        flaw = why_runs_wild;
    if (flaw != NULL) {
        finding_none(f, "%s", flaw);
        return false;
    }
    finding_measured(f, rate->value);
    finding_interval(f, rate->low, rate->high,
                     rate->stepped ? -1 : LAB_CONFIDENCE_PERCENT / 100.0);
    if (!found->saturated)
        be_bound(f, STATUS_AT_LEAST, why_no_more_room);
    else if (rate->disturbed > assume(ASSUME_ALIKE)) {
        f->status = STATUS_IN_DOUBT;
        finding_because(f, why_runs_late, 100 * rate->disturbed);
    }
    say_setup(f, q, &found->setup);
    say_clock(f, q, rate);
    if (q->of_memory)
        say_memory(q->lab, f, rate);
    return true;
}

/* A GPU without such loads, or too little memory, is no failure; true if that
 * is why nothing was measured. */
static bool was_excused(const struct bandwidth_question *q)
{
    const char *const why = lab_excuse(q->lab);
    if (why != NULL)
        finding_none(lab_finding(q->lab, q->component, q->attribute), "%s",
                     why);
    return why != NULL;
}

/* Searches, measures and reports; the value is 0 if there is none. */
static struct bandwidth_found bandwidth_ask(const struct bandwidth_question *q,
                                            const struct bandwidth_found *like)
{
    struct bandwidth_found found = bandwidth_find(q, like);
    if (!was_excused(q) && lab_ok(q->lab) && bandwidth_report(q, &found))
        found.value = found.rate.value;
    return found;
}

/* ---- lists ------------------------------------------------------------- */

/* Rates of experiments that differ in one thing. */
static struct bandwidth_rate list_add(struct sweep *list,
                                      const struct bandwidth_question *q,
                                      const struct bandwidth_setup *s,
                                      struct value name)
{
    const struct bandwidth_rate rate = bandwidth_measure(q, s);
    const char *const flaw = flaw_of(&rate);
    sweep_add(list, name, rate.value, rate.experiment);
    if (flaw != NULL)
        lab_fail(list->lab, ERR_UNSUPPORTED, "%s", flaw);
    return rate;
}

static void list_end(struct sweep *list, const struct bandwidth_question *q,
                     const struct bandwidth_setup *s)
{
    if (sweep_end(list))
        say_setup(list->finding, q, s);
}

/* Those that need the rate itself. */
static void refuse_lists(struct lab *lab, const char *component)
{
    lab_refuse(lab, lab_text(lab, "%s.read_bandwidth_by_*", component), "%s",
               lab_why_unknown(lab, component, "read_bandwidth"));
}

/* ---- widths ------------------------------------------------------------ */

static const unsigned widths[] = {1, 2, 4, 8, 16};

/* What saturates it with such accesses: in an SM, where that costs little, as
 * a search finds it. */
static struct bandwidth_setup setup_of_width(const struct bandwidth_question *q,
                                             const struct bandwidth_found *of,
                                             unsigned width)
{
    struct bandwidth_question exact = *q;
    exact.width = width;
    exact.exact = true;
    struct bandwidth_setup s = bandwidth_with_width(&exact, &of->setup, width);
    if (q->way == STREAM_SM)
        s = bandwidth_search(&exact, &s).setup;
    s.length = q->way == STREAM_SM ? SM_CYCLES : BANDWIDTH_CYCLES_LIST;
    s.repeats = BANDWIDTH_REPEATS_LIST;
    return s;
}

static void ask_widths(const struct bandwidth_question *q,
                       const struct bandwidth_found *found)
{
    struct sweep list =
        sweep_begin(q->lab, q->component, "read_bandwidth_by_width", "widths");
    struct value in_flight = value_list();
    struct bandwidth_setup s = found->setup;
    for (size_t i = 0; lab_ok(q->lab) && i < COUNT_OF(widths); i++) {
        s = setup_of_width(q, found, widths[i]);
        value_push(&in_flight, value_number(s.unroll * s.warps * s.blocks));
        list_add(&list, q, &s, value_number(widths[i]));
    }
    if (lab_ok(q->lab))
        finding_protocol(list.finding, "in_flight_by_width", in_flight);
    else
        value_free(&in_flight);
    list_end(&list, q, &s);
}

/* With what saturates one, so many of them. */
static void ask_scaling(const struct bandwidth_question *read)
{
    const unsigned all = lab_sms(read->lab);
    struct sweep list =
        sweep_begin(read->lab, read->component, "read_bandwidth_by_sms", "sms");
    struct bandwidth_question one = *read;
    one.sms = 1;
    struct bandwidth_setup s = bandwidth_search(&one, NULL).setup;
    s.repeats = BANDWIDTH_REPEATS_LIST;
    for (unsigned n = 1; lab_ok(read->lab); n *= 2) {
        s.sms = n < all ? n : all;
        list_add(&list, read, &s, value_number(s.sms));
        if (s.sms == all)
            break;
    }
    list_end(&list, read, &s);
}

/* By width, and by SMs what they share; or why not. */
static void ask_lists(const struct bandwidth_question *q,
                      const struct bandwidth_found *found)
{
    if (!lab_ok(q->lab))
        return;
    if (found->value <= 0) {
        refuse_lists(q->lab, q->component);
        return;
    }
    ask_widths(q, found);
    if (q->way != STREAM_SM)
        ask_scaling(q);
}

/* ---- in an SM ---------------------------------------------------------- */

/* Which instruction takes what was read (van Stigt 2022, figure 3): words of a
 * lane, with what saturates them. */
static void ask_uses(const struct bandwidth_question *read,
                     struct bandwidth_setup *s)
{
    static const char *const uses[] = {"add", "not", "mov"};
    struct sweep list =
        sweep_begin(read->lab, "l1", "read_bandwidth_by_use", "uses");
    s->width = 4;
    for (size_t i = 0; lab_ok(read->lab) && i < COUNT_OF(uses); i++) {
        struct bandwidth_question q = *read;
        q.words = lab_text(read->lab, "%s use=%s", read->words, uses[i]);
        q.width = 4;
        *s = bandwidth_search(&q, s).setup;
        s->length = SM_CYCLES;
        s->repeats = BANDWIDTH_REPEATS_LIST;
        list_add(&list, &q, s, value_text(uses[i]));
    }
    list_end(&list, read, s);
}

/* From the second on a lane's word has a sector of its own. */
enum { STRIDE_MOST = 128 };

static void ask_strides(const struct bandwidth_question *read,
                        const struct bandwidth_setup *of)
{
    struct sweep list =
        sweep_begin(read->lab, "l1", "read_bandwidth_by_stride", "strides");
    struct bandwidth_setup s = *of;
    s.repeats = BANDWIDTH_REPEATS_LIST;
    for (s.stride = 1; lab_ok(read->lab) && s.stride <= STRIDE_MOST;
         s.stride *= 2)
        list_add(&list, read, &s, value_number(s.stride));
    s.stride = 1;
    list_end(&list, read, &s);
}

/* Two-dimensional blocks: a warp has x lanes in each of 32/x rows of a
 * matrix. */
static void ask_shapes(const struct bandwidth_question *read,
                       const struct bandwidth_setup *of)
{
    struct sweep list =
        sweep_begin(read->lab, "l1", "read_bandwidth_by_shape", "shapes");
    struct bandwidth_setup s = *of;
    struct bandwidth_question q = *read;
    q.bytes = bandwidth_set_bytes(&q, &s); /* of a row */
    s.repeats = BANDWIDTH_REPEATS_LIST;
    for (s.row = BANDWIDTH_LANES; lab_ok(read->lab) && s.row >= 1; s.row /= 2) {
        char name[16];
        snprintf(name, sizeof name, "%ux%u", s.row, BANDWIDTH_LANES / s.row);
        list_add(&list, &q, &s, value_text(name));
    }
    list_end(&list, &q, &s);
}

static struct bandwidth_found bandwidth_ask_l1(struct lab *lab, bool cached)
{
    const struct bandwidth_question read = question_of(lab, NULL, L1_READ);
    struct bandwidth_found found = {0};
    if (cached)
        found = bandwidth_ask(&read, NULL);
    else
        lab_refuse(lab, "l1.read_bandwidth", why_l1_bypassed);
    if (!lab_ok(lab))
        return found;
    if (found.value <= 0) {
        refuse_lists(lab, "l1");
        return found;
    }
    /* Words of 4 B, which the strides then have. */
    struct bandwidth_setup by = found.setup;
    ask_widths(&read, &found);
    ask_uses(&read, &by);
    ask_strides(&read, &by);
    ask_shapes(&read, &by);
    return found;
}

static void bandwidth_ask_sm(struct lab *lab, bool cached)
{
    const struct bandwidth_found l1 = bandwidth_ask_l1(lab, cached);
    for (enum row_id i = READONLY_READ; lab_ok(lab) && i <= SHARED_WRITE; i++) {
        const struct bandwidth_question q = question_of(lab, NULL, i);
        const struct bandwidth_found found = bandwidth_ask(&q, &l1);
        if (i == SHARED_READ)
            ask_lists(&q, &found);
    }
}

/* ---- the default operator ---------------------------------------------- */

static double cost_by(struct lab *lab, const char *op, struct finding *f)
{
    const struct cost cost =
        lab_chase(lab, "chase op=%s bytes=1024 stride=32 warm=4 visits=64", op);
    finding_protocol(f, op, value_number(cost.cycles));
    finding_cite(f, cost.experiment);
    return cost.cycles;
}

static bool is_near(double cycles, double to)
{
    return fabs(cycles - to) < assume(ASSUME_OPERATOR_NEAR) * to;
}

/* Which operator loads have that name none: it costs what that one does.  True
 * if L1 caches loads with .ca. */
static bool bandwidth_ask_default(struct lab *lab)
{
    struct finding *const f = lab_finding(lab, "l1", "default_operator");
    const double none = cost_by(lab, "default", f);
    const double ca = cost_by(lab, "ca", f), cg = cost_by(lab, "cg", f);
    const bool as_ca = is_near(none, ca), cached = hits_cheaper(ca, cg);
    if (!lab_ok(lab))
        return false;
    if (!cached)
        finding_none(f, why_l1_bypassed);
    else if (as_ca == is_near(none, cg))
        finding_none(f, why_operators_unlike);
    else
        finding_value(f, STATUS_MEASURED, value_text(as_ca ? "ca" : "cg"));
    return cached;
}

/* ---- memory ------------------------------------------------------------ */

/* Of a row; of bulk copies, if the GPU has any. */
static struct bandwidth_found ask_row(struct lab *lab, const struct memory *m,
                                      enum row_id id)
{
    const struct bandwidth_question q = question_of(lab, m, id);
    if (q.bulk &&
        !lab_requires(lab, CAP_BULK, lab_text(lab, "%s.bulk_*", q.component)))
        return (struct bandwidth_found){0};
    return bandwidth_ask(&q, NULL);
}

/* "none" where the intervals meet, or hardly anything lies between. */
static struct value effect_of(const struct bandwidth_rate *rate,
                              const struct bandwidth_rate *plain)
{
    char text[32];
    const double more = rate->value / plain->value - 1;
    const bool apart = rate->low > plain->high || rate->high < plain->low;
    /* Short runs of one operator differ by 3 % (H200). */
    if (!apart || fabs(more) < 4 * assume(ASSUME_ALIKE))
        return value_text("none");
    snprintf(text, sizeof text, "%+.1f %%", 100 * more);
    return value_text(text);
}

/* What reading gives with each operator, and what that changes. */
static void ask_operators(const struct bandwidth_question *read,
                          const struct bandwidth_found *found)
{
    static const char *const ops[] = {"default", "ca", "cg",         "cs",
                                      "lu",      "cv", "no_allocate"};
    struct sweep list = sweep_begin(read->lab, read->component,
                                    "read_bandwidth_by_operator", "operators");
    struct value effects = value_list();
    struct bandwidth_rate plain = {0};
    struct bandwidth_setup s = found->setup;
    s.length = BANDWIDTH_CYCLES_LIST;
    s.repeats = BANDWIDTH_REPEATS_FINAL;
    for (size_t i = 0; lab_ok(read->lab) && i < COUNT_OF(ops); i++) {
        struct bandwidth_question q = *read;
        if (strcmp(ops[i], "no_allocate") == 0 &&
            !device_has(read->lab->info, CAP_L1_EVICTION))
            break;
        q.words = lab_text(read->lab, "warm=0 cache=%s", ops[i]);
        const struct bandwidth_rate rate =
            list_add(&list, &q, &s, value_text(ops[i]));
        if (i == 0)
            plain = rate;
        value_push(&effects, effect_of(&rate, &plain));
    }
    if (lab_ok(read->lab))
        finding_protocol(list.finding, "effects", effects);
    else
        value_free(&effects);
    list_end(&list, read, &s);
}

/* Reads by either way, of which the better is reported; what is asked further
 * is by cycles. */
static void bandwidth_ask_read(struct lab *lab, struct memory *m)
{
    const struct bandwidth_question round = question_of(lab, m, MEMORY_ROUND);
    const struct bandwidth_question order = question_of(lab, m, MEMORY_ORDER);
    m->read = bandwidth_find(&round, NULL);
    struct bandwidth_found in_order = {0};
    if (lab_ok(lab))
        in_order = bandwidth_find(&order, NULL);
    if (was_excused(&round) || !lab_ok(lab))
        return;
    const double by_round = m->read.rate.value;
    const double by_order = in_order.rate.value;
    const bool better = by_order > by_round;
    if (fabs(by_order - by_round) <
        3 * assume(ASSUME_ALIKE) * by_round) /* the same place ends both */
        in_order.saturated = m->read.saturated |= in_order.saturated;
    m->read.value = by_round;
    if (!bandwidth_report(better ? &order : &round,
                          better ? &in_order : &m->read))
        return;
    struct finding *const f =
        results_edit(lab->results, "memory", "read_bandwidth");
    finding_protocol(f, "round", value_number(by_round));
    finding_protocol(f, "in_order", value_number(by_order));
}

static void bandwidth_ask_memory(struct lab *lab, struct memory *m)
{
    const struct bandwidth_question round = question_of(lab, m, MEMORY_ROUND);
    bandwidth_ask_read(lab, m);
    if (lab_ok(lab))
        ask_row(lab, m, MEMORY_BULK);
    m->write = ask_row(lab, m, MEMORY_WRITE);
    ask_row(lab, m, MEMORY_COPY);
    ask_row(lab, m, MEMORY_TRIAD);
    ask_lists(&round, &m->read);
    if (lab_ok(lab) && m->read.value > 0)
        ask_operators(&round, &m->read);
}

/* ---- L2 ---------------------------------------------------------------- */

/* What is no faster than memory may have come from there; but then it came
 * through L2, so it is a bound. */
static struct bandwidth_found ask_l2(struct lab *lab, const struct memory *m,
                                     enum row_id id)
{
    const struct bandwidth_found l2 = ask_row(lab, m, id);
    const struct bandwidth_found *const memory =
        id == L2_WRITE ? &m->write : &m->read;
    if (l2.value > 0 &&
        l2.value <= (1 + 5 * assume(ASSUME_ALIKE)) * memory->value)
        be_bound(results_edit(lab->results, "l2", rows[id].attribute),
                 STATUS_AT_LEAST, why_no_faster);
    return l2;
}

static void bandwidth_ask_l2(struct lab *lab, const struct memory *m)
{
    const struct bandwidth_question half = question_of(lab, m, L2_HALF);
    ask_l2(lab, m, L2_READ);
    const struct bandwidth_found found = ask_l2(lab, m, L2_HALF);
    ask_lists(&half, &found);
    ask_l2(lab, m, L2_BULK);
    ask_l2(lab, m, L2_WRITE);
}

/* ---- the study --------------------------------------------------------- */

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

/* Without its size nobody knows which set L2 holds, and which it does not. */
static void bandwidth_ask_shared(struct lab *lab)
{
    struct memory m = {.l2 = device_told(lab->info, PROPERTY_L2_BYTES, 0)};
    if (m.l2 == 0) {
        lab_refuse(lab, "memory.*", why_l2_untold);
        lab_refuse(lab, "l2.*", why_l2_untold);
        return;
    }
    m.room = find_room(lab, m.l2);
    if (lab_ok(lab))
        bandwidth_ask_memory(lab, &m);
    if (lab_ok(lab))
        bandwidth_ask_l2(lab, &m);
}

static void bandwidth_run(struct lab *lab)
{
    const bool cached = bandwidth_ask_default(lab);
    if (lab_ok(lab))
        bandwidth_ask_sm(lab, cached);
    if (lab_ok(lab))
        bandwidth_ask_shared(lab);
}

const struct study study_bandwidth = {
    .name = "bandwidth",
    .question = "How many bytes pass in a time, from what and to what?",
    .method = "Many warps read, write or copy; what is in flight is doubled "
              "until nothing gives more.",
    .answers = answers,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run = bandwidth_run,
};
