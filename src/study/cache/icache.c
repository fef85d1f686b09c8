/*
 * Instruction caches: how many there are, how much each holds, what its line
 * is, and what a missed line costs.
 *
 * Laps through straight-line code cost more per byte once the code no longer
 * fits a cache.  The stall, what a lap costs beyond code that hits everywhere,
 * is flat for each byte while all of it comes from one level: so its curve
 * over the size of the code has a plateau for each level, and there are as
 * many caches as steps.  Where a level's plateau ends, blocks of three
 * instructions are added one by one, until the lap costs a miss more.
 *
 * Lines come from laps of cold code, which jump whenever they reach a new one.
 * Where noise may hide these jumps, all is asked again with many laps.
 * What is assumed: that lines of farther caches are no shorter.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/curve/plateaus.h"
#include "analysis/search.h"
#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/lab.h"

const char *const code_components[CODE_LEVELS_MAX + 1] = {
    "icache_l0", "icache_l1", "icache_l15", NULL};

static const enum fact_id reads[] = {FACT_NONE};
static const char *const needs[] = {"clock", NULL};
static const struct answer answers[] = {
    {code_components, "size", "B"},
    {code_components, "line", "B"},
    {code_components, "miss_penalty", "cycles"},
    {0},
};

#define COARSE "code total=262144 block=1024 chains=32"
#define COLD   "code total=2048 block=48 flush=262144 chains=32"
static const char *const kernels[] = {
    COARSE,
    COLD " bytes=48",
    NULL,
};

enum { KIB = 1024, LARGEST = 256 * KIB, POINTS_MOST = 96 };

/* A lap: what the quicker of several cost, and where its code lies. */
struct lap {
    double cycles, start, end;
    uint64_t bytes;
};

static double footprint(const struct lap *lap)
{
    return lap->end - lap->start;
}

/* What disturbs a lap makes it slower, and of a thousand fetches some are: so
 * neither the mean of the laps nor the median is free of that. */
static const double undisturbed = 0.1;
/* Of laps through 128 KiB seven in eight are (simulated GPUs): so where there
 * are many, the third of 64. */
static const double undisturbed_of_many = 0.04;

/* A lap through so many bytes, by the experiment's other words; and what all
 * of its laps cost. */
static struct lap lap_and_all(struct lab *lab, const char *words,
                              uint64_t bytes, struct column *cycles)
{
    const struct samples *const s =
        lab_probe(lab, "%s bytes=%" PRIu64, words, bytes);
    struct lap lap = {.bytes = bytes};
    if (!lab_ok(lab))
        return lap;
    *cycles = lab_column_of(lab, s, "cycles");
    lap.cycles =
        stats_quantile(cycles->at, cycles->count,
                       cycles->count < 64 ? undisturbed : undisturbed_of_many);
    lap.start = (double)samples_at(s, 0, samples_column(s, "start"));
    lap.end = (double)samples_at(s, 0, samples_column(s, "end"));
    return lap;
}

static struct lap lap_of(struct lab *lab, const char *words, uint64_t bytes)
{
    struct column cycles = {0};
    return lap_and_all(lab, words, bytes, &cycles);
}

/* A straight line through points. */
struct model {
    double at, value, slope;
};

static struct model fitted(const double *x, const double *y, size_t n)
{
    const double at = stats_mean(x, n), value = stats_mean(y, n);
    double sxx = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        sxx += (x[i] - at) * (x[i] - at);
        sxy += (x[i] - at) * (y[i] - value);
    }
    return (struct model){at, value, sxx > 0 ? sxy / sxx : 0};
}

static double predicted(const struct model *m, double x)
{
    return m->value + m->slope * (x - m->at);
}

/* ---- the curve -------------------------------------------------------- */

struct curve {
    const char *words; /* of the experiments */
    size_t count;
    struct lap lap[POINTS_MOST];
    double stall[POINTS_MOST]; /* cycles a byte */
    double base, slope;        /* of code that hits: cycles, cycles a byte */
    size_t plateau_count;
    struct plateau plateau[CODE_LEVELS_MAX + 2];
    size_t begin[CODE_LEVELS_MAX + 2]; /* of each, before it was trimmed */
};

