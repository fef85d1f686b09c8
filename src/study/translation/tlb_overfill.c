/*
 * The sets of a TLB that a row of regions fills to the last entry.  One place
 * more overfills the set that it comes to, of which then some place misses
 * that hit before, under a policy that goes by turns all; and none of another
 * set does.  So each further place tells a whole set at once, whatever the
 * index is and however many ways each set has (Mei 2014 found 17 + 6 x 8 so):
 * where conflicts take a search for each place, and ways that differ from set
 * to set leave nothing for them to agree in.
 *
 * Sets are told if they share all places of the row among them, if any place of
 * one makes room for one more, and none of another does, and if whatever lies
 * elsewhere overfills one of these, too.
 *
 * Where sets share room beside them, how many miss tells: if s entries are
 * beside S sets of w ways, S w + s in a row fit, and of k more those of k + s
 * sets miss, w + 1 of each, until all do.
 */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "study/translation/tlb.h"

/* Loads that all this may take; sets; places elsewhere that are to be of known
 * sets, and how far apart: a prime, so that they come to many. */
enum { LOADS_MOST = 1 << 21, SETS_MOST = 256, ELSEWHERE = 12, APART = 131 };
/* Laps before those that are timed, and these: of hits of which one in 200 is
 * late a quarter of so many are late once in three million times.  As many more
 * where what misses goes by chance, here or in a TLB before, which hides some.
 */
enum { WARM = 6, TIMED = 12, BY_CHANCE = 4, ORDERS = 3 };
/* A lap's: two parts of the row, and one place more. */
enum { STEPS = 3 };

struct overfill {
    struct tlb_question *q;
    size_t level;
    struct tlb_places row;
    uint64_t fit;
    unsigned warm, timed;
    uint64_t loads;
    size_t orders;  /* in which each place is asked about */
    uint32_t *set;  /* of each place, from 1 on; 0: not known */
    bool *left_out; /* of the row, when it is loaded */
    bool *missed;   /* when one more was loaded */
    bool disturbed; /* so nothing is told */
    size_t sets, known;
    double ways[SETS_MOST];
    uint64_t more[SETS_MOST]; /* a place that overfills the set */
};

static bool goes_by_chance(const struct tlb_question *q, size_t level)
{
    bool chance = false;
    for (size_t i = 0; i <= level; i++)
        chance = chance || q->t->tlb[i].chance;
    return chance;
}

/* As many laps of so many steps as there is room for; false if those are too
 * few. */
static bool set_laps(struct overfill *o, size_t steps)
{
    enum { WARM_LEAST = 3, TIMED_LEAST = 6 };
    const unsigned times = goes_by_chance(o->q, o->level) ? BY_CHANCE : 1,
                   room = tlb_room(o->q, steps, o->fit);
    o->warm = (unsigned)u64_min(times * WARM, room / 3);
    o->timed = (unsigned)u64_min(times * TIMED, room - o->warm);
    return o->warm >= WARM_LEAST && o->timed >= TIMED_LEAST;
}

/* The row lies in regions of its own in nearer levels, too, and is too long for
 * these, so that each load is asked of this one. */
static bool begin(struct overfill *o, struct tlb_question *q, size_t level)
{
    const struct tlb_facts *const tlb = &q->t->tlb[level];
    const uint64_t places = tlb->fit + ELSEWHERE * APART + SETS_MOST;
    *o = (struct overfill){.q = q, .level = level, .fit = tlb->fit};
    if (tlb->fit < 2 || tlb->one_set || tlb->region == 0 || tlb->hidden ||
        (q->window > 0 && places * tlb->region > q->window) ||
        !set_laps(o, STEPS))
        return false;
    for (size_t i = 0; i < level; i++)
        if (q->t->tlb[i].region == 0 || q->t->tlb[i].region > tlb->region ||
            tlb->fit < 2 * q->t->tlb[i].about)
            return false;
    o->row = tlb_in_a_row(q, tlb->region, places);
    o->set = lab_alloc(q->lab, o->fit, sizeof *o->set);
    o->missed = lab_alloc(q->lab, o->fit, sizeof *o->missed);
    o->left_out = lab_alloc(q->lab, o->fit, sizeof *o->left_out);
    return true;
}

