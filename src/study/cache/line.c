/*
 * How many bytes are looked up and evicted together.
 *
 * For a candidate L the ring visits one element of each L bytes of the cache's
 * size, and three quarters as many from the middles of L-byte blocks beyond.
 * Is the line L or longer, those are many more lines than the cache has, and by
 * the pigeonhole principle loads miss whatever index and policy are.  Is it
 * shorter, the first part occupies at most half of the cache and all fits;
 * unless an index happens to put both parts in the same sets, which is why
 * several places beyond are tried, and one that fits decides.
 *
 * That rests on the cache's size, and on lines that come to its sets evenly,
 * which those of a hashed or sliced one do not.  So where not nearly all loads
 * of what is too much miss, pairs of elements check it, by neither size nor
 * index: of far more elements than there are lines, loaded in random order, one
 * is there for each line that fits.  If with each the one that lies d farther
 * on (or back) is loaded, there are as many of them where both share a line,
 * and half where they do not.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/lab.h"
#include "study/script.h"

static const struct answer proposes[] = {
    {level_components, "line", "B"},
    {0},
};

/* Elements of most spaces are so far apart, or farther. */
enum { ELEMENT = 8 };

/* Where the second part begins, in multiples of the first one's length: odd and
 * even, and such that no address bit is the same in all.  And then in multiples
 * of a power of two that the first one fits into: there all bits below are
 * those of the first one, but for the half line, which a bit from above that is
 * XORed with it may undo elsewhere. */
static const unsigned places[] = {1, 2, 3, 4, 7, 8}, aligned[] = {1, 3};
enum { PLACES = COUNT_OF(places), PLACES_ALL = PLACES + COUNT_OF(aligned) };

struct line_question {
    struct lab *lab;
    const struct level_row *row;
    const struct fact_bracket *facts;
    const struct fact_sector *sector;
    struct fact_line *line;
    uint64_t visits; /* loads of a chase that is timed */
    bool torn; /* of the last candidate places of few deny those of many … */
    bool some; /* … or some miss, of which it is not known why */
    bool kept; /* … or the level before keeps what would tell */
    uint64_t untold; /* the longest that may be the line, since all that would
                        tell is kept; 0: there is none */
    double limit;    /* cycles of a look, below which it surely hit … */
    double told;     /* … as this share of those that hit is */
};
enum { VISITS = 4096 };

/* The elements of one candidate, `apart`: `count` in the cache's size, and
 * `more` from `beyond` on. */
struct layout {
    uint64_t line, apart, count, beyond, more;
};

static uint64_t place_of(uint64_t bytes, size_t place)
{
    uint64_t power = 1;
    while (power < bytes)
        power *= 2;
    return place < PLACES ? places[place] * bytes
                          : aligned[place - PLACES] * power;
}

/* No more elements beyond than there is room for, where that is bounded; none
 * if that leaves too few to tell. */
static void limit_to_room(struct layout *l, const struct level_row *row)
{
    l->more = l->count - l->count / 4;
    if (row->bound == NULL)
        return;
    const uint64_t room = row->most > l->beyond ? row->most - l->beyond : 0;
    if (room / l->apart < l->more)
        l->more = room / l->apart < l->count / 16 + 2 ? 0 : room / l->apart;
}

static struct layout lay_out(const struct level_row *row,
                             const struct fact_bracket *facts, uint64_t line,
                             size_t place)
{
    struct layout l = {
        .line = line, .apart = line, .count = facts->fits / line};
    l.beyond = place_of(l.count * line, place) + line / 2;
    limit_to_room(&l, row);
    return l;
}

/* As many in a row, farther apart by what may be the line, too. */
static struct layout lay_askew(const struct line_question *q, uint64_t line,
                               uint64_t shorter)
{
    struct layout l = {
        .line = line, .apart = line + shorter, .count = q->facts->fits / line};
    l.beyond = l.count * l.apart;
    limit_to_room(&l, q->row);
    return l;
}

/* Shares of the loads: that miss; that the level before kept. */
struct shares {
    double miss, before;
};

/* By their average cost.  What all share is filled by a block, since a thread
 * would take a third of a second for a large one. */
static struct shares average_share(const struct line_question *q,
                                   const char *list, int warm)
{
    const struct fact_bracket *const f = q->facts;
    const struct cost cost =
        lab_average(q->lab, "chase %s %s %s=%d%s visits=%" PRIu64 " repeats=1",
                    q->row->load, list, q->row->of_sm ? "warm" : "sweep", warm,
                    q->row->of_sm ? "" : " warm=0", q->visits);
    return (struct shares){.miss = (cost.cycles - f->plateau) /
                                   (f->miss - f->plateau)};
}

/* One by one, since some may not be asked of this level at all. */
static struct shares traced_share(const struct line_question *q,
                                  const char *list, int warm)
{
    const struct fact_bracket *const f = q->facts;
    const double before = fact_bracket(q->lab, q->row->behind)->hit;
    const struct column cycles =
        lab_column(q->lab, "cycles", "trace %s %s warm=%d visits=2048",
                   q->row->load, list, warm);
    const double all = (double)cycles.count, timed = fact_trace(q->lab)->cycles;
    const double least = hits_least_miss(cycles.at, cycles.count, f->hit, timed,
                                         hits_limit(f->hit, f->miss) + timed);
    const size_t slow = hits_above(cycles.at, cycles.count, least);
    const size_t not_fast =
        hits_above(cycles.at, cycles.count, hits_limit(before, f->hit) + timed);
    return (struct shares){.miss = (double)slow / all,
                           .before = (all - (double)not_fast) / all};
}

