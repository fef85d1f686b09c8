/*
 * Roughly how much each cache holds: the region in which the other studies
 * look, found by doubling and halving (Groessler 2022, 3.2).
 *
 * Each size is loaded, and then chased in the same order; where the ring is
 * larger than the cache, the start of it is no longer there.  What all SMs
 * share a whole block sweeps, which is quick; an SM may have several copies of
 * what it has, so that only the warp that chases loads into its own.  The curve
 * of cost over size has a step where the cache ends.  It has a further one,
 * before, where a part of the cache is farther away than the rest (partitions
 * of an L2): seen by its slow loads, which cost less than those that miss.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/search.h"
#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "probe/guard.h"
#include "probe/run.h"
#include "study/assume.h"
#include "study/lab.h"
#include "study/script.h"

static const char *const parted[] = {"l1", "l2", NULL};
static const struct answer proposes[] = {
    {parted, "parts", ""},
    {0},
};

/* A far part is looked for with the commonest line. */
enum { COARSE = 128 };
/* Sweeps, or laps, after which a cache with random victims holds nearly what
 * fits. */
enum { SWEEPS_MOST = 64 };
/* Right after the loads of another process one sweep leaves parts of a ring
 * elsewhere: where that matters it is swept so often. */
enum { SWEEPS_BESIDE = 8 };

/* What is asked of a level, for the search's callback. */
struct bracket_question {
    struct lab *lab;
    const struct level_row *row;
    const struct fact_cached *cached;
    struct fact_bracket *facts;
    struct finding *parts; /* NULL: nothing is reported of the level */
    double limit;          /* cycles up to which a size fits … */
    double settles;        /* … and up to which more sweeps may make it fit */
    unsigned stride;       /* with which sizes are tried … */
    uint64_t shift;        /* … and where the rings begin */
    uint64_t overflows;    /* the smallest tried that settled, and misses */
    const char *spared;    /* why some could not be swept; NULL: all were */
    bool spares, unswept;  /* slow loads are asked for elsewise where they were
                              disturbed; those asked for last were */
    bool far_first; /* half of each ring is far, as dear as what misses near */
    uint64_t looks; /* of a sample of a ring; what is cheaper than so many … */
    double sampled_limit, told; /* … cycles hit, as this share of hits is */
};

/* Of a ring that is gone over in other steps less may be asked: another curve.
 */
static void show(const struct bracket_question *q, unsigned stride,
                 struct curve_seen seen)
{
    const struct curve_kind by_bytes = {
        stride == q->row->fine ? "latency"
                               : lab_text(q->lab, "stride %u", stride),
        "bytes", "B", "cycles"};
    lab_point(q->lab, q->row->component, "size", &by_bytes, seen);
}

/* What a load costs of a ring that is swept, or chased, `times` before. */
static double ring_cost(struct bracket_question *q, uint64_t bytes,
                        unsigned stride, unsigned times)
{
    char fill[LAB_FILL];
    lab_fill(q->row, times, fill);
    const struct cost c =
        lab_average(q->lab,
                    "chase %s bytes=%" PRIu64 " stride=%u shift=%" PRIu64
                    " %s visits=4096 repeats=1",
                    level_ring(q->row), bytes, stride, q->shift, fill);
    show(q, stride, (struct curve_seen){(double)bytes, c.cycles, c.experiment});
    return c.cycles;
}

/*
 * The same of a level behind another, which may keep more or less of a ring:
 * only the loads that are nearer to a miss than to a hit count, and what all
 * others cost is a hit.
 */
static double ring_cost_behind(struct bracket_question *q, uint64_t bytes,
                               unsigned times)
{
    const struct fact_bracket *const f = q->facts;
    const struct column c =
        lab_column(q->lab, "cycles",
                   "trace %s bytes=%" PRIu64 " stride=%u warm=%u visits=2048",
                   level_ring(q->row), bytes, q->stride, times);
    const double timed = fact_trace(q->lab)->cycles;
    const double least = hits_least_miss(c.at, c.count, f->hit, timed,
                                         hits_limit(f->hit, f->miss) + timed);
    const size_t slow = hits_above(c.at, c.count, least);
    return f->hit + (double)slow / (double)c.count * (f->miss - f->hit);
}

/* Beside others so many sweeps may take longer than a turn of ours: then it is
 * not known, 0. */
static double swept_cost(struct bracket_question *q, uint64_t bytes,
                         unsigned times)
{
    lab_spare(q->lab, times > 1);
    const double cycles = q->row->behind != LEVEL_COUNT
                              ? ring_cost_behind(q, bytes, times)
                              : ring_cost(q, bytes, q->stride, times);
    const char *const spared = lab_spared(q->lab);
    q->spared = spared != NULL ? spared : q->spared;
    return spared != NULL ? 0 : cycles;
}

/*
 * A size fits if its loads cost what hits cost.  Where some miss, but far from
 * all, the ring may only not have settled: a cache that picks its victims at
 * random keeps what was in it before, and throws out what has just come.  Then
 * it is swept more often.  What could not be swept often enough does not fit,
 * and does not overflow either.
 */
static int bracket_fits(void *context, const struct search_sizes *sizes,
                        bool *yes, struct error *err)
{
    struct bracket_question *const q = context;
    double settles = q->settles, cycles = 1;
    *yes = false;
    for (unsigned times = 1; lab_ok(q->lab) && times <= SWEEPS_MOST;
         times *= 8) {
        cycles = swept_cost(q, sizes->first, times);
        *yes = cycles > 0 && cycles <= q->limit;
        if (*yes || cycles == 0 || cycles >= settles)
            break;
        /* What fits has settled by three quarters and more each time. */
        settles = q->limit + (cycles - q->limit) * 0.5;
    }
    if (!*yes && cycles > 0)
        q->overflows = u64_min(q->overflows, sizes->first);
    return err->code;
}

