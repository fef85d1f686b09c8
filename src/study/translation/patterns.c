/*
 * What a load costs by where its data and its translation are: Mei's patterns
 * (2014, table 3).
 *
 *     P1  data hit,  first TLB hit
 *     P2  data hit,  first TLB miss, second hit
 *     P3  data hit,  both TLBs miss
 *     P4  data miss, first TLB hit
 *     P5  data miss, both TLBs miss
 *     P6  the page window is left
 *
 * Each is made on purpose.  Places of one line that is mapped at many addresses
 * (study tlb) push translations out of TLBs by loads past L1, which therefore
 * keeps the data that is asked for; data that is not there is lines of the same
 * memory that were never loaded since other memory was swept.  Where memory
 * cannot be mapped at many addresses, plain memory tells what hits the TLBs.
 *
 * Past L1 all loads of data that hits are of one line, and lines of L2 differ
 * by where they lie (H200: 262 cycles of one, 287 of another).  So what they
 * cost is that of L2's lines on average, and more by what this one cost more
 * where its translation was not there.  And walks differ by where their tables
 * lie: those of several pages are asked.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/num.h"
#include "probe/guard.h"
#include "probe/memory/access_script.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

static const struct answer answers[] = {
    {ONE("memory"), "patterns_ca", "cycles"},
    {ONE("memory"), "patterns_cg", "cycles"},
    {0},
};

enum { P1, P2, P3, P4, P5, P6, PATTERNS };

/* Places that are asked about at once; how often; loads of each that is warm;
 * lines that were never loaded lie so far apart, in a part of the piece that
 * each of the two findings has for itself. */
enum {
    SUBJECTS = 4,
    TAKES = 24,
    TAKES_MOST = 96, /* where there is noise */
    AGAIN = 33,
    UNIT = 2048,
    NEW_LINES = 96,
    FRESH = 2 * NEW_LINES + 16 /* a part: of P4 and P5, and first lines of
                                  pages */
};

struct patterns_question {
    struct lab *lab;
    const struct fact_tlbs *t;
    const struct fact_memory *memory;
    const char *readers;
    bool cached;                  /* in L1, where that caches global loads */
    bool in_l1;                   /* … and it may */
    const char *experiment;       /* the last */
    uint64_t line;                /* within a unit: of all loads */
    uint64_t fresh;               /* units in the piece, used so far */
    double new_lines;             /* cycles of the lower tenth of P4 */
    struct cost cycles[PATTERNS]; /* of the places that were asked */
    double apart[PATTERNS];       /* others may cost so much less, or more */
    const char *why[PATTERNS];    /* NULL: it has cycles */
    struct finding *finding;
};

/* ---- places ----------------------------------------------------------- */

/* By units from the first mapping on. */
static uint64_t mapping(const struct patterns_question *q, uint64_t i)
{
    return i * (q->t->places.apart / UNIT);
}

/* As steps count: units of mappings; or, where there are none, bytes. */
static uint64_t place(const struct patterns_question *q, uint64_t unit)
{
    return q->t->places.pieces > 0 ? unit : unit * UNIT + q->line;
}

/* The place that the study of TLBs asked about. */
static uint64_t subject(const struct patterns_question *q)
{
    const struct tlb_places *const p = &q->t->places;
    if (p->pieces == 0)
        return 0;
    const struct access_script_places places = {p->apart, p->unit, p->order,
                                                p->jitter};
    return access_script_address(q->t->target, &places) / UNIT;
}

/* Adds loads of so many mappings, that many units into each: from the one after
 * the subject's, and so many more, round to the one before it. */
static void write_others(const struct patterns_question *q, uint64_t skip,
                         uint64_t count, uint64_t offset, struct buf *steps)
{
    const uint64_t pieces = q->t->places.pieces;
    const uint64_t from = (subject(q) / mapping(q, 1) + 1 + skip) % pieces;
    const uint64_t all = skip + 1 < pieces ? pieces - 1 - skip : 0;
    const uint64_t here = u64_min(u64_min(count, all), pieces - from);
    const uint64_t there = u64_min(count, all) - here;
    if (here > 0)
        buf_printf(steps, "%s1@%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                   steps->length > 0 ? "," : "", mapping(q, from) + offset,
                   here, mapping(q, 1));
    if (there > 0)
        buf_printf(steps, ",1@%" PRIu64 ":%" PRIu64 ":%" PRIu64, offset, there,
                   mapping(q, 1));
}

