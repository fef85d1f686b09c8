/*
 * How many fused multiply-adds an SM does in a cycle, by type, and how that
 * depends on how many warps and blocks there are (van Stigt 2022, section 8).
 *
 * Eight independent chains in each warp hide the latency, so that what is left
 * is how warps are dealt to schedulers: with n equal warps on S schedulers the
 * one that has most decides, and the share of the peak is n / (S ⌈n / S⌉).
 * Each instruction reads two registers, since three can cost a further cycle
 * when they lie in one bank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "study/crowd.h"
#include "study/timing.h"

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {NULL}; /* those of each type */

enum { LEVEL = 3, CHAINS = 8, LANES = 32 };
/* Copies and laps of each of the many numbers of warps. */
enum { COPIES_OF_WARPS = 8, LAPS_OF_WARPS = 2 };
/* So many that the loop is less than a hundredth. */
enum { COPIES_SUSTAINED = 16 };

/* clang-format off */
static const struct type {
    const char *name, *snippet, *machine;
    unsigned results; /* of a lane by one copy */
    unsigned cc;      /* least capability */
    enum instruction_form form;
    bool by_blocks;   /* … is also asked */
} types[] = {
    {"fp64", "fma.rn.f64 %fd0, %fd0, %fd1, %fd1;", "DFMA*", 1, 0, FORM_PLAIN, false},
    {"fp32", "fma.rn.f32 %f0, %f0, %f1, %f1;", "FFMA*", 1, 0, FORM_GUARD, true},
    {"fp16", "fma.rn.f16 %h0, %h0, %h1, %h1;", "HFMA2*", 1, 53, FORM_PLAIN, false},
    {"fp16x2", "fma.rn.f16x2 %r0, %r0, %r1, %r1;", "HFMA2*", 2, 53, FORM_PLAIN, false},
    {"bf16x2", "fma.rn.bf16x2 %r0, %r0, %r1, %r1;", "HFMA2*", 2, 80, FORM_PLAIN, false},
    {"int32", "mad.lo.s32 %r0, %r0, %r1, %r1;", "IMAD", 1, 0, FORM_GUARD, false},
    {"fp32_int32",
     "fma.rn.f32 %f0, %f0, %f1, %f1; mad.lo.s32 %r0, %r0, %r1, %r1;",
     NULL, 2, 0, FORM_PLAIN, false},
};
/* clang-format on */

struct asked {
    struct lab *lab;
    const struct type *type;
    struct subject subject;
    struct code_reading code;
};

static struct finding *finding_of(const struct asked *a, const char *attribute)
{
    char component[64];
    snprintf(component, sizeof component, "arithmetic.%s", a->type->name);
    return lab_finding(a->lab, component, attribute);
}

/* ---- one SM ------------------------------------------------------------ */

static int ask_peak(const struct asked *a, double *peak, struct error *err)
{
    struct saturation found;
    struct finding *const f = finding_of(a, "peak");
    *peak = 0;
    if (timing_throughput(a->lab, &a->subject, LEVEL, &a->code, &found, err) !=
        0)
        return timing_excuse(f, err);
    *peak = found.rate.cycles;
    timing_say_rate(f, &found);
    timing_say_code(f, &a->code);
    free(found.rate.experiment);
    return 0;
}

