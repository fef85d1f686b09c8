/*
 * What a dependent load costs where its data is: in L1, in L2, in memory, in
 * shared memory; and what a miss adds.
 *
 * The loads are of pointers, so that no address arithmetic is in the chain.
 * Protocols differ and are said: L2 and memory are averages over lines that
 * lie on all slices and both partitions, seen from one SM; memory is random
 * lines, each loaded once, inside windows so small that the translation is
 * found in the TLB.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/laps.h"
#include "analysis/statistics/otsu.h"
#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "probe/walk/ring.h"
#include "study/assume.h"
#include "study/lab.h"

static const struct answer answers[] = {
    {level_components, "latency", "cycles"},
    {level_components, "miss_penalty", "cycles"},
    {ONE("memory"), "latency", "cycles"},
    {ONE("shared"), "latency", "cycles"},
    {ONE("shared"), "latency_indexed", "cycles"},
    {0},
};

static void say_protocol(struct finding *f, const struct cost *c,
                         const char *load, const char *order, bool outside,
                         bool warm)
{
    finding_protocol(f, "load", value_text(load));
    finding_protocol(f, "order", value_text(order));
    finding_protocol(f, "warm", value_bool(warm));
    finding_protocol(f, "timer",
                     value_text(outside ? "outside, two lengths"
                                        : "around each load, less its cost"));
    /* As a share of the cost, to a hundredth of a percent. */
    finding_protocol(f, "disturbance",
                     value_number(round(1e4 * c->excess / c->cycles) / 1e4));
}

/* The costs that findings are differences of. */
struct level_costs {
    struct cost hit[LEVEL_COUNT], miss[LEVEL_COUNT];
    struct cost timing[LEVEL_COUNT]; /* what it adds to loads of the space */
    bool refused[LEVEL_COUNT];       /* why there is no difference was said */
    struct cost disturbance;         /* of a load, as loads of L2 show it */
    double nearer; /* by which L2's nearest lines cost less than the mean of
                      them; 0: they are of two kinds, or it is not known */
    double lines_differ; /* by so much the mean of so many LINES of L2 is off
                            for the lines that were asked */
};

/* ---- single loads ------------------------------------------------------ */

/* What timing adds to a load of global memory. */
static struct cost timing_of_global(struct lab *lab)
{
    const struct fact_trace *const trace = fact_trace(lab);
    return (struct cost){.cycles = trace->cycles,
                         .low = trace->cycles - trace->error,
                         .high = trace->cycles + trace->error,
                         .doubt =
                             trace->doubt[0] != '\0' ? trace->doubt : NULL};
}

/* What single loads cost, less what timing them adds. */
static struct cost less_timing(struct lab *lab, const struct undisturbed *u,
                               const char *experiment)
{
    const struct cost timed = lab_cost_of(lab, u, experiment);
    const struct cost timing = timing_of_global(lab);
    return lab_cost_less(&timed, &timing);
}

/*
 * What timing adds to a load of the level's space: a texture or a constant may
 * come to what waits for it later than to the next load of a chain (H200: 16
 * and 10 cycles, for 3 of global memory).  Of the sectors that a trace brings
 * in the other words are hits.  Local memory, which has no such trace, is
 * loaded by the same unit as global.
 */
static struct cost time_hits(struct lab *lab, const struct level_row *row,
                             const struct cost *hit)
{
    enum { HITS_LEAST = 64 };
    if (!row->of_sm || level_of(row) == LEVEL_L1 || row->memory_is_own ||
        hit->experiment == NULL)
        return timing_of_global(lab);
    const struct fact_bracket *const facts = fact_bracket(lab, level_of(row));
    const struct column c =
        lab_column(lab, "cycles", "%s", lab_sector_trace(lab, row, 0));
    const double limit =
        hits_limit(facts->hit, facts->miss) + fact_trace(lab)->cycles;
    const size_t hits = hits_between(c.at, c.count, 0, limit);
    if (hits < HITS_LEAST)
        return timing_of_global(lab);
    const struct undisturbed u = undisturbed_of(c.at, hits, 1);
    const struct cost timed = lab_cost_of(lab, &u, c.experiment);
    return lab_cost_less(&timed, hit);
}

/* Asked once; of a level behind another the same loads. */
static struct cost timing_of(struct lab *lab, struct level_costs *c,
                             const struct level_row *row)
{
    const enum level_id id =
        row->behind != LEVEL_COUNT ? row->behind : level_of(row);
    if (c->timing[id].cycles == 0)
        c->timing[id] = time_hits(lab, &level_table[id], &c->hit[id]);
    return c->timing[id];
}

/* So often each line is loaded in the same state, at least: of five laps three
 * agree, but for one address in a hundred where a load in ten is late.  At most
 * so often where late ones are many. */
enum { LAPS = 5, LAPS_MOST = 25 };

/* Loads that an experiment times, in laps. */
struct lapped {
    const char *text;
    double above, below; /* cycles of those that count, timing included */
    double early;        /* as of laps_of */
    uint64_t *address;
    double *cycles;
    size_t seen;        /* all but those that lead */
    size_t count, late; /* those that cost more */
    double late_cycles, late_squares;
    struct laps laps;
    const char *experiment;
};

/* True for a load that leads the way for others into a page, and pays for its
 * translation; and for that of the element beside it, which it brings in. */
static bool is_led(uint64_t offset, uint64_t *lead)
{
    if ((offset & RING_LEAD_OFFSET) != 0)
        *lead = offset;
    return (offset | RING_LEAD_OFFSET) == *lead;
}

static void add_late(struct lapped *l, double cycles)
{
    l->late++;
    l->late_cycles += cycles;
    l->late_squares += cycles * cycles;
}

/* What those add to the mean that cost too much to count; its error. */
static double late_adds(const struct lapped *l)
{
    return (l->late_cycles - (double)l->late * l->laps.mean) /
           (double)(l->count + l->late);
}

static double late_error(const struct lapped *l)
{
    return sqrt(l->late_squares) / (double)(l->count + l->late);
}

/* One more lap. */
static void add_lap(struct lab *lab, struct lapped *l)
{
    const struct samples *const s = lab_probe(lab, "%s", l->text);
    const struct column offset = lab_column_of(lab, s, "offset");
    const struct column cost = lab_column_of(lab, s, "cycles");
    const size_t room = LAPS_MOST * (cost.count + 1);
    if (l->address == NULL) {
        l->address = lab_alloc(lab, room, sizeof *l->address);
        l->cycles = lab_alloc(lab, room, sizeof *l->cycles);
    }
    uint64_t lead = 0;
    for (size_t i = 0; i < cost.count; i++) {
        const bool led = is_led((uint64_t)offset.at[i], &lead);
        l->seen += !led;
        if (!led && cost.at[i] >= l->below)
            add_late(l, cost.at[i]);
        if (led || cost.at[i] <= l->above || cost.at[i] >= l->below)
            continue;
        l->address[l->count] = (uint64_t)offset.at[i];
        l->cycles[l->count++] = cost.at[i];
    }
    l->experiment = s->experiment;
}

