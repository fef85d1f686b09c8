/*
 * How each cache is built: sets, ways, which address bits choose the set, and
 * which line makes room (Mei 2014, 3.2 (3) and (4); the shape is found without
 * knowing the policy, see eviction.h, and the policy then by replaying measured
 * loads on models of each, see analysis/policy.h).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/rate_test.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "study/cache/eviction.h"

static const char *const needs[] = {"size", "sharing", "window", NULL};
#define GIVES(component)                                                       \
    component ".sets", component ".ways", component ".set_ways",               \
        component ".set_bits", component ".policy",                            \
        component ".policy_weights"
static const char *const corrects[] = {
    "l1.size",       "texture.size",   "readonly.size", "local.size",
    "const_l1.size", "const_l15.size", "l2.size",       NULL,
};
static const char *const gives[] = {
    GIVES("l1"),       GIVES("texture"),   GIVES("readonly"), GIVES("local"),
    GIVES("const_l1"), GIVES("const_l15"), GIVES("l2"),       NULL};
static const char *const kernels[] = {
    "visit readers=global.ca", "visit readers=global.cg",
    "visit readers=texture",   "visit readers=readonly",
    "visit readers=constant",  NULL,
};

/* How the probe `visit` reaches each level, and over how much: address bits far
 * above a cache's size may choose its sets.  Local memory is reserved for all
 * threads that a GPU can hold: no more of it than will surely be there. */
static const struct {
    const char *reader;
    uint64_t span;
} ways_in[LEVEL_COUNT] = {
    [LEVEL_L1] = {"global.ca", 64u << 20},
    [LEVEL_TEXTURE] = {"texture", 64u << 20},
    [LEVEL_READONLY] = {"readonly", 64u << 20},
    [LEVEL_LOCAL] = {"local", 512u << 10},
    [LEVEL_CONST_L1] = {"constant", 64u << 10},
    [LEVEL_CONST_L15] = {"constant", 64u << 10},
    [LEVEL_L2] = {"global.cg", 1u << 30},
};

enum { FINDINGS = 6 };
enum which { SETS, WAYS, SET_WAYS, SET_BITS, POLICY, WEIGHTS };
static const char *const attributes[FINDINGS] = {
    "sets", "ways", "set_ways", "set_bits", "policy", "policy_weights"};

struct inquiry {
    struct lab *lab;
    const struct level_row *row;
    const struct level_facts *facts;
    struct eviction eviction;
    struct geometry shape;
    struct finding *finding[FINDINGS];
};

static void evidence(struct inquiry *q, enum which which)
{
    if (q->eviction.fits != NULL)
        finding_evidence(q->finding[which], q->eviction.fits);
    if (q->eviction.overflows != NULL)
        finding_evidence(q->finding[which], q->eviction.overflows);
}

static void measured(struct inquiry *q, enum which which, struct value value)
{
    finding_set(q->finding[which], STATUS_MEASURED, value, "");
    evidence(q, which);
}

/* There is none of this: sets chosen by a modulus have no index bits. */
static void drop(struct inquiry *q, enum which which)
{
    results_drop(q->lab->results, q->finding[which]);
    q->finding[which] = NULL;
}

static void none_of_shape(struct inquiry *q, const char *why)
{
    for (int i = 0; i < FINDINGS; i++)
        if (q->finding[i] != NULL)
            finding_none(q->finding[i], "%s", why);
}

/* ---- the shape -------------------------------------------------------- */

