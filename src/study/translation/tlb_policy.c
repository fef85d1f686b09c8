/*
 * Which entry of a set makes room: places of one set are loaded in random
 * order, each past the nearer levels, and hits and misses are replayed on
 * models of each policy.
 */
#include <math.h>

#include "analysis/structure/policy.h"
#include "base/num.h"
#include "base/rng.h"
#include "study/translation/tlb.h"

enum { SEQUENCES = 8, LOADS_LEAST = 120, LINES_MOST = 320 };
/* Loads of each place in a sequence, the first among them; where those leave
 * two policies, as of many ways, of which few go in so few. */
enum { TIMES = 2, TIMES_MORE = 12 };

/* Places of one set; what pushes all of these out of it, some in a row and
 * others; and, of a large TLB, what pushes each of them out of nearer ones. */
struct subject {
    uint32_t line[LINES_MOST];
    size_t lines;
    uint64_t first, row;
    struct tlb_numbers others;
    unsigned times;            /* that each is loaded */
    struct tlb_conflict *near; /* NULL: what does so of the first target */
};

/* Regions of what pushes out of nearer levels, if it is of the set that is
 * asked. */
static size_t nearer_of_set(const struct tlb_question *q, size_t level)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    if (q->t->tlb[level].sets != 1)
        return 0;
    return q->row.count > 0 ? tlb_taken(q, level) : c->nearer.count;
}

/* True if so many places push out what is in a level. */
static bool are_enough(const struct tlb_question *q, size_t level,
                       uint64_t places)
{
    const uint64_t about = q->t->tlb[level].about;
    return places > about + about / 2;
}

/* A window of pages may hold so few places that all others are wanted, wherever
 * they lie; none are kept for what pushes out of nearer levels where there is
 * no such level. */
static uint64_t places_of(const struct tlb_question *q, size_t level)
{
    return level == 0 ? tlb_places_in_all(q) : tlb_places_free(q);
}

static bool is_listed(const struct subject *s, uint32_t place)
{
    for (size_t i = 0; i < s->lines; i++)
        if (s->line[i] == place)
            return true;
    return false;
}

static void take_rest(const struct tlb_question *q, size_t level,
                      struct subject *s)
{
    s->first = s->row = 0;
    for (uint32_t i = 0; i < places_of(q, level); i++)
        if (!is_listed(s, i))
            tlb_add(&s->others, i);
}

/* How many places of the only set are asked, of which some miss: half more than
 * it has ways, or fewer if too few others were left. */
static uint64_t lines_wanted(const struct tlb_question *q, size_t level)
{
    enum { MORE = 2 };
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t wanted = tlb->ways + 1 + tlb->ways / 2,
                   all = places_of(q, level),
                   others = tlb->about + tlb->about / 2 + 1;
    if (q->window == 0 || all >= wanted + others)
        return wanted;
    return u64_max(tlb->ways + MORE, all - u64_min(all, others));
}

/* More places than it has ways where they are known, so that many loads miss;
 * what pushes out of nearer levels is of the set, too, if it is the only one.
 */
static void take_conflict(const struct tlb_question *q, size_t level,
                          struct subject *s)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const uint64_t wanted = lines_wanted(q, level);
    if (tlb->sets != 1)
        s->line[s->lines++] = c->target;
    for (size_t i = 0; tlb->sets != 1 && i < c->set.count; i++) {
        s->line[s->lines++] = c->set.at[i];
        s->first = u64_max(s->first, c->set.at[i] + 1);
    }
    while (tlb->sets == 1 && s->first + nearer_of_set(q, level) < wanted &&
           s->lines < LINES_MOST && s->first < tlb_places_free(q))
        s->line[s->lines++] = (uint32_t)s->first++;
    const uint64_t free = tlb_places_free(q);
    s->row = u64_min(free - u64_min(free, s->first), 3 * tlb->about + 64);
    if (q->window > 0 && !are_enough(q, level, s->row))
        take_rest(q, level, s);
}

/* So many more of the place's set than it has ways, and up to three times as
 * many others, as the index foretells. */
static void take_members(const struct tlb_question *q, size_t level,
                         uint32_t place, uint64_t more, struct subject *s)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    s->lines = s->others.count = 0;
    for (uint32_t i = 0; i < tlb_target(q, TLB_TARGETS_MOST); i++)
        if (tlb_same_set(q, level, q->index[level], place, i) == 1) {
            if (s->lines < tlb->ways + more)
                s->line[s->lines++] = i;
            else if (s->others.count < 3 * tlb->ways)
                tlb_add(&s->others, i);
        }
}

