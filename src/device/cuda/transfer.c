/*
 * The host's memory, and what copy engines take for it.  Each transfer has a
 * stream of its own, so that several go at once, and is timed by events on it.
 * Pinned memory has one address, the host's and the GPU's (unified addressing,
 * CUDA 4.0 on); managed memory is never used, as its pages move while one
 * measures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/cuda/gpu.h"

enum { HOST_PORTABLE = 1, HOST_MAPPED = 2 };
/* A stream that does not wait for the default one. */
enum { STREAM_APART = 1 };
enum { PAGE = 4096 };

struct host_memory {
    struct host_memory *next;
    void *at;
    enum device_place place;
};

/* ---- memory ------------------------------------------------------------ */

static int pin_memory(struct gpu *gpu, uint64_t bytes, void **at,
                      struct error *err)
{
    if (gpu->driver.cuMemHostAlloc == NULL || gpu->driver.cuMemFreeHost == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot pin memory: the driver lacks "
                         "cuMemHostAlloc or cuMemFreeHost",
                         gpu->driver.who);
    const int status = GPU_CALL(
        gpu, err, cuMemHostAlloc, (at, bytes, HOST_PORTABLE | HOST_MAPPED),
        "pinning %llu bytes of the host's memory", (unsigned long long)bytes);
    return gpu_given(gpu, status, *at != NULL, "cuMemHostAlloc", err);
}

static int take_pages(uint64_t bytes, void **at, struct error *err)
{
    if (posix_memalign(at, PAGE, bytes) == 0)
        return 0;
    *at = NULL;
    return error_set(err, ERR_DEVICE_MEMORY, "the host has no %llu bytes left",
                     (unsigned long long)bytes);
}

static int take(struct gpu *gpu, enum device_place place, uint64_t bytes,
                void **at, struct error *err)
{
    if (place == PLACE_HOST)
        return pin_memory(gpu, bytes, at, err);
    if (place == PLACE_PAGEABLE)
        return take_pages(bytes, at, err);
    return gpu_allocate_of(gpu, place - PLACE_PEER, bytes, at, err);
}

static bool is_of_host(enum device_place place)
{
    return place == PLACE_HOST || place == PLACE_PAGEABLE;
}

/* Pages that nobody has written to are all one page, which caches hold. */
int gpu_allocate_at(struct device *device, enum device_place place,
                    uint64_t bytes, uint64_t *address, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    struct host_memory *const made = xcalloc(1, sizeof *made);
    made->place = place;
    int status = gpu_enter(gpu, err);
    if (status == 0)
        status = take(gpu, place, bytes, &made->at, err);
    if (status != 0) {
        free(made);
        return status;
    }
    if (is_of_host(place))
        memset(made->at, 1, bytes);
    made->next = gpu->host;
    gpu->host = made;
    *address = (uintptr_t)made->at;
    return 0;
}

static void free_host(struct gpu *gpu, struct host_memory **link)
{
    struct host_memory *const gone = *link;
    *link = gone->next;
    if (gone->place == PLACE_HOST)
        DRIVER_ASK(&gpu->driver, cuMemFreeHost, (gone->at));
    else if (gone->place == PLACE_PAGEABLE)
        free(gone->at);
    else
        gpu_release_of(gpu, gone->place - PLACE_PEER, gone->at);
    free(gone);
}

bool gpu_release_host(struct gpu *gpu, uint64_t address)
{
    struct error ignored;
    struct host_memory **link = &gpu->host;
    while (*link != NULL && (uintptr_t)(*link)->at != address)
        link = &(*link)->next;
    if (*link == NULL)
        return false;
    if (gpu_enter(gpu, &ignored) == 0)
        free_host(gpu, link);
    return true;
}

void gpu_release_all_host(struct gpu *gpu)
{
    while (gpu->host != NULL)
        free_host(gpu, &gpu->host);
}

/* ---- transfers --------------------------------------------------------- */

/*
 * What has an end on this GPU goes by a stream of its context; what goes from
 * one other GPU to another by one of the context where it begins.  The events
 * of two contexts cannot be subtracted: of the latter is asked, when the first
 * transfer has ended, whether it still goes on.
 */
