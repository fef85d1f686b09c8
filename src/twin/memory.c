#include "twin/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "twin/shape.h"

enum { LEVELS = 4, CODE_LEVELS = 3 };

/* How programs reach memory: the components that loads find there, nearest
 * first.  Those of global memory have their addresses translated. */
struct route {
    const char *path;
    const char *through[LEVELS];
    bool translated;
};

static const struct route routes[] = {
    {"global.ca", {"l1", "l2"}, true},
    {"global.cg", {"l2"}, true},
    {"readonly", {"readonly", "l2"}, true},
    {"texture", {"texture", "l2"}, true},
    {"local", {"local", "l2"}, true},
    {"constant", {"const_l1", "const_l15", "l2"}, false},
};

struct building {
    struct told *told;
    const json_t *base;
    json_t *profile, *caches, *paths;
    unsigned tlbs;
};

/* ---- who shares what -------------------------------------------------- */

static bool shares(struct told *told, const char *a, const char *b)
{
    const struct finding *const f = told_finding(told, a, "shares_with");
    if (f == NULL || f->value.kind != VALUE_LIST)
        return false;
    for (size_t i = 0; i < f->value.count; i++)
        if (f->value.items[i].kind == VALUE_TEXT &&
            strcmp(f->value.items[i].text, b) == 0)
            return true;
    return false;
}

const char *twin_storage(struct told *told, const char *component)
{
    static const char *const first[] = {"l1", "texture", "readonly", "const_l1",
                                        "const_l15"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (strcmp(first[i], component) == 0)
            return component;
        if (shares(told, component, first[i]) &&
            told_number(told, first[i], "size") > 0)
            return first[i];
    }
    return component;
}

