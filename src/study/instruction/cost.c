#include "study/instruction/cost.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "probe/run/snippet_kernel.h"
#include "study/assume.h"

/* ---- samples ----------------------------------------------------------- */

/* What the long region takes more, of all laps but the first of each
 * repetition: the median, and where it is. */
static struct cost measure_copies(struct lab *lab, const char *experiment)
{
    const struct samples *const s = lab_probe(lab, "%s", experiment);
    const struct column lap = lab_column_of(lab, s, "lap");
    const struct column from = lab_column_of(lab, s, "short");
    const struct column more = lab_column_of(lab, s, "long");
    size_t count = 0;
    for (size_t i = 0; i < more.count; i++)
        if (lap.at[i] > 0)
            more.at[count++] = more.at[i] - from.at[i];
    if (!lab_ok(lab))
        return (struct cost){0};
    const struct stats_interval interval = lab_interval(lab, more.at, count);
    const struct cost cost = {.cycles = stats_median(more.at, count),
                              .low = interval.low,
                              .high = interval.high,
                              .experiment = s->experiment};
    if (cost.cycles > 0)
        return cost;
    lab_fail(lab, ERR_UNSUPPORTED, why_folded, "copies");
    return (struct cost){0};
}

/* By so many copies of a chain do the regions differ. */
static double copies_of(const struct subject *s, unsigned chains)
{
    return (SNIPPET_LONG - 1) * subject_copies(s, chains);
}

/* Of how many instructions a copy's cost is: machine instructions of a snippet
 * that is several PTX instructions merged into one, if they were. */
static unsigned parts_of(const struct subject *s, const struct code_reading *c)
{
    if (s->merged == 0)
        return 1;
    return c->verdict == CODE_VERIFIED ? c->length : s->merged;
}

static struct code_layout layout_of(const struct timed *t, unsigned chains,
                                    unsigned warps)
{
    return (struct code_layout){t->subject, t->level, t->code->form, chains,
                                warps};
}

struct cost cost_latency(struct lab *lab, const struct timed *t)
{
    const double parts =
        copies_of(t->subject, 1) * parts_of(t->subject, t->code);
    const struct code_layout layout = layout_of(t, 1, 1);
    struct cost cost =
        measure_copies(lab, subject_experiment(lab, "isa", &layout));
    cost.cycles /= parts;
    cost.low /= parts;
    cost.high /= parts;
    return cost;
}

/* Copies of all lanes in a cycle on one SM, with so many chains and warps. */
static struct cost rate_with(struct lab *lab, const struct timed *t,
                             unsigned chains, unsigned warps)
{
    const struct subject *const s = t->subject;
    const double work = 32.0 * warps * chains * copies_of(s, chains) *
                        parts_of(s, t->code) *
                        (s->results > 0 ? s->results : 1);
    const struct code_layout layout = layout_of(t, chains, warps);
    const struct cost cycles =
        measure_copies(lab, subject_experiment(lab, "isa", &layout));
    if (!lab_ok(lab))
        return cycles;
    return (struct cost){.cycles = work / cycles.cycles,
                         .low = work / cycles.high,
                         .high = work / cycles.low,
                         .experiment = cycles.experiment};
}

/* Steps up, until one with more of both changes less than this. */
static const struct step {
    unsigned chains, warps;
} steps[] = {
    {1, 32}, {STEPPED_CHAINS, 8}, {STEPPED_CHAINS, 16}, {STEPPED_CHAINS, 32},
    {8, 32},
};

/* True if the step has more of one and no less of the other: fewer warps of
 * more chains may do less than more warps of fewer, and say nothing. */
static bool is_larger(const struct step *a, const struct saturation *b)
{
    return a->chains >= b->chains && a->warps >= b->warps &&
           a->chains + a->warps > b->chains + b->warps;
}

/* Takes a step, whose rate is kept if it is the better one; false: so many
 * warps need more registers than there are. */
static bool take_step(struct lab *lab, const struct timed *t, struct step step,
                      struct saturation *best)
{
    const unsigned most = lab_block_warps(lab);
    if (step.warps > most)
        step.warps = most;
    const struct cost rate = rate_with(lab, t, step.chains, step.warps);
    if (!lab_ok(lab))
        return false;
    best->reached = best->rate.experiment != NULL && is_larger(&step, best) &&
                    rate.cycles < assume(ASSUME_RATE_GROWN) * best->rate.cycles;
    if (rate.cycles > best->rate.cycles)
        *best = (struct saturation){.rate = rate,
                                    .chains = step.chains,
                                    .warps = step.warps,
                                    .reached = best->reached};
    return true;
}

/* Without an experiment of its rate, and with an error, if no step could be
 * taken. */
static struct saturation find_saturation(struct lab *lab, const struct timed *t)
{
    struct saturation best = {0};
    struct error last = {0};
    for (size_t i = 0; i < COUNT_OF(steps) && !best.reached; i++) {
        if (take_step(lab, t, steps[i], &best))
            continue;
        if (lab->err.code != ERR_UNSUPPORTED)
            return best;
        last = lab->err;
        lab->err = (struct error){0};
        if (best.rate.experiment != NULL)
            break;
    }
    if (best.rate.experiment == NULL)
        lab->err = last;
    return best;
}

