/*
 * What becomes of the estimates that several studies make of one number.
 *
 *     size    by rings (size), by sets and ways (structure), by what is left
 *             of lines in random order (overfill), by instructions that share
 *             the storage (icache_sharing); doubted by where latencies change
 *             (size_change_point)
 *     line    by more lines than fit (line), or, where that is but a bound, by
 *             what fills a set (structure); doubted by rings without an edge
 *     sector  by the distance of slow loads (sector); doubted alike
 *     parts   by growing rings (size_bracket), by single lines (l2_sides)
 *
 * It measures nothing, and it alone finds these: each when all who propose it
 * have run, so that a number is the same whatever else was asked for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "study/lab.h"

static const char *const parted[] = {"l1", "l2", NULL};
static const struct answer answers[] = {
    {level_components, "sector", "B"},
    {level_components, "line", "B"},
    {level_components, "size", "B"},
    {parted, "parts", ""},
    {0},
};

/* Each study that ran left a proposal, if only why it has none. */
static bool is_complete(const struct lab *lab, const char *component,
                        const char *attribute)
{
    char id[STUDY_ID];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    for (const struct study *const *s = study_table; *s != NULL; s++)
        if (study_does_propose(*s, id) &&
            lab_proposal(lab, (*s)->name, component, attribute) == NULL)
            return false;
    return true;
}

/* Nobody asked for it; what was found before stays. */
static void drop_open(struct lab *lab, const char *component,
                      const char *attribute)
{
    const struct finding *const f = lab_found(lab, component, attribute);
    if (f != NULL && f->value.kind == VALUE_NONE && f->because == NULL)
        results_drop(lab->results, f);
}

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

static void judge_line(struct lab *lab, const char *component,
                       const char *attribute)
{
    const struct finding *const proposal =
        lab_proposal(lab, attribute, component, attribute);
    const struct finding *const doubt =
        lab_proposal(lab, "size", component, attribute);
    const struct finding *const by_sets =
        estimate(lab, "structure", component, attribute);
    struct finding *const f =
        accept(lab, component, attribute, by_sets != NULL ? by_sets : proposal);
    if (doubt != NULL && !doubt->skipped)
        finding_none(f, "%s", doubt->because);
}

/* ---- sizes ------------------------------------------------------------- */

/* Latencies of whole traces that change elsewhere than the rings say, by more
 * than these can tell: the reach of the interval below the change. */
static void doubt_by_change(struct finding *size, const struct finding *change)
{
    if (change == NULL || size->because != NULL ||
        size->status != STATUS_MEASURED)
        return;
    const double at = change->value.number;
    const double resolution = at - change->interval[0];
    const double bytes = size->value.number;
    if (fabs(at - bytes) <= resolution)
        return;
    finding_because(size, why_by_change, at, resolution);
    finding_interval(size, fmin(bytes, change->interval[0]),
                     fmax(bytes, change->interval[1]), -1);
}

/* Where the lines of all sets are known, so is the size: better than from rings
 * where victims are picked at random. */
static void correct_by_sets(struct finding *size, const struct finding *sets)
{
    const double bytes = sets->value.number;
    /* Rings that end where no more may be loaded, or where more was kept, are
     * a bound; of lines beyond sets tell no more than they. */
    if (size->status == STATUS_AT_LEAST && bytes < size->value.number)
        return;
    if (sets->status == STATUS_IN_DOUBT ||
        (size->status == STATUS_MEASURED && size->value.number == bytes))
        return;
    double rings = bytes;
    if (size->value.kind == VALUE_NUMBER)
        rings = size->value.number;
    if (rings != bytes)
        finding_protocol(size, "by_rings", value_number(rings));
    finding_value(size, STATUS_MEASURED, value_number(bytes));
    finding_interval(size, fmin(bytes, rings), fmax(bytes, rings), -1);
    finding_because(size, why_by_sets);
}

/* The bound, if it is one, allows so many bytes: one from above those, too,
 * that surely hit of the ring that it is of. */
static bool allows(const struct finding *bound, double low, double high)
{
    const double least = bound->has_interval ? bound->interval[0] : 0;
    return bound->value.kind != VALUE_NUMBER ||
           (bound->status == STATUS_AT_LEAST && bound->value.number <= high) ||
           (bound->status == STATUS_AT_MOST && bound->value.number >= low &&
            least <= high);
}

