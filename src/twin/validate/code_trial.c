#include "twin/validate/code_trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "probe/run/functions.h"

const char *const code_kind_words[CODE_KINDS] = {
    "as many lines as sets have ways",
    "a line more in each set, place by place",
    "half as many lines again, at random",
    "a few lines again and again between others",
    "beside halves of lines of constants",
};

/* Of the pool all but a last line is used; a call at the tail runs through no
 * more than a line of any cache, and at HALVED lies one that ends at half. */
enum { POOL = 254 * 1024, TAIL = 96, HALVED = 1024, HALF_TAIL = 32 };
/* Calls of a launch, which fit a turn beside another process. */
enum { CALLS_MOST = 2400, SETS_MOST = 24, CONSTANTS = 64 * 1024 };

/* ---- lines and places -------------------------------------------------- */

static bool has_place(uint64_t line, uint64_t n)
{
    return (n + 1) * line <= POOL &&
           (line >= FUNCTION_LINE || n % 2 == 1 || n * line % HALVED == 0);
}

static uint64_t last_place(uint64_t line, uint64_t n)
{
    return line >= FUNCTION_LINE ? (n + 1) * line - FUNCTION_LINE + TAIL
                                 : n * line + HALF_TAIL;
}

/* The last one where the line has no other. */
static uint64_t first_place(uint64_t line, uint64_t n)
{
    if (line > FUNCTION_LINE)
        return n * line + TAIL;
    return line == FUNCTION_LINE && n * line % HALVED == 0
               ? n * line + HALF_TAIL
               : last_place(line, n);
}

/* Of a line that comes ahead in parts the last: what comes with a call that a
 * nearer cache serves does not come to it. */
static uint64_t any_place(const struct code_asked *a, uint64_t n,
                          struct rng *rng)
{
    const uint64_t line = a->told.line;
    return line > FUNCTION_LINE && a->reach == 0
               ? n * line +
                     FUNCTION_LINE * rng_below(rng, line / FUNCTION_LINE) + TAIL
               : last_place(line, n);
}

static void shuffle(uint64_t *at, size_t count, struct rng *rng)
{
    for (size_t i = count; i > 1; i--) {
        const size_t k = rng_below(rng, i);
        const uint64_t last = at[i - 1];
        at[i - 1] = at[k];
        at[k] = last;
    }
}

/* ---- drawing ----------------------------------------------------------- */

struct drawn {
    const struct code_asked *asked;
    enum code_kind kind;
    struct rng *rng;
    uint64_t lines;    /* of each set */
    uint64_t multiple; /* blocks of the next sets begin at multiples of so many
                          lines … */
    uint64_t sets[SETS_MOST], multiples[SETS_MOST]; /* … and of each set */
    size_t set_count;
    uint64_t *block; /* numbers of lines */
    size_t blocks;
};

/* Whether there are places of the line; of a block of two, of which it is the
 * first, of either. */
static bool can_begin(const struct drawn *d, uint64_t n)
{
    const uint64_t line = d->asked->told.line;
    return has_place(line, n) &&
           (d->kind != CODE_OVER || has_place(line, n + 1));
}

/* By what lines of a set differ that would come to others, if there were more
 * of them: whether they lie an even number of times all sets apart; or, if the
 * index leaves out some bits, by these. */
static uint64_t part_of(const struct code_shape *shape, uint64_t n)
{
    return shape->shift > 0 ? n % (1u << shape->shift) : n / shape->sets % 2;
}

/* Numbers of lines of a set, in any order; of what fits those of a part first.
 */
static uint64_t *lines_of(const struct drawn *d, uint64_t set,
                          uint64_t multiple, size_t *count)
{
    const struct code_shape *const told = &d->asked->told;
    const uint64_t parts =
        d->kind != CODE_FITS ? 1 : 1u << u64_max(told->shift, 1);
    const uint64_t from = rng_below(d->rng, parts);
    uint64_t *const at = xcalloc(POOL / told->line, sizeof *at);
    *count = 0;
    for (uint64_t i = 0; i < parts; i++) {
        const size_t first = *count;
        for (uint64_t n = 0; n < POOL / told->line; n += multiple)
            if (code_shape_set(told, n) == set && can_begin(d, n) &&
                (part_of(told, n) + from + i) % parts == 0)
                at[(*count)++] = n;
        shuffle(at + first, *count - first, d->rng);
    }
    return at;
}

