/*
 * Other GPUs of the host.  Memory is allocated in a context of its own on the
 * other GPU, which this one is given access to; kernels and copy engines of
 * this one then reach it by its address (unified addressing).
 */
#include <string.h>

#include "base/num.h"
#include "device/cuda/gpu.h"

static bool has_entries(const struct driver *d)
{
    return d->cuDeviceCanAccessPeer != NULL && d->cuCtxEnablePeerAccess != NULL;
}

static int handle_of(struct gpu *gpu, unsigned peer, int *handle,
                     struct error *err)
{
    return GPU_CALL(gpu, err, cuDeviceGet, (handle, (int)peer),
                    "opening GPU %u", peer);
}

/* Where the link has none of its own, what an atomic does is not told. */
static bool takes_atomics(struct gpu *gpu, int peer)
{
    int native = 0;
    return gpu->driver.cuDeviceGetP2PAttribute != NULL &&
           DRIVER_ASK(&gpu->driver, cuDeviceGetP2PAttribute,
                      (&native, CUDA_P2P_NATIVE_ATOMICS, gpu->handle, peer)) ==
               0 &&
           native != 0;
}

static int ask(struct gpu *gpu, unsigned number, enum device_peer *peer,
               struct error *err)
{
    int handle, can = 0;
    int status = handle_of(gpu, number, &handle, err);
    *peer = PEER_SELF;
    if (status != 0 || handle == gpu->handle)
        return status;
    status =
        GPU_CALL(gpu, err, cuDeviceCanAccessPeer, (&can, gpu->handle, handle),
                 "asking whether the GPU reaches GPU %u", number);
    if (status != 0)
        return status;
    *peer = can == 0                     ? PEER_APART
            : takes_atomics(gpu, handle) ? PEER_ATOMICS
                                         : PEER_REACHED;
    return 0;
}

int gpu_peers(struct device *device, enum device_peer peers[PEERS_MOST],
              size_t *count, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    int there = 0;
    int status = gpu_enter(gpu, err);
    if (status == 0 && !has_entries(&gpu->driver))
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot reach other GPUs: the driver lacks "
                         "cuDeviceCanAccessPeer or cuCtxEnablePeerAccess",
                         gpu->driver.who);
    if (status == 0)
        status =
            GPU_CALL(gpu, err, cuDeviceGetCount, (&there), "counting the GPUs");
    *count = there > 0 ? (size_t)u64_min((uint64_t)there, PEERS_MOST) : 0;
    for (unsigned i = 0; status == 0 && i < *count; i++)
        status = ask(gpu, i, &peers[i], err);
    return status;
}

/* The context is made current by that. */
static int enter_peer(struct gpu *gpu, unsigned peer, struct error *err)
{
    int handle;
    void *context = NULL;
    if (gpu->peers[peer] != NULL)
        return GPU_CALL(gpu, err, cuCtxSetCurrent, (gpu->peers[peer]),
                        "taking up the context of GPU %u", peer);
    int status = handle_of(gpu, peer, &handle, err);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuCtxCreate_v2, (&context, 0, handle),
                          "making a context on GPU %u", peer);
    status = gpu_given(gpu, status, context != NULL, "cuCtxCreate_v2", err);
    if (status != 0)
        return status;
    gpu->peers[peer] = context;
    status = gpu_enter(gpu, err);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuCtxEnablePeerAccess, (context, 0),
                          "reaching the memory of GPU %u", peer);
    if (status == 0)
        return GPU_CALL(gpu, err, cuCtxSetCurrent, (context),
                        "taking up the context of GPU %u", peer);
    gpu->peers[peer] = NULL;
    DRIVER_ASK(&gpu->driver, cuCtxDestroy_v2, (context));
    return status;
}

