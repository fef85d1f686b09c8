/*
 * What instructions need of a GPU: its compute capability, asked in one way and
 * refused in one sentence.
 */
#ifndef SONDE_PTX_CAPABILITY_H
#define SONDE_PTX_CAPABILITY_H

#include "base/error.h"
#include "device/device.h"

/* X(id, 10 × the least compute capability, by the PTX ISA) */
#define CAPABILITIES(X)                                                        \
    X(ANY, 0)           /* since the first that CUDA knows */                  \
    X(NANOSLEEP, 70)    /* nanosleep */                                        \
    X(L1_EVICTION, 70)  /* .L1::evict_first and its kin */                     \
    X(MATRIX, 75)       /* mma.sync.m16n8k8 of f16 */                          \
    X(MATRIX_K16, 80)   /* mma.sync.m16n8k16 of f16 */                         \
    X(L2_FETCH, 75)     /* .L2::64B, .L2::128B */                              \
    X(L2_FETCH_256, 80) /* .L2::256B */                                        \
    X(L2_POLICY, 80)    /* createpolicy, .L2::cache_hint */                    \
    X(BULK, 90)         /* cp.async.bulk */

enum capability {
#define X(id, cc) CAP_##id,
    CAPABILITIES(X)
#undef X
};

bool device_has(const struct device_info *info, enum capability capability);
/* ERR_UNSUPPORTED: "needs compute capability 8.0, this is 7.5". */
int device_requires(const struct device_info *info, enum capability capability,
                    struct error *err);
/* The same of another least: that of a row of a table. */
int device_requires_cc(const struct device_info *info, int cc,
                       struct error *err);
/* Of what that one capability alone has: "only compute capability 9.0 has
 * wgmma, this is 8.0". */
int device_requires_only(const struct device_info *info, int cc,
                         const char *what, struct error *err);
/* Of a driver that takes that PTX version; NULL: any does. */
int device_requires_ptx(const struct device_info *info, const char *version,
                        struct error *err);

#endif
