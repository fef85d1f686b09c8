/*
 * How shared memory is built: its banks, how wide they are, what a conflict
 * costs (Mei 2014, 3.1 and 4.1).
 *
 * A warp loads with every stride from 0 (all lanes one element) to 64, and with
 * some lanes on rows of one bank.  Each way to build shared memory predicts
 * which of those accesses are repeated and how often; the banks are those that
 * explain all costs, where no others do.  With their rows known, one lane more
 * in each of 32 rows of one bank gives the cost by degree of conflict.
 */
#include <math.h>

#include "analysis/bank_fit.h"
#include "study/lab.h"

static const struct answer answers[] = {
    {ONE("shared"), "banks", ""},
    {ONE("shared"), "bank_bytes", "B"},
    {ONE("shared"), "row_words", ""},
    {ONE("shared"), "conflict_cycles", "cycles"},
    {ONE("shared"), "conflict_latency", "cycles"},
    {ONE("shared"), "stride_latency", "cycles"},
    {ONE("shared"), "stride_latency_64", "cycles"},
    {0},
};

enum { STRIDE_MOST = 64, LANES = BANK_FIT_LANES };
/* Rows that lie in one bank of whatever shared memory is tried with a power of
 * two of banks; as many as 16 KiB have, which every GPU has. */
enum { FAR_PITCH = 2048, FAR_ROWS = 8 };
/* What is taken for a block's shared memory where the driver says nothing. */
enum { BLOCK_LEAST = 16384 };

/* Costs by case: of strides from 0, or of lanes in rows of their own from 1. */
struct curve {
    bool stride;
    unsigned width, pitch;
    unsigned from, count;
    double cycles[STRIDE_MOST + 1];
    double low[STRIDE_MOST + 1], high[STRIDE_MOST + 1]; /* … of each */
    double excess; /* the largest doubt, in units of what is let pass */
    const char *experiment; /* canonical */
};

static struct curve strides_of(unsigned width)
{
    return (struct curve){
        .stride = true, .width = width, .from = 0, .count = STRIDE_MOST + 1};
}

static struct curve rows_of(unsigned pitch, unsigned rows)
{
    return (struct curve){.width = 4, .pitch = pitch, .from = 1, .count = rows};
}

static struct bank_fit_access access_of(const struct curve *c, unsigned i)
{
    return (struct bank_fit_access){
        .lanes = c->stride ? LANES : c->from + i,
        .distance = c->stride ? c->width * (c->from + i) : c->pitch,
        .bytes = c->width,
        .cycles = c->cycles[i],
    };
}

/* Drops the last cases that a block has no memory for. */
static void fit_block(struct lab *lab, struct curve *c)
{
    const int64_t told = lab->info->value[PROPERTY_BLOCK_SHARED];
    const int64_t bytes = told >= 0 ? told : BLOCK_LEAST;
    while (c->count > 0) {
        const struct bank_fit_access a = access_of(c, c->count - 1);
        if ((int64_t)(a.lanes - 1) * a.distance + a.bytes <= bytes)
            break;
        c->count--;
    }
}

/* The columns of the samples. */
struct bank_samples {
    struct column by, visits, shorter, longer;
};

/* One case: cycles of its short run, and of the long one of twice the loads. */
struct timed_case {
    struct undisturbed shorter, longer;
    double visits;
};

/* The rows of a case, of one column, at the front of `work`. */
static struct undisturbed column_of_case(const struct bank_samples *s,
                                         const struct column *c, unsigned by,
                                         double *work)
{
    size_t n = 0;
    for (size_t row = 0; row < s->by.count; row++)
        if (s->by.at[row] == by)
            work[n++] = c->at[row];
    return undisturbed_of(work, n, 1);
}

/* The width of a normal interval at 99.9 %, by that of one at 95 %: of a list
 * of 65 no item should be outside. */
static const double list_width = 3.29 / 1.96;

/* A cost that may be off by more than this is not worth reporting. */
static double doubt_most(double cycles)
{
    return fmax(1, 0.01 * cycles);
}

/* `overhead` is what both runs have besides their loads. */
static void add_case(struct curve *c, unsigned i, const struct timed_case *t,
                     double overhead)
{
    const double loads = 3 * t->visits;
    const double off = hypot(t->shorter.high - t->shorter.cycles,
                             t->longer.high - t->longer.cycles);
    c->cycles[i] =
        (t->shorter.cycles + t->longer.cycles - 2 * overhead) / loads;
    const double error = list_width * off / loads;
    c->low[i] = c->cycles[i] - error;
    c->high[i] = c->cycles[i] + error;
    c->excess = fmax(c->excess, error / doubt_most(c->cycles[i]));
}