struct running {
    bool apart; /* between two others */
    unsigned source, target;
    bool went_on; /* … which outlasted the first */
    void *stream, *began, *ended;
};

/* Whose memory begins there; -1: this GPU's, or the host's. */
static int other_gpu(const struct gpu *gpu, uint64_t address)
{
    for (const struct host_memory *m = gpu->host; m != NULL; m = m->next)
        if ((uintptr_t)m->at == address && !is_of_host(m->place))
            return (int)(m->place - PLACE_PEER);
    return -1;
}

static int copy(struct gpu *gpu, const struct transfer *t,
                const struct running *r, struct error *err)
{
    if (r->apart)
        return GPU_CALL(gpu, err, cuMemcpyPeerAsync,
                        (t->to, gpu->peers[r->target], t->from,
                         gpu->peers[r->source], t->bytes, r->stream),
                        "copying %llu bytes from GPU %u to GPU %u",
                        (unsigned long long)t->bytes, r->source, r->target);
    return GPU_CALL(gpu, err, cuMemcpyAsync,
                    (t->to, t->from, t->bytes, r->stream), "copying %llu bytes",
                    (unsigned long long)t->bytes);
}

static int make(struct gpu *gpu, struct running *r, struct error *err)
{
    int status = GPU_CALL(gpu, err, cuStreamCreate, (&r->stream, STREAM_APART),
                          "making a stream");
    if (status == 0)
        status = GPU_CALL(gpu, err, cuEventCreate, (&r->began, 0),
                          "making an event");
    if (status == 0)
        status = GPU_CALL(gpu, err, cuEventCreate, (&r->ended, 0),
                          "making an event");
    return status;
}

/* Much longer than any host takes for what studies copy. */
static const double deadline_s = 30;

static int await(struct gpu *gpu, void *event, struct error *err)
{
    const int result = gpu_await(gpu, event, deadline_s);
    if (result != CUDA_NOT_READY)
        return gpu_check(gpu, result, err, "cuEventQuery", "a copy");
    error_set(err, gpu_ends(gpu) ? ERR_INTERRUPTED : ERR_DEADLINE,
              "%s: a copy was still going on after %g s, or when measuring was "
              "to end",
              gpu->driver.who, deadline_s);
    return gpu_bury(gpu, true, err);
}

/* Of one between others `began` is noted after its first copy, for which is
 * waited: what is timed comes later. */
static int queue(struct gpu *gpu, const struct transfer *t,
                 const struct running *r, struct error *err)
{
    int status = 0;
    for (unsigned i = 0; status == 0 && i <= t->times; i++) {
        if (i == (r->apart ? 1 : 0))
            status = GPU_CALL(gpu, err, cuEventRecord, (r->began, r->stream),
                              "noting the time before a copy");
        if (status == 0 && i < t->times)
            status = copy(gpu, t, r, err);
    }
    if (status == 0)
        status = GPU_CALL(gpu, err, cuEventRecord, (r->ended, r->stream),
                          "noting the time after a copy");
    if (status == 0 && r->apart)
        status = await(gpu, r->began, err);
    return status;
}

static int enter(struct gpu *gpu, const struct running *r, bool *can,
                 struct error *err)
{
    *can = true;
    return r->apart ? gpu_enter_pair(gpu, r->source, r->target, can, err)
                    : gpu_enter(gpu, err);
}

static int begin(struct gpu *gpu, struct transfer *t, struct running *r,
                 struct error *err)
{
    const int from = other_gpu(gpu, t->from), to = other_gpu(gpu, t->to);
    bool can;
    r->apart = from >= 0 && to >= 0;
    r->source = (unsigned)from;
    r->target = (unsigned)to;
    int status = enter(gpu, r, &can, err);
    t->none = status == 0 && !can;
    if (status == 0 && can)
        status = make(gpu, r, err);
    if (status == 0 && can)
        status = queue(gpu, t, r, err);
    return status;
}

