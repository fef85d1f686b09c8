/*
 * Regions are kept sorted by address.  A new one goes to the lowest aligned
 * gap that holds it, so addresses depend on the sequence of calls alone and
 * runs repeat.  The host reserves address space without committing memory.
 */
#include "device/sim/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/num.h"

/* Far from zero, so that a small number used as an address is an error, and
 * a multiple of the largest alignment. */
#define FIRST_ADDRESS ((uint64_t)1 << 40)

/* Memory is aligned by its bytes, to so many bits; aliases to all, so that
 * their addresses differ in lower bits alone. */
enum { PAGE_SHIFT = 21, ALIGN_SHIFT_MAX = 30, ALIAS_SHIFT_MAX = 46 };

void memory_init(struct memory *memory, uint64_t capacity)
{
    memset(memory, 0, sizeof *memory);
    memory->capacity = capacity;
    memory->first = FIRST_ADDRESS;
}

void memory_free_all(struct memory *memory)
{
    while (memory->count > 0)
        memory_release(memory, memory->regions[memory->count - 1].address);
    free(memory->regions);
    memory->regions = NULL;
}

/* Bytes of addresses from the first to the end of the last piece. */
static uint64_t span_of(const struct region *r)
{
    return (r->pieces - 1) * r->stride + r->bytes;
}

static uint64_t alignment_for(uint64_t bytes, unsigned most)
{
    unsigned shift = PAGE_SHIFT;
    while (shift < most && ((uint64_t)1 << shift) < bytes)
        shift++;
    return (uint64_t)1 << shift;
}

static uint64_t align_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) & ~(to - 1);
}

/* Where an allocation goes: its address and its place among the regions. */
static uint64_t find_gap(const struct memory *memory, const struct region *r,
                         size_t *place)
{
    const uint64_t bytes = span_of(r);
    const uint64_t align = alignment_for(
        bytes, r->pieces > 1 ? ALIAS_SHIFT_MAX : ALIGN_SHIFT_MAX);
    uint64_t at = memory->first;
    size_t i;
    for (i = 0; i < memory->count; i++) {
        const struct region *const next = &memory->regions[i];
        if (next->address >= at && next->address - at >= bytes)
            break;
        at = align_up(next->address + span_of(next), align);
    }
    *place = i;
    return at;
}

/* What an allocation takes from the device: whole pages. */
static uint64_t footprint(uint64_t bytes)
{
    return align_up(bytes, (uint64_t)1 << PAGE_SHIFT);
}

static void insert_region(struct memory *memory, size_t place,
                          struct region region)
{
    memory->regions = xreallocarray(memory->regions, memory->count + 1,
                                    sizeof *memory->regions);
    memmove(&memory->regions[place + 1], &memory->regions[place],
            (memory->count - place) * sizeof *memory->regions);
    memory->regions[place] = region;
    memory->count++;
}

int memory_allocate(struct memory *memory, uint64_t bytes, uint64_t *address,
                    struct error *err)
{
    return memory_map(memory, bytes, bytes, 1, address, err);
}

/* Finds host pages and addresses for a region. */
static int make_region(struct memory *memory, struct region region,
                       uint64_t *address, struct error *err)
{
    const uint64_t bytes = region.bytes;
    void *const host = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED)
        return error_set(err, ERR_DEVICE_MEMORY,
                         "the host has no address space for %llu simulated "
                         "bytes; ask for less",
                         (unsigned long long)bytes);
    size_t place;
    region.host = host;
    *address = find_gap(memory, &region, &place);
    region.address = region.physical = *address;
    insert_region(memory, place, region);
    return 0;
}

int memory_map(struct memory *memory, uint64_t bytes, uint64_t stride,
               uint64_t count, uint64_t *address, struct error *err)
{
    if (bytes == 0)
        return error_set(err, ERR_USAGE, "an allocation of 0 bytes");
    const uint64_t left = memory->capacity - memory->used;
    if (bytes > left || footprint(bytes) > left)
        return error_set(err, ERR_DEVICE_MEMORY,
                         "%llu bytes do not fit into the %llu bytes that are "
                         "free on the device",
                         (unsigned long long)bytes, (unsigned long long)left);
    const struct region region = {
        .bytes = bytes, .stride = stride, .pieces = count};
    if (make_region(memory, region, address, err) != 0)
        return err->code;
    memory->used += footprint(bytes);
    return 0;
}

int memory_allocate_at(struct memory *memory, unsigned place, uint64_t bytes,
                       uint64_t *address, struct error *err)
{
    if (bytes == 0)
        return error_set(err, ERR_USAGE, "an allocation of 0 bytes");
    const struct region region = {
        .bytes = bytes, .stride = bytes, .pieces = 1, .place = place};
    return make_region(memory, region, address, err);
}

/* The region that begins there; `count`: none does. */
static size_t find_region(const struct memory *memory, uint64_t address)
{
    size_t i = 0;
    while (i < memory->count && memory->regions[i].address != address)
        i++;
    return i;
}

void memory_only(struct memory *memory, uint64_t address, uint32_t *only,
                 size_t count)
{
    struct region *const r = &memory->regions[find_region(memory, address)];
    r->only = only;
    r->only_count = count;
}

void memory_release(struct memory *memory, uint64_t address)
{
    const size_t i = find_region(memory, address);
    if (i == memory->count)
        return;
    munmap(memory->regions[i].host, memory->regions[i].bytes);
    free(memory->regions[i].only);
    if (memory->regions[i].place == 0)
        memory->used -= footprint(memory->regions[i].bytes);
    memory->count--;
    memmove(&memory->regions[i], &memory->regions[i + 1],
            (memory->count - i) * sizeof *memory->regions);
    memory->last.bytes = 0;
}

static bool has_piece(const struct region *r, uint64_t nth)
{
    const uint32_t key = (uint32_t)nth;
    return nth < r->pieces &&
           (r->only == NULL || bsearch(&key, r->only, r->only_count, sizeof key,
                                       u32_compare) != NULL);
}

unsigned char *memory_find(struct memory *memory, uint64_t address,
                           uint64_t bytes)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memory->regions[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    struct region piece = memory->regions[low - 1];
    const uint64_t nth =
        piece.pieces > 1 ? (address - piece.address) / piece.stride : 0;
    piece.address += nth * piece.stride;
    const uint64_t offset = address - piece.address;
    if (!has_piece(&piece, nth) || offset >= piece.bytes ||
        bytes > piece.bytes - offset)
        return NULL;
    memory->last = piece;
    return piece.host + offset;
}

uint64_t memory_physical(struct memory *memory, uint64_t address)
{
    if (memory_at(memory, address, 1) == NULL)
        return address;
    return memory->last.physical + (address - memory->last.address);
}
