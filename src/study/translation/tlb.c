/*
 * The TLBs: how many levels show, what a miss of each costs, the page of an
 * entry, how many pages each holds, and how.  The steps are in the files that
 * tlb.h lists.
 */
#include "study/translation/tlb.h"

#include <inttypes.h>

#include "base/mem.h"

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
    tlb_found(q, level, TLB_PENALTY, tlb_step(q->t, level));
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

static void tlb_ask_level(struct tlb_question *q, size_t level)
{
    const uint64_t page = q->t->tlb[level].page;
    report_penalty(q, level);
    if (page == 0) {
        none_of_level(q, level, why_pages_irregular);
        return;
    }
    tlb_found(q, level, TLB_PAGE, (double)page);
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

static void none_of_mixed(struct tlb_question *q)
{
    for (size_t i = 0; i < q->t->levels; i++)
        none_of_level(q, i, why_tlbs_mix);
    q->t->levels = 0;
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
        const bool beyond = level > 0 && level >= q->t->levels;
        const bool ways = tlb_is_found(q, level, TLB_WAYS);
        const bool set_ways = tlb_is_found(q, level, TLB_SET_WAYS);
        for (int i = 0; i < TLB_ANSWERS; i++)
            if (beyond || (i == TLB_WAYS && set_ways) ||
                (i == TLB_SET_WAYS && ways))
                results_drop(q->lab->results, q->finding[level][i]);
    }
}

static void tlb_ask(struct tlb_question *q)
{
    const uint64_t looked = find_levels_and_pages(q);
    if (!lab_ok(q->lab))
        return;
    if (q->t->mixed)
        none_of_mixed(q);
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
    struct tlb_question q = {.lab = lab,
                             .t = fact_tlbs_write(lab),
                             .memory = fact_memory(lab),
                             .deals =
                                 lab_alloc(lab, TLBS_MOST, sizeof *q.deals),
                             .sweep = {.lab = lab,
                                       .origin = fact_memory(lab)->origin,
                                       .room = fact_memory(lab)->room}};
    if (!q.memory->asked) {
        lab_refuse(lab, "*", why_memory_unknown, fact_memory(lab)->why);
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
