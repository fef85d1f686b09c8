/* Whole files: read at once, written all or not at all. */
#ifndef SONDE_BASE_FILE_H
#define SONDE_BASE_FILE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Appends the file to `into`; refuses one of more than `most` bytes. */
int file_read(const char *path, size_t most, struct buf *into,
              struct error *err);

/* Writes beside `path` and renames, so that a reader sees the old file or the
 * new one and nothing between; a path that is no regular file (a pipe,
 * /dev/stdout) is written in place. */
int file_write(const char *path, const void *data, size_t length,
               struct error *err);

/* Says now whether file_write could work, without leaving anything. */
int file_writable(const char *path, struct error *err);

#endif
