/*
 * What a dependent load from L2 or memory costs while all SMs load from there,
 * against how much they get (van Stigt 2022, 6, for what SMs share).
 *
 * One warp chases pointers on an SM of its own, the warps of all others inject
 * (probe/loaded.c).  First it is found how much must be in flight: from one
 * warp an SM on that is doubled until it brings no more, and that last doubling
 * is kept, so that at full pace about twice what the bandwidth takes is asked
 * for, and loads wait.  Then warps idle between their accesses, for times that
 * are chosen such that the points of the curve lie over the range of
 * bandwidths; where the latency passes 1.5 times that of no load, the knee,
 * more points are put.
 *
 * What waits in a system that is asked for a fixed amount at once is that
 * amount by the bandwidth (Little's law): the latency at full pace is one of so
 * many bytes in flight, which its protocol says.
 *
 * Where L2 has two parts (study partitions) the lines of one page fall into two
 * classes by their address; each is chased alone, every line once, after an SM
 * of the other side has brought it in, so that none has been brought near.
 * Which class is far is what costs more without load.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/knee.h"
#include "analysis/stats.h"
#include "analysis/xor_bits.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"partitions", NULL};
static const char *const gives[] = {
    "l2.loaded_latency",
    "l2.knee_bandwidth",
    "l2.saturated_latency",
    "memory.loaded_latency",
    "memory.knee_bandwidth",
    "memory.saturated_latency",
    "l2.near_loaded_latency",
    "l2.far_loaded_latency",
    NULL,
};
static const char *const kernels[] = {
    "loaded op=none", "loaded warps=1",  "loaded warps=2",  "loaded warps=4",
    "loaded warps=8", "loaded warps=16", "loaded warps=32", NULL,
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
/* Growth that is worth more warps. */
static const double growth_least = 0.03;
/* Shares of the bandwidth that are aimed at, and how far off is too far. */
static const double shares[] = {0.2, 0.4, 0.55, 0.7, 0.8, 0.9, 0.96};
static const double off_most = 0.04;
/* Of the latency without load. */
static const double knee_times = 1.5;
/* More points about the knee. */
enum { POINTS_AT_KNEE = 2 };
enum { POINTS_MOST = COUNT_OF(shares) + 2 + POINTS_AT_KNEE };
/* Latency that falls by more under more load is said. */
static const double fall_least = 0.03;
/* Warps that began too late, or stopped too early, by which load is not yet
 * another. */
static const double missed_most = 0.01;
/* Far lines cost that much more than near ones, at least. */
static const double far_least = 0.02;

/* One experiment. */
struct point {
    bool idle;
    unsigned gap;
    double rate, hz;  /* B/clk that was injected; of the SM clock */
    double in_flight; /* bytes that were asked for at once, at most */
    double cycles, low, high;
    double missed; /* share of the warps that did not inject all the time */
    char *experiment;
};

/* What is chased, and what is injected. */
struct curve {
    struct lab *lab;
    const char *component;
    char *words;   /* of its experiments: the set and the ring */
    uint64_t most; /* loads that may be timed; 0: any number */
    unsigned warps;
    bool beside;    /* the chaser's SM injects, as there is no other */
    bool saturated; /* twice as much in flight brought no more */
    struct point points[POINTS_MOST];
    size_t count;
    struct point beside_all; /* at full pace, where the chaser's SM injects */
};

static void drop_points(struct curve *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->points[i].experiment);
    c->count = 0;
}

static void curve_free(struct curve *c)
{
    drop_points(c);
    free(c->beside_all.experiment);
    free(c->words);
}

/* ---- one experiment ---------------------------------------------------- */

/* Sums of the columns over all SMs of all repetitions, and the latency of each
 * repetition; returns how many there are. */
static size_t read_latencies(const struct samples *s, double *cycles)
{
    const size_t loads = samples_column(s, "loads");
    const size_t took = samples_column(s, "chase_cycles");
    size_t n = 0;
    for (size_t row = 0; row < s->rows; row++)
        if (row == 0 || samples_at(s, row, 0) != samples_at(s, row - 1, 0))
            cycles[n++] = (double)samples_at(s, row, took) /
                          (double)samples_at(s, row, loads);
    return n;
}

