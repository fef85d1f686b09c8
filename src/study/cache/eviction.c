/*
 * Every question is one launch, or a few: settle, then laps that are timed.
 *
 * Settling.  A cache of an SM is empty when a launch begins and fills its empty
 * ways first, so one lap settles it.  One that lasts holds other data; under
 * random victims those go by chance, and a tree of bits may keep a stale line
 * for ever if the laps are all alike: so it is settled by laps and by random
 * visits, and by many more if single loads still miss, but not the same ones.
 *
 * Misses.  A load is a miss if it costs at least half of what a miss costs more
 * than a hit.  A disturbed load may look like one: lines do not fit only if
 * every lap has a miss, so many laps that it cannot be chance.
 */
#include "study/cache/eviction.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/hits.h"
#include "analysis/search.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "study/assume.h"
#include "study/l2/homes.h"

enum {
    SETTLE_MOST = 60000, /* loads to settle with */
    RETURN_LAPS = 4,     /* a group comes back after a foreign line */
    ALONE_LAPS = 3,      /* of the others, before a line is looked for */
    NEAR = 512 * 1024,   /* bytes whose translation is at hand */
    /* Lines of what all SMs share may lie on more pages than translations last
     * for; the line so many lines aside (XOR) is on the same page and of
     * another set, if its index takes one of the three lowest bits of lines, or
     * a remainder. */
    LEAD = 13,
    /* Shared memory of a launch, B, that leaves an L1 of which it is a part as
     * large as that of a trace. */
    SHARED_LEAN = 5000,
    /* What a launch has room for otherwise: less than 48 KiB; and at last. */
    SHARED_MOST = 40000,
    SHARED_LAST = 49000,
    STEP = 16, /* of which each load of a script takes so much */
    KEPT = 4   /* and so much more, if its cycles are kept */
};

bool eviction_gave_up(struct eviction *e)
{
    const bool gave_up = e->lab->err.code == ERR_UNSUPPORTED;
    if (gave_up)
        e->lab->err = (struct error){0};
    return gave_up;
}

/* ---- loads ------------------------------------------------------------ */

/* A load that costs more missed: half of what a miss costs more than a hit. */
static double cut_above(const struct eviction *e, double base)
{
    return base + 0.5 * (e->miss - e->hit);
}

static struct script script_of(const struct eviction *e)
{
    struct script s = {0};
    script_reader(&s, "%s", e->reader);
    return s;
}

static void add_lines(struct script *s, uint64_t laps, bool timed,
                      const struct script_lines *lines)
{
    script_add(
        s, &(struct script_step){.laps = laps, .timed = timed, .lines = lines});
}

/* Of a run what lies below an offset, or from there on. */
static void add_below(struct script *s, struct script_step step, uint64_t end)
{
    struct segment run = step.places;
    const uint64_t below = (end - u64_min(run.start, end) + run.step - 1);
    step.places.count = u64_min(run.count, below / run.step);
    if (step.places.count > 0)
        script_add(s, &step);
}

static void add_from(struct script *s, struct script_step step, uint64_t start)
{
    struct segment *const run = &step.places;
    for (; run->count > 0 && run->start < start; run->count--)
        run->start += run->step;
    add_below(s, step, UINT64_MAX - run->step);
}

static void empty_front(const struct eviction *e, struct script *s, bool timed)
{
    const struct front *const f = &e->front;
    for (uint64_t lap = 0; lap < f->laps; lap++)
        for (uint64_t i = 0; i < f->runs; i++) {
            struct script_step step = {
                .laps = f->twice ? 2 : 0, .timed = timed, .places = f->run};
            step.places.start += i * f->run.count * f->run.step;
            if (f->without > 0)
                add_below(s, step, f->without);
            add_from(s, step, f->without + f->bytes_without);
        }
}

/* Steps of a script that that takes. */
static size_t front_steps(const struct eviction *e)
{
    return (size_t)((e->front.twice ? 2 : 1) * e->front.runs * e->front.laps);
}

struct script_lines eviction_front_lines(const struct eviction *e)
{
    const struct segment *const run = &e->front.run;
    const uint64_t loads = e->front.runs * run->count;
    struct script_lines lines = {lab_alloc(e->lab, loads + 1, sizeof *lines.at),
                                 0};
    for (uint64_t i = 0; i < loads; i++) {
        const uint64_t at = (run->start + i * run->step) / e->unit * e->unit;
        if (lines.count == 0 || lines.at[lines.count - 1] != at)
            lines.at[lines.count++] = at;
    }
    return lines;
}

static void look_again(const struct eviction *e, struct script *s,
                       uint64_t laps, const struct script_lines *lines)
{
    empty_front(e, s, false);
    add_lines(s, laps, true, lines);
}

/* Where code may lie in the same cache, all that a script runs comes in before
 * the lines do, by loads of the last one that may be loaded, kept and not, and
 * in a row: then it goes before they do.  How many loads are kept of it. */