/* Until what disturbance adds is known to this share of the cost. */
static const double excess_least = 0.0025;

static void add_laps(struct lab *lab, struct lapped *l, int have)
{
    for (int i = have; lab_ok(lab) && i < LAPS_MOST; i++) {
        add_lap(lab, l);
        if (i + 1 < LAPS)
            continue;
        l->laps = laps_of(l->address, l->cycles, l->count, 1, l->early);
        if (2 * l->laps.excess_error <= excess_least * l->laps.mean)
            break;
    }
}

/* Loads that cost more than `above` and less than `below`.  A few that wait
 * longer than any refresh are most of what disturbs, and how often they come is
 * known the least. */
static struct lapped lap_of(struct lab *lab, double early, double above,
                            double below, const char *text)
{
    struct lapped l = {
        .text = text, .above = above, .below = below, .early = early};
    add_laps(lab, &l, 0);
    return l;
}

/* A lap is enough that says to so many cycles what a load costs. */
static const double lap_enough = 0.3;

/* Misses that find the same cost alike.  Where they do not, some find L2 near
 * and some far, or are no misses, and the mean depends on which they are: known
 * to no better than a tenth, or some cycles of a small one, it is nothing. */
static const double alike = 0.1;

/* Costs that loads of a trace are held against, timing not included: what the
 * level before costs; between which bounds those of this one do; and by how
 * much the nearest line that they may find costs less than most. */
struct bounds {
    double before, above, below, nearer;
};

/* By how much loads that are of one kind may cost less than most: more than
 * these stray, than a tenth of what they cost more than the level before, and
 * than lines of L2 lie nearer, of which each costs the same each time (H200,
 * H100: to 27 cycles). */
static double earliest(const struct bounds *b, const struct undisturbed *u)
{
    return fmax(fmax(alike * (u->cycles - b->before), 4 * u->spread),
                b->nearer);
}

/* Nothing makes a load earlier: where a twentieth cost less than most, by more
 * than that, they are of two kinds. */
static bool are_some_early(const struct lapped *l, const struct undisturbed *u,
                           double by)
{
    const double early = u->cycles - by;
    return 20 * (l->count - hits_above(l->cycles, l->count, early)) > l->count;
}

/* Half of all lines are far from an SM: where those stay far, misses cost what
 * both halves do on average, whichever of them were asked for.  They are as far
 * apart as L2's own hits. */
static bool are_halves(struct lab *lab, const double *cycles, size_t n,
                       struct undisturbed *mean)
{
    const double more = fact_sides(lab)->far;
    struct otsu split;
    otsu_find(cycles, n, &split);
    if (more == 0 || !split.clear ||
        fabs(split.high - split.low - more) > alike * more)
        return false;
    double *const half = lab_alloc(lab, n, sizeof *half);
    memcpy(half, cycles, n * sizeof *half);
    const struct undisturbed near =
        undisturbed_of(half, hits_between(half, n, 0, split.threshold), 1);
    memcpy(half, cycles, n * sizeof *half);
    const struct undisturbed far = undisturbed_of(
        half, hits_between(half, n, split.threshold, INFINITY), 1);
    const double error = hypot(near.high - near.low, far.high - far.low) / 4;
    *mean =
        (struct undisturbed){.cycles = (near.cycles + far.cycles) / 2,
                             .disturbed = fmax(near.disturbed, far.disturbed),
                             .excess = (near.excess + far.excess) / 2,
                             .spread = fmax(near.spread, far.spread),
                             .kept = near.kept + far.kept};
    mean->low = mean->cycles - error;
    mean->high = mean->cycles + error;
    return true;
}

/* What timing adds to the level before, too. */
static struct bounds as_timed(const struct bounds *b, double timing)
{
    return (struct bounds){b->before + timing, b->above + timing,
                           b->below + timing, b->nearer};
}

/* Of what is asked for at least a third does not hit the level before, whatever
 * its policy.  Where not one in eight does, all of it may have found room, as
 * elements far apart do where lines are shorter, and be late by chance. */
enum { HITS_A_MISS = 8 };

static bool are_few(const struct lapped *l)
{
    const size_t hits = l->seen - l->count - l->late;
    return HITS_A_MISS * l->count < hits;
}

/* Loads that cost more than any of this level should are late, as well, be it
 * that they find it no more: where a small L2 lost half of what was asked for
 * those that it has may all be copies that are farther than others. */
static void count_late(const struct lapped *l, struct undisturbed *u)
{
    u->disturbed = (u->disturbed * (double)l->count + (double)l->late) /
                   (double)(l->count + l->late);
}

/* Those of a trace's loads that cost between two bounds, and more than the
 * level before, less what timing adds; `text` is the experiment. */
static struct cost traced(struct lab *lab, const struct cost *timing,
                          const struct bounds *untimed, const char *text)
{
    const struct bounds b = as_timed(untimed, timing->cycles);
    struct lapped l = {
        .text = text, .above = b.above, .below = b.below, .early = INFINITY};
    add_lap(lab, &l);
    if (l.count == 0) {
        lab_fail(lab, ERR_UNSUPPORTED, why_trace_no_load);
        return (struct cost){0};
    }
    if (are_few(&l)) {
        lab_fail(lab, ERR_UNSUPPORTED, why_trace_few, l.count, l.seen);
        return (struct cost){0};
    }
    struct undisturbed u = undisturbed_of(l.cycles, l.count, 1);
    if (u.high - u.low > 2 * lap_enough) {
        add_laps(lab, &l, 1);
        u = l.laps.cost;
    }
    const double by = earliest(&b, &u);
    if (lab_ok(lab) && !are_halves(lab, l.cycles, l.count, &u) &&
        are_some_early(&l, &u, by))
        lab_fail(lab, ERR_UNSUPPORTED, why_some_early, by);
    count_late(&l, &u);
    const struct cost timed = lab_cost_of(lab, &u, l.experiment);
    return lab_cost_less(&timed, timing);
}

/* True for a mean of runs that is no more off that of single loads than a
 * hundredth, or three standard errors of 95 %'s two. */
static bool runs_agree(double runs, double singles, double error)
{
    return fabs(runs - singles) <= fmax(0.01 * singles, 1.5 * error);
}

/* Runs that were timed from outside cost what single loads do, late ones
 * included; or else what is late was not seen, or what is loaded is not where
 * it should be, and it may be neither. */
static void check_by_runs(struct lab *lab, const struct cost *c, double singles,
                          double error, const struct cost *runs)
{
    error = hypot(error, runs->high - runs->cycles);
    if (c->doubt == NULL && !runs_agree(runs->cycles, singles, error))
        lab_fail(lab, ERR_UNSUPPORTED, why_runs_contradict, runs->cycles,
                 singles);
}

