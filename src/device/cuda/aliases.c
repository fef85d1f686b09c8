/*
 * One piece of memory mapped at many addresses, by the driver's management of
 * virtual memory (CUDA 10.2 on).  Mapping a piece takes it about 1.5 µs, giving
 * access to a range some 70 µs (published of an H100, driver 580.82): pieces
 * that lie side by side are given access to at once.
 *
 * This memory belongs to the process and not to the context, so it is given
 * back piece by piece, whatever became of the context.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/stop.h"
#include "device/cuda/gpu.h"

struct mapping {
    struct mapping *next;
    struct aliases of;
    uint32_t *only;    /* its list, which the mapping keeps; or NULL */
    uint64_t reserved; /* addresses from here on … */
    uint64_t span;     /* … so many bytes; 0: none */
    uint64_t memory;   /* the driver's handle */
    bool made;         /* that is this mapping's own */
    uint64_t mapped;   /* pieces that are */
};

static bool has_entries(const struct driver *d)
{
    return d->cuMemGetAllocationGranularity != NULL &&
           d->cuMemAddressReserve != NULL && d->cuMemAddressFree != NULL &&
           d->cuMemCreate != NULL && d->cuMemRelease != NULL &&
           d->cuMemMap != NULL && d->cuMemUnmap != NULL &&
           d->cuMemSetAccess != NULL;
}

static struct cuda_memory memory_of(const struct gpu *gpu)
{
    return (struct cuda_memory){
        .type = CUDA_MEMORY_PINNED,
        .location = {CUDA_LOCATION_DEVICE, gpu->handle},
    };
}

/* Powers of two, as pages are: the host's smallest, and far above the GPU's
 * largest. */
enum { PAGE_LEAST = 4096, PAGE_MOST = 1 << 30 };

void gpu_ask_mapping(struct gpu *gpu)
{
    const struct cuda_memory memory = memory_of(gpu);
    size_t bytes = 0;
    if (has_entries(&gpu->driver) &&
        DRIVER_ASK(&gpu->driver, cuMemGetAllocationGranularity,
                   (&bytes, &memory, 0)) == 0 &&
        bytes >= PAGE_LEAST && bytes <= PAGE_MOST && (bytes & (bytes - 1)) == 0)
        gpu->device.info.mapping_bytes = bytes;
}

/* Where the piece is for time `n`. */
static uint64_t address_of(const struct mapping *m, uint64_t n)
{
    return m->of.address + (m->only != NULL ? m->only[n] : n) * m->of.stride;
}

/* Gives back what there is, and cannot do anything about a failure.  While a
 * kernel hangs, the driver would wait for it: the end of the process does it.
 */
static void end_mapping(struct gpu *gpu, struct mapping *m)
{
    const struct driver *const d = &gpu->driver;
    if (!gpu->hung) {
        DRIVER_ASK(d, cuCtxSetCurrent, (gpu->context));
        while (m->mapped-- > 0)
            DRIVER_ASK(d, cuMemUnmap, (address_of(m, m->mapped), m->of.bytes));
        if (m->span > 0)
            DRIVER_ASK(d, cuMemAddressFree, (m->reserved, m->span));
        if (m->made)
            DRIVER_ASK(d, cuMemRelease, (m->memory));
    }
    free(m->only);
    free(m);
}

/* Bytes from the first piece to the end of the last. */
static uint64_t extent(const struct aliases *of)
{
    return (of->count - 1) * of->stride + of->bytes;
}

/* The piece that was mapped before, if it is as large; so the first one is kept
 * until the device is closed. */
static int take_piece(struct gpu *gpu, struct mapping *m, struct error *err)
{
    const struct cuda_memory memory = memory_of(gpu);
    if (gpu->piece_bytes == m->of.bytes) {
        m->memory = gpu->piece;
        return 0;
    }
    const int status =
        GPU_CALL(gpu, err, cuMemCreate, (&m->memory, m->of.bytes, &memory, 0),
                 "allocating %llu bytes of GPU memory to be mapped",
                 (unsigned long long)m->of.bytes);
    m->made = status == 0 && gpu->piece_bytes > 0;
    if (status == 0 && !m->made) {
        gpu->piece = m->memory;
        gpu->piece_bytes = m->of.bytes;
    }
    return status;
}

