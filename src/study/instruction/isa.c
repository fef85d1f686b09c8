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
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "ptx/capability.h"
#include "ptx/kernel.h"
#include "ptx/snippet.h"
#include "study/instruction/cost.h"

static const struct answer answers[] = {
    {ONE("isa.*"), "latency.O*", "cycles"},
    {ONE("isa.*"), "throughput", "/clk/SM"},
    {ONE("isa.*"), "throughput_by_warps.*", "/clk/SM"},
    {ONE("clock"), "overhead.O*", "cycles"},
    {0},
};

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
    error_set(err, ERR_USAGE,
              "no instruction matches '%s'%s (`sonde list instructions` shows "
              "all)",
              pattern, text_guess(pattern, names).text);
    free(names);
    return err->code;
}

/* ERR_USAGE for a pattern that nothing matches, with the nearest name. */
static int isa_check(const struct isa_wish *wish, struct error *err)
{
    for (size_t i = 0; i < wish->pattern_count; i++)
        if (!any_matches(wish->patterns[i]))
            return isa_unknown(wish->patterns[i], err);
    return 0;
}

char *isa_lacking(const struct instruction *row, const struct device_info *info)
{
    struct error err = {0};
    if (row->cc_only != 0)
        device_requires_only(info, (int)row->cc_only, "it", &err);
    if (err.code == 0)
        device_requires_cc(info, (int)row->cc, &err);
    if (err.code == 0)
        device_requires_ptx(info, row->ptx, &err);
    return err.code != 0 ? xstrdup(err.text) : NULL;
}

/* ---- findings ---------------------------------------------------------- */

static const char *component_of(const struct isa *isa, const char *name)
{
    return lab_text(isa->lab, "isa.%s", name);
}

static const char *attribute_of(const struct isa *isa, unsigned level)
{
    return lab_text(isa->lab, "latency.O%u", level);
}

static struct finding *finding_of(const struct isa *isa,
                                  const struct instruction *row,
                                  const char *attribute)
{
    struct finding *const f =
        lab_finding(isa->lab, component_of(isa, row->name), attribute);
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
    return finding_of(isa, row, attribute_of(isa, level));
}

/* The device has no such instruction. */
static void skip_row(const struct isa *isa, const struct instruction *row,
                     const char *why)
{
    for (unsigned level = 0; level < LEVELS; level++)
        if (isa->wish->levels >> level & 1)
            finding_skip(latency_finding(isa, row, level), why);
}

/* ---- one row ----------------------------------------------------------- */

/* What a row's copies cost, and what their machine code is. */
struct isa_latency {
    struct cost cost; /* none with code.verdict CODE_REFUSED */
    struct code_reading code;
};

static struct isa_latency latency_of(const struct isa *isa,
                                     const struct instruction *row,
                                     unsigned level);

/* Takes away what the helper in the chain costs. */
static void less_helper(const struct isa *isa, const struct instruction *row,
                        unsigned level, struct cost *cost)
{
    const struct instruction *const helper = instruction_find(row->helper);
    const struct isa_latency less = latency_of(isa, helper, level);
    if (lab_ok(isa->lab) && less.code.verdict == CODE_REFUSED)
        lab_fail(isa->lab, ERR_UNSUPPORTED, why_chain_helper, helper->name,
                 less.code.why);
    cost->cycles -= less.cost.cycles;
    cost->low -= less.cost.high;
    cost->high -= less.cost.low;
    if (lab_ok(isa->lab) && cost->cycles <= 0)
        lab_fail(isa->lab, ERR_UNSUPPORTED, why_chain_no_more, helper->name);
}