/* What pushes a place out of nearer levels, and is of other sets. */
static void set_near(const struct tlb_question *q, size_t level, uint32_t place,
                     struct tlb_conflict *c)
{
    struct tlb_numbers *const n = &c->nearer;
    size_t kept = 0;
    c->target = place;
    tlb_set_nearer(q, level, c);
    for (size_t i = 0; i < n->count; i++)
        if (!tlb_may_share_set(q, level, q->index[level], place, n->at[i]))
            n->at[kept++] = n->at[i];
    n->count = kept;
}

/* Of a large TLB whose index is known: of some places the first of whose set
 * there are enough. */
static void take_foretold(const struct tlb_question *q, size_t level,
                          uint64_t more, struct subject *s)
{
    enum { PLACES = 64 };
    const uint64_t ways = q->t->tlb[level].ways;
    for (uint32_t i = 0; i < PLACES && 2 * s->others.count < 3 * ways; i++)
        take_members(q, level, i, more, s);
    s->near = lab_alloc(q->lab, s->lines, sizeof *s->near);
    for (size_t i = 0; i < s->lines; i++)
        set_near(q, level, s->line[i], &s->near[i]);
    s->first = tlb_pool(q, level);
    s->row = tlb_flush(q, level);
}

/* ---- sequences -------------------------------------------------------- */

/* A sequence's loads, as many as are asked and those between them. */
struct sequence {
    struct policy_load *load;
    size_t *asked, lines, loads;
    size_t count, asked_count;
};

static void add_load(struct sequence *s, uint32_t line, bool asked)
{
    if (asked)
        s->asked[s->asked_count++] = s->count;
    s->load[s->count] = (struct policy_load){
        .line = line, .first = s->count == 0, .outcome = LOAD_UNTIMED};
    s->count++;
}

/* Loads of the set for each that is asked. */
static size_t loads_each(const struct tlb_question *q, size_t level)
{
    return 1 + nearer_of_set(q, level) * tlb_conflict_of(q, level, 0)->laps;
}

/* Places of one set in random order; so many others, laps of them, lie between
 * two. */
static void draw(const struct subject *of, size_t others, unsigned laps,
                 struct rng *rng, struct sequence *s, struct buf *steps)
{
    const size_t loads = s->loads;
    for (size_t i = 0; i < loads; i++) {
        const size_t n = i < s->lines ? i : rng_below(rng, s->lines);
        for (size_t j = 0; j < laps * others; j++)
            add_load(s, (uint32_t)(s->lines + j % others), false);
        add_load(s, (uint32_t)n, true);
        if (of->near != NULL) {
            tlb_write_nearer(steps, "", &of->near[n]);
            buf_printf(steps, ",!%" PRIu32 ":1:1", of->line[n]);
        } else {
            buf_printf(steps, "%s%" PRIu32, i == 0 ? ",!" : "|", of->line[n]);
        }
    }
}

/* Too many hits look like misses for single loads to tell. */
static bool is_noisy(const struct tlb_question *q)
{
    enum { FEW = 200 };
    return FEW * fmax(q->late, q->disturbed) >= 1;
}

/* Single loads, unless that is so: where laps differ by chance none outvotes
 * another. */
static unsigned laps_of(const struct tlb_question *q, size_t level,
                        const struct tlb_conflict *near, size_t loads)
{
    const size_t each = 1 + tlb_steps_of(near);
    return !is_noisy(q)
               ? 1
               : (unsigned)u64_within(1, tlb_laps(q, level),
                                      tlb_room(q, loads * each + 1, loads));
}

/* Which loads of a sequence miss, before each of which what pushes out of
 * nearer levels is loaded if the steps do not. */
static void ask_steps(struct tlb_question *q, size_t level, unsigned laps,
                      bool between, const char *steps, const char *more,
                      struct sequence *s)
{
    struct buf nearer = {0};
    if (between)
        tlb_write_nearer(&nearer, "", tlb_conflict_of(q, level, 0));
    const struct column cycles =
        tlb_ask(q, &q->t->places, steps,
                nearer.length > 0 ? "rounds=%u %sbetween=%s" : "rounds=%u %s",
                laps, more, buf_string(&nearer));
    for (size_t i = 0; i < s->asked_count && cycles.count > 0; i++)
        s->load[s->asked[i]].outcome =
            tlb_is_slow(q, level, cycles.at + i, laps, s->asked_count)
                ? LOAD_MISS
                : LOAD_HIT;
    buf_free(&nearer);
}

