/*
 * How many bytes each cache holds, to the line.
 *
 * The size is the largest ring without a miss: a fine-grained trace of whole
 * laps, of which only loads as slow as a miss are kept.  A spike may look like
 * a miss, but it does not come back at the same address in another lap; so
 * the verdict rests on addresses that are slow more often than the rate of
 * spikes, taken from a ring that surely fits, can explain.
 *
 * The verdict is checked by what must hold for every cache: the lines that hit
 * in one lap were all there when it began, so their number bounds the size
 * from below.  If a larger ring shows more hits than the size found, there is
 * no clean edge (an index that scatters unevenly, a policy that never lets the
 * ring settle), and that number is reported, as the bound that it is.  So is it
 * where victims are picked at random in a cache too large for the laps that
 * would show one line too many.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/search.h"
#include "analysis/statistics/rate_test.h"
#include "analysis/statistics/returns.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/lab.h"

/* Rings with no edge throw doubt on what their lines were told by. */
static const struct answer proposes[] = {
    {level_components, "size", "B"},
    {level_components, "line", "B"},
    {level_components, "sector", "B"},
    {0},
};

/* Laps of small rings are cheap, those of large ones are not: loads timed, as
 * far as at least two laps and at most 64 allow; and where few misses must be
 * found among spikes. */
enum { LOADS = 1 << 16, CAREFUL_LOADS = 8 << 20, LAPS_LEAST = 2 };
enum { LAPS_MOST = 64, LAPS_CAREFUL = 24 };
/* What a trace keeps lies in shared memory, which an L1 may have to give room:
 * 4 KiB there, 16 KiB where it costs nothing, and 32 where spikes are many.
 * Half of it is for what is not judged: a whole lap of constants, of which a
 * module may hold 64 KiB, may miss as code comes in. */
enum { RECORDS_SM = 256, RECORDS_SHARED = 1024, RECORDS_NOISY = 2048 };
/* Rings of more lines than that are judged by a part of a lap first. */
enum { GLANCE = 8192 };
/* How many SMs try sizes at once, where the cache is theirs: more would need
 * fewer launches, but more loads in all. */
enum { SMS = 4 };
/* How many lines off a glance may be: it overlooks so few misses. */
enum { NEAR = 12 };
/* A page's first access pays for the translation; one more element in each
 * 64 KiB, the smallest page there is, takes that on itself. */
enum { LEAD = 65536, LEAD_BIT = 8 };

/* What a trace of one size showed. */
struct lap_trace {
    uint64_t lines, loads, laps;
    uint64_t entry;  /* loads before those that are judged; laps are whole */
    size_t misses;   /* loads as slow as a miss, of those kept and judged */
    size_t slow;     /* loads slower than a hit, all of them */
    size_t returned; /* addresses that were so more often than by chance */
    bool full;       /* more than were kept */
    bool steady;     /* most misses came back in every lap … */
    bool proven;     /* … more often than those of random victims do */
};

struct size_question {
    struct lab *lab;
    const struct level_row *row;
    const struct fact_bracket *facts;
    const struct fact_line *line;
    struct finding *finding;
    double low, high; /* cycles, in a trace, of a load that misses; 0: it
                         is not told from a hit */
    double rate;      /* spikes as slow as that, of one load */
    double crowd;     /* … and slower ones, too; 0: not known yet */
    struct lap_trace
        control;       /* the ring, surely in the cache, that told the rate */
    int records;       /* loads that a trace keeps */
    uint64_t stride;   /* between elements: a line, or less */
    uint64_t lead;     /* how often a further element leads, B; 0: never */
    uint64_t shift;    /* where rings begin, B */
    uint64_t apart;    /* strides from one element to the next; most often 1 */
    bool whole;        /* judge by whole laps; else by a glance */
    bool careful;      /* by very many laps */
    uint64_t overfull; /* the smallest ring seen to miss, by whole laps … */
    bool steady;       /* … where most came back in every lap … */
    bool proven;       /* … which was no chance */
    bool hides;        /* few laps may hide a line too many among spikes */
    bool in_pieces;    /* some ring was timed in several launches */
    uint64_t least, most;  /* rings from that to that were looked at; 0: none */
    const char *unsettled; /* why some could not be warmed up as long as they
                              may need; NULL: none */
    size_t tried;
};

/* As many laps as the traces' room for spikes allows, once it is known how many
 * there are. */
static uint64_t laps_for(const struct size_question *q, uint64_t lines)
{
    const uint64_t loads = q->careful ? CAREFUL_LOADS : LOADS;
    const double room =
        q->crowd > 0 ? q->records / 2 / (q->crowd * (double)lines) : LAPS_MOST;
    const uint64_t laps = u64_within(LAPS_LEAST, loads / lines, LAPS_MOST);
    return room < (double)laps ? u64_within(LAPS_LEAST, (uint64_t)room, laps)
                               : laps;
}

/* The chance that spikes make a ring seem to miss that does not: of addresses
 * that come back, and of more slow loads than in the control; of a glance,
 * which looks at the latter alone. */
static const double chance_of_returns = 1e-6, chance_of_more = 1e-5,
                    chance_at_a_glance = 1e-8;

static uint64_t judged_laps(const struct lap_trace *s)
{
    return s->laps - (s->entry > 0);
}