static size_t bring_code(const struct eviction *e, struct script *s)
{
    const struct segment last = {e->span - e->unit, 2, 0};
    if (e->front.run.count == 0)
        return 0;
    script_time(s, 0, last);
    script_load(s, 0, last);
    return last.count;
}

/* Warps that load many lines in a random order. */
enum { WARPS = 8 };

static const char *text_of(const struct eviction *e, struct script *s)
{
    const char *text = script_text(s, e->lab);
    if (e->lasting)
        text = lab_text(e->lab, "%s lead=%" PRIu64, text, LEAD * e->unit);
    if (e->homes != NULL)
        text = lab_text(e->lab, "%s %s", text, e->homes);
    if (e->strewn > 0)
        text = lab_text(e->lab, "%s scramble=%u unit=%" PRIu64 " many=%u", text,
                        e->strewn, e->unit, lab_warps(e->lab, WARPS));
    return text;
}

/* In half of the places each set has twice as many lines as ways, and so as
 * many as these but once in 4000 (of 16; Poisson's law). */
bool eviction_strew(struct eviction *e, uint64_t lines)
{
    enum { SIZES = 4 };
    unsigned bits = 1;
    while ((uint64_t)1 << bits < SIZES * lines)
        bits++;
    if (e->unit << bits > e->span)
        return false;
    e->strewn = bits;
    e->whole = e->span;
    e->span = e->unit << bits;
    return true;
}

/* So many questions tell the structure of any cache, or none do: of GPUs that
 * are shipped or were drawn 300 to 7000, and 8000 take two to three seconds of
 * an H200, 0.3 ms each. */
enum { VISITS_MOST = 8000 };

size_t eviction_questions_left(const struct eviction *e)
{
    const size_t most = VISITS_MOST + e->more;
    return most - u64_min(e->visits, most);
}

static void count_visit(struct eviction *e)
{
    const bool too_many = eviction_questions_left(e) == 0;
    e->visits++;
    if (too_many)
        lab_fail(e->lab, ERR_UNSUPPORTED, why_conflicts_dear,
                 (int)(VISITS_MOST + e->more));
}

void eviction_ask_more(struct eviction *e)
{
    e->more = VISITS_MOST / 2;
}

/* The loads of a script, with what empties the cache in front. */
static const struct samples *visit(struct eviction *e, struct script *s,
                                   unsigned take)
{
    const struct segments *const f = &e->filler;
    const char *between = "";
    for (size_t i = 0; i < f->count; i++)
        between = lab_text(e->lab, "%s%s%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                           between, i > 0 ? "," : " between=", f->at[i].start,
                           f->at[i].count, f->at[i].step);
    const char *const where =
        e->mapped == 0
            ? ""
            : lab_text(e->lab,
                       " piece=%" PRIu64 " apart=%" PRIu64 " unit=1 dense=1",
                       e->span, (uint64_t)1 << e->mapped);
    count_visit(e);
    return lab_probe(e->lab, "visit %s%s%s take=%u", text_of(e, s), between,
                     where, take);
}

static struct column visit_cycles(struct eviction *e, struct script *s,
                                  unsigned take)
{
    const struct column c = lab_column_of(e->lab, visit(e, s, take), "cycles");
    e->asked = c.experiment;
    return c;
}

/* Loads that are kept: a lap over a group, and after others came one more, with
 * what empties the cache in front before it. */
struct laps {
    const double *cycles, *offset;
    size_t count;
};

static struct laps visit_laps(struct eviction *e, struct script *s)
{
    const struct samples *const v = visit(e, s, 0);
    const struct column cycles = lab_column_of(e->lab, v, "cycles");
    const struct column offset = lab_column_of(e->lab, v, "offset");
    e->asked = cycles.experiment;
    return (struct laps){cycles.at, offset.at, cycles.count};
}

/* What a hit costs, by loads that nearly all hit. */
static double base_of(const struct eviction *e, const double *cycles,
                      size_t count)
{
    return fmax(e->hit, stats_median(cycles, count));
}

/* What a hit costs where the list lies: lines beside those of the list, on the
 * same pages but in different sets, cost the same translation. */
static double find_base(struct eviction *e, const struct segment *list)
{
    const struct segment beside = {list->start, list->count,
                                   list->step + e->unit};
    if (e->strewn > 0 || list->step * list->count < NEAR ||
        segment_end(&beside) > e->span || list->count > e->held / 2)
        return e->hit;
    struct script s = script_of(e);
    script_add(&s, &(struct script_step){.laps = 3, .places = beside});
    script_time(&s, 0, beside);
    const struct column c = visit_cycles(e, &s, 0);
    return base_of(e, c.at, c.count);
}

/* Laps to settle with: some, then many. */
static uint64_t settling(const struct eviction *e, uint64_t count, int attempt)
{
    static const uint64_t laps[] = {3, 24, 96};
    if (!e->lasting)
        return 2;
    return u64_min(laps[attempt], SETTLE_MOST / (count + 1) + 2);
}

