/*
 * What matrix products cost: mma.sync and wmma, which are rows of the table of
 * instructions, and wgmma, Hopper's products of four warps (van Stigt 2022,
 * section 9).
 *
 * Latency is that of products of which each adds to the one before.  For
 * throughput each warp has as many chains as its registers allow, and all that
 * is measured is counted as 2 m n k operations, also of sparse products, of
 * which half are with zeros that nobody stores.  What is multiplied decides
 * how much power it takes, and power decides the clock: rates of the whole GPU
 * are with random numbers, and of the fastest forms also with zeros.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "study/instruction/cost.h"
#include "study/instruction/isa.h"
#include "study/instruction/throughput.h"

static const struct answer answers[] = {
    {ONE("tensor.*"), "latency", "cycles"},
    {ONE("tensor.*"), "by_warps", "op/clk/SM"},
    {ONE("tensor.*"), "throughput", "op/clk/SM"},
    {ONE("tensor.*"), "warps", "warps"},
    {ONE("tensor.*"), "sawtooth", "warps"},
    {ONE("tensor.*"), "by_blocks", "op/clk/SM"},
    {ONE("tensor.*"), "gpu*", "op/s"},
    {ONE("tensor.*"), "fraction", ""},
    {ONE("clock"), "tensor", "Hz"},
    {0},
};

enum { LEVEL = 3, WARPS_OF_GPU = 8, GROUPS_MOST = 4 };
/* Registers of a thread, of 32 bits, that operands may take: 32 warps have 64
 * each on most GPUs. */
enum { OPERAND_REGISTERS = 44, CHAINS_MOST = 4 };
/* Products of a warp in the loop, so many that its own instructions are less
 * than a hundredth; and turns of the shorter run. */
enum { PRODUCTS = 48, TURNS_OF_GROUPS = 16 };
static const double briefly = 0.01, lastingly = 0.3; /* seconds */

/* A form, and what was found of it. */
struct form {
    struct throughput throughput;
    char kind[8]; /* of A and B: "f16" */
    bool sparse, grouped;
    double best;   /* operations a cycle and SM; 0: not measured … */
    unsigned most; /* … with so many warps or groups */
};

enum { FORMS_MOST = 512 };

struct tensor {
    struct lab *lab;
    struct form *forms;
    size_t count;
};

static struct finding *finding_of(const struct form *form,
                                  const char *attribute)
{
    return lab_finding(form->throughput.lab, form->throughput.component,
                       attribute);
}

/* ---- names ------------------------------------------------------------- */

/* "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", of whose words some are
 * common to all. */
struct name {
    char component[96]; /* with the others */
    char kind[8];       /* of A and B: the second type of four, or halves */
    double operations;  /* 2 m n k; 0: it is no product */
};

static bool is_common(const char *word)
{
    static const char *const common[] = {"sync", "aligned",          "row",
                                         "col",  "ordered_metadata", NULL};
    return text_is_among(word, common);
}

static struct name name_of(const char *row)
{
    struct name name = {.component = "tensor"};
    char text[96], second[8] = "", *rest = NULL;
    size_t length = strlen(name.component), types = 0;
    unsigned m, n, k;
    snprintf(text, sizeof text, "%s", row);
    for (char *word = strtok_r(text, ".:", &rest); word != NULL;
         word = strtok_r(NULL, ".:", &rest)) {
        if (is_common(word) || (word != text && strncmp(word, "mma", 3) == 0))
            continue;
        length += (size_t)snprintf(name.component + length,
                                   sizeof name.component - length, ".%s", word);
        types += name.operations > 0;
        if (types == 2)
            snprintf(second, sizeof second, "%s", word);
        if (sscanf(word, "m%un%uk%u", &m, &n, &k) == 3)
            name.operations = 2.0 * m * n * k;
    }
    snprintf(name.kind, sizeof name.kind, "%s", types > 2 ? second : "f16");
    return name;
}

/* ---- rows -------------------------------------------------------------- */

