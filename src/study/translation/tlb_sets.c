/*
 * Which places are of a target's set: those that push it out together with all
 * but one of its conflict set.  From the distances of those the index is found:
 * XORs of address bits, or a remainder; or, of few entries, set after set.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/structure/index_function.h"
#include "base/num.h"
#include "probe/memory/access_script.h"
#include "study/translation/tlb.h"

/* Places that one script asks about at most; loads that a question may take; members
 * that tell no more of the index than those before, to be sure of it. */
enum { AT_ONCE = 64, LOADS_MOST = 1 << 20, SURE = 8 };

/* What was told of numbers: of the set of the first target, or not. */
struct tlb_members {
    uint64_t asked;
    bool holds; /* an index explains them */
    bool of_set[1 << 16];
};

static uint64_t address_of(const struct tlb_question *q, uint64_t number)
{
    const struct tlb_places *const p = &q->t->places;
    const struct access_script_places places = {p->apart, p->unit, p->order,
                                                p->jitter};
    return access_script_address(number, &places);
}

static uint64_t loads_of_one(const struct tlb_question *q, size_t level,
                             const struct tlb_conflict *c)
{
    const unsigned laps = tlb_laps(q, level);
    const uint64_t list = c->set.count + c->nearer.count + 1;
    return laps * (tlb_nearer_are_single(q, level)
                       ? 2 * list
                       : tlb_reset(q, level) + 1 + list);
}

/* As many as a script has room for: what a step takes of shared memory, and a
 * load that is kept. */
static size_t at_once(const struct tlb_question *q, size_t level,
                      const struct tlb_conflict *c)
{
    const uint64_t room = device_told(q->lab->info, PROPERTY_BLOCK_SHARED_OPTIN,
                                      48 * 1024) - 64;
    const uint64_t each = tlb_laps(q, level) *
                          (32 * (4 + c->set.count + c->nearer.count) + 8);
    const uint64_t fit = room / each;
    return fit < 1 ? 1 : fit < AT_ONCE ? (size_t)fit : AT_ONCE;
}

static bool is_listed(const struct tlb_numbers *n, uint32_t number)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->at[i] == number)
            return true;
    return false;
}

/* A place of the set is pushed out by the set itself: steps that ask so, where
 * what pushes it out of nearer levels does so for any place. */
static void write_each(const struct tlb_conflict *c, const uint32_t *number,
                       size_t count, struct buf *steps, struct buf *between)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(steps, "%s!%" PRIu32 ":2:0", i > 0 ? "," : "", number[i]);
    tlb_write(between, c->set.at, c->set.count);
}

/* Else: it pushes out the target, together with all but one of the set. */
static void write_with(const struct tlb_question *q, size_t level,
                       const struct tlb_conflict *c, const uint32_t *number,
                       size_t count, struct buf *steps, struct buf *between)
{
    for (size_t i = 0; i < count; i++) {
        tlb_write_reset(q, tlb_reset(q, level), "", steps);
        tlb_write(steps, &c->target, 1);
        tlb_write(steps, &number[i], 1);
        buf_printf(steps, ",!%" PRIu32 ":1:0", c->target);
    }
    tlb_write(between, c->set.at, c->set.count - 1);
}

/* Which of the numbers are of the target's set. */
static void ask_members(struct tlb_question *q, size_t level,
                        const struct tlb_conflict *c, const uint32_t *number,
                        size_t count, bool *member)
{
    const bool each = tlb_nearer_are_single(q, level);
    const unsigned laps = tlb_laps(q, level);
    const size_t row = each ? 2 * count : count;
    struct buf steps = {0}, between = {0};
    if (each)
        write_each(c, number, count, &steps, &between);
    else
        write_with(q, level, c, number, count, &steps, &between);
    tlb_write(&between, c->nearer.at, c->nearer.count);
    const struct column cycles =
        tlb_ask(q, &q->t->places, buf_string(&steps),
                between.length > 0 ? "rounds=%u between=%s" : "rounds=%u",
                laps, buf_string(&between));
    for (size_t i = 0; i < count && cycles.count > 0; i++) {
        size_t gone = 0;
        for (size_t j = each ? 2 * i + 1 : i; j < cycles.count; j += row)
            gone += cycles.at[j] > q->t->tlb[level].middle;
        member[i] = 2 * gone > laps;
        if (is_listed(&c->set, number[i]))
            member[i] = true;
    }
    buf_free(&steps);
    buf_free(&between);
}

