/*
 * How each cache is built: sets, ways, which address bits choose the set, and
 * which line makes room (Mei 2014, 3.2 (3) and (4); the shape is found without
 * knowing the policy, see arena.h, and the policy then by replaying measured
 * loads on models of each, see analysis/policy.h).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/arena.h"

static const char *const needs[] = {"size", NULL};
static const char *const gives[] = {
    "l1.sets",     "l1.ways",           "l1.set_ways", "l1.set_bits",
    "l1.policy",   "l1.policy_weights", "l2.sets",     "l2.ways",
    "l2.set_ways", "l2.set_bits",       "l2.policy",   "l2.policy_weights",
    NULL};
static const char *const kernels[] = {
    "visit readers=global.ca",
    "visit readers=global.cg",
    NULL,
};

enum { FINDINGS = 6 };
enum which { SETS, WAYS, SET_WAYS, SET_BITS, POLICY, WEIGHTS };
static const char *const attributes[FINDINGS] = {
    "sets", "ways", "set_ways", "set_bits", "policy", "policy_weights"};

struct inquiry {
    struct lab *lab;
    const struct level_row *row;
    const struct level_facts *facts;
    struct arena arena;
    struct arena_shape shape;
    struct finding *finding[FINDINGS];
};

static void evidence(struct inquiry *q, enum which which)
{
    if (q->arena.fits != NULL)
        finding_evidence(q->finding[which], q->arena.fits);
    if (q->arena.overflows != NULL)
        finding_evidence(q->finding[which], q->arena.overflows);
}

static void measured(struct inquiry *q, enum which which, struct value value)
{
    finding_set(q->finding[which], STATUS_MEASURED, value, "");
    evidence(q, which);
}

static void none_of_shape(struct inquiry *q, const char *why)
{
    for (int i = 0; i < FINDINGS; i++)
        finding_none(q->finding[i], "%s", why);
}

/* ---- the shape -------------------------------------------------------- */

static void report_set_ways(struct inquiry *q)
{
    const struct arena_shape *const s = &q->shape;
    if (s->index != ARENA_UNEQUAL) {
        measured(q, WAYS, value_number((double)s->ways));
        finding_none(q->finding[SET_WAYS], "all sets have the same ways");
        return;
    }
    struct value list = value_list();
    for (uint64_t i = 0; i < s->sets; i++)
        value_push(&list, value_number(s->set_ways[i]));
    measured(q, SET_WAYS, list);
    finding_none(q->finding[WAYS], "the sets have unequal ways: see set_ways");
}

/* One address bit as its number, several that are XORed as a list. */
static struct value bits_value(uint64_t mask)
{
    if ((mask & (mask - 1)) == 0)
        return value_number(__builtin_ctzll(mask));
    struct value list = value_list();
    for (; mask != 0; mask &= mask - 1)
        value_push(&list, value_number(__builtin_ctzll(mask)));
    return list;
}

static void report_bits(struct inquiry *q)
{
    const struct arena_shape *const s = &q->shape;
    if (s->index != ARENA_BITS || s->sets < 2) {
        finding_none(q->finding[SET_BITS],
                     s->sets < 2
                         ? "there is one set"
                         : "the set is chosen by the number of the line "
                           "modulo the number of sets, not by address bits");
        return;
    }
    struct value list = value_list();
    for (unsigned i = 0; (uint64_t)1 << i < s->sets; i++)
        value_push(&list, bits_value(s->bits[i]));
    measured(q, SET_BITS, list);
}

static void report_shape(struct inquiry *q)
{
    measured(q, SETS, value_number((double)q->shape.sets));
    report_set_ways(q);
    report_bits(q);
}

/* ---- the policy ------------------------------------------------------- */

/* Fewer loads than a script holds; and enough over all takes that the chance
 * of a line to be hit again is met often. */
enum { DRAWS_LEAST = 400, DRAWS_MOST = 1200, TAKES = 3 };