static struct column ask(struct patterns_question *q, struct buf *steps)
{
    const struct tlb_places *const p = &q->t->places;
    const struct column c =
        p->pieces == 0
            ? lab_column(q->lab, "cycles", "visit readers=%s steps=%s",
                         q->readers, buf_string(steps))
            : lab_column(q->lab, "cycles",
                         "visit readers=%s steps=%s piece=%" PRIu64
                         " pieces=%" PRIu64 " apart=%" PRIu64
                         " unit=%d line=%" PRIu64 " many=1",
                         q->readers, buf_string(steps), p->piece, p->pieces,
                         p->apart, UNIT, q->line);
    buf_free(steps);
    if (c.experiment != NULL)
        q->experiment = c.experiment;
    return c;
}

/* Others push the subject out of its set of the first TLB, in one lap of all
 * that are asked. */
static bool surely_push(const struct tlb_facts *first)
{
    return first->pushes > 0 &&
           (first->sets == 1 || first->pushers.count >= first->pushes);
}

/* One more than surely push the subject out; where as many may leave it in,
 * twice as many as there are entries, or those of its set that there are, of
 * which most miss in each of some laps. */
static void write_push_first(const struct patterns_question *q,
                             struct buf *steps)
{
    enum { LAPS = 3 };
    const struct tlb_facts *const first = &q->t->tlb[0];
    const struct tlb_places *const p = &q->t->places;
    const struct access_script_places places = {p->apart, p->unit, p->order,
                                                p->jitter};
    const uint64_t others =
        first->pushes > 0 ? first->pushes + 1 : 2 * first->entries;
    for (unsigned lap = 0; lap < (surely_push(first) ? 1 : LAPS); lap++) {
        if (first->sets == 1)
            write_others(q, 0, others, 0, steps);
        for (size_t i = 0; first->sets != 1 && i < first->pushers.count; i++)
            buf_printf(steps, ",1@%" PRIu64 ":1:0",
                       access_script_address(first->pushers.at[i], &places) /
                           UNIT);
    }
}

/* As many as push out of every TLB, whatever its policy, from all parts of the
 * piece that may be pages. */
static void write_push_all(const struct patterns_question *q, struct buf *steps)
{
    const struct fact_tlbs *const t = q->t;
    uint64_t most = 0;
    for (size_t i = 0; i < t->levels; i++)
        most = u64_max(most, t->tlb[i].about);
    const uint64_t wanted = 3 * most + 16;
    const uint64_t parts = (uint64_t)1 << t->places.jitter;
    const uint64_t each = u64_min(wanted, t->places.pieces - 1) / parts + 1;
    /* Each part's line is farther by a unit, so that they come to many sets of
     * a cache. */
    for (uint64_t i = 0; i < parts; i++)
        write_others(q, i * each, each, i * (t->places.unit / UNIT + 1), steps);
}

/* ---- the patterns ----------------------------------------------------- */

/* Misses vary, by what memory has open and how far it lies: of two sides as
 * many lines may be near as far, so that the middle one is either by chance.
 * Their mean is what a load costs; a tenth at each end is left out, as of
 * others some is late (an intruder's share that leaves lists at all).  How far
 * noise moves it is two of its deviations. */
static const double left_out = 0.1;

static struct cost cost_of_misses(const struct patterns_question *q,
                                  const double *cycles, size_t count)
{
    const double mean = stats_trimmed_mean(cycles, count, left_out);
    const double error =
        2 * q->memory->sigma / sqrt((1 - 2 * left_out) * (double)count);
    return (struct cost){
        .cycles = mean, .low = mean - error, .high = mean + error};
}

/* What noise alone moves; walks may take several ways, of which none is the
 * one.
 */
static struct cost cost_of_hits(const struct patterns_question *q,
                                const double *cycles, size_t count)
{
    const struct undisturbed u = undisturbed_of(cycles, count, 1);
    return 4 * u.kept < 3 * count ? cost_of_misses(q, cycles, count)
                                  : lab_cost_of(q->lab, &u, NULL);
}

typedef struct cost cost_of(const struct patterns_question *q,
                            const double *cycles, size_t count);