/* What rests on another cost is doubted as that is. */
static void doubt_as(struct cost *c, const struct cost *other)
{
    if (c->doubt != NULL || other->doubt == NULL)
        return;
    c->doubt = other->doubt;
    c->low = 0;
}

/* ---- hits -------------------------------------------------------------- */

/* Loads that miss the level above and hit this one: of a ring of so many lines
 * that the one above keeps few, and all are here. */
static struct cost hits_behind(struct lab *lab, const struct level_row *row,
                               struct level_costs *c)
{
    const struct fact_bracket *const facts = fact_bracket(lab, level_of(row));
    const struct fact_bracket *const above = fact_bracket(lab, row->behind);
    const struct cost timing = timing_of(lab, c, row);
    const uint64_t stride = u64_max(fact_sure_line(lab, row->behind), 64);
    const uint64_t bytes =
        u64_min(8 * above->overflows, facts->fits) / stride * stride;
    const struct bounds b = {.before = above->hit,
                             .above = hits_limit(above->hit, above->miss),
                             .below = hits_limit(facts->hit, facts->miss)};
    return traced(lab, &timing, &b,
                  lab_text(lab,
                           "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                           " warm=4 visits=1024",
                           row->load, bytes, stride));
}

/* So many lines of all slices and sides are asked, and their leaders. */
enum { LINES = 768 };

static const char *lines_of_l2(struct lab *lab, uint64_t bytes,
                               const char *state)
{
    return lab_text(lab,
                    "trace %s bytes=%" PRIu64
                    " order=random window=65536 sample=%d lead=65536 %s",
                    level_table[LEVEL_L2].load, bytes, LINES, state);
}

/* So many bytes are there, though its sets be asked unevenly, and near. */
static uint64_t surely_in_l2(const struct fact_bracket *l2)
{
    return (l2->near_fits > 0 ? l2->near_fits : l2->fits) / 2;
}

/* Those that the study of the sides has loaded, too, where as many of one set
 * as it has ways do not come together by chance: an eighth of what fits. */
static const char *warm_lines(struct lab *lab, uint64_t half)
{
    const char *const known = fact_sides(lab)->warm;
    const uint64_t line = u64_max(fact_sure_line(lab, LEVEL_L2), 128);
    return known[0] != '\0' && 4 * LINES * line <= half
               ? known
               : lines_of_l2(lab, u64_min(half / 128 * 128, 4 << 20), "warm=2");
}

/* Of a mean of all loads, late ones included: of 95 %, but for what those are
 * that are never seen. */
static double error_of(struct lab *lab, const struct lapped *l)
{
    return hypot(hypot(2 * l->laps.mean_error, fact_trace(lab)->error),
                 2 * late_error(l));
}

/* What is late, of loads that hit L2 and have nothing to wait for, disturbs any
 * load; in doubt if they are. */
static struct cost disturbance_of(const struct lapped *l, const char *doubt)
{
    const struct undisturbed *const u = &l->laps.cost;
    const double error = undisturbed_t(u->kept) * l->laps.excess_error;
    return (struct cost){.cycles = u->excess,
                         .low = u->excess - error,
                         .high = u->excess + error,
                         .disturbed = u->disturbed,
                         .doubt = doubt,
                         .experiment = l->experiment};
}

/* A window of random lines, below which L2's are not in random order. */
static const uint64_t least_of_l2 = 16 << 10;

/* As much of it may be lines that were not there: loads that cost what a miss
 * does, to what averages differ by. */
static double misses_add(const struct lapped *l, double hit, double miss)
{
    const double near = assume(ASSUME_AVERAGES_ALIKE) * miss;
    double more = 0;
    for (size_t i = 0; i < l->count; i++)
        if (fabs(l->cycles[i] - miss) < near)
            more += l->cycles[i] - hit;
    return more / fmax(1, (double)l->count);
}

/* The share of loads that cost more than hits do. */
static double share_dear(struct lab *lab, const struct lapped *l,
                         const struct fact_bracket *facts)
{
    const double limit =
        hits_limit(facts->hit, facts->miss) + fact_trace(lab)->cycles;
    size_t dear = 0;
    for (size_t i = 0; i < l->count; i++)
        dear += l->cycles[i] > limit;
    return (double)dear / fmax(1, (double)l->count);
}

/* So few dear loads change a mean by less than runs and single loads may differ
 * (runs_agree), as a miss of L2 costs at most some three hits. */
static const double dear_few = 0.004;

/* So often the lines are halved: an eighth of half a cache overfills one slice
 * of sixteen at most. */
enum { HALVED_MOST = 3 };

/* As one lap shows it. */
static double share_dear_in(struct lab *lab, const struct fact_bracket *l2,
                            uint64_t bytes)
{
    struct lapped l = {.text = warm_lines(lab, bytes),
                       .below = l2->hit + HITS_WAIT_MOST,
                       .early = INFINITY};
    add_lap(lab, &l);
    return share_dear(lab, &l, l2);
}

/* Of how many bytes warm lines are taken, at most.  An index may deal what lies
 * together to few sets or to one slice, of which half of what L2 holds may ask
 * too much: where of fewer bytes at most half as many loads are dear those are
 * taken; what disturbs loads strikes all alike. */
static uint64_t bytes_of_warm(struct lab *lab, const struct fact_bracket *l2,
                              uint64_t half)
{
    double dear = share_dear_in(lab, l2, half);
    uint64_t bytes = half;
    for (int i = 1; lab_ok(lab) && i <= HALVED_MOST && dear > dear_few &&
                    half >> i >= least_of_l2;
         i++) {
        const double left = share_dear_in(lab, l2, half >> i);
        if (2 * left > dear)
            continue;
        bytes = half >> i;
        dear = left;
    }
    return bytes;
}

/* By how much the nearest hundredth of loads that hit L2 cost less than their
 * mean: lines lie at different distances.  Nothing makes one earlier. */
static double nearer_of(const struct lapped *l)
{
    double *const sorted = stats_sorted(l->cycles, l->count);
    const double least = l->count > 0 ? sorted[l->count / 100] : INFINITY;
    free(sorted);
    return fmax(0, l->laps.cost.cycles - least);
}

/* Where L2 copies far lines and has given up some of the copies, what is found
 * near is what hits cost, and what costs nearer to what far ones do is not; for
 * it to be known, so many are near. */
enum { NEAR_LEAST = 64 };

static bool are_copies_gone(struct lab *lab, struct lapped *l)
{
    const struct fact_sides *const sides = fact_sides(lab);
    const double limit =
        sides->hit + sides->copied / 2 + fact_trace(lab)->cycles;
    size_t near = 0;
    if (sides->hit == 0 || sides->copied == 0)
        return false;
    for (size_t i = 0; i < l->count; i++)
        if (l->cycles[i] < limit) {
            l->address[near] = l->address[i];
            l->cycles[near++] = l->cycles[i];
        }
    if (near == l->count || near < NEAR_LEAST)
        return false;
    l->count = near;
    l->laps = laps_of(l->address, l->cycles, near, 1, l->early);
    return true;
}