static json_int_t whole_of(const json_t *object, const char *key,
                           json_int_t otherwise)
{
    const json_t *const value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

/* Which SMs have one together, by how many there are.  How many make a TPC or a
 * GPC is what caches show, the smallest number first. */
static const char *scope_by(const struct building *b, json_int_t sharing)
{
    const json_int_t sms = whole_of(b->profile, "sms", 1);
    const json_int_t tpc = whole_of(b->profile, "sms_per_tpc", 1);
    const json_int_t tpcs = whole_of(b->profile, "tpcs_per_gpc", 1);
    if (sharing <= 1)
        return "sm";
    if (sharing >= sms)
        return "gpu";
    if (sharing == tpc)
        return "tpc";
    if (sharing == tpc * tpcs)
        return "gpc";
    if (sharing <= 4 && tpc == 1) {
        json_object_set_new(b->profile, "sms_per_tpc", json_integer(sharing));
        json_object_set_new(
            b->profile, "tpcs_per_gpc",
            json_integer(tpcs / sharing > 0 ? tpcs / sharing : 1));
        return "tpc";
    }
    if (sharing % tpc == 0)
        json_object_set_new(b->profile, "tpcs_per_gpc",
                            json_integer(sharing / tpc));
    return "gpc";
}

static void put_sharing(const struct building *b, const char *component,
                        json_t *cache)
{
    const double sharing = told_number(b->told, component, "sms_sharing");
    const double copies = told_number(b->told, component, "per_sm");
    const char *scope = scope_by(b, (json_int_t)sharing);
    if (strcmp(component, "l2") == 0)
        scope = "gpu";
    if (strcmp(scope, "sm") != 0)
        json_object_set_new(cache, "scope", json_string(scope));
    else if (copies > 1)
        json_object_set_new(cache, "copies_per_sm",
                            json_integer((json_int_t)copies));
    if (copies > (double)whole_of(b->profile, "warp_schedulers", 1))
        json_object_set_new(b->profile, "warp_schedulers",
                            json_integer((json_int_t)copies));
}

/* ---- caches ----------------------------------------------------------- */

/* Two sides of L2. */
static void put_parts(struct told *told, json_t *cache)
{
    const struct finding *const bits = told_finding(told, "l2", "side_bits");
    const double far = told_number(told, "l2", "far_latency") -
                       told_number(told, "l2", "near_latency");
    if (told_number(told, "l2", "parts") != 2 || bits == NULL || far <= 0 ||
        whole_of(cache, "sets", 1) % 2 != 0)
        return;
    json_t *const list = json_array();
    for (size_t i = 0; i < bits->value.count; i++)
        json_array_append_new(
            list, json_integer((json_int_t)bits->value.items[i].number));
    json_object_set_new(cache, "partitions",
                        json_pack("{so sf sb}", "bits", list, "far_cycles", far,
                                  "replicates",
                                  (int)told_true(told, "l2", "replicates")));
    told_choose(told, "l2.sm_sides");
}

/* True if some study asked for the component, whatever it found. */
static bool was_asked(struct told *told, const char *component)
{
    char id[64];
    snprintf(id, sizeof id, "%s.latency", component);
    if (results_find(told->results, id) != NULL)
        return true;
    snprintf(id, sizeof id, "%s.size", component);
    return results_find(told->results, id) != NULL;
}

/* The level of the nearest profile's path; NULL: it has none. */
static const char *base_name(const struct building *b, const char *path,
                             size_t level)
{
    const json_t *const list = json_object_get(
        json_object_get(json_object_get(b->base, "paths"), path), "caches");
    return json_string_value(json_array_get(list, level));
}

static const char *chosen_cache(struct building *b, const char *path,
                                size_t level)
{
    const char *const name = base_name(b, path, level);
    json_t *const cache =
        name != NULL ? json_object_get(json_object_get(b->base, "caches"), name)
                     : NULL;
    if (cache == NULL || json_object_get(b->caches, name) != NULL)
        return json_object_get(b->caches, name) != NULL ? name : NULL;
    json_object_set(b->caches, name, cache);
    told_choose(b->told, name);
    return name;
}

/* The name of the component's cache, which is made if need be; NULL: it has
 * none. */
static const char *cache_of(struct building *b, const char *path,
                            const char *component, size_t level)
{
    const char *const name = twin_storage(b->told, component);
    if (json_object_get(b->caches, name) != NULL)
        return name;
    json_t *const cache = twin_cache(b->told, name);
    if (cache == NULL)
        return was_asked(b->told, component) ? NULL
                                             : chosen_cache(b, path, level);
    put_sharing(b, name, cache);
    if (strcmp(name, "l2") == 0)
        put_parts(b->told, cache);
    json_object_set_new(b->caches, name, cache);
    return name;
}

/* ---- latencies -------------------------------------------------------- */

/* What a load costs more that finds its translation in the second TLB, in the
 * third, by a walk. */
struct translation {
    double more[3];
    unsigned count;
};

static json_t *latency_of(double cycles, const struct translation *t)
{
    if (t == NULL || t->count == 0)
        return json_real(cycles);
    json_t *const list = json_array();
    json_array_append_new(list, json_real(cycles));
    for (unsigned i = 0; i < t->count; i++)
        json_array_append_new(list, json_real(cycles + t->more[i]));
    if (t->count == 1)
        json_array_append_new(list, json_real(cycles + t->more[0]));
    return list;
}

static struct translation translation_of(const struct building *b)
{
    struct translation t = {.count = b->tlbs};
    double more = 0;
    for (unsigned i = 0; i < b->tlbs; i++) {
        const char tlb[] = {'t', 'l', 'b', '_', 'l', (char)('1' + i), '\0'};
        more += told_number(b->told, tlb, "miss_penalty");
        t.more[i] = more;
    }
    return t;
}

/* Where data is in memory the walk itself may cost something else. */
static struct translation translation_of_memory(const struct building *b)
{
    struct translation t = translation_of(b);
    const double hit = told_item(b->told, "memory", "patterns_cg", 3);
    const double walked = told_item(b->told, "memory", "patterns_cg", 4);
    if (t.count > 0 && hit > 0 && walked > hit)
        t.more[t.count - 1] = walked - hit;
    return t;
}

/* What loads by `.ca` cost that are found in memory, where these were timed
 * apart from those by `.cg`; 0: they were not, or are of both sides of L2. */
static double memory_by_ca(const struct building *b)
{
    const bool sided = told_true(b->told, "l2", "replicates") &&
                       told_number(b->told, "l2", "near_miss_latency") > 0;
    return !sided && told_true(b->told, "l1", "caches_global")
               ? told_item(b->told, "memory", "patterns_ca", 3)
               : 0;
}

/* A hit in the nearest cache of global loads, where that waits for its
 * translation too. */
static struct translation translation_of_l1(const struct building *b)
{
    struct translation t = {0};
    const double hit = told_item(b->told, "memory", "patterns_ca", 0);
    const double second = told_item(b->told, "memory", "patterns_ca", 1);
    const double penalty = told_number(b->told, "tlb_l1", "miss_penalty");
    if (b->tlbs == 0 || hit == 0 || second - hit < penalty / 2)
        return t;
    const double walked = told_item(b->told, "memory", "patterns_ca", 2);
    t.count = b->tlbs;
    for (unsigned i = 0; i < t.count; i++)
        t.more[i] = i == 0 ? second - hit : walked - hit;
    return t;
}

static double near_or(struct told *told, const char *near,
                      const char *component)
{
    const double sided =
        told_true(told, "l2", "replicates") ? told_number(told, "l2", near) : 0;
    return sided > 0 ? sided : told_number(told, component, "latency");
}

struct walk {
    const struct route *route;
    const char *caches[LEVELS];  /* names in the profile */
    const char *through[LEVELS]; /* components, of those that are there */
    size_t count;
};

/* What a load costs that is found at the level; in memory at the last. */
static double cycles_at(const struct building *b, const struct walk *w,
                        size_t level)
{
    struct told *const told = b->told;
    const double l2 = near_or(told, "near_latency", "l2");
    const double memory = near_or(told, "near_miss_latency", "memory");
    const double beyond = memory > l2 ? memory - l2 : 0;
    if (w->count == 0)
        return memory;
    if (level == w->count && strcmp(w->through[level - 1], "l2") == 0)
        return cycles_at(b, w, level - 1) + beyond;
    if (level < w->count && strcmp(w->through[level], "l2") != 0 &&
        told_number(told, w->through[level], "latency") > 0)
        return told_number(told, w->through[level], "latency");
    if (level == 0)
        return l2;
    const double penalty =
        told_number(told, w->through[level - 1], "miss_penalty");
    return penalty > 0 ? cycles_at(b, w, level - 1) + penalty
                       : fmax(l2, cycles_at(b, w, level - 1));
}

/* A miss of L1 in what was measured of it: in L2 on either side, on average. */
static json_t *latencies_of(const struct building *b, const struct walk *w)
{
    json_t *const latency = json_object();
    const struct translation first = translation_of_l1(b);
    const struct translation l2 = translation_of(b);
    const struct translation memory = translation_of_memory(b);
    const bool global = w->route->translated;
    for (size_t i = 0; i < w->count; i++) {
        const bool is_l2 = strcmp(w->through[i], "l2") == 0;
        const bool is_l1 = strcmp(w->route->path, "global.ca") == 0 && i == 0;
        const struct translation *const t = !global ? NULL
                                            : is_l2 ? &l2
                                            : is_l1 ? &first
                                                    : NULL;
        json_object_set_new(latency, w->caches[i],
                            latency_of(cycles_at(b, w, i), t));
    }
    const double by_ca = memory_by_ca(b);
    const bool apart = strcmp(w->route->path, "global.ca") == 0 && by_ca > 0;
    json_object_set_new(latency, "memory",
                        latency_of(apart ? by_ca : cycles_at(b, w, w->count),
                                   global ? &memory : NULL));
    return latency;
}

/* ---- paths ------------------------------------------------------------ */

static bool goes_through(struct building *b, const struct route *route,
                         const char *component)
{
    return strcmp(route->path, "global.ca") != 0 ||
           strcmp(component, "l1") != 0 ||
           told_finding(b->told, "l1", "caches_global") == NULL ||
           told_true(b->told, "l1", "caches_global");
}

/* True of local loads that are as global ones, and of which the driver says
 * nothing of their own. */
static bool is_as_global(const struct building *b, const struct route *route)
{
    struct told *const told = b->told;
    return strcmp(route->path, "local") == 0 &&
           told_finding(told, "l1", "local_reported") != NULL &&
           told_number(told, "l1", "local_reported") == 0 &&
           shares(told, "local", "l1") &&
           fabs(told_number(told, "local", "latency") -
                told_number(told, "l1", "latency")) < 0.5;
}

static bool is_met(const struct walk *w, const char *cache)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->caches[i], cache) == 0)
            return true;
    return false;
}