/* Some twenty traces of a study must all be right. */
static struct returns returns_of(const struct size_question *q,
                                 const struct lap_trace *s)
{
    return returns_beyond_chance(s->lines, judged_laps(s), q->rate,
                                 chance_of_returns);
}

/* The columns of a trace whose slow loads alone are kept. */
struct slow_trace {
    struct column sm, cycles, offset, visit, events;
};

static struct slow_trace columns_of(struct lab *lab, const struct samples *s)
{
    return (struct slow_trace){.sm = lab_column_of(lab, s, "sm"),
                               .cycles = lab_column_of(lab, s, "cycles"),
                               .offset = lab_column_of(lab, s, "offset"),
                               .visit = lab_column_of(lab, s, "visit"),
                               .events = lab_column_of(lab, s, "events")};
}

/* Offsets of the loads of one SM that were as slow as a miss, from a visit on,
 * in order. */
static const double *slow_offsets(const struct size_question *q,
                                  const struct slow_trace *t, size_t sm,
                                  uint64_t from, size_t *count)
{
    double *const at = lab_alloc(q->lab, t->sm.count, sizeof *at);
    *count = 0;
    for (size_t i = 0; i < t->sm.count; i++)
        if ((size_t)t->sm.at[i] == sm && t->visit.at[i] >= (double)from &&
            t->cycles.at[i] >= q->low && t->cycles.at[i] <= q->high &&
            ((int64_t)t->offset.at[i] & LEAD_BIT) == 0)
            at[(*count)++] = t->offset.at[i];
    return arena_adopt(&q->lab->memory, stats_sorted(at, *count));
}

/* How many loads of an SM were slow enough to be kept. */
static size_t slow_loads(const struct slow_trace *t, size_t sm)
{
    for (size_t i = 0; i < t->sm.count; i++)
        if ((size_t)t->sm.at[i] == sm)
            return (size_t)t->events.at[i];
    return 0;
}

/* True if nearly all misses, beyond the most spikes that are to be expected,
 * were at addresses that missed in every lap.  A fifth may be jitter of those:
 * a miss that once cost less than the limit. */
static bool is_steady(const struct lap_trace *s, size_t always, double rate)
{
    const double spikes = rate * (double)(s->loads - s->entry);
    const double misses = (double)s->misses - spikes - 2 * sqrt(spikes);
    /* All but that fifth. */
    return always > 1 && (double)(always * judged_laps(s)) > 0.8 * misses;
}

/*
 * Of two ways whose victims are picked at random, to which three lines come in
 * turn, 63 % of what missed misses in the next lap again, and less of more
 * ways: of so many all do once in a thousand times.  A line too many of two
 * ways, in two laps, does a fourth of the time, and spikes may be what came
 * back once.
 */
enum { RETURNS_SURE = 15 };

static void judge_trace(const struct size_question *q,
                        const struct slow_trace *t, size_t sm,
                        struct lap_trace *s)
{
    const double *const at = slow_offsets(q, t, sm, s->entry, &s->misses);
    const struct returns wanted = returns_of(q, s);
    const size_t returned = returns_count(at, s->misses, wanted.times);
    s->returned = returned >= wanted.places ? returned : 0;
    const size_t always = returns_count(at, s->misses, judged_laps(s));
    s->steady = is_steady(s, always, q->rate);
    s->proven = always * (judged_laps(s) - 1) >= RETURNS_SURE;
    s->slow = slow_loads(t, sm);
    s->full = s->slow > (size_t)q->records;
}

/*
 * What a trace of a ring of `bytes` is to show, before it is made.  The code
 * that times is not that of the warm-up.  Its lines come in with the first lap,
 * and where instructions share the cache they put some of a ring out that fits:
 * under LRU for all of that lap.  So it is not judged, if two more are.
 */
static struct lap_trace expect(const struct size_question *q, uint64_t bytes)
{
    struct lap_trace s = {.lines = bytes / q->stride};
    const bool glance = !q->whole && s.lines > 2 * GLANCE;
    s.laps = glance ? 1 : laps_for(q, s.lines);
    /* A whole lap has the leading elements in it. */
    const uint64_t leads = q->lead > 0 ? (bytes + q->lead - 1) / q->lead : 0;
    s.loads = glance ? GLANCE : s.laps * (s.lines + leads);
    if (s.laps > LAPS_LEAST)
        s.entry = s.lines + leads;
    return s;
}

/*
 * Traces rings after `warm` laps of warm-up, each on an SM of its own in one
 * launch.  All make as many loads as the largest needs for its laps; those of
 * the smaller make a little more than theirs.
 */
static void look(struct size_question *q, const struct search_sizes *sizes,
                 uint64_t warm, struct lap_trace *seen)
{
    const uint64_t last = sizes->first + (sizes->count - 1) * sizes->step;
    const uint64_t loads = expect(q, last).loads;
    const struct samples *const samples = lab_probe(
        q->lab,
        "trace %s bytes=%" PRIu64 " stride=%" PRIu64 " lead=%" PRIu64
        " shift=%" PRIu64 " step=%" PRIu64 " sms=%zu sweep=%d "
        "warm=%" PRIu64 " visits=%" PRIu64 " above=%.0f records=%d",
        level_ring(q->row), sizes->first * q->apart, q->stride * q->apart,
        q->lead, q->shift, sizes->count > 1 ? sizes->step * q->apart : 0,
        sizes->count, !q->row->of_sm, warm, loads, floor(q->low), q->records);
    const struct slow_trace t = columns_of(q->lab, samples);
    q->in_pieces = q->in_pieces || samples->in_pieces;
    for (size_t i = 0; i < sizes->count; i++) {
        seen[i] = expect(q, sizes->first + i * sizes->step);
        seen[i].loads = loads;
        if (lab_ok(q->lab))
            judge_trace(q, &t, i, &seen[i]);
    }
    finding_cite(q->finding, samples->experiment);
}

