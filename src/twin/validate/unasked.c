/*
 * What no held-out experiment asked of what a validation speaks of: it is said
 * of each finding, which else would pass for one that was foretold.
 */
#include <stdio.h>
#include <string.h>

#include "twin/validate/values.h"

const char *const trying_attributes[] = {
    "size",    "line",         "sector",         "sets",     "ways",
    "entries", "region",       "reach",          "set_ways", "set_bits",
    "policy",  "slice_modulo", "policy_weights", NULL};

static const char *const costs[] = {"latency", "miss_penalty", NULL};

static const char *const components[] = {
    "l1",        "local",     "texture",    "readonly", "const_l1", "const_l15",
    "l2",        "tlb_l1",    "tlb_l2",     "tlb_l3",   "memory",   "shared",
    "icache_l0", "icache_l1", "icache_l15", NULL};

static const char *why_unasked(struct trying *t, const char *component,
                               const char *attribute)
{
    if (trying_late(t))
        return "the time was over before an experiment asked of it";
    if (strcmp(component, "tlb_l3") == 0 &&
        trying_find(t, component, "policy") == NULL)
        return "by no policy that is known a third TLB holds what it does, and "
               "so what a lap finds is not foretold";
    if (trying_is_of_parts(t, component, attribute))
        return "the simulated GPU of the findings has no such index of an L2 "
               "in parts";
    if (values_weights_open(t, component))
        return "it goes by chance with weights that are not known, and so what "
               "a lap finds is not foretold";
    if (strcmp(component, "memory") != 0 && strcmp(component, "shared") != 0 &&
        trying_find(t, component, "miss_penalty") == NULL)
        return "what a miss costs is not known, which tells it from a hit";
    if (strcmp(component, "l2") == 0 &&
        trying_find(t, component, "set_bits") == NULL)
        return "its index is not known, which tells what lines meet";
    if (strcmp(attribute, "policy") == 0)
        return "policies are told apart by loads in random order, and none was "
               "asked";
    return "no held-out experiment asked of it";
}

static void note_unless_asked(struct trying *t, const char *component,
                              const char *attribute)
{
    char id[96];
    const struct finding *const f = trying_find(t, component, attribute);
    if (f == NULL ||
        (f->status != STATUS_MEASURED && f->status != STATUS_DERIVED))
        return;
    snprintf(id, sizeof id, "predicted.%s.%s", component, attribute);
    if (results_find(t->results, id) != NULL)
        return;
    struct finding *const none = results_add(t->results, id, "validate");
    finding_none(none, "%s", why_unasked(t, component, attribute));
    none->skipped = true; /* nobody misses it */
}

void trying_note_unasked(struct trying *t)
{
    if (t->brief)
        return;
    for (size_t i = 0; components[i] != NULL; i++) {
        for (size_t k = 0; trying_attributes[k] != NULL; k++)
            note_unless_asked(t, components[i], trying_attributes[k]);
        for (size_t k = 0; costs[k] != NULL; k++)
            note_unless_asked(t, components[i], costs[k]);
    }
}