/* Every KiB up to 32, then sixteen sizes an octave. */
static uint64_t next_size(uint64_t bytes)
{
    uint64_t step = KIB;
    while (32 * step <= bytes)
        step *= 2;
    return bytes + step;
}

/* Cycles of a lap beyond those of code that hits. */
static double stall_of(const struct curve *c, const struct lap *lap)
{
    return lap->cycles - c->base - c->slope * footprint(lap);
}

/* Code that hits, from the two smallest laps; and from them what others stall.
 */
static void find_stalls(struct curve *c)
{
    const struct lap *const a = &c->lap[0], *const b = &c->lap[1];
    c->slope = (b->cycles - a->cycles) / (b->end - a->end);
    c->base = a->cycles - c->slope * footprint(a);
    for (size_t i = 0; i < c->count; i++)
        c->stall[i] = stall_of(c, &c->lap[i]) / footprint(&c->lap[i]);
}

/* A hit that waits is a cycle in some hundred bytes at most, so less is no
 * stall: cycles a byte. */
static const double stall_least = 0.004;
/* Three laps that are alike are no chance; and the least step that is told, an
 * eighth, is several times what laps of one plateau differ by. */
static struct plateaus_rule plateaus_of_code(void)
{
    return (struct plateaus_rule){.least = 3,
                                  .change = assume(ASSUME_CODE_ALIKE),
                                  .floor = stall_least,
                                  .distance = 0.12};
}

/* The stall of laps i … k, over their footprints. */
static struct model stall_model(const struct curve *c, size_t i, size_t k)
{
    double x[POINTS_MOST] = {0}, y[POINTS_MOST] = {0};
    const size_t n = k - i + 1;
    for (size_t j = 0; j < n; j++) {
        x[j] = footprint(&c->lap[i + j]);
        y[j] = stall_of(c, &c->lap[i + j]);
    }
    return fitted(x, y, n);
}

/* The ends of a plateau may belong to the rises beside it, which begin and end
 * softly: a quarter is cut off in front, and behind all that is not as the
 * middle foretells. */
static void trim(const struct curve *c, struct plateau *p)
{
    const size_t quarter = (p->last - p->first) / 4;
    const size_t sure = p->last - quarter;
    if (p->value > stall_least)
        p->first += quarter;
    const struct model m = stall_model(c, p->first, sure);
    size_t last = sure;
    for (size_t i = sure + 1; i <= p->last; i++) {
        const double more =
            stall_of(c, &c->lap[i]) - predicted(&m, footprint(&c->lap[i]));
        /* Two cycles: a read of the clock at either end. */
        if (fabs(more) <=
            fmax(2, assume(ASSUME_CODE_EDGE) * stall_of(c, &c->lap[i])))
            last = i;
    }
    p->last = last;
    p->value = stats_median(c->stall + p->first, last - p->first + 1);
}

static void find_plateaus(struct curve *c)
{
    const struct plateaus_rule rule = plateaus_of_code();
    find_stalls(c);
    c->plateau_count = plateaus_find(c->stall, c->count, &rule, c->plateau,
                                     CODE_LEVELS_MAX + 2);
    for (size_t i = 0; i < c->plateau_count; i++) {
        c->begin[i] = c->plateau[i].first;
        trim(c, &c->plateau[i]);
    }
}

/* Laps that a quiet GPU needs, and a noisy one. */
static const char few_coarse[] = COARSE " warm=3 laps=11";
static const char many_coarse[] = COARSE " warm=3 laps=128";

/* NULL if it is not known where the code lies. */
static const struct curve *draw_curve(struct lab *lab, const char *words)
{
    struct curve *const c = lab_alloc(lab, 1, sizeof *c);
    c->words = words;
    for (uint64_t bytes = KIB; lab_ok(lab) && bytes <= LARGEST;
         bytes = next_size(bytes)) {
        c->lap[c->count++] = lap_of(lab, words, bytes);
        if (lab_ok(lab) && c->lap[c->count - 1].start < 0)
            return NULL;
    }
    if (lab_ok(lab))
        find_plateaus(c);
    return c;
}

