/*
 * A shot: one launch of a kernel with arguments of 64 bits each, and buffers
 * whose words it fills.
 */
#ifndef SONDE_PROBE_RUN_SHOT_H
#define SONDE_PROBE_RUN_SHOT_H

#include "probe/run.h"

struct shot {
    const char *kernel;       /* its entry */
    unsigned blocks, threads; /* of the grid; of a block */
    uint64_t shared_bytes;    /* dynamic ones of a block */
    int carve_out;            /* as in struct launch */
    double deadline_s;        /* 0: the usual one */
    const uint64_t *args;
    size_t arg_count;
    bool ahead; /* as in struct launch */
};

/* What a struct of KERNEL_PARAMETERS holds. */
#define SHOT_ARGUMENTS(arguments)                                              \
    .args = (const uint64_t *)(arguments),                                     \
    .arg_count = sizeof *(arguments) / sizeof(uint64_t)

/* Launches the experiment's kernel. */
int prober_shoot(struct prober *prober, const struct experiment *experiment,
                 const struct shot *shot, struct error *err);
/* Launches one thread of it, whose parameters are `out` and that number, and
 * fetches what it wrote there. */
int prober_shoot_thread(struct prober *prober,
                        const struct experiment *experiment, uint64_t number,
                        uint64_t *words, size_t count, struct error *err);
/* Launches a helper, of which `ptx` is the program. */
int prober_shoot_helper(struct prober *prober, const struct buf *ptx,
                        const struct shot *shot, struct error *err);

/* A buffer as prober_buffer() gives it, with these bytes in it; … */
int prober_place(struct prober *prober, enum prober_buffer which,
                 const void *from, size_t bytes, uint64_t *address,
                 struct error *err);
/* … with so many that are zero. */
int prober_zeros(struct prober *prober, enum prober_buffer which, size_t bytes,
                 uint64_t *address, struct error *err);
/* What stands in device memory: the caller frees; NULL if it failed. */
uint64_t *prober_fetch(struct prober *prober, uint64_t address, size_t bytes,
                       struct error *err);

#endif
