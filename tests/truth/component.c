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

/* The path that has a cache of that level nearer than L2. */
static bool is_near(const struct profile *profile,
                    const struct profile_path *path, size_t level)
{
    const struct profile_path *const cg = &profile->paths[PATH_GLOBAL_CG];
    return path->present && path->levels > level &&
           path->cache[level] != cg->cache[0];
}

const struct profile_path *component_path(const struct profile *profile,
                                          const struct component *component)
{
    const struct profile_path *path = &profile->paths[component->path];
    const struct profile_path *const ca = &profile->paths[PATH_GLOBAL_CA];
    if (component->path == PATH_LOCAL && !path->present)
        path = ca;
    if (path == ca && !is_near(profile, ca, 0))
        path = &profile->paths[PATH_LOCAL];
    if (component->path == PATH_GLOBAL_CG)
        return path->levels > 0 ? path : NULL;
    return is_near(profile, path, component->level) ? path : NULL;
}

const struct profile_cache *component_cache(const struct profile *profile,
                                            const struct component *component)
{
    const struct profile_path *const path = component_path(profile, component);
    return path != NULL ? &profile->caches[path->cache[component->level]]
                        : NULL;
}

double component_latency(const struct profile *profile,
                         const struct component *component)
{
    return component_path(profile, component)
        ->latency[component->level]
        .cycles[0];
}
