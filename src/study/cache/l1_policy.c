/*
 * Which caches hold what a load brings in: each space is asked by loading a
 * small ring with its loads and with ld.global.cg, which only L2 keeps
 * (Groessler 2022, 4.2.1); and, since a space may have a longer way to L2, by
 * loads that find what an SM has empty, as it is when a kernel begins.
 * Hands on the cost of a hit in each level, and how much dearer a load looks
 * in a trace, where the clock is read around each, than in a chase.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/hits.h"
#include "study/lab.h"
#include "study/script.h"

static const struct answer answers[] = {
    {ONE("clock"), "trace_overhead", "cycles"},
    {ONE("l1"), "caches_global", ""},
    {0},
};

/* A ring that fits every cache there is, on one page, but some of constants;
 * and one that fits those, too. */
enum { SMALL_RING = 1024 };
static const char small_ring[] = "bytes=1024 stride=32 warm=4";
static const char smallest_ring[] = "bytes=256 stride=32 warm=4";
static const char small_local_ring[] = "bytes=1024 stride=128 warm=4";
/* A ring each of whose loads asks for a line of its own, once, on one page of
 * nearly every GPU, and no more than a module's constants. */
static const char cold_ring[] = "bytes=49152 stride=256 warm=0";

/* What loads of the small ring cost that L1 may keep, and that only L2 keeps.
 */
struct global_costs {
    struct cost ca, cg;
};

/* By where their costs lie for certain, and not by what they seem to be. */
static bool is_certain(const struct global_costs *c, bool cached)
{
    return cached ? hits_cheaper(c->ca.high, c->cg.low)
                  : !hits_cheaper(c->ca.low, c->cg.high);
}

static void report_l1(struct lab *lab, const struct global_costs *c,
                      bool cached)
{
    struct finding *const f = lab_finding(lab, "l1", "caches_global");
    if (is_certain(c, cached))
        finding_value(f, STATUS_MEASURED, value_bool(cached));
    else
        finding_none(f, why_l1_hidden);
    finding_cite(f, c->ca.experiment);
    finding_cite(f, c->cg.experiment);
    finding_protocol(f, "ca_cycles", value_number(c->ca.cycles));
    finding_protocol(f, "cg_cycles", value_number(c->cg.cycles));
}

/* The same loads traced, with how many it takes to know that to half a cycle.
 */
static struct cost trace_small_ring(struct lab *lab,
                                    const struct level_row *row)
{
    struct cost traced;
    for (unsigned visits = 256; visits <= 2048; visits *= 8) {
        const struct column c =
            lab_column(lab, "cycles", "trace %s %s visits=%u", row->load,
                       small_ring, visits);
        const struct undisturbed u = undisturbed_of(c.at, c.count, 1);
        traced = lab_cost_of(lab, &u, c.experiment);
        if (traced.high - traced.low < 1)
            break;
    }
    return traced;
}

/* What one of them costs, untimed.  In L2 others may hold up so many loads for
 * so little that hardly a run of them is free of that, and the runs near each
 * other are not: then loads and pairs of them are timed. */
static struct cost untimed(struct lab *lab, const struct level_row *row,
                           const struct cost *runs)
{
    return row->of_sm
               ? *runs
               : lab_pair_cost(lab, 2048,
                               lab_text(lab, "%s %s", row->load, small_ring));
}

/* Of the nearest cache, whose hits spread least. */
static void ask_trace_overhead(struct lab *lab, const struct level_row *row,
                               const struct cost *runs)
{
    const struct cost traced = trace_small_ring(lab, row);
    const struct cost alone = untimed(lab, row, runs);
    if (!lab_ok(lab))
        return;
    struct cost adds = lab_cost_less(&traced, &alone);
    struct fact_trace *const fact = fact_trace_write(lab);
    fact->cycles = adds.cycles;
    fact->error = fmax(adds.high - adds.cycles, adds.cycles - adds.low);
    if (adds.doubt != NULL)
        snprintf(fact->doubt, sizeof fact->doubt, "%s", adds.doubt);
    struct finding *const f = lab_finding(lab, "clock", "trace_overhead");
    adds.low = fmax(adds.low, 0);
    if (adds.cycles > 0)
        finding_cost(f, &adds);
    else
        finding_none(f, why_overhead_hidden);
    finding_cite(f, traced.experiment);
    finding_cite(f, alone.experiment);
}

/* Loads that find the SM empty find in L2 what was laid out right before; but
 * local memory, which the thread itself writes, only if no other process has L2
 * between launches. */
static bool knows_cold(const struct lab *lab, const struct level_row *row,
                       const struct cost *cold)
{
    return !(row->memory_is_own && lab->references.latest.lost) &&
           cold->doubt == NULL;
}

/* Lines so far apart that none holds two, a few at a time, which any cache
 * keeps together. */
enum { AGAIN_LINES = 4, AGAIN_APART = 1024, AGAIN_ROUNDS = 8 };
enum { AGAIN_TIMED = AGAIN_LINES * AGAIN_ROUNDS };