/* Those of the row from one on up to another that are not left out. */
static void write_row(const struct overfill *o, uint64_t from, uint64_t to,
                      const char *kept, struct buf *steps)
{
    for (uint64_t end; from < to; from = end) {
        end = from + 1;
        while (end < to && o->left_out[end] == o->left_out[from])
            end++;
        if (!o->left_out[from])
            buf_printf(steps, "%s%s%" PRIu64 ":%" PRIu64 ":1",
                       steps->length > 0 ? "," : "", kept, from, end - from);
    }
}

/* In how many of the timed laps, each of so many loads, one misses. */
static unsigned slow_laps(const struct overfill *o, const struct column *c,
                          size_t each, size_t at)
{
    unsigned slow = 0;
    for (unsigned lap = 0; lap < o->timed; lap++)
        slow += c->at[lap * each + at] > o->q->t->tlb[o->level].middle;
    return slow;
}

/* Adds which of the row miss in a quarter of the timed laps, of which each has
 * one place more after so many. */
static void ask_once(struct overfill *o, uint64_t more, uint64_t after)
{
    struct buf steps = {0};
    for (unsigned lap = 0; lap < o->warm + o->timed; lap++) {
        const char *const kept = lap < o->warm ? "" : "!";
        write_row(o, 0, after, kept, &steps);
        buf_printf(&steps, "%s%" PRIu64 ":1:1", steps.length > 0 ? "," : "",
                   more);
        write_row(o, after, o->fit, kept, &steps);
    }
    lab_spare(o->q->lab, true);
    const struct column c = tlb_ask(o->q, &o->row, buf_string(&steps), " ");
    o->disturbed |= lab_spared(o->q->lab) != NULL;
    const size_t each = c.count / o->timed;
    buf_free(&steps);
    o->loads += (o->warm + o->timed) * (o->fit + 1);
    for (size_t i = 0, at = 0; i < o->fit && at < each; i++) {
        if (o->left_out[i])
            continue;
        o->missed[i] |= 4 * slow_laps(o, &c, each, at++) > o->timed;
    }
}

/* How many places of the row miss when there is one more. */
static size_t ask(struct overfill *o, uint64_t more)
{
    const uint64_t after[ORDERS] = {o->fit, 0, o->fit / 2};
    size_t count = 0;
    memset(o->missed, 0, o->fit * sizeof *o->missed);
    for (size_t i = 0; i < o->orders; i++)
        ask_once(o, more, after[i]);
    for (uint64_t i = 0; i < o->fit; i++)
        count += o->missed[i];
    return count;
}

/* The set that half of those that miss are of, at least, and none of another;
 * 0: none of them is known; -1: they are of several. */
static int set_of_missed(const struct overfill *o, size_t count)
{
    uint32_t set = 0;
    size_t of_set = 0;
    for (uint64_t i = 0; i < o->fit; i++) {
        if (!o->missed[i] || o->set[i] == 0)
            continue;
        if (set != 0 && o->set[i] != set)
            return -1;
        set = o->set[i];
        of_set++;
    }
    return 2 * of_set >= count || set == 0 ? (int)set : -1;
}

/* False if what one place more makes miss is no set beside those before. */
static bool learn(struct overfill *o, uint64_t more)
{
    const size_t count = ask(o, more);
    int set = set_of_missed(o, count);
    if (!lab_ok(o->q->lab) || o->disturbed || count == 0 || set < 0 ||
        (set == 0 && o->sets == SETS_MOST))
        return false;
    if (set == 0) {
        set = (int)++o->sets;
        o->ways[set - 1] = 0;
        o->more[set - 1] = more;
    }
    for (uint64_t i = 0; i < o->fit; i++)
        if (o->missed[i] && o->set[i] == 0) {
            o->set[i] = (uint32_t)set;
            o->ways[set - 1]++;
            o->known++;
        }
    return true;
}

/* True if the row is shared among sets; what comes next in it goes to one after
 * the other, or in turns of an index. */
