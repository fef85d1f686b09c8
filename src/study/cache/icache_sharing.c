/*
 * Who shares the instruction caches: constants, the warps of an SM, other SMs.
 *
 * Laps through code that takes three quarters of a cache hit it.  Something
 * else that takes room in the same cache pushes some of it out, and the laps
 * get dearer: constants that are loaded between laps, or a rival that runs
 * another copy of the code, compared with a rival that runs the same.
 *
 * A cache that constants share is the constant cache behind the first one; its
 * size is then known beyond the 64 KiB of constants that a module may hold.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"icache", NULL};
/* Constants are too few to fill such a cache; instructions that share its
 * storage are not. */
static const char *const corrects[] = {"const_l15.size", NULL};
static const char *const gives[] = {
    "icache_l0.shares_with",  "icache_l0.per_sm",
    "icache_l0.sms_sharing",  "icache_l1.shares_with",
    "icache_l1.per_sm",       "icache_l1.sms_sharing",
    "icache_l15.shares_with", "icache_l15.per_sm",
    "icache_l15.sms_sharing", NULL,
};
static const char *const attributes[] = {"shares_with", "per_sm",
                                         "sms_sharing"};

enum { KIB = 1024, CONSTANTS = 64 * KIB, WARPS = 8, NEIGHBOURS = 15 };

/* Code that fits one cache and not the nearer one. */
struct load {
    const struct code_level *level;
    uint64_t bytes, total;
};

/* A lap, and a rival's where there is one: of two that push out each other's
 * code the quicker keeps its own. */
static int quick_lap(struct lab *lab, const char *text, double *cycles,
                     struct finding *f, struct error *err)
{
    struct samples s;
    char *name;
    if (lab_probe_err(lab, &s, &name, err, "%s", text) != 0)
        return err->code;
    double *const laps = xreallocarray(NULL, s.rows, sizeof *laps);
    for (size_t i = 0; i < s.rows; i++)
        laps[i] = (double)(samples_at(&s, i, samples_column(&s, "cycles")) +
                           samples_at(&s, i, samples_column(&s, "rival")));
    *cycles = stats_quantile(laps, s.rows, 0.25);
    finding_evidence(f, name);
    free(laps);
    free(name);
    samples_free(&s);
    return 0;
}

/* Whether laps with `much` beside them are dearer than with `little`, by more
 * than some misses. */
static int disturbed(struct lab *lab, const struct load *l, const char *little,
                     const char *much, bool *yes, struct finding *f,
                     struct error *err)
{
    double cycles[2];
    const char *const more[] = {little, much};
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "code bytes=%" PRIu64 " total=%" PRIu64 " block=1024 "
                 "laps=6 %s",
                 l->bytes, l->total, more[i]);
        if (quick_lap(lab, text, &cycles[i], f, err) != 0)
            return err->code;
    }
    *yes =
        cycles[1] - cycles[0] > fmax(3 * l->level->penalty, 0.02 * cycles[0]);
    return 0;
}

/* ---- constants -------------------------------------------------------- */

static int ask_constants(struct lab *lab, const char *component,
                         const struct load *l, struct error *err)
{
    struct finding *const f = lab_finding(lab, component, "shares_with");
    bool shared = false;
    char much[64];
    snprintf(much, sizeof much, "warm=3 constants=%d", CONSTANTS);
    if (disturbed(lab, l, "warm=3 constants=64", much, &shared, f, err) != 0)
        return err->code;
    struct value list = value_list();
    if (shared)
        value_push(&list, value_text("const_l15"));
    finding_set(f, STATUS_MEASURED, list, "");
    if (!shared || !l->level->exact || l->level->size <= CONSTANTS ||
        results_find(lab->results, corrects[0]) == NULL)
        return 0;
    struct finding *const size = lab_finding(lab, "const_l15", "size");
    finding_set(size, STATUS_MEASURED, value_number((double)l->level->size),
                "B");
    finding_interval(size, (double)l->level->size, (double)l->level->size,
                     0.99);
    finding_protocol(size, "filled_by",
                     value_text("instructions, which share the storage"));
    for (size_t i = 0; i < f->evidence_count; i++)
        finding_evidence(size, f->evidence[i]);
    return 0;
}

/* ---- warps ------------------------------------------------------------ */

/* Warps that use one copy are so far apart; the first that disturbs warp 0. */
static int ask_warps(struct lab *lab, const char *component,
                     const struct load *l, struct error *err)
{
    struct finding *const f = lab_finding(lab, component, "per_sm");
    for (int warp = 1; warp <= WARPS; warp++) {
        bool shared = false;
        char same[64], other[64];
        snprintf(same, sizeof same,
                 "warm=40 rival=same rival_sm=0 rival_warp=%d", warp);
        snprintf(other, sizeof other,
                 "warm=40 rival=other rival_sm=0 rival_warp=%d", warp);
        if (disturbed(lab, l, same, other, &shared, f, err) != 0)
            return err->code;
        if (!shared)
            continue;
        finding_set(f, STATUS_MEASURED, value_number(warp), "");
        return 0;
    }
    finding_none(f, "none of the first %d warps pushes out what warp 0 needs",
                 WARPS);
    return 0;
}

