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
 * What is assumed: that lines of farther caches are no shorter.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plateaus.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

const char *const code_components[CODE_LEVELS_MAX] = {"icache_l0", "icache_l1",
                                                      "icache_l15"};

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {
    "icache_l0.size",          "icache_l0.line",
    "icache_l0.miss_penalty",  "icache_l1.size",
    "icache_l1.line",          "icache_l1.miss_penalty",
    "icache_l15.size",         "icache_l15.line",
    "icache_l15.miss_penalty", NULL,
};

#define COARSE "total=262144 block=1024 chains=32"
#define COLD   "total=2048 block=48 flush=262144 chains=32"
static const char *const kernels[] = {
    "code " COARSE,
    "code " COLD " bytes=48",
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

/* Measures laps; `evidence` (may be NULL) gets the experiment. */
static int measure(struct lab *lab, struct lap *lap, struct finding *evidence,
                   struct error *err, const char *text)
{
    struct samples s;
    char *name;
    if (lab_probe_err(lab, &s, &name, err, "%s bytes=%" PRIu64, text, lap->bytes) !=
        0)
        return err->code;
    double *const cycles = xreallocarray(NULL, s.rows, sizeof *cycles);
    for (size_t i = 0; i < s.rows; i++)
        cycles[i] = (double)samples_at(&s, i, samples_column(&s, "cycles"));
    lap->cycles = stats_quantile(cycles, s.rows, undisturbed);
    lap->start = (double)samples_at(&s, 0, samples_column(&s, "start"));
    lap->end = (double)samples_at(&s, 0, samples_column(&s, "end"));
    if (evidence != NULL)
        finding_evidence(evidence, name);
    free(cycles);
    free(name);
    samples_free(&s);
    return 0;
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

/* A hit that waits is a cycle in some hundred bytes at most. */
static const struct plateaus_rule rule = {
    .least = 3, .change = 0.025, .floor = 0.004, .distance = 0.12};

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
    if (p->value > rule.floor)
        p->first += quarter;
    const struct model m = stall_model(c, p->first, sure);
    size_t last = sure;
    for (size_t i = sure + 1; i <= p->last; i++) {
        const double more =
            stall_of(c, &c->lap[i]) - predicted(&m, footprint(&c->lap[i]));
        if (fabs(more) <= fmax(2, 0.01 * stall_of(c, &c->lap[i])))
            last = i;
    }
    p->last = last;
    p->value = stats_median(c->stall + p->first, last - p->first + 1);
}

static int draw(struct lab *lab, struct curve *c, struct error *err)
{
    *c = (struct curve){0};
    for (uint64_t bytes = KIB; bytes <= LARGEST; bytes = next_size(bytes)) {
        struct lap *const lap = &c->lap[c->count];
        lap->bytes = bytes;
        if (measure(lab, lap, NULL, err, "code " COARSE " warm=3 laps=11") != 0)
            return err->code;
        c->count++;
        if (lap->start < 0)
            return 0;
    }
    find_stalls(c);
    c->plateau_count = plateaus_find(c->stall, c->count, &rule, c->plateau,
                                     CODE_LEVELS_MAX + 2);
    for (size_t i = 0; i < c->plateau_count; i++) {
        c->begin[i] = c->plateau[i].first;
        trim(c, &c->plateau[i]);
    }
    return 0;
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
 */
static bool is_one_step(const struct curve *c, size_t i)
{
    const size_t from = c->plateau[i].last, end = c->begin[i + 1];
    const size_t edge = steepest(c, from, end);
    const double noise = 0.25 * c->plateau[i + 1].value;
    size_t rising = from;
    while (rising < edge &&
           slope_after(c, rising) <= c->plateau[i].value + noise)
        rising++;
    for (size_t k = rising + 1; k < edge; k++)
        if (slope_after(c, k) < 0.6 * slope_after(c, edge))
            return false;
    for (size_t k = edge; k < end; k++)
        if (slope_after(c, k + 1) > 1.3 * slope_after(c, k) + noise)
            return false;
    return true;
}

/* ---- lines ------------------------------------------------------------ */

enum { COLD_STEP = 48, COLD_POINTS = 30 };

struct cold {
    struct lap lap[COLD_POINTS];
    double jump[COLD_POINTS]; /* over the step before */
};

static int lay_cold(struct lab *lab, struct cold *c, struct finding *f,
                    struct error *err)
{
    double steps[COLD_POINTS];
    for (size_t i = 0; i < COLD_POINTS; i++) {
        c->lap[i].bytes = (i + 1) * COLD_STEP;
        if (measure(lab, &c->lap[i], i % 10 == 9 ? f : NULL, err,
                    "code " COLD " warm=1 laps=9") != 0)
            return err->code;
        steps[i] = i > 0 ? c->lap[i].cycles - c->lap[i - 1].cycles : 0;
    }
    const double usual = stats_quantile(steps + 1, COLD_POINTS - 1, 0.25);
    for (size_t i = 0; i < COLD_POINTS; i++)
        c->jump[i] = steps[i] - usual;
    return 0;
}

/* True if there is a boundary of `line` bytes, counted from `phase`, between
 * the ends of laps i - 1 and i. */
static bool enters_line(const struct cold *c, size_t i, double line,
                        double phase)
{
    const double before = floor((c->lap[i - 1].end - 1 - phase) / line);
    return floor((c->lap[i].end - 1 - phase) / line) > before;
}

/* Whether jumps of at least `least` cycles are exactly where lines begin. */
static bool explains(const struct cold *c, double line, double phase,
                     double least)
{
    for (size_t i = 1; i < COLD_POINTS; i++)
        if (enters_line(c, i, line, phase) != (c->jump[i] >= least))
            return false;
    return true;
}

/* Code begins at a multiple of 128 bytes; longer lines may lie anyhow. */
enum { CODE_ALIGN = 128, LINE_LEAST = 32, LINE_MOST = 512 };

/* The line that explains the jumps of at least `least` cycles; 0 if none. */
static uint64_t line_of_jumps(const struct cold *c, double least)
{
    for (uint64_t line = LINE_LEAST; line <= LINE_MOST; line *= 2)
        for (uint64_t phase = 0; phase < line; phase += CODE_ALIGN)
            if (explains(c, (double)line, (double)phase, least))
                return line;
    return 0;
}

/*
 * The lines of all levels.  A line of level i that is found in level i + 1
 * costs p; the stall of plateau i + 1 is the average over the lines of the
 * nearest cache, of which the first of a longer line pays for all.  So each
 * length of line that is thought of says what a miss costs, and the jumps that
 * cost it or more must then be that far apart.
 */
static void find_lines(const struct curve *c, const struct cold *cold,
                       size_t levels, struct code_level *level)
{
    double cheaper = 0; /* what a line costs that the level has */
    for (size_t i = 0; i < levels; i++) {
        const double stall = c->plateau[i + 1].value - c->plateau[i].value;
        const uint64_t from = i == 0 ? LINE_LEAST : level[i - 1].line;
        for (uint64_t line = from; line <= LINE_MOST && line > 0; line *= 2) {
            const double more = stall * (double)line;
            if (line_of_jumps(cold, cheaper + more / 2) != line)
                continue;
            level[i].line = line;
            cheaper += more;
            break;
        }
        level[i].penalty = stall * (double)level[i].line;
    }
}

static void report_line(size_t i, const struct code_level *l, struct finding *f)
{
    if (l->line == 0) {
        finding_none(f, "cold code does not jump by what a miss costs at equal "
                        "distances");
        return;
    }
    finding_set(f, STATUS_MEASURED, value_number((double)l->line), "B");
    finding_interval(f, (double)l->line, (double)l->line, 0.99);
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

enum { DOUBT_PERCENT = 2 };

static bool is_flat(const struct curve *c, const struct plateau *p)
{
    return fabs(slope_of(c, p) - p->value) <=
           fmax(rule.floor, DOUBT_PERCENT / 100.0 * p->value);
}

static void report_penalty(const struct curve *c, size_t i,
                           const struct code_level *l, struct finding *f)
{
    if (l->line == 0) {
        finding_none(f, "the line is not known");
        return;
    }
    if (!is_flat(c, &c->plateau[i]) || !is_flat(c, &c->plateau[i + 1])) {
        finding_none(f, "some of the code is hit even where it does not fit, "
                        "and how much is not known");
        return;
    }
    const double step = c->plateau[i + 1].value - c->plateau[i].value;
    const double cycles = step * (double)l->line;
    const double doubt = DOUBT_PERCENT / 100.0 * cycles;
    finding_set(f, STATUS_MEASURED, value_number(cycles), "cycles");
    finding_interval(f, cycles - doubt, cycles + doubt, 0.99);
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
    char *text;
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

static int lap_at(struct lab *lab, const struct edge *e, uint64_t bytes,
                  const char *laps, struct lap *lap, struct error *err)
{
    char text[256];
    snprintf(text, sizeof text, "%s %s", e->text, laps);
    lap->bytes = bytes;
    return measure(lab, lap, NULL, err, text);
}

static const char usual_laps[] = "warm=4 laps=64";
/* Until code that a program ran before has left a cache that evicts at random.
 */
static const char many_laps[] = "warm=256 laps=32";

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
static int fit(struct lab *lab, struct edge *e, struct error *err)
{
    struct lap laps[FIT_POINTS];
    double least = INFINITY, best = 0;
    for (int i = 0; i < FIT_POINTS; i++)
        if (lap_at(lab, e, e->from + (uint64_t)i * 3 * EDGE_STEP, usual_laps,
                   &laps[i], err) != 0)
            return err->code;
    for (double phase = 0; phase < fmax(e->line, 1); phase += CODE_ALIGN) {
        const double now = fit_phase(e, laps, phase);
        best = now < least ? phase : best;
        least = fmin(now, least);
    }
    /* Six standard deviations: hardly a lap that fits is half as slow. */
    const double left = fit_phase(e, laps, best);
    e->least = fmax(e->least, 6 * sqrt(left / FIT_POINTS));
    return 0;
}

enum verdict { FITS, DOUBTFUL, MISSES };

/* Whether a lap costs a miss more than one that fits; what is doubtful is
 * measured once more, after many laps. */
static int misses(struct lab *lab, const struct edge *e, uint64_t bytes,
                  struct lap *lap, enum verdict *verdict, struct error *err)
{
    if (lap_at(lab, e, bytes, usual_laps, lap, err) != 0)
        return err->code;
    double more = beyond(e, lap);
    if (more > e->least && more < 8 * e->least) {
        if (lap_at(lab, e, bytes, many_laps, lap, err) != 0)
            return err->code;
        more = beyond(e, lap);
    }
    *verdict = more > e->least ? MISSES : more > e->least / 2 ? DOUBTFUL : FITS;
    return 0;
}

/* Laps between two, of which the first fits and the last does not, until they
 * are a step apart. */
static int halve(struct lab *lab, const struct edge *e, uint64_t *fits,
                 uint64_t *over, struct error *err)
{
    while (*over - *fits > EDGE_STEP) {
        const uint64_t steps = (*over - *fits) / EDGE_STEP / 2;
        const uint64_t middle = *fits + steps * EDGE_STEP;
        struct lap lap;
        enum verdict verdict = DOUBTFUL;
        if (misses(lab, e, middle, &lap, &verdict, err) != 0)
            return err->code;
        *(verdict == FITS ? fits : over) = middle;
    }
    return 0;
}

/* Whether the laps before an edge fit and those behind it do not. */
static int is_sharp(struct lab *lab, const struct edge *e, uint64_t fits,
                    struct lap *below, struct lap *above, bool *sharp,
                    struct error *err)
{
    *sharp = true;
    for (int i = -BEFORE; *sharp && i <= AFTER; i++) {
        struct lap lap;
        enum verdict verdict = DOUBTFUL;
        const uint64_t bytes =
            (uint64_t)((int64_t)fits + i * (int64_t)EDGE_STEP);
        if (misses(lab, e, bytes, &lap, &verdict, err) != 0)
            return err->code;
        *sharp = verdict == (i > 0 ? MISSES : FITS);
        if (i == 0)
            *below = lap;
        if (i == 1)
            *above = lap;
    }
    return 0;
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

static void report_size(struct finding *f, const struct lap *fits,
                        const struct lap *over, uint64_t line,
                        struct code_level *level)
{
    const uint64_t size = line > 0 ? size_between(fits, over, line) : 0;
    finding_protocol(f, "bytes_of_an_instruction", value_number(16));
    if (size == 0) {
        finding_set(f, STATUS_AT_LEAST, value_number(footprint(fits)), "B");
        finding_because(f,
                        "the code that no longer fits, of %.0f B, ends in "
                        "no new line",
                        footprint(over));
        return;
    }
    level->size = size;
    level->exact = true;
    finding_set(f, STATUS_MEASURED, value_number((double)size), "B");
    finding_interval(f, (double)size, (double)size, 0.99);
}

/* Narrows the gap between a plateau's last lap and the next one to a KiB. */
static int narrow(struct lab *lab, const struct curve *c, size_t i,
                  double least, uint64_t *fits, struct error *err)
{
    const struct plateau *const p = &c->plateau[i];
    const struct model model = stall_model(c, p->first, p->last);
    uint64_t over = c->lap[p->last + 1].bytes;
    *fits = c->lap[p->last].bytes;
    while (over - *fits > KIB) {
        struct lap lap = {.bytes = (*fits + over) / 2 / KIB * KIB};
        if (measure(lab, &lap, NULL, err, "code " COARSE " warm=4 laps=32") !=
            0)
            return err->code;
        if (stall_of(c, &lap) - predicted(&model, footprint(&lap)) > least)
            over = lap.bytes;
        else
            *fits = lap.bytes;
    }
    return 0;
}

static void report_blurred(struct finding *f, const struct lap *fits)
{
    finding_set(f, STATUS_AT_LEAST, value_number(footprint(fits)), "B");
    finding_because(f, "laps get dearer little by little, so that no single "
                       "line shows that no longer fits");
}

/* Looks for the edge in the KiB or so above what fits. */
static int find_edge(struct lab *lab, struct edge *e, uint64_t about,
                     struct lap *below, struct lap *above, bool *sharp,
                     struct error *err)
{
    e->from =
        about > 4 * KIB ? (about - 3 * KIB) / EDGE_STEP * EDGE_STEP : EDGE_STEP;
    e->text =
        xasprintf("code total=%" PRIu64 " from=%" PRIu64 " block=%d chains=32",
                  about + 3 * KIB, e->from, EDGE_STEP);
    uint64_t fits = e->from + (about - e->from - 768) / EDGE_STEP * EDGE_STEP;
    uint64_t over = fits + (768 + KIB + 512) / EDGE_STEP * EDGE_STEP;
    int status = fit(lab, e, err);
    if (status == 0)
        status = halve(lab, e, &fits, &over, err);
    if (status == 0)
        status = is_sharp(lab, e, fits, below, above, sharp, err);
    free(e->text);
    return status;
}

/* What certainly fits: with a size less than the plateau has, since a few
 * misses more may be hidden in its last. */
static const struct lap *surely_fits(const struct curve *c, size_t i)
{
    const struct plateau *const p = &c->plateau[i];
    return &c->lap[p->last > p->first ? p->last - 1 : p->last];
}

static int find_size(struct lab *lab, const struct curve *c, size_t i,
                     struct code_level *level, double *slope, struct finding *f,
                     struct error *err)
{
    const double line0 = (double)level[0].line;
    struct edge e = {.each = c->plateau[i].value * line0,
                     .line = i > 0 ? line0 : 0,
                     .slope = i > 0 ? *slope : 0,
                     .least = level[i].penalty / 2};
    struct lap below = {0}, above = {0};
    bool sharp = false;
    uint64_t about;
    const struct lap *const last = surely_fits(c, i);
    level[i].size = (uint64_t)footprint(last);
    if (level[i].line == 0) {
        report_blurred(f, last);
        finding_because(f, "the line, and so what a miss costs, is not known");
        return 0;
    }
    if (i == 0)
        e.each = 0;
    if (narrow(lab, c, i, 3 * level[i].penalty, &about, err) != 0 ||
        find_edge(lab, &e, about, &below, &above, &sharp, err) != 0)
        return err->code;
    if (i == 0)
        *slope = e.model.slope;
    if (sharp)
        report_size(f, &below, &above, level[i].line, &level[i]);
    else
        report_blurred(f, last);
    return 0;
}

/* ---- the study -------------------------------------------------------- */

/* All but that what comes before the rise fits is left open. */
static void leave_blurred(struct lab *lab, const struct curve *c, size_t i,
                          struct finding *size)
{
    static const char why[] =
        "beyond this cache laps get dearer in more than one step, but there is "
        "no plateau between them";
    const struct lap *const last = surely_fits(c, i);
    lab->code.level[i] = (struct code_level){.size = (uint64_t)footprint(last)};
    finding_set(size, STATUS_AT_LEAST, value_number(footprint(last)), "B");
    finding_because(size, "%s", why);
    finding_none(lab_finding(lab, code_components[i], "line"), "%s", why);
    finding_none(lab_finding(lab, code_components[i], "miss_penalty"), "%s",
                 why);
}

/* `slope` is what the nearest cache's laps cost a byte: that of blocks of
 * EDGE_STEP, for all levels. */
static int ask_level(struct lab *lab, const struct curve *c, size_t i,
                     double *slope, struct error *err)
{
    const char *const component = code_components[i];
    struct code_level *const level = lab->code.level;
    struct finding *const size = lab_finding(lab, component, "size");
    finding_evidence(size, "code " COARSE " warm=3 laps=11");
    if (!is_one_step(c, i)) {
        leave_blurred(lab, c, i, size);
        lab->code.count = i + 1;
        return 0;
    }
    struct finding *const line = lab_finding(lab, component, "line");
    report_line(i, &level[i], line);
    finding_evidence(line, "code " COLD " warm=1 laps=9");
    struct finding *const penalty = lab_finding(lab, component, "miss_penalty");
    report_penalty(c, i, &level[i], penalty);
    return find_size(lab, c, i, level, slope, size, err);
}

static void leave_rest(struct lab *lab, const char *why)
{
    static const char *const attributes[] = {"size", "line", "miss_penalty"};
    lab->code.why = why;
    for (size_t i = lab->code.count; i < CODE_LEVELS_MAX; i++)
        for (size_t k = 0; k < COUNT_OF(attributes); k++)
            /* That there are no more is no gap; that there is none may be. */
            if (i > 0)
                lab_absent(lab, code_components[i], attributes[k]);
            else
                finding_none(
                    lab_finding(lab, code_components[i], attributes[k]), "%s",
                    why);
}

static int run(struct lab *lab, struct error *err)
{
    struct curve *const c = xcalloc(1, sizeof *c);
    struct cold *const cold = xcalloc(1, sizeof *cold);
    const char *why = "laps of more code show no further step";
    double slope = 0;
    int status = draw(lab, c, err);
    if (status == 0 && c->lap[0].start < 0)
        why = "the machine code is not as expected, so that it is not known "
              "where it lies";
    else if (status == 0 && c->plateau_count > 1 && c->plateau[0].first == 0)
        lab->code.count = c->plateau_count - 1;
    if (lab->code.count > CODE_LEVELS_MAX)
        lab->code.count = CODE_LEVELS_MAX;
    if (status == 0 && lab->code.count > 0)
        status = lay_cold(lab, cold, NULL, err);
    if (status == 0)
        find_lines(c, cold, lab->code.count, lab->code.level);
    for (size_t i = 0; status == 0 && i < lab->code.count; i++)
        status = ask_level(lab, c, i, &slope, err);
    if (lab->code.count > 0 && lab->code.level[lab->code.count - 1].line == 0)
        why = "a nearer cache's edge is not clear, so that it is not known how "
              "many there are";
    if (status == 0)
        leave_rest(lab, why);
    free(c);
    free(cold);
    return status;
}

const struct study study_icache = {
    .name = "icache",
    .question = "How much code do the instruction caches hold, in which lines?",
    .method = "Laps through straight-line code of growing length, all of one "
              "kernel: what they stall for each byte has a plateau for each "
              "level. The size is where one line more makes a lap dearer, the "
              "line how far jumps of cold code are apart, a miss the step from "
              "plateau to plateau.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
