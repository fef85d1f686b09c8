/*
 * Instruction caches: how many there are, how much each holds in which sets and
 * lines, what a missed line costs, and what is fetched ahead.
 *
 * Functions of a pool are called one by one, in orders and at distances that
 * are chosen at run time (probe/run/functions.h): so lines are asked as lines
 * of data are, and what prefetches straight code has nothing to go by.
 *
 * Laps over ever more lines cost, at the median, what a line costs that comes
 * from one level; there are as many caches as steps.  Laps go through the lines
 * backwards, eight apart, so that what was fetched ahead was called before.
 * Lines and what is fetched ahead show in code that is cold.  At steps of
 * powers of two the lines that fit become half as many, until they are of as
 * few sets as can be: at the step at which they stay as many, they are of one,
 * or of an odd number.  The size is that of all sets; what laps in a row show
 * must agree.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/curve/plateaus.h"
#include "analysis/hits.h"
#include "analysis/search.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/cache/eviction.h"
#include "study/lab.h"
#include "study/script.h"

const char *const code_components[CODE_LEVELS_MAX + 1] = {
    "icache_l0", "icache_l1", "icache_l15", NULL};

static const enum fact_id reads[] = {FACT_NONE};
static const char *const needs[] = {"clock", NULL};
static const struct answer answers[] = {
    {code_components, "size", "B"},
    {code_components, "line", "B"},
    {code_components, "ways", ""},
    {code_components, "sets", ""},
    {code_components, "policy", ""},
    {code_components, "prefetch", "lines"},
    {code_components, "miss_penalty", "cycles"},
    {0},
};
static const char *const kernels[] = {"visit readers=code", NULL};

/* Of the pool all but a last line is used. */
enum { KIB = 1024, POOL = 254 * KIB, POINTS_MOST = 96 };
/* Calls return at the end of 128 B; and from so far on run through no more than
 * a line, or a part of it, of 32 B. */
enum { PLACE = 128, TAIL = PLACE - 32 };

/* ---- laps over ever more lines ----------------------------------------- */

/* Lines `PLACE` apart from `from` on, backwards as the head says. */
static void add_backwards(struct script *s, uint64_t from, uint64_t lines,
                          bool timed)
{
    enum { APART = 8 };
    for (uint64_t i = APART; i-- > 0;)
        if (i < lines)
            script_add(s, &(struct script_step){
                              .timed = timed,
                              .places = {from + i * PLACE + TAIL,
                                         (lines - i + APART - 1) / APART,
                                         APART * PLACE}});
}

struct curve {
    size_t count;
    uint64_t lines[POINTS_MOST];
    double cycles[POINTS_MOST]; /* of a call, at the median of a lap … */
    double most[POINTS_MOST];   /* … and of nine in ten */
    size_t plateau_count;
    struct plateau plateau[CODE_LEVELS_MAX + 2];
    const char *experiment; /* the longest lap */
};

/* Four laps, of which the first two bring the lines in. */
static struct column row_cycles(struct lab *lab, uint64_t lines)
{
    struct script s = {0};
    script_reader(&s, "code");
    add_backwards(&s, 0, lines, true);
    return lab_column(lab, "cycles", "visit %s rounds=4", script_text(&s, lab));
}

/* Eight sizes an octave: three of them lie between caches of which one is half
 * as large again as the other. */
static void draw_curve(struct lab *lab, struct curve *c)
{
    const struct plateaus_rule rule = {.least = 3,
                                       .change = assume(ASSUME_CODE_ALIKE),
                                       .floor = 2,
                                       .distance = 0.06};
    for (uint64_t n = 16; lab_ok(lab) && n <= POOL / PLACE; n += n / 8) {
        c->lines[c->count] = n;
        const struct column row = row_cycles(lab, n);
        if (!lab_ok(lab))
            return;
        if (stats_min(row.at, row.count) <= 0) {
            lab_fail(lab, ERR_UNSUPPORTED, why_code_no_lines);
            return;
        }
        c->cycles[c->count] = stats_median(row.at + 2 * n, 2 * n);
        c->most[c->count++] = stats_quantile(row.at + 2 * n, 2 * n, 0.9);
        c->experiment = row.experiment;
    }
    c->plateau_count = plateaus_find(c->cycles, c->count, &rule, c->plateau,
                                     CODE_LEVELS_MAX + 2);
}

