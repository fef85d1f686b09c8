#include "fake_driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

const char *const fake_ptx = ".version 8.0\n.target sm_90\n"
                             ".global .u32 table;\n"
                             ".entry chase()\n{\n    ret;\n}\n";

static void set_path(const char *variable, const char *folder, const char *file)
{
    char *const path = xasprintf("%s/%s", folder, file);
    setenv(variable, path, 1);
    free(path);
}

bool fake_use(void)
{
    char *const folder = testing_fake_driver();
    char *const cache = testing_folder();
    const bool built = folder[0] != '\0';
    set_path("SONDE_LIBCUDA", folder, "libcuda.so.1");
    set_path("SONDE_LIBNVML", folder, "libnvidia-ml.so.1");
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
    free(folder);
    return built;
}

int fake_count(const char *counter)
{
    void *const library = dlopen(getenv("SONDE_LIBCUDA"), RTLD_NOW);
    ck_assert_ptr_nonnull(library);
    const atomic_int *const value = dlsym(library, counter);
    ck_assert_ptr_nonnull(value);
    const int now = atomic_load(value);
    dlclose(library);
    return now;
}

void fake_fail(const char *entry, int code, int call)
{
    char *const wish = call == 0 ? xasprintf("%s:%d", entry, code)
                                 : xasprintf("%s:%d@%d", entry, code, call);
    setenv("FAKE_CUDA_FAIL", wish, 1);
    free(wish);
}

/* Changes the name wherever it stands as a string of its own, so that the
 * loader does not find it. */
static void hide_symbol(struct buf *library, const char *name)
{
    const size_t length = strlen(name) + 2; /* a NUL on either side */
    int found = 0;
    for (size_t at = 0; at + length <= library->length; at++)
        if (library->data[at] == '\0' &&
            memcmp(library->data + at + 1, name, length - 1) == 0) {
            library->data[at + 1] = 'X';
            found++;
        }
    ck_assert_int_gt(found, 0);
}

void fake_without(const char *entry)
{
    struct buf library = {0};
    struct error err;
    char *const folder = testing_folder();
    ASSERT_DONE(file_read(getenv("SONDE_LIBCUDA"), 1 << 26, &library, &err),
                err);
    hide_symbol(&library, entry);
    set_path("SONDE_LIBCUDA", folder, "libcuda.so.1");
    ASSERT_DONE(
        file_write(getenv("SONDE_LIBCUDA"), library.data, library.length, &err),
        err);
    free(folder);
    buf_free(&library);
}

struct device *fake_open(const struct device_options *options)
{
    struct device *device;
    struct error err;
    ASSERT_DONE(device_open("cuda:0", options, &device, NULL, &err), err);
    return device;
}

struct kernel *fake_kernel(struct device *device)
{
    struct error err;
    struct module *module;
    struct kernel *kernel;
    ASSERT_DONE(
        device_load(device, &(struct source){fake_ptx, 4}, &module, &err), err);
    ASSERT_DONE(device_kernel(device, module, "chase", &kernel, &err), err);
    return kernel;
}
