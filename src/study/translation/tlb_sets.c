/*
 * Which places are of a target's set: those that push it out together with all
 * but one of its conflict set.  From the distances of those the index is found:
 * XORs of address bits, or a remainder; or, of few entries, set after set.
 */
#include <stdlib.h>

#include "analysis/structure/index_function.h"
#include "base/num.h"
#include "study/translation/tlb.h"

/* Loads that a question may take; members
 * that tell no more of the index than those before, to be sure of it. */
enum { LOADS_MOST = 1 << 20, SURE = 8 };

/* What was told of numbers: of the set of the first target, or not. */
struct tlb_members {
    uint64_t asked;
    bool holds; /* an index explains them */
    bool of_set[1 << 16];
};

/* ---- the index -------------------------------------------------------- */

/* Asks about places until there are enough of the set, or no more. */
static void gather(struct tlb_question *q, size_t level,
                   const struct tlb_conflict *c)
{
    const uint64_t pool = tlb_places_free(q), unit = q->t->places.unit;
    const uint64_t afford = LOADS_MOST / tlb_loads_of_member(q, c);
    const uint64_t most = pool < afford ? pool : afford;
    const size_t step = TLB_AT_ONCE;
    struct tlb_members *const m = lab_alloc(q->lab, 1, sizeof *m);
    struct index_function f;
    index_function_begin(&f, tlb_address(q, c->target) / unit);
    q->members[level] = m;
    for (uint64_t at = 0; lab_ok(q->lab) && at + step <= most && f.since < SURE;
         at += step) {
        uint32_t number[TLB_AT_ONCE];
        for (size_t i = 0; i < step; i++)
            number[i] = (uint32_t)(at + i);
        tlb_ask_members(q, level, c, number, step, m->of_set + at);
        m->asked = at + step;
        for (size_t i = 0; i < step; i++)
            index_function_add(&f, tlb_address(q, at + i) / unit,
                               m->of_set[at + i]);
    }
    m->holds = f.since >= SURE && index_function_holds(&f);
    index_function_end(&f);
}

static struct value bits_of(const struct index_function *f, unsigned first)
{
    struct value list = value_list();
    for (size_t i = 0; i < f->masks; i++) {
        struct value bits = value_list();
        unsigned count = 0, last = 0;
        for (unsigned b = 0; b < 64; b++)
            if ((f->mask[i] >> b & 1) != 0) {
                last = first + b;
                value_push(&bits, value_number(last));
                count++;
            }
        value_push(&list, count == 1 ? value_number(last) : bits);
        if (count == 1)
            value_free(&bits);
    }
    return list;
}

/* Of bits that addresses did not differ in nothing is known. */
static void report_bits(struct tlb_question *q, size_t level,
                        const struct index_function *f)
{
    const unsigned first = (unsigned)__builtin_ctzll(q->t->tlb[level].region);
    if ((f->seen & (f->seen + 1)) != 0)
        return;
    tlb_found_value(q, level, TLB_SET_BITS, bits_of(f, first));
    finding_protocol(q->finding[level][TLB_SET_BITS], "bits_below",
                     value_number(64 - __builtin_clzll(f->seen) + (int)first));
}

void tlb_report_index(struct tlb_question *q, size_t level,
                      const struct index_function *f)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    tlb->sets = index_function_sets(f);
    if (f->masks > 0) {
        q->index[level] = lab_alloc(q->lab, 1, sizeof *f);
        *q->index[level] = *f;
        q->index[level]->lines = NULL;
        report_bits(q, level, f);
    } else {
        tlb_none(q, level, TLB_SET_BITS, TLB_SET_BITS,
                 lab_text(q->lab, why_tlb_modulo, tlb->sets));
    }
}

/* ---- set after set ---------------------------------------------------- */

enum { EACH_MOST = 1 << 21, SETS_MOST = 64 };

/* Notes which places of a pool are of a conflict's set; false if some are of
 * another's. */
