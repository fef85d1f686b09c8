/*
 * How many lines each cache holds, from what is left, by chance, of lines that
 * were loaded: by neither order, index nor policy
 * (analysis/structure/occupancy.h). It is the second estimate of each size,
 * which shares with rings nothing but the line and what a miss costs.
 *
 * Of an L2 in two parts each is asked by the SMs beside it, with lines that
 * have their home there, of which there are no copies.
 *
 * A few looks tell whether both estimates agree.  Where they do not, or rings
 * have none, many looks after several numbers of members tell the size, and
 * whether any number of equal sets explains what was seen.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/hits.h"
#include "analysis/structure/occupancy.h"
#include "base/log.h"
#include "base/num.h"
#include "base/text.h"
#include "study/l2/homes.h"

static const struct answer answers[] = {
    {ONE("l2"), "near_size", "B"},
    {0},
};
static const struct answer proposes[] = {
    {level_components, "size", "B"},
    {0},
};

/* Looks of an experiment: n of them tell the size to 1.4 / sqrt(n) or better.
 * The few tell of two sizes that one is wrong; the others are for what nothing
 * else tells, as of what all SMs share, where rings may be wrong by little, and
 * of its parts. */
enum { LOOKS_FEW = 16384, LOOKS_MANY = 65536 };
enum { LOOKS_OF_PART = 1 << 19 };
/* Looks of a trial are an eighth of the lines that the cache holds: what they
 * brought in is then pushed out again by so few of them that it changes the
 * size by 0.15 %; half as many where a load leads each.  No more of an SM than
 * take little of its shared memory, which may be of the same storage. */
enum { LOOKS_PART = 8, LOOKS_OF_SM = 64, LOOKS_OF_GPU = 512 };
/* Trials of it, so that a small one, of which little may be looked at, takes no
 * longer than a large one; and all looks of an SM, which it keeps to the end.
 */
enum { TRIALS_SHARED = 128, LOOKS_KEPT = 10240 };
/* Of what all SMs share a load leads each look: another line of the same page,
 * of another set, since nearly all indices have a bit so low.  A slice of few
 * sets has none, but one as low as a line: what leads there is a line farther.
 * Of so many lines 80 slices (H100) of 32 ways have more than 16 sets each. */
enum { LEAD = 2048, LEAD_LINES = 80 * 32 * 16 };
/* A buffer that overfills the cache has one and a half times its lines at
 * least, so that each set is full even where they do not come to it evenly. */
static const double buffer_least = 1.5;
/* What lasts over launches holds other lines at first, of which random victims
 * leave one in e^7, 0.1 %, once they were picked seven times as often as it has
 * lines; a quarter of its lines, four times loaded, stay but for 0.04 %.  How
 * many lines it has is known to a tenth. */
static const double picked_least = 7, roughly = 1.1;
/* Of lines that are far apart as many, and twice that, since they may come to
 * the sets as if by chance; of those of one home twice as many as it holds, of
 * which a set of 16 ways gets fewer once in 1000. */
static const double strewn_least = 3, home_least = 2;
enum { LINES_SETTLE = 4, SETTLE_MOST = 4, FILLS_MOST = 64 };
/* Lines that do not overfill it are drawn from so many sizes that they come to
 * the sets by chance. */
enum { POOL_SIZES = 64, POOL_LEAST = 4 };
/* Each such trial is a launch; on a GPU one takes some 50 us. */
enum { LAUNCHES_FEW = 128, LAUNCHES_MANY = 1024 };
/* SMs that ask at once of caches that each has. */
enum { SMS = 16 };
/* No list names a higher one. */
enum { SMS_OF_LIST = 1024 };
/* Warps of an SM that load what all share; of its own caches, which warps may
 * have copies of, the one that looks. */
enum { WARPS = 8 };

struct flood {
    struct lab *lab;
    const struct level_row *row;
    const struct fact_bracket *facts;
    uint64_t line, lines; /* that the cache holds, roughly */
    uint64_t most;        /* lines that may be asked for */
    uint64_t sms;
    int side; /* of L2 that is asked, by the SMs beside it; WHOLE: all */
    const char *homes; /* of its lines (l2/homes.h) */
    double limit;      /* cycles of the dearest hit */
    double late;       /* share of hits that take longer */
    bool uneven;       /* more lines found more room */
    struct finding *finding;
};
enum { WHOLE = -1 };

/* What looks change of a size, and lines that were there before, at most. */
static const double held_give = 0.002;
/* What spikes and refreshes of memory make late of any loads: one in 200. */
static const double late_give = 0.005;

/* ---- one experiment ---------------------------------------------------- */

/* Loads of an experiment: members of a pool, both in lines. */
struct dose {
    uint64_t pool, members, looks;
    uint64_t apart; /* lines from one of the pool to the next; 0: 1 */
    uint64_t take;  /* of the same: other looks */
    bool fresh;     /* the cache is empty before */
    bool paired;    /* with each comes the one that leads it */
    bool fits;      /* all of the pool */
};

