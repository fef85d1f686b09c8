/*
 * Where two answers cannot be told apart by any experiment (LRU and
 * a tree of two ways), or where an experiment has no room (a TLB that reaches
 * beyond memory), the claim allows for it.
 */
#include "truth/structure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/lab.h"
#include "truth/component.h"
#include "truth/index.h"
#include "truth/truth.h"

/* ---- comparisons ---- */

static bool lists_agree(const json_t *expected, const json_t *found,
                        same_fn *same)
{
    if (!json_is_array(found) ||
        json_array_size(found) != json_array_size(expected))
        return false;
    for (size_t i = 0; i < json_array_size(expected); i++)
        if (!same(json_array_get(expected, i), json_array_get(found, i)))
            return false;
    return true;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Numbers of a list in rising order; the caller frees. */
static double *sorted(const json_t *list)
{
    const size_t count = json_array_size(list);
    double *const values = xcalloc(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = json_number_value(json_array_get(list, i));
    qsort(values, count, sizeof *values, by_value);
    return values;
}

/* Which set is called the first is nobody's to know. */
static bool same_sets(const json_t *expected, const json_t *found)
{
    const size_t count = json_array_size(expected);
    if (!json_is_array(found) || json_array_size(found) != count)
        return false;
    double *const a = sorted(expected), *const b = sorted(found);
    const bool same = memcmp(a, b, count * sizeof *a) == 0;
    free(a);
    free(b);
    return same;
}

static bool close_weight(const json_t *expected, const json_t *found)
{
    return claim_is_close(expected, found, 0.02);
}

static bool close_weights(const json_t *expected, const json_t *found)
{
    return lists_agree(expected, found, close_weight);
}

static bool has_text(const json_t *list, const char *text)
{
    for (size_t i = 0; text != NULL && i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
            return true;
    return false;
}

static bool is_one_of(const json_t *expected, const json_t *found)
{
    return has_text(expected, json_string_value(found));
}

static bool same_texts(const json_t *expected, const json_t *found)
{
    if (!json_is_array(found) ||
        json_array_size(found) != json_array_size(expected))
        return false;
    for (size_t i = 0; i < json_array_size(found); i++)
        if (!is_one_of(expected, json_array_get(found, i)))
            return false;
    return true;
}

/* The same partition of the warps: which copy is called 0 is a matter of taste.
 * As many warps as were tried, but some of every copy. */
static bool same_copies(const json_t *expected, const json_t *found)
{
    const size_t count = json_array_size(found);
    if (count < json_array_size(expected) / 8)
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const bool together =
                json_equal(json_array_get(expected, i % 64),
                           json_array_get(expected, j % 64)) != 0;
            if (together != (json_equal(json_array_get(found, i),
                                        json_array_get(found, j)) != 0))
                return false;
        }
    return true;
}

/* Expected is null or {"cycles": 230}, with "within" if its own interval says
 * more than a claim lets in.  What was found to be null is not wrong, but may
 * be missing. */
static bool same_pattern(const json_t *expected, const json_t *found)
{
    const json_t *const cycles = json_object_get(expected, "cycles");
    const double within =
        json_number_value(json_object_get(expected, "within"));
    return json_is_null(found) ||
           (json_is_object(expected) &&
            claim_is_close(
                cycles, found,
                fmax(claim_doubt(json_number_value(cycles)), within)));
}

static bool same_patterns(const json_t *expected, const json_t *found)
{
    return lists_agree(expected, found, same_pattern);
}

/* ---- caches and TLBs ---- */

static bool is_even(const struct cache_shape *shape)
{
    for (size_t set = 1; set < shape->sets; set++)
        if (shape->set_ways[set] != shape->set_ways[0])
            return false;
    return true;
}

static uint32_t most_ways(const struct cache_shape *shape)
{
    uint32_t most = 0;
    for (size_t set = 0; set < shape->sets; set++)
        most = shape->set_ways[set] > most ? shape->set_ways[set] : most;
    return most;
}

static json_t *list_of_ways(const struct cache_shape *shape)
{
    json_t *const list = json_array();
    for (size_t set = 0; set < shape->sets; set++)
        json_array_append_new(list, json_integer(shape->set_ways[set]));
    return list;
}

static void claim_sets(struct check *c, const char *component,
                       const struct cache_shape *shape, enum need need)
{
    const bool even = is_even(shape);
    claim_whole(c, component, "sets", even ? need : MAY, shape->sets);
    claim_whole(c, component, "ways", even ? need : NEVER, shape->set_ways[0]);
    claim(c, component, "set_ways", even ? NEVER : need, list_of_ways(shape),
          same_sets);
}

static bool has_equal_weights(const struct cache_shape *shape)
{
    for (uint32_t way = 1; way < shape->set_ways[0]; way++)
        if (shape->weights[way] != shape->weights[0])
            return false;
    return true;
}

/* Weights may deviate by so much, as a part of their mean, of what a study says
 * are victims of equal chance: those of fewer calls are told no better. */
static bool are_weights_within(const struct cache_shape *shape, double within)
{
    double sum = 0, squares = 0;
    for (uint32_t way = 0; way < shape->set_ways[0]; way++) {
        sum += shape->weights[way];
        squares += shape->weights[way] * shape->weights[way];
    }
    const double ways = shape->set_ways[0], mean = sum / ways;
    return squares / ways - mean * mean < within * within * mean * mean;
}

static double weights_within(const struct check *c, const char *component)
{
    char id[64];
    snprintf(id, sizeof id, "%s.policy", component);
    const json_t *const f = json_object_get(c->seen->findings, id);
    return json_number_value(
        json_object_get(json_object_get(f, "protocol"), "weights_within"));
}

/* Two ways leave a tree and a bit a way nothing to do but LRU. */
static bool acts_as(const struct cache_shape *shape, enum cache_policy other)
{
    const enum cache_policy own = shape->policy;
    const bool recent =
        own == POLICY_LRU || own == POLICY_PLRU || own == POLICY_NRU;
    const bool other_recent =
        other == POLICY_LRU || other == POLICY_PLRU || other == POLICY_NRU;
    if (own == other || most_ways(shape) == 1)
        return true;
    if (recent && other_recent)
        return most_ways(shape) == 2;
    return own == POLICY_WEIGHTED && other == POLICY_RANDOM &&
           has_equal_weights(shape);
}

static json_t *list_of_policies(const struct cache_shape *shape)
{
    json_t *const list = json_array();
    for (int policy = 0; policy < POLICY_COUNT; policy++)
        if (acts_as(shape, (enum cache_policy)policy))
            json_array_append_new(list, json_string(cache_policy_name(
                                            (enum cache_policy)policy)));
    return list;
}

static json_t *list_of_weights(const struct cache_shape *shape)
{
    const uint32_t ways = shape->set_ways[0];
    json_t *const list = json_array();
    double sum = 0;
    for (uint32_t way = 0; way < ways; way++)
        sum += shape->weights != NULL ? shape->weights[way] : 1;
    for (uint32_t way = 0; way < ways; way++)
        json_array_append_new(
            list, json_real((shape->weights != NULL ? shape->weights[way] : 1) /
                            sum));
    return list;
}

static void claim_policy(struct check *c, const char *component,
                         const struct cache_shape *shape, enum need need)
{
    const bool random = acts_as(shape, POLICY_RANDOM);
    const bool weighted = shape->policy == POLICY_WEIGHTED;
    json_t *const policies = list_of_policies(shape);
    if (weighted && are_weights_within(shape, weights_within(c, component)))
        json_array_append_new(policies,
                              json_string(cache_policy_name(POLICY_RANDOM)));
    claim(c, component, "policy", most_ways(shape) > 1 ? need : MAY, policies,
          is_one_of);
    claim(c, component, "policy_weights",
          random     ? MAY
          : weighted ? need
                     : NEVER,
          list_of_weights(shape), close_weights);
}

/* ---- sharing and copies ---- */

json_t *structure_sharers(const struct profile *profile,
                          const struct component *component)
{
    const struct profile_cache *const own = component_cache(profile, component);
    json_t *const list = json_array();
    for (const struct component *c = component_table; c->name != NULL; c++)
        if (c != component && component_cache(profile, c) == own)
            json_array_append_new(list, json_string(c->name));
    return list;
}

enum { WARPS = 64 };

static json_t *list_of_copies(const struct profile *profile, unsigned copies)
{
    json_t *const list = json_array();
    for (unsigned warp = 0; warp < WARPS; warp++)
        json_array_append_new(
            list, json_integer(
                      (json_int_t)(warp % profile->warp_schedulers % copies)));
    return list;
}

/* What copies there are of a cache that local loads alone show is not asked. */
static bool is_of_local(const struct profile *profile,
                        const struct component *component)
{
    return component_path(profile, component) == &profile->paths[PATH_LOCAL] ||
           component->path == PATH_LOCAL;
}

static void claim_copies(struct check *c, const struct component *component,
                         const struct profile_cache *cache)
{
    const unsigned copies = cache->copies_per_sm;
    const bool asked = !is_of_local(c->seen->profile, component);
    const bool own = cache->scope == SCOPE_SM;
    claim(c, component->name, "shares_with", MUST,
          structure_sharers(c->seen->profile, component), same_texts);
    claim_whole(c, component->name, "per_sm", own && asked ? MUST : MAY,
                copies);
    claim(c, component->name, "copy_of_warp", copies > 1 && asked ? MUST : MAY,
          list_of_copies(c->seen->profile, copies), same_copies);
}

static uint64_t sms_sharing(const struct profile *p, enum profile_scope scope)
{
    const uint64_t tpc = p->sms_per_tpc, gpc = tpc * p->tpcs_per_gpc;
    const uint64_t sms = scope == SCOPE_SM    ? 1
                         : scope == SCOPE_TPC ? tpc
                         : scope == SCOPE_GPC ? gpc
                                              : p->sms;
    return sms < p->sms ? sms : p->sms;
}

/* A word of 32 threads of local memory takes 128 bytes, so shorter lines are
 * not all reached; and a module holds 64 KiB of constants, which must be more
 * than the cache to show its inside. */
static enum need need_of_inside(const struct profile *profile,
                                const struct component *component)
{
    enum { LOCAL_WORDS = 128, CONSTANTS = 65536 };
    const struct cache_shape *const shape =
        &component_cache(profile, component)->shape;
    if (is_of_local(profile, component))
        return shape->line >= LOCAL_WORDS ? MUST : MAY;
    if (component->path == PATH_CONSTANT)
        return 4 * cache_shape_bytes(shape) <= 3 * CONSTANTS ? MUST : MAY;
    return MUST;
}

/* Of a cache in two parts an SM sees two: what is inside is told of both. */
static void compare_cache(struct check *c, const struct component *component)
{
    static const char *const all[] = {"sets",   "ways",           "set_ways",
                                      "policy", "policy_weights", "shares_with",
                                      "per_sm", "copy_of_warp",   NULL};
    const struct profile_cache *const cache =
        component_cache(c->seen->profile, component);
    if (cache == NULL) {
        claim_nothing(c, component->name, all);
        index_claim_nothing(c, component->name);
        return;
    }
    const enum need need = cache->partitions.bits != 0
                               ? HOPED
                               : need_of_inside(c->seen->profile, component);
    claim_sets(c, component->name, &cache->shape, need);
    index_claim(c, component->name, cache, need);
    claim_policy(c, component->name, &cache->shape, need);
    if (component->near)
        claim_copies(c, component, cache);
}

/* Asked of the constant L1.5; other components may say it, too. */
static void compare_sharing_of_sms(struct check *c,
                                   const struct component *component)
{
    const struct profile *const p = c->seen->profile;
    const struct profile_cache *const cache = component_cache(p, component);
    const bool asked = strcmp(component->name, "const_l15") == 0 && p->sms > 1;
    if (cache != NULL)
        claim_whole(c, component->name, "sms_sharing", asked ? MUST : MAY,
                    sms_sharing(p, cache->scope));
    else
        claim(c, component->name, "sms_sharing", NEVER, NULL, claim_equals);
}

/* ---- TLBs ---- */

/* Differences that small drown in the noise of some GPUs. */
#define VISIBLE_CYCLES 5.0

/* Cycles of a load that L2 has when the TLBs before `level` have missed; after
 * the last, of a page walk. */
static double cost_behind(const struct profile *p, size_t level)
{
    const double *const cycles = p->paths[PATH_GLOBAL_CG].latency[0].cycles;
    return cycles[level < p->tlb_count ? level : TRANSLATION_WALKED];
}

/* Some memory is taken, and to see an edge one must step over it. */
static bool has_room(const struct profile *p, uint64_t bytes)
{
    return (double)bytes < 0.85 * (double)p->memory_bytes;
}

/* Entries beyond which no script of random visits tells policies apart. */
enum { REPLAYED_MOST = 4096 };

/* Only places of one line of memory tell. */
static enum need need_of_tlb(const struct profile *p, size_t level)
{
    if (p->mapping_bytes == 0)
        return MAY;
    const uint64_t reach = cache_shape_bytes(&p->tlbs[level].shape);
    const double penalty = cost_behind(p, level + 1) - cost_behind(p, level);
    const bool seen = penalty >= VISIBLE_CYCLES;
    /* All places lie in one window, if there are any. */
    const bool holds =
        p->page_window_bytes == 0 || 2 * reach <= p->page_window_bytes;
    return seen && holds && has_room(p, reach) ? MUST : MAY;
}

/* Pages and regions are one where an entry covers a page. */
static void claim_reach(struct check *c, const char *name,
                        const struct profile_cache *tlb, enum need need)
{
    const uint64_t reach = cache_shape_bytes(&tlb->shape);
    claim_whole(c, name, "entries", need, reach / tlb->shape.line);
    claim_whole(c, name, "page", need, tlb->shape.sector);
    claim_whole(c, name, "region", need == MUST ? HOPED : need,
                tlb->shape.line);
    claim_whole(c, name, "reach", need, reach);
}

static void compare_tlb(struct check *c, size_t level)
{
    static const char *const names[] = {"tlb_l1", "tlb_l2", "tlb_l3"};
    static const char *const all[] = {
        "entries",  "page",   "region",       "reach",       "sets", "ways",
        "set_ways", "policy", "miss_penalty", "sms_sharing", NULL};
    const struct profile *const p = c->seen->profile;
    const char *const name = names[level];
    if (level >= p->tlb_count) {
        claim_nothing(c, name, all);
        index_claim_nothing(c, name);
        return;
    }
    const struct profile_cache *const tlb = &p->tlbs[level];
    const uint64_t reach = cache_shape_bytes(&tlb->shape);
    const enum need need = need_of_tlb(p, level);
    claim_reach(c, name, tlb, need);
    claim_sets(c, name, &tlb->shape, need);
    index_claim(c, name, tlb, need);
    claim_policy(c, name, &tlb->shape,
                 reach / tlb->shape.line > REPLAYED_MOST ? MAY : need);
    claim_whole(c, name, "sms_sharing", need == MUST ? HOPED : need,
                sms_sharing(p, tlb->scope));
    /* Near and far lines mix in it, where there are any. */
    if (p->caches[p->paths[PATH_GLOBAL_CG].cache[0]].partitions.bits == 0)
        claim(c, name, "miss_penalty", need,
              json_real(cost_behind(p, level + 1) - cost_behind(p, level)),
              claim_close_cycles);
}

/* A level that may not show makes their number uncertain; one whose hits cost
 * what a walk does is none to whoever times loads. */
static void compare_tlb_levels(struct check *c)
{
    const struct profile *const p = c->seen->profile;
    bool sure = true;
    size_t levels = 0;
    for (size_t i = 0; i < p->tlb_count; i++) {
        const bool costs = cost_behind(p, i + 1) > cost_behind(p, i);
        sure = sure && (!costs || need_of_tlb(p, i) == MUST);
        levels += costs;
    }
    /* One that reaches as far as a window shows no more than none. */
    sure = sure && p->mapping_bytes > 0 &&
           (levels > 0 || p->page_window_bytes == 0);
    claim_whole(c, "tlb", "levels", sure ? HOPED : MAY, levels);
}

static void compare_page_window(struct check *c)
{
    static const char *const all[] = {"page_window", "page_window_latency",
                                      NULL};
    const struct profile *const p = c->seen->profile;
    if (p->page_window_bytes == 0) {
        claim_nothing(c, "tlb", all);
        return;
    }
    const enum need need = has_room(p, 2 * p->page_window_bytes) ? MUST : MAY;
    claim_whole(c, "tlb", "page_window", need, p->page_window_bytes);
    claim(c, "tlb", "page_window_latency", need,
          json_real(p->page_window_latency), claim_close_cycles);
}

/* ---- code ---- */

/* Code that runs straight on hides some of what a line costs. */
static bool close_penalty(const json_t *expected, const json_t *found)
{
    return claim_is_close(expected, found,
                          fmax(1.5, 0.025 * json_number_value(expected)));
}

static double code_cost(const struct profile_path *path, size_t level)
{
    return (level < path->levels ? path->latency[level] : path->memory)
        .cycles[0];
}

static void compare_code_cache(struct check *c, const char *name, size_t level)
{
    const struct profile *const p = c->seen->profile;
    const struct profile_path *const path = &p->paths[PATH_INSTRUCTION];
    const struct profile_cache *const cache = &p->caches[path->cache[level]];
    const struct cache_shape *const shape = &cache->shape;
    claim_whole(c, name, "size", HOPED, cache_shape_bytes(shape));
    claim_whole(c, name, "line", HOPED, shape->line);
    claim(c, name, "miss_penalty", HOPED,
          json_real(code_cost(path, level + 1) - code_cost(path, level)),
          close_penalty);
    claim_sets(c, name, shape, HOPED);
    index_claim(c, name, cache, MAY);
    claim_policy(c, name, shape, HOPED);
    claim_whole(c, name, "per_sm", HOPED, cache->copies_per_sm);
    claim_whole(c, name, "sms_sharing", HOPED, sms_sharing(p, cache->scope));
    claim_whole(c, name, "prefetch", HOPED, path->prefetch);
}

/* Those before L2; where nothing is told of fetching, it costs nothing. */
static void compare_code(struct check *c)
{
    static const char *const names[] = {"icache_l0", "icache_l1", "icache_l15"};
    static const char *const all[] = {
        "size",   "line",   "miss_penalty", "sets",     "ways", "set_ways",
        "policy", "per_sm", "sms_sharing",  "prefetch", NULL};
    const struct profile *const p = c->seen->profile;
    const struct profile_path *const path = &p->paths[PATH_INSTRUCTION];
    bool nearer = path->present;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        nearer = nearer && i < path->levels &&
                 p->caches[path->cache[i]].scope != SCOPE_GPU;
        if (nearer)
            compare_code_cache(c, names[i], i);
        else
            claim_nothing(c, names[i], all);
    }
}

/* ---- patterns ---- */

/* A pattern as same_pattern reads it; `sure`: it can be told from another. */
static void add_pattern(json_t *list, bool exists, double cycles, bool sure)
{
    if (!exists)
        json_array_append_new(list, json_null());
    else
        json_array_append_new(
            list, json_pack("{sfsb}", "cycles", cycles, "sure", (int)sure));
}

/* True if a cache has a line for each page that makes the TLBs miss, and memory
 * as many pages. */
static bool can_miss(const struct profile *p, const struct cache_shape *shape,
                     size_t tlbs)
{
    for (size_t i = 0; i < tlbs && i < p->tlb_count; i++) {
        const uint64_t reach = cache_shape_bytes(&p->tlbs[i].shape);
        const uint64_t pages = reach / p->tlbs[i].shape.line;
        if (!has_room(p, reach) ||
            cache_shape_bytes(shape) / shape->line < 2 * pages)
            return false;
    }
    return true;
}

/* Two latencies that are one to whoever measures them. */
static bool differ(double a, double b)
{
    return fabs(a - b) >= VISIBLE_CYCLES;
}

/* Mei's six: data hit thrice, then missed; first TLB hit, missed, missed;
 * second TLB -, hit, missed; the sixth leaves the window of active pages. */
json_t *structure_patterns(const struct profile *p,
                           const struct profile_path *path)
{
    const struct cache_shape *const shape = &p->caches[path->cache[0]].shape;
    const double *const hit = path->latency[0].cycles;
    const double *const miss = path->memory.cycles;
    const size_t tlbs = p->tlb_count < 2 ? p->tlb_count : 2;
    json_t *const list = json_array();
    add_pattern(list, true, hit[0], true);
    /* Where but one TLB shows, nobody can say what a miss of it finds. */
    const bool two = tlbs == 2 && can_miss(p, shape, 2);
    add_pattern(list, tlbs > 1, hit[1], two && differ(hit[0], hit[1]));
    add_pattern(list, tlbs > 0, hit[TRANSLATION_WALKED],
                two && differ(hit[0], hit[TRANSLATION_WALKED]));
    add_pattern(list, true, miss[0], true);
    add_pattern(list, tlbs > 0, miss[TRANSLATION_WALKED],
                two && differ(miss[0], miss[TRANSLATION_WALKED]));
    add_pattern(list, p->page_window_bytes > 0, p->page_window_latency,
                has_room(p, 2 * p->page_window_bytes));
    return list;
}

/* A pattern that must be found, but is not known, is missing. */
static void count_unknown(struct check *c, const char *id, json_t *expected)
{
    const json_t *const found = claim_found(c->seen, id);
    for (size_t i = 0; i < json_array_size(expected); i++) {
        const json_t *const e = json_array_get(expected, i);
        if (json_is_null(json_array_get(found, i)) &&
            json_is_true(json_object_get(e, "sure")))
            c->verdict->missing++;
    }
    json_decref(expected);
}

/* To say that there is no window where there is one is wrong. */
static void judge_denial(struct check *c, const char *id)
{
    const struct profile *const p = c->seen->profile;
    const json_t *const finding = json_object_get(c->seen->findings, id);
    const char *const why = json_string_value(
        json_object_get(json_object_get(finding, "protocol"), "none"));
    if (why != NULL && strstr(why, why_no_window) != NULL &&
        p->page_window_bytes > 0 && has_room(p, 2 * p->page_window_bytes))
        c->verdict->wrong++;
}

/* Each with what its interval lets in, as single latencies are judged. */
static json_t *patterns_within(const struct check *c, const char *id,
                               json_t *patterns)
{
    const json_t *const protocol =
        json_object_get(json_object_get(c->seen->findings, id), "protocol");
    const json_t *const low = json_object_get(protocol, "low");
    const json_t *const high = json_object_get(protocol, "high");
    for (size_t i = 0; i < json_array_size(patterns); i++) {
        const double width = json_number_value(json_array_get(high, i)) -
                             json_number_value(json_array_get(low, i));
        if (json_is_object(json_array_get(patterns, i)))
            json_object_set_new(json_array_get(patterns, i), "within",
                                json_real(width / 2));
    }
    return patterns;
}

static void claim_patterns(struct check *c, const char *attribute,
                           const struct profile_path *path)
{
    char id[64];
    snprintf(id, sizeof id, "memory.%s", attribute);
    claim(c, "memory", attribute, MUST,
          patterns_within(c, id, structure_patterns(c->seen->profile, path)),
          same_patterns);
    count_unknown(c, id, structure_patterns(c->seen->profile, path));
    judge_denial(c, id);
}

static void compare_patterns(struct check *c)
{
    const struct profile *const p = c->seen->profile;
    const struct profile_path *const cg = &p->paths[PATH_GLOBAL_CG];
    /* Each line's pattern is its own where memory is near or far. */
    if (p->caches[cg->cache[0]].partitions.bits != 0)
        return;
    claim_patterns(c, "patterns_ca", &p->paths[PATH_GLOBAL_CA]);
    claim_patterns(c, "patterns_cg", cg);
}

void structure_compare(const struct run_seen *seen, struct verdict *verdict)
{
    struct check check = {seen, verdict};
    for (const struct component *c = component_table; c->name != NULL; c++) {
        compare_cache(&check, c);
        compare_sharing_of_sms(&check, c);
    }
    for (size_t level = 0; level < PROFILE_TLBS_MAX; level++)
        compare_tlb(&check, level);
    compare_tlb_levels(&check);
    compare_page_window(&check);
    compare_code(&check);
    compare_patterns(&check);
}
