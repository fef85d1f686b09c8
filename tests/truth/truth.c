#include "truth/truth.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "report/report.h"
#include "testing.h"
#include "truth/said.h"
#include "truth/seeds.h"
#include "truth/structure.h"

const char *const truth_gpus[TRUTH_GPUS] = {
    "gtx560ti", "k20c",    "p6000",     "gtx780",
    "v100",     "gtx840m", "rtx2080ti", "a100",
};

/* ---- what the profile says ---- */

static struct truth *put(struct truths *t, const char *component,
                         const char *attribute, bool exists, double value,
                         double tolerance)
{
    if (t->count == TRUTHS_MAX)
        abort(); /* by tools, too, which are no tests */
    struct truth *const new = &t->list[t->count++];
    *new = (struct truth){
        .exists = exists, .value = value, .tolerance = tolerance};
    snprintf(new->id, sizeof new->id, "%s.%s", component, attribute);
    return new;
}

/* 1 % of the latency, or of the larger of two; at least a cycle. */
static double doubt(double cycles)
{
    return fmax(1, 0.01 * cycles);
}

/* What a load costs that finds its translation in the first TLB. */
static double cost_at(const struct profile_path *path, size_t level)
{
    return level < path->levels ? path->latency[level].cycles[0]
                                : path->memory.cycles[0];
}

/* What can be told of a cache. */
struct limits {
    uint64_t most;  /* the largest size that can be asked for */
    uint64_t apart; /* the shortest line */
};

/* A component and how programs reach it: the cache `level` of a path. */
struct row {
    const char *component;
    enum profile_path_id path;
    size_t level;
    struct limits limits;
};

enum { CONSTANTS = 65536 };

static const struct row truth_rows[] = {
    {"l1", PATH_GLOBAL_CA, 0, {UINT64_MAX, 8}},
    {"texture", PATH_TEXTURE, 0, {UINT64_MAX, 8}},
    {"readonly", PATH_READONLY, 0, {UINT64_MAX, 8}},
    {"local", PATH_LOCAL, 0, {UINT64_MAX, 128}},
    {"const_l1", PATH_CONSTANT, 0, {CONSTANTS, 8}},
    {"const_l15", PATH_CONSTANT, 1, {CONSTANTS, 8}},
    {"l2", PATH_GLOBAL_CG, 0, {UINT64_MAX, 8}},
};

static const struct profile_path *path_with(const struct profile *profile,
                                            const struct row *row);

/* Words of local memory lie too far apart to tell how long a short line is, nor
 * therefore how much a cache of such lines holds, unless it is L1 as global
 * loads know it. */
static bool is_vague(const struct profile *profile, const struct row *row)
{
    return row->path == PATH_LOCAL &&
           path_with(profile, &truth_rows[0]) == NULL;
}

/* What a shared cache in one part has not. */
static const char *const sides[] = {
    "near_latency", "far_latency", "near_miss_latency", "far_miss_latency",
    "near_size",    "replicates",  "side_bits",         "sm_sides"};

static void put_one_side(struct truths *t, const struct profile_path *path)
{
    put(t, "l2", "parts", true, 1, 0);
    put(t, "memory", "latency", true, cost_at(path, 1),
        doubt(cost_at(path, 1)));
    for (size_t i = 0; i < COUNT_OF(sides); i++)
        put(t, "l2", sides[i], false, 0, 0);
}

/* Half of all lines are far.  Those that are found are near after the first
 * time, where the near side keeps them; then the size is that of a step. */
static void put_two_sides(struct truths *t, const struct profile *profile,
                          const struct profile_path *path)
{
    const struct profile_cache *const l2 = &profile->caches[path->cache[0]];
    const struct profile_partitions *const p = &l2->partitions;
    const double size = (double)cache_shape_bytes(&l2->shape);
    const double near = cost_at(path, 0), far = near + p->far_cycles;
    const double hit = p->replicates ? near : (near + far) / 2;
    const double near_miss = cost_at(path, 1);
    const double far_miss = near_miss + p->far_cycles;
    const double miss = (near_miss + far_miss) / 2;
    put(t, "l2", "size", true, size, p->replicates ? 0.005 * size : 0);
    put(t, "l2", "line", true, (double)l2->shape.line, 0);
    put(t, "l2", "sector", true, (double)l2->shape.sector, 0);
    put(t, "l2", "parts", true, 2, 0);
    put(t, "l2", "latency", true, hit, doubt(hit));
    put(t, "l2", "miss_penalty", true, miss - hit, doubt(miss));
    put(t, "memory", "latency", true, miss, doubt(miss));
    put(t, "l2", "near_latency", true, near, doubt(near));
    put(t, "l2", "far_latency", true, far, doubt(far));
    put(t, "l2", "near_miss_latency", true, near_miss, doubt(near_miss));
    put(t, "l2", "far_miss_latency", true, far_miss, doubt(far_miss));
    put(t, "l2", "near_size", true, size / 2, 0.01 * size);
}