/*
 * Misses come back at the same addresses; or, where a victim is picked from
 * very many ways at random, all over, but more of them than there are spikes.
 * The chance of so many is asked to be small enough for some twenty traces.
 */
static bool is_clean(const struct size_question *q, const struct lap_trace *s)
{
    if (s->full || (s->laps > 1 && s->returned > 0))
        return false;
    return !rate_test_more(s->misses, s->loads - s->entry, q->control.misses,
                           q->control.loads - q->control.entry,
                           s->laps > 1 ? chance_of_more : chance_at_a_glance);
}

/*
 * Warm-ups, in laps, that are tried before a ring is said not to fit: a cache
 * that picks its victims at random keeps what was in it before for long.  Each
 * is worth the next if no more than such a part of the loads is slow; the
 * share falls with the laps where the ring fits, and stays where it does not.
 * After one lap under random victims more than half misses still; each lap
 * then leaves three quarters of it at most, so that after 16 an eighth is
 * plenty, and after 256 a hundredth is spikes.
 */
static const struct {
    uint64_t laps;
    double slow_most;
} warm_ups[] = {{1, 0.6}, {16, 0.12}, {256, 0.01}, {1024, 0}};
enum { WARM_LOADS_MOST = 32 << 20 };

/* What misses at the same addresses in every lap has settled. */
static bool may_settle(const struct lap_trace *s, size_t warm_up)
{
    return !s->steady &&
           (double)s->slow <= warm_ups[warm_up].slow_most * (double)s->loads;
}

/* Laps after which half of what fits has surely settled. */
enum { SETTLED = 64 };

static void note_overfull(struct size_question *q, uint64_t bytes,
                          const struct lap_trace *seen)
{
    if (!q->whole || (q->overfull > 0 && bytes >= q->overfull))
        return;
    q->overfull = bytes;
    q->steady = seen->steady;
    q->proven = seen->proven;
}

/*
 * Beside others the longest warm-up may take longer than a turn of ours.  Half
 * of it shows whether what misses after the one before gets less: it stays for
 * a ring that does not fit; what fits and settles by less than half since then
 * would not have settled in the longest either.  Few misses tell nothing.
 */
enum { FEW = 16 };

static void settle_by_half(struct size_question *q,
                           const struct search_sizes *sizes, uint64_t laps,
                           const struct lap_trace *before, bool *yes)
{
    struct lap_trace seen[SEARCH_AT_ONCE];
    lab_spare(q->lab, true);
    look(q, sizes, laps, seen);
    q->unsettled = lab_spared(q->lab);
    for (size_t j = 0; lab_ok(q->lab) && j < sizes->count; j++) {
        yes[j] = q->unsettled == NULL && is_clean(q, &seen[j]);
        if (q->unsettled == NULL && !yes[j] &&
            seen[j].slow < before[j].slow / 2 + FEW)
            q->unsettled = why_size_unsettled;
    }
}

static bool warm_enough(const struct size_question *q,
                        const struct search_sizes *sizes, size_t warm_up)
{
    const uint64_t lines =
        (sizes->first + sizes->count * sizes->step) / q->stride;
    return warm_up == COUNT_OF(warm_ups) ||
           (warm_up > 0 &&
            (!q->whole || warm_ups[warm_up].laps * lines > WARM_LOADS_MOST));
}

/* What is timed in pieces, each a launch, brings in the code of each, of which
 * only the first lap is not judged, and the pointers of its quick warm-up.
 * What all SMs share holds the pointers, and what lies behind the first cache
 * of constants may hold the code, so that less of a ring fits. */
static bool is_crowded(const struct size_question *q)
{
    return q->in_pieces && (q->row->behind != LEVEL_COUNT || !q->row->of_sm);
}

static int size_fits(void *context, const struct search_sizes *sizes, bool *yes,
                     struct error *err)
{
    struct size_question *const q = context;
    struct lap_trace seen[SEARCH_AT_ONCE], next[SEARCH_AT_ONCE];
    bool again = q->unsettled == NULL;
    for (size_t j = 0; j < sizes->count; j++)
        yes[j] = false;
    q->tried += sizes->count;
    for (size_t i = 0; again && !warm_enough(q, sizes, i); i++) {
        const uint64_t laps = warm_ups[i].laps;
        lab_spare(q->lab, i > 1);
        look(q, sizes, laps, next);
        if (lab_spared(q->lab)) {
            settle_by_half(q, sizes, laps / 2, seen, yes);
            break;
        }
        if (!lab_ok(q->lab))
            break;
        again = false;
        for (size_t j = 0; j < sizes->count; j++) {
            seen[j] = next[j];
            yes[j] = is_clean(q, &seen[j]);
            again = again || (!yes[j] && may_settle(&seen[j], i));
        }
        /* More laps do not help. */
        again = again && !is_crowded(q);
    }
    for (size_t j = 0; q->unsettled == NULL && j < sizes->count; j++)
        if (lab_ok(q->lab) && !yes[j])
            note_overfull(q, sizes->first + j * sizes->step, &seen[j]);
    return err->code;
}