/* How many caches there are, or more than can be told. */
static size_t steps_of(const struct curve *c)
{
    return c->plateau_count > 1 && c->plateau[0].first == 0
               ? u64_min(c->plateau_count - 1, CODE_LEVELS_MAX)
               : 0;
}

/* Stall of one more byte, between a lap and the next one. */
static double slope_after(const struct curve *c, size_t i)
{
    const struct lap *const a = &c->lap[i], *const b = &c->lap[i + 1];
    return (stall_of(c, b) - stall_of(c, a)) / (b->end - a->end);
}

static size_t steepest(const struct curve *c, size_t from, size_t end)
{
    size_t best = from;
    for (size_t k = from; k < end; k++)
        if (slope_after(c, k) > slope_after(c, best))
            best = k;
    return best;
}

/*
 * Whether the rise from plateau i to the next is that of one cache: steepest
 * where code no longer fits, then ever less steep, whatever the policy.  Where
 * it rises less before that, or gets steeper again, a second cache is full
 * before the first has come to its plateau.  The first stretch that rises is
 * left out: the edge lies in it.
 *
 * A slope is of two laps a KiB or more apart, and jitter makes less of it than
 * what is asked for here.
 */
static bool is_one_step(const struct curve *c, size_t i)
{
    const size_t from = c->plateau[i].last, end = c->begin[i + 1];
    const size_t edge = steepest(c, from, end);
    const double noise =
        assume(ASSUME_CODE_SLOPE_NOISE) * c->plateau[i + 1].value;
    size_t rising = from;
    while (rising < edge &&
           slope_after(c, rising) <= c->plateau[i].value + noise)
        rising++;
    for (size_t k = rising + 1; k < edge; k++)
        if (slope_after(c, k) <
            assume(ASSUME_CODE_LESS_STEEP) * slope_after(c, edge))
            return false;
    for (size_t k = edge; k < end; k++)
        if (slope_after(c, k + 1) >
            assume(ASSUME_CODE_STEEPER) * slope_after(c, k) + noise)
            return false;
    return true;
}

/* ---- lines ------------------------------------------------------------ */

enum { COLD_STEP = 48, COLD_POINTS = 30 };

/* What a quiet GPU needs, and a noisy one. */
enum { MANY_COLD = 256 };
static const char few_cold[] = COLD " warm=1 laps=9";
static const char many_cold[] = COLD " warm=1 laps=256";

struct cold {
    const char *words; /* of the experiments */
    struct lap lap[COLD_POINTS];
    double jump[COLD_POINTS]; /* over the step before */
    double usual;             /* of a step that enters no line, cycles */
    double spread;            /* standard deviation of laps of a step … */
    double slack;             /* … and so far off a jump may be, cycles */
    /* Of many laps: what disturbs them adds to a byte, and their variance for
     * each byte. */
    double excess, variance;
};

/* A step, and what disturbs its laps: where they are many, it costs what they
 * do undisturbed. */
static double lay_step(struct lab *lab, struct cold *c, size_t i)
{
    struct lap *const lap = &c->lap[i];
    struct column cycles = {0};
    *lap = lap_and_all(lab, c->words, (i + 1) * COLD_STEP, &cycles);
    const struct undisturbed u = undisturbed_of(cycles.at, cycles.count, 0);
    if (!lab_ok(lab) || c->words != many_cold)
        return u.spread;
    lap->cycles = u.cycles;
    c->excess += u.excess / footprint(lap) / COLD_POINTS;
    c->variance += u.spread * u.spread / footprint(lap) / COLD_POINTS;
    return u.spread;
}

static void lay_cold(struct lab *lab, const char *words, struct cold *c)
{
    double steps[COLD_POINTS] = {0}, spread[COLD_POINTS] = {0};
    *c = (struct cold){.words = words};
    for (size_t i = 0; i < COLD_POINTS; i++) {
        spread[i] = lay_step(lab, c, i);
        steps[i] = i > 0 ? c->lap[i].cycles - c->lap[i - 1].cycles : 0;
    }
    c->spread = stats_median(spread, COLD_POINTS);
    /* One of four steps of 48 B at least enters no line of 64 B or longer: 7 of
     * the 29, wherever the code begins. */
    c->usual = stats_quantile(steps + 1, COLD_POINTS - 1, 0.2);
    for (size_t i = 0; i < COLD_POINTS; i++)
        c->jump[i] = steps[i] - c->usual;
}

