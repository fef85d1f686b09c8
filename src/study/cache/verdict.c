/*
 * What becomes of the estimates that several studies make of one number.
 *
 *     size    by rings (size), by sets and ways (structure), by sides
 * (l2_sides), by instructions that share the storage (icache_sharing); doubted
 *             by where latencies change (size_change_point)
 *     line    by more lines than fit (line); doubted by rings without an edge
 *     sector  by the distance of slow loads (sector); doubted alike
 *     parts   by growing rings (size_bracket), by single lines (l2_sides)
 *
 * It measures nothing, and it alone finds these.  Where a study did not run the
 * others are judged without it.
 */
#include <math.h>

#include "study/lab.h"

static const enum fact_id reads[] = {FACT_NONE};
static const char *const parted[] = {"l1", "l2", NULL};
static const struct answer answers[] = {
    {level_components, "sector", "B"},
    {level_components, "line", "B"},
    {level_components, "size", "B"},
    {parted, "parts", ""},
    {0},
};

/* What a study proposed, with a number; NULL if it did not. */
static const struct finding *estimate(const struct lab *lab, const char *study,
                                      const char *component,
                                      const char *attribute)
{
    const struct finding *const f =
        lab_proposal(lab, study, component, attribute);
    return f != NULL && f->value.kind == VALUE_NUMBER ? f : NULL;
}

/* The finding is what was proposed. */
static struct finding *accept(struct lab *lab, const char *component,
                              const char *attribute,
                              const struct finding *proposal)
{
    struct finding *const f = lab_finding(lab, component, attribute);
    finding_copy(f, proposal);
    finding_method(f, proposal->method);
    return f;
}

/* ---- lines ------------------------------------------------------------- */

static void judge_lines(struct lab *lab, const char *component,
                        const char *attribute)
{
    const struct finding *const proposal =
        lab_proposal(lab, attribute, component, attribute);
    const struct finding *const doubt =
        lab_proposal(lab, "size", component, attribute);
    if (proposal == NULL)
        return;
    struct finding *const f = accept(lab, component, attribute, proposal);
    if (doubt != NULL && !doubt->skipped)
        finding_none(f, "%s", doubt->because);
}

/* Nobody asked for what only a study that had nothing to say could have told.
 */
static void drop_open(struct lab *lab, const char *component,
                      const char *attribute)
{
    const struct finding *const f = results_find(
        lab->results, lab_text(lab, "%s.%s", component, attribute));
    if (f != NULL && f->value.kind == VALUE_NONE && f->because == NULL)
        results_drop(lab->results, f);
}

/* ---- sizes ------------------------------------------------------------- */

/* Latencies of whole traces that change elsewhere than the rings say, by more
 * than these can tell: the reach of the interval below the change. */
static void doubt_by_change(struct lab *lab, const char *component,
                            struct finding *size)
{
    const struct finding *const change = results_find(
        lab->results, lab_text(lab, "%s.size_by_change", component));
    double at;
    if (!finding_number(change, &at) || size->because != NULL ||
        size->status != STATUS_MEASURED)
        return;
    const double resolution = at - change->interval[0];
    if (fabs(at - size->value.number) > resolution)
        finding_because(size, why_by_change, at, resolution);
}

/* Where the lines of all sets are known, so is the size: better than from rings
 * where victims are picked at random. */
static void correct_by_sets(struct finding *size, const struct finding *sets)
{
    const double bytes = sets->value.number;
    if (size->status == STATUS_MEASURED && size->value.number == bytes)
        return;
    if (size->value.kind == VALUE_NUMBER)
        finding_protocol(size, "by_rings", value_number(size->value.number));
    finding_value(size, STATUS_MEASURED, value_number(bytes));
    finding_interval(size, bytes, bytes, sets->confidence);
    finding_because(size, why_by_sets);
}

static void judge_size(struct lab *lab, const char *component)
{
    const struct finding *const rings =
        lab_proposal(lab, "size", component, "size");
    const struct finding *const sides =
        estimate(lab, "partitions", component, "size");
    const struct finding *const sets =
        estimate(lab, "structure", component, "size");
    const struct finding *const code =
        estimate(lab, "icache_sharing", component, "size");
    if (code != NULL) {
        accept(lab, component, "size", code);
        return;
    }
    if (rings == NULL) {
        drop_open(lab, component, "size");
        return;
    }
    struct finding *const f =
        accept(lab, component, "size", sides != NULL ? sides : rings);
    doubt_by_change(lab, component, f);
    /* Lines that push each other out where an SM finds them near are those of
     * its near part alone. */
    if (sets != NULL && sides == NULL)
        correct_by_sets(f, sets);
}

/* ---- parts ------------------------------------------------------------- */

/* What growing rings show of the parts, single lines show better. */
static void judge_parts(struct lab *lab, const char *component)
{
    const struct finding *const rings =
        lab_proposal(lab, "capacity", component, "parts");
    const struct finding *const sides =
        lab_proposal(lab, "partitions", component, "parts");
    if (sides != NULL && !sides->skipped)
        accept(lab, component, "parts", sides);
    else if (rings != NULL)
        accept(lab, component, "parts", rings);
}

static void verdict_run(struct lab *lab)
{
    for (const char *const *c = parted; *c != NULL; c++)
        judge_parts(lab, *c);
    for (const char *const *c = level_components; *c != NULL; c++) {
        judge_lines(lab, *c, "sector");
        judge_lines(lab, *c, "line");
        judge_size(lab, *c);
    }
}

const struct study study_verdict = {
    .name = "verdict",
    .question = "What are size, line and parts, of all estimates?",
    .method = "Estimates by rings, by sets and ways, by sides and by "
              "instructions are compared; where they differ, the one that "
              "leans on least is taken, and says what spoke against it.",
    .reads = reads,
    .answers = answers,
    .judges = true,
    .run = verdict_run,
};