/* What of one path is but a bound, or not found, may be known of another that
 * uses the same storage; and rings may lie less evenly in the sets, so that
 * less of them fits than lines in random order told of the other. */
static bool is_of_same_storage(const struct finding *size,
                               const struct finding *same)
{
    if (same == NULL || same->status != STATUS_DERIVED)
        return false;
    return size->status == STATUS_MEASURED
               ? size->value.number < same->value.number
               : allows(size, same->value.number, same->value.number);
}

/* Rings in order are all that tells the size where lines may be shorter, or
 * longer, than is known: some sets may be full before others. */
static bool is_line_a_bound(const struct lab *lab, const char *component)
{
    const struct finding *const line =
        lab_proposal(lab, "line", component, "line");
    return line != NULL &&
           (line->status == STATUS_AT_MOST || line->status == STATUS_AT_LEAST);
}

static void bound_by_order(struct finding *size, const char *why)
{
    if (size->status != STATUS_MEASURED)
        return;
    finding_value(size, STATUS_AT_LEAST, value_number(size->value.number));
    size->has_interval = false;
    finding_because(size, "%s", why);
}

/* The size is what is left of lines in random order says alone.  Many looks
 * promise 1.8 %, and lines that were there before 0.2: where lines lie unevenly
 * it is less sure, and no number to rely on. */
static const double coarse = 0.02;

static void doubt_coarse(struct finding *size)
{
    const double off = (size->interval[1] - size->interval[0]) / 2;
    if (size->status == STATUS_MEASURED && off > coarse * size->value.number)
        finding_doubt(size, why_occupancy_coarse);
}

static void adopt(struct finding *size, const struct finding *overfill)
{
    finding_copy(size, overfill);
    doubt_coarse(size);
}

/* Rings tell it but to what is asked for at a time, of which lines may be
 * parts: then what has lost one of two looks lost, and that fewer are left of
 * random ones than are of a ring denies nothing. */
static bool is_in_pieces(const struct finding *size)
{
    return size->status == STATUS_MEASURED && size->has_interval &&
           size->interval[1] > size->value.number;
}

/* Whether lines may be parts of what was asked for at a time. */
static bool may_be_parts(const struct lab *lab, const char *component)
{
    const struct finding *const line =
        lab_proposal(lab, "line", component, "line");
    return line != NULL && line->status == STATUS_AT_MOST;
}

/* Of such what is left is less than there is room for, and so is its interval:
 * it says no more than a bound does. */
static void bound_by_parts(struct finding *size, const struct finding *overfill)
{
    const double least = floor(overfill->interval[0]);
    if (size->value.kind == VALUE_NUMBER &&
        (size->status == STATUS_AT_MOST || size->value.number >= least))
        return;
    finding_copy(size, overfill);
    finding_value(size, STATUS_AT_LEAST, value_number(least));
    size->has_interval = false;
    finding_because(size, why_size_left_parts);
}

/* What is left of lines in random order depends on nothing that rings depend
 * on: where both have a number and differ by more than chance makes them differ
 * once in a thousand, neither is known; where rings have none, or a bound, it
 * is the size, or of parts of lines a bound. */
static void compare_with_overfill(struct finding *size,
                                  const struct finding *overfill, bool parts)
{
    const double bytes = overfill->value.number;
    const double low = overfill->interval[0], high = overfill->interval[1];
    if (size->status == STATUS_MEASURED && size->interval[1] >= low &&
        size->value.number <= high)
        finding_protocol(size, "by_overfill", value_number(bytes));
    else if (is_in_pieces(size) && high < size->value.number)
        bound_by_order(size, why_size_at_least_parts);
    else if (size->status == STATUS_MEASURED)
        finding_none(size, why_by_overfill, size->value.number, low, high);
    else if (parts)
        bound_by_parts(size, overfill);
    else if (allows(size, low, high))
        adopt(size, overfill);
}

/* Lines that push each other out where an SM finds them near are those of its
 * near part alone, and so may be rings. */
static bool is_in_parts(struct lab *lab, const char *component)
{
    const struct finding *const parts =
        estimate(lab, "partitions", component, "parts");
    return parts != NULL && parts->value.number == 2;
}

/* Where rings show one edge, that is the end of the near part at least; where
 * they show none, copies may make more of them fit than there is room for. */
