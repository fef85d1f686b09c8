/*
 * How many TLBs show, by what loads cost that go over ever more places in turn:
 * as long as a TLB holds them, all loads cost what it costs.  What of an
 * address comes with that of another; and regions, which an entry covers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

/* ---- neighbours ------------------------------------------------------- */

/*
 * Mappings side by side, of which each place in the first half is asked about
 * once: nothing has ever translated it.  From a 32nd of a piece on up to 32
 * pieces.  Further rounds ask the first TLB, once more places in the other half
 * have pushed them out.
 */
enum { HALVINGS = 5, LOOKS = 3, ROUNDS = 24, HALF = 512, PUSHED = 480 };

static void write_looks(uint64_t off, struct buf *steps)
{
    const uint64_t whole = 1u << HALVINGS;
    const uint64_t block = u64_max(2 * off, whole);
    /* Those of smaller distances lie before, and the first has a block. */
    const uint64_t first = off <= whole / 2
                               ? (uint64_t)log2((double)off) * LOOKS + 1
                               : LOOKS * 2 * off / whole + 3 * LOOKS;
    buf_printf(steps, "%" PRIu64 ":1:0", off % whole);
    for (uint64_t i = 0; i < LOOKS; i++) {
        const uint64_t at =
            (first * whole + block - 1) / block * block + i * block;
        buf_printf(steps, ",%" PRIu64 ":1:0,!%" PRIu64 ":2:0", at, at + off);
    }
    /* An odd number of units apart, so that they come to all sets. */
    buf_printf(steps, ",%" PRIu64 ":%d:%" PRIu64, HALF * whole, PUSHED,
               whole + 1);
}

/* What a load costs that far from one whose page has just come, more than the
 * same load made again, which finds line and translation. */
static void ask_beside(struct tlb_question *q, size_t which)
{
    const uint64_t piece = q->t->places.piece;
    const struct tlb_places fine = {.piece = piece,
                                    .apart = piece,
                                    .pieces = 2 * HALF,
                                    .unit = piece >> HALVINGS};
    struct buf steps = {0};
    double excess[LOOKS * ROUNDS];
    write_looks((uint64_t)1 << which, &steps);
    const struct column c =
        tlb_ask(q, &fine, buf_string(&steps), "rounds=%d", ROUNDS);
    buf_free(&steps);
    if (c.count < 2 * LOOKS * ROUNDS)
        return;
    for (size_t i = 0; i < LOOKS * ROUNDS; i++)
        excess[i] = c.at[2 * i] - c.at[2 * i + 1];
    q->anew[which] = stats_median(excess, LOOKS);
    q->again[which] = stats_median(excess + LOOKS, LOOKS * (ROUNDS - 1));
}

void tlb_ask_neighbours(struct tlb_question *q)
{
    const uint64_t least = q->t->places.piece >> HALVINGS;
    double most = 0;
    size_t near = 0;
    q->lab->fresh = true;
    for (size_t i = 0; lab_ok(q->lab) && i < TLB_DISTANCES; i++) {
        ask_beside(q, i);
        most = fmax(most, q->anew[i]);
    }
    q->lab->fresh = false;
    /* The largest is that of a translation from nowhere. */
    while (near < HALVINGS && q->anew[near] < most / 4)
        near++;
    q->t->places.unit = least << near;
    q->t->places.jitter = HALVINGS - (unsigned)near;
}

/* The nearest place whose translation has not come with that of another; 0 if
 * that of all has, or if some that lies farther has: a page ends once, so what
 * was seen is something else that costs as much. */
static uint64_t page_of(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const double *const beside = level == 0 ? q->again : q->anew;
    const double late = tlb->middle - q->t->tlb[0].hit;
    size_t near = 0;
    while (near < TLB_DISTANCES && beside[near] < late)
        near++;
    for (size_t i = near; i < TLB_DISTANCES; i++)
        if (beside[i] < late) {
            tlb_none(q, level, TLB_PAGE, TLB_REACH, why_tlb_page_unclear);
            return 0;
        }
    return near < TLB_DISTANCES ? q->t->places.piece >> HALVINGS << near : 0;
}