/* How lines may lie, and what a jump into one costs: `more` than the `cheaper`
 * of a line that only nearer caches lack. */
struct lines {
    double line, phase, cheaper, more;
};

/*
 * Whether step i is as lines want it.  Where a line begins within a block, and
 * not with it, a lap waits at once for the line and for the comparison that
 * ends the block: so a jump is less by what a block costs at most.  Of what is
 * left half is enough.  A step into no line must be less than a third of a
 * miss: of lines thought twice too long a miss would be half.
 */
static bool step_fits(const struct cold *c, size_t i, const struct lines *l)
{
    const double from = c->lap[i - 1].end, jump = c->jump[i] - l->cheaper;
    const double begin = ceil((from - l->phase) / l->line) * l->line + l->phase;
    if (begin >= c->lap[i].end)
        return jump - c->slack < l->more / 3;
    return jump + c->slack >= (l->more - (begin > from ? c->usual : 0)) / 2;
}

/* Whether jumps are exactly where lines begin. */
static bool explains(const struct cold *c, const struct lines *l)
{
    for (size_t i = 1; i < COLD_POINTS; i++)
        if (!step_fits(c, i, l))
            return false;
    return true;
}

/* Code begins at a multiple of 128 bytes; longer lines may lie anyhow. */
enum { CODE_ALIGN = 128, LINE_LEAST = 32, LINE_MOST = 512 };

/* Whether lines of that length, which lie in some way, explain the jumps. */
static bool line_explains(const struct cold *c, uint64_t line, double cheaper,
                          double more)
{
    for (uint64_t phase = 0; phase < line; phase += CODE_ALIGN)
        if (explains(
                c, &(struct lines){(double)line, (double)phase, cheaper, more}))
            return true;
    return false;
}

/*
 * The line of a level.  A line of level i that is found in level i + 1 costs p;
 * the stall of plateau i + 1, so much more than that of plateau i, is the
 * average over the lines of the nearest cache, of which the first of a longer
 * line pays for all.  So each length of line that is thought of says what a
 * miss costs, and jumps that cost so much must then be that far apart.  0:
 * none is like that.
 */
static uint64_t line_of(const struct cold *c, uint64_t from, double cheaper,
                        double stall)
{
    for (uint64_t line = from; line <= LINE_MOST && line > 0; line *= 2)
        if (line_explains(c, line, cheaper, stall * (double)line))
            return line;
    return 0;
}

/* The lines of all levels; how many are found one after the other. */
static size_t find_lines(struct lab *lab, const struct curve *c,
                         const struct cold *cold)
{
    struct code_level *const level = fact_code_write(lab)->level;
    const size_t count = fact_code(lab)->count;
    double cheaper = 0; /* what a line costs that the level has */
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double stall = c->plateau[i + 1].value - c->plateau[i].value;
        level[i].line = line_of(cold, i == 0 ? LINE_LEAST : level[i - 1].line,
                                cheaper, stall);
        level[i].penalty = stall * (double)level[i].line;
        cheaper += level[i].penalty;
        found += level[i].line > 0;
    }
    return found;
}

/*
 * Whether lines that were not found may be hidden in noise that more laps rid
 * us of: a line explains the jumps if each may be four deviations off, and of
 * many laps four deviations of a jump, which is a difference of two means, are
 * less than half of what tells a miss, a third of it.
 */
static bool may_be_hidden(const struct curve *c, size_t i, uint64_t from,
                          double cheaper, const struct cold *few)
{
    struct cold slack = *few;
    const double stall = c->plateau[i + 1].value - c->plateau[i].value;
    const double off = UNDISTURBED_DEVIATIONS * few->spread;
    slack.slack = off;
    const uint64_t line = line_of(&slack, from, cheaper, stall);
    return line > 0 &&
           off * sqrt(2.0 / MANY_COLD) < stall * (double)LINE_MOST / 6;
}

