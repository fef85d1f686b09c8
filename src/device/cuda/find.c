/*
 * Which GPUs there are, and which one a word names: a number as the driver
 * counts (after CUDA_VISIBLE_DEVICES), or a UUID as `nvidia-smi -L` shows it,
 * of which the beginning is enough.
 */
#include "device/cuda/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

bool gpu_uuid(const struct driver *driver, int handle, char text[UUID_TEXT_MAX])
{
    unsigned char u[16];
    if (driver->cuDeviceGetUuid_v2 == NULL ||
        (DRIVER_ASK(driver, cuDeviceGetUuid_v2, (u, handle)) != 0 &&
         DRIVER_ASK(driver, cuDeviceGetUuid_v2, (u, handle)) != 0))
        return false;
    snprintf(text, UUID_TEXT_MAX,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10],
             u[11], u[12], u[13], u[14], u[15]);
    return true;
}

/* More than any host has. */
enum { GPUS_MOST = 4096 };

static int count_gpus(const struct driver *driver, int *count,
                      struct error *err)
{
    const int status = DRIVER_CALL(driver, err, cuDeviceGetCount, (count),
                                   "counting the GPUs");
    if (status != 0 || (*count >= 0 && *count <= GPUS_MOST))
        return status;
    return error_set(err, ERR_DEVICE,
                     "%s: the driver says that there are %d GPUs", driver->who,
                     *count);
}

int gpu_is_there(struct error *err)
{
    if (err->code == ERR_NO_DEVICE)
        err->code = ERR_DEVICE;
    return err->code;
}

static int handle_of(const struct driver *driver, int ordinal, int *handle,
                     struct error *err)
{
    const int status = DRIVER_CALL(driver, err, cuDeviceGet, (handle, ordinal),
                                   "opening GPU %d", ordinal);
    return status != 0 ? gpu_is_there(err) : 0;
}

/* What the user may have forgotten that hides GPUs. */
static const char *visible_devices(void)
{
    const char *const visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible != NULL ? visible : "not set";
}

static int find_number(const char *what, int count, int *ordinal,
                       struct error *err)
{
    const unsigned long number = strtoul(what, NULL, 10);
    if (number >= (unsigned long)count)
        return error_set(err, ERR_NO_DEVICE,
                         "there is no cuda:%s: the driver shows %d GPU%s, "
                         "counted from 0 (CUDA_VISIBLE_DEVICES: %s)",
                         what, count, count == 1 ? "" : "s", visible_devices());
    *ordinal = (int)number;
    return 0;
}

static bool uuid_begins(const struct driver *driver, int ordinal,
                        const char *beginning)
{
    char uuid[UUID_TEXT_MAX];
    int handle;
    struct error ignored;
    return handle_of(driver, ordinal, &handle, &ignored) == 0 &&
           gpu_uuid(driver, handle, uuid) &&
           strncasecmp(uuid, beginning, strlen(beginning)) == 0;
}

static int find_uuid(const struct driver *driver, const char *what, int count,
                     int *ordinal, struct error *err)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        if (uuid_begins(driver, i, what + strlen("GPU-"))) {
            *ordinal = i;
            found++;
        }
    if (found == 1)
        return 0;
    return error_set(err, ERR_NO_DEVICE,
                     "the UUIDs of %d GPUs begin with '%s', and one must; "
                     "`nvidia-smi -L` lists them",
                     found, what);
}

static int find_ordinal(const struct driver *driver, const char *what,
                        int count, int *ordinal, struct error *err)
{
    if (what[strspn(what, "0123456789")] == '\0')
        return find_number(what, count, ordinal, err);
    if (strncasecmp(what, "GPU-", 4) == 0 || strncasecmp(what, "MIG-", 4) == 0)
        return find_uuid(driver, what, count, ordinal, err);
    return error_set(err, ERR_NO_DEVICE,
                     "cuda:%s names no GPU: after the colon comes a number, "
                     "GPU-… or MIG-… as `nvidia-smi -L` lists them",
                     what);
}