static int draw(struct inquiry *q, uint64_t lines, size_t visits,
                unsigned takes, struct policy_load **loads, size_t *count,
                struct error *err)
{
    const struct segment list = {0, lines, q->shape.same + q->arena.skew};
    *loads = NULL;
    *count = 0;
    for (unsigned take = 1; take <= takes; take++)
        if (arena_draw(&q->arena, &list, visits, take, loads, count, err) != 0)
            return err->code;
    return 0;
}

/* Victims for weights within 0.02, and loads of one launch: few, since a load
 * that is disturbed ends what can be followed. */
enum { VICTIMS = 12000, FOLLOWED = 300, WAYS_WEIGHED = 32 };

static int weigh(struct inquiry *q, double *weights, bool *equal,
                 struct error *err)
{
    const uint32_t ways = (uint32_t)q->shape.ways;
    size_t victims[WAYS_WEIGHED] = {0}, found = 0;
    for (unsigned take = 1; found < VICTIMS && take < 4000; take++) {
        struct policy_load *loads = NULL;
        size_t count = 0, here[WAYS_WEIGHED];
        const struct segment list = {0, ways + 1, q->shape.same};
        if (arena_draw(&q->arena, &list, FOLLOWED, take, &loads, &count, err))
            return err->code;
        found += policy_victims(loads, count, ways, here);
        for (uint32_t i = 0; i < ways; i++)
            victims[i] += here[i];
        free(loads);
    }
    double chi = 0;
    for (uint32_t i = 0; i < ways; i++) {
        const double expected = (double)found / ways;
        chi += ((double)victims[i] - expected) *
               ((double)victims[i] - expected) / expected;
        weights[i] = (double)victims[i] / (double)found;
    }
    /* Six deviations of a chi-square of ways − 1 degrees. */
    *equal = chi < ways - 1 + 6 * sqrt(2.0 * (ways - 1)) + 6;
    return 0;
}

static void say_scores(struct inquiry *q, const struct policy_verdict *v)
{
    for (int p = 0; p < POLICY_COUNT; p++)
        if (!isinf(v->score[p].likelihood)) {
            char name[48];
            snprintf(name, sizeof name, "agrees_%s",
                     cache_policy_name((enum cache_policy)p));
            finding_protocol(q->finding[POLICY], name,
                             value_number(v->score[p].agrees));
        }
    finding_protocol(q->finding[POLICY], "likelihood_lead",
                     value_number(fmin(v->lead, 1e6)));
}

static void report_policy(struct inquiry *q, enum cache_policy policy)
{
    measured(q, POLICY, value_text(cache_policy_name(policy)));
    if (policy != POLICY_WEIGHTED)
        finding_none(q->finding[WEIGHTS], "no way is preferred");
}

/* Random victims, or some ways more often than others? */
static int find_weights(struct inquiry *q, const struct policy_load *loads,
                        size_t count, bool random_explains, struct error *err)
{
    const uint32_t ways = (uint32_t)q->shape.ways;
    double weights[WAYS_WEIGHED];
    bool equal = false;
    if (ways > WAYS_WEIGHED || q->arena.lasting) {
        if (random_explains)
            report_policy(q, POLICY_RANDOM);
        return 0;
    }
    if (weigh(q, weights, &equal, err) != 0)
        return err->code;
    if (equal && random_explains)
        report_policy(q, POLICY_RANDOM);
    struct policy_score score;
    if (equal || policy_random(loads, count, weights, ways, true, &score) > 6)
        return 0;
    struct value list = value_list();
    for (uint32_t i = 0; i < ways; i++)
        value_push(&list, value_number(weights[i]));
    report_policy(q, POLICY_WEIGHTED);
    measured(q, WEIGHTS, list);
    return 0;
}

static int judge_policy(struct inquiry *q, const struct policy_load *loads,
                        size_t count, struct error *err)
{
    const struct policy_verdict v =
        policy_find(loads, count, (uint32_t)q->shape.ways, !q->arena.lasting);
    if (v.known && v.policy != POLICY_RANDOM && !v.ambiguous)
        report_policy(q, v.policy);
    else if (v.known && v.ambiguous)
        finding_none(q->finding[POLICY], "%s and %s do the same here",
                     cache_policy_name(v.policy),
                     cache_policy_name(v.runner_up));
    else if (find_weights(q, loads, count, v.known, err) != 0)
        return err->code;
    if (q->finding[POLICY]->value.kind == VALUE_NONE && !v.ambiguous)
        finding_none(q->finding[POLICY],
                     "no policy that is known explains the hits and misses");
    say_scores(q, &v);
    return 0;
}

