/*
 * The TLBs: how many levels show, what a miss of each costs, what an entry
 * covers, how many there are, and how they are kept.  The steps are in the
 * files that tlb.h lists.
 */
#include <math.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

/* ---- a level ----------------------------------------------------------- */

/* Of so many at random half miss: of fewer than there are entries where sets
 * fill unevenly, of more where victims are random. */
static const double least_of_about = 1 / 1.7, most_of_about = 5.0 / 3;

double tlb_entries_most(const struct tlb_facts *tlb)
{
    return most_of_about * (double)tlb->about;
}

/* So many entries are not what fits in a row, of which an index may deal some
 * unevenly to sets, or what about half fit of. */
static bool contradicts(const struct tlb_facts *tlb, uint64_t all)
{
    const bool row =
        tlb->fit == 0 || (tlb->fit <= all && 5 * tlb->fit >= 3 * all);
    const double about = (double)tlb->about;
    return !row || (double)all > tlb_entries_most(tlb) ||
           (double)all < least_of_about * about;
}

/* Where no conflicts tell, if any others fit; of victims by chance only if one
 * more than fit does not come to stay in many laps, either. */
static void take_one_set(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t taken = tlb_taken(q, level);
    if (!tlb->one_set || tlb->sets > 0 || tlb->ways > 0 || tlb->of_sets > 0)
        return;
    tlb->one_set =
        tlb_draws_agree(q, level, tlb->fit - u64_min(taken, tlb->fit), true) &&
        (!tlb->chance || (tlb->fit >= taken &&
                          !tlb_ring_fits(q, level, 0, tlb->fit - taken + 1)));
    if (!tlb->one_set || !lab_ok(q->lab))
        return;
    tlb->sets = 1;
    tlb->ways = tlb->fit;
}

/* Ways by conflicts, sets by the index or one by one, and entries by what fits
 * must agree, and what one place too many in a row makes miss; else neither is
 * known.  That ways divide what fits tells no sets: these may be unequal. */
static void settle(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    /* In a window several places may lie in one region. */
    const bool by_half = !tlb->hidden && (q->window == 0 || level < q->narrow);
    const bool differ = tlb->row_ways > 0 && !tlb->chance &&
                        tlb->of_sets == 0 && tlb->ways != tlb->row_ways;
    const uint64_t all =
        tlb->of_sets > 0 ? tlb->of_sets : tlb->sets * tlb->ways;
    tlb->entries = all > 0        ? all
                   : tlb->fit > 0 ? tlb->fit
                   : by_half      ? tlb->about
                                  : 0;
    if (all == 0)
        tlb->sets = tlb->ways = 0;
    else if (differ || contradicts(tlb, all))
        tlb->entries = tlb->sets = tlb->ways = 0;
}

static void drop(struct tlb_question *q, size_t level, enum tlb_answer which)
{
    results_drop(q->lab->results, q->finding[level][which]);
    q->finding[level][which] = NULL;
}

/* All that fit in a row are entries, unless one or two were late; how many more
 * there are those at random tell. */
static void doubt(struct tlb_question *q, size_t level, enum tlb_answer which,
                  double of_one)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const double about = (double)tlb->about, fit = (double)tlb->fit,
                 error = q->halved[level] ? fit / 2 : about / 12 + 1;
    struct finding *const f = q->finding[level][which];
    finding_value(f, STATUS_IN_DOUBT,
                  value_number(of_one * (double)tlb->entries));
    finding_because(f, "%s", fit > 0 ? why_tlb_unconfirmed : why_tlb_roughly);
    finding_interval(
        f, of_one * (fit > 0 ? fit - error : floor(least_of_about * about)),
        of_one * fmax(fit + error, ceil(tlb_entries_most(tlb))), -1);
}

/* Places that push each other out may be of several sets, if ways and sets did
 * not come out: their hits and misses look like victims of chance, or like a
 * policy that they are not of (of 29 of four sets nru, where it was lru). */
static bool is_of_a_set(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const bool chance = strcmp(q->finding[level][TLB_POLICY]->value.text,
                               cache_policy_name(POLICY_RANDOM)) == 0;
    return tlb->sets > 0 && (tlb->entries > 0 || !chance);
}