/* Aligned by a power of two no less than its extent: addresses differ from the
 * first one as the distances from it do, bit by bit, and in none above.  As not
 * every driver aligns so far, more is reserved. */
static int reserve(struct gpu *gpu, struct mapping *m, struct error *err)
{
    uint64_t align = 1;
    while (align < extent(&m->of))
        align *= 2;
    const uint64_t span = extent(&m->of) + align;
    int status = take_piece(gpu, m, err);
    const bool taken = status == 0;
    if (taken)
        status = GPU_CALL(
            gpu, err, cuMemAddressReserve, (&m->reserved, span, 0, 0, 0),
            "reserving %llu bytes of addresses", (unsigned long long)span);
    /* Whatever a driver says of addresses that there are not. */
    if (taken && status != 0 && !gpu->device.lost)
        status = err->code = ERR_DEVICE_MEMORY;
    m->span = status == 0 ? span : 0;
    m->of.address = (m->reserved + align - 1) / align * align;
    return status;
}

static int give_access(struct gpu *gpu, uint64_t address, uint64_t bytes,
                       struct error *err)
{
    const struct cuda_access access = {{CUDA_LOCATION_DEVICE, gpu->handle},
                                       CUDA_READ_AND_WRITE};
    return GPU_CALL(gpu, err, cuMemSetAccess, (address, bytes, &access, 1),
                    "allowing access to %llu bytes that were mapped",
                    (unsigned long long)bytes);
}

static int map_piece(struct gpu *gpu, struct mapping *m, struct error *err)
{
    if (stop_requested(gpu->device.ticket))
        return error_set(err, ERR_INTERRUPTED, "mapping memory was stopped");
    const int status =
        GPU_CALL(gpu, err, cuMemMap,
                 (address_of(m, m->mapped), m->of.bytes, 0, m->memory, 0),
                 "mapping memory for time %llu of %llu",
                 (unsigned long long)m->mapped + 1,
                 (unsigned long long)aliases_mapped(&m->of));
    m->mapped += status == 0;
    return status;
}

/* True if the next piece does not lie beside the last one. */
static bool ends_here(const struct mapping *m)
{
    return m->mapped == aliases_mapped(&m->of) ||
           address_of(m, m->mapped) !=
               address_of(m, m->mapped - 1) + m->of.bytes;
}

static int map_all(struct gpu *gpu, struct mapping *m, struct error *err)
{
    uint64_t first = 0; /* of those side by side */
    int status = reserve(gpu, m, err);
    while (status == 0 && m->mapped < aliases_mapped(&m->of)) {
        status = map_piece(gpu, m, err);
        if (status != 0 || !ends_here(m))
            continue;
        status = give_access(gpu, address_of(m, first),
                             (m->mapped - first) * m->of.bytes, err);
        first = m->mapped;
    }
    return status;
}

int gpu_map(struct device *device, struct aliases *aliases, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    int status = gpu_enter(gpu, err);
    if (status != 0)
        return status;
    struct mapping *const m = xcalloc(1, sizeof *m);
    m->of = *aliases;
    m->only = aliases_list(aliases);
    m->of.only = m->only;
    status = map_all(gpu, m, err);
    if (status != 0) {
        end_mapping(gpu, m);
        return status;
    }
    m->next = gpu->mappings;
    gpu->mappings = m;
    aliases->address = m->of.address;
    return 0;
}

void gpu_unmap(struct device *device, struct aliases *aliases)
{
    struct gpu *const gpu = gpu_of(device);
    struct mapping **link = &gpu->mappings;
    while (*link != NULL && (*link)->of.address != aliases->address)
        link = &(*link)->next;
    struct mapping *const m = *link;
    if (m == NULL)
        return;
    *link = m->next;
    end_mapping(gpu, m);
}

void gpu_unmap_all(struct gpu *gpu)
{
    while (gpu->mappings != NULL)
        gpu_unmap(&gpu->device, &gpu->mappings->of);
    if (gpu->piece_bytes > 0 && !gpu->hung)
        DRIVER_ASK(&gpu->driver, cuMemRelease, (gpu->piece));
    gpu->piece_bytes = 0;
}
