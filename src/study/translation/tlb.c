/*
 * The TLBs: how many levels show, what a miss of each costs, the page of an
 * entry, and how many pages each holds.
 *
 * Levels.  After a lap over many pages the cost of each page by its age has a
 * step where a TLB ends (sweep.h).  Another load of the page before it tells
 * whether it is the translation that was gone or the data; ages at which data
 * is gone are not used.
 *
 * Pages.  Places in order, each looked for once after all was pushed out: the
 * first of each page is slow, so the distance from one to the next is a page.
 *
 * Entries.  The oldest page that is still there, of pages in order, is a guess;
 * it is confirmed by laps over as many, none of which may be slow, and over
 * one more, some of which must be.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/cache.h"
#include "study/translation/page_sweep.h"

static const char *const needs[] = {"window", "line", NULL};
static const char *const gives[] = {"tlb_l1.entries",
                                    "tlb_l1.page",
                                    "tlb_l1.reach",
                                    "tlb_l1.miss_penalty",
                                    "tlb_l1.sets",
                                    "tlb_l1.ways",
                                    "tlb_l1.set_ways",
                                    "tlb_l1.policy",
                                    "tlb_l2.entries",
                                    "tlb_l2.page",
                                    "tlb_l2.reach",
                                    "tlb_l2.miss_penalty",
                                    "tlb_l2.sets",
                                    "tlb_l2.ways",
                                    "tlb_l2.set_ways",
                                    "tlb_l2.policy",
                                    "tlb_l3.entries",
                                    "tlb_l3.page",
                                    "tlb_l3.reach",
                                    "tlb_l3.miss_penalty",
                                    "tlb_l3.sets",
                                    "tlb_l3.ways",
                                    "tlb_l3.set_ways",
                                    "tlb_l3.policy",
                                    NULL};
static const char *const kernels[] = {
    "visit readers=global.ca",
    "visit readers=global.cg",
    NULL,
};

enum which {
    ENTRIES,
    PAGE,
    REACH,
    PENALTY,
    SETS,
    WAYS,
    SET_WAYS,
    POLICY,
    FINDINGS
};
static const char *const attributes[FINDINGS] = {
    "entries", "page", "reach",    "miss_penalty",
    "sets",    "ways", "set_ways", "policy"};
static const char *const components[TLBS_MOST] = {"tlb_l1", "tlb_l2", "tlb_l3"};

/* Places that are looked at in one launch, and of one lap. */
enum { LOOKS_MOST = 1200, LOOKED_MOST = 4 * LOOKS_MOST };

/* Of more entries than these the guess by age must do. */
enum { HALVED_MOST = 2048 };

enum { SETS_LISTED = 64, STEPS_MOST = 96, STEPS_ALIKE = 4 };

/* How the pages of a lap are dealt to sets, as far as it showed. */
struct deal {
    uint64_t ways[SETS_LISTED];
    size_t sets, steps;
    uint64_t dealt;         /* entries of those sets */
    bool slow[LOOKED_MOST]; /* places, at the last step */
    uint8_t set_of[LOOKED_MOST];
};

struct inquiry {
    struct lab *lab;
    struct translation *t;
    struct page_sweep sweep;
    uint64_t line; /* of the cache that holds the data */
    struct finding *finding[TLBS_MOST][FINDINGS];
    struct deal *deals;
    enum cache_policy policy[TLBS_MOST];
    bool known[TLBS_MOST]; /* the policy */
};

static void evidence(struct inquiry *q, size_t level, enum which which)
{
    if (q->sweep.experiment != NULL)
        finding_evidence(q->finding[level][which], q->sweep.experiment);
}

/* ---- cost by age ------------------------------------------------------ */

enum {
    AGES_MOST = 96,
    FIRST_AGES = 32, /* the first band of ages; the next end four times later */
    LOADS = 65536,   /* of all laps of a band, about … */
    TAKES_LEAST = 3, /* … but so many laps at least, and these at most */
    TAKES_MOST = 33,
    DATA_AGES = 8, /* of a band, looked at for their data */
    DATA_TAKES = 3,
};

struct profile {
    uint64_t age[AGES_MOST];
    double excess[AGES_MOST], doubt[AGES_MOST];
    size_t count;
    uint64_t lap; /* places of the longest lap whose data was all there */
};

/* Ages from `least` to `most`, each a fifth more than the one before. */
static size_t list_ages(uint64_t least, uint64_t most, uint64_t *ages)
{
    size_t count = 0;
    for (uint64_t a = least; a <= most; a += a / 5 > 0 ? a / 5 : 1)
        ages[count++] = a;
    if (count > 0 && ages[count - 1] != most)
        ages[count++] = most;
    return count;
}

static unsigned takes_of(uint64_t lap)
{
    const uint64_t takes = LOADS / lap;
    return takes < TAKES_LEAST  ? TAKES_LEAST
           : takes > TAKES_MOST ? TAKES_MOST
                                : (unsigned)takes | 1;
}

/* Where data is lost, some of the oldest ages cost as much as a miss of it. */
static int keeps_data(struct inquiry *q, const struct page_tour *lap,
                      const uint64_t *ages, size_t count, bool *yes,
                      struct error *err)
{
    double excess[DATA_AGES];
    const size_t from = count > DATA_AGES ? count - DATA_AGES : 0;
    if (page_sweep_ages(&q->sweep, lap, ASK_DATA, ages + from, count - from,
                        DATA_TAKES, excess, err) != 0)
        return err->code;
    *yes = true;
    for (size_t i = 0; i < count - from; i++)
        *yes = *yes && excess[i] < 16 + 4 * q->sweep.sigma;
    return 0;
}

/* Ages at which a page is sometimes there and sometimes not, by chance, say
 * nothing about the cost of either, and are left out. */