/* By how much misses may differ that find their lines in both parts of L2,
 * where the far ones stay far: which do is a matter of their addresses. */
static double parts_apart(const struct profile *profile,
                          const struct profile_path *path, size_t level)
{
    if (level >= path->levels)
        return 0;
    const struct profile_partitions *const p =
        &profile->caches[path->cache[level]].partitions;
    return p->bits != 0 && !p->replicates ? p->far_cycles : 0;
}

/* What the level before asks for at once where that is more than a line; else
 * 0. */
static double piece_of(const struct profile *profile,
                       const struct profile_path *path, size_t level)
{
    if (level == 0)
        return 0;
    const uint64_t before =
        profile->caches[path->cache[level - 1]].shape.sector;
    const uint64_t line = profile->caches[path->cache[level]].shape.line;
    return before > line ? (double)before : 0;
}

static void put_cache(struct truths *t, const char *component,
                      const struct row *row, const struct profile *profile,
                      const struct profile_path *path)
{
    const struct cache_shape *const shape =
        &profile->caches[path->cache[row->level]].shape;
    const uint64_t bytes = cache_shape_bytes(shape);
    const double hit = cost_at(path, row->level);
    const double apart = parts_apart(profile, path, row->level + 1);
    const double miss = cost_at(path, row->level + 1) + apart / 2;
    struct truth *const size =
        put(t, component, "size", true, (double)bytes, 0);
    size->bound = bytes >= row->limits.most || is_vague(profile, row);
    size->piece = piece_of(profile, path, row->level);
    /* To three steps of some 1/56 of the size, but of whole lines. */
    if (row->path != PATH_GLOBAL_CG && 2 * bytes < row->limits.most)
        put(t, component, "size_by_change", true, (double)bytes,
            4 * fmax((double)shape->line, (double)bytes / 56));
    put(t, component, "line", true, (double)shape->line, 0)->bound =
        2 * bytes >= row->limits.most || shape->line <= row->limits.apart;
    put(t, component, "sector", true, (double)shape->sector, 0)->bound =
        shape->sector <= row->limits.apart;
    put(t, component, "latency", true, hit, doubt(hit));
    put(t, component, "miss_penalty", true, miss - hit,
        doubt(miss) + doubt(hit) + apart / 2);
}

static void put_absent(struct truths *t, const char *component)
{
    static const char *const attributes[] = {"size", "line", "sector",
                                             "latency", "miss_penalty"};
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        put(t, component, attributes[i], false, 0, 0);
}

/* Local loads go where global ones go, if nothing else is said of them. */
static const struct profile_path *path_of(const struct profile *profile,
                                          enum profile_path_id id)
{
    const struct profile_path *const path = &profile->paths[id];
    return id == PATH_LOCAL && !path->present ? &profile->paths[PATH_GLOBAL_CA]
                                              : path;
}

/* The path if its cache of that level is nearer than L2, else NULL. */
static const struct profile_path *path_with(const struct profile *profile,
                                            const struct row *row)
{
    const struct profile_path *const path = path_of(profile, row->path);
    const int l2 = profile->paths[PATH_GLOBAL_CG].cache[0];
    const bool has =
        path->present && path->levels > row->level &&
        (row->path == PATH_GLOBAL_CG || path->cache[row->level] != l2);
    return has ? path : NULL;
}

/* Of L1 that is which local loads show, where global ones do not. */
static void put_row(struct truths *t, const struct row *row,
                    const struct profile *profile)
{
    const struct row *shown = row;
    if (row->path == PATH_GLOBAL_CA && path_with(profile, row) == NULL)
        shown = &truth_rows[3];
    const struct profile_path *const path = path_with(profile, shown);
    if (path != NULL)
        put_cache(t, row->component, shown, profile, path);
    else
        put_absent(t, row->component);
}