static struct search search_bracket(struct bracket_question *q,
                                    const struct search_range *range)
{
    struct search search = {.state = SEARCH_NONE_FITS};
    q->overflows = UINT64_MAX;
    q->spared = NULL;
    if (lab_ok(q->lab))
        search_size(range, bracket_fits, q, &search, &q->lab->err);
    if (search.state != SEARCH_BRACKETED)
        return search;
    /* Where all that did not fit was disturbed there is no bracket. */
    if (q->overflows == UINT64_MAX)
        return (struct search){.state = SEARCH_NONE_FITS};
    search.overflows = q->overflows;
    return search;
}

/* ---- what a miss costs ------------------------------------------------- */

/* Where a ring that is far too large takes longer than a turn of ours, every
 * second, fourth or eighth of its elements tells what a miss costs, too. */
enum { THIN = 8 };

static double large_ring_cost(struct bracket_question *q, uint64_t bytes)
{
    double cycles;
    unsigned n = 1;
    do {
        lab_spare(q->lab, n < THIN);
        cycles = ring_cost(q, bytes, n * q->row->coarse, 1);
        n *= 2;
    } while (lab_spared(q->lab));
    return cycles;
}

/* The loads of a trace over `bytes` that are slower than `above`, and what they
 * cost as a chase would find it; none if they are less than a fifth, or than a
 * twelfth where the stride may be an eighth of a line: no more than chance
 * makes of what should be all of them, or one in eight. */
static struct column slow_loads(struct bracket_question *q, uint64_t bytes,
                                unsigned times, double above)
{
    const size_t share_least = q->row->of_sm ? 12 : 5;
    const unsigned thin = bytes >= q->facts->deep ? THIN : 1;
    char fill[LAB_FILL];
    lab_fill(q->row, times, fill);
    struct column c;
    unsigned n = 1;
    do {
        lab_spare(q->lab, n < thin || q->spares);
        c = lab_column(q->lab, "cycles",
                       "trace %s bytes=%" PRIu64 " stride=%u %s visits=2048",
                       level_ring(q->row), bytes,
                       n * (q->row->of_sm ? q->row->fine : COARSE), fill);
        n *= 2;
        q->unswept = lab_spared(q->lab) != NULL;
    } while (q->unswept && n <= thin);
    for (size_t i = 0; i < c.count; i++)
        c.at[i] -= fact_trace(q->lab)->cycles;
    const size_t slow = hits_between(c.at, c.count, above, INFINITY);
    c.count = share_least * slow > c.count ? slow : 0;
    return c;
}

/* Their mean, of near and far ones alike; 0 of none. */
static double mean_of_slow(struct bracket_question *q, uint64_t bytes,
                           unsigned times, double above)
{
    const struct column c = slow_loads(q, bytes, times, above);
    return c.count > 0 ? stats_trimmed_mean(c.at, c.count,
                                            assume(ASSUME_SPIKES_OF_AVERAGE))
                       : 0;
}

/* Slower than hits: by more than jitter, which is some cycles, and a few
 * percent where it grows with the cost. */
static double above_hits(const struct fact_bracket *facts)
{
    return facts->hit + fmax(8, 0.1 * facts->hit);
}

/* What a load costs of a ring that may be too large; where the cost of a miss
 * is not known, of those loads that are slower than hits. */
static double miss_cost_at(struct bracket_question *q, uint64_t bytes)
{
    const struct fact_bracket *const f = q->facts;
    if (!q->row->of_sm || q->cached->next_hit > 0)
        return large_ring_cost(q, bytes);
    const struct column c = slow_loads(q, bytes, 1, above_hits(f));
    return c.count > 0 ? undisturbed_of(c.at, c.count, 1).cycles : 0;
}

/*
 * True if that cost is a miss's and not, in part, a hit's.  Of a ring twice as
 * large as a cache with random victims a share m of the loads misses, where
 * 1 - m = exp(-2 m): 0.8.  Half is enough where a ring of twice the size costs
 * no more: then it is no mixture.
 */
static bool is_miss_cost(const struct bracket_question *q, double cycles,
                         int alike)
{
    const struct fact_bracket *const f = q->facts;
    const double more = q->cached->next_hit - f->hit;
    /* What was not in the next cache, or far away in it, made `next_hit`
     * dearer than misses are later. */
    if (q->row->of_sm && q->cached->next_hit > 0)
        return cycles >= f->hit + 0.8 * more ||
               (alike > 0 && cycles >= f->hit + 0.5 * more);
    return alike == (q->row->of_sm ? 1 : 2);
}

/*
 * Doubles from `bytes` until every load misses; `miss` and `deep` are the last
 * cost and size.  Of a cache that an SM has, a miss costs at least what
 * loads cost that go past it, and larger rings would miss the next cache, too.
 * Where that is not known, sizes in a row must cost the same, but for what
 * averages differ by, and clearly more than a hit: two of a cache behind
 * which an SM has another, three of one that is shared.  Of 256 times what
 * misses already all does, but for what disturbs: no larger ring tells more.
 */
enum { DEARER_MOST = 9 };

static bool find_miss_cost(struct bracket_question *q, uint64_t bytes)
{
    struct fact_bracket *const f = q->facts;
    double before = 0, cycles = f->hit;
    int alike = 0, dearer = 0;
    bool found = false;
    for (; lab_ok(q->lab) && !found && bytes <= q->row->most &&
           dearer < DEARER_MOST;
         bytes *= 2) {
        f->deep = bytes;
        cycles = miss_cost_at(q, bytes);
        const bool dear = hits_cheaper(f->hit, cycles);
        const bool same =
            fabs(cycles - before) < assume(ASSUME_AVERAGES_ALIKE) * before;
        dearer = dear ? dearer + 1 : 0;
        alike = dear && same ? alike + 1 : 0;
        found = is_miss_cost(q, cycles, alike);
        before = cycles;
    }
    if (lab_ok(q->lab))
        f->miss = cycles;
    return found;
}

/* What a miss may cost; rings may be so large that they miss the next cache,
 * too. */