/* SMs that ask.  They look at what they share at once, and looks whose leads
 * hit come before those whose leads miss, which mostly miss, too, and so find
 * what these push out.  So where it has few lines few ask: all looks of a trial
 * are a sixteenth of them. */
static uint64_t askers(const struct flood *q)
{
    const uint64_t lines = q->lines / (2 * LOOKS_PART);
    return q->row->of_sm ? q->sms : u64_within(1, lines, q->sms);
}

static uint64_t sharers(const struct flood *q)
{
    return q->row->of_sm ? 1 : askers(q);
}

/* Before each look: what leads takes a line's place, and may be looked at
 * itself later, so that as many are there as before.  Of lines that are apart
 * it is none of them, but may come with each: a power of two from it, which no
 * multiple of an odd number is. */
static uint64_t lead_of(const struct flood *q, const struct dose *d)
{
    const bool few = q->lines < LEAD_LINES;
    const uint64_t lead = LEAD + (few ? q->line : 0);
    if (d->paired)
        return few ? q->line : LEAD;
    return !q->row->of_sm && d->apart <= 1 && d->pool * q->line > lead ? lead
                                                                       : 0;
}

static uint64_t beside_of(const struct flood *q, const struct dose *d)
{
    return d->paired ? lead_of(q, d) : 0;
}

static double lines_of(const struct dose *d)
{
    return (double)d->members * (d->paired ? 2 : 1);
}

static uint64_t looks_each(const struct flood *q)
{
    const uint64_t part = (q->row->of_sm ? 1 : 2) * LOOKS_PART;
    return u64_within(1, q->lines / part / sharers(q),
                      q->row->of_sm ? LOOKS_OF_SM : LOOKS_OF_GPU);
}

/* Once the cache is full of the pool's lines, whichever, looks at any of these
 * by chance tell how many: they need not be loaded again. */
static bool stays_full(const struct flood *q, const struct dose *d)
{
    return !q->row->of_sm && d->members == d->pool &&
           (d->fits || (double)d->pool > roughly * (double)q->lines);
}

/* Trials that push out what other loads brought, but for the first that is
 * kept; each picks as many victims at least as it loads lines more than the
 * cache has. */
static uint64_t settling(const struct flood *q, const struct dose *d)
{
    const double loads = (double)d->members / (double)q->lines / roughly;
    const uint64_t fills =
        (LINES_SETTLE * q->lines + d->members - 1) / d->members;
    if (d->fits)
        return SETTLE_MOST;
    if (stays_full(q, d))
        return (uint64_t)fmin(
            FILLS_MOST, 1 + ceil(fmax(0, picked_least - loads) / (loads - 1)));
    return q->row->of_sm ? 0 : u64_min(fills - 1, SETTLE_MOST);
}

/* Where it stays full a trial is its looks alone: as many as it takes for half
 * of the many, which two parts, or two numbers of lines, have together. */
static uint64_t trials_most(const struct flood *q, const struct dose *d,
                            uint64_t each)
{
    if (q->row->of_sm)
        return UINT64_MAX;
    const uint64_t most =
        stays_full(q, d) ? u64_max(TRIALS_SHARED, LOOKS_MANY / 2 / each + 1)
                         : TRIALS_SHARED;
    return u64_min(most, LOOKS_KEPT / looks_each(q));
}

/* The words of the experiment, but for who loads. */
static const char *words_of(const struct flood *q, const struct dose *d,
                            uint64_t sms)
{
    const char *const once =
        stays_full(q, d)
            ? lab_text(q->lab, " fills=%" PRIu64 " order=sequential",
                       settling(q, d))
            : "";
    const uint64_t each = looks_each(q) * sms;
    const uint64_t apart = u64_max(d->apart, 1) * q->line;
    const uint64_t trials = (d->looks + each - 1) / each;
    const char *const either = d->paired ? " either=1" : "";
    const char *const take =
        d->take > 0 ? lab_text(q->lab, " take=%" PRIu64, d->take) : "";
    return lab_text(q->lab,
                    "bytes=%" PRIu64 " stride=%" PRIu64 " members=%" PRIu64
                    " looks=%" PRIu64 " settle=%" PRIu64 " trials=%" PRIu64
                    " fresh=%d beside=%" PRIu64 " lead=%" PRIu64 "%s%s%s",
                    d->pool * apart, apart, d->members, looks_each(q),
                    settling(q, d), u64_min(trials, trials_most(q, d, each)),
                    d->fresh, beside_of(q, d), lead_of(q, d), either, once,
                    take);
}

/* So many SMs of those beside the part. */
static const char *sms_beside(const struct flood *q, uint64_t sms)
{
    bool in[SMS_OF_LIST] = {false};
    text_to_set(fact_sides(q->lab)->sms[q->side], in, COUNT_OF(in));
    for (size_t i = 0; i < COUNT_OF(in); i++)
        if (in[i] && sms-- == 0)
            return arena_adopt(&q->lab->memory, text_ranges(in, i));
    return fact_sides(q->lab)->sms[q->side];
}

