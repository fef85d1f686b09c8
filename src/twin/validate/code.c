/*
 * Caches of code: functions are called of which the findings say that they fit,
 * or do not (code_trial.h).  Where calls are not as foretold, or what is said
 * of a cache contradicts itself, other values are tried in the stead of one,
 * then of two; the first with which all is as it was measured were wrong.
 *
 * All of it is run by the kernel of the studies of code, which is there.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "probe/run/functions.h"
#include "twin/memory.h"
#include "twin/validate/code_trial.h"
#include "twin/validate/trying.h"

static const char *const components[] = {"icache_l0", "icache_l1",
                                         "icache_l15"};

/* More calls than that are not as foretold of no cache that was found, by far
 * more than what noise makes of them; and, where no other value foretells them
 * either, so many more. */
static const double wrong_most = 0.1, wrong_surely = 0.25;

enum { DRAWS = 2, TRIALS_MOST = DRAWS * CODE_KINDS, SHIFTS = 3 };
/* A shorter one has places that cannot be called alone. */
enum { LINE_LEAST = 64 };

/* What is said of the cache; NULL: not for sure. */
enum said { LINE, SETS, WAYS, POLICY, SIZE, SAIDS };
static const char *const attributes[SAIDS] = {"line", "sets", "ways", "policy",
                                              "size"};

struct cache_asked {
    struct trying *t;
    const char *component;
    size_t level;
    struct rng *rng; /* that of other experiments draws what it would without */
    struct finding *said[SAIDS];
    bool bound; /* it has at least so many ways */
    struct code_asked asked;
    struct code_trial trial[TRIALS_MOST];
    size_t trials;
};

static bool is_plain(enum cache_policy p)
{
    return p == POLICY_LRU || p == POLICY_FIFO || p == POLICY_PLRU ||
           p == POLICY_NRU || p == POLICY_RANDOM;
}

/* ---- what it is, and what it may be ------------------------------------ */

static double number_of(const struct finding *f)
{
    return f != NULL && f->value.kind == VALUE_NUMBER
               ? fmin(fmax(0, f->value.number), 1e15)
               : 0;
}

/* Two bounds are of the same ways. */
static bool is_size(const struct cache_asked *c, const struct code_shape *s)
{
    const struct finding *const f =
        c->bound && c->asked.ordered ? trying_find(c->t, c->component, "size")
                                     : c->said[SIZE];
    const double bytes = (double)(s->line * s->sets * s->ways);
    return f == NULL || f->value.number == bytes ||
           (f->has_interval && f->interval[0] < f->interval[1] &&
            bytes >= f->interval[0] && bytes <= f->interval[1]);
}

/* Which values are others than those that were found. */
static unsigned changes_of(const struct cache_asked *c,
                           const struct code_shape *s)
{
    const struct code_shape *const told = &c->asked.told;
    return (unsigned)(s->line != told->line) << LINE |
           (unsigned)(s->sets != told->sets) << SETS |
           (unsigned)(s->ways != told->ways) << WAYS |
           (unsigned)(s->policy != told->policy) << POLICY |
           (unsigned)!is_size(c, s) << SIZE;
}

static unsigned count_of(unsigned changes)
{
    return (unsigned)__builtin_popcount(changes);
}

static bool is_alike(const struct code_shape *a, const struct code_shape *b)
{
    return a->line == b->line && a->sets == b->sets && a->ways == b->ways &&
           a->policy == b->policy;
}

struct candidates {
    struct code_shape *at;
    size_t count;
};

static void add(struct candidates *all, struct code_shape s)
{
    if (s.line < LINE_LEAST || s.sets == 0 || s.ways == 0)
        return;
    all->at = xreallocarray(all->at, all->count + 1, sizeof *all->at);
    all->at[all->count++] = s;
}

/* An index may begin above the bits of a line, which no finding says. */
static void add_shifted(struct candidates *all, struct code_shape s)
{
    for (s.shift = 0; s.shift <= SHIFTS; s.shift++)
        if (s.shift == 0 || (s.sets > 1 && u64_is_power(s.sets)))
            add(all, s);
}

static uint64_t by(double a, double b)
{
    return b > 0 && fmod(a, b) == 0 ? (uint64_t)(a / b) : 0;
}