static void set_pattern(struct patterns_question *q, int pattern, cost_of *of,
                        const double *cycles, size_t count)
{
    const struct fact_cycles *const over = &q->memory->overhead;
    const struct cost more = {
        .cycles = over->cycles, .low = over->low, .high = over->high};
    if (count == 0)
        lab_fail(q->lab, ERR_UNSUPPORTED, why_no_quiet);
    if (lab_ok(q->lab)) {
        const struct cost timed = of(q, cycles, count);
        q->cycles[pattern] = lab_cost_less(&timed, &more);
    }
    finding_cite(q->finding, q->experiment);
}

/* Patterns that noise leaves open are not known: to a cycle or a hundredth,
 * which is no more than a list, which has no intervals, should hide; by three
 * deviations, since a list claims several at once. */
static void drop_noisy(struct patterns_question *q)
{
    for (int i = 0; i < PATTERNS; i++) {
        const struct cost *const c = &q->cycles[i];
        if (q->why[i] != NULL)
            continue;
        if (c->doubt != NULL)
            q->why[i] = c->doubt;
        /* 1.5 half widths of 95 % are three deviations */
        else if ((c->high - c->low) / 2 * 1.5 > fmax(1, 0.01 * c->cycles))
            q->why[i] = why_pattern_noise;
    }
}

/* How far the mean of so many places is from that of all, by two standard
 * errors. */
static double places_apart(const double *cycles, size_t count)
{
    return 2 * stats_trimmed_mean_error(cycles, count, left_out);
}

/* As many as leave three deviations of a mean half a cycle. */
static unsigned takes_of(const struct patterns_question *q)
{
    const double wanted = pow(3 * q->memory->sigma * 2, 2);
    return (unsigned)fmin(fmax(wanted, TAKES), TAKES_MOST);
}

/* The place again and again; the first load is left out. */
static void ask_warm(struct patterns_question *q)
{
    double all[TAKES_MOST * AGAIN];
    size_t kept = 0;
    for (unsigned take = 0; take < takes_of(q); take += TAKES) {
        struct buf steps = {0};
        buf_printf(&steps, "0@!%" PRIu64 ":%d:0", place(q, subject(q)), AGAIN);
        const struct column cycles = ask(q, &steps);
        for (size_t i = 1; i < cycles.count; i++)
            all[kept++] = cycles.at[i];
    }
    set_pattern(q, P1, cost_of_hits, all, kept);
}

/* What a load of the subject costs that the first TLB misses, at least. */
static double least_of_miss(const struct patterns_question *q)
{
    const struct tlb_facts *const first = &q->t->tlb[0];
    return q->cycles[P1].cycles + q->memory->overhead.cycles + first->middle -
           first->hit;
}

/* Noise of half of what a miss of the first TLB costs hides which loads miss.
 */
static double half_of_miss(const struct patterns_question *q)
{
    return q->t->tlb[0].middle - q->t->tlb[0].hit;
}

static bool is_blurred(const struct patterns_question *q)
{
    return half_of_miss(q) < 2 * q->memory->sigma;
}

/* Leaves out what the first TLB still had, in L2, where that tells; most it had
 * not, or others do not push it out.  Where noise hides which loads these are
 * what is left out would be misses: then none is, if the few that chance keeps,
 * (1 - 1/n)^3n of them, are worth half a cycle. */
static size_t drop_hits(struct patterns_question *q, double *cycles,
                        size_t count)
{
    const bool blurred = is_blurred(q);
    const double least = least_of_miss(q);
    size_t kept = 0;
    /* exp(-3): three laps, as above; half a cycle. */
    if (blurred && !surely_push(&q->t->tlb[0]) &&
        2 * half_of_miss(q) * exp(-3) > 0.5)
        q->why[P2] = why_pattern_noise;
    if (blurred && stats_median(cycles, count) > least)
        return count;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] > least)
            cycles[kept++] = cycles[i];
    if (2 * kept > count)
        return kept;
    q->why[P2] = why_pattern_unlike;
    return count;
}

/* Half of what a walk costs more than the second TLB, which it does of all data
 * alike: what the first one misses may cost more of L1's than of others. */
static double half_of_walk(const struct patterns_question *q)
{
    return q->t->tlb[1].middle - q->t->tlb[1].hit;
}

/* What a load costs at most that is not walked to: of data that may be in L1,
 * as most cost and half of a walk. */