/* Caches that SMs may share are asked by one SM where their members differ. */
static const struct samples *probe_dose(struct flood *q, const struct dose *d)
{
    const uint64_t sms = d->fresh ? 1 : askers(q);
    const char *const who =
        q->side != WHOLE ? lab_text(q->lab, "%s %s", sms_beside(q, sms),
                                    homes_words(q->lab, q->homes, q->side))
                         : lab_text(q->lab, "0-%" PRIu64, sms - 1);
    return lab_probe(q->lab, "overfill %s %s together=%d warps=%u sms=%s",
                     q->row->load, words_of(q, d, sms), !q->row->of_sm,
                     q->row->of_sm ? 1 : lab_warps(q->lab, WARPS), who);
}

static struct occupancy_looks
looks_of(const struct flood *q, const struct dose *d, const struct samples *s)
{
    const size_t quarter = samples_column(s, "quarter");
    const size_t cycles = samples_column(s, "cycles");
    const size_t count = samples_column(s, "count");
    struct occupancy_looks l = {
        .members = lines_of(d),
        .looks = stays_full(q, d) ? 1 : (double)(looks_each(q) * sharers(q)),
        .late = q->late};
    for (size_t row = 0; row < s->rows; row++) {
        const int64_t in = samples_at(s, row, quarter);
        const double looks = (double)samples_at(s, row, count);
        l.seen[in] += looks;
        if ((double)samples_at(s, row, cycles) < q->limit)
            l.there[in] += looks;
    }
    return l;
}

static struct occupancy count_lines(const struct flood *q, const struct dose *d,
                                    const struct samples *s)
{
    static const struct curve_kind by_members = {"lines left", "lines loaded",
                                                 "", ""};
    struct occupancy o = {0};
    if (!lab_ok(q->lab))
        return o;
    const struct occupancy_looks l = looks_of(q, d, s);
    occupancy_of_looks(&l, &o);
    lab_point(q->lab, q->row->component,
              q->side == WHOLE ? "size" : "near_size", &by_members,
              (struct curve_seen){lines_of(d), o.lines, s->experiment});
    return o;
}

static struct occupancy ask_dose(struct flood *q, const struct dose *d)
{
    return count_lines(q, d, probe_dose(q, d));
}

/* The share of looks that cost as much as misses, of lines that are there. */
static double share_late(struct flood *q, const struct dose *d)
{
    const struct samples *const s = probe_dose(q, d);
    if (!lab_ok(q->lab))
        return 0;
    const struct occupancy_looks l = looks_of(q, d, s);
    double seen = 0, there = 0;
    for (size_t i = 0; i < OCCUPANCY_QUARTERS; i++) {
        seen += l.seen[i];
        there += l.there[i];
    }
    return there > 0 ? fmax(0, 1 - there / seen) : 0;
}

/* … of so many that lie together, and are loaded anew for each trial. */
static double share_late_of(struct flood *q, uint64_t lines)
{
    struct dose d = {.pool = 2, .members = lines, .looks = LOOKS_FEW};
    while (d.pool < d.members)
        d.pool *= 2;
    return share_late(q, &d);
}

/* … of as many at most that are loaded once, as those are of a cache that stays
 * full: between its looks an SM runs no other code, of which a small cache of
 * code lets the next look wait. */
static double share_late_of_full(struct flood *q, uint64_t lines,
                                 uint64_t least)
{
    struct dose d = {.pool = 2, .looks = LOOKS_FEW, .fits = true};
    while (2 * d.pool <= lines || d.pool < least)
        d.pool *= 2;
    d.members = d.pool;
    return share_late(q, &d);
}

/* Lines from one that is loaded to the next, where they do not lie together. */
static const unsigned primes[] = {61, 31, 13, 7, 3};

/* Half of the memory at most, since other buffers lie there, too. */
enum { STREWN_BYTES = 256 << 20 };
static uint64_t strewn_most(const struct flood *q)
{
    const uint64_t half =
        device_told(q->lab->info, PROPERTY_MEMORY_BYTES, 2 * STREWN_BYTES) / 2;
    return u64_min(q->most, u64_min(half, STREWN_BYTES) / q->line);
}

/* Of what all SMs share, and is one; beside is what differs in one bit. */
static bool can_be_strewn(const struct flood *q)
{
    return !q->row->of_sm && q->side == WHOLE && u64_is_power(q->line);
}

/* … of as many that lie far apart, two in a page (ask_strewn): what an index
 * deals to fewer sets the nearer it lies, so that half as many in a row have no
 * more room for each, it deals to all of them then. */