/* What reads come to where something is known to limit them; a GPU whose L2
 * leaves no room for as much as it takes has a bound. */
static void put_rates(struct truths *t, const struct profile *profile,
                      const struct profile_path *ca)
{
    const double memory =
        profile->memory_read_bandwidth * 1e3 * (double)profile->clock_khz;
    const double l1 =
        ca != NULL ? profile->caches[ca->cache[0]].read_bandwidth : 0;
    const double shared = profile->shared_read_bandwidth;
    if (memory > 0 && profile->l2_reported_bytes > 0)
        put(t, "memory", "read_bandwidth", true, memory, 0.01 * memory)->bound =
            true;
    if (l1 > 0)
        put(t, "l1", "read_bandwidth", true, l1, 0.01 * l1)->bound = true;
    if (shared > 0)
        put(t, "shared", "read_bandwidth", true, shared, 0.01 * shared)->bound =
            true;
}

void truths_of(const struct profile *profile, struct truths *t)
{
    const struct profile_path *const cg = &profile->paths[PATH_GLOBAL_CG];
    const struct profile_path *const ca = path_with(profile, &truth_rows[0]);
    *t = (struct truths){.profile = profile, .caches_global = ca != NULL};
    const bool two_sides = profile->caches[cg->cache[0]].partitions.bits != 0;
    for (size_t i = 0; i < COUNT_OF(truth_rows); i++)
        if (!two_sides || truth_rows[i].path != PATH_GLOBAL_CG)
            put_row(t, &truth_rows[i], profile);
    if (ca != NULL) {
        put(t, "l1", "parts", true, 1, 0);
        t->lines[0] = profile->caches[ca->cache[0]].shape.line;
    }
    t->lines[1] = profile->caches[cg->cache[0]].shape.line;
    if (two_sides)
        put_two_sides(t, profile, cg);
    else
        put_one_side(t, cg);
    put(t, "shared", "latency", true, profile->shared_latency,
        doubt(profile->shared_latency));
    put(t, "clock", "overhead", true, profile->clock_overhead, 1);
    put_rates(t, profile, ca);
}

/* ---- what was found ---- */

struct comparison {
    struct run_seen seen;
    struct verdict verdict;
};

__attribute__((format(printf, 3, 4))) static void
row(struct comparison *c, const char *id, const char *fmt, ...)
{
    char what[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    buf_printf(c->seen.rows, "%s seed %llu %s %s\n", c->seen.name,
               (unsigned long long)c->seen.seed, id, what);
}

/* Counts what is wrong. */
static void note(struct comparison *c, enum claim_outcome outcome,
                 const char *id)
{
    c->verdict.wrong += outcome == CLAIM_WRONG;
    claim_note(&c->seen, outcome, id);
}

static const char *word(const char *text)
{
    return text != NULL ? text : "(nothing)";
}

/* What a report says of the finding's status, because, …; NULL: nothing. */
static const char *said(const json_t *findings, const char *id, const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(findings, id), key));
}

bool truth_number(const json_t *findings, const char *id, double *number)
{
    const char *const status = word(said(findings, id, "status"));
    const json_t *const value =
        json_object_get(json_object_get(findings, id), "value");
    if (!json_is_number(value) ||
        (strcmp(status, "measured") != 0 && strcmp(status, "reported") != 0 &&
         strcmp(status, "derived") != 0))
        return false;
    *number = json_number_value(value);
    return true;
}

static void compare_absent(struct comparison *c, const char *id)
{
    const char *const status = said(c->seen.findings, id, "status");
    const char *const because = said(c->seen.findings, id, "because");
    if (status == NULL)
        return;
    if (strcmp(status, "not_measured") == 0 && because != NULL &&
        because[0] != '\0')
        return;
    note(c, CLAIM_WRONG, id);
    row(c, id, "expected not_measured with a reason, found %s because %s",
        word(status), word(because));
}

static const json_t *value_of(const struct comparison *c, const char *id)
{
    return json_object_get(json_object_get(c->seen.findings, id), "value");
}

/* True if the finding is a bound and what is true is on its wrong side. */
static bool is_false_bound(const struct comparison *c, const struct truth *t)
{
    const char *const status = word(said(c->seen.findings, t->id, "status"));
    const json_t *const value = value_of(c, t->id);
    if (!json_is_number(value))
        return false;
    const double more = json_number_value(value) - t->value;
    return (strcmp(status, "at_least") == 0 && more > t->tolerance) ||
           (strcmp(status, "at_most") == 0 && more < -t->tolerance);
}

