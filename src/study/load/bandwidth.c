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
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/load/bulk.h"
#include "study/load/bandwidth_search.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {"l1.default_operator",
                                    "l1.read_bandwidth",
                                    "l1.read_bandwidth_by_use",
                                    "l1.read_bandwidth_by_stride",
                                    "l1.read_bandwidth_by_shape",
                                    "l1.read_bandwidth_by_width",
                                    "readonly.read_bandwidth",
                                    "texture.read_bandwidth",
                                    "const_l1.read_bandwidth",
                                    "shared.read_bandwidth",
                                    "shared.read_bandwidth_by_width",
                                    "shared.write_bandwidth",
                                    "memory.read_bandwidth",
                                    "memory.bulk_read_bandwidth",
                                    "memory.write_bandwidth",
                                    "memory.copy_bandwidth",
                                    "memory.triad_bandwidth",
                                    "memory.read_bandwidth_by_width",
                                    "memory.read_bandwidth_by_sms",
                                    "memory.read_bandwidth_by_operator",
                                    "l2.read_bandwidth",
                                    "l2.read_bandwidth_half",
                                    "l2.read_bandwidth_by_width",
                                    "l2.read_bandwidth_by_sms",
                                    "l2.bulk_read_bandwidth",
                                    "l2.write_bandwidth",
                                    NULL};
static const char *const kernels[] = {"chase op=ca", "chase op=cg",
                                      "chase op=default", NULL};

/* The set of memory: so many times what L2 holds; and the least that is
 * streamed in order, of which L2 cannot keep what the next run wants. */
enum { SETS = 32, FEW_SETS = 2 };
/* So long memory is read at least.  It pauses now and then: 65536 cycles have a
 * pause or none (H200: 4.55 or 4.75 TB/s), so many about as many as any (4.61
 * to 4.67). */
enum { MEMORY_CYCLES = 262144 };

/* ---- findings ---------------------------------------------------------- */

/* What the stated clock and width of memory come to, two transfers a cycle,
 * B/s; 0: not told. */
static double stated_peak(const struct lab *lab)
{
    const int64_t hz = lab->info->value[PROPERTY_MEMORY_CLOCK];
    const int64_t bits = lab->info->value[PROPERTY_MEMORY_BUS];
    return hz > 0 && bits > 0 ? 2.0 * (double)hz * (double)bits / 8 : 0;
}

static const char *unit_of(const struct bandwidth_question *q)
{
    return q->way == STREAM_LAPS ? "B/clk/SM" : "B/s";
}

