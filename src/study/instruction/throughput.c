#include "study/instruction/throughput.h"

#include <math.h>

#include "analysis/curve/sawtooth.h"
#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/mem.h"
#include "study/assume.h"
#include "study/gpu_state.h"
#include "study/instruction/cost.h"

/* Turns that are tried one after the other. */
static const unsigned lengths[] = {1, 4, 16, 64};
/* The difference must be so many times as large as its uncertainty, … */
static const double clear = 100;
/* … and two lengths must say the same to this share: a hundredth, as they say
 * that fewer instructions of the loop than that are in it. */
static const double agreed = 0.01;
/* So many instructions of a loop are its own, of so many copies and more that
 * those who ask make it of: so large a share more may be done of these alone.
 */
static const double loop_share = 0.01;

/* ---- a rate ------------------------------------------------------------ */

/* A median, about its standard error, and what it would be undisturbed. */
struct timing {
    double cycles, spread;
    struct undisturbed undisturbed;
    const char *experiment;
};

/* Cycles of the SMs that have most blocks: for them all others wait. */
static struct column busiest(struct lab *lab, const struct samples *s)
{
    const struct column blocks = lab_column_of(lab, s, "blocks");
    struct column cycles = lab_column_of(lab, s, "cycles");
    const double most = stats_max(blocks.at, blocks.count);
    cycles.count = 0;
    for (size_t row = 0; row < blocks.count; row++)
        if (blocks.at[row] == most)
            cycles.at[cycles.count++] = cycles.at[row];
    return cycles;
}

/* `apart`: by what share of them the repetitions differ. */
static struct timing time_repeats(const struct throughput *t, unsigned turns,
                                  unsigned blocks, unsigned repeats,
                                  double *apart)
{
    const struct samples *const s =
        lab_probe(t->lab, "%s copies=%u %s=%u blocks=%u turns=%u repeats=%u",
                  t->words, t->copies, t->of, t->warps, blocks, turns, repeats);
    if (!lab_ok(t->lab))
        return (struct timing){0};
    const struct column c = busiest(t->lab, s);
    *apart = 1 - stats_min(c.at, c.count) / stats_max(c.at, c.count);
    return (struct timing){.cycles = stats_median(c.at, c.count),
                           .spread = (stats_quantile(c.at, c.count, 0.75) -
                                      stats_quantile(c.at, c.count, 0.25)) /
                                     sqrt((double)c.count),
                           .undisturbed = undisturbed_of(c.at, c.count, 1),
                           .experiment = c.experiment};
}

/* Of two repetitions that differ by so much (which on a quiet GPU is a
 * hundredth at most) nobody knows which is disturbed: more tell. */
enum { REPEATS_DOUBTFUL = 9 };
static const double doubtful = 0.05;

static struct timing time_turns(const struct throughput *t, unsigned turns,
                                unsigned blocks)
{
    /* Many SMs that have the same to do are repetitions of each other. */
    const unsigned sms = lab_sms(t->lab);
    const unsigned repeats = blocks % sms == 0 ? 1 : blocks < sms ? 2 : 5;
    double apart = 0;
    struct timing time = time_repeats(t, turns, blocks, repeats, &apart);
    if (repeats != 2 || apart <= doubtful)
        return time;
    time = time_repeats(t, turns, blocks, REPEATS_DOUBTFUL, &apart);
    time.cycles = time.undisturbed.cycles;
    return time;
}

/* So many times as many turns has the longer run. */
enum { LONGER = 3 };

/* Cycles that LONGER times as many turns take more. */
static struct timing difference(const struct throughput *t, unsigned blocks)
{
    const struct timing few = time_turns(t, t->turns, blocks);
    const struct timing many = time_turns(t, LONGER * t->turns, blocks);
    return (struct timing){
        .cycles = many.cycles - few.cycles,
        .spread = hypot(few.spread, many.spread),
        .undisturbed = undisturbed_less(&many.undisturbed, &few.undisturbed),
        .experiment = many.experiment};
}