/* Places of a set hit that no policy would have kept in so many ways (H200: of
 * the third TLB 16 in turn stay, where 8 push another out): the set, or how it
 * is filled, is not as it is said. */
static void doubt_odd(struct tlb_question *q, size_t level)
{
    static const enum tlb_answer rest[] = {TLB_ENTRIES, TLB_REACH, TLB_SETS,
                                           TLB_WAYS};
    for (size_t i = 0; q->odd[level] && i < COUNT_OF(rest); i++)
        if (tlb_is_found(q, level, rest[i]))
            finding_doubt(q->finding[level][rest[i]], why_policy_unlike);
}

/* Where two places miss half of the time noise does that; and where a third of
 * those that fit look as if they missed, half of the 192 loads of a lap do by
 * chance: that is 4.6 deviations, and there are some 30 laps. */
static bool is_noise(const struct tlb_facts *tlb)
{
    return tlb->sets == 0 &&
           (tlb->about < 2 || (tlb->fit == 0 && 3 * tlb->late > 1));
}

/* Addresses that push each other out: the target, and as many others as its set
 * has ways. */
static void show_conflict(struct tlb_question *q, size_t level)
{
    static const struct curve_kind members = {"conflict set", "member", "",
                                              "B"};
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const char *const component = tlb_components[level];
    for (size_t i = 0; c->set.count > 0 && i <= c->set.count; i++) {
        const uint64_t number = i == 0 ? c->target : c->set.at[i - 1];
        lab_point(q->lab, component, "ways", &members,
                  (struct curve_seen){(double)i, (double)tlb_address(q, number),
                                      q->shown_by[level][TLB_WAYS]});
    }
}

/* As many fit in a row as at random, of which half miss if there are as many as
 * entries; or, where victims are random, h = (1 - 1/E)^(n/2) = 1/2 of n in E,
 * if there are 2 ln 2 times as many. */
static bool fills_a_row(const struct tlb_facts *tlb)
{
    const double about = (double)tlb->about,
                 all = tlb->chance ? about / (2 * M_LN2) : about;
    return tlb->in_a_row > 0 &&
           (double)tlb->in_a_row + floor(all / 12) + 1 >= all;
}

/* Where not as many fit in a row as at random it may be that of regions by
 * their number every second one comes to the half of the sets: of ten sets of 7
 * ways 35 fit of twice the distance, as of regions twice as wide.  And so it
 * may be where more fit than conflicts tell of: of places that an index deals
 * to few sets, as those in a window may be, half miss of far fewer than there
 * are entries, and a longer row seems to be of two to a region (six sets of 11
 * ways: 24 at random). */
static void doubt_region(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    struct finding *const f = q->finding[level][TLB_REGION];
    const bool differ = tlb->fit > 0 && tlb->entries == 0 && q->window > 0,
               few = tlb->fit == 0 && tlb->entries > 0 && !is_noise(tlb) &&
                     !fills_a_row(tlb);
    if ((!differ && !few) || tlb->region <= tlb->page ||
        !tlb_is_found(q, level, TLB_REGION))
        return;
    finding_doubt(f,
                  tlb->fit > 0 ? why_tlb_region_unlike : why_tlb_region_rough);
    finding_interval(f, (double)tlb->page, (double)tlb->region, -1);
}