static void add_products(struct candidates *all, struct code_shape told)
{
    static const uint64_t twice[] = {2, 4, 1}; /* of halves */
    enum { EACH = COUNT_OF(twice) };
    for (int i = 0; i < EACH * EACH * EACH; i++) {
        struct code_shape s = told;
        s.line = told.line * twice[i % EACH] / 2;
        s.sets = told.sets * twice[i / EACH % EACH] / 2;
        s.ways = told.ways * twice[i / EACH / EACH] / 2;
        add_shifted(all, s);
    }
}

static void add_with(struct candidates *all, struct code_shape s, uint64_t sets,
                     uint64_t ways)
{
    s.sets = sets;
    s.ways = ways;
    add(all, s);
}

static void add_numbers(struct candidates *all, struct code_shape told,
                        double size)
{
    enum { MORE = 3 };
    const uint64_t sets = told.sets, ways = told.ways;
    for (uint64_t more = 1; more <= MORE; more++) {
        add_with(all, told, sets, ways + more);
        add_with(all, told, sets, ways > more ? ways - more : 0);
    }
    add_with(all, told, sets + 1, ways);
    add_with(all, told, sets - 1, ways);
    add_with(all, told, sets, by(size, (double)(told.line * sets)));
    add_with(all, told, by(size, (double)(told.line * ways)), ways);
}

/* What the other values make of each; few more and less; twice and half, of one
 * or of several. */
static struct candidates candidates_of(const struct cache_asked *c)
{
    const struct code_shape told = c->asked.told;
    struct candidates all = {0};
    add_products(&all, told);
    if (!c->bound)
        add_numbers(&all, told, number_of(c->said[SIZE]));
    else /* of which there may be half as many again */
        add_with(&all, told, told.sets, told.ways * 3 / 4);
    for (int p = 0; p < POLICY_COUNT && c->said[POLICY] != NULL; p++) {
        struct code_shape s = told;
        s.policy = (enum cache_policy)p;
        /* Of any number of ways chance explains nearly all. */
        if (is_plain(s.policy) && !(c->bound && code_shape_is_chance(&s)))
            add(&all, s);
    }
    return all;
}

static void forget(struct cache_asked *c)
{
    for (size_t i = 0; i < c->trials; i++)
        code_trial_free(&c->trial[i]);
    c->trials = 0;
}

/* Whether the nearest cache is known to keep what is used again and again, so
 * that those behind it are not asked for it. */
static bool keeps_loop(struct trying *t)
{
    const struct finding *const f = trying_sure(t, components[0], "policy");
    const enum cache_policy p = f != NULL && f->value.kind == VALUE_TEXT
                                    ? cache_policy_find(f->value.text)
                                    : POLICY_COUNT;
    return p == POLICY_LRU || p == POLICY_PLRU || p == POLICY_NRU;
}

/* Lines of the loop are 24 instructions, of which assemblers make 36 to 46, one
 * after the other: where there are few sets, most have some. */
static uint64_t own_ways(struct trying *t, const struct code_shape *s,
                         size_t level)
{
    enum { LOOP_MOST = 48 * 16 };
    const uint64_t most = LOOP_MOST / s->line + 1;
    return s->sets > 2 * most || (level > 0 && keeps_loop(t))
               ? 0
               : (most + s->sets - 1) / s->sets;
}

/* ---- is it as foretold ------------------------------------------------- */

/* By how much calls may be otherwise: as much as those of the study were, too,
 * and some. */
static double most_of(const struct cache_asked *c)
{
    const struct value *const agrees =
        c->said[POLICY] != NULL ? finding_said(c->said[POLICY], "agrees")
                                : NULL;
    return wrong_most + (agrees != NULL && agrees->kind == VALUE_NUMBER
                             ? fmin(1 - agrees->number, wrong_most)
                             : 0);
}

/* The share of calls that are not as foretold in the worst experiment from
 * `first` on; looked for up to `enough`, from where on it is too many. */
static double worst_with(const struct cache_asked *c, size_t first,
                         const struct code_shape *shape, double enough)
{
    double worst = 0;
    for (size_t i = first; i < c->trials && worst < enough; i++)
        worst = fmax(worst, code_trial_wrong(&c->trial[i], &c->asked, shape));
    return worst;
}

