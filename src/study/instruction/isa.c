/*
 * What every instruction costs (Arafa 2019, but by dependent copies and their
 * difference, and with the machine code read).
 *
 * For each row of ptx/instructions.def and each level of the assembler: its
 * latency; at the highest level also its throughput.  A number is measured only
 * if the machine code of the timed regions is what the row says, or if the
 * device shows none.
 */
#include "study/instruction/isa.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "ptx/kernel.h"
#include "ptx/snippet.h"
#include "study/instruction/cost.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {NULL}; /* one for each row asked for */

static const struct isa_wish everything = {.levels = 1u << 0 | 1u << 3};

/* What is known while the rows are gone through. */
struct isa {
    struct lab *lab;
    const struct isa_wish *wish;
    unsigned top; /* the highest level asked for */
};

/* ---- which rows -------------------------------------------------------- */

static bool matches(const char *pattern, const struct instruction *row)
{
    return text_glob(pattern, row->name) ||
           strcmp(pattern, category_names[row->category]) == 0 ||
           (strncmp(row->name, pattern, strlen(pattern)) == 0 &&
            row->name[strlen(pattern)] == '.');
}

static bool wanted(const struct isa_wish *wish, const struct instruction *row)
{
    for (size_t i = 0; i < wish->pattern_count; i++)
        if (matches(wish->patterns[i], row))
            return true;
    return wish->pattern_count == 0;
}

static bool any_matches(const char *pattern)
{
    for (const struct instruction *r = instruction_table; r->name != NULL; r++)
        if (matches(pattern, r))
            return true;
    return false;
}

