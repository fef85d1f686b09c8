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
 * Lines and what is fetched ahead show in code that is cold.  Then functions
 * are called in random order, and the cache is the one of which a model
 * foretells which calls hit (analysis/structure/trace_fit.h): nothing need be
 * regular for it but the cache.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/curve/mode_between.h"
#include "analysis/curve/plateaus.h"
#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/code/code_trace.h"
#include "study/lab.h"
#include "study/script.h"

const char *const code_components[CODE_LEVELS_MAX + 1] = {
    "icache_l0", "icache_l1", "icache_l15", NULL};

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

enum { KIB = 1024, POINTS_MOST = 512 };

/* ---- laps over ever more lines ----------------------------------------- */

/* Functions from `from` on, or the first half of them, backwards as the head
 * says. */
enum { APART = 8 };

static void add_backwards(struct script *s, uint64_t from, uint64_t lines,
                          bool timed, bool half)
{
    for (uint64_t i = APART; i-- > (half ? APART / 2 : 0);)
        if (i < lines)
            script_add(s, &(struct script_step){
                              .timed = timed,
                              .places = {from + i * CODE_PLACE + CODE_TAIL,
                                         (lines - i + APART - 1) / APART,
                                         APART * CODE_PLACE}});
}

struct point {
    uint64_t lines;
    const double *calls;
    size_t count;  /* of them */
    double cycles; /* of a call, at the median … */
    double most;   /* … and of nine in ten */
    const char *experiment;
};

struct curve {
    size_t count;
    struct point point[POINTS_MOST];
    size_t plateau_count;
    struct plateau plateau[CODE_LEVELS_MAX + 2];
    bool hidden[CODE_LEVELS_MAX + 2]; /* the plateau is of single calls */
};

/* Four laps, of which the first two bring the lines in; of many lines one that
 * does and half of one, since a launch must fit a turn where all come from L2.
 */
enum { LAUNCH = 3072 };

static struct point measure_laps(struct lab *lab, uint64_t lines)
{
    const bool few = 4 * lines <= LAUNCH;
    struct script s = {0};
    script_reader(&s, "code");
    if (!few)
        add_backwards(&s, 0, lines, false, false);
    add_backwards(&s, 0, lines, true, !few);
    const struct column row = lab_column(lab, "cycles", "visit %s rounds=%d",
                                         script_text(&s, lab), few ? 4 : 1);
    const size_t warm = few ? 2 * lines : 0;
    struct point p = {.lines = lines,
                      .calls = row.at + warm,
                      .count = row.count - warm,
                      .experiment = row.experiment};
    if (lab_ok(lab) && stats_min(row.at, row.count) <= 0)
        lab_fail(lab, ERR_UNSUPPORTED, why_code_no_lines);
    if (lab_ok(lab)) {
        p.cycles = stats_median(p.calls, p.count);
        /* All but a tenth, which may be late. */
        p.most = stats_quantile(p.calls, p.count, 0.9);
    }
    return p;
}

static int by_cycles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What calls cost that one level serves.  They differ by where the function
 * lies, which is no noise of which several deviations lie near: of a step three
 * times as much would, and with it what is late by a part of a miss. */
static struct undisturbed calls_cost(const double *cycles, size_t count)
{
    return undisturbed_of(cycles, count, assume(ASSUME_CODE_STRAY) / 3);
}

static int by_lines(const void *a, const void *b)
{
    const uint64_t x = ((const struct point *)a)->lines;
    const uint64_t y = ((const struct point *)b)->lines;
    return (x > y) - (x < y);
}

static void add_point(struct lab *lab, struct curve *c, uint64_t n)
{
    const struct point p = measure_laps(lab, n);
    if (lab_ok(lab) && c->count < POINTS_MOST)
        c->point[c->count++] = p;
}

/* The sizes from one to another, both left out, so many an octave. */
static void add_points(struct lab *lab, struct curve *c, uint64_t from,
                       uint64_t to, uint64_t octave)
{
    for (uint64_t n = from + u64_max(from / octave, 1); lab_ok(lab) && n < to;
         n += u64_max(n / octave, 1))
        add_point(lab, c, n);
}

/* Of a plateau's calls the share that costs more than `above` up to `most`. */
static double plateau_share(const struct curve *c, size_t i, double above,
                            double most)
{
    size_t calls = 0, within = 0;
    for (size_t k = c->plateau[i].first; k <= c->plateau[i].last; k++) {
        const struct point *const p = &c->point[k];
        calls += p->count;
        within += hits_above(p->calls, p->count, above) -
                  hits_above(p->calls, p->count, most);
    }
    return (double)within / (double)calls;
}

/* Whether calls of the next plateau cost something else: of its own more lie
 * between the middles to those beside it, by two thirds rightly told and one
 * wrongly.  Else it is none, be it that laps of hits and misses have a median
 * in between, or that what disturbs calls is more than what they differ by. */
static bool is_apart(const struct curve *c, size_t i)
{
    const struct plateau *const p = &c->plateau[i];
    const double above = i > 0 ? hits_limit(p[-1].value, p->value) : -INFINITY;
    const double most = hits_limit(p->value, p[1].value);
    return plateau_share(c, i, above, most) -
               plateau_share(c, i + 1, above, most) >=
           assume(ASSUME_CODE_TOLD);
}

/* Of two that are not apart the shorter one is none. */
static void drop_plateaus(struct curve *c)
{
    for (size_t i = 0; i + 1 < c->plateau_count;) {
        const struct plateau *const p = &c->plateau[i];
        if (is_apart(c, i)) {
            i++;
            continue;
        }
        size_t drop =
            p[0].last - p[0].first < p[1].last - p[1].first ? i : i + 1;
        for (c->plateau_count--; drop < c->plateau_count; drop++)
            c->plateau[drop] = c->plateau[drop + 1];
        i = 0;
    }
}

/* Laps over fewer lines cost no more than over more, or something else emptied
 * the caches meanwhile. */
static void drop_disturbed(struct curve *c, const struct plateaus_rule *rule)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct point *const p = &c->point[i];
        const double least = (p->cycles - rule->floor) / (1 + rule->change);
        if (i + 2 >= c->count || p[1].cycles >= least || p[2].cycles >= least)
            c->point[kept++] = *p;
    }
    c->count = kept;
}

static void find_plateaus(struct lab *lab, struct curve *c)
{
    /* Values that each lie by `change` off their middle differ by twice that:
     * two plateaus by more.  A clock may count in steps of two. */
    const struct plateaus_rule rule = {.least = 3,
                                       .change = assume(ASSUME_CODE_ALIKE),
                                       .floor = 2,
                                       .distance = code_levels_apart};
    qsort(c->point, c->count, sizeof *c->point, by_lines);
    drop_disturbed(c, &rule);
    double *const cycles = lab_alloc(lab, c->count, sizeof *cycles);
    for (size_t i = 0; i < c->count; i++)
        cycles[i] = c->point[i].cycles;
    c->plateau_count =
        plateaus_find(cycles, c->count, &rule, c->plateau, CODE_LEVELS_MAX + 2);
    drop_plateaus(c);
}

/* The calls of some points in a row, the cheapest first. */
static struct mode_samples calls_of(struct lab *lab, const struct curve *c,
                                    size_t first, size_t last)
{
    size_t count = 0;
    for (size_t k = first; k <= last; k++)
        count += c->point[k].count;
    double *const calls = lab_alloc(lab, count, sizeof *calls);
    count = 0;
    for (size_t k = first; k <= last; k++) {
        memcpy(calls + count, c->point[k].calls,
               c->point[k].count * sizeof *calls);
        count += c->point[k].count;
    }
    qsort(calls, count, sizeof *calls, by_cycles);
    return (struct mode_samples){calls, count};
}