/* ---- cold code --------------------------------------------------------- */

/* Blocks of code that the laps before have pushed out, from the last one down;
 * of each one call, then one at another place, and that place again, which is
 * what a call there costs that hits. */
enum { BLOCK = 2 * KIB, BLOCKS = 16, COLD = BLOCKS * BLOCK };

/* Cycles beyond a hit for a place that lies so far from the start of a block,
 * once another of it was called: the median over the blocks. */
static double cold_cycles(struct lab *lab, uint64_t called, uint64_t then)
{
    double extra[BLOCKS] = {0};
    struct script s = {0};
    script_reader(&s, "code");
    add_backwards(&s, COLD, (POOL - COLD) / PLACE, false);
    for (uint64_t i = BLOCKS; i-- > 0;) {
        script_load(&s, 0, (struct segment){i * BLOCK + called, 1, 0});
        script_time(&s, 0, (struct segment){i * BLOCK + then, 1, 0});
        script_time(&s, 0, (struct segment){i * BLOCK + then, 1, 0});
    }
    const struct column c =
        lab_column(lab, "cycles", "visit %s", script_text(&s, lab));
    for (size_t i = 0; lab_ok(lab) && i < BLOCKS; i++)
        extra[i] = c.at[2 * i] - c.at[2 * i + 1];
    return stats_median(extra, BLOCKS);
}

/* ---- the caches -------------------------------------------------------- */

struct cache_question {
    struct lab *lab;
    const struct curve *curve;
    size_t i; /* which */
    struct eviction eviction;
    struct code_level *level;
    uint64_t ahead;      /* bytes that are fetched ahead */
    uint64_t fits, over; /* lines in a row of which most hit, and miss */
};

/* Beyond what a hit in the nearest cache costs: half-way from this one to the
 * next. */
static double extra_limit(const struct curve *c, size_t i)
{
    return hits_limit(c->plateau[i].value, c->plateau[i + 1].value) -
           c->plateau[0].value;
}

/* The longest of 64 … 512 B of which the end brings the beginning; so cold code
 * is called backwards, and what is fetched ahead is not met. */
static void find_lines(struct lab *lab, const struct curve *c, size_t levels)
{
    struct fact_code *const code = fact_code_write(lab);
    const uint64_t last = BLOCK - 32;
    size_t known = 0;
    for (uint64_t line = 64; lab_ok(lab) && line <= 512 && known < levels;
         line *= 2) {
        const double extra = cold_cycles(lab, last, BLOCK - line);
        for (size_t i = known; lab_ok(lab) && i < levels; i++)
            if (code->level[i].line == 0 && extra > extra_limit(c, i))
                code->level[i].line = line / 2;
        while (known < levels && code->level[known].line > 0)
            known++;
    }
}

/* Lines of the nearest cache that a call brings beside its own: so many before
 * a line it is called, and that line then misses no more. */