static bool is_product(const struct instruction *row)
{
    return row->category == CATEGORY_MATRIX &&
           name_of(row->name).operations > 0;
}

/* As many chains as registers hold. */
static unsigned chains_of(const struct instruction *row)
{
    struct snippet s;
    struct error ignored;
    unsigned bytes = 0;
    if (snippet_parse(row->snippet, &s, &ignored) != 0)
        return 1;
    for (size_t i = 0; i < s.register_count; i++)
        bytes += register_kinds[s.registers[i].kind].bytes;
    snippet_free(&s);
    const unsigned chains = 4 * OPERAND_REGISTERS / bytes;
    return chains < 1 ? 1 : chains > CHAINS_MOST ? CHAINS_MOST : chains;
}

static struct form form_of_row(struct lab *lab, const struct instruction *row)
{
    const unsigned chains = chains_of(row);
    const struct name name = name_of(row->name);
    struct form f = {
        .throughput = {.lab = lab,
                       .component = lab_text(lab, "%s", name.component),
                       .words = lab_text(lab, "grid row=%s chains=%u",
                                         row->name, chains),
                       .of = "warps",
                       .chains = chains,
                       .copies = PRODUCTS / chains,
                       .turns = 1,
                       .factor = name.operations},
        .sparse = strstr(row->name, "mma.sp") != NULL};
    memcpy(f.kind, name.kind, sizeof f.kind);
    return f;
}

/* The form joins those that are asked for. */
static struct form *keep(struct tensor *t, struct form form)
{
    assert(t->count < FORMS_MOST);
    t->forms[t->count] = form;
    return &t->forms[t->count++];
}

/* ---- latency ----------------------------------------------------------- */

/* Of a row; false if its machine code is not what it claims, without which
 * nothing is said of it. */
static bool ask_latency(const struct form *form, const struct instruction *row)
{
    struct lab *const lab = form->throughput.lab;
    struct finding *const f = finding_of(form, "latency");
    const struct subject s = subject_row(lab, row);
    const bool usable = cost_ask_latency(lab, &s, LEVEL, f);
    throughput_excuse(lab, f);
    return usable;
}

/* ---- throughput -------------------------------------------------------- */

static void say_best(const struct form *form, const struct throughput_rates *w)
{
    const struct throughput *const t = &form->throughput;
    struct finding *const f = finding_of(form, "throughput");
    throughput_say_best(f, w);
    finding_protocol(f, t->of, value_number(form->most));
    finding_protocol(f, "chains", value_number(t->chains));
    finding_protocol(f, "operations", value_number(t->factor));
    finding_protocol(f, "operands", value_text("random"));
    finding_cite(f, w->experiment);
}

static void ask_throughput(struct form *form, unsigned most)
{
    const struct throughput *const t = &form->throughput;
    const struct throughput_rates w = throughput_by_warps(t, most);
    if (!lab_ok(t->lab)) {
        throughput_excuse(t->lab, finding_of(form, "throughput"));
        return;
    }
    form->best = w.best.rate;
    form->most = throughput_fewest(&w, 1);
    finding_protocol(throughput_say_warps(t, &w), "of", value_text(t->of));
    say_best(form, &w);
    throughput_say_enough(t, &w);
    if (!form->grouped)
        throughput_say_sawtooth(t, "sawtooth", &w, (unsigned)w.count / 2);
}

/* ---- the whole GPU ----------------------------------------------------- */

/* So long with such operands. */
static void ask_gpu(const struct form *form, const char *operands,
                    double seconds, const char *attribute)
{
    struct finding *const f = finding_of(form, attribute);
    struct throughput with = form->throughput;
    with.words =
        lab_text(with.lab, "%s operands=%s", form->throughput.words, operands);
    with.operands = operands;
    with.warps = form->grouped ? form->most : (unsigned)WARPS_OF_GPU;
    throughput_gpu(&with, seconds, form->best, f);
    throughput_excuse(with.lab, f);
}

