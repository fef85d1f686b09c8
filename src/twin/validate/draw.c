#include "twin/validate/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"

enum {
    SETS_MOST = 64,
    MORE = 3, /* lines of a set beyond its ways, at least */
    /* Steps that shared memory has room for, with the loads that are kept. */
    STEPS_MOST = 2000,
    TRIES_MOST = 4000000
};

/* Lines, by their number, of the sets that were drawn. */
struct lines {
    uint64_t *at;
    size_t count;
};

struct sets {
    size_t set[SETS_MOST], ways[SETS_MOST];
    struct lines lines[SETS_MOST];
    size_t count;
};

struct draw {
    const struct drawing *d;
    struct cache *cache; /* for its index */
    uint64_t all;        /* lines that there are to choose from */
    size_t held;         /* of them the cache before may hold so many */
    struct cache *front; /* … for its index; NULL: it may hold any */
    bool *come;          /* sets of that one to which all lines come */
};

static size_t set_of(const struct draw *w, uint64_t line)
{
    return cache_set_of(w->cache, line * w->d->shape->line);
}

/* Whether it may be drawn. */
static bool comes(const struct draw *w, uint64_t line)
{
    return w->front == NULL ||
           w->come[cache_set_of(w->front, line * w->d->shape->line)];
}

static bool has(const struct lines *l, uint64_t line)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->at[i] == line)
            return true;
    return false;
}

static void add(struct lines *l, uint64_t line)
{
    l->at = xreallocarray(l->at, l->count + 1, sizeof *l->at);
    l->at[l->count++] = line;
}

/* Whether each of the sets has as many lines as are wanted. */
static bool full(const struct sets *s, size_t more)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->lines[i].count < s->ways[i] + more)
            return false;
    return true;
}

static size_t index_in(const struct sets *s, size_t set)
{
    size_t i = 0;
    while (i < s->count && s->set[i] != set)
        i++;
    return i;
}

/* Of few lines all come in turn, in an order that meets each pattern of their
 * low bits as often, whatever index deals them: where laps over as many as fit
 * are all that can be asked they come by chance, or a wrong index has them fit,
 * too (of 256 lines of constants the first 122, in two sets of 61 by any bit).
 */
static bool are_in_turn(const struct draw *w)
{
    return !w->d->no_policy && w->all <= TRIES_MOST / 8;
}

/* Takes lines at random until each set has `more` than it holds; false: there
 * are not as many. */
static bool gather(const struct draw *w, struct sets *s, size_t more)
{
    for (uint64_t n = 0; n < TRIES_MOST && !full(s, more); n++) {
        const uint64_t line = n < w->all && are_in_turn(w)
                                  ? n * 0x9e3779b1u % w->all
                                  : rng_below(w->d->rng, w->all);
        const size_t i = index_in(s, set_of(w, line));
        if (i < s->count && s->lines[i].count < s->ways[i] + more &&
            comes(w, line) && !has(&s->lines[i], line))
            add(&s->lines[i], line);
    }
    return full(s, more);
}

static void add_set(const struct draw *w, struct sets *s, uint64_t line)
{
    const size_t set = set_of(w, line);
    if (s->count == SETS_MOST || index_in(s, set) < s->count)
        return;
    s->set[s->count] = set;
    s->ways[s->count++] = w->d->shape->set_ways[set];
}

static size_t room_of(const struct sets *s)
{
    size_t sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += s->ways[i];
    return sum;
}

/* A set; its neighbours by each bit of lines, of which the index should tell
 * them apart; and more, until what stands before cannot hold them all. */
static struct sets choose_sets(const struct draw *w)
{
    struct sets s = {0};
    const uint64_t first = rng_below(w->d->rng, w->all);
    add_set(w, &s, first);
    for (uint64_t bit = 1; bit < w->all && s.count < SETS_MOST; bit *= 2)
        if ((first ^ bit) < w->all &&
            room_of(&s) + w->d->shape->set_ways[set_of(w, first ^ bit)] <
                STEPS_MOST / 4)
            add_set(w, &s, first ^ bit);
    for (int i = 0; i < 4 * SETS_MOST && s.count < w->d->shape->sets &&
                    (s.count < 2 || room_of(&s) <= 2 * w->held);
         i++)
        add_set(w, &s, rng_below(w->d->rng, w->all));
    return s;
}

static void sets_free(struct sets *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->lines[i].at);
}

