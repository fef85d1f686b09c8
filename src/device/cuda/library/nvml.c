#include "device/cuda/library/nvml.h"

#include <stddef.h>
#include <stdio.h>

#include "base/aside.h"
#include "base/mem.h"
#include "device/cuda/library/library.h"

/* Of the clock event reasons, and nvmlReturn_t. */
enum { REASON_IDLE = 1, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7 };
/* nvmlIntNvLinkDeviceType_t; and more NVLinks than any GPU of 2026 has. */
enum { ENDS_AT_GPU = 0, ENDS_AT_SWITCH = 2, NVLINKS_MOST = 64 };
/* PCI Express knows 32 lanes at most; its versions are far from so many. */
enum { LANES_MOST = 32, VERSION_MOST = 64 };

static const struct library_entry entries[] = {
#define ENTRY(need, name, arguments) {#name, offsetof(struct nvml, name), need},
#include "device/cuda/library/nvml.def"
#undef ENTRY
};

static const struct library library = {
    .path = "libnvidia-ml.so.1",
    .named = "SONDE_LIBNVML",
    .owner = LIBRARY_NVML,
    .entries = entries,
    .count = COUNT_OF(entries),
};

/* Calls an entry point, where it can be left; its result. */
#define CALL(nvml, entry, arguments)                                           \
    ASIDE_CALL(LIBRARY_NVML, #entry, (nvml)->entry arguments)

/* Above what any GPU has: such an answer is none. */
enum { CORES_MOST = 1 << 24, MHZ_MOST = 100000, MILLIWATTS_MOST = 100000000 };

/* True if the library has the entry point and it answered. */
#define ASK(nvml, entry, arguments)                                            \
    ((nvml)->library != NULL && (nvml)->entry != NULL &&                       \
     CALL(nvml, entry, arguments) == 0)

/* The driver gives an instance's UUID and a GPU's alike, without the prefix:
 * it is the one under which the library knows it. */
static bool find_device(struct nvml *nvml, const char *uuid)
{
    static const char *const prefixes[] = {"GPU", "MIG"};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        snprintf(nvml->uuid, sizeof nvml->uuid, "%s-%s", prefixes[i], uuid);
        if (ASK(nvml, nvmlDeviceGetHandleByUUID, (nvml->uuid, &nvml->device)))
            return true;
    }
    nvml->uuid[0] = '\0';
    return false;
}

/* Clocks and power belong to the whole GPU, of which an instance is a
 * part; asked of a whole GPU, the library has nothing to translate. */
static void find_gpu(struct nvml *nvml)
{
    void *gpu;
    nvml->gpu = nvml->device;
    if (ASK(nvml, nvmlDeviceGetDeviceHandleFromMigDeviceHandle,
            (nvml->device, &gpu)))
        nvml->gpu = gpu;
}

bool nvml_open(struct nvml *nvml, const char *uuid)
{
    struct error ignored;
    void *handle;
    if (nvml->forgotten)
        return false;
    *nvml = (struct nvml){0};
    if (library_open(&library, &handle, nvml, &ignored) != 0)
        return false;
    if (CALL(nvml, nvmlInit_v2, ()) != 0) {
        library_close(handle);
        return false;
    }
    nvml->library = handle;
    if (!find_device(nvml, uuid)) {
        nvml_close(nvml);
        return false;
    }
    find_gpu(nvml);
    if (!ASK(nvml, nvmlSystemGetDriverVersion,
             (nvml->version, sizeof nvml->version)))
        nvml->version[0] = '\0';
    library_word(nvml->version, sizeof nvml->version);
    return true;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml->library == NULL)
        return;
    CALL(nvml, nvmlShutdown, ());
    library_close(nvml->library);
    nvml->library = NULL;
}

void nvml_forget(struct nvml *nvml)
{
    nvml->library = NULL;
    nvml->forgotten = true;
}

/* Of the instance itself where there is one: the cores of the whole GPU would
 * be divided by the instance's few SMs. */
int64_t nvml_cores(const struct nvml *nvml)
{
    unsigned cores;
    if (!ASK(nvml, nvmlDeviceGetNumGpuCores, (nvml->device, &cores)) ||
        cores > CORES_MOST)
        return -1;
    return cores;
}

int64_t nvml_mig(const struct nvml *nvml)
{
    unsigned current, pending;
    if (!ASK(nvml, nvmlDeviceGetMigMode, (nvml->gpu, &current, &pending)) ||
        current > 1)
        return -1;
    return current;
}

int64_t nvml_max_clock_hz(const struct nvml *nvml, enum nvml_clock clock)
{
    unsigned mhz;
    if (!ASK(nvml, nvmlDeviceGetMaxClockInfo, (nvml->gpu, (int)clock, &mhz)) ||
        mhz > MHZ_MOST)
        return -1;
    return (int64_t)mhz * 1000000;
}

static double sm_clock_mhz(const struct nvml *nvml)
{
    unsigned mhz;
    if (!ASK(nvml, nvmlDeviceGetClockInfo, (nvml->gpu, NVML_SM_CLOCK, &mhz)) ||
        mhz > MHZ_MOST)
        return -1;
    return mhz;
}