/* Lays cold code; whether noise may hide lines that were not found. */
static bool ask_lines(struct lab *lab, const struct curve *c, const char *words,
                      struct cold *cold)
{
    const struct code_level *const level = fact_code(lab)->level;
    double cheaper = 0;
    fact_code_write(lab)->count = steps_of(c);
    if (steps_of(c) > 0)
        lay_cold(lab, words, cold);
    if (!lab_ok(lab))
        return false;
    const size_t found = find_lines(lab, c, cold);
    for (size_t i = 0; i < found; i++)
        cheaper += level[i].penalty;
    return found < steps_of(c) &&
           may_be_hidden(c, found,
                         found > 0 ? level[found - 1].line : LINE_LEAST,
                         cheaper, cold);
}

static void report_line(struct lab *lab, const struct cold *cold, size_t i)
{
    const struct code_level *const l = &fact_code(lab)->level[i];
    struct finding *const f = lab_finding(lab, code_components[i], "line");
    finding_cite(f, cold->words);
    if (l->line == 0) {
        finding_none(f, why_code_prefetched);
        return;
    }
    finding_measured(f, (double)l->line);
    finding_interval(f, (double)l->line, (double)l->line, -1);
    if (i > 0)
        finding_protocol(
            f, "assumed",
            value_text("no shorter than that of the nearer cache"));
}

/* ---- what a miss costs ------------------------------------------------ */

/* Stall a byte over a plateau as a slope: the same as its height, unless some
 * of the code is hit even so. */
static double slope_of(const struct curve *c, const struct plateau *p)
{
    return stall_model(c, p->first, p->last).slope;
}

/* How far noise may move what laps of a plateau stall for each byte: they hold
 * at most all that disturbs a fetch, and the third of 64 laps is 1.75
 * deviations quicker than their mean, which are less for each byte the more
 * code they run through. */
static double blur_of(const struct curve *c, const struct cold *cold,
                      const struct plateau *p)
{
    return fabs(cold->excess) +
           1.75 * sqrt(cold->variance / footprint(&c->lap[p->first]));
}

static bool is_flat(const struct curve *c, const struct cold *cold,
                    const struct plateau *p)
{
    const double doubt =
        fmax(stall_least, assume(ASSUME_CODE_DOUBT) * p->value);
    return fabs(slope_of(c, p) - p->value) <= doubt + blur_of(c, cold, p);
}

static void report_penalty(struct lab *lab, const struct curve *c,
                           const struct cold *cold, size_t i)
{
    const struct code_level *const l = &fact_code(lab)->level[i];
    const struct plateau *const p = &c->plateau[i];
    struct finding *const f =
        lab_finding(lab, code_components[i], "miss_penalty");
    if (l->line == 0) {
        finding_none(f, "%s", lab_why_unknown(lab, code_components[i], "line"));
        return;
    }
    if (!is_flat(c, cold, &p[0]) || !is_flat(c, cold, &p[1])) {
        finding_none(f, why_code_part_hit);
        return;
    }
    const double cycles = (p[1].value - p[0].value) * (double)l->line;
    const double doubt = assume(ASSUME_CODE_DOUBT) * cycles +
                         blur_of(c, cold, &p[1]) * (double)l->line;
    finding_measured(f, cycles);
    finding_interval(f, cycles - doubt, cycles + doubt, -1);
    finding_protocol(f, "of", value_text("a missed line"));
    finding_protocol(f, "code", value_text("straight on"));
}

/* ---- sizes ------------------------------------------------------------ */

enum { EDGE_STEP = 48, FIT_POINTS = 12, BEFORE = 6, AFTER = 4 };

/* What the nearest cache's lines add: they come one at a time, not by bytes. */
static double lines_in(const struct lap *lap, double line, double phase)
{
    return floor((lap->end - 1 - phase) / line) -
           floor((lap->start - phase) / line) + 1;
}

/* The experiments around an edge. */
struct edge {
    struct lab *lab;
    const char *words;  /* of the experiments … */
    const char *laps;   /* … and how many laps */
    uint64_t from;      /* B: the first lap */
    double each;        /* cycles of each line of the nearest cache … */
    double line, phase; /* … and where these lie */
    double slope;       /* cycles a byte, where it is known; else 0 */
    double least;       /* cycles that tell a miss */
    struct model model; /* of laps that fit, over their ends */
};