static uint64_t report_prefetch(struct lab *lab, const struct curve *c)
{
    const uint64_t line = fact_code(lab)->level[0].line;
    /* Half a line of 128 B can be called alone in each KiB. */
    const uint64_t to = line < PLACE ? KIB : BLOCK - line + TAIL;
    struct finding *const f = lab_finding(lab, code_components[0], "prefetch");
    uint64_t ahead = 0;
    bool brought = true;
    lab_cite(lab, f);
    while (lab_ok(lab) && brought && (ahead + 2) * line <= to) {
        uint64_t from = to - (ahead + 1) * line, half = 0;
        /* A call of a line's first half runs on through the other, and is as
         * far before the second half here as the other before the first. */
        if (line < PLACE && from % PLACE == 0)
            half = line;
        if (line < PLACE)
            from += half + line / 2;
        brought = cold_cycles(lab, from, to + half) < extra_limit(c, 0);
        ahead += brought;
    }
    lab_uncite(lab);
    if (lab_ok(lab)) {
        finding_measured(f, (double)ahead);
        finding_protocol(f, "after", value_text("one call"));
    }
    return ahead * line;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Lines at a step that the nearer cache holds, of which nothing can be told. */
static uint64_t nearer_holds(const struct cache_question *q, uint64_t step)
{
    const struct code_level *const near = q->level - 1;
    return q->i == 0 ? 0
           : !near->exact
               ? near->size / PLACE
               : near->ways * near->step / common_divisor(near->step, step);
}

/* Before each call that is kept others empty the nearer cache's sets of the
 * lines at a step: at odd multiples of what both steps have in common, or
 * beside the lines, so that they are of other sets of this one.  False if there
 * are none. */
static bool fill_nearer(struct cache_question *q, uint64_t step)
{
    const uint64_t count = 2 * nearer_holds(q, step) + 2;
    q->eviction.filler = (struct segment){0};
    if (q->i == 0)
        return true;
    const uint64_t common = common_divisor(q->level[-1].step, step);
    const bool even = step / common % 2 == 0;
    const uint64_t apart = even ? 2 * common : step;
    if (!q->level[-1].exact || common == step || step + count * apart > POOL)
        return false;
    q->eviction.filler = (struct segment){common, count, apart};
    return true;
}

/* So many lines at a step, or nearly, can be told to fit. */
static bool can_tell(struct cache_question *q, uint64_t step, uint64_t count)
{
    q->eviction.filler = (struct segment){0};
    return nearer_holds(q, step) < count || fill_nearer(q, step);
}

/* ---- which lines fit ---------------------------------------------------- */

enum { LAPS = 6, KEPT_MOST = 8000, TAKES = 8 };

/* What the laps of a list showed: misses, those at places that miss in each
 * lap, and laps without any. */
struct laps {
    size_t misses, steady, clean;
    const char *experiment;
};

static struct laps laps_over(struct cache_question *q,
                             const struct script_lines *list, unsigned settle,
                             unsigned take)
{
    const double cut = hits_limit(q->eviction.hit, q->eviction.miss);
    const size_t each = list->count;
    const struct segment *const f = &q->eviction.filler;
    const char *const between =
        f->count == 0
            ? ""
            : lab_text(q->lab, " between=%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                       list->at[0] + f->start, f->count, f->step);
    struct script text = {0};
    script_reader(&text, "code");
    script_add(&text, &(struct script_step){.laps = settle, .lines = list});
    script_add(&text, &(struct script_step){
                          .laps = LAPS, .timed = true, .lines = list});
    const struct column c =
        lab_column(q->lab, "cycles", "visit %s%s take=%u",
                   script_text(&text, q->lab), between, take);
    struct laps l = {.experiment = c.experiment};
    for (size_t lap = 0; lab_ok(q->lab) && lap < LAPS; lap++) {
        const size_t misses = hits_above(c.at + lap * each, each, cut);
        l.misses += misses;
        l.clean += misses == 0;
    }
    for (size_t i = 0; lab_ok(q->lab) && i < each; i++) {
        size_t missed = 0;
        for (size_t lap = 0; lap < LAPS; lap++)
            missed += c.at[lap * each + i] > cut;
        l.steady += missed == LAPS;
    }
    return l;
}

/*
 * Whether the lines of a list, and others, do not fit: in each lap
 * some miss, also after many laps that settle them.  Those that miss in all
 * laps are not disturbed; where only others do, so many laps tell that it
 * cannot be chance.
 */
static bool lines_overflow(struct cache_question *q,
                           const struct script_lines *list)
{
    static const unsigned settle[] = {3, 30, 120};
    if (list->count * LAPS > KEPT_MOST) {
        lab_fail(q->lab, ERR_UNSUPPORTED, why_too_many_places,
                 (uint64_t)list->count, (uint64_t)PLACE);
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(settle); i++)
        for (unsigned take = 0; take < TAKES; take++) {
            const struct laps l = laps_over(q, list, settle[i], take);
            *(l.clean > 0 ? &q->eviction.fits : &q->eviction.overflows) =
                l.experiment;
            if (l.clean > 0 || !lab_ok(q->lab))
                return false;
            if (l.steady > 1 && 10 * l.steady * LAPS > 9 * l.misses)
                return true;
            if (l.steady > 1)
                break;
        }
    return true;
}

static struct script_lines lines_of(struct lab *lab, const struct segment *a)
{
    const struct script_lines lines = {
        lab_alloc(lab, a->count, sizeof *lines.at), a->count};
    for (uint64_t i = 0; i < a->count; i++)
        lines.at[i] = a->start + i * a->step;
    return lines;
}

static bool both_overflow(struct cache_question *q, const struct segment *a,
                          const struct segment *b)
{
    const struct script_lines x = lines_of(q->lab, a), y = lines_of(q->lab, b);
    const struct script_lines both = {
        lab_alloc(q->lab, a->count + b->count, sizeof *both.at),
        a->count + b->count};
    memcpy(both.at, x.at, x.count * sizeof *x.at);
    memcpy(both.at + x.count, y.at, y.count * sizeof *y.at);
    return lines_overflow(q, &both);
}

static bool overflows(struct cache_question *q, const struct segment *list)
{
    return both_overflow(q, list, &(struct segment){0});
}

/* Most lines that fit of those at a step. */
struct steps {
    struct cache_question *q;
    uint64_t start, step;
};

static enum search_answer ask_count(void *context, uint64_t count)
{
    const struct steps *const s = context;
    const bool over =
        overflows(s->q, &(struct segment){s->start, count, s->step});
    return eviction_gave_up(&s->q->eviction) ? SEARCH_UNTRIED
           : over                            ? SEARCH_OVERFLOWS
                                             : SEARCH_FITS;
}

/* From several starts: where the code that calls has lines of its own, fewer
 * fit. */
enum { STARTS = 3, STARTS_MOST = 8 };

static uint64_t start_of(const struct cache_question *q, size_t i,
                         uint64_t step)
{
    return 13 * i * u64_max(q->eviction.unit, PLACE) % step + TAIL;
}

static uint64_t count_at(struct cache_question *q, uint64_t step,
                         uint64_t guess)
{
    uint64_t best = 0;
    for (size_t i = 0; lab_ok(q->lab) && i < STARTS; i++) {
        const uint64_t start = start_of(q, i, step);
        const uint64_t most = u64_min((POOL - start) / step, 1000);
        struct steps s = {q, start, step};
        const uint64_t fits = search_count(guess, most, ask_count, &s);
        best = fits > best ? fits : best;
    }
    return best;
}

static bool fit_at(struct cache_question *q, uint64_t step, uint64_t count)
{
    bool fit = false;
    for (size_t i = 0; lab_ok(q->lab) && !fit && i < STARTS; i++) {
        const struct segment list = {start_of(q, i, step), count, step};
        fit = list.start + count * step > POOL || !overflows(q, &list);
    }
    return fit;
}

/* The first step at which nearly as many lines fit as at half of it, and how
 * many; 0: none was seen. */
static uint64_t find_step(struct cache_question *q, uint64_t *fits)
{
    uint64_t step = q->eviction.unit;
    while (step < 8 * PLACE || q->over * PLACE / step > 256)
        step *= 2;
    *fits = count_at(q, step, 0);
    for (; lab_ok(q->lab) && *fits > 1; step *= 2) {
        const uint64_t many = *fits * 3 / 4 + 1;
        if (many > POOL / (2 * step) || !can_tell(q, 2 * step, *fits / 2))
            return 0;
        const uint64_t now = count_at(q, 2 * step, (*fits + 1) / 2);
        if (now >= many) {
            const bool more = now > *fits;
            *fits = more ? now : *fits;
            return more ? 2 * step : step;
        }
        *fits = now;
    }
    return *fits == 1 ? step : 0;
}

struct shape {
    uint64_t step, ways, sets; /* lines `step` apart are of one set */
    uint64_t line;
    uint64_t start; /* of a set without lines of the code that calls */
};

static bool find_start(struct cache_question *q, struct shape *s)
{
    for (size_t i = 0; lab_ok(q->lab) && i < STARTS_MOST; i++) {
        s->start = start_of(q, i, s->step);
        const struct segment list = {s->start, s->ways, s->step};
        if ((s->ways + 2) * s->step <= POOL && !overflows(q, &list))
            return true;
    }
    return false;
}

/* The next odd factor of the number of sets: at steps of it fewer lines fit. */
static bool find_odd_factor(struct cache_question *q, struct shape *s)
{
    for (uint64_t p = 3; lab_ok(q->lab) && p <= s->ways + 2; p += 2) {
        const uint64_t each = (s->ways + p - 1) / p;
        const uint64_t step = s->step * p;
        if (can_tell(q, step, each) &&
            q->eviction.filler.start % s->step == 0 &&
            q->eviction.filler.count > 0)
            continue;
        if (!can_tell(q, step, each) || fit_at(q, step, each + each / 4 + 1))
            continue;
        s->step = step;
        s->ways = count_at(q, step, each);
        return true;
    }
    return false;
}

/* Whether the line of a place comes into the set that is full: with others at
 * the set's step, as many as the nearer cache does not hold. */
static bool comes_in(struct cache_question *q, const struct shape *s,
                     uint64_t place)
{
    const struct segment group = {s->start, s->ways, s->step};
    const uint64_t many = nearer_holds(q, s->step) + 1;
    const struct segment others = {place, many, s->step};
    if (place + many * s->step <= POOL)
        return both_overflow(q, &group, &others);
    const struct script_lines lines = lines_of(q->lab, &group);
    return eviction_evicts(&q->eviction, &lines, &(struct segment){place, 1, 0},
                           1);
}

/* A place whose halves can be called alone, in the set of lines that fit; 0:
 * there is none. */
static uint64_t halved_place(struct cache_question *q, struct shape *s)
{
    for (uint64_t start = TAIL; lab_ok(q->lab) && start < s->step;
         start += PLACE) {
        uint64_t place = start + s->ways * s->step;
        while (place + s->step < POOL && place % KIB != TAIL)
            place += s->step;
        const struct segment list = {start, s->ways, s->step};
        if (place % KIB != TAIL || overflows(q, &list))
            continue;
        s->start = start;
        return place;
    }
    return 0;
}

/* A line may be brought part by part: the other half of a line twice as long
 * comes into the set, too, if there is such a line.  0: it cannot be told. */
static uint64_t find_line(struct cache_question *q, struct shape *s)
{
    uint64_t line = q->eviction.unit;
    if (q->ahead > 0) /* what is fetched ahead comes into sets beside, too */
        return line;
    const uint64_t own =
        line < PLACE ? halved_place(q, s) : s->start + s->ways * s->step;
    for (; lab_ok(q->lab) && own > 0 && 2 * line <= u64_min(s->step, KIB);
         line *= 2) {
        const uint64_t other = (own / line * line) ^ line;
        if (!comes_in(q, s, other + (line < PLACE ? 0 : TAIL)))
            break;
    }
    return own > 0 ? line : 0;
}

/* Whether the lines at the step are all of one set: then all of them but the
 * first leave room for one more.  Of several sets they leave it in the first's,
 * and one that comes into the second's is too many. */
static bool is_one_set(struct cache_question *q, const struct shape *s)
{
    const struct segment others = {s->start + s->step, s->ways - 1, s->step};
    const struct segment one = {s->start + (s->ways + 1) * s->step, 1, 0};
    return !both_overflow(q, &others, &one);
}

/*
 * The loop that calls has lines of its own in the nearest cache, one after the
 * other: so in some sets fewer lines fit, by one, or of few sets in all, by the
 * same number.  Which, its length tells, if that leaves one answer: 24
 * instructions at least, and no more than 64.
 */
enum { LOOP_LEAST = 24 * 16, LOOP_MOST = 64 * 16 };

/* Adds to the ways what the loop takes in each set; false if that is not known.
 */
static bool add_own_lines(struct cache_question *q, struct shape *s)
{
    const uint64_t part = u64_max(s->line, PLACE);
    const uint64_t sets = u64_max(s->step / part, 1);
    const uint64_t most = LOOP_MOST / part + 1;
    uint64_t fewer = 0, explained = 0, each = 0;
    if (q->i > 0 || sets > 2 * most)
        return true;
    for (uint64_t i = 0; lab_ok(q->lab) && i < sets; i++) {
        struct segment list = {i * part + TAIL, s->ways + 1, s->step};
        if (!overflows(q, &list)) {
            *s = (struct shape){s->step, s->ways + 1, s->sets, s->line,
                                list.start};
            i = UINT64_MAX;
            fewer = 0;
            continue;
        }
        list.count--;
        fewer += overflows(q, &list);
    }
    for (uint64_t own = LOOP_LEAST / part; own <= most; own++)
        if (own % sets == fewer % sets && own >= fewer) {
            each = (own - fewer) / sets;
            explained++;
        }
    s->ways += each;
    return explained == 1;
}

/* Whether lines half as far apart are of one set, too. */
static bool is_half(struct cache_question *q, const struct shape *s)
{
    const uint64_t half = s->step / 2;
    const struct segment more = {s->start, s->ways + 1, half};
    return half % u64_max(q->eviction.unit, PLACE) == 0 && half > q->ahead &&
           can_tell(q, half, s->ways + 1) && overflows(q, &more);
}

/* All factors of two may be none of the sets'; and a line may be brought in
 * part by part, so that its parts come into one set, too. */
static bool find_shape(struct cache_question *q, struct shape *s)
{
    s->step = find_step(q, &s->ways);
    if (!lab_ok(q->lab) || s->step == 0)
        return false;
    for (;;) {
        if (!can_tell(q, s->step, s->ways) || !find_start(q, s))
            return false;
        const bool one = s->ways < 3 || is_one_set(q, s);
        if (find_odd_factor(q, s))
            continue;
        if (!lab_ok(q->lab) || !one)
            return false;
        break;
    }
    while (lab_ok(q->lab) && is_half(q, s))
        s->step /= 2;
    /* Smaller steps cannot be asked where lines beside are fetched, too, nor
     * any but those of whole functions. */
    const uint64_t half = s->step / 2;
    if (s->step % 2 == 0 && half % q->eviction.unit == 0 &&
        (half <= q->ahead || half % PLACE != 0))
        return false;
    s->line = find_line(q, s);
    if (s->line == 0)
        return false;
    s->sets = u64_max(s->step / s->line, 1);
    return lab_ok(q->lab) && add_own_lines(q, s);
}

static void report_number(struct cache_question *q, const char *attribute,
                          double number)
{
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], attribute);
    finding_measured(f, number);
    finding_interval(f, number, number, -1);
    if (q->eviction.fits != NULL)
        finding_cite(f, q->eviction.fits);
    if (q->eviction.overflows != NULL)
        finding_cite(f, q->eviction.overflows);
}