/* Where most calls of a plateau come late their median is what none costs, and
 * those that do not seem a level of their own; but what they cost is that of
 * the level, unless they are those that the one before still has. */
static void settle_late(struct lab *lab, struct curve *c)
{
    for (size_t i = 1; lab_ok(lab) && i < c->plateau_count; i++) {
        struct plateau *const p = &c->plateau[i];
        const struct mode_samples calls = calls_of(lab, c, p->first, p->last);
        const double cycles = calls_cost(calls.sorted, calls.count).cycles;
        if (cycles < p->value * (1 - code_levels_apart) &&
            cycles > p[-1].value * (1 + code_levels_apart))
            p->value = cycles;
    }
}

/* Whether a call of that level costs so much that returns to a line or two of
 * the loop which the nearest cache has no more: how often it has not hangs on
 * how many lines a lap has. */
static bool is_of_loop(const struct curve *c, size_t i, double value,
                       double alike)
{
    const double more = i > 0 ? c->plateau[1].value - c->plateau[0].value : 0;
    for (int lines = 1; i > 0 && lines <= 2; lines++)
        if (fabs(value - c->plateau[i].value - lines * more) < alike * value)
            return true;
    return false;
}

/* What is nearer to what most calls cost than three standard deviations is of
 * no other level: no valley parts the two (analysis/curve/levels.h). */
static double strays_to(const struct mode_samples *calls, int side)
{
    enum { DEVIATIONS = 3 };
    const struct undisturbed u = calls_cost(calls->sorted, calls->count);
    return u.cycles + side * DEVIATIONS * u.spread;
}

/*
 * A cache hardly larger than the one before, or of random victims where both
 * are about as large, serves most calls of no lap, and has no plateau; but
 * calls cost what it takes to find them there.  What the halves of the plateaus
 * cost that lie farther from each other is of one level each; of what lies
 * between them a tenth of the calls that cost something third is far more than
 * return late.  The plateau is the point that has the most of these.
 */
static bool find_hidden(struct lab *lab, const struct curve *c, size_t i,
                        struct plateau *hidden)
{
    const double alike = 2 * assume(ASSUME_CODE_ALIKE);
    const struct plateau *const p = &c->plateau[i];
    const size_t from = (p[0].first + p[0].last) / 2;
    const size_t to = (p[1].first + p[1].last + 1) / 2;
    const struct mode_samples near = calls_of(lab, c, p[0].first, from);
    const struct mode_samples far = calls_of(lab, c, to, p[1].last);
    const double above = strays_to(&near, 1), below = strays_to(&far, -1);
    const struct mode_rule rule = {
        .width = alike,
        .above = fmax(p[0].value * (1 + code_levels_apart), above),
        .below = fmin(p[1].value * (1 - code_levels_apart), below),
        .share = 0.1};
    double most = 0;
    for (size_t k = from + 1; k < to; k++) {
        const struct mode_samples at = calls_of(lab, c, k, k);
        double value = 0;
        const double share = mode_between(&near, &far, &at, &rule, &value);
        if (share > most && !is_of_loop(c, i, value, alike)) {
            most = share;
            *hidden = (struct plateau){k, k, value};
        }
    }
    return most > 0;
}

static void add_hidden(struct lab *lab, struct curve *c)
{
    for (size_t i = 0; i + 1 < c->plateau_count; i++) {
        struct plateau hidden;
        if (c->plateau_count == COUNT_OF(c->plateau) ||
            !find_hidden(lab, c, i, &hidden))
            continue;
        i++;
        for (size_t k = c->plateau_count++; k > i; k--)
            c->plateau[k] = c->plateau[k - 1];
        c->plateau[i] = hidden;
        c->hidden[i] = true;
    }
}

/* Eight sizes an octave, or each, and four times as many between plateaus:
 * there may be a cache that is hardly larger than the nearer one. */
static void draw_curve(struct lab *lab, struct curve *c)
{
    uint64_t last = 0;
    add_points(lab, c, 3, CODE_POOL / CODE_PLACE + 1, 8);
    if (!lab_ok(lab))
        return;
    find_plateaus(lab, c);
    const struct curve few = *c;
    for (size_t i = 0; i < few.plateau_count; i++) {
        const struct plateau *const p = &few.plateau[i];
        if (last > 0)
            add_points(lab, c, last, few.point[p->first].lines, 32);
        last = few.point[p->last].lines;
    }
    /* … or one that hardly anything there is to call is too much for. */
    if (few.count > 0 && last < few.point[few.count - 1].lines)
        add_points(lab, c, last, CODE_POOL / CODE_PLACE + 1, 32);
    find_plateaus(lab, c);
    settle_late(lab, c);
    add_hidden(lab, c);
}

/* ---- cold code --------------------------------------------------------- */

/* Blocks of code that was pushed out, from the last one down; of each one call,
 * or several, then one at another place, and that place again, which is what a
 * call there costs that hits. */
enum { BLOCK = 2 * KIB, BLOCKS = 16, COLD = BLOCKS * BLOCK };

struct cold_call {
    uint64_t called, then; /* B from the start of a block */
    uint64_t
        over; /* so much other code pushed it out before; 0: all there is */
    uint64_t again; /* behind `called` that is called, too; 0: nothing */
    uint64_t more;  /* calls there before the other place is called */
};

static void push_out(struct script *s, uint64_t lines)
{
    add_backwards(s, COLD, lines, false, false);
}

/* Cycles beyond a hit for the place, in each block.  Where code comes from the
 * next level what comes with it has some calls' time for it. */
enum { TIME = 8 };

static const double *cold_cycles(struct lab *lab, const struct cold_call *call)
{
    const uint64_t laps = (call->over > 0 ? TIME : 0) + call->more;
    double *const extra = lab_alloc(lab, BLOCKS, sizeof *extra);
    struct script s = {0};
    script_reader(&s, "code");
    if (call->over > 0)
        script_load(&s, 0,
                    (struct segment){CODE_TAIL, COLD / CODE_PLACE, CODE_PLACE});
    else
        push_out(&s, (CODE_POOL - COLD) / CODE_PLACE);
    for (uint64_t i = BLOCKS; i-- > 0;) {
        const uint64_t called = i * BLOCK + call->called;
        if (call->over > 0)
            push_out(&s, call->over);
        script_load(&s, 0, (struct segment){called, 1, 0});
        if (call->again > 0)
            script_load(&s, 0, (struct segment){called + call->again, 1, 0});
        if (laps > 0)
            script_add(
                &s, &(struct script_step){
                        .laps = laps, .places = {called + call->again, 1, 0}});
        script_time(&s, 0, (struct segment){i * BLOCK + call->then, 1, 0});
        script_time(&s, 0, (struct segment){i * BLOCK + call->then, 1, 0});
    }
    const struct column c =
        lab_column(lab, "cycles", "visit %s", script_text(&s, lab));
    for (size_t i = 0; lab_ok(lab) && i < BLOCKS; i++)
        extra[i] = c.at[2 * i] - c.at[2 * i + 1];
    return extra;
}

/* ---- the caches -------------------------------------------------------- */

struct cache_question {
    struct lab *lab;
    const struct curve *curve;
    size_t i; /* which */
    struct code_level *level;
    struct code_path *path;
    uint64_t over;         /* functions in a row of which most miss */
    const char *irregular; /* why its sets are not known */
    struct code_draws draws;
};

