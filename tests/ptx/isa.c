/*
 * The machine code of the instruction table, as ptxas assembles it: a device
 * that assembles and runs nothing lets the study `isa` judge its rows.  By
 * default those of a sample must be verified; VERDICTS=90 prints what comes of
 * every row on sm_90.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "probe/run/snippet_kernel.h"
#include "probe/run.h"
#include "ptx/instruction.h"
#include "study/instruction/bench.h"
#include "study/instruction/isa.h"
#include "study/lab.h"
#include "testing.h"
#include "unit/fake_device.h"

/* ---- the device -------------------------------------------------------- */

struct module {
    char *ptx;
    int level;
    struct buf cubin;
    FILE *run;  /* of the assembler, until it is waited for */
    char *path; /* of what it writes */
    char said[1024];
};

static struct module **modules;
static size_t module_count;
static char *assembler; /* NULL: none is installed */
static char *folder;
static int capability;

static struct module *find(const struct source *source)
{
    for (size_t i = 0; i < module_count; i++)
        if (modules[i]->level == source->level &&
            strcmp(modules[i]->ptx, source->ptx) == 0)
            return modules[i];
    return NULL;
}

static struct module *start(const struct source *source)
{
    struct module *const m = xcalloc(1, sizeof *m);
    struct error err;
    char *const ptx = xasprintf("%s/%zu.ptx", folder, module_count);
    m->ptx = xstrdup(source->ptx);
    m->level = source->level;
    m->path = xasprintf("%s/%zu.cubin", folder, module_count);
    char *const command =
        xasprintf("exec %s -O%d -arch=sm_%d -o %s %s 2>&1", assembler, m->level,
                  capability, m->path, ptx);
    ASSERT_DONE(file_write(ptx, m->ptx, strlen(m->ptx), &err), err);
    m->run = popen(command, "r");
    ck_assert_ptr_nonnull(m->run);
    free(command);
    free(ptx);
    modules = xreallocarray(modules, module_count + 1, sizeof(struct module *));
    modules[module_count++] = m;
    return m;
}

/* Waits for the assembler; without a cubin it refused the program. */
static void finish(struct module *m)
{
    struct error err;
    if (m->run == NULL)
        return;
    const size_t length = fread(m->said, 1, sizeof m->said - 1, m->run);
    m->said[length] = '\0';
    const int status = pclose(m->run);
    m->run = NULL;
    if (status == 0)
        ASSERT_DONE(file_read(m->path, 1 << 24, &m->cubin, &err), err);
}

enum { AT_ONCE = 3 };

static int prepare(struct device *device, const struct source *sources,
                   size_t count, struct error *err)
{
    (void)device, (void)err;
    for (size_t i = 0; i < count + AT_ONCE; i++) {
        if (i < count && find(&sources[i]) == NULL)
            start(&sources[i]);
        if (i >= AT_ONCE)
            finish(find(&sources[i - AT_ONCE]));
    }
    return 0;
}

static int load(struct device *device, const struct source *source,
                struct module **module, struct error *err)
{
    (void)device;
    *module = find(source);
    if (*module == NULL)
        *module = start(source);
    finish(*module);
    return (*module)->cubin.length > 0
               ? 0
               : error_set(err, ERR_PTX, "%s", (*module)->said);
}

static int code(struct device *device, struct module *module, const void **data,
                size_t *length, struct error *err)
{
    (void)device, (void)err;
    *data = module->cubin.data;
    *length = module->cubin.length;
    return 0;
}

static void close_device(void)
{
    for (size_t i = 0; i < module_count; i++) {
        free(modules[i]->ptx);
        free(modules[i]->path);
        buf_free(&modules[i]->cubin);
        free(modules[i]);
    }
    free(modules);
    free(folder);
    modules = NULL;
    module_count = 0;
}

/* Guards as they were; clock reads: the long regions take three times as long
 * as the short. */
