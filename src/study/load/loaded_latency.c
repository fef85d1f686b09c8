/*
 * What a dependent load from L2 or memory costs while all SMs load from there,
 * against how much they get (van Stigt 2022, 6, for what SMs share).
 *
 * One warp chases pointers on an SM of its own, the warps of all others inject
 * (probe/loaded_latency.c).  First it is found how much must be in flight: from
 * one warp an SM on that is doubled until it brings no more, and that last
 * doubling is kept, so that at full pace about twice what the bandwidth takes
 * is asked for, and loads wait.  Then warps idle between their accesses, for
 * times that are chosen such that the points of the curve lie over the range of
 * bandwidths; where the latency passes 1.5 times that of no load, the knee,
 * more points are put.
 *
 * What waits in a system that is asked for a fixed amount at once is that
 * amount by the bandwidth (Little's law): the latency at full pace is one of so
 * many bytes in flight, which its protocol says.
 *
 * Where L2 has two parts (study l2_sides) the lines of one page fall into two
 * classes by their address; each is chased alone, every line once, after an SM
 * of the other side has brought it in, so that none has been brought near.
 * Which class is far is what costs more without load.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/curve/knee.h"
#include "analysis/grow.h"
#include "analysis/statistics/undisturbed.h"
#include "analysis/statistics/xor_bits.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/load/sweep.h"

static const char *const shared_components[] = {"l2", "memory", NULL};
static const struct answer answers[] = {
    {shared_components, "loaded_latency", "cycles"},
    {shared_components, "knee_bandwidth", "B/s"},
    {shared_components, "saturated_latency", "cycles"},
    {ONE("l2"), "near_loaded_latency", "cycles"},
    {ONE("l2"), "far_loaded_latency", "cycles"},
    {0},
};

/* Loads that are timed in a run of a curve, and of the search before it. */
enum { VISITS = 512, VISITS_SEARCH = 128, REPEATS = 3 };
/* Loads come in so many, and an eighth more come before those of a run. */
enum { LOADS_STEP = 64, LEAD_PART = 8 };
enum { UNROLL = 4, ACCESS_BYTES = 512 };
/* Registers of a thread besides what it loads: as the probe has them. */
enum { REGISTERS = UNROLL * 4 + 40 };
/* Sets of memory in sizes of L2, so that next to nothing of them is found
 * there again; at least, where there is little room. */
enum { SET_SIZES = 8, SET_SIZES_LEAST = 4 };
/* Parts of L2 that the set and the ring take: both stay. */
enum { SET_PART = 4, RING_PART = 8 };
enum { RING_MOST = 512 << 10, PAGE_BITS = 21 };
/* Shares of the bandwidth that are aimed at. */
static const double shares[] = {0.2, 0.4, 0.55, 0.7, 0.8, 0.9, 0.96};
/* The knee, by definition: of the latency without load. */
static const double knee_times = 1.5;
/* More points about the knee. */
enum { POINTS_AT_KNEE = 2 };
enum { POINTS_MOST = COUNT_OF(shares) + 2 + POINTS_AT_KNEE };

/* One experiment. */
struct point {
    bool idle;
    unsigned gap;
    double rate, hz;  /* B/clk that was injected; of the SM clock */
    double in_flight; /* bytes that were asked for at once, at most */
    double cycles, low, high;
    double missed; /* share of the warps that did not inject all the time */
    const char *experiment;
};

/* What is chased, and what is injected. */
struct curve {
    struct lab *lab;
    const char *component;
    const char *words; /* of its experiments: the set and the ring */
    const char *lines; /* what they are, for the reader */
    uint64_t most;     /* loads that may be timed; 0: any number */
    unsigned warps;
    bool beside;    /* the chaser's SM injects, as there is no other */
    bool saturated; /* twice as much in flight brought no more */
    struct point points[POINTS_MOST];
    size_t count;
    struct point beside_all; /* at full pace, where the chaser's SM injects */
};

/* ---- one experiment ---------------------------------------------------- */

/* The latency of each repetition, whose rows stand together. */
static size_t read_latencies(struct lab *lab, const struct samples *s,
                             struct point *p)
{
    const struct column took = lab_column_of(lab, s, "chase_cycles");
    const struct column loads = lab_column_of(lab, s, "loads");
    double *const cycles = lab_alloc(lab, s->rows, sizeof *cycles);
    size_t n = 0;
    for (size_t row = 0; row < s->rows; row++)
        if (row == 0 || samples_at(s, row, 0) != samples_at(s, row - 1, 0))
            cycles[n++] = took.at[row] / loads.at[row];
    const struct undisturbed u = undisturbed_of(cycles, n, 0);
    p->cycles = u.cycles;
    p->low = fmax(u.low, 0);
    p->high = u.high;
    return n;
}

