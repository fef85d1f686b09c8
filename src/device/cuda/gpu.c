#include "device/cuda/gpu.h"

#include <stdarg.h>
#include <stdio.h>

struct gpu *gpu_of(struct device *device)
{
    return (struct gpu *)device;
}

int gpu_bury(struct gpu *gpu, bool hung, struct error *err)
{
    if (!gpu->device.lost)
        gpu->cause = *err;
    gpu->device.lost = true;
    gpu->hung = gpu->hung || hung;
    return err->code;
}

int gpu_check(struct gpu *gpu, int result, struct error *err, const char *entry,
              const char *act, ...)
{
    if (result == 0)
        return 0;
    char what[512];
    va_list args;
    va_start(args, act);
    vsnprintf(what, sizeof what, act, args);
    va_end(args);
    const int status =
        driver_check(&gpu->driver, result, err, entry, "%s", what);
    return driver_lost(result) ? gpu_bury(gpu, false, err) : status;
}

int gpu_given(const struct gpu *gpu, int status, bool given, const char *entry,
              struct error *err)
{
    if (status != 0 || given)
        return status;
    return error_set(err, ERR_DEVICE,
                     "%s: %s says that it succeeded, and gave nothing",
                     gpu->driver.who, entry);
}

int gpu_enter(struct gpu *gpu, struct error *err)
{
    if (gpu->device.lost)
        return error_set(err, (enum error_code)gpu->cause.code,
                         "%s can no longer be used in this run, since: %s",
                         gpu->driver.who, gpu->cause.text);
    return GPU_CALL(gpu, err, cuCtxSetCurrent, (gpu->context),
                    "taking up the context");
}