/* ---- the index -------------------------------------------------------- */

/* Asks about places until there are enough of the set, or no more. */
static void gather(struct tlb_question *q, size_t level,
                   const struct tlb_conflict *c)
{
    const uint64_t pool = tlb_places_free(q, level), unit = q->t->places.unit;
    const uint64_t afford = LOADS_MOST / loads_of_one(q, level, c);
    const uint64_t most = pool < afford ? pool : afford;
    const size_t step = at_once(q, level, c);
    struct tlb_members *const m = lab_alloc(q->lab, 1, sizeof *m);
    struct index_function f;
    index_function_begin(&f, address_of(q, c->target) / unit);
    q->members[level] = m;
    for (uint64_t at = 0;
         lab_ok(q->lab) && at + step <= most && f.since < SURE; at += step) {
        uint32_t number[AT_ONCE];
        for (size_t i = 0; i < step; i++)
            number[i] = (uint32_t)(at + i);
        ask_members(q, level, c, number, step, m->of_set + at);
        m->asked = at + step;
        for (size_t i = 0; i < step; i++)
            index_function_add(&f, address_of(q, at + i) / unit,
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

static void report_index(struct tlb_question *q, size_t level,
                         const struct index_function *f)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    tlb->sets = index_function_sets(f);
    if (f->masks > 0)
        tlb_found_value(q, level, TLB_SET_BITS,
                        bits_of(f, (unsigned)__builtin_ctzll(tlb->region)));
    else
        tlb_none(q, level, TLB_SET_BITS, TLB_SET_BITS,
                 lab_text(q->lab, why_tlb_modulo, tlb->sets));
}

/* ---- set after set ---------------------------------------------------- */

enum { EACH_MOST = 1 << 19, SETS_MOST = 64 };

/* Labels all of a pool by their sets; the ways of each. */
static size_t label(struct tlb_question *q, size_t level, uint64_t pool,
                    double *ways)
{
    bool *const labelled = lab_alloc(q->lab, pool, sizeof *labelled);
    bool *const member = lab_alloc(q->lab, pool, sizeof *member);
    uint32_t *const number = lab_alloc(q->lab, pool, sizeof *number);
    size_t sets = 0;
    for (uint64_t i = 0; i < pool; i++)
        number[i] = tlb_apart(q) + (uint32_t)i;
    for (uint64_t i = 0; lab_ok(q->lab) && i < pool; i++) {
        struct tlb_conflict c = {.target = number[i]};
        if (labelled[i])
            continue;
        if (sets == SETS_MOST || !tlb_find_conflict(q, level, &c))
            return 0;
        ways[sets++] = (double)c.set.count;
        const size_t step = at_once(q, level, &c);
        for (uint64_t at = i; at < pool; at += step) {
            const size_t count = pool - at < step ? pool - at : step;
            ask_members(q, level, &c, number + at, count, member + at);
        }
        labelled[i] = true;
        for (uint64_t j = i; j < pool; j++)
            labelled[j] = labelled[j] || member[j];
    }
    return lab_ok(q->lab) ? sets : 0;
}

static int more_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void ask_each_set(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    double ways[SETS_MOST];
    const uint64_t pool = 2 * tlb->about + 16;
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const uint64_t loads = pool * loads_of_one(q, level, c) *
                           (tlb->about / u64_max(c->set.count, 1));
    const size_t sets = c->set.count > 0 && loads < EACH_MOST
                            ? label(q, level, pool, ways)
                            : 0;
    if (sets == 0)
        return;
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

void tlb_find_sets(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    if (tlb->ways > 0)
        gather(q, level, c);
    if (lab_ok(q->lab) &&
        (q->members[level] == NULL || !q->members[level]->holds))
        ask_each_set(q, level);
}

/* By regions, which are known by then, or never. */
void tlb_conclude_sets(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    const struct tlb_members *const m = q->members[level];
    struct index_function f;
    if (m == NULL || tlb->sets > 0 || tlb->region == 0)
        return;
    index_function_begin(
        &f, address_of(q, tlb_conflict_of(q, level, 0)->target) / tlb->region);
    for (uint64_t i = 0; i < m->asked; i++)
        index_function_add(&f, address_of(q, i) / tlb->region, m->of_set[i]);
    if (f.since >= SURE && index_function_holds(&f)) {
        report_index(q, level, &f);
    }
    index_function_end(&f);
}