/* What a miss of the nearest cache costs, where it comes on top. */
static double more_of(const struct curve *c, size_t i)
{
    return i > 0 ? c->plateau[1].value - c->plateau[0].value : 0;
}

/* That is less than nearly as much as a miss of this level, two thirds, so that
 * from either kind of hit the middle is a sixth of a miss away at least. */
static bool is_less(const struct curve *c, size_t i)
{
    const struct plateau *const p = &c->plateau[i];
    return more_of(c, i) < (p[1].value - p->value) * 2 / 3;
}

/* What lies between what a hit costs and a miss.  A call may return to a line
 * of the loop that the nearest cache has no more, and a hit cost that miss as
 * well. */
static double limit_of(const struct curve *c, size_t i)
{
    const struct plateau *const p = &c->plateau[i];
    const double more = is_less(c, i) ? more_of(c, i) : 0;
    return hits_limit(p->value + more, p[1].value);
}

/* Whether it is what calls of another level cost, or as late ones. */
static bool is_of_other(const struct curve *c, const struct code_late *all,
                        size_t count, const struct code_late *late)
{
    for (size_t i = 0; i < c->plateau_count; i++)
        if (fabs(c->plateau[i].value - late->cycles) <= 2 * late->within)
            return true;
    for (size_t i = 0; i < count; i++)
        if (all[i].level != late->level &&
            fabs(all[i].cycles - late->cycles) <= 2 * late->within)
            return true;
    return false;
}

/* What late calls cost where that tells who served them: it may be more than a
 * miss.  In the nearest cache what hits brings nothing that pushes a line of
 * the loop out. */
static void find_late(const struct curve *c, struct code_path *path)
{
    enum { LINES = 2 };
    struct code_late all[LINES * (CODE_LEVELS_MAX + 1)];
    size_t count = 0;
    for (size_t i = 1; i <= path->levels; i++)
        for (int lines = 1; lines <= LINES; lines++) {
            const double cycles = c->plateau[i].value + lines * more_of(c, i);
            all[count++] =
                (struct code_late){i, cycles,
                                   fmax(assume(ASSUME_CODE_STRAY),
                                        assume(ASSUME_CODE_ALIKE) * cycles)};
        }
    for (size_t i = 0; i < count; i++)
        if (all[i].level < path->levels && !is_of_other(c, all, count, &all[i]))
            path->late[path->lates++] = all[i];
}

/* Beyond what a hit in the nearest cache costs: half-way from this one to the
 * next. */
static double extra_limit(const struct curve *c, size_t i)
{
    return hits_limit(c->plateau[i].value, c->plateau[i + 1].value) -
           c->plateau[0].value;
}

/* Where so long a line is looked at whose end was called: at its beginning, or,
 * lest the call runs through two lines of the nearest cache and costs two of
 * its misses, at the end of its first half. */
static uint64_t first_of_line(uint64_t line, uint64_t nearest)
{
    const bool two = nearest > 0 && nearest < CODE_PLACE;
    return BLOCK - (two ? line / 2 + 32 : line);
}

/* In how many blocks a place costs a miss of the level. */
static size_t blocks_missed(const struct curve *c, size_t level,
                            const double *extra)
{
    return hits_above(extra, BLOCKS, extra_limit(c, level));
}

enum { END_OF_BLOCK = BLOCK - 32 };

static const double *after_end(struct lab *lab, uint64_t then)
{
    return cold_cycles(
        lab, &(struct cold_call){.called = END_OF_BLOCK, .then = then});
}

/*
 * Whether the end of a block brings no line with that place: most blocks miss
 * it.  Where a good part of them does, and of the rest not, what comes ahead
 * may have pushed the line out again, or lines of the loop, if victims are of
 * chance.  Then it is missed about as often as the end itself, called again, or
 * as the middle of the block, which is of no line of the end: of 64 blocks,
 * which deviate by four.
 */
static bool is_other_line(struct lab *lab, const struct curve *c, size_t level,
                          const double *extra, uint64_t then)
{
    enum { ROUNDS = 4, AGREE = BLOCKS / 4 };
    const uint64_t middle = BLOCK / 2 - 32;
    size_t missed = blocks_missed(c, level, extra), same = 0, other = 0;
    if (u64_min(missed, BLOCKS - missed) <= AGREE)
        return missed > BLOCKS / 2;
    for (int i = 1; lab_ok(lab) && i <= ROUNDS; i++) {
        same += blocks_missed(c, level, after_end(lab, END_OF_BLOCK));
        other += blocks_missed(c, level, after_end(lab, middle));
        if (i < ROUNDS)
            missed += blocks_missed(c, level, after_end(lab, then));
    }
    return 2 * missed > same + other;
}

/* The longest of 64 … 512 B of which the end brings the first half; so cold
 * code is called backwards, and what is fetched ahead is not met. */
static void find_lines(struct lab *lab, const struct curve *c, size_t levels)
{
    struct fact_code *const code = fact_code_write(lab);
    size_t known = 0;
    for (uint64_t line = 64; lab_ok(lab) && line <= 512 && known < levels;
         line *= 2) {
        const uint64_t then = first_of_line(line, code->level[0].line);
        const double *const extra = after_end(lab, then);
        for (size_t i = known; lab_ok(lab) && i < levels; i++)
            if (code->level[i].line == 0 &&
                is_other_line(lab, c, i, extra, then))
                code->level[i].line = line / 2;
        while (known < levels && code->level[known].line > 0)
            known++;
    }
}

/* Whether a call there fetches one line of the nearest cache and no other. */
static bool is_alone(uint64_t at, uint64_t line)
{
    const uint64_t half =
        at % CODE_HALVED < CODE_PLACE / 2 ? CODE_PLACE / 2 : 0;
    return at / line ==
           (at / CODE_PLACE * CODE_PLACE + CODE_PLACE - 1 - half) / line;
}

/* Finds a place to call, and one to look at in the line of a level that begins
 * so many lines of the nearest cache behind it: in no other does what came
 * ahead not come with what is nearer.  False if there is none in a block. */
static bool find_places(uint64_t line, uint64_t own, uint64_t lines,
                        struct cold_call *call)
{
    const uint64_t tail = u64_min(line, CODE_PLACE) - CODE_PLACE + CODE_TAIL;
    for (uint64_t begin = BLOCK - own; begin >= lines * line; begin -= own) {
        call->called = begin - lines * line + tail;
        /* What is called again may run on through one that came. */
        const bool again =
            lines > 2 || is_alone(call->called + call->again, line);
        call->then = begin + tail;
        while (!is_alone(call->then, line) && call->then < begin + own)
            call->then += line;
        if (again && is_alone(call->called, line) && call->then < begin + own)
            return true;
    }
    return false;
}

/* Whether a call brings the line so many behind its own to a level: to most
 * blocks, and to nearly all of them or nearly none. */
struct ahead_answer {
    bool asked, brought, agree;
    bool came[BLOCKS];
};

static struct ahead_answer ask_ahead(struct lab *lab, const struct curve *c,
                                     size_t level, uint64_t lines,
                                     struct cold_call call,
                                     const struct ahead_answer *before)
{
    struct ahead_answer a = {0};
    const uint64_t line = fact_code(lab)->level[0].line;
    const uint64_t own = fact_code(lab)->level[level].line;
    const size_t other = before != NULL ? BLOCKS / 8 : BLOCKS / 4;
    size_t brought = 0;
    if (own == 0 || !find_places(line, u64_max(line, own), lines, &call))
        return (struct ahead_answer){0};
    const double *const extra = cold_cycles(lab, &call);
    for (size_t i = 0; lab_ok(lab) && i < BLOCKS; i++) {
        a.came[i] = extra[i] < extra_limit(c, level) ||
                    (before != NULL && before->came[i]);
        brought += a.came[i];
    }
    a.asked = true;
    a.brought = brought > BLOCKS / 2;
    a.agree = u64_min(brought, BLOCKS - brought) <= other;
    return a;
}

