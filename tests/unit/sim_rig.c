/* The GPU of sim_rig.h, and its kernel around a body. */
#include "unit/sim_rig.h"

#include <check.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/sim/sim.h"
#include "testing.h"

static const char default_caches[] =
    "\"l1\": {\"size\": 1024, \"line\": 128, \"sector\": 32, \"sets\": 2,"
    "         \"ways\": 4, \"policy\": \"lru\"},"
    "\"l2\": {\"size\": 8192, \"line\": 128, \"sector\": 32, \"sets\": 4,"
    "         \"ways\": 16, \"policy\": \"lru\", \"scope\": \"gpu\"},"
    "\"const\": {\"size\": 512, \"line\": 64, \"sector\": 64, \"sets\": 1,"
    "            \"ways\": 8, \"policy\": \"lru\"},"
    "\"texture\": {\"size\": 512, \"line\": 32, \"sector\": 32, \"sets\": 1,"
    "              \"ways\": 16, \"policy\": \"lru\"}";

#define LATENCY(near, cycles, l2, memory)                                      \
    "\"latency\": {" near cycles "\"l2\": " l2 ", \"memory\": " memory "}}"
static const char default_paths[] =
    "\"global.ca\": {\"caches\": [\"l1\", \"l2\"]," LATENCY(
        "\"l1\": ", "40,", "200", "500") ","
    "\"global.cg\": {\"unoptimized_cycles\": 7,"
    "                \"caches\": [\"l2\"]," LATENCY("", "", "190", "490") ","
    "\"readonly\": {\"caches\": [\"texture\", \"l2\"]," LATENCY(
        "\"texture\": ", "90,", "205", "505") ","
    "\"texture\": {\"caches\": [\"texture\", \"l2\"]," LATENCY(
        "\"texture\": ", "100,", "220", "520") ","
    "\"constant\": {\"caches\": [\"const\", \"l2\"]," LATENCY(
        "\"const\": ", "20,", "210", "510") ","
    "\"local\": {\"caches\": [\"l1\", \"l2\"]," LATENCY(
        "\"l1\": ", "41,", "201", "501");

static const char profile_format[] =
    "{\"name\": \"%s\", \"architecture\": \"Hopper\","
    " \"compute_capability\": \"9.0\", \"source\": \"made up\","
    " \"sms\": 4, \"warp_schedulers\": 2, \"max_threads_per_block\": 256,"
    " \"max_warps_per_sm\": 16, \"max_blocks_per_sm\": 4,"
    " \"clock_khz\": 1000000, \"memory_bytes\": 17179869184,"
    " \"clock_overhead\": 2, \"clock_overhead_unoptimized\": 19,"
    " \"caches\": {%s}, %s \"paths\": {%s},"
    " \"shared_memory\": {\"bytes\": 4096, \"latency\": 30, \"banks\": 32,"
    "                     \"unoptimized_cycles\": 11,"
    "                     \"bank_bytes\": 4, \"conflict_cycles\": 10},"
    " \"isa\": {%s} %s %s}";

static const char *or_else(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

struct rig rig_open_with(const struct rig_options *options)
{
    struct rig rig = {0};
    struct profile *profile;
    char *const text = xasprintf(
        profile_format, or_else(options->name, "rig"),
        or_else(options->caches, default_caches),
        or_else(options->tlbs, ""), or_else(options->paths, default_paths),
        or_else(options->isa,
                "\"default\": {\"O3\": 6, \"O0\": 18},"
                "\"add.u32\": {\"O3\": 5},"
                "\"mul.lo.u32\": {\"O3\": 7, \"issue\": 4}"),
        or_else(options->noise, ""), or_else(options->more, ""));
    const uint64_t bytes = RIG_WORDS * sizeof(uint64_t);
    ASSERT_DONE(profile_parse(text, "rig", &profile, &rig.err), rig.err);
    free(text);
    rig.device = sim_open_profile(profile, "rig", options->seed);
    ASSERT_DONE(device_allocate(rig.device, bytes, &rig.out, &rig.err),
                rig.err);
    ASSERT_DONE(device_allocate(rig.device, bytes, &rig.in, &rig.err),
                rig.err);
    return rig;
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
    const int level = run->level == 0 ? 3 : run->level == LEVEL_O0 ? 0
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
