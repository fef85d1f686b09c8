/* Whole files: read at once, written all or not at all. */
#ifndef SONDE_BASE_FILE_H
#define SONDE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"

/* Appends the file to `into`; refuses one of more than `most` bytes. */
int file_read(const char *path, size_t most, struct buf *into,
              struct error *err);

/* Writes beside `path` and renames, so that a reader sees the old file or the
 * new one and nothing between, also after a power failure; the mode is that of
 * the old file, else what the umask leaves.  A path that is no regular file (a
 * pipe, /dev/stdout) is written in place. */
int file_write(const char *path, const void *data, size_t length,
               struct error *err);

/* Says now whether file_write could work, without leaving anything. */
int file_writable(const char *path, struct error *err);

/* A file that grows: it takes its place with its first bytes, and `*fd` is for
 * file_append, or -1 where the path is no regular file, which cannot grow.
 * What is appended is there whole or not at all when nothing else befalls the
 * process than its end. */
int file_begin(const char *path, const void *data, size_t length, int *fd,
               struct error *err);
bool file_append(int fd, const void *data, size_t length);

/*
 * Files of one's own in a folder that others may know of: only what is a
 * regular file of this user's that nobody else may write is read, and a link
 * that stands in its place is neither followed nor written through.
 */
/* True of what is of that kind (S_IFREG, S_IFDIR) and such. */
bool file_is_private(int fd, mode_t kind);
/* Appends it whole, and notes that it was used; false if there is none. */
bool file_read_private(int folder, const char *name, size_t most,
                       struct buf *into);
/* Written beside and renamed, for this user alone, and not waited for: what a
 * power failure takes is found by the reader. */
bool file_write_private(int folder, const char *name, const void *data,
                        size_t length);

#endif