/* Costs between a hit and a miss may be those of hits in farther parts. */
static double least_miss(struct size_question *q, const struct column *c,
                         double half)
{
    return q->row->of_sm ? hits_least_miss(c->at, c->count, q->facts->hit,
                                           fact_trace(q->lab)->cycles, half)
                         : half;
}

/* What misses of a ring cost in a trace; false if less than one load in
 * `share_least` is one. */
static bool learn_misses_of(struct size_question *q, uint64_t bytes,
                            size_t share_least)
{
    const struct fact_bracket *const f = q->facts;
    const double half =
        hits_limit(f->plateau, f->miss) + fact_trace(q->lab)->cycles;
    char fill[LAB_FILL];
    lab_fill(q->row, 1, fill);
    bytes = u64_min(bytes, q->row->most);
    const struct column c = lab_column(
        q->lab, "cycles",
        "trace %s bytes=%" PRIu64 " stride=%" PRIu64 " %s visits=2048",
        level_ring(q->row), bytes / q->stride * q->stride, q->stride, fill);
    const double least = least_miss(q, &c, half);
    const size_t slow = hits_between(c.at, c.count, least, INFINITY);
    if (slow * share_least < c.count || slow == 0)
        return false;
    const double low = stats_quantile(c.at, slow, 0.02);
    double high = stats_quantile(c.at, slow, 0.98);
    const double margin = hits_miss_margin(low, high);
    /* The far ones, as far above the mean of both, may not be among these. */
    if (least < half)
        high = fmax(high, 2 * (f->miss + fact_trace(q->lab)->cycles) - low);
    q->low = fmax(low - margin, least);
    q->high = high + margin;
    return true;
}

/* A ring that is far too large may miss the next cache, too.  Of one that is
 * larger by an eighth a fifth misses under random victims, which are those that
 * put out the fewest; spikes are one load in fifty at most. */
static bool learn_misses(struct size_question *q)
{
    enum { ANY = 2048 };
    const struct fact_bracket *const f = q->facts;
    return learn_misses_of(q, f->overflows / 8 * 9, HITS_CLEARLY) ||
           learn_misses_of(q, 2 * f->overflows, HITS_CLEARLY) ||
           learn_misses_of(q, f->deep, ANY);
}

/* How often a load that hits is as slow, from a ring that surely fits. */
static void learn_rate(struct size_question *q)
{
    const struct search_sizes half = {
        .first = q->facts->fits / 2 / q->stride * q->stride, .count = 1};
    q->rate = 0.01; /* until it is known; the ring fits in any case */
    q->whole = true;
    look(q, &half, 1, &q->control);
    if ((double)q->control.slow >
        assume(ASSUME_SPIKES_OF_TRACE) * (double)q->control.loads)
        look(q, &half, SETTLED, &q->control);
    /* One more than seen: none seen is not none there. */
    q->rate = (double)(q->control.misses + 1) /
              (double)(q->control.loads - q->control.entry);
    q->crowd = (double)(q->control.slow + 1) / (double)q->control.loads;
    const double lines = (double)(q->facts->overflows / q->stride);
    const double loads =
        fmax(LAPS_LEAST * lines, fmin(LAPS_MOST * lines, LOADS));
    if (q->records == RECORDS_SHARED && q->crowd * loads > RECORDS_SHARED / 2)
        q->records = RECORDS_NOISY;
}

/* Of a cache that each SM has, sizes up to `most` are tried on several SMs at
 * once, as far as there is room for that many. */
static size_t sms_at_once(const struct size_question *q, uint64_t most)
{
    const int64_t sms = q->lab->info->value[PROPERTY_SMS];
    const uint64_t room = q->row->most / (2 * most);
    if (!q->row->of_sm || room < 2 || sms < 2)
        return 1;
    return u64_within(1, room < SMS ? room : SMS, (uint64_t)sms);
}

/* The bracket around the edge, down to so many lines. */
static struct search find_edge(struct size_question *q, uint64_t least,
                               uint64_t most, uint64_t lines)
{
    const uint64_t line = q->stride;
    struct search search = {.state = SEARCH_ALL_FIT};
    most = u64_min(most, q->row->most);
    const struct search_range range = {.least = least / line * line,
                                       .most = most / line * line,
                                       .granularity = lines * line,
                                       .at_once = sms_at_once(q, most)};
    q->least = q->least > 0 ? u64_min(q->least, range.least) : range.least;
    q->most = u64_max(q->most, range.most);
    if (lab_ok(q->lab))
        search_size(&range, size_fits, q, &search, &q->lab->err);
    return search;
}

/* By glances, around the knee; then by whole laps around what they found. */
static struct search find_size_of_large(struct size_question *q)
{
    const struct fact_bracket *const f = q->facts;
    const uint64_t near = NEAR * q->line->bytes;
    q->whole = false;
    const struct search edge = find_edge(
        q, f->fits - f->fits / 64, f->overflows + f->overflows / 64, NEAR / 2);
    q->whole = true;
    return edge.state != SEARCH_BRACKETED
               ? edge
               : find_edge(q, edge.fits - near, edge.fits + near, 1);
}

/* Most spaces share the storage of L1: whether its size is theirs is tried
 * before others. */