static void report_entries(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const double reach = (double)(tlb->entries * tlb->region);
    /* Entries are counted in regions as wide as the level before's, too. */
    const bool reaches = tlb_is_found(q, level, TLB_REGION) &&
                         q->finding[level][TLB_REACH]->because == NULL;
    if (tlb->entries > 0 && !is_noise(tlb)) {
        tlb_found(q, level, TLB_ENTRIES, (double)tlb->entries);
        if (reaches)
            tlb_found(q, level, TLB_REACH, reach);
        if (tlb->sets == 0) {
            doubt(q, level, TLB_ENTRIES, 1);
            if (reaches)
                doubt(q, level, TLB_REACH, (double)tlb->region);
        }
    }
    if (tlb->sets == 0)
        doubt_region(q, level);
    if (is_noise(tlb))
        tlb_none(q, level, TLB_ENTRIES, TLB_ENTRIES, why_tlb_unclear);
    if (tlb_is_found(q, level, TLB_POLICY) && !is_of_a_set(q, level))
        finding_none(q->finding[level][TLB_POLICY], "%s", why_tlb_no_conflict);
    if (tlb->sets > 0)
        tlb_found(q, level, TLB_SETS, (double)tlb->sets);
    if (tlb->ways > 0)
        tlb_found(q, level, TLB_WAYS, (double)tlb->ways);
    doubt_odd(q, level);
    /* Ways are alike or not; one set has no index, and sets that are unlike
     * have none of bits. */
    const bool unlike = tlb_is_found(q, level, TLB_SET_WAYS);
    drop(q, level, unlike ? TLB_WAYS : TLB_SET_WAYS);
    if (!unlike && tlb->ways > 0)
        show_conflict(q, level);
    if (tlb->sets == 1 || (unlike && !tlb_is_found(q, level, TLB_SET_BITS)))
        drop(q, level, TLB_SET_BITS);
}

/* What was asked last shows the sets of a level, which are told in the end; and
 * with them how many entries it has. */
static void show_sets(struct tlb_question *q, size_t level)
{
    q->shown_by[level][TLB_SETS] = q->experiment;
    q->shown_by[level][TLB_WAYS] = q->experiment;
}

static void show_entries(struct tlb_question *q, size_t level)
{
    show_sets(q, level);
    q->shown_by[level][TLB_ENTRIES] = q->experiment;
    q->shown_by[level][TLB_REACH] = q->experiment;
}

/* Where conflicts tell nothing a row of such regions may have come to half of
 * the sets, which are of regions half as wide: then twice as many fit, or as
 * many at least.  So may all places of a window; where that could not be asked
 * it may be so. */
static void narrow_region(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct finding *const f = q->finding[level][TLB_REGION];
    int differ = 0;
    if (tlb->sets > 0 || tlb->of_sets > 0 || tlb->fit == 0 || tlb->page == 0 ||
        !tlb_is_found(q, level, TLB_REGION))
        return;
    const uint64_t before = tlb->region;
    while (tlb->region > tlb->page &&
           (differ = tlb_halves_differ(q, level)) == 1) {
        tlb->region /= 2;
        tlb->fit *= 2;
        tlb->row_ways = 0;
        q->halved[level] = true;
    }
    if (tlb->region < before)
        tlb_found(q, level, TLB_REGION, (double)tlb->region);
    if (tlb->region > tlb->page &&
        (tlb->region < before || (differ == -1 && q->window > 0))) {
        finding_doubt(f, why_tlb_region_unlike);
        finding_interval(f, (double)tlb->page, (double)tlb->region, -1);
    }
}

static void excuse(struct tlb_question *q, size_t level)
{
    const char *const why = lab_excuse(q->lab);
    if (q->why[level] == NULL)
        q->why[level] = why;
}

/* Of a level that shows without the row this takes some entries. */
static void ask_built(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    tlb_find_ways(q, level);
    if (tlb->ways > 0)
        show_sets(q, level);
    take_one_set(q, level);
    if (lab_ok(q->lab) && tlb->sets != 1)
        (tlb_is_large(q, level) ? tlb_find_large : tlb_find_sets)(q, level);
    if (tlb->sets > 1 || tlb->of_sets > 0)
        show_entries(q, level);
    if (lab_ok(q->lab))
        tlb_conclude_region(q, level);
    take_one_set(q, level);
    if (q->shared[level] && tlb->sets == 0)
        tlb_none(q, level, TLB_SETS, TLB_SET_WAYS, why_tlb_shared_room);
    /* Too few addresses for conflicts are enough for halves of regions. */
    const bool told = lab_ok(q->lab);
    excuse(q, level);
    if (lab_ok(q->lab))
        narrow_region(q, level);
    if (told && lab_ok(q->lab) && (tlb->sets == 1 || c->set.count > 0))
        tlb_find_policy(q, level);
}