/* ---- levels ----------------------------------------------------------- */

/* Loads of a lap that are timed. */
enum { LAPS_MOST = 40, TIMED_MOST = 256, TIMED_LEAST = 192, PARTS = 8 };

/* Laps over more and more places. */
struct laps {
    uint64_t places[LAPS_MOST];
    struct column cycles[LAPS_MOST];
    double mean[LAPS_MOST];
    size_t count;
};

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of all but a few on either side: what is disturbed is no part of it, and all
 * phases are in which a load meets a cache with a clock of its own. */
static double mean_of(const double *cycles, size_t count, double *spread)
{
    double *const sorted = xreallocarray(NULL, count, sizeof *sorted);
    memcpy(sorted, cycles, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    const size_t few = count / 20;
    double sum = 0, squares = 0;
    for (size_t i = few; i < count - few; i++) {
        sum += sorted[i];
        squares += sorted[i] * sorted[i];
    }
    const double kept = (double)(count - 2 * few), mean = sum / kept;
    if (spread != NULL)
        *spread = sqrt(fmax(squares / kept - mean * mean, 0));
    free(sorted);
    return mean;
}

/* Of few places all are timed, often; of many some, evenly spread. */
static void write_lap(struct buf *steps, uint64_t places)
{
    buf_printf(steps, "2x0:%" PRIu64 ":1,", places);
    if (places <= TIMED_MOST)
        buf_printf(steps, "%" PRIu64 "x!0:%" PRIu64 ":1",
                   1 + TIMED_LEAST / places, places);
    else
        for (uint64_t i = 0; i < PARTS; i++) {
            const uint64_t from = places * i / PARTS,
                           end = places * (i + 1) / PARTS;
            const uint64_t timed = TIMED_MOST / PARTS;
            buf_printf(steps, "%s!%" PRIu64 ":%" PRIu64 ":1", i > 0 ? "," : "",
                       from, timed);
            if (end - from > timed)
                buf_printf(steps, ",%" PRIu64 ":%" PRIu64 ":1", from + timed,
                           end - from - timed);
        }
}

static void lap(struct tlb_question *q, const struct tlb_places *p,
                uint64_t places, struct laps *l)
{
    struct buf steps = {0};
    write_lap(&steps, places);
    const struct column c = tlb_ask(q, p, buf_string(&steps), " ");
    buf_free(&steps);
    if (c.count == 0)
        return;
    l->places[l->count] = places;
    l->mean[l->count] = mean_of(c.at, c.count, NULL);
    l->cycles[l->count++] = c;
}

/* Laps whose costs are alike: [from, end). */
struct flat {
    size_t from, end;
    double cycles, error;
};

/* The same, or nearly, of what walks cost, which depends on their way. */
static bool alike(double a, double b, double first)
{
    const double few = assume(ASSUME_TLB_LEAST) / 2;
    return fabs(a - b) < fmax(few, assume(ASSUME_TLB_WALKS) * (a - first));
}

static void set_flat(struct flat *f, const struct laps *l, size_t from,
                     size_t end)
{
    *f = (struct flat){from, end, stats_median(l->mean + from, end - from), 0};
    for (size_t i = from; i < end; i++)
        f->error = fmax(f->error, fabs(l->mean[i] - f->cycles));
}

/* Two laps or more in a row that cost the same are what one TLB costs. */
static size_t find_flats(const struct laps *l, struct flat *flat, size_t most)
{
    size_t count = 0;
    for (size_t i = 0, end; i < l->count; i = end) {
        end = i + 1;
        while (end < l->count && alike(l->mean[end], l->mean[i], l->mean[0]))
            end++;
        const bool more =
            count == 0 ||
            l->mean[i] > flat[count - 1].cycles + assume(ASSUME_TLB_LEAST);
        if (!more && end - i > flat[count - 1].end - flat[count - 1].from)
            set_flat(&flat[count - 1], l, i, end);
        else if (more && end - i >= 2 && count < most)
            set_flat(&flat[count++], l, i, end);
    }
    return count;
}

/* Laps that noise moves are alike by chance only: where most laps are of no
 * flat, a TLB could hide. */
static bool are_told(const struct flat *flat, size_t flats, size_t laps)
{
    size_t alike = 0;
    for (size_t i = 0; i < flats; i++)
        alike += flat[i].end - flat[i].from;
    return 2 * alike > laps;
}

static bool half_miss(const struct column *c, double middle)
{
    size_t slow = 0;
    for (size_t i = 0; i < c->count; i++)
        slow += c->at[i] > middle;
    return 2 * slow > c->count;
}

/* Places of which half miss, to a 32nd: at random ones, since such as lie in a
 * row may come to some sets more than to others. */
static uint64_t about(struct tlb_question *q, const struct laps *l,
                      double middle)
{
    const struct tlb_places *const p = &q->t->places;
    size_t i = 0;
    while (i < l->count && !half_miss(&l->cycles[i], middle))
        i++;
    if (i == 0 || i == l->count)
        return i == 0 ? 1 : l->places[i - 1];
    uint64_t fit = l->places[i - 1] / 2,
             more = u64_min(2 * l->places[i], p->pieces);
    struct laps *const once = lab_alloc(q->lab, 1, sizeof *once);
    while (lab_ok(q->lab) && more - fit > 1 + fit / 32) {
        once->count = 0;
        lap(q, p, (fit + more) / 2, once);
        if (half_miss(&once->cycles[0], middle))
            more = (fit + more) / 2;
        else
            fit = (fit + more) / 2;
    }
    return fit;
}

static void set_levels(struct tlb_question *q, const struct laps *l)
{
    struct flat flat[TLBS_MOST + 1];
    const size_t flats = find_flats(l, flat, TLBS_MOST + 1);
    if (!are_told(flat, flats, l->count)) {
        q->unclear = true;
        return;
    }
    for (size_t i = flat[0].from; flats > 0 && i < flat[0].end; i++) {
        double spread;
        mean_of(l->cycles[i].at, l->cycles[i].count, &spread);
        q->sigma = fmax(q->sigma, spread);
    }
    for (size_t i = 0; i + 1 < flats; i++) {
        struct tlb_facts *const tlb = &q->t->tlb[q->t->levels++];
        const double more = flat[i + 1].cycles - flat[i].cycles;
        const double error = flat[i].error + flat[i + 1].error + 0.5;
        tlb->hit = flat[i].cycles;
        tlb->middle = (flat[i].cycles + flat[i + 1].cycles) / 2;
        tlb->about = about(q, l, tlb->middle);
        tlb_found(q, i, TLB_PENALTY, more);
        finding_interval(q->finding[i][TLB_PENALTY], more - error, more + error,
                         -1);
    }
}

/* What a neighbour costs that is neither a hit of the first TLB nor a miss: one
 * between holds too few regions for laps to show it. */
static bool hides_one(const struct tlb_question *q)
{
    const struct tlb_facts *const first = &q->t->tlb[0];
    for (size_t i = 0; q->t->levels > 0 && i < TLB_DISTANCES; i++)
        if (q->again[i] > assume(ASSUME_TLB_LEAST) &&
            q->again[i] < first->middle - first->hit)
            return true;
    return false;
}

void tlb_find_levels(struct tlb_question *q)
{
    struct tlb_places p = q->t->places;
    struct laps *const l = lab_alloc(q->lab, 1, sizeof *l);
    p.order = 0;
    if (p.jitter == 0)
        p.unit = p.apart;
    for (double n = 2; n <= (double)p.pieces && l->count + 1 < LAPS_MOST;
         n = fmax(n * sqrt(2), n + 1))
        lap(q, &p, (uint64_t)(n + 0.01), l);
    lap(q, &p, p.pieces, l);
    if (!lab_ok(q->lab))
        return;
    set_levels(q, l);
    if (!hides_one(q))
        return;
    q->unclear = true;
    q->t->levels = 0;
}

/* ---- regions ---------------------------------------------------------- */

/* A quarter more places than there are entries still fit, if two lie in a
 * region. */
enum { MORE = 4, MISSES = 10, SPIKES = 50, TAKES = 3 };

/* In a row, at that distance. */
static struct tlb_places close_places(const struct tlb_question *q,
                                      uint64_t distance)
{
    const uint64_t piece = q->t->places.piece;
    return (struct tlb_places){
        .piece = piece, .apart = u64_max(distance, piece), .unit = distance};
}

/* Loads of a lap over so many that miss. */
static size_t misses(struct tlb_question *q, size_t level, uint64_t distance,
                     uint64_t places, size_t *loads)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_places p = close_places(q, distance);
    struct buf steps = {0};
    size_t slow = 0;
    write_lap(&steps, places);
    const struct column c = tlb_ask(q, &p, buf_string(&steps), " ");
    buf_free(&steps);
    for (size_t i = 0; i < c.count; i++)
        slow += c.at[i] > tlb->middle;
    *loads = c.count;
    return slow;
}