static double most_of_second(const struct patterns_question *q,
                             const double *cycles, size_t count)
{
    const struct tlb_facts *const t = q->t->tlb;
    return q->in_l1 ? stats_median(cycles, count) + half_of_walk(q)
                    : q->cycles[P1].cycles + q->memory->overhead.cycles +
                          t[1].middle - t[0].hit;
}

/* Most are walked to if more than a mean leaves out cost less by half of a
 * walk; noise of a third of that hides it. */
static bool are_walked(struct patterns_question *q, const double *cycles,
                       size_t count)
{
    const double half = half_of_walk(q), middle = stats_median(cycles, count);
    if (half < 3 * q->memory->sigma)
        q->why[P2] = why_pattern_noise;
    return (double)hits_above(cycles, count, middle - half) <
           (1 - left_out) * (double)count;
}

/* What pushes out of the first TLB may push out of the second, too, as the
 * first load of each launch on a random GPU, and some are late: what the second
 * misses are others than it is asked for. */
static size_t drop_walked(struct patterns_question *q, double *cycles,
                          size_t count)
{
    const double most = most_of_second(q, cycles, count);
    const bool walked = q->in_l1 && are_walked(q, cycles, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] < most)
            cycles[kept++] = cycles[i];
    if (2 * kept > count && !walked)
        return kept;
    q->why[P2] = why_pattern_unlike;
    return count;
}

/*
 * What pushes out may not reach all entries, as of victims by chance or of
 * entries that cover several places: then some loads find what they should
 * miss, which adds no more than what the last TLB does to `found`, what loads
 * cost whose translation is there.  Of misses the lower tenth, too, costs a
 * quarter more of what a miss of it does: of places near to each other part of
 * what is walked through is there (H200: 0.6 of what it costs elsewhere).  A
 * mean leaves out as many and no more, and would be of both.
 */
static bool are_pushed_out(const struct patterns_question *q, double found,
                           const double *cycles, size_t count)
{
    const struct tlb_facts *const t = q->t->tlb;
    const struct tlb_facts *const last = &t[q->t->levels - 1];
    const double least = last->hit - t[0].hit + (last->miss - last->hit) / 4;
    return stats_quantile(cycles, count, left_out) - found >= least;
}

/* What is in L1 may need no translation: then it costs no more than a hit, and
 * nothing tells.  Not where some do and some do not: those were pushed out. */
static bool needs_translation(const struct patterns_question *q,
                              const double *cycles, size_t count)
{
    const double least = least_of_miss(q);
    if (!q->cached)
        return true;
    return is_blurred(q) ? stats_median(cycles, count) >= least
                         : hits_tally_of(hits_above(cycles, count, least),
                                         count) != TALLY_NONE;
}

/* Data that is there, after others have pushed its translation out.  It is
 * loaded more often each time, so that the caches' clock is met at other phases
 * (H200: 6 cycles, where a miss of the first TLB costs 10). */
static void ask_pushed_out(struct patterns_question *q, int pattern)
{
    double all[TAKES_MOST];
    size_t kept = 0;
    for (unsigned take = 0; lab_ok(q->lab) && take < takes_of(q);
         take += SUBJECTS) {
        struct buf steps = {0};
        for (unsigned i = 0; i < SUBJECTS; i++) {
            buf_printf(&steps, "%s0@%" PRIu64 ":%u:0", i > 0 ? "," : "",
                       subject(q), 2 + take / SUBJECTS + i);
            if (pattern == P2)
                write_push_first(q, &steps);
            else
                write_push_all(q, &steps);
            buf_printf(&steps, ",0@!%" PRIu64 ":1:0", subject(q));
        }
        const struct column cycles = ask(q, &steps);
        for (size_t i = 0; i < cycles.count && kept < TAKES_MOST; i++)
            all[kept++] = cycles.at[i];
    }
    if (pattern == P2 && kept > 0 && needs_translation(q, all, kept))
        kept = drop_walked(q, all, drop_hits(q, all, kept));
    if (pattern == P3 && kept > 0 && needs_translation(q, all, kept) &&
        !are_pushed_out(q, q->cycles[P1].cycles + q->memory->overhead.cycles,
                        all, kept))
        q->why[P3] = why_pattern_unlike;
    set_pattern(q, pattern, cost_of_hits, all, kept);
}

