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

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/lab.h"

static const enum fact_id reads[] = {FACT_CODE, FACT_NONE};
/* Constants are too few to fill such a cache; instructions that share its
 * storage are not. */
static const struct answer proposes[] = {
    {ONE("const_l15"), "size", "B"},
    {0},
};
static const struct answer answers[] = {
    {code_components, "shares_with", ""},
    {code_components, "per_sm", ""},
    {code_components, "sms_sharing", ""},
    {0},
};

enum { KIB = 1024, CONSTANTS = 64 * KIB, WARPS = 8, NEIGHBOURS = 15 };

/* Code that fits one cache and not the nearer one. */
struct code_load {
    struct lab *lab;
    const struct code_level *level;
    uint64_t bytes, total;
};

enum { WARM = 40, LAPS = 6, LAPS_MOST = 4096 };

/* What laps cost, and the slowest more than that. */
struct quick {
    double cycles, spread;
};

/* A lap, and a rival's where there is one: of two that push out each other's
 * code the quicker keeps its own.  Of six laps the second quickest is free of
 * what disturbs some. */
static struct quick quick_lap(const struct code_load *l, uint64_t laps,
                              const char *beside)
{
    const struct samples *const s =
        lab_probe(l->lab,
                  "code bytes=%" PRIu64 " total=%" PRIu64
                  " block=1024 laps=%" PRIu64 " %s",
                  l->bytes, l->total, laps, beside);
    const struct column cycles = lab_column_of(l->lab, s, "cycles");
    const struct column rival = lab_column_of(l->lab, s, "rival");
    const size_t count = u64_min(cycles.count, LAPS);
    for (size_t i = 0; i < count; i++)
        cycles.at[i] += rival.at[i];
    const double quick = stats_quantile(cycles.at, count, 0.25);
    return (struct quick){quick, stats_quantile(cycles.at, count, 1) - quick};
}

/* What a lap stalls for if all of its lines miss. */
static double all_misses(const struct code_load *l)
{
    return (double)l->bytes / (double)l->level->line * l->level->penalty;
}

/* Whether laps are dearer than calm ones: by more than some misses, and by more
 * than laps differ by themselves: thrice as far as the slowest of the six is
 * off.  A quarter of what a lap can miss is no noise. */
static bool is_dearer(const struct code_load *l, struct quick calm,
                      struct quick full)
{
    const double noise = fmin(3 * calm.spread, all_misses(l) / 4);
    const double least =
        fmax(assume(ASSUME_CODE_PUSHED_OUT) * l->level->penalty,
             assume(ASSUME_CODE_DISTURBED) * calm.cycles);
    return full.cycles - calm.cycles > fmax(least, noise);
}

/* So many laps that whoever keeps its code is there until the other, all of
 * whose lines miss, has made those that are kept. */
static uint64_t laps_of_duel(const struct code_load *l, double calm)
{
    const double ratio = 1 + all_misses(l) / (calm / 2);
    return (uint64_t)fmin(ceil((WARM + LAPS) * ratio), LAPS_MOST);
}

/* The same code by a rival, and then another. */
static bool rival_disturbs(const struct code_load *l, const char *where)
{
    const struct quick calm = quick_lap(
        l, LAPS, lab_text(l->lab, "warm=%d rival=same %s", WARM, where));
    if (!lab_ok(l->lab))
        return false;
    return is_dearer(
        l, calm,
        quick_lap(l, laps_of_duel(l, calm.cycles),
                  lab_text(l->lab, "warm=%d rival=other %s", WARM, where)));
}

/* ---- constants -------------------------------------------------------- */

static void propose_size(const struct code_load *l, const struct finding *by)
{
    const double bytes = (double)l->level->size;
    struct finding *const f = lab_finding(l->lab, "const_l15", "size");
    finding_measured(f, bytes);
    finding_interval(f, bytes, bytes, -1);
    finding_protocol(f, "filled_by",
                     value_text("instructions, which share the storage"));
    for (size_t i = 0; i < by->evidence_count; i++)
        finding_cite(f, by->evidence[i]);
}

static void ask_constants(const struct code_load *l, struct finding *f)
{
    const struct quick calm = quick_lap(l, LAPS, "warm=3 constants=64");
    const bool shared = is_dearer(
        l, calm,
        quick_lap(l, LAPS, lab_text(l->lab, "warm=3 constants=%d", CONSTANTS)));
    if (!lab_ok(l->lab))
        return;
    struct value list = value_list();
    if (shared)
        value_push(&list, value_text("const_l15"));
    finding_value(f, STATUS_MEASURED, list);
    if (shared && l->level->exact && l->level->size > CONSTANTS)
        propose_size(l, f);
}

