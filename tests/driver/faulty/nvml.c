/* A libnvidia-ml.so.1 for the GPU of the libcuda.so.1 beside it; faults come on
 * demand (fault.h). */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

#define SHOWN                        __attribute__((visibility("default")))

#define ENTRY(need, name, arguments) SHOWN int name arguments;
#include "device/cuda/library/nvml.def"
#undef ENTRY

enum { OK, NOT_FOUND = 6, TOO_SMALL = 7 };

enum {
#define ENTRY(need, name, arguments) AT_##name,
#include "device/cuda/library/nvml.def"
#undef ENTRY
    ENTRIES
};

static struct fault_entry entries[] = {
#define ENTRY(need, name, arguments) {#name, 0},
#include "device/cuda/library/nvml.def"
#undef ENTRY
};

static char gpu;

static void write_counts(void)
{
    fault_counts(entries, ENTRIES);
}

#define IN(name)                                                               \
    int garbage;                                                               \
    const int answer = fault_at(&entries[AT_##name], &garbage);                \
    if (answer != FAULT_NONE)                                                  \
    return answer

int nvmlInit_v2(void)
{
    static int started;
    if (started++ == 0)
        atexit(write_counts);
    IN(nvmlInit_v2);
    (void)garbage;
    return OK;
}

int nvmlShutdown(void)
{
    IN(nvmlShutdown);
    (void)garbage;
    return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    IN(nvmlDeviceGetHandleByUUID);
    *device = garbage == GARBAGE_NONE ? &gpu : NULL;
    return strncmp(uuid, "GPU", 3) == 0 ? OK : NOT_FOUND;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *instance, void **device)
{
    IN(nvmlDeviceGetDeviceHandleFromMigDeviceHandle);
    *device = garbage == GARBAGE_NONE ? instance : NULL;
    return OK;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    IN(nvmlSystemGetDriverVersion);
    if (garbage == GARBAGE_NONE)
        snprintf(version, size, "580.159");
    else
        memset(version, garbage == GARBAGE_ZEROS ? 0 : 0xff, size);
    return OK;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
    IN(nvmlDeviceGetClockInfo);
    (void)device;
    *mhz = (unsigned)fault_number(garbage, clock == 1 ? 1000 : 2000, INT_MAX);
    return OK;
}

int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
    IN(nvmlDeviceGetMaxClockInfo);
    (void)device;
    *mhz = (unsigned)fault_number(garbage, clock == 1 ? 1000 : 2000, INT_MAX);
    return OK;
}

int nvmlDeviceGetPowerManagementLimit(void *device, unsigned *milliwatts)
{
    IN(nvmlDeviceGetPowerManagementLimit);
    (void)device;
    *milliwatts = (unsigned)fault_number(garbage, 700000, INT_MAX);
    return OK;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    IN(nvmlDeviceGetPowerUsage);
    (void)device;
    *milliwatts = (unsigned)fault_number(garbage, 123500, INT_MAX);
    return OK;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device,
                                           unsigned long long *reasons)
{
    IN(nvmlDeviceGetCurrentClocksEventReasons);
    (void)device;
    *reasons = (unsigned long long)fault_number(garbage, 0, LLONG_MAX);
    return OK;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device,
                                              unsigned long long *reasons)
{
    IN(nvmlDeviceGetCurrentClocksThrottleReasons);
    (void)device;
    *reasons = (unsigned long long)fault_number(garbage, 0, LLONG_MAX);
    return OK;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending)
{
    IN(nvmlDeviceGetMigMode);
    (void)device;
    *now = *pending = (unsigned)fault_number(garbage, 0, INT_MAX);
    return OK;
}

int nvmlDeviceGetNumGpuCores(void *device, unsigned *cores)
{
    IN(nvmlDeviceGetNumGpuCores);
    (void)device;
    *cores = (unsigned)fault_number(garbage, 2 * 64, INT_MAX);
    return OK;
}

/* This process alone. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            void *processes)
{
    IN(nvmlDeviceGetComputeRunningProcesses_v3);
    (void)device, (void)processes;
    *count = (unsigned)fault_number(garbage, 1, INT_MAX);
    return TOO_SMALL;
}
