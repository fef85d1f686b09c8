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
 * Whose copy engine moves it, says the context of its stream.  A GPU's engine
 * for other GPUs does one copy after the other, both ways (H100, driver 580),
 * so whatever goes at once is spread: each GPU sends by its own, but where one
 * GPU sends to all, each of these fetches by its own.  Where several go by one
 * engine their copies take turns, as they would share a way; so they have one
 * stream, since of several an engine does all that one has before it goes on
 * to the next (the same H100: what waited for a copy of each began when the
 * first of them had ended all its own, however many these were).
 */
struct running {
    int source, target; /* GPUs; -1: this one, or the host */
    int engine;         /* whose; -1: this GPU's */
    bool went_on;       /* it outlasted the first */
    bool lent;          /* the stream is that of another */
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
    if (r->engine >= 0)
        return GPU_CALL(gpu, err, cuMemcpyPeerAsync,
                        (t->to, gpu_context_on(gpu, r->target), t->from,
                         gpu_context_on(gpu, r->source), t->bytes, r->stream),
                        "copying %llu bytes by GPU %d",
                        (unsigned long long)t->bytes, r->engine);
    return GPU_CALL(gpu, err, cuMemcpyAsync,
                    (t->to, t->from, t->bytes, r->stream), "copying %llu bytes",
                    (unsigned long long)t->bytes);
}

static bool is_between_gpus(const struct running *r)
{
    return r->source >= 0 || r->target >= 0;
}

/* That of one before, of the same engine for other GPUs; NULL: there is none.
 */
static void *stream_of(const struct running *r, size_t index)
{
    for (size_t i = 0; i < index && is_between_gpus(&r[index]); i++)
        if (r[i].stream != NULL && r[i].engine == r[index].engine &&
            is_between_gpus(&r[i]))
            return r[i].stream;
    return NULL;
}

