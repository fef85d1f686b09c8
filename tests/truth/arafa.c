/*
 * The tables of Arafa 2019 as they are printed.  Of K40m and K80c where they
 * differ, the K40m's; the second of the two rows "{u} div (regular)" is the
 * irregular one.  Averages are printed without their halves.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sonde.h"
#include "testing.h"

/* The value of a finding, NAN if it was not measured. */
typedef double found_fn(void *context, const char *id);

struct count {
    size_t cells, wrong;
};

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
    {"ld.shared.u32", {26, 24, 25, 18, 21}, {55, 53, 54, 49, 37}},
    {"ld.const.u32", {16, 20, 12, 8, 8}, {80, 145, 71, 70, 71}},
};
/* clang-format on */

#define INSTRUCTION_IDS                                                        \
    {                                                                          \
        "isa.%s.latency.O3", "isa.%s.latency.O0"                               \
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
     INSTRUCTION_IDS, {"k40m", "titanx", "p100", "v100_cuda10", "titanrtx"},
     memories,     COUNT_OF(memories)    },
};

static void compare_cell(const char *format, const char *name, int expected,
                         found_fn *found, void *context, struct count *count)
{
    char id[64];
    snprintf(id, sizeof id, format, name);
    const double value = found(context, id);
    /* Averages have halves, which the paper cuts off. */
    const bool right = fabs(value - expected) <= 0.5;
    printf("    %-36s expected %4d  found %6.1f%s\n", id, expected, value,
           right ? "" : "  WRONG");
    count->cells++;
    count->wrong += !right;
}

static void compare_line(const struct table *table, const struct line *line,
                         size_t gpu, found_fn *found, void *context,
                         struct count *count)
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

/* Prints each cell of the profile's GPU, what the paper says and what was
 * found; no cells if the paper knows no such GPU. */
static struct count compare(const char *profile, found_fn *found, void *context)
{
    struct count count = {0};
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

/* ---- what the study finds ---- */

enum { PATTERNS_MAX = 160 };

/* Instructions of the tables, each once. */
struct names {
    char *at[PATTERNS_MAX];
    size_t count;
};

static void add_names(struct names *names, const struct line *line)
{
    char text[NAMES_MAX], *rest = NULL;
    snprintf(text, sizeof text, "%s", line->names);
    for (char *name = strtok_r(text, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest)) {
        ck_assert_uint_lt(names->count, PATTERNS_MAX);
        names->at[names->count++] = xstrdup(name);
    }
}

static void measure(struct sonde *session)
{
    struct names names = {0};
    struct sonde_error err;
    for (size_t t = 0; t < COUNT_OF(tables); t++)
        for (size_t i = 0; i < tables[t].line_count; i++)
            add_names(&names, &tables[t].lines[i]);
    const struct sonde_isa wish = {
        .patterns = (const char *const *)names.at,
        .pattern_count = names.count,
        .latency_only = true,
    };
    ck_assert_msg(sonde_isa(session, &wish, &err) >= 0, "%s", err.text);
    for (size_t i = 0; i < names.count; i++)
        free(names.at[i]);
}

static double found_by_study(void *context, const char *id)
{
    double number;
    return sonde_number(context, id, &number) ? number : NAN;
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

START_TEST(every_cell_is_found)
{
    char device[32];
    snprintf(device, sizeof device, "sim:%s", gpus[_i].profile);
    const struct sonde_options options = {.device = device, .seed = 1};
    struct sonde_error err;
    struct sonde *session;
    ASSERT_DONE(sonde_open(&session, &options, &err), err);
    measure(session);
    const struct count count =
        compare(gpus[_i].profile, found_by_study, session);
    ck_assert_uint_eq(count.cells, gpus[_i].cells);
    ck_assert_uint_eq(count.wrong, 0);
    sonde_close(session, &err);
}
END_TEST

Suite *suite_truth_arafa(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_arafa", 30, &t);
    tcase_add_loop_test(t, every_cell_is_found, 0, COUNT_OF(gpus));
    return suite;
}