static double share_late_of_strewn(struct flood *q, uint64_t lines,
                                   uint64_t least)
{
    struct dose d = {
        .pool = 2, .looks = LOOKS_FEW, .fits = true, .paired = true};
    while (4 * d.pool <= lines || d.pool < least)
        d.pool *= 2;
    d.members = d.pool;
    for (size_t i = 0; i < COUNT_OF(primes) && d.apart == 0; i++)
        if (d.pool * primes[i] <= strewn_most(q))
            d.apart = primes[i];
    return d.apart > 0 ? share_late(q, &d) : 1;
}

/*
 * A quarter of what the cache holds is there: what costs more is late.  Unless
 * its index deals what lies together to few sets or to one slice, of which so
 * many lines ask too much: then of half as many fewer are dear, and of what is
 * late the same share (to 3.3 standard errors).  What reach_of() allows for is
 * not worth another look.
 */
static void learn_late(struct flood *q)
{
    const uint64_t least = looks_each(q) * sharers(q);
    uint64_t lines = u64_max(q->lines / 4, least);
    q->late = 0;
    double late = share_late_of(q, lines);
    while (lab_ok(q->lab) && late > held_give && lines / 2 >= least) {
        const double before = late;
        late = share_late_of(q, lines /= 2);
        /* 3.3 standard errors, as in reach_of(). */
        if (late > before - 3.3 * sqrt(before / LOOKS_FEW))
            break;
    }
    if (lab_ok(q->lab) && late > late_give && !q->row->of_sm)
        late = fmin(late, share_late_of_full(q, lines, least));
    if (lab_ok(q->lab) && late > late_give && can_be_strewn(q))
        late = fmin(late, share_late_of_strewn(q, lines, least));
    q->late = late;
}

/* True if the limit is lower since some that miss cost less than half-way to
 * what those that find L2 near and far do on average. */
static bool lowers_limit(struct flood *q, const struct samples *s)
{
    const double half = q->limit;
    if (!q->row->of_sm || !lab_ok(q->lab))
        return false;
    const struct column c = lab_column_counted(q->lab, s, "cycles");
    q->limit = lab_least_miss(q->lab, q->row, &c, half);
    return q->limit < half;
}

/* Of lines of which not all are there misses are seen, too. */
static struct occupancy ask_overfull(struct flood *q, const struct dose *d)
{
    const struct samples *const s = probe_dose(q, d);
    if (lowers_limit(q, s))
        learn_late(q);
    return count_lines(q, d, s);
}

/* ---- what it holds, and its ways --------------------------------------- */

/* All lines of a buffer of so many `times` those that the cache holds, and this
 * part more; 0 lines: so many may not be asked for. */
static struct dose buffer_of(const struct flood *q, unsigned times, double more,
                             uint64_t looks)
{
    struct dose d = {.pool = times, .apart = 1, .looks = looks};
    while ((double)d.pool < more * (double)(times * q->lines))
        d.pool *= 2;
    d.members = d.pool = d.pool <= q->most ? d.pool : 0;
    return d;
}

/*
 * An index may deal whatever is near to few of its sets, so those of an SM's
 * cache are asked by lines that are so many lines apart, a prime number, which
 * few indices look at.  What all SMs share has more sets, and its lines lie
 * farther from each other anyway.
 */
static struct dose overfill_of(const struct flood *q, unsigned times,
                               uint64_t looks)
{
    struct dose d = buffer_of(q, times, strewn_least, looks);
    for (size_t i = 0; q->row->of_sm && d.pool > 0 && i < COUNT_OF(primes); i++)
        if (d.pool * primes[i] <= q->most) {
            d.apart = primes[i];
            return d;
        }
    return buffer_of(q, times, q->side == WHOLE ? buffer_least : home_least,
                     looks);
}

struct held {
    struct occupancy all;
    bool agrees;  /* twice as many lines showed the same */
    double least; /* lines, where more are held of some than of others */
    struct occupancy_ways ways;
};

/* As many lines as it holds, and half as many, come to a cache that is empty.
 */
static void ask_ways(struct flood *q, uint64_t launches, struct held *h)
{
    struct occupancy seen[2];
    struct dose d = {.pool = 1, .fresh = true};
    d.looks = launches * looks_each(q);
    while (2 * d.pool <= u64_min(POOL_SIZES * q->lines, q->most))
        d.pool *= 2;
    if (!q->row->of_sm || d.pool < POOL_LEAST * q->lines)
        return;
    for (size_t i = 0; lab_ok(q->lab) && i < COUNT_OF(seen); i++) {
        d.members = u64_max((uint64_t)h->all.lines >> i, looks_each(q));
        seen[i] = ask_dose(q, &d);
        if (seen[i].drifts)
            return;
    }
    if (lab_ok(q->lab))
        occupancy_ways_of(&h->all, seen, COUNT_OF(seen), (double)d.pool,
                          &h->ways);
}

/* What is left may show that the cache is larger than it seemed: then more
 * lines are loaded, until it surely is overfilled. */
static const double share_most = 0.67;