/* Past the caches of the SM, until L2 has the lines where it will; then twice
 * as the space loads them, behind one load that brings the translation. */
static const char *again_script(struct lab *lab, const struct level_row *row)
{
    struct script s = {0};
    const size_t past = script_reader(&s, "global.cg");
    const size_t kind = script_reader(&s, "%s", row->reader);
    for (uint64_t r = 0; r < AGAIN_ROUNDS; r++) {
        const struct segment lines = {r * AGAIN_LINES * AGAIN_APART,
                                      AGAIN_LINES, AGAIN_APART};
        script_add(&s, &(struct script_step){
                           .laps = 2, .reader = past, .places = lines});
        if (r == 0)
            script_load(&s, kind,
                        (struct segment){AGAIN_TIMED * AGAIN_APART, 1, 0});
        script_time(&s, kind, lines);
        script_time(&s, kind, lines);
    }
    return script_text(&s, lab);
}

/* Where a space has a longer way to L2, a hit may cost what L2 does by the
 * short one.  What comes from the near part of L2 does so the first time and
 * the second: only a cache before it makes the second load of a line cheaper.
 */
static bool second_is_cheaper(struct lab *lab, const struct level_row *row)
{
    double first[AGAIN_TIMED], second[AGAIN_TIMED];
    const size_t round = AGAIN_LINES * sizeof *first;
    const struct column c =
        lab_column(lab, "cycles", "visit %s", again_script(lab, row));
    if (!lab_ok(lab))
        return false;
    for (size_t r = 0; r < AGAIN_ROUNDS; r++) {
        const double *const from = c.at + 2 * r * AGAIN_LINES;
        memcpy(first + r * AGAIN_LINES, from, round);
        memcpy(second + r * AGAIN_LINES, from + AGAIN_LINES, round);
    }
    const struct undisturbed cold = undisturbed_of(first, AGAIN_TIMED, 1),
                             hit = undisturbed_of(second, AGAIN_TIMED, 1);
    return hits_cheaper(hit.high, cold.low);
}

/* What a level costs past which loads go to L2.  Cold loads tell it, unless
 * something had filled the level: then those that only L2 keeps do.  A level
 * is there if it surely is; what costs no less than L2 may be the near part of
 * L2, and what costs more cold the far one. */
static void judge_level(struct lab *lab, const struct level_row *row,
                        struct fact_cached *facts, const struct cost *hit,
                        const struct cost *cold, const struct cost *l2)
{
    const bool known = knows_cold(lab, row, cold);
    const bool as_l2 = !hits_cheaper(hit->low, l2->high);
    const bool cold_misses =
        known && hits_cheaper(hit->high, cold->low) &&
        (!as_l2 || (row->same_data && second_is_cheaper(lab, row)));
    facts->absent = as_l2 && known && !hits_cheaper(hit->low, cold->high);
    facts->hit = hit->cycles;
    facts->excess = hit->excess;
    facts->cold = cold->cycles;
    facts->present = cold_misses || hits_cheaper(hit->high, l2->low);
    facts->next_hit = cold_misses ? cold->cycles : l2->cycles;
    if (row->memory_is_own && lab->references.latest.lost)
        snprintf(facts->why, sizeof facts->why, "%s", why_l2_lost);
    else
        snprintf(facts->why, sizeof facts->why,
                 facts->absent ? why_space_uncached : why_space_hidden,
                 row->words);
}

/* The least of some traces: others make them dearer. */
static struct cost least_cold(struct lab *lab, const struct level_row *row)
{
    enum { TAKES = 5 };
    struct cost least = {0};
    for (int take = 0; lab_ok(lab) && take < TAKES; take++) {
        const struct column c = lab_column(
            lab, "cycles", "trace %s %s visits=192", row->load, cold_ring);
        for (size_t i = 0; i < c.count; i++)
            c.at[i] -= fact_trace(lab)->cycles;
        const struct undisturbed u = undisturbed_of(c.at, c.count, 1);
        const struct cost cost = lab_cost_of(lab, &u, c.experiment);
        if (take == 0 || cost.cycles < least.cycles)
            least = cost;
    }
    return least;
}

/* Loads that find nothing in the SM.  Nothing is warm: what the first run had
 * to wait for besides, as for its code, the other one has not, and their
 * difference is too little by that. */
static struct cost cold_cost(struct lab *lab, const struct level_row *row)
{
    const struct cost runs =
        lab_chase(lab, "chase %s %s visits=64", row->load, cold_ring);
    /* Of runs that are late for the most part the densest half is not dense: a
     * twentieth is half of what tells a hit. */
    const bool clear = runs.doubt == NULL &&
                       runs.high - runs.low < 0.05 * runs.cycles &&
                       !hits_cheaper(runs.cycles, runs.first);
    return clear ? runs : least_cold(lab, row);
}

