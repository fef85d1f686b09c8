#include "truth/component.h"

#include <string.h>

const struct component component_table[] = {
    {"l1",            PATH_GLOBAL_CA, 0, true},
    {"l2",              PATH_GLOBAL_CG, 0, false},
    {"texture",               PATH_TEXTURE, 0, true},
    {"readonly",PATH_READONLY, 0, true},
    {"local",          PATH_LOCAL, 0, true},
    {"const_l1",       PATH_CONSTANT, 0, true},
    {"const_l15",              PATH_CONSTANT, 1, false},
    {.name = NULL              },
};

const struct component *component_find(const char *name)
{
    for (const struct component *c = component_table; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const struct profile_cache *component_cache(const struct profile *profile,
                                            const struct component *component)
{
    const struct profile_path *const path = &profile->paths[component->path];
    const struct profile_path *const cg = &profile->paths[PATH_GLOBAL_CG];
    if (!path->present || path->levels <= component->level)
        return NULL;
    const int cache = path->cache[component->level];
    const bool is_l2 = cg->levels > 0 && cg->cache[0] == cache;
    if (is_l2 != (component->path == PATH_GLOBAL_CG))
        return NULL;
    return &profile->caches[cache];
}

double component_latency(const struct profile *profile,
                         const struct component *component)
{
    return profile->paths[component->path].latency[component->level].cycles[0];
}
