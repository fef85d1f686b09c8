/*
 * Which page of a set makes room when another comes: visits in a random order
 * are replayed on models of each policy, behind models of the TLBs before,
 * whose policies are known by then.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

enum { VISITS_LEAST = 240, VISITS_MOST = 960 };

/* A TLB of the model: one cache for each set. */
struct tlb_model {
    struct cache **set;
    size_t sets;
    /* Of `period` places, after which they begin again; NULL: the set is place
     * × spread modulo the sets. */
    const uint8_t *set_of;
    uint64_t period, spread;
};

static void model_new(struct tlb_model *m, const struct tlb_facts *tlb,
                      const struct tlb_deal *d, enum cache_policy policy)
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

static void model_free(struct tlb_model *m)
{
    for (size_t i = 0; i < m->sets; i++)
        cache_free(m->set[i]);
    free(m->set);
}

static bool model_hits(struct tlb_model *m, uint64_t place)
{
    const size_t set = m->set_of != NULL ? m->set_of[place % m->period]
                                         : place * m->spread % m->sets;
    return cache_access(m->set[set], place * 64) == CACHE_HIT;
}

/* The visits that are replayed: laps, then places in a random order. */
struct replay {
    uint64_t lap;
    uint32_t places[VISITS_MOST];
    bool slow[VISITS_MOST]; /* as measured */
    size_t count;
};

/* Visits a place; true if all TLBs up to the last of `m` miss it. */
static bool misses_all(struct tlb_model *m, size_t levels, uint64_t place)
{
    for (size_t i = 0; i < levels; i++)
        if (model_hits(&m[i], place))
            return false;
    return true;
}

/* Share of the visits that the models foretell. */
static double agreement(struct tlb_model *m, size_t levels,
                        const struct replay *r, bool *foretold)
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

/* What a policy foretells of the visits, and the share that it is right. */
struct foretold {
    double agrees;
    bool slow[VISITS_MOST];
};

/* Those of each policy of the level, those before being known. */
static void judge_policies(const struct tlb_question *q, size_t level,
                           const struct replay *r,
                           struct foretold of[POLICY_COUNT])
{
    const struct tlb_facts *const tlb = q->t->tlb;
    for (int p = 0; p < POLICY_COUNT; p++) {
        struct tlb_model m[TLBS_MOST] = {0};
        if (!can_be((enum cache_policy)p, &tlb[level]))
            continue;
        for (size_t i = 0; i <= level; i++) {
            model_new(&m[i], &tlb[i], &q->deals[i],
                      i == level ? (enum cache_policy)p : q->policy[i]);
            m[i].spread = tlb[level].page / tlb[i].page;
        }
        of[p].agrees = agreement(m, level + 1, r, of[p].slow);
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

static void make_replay(struct tlb_question *q, size_t level, struct replay *r)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t most = tlb_pages_most(q, level);
    if (tlb->entries > VISITS_MOST && tlb->entries + VISITS_LEAST < most)
        visit_oldest(r, tlb);
    else
        visit_at_random(r, tlb, most);
    struct page_tour lap = tlb_lap(q, level, r->lap);
    lap.subs = 0;
    const double *const excess =
        page_sweep_order(&q->sweep, &lap, r->places, r->count,
                         tlb_takes(q, level, 2 * r->lap + r->count));
    for (size_t i = 0; i < r->count; i++)
        r->slow[i] = excess[i] > tlb_middle(q->t, level);
}

/* Says of sets and ways, and of the policy unless it is said, why not. */
static void none_of_shape(struct tlb_question *q, size_t level,
                          enum tlb_answer last, const char *why)
{
    for (int i = TLB_SETS; i <= (int)last; i++)
        finding_none(q->finding[level][i], "%s", why);
    q->t->tlb[level].sets = 0;
}

/* The fewest visits of which another policy foretells something else. */
static size_t least_differing(const struct foretold of[POLICY_COUNT], int best,
                              size_t count)
{
    size_t differ = count;
    for (int p = 0; p < POLICY_COUNT; p++) {
        size_t here = 0;
        if (p == best || of[p].agrees == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            here += of[p].slow[i] != of[best].slow[i];
        differ = here < differ ? here : differ;
    }
    return differ;
}

/* One visit of twenty is more than noise can turn (TLB_AGREES), so that as many
 * must tell the policy from others. */
enum { DIFFER_ONE_OF = 20 };

static void report_policy(struct tlb_question *q, size_t level,
                          const struct foretold of[POLICY_COUNT], size_t count)
{
    struct finding *const f = q->finding[level][TLB_POLICY];
    int best = 0;
    for (int p = 1; p < POLICY_COUNT; p++)
        best = of[p].agrees > of[best].agrees ? p : best;
    if (of[best].agrees < assume(ASSUME_TLB_AGREES)) {
        none_of_shape(q, level, TLB_POLICY, why_policy_unlike);
    } else if (DIFFER_ONE_OF * least_differing(of, best, count) < count) {
        finding_none(f, why_tlb_policies_alike);
        /* Sets were found as lru and fifo show them; one set is one set. */
        if (q->t->tlb[level].sets > 1)
            none_of_shape(q, level, TLB_SET_WAYS, why_tlb_policies_alike);
    } else {
        q->policy[level] = (enum cache_policy)best;
        q->known[level] = true;
        q->t->tlb[level].in_order = best == POLICY_LRU || best == POLICY_FIFO;
        tlb_found_value(q, level, TLB_POLICY,
                        value_text(cache_policy_name((enum cache_policy)best)));
        finding_protocol(f, "agrees", value_number(of[best].agrees));
    }
}

void tlb_find_policy(struct tlb_question *q, size_t level)
{
    for (size_t i = 0; i < level; i++)
        if (!q->known[i]) {
            none_of_shape(q, level, TLB_POLICY,
                          lab_why_unknown(q->lab, tlb_components[i], "policy"));
            return;
        }
    struct replay r = {0};
    struct foretold of[POLICY_COUNT] = {0};
    make_replay(q, level, &r);
    if (!lab_ok(q->lab))
        return;
    judge_policies(q, level, &r, of);
    report_policy(q, level, of, r.count);
}
