/*
 * How many pages a TLB holds.  The oldest page that is still there, of pages in
 * order, is a guess; it is confirmed by laps over as many, none of which may be
 * slow, and over one more, some of which must be.
 */
#include <math.h>

#include "study/translation/tlb.h"

/* Of more entries than these the guess by age must do. */
enum { HALVED_MOST = 2048 };

/* Pages at the pitch of the profile: a page, where that is longer. */
static uint64_t pitch_of(const struct tlb_question *q, size_t level)
{
    const uint64_t page = q->t->tlb[level].page;
    return page > q->t->pitch ? page : q->t->pitch;
}

/* ---- the oldest page that is there ------------------------------------- */

/* Ages between which pages begin to be slow. */
struct tlb_edge {
    uint64_t stays, gone;
};

static void narrow_edge(struct tlb_question *q, size_t level,
                        struct tlb_edge *e)
{
    enum { AT_ONCE = 80 };
    uint64_t ages[AT_ONCE];
    struct page_looks looks = {.ages = ages};
    const uint64_t most = tlb_pages_most(q, level);
    const uint64_t wanted = e->gone + e->gone / 8 + 2;
    const struct page_tour lap =
        tlb_lap(q, level, wanted < most ? wanted : most);
    const uint64_t step = (e->gone - e->stays + AT_ONCE) / (AT_ONCE + 1);
    for (uint64_t a = e->stays + step; a < e->gone && looks.count < AT_ONCE;
         a += step)
        ages[looks.count++] = a;
    const double *const excess = page_sweep_ages(
        &q->sweep, &lap, ASK_PAGE, &looks, tlb_takes(q, level, lap.count));
    for (size_t i = 0; i < looks.count; i++) {
        if (excess[i] > tlb_middle(q->t, level)) {
            e->gone = ages[i];
            return;
        }
        e->stays = ages[i];
    }
}

static uint64_t find_edge(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t page = pitch_of(q, level);
    const uint64_t most = tlb_pages_most(q, level);
    /* Pages a pitch apart fill the sets less evenly than those in order. */
    struct tlb_edge e = {.stays = tlb->fits * q->t->pitch / page / 2,
                         .gone =
                             tlb->overflows * q->t->pitch / page * 5 / 4 + 4};
    if (e.gone > most)
        e.gone = most;
    while (lab_ok(q->lab) && e.gone > e.stays + 1)
        narrow_edge(q, level, &e);
    return e.stays;
}

/* ---- laps over pages in order ------------------------------------------ */

/* Of very many places the first: those that make room first, if any do. */
static uint64_t looked_of(uint64_t count)
{
    return count > LOOKED_MOST ? LOOKS_MOST : count;
}

/* How many pages of such a lap are slow, of those that are looked at. */
static size_t count_misses(struct tlb_question *q, size_t level, uint64_t count)
{
    bool slow[LOOKED_MOST];
    return tlb_find_misses(q, level, count, looked_of(count), slow);
}

/* Whether the same pages are slow each time when there are too many. */
static bool is_steady(struct tlb_question *q, size_t level, uint64_t entries)
{
    enum { LOOKED = 64, TAKES = 15, MANY = 8192 };
    const uint64_t most = tlb_pages_most(q, level);
    const uint64_t count = entries + entries / 2 + 1;
    const struct page_tour lap = tlb_lap(q, level, count < most ? count : most);
    const size_t looked = lap.count < LOOKED ? lap.count : LOOKED;
    const unsigned wanted = tlb_takes(q, level, 3 * count);
    const unsigned takes = wanted < TAKES && count < MANY ? TAKES : wanted;
    page_sweep_laps(&q->sweep, &lap, 0, looked, takes);
    /* An excess is a difference of two loads: it spreads √2 times as far as
     * one, give or take a seventh; what differs by chance between hit and miss
     * spreads by half the step, far more. */
    /* A half: reads of the clock are whole cycles. */
    return lab_ok(q->lab) &&
           q->sweep.spread < 1.15 * sqrt(2) * q->sweep.sigma + 0.5;
}