/* So many sets further what is called does not come to, nor what comes ahead.
 */
static uint64_t gap_of(const struct code_asked *a, enum code_kind kind)
{
    return (kind == CODE_OVER ? 2 : 1) +
           (a->reach > 0 ? a->reach / a->told.line + 1 : 0);
}

bool code_trial_is_apart(const struct code_asked *a)
{
    return a->reach > 0 && a->told.sets < 2 * gap_of(a, CODE_FITS);
}

/* What is called in another set, and comes ahead, does not come to it. */
static bool is_free(const struct drawn *d, uint64_t set)
{
    const struct code_asked *const a = d->asked;
    const uint64_t gap = gap_of(a, d->kind);
    const uint64_t sets = a->told.sets;
    if (a->reach > 0 && sets < 2 * gap)
        return false;
    for (size_t i = 0; i < d->set_count; i++) {
        const uint64_t apart = (set + sets - d->sets[i]) % sets;
        if ((u64_min(apart, sets - apart) < gap &&
             (sets >= 2 * gap || apart == 0)) ||
            (d->kind == CODE_OVER && 2 * apart == sets && sets > 2))
            return false;
    }
    return true;
}

static void add_set(struct drawn *d, uint64_t set)
{
    size_t count = 0;
    if (d->set_count == SETS_MOST || !is_free(d, set))
        return;
    free(lines_of(d, set, d->multiple, &count));
    if (count < d->lines)
        return;
    d->multiples[d->set_count] = d->multiple;
    d->sets[d->set_count++] = set;
}

/* Where there are half as many sets, two that are half of all apart are one:
 * such are picked of what fits, and not of what does not. */
static void pick_sets(struct drawn *d, uint64_t most)
{
    enum { TRIES = 16 };
    const uint64_t sets = d->asked->told.sets;
    for (uint64_t i = 0; i < TRIES * most && d->set_count < most; i++) {
        const uint64_t set = rng_below(d->rng, sets);
        add_set(d, set);
        if (sets % 2 == 0)
            add_set(d, (set + sets / 2) % sets);
    }
}

static void pick_blocks(struct drawn *d)
{
    d->block = xcalloc(d->set_count * d->lines + 1, sizeof *d->block);
    for (size_t i = 0; i < d->set_count; i++) {
        size_t count;
        uint64_t *const at = lines_of(d, d->sets[i], d->multiples[i], &count);
        memcpy(d->block + d->blocks, at, d->lines * sizeof *at);
        d->blocks += d->lines;
        free(at);
    }
}

static size_t group_of(const struct drawn *d, uint64_t n)
{
    size_t i = 0;
    while (!d->asked->apart && d->sets[i] != code_shape_set(&d->asked->told, n))
        i++;
    return i;
}

static void put_place(struct code_trial *t, struct buf *list, uint64_t at,
                      size_t group)
{
    buf_printf(list, "%s%" PRIu64, list->length > 0 ? "|" : "", at);
    t->group[at / FUNCTION_UNIT] = (uint16_t)group;
}

/* A block's places: of two lines the last one first, so that what comes ahead
 * was called before. */
static void put_block(const struct drawn *d, struct code_trial *t,
                      struct buf *list, uint64_t n)
{
    const uint64_t line = d->asked->told.line;
    const size_t group = 2 * group_of(d, n);
    if (d->kind != CODE_OVER) {
        put_place(t, list, any_place(d->asked, n, d->rng), group);
        return;
    }
    for (uint64_t i = 2; i-- > 0;) {
        const uint64_t last = last_place(line, n + i),
                       first = first_place(line, n + i);
        put_place(t, list, last, group + 1 - i);
        if (first != last)
            put_place(t, list, first, group + 1 - i);
    }
}

/* Of no set, as yet. */
static uint16_t *new_groups(void)
{
    uint16_t *const group = xcalloc(POOL / FUNCTION_UNIT, sizeof *group);
    memset(group, 0xff, POOL / FUNCTION_UNIT * sizeof *group);
    return group;
}

enum { LAPS = 4, LAPS_DRAWN = 8 };

/* Where chance chooses victims it takes laps until all that was there before is
 * gone. */