/* The last line does not come each time (H100: to none to four blocks of 16 it
 * does not, other ones each time; on some GPUs to more).  Where it comes now
 * and then it does come: of two times to all blocks but two, which hits that
 * noise makes of half of the misses, three quarters of both, hardly are; and
 * of the line behind it, which ends the count, they are not as many. */
static struct ahead_answer ask_twice(struct lab *lab, const struct curve *c,
                                     size_t level, uint64_t lines,
                                     struct cold_call call)
{
    const struct ahead_answer a = ask_ahead(lab, c, level, lines, call, NULL);
    call.more = TIME;
    return lab_ok(lab) && a.asked && !a.agree
               ? ask_ahead(lab, c, level, lines, call, &a)
               : a;
}

/* Lines of the nearest cache that a call brings to a level beside its own, the
 * first so many of which it is known to.  Where one cannot be asked, as two
 * lines of 64 B in one of 256 B, that behind it may tell.  `told` is found if
 * nearly all blocks agree; NULL: nobody asks. */
static uint64_t count_ahead(struct lab *lab, const struct curve *c,
                            size_t level, uint64_t lines, struct cold_call call,
                            struct finding *told)
{
    struct ahead_answer a = {.asked = true, .brought = true};
    bool agree = true;
    if (told != NULL)
        lab_cite(lab, told);
    while (lab_ok(lab) && a.brought) {
        uint64_t next = lines;
        do
            a = told != NULL ? ask_twice(lab, c, level, ++next, call)
                             : ask_ahead(lab, c, level, ++next, call, NULL);
        while (!a.asked && next == lines + 1);
        agree = agree && a.agree && (a.brought || next == lines + 1);
        lines = a.brought ? next : lines;
    }
    lab_uncite(lab);
    if (told != NULL && lab_ok(lab) && agree)
        finding_measured(told, (double)lines);
    else if (told != NULL)
        finding_none(told, why_code_ahead);
    return lines;
}

/* To the nearest cache from the next level, be it by a miss alone or by each
 * call. */
static void find_near(struct lab *lab, const struct curve *c,
                      struct code_path *path)
{
    const uint64_t most = (CODE_POOL - COLD) / CODE_PLACE;
    struct finding *const f = lab_finding(lab, code_components[0], "prefetch");
    struct cold_call call = {
        .over = u64_min(c->point[c->plateau[1].first].lines * 5 / 4, most)};
    path->near = count_ahead(lab, c, 0, 0, call, f);
    call.again = path->line;
    if (path->near > 0)
        path->on_hits =
            ask_ahead(lab, c, 0, path->near + 1, call, NULL).brought;
    finding_protocol(f, "after",
                     value_text(path->on_hits ? "each call" : "a miss"));
}

/* To each level from beyond all: what comes to a nearer one comes through it,
 * too. */
static void find_ahead(struct lab *lab, const struct curve *c,
                       struct code_path *path)
{
    uint64_t ahead = 0;
    for (size_t i = 0; lab_ok(lab) && i < path->levels; i++) {
        struct finding *told = NULL;
        if (i > 0)
            told = lab_finding(lab, code_components[i], "prefetch");
        ahead = count_ahead(lab, c, i, ahead, (struct cold_call){0}, told);
        path->ahead[i] = ahead;
    }
}

/* ---- what explains random calls ----------------------------------------- */

/* The loop that calls has lines of its own in the nearest cache, one after the
 * other: it is of 24 instructions, of which assemblers for sm_75 to sm_120 make
 * 36 to 46, and all but the last few, of a lap's end, come at each call.  What
 * lies behind sees them seldom. */
enum { LOOP_LEAST = 24 * 16, LOOP_MOST = 48 * 16, LOOP_EACH = 20 * 16 };

/* Of calls that were judged, so many found their line in the levels up to this
 * one. */
static double share_within(const struct cache_question *q, size_t level)
{
    const struct code_draws *const d = &q->draws;
    size_t within = 0, judged = 0;
    for (size_t i = d->settle; i < d->count; i++)
        if (code_judged(d, i)) {
            within += code_served(q->path, d->cycles[i]) <= level;
            judged++;
        }
    return (double)within / (double)judged;
}

/* True if the nearest cache keeps what is used again and again, so that those
 * behind it are not asked for it. */
static bool keeps_loop(const struct code_path *path)
{
    const enum cache_policy policy = path->fit[0].policy;
    return path->sector[0] > 0 && policy != POLICY_FIFO &&
           !cache_by_chance(policy);
}

/* Lines of the loop that there may be, and what comes after them. */
static size_t own_most(const struct cache_question *q)
{
    const size_t own = LOOP_MOST / q->level->line + 1;
    return q->i == 0             ? own + (q->path->on_hits ? q->path->near : 0)
           : keeps_loop(q->path) ? 0
                                 : own + q->path->near;
}

static size_t own_least(const struct cache_question *q)
{
    const size_t own = LOOP_LEAST / q->level->line;
    return q->i > 0 ? 0 : own + (q->path->on_hits ? q->path->near : 0);
}

static size_t own_each(const struct cache_question *q)
{
    return u64_min(own_least(q), LOOP_EACH / q->level->line);
}

/*
 * Of functions that are called alike often a cache holds some at any time, and
 * a call finds its own as often as it is one of those: of 4000 calls, to less
 * than a hundredth, of which 0.05 are five.  What only nearer caches
 * hold comes on top; and of short lines, of which each function has several,
 * those that are not called may take room, too.
 */
static struct trace_range range_of(const struct cache_question *q)
{
    /* Where calls bring less than all of a function lines may come by parts:
     * nobody's are longer. */
    enum { LONGEST = 256 };
    const double bytes = (double)(q->draws.functions * CODE_PLACE);
    const double within = share_within(q, q->i);
    const double nearer = q->i > 0 ? share_within(q, q->i - 1) : 0;
    const double part = fmin(1, (double)q->level->line / CODE_PLACE);
    return (struct trace_range){
        .sector = q->level->line,
        .longest = q->level->line < CODE_PLACE ? LONGEST : 0,
        .least = 0.95 * part * bytes * (within - nearer) / (1 - nearer),
        .most = 1.05 * bytes * within + 2 * CODE_PLACE,
        .own_least = own_least(q),
        .own_most = own_most(q),
        .own_each = own_each(q),
        .ahead = q->path->on_hits ? 0 : q->path->near};
}

static uint64_t calls_most(const struct cache_question *q)
{
    return code_calls_most(q->curve->plateau[q->i + 1].value);
}

/* Calls of so many functions that this level has a good part of those that get
 * so far, and lacks one: a fifth, so that of 4000 calls 800 are of the rarer
 * kind, which are enough for each step of a search.  A try changes the number
 * by less than a half, so that it does not leap over those that do. */