/* "add.u32x: no such instruction; did you mean …" */
int isa_unknown(const char *pattern, struct error *err)
{
    size_t count = 0;
    while (instruction_table[count].name != NULL)
        count++;
    const char **const names =
        xcalloc(count + CATEGORY_COUNT + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = instruction_table[i].name;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        names[count + i] = category_names[i];
    const char *const near = text_nearest(pattern, names);
    free(names);
    return error_set(err, ERR_USAGE,
                     "no instruction matches '%s'%s%s%s (`sonde list "
                     "instructions` shows all)",
                     pattern, near != NULL ? "; did you mean '" : "",
                     near != NULL ? near : "", near != NULL ? "'?" : "");
}

int isa_check(const struct isa_wish *wish, struct error *err)
{
    for (size_t i = 0; i < wish->pattern_count; i++)
        if (!any_matches(wish->patterns[i]))
            return isa_unknown(wish->patterns[i], err);
    return 0;
}

char *isa_lacking(const struct instruction *row, const struct device_info *info)
{
    const unsigned cc =
        10 * (unsigned)info->cc_major + (unsigned)info->cc_minor;
    if (row->cc_only != 0 && row->cc_only != cc)
        return xasprintf("only compute capability %u.%u has it, this is %u.%u",
                         row->cc_only / 10, row->cc_only % 10, cc / 10,
                         cc % 10);
    if (row->cc > cc)
        return xasprintf("needs compute capability %u.%u, this is %u.%u",
                         row->cc / 10, row->cc % 10, cc / 10, cc % 10);
    if (row->ptx != NULL && info->driver[0] != '\0' &&
        !kernel_driver_takes(info->driver, row->ptx))
        return xasprintf(
            "needs PTX %s, which a driver of CUDA %s does not take", row->ptx,
            info->driver);
    return NULL;
}

/* ---- findings ---------------------------------------------------------- */

static struct finding *finding_of(const struct isa *isa,
                                  const struct instruction *row,
                                  const char *attribute)
{
    char component[80];
    snprintf(component, sizeof component, "isa.%s", row->name);
    struct finding *const f = lab_finding(isa->lab, component, attribute);
    /* In short: there are thousands of them in a report. */
    finding_method(f, strcmp(attribute, "throughput") == 0
                          ? "chains times warps until it stops growing"
                          : "the difference of n and 3n dependent copies");
    finding_protocol(f, "category", value_text(category_names[row->category]));
    return f;
}

static struct finding *latency_finding(const struct isa *isa,
                                       const struct instruction *row,
                                       unsigned level)
{
    char attribute[32];
    snprintf(attribute, sizeof attribute, "latency.O%u", level);
    return finding_of(isa, row, attribute);
}

/* The device has no such instruction. */
static void skip_row(const struct isa *isa, const struct instruction *row,
                     const char *why)
{
    for (unsigned level = 0; level < LEVELS; level++)
        if (isa->wish->levels >> level & 1) {
            struct finding *const f = latency_finding(isa, row, level);
            finding_none(f, "%s", why);
            f->skipped = true;
        }
}

/* ---- one row ----------------------------------------------------------- */

static int latency_of(const struct isa *isa, const struct instruction *row,
                      unsigned level, struct old_cost *cost,
                      struct code_reading *code, struct error *err);

/* Takes away what the helper in the chain costs, unless machine code shows
 * that it costs nothing. */
static int less_helper(const struct isa *isa, const struct instruction *row,
                       unsigned level, const struct code_reading *code,
                       struct old_cost *cost, struct error *err)
{
    const struct instruction *const helper = instruction_find(row->helper);
    struct code_reading of_helper = {0};
    struct old_cost less = {0};
    if (code->length == 1)
        return 0;
    const int status = latency_of(isa, helper, level, &less, &of_helper, err);
    if (status == 0 && of_helper.verdict == CODE_REFUSED)
        error_set(err, ERR_UNSUPPORTED, "the chain needs %s, of which: %s",
                  helper->name, of_helper.why);
    cost->cycles -= less.cycles;
    cost->low -= less.high;
    cost->high -= less.low;
    free(less.experiment);
    code_reading_free(&of_helper);
    if (err->code == 0 && cost->cycles <= 0)
        error_set(err, ERR_UNSUPPORTED,
                  "the chain costs no more than %s, which it needs, alone",
                  helper->name);
    return err->code;
}

/* With code->verdict CODE_REFUSED there is no cost. */
static int latency_of(const struct isa *isa, const struct instruction *row,
                      unsigned level, struct old_cost *cost,
                      struct code_reading *code, struct error *err)
{
    char words[96];
    const struct subject subject = subject_row(row, words, sizeof words);
    *cost = (struct old_cost){0};
    *code = (struct code_reading){0};
    if (code_verify(isa->lab, &subject, level, 1, code, err) != 0)
        return err->code;
    if (code->verdict == CODE_REFUSED)
        return 0;
    if (cost_latency(isa->lab, &subject, level, code, cost, err) != 0)
        return err->code;
    if (row->helper == NULL || (subject.mixed && code->verdict == CODE_UNREAD))
        return 0;
    return less_helper(isa, row, level, code, cost, err);
}

/* An instruction that the device does not take is no failure of the device. */
static int excuse(struct finding *f, struct error *err)
{
    if (err->code != ERR_PTX)
        return cost_excuse(f, err);
    finding_none(f, "%s", err->text);
    *err = (struct error){0};
    return 0;
}

static int ask_latency(const struct isa *isa, const struct instruction *row,
                       unsigned level, struct error *err)
{
    struct old_cost cost;
    struct code_reading code;
    char words[96];
    const struct subject subject = subject_row(row, words, sizeof words);
    struct finding *const f = latency_finding(isa, row, level);
    if (!subject.chained) {
        results_drop(isa->lab->results, f); /* it has no result */
        return 0;
    }
    const int status = latency_of(isa, row, level, &cost, &code, err);
    if (status == 0 && code.verdict != CODE_REFUSED)
        finding_old_cost(f, &cost);
    else if (status == 0)
        finding_none(f, "not verified: %s", code.why);
    if (f->status == STATUS_MEASURED && subject.mixed &&
        code.verdict == CODE_UNREAD) {
        f->status = STATUS_AT_MOST;
        finding_because(f, "the chain holds other instructions, and only "
                           "machine code could tell what they cost");
    }
    if (code.experiment != NULL)
        code_say(f, &code);
    if (row->helper != NULL)
        finding_protocol(f, "helper", value_text(row->helper));
    free(cost.experiment);
    code_reading_free(&code);
    return status == 0 ? 0 : excuse(f, err);
}

/* With a helper beside it, it would be that of both. */
static bool has_rate(const struct isa *isa, const struct instruction *row)
{
    return !isa->wish->latency_only && !row->latency_only &&
           row->helper == NULL;
}

static int ask_throughput(const struct isa *isa, const struct instruction *row,
                          struct error *err)
{
    char words[96], component[96];
    if (!has_rate(isa, row))
        return 0;
    const struct subject subject = subject_row(row, words, sizeof words);
    struct finding *const f = finding_of(isa, row, "throughput");
    int status = cost_ask_throughput(isa->lab, &subject, isa->top, f, err);
    if (status != 0)
        status = excuse(f, err);
    if (status != 0 || !isa->wish->parallelism)
        return status;
    snprintf(component, sizeof component, "isa.%s", row->name);
    return cost_parallelism(isa->lab, &subject, isa->top, component, err);
}

/* ---- loads of memory ---------------------------------------------------- */

/* Chases a ring in the memory that the row names; where the ring must come
 * from memory itself, beyond what the driver says of L2. */
static int ask_chase(const struct isa *isa, const struct instruction *row,
                     unsigned level, struct error *err)
{
    const int64_t l2 = isa->lab->info->value[PROPERTY_L2_BYTES];
    struct old_cost cost;
    struct finding *const f = latency_finding(isa, row, level);
    char flush[48] = "";
    if (row->uncached)
        snprintf(flush, sizeof flush, " flush=%" PRId64,
                 3 * (l2 > 0 ? l2 : (int64_t)64 << 20));
    if (lab_chase_err(isa->lab, &cost, err, "%s level=%u%s", row->chase, level,
                  flush) != 0)
        return excuse(f, err);
    finding_old_cost(f, &cost);
    free(cost.experiment);
    return 0;
}

/* ---- what depends on values --------------------------------------------- */

/* The mean of the same attribute of NAME.regular and NAME.irregular, as the
 * seed's table has it. */
static void ask_mean(const struct isa *isa, const struct instruction *row,
                     const char *attribute, struct finding *f)
{
    static const char *const kinds[] = {"regular", "irregular"};
    double sum = 0, number;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        char component[96];
        snprintf(component, sizeof component, "isa.%s.%s", row->name, kinds[i]);
        if (!lab_number(isa->lab, component, attribute, &number)) {
            finding_none(f,
                         "the mean of %s and %s divisors, of which one was "
                         "not measured",
                         kinds[0], kinds[1]);
            return;
        }
        sum += number;
    }
    finding_set(f, STATUS_DERIVED, value_number(sum / COUNT_OF(kinds)),
                "cycles");
    finding_method(f, "the mean of divisors that are powers of two and others");
}