/* What all warps injected: each SM's by its own clock. */
static void read_load(struct lab *lab, const struct samples *s, double repeats,
                      struct point *p)
{
    const struct column warps = lab_column_of(lab, s, "warps");
    const struct column bytes = lab_column_of(lab, s, "bytes");
    const struct column cycles = lab_column_of(lab, s, "cycles");
    const struct column ns = lab_column_of(lab, s, "ns");
    const struct column missed = lab_column_of(lab, s, "missed");
    double clocks = 0, time = 0, injectors = 0;
    for (size_t row = 0; row < s->rows; row++) {
        if (cycles.at[row] > 0)
            p->rate += bytes.at[row] * warps.at[row] / cycles.at[row];
        clocks += cycles.at[row];
        time += ns.at[row];
        injectors += warps.at[row];
        p->missed += missed.at[row];
    }
    p->rate /= repeats;
    p->missed /= fmax(injectors, 1);
    p->in_flight = injectors / repeats * UNROLL * ACCESS_BYTES;
    p->hz = time > 0 ? 1e9 * clocks / time : 0;
}

static struct point curve_measure(const struct curve *c, bool idle,
                                  unsigned gap, uint64_t visits)
{
    struct lab *const lab = c->lab;
    struct point p = {.idle = idle, .gap = gap};
    const struct samples *const s = lab_probe(
        lab,
        "loaded %s op=%s unroll=%d warps=%u gap=%u beside=%d "
        "visits=%" PRIu64 " repeats=%d",
        c->words, idle ? "none" : "read", UNROLL, c->warps, gap, c->beside,
        c->most > 0 ? u64_min(c->most, visits) : visits, REPEATS);
    p.experiment = s->experiment;
    if (lab_ok(lab))
        read_load(lab, s, (double)read_latencies(lab, s, &p), &p);
    return p;
}

/* ---- how much must be in flight ---------------------------------------- */

static bool has_room(const struct lab *lab, unsigned warps)
{
    const uint64_t threads = 32 * (uint64_t)warps;
    return warps <= lab_block_warps(lab) &&
           threads <= device_told(lab->info, PROPERTY_SM_THREADS, threads) &&
           threads * REGISTERS <= device_told(lab->info, PROPERTY_SM_REGISTERS,
                                              threads * REGISTERS);
}

/* Doubles the warps until that brings no more; keeps the last. */
static void curve_saturate(struct curve *c)
{
    struct grow grow = {.least = assume(ASSUME_LOAD_GROWTH)};
    c->warps = c->beside ? 2 : 1;
    for (;;) {
        const struct point p = curve_measure(c, false, 0, VISITS_SEARCH);
        c->saturated = !grow_more(&grow, p.rate);
        if (c->saturated || !lab_ok(c->lab) || !has_room(c->lab, 2 * c->warps))
            return;
        c->warps *= 2;
    }
}

/* ---- the curve --------------------------------------------------------- */

static void put(struct curve *c, size_t at, const struct point *p)
{
    if (!lab_ok(c->lab))
        return;
    memmove(&c->points[at + 1], &c->points[at],
            (c->count - at) * sizeof *c->points);
    c->points[at] = *p;
    c->count++;
}

static const struct point *full_of(const struct curve *c)
{
    return &c->points[c->count - 1];
}

/* Cycles that a warp takes for its accesses, besides those that it idles. */
static double own_time(const struct point *p)
{
    return p->in_flight / p->rate - p->gap;
}

/* Idling with which warps that take so long inject at that rate. */
static unsigned gap_for(double in_flight, double rate, double own)
{
    return (unsigned)fmin(fmax(in_flight / rate - own, 1), 1 << 28);
}

/* A point at about that rate, put before `at`.  Accesses take about as long as
 * at the point before; where that is too far off, as long as they were seen to
 * take. */
static void curve_aim(struct curve *c, size_t at, double rate)
{
    const struct point full = *full_of(c);
    const struct point *const before = &c->points[at - 1];
    const double own = before->idle ? before->cycles : own_time(before);
    struct point p =
        curve_measure(c, false, gap_for(full.in_flight, rate, own), VISITS);
    if (fabs(p.rate - rate) > assume(ASSUME_AIM_OFF) * full.rate && p.rate > 0)
        p = curve_measure(c, false, gap_for(full.in_flight, rate, own_time(&p)),
                          VISITS);
    put(c, at, &p);
}

