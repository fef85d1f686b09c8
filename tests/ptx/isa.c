/*
 * The machine code of the instruction table, as ptxas assembles it: a device
 * that assembles and runs nothing lets the study `isa` judge every row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "probe/copies.h"
#include "probe/run.h"
#include "ptx/instruction.h"
#include "study/study.h"
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
static const char *assembler;
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
    (void)fake;
    const bool guard = count == SCRATCH_GUARD / sizeof *words;
    for (size_t i = 0; i < count; i++)
        words[i] = guard             ? UINT64_MAX
                   : i % 2 == 0      ? 0
                   : i / 64 % 2 == 0 ? 100
                                     : 300;
}

/* ---- the judgements ---------------------------------------------------- */

static const struct finding *latency_of(const struct results *r,
                                        const char *row, int level)
{
    char id[128];
    snprintf(id, sizeof id, "isa.%s.latency.O%d", row, level);
    return results_find(r, id);
}

static void say(const struct finding *f)
{
    const char *listing = "";
    for (size_t i = 0; i < f->protocol_count; i++)
        if (strcmp(f->protocol[i].name, "machine_code") == 0)
            listing = f->protocol[i].value.text;
    if (getenv("VERDICTS") != NULL)
        printf("sm_%d %s: %s%s%s\n", capability, f->id, listing,
               f->because != NULL ? " – " : "",
               f->because != NULL ? f->because : "");
}

static void judge_all(int cc)
{
    struct fake_device fake;
    struct results results = {0};
    struct error err = {0};
    static const char *const studies[] = {"isa"};
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
    struct lab lab = {
        .prober = prober, .info = prober_info(prober), .results = &results};
    ASSERT_DONE(plan_run(&lab, studies, 1, &err), err);
    for (const struct instruction *i = instruction_table; i->name != NULL; i++)
        for (int level = 0; level <= 3; level += 3) {
            const struct finding *const f =
                latency_of(&results, i->name, level);
            if (f != NULL)
                say(f);
        }
    results_free(&results);
    prober_free(prober);
    close_device();
    fake_device_close(&fake);
}

START_TEST(rows_are_judged)
{
    assembler = "/usr/local/cuda/bin/ptxas";
    const char *const cc = getenv("VERDICTS");
    if (cc == NULL)
        SKIP("VERDICTS names no capability");
    judge_all(atoi(cc));
}
END_TEST

Suite *suite_ptx_isa(void)
{
    TCase *t;
    Suite *const suite = suite_of("ptx_isa", 300, &t);
    tcase_add_test(t, rows_are_judged);
    return suite;
}
