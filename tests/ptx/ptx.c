/*
 * Every kernel that a study can emit, assembled by ptxas for every
 * architecture: all of them for the oldest and the newest, what is new or a
 * sample for those between, since they differ little; PTX_ALL=1 leaves none
 * out.  All that is slow: a sample for three architectures is not.  Which
 * kernels these are nobody lists: the studies run on some simulated GPUs and
 * tell their experiments; to these come all that a probe's words and switches
 * make.  A fake GPU of the architecture then takes each experiment and keeps
 * all programs that it is
 * given, so those of helpers (the scattering of a ring) are among them.
 *
 * Long programs repeat themselves, and take ptxas up to a second each: of those
 * that have the same lines, but for numbers and repetition, one is assembled.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "probe/run.h"
#include "ptx/modules.h"
#include "testing.h"
#include "truth/truth.h"
#include "unit/fake_device.h"

/* Primes: experiments come in tables, of which each column is met. */
enum { SAMPLE = 23, QUICK_SAMPLE = 97, LONG_PROGRAM = 16 << 10 };
/* Each architecture tries more than those. */
enum { PROGRAMS_LEAST = 20 };

/* For the oldest and the newest: every program.  For one with much that is new
 * what the oldest has not, in the same words; those between try other ones
 * each. */
static const struct {
    int cc;
    size_t first, every; /* of so many experiments one is tried */
    int beyond;          /* what this one has not; 0: all */
} architectures[] = {
    {75,  0,  1,            0 },
    {80,  0,  SAMPLE,       0 },
    {86,  6,  SAMPLE,       0 },
    {89,  12, SAMPLE,       0 },
    {90,  0,  1,            75},
    {100, 18, SAMPLE,       0 },
    {120, 0,  1,            0 },
    /* The quick ones. */
    {75,  3,  QUICK_SAMPLE, 0 },
    {90,  9,  QUICK_SAMPLE, 0 },
    {120, 15, QUICK_SAMPLE, 0 },
};
enum { SLOW_ONES = 7, ALL_ONES = COUNT_OF(architectures) };

/* Quick ones whose caches lead the studies along different ways. */
static const char *const simulated[] = {"gtx560ti", "k20c"};

static struct texts experiments; /* collected once, before the tests */
static char *assembler;          /* NULL: none is installed */

/* ---- which experiments there are -------------------------------------- */

static void collect_from_studies(const char *gpu)
{
    json_t *const asked = truth_experiments(gpu, 1);
    for (size_t i = 0; i < json_array_size(asked); i++)
        texts_add(&experiments, json_string_value(json_array_get(asked, i)));
    json_decref(asked);
}

/* The text with each value of each parameter, one at a time: the words, and
 * the least number that is not nothing. */
static void add_values(struct texts *texts, const char *text,
                       const struct probe *probe)
{
    for (const struct param *p = probe->params; p->name != NULL; p++) {
        struct buf one = {0};
        for (const char *const *w = p->words; p->kind == PARAM_WORD && *w;
             w++) {
            buf_clear(&one);
            buf_printf(&one, "%s %s=%s", text, p->name, *w);
            texts_add(texts, buf_string(&one));
        }
        if (p->kind == PARAM_NUMBER) {
            buf_printf(&one, "%s %s=%" PRIu64, text, p->name,
                       p->least > 0 ? p->least : 1);
            texts_add(texts, buf_string(&one));
        }
        buf_free(&one);
    }
}

/* Two parameters at a time: a space with its operators, a sweep with each. */
static void collect_from_probe(const struct probe *probe)
{
    struct texts singles = {0};
    add_values(&singles, probe->name, probe);
    texts_add(&experiments, probe->name);
    for (size_t i = 0; i < singles.count; i++) {
        texts_add(&experiments, singles.at[i]);
        add_values(&experiments, singles.at[i], probe);
    }
    texts_free(&singles);
}

static void begin(void)
{
    assembler = testing_assembler();
    if (assembler == NULL)
        return;
    for (size_t i = 0; i < COUNT_OF(simulated); i++)
        collect_from_studies(simulated[i]);
    for (size_t i = 0; probe_table[i] != NULL; i++)
        collect_from_probe(probe_table[i]);
}

static void end(void)
{
    texts_free(&experiments);
    free(assembler);
    assembler = NULL;
}

/* ---- their programs --------------------------------------------------- */