/* Of a bound there may be more ways, half as many again: those with which the
 * experiments together are foretold best. */
static double worst_of(const struct cache_asked *c, size_t first,
                       const struct code_shape *shape)
{
    enum { STEPS = 16 };
    const double well = wrong_most / 4;
    const uint64_t most = c->bound ? shape->ways + shape->ways / 2 : 0;
    const uint64_t step = u64_max(shape->ways / (2 * STEPS), 1);
    double least = worst_with(c, first, shape, INFINITY);
    struct code_shape more = *shape;
    for (more.ways += step; more.ways <= most && least > well;
         more.ways += step)
        least = fmin(least, worst_with(c, first, &more, least));
    return least;
}

/* As above; 0: no more are than may be. */
static double failing(const struct cache_asked *c, size_t first,
                      const struct code_shape *shape)
{
    const double worst = worst_of(c, first, shape);
    return worst > most_of(c) ? worst : 0;
}

static void say_trial(const struct cache_asked *c, const struct code_trial *t)
{
    log_say(LOG_DEBUG,
            "%s, %s: %zu calls of %zu sets, of which %.3f miss; %.3f are not "
            "as foretold",
            c->component, code_kind_words[t->kind], t->count, t->groups / 2,
            code_trial_missed(t),
            code_trial_wrong(t, &c->asked, &c->asked.told));
}

/* Of a bound of which the policy is not modelled it is asked whether so much
 * fits.  Beside lines of the loop what other policies do hangs on more than how
 * many these are. */
static bool is_asked(const struct cache_asked *c, enum code_kind kind)
{
    const enum cache_policy p = c->asked.told.policy;
    const bool plain =
        p == POLICY_LRU || p == POLICY_FIFO || p == POLICY_RANDOM;
    if (kind == CODE_FITS)
        return c->asked.told.ways > c->asked.own;
    if (kind == CODE_SHARED)
        return c->said[WAYS] != NULL && c->asked.far_constant > 0;
    if (kind == (c->asked.apart ? CODE_DRAWN : CODE_OFTEN))
        return false;
    return c->asked.ordered &&
           (c->asked.own == 0 || (kind != CODE_DRAWN && plain));
}

/* Draws experiments, and runs them. */
static int measure(struct cache_asked *c)
{
    int status = 0;
    for (int kind = 0; status == 0 && kind < CODE_KINDS; kind++) {
        struct code_trial *const t = &c->trial[c->trials];
        if (!is_asked(c, (enum code_kind)kind) || trying_late(c->t) ||
            !code_trial_draw(t, (enum code_kind)kind, &c->asked, c->rng))
            continue;
        c->trials++;
        status = code_trial_measure(t, &c->asked, c->t->device, c->t->err);
        if (status == 0)
            say_trial(c, t);
    }
    return status;
}

/* ---- who it was -------------------------------------------------------- */

static struct value value_of(const struct code_shape *s, enum said said)
{
    const uint64_t numbers[SAIDS] = {[LINE] = s->line,
                                     [SETS] = s->sets,
                                     [WAYS] = s->ways,
                                     [SIZE] = s->line * s->sets * s->ways};
    return said == POLICY ? value_text(cache_policy_name(s->policy))
                          : value_number((double)numbers[said]);
}

/* What each of several has: the least and the most. */
static void doubt_within(struct cache_asked *c, enum said said,
                         const struct candidates *are, const char *because)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < are->count && said != POLICY; i++) {
        const double other = value_of(&are->at[i], said).number;
        low = fmin(low, other);
        high = fmax(high, other);
    }
    trying_doubt_within(c->t, c->said[said], low, high, because);
}

static void doubt(struct cache_asked *c, unsigned which,
                  const struct candidates *are, const char *because)
{
    for (int i = 0; i < SAIDS; i++) {
        struct finding *const f = c->said[i];
        if ((which >> i & 1) == 0 || f == NULL)
            continue;
        if (are->count == 1)
            trying_repair(c->t, f, value_of(are->at, (enum said)i), because);
        else
            doubt_within(c, (enum said)i, are, because);
    }
}