double eviction_base(struct eviction *e, const struct script_lines *lines)
{
    struct script_lines beside = {
        lab_alloc(e->lab, lines->count, sizeof *beside.at), lines->count};
    uint64_t end = 0;
    for (size_t i = 0; i < lines->count; i++)
        end = u64_max(lines->at[i], end);
    if (end < NEAR)
        return e->hit;
    for (size_t i = 0; i < lines->count; i++)
        beside.at[i] = (lines->at[i] / e->unit ^ (1 + i % 15)) * e->unit;
    struct script s = script_of(e);
    const size_t first = bring_code(e, &s);
    add_lines(&s, settling(e, lines->count, 0), false, &beside);
    look_again(e, &s, 0, &beside);
    const struct column c = visit_cycles(e, &s, 0);
    return lab_ok(e->lab) ? base_of(e, c.at + first, c.count - first) : e->hit;
}

/* ---- does it evict? --------------------------------------------------- */

/* So many of a group's loads are late by chance, but once in a thousand or
 * less. */
static size_t strays_of(const struct eviction *e, size_t count)
{
    const double strays = e->disturbed * (double)count;
    return (size_t)(strays + 3 * sqrt(strays));
}

/*
 * A disturbed load may say either.  What so many misses of a full set's lines
 * say is the logarithm of how many times as likely they are where a line was
 * put out, and one at least is not by chance, as where all are: of Poisson's
 * distribution that is misses by mean.  Votes go on until that leads far enough
 * (Wald's sequential test, 1945).
 */
/* That a line which was put out is not missed: the group was not all of the
 * set, or had moved. */
static const double unseen = 0.05;

static double vote_of(const struct eviction *e, uint64_t lines, size_t misses)
{
    const double mean = fmax(e->disturbed * (double)lines, unseen);
    return log((1 - unseen) * (double)misses / mean + unseen);
}

/* … by one of 5000. */
static const double lead_least = 8.5;

/* Whether a load is of the group's lines: what empties the cache in front is of
 * others, too. */
static bool is_of_group(const struct eviction *e,
                        const struct script_lines *group, double offset)
{
    return e->front.runs == 0 ||
           script_lists(group, (uint64_t)offset / e->unit * e->unit);
}

/* Whether each line of the group was looked for in this cache after the others
 * came: those that empty what lies in front are by that, if not as the last lap
 * comes. */
static bool all_were_asked(const struct eviction *e, const struct laps *l,
                           const struct script_lines *group)
{
    if (e->front.runs == 0)
        return true;
    for (size_t n = 0; n < group->count; n++) {
        bool asked = false;
        for (size_t i = group->count; i < l->count && !asked; i++)
            asked =
                (uint64_t)l->offset[i] / e->unit * e->unit == group->at[n] &&
                l->cycles[i] >= e->front.answers;
        if (!asked)
            return false;
    }
    return true;
}

/* Adds what the laps over a group before and after the others came say; false
 * if the group did not stay, or it is not known whether it did after. */
static bool add_vote(const struct eviction *e, const struct laps *l,
                     const struct script_lines *group, double cut, double *lead)
{
    size_t loads = 0, misses = 0;
    if (hits_above(l->cycles, group->count, cut) > strays_of(e, group->count))
        return false;
    for (size_t i = group->count; i < l->count; i++)
        if (is_of_group(e, group, l->offset[i])) {
            loads++;
            misses += l->cycles[i] > cut;
        }
    if (misses == 0 && !all_were_asked(e, l, group))
        return false;
    *lead += vote_of(e, loads, misses);
    return true;
}

/* The group once more; what empties the cache in front is timed, since a line
 * of the group that it loads may come back by that. */
static void look_after(const struct eviction *e, struct script *s,
                       const struct script_lines *group)
{
    empty_front(e, s, true);
    add_lines(s, 0, true, group);
}

/* The group fills its set, once more before and once after the others came;
 * false if it did not stay. */
static bool try_eviction(struct eviction *e, const struct script_lines *group,
                         const struct segment *others, size_t count,
                         int attempt, double *lead)
{
    const size_t ways = group->count;
    struct script s = script_of(e);
    add_lines(&s, settling(e, ways, attempt), false, group);
    look_again(e, &s, 0, group);
    for (size_t i = 0; i < count; i++)
        script_load(&s, 0, others[i]);
    look_after(e, &s, group);
    const struct laps l = visit_laps(e, &s);
    return lab_ok(e->lab) &&
           add_vote(e, &l, group, cut_above(e, base_of(e, l.cycles, ways)),
                    lead);
}

bool eviction_evicts(struct eviction *e, const struct script_lines *group,
                     const struct segment *others, size_t count)
{
    enum { TRIES = 60 };
    double lead = 0;
    int valid = 0;
    /* More laps where those did not settle it. */
    for (int i = 0; lab_ok(e->lab) && i < TRIES && fabs(lead) < lead_least; i++)
        valid += try_eviction(e, group, others, count, (i - valid) % 3, &lead);
    if (fabs(lead) < lead_least)
        lab_fail(e->lab, ERR_UNSUPPORTED, why_group_moves,
                 (uint64_t)group->count, valid, TRIES);
    return lead > 0;
}

