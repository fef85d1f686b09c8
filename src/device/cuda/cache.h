/*
 * Machine code kept on disk, in $XDG_CACHE_HOME/sonde or ~/.cache/sonde, so
 * that a second run assembles nothing.
 *
 * What is loaded runs on the GPU and is believed, so nothing is taken that
 * somebody else may have put there: the folder is this user's and nobody
 * else's (0700), is opened once and never looked up again, and its files are
 * regular ones, no links, and this user's alone (base/file.h).  A file is named
 * by the hash of its key and holds a heading line (lengths and a SHA-256 over
 * key and payload), the whole key, and the payload; on reading all of it is
 * compared with what it must be, so that a damaged file, one cut short by a
 * power failure or a collision of names is the same as no file.  Files appear
 * by rename, so runs may share the folder.  Whatever goes wrong with it, there
 * is no cache then, and nothing worse.
 */
#ifndef SONDE_DEVICE_CUDA_CACHE_H
#define SONDE_DEVICE_CUDA_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The kernels of one default run take some 10 MiB a GPU architecture, driver
 * and version of sonde: room for dozens of these. */
#define CACHE_BYTES_MOST ((uint64_t)512 << 20)

struct cache {
    int folder;          /* -1: no cache */
    atomic_bool written; /* there is more in it than there was */
};

void cache_open(struct cache *cache, bool off);
/* Lets those go that were not used for longest, until CACHE_BYTES_MOST hold
 * what is left. */
void cache_close(struct cache *cache);
/* The same, until `most` do. */
void cache_shrink(const struct cache *cache, uint64_t most);

/* Appends the payload and returns true if it is there, whole. */
bool cache_read(const struct cache *cache, const struct buf *key,
                struct buf *payload);
void cache_write(struct cache *cache, const struct buf *key,
                 const void *payload, size_t length);

#endif