static void ask_sequence(struct tlb_question *q, size_t level,
                         const struct subject *of, struct rng *rng,
                         struct sequence *s)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const unsigned laps =
        laps_of(q, level, of->near != NULL ? of->near : c, s->loads);
    struct buf steps = {0};
    if (of->row > 0)
        buf_printf(&steps, "%" PRIu64 ":%" PRIu64 ":1", of->first, of->row);
    tlb_write(&steps, "", &of->others);
    draw(of, nearer_of_set(q, level), c->laps, rng, s, &steps);
    ask_steps(q, level, laps, of->near == NULL, buf_string(&steps), "many=1 ",
              s);
    buf_free(&steps);
}

static size_t loads_of(const struct tlb_question *q, size_t level,
                       const struct subject *of)
{
    const size_t wanted = u64_max(LOADS_LEAST, of->times * of->lines),
                 each = 1 + tlb_steps_of(tlb_conflict_of(q, level, 0));
    return of->near != NULL ? wanted
                            : u64_min(wanted, tlb_room(q, each + 1, 1));
}

static uint64_t ways_of(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    return tlb->sets == 1 || tlb_is_large(q, level)
               ? tlb->ways
               : tlb_conflict_of(q, level, 0)->set.count;
}

/* So many that a second replays them: each load, on a set that is looked
 * through, for each phase of the marks of some policies. */
static size_t sequences_of(const struct tlb_question *q, size_t level,
                           const struct subject *of)
{
    static const double most = 2e8;
    const double ways = (double)ways_of(q, level);
    return (size_t)fmin(SEQUENCES, most / (ways * ways *
                                           (double)(loads_of(q, level, of) *
                                                    loads_each(q, level))));
}

/* All sequences; how many loads these are. */
static size_t ask_all(struct tlb_question *q, size_t level,
                      const struct subject *of, struct policy_load *all)
{
    const size_t loads = loads_of(q, level, of);
    const size_t sequences = sequences_of(q, level, of);
    struct rng rng;
    size_t count = 0;
    rng_seed(&rng, 1);
    for (size_t i = 0; lab_ok(q->lab) && i < sequences; i++) {
        struct sequence s = {.load = all + count,
                             .asked = lab_alloc(q->lab, loads, sizeof *s.asked),
                             .lines = of->lines,
                             .loads = loads};
        ask_sequence(q, level, of, &rng, &s);
        count += s.count;
    }
    return lab_ok(q->lab) ? count : 0;
}

/* No policy explains them.  As many as it has ways pushed each place out that
 * the index foretold; or what is late by chance looks like victims of chance.
 */
static bool is_unlike(const struct tlb_question *q, size_t level,
                      const struct policy_verdict *v)
{
    const bool foretold = q->index[level] != NULL && tlb_is_large(q, level);
    return !v->known ||
           (v->policy == POLICY_RANDOM && (foretold || is_noisy(q)));
}

/* Where the oldest makes room as many as a set has ways; where what came first
 * does twice as many, since one less than ways may be there already, which push
 * nothing out.  Under other policies a place may stay however many come. */
static uint64_t pushes_of(const struct policy_verdict *v, uint64_t ways)
{
    if (v->ambiguous || v->spare > 0)
        return 0;
    return v->policy == POLICY_LRU    ? ways
           : v->policy == POLICY_FIFO ? 2 * ways
                                      : 0;
}

static void report(struct tlb_question *q, size_t level,
                   const struct policy_verdict *v)
{
    const bool stay = v->ambiguous && v->spare > 0;
    /* Then as many others as it has ways may leave a place in it. */
    q->t->tlb[level].chance |=
        stay || (v->policy != POLICY_LRU && v->policy != POLICY_FIFO);
    const bool unlike = is_unlike(q, level, v);
    q->odd[level] &= unlike;
    q->t->tlb[level].spare = v->spare;
    q->t->tlb[level].pushes = unlike ? 0 : pushes_of(v, ways_of(q, level));
    if (unlike)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why_policy_unlike);
    else if (v->ambiguous)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY,
                 stay ? lab_text(q->lab, why_tlb_more_stay, v->spare)
                      : why_tlb_policies_alike);
    else
        tlb_found_value(q, level, TLB_POLICY,
                        value_text(cache_policy_name(v->policy)));
    if (v->spare > 0 && tlb_is_found(q, level, TLB_POLICY))
        finding_protocol(q->finding[level][TLB_POLICY], "spare",
                         value_number(v->spare));
    finding_cite(q->finding[level][TLB_POLICY], q->experiment);
}