/* Rows of local memory hold a word of each lane; places that are timed, once
 * all have settled. */
enum { ROW = 128, LANES = 32, TIMED = 512 };

/* The readers of a script whose lanes reach places of a line, so far apart. */
struct lanes {
    struct script script;
    uint64_t line, apart;
};

static struct lanes lanes_for(uint64_t line, uint64_t apart)
{
    struct lanes l = {.line = line, .apart = u64_max(apart, ROW)};
    for (uint64_t at = 0; at < ROW; at += u64_min(line / 2, ROW))
        script_reader(&l.script, "local/%" PRIu64, at / 4);
    return l;
}

/* So many places, of which each `skip`th is timed; all, if 0.  A row holds
 * several of short lines. */
static void add_places(struct lanes *l, uint64_t start, uint64_t count,
                       uint64_t skip)
{
    const uint64_t line = l->line, row = u64_max(line, ROW);
    const uint64_t half = u64_min(line / 2, ROW);
    for (uint64_t at = start; at < start + row; at += line) {
        const struct segment all = {at / ROW * ROW, count * line / row,
                                    l->apart};
        const struct segment some = {all.start, (all.count + skip) / (skip + 1),
                                     (skip + 1) * l->apart};
        script_add(&l->script,
                   &(struct script_step){.reader = at % ROW / half,
                                         .timed = skip > 0,
                                         .places = skip > 0 ? some : all});
    }
}

/* Of what the lanes timed, the share that missed. */
static double share_of_lanes(const struct line_question *q, struct lanes *lanes)
{
    const struct column c = lab_column(q->lab, "cycles", "visit %s",
                                       script_text(&lanes->script, q->lab));
    const size_t slow = hits_above(c.at, c.count,
                                   hits_limit(q->facts->hit, q->facts->miss) +
                                       fact_trace(q->lab)->cycles);
    return (double)slow / fmax(1, (double)c.count);
}

/* Over lanes, since a thread's words lie a row apart. */
static struct shares lanes_share(const struct line_question *q,
                                 const struct layout *l, int warm)
{
    struct lanes lanes = lanes_for(l->line, l->apart);
    const uint64_t skip = (l->count + l->more) / TIMED + 1;
    for (int lap = 0; lap < warm + 1; lap++) {
        add_places(&lanes, 0, l->count, 0);
        add_places(&lanes, l->beyond, l->more, 0);
    }
    add_places(&lanes, 0, l->count, skip);
    add_places(&lanes, l->beyond, l->more, skip);
    return (struct shares){.miss = share_of_lanes(q, &lanes)};
}

static struct shares shares_of(const struct line_question *q,
                               const struct layout *l, int warm)
{
    if (q->row->memory_is_own)
        return lanes_share(q, l, warm);
    const char *const list = lab_text(
        q->lab,
        "list=0:%" PRIu64 ":%" PRIu64 ",%" PRIu64 ":%" PRIu64 ":%" PRIu64,
        l->count, l->apart, l->beyond, l->more, l->apart);
    return q->row->behind != LEVEL_COUNT ? traced_share(q, list, warm)
                                         : average_share(q, list, warm);
}

/* Of too many lines nearly as many miss as there are too many, 40 % with three
 * quarters beyond, under any policy of the model; of what fits, next to none,
 * once it has settled.  What the level before keeps is not too many here; -1 if
 * that leaves none. */
static double overfull_share(const struct layout *l, const struct shares *s)
{
    const double more = (double)l->more / (double)(l->count + l->more);
    /* Of those 40 % five eighths, as 0.58 · 3/7 is 25 %; and from a twentieth
     * on, since less would bring the limit below 3 %, near to what spikes make.
     */
    return more - s->before > 0.05 ? 0.58 * (more - s->before) : -1;
}

/* After one lap more than half of what fits may miss still, under random
 * victims (size.c), but not so nearly all: further laps change nothing then. */
static const double certain_share = 0.95;
/* Laps after which a cache with random victims has settled well enough; and
 * where beside others no turn is long enough for so many. */
enum { SETTLING = 16, SETTLING_BESIDE = 4 };

/* What a ring of a candidate shows: nothing, as the level before keeps it; all
 * fit, as many miss as must of lines so long, or fewer, as of a cache larger
 * than its rings told, or where an index is uneven. */
enum verdict { KEPT, FITS, SOME_MISS, OVERFULL };
/* From so many on misses are no spikes: those are one load in fifty at most. */
static const double some_least = 0.05;

static enum verdict verdict_of(const struct layout *l, const struct shares *s)
{
    const double overfull = overfull_share(l, s);
    return overfull < 0           ? KEPT
           : s->miss > overfull   ? OVERFULL
           : s->miss > some_least ? SOME_MISS
                                  : FITS;
}

/* Once the ring has settled, as far as there is time; false if there is none.
 */
static bool settled_shares(const struct line_question *q,
                           const struct layout *l, struct shares *s)
{
    static const int settling[] = {SETTLING, SETTLING_BESIDE};
    for (size_t i = 0; i < COUNT_OF(settling); i++) {
        lab_spare(q->lab, true);
        const struct shares seen = shares_of(q, l, settling[i]);
        if (lab_spared(q->lab) == NULL) {
            *s = seen;
            return true;
        }
    }
    return false;
}