static void keep_untorn(const struct inquiry *q, struct profile *p,
                        const double *spreads, size_t count)
{
    size_t kept = p->count;
    for (size_t i = 0; i < count; i++) {
        const size_t from = p->count + i;
        if (spreads[i] > 2 * sqrt(2) * q->sweep.sigma + 1)
            continue;
        p->age[kept] = p->age[from];
        p->excess[kept] = p->excess[from];
        p->doubt[kept++] = p->doubt[from];
    }
    p->count = kept;
}

static int ask_band(struct inquiry *q, struct profile *p, uint64_t least,
                    uint64_t most, bool *kept, struct error *err)
{
    uint64_t *const ages = p->age + p->count;
    const struct page_tour lap = {.pitch = q->t->pitch,
                                  .count = most + most / 4};
    const size_t count = list_ages(least, most, ages);
    const unsigned takes = takes_of(lap.count);
    assert(p->count + count <= AGES_MOST);
    if (keeps_data(q, &lap, ages, count, kept, err) != 0)
        return err->code;
    if (!*kept)
        return 0;
    double spreads[AGES_MOST];
    q->sweep.spreads = spreads;
    const int status = page_sweep_ages(&q->sweep, &lap, ASK_PAGE, ages, count,
                                       takes, p->excess + p->count, err);
    q->sweep.spreads = NULL;
    if (status != 0)
        return status;
    for (size_t i = 0; i < count; i++)
        p->doubt[p->count + i] = 1.25 * sqrt(2 / (double)takes);
    keep_untorn(q, p, spreads, count);
    p->lap = lap.count;
    return 0;
}

/* Steps by odd multiples of a line: one of them spreads lines over the sets,
 * whatever their number. */
static int choose_skew(struct inquiry *q, uint64_t places, struct error *err)
{
    static const unsigned multiples[] = {1, 3, 7, 11};
    for (size_t i = 0; i < COUNT_OF(multiples); i++) {
        bool kept = false;
        q->sweep.skew = multiples[i] * q->line;
        const struct page_tour lap = {
            .pitch = q->t->pitch,
            .count = page_tour_most(&q->sweep, 0, q->t->pitch, places)};
        const uint64_t ages[] = {lap.count / 2,     lap.count / 2 + 1,
                                 lap.count * 3 / 4, lap.count - 2,
                                 lap.count - 1,     lap.count};
        if (keeps_data(q, &lap, ages, COUNT_OF(ages), &kept, err) != 0)
            return err->code;
        if (kept)
            return 0;
    }
    q->sweep.skew = q->line;
    return 0;
}

/* Band after band, as far as there is memory and data stays. */
static int find_profile(struct inquiry *q, struct profile *p, struct error *err)
{
    const uint64_t room = page_tour_most(&q->sweep, 0, q->t->pitch, 1u << 20);
    bool kept = true;
    uint64_t least = 1, most = FIRST_AGES;
    *p = (struct profile){0};
    while (kept && least < most) {
        if (ask_band(q, p, least, most, &kept, err) != 0)
            return err->code;
        /* Some steps spread a few lines well, and many not. */
        if (!kept && (choose_skew(q, most + most / 4, err) != 0 ||
                      ask_band(q, p, least, most, &kept, err) != 0))
            return err->code;
        least = most + 1;
        most = 4 * most < room / 5 * 4 ? 4 * most : room / 5 * 4;
    }
    return 0;
}

/* ---- levels ----------------------------------------------------------- */

/* True if the ages from i on cost more than `level`: as many in a row that they
 * span twice the age, since a few places may be dear by themselves. */
static bool is_step(const struct inquiry *q, const struct profile *p, size_t i,
                    double level)
{
    enum { ALIKE = 5, ALIKE_OF_CLEAR = 3, CLEAR = 24 };
    /* At the end of the memory there may be no more than three. */
    const bool last = i + ALIKE > p->count && p->excess[i] > level + CLEAR;
    const size_t alike = last ? ALIKE_OF_CLEAR : ALIKE;
    for (size_t k = i; k < i + alike; k++)
        if (k >= p->count ||
            p->excess[k] < level + fmax(1.5, 5 * p->doubt[k] * q->sweep.sigma))
            return false;
    return true;
}

/* The cost of the level that begins at i: the least of the next ages, since
 * another level may follow soon; then the middle of all that are like it. */
static double level_at(const struct profile *p, size_t i)
{
    double alike[AGES_MOST];
    size_t count = 0;
    const size_t next = p->count - i - 1 < 3 ? p->count - i - 1 : 3;
    const double least = stats_min(p->excess + i + 1, next);
    for (size_t k = i + 1; k < p->count; k++) {
        if (fabs(p->excess[k] - least) <= fmax(4, 0.2 * least))
            alike[count++] = p->excess[k];
    }
    return stats_median(alike, count);
}

/* Chance decides about ages near the end of a TLB with random victims, so the
 * next level does not begin before the age has grown by half. */
static void find_levels(struct inquiry *q, const struct profile *p)
{
    struct translation *const t = q->t;
    double level = 0;
    t->levels = 0;
    for (size_t i = 1; i < p->count && t->levels < TLBS_MOST; i++) {
        if (!is_step(q, p, i, level))
            continue;
        level = level_at(p, i);
        t->tlb[t->levels++] = (struct tlb_facts){
            .excess = level, .fits = p->age[i - 1], .overflows = p->age[i]};
        const uint64_t begun = p->age[i];
        while (i + 1 < p->count && 2 * p->age[i + 1] < 3 * begun)
            i++;
    }
}

static double step_of(const struct translation *t, size_t level)
{
    return t->tlb[level].excess - (level > 0 ? t->tlb[level - 1].excess : 0);
}