static void report_set_ways(struct inquiry *q)
{
    const struct geometry *const s = &q->shape;
    if (s->index != GEOMETRY_UNEQUAL) {
        measured(q, WAYS, value_number((double)s->ways));
        drop(q, SET_WAYS);
        return;
    }
    struct value list = value_list();
    for (uint64_t i = 0; i < s->sets; i++)
        value_push(&list, value_number(s->set_ways[i]));
    measured(q, SET_WAYS, list);
    drop(q, WAYS);
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
    const struct geometry *const s = &q->shape;
    if (s->index != GEOMETRY_BITS || s->sets < 2) {
        drop(q, SET_BITS);
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

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- the policy ------------------------------------------------------- */

/* Fewer loads than a script holds; and enough over all takes that the chance
 * of a line to be hit again is met often. */
enum { DRAWS_LEAST = 400, DRAWS_MOST = 1200, TAKES = 3 };

static int draw(struct inquiry *q, uint64_t lines, size_t visits,
                unsigned takes, struct policy_load **loads, size_t *count,
                struct error *err)
{
    const struct segment list = {0, lines, q->shape.same};
    *loads = NULL;
    *count = 0;
    for (unsigned take = 1; take <= takes; take++)
        if (eviction_draw(&q->eviction, &list, false, visits, take, loads,
                          count, err) != 0)
            return err->code;
    return 0;
}

/* Loads of one launch: few, since a load that is disturbed ends what can be
 * followed; and ways of which shares are told apart. */
enum {
    FOLLOWED = 250,
    FOLLOWED_LASTING = 1500, /* unevenness shows in long sequences only */
    VICTIMS_LEAST = 3000,
    VICTIMS_LASTING = 12000,
    WAYS_WEIGHED = 32
};

/* Who was the victim, over all launches.  In a cache that lasts ways have other
 * names in each, and only the unevenness can be summed. */
struct weighing {
    size_t victims[WAYS_WEIGHED], found, launches;
    size_t loads[WAYS_WEIGHED + 1], unknown[WAYS_WEIGHED + 1];
    double unevenness;
};

/* Victims until the largest share is within 0.02: 5.5 deviations. */
static size_t victims_wanted(const struct weighing *w, uint32_t ways,
                             bool lasting)
{
    if (lasting)
        return VICTIMS_LASTING;
    double most = 0;
    for (uint32_t i = 0; i < ways; i++)
        most = fmax(most, (double)w->victims[i] / (double)(w->found + 1));
    const double wanted = most * (1 - most) * (5.5 / 0.02) * (5.5 / 0.02);
    return wanted > VICTIMS_LEAST ? (size_t)wanted : VICTIMS_LEAST;
}

static int weigh(struct inquiry *q, struct weighing *w, struct error *err)
{
    const uint32_t ways = (uint32_t)q->shape.ways;
    const struct segment list = {0, ways + 1, q->shape.same};
    *w = (struct weighing){0};
    for (unsigned take = 1;
         w->found < victims_wanted(w, ways, q->eviction.lasting) && take < 1000;
         take++) {
        struct policy_load *loads = NULL;
        size_t count = 0, here[WAYS_WEIGHED];
        const int status =
            eviction_draw(&q->eviction, &list, true,
                          q->eviction.lasting ? FOLLOWED_LASTING : FOLLOWED,
                          take, &loads, &count, err);
        const size_t found =
            status == 0 ? policy_victims(loads, count, ways, here) : 0;
        /* The first loads of a launch cost what they cost. */
        for (size_t i = ways + 1; i < count; i++) {
            w->loads[loads[i].line]++;
            w->unknown[loads[i].line] += loads[i].outcome == LOAD_UNKNOWN;
        }
        free(loads);
        if (status != 0)
            return status;
        w->found += found;
        w->launches += found > 0;
        w->unevenness += policy_unevenness(here, ways, found);
        for (uint32_t i = 0; i < ways; i++)
            w->victims[i] += here[i];
    }
    if (!q->eviction.lasting) {
        w->unevenness = policy_unevenness(w->victims, ways, w->found);
        w->launches = 1;
    }
    return 0;
}

/* True if the clock could not tell some line's loads far more often than those
 * of others: what is lost then is not lost by chance, and shares are skewed. */
static bool is_skewed(const struct weighing *w, uint32_t ways)
{
    size_t loads = 0, unknown = 0;
    for (uint32_t i = 0; i <= ways; i++) {
        loads += w->loads[i];
        unknown += w->unknown[i];
    }
    for (uint32_t i = 0; i <= ways; i++)
        if (rate_test_more(w->unknown[i], w->loads[i], unknown - w->unknown[i],
                           loads - w->loads[i], 1e-6))
            return true;
    return false;
}

/* Deviations from even shares. */
static double deviations(const struct weighing *w, uint32_t ways)
{
    return w->launches == 0
               ? 0
               : w->unevenness / sqrt(2.0 * (ways - 1) * (double)w->launches);
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
        drop(q, WEIGHTS);
}

/* The shares as weights, if the loads are as likely under them as they should
 * be. */
static void report_weights(struct inquiry *q, const struct weighing *w,
                           const struct policy_load *loads, size_t count)
{
    const uint32_t ways = (uint32_t)q->shape.ways;
    double weights[WAYS_WEIGHED];
    struct policy_score score;
    for (uint32_t i = 0; i < ways; i++)
        weights[i] = (double)w->victims[i] / (double)w->found;
    if (q->eviction.lasting) {
        report_policy(q, POLICY_WEIGHTED);
        finding_none(q->finding[WEIGHTS],
                     "in a cache that outlasts launches no way can be named");
        return;
    }
    if (policy_random(loads, count, weights, ways, true, &score) > 6)
        return;
    struct value list = value_list();
    for (uint32_t i = 0; i < ways; i++)
        value_push(&list, value_number(weights[i]));
    report_policy(q, POLICY_WEIGHTED);
    measured(q, WEIGHTS, list);
}

/* Random victims, or some ways more often than others?  Shares are even within
 * 3 deviations, and uneven beyond 7. */
static int find_weights(struct inquiry *q, const struct policy_load *loads,
                        size_t count, bool random_explains, struct error *err)
{
    const uint32_t ways = (uint32_t)q->shape.ways;
    struct weighing w;
    if (ways > WAYS_WEIGHED) {
        if (random_explains)
            report_policy(q, POLICY_RANDOM);
        return 0;
    }
    if (weigh(q, &w, err) != 0)
        return err->code;
    finding_protocol(q->finding[POLICY], "victims",
                     value_number((double)w.found));
    if (w.found < VICTIMS_LEAST || is_skewed(&w, ways))
        return 0;
    const double uneven = deviations(&w, ways);
    finding_protocol(q->finding[POLICY], "uneven", value_number(uneven));
    if (uneven < 3 && random_explains)
        report_policy(q, POLICY_RANDOM);
    else if (uneven > 7)
        report_weights(q, &w, loads, count);
    return 0;
}

static int judge_policy(struct inquiry *q, const struct policy_load *loads,
                        size_t count, struct error *err)
{
    const struct policy_verdict v = policy_find(
        loads, count, (uint32_t)q->shape.ways, !q->eviction.lasting);
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

/*
 * What lies in front answers for lines that it holds: before each draw it is
 * emptied of the list's by loads that fall into its same set, but not into the
 * set that is asked.
 */
static void put_filler(struct inquiry *q)
{
    if (q->row->behind == LEVEL_COUNT)
        return;
    const struct level_facts *const front = &q->lab->facts[q->row->behind];
    const uint64_t same = q->shape.same;
    uint64_t shift = front->period;
    while (shift > 0 && shift < same &&
           (shift < q->facts->line || shift % same == 0))
        shift += front->period;
    const struct segment filler = {shift, 2 * front->ways, same};
    if (shift > 0 && shift < same && same % front->period == 0)
        q->eviction.filler = filler;
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
    const uint64_t room = q->eviction.span / q->shape.same;
    const uint64_t lines = smaller(ways + (ways > 3 ? ways / 2 : 1), room);
    if (lines <= ways) {
        finding_none(q->finding[POLICY], "no more lines of a set can be loaded "
                                         "than it has ways");
        finding_none(q->finding[WEIGHTS], "the policy is not known");
        return 0;
    }
    const uint64_t wanted = 8 * lines;
    const size_t visits = wanted < DRAWS_LEAST  ? DRAWS_LEAST
                          : wanted > DRAWS_MOST ? DRAWS_MOST
                                                : wanted;
    put_filler(q);
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
    if (lab_probe_err(q->lab, &s, NULL, err,
                  "visit readers=%s steps=4x0:8:%" PRIu64 ",32x!0:8:%" PRIu64,
                  q->eviction.reader, q->eviction.unit, q->eviction.unit) != 0)
        return err->code;
    const size_t column = samples_column(&s, "cycles");
    double *const cycles = xreallocarray(NULL, s.rows, sizeof *cycles);
    for (size_t i = 0; i < s.rows; i++)
        cycles[i] = (double)samples_at(&s, i, column);
    q->eviction.hit = stats_median(cycles, s.rows);
    /* Eight lines are held by what lies in front, if anything does. */
    if (q->row->behind != LEVEL_COUNT)
        q->eviction.hit += q->facts->hit - q->lab->facts[q->row->behind].hit;
    q->eviction.miss = q->eviction.hit + q->facts->miss - q->facts->hit;
    free(cycles);
    samples_free(&s);
    return 0;
}

static int inquire(struct inquiry *q, struct error *err)
{
    const struct level_facts *const f = q->facts;
    /* A size that was measured may be some lines off, where victims are random;
     * a rough one is too small, where some of what fits is put out. */
    const uint64_t low = f->size > 0 ? f->size : f->fits;
    const uint64_t high = f->size > 0 ? f->size : f->overflows / 4 * 5;
    const uint64_t least = (low - low / 32) / f->line;
    const uint64_t most = (high + high / 32) / f->line;
    if (find_costs(q, err) != 0 ||
        geometry_find(&q->eviction, least, most, &q->shape, err) != 0)
        return err->code;
    if (q->shape.why != NULL) {
        none_of_shape(q, q->shape.why);
        return 0;
    }
    report_shape(q);
    const int status = find_policy(q, err);
    if (!lab_excuses(status))
        return status;
    finding_none(q->finding[POLICY], "%s", err->text);
    finding_none(q->finding[WEIGHTS], "%s", err->text);
    return 0;
}

/* No more than half of the memory that there is, and within one window of
 * active pages, of which buffers of this size begin one. */
static uint64_t span_of(const struct lab *lab, enum level_id id)
{
    const int64_t memory = lab->info->value[PROPERTY_MEMORY_BYTES];
    uint64_t most = ways_in[id].span;
    if (memory > 0)
        most = smaller(most, (uint64_t)memory / 2);
    if (lab->translation.window > 0)
        most = smaller(most, lab->translation.window);
    return most;
}

/* A level before this one whose storage it shares, as `sharing` found; NULL if
 * it has its own. */
static const char *shares_with(const struct lab *lab, enum level_id id)
{
    char name[64];
    snprintf(name, sizeof name, "%s.shares_with", level_table[id].component);
    const struct finding *const f = results_find(lab->results, name);
    for (size_t i = 0;
         f != NULL && f->status == STATUS_MEASURED && i < f->value.count; i++)
        for (int before = 0; before < (int)id; before++)
            if (lab->facts[before].present &&
                strcmp(f->value.items[i].text, level_table[before].component) ==
                    0)
                return level_table[before].component;
    return NULL;
}

/* What was found of the other holds for this one: it is the same storage. */
static void take_over(struct inquiry *q, const char *other)
{
    for (int i = 0; i < FINDINGS; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", other, attributes[i]);
        const struct finding *const f = results_find(q->lab->results, name);
        if (f == NULL) {
            drop(q, (enum which)i);
            continue;
        }
        finding_copy(q->finding[i], f);
        if (f->status == STATUS_MEASURED)
            q->finding[i]->status = STATUS_DERIVED;
        finding_protocol(q->finding[i], "same_storage_as", value_text(other));
    }
}

/* Where the lines of all sets are known, so is the size: better than from rings
 * where victims are picked at random. */
static void correct_size(struct inquiry *q)
{
    const double size = (double)(q->shape.lines * q->facts->line);
    struct finding *const f =
        results_edit(q->lab->results, q->row->component, "size");
    if (f == NULL || (f->status == STATUS_MEASURED && f->value.number == size))
        return;
    if (f->value.kind == VALUE_NUMBER)
        finding_protocol(f, "by_rings", value_number(f->value.number));
    finding_set(f, STATUS_MEASURED, value_number(size), "B");
    finding_interval(f, size, size, 0.99);
    finding_because(f, "from sets and ways; rings show no clean edge here");
}

static int ask(struct lab *lab, const struct level_row *row,
               struct level_facts *facts, struct error *err)
{
    const enum level_id id = (enum level_id)(row - level_table);
    struct inquiry q = {.lab = lab,
                        .row = row,
                        .facts = facts,
                        .eviction = {.lab = lab,
                                     .reader = ways_in[id].reader,
                                     .unit = facts->line,
                                     .span = span_of(lab, id),
                                     .lasting = !row->of_sm}};
    for (int i = 0; i < FINDINGS; i++)
        q.finding[i] = lab_finding(lab, row->component, attributes[i]);
    const char *const other = shares_with(lab, id);
    if (other != NULL) {
        take_over(&q, other);
        return 0;
    }
    if (facts->line == 0 || facts->line_bound) {
        none_of_shape(&q, "the line is not known");
        return 0;
    }
    if (facts->fits == 0 || facts->overflows == 0) {
        none_of_shape(&q, "nothing that may be loaded overflows it");
        return 0;
    }
    if (facts->near_fits > 0) {
        none_of_shape(&q, "an SM finds lines in two parts of it, near and far");
        return 0;
    }
    const int status = inquire(&q, err);
    if (status == 0 && q.shape.sets > 0) {
        facts->period = q.shape.same;
        facts->ways = q.shape.ways;
        correct_size(&q);
    }
    if (lab_excuses(status))
        none_of_shape(&q, err->text);
    eviction_done(&q.eviction);
    geometry_free(&q.shape);
    return lab_excuses(status) ? 0 : status;
}

/* What only local loads show of L1, and what they show that there is not. */
static void show_l1(struct lab *lab, const char *attribute)
{
    char local[64];
    snprintf(local, sizeof local, "%s.%s", level_table[LEVEL_LOCAL].component,
             attribute);
    lab_show_l1(lab, attribute);
    if (lab->facts[LEVEL_L1].as_local && results_dropped(lab->results, local))
        lab_absent(lab, level_table[LEVEL_L1].component, attribute);
}

static int run(struct lab *lab, struct error *err)
{
    const int status = lab_each_level_err(lab, "sets", ask, err);
    for (int i = 0; i < FINDINGS; i++)
        show_l1(lab, attributes[i]);
    return status;
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
    .corrects = corrects,
    .kernels = kernels,
    .run_err = run,
};
