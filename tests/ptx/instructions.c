/*
 * Every row of the table of instructions, assembled by ptxas for architectures
 * that have it: plain at -O0, which says whether they do, and for one of them
 * at -O3 in the form that the row names, which takes far longer.  All
 * kernels of one PTX version go into one module, since an assembler's start
 * costs more than a kernel.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "probe/run/snippet_kernel.h"
#include "ptx/modules.h"
#include "testing.h"
#include "unit/fake_device.h"

static const struct {
    unsigned cc, level;
} runs[] = {
    {90,  0},
    {90,  3},
    {120, 0},
    /* The slow ones; each takes a second or two, and differs little. */
    {75,  0},
    {80,  0},
    {100, 0},
};
enum { QUICK_RUNS = 3 };

static char *assembler; /* NULL: none is installed */

static void begin(void)
{
    assembler = testing_assembler();
}

static void end(void)
{
    free(assembler);
    assembler = NULL;
}

static bool has(unsigned cc, const struct instruction *row)
{
    return row->snippet != NULL && row->cc <= cc &&
           (row->cc_only == 0 || row->cc_only == cc);
}

/* The kernel of a row, as a probe gets it. */
static void kernel_of(const struct instruction *row, unsigned cc,
                      enum instruction_form form, struct buf *ptx)
{
    const struct device_info info = {.cc_major = (int)cc / 10,
                                     .cc_minor = (int)cc % 10};
    struct experiment e;
    struct error err;
    char *const text =
        xasprintf("isa row=%s form=%s copies=1", row->name, copies_forms[form]);
    ASSERT_DONE(experiment_parse(text, &e, &err), err);
    ASSERT_DONE(probe_kernel(&e, &info, ptx, &err), err);
    experiment_free(&e);
    free(text);
}

static void add_row(struct texts *kernels, const struct instruction *row,
                    unsigned cc, enum instruction_form form)
{
    struct buf ptx = {0};
    kernel_of(row, cc, form, &ptx);
    texts_add(kernels, buf_string(&ptx));
    buf_free(&ptx);
}

static void assemble(const char *folder, const struct buf *module, unsigned cc,
                     unsigned level)
{
    char said[4096];
    struct error err;
    char *const path = xasprintf("%s/module.ptx", folder);
    char *const command =
        xasprintf("exec %s -O%u -arch=sm_%u -o /dev/null %s 2>&1", assembler,
                  level, cc, path);
    ASSERT_DONE(file_write(path, buf_string(module), module->length, &err),
                err);
    FILE *const run = popen(command, "r");
    ck_assert_ptr_nonnull(run);
    const size_t length = fread(said, 1, sizeof said - 1, run);
    said[length] = '\0';
    ck_assert_msg(pclose(run) == 0, "%s\n%s", command, said);
    free(command);
    free(path);
}

START_TEST(every_row_assembles)
{
    const unsigned cc = runs[_i].cc, level = runs[_i].level;
    struct module_texts modules = {0};
    struct texts kernels = {0};
    if (assembler == NULL)
        SKIP("sm_%u: no ptxas is installed", cc);
    char *const folder = testing_folder();
    for (const struct instruction *r = instruction_table; r->name != NULL; r++)
        if (has(cc, r))
            add_row(&kernels, r, cc, level == 0 ? FORM_PLAIN : r->form);
    for (size_t i = 0; i < kernels.count; i++)
        module_texts_add(&modules, kernels.at[i]);
    for (size_t i = 0; i < modules.count; i++)
        assemble(folder, &modules.at[i].text, cc, level);
    module_texts_free(&modules);
    texts_free(&kernels);
    free(folder);
}
END_TEST

Suite *suite_ptx_instructions(void)
{
    TCase *t;
    Suite *const suite = suite_of("ptx_instructions", 60, &t);
    TCase *const slow = suite_slow(suite, 60);
    tcase_add_unchecked_fixture(t, begin, end);
    tcase_add_unchecked_fixture(slow, begin, end);
    tcase_add_loop_test(t, every_row_assembles, 0, QUICK_RUNS);
    tcase_add_loop_test(slow, every_row_assembles, QUICK_RUNS, COUNT_OF(runs));
    return suite;
}
