/*
 * Machine code kept on disk, in $XDG_CACHE_HOME/sonde or ~/.cache/sonde, so
 * that a second run assembles nothing.
 *
 * A file is named by the hash of its key and holds a heading line (lengths
 * and the payload's checksum), the whole key, and the payload; on reading all
 * of it is compared with what it must be, so that a damaged file or a
 * collision of hashes is the same as no file.  Files appear by rename, so runs
 * may share the folder.  Whatever goes wrong with it, there is no cache then,
 * and nothing worse.
 */
#ifndef SONDE_DEVICE_CUDA_CACHE_H
#define SONDE_DEVICE_CUDA_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct cache {
    char *folder; /* NULL: no cache */
};

void cache_open(struct cache *cache, bool off);
void cache_close(struct cache *cache);

/* Appends the payload and returns true if it is there, whole. */
bool cache_read(const struct cache *cache, const struct buf *key,
                struct buf *payload);
void cache_write(const struct cache *cache, const struct buf *key,
                 const void *payload, size_t length);

#endif