static double without_lines(const struct edge *e, const struct lap *lap)
{
    return e->each > 0
               ? lap->cycles - e->each * lines_in(lap, e->line, e->phase)
               : lap->cycles;
}

static double beyond(const struct edge *e, const struct lap *lap)
{
    return without_lines(e, lap) - predicted(&e->model, lap->end);
}

static struct lap edge_lap(const struct edge *e, uint64_t bytes,
                           const char *laps)
{
    return lap_of(e->lab, lab_text(e->lab, "%s %s", e->words, laps), bytes);
}

static const char usual_laps[] = "warm=4 laps=64";
/* Where so many leave laps that fit too far apart to tell a miss. */
static const char more_laps[] = "warm=4 laps=256";
/* Until code that a program ran before has left a cache that evicts at random.
 */
static const char many_laps[] = "warm=256 laps=128";

/* Fits the model at a phase; the sum of the squares that it leaves. */
static double fit_phase(struct edge *e, const struct lap *laps, double phase)
{
    double x[FIT_POINTS] = {0}, y[FIT_POINTS] = {0}, left = 0;
    e->phase = phase;
    for (int i = 0; i < FIT_POINTS; i++) {
        x[i] = laps[i].end;
        y[i] = without_lines(e, &laps[i]);
    }
    e->model = fitted(x, y, FIT_POINTS);
    if (e->slope > 0)
        e->model.slope = e->slope;
    for (int i = 0; i < FIT_POINTS; i++)
        left += pow(beyond(e, &laps[i]), 2);
    return left;
}

/* Lines longer than code is aligned may lie in several ways. */
static void fit_edge(struct edge *e)
{
    struct lap laps[FIT_POINTS];
    double least = INFINITY, best = 0;
    for (uint64_t i = 0; i < FIT_POINTS; i++)
        laps[i] = edge_lap(e, e->from + i * 3 * EDGE_STEP, e->laps);
    for (double phase = 0; phase < fmax(e->line, 1); phase += CODE_ALIGN) {
        const double now = fit_phase(e, laps, phase);
        best = now < least ? phase : best;
        least = fmin(now, least);
    }
    /* Six standard deviations: hardly a lap that fits is half as slow. */
    const double left = fit_phase(e, laps, best);
    e->least = fmax(e->least, 6 * sqrt(left / FIT_POINTS));
}

enum verdict { FITS, DOUBTFUL, MISSES };

/* Whether a lap costs a miss more than one that fits; what is doubtful, less
 * than some misses more, is measured once more, after many laps. */
static enum verdict judge_lap(const struct edge *e, uint64_t bytes,
                              struct lap *lap)
{
    *lap = edge_lap(e, bytes, e->laps);
    if (beyond(e, lap) > e->least && beyond(e, lap) < 8 * e->least)
        *lap = edge_lap(e, bytes, many_laps);
    const double more = beyond(e, lap);
    return more > e->least ? MISSES : more > e->least / 2 ? DOUBTFUL : FITS;
}

static enum search_answer edge_ask(void *context, uint64_t bytes)
{
    struct lap lap;
    return judge_lap(context, bytes, &lap) == FITS ? SEARCH_FITS
                                                   : SEARCH_OVERFLOWS;
}

/* The laps on both sides of an edge; whether those before it fit and those
 * behind it do not. */
struct sides {
    struct lap below, above;
    bool sharp;
};

static struct sides look_at_sides(const struct edge *e, uint64_t fits)
{
    struct sides s = {.sharp = true};
    for (int i = -BEFORE; lab_ok(e->lab) && s.sharp && i <= AFTER; i++) {
        struct lap lap;
        const uint64_t bytes =
            (uint64_t)((int64_t)fits + i * (int64_t)EDGE_STEP);
        s.sharp = judge_lap(e, bytes, &lap) == (i > 0 ? MISSES : FITS);
        if (i == 0)
            s.below = lap;
        if (i == 1)
            s.above = lap;
    }
    return s;
}

