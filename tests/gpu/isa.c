/*
 * What instructions cost on the first GPU, if it is a Hopper (compute
 * capability 9.0), whose numbers are known: latency at -O0 and -O3,
 * throughput, snippets that are traps, and our reading of the machine code of
 * every row against that of nvdisasm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "device/device.h"
#include "probe/run/snippet_kernel.h"
#include "probe/run.h"
#include "ptx/instruction.h"
#include "sonde.h"
#include "testing.h"
#include "unit/disassembler.h"

enum { HOPPER = 90 };

static const int levels[] = {0, 3};

/* Measured on H200, driver 580.159, 2026-11. */
static const struct {
    const char *id;
    double least, most;
} ranges[] = {
    {"isa.fma.rn.f32.latency.O3",         3.95, 4.05 },
    {"isa.add.f32.latency.O3",            3.95, 4.05 },
    {"isa.mad.lo.u32.latency.O3",         3.95, 4.05 },
    {"isa.xor.b32.latency.O3",            3.95, 4.05 },
    {"isa.lop3.b32.latency.O3",           3.95, 4.05 },
    {"isa.fma.rn.f64.latency.O3",         7.9,  8.1  },
    {"isa.mul.hi.u32.latency.O3",         8.9,  9.1  },
    {"isa.popc.b32.latency.O3",           16.8, 17.2 },
    {"isa.fma.rn.f32.latency.O0",         14.9, 15.1 },
    {"isa.add.f32.latency.O0",            14.9, 15.1 },
    {"isa.mad.lo.u32.latency.O0",         14.9, 15.1 },
    {"isa.xor.b32.latency.O0",            14.9, 15.1 },
    {"isa.fma.rn.f32.throughput",         126,  128.5},
    {"isa.fma.rn.f64.throughput",         63,   64.5 },
    {"isa.mad.lo.u32.throughput",         63,   64.5 },
    {"isa.ex2.approx.ftz.f32.throughput", 15.8, 16.1 },
};

/* Chains of which the assembler makes something else. */
static const struct {
    const char *snippet, *values, *trap;
} traps[] = {
    {"xor.b32 %r0, %r0, %r1;",  "",                   "folds"       },
    {"add.u32 %r0, %r0, %r1;",  "",                   "merges pairs"},
    {"mul.lo.u32 %r0, %r0, 8;", "",                   "is replaced" },
    {"div.u32 %r0, %r0, %r1;",  "r0=4000000000 r1=3", "divides once"},
};

/* Measured once, before the tests, which only look: a process that is forked
 * cannot use the GPU of the one before. */
static struct {
    char *why; /* there is nothing to look at */
    struct sonde *session;
    bool taken[COUNT_OF(traps)]; /* for a number */
    char *because[COUNT_OF(traps)];
    char *folder; /* of machine code: LEVEL-ROW.cubin */
} gpu;

static char *code_path(size_t row, int level)
{
    return xasprintf("%s/%d-%zu.cubin", gpu.folder, level, row);
}

static char *code_experiment(const struct instruction *row, int level)
{
    return xasprintf("machine row=%s level=%d form=%s copies=2", row->name,
                     level, level == 0 ? "plain" : copies_forms[row->form]);
}

static bool has_code(const struct instruction *row)
{
    return row->snippet != NULL && row->cc <= HOPPER &&
           (row->cc_only == 0 || row->cc_only == HOPPER);
}

/* The kernel of a row as the driver assembles it, if it does. */
static void keep_code(struct prober *prober, size_t row, int level)
{
    char *const text = code_experiment(&instruction_table[row], level);
    char *const path = code_path(row, level);
    const void *data;
    size_t length;
    struct experiment e;
    struct error err;
    ASSERT_DONE(experiment_parse(text, &e, &err), err);
    ASSERT_DONE(probe_prepare(&e, prober_info(prober), &err), err);
    if (prober_code(prober, &e, &data, &length, &err) == 0)
        ASSERT_DONE(file_write(path, data, length, &err), err);
    experiment_free(&e);
    free(path);
    free(text);
}

