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

#include "analysis/rate_test.h"
#include "analysis/search.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"line", NULL};
/* Rings with no edge throw doubt on what their lines were told by. */
static const char *const corrects[] = {
    "l1.line",          "texture.line",  "readonly.line",
    "local.line",       "const_l1.line", "const_l15.line",
    "l2.line",          "l1.sector",     "texture.sector",
    "readonly.sector",  "local.sector",  "const_l1.sector",
    "const_l15.sector", "l2.sector",     NULL,
};
static const char *const gives[] = {
    "l1.size",       "texture.size",   "readonly.size", "local.size",
    "const_l1.size", "const_l15.size", "l2.size",       NULL,
};
static const char *const kernels[] = {
    "trace op=ca sweep=1 records=256",
    "trace op=cg sweep=1 records=1024",
    "trace space=texture records=256",
    "trace space=readonly records=256",
    "trace space=constant records=256",
    "trace space=local records=256",
    NULL,
};

/* Laps of small rings are cheap, those of large ones are not: loads timed, as
 * far as at least two laps and at most 64 allow; and where few misses must be
 * found among spikes. */
enum { LOADS = 1 << 16, CAREFUL_LOADS = 8 << 20, LAPS_LEAST = 2 };
enum { LAPS_MOST = 64, LAPS_CAREFUL = 24 };
/* What a trace keeps lies in shared memory, which an L1 may have to give room:
 * 4 KiB there, 16 KiB where it costs nothing. */
enum { RECORDS_SM = 256, RECORDS_SHARED = 1024 };
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
struct seen {
    uint64_t lines, loads, laps;
    size_t misses;   /* loads as slow as a miss, of those kept */
    size_t slow;     /* loads slower than a hit, all of them */
    size_t returned; /* addresses that were so more often than by chance */
    bool full;       /* more than were kept */
    bool steady;     /* most misses came back in every lap */
};

struct asked {
    struct lab *lab;
    const struct level_row *row;
    const struct level_facts *facts;
    struct finding *finding;
    double low, high;    /* cycles, in a trace, of a load that misses */
    double rate;         /* spikes as slow as that, of one load */
    struct seen control; /* the ring, surely in the cache, that told the rate */
    int records;         /* loads that a trace keeps */
    uint64_t stride;     /* between elements: a line, or less */
    uint64_t lead;       /* how often a further element leads, B; 0: never */
    bool whole;          /* judge by whole laps; else by a glance */
    bool careful;        /* by very many laps */
    uint64_t overfull;   /* the smallest ring seen to miss, by whole laps … */
    bool steady;         /* … where most came back in every lap */
    size_t tried;
};

