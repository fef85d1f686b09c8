/*
 * What the driver and its management library report of a GPU, in the terms of
 * properties.def; -1 stands for what neither tells.
 */
#include "device/cuda/gpu.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Numbers of CUdevice_attribute; clocks come in kHz.  What is more than `most`,
 * some ten times what any GPU has, no driver means: it is not told. */
static const struct {
    enum device_property property;
    int attribute;
    int scale;
    int most;
} attributes[] = {
    {PROPERTY_SMS, 16, 1, 1 << 14},
    {PROPERTY_WARP, 10, 1, 1 << 10},
    {PROPERTY_SM_THREADS, 39, 1, 1 << 16},
    {PROPERTY_SM_BLOCKS, 106, 1, 1 << 12},
    {PROPERTY_SM_REGISTERS, 82, 1, 1 << 24},
    {PROPERTY_SM_SHARED, 81, 1, 1 << 28},
    {PROPERTY_BLOCK_THREADS, 1, 1, 1 << 16},
    {PROPERTY_BLOCK_REGISTERS, 12, 1, 1 << 24},
    {PROPERTY_BLOCK_SHARED, 8, 1, 1 << 28},
    {PROPERTY_BLOCK_SHARED_OPTIN, 97, 1, 1 << 28},
    {PROPERTY_BLOCK_SHARED_RESERVED, 111, 1, 1 << 20},
    {PROPERTY_BLOCK_X, 2, 1, 1 << 16},
    {PROPERTY_BLOCK_Y, 3, 1, 1 << 16},
    {PROPERTY_BLOCK_Z, 4, 1, 1 << 16},
    {PROPERTY_GRID_X, 5, 1, INT_MAX},
    {PROPERTY_GRID_Y, 6, 1, INT_MAX},
    {PROPERTY_GRID_Z, 7, 1, INT_MAX},
    {PROPERTY_CLOCK, 13, 1000, 100000000},
    {PROPERTY_MEMORY_CLOCK, 36, 1000, 100000000},
    {PROPERTY_MEMORY_BUS, 37, 1, 1 << 17},
    {PROPERTY_ECC, 32, 1, 1},
    {PROPERTY_L2_BYTES, 38, 1, INT_MAX - 1},
    {PROPERTY_L2_PERSISTING, 108, 1, INT_MAX - 1},
    {PROPERTY_CONSTANT_BYTES, 9, 1, 1 << 24},
    {PROPERTY_GLOBAL_L1, 79, 1, 1},
    {PROPERTY_LOCAL_L1, 80, 1, 1},
    {PROPERTY_TEXTURE_WIDTH, 69, 1, INT_MAX},
    {PROPERTY_CLUSTER, 120, 1, 1},
    {PROPERTY_COPY_ENGINES, 40, 1, 1 << 10},
};

/* The architecture from its lowest compute capability on. */
static const struct {
    int cc;
    const char *name;
} architectures[] = {
    {100, "Blackwell"}, {90, "Hopper"}, {89, "Ada Lovelace"}, {80, "Ampere"},
    {75, "Turing"},     {70, "Volta"},  {60, "Pascal"},       {50, "Maxwell"},
    {30, "Kepler"},     {20, "Fermi"},
};

static const char *architecture_of(int cc)
{
    for (size_t i = 0; i < COUNT_OF(architectures); i++)
        if (cc >= architectures[i].cc)
            return architectures[i].name;
    return "";
}

/* What fails is asked once more. */
#define ASK_TWICE(gpu, entry, arguments)                                       \
    ((gpu)->driver.entry != NULL &&                                            \
     (DRIVER_ASK(&(gpu)->driver, entry, arguments) == 0 ||                     \
      DRIVER_ASK(&(gpu)->driver, entry, arguments) == 0))

static int64_t attribute(const struct gpu *gpu, int number)
{
    int value;
    return ASK_TWICE(gpu, cuDeviceGetAttribute, (&value, number, gpu->handle))
               ? value
               : -1;
}

static void ask_attributes(struct gpu *gpu)
{
    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        const int64_t value = attribute(gpu, attributes[i].attribute);
        if (value >= 0 && value <= attributes[i].most)
            gpu->device.info.value[attributes[i].property] =
                value * attributes[i].scale;
    }
}

/* The width's own call knows more than its attribute, which is deprecated. */
static void ask_texture_width(struct gpu *gpu)
{
    size_t texels;
    if (ASK_TWICE(gpu, cuDeviceGetTexture1DLinearMaxWidth,
                  (&texels, CUDA_FORMAT_UINT32, 1, gpu->handle)) &&
        texels <= INT_MAX)
        gpu->device.info.value[PROPERTY_TEXTURE_WIDTH] = (int64_t)texels;
}

static void ask_cores(struct gpu *gpu)
{
    int64_t *const value = gpu->device.info.value;
    const int64_t cores = nvml_cores(&gpu->nvml);
    if (cores > 0 && value[PROPERTY_SMS] > 0 &&
        cores % value[PROPERTY_SMS] == 0)
        value[PROPERTY_CORES] = cores / value[PROPERTY_SMS];
}