static void tell_times(struct fake_device *fake, uint64_t *words, size_t count)
{
    const bool guard = count == SCRATCH_GUARD / sizeof *words;
    /* Less and less: a helper, measured after the chain that it is in, must
     * cost less than that. */
    const uint64_t longer = 1000000 - fake->reads;
    for (size_t i = 0; i < count; i++)
        words[i] = guard             ? UINT64_MAX
                   : i % 2 == 0      ? 0
                   : i / 64 % 2 == 0 ? 100
                                     : longer;
}

/* ---- the judgements ---------------------------------------------------- */

/* Lets a study judge rows, or a snippet, as those of that capability; the
 * results are the caller's. */
static void judge(int cc, const struct isa_wish *isa,
                  const struct bench_wish *bench, struct results *results)
{
    const char *const studies[] = {bench != NULL ? "bench" : "isa"};
    struct fake_device fake;
    struct error err = {0};
    fake_device_open(&fake, cc);
    struct device_ops ops = *fake.device.ops;
    ops.prepare = prepare;
    ops.load = load;
    ops.code = code;
    fake.device.ops = &ops;
    fake.read = tell_times;
    capability = cc;
    folder = testing_folder();
    struct prober *const prober =
        prober_new(&fake.device, NULL, &(struct prober_options){.seed = 1});
    struct lab lab = {.prober = prober,
                      .info = prober_info(prober),
                      .results = results,
                      .isa = isa,
                      .bench = bench};
    ASSERT_DONE(plan_run(&lab, studies, 1, &err), err);
    prober_free(prober);
    close_device();
    fake_device_close(&fake);
}

static const char *said(const struct finding *f, const char *name)
{
    for (size_t i = 0; i < f->protocol_count; i++)
        if (strcmp(f->protocol[i].name, name) == 0)
            return f->protocol[i].value.text;
    return "";
}

static const struct finding *latency_of(const struct results *r,
                                        const char *row, int level)
{
    char id[128];
    snprintf(id, sizeof id, "isa.%s.latency.O%d", row, level);
    return results_find(r, id);
}

/* ---- a sample ---------------------------------------------------------- */

/* The first is quick. */
static const int capabilities[] = {90, 80, 120};

/* Of every category whose copies are arithmetic; each is on all of them. */
static const char *const sample[] = {
    "mad.lo.u32",
    "abs.s32",
    "div.u32.irregular",
    "xor.b32",
    "shl.b32",
    "lop3.b32",
    "add.f32",
    "fma.rn.f32",
    "fma.rn.f64",
    "add.f16x2",
    "fma.rn.f16",
    "fma.rn.bf16x2",
    "addc.cc.u32",
    "ex2.approx.ftz.f32",
    "rcp.rn.f32",
    "mul.hi.u32",
    "popc.b32",
    "brev.b32",
    "selp.b32",
    "setp.lt.u32",
    "cvt.rn.f32.s32",
    "cvt.rzi.s32.f32",
    "prmt.b32",
    "shfl.sync.bfly.b32",
    "atom.shared.add.u32.same",
};

static void assert_verified(const struct results *r, const char *row, int level)
{
    const struct finding *const f = latency_of(r, row, level);
    ck_assert_msg(f != NULL, "sm_%d: no latency of %s", capability, row);
    ck_assert_msg(strcmp(said(f, "code"), "verified") == 0,
                  "sm_%d, %s: %s (%s): %s", capability, f->id, said(f, "code"),
                  said(f, "machine_code"), f->because);
    ck_assert_int_eq(f->status, STATUS_MEASURED);
}

START_TEST(a_sample_is_verified)
{
    const struct isa_wish wish = {.patterns = sample,
                                  .pattern_count = COUNT_OF(sample),
                                  .levels = 1u << 0 | 1u << 3,
                                  .latency_only = true};
    struct results results = {0};
    assembler = testing_assembler();
    if (assembler == NULL)
        SKIP("sm_%d: no ptxas is installed", capabilities[_i]);
    judge(capabilities[_i], &wish, NULL, &results);
    for (size_t i = 0; i < COUNT_OF(sample); i++) {
        assert_verified(&results, sample[i], 0);
        assert_verified(&results, sample[i], 3);
    }
    results_free(&results);
    free(assembler);
}
END_TEST