static void draw_calls(struct cache_question *q)
{
    enum { TRIES = 6 };
    const double part = 0.2;
    uint64_t functions = u64_max(q->over * 5 / 4, 16);
    for (int i = 0; i < TRIES && lab_ok(q->lab); i++) {
        functions = u64_min(functions, CODE_POOL / CODE_PLACE);
        q->draws = code_draw(q->lab, q->path,
                             &(struct code_calls){.functions = functions,
                                                  .most = calls_most(q),
                                                  .take = 1});
        if (!lab_ok(q->lab))
            return;
        const double within = share_within(q, q->i);
        const double nearer = q->i > 0 ? share_within(q, q->i - 1) : 0;
        if (1 - within < part * (1 - nearer))
            functions = functions * 5 / 4;
        else if (within - nearer < part * (1 - nearer))
            functions = functions * 2 / 3;
        else
            return;
    }
}

static struct trace trace_taken(struct cache_question *q,
                                const struct code_calls *calls)
{
    const struct code_draws draws = code_draw(q->lab, q->path, calls);
    struct trace t = code_trace(q->lab, q->path, &draws, q->i);
    t.kind = calls->fitting != NULL ? TRACE_FITTING
             : calls->apart > 0     ? TRACE_APART
                                    : TRACE_MIXED;
    return t;
}

/* The visits of one, of which there may be none, and of another. */
static struct trace trace_joined(struct lab *lab, struct trace one,
                                 struct trace other)
{
    struct trace both = one;
    both.count += other.count;
    both.visits = lab_alloc(lab, both.count, sizeof *both.visits);
    if (one.count > 0)
        memcpy(both.visits, one.visits, one.count * sizeof *one.visits);
    memcpy(both.visits + one.count, other.visits,
           other.count * sizeof *other.visits);
    return both;
}

/* Two launches of calls, if one has not as many that were judged as a search
 * looks at by all its steps. */
static struct trace trace_found(struct cache_question *q,
                                struct code_calls *calls)
{
    enum { ENOUGH = 2000 };
    const struct trace one = trace_taken(q, calls);
    size_t seen = 0;
    for (size_t i = 0; i < one.count; i++)
        seen += one.visits[i].seen != TRACE_UNSEEN;
    if (!lab_ok(q->lab) || seen >= ENOUGH)
        return one;
    calls->take++;
    return trace_joined(q->lab, one, trace_taken(q, calls));
}

/* Functions so many KiB apart that nothing comes to another, though twice as
 * many lines come ahead as were seen to; many, of which the cache holds half,
 * or few more than it does. */
static void call_apart(const struct cache_question *q,
                       const struct trace_fit *fit, bool many,
                       struct code_calls *calls)
{
    const uint64_t ahead = u64_max(q->path->near, q->path->ahead[q->i]);
    calls->apart = 1;
    while (calls->apart * CODE_HALVED < 2 * ahead * q->path->line)
        calls->apart *= 2;
    const uint64_t bytes = calls->apart * CODE_HALVED;
    const uint64_t lines =
        u64_max(bytes / fit->model_line >> fit->model_shift, 1);
    const uint64_t by = fit->model_fold > 0 ? 2 : 1;
    const uint64_t of_line = fit->model_sets / by;
    const uint64_t sets = of_line / u64_gcd(of_line, lines) * by;
    const uint64_t held = sets * fit->model_ways;
    calls->functions =
        u64_min(many ? 2 * held : held + held / 16 + 1, CODE_POOL / bytes);
}

/* Something is there that is in no model. */
static bool is_disturbed(const struct trace_fit *fit)
{
    return !trace_fit_is_chance(fit) &&
           fit->agrees < assume(ASSUME_CODE_AGREES);
}

static bool is_uncertain(const struct trace_fit *fit)
{
    return trace_fit_is_chance(fit) || is_disturbed(fit);
}

/* Of what is uncertain only functions that fit show sets.  If they are spread
 * over others by chance, 0.4 / √ways of them (the mean beyond a normal
 * distribution's mean) fit no more: twice of what the clock may tell wrongly,
 * and chance, up to so many. */
enum { WAYS_SHOWN = 25 };

/* What the clock may tell wrongly of so many calls of lines that fit: no more
 * than of laps over half as much code as this level serves, by five deviations
 * of either number; of these there are few, and none may be late where some of
 * the others are. */
static double late_most(const struct cache_question *q, double fitting)
{
    const struct plateau *const p = &q->curve->plateau[q->i];
    double calls = 0, late = 0;
    for (size_t k = p->first; k <= (p->first + p->last) / 2; k++) {
        const struct point *const lap = &q->curve->point[k];
        calls += (double)lap->count;
        late +=
            (double)hits_above(lap->calls, lap->count, q->path->limit[q->i]);
    }
    const double times = fitting / calls;
    return late * times + 5 * sqrt((late + 1) * times * (1 + times) + 1);
}

/* Sets of more ways than that overflow by a few lines if they are others, be it
 * that some have more ways: a part that models of equal sets may take for what
 * the clock tells wrongly. */
static bool overflows(const struct cache_question *q,
                      const struct trace_fit *fit)
{
    return fit->missed > late_most(q, fit->fitting);
}

/* Whether sets that are others would be seen to, by three deviations: of lines
 * that a nearer cache has hardly any call comes so far. */
static bool would_overflow(const struct cache_question *q,
                           const struct trace_fit *fit)
{
    const double more = 0.4 / sqrt((double)fit->model_ways) * fit->fitting;
    return more - 3 * sqrt(more) > late_most(q, fit->fitting);
}

/* Of fewer ways chance and noise may be what no model has; but not of one way,
 * which leaves chance no choice; nor if sets that should fit overflow, too:
 * then they have unlike many, which equal ones of their mean foretell nearly as
 * well. */
static bool is_shown(const struct cache_question *q,
                     const struct trace_fit *fit)
{
    if (fit->model_ways <= WAYS_SHOWN && !is_disturbed(fit))
        return true;
    return fit->model_ways > 1 && !overflows(q, fit) &&
           (fit->model_ways <= WAYS_SHOWN ||
            (!is_uncertain(fit) && would_overflow(q, fit)));
}

static bool is_one(const struct trace_fit *fit)
{
    return fit->line > 0 && fit->sets > 0 && fit->ways > 0 &&
           fit->runner_up == fit->policy;
}

/* Whether functions that are called in the same order once more hit and miss as
 * before, which victims of chance do not let them.  A call that hits with a
 * chance of p comes out otherwise 2p(1 - p) times, and so as often at least as
 * it is not what is likelier, mostly half as often again: of a thousand calls
 * chance has no three quarters of that.  A cache that is of no model has, and
 * calls that the clock tells wrongly. */
static bool is_same_again(struct cache_question *q, const struct trace_fit *fit)
{
    const struct code_draws draws =
        code_draw(q->lab, q->path,
                  &(struct code_calls){.functions = q->draws.functions,
                                       .uneven = true,
                                       .most = calls_most(q),
                                       .take = 1,
                                       .more = 1});
    const size_t again = draws.count / 2;
    size_t asked = 0, otherwise = 0;
    for (size_t i = draws.settle; lab_ok(q->lab) && i < again; i++) {
        const size_t one = code_served(q->path, draws.cycles[i]);
        const size_t two = code_served(q->path, draws.cycles[again + i]);
        if (!code_judged(&draws, i) || one < q->i || two < q->i)
            continue;
        asked++;
        otherwise += (one == q->i) != (two == q->i);
    }
    return (double)otherwise < 0.75 * (1 - fit->agrees) * (double)asked;
}

/* Ends of functions tell no lines from longer ones where what comes ahead
 * brings all that is between: the end of each that is called stands for its
 * line.  A first half that is called alone is missed in a longer line which its
 * end just brought, and pushed out with it. */
static bool needs_halves(const struct cache_question *q,
                         const struct trace_fit *first)
{
    return first->line == 0 && q->level->line < CODE_PLACE;
}