/* True if the experiment is one: it may not be if words contradict each other,
 * or such a GPU has nothing to do it with. */
static bool try_experiment(struct prober *prober, const char *text)
{
    struct experiment e;
    struct samples samples;
    struct error err = {0};
    if (experiment_parse(text, &e, &err) != 0) {
        ck_assert_msg(err.code == ERR_USAGE, "%s: %s", text, err.text);
        return false;
    }
    samples_init(&samples, e.probe);
    int status = probe_prepare(&e, prober_info(prober), &err);
    if (status == 0)
        status = e.probe->once(prober, &e, &samples, &err);
    ck_assert_msg(status == 0 || status == ERR_USAGE ||
                      status == ERR_UNSUPPORTED,
                  "%s: %s", text, status != 0 ? err.text : "");
    samples_free(&samples);
    experiment_free(&e);
    return status != ERR_USAGE;
}

/* All programs that one of `every` experiments, from the `first` on, loads on
 * a GPU of that capability; of experiments whose probe begins so. */
static struct texts programs_for(const char *probe, int cc, size_t first,
                                 size_t every)
{
    struct fake_device fake;
    fake_device_open(&fake, cc);
    const struct prober_options options = {.seed = 1};
    struct prober *const prober = prober_new(&fake.device, NULL, &options);
    for (size_t i = first; i < experiments.count; i += every)
        if (strncmp(experiments.at[i], probe, strlen(probe)) == 0)
            try_experiment(prober, experiments.at[i]);
    prober_free(prober);
    return fake.programs;
}

/* ---- the assembler ---------------------------------------------------- */

static bool knows(int cc)
{
    char *const command =
        xasprintf("%s --help | grep -q \"'sm_%d'\"", assembler, cc);
    const bool known = system(command) == 0;
    free(command);
    return known;
}

/* One file: of several that are assembled together one may use what another
 * declares. */
static FILE *start(const char *folder, size_t i, const char *ptx, int cc)
{
    char *const path = xasprintf("%s/%zu.ptx", folder, i);
    char *const own = xasprintf(".target sm_%da\n", cc);
    const bool only = strstr(ptx, own) != NULL; /* this architecture has it */
    char *const command =
        xasprintf("exec %s -Werror -arch=sm_%d%s -o /dev/null %s 2>&1",
                  assembler, cc, only ? "a" : "", path);
    struct error err;
    ASSERT_DONE(file_write(path, ptx, strlen(ptx), &err), err);
    FILE *const run = popen(command, "r");
    ck_assert_ptr_nonnull(run);
    free(command);
    free(own);
    free(path);
    return run;
}

/* True if it was taken; else what was said of it is there to be shown. */
static bool is_taken(FILE *run, struct buf *said)
{
    char line[2048];
    size_t length;
    while ((length = fread(line, 1, sizeof line, run)) > 0)
        buf_append(said, line, length);
    return pclose(run) == 0;
}

/* Each by itself must be, whatever becomes of them together. */
static void assemble_each(const char *folder, const struct module_text *module,
                          int cc)
{
    for (size_t i = 0; i < module->count; i++) {
        struct buf said = {0};
        const char *const ptx = module->programs[i];
        ck_assert_msg(is_taken(start(folder, 0, ptx, cc), &said), "%.2000s\n%s",
                      buf_string(&said), ptx);
        buf_free(&said);
    }
}

static void finish(FILE *run, const char *folder,
                   const struct module_text *module, int cc)
{
    struct buf said = {0};
    if (!is_taken(run, &said))
        assemble_each(folder, module, cc);
    buf_free(&said);
}

/* Programs of one module: so many that its start costs little. */
enum { AT_ONCE = 2, TOGETHER = 24 };

/* Adds a line, in which of items that are alike, one after the other in a list,
 * one is kept. */