/* ---- traps ------------------------------------------------------------- */

/* Chains that ptxas makes something else of, and a part of what is said. */
static const struct {
    const char *snippet, *values, *trap;
} traps[] = {
    {"xor.b32 %r0, %r0, %r1;",  "",                   "folds"       },
    {"add.u32 %r0, %r0, %r1;",  "",                   "merges pairs"},
    {"mul.lo.u32 %r0, %r0, 8;", "",                   "is replaced" },
    {"div.u32 %r0, %r0, %r1;",  "r0=4000000000 r1=3", "divides once"},
};

START_TEST(a_trap_is_not_verified)
{
    const struct bench_wish wish = {.snippet = traps[_i].snippet,
                                    .setup = "",
                                    .values = traps[_i].values,
                                    .form = FORM_PLAIN,
                                    .levels = 1u << 3};
    struct results results = {0};
    assembler = testing_assembler();
    if (assembler == NULL)
        SKIP("%s: no ptxas is installed", traps[_i].snippet);
    judge(90, NULL, &wish, &results);
    const struct finding *const f = results_find(&results, "bench.latency.O3");
    ck_assert_ptr_nonnull(f);
    ck_assert_msg(f->status == STATUS_NOT_MEASURED,
                  "%s: a chain that %s is taken for %s", traps[_i].snippet,
                  traps[_i].trap, said(f, "machine_code"));
    ck_assert_msg(strncmp(f->because, "not verified: ", 14) == 0, "%s",
                  f->because);
    results_free(&results);
    free(assembler);
}
END_TEST

/* ---- the whole table, to be read --------------------------------------- */

static void say(const struct finding *f)
{
    printf("sm_%d %s: %s%s%s\n", capability, f->id, said(f, "machine_code"),
           f->because != NULL ? " – " : "",
           f->because != NULL ? f->because : "");
}

enum { ROWS_MOST = 2048 };

/* All rows but those of loads, which no fake can answer. */
static size_t all_names(const char **names)
{
    size_t count = 0;
    for (const struct instruction *r = instruction_table; r->name != NULL; r++)
        if (r->chase == NULL)
            names[count++] = r->name;
    return count;
}

START_TEST(every_row_is_judged)
{
    const char *const cc = getenv("VERDICTS");
    struct results results = {0};
    if (cc == NULL)
        SKIP("VERDICTS names no capability");
    assembler = testing_assembler();
    if (assembler == NULL)
        SKIP("no ptxas is installed");
    const char **const names = xcalloc(ROWS_MOST, sizeof *names);
    const struct isa_wish wish = {.patterns = names,
                                  .pattern_count = all_names(names),
                                  .levels = 1u << 0 | 1u << 3};
    judge(atoi(cc), &wish, NULL, &results);
    free(names);
    for (const struct instruction *i = instruction_table; i->name != NULL; i++)
        for (int level = 0; level <= 3; level += 3) {
            const struct finding *const f =
                latency_of(&results, i->name, level);
            if (f != NULL)
                say(f);
        }
    results_free(&results);
    free(assembler);
}
END_TEST

Suite *suite_ptx_isa(void)
{
    TCase *t;
    Suite *const suite = suite_of("ptx_isa", 300, &t);
    tcase_add_loop_test(t, a_sample_is_verified, 0, 1);
    tcase_add_loop_test(suite_slow(suite, 300), a_sample_is_verified, 1,
                        COUNT_OF(capabilities));
    tcase_add_loop_test(t, a_trap_is_not_verified, 0, COUNT_OF(traps));
    tcase_add_test(t, every_row_is_judged);
    return suite;
}