static struct dose overfill(struct flood *q, uint64_t looks, struct held *h)
{
    struct dose d = overfill_of(q, 1, looks);
    learn_late(q);
    *h = (struct held){.agrees = true, .all = ask_overfull(q, &d)};
    for (unsigned times = 2;
         lab_ok(q->lab) && h->all.lines > share_most * (double)d.members;
         times *= 2) {
        const struct dose more = overfill_of(q, times, looks);
        if (more.pool == 0)
            break;
        d = more;
        h->all = ask_overfull(q, &d);
    }
    /* If it is larger than it seemed, it held other lines still. */
    if (lab_ok(q->lab) && stays_full(q, &d) &&
        h->all.lines > roughly * (double)q->lines) {
        q->lines = (uint64_t)h->all.lines;
        h->all = ask_overfull(q, &d);
    }
    return d;
}

/* As many looks at so many lines at the next distance at which they may be
 * asked for; 0 lines: there is none. */
static struct dose farther_of(const struct flood *q, const struct dose *before,
                              uint64_t lines)
{
    struct dose d = *before;
    size_t i = 0;
    while (i < COUNT_OF(primes) &&
           (primes[i] >= before->apart || lines * primes[i] > q->most))
        i++;
    d.pool = d.members = i < COUNT_OF(primes) ? lines : 0;
    d.apart = i < COUNT_OF(primes) ? primes[i] : 0;
    return d;
}

/* What is left of lines at another distance, beside what was before.  Less
 * denies nothing, since sets may be a multiple of the distance; more does: some
 * sets had still room. */
enum beside { BESIDE_LESS, BESIDE_SAME, BESIDE_MORE };

static enum beside take_in(struct held *h, const struct occupancy *again)
{
    const struct occupancy before = h->all;
    if (occupancy_join(&before, again, &h->all))
        return BESIDE_SAME;
    const bool more = again->lines > before.lines;
    h->all = more ? *again : before;
    return more ? BESIDE_MORE : BESIDE_LESS;
}

/* Rings that end early where an index of XORs fills some sets before others may
 * say what few lines at one distance do, which it deals as unevenly: of random
 * indices every tenth cache of fewer than 128 lines was told too small so, none
 * of more than 256, and hardly any by as many lines as these. */
enum { POOL_EVEN = 512 };

static struct held ask_few(struct flood *q)
{
    struct held h;
    const struct dose once = overfill(q, LOOKS_FEW, &h);
    const struct dose even = farther_of(q, &once, POOL_EVEN);
    if (lab_ok(q->lab) && once.pool < POOL_EVEN && even.pool > 0) {
        const struct occupancy again = ask_dose(q, &even);
        h.agrees = take_in(&h, &again) != BESIDE_MORE;
    }
    if (lab_ok(q->lab))
        ask_ways(q, LAUNCHES_FEW, &h);
    return h;
}

/* An index of bits from far above deals as many lines in a row to half of its
 * sets, and twice as many may be no better; four times as many take in two bits
 * more, where they are simulated in a second. */
enum { WIDER = 4, WIDEST = 16 << 20 };

static unsigned wider(const struct flood *q, const struct dose *d)
{
    const bool can = !q->row->of_sm && q->side == WHOLE;
    return can && WIDER * d->pool * q->line <= WIDEST ? WIDER : 2;
}

/* What is left of more lines seems more, by so many standard errors: then some
 * sets may have had room for more of the fewer, and these do not count.  Of a
 * difference that is less the mean takes in so much, where both are known alike
 * (look_closer), that its interval holds the rest. */
static const double rise_most = 1.5;

static bool rises(const struct occupancy *first, const struct occupancy *again)
{
    return again->lines - first->lines >
           rise_most * hypot(first->error, again->error);
}

/* Of more lines a smaller share is left, so that as many looks find fewer, and
 * tell a rise only if it is large, while the mean is what the fewer lines
 * showed.  Where more seems left others look, until it is known as well, but
 * for a quarter; it is by four times as many as one experiment may keep. */
enum { CLOSER_MOST = 4 };
static const double closer_give = 1.25;

static bool is_known_alike(const struct occupancy *first,
                           const struct occupancy *again)
{
    return again->error <= closer_give * first->error;
}

static void look_closer(struct flood *q, const struct dose *seen,
                        const struct occupancy *first, struct occupancy *again)
{
    struct dose d = *seen;
    while (lab_ok(q->lab) && d.take < CLOSER_MOST &&
           again->lines > first->lines && !is_known_alike(first, again)) {
        const struct occupancy before = *again;
        const double times = pow(before.error / first->error, 2);
        d.take++;
        d.looks = (uint64_t)(times * (double)seen->looks);
        const struct occupancy more = ask_dose(q, &d);
        if (lab_ok(q->lab))
            occupancy_join(&before, &more, again);
    }
}

/* Twice as many lines must show the same, or four times; or more, where some
 * sets had still room: of what all SMs share that must show again. */