static unsigned laps_of(const struct code_asked *a, enum code_kind kind)
{
    enum { CHANCE = 12, OVER = 8 };
    return kind == CODE_OVER                 ? OVER
           : a->patient && kind == CODE_FITS ? CHANCE
                                             : LAPS;
}

static uint64_t lines_of_kind(const struct code_asked *a, enum code_kind kind)
{
    const uint64_t ways = a->told.ways;
    return kind == CODE_FITS   ? ways - a->own
           : kind == CODE_OVER ? ways + 1
                               : ways + ways / 2 + 1;
}

static void put_laps(struct drawn *d, struct code_trial *t, struct buf *list,
                     unsigned laps)
{
    for (unsigned lap = 0; lap < laps; lap++) {
        shuffle(d->block, d->blocks, d->rng);
        for (size_t i = 0; i < d->blocks; i++)
            put_block(d, t, list, d->block[i]);
    }
}

/* What some policies lose hangs for ever on what was there before where the
 * order stays, so it is another one in each of the first laps of what does not
 * fit. */
static char *text_of(struct drawn *d, struct code_trial *t)
{
    const unsigned laps = laps_of(d->asked, t->kind);
    struct buf steps = {0}, list = {0};
    if (t->kind == CODE_OVER) {
        put_laps(d, t, &list, laps / 2);
        buf_printf(&steps, "!%s,", buf_string(&list));
        buf_clear(&list);
    }
    put_laps(d, t, &list, 1);
    if (t->kind == CODE_DRAWN)
        buf_printf(&steps, "!~%d/", CALLS_MOST);
    else
        buf_printf(&steps, "%ux!", t->kind == CODE_OVER ? laps / 2 : laps);
    char *const text = xasprintf("visit readers=code steps=%s%s",
                                 buf_string(&steps), buf_string(&list));
    buf_free(&steps);
    buf_free(&list);
    return text;
}

/* ---- where what comes ahead comes to lines that are called --------------- */

/* Lines that come with a block: its own, and what comes ahead of the last. */
static uint64_t lines_with(const struct code_asked *a, enum code_kind kind)
{
    return (kind == CODE_FITS ? 1 : 2) + a->ahead;
}

/* How many blocks fit, of which each set has its part, and of what comes behind
 * the loop; a line more may come with each. */
static uint64_t blocks_fitting(const struct code_asked *a, enum code_kind kind)
{
    enum { LATE = 1 };
    const uint64_t sets = a->told.sets, ways = a->told.ways;
    const uint64_t part = (lines_with(a, kind) + LATE + sets - 1) / sets;
    return ways > a->own + part ? (ways - a->own - part) / part : 0;
}

/* Of what is called so often … */
enum { OFTEN = 8, TIMES = 12 };

/* Of what does not fit twice as many as there is room for, so that the first
 * call of each misses. */
static uint64_t blocks_apart(const struct code_asked *a, enum code_kind kind)
{
    const uint64_t over =
        2 * a->told.ways * a->told.sets / lines_with(a, kind) + 1;
    return kind == CODE_FITS    ? blocks_fitting(a, kind)
           : kind == CODE_OFTEN ? over + OFTEN
                                : over;
}

/* So many lines apart no block comes to another, be it as many lines further
 * on. */
static uint64_t step_apart(const struct code_asked *a)
{
    enum { LATE = 2 };
    uint64_t step = HALVED / u64_min(a->told.line, HALVED);
    while (step < 2 * (lines_with(a, CODE_OVER) + LATE))
        step *= 2;
    return step;
}

/* So far behind where it could a block begins; functions have halves where it
 * could. */
static uint64_t any_further(const struct drawn *d)
{
    const uint64_t most = step_apart(d->asked) / 2;
    return d->asked->told.line < FUNCTION_LINE ? 0 : rng_below(d->rng, most);
}

static void pick_apart(struct drawn *d, uint64_t count)
{
    const uint64_t step = step_apart(d->asked);
    const uint64_t all = POOL / d->asked->told.line / step;
    d->block = xcalloc(all + 1, sizeof *d->block);
    for (uint64_t i = 0; i < all; i++)
        d->block[i] = i * step + (d->kind == CODE_FITS ? any_further(d) : 0);
    shuffle(d->block, all, d->rng);
    d->blocks = u64_min(count, all);
}

