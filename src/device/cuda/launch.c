/*
 * One launch: attributes, start, wait.  All runs on the context's default
 * stream, which copies share, so each sees what came before it.
 *
 * The wait never blocks inside the driver: it asks again and again whether
 * the closing event has come, so a kernel that runs past its deadline costs
 * its deadline and not the run.  The wish to stop does not end a wait: a
 * kernel cannot be called back, and its deadline is near.
 */
#include "device/cuda/gpu.h"

#include <math.h>
#include <time.h>

#include "base/stop.h"

static const double default_deadline_s = 10;

/* Most kernels of ours end within this, and sleeping would cost more. */
static const double spin_s = 1e-3;

static const struct timespec nap = {.tv_nsec = 50000};

/* Clusters of more blocks must be asked for (CUDA programming guide). */
enum { PORTABLE_CLUSTER = 8 };

static unsigned at_least_one(unsigned n)
{
    return n > 0 ? n : 1;
}

static int set_attribute(struct gpu *gpu, const struct kernel *kernel,
                         int attribute, int value, const char *what,
                         struct error *err)
{
    return GPU_CALL(
        gpu, err, cuFuncSetAttribute, (kernel->function, attribute, value),
        "setting %s of kernel '%s' to %d", what, kernel->name, value);
}

static int set_carve_out(struct gpu *gpu, struct kernel *kernel, int percent,
                         struct error *err)
{
    if (percent == kernel->carve_out)
        return 0;
    const int status =
        set_attribute(gpu, kernel, CUDA_PREFERRED_CARVE_OUT, percent,
                      "the share of shared memory (in percent)", err);
    if (status == 0)
        kernel->carve_out = percent;
    return status;
}

/* Above 48 KiB, static variables counted in, a kernel must opt in; below it
 * does no harm. */
static int set_shared(struct gpu *gpu, struct kernel *kernel, unsigned bytes,
                      struct error *err)
{
    if (bytes <= kernel->shared_bytes)
        return 0;
    const int status =
        set_attribute(gpu, kernel, CUDA_MAX_DYNAMIC_SHARED_BYTES, (int)bytes,
                      "the bytes of dynamic shared memory", err);
    if (status == 0)
        kernel->shared_bytes = bytes;
    return status;
}

static int set_clusters(struct gpu *gpu, struct kernel *kernel, unsigned blocks,
                        struct error *err)
{
    if (blocks <= PORTABLE_CLUSTER || kernel->wide_clusters)
        return 0;
    const int status =
        set_attribute(gpu, kernel, CUDA_NON_PORTABLE_CLUSTERS, 1,
                      "the leave for clusters of more than 8 blocks", err);
    if (status == 0)
        kernel->wide_clusters = true;
    return status;
}

static unsigned cluster_blocks(const struct launch *launch)
{
    const unsigned *const c = launch->cluster;
    if (c[0] == 0 && c[1] == 0 && c[2] == 0)
        return 0;
    return at_least_one(c[0]) * at_least_one(c[1]) * at_least_one(c[2]);
}

static int set_attributes(struct gpu *gpu, struct kernel *kernel,
                          const struct launch *launch, struct error *err)
{
    int status = set_carve_out(gpu, kernel, launch->carve_out, err);
    if (status == 0)
        status = set_shared(gpu, kernel, launch->shared_bytes, err);
    if (status == 0)
        status = set_clusters(gpu, kernel, cluster_blocks(launch), err);
    return status;
}

static int record(struct gpu *gpu, void *event, const char *when,
                  const struct kernel *kernel, struct error *err)
{
    return GPU_CALL(gpu, err, cuEventRecord, (event, NULL),
                    "noting the time %s kernel '%s'", when, kernel->name);
}

static int start_plain(struct gpu *gpu, const struct kernel *kernel,
                       const struct launch *launch, void **args,
                       struct error *err)
{
    const unsigned *const g = launch->grid, *const b = launch->block;
    return GPU_CALL(gpu, err, cuLaunchKernel,
                    (kernel->function, at_least_one(g[0]), at_least_one(g[1]),
                     at_least_one(g[2]), at_least_one(b[0]), at_least_one(b[1]),
                     at_least_one(b[2]), launch->shared_bytes, NULL, args,
                     NULL),
                    "launching kernel '%s' with %u blocks of %u threads and "
                    "%u bytes of shared memory",
                    kernel->name, at_least_one(g[0]), at_least_one(b[0]),
                    launch->shared_bytes);
}

static int start_clusters(struct gpu *gpu, const struct kernel *kernel,
                          const struct launch *launch, void **args,
                          struct error *err)
{
    if (gpu->driver.cuLaunchKernelEx == NULL ||
        gpu->device.info.value[PROPERTY_CLUSTER] <= 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot launch kernel '%s': clusters need compute "
                         "capability 9.0 and a driver that has "
                         "cuLaunchKernelEx",
                         gpu->driver.who, kernel->name);
    struct cuda_launch_attribute cluster = {.id = CUDA_LAUNCH_CLUSTER};
    cluster.value.cluster.x = at_least_one(launch->cluster[0]);
    cluster.value.cluster.y = at_least_one(launch->cluster[1]);
    cluster.value.cluster.z = at_least_one(launch->cluster[2]);
    struct cuda_launch config = {
        .shared_bytes = launch->shared_bytes,
        .attributes = &cluster,
        .attribute_count = 1,
    };
    for (int i = 0; i < 3; i++) {
        config.grid[i] = at_least_one(launch->grid[i]);
        config.block[i] = at_least_one(launch->block[i]);
    }
    return GPU_CALL(
        gpu, err, cuLaunchKernelEx, (&config, kernel->function, args, NULL),
        "launching kernel '%s' with %u blocks of %u threads in "
        "clusters of %u",
        kernel->name, config.grid[0], config.block[0], cluster_blocks(launch));
}

