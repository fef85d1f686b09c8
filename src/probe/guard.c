#include "probe/guard.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"

/* Between two reads of the clock are 71 loads at most (chase.c).  The slowest
 * load known, one from memory by way of a page walk, takes 1300 cycles, so they
 * take no 93 000, with what noise there is; another process has the GPU for
 * hundreds of microseconds (an H200's for 0.8 to 4.8 million cycles). */
enum { GAP_MOST = 160000 };

/* An event's timestamp is good for some microseconds; a turn of another's is
 * far longer. */
static const double slice_ns = 30000;
/* … and by how much launches differ, as far as it is their own doing: where
 * nobody was seen a large part, as with cold caches; in company little. */
static const double alone_part = 0.25, company_part = 0.02;

/* What takes so much of a turn should end within one: not all are as long, and
 * a launch may begin late in its own. */
static const double fits_part = 0.8;

/* Tries in a row, of what fits, of what may, and where no more time is left; of
 * what may, so many that a process which comes to every third launch, at any
 * time, disturbs all of them once in a thousand; tries that took longer than
 * others, since a clock that fell stays down.  Of what is not kept there may be
 * so much, for one experiment and for all: as much device time as is kept, and
 * some seconds; and as many launches, pieces among them, as there are
 * repetitions, and what these seconds hold beside a process that has the GPU
 * for 2 ms between two. */
enum {
    TRIES_MOST = 16,
    TRIES_SOME = 6,
    TRIES_LEAST = 3,
    DELAYED_MOST = 16,
    THROTTLED_MOST = 20,
    SPENT_MOST = 150,
    SPENT_ON_ALL = 3000
};
static const double spent_most_ns = 3e8, spent_on_all_ns = 3e9;

static bool has_spent(const struct guard *guard, const struct vigil *v)
{
    return v->spent_ns > spent_most_ns || v->spent > SPENT_MOST ||
           guard->spent_ns > spent_on_all_ns + guard->kept_ns ||
           guard->spent > SPENT_ON_ALL + guard->kept;
}

bool guard_leapt(const struct watch *watch)
{
    return watch->gap > GAP_MOST;
}

/* How often it was interrupted, at least. */
static double leaps_of(const struct guard *guard, const struct watch *w)
{
    if (!guard_leapt(w))
        return 0;
    return guard->turn > 0 ? fmax(1, floor(w->span / (guard->turn + w->gap)))
                           : 1;
}

/* Cycles that it ran: all but the leaps, of which only the longest is told, and
 * as many turns as these ended. */
static double cycles_of(const struct guard *guard, const struct watch *w)
{
    const double leaps = leaps_of(guard, w);
    const double cycles = fmax(0, w->span - leaps * w->gap);
    return leaps > 1 ? fmax(cycles, leaps * guard->turn) : cycles;
}

/* What was interrupted has seen no more than a turn for each leap.  It may have
 * begun late in its first, or have leapt more often than is known: one launch
 * alone does not change much. */
void guard_learn(struct guard *guard, const struct watch *watch)
{
    const double leaps = leaps_of(guard, watch);
    const double turn = cycles_of(guard, watch) / fmax(leaps, 1);
    if (!watch->told || turn <= 0)
        return;
    if (leaps == 0 && turn >= guard->fails)
        guard->fails = 0;
    if (leaps > 0 && guard->turn == 0)
        guard->turn = turn;
    else if (leaps > 0)
        guard->turn = fmin(guard->turn, fmax(turn, guard->turn / 4));
    else if (guard->turn > 0)
        guard->turn = fmax(guard->turn, turn);
}