/* What is between a hit and a miss of the level. */
static double middle_of(const struct translation *t, size_t level)
{
    return t->tlb[level].excess - step_of(t, level) / 2;
}

/* Loads of the first reader by which translation shows. */
static int choose_reader(struct inquiry *q, struct profile *p,
                         struct error *err)
{
    static const char *const readers[] = {"global.cg", "global.ca"};
    static const enum level_id levels[] = {LEVEL_L2, LEVEL_L1};
    q->t->reader = NULL;
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        const struct level_facts *const facts = &q->lab->facts[levels[i]];
        if (i > 0 && !facts->present)
            continue;
        q->sweep.reader = readers[i];
        q->line = facts->line > 0 ? facts->line : 128;
        if (choose_skew(q, 384, err) != 0 || find_profile(q, p, err) != 0)
            return err->code;
        find_levels(q, p);
        q->t->skew = q->sweep.skew;
        q->t->lap = p->lap;
        if (q->t->levels > 0) {
            q->t->reader = readers[i];
            return 0;
        }
    }
    return 0;
}

/* ---- pages ------------------------------------------------------------ */

enum { SCANNED = 256 };

/* Places that are slow when all was pushed out: indices, in order. */
static int find_slow(struct inquiry *q, size_t level, uint64_t step,
                     struct page_tour *scan, size_t *slow, size_t *count,
                     struct error *err)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    double excess[SCANNED];
    *scan = (struct page_tour){.pitch = step};
    scan->count = page_tour_most(&q->sweep, 0, step, SCANNED);
    const uint64_t end = (scan->count + 1) * (step + q->sweep.skew);
    const struct page_tour flood = {
        .start = end,
        .pitch = q->t->pitch,
        .count = page_tour_most(&q->sweep, end, q->t->pitch,
                                2 * tlb->overflows + 16)};
    *count = 0;
    if (flood.count < tlb->overflows + tlb->overflows / 4)
        return error_set(err, ERR_UNSUPPORTED,
                         "there is too little memory to push all pages out "
                         "and to look for them");
    unsigned takes = page_sweep_takes(&q->sweep, step_of(q->t, level));
    const unsigned most = takes_of(flood.count + scan->count);
    if (takes > most)
        takes = most;
    if (page_sweep_scan(&q->sweep, scan, &flood, takes, excess, err) != 0)
        return err->code;
    size_t between = 0;
    const double hit = middle_of(q->t, level) - step_of(q->t, level) / 2;
    const double noise = 5 * 1.25 * sqrt(2 / (double)takes) * q->sweep.sigma;
    for (size_t i = 0; i < scan->count; i++)
        if (excess[i] > middle_of(q->t, level))
            slow[(*count)++] = i;
        else
            between += excess[i] > hit + fmax(1.5, noise);
    /* At the first level there are hits and misses only. */
    if (level == 0 && 2 * between > *count + 4)
        q->t->mixed = true;
    return 0;
}

/* The power of two that the distances between slow places are, give or take a
 * step; 0: none. */
static uint64_t page_of(const struct inquiry *q, const struct page_tour *scan,
                        const size_t *slow, size_t count)
{
    const uint64_t step = scan->pitch + q->sweep.skew;
    double gaps[SCANNED];
    if (count < 4)
        return 0;
    for (size_t i = 1; i < count; i++)
        gaps[i - 1] = (double)((slow[i] - slow[i - 1]) * step);
    const double middle = stats_mean(gaps, count - 1);
    const uint64_t page = (uint64_t)1 << lround(log2(middle));
    size_t alike = 0;
    for (size_t i = 0; i + 1 < count; i++)
        alike += fabs(gaps[i] - (double)page) <= (double)step;
    return 10 * alike >= 9 * (count - 1) ? page : 0;
}

static int find_page(struct inquiry *q, size_t level, struct error *err)
{
    static const uint64_t coarse = 8 << 20;
    struct tlb_facts *const tlb = &q->t->tlb[level];
    uint64_t step = 512 * 1024;
    bool finer = false;
    /* Pages are from two steps to a quarter of the scan. */
    while (step >= 4096 && tlb->page == 0) {
        struct page_tour scan;
        size_t slow[SCANNED], count;
        if (find_slow(q, level, step, &scan, slow, &count, err) != 0)
            return err->code;
        if (10 * count > 9 * scan.count) {
            step /= 16;
            finer = true;
            continue;
        }
        if (count < 4 && !finer && step < coarse) {
            step = coarse;
            continue;
        }
        tlb->page = page_of(q, &scan, slow, count);
        tlb->start = count > 1 ? slow[1] * (step + q->sweep.skew) : 0;
        break;
    }
    return 0;
}

/* ---- entries ---------------------------------------------------------- */

/*
 * A lap over so many pages of the level.  If the TLB before it could hold them
 * all, it is made over further parts of the same pages until it cannot.
 */
static struct page_tour lap_of(const struct inquiry *q, size_t level,
                               uint64_t count)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    struct page_tour lap = {.start = tlb->start,
                            .pitch = tlb->page,
                            .count = count,
                            .chunk = tlb->page / 2 / q->sweep.skew};
    if (level == 0 || tlb[-1].page == 0 || tlb->page <= tlb[-1].page)
        return lap;
    const uint64_t before =
        tlb[-1].entries > 0 ? tlb[-1].entries : 2 * tlb[-1].overflows;
    const uint64_t most = tlb->page / 2 / tlb[-1].page;
    lap.sub_pitch = tlb[-1].page;
    lap.subs = 2 + 2 * before / count;
    if (lap.subs > most)
        lap.subs = most;
    return lap;
}