static bool share_entries(struct tlb_question *q, size_t level,
                          uint64_t distance)
{
    size_t loads;
    const uint64_t about = q->t->tlb[level].about;
    const size_t slow =
        misses(q, level, distance, about + about / MORE + 2, &loads);
    return lab_ok(q->lab) && MISSES * slow < loads;
}

/* Loads that miss in laps over so many regions. */
static size_t all_misses(struct tlb_question *q, size_t level, uint64_t places)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_places p = close_places(q, tlb->region);
    size_t missed = 0;
    for (unsigned take = 0; lab_ok(q->lab) && take < TAKES; take++) {
        struct buf steps = {0};
        buf_printf(&steps, "2x0:%" PRIu64 ":1,!0:%" PRIu64 ":1", places,
                   places);
        const struct column c =
            tlb_ask(q, &p, buf_string(&steps), "take=%u", take);
        buf_free(&steps);
        for (size_t i = 0; i < c.count; i++)
            missed += c.at[i] > tlb->middle;
    }
    return missed;
}

/* One set with one too many misses once a lap at least; more than spikes, of
 * which there are so many for each place. */
static bool any_misses(struct tlb_question *q, size_t level, uint64_t places,
                       double spikes)
{
    const double expected = spikes * (double)places;
    return (double)all_misses(q, level, places) >
           expected + 4 * sqrt(expected) + TAKES - 1;
}