static void judge_rings_of_parts(struct finding *size)
{
    if (size->status == STATUS_AT_LEAST)
        finding_none(size, why_rings_alone, size->value.number);
    bound_by_order(size, why_near_end);
}

static bool is_within(const struct finding *f, const struct finding *overfill)
{
    return f != NULL && overfill != NULL && f->status != STATUS_IN_DOUBT &&
           overfill->status == STATUS_MEASURED &&
           overfill->interval[0] <= f->value.number &&
           f->value.number <= overfill->interval[1];
}

/* What the sets hold that were counted; 0 if one of the three is not known. */
static double bytes_of_sets(const struct lab *lab, const char *component)
{
    static const char *const factors[] = {"sets", "ways", "line"};
    double bytes = 1;
    for (size_t i = 0; i < COUNT_OF(factors); i++) {
        const struct finding *const f = lab_found(lab, component, factors[i]);
        const bool known = f != NULL && f->status == STATUS_MEASURED &&
                           f->value.kind == VALUE_NUMBER;
        bytes *= known ? f->value.number : 0;
    }
    return bytes;
}

/* Where rings have but a bound, lines in random order tell; but sets that hold
 * another number contradict them. */
static void doubt_by_sets(const struct lab *lab, const char *component,
                          struct finding *size)
{
    const double bytes = bytes_of_sets(lab, component);
    const double low = size->interval[0], high = size->interval[1];
    if (size->status != STATUS_MEASURED || bytes == 0 ||
        (low <= bytes && bytes <= high))
        return;
    finding_value(size, STATUS_IN_DOUBT, value_number(size->value.number));
    finding_because(size, why_sets_and_overfill, bytes, low, high);
    finding_interval(size, fmin(bytes, low), fmax(bytes, high), -1);
}

/* Of two parts rings tell little, lines at their homes roughly, and sets, where
 * the lines allow them, exactly. */
static void judge_parted(struct lab *lab, const char *component,
                         const struct finding *rings,
                         const struct finding *sets,
                         const struct finding *overfill)
{
    struct finding *const f =
        accept(lab, component, "size", overfill != NULL ? overfill : rings);
    if (overfill == NULL)
        judge_rings_of_parts(f);
    else if (is_within(sets, overfill) && sets->status == STATUS_MEASURED)
        finding_copy(f, sets);
    else {
        doubt_by_sets(lab, component, f);
        doubt_coarse(f);
    }
}

static bool is_shared(const char *component)
{
    const struct level_row *const l2 = &level_table[LEVEL_L2];
    return strcmp(component, l2->component) == 0;
}

/* Two of those that are exact say the same. */
static bool do_agree(const struct finding *rings, const struct finding *sets)
{
    return sets != NULL && sets->status == STATUS_MEASURED &&
           rings->status == STATUS_MEASURED &&
           rings->value.number == sets->value.number;
}

/* Looks at what is left are a sixteenth of the lines at most, and bring some
 * in. Under a policy that puts out first what came last these take no place, so
 * that by so much too many may be found; another number of sets is another by
 * half at least. */
static bool is_nearest(const struct finding *sets,
                       const struct finding *overfill)
{
    return sets != NULL && sets->status == STATUS_MEASURED &&
           fabs(overfill->value.number - sets->value.number) <
               sets->value.number / 16;
}

/* Sets that were counted make another size than what is left of lines in random
 * order: one of both is wrong, and nobody knows which. */
static void deny_by_sets(struct finding *size, const struct finding *sets)
{
    const bool told =
        size->value.kind == VALUE_NUMBER && size->has_interval &&
        (size->status == STATUS_MEASURED || size->status == STATUS_IN_DOUBT);
    if (!told || sets == NULL || sets->status != STATUS_MEASURED)
        return;
    const double bytes = sets->value.number;
    const double low = size->interval[0], high = size->interval[1];
    if (bytes >= low && bytes <= high)
        return;
    finding_value(size, STATUS_IN_DOUBT, value_number(size->value.number));
    finding_interval(size, fmin(low, bytes), fmax(high, bytes), -1);
    finding_because(size, why_sets_and_overfill, bytes, low, high);
}