static void ask_again(struct flood *q, const struct dose *once, struct held *h)
{
    struct dose d = *once;
    d.looks /= 2;
    do {
        const struct occupancy first = h->all;
        const unsigned times = wider(q, &d);
        d.pool *= times;
        d.members *= times;
        if (!lab_ok(q->lab) || d.pool * d.apart > q->most)
            return;
        struct occupancy again = ask_dose(q, &d);
        if (occupancy_join(&first, &again, &h->all) && q->side == WHOLE)
            look_closer(q, &d, &first, &again);
        h->agrees = occupancy_join(&first, &again, &h->all);
        if (rises(&first, &again)) {
            h->all = again;
            q->uneven = true;
        }
        if (h->agrees || again.lines < first.lines)
            return;
        h->all = again;
        q->lines = (uint64_t)again.lines;
    } while (!h->agrees);
}

/* … and so must twice as many at another distance; where it shows more, those
 * of a third one. */
static void ask_apart(struct flood *q, const struct dose *once, struct held *h)
{
    struct dose d = *once;
    uint64_t lines = 2 * once->pool;
    enum beside shown = BESIDE_LESS;
    d.looks /= 2;
    while (lab_ok(q->lab) && shown != BESIDE_SAME &&
           (d = farther_of(q, &d, lines)).pool > 0) {
        const struct occupancy before = h->all, again = ask_dose(q, &d);
        shown = take_in(h, &again);
        h->agrees = shown != BESIDE_MORE;
        if (rises(&before, &again)) {
            shown = BESIDE_MORE;
            h->all = again;
            q->lines = (uint64_t)again.lines;
            lines *= 2;
        }
    }
}

/* What is held to that confidence: 3.3 standard errors, of looks and of how
 * many hits are late, and what looks and lines that were there before change at
 * most.
 */
static const double held_with = 0.999;

static double reach_of(const struct flood *q, const struct held *h)
{
    const double late = sqrt(q->late / (1 - q->late) / LOOKS_FEW);
    /* deviations of the normal distribution */
    return 3.3 * hypot(h->all.error, late * h->all.lines) +
           held_give * h->all.lines;
}

static bool is_more(const struct flood *q, const struct held *h,
                    const struct occupancy *seen)
{
    return seen->lines >= h->all.lines + reach_of(q, h);
}

/* Bits of addresses that no line in a row reaches may choose sets, too: lines
 * so far apart, a prime number, over so many bytes, the farthest two that there
 * is memory for.  If more of them found room than of those that lay together,
 * as many of another distance must, or it is but a bound.  Each is one of two
 * in a page, since a TLB has few of so many pages: a hit that waits for its
 * translation costs as much as a miss.  Either is looked at as often: they may
 * come to sets so that more of the one is there than of the other. */
static void ask_strewn(struct flood *q, const struct dose *once, struct held *h)
{
    struct dose d = *once;
    unsigned asked = 0;
    d.looks /= 2;
    /* Of a part fewer do: of a tenth that is there looks would tell little. */
    d.members = d.pool *= q->side == WHOLE ? WIDER : 1;
    d.paired = u64_is_power(q->line);
    for (size_t i = 0; lab_ok(q->lab) && asked < 2 && i < COUNT_OF(primes);
         i++) {
        d.apart = primes[i];
        if (d.pool * d.apart > strewn_most(q))
            continue;
        const struct occupancy before = h->all;
        struct occupancy seen = ask_dose(q, &d);
        const bool first = asked++ == 0;
        if (first && is_more(q, h, &seen) && q->side == WHOLE)
            look_closer(q, &d, &before, &seen);
        if (first && !is_more(q, h, &seen))
            return;
        q->uneven = true;
        h->all = seen;
        h->least = fmax(h->least, seen.lines - reach_of(q, h));
        h->agrees = !first && occupancy_join(&before, &seen, &h->all);
    }
}

static struct held ask_many(struct flood *q)
{
    struct held h;
    const struct dose once =
        overfill(q, q->row->of_sm ? LOOKS_MANY : LOOKS_MANY / 2, &h);
    if (lab_ok(q->lab) && once.apart > 1)
        ask_apart(q, &once, &h);
    else if (lab_ok(q->lab))
        ask_again(q, &once, &h);
    if (lab_ok(q->lab) && h.agrees && !q->row->of_sm && q->side == WHOLE)
        ask_strewn(q, &once, &h);
    if (lab_ok(q->lab))
        ask_ways(q, LAUNCHES_MANY, &h);
    return h;
}

/* Rings say the same as both looks, or chance makes the difference once in a
 * thousand. */
static bool do_rings_agree(const struct flood *q, const struct held *h)
{
    const struct fact_rings *const rings = fact_rings(q->lab, level_of(q->row));
    const double off = (double)rings->bytes / (double)q->line - h->all.lines;
    return rings->measured && h->agrees && !h->all.drifts &&
           fabs(off) <= reach_of(q, h);
}

/* Lines that may be looked at where a cache before this one kept them, when
 * this one had lost them: as many as that one has, at most. */