static void ask_level(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const bool hidden = tlb->hidden;
    tlb_lay_row(q, level);
    if (q->covered[level])
        tlb_uncover(q, level);
    excuse(q, level);
    if (tlb->hidden)
        return;
    q->why[level] = NULL;
    if (tlb->region == 0)
        q->row = (struct tlb_row){0};
    const uint64_t taken = tlb_taken(q, level);
    tlb->about -= hidden ? 0 : u64_min(taken, tlb->about / 2);
    ask_built(q, level);
    excuse(q, level);
    if (lab_ok(q->lab) && c->target > 0)
        tlb_find_sharing(q, level);
    excuse(q, level);
    tlb->about += taken;
    tlb->pushers = c->set;
    q->t->target = c->target;
}

static void conclude_level(struct tlb_question *q, size_t level)
{
    const char *const why = q->why[level];
    settle(q, level);
    if (q->t->tlb[level].sets == 0)
        for (int i = TLB_SET_WAYS; i <= TLB_SET_BITS; i++)
            if (tlb_is_found(q, level, (enum tlb_answer)i))
                finding_none(q->finding[level][i], "%s", why_tlb_ways_unlike);
    report_entries(q, level);
    tlb_none(q, level, 0, TLB_ANSWERS - 1,
             why != NULL ? why : why_tlb_no_conflict);
}

/* So many places, 2^ORDER, unless a window holds fewer. */
enum { ORDER = 14 };

/* ---- all levels -------------------------------------------------------- */

static const char *no_cost(struct tlb_question *q)
{
    if (q->unclear || q->more)
        return why_tlb_unclear;
    return lab_text(
        q->lab, q->t->levels == 0 ? why_tlb_no_cost : why_tlb_no_step,
        (double)(q->t->places.pieces * q->t->places.apart) / (1 << 30));
}

static void none_beyond(struct tlb_question *q)
{
    const char *const why = no_cost(q);
    for (size_t i = q->t->levels; i < TLBS_MOST; i++)
        for (int j = 0; j < TLB_ANSWERS; j++)
            if (i == 0)
                finding_none(q->finding[i][j], "%s", why);
            else
                drop(q, i, (enum tlb_answer)j);
}

/* What a translation from nowhere costs more: of places farther apart than
 * those that were asked beside others, whose regions a large one may have
 * covered.  Where several of them still lie in one region, as a window may hold
 * but few, only the first of each comes from nowhere, and the last but one that
 * cost the most tells; a single one may be late.  The first leaves another
 * window, too: a window that is all one region tells not what of that cost is
 * whose, and so it counts. */
static double walk_from_nowhere(struct tlb_question *q)
{
    enum { WALKS = 9, APART = 200 };
    const uint64_t piece = q->t->places.piece;
    const uint64_t apart =
        q->window > 0 ? u64_within(1, q->window / piece / WALKS, APART) : APART;
    double excess[WALKS];
    struct buf steps = {0};
    /* Mapped anew each time. */
    const struct tlb_places p =
        tlb_in_a_row(q, apart * piece, WALKS + ++q->mapped);
    for (unsigned i = 0; i < WALKS; i++)
        buf_printf(&steps, "%s!%u:2:0", i > 0 ? "," : "", i);
    q->lab->fresh = true;
    const struct column c = tlb_ask(q, &p, buf_string(&steps), " ");
    q->lab->fresh = false;
    buf_free(&steps);
    if (c.count != 2 * WALKS)
        return INFINITY;
    for (size_t i = 0; i < WALKS; i++)
        excess[i] = c.at[2 * i] - c.at[2 * i + 1];
    const double last_but_one =
        stats_quantile(excess, WALKS, (WALKS - 2.0) / (WALKS - 1.0));
    return q->window > 0 ? fmax(excess[0], last_but_one) : last_but_one;
}

/* A translation from nowhere costs far more than any that laps have shown,
 * whose walks do not differ as much: another TLB has those. */
static bool hides_more(struct tlb_question *q)
{
    const struct fact_tlbs *const t = q->t;
    const double shown =
        t->levels > 0 ? t->tlb[t->levels - 1].miss - t->tlb[0].hit : 0;
    double most = 0;
    for (size_t i = 0; i < TLB_DISTANCES; i++)
        most = fmax(most, q->anew[i]);
    /* Behind several the farthest neighbours have been walked to. */
    return t->levels > 0 &&
           (most > 2 * shown ||
            (t->levels == 1 && walk_from_nowhere(q) > 2 * shown));
}