static void refuse(struct cache_question *q, const char *attribute,
                   const char *why)
{
    lab_refuse(q->lab,
               lab_text(q->lab, "%s.%s", code_components[q->i], attribute),
               "%s", why);
}

/* By loads of one line more than a set holds, at random. */
static void report_policy(struct cache_question *q, const struct shape *s)
{
    enum { VISITS = 600, DRAWS = 3 };
    const struct segment set = {s->start, s->ways + 1, s->step};
    struct eviction_draws d = {.list = lines_of(q->lab, &set),
                               .visits = VISITS};
    struct policy_load *const loads =
        lab_alloc(q->lab, DRAWS * (VISITS + s->ways + 1), sizeof *loads);
    size_t count = 0;
    if (s->ways < 2 || !fill_nearer(q, s->step)) {
        refuse(q, "policy", s->ways < 2 ? why_one_way : why_code_no_room);
        return;
    }
    /* A launch finds the caches empty, or what the last one left. */
    q->eviction.lasting = false;
    d.base = q->eviction.hit;
    for (d.take = 1; d.take <= DRAWS; d.take++)
        count += eviction_draw(&q->eviction, &d, loads + count);
    const struct policy_verdict v =
        lab_ok(q->lab) ? policy_find(loads, count, (uint32_t)s->ways, false)
                       : (struct policy_verdict){0};
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], "policy");
    if (v.known && v.ambiguous)
        finding_none(f, why_policies_alike, cache_policy_name(v.policy),
                     cache_policy_name(v.runner_up));
    else if (!v.known)
        finding_none(f, why_code_policy);
    else {
        q->level->swept = v.policy == POLICY_LRU || v.policy == POLICY_FIFO;
        finding_value(f, STATUS_MEASURED,
                      value_text(cache_policy_name(v.policy)));
    }
}