/* The first unit of a mapping that no sweep comes to last. */
static uint64_t own(const struct patterns_question *q, uint64_t i)
{
    if (q->t->places.pieces == 0)
        return 0;
    const uint64_t self = subject(q) / mapping(q, 1);
    return mapping(q, (self + 5 * i) % q->t->places.pieces);
}

enum { PAGES = 8 };

/* The cycles of one of the pages, of takes of all in turn: their middle one,
 * and how far they are apart. */
struct page_cost {
    double middle, apart;
};

static struct page_cost page_cost(const double *cycles, size_t count,
                                  size_t page)
{
    double take[TAKES_MOST / PAGES];
    size_t takes = 0;
    for (size_t k = page; k < count; k += PAGES)
        take[takes++] = cycles[k];
    return (struct page_cost){stats_median(take, takes),
                              stats_max(take, takes) - stats_min(take, takes)};
}

/* By how much pages differ, all and all but the cheapest and the dearest, and
 * how far the takes of any are apart. */
struct pages_cost {
    double all, most, takes;
};

static struct pages_cost pages_apart(const double *cycles, size_t count)
{
    double middles[PAGES], apart[PAGES];
    for (size_t i = 0; i < PAGES; i++) {
        const struct page_cost page = page_cost(cycles, count, i);
        middles[i] = page.middle;
        apart[i] = page.apart;
    }
    double *const sorted = stats_sorted(middles, PAGES);
    const struct pages_cost pages = {
        .all = sorted[PAGES - 1] - sorted[0],
        .most = sorted[PAGES - 2] - sorted[1],
        .takes = stats_max(apart, PAGES),
    };
    free(sorted);
    return pages;
}

/* What differs so much more from page to page than from take to take is no
 * noise: the walks of pages differ, none is the one, and their mean is what a
 * load costs.  But where one page alone is unlike, as one that was pushed out
 * of a level that others are in, it is what most cost. */
enum { UNLIKE = 4 };

static cost_of *cost_of_walks(const struct pages_cost *pages, size_t count)
{
    return count >= 2 * PAGES && pages->most > UNLIKE * (pages->takes + 1)
               ? cost_of_misses
               : cost_of_hits;
}

/* Not of a page that others did not push out, nor of as many that they leave by
 * chance as a mean does not leave out: it would be of both. */
static bool all_are_walked(const struct patterns_question *q,
                           const double *cycles, size_t count)
{
    const struct tlb_facts *const first = &q->t->tlb[0],
                                  *const last = &first[q->t->levels - 1];
    const double least = q->cycles[P1].cycles - first->hit + last->middle +
                         q->memory->overhead.cycles;
    for (size_t i = 0; i < PAGES; i++)
        if (page_cost(cycles, count, i).middle < least)
            return false;
    return (double)hits_above(cycles, count, least) >=
           (1 - left_out) * (double)count;
}

/* Data that L2 has, of several pages, after others have pushed all their
 * translations out. */
static void ask_walks(struct patterns_question *q)
{
    double all[TAKES_MOST];
    size_t kept = 0;
    for (unsigned take = 0; lab_ok(q->lab) && take < takes_of(q);
         take += PAGES) {
        struct buf steps = {0};
        write_push_all(q, &steps);
        for (unsigned i = 0; i < PAGES; i++)
            buf_printf(&steps, ",0@!%" PRIu64 ":1:0", own(q, i));
        const struct column cycles = ask(q, &steps);
        for (size_t i = 0; i < cycles.count && kept < TAKES_MOST; i++)
            all[kept++] = cycles.at[i];
    }
    const struct pages_cost pages =
        kept >= PAGES ? pages_apart(all, kept) : (struct pages_cost){0};
    set_pattern(q, P3, cost_of_walks(&pages, kept), all, kept);
    q->apart[P3] = pages.all;
    if (kept >= PAGES && lab_ok(q->lab) && !all_are_walked(q, all, kept))
        q->why[P3] = why_pattern_unlike;
}

/* What was loaded goes from the caches: memory of that many bytes is swept, and
 * of a small one more, since index bits above may deal it to half of its sets.
 */
static void sweep_caches(struct patterns_question *q)
{
    const struct fact_bracket *const l2 = fact_bracket(q->lab, LEVEL_L2);
    lab_probe(q->lab, "chase op=cg bytes=4096 flush=%" PRIu64,
              u64_max(4 * l2->overflows, 4 << 20));
}

