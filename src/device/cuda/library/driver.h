/*
 * The NVIDIA driver, libcuda.so.1, opened at run time.  Its entry points stand
 * once in driver.def; the numbers and layouts below are those of the driver's
 * binary interface (CUDA Driver API reference, 12.0 to 13.0), written down
 * here so that no toolkit is needed to build.
 */
#ifndef SONDE_DEVICE_CUDA_LIBRARY_DRIVER_H
#define SONDE_DEVICE_CUDA_LIBRARY_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/aside.h"
#include "base/error.h"
#include "device/cuda/library/library.h"

/* Results that sonde tells apart. */
enum cuda_result {
#define RESULT(name, number, ...) CUDA_##name = (number),
#include "device/cuda/library/results.def"
#undef RESULT
};

/* Device attributes that mean something to the code itself; those that are
 * only reported stand in describe.c. */
enum cuda_attribute {
    CUDA_COMPUTE_MODE = 20,
    CUDA_HOST_NUMA_ID = 134, /* of CUDA 12.2 on; -1: the host has no nodes */
    CUDA_CC_MAJOR = 75,
    CUDA_CC_MINOR = 76,
};

/* Of a pair of GPUs (CUdevice_P2PAttribute). */
enum { CUDA_P2P_NATIVE_ATOMICS = 3 };

enum { CUDA_PROHIBITED = 2 }; /* a compute mode */

enum cuda_function_attribute {
    CUDA_MAX_DYNAMIC_SHARED_BYTES = 8,
    CUDA_PREFERRED_CARVE_OUT = 9,
    CUDA_NON_PORTABLE_CLUSTERS = 14,
};

enum cuda_jit_option {
    CUDA_JIT_ERROR_LOG = 5,
    CUDA_JIT_ERROR_LOG_BYTES = 6,
    CUDA_JIT_LEVEL = 7,
    CUDA_JIT_TARGET_FROM_CONTEXT = 8,
};

enum { CUDA_JIT_INPUT_PTX = 1 };

enum { CUDA_FORMAT_UINT32 = 3, CUDA_RESOURCE_LINEAR = 2 };

/* How a texture reads: integers as they are, not scaled to [0, 1]. */
enum {
    CUDA_READ_AS_INTEGER = 1,
    CUDA_ADDRESS_CLAMP = 1,
    CUDA_FILTER_POINT = 0
};

/* CUDA_RESOURCE_DESC, its case of linear memory. */
struct cuda_resource {
    int type;
    union {
        struct {
            uint64_t address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        int reserved[32];
    } of;
    unsigned flags;
};

/* CUDA_TEXTURE_DESC. */
struct cuda_texture {
    int address_mode[3];
    int filter_mode;
    unsigned flags;
    unsigned max_anisotropy;
    int mipmap_filter_mode;
    float mipmap_level_bias;
    float min_mipmap_level_clamp, max_mipmap_level_clamp;
    float border_color[4];
    int reserved[12];
};

enum {
    CUDA_MEMORY_PINNED = 1,
    CUDA_LOCATION_DEVICE = 1,
    CUDA_READ_AND_WRITE = 3
};

/* CUmemLocation. */
struct cuda_location {
    int type, device;
};

/* CUmemAllocationProp. */
struct cuda_memory {
    int type;
    int exported_as;
    struct cuda_location location;
    void *windows;
    unsigned char compression, remote_access;
    unsigned short usage;
    unsigned char reserved[4];
};

/* CUmemAccessDesc. */
struct cuda_access {
    struct cuda_location location;
    int flags;
};

enum { CUDA_LAUNCH_CLUSTER = 4 };

/* CUlaunchAttribute: a value of at most 64 bytes after 8 bytes of id. */
struct cuda_launch_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        struct {
            unsigned x, y, z;
        } cluster;
        uint64_t align;
    } value;
};

/* CUlaunchConfig. */
struct cuda_launch {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    struct cuda_launch_attribute *attributes;
    unsigned attribute_count;
};

struct driver {
    void *library;
    int version;  /* of CUDA: 13000 is 13.0 */
    char who[64]; /* what sentences begin with: "cuda:0" */
#define ENTRY(need, name, arguments) int(*name) arguments;
#include "device/cuda/library/driver.def"
#undef ENTRY
};

/*
 * Opens and starts the driver.  ERR_NO_DEVICE if there is none or it sees no
 * GPU, ERR_DEVICE if it is too old or cannot start, with what to do.
 */
int driver_open(struct driver *driver, struct error *err);
void driver_close(struct driver *driver);

/* Calls an entry point, where it can be left; its bare result. */
#define DRIVER_ASK(driver, entry, arguments)                                   \
    ASIDE_CALL(LIBRARY_DRIVER, #entry, (driver)->entry arguments)

/* The same, and turns its result into 0 or an error:
 * DRIVER_CALL(driver, err, cuDeviceGet, (&handle, 0), "opening GPU %d", 0). */
#define DRIVER_CALL(driver, err, entry, arguments, ...)                        \
    driver_check(driver, DRIVER_ASK(driver, entry, arguments), err, #entry,    \
                 __VA_ARGS__)

/* 0, or ERR_… with "WHO: ACT failed: what the driver says (entry: name)" and,
 * where sonde knows it, what to do. */
int driver_check(const struct driver *driver, int result, struct error *err,
                 const char *entry, const char *act, ...)
    __attribute__((format(printf, 5, 6)));

/* True if the result means that the context is beyond use. */
bool driver_lost(int result);

#endif
