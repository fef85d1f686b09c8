/*
 * Calls of the C library that fail: FAIL names one (malloc, write, fsync,
 * rename, mmap), FAIL_AT the call of it that fails, from 1, or with FAIL_ON set
 * all from there on, FAIL_ERRNO what it says.  FAIL_COUNT names a file into
 * which goes how many there were.  Loaded before the C library (LD_PRELOAD).
 *
 * mmap is what the program itself asks for: malloc's own calls stay within the
 * library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static const char *which = "";
static long at, number;
static int on;
static atomic_long calls;

__attribute__((constructor)) static void begin(void)
{
    const char *const fail = getenv("FAIL"), *const first = getenv("FAIL_AT");
    const char *const code = getenv("FAIL_ERRNO");
    at = first != NULL ? atol(first) : 0;
    number = code != NULL ? atol(code) : ENOSPC;
    on = getenv("FAIL_ON") != NULL;
    which = fail != NULL ? fail : "";
    atomic_store(&calls, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *const path = getenv("FAIL_COUNT");
    const int fd =
        path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    char text[32];
    const int length =
        snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    if (fd >= 0)
        syscall(SYS_write, fd, text, (size_t)length);
}

static int fails(const char *name, int code)
{
    if (strcmp(which, name) != 0)
        return 0;
    const long call = atomic_fetch_add(&calls, 1) + 1;
    if (at == 0 || call < at || (call > at && !on))
        return 0;
    errno = code;
    return 1;
}

void *malloc(size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_realloc(old, size);
}

ssize_t write(int fd, const void *data, size_t length)
{
    if (fd > 2 && fails("write", (int)number))
        return -1;
    return syscall(SYS_write, fd, data, length);
}

int fsync(int fd)
{
    return fails("fsync", (int)number) ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    return fails("rename", (int)number)
               ? -1
               : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

void *mmap(void *near, size_t length, int rights, int flags, int fd, off_t from)
{
    if (fails("mmap", ENOMEM))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, near, length, rights, flags, fd, from);
}