static struct knee knee_of(const struct curve *c)
{
    double rates[POINTS_MOST], cycles[POINTS_MOST];
    for (size_t i = 0; i < c->count; i++) {
        rates[i] = c->points[i].rate;
        cycles[i] = c->points[i].cycles;
    }
    return knee_find(rates, cycles, c->count, knee_times);
}

/* Points between those that enclose the knee. */
static void curve_refine(struct curve *c)
{
    for (int i = 0; lab_ok(c->lab) && i < POINTS_AT_KNEE; i++) {
        const struct knee knee = knee_of(c);
        if (!knee.reached || knee.high - knee.low <
                                 assume(ASSUME_AIM_OFF) / 2 * full_of(c)->rate)
            return;
        curve_aim(c, knee.after + 1, (knee.low + knee.high) / 2);
    }
}

/* Where the most that can be asked for neither saturates nor makes loads wait,
 * there is nothing between. */
static bool is_flat(const struct curve *c)
{
    return !c->saturated &&
           full_of(c)->cycles < assume(ASSUME_WAITS) * c->points[0].cycles;
}

/* The ends first: no load, and no idling. */
static void curve_trace(struct curve *c)
{
    for (int idle = 1; idle >= 0; idle--) {
        const struct point p = curve_measure(c, idle, 0, VISITS);
        put(c, c->count, &p);
    }
    if (!lab_ok(c->lab))
        return;
    const double full = full_of(c)->rate;
    for (size_t i = 0; !is_flat(c) && i < COUNT_OF(shares); i++)
        if (lab_ok(c->lab))
            curve_aim(c, c->count - 1, shares[i] * full);
    curve_refine(c);
}

/* What a load costs where its own SM asks for as much as all others: queues of
 * an SM come to those that SMs share. */
static void curve_measure_beside(struct curve *c)
{
    struct curve with = *c;
    with.beside = true;
    if (lab_ok(c->lab) && c->warps > 1 && !is_flat(c))
        c->beside_all = curve_measure(&with, false, 0, VISITS);
}

/* The same loads in flight and the same idling as of another curve. */
static void curve_measure_like(struct curve *c, const struct curve *like)
{
    c->warps = like->warps;
    c->beside = like->beside;
    c->saturated = like->saturated;
    for (size_t i = 0; i < like->count; i++) {
        const struct point *const l = &like->points[i];
        const struct point p = curve_measure(c, l->idle, l->gap, VISITS);
        put(c, c->count, &p);
    }
}

/* ---- findings ---------------------------------------------------------- */

/* B/s at a point; the clock of the idle one does not matter. */
static double bytes_per_second(const struct point *p)
{
    return p->idle ? 0 : p->rate * p->hz;
}

static bool was_missed(const struct curve *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].missed > assume(ASSUME_MISSED))
            return true;
    return false;
}

static void say_setup(struct finding *f, const struct curve *c)
{
    finding_protocol(f, "load", value_text("ld.global.cg.u64"));
    finding_protocol(f, "injected",
                     value_text("reads of 16 B a lane, ld.global.cg"));
    finding_protocol(f, "chaser",
                     value_text(c->beside ? "the only SM, which injects, too"
                                          : "an SM of its own"));
    finding_protocol(f, "warps", value_number(c->warps));
    finding_protocol(f, "in_flight", value_number(full_of(c)->in_flight));
    finding_protocol(f, "sm_clock", value_number(full_of(c)->hz));
}

static void say_fall(struct finding *f, const struct curve *c)
{
    double cycles[POINTS_MOST];
    size_t at;
    for (size_t i = 0; i < c->count; i++)
        cycles[i] = c->points[i].cycles;
    const double fall = knee_fall(cycles, c->count, &at);
    finding_protocol(f, "rises", value_bool(fall <= assume(ASSUME_FALL)));
    if (fall <= assume(ASSUME_FALL))
        return;
    f->status = STATUS_IN_DOUBT;
    finding_because(f, why_falls, 100 * fall, bytes_per_second(&c->points[at]));
}