static int make(struct gpu *gpu, struct running *r, void *stream,
                struct error *err)
{
    int status = 0;
    r->stream = stream;
    r->lent = stream != NULL;
    if (!r->lent)
        status = GPU_CALL(gpu, err, cuStreamCreate, (&r->stream, STREAM_APART),
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

static int enter(struct gpu *gpu, const struct running *r, struct error *err)
{
    return gpu_enter_on(gpu, r->engine, err);
}

static int note(struct gpu *gpu, void *event, const struct running *r,
                struct error *err)
{
    return GPU_CALL(gpu, err, cuEventRecord, (event, r->stream),
                    "noting the time of a copy");
}

/* ---- whose engine ------------------------------------------------------ */

/* True if the first goes with others from the same GPU, and with these only. */
static bool is_from_one(const struct running *r, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (r[i].source != r[0].source || r[i].target == r[0].target)
            return false;
    return count > 1;
}

/* Where the way back is not open to the other GPU, this one's. */
static int choose_engine(struct gpu *gpu, struct running *r, bool several,
                         bool fetch, bool *can, struct error *err)
{
    const int by = fetch ? r->target : r->source;
    const int with = fetch ? r->source : r->target;
    const bool apart = r->source >= 0 && r->target >= 0;
    r->engine = -1;
    *can = true;
    if (!several || by < 0 || gpu->driver.cuMemcpyPeerAsync == NULL)
        return 0;
    const int status = gpu_open_pair(gpu, by, with, can, err);
    if (status == 0 && *can)
        r->engine = by;
    *can = *can || !apart;
    return status;
}

/* ---- enqueueing -------------------------------------------------------- */

/* Of several that are at once, or of one by the other GPU's engine. */
static int begin(struct gpu *gpu, struct transfer *t, struct running *r,
                 size_t count, size_t i, struct error *err)
{
    const bool apart = count > 1 || t[0].by_other;
    const bool fetch = count > 1 ? is_from_one(r, count) : r[0].target >= 0;
    bool can;
    int status = choose_engine(gpu, &r[i], apart, fetch, &can, err);
    t[i].none = status == 0 && !can;
    if (status == 0 && t[i].by_other && r[i].engine < 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: the other GPU has no way back, by which its "
                         "engine would copy",
                         gpu->driver.who);
    if (status == 0 && can)
        status = enter(gpu, &r[i], err);
    if (status == 0 && can)
        status = make(gpu, &r[i], stream_of(r, i), err);
    return status;
}

static int copy_entered(struct gpu *gpu, const struct transfer *t,
                        const struct running *r, struct error *err)
{
    const int status = enter(gpu, r, err);
    return status == 0 ? copy(gpu, t, r, err) : status;
}

/* The first copy of each of the others, which says when it began; and one of
 * the first, which waits for all of these, and is not timed: what is timed
 * begins where a copy of its own ends, so that whole turns are. */
static int lead_in(struct gpu *gpu, const struct transfer *t, struct running *r,
                   size_t count, struct error *err)
{
    int status = 0;
    for (size_t i = 1; status == 0 && i < count; i++) {
        if (t[i].none)
            continue;
        status = copy_entered(gpu, &t[i], &r[i], err);
        if (status == 0)
            status = note(gpu, r[i].began, &r[i], err);
    }
    if (status == 0)
        status = enter(gpu, &r[0], err);
    for (size_t i = 1; status == 0 && i < count; i++)
        if (!t[i].none)
            status = GPU_CALL(gpu, err, cuStreamWaitEvent,
                              (r[0].stream, r[i].began, 0),
                              "having a copy wait for another");
    return status == 0 ? copy(gpu, &t[0], &r[0], err) : status;
}

/* A copy of each in turn. */
static int take_turns(struct gpu *gpu, const struct transfer *t,
                      struct running *r, size_t count, struct error *err)
{
    unsigned most = 0;
    int status = 0;
    for (size_t i = 0; i < count; i++)
        most = t[i].times > most ? t[i].times : most;
    for (unsigned turn = 0; status == 0 && turn < most; turn++)
        for (size_t i = count; status == 0 && i-- > 0;) {
            /* Of the others the first was made before. */
            const bool more = turn + (i > 0 ? 1 : 0) < t[i].times;
            if (more && !t[i].none)
                status = copy_entered(gpu, &t[i], &r[i], err);
            if (status == 0 && i == 0 && turn + 1 == t[0].times)
                status = note(gpu, r[0].ended, &r[0], err);
        }
    return status;
}

static int queue(struct gpu *gpu, const struct transfer *t, struct running *r,
                 size_t count, struct error *err)
{
    int status = count > 1 ? lead_in(gpu, t, r, count, err) : 0;
    if (status == 0)
        status = note(gpu, r[0].began, &r[0], err);
    if (status == 0)
        status = take_turns(gpu, t, r, count, err);
    for (size_t i = 1; status == 0 && i < count; i++) {
        if (t[i].none)
            continue;
        status = enter(gpu, &r[i], err);
        if (status == 0)
            status = note(gpu, r[i].ended, &r[i], err);
    }
    return status;
}

/* ---- the end ----------------------------------------------------------- */

/* All, the first first; of the others is then asked whether they go on. */
static int await_all(struct gpu *gpu, const struct transfer *t,
                     struct running *r, size_t count, struct error *err)
{
    int status = enter(gpu, &r[0], err);
    if (status == 0)
        status = await(gpu, r[0].ended, err);
    for (size_t i = 1; status == 0 && i < count; i++)
        if (!t[i].none) {
            status = enter(gpu, &r[i], err);
            r[i].went_on =
                status == 0 && DRIVER_ASK(&gpu->driver, cuEventQuery,
                                          (r[i].ended)) == CUDA_NOT_READY;
        }
    for (size_t i = 1; status == 0 && i < count; i++) {
        if (t[i].none)
            continue;
        status = enter(gpu, &r[i], err);
        if (status == 0)
            status = await(gpu, r[i].ended, err);
    }
    return status;
}

/* The events of two contexts cannot be subtracted, and those of one tell more
 * than whether it went on; but they may then be so near that both are right. */
static int tell_other(struct gpu *gpu, const struct running *r,
                      struct transfer *t, size_t i, struct error *err)
{
    float ms = 0;
    t[i].began = 0;
    t[i].ended = t[0].ended + (r[i].went_on ? 1 : -1);
    if (r[i].engine != r[0].engine || t[i].none)
        return 0;
    const int status =
        GPU_CALL(gpu, err, cuEventElapsedTime, (&ms, r[0].began, r[i].ended),
                 "asking when a copy ended");
    if (status == 0 && !isfinite(ms))
        return error_set(err, ERR_DEVICE,
                         "%s: the driver says that a copy ended after %g ms",
                         gpu->driver.who, (double)ms);
    t[i].ended = 1e6 * (double)ms;
    return status;
}

/* From where what is timed of the first begins. */
static int tell(struct gpu *gpu, const struct running *r, struct transfer *t,
                size_t count, struct error *err)
{
    float ms = 0;
    int status = enter(gpu, &r[0], err);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuEventElapsedTime,
                          (&ms, r[0].began, r[0].ended),
                          "asking how long a copy took");
    if (status == 0 && !(isfinite(ms) && ms >= 0))
        return error_set(err, ERR_DEVICE,
                         "%s: the driver says that a copy took %g ms",
                         gpu->driver.who, (double)ms);
    t[0].began = 0;
    t[0].ended = 1e6 * (double)ms;
    for (size_t i = 1; status == 0 && i < count; i++)
        status = tell_other(gpu, r, t, i, err);
    return status;
}

/* What a lost context had is gone with it. */
static void end(struct gpu *gpu, const struct running *r)
{
    struct error ignored;
    if (gpu->device.lost || enter(gpu, r, &ignored) != 0)
        return;
    if (r->began != NULL)
        DRIVER_ASK(&gpu->driver, cuEventDestroy_v2, (r->began));
    if (r->ended != NULL)
        DRIVER_ASK(&gpu->driver, cuEventDestroy_v2, (r->ended));
    if (r->stream != NULL && !r->lent)
        DRIVER_ASK(&gpu->driver, cuStreamDestroy_v2, (r->stream));
}

static int check_entries(const struct gpu *gpu, size_t count, bool apart,
                         struct error *err)
{
    const struct driver *const d = &gpu->driver;
    if (d->cuMemcpyAsync == NULL || d->cuStreamCreate == NULL ||
        d->cuStreamDestroy_v2 == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot time copies: the driver lacks "
                         "cuMemcpyAsync or streams",
                         d->who);
    if (count > 1 && d->cuStreamWaitEvent == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot time copies beside others: the driver "
                         "lacks cuStreamWaitEvent",
                         d->who);
    if (apart && d->cuMemcpyPeerAsync == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s cannot copy between other GPUs: the driver lacks "
                         "cuMemcpyPeerAsync",
                         d->who);
    return 0;
}

/* Says where they go from and to; true if some have neither end here. */
static bool find_ends(const struct gpu *gpu, const struct transfer *t,
                      struct running *r, size_t count)
{
    bool apart = false;
    for (size_t i = 0; i < count; i++) {
        r[i].source = other_gpu(gpu, t[i].from);
        r[i].target = other_gpu(gpu, t[i].to);
        r[i].engine = -1;
        apart |= r[i].source >= 0 && r[i].target >= 0;
    }
    return apart;
}

static int transfer_all(struct gpu *gpu, struct transfer *t, struct running *r,
                        size_t count, struct error *err)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++)
        status = begin(gpu, t, r, count, i, err);
    if (status == 0)
        status = queue(gpu, t, r, count, err);
    if (status == 0)
        status = await_all(gpu, t, r, count, err);
    if (status == 0)
        status = tell(gpu, r, t, count, err);
    return status;
}

int gpu_transfer(struct device *device, struct transfer *transfers,
                 size_t count, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    struct error ignored;
    int status = gpu_enter(gpu, err);
    if (status != 0)
        return status;
    struct running *const running = xcalloc(count, sizeof *running);
    const bool apart = find_ends(gpu, transfers, running, count);
    status = check_entries(gpu, count, apart, err);
    if (status == 0)
        status = transfer_all(gpu, transfers, running, count, err);
    for (size_t i = 0; i < count; i++)
        end(gpu, &running[i]);
    free(running);
    if (!gpu->device.lost)
        gpu_enter(gpu, &ignored);
    return status;
}