/* The first `more` lines more than each of the sets holds (fewer: `less`),
 * all in a random order. */
static struct lines pool(const struct draw *w, const struct sets *s,
                         size_t sets, int more)
{
    struct lines all = {0};
    for (size_t i = 0; i < sets; i++)
        for (size_t k = 0; k < (size_t)((int)s->ways[i] + more); k++)
            add(&all, s->lines[i].at[k]);
    for (size_t i = all.count; i > 1; i--) {
        const size_t k = rng_below(w->d->rng, i);
        const uint64_t line = all.at[k];
        all.at[k] = all.at[i - 1];
        all.at[i - 1] = line;
    }
    return all;
}

static void put_list(const struct draw *w, struct buf *out,
                     const struct lines *l, uint64_t sector)
{
    const uint64_t line = w->d->shape->line / w->d->unit;
    for (size_t i = 0; i < l->count; i++)
        buf_printf(out, "%s%" PRIu64, i > 0 ? "|" : "",
                   l->at[i] * line + sector);
}

static bool are_alike(const struct drawing *d)
{
    return !cache_by_chance(d->shape->policy) &&
           (d->front == NULL || !cache_by_chance(d->front->policy));
}

static struct trial trial_of(const struct draw *w, const char *what,
                             struct buf *steps)
{
    struct trial t = {.what = what,
                      .runs = w->d->runs,
                      .alike = are_alike(w->d),
                      .open = w->d->no_policy ||
                              (w->d->front != NULL &&
                               cache_lasts_misses(w->d->shape->policy)),
                      .asked = w->d->asked};
    /* The last line first, so that all addresses of the span are there. */
    t.text = xasprintf("visit readers=%s steps=%" PRIu64 ":1:0,%s%s%s",
                       t.asked.reader,
                       (w->all - 1) * (w->d->shape->line / w->d->unit),
                       buf_string(steps), t.asked.extra, w->d->lead);
    buf_free(steps);
    return t;
}

/* Laps over the lines, of which the last is kept. */
static struct trial laps(const struct draw *w, const char *what,
                         struct lines lines)
{
    struct buf steps = {0};
    const size_t room = lines.count > 0 ? STEPS_MOST / lines.count : 1;
    buf_printf(&steps, "%zux", (size_t)u64_within(1, room - 1, 6));
    put_list(w, &steps, &lines, 0);
    buf_text(&steps, ",!");
    put_list(w, &steps, &lines, 0);
    free(lines.at);
    struct trial t = trial_of(w, what, &steps);
    t.laps = true;
    return t;
}

/* A line of the pool, and sometimes its neighbour, which one index bit and no
 * tag tells from it.  Neighbours of a third of them leave room in their own
 * set, which no lap has settled: the script itself lies in memory, and takes a
 * way of some sets. */
enum { THIRD = 3 };

static void put_random(const struct draw *w, struct buf *steps,
                       const struct lines *from, size_t count)
{
    const uint64_t fine = w->d->fine;
    const uint64_t offsets = fine > 0 ? w->d->shape->line / fine : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t chosen = rng_below(w->d->rng, from->count);
        uint64_t line = from->at[chosen];
        if (chosen % THIRD == 0 && rng_below(w->d->rng, 2) == 0 &&
            (line ^ 1) < w->all)
            line ^= 1;
        const uint64_t within =
            offsets > 1 ? rng_below(w->d->rng, offsets) * fine : 0;
        const struct lines one = {&line, 1};
        buf_text(steps, i > 0 ? "|" : "");
        put_list(w, steps, &one, within);
    }
}

static void add_times(struct lines *order, uint64_t line, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        add(order, line);
}

/* Brings a set into one state, whatever lines it had.  A is its first lines, B
 * as many more: laps over A leave these alone, and B misses, each in its turn.
 */
static void settle_misses(struct lines *order, const uint64_t *a, size_t ways)
{
    for (size_t i = 0; i < 3 * ways; i++)
        add(order, a[i % ways]);
    for (size_t i = 0; i < ways; i++)
        add(order, a[ways + i]);
}

/*
 * Of an nru or rrip these are in other ways by what was there before, and the
 * lowest goes.  Each of A is loaded twice in a row, between which marks may go
 * back; so nothing goes that came or was used since, and A is left alone.  All
 * ages of an rrip are alike then, so that B takes the ways in their order.  Of
 * an nru A backwards makes all marks full at the first of it; but where that
 * lies B passes, and most of A behind it, and takes all ways in their order but
 * that of the last of B that filled them, which is one of two.  Marks are full
 * once more at a line whose way is known, the first, and B follows again.
 */