static void doubt_bounds(struct cache_asked *c, const char *because)
{
    static const enum said bounds[] = {WAYS, SIZE};
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        struct finding *const f =
            trying_find(c->t, c->component, attributes[bounds[i]]);
        if (f != NULL)
            trying_doubt(c->t, f, &(struct value){0}, because);
    }
}

/* Where a bound does not fit. */
static void blame_bounds(struct cache_asked *c, double failed)
{
    char *const because = xasprintf("of calls of code that fit by it %.0f %% "
                                    "miss",
                                    100 * failed);
    doubt_bounds(c, because);
    free(because);
}

/* All values that one or another has that explains it: of several nobody knows
 * which it is. */
static void blame(struct cache_asked *c, const struct candidates *are,
                  double failed)
{
    const struct code_shape *const is = are->at;
    unsigned changed = 0;
    for (size_t i = 0; i < are->count; i++)
        changed |= changes_of(c, &are->at[i]);
    char *const because = xasprintf(
        "%s; %" PRIu64 " sets of %s%" PRIu64 " lines of %" PRIu64 " B%s%s%s",
        failed > 0 ? "it does not foretell which calls of code miss that no "
                     "study made"
                   : "it contradicts what else was found",
        is->sets, c->bound ? "at least " : "", is->ways, is->line,
        is->policy < POLICY_COUNT ? ", " : "",
        is->policy < POLICY_COUNT ? cache_policy_name(is->policy) : "",
        are->count > 1 ? ", or others, would" : " would");
    doubt(c, changed, are, because);
    if (c->bound && (changed & (1u << WAYS | 1u << SIZE)) != 0)
        doubt_bounds(c, because);
    free(because);
}

/* By laps most policies are alike. */
static bool asks_order(const struct code_trial *t)
{
    return t->kind == CODE_DRAWN || t->kind == CODE_OFTEN;
}

/* Nothing else explains it: the policy, if all that does not hang on it is as
 * foretold; else all that says which lines meet. */
static void blame_all(struct cache_asked *c, double failed)
{
    const unsigned lines = 1u << LINE | 1u << SETS | 1u << WAYS;
    bool order = c->said[POLICY] != NULL;
    for (size_t i = 0; i < c->trials; i++) {
        const struct code_trial *const t = &c->trial[i];
        order = order &&
                (asks_order(t) ||
                 code_trial_wrong(t, &c->asked, &c->asked.told) <= most_of(c));
    }
    char *const because = xasprintf(
        "of calls of code that no study made %.0f %% do not hit and miss as "
        "foretold, and no other value foretells them",
        100 * failed);
    doubt(c, order ? 1u << POLICY : lines, &(struct candidates){0}, because);
    if (c->bound && !order)
        doubt_bounds(c, because);
    free(because);
}

/* Whether all is as another cache foretells: if what was found does not, of
 * less than half as many calls it does not, or else it explains nothing. */
static bool explains(const struct cache_asked *c, const struct code_shape *s,
                     double failed)
{
    const double most = most_of(c);
    return worst_of(c, 0, s) <= (failed > 0 ? fmin(most, failed / 2) : most);
}

/* Of several those count that leave how much is held as it is: any cache that
 * explained to the study which calls miss holds about as much. */
static void narrow(const struct cache_asked *c, struct candidates *are)
{
    struct candidates left = {0};
    for (size_t i = 0; i < are->count; i++)
        if (is_size(c, &are->at[i]))
            add(&left, are->at[i]);
    if (left.count == 0)
        return;
    free(are->at);
    *are = left;
}

/* Of those that differ in nothing that a finding says one is enough. */
static void unite(struct candidates *are)
{
    bool same = true;
    for (size_t i = 1; i < are->count; i++)
        same = same && is_alike(&are->at[0], &are->at[i]);
    are->count = same && are->count > 1 ? 1 : are->count;
}

static void strike_out(const struct cache_asked *c, struct candidates *are)
{
    size_t left = 0;
    for (size_t i = 0; i < are->count; i++)
        if (failing(c, 0, &are->at[i]) == 0)
            are->at[left++] = are->at[i];
    are->count = left;
}

