#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int file_read(const char *path, size_t most, struct buf *into,
              struct error *err)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        return error_set(err, ERR_FILE, "cannot read %s: %s", path,
                         strerror(errno));
    char chunk[65536];
    size_t got, total = 0;
    int status = 0;
    while (status == 0 && (got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        total += got;
        if (total > most)
            status = error_set(err, ERR_FILE,
                               "%s is larger than the %zu bytes that such a "
                               "file may have",
                               path, most);
        else
            buf_append(into, chunk, got);
    }
    if (status == 0 && ferror(file))
        status = error_set(err, ERR_FILE, "cannot read %s: %s", path,
                           strerror(errno));
    fclose(file);
    return status;
}

/* True if something that is not a regular file (a pipe, a terminal) is there.
 */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        const ssize_t wrote = write(fd, data, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        data += wrote;
        length -= (size_t)wrote;
    }
    return 0;
}

static int cannot_write(const char *path, struct error *err)
{
    return error_set(err, ERR_FILE, "cannot write %s: %s", path,
                     strerror(errno));
}

static int write_in_place(const char *path, const void *data, size_t length,
                          struct error *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot_write(path, err);
    int status = write_all(fd, data, length);
    if (close(fd) != 0)
        status = -1;
    return status == 0 ? 0 : cannot_write(path, err);
}

/* The file that a path leads to, so that a link stays a link; frees. */
static char *target_of(const char *path)
{
    char *const target = realpath(path, NULL);
    return target != NULL ? target : xstrdup(path);
}

static char *temporary_beside(const char *path, int *fd)
{
    char *const name = xasprintf("%s.XXXXXX", path);
    *fd = mkstemp(name);
    return name;
}

/* Fills the open temporary file and puts it in the place of `target`. */
static int fill_and_rename(int fd, const char *name, const char *target,
                           const void *data, size_t length)
{
    int status = write_all(fd, data, length);
    if (fchmod(fd, 0644) != 0)
        status = -1;
    if (close(fd) != 0)
        status = -1;
    if (status == 0)
        status = rename(name, target);
    if (status != 0) {
        const int why = errno;
        unlink(name);
        errno = why;
    }
    return status;
}

int file_write(const char *path, const void *data, size_t length,
               struct error *err)
{
    if (is_special(path))
        return write_in_place(path, data, length, err);
    int fd;
    char *const target = target_of(path);
    char *const name = temporary_beside(target, &fd);
    int status = -1;
    if (fd >= 0)
        status = fill_and_rename(fd, name, target, data, length);
    const int why = errno;
    free(name);
    free(target);
    errno = why;
    return status == 0 ? 0 : cannot_write(path, err);
}

static int special_writable(const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (access(path, W_OK) == 0)
        return 0;
    return cannot_write(path, err);
}

int file_writable(const char *path, struct error *err)
{
    if (is_special(path))
        return special_writable(path, err);
    int fd, status = 0;
    char *const target = target_of(path);
    char *const name = temporary_beside(target, &fd);
    if (fd < 0) {
        status = cannot_write(path, err);
    } else {
        close(fd);
        unlink(name);
    }
    free(name);
    free(target);
    return status;
}