static void put_path(struct building *b, const struct route *route)
{
    if (is_as_global(b, route))
        return;
    struct walk w = {.route = route};
    const json_t *const base =
        json_object_get(json_object_get(b->base, "paths"), route->path);
    for (size_t i = 0; i < LEVELS && route->through[i] != NULL; i++) {
        const char *const name =
            goes_through(b, route, route->through[i])
                ? cache_of(b, route->path, route->through[i], i)
                : NULL;
        /* What was chosen for the nearest may be what lies behind it here. */
        if (name == NULL || is_met(&w, name))
            continue;
        w.caches[w.count] = name;
        w.through[w.count++] = route->through[i];
    }
    const bool first_found =
        w.count > 0 && strcmp(w.through[0], route->through[0]) == 0;
    if (!first_found && base == NULL)
        return;
    json_t *const names = json_array();
    for (size_t i = 0; i < w.count; i++)
        json_array_append_new(names, json_string(w.caches[i]));
    if (strncmp(route->path, "global", strlen("global")) != 0)
        told_choose(b->told, "latencies of memory but for global loads");
    json_object_set_new(
        b->paths, route->path,
        json_pack("{so so}", "caches", names, "latency", latencies_of(b, &w)));
}

/* ---- code ------------------------------------------------------------- */

static const char *const code_levels[CODE_LEVELS] = {"icache_l0", "icache_l1",
                                                     "icache_l15"};

