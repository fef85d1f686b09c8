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
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "study/instruction/cost.h"
#include "study/instruction/isa.h"
#include "study/instruction/throughput.h"

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {NULL}; /* those of each form */

enum { LEVEL = 3, WARPS_OF_GPU = 8, GROUPS_MOST = 4, BLOCKS_MOST = 4 };
/* Registers of a thread, of 32 bits, that operands may take: 32 warps have 64
 * each on most GPUs. */
enum { OPERAND_REGISTERS = 44, CHAINS_MOST = 4 };
/* Products of a warp in the loop, so many that its own instructions are less
 * than a hundredth; and turns of the shorter run. */
enum { PRODUCTS = 48, TURNS_OF_GROUPS = 16 };
static const double briefly = 0.01, lastingly = 0.3; /* seconds */

/* A form, and what was found of it. */
struct form {
    char component[80];
    char kind[8]; /* of A and B: "f16" */
    char *words;  /* of its experiments */
    const char *unit;
    unsigned chains, copies;
    double operations; /* of one product */
    bool sparse, grouped;
    double best;   /* operations a cycle and SM; 0: not measured */
    unsigned most; /* warps or groups with which */
};

struct tensor {
    struct lab *lab;
    struct form *forms;
    size_t count;
};

static struct finding *finding_of(const struct tensor *t, const struct form *f,
                                  const char *attribute)
{
    return lab_finding(t->lab, f->component, attribute);
}

/* ---- names ------------------------------------------------------------- */

/* "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32" without the words that
 * all have. */
static void name_component(const char *name, char *out, size_t room)
{
    static const char *const common[] = {"sync", "aligned", "row", "col",
                                         "ordered_metadata"};
    size_t used = (size_t)snprintf(out, room, "tensor");
    for (const char *at = name; *at != '\0' && used < room;) {
        const size_t length = strcspn(at, ".:");
        bool keep = length > 0 && !(at != name && strncmp(at, "mma", 3) == 0);
        for (size_t i = 0; i < COUNT_OF(common); i++)
            keep = keep && !(strlen(common[i]) == length &&
                             strncmp(common[i], at, length) == 0);
        if (keep)
            used += (size_t)snprintf(out + used, room - used, ".%.*s",
                                     (int)length, at);
        at += length;
        at += strspn(at, ".:");
    }
}

/* Types of A and B: the second of four; where there are two, halves. */
static void name_kind(const char *name, char *out, size_t room)
{
    const char *at = strstr(name, ".m");
    while (at != NULL && (at[2] < '0' || at[2] > '9'))
        at = strstr(at + 1, ".m");
    char words[8][8] = {""};
    size_t count = 0;
    for (; at != NULL && *at == '.' && count < COUNT_OF(words); count++) {
        const size_t length = strcspn(at + 1, ".");
        snprintf(words[count], sizeof words[0], "%.*s", (int)length, at + 1);
        if (strcmp(words[count], "row") == 0 ||
            strcmp(words[count], "col") == 0)
            count--;
        at += length + 1;
    }
    snprintf(out, room, "%s", count > 3 ? words[2] : "f16");
}

/* 2 m n k of "…m16n8k16…". */
static double operations_of(const char *name)
{
    unsigned m, n, k;
    for (const char *at = strchr(name, 'm'); at != NULL;
         at = strchr(at + 1, 'm'))
        if (sscanf(at, "m%un%uk%u", &m, &n, &k) == 3)
            return 2.0 * m * n * k;
    return 0;
}

/* ---- rows -------------------------------------------------------------- */

static bool is_product(const struct instruction *row)
{
    return row->category == CATEGORY_MATRIX && operations_of(row->name) > 0;
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

static struct form form_of_row(const struct instruction *row)
{
    struct form f = {.unit = "warps",
                     .chains = chains_of(row),
                     .operations = operations_of(row->name),
                     .sparse = strstr(row->name, "mma.sp") != NULL};
    f.copies = PRODUCTS / f.chains;
    f.words = xasprintf("grid row=%s chains=%u", row->name, f.chains);
    name_component(row->name, f.component, sizeof f.component);
    name_kind(row->name, f.kind, sizeof f.kind);
    return f;
}

/* The form joins those that are asked for; taken until the end of the run. */
static struct form *keep(struct tensor *t, struct form form)
{
    t->forms = xreallocarray(t->forms, t->count + 1, sizeof *t->forms);
    t->forms[t->count] = form;
    return &t->forms[t->count++];
}

static void free_forms(struct tensor *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->forms[i].words);
    free(t->forms);
}

