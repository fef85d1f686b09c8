/*
 * PTX to machine code through the driver's linker, which alone hands the
 * machine code out.
 *
 * A program once compiled is kept until the compiler is closed: modules point
 * at its machine code.  It is looked for in memory, then on disk (cache.h),
 * then assembled for the current context's GPU.
 */
#ifndef SONDE_DEVICE_CUDA_COMPILE_H
#define SONDE_DEVICE_CUDA_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/cuda/cache.h"
#include "device/cuda/library/driver.h"
#include "device/device.h"

struct program {
    struct program *next;
    uint64_t hash;  /* of key */
    struct buf key; /* PTX and all that its machine code depends on */
    struct buf cubin;
    bool from_disk;
};

struct compiler {
    const struct driver *driver;
    void *context;
    char *platform; /* what else the machine code depends on: driver, target */
    struct cache cache;
    struct program *programs;
    size_t taken, from_disk; /* programs since it was opened */
};

/* `platform` names the driver and the GPU's architecture. */
void compiler_open(struct compiler *compiler, const struct driver *driver,
                   void *context, const char *platform, bool no_cache);
void compiler_close(struct compiler *compiler);

/* The compiled program; ERR_PTX with the assembler's first complaint and the
 * line of PTX that it is about. */
int compiler_program(struct compiler *compiler, const struct source *source,
                     struct program **program, struct error *err);

/* Assembles anew what the driver would not take from the disk. */
int compiler_renew(struct compiler *compiler, struct program *program,
                   const struct source *source, struct error *err);

/* Compiles those that are not in memory yet, on all cores that the process
 * may use.  One that fails is left for compiler_program to complain of. */
void compiler_prepare(struct compiler *compiler, const struct source *sources,
                      size_t count);

#endif