static bool is_bound(const struct comparison *c, const struct truth *t)
{
    const char *const status = word(said(c->seen.findings, t->id, "status"));
    return strcmp(status, "at_least") == 0 || strcmp(status, "at_most") == 0;
}

static void compare_unmeasured(struct comparison *c, const struct truth *t)
{
    const bool wrong = is_false_bound(c, t), bound = is_bound(c, t);
    note(c,
         wrong               ? CLAIM_WRONG
         : bound && t->bound ? CLAIM_RIGHT
         : bound             ? CLAIM_BOUND
                             : CLAIM_MISSING,
         t->id);
    if (!wrong && t->bound && bound)
        return;
    c->verdict.missing += !wrong;
    row(c, t->id, "expected %.10g, found %s because %s", t->value,
        word(said(c->seen.findings, t->id, "status")),
        word(said(c->seen.findings, t->id, "because")));
}

/* The value is right, or the interval holds the truth as near as a measured
 * value must come. */
static bool is_held(const struct comparison *c, const struct truth *t)
{
    const json_t *const interval =
        json_object_get(json_object_get(c->seen.findings, t->id), "interval");
    const double value = json_number_value(value_of(c, t->id));
    if (fabs(value - t->value) <= t->tolerance)
        return true;
    return json_array_size(interval) == 2 &&
           json_number_value(json_array_get(interval, 0)) <=
               t->value + t->tolerance &&
           t->value - t->tolerance <=
               json_number_value(json_array_get(interval, 1));
}

/* A number that was sampled has a confidence, and is no farther off than a
 * fiftieth. */
static bool is_sampled(const struct comparison *c, const struct truth *t)
{
    const json_t *const finding = json_object_get(c->seen.findings, t->id);
    return json_object_get(finding, "confidence") != NULL &&
           fabs(json_number_value(value_of(c, t->id)) - t->value) <=
               t->value / 50;
}

/* A number of pieces is no farther off than a part of one. */
static bool is_in_pieces(const struct comparison *c, const struct truth *t)
{
    const double less = t->value - json_number_value(value_of(c, t->id));
    return 0 <= less && less < t->piece;
}

static bool compare_doubtful(struct comparison *c, const struct truth *t)
{
    if (strcmp(word(said(c->seen.findings, t->id, "status")), "in_doubt") != 0)
        return false;
    const bool holds = is_held(c, t);
    note(c, holds ? CLAIM_DOUBT : CLAIM_WRONG, t->id);
    if (!holds)
        row(c, t->id, "expected %.10g, found an interval that does not hold it",
            t->value);
    return true;
}

static void compare_number(struct comparison *c, const struct truth *t)
{
    double found;
    c->verdict.asked++;
    if (compare_doubtful(c, t))
        return;
    if (!truth_number(c->seen.findings, t->id, &found)) {
        compare_unmeasured(c, t);
        return;
    }
    /* What is counted is exact; what takes time, is sampled, or counted in
     * larger pieces, is as sure as it says. */
    const bool right =
        found == t->value ||
        ((t->tolerance > 0 || is_sampled(c, t) || is_in_pieces(c, t)) &&
         is_held(c, t));
    note(c, right ? CLAIM_RIGHT : CLAIM_WRONG, t->id);
    if (!right)
        row(c, t->id, "expected %.10g, found %.10g (may differ by %.3g)",
            t->value, found, t->tolerance);
}

static void compare_caches_global(struct comparison *c, bool expected)
{
    static const char id[] = "l1.caches_global";
    const json_t *const value = value_of(c, id);
    c->verdict.asked++;
    const bool right =
        json_is_boolean(value) && json_is_true(value) == expected;
    note(c, right ? CLAIM_RIGHT : CLAIM_WRONG, id);
    if (!right)
        row(c, id, "expected %s, found another value",
            expected ? "true" : "false");
}

/* A search that halves tries a number of sizes that grows with the logarithm
 * of the lines; 12 are for its ends and its checks, and up to 4 go together. */
static void compare_effort(struct comparison *c, const char *id, uint64_t line)
{
    double size;
    const json_t *const tried = json_object_get(
        json_object_get(json_object_get(c->seen.findings, id), "protocol"),
        "sizes_tried");
    if (line == 0 || !truth_number(c->seen.findings, id, &size) ||
        !json_is_number(tried))
        return;
    const double most = 12 + 4 * log2(size / (double)line);
    if (json_number_value(tried) < most)
        return;
    note(c, CLAIM_WRONG, id);
    row(c, id, "was found by %.0f sizes, of which there may be %.0f",
        json_number_value(tried), most);
}