/* What all SMs share may be hashed or sliced, and of unlike parts its loads
 * tell nothing. */
static bool is_hashable(const struct line_question *q)
{
    return !q->row->of_sm && q->facts->near_fits == 0;
}

/* Elements lie where they are wanted, and as many as are. */
static bool is_free(const struct line_question *q)
{
    return q->row->bound == NULL && q->row->apart == ELEMENT;
}

/*
 * Some miss: of lines as long as the candidate elements half as far apart, in
 * the same places, are of the same lines, so that no more of them miss: half as
 * many, or as many where a miss brings in no more.  Of shorter ones they are
 * twice as many lines as those of which some did not fit.
 */
static bool are_shorter(const struct line_question *q, const struct layout *l,
                        const struct shares *some)
{
    const struct layout dense = {.line = l->line / 2,
                                 .apart = l->line / 2,
                                 .count = 2 * l->count,
                                 .beyond = l->beyond,
                                 .more = 2 * l->more};
    struct shares s;
    /* Between as many and twice as many. */
    return settled_shares(q, &dense, &s) && s.miss > 1.5 * some->miss;
}

/* Asks once the ring has settled, as far as that may change the verdict, and as
 * there is time: else it may not be overfull.  Where pairs tell, some that miss
 * are no matter. */
static enum verdict ask_place(const struct line_question *q,
                              const struct layout *l, bool *surely)
{
    struct shares s = shares_of(q, l, 1);
    enum verdict v = verdict_of(l, &s);
    if (v == KEPT || v == FITS || s.miss >= certain_share ||
        (v == SOME_MISS && is_free(q)))
        return v == SOME_MISS ? FITS : v;
    *surely = *surely && v != OVERFULL;
    if (settled_shares(q, l, &s))
        v = verdict_of(l, &s);
    const bool shorter =
        v == SOME_MISS &&
        (is_free(q) || (l->line > q->sector->bytes && are_shorter(q, l, &s)));
    return shorter ? FITS : v;
}

/* Overfull at so many places is no accident; and more elements than that take
 * some milliseconds a lap, so that they are asked at no more. */
enum { PLACES_LEAST = 3, ELEMENTS_MANY = 1 << 18 };

/* So many take a tenth of a second or two, at each place. */
enum { ELEMENTS_SETTLED = 1 << 16 };

/* Of so few more than fit some fit all the same where rings told too little: in
 * a set of four ways code may have had one. */
static bool is_hardly_more(const struct layout *l)
{
    return 4 * l->more < l->count;
}

/* Rows of local memory, so far apart; all that are timed settled before. */
static double rows_share(const struct line_question *q, uint64_t start,
                         uint64_t count, uint64_t apart)
{
    const uint64_t skip = count / TIMED;
    struct lanes lanes = {.line = apart, .apart = apart};
    script_reader(&lanes.script, "local");
    for (int lap = 0; lap < SETTLING; lap++)
        script_load(&lanes.script, 0, (struct segment){start, count, apart});
    script_time(&lanes.script, 0,
                (struct segment){start, (count + skip) / (skip + 1),
                                 (skip + 1) * apart});
    return share_of_lanes(q, &lanes);
}

/* Elements in a row, from a place on. */
static struct shares share_in_row(const struct line_question *q, uint64_t start,
                                  uint64_t count, uint64_t apart)
{
    if (q->row->memory_is_own)
        return (struct shares){.miss = rows_share(q, start, count, apart)};
    const char *const list = lab_text(
        q->lab, "list=%" PRIu64 ":%" PRIu64 ":%" PRIu64, start, count, apart);
    return q->row->behind != LEVEL_COUNT ? traced_share(q, list, SETTLING)
                                         : average_share(q, list, SETTLING);
}

/*
 * Elements a line apart that fit are the same lines as twice as many half as
 * far apart, so these fit, too, whatever the index is.  Where they clearly do
 * not, lines are shorter.  That the former fit is sure if less than half a line
 * a lap missed: policies that keep a set of one line too many but for that may
 * lose all of it where each line is loaded twice; and that none of them was
 * kept by a level before, which then has no room for twice as many.
 */
static bool is_denied_at(const struct line_question *q, uint64_t start,
                         uint64_t count, uint64_t line)
{
    static const double clearly = 0.1;
    const struct shares fit = share_in_row(q, start, count, line);
    const double half = 0.5 / (double)count;
    return fit.miss < half && fit.before < half &&
           share_in_row(q, start, 2 * count, line / 2).miss > clearly &&
           lab_ok(q->lab);
}

/* By elements over more than fits, so many eighths more.  A line is no shorter
 * than a sector; of constants and local memory pairs cannot tell, and words of
 * the latter that one lane has are a row apart. */
static bool is_denied(const struct line_question *q, uint64_t line)
{
    static const unsigned more[] = {1, 2, 4, 6};
    const uint64_t least = q->row->memory_is_own
                               ? u64_max(ROW, q->sector->bytes)
                               : q->sector->bytes;
    const bool asked = !is_free(q) && line > least;
    const uint64_t fit = q->facts->overflows / line;
    for (size_t i = 0; i < PLACES + 1 && asked; i++)
        for (size_t j = 0; j < COUNT_OF(more); j++) {
            const uint64_t start = i > 0 ? places[i - 1] * fit * line : 0;
            const uint64_t count = fit + (fit * more[j] + 7) / 8;
            if (lab_ok(q->lab) && start + count * line <= q->row->most &&
                is_denied_at(q, start, count, line))
                return true;
        }
    return false;
}