static void report_curve(const struct curve *c, const char *attribute)
{
    struct sweep s = sweep_begin(c->lab, c->component, attribute, "bandwidth");
    for (size_t i = 0; i < c->count; i++)
        sweep_add_within(&s, value_number(bytes_per_second(&c->points[i])),
                         c->points[i].cycles, c->points[i].low,
                         c->points[i].high, c->points[i].experiment);
    sweep_end(&s);
    finding_protocol(s.finding, "lines", value_text(c->lines));
    say_setup(s.finding, c);
    say_fall(s.finding, c);
}

static void report_saturated(const struct curve *c)
{
    const struct point *const full = full_of(c);
    struct finding *const f =
        lab_finding(c->lab, c->component, "saturated_latency");
    finding_value(f, c->saturated ? STATUS_MEASURED : STATUS_AT_LEAST,
                  value_number(full->cycles));
    finding_interval(f, full->low, full->high, LAB_CONFIDENCE_PERCENT / 100.0);
    if (!c->saturated)
        finding_because(f, why_no_more_brings);
    finding_protocol(f, "bandwidth", value_number(bytes_per_second(full)));
    finding_protocol(f, "idle", value_number(c->points[0].cycles));
    if (c->beside_all.experiment != NULL)
        finding_protocol(f, "where_its_sm_injects",
                         value_number(c->beside_all.cycles));
    say_setup(f, c);
    finding_cite(f, c->beside_all.experiment);
    finding_cite(f, full->experiment);
}

/* The knee lies between the nearest points that are surely on either side. */
static void say_interval(struct finding *f, const struct curve *c,
                         const struct knee *knee, double hz)
{
    const double limit = knee_times * c->points[0].cycles;
    size_t below = knee->after, above = knee->after + 1;
    while (below > 0 && c->points[below].high >= limit)
        below--;
    while (above + 1 < c->count && c->points[above].low < limit)
        above++;
    const double from = c->points[below].rate, to = c->points[above].rate;
    finding_interval(f, hz * fmin(from, to), hz * fmax(from, to),
                     LAB_CONFIDENCE_PERCENT / 100.0);
}

static void report_knee(const struct curve *c)
{
    const struct knee knee = knee_of(c);
    const struct point *const full = full_of(c);
    struct finding *const f =
        lab_finding(c->lab, c->component, "knee_bandwidth");
    if (knee.reached) {
        finding_measured(f, knee.load * full->hz);
        say_interval(f, c, &knee, full->hz);
        finding_cite(f, c->points[knee.after + 1].experiment);
    } else {
        finding_value(f, STATUS_AT_LEAST, value_number(bytes_per_second(full)));
        finding_because(f, why_load_stays, full->cycles, c->points[0].cycles);
    }
    finding_protocol(f, "latency",
                     value_number(knee_times * c->points[0].cycles));
    finding_protocol(f, "times_idle", value_number(knee_times));
    finding_cite(f, c->points[knee.after].experiment);
}

/* ---- L2 and memory ----------------------------------------------------- */

static struct curve curve_of(struct lab *lab, const char *component,
                             const char *lines, const char *words)
{
    return (struct curve){.lab = lab,
                          .component = component,
                          .words = words,
                          .lines = lines,
                          .beside = lab->info->value[PROPERTY_SMS] <= 1};
}

static void curve_refuse(const struct curve *c, const char *why)
{
    static const char *const attributes[] = {"loaded_latency", "knee_bandwidth",
                                             "saturated_latency"};
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        finding_none(lab_finding(c->lab, c->component, attributes[i]), "%s",
                     why);
}

static void curve_report(const struct curve *c)
{
    report_curve(c, "loaded_latency");
    report_saturated(c);
    report_knee(c);
}

/* Half a curve is none: then there are no points. */
static void curve_ask(struct curve *c)
{
    curve_saturate(c);
    if (lab_ok(c->lab))
        curve_trace(c);
    curve_measure_beside(c);
    if (!lab_ok(c->lab))
        c->count = 0;
}

/* What an SM finds in L2 near to it, B. */
static uint64_t room_of(const struct lab *lab)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    return l2->near_fits > 0 ? l2->near_fits : l2->fits;
}

/* Between lines of a ring, B. */
static uint64_t stride_of(const struct lab *lab)
{
    return u64_max(fact_sure_line(lab, LEVEL_L2), 128);
}

static struct curve curve_of_l2(struct lab *lab)
{
    const uint64_t room = room_of(lab);
    return curve_of(
        lab, "l2", "random lines, which the SM has loaded before",
        lab_text(lab,
                 "bytes=%" PRIu64 " ring=%" PRIu64 " stride=%" PRIu64 " warm=2",
                 room / SET_PART, u64_min(room / RING_PART, RING_MOST),
                 stride_of(lab)));
}