static void put_lines(const struct drawn *d, struct code_trial *t,
                      struct buf *list, uint64_t n, size_t group)
{
    for (uint64_t i = 2; i-- > 0;)
        put_place(t, list, last_place(d->asked->told.line, n + i), group);
}

/* Blocks that are called again and again, between each time and the next up to
 * as many others as there is room for, which are called in turn: the oldest
 * goes, or what is called often stays.  If there are more sets, these others
 * come to some more often than to the rest, which are not those to which what
 * stands between the next block's calls comes. */
static char *text_often(const struct drawn *d, struct code_trial *t)
{
    const uint64_t fit = blocks_fitting(d->asked, d->kind);
    struct buf list = {0};
    size_t next = OFTEN;
    uint64_t further = 0;
    for (size_t i = 0; i < OFTEN * TIMES; i++) {
        further = i % TIMES == 0 ? any_further(d) : further;
        put_lines(d, t, &list, d->block[i / TIMES], 0);
        for (uint64_t k = 1 + rng_below(d->rng, fit); k > 0; k--) {
            put_lines(d, t, &list, d->block[next] + further, 1);
            next = next + 1 < d->blocks ? next + 1 : OFTEN;
        }
    }
    char *const text =
        xasprintf("visit readers=code steps=!%s", buf_string(&list));
    buf_free(&list);
    return text;
}

static bool draw_apart(struct code_trial *t, const struct code_asked *a,
                       struct rng *rng)
{
    enum { LEAST = 2 };
    const uint64_t blocks = blocks_apart(a, t->kind);
    struct drawn d = {.asked = a, .kind = t->kind, .rng = rng};
    pick_apart(&d, blocks);
    const bool drawn =
        d.blocks == blocks && blocks >= LEAST && blocks_fitting(a, t->kind) > 0;
    t->groups = 2;
    if (drawn)
        t->text = t->kind == CODE_OFTEN ? text_often(&d, t) : text_of(&d, t);
    free(d.block);
    return drawn;
}

static bool draw_sets(struct code_trial *t, const struct code_asked *a,
                      struct rng *rng)
{
    enum { PLACES = 4 };
    struct drawn d = {.asked = a,
                      .kind = t->kind,
                      .rng = rng,
                      .lines = lines_of_kind(a, t->kind),
                      .multiple = 1};
    const uint64_t calls =
        d.lines * (t->kind == CODE_DRAWN ? LAPS_DRAWN : laps_of(a, t->kind)) *
        (t->kind == CODE_OVER ? PLACES : 1);
    const uint64_t most = u64_within(1, CALLS_MOST / calls, SETS_MOST);
    /* At these lines have halves, or can be called at all. */
    if (t->kind == CODE_OVER && a->told.line <= FUNCTION_LINE) {
        d.multiple = HALVED / a->told.line;
        pick_sets(&d, (most + 1) / 2);
    }
    if (t->kind == CODE_OVER)
        d.multiple = a->told.line < FUNCTION_LINE ? d.multiple : 2;
    pick_sets(&d, most);
    pick_blocks(&d);
    t->text = text_of(&d, t);
    t->groups = 2 * d.set_count;
    free(d.block);
    return d.set_count > 0;
}

/* In each set as many ways of code as room is beside constants, but for one, if
 * each of these takes half a line; which is more than there is if each takes a
 * whole one. */
static uint64_t ways_beside(const struct code_shape *told, uint64_t constants)
{
    const uint64_t half = constants / 2;
    const uint64_t spare = half > 2;
    return half >= 2 && told->ways > half + spare ? told->ways - half - spare
                                                  : 0;
}