static struct search try_size_of_l1(struct size_question *q)
{
    const struct fact_bracket *const f = q->facts;
    const uint64_t l1 = fact_rings(q->lab, LEVEL_L1)->bytes;
    const uint64_t line = q->stride;
    if (level_of(q->row) == LEVEL_L1 || !q->row->of_sm ||
        l1 < f->fits - f->fits / 8 || l1 % line != 0 ||
        l1 + line > u64_min(2 * f->overflows, q->row->most))
        return (struct search){.state = SEARCH_ALL_FIT};
    return find_edge(q, l1, l1 + line, 1);
}

/* The rough size is known to a sixteenth or so: the size is looked for from an
 * eighth below it, to as much above it as an index may scatter.  Where a ring
 * that is a sixth too large misses but a few of its lines, as with ages of many
 * ways or the first of two to go, it is a quarter below at most. */
static struct search find_size(struct size_question *q)
{
    const struct fact_bracket *const f = q->facts;
    struct search edge = {.state = SEARCH_ALL_FIT};
    if (f->fits / q->line->bytes > 2 * GLANCE)
        edge = find_size_of_large(q);
    q->whole = true;
    if (edge.state != SEARCH_BRACKETED)
        edge = try_size_of_l1(q);
    /* Elements farther apart than these may have left half of it out. */
    const uint64_t rough = q->stride < q->row->fine ? f->fits / 2 : f->fits;
    if (edge.state != SEARCH_BRACKETED)
        edge = find_edge(q, rough - rough / 8, 2 * f->overflows, 1);
    if (edge.state == SEARCH_NONE_FITS)
        edge = find_edge(q, rough - rough / 4, rough - rough / 8, 1);
    return edge;
}

/* Whether what missed of the smallest ring that does not fit comes back in very
 * many laps, too. */
static bool comes_back(struct size_question *q, const struct search *edge)
{
    const struct search_sizes larger = {.first = edge->overflows, .count = 1};
    bool fits = false;
    q->careful = true;
    q->overfull = 0;
    q->steady = false;
    size_fits(q, &larger, &fits, &q->lab->err);
    return q->steady && q->proven;
}

/* Places that miss in every lap if one line is too many, at the least: that
 * line puts out another, as the first to go of those that are not marked, and
 * comes back when that does.  Under LRU all lines of its set do. */
enum { PLACES_LEAST = 2 };

/* True if spikes come back at so many places of such a ring; or at one less,
 * where what is late once does not miss in every lap. */
static bool may_hide_line(const struct size_question *q, uint64_t bytes)
{
    const struct lap_trace s = expect(q, bytes);
    const struct returns wanted = returns_of(q, &s);
    const bool every = wanted.times == judged_laps(&s);
    return wanted.places + (every ? 1 : 0) > PLACES_LEAST;
}

/*
 * Where the same loads miss in every lap, as with LRU, two laps show one line
 * too many, unless so many spikes come back.  Where victims are picked at
 * random, that line costs some miss in each lap, here or there.  Then only many
 * laps tell it from spikes.
 */
static bool is_sure(struct size_question *q, struct search *edge)
{
    const struct search_sizes found = {.first = edge->fits, .count = 1};
    bool sure = false;
    q->hides = may_hide_line(q, edge->fits);
    const bool back = q->steady && (q->proven || comes_back(q, edge));
    if (back && !q->hides)
        return true;
    q->careful = true;
    if ((back ? may_hide_line(q, edge->fits)
              : laps_for(q, edge->overflows / q->stride) < LAPS_CAREFUL) ||
        size_fits(q, &found, &sure, &q->lab->err) != 0 || sure)
        return sure;
    const struct search careful =
        find_edge(q, edge->fits - edge->fits / 16, edge->overflows, 1);
    if (careful.state == SEARCH_BRACKETED)
        *edge = careful;
    return careful.state == SEARCH_BRACKETED;
}

/*
 * What the level before keeps of a ring, this one is not asked for: then more
 * fits into both than this one holds.  The share of the loads of the largest
 * ring that fits which were that fast.
 */
static double kept_before(struct size_question *q, uint64_t bytes)
{
    if (q->row->behind == LEVEL_COUNT)
        return 0;
    const double limit =
        hits_limit(fact_bracket(q->lab, q->row->behind)->hit, q->facts->hit) +
        fact_trace(q->lab)->cycles;
    const struct column c = lab_column(
        q->lab, "cycles",
        "trace %s bytes=%" PRIu64 " stride=%" PRIu64 " warm=16 visits=2048",
        level_ring(q->row), bytes, q->stride);
    size_t fast = 0;
    for (size_t i = 0; i < c.count; i++)
        fast += c.at[i] < limit;
    return (double)fast / (double)c.count;
}

/* Most that the level before answers in a lap, in whole elements. */
static uint64_t bytes_before(const struct size_question *q)
{
    const uint64_t held = fact_bracket(q->lab, q->row->behind)->overflows;
    return (held + q->stride - 1) / q->stride * q->stride;
}

/* All of a ring hit here but what the level before answered: in some lap no
 * more than on average, nor than that holds. */
static uint64_t least_of_ring(const struct size_question *q, uint64_t size,
                              double kept)
{
    const uint64_t most =
        u64_max(bytes_before(q), (uint64_t)ceil(kept * (double)size));
    return (size - u64_min(size, most)) / q->stride * q->stride;
}

