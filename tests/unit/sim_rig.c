/* The GPU of sim_rig.h, and its kernel around a body. */
#include "unit/sim_rig.h"

#include <check.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/sim/sim.h"
#include "gpu_made.h"
#include "testing.h"

static const char rig_gpu[] =
    "name=rig architecture=Hopper compute_capability='9.0' source='made up' "
    "warp_schedulers=2 max_threads_per_block=256 max_warps_per_sm=16 "
    "max_blocks_per_sm=4 memory_bytes=17179869184 "
    "clock_overhead_unoptimized=19 "
    "caches/l1={'sets': 2, 'ways': 4} caches/l2/sets=4 "
    "caches/const={'line': 64, 'sets': 1, 'ways': 8} "
    "caches/texture={'line': 32, 'sets': 1, 'ways': 16} "
    "paths/global.ca={'l1': 40, 'l2': 200, 'memory': 500} "
    "paths/global.cg={'l2': 190, 'memory': 490} "
    "paths/global.cg/unoptimized_cycles=7 "
    "paths/readonly={'texture': 90, 'l2': 205, 'memory': 505} "
    "paths/texture={'texture': 100, 'l2': 220, 'memory': 520} "
    "paths/constant={'const': 20, 'l2': 210, 'memory': 510} "
    "paths/local={'l1': 41, 'l2': 201, 'memory': 501} "
    "shared_memory={'bytes': 4096, 'latency': 30, 'conflict_cycles': 10, "
    "               'unoptimized_cycles': 11} "
    "isa={'default': {'O3': 6, 'O0': 18}, 'add.u32': {'O3': 5}, "
    "     'mul.lo.u32': {'O3': 7, 'issue': 4}}";

static const char *or_else(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

struct rig rig_open_with(const char *gpu, uint64_t seed)
{
    struct rig rig = {0};
    struct profile *profile;
    char *const text = gpu_made("%s %s", rig_gpu, gpu);
    const uint64_t bytes = RIG_WORDS * sizeof(uint64_t);
    ASSERT_DONE(profile_parse(text, "rig", &profile, &rig.err), rig.err);
    free(text);
    rig.device = sim_open_profile(profile, "rig", seed);
    ASSERT_DONE(device_allocate(rig.device, bytes, &rig.out, &rig.err),
                rig.err);
    ASSERT_DONE(device_allocate(rig.device, bytes, &rig.in, &rig.err), rig.err);
    return rig;
}

struct rig rig_open(void)
{
    return rig_open_with("", 0);
}

void rig_close(struct rig *rig)
{
    device_close(rig->device);
}

/* RIG_LINE - 1 lines. */
static const char kernel_format[] =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    "%s\n"
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n"
    "{\n"
    ".reg .b16 %%h<8>; .reg .b32 %%r<32>, %%n; .reg .b64 %%rd<32>, %%out;\n"
    ".reg .b64 %%in; .reg .f32 %%f<8>; .reg .f64 %%d<8>; .reg .pred %%p<8>;\n"
    "// the parameters\n"
    "ld.param.u64 %%out, [out];\n"
    "ld.param.u64 %%in, [in];\n"
    "ld.param.u32 %%n, [n];\n"
    "bar.sync 0;\n"
    "%s\n"
    "ret;\n"
    "}\n";

int rig_try_with(struct rig *rig, const struct rig_run *run)
{
    struct module *module;
    struct kernel *kernel;
    char *const ptx =
        xasprintf(kernel_format, or_else(run->variables, "//"), run->body);
    const int level = run->level == 0          ? 3
                      : run->level == LEVEL_O0 ? 0
                                               : run->level;
    int code = device_load(rig->device, &(struct source){ptx, level}, &module,
                           &rig->err);
    free(ptx);
    if (code != 0)
        return code;
    ASSERT_DONE(device_kernel(rig->device, module, "k", &kernel, &rig->err),
                rig->err);
    const struct launch launch = {
        .grid = {run->blocks},
        .block = {run->threads},
        .shared_bytes = run->shared,
        .args = {&rig->out, &rig->in, &run->n},
        .arg_count = 3,
        .deadline_s = run->deadline_s,
    };
    code = device_launch(rig->device, kernel, &launch, &rig->err);
    device_unload(rig->device, module);
    return code;
}

void rig_run_with(struct rig *rig, const struct rig_run *run)
{
    ck_assert_msg(rig_try_with(rig, run) == 0, "%s\n%s", rig->err.text,
                  run->body);
}

uint64_t rig_out(struct rig *rig, size_t word)
{
    uint64_t value;
    ASSERT_DONE(device_copy_out(rig->device, &value, rig->out + word * 8,
                                sizeof value, &rig->err),
                rig->err);
    return value;
}

void rig_in(struct rig *rig, size_t word, uint64_t value)
{
    ASSERT_DONE(device_copy_in(rig->device, rig->in + word * 8, &value,
                               sizeof value, &rig->err),
                rig->err);
}

void rig_ring(struct rig *rig, size_t word, size_t count, size_t step)
{
    for (size_t i = 0; i < count; i++)
        rig_in(rig, word + i * step,
               rig->in + (word + (i + 1) % count * step) * 8);
}