/*
 * Of what all SMs share rings alone are no proof, since its index may be hashed
 * and its slices filled unevenly; nor are sets where more is left of lines that
 * are farther apart than those that sets were asked with.  Sets or rings are,
 * if what is left of lines in random order allows them, or both say the same;
 * and what sets say is exact.
 */
static void judge_shared(struct lab *lab, const char *component,
                         const struct finding *rings,
                         const struct finding *sets,
                         const struct finding *overfill)
{
    const bool bound = overfill != NULL && overfill->status == STATUS_AT_LEAST;
    struct finding *const f =
        accept(lab, component, "size", bound ? overfill : rings);
    const bool sampled =
        overfill != NULL && overfill->status == STATUS_MEASURED;
    if (bound || do_agree(rings, sets))
        return;
    if (sampled && (is_within(sets, overfill) || is_nearest(sets, overfill)))
        finding_copy(f, sets);
    else if (sampled) {
        compare_with_overfill(f, overfill, false);
        deny_by_sets(f, sets);
    } else if (sets != NULL)
        correct_by_sets(f, sets);
    else if (f->value.kind == VALUE_NUMBER)
        finding_none(f, why_rings_alone, f->value.number);
}

static bool are_sets_known(const struct lab *lab, const char *component)
{
    const struct finding *const f = lab_found(lab, component, "sets");
    return f != NULL && f->value.kind == VALUE_NUMBER;
}

/* Of memory that nothing but rings and sets tell of: rings in order may fill
 * some sets before others, and sets may have more ways than there is room for
 * lines; where both differ it is one of them, or lies between. */
static void compare_with_sets(const struct lab *lab, const char *component,
                              struct finding *size)
{
    const double bytes = bytes_of_sets(lab, component);
    const double rings = size->value.number;
    if (size->status != STATUS_MEASURED || bytes == 0 || bytes == rings)
        return;
    finding_value(size, STATUS_IN_DOUBT, value_number(rings));
    finding_because(size, why_rings_and_sets, rings, bytes);
    finding_interval(size, fmin(bytes, rings), fmax(bytes, rings), -1);
}

/* Of rings as many bytes surely fit as sets have: neither needs the other's
 * edge. */
static bool is_bound_reached(const struct finding *rings,
                             const struct finding *sets)
{
    return sets != NULL && sets->status == STATUS_MEASURED &&
           rings->status == STATUS_AT_LEAST &&
           rings->value.number == sets->value.number;
}

/* One storage has one size: where two paths to it say what it is, and not the
 * same, one is wrong. */
static void doubt_by_storage(struct finding *size, const struct finding *same)
{
    if (size->status != STATUS_MEASURED || same == NULL ||
        same->status != STATUS_DERIVED)
        return;
    const double own = size->value.number, other = same->value.number;
    if (other == own || (size->has_interval && size->interval[0] <= other &&
                         other <= size->interval[1]))
        return;
    finding_value(size, STATUS_IN_DOUBT, value_number(own));
    finding_because(size, why_by_storage,
                    finding_said(same, "same_storage_as")->text, other);
    finding_interval(size, fmin(own, other), fmax(own, other), -1);
}

/* Of what an SM has: rings are corrected by what sets or lines in random order
 * say, and are but a bound where neither does.  Sets of another path that
 * shares the storage count if the latter allow them. */
static void judge_of_sm(struct lab *lab, const char *component,
                        const struct finding *rings, const struct finding *sets,
                        const struct finding *overfill)
{
    const bool confirmed = is_within(sets, overfill);
    if ((overfill == NULL || rings->status != STATUS_MEASURED || confirmed) &&
        is_of_same_storage(rings, sets)) {
        accept(lab, component, "size", sets);
        return;
    }
    struct finding *const f = accept(lab, component, "size", rings);
    if (overfill == NULL && is_line_a_bound(lab, component))
        bound_by_order(f, why_size_at_least_line);
    doubt_by_change(f, estimate(lab, "change", component, "size"));
    if (is_bound_reached(f, sets) ||
        (sets != NULL && sets->status == STATUS_MEASURED && confirmed &&
         !do_agree(rings, sets)))
        finding_copy(f, sets);
    else if (sets != NULL && (sets->status != STATUS_DERIVED ||
                              (are_sets_known(lab, component) && confirmed)))
        correct_by_sets(f, sets);
    if (overfill == NULL)
        compare_with_sets(lab, component, f);
    if (overfill == NULL && sets == NULL && bytes_of_sets(lab, component) == 0)
        bound_by_order(f, why_size_in_order);
    if (overfill != NULL && overfill->status == STATUS_MEASURED) {
        compare_with_overfill(f, overfill, may_be_parts(lab, component));
        if (rings->status != STATUS_MEASURED)
            doubt_by_sets(lab, component, f);
    }
    doubt_by_storage(f, sets);
}