/* By each other lines come to a set: experiments that are drawn by that tell
 * which one it is. */
static int decide(const struct cache_asked *c, struct candidates *are)
{
    const struct candidates by = {xcalloc(are->count + 1, sizeof *by.at),
                                  are->count};
    int status = 0;
    for (size_t i = 0; i < are->count; i++)
        by.at[i] = are->at[i];
    for (size_t i = 0; status == 0 && i < by.count && are->count > 0; i++) {
        struct cache_asked more = *c;
        more.trials = 0;
        more.asked.told = by.at[i];
        more.asked.own = own_ways(c->t, &by.at[i], c->level);
        status = measure(&more);
        if (status == 0)
            strike_out(&more, are);
        forget(&more);
    }
    free(by.at);
    return status;
}

/* The caches that explain all with the fewest values that are others than those
 * that were found; none is changed where the index is one that no finding
 * says. */
static int explain(const struct cache_asked *c, double failed,
                   struct candidates *are)
{
    enum { CHANGES_MOST = 3 };
    struct candidates all = candidates_of(c);
    int status = 0;
    for (unsigned n = 0; status == 0 && n <= CHANGES_MOST && are->count == 0;
         n++) {
        for (size_t i = 0; i < all.count; i++)
            if (count_of(changes_of(c, &all.at[i])) == n &&
                !trying_late(c->t) && explains(c, &all.at[i], failed))
                add(are, all.at[i]);
        narrow(c, are);
        status = decide(c, are);
    }
    free(all.at);
    return status;
}

static int judge(struct cache_asked *c, double failed)
{
    struct candidates are = {0};
    if (c->bound && !c->asked.ordered) {
        blame_bounds(c, failed);
        return 0;
    }
    const int status = explain(c, failed, &are);
    unite(&are);
    if (status == 0 && are.count > 0)
        blame(c, &are, failed);
    else if (status == 0 && failed > wrong_surely)
        blame_all(c, failed);
    free(are.at);
    return status;
}

static void note(struct cache_asked *c)
{
    const double wrong = worst_of(c, 0, &c->asked.told);
    bool order = false;
    for (size_t i = 0; i < c->trials; i++)
        order = order || asks_order(&c->trial[i]);
    for (int i = 0; i < SAIDS; i++)
        if (c->said[i] != NULL &&
            (i != POLICY || order || trying_repaired(c->t, c->said[i])))
            trying_note(c->t, c->component, attributes[i], 1 - wrong,
                        c->trial[0].text);
}

/* What is not as foretold is asked twice, of other lines. */
static int ask(struct cache_asked *c)
{
    const struct code_shape *const told = &c->asked.told;
    int status = measure(c);
    if (status != 0)
        return status;
    const size_t first = c->trials;
    double failed = failing(c, 0, told);
    if (failed > 0) {
        status = measure(c);
        failed = failing(c, first, told);
    }
    if (status == 0 && (failed > 0 || !is_size(c, told)))
        status = judge(c, failed);
    if (status == 0 && c->trials > 0)
        note(c);
    return status;
}

/* ---- what is known ----------------------------------------------------- */

/* What it costs that hits all. */
struct hits {
    double call, constant;
};

/* What calls cost, by the cache that serves them; of the last none does. */
struct costs {
    double of[COUNT_OF(components) + 1];
    size_t count;
    double first; /* a miss of the nearest, which comes on top if the call
                     returns to a line of the loop that is there no more */
};

static struct costs costs_of(struct trying *t, double hit)
{
    struct costs c = {.of = {hit}, .count = 1};
    double more = told_number(&t->told, components[0], "miss_penalty");
    c.first = more;
    while (more > 0 && c.count < COUNT_OF(c.of)) {
        c.of[c.count] = c.of[c.count - 1] + more;
        more = c.count < COUNT_OF(components)
                   ? told_number(&t->told, components[c.count], "miss_penalty")
                   : 0;
        c.count++;
    }
    return c;
}

/* Calls that one cache serves differ by so much, by where the function lies
 * (H200: by 3 cycles), and what they were found to cost by a fortieth. */
static double stray_of(double cycles)
{
    return fmax(4, cycles / 40);
}

