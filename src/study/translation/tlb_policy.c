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

/* Places of one set, more than it has ways where they are known, so that many
 * loads miss; what pushes out of nearer levels is of it, too, if it is the only
 * one. */
static size_t lines_of(struct tlb_question *q, size_t level, uint32_t *line)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    size_t count = 0;
    if (tlb->sets == 1) {
        const uint64_t wanted = tlb->ways + 1 + tlb->ways / 2;
        while (count + c->nearer.count < wanted && count < LINES_MOST) {
            line[count] = (uint32_t)count;
            count++;
        }
        return count;
    }
    line[count++] = c->target;
    for (size_t i = 0; i < c->set.count; i++)
        line[count++] = c->set.at[i];
    return count;
}

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
        .line = line, .first = s->count == 0, .outcome = LOAD_UNKNOWN};
    s->count++;
}

/* What pushes out of nearer levels, if it is of the set that is asked. */
static size_t nearer_of_set(const struct tlb_question *q, size_t level)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    return q->t->tlb[level].sets == 1 ? c->nearer.count : 0;
}

/* Loads of the set for each that is asked. */
static size_t loads_each(const struct tlb_question *q, size_t level)
{
    return 1 + nearer_of_set(q, level) * tlb_conflict_of(q, level, 0)->laps;
}

/* Places of one set in random order; so many others, laps of them, lie between
 * two. */
static void draw(const uint32_t *line, size_t others, unsigned laps,
                 struct rng *rng, struct sequence *s, struct buf *steps)
{
    const size_t loads = s->loads;
    for (size_t i = 0; i < loads; i++) {
        const size_t n = i < s->lines ? i : rng_below(rng, s->lines);
        for (size_t j = 0; j < laps * others; j++)
            add_load(s, (uint32_t)(s->lines + j % others), false);
        add_load(s, (uint32_t)n, true);
        buf_printf(steps, "%s%" PRIu32, i == 0 ? "!" : "|", line[n]);
    }
}

/* Places in a row that are none of the lines, which push these out. */
struct others {
    uint32_t first;
    uint64_t count;
};

/* Single loads, unless too many hits look like misses: where laps differ by
 * chance none outvotes another. */
static unsigned laps_of(const struct tlb_question *q, size_t level,
                        size_t loads)
{
    enum { FEW = 200 };
    const size_t each = 1 + tlb_steps_of(tlb_conflict_of(q, level, 0));
    return FEW * fmax(q->late, q->disturbed) < 1
               ? 1
               : (unsigned)u64_within(1, tlb_laps(q, level),
                                      tlb_room(q, loads * each + 1, loads));
}

static void ask_sequence(struct tlb_question *q, size_t level,
                         const struct others *others, const char *loads,
                         struct sequence *s)
{
    const unsigned laps = laps_of(q, level, s->asked_count);
    struct buf between = {0}, steps = {0};
    buf_printf(&steps, "%" PRIu32 ":%" PRIu64 ":1,%s", others->first,
               others->count, loads);
    tlb_write_nearer(&between, "", tlb_conflict_of(q, level, 0));
    const struct column cycles = tlb_ask(
        q, &q->t->places, buf_string(&steps),
        between.length > 0 ? "rounds=%u many=1 between=%s" : "rounds=%u many=1",
        laps, buf_string(&between));
    for (size_t i = 0; i < s->asked_count && cycles.count > 0; i++)
        s->load[s->asked[i]].outcome =
            tlb_is_slow(q, level, cycles.at + i, laps, s->asked_count)
                ? LOAD_MISS
                : LOAD_HIT;
    buf_free(&steps);
    buf_free(&between);
}

/* False if there are too few. */
static bool find_others(const struct tlb_question *q, size_t level,
                        size_t lines, struct others *others)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    uint32_t first = tlb->sets == 1 ? (uint32_t)lines : 0;
    for (size_t i = 0; tlb->sets != 1 && i < c->set.count; i++)
        if (c->set.at[i] >= first)
            first = c->set.at[i] + 1;
    const uint64_t left = tlb_places_free(q) - first;
    others->first = first;
    others->count = u64_min(left, 3 * tlb->about + 64);
    return left > tlb->about + tlb->about / 2;
}

static size_t loads_of(size_t lines)
{
    return u64_max(LOADS_LEAST, 2 * lines);
}

static uint64_t ways_of(const struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    return tlb->sets == 1 ? tlb->ways : tlb_conflict_of(q, level, 0)->set.count;
}

/* So many that a second replays them: each load, on a set that is looked
 * through, for each phase of the marks of some policies. */
static size_t sequences_of(const struct tlb_question *q, size_t level,
                           size_t lines)
{
    static const double most = 2e8;
    const double ways = (double)ways_of(q, level);
    return (size_t)fmin(
        SEQUENCES, most / (ways * ways *
                           (double)(loads_of(lines) * loads_each(q, level))));
}

/* All sequences; how many loads these are. */
static size_t ask_all(struct tlb_question *q, size_t level,
                      const uint32_t *line, size_t lines,
                      struct policy_load *all)
{
    const size_t loads = loads_of(lines);
    const size_t sequences = sequences_of(q, level, lines);
    struct others others;
    struct rng rng;
    size_t count = 0;
    rng_seed(&rng, 1);
    if (!find_others(q, level, lines, &others)) {
        tlb_none(q, level, TLB_POLICY, TLB_POLICY,
                 lab_text(q->lab, why_tlb_addresses, q->t->places.pieces));
        return 0;
    }
    for (size_t i = 0; lab_ok(q->lab) && i < sequences; i++) {
        struct buf steps = {0};
        struct sequence s = {.load = all + count,
                             .asked = lab_alloc(q->lab, loads, sizeof *s.asked),
                             .lines = lines,
                             .loads = loads};
        draw(line, nearer_of_set(q, level), tlb_conflict_of(q, level, 0)->laps,
             &rng, &s, &steps);
        ask_sequence(q, level, &others, buf_string(&steps), &s);
        count += s.count;
        buf_free(&steps);
    }
    return lab_ok(q->lab) ? count : 0;
}

void tlb_find_policy(struct tlb_question *q, size_t level)
{
    uint32_t line[LINES_MOST];
    const size_t lines = lines_of(q, level, line);
    if (lines < 2)
        return;
    if (sequences_of(q, level, lines) == 0) {
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why_tlb_policy_large);
        return;
    }
    struct policy_load *const all =
        lab_alloc(q->lab, SEQUENCES * loads_of(lines) * loads_each(q, level),
                  sizeof *all);
    lab_spare(q->lab, true);
    const size_t count = ask_all(q, level, line, lines, all);
    const char *const why = lab_spared(q->lab);
    if (lab_ok(q->lab) && why != NULL)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why);
    if (count == 0 || why != NULL)
        return;
    const struct policy_verdict v =
        policy_find(all, count, (uint32_t)ways_of(q, level), false);
    /* Then as many others as it has ways may leave a place in it. */
    q->t->tlb[level].chance |=
        v.policy != POLICY_LRU && v.policy != POLICY_FIFO;
    if (!v.known)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why_policy_unlike);
    else if (v.ambiguous)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why_tlb_policies_alike);
    else
        tlb_found_value(q, level, TLB_POLICY,
                        value_text(cache_policy_name(v.policy)));
}