/* What hits cost.  A cache of constants may be smaller than the small ring:
 * where that is late by half of what blurs averages (a quarter of what a miss
 * adds), or costs what a miss or L2 does, a smaller one tells. */
static struct cost warm_cost(struct lab *lab, const struct level_row *row,
                             const struct cost *cold, const struct cost *l2)
{
    const char *const ring = row->apart > 32 ? small_local_ring : small_ring;
    const struct cost warm = lab_load_cost(lab, "%s %s", row->load, ring);
    const bool clear = warm.doubt == NULL &&
                       8 * fabs(warm.excess) < cold->low - warm.high &&
                       hits_cheaper(warm.low, l2->high);
    return row->bound == NULL || clear || !lab_ok(lab)
               ? warm
               : lab_load_cost(lab, "%s %s", row->load, smallest_ring);
}

/* Of a level that is neither L1 nor L2: what hits cost, and what loads that
 * find nothing in the SM cost.  What the space cannot do does not end the
 * study. */
static void ask_space(struct lab *lab, const struct level_row *row,
                      struct fact_cached *facts, const struct cost *l2)
{
    const int64_t constants = lab->info->value[PROPERTY_CONSTANT_BYTES];
    if (row->bound != NULL && constants >= 0 && constants < SMALL_RING) {
        snprintf(facts->why, sizeof facts->why, why_constants_few, constants);
        return;
    }
    const struct cost cold = cold_cost(lab, row);
    const struct cost warm = warm_cost(lab, row, &cold, l2);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        snprintf(facts->why, sizeof facts->why, "%.255s", why);
    else
        judge_level(lab, row, facts, &warm, &cold, l2);
}

/* The levels behind others are filled by these; what their loads cost is known
 * once the size of these is. */
static void ask_spaces(struct lab *lab, const struct cost *l2)
{
    for (int i = 0; lab_ok(lab) && i < LEVEL_COUNT; i++) {
        const struct level_row *const row = &level_table[i];
        struct fact_cached *const facts =
            fact_cached_write(lab, (enum level_id)i);
        if (row->behind == LEVEL_COUNT) {
            lab_about(lab, (size_t)i);
            if (i != LEVEL_L1 && i != LEVEL_L2)
                ask_space(lab, row, facts, l2);
            continue;
        }
        struct fact_cached *const before = fact_cached_write(lab, row->behind);
        *facts = *before;
        /* What misses it finds costs less than L2, but how much less is not
         * known yet. */
        before->next_hit = 0;
    }
    lab_about(lab, LEVEL_COUNT);
}

static void learn_l1_and_l2(struct lab *lab, const struct global_costs *c)
{
    struct fact_cached *const l1 = fact_cached_write(lab, LEVEL_L1);
    struct fact_cached *const l2 = fact_cached_write(lab, LEVEL_L2);
    l1->present =
        hits_cheaper(c->ca.cycles, c->cg.cycles) && is_certain(c, true);
    l1->hit = c->ca.cycles;
    l1->excess = c->ca.excess;
    l1->next_hit = c->cg.cycles;
    l1->absent = !l1->present && is_certain(c, false);
    snprintf(l1->why, sizeof l1->why,
             is_certain(c, l1->present) ? why_l1_bypassed : why_l1_hidden);
    l2->present = true;
    l2->hit = c->cg.cycles;
    l2->excess = c->cg.excess;
}

static void l1_policy_run(struct lab *lab)
{
    const struct level_row *const l1 = &level_table[LEVEL_L1];
    const struct level_row *const l2 = &level_table[LEVEL_L2];
    struct global_costs c;
    c.ca = lab_load_cost(lab, "%s %s", l1->load, small_ring);
    c.cg = lab_load_cost(lab, "%s %s", l2->load, small_ring);
    if (!lab_ok(lab))
        return;
    learn_l1_and_l2(lab, &c);
    struct fact_cached *const cached_in_l1 = fact_cached_write(lab, LEVEL_L1);
    const bool cached = cached_in_l1->present;
    report_l1(lab, &c, cached);
    ask_trace_overhead(lab, cached ? l1 : l2, cached ? &c.ca : &c.cg);
    ask_spaces(lab, &c.cg);
    /* Where surely only local loads are cached in L1, they show it: by another
     * way it costs something else. */
    cached_in_l1->as_local =
        cached_in_l1->absent && fact_cached(lab, LEVEL_LOCAL)->present;
}

const struct study study_l1_policy = {
    .name = "cached",
    .question = "Are global loads cached in L1?",
    .method = "The same small ring is chased with ld.global.ca and with "
              "ld.global.cg; they cost the same where L1 takes no part.  Other "
              "spaces are asked alike.",
    .needs = TEXTS("clock"),
    .answers = answers,
    .kernels = TEXTS("chase op=ca", "chase op=cg", "trace op=cg",
                     "chase space=texture", "chase space=readonly",
                     "chase space=constant", "chase space=local"),
    .run = l1_policy_run,
};
