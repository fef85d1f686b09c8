#include "study/code/code_trace.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/rng.h"
#include "study/script.h"

/* So many calls are judged, where a block has room for their cycles. */
enum { JUDGED = 4000, KEPT_MOST = 10000, SETTLE = 500 };

const double code_levels_apart = 0.06;

uint64_t code_calls_most(double cycles)
{
    /* A twentieth less, as a margin. */
    const double turn = 0.95 * 4.06e6, around = 700;
    return (uint64_t)(turn / (around + cycles));
}

/* Half of all calls also run through what stands before the end of a function,
 * where that is of another line and does not come by itself. */
static bool calls_halves(const struct code_path *path)
{
    return path->ahead[0] == 0 && path->line > 0 && path->line < CODE_PLACE;
}

static bool is_whole(uint64_t at)
{
    return at % CODE_PLACE != CODE_TAIL && at % CODE_HALVED != CODE_HALF_TAIL;
}

/* Whether of a function the first half is called, too: of each, as a whole, or
 * where it can be called alone. */
static bool calls_first_half(const struct code_calls *calls, uint64_t each,
                             uint64_t function)
{
    return each > 1 ||
           (calls->halves && function * CODE_PLACE % CODE_HALVED == 0);
}

/* About so many functions of twice as many, picked by chance: so some sets of a
 * cache have many of them and some few. */
static struct script_lines
pick_some(struct lab *lab, const struct code_calls *calls, uint64_t each)
{
    const uint64_t functions = calls->functions;
    const uint64_t window = u64_min(2 * functions, CODE_POOL / CODE_PLACE);
    struct script_lines list = {lab_alloc(lab, 2 * window, sizeof *list.at), 0};
    struct rng rng;
    rng_seed(&rng, 1);
    for (uint64_t i = 0; i < window; i++) {
        const uint64_t at = i * CODE_PLACE + CODE_TAIL;
        if (rng_below(&rng, window) >= functions)
            continue;
        if (calls_first_half(calls, each, i))
            list.at[list.count++] = at - CODE_PLACE / 2;
        list.at[list.count++] = at;
    }
    return list;
}

/* What such a call fetches ahead is not called unless it is far away. */
static struct script_lines
pick_sparse(struct lab *lab, const struct code_calls *calls, bool halves)
{
    struct script_lines list = {
        lab_alloc(lab, calls->functions * 2, sizeof *list.at), 0};
    for (uint64_t i = 0; i < calls->functions; i++) {
        const uint64_t at = i * calls->apart * CODE_HALVED;
        if (halves)
            list.at[list.count++] = at + CODE_HALF_TAIL;
        list.at[list.count++] = at + CODE_TAIL;
    }
    return list;
}

/* Takes room for lines of a cache if there is; `room` and `taken` say what is.
 */
static bool take_room(const struct trace_fit *fit, uint64_t from, uint64_t to,
                      uint64_t *room, bool *taken)
{
    uint64_t line = from;
    while (line <= to && (taken[line] || room[trace_fit_set(fit, line)] > 0)) {
        room[trace_fit_set(fit, line)] -= !taken[line];
        line++;
    }
    const bool fits = line > to;
    while (!fits && line-- > from)
        room[trace_fit_set(fit, line)] += !taken[line];
    for (line = from; fits && line <= to; line++)
        taken[line] = true;
    return fits;
}

/* All functions have numbers of so many bits. */
enum { FUNCTION_BITS = 11, FUNCTIONS_ALL = 1 << FUNCTION_BITS };
static_assert(CODE_POOL / CODE_PLACE <= FUNCTIONS_ALL, "function_bits");

/* In this order those are first that are alike in the most low bits. */
static uint64_t bits_reversed(uint64_t i)
{
    uint64_t reversed = 0;
    for (int bit = 0; bit < FUNCTION_BITS; bit++, i >>= 1)
        reversed = reversed << 1 | (i & 1);
    return reversed;
}

/* Functions that fit with those lines of the nearest cache that come with them,
 * picked by chance, or those that are alike, until hardly any other does. */
