#include "device/cuda/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"

/* Larger than any cubin of ours by far: a file above it is not one. */
enum { FILE_MOST = 64 << 20 };

/* A word of 13 letters, two numbers of 16 digits and a hash, each followed by
 * one byte. */
enum { HEADING_LENGTH = 14 + 2 * 17 + SHA256_DIGITS + 1 };

static const char suffix[] = ".cubin";
enum { NAME_LENGTH = SHA256_DIGITS + sizeof suffix - 1 };

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

/* Folders that are there already, or cannot be made, show when it is opened. */
static void make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, S_IRWXU);
        *slash = '/';
    }
    mkdir(path, S_IRWXU);
}

/* One that others could write into may hold what they put there; one that they
 * can only look into is closed to them. */
static int open_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && file_is_private(fd, S_IFDIR) && fchmod(fd, S_IRWXU) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void cache_open(struct cache *cache, bool off)
{
    char *const path = off ? NULL : folder_of_user();
    *cache = (struct cache){.folder = -1};
    if (path == NULL)
        return;
    make_folder(path);
    cache->folder = open_folder(path);
    free(path);
}

void cache_close(struct cache *cache)
{
    if (cache->folder < 0)
        return;
    if (cache->written)
        cache_shrink(cache, CACHE_BYTES_MOST);
    close(cache->folder);
    cache->folder = -1;
}

/* ---- least recently used ------------------------------------------------ */

struct kept {
    char name[NAME_LENGTH + 1];
    uint64_t bytes;
    struct timespec used;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *const x = &((const struct kept *)a)->used;
    const struct timespec *const y = &((const struct kept *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool is_kept(const char *name)
{
    return strlen(name) == NAME_LENGTH &&
           strcmp(name + SHA256_DIGITS, suffix) == 0;
}

/* What an earlier version named, or a run left that was killed while it wrote:
 * nobody looks for it.  A run that writes now has written within a minute. */
static void clear_away(int folder, const char *name, const struct stat *st)
{
    enum { LEFT_S = 60 };
    if ((strstr(name, suffix) != NULL) && time(NULL) - st->st_mtime > LEFT_S)
        unlinkat(folder, name, 0);
}

static struct kept *list_kept(int folder, DIR *files, size_t *count)
{
    struct kept *kept = NULL;
    const struct dirent *entry;
    struct stat st;
    *count = 0;
    while ((entry = readdir(files)) != NULL) {
        if (fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (!is_kept(entry->d_name)) {
            clear_away(folder, entry->d_name, &st);
            continue;
        }
        if ((*count & (*count - 1)) == 0) /* a power of two: it is full */
            kept =
                xreallocarray(kept, *count > 0 ? 2 * *count : 1, sizeof *kept);
        struct kept *const one = &kept[(*count)++];
        memcpy(one->name, entry->d_name, sizeof one->name);
        one->bytes = (uint64_t)st.st_size;
        one->used = st.st_mtim;
    }
    return kept;
}

void cache_shrink(const struct cache *cache, uint64_t most)
{
    const int again = openat(cache->folder, ".", O_RDONLY | O_CLOEXEC);
    DIR *const files = again >= 0 ? fdopendir(again) : NULL;
    if (files == NULL)
        return;
    size_t count;
    uint64_t bytes = 0;
    struct kept *const kept = list_kept(cache->folder, files, &count);
    closedir(files);
    for (size_t i = 0; i < count; i++)
        bytes += kept[i].bytes;
    if (bytes > most)
        qsort(kept, count, sizeof *kept, by_use);
    for (size_t i = 0; i < count && bytes > most; i++) {
        unlinkat(cache->folder, kept[i].name, 0);
        bytes -= kept[i].bytes;
    }
    free(kept);
}

/* ---- one file ------------------------------------------------------------ */

static void name_of(const struct buf *key, char name[NAME_LENGTH + 1])
{
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, key->data, key->length);
    sha256_end(&hash, name);
    memcpy(name + SHA256_DIGITS, suffix, sizeof suffix);
}

/* The heading that belongs to a key and a payload, of HEADING_LENGTH bytes: the
 * lengths are hashed, too, lest the end of one be the start of the other. */
static void heading_of(char heading[HEADING_LENGTH + 1], const struct buf *key,
                       const void *payload, size_t length)
{
    struct sha256 hash;
    const int start =
        snprintf(heading, HEADING_LENGTH + 1, "sonde-cubin-2 %016zx %016zx ",
                 key->length, length);
    sha256_start(&hash);
    sha256_add(&hash, heading, (size_t)start);
    sha256_add(&hash, key->data, key->length);
    sha256_add(&hash, payload, length);
    sha256_end(&hash, heading + start);
    memcpy(heading + HEADING_LENGTH - 1, "\n", 2);
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
    heading_of(heading, key, data, length);
    if (memcmp(file->data, heading, HEADING_LENGTH) != 0 ||
        memcmp(file->data + HEADING_LENGTH, key->data, key->length) != 0)
        return false;
    buf_append(payload, data, length);
    return true;
}

bool cache_read(const struct cache *cache, const struct buf *key,
                struct buf *payload)
{
    if (cache->folder < 0)
        return false;
    char name[NAME_LENGTH + 1];
    name_of(key, name);
    struct buf file = {0};
    const bool found =
        file_read_private(cache->folder, name, FILE_MOST, &file) &&
        take_payload(&file, key, payload);
    buf_free(&file);
    return found;
}

void cache_write(struct cache *cache, const struct buf *key,
                 const void *payload, size_t length)
{
    if (cache->folder < 0)
        return;
    char heading[HEADING_LENGTH + 1], name[NAME_LENGTH + 1];
    heading_of(heading, key, payload, length);
    name_of(key, name);
    struct buf file = {0};
    buf_append(&file, heading, HEADING_LENGTH);
    buf_append(&file, key->data, key->length);
    buf_append(&file, payload, length);
    if (file_write_private(cache->folder, name, file.data, file.length))
        cache->written = true;
    buf_free(&file);
}