/* What was reached of the lanes that the SM must have for it. */
static void say_fraction(const struct asked *a, double peak)
{
    struct finding *const f = finding_of(a, "fraction");
    const double pipe = timing_pipe(peak);
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

static int ask_warps(const struct asked *a, unsigned *enough, struct error *err)
{
    double rates[COPIES_WARPS_MOST];
    char *experiment;
    const unsigned most = timing_warps(a->lab);
    *enough = 0;
    struct subject s = a->subject;
    struct finding *const f = finding_of(a, "by_warps");
    s.copies = COPIES_OF_WARPS;
    s.laps = LAPS_OF_WARPS;
    if (timing_rates(a->lab, &s, LEVEL, &a->code, CHAINS, most, rates,
                     &experiment, err) != 0)
        return timing_excuse(f, err);
    struct value list = value_list();
    double n[COPIES_WARPS_MOST];
    for (unsigned i = 0; i < most; i++) {
        n[i] = i + 1;
        value_push(&list, value_number(rates[i]));
    }
    finding_set(f, STATUS_MEASURED, list, "/clk/SM");
    finding_protocol(f, "chains", value_number(CHAINS));
    finding_evidence(f, experiment);
    crowd_sawtooth(finding_of(a, "sawtooth"), "warps", n, rates, most, most / 2, experiment);
    *enough = crowd_enough(finding_of(a, "warps"), rates, most, experiment);
    free(experiment);
    return 0;
}

/* ---- all SMs ----------------------------------------------------------- */

/* Multiply-adds of all lanes in a second: measured over a longer time where the
 * GPU tells its power, else that of an SM by their number and clock. */
static int ask_gpu(const struct asked *a, struct crowd *c, double peak,
                   struct error *err)
{
    static const double seconds = 0.002;
    struct crowd_sustained found;
    bool told;
    double hz;
    const double lanes = LANES * a->type->results;
    struct finding *const f = finding_of(a, "gpu");
    if (crowd_sustain(c, crowd_sms(a->lab), seconds,
                      peak / lanes * crowd_sms(a->lab), &told, &found,
                      err) != 0)
        return timing_excuse(f, err);
    if (told) {
        finding_set(f, STATUS_MEASURED, value_number(lanes * found.rate), "/s");
        crowd_say(f, &found);
    } else if (lab_number(a->lab, "clock", "measured", &hz)) {
        finding_set(f, STATUS_DERIVED, value_number(peak * crowd_sms(a->lab) * hz),
                    "/s");
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
    const unsigned sms = crowd_sms(lab);
    const unsigned all[] = {sms,     sms + 1, 2 * sms, 3 * sms, 4 * sms};
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
        if (crowd_rate(c, (unsigned)n[i], &rates[i], &experiment, err) != 0)
            return err->code;
        rates[i] *= (double)LANES * a->type->results / crowd_sms(a->lab);
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
    finding_protocol(f, "chains", value_number(CHAINS));
    crowd_sawtooth(finding_of(a, "sawtooth_blocks"), "blocks", n, rates, count,
                   2 * crowd_sms(a->lab), f->evidence[0]);
}

static int ask_blocks(const struct asked *a, struct crowd *c, struct error *err)
{
    double n[NUMBERS_MOST], rates[NUMBERS_MOST];
    struct finding *const f = finding_of(a, "by_blocks");
    const size_t count = numbers_of_blocks(a->lab, n);
    int code = crowd_length(c, 2 * crowd_sms(a->lab), err);
    if (code == 0)
        code = rates_of_blocks(a, c, n, count, rates, f, err);
    if (code != 0)
        return timing_excuse(f, err);
    say_blocks(a, c, n, count, rates, f);
    return 0;
}

static int ask_crowd(const struct asked *a, unsigned warps, double peak,
                     struct error *err)
{
    char *const words =
        xasprintf("grid snippet='%s' chains=%d", a->type->snippet, CHAINS);
    struct crowd c = {.lab = a->lab,
                      .words = words,
                      .unit = "warps",
                      .warps = warps,
                      .each = CHAINS,
                      .copies = COPIES_OF_WARPS,
                      .turns = 1};
    if (!a->type->by_blocks || ask_blocks(a, &c, err) == 0) {
        c.warps = timing_warps(a->lab);
        c.copies = COPIES_SUSTAINED;
        ask_gpu(a, &c, peak, err);
    }
    free(words);
    return err->code;
}

/* ---- all --------------------------------------------------------------- */

/* The machine code of what is timed, or why there is no peak. */
static int ask_code(struct asked *a, bool *usable, struct error *err)
{
    struct finding *const f = finding_of(a, "peak");
    *usable = false;
    if (timing_code(a->lab, &a->subject, LEVEL, CHAINS, &a->code, err) != 0)
        return timing_excuse(f, err);
    *usable = a->code.verdict != CODE_REFUSED;
    if (!*usable)
        finding_none(f, "not verified: %s", a->code.why);
    return 0;
}

static int ask_rates(const struct asked *a, struct error *err)
{
    double peak;
    unsigned warps;
    if (ask_peak(a, &peak, err) != 0 || peak == 0)
        return err->code;
    say_fraction(a, peak);
    if (ask_warps(a, &warps, err) != 0 || warps == 0)
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
        .subject =
            {
                .words = words,
                .machine = type->machine,
                .form = type->form,
                .only_form = type->form == FORM_PLAIN,
                .swaps = false,
                .by_register = true,
                .chained = true,
                .results = type->results,
            },
    };
    if (lacks(lab, type))
        skip(&a);
    else if (ask_code(&a, &usable, err) == 0 && usable)
        ask_rates(&a, err);
    code_reading_free(&a.code);
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
        "the difference of two lengths, in cycles of the SM.  With n warps on S "
        "schedulers the share of the peak is n / (S ceil(n / S)).",
    .needs = needs,
    .gives = gives,
    .apart = true,
    .run = run,
};