static void summarise(struct lab *lab, struct curve *c,
                      const struct samples *samples)
{
    const struct bank_samples s = {
        .by = lab_column_of(lab, samples, "case"),
        .visits = lab_column_of(lab, samples, "visits"),
        .shorter = lab_column_of(lab, samples, "short"),
        .longer = lab_column_of(lab, samples, "long")};
    double *const work = lab_alloc(lab, samples->rows, sizeof *work);
    struct timed_case cases[STRIDE_MOST + 1];
    double overhead = 0; /* the same in all cases, so all tell it */
    for (unsigned i = 0; i < c->count; i++) {
        struct timed_case *const t = &cases[i];
        t->shorter = column_of_case(&s, &s.shorter, c->from + i, work);
        t->longer = column_of_case(&s, &s.longer, c->from + i, work);
        t->visits = s.visits.at[0];
        overhead += (2 * t->shorter.cycles - t->longer.cycles) / c->count;
    }
    for (unsigned i = 0; i < c->count; i++)
        add_case(c, i, &cases[i], overhead);
}

static void measure_curve(struct lab *lab, struct curve *c)
{
    fit_block(lab, c);
    if (c->count < 3) {
        lab_fail(lab, ERR_UNSUPPORTED, why_shared_little);
        return;
    }
    const unsigned to = c->from + c->count - 1;
    const struct samples *const samples =
        c->stride
            ? lab_probe(lab, "banks width=%u from=0 to=%u", c->width, to)
            : lab_probe(lab, "banks pattern=rows pitch=%u to=%u", c->pitch, to);
    c->experiment = samples->experiment;
    if (lab_ok(lab))
        summarise(lab, c, samples);
}

/* ---- findings --------------------------------------------------------- */

static void say_protocol(struct finding *f, unsigned width, const char *lanes)
{
    finding_protocol(f, "load",
                     value_text(width == 8 ? "ld.shared.u64 by pointer"
                                           : "ld.shared.u32 by pointer"));
    finding_protocol(f, "lanes", value_text(lanes));
    finding_protocol(f, "warps", value_number(1));
    finding_protocol(f, "timer", value_text("outside, two lengths"));
}

static void say_noisy(struct finding *f)
{
    finding_none(f, why_shared_noise);
}

static void report_curve(struct lab *lab, const char *attribute,
                         const struct curve *c)
{
    struct finding *const f = lab_finding(lab, "shared", attribute);
    finding_cite(f, c->experiment);
    if (c->excess > 1) {
        say_noisy(f);
        return;
    }
    finding_value(f, STATUS_MEASURED, value_numbers(c->cycles, c->count));
    say_protocol(f, c->width,
                 c->stride ? "32, each at lane x stride elements"
                           : "each on another row of one bank");
    finding_protocol(f, c->stride ? "first_stride" : "first_degree",
                     value_number(c->from));
    finding_protocol(f, "low", value_numbers(c->low, c->count));
    finding_protocol(f, "high", value_numbers(c->high, c->count));
}

/* The experiments of one run of the study. */
struct survey {
    struct curve far_rows, narrow, wide, rows;
};

static void add_evidence(struct finding *f, const struct survey *s)
{
    finding_cite(f, s->far_rows.experiment);
    finding_cite(f, s->narrow.experiment);
    finding_cite(f, s->wide.experiment);
}

static void say_why_not(struct finding *f, const struct bank_fit *fit)
{
    if (fit->verdict == BANK_FIT_UNSEEN)
        finding_none(f, why_strides_alike);
    else if (fit->verdict == BANK_FIT_UNEXPLAINED)
        finding_none(f, why_banks_unlike, fit->banks.count,
                     fit->banks.bank_bytes);
    else
        finding_none(f, why_banks_alike, fit->banks.count,
                     fit->banks.bank_bytes, fit->banks.row_words,
                     fit->rival.count, fit->rival.bank_bytes,
                     fit->rival.row_words);
}

static void report_part(struct lab *lab, const char *attribute, unsigned value,
                        const struct survey *s, const struct bank_fit *fit)
{
    struct finding *const f = lab_finding(lab, "shared", attribute);
    /* That no other banks explain the costs is a proof, not a chance. */
    if (fit->verdict == BANK_FIT_EXPLAINED) {
        finding_measured(f, value);
        finding_interval(f, value, value, -1);
    } else {
        say_why_not(f, fit);
    }
    add_evidence(f, s);
}