static void add_line(struct texts *lines, const char *line)
{
    struct buf kept = {0};
    const char *before = "";
    size_t last = 0; /* length of `before` */
    for (const char *item = line; *item != '\0';) {
        const size_t length = strcspn(item, ",") + (strchr(item, ',') != NULL);
        if (length != last || strncmp(item, before, length) != 0)
            buf_append(&kept, item, length);
        before = item;
        last = length;
        item += length;
    }
    texts_add(lines, buf_string(&kept));
    buf_free(&kept);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The different lines of a text, sorted, with 0 for every number; the caller
 * frees it. */
static char *outline(const char *text)
{
    struct texts lines = {0};
    struct buf all = {0}, line = {0};
    for (const char *c = text; *c != '\0'; c++) {
        const bool in_number = c > text && isdigit((unsigned char)c[-1]);
        if (*c == '\n') {
            add_line(&lines, buf_string(&line));
            buf_clear(&line);
        } else if (!isdigit((unsigned char)*c)) {
            buf_append(&line, c, 1);
        } else if (!in_number) {
            buf_text(&line, "0");
        }
    }
    qsort(lines.at, lines.count, sizeof *lines.at, by_text);
    for (size_t i = 0; i < lines.count; i++)
        buf_printf(&all, "%s\n", lines.at[i]);
    texts_free(&lines);
    buf_free(&line);
    return buf_take(&all);
}

static bool is_repeated(const char *program, struct texts *outlines)
{
    if (strlen(program) < LONG_PROGRAM || getenv("PTX_ALL") != NULL)
        return false;
    const size_t before = outlines->count;
    char *const text = outline(program);
    texts_add(outlines, text);
    free(text);
    return outlines->count == before;
}

static int by_length(const void *a, const void *b)
{
    const size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);
    return (x > y) - (x < y);
}

/* What follows the lines that name the architecture. */
static const char *body_of(const char *ptx)
{
    const char *const body = strstr(ptx, ".address_size");
    ck_assert_ptr_nonnull(body);
    return body;
}

/* Those that the other architecture has not. */
static struct texts beyond(const struct texts *programs, int cc)
{
    struct texts kept = {0}, bodies = {0}, known = programs_for("", cc, 0, 1);
    for (size_t i = 0; i < known.count; i++)
        texts_add(&bodies, body_of(known.at[i]));
    for (size_t i = 0; i < programs->count; i++)
        if (!texts_have(&bodies, body_of(programs->at[i])))
            texts_add(&kept, programs->at[i]);
    texts_free(&bodies);
    texts_free(&known);
    return kept;
}

/* Without long ones where a sample will do; else the shortest of those that
 * repeat. */
static struct texts without_repeats(struct texts *programs, bool sample)
{
    struct texts kept = {0}, outlines = {0};
    qsort(programs->at, programs->count, sizeof *programs->at, by_length);
    for (size_t i = 0; i < programs->count; i++) {
        if (sample && strlen(programs->at[i]) >= LONG_PROGRAM)
            break;
        if (!is_repeated(programs->at[i], &outlines))
            texts_add(&kept, programs->at[i]);
    }
    texts_free(&outlines);
    return kept;
}

static void assemble_all(const struct texts *programs, int cc)
{
    char *const folder = testing_folder();
    FILE *runs[AT_ONCE];
    struct module_texts modules = {.most = TOGETHER};
    for (size_t i = 0; i < programs->count; i++)
        module_texts_add(&modules, programs->at[i]);
    for (size_t i = 0; i < modules.count + AT_ONCE; i++) {
        if (i >= AT_ONCE && i - AT_ONCE < modules.count)
            finish(runs[i % AT_ONCE], folder, &modules.at[i - AT_ONCE], cc);
        if (i < modules.count)
            runs[i % AT_ONCE] =
                start(folder, 1 + i, buf_string(&modules.at[i].text), cc);
    }
    module_texts_free(&modules);
    free(folder);
}

START_TEST(every_kernel_assembles)
{
    const int cc = architectures[_i].cc;
    const bool all = getenv("PTX_ALL") != NULL;
    const size_t first = all ? 0 : architectures[_i].first;
    const size_t every = all ? 1 : architectures[_i].every;
    if (assembler == NULL)
        SKIP("sm_%d: no ptxas is installed", cc);
    if (!knows(cc))
        SKIP("sm_%d: %s does not know it", cc, assembler);
    struct texts programs = programs_for("", cc, first, every);
    if (!all && architectures[_i].beyond != 0) {
        struct texts more = beyond(&programs, architectures[_i].beyond);
        texts_free(&programs);
        programs = more;
    }
    struct texts different = without_repeats(&programs, every > 1);
    ck_assert_uint_ge(different.count, PROGRAMS_LEAST);
    assemble_all(&different, cc);
    texts_free(&different);
    texts_free(&programs);
}
END_TEST

/* Else little would be tested: the studies' and each probe's own, every load
 * with every operator, and the helper's. */
