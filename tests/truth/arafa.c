/*
 * The tables of Arafa 2019 as they are printed.  Of K40m and K80c where they
 * differ, the K40m's; the second of the two rows "{u} div (regular)" is the
 * irregular one.  Averages are printed without their halves.
 *
 * What fills the cells is the caller's.  The test here needs no study: it runs
 * a chain of copies of the instruction, and one three times as long, between
 * clocks.
 */
#include "truth/arafa.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "device/device.h"
#include "testing.h"

enum { GPUS = 5, NONE = -1, NAMES_MAX = 160 };

/* A line of a table: one number for all of its names, by GPU. */
struct line {
    const char *names;
    int optimized[GPUS], unoptimized[GPUS]; /* NONE: not supported */
};

struct table {
    const char *title;
    const char *ids[2]; /* of a name's findings: optimised, not optimised */
    const char *gpus[GPUS];
    const struct line *lines;
    size_t line_count;
};

/* clang-format off */
static const struct line instructions[] = {
    {"add.u32 add.s32 sub.u32 sub.s32 min.u32 min.s32 max.u32 max.s32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"mul.lo.u32 mul.lo.s32 mad.lo.u32 mad.lo.s32",
     {9, 13, 13, 4, 4},
     {16, 87, 85, 15, 15}},
    {"div.s32.regular",
     {134, 141, 144, 125, 117},
     {791, 1020, 1039, 815, 785}},
    {"div.s32.irregular",
     {164, 160, 163, 129, 121},
     {791, 1020, 1039, 815, 785}},
    {"div.s32",
     {149, 150, 153, 127, 119},
     {791, 1020, 1039, 815, 785}},
    {"rem.s32",
     {132, 141, 144, 125, 114},
     {751, 955, 1017, 770, 740}},
    {"abs.s32",
     {16, 13, 13, 8, 8},
     {32, 30, 30, 30, 45}},
    {"div.u32.regular",
     {123, 127, 130, 120, 112},
     {608, 856, 851, 619, 589}},
    {"div.u32.irregular",
     {140, 146, 149, 125, 116},
     {608, 856, 851, 619, 589}},
    {"div.u32",
     {131, 136, 139, 122, 114},
     {608, 856, 851, 619, 589}},
    {"rem.u32",
     {116, 127, 139, 117, 109},
     {576, 826, 821, 590, 560}},
    {"and.b32 or.b32 xor.b32 not.b32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"cnot.b32",
     {18, 6, 12, 8, 8},
     {48, 45, 45, 45, 45}},
    {"shl.b32 shr.u32 shr.s32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"add.f32 sub.f32 min.f32 max.f32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"mul.f32 mad.rn.f32 fma.rn.f32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"div.rn.f32.regular",
     {151, 135, 167, 123, 152},
     {661, 725, 671, 638, 546}},
    {"div.rn.f32.irregular",
     {686, 765, 649, 280, 303},
     {661, 725, 671, 638, 546}},
    {"div.rn.f32",
     {418, 450, 408, 201, 227},
     {661, 725, 671, 638, 546}},
    {"add.f64 sub.f64 min.f64 max.f64",
     {10, 48, 8, 8, 40},
     {16, 52, 15, 15, 48}},
    {"mul.f64 mad.rn.f64 fma.rn.f64",
     {10, 48, 8, 8, 40},
     {16, 52, 15, 15, 54}},
    {"div.rn.f64",
     {445, 709, 545, 159, 540},
     {1588, 1821, 1399, 945, 1202}},
    {"add.f16 sub.f16",
     {NONE, NONE, 6, 6, 6},
     {NONE, NONE, 15, 15, 15}},
    {"mul.f16",
     {NONE, NONE, 6, 6, 6},
     {NONE, NONE, 15, 15, 15}},
    {"fma.rn.f16",
     {NONE, NONE, 6, 6, 6},
     {NONE, NONE, 15, 15, 15}},
    {"add.cc.u32 addc.u32 sub.cc.u32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"subc.u32",
     {18, 12, 12, 8, 8},
     {32, 30, 30, 30, 30}},
    {"mad.lo.cc.u32 madc.lo.u32",
     {9, 13, 13, 4, 4},
     {16, 87, 85, 15, 15}},
    {"rcp.rn.f32",
     {377, 347, 266, 60, 92},
     {459, 534, 395, 316, 315}},
    {"sqrt.rn.f32",
     {432, 360, 282, 60, 96},
     {465, 540, 393, 330, 330}},
    {"sqrt.approx.f32",
     {49, 47, 35, 31, 31},
     {304, 285, 540, 270, 270}},
    {"rsqrt.approx.f32",
     {40, 34, 35, 31, 31},
     {288, 270, 270, 270, 270}},
    {"sin.approx.f32 cos.approx.f32",
     {18, 15, 15, 11, 13},
     {32, 30, 30, 30, 30}},
    {"lg2.approx.f32",
     {40, 34, 35, 31, 31},
     {288, 270, 270, 270, 270}},
    {"ex2.approx.f32",
     {49, 40, 41, 22, 32},
     {256, 240, 240, 225, 225}},
    {"copysign.f32",
     {21, 20, 20, 8, 7},
     {80, 75, 75, 75, 75}},
    {"mul24.lo.u32 mul24.lo.s32 mad24.lo.u32 mad24.lo.s32",
     {22, 21, 21, 12, 12},
     {48, 118, 114, 75, 75}},
    {"mul.hi.u32 mul.hi.s32",
     {9, 18, 18, 12, 8},
     {16, 85, 86, 32, 17}},
    {"mul.hi.u64 mul.hi.s64",
     {226, 106, 118, 123, 123},
     {896, 1419, 1420, 578, 578}},
    {"sad.u32 sad.s32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"popc.b32",
     {9, 13, 13, 15, 15},
     {32, 45, 45, 45, 45}},
    {"clz.b32",
     {20, 19, 18, 5, 21},
     {32, 30, 30, 30, 30}},
    {"bfe.u32 bfe.s32 bfi.b32",
     {9, 6, 6, 4, 4},
     {16, 15, 15, 15, 15}},
    {"bfind.u32 bfind.s32 brev.b32",
     {9, 6, 6, 15, 15},
     {48, 45, 45, 45, 45}},
};