static bool draw_shared(struct code_trial *t, const struct code_asked *a,
                        struct rng *rng)
{
    const struct code_shape *const told = &a->told;
    const uint64_t each = CONSTANTS / (told->line * told->sets);
    const uint64_t ways = ways_beside(told, each);
    const uint64_t lines = ways * told->sets;
    const uint64_t all = POOL / told->line;
    if (ways == 0 || lines > all || told->line < FUNCTION_LINE ||
        LAPS * lines > 2 * CALLS_MOST)
        return false;
    const uint64_t from = rng_below(rng, all - lines + 1);
    uint64_t *const at = xcalloc(lines, sizeof *at);
    struct buf list = {0};
    for (uint64_t i = 0; i < lines; i++)
        at[i] = any_place(a, from + i, rng);
    shuffle(at, lines, rng);
    for (uint64_t i = 0; i < lines; i++)
        put_place(t, &list, at[i], 0);
    t->groups = 2;
    t->text =
        xasprintf("visit readers=code,constant steps=1@!0:%" PRIu64 ":%" PRIu64
                  ",!%s rounds=%d",
                  CONSTANTS / told->line, told->line, buf_string(&list), LAPS);
    buf_free(&list);
    free(at);
    return true;
}

bool code_trial_draw(struct code_trial *t, enum code_kind kind,
                     const struct code_asked *a, struct rng *rng)
{
    *t = (struct code_trial){.kind = kind, .group = new_groups()};
    const bool drawn = kind == CODE_SHARED ? draw_shared(t, a, rng)
                       : a->apart          ? draw_apart(t, a, rng)
                                           : draw_sets(t, a, rng);
    if (!drawn)
        code_trial_free(t);
    return drawn;
}

void code_trial_free(struct code_trial *t)
{
    free(t->text);
    free(t->group);
    free(t->calls);
    *t = (struct code_trial){0};
}

/* ---- on the device ----------------------------------------------------- */

/* Of calls in turn the last half; at random, all but those that fill the
 * cache. */
static size_t settled(const struct code_trial *t, size_t count)
{
    return t->kind == CODE_DRAWN || t->kind == CODE_OFTEN ? count / 3
                                                          : count / 2;
}

/* NULL: it is none of those. */
static const struct code_late *late_of(const struct code_asked *a,
                                       double cycles)
{
    for (size_t i = 0; i < a->lates; i++)
        if (fabs(cycles - a->late[i].cycles) <= a->late[i].within)
            return &a->late[i];
    return NULL;
}

static struct code_call call_of(const struct code_trial *t,
                                const struct code_asked *a, bool constant,
                                uint64_t at, double cycles)
{
    const struct code_late *const late = constant ? NULL : late_of(a, cycles);
    return (struct code_call){
        .at = at,
        .group = constant ? 0 : t->group[at / FUNCTION_UNIT],
        .constant = constant,
        .asked = late != NULL ? late->asked : constant || cycles > a->near,
        .missed =
            late == NULL && cycles > (constant ? a->far_constant : a->far)};
}

int code_trial_measure(struct code_trial *t, const struct code_asked *a,
                       struct prober *device, struct error *err)
{
    struct samples s = {0};
    const int status = prober_run(device, t->text, &s, NULL, err);
    t->count = status == 0 ? s.rows : 0;
    t->calls = xcalloc(t->count + 1, sizeof *t->calls);
    for (size_t i = 0; i < t->count; i++) {
        t->calls[i] =
            call_of(t, a, samples_at(&s, i, samples_column(&s, "reader")) > 0,
                    (uint64_t)samples_at(&s, i, samples_column(&s, "offset")),
                    (double)samples_at(&s, i, samples_column(&s, "cycles")));
        t->calls[i].judged = i >= settled(t, t->count) && t->calls[i].asked;
    }
    samples_free(&s);
    return status;
}

/* ---- as foretold ------------------------------------------------------- */

/* Where constants lie nobody knows: it is alike in all low bits. */
#define CONSTANTS_AT ((uint64_t)1 << 32)

/* What is asked for: of constants no more than the sector of their cache. */
static uint64_t asked_from(const struct code_asked *a,
                           const struct code_call *c)
{
    return c->constant ? c->at + CONSTANTS_AT : c->at & ~(a->sector - 1);
}

static uint64_t asked_bytes(const struct code_asked *a,
                            const struct code_call *c)
{
    return c->constant ? 1 : a->sector;
}

struct tally {
    size_t count, wrong, missed, foretold;
};

/* Lines that come with one, the next of which lies so far away. */
static void bring_ahead(struct cache *cache, const struct code_asked *a,
                        uint64_t at, uint64_t next)
{
    for (uint64_t i = 1; i <= a->ahead; i++)
        cache_access(cache, at + i * next);
}

/* Lines of the loop that calls, of which nobody knows where they lie: so many
 * of each set, which are looked for before each call. */