static double miss_most(const struct bracket_question *q)
{
    return q->row->of_sm && q->cached->next_hit > 0
               ? (1 + assume(ASSUME_AVERAGES_NEAR)) * q->cached->next_hit
               : INFINITY;
}

/* What hits and misses cost: a ring of enough lines to spread over all slices
 * of a level that has them, and rings far too large, from `deep` on. */
static bool find_costs(struct bracket_question *q, uint64_t least,
                       uint64_t deep)
{
    struct fact_bracket *const f = q->facts;
    const double hit = ring_cost(q, least, q->stride, 1);
    if (!lab_ok(q->lab))
        return false;
    f->hit = f->plateau = hit;
    const bool found = find_miss_cost(q, deep);
    f->miss = fmin(f->miss, miss_most(q));
    return found;
}

/* ---- by samples -------------------------------------------------------- */

/*
 * The beginning of a ring is there after a sweep, however long, where what was
 * hit once is kept for longer; and an index that deals unevenly has some of a
 * ring miss long before the cache is full.  So what is left of a whole ring is
 * sampled: of as many bytes as are swept in their order, sector by sector, a
 * cache holds as many as it has room for, whatever its index, line and policy.
 * So it is of what all SMs share, and of constants behind the first cache, of
 * which what a module may hold is too little for rings that lie otherwise.
 */
enum { SAMPLED = 32, LOOKS = 1024, LOOKS_OF_TRIAL = 512 };
/* Where but half of the hits are told, so many: of shares that are half as
 * large, and divided by one, as much is known then. */
enum { LOOKS_OF_NEAR = 4 * LOOKS };
/* A look brings in two lines, with one that leads to the page, so that they are
 * a sixtieth of the ring at most. */
enum { BYTES_OF_LOOK = 32768, LEAD = 2048, WARPS = 8 };

static double share_left(struct bracket_question *q, uint64_t bytes)
{
    static const struct curve_kind by_samples = {"sample", "bytes", "B", ""};
    const uint64_t each = u64_within(1, bytes / BYTES_OF_LOOK, LOOKS_OF_TRIAL);
    const struct samples *const s =
        lab_probe(q->lab,
                  "overfill %s bytes=%" PRIu64 " stride=%d members=%" PRIu64
                  " looks=%" PRIu64 " trials=%" PRIu64 " settle=%d lead=%d "
                  "order=sequential warps=%u",
                  q->row->load, bytes, SAMPLED, bytes / SAMPLED, each,
                  (q->looks + each - 1) / each, 2, q->row->of_sm ? 0 : LEAD,
                  q->row->of_sm ? 1 : lab_warps(q->lab, WARPS));
    const struct column c = lab_column_counted(q->lab, s, "cycles");
    const double least = lab_least_miss(q->lab, q->row, &c, q->sampled_limit);
    const size_t left = c.count - hits_above(c.at, c.count, least);
    const double share =
        c.count > 0 ? (double)left / (double)c.count / q->told : 0;
    lab_point(q->lab, q->row->component, "size", &by_samples,
              (struct curve_seen){(double)bytes, share, s->experiment});
    return share;
}

/* A ring that is one and a half to three times as large. */
static uint64_t overfull_ring(uint64_t bytes)
{
    uint64_t ring = 2 * BYTES_OF_LOOK;
    while (2 * ring < 3 * bytes)
        ring *= 2;
    return ring;
}

/*
 * The share that is left of a ring of which neither too much nor too little is.
 * Of two thirds there are 1.5 times as many lines as there is room for: sets of
 * 16 ways to which they come by chance (Poisson) lack 0.7 % of theirs.  Of an
 * eighth the size has an error of sqrt(7 / 1024) = 8 %.  Where rings cannot be
 * larger or smaller, 6 % are lacking of nine tenths, and the error of a tenth
 * is sqrt(9 / 1024) = 9 %: still less than the eighth by which sizes must
 * differ.
 */
static const double share_most = 2 / 3.0, share_least = 1 / 8.0;
static const double share_at_all = 0.9, share_at_last = 0.1;

/* Sizes that rings tell are no eighth of what a cache has: where most is left
 * of a ring so much larger, its misses are not told from hits. */
enum { GROWS_MOST = 8 };

static double share_of_ring(struct bracket_question *q, uint64_t *ring)
{
    const uint64_t most = u64_min(q->row->most / 2, *ring * GROWS_MOST / 2);
    double share = share_left(q, *ring);
    const bool grow = share > share_most;
    while (lab_ok(q->lab) &&
           (grow ? share > share_most : share < share_least) &&
           *ring > 2 * BYTES_OF_LOOK && *ring <= most) {
        *ring = grow ? *ring * 2 : *ring / 2;
        share = share_left(q, *ring);
    }
    return share;
}

/*
 * An index of bits from far above deals so much in a row to some of its sets
 * alone: to half of them or fewer, where its bits are XORs.  A ring four times
 * as large says then that the cache has half as much room again, or more: four
 * standard errors where a third is left of the shorter one.  Where more would
 * be loaded than is simulated in a second it is not asked.
 */
enum { WIDER = 4, WIDEST = 16 << 20 };

static double share_of_wider(struct bracket_question *q, uint64_t *ring,
                             double share)
{
    while (lab_ok(q->lab) && WIDER * *ring <= WIDEST &&
           WIDER * *ring <= q->row->most) {
        const double wider = share_left(q, WIDER * *ring);
        if (2 * WIDER * wider < 3 * share)
            break;
        share = wider;
        *ring *= WIDER;
    }
    return share;
}

/* One that fits twice. */
static uint64_t half_ring(const struct bracket_question *q)
{
    uint64_t ring = 2 * LEAD;
    while (4 * ring <= q->facts->fits)
        ring *= 2;
    return ring;
}

/*
 * All of a ring is left that fits twice.  Where much of it seems gone that
 * costs as much as what misses nearer, as the far part of a cache does that is
 * farther than a miss costs more; and of what seems left much may be misses
 * then.
 */
static bool are_hits_told(struct bracket_question *q)
{
    return share_left(q, half_ring(q)) > share_at_all;
}