/* What has more entries than there are places, of any region, may hold all of
 * them: unless it then reaches beyond all that can be used, as may the last
 * that shows: memory, or a window of it. */
static void report_levels(struct tlb_question *q)
{
    const struct fact_tlbs *const t = q->t;
    const uint64_t bytes = fact_memory(q->lab)->bytes,
                   used = q->window > 0 ? u64_min(q->window, bytes) : bytes;
    const struct tlb_facts *const last =
        t->levels > 0 ? &t->tlb[t->levels - 1] : NULL;
    const bool all = t->places.pieces * t->places.unit >= used ||
                     (last != NULL && last->about * last->region >= used);
    if (t->levels == 0 && (q->unclear || q->more || t->places.order < ORDER)) {
        finding_none(q->levels, "%s", no_cost(q));
    } else if (t->levels == 0 || (all && !q->more && !hides_more(q))) {
        finding_measured(q->levels, (double)t->levels);
    } else {
        finding_value(q->levels, STATUS_AT_LEAST,
                      value_number((double)t->levels));
        finding_because(q->levels, "%s", no_cost(q));
    }
}

/* What is nearer to SMs is shared by no more of them: else one of both is
 * wrong, and which is not known. */
static void compare_sharing(struct tlb_question *q)
{
    for (size_t i = 0; i + 1 < q->t->levels; i++) {
        struct finding *const near = q->finding[i][TLB_SMS_SHARING],
                              *const far = q->finding[i + 1][TLB_SMS_SHARING];
        if (!tlb_is_found(q, i, TLB_SMS_SHARING) ||
            !tlb_is_found(q, i + 1, TLB_SMS_SHARING) ||
            near->value.number <= far->value.number)
            continue;
        finding_none(near, "%s", why_tlb_shared_nearer);
        finding_none(far, "%s", why_tlb_shared_nearer);
    }
}

static void open_findings(struct tlb_question *q)
{
    q->levels = lab_finding(q->lab, "tlb", "levels");
    for (size_t level = 0; level < TLBS_MOST; level++)
        for (int i = 0; i < TLB_ANSWERS; i++)
            q->finding[level][i] = lab_finding(q->lab, tlb_components[level],
                                               tlb_answers[i].attribute);
}

/* What fails there costs what an entry covers, and not what conflicts tell. */
static void find_region(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    tlb_find_region(q, level);
    const char *const why = lab_excuse(q->lab);
    if (why == NULL)
        return;
    tlb->region = tlb->page = 0;
    tlb_none(q, level, TLB_PAGE, TLB_REACH, why);
}

static void find_levels(struct tlb_question *q)
{
    q->narrow = TLBS_MOST;
    tlb_find_levels(q);
    if (!lab_ok(q->lab))
        return;
    report_levels(q);
    finding_cite(q->levels, q->experiment);
    for (size_t i = 0; lab_ok(q->lab) && i < q->t->levels; i++) {
        find_region(q, i);
        show_entries(q, i);
    }
}

static void begin_again(struct tlb_question *q)
{
    q->t->levels = 0;
    memset(q->t->tlb, 0, sizeof q->t->tlb);
    memset(q->covered, 0, sizeof q->covered);
    memset(q->why, 0, sizeof q->why);
    open_findings(q);
}

/* Half as many places, twice as far apart, where a window holds no more, and
 * enough are left: tlb_find_ways wants six fifths of the entries of each level
 * of three quarters of the places.  Where two come to a region there are half
 * to all as many entries as half miss of. */
static bool spread_out(struct tlb_question *q)
{
    struct tlb_places *const p = &q->t->places;
    bool enough = q->narrow < q->t->levels && q->window > 0 && p->pieces > 1;
    for (size_t i = 0; i < q->t->levels && i <= q->narrow; i++)
        enough =
            enough && (q->t->tlb[i].region == 0 ? 6 : 8) * q->t->tlb[i].about <=
                          5 * (p->pieces / 2);
    if (!enough)
        return false;
    p->apart *= 2;
    p->pieces /= 2;
    p->order--;
    begin_again(q);
    return true;
}

