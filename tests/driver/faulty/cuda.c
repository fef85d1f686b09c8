/*
 * A libcuda.so.1 that has a GPU: the simulator of sonde itself.  Whole studies
 * run through the device cuda:0 with samples that are right, and faults come on
 * demand (fault.h).  FAULT_PROFILE is what is simulated ("quick").
 *
 * Of the driver's management of virtual memory it has nothing:
 * tests/driver/fake has, and a driver may lack it.
 */
#include "device/cuda/library/driver.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/sim/ptx/program.h"
#include "fault.h"

#define SHOWN                        __attribute__((visibility("default")))

#define ENTRY(need, name, arguments) SHOWN int name arguments;
#include "device/cuda/library/driver.def"
#undef ENTRY

enum {
    OK,
    INVALID_VALUE = 1,
    ABSENT = 500,
    LAUNCH_FAILED = 719,
    UNSUPPORTED = 801
};

enum {
#define ENTRY(need, name, arguments) AT_##name,
#include "device/cuda/library/driver.def"
#undef ENTRY
    ENTRIES
};

static struct fault_entry entries[] = {
#define ENTRY(need, name, arguments) {#name, 0},
#include "device/cuda/library/driver.def"
#undef ENTRY
};

/* Threads that assemble call at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device *gpu;
static char context;

static void write_counts(void)
{
    fault_counts(entries, ENTRIES);
}

static int open_gpu(void)
{
    char spec[512];
    struct error err;
    const char *const profile = getenv("FAULT_PROFILE");
    const struct device_options options = {.seed = 1};
    if (gpu != NULL)
        return OK;
    snprintf(spec, sizeof spec, "sim:%s", profile != NULL ? profile : "quick");
    return device_open(spec, &options, &gpu, NULL, &err) == 0 ? OK
                                                              : CUDA_UNKNOWN;
}

static void start(void)
{
    static bool started;
    pthread_mutex_lock(&lock);
    if (!started)
        atexit(write_counts);
    started = true;
    open_gpu();
    pthread_mutex_unlock(&lock);
}

/* The beginning of every entry point: `garbage` is for what it gives. */
#define IN(name)                                                               \
    int garbage;                                                               \
    const int answer = fault_at(&entries[AT_##name], &garbage);                \
    if (answer != FAULT_NONE)                                                  \
    return answer

/* What the simulator fails at, as a driver says it. */
static int result_of(int status)
{
    return status == 0                   ? OK
           : status == ERR_DEVICE_MEMORY ? CUDA_OUT_OF_MEMORY
           : status == ERR_UNSUPPORTED   ? UNSUPPORTED
                                         : INVALID_VALUE;
}

int cuGetErrorName(int code, const char **text)
{
    static _Thread_local char name[32];
    IN(cuGetErrorName);
    snprintf(name, sizeof name, "CUDA_ERROR_%d", code);
    *text = garbage == GARBAGE_NONE ? name : NULL;
    return OK;
}

int cuGetErrorString(int code, const char **text)
{
    IN(cuGetErrorString);
    (void)code;
    *text = garbage == GARBAGE_NONE ? "something went wrong" : "\x1b[2J\xff";
    return OK;
}

int cuDriverGetVersion(int *version)
{
    start();
    IN(cuDriverGetVersion);
    *version = (int)fault_number(garbage, 13000, INT_MAX);
    return OK;
}

int cuInit(unsigned flags)
{
    IN(cuInit);
    return flags == 0 ? OK : INVALID_VALUE;
}

int cuDeviceGetCount(int *count)
{
    IN(cuDeviceGetCount);
    const char *const gpus = getenv("FAULT_GPUS");
    *count = (int)fault_number(garbage, gpus != NULL ? atoi(gpus) : 1, INT_MAX);
    return OK;
}

int cuDeviceGet(int *device, int ordinal)
{
    fault_uses(ordinal);
    IN(cuDeviceGet);
    *device = (int)fault_number(garbage, ordinal, INT_MAX);
    return OK;
}

int cuDeviceGetName(char *name, int size, int device)
{
    IN(cuDeviceGetName);
    (void)device;
    if (garbage == GARBAGE_NONE)
        snprintf(name, (size_t)size, "Faulty %s", gpu->info.name);
    else
        memset(name, garbage == GARBAGE_ZEROS ? 0 : 0xff, (size_t)size);
    return OK;
}

static const struct {
    int attribute;
    enum device_property property;
    int scale;
} attributes[] = {
    {16, PROPERTY_SMS, 1},
    {10, PROPERTY_WARP, 1},
    {39, PROPERTY_SM_THREADS, 1},
    {106, PROPERTY_SM_BLOCKS, 1},
    {82, PROPERTY_SM_REGISTERS, 1},
    {81, PROPERTY_SM_SHARED, 1},
    {1, PROPERTY_BLOCK_THREADS, 1},
    {12, PROPERTY_BLOCK_REGISTERS, 1},
    {8, PROPERTY_BLOCK_SHARED, 1},
    {97, PROPERTY_BLOCK_SHARED_OPTIN, 1},
    {111, PROPERTY_BLOCK_SHARED_RESERVED, 1},
    {13, PROPERTY_CLOCK, 1000},
    {36, PROPERTY_MEMORY_CLOCK, 1000},
    {38, PROPERTY_L2_BYTES, 1},
    {9, PROPERTY_CONSTANT_BYTES, 1},
    {69, PROPERTY_TEXTURE_WIDTH, 1},
    {120, PROPERTY_CLUSTER, 1},
};

static int told_of(int attribute)
{
    if (attribute == CUDA_CC_MAJOR)
        return gpu->info.cc_major;
    if (attribute == CUDA_CC_MINOR)
        return gpu->info.cc_minor;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attribute)
            return (int)(gpu->info.value[attributes[i].property] /
                         attributes[i].scale);
    return attribute == CUDA_COMPUTE_MODE ? 0 : -1;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    IN(cuDeviceGetAttribute);
    (void)device;
    const int told = told_of(attribute);
    *value = (int)fault_number(garbage, told, INT_MAX);
    return told < 0 ? INVALID_VALUE : OK;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    IN(cuDeviceTotalMem_v2);
    (void)device;
    *bytes = (size_t)fault_number(
        garbage, gpu->info.value[PROPERTY_MEMORY_BYTES], LLONG_MAX);
    return OK;
}

int cuDeviceGetPCIBusId(char *text, int size, int device)
{
    IN(cuDeviceGetPCIBusId);
    (void)device;
    if (garbage == GARBAGE_NONE)
        snprintf(text, (size_t)size, "0000:1A:00.0");
    else
        memset(text, garbage == GARBAGE_ZEROS ? 0 : 0xff, (size_t)size);
    return OK;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
    IN(cuDeviceGetUuid_v2);
    memset(uuid, (int)fault_number(garbage, 0xab, 0x7f), 16);
    uuid[15] = (unsigned char)(uuid[15] - device);
    return OK;
}

int cuDeviceGetTexture1DLinearMaxWidth(size_t *texels, int format,
                                       unsigned channels, int device)
{
    IN(cuDeviceGetTexture1DLinearMaxWidth);
    (void)format, (void)channels, (void)device;
    *texels = (size_t)fault_number(
        garbage, gpu->info.value[PROPERTY_TEXTURE_WIDTH], LLONG_MAX);
    return OK;
}

/* A new context has nothing of an old one. */
int cuCtxCreate_v2(void **made, unsigned flags, int device)
{
    IN(cuCtxCreate_v2);
    (void)flags, (void)device;
    fault_mend();
    *made = garbage == GARBAGE_NONE ? &context : NULL;
    return open_gpu();
}

int cuCtxDestroy_v2(void *given)
{
    IN(cuCtxDestroy_v2);
    if (given != &context)
        return INVALID_VALUE;
    device_close(gpu);
    gpu = NULL;
    return OK;
}

int cuCtxSetCurrent(void *given)
{
    IN(cuCtxSetCurrent);
    return given == &context ? OK : INVALID_VALUE;
}

int cuCtxGetLimit(size_t *value, int limit)
{
    IN(cuCtxGetLimit);
    (void)limit;
    *value = (size_t)fault_number(garbage, 64, LLONG_MAX);
    return OK;
}

int cuCtxSetLimit(int limit, size_t value)
{
    IN(cuCtxSetLimit);
    (void)limit, (void)value;
    return OK;
}

/* Machine code is an ELF's first bytes, the level, and the PTX. */
struct link {
    int level;
    char *code;
    size_t length;
};

enum { CODE_HEAD = 5 };

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state)
{
    IN(cuLinkCreate_v2);
    struct link *const link = calloc(1, sizeof *link);
    for (unsigned i = 0; i < count; i++)
        if (options[i] == CUDA_JIT_LEVEL)
            link->level = (int)(uintptr_t)values[i];
    *state = link;
    return OK;
}

