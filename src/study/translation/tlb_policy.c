/*
 * Which entry of a set makes room: places of one set are loaded in random
 * order, each past the nearer levels, and hits and misses are replayed on
 * models of each policy.
 */
#include "analysis/structure/policy.h"
#include "base/rng.h"
#include "study/translation/tlb.h"

enum { SEQUENCES = 8, LOADS_EACH = 120, LINES_MOST = TLB_NUMBERS_MOST };

/* Places of one set, one more than it has ways. */
static size_t lines_of(struct tlb_question *q, size_t level, uint32_t *line)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    size_t count = 0;
    if (tlb->sets == 1) {
        while (count <= tlb->entries && count < LINES_MOST) {
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

static void add_sequence(struct tlb_question *q, size_t level,
                         const uint32_t *line, size_t lines, struct rng *rng,
                         struct policy_load *loads)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    struct buf steps = {0}, between = {0};
    tlb_write_reset(q, tlb_pool(q, level), "", &steps);
    for (size_t i = 0; i < LOADS_EACH; i++) {
        const size_t n = i < lines ? i : rng_below(rng, lines);
        loads[i] = (struct policy_load){.line = (uint32_t)n, .first = i == 0};
        buf_printf(&steps, ",!%" PRIu32 ":1:0", line[n]);
    }
    const unsigned laps = tlb_laps(q, level);
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    tlb_write(&between, c->nearer.at, c->nearer.count);
    const struct column cycles = tlb_ask(
        q, &q->t->places, buf_string(&steps),
        between.length > 0 ? "rounds=%u between=%s" : "rounds=%u", laps,
        buf_string(&between));
    for (size_t i = 0; i < LOADS_EACH && cycles.count > 0; i++) {
        size_t slow = 0;
        for (size_t j = i; j < cycles.count; j += LOADS_EACH)
            slow += cycles.at[j] > tlb->middle;
        loads[i].outcome = 2 * slow > laps ? LOAD_MISS : LOAD_HIT;
    }
    buf_free(&steps);
    buf_free(&between);
}

void tlb_find_policy(struct tlb_question *q, size_t level)
{
    struct policy_load *const loads =
        lab_alloc(q->lab, SEQUENCES * LOADS_EACH, sizeof *loads);
    uint32_t line[LINES_MOST + 1];
    struct rng rng;
    for (size_t i = 0; i < level; i++)
        if (q->t->tlb[i].sets != 1) {
            tlb_none(q, level, TLB_POLICY, TLB_POLICY, why_tlb_nearer_sets);
            return;
        }
    rng_seed(&rng, 1);
    const size_t lines = lines_of(q, level, line);
    if (lines > LOADS_EACH / 2)
        return;
    lab_spare(q->lab, true);
    for (size_t i = 0; lab_ok(q->lab) && i < SEQUENCES; i++)
        add_sequence(q, level, line, lines, &rng, loads + i * LOADS_EACH);
    const char *const why = lab_spared(q->lab);
    if (!lab_ok(q->lab))
        return;
    if (why != NULL) {
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why);
        return;
    }
    const struct policy_verdict v = policy_find(
        loads, SEQUENCES * LOADS_EACH, (uint32_t)lines - 1, false);
    if (!v.known)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why_policy_unlike);
    else if (v.ambiguous)
        tlb_none(q, level, TLB_POLICY, TLB_POLICY, why_tlb_policies_alike);
    else
        tlb_found_value(q, level, TLB_POLICY,
                        value_text(cache_policy_name(v.policy)));
}