/* A clock of 0 is one that the driver does not tell. */
static void ask_clock(struct gpu *gpu, enum device_property property,
                      enum nvml_clock clock)
{
    int64_t *const value = &gpu->device.info.value[property];
    if (*value <= 0)
        *value = nvml_max_clock_hz(&gpu->nvml, clock);
}

static void ask_nvml(struct gpu *gpu)
{
    char uuid[UUID_TEXT_MAX];
    struct device_info *const info = &gpu->device.info;
    if (!gpu_uuid(&gpu->driver, gpu->handle, uuid))
        return;
    if (nvml_open(&gpu->nvml, uuid))
        memcpy(info->uuid, gpu->nvml.uuid, sizeof info->uuid);
    else
        snprintf(info->uuid, sizeof info->uuid, "GPU-%s", uuid);
    memcpy(info->release, gpu->nvml.version, sizeof info->release);
    ask_cores(gpu);
    ask_clock(gpu, PROPERTY_CLOCK, NVML_SM_CLOCK);
    ask_clock(gpu, PROPERTY_MEMORY_CLOCK, NVML_MEMORY_CLOCK);
    info->value[PROPERTY_MIG] = nvml_mig(&gpu->nvml);
    info->power_limit_w = nvml_power_limit_w(&gpu->nvml);
}

/* As others write it, in small letters: lspci, nvidia-smi, Linux itself. */
static void ask_pci(struct gpu *gpu)
{
    char *const pci = gpu->device.info.pci;
    if (!ASK_TWICE(gpu, cuDeviceGetPCIBusId,
                   (pci, (int)sizeof gpu->device.info.pci, gpu->handle)))
        pci[0] = '\0';
    library_word(pci, sizeof gpu->device.info.pci);
    for (char *c = pci; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
}

/* More memory than addresses of 57 bits reach, and a compute capability that is
 * none, come of a driver that is not well. */
static int check_identity(struct gpu *gpu, size_t bytes, struct error *err)
{
    enum { ADDRESS_BITS = 57, CC_MOST = 99, MINOR_MOST = 9 };
    struct device_info *const info = &gpu->device.info;
    library_word(info->name, sizeof info->name);
    if (info->name[0] == '\0')
        snprintf(info->name, sizeof info->name, "NVIDIA GPU");
    if (info->cc_major >= 1 && info->cc_major <= CC_MOST &&
        info->cc_minor >= 0 && info->cc_minor <= MINOR_MOST && bytes > 0 &&
        (uint64_t)bytes >> ADDRESS_BITS == 0)
        return 0;
    return error_set(err, ERR_DEVICE,
                     "%s: the driver says what cannot be: compute capability "
                     "%d.%d, %zu bytes of memory; `nvidia-smi` shows whether "
                     "it still works",
                     gpu->driver.who, info->cc_major, info->cc_minor, bytes);
}

/* What nothing can be done without. */
static int ask_identity(struct gpu *gpu, struct error *err)
{
    struct device_info *const info = &gpu->device.info;
    size_t bytes = 0;
    int status = GPU_CALL(gpu, err, cuDeviceGetName,
                          (info->name, (int)sizeof info->name, gpu->handle),
                          "asking for the GPU's name");
    if (status == 0)
        status = GPU_CALL(gpu, err, cuDeviceGetAttribute,
                          (&info->cc_major, CUDA_CC_MAJOR, gpu->handle),
                          "asking for the compute capability");
    if (status == 0)
        status = GPU_CALL(gpu, err, cuDeviceGetAttribute,
                          (&info->cc_minor, CUDA_CC_MINOR, gpu->handle),
                          "asking for the compute capability");
    if (status == 0)
        status = GPU_CALL(gpu, err, cuDeviceTotalMem_v2, (&bytes, gpu->handle),
                          "asking for the size of the GPU's memory");
    info->value[PROPERTY_MEMORY_BYTES] = (int64_t)bytes;
    return status != 0 ? status : check_identity(gpu, bytes, err);
}

int gpu_wires(struct device *device, int64_t told[WIRE_COUNT],
              struct error *err)
{
    enum { NODES_MOST = 1 << 16 };
    struct gpu *const gpu = gpu_of(device);
    const int status = gpu_enter(gpu, err);
    if (status != 0)
        return status;
    nvml_wires(&gpu->nvml, told);
    const int64_t node = attribute(gpu, CUDA_HOST_NUMA_ID);
    if (node >= 0 && node < NODES_MOST)
        told[WIRE_NUMA_NODE] = node;
    return 0;
}

/* From idle to the highest clock, with room to spare. */
static const double warm_up_s = 0.05;

int gpu_describe(struct gpu *gpu, struct error *err)
{
    struct device_info *const info = &gpu->device.info;
    for (int i = 0; i < PROPERTY_COUNT; i++)
        info->value[i] = -1;
    const int status = ask_identity(gpu, err);
    if (status != 0)
        return status;
    snprintf(info->architecture, sizeof info->architecture, "%s",
             architecture_of(info->cc_major * 10 + info->cc_minor));
    snprintf(info->driver, sizeof info->driver, "%d.%d",
             gpu->driver.version / 1000, gpu->driver.version % 1000 / 10);
    info->warm_up_s = warm_up_s;
    ask_attributes(gpu);
    ask_texture_width(gpu);
    ask_pci(gpu);
    ask_nvml(gpu);
    return 0;
}