static bool share_row(struct overfill *o, size_t orders)
{
    o->orders = orders;
    o->sets = o->known = 0;
    memset(o->set, 0, o->fit * sizeof *o->set);
    for (uint64_t i = 0; o->known < o->fit; i++)
        if (i == 2 * (o->sets + 4) || o->loads > LOADS_MOST ||
            !learn(o, o->fit + i))
            return false;
    return true;
}

/* True if places elsewhere are of those sets. */
static bool holds_elsewhere(struct overfill *o)
{
    const size_t sets = o->sets;
    o->orders = 1;
    for (uint64_t i = 1; i <= ELSEWHERE; i++)
        if (!learn(o, o->fit + i * APART))
            return false;
    return o->sets == sets;
}

/* Leaves out that place of each set that is asked for: of one, or of all
 * others. */
static void leave_out(struct overfill *o, uint32_t set, bool others,
                      uint64_t which)
{
    uint64_t *const seen = lab_alloc(o->q->lab, o->sets, sizeof *seen);
    for (uint64_t i = 0; i < o->fit; i++) {
        const uint32_t of = o->set[i];
        o->left_out[i] = (of != set) == others && seen[of - 1]++ == which;
    }
}

/* What one place more makes miss hits once any of its set has left: places of
 * several sets that share room beside them do not. */
static bool is_one(struct overfill *o, uint32_t set)
{
    const uint64_t ways = (uint64_t)o->ways[set - 1],
                   which[] = {ways / 3, ways - u64_min(ways, 2)};
    bool one = true;
    for (size_t i = 0; one && i < COUNT_OF(which); i++) {
        leave_out(o, set, false, which[i]);
        one = ask(o, o->more[set - 1]) == 0;
    }
    return one;
}

/* It misses yet when one of each other set has left, unless that is a part of
 * its own. */
static bool is_all(struct overfill *o, uint32_t set)
{
    leave_out(o, set, true, 0);
    return ask(o, o->more[set - 1]) > 0;
}

/* Of one set other steps tell. */
static bool are_whole(struct overfill *o)
{
    bool whole = o->sets > 1 && set_laps(o, STEPS + o->sets);
    for (uint32_t set = 1; whole && set <= o->sets; set++)
        whole = is_one(o, set) && is_all(o, set);
    memset(o->left_out, 0, o->fit * sizeof *o->left_out);
    return set_laps(o, STEPS) && whole && !o->disturbed && lab_ok(o->q->lab);
}

/* True if one of the sets has as many ways as conflicts say of the target's. */
static bool agrees(const struct overfill *o)
{
    const struct tlb_conflict *const c = tlb_conflict_of(o->q, o->level, 0);
    bool any = c->set.count == 0;
    for (size_t i = 0; i < o->sets; i++)
        any = any || o->ways[i] == (double)c->set.count;
    return any;
}

size_t tlb_overfill(struct tlb_question *q, size_t level, double **ways)
{
    struct overfill *const o = lab_alloc(q->lab, 1, sizeof *o);
    const struct tlb_row row = q->row;
    if (!begin(o, q, level))
        return 0;
    q->row = (struct tlb_row){0};
    /* Under nru some of a set stay, lap for lap; others do where one more comes
     * between others. */
    const bool told = (share_row(o, 1) || share_row(o, ORDERS)) && agrees(o) &&
                      are_whole(o) && holds_elsewhere(o);
    q->row = row;
    log_say(LOG_DEBUG,
            "tlb_l%zu: %zu sets share %zu of %" PRIu64 " in a row: %d, %" PRIu64
            " loads",
            level + 1, o->sets, o->known, o->fit, told, o->loads);
    *ways = o->ways;
    return told ? o->sets : 0;
}

/* ---- room beside the sets ---------------------------------------------- */

/* Adds every so many from one on up to another. */
static void write_by_step(uint64_t from, uint64_t to, uint64_t step,
                          const char *kept, struct buf *steps)
{
    if (from < to)
        buf_printf(steps, "%s%s%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                   steps->length > 0 ? "," : "", kept, from,
                   (to - from + step - 1) / step, step);
}

/* Adds which of so many in a row, without one, miss in most laps that go over
 * every so many of them, and then over the others. */
