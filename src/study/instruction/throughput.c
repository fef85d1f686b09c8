#include "study/instruction/throughput.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/sawtooth.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "study/gpu_state.h"

/* Turns that are tried one after the other. */
static const unsigned lengths[] = {1, 4, 16, 64};
/* The difference must be so many times as large as its uncertainty. */
static const double clear = 100;
/* Two lengths must say the same to this share. */
static const double agreed = 0.01;
unsigned throughput_sms(const struct lab *lab)
{
    const int64_t sms = lab->info->value[PROPERTY_SMS];
    return sms > 0 ? (unsigned)sms : 1;
}

static double *column(const struct samples *s, const char *name)
{
    const size_t at = samples_column(s, name);
    double *const values = xreallocarray(NULL, s->rows, sizeof *values);
    for (size_t row = 0; row < s->rows; row++)
        values[row] = (double)samples_at(s, row, at);
    return values;
}

static double middle(const struct samples *s, const char *name)
{
    double *const values = column(s, name);
    const double median = stats_median(values, s->rows);
    free(values);
    return median;
}

/* A median, and about its standard error. */
struct timing {
    double cycles, spread;
};

/* Cycles of the SMs that have most blocks: for them all others wait. */
static double *busiest(const struct samples *s, size_t *count)
{
    double *const blocks = column(s, "blocks");
    double *const cycles = column(s, "cycles");
    const double most = stats_max(blocks, s->rows);
    *count = 0;
    for (size_t row = 0; row < s->rows; row++)
        if (blocks[row] == most)
            cycles[(*count)++] = cycles[row];
    free(blocks);
    return cycles;
}

static int measure(const struct crowd *c, unsigned turns, unsigned blocks,
                   struct timing *span, char **experiment, struct error *err)
{
    struct samples s;
    size_t count;
    /* Many SMs that have the same to do are repetitions of each other. */
    const unsigned sms = throughput_sms(c->lab);
    const unsigned repeats = blocks % sms == 0 ? 1 : blocks < sms ? 2 : 5;
    if (lab_probe_err(c->lab, &s, experiment, err,
                  "%s copies=%u %s=%u blocks=%u turns=%u repeats=%u", c->words,
                  c->copies, c->unit, c->warps, blocks, turns, repeats) != 0)
        return err->code;
    double *const cycles = busiest(&s, &count);
    span->cycles = stats_median(cycles, count);
    span->spread = (stats_quantile(cycles, count, 0.75) -
                    stats_quantile(cycles, count, 0.25)) /
                   sqrt((double)count);
    free(cycles);
    samples_free(&s);
    return 0;
}

/* Cycles that THROUGHPUT_LONGER times as many turns take more. */
static int difference(const struct crowd *c, unsigned blocks,
                      struct timing *more, char **experiment, struct error *err)
{
    struct timing few, many;
    *experiment = NULL;
    if (measure(c, c->turns, blocks, &few, NULL, err) != 0 ||
        measure(c, THROUGHPUT_LONGER * c->turns, blocks, &many, experiment,
                err) != 0)
        return err->code;
    more->cycles = many.cycles - few.cycles;
    more->spread = hypot(few.spread, many.spread);
    return 0;
}

int throughput_length(struct crowd *c, unsigned blocks, struct error *err)
{
    double before = 0;
    bool known = false;
    for (size_t i = 0; i < COUNT_OF(lengths) && !known; i++) {
        struct timing more;
        char *experiment;
        c->turns = lengths[i];
        if (difference(c, blocks, &more, &experiment, err) != 0)
            return err->code;
        free(experiment);
        const double each = more.cycles / c->turns;
        known = more.cycles >= clear * more.spread &&
                fabs(each - before) <= agreed * each;
        before = each;
    }
    return 0;
}