/* The median of a lap changes where half of its lines miss: that is no earlier
 * than where one does, and, of sets of one way at least, when it is a third
 * more at the latest. */
static bool agrees(const struct cache_question *q, const struct shape *s)
{
    const double lines = (double)(s->step * s->ways) / PLACE;
    const double part = (double)u64_min(s->line, PLACE) / PLACE;
    return lines > 0.7 * part * (double)q->fits &&
           lines < 1.15 * (double)q->over;
}

/* Where the sets are not known: of the longest lap of which nearly all lines
 * hit, nine in ten certainly fit. */
static void leave_irregular(struct cache_question *q)
{
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], "size");
    const struct curve *const c = q->curve;
    size_t i = c->plateau[q->i].last;
    while (i > 0 && c->most[i] > hits_limit(c->plateau[q->i].value,
                                            c->plateau[q->i + 1].value))
        i--;
    q->level->size = c->lines[i] * 9 / 10 * u64_min(PLACE, q->eviction.unit);
    finding_value(f, STATUS_AT_LEAST, value_number((double)q->level->size));
    finding_because(f, why_code_irregular);
    finding_cite(f, c->experiment);
    /* In lines, of which the size is not known now. */
    if (q->i == 0)
        finding_none(lab_finding(q->lab, code_components[0], "prefetch"), "%s",
                     why_code_irregular);
    refuse(q, "*", why_code_irregular);
}

