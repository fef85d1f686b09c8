/*
 * A libnvidia-ml.so.1 for the GPUs of the fake libcuda.so.1; fails on demand
 * as fail.h says.
 */
#include <stddef.h>
#include <stdio.h>

#include "fail.h"

#define ENTRY(need, name, arguments) int name arguments;
#include "device/cuda/library/nvml.def"
#undef ENTRY

enum { NOT_FOUND = 6, TOO_SMALL = 7 };

#define FAIL(name)                                                             \
    do {                                                                       \
        const int code = fake_failure(#name);                                  \
        if (code != 0)                                                         \
            return code;                                                       \
    } while (0)

static char gpu;

int nvmlInit_v2(void)
{
    FAIL(nvmlInit_v2);
    return 0;
}

int nvmlShutdown(void)
{
    FAIL(nvmlShutdown);
    return 0;
}

/* FAKE_NVML_PREFIX=MIG: the driver's device is an instance of a GPU. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    FAIL(nvmlDeviceGetHandleByUUID);
    const char *const prefix = getenv("FAKE_NVML_PREFIX");
    if (strncmp(uuid, prefix != NULL ? prefix : "GPU", 3) != 0)
        return NOT_FOUND;
    *device = &gpu;
    return 0;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *instance, void **device)
{
    FAIL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle);
    *device = instance;
    return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    FAIL(nvmlSystemGetDriverVersion);
    snprintf(version, size, "580.159");
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
    FAIL(nvmlDeviceGetClockInfo);
    (void)device;
    *mhz = clock == 1 ? 1980 : 3201;
    return 0;
}

int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
    FAIL(nvmlDeviceGetMaxClockInfo);
    return nvmlDeviceGetClockInfo(device, clock, mhz);
}

int nvmlDeviceGetPowerManagementLimit(void *device, unsigned *milliwatts)
{
    FAIL(nvmlDeviceGetPowerManagementLimit);
    (void)device;
    *milliwatts = 700000;
    return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    FAIL(nvmlDeviceGetPowerUsage);
    (void)device;
    *milliwatts = 123500;
    return 0;
}

/* Idle, and held back by the power cap. */
int nvmlDeviceGetCurrentClocksEventReasons(void *device,
                                           unsigned long long *reasons)
{
    FAIL(nvmlDeviceGetCurrentClocksEventReasons);
    (void)device;
    *reasons = 5;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device,
                                              unsigned long long *reasons)
{
    FAIL(nvmlDeviceGetCurrentClocksThrottleReasons);
    (void)device;
    *reasons = 5;
    return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending)
{
    FAIL(nvmlDeviceGetMigMode);
    (void)device;
    *now = *pending = getenv("FAKE_NVML_PREFIX") != NULL;
    return 0;
}

int nvmlDeviceGetNumGpuCores(void *device, unsigned *cores)
{
    FAIL(nvmlDeviceGetNumGpuCores);
    (void)device;
    *cores = 132 * 128;
    return 0;
}

/* Six links, of which the fourth is down and the last two end at switches. */
enum { LINKS = 6, DOWN = 3, SWITCHES_FROM = 4, BAD_ARGUMENT = 2 };

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active)
{
    FAIL(nvmlDeviceGetNvLinkState);
    (void)device;
    if (link >= LINKS)
        return BAD_ARGUMENT;
    *active = link != DOWN;
    return 0;
}

int nvmlDeviceGetNvLinkVersion(void *device, unsigned link, unsigned *version)
{
    FAIL(nvmlDeviceGetNvLinkVersion);
    (void)device;
    *version = 4;
    return link < LINKS ? 0 : BAD_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
    FAIL(nvmlDeviceGetNvLinkRemoteDeviceType);
    (void)device;
    *type = link >= SWITCHES_FROM ? 2 : 0;
    return link < LINKS ? 0 : BAD_ARGUMENT;
}

int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned *lanes)
{
    FAIL(nvmlDeviceGetCurrPcieLinkWidth);
    (void)device;
    *lanes = 8;
    return 0;
}

int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *lanes)
{
    FAIL(nvmlDeviceGetMaxPcieLinkWidth);
    (void)device;
    *lanes = 16;
    return 0;
}

int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *generation)
{
    FAIL(nvmlDeviceGetMaxPcieLinkGeneration);
    (void)device;
    *generation = 5;
    return 0;
}

/* Three, this process among them. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            void *processes)
{
    FAIL(nvmlDeviceGetComputeRunningProcesses_v3);
    (void)device, (void)processes;
    *count = 3;
    return TOO_SMALL;
}