static void tell_by(struct bracket_question *q, double hit, double miss)
{
    q->looks = LOOKS;
    q->sampled_limit = hits_limit(hit, miss) + fact_trace(q->lab)->cycles;
    q->told = 1;
}

/* What loads of a ring cost that lie near, where half of it does. */
static double near_cost(struct bracket_question *q, uint64_t bytes)
{
    const struct column c = slow_loads(q, bytes, 1, 0);
    return c.count > 0 ? stats_quantile(c.at, c.count, 0.25) : 0;
}

/* There what is near tells, half-way between its hits and its misses: all else
 * costs more, be it far or gone.  It is half of what surely fits, or about
 * that. */
static bool tell_by_near(struct bracket_question *q)
{
    static const double near_least = 1 / 3.0, near_most = 2 / 3.0;
    const struct fact_bracket *const f = q->facts;
    const double hit = near_cost(q, f->fits / 2 / COARSE * COARSE);
    const double miss = near_cost(q, f->deep);
    if (!lab_ok(q->lab) || hit == 0 || !hits_cheaper(hit, miss))
        return false;
    tell_by(q, hit, miss);
    q->looks = LOOKS_OF_NEAR;
    q->told = share_left(q, half_ring(q));
    return lab_ok(q->lab) && q->told > near_least && q->told < near_most;
}

/* A line is told by rings of a size that is known to less than that (line.c).
 */
static const double RINGS_GIVE = 1.7;

/* What samples say, give or take; false if it is what rings do, but for an
 * eighth, which the others can do with, and chance (3.3 standard errors). */
struct sampled {
    double bytes, off;
};

static bool do_samples_differ(struct bracket_question *q, struct sampled *s)
{
    const struct fact_bracket *const f = q->facts;
    uint64_t ring = u64_min(overfull_ring(f->overflows), q->row->most);
    const double share = share_of_wider(q, &ring, share_of_ring(q, &ring));
    const double rings = (double)(f->fits + f->overflows) / 2;
    s->bytes = share * (double)ring;
    s->off = 3.3 * sqrt((1 - share) * share / LOOKS) * (double)ring;
    return lab_ok(q->lab) && share <= share_at_all && share >= share_at_last &&
           fabs(s->bytes - rings) > rings / 8 + s->off &&
           (!q->row->of_sm || s->bytes - s->off >= RINGS_GIVE * rings);
}

/* Where samples say another size, the bracket is what they say. */
static void correct_by_samples(struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    struct sampled s;
    if (f->near_fits > 0)
        return;
    tell_by(q, f->hit, f->miss);
    if (!q->far_first && !do_samples_differ(q, &s))
        return;
    if ((q->far_first || (!q->row->of_sm && !are_hits_told(q))) &&
        (!tell_by_near(q) || !do_samples_differ(q, &s)))
        return;
    f->fits = (uint64_t)(s.bytes - s.off) / SAMPLED * SAMPLED;
    f->overflows = (uint64_t)(s.bytes + s.off) / SAMPLED * SAMPLED;
    f->sampled = true;
}

/* ---- the far part ------------------------------------------------------ */

/* A ring larger by the root of 2 than what does not fit.  Where sizes between
 * could not be swept often enough that is far more than what fits, and would
 * not be half-way to two parts: then an eighth more than fits. */
static uint64_t somewhat_too_large(const struct bracket_question *q)
{
    const struct fact_bracket *const f = q->facts;
    const uint64_t most =
        q->spared != NULL ? f->fits + f->fits / 8 : UINT64_MAX;
    return u64_min(f->overflows, most) / 128 * 180;
}

/* Of a ring that is swept as often as a turn of ours has room for: one sweep
 * may have left parts of it elsewhere.  Where fewer sweeps than are wanted
 * leave no cheaper loads a far part may hide, and what was disturbed is relied
 * on. */
static double mean_of_slow_beside(struct bracket_question *q, uint64_t bytes,
                                  double above, double least)
{
    bool all = true;
    for (unsigned times = SWEEPS_BESIDE; lab_ok(q->lab) && times > 1;
         times /= 2) {
        q->spares = true;
        const double here = mean_of_slow(q, bytes, times, above);
        q->spares = false;
        if (!q->unswept && (all || (here > 0 && here < least)))
            return here;
        all = false;
    }
    return mean_of_slow(q, bytes, SWEEPS_BESIDE, above);
}

/*
 * True if what does not fit is still cheaper than a miss: slow loads of a ring
 * that is somewhat too large, by the root of 2, half-way to two parts, against
 * those of one that is far too large.  Averages are known to a percent or two,
 * and what goes to the far part costs half of a miss: 0.85 is past the doubt
 * and far from that.
 */
static bool has_far_part(struct bracket_question *q)
{
    const struct fact_bracket *const f = q->facts;
    const double above = hits_limit(f->hit, f->miss);
    const uint64_t larger = somewhat_too_large(q);
    double here = mean_of_slow(q, larger, 1, above);
    const double deep = mean_of_slow(q, f->deep, 1, above);
    /* Past the doubt, and far from a half. */
    const double least = f->hit + 0.85 * (deep - f->hit);
    if (here >= least && prober_guard(q->lab->prober)->leapt)
        here = mean_of_slow_beside(q, larger, above, least);
    return here > 0 && here < least;
}

/* Where a ring begins changes which memory it lies in, and how evenly that is
 * spread over the slices of the cache: the far end is looked for at several
 * places. */
enum { PLACES = 5 };

/* A ring that is past the soft end of the near part, and well within two parts
 * that are alike: larger by a third. */
static uint64_t past_near(const struct fact_bracket *facts)
{
    return facts->near_overflows / 128 * 172;
}

static struct search far_end_at(struct bracket_question *q)
{
    const struct search_range range = {
        .least = past_near(q->facts),
        .most = 16 * q->facts->near_overflows,
        .granularity = COARSE,
        .relative = 256,
    };
    return search_bracket(q, &range);
}