/* Why it cannot be asked, or NULL. */
static const char *why_not(const struct tlb_question *q, size_t level,
                           const struct subject *of)
{
    if (sequences_of(q, level, of) == 0)
        return why_tlb_policy_large;
    const bool few = of->near != NULL
                         ? 2 * of->others.count < 3 * q->t->tlb[level].ways
                         : !are_enough(q, level, of->row + of->others.count);
    return few ? lab_text(q->lab, why_tlb_addresses, q->t->places.pieces)
               : NULL;
}

/* What explains random loads of the set, beside which up to so many entries of
 * a victim buffer may be; or why that is not asked. */
static const char *explain(struct tlb_question *q, size_t level,
                           const struct subject *of, unsigned spare,
                           struct policy_verdict *v)
{
    const uint32_t ways = (uint32_t)ways_of(q, level);
    const char *why = why_not(q, level, of);
    if (why != NULL)
        return why;
    struct policy_load *const all = lab_alloc(
        q->lab, SEQUENCES * loads_of(q, level, of) * loads_each(q, level),
        sizeof *all);
    lab_spare(q->lab, true);
    const size_t count = ask_all(q, level, of, all);
    why = lab_spared(q->lab);
    if (why == NULL && count > 0)
        *v = spare > 0 ? policy_find_spare(all, count, ways, spare)
                       : policy_find(all, count, ways, false);
    return why;
}

/* True if as many places have stayed as there are in ways and victim buffer. */
static bool have_all_stayed(const struct policy_verdict *v, uint64_t more)
{
    return v->known && v->spare == more;
}

/*
 * Places that are more than ways may stay, which no policy of theirs explains:
 * in a victim buffer, which all sets have together, while none of the others
 * loses any (H200, H100: twelve of a set of eight ways of the third TLB).  More
 * places than both hold tell policies apart; where even those stay that are
 * asked at first, how many that is and which policy it is nobody knows.
 */
static void find_spare(struct tlb_question *q, size_t level,
                       struct policy_verdict *v)
{
    enum { FEW = 4 };
    const uint64_t ways = q->t->tlb[level].ways;
    for (uint64_t more = FEW; lab_ok(q->lab); more = 2 * u64_max(ways, FEW)) {
        struct subject *const of = lab_alloc(q->lab, 1, sizeof *of);
        struct policy_verdict with = {0};
        of->times = TIMES;
        take_foretold(q, level, more, of);
        if (explain(q, level, of, (unsigned)more, &with) != NULL ||
            !lab_ok(q->lab))
            return;
        const bool all = have_all_stayed(&with, more);
        /* Only what came first tells one from others then, in any phase. */
        with.ambiguous |= all;
        if (all || is_unlike(q, level, &with) || !with.ambiguous)
            *v = with;
        if (more > FEW || (!all && !is_unlike(q, level, v)))
            return;
    }
}

/* ---- one set of very many ways ----------------------------------------- */

/*
 * To ask about each load would take too long, as would replaying them.  So most
 * are runs of places in a row that nobody times, from anywhere to anywhere,
 * each past the nearer levels, and then a few places at random tell what is
 * left.
 */
enum { RUNS = 48, ASKS = 64, MANY_MOST = 4096 };

/* Half more than it has ways, with what pushes out of nearer levels. */
static uint64_t many_lines(const struct tlb_question *q, size_t level)
{
    const uint64_t ways = q->t->tlb[level].ways, all = ways + ways / 2 + 1;
    return all - u64_min(nearer_of_set(q, level), ways);
}

static void add_nearer(const struct tlb_question *q, size_t level, size_t lines,
                       struct sequence *s)
{
    const size_t others = nearer_of_set(q, level);
    const size_t laps = tlb_conflict_of(q, level, 0)->laps;
    for (size_t i = 0; i < laps * others; i++)
        add_load(s, (uint32_t)(lines + i % others), false);
}