int cuLinkAddData_v2(void *state, int type, void *data, size_t size,
                     const char *name, unsigned count, int *options,
                     void **values)
{
    IN(cuLinkAddData_v2);
    (void)type, (void)name, (void)count, (void)options, (void)values;
    struct link *const link = state;
    link->length = CODE_HEAD + size;
    link->code = malloc(link->length);
    memcpy(link->code, "\177ELF", 4);
    link->code[4] = (char)('0' + link->level);
    memcpy(link->code + CODE_HEAD, data, size);
    return OK;
}

int cuLinkComplete(void *state, void **cubin, size_t *size)
{
    IN(cuLinkComplete);
    const struct link *const link = state;
    *cubin = garbage == GARBAGE_NONE ? link->code : NULL;
    *size = (size_t)fault_number(garbage, (long long)link->length, LLONG_MAX);
    return OK;
}

int cuLinkDestroy(void *state)
{
    struct link *const link = state;
    IN(cuLinkDestroy);
    free(link->code);
    free(link);
    return OK;
}

/* Linked, or PTX as it is. */
int cuModuleLoadData(void **module, const void *image)
{
    IN(cuModuleLoadData);
    struct error err;
    struct module *loaded = NULL;
    const char *const text = image;
    const bool linked = memcmp(text, "\177ELF", 4) == 0;
    const struct source source = {linked ? text + CODE_HEAD : text,
                                  linked ? text[4] - '0' : 3};
    pthread_mutex_lock(&lock);
    const int status = device_load(gpu, &source, &loaded, &err);
    pthread_mutex_unlock(&lock);
    *module = garbage == GARBAGE_NONE ? loaded : NULL;
    return status == ERR_PTX ? CUDA_INVALID_PTX : result_of(status);
}