static void touch_own(struct cache *cache, const struct code_asked *a,
                      const struct code_shape *shape, uint64_t ways)
{
    static const uint64_t beyond = (uint64_t)1 << 33;
    const uint64_t next = shape->line << shape->shift;
    for (uint64_t i = 0; i < ways * shape->sets; i++) {
        const uint64_t at = beyond + i * next;
        if (cache_access(cache, at) != CACHE_HIT || a->on_hits)
            bring_ahead(cache, a, at, next);
    }
}

/* What the calls of each of its sets did and should have, with so many lines of
 * the loop in each; those of what is called later in a block apart.  False:
 * there is no such cache. */
static bool count_wrong(const struct code_trial *t, const struct code_asked *a,
                        const struct code_shape *shape, uint64_t own,
                        struct tally *of)
{
    struct cache *const cache = code_shape_cache(shape);
    for (size_t i = 0; cache != NULL && i < t->count; i++) {
        const struct code_call *const c = &t->calls[i];
        if (!c->asked)
            continue;
        touch_own(cache, a, shape, own);
        const bool missed = code_model_misses(cache, shape, asked_from(a, c),
                                              asked_bytes(a, c));
        if (c->missed || a->on_hits)
            bring_ahead(cache, a, asked_from(a, c), shape->line);
        if (!c->judged || c->group >= t->groups)
            continue;
        struct tally *const set =
            &of[c->group % 2 * shape->sets +
                code_shape_set(shape, asked_from(a, c) / shape->line)];
        set->count++;
        set->wrong += missed != c->missed;
        set->missed += c->missed;
        set->foretold += missed;
    }
    cache_free(cache);
    return cache != NULL;
}

/* By how much shares are apart, of which few calls differ by chance; of chance
 * as a part of them, if they are not small.  Of constants nobody knows where
 * they lie, and what else is there: of these half as much counts. */
static double shares_apart(const struct code_trial *t, const struct tally *of,
                           size_t sets)
{
    static const double least = 0.25;
    struct tally all = {0};
    for (size_t i = 0; i < sets; i++) {
        all.count += of[i].count;
        all.missed += of[i].missed;
        all.foretold += of[i].foretold;
    }
    if (all.count == 0)
        return 0;
    const double n = (double)all.count;
    const double share = (double)(all.missed + all.foretold) / (2 * n);
    const double apart = fabs((double)all.missed - (double)all.foretold) / n;
    const double more = fmax(0, apart - 2 * sqrt(2 * share * (1 - share) / n));
    return t->kind == CODE_SHARED ? more / 2 : more / fmax(share, least);
}

static double share_wrong(const struct tally *of)
{
    return (double)of->wrong / (double)of->count;
}

/* Of a quarter of the sets it is no more: lines that nobody knows of are in
 * some, and what is not as it was found shows in all, or in all of what is
 * called later. */
static double quarter_wrong(const struct tally *of, size_t sets)
{
    enum { LEAST = 4 };
    double *const share = xcalloc(sets + 1, sizeof *share);
    size_t count = 0;
    for (size_t i = 0; i < sets; i++)
        if (of[i].count >= LEAST)
            share[count++] = share_wrong(&of[i]);
    double *const sorted = stats_sorted(share, count);
    const double quarter = count > 0 ? sorted[(count - 1) / 4] : 0;
    free(sorted);
    free(share);
    return quarter;
}

/* Of few sets that are all asked it is that of all calls. */
static double all_wrong(const struct tally *of, size_t sets)
{
    struct tally all = {0};
    for (size_t i = 0; i < sets; i++) {
        all.count += of[i].count;
        all.wrong += of[i].wrong;
    }
    return all.count > 0 ? share_wrong(&all) : 0;
}

/* Of each set as many lines of the loop as foretell it best. */
static void take_best(struct tally *best, const struct tally *of, size_t sets)
{
    for (size_t i = 0; i < sets; i++)
        if (best[i].count == 0 ||
            (of[i].count > 0 && share_wrong(&of[i]) < share_wrong(&best[i])))
            best[i] = of[i];
}