/* The end of the near part more closely: the first bracket is wide. */
static void narrow_near(struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    const struct search_range range = {.least = f->fits,
                                       .most = f->overflows,
                                       .granularity = COARSE,
                                       .relative = 256};
    f->near_fits = f->fits;
    f->near_overflows = f->overflows;
    q->stride = COARSE;
    const struct search search = search_bracket(q, &range);
    if (lab_ok(q->lab) && search.state == SEARCH_BRACKETED) {
        f->near_fits = search.fits;
        f->near_overflows = search.overflows;
    }
}

/* Whether rings somewhat larger, by twice the first bracket's width, miss for
 * the most part: where victims are picked at random the cost rises slowly, and
 * its first rise is no end. */
static void ask_whether_soft(struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    const uint64_t beyond = (f->overflows + f->overflows / 16) / COARSE;
    const double cycles = ring_cost(q, beyond * COARSE, COARSE, 1);
    if (lab_ok(q->lab))
        f->soft = cycles < hits_limit(f->plateau, f->miss);
}

static void go_to_place(struct bracket_question *q, uint64_t i)
{
    q->shift = i * (q->facts->near_overflows >> 21 << 21) * 2;
}

/* What loads cost of a ring past the near part, in the middle of all places:
 * right after the loads of another process a place may be nearer than later. */
static double cost_at_places(struct bracket_question *q, uint64_t bytes)
{
    double cycles[PLACES];
    for (uint64_t i = 0; i < PLACES; i++) {
        go_to_place(q, i);
        cycles[i] = ring_cost(q, bytes, COARSE, 1);
    }
    go_to_place(q, 0);
    return stats_median(cycles, PLACES);
}

/* The far end at all places, where loads of the far part cost so much, and what
 * holds all of their brackets. */
struct ends {
    bool found; /* at each place */
    double plateau, at[PLACES];
    uint64_t fits, overflows;
};

static void set_far_limit(struct bracket_question *q, double plateau)
{
    q->facts->plateau = plateau;
    q->limit =
        plateau + FAR_MISSES_PERCENT / 100.0 * (q->facts->miss - plateau);
    q->settles = 0;
}

static void find_ends(struct bracket_question *q, double plateau,
                      struct ends *e)
{
    if (!lab_ok(q->lab))
        return;
    e->plateau = plateau;
    set_far_limit(q, plateau);
    for (uint64_t i = 0; i < PLACES; i++) {
        go_to_place(q, i);
        const struct search s = far_end_at(q);
        if (!lab_ok(q->lab) || s.state != SEARCH_BRACKETED)
            return;
        e->at[i] = (double)s.fits;
        e->fits = i == 0 ? s.fits : u64_min(s.fits, e->fits);
        e->overflows = u64_max(s.overflows, e->overflows);
    }
    e->found = true;
}

/* Ends that lie so far apart are not that of one cache. */
static bool are_scattered(const struct ends *e)
{
    return !e->found || e->overflows > e->fits / 4 * 5;
}

/*
 * The end of the far part: the largest ring whose start is still there when
 * its end has come in, by the cost of the far part and a tenth of what a miss
 * costs more.  The middle of several places is the size, the bracket holds
 * them all.
 *
 * Beside another process one sweep may leave much of the first ring nearer at
 * most places (H200: 436 to 500 cycles for 510), so that the ends are those of
 * that; of one larger by a quarter, which two parts that are alike still hold,
 * it does not.
 */
static void find_far_end(struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    struct ends ends = {0}, again = {0};
    narrow_near(q);
    const uint64_t ring = past_near(f);
    const double plateau = cost_at_places(q, ring);
    find_ends(q, plateau, &ends);
    if (lab_ok(q->lab) && prober_guard(q->lab->prober)->leapt &&
        are_scattered(&ends)) {
        const double larger = cost_at_places(q, ring / 512 * 640);
        find_ends(q, fmax(plateau, larger), &again);
        /* What could not be asked then tells no less than before. */
        if (ends.found && lab_excuse(q->lab) != NULL)
            again.found = false;
    }
    const struct ends *const e = again.found ? &again : &ends;
    if (!e->found)
        return;
    f->fits = e->fits;
    f->overflows = e->overflows;
    f->far_end = (uint64_t)stats_median(e->at, PLACES);
    set_far_limit(q, e->plateau);
    go_to_place(q, PLACES - 1);
    ask_whether_soft(q);
}

/*
 * Of rings that fit a fair share costs as much as misses: the far part is half
 * of each from the first on, where nothing that is far is copied, and its hits
 * are as dear as near misses.  Then what is somewhat too large is the whole.
 */
static bool is_far_from_the_first(struct bracket_question *q)
{
    const struct fact_bracket *const f = q->facts;
    const struct column c = slow_loads(q, f->fits / 2 / COARSE * COARSE, 1,
                                       hits_limit(f->hit, f->miss));
    return lab_ok(q->lab) && c.count > 0;
}

/* What a far part adds, and the least that a miss is told by, is half of what a
 * miss does (is_miss_cost): half of that is as near to nothing as to it. */
static bool is_much(double excess, double more)
{
    return 4 * excess >= more;
}

/* What disturbs a load by a quarter of what a miss adds may look like a far
 * part, or hide one; and where most loads were late, others were taken for what
 * they cost, and it seems to be less than nothing. */
static bool are_parts_hidden(struct bracket_question *q)
{
    const struct fact_bracket *const f = q->facts;
    const double excess = fabs(f->excess), more = f->miss - f->hit;
    if (!is_much(excess, more))
        return false;
    finding_none(q->parts, why_averages_blurred, excess, more);
    return true;
}

/* Then rings of both parts cost as much more than those of one as half of them
 * does, or less than those that were far; and their far end is where they, in
 * part, miss: it is not looked for. */
static bool may_be_far_from_the_first(const struct bracket_question *q)
{
    const struct fact_bracket *const f = q->facts;
    return is_much(fabs(f->hit - q->cached->hit), f->miss - f->hit);
}