static uint64_t loads_of(uint64_t visits)
{
    const uint64_t lead = (visits / LEAD_PART + LOADS_STEP - 1) / LOADS_STEP;
    return visits + lead * LOADS_STEP;
}

/* The set of memory; 0: there is no room for it. */
static uint64_t set_of_memory(struct lab *lab)
{
    const uint64_t l2 = fact_bracket(lab, LEVEL_L2)->overflows;
    const struct column free = lab_column(lab, "free", "memory");
    const uint64_t room = free.count > 0 ? (uint64_t)free.at[0] / 2 : 0;
    return room < SET_SIZES_LEAST * l2 ? 0 : u64_min(room, SET_SIZES * l2);
}

static struct curve curve_of_memory(struct lab *lab, uint64_t set)
{
    const uint64_t stride = stride_of(lab);
    return curve_of(
        lab, "memory", "random lines, each once, in windows of 64 KiB",
        lab_text(lab, "bytes=%" PRIu64 " ring=%" PRIu64 " stride=%" PRIu64, set,
                 loads_of(VISITS) * stride, stride));
}

/* ---- near and far ------------------------------------------------------ */

static const char *const side_attributes[] = {"near_loaded_latency",
                                              "far_loaded_latency"};

static void refuse_sides(struct lab *lab, const char *why)
{
    lab_refuse(lab, "l2.near_*", "%s", why);
    lab_refuse(lab, "l2.far_*", "%s", why);
}

/* Which lines are on which side, and who brings them there. */
struct lines_of_sides {
    uint64_t bits;  /* of an address, that tell the side */
    unsigned other; /* the first SM of the other side than SM 0 */
    uint64_t ring, stride, visits;
};

/* The finding that it lacks for that; NULL: none. */
static const char *find_sides(const struct lab *lab, struct lines_of_sides *l)
{
    const struct finding *const b = lab_found(lab, "l2", "side_bits");
    const struct finding *const s = lab_found(lab, "l2", "sm_sides");
    if (b == NULL || b->value.kind != VALUE_LIST || b->value.count == 0)
        return "side_bits";
    if (s == NULL || s->value.kind != VALUE_LIST || s->value.count != 2)
        return "sm_sides";
    for (size_t i = 0; i < b->value.count; i++)
        l->bits |= UINT64_C(1) << (unsigned)b->value.items[i].number;
    l->other = (unsigned)strtoul(s->value.items[1].text, NULL, 10);
    return NULL;
}

/* Loads of lines of one class that can be timed with each made once. */
static uint64_t visits_of(const struct lines_of_sides *l, uint64_t ring)
{
    uint64_t odd = 0, visits = VISITS;
    const uint64_t lines = ring / l->stride;
    for (uint64_t i = 0; i < lines; i++)
        odd += xor_bits_of(i * l->stride, l->bits);
    const uint64_t each = u64_min(odd, lines - odd);
    while (visits > 0 && loads_of(visits) > each)
        visits -= LOADS_STEP;
    return visits;
}

/* A ring of one page that has enough lines of both classes, if one of at most
 * so many bytes has. */
static void choose_ring(struct lines_of_sides *l, uint64_t most)
{
    const uint64_t limit = u64_min(most, UINT64_C(1) << PAGE_BITS);
    l->ring = u64_min(4 * loads_of(VISITS) * l->stride, limit);
    while (l->ring < limit && visits_of(l, l->ring) < VISITS)
        l->ring = u64_min(2 * l->ring, limit);
    l->visits = visits_of(l, l->ring);
}

static struct curve curve_of_side(struct lab *lab,
                                  const struct lines_of_sides *l, int odd)
{
    struct curve c =
        curve_of(lab, "l2", "each once, brought in by an SM of the other side",
                 lab_text(lab,
                          "bytes=%" PRIu64 " ring=%" PRIu64 " stride=%" PRIu64
                          " window=0 bits=%" PRIu64 " odd=%d warm=3 warmer=%u",
                          room_of(lab) / SET_PART, l->ring, l->stride, l->bits,
                          odd, l->other));
    c.most = l->visits;
    return c;
}

