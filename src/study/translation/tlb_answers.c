/*
 * What the study of TLBs answers, by level.  What was found cites the
 * experiment that showed it; what was not says the first reason that was met.
 */
#include "study/translation/tlb.h"

const char *const tlb_components[TLBS_MOST + 1] = {"tlb_l1", "tlb_l2", "tlb_l3",
                                                   NULL};
const struct answer tlb_answers[] = {
    [TLB_ENTRIES] = {tlb_components, "entries", ""},
    [TLB_PAGE] = {tlb_components, "page", "B"},
    [TLB_REGION] = {tlb_components, "region", "B"},
    [TLB_REACH] = {tlb_components, "reach", "B"},
    [TLB_PENALTY] = {tlb_components, "miss_penalty", "cycles"},
    [TLB_SETS] = {tlb_components, "sets", ""},
    [TLB_WAYS] = {tlb_components, "ways", ""},
    [TLB_SET_WAYS] = {tlb_components, "set_ways", ""},
    [TLB_SET_BITS] = {tlb_components, "set_bits", ""},
    [TLB_POLICY] = {tlb_components, "policy", ""},
    [TLB_SMS_SHARING] = {tlb_components, "sms_sharing", ""},
    [TLB_ANSWERS] = {ONE("tlb"), "levels", ""},
    {0},
};

void tlb_found_value(struct tlb_question *q, size_t level,
                     enum tlb_answer which, struct value value)
{
    struct finding *const f = q->finding[level][which];
    finding_unit(f, tlb_answers[which].unit);
    finding_value(f, STATUS_MEASURED, value);
    finding_cite(f, q->shown_by[level][which] != NULL
                        ? q->shown_by[level][which]
                        : q->experiment);
}

void tlb_found(struct tlb_question *q, size_t level, enum tlb_answer which,
               double number)
{
    tlb_found_value(q, level, which, value_number(number));
}

bool tlb_is_found(const struct tlb_question *q, size_t level,
                  enum tlb_answer which)
{
    const struct finding *const f = q->finding[level][which];
    return f != NULL && f->value.kind != VALUE_NONE;
}

void tlb_none(struct tlb_question *q, size_t level, enum tlb_answer first,
              enum tlb_answer last, const char *why)
{
    for (int i = (int)first; i <= (int)last; i++)
        if (q->finding[level][i] != NULL &&
            !tlb_is_found(q, level, (enum tlb_answer)i) &&
            q->finding[level][i]->because == NULL)
            finding_none(q->finding[level][i], "%s", why);
}