static uint64_t pages_most(const struct inquiry *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t room = (q->t->room - tlb->start) / tlb->page;
    return room > 2 ? room - 2 : 0;
}

static unsigned takes_for(const struct inquiry *q, size_t level, uint64_t lap)
{
    const unsigned wanted = page_sweep_takes(&q->sweep, step_of(q->t, level));
    const unsigned most = takes_of(lap);
    return wanted < most ? wanted : most;
}

/* The bracket of the age at which pages begin to be slow, made narrower. */
static int narrow_edge(struct inquiry *q, size_t level, uint64_t *stays,
                       uint64_t *gone, struct error *err)
{
    enum { AT_ONCE = 80 };
    uint64_t ages[AT_ONCE];
    double excess[AT_ONCE];
    size_t count = 0;
    const uint64_t most = pages_most(q, level);
    const uint64_t wanted = *gone + *gone / 8 + 2;
    const struct page_tour lap =
        lap_of(q, level, wanted < most ? wanted : most);
    const uint64_t step = (*gone - *stays + AT_ONCE) / (AT_ONCE + 1);
    for (uint64_t a = *stays + step; a < *gone && count < AT_ONCE; a += step)
        ages[count++] = a;
    if (page_sweep_ages(&q->sweep, &lap, ASK_PAGE, ages, count,
                        takes_for(q, level, lap.count), excess, err) != 0)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        if (excess[i] > middle_of(q->t, level)) {
            *gone = ages[i];
            return 0;
        }
        *stays = ages[i];
    }
    return 0;
}

/* The oldest page that is still there. */
static int find_edge(struct inquiry *q, size_t level, uint64_t *stays,
                     struct error *err)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t page = tlb->page > q->t->pitch ? tlb->page : q->t->pitch;
    const uint64_t most = pages_most(q, level);
    /* Pages a pitch apart fill the sets less evenly than those in order. */
    *stays = tlb->fits * q->t->pitch / page / 2;
    uint64_t gone = tlb->overflows * q->t->pitch / page * 5 / 4 + 4;
    if (gone > most)
        gone = most;
    while (gone > *stays + 1)
        if (narrow_edge(q, level, stays, &gone, err) != 0)
            return err->code;
    return 0;
}

/* Which places of a lap over so many pages are slow, of the first `looked`. */
static int find_misses(struct inquiry *q, size_t level, uint64_t count,
                       uint64_t looked, bool *slow, size_t *found,
                       struct error *err)
{
    const struct page_tour lap = lap_of(q, level, count);
    /* Five: two of three are disturbed too often where so many are looked at.
     */
    const unsigned wanted = takes_for(q, level, 3 * count);
    const unsigned takes = wanted < 5 ? 5 : wanted;
    double *const excess = xreallocarray(NULL, LOOKS_MOST, sizeof *excess);
    int status = 0;
    *found = 0;
    for (uint64_t from = 0; status == 0 && from < looked; from += LOOKS_MOST) {
        const uint64_t n =
            looked - from < LOOKS_MOST ? looked - from : LOOKS_MOST;
        status = page_sweep_laps(&q->sweep, &lap, from, n, takes, excess, err);
        for (uint64_t i = 0; status == 0 && i < n; i++) {
            slow[from + i] = excess[i] > middle_of(q->t, level);
            *found += slow[from + i];
        }
    }
    free(excess);
    return status;
}

/* Of very many places the first: those that make room first, if any do. */
static uint64_t looked_of(uint64_t count)
{
    return count > LOOKED_MOST ? LOOKS_MOST : count;
}

/* How many pages of such a lap are slow, of those that are looked at. */
static int count_misses(struct inquiry *q, size_t level, uint64_t count,
                        size_t *found, struct error *err)
{
    bool slow[LOOKED_MOST];
    return find_misses(q, level, count, looked_of(count), slow, found, err);
}

/* Whether the same pages are slow each time when there are too many. */
static int is_steady(struct inquiry *q, size_t level, uint64_t entries,
                     bool *yes, struct error *err)
{
    enum { LOOKED = 64, TAKES = 15 };
    const uint64_t most = pages_most(q, level);
    const uint64_t count = entries + entries / 2 + 1;
    const struct page_tour lap = lap_of(q, level, count < most ? count : most);
    double excess[LOOKED];
    const size_t looked = lap.count < LOOKED ? lap.count : LOOKED;
    unsigned takes = takes_for(q, level, 3 * count);
    takes = takes < TAKES && count < 8192 ? TAKES : takes;
    if (page_sweep_laps(&q->sweep, &lap, 0, looked, takes, excess, err) != 0)
        return err->code;
    /* What differs by chance between hit and miss spreads far more. */
    *yes = q->sweep.spread < 1.15 * sqrt(2) * q->sweep.sigma + 0.5;
    return 0;
}

static void none_of_sets(struct inquiry *q, size_t level, const char *why);

static void bound(struct inquiry *q, size_t level, const char *why)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t page = tlb->page > q->t->pitch ? tlb->page : q->t->pitch;
    const uint64_t reach = tlb->fits * q->t->pitch / page * tlb->page;
    struct finding *const entries = q->finding[level][ENTRIES];
    struct finding *const f = q->finding[level][REACH];
    finding_none(entries, "%s", why);
    if (reach > 0)
        finding_none(f, "%s", why);
    none_of_sets(q, level, why);
}

static void report_entries(struct inquiry *q, size_t level, uint64_t entries)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    tlb->entries = entries;
    finding_set(q->finding[level][ENTRIES], STATUS_MEASURED,
                value_number((double)entries), "");
    evidence(q, level, ENTRIES);
    finding_set(q->finding[level][REACH], STATUS_DERIVED,
                value_number((double)(entries * tlb->page)), "B");
    evidence(q, level, REACH);
}

