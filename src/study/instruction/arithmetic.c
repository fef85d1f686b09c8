/*
 * How many fused multiply-adds an SM does in a cycle, by type, and how that
 * depends on how many warps and blocks there are (van Stigt 2022, section 8).
 *
 * Eight independent chains in each warp hide the latency (one of scalar
 * halves, of which the assembler makes pairs otherwise), so that what is left
 * is how warps are dealt to schedulers: with n equal warps on S schedulers the
 * one that has most decides, and the share of the peak is n / (S ⌈n / S⌉).
 * Each instruction reads two registers, since three can cost a further cycle
 * when they lie in one bank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/instruction/cost.h"
#include "study/instruction/throughput.h"

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {NULL}; /* those of each type */

enum { LEVEL = 3, LANES = 32 };
/* Copies of all chains in the loop, so many that its own instructions are less
 * than a hundredth; and turns of the shorter run. */
enum { COPIES = 512, TURNS_OF_WARPS = 4 };

/* clang-format off */
static const struct type {
    const char *name, *snippet, *machine;
    unsigned results; /* of a lane by one copy */
    unsigned cc;      /* least capability */
    unsigned chains;  /* two of scalar halves would be made one of pairs */
    bool by_blocks;   /* … is also asked */
} types[] = {
    {"fp64", "fma.rn.f64 %fd0, %fd0, %fd1, %fd1;", "DFMA*", 1, 0, 8, false},
    {"fp32", "fma.rn.f32 %f0, %f0, %f1, %f1;", "FFMA*", 1, 0, 8, true},
    {"fp16", "fma.rn.f16 %h0, %h0, %h1, %h1;", "HFMA2*", 1, 53, 1, false},
    {"fp16x2", "fma.rn.f16x2 %r0, %r0, %r1, %r1;", "HFMA2*", 2, 53, 8, false},
    {"bf16x2", "fma.rn.bf16x2 %r0, %r0, %r1, %r1;", "HFMA2*", 2, 80, 8, false},
    {"int32", "mad.lo.s32 %r0, %r0, %r1, %r1;", "IMAD", 1, 0, 8, false},
    {"fp32_int32",
     "fma.rn.f32 %f0, %f0, %f1, %f1; mad.lo.s32 %r0, %r0, %r1, %r1;",
     NULL, 2, 0, 8, false},
};
/* clang-format on */

struct asked {
    struct lab *lab;
    const struct type *type;
    struct subject subject;
    struct code_reading code;
    char *grid; /* words of its experiments on many SMs */
};

static struct finding *finding_of(const struct asked *a, const char *attribute)
{
    char component[64];
    snprintf(component, sizeof component, "arithmetic.%s", a->type->name);
    return lab_finding(a->lab, component, attribute);
}

/* ---- one SM ------------------------------------------------------------ */

/* What was reached of the lanes that the SM must have for it. */
static void say_fraction(const struct asked *a, double peak)
{
    struct finding *const f = finding_of(a, "fraction");
    const double pipe = cost_pipe(peak);
    if (pipe == 0) {
        finding_none(f, "no number of lanes (a power of two, or three times "
                        "one) is near the peak");
        return;
    }
    finding_set(f, STATUS_DERIVED, value_number(peak / pipe), "");
    finding_method(f, "the peak by the nearest number of lanes that an SM may "
                      "have");
    finding_protocol(f, "lanes", value_number(pipe));
}

static struct crowd crowd_of(const struct asked *a, unsigned warps)
{
    return (struct crowd){.lab = a->lab,
                          .words = a->grid,
                          .unit = "warps",
                          .warps = warps,
                          .each = a->type->chains,
                          .copies = COPIES / a->type->chains,
                          .turns = TURNS_OF_WARPS};
}

static int rates_of_warps(const struct asked *a, unsigned most, double *rates,
                          char **experiment, struct error *err)
{
    *experiment = NULL;
    for (unsigned n = 1; n <= most; n++) {
        const struct crowd c = crowd_of(a, n);
        free(*experiment);
        if (throughput_rate(&c, 1, &rates[n - 1], experiment, err) != 0)
            return err->code;
        rates[n - 1] *= LANES * a->type->results;
    }
    return 0;
}