/* One to four blocks on each SM. */
static void ask_blocks(const struct form *form)
{
    struct throughput with = form->throughput;
    struct finding *const f = finding_of(form, "by_blocks");
    const double sms = lab_sms(with.lab);
    const double n[] = {sms, 2 * sms, 3 * sms, 4 * sms};
    with.warps = form->grouped ? 1 : form->most;
    throughput_ask_blocks(&with, n, COUNT_OF(n), f);
    finding_protocol(f, with.of, value_number(with.warps));
    throughput_excuse(with.lab, f);
}

/* ---- mma and wmma ------------------------------------------------------ */

static void ask_row(struct tensor *t, const struct instruction *row)
{
    struct form *const form = keep(t, form_of_row(t->lab, row));
    char *const why = isa_lacking(row, t->lab->info);
    if (why != NULL)
        finding_skip(finding_of(form, "throughput"), why);
    else if (ask_latency(form, row))
        ask_throughput(form, lab_block_warps(t->lab));
    free(why);
}

/* ---- wgmma ------------------------------------------------------------- */

static const struct wide {
    const char *kind, *opcode;
    unsigned k;
} wides[] = {
    {"f16", "f32.f16.f16", 16},   {"bf16", "f32.bf16.bf16", 16},
    {"tf32", "f32.tf32.tf32", 8}, {"e4m3", "f32.e4m3.e4m3", 32},
    {"s8", "s32.s8.s8", 32},
};
static const unsigned widths[] = {64, 128, 256};

static struct form form_of_wide(struct lab *lab, const struct wide *w,
                                unsigned n)
{
    struct form f = {
        .throughput = {.lab = lab,
                       .component = lab_text(lab, "tensor.wgmma.m64n%uk%u.%s",
                                             n, w->k, w->opcode),
                       .words = lab_text(lab, "wgmma type=%s n=%u", w->kind, n),
                       .of = "groups",
                       .chains = 1,
                       .copies = PRODUCTS,
                       .turns = TURNS_OF_GROUPS,
                       .factor = 2.0 * 64 * n * w->k},
        .grouped = true};
    snprintf(f.kind, sizeof f.kind, "%s", w->kind);
    return f;
}

/* Cycles of a product that is waited for before the next one begins. */
static void ask_wide_latency(const struct form *form)
{
    struct throughput waits = form->throughput;
    struct finding *const f = finding_of(form, "latency");
    waits.words = lab_text(waits.lab, "%s wait=each", form->throughput.words);
    waits.warps = 1;
    waits.factor = 1;
    const struct throughput_rate r = throughput_measure(&waits, 1);
    if (lab_ok(waits.lab)) {
        finding_measured(f, 1 / r.rate);
        finding_protocol(f, "waited_for", value_text("each product"));
        finding_cite(f, r.experiment);
    }
    throughput_excuse(waits.lab, f);
}

static void ask_wide(struct tensor *t, const struct wide *w, unsigned n)
{
    enum { CC = 90 };
    struct form *const form = keep(t, form_of_wide(t->lab, w, n));
    struct error err;
    if (device_requires_only(t->lab->info, CC, "wgmma", &err) != 0) {
        finding_skip(finding_of(form, "throughput"), err.text);
        return;
    }
    ask_wide_latency(form);
    if (lab_ok(t->lab))
        ask_throughput(form, GROUPS_MOST);
}

/* ---- all --------------------------------------------------------------- */

/* The fastest dense one for such operands; NULL: none was measured. */
static const struct form *fastest(const struct tensor *t, const char *kind,
                                  bool grouped)
{
    const struct form *best = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const struct form *const f = &t->forms[i];
        if (strcmp(f->kind, kind) == 0 && f->grouped == grouped && !f->sparse &&
            f->best > (best != NULL ? best->best : 0))
            best = f;
    }
    return best;
}