/* Finds turns with which so many blocks are measured well. */
static void set_length(struct throughput *t, unsigned blocks)
{
    double before = 0;
    bool known = false;
    for (size_t i = 0; lab_ok(t->lab) && i < COUNT_OF(lengths) && !known; i++) {
        t->turns = lengths[i];
        const struct timing more = difference(t, blocks);
        const double each = more.cycles / t->turns;
        known = more.cycles >= clear * more.spread &&
                fabs(each - before) <= agreed * each;
        before = each;
    }
}

struct throughput_rate throughput_measure(const struct throughput *t,
                                          unsigned blocks)
{
    const struct timing more = difference(t, blocks);
    const double turns = (double)(LONGER - 1) * t->turns;
    if (lab_ok(t->lab) && !(more.cycles > 0))
        lab_fail(t->lab, ERR_UNSUPPORTED, why_folded, "turns");
    if (!lab_ok(t->lab))
        return (struct throughput_rate){0};
    const double work =
        turns * t->copies * t->chains * t->warps * blocks * t->factor;
    const struct undisturbed *const u = &more.undisturbed;
    return (struct throughput_rate){
        .rate = work / more.cycles,
        .low = work / fmax(u->high, more.cycles),
        .high = u->low > 0 ? work / fmin(u->low, more.cycles) * (1 + loop_share)
                           : INFINITY,
        .experiment = more.experiment};
}

/* ---- by warps and blocks ------------------------------------------------ */

static void add_rate(struct throughput_rates *to, double n,
                     const struct throughput_rate *r, double share)
{
    if (to->count == 0 || r->rate > to->best.rate)
        to->best = *r;
    to->n[to->count] = n;
    to->rates[to->count++] = r->rate * share;
}

struct throughput_rates throughput_by_warps(const struct throughput *t,
                                            unsigned most)
{
    struct throughput_rates w = {.of = t->of};
    struct throughput with = *t;
    for (with.warps = 1; with.warps <= most; with.warps++) {
        const struct throughput_rate r = throughput_measure(&with, 1);
        if (!lab_ok(t->lab))
            break;
        add_rate(&w, with.warps, &r, 1);
        w.experiment = r.experiment;
    }
    if (w.count > 0 && t->lab->err.code == ERR_UNSUPPORTED)
        t->lab->err = (struct error){0};
    return w;
}

static void say_list(struct finding *f, const struct throughput_rates *r)
{
    finding_value(f, STATUS_MEASURED, value_numbers(r->rates, r->count));
}

struct throughput_rates throughput_ask_blocks(struct throughput *t,
                                              const double *blocks,
                                              size_t count, struct finding *f)
{
    const unsigned sms = lab_sms(t->lab);
    struct throughput_rates b = {.of = "blocks"};
    set_length(t, 2 * sms);
    for (size_t i = 0; lab_ok(t->lab) && i < count; i++) {
        const struct throughput_rate r =
            throughput_measure(t, (unsigned)blocks[i]);
        add_rate(&b, blocks[i], &r, 1.0 / sms);
        b.experiment = b.experiment == NULL ? r.experiment : b.experiment;
        finding_cite(f, r.experiment);
    }
    if (lab_ok(t->lab))
        say_list(f, &b);
    return b;
}

/* Most of the interval is what the loop may take. */
void throughput_say_best(struct finding *f, const struct throughput_rates *w)
{
    finding_measured(f, w->best.rate);
    if (isfinite(w->best.high))
        finding_interval(f, w->best.low, w->best.high, -1);
    else
        finding_none(f, why_runs_wild);
}

unsigned throughput_fewest(const struct throughput_rates *r, double share)
{
    const double most = stats_max(r->rates, r->count);
    size_t i = 0;
    while (r->rates[i] < share * most)
        i++;
    return (unsigned)r->n[i];
}

unsigned throughput_enough(const struct throughput_rates *r)
{
    return throughput_fewest(r, assume(ASSUME_WARPS_ENOUGH));
}

void throughput_say_enough(const struct throughput *t,
                           const struct throughput_rates *w)
{
    struct finding *const f = lab_finding(t->lab, t->component, "warps");
    finding_measured(f, throughput_enough(w));
    finding_cite(f, w->experiment);
}

