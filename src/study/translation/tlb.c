/*
 * The TLBs: how many levels show, what a miss of each costs, the page of an
 * entry, how many pages each holds, and how.  The steps are in the files that
 * tlb.h lists.
 */
#include "study/translation/tlb.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "study/assume.h"

static const enum fact_id reads[] = {FACT_BRACKET, FACT_LINE, FACT_RINGS,
                                     FACT_MEMORY, FACT_NONE};
static const char *const kernels[] = {
    "visit readers=global.ca",
    "visit readers=global.cg",
    NULL,
};

static void none_of_level(struct tlb_question *q, size_t level, const char *why)
{
    tlb_none(q, level, 0, TLB_ANSWERS - 1, why);
}

/* ---- a level ----------------------------------------------------------- */

static void report_penalty(struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    struct finding *const f = q->finding[level][TLB_PENALTY];
    const double step = tlb_step(q->t, level);
    tlb_found(q, level, TLB_PENALTY, step);
    finding_interval(f, step - tlb->error, step + tlb->error,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_protocol(f, "load", value_text(q->t->reader));
    finding_protocol(f, "pages_fit", value_number((double)tlb->fits));
    finding_protocol(f, "pages_overflow", value_number((double)tlb->overflows));
}

/* Entries, sets and policy. */
static void find_inside(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    bool one_set;
    tlb_find_entries(q, level, &one_set);
    if (!lab_ok(q->lab) || tlb->entries == 0)
        return;
    if (one_set)
        tlb_report_sets(q, level, 1, tlb->entries);
    else
        tlb_find_sets(q, level);
    if (lab_ok(q->lab) && tlb->sets > 0)
        tlb_find_policy(q, level);
}

static const char *noise_text(const struct tlb_question *q)
{
    return lab_text(q->lab, why_tlb_noise, q->sweep.sigma,
                    1 / fmax(q->sweep.disturbed, 1e-6));
}

static void tlb_ask_level(struct tlb_question *q, size_t level)
{
    struct tlb_facts *const tlb = &q->t->tlb[level];
    report_penalty(q, level);
    if (!tlb_tells(q, level, 3 * tlb->overflows)) {
        tlb->page = 0;
        none_of_level(q, level, noise_text(q));
        return;
    }
    if (tlb->page == 0) {
        none_of_level(q, level, why_pages_irregular);
        return;
    }
    tlb_found(q, level, TLB_PAGE, (double)tlb->page);
    find_inside(q, level);
    const char *const why = lab_excuse(q->lab);
    if (why != NULL)
        none_of_level(q, level, why);
}

/* ---- all levels -------------------------------------------------------- */

static void none_beyond(struct tlb_question *q, uint64_t pitches)
{
    const uint64_t mib = pitches * (q->t->pitch >> 10) >> 10;
    const char *const why = lab_text(
        q->lab, q->t->levels == 0 ? why_tlb_no_cost : why_tlb_no_step, mib);
    for (size_t i = q->t->levels; i < TLBS_MOST; i++)
        none_of_level(q, i, why);
}

static void none_from(struct tlb_question *q, size_t level, const char *why)
{
    for (size_t i = level; i < q->t->levels; i++)
        none_of_level(q, i, why);
    q->t->levels = level;
}

/* A level has its number if no other could hide before it: of the first
 * whatever a TLB may cost, of the next what the first costs. */
static void drop_hidden(struct tlb_question *q)
{
    const struct tlb_facts *const tlb = q->t->tlb;
    for (size_t i = 0; i < q->t->levels; i++) {
        const double least =
            i == 0 ? assume(ASSUME_TLB_LEAST) : tlb_step(q->t, 0);
        if (tlb[i].hidden > least) {
            none_from(
                q, i,
                lab_text(q->lab, why_tlb_hidden, tlb[i].hidden, tlb[i].excess));
            return;
        }
    }
}

/* Levels and their pages; again at a smaller pitch, if steps are mixed. */
static uint64_t find_levels_and_pages(struct tlb_question *q)
{
    static const uint64_t pitches[] = {TRANSLATION_PITCH, 512 * 1024,
                                       64 * 1024};
    uint64_t looked = 0;
    q->t->mixed = true;
    for (size_t i = 0; lab_ok(q->lab) && q->t->mixed && i < COUNT_OF(pitches);
         i++) {
        q->t->pitch = pitches[i];
        q->t->mixed = false;
        looked = tlb_find_levels(q);
        for (size_t level = 0; level < q->t->levels; level++)
            tlb_find_page(q, level);
    }
    return looked;
}

/* Where chance decides which pages make room, hits and misses of a TLB, or of
 * the next, mix at every age; then the middle is of neither. */
static void doubt_penalties(struct tlb_question *q)
{
    const struct tlb_facts *const tlb = q->t->tlb;
    for (size_t i = 0; i < q->t->levels; i++)
        if (tlb[i].entries == 0 ||
            (i + 1 < q->t->levels && tlb[i + 1].entries == 0))
            finding_none(q->finding[i][TLB_PENALTY], why_tlb_mixed_costs,
                         tlb_step(q->t, i));
}

/* Slow pages that make no whole of any TLB may be slow for other reasons. */
static void doubt_pages(struct tlb_question *q)
{
    for (size_t level = 0; level < q->t->levels; level++)
        if (tlb_is_found(q, level, TLB_ENTRIES))
            return;
    for (size_t level = 0; level < q->t->levels; level++)
        if (tlb_is_found(q, level, TLB_PAGE))
            finding_none(q->finding[level][TLB_PAGE], why_pages_doubted);
}

/* Takes away what there is nothing of: levels beyond those that show, and ways
 * of one number where sets have unequal ways, or the other way round. */
static void drop_absent(struct tlb_question *q)
{
    for (size_t level = 0; level < TLBS_MOST; level++) {
        const bool beyond = level > 0 && level >= q->shown;
        const bool ways = tlb_is_found(q, level, TLB_WAYS);
        const bool set_ways = tlb_is_found(q, level, TLB_SET_WAYS);
        for (int i = 0; i < TLB_ANSWERS; i++)
            if (beyond || (i == TLB_WAYS && set_ways) ||
                (i == TLB_SET_WAYS && ways))
                results_drop(q->lab->results, q->finding[level][i]);
    }
}

/* Where none was asked for, the first says why: of others there is no sign. */
static void refuse_all(struct lab *lab, const char *why)
{
    for (size_t level = 1; level < TLBS_MOST; level++)
        for (int i = 0; i < TLB_ANSWERS; i++)
            lab_absent(lab, tlb_components[level], tlb_answers[i].attribute);
    lab_refuse(lab, "*", "%s", why);
}

/* Of so many disturbed loads medians are none of the others. */
static const double disturbed_most = 0.2;

static void tlb_ask(struct tlb_question *q)
{
    if (q->memory->disturbed > disturbed_most) {
        refuse_all(q->lab, noise_text(q));
        return;
    }
    const uint64_t looked = find_levels_and_pages(q);
    if (!lab_ok(q->lab))
        return;
    q->shown = q->t->levels;
    if (q->t->mixed)
        none_from(q, 0, why_tlbs_mix);
    drop_hidden(q);
    none_beyond(q, looked);
    for (size_t i = 0; lab_ok(q->lab) && i < q->t->levels; i++)
        tlb_ask_level(q, i);
    if (!lab_ok(q->lab))
        return;
    doubt_penalties(q);
    doubt_pages(q);
    drop_absent(q);
}

static void tlb_run(struct lab *lab)
{
    const struct fact_memory *const memory = fact_memory(lab);
    struct tlb_question q = {.lab = lab,
                             .t = fact_tlbs_write(lab),
                             .memory = memory,
                             .deals =
                                 lab_alloc(lab, TLBS_MOST, sizeof *q.deals),
                             .sweep = {.lab = lab,
                                       .origin = memory->origin,
                                       .room = memory->room,
                                       .sigma = memory->sigma,
                                       .disturbed = memory->disturbed}};
    if (!memory->asked) {
        refuse_all(lab, lab_text(lab, why_memory_unknown, memory->why));
        return;
    }
    for (size_t level = 0; level < TLBS_MOST; level++)
        for (int i = 0; i < TLB_ANSWERS; i++)
            q.finding[level][i] = lab_finding(lab, tlb_components[level],
                                              tlb_answers[i].attribute);
    tlb_ask(&q);
}

const struct study study_tlb = {
    .name = "tlb",
    .question = "How many TLBs are there, and how much do they translate?",
    .method = "Laps over many pages, whose data stays in a cache: the cost of "
              "a page by how many others came after it.",
    .reads = reads,
    .answers = tlb_answers,
    .kernels = kernels,
    .run = tlb_run,
};