void guard_judge(struct guard *guard, struct repetition *r, bool throttled,
                 int other_processes)
{
    const bool leapt = guard_leapt(&r->watch);
    guard->leapt = guard->leapt || leapt;
    guard->company = guard->company || leapt || other_processes > 0;
    guard->in_a_row = throttled ? guard->in_a_row + 1 : 0;
    guard->kept_ns += r->spent_ns;
    guard->kept++;
    guard->spent += r->more;
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

/* Of kernels that tell of leaps no longer time is needed to know. */
size_t guard_outlier(const struct guard *guard, const struct repetition *r,
                     size_t count)
{
    const double part = guard->company ? company_part : alone_part;
    size_t i = 0, quickest = 0;
    for (size_t k = 0; k < count; k++)
        if (r[k].ns < r[quickest].ns)
            quickest = k;
    const double most = count > 0 ? (1 + part) * r[quickest].ns + slice_ns : 0;
    while (i < count && (r[i].by != UNDISTURBED || r[i].watch.told ||
                         r[i].ns <= most || is_alike(&r[i], &r[quickest])))
        i++;
    return i;
}

/* L2 takes some 200 to 300 cycles. */
double guard_room(const struct guard *guard)
{
    const double load = 256;
    return guard->turn / 4 / load;
}

/* No load of any GPU that is known takes less (23 of shared memory). */
enum { LOAD_LEAST = 20, FIRST_PIECES = 4 };

void guard_begin(const struct guard *guard, struct vigil *v, uint64_t loads)
{
    const double cycles = LOAD_LEAST * (double)loads;
    v->brisk = v->once && guard->leapt;
    if (guard->fails == 0 || cycles < guard->fails || v->once)
        return;
    v->brisk = true;
    v->whole = cycles;
    v->pieces = v->pieces_most < FIRST_PIECES ? v->pieces_most : FIRST_PIECES;
}

/* ---- what is taken again ---------------------------------------------- */

static bool fits(const struct guard *guard, const struct repetition *r)
{
    return cycles_of(guard, &r->watch) <= fits_part * guard->turn;
}

static bool gives_up(const struct guard *guard, const struct vigil *v,
                     const struct repetition *r)
{
    if (v->once || v->gave_up || v->hopeless)
        return true;
    if (r->by == BY_THROTTLING)
        return guard->in_a_row > THROTTLED_MOST;
    if (r->by == BY_DELAY)
        return v->disturbed[BY_DELAY] > DELAYED_MOST;
    return v->failed >= (fits(guard, r) ? TRIES_MOST : TRIES_SOME) ||
           (v->failed >= TRIES_LEAST && has_spent(guard, v));
}

/*
 * How many pieces of what takes `whole` cycles fit a turn, each with all that
 * prepares it: which is what `pieces` pieces take more than the whole, of which
 * one took `piece`.  0: none does.
 */
static double pieces_that_fit(const struct guard *guard, const struct vigil *v,
                              double piece)
{
    const double prepares =
        fmax(0, (v->pieces * piece - v->whole) / (v->pieces - 1));
    const double room = fits_part * guard->turn - prepares;
    return room > 0 ? ceil((v->whole - prepares) / room) : 0;
}

/* Half a turn may be for what prepares a piece.  Where no piece seems to fit,
 * the smallest ones are tried once, since they need not be alike. */
static double pieces_wanted(const struct guard *guard, struct vigil *v,
                            double cycles)
{
    if (v->pieces == 1) {
        v->whole = cycles;
        return 2 * ceil(cycles / (fits_part * guard->turn));
    }
    const double pieces = pieces_that_fit(guard, v, cycles);
    return pieces > 0 ? fmax(pieces, 2.0 * v->pieces) : v->pieces_most;
}

/* True of what took as long as what was always disturbed, or now is known to
 * be; and of what should have had luck, in vain: what went ahead of it may have
 * taken a part of the turn. */
static bool always_fails(struct guard *guard, const struct vigil *v,
                         const struct repetition *r)
{
    const double cycles = cycles_of(guard, &r->watch);
    if (!fits(guard, r) && guard->fails > 0 && cycles >= guard->fails)
        return true;
    if (v->failed < TRIES_SOME)
        return false;
    if (!fits(guard, r))
        guard->fails = cycles;
    return !fits(guard, r) || v->pieces < v->pieces_most;
}

/* Cuts what does not fit a turn; or has no hope. */
static bool cut(struct guard *guard, struct vigil *v,
                const struct repetition *r)
{
    if (r->by != BY_ANOTHER || v->once || v->gave_up || has_spent(guard, v) ||
        !always_fails(guard, v, r))
        return false;
    v->hopeless = v->brisk && v->pieces == v->pieces_most;
    if (v->hopeless)
        return false;
    v->brisk = true;
    v->pieces = (unsigned)fmin(
        pieces_wanted(guard, v, cycles_of(guard, &r->watch)), v->pieces_most);
    v->failed = 0;
    return true;
}

bool guard_again(struct guard *guard, struct vigil *v,
                 const struct repetition *r)
{
    v->disturbed[r->by]++;
    v->failed++;
    v->spent_ns += r->spent_ns;
    v->spent += r->more + 1;
    guard->spent_ns += r->spent_ns;
    guard->spent++;
    guard->kept_ns -= r->spent_ns;
    guard->kept--;
    const bool ends = !cut(guard, v, r) && gives_up(guard, v, r);
    v->gave_up = ends;
    guard->thrown_away += !ends;
    guard->throttled += !ends && r->by == BY_THROTTLING;
    return !ends;
}

static const char *const what[] = {
    [BY_ANOTHER] = "another process ran on the GPU",
    [BY_DELAY] = "the GPU took clearly longer than it can",
};

/* That it is throttled the GPU says itself, between studies. */
char *guard_verdict(struct guard *guard, const struct vigil *v,
                    const struct repetition *r, size_t count)
{
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
    guard->left += !v->once && !v->hopeless && has_spent(guard, v);
    return buf_take(&text);
}

void guard_recall(struct guard *guard, const char *verdict)
{
    const bool leapt = strstr(verdict, what[BY_ANOTHER]) != NULL;
    guard->leapt = guard->leapt || leapt;
    guard->company = guard->company || leapt;
}