/* Rounds over lines that nobody loaded before: each at one address, there
 * again, and at the other. */
bool eviction_is_virtual(struct eviction *e)
{
    enum { TIMES = 5 };
    const double cut = cut_above(e, e->hit);
    size_t others = 0;
    struct script s = script_of(e);
    for (uint64_t i = 0; i < TIMES; i++) {
        const struct segment here = {i * e->unit, 1, 0};
        script_load(&s, 0, here);
        script_time(&s, 0, here);
        script_time(&s, 0, (struct segment){here.start + e->span, 1, 0});
    }
    const struct column c = visit_cycles(e, &s, 0);
    for (size_t i = 0; lab_ok(e->lab) && i < TIMES; i++)
        others += c.at[2 * i] <= cut && c.at[2 * i + 1] > cut;
    return others > TIMES / 2;
}

/* Laps in which a full set is again as it was: where victims are picked by
 * chance each miss puts the foreign line out once in as many times as there are
 * ways; but no more than 1200 loads, which take half of SHARED_MOST. */
static uint64_t return_laps(const struct eviction *e, size_t ways)
{
    return e->chancy ? u64_within(RETURN_LAPS, 1200 / ways, 2 * ways)
                     : RETURN_LAPS;
}

/* One launch: for each of the others the group, timed before and after it. */
static struct laps come_in_turn(struct eviction *e,
                                const struct script_lines *group,
                                const uint64_t *others, size_t count)
{
    struct script s = script_of(e);
    if (e->lasting)
        add_lines(&s, settling(e, group->count, 0), false, group);
    for (size_t i = 0; i < count; i++) {
        add_lines(&s, return_laps(e, group->count), false, group);
        look_again(e, &s, 0, group);
        script_load(&s, 0, (struct segment){others[i], 1, 0});
        look_after(e, &s, group);
    }
    return visit_laps(e, &s);
}

/* Lines that are asked for in turn, and what was found of each. */
struct in_turn {
    struct script_lines lines;
    size_t *number;
    double *leads; /* by number */
};

/* Adds to the lead of each line what its coming in turn says. */
static void try_foretold(struct eviction *e, const struct script_lines *group,
                         const struct in_turn *others)
{
    const size_t ways = group->count;
    /* The laps, the group timed before and after, and what comes between. */
    const size_t each =
        (STEP * return_laps(e, ways) + 2 * (STEP + KEPT)) * ways + STEP;
    const size_t shared = e->lasting ? SHARED_MOST : SHARED_LEAN;
    const size_t settle = e->lasting ? STEP * settling(e, ways, 0) * ways : 0;
    /* What lies in front would answer for the group as it comes back. */
    const size_t most =
        e->front.runs > 0
            ? 1
            : u64_within(1, 1 + shared / each, (SHARED_LAST - settle) / each);
    const double cut = cut_above(e, eviction_base(e, group));
    for (size_t i = 0; lab_ok(e->lab) && i < others->lines.count; i += most) {
        const size_t count = u64_min(most, others->lines.count - i);
        struct laps l = come_in_turn(e, group, others->lines.at + i, count);
        l.count /= count;
        for (size_t n = 0; lab_ok(e->lab) && n < count; n++) {
            add_vote(e, &l, group, cut, &others->leads[others->number[i + n]]);
            l.cycles += l.count;
            l.offset += l.count;
        }
    }
}

/* Wald's bounds: of the lines that do not come in one of 100,000 may seem to,
 * since very many are asked, and of the others as many may seem not to as go
 * unseen. */
static enum eviction_came came_by(double lead)
{
    static const double stray = 1e-5;
    if (lead >= log((1 - unseen) / stray))
        return CAME_IN;
    return lead <= log(unseen / (1 - stray)) ? CAME_NOT : CAME_UNKNOWN;
}

/* Those of which it is not sure are asked again, from the last to the first, so
 * that others come before them. */
void eviction_foretold(struct eviction *e, const struct script_lines *group,
                       const struct script_lines *others,
                       enum eviction_came *came)
{
    enum { TAKES = 12 };
    const size_t all = others->count;
    struct in_turn open = {{lab_alloc(e->lab, all, sizeof(uint64_t)), all},
                           lab_alloc(e->lab, all, sizeof *open.number),
                           lab_alloc(e->lab, all, sizeof *open.leads)};
    for (size_t i = 0; i < all; i++)
        came[i] = CAME_UNKNOWN;
    for (unsigned take = 0; open.lines.count > 0 && take < TAKES; take++) {
        open.lines.count = 0;
        for (size_t n = 0; n < all; n++) {
            const size_t i = take % 2 == 0 ? n : all - 1 - n;
            if (came[i] != CAME_UNKNOWN)
                continue;
            open.number[open.lines.count] = i;
            open.lines.at[open.lines.count++] = others->at[i];
        }
        try_foretold(e, group, &open);
        for (size_t i = 0; lab_ok(e->lab) && i < all; i++)
            came[i] = came_by(open.leads[i]);
    }
}

