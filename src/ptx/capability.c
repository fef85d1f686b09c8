#include "ptx/capability.h"

#include "ptx/kernel.h"

static const int least[] = {
#define X(id, cc) [CAP_##id] = (cc),
    CAPABILITIES(X)
#undef X
};

bool device_has(const struct device_info *info, enum capability capability)
{
    return device_cc(info) >= least[capability];
}

int device_requires_cc(const struct device_info *info, int cc,
                       struct error *err)
{
    if (device_cc(info) >= cc)
        return 0;
    return error_set(err, ERR_UNSUPPORTED,
                     "needs compute capability %d.%d, this is %d.%d", cc / 10,
                     cc % 10, info->cc_major, info->cc_minor);
}

int device_requires(const struct device_info *info, enum capability capability,
                    struct error *err)
{
    return device_requires_cc(info, least[capability], err);
}

int device_requires_only(const struct device_info *info, int cc,
                         const char *what, struct error *err)
{
    if (device_cc(info) == cc)
        return 0;
    return error_set(err, ERR_UNSUPPORTED,
                     "only compute capability %d.%d has %s, this is %d.%d",
                     cc / 10, cc % 10, what, info->cc_major, info->cc_minor);
}

int device_requires_ptx(const struct device_info *info, const char *version,
                        struct error *err)
{
    if (version == NULL || info->driver[0] == '\0' ||
        kernel_driver_takes(info->driver, version))
        return 0;
    return error_set(err, ERR_UNSUPPORTED,
                     "needs PTX %s, which a driver of CUDA %s does not take",
                     version, info->driver);
}
