#include "ptx/hint.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define CACHE_HINT ".L2::cache_hint"

/* clang-format off */
static const struct hint hints[] = {
    {"default",      "",                 NULL,              true,  true,  CAP_ANY},
    {"ca",           ".ca",              NULL,              true,  false, CAP_ANY},
    {"cg",           ".cg",              NULL,              true,  true,  CAP_ANY},
    {"cs",           ".cs",              NULL,              true,  true,  CAP_ANY},
    {"lu",           ".lu",              NULL,              true,  false, CAP_ANY},
    {"cv",           ".cv",              NULL,              true,  false, CAP_ANY},
    {"wb",           ".wb",              NULL,              false, true,  CAP_ANY},
    {"wt",           ".wt",              NULL,              false, true,  CAP_ANY},
    {"no_allocate",  ".L1::no_allocate", NULL,              true,  true,  CAP_L1_EVICTION},
    {"l1_first",     ".L1::evict_first", NULL,              true,  true,  CAP_L1_EVICTION},
    {"l1_last",      ".L1::evict_last",  NULL,              true,  true,  CAP_L1_EVICTION},
    {"l2_64B",       ".L2::64B",         NULL,              true,  false, CAP_L2_FETCH},
    {"l2_128B",      ".L2::128B",        NULL,              true,  false, CAP_L2_FETCH},
    {"l2_256B",      ".L2::256B",        NULL,              true,  false, CAP_L2_FETCH_256},
    {"l2_first",     CACHE_HINT,         "evict_first",     true,  true,  CAP_L2_POLICY},
    {"l2_normal",    CACHE_HINT,         "evict_normal",    true,  true,  CAP_L2_POLICY},
    {"l2_last",      CACHE_HINT,         "evict_last",      true,  true,  CAP_L2_POLICY},
    {"l2_unchanged", CACHE_HINT,         "evict_unchanged", true,  true,  CAP_L2_POLICY},
};
/* clang-format on */

const char *const hint_loads[] = {
    "default",     "ca",        "cg",      "cs",           "lu",      "cv",
    "no_allocate", "l1_first",  "l1_last", "l2_64B",       "l2_128B", "l2_256B",
    "l2_first",    "l2_normal", "l2_last", "l2_unchanged", NULL};
const char *const hint_stores[] = {
    "default",     "wb",           "cg",      "cs",       "wt",
    "no_allocate", "l1_first",     "l1_last", "l2_first", "l2_normal",
    "l2_last",     "l2_unchanged", NULL};

const struct hint *hint_find(const char *name)
{
    size_t i = 0;
    while (strcmp(hints[i].name, name) != 0)
        i++;
    return &hints[i];
}

int hint_check(const struct hint *hint, const struct device_info *info,
               struct error *err)
{
    if (device_requires(info, hint->needs, err) == 0)
        return 0;
    return error_set(err, ERR_UNSUPPORTED, "%s %s", hint->name, err->text);
}

const char *hint_version(const struct hint *hint)
{
    return hint->needs != CAP_ANY ? "7.4" : NULL;
}

void hint_policy(struct kernel_text *k, const struct hint *hint,
                 const char *name)
{
    if (hint->policy == NULL)
        return;
    ptx_with(k,
             ".reg .b64 %$name;\n"
             "createpolicy.fractional.L2::$policy.b64 %$name;\n",
             WORD(name, name), WORD(policy, hint->policy));
}