static void say_setup(struct finding *f, const struct bandwidth_question *q,
                      const struct bandwidth_setup *s)
{
    static const char *const shares[] = {
        [STREAM_LAPS] = "each warp goes over all of the set",
        [STREAM_CYCLES] = "each block goes round a part of its own",
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
    static const char *const timers[] = {[STREAM_LAPS] = "clock64",
                                         [STREAM_CYCLES] = "clock64",
                                         [STREAM_BLOCKS] = "launch"};
    const bool off = rate->told_hz > 0 && fabs(rate->clock_hz - rate->told_hz) >
                                              BANDWIDTH_ALIKE * rate->told_hz;
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

static void say_memory(const struct lab *lab, struct finding *f,
                       const struct bandwidth_rate *rate)
{
    const double peak = stated_peak(lab);
    if (peak <= 0)
        return;
    finding_protocol(f, "stated_peak", value_number(peak));
    finding_protocol(f, "fraction", value_number(rate->value / peak));
    if (rate->value <= (1 + BANDWIDTH_ALIKE) * peak)
        return;
    f->status = STATUS_AT_MOST;
    finding_because(f, "it is more than the stated peak, so some of it was "
                       "found in a cache");
}

/* Why a rate is no number; NULL if it is one. */
static const char *flaw_of(const struct bandwidth_rate *rate)
{
    if (!rate->even)
        return "blocks did not come to the SMs evenly";
    if (!(rate->value > 0))
        return "no clock that is told, and no timer that is fine enough";
    return NULL;
}

/* Says what was found; false if that is no number. */
static bool report(struct lab *lab, const struct bandwidth_question *q,
                   const struct bandwidth_found *found,
                   const struct bandwidth_rate *rate)
{
    struct finding *const f = lab_finding(lab, q->component, q->attribute);
    finding_evidence(f, rate->experiment);
    const char *const flaw = flaw_of(rate);
    if (flaw != NULL) {
        finding_none(f, "%s", flaw);
        return false;
    }
    finding_set(f, found->saturated ? STATUS_MEASURED : STATUS_AT_LEAST,
                value_number(rate->value), unit_of(q));
    finding_interval(f, rate->low, rate->high, LAB_CONFIDENCE_PERCENT / 100.0);
    if (!found->saturated)
        finding_because(f, "no SM has room for more in flight");
    say_setup(f, q, &found->setup);
    say_clock(f, q, rate);
    if (q->of_memory)
        say_memory(lab, f, rate);
    return true;
}

/* A GPU without such loads, or too little memory, is no failure. */
static int excuse(struct lab *lab, const struct bandwidth_question *q,
                  struct error *err)
{
    if (!lab_excuses(err->code))
        return err->code;
    finding_none(lab_finding(lab, q->component, q->attribute), "%s", err->text);
    *err = (struct error){0};
    return 0;
}

/* Searches, measures and reports; found->value is 0 if there is none. */
static int ask(struct lab *lab, const struct bandwidth_question *q,
               const struct bandwidth_found *like,
               struct bandwidth_found *found, struct error *err)
{
    struct bandwidth_rate rate;
    int status = bandwidth_find(lab, q, like, found, &rate, err);
    if (status != 0)
        status = excuse(lab, q, err);
    else if (report(lab, q, found, &rate))
        found->value = rate.value;
    bandwidth_free(&rate);
    return status;
}

/* ---- lists ------------------------------------------------------------- */

/* Rates of experiments that differ in one thing. */
struct series {
    struct finding *finding;
    struct value values, names;
    const char *unit;
};

static struct series series_of(struct lab *lab,
                               const struct bandwidth_question *q,
                               const char *attribute)
{
    return (struct series){
        .finding = lab_finding(lab, q->component, attribute),
        .values = value_list(),
        .names = value_list(),
        .unit = unit_of(q),
    };
}

static int series_add(struct lab *lab, struct series *list,
                      const struct bandwidth_question *q,
                      const struct bandwidth_setup *s, struct value name,
                      struct bandwidth_rate *rate, struct error *err)
{
    value_push(&list->names, name);
    if (bandwidth_measure(lab, q, s, rate, err) != 0)
        return err->code;
    const char *const flaw = flaw_of(rate);
    value_push(&list->values, value_number(rate->value));
    finding_evidence(list->finding, rate->experiment);
    bandwidth_free(rate);
    return flaw == NULL ? 0 : error_set(err, ERR_UNSUPPORTED, "%s", flaw);
}

static int series_end(struct series *list, const char *names,
                      const struct bandwidth_question *q,
                      const struct bandwidth_setup *s, struct error *err)
{
    if (err->code == 0) {
        finding_set(list->finding, STATUS_MEASURED, list->values, list->unit);
        finding_protocol(list->finding, names, list->names);
        say_setup(list->finding, q, s);
        return 0;
    }
    value_free(&list->values);
    value_free(&list->names);
    if (!lab_excuses(err->code))
        return err->code;
    finding_none(list->finding, "%s", err->text);
    *err = (struct error){0};
    return 0;
}

static void leave_list(struct lab *lab, const char *component,
                       const char *attribute)
{
    finding_none(lab_finding(lab, component, attribute),
                 "the bandwidth itself was not measured");
}

/* ---- widths ------------------------------------------------------------ */

static const unsigned widths[] = {1, 2, 4, 8, 16};

/* What saturates it with such accesses: in an SM, where that costs little, as
 * a search finds it. */
static int setup_of_width(struct lab *lab, const struct bandwidth_question *q,
                          const struct bandwidth_found *found, unsigned width,
                          struct bandwidth_setup *s, struct error *err)
{
    struct bandwidth_found by;
    struct bandwidth_question exact = *q;
    exact.width = width;
    exact.exact = true;
    *s = bandwidth_with_width(lab, &exact, &found->setup, width);
    if (q->way == STREAM_LAPS) {
        const struct bandwidth_setup like = *s;
        if (bandwidth_search(lab, &exact, &like, &by, err) != 0)
            return err->code;
        *s = by.setup;
        s->length *= BANDWIDTH_LONGER;
    } else if (s->length > BANDWIDTH_CYCLES_LIST)
        s->length = BANDWIDTH_CYCLES_LIST;
    s->repeats = BANDWIDTH_REPEATS;
    return 0;
}

static int ask_widths(struct lab *lab, const struct bandwidth_question *q,
                      const struct bandwidth_found *found, struct error *err)
{
    struct series list = series_of(lab, q, "read_bandwidth_by_width");
    struct value in_flight = value_list();
    struct bandwidth_setup s = found->setup;
    for (size_t i = 0; err->code == 0 && i < COUNT_OF(widths); i++) {
        struct bandwidth_rate rate;
        if (setup_of_width(lab, q, found, widths[i], &s, err) != 0)
            break;
        value_push(&in_flight, value_number(s.unroll * s.warps * s.blocks));
        series_add(lab, &list, q, &s, value_number(widths[i]), &rate, err);
    }
    const bool done = err->code == 0;
    const int status = series_end(&list, "widths", q, &s, err);
    if (done)
        finding_protocol(list.finding, "in_flight_by_width", in_flight);
    else
        value_free(&in_flight);
    return status;
}

/* ---- in an SM ---------------------------------------------------------- */

static const struct bandwidth_question l1_read = {.component = "l1",
                                                  .attribute = "read_bandwidth",
                                                  .words = "cache=ca",
                                                  .lanes = 32,
                                                  .width = 16,
                                                  .arrays = 1};

/* clang-format off */
static const struct bandwidth_question of_sm[] = {
    {.component = "readonly", .attribute = "read_bandwidth", .words = "space=readonly", .lanes = 32, .width = 16, .arrays = 1},
    {.component = "texture", .attribute = "read_bandwidth", .words = "space=texture", .lanes = 32, .width = 4, .arrays = 1},
    {.component = "const_l1", .attribute = "read_bandwidth", .words = "space=constant", .lanes = 1, .width = 16, .arrays = 1},
    {.component = "shared", .attribute = "read_bandwidth", .words = "space=shared", .lanes = 32, .width = 16, .arrays = 1, .shared = true},
    {.component = "shared", .attribute = "write_bandwidth", .words = "space=shared op=write", .lanes = 32, .width = 16, .arrays = 1, .shared = true},
};
/* clang-format on */
/* The one that is also asked by width. */
static const struct bandwidth_question *const shared_read = &of_sm[3];

/* Which instruction takes what was read (van Stigt 2022, figure 3): words of a
 * lane, with what saturates them. */
static int ask_uses(struct lab *lab, struct bandwidth_found *by,
                    struct error *err)
{
    static const char *const uses[] = {"add", "not", "mov"};
    struct series list = series_of(lab, &l1_read, "read_bandwidth_by_use");
    by->setup.width = 4;
    for (size_t i = 0; err->code == 0 && i < COUNT_OF(uses); i++) {
        char words[64];
        struct bandwidth_rate rate;
        struct bandwidth_question q = l1_read;
        const struct bandwidth_setup like = by->setup;
        snprintf(words, sizeof words, "%s use=%s", l1_read.words, uses[i]);
        q.words = words;
        q.width = 4;
        if (bandwidth_search(lab, &q, &like, by, err) != 0)
            break;
        by->setup.length *= BANDWIDTH_LONGER;
        series_add(lab, &list, &q, &by->setup, value_text(uses[i]), &rate, err);
    }
    return series_end(&list, "uses", &l1_read, &by->setup, err);
}

/* From the second on a lane's word has a sector of its own. */
enum { STRIDE_MOST = 128, SECTORS_MOST = 8 };

static int ask_strides(struct lab *lab, const struct bandwidth_found *found,
                       struct error *err)
{
    struct series list = series_of(lab, &l1_read, "read_bandwidth_by_stride");
    struct bandwidth_setup s = found->setup;
    s.repeats = BANDWIDTH_REPEATS;
    const uint64_t whole = s.length;
    for (unsigned i = 1; err->code == 0 && i <= STRIDE_MOST; i *= 2) {
        struct bandwidth_rate rate;
        s.stride = i;
        s.length = whole / (i < SECTORS_MOST ? i : SECTORS_MOST);
        series_add(lab, &list, &l1_read, &s, value_number(i), &rate, err);
    }
    s.stride = 1;
    return series_end(&list, "strides", &l1_read, &s, err);
}

/* Two-dimensional blocks: a warp has x lanes in each of 32/x rows of a
 * matrix. */
static int ask_shapes(struct lab *lab, const struct bandwidth_found *found,
                      struct error *err)
{
    struct series list = series_of(lab, &l1_read, "read_bandwidth_by_shape");
    struct bandwidth_setup s = found->setup;
    struct bandwidth_question q = l1_read;
    q.bytes = bandwidth_set_bytes(&q, &s); /* of a row */
    s.repeats = BANDWIDTH_REPEATS;
    const uint64_t whole = s.length;
    for (s.row = BANDWIDTH_LANES; err->code == 0 && s.row >= 1; s.row /= 2) {
        char name[16];
        struct bandwidth_rate rate;
        s.length = whole / (s.row < SECTORS_MOST ? SECTORS_MOST / s.row : 1);
        snprintf(name, sizeof name, "%ux%u", s.row, BANDWIDTH_LANES / s.row);
        series_add(lab, &list, &q, &s, value_text(name), &rate, err);
    }
    return series_end(&list, "shapes", &q, &s, err);
}

/* Lists that need the rate itself. */
static const char *const l1_lists[] = {
    "read_bandwidth_by_use", "read_bandwidth_by_stride",
    "read_bandwidth_by_shape", "read_bandwidth_by_width"};
static const char *const memory_lists[] = {"read_bandwidth_by_width",
                                           "read_bandwidth_by_sms",
                                           "read_bandwidth_by_operator"};

static const char *const l2_lists[] = {"read_bandwidth_by_width",
                                       "read_bandwidth_by_sms"};

static void leave_lists(struct lab *lab, const char *component,
                        const char *const *lists, size_t count)
{
    for (size_t i = 0; i < count; i++)
        leave_list(lab, component, lists[i]);
}

static int ask_l1(struct lab *lab, bool cached, struct bandwidth_found *found,
                  struct error *err)
{
    struct bandwidth_question q = l1_read;
    *found = (struct bandwidth_found){0};
    if (!cached)
        finding_none(lab_finding(lab, q.component, q.attribute),
                     "ld.global.ca costs as much as ld.global.cg: L1 does not "
                     "cache global loads");
    else if (ask(lab, &q, NULL, found, err) != 0)
        return err->code;
    if (found->value <= 0) {
        leave_lists(lab, "l1", l1_lists, COUNT_OF(l1_lists));
        return 0;
    }
    struct bandwidth_found by =
        *found; /* words of 4 B, which the strides then have */
    if (ask_widths(lab, &q, found, err) != 0 || ask_uses(lab, &by, err) != 0 ||
        ask_strides(lab, &by, err) != 0)
        return err->code;
    return ask_shapes(lab, &by, err);
}

static int ask_sm(struct lab *lab, bool cached, struct error *err)
{
    struct bandwidth_found l1, found;
    if (ask_l1(lab, cached, &l1, err) != 0)
        return err->code;
    for (size_t i = 0; i < COUNT_OF(of_sm); i++) {
        const struct bandwidth_question *const q = &of_sm[i];
        if (ask(lab, q, &l1, &found, err) != 0)
            return err->code;
        if (q != shared_read)
            continue;
        if (found.value <= 0)
            leave_list(lab, q->component, "read_bandwidth_by_width");
        else if (ask_widths(lab, q, &found, err) != 0)
            return err->code;
    }
    return 0;
}

/* ---- the default operator ---------------------------------------------- */

static int cost_by(struct lab *lab, const char *op, struct finding *f,
                   double *cycles, struct error *err)
{
    struct old_cost cost;
    if (lab_chase_err(lab, &cost, err,
                  "chase op=%s bytes=1024 stride=32 warm=4 visits=64", op) != 0)
        return err->code;
    *cycles = cost.cycles;
    finding_protocol(f, op, value_number(cost.cycles));
    finding_evidence(f, cost.experiment);
    free(cost.experiment);
    return 0;
}

/* A tenth is far more than noise and far less than any cache saves. */
static bool is_near(double cycles, double to)
{
    return fabs(cycles - to) < 0.1 * to;
}

/* Which operator loads have that name none: it costs what that one does. */
static int ask_default(struct lab *lab, bool *cached, struct error *err)
{
    struct finding *const f = lab_finding(lab, "l1", "default_operator");
    double none, ca, cg;
    if (cost_by(lab, "default", f, &none, err) != 0 ||
        cost_by(lab, "ca", f, &ca, err) != 0 ||
        cost_by(lab, "cg", f, &cg, err) != 0)
        return err->code;
    *cached = ca < 0.9 * cg;
    const bool as_ca = is_near(none, ca);
    if (!*cached)
        finding_none(f, "loads cost the same with both operators");
    else if (as_ca == is_near(none, cg))
        finding_none(f, "loads without an operator cost what neither .ca nor "
                        ".cg costs");
    else
        finding_set(f, STATUS_MEASURED, value_text(as_ca ? "ca" : "cg"), "");
    return 0;
}

/* ---- bulk copies ------------------------------------------------------- */

/* Where the search begins: B of a copy. */
enum { BULK_START = 4096 };

static int ask_bulk(struct lab *lab, struct bandwidth_question q,
                    struct bandwidth_found *found, struct error *err)
{
    const struct device_info *const info = lab->info;
    q.attribute = "bulk_read_bandwidth";
    q.bulk = true;
    q.width = BULK_START;
    *found = (struct bandwidth_found){0};
    if (info->cc_major >= BULK_CC_MAJOR)
        return ask(lab, &q, NULL, found, err);
    struct finding *const f = lab_finding(lab, q.component, q.attribute);
    finding_none(f, "needs compute capability %d.0, this is %d.%d",
                 BULK_CC_MAJOR, info->cc_major, info->cc_minor);
    f->skipped = true;
    return 0;
}

/* ---- memory ------------------------------------------------------------ */

struct memory {
    uint64_t l2, room; /* B; the latter of all arrays */
    struct bandwidth_found read, write;
};

static struct bandwidth_question of_memory(const struct memory *m,
                                           enum bandwidth_way way,
                                           const char *attribute,
                                           const char *words, unsigned arrays)
{
    const uint64_t set = SETS * m->l2;
    return (struct bandwidth_question){
        .component = "memory",
        .attribute = attribute,
        .words = words,
        .way = way,
        .lanes = BANDWIDTH_LANES,
        .width = 16,
        .arrays = arrays,
        .bytes = way == STREAM_BLOCKS ? m->l2
                 : set < m->room      ? set
                                      : m->room,
        .room = m->room,
        .least = way == STREAM_CYCLES ? MEMORY_CYCLES : 0,
        .of_memory = true,
    };
}

/* With what saturates one, so many of them. */
static int ask_scaling(struct lab *lab, const struct bandwidth_question *read,
                       struct error *err)
{
    const unsigned all = (unsigned)device_told(lab->info, PROPERTY_SMS, 1);
    struct series list = series_of(lab, read, "read_bandwidth_by_sms");
    struct bandwidth_found found = {0};
    struct bandwidth_question one = *read;
    struct bandwidth_setup *const s = &found.setup;
    one.sms = 1;
    bandwidth_search(lab, &one, NULL, &found, err);
    for (unsigned n = 1; err->code == 0; n *= 2) {
        struct bandwidth_rate rate;
        s->sms = n < all ? n : all;
        series_add(lab, &list, read, s, value_number(s->sms), &rate, err);
        if (s->sms == all)
            break;
    }
    return series_end(&list, "sms", read, s, err);
}

/* "none" where the intervals meet, or hardly anything lies between. */
static struct value paired_ratio_of(const struct bandwidth_rate *rate,
                                    const struct bandwidth_rate *plain)
{
    char text[32];
    const double more = rate->value / plain->value - 1;
    const bool apart = rate->low > plain->high || rate->high < plain->low;
    /* Short runs of one operator differ by 3 % (H200). */
    if (!apart || fabs(more) < 4 * BANDWIDTH_ALIKE)
        return value_text("none");
    snprintf(text, sizeof text, "%+.1f %%", 100 * more);
    return value_text(text);
}

/* What reading gives with each operator, and what that changes. */
static int ask_operators(struct lab *lab, const struct bandwidth_question *read,
                         const struct bandwidth_found *found, struct error *err)
{
    static const char *const ops[] = {"default", "ca", "cg",         "cs",
                                      "lu",      "cv", "no_allocate"};
    struct series list = series_of(lab, read, "read_bandwidth_by_operator");
    struct value effects = value_list();
    struct bandwidth_rate plain = {0};
    struct bandwidth_setup s = found->setup;
    s.length = BANDWIDTH_CYCLES_LIST;
    s.repeats = BANDWIDTH_REPEATS_FINAL;
    for (size_t i = 0; err->code == 0 && i < COUNT_OF(ops); i++) {
        char words[64];
        struct bandwidth_rate rate;
        struct bandwidth_question q = *read;
        if (strcmp(ops[i], "no_allocate") == 0 && lab->info->cc_major < 7)
            break;
        snprintf(words, sizeof words, "warm=0 cache=%s", ops[i]);
        q.words = words;
        if (series_add(lab, &list, &q, &s, value_text(ops[i]), &rate, err) != 0)
            break;
        if (i == 0)
            plain = rate;
        value_push(&effects, paired_ratio_of(&rate, &plain));
    }
    if (err->code == 0)
        finding_protocol(list.finding, "effects", effects);
    else
        value_free(&effects);
    return series_end(&list, "operators", read, &s, err);
}

/* Reads by either way, of which the better is reported; what is asked further
 * is by cycles. */
static int ask_read(struct lab *lab, struct memory *m, struct error *err)
{
    const struct bandwidth_question round =
        of_memory(m, STREAM_CYCLES, "read_bandwidth", "warm=0", 1);
    const struct bandwidth_question order =
        of_memory(m, STREAM_BLOCKS, "read_bandwidth", "", 1);
    struct bandwidth_rate by_round, by_order = {0};
    struct bandwidth_found in_order;
    int status = bandwidth_find(lab, &round, NULL, &m->read, &by_round, err);
    if (status == 0)
        status = bandwidth_find(lab, &order, NULL, &in_order, &by_order, err);
    if (status != 0) {
        status = excuse(lab, &round, err);
    } else {
        const bool better = by_order.value > by_round.value;
        if (fabs(by_order.value - by_round.value) <
            3 * BANDWIDTH_ALIKE * by_round.value) /* the same place ends both */
            in_order.saturated = m->read.saturated |= in_order.saturated;
        m->read.value = by_round.value;
        if (report(lab, better ? &order : &round, better ? &in_order : &m->read,
                   better ? &by_order : &by_round)) {
            struct finding *const f =
                results_edit(lab->results, "memory", "read_bandwidth");
            finding_protocol(f, "round", value_number(by_round.value));
            finding_protocol(f, "in_order", value_number(by_order.value));
        }
    }
    bandwidth_free(&by_round);
    bandwidth_free(&by_order);
    return status;
}

static int ask_memory(struct lab *lab, struct memory *m, struct error *err)
{
    struct bandwidth_found found;
    const struct bandwidth_question write =
        of_memory(m, STREAM_BLOCKS, "write_bandwidth", "op=write", 1);
    const struct bandwidth_question copy =
        of_memory(m, STREAM_BLOCKS, "copy_bandwidth", "op=copy", 2);
    const struct bandwidth_question triad =
        of_memory(m, STREAM_BLOCKS, "triad_bandwidth", "op=triad", 3);
    const struct bandwidth_question round =
        of_memory(m, STREAM_CYCLES, "", "warm=0", 1);
    if (ask_read(lab, m, err) != 0 || ask_bulk(lab, round, &found, err) != 0 ||
        ask(lab, &write, NULL, &m->write, err) != 0 ||
        ask(lab, &copy, NULL, &found, err) != 0 ||
        ask(lab, &triad, NULL, &found, err) != 0)
        return err->code;
    if (m->read.value <= 0) {
        leave_lists(lab, "memory", memory_lists, COUNT_OF(memory_lists));
        return 0;
    }
    if (ask_widths(lab, &round, &m->read, err) != 0 ||
        ask_scaling(lab, &round, err) != 0)
        return err->code;
    return ask_operators(lab, &round, &m->read, err);
}

/* ---- L2 ---------------------------------------------------------------- */

/* What is no faster than memory may have come from there; but then it came
 * through L2, so it is a bound. */
static void doubt_l2(struct lab *lab, const struct bandwidth_question *q,
                     const struct bandwidth_found *l2,
                     const struct bandwidth_found *memory)
{
    if (l2->value <= 0 || l2->value > (1 + 5 * BANDWIDTH_ALIKE) * memory->value)
        return;
    struct finding *const f =
        results_edit(lab->results, q->component, q->attribute);
    f->status = STATUS_AT_LEAST;
    finding_because(f, "it is no faster than memory, so it may be memory that "
                       "was measured, through L2");
}

static int ask_l2_by(struct lab *lab, const struct memory *m,
                     const char *attribute, const char *words, unsigned part,
                     const struct bandwidth_found *memory,
                     struct bandwidth_found *found, struct error *err)
{
    const struct bandwidth_question q = {
        .component = "l2",
        .attribute = attribute,
        .words = words,
        .way = STREAM_CYCLES,
        .lanes = BANDWIDTH_LANES,
        .width = 16,
        .arrays = 1,
        .bytes = m->l2 / part,
    };
    if (ask(lab, &q, NULL, found, err) != 0)
        return err->code;
    doubt_l2(lab, &q, found, memory);
    if (strcmp(attribute, "read_bandwidth_half") != 0)
        return 0;
    if (found->value <= 0) {
        leave_lists(lab, "l2", l2_lists, COUNT_OF(l2_lists));
        return 0;
    }
    return ask_widths(lab, &q, found, err) == 0 ? ask_scaling(lab, &q, err)
                                                : err->code;
}

static int ask_l2_bulk(struct lab *lab, const struct memory *m,
                       struct error *err)
{
    struct bandwidth_found found;
    const struct bandwidth_question q = {.component = "l2",
                                         .attribute = "bulk_read_bandwidth",
                                         .words = "warm=2",
                                         .way = STREAM_CYCLES,
                                         .arrays = 1,
                                         .bytes = m->l2 / 2};
    if (ask_bulk(lab, q, &found, err) != 0)
        return err->code;
    doubt_l2(lab, &q, &found, &m->read);
    return 0;
}

static int ask_l2(struct lab *lab, const struct memory *m, struct error *err)
{
    struct bandwidth_found found;
    if (ask_l2_by(lab, m, "read_bandwidth", "cache=cg", 8, &m->read, &found,
                  err) != 0 ||
        ask_l2_by(lab, m, "read_bandwidth_half", "cache=cg", 2, &m->read,
                  &found, err) != 0 ||
        ask_l2_bulk(lab, m, err) != 0)
        return err->code;
    return ask_l2_by(lab, m, "write_bandwidth", "op=write", 8, &m->write,
                     &found, err);
}

/* ---- the study --------------------------------------------------------- */

/* And takes the largest buffer, so that none is given back on the way. */
static int find_room(struct lab *lab, struct memory *m, struct error *err)
{
    enum { ARRAYS = 3 };
    struct samples samples;
    if (lab_probe_err(lab, &samples, NULL, err, "memory") != 0)
        return err->code;
    m->room =
        (uint64_t)samples_at(&samples, 0, samples_column(&samples, "free")) / 2;
    samples_free(&samples);
    const uint64_t most = BANDWIDTH_BLOCKS_MOST * FEW_SETS * m->l2 * ARRAYS;
    if (lab_probe_err(lab, &samples, NULL, err, "memory hold=%" PRIu64,
                  most < m->room ? most : m->room) == 0)
        samples_free(&samples);
    return err->code;
}

/* Without it nobody knows which set L2 holds, and which it does not. */
static void leave_shared(struct lab *lab)
{
    for (const char *const *id = gives; *id != NULL; id++)
        if (strncmp(*id, "memory.", 7) == 0 || strncmp(*id, "l2.", 3) == 0)
            finding_none(results_add(lab->results, *id, lab->study->name),
                         "the driver does not tell how large L2 is");
}

static int ask_shared(struct lab *lab, struct error *err)
{
    struct memory m = {.l2 = device_told(lab->info, PROPERTY_L2_BYTES, 0)};
    if (m.l2 == 0) {
        leave_shared(lab);
        return 0;
    }
    if (find_room(lab, &m, err) != 0 || ask_memory(lab, &m, err) != 0)
        return err->code;
    return ask_l2(lab, &m, err);
}

static int run(struct lab *lab, struct error *err)
{
    bool cached = false;
    *err = (struct error){0};
    if (ask_default(lab, &cached, err) != 0 || ask_sm(lab, cached, err) != 0)
        return err->code;
    return ask_shared(lab, err);
}

const struct study study_bandwidth = {
    .name = "bandwidth",
    .question = "How many bytes pass in a time, from what and to what?",
    .method = "Many warps read, write or copy; what is in flight is doubled "
              "until nothing gives more.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
