/*
 * What of an address comes with the translation of another: pages; regions,
 * which an entry covers; and how many of them there are.
 */
#include <math.h>

#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/num.h"
#include "base/rng.h"
#include "probe/memory/access_script.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

/* ---- neighbours ------------------------------------------------------- */

/*
 * Mappings side by side, of which each place in the first half is asked about
 * once: nothing has ever translated it.  From a 32nd of a piece on up to 32
 * pieces.  Further rounds ask the first TLB, once more places in the other half
 * have pushed them out.
 */
enum { HALVINGS = 5, LOOKS = 6, ROUNDS = 12, HALF = 1024, PUSHED = 480 };

/* Units from one of those that push out to the next, more than so many: a
 * prime, so that they come to all sets, whether an index takes bits or a
 * remainder. */
static uint64_t prime_above(uint64_t units)
{
    uint64_t divisor = 2;
    while (divisor < units + 1)
        if ((units + 1) % divisor == 0)
            units++, divisor = 2;
        else
            divisor++;
    return units + 1;
}

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
    buf_printf(steps, ",%" PRIu64 ":%d:%" PRIu64, HALF * whole, PUSHED,
               prime_above(whole));
}

/* Of shorter rounds each time, where others take turns, and at addresses where
 * nothing was ever translated: one place more is mapped anew. */
static struct column ask_looks(struct tlb_question *q, size_t which,
                               size_t *rounds)
{
    static const unsigned tries[] = {ROUNDS, ROUNDS / 2, 2, 2, 2};
    const uint64_t piece = q->t->places.piece;
    struct column c = {0};
    struct buf steps = {0};
    write_looks((uint64_t)1 << which, &steps);
    for (size_t i = 0; lab_ok(q->lab) && c.count == 0 && i < COUNT_OF(tries);
         i++) {
        q->mapped += i > 0;
        const struct tlb_places fine = {.piece = piece,
                                        .apart = piece,
                                        .pieces = 2 * HALF + q->mapped,
                                        .unit = piece >> HALVINGS};
        *rounds = tries[i];
        c = tlb_ask(q, &fine, buf_string(&steps), "rounds=%u", tries[i]);
    }
    buf_free(&steps);
    return c;
}

/* Pairs of a place and the same again, of which the second, a hit, is late by
 * more than the phases of a clock make it (H200: 13 cycles), say nothing: what
 * delays it, others that come in bursts, delayed the first one, too. */
static size_t keep_undisturbed(const double *cycles, size_t pairs, double hit,
                               double *excess)
{
    enum { LATE = 26 };
    size_t kept = 0;
    for (size_t i = 0; i < pairs; i++)
        if (cycles[2 * i + 1] <= hit + LATE)
            excess[kept++] = cycles[2 * i] - cycles[2 * i + 1];
    return kept;
}

static double hit_of(const double *cycles, size_t pairs)
{
    double again[LOOKS * ROUNDS];
    for (size_t i = 0; i < pairs; i++)
        again[i] = cycles[2 * i + 1];
    return undisturbed_of(again, pairs, 1).cycles;
}

/* What a load costs that far from one whose page has just come, more than the
 * same load made again, which finds line and translation.  A mean, since loads
 * meet the caches' clock at a few phases, and one between two of them is none.
 * False if too few pairs are undisturbed. */
static bool judge_beside(struct tlb_question *q, size_t which,
                         const double *cycles, size_t pairs)
{
    double anew[LOOKS], again[LOOKS * ROUNDS];
    const double hit = hit_of(cycles, pairs);
    const size_t first = keep_undisturbed(cycles, LOOKS, hit, anew);
    const size_t later =
        keep_undisturbed(cycles + 2 * LOOKS, pairs - LOOKS, hit, again);
    q->anew[which] = stats_median(anew, first);
    q->again[which] = stats_trimmed_mean(again, later, 0.1);
    q->beside += pairs;
    q->beside_late += pairs - first - later;
    return 2 * first > LOOKS && 2 * later > pairs - LOOKS;
}

/* Again where others disturbed it.  Of each distance, or of none. */
static void ask_beside(struct tlb_question *q, size_t which)
{
    enum { ASKED_MOST = 5 };
    bool told = false;
    for (int take = 0; lab_ok(q->lab) && !told && take < ASKED_MOST; take++) {
        size_t rounds = 0;
        q->mapped += take > 0;
        const struct column c = ask_looks(q, which, &rounds);
        const char *const why = lab_spared(q->lab);
        if (lab_ok(q->lab) && c.count != 2 * LOOKS * rounds)
            lab_fail(q->lab, ERR_UNSUPPORTED, "%s",
                     why != NULL ? why : why_tlb_page_unclear);
        if (lab_ok(q->lab))
            told = judge_beside(q, which, c.at, LOOKS * rounds);
    }
    if (lab_ok(q->lab) && !told)
        lab_fail(q->lab, ERR_UNSUPPORTED, why_disturbed,
                 100.0 * (double)q->beside_late / (double)q->beside);
}

/* A page ends once: so many of the nearest distances come along, and none of
 * the others, but for the fewest, *odd; one more, if that may be said of
 * another end.  A load may meet the caches' clock at a phase that costs as much
 * as a miss (H200). */
