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
    .peers = gpu_peers,
    .wires = gpu_wires,
    .allocate_at = gpu_allocate_at,
    .transfer = gpu_transfer,
    .claim = gpu_claim,
    .let_go = gpu_let_go,
    .memory_free = gpu_memory_free,
    .map = gpu_map,
    .unmap = gpu_unmap,
    .texture_open = gpu_texture_open,
    .texture_close = gpu_texture_close,
    .symbol = gpu_symbol,
    .sense = cuda_sense,
    .aside = gpu_aside,
    .renew = gpu_renew,
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
        status = gpu_open_context(gpu, err);
    if (status != 0)
        return gpu_is_there(err);
    open_compiler(gpu, no_cache);
    return 0;
}

/* A driver that cannot do what any use of it takes has failed, or one that does
 * not come back before the time is over. */
static int refuse(struct error *err)
{
    if (err->code == ERR_UNSUPPORTED || err->code == ERR_INTERRUPTED)
        err->code = ERR_DEVICE;
    return err->code;
}

struct opening {
    struct gpu *gpu;
    const char *what;
    bool no_cache;
};

static int open_all(void *argument, struct error *err)
{
    struct opening *const o = argument;
    const int status = driver_open(&o->gpu->driver, err);
    return status != 0 ? status : open_gpu(o->gpu, o->what, o->no_cache, err);
}

/* What does not come back from the management library is tried once more
 * without it, and so is what may pass. */
static int open_once(const char *what, const struct device_options *options,
                     bool *library, struct gpu **opened, struct error *err)
{
    struct gpu *const gpu = xcalloc(1, sizeof *gpu);
    struct opening o = {gpu, what, options != NULL && options->no_cache};
    int status;
    gpu->device.ops = &cuda_device_ops;
    gpu->device.ticket = options != NULL ? options->ticket : 0;
    gpu->device.until = options != NULL ? options->until : 0;
    snprintf(gpu->driver.who, sizeof gpu->driver.who, "cuda");
    gpu_starts(gpu);
    if (!*library)
        nvml_forget(&gpu->nvml);
    gpu_aside(&gpu->device, open_all, &o, &status, err);
    *library = !gpu->nvml.forgotten;
    if (status != 0)
        cuda_close(&gpu->device);
    *opened = gpu;
    return status;
}

static int cuda_open(const char *what, const struct device_options *options,
                     struct device **device, struct error *err)
{
    struct gpu *gpu = NULL;
    bool library = true;
    int status = open_once(what, options, &library, &gpu, err);
    if (status != 0 &&
        (!library || (status != ERR_DEADLINE && status != ERR_INTERRUPTED)))
        status = open_once(what, options, &library, &gpu, err);
    if (status != 0)
        return refuse(err);
    *device = &gpu->device;
    return 0;
}

static int close_all(void *argument, struct error *err)
{
    struct gpu *const gpu = argument;
    (void)err;
    while (gpu->modules != NULL)
        gpu_unload(&gpu->device, gpu->modules);
    gpu_unmap_all(gpu);
    gpu_close_context(gpu);
    nvml_close(&gpu->nvml);
    if (gpu->driver.library != NULL)
        driver_close(&gpu->driver);
    return 0;
}

static void cuda_close(struct device *device)
{
    struct gpu *const gpu = gpu_of(device);
    struct error ignored;
    int status;
    gpu->closing = true;
    gpu_has_started(gpu);
    gpu_let_go(device);
    gpu_aside(device, close_all, gpu, &status, &ignored);
    aside_end(gpu->aside);
    gpu->aside = NULL;
    if (gpu->left) /* what was handed to a call that is still going on */
        return;
    compiler_close(&gpu->compiler);
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
