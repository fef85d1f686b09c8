/*
 * Who waits for the driver and the management library, and for how long.
 *
 * The driver is left with all that it had: whatever waits in it holds its
 * locks, so nothing is asked of it any more.  The management library tells only
 * what one can do without: where it does not come back, it is asked no more,
 * and what was done meanwhile is done again without it.
 */
#include <math.h>

#include "base/log.h"
#include "base/stop.h"
#include "device/cuda/gpu.h"

/* To start a driver on a host of eight GPUs that nobody uses takes it some ten
 * seconds, to assemble the longest program of ours some five; a question of the
 * management library takes microseconds, to start it as long as a driver. */
static const double driver_s = 30, library_s = 10; /* … or half of what is left,
                                                      so that something is */

/* Once nobody wants to wait: the report is to come within a second.  A call
 * that takes longer is left although it might come back. */
static const double last_s = 0.5;

bool gpu_ends(const struct gpu *gpu)
{
    return stop_requested(gpu->device.ticket) ||
           (gpu->device.until > 0 && now_seconds() > gpu->device.until);
}

static double patience_of(const void *context, unsigned owner)
{
    const struct gpu *const gpu = context;
    if (gpu_ends(gpu))
        return last_s;
    if (gpu->closing)
        return 2 * last_s;
    if (owner != LIBRARY_NVML)
        return driver_s;
    const double until = gpu->device.until;
    return until > 0 ? fmin(library_s, (until - now_seconds()) / 2) : library_s;
}

static int leave_library(struct gpu *gpu, const struct aside_call *call,
                         struct error *err)
{
    nvml_forget(&gpu->nvml);
    error_set(err, gpu_ends(gpu) ? ERR_INTERRUPTED : ERR_DEVICE,
              "%s: the management library has not come back from %s",
              gpu->driver.who, call->entry);
    log_say(LOG_WARN,
            "%s; it is asked no more: clocks, throttling and other processes "
            "are not told",
            err->text);
    return err->code;
}

static int leave_driver(struct gpu *gpu, const struct aside_call *call,
                        struct error *err)
{
    error_set(err, gpu_ends(gpu) ? ERR_INTERRUPTED : ERR_DEADLINE,
              "%s: the driver has not come back from %s%s; nothing more is "
              "asked of it: `nvidia-smi` shows whether it still answers, and "
              "`dmesg` what befell it",
              gpu->driver.who, call->entry,
              gpu_ends(gpu) ? " when measuring was to end" : " for 30 s");
    return gpu_bury(gpu, true, err);
}

bool gpu_aside(struct device *device, aside_work *work, void *argument,
               int *status, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    struct aside_patience patience = {.seconds = patience_of, .context = gpu};
    const struct aside_call *const call = &patience.left;
    if (aside_run(&gpu->aside, work, argument, &patience, status, err))
        return true;
    gpu->left = true;
    *status = (call->owner == LIBRARY_NVML ? leave_library
                                           : leave_driver)(gpu, call, err);
    return false;
}