/* Lines shorter than that are none. */
enum { LINE_LEAST = 32 };

/* What a recording that is older does not hold is not asked. */
static bool fits_settled(const struct line_question *q, const struct layout *l)
{
    struct shares s = shares_of(q, l, 1);
    if (lab_unrecorded(q->lab))
        return false;
    if (verdict_of(l, &s) != FITS &&
        (s.miss >= certain_share || !settled_shares(q, l, &s)))
        return false;
    return lab_ok(q->lab) && verdict_of(l, &s) == FITS;
}

/*
 * Of shorter lines elements that are a power of two apart may come to a few of
 * the sets, at all places alike, where lines are dealt in turn.  Elements that
 * are an odd number of lines apart come to all of them: so of each shorter line
 * some are that far apart, as many, and no two of them in one line of `line`
 * bytes.
 */
static bool fits_askew(const struct line_question *q, uint64_t line)
{
    uint64_t least = q->sector->bound ? LINE_LEAST : q->sector->bytes;
    if (q->row->memory_is_own)
        least = u64_max(least, ROW);
    for (uint64_t shorter = line / 2; shorter >= least; shorter /= 2) {
        const struct layout l = lay_askew(q, line, shorter);
        if (l.more > 0 && !is_hardly_more(&l) && lab_ok(q->lab) &&
            fits_settled(q, &l))
            return true;
    }
    return false;
}

/*
 * True if a cache with lines of `line` bytes or more is overfull at every place
 * that tells, or may be, surely if nearly all loads miss; false if at one all
 * fits, unless that has hardly more lines than fit and one of many more is
 * overfull; or if too few places tell.  Nearly all do of too many lines alone:
 * else more places are asked, where pairs cannot be, and whether shorter lines
 * explain what fits.
 */
static bool is_overfull(struct line_question *q, uint64_t line, bool *surely)
{
    const bool many = q->facts->fits / line > ELEMENTS_MANY;
    const size_t count = many ? PLACES_LEAST : PLACES;
    bool over = false; /* by many more than fit */
    size_t told = 0, kept = 0;
    *surely = true;
    q->torn = q->some = q->kept = false;
    for (size_t place = 0; lab_ok(q->lab) && place < PLACES_ALL; place++) {
        if (place >= count && (many || *surely || is_free(q)))
            break;
        const struct layout l = lay_out(q->row, q->facts, line, place);
        if (l.more == 0)
            continue;
        const enum verdict v = ask_place(q, &l, surely);
        told += v == OVERFULL;
        kept += v == KEPT;
        if (v == OVERFULL)
            over = over || !is_hardly_more(&l);
        else if (v == KEPT)
            continue;
        else if (v == SOME_MISS)
            q->some = true;
        else if (over && is_hardly_more(&l))
            q->torn = true;
        else
            return false;
    }
    if (!*surely && is_denied(q, line))
        return false;
    q->kept = kept > 0 && told < PLACES_LEAST;
    return !q->kept && (many || is_hashable(q) || !fits_askew(q, line));
}

/* One that no candidate but the shortest was found to be longer than. */
static void report(struct finding *f, struct fact_line *fact, uint64_t line)
{
    fact->bytes = line;
    finding_measured(f, (double)line);
    finding_interval(f, (double)line, (double)line, -1);
}

static void report_at_most(const struct line_question *q, struct finding *f,
                           uint64_t line)
{
    *q->line = (struct fact_line){.bytes = line, .bound = true};
    finding_value(f, STATUS_AT_MOST, value_number((double)line));
    lab_because_short(f, q->row);
}

/* What is brought in at once: a line is no shorter. */
static void keep_sector(const struct line_question *q)
{
    *q->line = (struct fact_line){
        .bytes = q->sector->bytes, .bound = q->sector->bound, .longer = true};
}

/* A line that is not seen to make room is no shorter than what it brings in. */
static void report_at_least(const struct line_question *q, struct finding *f)
{
    keep_sector(q);
    if (q->sector->bound) {
        finding_none(f, why_few_beyond, q->row->bound);
        return;
    }
    finding_value(f, STATUS_AT_LEAST, value_number((double)q->sector->bytes));
    finding_because(f, why_line_at_least, q->row->bound);
}

/* Longer candidates were none, and whether the shortest is one is not proved.
 */
static void report_unproved(const struct line_question *q, struct finding *f,
                            const char *why)
{
    keep_sector(q);
    if (q->sector->bound) {
        finding_none(f, "%s", why);
        return;
    }
    finding_value(f, STATUS_AT_LEAST, value_number((double)q->sector->bytes));
    f->has_interval = false;
    finding_because(f, "%s", why);
}

/* Where there is room for few places, all may put both parts in the same sets;
 * then only what fits is sure.  The sector is no longer than the line. */
static void report_doubt(const struct line_question *q, struct finding *f,
                         uint64_t line)
{
    keep_sector(q);
    finding_value(f, STATUS_AT_MOST, value_number((double)line));
    finding_because(f, why_line_few_places, q->row->bound);
}

/* Some that are longer than what may be the line are not told from it. */
static void report_kept(const struct line_question *q, struct finding *f)
{
    keep_sector(q);
    finding_value(f, STATUS_AT_MOST, value_number((double)q->untold));
    finding_because(f, why_line_kept, q->untold,
                    level_table[q->row->behind].component);
}