static struct isa_latency
latency_of(const struct isa *isa, const struct instruction *row, unsigned level)
{
    const struct subject subject = subject_row(isa->lab, row);
    struct isa_latency l = {.code = code_verify(isa->lab, &subject, level, 1)};
    const struct timed timed = {&subject, level, &l.code};
    if (!lab_ok(isa->lab) || l.code.verdict == CODE_REFUSED)
        return l;
    l.cost = cost_latency(isa->lab, &timed);
    /* Unless machine code shows that the helper costs nothing. */
    if (lab_ok(isa->lab) && row->helper != NULL && l.code.length != 1 &&
        !(subject.mixed && l.code.verdict == CODE_UNREAD))
        less_helper(isa, row, level, &l.cost);
    return l;
}

static void report_latency(struct finding *f, const struct subject *subject,
                           const struct isa_latency *l)
{
    if (l->code.verdict == CODE_REFUSED) {
        code_refuse(f, &l->code);
        return;
    }
    finding_cost(f, &l->cost);
    if (subject->mixed && l->code.verdict == CODE_UNREAD) {
        f->status = STATUS_AT_MOST;
        finding_because(f, why_chain_mixed);
    }
}

static void ask_latency(const struct isa *isa, const struct instruction *row,
                        unsigned level)
{
    const struct subject subject = subject_row(isa->lab, row);
    struct finding *const f = latency_finding(isa, row, level);
    if (!subject.chained) {
        results_drop(isa->lab->results, f); /* it has no result */
        return;
    }
    const struct isa_latency l = latency_of(isa, row, level);
    if (lab_ok(isa->lab))
        report_latency(f, &subject, &l);
    if (l.code.experiment != NULL)
        code_say(f, &l.code);
    if (row->helper != NULL)
        finding_protocol(f, "helper", value_text(row->helper));
    cost_excuse(isa->lab, f);
}

/* With a helper beside it, it would be that of both. */
static bool has_rate(const struct isa *isa, const struct instruction *row)
{
    return !isa->wish->latency_only && !row->latency_only &&
           row->helper == NULL;
}

static void ask_throughput(const struct isa *isa, const struct instruction *row)
{
    if (!lab_ok(isa->lab) || !has_rate(isa, row))
        return;
    const struct subject subject = subject_row(isa->lab, row);
    struct finding *const f = finding_of(isa, row, "throughput");
    cost_ask_throughput(isa->lab, &subject, isa->top, NULL, f);
    cost_excuse(isa->lab, f);
    if (lab_ok(isa->lab) && isa->wish->parallelism)
        cost_parallelism(isa->lab, &subject, isa->top,
                         component_of(isa, row->name));
}

/* ---- loads of memory ---------------------------------------------------- */

/* Each of the lines is cold once: three runs of loads, or so many pairs. */
enum { RUN_COLD = 256, SINGLES_COLD = 1024 };

/* Chases a ring in the memory that the row names; where the ring must come
 * from memory itself, beyond what the driver says of L2. */
static void ask_chase(const struct isa *isa, const struct instruction *row,
                      unsigned level)
{
    const int64_t l2 = isa->lab->info->value[PROPERTY_L2_BYTES];
    struct finding *const f = latency_finding(isa, row, level);
    const char *const flush =
        row->uncached ? lab_text(isa->lab, " flush=%" PRId64,
                                 3 * (l2 > 0 ? l2 : (int64_t)64 << 20))
                      : "";
    const char *const walk =
        lab_text(isa->lab, "%s level=%u%s", row->chase, level, flush);
    const struct cost cost =
        row->uncached ? lab_load_cost_of(isa->lab, RUN_COLD, SINGLES_COLD, walk)
                      : lab_load_cost(isa->lab, "%s", walk);
    if (lab_ok(isa->lab))
        finding_cost(f, &cost);
    cost_excuse(isa->lab, f);
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
        const char *const component =
            lab_text(isa->lab, "isa.%s.%s", row->name, kinds[i]);
        if (!lab_number(isa->lab, component, attribute, &number)) {
            finding_none(f, "%s",
                         lab_why_unknown(isa->lab, component, attribute));
            return;
        }
        sum += number;
    }
    finding_value(f, STATUS_DERIVED, value_number(sum / COUNT_OF(kinds)));
    finding_method(f, "the mean of divisors that are powers of two and others");
}