static size_t end_of_page(const bool *own, size_t *odd)
{
    size_t end = 0, least = TLB_DISTANCES + 1;
    for (size_t at = 0; at <= TLB_DISTANCES; at++) {
        size_t wrong = 0;
        for (size_t i = 0; i < TLB_DISTANCES; i++)
            wrong += own[i] != (i >= at);
        *odd = wrong < least ? wrong : *odd + (wrong == least);
        end = wrong < least ? at : end;
        least = u64_min(wrong, least);
    }
    return end;
}

/* True if the place has not come with the other in some TLB: of all the largest
 * cost is that of a translation from nowhere; and what the first TLB misses is
 * more than the cycle or two that a load elsewhere may cost. */
static bool is_its_own(const struct tlb_question *q, size_t which, double most)
{
    const double least = assume(ASSUME_TLB_LEAST);
    /* a mean of 60 strays by that much from the least that counts */
    return q->anew[which] >= fmax(most / 4, least) ||
           q->again[which] > 1.25 * least;
}

void tlb_ask_neighbours(struct tlb_question *q)
{
    const uint64_t least = q->t->places.piece >> HALVINGS;
    bool own[TLB_DISTANCES];
    double most = 0;
    size_t odd;
    q->lab->fresh = true;
    for (size_t i = 0; lab_ok(q->lab) && i < TLB_DISTANCES; i++) {
        ask_beside(q, i);
        most = fmax(most, q->anew[i]);
    }
    q->lab->fresh = false;
    for (size_t i = 0; i < TLB_DISTANCES; i++)
        own[i] = is_its_own(q, i, most);
    const size_t near = u64_min(end_of_page(own, &odd), HALVINGS);
    q->t->places.unit = least << near;
    q->t->places.jitter = HALVINGS - (unsigned)near;
}

/* What is more than a neighbour costs that comes with another: a load elsewhere
 * than the one before it may cost some cycles more (H200: 2). */
static double late_from(const struct tlb_question *q, size_t level,
                        const double *beside)
{
    const double late = q->t->tlb[level].middle - q->t->tlb[0].hit;
    const double least = stats_min(beside, TLB_DISTANCES);
    return least > 0 && least < late / 2 ? least + late : late;
}

/* One load of twenty is late: a median of six is so once in 500 times. */
static const double few_late = 0.05;

/* What costs far more the first time has not come along in the first TLB,
 * either, whether this loses it later or is too large for that.  Twice as much
 * as a phase of a clock makes of a median of six (H200: 13 cycles), nor is that
 * what is late, where few loads are. */
static bool was_walked(const struct tlb_question *q, size_t which, double late)
{
    enum { LEAST = 26 };
    return q->disturbed < few_late && q->anew[which] >= fmax(LEAST, late);
}

/* 32nds of a piece that all which push out reach over. */
static uint64_t pushed_over(void)
{
    return PUSHED * prime_above(1u << HALVINGS);
}

/* True if what lies half as near has come along in the first TLB: that is asked
 * for again when others have pushed it out, unless these reach over fewer pages
 * of that many 32nds of a piece than it has entries; and it hit the first time,
 * unless noise may say so: a median of six strays by half as much as a load,
 * and half of a miss is to be four deviations of that. */
static bool first_tells(const struct tlb_question *q, uint64_t near)
{
    const double late = q->t->tlb[0].middle - q->t->tlb[0].hit;
    const size_t half = near > 1 ? (size_t)__builtin_ctzll(near) - 1 : 0;
    return near * q->t->tlb[0].about <= pushed_over() ||
           (late > 2 * q->sigma && q->disturbed < few_late &&
            q->anew[half] < late);
}

/* True if by chance what has come along looks as if it had not: half of a miss
 * is not three deviations of what a place costs more than the same again. */
static bool noise_hides_pages(const struct tlb_question *q, size_t level,
                              bool first)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    /* a mean of many, or a median of six: of that π / 2 times the variance */
    const double error =
        q->sigma * sqrt(first ? 3.14 / 6 : 2.0 / (LOOKS * (ROUNDS - 1)));
    return tlb->middle - tlb->hit < 3 * error;
}

/* Distances, each of which has come along or not, `late` being half-way. */
struct ends {
    const double *beside;
    bool own[TLB_DISTANCES];
    double late, half; /* of a miss: it, and how much more than a hit that is */
};

/* False if what it costs is nearer to half of a miss than to either. */
static bool is_clear(const struct ends *e, size_t i)
{
    const bool walked = e->own[i] && e->beside[i] < e->late;
    return walked || fabs(e->beside[i] - e->late) > e->half / 2;
}

/* Places of one mapping are different lines, and a load of another line than
 * the one before it may meet the caches' clock at the same phase each time,
 * which costs half of a miss (H100: of three distances in 66).  Where a few
 * are so the page ends between two that are clear, if all clear ones say so;
 * returns more than there are distances if they do not. */
static size_t end_of_clear(const struct ends *e)
{
    enum { UNCLEAR_MOST = 3 };
    size_t end = 0, unclear = 0;
    while (end < TLB_DISTANCES && !(e->own[end] && is_clear(e, end)))
        unclear += !is_clear(e, end++);
    for (size_t i = end; i < TLB_DISTANCES; i++)
        if (!e->own[i] || !is_clear(e, i))
            return TLB_DISTANCES + 1;
    return unclear > UNCLEAR_MOST || end == TLB_DISTANCES ||
                   (end > 0 && !is_clear(e, end - 1))
               ? TLB_DISTANCES + 1
               : end;
}

/* Where it ends; more than there are distances if it is not clear.  Half of a
 * miss comes of some that the TLB had not lost, too. */