/* ---- does it crowd? --------------------------------------------------- */

/* What a hit costs beside lines of the pool, which lie near if they are many.
 */
static double base_beside(struct eviction *e, const struct segments *pool)
{
    return pool->count == 1 ? find_base(e, &pool->at[0]) : e->hit;
}

static void add_pool(struct script *s, const struct segments *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        script_load(s, 0, pool->at[i]);
}

/* How often a line is looked for. */
struct rounds {
    uint64_t laps;          /* of the others, before each time */
    size_t before, counted; /* those that settle the set, and those after */
    size_t launches;        /* of as many each */
};

static struct rounds usual_rounds(const struct eviction *e, size_t counted)
{
    return (struct rounds){e->alone > 0 ? e->alone : ALONE_LAPS, 1, counted, 1};
}

/*
 * In how many rounds the first line missed.
 * A policy may keep a line that is used again and again, and put out the
 * others; so the others have some laps for themselves, in which it is the one
 * that none of them is.
 */
static size_t count_crowded(struct eviction *e,
                            const struct script_lines *lines,
                            const struct segments *pool, const struct rounds *r,
                            unsigned take)
{
    const struct script_lines others = {lines->at + 1, lines->count - 1};
    const double cut = cut_above(e, base_beside(e, pool));
    struct script s = script_of(e);
    for (uint64_t lap = 0; lap < r->laps; lap++) {
        add_pool(&s, pool);
        if (others.count > 0)
            add_lines(&s, 0, false, &others);
        empty_front(e, &s, false);
    }
    script_time(&s, 0, (struct segment){lines->at[0], 1, 0});
    count_visit(e);
    const struct column c =
        lab_column(e->lab, "cycles", "visit %s rounds=%zu take=%u",
                   text_of(e, &s), r->before + r->counted, take);
    e->asked = c.experiment;
    if (!lab_ok(e->lab))
        return 0;
    const double *const counted = c.at + r->before;
    e->front.answered =
        2 * hits_above(counted, r->counted, e->front.answers) < r->counted;
    return hits_above(counted, r->counted, cut);
}

/* In an empty cache a line that came first is the first to go, whatever the
 * policy, if nothing is left to chance: so one load tells.  What it costs. */
static double ask_first(struct eviction *e, const struct script_lines *lines,
                        const struct segments *pool, unsigned take)
{
    struct script s = script_of(e);
    const size_t first = bring_code(e, &s);
    add_lines(&s, 0, false, lines);
    add_pool(&s, pool);
    empty_front(e, &s, false);
    script_time(&s, 0, (struct segment){lines->at[0], 1, 0});
    const struct column c = visit_cycles(e, &s, take);
    return lab_ok(e->lab) ? c.at[first] : 0;
}

/* So often that disturbances would not do it but once in a million; a load that
 * did not miss was not disturbed, and one that what lies in front answered says
 * nothing. */
static bool surely_gone(struct eviction *e, const struct script_lines *lines,
                        const struct segments *pool)
{
    enum { TAKES = 20 };
    const double cut = cut_above(e, base_beside(e, pool));
    double chance = 1;
    for (unsigned take = 0; chance > 1e-6 && take < TAKES; take++) {
        const double cycles = ask_first(e, lines, pool, take);
        e->front.answered = cycles < e->front.answers;
        if (!lab_ok(e->lab) || (cycles <= cut && !e->front.answered))
            return false;
        chance *= cycles > cut ? e->disturbed : 1;
    }
    return chance <= 1e-6;
}

/* More of so many than are disturbed by chance. */
static double strays_most(const struct eviction *e, size_t count)
{
    const double strays = e->disturbed * (double)count;
    return strays + 3 * sqrt(strays) + 1;
}

/* … of lines of which some may stay by chance. */
enum { CHANCY = 128 };

/* So many rounds of the usual laps have room in a launch, beside the first. */
static size_t rounds_most(const struct eviction *e,
                          const struct script_lines *lines,
                          const struct segments *pool)
{
    const size_t steps =
        ALONE_LAPS * (lines->count + pool->count + front_steps(e)) + 1;
    return u64_within(2, SHARED_MOST / (STEP * steps), CHANCY + 1) - 1;
}