/* Runs of warm lines, of so many bytes. */
static struct cost warm_runs(struct lab *lab, uint64_t bytes)
{
    return lab_chase_mean(lab,
                          "chase %s bytes=%" PRIu64
                          " stride=128 order=random window=65536 sample=8192 "
                          "sweep=1 warm=2 visits=2048",
                          level_table[LEVEL_L2].load,
                          u64_min(bytes / 128 * 128, 8u << 20));
}

/*
 * Runs that cost more than `most` load more lines than single loads do: more
 * than some sets of L2 hold, and of so many pages that what translation takes
 * of each, which leads pay for single ones, counts.  Of a fraction of the lines
 * neither does.
 */
static struct cost runs_beside(struct lab *lab, uint64_t bytes,
                               const struct cost *singles, double most,
                               double error)
{
    enum { FEWER = 8 };
    struct cost runs = warm_runs(lab, bytes);
    for (bytes /= FEWER;
         lab_ok(lab) && singles->doubt == NULL && bytes >= least_of_l2 &&
         runs.cycles > most &&
         !runs_agree(runs.cycles, most, hypot(error, runs.high - runs.cycles));
         bytes /= FEWER)
        runs = warm_runs(lab, bytes);
    return runs;
}

/* What laps of warm lines show. */
static struct cost l2_hits(struct lab *lab, const struct fact_bracket *facts,
                           struct level_costs *costs)
{
    struct cost *const disturbance = &costs->disturbance;
    const uint64_t half = bytes_of_warm(lab, facts, surely_in_l2(facts));
    struct lapped l = lap_of(lab, INFINITY, 0, facts->hit + HITS_WAIT_MOST,
                             warm_lines(lab, half));
    const bool gone = lab_ok(lab) && are_copies_gone(lab, &l);
    struct cost c = less_timing(lab, &l.laps.cost, l.experiment);
    c.excess += late_adds(&l);
    double singles = c.cycles + c.excess;
    const double error = error_of(lab, &l);
    /* Of the lines of runs nobody knows how many are far. */
    const double most = singles + (gone ? fact_sides(lab)->copied : 0);
    const struct cost runs = runs_beside(lab, half, &c, most, error);
    if (gone)
        singles = fmin(fmax(runs.cycles, singles), most);
    check_by_runs(lab, &c, singles, error, &runs);
    struct undisturbed mean;
    costs->lines_differ = l.laps.differ;
    if (lab_ok(lab) && are_halves(lab, l.cycles, l.count, &mean)) {
        const double excess = c.excess;
        costs->lines_differ = mean.high - mean.cycles;
        c = less_timing(lab, &mean, l.experiment);
        c.excess = excess;
    } else if (lab_ok(lab) && fact_sides(lab)->far == 0) {
        costs->nearer = nearer_of(&l);
    }
    if (lab_ok(lab))
        *disturbance = disturbance_of(&l, c.doubt);
    disturbance->low -=
        misses_add(&l, facts->hit, facts->miss + fact_trace(lab)->cycles);
    return c;
}

/* A level's hits.  Where lines lie on slices many are asked; else every line
 * costs the same. */
static struct cost hits_of(struct lab *lab, const struct level_row *row,
                           struct level_costs *c)
{
    const struct fact_bracket *const facts = fact_bracket(lab, level_of(row));
    const unsigned stride = row->apart > 32 ? row->apart : 32;
    if (row->behind != LEVEL_COUNT)
        return hits_behind(lab, row, c);
    if (!row->of_sm)
        return l2_hits(lab, facts, c);
    return lab_load_cost(
        lab, "%s bytes=%" PRIu64 " stride=%u warm=4", row->load,
        u64_min(facts->fits / 2 / stride * stride, 2048), stride);
}

/* Which lines the average is of. */
static void say_partition(const struct lab *lab, struct finding *f,
                          const struct fact_bracket *facts)
{
    finding_protocol(
        f, "partition",
        value_text(facts->near_fits > 0
                       ? "near: the ring is within what the SM reaches at near "
                         "cost"
                   : fact_sides(lab)->far_stays
                       ? "both: half of the lines are far"
                       : "one: no far part was seen"));
}

static struct cost report_hits(struct lab *lab, const struct level_row *row,
                               struct level_costs *c)
{
    const struct fact_bracket *const facts = fact_bracket(lab, level_of(row));
    struct finding *const f = lab_finding(lab, row->component, "latency");
    if (!facts->present) {
        finding_none(f, "%s", facts->why);
        return (struct cost){0};
    }
    lab_cite(lab, f);
    const struct cost cost = hits_of(lab, row, c);
    lab_uncite(lab);
    if (!lab_ok(lab))
        return (struct cost){0};
    finding_cost(f, &cost);
    say_protocol(f, &cost, row->words,
                 row->of_sm ? "sequential" : "random lines over all slices",
                 row->of_sm && row->behind == LEVEL_COUNT, true);
    if (!row->of_sm)
        say_partition(lab, f, facts);
    return cost;
}

/* Where loads look next that miss a level of an SM. */
static enum level_id next_level(const struct lab *lab, enum level_id id)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (level_table[i].behind == id &&
            fact_bracket(lab, (enum level_id)i)->present)
            return (enum level_id)i;
    return LEVEL_L2;
}

static const char *found_in(const struct lab *lab, enum level_id id)
{
    return id == LEVEL_L2 ? level_table[id].below
                          : level_table[next_level(lab, id)].component;
}

/* Where no experiment failed. */
static const char *reason_of_no_miss(struct lab *lab, enum level_id id,
                                     const struct level_costs *c)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    if (id == LEVEL_L2)
        return lab_why_unknown(lab, "memory", "latency");
    if (!l2->present)
        return l2->why;
    return c->disturbance.experiment == NULL
               ? lab_why_unknown(lab, "l2", "latency")
               : why_l2_few_lines;
}

/* A hit, and what timing adds to one. */
static void cite_hits(struct finding *f, enum level_id id,
                      const struct level_costs *c)
{
    const enum level_id behind = level_table[id].behind;
    finding_cite(f, c->hit[id].experiment);
    finding_cite(f, c->timing[behind != LEVEL_COUNT ? behind : id].experiment);
}

/* Where nobody could tell what L2's hits cost, rings may have shown more of it
 * than holds lines, and what misses the level may have missed L2, too. */
static bool may_miss_l2(const struct lab *lab, enum level_id id,
                        const struct cost *l2)
{
    return id != LEVEL_L2 && next_level(lab, id) == LEVEL_L2 &&
           fact_bracket(lab, LEVEL_L2)->present && l2->experiment == NULL;
}

/* What both a miss and a hit lean on, so that its error is not in what they
 * differ by: what timing adds to either, of a level behind another; of others
 * the hit that this was told by.  NULL: nothing. */