static size_t end_of(const struct ends *e)
{
    size_t odd, between = 0;
    const size_t end = end_of_page(e->own, &odd);
    for (size_t i = 0; i < end; i++)
        between += e->beside[i] > e->late - e->half / 2;
    return u64_max(odd, between) > 1 ? end_of_clear(e) : end;
}

/* Where all that is clear of what places cost the first time says that it ends,
 * whether or not the first TLB loses them later; more than there are distances
 * if that does not tell. */
static size_t end_by_first(const struct tlb_question *q)
{
    struct ends e = {.beside = q->anew,
                     .half = q->t->tlb[0].middle - q->t->tlb[0].hit};
    e.late = late_from(q, 0, e.beside);
    for (size_t i = 0; i < TLB_DISTANCES; i++)
        e.own[i] = e.beside[i] >= e.late;
    return q->disturbed < few_late && !noise_hides_pages(q, 0, true)
               ? end_of_clear(&e)
               : TLB_DISTANCES + 1;
}

/* The nearest place whose translation has not come with that of another, in
 * 32nds of a piece; 0 if that of all has, or if it is not clear. */
static uint64_t near_of(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    struct ends e = {.beside = level == 0 ? q->again : q->anew,
                     .half = tlb->middle - tlb->hit};
    e.late = late_from(q, level, e.beside);
    for (size_t i = 0; i < TLB_DISTANCES; i++)
        e.own[i] =
            e.beside[i] >= e.late || (level == 0 && was_walked(q, i, e.late));
    size_t end = end_of(&e);
    const bool noise = noise_hides_pages(q, level, level > 0);
    if (level == 0 && end >= TLB_DISTANCES && end_by_first(q) < TLB_DISTANCES)
        end = end_by_first(q);
    if (noise || end > TLB_DISTANCES) {
        tlb_none(q, level, TLB_PAGE, TLB_REACH,
                 noise ? why_tlb_unclear : why_tlb_page_unclear);
        return 0;
    }
    return end < TLB_DISTANCES ? (uint64_t)1 << end : 0;
}

static uint64_t region_before(const struct tlb_question *q, size_t level)
{
    uint64_t region = 0;
    for (size_t i = 0; i < level; i++)
        region = u64_max(region, q->t->tlb[i].region);
    return region;
}

static bool leaves_window(const struct tlb_question *q, uint64_t distance,
                          uint64_t places)
{
    return q->window > 0 && places * distance > q->window;
}

/* Pairs of neighbours and others that are loaded between these, by number; and
 * from where on all lines of the piece are loaded before. */
enum { PAIRS = 9 };
struct pairs {
    struct tlb_places places;
    uint64_t lines, first, apart, off, from, others, step, end;
};

/* Rows end before the first: what comes after was never translated. */
static struct pairs lay_pairs(const struct tlb_question *q, size_t level,
                              uint64_t off)
{
    enum { NEW = 2112 };
    const uint64_t piece = q->t->places.piece, whole = 1u << HALVINGS;
    const uint64_t region =
        u64_max(piece, region_before(q, level)) / piece * whole;
    const uint64_t window = u64_max(q->window, piece) / piece * whole;
    struct pairs p = {.off = off, .step = prime_above(region)};
    for (size_t i = 0; i < level; i++)
        p.others = u64_max(p.others, q->t->tlb[i].about * 3 / 2 + 4);
    p.first = (NEW * whole + window - 1) / window * window;
    p.apart = u64_max(2 * off, region);
    p.from = p.first + p.apart * PAIRS + p.step;
    p.end = p.from + p.step * p.others;
    p.places = (struct tlb_places){.piece = piece,
                                   .apart = piece,
                                   .pieces = p.end / whole + 1,
                                   .unit = piece >> HALVINGS};
    return p;
}

/* So many regions apart that as many multiples of it as that are of one set; 0:
 * none is. */
static uint64_t one_set_apart(const struct index_function *f, uint64_t count)
{
    enum { MOST = 1 << 12 };
    for (uint64_t apart = 1; apart < MOST; apart++) {
        bool same = true;
        for (uint64_t k = 1; same && k < count; k++)
            for (size_t i = 0; same && i < f->masks; i++)
                same = __builtin_parityll(f->mask[i] & k * apart) == 0;
        if (same)
            return apart;
    }
    return 0;
}

/* The same of which all come to one set of the TLB before, so that few others
 * push them out of it: pieces as large as two neighbours.  None if that has no
 * index that is known. */
static struct pairs lay_in_a_set(const struct tlb_question *q, size_t level,
                                 uint64_t off)
{
    enum { TIMES = 4 };
    const struct tlb_facts *const near = &q->t->tlb[level - 1];
    const uint64_t unit = off * (q->t->places.piece >> HALVINGS);
    struct pairs p = {.off = 1, .others = TIMES * near->ways};
    for (size_t i = 0; i + 1 < level; i++)
        p.others = u64_max(p.others, TIMES * q->t->tlb[i].about);
    const uint64_t all = PAIRS + p.others + 1;
    const uint64_t apart =
        q->index[level - 1] != NULL && q->window == 0
            ? one_set_apart(q->index[level - 1], all) * near->region
            : 0;
    if (apart == 0 || apart % unit != 0)
        return (struct pairs){0};
    p.apart = p.step = apart / unit;
    p.from = PAIRS * p.step;
    p.lines = p.end = p.from + p.step * p.others;
    p.places =
        (struct tlb_places){.piece = u64_max(2 * unit, q->t->places.piece),
                            .apart = apart,
                            .pieces = all,
                            .unit = unit};
    return p;
}