static bool label_set(struct tlb_question *q, size_t level,
                      const struct tlb_conflict *c, uint64_t pool,
                      bool *labelled)
{
    uint32_t number[TLB_AT_ONCE];
    bool member[TLB_AT_ONCE], again = false;
    for (uint64_t at = 0; at < pool; at += TLB_AT_ONCE) {
        const size_t count = u64_min(pool - at, TLB_AT_ONCE);
        for (size_t i = 0; i < count; i++)
            number[i] = (uint32_t)(at + i);
        tlb_ask_members(q, level, c, number, count, member);
        for (size_t i = 0; lab_ok(q->lab) && i < count; i++) {
            again |= member[i] && labelled[at + i];
            labelled[at + i] |= member[i];
        }
    }
    return lab_ok(q->lab) && !again;
}

/* The ways of each set that a pool of places comes to; 0 if they contradict
 * each other. */
static size_t label(struct tlb_question *q, size_t level, uint64_t pool,
                    double *ways)
{
    bool *const labelled = lab_alloc(q->lab, pool, sizeof *labelled);
    struct tlb_conflict first;
    size_t sets = 0;
    for (uint64_t i = 0; i < pool; i++) {
        struct tlb_conflict c = {.target = (uint32_t)i};
        if (labelled[i])
            continue;
        if (sets == SETS_MOST || !tlb_find_conflict(q, level, &c) ||
            !label_set(q, level, &c, pool, labelled) ||
            (sets > 0 && tlb_share_room(q, level, &first, &c)))
            return 0;
        if (sets == 0)
            first = c;
        ways[sets++] = (double)c.set.count;
    }
    return sets;
}

static int more_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Those of each set; the same of all, or unlike. */
static void report_ways(struct tlb_question *q, size_t level, double *ways,
                        size_t sets)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct value list = value_list();
    qsort(ways, sets, sizeof *ways, more_first);
    tlb->sets = sets;
    for (size_t i = 0; i < sets; i++) {
        tlb->of_sets += (uint64_t)ways[i];
        value_push(&list, value_number(ways[i]));
    }
    tlb->ways = ways[0] == ways[sets - 1] ? (uint64_t)ways[0] : 0;
    if (tlb->ways == 0)
        tlb_found_value(q, level, TLB_SET_WAYS, list);
    else
        value_free(&list);
}

/* Sets that conflicts do not tell, since they share room: nor is what pushed a
 * place out one of them. */
static void ask_beside_room(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    uint64_t ways = 0;
    const uint64_t sets = tlb_beside_room(q, level, &ways);
    if (sets == 0)
        return;
    tlb->sets = sets;
    tlb->ways = tlb->row_ways = ways;
    tlb->fit = sets * ways;
    q->conflict[level][0].set.count = 0;
    tlb_none(q, level, TLB_SET_WAYS, TLB_POLICY, why_tlb_shared_room);
}

static void ask_each_set(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    double one_by_one[SETS_MOST], *ways = one_by_one;
    /* A window of pages may hold fewer. */
    const uint64_t pool = u64_min(2 * tlb->about + 16, tlb_places_free(q));
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const uint64_t loads = pool * tlb_loads_of_member(q, c) *
                           (tlb->about / u64_max(c->set.count, 1));
    size_t sets =
        c->set.count > 0 && loads < EACH_MOST ? label(q, level, pool, ways) : 0;
    if (sets == 0 && lab_ok(q->lab))
        sets = tlb_overfill(q, level, &ways);
    if (sets > 0)
        report_ways(q, level, ways, sets);
    else if (lab_ok(q->lab))
        ask_beside_room(q, level);
}

/* As many as were asked, not one of which is of another set, tell of one. */
static bool are_all_members(const struct tlb_members *m)
{
    uint64_t i = 0;
    while (i < m->asked && m->of_set[i])
        i++;
    return i >= TLB_AT_ONCE && i == m->asked;
}

/* As many as fit with the target do wherever they lie: else it is several sets
 * that share some room. */
static bool are_of_one_set(struct tlb_question *q, size_t level)
{
    enum { OTHERS = 4 };
    const uint64_t ways = q->t->tlb[level].ways, all = tlb_places_free(q);
    for (uint64_t i = 0; i < OTHERS; i++)
        if (!tlb_ring_fits(q, level, i * (all - ways) / OTHERS, ways))
            return false;
    return lab_ok(q->lab);
}

/* What the conflicts of other targets tell, of whose places few or none were
 * asked about: XORs bring two places of a set as far apart wherever it is. */