/* ---- all ---------------------------------------------------------------- */

static int ask_level(const struct isa *isa, const struct instruction *row,
                     unsigned level, struct error *err)
{
    char attribute[32];
    if (row->chase != NULL)
        return ask_chase(isa, row, level, err);
    if (row->snippet != NULL)
        return ask_latency(isa, row, level, err);
    snprintf(attribute, sizeof attribute, "latency.O%u", level);
    ask_mean(isa, row, attribute, latency_finding(isa, row, level));
    return 0;
}

static int ask_row(const struct isa *isa, const struct instruction *row,
                   struct error *err)
{
    char *const why = isa_lacking(row, isa->lab->info);
    if (why != NULL) {
        skip_row(isa, row, why);
        free(why);
        return 0;
    }
    for (unsigned level = 0; level < LEVELS; level++)
        if ((isa->wish->levels >> level & 1) != 0 &&
            ask_level(isa, row, level, err) != 0)
            return err->code;
    return row->snippet != NULL ? ask_throughput(isa, row, err) : 0;
}

/* What two clock reads in a row are apart (Arafa 2019, figure 5). */
static int ask_clock(const struct isa *isa, unsigned level, struct error *err)
{
    struct samples samples;
    char attribute[32], *experiment;
    snprintf(attribute, sizeof attribute, "overhead.O%u", level);
    struct finding *const f = lab_finding(isa->lab, "clock", attribute);
    if (lab_probe_err(isa->lab, &samples, &experiment, err, "clock level=%u",
                  level) != 0)
        return excuse(f, err);
    const size_t pair = samples_column(&samples, "pair");
    double *const cycles = xcalloc(samples.rows, sizeof *cycles);
    for (size_t row = 0; row < samples.rows; row++)
        cycles[row] = (double)samples_at(&samples, row, pair);
    finding_set(f, STATUS_MEASURED,
                value_number(stats_median(cycles, samples.rows)), "cycles");
    finding_evidence(f, experiment);
    free(cycles);
    free(experiment);
    samples_free(&samples);
    return 0;
}