/* The longest candidate: a cache has four lines at least. */
static uint64_t longest(const struct fact_bracket *facts)
{
    uint64_t line = LINE_MOST;
    while (line > 64 && facts->fits / line < 4)
        line /= 2;
    return line;
}

static size_t places_for(const struct level_row *row,
                         const struct fact_bracket *facts, uint64_t line)
{
    size_t count = 0;
    for (size_t place = 0; place < PLACES; place++)
        count += lay_out(row, facts, line, place).more > 0;
    return count;
}

/* The longest candidate may be the line of a cache of few: then elements twice
 * as far apart fit. */
static bool is_absurd(struct line_question *q, uint64_t line)
{
    bool surely;
    return line == longest(q->facts) &&
           (line == LINE_MOST || q->row->behind != LEVEL_COUNT ||
            is_overfull(q, 2 * line, &surely));
}

/* False if that is absurd. */
static bool conclude(struct line_question *q, struct finding *f, uint64_t line,
                     bool over)
{
    const bool torn = q->torn || q->some;
    const bool absurd = over && is_absurd(q, line);
    if (q->untold > 0)
        report_kept(q, f);
    else if (over &&
             (torn || places_for(q->row, q->facts, line) < PLACES_LEAST ||
              (absurd && q->row->behind != LEVEL_COUNT)))
        report_doubt(q, f, line);
    else if (absurd)
        return false;
    else if (!over && q->sector->bound)
        report_at_most(q, f, line);
    else
        report(f, q->line, line);
    return true;
}

/* The longest line of which too many, all over the place, do not fit. */
static bool find_longest(struct line_question *q, uint64_t least,
                         uint64_t *line, bool *surely)
{
    bool over = false;
    *line = 2 * longest(q->facts);
    while (lab_ok(q->lab) && !over && (*line /= 2) > least) {
        over = is_overfull(q, *line, surely);
        if (q->kept)
            q->untold = u64_max(q->untold, *line);
        else if (!over) /* nor are longer ones */
            q->untold = 0;
    }
    return over;
}

/* The shortest line that can be told: no shorter than the sector that a miss
 * fills; or, where that may be shorter, than what the level before asks for. */
static uint64_t shortest(const struct line_question *q)
{
    return q->sector->bound && q->row->behind != LEVEL_COUNT
               ? fact_line(q->lab, q->row->behind)->bytes
               : q->sector->bytes;
}

/* What disturbs adds to averages, and no two of them the same.  Of what a miss
 * adds it may make 0.15, since so far the limit, 0.25, is below what too many
 * lines cost; where it is two thirds of that in one average it is more in some
 * of a dozen, and they do not tell too many lines from such as fit. */
static const double blurred_from = 0.15 * 2 / 3;

static bool is_blurred(const struct line_question *q, struct finding *f)
{
    const double excess = q->facts->excess;
    const double more = q->facts->miss - q->facts->plateau;
    if (q->row->behind != LEVEL_COUNT || excess < blurred_from * more)
        return false;
    finding_none(f, why_averages_blurred, excess, more);
    return true;
}

/* ---- pairs ------------------------------------------------------------- */

/* Elements that are loaded, of as many as would be the lines if they were as
 * long as the pair is apart: more than fit, be the lines half as long.  They
 * are drawn from SPARSE times as many, so that few share a line by chance. */
enum { OVERFILL = 3, OVERFILL_MOST = 8 * OVERFILL, SPARSE = 4 };
/* Looks; in a trial one of so many elements is looked at, few, since a look
 * brings a line in. */
enum { WARPS = 8, LOOKS = 4096, LOOKED_AT = 32, LOOKS_MOST = 512 };
/* So many that are there tell shares to 6 %, so that the quotient of two is
 * known to 8 %: of what is 1 or a half, or near it, two to four deviations are
 * outside of these.  Near to a half, but not below 0.7, it is where chance
 * chooses the victims, some ways more often than others, as it leaves lines of
 * the trial before; and the more so the fewer are loaded: of so few that most
 * are there, twice as many are, too, and lines are not shared. */
static const double left_least = 280, all_least = 0.8, half_most = 0.72;
static const double left_most = 0.55;
/* Before a look another line of its page brings in the translation, where pages
 * may be more than a TLB holds; of another set, as so low a bit makes it. */
enum { LEAD = 2 * LINE_MOST };
/* Trials before, since victims by chance leave old lines of what lasts over
 * launches: of sets that were filled so often anew 2 % of them. */
enum { SETTLED = 4 };
/* No more memory than that is taken for it, nor more elements; from so many on
 * no more than are needed, and fewer trials: so that a launch loads no more
 * than is simulated in half of its deadline. */
static const uint64_t pool_most = (uint64_t)2 << 30, members_most = 1 << 21;
static const uint64_t members_many = 1 << 18, trials_load = 1 << 22;
/* Trials that are kept at least: a quarter of their looks, which is there where
 * elements are twice as many as are needed, is more than must be. */
enum { TRIALS_LEAST = 3 };

struct pairs {
    uint64_t apart, members, pool; /* B, and elements */
    bool fresh; /* each trial finds the cache of an SM empty */
};

