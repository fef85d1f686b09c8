#include "device/cuda/library/driver.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

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
    .owner = LIBRARY_DRIVER,
    .entries = entries,
    .count = COUNT_OF(entries),
};

enum { KEPT, LOST };

/* Ends with what all others are. */
static const struct result {
    int number;
    enum error_code code;
    bool lost;
    const char *advice; /* NULL: none */
} results[] = {
#define RESULT(name, number, ...) {number, __VA_ARGS__},
#include "device/cuda/library/results.def"
#undef RESULT
    {0, ERR_DEVICE, KEPT, NULL},
};

static const struct result *result_of(int number)
{
    const struct result *r = results;
    while (r->number != 0 && r->number != number)
        r++;
    return r;
}

bool driver_lost(int result)
{
    return result_of(result)->lost;
}

/* The driver's word for a result, by one of its two tellers. */
#define TOLD(driver, teller, result, text)                                     \
    (DRIVER_ASK(driver, teller, (result, &(text))) == 0 && (text) != NULL      \
         ? (text)                                                              \
         : "unknown error")

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
    const struct result *const r = result_of(result);
    const char *text = NULL, *name = NULL;
    text = TOLD(driver, cuGetErrorString, result, text);
    name = TOLD(driver, cuGetErrorName, result, name);
    return error_set(err, r->code, "%s: %s failed: %s (%s: %s, %d)%s%s",
                     driver->who, what, text, entry, name, result,
                     r->advice != NULL ? "; " : "",
                     r->advice != NULL ? r->advice : "");
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