static void report_parts(struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    if (are_parts_hidden(q))
        return;
    /* What an SM has for itself is as near to it as all of it. */
    bool far = !q->row->of_sm && has_far_part(q);
    const struct fact_bracket one = *f;
    if (far && may_be_far_from_the_first(q))
        q->far_first = is_far_from_the_first(q);
    if (far && !q->far_first)
        find_far_end(q);
    if (lab_ok(q->lab) && far && f->far_end == 0 && !q->far_first)
        q->far_first = is_far_from_the_first(q);
    if (q->far_first) {
        *f = one;
        far = false;
    }
    if (!lab_ok(q->lab))
        return;
    finding_measured(q->parts, far ? 2 : 1);
    finding_protocol(q->parts, "near_bytes",
                     value_number((double)(far ? f->near_fits : f->fits)));
}

/* ---- levels ------------------------------------------------------------ */

/*
 * From which cost on a size no longer fits: above what jitter does, and the
 * choice of slices, what other warps' sweeps leave out and what the level
 * before keeps, where there are such; but not so much that a good part of the
 * loads could miss.  Of a chase without sweeps in a level without slices jitter
 * alone is left.  The clock's steps are a cycle or two.  A ring of which more
 * than 0.7 misses is not about to settle: half as much again as fits, under
 * random victims (1 - m = exp(-1.5 m)), misses 0.58.
 */
static void set_limit(struct bracket_question *q)
{
    const double hit = q->facts->hit, more = q->facts->miss - hit;
    const double noise = q->row->of_sm
                             ? fmax(assume(ASSUME_NOISE_CHASED) * hit, 1.5)
                             : fmax(assume(ASSUME_NOISE_SWEPT) * hit, 2);
    q->limit = hit + fmin(noise, 0.1 * more);
    q->settles = hit + 0.7 * more;
}

/* The bracket of the first step of the curve. */
static struct search find_knee(struct bracket_question *q, uint64_t least,
                               uint64_t most)
{
    const struct search_range range = {
        .least = least, .most = most, .granularity = q->stride, .relative = 32};
    return search_bracket(q, &range);
}

/* Most spaces share the storage of L1: its bracket is tried before others. */
static bool l1_may_tell(const struct bracket_question *q)
{
    const struct fact_bracket *const l1 = fact_bracket(q->lab, LEVEL_L1);
    return q->facts != l1 && l1->overflows > 0 && q->row->of_sm &&
           l1->fits % q->stride == 0 && l1->overflows <= q->facts->deep;
}

static struct search find_knee_of(struct bracket_question *q, uint64_t least)
{
    const struct fact_bracket *const l1 = fact_bracket(q->lab, LEVEL_L1);
    set_limit(q);
    if (l1_may_tell(q)) {
        const struct search_range range = {.least = l1->fits,
                                           .most = l1->overflows,
                                           .granularity = UINT32_MAX};
        const struct search search = search_bracket(q, &range);
        if (search.state == SEARCH_BRACKETED)
            return search;
    }
    return find_knee(q, least, q->facts->deep);
}

static void keep_bracket(struct fact_bracket *facts,
                         const struct search *search)
{
    facts->fits = search->fits;
    facts->overflows = search->overflows;
    facts->present = true;
}

static void report_no_bracket(struct bracket_question *q, uint64_t least)
{
    struct fact_bracket *const f = q->facts;
    if (q->spared != NULL)
        snprintf(f->why, sizeof f->why, "%.255s", q->spared);
    else
        snprintf(f->why, sizeof f->why, why_rings_alike, least, f->deep);
    if (q->parts != NULL)
        finding_none(q->parts, "%s", f->why);
}

/* Doubling may have gone beyond a cache that lies behind and is hardly larger:
 * then what misses of a ring that is but an eighth too large costs far less;
 * less than `most`. */
static void ask_beside_edge(struct bracket_question *q, double most)
{
    struct fact_bracket *const f = q->facts;
    const uint64_t bytes = f->overflows / 8 * 9 / q->stride * q->stride;
    const struct column c = slow_loads(q, bytes, 1, above_hits(f));
    if (c.count == 0)
        return;
    const double cycles = undisturbed_of(c.at, c.count, 1).cycles;
    if (cycles < most) {
        f->miss = cycles;
        f->deep = bytes;
    }
}

/* So may it have gone beyond the near part of L2, of a space whose cold loads
 * found L2 far: where it went further than for L1, and misses of that, which
 * find the same L2, cost clearly less. */
static bool is_dearer_than_l1(const struct bracket_question *q)
{
    const struct fact_bracket *const l1 = fact_bracket(q->lab, LEVEL_L1);
    return q->facts != l1 && l1->present && q->facts->deep > l1->deep &&
           hits_cheaper(l1->miss, q->facts->miss);
}

/* Where another cache lies behind, some of a ring may have missed that, too:
 * then the mean is clearly dearer than what most of them cost. */
static bool is_mixed(const struct bracket_question *q, double mean)
{
    return q->cached->next_hit == 0 && hits_cheaper(q->facts->miss, mean);
}

/* Single loads tell a miss's cost though lines be longer than the stride. */
static void refine_miss(struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    if (q->cached->next_hit == 0)
        ask_beside_edge(q, hits_limit(f->hit, f->miss));
    else if (is_dearer_than_l1(q))
        ask_beside_edge(q, 0.9 * f->miss);
    const double mean =
        mean_of_slow(q, f->deep, 1, hits_limit(f->hit, f->miss));
    if (lab_ok(q->lab) && mean > 0 && mean <= miss_most(q) &&
        !is_mixed(q, mean))
        f->miss = mean;
}

/* The size to begin with, which every such cache has; the first that may miss
 * is twice that, or what L1 was found to miss with. */