static void add_other_conflicts(const struct tlb_question *q, size_t level,
                                uint64_t region, struct index_function *f)
{
    for (size_t i = 1; i < TLB_TARGETS; i++) {
        const struct tlb_conflict *const c = tlb_conflict_of(q, level, i);
        const uint64_t target = tlb_address(q, c->target) / region ^ f->first;
        for (size_t j = 0; j < c->set.count; j++)
            index_function_add(
                f, target ^ tlb_address(q, c->set.at[j]) / region, true);
    }
}

/* True if an index of regions explains all that was told of places. */
static bool explain(const struct tlb_question *q, size_t level, bool others,
                    struct index_function *f)
{
    const uint64_t region = q->t->tlb[level].region;
    const struct tlb_members *const m = q->members[level];
    index_function_begin(
        f, tlb_address(q, tlb_conflict_of(q, level, 0)->target) / region);
    for (uint64_t i = 0; i < m->asked; i++)
        index_function_add(f, tlb_address(q, i) / region, m->of_set[i]);
    if (others)
        add_other_conflicts(q, level, region, f);
    return f->since >= SURE && index_function_holds(f) &&
           (!others || f->masks > 0);
}

/* As tlb_same_set(), and of a remainder, too. */
static int same_set(const struct tlb_question *q, size_t level,
                    const struct index_function *f, uint64_t a, uint64_t b)
{
    const uint64_t region = q->t->tlb[level].region,
                   x = tlb_address(q, a) / region,
                   y = tlb_address(q, b) / region;
    return f->masks > 0 ? tlb_same_set(q, level, f, a, b)
                        : (x > y ? x - y : y - x) % f->modulus == 0;
}

/* Places of one other set, twice as many as there seem to be ways. */
static struct tlb_numbers of_another_set(const struct tlb_question *q,
                                         size_t level,
                                         const struct index_function *f)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const uint64_t all = tlb_places_free(q);
    struct tlb_numbers others = {0};
    uint64_t first = 0;
    while (first < all && same_set(q, level, f, c->target, first) != 0)
        first++;
    for (uint64_t i = first; i < all && others.count < 2 * c->set.count; i++)
        if (same_set(q, level, f, first, i) == 1)
            tlb_add(&others, i);
    return others;
}

static bool any_is_member(struct tlb_question *q, size_t level,
                          const struct tlb_numbers *n)
{
    bool member[2 * WAYS_MOST], any = false;
    tlb_ask_members(q, level, tlb_conflict_of(q, level, 0), n->at, n->count,
                    member);
    for (size_t i = 0; i < n->count; i++)
        any = any || member[i];
    return any;
}

/* True if another set takes nothing from the target's.  Else some of those are
 * of the target's, too, and the index is wrong; or there is room beside the
 * sets: what conflicts tell of all targets may then be of the same few sets,
 * and what these have in common is an index that foretells them. */
static bool are_apart(struct tlb_question *q, size_t level,
                      const struct index_function *f)
{
    const struct tlb_numbers others = of_another_set(q, level, f);
    if (!tlb_loses_to(q, level, tlb_conflict_of(q, level, 0), &others))
        return true;
    q->members[level]->holds = false;
    if (!any_is_member(q, level, &others) && lab_ok(q->lab)) {
        tlb_say_shared(q, level);
        q->t->tlb[level].ways = 0;
    }
    return false;
}

/* By regions, where they are known. */
static void conclude(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    struct tlb_members *const m = q->members[level];
    if (m != NULL && are_all_members(m)) {
        tlb->sets = are_of_one_set(q, level) ? 1 : 0;
        m->holds = true;
        return;
    }
    if (tlb->region == 0 || m == NULL)
        return;
    /* Of many sets too few members were met for them alone to tell. */
    bool told = false;
    for (int others = 0; !told && !q->shared[level] && others <= 1; others++) {
        struct index_function f;
        told = explain(q, level, others == 1, &f) && are_apart(q, level, &f);
        if (told) {
            tlb_report_index(q, level, &f);
            m->holds = m->holds || others == 1;
        }
        index_function_end(&f);
    }
}

void tlb_find_sets(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    if (tlb->ways > 0)
        gather(q, level, c);
    conclude(q, level);
    if (lab_ok(q->lab) &&
        (q->members[level] == NULL || !q->members[level]->holds))
        ask_each_set(q, level);
}
