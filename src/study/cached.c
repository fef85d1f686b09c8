/*
 * Which caches hold what a load brings in: L1 is asked by loading the same
 * small ring with ld.global.ca and with ld.global.cg (Groessler 2022, 4.2.1).
 * Hands on the cost of a hit in each level, and how much dearer a load looks
 * in a trace, where the clock is read around each, than in a chase.
 */
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/study.h"

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {"clock.trace_overhead", "l1.caches_global",
                                    NULL};
static const char *const kernels[] = {
    "chase op=ca",
    "chase op=cg",
    "trace op=cg",
    NULL,
};

/* A ring that fits every cache there is, on one page. */
static const char small_ring[] = "bytes=1024 stride=32 warm=4 visits=512";

static void report(struct lab *lab, const struct cost *ca,
                   const struct cost *cg, bool cached)
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
                          const struct cost *chased, struct error *err)
{
    struct samples s;
    char *name;
    if (lab_probe(lab, &s, &name, err,
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

static int run(struct lab *lab, struct error *err)
{
    struct level_facts *const l1 = &lab->facts[LEVEL_L1];
    struct level_facts *const l2 = &lab->facts[LEVEL_L2];
    struct cost ca = {0}, cg = {0};
    if (lab_chase(lab, &ca, err, "chase %s %s", level_table[LEVEL_L1].load,
                  small_ring) == 0 &&
        lab_chase(lab, &cg, err, "chase %s %s", level_table[LEVEL_L2].load,
                  small_ring) == 0) {
        /* A tenth is far more than noise and far less than any cache saves. */
        l1->present = ca.cycles < 0.9 * cg.cycles;
        l1->why = "global loads are not cached in L1: ld.global.ca costs what "
                  "ld.global.cg costs";
        l1->hit = ca.cycles;
        l1->next_hit = cg.cycles;
        l2->present = true;
        l2->hit = cg.cycles;
        report(lab, &ca, &cg, l1->present);
        trace_overhead(lab, &level_table[l1->present ? LEVEL_L1 : LEVEL_L2],
                       l1->present ? &ca : &cg, err);
    }
    free(ca.experiment);
    free(cg.experiment);
    return err->code;
}

const struct study study_cached = {
    .name = "cached",
    .question = "Are global loads cached in L1?",
    .method = "The same small ring is chased with ld.global.ca and with "
              "ld.global.cg; they cost the same where L1 takes no part.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run = run,
};