/* Looks for the edge in the KiB or so above what fits; a miss is told by
 * `least` cycles, or more if laps that fit are far apart. */
static struct sides find_edge(struct edge *e, uint64_t about, double least)
{
    e->least = least;
    e->from =
        about > 4 * KIB ? (about - 3 * KIB) / EDGE_STEP * EDGE_STEP : EDGE_STEP;
    e->words = lab_text(
        e->lab, "code total=%" PRIu64 " from=%" PRIu64 " block=%d chains=32",
        about + 3 * KIB, e->from, EDGE_STEP);
    uint64_t fits = e->from + (about - e->from - 768) / EDGE_STEP * EDGE_STEP;
    uint64_t over = fits + (768 + KIB + 512) / EDGE_STEP * EDGE_STEP;
    fit_edge(e);
    search_between(&fits, &over, EDGE_STEP, edge_ask, e);
    return look_at_sides(e, fits);
}

/* Bytes of the lines from the start of a lap to the boundary between two ends,
 * behind which the first line lies that does not fit. */
static uint64_t size_between(const struct lap *fits, const struct lap *over,
                             uint64_t line)
{
    const double unit = line < CODE_ALIGN ? (double)line : (double)CODE_ALIGN;
    const double boundary = floor((over->end - 1) / unit) * unit;
    if (boundary < fits->end)
        return 0;
    return (uint64_t)(ceil((boundary - fits->start) / (double)line)) * line;
}

static void report_size(struct finding *f, const struct sides *s,
                        struct code_level *level)
{
    const uint64_t size = size_between(&s->below, &s->above, level->line);
    finding_protocol(f, "bytes_of_an_instruction", value_number(16));
    if (size == 0) {
        finding_value(f, STATUS_AT_LEAST, value_number(footprint(&s->below)));
        finding_because(f, why_code_no_new_line, footprint(&s->above));
        return;
    }
    level->size = size;
    level->exact = true;
    finding_measured(f, (double)size);
    finding_interval(f, (double)size, (double)size, -1);
}

/* Where a plateau ends, to a KiB: a lap beyond it stalls more than `least`
 * cycles beyond what the plateau foretells. */
struct plateau_end {
    struct lab *lab;
    const struct curve *curve;
    struct model model;
    double least;
};

static enum search_answer plateau_ask(void *context, uint64_t bytes)
{
    const struct plateau_end *const q = context;
    const struct lap lap = lap_of(q->lab, COARSE " warm=4 laps=32", bytes);
    const double more =
        stall_of(q->curve, &lap) - predicted(&q->model, footprint(&lap));
    return more > q->least ? SEARCH_OVERFLOWS : SEARCH_FITS;
}

static uint64_t end_of_plateau(struct lab *lab, const struct curve *c, size_t i,
                               double least)
{
    const struct plateau *const p = &c->plateau[i];
    struct plateau_end q = {lab, c, stall_model(c, p->first, p->last), least};
    uint64_t fits = c->lap[p->last].bytes, over = c->lap[p->last + 1].bytes;
    search_between(&fits, &over, KIB, plateau_ask, &q);
    return fits;
}

static void report_at_least(struct finding *f, const struct lap *fits,
                            const char *why)
{
    finding_value(f, STATUS_AT_LEAST, value_number(footprint(fits)));
    finding_because(f, "%s", why);
}

/* What certainly fits: with a size less than the plateau has, since a few
 * misses more may be hidden in its last. */
static const struct lap *surely_fits(const struct curve *c, size_t i)
{
    const struct plateau *const p = &c->plateau[i];
    return &c->lap[p->last > p->first ? p->last - 1 : p->last];
}

/* `slope` is what the nearest cache's laps cost a byte: that of blocks of
 * EDGE_STEP, for all levels. */