/* Most rounds are crowded, or few: else more rounds tell. */
static bool mostly_crowded(struct eviction *e, const struct script_lines *lines,
                           const struct segments *pool, size_t most)
{
    enum { FEW = 5, MANY = 25, FEW_STREWN = 2, MANY_STREWN = 7 };
    const bool strewn = e->strewn > 0;
    const size_t few = u64_min(strewn ? FEW_STREWN : FEW, most);
    const size_t many = u64_min(strewn ? MANY_STREWN : MANY, most);
    struct rounds rounds = usual_rounds(e, few);
    const size_t crowded = count_crowded(e, lines, pool, &rounds, 0);
    if (crowded == 0 || crowded == few)
        return crowded > 0;
    rounds.counted = many;
    return 2 * count_crowded(e, lines, pool, &rounds, 0) > many;
}

/* ---- where victims are picked by chance ------------------------------- */

static uint64_t lines_in(const struct script_lines *lines,
                         const struct segments *pool)
{
    uint64_t count = lines->count;
    for (size_t i = 0; i < pool->count; i++)
        count += pool->at[i].count;
    return count;
}

/* Nothing was put out in a lap that misses none.  That chance never does where
 * one set has too many, and disturbances can but hide it. */
bool eviction_all_stay(struct eviction *e, const struct script_lines *lines,
                       const struct segments *pool)
{
    enum { LAPS = 8 };
    const uint64_t count = lines_in(lines, pool);
    const size_t steps = lines->count + pool->count;
    const uint64_t room = SHARED_MOST / (STEP * steps + KEPT * count);
    const uint64_t settle = settling(e, count, 0);
    const uint64_t laps = u64_min(LAPS, room - u64_min(room, settle));
    if (laps == 0)
        return false;
    const double cut = cut_above(e, base_beside(e, pool));
    struct script s = script_of(e);
    for (uint64_t lap = 0; lap < settle + laps; lap++) {
        if (lines->count > 0)
            add_lines(&s, 0, lap >= settle, lines);
        for (size_t i = 0; i < pool->count; i++)
            script_add(&s, &(struct script_step){.timed = lap >= settle,
                                                 .places = pool->at[i]});
    }
    const struct column c = visit_cycles(e, &s, 0);
    bool stay = false;
    for (uint64_t lap = 0; lab_ok(e->lab) && lap < laps && !stay; lap++)
        stay = hits_above(c.at + lap * count, count, cut) == 0;
    return stay;
}

/*
 * Of one line more than a set has ways one is always out, and each that comes
 * puts any other out: two in a lap, one after the other.  So a line that none
 * of the laps is goes in one of half as many as there are lines, and in so many
 * laps in 63 rounds of 100: in fewer than two of 16 once in 100,000.  Of more
 * lines, or of ways that are fewer, it goes the sooner; and of few lines the
 * rounds are more, be the victims of some ways rarer.  Many are told by the
 * first of some launches.
 */
static struct rounds rounds_by_chance(const struct eviction *e,
                                      const struct script_lines *lines,
                                      const struct segments *pool)
{
    enum { LAUNCHES = 4, SURE = 16 / LAUNCHES, LOADS_MOST = 100000 };
    struct rounds r = usual_rounds(e, rounds_most(e, lines, pool));
    if (e->lasting) {
        r.before += r.counted / 4;
        r.counted -= r.counted / 4;
    }
    const size_t rounds = r.before + r.counted - 1;
    r.launches = e->front.runs > 0 ? (CHANCY + rounds - 1) / rounds : 1;
    const uint64_t count = lines_in(lines, pool);
    const uint64_t script = SHARED_MOST / STEP / (lines->count + pool->count);
    const uint64_t room = u64_min(LOADS_MOST / count, script) / (1 + SURE);
    if (e->lasting || e->front.runs > 0 || room < ALONE_LAPS)
        return r;
    r.launches = LAUNCHES;
    r.laps = u64_within(ALONE_LAPS, count / 2, room);
    const uint64_t usual = CHANCY * ALONE_LAPS / LAUNCHES;
    r.counted = u64_within(SURE, usual / r.laps, script / r.laps - 1);
    return r;
}

/*
 * More often than by chance; in as many launches as that takes where what
 * empties the cache in front leaves each few rounds.  In a cache that lasts
 * chance picks as many victims as a set has ways, and on average, until the
 * last of the lines that were there before has gone: a quarter of the rounds.
 */
static bool crowds_at_times(struct eviction *e,
                            const struct script_lines *lines,
                            const struct segments *pool)
{
    if (!e->lasting && e->front.runs == 0 && eviction_all_stay(e, lines, pool))
        return false;
    const struct rounds r = rounds_by_chance(e, lines, pool);
    const double most = strays_most(e, r.launches * r.counted);
    size_t crowded = 0;
    for (size_t i = 0; i < r.launches && (double)crowded <= most; i++)
        crowded += count_crowded(e, lines, pool, &r, (unsigned)i);
    return (double)crowded > most;
}

static bool does_crowd(struct eviction *e, const struct script_lines *lines,
                       const struct segments *pool)
{
    if (!e->chancy && e->fresh)
        return surely_gone(e, lines, pool);
    if (e->chancy)
        return crowds_at_times(e, lines, pool);
    return mostly_crowded(e, lines, pool, rounds_most(e, lines, pool));
}

