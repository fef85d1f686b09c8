#include "device/cuda/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

/* Larger than any cubin of ours by far: a file above it is not one. */
enum { FILE_MOST = 64 << 20 };

/* A word of 13 letters and three numbers of 16 digits, each followed by one
 * byte. */
enum { HEADING_LENGTH = 14 + 3 * 17 };

static char *folder_of_user(void)
{
    const char *const cache = getenv("XDG_CACHE_HOME");
    /* The standard says to ignore a relative path. */
    if (cache != NULL && cache[0] == '/')
        return xasprintf("%s/sonde", cache);
    const char *const home = getenv("HOME");
    if (home != NULL && home[0] == '/')
        return xasprintf("%s/.cache/sonde", home);
    return NULL;
}

/* Folders that are there already, or cannot be made, show when a file is. */
static void make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

void cache_open(struct cache *cache, bool off)
{
    cache->folder = off ? NULL : folder_of_user();
    if (cache->folder != NULL)
        make_folder(cache->folder);
}

void cache_close(struct cache *cache)
{
    free(cache->folder);
    cache->folder = NULL;
}

static char *path_of(const struct cache *cache, const struct buf *key)
{
    return xasprintf("%s/%016" PRIx64 ".cubin", cache->folder,
                     hash_bytes(HASH_START, key->data, key->length));
}

/* The heading that belongs to a key and a payload, of HEADING_LENGTH bytes. */
static void heading_of(char heading[HEADING_LENGTH + 1], size_t key_length,
                       const void *payload, size_t length)
{
    snprintf(heading, HEADING_LENGTH + 1,
             "sonde-cubin-1 %016zx %016zx %016" PRIx64 "\n", key_length, length,
             hash_bytes(HASH_START, payload, length));
}

/* Nothing is parsed: given the key, the file's length tells the payload's,
 * and the payload tells what the heading must be. */
static bool take_payload(const struct buf *file, const struct buf *key,
                         struct buf *payload)
{
    const size_t before = HEADING_LENGTH + key->length;
    if (file->length <= before)
        return false;
    const char *const data = file->data + before;
    const size_t length = file->length - before;
    char heading[HEADING_LENGTH + 1];
    heading_of(heading, key->length, data, length);
    if (memcmp(file->data, heading, HEADING_LENGTH) != 0 ||
        memcmp(file->data + HEADING_LENGTH, key->data, key->length) != 0)
        return false;
    buf_append(payload, data, length);
    return true;
}

bool cache_read(const struct cache *cache, const struct buf *key,
                struct buf *payload)
{
    if (cache->folder == NULL)
        return false;
    char *const path = path_of(cache, key);
    struct buf file = {0};
    struct error ignored;
    const bool found = file_read(path, FILE_MOST, &file, &ignored) == 0 &&
                       take_payload(&file, key, payload);
    buf_free(&file);
    free(path);
    return found;
}

void cache_write(const struct cache *cache, const struct buf *key,
                 const void *payload, size_t length)
{
    if (cache->folder == NULL)
        return;
    char heading[HEADING_LENGTH + 1];
    heading_of(heading, key->length, payload, length);
    struct buf file = {0};
    buf_append(&file, heading, HEADING_LENGTH);
    buf_append(&file, key->data, key->length);
    buf_append(&file, payload, length);
    char *const path = path_of(cache, key);
    struct error ignored;
    file_write(path, file.data, file.length, &ignored);
    free(path);
    buf_free(&file);
}