enum stage { STAGE_FIRST, STAGE_OTHERS, STAGE_RATE, STAGES };

static void prepare_row(const struct isa *isa, const struct instruction *row,
                        enum stage stage, struct code_texts *texts)
{
    char words[96];
    struct subject s = subject_row(row, words, sizeof words);
    for (unsigned level = 0; level < LEVELS; level++) {
        if ((isa->wish->levels >> level & 1) == 0)
            continue;
        if (stage == STAGE_FIRST)
            code_first_form(&s, level, texts);
        else if (stage == STAGE_OTHERS)
            code_other_forms(isa->lab, &s, level, texts);
    }
    if (stage == STAGE_RATE && has_rate(isa, row))
        code_rate_forms(isa->lab, &s, isa->top, texts);
}

/* Kernels of all rows, compiled on all cores of the host. */
static void prepare(const struct isa *isa)
{
    struct code_texts texts = {0};
    for (enum stage stage = 0; stage < STAGES; stage++) {
        for (const struct instruction *r = instruction_table; r->name != NULL;
             r++) {
            char *const why = isa_lacking(r, isa->lab->info);
            if (why == NULL && wanted(isa->wish, r) && r->snippet != NULL)
                prepare_row(isa, r, stage, &texts);
            free(why);
        }
        code_prepare(isa->lab, &texts);
    }
}

static int run(struct lab *lab, struct error *err)
{
    struct isa isa = {.lab = lab,
                      .wish = lab->isa != NULL ? lab->isa : &everything};
    if (isa_check(isa.wish, err) != 0)
        return err->code;
    for (unsigned level = 0; level < LEVELS; level++)
        isa.top = isa.wish->levels >> level & 1 ? level : isa.top;
    prepare(&isa);
    for (unsigned level = 0; level < LEVELS; level++)
        if (isa.wish->pattern_count == 0 && isa.wish->levels >> level & 1 &&
            ask_clock(&isa, level, err) != 0)
            return err->code;
    for (const struct instruction *r = instruction_table; r->name != NULL; r++)
        if (wanted(isa.wish, r) && ask_row(&isa, r, err) != 0)
            return err->code;
    return 0;
}

const struct study study_isa = {
    .name = "isa",
    .question = "What does each instruction cost?",
    .method =
        "Copies of the instruction that depend on each other stand between "
        "two clock reads, once 16 and once 48 of them; the difference, by 32, "
        "is the latency.  The machine code of both is read: it must hold as "
        "many of the expected instruction, and nothing that hides their "
        "latency.  Throughput: independent chains times warps on one SM, more "
        "of both until it stops growing.",
    .needs = needs,
    .gives = gives,
    .apart = true,
    .run_err = run,
};