static uint64_t least_of(const struct level_row *row)
{
    if (!row->of_sm)
        return 32768;
    return row->bound != NULL ? 256 : 1024;
}
static uint64_t first_deep(const struct bracket_question *q)
{
    const struct fact_bracket *const l1 = fact_bracket(q->lab, LEVEL_L1);
    return q->facts != l1 && q->row->of_sm && q->row->bound == NULL &&
                   l1->present
               ? l1->deep
               : 2 * least_of(q->row);
}

/* Averages hold what disturbs: where that is a quarter of what a miss adds they
 * tell no size, and maybe not this cache from the next.  What all SMs share may
 * have a far part, whose hits cost more, too. */
static bool is_blurred(const struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    const double excess = f->hit - q->cached->hit, more = f->miss - f->hit;
    if (!q->row->of_sm || !is_much(excess, more))
        return false;
    snprintf(f->why, sizeof f->why, why_averages_blurred, excess, more);
    if (q->parts != NULL)
        finding_none(q->parts, "%s", f->why);
    return true;
}

/* Whether anything disturbs what an SM has for itself, by more than averages
 * are known to, in any space. */
static bool is_disturbed(const struct bracket_question *q)
{
    double excess = fabs(q->facts->hit - q->cached->hit);
    for (enum level_id id = 0; id < LEVEL_COUNT; id++)
        if (level_table[id].of_sm)
            excess = fmax(excess, fabs(fact_cached(q->lab, id)->excess));
    return q->row->of_sm && excess >= 1;
}

/* True if a ring fits of which a third misses under any policy, half of which
 * is the limit; as disturbance makes loads late, the least of some averages
 * tells. */
static bool fits_at_least_once(struct bracket_question *q, uint64_t bytes,
                               unsigned stride)
{
    enum { AVERAGES = 3 };
    const struct fact_bracket *const f = q->facts;
    double least = INFINITY;
    for (int i = 0; i < AVERAGES; i++)
        least = fmin(least, ring_cost(q, bytes, stride, 1));
    return lab_ok(q->lab) && least <= f->hit + (f->miss - f->hit) / 6;
}

/*
 * True if a ring half as large again as what overflows fits: then that did,
 * too, and was disturbed.  Of long lines but one element of many misses, and
 * elements farther apart leave lines out: so those of every distance must fit.
 */
static bool is_contradicted(struct bracket_question *q)
{
    struct fact_bracket *const f = q->facts;
    const uint64_t larger = 3 * (f->overflows / q->stride) / 2 * q->stride;
    if (!is_disturbed(q) || larger > q->row->most)
        return false;
    for (unsigned stride = q->stride; stride <= q->row->coarse; stride *= 2)
        if (!fits_at_least_once(q, larger / stride * stride, stride))
            return false;
    snprintf(f->why, sizeof f->why, why_bracket_contradicted, f->overflows,
             larger);
    if (q->parts != NULL)
        finding_none(q->parts, "%s", f->why);
    f->present = false;
    return true;
}

/* A level that loads reach first. */
static void ask_first(struct bracket_question *q)
{
    const uint64_t least = least_of(q->row);
    struct search search = {.state = SEARCH_ALL_FIT};
    const bool found = find_costs(q, least, first_deep(q));
    if (lab_ok(q->lab) && is_blurred(q))
        return;
    if (found)
        search = find_knee_of(q, least);
    if (!lab_ok(q->lab))
        return;
    if (search.state != SEARCH_BRACKETED) {
        report_no_bracket(q, least);
        return;
    }
    keep_bracket(q->facts, &search);
    /* Before: where a cache comes next misses cost less than what misses both.
     */
    if (q->parts == NULL)
        refine_miss(q);
    if (is_contradicted(q) || q->parts == NULL)
        return;
    report_parts(q);
    if (lab_ok(q->lab) && !q->row->of_sm)
        correct_by_samples(q);
}

/* So many loads of a trace may look like misses though all hit: three times the
 * spikes that are common; where a load is disturbed by more than a cycle, as
 * many as do of a ring that fits the level before, by chance. */
static double spikes_share(struct bracket_question *q)
{
    const struct fact_bracket *const f = q->facts;
    const double common = 0.01;
    if (f->excess < 1)
        return common;
    const struct column c = lab_column(
        q->lab, "cycles", "trace %s bytes=%u stride=%u warm=4 visits=2048",
        level_ring(q->row), 4 * q->stride, q->stride);
    const size_t slow =
        hits_above(c.at, c.count,
                   hits_limit(f->hit, f->miss) + fact_trace(q->lab)->cycles);
    const double share = (double)slow / fmax(1, (double)c.count);
    return fmax(common, share + 4 * sqrt(share / fmax(1, (double)c.count)));
}

/* Lines here and there, and as many of the rest as push them out of a cache in
 * front, be that LRU or random. */
enum { AGAIN_LINES = 16, AGAIN_LAPS = 4 };

/* Lines that only L2 has, where it holds all that may be loaded, since that
 * went through what lies before it; then the same ones behind a few others. */
static const char *again_script(struct bracket_question *q, enum level_id id,
                                uint64_t others)
{
    const unsigned apart = q->row->coarse;
    const struct segment lines = {0, AGAIN_LINES, apart};
    struct script s = {0};
    const size_t reader = script_reader(&s, "%s", level_table[id].reader);
    script_add(&s, &(struct script_step){
                       .laps = AGAIN_LAPS,
                       .reader = reader,
                       .places = {0, q->row->most / q->stride, q->stride}});
    script_time(&s, reader, lines);
    script_load(
        &s, reader,
        (struct segment){AGAIN_LINES * apart, others / SAMPLED, SAMPLED});
    script_time(&s, reader, lines);
    return script_text(&s, q->lab);
}

static bool is_cheaper_again(struct bracket_question *q, enum level_id id,
                             uint64_t others)
{
    const struct column c =
        lab_column(q->lab, "cycles", "visit %s", again_script(q, id, others));
    if (!lab_ok(q->lab) || c.count != 2 * AGAIN_LINES)
        return false;
    const struct undisturbed first = undisturbed_of(c.at, AGAIN_LINES, 1);
    const struct undisturbed second =
        undisturbed_of(c.at + AGAIN_LINES, AGAIN_LINES, 1);
    return hits_cheaper(second.high, first.low);
}