/* ---- latency ----------------------------------------------------------- */

static int excuse(struct finding *f, struct error *err)
{
    if (err->code != ERR_PTX)
        return cost_excuse(f, err);
    finding_none(f, "%s", err->text);
    f->skipped = true; /* the device takes no such instruction */
    *err = (struct error){0};
    return 0;
}

/* Of a row: also whether its machine code is what it claims, without which
 * nothing is said of it. */
static int ask_latency(const struct tensor *t, const struct form *form,
                       const struct instruction *row, bool *usable,
                       struct error *err)
{
    char words[128];
    struct old_cost cost;
    struct code_reading code;
    const struct subject s = subject_row(row, words, sizeof words);
    struct finding *const f = finding_of(t, form, "latency");
    *usable = false;
    if (code_verify(t->lab, &s, LEVEL, 1, &code, err) != 0)
        return excuse(f, err);
    if (code.verdict == CODE_REFUSED) {
        finding_none(f, "not verified: %s", code.why);
    } else if (cost_latency(t->lab, &s, LEVEL, &code, &cost, err) == 0) {
        finding_old_cost(f, &cost);
        free(cost.experiment);
        *usable = true;
    }
    code_say(f, &code);
    code_reading_free(&code);
    return err->code == 0 ? 0 : excuse(f, err);
}

/* ---- throughput -------------------------------------------------------- */

static struct crowd crowd_of(const struct tensor *t, const struct form *form,
                             unsigned warps)
{
    return (struct crowd){.lab = t->lab,
                          .words = form->words,
                          .unit = form->unit,
                          .warps = warps,
                          .each = form->chains,
                          .copies = form->copies,
                          .turns = form->grouped ? TURNS_OF_GROUPS : 1};
}

/* Operations a cycle of one SM with 1, 2, … warps; `*count` is how many there
 * were, fewer than asked for where registers do not suffice for more. */
static int rates_of_warps(const struct tensor *t, const struct form *form,
                          unsigned most, double *rates, size_t *count,
                          char **experiment, struct error *err)
{
    *count = 0;
    *experiment = NULL;
    for (unsigned n = 1; n <= most; n++) {
        const struct crowd c = crowd_of(t, form, n);
        char *text;
        double rate;
        const int code = throughput_rate(&c, 1, &rate, &text, err);
        if (code == ERR_UNSUPPORTED && *count > 0)
            break;
        if (code != 0) {
            free(*experiment);
            return code;
        }
        free(*experiment);
        *experiment = text;
        rates[(*count)++] = rate * form->operations;
    }
    *err = (struct error){0};
    return 0;
}

static void say_rates(const struct tensor *t, struct form *form,
                      const double *rates, size_t count, const char *experiment)
{
    double n[SNIPPET_WARPS_MOST];
    struct value list = value_list();
    struct finding *f = finding_of(t, form, "by_warps");
    for (size_t i = 0; i < count; i++) {
        n[i] = (double)(i + 1);
        value_push(&list, value_number(rates[i]));
        if (rates[i] > form->best) {
            form->best = rates[i];
            form->most = (unsigned)i + 1;
        }
    }
    finding_set(f, STATUS_MEASURED, list, "op/clk/SM");
    finding_protocol(f, "chains", value_number(form->chains));
    finding_protocol(f, "of", value_text(form->unit));
    finding_evidence(f, experiment);
    f = finding_of(t, form, "throughput");
    finding_set(f, STATUS_MEASURED, value_number(form->best), "op/clk/SM");
    finding_protocol(f, form->unit, value_number(form->most));
    finding_protocol(f, "chains", value_number(form->chains));
    finding_protocol(f, "operations", value_number(form->operations));
    finding_protocol(f, "operands", value_text("random"));
    finding_evidence(f, experiment);
    throughput_enough(finding_of(t, form, "warps"), rates, count, experiment);
    if (!form->grouped)
        throughput_sawtooth(finding_of(t, form, "sawtooth"), form->unit, n,
                            rates, count, (unsigned)count / 2, experiment);
}

static int ask_throughput(const struct tensor *t, struct form *form,
                          unsigned most, struct error *err)
{
    double rates[SNIPPET_WARPS_MOST];
    size_t count;
    char *experiment;
    if (rates_of_warps(t, form, most, rates, &count, &experiment, err) != 0)
        return excuse(finding_of(t, form, "throughput"), err);
    say_rates(t, form, rates, count, experiment);
    free(experiment);
    return 0;
}