/* V100, CUDA 9.0 and 10.0; of what is not optimised the table says nothing. */
static const struct line toolkits[] = {
    {"div.rn.f32.regular", {123, 116}, {NONE, NONE}},
    {"div.rn.f32.irregular", {280, 266}, {NONE, NONE}},
    {"div.rn.f32", {201, 191}, {NONE, NONE}},
    {"div.rn.f64", {159, 135}, {NONE, NONE}},
    {"mul.hi.u64 mul.hi.s64", {123, 85}, {NONE, NONE}},
    {"popc.b32", {15, 5}, {NONE, NONE}},
    {"bfind.u32 bfind.s32 brev.b32", {15, 5}, {NONE, NONE}},
};

static const struct line memories[] = {
    {"shared", {26, 24, 25, 18, 21}, {55, 53, 54, 49, 37}},
    {"const_l1", {16, 20, 12, 8, 8}, {80, 145, 71, 70, 71}},
};
/* clang-format on */

#define INSTRUCTION_IDS                                                        \
    {                                                                          \
        "isa.%s.latency.O3", "isa.%s.latency.O0"                               \
    }
#define MEMORY_IDS                                                             \
    {                                                                          \
        "%s.latency", "%s.latency.O0"                                          \
    }

/* Of the two profiles of a V100, one has the latencies of Groessler 2022, whose
 * chains of loads take longer than the single loads of table IV. */
static const struct table tables[] = {
    {"Arafa 2019, table II: latency of instructions",
     INSTRUCTION_IDS, {"k40m", "titanx", "p100", "v100", "titanrtx"},
     instructions, COUNT_OF(instructions)},
    {"Arafa 2019, table III: CUDA 9.0 and 10.0",
     INSTRUCTION_IDS, {"v100", "v100_cuda10", "", "", ""},
     toolkits,     COUNT_OF(toolkits)    },
    {"Arafa 2019, table IV: shared memory and constants",
     MEMORY_IDS,      {"k40m", "titanx", "p100", "v100_cuda10", "titanrtx"},
     memories,     COUNT_OF(memories)    },
};

static void compare_cell(const char *format, const char *name, int expected,
                         arafa_found_fn *found, void *context,
                         struct arafa_count *count)
{
    char id[64];
    snprintf(id, sizeof id, format, name);
    const double value = found(context, id);
    /* Averages have halves, which the paper cuts off. */
    const bool right = floor(value + 0.1) == expected;
    printf("    %-36s expected %4d  found %6.1f%s\n", id, expected, value,
           right ? "" : "  WRONG");
    count->cells++;
    count->wrong += !right;
}