/* ---- sets ------------------------------------------------------------- */

/*
 * One page more than fit makes all pages of its set slow (Mei 2014, figure 11),
 * as lru and fifo do: as many as it has ways, and one.  The next page comes to
 * the next set, or to one that is slow already, and is slow alone.
 */
static int deal_more(struct inquiry *q, size_t level, struct deal *d,
                     size_t *before, struct error *err)
{
    const uint64_t entries = q->t->tlb[level].entries;
    const uint64_t count = entries + ++d->steps;
    bool slow[LOOKED_MOST];
    size_t found;
    if (find_misses(q, level, count, count, slow, &found, err) != 0)
        return err->code;
    if (found > *before + 1 && d->sets < SETS_LISTED) {
        for (uint64_t i = 0; i < count; i++)
            if (slow[i] && !d->slow[i])
                d->set_of[i] = (uint8_t)d->sets;
        d->ways[d->sets] = found - *before - 1;
        d->dealt += d->ways[d->sets++];
    }
    memcpy(d->slow, slow, count * sizeof *slow);
    *before = found;
    return 0;
}

/* True if so many sets of as many ways as the first are all there are. */
static int are_equal(struct inquiry *q, size_t level, const struct deal *d,
                     bool *yes, struct error *err)
{
    const uint64_t entries = q->t->tlb[level].entries, ways = d->ways[0];
    const uint64_t sets = entries / ways, most = entries + sets;
    size_t last, all;
    bool slow[LOOKED_MOST];
    *yes = false;
    for (size_t i = 1; i < d->sets; i++)
        if (d->ways[i] != ways)
            return 0;
    if (d->sets != d->steps || d->steps < STEPS_ALIKE || entries % ways != 0 ||
        most > LOOKED_MOST || most > pages_most(q, level))
        return 0;
    if (find_misses(q, level, most - 1, most - 1, slow, &last, err) != 0 ||
        find_misses(q, level, most, most, slow, &all, err) != 0)
        return err->code;
    *yes = all == most && last == most - 1 - ways;
    return 0;
}

static void report_sets(struct inquiry *q, size_t level, uint64_t sets,
                        uint64_t ways)
{
    q->t->tlb[level].sets = sets;
    q->t->tlb[level].ways = ways;
    finding_set(q->finding[level][SETS], STATUS_MEASURED,
                value_number((double)sets), "");
    evidence(q, level, SETS);
    if (ways == 0)
        return;
    finding_set(q->finding[level][WAYS], STATUS_MEASURED,
                value_number((double)ways), "");
    evidence(q, level, WAYS);
    finding_none(q->finding[level][SET_WAYS], "all sets have the same ways");
}

static int more_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void report_deal(struct inquiry *q, size_t level, const struct deal *d)
{
    uint64_t ways[SETS_LISTED];
    memcpy(ways, d->ways, sizeof ways);
    qsort(ways, d->sets, sizeof *ways, more_first);
    const bool equal = ways[0] == ways[d->sets - 1];
    report_sets(q, level, d->sets, equal ? ways[0] : 0);
    if (equal)
        return;
    struct value list = value_list();
    for (size_t i = 0; i < d->sets; i++)
        value_push(&list, value_number((double)ways[i]));
    finding_set(q->finding[level][SET_WAYS], STATUS_MEASURED, list, "");
    evidence(q, level, SET_WAYS);
    finding_none(q->finding[level][WAYS],
                 "the sets have unequal ways: see set_ways");
}

static void none_of_sets(struct inquiry *q, size_t level, const char *why)
{
    for (int i = SETS; i <= POLICY; i++)
        if (q->finding[level][i]->value.kind == VALUE_NONE)
            finding_none(q->finding[level][i], "%s", why);
}

static int find_sets(struct inquiry *q, size_t level, struct deal *d,
                     struct error *err)
{
    const uint64_t entries = q->t->tlb[level].entries;
    size_t before = 0;
    bool yes = false;
    while (d->dealt < entries && d->steps < STEPS_MOST &&
           entries + d->steps + 1 < LOOKED_MOST &&
           entries + d->steps + 1 < pages_most(q, level)) {
        if (deal_more(q, level, d, &before, err) != 0)
            return err->code;
        if (d->steps == STEPS_ALIKE && are_equal(q, level, d, &yes, err) != 0)
            return err->code;
        if (yes) {
            report_sets(q, level, entries / d->ways[0], d->ways[0]);
            return 0;
        }
    }
    if (d->dealt == entries)
        report_deal(q, level, d);
    else
        none_of_sets(q, level,
                     "pages beyond those that fit do not make whole sets slow");
    return 0;
}

/* ---- the policy ------------------------------------------------------- */

enum { VISITS_LEAST = 240, VISITS_MOST = 960 };

/* A TLB of the model: one cache for each set. */
struct model {
    struct cache **set;
    size_t sets;
    /* Of `period` places, after which they begin again; NULL: the set is place
     * × spread modulo the sets. */
    const uint8_t *set_of;
    uint64_t period, spread;
};

static void model_new(struct model *m, const struct tlb_facts *tlb,
                      const struct deal *d, enum cache_policy policy)
{
    m->sets = tlb->sets;
    m->set_of = tlb->ways == 0 ? d->set_of : NULL;
    m->period = tlb->entries;
    m->set = xcalloc(m->sets, sizeof *m->set);
    for (size_t i = 0; i < m->sets; i++) {
        uint32_t ways = (uint32_t)(tlb->ways > 0 ? tlb->ways : d->ways[i]);
        const struct cache_shape shape = {.line = 64,
                                          .sector = 64,
                                          .sets = 1,
                                          .set_ways = &ways,
                                          .policy = policy};
        m->set[i] = cache_new(&shape, 1);
    }
}

