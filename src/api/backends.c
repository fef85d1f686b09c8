/* The backends, in one place above all of them. */
#include "device/cuda/cuda.h"
#include "device/device.h"
#include "device/sim/sim.h"

const struct device_ops *const device_backends[] = {
    &cuda_device_ops,
    &sim_device_ops,
    NULL,
};