/* ---- the whole GPU ----------------------------------------------------- */

static void say_gpu(const struct tensor *t, const struct form *form,
                    const char *operands,
                    const struct throughput_sustained *found, struct finding *f)
{
    const double rate = found->rate * form->operations;
    finding_set(f, STATUS_MEASURED, value_number(rate), "op/s");
    finding_protocol(f, "operands", value_text(operands));
    if (found->hz > 0)
        finding_protocol(
            f, "per_clock_and_sm",
            value_number(rate / (found->hz * throughput_sms(t->lab))));
    throughput_say(f, found);
}

/* So long with such operands.  Where the GPU tells no power, what an SM does
 * in a cycle says all that can be said. */
static int ask_gpu(const struct tensor *t, const struct form *form,
                   const char *operands, double seconds, const char *attribute,
                   struct error *err)
{
    struct throughput_sustained found;
    bool told;
    double hz;
    struct finding *const f = finding_of(t, form, attribute);
    struct form with = *form;
    with.words = xasprintf("%s operands=%s", form->words, operands);
    struct crowd c =
        crowd_of(t, &with, form->grouped ? form->most : (unsigned)WARPS_OF_GPU);
    const double rate = form->best / form->operations * throughput_sms(t->lab);
    const int code = throughput_sustain(&c, throughput_sms(t->lab), seconds,
                                        rate, &told, &found, err);
    free(with.words);
    if (code != 0)
        return excuse(f, err);
    if (told)
        say_gpu(t, form, operands, &found, f);
    else if (lab_number(t->lab, "clock", "measured", &hz))
        finding_set(f, STATUS_DERIVED,
                    value_number(form->best * hz * throughput_sms(t->lab)),
                    "op/s");
    else
        finding_none(f, "the clock was not measured");
    free(found.experiment);
    return 0;
}

/* One to four blocks on each SM. */
static int ask_blocks(const struct tensor *t, const struct form *form,
                      struct error *err)
{
    struct value list = value_list();
    struct finding *const f = finding_of(t, form, "by_blocks");
    struct crowd c = crowd_of(t, form, form->grouped ? 1 : form->most);
    const unsigned sms = throughput_sms(t->lab);
    int code = throughput_length(&c, 2 * sms, err);
    for (unsigned n = 1; code == 0 && n <= BLOCKS_MOST; n++) {
        double rate;
        char *experiment;
        code = throughput_rate(&c, n * sms, &rate, &experiment, err);
        if (code != 0)
            break;
        value_push(&list, value_number(rate / sms * form->operations));
        finding_evidence(f, experiment);
        free(experiment);
    }
    if (code == 0)
        finding_set(f, STATUS_MEASURED, list, "op/clk/SM");
    else
        value_free(&list);
    finding_protocol(f, form->unit, value_number(c.warps));
    return code == 0 ? 0 : excuse(f, err);
}

/* ---- mma and wmma ------------------------------------------------------ */

static void skip(const struct tensor *t, const struct form *form,
                 const char *why)
{
    struct finding *const f = finding_of(t, form, "throughput");
    finding_none(f, "%s", why);
    f->skipped = true;
}