static void say_peak(const struct asked *a, double peak, unsigned warps,
                     const char *experiment)
{
    struct finding *const f = finding_of(a, "peak");
    finding_set(f, STATUS_MEASURED, value_number(peak), "/clk/SM");
    finding_protocol(f, "warps", value_number(warps));
    finding_protocol(f, "chains", value_number(a->type->chains));
    code_say(f, &a->code);
    finding_evidence(f, experiment);
}

static void say_by_warps(const struct asked *a, const double *rates,
                         unsigned most, const char *experiment)
{
    double n[SNIPPET_WARPS_MOST];
    struct value list = value_list();
    struct finding *const f = finding_of(a, "by_warps");
    for (unsigned i = 0; i < most; i++) {
        n[i] = i + 1;
        value_push(&list, value_number(rates[i]));
    }
    finding_set(f, STATUS_MEASURED, list, "/clk/SM");
    finding_protocol(f, "chains", value_number(a->type->chains));
    finding_evidence(f, experiment);
    throughput_sawtooth(finding_of(a, "sawtooth"), "warps", n, rates, most,
                        most / 2, experiment);
}

/* `*peak` and the fewest warps that come to it. */
static int ask_warps(const struct asked *a, double *peak, unsigned *enough,
                     struct error *err)
{
    double rates[SNIPPET_WARPS_MOST];
    char *experiment;
    const unsigned most = lab_block_warps(a->lab);
    *enough = 0;
    if (rates_of_warps(a, most, rates, &experiment, err) != 0)
        return cost_excuse(finding_of(a, "peak"), err);
    *peak = stats_max(rates, most);
    *enough =
        throughput_enough(finding_of(a, "warps"), rates, most, experiment);
    say_peak(a, *peak, *enough, experiment);
    say_fraction(a, *peak);
    say_by_warps(a, rates, most, experiment);
    free(experiment);
    return 0;
}

/* ---- all SMs ----------------------------------------------------------- */

/* Multiply-adds of all lanes in a second: measured over a longer time where the
 * GPU tells its power, else that of an SM by their number and clock. */
static int ask_gpu(const struct asked *a, struct crowd *c, double peak,
                   struct error *err)
{
    static const double seconds = 0.01;
    struct throughput_sustained found;
    bool told;
    double hz;
    const double lanes = LANES * a->type->results;
    struct finding *const f = finding_of(a, "gpu");
    if (throughput_sustain(c, throughput_sms(a->lab), seconds,
                           peak / lanes * throughput_sms(a->lab), &told, &found,
                           err) != 0)
        return cost_excuse(f, err);
    if (told) {
        finding_set(f, STATUS_MEASURED, value_number(lanes * found.rate), "/s");
        throughput_say(f, &found);
    } else if (lab_number(a->lab, "clock", "measured", &hz)) {
        finding_set(f, STATUS_DERIVED,
                    value_number(peak * throughput_sms(a->lab) * hz), "/s");
        finding_method(f, "the peak of an SM by their number and clock");
    } else {
        finding_none(f, "the clock was not measured");
    }
    free(found.experiment);
    return 0;
}

/* Blocks by the SMs: whole multiples, and a block more. */
static size_t numbers_of_blocks(const struct lab *lab, double *n)
{
    const unsigned sms = throughput_sms(lab);
    const unsigned all[] = {sms, sms + 1, 2 * sms, 3 * sms, 4 * sms};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        n[i] = all[i];
    return COUNT_OF(all);
}

enum { NUMBERS_MOST = 8 };

static int rates_of_blocks(const struct asked *a, const struct crowd *c,
                           const double *n, size_t count, double *rates,
                           struct finding *f, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        char *experiment;
        if (throughput_rate(c, (unsigned)n[i], &rates[i], &experiment, err) !=
            0)
            return err->code;
        rates[i] *= (double)LANES * a->type->results / throughput_sms(a->lab);
        finding_evidence(f, experiment);
        free(experiment);
    }
    return 0;
}