int cuModuleUnload(void *module)
{
    IN(cuModuleUnload);
    device_unload(gpu, module);
    return OK;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    IN(cuModuleGetFunction);
    struct error err;
    struct kernel *kernel = NULL;
    const int status = device_kernel(gpu, module, name, &kernel, &err);
    *function = garbage == GARBAGE_NONE ? kernel : NULL;
    return status == 0 ? OK : ABSENT;
}

int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module,
                         const char *name)
{
    IN(cuModuleGetGlobal_v2);
    struct error err;
    if (device_symbol(gpu, module, name, address, bytes, &err) != 0)
        return ABSENT;
    if (garbage != GARBAGE_NONE) {
        *address = (uint64_t)fault_number(garbage, 0, LLONG_MAX);
        *bytes = (size_t)fault_number(garbage, 0, LLONG_MAX);
    }
    return OK;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    IN(cuFuncSetAttribute);
    (void)function, (void)attribute, (void)value;
    return OK;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    IN(cuMemGetInfo_v2);
    struct error err;
    uint64_t bytes = 0;
    device_memory_free(gpu, &bytes, &err);
    *free_bytes = (size_t)fault_number(garbage, (long long)bytes, LLONG_MAX);
    *total = (size_t)fault_number(
        garbage, gpu->info.value[PROPERTY_MEMORY_BYTES], LLONG_MAX);
    return OK;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    IN(cuMemAlloc_v2);
    struct error err;
    const int status = device_allocate(gpu, bytes, address, &err);
    if (garbage != GARBAGE_NONE)
        *address = (uint64_t)fault_number(garbage, 0, LLONG_MAX);
    return result_of(status);
}

