#include "device/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/cuda/gpu.h"

static int cuda_open(const char *what, const struct device_options *options,
                     struct device **device, struct error *err);
static void cuda_close(struct device *device);
static int cuda_sense(struct device *device, struct device_sense *sense,
                      struct error *err);

const struct device_ops cuda_device_ops = {
    .scheme = "cuda",
    .help = "the number of a GPU, or its UUID (its beginning will do)",
    .list = gpu_list,
    .open = cuda_open,
    .close = cuda_close,
    .prepare = gpu_prepare,
    .load = gpu_load,
    .unload = gpu_unload,
    .code = gpu_code,
    .kernel = gpu_kernel,
    .launch = gpu_launch,
    .elapsed = gpu_elapsed,
    .allocate = gpu_allocate,
    .release = gpu_release,
    .copy_in = gpu_copy_in,
    .copy_out = gpu_copy_out,
    .memory_free = gpu_memory_free,
    .map = gpu_map,
    .unmap = gpu_unmap,
    .texture_open = gpu_texture_open,
    .texture_close = gpu_texture_close,
    .symbol = gpu_symbol,
    .sense = cuda_sense,
};

/* Says beforehand what cuCtxCreate would only answer with a bare code.  The
 * GPU is named by its UUID, since nvidia-smi counts in another order. */
static int check_mode(const struct gpu *gpu, struct error *err)
{
    int mode = 0;
    char uuid[UUID_TEXT_MAX] = "";
    const int status = DRIVER_CALL(&gpu->driver, err, cuDeviceGetAttribute,
                                   (&mode, CUDA_COMPUTE_MODE, gpu->handle),
                                   "asking for the compute mode");
    if (status != 0 || mode != CUDA_PROHIBITED)
        return status;
    const bool known = gpu_uuid(&gpu->driver, gpu->handle, uuid);
    return error_set(err, ERR_DEVICE,
                     "%s is in prohibited compute mode (`nvidia-smi "
                     "--query-gpu=uuid,compute_mode --format=csv` shows it); "
                     "an administrator allows programs with `nvidia-smi%s%s "
                     "-c DEFAULT`",
                     gpu->driver.who, known ? " -i GPU-" : "", uuid);
}

/* Of the context's limits: how many bytes a miss of L2 may fetch at most. */
enum { LIMIT_L2_FETCH = 5, SECTOR = 32 };

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
        gpu->driver.cuCtxGetLimit(&bytes, LIMIT_L2_FETCH) != 0)
        return;
    gpu->device.info.value[PROPERTY_L2_FETCH] = (int64_t)bytes;
    gpu->driver.cuCtxSetLimit(LIMIT_L2_FETCH, SECTOR);
}

static int open_context(struct gpu *gpu, struct error *err)
{
    int status = GPU_CALL(gpu, err, cuCtxCreate_v2,
                          (&gpu->context, 0, gpu->handle), "making a context");
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
static void close_context(struct gpu *gpu)
{
    if (gpu->context == NULL || gpu->hung)
        return;
    gpu->driver.cuCtxSetCurrent(gpu->context);
    if (gpu->started != NULL)
        gpu->driver.cuEventDestroy_v2(gpu->started);
    if (gpu->stopped != NULL)
        gpu->driver.cuEventDestroy_v2(gpu->stopped);
    gpu->driver.cuCtxDestroy_v2(gpu->context);
}

static void open_compiler(struct gpu *gpu, bool no_cache)
{
    char platform[128];
    snprintf(platform, sizeof platform, "cuda %d driver %s target sm_%d%d",
             gpu->driver.version, gpu->nvml.version, gpu->device.info.cc_major,
             gpu->device.info.cc_minor);
    compiler_open(&gpu->compiler, &gpu->driver, gpu->context, platform,
                  no_cache);
}

static int open_gpu(struct gpu *gpu, const char *what, bool no_cache,
                    struct error *err)
{
    int ordinal;
    int status = gpu_find(&gpu->driver, what, &ordinal, &gpu->handle, err);
    if (status != 0)
        return status;
    snprintf(gpu->driver.who, sizeof gpu->driver.who, "cuda:%d", ordinal);
    snprintf(gpu->device.info.spec, sizeof gpu->device.info.spec, "%s",
             gpu->driver.who);
    status = check_mode(gpu, err);
    if (status == 0)
        status = gpu_describe(gpu, err);
    if (status == 0)
        status = open_context(gpu, err);
    if (status == 0)
        open_compiler(gpu, no_cache);
    return status;
}

/* A driver that cannot do what any use of it takes has failed. */
static int refuse(struct error *err)
{
    if (err->code == ERR_UNSUPPORTED)
        err->code = ERR_DEVICE;
    return err->code;
}

static int cuda_open(const char *what, const struct device_options *options,
                     struct device **device, struct error *err)
{
    struct gpu *const gpu = xcalloc(1, sizeof *gpu);
    gpu->device.ops = &cuda_device_ops;
    int status = driver_open(&gpu->driver, err);
    if (status != 0) {
        free(gpu);
        return refuse(err);
    }
    status = open_gpu(gpu, what, options != NULL && options->no_cache, err);
    if (status != 0) {
        cuda_close(&gpu->device);
        return refuse(err);
    }
    *device = &gpu->device;
    return 0;
}

static void cuda_close(struct device *device)
{
    struct gpu *const gpu = gpu_of(device);
    while (gpu->modules != NULL)
        gpu_unload(device, gpu->modules);
    gpu_unmap_all(gpu);
    close_context(gpu);
    compiler_close(&gpu->compiler);
    nvml_close(&gpu->nvml);
    driver_close(&gpu->driver);
    free(gpu);
}

static int cuda_sense(struct device *device, struct device_sense *sense,
                      struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const int status = gpu_enter(gpu, err);
    if (status != 0)
        return status;
    if (gpu->nvml.library == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot tell clocks and throttling: the driver's "
                         "libnvidia-ml.so.1 is missing or does not know the "
                         "GPU",
                         gpu->driver.who);
    nvml_sense(&gpu->nvml, sense);
    return 0;
}