/* ---- all ---------------------------------------------------------------- */

static bool is_asked(const struct isa *isa, unsigned level)
{
    return isa->wish->levels >> level & 1;
}

static void isa_ask_level(const struct isa *isa, const struct instruction *row,
                          unsigned level)
{
    if (row->chase != NULL)
        ask_chase(isa, row, level);
    else if (row->snippet != NULL)
        ask_latency(isa, row, level);
    else
        ask_mean(isa, row, attribute_of(isa, level),
                 latency_finding(isa, row, level));
}

static void isa_ask_row(const struct isa *isa, const struct instruction *row)
{
    char *const why = isa_lacking(row, isa->lab->info);
    if (why != NULL) {
        skip_row(isa, row, why);
        free(why);
        return;
    }
    for (unsigned level = 0; lab_ok(isa->lab) && level < LEVELS; level++)
        if (is_asked(isa, level))
            isa_ask_level(isa, row, level);
    if (row->snippet != NULL)
        ask_throughput(isa, row);
}

/* What two clock reads in a row are apart (Arafa 2019, figure 5). */
static void ask_clock(const struct isa *isa, unsigned level)
{
    struct lab *const lab = isa->lab;
    struct finding *const f =
        lab_finding(lab, "clock", lab_text(lab, "overhead.O%u", level));
    const struct column pair = lab_column(lab, "pair", "clock level=%u", level);
    if (lab_ok(lab)) {
        finding_measured(f, stats_median(pair.at, pair.count));
        finding_cite(f, pair.experiment);
    }
    cost_excuse(isa->lab, f);
}

enum stage { STAGE_FIRST, STAGE_OTHERS, STAGE_RATE, STAGES };

static void prepare_row(const struct isa *isa, const struct instruction *row,
                        enum stage stage, struct code_texts *texts)
{
    const struct subject s = subject_row(isa->lab, row);
    for (unsigned level = 0; level < LEVELS; level++) {
        if (!is_asked(isa, level))
            continue;
        if (stage == STAGE_FIRST)
            code_first_form(texts, &s, level);
        else if (stage == STAGE_OTHERS)
            code_other_forms(texts, &s, level);
    }
    if (stage == STAGE_RATE && has_rate(isa, row))
        code_rate_forms(texts, &s, isa->top);
}

/* Kernels of all rows, compiled on all cores of the host. */
static void prepare(const struct isa *isa)
{
    struct code_texts texts = {.lab = isa->lab};
    for (enum stage stage = 0; stage < STAGES; stage++) {
        for (const struct instruction *r = instruction_table; r->name != NULL;
             r++) {
            char *const why = isa_lacking(r, isa->lab->info);
            if (why == NULL && wanted(isa->wish, r) && r->snippet != NULL)
                prepare_row(isa, r, stage, &texts);
            free(why);
        }
        code_prepare(&texts);
    }
}

static void isa_run(struct lab *lab)
{
    struct isa isa = {.lab = lab,
                      .wish = lab->isa != NULL ? lab->isa : &everything};
    if (isa_check(isa.wish, &lab->err) != 0)
        return;
    for (unsigned level = 0; level < LEVELS; level++)
        isa.top = is_asked(&isa, level) ? level : isa.top;
    prepare(&isa);
    for (unsigned level = 0; lab_ok(lab) && level < LEVELS; level++)
        if (isa.wish->pattern_count == 0 && is_asked(&isa, level))
            ask_clock(&isa, level);
    for (const struct instruction *r = instruction_table;
         lab_ok(lab) && r->name != NULL; r++)
        if (wanted(isa.wish, r))
            isa_ask_row(&isa, r);
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
    .answers = answers,
    .apart = true,
    .run = isa_run,
};