/* Pool 0: so many may not be loaded.  Twice as many as would fit are enough. */
static struct pairs pairs_of(const struct line_question *q, uint64_t apart,
                             uint64_t times)
{
    const uint64_t lines = q->facts->overflows / apart;
    struct pairs p = {.apart = apart, .pool = 1};
    p.members = u64_min(times * lines, u64_max(2 * lines, members_many));
    while (p.pool < SPARSE * p.members)
        p.pool *= 2;
    if (!is_free(q) || p.members < LOOKED_AT || p.members > members_most ||
        p.pool * apart > pool_most)
        p.pool = 0;
    return p;
}

struct trials {
    uint64_t looks, settle, kept; /* looks of each */
};

static struct trials trials_of(const struct line_question *q,
                               const struct pairs *p)
{
    const uint64_t looks = u64_within(1, p->members / LOOKED_AT, LOOKS_MOST);
    struct trials t = {
        .looks = looks, .settle = SETTLED, .kept = LOOKS / looks};
    if (p->members > members_many) {
        const uint64_t all = trials_load / p->members;
        t.settle = 1;
        t.kept = u64_within(TRIALS_LEAST, all > 0 ? all - 1 : 0, t.kept);
    }
    if (q->row->of_sm)
        t.settle = 0;
    return t;
}

/* The share of elements that are still there; below 0 where others disturbed
 * it: without pairs a line is a bound. */
static double share_left(const struct line_question *q, const struct pairs *p,
                         uint64_t beside)
{
    const struct trials t = trials_of(q, p);
    lab_spare(q->lab, true);
    const struct samples *const s = lab_probe(
        q->lab,
        "overfill %s bytes=%" PRIu64 " stride=%" PRIu64 " members=%" PRIu64
        " looks=%" PRIu64 " trials=%" PRIu64 " settle=%" PRIu64
        " fresh=%d beside=%" PRIu64 " warps=%u lead=%d",
        q->row->load, p->pool * p->apart, p->apart, p->members, t.looks, t.kept,
        t.settle, p->fresh, beside,
        q->row->of_sm ? 1 : lab_warps(q->lab, WARPS),
        q->row->of_sm || p->pool * p->apart <= LEAD ? 0 : LEAD);
    if (lab_spared(q->lab) != NULL || !lab_ok(q->lab))
        return -1;
    const size_t cycles = samples_column(s, "cycles");
    const size_t count = samples_column(s, "count");
    double seen = 0, left = 0;
    for (size_t row = 0; row < s->rows; row++) {
        const double alike = (double)samples_at(s, row, count);
        seen += alike;
        if ((double)samples_at(s, row, cycles) < q->limit)
            left += alike;
    }
    return seen > 0 ? left / seen / q->told : 0;
}

/* ---- what a hit costs there -------------------------------------------- */

/*
 * Whether half-way between a hit and a miss tells them, by loads of which each
 * is known: what the study of the sector loaded, where the first of a sector
 * misses and the others hit.  A quarter may be mistaken: of a half that is
 * there that makes less than two thirds, and of none less than what two halves
 * differ by.  A far hit may cost what a near miss does.
 */
static bool does_half_way_tell(const struct line_question *q, double limit)
{
    const struct fact_bracket *const f = q->facts;
    const struct samples *const s =
        lab_probe(q->lab, "%s", lab_sector_trace(q->lab, q->row, 0));
    const struct column offset = lab_column_of(q->lab, s, "offset");
    const struct column cycles = lab_column_of(q->lab, s, "cycles");
    size_t count[2] = {0}, above[2] = {0};
    for (size_t i = 0; i < cycles.count; i++) {
        const bool first = (uint64_t)offset.at[i] % q->sector->bytes == 0;
        count[first]++;
        above[first] += cycles.at[i] > limit;
    }
    const bool apart =
        f->near_fits == 0 || f->plateau - f->hit < (f->miss - f->plateau) / 2;
    return apart && hits_tally_of(above[true], count[true]) == TALLY_ALL &&
           hits_tally_of(above[false], count[false]) == TALLY_NONE;
}

/* Places of the sector's loads, each on one side or the other as if by chance:
 * all of them are far once in 250 times. */
enum { PLACES_OF_SIDES = 8, PLACE_APART = 37 * LAB_SECTOR_BYTES };
/* Addresses are dealt to sides in no smaller pieces (sector.c). */
enum { PIECE = 4096 };

/* The least that hits, and misses, of one piece cost: the middle of them. */
static void take_piece(const struct line_question *q, const double *offset,
                       const double *cycles, size_t count, double *hit,
                       double *miss)
{
    double *const first = lab_alloc(q->lab, count, sizeof *first);
    double *const other = lab_alloc(q->lab, count, sizeof *other);
    size_t firsts = 0, others = 0;
    for (size_t i = 0; i < count; i++)
        if ((uint64_t)offset[i] % q->sector->bytes == 0)
            first[firsts++] = cycles[i];
        else
            other[others++] = cycles[i];
    if (firsts == 0 || others == 0)
        return;
    *miss = fmin(*miss, stats_median(first, firsts));
    *hit = fmin(*hit, stats_median(other, others));
}

static void take_place(const struct line_question *q, unsigned place,
                       double *hit, double *miss)
{
    const struct samples *const s = lab_probe(
        q->lab, "%s",
        lab_sector_trace(q->lab, q->row, (uint64_t)place * PLACE_APART));
    const struct column offset = lab_column_of(q->lab, s, "offset");
    const struct column cycles = lab_column_of(q->lab, s, "cycles");
    size_t begin = 0;
    for (size_t i = 1; i <= cycles.count; i++)
        if (i == cycles.count || (uint64_t)offset.at[i] / PIECE !=
                                     (uint64_t)offset.at[begin] / PIECE) {
            take_piece(q, offset.at + begin, cycles.at + begin, i - begin, hit,
                       miss);
            begin = i;
        }
}