static struct column ask_pairs(struct tlb_question *q, const struct pairs *p)
{
    struct buf steps = {0};
    /* All lines of the piece are in the cache, so that translations tell. */
    buf_printf(&steps, "%" PRIu64 ":%" PRIu64 ":1", p->lines,
               p->places.piece / p->places.unit);
    for (uint64_t at = p->first; at < p->first + PAIRS * p->apart;
         at += p->apart)
        buf_printf(&steps,
                   ",%" PRIu64 ":1:0,%" PRIu64 ":%" PRIu64 ":%" PRIu64
                   ",!%" PRIu64 ":2:0",
                   at, p->from, p->others, p->step, at + p->off);
    q->lab->fresh = true;
    const struct column c = tlb_ask(q, &p->places, buf_string(&steps), " ");
    q->lab->fresh = false;
    buf_free(&steps);
    return c;
}

/* How many of them the level has; -1: that is not known. */
static int are_there(struct tlb_question *q, size_t level,
                     const struct pairs *p)
{
    const struct column c = ask_pairs(q, p);
    const double late = q->t->tlb[level].middle - q->t->tlb[0].hit;
    int there = 0;
    if (c.count != 2 * PAIRS)
        return -1;
    for (size_t i = 0; i < PAIRS; i++)
        there += c.at[2 * i] - c.at[2 * i + 1] < late;
    return there;
}

/*
 * What the TLBs before have is not asked for in this one; so others push it out
 * of those before the neighbour is loaded, and each pair has regions of its own
 * in those.  1: its translation has come along; 0: it has not; -1: so many
 * others may push it out of this one, too, or leave a window.
 */
static int came_along(struct tlb_question *q, size_t level, uint64_t off)
{
    enum { UNITS_MOST = 8191 << HALVINGS };
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    if (level == 0)
        return -1;
    struct pairs p = lay_pairs(q, level, off);
    const uint64_t unit = q->t->places.piece >> HALVINGS;
    /* A row of as many has left room for others. */
    if ((3 * p.others > 2 * tlb->about && q->row.count == 0) ||
        p.end >= UNITS_MOST || leaves_window(q, unit, p.end - p.first))
        p = lay_in_a_set(q, level, off);
    if (p.others == 0)
        return -1;
    const int along = are_there(q, level, &p);
    if (along < 0 || 2 * along > PAIRS)
        return along < 0 ? -1 : 1;
    /* Not if the place itself is pushed out; nor if either is now and then,
     * where victims are random: of nine that half stay of seven stay, and of
     * nine others one, in two of a thousand times. */
    p.off = 0;
    return along > 1 || are_there(q, level, &p) < PAIRS - 2 ? -1 : 0;
}

static void found_at_most(struct tlb_question *q, size_t level,
                          enum tlb_answer which, double number)
{
    struct finding *const f = q->finding[level][which];
    tlb_found(q, level, which, number);
    finding_value(f, STATUS_AT_MOST, value_number(number));
    finding_because(f, "%s", why_tlb_page_behind);
}

/* As near as that, if the TLBs before do not have it; else what they do not
 * tell is asked behind them.  False if it may be nearer. */
static bool find_page(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t least = q->t->places.piece >> HALVINGS;
    const uint64_t before = region_before(q, level);
    uint64_t near = near_of(q, level);
    bool sure = (level == 0 && first_tells(q, near)) || near <= 1 ||
                (before > 0 && near * least > before);
    while (lab_ok(q->lab) && !sure && near > 1) {
        const int along = came_along(q, level, near / 2);
        sure = along == 1;
        if (along != 0)
            break;
        near /= 2;
    }
    tlb->page = near * least;
    if (!lab_ok(q->lab) || near == 0)
        return false;
    return sure || near == 1;
}

static void report_page(struct tlb_question *q, size_t level, bool sure)
{
    const double page = (double)q->t->tlb[level].page;
    if (sure)
        tlb_found(q, level, TLB_PAGE, page);
    else
        found_at_most(q, level, TLB_PAGE, page);
}

/* What pushes out of the first TLB shares entries where a region has several
 * pages.  Of fewer regions than twice as many as it has entries victims of
 * chance leave half of all places there, round by round, and of a large set
 * more; and where no region is known they may be few: then what places cost the
 * first time must tell the page, or it may be smaller. */
static void confirm_page(struct tlb_question *q)
{
    struct tlb_facts *const tlb = &q->t->tlb[0];
    const uint64_t least = q->t->places.piece >> HALVINGS;
    if (!lab_ok(q->lab) || !tlb_is_found(q, 0, TLB_PAGE) ||
        (tlb->region > 0 &&
         2 * tlb->region / least * tlb->about <= pushed_over()))
        return;
    const size_t end = end_by_first(q);
    const bool sure = end < TLB_DISTANCES && least << end <= tlb->page;
    if (sure)
        tlb->page = least << end;
    report_page(q, 0, sure);
}

/* ---- regions ---------------------------------------------------------- */

enum { SPIKES = 50, TAKES = 3, BEYOND = 5, LARGE = 4096 };

/* Places in a row of which half miss: as many as at random, or up to a third
 * more, since those in a row come to all sets alike; twice that if two lie in a
 * region, or, of few, two more at least, lest both be one row. */
static uint64_t row_of_one(const struct tlb_facts *tlb)
{
    return tlb->about + tlb->about * 9 / 20 + 2;
}