/*
 * Whether a cache before L2 answers what misses the level before.  Where a
 * space has a longer way to L2 its hits may cost what L2 does by the short one;
 * but a line that L2 has, where it will, is cheaper the second time only with a
 * cache before it: that is no farther part of L2.  That L2 kept it, and not
 * memory alone, is shown by loads that ask nothing but L2: those must cost the
 * same twice.
 */
static bool is_before_l2(struct bracket_question *q)
{
    const struct fact_bracket *const above =
        fact_bracket(q->lab, q->row->behind);
    if (hits_cheaper(q->facts->hit, fact_cached(q->lab, LEVEL_L2)->hit))
        return true;
    const uint64_t others = 2 * above->overflows;
    if (AGAIN_LINES * q->row->coarse + others > q->row->most)
        return false;
    return is_cheaper_again(q, level_of(q->row), others) &&
           !is_cheaper_again(q, LEVEL_L2, others) && lab_ok(q->lab);
}

/* Rings of four times what the level before holds miss it under nearly every
 * policy; what lies behind may hold less than that, but surely a ring that just
 * misses. */
static struct search find_knee_behind(struct bracket_question *q)
{
    const uint64_t edge =
        fact_bracket(q->lab, q->row->behind)->overflows / q->stride * q->stride;
    const uint64_t least = u64_min(4 * edge, q->row->most);
    const struct search search = find_knee(q, least, q->row->most);
    return search.state == SEARCH_NONE_FITS && q->spared == NULL
               ? find_knee(q, edge, q->row->most)
               : search;
}

/* A level that only what misses another reaches: what that costs is a hit here,
 * unless it is what a load costs that finds the SM empty. */
static void ask_behind(struct bracket_question *q)
{
    const struct fact_bracket *const above =
        fact_bracket(q->lab, q->row->behind);
    struct fact_bracket *const f = q->facts;
    f->hit = f->plateau = above->miss;
    f->miss = q->cached->cold;
    f->deep = q->row->most;
    snprintf(f->why, sizeof f->why, "%s",
             above->present ? why_behind_is_l2 : above->why);
    if (!above->present || !hits_cheaper(f->hit, f->miss) || !is_before_l2(q))
        return;
    if (above->overflows > q->row->most) {
        snprintf(f->why, sizeof f->why, why_behind_reached,
                 level_table[q->row->behind].component);
        return;
    }
    set_limit(q);
    q->limit = f->hit + spikes_share(q) * (f->miss - f->hit);
    const struct search search = find_knee_behind(q);
    if (!lab_ok(q->lab))
        return;
    if (search.state == SEARCH_NONE_FITS)
        report_no_bracket(q, above->overflows);
    else
        keep_bracket(f, &search);
    if (f->overflows > 0)
        correct_by_samples(q);
}

/* Only what holds global memory can have parts. */
static bool is_parted(const struct level_row *row)
{
    const enum level_id id = level_of(row);
    return id == LEVEL_L1 || id == LEVEL_L2;
}

static void size_bracket_ask_level(struct lab *lab, const struct level_row *row)
{
    struct fact_bracket *const facts = fact_bracket_write(lab, level_of(row));
    struct bracket_question q = {.lab = lab,
                                 .row = row,
                                 .cached = fact_cached(lab, level_of(row)),
                                 .facts = facts,
                                 .stride = row->fine};
    if (is_parted(row)) {
        q.parts = lab_finding(lab, row->component, "parts");
        lab_cite(lab, q.parts);
    }
    snprintf(facts->why, sizeof facts->why, why_size_not_found);
    facts->present = false;
    if (row->behind != LEVEL_COUNT)
        ask_behind(&q);
    else
        ask_first(&q);
}

/* Of other spaces nothing is reported; a fault costs the space that was asked,
 * and no other. */
static void ask_unreported(struct lab *lab, enum level_id id)
{
    struct fact_bracket *const facts = fact_bracket_write(lab, id);
    if (!fact_cached(lab, id)->present)
        return;
    lab_about(lab, id);
    size_bracket_ask_level(lab, &level_table[id]);
    lab_about(lab, LEVEL_COUNT);
    const char *const why = lab_excuse_fault(lab);
    if (why == NULL)
        return;
    facts->present = false;
    snprintf(facts->why, sizeof facts->why, "%.255s", why);
}

/* Until it is asked a level is where its loads are cached, but for those behind
 * others, which nobody has seen: a study that ends early leaves them not known.
 */
static void begin(struct lab *lab)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const struct fact_cached *const c = fact_cached(lab, (enum level_id)i);
        struct fact_bracket *const b =
            fact_bracket_write(lab, (enum level_id)i);
        *b = (struct fact_bracket){
            .present = c->present && level_table[i].behind == LEVEL_COUNT,
            .hit = c->hit,
            .excess = c->excess};
        memcpy(b->why, c->why, sizeof b->why);
    }
}

static void size_bracket_run(struct lab *lab)
{
    begin(lab);
    for (int i = 0; lab_ok(lab) && i < LEVEL_COUNT; i++)
        if (is_parted(&level_table[i]))
            lab_ask_level(lab, (enum level_id)i, "parts",
                          size_bracket_ask_level);
        else
            ask_unreported(lab, (enum level_id)i);
}

const struct study study_size_bracket = {
    .name = "capacity",
    .question = "Roughly where does each cache end, and is all of it alike?",
    .method = "Rings of doubling size are loaded and chased.  Where the first "
              "loads get slower the cache ends, or, if they are cheaper than "
              "misses, its near part.",
    .reads = FACTS(FACT_TRACE, FACT_CACHED),
    .proposes = proposes,
    .kernels = TEXTS("chase op=ca stride=32", "chase op=cg stride=32 sweep=1",
                     "chase op=ca", "chase op=cg sweep=1", "trace op=ca",
                     "trace op=cg sweep=1"),
    .run = size_bracket_run,
};