static const struct cost *shared_by(const struct level_costs *c,
                                    enum level_id id)
{
    const enum level_id behind = level_table[id].behind;
    if (behind != LEVEL_COUNT)
        return &c->timing[behind];
    return c->timing[id].experiment != NULL ? &c->hit[id] : NULL;
}

/* Of an error that is the root of squares, two of them that are one's. */
static double less_twice(double error, double of_both)
{
    return sqrt(fmax(0, error * error - 2 * of_both * of_both));
}

static struct cost penalty_of(const struct level_costs *c, enum level_id id)
{
    struct cost p = lab_cost_less(&c->miss[id], &c->hit[id]);
    const struct cost *const shared = shared_by(c, id);
    if (shared == NULL || p.doubt != NULL)
        return p;
    const double of_both =
        fmin(shared->high - shared->cycles, shared->cycles - shared->low);
    p.low = p.cycles - less_twice(p.cycles - p.low, of_both);
    p.high = p.cycles + less_twice(p.high - p.cycles, of_both);
    return p;
}

static void report_penalty(struct lab *lab, enum level_id id,
                           const struct level_costs *c)
{
    const struct cost *const miss = &c->miss[id], *const hit = &c->hit[id],
                             *const l2 = &c->hit[LEVEL_L2];
    const struct level_row *const row = &level_table[id];
    struct finding *const f = lab_finding(lab, row->component, "miss_penalty");
    if (!fact_bracket(lab, id)->present) {
        finding_none(f, "%s", fact_bracket(lab, id)->why);
        return;
    }
    if (fact_rings(lab, id)->doubtful) {
        finding_none(f, why_miss_no_edge);
        return;
    }
    if (hit->experiment == NULL) {
        finding_none(f, "%s", lab_why_unknown(lab, row->component, "latency"));
        return;
    }
    if (miss->experiment == NULL) {
        finding_none(f, "%s", reason_of_no_miss(lab, id, c));
        return;
    }
    if (may_miss_l2(lab, id, l2)) {
        finding_none(f, "%s", lab_why_unknown(lab, "l2", "latency"));
        return;
    }
    struct cost penalty = penalty_of(c, id);
    const double width = penalty.high - penalty.low;
    if (penalty.doubt == NULL && width > fmax(alike * penalty.cycles, 4)) {
        finding_none(f, why_varies, width / 2);
        return;
    }
    if (id != LEVEL_L2 && next_level(lab, id) == LEVEL_L2)
        doubt_as(&penalty, l2);
    /* What may be nothing is no penalty. */
    if (penalty.low <= 0) {
        finding_none(f, "%s",
                     penalty.doubt != NULL ? penalty.doubt : why_misses_alike);
        return;
    }
    finding_cost(f, &penalty);
    finding_protocol(f, "found_in", value_text(found_in(lab, id)));
    cite_hits(f, id, c);
}

/* A mean of loads without what disturbs any load. */
static struct cost less_disturbance(const struct cost *mean,
                                    const struct cost *disturbance)
{
    struct cost c = lab_cost_less(mean, disturbance);
    c.excess = disturbance->cycles;
    return c;
}

/* Other lines would cost otherwise: as those differ that hits of L2 were asked
 * of, and the mean is the surer the more lines there are. */
static struct cost widened_by_lines(const struct cost *mean,
                                    const struct level_costs *costs,
                                    uint64_t lines)
{
    struct cost c = *mean;
    const double error = costs->lines_differ * sqrt(LINES / (double)lines);
    c.low = c.cycles - hypot(c.cycles - c.low, error);
    c.high = c.cycles + hypot(c.high - c.cycles, error);
    return c;
}

/* What misses L1 costs what rings said, or what it should have found in L2 was
 * not there: nearer to that than a miss of L2 is. */
static void check_by_rings(struct lab *lab, const struct cost *c)
{
    const struct fact_bracket *const l1 = fact_bracket(lab, LEVEL_L1),
                                     *const l2 = fact_bracket(lab, LEVEL_L2);
    if (fabs(c->cycles - l1->miss) > (l2->miss - l2->hit) / 2)
        lab_fail(lab, ERR_UNSUPPORTED, why_runs_contradict, l1->miss,
                 c->cycles);
}

/* Those of so many lines. */
static struct lapped laps_of_l1_misses(struct lab *lab, uint64_t lines)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    const uint64_t stride = u64_max(fact_sure_line(lab, LEVEL_L1), 128);
    return lap_of(lab, INFINITY, 0,
                  fact_bracket(lab, LEVEL_L1)->miss + (l2->miss - l2->hit) / 2 +
                      fact_trace(lab)->cycles,
                  lab_text(lab,
                           "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                           " order=random window=65536 sweep=1 sweep_op=cg "
                           "warm=0 visits=%" PRIu64,
                           level_table[LEVEL_L1].load, lines * stride, stride,
                           u64_min(lines, 2048)));
}

/* Between those that differ with their lines and those of two kinds: by so much
 * of what they cost is the mean off what most of them do, and by a fourth of
 * what the nearest are. */
static const double skewed = 0.01;

static double skew_of(const struct lapped *l)
{
    return fabs(l->laps.cost.cycles - l->laps.median);
}

static bool is_skewed(struct lab *lab, const struct lapped *l,
                      const struct bounds *b)
{
    const double natural =
        fmax(skewed * (l->laps.median - b->before), b->nearer / 4);
    struct undisturbed halves;
    return lab_ok(lab) && skew_of(l) > fmax(1, natural) &&
           !are_halves(lab, l->cycles, l->count, &halves);
}

/*
 * Loads that miss L1 and hit L2: an L1 is empty when a kernel begins; a sweep
 * past it brings the lines into L2, near to the SM where that has parts; then
 * some are loaded, each once.  So nothing depends on the policy of L1.
 * Those that cost what misses of L2 do, or nearly, were not there.  Where some
 * cost more than most, what was near may have gone again, from sets of L2 that
 * were asked too much of: of half as many lines it stays.
 */
enum { L1_MISSES_LEAST = 3 * 128, L1_MISSES_MOST = 6144 };

/* A small L2 has not so many, of which then some lie otherwise: by what hits of
 * L2 tell of others. */
enum { L1_MISSES_FEW = 64 };