enum { LATE_LINES = 2 };

/* What a call costs that a cache serves and that returns to so many lines of
 * the loop; false if calls that another one serves cost as much. */
static bool find_late(const struct costs *c, size_t level, int lines,
                      struct code_late *late)
{
    late->cycles = c->of[level] + lines * c->first;
    late->within = stray_of(late->cycles);
    for (size_t i = 0; i < c->count; i++)
        for (int k = 0; i != level && k <= (i > 0 ? LATE_LINES : 0); k++)
            if (fabs(c->of[i] + k * c->first - late->cycles) <=
                2 * late->within)
                return false;
    return true;
}

/* Half of what misses cost more; where a hit that returns to a line of the loop
 * costs less than nearly as much, two thirds, above that, too.  False: what is
 * a miss is not known, or such hits cost as much. */
static bool set_limits(struct trying *t, size_t level, double hit,
                       struct code_asked *a)
{
    const struct costs c = costs_of(t, hit);
    if (c.count < level + 2)
        return false;
    for (size_t i = 0; i <= level; i++) {
        const double more = c.of[i + 1] - c.of[i];
        const bool less = i == 0 || c.first < more * 2 / 3;
        a->near = i > 0 ? a->far : 0;
        a->far =
            hits_limit(c.of[i] + (less && i > 0 ? c.first : 0), c.of[i + 1]);
        for (int lines = 1; i > 0 && lines <= LATE_LINES; lines++) {
            struct code_late *const late = &a->late[a->lates];
            const bool told = find_late(&c, i, lines, late);
            late->asked = i == level;
            a->lates += told;
            if (!told && !less && lines == 1 && !keeps_loop(t))
                return false;
        }
    }
    return true;
}

/* Constants that come to the same storage, through a cache that holds few. */
static void set_constants(struct trying *t, const char *component, double hit,
                          struct code_asked *a)
{
    enum { FEW = 16 * 1024 };
    const double first = told_number(&t->told, "const_l1", "miss_penalty");
    const double more = told_number(&t->told, "const_l15", "miss_penalty");
    const double size = told_number(&t->told, "const_l1", "size");
    if (strcmp(twin_storage(&t->told, component), "const_l15") == 0 &&
        hit > 0 && first > 0 && more > 0 && size > 0 && size <= FEW)
        a->far_constant = hit + first + more / 2;
}

/* Of more lines than can be called nothing is asked, nor of sets by an index
 * that is not the line number modulo their number. */
static bool set_shape(struct cache_asked *c, const struct cache_shape *like)
{
    enum { LINES_MOST = 4096 };
    struct trying *const t = c->t;
    for (int i = 0; i < SAIDS; i++)
        c->said[i] = trying_sure(t, c->component, attributes[i]);
    const struct finding *const policy = c->said[POLICY];
    const struct finding *const ways = trying_find(t, c->component, "ways");
    struct code_shape *const told = &c->asked.told;
    *told = (struct code_shape){
        .line = (uint64_t)number_of(c->said[LINE]),
        .sets = (uint64_t)number_of(c->said[SETS]),
        .ways = (uint64_t)number_of(ways),
        .policy = policy != NULL && policy->value.kind == VALUE_TEXT
                      ? cache_policy_find(policy->value.text)
                      : POLICY_COUNT,
        .like = like};
    c->bound = ways != NULL && ways->status == STATUS_AT_LEAST;
    /* Of a bound that chance decides in it is asked whether so much fits, in
     * laps: a cache that is run from when it is empty foretells no miss, and
     * one that is full of other lines, which chance takes one by one, has some.
     */
    c->asked.ordered =
        (is_plain(told->policy) ||
         (told->policy == like->policy && told->policy != POLICY_WEIGHTED)) &&
        !(c->bound && code_shape_is_chance(told));
    c->asked.patient = !c->asked.ordered || code_shape_is_chance(told);
    const bool by_line =
        c->said[SETS] == NULL || finding_said(c->said[SETS], "index") == NULL;
    return by_line && told->line >= LINE_LEAST && u64_is_power(told->line) &&
           told->line <= LINES_MOST && told->sets > 0 && told->ways > 0 &&
           told->sets <= LINES_MOST && told->ways <= LINES_MOST &&
           (c->bound || c->said[WAYS] != NULL);
}

