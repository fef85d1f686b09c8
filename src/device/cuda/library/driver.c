#include "device/cuda/library/driver.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "device/cuda/library/library.h"

/* CUDA 12.0 (driver 525): the first in which every entry point and attribute
 * that sonde rests on is there, clusters included. */
enum { OLDEST_VERSION = 12000 };

static const struct library_entry entries[] = {
#define ENTRY(need, name, arguments)                                           \
    {#name, offsetof(struct driver, name), need},
#include "device/cuda/library/driver.def"
#undef ENTRY
};

static const struct library library = {
    .path = "libcuda.so.1",
    .named = "SONDE_LIBCUDA",
    .entries = entries,
    .count = COUNT_OF(entries),
};

/* What a user can do about a result; of others there is no more to say than
 * what their description does. */
static const struct {
    int result;
    const char *text;
} advice[] = {
    {CUDA_STUB_LIBRARY,
     "the libcuda.so.1 found is the toolkit's stub: take its folder out "
     "of LD_LIBRARY_PATH"},
    {CUDA_DEVICE_UNAVAILABLE,
     "another process holds the GPU: `nvidia-smi "
     "--query-compute-apps=pid,name --format=csv` names it, `nvidia-smi "
     "--query-gpu=compute_mode --format=csv` tells whether the GPU may "
     "be shared"},
    {CUDA_NO_DEVICE,
     "`nvidia-smi -L` should list a GPU (and an instance, if it is "
     "divided by MIG); in a container it must be passed in, and "
     "CUDA_VISIBLE_DEVICES must not hide it"},
    {CUDA_DEVICE_NOT_LICENSED,
     "a virtual GPU needs its licence: `nvidia-smi -q` shows its state"},
    {CUDA_ECC_UNCORRECTABLE,
     "the GPU's memory has a fault: `nvidia-smi -q -d ECC` shows the "
     "counts"},
    {CUDA_JIT_COMPILER_NOT_FOUND,
     "the driver's PTX compiler is missing: install "
     "libnvidia-ptxjitcompiler.so.1 of the same version"},
    {CUDA_UNSUPPORTED_PTX_VERSION,
     "a newer driver takes it"},
    {CUDA_JIT_COMPILATION_DISABLED,
     "unset CUDA_DISABLE_PTX_JIT"},
    {CUDA_OPERATING_SYSTEM,
     "the user must be able to open /dev/nvidia*"},
    {CUDA_LAUNCH_TIMEOUT,
     "the GPU also drives a display, whose watchdog ends long kernels: "
     "use another GPU"},
    {CUDA_SYSTEM_NOT_READY,
     "start the service nvidia-fabricmanager"},
    {CUDA_SYSTEM_DRIVER_MISMATCH,
     "libcuda.so.1 and the kernel module differ in version, as after an "
     "update: reboot"},
    {CUDA_COMPAT_NOT_SUPPORTED,
     "this GPU does not take the compatibility libcuda.so.1: take its "
     "folder out of LD_LIBRARY_PATH"},
    {CUDA_MPS_CONNECTION_FAILED,
     "the MPS service does not answer: start it or unset "
     "CUDA_MPS_PIPE_DIRECTORY"},
    {CUDA_UNKNOWN,
     "`nvidia-smi` shows whether the driver still works; its kernel "
     "modules (nvidia, nvidia_uvm) must be loaded"},
};

static const char *advice_for(int result)
{
    for (size_t i = 0; i < COUNT_OF(advice); i++)
        if (advice[i].result == result)
            return advice[i].text;
    return NULL;
}

static enum error_code code_for(int result)
{
    switch (result) {
    case CUDA_OUT_OF_MEMORY:
        return ERR_DEVICE_MEMORY;
    case CUDA_NO_DEVICE:
    case CUDA_STUB_LIBRARY:
        return ERR_NO_DEVICE;
    case CUDA_NOT_SUPPORTED:
    case CUDA_INVALID_CLUSTER_SIZE:
    case CUDA_OUT_OF_RESOURCES:
        return ERR_UNSUPPORTED;
    default:
        return ERR_DEVICE;
    }
}

bool driver_lost(int result)
{
    switch (result) {
    case CUDA_DEINITIALIZED:
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED:
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_LAUNCH_TIMEOUT:
    case CUDA_CONTEXT_IS_DESTROYED:
    case CUDA_ASSERT:
    case CUDA_HARDWARE_STACK_ERROR:
    case CUDA_ILLEGAL_INSTRUCTION:
    case CUDA_MISALIGNED_ADDRESS:
    case CUDA_INVALID_ADDRESS_SPACE:
    case CUDA_INVALID_PC:
    case CUDA_LAUNCH_FAILED:
    case CUDA_TENSOR_MEMORY_LEAK:
        return true;
    default:
        return false;
    }
}

/* The driver's word for a result, by one of its two tellers. */
static const char *told(int (*teller)(int, const char **), int result)
{
    const char *text = NULL;
    return teller(result, &text) == 0 && text != NULL ? text : "unknown error";
}

int driver_check(const struct driver *driver, int result, struct error *err,
                 const char *entry, const char *act, ...)
{
    if (result == 0)
        return 0;
    char what[512];
    va_list args;
    va_start(args, act);
    vsnprintf(what, sizeof what, act, args);
    va_end(args);
    const char *const help = advice_for(result);
    return error_set(err, code_for(result),
                     "%s: %s failed: %s (%s: %s, %d)%s%s", driver->who, what,
                     told(driver->cuGetErrorString, result), entry,
                     told(driver->cuGetErrorName, result), result,
                     help != NULL ? "; " : "", help != NULL ? help : "");
}

static int open_library(struct driver *driver, struct error *err)
{
    const int status = library_open(&library, &driver->library, driver, err);
    if (status == ERR_NO_DEVICE)
        return error_set(err, ERR_NO_DEVICE,
                         "no NVIDIA driver: %s; install one, or simulate a GPU "
                         "with -d sim:NAME",
                         err->text);
    return status != 0 ? error_prefix(err, "cuda") : 0;
}

static int check_version(struct driver *driver, struct error *err)
{
    const int status =
        DRIVER_CALL(driver, err, cuDriverGetVersion, (&driver->version),
                    "asking for the driver's version");
    if (status != 0)
        return status;
    if (driver->version >= OLDEST_VERSION)
        return 0;
    return error_set(err, ERR_DEVICE,
                     "cuda: the NVIDIA driver is too old: it speaks CUDA "
                     "%d.%d and sonde needs %d.%d; install driver 525 or newer",
                     driver->version / 1000, driver->version % 1000 / 10,
                     OLDEST_VERSION / 1000, OLDEST_VERSION % 1000 / 10);
}

int driver_open(struct driver *driver, struct error *err)
{
    *driver = (struct driver){.who = "cuda"};
    int status = open_library(driver, err);
    if (status != 0)
        return status;
    status = check_version(driver, err);
    if (status == 0)
        status = DRIVER_CALL(driver, err, cuInit, (0), "starting the driver");
    if (status != 0)
        driver_close(driver);
    return status;
}

void driver_close(struct driver *driver)
{
    library_close(driver->library);
    driver->library = NULL;
}