static double kept_nearer(const struct flood *q)
{
    const enum level_id nearer = q->row->behind;
    if (nearer == LEVEL_COUNT || !fact_bracket(q->lab, nearer)->present)
        return 0;
    const uint64_t line = fact_line(q->lab, nearer)->bytes;
    return (double)fact_bracket(q->lab, nearer)->fits /
           (double)u64_max(line, level_table[nearer].fine);
}

static void report_held(const struct flood *q, struct finding *f,
                        const struct held *h)
{
    const double line = (double)q->line;
    const double off = reach_of(q, h) * line;
    const double least = fmax(0, h->all.lines - kept_nearer(q)) * line - off;
    log_say(LOG_DEBUG, "overfill: %.0f B, give or take %.0f%s%s",
            h->all.lines * line, off, h->all.drifts ? ", drifts" : "",
            h->agrees ? "" : ", not of twice as many");
    if (!h->all.drifts && !h->agrees && h->least > 0) {
        finding_value(f, STATUS_AT_LEAST, value_number(floor(h->least) * line));
        finding_because(f, why_occupancy_strewn);
        return;
    }
    if (h->all.drifts || !h->agrees) {
        finding_none(f,
                     h->agrees ? why_occupancy_drifts : why_occupancy_unlike);
        return;
    }
    finding_measured(f, round(h->all.lines) * line);
    finding_interval(f, fmax(line, least), h->all.lines * line + off,
                     held_with);
    if (h->ways.best > 0) {
        finding_protocol(f, "ways_least", value_number(h->ways.least));
        finding_protocol(f, "ways_most", value_number(h->ways.most));
    }
}

/* ---- two parts --------------------------------------------------------- */

static uint64_t count_sms(const char *list)
{
    bool in[SMS_OF_LIST] = {false};
    uint64_t count = 0;
    text_to_set(list, in, COUNT_OF(in));
    for (size_t i = 0; i < COUNT_OF(in); i++)
        count += in[i];
    return count;
}

/* More hits than that would be late where a near hit is not told from what
 * costs more. */
static const double late_most = 0.05;

/* Lines of one home that overfill a part lie so near to each other that bits
 * from above may deal them to half of its sets. */
static bool is_near(const struct flood *q, const struct dose *once)
{
    return 2 * WIDER * once->pool * q->line < WIDEST;
}

/* Pages of the largest pool that may be asked: twice what overfills a part that
 * is twice as large as rings told; or, of few lines, of those that are strewn.
 */
static bool take_homes(struct flood *q)
{
    const struct dose once = overfill_of(q, 1, 0);
    const uint64_t strewn = 2 * primes[0] * once.pool * q->line;
    const uint64_t bytes = is_near(q, &once)
                               ? u64_min(strewn, strewn_most(q) * q->line)
                               : 8 * once.pool * q->line;
    const size_t pages = u64_within(1, bytes / HOMES_PAGE, HOMES_MOST);
    q->homes = homes_learn(q->lab, q->line, pages);
    q->most = pages * HOMES_PAGE / 2 / q->line;
    return q->homes != NULL;
}

/* What is at home on one side; false if it is not told.  That twice as many
 * lines show the same is asked of one, and of the other
 * if they do not. */
static bool ask_part(struct flood *q, int side, struct held *h)
{
    const struct fact_sides *const sides = fact_sides(q->lab);
    q->side = side;
    q->sms = count_sms(sides->sms[side]);
    q->limit = hits_limit(sides->hit, sides->hit + sides->miss) +
               fact_trace(q->lab)->cycles;
    const struct dose once = overfill(q, LOOKS_OF_PART, h);
    const bool again = side == 0 || q->uneven;
    if (again && lab_ok(q->lab))
        ask_again(q, &once, h);
    if (again && lab_ok(q->lab) && h->agrees && is_near(q, &once))
        ask_strewn(q, &once, h);
    return lab_ok(q->lab) && q->late < late_most;
}

static struct held sum_of(const struct held *a, const struct held *b)
{
    struct held h = {.agrees = a->agrees && b->agrees};
    h.all.lines = a->all.lines + b->all.lines;
    h.all.error = hypot(a->all.error, b->all.error);
    h.all.drifts = a->all.drifts || b->all.drifts;
    return h;
}

/* Lines of a program find room in what nothing else takes.  If the driver tells
 * another size, either may be right. */
static void doubt_by_driver(const struct flood *q, struct finding *f, int parts)
{
    const double told =
        (double)device_told(q->lab->info, PROPERTY_L2_BYTES, 0) / parts;
    const double low = f->interval[0], high = f->interval[1];
    if (told == 0 || f->status != STATUS_MEASURED ||
        (low <= told && told <= high))
        return;
    finding_value(f, STATUS_IN_DOUBT, value_number(f->value.number));
    finding_interval(f, fmin(low, told), fmax(high, told), -1);
    finding_because(f, why_by_driver, told / (1 << 20));
}

