/*
 * The fake driver (fake/cuda.c, fake/nvml.c) as its tests use it.  What it
 * does on demand is asked for in the environment, and what it counted can be
 * read; both last for one test, which runs in a process of its own.
 */
#ifndef SONDE_TESTS_DRIVER_FAKE_DRIVER_H
#define SONDE_TESTS_DRIVER_FAKE_DRIVER_H

#include <stdbool.h>

#include "device/device.h"
#include "testing.h"

/* Points the device at the fake libraries and at an empty cache; false where
 * they are not built. */
bool fake_use(void);

#define NEED_FAKE()                                                            \
    do {                                                                       \
        if (!fake_use())                                                       \
            SKIP("the fake driver is not built");                              \
    } while (0)

/* A counter of fake/cuda.c: fake_links, fake_live, fake_swept. */
int fake_count(const char *counter);

/* Makes an entry point answer the code: always, or at its Nth call only. */
void fake_fail(const char *entry, int code, int call);

/* Puts a copy of the driver in its place that lacks the entry point. */
void fake_without(const char *entry);

/* A program that the fake assembler takes, with the kernel `chase` and the
 * variable `table`. */
extern const char *const fake_ptx;

/* cuda:0, opened, and the kernel of fake_ptx, loaded; the test fails if it
 * cannot be. */
struct device *fake_open(const struct device_options *options);
struct kernel *fake_kernel(struct device *device);

#endif