static int find_policy(struct inquiry *q, struct error *err)
{
    const uint64_t ways = q->shape.ways;
    if (ways < 2) {
        finding_none(q->finding[POLICY], "a set of one way leaves no choice");
        finding_none(q->finding[WEIGHTS], "a set of one way leaves no choice");
        return 0;
    }
    struct policy_load *loads;
    size_t count;
    const uint64_t lines = ways + (ways > 3 ? ways / 2 : 1);
    const uint64_t wanted = 8 * lines;
    const size_t visits = wanted < DRAWS_LEAST  ? DRAWS_LEAST
                          : wanted > DRAWS_MOST ? DRAWS_MOST
                                                : wanted;
    int status = draw(q, lines, visits, TAKES, &loads, &count, err);
    if (status == 0)
        status = judge_policy(q, loads, count, err);
    free(loads);
    return status;
}

/* ---- a level ---------------------------------------------------------- */

/* What hits cost in a visit; a miss costs as much more as in a chase. */
static int find_costs(struct inquiry *q, struct error *err)
{
    struct samples s;
    if (lab_probe(q->lab, &s, NULL, err,
                  "visit readers=%s steps=4x0:8:%" PRIu64 ",32x!0:8:%" PRIu64,
                  q->arena.reader, q->arena.unit, q->arena.unit) != 0)
        return err->code;
    const size_t column = samples_column(&s, "cycles");
    double *const cycles = xreallocarray(NULL, s.rows, sizeof *cycles);
    for (size_t i = 0; i < s.rows; i++)
        cycles[i] = (double)samples_at(&s, i, column);
    q->arena.hit = stats_median(cycles, s.rows);
    q->arena.miss = q->arena.hit + q->facts->miss - q->facts->hit;
    free(cycles);
    samples_free(&s);
    return 0;
}

static int inquire(struct inquiry *q, struct error *err)
{
    const struct level_facts *const f = q->facts;
    const uint64_t least = (f->size > 0 ? f->size : f->fits) / f->line;
    const uint64_t most =
        (f->size > 0 ? f->size : f->overflows + f->overflows / 16) / f->line;
    if (find_costs(q, err) != 0 ||
        arena_shape(&q->arena, least, most, &q->shape, err) != 0)
        return err->code;
    if (q->shape.why != NULL) {
        none_of_shape(q, q->shape.why);
        return 0;
    }
    report_shape(q);
    return find_policy(q, err);
}

static const char *reader_of(const struct level_row *row)
{
    return row->of_sm ? "global.ca" : "global.cg";
}

static int ask(struct lab *lab, const struct level_row *row,
               struct level_facts *facts, struct error *err)
{
    struct inquiry q = {
        .lab = lab,
        .row = row,
        .facts = facts,
        .arena = {.lab = lab,
                  .reader = reader_of(row),
                  .unit = facts->line,
                  .span = row->of_sm ? 64u << 20 : 1u << 30,
                  .lasting = !row->of_sm}
    };
    for (int i = 0; i < FINDINGS; i++)
        q.finding[i] = lab_finding(lab, row->component, attributes[i]);
    if (facts->line == 0) {
        none_of_shape(&q, "the line is not known");
        return 0;
    }
    const int status = inquire(&q, err);
    if (lab_excuses(status))
        none_of_shape(&q, err->text);
    arena_done(&q.arena);
    arena_shape_free(&q.shape);
    return lab_excuses(status) ? 0 : status;
}

static int run(struct lab *lab, struct error *err)
{
    return lab_each_level(lab, "sets", ask, err);
}

const struct study study_structure = {
    .name = "structure",
    .question = "How is each cache built, and which line makes room?",
    .method = "Lines that push each other out, at growing distances, give "
              "ways and sets; lines that come into a full set, the address "
              "bits that choose it.  Loads of random lines of one set are "
              "replayed on models of each policy.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run = run,
};