/* Places as near to each other as the smallest page that a level has, if that
 * is nearer: to the first TLB, which covers more or of which a miss costs
 * hardly anything, they came with each other. */
static bool come_nearer(struct tlb_question *q)
{
    struct tlb_places *const p = &q->t->places;
    uint64_t page = p->unit;
    for (size_t i = 0; i < q->t->levels; i++)
        if (q->t->tlb[i].page > 0)
            page = u64_min(page, q->t->tlb[i].page);
    if (page == p->unit)
        return false;
    for (; p->unit > page; p->unit /= 2)
        p->jitter++;
    begin_again(q);
    return true;
}

static void tlb_ask_all(struct tlb_question *q)
{
    tlb_ask_neighbours(q);
    do
        find_levels(q);
    while (lab_ok(q->lab) && (come_nearer(q) || spread_out(q)));
    none_beyond(q);
    for (size_t i = 0; lab_ok(q->lab) && i < q->t->levels; i++)
        ask_level(q, i);
    q->row = (struct tlb_row){0};
    if (q->t->levels > 0)
        report_levels(q);
    for (size_t i = 0; lab_ok(q->lab) && i < q->t->levels; i++)
        conclude_level(q, i);
    compare_sharing(q);
}

/* Mappings farther apart than most regions, by an odd number of pieces, so that
 * they come to all sets.  Its bits are those of a primitive polynomial: an
 * index that folds an address upon itself (by 5 bits, say) would bring all
 * multiples of 33, which is 2^5 + 1, to few sets. */
static const uint64_t aparts[] = {131, 37, 19, 11, 7, 1};

/* In one window of pages. */
static void place(struct tlb_question *q)
{
    struct tlb_places *const p = &q->t->places;
    size_t i = 0;
    p->piece = p->unit = q->lab->info->mapping_bytes;
    p->order = ORDER;
    q->window = fact_memory(q->lab)->window;
    /* One that is as large as memory shows here alone. */
    if (q->window == 0)
        q->window = tlb_window(q);
    while (q->window > 0 && aparts[i] * p->piece << p->order > q->window)
        if (i + 1 < COUNT_OF(aparts))
            i++;
        else
            p->order--;
    p->apart = aparts[i] * p->piece;
    p->pieces = (uint64_t)1 << p->order;
}

static void tlb_run(struct lab *lab)
{
    const struct fact_memory *const memory = fact_memory(lab);
    struct tlb_question *const q = lab_alloc(lab, 1, sizeof *q);
    *q = (struct tlb_question){.lab = lab,
                               .t = fact_tlbs_write(lab),
                               .sigma = memory->sigma,
                               .disturbed = memory->disturbed};
    const uint64_t piece = lab->info->mapping_bytes;
    if (piece < TLB_PIECE_LEAST) {
        for (size_t level = 1; level < TLBS_MOST; level++)
            for (int i = 0; i < TLB_ANSWERS; i++)
                lab_absent(lab, tlb_components[level],
                           tlb_answers[i].attribute);
        if (piece == 0)
            lab_refuse(lab, "*", why_no_aliases);
        else
            lab_refuse(lab, "*", why_small_pieces, piece);
        return;
    }
    /* Mappings that are aligned lie in one window if windows are, too. */
    if ((memory->window & (memory->window - 1)) != 0) {
        lab_refuse(lab, "*", why_tlb_window);
        return;
    }
    place(q);
    open_findings(q);
    if (lab_ok(lab))
        tlb_ask_all(q);
}

const struct study study_tlb = {
    .name = "tlb",
    .question = "How many TLBs are there, and how much do they translate?",
    .method = "One line of memory is loaded at very many addresses: only its "
              "translation differs, and which addresses push another's out "
              "tells how TLBs are built.",
    .reads = FACTS(FACT_MEMORY),
    .answers = tlb_answers,
    .kernels = TEXTS("visit readers=global.cg piece=2097152",
                     "visit readers=global.cg piece=2097152 unit=2097152 "
                     "scramble=14 jitter=4"),
    .run = tlb_run,
};