/* Of the fastest of the same operands. */
static void say_fraction(const struct tensor *t, const struct form *form)
{
    const struct form *const plain = fastest(t, form->kind, false);
    const struct form *const wide = fastest(t, form->kind, true);
    double most = plain != NULL ? plain->best : 0;
    if (wide != NULL && wide->best > most)
        most = wide->best;
    if (form->best == 0 || most == 0)
        return;
    struct finding *const f = finding_of(form, "fraction");
    finding_value(f, STATUS_DERIVED, value_number(form->best / most));
    finding_method(f, "its throughput by that of the fastest dense form of "
                      "the same operands");
}

/* What the fastest forms do on the whole GPU, and at what power. */
static void ask_fastest(const struct tensor *t, const struct form *form)
{
    if (form == NULL || !lab_ok(t->lab))
        return;
    ask_blocks(form);
    if (lab_ok(t->lab))
        ask_gpu(form, "zeros", lastingly, "gpu_zeros");
    if (lab_ok(t->lab))
        ask_gpu(form, "random", lastingly, "gpu");
}

static void ask_whole(const struct tensor *t)
{
    const struct form *const plain = fastest(t, "f16", false);
    const struct form *const wide = fastest(t, "f16", true);
    for (size_t i = 0; lab_ok(t->lab) && i < t->count; i++) {
        const struct form *const f = &t->forms[i];
        say_fraction(t, f);
        if (f->best > 0 && f != plain && f != wide)
            ask_gpu(f, "random", briefly, "gpu");
    }
    ask_fastest(t, plain);
    ask_fastest(t, wide);
}

static void ask_all(struct tensor *t)
{
    for (const struct instruction *r = instruction_table;
         lab_ok(t->lab) && r->name != NULL; r++)
        if (is_product(r))
            ask_row(t, r);
    for (size_t i = 0; i < COUNT_OF(wides); i++)
        for (size_t n = 0; lab_ok(t->lab) && n < COUNT_OF(widths); n++)
            ask_wide(t, &wides[i], widths[n]);
    if (lab_ok(t->lab))
        ask_whole(t);
}

/* The kernel of a form, and its waiting one's. */
static void prepare_form(const struct form *form, struct code_texts *texts)
{
    const struct throughput *const t = &form->throughput;
    code_texts_add(texts,
                   lab_text(t->lab, "%s copies=%u", t->words, t->copies));
    if (form->grouped)
        code_texts_add(texts, lab_text(t->lab, "%s wait=each copies=%u",
                                       t->words, t->copies));
}

static void prepare_row(const struct instruction *row, struct code_texts *texts)
{
    const struct subject s = subject_row(texts->lab, row);
    const struct form form = form_of_row(texts->lab, row);
    code_first_form(texts, &s, LEVEL);
    prepare_form(&form, texts);
}

/* Kernels of all forms, compiled on all cores of the host. */
static void prepare(struct lab *lab)
{
    struct code_texts texts = {.lab = lab};
    for (const struct instruction *r = instruction_table; r->name != NULL;
         r++) {
        char *const why = isa_lacking(r, lab->info);
        if (is_product(r) && why == NULL)
            prepare_row(r, &texts);
        free(why);
    }
    for (size_t i = 0; i < COUNT_OF(wides); i++)
        for (size_t n = 0; n < COUNT_OF(widths); n++) {
            const struct form form = form_of_wide(lab, &wides[i], widths[n]);
            prepare_form(&form, &texts);
        }
    code_prepare(&texts);
}

static void tensor_run(struct lab *lab)
{
    struct tensor t = {.lab = lab,
                       .forms = lab_alloc(lab, FORMS_MOST, sizeof *t.forms)};
    prepare(lab);
    ask_all(&t);
}

const struct study study_tensor = {
    .name = "tensor",
    .question = "How fast are matrix products, and at what power?",
    .method =
        "Products that add to the one before, for latency; chains of them in "
        "1 to 32 warps (wgmma: one to four groups of four warps) of a block, "
        "for throughput, by the difference of two lengths in cycles of the SM; "
        "and all SMs for a longer time, with random numbers and with zeros, "
        "with the clock and the power that went with it.",
    .reads_findings = TEXTS("clock.measured"),
    .answers = answers,
    .apart = true,
    .under_load = true,
    .run = tensor_run,
};