int cuMemFree_v2(uint64_t address)
{
    IN(cuMemFree_v2);
    device_release(gpu, address);
    return OK;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    IN(cuMemcpyHtoD_v2);
    struct error err;
    return result_of(device_copy_in(gpu, to, from, bytes, &err));
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    IN(cuMemcpyDtoH_v2);
    struct error err;
    const int status = device_copy_out(gpu, to, from, bytes, &err);
    if (garbage != GARBAGE_NONE)
        memset(to, (int)fault_number(garbage, 0, 0x7f), bytes);
    return result_of(status);
}

int cuTexObjectCreate(uint64_t *object, const struct cuda_resource *resource,
                      const struct cuda_texture *texture, const void *view)
{
    IN(cuTexObjectCreate);
    (void)texture, (void)view;
    struct error err;
    struct texture made;
    const int status =
        device_texture_open(gpu, resource->of.linear.address,
                            resource->of.linear.bytes, &made, &err);
    *object =
        (uint64_t)fault_number(garbage, (long long)made.object, LLONG_MAX);
    return result_of(status);
}

int cuTexObjectDestroy(uint64_t object)
{
    IN(cuTexObjectDestroy);
    struct texture texture = {.object = object};
    device_texture_close(gpu, &texture);
    return OK;
}

int cuEventCreate(void **event, unsigned flags)
{
    static char any;
    IN(cuEventCreate);
    (void)flags;
    *event = garbage == GARBAGE_NONE ? &any : NULL;
    return OK;
}

int cuEventDestroy_v2(void *event)
{
    IN(cuEventDestroy_v2);
    (void)event;
    return OK;
}

int cuEventRecord(void *event, void *stream)
{
    IN(cuEventRecord);
    (void)event, (void)stream;
    return OK;
}

int cuEventQuery(void *event)
{
    IN(cuEventQuery);
    (void)event;
    return OK;
}

int cuEventElapsedTime(float *ms, void *from, void *to)
{
    IN(cuEventElapsedTime);
    (void)from, (void)to;
    struct error err;
    double ns = 0;
    device_elapsed(gpu, &ns, &err);
    *ms = garbage == GARBAGE_NONE    ? (float)(ns / 1e6)
          : garbage == GARBAGE_ZEROS ? 0.0F
          : garbage == GARBAGE_ONES  ? -1.0F
          : garbage == GARBAGE_NAN   ? NAN
                                     : INFINITY;
    return OK;
}

static int launch(struct kernel *kernel, struct launch *launch, void **values)
{
    struct error err;
    launch->carve_out = CARVE_OUT_DEFAULT;
    launch->arg_count = kernel->param_count;
    for (size_t i = 0; i < kernel->param_count; i++)
        launch->args[i] = values[i];
    pthread_mutex_lock(&lock);
    const int status = device_launch(gpu, kernel, launch, &err);
    pthread_mutex_unlock(&lock);
    return status == 0                 ? OK
           : status == ERR_UNSUPPORTED ? UNSUPPORTED
                                       : LAUNCH_FAILED;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void *stream,
                   void **parameters, void **extra)
{
    IN(cuLaunchKernel);
    (void)stream, (void)extra;
    struct launch l = {.grid = {grid_x, grid_y, grid_z},
                       .block = {block_x, block_y, block_z},
                       .shared_bytes = shared_bytes};
    /* Garbage: it says that it ran, and did not. */
    return garbage == GARBAGE_NONE ? launch(function, &l, parameters) : OK;
}

int cuLaunchKernelEx(const struct cuda_launch *config, void *function,
                     void **parameters, void **extra)
{
    IN(cuLaunchKernelEx);
    (void)extra;
    struct launch l = {.shared_bytes = config->shared_bytes};
    memcpy(l.grid, config->grid, sizeof l.grid);
    memcpy(l.block, config->block, sizeof l.block);
    l.cluster[0] = config->attributes[0].value.cluster.x;
    l.cluster[1] = config->attributes[0].value.cluster.y;
    l.cluster[2] = config->attributes[0].value.cluster.z;
    return garbage == GARBAGE_NONE ? launch(function, &l, parameters) : OK;
}
