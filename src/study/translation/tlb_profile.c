/*
 * The levels of translation: after a lap over many pages, the cost of each page
 * by its age has a step where a TLB ends (page_sweep.h).  Another load of the
 * page before it tells whether it is the translation that was gone or the data;
 * ages at which data is gone are not used.
 */
#include <assert.h>
#include <math.h>

#include "analysis/curve/rise.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

enum {
    AGES_MOST = 96,
    FIRST_AGES = 32, /* the first band of ages; the next end four times later */
    LOADS = 65536,   /* of all laps of a band, about … */
    TAKES_LEAST = 3, /* … but so many laps at least, and these at most */
    TAKES_MOST = 33,
    LOADS_NOISY = 1 << 18, /* where noise wants more */
    DATA_AGES = 8,         /* of a band, looked at for their data */
};

struct tlb_profile {
    uint64_t age[AGES_MOST];
    double excess[AGES_MOST], error[AGES_MOST];
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

unsigned tlb_takes_most(uint64_t lap)
{
    const uint64_t takes = LOADS / lap;
    return takes < TAKES_LEAST  ? TAKES_LEAST
           : takes > TAKES_MOST ? TAKES_MOST
                                : (unsigned)takes | 1;
}

static unsigned takes_noisy(uint64_t lap)
{
    const uint64_t takes = LOADS_NOISY / lap;
    const unsigned usual = tlb_takes_most(lap);
    return takes > usual ? (unsigned)takes | 1 : usual;
}

static struct rise_curve curve_of(const struct tlb_profile *p)
{
    /* Clocks count whole cycles. */
    return (struct rise_curve){.y = p->excess,
                               .error = p->error,
                               .count = p->count,
                               .least = 1.5,
                               .clear = assume(ASSUME_TLB_CLEAR)};
}

/* What the next step is at least: no TLB beyond costs less than one before. */
static double least_step(const struct tlb_profile *p)
{
    const struct rise_curve c = curve_of(p);
    const double least = assume(ASSUME_TLB_LEAST);
    for (size_t i = 0; i < p->count; i++)
        if (rise_at(&c, i, 0))
            return fmax(least, p->excess[i]);
    return least;
}

/* As many that a step so high does not hide (rise_hidden). */
static unsigned band_takes(const struct tlb_question *q,
                           const struct tlb_profile *p, uint64_t lap)
{
    /* A seventh of it: 5.6 by rise_hidden, and some for what is not known yet.
     */
    const double error = least_step(p) / 7;
    const double wanted = pow(page_sweep_error(&q->sweep, 1) / error, 2);
    const unsigned least = page_sweep_least(&q->sweep, 1e-3);
    const unsigned usual = tlb_takes_most(lap), most = takes_noisy(lap);
    const double takes = fmax(fmax(wanted, usual), least);
    return takes < most ? (unsigned)takes | 1 : most;
}

/* Where data is lost, some of the oldest ages cost as much as a miss of it:
 * some hundred cycles.  Sixteen is far from both that and none; four sigma of a
 * load is what its noise may add. */
static bool keeps_data(struct tlb_question *q, const struct page_tour *lap,
                       const uint64_t *ages, size_t count)
{
    const size_t from = count > DATA_AGES ? count - DATA_AGES : 0;
    const struct page_looks oldest = {ages + from, count - from};
    const unsigned least = page_sweep_least(&q->sweep, 1e-4);
    const unsigned takes = least < TAKES_LEAST ? TAKES_LEAST : least;
    const double *const excess =
        page_sweep_ages(&q->sweep, lap, ASK_DATA, &oldest, takes);
    bool yes = lab_ok(q->lab);
    for (size_t i = 0; i < oldest.count; i++)
        yes = yes && excess[i] < 16 + 4 * q->sweep.sigma;
    return yes;
}

/* Ages at which a page is sometimes there and sometimes not, by chance, say
 * nothing about the cost of either, and are left out: an excess is the
 * difference of two loads, and spreads √2 times as far as one. */
static void add_untorn(const struct tlb_question *q, struct tlb_profile *p,
                       const double *excess, size_t count, double error)
{
    size_t kept = p->count;
    for (size_t i = 0; i < count; i++) {
        if (q->sweep.spreads[i] > 2 * sqrt(2) * q->sweep.sigma + 1)
            continue;
        p->age[kept] = p->age[p->count + i];
        p->excess[kept] = excess[i];
        p->error[kept++] = error;
    }
    p->count = kept;
}

/* A band of ages; false: its data does not stay. */
static bool ask_band(struct tlb_question *q, struct tlb_profile *p,
                     uint64_t least, uint64_t most)
{
    uint64_t *const ages = p->age + p->count;
    const struct page_tour lap = {.pitch = q->t->pitch,
                                  .count = most + most / 4};
    const struct page_looks looks = {ages, list_ages(least, most, ages)};
    const double *excess = NULL;
    unsigned takes = 0;
    assert(p->count + looks.count <= AGES_MOST);
    if (!keeps_data(q, &lap, ages, looks.count))
        return false;
    /* Again, if it turns out that such loads are noisier than was known. */
    while (lab_ok(q->lab) && takes < band_takes(q, p, lap.count)) {
        takes = band_takes(q, p, lap.count);
        excess = page_sweep_ages(&q->sweep, &lap, ASK_PAGE, &looks, takes);
    }
    if (!lab_ok(q->lab))
        return false;
    add_untorn(q, p, excess, looks.count, page_sweep_error(&q->sweep, takes));
    p->lap = lap.count;
    return true;
}

/* Steps by odd multiples of a line: one of them spreads lines over the sets,
 * whatever their number. */
static void choose_skew(struct tlb_question *q, uint64_t places)
{
    static const unsigned multiples[] = {1, 3, 7, 11};
    for (size_t i = 0; lab_ok(q->lab) && i < COUNT_OF(multiples); i++) {
        q->sweep.skew = multiples[i] * q->line;
        const struct page_tour lap = {
            .pitch = q->t->pitch,
            .count = page_tour_most(&q->sweep, 0, q->t->pitch, places)};
        const uint64_t ages[] = {lap.count / 2,     lap.count / 2 + 1,
                                 lap.count * 3 / 4, lap.count - 2,
                                 lap.count - 1,     lap.count};
        if (keeps_data(q, &lap, ages, COUNT_OF(ages)))
            return;
    }
    q->sweep.skew = q->line;
}

/* Some steps spread a few lines well, and many not. */
static bool ask_band_again(struct tlb_question *q, struct tlb_profile *p,
                           uint64_t least, uint64_t most)
{
    choose_skew(q, most + most / 4);
    return lab_ok(q->lab) && ask_band(q, p, least, most);
}

/* Band after band, as far as there is memory and data stays. */
static void find_profile(struct tlb_question *q, struct tlb_profile *p)
{
    const uint64_t room = page_tour_most(&q->sweep, 0, q->t->pitch, 1u << 20);
    uint64_t least = 1, most = FIRST_AGES;
    *p = (struct tlb_profile){0};
    while (least < most &&
           (ask_band(q, p, least, most) || ask_band_again(q, p, least, most))) {
        least = most + 1;
        most = 4 * most < room / 5 * 4 ? 4 * most : room / 5 * 4;
    }
    /* Places may differ by themselves, too, and no take tells that from a step:
     * then they scatter by more than errors do. */
    const struct rise_curve curve = curve_of(p);
    const double scatter = rise_scatter(&curve);
    for (size_t i = 0; i < p->count; i++)
        p->error[i] *= scatter;
}

/* ---- steps ------------------------------------------------------------- */

/* The cost of the level that begins at i: the least of the next ages, since
 * another level may follow soon; then the middle of all that are like it, by a
 * fifth or the jitter of a load. */
static double level_at(const struct tlb_profile *p, size_t i, double *error)
{
    double alike[AGES_MOST];
    size_t count = 0;
    const size_t next = p->count - i - 1 < 3 ? p->count - i - 1 : 3;
    const double least = stats_min(p->excess + i + 1, next);
    for (size_t k = i + 1; k < p->count; k++) {
        if (fabs(p->excess[k] - least) <=
            fmax(assume(ASSUME_TLB_LEVEL_CYCLES),
                 assume(ASSUME_TLB_LEVEL_SHARE) * least))
            alike[count++] = p->excess[k];
    }
    /* 2.6 deviations (99 %) of a median, and half of the cycle that a clock
     * steps by. */
    *error = 2.6 * 1.25 * p->error[i] / sqrt((double)count) + 0.5;
    return stats_median(alike, count);
}

/* What a TLB between two steps may cost: it would have been found, or no part
 * of the ages is so much dearer than those before.  One of which a single age
 * is seen is none that ages a fifth apart could tell. */
static double most_hidden(const struct rise_curve *c, size_t from, size_t end)
{
    return fmin(rise_hidden(c, from, end), rise_between(c, from, end));
}

/* Chance decides about ages near the end of a TLB with random victims, so the
 * next level does not begin before the age has grown by half. */
static void find_steps(struct tlb_question *q, const struct tlb_profile *p)
{
    struct fact_tlbs *const t = q->t;
    const struct rise_curve curve = curve_of(p);
    double level = 0, error = 0;
    size_t before = 0;
    t->levels = 0;
    for (size_t i = 1; i < p->count && t->levels < TLBS_MOST; i++) {
        if (!rise_at(&curve, i, level))
            continue;
        const double error_before = error;
        level = level_at(p, i, &error);
        t->tlb[t->levels++] =
            (struct tlb_facts){.excess = level,
                               .error = error + error_before,
                               .hidden = most_hidden(&curve, before, i),
                               .fits = p->age[i - 1],
                               .overflows = p->age[i]};
        before = i;
        const uint64_t begun = p->age[i];
        while (i + 1 < p->count && 2 * p->age[i + 1] < 3 * begun)
            i++;
    }
}

/* Loads of the first reader by which translation shows. */
uint64_t tlb_find_levels(struct tlb_question *q)
{
    static const char *const readers[] = {"global.cg", "global.ca"};
    static const enum level_id levels[] = {LEVEL_L2, LEVEL_L1};
    enum { PLACES = 384, LINE_USUAL = 128 };
    struct tlb_profile p = {0};
    q->t->reader = NULL;
    for (size_t i = 0; q->t->reader == NULL && i < COUNT_OF(readers); i++) {
        const uint64_t line = fact_sure_line(q->lab, levels[i]);
        if (i > 0 && !fact_bracket(q->lab, levels[i])->present)
            continue;
        q->sweep.reader = readers[i];
        q->line = line > 0 ? line : LINE_USUAL;
        choose_skew(q, PLACES);
        find_profile(q, &p);
        if (!lab_ok(q->lab))
            return 0;
        find_steps(q, &p);
        q->t->skew = q->sweep.skew;
        q->t->lap = p.lap;
        q->t->reader = q->t->levels > 0 ? readers[i] : NULL;
    }
    return p.count > 0 ? p.age[p.count - 1] : 0;
}

double tlb_step(const struct fact_tlbs *t, size_t level)
{
    return t->tlb[level].excess - (level > 0 ? t->tlb[level - 1].excess : 0);
}

double tlb_middle(const struct fact_tlbs *t, size_t level)
{
    return t->tlb[level].excess - tlb_step(t, level) / 2;
}

unsigned tlb_takes(const struct tlb_question *q, size_t level, uint64_t lap)
{
    const double wanted = page_sweep_takes(&q->sweep, tlb_step(q->t, level));
    const unsigned most = takes_noisy(lap);
    unsigned takes = page_sweep_least(&q->sweep, 1e-4);
    takes = takes < TAKES_LEAST ? TAKES_LEAST : takes;
    return wanted > most ? most : wanted > takes ? (unsigned)wanted | 1 : takes;
}

/* Four of the errors: of a hundred places none is taken for the other, but once
 * in 300. */
bool tlb_tells(const struct tlb_question *q, size_t level, uint64_t lap)
{
    const unsigned takes = tlb_takes(q, level, lap);
    return 4 * page_sweep_error(&q->sweep, takes) < tlb_step(q->t, level) / 2;
}