int throughput_rate(const struct crowd *c, unsigned blocks, double *rate,
                    char **experiment, struct error *err)
{
    struct timing more;
    if (difference(c, blocks, &more, experiment, err) != 0)
        return err->code;
    const double turns = (double)(THROUGHPUT_LONGER - 1) * c->turns;
    if (!(more.cycles > 0)) {
        free(*experiment);
        *experiment = NULL;
        return error_set(err, ERR_UNSUPPORTED,
                         "three times as many turns took no longer");
    }
    *rate = turns * c->copies * c->each * c->warps * blocks / more.cycles;
    return 0;
}

static void read_sustained(const struct samples *s, double work,
                           struct throughput_sustained *found)
{
    const double ns = middle(s, "ns");
    found->rate = work / (1e-9 * middle(s, "elapsed"));
    found->hz = ns > 0 ? 1e9 * middle(s, "cycles") / ns : 0;
    found->watts = middle(s, "watts");
    found->throttle = 0;
    const size_t throttle = samples_column(s, "throttle");
    for (size_t row = 0; row < s->rows; row++)
        if (samples_at(s, row, throttle) > 0)
            found->throttle |= (uint64_t)samples_at(s, row, throttle);
}

/* True if the device tells its power. */
static int ask_power(const struct crowd *c, bool *told, struct error *err)
{
    struct samples s;
    if (lab_probe_err(c->lab, &s, NULL, err, "%s copies=%u %s=%u repeats=1",
                  c->words, c->copies, c->unit, c->warps) != 0)
        return err->code;
    *told = middle(&s, "watts") >= 0;
    samples_free(&s);
    return 0;
}

int throughput_sustain(const struct crowd *c, unsigned blocks, double seconds,
                       double rate, bool *told,
                       struct throughput_sustained *found, struct error *err)
{
    struct samples s;
    *found = (struct throughput_sustained){0};
    if (ask_power(c, told, err) != 0 || !*told)
        return err->code;
    const double work = (double)c->copies * c->each * c->warps * blocks;
    const double hz = (double)c->lab->info->value[PROPERTY_CLOCK];
    const double turns = ceil(seconds * hz * rate / work);
    if (lab_probe_err(c->lab, &s, &found->experiment, err,
                  "%s copies=%u %s=%u blocks=%u turns=%.0f repeats=3", c->words,
                  c->copies, c->unit, c->warps, blocks, turns) != 0)
        return err->code;
    read_sustained(&s, work * turns, found);
    samples_free(&s);
    return 0;
}

void throughput_sawtooth(struct finding *f, const char *unit, const double *n,
                         const double *rates, size_t count, unsigned most,
                         const char *experiment)
{
    /* Of the peak; another law than the sawtooth fits worse. */
    static const double worst = 0.05;
    const struct sawtooth fit = sawtooth_fit(n, rates, count, most);
    finding_protocol(f, "model", value_text("peak n / (S ceil(n / S))"));
    finding_protocol(f, "peak", value_number(fit.peak));
    finding_protocol(f, "residual", value_number(fit.residual));
    finding_evidence(f, experiment);
    if (fit.servers == 0 || fit.residual > worst)
        finding_none(f,
                     "the best sawtooth, of %u %s at once, is off by %.1f %% "
                     "of the peak",
                     fit.servers, unit, 100 * fit.residual);
    else
        finding_set(f, STATUS_MEASURED, value_number(fit.servers), unit);
}

unsigned throughput_enough(struct finding *f, const double *rates, size_t count,
                           const char *experiment)
{
    static const double there = 0.98; /* a lone warp waits for its loop */
    const double most = stats_max(rates, count);
    size_t i = 0;
    while (rates[i] < there * most)
        i++;
    finding_set(f, STATUS_MEASURED, value_number((double)(i + 1)), "warps");
    finding_evidence(f, experiment);
    return (unsigned)i + 1;
}

void throughput_say(struct finding *f, const struct throughput_sustained *found)
{
    if (found->hz > 0)
        finding_protocol(f, "clock_hz", value_number(round(found->hz)));
    finding_protocol(f, "watts", value_number(found->watts));
    finding_protocol(f, "throttle", gpu_state_reasons(found->throttle));
    finding_evidence(f, found->experiment);
}
