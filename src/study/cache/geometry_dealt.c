#include "study/cache/geometry_dealt.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/num.h"
#include "study/cache/pool.h"

enum {
    UNEQUAL_MOST = 800 /* entries of a cache of unequal sets */
};

/*
 * Lines are numbered from the eviction's first, which need not be where dealing
 * begins.  So each line of a round of `lines` is asked which set it is in; then
 * the beginning is where dealing to sets of these ways gives just that order.
 */
enum { ALIKE = 2 }; /* ways, which many policies use as an lru does */
struct dealing {
    uint64_t lines;
    uint64_t ways; /* of all sets together */
    size_t sets;
    struct script_lines shown;      /* a line and what fills its set: of line
                                       0's or, where that leaves most policies
                                       alike, of a larger one */
    uint32_t ways_of[UNEQUAL_MOST]; /* of each set */
    uint32_t set[UNEQUAL_MOST];     /* of each line; the sets: not known */
};

/* Lines of the round, from `line` on, whose set is not known. */
static struct script_lines open_lines(struct eviction *e,
                                      const struct dealing *d, uint64_t line)
{
    struct script_lines open = {lab_alloc(e->lab, d->lines, sizeof *open.at),
                                0};
    for (; line < d->lines; line++)
        if (d->set[line] == UNEQUAL_MOST)
            open.at[open.count++] = line * e->unit;
    return open;
}

/* Which lines come into the set that this line's group fills. */
static void take_lines(struct eviction *e, struct dealing *d, uint64_t line,
                       const struct script_lines *group)
{
    enum eviction_came *const came = lab_alloc(e->lab, d->lines, sizeof *came);
    const struct script_lines open = open_lines(e, d, line + 1);
    d->set[line] = (uint32_t)d->sets;
    /* What is there already puts nothing out. */
    for (size_t i = 0; i < group->count; i++)
        if (group->at[i] / e->unit < d->lines)
            d->set[group->at[i] / e->unit] = (uint32_t)d->sets;
    eviction_foretold(e, group, &open, came);
    for (size_t i = 0; i < open.count; i++)
        if (came[i] == CAME_IN)
            d->set[open.at[i] / e->unit] = (uint32_t)d->sets;
}

/* The set of a line, by the same line of the rounds that follow. */
static bool add_set(struct eviction *e, struct dealing *d, uint64_t line)
{
    struct pool p = {
        .eviction = e, .target = line * e->unit, .step = d->lines * e->unit};
    const struct script_lines set =
        pool_find_set(&p, u64_min(pool_room(&p, d->lines), d->lines));
    if (!lab_ok(e->lab) || set.count < 2)
        return false;
    const struct script_lines group = pool_group(&set);
    if (line == 0 ||
        (d->shown.count <= ALIKE + 1 && set.count > d->shown.count))
        d->shown = set;
    take_lines(e, d, line, &group);
    d->ways_of[d->sets++] = (uint32_t)group.count;
    d->ways += group.count;
    return true;
}

static void ask_lines(struct eviction *e, struct dealing *d)
{
    for (uint64_t line = 0; line < d->lines; line++)
        d->set[line] = UNEQUAL_MOST;
    for (uint64_t line = 0; line < d->lines && d->ways < d->lines; line++)
        if (d->set[line] == UNEQUAL_MOST && !add_set(e, d, line))
            return;
}

/* The ways of the sets in the order in which they come from line `first` on,
 * and whether dealing to them explains the whole round. */
static bool deals_from(const struct dealing *d, uint64_t first,
                       uint32_t *set_ways)
{
    uint32_t name[UNEQUAL_MOST + 1] = {0};
    size_t named = 0;
    for (uint64_t i = 0; i < d->lines; i++) {
        const uint32_t set = d->set[(first + i) % d->lines];
        if (set == UNEQUAL_MOST || name[set] != 0)
            continue;
        set_ways[named++] = d->ways_of[set];
        name[set] = (uint32_t)named;
    }
    size_t agree = 0, known = 0;
    uint64_t line = first;
    if (named != d->sets)
        return false;
    for (uint32_t round = 0; line < first + d->lines; round++)
        for (size_t set = 0; set < d->sets && line < first + d->lines; set++)
            if (round < set_ways[set]) {
                const uint32_t of = d->set[line++ % d->lines];
                known += of != UNEQUAL_MOST;
                agree += name[of] == set + 1;
            }
    /* One line of 50 may be one that could not be told. */
    return agree == known && 50 * known >= 49 * d->lines;
}

static void say_dealing(const struct dealing *d, uint64_t first)
{
    struct buf text = {0};
    for (uint64_t i = 0; i < d->lines; i++)
        buf_printf(&text, " %" PRIu32, d->set[i]);
    log_say(LOG_DEBUG, "dealing: %zu sets, begins at %" PRIu64 ":%s", d->sets,
            first, buf_string(&text));
    buf_free(&text);
}

static bool are_alike(const uint32_t *ways, size_t sets)
{
    size_t same = 1;
    while (same < sets && ways[same] == ways[0])
        same++;
    return same >= sets;
}

/* A round, if it is dealt from some line on.  Sets that are alike are dealt
 * line by line: by the remainder. */
static void deal(struct eviction *e, uint64_t lines, struct geometry *g)
{
    struct dealing *const d = lab_alloc(e->lab, 1, sizeof *d);
    uint64_t first = 0;
    d->lines = lines;
    ask_lines(e, d);
    if (!lab_ok(e->lab) || d->ways != lines)
        return;
    uint32_t *const set_ways = lab_alloc(e->lab, d->sets, sizeof *set_ways);
    while (first < lines && !deals_from(d, first, set_ways))
        first++;
    say_dealing(d, first);
    *g = (struct geometry){.index = GEOMETRY_UNEQUAL,
                           .sets = first < lines ? d->sets : 0,
                           .ways = d->shown.count - 1,
                           .lines = lines,
                           .first = first,
                           .same = lines * e->unit,
                           .set = d->shown,
                           .set_ways = set_ways};
    if (g->sets > 0 && are_alike(set_ways, g->sets)) {
        g->index = GEOMETRY_MODULO;
        g->set_ways = NULL;
    }
}

/* The lines that are dealt in a round: so far apart they crowd line 0's set, by
 * one more than it has ways, or half of them where these are not known.  If
 * they are few enough to ask each. */
void geometry_by_dealing(struct eviction *e, const struct geometry_lines *lines,
                         struct geometry *g)
{
    if (lines->most > UNEQUAL_MOST)
        return;
    eviction_ask_more(e);
    for (uint64_t n = lines->least; lab_ok(e->lab) && n <= lines->most; n++) {
        struct pool p = {.eviction = e, .step = n * e->unit};
        const size_t enough = g->set.count > 1 ? g->set.count - 1 : n / 2;
        if (g->sets == 0 && pool_crowds(&p, NULL, 0, enough))
            deal(e, n, g);
    }
}
