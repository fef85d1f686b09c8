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
#include "study/load/bandwidth_rows.h"
#include "study/load/sweep.h"

static const char *const read_by_sm[] = {"readonly", "texture", "const_l1",
                                         NULL};
/* clang-format off */
static const struct answer answers[] = {
    {ONE("l1"),     "default_operator",           ""},
    {ONE("l1"),     "read_bandwidth_by_use",      "B/clk/SM"},
    {ONE("l1"),     "read_bandwidth_by_stride",   "B/clk/SM"},
    {ONE("l1"),     "read_bandwidth_by_shape",    "B/clk/SM"},
    {ONE("l1"),     "read_bandwidth_by_width",    "B/clk/SM"},
    {read_by_sm,    "read_bandwidth",             "B/clk/SM"},
    {ONE("shared"), "read_bandwidth_by_width",    "B/clk/SM"},
    {ONE("shared"), "write_bandwidth",            "B/clk/SM"},
    {ONE("memory"), "ordered_read_bandwidth",     "B/s"},
    {ONE("memory"), "bulk_read_bandwidth",        "B/s"},
    {ONE("memory"), "write_bandwidth",            "B/s"},
    {ONE("memory"), "copy_bandwidth",             "B/s"},
    {ONE("memory"), "triad_bandwidth",            "B/s"},
    {ONE("memory"), "read_bandwidth_by_width",    "B/s"},
    {ONE("memory"), "read_bandwidth_by_sms",      "B/s"},
    {ONE("memory"), "read_bandwidth_by_operator", "B/s"},
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

/* ---- lists ------------------------------------------------------------- */

/* Rates of experiments that differ in one thing. */
static struct bandwidth_rate list_add(struct sweep *list,
                                      const struct bandwidth_question *q,
                                      const struct bandwidth_setup *s,
                                      struct value name)
{
    const struct bandwidth_rate rate = bandwidth_measure(q, s);
    const char *const flaw = bandwidth_flaw(&rate);
    sweep_add_within(list, name, rate.value, rate.low, rate.high,
                     rate.experiment);
    if (flaw != NULL)
        lab_fail(list->lab, ERR_UNSUPPORTED, "%s", flaw);
    return rate;
}

static void list_end(struct sweep *list, const struct bandwidth_question *q,
                     const struct bandwidth_setup *s)
{
    if (sweep_end(list))
        bandwidth_say_setup(list->finding, q, s);
}

/* Those that need the rate itself. */
static void refuse_lists(const struct bandwidth_question *q)
{
    lab_refuse(q->lab, lab_text(q->lab, "%s.read_bandwidth_by_*", q->component),
               "%s", lab_why_unknown(q->lab, q->component, q->attribute));
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
        refuse_lists(q);
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

static void bandwidth_ask_l1(struct lab *lab, const struct bandwidth_found *l1)
{
    const struct bandwidth_question read =
        bandwidth_question(lab, NULL, L1_READ);
    if (l1->value <= 0) {
        refuse_lists(&read);
        return;
    }
    /* Words of 4 B, which the strides then have. */
    struct bandwidth_setup by = l1->setup;
    ask_widths(&read, l1);
    ask_uses(&read, &by);
    ask_strides(&read, &by);
    ask_shapes(&read, &by);
}

static void bandwidth_ask_sm(struct lab *lab)
{
    const struct fact_reads *const known = fact_reads(lab);
    const struct bandwidth_question read =
        bandwidth_question(lab, NULL, SHARED_READ);
    const struct bandwidth_found l1 = bandwidth_known(&known->l1, 1);
    const struct bandwidth_found shared = bandwidth_known(&known->shared, 1);
    bandwidth_ask_l1(lab, &l1);
    for (enum bandwidth_row i = READONLY_READ; lab_ok(lab) && i <= CONST_READ;
         i++) {
        const struct bandwidth_question q = bandwidth_question(lab, NULL, i);
        bandwidth_ask(&q, &l1);
    }
    ask_lists(&read, &shared);
    const struct bandwidth_question write =
        bandwidth_question(lab, NULL, SHARED_WRITE);
    if (lab_ok(lab))
        bandwidth_ask(&write, &l1);
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

/* Which operator loads have that name none: it costs what that one does. */
static void bandwidth_ask_default(struct lab *lab)
{
    struct finding *const f = lab_finding(lab, "l1", "default_operator");
    const double none = cost_by(lab, "default", f);
    const double ca = cost_by(lab, "ca", f), cg = cost_by(lab, "cg", f);
    const bool as_ca = is_near(none, ca), cached = hits_cheaper(ca, cg);
    if (!lab_ok(lab))
        return;
    if (!cached)
        finding_none(f, why_l1_bypassed);
    else if (as_ca == is_near(none, cg))
        finding_none(f, why_operators_unlike);
    else
        finding_value(f, STATUS_MEASURED, value_text(as_ca ? "ca" : "cg"));
}

/* ---- memory ------------------------------------------------------------ */

/* Of a row; of bulk copies, if the GPU has any. */
static struct bandwidth_found ask_row(struct lab *lab, const struct memory *m,
                                      enum bandwidth_row id)
{
    const struct bandwidth_question q = bandwidth_question(lab, m, id);
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

static void bandwidth_ask_memory(struct lab *lab, struct memory *m)
{
    const struct bandwidth_question round =
        bandwidth_question(lab, m, MEMORY_ROUND);
    ask_row(lab, m, MEMORY_ORDER);
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

static void ask_l2(struct lab *lab, const struct memory *m)
{
    const struct bandwidth_question half = bandwidth_question(lab, m, L2_HALF);
    const struct bandwidth_question write =
        bandwidth_question(lab, m, L2_WRITE);
    const struct bandwidth_found found = bandwidth_ask_l2(&half, &m->read);
    ask_lists(&half, &found);
    const struct bandwidth_found bulk = ask_row(lab, m, L2_BULK);
    bandwidth_judge_l2(lab, "bulk_read_bandwidth", &bulk, &m->read);
    if (lab_ok(lab))
        bandwidth_ask_l2(&write, &m->write);
}

/* ---- the study --------------------------------------------------------- */

static void bandwidth_ask_shared(struct lab *lab)
{
    struct memory m;
    if (!bandwidth_find_memory(lab, &m))
        return;
    m.read = bandwidth_known(&fact_reads(lab)->memory, 0);
    bandwidth_ask_memory(lab, &m);
    if (lab_ok(lab))
        ask_l2(lab, &m);
}

static void bandwidth_run(struct lab *lab)
{
    bandwidth_ask_default(lab);
    if (lab_ok(lab))
        bandwidth_ask_sm(lab);
    if (lab_ok(lab))
        bandwidth_ask_shared(lab);
}

const struct study study_bandwidth = {
    .name = "bandwidth",
    .question = "How many bytes pass in a time, from what and to what?",
    .method = "Many warps read, write or copy; what is in flight is doubled "
              "until nothing gives more.",
    .reads = FACTS(FACT_READS),
    .reads_findings = TEXTS("l1.read_bandwidth", "shared.read_bandwidth",
                            "memory.read_bandwidth"),
    .answers = answers,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .averages = TEXTS("*_by_*"),
    .run = bandwidth_run,
};
