#include "device/cuda/library/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

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

int library_open(const struct library *library, void **handle, void *table,
                 struct error *err)
{
    /* Never unmapped: the driver leaves threads and exit handlers behind. */
    *handle = dlopen(path_of(library), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (*handle == NULL)
        return error_set(err, ERR_NO_DEVICE, "%s", dlerror());
    const int status = find_entries(library, *handle, table, err);
    if (status != 0)
        library_close(*handle);
    return status;
}

void library_close(void *handle)
{
    dlclose(handle);
}
