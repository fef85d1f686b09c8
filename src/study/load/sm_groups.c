/*
 * Which SMs share a way to L2: those of a TPC, and those of a GPC.
 *
 * Of two SMs that read, or write, as fast as they can, each gets less than
 * alone if they share a way that does not take what both could.  SM 0 is tried
 * with every other one; those slowed are told by the gap between them and all
 * others, which get as much as alone but for noise.  The others are taken to be
 * grouped in the same manner (as many, as far apart), which is tried, too: each
 * group by its members, and with the next group, of which it must know nothing;
 * where it is not so, SMs are tried one by one.
 *
 * A larger group's way is full only when many of its SMs work.  So all work but
 * some, ever others, by chance: what SMs of one group get goes up and down
 * together, with how many of theirs do nothing.  What groups that makes is then
 * tried: without half a group, all of its other half must get more, and nobody
 * else nearly as much.  Small groups come and go together there, if they are
 * known; if not, each SM by itself.  Where that tells nothing and clocks run
 * alike in groups, each such group works alone, and then as many SMs of all
 * groups: if these get more, the group has one way.  What loads do not show is
 * not measured.
 */
#include <math.h>
#include <string.h>

#include "analysis/comovement.h"
#include "analysis/statistics/gap_split.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "study/assume.h"
#include "study/lab.h"

static const struct answer answers[] = {
    {ONE("sm"), "tpc_of_sm", ""},
    {ONE("sm"), "tpcs", ""},
    {ONE("sm"), "gpc_of_sm", ""},
    {ONE("sm"), "gpcs", ""},
    {0},
};

enum { WARPS = 16, TILE = 2048, TILES = 2 };
/* How long and how often.  Rates of one effort are not those of another: the
 * end of all writes is in them. */
enum effort { QUICK, SURE, CROWD, CROWD_SURE };
static const struct {
    unsigned cycles, repeats;
} efforts[] = {
    [QUICK] = {8192, 3},
    [SURE] = {32768, 9},
    [CROWD] = {8192, 3},
    [CROWD_SURE] = {8192, 9},
};
/* SMs of a TPC; more have a larger part of the GPU together. */
enum { TPC_MOST = 4 };
/* Experiments with pairs, for each SM. */
enum { PAIRS_EACH = 8 };
/* All do nothing in turn, a part at a time, and so in every round, the parts
 * being others.  With few, each is a part, and one round has all there is. */
enum { PARTS = 8, ROUNDS = 5 };

static const char *const operations[] = {"write", "read"};
enum { OPERATIONS = 2 };

enum { NOBODY = -1 };

struct sm_groups {
    struct lab *lab;
    size_t sms;
    unsigned warps;
    const char *op;
    int *group; /* of each SM, NOBODY: not known yet */
    int groups;
    double alone[2];   /* B/clk of the SM that leads, QUICK and SURE */
    double slowed;     /* shares below are of those slowed, … */
    double free;       /* … above not, and between nobody knows */
    size_t pairs;      /* that were tried */
    double slowest;    /* share that sharers got, the largest */
    double freest;     /* … and others, the least */
    double within;     /* what others gain without half of their group, and */
    double across;     /* … of another one: the least, the most */
    enum effort crowd; /* CROWD or CROWD_SURE */
    const char *experiment; /* one that shows it; NULL: none yet */
    const char *why;        /* it cannot be told; NULL: nothing yet */
    bool lonely;            /* no SM slowed those that were tried with all */
};

/* False when there is a reason why it cannot be told, or an error. */
static bool goes_on(const struct sm_groups *p)
{
    return lab_ok(p->lab) && p->why == NULL;
}

/* Of n, those whose group it is, in rising order; returns how many.  The list
 * may be NULL. */
static size_t members(const int *group, size_t n, int of, size_t *list)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (group[i] != of)
            continue;
        if (list != NULL)
            list[count] = i;
        count++;
    }
    return count;
}

static size_t first_of(const int *group, int of)
{
    size_t i = 0;
    while (group[i] != of)
        i++;
    return i;
}