static void compare_line(const struct table *table, const struct line *line,
                         size_t gpu, arafa_found_fn *found, void *context,
                         struct arafa_count *count)
{
    const int expected[] = {line->optimized[gpu], line->unoptimized[gpu]};
    char names[NAMES_MAX], *rest = NULL;
    snprintf(names, sizeof names, "%s", line->names);
    for (char *name = strtok_r(names, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest))
        for (size_t i = 0; i < COUNT_OF(expected); i++)
            if (expected[i] != NONE)
                compare_cell(table->ids[i], name, expected[i], found, context,
                             count);
}

struct arafa_count arafa_compare(const char *profile, arafa_found_fn *found,
                                 void *context)
{
    struct arafa_count count = {0};
    for (size_t t = 0; t < COUNT_OF(tables); t++)
        for (size_t gpu = 0; gpu < GPUS; gpu++) {
            if (strcmp(tables[t].gpus[gpu], profile) != 0)
                continue;
            printf("%s (sim:%s)\n", tables[t].title, profile);
            for (size_t i = 0; i < tables[t].line_count; i++)
                compare_line(&tables[t], &tables[t].lines[i], gpu, found,
                             context, &count);
        }
    fflush(stdout);
    return count;
}

/* ---- cells by hand ---- */

enum { COPIES = 4, LAPS = 33 };

/* How many sources an instruction has, of those that have not two. */
static const struct {
    const char *prefix;
    int sources;
} arities[] = {
    {"abs",   1},
    {"not",   1},
    {"cnot",  1},
    {"rcp",   1},
    {"sqrt",  1},
    {"rsqrt", 1},
    {"sin",   1},
    {"cos",   1},
    {"lg2",   1},
    {"ex2",   1},
    {"popc",  1},
    {"clz",   1},
    {"bfind", 1},
    {"brev",  1},
    {"mad",   3},
    {"fma",   3},
    {"sad",   3},
    {"bfe",   3},
    {"bfi",   4},
};

static int sources_of(const char *instruction)
{
    for (size_t i = 0; i < COUNT_OF(arities); i++)
        if (strncmp(instruction, arities[i].prefix,
                    strlen(arities[i].prefix)) == 0)
            return arities[i].sources;
    return 2;
}

static const char *registers_of(const char *type)
{
    return strcmp(type, "f16") == 0      ? "%h"
           : strcmp(type, "f32") == 0    ? "%f"
           : strcmp(type, "f64") == 0    ? "%d"
           : strcmp(type + 1, "64") == 0 ? "%rd"
                                         : "%r";
}

/* "add.u32 %r0, %r0, %r1;" of `name`, less its last word where that tells what
 * the divisor is: register 1 holds no power of two, register 2 does. */
static void write_instruction(struct buf *out, const char *name)
{
    const bool regular = strstr(name, ".regular") != NULL;
    const bool irregular = strstr(name, ".irregular") != NULL;
    const size_t length = regular || irregular
                              ? (size_t)(strrchr(name, '.') - name)
                              : strlen(name);
    char instruction[32];
    snprintf(instruction, sizeof instruction, "%.*s", (int)length, name);
    const char *const registers = registers_of(strrchr(instruction, '.') + 1);
    buf_printf(out, "%s %s0, %s0", instruction, registers, registers);
    for (int i = 1; i < sources_of(instruction); i++)
        buf_printf(out, ", %s%d", registers, regular ? 2 : 1);
    buf_printf(out, ";\n");
}

/* One link of the chain that measures an id. */
static void write_link(struct buf *out, const char *id)
{
    char name[48];
    if (sscanf(id, "isa.%47s", name) == 1) {
        *strstr(name, ".latency") = '\0';
        write_instruction(out, name);
    } else {
        buf_printf(out, "ld.%s.u32 %%r0, [%%r0];\n",
                   strncmp(id, "shared", 6) == 0 ? "shared" : "const");
    }
}

/* The end of a chain is stored, whatever register it is in. */
static const char chain_end[] =
    "st.shared.u16 [64], %h0; st.shared.u32 [64], %r0;\n"
    "st.shared.u64 [64], %rd0; st.shared.f32 [64], %f0;\n"
    "st.shared.f64 [64], %d0;\n";