/* Where rings may begin elsewhere, so many lines on: not by a power of two, nor
 * by a part of what fits. */
static const unsigned elsewhere[] = {3, 7, 11, 5, 13, 9, 15};
/* Ends that are known to the line are the same at so many places by chance no
 * more. */
enum { PLACES_EXACT = 2 };

/* By an odd number of lines, as far as there is room for a ring that is too
 * large; 0: there is none. */
static uint64_t shift_of(const struct size_question *q, uint64_t fits,
                         uint64_t overflows, unsigned times)
{
    const uint64_t line = u64_max(q->stride, q->line->bytes);
    const uint64_t room =
        (q->row->most - u64_min(overflows, q->row->most)) / line;
    const uint64_t lines = u64_min(u64_max(fits / line / 16, 1) * times, room);
    return room == 0 ? 0 : (lines > 0 ? (lines - 1) | 1 : 1) * line;
}

/* Whether rings that begin so far on end between two sizes; 0: none fits. */
static bool ends_between(struct size_question *q, uint64_t shift,
                         uint64_t least, uint64_t most)
{
    const struct search_sizes ends[] = {{.first = least, .count = 1},
                                        {.first = most, .count = 1}};
    bool fits = least == 0, larger = true;
    q->shift = shift;
    if (least > 0)
        size_fits(q, &ends[0], &fits, &q->lab->err);
    size_fits(q, &ends[1], &larger, &q->lab->err);
    q->shift = 0;
    return fits && !larger;
}

/*
 * A ring is as large as the cache only if its lines come to the sets evenly.
 * Those of a hashed or sliced one do so in some places and not in others, and
 * where several lines in a row come to one set a ring ends where one more of
 * them does not fit: then the ends differ.  Of what loads reach first strewn
 * lines tell.  What the level before keeps of a ring, which is not the same of
 * another, leaves room for ends that differ by chance: then more places tell.
 * Where spikes hide a line too many two are asked for: of one an element that
 * leads to its page may be what misses.
 */
static bool is_same_elsewhere(struct size_question *q,
                              const struct search *edge, double kept)
{
    const bool ask = !q->row->of_sm || q->row->behind != LEVEL_COUNT;
    const uint64_t before = kept > 0 ? bytes_before(q) : 0;
    const uint64_t least =
        kept > 0 ? least_of_ring(q, edge->fits, kept) : edge->fits;
    const uint64_t hidden = q->hides ? q->stride : 0;
    const uint64_t most = edge->overflows + before + hidden;
    const size_t places = kept > 0 ? COUNT_OF(elsewhere) : PLACES_EXACT;
    bool same = true;
    q->careful = !q->steady || q->hides;
    for (size_t i = 0; ask && same && lab_ok(q->lab) && i < places; i++) {
        const uint64_t shift = shift_of(q, edge->fits, most, elsewhere[i]);
        if (shift == 0)
            break;
        same = ends_between(q, shift, least, most);
    }
    return same;
}

/* So many lines in a row may come to one set. */
enum { ROW_MOST = 16 };

/*
 * Of what loads reach first a hashed index may deal those rings alone evenly
 * that begin where they do, so that an end that comes sooner elsewhere denies
 * nothing.  But where several lines in a row come to one set, a ring may end
 * amid them, where one more does not fit, and a larger one that begins
 * otherwise does.
 */
static bool is_more_elsewhere(struct size_question *q,
                              const struct search *edge)
{
    const uint64_t line = u64_max(q->line->bytes, q->stride);
    const bool ask = q->row->of_sm && q->row->behind == LEVEL_COUNT &&
                     !q->row->memory_is_own &&
                     edge->fits % (ROW_MOST * line) != 0;
    const uint64_t most = edge->overflows + (q->hides ? q->stride : 0);
    bool more = false;
    q->careful = !q->steady || q->hides;
    for (size_t i = 0; ask && !more && lab_ok(q->lab) && i < PLACES_EXACT;
         i++) {
        const uint64_t shift = shift_of(q, edge->fits, most, elsewhere[i]);
        if (shift == 0)
            break;
        more = !ends_between(q, shift, 0, most);
        /* What a recording that is older does not hold is not asked. */
        if (lab_unrecorded(q->lab))
            return false;
    }
    return more && lab_ok(q->lab);
}

/* So many bytes of a ring hit in a lap. */
static uint64_t bytes_that_hit(struct size_question *q, uint64_t bytes)
{
    const struct search_sizes ring = {.first = bytes / q->stride * q->stride,
                                      .count = 1};
    /* What one miss brings in, if elements are nearer than that. */
    const uint64_t missed_bytes = u64_max(
        q->stride, fact_sure_sector(q->lab, level_of(q->row)) / q->apart);
    struct lap_trace s;
    if (ring.first == 0 || ring.first * q->apart > q->row->most)
        return 0;
    look(q, &ring, 1, &s);
    const uint64_t missed = s.slow / s.laps * missed_bytes;
    return missed < ring.first ? ring.first - missed : 0;
}

/* Rings larger than the edge by one in so many bytes: none may show more hits
 * in a lap than the edge has lines. */
static const unsigned beyond[] = {128, 8};
/* Nor may strewn lines of what an SM has, half as many again: those of a ring
 * in order may all come to few of the sets.  Behind another level some would be
 * found in that one. */
static const unsigned primes[] = {61, 31, 13, 7, 3};