static void add_run(const struct tlb_question *q, size_t level, uint64_t from,
                    uint64_t count, struct sequence *s, struct buf *steps)
{
    tlb_write_nearer(steps, "", tlb_conflict_of(q, level, 0));
    add_nearer(q, level, s->lines, s);
    buf_printf(steps, ",%" PRIu64 ":%" PRIu64 ":1", from, count);
    for (uint64_t i = 0; i < count; i++)
        add_load(s, (uint32_t)(from + i), false);
}

static void draw_many(const struct tlb_question *q, size_t level,
                      struct rng *rng, struct sequence *s, struct buf *steps)
{
    add_run(q, level, 0, s->lines, s, steps);
    for (size_t i = 0; i < RUNS; i++) {
        const uint64_t count = s->lines / 32 + rng_below(rng, s->lines / 16);
        add_run(q, level, rng_below(rng, s->lines - count), count, s, steps);
    }
    for (size_t i = 0; i < ASKS; i++) {
        const uint32_t n = (uint32_t)rng_below(rng, s->lines);
        add_nearer(q, level, s->lines, s);
        add_load(s, n, true);
        buf_printf(steps, "%s%" PRIu32, i == 0 ? ",!" : "|", n);
    }
}

static void ask_many(struct tlb_question *q, size_t level, struct rng *rng,
                     struct sequence *s)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const unsigned laps = laps_of(q, level, c, ASKS);
    const uint64_t row =
        u64_min(tlb_places_free(q) - s->lines, 3 * q->t->tlb[level].about + 64);
    struct buf steps = {0};
    buf_printf(&steps, "%zu:%" PRIu64 ":1", s->lines, row);
    draw_many(q, level, rng, s, &steps);
    ask_steps(q, level, laps, true, buf_string(&steps), "", s);
    buf_free(&steps);
}

/* Loads of a sequence at most. */
static size_t many_loads(const struct tlb_question *q, size_t level)
{
    const size_t lines = many_lines(q, level);
    return lines + RUNS * lines / 8 + ASKS +
           (1 + RUNS + ASKS) * (loads_each(q, level) - 1);
}

/* False if that cannot be asked. */
static bool explain_many(struct tlb_question *q, size_t level,
                         struct policy_verdict *v)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t lines = many_lines(q, level);
    if (tlb->sets != 1 || tlb->ways > MANY_MOST || lines < tlb->ways / 2 ||
        lines + tlb->about + tlb->about / 2 >= tlb_places_free(q))
        return false;
    const size_t most = many_loads(q, level);
    struct policy_load *const all =
        lab_alloc(q->lab, SEQUENCES * most, sizeof *all);
    size_t asked[ASKS], count = 0;
    struct rng rng;
    rng_seed(&rng, 1);
    lab_spare(q->lab, true);
    for (size_t i = 0; lab_ok(q->lab) && i < SEQUENCES; i++) {
        struct sequence s = {
            .load = all + count, .asked = asked, .lines = lines};
        ask_many(q, level, &rng, &s);
        count += s.count;
    }
    const bool told = lab_spared(q->lab) == NULL && lab_ok(q->lab);
    if (told)
        *v = policy_find_many(all, count, (uint32_t)tlb->ways);
    return told;
}

void tlb_find_policy(struct tlb_question *q, size_t level)
{
    struct subject *const of = lab_alloc(q->lab, 1, sizeof *of);
    const bool large = tlb_is_large(q, level) && q->t->tlb[level].sets != 1;
    struct policy_verdict v = {.policy = POLICY_COUNT};
    if (large && q->index[level] == NULL)
        return;
    of->times = TIMES;
    if (large)
        take_foretold(q, level, 1, of);
    else
        take_conflict(q, level, of);
    if (of->lines < 2)
        return;
    const char *why = explain(q, level, of, 0, &v);
    if (why == why_tlb_policy_large && explain_many(q, level, &v))
        why = NULL;
    else if (why == NULL && v.known && v.ambiguous && lab_ok(q->lab)) {
        of->times = TIMES_MORE;
        why = explain(q, level, of, 0, &v);
    }
    if (lab_ok(q->lab) && why != NULL)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why);
    if (why != NULL || v.policy == POLICY_COUNT)
        return;
    q->odd[level] = large && !is_noisy(q) && is_unlike(q, level, &v);
    if (q->odd[level])
        find_spare(q, level, &v);
    if (lab_ok(q->lab))
        report(q, level, &v);
}
