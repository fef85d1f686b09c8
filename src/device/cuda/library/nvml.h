/*
 * NVIDIA's management library, libnvidia-ml.so.1, opened at run time: what
 * the driver itself does not tell (clocks now, throttling, power, MIG,
 * cores, other processes).  All of it is optional: where the library or an
 * entry point is missing, the answers are "not told" and nothing fails.
 */
#ifndef SONDE_DEVICE_CUDA_LIBRARY_NVML_H
#define SONDE_DEVICE_CUDA_LIBRARY_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"

enum nvml_clock { NVML_SM_CLOCK = 1, NVML_MEMORY_CLOCK = 2 };

struct nvml {
    void *library;    /* NULL: not there */
    bool forgotten;   /* … as it did not come back */
    void *device;     /* what the driver opened: a GPU, or an instance of one */
    void *gpu;        /* the whole GPU */
    char version[32]; /* of the driver, "580.159.03"; "" if not told */
    char uuid[64];    /* of `device`, with "GPU-" or "MIG-" before it */
#define ENTRY(need, name, arguments) int(*name) arguments;
#include "device/cuda/library/nvml.def"
#undef ENTRY
};

/* Of one that is all zeros, or forgotten.  `uuid` is the hexadecimal part.
 * False, and all else may still be called, if there is no library or it does
 * not know the GPU. */
bool nvml_open(struct nvml *nvml, const char *uuid);
void nvml_close(struct nvml *nvml);
/* From now on nothing is asked, nor is it closed. */
void nvml_forget(struct nvml *nvml);

/* -1 where not told. */
int64_t nvml_cores(const struct nvml *nvml);
int64_t nvml_mig(const struct nvml *nvml);
int64_t nvml_max_clock_hz(const struct nvml *nvml, enum nvml_clock clock);
/* 0 where not told. */
double nvml_power_limit_w(const struct nvml *nvml);
/* All but the NUMA node, of which it says nothing. */
void nvml_wires(const struct nvml *nvml, int64_t told[WIRE_COUNT]);
void nvml_sense(const struct nvml *nvml, struct device_sense *sense);

#endif