static struct script_lines pick_fitting(struct lab *lab,
                                        const struct code_path *path,
                                        const struct code_calls *calls)
{
    enum { SPARE = 1, OWN_SPARE = 3 };
    const struct trace_fit *const fit = calls->fitting;
    const uint64_t window = CODE_POOL / CODE_PLACE;
    const uint64_t tries = calls->alike ? FUNCTIONS_ALL : window;
    const uint64_t bytes = calls->ahead * path->line;
    const uint64_t lines = (CODE_POOL + bytes) / fit->model_line + 1;
    struct script_lines list = {lab_alloc(lab, window, sizeof *list.at), 0};
    uint64_t *const room = lab_alloc(lab, fit->model_sets, sizeof *room);
    bool *const taken = lab_alloc(lab, lines, sizeof *taken);
    bool *const called = lab_alloc(lab, FUNCTIONS_ALL, sizeof *called);
    struct rng rng;
    for (uint64_t set = 0; set < fit->model_sets; set++) {
        const uint64_t ways = trace_fit_ways(fit, set);
        const uint64_t own = ways < fit->model_ways ? OWN_SPARE : SPARE;
        const uint64_t spare = calls->less + (calls->spare ? own : 0);
        room[set] = calls->more_ways > 0 ? ways + calls->more_ways
                    : ways > spare       ? ways - spare
                                         : 1;
    }
    rng_seed(&rng, calls->take - calls->again);
    for (uint64_t i = 0; i < tries; i++) {
        const uint64_t function =
            calls->alike ? bits_reversed(i) : rng_below(&rng, window);
        const uint64_t at = function * CODE_PLACE + CODE_TAIL;
        if (function < window && !called[function] &&
            take_room(fit, at / fit->model_line, (at + bytes) / fit->model_line,
                      room, taken))
            list.at[list.count++] = at;
        called[function] = true;
    }
    return list;
}

/* In an order in which none brings the next. */
static void shuffle(const struct script_lines *list)
{
    struct rng rng;
    rng_seed(&rng, 1);
    for (size_t i = list->count; i > 1; i--) {
        const size_t k = rng_below(&rng, i);
        const uint64_t at = list->at[i - 1];
        list->at[i - 1] = list->at[k];
        list->at[k] = at;
    }
}

/* Calls at random fill the caches: twice as many as there are places, and so
 * many that nothing is left of what ran before, which victims that are not the
 * oldest may leave for some hundred calls.  Where there is no time for that a
 * lap does, and a few more. */
static bool plan_draws(const struct code_calls *calls, uint64_t places,
                       uint64_t each, struct code_draws *d)
{
    const uint64_t judged = each * JUDGED;
    const uint64_t most =
        u64_min(each * calls->most, KEPT_MOST) / (1 + calls->more);
    const bool lap = 2 * places + judged / 2 > most;
    d->settle = lap ? places + places / 8 : u64_max(2 * places, SETTLE);
    d->count = u64_min(d->settle + judged, u64_max(most, places * 3 / 2));
    return lap;
}

struct code_draws code_draw(struct lab *lab, const struct code_path *path,
                            const struct code_calls *calls)
{
    const uint64_t each = calls_halves(path) ? 2 : 1;
    const struct script_lines list =
        calls->fitting != NULL ? pick_fitting(lab, path, calls)
        : calls->apart > 0 ? pick_sparse(lab, calls, path->line < CODE_PLACE)
                           : pick_some(lab, calls, each);
    const bool listed =
        calls->uneven || calls->apart > 0 || calls->fitting != NULL;
    const uint64_t places = listed ? list.count : each * calls->functions;
    struct code_draws d = {.functions = calls->functions};
    const bool lap = plan_draws(calls, places, each, &d);
    struct script s = {0};
    if (listed && lap)
        shuffle(&list);
    script_reader(&s, "code");
    script_add(&s, &(struct script_step){
                       .timed = true,
                       .laps = calls->more > 0 ? 1 + calls->more : 0,
                       .draws = d.count,
                       .places = {CODE_TAIL - (each - 1) * CODE_PLACE / 2,
                                  places, CODE_PLACE / each},
                       .lines = listed ? &list : NULL});
    const struct samples *const samples = lab_probe(
        lab, "visit %s lap=%d take=%u", script_text(&s, lab), lap, calls->take);
    const struct column cycles = lab_column_of(lab, samples, "cycles");
    d.cycles = cycles.at;
    d.offset = lab_column_of(lab, samples, "offset").at;
    d.count = cycles.count;
    d.experiment = cycles.experiment;
    return d;
}