static uint64_t row_of_two(const struct tlb_facts *tlb)
{
    return u64_max(tlb->about + tlb->about * 3 / 4, row_of_one(tlb) + 2);
}

/* Of two places in one region of a TLB before this is not asked for the second,
 * if it comes soon. */
static bool comes_before(const struct tlb_question *q, size_t level,
                         uint64_t distance)
{
    return distance < region_before(q, level);
}

/* Loads of a lap over so many that miss. */
static size_t misses(struct tlb_question *q, size_t level, uint64_t distance,
                     uint64_t places, size_t *loads)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_places p =
        tlb_in_a_row(q, distance, u64_max(row_of_one(tlb) + BEYOND, places));
    struct buf steps = {0};
    size_t slow = 0;
    if (comes_before(q, level, distance))
        tlb_write_row(&steps, places);
    else
        tlb_write_lap(q, &steps, 0, places);
    const struct column c = tlb_ask(q, &p, buf_string(&steps), " ");
    buf_free(&steps);
    for (size_t i = 0; i < c.count; i++)
        slow += c.at[i] > tlb->middle;
    *loads = c.count;
    return slow;
}

static bool half_miss(struct tlb_question *q, size_t level, uint64_t distance,
                      uint64_t places)
{
    size_t loads;
    return 2 * misses(q, level, distance, places, &loads) > loads;
}

/*
 * Of all N places of a window that lie two in a region n = N (1 - s) come to
 * N/2 (1 - s^2) regions, of which half miss: up to 8/7 of the entries (see
 * row_of_two).  A row of 1.45 n places takes fewer than there are entries, so
 * that they are seen to share, while 1.45 (1 - s) < 7/8 (1 - s^2), s > 0.65: as
 * long as half miss of less than 0.35 of all.  Of more each has a region of its
 * own if half of them, twice as far apart, fit: else the whole window would.
 */
static bool have_their_own(struct tlb_question *q, size_t level)
{
    const struct tlb_places *const p = &q->t->places;
    return q->window == 0 || 20 * q->t->tlb[level].about < 7 * p->pieces ||
           !half_miss(q, level, 2 * p->apart, p->pieces / 2);
}

/* ---- entries ---------------------------------------------------------- */

/* Loads that miss in a lap over so many places that are laid so, after others.
 */
static size_t lap_misses(struct tlb_question *q, size_t level,
                         const struct tlb_places *laid, uint64_t places,
                         unsigned take)
{
    /* Where victims are random what fits comes to stay only after as many laps
     * as there are places. */
    enum { LOADS = 8192, LAPS_MOST = 128 };
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t laps = u64_within(3, LOADS / places, LAPS_MOST);
    size_t missed = 0;
    struct buf steps = {0};
    tlb_write_laps(q, laps, "", 0, places, &steps);
    tlb_write_laps(q, 0, "!", 0, places, &steps);
    const struct column c =
        tlb_ask(q, laid, buf_string(&steps), "take=%u", take);
    buf_free(&steps);
    for (size_t i = 0; i < c.count; i++)
        missed += c.at[i] > tlb->middle;
    return missed;
}

static size_t all_misses(struct tlb_question *q, size_t level,
                         const struct tlb_places *laid, uint64_t places)
{
    size_t missed = 0;
    for (unsigned take = 0; lab_ok(q->lab) && take < TAKES; take++)
        missed += lap_misses(q, level, laid, places, take);
    return missed;
}

/* One set with one too many misses once a lap at least, most three times and
 * more.  So many laps that one is four deviations of the hits among them that
 * are late, unless none misses or very many; of as many as are made at most two
 * misses a lap are. */
enum { TAKES_MOST = 16, LATE_MOST = TAKES_MOST / 4, CLEAR = 3 };

static bool any_misses(struct tlb_question *q, size_t level,
                       const struct tlb_places *laid, uint64_t places,
                       double late)
{
    const double wanted =
        fmin(4 * 4 * q->t->tlb[level].late * (double)places, TAKES_MOST);
    size_t missed = 0;
    double expected = 0, doubtful = 0;
    unsigned take = 0;
    while (lab_ok(q->lab) && (take < TAKES || (take < wanted && missed > 0 &&
                                               (double)missed <= doubtful))) {
        missed += lap_misses(q, level, laid, places, take++);
        expected = take * late * (double)places;
        doubtful = expected + 4 * sqrt(expected) + CLEAR * take;
    }
    /* four deviations of what is late, or one a lap but for one */
    return (double)missed > expected + fmax(4 * sqrt(expected), take - 1.0);
}

/* How many hits are late in such laps, where each load may meet the caches'
 * clock as it did in the lap before: if those are more than of so few loads may
 * be late by chance, which would hide misses. */
static double late_in_a_row(struct tlb_question *q, size_t level,
                            const struct tlb_places *row, uint64_t places)
{
    const double usual = q->t->tlb[level].late,
                 loads = (double)(TAKES * places), expected = usual * loads,
                 late = (double)all_misses(q, level, row, places);
    return late > expected + 4 * sqrt(expected) + 1 ? late / loads : usual;
}

/*
 * Just beyond what fits each place more overfills another set, all of which
 * then miss, one more than its ways.  The places that are too many are then so
 * many misses by that: one more than fit were too many where a single spare
 * entry kept what one set, but not two, had too many of (H200; and of three
 * sets that of one, now and then).  Returns how many that are; sets *ways if
 * all sets have as many.
 */