/* Of so few elements that all fit, an eighth of what does; of a small cache up
 * to four of a line if those are the longest, or half of what fits. */
static struct pairs few_of(const struct line_question *q)
{
    struct pairs p = {.apart = LINE_MOST, .pool = 1};
    p.members = q->facts->fits / LINE_MOST / 8;
    for (; p.members < LOOKED_AT && p.apart > LINE_MOST / 4; p.apart /= 2)
        p.members *= 2;
    while (p.pool < SPARSE * p.members)
        p.pool *= 2;
    if (p.members < LOOKED_AT)
        p.pool = 0;
    return p;
}

/*
 * Where a far hit costs as much as a near miss or more: between what both cost
 * near.  What is dearer counts as gone, so that of all that is there only what
 * is near seems so; which share that is, is asked of what surely fits.  It is
 * half, or about that: if it is nearly all only far places were seen.
 */
static bool learn_near_limit(struct line_question *q)
{
    static const double near_least = 0.25, near_most = 0.75;
    const struct pairs few = few_of(q);
    double hit = INFINITY, miss = INFINITY;
    if (few.pool == 0)
        return false;
    for (unsigned i = 0; lab_ok(q->lab) && i < PLACES_OF_SIDES; i++)
        take_place(q, i, &hit, &miss);
    if (!lab_ok(q->lab) || !hits_cheaper(hit, miss))
        return false;
    q->limit = hits_limit(hit, miss);
    q->told = 1;
    q->told = share_left(q, &few, 0);
    return q->told >= near_least &&
           (q->told <= near_most || q->facts->near_fits > 0);
}

static bool learn_limit(struct line_question *q)
{
    q->limit = hits_limit(q->facts->plateau, q->facts->miss) +
               fact_trace(q->lab)->cycles;
    q->told = 1;
    if (does_half_way_tell(q, q->limit))
        return true;
    return lab_ok(q->lab) && !q->row->of_sm && learn_near_limit(q);
}

/* ---- what pairs say ----------------------------------------------------- */

enum paired { PAIRS_UNKNOWN, PAIRS_SHARE, PAIRS_DO_NOT };

/* What pairs check. */
static uint64_t line_of_rings(const struct line_question *q)
{
    return q->line->bytes > 0 ? q->line->bytes : q->sector->bytes;
}

/* So many of the single ones are there if the cache is 1.8 times as large as
 * rings told, since twice as many as these were loaded. */
static const double nearly_all = 1.8 / 2;

/*
 * Of elements that share a line as many are there, or more, as those beside
 * them are elements, too.  Where a policy keeps what came first, or was looked
 * at, most of a cache may be of the trials before, and the new lines are too
 * few to make the difference.  So what rings deny, and what is less than as
 * many, is asked of an SM's cache by trials of which none is before.
 */
static bool may_be_of_before(const struct line_question *q,
                             const struct pairs *p, double quotient)
{
    return q->row->of_sm && !p->fresh &&
           (quotient < 1 || p->apart >= line_of_rings(q));
}

/* Whether elements so far apart share a line.  If that is the line half of the
 * single ones are there at most, since twice as many as fit were loaded; where
 * nearly all are, though so many more were loaded, it is not.  If lines are
 * half as long, sets of 16 ways that they come to by chance have room for nine
 * in ten (Poisson's law). */
static enum paired pairs_ask_once(const struct line_question *q,
                                  const struct pairs *p, uint64_t times,
                                  bool *few)
{
    if (p->pool == 0)
        return PAIRS_UNKNOWN;
    const double alone = share_left(q, p, 0);
    if (lab_ok(q->lab) && alone > nearly_all)
        return times > OVERFILL ? PAIRS_DO_NOT : PAIRS_UNKNOWN;
    const double left = alone > 0 ? share_left(q, p, p->apart) : -1;
    const struct trials t = trials_of(q, p);
    const bool tell =
        alone * q->told * (double)(t.looks * t.kept) >= left_least;
    *few = *few || !tell;
    if (left < 0 || !tell)
        return PAIRS_UNKNOWN;
    const double quotient = left / alone;
    if (quotient < half_most)
        return PAIRS_DO_NOT;
    if (may_be_of_before(q, p, quotient)) {
        struct pairs fresh = *p;
        fresh.fresh = true;
        return pairs_ask_once(q, &fresh, times, few);
    }
    return quotient > all_least && alone <= left_most ? PAIRS_SHARE
                                                      : PAIRS_UNKNOWN;
}

/* Where the cache is larger than rings told, it is not overfilled by so many:
 * then twice as many tell, or more.  Of lines that are much longer each holds
 * few elements, and too few of so many are there: then fewer tell. */
static enum paired pairs_ask(const struct line_question *q, uint64_t apart)
{
    enum paired p = PAIRS_UNKNOWN;
    bool few = false;
    for (uint64_t times = OVERFILL; lab_ok(q->lab) && p == PAIRS_UNKNOWN &&
                                    times > 0 && times <= OVERFILL_MOST;
         times = few ? times / 2 : times * 2) {
        const struct pairs pairs = pairs_of(q, apart, times);
        p = pairs_ask_once(q, &pairs, times, &few);
    }
    return p;
}