int gpu_allocate_of(struct gpu *gpu, unsigned peer, uint64_t bytes, void **at,
                    struct error *err)
{
    uint64_t address = 0;
    struct error ignored;
    if (!has_entries(&gpu->driver))
        return error_set(err, ERR_UNSUPPORTED, "%s cannot reach other GPUs",
                         gpu->driver.who);
    int status = enter_peer(gpu, peer, err);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuMemAlloc_v2, (&address, bytes),
                          "allocating %llu bytes of GPU %u",
                          (unsigned long long)bytes, peer);
    status = gpu_given(gpu, status, address != 0, "cuMemAlloc_v2", err);
    if (status != 0) {
        gpu_enter(gpu, &ignored);
        return status;
    }
    *at = (void *)(uintptr_t)address;
    return gpu_enter(gpu, err);
}

void gpu_release_of(struct gpu *gpu, unsigned peer, void *at)
{
    DRIVER_ASK(&gpu->driver, cuCtxSetCurrent, (gpu->peers[peer]));
    DRIVER_ASK(&gpu->driver, cuMemFree_v2, ((uintptr_t)at));
    DRIVER_ASK(&gpu->driver, cuCtxSetCurrent, (gpu->context));
}

void *gpu_context_on(const struct gpu *gpu, int number)
{
    return number < 0 ? gpu->context : gpu->peers[number];
}

int gpu_enter_on(struct gpu *gpu, int number, struct error *err)
{
    if (number < 0)
        return gpu_enter(gpu, err);
    return GPU_CALL(gpu, err, cuCtxSetCurrent, (gpu->peers[number]),
                    "taking up the context of GPU %d", number);
}

/* In the context of the former. */
static int enable_pair(struct gpu *gpu, int from, int to, bool *reaches,
                       struct error *err)
{
    int source = gpu->handle, target = gpu->handle, can = 0;
    int status = from < 0 ? 0 : handle_of(gpu, (unsigned)from, &source, err);
    if (status == 0 && to >= 0)
        status = handle_of(gpu, (unsigned)to, &target, err);
    if (status == 0)
        status =
            GPU_CALL(gpu, err, cuDeviceCanAccessPeer, (&can, source, target),
                     "asking whether a GPU reaches another");
    if (status == 0 && can != 0)
        status = GPU_CALL(gpu, err, cuCtxEnablePeerAccess,
                          (gpu_context_on(gpu, to), 0),
                          "reaching the memory of a GPU from another");
    *reaches = status == 0 && can != 0;
    return status;
}

int gpu_open_pair(struct gpu *gpu, int from, int to, bool *can,
                  struct error *err)
{
    bool *const asked = &gpu->asked[from + 1][to + 1],
                *const reaches = &gpu->reaches[from + 1][to + 1];
    int status = 0;
    *can = true;
    if (from < 0) /* by enter_peer() */
        return 0;
    if (!*asked) {
        status = gpu_enter_on(gpu, from, err);
        if (status == 0)
            status = enable_pair(gpu, from, to, reaches, err);
        *asked = status == 0;
    }
    *can = status == 0 && *reaches;
    return status;
}

/* What fails is asked again, and said, by who needs it. */
void gpu_meet_peers(struct gpu *gpu)
{
    enum device_peer peers[PEERS_MOST];
    struct error ignored;
    size_t count = 0;
    bool can;
    if (gpu_peers(&gpu->device, peers, &count, &ignored) != 0)
        return;
    for (unsigned i = 0; i < count && !gpu->device.lost; i++)
        if (peers[i] == PEER_REACHED || peers[i] == PEER_ATOMICS)
            enter_peer(gpu, i, &ignored);
    for (int i = 0; i < (int)count; i++)
        for (int k = -1; k < (int)count && !gpu->device.lost; k++)
            if (i != k && gpu->peers[i] != NULL &&
                (k < 0 || gpu->peers[k] != NULL))
                gpu_open_pair(gpu, i, k, &can, &ignored);
    if (!gpu->device.lost)
        gpu_enter(gpu, &ignored);
}

void gpu_leave_peers(struct gpu *gpu)
{
    memset(gpu->asked, 0, sizeof gpu->asked);
    for (unsigned i = 0; i < PEERS_MOST; i++) {
        if (gpu->peers[i] != NULL)
            DRIVER_ASK(&gpu->driver, cuCtxDestroy_v2, (gpu->peers[i]));
        gpu->peers[i] = NULL;
    }
    DRIVER_ASK(&gpu->driver, cuCtxSetCurrent, (gpu->context));
}
