/*
 * Device memory, copies and textures.  Memory is always plain device memory:
 * managed memory moves pages while one measures.
 */
#include "base/num.h"
#include "device/cuda/gpu.h"

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

int gpu_memory_free(struct device *device, uint64_t *bytes, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    size_t free_bytes = 0, total = 0;
    int status = gpu_enter(gpu, err);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuMemGetInfo_v2, (&free_bytes, &total),
                          "asking how much memory is free");
    /* No more is free than there is, whatever the driver says. */
    *bytes =
        u64_min(free_bytes, device_told(&gpu->device.info,
                                        PROPERTY_MEMORY_BYTES, free_bytes));
    return status;
}

/* Adds to the driver's words how much there would have been. */
static int refused(struct gpu *gpu, struct error *err)
{
    size_t free_bytes, total;
    if (DRIVER_ASK(&gpu->driver, cuMemGetInfo_v2, (&free_bytes, &total)) != 0)
        return err->code;
    return error_set(err, (enum error_code)err->code,
                     "%s; %.1f MiB of %.1f MiB are free: end what else uses "
                     "the GPU, or ask for less",
                     err->text, mib(free_bytes), mib(total));
}

int gpu_allocate(struct device *device, uint64_t bytes, uint64_t *address,
                 struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    int status = gpu_enter(gpu, err);
    if (status != 0)
        return status;
    *address = 0;
    status = GPU_CALL(gpu, err, cuMemAlloc_v2, (address, bytes),
                      "allocating %llu bytes (%.1f MiB) of GPU memory",
                      (unsigned long long)bytes, mib(bytes));
    status = gpu_given(gpu, status, *address != 0, "cuMemAlloc_v2", err);
    return status == ERR_DEVICE_MEMORY ? refused(gpu, err) : status;
}

void gpu_release(struct device *device, uint64_t address)
{
    struct gpu *const gpu = gpu_of(device);
    struct error ignored;
    if (!gpu_release_host(gpu, address) && gpu_enter(gpu, &ignored) == 0)
        GPU_CALL(gpu, &ignored, cuMemFree_v2, (address), "freeing GPU memory");
}

int gpu_copy_in(struct device *device, uint64_t to, const void *from,
                size_t bytes, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const int status = gpu_enter(gpu, err);
    if (status != 0 || bytes == 0)
        return status;
    return GPU_CALL(gpu, err, cuMemcpyHtoD_v2, (to, from, bytes),
                    "copying %zu bytes to the GPU", bytes);
}

int gpu_copy_out(struct device *device, void *to, uint64_t from, size_t bytes,
                 struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const int status = gpu_enter(gpu, err);
    if (status != 0 || bytes == 0)
        return status;
    return GPU_CALL(gpu, err, cuMemcpyDtoH_v2, (to, from, bytes),
                    "copying %zu bytes from the GPU", bytes);
}

static int create_texture(struct gpu *gpu, uint64_t address, uint64_t bytes,
                          uint64_t *object, struct error *err)
{
    const struct cuda_resource resource = {
        .type = CUDA_RESOURCE_LINEAR,
        .of.linear = {address, CUDA_FORMAT_UINT32, 1, bytes},
    };
    const struct cuda_texture texture = {
        .address_mode = {CUDA_ADDRESS_CLAMP, CUDA_ADDRESS_CLAMP,
                         CUDA_ADDRESS_CLAMP},
        .filter_mode = CUDA_FILTER_POINT,
        .flags = CUDA_READ_AS_INTEGER,
    };
    return GPU_CALL(gpu, err, cuTexObjectCreate,
                    (object, &resource, &texture, NULL),
                    "making a texture of %llu bytes (of at most %lld texels)",
                    (unsigned long long)bytes,
                    (long long)gpu->device.info.value[PROPERTY_TEXTURE_WIDTH]);
}

int gpu_texture_open(struct device *device, uint64_t address, uint64_t bytes,
                     struct texture *texture, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    *texture = (struct texture){0};
    const int status = gpu_enter(gpu, err);
    if (status != 0)
        return status;
    if (gpu->driver.cuTexObjectCreate == NULL ||
        gpu->driver.cuTexObjectDestroy == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s has no textures: the driver lacks "
                         "cuTexObjectCreate or cuTexObjectDestroy",
                         gpu->driver.who);
    return create_texture(gpu, address, bytes, &texture->object, err);
}

void gpu_texture_close(struct device *device, struct texture *texture)
{
    struct gpu *const gpu = gpu_of(device);
    struct error ignored;
    if (gpu_enter(gpu, &ignored) == 0)
        GPU_CALL(gpu, &ignored, cuTexObjectDestroy, (texture->object),
                 "ending a texture");
    *texture = (struct texture){0};
}