/* Some lines that were swept over may have stayed, of sets that the sweep did
 * not come to: more than are left out of a mean make that of two levels one. */
static bool are_misses(const struct patterns_question *q, const double *cycles,
                       size_t count)
{
    double hit = 0, miss = 0;
    const struct finding *const l2 = lab_found(q->lab, "l2", "latency");
    const struct finding *const memory = lab_found(q->lab, "memory", "latency");
    if (l2 == NULL || memory == NULL || !finding_number(l2, &hit) ||
        !finding_number(memory, &miss))
        return true;
    const double middle = (hit + miss) / 2 + q->memory->overhead.cycles;
    return (double)hits_above(cycles, count, middle) >=
           (1 - left_out) * (double)count;
}

/* Lines that were never loaded, of a place whose translation is there. */
static void ask_new_lines(struct patterns_question *q)
{
    /* Of one page, which is no smaller than a unit of places; or than PAGE. */
    enum { PAGE = 4096 };
    const uint64_t page = u64_max(q->t->places.unit, PAGE) / UNIT;
    struct buf steps = {0};
    for (uint64_t i = 0; i < NEW_LINES; i++) {
        const uint64_t line = ++q->fresh;
        if (i == 0 || line % page == 0)
            buf_printf(&steps, "%s1@%" PRIu64 ":2:0", i > 0 ? "," : "",
                       place(q, own(q, 0) + line / page * page));
        if (line % page != 0)
            buf_printf(&steps, ",0@!%" PRIu64 ":1:0",
                       place(q, own(q, 0) + line));
    }
    const struct column cycles = ask(q, &steps);
    if (cycles.count > 0)
        q->new_lines = stats_quantile(cycles.at, cycles.count, left_out);
    if (cycles.count > 0 && !are_misses(q, cycles.at, cycles.count))
        q->why[P4] = q->why[P5] = why_pattern_kept;
    set_pattern(q, P4, cost_of_misses, cycles.at, cycles.count);
    if (lab_ok(q->lab))
        q->apart[P4] = places_apart(cycles.at, cycles.count);
}

/* A new line each time, of places that were pushed out. */
static void ask_new_pages(struct patterns_question *q)
{
    double all[NEW_LINES];
    size_t kept = 0;
    for (size_t i = 0; lab_ok(q->lab) && i < NEW_LINES; i += SUBJECTS * 2) {
        struct buf steps = {0};
        write_push_all(q, &steps);
        for (size_t j = 0; j < SUBJECTS * 2; j++)
            buf_printf(&steps, ",0@!%" PRIu64 ":1:0", own(q, j) + ++q->fresh);
        const struct column cycles = ask(q, &steps);
        for (size_t j = 0; j < cycles.count && kept < NEW_LINES; j++)
            all[kept++] = cycles.at[j];
    }
    if (kept > 0 && !are_pushed_out(q, q->new_lines, all, kept))
        q->why[P5] = why_pattern_unlike;
    set_pattern(q, P5, cost_of_misses, all, kept);
    if (lab_ok(q->lab))
        q->apart[P5] = places_apart(all, kept);
}

/* ---- the study -------------------------------------------------------- */

static void find_reasons(struct patterns_question *q)
{
    const struct fact_tlbs *const t = q->t;
    if (t->levels == 0)
        q->why[P2] = q->why[P3] = q->why[P5] =
            lab_why_unknown(q->lab, "tlb_l1", "entries");
    else if (t->levels == 1)
        q->why[P2] = q->why[P3] = q->why[P5] = why_tlb_only_one;
    else if (t->tlb[0].sets != 1 && t->tlb[0].pushers.count == 0)
        q->why[P2] = lab_why_unknown(q->lab, "tlb_l1", "sets");
    /* What misses all that are known may hit another. */
    if (t->cut_short)
        q->why[P3] = q->why[P5] = why_tlb_cut_short;
    if (q->memory->window == 0)
        q->why[P6] = why_no_window;
}

/* Walks read tables, which lie in L2: an H100's cost 1170 cycles for 800 where
 * another process had a turn since.  Asked last: its first turn may show late.
 */
static void drop_shared(struct patterns_question *q)
{
    if (!prober_guard(q->lab->prober)->leapt)
        return;
    if (q->why[P3] == NULL && !q->cached)
        q->why[P3] = why_pattern_shared;
    if (q->why[P5] == NULL)
        q->why[P5] = why_pattern_shared;
}

