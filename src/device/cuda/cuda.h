/* The device `cuda:N`: an NVIDIA GPU through its driver, libcuda.so.1. */
#ifndef SONDE_DEVICE_CUDA_CUDA_H
#define SONDE_DEVICE_CUDA_CUDA_H

#include "device/device.h"

extern const struct device_ops cuda_device_ops;

#endif
