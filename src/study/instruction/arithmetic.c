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
#include "base/mem.h"
#include "ptx/capability.h"
#include "study/instruction/cost.h"
#include "study/instruction/throughput.h"

static const struct answer answers[] = {
    {ONE("arithmetic.*"), "peak", "/clk/SM"},
    {ONE("arithmetic.*"), "warps", "warps"},
    {ONE("arithmetic.*"), "fraction", ""},
    {ONE("arithmetic.*"), "by_warps", "/clk/SM"},
    {ONE("arithmetic.*"), "sawtooth", "warps"},
    {ONE("arithmetic.*"), "by_blocks", "/clk/SM"},
    {ONE("arithmetic.*"), "sawtooth_blocks", "blocks"},
    {ONE("arithmetic.*"), "gpu", "/s"},
    {ONE("clock"), "arithmetic", "Hz"},
    {0},
};

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

struct arithmetic_question {
    const struct type *type;
    struct throughput throughput;
    struct code_reading code;
};

static struct finding *finding_of(const struct arithmetic_question *q,
                                  const char *attribute)
{
    return lab_finding(q->throughput.lab, q->throughput.component, attribute);
}

/* ---- one SM ------------------------------------------------------------ */

/* What was reached of the lanes that the SM must have for it. */
static void say_fraction(const struct arithmetic_question *q, double peak)
{
    struct finding *const f = finding_of(q, "fraction");
    const double pipe = cost_pipe(peak);
    if (pipe == 0) {
        finding_none(f, why_lanes_none);
        return;
    }
    finding_value(f, STATUS_DERIVED, value_number(peak / pipe));
    finding_method(f, "the peak by the nearest number of lanes that an SM may "
                      "have");
    finding_protocol(f, "lanes", value_number(pipe));
}

static void say_peak(const struct arithmetic_question *q,
                     const struct throughput_rates *w)
{
    struct finding *const f = finding_of(q, "peak");
    throughput_say_best(f, w);
    finding_protocol(f, "warps", value_number(throughput_enough(w)));
    finding_protocol(f, "chains", value_number(q->type->chains));
    code_say(f, &q->code);
    finding_cite(f, w->experiment);
}

static void say_rates(const struct arithmetic_question *q,
                      const struct throughput_rates *w)
{
    throughput_say_enough(&q->throughput, w);
    say_peak(q, w);
    say_fraction(q, w->best.rate);
    throughput_say_warps(&q->throughput, w);
    throughput_say_sawtooth(&q->throughput, "sawtooth", w,
                            (unsigned)w->count / 2);
}

/* ---- all SMs ----------------------------------------------------------- */

/* Whole multiples of the SMs, and a block more. */
static void ask_blocks(const struct arithmetic_question *q, unsigned warps)
{
    struct throughput with = q->throughput;
    const unsigned sms = lab_sms(with.lab);
    const double n[] = {sms, sms + 1.0, 2.0 * sms, 3.0 * sms, 4.0 * sms};
    struct finding *const f = finding_of(q, "by_blocks");
    with.warps = warps;
    const struct throughput_rates b =
        throughput_ask_blocks(&with, n, COUNT_OF(n), f);
    if (lab_ok(with.lab)) {
        finding_protocol(f, "blocks", value_numbers(n, COUNT_OF(n)));
        finding_protocol(f, "warps", value_number(warps));
        finding_protocol(f, "chains", value_number(with.chains));
        throughput_say_sawtooth(&with, "sawtooth_blocks", &b, 2 * sms);
    }
    throughput_excuse(with.lab, f);
}

/* Multiply-adds of all lanes in a second. */
static void ask_gpu(const struct arithmetic_question *q, double peak)
{
    static const double seconds = 0.01;
    struct throughput all = q->throughput;
    struct finding *const f = finding_of(q, "gpu");
    all.warps = lab_block_warps(all.lab);
    throughput_gpu(&all, seconds, peak, f);
    throughput_excuse(all.lab, f);
}

/* ---- all --------------------------------------------------------------- */

/* The peak, unless the machine code of what is timed is not what it claims. */
static void ask_rates(struct arithmetic_question *q,
                      const struct subject *subject)
{
    struct lab *const lab = q->throughput.lab;
    struct throughput_rates w = {0};
    struct finding *const f = finding_of(q, "peak");
    q->code = code_verify(lab, subject, LEVEL, q->type->chains);
    if (lab_ok(lab) && q->code.verdict == CODE_REFUSED) {
        code_refuse(f, &q->code);
        return;
    }
    if (lab_ok(lab))
        w = throughput_by_warps(&q->throughput, lab_block_warps(lab));
    if (!lab_ok(lab)) {
        throughput_excuse(lab, f);
        return;
    }
    say_rates(q, &w);
    if (q->type->by_blocks)
        ask_blocks(q, throughput_enough(&w));
    if (lab_ok(lab))
        ask_gpu(q, w.best.rate);
}

static void arithmetic_ask_type(struct lab *lab, const struct type *type)
{
    struct error why;
    const char *const words = lab_text(lab, "snippet='%s'", type->snippet);
    const struct subject subject = {.words = words,
                                    .machine = type->machine,
                                    .form = FORM_PLAIN,
                                    .only_form = true,
                                    .by_register = true,
                                    .chained = true,
                                    .results = type->results};
    struct arithmetic_question q = {
        .type = type,
        .throughput = {
            .lab = lab,
            .component = lab_text(lab, "arithmetic.%s", type->name),
            .words = lab_text(lab, "grid %s chains=%u", words, type->chains),
            .of = "warps",
            .chains = type->chains,
            .copies = COPIES / type->chains,
            .turns = TURNS_OF_WARPS,
            .factor = (double)LANES * type->results}};
    if (device_requires_cc(lab->info, (int)type->cc, &why) != 0)
        finding_skip(finding_of(&q, "peak"), why.text);
    else
        ask_rates(&q, &subject);
}

static void arithmetic_run(struct lab *lab)
{
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(types); i++)
        arithmetic_ask_type(lab, &types[i]);
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
    .reads_findings = TEXTS("clock.measured"),
    .answers = answers,
    .apart = true,
    .under_load = true,
    .run = arithmetic_run,
};