static void ask_patterns(struct patterns_question *q)
{
    ask_warm(q);
    if (q->why[P2] == NULL)
        ask_pushed_out(q, P2);
    if (q->why[P3] == NULL && (q->cached || q->t->places.pieces == 0))
        ask_pushed_out(q, P3);
    else if (q->why[P3] == NULL)
        ask_walks(q);
    sweep_caches(q);
    q->lab->fresh = true;
    ask_new_lines(q);
    if (q->why[P5] == NULL)
        ask_new_pages(q);
    q->lab->fresh = false;
    const struct fact_cycles *const window = &q->memory->window_cycles;
    q->cycles[P6] = (struct cost){
        .cycles = window->cycles, .low = window->low, .high = window->high};
}

static struct value item_of(const struct patterns_question *q, int pattern,
                            double cycles)
{
    return q->why[pattern] == NULL ? value_number(cycles) : (struct value){0};
}

static void report(struct patterns_question *q, const char *load)
{
    static const char *const data[] = {"hit",  "hit",  "hit",
                                       "miss", "miss", "-"};
    static const char *const tlb_l1[] = {"hit", "miss", "miss",
                                         "hit", "miss", "-"};
    static const char *const tlb_l2[] = {"-", "hit", "miss", "-", "miss", "-"};
    struct value list = value_list(), low = value_list(), high = value_list(),
                 a = value_list(), b = value_list(), c = value_list();
    struct buf because = {0};
    for (int i = 0; i < PATTERNS; i++) {
        const struct cost *const cost = &q->cycles[i];
        value_push(&list, item_of(q, i, cost->cycles));
        value_push(&low, item_of(q, i, cost->low - q->apart[i]));
        value_push(&high, item_of(q, i, cost->high + q->apart[i]));
        value_push(&a, value_text(data[i]));
        value_push(&b, value_text(tlb_l1[i]));
        value_push(&c, value_text(tlb_l2[i]));
        if (q->why[i] != NULL)
            buf_printf(&because, "%sP%d: %s", because.length > 0 ? "; " : "",
                       i + 1, q->why[i]);
    }
    finding_value(q->finding, STATUS_MEASURED, list);
    finding_protocol(q->finding, "load", value_text(load));
    finding_protocol(q->finding, "low", low);
    finding_protocol(q->finding, "high", high);
    finding_protocol(q->finding, "data", a);
    finding_protocol(q->finding, "tlb_l1", b);
    finding_protocol(q->finding, "tlb_l2", c);
    if (because.length > 0)
        finding_protocol(q->finding, "none", value_text(buf_string(&because)));
    buf_free(&because);
}

/* What L2 has must cost as much more as the study of TLBs found for what they
 * have: lines of it differ by more than a miss may cost. */
static void drop_unlike(struct patterns_question *q)
{
    const struct tlb_facts *const tlb = q->t->tlb;
    if (q->t->levels == 0)
        return;
    const struct tlb_facts *const last = &tlb[q->t->levels - 1];
    const double hit = q->cycles[P1].cycles - tlb[0].hit;
    const double second = q->cycles[P2].cycles - hit,
                 third = q->cycles[P3].cycles - hit;
    const double most = last->miss + (last->miss - last->hit) / 2;
    /* More than half as much again: its data was pushed out of L2, too. */
    const double missed = tlb[0].miss - tlb[0].hit;
    const double dearest =
        tlb[0].miss + fmax(missed / 2, assume(ASSUME_TLB_LEAST));
    if (q->why[P2] == NULL &&
        (second < tlb[0].middle || second > fmin(tlb[1].middle, dearest)))
        q->why[P2] = why_pattern_unlike;
    if (q->why[P3] == NULL && (third < last->middle || third > most))
        q->why[P3] = why_pattern_unlike;
}

/* In L1 what translation costs is not known but by what it costs together:
 * behind a miss of the first TLB half of a walk less than behind all misses, or
 * it was walked to.  Where it costs nothing it is not asked for. */
static void drop_walks(struct patterns_question *q)
{
    const double second = q->cycles[P2].cycles, third = q->cycles[P3].cycles;
    if (q->why[P2] == NULL && q->why[P3] == NULL &&
        second - q->cycles[P1].cycles > half_of_miss(q) &&
        third - second < half_of_walk(q))
        q->why[P2] = why_pattern_unlike;
}