bool code_judged(const struct code_draws *draws, size_t i)
{
    return i >= draws->settle && !is_whole((uint64_t)draws->offset[i]);
}

const struct code_late *code_late_of(const struct code_path *path,
                                     double cycles)
{
    for (size_t i = 0; i < path->lates; i++)
        if (fabs(cycles - path->late[i].cycles) <= path->late[i].within)
            return &path->late[i];
    return NULL;
}

size_t code_served(const struct code_path *path, double cycles)
{
    const struct code_late *const late = code_late_of(path, cycles);
    size_t level = 0;
    if (late != NULL)
        return late->level;
    while (level < path->levels && cycles > path->limit[level])
        level++;
    return level;
}

struct walk {
    const struct code_path *path;
    size_t level;
    struct cache *nearer[CODE_LEVELS_MAX]; /* NULL: not known */
    struct trace trace;
};

/* The loop that calls has its lines there before each call. */
static void touch_own(struct walk *w)
{
    for (size_t i = 0; i < w->level; i++)
        if (w->nearer[i] != NULL)
            trace_fit_neighbour(&w->path->fit[i], w->nearer[i]);
}

/* A line, so many behind the one that is called, goes on to the level unless a
 * nearer cache, to which it comes, too, is known to have it: of victims of
 * chance nobody knows which those are. */
static void ask_ahead(struct walk *w, uint64_t at, uint64_t lines)
{
    bool found = false;
    for (size_t i = 0; !found && i < w->level; i++)
        found = w->nearer[i] != NULL &&
                lines <= (i == 0 ? w->path->near : w->path->ahead[i]) &&
                cache_access(w->nearer[i], at) == CACHE_HIT;
    if (!found)
        w->trace.visits[w->trace.count++] = (struct trace_visit){.at = at};
}

static void ask(struct walk *w, uint64_t at, size_t served, bool judged)
{
    for (size_t i = 0; i < w->level && i <= served; i++)
        if (w->nearer[i] != NULL)
            cache_access(w->nearer[i], at);
    if (served < w->level)
        return;
    w->trace.visits[w->trace.count++] =
        (struct trace_visit){.at = at,
                             .call = true,
                             .seen = !judged              ? TRACE_UNSEEN
                                     : served == w->level ? TRACE_HIT
                                                          : TRACE_MISS};
}

/* Lines that come to a level behind one that another served. */
static uint64_t lines_ahead(const struct code_path *path, size_t level,
                            size_t served)
{
    if (served == 0)
        return path->on_hits ? path->near : 0;
    return level == 0 && served == 1 ? path->near : path->ahead[level];
}

struct trace code_trace(struct lab *lab, const struct code_path *path,
                        const struct code_draws *draws, size_t level)
{
    struct walk w = {.path = path, .level = level};
    const uint64_t most = u64_max(path->near, path->ahead[level]);
    w.trace.visits =
        lab_alloc(lab, draws->count * (2 + most), sizeof *w.trace.visits);
    for (size_t i = 0; i < level; i++)
        if (path->sector[i] > 0 && !trace_fit_is_chance(&path->fit[i]))
            w.nearer[i] = trace_fit_cache(&path->fit[i], path->sector[i]);
    for (size_t i = 0; i < draws->count; i++) {
        const uint64_t at = (uint64_t)draws->offset[i];
        const size_t served = code_served(path, draws->cycles[i]);
        touch_own(&w);
        if (is_whole(at)) {
            ask_ahead(&w, at, 0);
            if (level == 0)
                w.trace.visits[w.trace.count - 1].call = true;
            if (at % 1024 > CODE_PLACE) /* those return half-way */
                ask_ahead(&w, at + CODE_PLACE / 2, 0);
            continue;
        }
        ask(&w, at, served, code_judged(draws, i));
        for (uint64_t k = 1; k <= lines_ahead(path, level, served); k++)
            ask_ahead(&w, (at / path->line + k) * path->line, k);
    }
    for (size_t i = 0; i < level; i++)
        if (w.nearer[i] != NULL)
            cache_free(w.nearer[i]);
    return w.trace;
}