static void settle_marks(struct lines *order, const uint64_t *a, size_t ways)
{
    const uint64_t *const b = a + ways;
    for (size_t i = 0; i < 3 * ways; i++)
        add_times(order, a[i % ways], 2);
    for (size_t i = ways; i > 0; i--)
        add(order, a[i - 1]);
    for (size_t i = 0; i < ways; i++)
        add_times(order, b[i], 2);
    for (size_t i = 1; i + 1 < ways; i++)
        add(order, a[i]);
    add(order, b[ways - 1]);
    for (size_t i = 1; i + 1 < ways; i++)
        add(order, a[i]);
    add_times(order, b[ways - 2], 2);
    for (size_t i = ways - 1; i > 1; i--)
        add(order, a[i - 1]);
    add(order, b[ways - 1]);
    for (size_t i = 0; i + 2 < ways; i++)
        add(order, b[i]);
    add(order, a[0]);
}

/* The sets in turns, so that what stands before holds nothing for long. */
static struct lines in_turns(struct lines *each, size_t sets)
{
    struct lines all = {0};
    size_t longest = 0;
    for (size_t i = 0; i < sets; i++)
        longest = u64_max(longest, each[i].count);
    for (size_t k = 0; k < longest; k++)
        for (size_t i = 0; i < sets; i++)
            if (k < each[i].count)
                add(&all, each[i].at[k]);
    for (size_t i = 0; i < sets; i++)
        free(each[i].at);
    return all;
}

/* What comes before loads at random: nothing where a lap leaves a set the same
 * whatever was in it, or where too few lines come to the sets.  A
 * cache before this one would hold some of what is loaded twice for marks. */
static struct lines before(const struct draw *w, struct sets *s, size_t sets)
{
    enum { WAYS_LEAST = 3, LOADS = 4, LOADS_OF_MARKS = 13 }; /* of each way */
    const enum cache_policy policy = w->d->shape->policy;
    const bool marks = cache_lasts_misses(policy);
    struct sets some = *s;
    struct lines each[SETS_MOST] = {0};
    size_t ways = 0;
    some.count = sets;
    bool can =
        cache_lasts(policy) && !(marks && w->d->front != NULL) &&
        (marks ? LOADS_OF_MARKS : LOADS) * room_of(&some) < STEPS_MOST / 2;
    for (size_t i = 0; i < sets; i++) {
        can = can && s->ways[i] >= WAYS_LEAST;
        ways = u64_max(ways, s->ways[i]);
    }
    can = can && gather(w, &some, ways);
    memcpy(s->lines, some.lines, sets * sizeof *s->lines);
    for (size_t i = 0; can && i < sets; i++)
        (marks ? settle_marks : settle_misses)(&each[i], s->lines[i].at,
                                               s->ways[i]);
    return in_turns(each, sets);
}

/* Random lines and sectors of the pool, after what settles it and a lap over
 * all of it. */
static struct trial at_random(const struct draw *w, const char *what,
                              const struct lines *first, struct lines lines)
{
    struct buf steps = {0};
    const size_t kept = u64_within(64, 8 * lines.count,
                                   STEPS_MOST - first->count - 2 * lines.count);
    if (first->count > 0) {
        put_list(w, &steps, first, 0);
        buf_text(&steps, ",");
    }
    buf_text(&steps, "2x");
    put_list(w, &steps, &lines, 0);
    buf_text(&steps, ",!");
    put_random(w, &steps, &lines, kept);
    free(lines.at);
    struct trial t = trial_of(w, what, &steps);
    t.settled = first->count > 0 ? w->d->shape->set_ways[0] : 0;
    t.marks_settled = cache_lasts_misses(w->d->shape->policy);
    return t;
}

/* How many of the sets the random loads go over: few, so that many loads are
 * of each; enough that what stands before does not hold them. */
static size_t few_sets(const struct draw *w, const struct sets *s)
{
    size_t count = 1, room = s->ways[0];
    while (count < s->count && room <= 2 * w->held && room < STEPS_MOST / 6)
        room += s->ways[count++];
    return count;
}