static void say_blocks(const struct asked *a, const struct crowd *c,
                       const double *n, size_t count, const double *rates,
                       struct finding *f)
{
    struct value list = value_list(), numbers = value_list();
    for (size_t i = 0; i < count; i++) {
        value_push(&list, value_number(rates[i]));
        value_push(&numbers, value_number(n[i]));
    }
    finding_set(f, STATUS_MEASURED, list, "/clk/SM");
    finding_protocol(f, "blocks", numbers);
    finding_protocol(f, "warps", value_number(c->warps));
    finding_protocol(f, "chains", value_number(a->type->chains));
    throughput_sawtooth(finding_of(a, "sawtooth_blocks"), "blocks", n, rates,
                        count, 2 * throughput_sms(a->lab), f->evidence[0]);
}

static int ask_blocks(const struct asked *a, struct crowd *c, struct error *err)
{
    double n[NUMBERS_MOST], rates[NUMBERS_MOST];
    struct finding *const f = finding_of(a, "by_blocks");
    const size_t count = numbers_of_blocks(a->lab, n);
    int code = throughput_length(c, 2 * throughput_sms(a->lab), err);
    if (code == 0)
        code = rates_of_blocks(a, c, n, count, rates, f, err);
    if (code != 0)
        return cost_excuse(f, err);
    say_blocks(a, c, n, count, rates, f);
    return 0;
}

static int ask_crowd(const struct asked *a, unsigned warps, double peak,
                     struct error *err)
{
    struct crowd few = crowd_of(a, warps);
    struct crowd all = crowd_of(a, lab_block_warps(a->lab));
    if (a->type->by_blocks && ask_blocks(a, &few, err) != 0)
        return err->code;
    return ask_gpu(a, &all, peak, err);
}

/* ---- all --------------------------------------------------------------- */

/* The machine code of what is timed, or why there is no peak. */
static int ask_code(struct asked *a, bool *usable, struct error *err)
{
    struct finding *const f = finding_of(a, "peak");
    *usable = false;
    if (code_verify(a->lab, &a->subject, LEVEL, a->type->chains, &a->code,
                    err) != 0)
        return cost_excuse(f, err);
    *usable = a->code.verdict != CODE_REFUSED;
    if (!*usable)
        finding_none(f, "not verified: %s", a->code.why);
    return 0;
}

static int ask_rates(const struct asked *a, struct error *err)
{
    double peak;
    unsigned warps;
    if (ask_warps(a, &peak, &warps, err) != 0 || warps == 0)
        return err->code;
    return ask_crowd(a, warps, peak, err);
}

static bool lacks(const struct lab *lab, const struct type *type)
{
    return 10 * (unsigned)lab->info->cc_major + (unsigned)lab->info->cc_minor <
           type->cc;
}

static void skip(const struct asked *a)
{
    struct finding *const f = finding_of(a, "peak");
    finding_none(f, "needs compute capability %u.%u, this is %d.%d",
                 a->type->cc / 10, a->type->cc % 10, a->lab->info->cc_major,
                 a->lab->info->cc_minor);
    f->skipped = true;
}

static int ask_type(struct lab *lab, const struct type *type, struct error *err)
{
    bool usable;
    char *const words = xasprintf("snippet='%s'", type->snippet);
    struct asked a = {
        .lab = lab,
        .type = type,
        .subject = {.words = words,
                    .machine = type->machine,
                    .form = FORM_PLAIN,
                    .only_form = true,
                    .by_register = true,
                    .chained = true,
                    .results = type->results},
        .grid = xasprintf("grid %s chains=%u", words, type->chains),
    };
    if (lacks(lab, type))
        skip(&a);
    else if (ask_code(&a, &usable, err) == 0 && usable)
        ask_rates(&a, err);
    code_reading_free(&a.code);
    free(a.grid);
    free(words);
    return err->code;
}

static int run(struct lab *lab, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (ask_type(lab, &types[i], err) != 0)
            return err->code;
    return 0;
}

const struct study study_arithmetic = {
    .name = "arithmetic",
    .question = "How many multiply-adds does an SM do in a cycle, and the GPU?",
    .method =
        "Independent chains of fused multiply-adds, eight in each warp, "
        "with 1 to 32 warps in one block, and one to four blocks on every SM; "
        "the difference of two numbers of turns, in cycles of the SM.  With n "
        "warps on "
        "S "
        "schedulers the share of the peak is n / (S ceil(n / S)).",
    .needs = needs,
    .gives = gives,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