static struct saturation given_rate(struct lab *lab, const struct timed *t,
                                    const struct saturation *with)
{
    struct saturation found = *with;
    found.rate = rate_with(lab, t, with->chains, with->warps);
    return found;
}

bool cost_excuse(struct lab *lab, struct finding *f)
{
    const int code = lab->err.code;
    if (code == 0)
        return true;
    finding_none(f, "%s", lab->err.text);
    if (!lab_excuses(lab))
        return false;
    lab->err = (struct error){0};
    return true;
}

/* ---- latency ------------------------------------------------------------ */

bool cost_ask_latency(struct lab *lab, const struct subject *s, unsigned level,
                      struct finding *f)
{
    const struct code_reading code = code_verify(lab, s, level, 1);
    const struct timed timed = {s, level, &code};
    const bool refused = code.verdict == CODE_REFUSED;
    if (!lab_ok(lab))
        return false;
    if (!s->chained) {
        finding_none(f, why_unchained);
    } else if (refused) {
        code_refuse(f, &code);
    } else {
        const struct cost cost = cost_latency(lab, &timed);
        if (lab_ok(lab))
            finding_cost(f, &cost);
    }
    code_say(f, &code);
    return lab_ok(lab) && !refused;
}

/* ---- throughput --------------------------------------------------------- */

/* The powers of two, and half as much again, that lanes come in. */
double cost_pipe(double rate)
{
    const double near = assume(ASSUME_PIPE_NEAR);
    for (double lanes = 1; lanes <= 4096; lanes *= 2) {
        if (fabs(rate - lanes) <= near * lanes)
            return lanes;
        /* Half as much again: midway between a power of two and the next. */
        if (fabs(rate - 1.5 * lanes) <= near * lanes)
            return 1.5 * lanes;
    }
    return 0;
}

static void say_rate(struct finding *f, const struct saturation *s)
{
    const double pipe = cost_pipe(s->rate.cycles);
    finding_value(f, s->reached ? STATUS_MEASURED : STATUS_AT_LEAST,
                  value_number(s->rate.cycles));
    if (!s->reached)
        finding_because(f, why_still_growing);
    finding_interval(f, s->rate.low, s->rate.high,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_cite(f, s->rate.experiment);
    finding_protocol(f, "chains", value_number(s->chains));
    finding_protocol(f, "warps", value_number(s->warps));
    finding_protocol(f, "saturated", value_bool(s->reached));
    if (pipe > 0)
        finding_protocol(f, "pipe", value_number(pipe));
}

/* Why more of the instruction could be done than of its copies. */
static const char *unsettled(const struct subject *s,
                             const struct code_reading *code)
{
    if (s->mixed && code->verdict == CODE_UNREAD)
        return why_copies_mixed;
    return parts_of(s, code) > 1 ? why_copies_wait : NULL;
}

void cost_ask_throughput(struct lab *lab, const struct subject *of,
                         unsigned level, const struct saturation *with,
                         struct finding *f)
{
    const struct subject rate = with != NULL ? *of : subject_of_rate(of);
    const struct code_reading code = code_verify(
        lab, &rate, level, with != NULL ? with->chains : STEPPED_CHAINS);
    const struct timed timed = {&rate, level, &code};
    if (!lab_ok(lab))
        return;
    if (code.verdict == CODE_REFUSED) {
        code_refuse(f, &code);
    } else {
        const struct saturation found = with != NULL
                                            ? given_rate(lab, &timed, with)
                                            : find_saturation(lab, &timed);
        if (lab_ok(lab))
            say_rate(f, &found);
    }
    const char *const why = unsettled(&rate, &code);
    if (f->status == STATUS_MEASURED && why != NULL) {
        f->status = STATUS_AT_LEAST;
        finding_because(f, "%s", why);
    }
    code_say(f, &code);
}

/* A list of the rates with one warp, two, … */
static void rates_of_chains(struct lab *lab, const struct timed *t,
                            unsigned chains, struct finding *f)
{
    const unsigned most = lab_block_warps(lab);
    struct value list = value_list();
    struct cost rate = {0};
    for (unsigned warps = 1; lab_ok(lab) && warps <= most; warps++) {
        rate = rate_with(lab, t, chains, warps);
        value_push(&list, value_number(rate.cycles));
    }
    if (lab_ok(lab)) {
        finding_value(f, STATUS_MEASURED, list);
        finding_cite(f, rate.experiment);
    } else {
        value_free(&list);
    }
}

void cost_parallelism(struct lab *lab, const struct subject *s, unsigned level,
                      const char *component)
{
    const struct code_reading code = code_verify(lab, s, level, 1);
    const struct timed timed = {s, level, &code};
    for (unsigned chains = 1; lab_ok(lab) && chains <= SNIPPET_CHAINS_MOST;
         chains++) {
        struct finding *const f = lab_finding(
            lab, component, lab_text(lab, "throughput_by_warps.%u", chains));
        if (code.verdict == CODE_REFUSED)
            code_refuse(f, &code);
        else
            rates_of_chains(lab, &timed, chains, f);
        cost_excuse(lab, f);
    }
}
