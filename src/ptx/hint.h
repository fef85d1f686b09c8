/*
 * How a load or store of global memory says what caches should do with what it
 * touches: a cache operator (.cg), how long L1 shall keep it (.L1::evict_last),
 * how much L2 fetches (.L2::128B), how long L2 shall keep it (a policy made by
 * createpolicy, taken by .L2::cache_hint).  PTX ISA, "Cache Operators", "Cache
 * Eviction Priority Hints", "createpolicy".
 */
#ifndef SONDE_PTX_HINT_H
#define SONDE_PTX_HINT_H

#include <stdbool.h>

#include "base/error.h"
#include "device/device.h"
#include "ptx/capability.h"
#include "ptx/kernel.h"

struct hint {
    const char *name;     /* as experiments say it */
    const char *modifier; /* after the state space */
    const char *policy;   /* what L2 is told by a policy, NULL: nothing */
    bool loads, stores;   /* that take it */
    enum capability needs;
};

/* The words of a parameter: NULL ends. */
extern const char *const hint_loads[], *const hint_stores[];
/* One of them. */
const struct hint *hint_find(const char *name);
/* ERR_UNSUPPORTED, with the capability that it needs. */
int hint_check(const struct hint *hint, const struct device_info *info,
               struct error *err);
/* The PTX version that such instructions need at least; NULL: any. */
const char *hint_version(const struct hint *hint);
/* Makes the policy that it takes, if any, in %NAME, a .b64 declared here. */
void hint_policy(struct kernel_text *k, const struct hint *hint,
                 const char *name);

#endif