static void model_free(struct model *m)
{
    for (size_t i = 0; i < m->sets; i++)
        cache_free(m->set[i]);
    free(m->set);
}

static bool model_hits(struct model *m, uint64_t place)
{
    const size_t set = m->set_of != NULL ? m->set_of[place % m->period]
                                         : place * m->spread % m->sets;
    return cache_access(m->set[set], place * 64) == CACHE_HIT;
}

/* The visits that are replayed: laps, then places in a random order. */
struct replay {
    uint64_t lap;
    uint32_t *places;
    bool *slow; /* as measured */
    size_t count;
};

/* Visits a place; true if all TLBs up to the last of `m` miss it. */
static bool misses_all(struct model *m, size_t levels, uint64_t place)
{
    for (size_t i = 0; i < levels; i++)
        if (model_hits(&m[i], place))
            return false;
    return true;
}

/* Share of the visits that the models foretell. */
static double agreement(struct model *m, size_t levels, const struct replay *r,
                        bool *foretold)
{
    size_t right = 0;
    for (int lap = 0; lap < 5; lap++)
        for (uint64_t i = 0; i < r->lap; i++)
            misses_all(m, levels, i);
    for (size_t i = 0; i < r->count; i++) {
        foretold[i] = misses_all(m, levels, r->places[i]);
        right += foretold[i] == r->slow[i];
    }
    return (double)right / (double)r->count;
}

static bool can_be(enum cache_policy policy, const struct tlb_facts *tlb)
{
    return policy == POLICY_LRU || policy == POLICY_FIFO ||
           policy == POLICY_NRU ||
           (policy == POLICY_PLRU && tlb->ways > 0 &&
            (tlb->ways & (tlb->ways - 1)) == 0);
}

/* The agreement of each policy of the level, those before being known. */
static void judge_policies(struct inquiry *q, size_t level,
                           const struct deal *deals, const struct replay *r,
                           double *agrees, bool *foretold[POLICY_COUNT])
{
    const struct tlb_facts *const tlb = q->t->tlb;
    for (int p = 0; p < POLICY_COUNT; p++) {
        struct model m[TLBS_MOST] = {0};
        agrees[p] = 0;
        foretold[p] = xcalloc(r->count, sizeof *foretold[p]);
        if (!can_be((enum cache_policy)p, &tlb[level]))
            continue;
        for (size_t i = 0; i <= level; i++) {
            model_new(&m[i], &tlb[i], &deals[i],
                      i == level ? (enum cache_policy)p : q->policy[i]);
            m[i].spread = tlb[level].page / tlb[i].page;
        }
        agrees[p] = agreement(m, level + 1, r, foretold[p]);
        for (size_t i = 0; i <= level; i++)
            model_free(&m[i]);
    }
}

/* Visits at random to somewhat more pages than there are entries. */
static void visit_at_random(struct replay *r, const struct tlb_facts *tlb,
                            uint64_t most)
{
    struct rng rng;
    rng_seed(&rng, 1);
    r->lap = tlb->entries + tlb->entries / 4 + 2;
    r->lap = r->lap < most ? r->lap : most;
    while (r->count < VISITS_MOST &&
           (r->count < VISITS_LEAST || r->count < 4 * r->lap))
        r->places[r->count++] = (uint32_t)rng_below(&rng, r->lap);
}

/* Of very many pages chance would seldom meet one twice: the oldest are used
 * again, new ones come, and the oldest are looked for. */
static void visit_oldest(struct replay *r, const struct tlb_facts *tlb)
{
    r->lap = tlb->entries;
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 0; i < VISITS_LEAST / 3; i++)
            r->places[r->count++] =
                i + (round == 1 ? (uint32_t)tlb->entries : 0);
}

static int make_replay(struct inquiry *q, size_t level, struct replay *r,
                       struct error *err)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t most = pages_most(q, level);
    r->places = xreallocarray(NULL, VISITS_MOST, sizeof *r->places);
    r->slow = xreallocarray(NULL, VISITS_MOST, sizeof *r->slow);
    if (tlb->entries > VISITS_MOST && tlb->entries + VISITS_LEAST < most)
        visit_oldest(r, tlb);
    else
        visit_at_random(r, tlb, most);
    struct page_tour lap = lap_of(q, level, r->lap);
    lap.subs = 0;
    double *const excess = xreallocarray(NULL, r->count, sizeof *excess);
    const int status = page_sweep_order(
        &q->sweep, &lap, r->places, r->count,
        takes_for(q, level, 2 * r->lap + r->count), excess, err);
    for (size_t i = 0; status == 0 && i < r->count; i++)
        r->slow[i] = excess[i] > middle_of(q->t, level);
    free(excess);
    return status;
}

static void none_of_shape(struct inquiry *q, size_t level)
{
    for (int i = SETS; i <= SET_WAYS; i++)
        finding_none(q->finding[level][i],
                     "it is not known which page of a set makes room");
    q->t->tlb[level].sets = 0;
}

