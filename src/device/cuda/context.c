/* The context, and another in its place once it is lost. */
#include "device/cuda/gpu.h"

/* Of the context's limits: how many bytes a miss of L2 may fetch at most. */
enum { LIMIT_L2_FETCH = 5, SECTOR = 32, FETCH_MOST = 1 << 16 };

/*
 * By default the driver lets a miss of L2 fetch neighbouring sectors too (64 B
 * on an H200, driver 580, 2026-11), which hides the sector and makes the cost
 * of a miss depend on what was missed before.  What the default is, is
 * reported; what is measured is the cache.  A hint: no harm if it is refused.
 */
static void fetch_single_sectors(struct gpu *gpu)
{
    size_t bytes;
    if (gpu->driver.cuCtxGetLimit == NULL ||
        gpu->driver.cuCtxSetLimit == NULL ||
        DRIVER_ASK(&gpu->driver, cuCtxGetLimit, (&bytes, LIMIT_L2_FETCH)) != 0)
        return;
    if (bytes <= FETCH_MOST)
        gpu->device.info.value[PROPERTY_L2_FETCH] = (int64_t)bytes;
    DRIVER_ASK(&gpu->driver, cuCtxSetLimit, (LIMIT_L2_FETCH, SECTOR));
}

int gpu_open_context(struct gpu *gpu, struct error *err)
{
    int status = GPU_CALL(gpu, err, cuCtxCreate_v2,
                          (&gpu->context, 0, gpu->handle), "making a context");
    status =
        gpu_given(gpu, status, gpu->context != NULL, "cuCtxCreate_v2", err);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuEventCreate, (&gpu->started, 0),
                          "making an event");
    if (status == 0)
        status = GPU_CALL(gpu, err, cuEventCreate, (&gpu->stopped, 0),
                          "making an event");
    if (status == 0) {
        fetch_single_sectors(gpu);
        gpu_ask_mapping(gpu);
    }
    return status;
}

/* Destroying the context frees on the GPU whatever was left there.  Nothing
 * can be done about a failure. */
void gpu_close_context(struct gpu *gpu)
{
    if (gpu->context == NULL || gpu->hung)
        return;
    DRIVER_ASK(&gpu->driver, cuCtxSetCurrent, (gpu->context));
    if (gpu->started != NULL)
        DRIVER_ASK(&gpu->driver, cuEventDestroy_v2, (gpu->started));
    if (gpu->stopped != NULL)
        DRIVER_ASK(&gpu->driver, cuEventDestroy_v2, (gpu->stopped));
    gpu_release_all_host(gpu);
    gpu_leave_peers(gpu);
    DRIVER_ASK(&gpu->driver, cuCtxDestroy_v2, (gpu->context));
    gpu->context = gpu->started = gpu->stopped = NULL;
}

/* What a fault of a kernel takes with it is its context; the driver makes
 * another, unless the fault went deeper, which it then says.  While a kernel
 * may still run, or a call has not come back, there is no other: it would share
 * the GPU, or wait in the driver. */
int gpu_renew(struct device *device, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    if (gpu->hung)
        return gpu_enter(gpu, err);
    while (gpu->modules != NULL)
        gpu_unload(device, gpu->modules);
    gpu_unmap_all(gpu);
    gpu_close_context(gpu);
    gpu->timed = device->lost = false;
    const int status = gpu_open_context(gpu, err);
    gpu->compiler.context = gpu->context;
    return status != 0 ? gpu_bury(gpu, false, err) : 0;
}