/* Texts of experiments; how many each study asked, and a digest of which, in
 * their order. */
struct heard {
    json_t *experiments, *asks, *digests;
};

/* References are the planner's. */
static int collect(void *context, const struct sonde_progress *progress)
{
    struct heard *const h = context;
    if (progress->experiment == NULL || h == NULL)
        return 0;
    json_array_append_new(h->experiments, json_string(progress->experiment));
    if (strncmp(progress->experiment, "reference ", 10) == 0)
        return 0;
    const json_int_t asks =
        json_integer_value(json_object_get(h->asks, progress->study));
    json_object_set_new(h->asks, progress->study, json_integer(asks + 1));
    const uint64_t before =
        asks == 0 ? HASH_START
                  : (uint64_t)json_integer_value(
                        json_object_get(h->digests, progress->study));
    json_object_set_new(
        h->digests, progress->study,
        json_integer((json_int_t)hash_text(before, progress->experiment)));
    return 0;
}

/* With the experiments that are asked for, where they are wanted. */
static json_t *run_studies(const char *spec, uint64_t seed,
                           const char *const *studies, size_t count,
                           struct heard *heard, const char *record)
{
    const struct sonde_options options = {.device = spec,
                                          .seed = seed,
                                          .record = record,
                                          .no_cache = true,
                                          .progress = collect,
                                          .context = heard};
    const struct sonde_style style = {.verbose = true};
    struct sonde_error err;
    struct sonde *session;
    char *text;
    ASSERT_DONE(sonde_open(&session, &options, &err), err);
    ck_assert_msg(sonde_run(session, studies, count, &err) >= 0, "%s: %s", spec,
                  err.text);
    ASSERT_DONE(sonde_report(session, "json", &style, &text, &err), err);
    ASSERT_DONE(sonde_close(session, &err), err);
    json_t *const report = json_loads(text, 0, NULL);
    ck_assert_msg(report != NULL, "the report is not JSON");
    free(text);
    return report;
}

json_t *truth_report(const char *spec, uint64_t seed,
                     const char *const *studies, size_t count)
{
    return run_studies(spec, seed, studies, count, NULL, NULL);
}

/* A member of a report, which ends with it. */
static json_t *member_of(json_t *report, const char *name)
{
    json_t *const member = json_incref(json_object_get(report, name));
    json_decref(report);
    ck_assert_ptr_nonnull(member);
    return member;
}

struct asked {
    const char *spec, *record;
    uint64_t seed;
};

/* A report with what was heard. */
static json_t *heard_report(const struct asked *asked,
                            const char *const *studies, size_t count)
{
    struct heard heard = {json_array(), json_object(), json_object()};
    json_t *const report = run_studies(asked->spec, asked->seed, studies, count,
                                       &heard, asked->record);
    json_object_set_new(report, "experiments", heard.experiments);
    json_object_set_new(report, "asks", heard.asks);
    json_object_set_new(report, "digests", heard.digests);
    return report;
}

json_t *truth_findings(const char *spec, uint64_t seed,
                       const char *const *studies, size_t count)
{
    const struct asked asked = {.spec = spec, .seed = seed};
    json_t *const report = heard_report(&asked, studies, count);
    said_is_kept(spec, seed, studies, count, report);
    return member_of(report, "findings");
}

static char *topology_text(const void *context)
{
    json_t *const report = heard_report(context, NULL, 0);
    char *const text = json_dumps(report, JSON_COMPACT);
    json_decref(report);
    return text;
}

/* The recording of that report, which the caller frees. */
static char *recording_path(const char *gpu, uint64_t seed)
{
    char *const name = xasprintf("topology-%s-%" PRIu64 ".rec", gpu, seed);
    char *const path = testing_shared(name);
    free(name);
    return path;
}

/* A report with these members more, measured once for all tests. */
static json_t *topology_of(const char *gpu, uint64_t seed)
{
    char *const spec = xasprintf("sim:%s", gpu);
    char *const key = xasprintf("topology-%s-%" PRIu64 ".json", gpu, seed);
    char *const record = recording_path(gpu, seed);
    const struct asked asked = {spec, record, seed};
    char *const text = testing_once(key, topology_text, &asked);
    json_t *const report = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(report);
    free(text);
    free(record);
    free(key);
    free(spec);
    return report;
}