/* More calls (chance takes twice as many to be told from chance that prefers
 * some ways), and such as nothing that was fetched ahead comes to: of many
 * functions, and of so few that most sets have all of theirs, whatever the
 * policy is. */
static void check_more(struct cache_question *q, struct trace_search *search,
                       struct code_calls *calls, const struct trace_fit *first)
{
    enum { MIXED = 4 };
    const size_t many = (trace_fit_is_chance(first) ? 2 * MIXED : MIXED) + 1;
    const size_t few = many + 1, fitting = few + 1;
    for (size_t i = calls->take; lab_ok(q->lab) && i < fitting;) {
        calls->take = (unsigned)++i;
        calls->apart = 0;
        calls->halves = needs_halves(q, first);
        if (i == many || i == few)
            call_apart(q, first, i == many, calls);
        if (i == fitting)
            calls->fitting = first;
        struct trace check = trace_taken(q, calls);
        check.many = i == many;
        trace_search_check(search, &check);
    }
}

/* What calls bring may be several lines of this level, which chance puts out
 * one by one: that is in no model that is searched, and what foretells best
 * need not be there. */
static bool may_be_in_parts(const struct cache_question *q)
{
    return q->i > 0 &&
           q->level->line <= u64_max(q->level[-1].line, q->path->line);
}

/* Launches that call the same functions for the model, of which the last half
 * of the last one's calls is looked at: what missed, and what of that the clock
 * may have told wrongly. */
struct settled {
    struct trace all;
    double missed, late;
};

static struct settled call_until_settled(struct cache_question *q,
                                         const struct trace_fit *fit,
                                         struct code_calls *calls,
                                         unsigned launches)
{
    struct settled s = {0};
    size_t half = 0, seen = 0;
    calls->apart = 0;
    calls->fitting = fit;
    calls->spare = true;
    if (q->i > 0 && u64_max(q->path->near, q->path->ahead[q->i]) == 0)
        calls->ahead = 0;
    for (calls->again = 0; lab_ok(q->lab) && calls->again < launches;
         calls->again++) {
        calls->take++;
        const struct trace one = trace_taken(q, calls);
        half = s.all.count + one.count / 2;
        s.all = trace_joined(q->lab, s.all, one);
    }
    for (size_t i = 0; i < s.all.count; i++) {
        if (i < half)
            s.all.visits[i].seen = TRACE_UNSEEN;
        seen += s.all.visits[i].seen != TRACE_UNSEEN;
        s.missed += s.all.visits[i].seen == TRACE_MISS;
    }
    s.late = late_most(q, (double)seen);
    return s;
}

/* Whether functions that fit are missed no more at last.  Of random victims
 * lines that fit are missed until chance has taken all that was there before,
 * as such caches tell, be it what was called last or lines of the kernel; lines
 * of sets that are others are missed for ever.  So two launches call the same
 * ones, of which the last half of the calls is looked at; and of many ways a
 * fourth is left, which chance then takes soon.  Where nothing was seen to come
 * ahead no room is left for that, which would be half of it if lines are short;
 * but in the nearest cache lines of the loop may be anywhere.
 *
 * Functions that are picked by chance come to sets that are finer than those of
 * the model, or have bits in them that it has not, nearly evenly, and fit
 * there, too.  Those that are alike in many low bits come to few of them; with
 * what comes ahead there may be so few that they fit in finer sets even so.  Of
 * an index that leaves out bits that they fit says nothing then. */
static bool comes_to_fit(struct cache_question *q, const struct trace_fit *fit,
                         struct code_calls *calls, bool alike)
{
    enum { LAUNCHES = 2 };
    const struct trace_range range = range_of(q);
    calls->alike = alike;
    calls->less = (fit->model_ways - 1) / 4;
    const struct settled s = call_until_settled(q, fit, calls, LAUNCHES);
    const double most = trace_fit_missed_most(fit, &range, &s.all) + s.late;
    const bool finer = alike && fit->model_shift > 0 && may_be_in_parts(q);
    return s.missed <= most &&
           (!finer || trace_fit_missed_finer(fit, &range, &s.all) > most);
}

/*
 * Whether no lines that come in parts, which chance puts out one by one, are
 * there instead.  A call finds all parts as seldom as one of fewer ways, and so
 * they foretell nearly as much; but they have more ways for it.  Of functions
 * of which each set has more than it holds some are missed for ever, where in
 * parts all come to be there.  So many must be that a fourth of what whole
 * lines miss more shows, as what comes ahead leaves sets fewer of them.
 */
static bool is_whole(struct cache_question *q, const struct trace_fit *fit,
                     const struct trace_fit *parts, size_t count,
                     struct code_calls *calls)
{
    enum { LAUNCHES = 4 }; /* hardly fewer than parts have room for settle */
    const struct trace_range range = range_of(q);
    if (count == 0)
        return true;
    calls->alike = false;
    calls->more_ways = 1 + fit->model_ways / 8;
    calls->ahead = u64_max(q->path->near, q->path->ahead[q->i]);
    const struct settled s = call_until_settled(q, fit, calls, LAUNCHES);
    calls->more_ways = 0;
    const double if_whole = trace_fit_missed_most(fit, &range, &s.all);
    bool is = true;
    for (size_t k = 0; k < count; k++) {
        const double in_parts =
            trace_fit_missed_most(&parts[k], &range, &s.all);
        is = is &&
             s.missed - s.late - in_parts > fmax(0, (if_whole - in_parts) / 4);
    }
    if (!is)
        q->irregular = why_code_parts;
    return is;
}

/* Functions that are picked unevenly: what random victims do does not show
 * where all sets are alike, and what is fetched ahead comes less to others.
 * Where several caches foretell them as well, or none does well, more calls
 * decide. */
static bool find_fit(struct cache_question *q, struct trace_fit *fit)
{
    /* Where a call has time a line more comes than was seen of cold code. */
    enum { LATE = 1, SHORTEST = 32 };
    const uint64_t functions = q->draws.functions;
    const struct trace_range range = range_of(q);
    struct code_calls calls = {
        .functions = functions,
        .uneven = true,
        .most = calls_most(q),
        .ahead = LATE + u64_max(q->path->near, q->path->ahead[q->i]),
        .spare = range.own_most > 0};
    calls.take = 1;
    const struct trace found = trace_found(q, &calls);
    calls.take++;
    const struct trace check = trace_taken(q, &calls);
    if (!lab_ok(q->lab))
        return false;
    struct trace_search *const search = trace_search_new(&found, &range);
    trace_search_check(search, &check);
    bool sure = trace_search_judge(search, fit);
    if (fit->model_ways > 0 &&
        (!sure || !is_one(fit) || fit->model_ways > WAYS_SHOWN ||
         fit->agrees < assume(ASSUME_CODE_AGREES))) {
        const struct trace_fit first = *fit;
        check_more(q, search, &calls, &first);
        sure = lab_ok(q->lab) && trace_search_judge(search, fit);
    }
    sure = sure && is_shown(q, fit);
    struct trace_fit parts[TRACE_PARTS_MOST];
    size_t part_count = 0;
    if (sure && trace_fit_is_chance(fit) && may_be_in_parts(q))
        part_count = trace_search_parts(search, fit, SHORTEST, parts);
    trace_search_free(search);
    if (!sure ||
        (trace_fit_is_chance(fit) &&
         (is_same_again(q, fit) || !comes_to_fit(q, fit, &calls, false) ||
          !comes_to_fit(q, fit, &calls, true) ||
          !is_whole(q, fit, parts, part_count, &calls))))
        return false;
    q->path->fit[q->i] = *fit;
    q->path->sector[q->i] = q->level->line;
    return true;
}