struct finding *throughput_say_warps(const struct throughput *t,
                                     const struct throughput_rates *w)
{
    struct finding *const f = lab_finding(t->lab, t->component, "by_warps");
    say_list(f, w);
    finding_protocol(f, "chains", value_number(t->chains));
    finding_cite(f, w->experiment);
    return f;
}

void throughput_say_sawtooth(const struct throughput *t, const char *attribute,
                             const struct throughput_rates *r, unsigned most)
{
    const struct sawtooth fit = sawtooth_fit(r->n, r->rates, r->count, most);
    struct finding *const f = lab_finding(t->lab, t->component, attribute);
    finding_protocol(f, "model", value_text("peak n / (S ceil(n / S))"));
    finding_protocol(f, "peak", value_number(fit.peak));
    finding_protocol(f, "residual", value_number(fit.residual));
    finding_cite(f, r->experiment);
    if (fit.servers == 0 || fit.residual > assume(ASSUME_SAWTOOTH_OFF))
        finding_none(f, why_sawtooth_off, fit.servers, r->of,
                     100 * fit.residual);
    else
        finding_set(f, STATUS_MEASURED, value_number(fit.servers), r->of);
}

bool throughput_excuse(struct lab *lab, struct finding *f)
{
    f->skipped |= lab->err.code == ERR_PTX;
    return cost_excuse(lab, f);
}

/* ---- the whole GPU for longer ------------------------------------------- */

/* True if the device tells its power. */
static bool tells_power(const struct throughput *t)
{
    const struct column watts =
        lab_column(t->lab, "watts", "%s copies=%u %s=%u repeats=1", t->words,
                   t->copies, t->of, t->warps);
    return lab_ok(t->lab) && stats_median(watts.at, watts.count) >= 0;
}

/* `work` is what all SMs do in the run. */
static void say_sustained(const struct throughput *t, const struct samples *s,
                          double work, struct finding *f)
{
    const double ns = lab_column_median(t->lab, s, "ns");
    const double hz =
        ns > 0 ? 1e9 * lab_column_median(t->lab, s, "cycles") / ns : 0;
    const double rate = work / (1e-9 * lab_column_median(t->lab, s, "elapsed"));
    finding_value(f, STATUS_MEASURED, value_number(rate));
    if (t->operands != NULL)
        finding_protocol(f, "operands", value_text(t->operands));
    if (t->operands != NULL && hz > 0)
        finding_protocol(f, "per_clock_and_sm",
                         value_number(rate / (hz * lab_sms(t->lab))));
    if (hz > 0)
        finding_protocol(f, "clock_hz", value_number(round(hz)));
    finding_protocol(f, "watts",
                     value_number(lab_column_median(t->lab, s, "watts")));
    finding_protocol(f, "throttle", gpu_state_reasons(gpu_state_throttle(s)));
    finding_cite(f, s->experiment);
}

static void sustain(const struct throughput *t, double seconds, double rate,
                    struct finding *f)
{
    const unsigned sms = lab_sms(t->lab);
    const double work =
        (double)t->copies * t->chains * t->warps * sms * t->factor;
    const double hz = (double)t->lab->info->value[PROPERTY_CLOCK];
    const double turns = ceil(seconds * hz * rate * sms / work);
    const struct samples *const s =
        lab_probe(t->lab, "%s copies=%u %s=%u blocks=%u turns=%.0f repeats=3",
                  t->words, t->copies, t->of, t->warps, sms, turns);
    if (lab_ok(t->lab))
        say_sustained(t, s, work * turns, f);
}

void throughput_gpu(const struct throughput *t, double seconds, double rate,
                    struct finding *f)
{
    double hz;
    if (tells_power(t)) {
        sustain(t, seconds, rate, f);
    } else if (!lab_ok(t->lab)) {
        return;
    } else if (lab_number(t->lab, "clock", "measured", &hz)) {
        finding_value(f, STATUS_DERIVED,
                      value_number(rate * lab_sms(t->lab) * hz));
        finding_method(f, "the peak of an SM by their number and clock");
    } else {
        finding_none(f, "%s", lab_why_unknown(t->lab, "clock", "measured"));
    }
}