static uint64_t most_that_hit(struct size_question *q,
                              const struct search *edge)
{
    const uint64_t strewn = edge->fits / 2 * 3;
    const bool is_own = q->row->of_sm && q->row->behind == LEVEL_COUNT;
    uint64_t most = 0;
    q->careful = false;
    for (size_t i = 0; lab_ok(q->lab) && i < COUNT_OF(beyond); i++)
        most = u64_max(
            most, bytes_that_hit(q, edge->overflows + edge->fits / beyond[i]));
    for (size_t i = 0; is_own && i < COUNT_OF(primes) && q->apart == 1; i++)
        if (primes[i] * strewn <= q->row->most)
            q->apart = primes[i];
    if (q->apart > 1)
        most = u64_max(most, bytes_that_hit(q, strewn));
    q->apart = 1;
    return most;
}

/* The lines that hit in a lap were there when it began: a bound from below for
 * every index and policy.  None is known from above: where rings end a hashed
 * index may have room. */
static void report_bound(struct size_question *q, uint64_t bytes,
                         const char *why)
{
    struct finding *const f = q->finding;
    finding_value(f, STATUS_AT_LEAST, value_number((double)bytes));
    f->has_interval = false;
    finding_because(f, "%s", why);
}

/* Where lines may be longer than what is known, a ring may begin within one, of
 * which it misses the rest; and another may hold what the kernel itself reads.
 */
static uint64_t lines_beside(const struct size_question *q)
{
    return fact_line(q->lab, level_of(q->row))->longer ? 2 * LINE_MOST : 0;
}

/* Of lines that may be shorter than what a ring loads at a time a part of the
 * next piece may fit. */
static uint64_t part_beside(const struct size_question *q)
{
    return q->line->bound && !q->line->longer ? q->stride : 0;
}

static void report_most(struct size_question *q, uint64_t size, double kept)
{
    const uint64_t most = size + lines_beside(q) + part_beside(q);
    finding_value(q->finding, STATUS_AT_MOST, value_number((double)most));
    finding_interval(q->finding, (double)least_of_ring(q, size, kept),
                     (double)most, -1);
    finding_because(q->finding, why_size_at_most_kept, 100 * kept);
}

/* A clean edge is known to the line, and a size is whole lines; of lines that
 * may be shorter than what a ring loads at a time it is less than the next ring
 * that does not fit.  The chance that spikes misled a verdict is known and
 * tiny, but it is not all that may. */
static void report_size(struct size_question *q, uint64_t size)
{
    struct finding *const f = q->finding;
    const uint64_t part = part_beside(q);
    finding_measured(f, (double)size);
    finding_interval(f, (double)size, (double)(size + part - (part > 0)), -1);
}

/* Of what is loaded in larger pieces than lines, one piece more may fit in
 * part. */
static bool is_only_least(const struct size_question *q, uint64_t size)
{
    return q->row->apart > q->line->bytes &&
           size != fact_rings(q->lab, LEVEL_L1)->bytes;
}

/* Samples showed room for more lines than fit of a ring in order, or for fewer.
 * What all SMs share is asked elsewhere, too. */
static bool is_denied(const struct size_question *q, const struct search *edge)
{
    const struct fact_bracket *const f = q->facts;
    return f->sampled && q->row->of_sm &&
           (edge->fits < f->fits || edge->fits > f->overflows);
}

/* Why the edge, below which `hit` bytes hit, is none that a size ends in; NULL:
 * it is one. */
static const char *why_no_edge(const struct size_question *q,
                               const struct search *edge, bool sure,
                               uint64_t hit)
{
    if (hit > edge->fits + u64_max(q->line->bytes, q->stride) ||
        is_denied(q, edge))
        return why_no_clean_edge;
    if (!sure)
        return why_random_victims;
    return is_crowded(q) ? why_size_in_pieces : NULL;
}

static void report_ring(struct size_question *q, uint64_t fits, double kept)
{
    struct fact_rings *const rings = fact_rings_write(q->lab, level_of(q->row));
    const bool least = is_only_least(q, fits);
    rings->bytes = fits;
    rings->measured = least || kept == 0;
    if (least)
        report_bound(q, fits,
                     lab_text(q->lab, why_words_apart, q->row->apart,
                              q->row->component));
    else if (rings->measured)
        report_size(q, fits);
    else
        report_most(q, fits, kept);
}

static void report_edge(struct size_question *q, struct search *edge)
{
    const bool sure = is_sure(q, edge); /* it may move the edge */
    const uint64_t hit = most_that_hit(q, edge);
    if (!lab_ok(q->lab))
        return;
    finding_protocol(q->finding, "sizes_tried", value_number((double)q->tried));
    const char *const why = why_no_edge(q, edge, sure, hit);
    if (why != NULL) {
        report_bound(q, why == why_size_in_pieces ? edge->fits : hit, why);
        return;
    }
    if (is_more_elsewhere(q, edge)) {
        report_bound(q, edge->fits, why_no_clean_edge);
        return;
    }
    const double kept = kept_before(q, edge->fits);
    const bool even = is_same_elsewhere(q, edge, kept);
    if (!lab_ok(q->lab))
        return;
    if (even || q->row->of_sm)
        report_ring(q, edge->fits, kept);
    if (!even)
        report_bound(q,
                     kept > 0 ? least_of_ring(q, edge->fits, kept)
                              : u64_max(hit, bytes_that_hit(q, edge->fits)),
                     why_no_clean_edge);
}

