/*
 * The address space of a simulated GPU: allocations with addresses of their
 * own, backed by host pages that come into being when they are touched, so
 * that many GiB can be allocated on a small host.
 */
#ifndef SONDE_DEVICE_SIM_MEMORY_MEMORY_H
#define SONDE_DEVICE_SIM_MEMORY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Pieces of `bytes`, `stride` apart, that are one memory; mostly one piece. */
struct region {
    uint64_t address, bytes;
    unsigned char *host;
    uint64_t stride, pieces;
    uint32_t *only; /* those that are there, which ascend; NULL: all */
    size_t only_count;
    uint64_t physical; /* the address of the first piece */
    unsigned place;    /* enum device_place: where it lies; 0: on the device */
};

struct memory {
    uint64_t capacity, used;
    uint64_t first; /* address that is given */
    struct region *regions; /* by address */
    size_t count;
    struct region last; /* the piece found last; bytes 0: none */
};

void memory_init(struct memory *memory, uint64_t capacity);
void memory_free_all(struct memory *memory);

/*
 * An allocation of zeros.  Its address is aligned to its size rounded up to a
 * power of two, at least 2 MiB and at most 1 GiB; freed addresses are used
 * again.
 */
int memory_allocate(struct memory *memory, uint64_t bytes, uint64_t *address,
                    struct error *err);
void memory_release(struct memory *memory, uint64_t address);
/* … that is there at `count` addresses, `stride` apart; it is released by the
 * first. */
int memory_map(struct memory *memory, uint64_t bytes, uint64_t stride,
               uint64_t count, uint64_t *address, struct error *err);

/* Only these of its addresses are; the list, of malloc, is the memory's then.
 */
void memory_only(struct memory *memory, uint64_t address, uint32_t *only,
                 size_t count);

/* … that lies elsewhere, and takes nothing of the device's. */
int memory_allocate_at(struct memory *memory, unsigned place, uint64_t bytes,
                       uint64_t *address, struct error *err);

/* The slow way of memory_at, which also remembers the region. */
unsigned char *memory_find(struct memory *memory, uint64_t address,
                           uint64_t bytes);

/* Where a byte is, of all its addresses the first; what is not of an allocation
 * has one. */
uint64_t memory_physical(struct memory *memory, uint64_t address);

/* Host bytes behind [address, address + bytes); NULL if that does not lie in
 * one allocation. */
static inline unsigned char *memory_at(struct memory *memory, uint64_t address,
                                       uint64_t bytes)
{
    const uint64_t offset = address - memory->last.address;
    if (offset < memory->last.bytes && bytes <= memory->last.bytes - offset)
        return memory->last.host + offset;
    return memory_find(memory, address, bytes);
}

#endif
