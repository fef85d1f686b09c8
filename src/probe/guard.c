#include "probe/guard.h"

#include <math.h>

#include "base/buf.h"

/* Between two reads of the clock are 71 loads at most (chase.c).  The slowest
 * load known, one from memory by way of a page walk, takes 1300 cycles, so they
 * take no 93 000, with what noise there is; another process has the GPU for
 * hundreds of microseconds (an H200's for 0.8 to 4.8 million cycles). */
enum { GAP_MOST = 160000 };

/* An event's timestamp is good for some microseconds; a slice of another's is
 * far longer. */
static const double slice_ns = 30000;
/* … and by how much launches differ, as far as it is their own doing: where
 * nobody was seen a large part, as with cold caches; in company little. */
static const double alone_part = 0.25, company_part = 0.02;

/* Tries in a row, where no other hope is left; tries that took longer than
 * others, since a clock that fell stays down; pieces that are made of one; and
 * device time that may be thrown away, for one experiment and for all: beside
 * another process a whole run takes some seconds longer, not minutes. */
enum {
    PIECES = 16,
    TRIES_MOST = 16,
    TRIES_LEAST = 3,
    DELAYED_MOST = 16,
    THROTTLED_MOST = 20
};
static const double spent_most_ns = 3e8, spent_on_all_ns = 8e9;

static bool has_spent(const struct guard *guard, const struct vigil *v)
{
    return v->spent_ns > spent_most_ns || guard->spent_ns > spent_on_all_ns;
}

bool guard_leapt(uint64_t gap)
{
    return gap > GAP_MOST;
}

void guard_judge(struct guard *guard, struct repetition *r, bool throttled,
                 int other_processes)
{
    const bool leapt = guard_leapt(r->gap);
    guard->leapt = guard->leapt || leapt;
    guard->company = guard->company || leapt || other_processes > 0;
    guard->in_a_row = throttled ? guard->in_a_row + 1 : 0;
    r->by = throttled ? BY_THROTTLING : leapt ? BY_ANOTHER : UNDISTURBED;
}

/* What a kernel measured does not depend on when it may begin: where another
 * process takes turns, a launch also lasts longer because it waits for its own,
 * and then its figure is that of the others (H200, 2026-11: 21 of 25 launches
 * of half a millisecond lasted longer, all of exactly as many cycles). */
static bool is_alike(const struct repetition *a, const struct repetition *b)
{
    return b->figure != 0 &&
           fabs(a->figure - b->figure) <= company_part * fabs(b->figure);
}

/* Of kernels that tell their gap no longer time is needed to know. */
size_t guard_outlier(const struct guard *guard, const struct repetition *r,
                     size_t count)
{
    const double part = guard->company ? company_part : alone_part;
    size_t i = 0, quickest = 0;
    for (size_t k = 0; k < count; k++)
        if (r[k].ns < r[quickest].ns)
            quickest = k;
    const double most = count > 0 ? (1 + part) * r[quickest].ns + slice_ns : 0;
    while (i < count && (r[i].by != UNDISTURBED || r[i].gap > 0 ||
                         r[i].ns <= most || is_alike(&r[i], &r[quickest])))
        i++;
    return i;
}

static unsigned patience(const struct guard *guard, const struct vigil *v,
                         const struct repetition *r)
{
    if (v->pieces > 1 && r->ns >= 0.75 * v->whole_ns)
        return TRIES_LEAST;
    return guard->hopeless_ns > 0 && r->ns >= guard->hopeless_ns ? TRIES_LEAST
                                                                 : TRIES_MOST;
}

static bool gives_up(const struct guard *guard, const struct vigil *v,
                     const struct repetition *r)
{
    if (v->once || v->gave_up)
        return true;
    if (r->by == BY_THROTTLING)
        return guard->in_a_row > THROTTLED_MOST;
    if (r->by == BY_DELAY)
        return v->disturbed[BY_DELAY] > DELAYED_MOST;
    return v->failed >= patience(guard, v, r) ||
           (v->failed >= TRIES_LEAST && has_spent(guard, v));
}

/* A process that came a few times in a row will come again.  Pieces that take
 * nearly as long, since all prepare what the whole does, are no help. */
static bool cut(const struct guard *guard, struct vigil *v,
                const struct repetition *r)
{
    const bool helps = v->pieces == 1 || r->ns < 0.75 * v->whole_ns;
    if (r->by != BY_ANOTHER || v->gave_up || v->failed < TRIES_LEAST ||
        v->pieces >= v->pieces_most || has_spent(guard, v) || !helps)
        return false;
    v->whole_ns = v->pieces == 1 ? r->ns : v->whole_ns;
    v->pieces = PIECES * v->pieces < v->pieces_most ? PIECES * v->pieces
                                                    : v->pieces_most;
    v->failed = 0;
    return true;
}

bool guard_again(struct guard *guard, struct vigil *v,
                 const struct repetition *r)
{
    v->disturbed[r->by]++;
    v->failed++;
    v->spent_ns += r->spent_ns;
    guard->spent_ns += r->spent_ns;
    const bool ends = !cut(guard, v, r) && gives_up(guard, v, r);
    if (ends && !v->once && !v->gave_up && r->by == BY_ANOTHER &&
        v->failed >= TRIES_MOST &&
        (guard->hopeless_ns == 0 || r->ns < guard->hopeless_ns))
        guard->hopeless_ns = r->ns;
    v->gave_up = ends;
    guard->thrown_away += !ends;
    guard->throttled += !ends && r->by == BY_THROTTLING;
    return !ends;
}

/* That it is throttled the GPU says itself, between studies. */
char *guard_verdict(struct guard *guard, const struct vigil *v,
                    const struct repetition *r, size_t count)
{
    static const char *const what[] = {
        [BY_ANOTHER] = "another process ran on the GPU",
        [BY_DELAY] = "the GPU took clearly longer than it can",
    };
    size_t left[DISTURBANCES] = {0};
    for (size_t i = 0; i < count; i++)
        left[r[i].by]++;
    struct buf text = {0};
    for (int by = BY_ANOTHER; by < BY_THROTTLING; by++)
        if (left[by] > 0)
            buf_printf(&text, "%s%s during %u of %u runs",
                       text.length > 0 ? ", and " : "", what[by],
                       v->disturbed[by], v->tries);
    if (text.length == 0)
        return NULL;
    guard->in_doubt++;
    return buf_take(&text);
}