static void report_shape(struct cache_question *q)
{
    struct shape s = {0};
    /* Where the nearer cache keeps some lines of a lap, this one is not asked
     * for them. */
    const bool found = (q->i == 0 || q->level[-1].swept) && find_shape(q, &s);
    if (eviction_gave_up(&q->eviction) || !found || !agrees(q, &s)) {
        if (lab_ok(q->lab))
            leave_irregular(q);
        return;
    }
    *q->level = (struct code_level){.size = s.step * s.ways,
                                    .line = s.line,
                                    .penalty = q->level->penalty,
                                    .limit = q->level->limit,
                                    .exact = true,
                                    .step = s.step,
                                    .ways = s.ways};
    report_number(q, "line", (double)s.line);
    report_number(q, "ways", (double)s.ways);
    report_number(q, "sets", (double)s.sets);
    report_number(q, "size", (double)q->level->size);
    report_policy(q, &s);
}

/* By how much one call in ten of a plateau's laps is dearer than most. */
static double blur_of(const struct cache_question *q, const struct plateau *p)
{
    const struct curve *const c = q->curve;
    double *const more = lab_alloc(q->lab, c->count, sizeof *more);
    for (size_t i = p->first; i <= p->last; i++)
        more[i - p->first] = c->most[i] - c->cycles[i];
    return stats_median(more, p->last - p->first + 1);
}