bool eviction_crowds(struct eviction *e, const struct script_lines *lines,
                     const struct segments *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        if (segment_end(&pool->at[i]) > e->span)
            return false;
    const bool crowds = lab_ok(e->lab) && does_crowd(e, lines, pool);
    *(crowds ? &e->overflows : &e->fits) = e->asked;
    return crowds;
}

void eviction_watch(struct eviction *e, uint64_t line,
                    const struct segments *pool)
{
    enum { WATCHED = 40 };
    const struct script_lines lines = {&line, 1};
    const double cut = cut_above(e, base_beside(e, pool));
    const struct rounds rounds = usual_rounds(e, WATCHED);
    size_t stays = 0;
    if (!e->fresh)
        stays = WATCHED - count_crowded(e, &lines, pool, &rounds, 0);
    for (unsigned i = 0; e->fresh && lab_ok(e->lab) && i < WATCHED; i++) {
        const double cycles = ask_first(e, &lines, pool, i);
        stays += cycles <= cut && cycles >= e->front.answers;
    }
    e->chancy = stays > 0;
}

/* ---- random loads ----------------------------------------------------- */

/* Has the next cache hold the list, so that all misses cost alike; a launch of
 * its own, which leaves the caches of an SM as empty as before. */
static void bring_near(struct eviction *e, const struct script_lines *list)
{
    struct script s = script_of(e);
    add_lines(&s, 2, false, list);
    script_time(&s, 0, (struct segment){list->at[0], 1, 0});
    visit(e, &s, 0);
}

/* What comes before the draws; returns how many of its loads are kept, but of
 * no use.  Others of the set push out what a lasting cache held of the list. */
static size_t write_start(const struct eviction *e,
                          const struct eviction_draws *d, struct script *s)
{
    const bool kept = e->filler.count > 0;
    const struct script_lines all_but_last = {d->list.at, d->list.count - 1};
    if (d->stays) {
        const uint64_t laps = e->lasting ? 24 : 1;
        add_lines(s, laps, kept, &all_but_last);
        add_lines(s, 0, true, &d->list);
        return kept ? laps * all_but_last.count : 0;
    }
    if (!e->lasting)
        return 0;
    if (e->strewn > 0) {
        const uint64_t half = e->span / 2;
        script_load(s, 0, (struct segment){half, half / e->unit, e->unit});
        return 0;
    }
    add_lines(s, 2, kept, d->others);
    return kept ? 2 * d->others->count : 0;
}

static uint32_t number_of(const struct script_lines *list, double offset)
{
    uint32_t n = 0;
    while (n + 1 < list->count && (double)list->at[n] != offset)
        n++;
    return n;
}

size_t eviction_draws_most(const struct eviction *e)
{
    return SHARED_MOST / (STEP * (e->filler.count + 1) + KEPT);
}

/* What lies in front answered for some, which this cache has not seen; but
 * those are kept that come in order before the draws.  Of what the clock cannot
 * tell it may have answered some, late. */
static size_t drop_answered(const struct eviction *e,
                            const struct eviction_draws *d,
                            const double *cycles, struct policy_load *loads,
                            size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if ((d->stays && i < d->list.count) || cycles[i] >= e->front.answers) {
            loads[kept] = loads[i];
            loads[kept++].unsure =
                e->front.answers > 0 && loads[i].outcome == LOAD_UNKNOWN;
        }
    if (kept > 0)
        loads[0].first = true;
    return kept;
}

size_t eviction_draw(struct eviction *e, const struct eviction_draws *d,
                     struct policy_load *loads)
{
    const struct script_lines *const list = &d->list;
    if (d->take <= 1 && !e->lasting)
        bring_near(e, list);
    struct script s = script_of(e);
    const size_t skip = write_start(e, d, &s);
    if (d->order != NULL)
        add_lines(&s, 0, true, d->order);
    else
        script_add(&s, &(struct script_step){
                           .timed = true, .draws = d->visits, .lines = list});
    const struct samples *const v = visit(e, &s, d->take);
    const struct column cycles = lab_column_of(e->lab, v, "cycles");
    const struct column offset = lab_column_of(e->lab, v, "offset");
    if (!lab_ok(e->lab))
        return 0;
    const struct policy_costs costs = {d->base, cut_above(e, d->base),
                                       .alike = !e->lasting};
    const size_t count = cycles.count - skip;
    assert(count <= d->visits + list->count);
    for (size_t i = 0; i < count; i++)
        loads[i] = (struct policy_load){
            .line = number_of(list, offset.at[skip + i]), .first = i == 0};
    policy_tell(loads, cycles.at + skip, count, &costs);
    return drop_answered(e, d, cycles.at + skip, loads, count);
}