static void find_size(struct lab *lab, const struct curve *c, size_t i,
                      double *slope, struct finding *f)
{
    struct code_level *const level = &fact_code_write(lab)->level[i];
    const double nearest = (double)fact_code(lab)->level[0].line;
    const struct lap *const last = surely_fits(c, i);
    struct edge e = {.lab = lab};
    level->size = (uint64_t)footprint(last);
    if (level->line == 0) {
        report_at_least(f, last,
                        lab_why_unknown(lab, code_components[i], "line"));
        return;
    }
    if (i > 0) {
        e.each = c->plateau[i].value * nearest;
        e.line = nearest;
        e.slope = *slope;
    }
    const uint64_t about = end_of_plateau(lab, c, i, 3 * level->penalty);
    struct sides sides = {.sharp = false};
    for (int turn = 0; lab_ok(lab) && !sides.sharp && turn < 2; turn++) {
        e.laps = turn == 0 ? usual_laps : more_laps;
        sides = find_edge(&e, about, level->penalty / 2);
    }
    if (!lab_ok(lab))
        return;
    if (i == 0)
        *slope = e.model.slope;
    if (sides.sharp)
        report_size(f, &sides, level);
    else
        report_at_least(f, last, why_code_soft);
}

/* ---- the study -------------------------------------------------------- */

/* All but that what comes before the rise fits is left open. */
static void leave_blurred(struct lab *lab, const struct curve *c, size_t i,
                          struct finding *size)
{
    const struct lap *const last = surely_fits(c, i);
    fact_code_write(lab)->level[i] =
        (struct code_level){.size = (uint64_t)footprint(last)};
    fact_code_write(lab)->count = i + 1;
    report_at_least(size, last, why_code_blurred);
    lab_refuse(lab, lab_text(lab, "%s.*", code_components[i]),
               why_code_blurred);
}

static void icache_ask_level(struct lab *lab, const struct curve *c,
                             const struct cold *cold, size_t i, double *slope)
{
    struct finding *const size = lab_finding(lab, code_components[i], "size");
    finding_cite(size, c->words);
    if (!is_one_step(c, i)) {
        leave_blurred(lab, c, i, size);
        return;
    }
    report_line(lab, cold, i);
    report_penalty(lab, c, cold, i);
    find_size(lab, c, i, slope, size);
}

/* That there are no more is no gap; that there is none may be, and one more
 * where that is not known. */
static void leave_rest(struct lab *lab, const char *why)
{
    const bool open =
        fact_code(lab)->count == 0 || why == why_code_edge_unclear;
    fact_code_write(lab)->why = why;
    for (size_t i = fact_code(lab)->count + open; i < CODE_LEVELS_MAX; i++)
        for (const struct answer *a = answers; a->attribute != NULL; a++)
            lab_absent(lab, code_components[i], a->attribute);
    lab_leave_open(lab, why);
}

/* Where noise may hide lines all is asked again with many laps. */
static const struct curve *ask_again(struct lab *lab, const struct curve *c,
                                     struct cold *cold)
{
    if (!ask_lines(lab, c, few_cold, cold))
        return c;
    c = draw_curve(lab, many_coarse);
    if (c != NULL)
        ask_lines(lab, c, many_cold, cold);
    return c;
}

static void icache_run(struct lab *lab)
{
    struct cold cold = {0};
    double slope = 0;
    const struct fact_code *const code = fact_code(lab);
    const struct curve *c = draw_curve(lab, few_coarse);
    const char *why = why_code_no_plateau;
    if (lab_ok(lab) && c != NULL)
        c = ask_again(lab, c, &cold);
    for (size_t i = 0; lab_ok(lab) && c != NULL && i < code->count; i++)
        icache_ask_level(lab, c, &cold, i, &slope);
    if (c == NULL)
        why = why_code_unexpected;
    else if (code->count > 0 && code->level[code->count - 1].line == 0)
        why = why_code_edge_unclear;
    if (lab_ok(lab))
        leave_rest(lab, why);
}

const struct study study_icache = {
    .name = "icache",
    .question = "How much code do the instruction caches hold, in which lines?",
    .method = "Laps through straight-line code of growing length, all of one "
              "kernel: what they stall for each byte has a plateau for each "
              "level. The size is where one line more makes a lap dearer, the "
              "line how far jumps of cold code are apart, a miss the step from "
              "plateau to plateau.",
    .reads = reads,
    .needs = needs,
    .answers = answers,
    .kernels = kernels,
    .run = icache_run,
};