/* Code whose last cache is that of constants has no other. */
static const char *code_cache(struct building *b, const char *component)
{
    if (shares(b->told, component, "const_l15") &&
        json_object_get(b->caches, "const_l15") != NULL)
        return "const_l15";
    json_t *const cache = twin_cache(b->told, component);
    if (cache == NULL)
        return NULL;
    put_sharing(b, component, cache);
    json_object_set_new(b->caches, component, cache);
    return component;
}

/* Hits of the nearest cache cost nothing that shows. */
enum { CODE_HIT = 4 };

static void put_code(struct building *b)
{
    json_t *const names = json_array(), *const latency = json_object();
    double cycles = CODE_HIT;
    for (size_t i = 0; i < CODE_LEVELS; i++) {
        const char *const name =
            told_number(b->told, code_levels[i], "miss_penalty") > 0
                ? code_cache(b, code_levels[i])
                : NULL;
        if (name == NULL)
            break;
        json_array_append_new(names, json_string(name));
        json_object_set_new(latency, name, json_real(cycles));
        cycles += told_number(b->told, code_levels[i], "miss_penalty");
    }
    json_object_set_new(latency, "memory", json_real(cycles));
    json_t *const path =
        json_pack("{so so}", "caches", names, "latency", latency);
    const double prefetch = told_number(b->told, "icache_l0", "prefetch");
    if (prefetch > 0)
        json_object_set_new(path, "prefetch",
                            json_integer((json_int_t)prefetch));
    if (json_array_size(names) > 0)
        json_object_set(b->paths, "instruction", path);
    json_decref(path);
    told_choose(b->told, "what fetching a hit costs");
}

/* ---- translation ------------------------------------------------------ */

static void put_tlbs(struct building *b)
{
    json_t *const tlbs = json_object();
    const double levels = told_number(b->told, "tlb", "levels");
    for (unsigned i = 0; i < levels && i < 3; i++) {
        char component[8];
        snprintf(component, sizeof component, "tlb_l%u", i + 1);
        json_t *const tlb = twin_tlb(b->told, component);
        if (tlb == NULL)
            break;
        put_sharing(b, component, tlb);
        json_object_set_new(tlbs, component + 4, tlb);
        b->tlbs = i + 1;
    }
    const bool asked = results_find(b->told->results, "tlb.levels") != NULL;
    json_object_del(b->profile, "tlbs");
    if (b->tlbs > 0)
        json_object_set(b->profile, "tlbs", tlbs);
    else if (!asked)
        told_choose(b->told, "no TLBs");
    json_decref(tlbs);
}

void twin_put_memory(struct told *told, const json_t *base, json_t *profile)
{
    struct building b = {.told = told,
                         .base = base,
                         .profile = profile,
                         .caches = json_object(),
                         .paths = json_object()};
    put_tlbs(&b);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        put_path(&b, &routes[i]);
    put_code(&b);
    json_object_set_new(profile, "caches", b.caches);
    json_object_set_new(profile, "paths", b.paths);
}
