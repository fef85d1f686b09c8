/*
 * What the tests of the simulator share: a small GPU whose numbers are easy
 * to tell apart, and a way to run a few lines of PTX on it.
 */
#ifndef SONDE_TESTS_UNIT_SIM_RIG_H
#define SONDE_TESTS_UNIT_SIM_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/device.h"

struct rig {
    struct device *device;
    uint64_t out, in; /* RIG_WORDS 64-bit words each; all 0 at first */
    struct error err;
};

enum { RIG_WORDS = 8192 };

struct rig rig_open(void);
/* With what the GPU has otherwise, as gpu_made.h says. */
struct rig rig_open_with(const char *gpu, uint64_t seed);
void rig_close(struct rig *rig);

/*
 * The body of the kernel k(u64 out, u64 in, u32 n).  It finds the registers
 * %h0…7 (b16), %r0…31 (b32), %rd0…31 (b64), %f0…7, %d0…7, %p0…7, and in %out,
 * %in, %n the parameters; the rig adds `ret`.  Its first line is RIG_LINE.
 */
enum { RIG_LINE = 14, LEVEL_O0 = -1 };
struct rig_run {
    const char *body;
    /* What is 0 is 1, level: 3, deadline: the device's, n: 0. */
    const char *variables; /* of module scope */
    unsigned blocks, threads, shared;
    uint32_t n;
    int level; /* -O0 is LEVEL_O0 */
    double deadline_s;
};

/* rig_try(&rig, "body", .threads = 32) returns the code of what failed, if
 * anything did; with rig_run the test fails then. */
#define rig_try(rig, ...)                                                      \
    rig_try_with(rig, &(struct rig_run){.body = __VA_ARGS__})
#define rig_run(rig, ...)                                                      \
    rig_run_with(rig, &(struct rig_run){.body = __VA_ARGS__})
int rig_try_with(struct rig *rig, const struct rig_run *run);
void rig_run_with(struct rig *rig, const struct rig_run *run);

uint64_t rig_out(struct rig *rig, size_t word);
void rig_in(struct rig *rig, size_t word, uint64_t value);
/* A ring of `count` pointers from `word` of `in` on, `step` words apart. */
void rig_ring(struct rig *rig, size_t word, size_t count, size_t step);

/* "mov.u32 %r30, %clock;" BODY "mov.u32 %r31, %clock;" and the difference to
 * out[0]. */
#define TIMED(body)                                                            \
    "mov.u32 %r30, %clock;\n" body "\nmov.u32 %r31, %clock;\n"                 \
    "sub.u32 %r31, %r31, %r30;\ncvt.u64.u32 %rd31, %r31;\n"                    \
    "st.global.u64 [%out], %rd31;\n"

#endif
