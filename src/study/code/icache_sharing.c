/*
 * Who shares the instruction caches: constants, the warps of an SM, other SMs.
 *
 * Calls of code that takes three quarters of a cache hit it.  Something else
 * that takes room in the same cache pushes much of it out: constants, or other
 * code that another warp calls, on this SM or on another.  All take turns.
 *
 * A cache that constants share is the constant cache behind the first one; its
 * size is then known beyond the 64 KiB of constants that a module may hold.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/hits.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/lab.h"
#include "study/script.h"

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

enum { CONSTANTS = 64 * 1024, WARPS = 8, NEIGHBOURS = 31 };
/* Calls as in the study icache: backwards, the last 32 B of each 128 B. */
enum { PLACE = 128, TAIL = PLACE - 32, APART = 8, POOL = 254 * 1024 };

/* Code that takes three quarters of one cache and more than the nearer one
 * holds. */
struct code_load {
    struct lab *lab;
    const struct code_level *level;
    uint64_t lines;
};

static void add_laps(const struct code_load *l, struct script *s, size_t reader,
                     uint64_t from, bool timed)
{
    for (uint64_t i = APART; i-- > 0;)
        script_add(s, &(struct script_step){
                          .reader = reader,
                          .timed = timed,
                          .places = {from + i * PLACE + TAIL,
                                     (l->lines - i + APART - 1) / APART,
                                     APART * PLACE}});
}

enum { WARM = 3, SHORT_WARM = 2 };

/* The readers and all but the last lap: ours brings its code in, then others
 * what is theirs. */
static struct script begin_laps(void)
{
    struct script s = {0};
    script_reader(&s, "code");
    return s;
}

static void warm_up(const struct code_load *l, struct script *s)
{
    for (int lap = 0; lap < WARM; lap++)
        add_laps(l, s, 0, 0, false);
}

/* Whether more of our code is missed than by chance, a tenth, once the others
 * have been there. */
static bool is_pushed_out(const struct code_load *l, struct script *s)
{
    add_laps(l, s, 0, 0, true);
    const struct column c =
        lab_column(l->lab, "cycles", "visit %s", script_text(s, l->lab));
    return lab_ok(l->lab) &&
           10 * hits_above(c.at, c.count, l->level->limit) > c.count;
}

/* Others call other code of the same size. */
static bool others_push_out(const struct code_load *l,
                            const char *const *others, size_t count)
{
    struct script s = begin_laps();
    for (size_t i = 0; i < count; i++)
        script_reader(&s, "%s", others[i]);
    warm_up(l, &s);
    for (size_t i = 0; i < count; i++)
        for (int lap = 0; lap < (count > 1 ? 1 : SHORT_WARM); lap++)
            add_laps(l, &s, 1 + i, POOL / 2 / 1024 * 1024, false);
    return is_pushed_out(l, &s);
}

static bool other_pushes_out(const struct code_load *l, const char *other)
{
    return others_push_out(l, &other, 1);
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
    struct script s = begin_laps();
    const size_t reader = script_reader(&s, "constant");
    warm_up(l, &s);
    for (int lap = 0; lap < WARM; lap++)
        script_load(&s, reader, (struct segment){0, CONSTANTS / 64, 64});
    const bool shared = is_pushed_out(l, &s);
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
    const unsigned most = lab_block_warps(l->lab);
    for (unsigned warp = 1; lab_ok(l->lab) && warp <= WARPS && warp < most;
         warp++)
        if (other_pushes_out(l, lab_text(l->lab, "code@%u", warp))) {
            finding_measured(f, warp);
            return;
        }
    if (lab_ok(l->lab))
        finding_none(f, why_code_warps, WARPS);
}

/* ---- SMs -------------------------------------------------------------- */

static const char *caller_of(const struct code_load *l, uint64_t sm)
{
    return lab_text(l->lab, "code@0.%" PRIu64, sm);
}

static void ask_sms(const struct code_load *l, struct finding *f)
{
    const uint64_t sms = lab_sms(l->lab), beside = u64_min(sms - 1, NEIGHBOURS);
    const char *others[NEIGHBOURS];
    uint64_t sharing = 1;
    if (sms < 2) {
        finding_none(f, why_one_sm);
        return;
    }
    for (uint64_t i = 0; i < beside; i++)
        others[i] = caller_of(l, 1 + i);
    const bool any = others_push_out(l, others, beside);
    for (uint64_t sm = 1; any && lab_ok(l->lab) && sm < sms; sm++)
        sharing += other_pushes_out(l, caller_of(l, sm));
    if (!lab_ok(l->lab))
        return;
    finding_measured(f, (double)sharing);
    if (!any)
        finding_protocol(f, "sms_tried", value_number((double)beside));
}

/* ---- the study -------------------------------------------------------- */

/* False if no size lies well between those of the two caches: beyond the nearer
 * one by an eighth, so that what it holds is a small part of the code; or if
 * the pool has no room for it twice. */
static bool load_for(struct lab *lab, size_t i, struct code_load *l)
{
    const struct code_level *const level = &fact_code(lab)->level[i];
    const uint64_t nearer = i > 0 ? level[-1].size : 0;
    const uint64_t code = level->size / 4 * 3;
    *l = (struct code_load){.lab = lab, .level = level, .lines = code / PLACE};
    return level->exact && code > nearer + nearer / 8 && l->lines >= APART &&
           code < POOL / 2;
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
    .method = "Calls of code that takes three quarters of a cache, before and "
              "after something else had room for as much: constants, another "
              "warp's code, another SM's.",
    .reads = reads,
    .answers = answers,
    .proposes = proposes,
    .run = icache_sharing_run,
};