json_t *truth_topology(const char *gpu, uint64_t seed)
{
    return member_of(topology_of(gpu, seed), "findings");
}

void truth_read(json_t *findings, const char *gpu, struct results *results)
{
    struct error err = {0};
    json_t *const report = json_pack(
        "{ss s{ss ss ss} so}", "schema", "sonde-report-2", "device", "spec",
        "sim", "name", gpu, "compute_capability", "3.5", "findings", findings);
    char *const text = json_dumps(report, 0);
    ASSERT_DONE(report_read(text, gpu, results, &err), err);
    free(text);
    json_decref(report);
}

void truth_results(const char *gpu, struct results *results)
{
    truth_read(truth_topology(gpu, 1), gpu, results);
}

json_t *truth_experiments(const char *gpu, uint64_t seed)
{
    return member_of(topology_of(gpu, seed), "experiments");
}

json_t *truth_asks(const char *gpu, uint64_t seed)
{
    return member_of(topology_of(gpu, seed), "asks");
}

char *truth_recording(const char *gpu, uint64_t seed)
{
    json_decref(topology_of(gpu, seed));
    return recording_path(gpu, seed);
}

json_t *truth_findings_seeded(char *profile, uint64_t seed, const char *study)
{
    char *const spec = testing_spec_of(profile);
    json_t *const findings = truth_findings(spec, seed, &study, 1);
    free(spec);
    return findings;
}

json_t *truth_findings_of(char *profile, const char *study)
{
    return truth_findings_seeded(profile, 1, study);
}

static const json_t *finding_of(const json_t *findings, const char *id)
{
    const json_t *const finding = json_object_get(findings, id);
    ck_assert_msg(finding != NULL, "there is no %s", id);
    return finding;
}

const char *truth_text(const json_t *findings, const char *id, const char *key)
{
    const json_t *const text = json_object_get(finding_of(findings, id), key);
    return json_is_string(text) ? json_string_value(text) : "";
}

static void expect_status(const json_t *findings, const char *id,
                          const char *status)
{
    const char *const is = truth_text(findings, id, "status");
    ck_assert_msg(strcmp(is, status) == 0, "%s is %s because \"%s\"", id, is,
                  truth_text(findings, id, "because"));
}

const json_t *truth_measured(const json_t *findings, const char *id)
{
    expect_status(findings, id, "measured");
    return json_object_get(finding_of(findings, id), "value");
}

const json_t *truth_protocol(const json_t *findings, const char *id,
                             const char *name)
{
    return json_object_get(
        json_object_get(finding_of(findings, id), "protocol"), name);
}

void truth_unmeasured(const json_t *findings, const char *id, const char *word)
{
    const char *const because = truth_text(findings, id, "because");
    expect_status(findings, id, "not_measured");
    ck_assert_msg(strstr(because, word) != NULL, "%s: \"%s\" lacks \"%s\"", id,
                  because, word);
}

static void compare(struct comparison *c, const struct truths *truths)
{
    for (size_t i = 0; i < truths->count; i++)
        if (truths->list[i].exists)
            compare_number(c, &truths->list[i]);
        else
            compare_absent(c, truths->list[i].id);
    compare_caches_global(c, truths->caches_global);
    compare_effort(c, "l1.size", truths->lines[0]);
    compare_effort(c, "l2.size", truths->lines[1]);
}

struct verdict truth_compare(const json_t *findings, const char *name,
                             uint64_t seed, const struct truths *truths,
                             struct buf *rows, struct buf *outcomes)
{
    struct comparison c = {.seen = {.profile = truths->profile,
                                    .name = name,
                                    .seed = seed,
                                    .findings = findings,
                                    .rows = rows,
                                    .outcomes = outcomes}};
    compare(&c, truths);
    structure_compare(&c.seen, &c.verdict);
    seeds_compare(&c.seen, &c.verdict);
    return c.verdict;
}

void truth_add_gpus(Suite *suite, TCase *quick, const TTest *test, int part,
                    int parts)
{
    TCase *const slow = suite_slow(suite, 300);
    for (int i = part; i < TRUTH_GPUS * (int)testing_seeds(); i += parts)
        tcase_add_loop_test(i % TRUTH_GPUS == part ? quick : slow, test, i,
                            i + 1);
}