START_TEST(programs_are_collected)
{
    if (assembler == NULL)
        SKIP("no ptxas is installed");
    struct texts programs = programs_for("", 80, 0, 1);
    static const char *const words[] = {
        ".entry clock(",    ".entry chase(",    ".entry trace(",
        ".entry scatter(",  "ld.global.ca.u64", "ld.global.cg.u64",
        "ld.global.cv.u64", "ld.global.nc.u64", "ld.shared.u32 %ptr",
        "ld.const.u32",     "ld.local.u32",     "tex.1d.v4.u32.s32",
        "FLUSH:",           "SWEEPS:",          ".entry banks(",
    };
    for (size_t w = 0; w < COUNT_OF(words); w++) {
        bool found = false;
        for (size_t i = 0; i < programs.count; i++)
            found = found || strstr(programs.at[i], words[w]) != NULL;
        ck_assert_msg(found, "no program has %s", words[w]);
    }
    texts_free(&programs);
}
END_TEST

/* True if some program of the probe for that capability copies in bulk. */
static bool copies_in_bulk(const char *probe, int cc)
{
    bool found = false;
    struct texts programs = programs_for(probe, cc, 0, 1);
    for (size_t i = 0; i < programs.count; i++)
        found = found || strstr(programs.at[i], "cp.async.bulk") != NULL;
    texts_free(&programs);
    return found;
}

START_TEST(bulk_copies_are_for_those_who_have_them)
{
    if (assembler == NULL)
        SKIP("no ptxas is installed");
    ck_assert(!copies_in_bulk("", 89));
    ck_assert(copies_in_bulk("bulk", 90));
    ck_assert(copies_in_bulk("bulk", 120));
}
END_TEST

START_TEST(every_probe_runs_by_default)
{
    struct fake_device fake;
    fake_device_open(&fake, 90); /* which has all of them */
    const struct prober_options options = {.seed = 1};
    struct prober *const prober = prober_new(&fake.device, NULL, &options);
    for (size_t i = 0; probe_table[i] != NULL; i++)
        ck_assert_msg(try_experiment(prober, probe_table[i]->name),
                      "%s refuses its defaults", probe_table[i]->name);
    prober_free(prober);
    fake_device_close(&fake);
}
END_TEST

/* What one declares is not there for another in the same module. */
START_TEST(programs_that_lie_together_share_no_names)
{
#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n\n"
#define KERNEL                                                                 \
    ".visible .entry k(.param .u64 out)\n{\n    .reg .u32 %pool;\n"            \
    "    mov.u32 %pool, pool;\n    st.shared.u32 [pool], %pool;\n    "         \
    "ret;\n}\n"
    static const char has[] =
        HEAD ".extern .shared .align 16 .b8 pool[];\n\n" KERNEL;
    struct module_texts modules = {0};
    struct buf said = {0};
    if (assembler == NULL)
        SKIP("no ptxas is installed");
    char *const folder = testing_folder();
    module_texts_add(&modules, has);
    module_texts_add(&modules, has);
    ck_assert_uint_eq(modules.count, 1);
    ck_assert(
        is_taken(start(folder, 0, buf_string(&modules.at[0].text), 80), &said));
    module_texts_add(&modules, HEAD KERNEL);
    ck_assert_uint_eq(modules.count, 1);
    ck_assert(!is_taken(start(folder, 0, buf_string(&modules.at[0].text), 80),
                        &said));
    ck_assert_ptr_nonnull(strstr(buf_string(&said), "pool"));
    buf_free(&said);
    module_texts_free(&modules);
    free(folder);
}
END_TEST

Suite *suite_ptx(void)
{
    TCase *t;
    Suite *const suite = suite_of("ptx", 300, &t);
    TCase *const slow = suite_slow(suite, 300);
    tcase_add_unchecked_fixture(t, begin, end);
    tcase_add_unchecked_fixture(slow, begin, end);
    tcase_add_test(t, every_probe_runs_by_default);
    tcase_add_test(t, programs_are_collected);
    tcase_add_test(t, programs_that_lie_together_share_no_names);
    tcase_add_test(t, bulk_copies_are_for_those_who_have_them);
    tcase_add_loop_test(t, every_kernel_assembles, SLOW_ONES, ALL_ONES);
    tcase_add_loop_test(slow, every_kernel_assembles, 0, SLOW_ONES);
    return suite;
}