static struct cost l1_misses(struct lab *lab, const struct level_costs *c)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    if (!l2->present || c->disturbance.experiment == NULL)
        return (struct cost){0};
    const struct bounds b = {.before = fact_bracket(lab, LEVEL_L1)->hit +
                                       fact_trace(lab)->cycles,
                             .nearer = c->nearer};
    const uint64_t stride = u64_max(fact_sure_line(lab, LEVEL_L1), 128);
    uint64_t lines = u64_min(surely_in_l2(l2) / stride, L1_MISSES_MOST);
    if (lines < L1_MISSES_FEW)
        return (struct cost){0};
    const bool few = lines < L1_MISSES_LEAST;
    struct lapped l = laps_of_l1_misses(lab, lines);
    for (bool less = true;
         less && lines / 2 >= L1_MISSES_LEAST && is_skewed(lab, &l, &b);
         lines /= 2) {
        const struct lapped half = laps_of_l1_misses(lab, lines / 2);
        less = lab_ok(lab) && 2 * skew_of(&half) < skew_of(&l);
        l = less ? half : l;
    }
    struct undisturbed u = l.laps.cost;
    const double by = earliest(&b, &u);
    if (lab_ok(lab) && !are_halves(lab, l.cycles, l.count, &u) &&
        are_some_early(&l, &u, by))
        lab_fail(lab, ERR_UNSUPPORTED, why_some_early, by);
    const struct cost cost = less_timing(lab, &u, l.experiment);
    return few ? widened_by_lines(&cost, c, lines) : cost;
}

/* Those of a trace that cost more than hits do, but for jitter: what finds L2
 * near may cost much less than what finds it far.  To half as much again as a
 * miss costs more. */
static struct cost traced_misses(struct lab *lab, struct level_costs *c,
                                 const struct level_row *row, const char *text)
{
    const struct fact_bracket *const facts = fact_bracket(lab, level_of(row));
    const struct cost timing = timing_of(lab, c, row);
    const struct bounds b = {
        .before = facts->hit,
        .above = facts->hit + fmax(8, 0.1 * facts->hit),
        .below = facts->miss + (facts->miss - facts->hit) / 2,
        .nearer = next_level(lab, level_of(row)) == LEVEL_L2 ? c->nearer : 0};
    return traced(lab, &timing, &b, text);
}

/* What timing adds where lanes take turns. */
static struct cost timing_of_ring(struct lab *lab, struct level_costs *c,
                                  const struct level_row *row)
{
    const struct cost *const hit = &c->hit[level_of(row)];
    if (row->ring == NULL || hit->experiment == NULL)
        return timing_of(lab, c, row);
    const uint64_t fits = fact_bracket(lab, level_of(row))->fits;
    const struct column t = lab_column(
        lab, "cycles", "trace %s bytes=%" PRIu64 " warm=4 visits=1024",
        row->ring, u64_min(fits / 2 / row->fine * row->fine, 2048));
    const struct undisturbed u = undisturbed_of(t.at, t.count, 1);
    const struct cost timed = lab_cost_of(lab, &u, t.experiment);
    return lab_cost_less(&timed, hit);
}

/* Of a ring that all of it misses: to as much as L2 surely has, near to the SM
 * where it copies far lines and gives up the copies of what is more than that;
 * 0: of so few some would hit. */
static uint64_t whole_ring(struct lab *lab, const struct fact_bracket *facts,
                           bool in_l2)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    const uint64_t sure = surely_in_l2(l2);
    const uint64_t held = fact_sides(lab)->copied != 0 ? sure : l2->fits;
    if (!in_l2 || facts->deep <= held)
        return facts->deep;
    return 4 * sure < 5 * facts->overflows ? 0 : sure;
}

/* Every line of the ring of which rings said that all of it misses.  Half of
 * those may have been hits, under policies that keep some: what L2 finds may
 * cost as much as its own hits do, to half of what a miss of it adds. */
static struct cost whole_ring_misses(struct lab *lab, struct level_costs *c,
                                     const struct level_row *row)
{
    const struct fact_bracket *const facts = fact_bracket(lab, level_of(row));
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    const struct cost timing = timing_of_ring(lab, c, row);
    const bool in_l2 =
        l2->present && next_level(lab, level_of(row)) == LEVEL_L2;
    struct bounds b = {.before = facts->hit,
                       .above = facts->hit + fmax(8, 0.1 * facts->hit),
                       .below = facts->miss + (facts->miss - facts->hit) / 2,
                       .nearer = in_l2 ? c->nearer : 0};
    if (in_l2)
        b.below = fmax(b.below, hits_limit(l2->hit, l2->miss));
    const uint64_t bytes =
        whole_ring(lab, facts, in_l2) / row->fine * row->fine;
    if (bytes == 0)
        return (struct cost){0};
    return traced(
        lab, &timing, &b,
        lab_text(lab, "trace %s bytes=%" PRIu64 " stride=%u warm=1 visits=1024",
                 level_ring(row), bytes, row->fine));
}

/* Loads that miss in a ring that is too large for the level: single ones,
 * slower than hits.  Where the next one does not hold what is far too large,
 * one by a quarter misses a third of its lines under any policy (random
 * victims: 1 - m = exp(-1.25 m)), and leaves none of them out. */
static struct cost ring_misses(struct lab *lab, struct level_costs *c,
                               const struct level_row *row)
{
    const struct fact_bracket *const facts = fact_bracket(lab, level_of(row));
    const enum level_id id = next_level(lab, level_of(row));
    const struct fact_bracket *const next = fact_bracket(lab, id);
    const uint64_t held = id == LEVEL_L2 ? surely_in_l2(next) : next->fits;
    const bool all_held = !next->present || facts->deep <= held;
    const unsigned stride = all_held ? row->coarse : row->fine;
    const uint64_t bytes = all_held ? facts->deep : held / stride * stride;
    if (!all_held && 4 * bytes < 5 * facts->overflows)
        return (struct cost){0};
    return traced_misses(
        lab, c, row,
        lab_text(lab, "trace %s bytes=%" PRIu64 " stride=%u warm=1 visits=1024",
                 row->load, bytes, stride));
}

/* So many loads that find a level empty, and the one before it.  They lie in
 * 64 KiB, and other such pieces of memory cost otherwise (H200: by two cycles,
 * standard deviation): as if a third of them lay anywhere. */
enum { COLD = 192, COLD_APART = 256, ALIKE = 3 };

static struct cost cold_loads(struct lab *lab, struct level_costs *c,
                              const struct level_row *row, int loads)
{
    return traced_misses(lab, c, row,
                         lab_text(lab,
                                  "trace %s bytes=%d stride=%d warm=0 "
                                  "visits=%d",
                                  row->load, loads * COLD_APART, COLD_APART,
                                  loads));
}

/* What was asked for before may have gone from a small L2, or from the few sets
 * that it has for what lies together: of one that is not known nobody knows, of
 * another it is so where loads cost nearer to what its misses do. */
static bool may_be_beyond_l2(struct lab *lab, const struct cost *misses)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    return lab_ok(lab) &&
           (!l2->present || misses->cycles > hits_limit(l2->hit, l2->miss));
}

/* An eighth as many, which lie in 6 KiB: what has a line in one set of eight,
 * of four ways, holds most of them.  The first time brings them in. */
static struct cost few_cold_loads(struct lab *lab, struct level_costs *c,
                                  const struct level_row *row)
{
    enum { PART = 8, TIMES = 2 };
    struct cost misses = {0};
    for (int i = 0; i < TIMES; i++)
        misses = cold_loads(lab, c, row, COLD / PART);
    return widened_by_lines(&misses, c, COLD / PART / ALIKE);
}