static uint64_t within(uint64_t least, uint64_t value, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* A careful look takes as many laps as the traces' room for spikes allows. */
static uint64_t laps_for(const struct asked *a, uint64_t lines)
{
    if (!a->careful)
        return within(LAPS_LEAST, LOADS / lines, LAPS_MOST);
    const double room = a->records / 2 / (a->rate * (double)lines);
    const uint64_t laps = within(LAPS_LEAST, CAREFUL_LOADS / lines, LAPS_MOST);
    return room < (double)laps ? within(LAPS_LEAST, (uint64_t)room, laps)
                               : laps;
}

/* How often an address must be slow in so many laps to count as one that came
 * back, and how many such addresses are more than chance. */
struct wanted {
    uint64_t times;
    size_t addresses;
};

static struct wanted wanted_of(const struct asked *a, const struct seen *s)
{
    double expected = (double)s->lines; /* addresses, by chance */
    uint64_t times = 0;
    do {
        times++;
        expected *= (double)(s->laps - times + 1) / (double)times * a->rate;
    } while (expected > 0.01 && times < s->laps);
    /* One in a million: some twenty traces of a study must all be right. */
    size_t addresses = 0;
    for (double chance = 1; chance > 1e-6; chance *= fmin(expected, 0.5))
        addresses++;
    return (struct wanted){times, addresses - 1 > 0 ? addresses - 1 : 1};
}

static int compare_offsets(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Offsets of the loads of one SM that were as slow as a miss, in order; the
 * caller frees. */
static int64_t *slow_offsets(const struct asked *a, const struct samples *t,
                             int64_t sm, size_t *count)
{
    const size_t sms = samples_column(t, "sm");
    const size_t cycles = samples_column(t, "cycles");
    const size_t offset = samples_column(t, "offset");
    const size_t visit = samples_column(t, "visit");
    int64_t *const at = xreallocarray(NULL, t->rows, sizeof *at);
    *count = 0;
    for (size_t row = 0; row < t->rows; row++) {
        const double c = (double)samples_at(t, row, cycles);
        if (samples_at(t, row, sms) == sm && samples_at(t, row, visit) >= 0 &&
            c >= a->low && c <= a->high &&
            (samples_at(t, row, offset) & LEAD_BIT) == 0)
            at[(*count)++] = samples_at(t, row, offset);
    }
    qsort(at, *count, sizeof *at, compare_offsets);
    return at;
}

static size_t count_returned(const int64_t *at, size_t count, uint64_t wanted)
{
    size_t returned = 0;
    for (size_t i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && at[i + run] == at[i];)
            run++;
        returned += run >= wanted;
    }
    return returned;
}

/* How many loads of an SM were slow enough to be kept. */
static size_t slow_loads(const struct samples *t, int64_t sm)
{
    const size_t sms = samples_column(t, "sm");
    const size_t events = samples_column(t, "events");
    for (size_t row = 0; row < t->rows; row++)
        if (samples_at(t, row, sms) == sm)
            return (size_t)samples_at(t, row, events);
    return 0;
}

/* True if nearly all misses, beyond the most spikes that are to be expected,
 * were at addresses that missed in every lap. */
static bool is_steady(const struct seen *s, size_t always, double rate)
{
    const double spikes = rate * (double)s->loads;
    const double misses = (double)s->misses - spikes - 2 * sqrt(spikes);
    return always > 1 && (double)(always * s->laps) > 0.8 * misses;
}

static void judge(const struct asked *a, const struct samples *t, int64_t sm,
                  struct seen *s)
{
    int64_t *const at = slow_offsets(a, t, sm, &s->misses);
    const struct wanted wanted = wanted_of(a, s);
    const size_t returned = count_returned(at, s->misses, wanted.times);
    s->returned = returned >= wanted.addresses ? returned : 0;
    s->steady = is_steady(s, count_returned(at, s->misses, s->laps), a->rate);
    s->slow = slow_loads(t, sm);
    s->full = s->slow > (size_t)a->records;
    free(at);
}

/* What a trace of a ring of `bytes` is to show, before it is made. */
static struct seen expect(const struct asked *a, uint64_t bytes)
{
    struct seen s = {.lines = bytes / a->stride};
    const bool glance = !a->whole && s.lines > 2 * GLANCE;
    s.laps = glance ? 1 : laps_for(a, s.lines);
    /* A whole lap has the leading elements in it. */
    const uint64_t leads = a->lead > 0 ? (bytes + a->lead - 1) / a->lead : 0;
    s.loads = glance ? GLANCE : s.laps * (s.lines + leads);
    return s;
}

/*
 * Traces rings after `warm` laps of warm-up, each on an SM of its own in one
 * launch.  All make as many loads as the largest needs for its laps; those of
 * the smaller make a little more than theirs.
 */
static int look(struct asked *a, const struct search_sizes *sizes,
                uint64_t warm, struct seen *seen, struct error *err)
{
    struct samples t;
    char *name;
    const uint64_t last = sizes->first + (sizes->count - 1) * sizes->step;
    const uint64_t loads = expect(a, last).loads;
    if (lab_probe_err(a->lab, &t, &name, err,
                  "trace %s bytes=%" PRIu64 " stride=%" PRIu64 " lead=%" PRIu64
                  " step=%" PRIu64 " sms=%zu sweep=%d warm=%" PRIu64
                  " visits=%" PRIu64 " above=%.0f records=%d",
                  a->row->load, sizes->first, a->stride, a->lead,
                  sizes->count > 1 ? sizes->step : 0, sizes->count,
                  a->row->swept, warm, loads, floor(a->low), a->records) != 0)
        return err->code;
    for (size_t i = 0; i < sizes->count; i++) {
        seen[i] = expect(a, sizes->first + i * sizes->step);
        seen[i].loads = loads;
        judge(a, &t, (int64_t)i, &seen[i]);
    }
    finding_evidence(a->finding, name);
    free(name);
    samples_free(&t);
    return 0;
}

/*
 * Misses come back at the same addresses; or, where a victim is picked from
 * very many ways at random, all over, but more of them than there are spikes.
 * The chance of so many is asked to be small enough for some twenty traces.
 */
static bool is_clean(const struct asked *a, const struct seen *s)
{
    if (s->full || (s->laps > 1 && s->returned > 0))
        return false;
    return !rate_test_more(s->misses, s->loads, a->control.misses,
                           a->control.loads, s->laps > 1 ? 1e-5 : 1e-8);
}

/*
 * Warm-ups, in laps, that are tried before a ring is said not to fit: a cache
 * that picks its victims at random keeps what was in it before for long.  Each
 * is worth the next if no more than such a part of the loads is slow; the
 * share falls with the laps where the ring fits, and stays where it does not.
 */
static const struct {
    uint64_t laps;
    double slow_most;
} warm_ups[] = {{1, 0.6}, {16, 0.12}, {256, 0.01}, {1024, 0}};
enum { WARM_LOADS_MOST = 32 << 20 };

/* What misses at the same addresses in every lap has settled. */
static bool may_settle(const struct seen *s, size_t warm_up)
{
    return !s->steady &&
           (double)s->slow <= warm_ups[warm_up].slow_most * (double)s->loads;
}

/* Laps after which half of what fits has surely settled. */
enum { SETTLED = 64 };

static void note_overfull(struct asked *a, uint64_t bytes,
                          const struct seen *seen)
{
    if (!a->whole || (a->overfull > 0 && bytes >= a->overfull))
        return;
    a->overfull = bytes;
    a->steady = seen->steady;
}

static int fits(void *context, const struct search_sizes *sizes, bool *yes,
                struct error *err)
{
    struct asked *const a = context;
    struct seen seen[SEARCH_AT_ONCE];
    bool again = true;
    a->tried += sizes->count;
    for (size_t i = 0; again && i < COUNT_OF(warm_ups); i++) {
        const uint64_t lines =
            (sizes->first + sizes->count * sizes->step) / a->stride;
        if (i > 0 && (!a->whole || warm_ups[i].laps * lines > WARM_LOADS_MOST))
            break;
        if (look(a, sizes, warm_ups[i].laps, seen, err) != 0)
            return err->code;
        again = false;
        for (size_t j = 0; j < sizes->count; j++) {
            yes[j] = is_clean(a, &seen[j]);
            again = again || (!yes[j] && may_settle(&seen[j], i));
        }
    }
    for (size_t j = 0; j < sizes->count; j++)
        if (!yes[j])
            note_overfull(a, sizes->first + j * sizes->step, &seen[j]);
    return 0;
}

/* Learns what a miss costs in a trace, from a ring that is far too large, and
 * how often a load that hits is as slow, from one that surely fits. */
static int learn(struct asked *a, struct error *err)
{
    const struct level_facts *const f = a->facts;
    struct samples t;
    char fill[LAB_FILL];
    lab_fill(a->row, 1, fill);
    if (lab_probe_err(a->lab, &t, NULL, err,
                  "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                  " %s visits=2048",
                  a->row->load, f->deep, a->stride, fill) != 0)
        return err->code;
    const size_t cycles = samples_column(&t, "cycles");
    double *const slow = xreallocarray(NULL, t.rows, sizeof *slow);
    size_t count = 0;
    for (size_t row = 0; row < t.rows; row++) {
        const double c = (double)samples_at(&t, row, cycles);
        if (c > (f->plateau + f->miss) / 2 + a->lab->trace_cost)
            slow[count++] = c;
    }
    samples_free(&t);
    /* The middle 96 %, and as much again on each side as it is wide. */
    const double low = stats_quantile(slow, count, 0.02);
    const double high = stats_quantile(slow, count, 0.98);
    free(slow);
    if (count == 0)
        return 0;
    const double margin = fmax(4, 0.25 * (high - low));
    a->low =
        fmax(low - margin, (f->plateau + f->miss) / 2 + a->lab->trace_cost);
    a->high = high + margin;
    a->rate = 0.01; /* until it is known; the ring below fits in any case */
    a->whole = true;
    const struct search_sizes half = {
        .first = f->fits / 2 / a->stride * a->stride, .count = 1};
    /* Spikes are rarer than one in 2000; more means that it has not settled. */
    if (look(a, &half, 1, &a->control, err) != 0 ||
        (a->control.slow * 2000 > a->control.loads &&
         look(a, &half, SETTLED, &a->control, err) != 0))
        return err->code;
    /* One more than seen: none seen is not none there. */
    a->rate = (double)(a->control.misses + 1) / (double)a->control.loads;
    return 0;
}

/* Of a cache that each SM has, sizes up to `most` are tried on several SMs at
 * once, as far as there is room for that many. */
static size_t sms_at_once(const struct asked *a, uint64_t most)
{
    const int64_t sms = a->lab->info->value[PROPERTY_SMS];
    const uint64_t room = a->row->most / (2 * most);
    if (!a->row->of_sm || room < 2 || sms < 2)
        return 1;
    return within(1, room < SMS ? room : SMS, (uint64_t)sms);
}

/* The bracket around the edge, down to so many lines. */
static int find_edge(struct asked *a, uint64_t least, uint64_t most,
                     uint64_t lines, struct search *search, struct error *err)
{
    const uint64_t line = a->stride;
    most = most < a->row->most ? most : a->row->most;
    const struct search_range range = {.least = least / line * line,
                                       .most = most / line * line,
                                       .granularity = lines * line,
                                       .at_once = sms_at_once(a, most)};
    return search_size(&range, fits, a, search, err);
}

/* By glances, around the knee; then by whole laps around what they found. */
static int find_size_of_large(struct asked *a, struct search *edge,
                              struct error *err)
{
    const struct level_facts *const f = a->facts;
    const uint64_t near = NEAR * f->line;
    a->whole = false;
    if (find_edge(a, f->fits - f->fits / 64, f->overflows + f->overflows / 64,
                  NEAR / 2, edge, err) != 0)
        return err->code;
    a->whole = true;
    return edge->state != SEARCH_BRACKETED
               ? 0
               : find_edge(a, edge->fits - near, edge->fits + near, 1, edge,
                           err);
}

/* Most spaces share the storage of L1: whether its size is theirs is tried
 * before others. */
static int try_size_of_l1(struct asked *a, struct search *edge,
                          struct error *err)
{
    const struct level_facts *const f = a->facts;
    const struct level_facts *const l1 = &a->lab->facts[LEVEL_L1];
    edge->state = SEARCH_ALL_FIT;
    if (f == l1 || !a->row->of_sm || l1->size < f->fits - f->fits / 8 ||
        l1->size % f->line != 0 || l1->size + f->line > 2 * f->overflows)
        return 0;
    return find_edge(a, l1->size, l1->size + f->line, 1, edge, err);
}

static int find_size(struct asked *a, struct search *edge, struct error *err)
{
    const struct level_facts *const f = a->facts;
    if (f->fits / f->line > 2 * GLANCE &&
        (find_size_of_large(a, edge, err) != 0 ||
         edge->state == SEARCH_BRACKETED))
        return err->code;
    a->whole = true;
    if (try_size_of_l1(a, edge, err) != 0 || edge->state == SEARCH_BRACKETED)
        return err->code;
    return find_edge(a, f->fits - f->fits / 8, 2 * f->overflows, 1, edge, err);
}

/*
 * Where the same loads miss in every lap, as with LRU, two laps show one line
 * too many.  Where victims are picked at random, that line costs some miss in
 * each lap, here or there, and only many laps tell it from spikes.
 */
static int look_again(struct asked *a, struct search *edge, bool *sure,
                      struct error *err)
{
    const struct search_sizes found = {.first = edge->fits, .count = 1};
    *sure = a->steady;
    if (a->steady)
        return 0;
    a->careful = true;
    if (laps_for(a, edge->overflows / a->stride) < LAPS_CAREFUL)
        return 0;
    if (fits(a, &found, sure, err) != 0 || *sure)
        return err->code;
    if (find_edge(a, edge->fits - edge->fits / 16, edge->overflows, 1, edge,
                  err) != 0)
        return err->code;
    *sure = edge->state == SEARCH_BRACKETED;
    return 0;
}

/* Rings larger than the edge by one in so many bytes: none may show more hits
 * in a lap than the edge has lines. */
static const unsigned beyond[] = {128, 8};

static int most_that_hit(struct asked *a, const struct search *edge,
                         uint64_t *bytes, struct error *err)
{
    const uint64_t line = a->stride;
    /* What one miss brings in, if elements are nearer than that. */
    const uint64_t missed_bytes =
        a->facts->sector > line ? a->facts->sector : line;
    *bytes = 0;
    a->careful = false;
    for (size_t i = 0; i < COUNT_OF(beyond); i++) {
        const struct search_sizes ring = {
            .first = (edge->overflows + edge->fits / beyond[i]) / line * line,
            .count = 1};
        struct seen s;
        if (ring.first > a->row->most)
            break;
        if (look(a, &ring, 1, &s, err) != 0)
            return err->code;
        const uint64_t missed = s.slow / s.laps * missed_bytes;
        const uint64_t hit = missed < ring.first ? ring.first - missed : 0;
        *bytes = hit > *bytes ? hit : *bytes;
    }
    return 0;
}

/* The lines that hit in a lap were there when it began: a bound from below for
 * every index and policy. */
static void report_bound(struct asked *a, uint64_t bytes, const char *why)
{
    finding_set(a->finding, STATUS_AT_LEAST, value_number((double)bytes), "B");
    finding_interval(a->finding, (double)bytes, (double)a->facts->overflows,
                     0.95);
    finding_because(a->finding, "so many bytes hit in one lap; %s", why);
}

/*
 * Of elements farther apart than lines are, more bytes may fit than the cache
 * has, but not fewer.  That they are as many as L1 has, whose line is known, is
 * no accident.
 */
static bool is_only_most(const struct asked *a)
{
    return a->facts->line_bound &&
           a->facts->size != a->lab->facts[LEVEL_L1].size;
}

/*
 * What the level before keeps of a ring, this one is not asked for: then more
 * fits into both than this one holds.  The share of the loads of the largest
 * ring that fits which were that fast.
 */
static int kept_before(struct asked *a, uint64_t bytes, double *share,
                       struct error *err)
{
    const struct level_facts *const f = a->facts;
    struct samples t;
    *share = 0;
    if (a->row->behind == LEVEL_COUNT)
        return 0;
    const double hit = a->lab->facts[a->row->behind].hit;
    if (lab_probe_err(a->lab, &t, NULL, err,
                  "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                  " warm=16 visits=2048",
                  a->row->load, bytes, a->stride) != 0)
        return err->code;
    const size_t cycles = samples_column(&t, "cycles");
    size_t fast = 0;
    for (size_t row = 0; row < t.rows; row++)
        fast += (double)samples_at(&t, row, cycles) <
                (hit + f->hit) / 2 + a->lab->trace_cost;
    *share = (double)fast / (double)t.rows;
    samples_free(&t);
    return 0;
}

static int conclude(struct asked *a, struct level_facts *facts,
                    struct search *edge, struct error *err)
{
    bool sure = false;
    uint64_t hit;
    if (look_again(a, edge, &sure, err) != 0 ||
        most_that_hit(a, edge, &hit, err) != 0)
        return err->code;
    finding_protocol(a->finding, "sizes_tried", value_number((double)a->tried));
    if (hit > edge->fits + facts->line) {
        report_bound(a, hit,
                     "there is no clean edge, since single lines of "
                     "smaller rings miss");
        return 0;
    }
    if (!sure) {
        report_bound(a, hit,
                     "victims are picked at random, and the ring is "
                     "too long for the laps that would show the edge");
        return 0;
    }
    double kept;
    if (kept_before(a, edge->fits, &kept, err) != 0)
        return err->code;
    facts->size = edge->fits;
    if (kept > 0) {
        finding_set(a->finding, STATUS_AT_MOST,
                    value_number((double)facts->size), "B");
        finding_because(a->finding,
                        "the level before keeps %.1f %% of a ring of that "
                        "size",
                        100 * kept);
        return 0;
    }
    if (is_only_most(a)) {
        finding_set(a->finding, STATUS_AT_MOST,
                    value_number((double)facts->size), "B");
        finding_because(a->finding,
                        "so many bytes fit if a line is %" PRIu64
                        " B; it may be shorter",
                        facts->line);
        return 0;
    }
    finding_set(a->finding, STATUS_MEASURED, value_number((double)facts->size),
                "B");
    /* A clean edge is known to the line, and a size is whole lines. */
    finding_interval(a->finding, (double)edge->fits, (double)edge->fits, 0.99);
    return 0;
}

/*
 * Two things bound the size of a level in two parts.  Of the largest ring that
 * seemed to fit so many loads may have missed, and what hit was there.  And the
 * parts are alike, so that it is twice the near one, of which the same holds,
 * where that says less.
 */
static void step_interval(struct finding *f, const struct level_facts *facts)
{
    const double held = 1 - FAR_MISSES_PERCENT / 100.0;
    finding_interval(
        f, fmin(held * (double)facts->fits, 2 * (double)facts->near_fits),
        fmax((double)facts->overflows, 2 * (double)facts->near_overflows), -1);
}

/* The size of a level whose far part begins before its end was found with the
 * far part: no single load tells, since far hits and misses cost alike. */
static void report_step(struct finding *f, const struct level_facts *facts)
{
    if (facts->size == 0) {
        finding_none(f, "the end of the far part could not be found");
        return;
    }
    if (facts->soft) {
        finding_set(f, STATUS_AT_LEAST, value_number((double)facts->fits), "B");
        finding_because(f, "larger rings cost more little by little, and none "
                           "shows an end");
        return;
    }
    finding_set(f, STATUS_IN_DOUBT, value_number((double)facts->size), "B");
    step_interval(f, facts);
    finding_because(f, "the step of the average cost from the far part to "
                       "memory, in the middle of several places; single far "
                       "hits and misses cost alike");
}

/* A line; behind another level no more than one of that, so that it keeps as
 * little of a ring as it can. */
static uint64_t stride_of(const struct lab *lab, const struct level_row *row,
                          const struct level_facts *facts)
{
    if (row->behind == LEVEL_COUNT)
        return facts->line;
    const uint64_t before = lab->facts[row->behind].line;
    return before > 0 && before < facts->line ? before : facts->line;
}

/* Where rings of such lines have no edge, the lines are in doubt, too, and what
 * was taken for a miss. */
static void doubt_lines(struct asked *a, struct level_facts *facts)
{
    static const char *const attributes[] = {"line", "sector"};
    facts->line = facts->sector = 0;
    facts->doubtful = true;
    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        struct finding *const f =
            results_edit(a->lab->results, a->row->component, attributes[i]);
        if (f != NULL)
            finding_none(f, "rings of such lines show no edge, so that it is "
                            "in doubt");
    }
}