/* Laps have the last word: the most pages that no lap finds slow, by halving.
 * Returns how many were slow of one more. */
static size_t halve(struct tlb_question *q, size_t level, uint64_t *entries)
{
    const uint64_t most = tlb_pages_most(q, level);
    uint64_t fits = *entries / 2;
    uint64_t over = *entries + *entries / 2 + 2;
    size_t more = 0;
    over = over < most ? over : most;
    while (lab_ok(q->lab) && over > fits + 1) {
        const uint64_t middle = fits + (over - fits) / 2;
        const size_t slow = count_misses(q, level, middle);
        if (slow > 0) {
            over = middle;
            more = slow;
        } else {
            fits = middle;
        }
    }
    *entries = fits;
    return more;
}

/* ---- the verdict -------------------------------------------------------- */

static void report_open(struct tlb_question *q, size_t level, const char *why)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t reach =
        tlb->fits * q->t->pitch / pitch_of(q, level) * tlb->page;
    finding_none(q->finding[level][TLB_ENTRIES], "%s", why);
    if (reach > 0)
        finding_none(q->finding[level][TLB_REACH], "%s", why);
    tlb_none(q, level, TLB_SETS, TLB_POLICY, why);
}

static void report_entries(struct tlb_question *q, size_t level,
                           uint64_t entries)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    tlb->entries = entries;
    tlb_found(q, level, TLB_ENTRIES, (double)entries);
    tlb_found(q, level, TLB_REACH, (double)(entries * tlb->page));
    finding_value(q->finding[level][TLB_REACH], STATUS_DERIVED,
                  value_number((double)(entries * tlb->page)));
}

/* True if a lap over so many pages is long enough for the TLB before to miss
 * all of them; else what that one keeps is never asked of this one. */
static bool is_asked(const struct tlb_question *q, size_t level,
                     uint64_t entries)
{
    if (level == 0)
        return true;
    const struct tlb_facts *const before = &q->t->tlb[level - 1];
    const struct page_tour lap = tlb_lap(q, level, entries);
    const uint64_t places = lap.count * (lap.subs > 0 ? lap.subs : 1);
    return before->in_order ? places > before->entries
                            : places > 3 * before->entries;
}

/* What laps over the entries that were guessed show. */
struct tlb_laps {
    bool steady;
    size_t slow, more; /* pages: of as many as fit; of one more */
};

static struct tlb_laps confirm(struct tlb_question *q, size_t level,
                               uint64_t *entries)
{
    struct tlb_laps l = {.steady = true};
    l.slow = count_misses(q, level, *entries);
    l.more = count_misses(q, level, *entries + 1);
    if ((l.slow > 0 || l.more == 0) && *entries < HALVED_MOST) {
        l.more = halve(q, level, entries);
        l.slow = count_misses(q, level, *entries);
        l.steady = is_steady(q, level, *entries);
    }
    return l;
}

/* All pages of a lap over one more than fit are slow where there is one set. */
void tlb_find_entries(struct tlb_question *q, size_t level, bool *one_set)
{
    *one_set = false;
    if (level > 0 && q->t->tlb[level - 1].entries == 0) {
        report_open(
            q, level,
            lab_why_unknown(q->lab, tlb_components[level - 1], "entries"));
        return;
    }
    uint64_t entries = find_edge(q, level);
    const bool steady = is_steady(q, level, entries);
    if (!lab_ok(q->lab))
        return;
    if (!steady || entries == 0) {
        report_open(q, level, why_tlb_random);
        return;
    }
    const struct tlb_laps laps = confirm(q, level, &entries);
    if (!lab_ok(q->lab))
        return;
    if (!is_asked(q, level, entries)) {
        report_open(q, level, why_tlb_like_before);
    } else if (laps.steady && laps.slow == 0 && laps.more > 0) {
        report_entries(q, level, entries);
        *one_set = laps.more == looked_of(entries + 1);
    } else {
        report_open(q, level, why_tlb_laps_differ);
    }
}