/* ---- what SMs of a set get --------------------------------------------- */

/* Bytes in a cycle of each SM, medians over repetitions; NAN of those that are
 * not in the set. */
struct rates {
    double *of_sm;
    const char *experiment;
};

static struct rates measure_set(const struct sm_groups *p, const char *set,
                                enum effort effort)
{
    struct lab *const lab = p->lab;
    const unsigned repeats = efforts[effort].repeats;
    const struct samples *const s = lab_probe(
        lab, "rivals op=%s sms=%s warps=%u bytes=%u cycles=%u repeats=%u",
        p->op, set, p->warps, p->warps * TILE * TILES, efforts[effort].cycles,
        repeats);
    const struct column who = lab_column_of(lab, s, "sm");
    const struct column bytes = lab_column_of(lab, s, "bytes");
    const struct column cycles = lab_column_of(lab, s, "cycles");
    double *const own = lab_alloc(lab, repeats, sizeof *own);
    struct rates rates = {.of_sm = lab_alloc(lab, p->sms, sizeof *rates.of_sm),
                          .experiment = s->experiment};
    for (size_t sm = 0; sm < p->sms; sm++) {
        size_t count = 0;
        for (size_t row = 0; row < s->rows; row++)
            if ((size_t)who.at[row] == sm && count < repeats)
                own[count++] = bytes.at[row] / cycles.at[row];
        rates.of_sm[sm] = count > 0 ? stats_median(own, count) : NAN;
    }
    return rates;
}

static struct rates measure_in(const struct sm_groups *p, const bool *in,
                               enum effort effort)
{
    const char *const set =
        arena_adopt(&p->lab->memory, text_ranges(in, p->sms));
    return measure_set(p, set, effort);
}

