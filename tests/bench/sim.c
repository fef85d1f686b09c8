/*
 * How fast the simulator is: PTX instructions a second of (a) one lane that
 * chases pointers in L1, (b) 32 full warps that compute, (c) a chase through a
 * ring larger than L2, each with the noise on.  An instruction of a warp
 * counts once, however many lanes it has, and the seconds are of processor
 * time, whoever else has the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "device/sim/sim.h"
#include "gpu_made.h"

static const char gpu_wishes[] =
    "compute_capability='9.0' sms=16 max_blocks_per_sm=32 "
    "memory_bytes=17179869184 "
    "caches/l1={'sets': 4, 'ways': 256} caches/l2/sets=16384 "
    "tlbs/l1={'page': 2097152, 'entries': 16} "
    "paths/global.ca={'l1': 32, 'l2': 280, 'memory': [650, 650, 700]} "
    "paths/global.cg={'l2': 280, 'memory': [650, 650, 700]} "
    "shared_memory={'bytes': 65536, 'latency': 29, 'conflict_cycles': 2} "
    "isa/default/O0=15 "
    "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, 'spike_cycles': 300}";

#define HEAD                                                                   \
    ".version 7.8\n.target sm_90\n.address_size 64\n"                          \
    ".visible .entry k(.param .u64 ring, .param .u32 laps)\n{\n"               \
    ".reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"                      \
    "ld.param.u64 %rd0, [ring]; ld.param.u32 %r0, [laps];\n"

/* 8 loads, then add, setp and bra: 11 instructions a lap. */
/* Of processor time that this thread has used: it stands still while others
 * have the processor. */
static double worked_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char chase[] =
    HEAD "loop:\n"
         "ld.global.ca.u64 %rd0, [%rd0]; ld.global.ca.u64 %rd0, [%rd0];\n"
         "ld.global.ca.u64 %rd0, [%rd0]; ld.global.ca.u64 %rd0, [%rd0];\n"
         "ld.global.ca.u64 %rd0, [%rd0]; ld.global.ca.u64 %rd0, [%rd0];\n"
         "ld.global.ca.u64 %rd0, [%rd0]; ld.global.ca.u64 %rd0, [%rd0];\n"
         "sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0;\n"
         "@%p bra loop;\nret;\n}\n";

static const char arithmetic[] =
    HEAD "loop:\n"
         "mad.lo.u32 %r1, %r1, %r2, %r3; xor.b32 %r2, %r2, %r1;\n"
         "mad.lo.u32 %r4, %r4, %r5, %r6; xor.b32 %r5, %r5, %r4;\n"
         "add.u32 %r3, %r3, %r1; shl.b32 %r6, %r4, 1;\n"
         "and.b32 %r1, %r1, %r6; or.b32 %r2, %r2, %r3;\n"
         "sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0;\n"
         "@%p bra loop;\nret;\n}\n";

enum { LAP_INSTRUCTIONS = 11, STRIDE = 128 };

static void stop_on(int code, const struct error *err)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* A ring of pointers, STRIDE apart; 0 bytes: none. */
static uint64_t make_ring(struct device *d, uint64_t bytes)
{
    struct error err;
    uint64_t address;
    stop_on(device_allocate(d, bytes + STRIDE, &address, &err), &err);
    uint64_t *const ring = xcalloc(1, bytes + STRIDE);
    for (uint64_t at = 0; at < bytes; at += STRIDE)
        ring[at / 8] = address + (at + STRIDE) % bytes;
    stop_on(device_copy_in(d, address, ring, bytes + STRIDE, &err), &err);
    free(ring);
    return address;
}

static void measure(const char *what, const char *ptx, uint64_t bytes,
                    unsigned threads, uint32_t laps)
{
    struct error err;
    struct profile *profile;
    struct module *module;
    struct kernel *kernel;
    char *const text = gpu_made("%s", gpu_wishes);
    stop_on(profile_parse(text, "bench", &profile, &err), &err);
    free(text);
    struct device *const d = sim_open_profile(profile, "bench", 1);
    const uint64_t ring = make_ring(d, bytes);
    stop_on(device_load(d, &(struct source){ptx, 3}, &module, &err), &err);
    stop_on(device_kernel(d, module, "k", &kernel, &err), &err);
    const struct launch launch = {.block = {threads},
                                  .args = {&ring, &laps},
                                  .arg_count = 2,
                                  .deadline_s = 100};
    const double start = worked_seconds();
    stop_on(device_launch(d, kernel, &launch, &err), &err);
    const double warps = (threads + 31) / 32;
    const double count = LAP_INSTRUCTIONS * (double)laps * warps;
    printf("%-34s %6.1f million instructions a second\n", what,
           count / (worked_seconds() - start) * 1e-6);
    device_unload(d, module);
    device_close(d);
}

int main(void)
{
    measure("one lane, ring in L1", chase, 65536, 1, 2000000);
    measure("one lane, ring in L2", chase, 16 << 20, 1, 500000);
    measure("32 warps, arithmetic", arithmetic, 0, 1024, 50000);
    measure("one lane, ring larger than L2", chase, 256 << 20, 1, 500000);
    return 0;
}