static int ask_row(struct tensor *t, const struct instruction *row,
                   struct error *err)
{
    struct form *const form = keep(t, form_of_row(row));
    char *const why = isa_lacking(row, t->lab->info);
    bool usable;
    if (why != NULL) {
        skip(t, form, why);
        free(why);
        return 0;
    }
    if (ask_latency(t, form, row, &usable, err) != 0 || !usable)
        return err->code;
    return ask_throughput(t, form, lab_block_warps(t->lab), err);
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

static struct form form_of_wide(const struct wide *w, unsigned n)
{
    struct form f = {.unit = "groups",
                     .chains = 1,
                     .copies = PRODUCTS,
                     .grouped = true,
                     .operations = 2.0 * 64 * n * w->k};
    snprintf(f.component, sizeof f.component, "tensor.wgmma.m64n%uk%u.%s", n,
             w->k, w->opcode);
    snprintf(f.kind, sizeof f.kind, "%s", w->kind);
    f.words = xasprintf("wgmma type=%s n=%u", w->kind, n);
    return f;
}

/* Cycles of a product that is waited for before the next one begins. */
static int ask_wide_latency(const struct tensor *t, const struct form *form,
                            struct error *err)
{
    struct form waits = *form;
    double rate;
    char *experiment;
    struct finding *const f = finding_of(t, form, "latency");
    waits.words = xasprintf("%s wait=each", form->words);
    const struct crowd c = crowd_of(t, &waits, 1);
    const int code = throughput_rate(&c, 1, &rate, &experiment, err);
    free(waits.words);
    if (code != 0)
        return excuse(f, err);
    finding_set(f, STATUS_MEASURED, value_number(1 / rate), "cycles");
    finding_protocol(f, "waited_for", value_text("each product"));
    finding_evidence(f, experiment);
    free(experiment);
    return 0;
}

static int ask_wide(struct tensor *t, const struct wide *w, unsigned n,
                    struct error *err)
{
    enum { CC_MAJOR = 9, CC_MINOR = 0 };
    struct form *const form = keep(t, form_of_wide(w, n));
    const struct device_info *const info = t->lab->info;
    if (info->cc_major != CC_MAJOR || info->cc_minor != CC_MINOR) {
        skip(t, form, "only compute capability 9.0 has wgmma");
        return 0;
    }
    if (ask_wide_latency(t, form, err) != 0)
        return err->code;
    return ask_throughput(t, form, GROUPS_MOST, err);
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
    struct finding *const f = finding_of(t, form, "fraction");
    finding_set(f, STATUS_DERIVED, value_number(form->best / most), "");
    finding_method(f, "its throughput by that of the fastest dense form of "
                      "the same operands");
}

/* What the fastest forms do on the whole GPU, and at what power. */
static int ask_fastest(const struct tensor *t, const struct form *form,
                       struct error *err)
{
    if (form == NULL)
        return 0;
    if (ask_blocks(t, form, err) != 0 ||
        ask_gpu(t, form, "zeros", lastingly, "gpu_zeros", err) != 0)
        return err->code;
    return ask_gpu(t, form, "random", lastingly, "gpu", err);
}

static int ask_whole(const struct tensor *t, struct error *err)
{
    const struct form *const plain = fastest(t, "f16", false);
    const struct form *const wide = fastest(t, "f16", true);
    for (size_t i = 0; i < t->count; i++) {
        const struct form *const f = &t->forms[i];
        say_fraction(t, f);
        if (f->best > 0 && f != plain && f != wide &&
            ask_gpu(t, f, "random", briefly, "gpu", err) != 0)
            return err->code;
    }
    if (ask_fastest(t, plain, err) != 0)
        return err->code;
    return ask_fastest(t, wide, err);
}

static int ask_all(struct tensor *t, struct error *err)
{
    for (const struct instruction *r = instruction_table; r->name != NULL; r++)
        if (is_product(r) && ask_row(t, r, err) != 0)
            return err->code;
    for (size_t i = 0; i < COUNT_OF(wides); i++)
        for (size_t n = 0; n < COUNT_OF(widths); n++)
            if (ask_wide(t, &wides[i], widths[n], err) != 0)
                return err->code;
    return ask_whole(t, err);
}

/* The kernel of a form, and its waiting one's. */
static void prepare_form(struct form form, struct code_texts *texts)
{
    code_texts_add(texts, xasprintf("%s copies=%u", form.words, form.copies));
    if (form.grouped)
        code_texts_add(texts, xasprintf("%s wait=each copies=%u", form.words,
                                        form.copies));
    free(form.words);
}

/* Kernels of all forms, compiled on all cores of the host. */
static void prepare(struct lab *lab)
{
    struct code_texts texts = {0};
    char words[128];
    for (const struct instruction *r = instruction_table; r->name != NULL;
         r++) {
        char *const why = isa_lacking(r, lab->info);
        if (is_product(r) && why == NULL) {
            const struct subject s = subject_row(r, words, sizeof words);
            code_first_form(&s, LEVEL, &texts);
            prepare_form(form_of_row(r), &texts);
        }
        free(why);
    }
    for (size_t i = 0; i < COUNT_OF(wides); i++)
        for (size_t n = 0; n < COUNT_OF(widths); n++)
            prepare_form(form_of_wide(&wides[i], widths[n]), &texts);
    code_prepare(lab, &texts);
}

static int run(struct lab *lab, struct error *err)
{
    struct tensor t = {.lab = lab};
    prepare(lab);
    ask_all(&t, err);
    free_forms(&t);
    return err->code;
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
    .needs = needs,
    .gives = gives,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