/*
 * Two things bound the size of a level in two parts.  Of the largest ring that
 * seemed to fit so many loads may have missed, and what hit was there.  And the
 * parts are alike, so that it is twice the near one, of which the same holds,
 * where that says less.
 */
static void step_interval(struct finding *f, const struct fact_bracket *facts)
{
    const double held = 1 - FAR_MISSES_PERCENT / 100.0;
    finding_interval(
        f, fmin(held * (double)facts->fits, 2 * (double)facts->near_fits),
        fmax((double)facts->overflows, 2 * (double)facts->near_overflows), -1);
}

/* The size of a level whose far part begins before its end was found with the
 * far part: no single load tells, since far hits and misses cost alike. */
static void report_step(struct finding *f, const struct fact_bracket *facts)
{
    if (facts->far_end == 0) {
        finding_none(f, why_far_end_unknown);
        return;
    }
    if (facts->soft) {
        finding_value(f, STATUS_AT_LEAST, value_number((double)facts->fits));
        finding_because(f, why_far_soft);
        return;
    }
    finding_value(f, STATUS_IN_DOUBT, value_number((double)facts->far_end));
    step_interval(f, facts);
    finding_because(f, why_far_step);
}

/* Where rings of such lines have no edge, the lines are in doubt, too, and what
 * was taken for a miss; unless something else told them. */
static void doubt_lines(struct size_question *q)
{
    static const char *const attributes[] = {"line", "sector"};
    if (q->line->paired)
        return;
    fact_rings_write(q->lab, level_of(q->row))->doubtful = true;
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        finding_none(lab_finding(q->lab, q->row->component, attributes[i]),
                     why_rings_no_edge);
}

/* All rings fit, behind another level.  What that asks for at once is less than
 * elements are apart, and lines may be no longer than that: so much of each was
 * there, but of those that the level before may have kept. */
static void report_asked(struct size_question *q)
{
    const uint64_t elements = q->facts->fits / q->row->fine;
    const uint64_t asked = elements * q->stride;
    const uint64_t kept = bytes_before(q);
    report_bound(
        q, asked - u64_min(kept, asked),
        lab_text(q->lab, why_line_asked_at_once, q->stride, q->row->bound));
}

/* Of a level whose rings all fit, or that was told otherwise; false if rings
 * are to tell. */
static bool report_without_rings(struct size_question *q)
{
    const struct fact_bracket *const facts = q->facts;
    const struct fact_sector *const sector =
        fact_sector(q->lab, level_of(q->row));
    struct finding *const f = q->finding;
    if (facts->near_fits > 0)
        report_step(f, facts);
    else if (q->line->bytes == 0)
        finding_none(f, "%s",
                     lab_why_unknown(q->lab, q->row->component, "line"));
    else if (facts->overflows == 0 && sector->bound && q->stride < q->row->fine)
        report_asked(q);
    else if (facts->overflows == 0) {
        finding_value(f, STATUS_AT_LEAST, value_number((double)facts->fits));
        finding_because(f, "%s", q->row->bound);
    } else {
        return false;
    }
    return true;
}

static void ask_rings(struct size_question *q)
{
    if (!learn_misses(q)) {
        finding_none(q->finding, why_misses_alike);
        return;
    }
    learn_rate(q);
    struct search edge = find_size(q);
    if (!lab_ok(q->lab))
        return;
    if (q->unsettled != NULL) {
        finding_none(q->finding, "%s", q->unsettled);
        return;
    }
    if (edge.state == SEARCH_BRACKETED) {
        report_edge(q, &edge);
        return;
    }
    finding_none(q->finding, why_no_largest, q->least, q->most);
    doubt_lines(q);
}

static void size_ask_level(struct lab *lab, const struct level_row *row)
{
    struct size_question q = {
        .lab = lab,
        .row = row,
        .facts = fact_bracket(lab, level_of(row)),
        .line = fact_line(lab, level_of(row)),
        .records = row->of_sm && row->behind == LEVEL_COUNT ? RECORDS_SM
                                                            : RECORDS_SHARED,
        .lead = row->apart > LEAD_BIT ? 0 : LEAD,
        .stride = lab_ring_stride(lab, row),
        .apart = 1,
        .finding = lab_finding(lab, row->component, "size")};
    finding_protocol(q.finding, "load", value_text(row->words));
    finding_protocol(q.finding, "carve_out_percent", value_number(0));
    if (!report_without_rings(&q))
        ask_rings(&q);
}

static void size_run(struct lab *lab)
{
    lab_each_level(lab, "size", size_ask_level);
}

const struct study study_size = {
    .name = "size",
    .question = "How many bytes does each cache hold?",
    .method = "The largest ring that no load misses in whole traced laps; "
              "checked against the bytes that hit in larger rings, which are "
              "the bound that is reported where there is no such ring.",
    .reads = FACTS(FACT_TRACE, FACT_BRACKET, FACT_SECTOR, FACT_LINE),
    .proposes = proposes,
    .kernels = TEXTS(
        "trace op=ca sweep=1 records=256", "trace op=cg sweep=1 records=1024",
        "trace space=texture records=256", "trace space=readonly records=256",
        "trace space=constant records=256",
        "trace space=local lanes=32 records=256"),
    .run = size_run,
};