bool eviction_front_empties(struct eviction *e, const struct script_lines *l)
{
    enum { TAKES = 4 };
    bool empties = true;
    for (unsigned take = 0; empties && take < TAKES; take++) {
        struct script s = script_of(e);
        const size_t first = bring_code(e, &s);
        add_lines(&s, 2, false, l);
        look_again(e, &s, 0, l);
        const struct column c = visit_cycles(e, &s, take);
        for (size_t i = 0; lab_ok(e->lab) && i < l->count; i++)
            empties = empties && c.at[first + i] >= e->front.answers;
    }
    return lab_ok(e->lab) && empties;
}

/* How often each line of the front, by number, is asked of this cache in some
 * laps, the first of which brings them in. */
static size_t *count_asked(struct eviction *e, const struct script_lines *front,
                           uint64_t laps)
{
    size_t *const asked = lab_alloc(e->lab, front->count, sizeof *asked);
    struct script s = script_of(e);
    empty_front(e, &s, false);
    for (uint64_t lap = 0; lap < laps; lap++)
        empty_front(e, &s, true);
    const struct laps l = visit_laps(e, &s);
    for (size_t n = 0; lab_ok(e->lab) && n < front->count; n++)
        for (size_t i = 0; i < l.count; i++)
            asked[n] +=
                (uint64_t)l.offset[i] / e->unit * e->unit == front->at[n] &&
                l.cycles[i] >= e->front.answers;
    return asked;
}

bool eviction_front_spares(struct eviction *e, uint64_t block)
{
    enum { LAPS = 4 };
    const struct script_lines front = eviction_front_lines(e);
    const uint64_t last = front.at[front.count - 1];
    bool spares = true;
    e->front.bytes_without = block;
    for (uint64_t out = front.at[0] / block * block; spares && out <= last;
         out += block) {
        e->front.without = out;
        const size_t *const asked = count_asked(e, &front, LAPS);
        for (size_t n = 0; n < front.count; n++)
            spares = spares &&
                     (front.at[n] / block * block == out || asked[n] >= LAPS);
    }
    e->front.without = e->front.bytes_without = 0;
    return lab_ok(e->lab) && spares;
}

/* Which of the loads miss in a launch; the first that differ by nothing but
 * `take` find the cache as the one before has left it. */
static bool *note_misses(struct eviction *e, const struct eviction_draws *d,
                         const struct script_lines *loads, unsigned take)
{
    struct script s = script_of(e);
    bool *const missed = lab_alloc(e->lab, loads->count, sizeof *missed);
    add_lines(&s, 0, true, loads);
    const struct column c = visit_cycles(e, &s, take);
    for (size_t i = 0; lab_ok(e->lab) && i < loads->count; i++)
        missed[i] = c.at[c.count - loads->count + i] > cut_above(e, d->base);
    return missed;
}

bool eviction_repeats(struct eviction *e, const struct eviction_draws *d)
{
    const struct script_lines loads = {
        lab_alloc(e->lab, d->visits, sizeof *loads.at), d->visits};
    struct rng rng;
    size_t differ = 0;
    rng_seed(&rng, d->visits);
    for (size_t i = 0; i < loads.count; i++)
        loads.at[i] = d->list.at[rng_below(&rng, d->list.count)];
    note_misses(e, d, &loads, 0);
    const bool *const once = note_misses(e, d, &loads, 1);
    const bool *const again = note_misses(e, d, &loads, 2);
    for (size_t i = 0; i < loads.count; i++)
        differ += once[i] != again[i];
    /* Victims of chance differ in a quarter of the loads or more, disturbances
     * in one of a hundred. */
    return 20 * differ < loads.count;
}

/* ---- many steps ------------------------------------------------------- */

static void scan_some(struct eviction *e, uint64_t first, size_t count,
                      uint64_t places, bool *over)
{
    struct script s = script_of(e);
    for (size_t i = 0; i < count; i++) {
        const struct segment list = {0, places, first + i * e->unit};
        script_add(&s, &(struct script_step){.laps = 2, .places = list});
        script_time(&s, 0, list);
    }
    const struct column c = visit_cycles(e, &s, 0);
    /* Steps differ little, so they have the same pages. */
    const double cut = cut_above(e, base_of(e, c.at, c.count));
    /* Of places in one set as many miss in each lap as it has ways too few,
     * under any policy; a fifth of them are not disturbed by chance. */
    for (size_t i = 0; lab_ok(e->lab) && i < count; i++)
        over[i] = 5 * hits_above(c.at + i * places, places, cut) > places;
}

void eviction_scan(struct eviction *e, uint64_t first, size_t count,
                   uint64_t places, bool *over)
{
    enum { AT_ONCE = 64, KEPT_MOST = 7000 };
    const size_t most = u64_within(1, KEPT_MOST / places, AT_ONCE);
    for (size_t i = 0; lab_ok(e->lab) && i < count; i += most)
        scan_some(e, first + i * e->unit, u64_min(count - i, most), places,
                  over + i);
}

uint64_t eviction_place(const struct eviction *e, uint64_t offset)
{
    return e->homes != NULL ? homes_place(e->side_bits, e->sides, offset)
                            : offset;
}