/* ---- SMs -------------------------------------------------------------- */

static int rivals_disturb(struct lab *lab, const struct load *l, uint64_t sm,
                          uint64_t sms, bool *yes, struct finding *f,
                          struct error *err)
{
    char same[64], other[64];
    snprintf(same, sizeof same,
             "warm=40 rival=same rival_sm=%" PRIu64 " rival_sms=%" PRIu64, sm,
             sms);
    snprintf(other, sizeof other,
             "warm=40 rival=other rival_sm=%" PRIu64 " rival_sms=%" PRIu64, sm,
             sms);
    return disturbed(lab, l, same, other, yes, f, err);
}

static int count_sms(struct lab *lab, const struct load *l, uint64_t sms,
                     struct finding *f, struct error *err)
{
    uint64_t sharing = 1;
    for (uint64_t sm = 1; sm < sms; sm++) {
        bool yes = false;
        if (rivals_disturb(lab, l, sm, 1, &yes, f, err) != 0)
            return err->code;
        sharing += yes;
    }
    finding_set(f, STATUS_MEASURED, value_number((double)sharing), "");
    return 0;
}

static int ask_sms(struct lab *lab, const char *component, const struct load *l,
                   struct error *err)
{
    struct finding *const f = lab_finding(lab, component, "sms_sharing");
    const int64_t told = lab->info->value[PROPERTY_SMS];
    const uint64_t sms = told > 0 ? (uint64_t)told : 1;
    const uint64_t beside = sms - 1 < NEIGHBOURS ? sms - 1 : NEIGHBOURS;
    bool shared = false;
    if (sms < 2) {
        finding_none(f, "there is no second SM");
        return 0;
    }
    if (rivals_disturb(lab, l, 1, beside, &shared, f, err) != 0)
        return err->code;
    if (shared)
        return count_sms(lab, l, sms, f, err);
    finding_set(f, STATUS_MEASURED, value_number(1), "");
    finding_protocol(f, "sms_tried", value_number((double)beside));
    return 0;
}

/* ---- the study -------------------------------------------------------- */

/* False if no size lies well between those of the two caches. */
static bool load_for(const struct lab *lab, size_t i, struct load *l)
{
    const struct code_level *const level = &lab->code.level[i];
    const uint64_t nearer = i > 0 ? level[-1].size : 0;
    const uint64_t code = level->size / 4 * 3;
    *l = (struct load){.level = level, .bytes = (code - KIB) / KIB * KIB};
    l->total = l->bytes + 2 * KIB;
    return level->exact && code > nearer + nearer / 8 && l->bytes >= KIB;
}

static void leave(struct lab *lab, size_t i, const char *why)
{
    for (size_t k = 0; k < COUNT_OF(attributes); k++)
        finding_none(lab_finding(lab, code_components[i], attributes[k]), "%s",
                     why);
}

typedef int ask_fn(struct lab *lab, const char *component, const struct load *l,
                   struct error *err);

static int ask_level(struct lab *lab, size_t i, struct error *err)
{
    static ask_fn *const asks[] = {ask_constants, ask_warps, ask_sms};
    struct load l;
    if (!load_for(lab, i, &l)) {
        leave(lab, i,
              "the cache's size is not known, or hardly more than that "
              "of the nearer one");
        return 0;
    }
    for (size_t k = 0; k < COUNT_OF(asks); k++) {
        const int status = asks[k](lab, code_components[i], &l, err);
        if (status != 0 && !lab_excuses(status))
            return status;
        if (status != 0)
            finding_none(lab_finding(lab, code_components[i], attributes[k]),
                         "%s", err->text);
    }
    return 0;
}

static int run(struct lab *lab, struct error *err)
{
    for (size_t i = 0; i < CODE_LEVELS_MAX; i++) {
        if (i >= lab->code.count && i > 0)
            for (size_t k = 0; k < COUNT_OF(attributes); k++)
                lab_absent(lab, code_components[i], attributes[k]);
        else if (i >= lab->code.count)
            leave(lab, i, lab->code.why);
        else if (ask_level(lab, i, err) != 0)
            return err->code;
    }
    return 0;
}

const struct study study_icache_sharing = {
    .name = "icache_sharing",
    .question = "Who shares the instruction caches?",
    .method = "Laps through code that takes three quarters of a cache, with "
              "and without something beside them that would take the rest: "
              "constants, another warp's code, another SM's.",
    .needs = needs,
    .gives = gives,
    .corrects = corrects,
    .run_err = run,
};