static void judge_size(struct lab *lab, const char *component,
                       const char *attribute)
{
    const struct finding *const rings =
        lab_proposal(lab, "size", component, attribute);
    const struct finding *const overfill =
        estimate(lab, "overfill", component, attribute);
    const struct finding *const sets =
        estimate(lab, "structure", component, attribute);
    const struct finding *const code =
        estimate(lab, "icache_sharing", component, attribute);
    if (code != NULL)
        accept(lab, component, attribute, code);
    else if (is_in_parts(lab, component))
        judge_parted(lab, component, rings, sets, overfill);
    else if (is_shared(component))
        judge_shared(lab, component, rings, sets, overfill);
    else
        judge_of_sm(lab, component, rings, sets, overfill);
}

/* ---- parts ------------------------------------------------------------- */

/* What growing rings show of the parts, single lines show better. */
static void judge_parts(struct lab *lab, const char *component,
                        const char *attribute)
{
    const struct finding *const rings =
        lab_proposal(lab, "capacity", component, attribute);
    const struct finding *const sides =
        lab_proposal(lab, "partitions", component, attribute);
    const bool told = sides != NULL && !sides->skipped;
    struct finding *const f =
        accept(lab, component, attribute, told ? sides : rings);
    /* That they show one is no proof: parts may cost too much alike, and sides
     * are not asked for where the line is not known. */
    if (sides != NULL && !told && rings->value.kind == VALUE_NUMBER &&
        rings->value.number == 1)
        finding_none(f, "%s", lab_why_unknown(lab, component, "line"));
}

/* ---- those who were not heard ------------------------------------------- */

/* Why a study that has a say here ended before it could; NULL if none did. */
static const char *why_unheard(struct lab *lab, const char *component,
                               const char *attribute)
{
    for (const struct study *const *s = study_table; *s != NULL; s++) {
        const struct finding *const f =
            lab_proposal(lab, (*s)->name, component, attribute);
        if (f != NULL && f->unheard)
            return lab_text(lab, why_by_unheard, (*s)->name, f->because);
    }
    return NULL;
}

/* What one who was lost would have said may be another number, or that it is
 * none: so nothing is sure that he did not hear.  A bound holds all the same.
 */
static void doubt_by_unheard(struct lab *lab, const char *component,
                             const char *attribute)
{
    const char *const why = why_unheard(lab, component, attribute);
    const struct finding *const judged = lab_found(lab, component, attribute);
    for (size_t i = 0; why != NULL && i < lab->results->finding_count; i++) {
        struct finding *const f = lab->results->findings[i];
        if (f == judged && f->status == STATUS_MEASURED)
            finding_doubt(f, why);
    }
}

/* ---- all ---------------------------------------------------------------- */

static const struct {
    const char *const *components;
    const char *attribute;
    void (*judge)(struct lab *, const char *component, const char *attribute);
} questions[] = {
    {parted, "parts", judge_parts},
    {level_components, "sector", judge_line},
    {level_components, "line", judge_line},
    {level_components, "size", judge_size},
};

static void verdict_run(struct lab *lab)
{
    for (size_t i = 0; i < COUNT_OF(questions); i++)
        for (const char *const *c = questions[i].components; *c != NULL; c++)
            if (is_complete(lab, *c, questions[i].attribute)) {
                questions[i].judge(lab, *c, questions[i].attribute);
                doubt_by_unheard(lab, *c, questions[i].attribute);
            } else {
                drop_open(lab, *c, questions[i].attribute);
            }
}

const struct study study_verdict = {
    .name = "verdict",
    .question = "What are size, line and parts, of all estimates?",
    .method = "Estimates by rings, by sets and ways, by lines in random "
              "order and by instructions are compared; where they differ, the "
              "one that leans on least is taken, and says what spoke against "
              "it, or none.  What one would have judged that was lost is in "
              "doubt.",
    .answers = answers,
    .judges = true,
    .run = verdict_run,
};