/* All, the first first. */
static int await_all(struct gpu *gpu, const struct transfer *t,
                     struct running *r, size_t count, struct error *err)
{
    bool can;
    int status = enter(gpu, &r[0], &can, err);
    if (status == 0)
        status = await(gpu, r[0].ended, err);
    for (size_t i = 1; status == 0 && i < count; i++)
        if (r[i].apart && !t[i].none) {
            status = enter(gpu, &r[i], &can, err);
            r[i].went_on =
                status == 0 && DRIVER_ASK(&gpu->driver, cuEventQuery,
                                          (r[i].ended)) == CUDA_NOT_READY;
        }
    for (size_t i = 1; status == 0 && i < count; i++) {
        if (t[i].none)
            continue;
        status = enter(gpu, &r[i], &can, err);
        if (status == 0)
            status = await(gpu, r[i].ended, err);
    }
    return status == 0 ? gpu_enter(gpu, err) : status;
}

static int since(struct gpu *gpu, void *from, void *to, double *ns,
                 struct error *err)
{
    float ms = 0;
    const int status = GPU_CALL(gpu, err, cuEventElapsedTime, (&ms, from, to),
                                "asking how long a copy took");
    if (status == 0 && !(isfinite(ms) && ms >= 0))
        return error_set(err, ERR_DEVICE,
                         "%s: the driver says that a copy took %g ms",
                         gpu->driver.who, (double)ms);
    *ns = 1e6 * (double)ms;
    return status;
}

/* From the beginning of the last of this GPU's, which began first. */
static int tell(struct gpu *gpu, const struct running *r, struct transfer *t,
                size_t count, struct error *err)
{
    size_t last = count - 1;
    int status = 0;
    while (last > 0 && r[last].apart)
        last--;
    for (size_t i = 0; status == 0 && i <= last; i++) {
        t[i].began = 0;
        if (r[i].apart)
            continue;
        if (i < last)
            status = since(gpu, r[last].began, r[i].began, &t[i].began, err);
        if (status == 0)
            status = since(gpu, r[last].began, r[i].ended, &t[i].ended, err);
    }
    for (size_t i = 1; status == 0 && i < count; i++)
        if (r[i].apart)
            t[i].ended = t[0].ended + (r[i].went_on ? 1 : -1);
    return status;
}

/* What a lost context had is gone with it. */
static void end(struct gpu *gpu, const struct running *r)
{
    struct error ignored;
    bool can;
    if (gpu->device.lost || enter(gpu, r, &can, &ignored) != 0)
        return;
    if (r->began != NULL)
        DRIVER_ASK(&gpu->driver, cuEventDestroy_v2, (r->began));
    if (r->ended != NULL)
        DRIVER_ASK(&gpu->driver, cuEventDestroy_v2, (r->ended));
    if (r->stream != NULL)
        DRIVER_ASK(&gpu->driver, cuStreamDestroy_v2, (r->stream));
}

static int check_entries(const struct gpu *gpu, bool apart, struct error *err)
{
    const struct driver *const d = &gpu->driver;
    if (d->cuMemcpyAsync == NULL || d->cuStreamCreate == NULL ||
        d->cuStreamDestroy_v2 == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot time copies: the driver lacks "
                         "cuMemcpyAsync or streams",
                         d->who);
    if (apart && d->cuMemcpyPeerAsync == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot copy between other GPUs: the driver lacks "
                         "cuMemcpyPeerAsync",
                         d->who);
    return 0;
}

static bool any_apart(const struct gpu *gpu, const struct transfer *t,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (other_gpu(gpu, t[i].from) >= 0 && other_gpu(gpu, t[i].to) >= 0)
            return true;
    return false;
}

int gpu_transfer(struct device *device, struct transfer *transfers,
                 size_t count, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    struct error ignored;
    int status = gpu_enter(gpu, err);
    if (status == 0)
        status = check_entries(gpu, any_apart(gpu, transfers, count), err);
    if (status != 0)
        return status;
    struct running *const running = xcalloc(count, sizeof *running);
    for (size_t i = count; status == 0 && i-- > 0;)
        status = begin(gpu, &transfers[i], &running[i], err);
    if (status == 0)
        status = await_all(gpu, transfers, running, count, err);
    if (status == 0)
        status = tell(gpu, running, transfers, count, err);
    for (size_t i = 0; i < count; i++)
        end(gpu, &running[i]);
    free(running);
    if (!gpu->device.lost)
        gpu_enter(gpu, &ignored);
    return status;
}
