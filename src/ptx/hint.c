#include "ptx/hint.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define CACHE_HINT ".L2::cache_hint"

/* Capabilities: PTX ISA, under ld and st. */
/* clang-format off */
static const struct hint hints[] = {
    {"default",      "",                 NULL,              true,  true,  0 },
    {"ca",           ".ca",              NULL,              true,  false, 0 },
    {"cg",           ".cg",              NULL,              true,  true,  0 },
    {"cs",           ".cs",              NULL,              true,  true,  0 },
    {"lu",           ".lu",              NULL,              true,  false, 0 },
    {"cv",           ".cv",              NULL,              true,  false, 0 },
    {"wb",           ".wb",              NULL,              false, true,  0 },
    {"wt",           ".wt",              NULL,              false, true,  0 },
    {"no_allocate",  ".L1::no_allocate", NULL,              true,  true,  70},
    {"l1_first",     ".L1::evict_first", NULL,              true,  true,  70},
    {"l1_last",      ".L1::evict_last",  NULL,              true,  true,  70},
    {"l2_64B",       ".L2::64B",         NULL,              true,  false, 75},
    {"l2_128B",      ".L2::128B",        NULL,              true,  false, 75},
    {"l2_256B",      ".L2::256B",        NULL,              true,  false, 80},
    {"l2_first",     CACHE_HINT,         "evict_first",     true,  true,  80},
    {"l2_normal",    CACHE_HINT,         "evict_normal",    true,  true,  80},
    {"l2_last",      CACHE_HINT,         "evict_last",      true,  true,  80},
    {"l2_unchanged", CACHE_HINT,         "evict_unchanged", true,  true,  80},
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
    if (device_cc(info) >= hint->cc)
        return 0;
    return error_set(err, ERR_UNSUPPORTED,
                     "%s needs compute capability %d.%d, this is %d.%d",
                     hint->name, hint->cc / 10, hint->cc % 10, info->cc_major,
                     info->cc_minor);
}

const char *hint_version(const struct hint *hint)
{
    return hint->cc > 0 ? "7.4" : NULL;
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