/* ---- warps ------------------------------------------------------------ */

/* Warps that use one copy are so far apart; the first that disturbs warp 0. */
static void ask_warps(const struct code_load *l, struct finding *f)
{
    for (int warp = 1; lab_ok(l->lab) && warp <= WARPS; warp++)
        if (rival_disturbs(
                l, lab_text(l->lab, "rival_sm=0 rival_warp=%d", warp))) {
            finding_measured(f, warp);
            return;
        }
    if (lab_ok(l->lab))
        finding_none(f, why_code_warps, WARPS);
}

/* ---- SMs -------------------------------------------------------------- */

static bool sms_disturb(const struct code_load *l, uint64_t sm, uint64_t sms)
{
    return rival_disturbs(
        l,
        lab_text(l->lab, "rival_sm=%" PRIu64 " rival_sms=%" PRIu64, sm, sms));
}

static void ask_sms(const struct code_load *l, struct finding *f)
{
    const uint64_t sms = lab_sms(l->lab), beside = u64_min(sms - 1, NEIGHBOURS);
    uint64_t sharing = 1;
    if (sms < 2) {
        finding_none(f, why_one_sm);
        return;
    }
    const bool any = sms_disturb(l, 1, beside);
    for (uint64_t sm = 1; any && lab_ok(l->lab) && sm < sms; sm++)
        sharing += sms_disturb(l, sm, 1);
    if (!lab_ok(l->lab))
        return;
    finding_measured(f, (double)sharing);
    if (!any)
        finding_protocol(f, "sms_tried", value_number((double)beside));
}

/* ---- the study -------------------------------------------------------- */

/* False if no size lies well between those of the two caches: beyond the nearer
 * one by an eighth, so that what it holds is a small part of the code. */
static bool load_for(struct lab *lab, size_t i, struct code_load *l)
{
    const struct code_level *const level = &fact_code(lab)->level[i];
    const uint64_t nearer = i > 0 ? level[-1].size : 0;
    const uint64_t code = level->size / 4 * 3;
    *l = (struct code_load){
        .lab = lab, .level = level, .bytes = (code - KIB) / KIB * KIB};
    l->total = l->bytes + 2 * KIB;
    return level->exact && code > nearer + nearer / 8 && l->bytes >= KIB;
}

/* What is asked of each cache, in the order of the answers. */
static void (*const questions[])(const struct code_load *, struct finding *) = {
    ask_constants, ask_warps, ask_sms};

static void icache_sharing_ask_level(struct lab *lab, size_t i)
{
    struct code_load l;
    if (!load_for(lab, i, &l)) {
        lab_refuse(lab, lab_text(lab, "%s.*", code_components[i]), "%s",
                   l.level->exact
                       ? why_code_little_more
                       : lab_why_unknown(lab, code_components[i], "size"));
        return;
    }
    for (size_t k = 0; lab_ok(lab) && k < COUNT_OF(questions); k++) {
        struct finding *const f =
            lab_finding(lab, code_components[i], answers[k].attribute);
        lab_cite(lab, f);
        questions[k](&l, f);
        lab_uncite(lab);
        const char *const why = lab_excuse(lab);
        if (why != NULL)
            finding_none(f, "%s", why);
    }
}

static void icache_sharing_run(struct lab *lab)
{
    for (size_t i = 0; i < fact_code(lab)->count; i++)
        icache_sharing_ask_level(lab, i);
    for (size_t i = u64_max(fact_code(lab)->count, 1); i < CODE_LEVELS_MAX; i++)
        for (const struct answer *a = answers; a->attribute != NULL; a++)
            lab_absent(lab, code_components[i], a->attribute);
    if (fact_code(lab)->count == 0)
        lab_leave_open(lab,
                       fact_code(lab)->why != NULL
                           ? fact_code(lab)->why
                           : lab_why_unknown(lab, code_components[0], "size"));
}

const struct study study_icache_sharing = {
    .name = "icache_sharing",
    .question = "Who shares the instruction caches?",
    .method = "Laps through code that takes three quarters of a cache, with "
              "and without something beside them that would take the rest: "
              "constants, another warp's code, another SM's.",
    .reads = reads,
    .answers = answers,
    .proposes = proposes,
    .run = icache_sharing_run,
};