/* LAPS times: the cycles of a long chain less those of a short one. */
static char *kernel_of(const struct device *device, const char *id)
{
    struct buf out = {0};
    buf_printf(&out,
               ".version 6.4\n.target sm_%d%d\n.address_size 64\n"
               ".const .u32 zeros[4];\n"
               ".visible .entry k(.param .u64 out)\n{\n"
               ".reg .b16 %%h<8>; .reg .b32 %%r<16>; .reg .b64 %%rd<8>;\n"
               ".reg .f32 %%f<8>; .reg .f64 %%d<8>; .reg .pred %%p0;\n"
               ".shared .b32 room[32];\n"
               "ld.param.u64 %%rd7, [out]; mov.u32 %%r9, 0;\n"
               "mov.u32 %%r1, 7; mov.u32 %%r2, 8; mov.f32 %%f1, 7.0;\n"
               "mov.f32 %%f2, 8.0; mov.f64 %%d1, 7.0; mov.f64 %%d2, 8.0;\n"
               "lap: mov.u32 %%r0, 0; st.shared.u32 [room], %%r0;\n",
               device->info.cc_major, device->info.cc_minor);
    for (int part = 0; part < 2; part++) {
        buf_printf(&out, "mov.u32 %%r%d, %%clock;\n", 10 + part);
        for (int i = 0; i < (part == 0 ? COPIES : 3 * COPIES); i++)
            write_link(&out, id);
        buf_printf(&out, "%s", chain_end);
    }
    buf_printf(&out,
               "mov.u32 %%r12, %%clock; sub.u32 %%r12, %%r12, %%r11;\n"
               "sub.u32 %%r11, %%r11, %%r10; sub.u32 %%r12, %%r12, %%r11;\n"
               "st.global.u32 [%%rd7], %%r12; add.u64 %%rd7, %%rd7, 4;\n"
               "add.u32 %%r9, %%r9, 1; setp.lt.u32 %%p0, %%r9, %d;\n"
               "@%%p0 bra lap;\nret;\n}\n",
               LAPS);
    return buf_take(&out);
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double run_chain(struct device *device, const char *id)
{
    struct module *module;
    struct kernel *kernel;
    struct error err;
    uint64_t out;
    uint32_t cycles[LAPS];
    char *const ptx = kernel_of(device, id);
    const size_t length = strlen(id);
    const int level = strcmp(id + length - 3, ".O0") == 0 ? 0 : 3;
    ASSERT_DONE(
        device_load(device, &(struct source){ptx, level}, &module, &err), err);
    ASSERT_DONE(device_kernel(device, module, "k", &kernel, &err), err);
    ASSERT_DONE(device_allocate(device, sizeof cycles, &out, &err), err);
    const struct launch launch = {.args = {&out}, .arg_count = 1};
    ASSERT_DONE(device_launch(device, kernel, &launch, &err), err);
    ASSERT_DONE(device_copy_out(device, cycles, out, sizeof cycles, &err), err);
    device_release(device, out);
    device_unload(device, module);
    free(ptx);
    qsort(cycles, LAPS, sizeof *cycles, by_size);
    return round(cycles[LAPS / 2] / (2.0 * COPIES) * 2) / 2;
}

/* A division that does not say which is the mean of both kinds. */
static double found_by_chain(void *context, const char *id)
{
    char name[32], regular[64], irregular[64];
    const char *const level = id + strlen(id) - 2;
    const bool divides = sscanf(id, "isa.div.%31[^l]", name) == 1;
    if (!divides || strstr(id, "regular") != NULL || strstr(id, "f64") != NULL)
        return run_chain(context, id);
    snprintf(regular, sizeof regular, "isa.div.%sregular.latency.%s", name,
             level);
    snprintf(irregular, sizeof irregular, "isa.div.%sirregular.latency.%s",
             name, level);
    return (run_chain(context, regular) + run_chain(context, irregular)) / 2;
}

static const struct {
    const char *profile;
    size_t cells;
} gpus[] = {
    {"k40m",        164},
    {"titanx",      164},
    {"p100",        172},
    {"v100",        178},
    {"v100_cuda10", 14 },
    {"titanrtx",    172},
};

START_TEST(a_simulated_gpu_takes_as_long_as_the_paper_says)
{
    struct device *const device = testing_sim(gpus[_i].profile, 1);
    const struct arafa_count count =
        arafa_compare(gpus[_i].profile, found_by_chain, device);
    ck_assert_uint_eq(count.cells, gpus[_i].cells);
    ck_assert_uint_eq(count.wrong, 0);
    device_close(device);
}
END_TEST

Suite *suite_truth_arafa(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_arafa", 30, &t);
    tcase_add_loop_test(t, a_simulated_gpu_takes_as_long_as_the_paper_says, 0,
                        COUNT_OF(gpus));
    return suite;
}