/*
 * As many regions in a row as fit: all entries, unless the index deals those in
 * a row to the sets unevenly.  Then fewer fit than of any at random, of which
 * half miss when there are about as many as entries.
 */
static void find_entries(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t error = tlb->about / 12 + 1;
    uint64_t fit = tlb->about / 2, more = tlb->about + tlb->about / MORE + 2;
    size_t loads;
    while (lab_ok(q->lab) && more - fit > 1 + error / 2) {
        const uint64_t middle = (fit + more) / 2;
        if (SPIKES * misses(q, level, tlb->region, middle, &loads) <= loads)
            fit = middle;
        else
            more = middle;
    }
    if (fit + error < tlb->about)
        return;
    fit -= error / 2;
    const double spikes =
        (double)all_misses(q, level, fit / 2) / (double)u64_max(fit / 2, 1);
    while (lab_ok(q->lab) && more - fit > 1)
        if (any_misses(q, level, (fit + more) / 2, spikes))
            more = (fit + more) / 2;
        else
            fit = (fit + more) / 2;
    if (lab_ok(q->lab) && fit + error >= tlb->about)
        tlb->entries = fit;
}

/* The page; then twice as far as long as both are of one entry. */
static void find_region(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    tlb->page = tlb->region = page_of(q, level);
    if (tlb->page == 0)
        return;
    tlb_found(q, level, TLB_PAGE, (double)tlb->page);
    while (lab_ok(q->lab) && tlb->region < q->t->places.apart &&
           share_entries(q, level, tlb->region))
        tlb->region *= 2;
    if (lab_ok(q->lab))
        tlb_found(q, level, TLB_REGION, (double)tlb->region);
    tlb->entries = 0;
    if (lab_ok(q->lab))
        find_entries(q, level);
}

/* The last first, which wants the most mappings. */
void tlb_find_regions(struct tlb_question *q)
{
    for (size_t i = q->t->levels; lab_ok(q->lab) && i-- > 0;)
        find_region(q, i);
}