static void report_policy(struct inquiry *q, size_t level, const double *agrees,
                          bool *const *foretold, size_t count)
{
    struct finding *const f = q->finding[level][POLICY];
    int best = 0;
    for (int p = 1; p < POLICY_COUNT; p++)
        best = agrees[p] > agrees[best] ? p : best;
    size_t differ = count;
    for (int p = 0; p < POLICY_COUNT; p++) {
        size_t here = 0;
        if (p == best || agrees[p] == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            here += foretold[p][i] != foretold[best][i];
        differ = here < differ ? here : differ;
    }
    if (agrees[best] < 0.97) {
        const char *const why = "no policy that is known explains the hits "
                                "and misses of random visits";
        finding_none(f, "%s", why);
        for (int i = SETS; i <= SET_WAYS; i++)
            finding_none(q->finding[level][i], "%s", why);
        q->t->tlb[level].sets = 0;
    } else if (20 * differ < count) {
        finding_none(f, "random visits do not tell policies apart");
        /* Sets were found as lru and fifo show them; one set is one set. */
        if (q->t->tlb[level].sets > 1)
            none_of_shape(q, level);
    } else {
        q->policy[level] = (enum cache_policy)best;
        q->known[level] = true;
        q->t->tlb[level].in_order = best == POLICY_LRU || best == POLICY_FIFO;
        finding_set(f, STATUS_MEASURED,
                    value_text(cache_policy_name((enum cache_policy)best)), "");
        evidence(q, level, POLICY);
        finding_protocol(f, "agrees", value_number(agrees[best]));
    }
}

static int find_policy(struct inquiry *q, size_t level,
                       const struct deal *deals, struct error *err)
{
    for (size_t i = 0; i < level; i++)
        if (!q->known[i]) {
            for (int k = SETS; k <= POLICY; k++)
                finding_none(q->finding[level][k],
                             "the policy of the TLB before it is not known");
            q->t->tlb[level].sets = 0;
            return 0;
        }
    struct replay r = {0};
    double agrees[POLICY_COUNT];
    bool *foretold[POLICY_COUNT] = {0};
    const int status = make_replay(q, level, &r, err);
    if (status == 0) {
        judge_policies(q, level, deals, &r, agrees, foretold);
        report_policy(q, level, agrees, foretold, r.count);
    }
    for (int p = 0; p < POLICY_COUNT; p++)
        free(foretold[p]);
    free(r.places);
    free(r.slow);
    return status;
}

/* ---- the number of entries -------------------------------------------- */

/* Sets and policy; all pages of a lap over one more than fit are slow where
 * there is one set. */
static int find_structure(struct inquiry *q, size_t level, bool one_set,
                          struct error *err)
{
    if (one_set)
        report_sets(q, level, 1, q->t->tlb[level].entries);
    else if (find_sets(q, level, &q->deals[level], err) != 0)
        return err->code;
    return q->t->tlb[level].sets > 0 ? find_policy(q, level, q->deals, err) : 0;
}

/* Laps have the last word: the most pages that no lap finds slow, by halving.
 */
static int halve(struct inquiry *q, size_t level, uint64_t *entries,
                 size_t *more, struct error *err)
{
    const uint64_t most = pages_most(q, level);
    uint64_t fits = *entries / 2;
    uint64_t over = *entries + *entries / 2 + 2;
    over = over < most ? over : most;
    *more = 0;
    while (over > fits + 1) {
        const uint64_t middle = fits + (over - fits) / 2;
        size_t slow;
        if (count_misses(q, level, middle, &slow, err) != 0)
            return err->code;
        if (slow > 0) {
            over = middle;
            *more = slow;
        } else {
            fits = middle;
        }
    }
    *entries = fits;
    return 0;
}

/* True if a lap over so many pages is long enough for the TLB before to miss
 * all of them; else what that one keeps is never asked of this one. */
static bool is_asked(const struct inquiry *q, size_t level, uint64_t entries)
{
    if (level == 0)
        return true;
    const struct tlb_facts *const before = &q->t->tlb[level - 1];
    const struct page_tour lap = lap_of(q, level, entries);
    const uint64_t places = lap.count * (lap.subs > 0 ? lap.subs : 1);
    return before->in_order ? places > before->entries
                            : places > 3 * before->entries;
}

static int find_entries(struct inquiry *q, size_t level, struct error *err)
{
    uint64_t entries;
    bool steady = false;
    size_t slow, more;
    if (level > 0 && q->t->tlb[level - 1].entries == 0) {
        bound(q, level,
              "the TLB before it is not known, and this one is only asked "
              "for what that one misses");
        return 0;
    }
    if (find_edge(q, level, &entries, err) != 0 ||
        is_steady(q, level, entries, &steady, err) != 0)
        return err->code;
    if (!steady || entries == 0) {
        bound(q, level, "which pages make room is a matter of chance");
        return 0;
    }
    if (count_misses(q, level, entries, &slow, err) != 0 ||
        count_misses(q, level, entries + 1, &more, err) != 0)
        return err->code;
    if ((slow > 0 || more == 0) && entries < HALVED_MOST) {
        if (halve(q, level, &entries, &more, err) != 0 ||
            count_misses(q, level, entries, &slow, err) != 0 ||
            is_steady(q, level, entries, &steady, err) != 0)
            return err->code;
    }
    if (!is_asked(q, level, entries)) {
        bound(q, level,
              "the TLB before it holds about as many pages, and this one is "
              "only asked for what that one misses");
        return 0;
    }
    if (steady && slow == 0 && more > 0) {
        report_entries(q, level, entries);
        return find_structure(q, level, more == looked_of(entries + 1), err);
    }
    bound(q, level,
          "laps over as many pages as were there by age, and "
          "over one more, tell something else");
    return 0;
}

/* ---- the study -------------------------------------------------------- */

static void report_penalty(struct inquiry *q, size_t level)
{
    struct finding *const f = q->finding[level][PENALTY];
    finding_set(f, STATUS_MEASURED, value_number(step_of(q->t, level)),
                "cycles");
    finding_protocol(f, "load", value_text(q->t->reader));
    finding_protocol(f, "pages_fit",
                     value_number((double)q->t->tlb[level].fits));
    finding_protocol(f, "pages_overflow",
                     value_number((double)q->t->tlb[level].overflows));
    evidence(q, level, PENALTY);
}

static void none_of_level(struct inquiry *q, size_t level, const char *why)
{
    for (int i = 0; i < FINDINGS; i++)
        if (q->finding[level][i]->value.kind == VALUE_NONE)
            finding_none(q->finding[level][i], "%s", why);
}

static int ask_level(struct inquiry *q, size_t level, struct error *err)
{
    report_penalty(q, level);
    if (q->t->tlb[level].page == 0) {
        none_of_level(q, level,
                      "pages that are slow after all was pushed out come at "
                      "no regular distance");
        return 0;
    }
    finding_set(q->finding[level][PAGE], STATUS_MEASURED,
                value_number((double)q->t->tlb[level].page), "B");
    evidence(q, level, PAGE);
    return find_entries(q, level, err);
}

static void none_beyond(struct inquiry *q, const struct profile *p)
{
    char why[200];
    const uint64_t mib =
        p->count > 0 ? p->age[p->count - 1] * (q->t->pitch >> 10) >> 10 : 0;
    snprintf(why, sizeof why,
             q->t->levels == 0
                 ? "translation costs nothing that shows over %" PRIu64 " MiB"
                 : "no further step of cost shows over %" PRIu64 " MiB",
             mib);
    for (size_t i = q->t->levels; i < TLBS_MOST; i++)
        none_of_level(q, i, why);
}

static void none_of_mixed(struct inquiry *q)
{
    for (size_t i = 0; i < q->t->levels; i++)
        none_of_level(q, i,
                      "TLBs of different pages hold as much, and their costs "
                      "mix");
    q->t->levels = 0;
}

/* Levels and their pages; again at a small pitch, if steps are mixed. */
static int find_levels_and_pages(struct inquiry *q, struct profile *profile,
                                 struct error *err)
{
    static const uint64_t pitches[] = {TRANSLATION_PITCH, 512 * 1024,
                                       64 * 1024};
    for (size_t i = 0; i < COUNT_OF(pitches); i++) {
        q->t->pitch = pitches[i];
        q->t->mixed = false;
        if (choose_reader(q, profile, err) != 0)
            return err->code;
        for (size_t level = 0; level < q->t->levels; level++)
            if (find_page(q, level, err) != 0)
                return err->code;
        if (!q->t->mixed)
            return 0;
    }
    return 0;
}

/* Where chance decides which pages make room, hits and misses of a TLB, or of
 * the next, mix at every age; then the middle is of neither. */
static void doubt_penalties(struct inquiry *q)
{
    const struct tlb_facts *const tlb = q->t->tlb;
    for (size_t i = 0; i < q->t->levels; i++)
        if (tlb[i].entries == 0 ||
            (i + 1 < q->t->levels && tlb[i + 1].entries == 0))
            finding_none(q->finding[i][PENALTY],
                         "hits and misses of this TLB or the next mix, about "
                         "%.0f cycles apart",
                         step_of(q->t, i));
}

static int inquire(struct inquiry *q, struct error *err)
{
    struct profile profile;
    const int status = find_levels_and_pages(q, &profile, err);
    if (status != 0)
        return status;
    if (q->t->mixed)
        none_of_mixed(q);
    none_beyond(q, &profile);
    for (size_t i = 0; i < q->t->levels; i++) {
        const int asked = ask_level(q, i, err);
        if (asked != 0 && !lab_excuses(asked))
            return asked;
        if (asked != 0)
            none_of_level(q, i, err->text);
    }
    doubt_penalties(q);
    return 0;
}

static bool is_found(const struct inquiry *q, size_t level, int i)
{
    return q->finding[level][i]->value.kind != VALUE_NONE;
}

/* Slow pages that make no whole of any TLB may be slow for other reasons. */
static void doubt_pages(struct inquiry *q)
{
    for (size_t level = 0; level < q->t->levels; level++)
        if (is_found(q, level, ENTRIES))
            return;
    for (size_t level = 0; level < q->t->levels; level++)
        if (is_found(q, level, PAGE))
            finding_none(q->finding[level][PAGE],
                         "of no TLB the entries are known, so that what makes "
                         "pages slow is in doubt");
}

/* Takes away what there is nothing of: levels beyond those that show, and ways
 * of one number where sets have unequal ways, or the other way round. */
static void drop_absent(struct inquiry *q)
{
    struct results *const r = q->lab->results;
    for (size_t level = 0; level < TLBS_MOST; level++) {
        const bool beyond = level > 0 && level >= q->t->levels;
        const bool ways = is_found(q, level, WAYS);
        const bool set_ways = is_found(q, level, SET_WAYS);
        for (int i = 0; i < FINDINGS; i++)
            if (beyond || (i == WAYS && set_ways) || (i == SET_WAYS && ways))
                results_drop(r, q->finding[level][i]);
    }
}

static int run(struct lab *lab, struct error *err)
{
    struct inquiry q = {.lab = lab, .t = &lab->translation};
    if (!lab->translation.asked)
        return error_set(err, ERR_UNSUPPORTED,
                         "it is not known how much memory may be used");
    q.sweep = (struct page_sweep){
        .lab = lab, .origin = q.t->origin, .room = q.t->room};
    for (size_t level = 0; level < TLBS_MOST; level++)
        for (int i = 0; i < FINDINGS; i++)
            q.finding[level][i] =
                lab_finding(lab, components[level], attributes[i]);
    q.deals = xcalloc(TLBS_MOST, sizeof *q.deals);
    const int status = inquire(&q, err);
    free(q.deals);
    page_sweep_done(&q.sweep);
    if (status == 0) {
        doubt_pages(&q);
        drop_absent(&q);
    }
    return status;
}

const struct study study_tlb = {
    .name = "tlb",
    .question = "How many TLBs are there, and how much do they translate?",
    .method = "Laps over many pages, whose data stays in a cache: the cost of "
              "a page by how many others came after it.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