static uint64_t spare_entries(struct tlb_question *q, size_t level,
                              const struct tlb_places *row, uint64_t fit,
                              uint64_t *ways)
{
    const size_t one = all_misses(q, level, row, fit + 1) / TAKES;
    const size_t two = all_misses(q, level, row, fit + 2) / TAKES;
    const size_t five = all_misses(q, level, row, fit + BEYOND) / TAKES;
    *ways = 0;
    for (uint64_t spare = 0; lab_ok(q->lab) && spare <= 1; spare++) {
        const size_t set = one / (1 + spare);
        if (set < 2 || one % set != 0 || five != (BEYOND + spare) * set ||
            (two != (2 + spare) * set && (spare == 0 || two != one)))
            continue;
        *ways = set - 1;
        return spare;
    }
    return 0;
}

/* Roughly; of many places such as lie in a row and of which nearly all hit. */
static void bracket_entries(struct tlb_question *q, size_t level, uint64_t *fit,
                            uint64_t *more)
{
    enum { FEW = 256 };
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t error = tlb->about / 12 + 1;
    size_t loads;
    *fit = tlb->about / 2;
    *more = row_of_one(tlb);
    while (lab_ok(q->lab) && tlb->about > FEW && *more - *fit > 1 + error / 2) {
        const uint64_t middle = (*fit + *more) / 2;
        if (SPIKES * misses(q, level, tlb->region, middle, &loads) <= loads)
            *fit = middle;
        else
            *more = middle;
    }
    if (tlb->about > FEW)
        *fit -= error / 2;
}

/* Other orders of places at random are others. */
enum { ORDERS = 4 };

/* So many places at random fit, whichever they are: of few sets some may by
 * chance have as many as their ways. */
static bool any_fit(struct tlb_question *q, size_t level, uint64_t fit,
                    double late)
{
    struct tlb_places p = q->t->places;
    for (size_t i = 0; i < ORDERS && fit < (uint64_t)1 << p.order;
         i++, p.order--)
        if (any_misses(q, level, &p, fit, late))
            return false;
    return true;
}

/* So many places that far apart, or farther, fit, in some order: of few sets
 * chance may have dealt others to one, so that there seemed to be fewer
 * entries. */
static bool some_fit(struct tlb_question *q, size_t level, uint64_t distance,
                     uint64_t places)
{
    struct tlb_places p = q->t->places;
    for (; p.apart < distance && p.order > 0; p.order--)
        p.apart *= 2;
    for (size_t i = 0; i < ORDERS && places < (uint64_t)1 << p.order;
         i++, p.order--)
        if (!any_misses(q, level, &p, places, q->t->tlb[level].late))
            return lab_ok(q->lab);
    return false;
}

/*
 * As many regions in a row as fit: all entries, unless the index deals those in
 * a row to the sets unevenly.  Then fewer fit than of any at random, of which
 * half miss when there are about as many as entries.  Where as many fit of any
 * others, and not one more, there is one set, whatever its policy.  Nothing is
 * told where too many hits are late.
 */
static void find_entries(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t error = tlb->about / 12 + 1;
    const struct tlb_places row =
        tlb_in_a_row(q, tlb->region, row_of_one(tlb) + BEYOND);
    uint64_t fit, more;
    if (tlb->late * (double)row_of_one(tlb) > LATE_MOST ||
        leaves_window(q, tlb->region, row_of_one(tlb) + BEYOND) ||
        comes_before(q, level, tlb->region))
        return;
    bracket_entries(q, level, &fit, &more);
    const double late = late_in_a_row(q, level, &row, fit / 2 + 1);
    while (lab_ok(q->lab) && more - fit > 1)
        if (any_misses(q, level, &row, (fit + more) / 2, late))
            more = (fit + more) / 2;
        else
            fit = (fit + more) / 2;
    if (!lab_ok(q->lab))
        return;
    tlb->in_a_row = fit + tlb_taken(q, level);
    tlb->one_set = any_fit(q, level, fit, late) &&
                   any_misses(q, level, &q->t->places, fit + 1, late);
    if (tlb->one_set)
        tlb->fit = fit + tlb_taken(q, level);
    else if (q->row.count == 0 && fit + error >= tlb->about)
        tlb->fit = fit - spare_entries(q, level, &row, fit, &tlb->row_ways);
}

/* ---- regions that are wider than a page ---- */

/* Laps over listed places of a row; the share of loads of the last ones that
 * miss, INFINITY if that cannot be asked.  As many laps as lap_misses makes at
 * most, for the same reason, or as there is room for. */
static double misses_of(struct tlb_question *q, size_t level,
                        const struct tlb_places *p, const struct tlb_numbers *n)
{
    enum { LAPS_MOST = 128, TIMED = 8 };
    const size_t count = n->count;
    const unsigned laps =
        (unsigned)u64_within(2, tlb_room(q, 2 * count + 1, count), LAPS_MOST);
    struct buf steps = {0};
    size_t missed = 0, loads = u64_min(laps / 2, TIMED) * count;
    for (size_t i = 0; i < count; i++)
        buf_printf(&steps, "%s!%" PRIu32 ":1:1", i > 0 ? "," : "", n->at[i]);
    if (q->row.count > 0)
        buf_printf(&steps, ",%" PRIu32 ":%" PRIu64 ":1", ACCESS_SCRIPT_ROW,
                   q->row.count);
    const struct column c =
        tlb_ask(q, p, buf_string(&steps), "rounds=%u", laps);
    buf_free(&steps);
    if (c.count != laps * count)
        return INFINITY;
    for (size_t i = c.count - loads; i < c.count; i++)
        missed += c.at[i] > q->t->tlb[level].middle;
    return (double)missed / (double)loads;
}