/* Bytes that come ahead to a level, and those before; where a call has time a
 * line more than was seen of cold code does.  False: it is not known. */
static bool set_reach(struct trying *t, size_t level, double line,
                      struct code_asked *a)
{
    enum { LATE = 1 };
    double lines = 0;
    for (size_t i = 0; i <= level; i++) {
        const struct finding *const f =
            trying_find(t, components[i], "prefetch");
        if (f == NULL)
            return false;
        lines = fmax(lines, number_of(f));
    }
    a->reach = lines > 0 ? (uint64_t)((lines + LATE) * line) : 0;
    return true;
}

/* Where each set has something of what comes ahead of a call it is foretold: of
 * the nearest cache, to which it comes from the next one. */
static void set_apart(struct cache_asked *c)
{
    struct code_asked *const a = &c->asked;
    const struct finding *const f = trying_find(c->t, c->component, "prefetch");
    const struct value *const after =
        f != NULL ? finding_said(f, "after") : NULL;
    a->apart = c->level == 0 && code_trial_is_apart(a);
    a->ahead = a->apart ? (uint64_t)number_of(f) : 0;
    a->on_hits = after != NULL && after->kind == VALUE_TEXT &&
                 strcmp(after->text, "each call") == 0;
}

static int try_cache(struct trying *t, struct rng *rng, const struct profile *p,
                     size_t level, const struct hits *hits)
{
    const struct profile_path *const path = &p->paths[PATH_INSTRUCTION];
    struct cache_asked c = {
        .t = t, .component = components[level], .level = level, .rng = rng};
    struct code_asked *const a = &c.asked;
    const double line = (double)p->caches[path->cache[0]].shape.line;
    if (!set_limits(t, level, hits->call, a) || !set_reach(t, level, line, a) ||
        !set_shape(&c, &p->caches[path->cache[level]].shape))
        return 0;
    a->sector = level > 0 ? p->caches[path->cache[level - 1]].shape.sector
                          : FUNCTION_UNIT;
    a->own = own_ways(t, &a->told, level);
    set_apart(&c);
    set_constants(t, c.component, hits->constant, a);
    const int status = ask(&c);
    forget(&c);
    return status;
}

/* All levels; to make a GPU of the findings takes long, and is done again where
 * one was wrong and is another by now. */
static int try_levels(struct trying *t, const struct hits *hits)
{
    struct profile *p = trying_profile(t);
    struct rng rng = t->rng;
    int status = 0;
    for (size_t i = 0; status == 0 && i < COUNT_OF(components) && p != NULL &&
                       i < p->paths[PATH_INSTRUCTION].levels && !trying_late(t);
         i++) {
        const size_t before = t->repair_count;
        status = try_cache(t, &rng, p, i, hits);
        if (t->repair_count == before)
            continue;
        profile_free(p);
        p = trying_profile(t);
    }
    profile_free(p);
    return status;
}

static int cost_of_hit(struct trying *t, const char *text, double *hit)
{
    struct samples s = {0};
    const int status = prober_run(t->device, text, &s, NULL, t->err);
    double *const at = xcalloc(s.rows + 1, sizeof *at);
    for (size_t i = 0; i < s.rows; i++)
        at[i] = (double)samples_at(&s, i, samples_column(&s, "cycles"));
    *hit = s.rows > 0 ? stats_median(at, s.rows) : 0;
    free(at);
    samples_free(&s);
    return status != 0 && trying_excused(t) ? 0 : status;
}

int try_code(struct trying *t)
{
    struct hits hits = {0};
    if (told_number(&t->told, components[0], "miss_penalty") == 0)
        return 0;
    int status =
        cost_of_hit(t, "visit readers=code steps=64x!5216:1:0", &hits.call);
    if (status == 0 && hits.call > 0)
        status = cost_of_hit(
            t, "visit readers=code,constant steps=9x1@0:1:0,64x1@!0:1:0",
            &hits.constant);
    if (status == 0 && hits.call > 0)
        status = try_levels(t, &hits);
    return status != 0 && trying_excused(t) ? 0 : status;
}