/* Such as find L2 not empty. */
static struct cost cold_misses(struct lab *lab, struct level_costs *c,
                               const struct level_row *row)
{
    const struct cost misses = cold_loads(lab, c, row, COLD);
    if (may_be_beyond_l2(lab, &misses)) {
        const struct cost few = few_cold_loads(lab, c, row);
        if (hits_cheaper(few.cycles, misses.cycles))
            return few;
    }
    return widened_by_lines(&misses, c, COLD / ALIKE);
}

/* Where runs of loads are timed: so many places, so far apart. */
enum { PLACES = 3, APART = 4 << 20, VISITS = 4096 };

/*
 * Lines that no load brought in before: beyond all earlier rings, and each run
 * elsewhere.  Laying the ring out has written them, hence the flush.  Windows
 * of 64 KiB: at least one page of any GPU, so that there is one TLB miss in a
 * window's lines.
 */
static struct cost memory_runs(struct lab *lab, const struct fact_bracket *l2,
                               uint64_t flush)
{
    const uint64_t stride = u64_max(fact_sure_line(lab, LEVEL_L2), 128);
    double at[PLACES];
    for (uint64_t i = 0; i < PLACES; i++)
        at[i] =
            lab_chase_mean(lab,
                           "chase %s bytes=%" PRIu64 " stride=%" PRIu64
                           " order=random window=65536 warm=0 flush=%" PRIu64
                           " visits=%d repeats=1 shift=%" PRIu64,
                           level_table[LEVEL_L2].load, 3 * VISITS * stride,
                           stride, flush, VISITS, 2 * l2->deep + i * APART)
                .cycles;
    const struct undisturbed u = undisturbed_within(at, PLACES, INFINITY);
    return lab_cost_of(lab, &u, NULL);
}

/* A load that waits, as for a refresh, waits no more than a tenth: rows are
 * refreshed for less than a tenth of the time, and who waits waits for half of
 * it. */
static const double waits_most = 0.1;

/*
 * What a load from memory costs on average: it waits for refreshes of its own,
 * which is no disturbance (H200, alone: a quarter of the loads).  What disturbs
 * any load is what it adds to hits of L2, which have nothing to wait for, and
 * as many of those are late.  Lines that L2 kept in most laps are not told from
 * others; they take no more off than those that it kept in few, which are.
 */
static struct cost memory_cost(struct lab *lab, const struct lapped *l,
                               const struct cost *disturbance)
{
    const double error = undisturbed_t(l->laps.cost.kept) * l->laps.mean_error;
    const struct undisturbed all = {.cycles = l->laps.mean,
                                    .low = l->laps.mean - error,
                                    .high =
                                        l->laps.mean + error + l->laps.early,
                                    .disturbed = disturbance->disturbed,
                                    .spread = l->laps.cost.spread};
    const struct cost mean = less_timing(lab, &all, l->experiment);
    struct cost c = less_disturbance(&mean, disturbance);
    const double waits = l->laps.cost.excess - disturbance->cycles;
    if (c.doubt == NULL &&
        waits - (c.high - c.cycles) > waits_most * c.cycles) {
        c.doubt = lab_text(lab, why_waits, 100 * waits / c.cycles);
        c.low = fmin(c.low, c.cycles - waits);
    }
    return c;
}

/* So much pushes out what L2 holds, though rings or the driver say too little.
 */
static uint64_t l2_flush(const struct lab *lab, const struct fact_bracket *l2)
{
    const int64_t told = lab->info->value[PROPERTY_L2_BYTES];
    return u64_max(4 * l2->overflows, told > 0 ? 3 * (uint64_t)told / 2 : 0);
}

/*
 * What L2's hits cost that are told from its misses; of both sides in the mean,
 * unless those of the far one cost nearly what misses on the near one do: to a
 * quarter of what these cost more.  Then near hits are, and what is kept far
 * is a miss here, which the sweep before leaves none of.
 */
static double told_hit(const struct lab *lab)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    const struct fact_sides *const sides = fact_sides(lab);
    const bool alone =
        sides->far_stays && sides->hit > 0 && 4 * sides->far > 3 * sides->miss;
    return alone ? sides->hit : l2->hit;
}

/* Lines that L2 keeps from lap to lap, whatever was loaded in between, cost
 * what a miss adds less: half of that tells them; and what costs as hits do is
 * kept in all laps, where what was loaded again stays.  Rings' averages hold
 * what disturbs, hits and misses alike: half-way between those undisturbed
 * misses lie that jitter makes early, and without them the mean is too high. */
static struct lapped memory_laps(struct lab *lab, const struct level_costs *c,
                                 const char *text)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    const double half = (l2->miss - l2->hit) / 2;
    const double late =
        fmin(l2->hit - c->hit[LEVEL_L2].cycles, c->disturbance.cycles);
    return lap_of(lab, half,
                  told_hit(lab) - fmax(late, 0) + half +
                      fact_trace(lab)->cycles,
                  l2->miss + HITS_WAIT_MOST, text);
}

/* Rings may have shown one part alone, and what is kept in the far one costs
 * nearly what a near miss does: then they cost less than on both sides at
 * first. */
static bool are_kept_far(struct lab *lab, const struct lapped *l)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    const double first = fact_sides(lab)->missing_cycles;
    return first > 0 && lab_ok(lab) &&
           l->laps.mean - fact_trace(lab)->cycles <
               first - alike * (l2->miss - l2->hit);
}

/* An index of bits from far above deals what lies together, as rings and what
 * is swept do, to some of L2's sets alone: in the others most lines stay from
 * lap to lap. */
static bool are_most_kept(struct lab *lab, const struct lapped *l)
{
    return lab_ok(lab) && 2 * (l->count + l->late) < l->seen;
}

/* Sizes of what rings showed that are swept before runs of loads; and before
 * any, where rings showed one part of two and lines stay that were hit before:
 * of an rrip of 19 ways twelve left one line of a hundred. */
enum { RUN_SIZES = 3, FAR_SIZES = 48 };

/* A longer sweep takes no more memory than that. */
static const uint64_t flush_most = (uint64_t)1 << 30;

/* Runs that cost less than single loads: what was swept may have left some of
 * their lines in L2. */
static bool may_be_kept(const struct cost *runs, double singles, double error)
{
    return runs->cycles < singles &&
           !runs_agree(runs->cycles, singles,
                       hypot(error, runs->high - runs->cycles));
}