static double blur_of_step(const struct cache_question *q)
{
    const struct plateau *const p = &q->curve->plateau[q->i];
    return fmax(blur_of(q, &p[0]), blur_of(q, &p[1]));
}

/* Where that is a quarter of what a miss adds, medians move with it. */
static bool is_blurred(const struct cache_question *q)
{
    const struct plateau *const p = &q->curve->plateau[q->i];
    return blur_of_step(q) > 0.25 * (p[1].value - p[0].value);
}

static void report_penalty(struct cache_question *q)
{
    const struct plateau *const p = &q->curve->plateau[q->i];
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], "miss_penalty");
    const double cycles = p[1].value - p[0].value;
    /* Of laps of which little more than half miss the median is among the
     * cheapest misses: two deviations off, of which `blur` is more than one. */
    const double doubt =
        assume(ASSUME_CODE_DOUBT) * cycles + 1 + 2 * blur_of_step(q);
    finding_measured(f, cycles);
    finding_interval(f, cycles - doubt, cycles + doubt, -1);
    finding_protocol(f, "of", value_text("a missed line"));
    finding_protocol(f, "code", value_text("called, 128 B"));
    finding_cite(f, q->curve->experiment);
}

static void icache_ask_level(struct lab *lab, const struct curve *c, size_t i,
                             uint64_t ahead)
{
    struct code_level *const level = &fact_code_write(lab)->level[i];
    const struct plateau *const p = &c->plateau[i];
    struct cache_question q = {
        .lab = lab,
        .curve = c,
        .i = i,
        .level = level,
        .ahead = ahead,
        .fits = c->lines[p[0].last],
        .over = c->lines[p[1].first],
        .eviction = {.lab = lab,
                     .reader = "code",
                     .unit = u64_max(level->line, PLACE / 2),
                     .span = POOL,
                     .lasting = true,
                     .hit = p[0].value,
                     .miss = p[1].value,
                     .disturbed = assume(ASSUME_DISTURBED)},
    };
    level->penalty = p[1].value - p[0].value;
    level->limit = hits_limit(p[0].value, p[1].value);
    if (is_blurred(&q)) {
        level->line = 0;
        refuse(&q, "*", why_misses_alike);
        return;
    }
    report_penalty(&q);
    if (level->line == 0) {
        refuse(&q, "*", why_code_line);
        return;
    }
    if (i > 0)
        lab_absent(lab, code_components[i], "prefetch");
    report_shape(&q);
}