static double wrong_in_order(const struct code_trial *t,
                             const struct code_asked *a,
                             const struct code_shape *shape)
{
    const size_t sets = shape->sets;
    double (*const wrong_of)(const struct tally *, size_t) =
        a->apart ? all_wrong : quarter_wrong;
    const bool by_share = code_shape_is_chance(shape) || t->kind == CODE_SHARED;
    struct tally *const best = xcalloc(2 * sets, sizeof *best);
    double wrong = 1;
    for (uint64_t own = 0; own <= a->own && own < shape->ways; own++) {
        struct tally *const of = xcalloc(2 * sets, sizeof *of);
        const bool is = count_wrong(t, a, shape, own, of);
        take_best(best, of, 2 * sets);
        if (is)
            wrong = by_share ? fmin(wrong, shares_apart(t, of, 2 * sets))
                             : fmax(wrong_of(best, sets),
                                    wrong_of(best + sets, sets));
        free(of);
    }
    free(best);
    return wrong;
}

/* ---- whatever the policy is --------------------------------------------- */

/* Numbers of lines of the calls that are judged, in order. */
static uint64_t *lines_asked(const struct code_trial *t,
                             const struct code_asked *a,
                             const struct code_shape *shape, size_t *count)
{
    const size_t each = u64_max(a->sector / shape->line, 1);
    uint64_t *const line = xcalloc(t->count * each + 1, sizeof *line);
    *count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct code_call *const c = &t->calls[i];
        const uint64_t from = asked_from(a, c), end = from + asked_bytes(a, c);
        for (uint64_t n = from / shape->line;
             c->judged && n * shape->line < end; n++)
            line[(*count)++] = n;
    }
    qsort(line, *count, sizeof *line, u64_compare);
    return line;
}

/* Of lines that all laps come to those that do not fit. */
static uint64_t lines_beyond(const struct code_trial *t,
                             const struct code_asked *a,
                             const struct code_shape *shape, size_t laps)
{
    size_t count, times = 0;
    uint64_t *const line = lines_asked(t, a, shape, &count);
    uint64_t *const room = xcalloc(shape->sets, sizeof *room);
    uint64_t beyond = 0;
    for (size_t i = 0; i < count; i++) {
        times = i > 0 && line[i] == line[i - 1] ? times + 1 : 1;
        beyond += times == laps &&
                  ++room[code_shape_set(shape, line[i])] > shape->ways;
    }
    free(line);
    free(room);
    return beyond;
}

/* Of a quarter of the sets no more misses. */
static double quarter_missed(const struct code_trial *t)
{
    struct tally *const of = xcalloc(t->groups, sizeof *of);
    for (size_t i = 0; i < t->count; i++) {
        const struct code_call *const c = &t->calls[i];
        if (c->judged && c->group < t->groups) {
            of[c->group].count++;
            of[c->group].wrong += c->missed;
        }
    }
    const double missed = quarter_wrong(of, t->groups);
    free(of);
    return missed;
}

/* What fits does not miss; of a lap that does not as many do as do not fit, at
 * least, be it when they are called or when they come ahead. */
static double wrong_in_laps(const struct code_trial *t,
                            const struct code_asked *a,
                            const struct code_shape *shape)
{
    const size_t laps = laps_of(a, t->kind) / 2;
    const double missed = quarter_missed(t);
    const double beyond = (double)(lines_beyond(t, a, shape, laps) * laps);
    double judged = 0;
    for (size_t i = 0; i < t->count; i++)
        judged += t->calls[i].judged;
    const double ahead = ceil((double)a->reach / (double)shape->line);
    return judged == 0 || beyond == 0
               ? missed
               : fmax(0, beyond / judged - (1 + ahead) * missed);
}

/* Beside constants what comes ahead comes to lines that are called. */
double code_trial_wrong(const struct code_trial *t, const struct code_asked *a,
                        const struct code_shape *shape)
{
    return a->ordered && (t->kind != CODE_SHARED || a->reach == 0)
               ? wrong_in_order(t, a, shape)
               : wrong_in_laps(t, a, shape);
}

double code_trial_missed(const struct code_trial *t)
{
    size_t judged = 0, missed = 0;
    for (size_t i = 0; i < t->count; i++) {
        judged += t->calls[i].judged;
        missed += t->calls[i].judged && t->calls[i].missed;
    }
    return judged > 0 ? (double)missed / (double)judged : 0;
}