/* Near is what costs less without load. */
static void report_sides(struct lab *lab, const struct curve *sides)
{
    const bool turned = sides[0].points[0].cycles > sides[1].points[0].cycles;
    const struct curve *const by[] = {&sides[turned], &sides[!turned]};
    const struct point *const near = by[0]->points, *const far = by[1]->points;
    if (was_missed(by[0]) || was_missed(by[1])) {
        refuse_sides(lab, why_warps_idled);
        return;
    }
    if (far->low < near->high ||
        far->cycles < (1 + assume(ASSUME_FAR)) * near->cycles) {
        refuse_sides(lab, why_sides_alike);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(side_attributes); i++)
        report_curve(by[i], side_attributes[i]);
}

static void ask_classes(struct lab *lab, const struct curve *l2,
                        const struct lines_of_sides *l)
{
    struct curve sides[2];
    if (l->visits == 0) {
        refuse_sides(lab, why_l2_few_lines);
        return;
    }
    for (int odd = 0; odd < 2; odd++) {
        sides[odd] = curve_of_side(lab, l, odd);
        curve_measure_like(&sides[odd], l2);
    }
    if (lab_ok(lab)) {
        report_sides(lab, sides);
        return;
    }
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        refuse_sides(lab, why);
}

static void loaded_latency_ask_sides(struct lab *lab, const struct curve *l2)
{
    struct lines_of_sides l = {.stride = stride_of(lab)};
    if (fact_sides(lab)->parts == 1) {
        for (size_t i = 0; i < COUNT_OF(side_attributes); i++)
            lab_absent(lab, "l2", side_attributes[i]);
        return;
    }
    const char *const lacked = find_sides(lab, &l);
    if (lacked != NULL) {
        refuse_sides(lab, lab_why_unknown(lab, "l2", lacked));
        return;
    }
    if (l2->count == 0) {
        refuse_sides(lab, lab_why_unknown(lab, "l2", "loaded_latency"));
        return;
    }
    choose_ring(&l, room_of(lab) / SET_PART);
    ask_classes(lab, l2, &l);
}

/* ---- the study --------------------------------------------------------- */

/* NULL if L2 and memory can be asked. */
static const char *reason_not_to(const struct lab *lab)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    if (!l2->present)
        return l2->why;
    if (l2->fits == 0 || l2->overflows == 0)
        return why_never_overflows;
    if (room_of(lab) / SET_PART < (uint64_t)UNROLL * ACCESS_BYTES ||
        room_of(lab) / RING_PART < stride_of(lab))
        return why_l2_no_room;
    return NULL;
}

/* Asks and says what was found of L2, or memory. */
static void loaded_latency_ask_level(struct curve *c)
{
    if (c->beside && !has_room(c->lab, 2)) {
        curve_refuse(c, why_one_warp);
        return;
    }
    curve_ask(c);
    const char *const why = lab_excuse(c->lab);
    if (why != NULL)
        curve_refuse(c, why);
    else if (lab_ok(c->lab) && was_missed(c))
        curve_refuse(c, why_warps_idled);
    else if (lab_ok(c->lab))
        curve_report(c);
}

static void loaded_latency_ask_memory(struct lab *lab)
{
    const uint64_t set = set_of_memory(lab);
    struct curve c = curve_of_memory(lab, set);
    if (!lab_ok(lab))
        return;
    if (set > 0)
        loaded_latency_ask_level(&c);
    else
        curve_refuse(&c, why_set_no_room);
}

static void loaded_latency_run(struct lab *lab)
{
    const char *const why = reason_not_to(lab);
    if (why != NULL) {
        lab_leave_open(lab, why);
        return;
    }
    struct curve l2 = curve_of_l2(lab);
    loaded_latency_ask_level(&l2);
    if (lab_ok(lab))
        loaded_latency_ask_sides(lab, &l2);
    if (lab_ok(lab))
        loaded_latency_ask_memory(lab);
}

const struct study study_loaded_latency = {
    .name = "loaded",
    .question = "What does a load from L2 or memory cost while all SMs load?",
    .method = "One warp chases pointers while all other SMs read, with so much "
              "in flight that more brings nothing, and idle in between for "
              "longer and longer.",
    .reads = FACTS(FACT_BRACKET, FACT_LINE, FACT_RINGS, FACT_SIDES),
    .reads_findings = TEXTS("l2.side_bits", "l2.sm_sides"),
    .answers = answers,
    .kernels = TEXTS("loaded op=none", "loaded warps=1", "loaded warps=2",
                     "loaded warps=4", "loaded warps=8", "loaded warps=16",
                     "loaded warps=32"),
    .apart = true,
    .under_load = true,
    .averages = TEXTS("*_latency", "*.knee_bandwidth"),
    .run = loaded_latency_run,
};