/* That there are no more is no gap; that there is none may be. */
static void leave_rest(struct lab *lab, size_t levels)
{
    for (size_t i = u64_max(levels, 1); i < CODE_LEVELS_MAX; i++)
        for (const struct answer *a = answers; a->attribute != NULL; a++)
            lab_absent(lab, code_components[i], a->attribute);
    fact_code_write(lab)->count = levels;
    fact_code_write(lab)->why = why_code_no_plateau;
    lab_leave_open(lab, why_code_no_plateau);
}

static void icache_run(struct lab *lab)
{
    struct curve c = {0};
    draw_curve(lab, &c);
    const size_t levels = c.plateau_count > 0 && c.plateau[0].first == 0
                              ? u64_min(c.plateau_count - 1, CODE_LEVELS_MAX)
                              : 0;
    uint64_t ahead = 0;
    if (lab_ok(lab) && levels > 0) {
        find_lines(lab, &c, levels);
        ahead = report_prefetch(lab, &c);
    }
    for (size_t i = 0; lab_ok(lab) && i < levels; i++)
        icache_ask_level(lab, &c, i, ahead);
    if (lab_ok(lab))
        leave_rest(lab, levels);
}

const struct study study_icache = {
    .name = "icache",
    .question = "How much code do the instruction caches hold, in which lines?",
    .method =
        "Calls of small functions in chosen orders, a cost for each: laps "
        "over ever more of them have a plateau for each level, and "
        "functions at ever larger steps fit as many as their sets have "
        "ways. Cold code shows lines, and what is fetched ahead.",
    .reads = reads,
    .needs = needs,
    .answers = answers,
    .kernels = kernels,
    .run = icache_run,
};