/* What each SM of the group gets on average, of those that work; NAN: none. */
static double mean_rate(const struct sm_groups *p, const int *group, int of,
                        const double *rates)
{
    double sum = 0, count = 0;
    for (size_t sm = 0; sm < p->sms; sm++)
        if (group[sm] == of && !isnan(rates[sm])) {
            sum += rates[sm];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

static double rate_alone(const struct sm_groups *p, size_t sm,
                         enum effort effort)
{
    return measure_set(p, lab_text(p->lab, "%zu", sm), effort).of_sm[sm];
}

/* ---- pairs ------------------------------------------------------------- */

enum verdict { FREE, SLOWED, UNCLEAR };

/* What two get of what the leader does alone, on average. */
static double share_of_pair(struct sm_groups *p, size_t a, size_t b,
                            enum effort effort)
{
    const struct rates rates =
        measure_set(p, lab_text(p->lab, "%zu,%zu", a, b), effort);
    const double share =
        (rates.of_sm[a] + rates.of_sm[b]) / 2 / p->alone[effort];
    p->pairs++;
    if (share < assume(ASSUME_PAIR_SLOWED) && p->experiment == NULL)
        p->experiment = rates.experiment;
    return share;
}

static double ask_share(struct sm_groups *p, size_t a, size_t b)
{
    const double share = share_of_pair(p, a, b, QUICK);
    return share > assume(ASSUME_PAIR_DOUBT_FROM) &&
                   share < assume(ASSUME_PAIR_DOUBT_TO)
               ? share_of_pair(p, a, b, SURE)
               : share;
}

/* What a share says, which is kept. */
static enum verdict decide(struct sm_groups *p, size_t a, size_t b,
                           double share)
{
    if (share < p->slowed) {
        p->slowest = fmax(p->slowest, share);
        return SLOWED;
    }
    p->freest = fmin(p->freest, share);
    if (share > p->free)
        return FREE;
    p->why = lab_text(p->lab, why_pair_unclear, a, b, 100 * share);
    return UNCLEAR;
}

static enum verdict ask_pair(struct sm_groups *p, size_t a, size_t b)
{
    const double share = ask_share(p, a, b);
    return lab_ok(p->lab) ? decide(p, a, b, share) : UNCLEAR;
}

/* From the shares of the first SM with all others: where slowed ones end. */
static void set_limits(struct sm_groups *p, const double *shares, size_t n)
{
    struct gap_split gap;
    const double least = stats_min(shares, n), most = stats_max(shares, n);
    gap_split_find(shares, n, assume(ASSUME_PAIR_SLOWED),
                   assume(ASSUME_PAIR_GAP), &gap);
    p->slowed = assume(ASSUME_PAIR_SLOWED);
    p->free = assume(ASSUME_PAIR_FREE);
    if (gap.clear) {
        p->slowed = (2 * gap.low + gap.high) / 3;
        p->free = (gap.low + 2 * gap.high) / 3;
    } else if (least >= assume(ASSUME_PAIR_SLOWED) &&
               stats_median(shares, n) > assume(ASSUME_PAIR_FREE)) {
        p->slowed = p->free = assume(ASSUME_PAIR_SLOWED) / 2;
    } else if (most >= assume(ASSUME_PAIR_SLOWED)) {
        p->why = lab_text(p->lab, why_pairs_no_gap, 100 * least, 100 * most);
    }
}

/* The first group: all that slow the SM. */
static void scan_first(struct sm_groups *p, size_t sm)
{
    double *const shares = lab_alloc(p->lab, p->sms, sizeof *shares);
    size_t count = 0;
    for (size_t k = 0; k < p->sms; k++)
        if (lab_ok(p->lab) && k != sm)
            shares[count++] = ask_share(p, sm, k);
    if (!lab_ok(p->lab))
        return;
    set_limits(p, shares, count);
    if (p->why != NULL)
        return;
    p->group[sm] = p->groups++;
    for (size_t k = 0; k < p->sms; k++)
        if (k != sm && decide(p, sm, k, shares[k < sm ? k : k - 1]) == SLOWED)
            p->group[k] = p->group[sm];
}

/* The SM's group, of those that have none yet: all that slow it. */
static void scan(struct sm_groups *p, size_t sm)
{
    const int own = p->groups++;
    p->group[sm] = own;
    for (size_t k = 0; k < p->sms && goes_on(p); k++) {
        if (p->group[k] != NOBODY)
            continue;
        if (p->pairs > PAIRS_EACH * p->sms)
            p->why = lab_text(p->lab, why_pairs_unordered, p->pairs);
        else if (ask_pair(p, sm, k) == SLOWED)
            p->group[k] = own;
    }
}

/* Tries whether the SM's group is made as the first one is. */
static bool try_like_first(struct sm_groups *p, size_t sm, const size_t *first,
                           size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const size_t other = sm + first[i] - first[0];
        if (other >= p->sms || p->group[other] != NOBODY ||
            ask_pair(p, sm, other) != SLOWED)
            return false;
    }
    for (size_t i = 0; i < count; i++)
        p->group[sm + first[i] - first[0]] = p->groups;
    p->groups++;
    return true;
}

static void group_others(struct sm_groups *p)
{
    size_t *const first = lab_alloc(p->lab, p->sms, sizeof *first);
    const size_t count = members(p->group, p->sms, 0, first);
    for (size_t sm = 0; sm < p->sms && goes_on(p); sm++)
        if (p->group[sm] == NOBODY && !try_like_first(p, sm, first, count) &&
            goes_on(p))
            scan(p, sm);
}

/* Neighbouring groups know nothing of each other. */
static void check_apart(struct sm_groups *p)
{
    for (int g = 1; g < p->groups && goes_on(p); g++) {
        const size_t before = first_of(p->group, g - 1);
        const size_t sm = first_of(p->group, g);
        if (ask_pair(p, before, sm) == SLOWED)
            p->why = lab_text(p->lab, why_pairs_contradict, before, sm);
    }
}

static void forget(struct sm_groups *p)
{
    for (size_t sm = 0; sm < p->sms; sm++)
        p->group[sm] = NOBODY;
    p->groups = 0;
    p->slowest = 0;
    p->freest = INFINITY;
    p->why = NULL;
    p->lonely = false;
    p->experiment = NULL;
}

/* One pair slowed by chance must not make a TPC: most SMs have mates. */
static void check_mates(struct sm_groups *p)
{
    size_t single = 0;
    for (int g = 0; g < p->groups; g++)
        single += members(p->group, p->sms, g, NULL) == 1;
    if (p->why == NULL && 2 * single > (size_t)p->groups)
        p->why = lab_text(p->lab, why_pairs_few, single, p->sms);
}

static void check_first(struct sm_groups *p, size_t sm)
{
    const size_t size = members(p->group, p->sms, p->group[sm], NULL);
    p->lonely = size == 1;
    if (size == 1)
        p->why = lab_text(p->lab, why_pairs_none, sm, 100 * p->freest, p->op);
    else if (size > TPC_MOST)
        p->why = lab_text(p->lab, why_pairs_many, size);
    else if (size == p->sms)
        p->why = lab_text(p->lab, why_pairs_all, size);
}

/* The groups of one operation, as SM `sm` leads to them; none: p->why. */
static void ask_from(struct sm_groups *p, size_t sm)
{
    forget(p);
    p->alone[QUICK] = rate_alone(p, sm, QUICK);
    p->alone[SURE] = rate_alone(p, sm, SURE);
    scan_first(p, sm);
    if (goes_on(p))
        check_first(p, sm);
    if (goes_on(p))
        group_others(p);
    if (lab_ok(p->lab))
        check_apart(p);
    if (goes_on(p))
        check_mates(p);
}

/* A GPU may have an SM that is alone: so from the middle, too.  Of the reasons
 * that stays which tells most. */
static void sm_groups_ask_tpcs(struct sm_groups *p)
{
    const char *told = NULL;
    for (size_t i = 0; i < 2 * OPERATIONS; i++) {
        p->op = operations[i / 2];
        p->pairs = 0;
        ask_from(p, i % 2 * p->sms / 2);
        if (!lab_ok(p->lab) || p->why == NULL)
            return;
        if (told == NULL || !p->lonely)
            told = p->why;
        i += i % 2 == 0 && !p->lonely;
    }
    p->why = told;
}

/* ---- larger groups ----------------------------------------------------- */

/* Larger groups of SMs as they are found. */
struct larger {
    int *of_sm; /* the number of each SM's … */
    int *group; /* … of each small group's */
    int count;  /* 0: none were found */
};

/* Whether all SMs together get less than each would alone. */
static bool all_wait(struct sm_groups *p)
{
    const double alone = rate_alone(p, 0, CROWD);
    const char *const all = lab_text(p->lab, "0-%zu", p->sms - 1);
    const struct rates rates = measure_set(p, all, CROWD);
    return stats_min(rates.of_sm, p->sms) < assume(ASSUME_PAIR_SLOWED) * alone;
}

/* What each small group gets, on average of its SMs, as a logarithm: shares of
 * a change are differences then.  NAN of those that do nothing. */
static void add_turn(const struct sm_groups *p, const double *rates,
                     double *gets)
{
    for (int g = 0; g < p->groups; g++)
        gets[g] = log(mean_rate(p, p->group, g, rates));
}

/* All work but the small groups that are `silent`; returns the experiment. */
static const char *measure_turn(struct sm_groups *p, const bool *silent,
                                double *gets)
{
    bool *const in = lab_alloc(p->lab, p->sms, sizeof *in);
    for (size_t sm = 0; sm < p->sms; sm++)
        in[sm] = !silent[p->group[sm]];
    const struct rates rates = measure_in(p, in, p->crowd);
    add_turn(p, rates.of_sm, gets);
    return rates.experiment;
}

static void shuffle(size_t *order, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t other = (size_t)rng_below(rng, i);
        const size_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* One round: each of the parts does nothing once. */
static void measure_round(struct sm_groups *p, size_t parts, struct rng *rng,
                          double *gets)
{
    const size_t n = (size_t)p->groups;
    size_t *const order = lab_alloc(p->lab, n, sizeof *order);
    bool *const silent = lab_alloc(p->lab, n, sizeof *silent);
    shuffle(order, n, rng);
    for (size_t part = 0; part < parts; part++) {
        for (size_t i = 0; i < n; i++)
            silent[order[i]] = i * parts / n == part;
        measure_turn(p, silent, gets + part * n);
    }
}

/* Turns, the first with all at work. */
static double *measure_turns(struct sm_groups *p, size_t *turns)
{
    const size_t n = (size_t)p->groups;
    const bool few = n < 2 * PARTS;
    const size_t parts = few ? n : PARTS, rounds = few ? 1 : ROUNDS;
    *turns = 1 + parts * rounds;
    double *const gets = lab_alloc(p->lab, *turns * n, sizeof *gets);
    struct rng rng;
    rng_seed(&rng, prober_seed(p->lab->prober));
    measure_turn(p, lab_alloc(p->lab, n, sizeof(bool)), gets);
    for (size_t round = 0; round < rounds && lab_ok(p->lab); round++)
        measure_round(p, parts, &rng, gets + (1 + round * parts) * n);
    return gets;
}

/* Where TPCs are not known, a small group may be one. */
static bool may_be_tpcs(struct sm_groups *p, const int *larger, int count)
{
    const size_t n = (size_t)p->groups;
    uint64_t most = 0;
    for (int g = 0; g < count; g++)
        most = u64_max(most, members(larger, n, g, NULL));
    if (n < p->sms || most > TPC_MOST)
        return false;
    p->why = lab_text(p->lab, why_groups_small, (size_t)most);
    return true;
}

/* What two SMs differ by, as a share, because each warp ends with a whole tile:
 * it is off by a tile or less (standard deviation 1/√12 of one), an SM by that
 * over √warps, and a difference of two by √2 times that. */
static double rounding_of(const struct sm_groups *p, const double *all)
{
    const double rate = exp(stats_mean(all, (size_t)p->groups));
    const double tiles = rate * efforts[p->crowd].cycles / TILE;
    return sqrt(2.0 / 12 / p->warps) * p->warps / tiles;
}

/* Groups whose rates go together; count is 0, and p->why says so, where there
 * are none.  True if it is better asked again. */
static bool join(struct sm_groups *p, const double *gets, size_t turns,
                 struct larger *l)
{
    const size_t n = (size_t)p->groups;
    struct comovement t;
    size_t *const group = lab_alloc(p->lab, n, sizeof *group);
    comovement_find(gets, turns, n,
                    fmax(assume(ASSUME_RATE_FLOOR), rounding_of(p, gets)),
                    group, &t);
    for (size_t i = 0; i < n; i++)
        l->group[i] = (int)group[i];
    l->count =
        t.groups >= 2 && t.far >= assume(ASSUME_GROUP_GAIN) ? (int)t.groups : 0;
    if (t.far < assume(ASSUME_GROUP_GAIN))
        p->why = lab_text(p->lab, why_gains_alike, 100 * t.far);
    else if (l->count == 0)
        p->why = lab_text(p->lab, why_gains_ungrouped, 100 * t.far);
    return t.far >= assume(ASSUME_CHANGE_DOUBT);
}

/* None is alone, of which nothing was seen. */
static bool all_have_mates(struct sm_groups *p, const int *larger)
{
    for (int t = 0; t < p->groups; t++)
        if (members(larger, (size_t)p->groups, larger[t], NULL) == 1)
            p->why = lab_text(p->lab, why_mate_missing, first_of(p->group, t));
    return p->why == NULL;
}

/* What those of the group that work gain: their median, for of many the least
 * and the most are noise. */
static double gain_of(const struct sm_groups *p, const struct larger *l,
                      int group, const double *gets, const double *all)
{
    size_t count = 0;
    double *const own = lab_alloc(p->lab, (size_t)p->groups, sizeof *own);
    for (int t = 0; t < p->groups; t++)
        if (l->group[t] == group && !isnan(gets[t]))
            own[count++] = exp(gets[t] - all[t]) - 1;
    return stats_median(own, count);
}

/* What all others gain when half of a group does nothing: its even or its odd
 * members. */
static void try_half(struct sm_groups *p, const struct larger *l, int group,
                     size_t half, const double *all)
{
    const size_t n = (size_t)p->groups;
    double *const gets = lab_alloc(p->lab, n, sizeof *gets);
    bool *const silent = lab_alloc(p->lab, n, sizeof *silent);
    size_t member = 0;
    for (size_t t = 0; t < n; t++)
        silent[t] = l->group[t] == group && member++ % 2 == half;
    const char *const experiment = measure_turn(p, silent, gets);
    for (int g = 0; lab_ok(p->lab) && g < l->count; g++) {
        const double gain = gain_of(p, l, g, gets, all);
        if (g == group)
            p->within = fmin(p->within, gain);
        else
            p->across = fmax(p->across, gain);
    }
    if (p->experiment == NULL)
        p->experiment = experiment;
}

/* Tries the groups: each must gain from its own half, and from no other. */
static void confirm(struct sm_groups *p, struct larger *l, const double *all)
{
    p->within = INFINITY;
    p->across = 0;
    p->experiment = NULL;
    for (int i = 0; i < 2 * l->count; i++)
        try_half(p, l, i / 2, (size_t)i % 2, all);
    if (p->within >= assume(ASSUME_GROUP_GAIN) && p->within >= 2 * p->across)
        return;
    p->why = lab_text(p->lab, why_groups_no_gain, l->count, 100 * p->within,
                      100 * p->across);
    l->count = 0;
}

/* Once; true: better asked again. */
static bool ask_turns(struct sm_groups *p, struct larger *l)
{
    size_t turns;
    const double *const gets = measure_turns(p, &turns);
    p->why = NULL;
    if (!lab_ok(p->lab))
        return false;
    const bool doubtful = join(p, gets, turns, l);
    if (l->count > 0 &&
        (!all_have_mates(p, l->group) || may_be_tpcs(p, l->group, l->count)))
        l->count = 0;
    if (l->count > 0)
        confirm(p, l, gets);
    return doubtful;
}

/* By what others gain; none are found where that tells nothing. */
static void ask_by_gain(struct sm_groups *p, struct larger *l)
{
    bool again = all_wait(p);
    p->why = NULL;
    l->count = 0;
    memset(l->group, 0, (size_t)p->groups * sizeof *l->group);
    if (!again)
        p->why = lab_text(p->lab, why_all_free);
    for (p->crowd = CROWD;
         again && l->count == 0 && p->crowd <= CROWD_SURE && lab_ok(p->lab);
         p->crowd++)
        again = ask_turns(p, l);
    for (size_t sm = 0; sm < p->sms; sm++)
        l->of_sm[sm] = l->group[p->group[sm]];
}

/* The group of each SM by its clock; returns how many, 0 if not known. */
static int clock_groups(const struct sm_groups *p, int *of_sm)
{
    const struct finding *const f =
        lab_found(p->lab, "scheduling", "clock_group_of_sm");
    int count = 0;
    if (f == NULL || f->status != STATUS_MEASURED ||
        f->value.kind != VALUE_LIST || f->value.count != p->sms)
        return 0;
    for (size_t sm = 0; sm < p->sms; sm++) {
        of_sm[sm] = (int)f->value.items[sm].number;
        count = of_sm[sm] >= count ? of_sm[sm] + 1 : count;
    }
    return count;
}

/* The SMs of a small group come and go together, or it would be their way that
 * is less full. */
static size_t take_small(const struct sm_groups *p, size_t sm, bool *in)
{
    size_t count = 0;
    for (size_t k = 0; k < p->sms; k++)
        if (p->group[k] == p->group[sm] && !in[k]) {
            in[k] = true;
            count++;
        }
    return count;
}

/* As many SMs as are wanted, or a few more, from all groups in turn. */
static void deal(const struct sm_groups *p, const int *of_sm, int groups,
                 size_t wanted, bool *in)
{
    size_t dealt = 0;
    memset(in, 0, p->sms * sizeof *in);
    while (dealt < wanted)
        for (int g = 0; g < groups && dealt < wanted; g++) {
            size_t sm = 0;
            while (sm < p->sms && (of_sm[sm] != g || in[sm]))
                sm++;
            if (sm < p->sms)
                dealt += take_small(p, sm, in);
        }
}

/* What SMs of the group get, of what as many of all groups do. */
static double share_of_group(struct sm_groups *p, const int *of_sm, int groups,
                             int group)
{
    bool *const in = lab_alloc(p->lab, p->sms, sizeof *in);
    int *const all = lab_alloc(p->lab, p->sms, sizeof *all);
    for (size_t sm = 0; sm < p->sms; sm++)
        in[sm] = of_sm[sm] == group;
    const struct rates rates = measure_in(p, in, CROWD);
    const double *const together = rates.of_sm;
    p->experiment = rates.experiment;
    deal(p, of_sm, groups, members(of_sm, p->sms, group, NULL), in);
    const double *const dealt = measure_in(p, in, CROWD).of_sm;
    return mean_rate(p, all, 0, together) / mean_rate(p, all, 0, dealt);
}

/* Whether SMs whose clocks run alike share a way. */
static void ask_by_clock(struct sm_groups *p, struct larger *l)
{
    const int groups = clock_groups(p, l->of_sm);
    double worst = 0;
    l->count = 0;
    if (groups < 2 || 2 * (size_t)groups > p->sms)
        return;
    for (int g = 0; g < groups; g++)
        worst = fmax(worst, share_of_group(p, l->of_sm, groups, g));
    if (worst < assume(ASSUME_PAIR_SLOWED))
        l->count = groups;
    else
        p->why = lab_text(p->lab, why_clock_groups_free, 100 * worst);
}

/* ---- reporting --------------------------------------------------------- */

/* Groups by the order of their first SMs. */
static void renumber(const int *of_sm, size_t sms, int *ordered)
{
    int count = 0;
    for (size_t sm = 0; sm < sms; sm++) {
        size_t first = 0;
        while (of_sm[first] != of_sm[sm])
            first++;
        ordered[sm] = first == sm ? count++ : ordered[first];
    }
}

/* The groups of SMs, and how many there are; none: p->why. */
static struct finding *sm_groups_report(struct sm_groups *p,
                                        const char *attribute,
                                        const char *count_attribute,
                                        const int *of_sm, int count)
{
    struct finding *const list = lab_finding(p->lab, "sm", attribute);
    struct finding *const number = lab_finding(p->lab, "sm", count_attribute);
    if (count == 0) {
        finding_none(list, "%s", p->why);
        finding_none(number, "%s", p->why);
        return list;
    }
    struct value value = value_list();
    int *const ordered = lab_alloc(p->lab, p->sms, sizeof *ordered);
    renumber(of_sm, p->sms, ordered);
    for (size_t sm = 0; sm < p->sms; sm++)
        value_push(&value, value_number(ordered[sm]));
    finding_value(list, STATUS_MEASURED, value);
    finding_measured(number, count);
    finding_protocol(list, "op", value_text(p->op));
    return list;
}

static void report_tpcs(struct sm_groups *p)
{
    const bool known = p->why == NULL;
    struct finding *const f = sm_groups_report(p, "tpc_of_sm", "tpcs", p->group,
                                               known ? p->groups : 0);
    if (!known)
        return;
    finding_protocol(f, "share_within", value_number(p->slowest));
    finding_protocol(f, "share_across", value_number(p->freest));
    finding_protocol(f, "pairs", value_number((double)p->pairs));
    finding_cite(f, p->experiment);
}

/* Whose TPC is not known is tried by itself. */
static void each_alone(struct sm_groups *p)
{
    for (size_t sm = 0; sm < p->sms; sm++)
        p->group[sm] = (int)sm;
    p->groups = (int)p->sms;
}

/* Clocks that run alike in other groups speak against what loads showed. */
static void compare_clocks(const struct sm_groups *p, const int *of_sm,
                           struct finding *f)
{
    int *const by_clock = lab_alloc(p->lab, p->sms, sizeof *by_clock);
    const int groups = clock_groups(p, by_clock);
    if (groups < 2 || 2 * (size_t)groups > p->sms)
        return;
    const bool same = memcmp(by_clock, of_sm, p->sms * sizeof *by_clock) == 0;
    finding_protocol(f, "as_clocks", value_bool(same));
    if (same)
        return;
    struct finding *const number = results_edit(p->lab->results, "sm", "gpcs");
    const double count = number->value.number;
    f->status = number->status = STATUS_IN_DOUBT;
    finding_because(f, why_clocks_group);
    finding_because(number, why_clocks_group);
    finding_interval(number, fmin(groups, count), fmax(groups, count), -1);
}

/* One way of asking, by both operations; the reason of the first stays, which
 * is that of reads: they fill the larger ways. */
static void ask_both(struct sm_groups *p,
                     void ask(struct sm_groups *p, struct larger *l),
                     struct larger *l)
{
    const char *first = NULL;
    for (size_t i = OPERATIONS; i-- > 0 && lab_ok(p->lab) && l->count == 0;) {
        p->op = operations[i];
        ask(p, l);
        if (first == NULL)
            first = p->why;
    }
    p->why = first;
}

static void sm_groups_ask_gpcs(struct sm_groups *p)
{
    struct larger l = {
        .of_sm = lab_alloc(p->lab, p->sms, sizeof *l.of_sm),
        .group = lab_alloc(p->lab, p->sms, sizeof *l.group),
    };
    ask_both(p, ask_by_gain, &l);
    const bool by_gain = l.count > 0;
    if (!by_gain)
        ask_both(p, ask_by_clock, &l);
    if (!lab_ok(p->lab))
        return;
    struct finding *const f =
        sm_groups_report(p, "gpc_of_sm", "gpcs", l.of_sm, l.count);
    if (by_gain) {
        finding_protocol(f, "gain_within", value_number(p->within));
        finding_protocol(f, "gain_across", value_number(p->across));
    }
    finding_protocol(
        f, "by",
        value_text(by_gain ? "what others get more when some do nothing"
                           : "what SMs with one clock get together"));
    if (l.count == 0)
        return;
    finding_cite(f, p->experiment);
    compare_clocks(p, l.of_sm, f);
}

static void sm_groups_run(struct lab *lab)
{
    struct sm_groups p = {.lab = lab,
                          .sms = device_told(lab->info, PROPERTY_SMS, 0),
                          .warps =
                              lab_warps(lab, WARPS)};
    if (p.sms < 2) {
        lab_leave_open(lab, why_one_sm);
        return;
    }
    p.group = lab_alloc(lab, p.sms, sizeof *p.group);
    sm_groups_ask_tpcs(&p);
    if (!lab_ok(lab))
        return;
    report_tpcs(&p);
    if (p.why != NULL)
        each_alone(&p);
    sm_groups_ask_gpcs(&p);
}

const struct study study_sm_groups = {
    .name = "placement",
    .question = "Which SMs share a TPC, and which a GPC?",
    .method =
        "Two SMs read or write L2 as fast as they can; where each gets less "
        "than alone, they share a way to it. One SM is tried with all others, "
        "the groups that follow from it with their members and with the next "
        "group. Then all SMs work but some, ever others: those that get more "
        "and less together share a larger way.",
    .reads_findings = TEXTS("scheduling.clock_group_of_sm"),
    .answers = answers,
    .kernels = TEXTS("rivals op=write", "rivals"),
    .apart = true,
    .under_load = true,
    .run = sm_groups_run,
};
