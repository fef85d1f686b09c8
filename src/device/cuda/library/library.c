#include "device/cuda/library/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/aside.h"

static const char *path_of(const struct library *library)
{
    const char *const named = getenv(library->named);
    return named != NULL && named[0] != '\0' ? named : library->path;
}

static int find_entries(const struct library *library, void *handle,
                        void *table, struct error *err)
{
    for (size_t i = 0; i < library->count; i++) {
        const struct library_entry *const entry = &library->entries[i];
        void *const address = dlsym(handle, entry->name);
        if (address == NULL && entry->need == REQUIRED)
            return error_set(err, ERR_DEVICE,
                             "%s has no entry point %s; install a newer NVIDIA "
                             "driver",
                             path_of(library), entry->name);
        /* C has no conversion from void * to a function pointer. */
        memcpy((char *)table + entry->offset, &address, sizeof address);
    }
    return 0;
}

/* Of a file that is not there, or a program that can load none; any other
 * reason is that of a library that is there, a damaged one or one that lacks
 * what it needs. */
static bool is_absent(const char *path, const char *reason)
{
    return strstr(reason, "Dynamic loading not supported") != NULL ||
           (strstr(reason, path) != NULL &&
            strstr(reason, strerror(ENOENT)) != NULL);
}

int library_open(const struct library *library, void **handle, void *table,
                 struct error *err)
{
    const char *const path = path_of(library);
    /* Never unmapped: the driver leaves threads and exit handlers behind. */
    aside_enter(library->owner, "dlopen");
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    aside_leave(0);
    if (*handle == NULL) {
        const char *const reason = dlerror();
        return error_set(err,
                         is_absent(path, reason) ? ERR_NO_DEVICE : ERR_DEVICE,
                         "%s", reason);
    }
    const int status = find_entries(library, *handle, table, err);
    if (status != 0)
        library_close(*handle);
    return status;
}

void library_close(void *handle)
{
    dlclose(handle);
}

void library_word(char *text, size_t room)
{
    text[room - 1] = '\0';
    for (const char *c = text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~') {
            text[0] = '\0';
            return;
        }
}