static int start(struct gpu *gpu, const struct kernel *kernel,
                 const struct launch *launch, struct error *err)
{
    void *args[LAUNCH_ARGS_MAX];
    for (size_t i = 0; i < launch->arg_count; i++)
        args[i] = (void *)(uintptr_t)launch->args[i];
    return cluster_blocks(launch) > 0
               ? start_clusters(gpu, kernel, launch, args, err)
               : start_plain(gpu, kernel, launch, args, err);
}

static int past_deadline(struct gpu *gpu, const struct kernel *kernel,
                         double deadline_s, struct error *err)
{
    if (gpu_ends(gpu)) {
        error_set(err, ERR_INTERRUPTED,
                  "%s: kernel '%s' was still running when measuring was to end",
                  gpu->driver.who, kernel->name);
        return gpu_bury(gpu, true, err);
    }
    error_set(err, ERR_DEADLINE,
              "%s: kernel '%s' was still running at its deadline of %g s; make "
              "the experiment smaller, or look with nvidia-smi whether another "
              "program holds the GPU",
              gpu->driver.who, kernel->name, deadline_s);
    return gpu_bury(gpu, true, err);
}

/* Once nobody wants to wait, not for this either: a kernel that takes no longer
 * is let come to its end. */
static const double last_s = 0.5;

/* What the closing event says, or CUDA_NOT_READY at the deadline.  A driver
 * that fails to tell is asked once more. */
int gpu_await(const struct gpu *gpu, void *event, double deadline_s)
{
    const double begun = now_seconds();
    bool failed = false;
    for (double ends_at = 0;;) {
        const double now = now_seconds(), waited = now - begun;
        const int result =
            DRIVER_ASK(&gpu->driver, cuEventQuery, (event));
        if (result == 0 || waited > deadline_s || driver_lost(result) ||
            (result != CUDA_NOT_READY && failed))
            return result;
        failed = result != CUDA_NOT_READY;
        if (waited <= spin_s)
            continue;
        if (ends_at == 0 && gpu_ends(gpu))
            ends_at = now + last_s;
        if (ends_at > 0 && now > ends_at)
            return CUDA_NOT_READY;
        nanosleep(&nap, NULL);
    }
}

/* Once a kernel has started, a result other than success leaves open whether
 * it still runs, unless the driver says how it died. */
static int finish(struct gpu *gpu, const struct kernel *kernel,
                  double deadline_s, struct error *err)
{
    int status = record(gpu, gpu->stopped, "after", kernel, err);
    if (status != 0 && !gpu->device.lost) {
        *err = (struct error){0};
        status = record(gpu, gpu->stopped, "after", kernel, err);
    }
    if (status == 0) {
        const int result = gpu_await(gpu, gpu->stopped, deadline_s);
        if (result == CUDA_NOT_READY)
            return past_deadline(gpu, kernel, deadline_s, err);
        status = gpu_check(gpu, result, err, "cuEventQuery", "kernel '%s'",
                           kernel->name);
    }
    if (status != 0 && !gpu->device.lost)
        gpu_bury(gpu, true, err);
    return status;
}

int gpu_launch(struct device *device, struct kernel *kernel,
               const struct launch *launch, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const double deadline_s =
        launch->deadline_s > 0 ? launch->deadline_s : default_deadline_s;
    gpu->timed = false;
    gpu_has_started(gpu);
    int status = gpu_enter(gpu, err);
    if (status == 0)
        status = set_attributes(gpu, kernel, launch, err);
    if (status == 0 && launch->ahead)
        return start(gpu, kernel, launch, err);
    if (status == 0)
        status = record(gpu, gpu->started, "before", kernel, err);
    if (status == 0)
        status = start(gpu, kernel, launch, err);
    if (status == 0)
        status = finish(gpu, kernel, deadline_s, err);
    gpu->timed = status == 0;
    return status;
}

int gpu_elapsed(struct device *device, double *nanoseconds, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    float ms = 0;
    int status = gpu_enter(gpu, err);
    if (status == 0 && !gpu->timed)
        return error_set(err, ERR_USAGE, "%s has no launch to tell the time of",
                         gpu->driver.who);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuEventElapsedTime,
                          (&ms, gpu->started, gpu->stopped),
                          "asking how long the kernel took");
    if (status == 0 && !(isfinite(ms) && ms >= 0))
        status = error_set(err, ERR_DEVICE,
                           "%s: the driver says that a kernel took %g ms",
                           gpu->driver.who, (double)ms);
    *nanoseconds = 1e6 * (double)ms;
    return status;
}