/* Of lines of L2 on average, instead of the one that was asked about. */
static void be_of_all_lines(struct patterns_question *q)
{
    const struct finding *const l2 = lab_found(q->lab, "l2", "latency");
    const double one = q->cycles[P1].cycles;
    double cycles = 0;
    const bool known =
        l2 != NULL && finding_number(l2, &cycles) && l2->has_interval;
    for (int i = P1; i <= P3; i++) {
        struct cost *const c = &q->cycles[i];
        if (!known && q->why[i] == NULL)
            q->why[i] = lab_why_unknown(q->lab, "l2", "latency");
        if (!known)
            continue;
        c->cycles += cycles - one;
        c->low += cycles - one;
        c->high += cycles - one;
        q->apart[i] += fmax(cycles - l2->interval[0], l2->interval[1] - cycles);
    }
}

/* Lines of one page are more alike than those of memory: by as much as these
 * cost another than memory does on average others may, too. */
static void widen_misses(struct patterns_question *q)
{
    const struct finding *const memory = lab_found(q->lab, "memory", "latency");
    if (memory == NULL || !memory->has_interval || q->why[P4] != NULL)
        return;
    const double off = fabs(q->cycles[P4].cycles - memory->value.number) +
                       (memory->interval[1] - memory->interval[0]) / 2;
    q->apart[P4] += off;
    q->apart[P5] += off;
}

static void conclude(struct patterns_question *q, const char *load)
{
    drop_shared(q);
    drop_noisy(q);
    widen_misses(q);
    if (!q->cached)
        be_of_all_lines(q);
    for (int i = 0; i < PATTERNS; i++)
        if (q->why[i] == NULL) {
            report(q, load);
            return;
        }
    finding_none(q->finding, "%s", q->why[P1]);
}

/* False where they are known to go past it. */
static bool may_be_in_l1(const struct lab *lab)
{
    const struct finding *const f = lab_found(lab, "l1", "caches_global");
    return f == NULL || f->status != STATUS_MEASURED || f->value.number != 0;
}

static void patterns_ask(struct lab *lab, const char *attribute,
                         const char *readers, const char *load, uint64_t fresh,
                         const char *unlike[PATTERNS])
{
    struct patterns_question q = {
        .lab = lab,
        .t = fact_tlbs(lab),
        .memory = fact_memory(lab),
        .readers = readers,
        .cached = strcmp(attribute, "patterns_ca") == 0,
        .line = 128,
        .fresh = fresh,
        .finding = lab_finding(lab, "memory", attribute)};
    q.in_l1 = q.cached && may_be_in_l1(lab);
    memcpy(q.why, unlike, sizeof q.why);
    find_reasons(&q);
    ask_patterns(&q);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(q.finding, "%s", why);
    else if (lab_ok(lab)) {
        if (!q.cached)
            drop_unlike(&q);
        else if (q.in_l1)
            drop_walks(&q);
        memcpy(unlike, q.why, sizeof q.why);
        conclude(&q, load);
    }
}

static void patterns_run(struct lab *lab)
{
    if (!fact_memory(lab)->asked) {
        lab_refuse(lab, "*", why_memory_unknown, fact_memory(lab)->why);
        return;
    }
    const struct tlb_places *const p = &fact_tlbs(lab)->places;
    if (p->pieces > 0 && p->piece < (2 * FRESH + 1) * UNIT) {
        lab_refuse(lab, "*", why_small_pieces, p->piece);
        return;
    }
    const char *unlike[PATTERNS] = {0};
    patterns_ask(lab, "patterns_cg", "global.cg,global.cg", "ld.global.cg.u32",
                 0, unlike);
    if (lab_ok(lab))
        patterns_ask(lab, "patterns_ca", "global.ca,global.cg",
                     "ld.global.ca.u32", FRESH, unlike);
}

const struct study study_patterns = {
    .name = "patterns",
    .question = "What does a load cost, by where data and translation are?",
    .method = "Translations are pushed out of the TLBs by loads at other "
              "addresses of one line, data that misses was never loaded; each "
              "load is timed.",
    .reads = FACTS(FACT_BRACKET, FACT_MEMORY, FACT_TLBS),
    .reads_findings = TEXTS("l1.caches_global", "l2.latency", "memory.latency"),
    .answers = answers,
    .run = patterns_run,
};