/* The first halves of so many regions, whichever chance draws. */
static void draw_regions(struct rng *rng, uint64_t regions, uint64_t of,
                         struct tlb_numbers *n)
{
    n->count = 0;
    while (n->count < regions) {
        const uint32_t half = (uint32_t)(2 * rng_below(rng, of));
        if (!tlb_lists(n, half))
            tlb_add(n, half);
    }
}

/*
 * Regions that chance picks and of which hardly any misses, and then the other
 * half of each as well: more places than there may be entries, so that many
 * miss if each half has its own, and no more than did before if both have one.
 * 1: they have one; 0: each has its own; -1: no such regions were met, or it is
 * not clear.
 */
static int halves_share(struct tlb_question *q, size_t level, uint64_t distance)
{
    enum { DRAWS = 12, OF = 512 };
    static const double few = 1.0 / 8, shared = 1.0 / 4, own = 3.0 / 8;
    const uint64_t most = q->window > 0 ? q->window / (2 * distance) : OF,
                   of = u64_min(most, OF),
                   regions =
                       (uint64_t)tlb_entries_most(&q->t->tlb[level]) / 2 + 1;
    const struct tlb_places p = tlb_in_a_row(q, distance, 2 * of);
    struct tlb_numbers *const n = lab_alloc(q->lab, 1, sizeof *n);
    struct rng rng;
    rng_seed(&rng, 1);
    if (regions > of || 2 * regions > TLB_NUMBERS_MOST)
        return -1;
    for (int i = 0; lab_ok(q->lab) && i < DRAWS; i++) {
        draw_regions(&rng, regions, of, n);
        if (misses_of(q, level, &p, n) > few)
            continue;
        for (size_t j = 0; j < regions; j++)
            tlb_add(n, n->at[j] + 1);
        const double missed = misses_of(q, level, &p, n);
        return missed <= shared ? 1 : missed >= own && missed <= 1 ? 0 : -1;
    }
    return -1;
}

/* 1: places at that distance share entries; 0: they do not; -1: it is not
 * clear.  Of a row of two to a region half may miss as there are fewer entries
 * than that has regions: then two more than those never fit, none of which
 * shares one in a window.  If they do each has a region of its own, unless sets
 * are unlike, of which a row overfills the smaller ones (of 11 and 7 ways; 22
 * places, two to a region, missed, of which 13 regions at random fit). */
static int share_entries(struct tlb_question *q, size_t level,
                         uint64_t distance)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    if (leaves_window(q, distance, row_of_one(tlb)))
        return -1;
    if (half_miss(q, level, distance, row_of_one(tlb)))
        return distance < q->t->places.apart || have_their_own(q, level) ? 0
                                                                         : -1;
    if (leaves_window(q, distance, row_of_two(tlb)))
        return -1;
    if (!half_miss(q, level, distance, row_of_two(tlb)))
        return 1;
    if (!some_fit(q, level, 2 * distance, row_of_two(tlb) / 2 + 2))
        return -1;
    return comes_before(q, level, distance) ? 0
                                            : halves_share(q, level, distance);
}

/* The same, unless it seems that they do since too few entries were told: then
 * these are asked for again. */
static int surely_share(struct tlb_question *q, size_t level, uint64_t distance)
{
    enum { ASKED_MOST = 3 };
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    for (int i = 0; lab_ok(q->lab) && i < ASKED_MOST; i++) {
        const int share = share_entries(q, level, distance);
        if (share != 1 || tlb_confirm_about(q, level, row_of_one(tlb)))
            return share;
    }
    return -1;
}

/* The page; then twice as far as long as both are of one entry.  1: found; 0:
 * it may be less, if what is not sure of the page holds for it; -1: unclear. */
static int widen_region(struct tlb_question *q, size_t level, bool sure)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    int share = 1;
    if (!sure && tlb->about < LARGE && q->row.count == 0 &&
        share_entries(q, level, tlb->page / 2) != 1)
        return -1;
    /* Nearer ones come before; only what hides here covers more. */
    const uint64_t least = u64_max(tlb->page, q->row.apart);
    tlb->region = least;
    if (tlb->region > tlb->page && share_entries(q, level, tlb->region) != 1)
        return -1;
    while (lab_ok(q->lab) && share == 1 && tlb->region <= q->t->places.apart) {
        share = (tlb->region == least ? surely_share
                                      : share_entries)(q, level, tlb->region);
        if (share == 1)
            tlb->region *= 2;
    }
    if (share == -1)
        return -1;
    return sure || tlb->about < LARGE || tlb->region > tlb->page;
}

/* Of so many regions in a row the first half of each, or whichever half chance
 * picks. */
static void write_halves(struct buf *steps, const char *kept, uint64_t regions,
                         bool mixed)
{
    uint64_t draw = 1;
    for (uint64_t i = 0; i < regions; i++) {
        draw = draw * 6364136223846793005 + 1442695040888963407;
        buf_printf(steps, "%s%s%" PRIu64 ":1:0", steps->length > 0 ? "," : "",
                   kept, 2 * i + (mixed ? draw >> 63 : 0));
    }
}