static void ask_parts(struct flood *q)
{
    struct finding *const near = lab_finding(q->lab, "l2", "near_size");
    struct held part[2] = {0};
    lab_cite(q->lab, near);
    q->lines /= 2;
    q->side = 0;
    const bool told = fact_sides(q->lab)->hit > 0 && take_homes(q) &&
                      ask_part(q, 0, &part[0]) && ask_part(q, 1, &part[1]);
    if (!lab_ok(q->lab))
        return;
    if (told) {
        const struct held both = sum_of(&part[0], &part[1]);
        report_held(q, q->finding, &both);
        report_held(q, near, &part[0]);
        doubt_by_driver(q, q->finding, 1);
        doubt_by_driver(q, near, 2);
    } else {
        finding_none(q->finding, why_homes_untold);
        finding_none(near, why_homes_untold);
    }
}

/* ---- the study --------------------------------------------------------- */

/* Of an L2 in two parts rings may show the near one alone. */
static uint64_t rough_bytes(const struct fact_bracket *facts)
{
    return facts->far_end > 0 ? facts->far_end : facts->fits;
}

/* Lines that may be shorter, but no longer than what is asked for at a time,
 * come and go together. */
static bool is_asked_whole(const struct flood *q)
{
    return q->row->behind != LEVEL_COUNT &&
           fact_line(q->lab, level_of(q->row))->bytes <=
               fact_sector(q->lab, q->row->behind)->bytes;
}

/* Why it is not asked at all; NULL: it is. */
static const char *why_not(struct flood *q)
{
    const struct fact_line *const line = fact_line(q->lab, level_of(q->row));
    if (q->row->memory_is_own)
        return why_own_local;
    if (fact_sure_line(q->lab, level_of(q->row)) == 0 || line->longer ||
        (line->bound && !is_asked_whole(q)))
        return lab_why_unknown(q->lab, q->row->component, "line");
    q->line = line->bytes;
    q->lines = rough_bytes(q->facts) / q->line;
    q->most = q->row->most / q->line;
    if (q->facts->overflows == 0 || overfill_of(q, 1, 0).pool == 0)
        return lab_text(q->lab, why_few_beyond,
                        q->row->bound != NULL ? q->row->bound
                                              : why_memory_little);
    return NULL;
}

static void ask_whole(struct flood *q)
{
    q->limit = hits_limit(q->facts->plateau, q->facts->miss) +
               fact_trace(q->lab)->cycles;
    /* Nothing else tells constants' sets that fill before others. */
    const bool many =
        !q->row->of_sm || fact_line(q->lab, level_of(q->row))->bound;
    struct held h = many ? ask_many(q) : ask_few(q);
    if (!many && lab_ok(q->lab) && !do_rings_agree(q, &h))
        h = ask_many(q);
    if (lab_ok(q->lab))
        report_held(q, q->finding, &h);
}

static void ask_level(struct lab *lab, const struct level_row *row)
{
    const unsigned parts =
        level_of(row) == LEVEL_L2 ? fact_sides(lab)->parts : 1;
    struct flood q = {.lab = lab,
                      .row = row,
                      .facts = fact_bracket(lab, level_of(row)),
                      .sms = row->of_sm ? u64_min(SMS, lab_sms(lab))
                                        : lab_sms(lab),
                      .side = WHOLE,
                      .finding = lab_finding(lab, row->component, "size")};
    const char *const why = why_not(&q);
    lab_cite(lab, q.finding);
    if (why != NULL)
        finding_none(q.finding, "%s", why);
    else if (parts == 0)
        finding_none(q.finding, "%s", lab_why_unknown(lab, "l2", "parts"));
    else if (parts == 2)
        ask_parts(&q);
    else
        ask_whole(&q);
}

/* Where L2 is one there is no near part; where its size is not known, that of
 * the part is not. */
static void report_near_open(struct lab *lab)
{
    const struct finding *const f = lab_found(lab, "l2", "near_size");
    if (f != NULL && (f->value.kind != VALUE_NONE || f->because != NULL))
        return;
    if (fact_sides(lab)->parts == 1)
        lab_absent(lab, "l2", "near_size");
    else
        finding_none(lab_finding(lab, "l2", "near_size"), "%s",
                     lab_why_unknown(lab, "l2", "size"));
}

static void overfill_run(struct lab *lab)
{
    lab_each_level(lab, "size", ask_level);
    if (lab_ok(lab))
        report_near_open(lab);
}

const struct study study_overfill = {
    .name = "overfill",
    .question = "How many lines does each cache hold, whatever its sets?",
    .method = "More lines than fit are loaded, and some of them again by "
              "chance: the share that is still there tells how many it has "
              "room for, by neither order, index nor policy.",
    .reads = FACTS(FACT_TRACE, FACT_BRACKET, FACT_SECTOR, FACT_LINE, FACT_RINGS,
                   FACT_SIDES),
    .answers = answers,
    .proposes = proposes,
    .run = overfill_run,
};
