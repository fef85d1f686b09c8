#include "ptx/space.h"

#include <string.h>

static const char *const global_ops[] = {"ca", "cg", "cs", "lu", "cv", NULL};
static const char *const no_ops[] = {"none", NULL};

const struct space space_table[] = {
    {.name = "global",
     .ops = global_ops,
     .memory = MEMORY_GLOBAL,
     .load = "ld.global%s.u64",
     .load_word = "ld.global%s.u32",
     .pointer_bytes = 8,
     .help = "global memory; op says which caches may hold it"},
    {.name = "readonly",
     .ops = no_ops,
     .memory = MEMORY_GLOBAL,
     .load = "ld.global.nc%s.u64",
     .load_word = "ld.global.nc%s.u32",
     .pointer_bytes = 8,
     .help = "global memory through the read-only path (ld.global.nc)"},
    {.name = "shared",
     .ops = no_ops,
     .memory = MEMORY_SHARED,
     .load = "ld.shared%s.u32",
     .pointer_bytes = 4,
     .help = "shared memory of the block"},
    {.name = "shared_indexed",
     .ops = no_ops,
     .memory = MEMORY_SHARED,
     .load = "ld.shared%s.u32",
     .pointer_bytes = 4,
     .indexed = true,
     .help = "the same by index, as `j = a[j]` compiles: address arithmetic "
             "is in the chain"},
    {.name = NULL                                       },
};

const struct space *space_find(const char *name)
{
    for (const struct space *s = space_table; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

bool space_has_op(const struct space *space, const char *op)
{
    for (const char *const *o = space->ops; *o != NULL; o++)
        if (strcmp(*o, op) == 0)
            return true;
    return false;
}