static void report_banks(struct lab *lab, const struct survey *s,
                         const struct bank_fit *fit)
{
    report_part(lab, "banks", fit->banks.count, s, fit);
    report_part(lab, "bank_bytes", fit->banks.bank_bytes, s, fit);
    report_part(lab, "row_words", fit->banks.row_words, s, fit);
}

/* ---- what explains the costs ------------------------------------------ */

static size_t append(struct bank_fit_access *accesses, size_t n,
                     const struct curve *c)
{
    for (unsigned i = 0; i < c->count; i++)
        accesses[n++] = access_of(c, i);
    return n;
}

/* By 4-byte accesses; 8-byte ones, of which less is known how GPUs split them,
 * decide only between what those leave open. */
static struct bank_fit explain(const struct survey *s)
{
    struct bank_fit_access accesses[3 * (STRIDE_MOST + 1)];
    size_t n = append(accesses, 0, &s->far_rows);
    n = append(accesses, n, &s->narrow);
    struct bank_fit fit = bank_fit_explain(accesses, n);
    if (fit.verdict == BANK_FIT_AMBIGUOUS) {
        n = append(accesses, n, &s->wide);
        fit = bank_fit_explain(accesses, n);
    }
    return fit;
}

/* ---- what a conflict costs -------------------------------------------- */

/* A slope is known far better than a cost: 32 degrees tell it. */
static const double slope_doubt_most = 0.1;

static void report_slope(struct lab *lab, const struct curve *c,
                         const struct banks *banks)
{
    struct finding *const f = lab_finding(lab, "shared", "conflict_cycles");
    double degrees[LANES];
    for (unsigned i = 0; i < c->count; i++) {
        const struct bank_fit_access a = access_of(c, i);
        degrees[i] = bank_fit_degree(banks, &a);
    }
    const struct bank_fit_line line =
        bank_fit_line(degrees, c->cycles, c->count);
    /* Of a line through so many points two are spent. */
    const double doubt = undisturbed_t(c->count - 2) * line.step_error;
    finding_cite(f, c->experiment);
    /* A hundredth, as of all costs (doubt_most). */
    if (doubt > fmax(slope_doubt_most, 0.01 * line.step)) {
        say_noisy(f);
        return;
    }
    finding_measured(f, line.step);
    finding_interval(f, line.step - doubt, line.step + doubt,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    say_protocol(f, c->width, "each on another row of one bank");
}

static void ask_conflicts(struct lab *lab, struct survey *s,
                          const struct bank_fit *fit)
{
    const struct banks *const b = &fit->banks;
    if (fit->verdict != BANK_FIT_EXPLAINED) {
        say_why_not(lab_finding(lab, "shared", "conflict_cycles"), fit);
        say_why_not(lab_finding(lab, "shared", "conflict_latency"), fit);
        return;
    }
    s->rows = rows_of(b->count * b->bank_bytes * b->row_words, LANES);
    measure_curve(lab, &s->rows);
    if (!lab_ok(lab))
        return;
    report_slope(lab, &s->rows, b);
    report_curve(lab, "conflict_latency", &s->rows);
}

/* ---- the study -------------------------------------------------------- */

static void shared_memory_run(struct lab *lab)
{
    struct survey s = {.far_rows = rows_of(FAR_PITCH, FAR_ROWS),
                       .narrow = strides_of(4),
                       .wide = strides_of(8)};
    measure_curve(lab, &s.far_rows);
    measure_curve(lab, &s.narrow);
    measure_curve(lab, &s.wide);
    if (!lab_ok(lab))
        return;
    report_curve(lab, "stride_latency", &s.narrow);
    report_curve(lab, "stride_latency_64", &s.wide);
    const struct bank_fit fit = explain(&s);
    report_banks(lab, &s, &fit);
    ask_conflicts(lab, &s, &fit);
}

const struct study study_shared_memory = {
    .name = "banks",
    .question = "How many banks has shared memory, and what do conflicts cost?",
    .method = "A warp's dependent loads with strides 0 to 64: the banks are "
              "those that predict which strides conflict, and how much.",
    .answers = answers,
    .kernels = TEXTS("banks", "banks width=8"),
    .run = shared_memory_run,
};
