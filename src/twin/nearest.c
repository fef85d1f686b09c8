/*
 * The nearest shipped profile: of the numbers that were measured and that
 * profiles have, how many times larger or smaller each is, as logarithms, on
 * average.  No name, no architecture and nothing that the driver reports
 * counts.
 */
#include "twin/nearest.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/mem.h"
#include "device/sim/profile/profile.h"

/* A cache of a path, nearest first. */
struct place {
    const char *component;
    enum profile_path_id path;
    size_t level;
};

static const struct place places[] = {
    {"l1", PATH_GLOBAL_CA, 0},       {"texture", PATH_TEXTURE, 0},
    {"readonly", PATH_READONLY, 0},  {"const_l1", PATH_CONSTANT, 0},
    {"const_l15", PATH_CONSTANT, 1}, {"l2", PATH_GLOBAL_CG, 0},
};

struct likeness {
    const struct results *results;
    double apart;
    size_t count;
};

/* Eight doublings is as far apart as two GPUs can be said to be; so is what
 * only one of them has. */
enum { FARTHEST = 8 };

static void compare(struct likeness *l, const char *component,
                    const char *attribute, double has)
{
    char id[64];
    double found;
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    const struct finding *const f = results_find(l->results, id);
    if (f == NULL || f->status == STATUS_REPORTED ||
        !finding_number(f, &found) || found <= 0)
        return;
    l->apart += has > 0 ? fmin(fabs(log2(found / has)), FARTHEST) : FARTHEST;
    l->count++;
}

static void compare_place(struct likeness *l, const struct profile *p,
                          const struct place *at)
{
    const struct profile_path *const path = &p->paths[at->path];
    const bool has = path->present && path->levels > at->level;
    const struct cache_shape *const shape =
        has ? &p->caches[path->cache[at->level]].shape : NULL;
    compare(l, at->component, "size",
            has ? (double)cache_shape_bytes(shape) : 0);
    compare(l, at->component, "line", has ? (double)shape->line : 0);
    compare(l, at->component, "sector", has ? (double)shape->sector : 0);
    compare(l, at->component, "latency",
            has ? path->latency[at->level].cycles[0] : 0);
}

static void compare_tlb(struct likeness *l, const struct profile *p, size_t i)
{
    char component[8];
    snprintf(component, sizeof component, "tlb_l%zu", i + 1);
    compare(l, component, "reach",
            i < p->tlb_count ? (double)cache_shape_bytes(&p->tlbs[i].shape)
                             : 0);
}

/* How far apart the two are, on average. */
static double apart(const struct results *results, const struct profile *p)
{
    struct likeness l = {.results = results};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        compare_place(&l, p, &places[i]);
    for (size_t i = 0; i < PROFILE_TLBS_MAX; i++)
        compare_tlb(&l, p, i);
    compare(&l, "memory", "latency", p->paths[PATH_GLOBAL_CG].memory.cycles[0]);
    compare(&l, "shared", "latency", p->shared_latency);
    compare(&l, "shared", "banks", p->banks.count);
    return l.count > 0 ? l.apart / (double)l.count : 0;
}

const struct shipped_profile *twin_nearest(const struct results *results)
{
    const struct shipped_profile *nearest = NULL;
    double least = INFINITY;
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++) {
        struct profile *p = NULL;
        struct error err = {0};
        if (profile_parse(s->text, s->name, &p, &err) != 0)
            continue;
        const double here = apart(results, p);
        if (here < least) {
            least = here;
            nearest = s;
        }
        profile_free(p);
    }
    return nearest;
}