static size_t half_misses(struct tlb_question *q, size_t level,
                          uint64_t regions, bool mixed)
{
    enum { WARM = 3, LAPS = 4 };
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_places p = tlb_in_a_row(q, tlb->region / 2, 2 * regions);
    struct buf steps = {0};
    size_t missed = 0;
    for (int lap = 0; lap < WARM + LAPS; lap++)
        write_halves(&steps, lap < WARM ? "" : "!", regions, mixed);
    const struct column c = tlb_ask(q, &p, buf_string(&steps), " ");
    buf_free(&steps);
    for (size_t i = 0; i < c.count; i++)
        missed += c.at[i] > tlb->middle;
    return missed;
}

/* Of a quarter more regions than fit the first halves miss; if whichever halves
 * miss less by a third each half has an entry of its own: by their number first
 * halves come to half of the sets, and others to all.  Where one entry has both
 * it does not matter which. */
int tlb_halves_differ(struct tlb_question *q, size_t level)
{
    enum { MOST = 128 };
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t regions = tlb->fit + tlb->fit / 4 + 1;
    if (regions > MOST || q->row.count > 0 ||
        comes_before(q, level, tlb->region) ||
        leaves_window(q, tlb->region, regions))
        return -1;
    const size_t first = half_misses(q, level, regions, false);
    if (!lab_ok(q->lab) || first <= regions)
        return -1;
    const size_t mixed = half_misses(q, level, regions, true);
    return lab_ok(q->lab) ? 3 * mixed < 2 * first : -1;
}

/* Then places that were taken to be of one region each are not, nor do they
 * push each other out of this one for those behind it. */
static void hide(struct tlb_question *q, size_t level)
{
    q->t->tlb[level].region = 0;
    for (size_t i = level; i < q->t->levels; i++) {
        q->t->tlb[i].hidden = true;
        q->why[i] =
            lab_text(q->lab, why_tlb_region_wide, q->t->places.apart >> 20);
    }
}

static void find_row(struct tlb_question *q, size_t level, bool sure)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const int found = widen_region(q, level, sure);
    if (!lab_ok(q->lab))
        return;
    if (found == -1 || tlb->region > q->t->places.apart)
        q->narrow = u64_min(q->narrow, level);
    if (found == -1) {
        tlb->region = 0;
        tlb_none(q, level, TLB_REGION, TLB_REACH, why_tlb_region_unclear);
    } else if (tlb->region > q->t->places.apart) {
        hide(q, level);
    } else if (found == 1) {
        tlb_found(q, level, TLB_REGION, (double)tlb->region);
    } else {
        found_at_most(q, level, TLB_REGION, (double)tlb->region);
        tlb_none(q, level, TLB_REACH, TLB_REACH, why_tlb_page_behind);
    }
    if (tlb->region > 0 && !tlb->hidden)
        find_entries(q, level);
}

/* True if an index may tell as much as a row of as many mappings as there are
 * entries, which take long: where a page is known, or no more than a bound of
 * one of which not even a row tells more. */
static bool may_wait(const struct tlb_question *q, size_t level, bool sure)
{
    return (sure && tlb_is_large(q, level)) || q->t->tlb[level].about >= LARGE;
}

void tlb_find_region(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    if (tlb->hidden)
        return;
    const bool sure = find_page(q, level);
    /* All neighbours have come along: a row tells more, if there is one. */
    const bool wide = tlb->page == 0 && q->row.count > 0 &&
                      q->finding[level][TLB_REGION]->because == NULL;
    if (!lab_ok(q->lab) || (tlb->page == 0 && !wide))
        return;
    const bool dense = !wide && tlb->page < q->t->places.unit,
               wait = !dense && may_wait(q, level, sure);
    if (!wait && !wide)
        report_page(q, level, sure);
    if (dense) {
        /* Places come nearer to each other, and all is asked again. */
        tlb->hidden = true;
    } else if (wait) {
        tlb->region = tlb->page;
    } else {
        find_row(q, level, sure);
        if (level == 0)
            confirm_page(q);
    }
}

/* A row, where an index counts regions by the page. */
static void find_row_of_index(struct tlb_question *q, size_t level, bool sure)
{
    struct index_function *const f = q->index[level];
    const uint64_t page = q->t->tlb[level].page;
    find_row(q, level, sure);
    const uint64_t pages = u64_max(q->t->tlb[level].region / page, 1);
    for (size_t i = 0; f != NULL && i < f->masks; i++)
        f->mask[i] /= pages;
    if (f != NULL)
        f->seen /= pages;
}

/* Addresses that differ in a bit of the index only are of two regions; of the
 * page more may be known since the TLB before has an index. */
void tlb_conclude_region(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct index_function *const f = q->index[level];
    uint64_t bits = 0;
    if (tlb->region == 0 || tlb_is_found(q, level, TLB_REGION))
        return;
    for (size_t i = 0; f != NULL && i < f->masks; i++)
        bits |= f->mask[i];
    const uint64_t most = tlb->region * (bits & -bits);
    const bool sure = find_page(q, level);
    if (!lab_ok(q->lab))
        return;
    report_page(q, level, sure);
    if (bits == 0 || (sure && tlb->page < most)) {
        find_row_of_index(q, level, sure);
    } else if (sure) {
        tlb_found(q, level, TLB_REGION, (double)most);
    } else {
        found_at_most(q, level, TLB_REGION, (double)most);
        tlb_none(q, level, TLB_REACH, TLB_REACH, why_tlb_page_behind);
    }
    if (level == 0)
        confirm_page(q);
}