static int ask(struct lab *lab, const struct level_row *row,
               struct level_facts *facts, struct error *err)
{
    struct asked a = {.lab = lab,
                      .row = row,
                      .facts = facts,
                      .records = row->of_sm ? RECORDS_SM : RECORDS_SHARED,
                      .lead = row->apart > LEAD_BIT ? 0 : LEAD,
                      .finding = lab_finding(lab, row->component, "size")};
    struct search edge;
    finding_protocol(a.finding, "load", value_text(row->words));
    finding_protocol(a.finding, "carve_out_percent", value_number(0));
    if (facts->near_fits > 0) {
        report_step(a.finding, facts);
        return 0;
    }
    if (facts->line == 0) {
        finding_none(a.finding, "the line is not known");
        return 0;
    }
    if (facts->overflows == 0 && facts->sector_bound) {
        finding_none(a.finding,
                     "the level before asks for %" PRIu64 " B at once, and "
                     "lines may be shorter; all rings fit: %s",
                     facts->sector, row->bound);
        return 0;
    }
    if (facts->overflows == 0) {
        finding_set(a.finding, STATUS_AT_LEAST,
                    value_number((double)facts->fits), "B");
        finding_because(a.finding, "%s", row->bound);
        return 0;
    }
    a.stride = stride_of(lab, row, facts);
    if (learn(&a, err) != 0)
        return err->code;
    if (a.high <= 0) {
        finding_none(a.finding, "misses could not be told from hits");
        return 0;
    }
    if (find_size(&a, &edge, err) != 0)
        return err->code;
    if (edge.state != SEARCH_BRACKETED) {
        finding_none(a.finding,
                     "no ring between %" PRIu64 " and %" PRIu64
                     " B was the largest without misses",
                     facts->fits - facts->fits / 8, 2 * facts->overflows);
        doubt_lines(&a, facts);
        return 0;
    }
    return conclude(&a, facts, &edge, err);
}

static int run(struct lab *lab, struct error *err)
{
    return lab_each_level_err(lab, "size", ask, err);
}

const struct study study_size = {
    .name = "size",
    .question = "How many bytes does each cache hold?",
    .method = "The largest ring that no load misses in whole traced laps; "
              "checked against the bytes that hit in larger rings, which are "
              "the bound that is reported where there is no such ring.",
    .needs = needs,
    .gives = gives,
    .corrects = corrects,
    .kernels = kernels,
    .run_err = run,
};