static void refuse(struct cache_question *q, const char *attribute,
                   const char *why)
{
    const char *const pattern =
        lab_text(q->lab, "%s.%s", code_components[q->i], attribute);
    lab_refuse(q->lab, pattern, "%s", why);
    lab_cite_none(q->lab, pattern, q->draws.experiment);
}

static void report_policy(struct cache_question *q, const struct trace_fit *fit)
{
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], "policy");
    if (fit->ways == 1)
        finding_none(f, why_one_way);
    else if (trace_fit_is_chance(fit) && fit->sets == 0)
        finding_none(f, why_code_shapes);
    else if (fit->policy == POLICY_WEIGHTED)
        finding_none(f, why_code_weighted);
    else if (is_disturbed(fit))
        finding_none(f, why_code_policy);
    else if (fit->runner_up != fit->policy)
        finding_none(f, why_policies_alike, cache_policy_name(fit->policy),
                     cache_policy_name(fit->runner_up));
    else
        finding_value(f, STATUS_MEASURED,
                      value_text(cache_policy_name(fit->policy)));
    if (fit->policy == POLICY_RANDOM && f->status == STATUS_MEASURED)
        finding_protocol(f, "weights_within",
                         value_number(trace_fit_weights_within()));
    finding_protocol(f, "agrees", value_number(fit->agrees));
    finding_cite(f, q->draws.experiment);
}

/* Where the sets are not known: of the longest lap of which nine lines in ten
 * hit (so many are looked at, as spikes are fewer), as many certainly fit. */
static void leave_irregular(struct cache_question *q)
{
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], "size");
    const struct curve *const c = q->curve;
    size_t i = c->plateau[q->i].last;
    while (i > 0 && c->point[i].most > q->path->limit[q->i])
        i--;
    q->level->size =
        c->point[i].lines * 9 / 10 * u64_min(CODE_PLACE, q->level->line);
    finding_value(f, STATUS_AT_LEAST, value_number((double)q->level->size));
    finding_because(f, "%s", q->irregular);
    finding_cite(f, c->point[i].experiment);
    refuse(q, "*", q->irregular);
}

/* A number that all agree about which explain the calls as well, or the least
 * of theirs; 0: there is none, nor a finding. */
static struct finding *report_agreed(struct cache_question *q,
                                     const char *attribute, uint64_t number,
                                     uint64_t least)
{
    if (number == 0 && least == 0) {
        refuse(q, attribute, why_code_shapes);
        return NULL;
    }
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], attribute);
    if (number > 0)
        finding_measured(f, (double)number);
    else {
        finding_value(f, STATUS_AT_LEAST, value_number((double)least));
        finding_because(f, why_code_shapes);
    }
    if (number > 0)
        finding_interval(f, (double)number, (double)number, -1);
    finding_cite(f, q->draws.experiment);
    return f;
}

static void report_shape(struct cache_question *q)
{
    struct trace_fit fit;
    if (!find_fit(q, &fit)) {
        if (lab_ok(q->lab))
            leave_irregular(q);
        return;
    }
    /* Lines of the loop that chance pushes out and that come back at once hold
     * most of a way, and a way less foretells as well. */
    struct trace_fit shape = fit;
    if (trace_fit_is_chance(&fit))
        shape.ways = shape.size = 0;
    /* What decides may be a policy of more ways or fewer, as chance is: then no
     * number of ways that foretells is the least, but what is held is. */
    if (is_disturbed(&fit) && fit.ways == 0)
        shape.least = u64_min(shape.least, (uint64_t)range_of(q).least);
    /* So many whole ways are held: of a part of one noise may speak. */
    const uint64_t of_set = shape.line * shape.sets;
    if (of_set > 0 && shape.least >= of_set)
        shape.least -= shape.least % of_set;
    report_agreed(q, "line", shape.line, 0);
    struct finding *const sets = report_agreed(q, "sets", shape.sets, 0);
    if (sets != NULL && shape.model_fold > 0)
        finding_protocol(sets, "index", value_text("an XOR of address bits"));
    report_agreed(q, "ways", shape.ways, of_set > 0 ? shape.least / of_set : 0);
    report_agreed(q, "size", shape.size, shape.least);
    q->level->size = shape.least;
    q->level->exact = shape.size > 0;
    q->level->chance = trace_fit_is_chance(&fit);
    q->level->about = fit.model_line * fit.model_sets * fit.model_ways;
    q->level->sets = shape.sets;
    report_policy(q, &fit);
}

/* What a call costs that a level served, of those that are judged, but for
 * those that cost more than a miss; if too many cost something else, that says
 * nothing. */
static struct undisturbed cost_of(struct cache_question *q, size_t level)
{
    const struct code_draws *const d = &q->draws;
    double *const cost = lab_alloc(q->lab, d->count, sizeof *cost);
    size_t count = 0;
    const double most =
        level < q->path->levels ? q->path->limit[level] : INFINITY;
    for (size_t i = d->settle; i < d->count; i++)
        if (code_judged(d, i) && d->cycles[i] <= most &&
            code_served(q->path, d->cycles[i]) == level)
            cost[count++] = d->cycles[i];
    return calls_cost(cost, count);
}

/* What all calls cost in the laps of a plateau: of those that were chosen by
 * what they cost some are others that came late.  But of a level that serves
 * most calls of no lap it is those that it may have served. */
static struct undisturbed plateau_cost(struct cache_question *q, size_t i)
{
    const struct plateau *const p = &q->curve->plateau[i];
    const struct mode_samples calls =
        calls_of(q->lab, q->curve, p->first, p->last);
    double *const cost = lab_alloc(q->lab, calls.count, sizeof *cost);
    size_t count = 0;
    for (size_t k = 0; k < calls.count; k++)
        if (!q->curve->hidden[i] || code_served(q->path, calls.sorted[k]) == i)
            cost[count++] = calls.sorted[k];
    return calls_cost(cost, count);
}

/* What calls cost more in laps of the next plateau than in this one's. */
static double laps_more(struct cache_question *q)
{
    return plateau_cost(q, q->i + 1).cycles - plateau_cost(q, q->i).cycles;
}

/* Whether calls of the next plateau cost hardly more, but for late ones, which
 * then are what seems to miss this level. */
static bool is_late(struct cache_question *q)
{
    const struct plateau *const p = &q->curve->plateau[q->i];
    return 2 * laps_more(q) < p[1].value - p[0].value;
}

/* A quarter of the way from a hit to a miss; what lies so near to the middle is
 * neither. */
static double near_limit(const struct cache_question *q)
{
    return (q->curve->plateau[q->i + 1].value - q->path->limit[q->i]) / 2;
}

/* How many of the calls that are judged cost so much, up to so much off; with
 * those that return to a line of the loop that is gone, or without. */
static size_t calls_near(const struct cache_question *q, double cycles,
                         double off, bool late)
{
    size_t count = 0;
    for (size_t i = q->draws.settle; i < q->draws.count; i++)
        count += code_judged(&q->draws, i) &&
                 fabs(q->draws.cycles[i] - cycles) < off &&
                 (late || code_late_of(q->path, q->draws.cycles[i]) == NULL);
    return count;
}

/* Whether many calls cost neither what a hit does nor what a miss does. */
static bool is_blurred(const struct cache_question *q)
{
    const size_t between =
        calls_near(q, q->path->limit[q->i], near_limit(q), false);
    const size_t judged = calls_near(q, 0, INFINITY, true);
    return (double)between > assume(ASSUME_CODE_BLURRED) * (double)judged;
}