/* The line by pairs, looked for from that of rings on, and whether it is known
 * on both sides; that all share one is no answer. */
struct paired_line {
    uint64_t bytes;
    bool told;
};

static struct paired_line line_of_pairs(const struct line_question *q,
                                        uint64_t line)
{
    struct paired_line l = {.bytes = line};
    enum paired p = PAIRS_DO_NOT;
    while (l.bytes < LINE_MOST && (p = pairs_ask(q, l.bytes)) == PAIRS_SHARE)
        l.bytes *= 2;
    while (p == PAIRS_DO_NOT && l.bytes <= line && l.bytes > q->sector->bytes &&
           (p = pairs_ask(q, l.bytes / 2)) == PAIRS_DO_NOT)
        l.bytes /= 2;
    l.told = p != PAIRS_UNKNOWN && l.bytes < LINE_MOST;
    return l;
}

/* Where pairs cannot be asked all places are enough: an index that puts both
 * parts in the same sets at each of them is not looked for. */
static bool is_everywhere(const struct line_question *q, uint64_t line)
{
    return !is_free(q) && places_for(q->row, q->facts, line) == PLACES;
}

/* What they say counts, where it can be asked; else it may be shorter, but not
 * than the sector. */
static void check_by_pairs(struct line_question *q, struct finding *f)
{
    const uint64_t line = line_of_rings(q);
    struct paired_line l = {.bytes = line};
    if (q->line->bound || q->sector->bound || is_everywhere(q, line))
        return;
    if (learn_limit(q))
        l = line_of_pairs(q, line);
    if (lab_excuse(q->lab) != NULL || !lab_ok(q->lab))
        return;
    if (l.told) {
        report(f, q->line, l.bytes);
        q->line->paired = true;
    } else if (l.bytes != line) {
        *q->line = (struct fact_line){0};
        finding_none(f, why_line_pairs, line);
    } else if (line > q->sector->bytes) {
        *q->line = (struct fact_line){.bytes = line, .bound = true};
        finding_value(f, STATUS_AT_MOST, value_number((double)line));
        f->has_interval = false;
        finding_because(f, why_line_unsure);
    }
}

/*
 * That nothing longer than the shortest candidate is overfull may be since the
 * cache is larger than its rings told, by 1.7 and more: then as many of the
 * shortest fit, too.
 * Of unlike parts a ring of twice as many elements settles as late as one of
 * half as many, which fit: it is timed once it was chased for two laps.
 */
static void check_shortest(struct line_question *q, struct finding *f)
{
    const uint64_t line = shortest(q), elements = 2 * q->facts->fits / line;
    bool surely;
    if (q->line->paired || q->line->bound != q->sector->bound ||
        q->line->bytes != line)
        return;
    while (q->facts->near_fits > 0 && q->visits < 2 * elements)
        q->visits *= 2;
    if (elements > ELEMENTS_SETTLED && q->facts->near_fits > 0)
        report_unproved(q, f, why_misses_alike);
    else if ((!is_overfull(q, line, &surely) || q->some) && lab_ok(q->lab))
        report_unproved(q, f, why_line_unfilled);
}

/* From above, since long lines make short rings. */
static void ask_line(struct line_question *q, struct finding *f)
{
    uint64_t line;
    bool surely = false;
    lab_cite(q->lab, f);
    const bool over = find_longest(q, shortest(q), &line, &surely);
    if (!lab_ok(q->lab))
        return;
    const bool concluded = conclude(q, f, line, over);
    /* Surely: most of the lines that should not have fit missed, at all places.
     */
    if (is_hashable(q) || !over || !surely || !concluded)
        check_by_pairs(q, f);
    if (!over && q->untold == 0 && lab_excuse(q->lab) == NULL && lab_ok(q->lab))
        check_shortest(q, f);
    if (!concluded && q->line->bytes == 0)
        finding_none(f, why_line_absurd, line);
}

static void line_ask_level(struct lab *lab, const struct level_row *row)
{
    const enum level_id id = level_of(row);
    struct finding *const f = lab_finding(lab, row->component, "line");
    struct line_question q = {.lab = lab,
                              .row = row,
                              .facts = fact_bracket(lab, id),
                              .sector = fact_sector(lab, id),
                              .line = fact_line_write(lab, id),
                              .visits = VISITS};
    if (q.sector->bytes == 0) {
        finding_none(f, "%s", lab_why_unknown(lab, row->component, "sector"));
        return;
    }
    if (is_blurred(&q, f))
        return;
    /* The near part alone holds too little of it. */
    if (q.facts->near_fits > 0 && q.facts->far_end == 0) {
        finding_none(f, why_far_end_unknown);
        return;
    }
    if (row->bound != NULL && places_for(row, q.facts, longest(q.facts)) == 0) {
        report_at_least(&q, f);
        return;
    }
    ask_line(&q, f);
}

static void line_run(struct lab *lab)
{
    lab_each_level(lab, "line", line_ask_level);
}

const struct study study_line = {
    .name = "line",
    .question = "How many bytes are looked up and evicted together?",
    .method = "One element of each L bytes, more than fit if L is the line or "
              "less: they miss by the pigeonhole principle, and "
              "fit if the line is shorter.",
    .reads = FACTS(FACT_TRACE, FACT_BRACKET, FACT_SECTOR),
    .proposes = proposes,
    .run = line_run,
};