static double power(const struct nvml *nvml)
{
    unsigned milliwatts;
    if (!ASK(nvml, nvmlDeviceGetPowerUsage, (nvml->gpu, &milliwatts)) ||
        milliwatts > MILLIWATTS_MOST)
        return -1;
    return milliwatts / 1000.0;
}

double nvml_power_limit_w(const struct nvml *nvml)
{
    unsigned milliwatts;
    if (!ASK(nvml, nvmlDeviceGetPowerManagementLimit,
             (nvml->gpu, &milliwatts)) ||
        milliwatts > MILLIWATTS_MOST)
        return 0;
    return milliwatts / 1000.0;
}

/* Drivers before 535 have the call under its old name only. */
static uint64_t throttle(const struct nvml *nvml)
{
    unsigned long long reasons;
    if (!ASK(nvml, nvmlDeviceGetCurrentClocksEventReasons,
             (nvml->gpu, &reasons)) &&
        !ASK(nvml, nvmlDeviceGetCurrentClocksThrottleReasons,
             (nvml->gpu, &reasons)))
        return 0;
    return reasons & ~(unsigned long long)REASON_IDLE;
}

/* Given no room for the list, the library answers its length.  One of those
 * listed is this process, which holds a context; which one cannot be told by
 * its number, since a container has numbers of its own. */
static int other_processes(const struct nvml *nvml)
{
    unsigned count = 0;
    if (nvml->library == NULL ||
        nvml->nvmlDeviceGetComputeRunningProcesses_v3 == NULL)
        return -1;
    const int result = CALL(nvml, nvmlDeviceGetComputeRunningProcesses_v3,
                            (nvml->device, &count, NULL));
    if (result != 0 && result != INSUFFICIENT_SIZE)
        return -1;
    return count > 0 ? (int)count - 1 : 0;
}

/* The one link of those that are up.  Whether all ends are told counts. */
static void add_nvlink(const struct nvml *nvml, unsigned link,
                       int64_t told[WIRE_COUNT], bool *ends)
{
    unsigned version;
    int end;
    told[WIRE_NVLINKS]++;
    if (ASK(nvml, nvmlDeviceGetNvLinkVersion, (nvml->gpu, link, &version)) &&
        version > 0 && version < VERSION_MOST)
        told[WIRE_VERSION] = version;
    if (!ASK(nvml, nvmlDeviceGetNvLinkRemoteDeviceType,
             (nvml->gpu, link, &end)))
        *ends = false;
    else if (end == ENDS_AT_GPU)
        told[WIRE_TO_GPUS]++;
    else if (end == ENDS_AT_SWITCH)
        told[WIRE_TO_SWITCHES]++;
}

/* Links are counted from 0 on until the library knows none of that number; of a
 * GPU that has no NVLink at all it says so of the first. */
static void ask_nvlinks(const struct nvml *nvml, int64_t told[WIRE_COUNT])
{
    bool ends = true;
    int result = 0;
    if (nvml->library == NULL || nvml->nvmlDeviceGetNvLinkState == NULL)
        return;
    told[WIRE_NVLINKS] = told[WIRE_TO_GPUS] = told[WIRE_TO_SWITCHES] = 0;
    for (unsigned link = 0; link < NVLINKS_MOST; link++) {
        int active = 0;
        result =
            CALL(nvml, nvmlDeviceGetNvLinkState, (nvml->gpu, link, &active));
        if (result != 0 && link == 0 && result != NOT_SUPPORTED)
            told[WIRE_NVLINKS] = -1;
        if (result != 0)
            break;
        if (active != 0)
            add_nvlink(nvml, link, told, &ends);
    }
    if (!ends || told[WIRE_NVLINKS] < 0)
        told[WIRE_TO_GPUS] = told[WIRE_TO_SWITCHES] = -1;
}

void nvml_wires(const struct nvml *nvml, int64_t told[WIRE_COUNT])
{
    unsigned n;
    for (int i = 0; i < WIRE_COUNT; i++)
        told[i] = -1;
    ask_nvlinks(nvml, told);
    if (ASK(nvml, nvmlDeviceGetCurrPcieLinkWidth, (nvml->gpu, &n)) &&
        n <= LANES_MOST)
        told[WIRE_PCIE_WIDTH] = n;
    if (ASK(nvml, nvmlDeviceGetMaxPcieLinkWidth, (nvml->gpu, &n)) &&
        n <= LANES_MOST)
        told[WIRE_PCIE_WIDTH_MOST] = n;
    if (ASK(nvml, nvmlDeviceGetMaxPcieLinkGeneration, (nvml->gpu, &n)) &&
        n < VERSION_MOST)
        told[WIRE_PCIE_GENERATION] = n;
}

void nvml_sense(const struct nvml *nvml, struct device_sense *sense)
{
    *sense = (struct device_sense){
        .sm_mhz = sm_clock_mhz(nvml),
        .power_w = power(nvml),
        .throttle = throttle(nvml),
        .other_processes = other_processes(nvml),
    };
}