/* Whether the limit to the level after the next one parts calls that the next
 * one served: then those that it leaves are the cheaper ones.  Of a normal
 * distribution that is cut off where a quarter of its height is left the mean
 * moves by a tenth of a deviation. */
static bool is_cut(const struct cache_question *q)
{
    enum { HEIGHT = 4 };
    if (q->i + 1 >= q->path->levels)
        return false;
    const double next = q->curve->plateau[q->i + 1].value;
    const double limit = q->path->limit[q->i + 1], off = (limit - next) / 4;
    return HEIGHT * calls_near(q, limit, off, false) >
           calls_near(q, next, off, false);
}

/* Late calls that lie among the others, at most half of all, raise the mean by
 * no more than a standard deviation: of a share p, d cycles late, by pd, and
 * the deviation is √(p (1 - p)) d. */
static struct undisturbed more_cost(const struct undisturbed *hit,
                                    const struct undisturbed *miss)
{
    struct undisturbed u = undisturbed_less(miss, hit);
    u.low -= miss->spread;
    u.high += hit->spread;
    return u;
}

/* Laps say it, too, where each call is what its plateau is; and they alone
 * where hits that cost a miss of the nearest cache, too, pass for misses of
 * this one.
 */
static void report_penalty(struct cache_question *q)
{
    struct finding *const f =
        lab_finding(q->lab, code_components[q->i], "miss_penalty");
    const struct undisturbed hit = cost_of(q, q->i);
    const struct undisturbed miss = cost_of(q, q->i + 1);
    const struct undisturbed u = more_cost(&hit, &miss);
    const double laps = laps_more(q), least = fmin(u.low, laps);
    if (u.disturbed > assume(ASSUME_CODE_DISTURBED) || least <= 0 ||
        is_cut(q)) {
        finding_none(f, why_misses_alike);
        return;
    }
    finding_measured(f, is_less(q->curve, q->i) ? u.cycles : laps);
    finding_interval(f, least, fmax(u.high, laps), -1);
    if (fabs(laps - u.cycles) > assume(ASSUME_CODE_DOUBT) * u.cycles)
        finding_because(f, why_code_laps, laps);
    finding_cite(f, q->draws.experiment);
    finding_protocol(f, "of", value_text("a missed line"));
    finding_protocol(f, "code", value_text("called, 128 B"));
}

/* Of calls in laps over far more code than this level holds those that the
 * clock takes for hits and that are none.  Some are: of random victims a few
 * lines stay in any lap, and where the next level is hardly larger there is no
 * lap over far more.  But what is early by chance is no more than what is late
 * by as much, or misses the next level, and than what lies around the limit:
 * what strays by a normal distribution lies there more often than beyond it, if
 * a deviation is up to what lies between limit and miss, and nearly as often if
 * it is half as much again.
 */
static double early_share(const struct cache_question *q)
{
    const struct plateau *const p = &q->curve->plateau[q->i + 1];
    const double limit = q->path->limit[q->i], near = near_limit(q);
    size_t calls = 0, early = 0, late = 0, between = 0;
    for (size_t k = (p->first + p->last + 1) / 2; k <= p->last; k++) {
        const struct point *const lap = &q->curve->point[k];
        calls += lap->count;
        early += lap->count - hits_above(lap->calls, lap->count, limit);
        late += hits_above(lap->calls, lap->count, 2 * p->value - limit);
        between += hits_above(lap->calls, lap->count, limit - near) -
                   hits_above(lap->calls, lap->count, limit + near);
    }
    return (double)u64_min(u64_min(early, late), between) / (double)calls;
}

/* Whether of all calls the clock tells more misses wrongly than the cache that
 * is there may leave unforetold: then another may foretell as many. */
static bool is_mistold(const struct cache_question *q)
{
    const double misses = 1 - share_within(q, q->i);
    return !q->curve->hidden[q->i + 1] &&
           early_share(q) * misses > 1 - assume(ASSUME_CODE_AGREES);
}

/* False if hits and misses cannot be told apart, or if hits cost this and that
 * and may be those of two caches: then nobody knows which caches follow. */
static bool icache_ask_level(struct lab *lab, const struct curve *c, size_t i,
                             struct code_path *path)
{
    struct code_level *const level = &fact_code_write(lab)->level[i];
    struct cache_question q = {.lab = lab,
                               .curve = c,
                               .i = i,
                               .level = level,
                               .path = path,
                               .irregular = why_code_irregular,
                               .over = c->point[c->plateau[i + 1].first].lines};
    level->limit = path->limit[i];
    level->reach = u64_max(path->ahead[i], path->near) * path->line +
                   u64_max(level->line, path->line);
    draw_calls(&q);
    if (!lab_ok(lab))
        return false;
    if (is_blurred(&q) || is_mistold(&q) || is_late(&q) ||
        cost_of(&q, i).disturbed > assume(ASSUME_CODE_DISTURBED))
        return false;
    report_penalty(&q);
    if (level->line > 0)
        report_shape(&q);
    else
        refuse(&q, "*", why_code_line);
    return true;
}

/* What a stop kept from being held against how surely misses are told. */
static void forget_ahead(struct lab *lab, size_t from, size_t levels)
{
    for (size_t i = from; i < levels; i++)
        finding_none(lab_finding(lab, code_components[i], "prefetch"), "%s",
                     lab->err.text);
}

static void refuse_from(struct lab *lab, size_t from, size_t levels)
{
    for (size_t i = from; i < levels; i++) {
        finding_none(lab_finding(lab, code_components[i], "prefetch"),
                     why_misses_alike);
        fact_code_write(lab)->level[i].line = 0;
        lab_refuse(lab, lab_text(lab, "%s.*", code_components[i]), "%s",
                   why_misses_alike);
    }
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

static void ask_levels(struct lab *lab, struct curve *c)
{
    draw_curve(lab, c);
    const size_t levels = c->plateau_count > 0 && c->plateau[0].first == 0
                              ? u64_min(c->plateau_count - 1, CODE_LEVELS_MAX)
                              : 0;
    struct code_path path = {.levels = levels};
    for (size_t i = 0; i < levels; i++)
        path.limit[i] = limit_of(c, i);
    if (levels > 0)
        find_late(c, &path);
    if (lab_ok(lab) && levels > 0) {
        find_lines(lab, c, levels);
        path.line = fact_code(lab)->level[0].line;
        find_near(lab, c, &path);
        find_ahead(lab, c, &path);
    }
    size_t told = 0;
    while (lab_ok(lab) && told < levels &&
           icache_ask_level(lab, c, told, &path))
        told++;
    if (!lab_ok(lab)) {
        forget_ahead(lab, told, levels);
        return;
    }
    refuse_from(lab, told, levels);
    leave_rest(lab, levels);
}

/* A curve is 50 KiB, as much as some threads' whole stack. */
static void icache_run(struct lab *lab)
{
    struct curve *const c = xcalloc(1, sizeof *c);
    ask_levels(lab, c);
    free(c);
}

const struct study study_icache = {
    .name = "icache",
    .question = "How much code do the instruction caches hold, in which lines?",
    .method =
        "Calls of small functions in chosen orders, a cost for each: laps "
        "over ever more of them have a plateau for each level. Cold code "
        "shows lines, and what is fetched ahead. Caches of all shapes and "
        "policies are run on calls in random order, and the one that foretells "
        "which of others hit is there.",
    .needs = TEXTS("clock"),
    .answers = answers,
    .kernels = TEXTS("visit readers=code"),
    .run = icache_run,
};