/* What all warps injected: each SM's by its own clock. */
static void read_load(const struct samples *s, size_t repeats, struct point *p)
{
    const size_t warps = samples_column(s, "warps");
    const size_t bytes = samples_column(s, "bytes");
    const size_t cycles = samples_column(s, "cycles");
    const size_t ns = samples_column(s, "ns");
    const size_t missed = samples_column(s, "missed");
    double clocks = 0, time = 0, injectors = 0;
    for (size_t row = 0; row < s->rows; row++) {
        const double own = (double)samples_at(s, row, cycles);
        const double n = (double)samples_at(s, row, warps);
        if (own > 0)
            p->rate += (double)samples_at(s, row, bytes) * n / own;
        clocks += own;
        time += (double)samples_at(s, row, ns);
        injectors += n;
        p->missed += (double)samples_at(s, row, missed);
    }
    p->rate /= (double)repeats;
    p->missed /= fmax(injectors, 1);
    p->in_flight = injectors / (double)repeats * UNROLL * ACCESS_BYTES;
    p->hz = time > 0 ? 1e9 * clocks / time : 0;
}

static void read_samples(const struct curve *c, const struct samples *s,
                         struct point *p)
{
    double *const cycles = xreallocarray(NULL, s->rows, sizeof *cycles);
    const size_t repeats = read_latencies(s, cycles);
    const struct stats_interval in = lab_interval(c->lab, cycles, repeats);
    p->cycles = stats_median(cycles, repeats);
    p->low = in.low;
    p->high = in.high;
    read_load(s, repeats, p);
    free(cycles);
}

static int measure(const struct curve *c, bool idle, unsigned gap,
                   uint64_t visits, struct point *p, struct error *err)
{
    struct samples s;
    const uint64_t loads = c->most > 0 && c->most < visits ? c->most : visits;
    *p = (struct point){.idle = idle, .gap = gap};
    if (lab_probe_err(c->lab, &s, &p->experiment, err,
                  "loaded %s op=%s unroll=%d warps=%u gap=%u beside=%d "
                  "visits=%" PRIu64 " repeats=%d",
                  c->words, idle ? "none" : "read", UNROLL, c->warps, gap,
                  c->beside, loads, REPEATS) != 0)
        return err->code;
    read_samples(c, &s, p);
    samples_free(&s);
    return 0;
}

/* ---- how much must be in flight ---------------------------------------- */

static bool has_room(const struct lab *lab, unsigned warps)
{
    const int64_t *const has = lab->info->value;
    const int64_t threads = 32 * (int64_t)warps;
    return warps <= lab_block_warps(lab) &&
           (has[PROPERTY_SM_THREADS] <= 0 ||
            threads <= has[PROPERTY_SM_THREADS]) &&
           (has[PROPERTY_SM_REGISTERS] <= 0 ||
            threads * REGISTERS <= has[PROPERTY_SM_REGISTERS]);
}

/* Doubles the warps until that brings no more; keeps the last. */
static int saturate(struct curve *c, struct error *err)
{
    double before = 0;
    c->warps = c->beside ? 2 : 1;
    c->saturated = false;
    while (!c->saturated) {
        struct point p;
        if (measure(c, false, 0, VISITS_SEARCH, &p, err) != 0)
            return err->code;
        free(p.experiment);
        c->saturated = p.rate < (1 + growth_least) * before;
        before = p.rate;
        if (c->saturated || !has_room(c->lab, 2 * c->warps))
            return 0;
        c->warps *= 2;
    }
    return 0;
}

/* ---- the curve --------------------------------------------------------- */

static void put(struct curve *c, size_t at, const struct point *p)
{
    memmove(&c->points[at + 1], &c->points[at],
            (c->count - at) * sizeof *c->points);
    c->points[at] = *p;
    c->count++;
}

/* Cycles that a warp takes for its accesses, besides those that it idles. */
static double own_time(const struct point *p)
{
    return p->in_flight / p->rate - p->gap;
}

/* Idling with which warps that take so long inject at that rate. */
static unsigned gap_for(double in_flight, double rate, double own)
{
    const double gap = in_flight / rate - own;
    return gap < 1 ? 1 : gap > 1 << 28 ? 1 << 28 : (unsigned)gap;
}

/* A point at about that rate, put before `at`.  Accesses take about as long as
 * at the point before; where that is too far off, as long as they were seen to
 * take. */