static struct cost memory_misses(struct lab *lab, const struct level_costs *c)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    const char *const known = fact_sides(lab)->missing;
    const char *const state = "warm=0 flush=%" PRIu64 " shift=%" PRIu64;
    const char *const text = lines_of_l2(
        lab, 4 << 20, lab_text(lab, state, l2_flush(lab, l2), 2 * l2->deep));
    uint64_t flush = RUN_SIZES * l2->overflows;
    struct lapped l = memory_laps(lab, c, known[0] != '\0' ? known : text);
    if (are_kept_far(lab, &l) || are_most_kept(lab, &l)) {
        flush = FAR_SIZES * l2->overflows;
        l = memory_laps(lab, c,
                        lines_of_l2(lab, 4 << 20,
                                    lab_text(lab, state, flush, 2 * l2->deep)));
    }
    if (are_most_kept(lab, &l))
        lab_fail(lab, ERR_UNSUPPORTED, why_misses_alike);
    if (are_kept_far(lab, &l))
        lab_fail(lab, ERR_UNSUPPORTED, why_runs_contradict,
                 fact_sides(lab)->missing_cycles,
                 l.laps.mean - fact_trace(lab)->cycles);
    struct cost runs = memory_runs(lab, l2, flush);
    struct cost cost = memory_cost(lab, &l, &c->disturbance);
    cost.excess += late_adds(&l);
    const double singles = cost.cycles + cost.excess;
    const double error = error_of(lab, &l);
    if (may_be_kept(&runs, singles, error) &&
        FAR_SIZES * l2->overflows <= flush_most)
        runs = memory_runs(lab, l2, FAR_SIZES * l2->overflows);
    check_by_runs(lab, &cost, singles, error, &runs);
    return cost;
}

static struct cost report_memory(struct lab *lab, const struct level_costs *c)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    struct finding *const f = lab_finding(lab, "memory", "latency");
    if (!l2->present) {
        finding_none(f, "%s", l2->why);
        return (struct cost){0};
    }
    if (c->disturbance.experiment == NULL) {
        finding_none(f, "%s", lab_why_unknown(lab, "l2", "latency"));
        return (struct cost){0};
    }
    lab_cite(lab, f);
    const struct cost cost = memory_misses(lab, c);
    lab_uncite(lab);
    if (!lab_ok(lab))
        return (struct cost){0};
    finding_cost(f, &cost);
    say_protocol(f, &cost, level_table[LEVEL_L2].words,
                 "random lines, in windows of 64 KiB", false, false);
    finding_protocol(f, "page", value_text("translation in the TLB"));
    finding_protocol(f, "row", value_text("random lines of one window"));
    return cost;
}

static void report_shared(struct lab *lab, const char *space,
                          const char *attribute, const char *load)
{
    struct finding *const f = lab_finding(lab, "shared", attribute);
    const struct cost cost =
        lab_load_cost(lab, "space=%s bytes=1024 stride=32 warm=4", space);
    if (!lab_ok(lab))
        return;
    finding_cost(f, &cost);
    say_protocol(f, &cost, load, "sequential", true, true);
}

/* What one level could not be asked says why, and the others are asked. */
static bool excuse(struct lab *lab, const char *component,
                   const char *attribute)
{
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(lab_finding(lab, component, attribute), "%s", why);
    return why != NULL;
}

static struct cost checked_l1_misses(struct lab *lab,
                                     const struct level_costs *c)
{
    const struct cost cost = l1_misses(lab, c);
    if (lab_ok(lab) && cost.experiment != NULL)
        check_by_rings(lab, &cost);
    return cost;
}

/* A ring far too large may be too large for L2, as well, or for an L2 of which
 * nothing is known: then loads tell that find the SM empty, but of memory that
 * the thread has not written itself. */
static bool is_told_cold(struct lab *lab, const struct level_row *row,
                         const struct fact_bracket *facts)
{
    const struct fact_bracket *const l2 = fact_bracket(lab, LEVEL_L2);
    return row->behind != LEVEL_COUNT ||
           ((!l2->present || facts->deep > l2->fits) && row->bound == NULL &&
            !row->memory_is_own);
}

static struct cost misses_of(struct lab *lab, enum level_id id,
                             struct level_costs *c)
{
    const struct level_row *const row = &level_table[id];
    const struct fact_bracket *const facts = fact_bracket(lab, id);
    if (id == LEVEL_L2)
        return report_memory(lab, c);
    if (!facts->present)
        return (struct cost){0};
    if (id == LEVEL_L1)
        return checked_l1_misses(lab, c);
    if (is_told_cold(lab, row, facts))
        return cold_misses(lab, c, row);
    /* Nobody knows whether L2 has the ring. */
    if (row->memory_is_own && !fact_bracket(lab, LEVEL_L2)->present &&
        next_level(lab, id) == LEVEL_L2)
        return (struct cost){0};
    const struct cost few = ring_misses(lab, c, row);
    if (lab_ok(lab))
        return few;
    /* Lines that are shorter, an eighth of them, may fit. */
    return lab_excuse(lab) != NULL ? whole_ring_misses(lab, c, row)
                                   : (struct cost){0};
}

static void ask_levels(struct lab *lab, struct level_costs *c)
{
    for (int i = 0; lab_ok(lab) && i < LEVEL_COUNT; i++) {
        lab_about(lab, (size_t)i);
        c->hit[i] = report_hits(lab, &level_table[i], c);
        excuse(lab, level_table[i].component, "latency");
    }
    for (int i = 0; lab_ok(lab) && i < LEVEL_COUNT; i++) {
        const bool l2 = i == LEVEL_L2;
        lab_about(lab, (size_t)i);
        c->miss[i] = misses_of(lab, (enum level_id)i, c);
        c->refused[i] = excuse(lab, l2 ? "memory" : level_table[i].component,
                               l2 ? "latency" : "miss_penalty") &&
                        !l2;
    }
    lab_about(lab, LEVEL_COUNT);
}

static void ask_shared(struct lab *lab)
{
    report_shared(lab, "shared", "latency", "ld.shared.u32 by pointer");
    excuse(lab, "shared", "latency");
    report_shared(lab, "shared_indexed", "latency_indexed",
                  "mad.lo.u32, ld.shared.u32: by index");
    excuse(lab, "shared", "latency_indexed");
}

static void latency_run(struct lab *lab)
{
    struct level_costs c = {0};
    ask_levels(lab, &c);
    if (lab_ok(lab))
        ask_shared(lab);
    if (!lab_ok(lab))
        return;
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (!c.refused[i])
            report_penalty(lab, (enum level_id)i, &c);
    lab_show_l1(lab, "latency");
    lab_show_l1(lab, "miss_penalty");
}

const struct study study_latency = {
    .name = "latency",
    .question = "What does a dependent load cost, by where its data is?",
    .method = "Chains of pointer loads, unrolled, with the timer outside, at "
              "two lengths whose difference is free of overhead.",
    .reads = FACTS(FACT_TRACE, FACT_BRACKET, FACT_LINE, FACT_RINGS, FACT_SIDES),
    .answers = answers,
    .kernels = TEXTS("chase op=cg flush=1", "chase space=shared",
                     "chase space=shared_indexed"),
    .run = latency_run,
};