static void keep_level(struct prober *prober, int level)
{
    char **texts = NULL;
    size_t count = 0;
    for (size_t i = 0; instruction_table[i].name != NULL; i++)
        if (has_code(&instruction_table[i])) {
            texts = xreallocarray(texts, count + 1, sizeof *texts);
            texts[count++] = code_experiment(&instruction_table[i], level);
        }
    prober_prepare(prober, (const char *const *)texts, count);
    for (size_t i = 0; instruction_table[i].name != NULL; i++)
        if (has_code(&instruction_table[i]))
            keep_code(prober, i, level);
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

/* Sets `why` where there is no Hopper. */
static void keep_all_code(void)
{
    const struct device_options options = {.seed = 1};
    struct device *device;
    struct error err;
    if (device_open("cuda:0", &options, &device, NULL, &err) != 0) {
        gpu.why = xstrdup(err.text);
        return;
    }
    const struct device_info *const info = &device->info;
    if (10 * info->cc_major + info->cc_minor != HOPPER)
        gpu.why = xasprintf("%s has compute capability %d.%d, not 9.0",
                            info->name, info->cc_major, info->cc_minor);
    gpu.folder = testing_folder();
    struct prober *const prober =
        prober_new(device, NULL, &(struct prober_options){.seed = 1});
    for (size_t l = 0; gpu.why == NULL && l < COUNT_OF(levels); l++)
        keep_level(prober, levels[l]);
    prober_free(prober);
    device_close(device);
}

static const struct sonde_options options = {.device = "cuda:0", .seed = 1};
static const char trapped[] = "bench.latency.O3";

static void spring(size_t trap)
{
    const struct sonde_bench wish = {.snippet = traps[trap].snippet,
                                     .values = traps[trap].values,
                                     .levels = 1u << 3};
    struct sonde_error err;
    struct sonde *session;
    double found;
    ASSERT_DONE(sonde_open(&session, &options, &err), err);
    ck_assert_msg(sonde_bench(session, &wish, &err) >= 0, "%s", err.text);
    gpu.taken[trap] = sonde_number(session, trapped, &found);
    const char *const because = sonde_because(session, trapped);
    gpu.because[trap] = xstrdup(because != NULL ? because : "no reason");
    sonde_close(session, &err);
}

static void begin(void)
{
    const struct sonde_isa all = {.pattern_count = 0};
    struct sonde_error err;
    keep_all_code();
    if (gpu.why != NULL)
        return;
    for (size_t i = 0; i < COUNT_OF(traps); i++)
        spring(i);
    if (sonde_open(&gpu.session, &options, &err) != 0 ||
        sonde_isa(gpu.session, &all, &err) < 0)
        gpu.why = xstrdup(err.text);
}

static void end(void)
{
    struct sonde_error err;
    if (gpu.session != NULL)
        sonde_close(gpu.session, &err);
    for (size_t i = 0; i < COUNT_OF(traps); i++)
        free(gpu.because[i]);
    free(gpu.folder);
    free(gpu.why);
}

START_TEST(cost_is_in_its_range)
{
    double found;
    const char *const id = ranges[_i].id;
    if (gpu.why != NULL)
        SKIP("%s: %s", id, gpu.why);
    ck_assert_msg(sonde_number(gpu.session, id, &found),
                  "%s was not measured: %s", id,
                  sonde_because(gpu.session, id));
    ck_assert_msg(found >= ranges[_i].least && found <= ranges[_i].most,
                  "%s is %g, not from %g to %g", id, found, ranges[_i].least,
                  ranges[_i].most);
}
END_TEST

/* A finding that is a number, or says why it is none; what has no result has no
 * finding. */
static void assert_told(const char *row, const char *attribute)
{
    char id[160];
    double found;
    snprintf(id, sizeof id, "isa.%s.%s", row, attribute);
    if (sonde_status(gpu.session, id) == NULL)
        return;
    if (sonde_number(gpu.session, id, &found))
        ck_assert_msg(found > 0 && found < 1e6, "%s is %g", id, found);
    else
        ck_assert_msg(sonde_because(gpu.session, id) != NULL,
                      "%s: no number and no reason", id);
}

START_TEST(every_row_has_numbers_or_reasons)
{
    if (gpu.why != NULL)
        SKIP("%s", gpu.why);
    for (const struct instruction *r = instruction_table; r->name != NULL;
         r++) {
        assert_told(r->name, "latency.O0");
        assert_told(r->name, "latency.O3");
        assert_told(r->name, "throughput");
    }
}
END_TEST

START_TEST(trap_is_not_verified)
{
    if (gpu.why != NULL)
        SKIP("%s: %s", traps[_i].snippet, gpu.why);
    ck_assert_msg(!gpu.taken[_i], "%s: a chain that %s has a latency",
                  traps[_i].snippet, traps[_i].trap);
    ck_assert_msg(strstr(gpu.because[_i], "not verified") != NULL, "%s",
                  gpu.because[_i]);
}
END_TEST

START_TEST(machine_code_is_read_as_nvdisasm_does)
{
    char **paths = NULL;
    size_t count = 0;
    if (gpu.why != NULL)
        SKIP("%s", gpu.why);
    if (!disassembler_installed())
        SKIP("no nvdisasm is installed");
    for (size_t i = 0; instruction_table[i].name != NULL; i++) {
        char *const path = code_path(i, levels[_i]);
        paths = xreallocarray(paths, count + 1, sizeof *paths);
        if (access(path, R_OK) == 0)
            paths[count++] = path;
        else
            free(path);
    }
    ck_assert_uint_gt(disassembler_compare_all(paths, count), 10000);
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}
END_TEST

Suite *suite_gpu_isa(void)
{
    TCase *t;
    Suite *const suite = suite_of("gpu_isa", 300, &t);
    tcase_add_unchecked_fixture(t, begin, end);
    tcase_add_loop_test(t, cost_is_in_its_range, 0, COUNT_OF(ranges));
    tcase_add_test(t, every_row_has_numbers_or_reasons);
    tcase_add_loop_test(t, trap_is_not_verified, 0, COUNT_OF(traps));
    tcase_add_loop_test(t, machine_code_is_read_as_nvdisasm_does, 0,
                        COUNT_OF(levels));
    return suite;
}