/*
 * Of a cache before it that holds more than can be loaded at once all lines
 * come to a few sets, drawn at random, which they overfill: to so many that
 * each set of this cache has twice as many of these lines as are asked of it,
 * if lines come to all sets of both alike.
 */
static void choose_front(struct draw *w, size_t lines)
{
    const struct cache_shape *const front = w->d->front;
    const double sets = (double)front->sets,
                 each = (double)w->all / (double)w->d->shape->sets;
    const size_t count = (size_t)(2 * (double)lines * sets / each) + 1;
    if (w->held <= DRAW_FRONT_MOST || 2 * count > front->sets)
        return;
    w->front = cache_new(front, 1);
    w->come = xcalloc(front->sets, sizeof *w->come);
    w->held = 0;
    for (size_t i = 0; i < count;) {
        const size_t set = rng_below(w->d->rng, front->sets);
        i += !w->come[set];
        w->held += w->come[set] ? 0 : front->set_ways[set];
        w->come[set] = true;
    }
}

/* Of some sets there may be too few such lines: these are left out. */
static void leave_out(struct sets *s, size_t more)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->lines[i].count < s->ways[i] + more) {
            free(s->lines[i].at);
        } else {
            s->set[kept] = s->set[i];
            s->ways[kept] = s->ways[i];
            s->lines[kept++] = s->lines[i];
        }
    s->count = kept;
}

/* A large cache before it must not hold them all. */
static bool come_past(const struct draw *w, const struct sets *s)
{
    return (w->front == NULL && w->held <= DRAW_FRONT_MOST) ||
           2 * room_of(s) > 3 * w->held;
}

/* How many lines more than each of the sets holds there are, `more` if there
 * can be; 0: too few to ask anything. */
static size_t gather_all(const struct draw *w, struct sets *s, size_t more)
{
    if (room_of(s) > STEPS_MOST / 3)
        return 0;
    bool many = gather(w, s, more);
    if (!many && w->front != NULL) {
        leave_out(s, more);
        many = s->count > 0;
    }
    return !come_past(w, s) ? 0 : many ? more : full(s, MORE) ? MORE : 0;
}

static struct draw draw_begin(const struct drawing *d)
{
    struct draw w = {.d = d,
                     .cache = cache_new(d->shape, 1),
                     .all = d->span / d->shape->line};
    if (d->front == NULL)
        return w;
    const size_t ways = d->shape->set_ways[0];
    w.held = cache_shape_bytes(d->front) / d->front->line;
    choose_front(&w, ways + MORE + ways / 4);
    return w;
}

static void draw_end(struct draw *w)
{
    cache_free(w->cache);
    if (w->front != NULL)
        cache_free(w->front);
    free(w->come);
}

/* All lines that were gathered. */
static void put_places(const struct draw *w, const struct sets *s,
                       struct trial *t)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->lines[i].count;
    t->places = xcalloc(count + 1, sizeof *t->places);
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->lines[i].count; k++)
            t->places[t->place_count++] =
                s->lines[i].at[k] * (w->d->shape->line / w->d->unit);
}

size_t draw_trials(const struct drawing *d, struct trial t[DRAW_MOST])
{
    struct draw w = draw_begin(d);
    struct sets s = choose_sets(&w);
    size_t count = 0;
    while (s.count > 1 && room_of(&s) > STEPS_MOST / 3)
        s.count--;
    const int more = (int)gather_all(&w, &s, MORE + s.ways[0] / 4);
    const size_t few = more > 0 ? few_sets(&w, &s) : 0;
    if (more > 0) {
        t[count++] = laps(&w, "as many lines as sets have ways",
                          pool(&w, &s, s.count, 0));
        t[count - 1].fits = true;
    }
    if (more > 0 && !d->no_policy)
        t[count++] =
            laps(&w, "a line more in each set", pool(&w, &s, s.count, 1));
    if (more > 0 && !d->no_policy && !d->no_random) {
        struct lines first = before(&w, &s, few);
        t[count++] = at_random(&w, "lines of few sets at random", &first,
                               pool(&w, &s, few, more));
        t[count++] = at_random(&w, "as many lines as fit, at random", &first,
                               pool(&w, &s, few, 0));
        free(first.at);
    }
    for (size_t i = 0; i < count; i++)
        put_places(&w, &s, &t[i]);
    sets_free(&s);
    draw_end(&w);
    return count;
}