static void ask_by_step(struct overfill *o, uint64_t without, uint64_t step,
                        bool *missed)
{
    const uint64_t places = o->fit, each = places - (without < places);
    struct buf steps = {0};
    for (unsigned lap = 0; lap < o->warm + o->timed; lap++)
        for (uint64_t i = 0; i < step; i++) {
            const char *const kept = lap < o->warm ? "" : "!";
            const bool has = without < places && without % step == i;
            write_by_step(i, has ? without : places, step, kept, &steps);
            if (has)
                write_by_step(without + step, places, step, kept, &steps);
        }
    lab_spare(o->q->lab, true);
    const struct column c = tlb_ask(o->q, &o->row, buf_string(&steps), " ");
    o->disturbed |= lab_spared(o->q->lab) != NULL;
    buf_free(&steps);
    o->loads += (o->warm + o->timed) * each;
    for (uint64_t i = 0, at = 0; i < step && c.count == o->timed * each; i++)
        for (uint64_t place = i; place < places; place += step)
            if (place != without)
                missed[place] |= 2 * slow_laps(o, &c, each, at++) > o->timed;
}

/* How many of so many in a row, without one, miss in some order: what one set
 * loses another may find beside it, where these come in turn. */
enum { ALL = UINT32_MAX >> 1 };

static uint64_t ask_row(struct overfill *o, uint64_t places, uint64_t without)
{
    bool *const missed = lab_alloc(o->q->lab, places, sizeof *missed);
    uint64_t count = 0;
    o->fit = places; /* laps are to have room for it */
    if (!set_laps(o, o->orders + 1))
        o->disturbed = true;
    for (uint64_t step = 1; !o->disturbed && step <= o->orders; step++)
        ask_by_step(o, without, step, missed);
    for (uint64_t i = 0; i < places; i++)
        count += missed[i];
    return count;
}

/* So many fit, and of one more the first miss; each further place makes a set
 * miss, until all do. */
struct beside {
    uint64_t fit, first, set, all;
};

/* Those after so many that fit without what is beside; false if what misses is
 * not that of sets alike.  The first may be one set of more ways than others:
 * then without one of it none of it misses, when there is one of another. */
static bool ask_beside(struct overfill *o, uint64_t fit, struct beside *b)
{
    enum { SPARE_MOST = 8 };
    uint64_t places = fit + 1;
    while ((b->first = ask_row(o, places, ALL)) == 0 &&
           places < fit + SPARE_MOST)
        places++;
    b->fit = places - 1;
    b->all = b->first;
    while (b->first > 0 && b->all < places) {
        const uint64_t now = ask_row(o, ++places, ALL);
        if (now < b->all + 2 || (b->set > 0 && now - b->all != b->set) ||
            o->loads > LOADS_MOST || o->disturbed)
            return false;
        b->set = now - b->all;
        b->all = now;
    }
    return b->set > 0 && b->first % b->set == 0 && b->all % b->set == 0 &&
           ask_row(o, b->fit + 2, b->fit) == b->first && !o->disturbed;
}

size_t tlb_beside_room(struct tlb_question *q, size_t level, uint64_t *ways)
{
    static const size_t orders[] = {1, 9};
    struct overfill *const o = lab_alloc(q->lab, 1, sizeof *o);
    const struct tlb_row row = q->row;
    uint64_t sets = 0, spare = 0;
    if (!begin(o, q, level))
        return 0;
    q->row = (struct tlb_row){0};
    for (size_t i = 0; sets == 0 && i < COUNT_OF(orders); i++) {
        struct beside b = {0};
        o->orders = orders[i];
        if (!ask_beside(o, q->t->tlb[level].fit, &b))
            continue;
        *ways = b.set - 1;
        spare = b.first / b.set - 1;
        sets = b.all / b.set;
        if (spare == 0 || sets * *ways + spare != b.fit)
            sets = 0;
    }
    q->row = row;
    log_say(LOG_DEBUG,
            "tlb_l%zu: %" PRIu64 " sets of %" PRIu64 " ways, %" PRIu64
            " entries beside, %" PRIu64 " loads",
            level + 1, sets, *ways, spare, o->loads);
    return lab_ok(q->lab) ? sets : 0;
}
