/*
 * Which caches hold what a load brings in: each space is asked by loading a
 * small ring with its loads and with ld.global.cg, which only L2 keeps
 * (Groessler 2022, 4.2.1); and, since a space may have a longer way to L2, by
 * loads that find what an SM has empty, as it is when a kernel begins.
 * Hands on the cost of a hit in each level, and how much dearer a load looks
 * in a trace, where the clock is read around each, than in a chase.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {"clock.trace_overhead", "l1.caches_global",
                                    NULL};
static const char *const kernels[] = {
    "chase op=ca",          "chase op=cg",
    "trace op=cg",          "chase space=texture",
    "chase space=readonly", "chase space=constant",
    "chase space=local",    NULL,
};

/* A ring that fits every cache there is, on one page; so few loads at a time
 * that most runs are free of spikes. */
static const char small_ring[] = "bytes=1024 stride=32 warm=4 visits=64";
static const char small_local_ring[] = "bytes=1024 stride=128 warm=4 visits=64";
/* A ring each of whose loads asks for a line of its own, once, on one page of
 * nearly every GPU, and no more than a module's constants. */
static const char cold_ring[] = "bytes=49152 stride=256 warm=0 visits=64";

/* A tenth is far more than noise and far less than any cache saves. */
static bool is_cheaper(double cycles, double than)
{
    return cycles < 0.9 * than;
}

static void report(struct lab *lab, const struct old_cost *ca,
                   const struct old_cost *cg, bool cached)
{
    struct finding *const f = lab_finding(lab, "l1", "caches_global");
    finding_set(f, STATUS_MEASURED, value_bool(cached), "");
    finding_evidence(f, ca->experiment);
    finding_evidence(f, cg->experiment);
    finding_protocol(f, "ca_cycles", value_number(ca->cycles));
    finding_protocol(f, "cg_cycles", value_number(cg->cycles));
}

/* The same loads traced, of the nearest cache, whose hits spread least; spikes
 * are cut off at both ends alike. */
static int trace_overhead(struct lab *lab, const struct level_row *row,
                          const struct old_cost *chased, struct error *err)
{
    struct samples s;
    char *name;
    if (lab_probe_err(lab, &s, &name, err,
                  "trace %s bytes=1024 stride=32 warm=4 "
                  "visits=256",
                  row->load) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    double *const traced = xreallocarray(NULL, s.rows, sizeof *traced);
    for (size_t i = 0; i < s.rows; i++)
        traced[i] = (double)samples_at(&s, i, cycles);
    lab->trace_cost = stats_trimmed_mean(traced, s.rows, 0.05) - chased->cycles;
    struct finding *const f = lab_finding(lab, "clock", "trace_overhead");
    finding_set(f, STATUS_MEASURED, value_number(lab->trace_cost), "cycles");
    finding_evidence(f, name);
    finding_evidence(f, chased->experiment);
    free(traced);
    free(name);
    samples_free(&s);
    return 0;
}

/* Of a level without sweeps: what hits cost, and what loads that find nothing
 * in the SM cost. */
static int ask_costs(struct lab *lab, const struct level_row *row,
                     struct level_facts *facts, struct error *err)
{
    struct old_cost warm = {0}, cold = {0};
    if (lab_chase_err(lab, &warm, err, "chase %s %s", row->load,
                  row->apart > 32 ? small_local_ring : small_ring) == 0 &&
        lab_chase_err(lab, &cold, err, "chase %s %s", row->load, cold_ring) == 0) {
        facts->hit = warm.cycles;
        facts->cold = cold.cycles;
    }
    free(warm.experiment);
    free(cold.experiment);
    return err->code;
}

/* What a level costs past which loads go to L2.  Cold loads tell it, unless
 * something had filled the level: then those that only L2 keeps do. */
static void judge(const struct level_row *row, struct level_facts *facts,
                  double l2)
{
    const bool cold_misses = is_cheaper(facts->hit, facts->cold);
    facts->present = cold_misses || is_cheaper(facts->hit, l2);
    facts->next_hit = cold_misses ? facts->cold : l2;
    snprintf(facts->why, sizeof facts->why,
             "%s is not cached nearer than L2: it costs what loads from L2 "
             "cost",
             row->words);
}

/* Not an error that ends the study, whatever the space cannot do. */
static int ask_space(struct lab *lab, enum level_id id, double l2,
                     struct error *err)
{
    struct level_facts *const facts = &lab->facts[id];
    const int status = ask_costs(lab, &level_table[id], facts, err);
    if (status != 0 && !lab_excuses(status))
        return status;
    if (status == 0)
        judge(&level_table[id], facts, l2);
    else
        snprintf(facts->why, sizeof facts->why, "%.255s", err->text);
    *err = (struct error){0};
    return 0;
}

/* The levels behind others are filled by these; what their loads cost is known
 * once the size of these is. */
static int ask_spaces(struct lab *lab, double l2, struct error *err)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const struct level_row *const row = &level_table[i];
        struct level_facts *const facts = &lab->facts[i];
        if (row->behind != LEVEL_COUNT)
            *facts = lab->facts[row->behind];
        else if (!row->swept && ask_space(lab, (enum level_id)i, l2, err) != 0)
            return err->code;
        /* What misses it finds costs less than L2, but how much less is not
         * known yet. */
        if (row->behind != LEVEL_COUNT)
            lab->facts[row->behind].next_hit = 0;
    }
    return 0;
}

/* Global loads, and what local ones say of L1 where these are not cached. */
static int ask_l1(struct lab *lab, const struct old_cost *ca, const struct old_cost *cg,
                  struct error *err)
{
    struct level_facts *const l1 = &lab->facts[LEVEL_L1];
    struct level_facts *const l2 = &lab->facts[LEVEL_L2];
    l1->present = is_cheaper(ca->cycles, cg->cycles);
    l1->hit = ca->cycles;
    l1->next_hit = cg->cycles;
    snprintf(l1->why, sizeof l1->why,
             "global loads are not cached in L1: ld.global.ca costs what "
             "ld.global.cg costs");
    l2->present = true;
    l2->hit = cg->cycles;
    report(lab, ca, cg, l1->present);
    return trace_overhead(lab, &level_table[l1->present ? LEVEL_L1 : LEVEL_L2],
                          l1->present ? ca : cg, err);
}

static int run(struct lab *lab, struct error *err)
{
    struct old_cost ca = {0}, cg = {0};
    if (lab_chase_err(lab, &ca, err, "chase %s %s", level_table[LEVEL_L1].load,
                  small_ring) == 0 &&
        lab_chase_err(lab, &cg, err, "chase %s %s", level_table[LEVEL_L2].load,
                  small_ring) == 0 &&
        ask_l1(lab, &ca, &cg, err) == 0 && ask_spaces(lab, cg.cycles, err) == 0)
        lab->facts[LEVEL_L1].as_local =
            !lab->facts[LEVEL_L1].present && lab->facts[LEVEL_LOCAL].present;
    free(ca.experiment);
    free(cg.experiment);
    return err->code;
}

const struct study study_l1_policy = {
    .name = "cached",
    .question = "Are global loads cached in L1?",
    .method = "The same small ring is chased with ld.global.ca and with "
              "ld.global.cg; they cost the same where L1 takes no part.  Other "
              "spaces are asked alike.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