int gpu_find(const struct driver *driver, const char *what, int *ordinal,
             int *handle, struct error *err)
{
    int count = 0;
    int status = count_gpus(driver, &count, err);
    if (status == 0)
        status = find_ordinal(driver, what, count, ordinal, err);
    return status != 0 ? status : handle_of(driver, *ordinal, handle, err);
}

static struct device_entry *add_entry(struct device_entry **entries,
                                      size_t *count)
{
    *entries = xreallocarray(*entries, *count + 1, sizeof **entries);
    struct device_entry *const entry = &(*entries)[(*count)++];
    memset(entry, 0, sizeof *entry);
    return entry;
}

static int attribute(const struct driver *driver, int handle, int attribute)
{
    int value = 0;
    return DRIVER_ASK(driver, cuDeviceGetAttribute,
                      (&value, attribute, handle)) == 0
               ? value
               : 0;
}

static void fill_entry(const struct driver *driver, int handle,
                       struct device_entry *entry)
{
    size_t bytes = 0;
    DRIVER_ASK(driver, cuDeviceTotalMem_v2, (&bytes, handle));
    if (DRIVER_ASK(driver, cuDeviceGetName,
                   (entry->name, (int)sizeof entry->name, handle)) != 0)
        snprintf(entry->name, sizeof entry->name, "NVIDIA GPU");
    library_word(entry->name, sizeof entry->name);
    snprintf(
        entry->note, sizeof entry->note, "compute capability %d.%d, %.1f GiB%s",
        attribute(driver, handle, CUDA_CC_MAJOR),
        attribute(driver, handle, CUDA_CC_MINOR), (double)bytes / (1 << 30),
        attribute(driver, handle, CUDA_COMPUTE_MODE) == CUDA_PROHIBITED
            ? "; cannot be used: prohibited compute mode"
            : "");
}

static int list_gpus(const struct driver *driver, struct device_entry **entries,
                     size_t *count, struct error *err)
{
    int gpus = 0, handle;
    int status = count_gpus(driver, &gpus, err);
    for (int i = 0; status == 0 && i < gpus; i++) {
        status = handle_of(driver, i, &handle, err);
        if (status != 0)
            break;
        struct device_entry *const entry = add_entry(entries, count);
        snprintf(entry->spec, sizeof entry->spec, "cuda:%d", i);
        fill_entry(driver, handle, entry);
    }
    return status;
}

/* A driver that is there and does not work is listed with its reason. */
static void list_broken(struct device_entry **entries, size_t *count,
                        const struct error *why)
{
    struct device_entry *const entry = add_entry(entries, count);
    snprintf(entry->spec, sizeof entry->spec, "cuda");
    snprintf(entry->name, sizeof entry->name, "NVIDIA driver");
    snprintf(entry->note, sizeof entry->note, "cannot be used: %.200s",
             why->text);
}

/* Lists in a memory of its own, which stays as it is if that is left. */
struct lister {
    struct gpu gpu;
    struct device_entry *entries;
    size_t count;
};

static int list_all(void *argument, struct error *err)
{
    struct lister *const l = argument;
    struct driver *const driver = &l->gpu.driver;
    int status = driver_open(driver, err);
    if (status != 0)
        return status;
    status = list_gpus(driver, &l->entries, &l->count, err);
    driver_close(driver);
    return status;
}

static int list_once(struct device_entry **entries, size_t *count,
                     struct error *err)
{
    struct lister *const l = xcalloc(1, sizeof *l);
    int status;
    snprintf(l->gpu.driver.who, sizeof l->gpu.driver.who, "cuda");
    if (!gpu_aside(&l->gpu.device, list_all, l, &status, err))
        return status;
    aside_end(l->gpu.aside);
    for (size_t i = 0; i < l->count; i++)
        *add_entry(entries, count) = l->entries[i];
    free(l->entries);
    free(l);
    return status;
}

int gpu_list(struct device_entry **entries, size_t *count, struct error *err)
{
    const size_t before = *count;
    int status = list_once(entries, count, err);
    if (status != 0 && status != ERR_DEADLINE) {
        *count = before;
        status = list_once(entries, count, err);
    }
    if (status != 0 && status != ERR_NO_DEVICE)
        list_broken(entries, count, err);
    return 0;
}
