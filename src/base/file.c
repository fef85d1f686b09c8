#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* Appends all that is to be read. */
static int read_all(int fd, const char *path, size_t most, struct buf *into,
                    struct error *err)
{
    char chunk[16384];
    ssize_t got;
    size_t total = 0;
    while ((got = read(fd, chunk, sizeof chunk)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, ERR_FILE, "cannot read %s: %s", path,
                             strerror(errno));
        total += (size_t)got;
        if (total > most)
            return error_set(err, ERR_FILE,
                             "%s is larger than the %zu bytes that such a "
                             "file may have",
                             path, most);
        buf_append(into, chunk, (size_t)got);
    }
    return 0;
}

int file_read(const char *path, size_t most, struct buf *into,
              struct error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, ERR_FILE, "cannot read %s: %s",
                         path[0] != '\0' ? path : "''", strerror(errno));
    const int status = read_all(fd, path, most, into, err);
    close(fd);
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
    if (target == NULL && errno == ENOMEM)
        mem_none();
    return target != NULL ? target : xstrdup(path);
}

/* A new file beside `name` of a folder, with the mode that the process's umask
 * leaves of `mode`; NULL, with errno, if there can be none. */
static char *temporary_beside(int folder, const char *name, mode_t mode,
                              int *fd)
{
    static atomic_uint last;
    /* Names of other processes and of those before are in nobody's way: with
     * the process's number and time a second try is hardly ever needed. */
    for (int tries = 0; tries < 100; tries++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        char *const made =
            xasprintf("%s.%lx-%lx-%x.tmp", name, (unsigned long)getpid(),
                      (unsigned long)now.tv_nsec, atomic_fetch_add(&last, 1));
        *fd =
            openat(folder, made,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (*fd >= 0)
            return made;
        const int why = errno;
        free(made);
        errno = why;
        if (why != EEXIST)
            break;
    }
    return NULL;
}

/* What a power failure must not take.  Where a file system knows no such thing
 * there is nothing to be done. */
static int settle(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS ? 0 : -1;
}

/* The name, too: it stands in the folder.  One that may be written and not
 * read is left to the system. */
static int settle_folder_of(const char *path)
{
    char *const folder = xstrdup(path);
    char *const slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    const int fd =
        open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return 0;
    const int status = settle(fd);
    const int why = errno;
    close(fd);
    errno = why;
    return status;
}

/* Who may read the file that is replaced may read the new one, and no one
 * else. */
static int keep_mode(int fd, const char *target)
{
    struct stat old;
    if (stat(target, &old) != 0)
        return 0;
    /* To another owner's file only the superuser can stay true. */
    if (fchown(fd, old.st_uid, old.st_gid) != 0)
        old.st_mode &= S_IRWXU;
    return fchmod(fd, old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
}

/* Gives up a temporary file, and keeps errno. */
static int give_up(int folder, const char *name)
{
    const int why = errno;
    unlinkat(folder, name, 0);
    errno = why;
    return -1;
}

/* Fills the open temporary file and puts it in the place of `target`. */
static int fill_and_rename(int fd, const char *name, const char *target,
                           const void *data, size_t length)
{
    int status = keep_mode(fd, target);
    if (status == 0)
        status = write_all(fd, data, length);
    if (status == 0)
        status = settle(fd);
    if (close(fd) != 0)
        status = -1;
    if (status == 0)
        status = rename(name, target);
    return status == 0 ? settle_folder_of(target) : give_up(AT_FDCWD, name);
}

enum { MODE_NEW = 0666 }; /* of which the umask takes its part */

int file_write(const char *path, const void *data, size_t length,
               struct error *err)
{
    if (is_special(path))
        return write_in_place(path, data, length, err);
    int fd, status = -1;
    char *const target = target_of(path);
    char *const name = temporary_beside(AT_FDCWD, target, MODE_NEW, &fd);
    if (name != NULL)
        status = fill_and_rename(fd, name, target, data, length);
    const int why = errno;
    free(name);
    free(target);
    errno = why;
    return status == 0 ? 0 : cannot_write(path, err);
}

int file_begin(const char *path, const void *data, size_t length, int *fd,
               struct error *err)
{
    *fd = -1;
    if (is_special(path))
        return 0;
    char *const target = target_of(path);
    char *const name = temporary_beside(AT_FDCWD, target, MODE_NEW, fd);
    int status = name != NULL ? keep_mode(*fd, target) : -1;
    if (status == 0)
        status = write_all(*fd, data, length);
    if (status == 0)
        status = rename(name, target);
    if (status != 0 && name != NULL) {
        close(*fd);
        give_up(AT_FDCWD, name);
        *fd = -1;
    }
    free(name);
    free(target);
    return status == 0 ? 0 : cannot_write(path, err);
}

bool file_append(int fd, const void *data, size_t length)
{
    const off_t before = lseek(fd, 0, SEEK_CUR);
    if (write_all(fd, data, length) == 0)
        return true;
    /* Where even that fails, who reads finds the piece cut short. */
    if (ftruncate(fd, before) == 0)
        lseek(fd, before, SEEK_SET);
    return false;
}

bool file_write_private(int folder, const char *name, const void *data,
                        size_t length)
{
    int fd;
    char *const made = temporary_beside(folder, name, S_IRUSR | S_IWUSR, &fd);
    if (made == NULL)
        return false;
    int status = write_all(fd, data, length);
    if (close(fd) != 0)
        status = -1;
    if (status == 0)
        status = renameat(folder, made, folder, name);
    if (status != 0)
        give_up(folder, made);
    free(made);
    return status == 0;
}

bool file_is_private(int fd, mode_t kind)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind &&
           st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool file_read_private(int folder, const char *name, size_t most,
                       struct buf *into)
{
    /* What is no file may keep whoever opens it waiting. */
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct error ignored;
    const bool read = file_is_private(fd, S_IFREG) &&
                      read_all(fd, name, most, into, &ignored) == 0;
    if (read)
        futimens(fd, NULL); /* used now: the oldest are given up first */
    close(fd);
    return read;
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
    char *const name = temporary_beside(AT_FDCWD, target, MODE_NEW, &fd);
    if (name == NULL) {
        status = cannot_write(path, err);
    } else {
        close(fd);
        unlink(name);
    }
    free(name);
    free(target);
    return status;
}
