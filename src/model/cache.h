/*
 * A set-associative cache as a data structure: which lines it holds, and what
 * an access does to it.  The simulator times GPUs with it, and the analysis
 * explains measured hits and misses with it; a TLB is one whose line is a page.
 *
 * Sets may hold unequal numbers of ways.  The index of a line is, by default,
 * its number modulo the number of sets; or a list of index bits, low bit
 * first, each the XOR of some address bits; or, with unequal sets, the line
 * number modulo the total number of entries, dealt to the sets in rounds
 * (0 1 2 … 0 1 2 …) that skip sets which are full: 65 consecutive pages so
 * fill a TLB of 17 + 6 × 8 (Mei 2014, figure 10).  Sets may lie in slices, of
 * which the address chooses one; the index is that within the slice then.
 *
 * A line is looked up whole and filled by sector: a miss brings in one sector,
 * and a present line without the sector is a miss that evicts nothing.  Empty
 * ways are filled first, lowest first.
 *
 * Beside all sets there may be a victim buffer (Jouppi 1990): what a set loses
 * goes there, and the oldest of it is lost.  A line that is found there goes
 * back into its set, and what that loses takes its place.
 */
#ifndef SONDE_MODEL_CACHE_H
#define SONDE_MODEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"

/*
 * X(id, name): which way of a full set a new line takes.
 *   lru       the least recently used
 *   lru_midpoint  as lru, but a line comes in behind those of the set's last
 *             `behind` hits, and before all others
 *   fifo      the longest there
 *   plru      tree of bits that point away from what was used; ways 2^k
 *   nru       one bit a way, set on use; the victim is the lowest way whose
 *             bit is clear; when all are set, all but the newest are cleared
 *   rrip      an age a way (struct cache_rrip); the victim is the lowest way of
 *             the greatest age, up to which all grow alike if none is there
 *   random    any way alike
 *   weighted  way w with chance weights[w] / sum
 */
#define CACHE_POLICIES(X)                                                      \
    X(POLICY_LRU, "lru")                                                       \
    X(POLICY_LRU_MIDPOINT, "lru_midpoint")                                     \
    X(POLICY_FIFO, "fifo")                                                     \
    X(POLICY_PLRU, "plru")                                                     \
    X(POLICY_NRU, "nru")                                                       \
    X(POLICY_RRIP, "rrip")                                                     \
    X(POLICY_RANDOM, "random")                                                 \
    X(POLICY_WEIGHTED, "weighted")

enum cache_policy {
#define X(id, name) id,
    CACHE_POLICIES(X)
#undef X
        POLICY_COUNT
};

const char *cache_policy_name(enum cache_policy policy);
/* POLICY_COUNT when there is none of that name. */
enum cache_policy cache_policy_find(const char *name);
/* What it replaces is drawn by lot. */
bool cache_by_chance(enum cache_policy policy);
/* As many loads of different lines as a set has ways may leave it in several
 * states, by what was in it before. */
bool cache_lasts(enum cache_policy policy);
/* … and so may as many misses. */
bool cache_lasts_misses(enum cache_policy policy);
/* Using the newest line once more makes a difference. */
bool cache_counts_uses(enum cache_policy policy);

/* Ages of POLICY_RRIP: the greatest, that of a line which comes in, and that of
 * one which is used again. */
struct cache_rrip {
    unsigned most, insert, hit; /* the others are at most `most`, that 255 */
};

/* Equal slices, modulo × 2^bit_count of them, of equal sets each: an address
 * belongs to slice (address >> from_bit) mod modulo, plus modulo times the
 * number whose bits, lowest first, are XORs. */
struct cache_slices {
    uint64_t modulo; /* 0: no slices */
    unsigned from_bit;
    uint64_t *bits; /* masks of address bits; may be NULL */
    size_t bit_count;
};

/* Entries of a victim buffer: it is searched one by one. */
enum { CACHE_SPARE_MOST = 64 };

/* What a cache is; everything that the profile says of it. */
struct cache_shape {
    uint64_t line, sector; /* bytes; sector divides line */
    size_t sets;
    uint32_t *set_ways;   /* ways of each set; `sets` of them */
    uint64_t *index_bits; /* masks of address bits, low index bit first; NULL
                             for the default index */
    size_t index_bit_count;
    struct cache_slices slices;
    enum cache_policy policy;
    double *weights;        /* of each way, POLICY_WEIGHTED only */
    struct cache_rrip rrip; /* POLICY_RRIP only */
    unsigned behind;        /* POLICY_LRU_MIDPOINT only: hits */
    unsigned spare;         /* entries of the victim buffer; 0: none */
    /* Unequal sets only: the entry, below all ways, that line 0 is dealt to. */
    uint64_t dealt_from;
    /* It has what one set lost: the first line that another loses empties it,
     * and is lost. */
    bool spare_of_one;
    bool evict_first, evict_last; /* it obeys CACHE_KEEP_SHORT, _LONG */
};

/* Of one slice; of all if there are none. */
size_t cache_slice_sets(const struct cache_shape *shape);
/* Bytes that fit: line × the ways of all sets. */
uint64_t cache_shape_bytes(const struct cache_shape *shape);
/* True if all sets have as many ways. */
bool cache_shape_even(const struct cache_shape *shape);
/* ERR_FILE with a sentence if no such cache can be. */
int cache_shape_check(const struct cache_shape *shape, struct error *err);
/* Deep copy, and its end. */
struct cache_shape cache_shape_copy(const struct cache_shape *shape);
void cache_shape_free(struct cache_shape *shape);

struct cache;

/* The shape is copied; it must pass cache_shape_check. */
struct cache *cache_new(const struct cache_shape *shape, uint64_t seed);
void cache_free(struct cache *cache);
/* Forgets every line; the random sequence goes on. */
void cache_clear(struct cache *cache);
/* Forgets the lines that touch [address, address + bytes). */
void cache_drop(struct cache *cache, uint64_t address, uint64_t bytes);

enum cache_result {
    CACHE_HIT,
    CACHE_SECTOR_MISS, /* the line is there, the sector is not */
    CACHE_MISS,
};

/* Looks up and, on a miss, fills. */
enum cache_result cache_access(struct cache *cache, uint64_t address);
/* A further sector that the access before asked for, too: of the same line it
 * is no further use, which a policy would count. */
enum cache_result cache_access_more(struct cache *cache, uint64_t address);
/* For how long a line shall stay: the victim of a full set is one that shall
 * stay short, if there is one, else one that need not stay long, and among
 * equals the policy's, or else the lowest (lru, fifo: oldest).  What a cache
 * does not obey is as is. */
enum cache_keep {
    CACHE_KEEP_AS_IS, /* a new line: normal */
    CACHE_KEEP_SHORT,
    CACHE_KEEP_NORMAL,
    CACHE_KEEP_LONG
};
/* As cache_access, by one who says so. */
enum cache_result cache_access_as(struct cache *cache, uint64_t address,
                                  enum cache_keep keep);
/* Its model is larger than what is nearest to the host's processor. */
bool cache_shape_large(const struct cache_shape *shape);
/* Changes nothing: the address will be accessed soon, after others, and the
 * host's memory begins to bring what that needs. */
void cache_expect(const struct cache *cache, uint64_t address);
/* Looks up and changes nothing. */
bool cache_holds(const struct cache *cache, uint64_t address);
size_t cache_set_of(const struct cache *cache, uint64_t address);

#endif