static int aim(struct curve *c, size_t at, double rate, struct error *err)
{
    const struct point full = c->points[c->count - 1];
    const struct point *const before = &c->points[at - 1];
    const double own = before->idle ? before->cycles : own_time(before);
    struct point p;
    if (measure(c, false, gap_for(full.in_flight, rate, own), VISITS, &p,
                err) != 0)
        return err->code;
    if (fabs(p.rate - rate) > off_most * full.rate && p.rate > 0) {
        const unsigned gap = gap_for(full.in_flight, rate, own_time(&p));
        free(p.experiment);
        if (measure(c, false, gap, VISITS, &p, err) != 0)
            return err->code;
    }
    put(c, at, &p);
    return 0;
}

/* The ends: no load, and no idling. */
static int measure_ends(struct curve *c, struct error *err)
{
    for (int i = 0; i < 2; i++) {
        struct point p;
        if (measure(c, i == 0, 0, VISITS, &p, err) != 0)
            return err->code;
        put(c, c->count, &p);
    }
    return 0;
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
static int refine(struct curve *c, struct error *err)
{
    for (int i = 0; i < POINTS_AT_KNEE; i++) {
        const struct knee knee = knee_of(c);
        const double full = c->points[c->count - 1].rate;
        if (!knee.reached || knee.high - knee.low < off_most / 2 * full)
            return 0;
        if (aim(c, knee.after + 1, (knee.low + knee.high) / 2, err) != 0)
            return err->code;
    }
    return 0;
}

/* Where the most that can be asked for neither saturates nor makes loads wait,
 * there is nothing between. */
static bool is_flat(const struct curve *c)
{
    const struct point *const full = &c->points[c->count - 1];
    return !c->saturated && full->cycles < 1.1 * c->points[0].cycles;
}

static int measure_curve(struct curve *c, struct error *err)
{
    if (measure_ends(c, err) != 0)
        return err->code;
    const double full = c->points[1].rate;
    for (size_t i = 0; !is_flat(c) && i < COUNT_OF(shares); i++)
        if (aim(c, c->count - 1, shares[i] * full, err) != 0)
            return err->code;
    return refine(c, err);
}

/* What a load costs where its own SM asks for as much as all others: queues of
 * an SM come to those that SMs share. */
static int measure_beside(struct curve *c, struct error *err)
{
    struct curve with = *c;
    with.beside = true;
    if (c->warps == 1 || is_flat(c))
        return 0;
    return measure(&with, false, 0, VISITS, &c->beside_all, err);
}

/* The same loads in flight and the same idling as of another curve. */
static int measure_like(struct curve *c, const struct curve *like,
                        struct error *err)
{
    c->warps = like->warps;
    c->beside = like->beside;
    c->saturated = like->saturated;
    for (size_t i = 0; i < like->count; i++) {
        const struct point *const l = &like->points[i];
        struct point p;
        if (measure(c, l->idle, l->gap, VISITS, &p, err) != 0)
            return err->code;
        put(c, c->count, &p);
    }
    return 0;
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
        if (c->points[i].missed > missed_most)
            return true;
    return false;
}

static void say_setup(struct finding *f, const struct curve *c)
{
    const struct point *const full = &c->points[c->count - 1];
    finding_protocol(f, "load", value_text("ld.global.cg.u64"));
    finding_protocol(f, "injected",
                     value_text("reads of 16 B a lane, ld.global.cg"));
    finding_protocol(f, "chaser",
                     value_text(c->beside ? "the only SM, which injects, too"
                                          : "an SM of its own"));
    finding_protocol(f, "warps", value_number(c->warps));
    finding_protocol(f, "in_flight", value_number(full->in_flight));
    finding_protocol(f, "sm_clock", value_number(full->hz));
}

static void say_fall(struct finding *f, const struct curve *c)
{
    double cycles[POINTS_MOST];
    size_t at;
    for (size_t i = 0; i < c->count; i++)
        cycles[i] = c->points[i].cycles;
    const double fall = knee_fall(cycles, c->count, &at);
    finding_protocol(f, "rises", value_bool(fall <= fall_least));
    if (fall > fall_least)
        finding_because(f,
                        "it falls by %.0f %% where %.4g B/s are injected, so "
                        "that load alone is not what it depends on",
                        100 * fall, bytes_per_second(&c->points[at]));
}

static void report_curve(const struct curve *c, const char *attribute,
                         const char *lines)
{
    struct finding *const f = lab_finding(c->lab, c->component, attribute);
    struct value cycles = value_list(), load = value_list();
    for (size_t i = 0; i < c->count; i++) {
        value_push(&cycles, value_number(c->points[i].cycles));
        value_push(&load, value_number(bytes_per_second(&c->points[i])));
        finding_evidence(f, c->points[i].experiment);
    }
    finding_set(f, STATUS_MEASURED, cycles, "cycles");
    finding_protocol(f, "bandwidth", load);
    finding_protocol(f, "lines", value_text(lines));
    say_setup(f, c);
    say_fall(f, c);
}

static void report_saturated(const struct curve *c)
{
    const struct point *const full = &c->points[c->count - 1];
    struct finding *const f =
        lab_finding(c->lab, c->component, "saturated_latency");
    finding_set(f, c->saturated ? STATUS_MEASURED : STATUS_AT_LEAST,
                value_number(full->cycles), "cycles");
    finding_interval(f, full->low, full->high, LAB_CONFIDENCE_PERCENT / 100.0);
    if (!c->saturated)
        finding_because(f,
                        "no SM has room for more in flight, and less brought "
                        "less");
    finding_protocol(f, "bandwidth", value_number(bytes_per_second(full)));
    finding_protocol(f, "idle", value_number(c->points[0].cycles));
    if (c->beside_all.experiment != NULL) {
        finding_protocol(f, "where_its_sm_injects",
                         value_number(c->beside_all.cycles));
        finding_evidence(f, c->beside_all.experiment);
    }
    say_setup(f, c);
    finding_evidence(f, full->experiment);
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
    const struct point *const full = &c->points[c->count - 1];
    struct finding *const f =
        lab_finding(c->lab, c->component, "knee_bandwidth");
    if (knee.reached) {
        finding_set(f, STATUS_MEASURED, value_number(knee.load * full->hz),
                    "B/s");
        say_interval(f, c, &knee, full->hz);
        finding_evidence(f, c->points[knee.after + 1].experiment);
    } else {
        finding_set(f, STATUS_AT_LEAST, value_number(bytes_per_second(full)),
                    "B/s");
        finding_because(f,
                        "with all that SMs have in flight a load costs %.4g "
                        "cycles, %.4g without",
                        full->cycles, c->points[0].cycles);
    }
    finding_protocol(f, "latency",
                     value_number(knee_times * c->points[0].cycles));
    finding_protocol(f, "times_idle", value_number(knee_times));
    finding_evidence(f, c->points[knee.after].experiment);
}

static const char *const attributes[] = {"loaded_latency", "knee_bandwidth",
                                         "saturated_latency"};

static void leave_level(struct lab *lab, const char *component, const char *why)
{
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        finding_none(lab_finding(lab, component, attributes[i]), "%s", why);
}

static void report_level(const struct curve *c, const char *lines)
{
    if (was_missed(c)) {
        leave_level(c->lab, c->component,
                    "some warps did not inject all the time");
        return;
    }
    report_curve(c, "loaded_latency", lines);
    report_saturated(c);
    report_knee(c);
}

/* ---- L2 and memory ----------------------------------------------------- */

static struct curve curve_of(struct lab *lab, const char *component,
                             char *words)
{
    return (struct curve){.lab = lab,
                          .component = component,
                          .words = words,
                          .beside = lab->info->value[PROPERTY_SMS] <= 1};
}

static int ask_level(struct curve *c, const char *lines, struct error *err)
{
    if (c->beside && !has_room(c->lab, 2)) {
        leave_level(c->lab, c->component,
                    "the only warp that there can be "
                    "chases, and none injects");
        return 0;
    }
    if (saturate(c, err) == 0 && measure_curve(c, err) == 0 &&
        measure_beside(c, err) == 0) {
        report_level(c, lines);
        return 0;
    }
    if (!lab_excuses(err->code))
        return err->code;
    leave_level(c->lab, c->component, err->text);
    drop_points(c); /* half a curve is none */
    *err = (struct error){0};
    return 0;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What an SM finds in L2 near to it, B. */
static uint64_t room_of(const struct level_facts *l2)
{
    return l2->near_fits > 0 ? l2->near_fits : l2->fits;
}

/* Between lines of a ring, B. */
static uint64_t stride_of(const struct level_facts *l2)
{
    return l2->line > 128 ? l2->line : 128;
}

static int ask_l2(struct lab *lab, struct curve *c, struct error *err)
{
    const struct level_facts *const l2 = &lab->facts[LEVEL_L2];
    const uint64_t room = room_of(l2);
    *c = curve_of(lab, "l2",
                  xasprintf("bytes=%" PRIu64 " ring=%" PRIu64 " stride=%" PRIu64
                            " warm=2",
                            room / SET_PART,
                            least_of(room / RING_PART, RING_MOST),
                            stride_of(l2)));
    return ask_level(c, "random lines, which the SM has loaded before", err);
}

static uint64_t loads_of(uint64_t visits)
{
    const uint64_t lead = (visits / LEAD_PART + LOADS_STEP - 1) / LOADS_STEP;
    return visits + lead * LOADS_STEP;
}

/* The set of memory; 0: there is no room for it. */
static int set_of_memory(struct lab *lab, uint64_t *set, struct error *err)
{
    const uint64_t l2 = lab->facts[LEVEL_L2].overflows;
    struct samples s;
    *set = 0;
    if (lab_probe_err(lab, &s, NULL, err, "memory") != 0)
        return err->code;
    const uint64_t room =
        (uint64_t)samples_at(&s, 0, samples_column(&s, "free")) / 2;
    samples_free(&s);
    if (room >= SET_SIZES_LEAST * l2)
        *set = least_of(room, SET_SIZES * l2);
    return 0;
}

static int ask_memory(struct lab *lab, struct error *err)
{
    const uint64_t stride = stride_of(&lab->facts[LEVEL_L2]);
    uint64_t set;
    if (set_of_memory(lab, &set, err) != 0)
        return err->code;
    if (set == 0) {
        leave_level(lab, "memory",
                    "there is no room for a set that is much "
                    "larger than L2");
        return 0;
    }
    struct curve c =
        curve_of(lab, "memory",
                 xasprintf("bytes=%" PRIu64 " ring=%" PRIu64 " stride=%" PRIu64,
                           set, loads_of(VISITS) * stride, stride));
    const int status =
        ask_level(&c, "random lines, each once, in windows of 64 KiB", err);
    curve_free(&c);
    return status;
}

/* ---- near and far ------------------------------------------------------ */

static const char *const side_attributes[] = {"near_loaded_latency",
                                              "far_loaded_latency"};
static const char at_home[] = "each once, brought in by an SM of the other "
                              "side";

static void leave_sides(struct lab *lab, const char *why)
{
    for (size_t i = 0; i < COUNT_OF(side_attributes); i++)
        finding_none(lab_finding(lab, "l2", side_attributes[i]), "%s", why);
}

/* Address bits that tell a line's side, and the first SM of the other side than
 * SM 0; false where they are not known. */
static bool sides_of(const struct lab *lab, uint64_t *bits, unsigned *other)
{
    const struct finding *const b = results_find(lab->results, "l2.side_bits");
    const struct finding *const s = results_find(lab->results, "l2.sm_sides");
    if (b == NULL || b->value.kind != VALUE_LIST || s == NULL ||
        s->value.kind != VALUE_LIST || s->value.count != 2)
        return false;
    *bits = 0;
    for (size_t i = 0; i < b->value.count; i++)
        *bits |= UINT64_C(1) << (unsigned)b->value.items[i].number;
    *other = (unsigned)strtoul(s->value.items[1].text, NULL, 10);
    return *bits != 0;
}

/* Loads of lines of one class that can be timed with each made once. */
static uint64_t visits_of(uint64_t ring, uint64_t stride, uint64_t bits)
{
    uint64_t odd = 0, visits = VISITS;
    const uint64_t lines = ring / stride;
    for (uint64_t i = 0; i < lines; i++)
        odd += xor_bits_of(i * stride, bits);
    const uint64_t each = least_of(odd, lines - odd);
    while (visits > 0 && loads_of(visits) > each)
        visits -= LOADS_STEP;
    return visits;
}

/* A ring of one page that has enough lines of both classes, if one of at most
 * so many bytes has. */
static uint64_t ring_of_sides(uint64_t most, uint64_t stride, uint64_t bits)
{
    const uint64_t limit = least_of(most, UINT64_C(1) << PAGE_BITS);
    uint64_t ring = least_of(4 * loads_of(VISITS) * stride, limit);
    while (ring < limit && visits_of(ring, stride, bits) < VISITS)
        ring = least_of(2 * ring, limit);
    return ring;
}

/* The curves of both classes; [0] is the one that costs less without load. */
static int measure_sides(struct curve *sides, const struct curve *l2,
                         struct error *err)
{
    for (int odd = 0; odd < 2; odd++)
        if (measure_like(&sides[odd], l2, err) != 0)
            return err->code;
    if (sides[0].points[0].cycles > sides[1].points[0].cycles) {
        const struct curve near = sides[1];
        sides[1] = sides[0];
        sides[0] = near;
    }
    return 0;
}

static void report_sides(struct lab *lab, const struct curve *sides)
{
    const struct point *const near = sides[0].points, *const far =
                                                          sides[1].points;
    if (was_missed(&sides[0]) || was_missed(&sides[1])) {
        leave_sides(lab, "some warps did not inject all the time");
        return;
    }
    if (far->low < near->high || far->cycles < (1 + far_least) * near->cycles) {
        leave_sides(lab, "lines of both sides cost the same without load");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(side_attributes); i++)
        report_curve(&sides[i], side_attributes[i], at_home);
}

static int ask_classes(struct lab *lab, const struct curve *l2, uint64_t bits,
                       unsigned other, struct error *err)
{
    const struct level_facts *const facts = &lab->facts[LEVEL_L2];
    const uint64_t room = room_of(facts), stride = stride_of(facts);
    const uint64_t ring = ring_of_sides(room / SET_PART, stride, bits);
    struct curve sides[2];
    for (int odd = 0; odd < 2; odd++) {
        sides[odd] = curve_of(
            lab, "l2",
            xasprintf("bytes=%" PRIu64 " ring=%" PRIu64 " stride=%" PRIu64
                      " window=0 bits=%" PRIu64 " odd=%d warm=3 warmer=%u",
                      room / SET_PART, ring, stride, bits, odd, other));
        sides[odd].most = visits_of(ring, stride, bits);
    }
    if (sides[0].most == 0)
        leave_sides(lab, "L2 has too few lines for each to be loaded once");
    else if (measure_sides(sides, l2, err) == 0)
        report_sides(lab, sides);
    curve_free(&sides[0]);
    curve_free(&sides[1]);
    return err->code;
}

static int ask_sides(struct lab *lab, const struct curve *l2, struct error *err)
{
    double parts;
    uint64_t bits;
    unsigned other;
    if (lab_number(lab, "l2", "parts", &parts) && parts == 1) {
        for (size_t i = 0; i < COUNT_OF(side_attributes); i++)
            lab_absent(lab, "l2", side_attributes[i]);
        return 0;
    }
    if (!sides_of(lab, &bits, &other)) {
        leave_sides(lab, "no address bits tell which lines are near to an SM");
        return 0;
    }
    if (l2->count == 0) {
        leave_sides(lab, "how much load there can be is not known");
        return 0;
    }
    if (ask_classes(lab, l2, bits, other, err) == 0)
        return 0;
    if (!lab_excuses(err->code))
        return err->code;
    leave_sides(lab, err->text);
    *err = (struct error){0};
    return 0;
}

/* ---- the study --------------------------------------------------------- */

static void leave_all(struct lab *lab, const char *why)
{
    leave_level(lab, "l2", why);
    leave_level(lab, "memory", why);
    leave_sides(lab, why);
}

/* NULL if L2 and memory can be asked. */
static const char *reason_not_to(const struct level_facts *l2)
{
    if (!l2->present)
        return l2->why;
    if (l2->fits == 0 || l2->overflows == 0)
        return "the size of L2 is not known";
    if (room_of(l2) / SET_PART < (uint64_t)UNROLL * ACCESS_BYTES ||
        room_of(l2) / RING_PART < stride_of(l2))
        return "L2 has no room for a set and a ring beside it";
    return NULL;
}

static int run(struct lab *lab, struct error *err)
{
    const char *const why = reason_not_to(&lab->facts[LEVEL_L2]);
    struct curve c;
    *err = (struct error){0};
    if (why != NULL) {
        leave_all(lab, why);
        return 0;
    }
    int status = ask_l2(lab, &c, err);
    if (status == 0)
        status = ask_sides(lab, &c, err);
    curve_free(&c);
    return status == 0 ? ask_memory(lab, err) : status;
}

const struct study study_loaded_latency = {
    .name = "loaded",
    .question = "What does a load from L2 or memory cost while all SMs load?",
    .method = "One warp chases pointers while all other SMs read, with so much "
              "in flight that more brings nothing, and idle in between for "
              "longer and longer.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
