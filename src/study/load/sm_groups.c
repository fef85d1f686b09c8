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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/comovement.h"
#include "analysis/gap_split.h"
#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"scheduling", NULL};
static const char *const gives[] = {"sm.tpc_of_sm", "sm.tpcs", "sm.gpc_of_sm",
                                    "sm.gpcs", NULL};
static const char *const kernels[] = {
    "rivals op=write",
    "rivals",
    NULL,
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
/* Of what an SM gets alone: less is slowed, more is not, where no gap tells
 * better. */
static const double slowed_below = 0.92, free_above = 0.96;
/* Shares between these are asked again, at length. */
static const double doubt_from = 0.80, doubt_to = 0.97;
/* Share that the slowed lack at least, to be told from others by a gap. */
static const double gap_least = 0.03;
/* SMs of a TPC; more have a larger part of the GPU together. */
enum { TPC_MOST = 4 };
/* Experiments with pairs, for each SM. */
enum { PAIRS_EACH = 8 };
/* By so much, at least, who shared gets more when a group does nothing. */
static const double gain_least = 0.03;
/* Changes of a rate below this are none; noise is most often above it. */
static const double rate_floor = 0.003;
/* Differences from this on are asked again, more often, where they make no
 * groups: they may be lost in noise. */
static const double change_doubt = 0.01;
/* All do nothing in turn, a part at a time, and so in every round, the parts
 * being others.  With few, each is a part, and one round has all there is. */
enum { PARTS = 8, ROUNDS = 5 };

static const char *const operations[] = {"write", "read"};
enum { OPERATIONS = 2 };

enum { NOBODY = -1 };

struct placement {
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
    char *experiment;  /* one that shows it; NULL: none yet */
    char why[200];     /* it cannot be told */
    bool lonely;       /* no SM slowed those that were tried with all */
};

/* ---- what SMs of a set get --------------------------------------------- */

/* Columns of the probe `rivals`, after the repetition. */
enum { SM = 1, BYTES, CYCLES };

/* Bytes in a cycle of each SM, medians over repetitions; NAN of those that are
 * not in the set. */
static int measure(const struct placement *p, const char *set,
                   enum effort effort, double *rates, char **experiment,
                   struct error *err)
{
    struct samples s;
    const unsigned repeats = efforts[effort].repeats;
    double *const own = xcalloc(repeats, sizeof *own);
    const int status =
        lab_probe_err(p->lab, &s, experiment, err,
                  "rivals op=%s sms=%s warps=%u bytes=%u cycles=%u repeats=%u",
                  p->op, set, p->warps, p->warps * TILE * TILES,
                  efforts[effort].cycles, repeats);
    for (size_t sm = 0; status == 0 && sm < p->sms; sm++) {
        size_t count = 0;
        for (size_t row = 0; row < s.rows; row++)
            if ((size_t)samples_at(&s, row, SM) == sm && count < repeats)
                own[count++] = (double)samples_at(&s, row, BYTES) /
                               (double)samples_at(&s, row, CYCLES);
        rates[sm] = count > 0 ? stats_median(own, count) : NAN;
    }
    if (status == 0)
        samples_free(&s);
    free(own);
    return status;
}

/* The SMs that are (or are not) in the list, as the probe takes them. */
static char *set_of(const bool *in, size_t sms)
{
    struct buf text = {0};
    for (size_t from = 0; from < sms; from++) {
        size_t to = from;
        if (!in[from])
            continue;
        while (to + 1 < sms && in[to + 1])
            to++;
        buf_printf(&text, "%s%zu", text.length > 0 ? "," : "", from);
        if (to > from)
            buf_printf(&text, "-%zu", to);
        from = to;
    }
    return buf_take(&text);
}

/* ---- pairs ------------------------------------------------------------- */

enum verdict { FREE, SLOWED, UNCLEAR };

static enum verdict judge(const struct placement *p, double share)
{
    return share < p->slowed ? SLOWED : share > p->free ? FREE : UNCLEAR;
}

/* What two get of what the leader does alone, on average. */
static int try_pair(struct placement *p, size_t a, size_t b, enum effort effort,
                    double *share, struct error *err)
{
    char set[32], *experiment;
    double *const rates = xcalloc(p->sms, sizeof *rates);
    snprintf(set, sizeof set, "%zu,%zu", a, b);
    p->pairs++;
    const int status = measure(p, set, effort, rates, &experiment, err);
    if (status == 0) {
        *share = (rates[a] + rates[b]) / 2 / p->alone[effort];
        if (*share < slowed_below && p->experiment == NULL)
            p->experiment = xstrdup(experiment);
        free(experiment);
    }
    free(rates);
    return status;
}

static int ask_share(struct placement *p, size_t a, size_t b, double *share,
                     struct error *err)
{
    if (try_pair(p, a, b, QUICK, share, err) == 0 && *share > doubt_from &&
        *share < doubt_to)
        try_pair(p, a, b, SURE, share, err);
    return err->code;
}

/* What a share says, which is kept. */
static enum verdict decide(struct placement *p, size_t a, size_t b,
                           double share)
{
    const enum verdict verdict = judge(p, share);
    if (verdict == SLOWED)
        p->slowest = fmax(p->slowest, share);
    else
        p->freest = fmin(p->freest, share);
    if (verdict == UNCLEAR)
        snprintf(p->why, sizeof p->why,
                 "SMs %zu and %zu get %.1f %% of what one gets alone: neither "
                 "clearly less nor as much",
                 a, b, 100 * share);
    return verdict;
}

static int ask_pair(struct placement *p, size_t a, size_t b,
                    enum verdict *verdict, struct error *err)
{
    double share;
    if (ask_share(p, a, b, &share, err) == 0)
        *verdict = decide(p, a, b, share);
    return err->code;
}

static int ask_alone(struct placement *p, size_t sm, enum effort effort,
                     double *alone, struct error *err)
{
    char set[32];
    double *const rates = xcalloc(p->sms, sizeof *rates);
    snprintf(set, sizeof set, "%zu", sm);
    if (measure(p, set, effort, rates, NULL, err) == 0)
        *alone = rates[sm];
    free(rates);
    return err->code;
}

/* From the shares of the first SM with all others: where slowed ones end. */
static void set_limits(struct placement *p, const double *shares, size_t n)
{
    struct gap_split gap;
    const double least = stats_min(shares, n), most = stats_max(shares, n);
    gap_split_find(shares, n, slowed_below, gap_least, &gap);
    p->slowed = slowed_below;
    p->free = free_above;
    if (gap.clear) {
        p->slowed = (2 * gap.low + gap.high) / 3;
        p->free = (gap.low + 2 * gap.high) / 3;
    } else if (least >= slowed_below && stats_median(shares, n) > free_above) {
        p->slowed = p->free = slowed_below / 2;
    } else if (most >= slowed_below) {
        snprintf(p->why, sizeof p->why,
                 "pairs of SMs get %.1f to %.1f %% of what one gets alone, and "
                 "no gap tells slowed ones from others",
                 100 * least, 100 * most);
    }
}

/* The first group: all that slow the SM. */
static int scan_first(struct placement *p, size_t sm, struct error *err)
{
    double *const shares = xcalloc(p->sms, sizeof *shares);
    size_t count = 0;
    for (size_t k = 0; k < p->sms && err->code == 0; k++)
        if (k != sm && ask_share(p, sm, k, &shares[count], err) == 0)
            count++;
    if (err->code == 0)
        set_limits(p, shares, count);
    if (err->code == 0 && p->why[0] == '\0') {
        p->group[sm] = p->groups++;
        for (size_t k = 0; k < p->sms; k++)
            if (k != sm &&
                decide(p, sm, k, shares[k < sm ? k : k - 1]) == SLOWED)
                p->group[k] = p->group[sm];
    }
    free(shares);
    return err->code;
}

/* The SM's group, of those that have none yet: all that slow it. */
static int scan(struct placement *p, size_t sm, struct error *err)
{
    const int own = p->groups++;
    p->group[sm] = own;
    for (size_t k = 0; k < p->sms && p->why[0] == '\0'; k++) {
        enum verdict verdict;
        if (p->group[k] != NOBODY)
            continue;
        if (p->pairs > PAIRS_EACH * p->sms) {
            snprintf(p->why, sizeof p->why,
                     "groups of SMs follow no order: after %zu pairs they are "
                     "not all known",
                     p->pairs);
            return 0;
        }
        if (ask_pair(p, sm, k, &verdict, err) != 0)
            return err->code;
        if (verdict == SLOWED)
            p->group[k] = own;
    }
    return 0;
}

/* SMs of the group, by their numbers; returns how many. */
static size_t members(const struct placement *p, int group, size_t *list)
{
    size_t count = 0;
    for (size_t sm = 0; sm < p->sms; sm++)
        if (p->group[sm] == group)
            list[count++] = sm;
    return count;
}

/* Tries whether the SM's group is made as the first one is. */
static int try_like_first(struct placement *p, size_t sm, const size_t *first,
                          size_t count, bool *is, struct error *err)
{
    *is = true;
    for (size_t i = 1; i < count && *is; i++) {
        const size_t other = sm + first[i] - first[0];
        enum verdict verdict = FREE;
        if (other < p->sms && p->group[other] == NOBODY &&
            ask_pair(p, sm, other, &verdict, err) != 0)
            return err->code;
        *is = verdict == SLOWED;
    }
    for (size_t i = 0; i < count && *is; i++)
        p->group[sm + first[i] - first[0]] = p->groups;
    p->groups += *is;
    return 0;
}

static int group_others(struct placement *p, int from, struct error *err)
{
    size_t *const first = xcalloc(p->sms, sizeof *first);
    const size_t count = members(p, from, first);
    for (size_t sm = 0; sm < p->sms && p->why[0] == '\0' && err->code == 0;
         sm++) {
        bool is = false;
        if (p->group[sm] == NOBODY &&
            try_like_first(p, sm, first, count, &is, err) == 0 && !is &&
            p->why[0] == '\0')
            scan(p, sm, err);
    }
    free(first);
    return err->code;
}

/* Neighbouring groups know nothing of each other. */
static int check_apart(struct placement *p, struct error *err)
{
    size_t *const list = xcalloc(p->sms, sizeof *list);
    size_t before = 0;
    for (int g = 0; g < p->groups && p->why[0] == '\0' && err->code == 0; g++) {
        enum verdict verdict = FREE;
        members(p, g, list);
        if (g > 0 && ask_pair(p, before, list[0], &verdict, err) == 0 &&
            verdict == SLOWED)
            snprintf(p->why, sizeof p->why,
                     "SMs %zu and %zu slow each other, and yet others that "
                     "slow one of them do not slow the other",
                     before, list[0]);
        before = list[0];
    }
    free(list);
    return err->code;
}

static size_t size_of(const struct placement *p, int group)
{
    size_t count = 0;
    for (size_t sm = 0; sm < p->sms; sm++)
        count += p->group[sm] == group;
    return count;
}

static void forget(struct placement *p)
{
    for (size_t sm = 0; sm < p->sms; sm++)
        p->group[sm] = NOBODY;
    p->groups = 0;
    p->slowest = 0;
    p->freest = INFINITY;
    p->why[0] = '\0';
    p->lonely = false;
    free(p->experiment);
    p->experiment = NULL;
}

/* One pair slowed by chance must not make a TPC: most SMs have mates. */
static void check_mates(struct placement *p)
{
    size_t single = 0;
    for (int g = 0; g < p->groups; g++)
        single += size_of(p, g) == 1;
    if (p->why[0] == '\0' && 2 * single > (size_t)p->groups)
        snprintf(p->why, sizeof p->why,
                 "only few SMs slow each other: %zu of %zu slow nobody", single,
                 p->sms);
}

static void judge_first(struct placement *p, size_t sm)
{
    const size_t size = size_of(p, p->group[sm]);
    p->lonely = size == 1;
    if (size == 1)
        snprintf(p->why, sizeof p->why,
                 "no pair of SMs slows another: SM %zu and any other get %.1f "
                 "%% of what it gets alone, or more (op=%s); their ways to L2 "
                 "are not shared, or wide enough for both",
                 sm, 100 * p->freest, p->op);
    else if (size > TPC_MOST)
        snprintf(p->why, sizeof p->why,
                 "%zu SMs slow each other in pairs: more than a TPC has", size);
    else if (size == p->sms)
        snprintf(p->why, sizeof p->why,
                 "all %zu SMs slow each other in pairs: it may be L2 that is "
                 "too slow for two",
                 size);
}

/* The groups of one operation, as SM `sm` leads to them; none: p->why. */
static int ask_from(struct placement *p, size_t sm, struct error *err)
{
    forget(p);
    if (ask_alone(p, sm, QUICK, &p->alone[QUICK], err) != 0 ||
        ask_alone(p, sm, SURE, &p->alone[SURE], err) != 0 ||
        scan_first(p, sm, err) != 0 || p->why[0] != '\0')
        return err->code;
    judge_first(p, sm);
    if (p->why[0] == '\0' && group_others(p, 0, err) == 0 &&
        check_apart(p, err) == 0)
        check_mates(p);
    return err->code;
}

/* A GPU may have an SM that is alone: so from the middle, too.  Of the reasons
 * that stays which tells most. */
static int ask_tpcs(struct placement *p, struct error *err)
{
    char told[sizeof p->why] = "";
    for (size_t i = 0; i < 2 * OPERATIONS; i++) {
        p->op = operations[i / 2];
        p->pairs = 0;
        if (ask_from(p, i % 2 * p->sms / 2, err) != 0 || p->why[0] == '\0')
            return err->code;
        if (told[0] == '\0' || !p->lonely)
            memcpy(told, p->why, sizeof told);
        i += i % 2 == 0 && !p->lonely;
    }
    memcpy(p->why, told, sizeof told);
    return 0;
}

/* ---- larger groups ----------------------------------------------------- */

/* Whether all SMs together get less than each would alone. */
static int all_wait(struct placement *p, bool *do_wait, struct error *err)
{
    double alone = 0;
    double *const rates = xcalloc(p->sms, sizeof *rates);
    char set[32];
    snprintf(set, sizeof set, "0-%zu", p->sms - 1);
    if (ask_alone(p, 0, CROWD, &alone, err) == 0 &&
        measure(p, set, CROWD, rates, NULL, err) == 0)
        *do_wait = stats_min(rates, p->sms) < slowed_below * alone;
    free(rates);
    return err->code;
}

/* What each small group gets, on average of its SMs, as a logarithm: shares of
 * a change are differences then.  NAN of those that do nothing. */
static void add_turn(const struct placement *p, const double *rates,
                     double *gets)
{
    for (int g = 0; g < p->groups; g++) {
        double sum = 0, count = 0;
        for (size_t sm = 0; sm < p->sms; sm++)
            if (p->group[sm] == g && !isnan(rates[sm])) {
                sum += rates[sm];
                count++;
            }
        gets[g] = count > 0 ? log(sum / count) : NAN;
    }
}

/* All work but the small groups that are `silent`. */
static int measure_turn(struct placement *p, const bool *silent, double *gets,
                        char **experiment, struct error *err)
{
    double *const rates = xcalloc(p->sms, sizeof *rates);
    bool *const in = xcalloc(p->sms, sizeof *in);
    for (size_t sm = 0; sm < p->sms; sm++)
        in[sm] = !silent[p->group[sm]];
    char *const set = set_of(in, p->sms);
    for (size_t sm = 0; sm < p->sms; sm++)
        rates[sm] = NAN;
    if (measure(p, set, p->crowd, rates, experiment, err) == 0)
        add_turn(p, rates, gets);
    free(set);
    free(in);
    free(rates);
    return err->code;
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
static int measure_round(struct placement *p, size_t parts, struct rng *rng,
                         double *gets, struct error *err)
{
    const size_t n = (size_t)p->groups;
    size_t *const order = xcalloc(n, sizeof *order);
    bool *const silent = xcalloc(n, sizeof *silent);
    shuffle(order, n, rng);
    for (size_t part = 0; part < parts && err->code == 0; part++) {
        for (size_t i = 0; i < n; i++)
            silent[order[i]] = i * parts / n == part;
        measure_turn(p, silent, gets + part * n, NULL, err);
    }
    free(silent);
    free(order);
    return err->code;
}

/* Turns, the first with all at work.  The caller frees what they gave. */
static double *measure_turns(struct placement *p, size_t *turns,
                             struct error *err)
{
    const size_t n = (size_t)p->groups;
    const bool few = n < 2 * PARTS;
    const size_t parts = few ? n : PARTS, rounds = few ? 1 : ROUNDS;
    double *const gets = xcalloc((1 + parts * rounds) * n, sizeof *gets);
    bool *const nobody = xcalloc(n, sizeof *nobody);
    struct rng rng;
    rng_seed(&rng, prober_seed(p->lab->prober));
    *turns = 1 + parts * rounds;
    measure_turn(p, nobody, gets, NULL, err);
    for (size_t round = 0; round < rounds && err->code == 0; round++)
        measure_round(p, parts, &rng, gets + (1 + round * parts) * n, err);
    free(nobody);
    return gets;
}

/* Where TPCs are not known, a small group may be one. */
static bool may_be_tpcs(struct placement *p, const int *larger, int count)
{
    const size_t n = (size_t)p->groups;
    size_t most = 0;
    for (int g = 0; g < count; g++) {
        size_t size = 0;
        for (size_t t = 0; t < n; t++)
            size += larger[t] == g;
        most = size > most ? size : most;
    }
    if (n < p->sms || most > TPC_MOST)
        return false;
    snprintf(p->why, sizeof p->why,
             "groups of %zu SMs share a way, which may be that of a TPC", most);
    return true;
}

/* Groups whose rates go together; `larger` gets their numbers.  Returns how
 * many there are; 0, and p->why, where there are none. */
static int join(struct placement *p, const double *gets, size_t turns,
                int *larger, bool *doubtful)
{
    const size_t n = (size_t)p->groups;
    struct comovement t;
    size_t *const group = xcalloc(n, sizeof *group);
    comovement_find(gets, turns, n, rate_floor, group, &t);
    for (size_t i = 0; i < n; i++)
        larger[i] = (int)group[i];
    free(group);
    *doubtful = t.far >= change_doubt;
    if (t.groups >= 2 && t.far >= gain_least)
        return (int)t.groups;
    if (t.far < gain_least)
        snprintf(p->why, sizeof p->why,
                 "whichever SMs do nothing, others get more or less alike: "
                 "changes differ by %.1f %%",
                 100 * t.far);
    else
        snprintf(p->why, sizeof p->why,
                 "when some SMs do nothing, what others get changes by up to "
                 "%.0f %% more or less than of others, and yet they do not "
                 "form groups",
                 100 * t.far);
    return 0;
}

static size_t first_of(const struct placement *p, int group)
{
    size_t sm = 0;
    while (p->group[sm] != group)
        sm++;
    return sm;
}

/* None is alone, of which nothing was seen. */
static bool all_have_mates(struct placement *p, const int *larger)
{
    for (int t = 0; t < p->groups; t++) {
        size_t mates = 0;
        for (int u = 0; u < p->groups; u++)
            mates += u != t && larger[u] == larger[t];
        if (mates == 0)
            snprintf(p->why, sizeof p->why,
                     "some SMs share with others, but when SM %zu does nothing "
                     "nobody gets more",
                     first_of(p, t));
    }
    return p->why[0] == '\0';
}

/* What those of the group that work gain: their median, for of many the least
 * and the most are noise. */
static double gain_of(const struct placement *p, const int *larger, int group,
                      const double *gets, const double *all)
{
    size_t count = 0;
    double *const own = xcalloc((size_t)p->groups, sizeof *own);
    for (int t = 0; t < p->groups; t++)
        if (larger[t] == group && !isnan(gets[t]))
            own[count++] = exp(gets[t] - all[t]) - 1;
    const double gain = stats_median(own, count);
    free(own);
    return gain;
}

/* What all others gain when half of a group does nothing: its even or its odd
 * members. */
static int try_half(struct placement *p, const int *larger, int count,
                    int group, size_t half, const double *all,
                    struct error *err)
{
    const size_t n = (size_t)p->groups;
    double *const gets = xcalloc(n, sizeof *gets);
    bool *const silent = xcalloc(n, sizeof *silent);
    char *experiment = NULL;
    size_t member = 0;
    for (size_t t = 0; t < n; t++)
        silent[t] = larger[t] == group && member++ % 2 == half;
    if (measure_turn(p, silent, gets, &experiment, err) == 0)
        for (int g = 0; g < count; g++) {
            const double gain = gain_of(p, larger, g, gets, all);
            if (g == group)
                p->within = fmin(p->within, gain);
            else
                p->across = fmax(p->across, gain);
        }
    if (p->experiment == NULL)
        p->experiment = experiment;
    else
        free(experiment);
    free(silent);
    free(gets);
    return err->code;
}

/* Tries the groups: each must gain from its own half, and from no other. */
static int confirm(struct placement *p, const int *larger, int *count,
                   const double *all, struct error *err)
{
    p->within = INFINITY;
    p->across = 0;
    free(p->experiment);
    p->experiment = NULL;
    for (int i = 0; i < 2 * *count && err->code == 0; i++)
        try_half(p, larger, *count, i / 2, (size_t)i % 2, all, err);
    if (p->within >= gain_least && p->within >= 2 * p->across)
        return err->code;
    snprintf(p->why, sizeof p->why,
             "what SMs get goes up and down together in %d groups, but without "
             "half a group its others get only %.1f %% more, and those of "
             "other groups up to %.1f %%",
             *count, 100 * p->within, 100 * p->across);
    *count = 0;
    return err->code;
}

/* Once; *doubtful: better asked again. */
static int ask_turns(struct placement *p, int *larger, int *count,
                     bool *doubtful, struct error *err)
{
    size_t turns;
    double *const gets = measure_turns(p, &turns, err);
    p->why[0] = '\0';
    if (err->code == 0) {
        *count = join(p, gets, turns, larger, doubtful);
        if (*count > 0 &&
            (!all_have_mates(p, larger) || may_be_tpcs(p, larger, *count)))
            *count = 0;
        if (*count > 0)
            confirm(p, larger, count, gets, err);
    }
    free(gets);
    return err->code;
}

/* By what others gain; *count is 0 where that tells nothing. */
static int ask_by_gain(struct placement *p, int *of_sm, int *count,
                       struct error *err)
{
    int *const larger = xcalloc((size_t)p->groups, sizeof *larger);
    bool do_wait = false, doubtful = true;
    p->why[0] = '\0';
    *count = 0;
    if (all_wait(p, &do_wait, err) == 0 && !do_wait)
        snprintf(p->why, sizeof p->why,
                 "all SMs together get as much as each alone");
    for (p->crowd = CROWD; do_wait && doubtful && *count == 0 &&
                           p->crowd <= CROWD_SURE && err->code == 0;
         p->crowd++)
        ask_turns(p, larger, count, &doubtful, err);
    for (size_t sm = 0; sm < p->sms; sm++)
        of_sm[sm] = larger[p->group[sm]];
    free(larger);
    return err->code;
}

/* The group of each SM by its clock; returns how many, 0 if not known. */
static int clock_groups(const struct placement *p, int *of_sm)
{
    const struct finding *const f =
        results_find(p->lab->results, "scheduling.clock_group_of_sm");
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
static size_t take_small(const struct placement *p, size_t sm, bool *in)
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
static void deal(const struct placement *p, const int *of_sm, int groups,
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

static double mean_rate(const struct placement *p, const bool *in,
                        const double *rates)
{
    double sum = 0, count = 0;
    for (size_t sm = 0; sm < p->sms; sm++)
        if (in[sm]) {
            sum += rates[sm];
            count++;
        }
    return sum / count;
}

/* What SMs of the group get, of what as many of all groups do. */
static int share_of_group(struct placement *p, const int *of_sm, int groups,
                          int group, double *share, struct error *err)
{
    double rate[2] = {0};
    double *const rates = xcalloc(p->sms, sizeof *rates);
    bool *const in = xcalloc(p->sms, sizeof *in);
    for (int spread = 0; spread < 2 && err->code == 0; spread++) {
        size_t wanted = 0;
        for (size_t sm = 0; sm < p->sms; sm++) {
            in[sm] = of_sm[sm] == group;
            wanted += in[sm];
        }
        if (spread)
            deal(p, of_sm, groups, wanted, in);
        char *const set = set_of(in, p->sms);
        if (measure(p, set, CROWD, rates, NULL, err) == 0)
            rate[spread] = mean_rate(p, in, rates);
        free(set);
    }
    *share = rate[0] / rate[1];
    free(in);
    free(rates);
    return err->code;
}

/* Whether SMs whose clocks run alike share a way. */
static int ask_by_clock(struct placement *p, int *of_sm, int *count,
                        struct error *err)
{
    const int groups = clock_groups(p, of_sm);
    double worst = 0;
    *count = 0;
    if (groups < 2 || 2 * (size_t)groups > p->sms)
        return 0;
    for (int g = 0; g < groups; g++) {
        double share;
        if (share_of_group(p, of_sm, groups, g, &share, err) != 0)
            return err->code;
        worst = fmax(worst, share);
    }
    if (worst < slowed_below)
        *count = groups;
    else
        snprintf(p->why, sizeof p->why,
                 "SMs whose clocks run alike get together %.0f %% or more of "
                 "what as many others get, and when some do nothing others do "
                 "not gain clearly",
                 100 * worst);
    return 0;
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

static struct finding *report(struct placement *p, const char *attribute,
                              const char *count_attribute, const int *of_sm,
                              int count)
{
    struct finding *const list = lab_finding(p->lab, "sm", attribute);
    struct finding *const number = lab_finding(p->lab, "sm", count_attribute);
    if (count == 0) {
        finding_none(list, "%s", p->why);
        finding_none(number, "%s", p->why);
        return list;
    }
    struct value value = value_list();
    int *const ordered = xcalloc(p->sms, sizeof *ordered);
    renumber(of_sm, p->sms, ordered);
    for (size_t sm = 0; sm < p->sms; sm++)
        value_push(&value, value_number(ordered[sm]));
    free(ordered);
    finding_set(list, STATUS_MEASURED, value, "");
    finding_set(number, STATUS_MEASURED, value_number(count), "");
    finding_protocol(list, "op", value_text(p->op));
    return list;
}

static void report_tpcs(struct placement *p)
{
    const bool known = p->why[0] == '\0';
    struct finding *const f =
        report(p, "tpc_of_sm", "tpcs", p->group, known ? p->groups : 0);
    if (!known)
        return;
    finding_protocol(f, "share_within", value_number(p->slowest));
    finding_protocol(f, "share_across", value_number(p->freest));
    finding_protocol(f, "pairs", value_number((double)p->pairs));
    finding_evidence(f, p->experiment);
}

/* Whose TPC is not known is tried by itself. */
static void each_alone(struct placement *p)
{
    for (size_t sm = 0; sm < p->sms; sm++)
        p->group[sm] = (int)sm;
    p->groups = (int)p->sms;
}

/* Clocks that run alike in other groups speak against what loads showed. */
static void compare_clocks(const struct placement *p, const int *of_sm,
                           struct finding *f)
{
    int *const by_clock = xcalloc(p->sms, sizeof *by_clock);
    const int groups = clock_groups(p, by_clock);
    if (groups >= 2 && 2 * (size_t)groups <= p->sms) {
        const bool same =
            memcmp(by_clock, of_sm, p->sms * sizeof *by_clock) == 0;
        finding_protocol(f, "as_clocks", value_bool(same));
        if (!same)
            finding_because(f, "the clocks of SMs run alike in other groups");
    }
    free(by_clock);
}

/* One way of asking, by both operations; the reason of the first stays, which
 * is that of reads: they fill the larger ways. */
static int ask_both(struct placement *p,
                    int ask(struct placement *p, int *of_sm, int *count,
                            struct error *err),
                    int *of_sm, int *count, struct error *err)
{
    char first[sizeof p->why] = "";
    for (size_t i = OPERATIONS; i-- > 0 && *count == 0;) {
        p->op = operations[i];
        if (ask(p, of_sm, count, err) != 0)
            return err->code;
        if (first[0] == '\0')
            memcpy(first, p->why, sizeof first);
    }
    memcpy(p->why, first, sizeof first);
    return 0;
}

static void finish_gpcs(const struct placement *p, struct finding *f,
                        const char *by, const int *of_sm, int count)
{
    finding_protocol(f, "by", value_text(by));
    if (count > 0)
        compare_clocks(p, of_sm, f);
}

static int ask_gpcs(struct placement *p, struct error *err)
{
    int *const of_sm = xcalloc(p->sms, sizeof *of_sm);
    const char *by = "what others get more when some do nothing";
    int count = 0;
    if (ask_both(p, ask_by_gain, of_sm, &count, err) == 0 && count > 0) {
        struct finding *const f = report(p, "gpc_of_sm", "gpcs", of_sm, count);
        finding_protocol(f, "gain_within", value_number(p->within));
        finding_protocol(f, "gain_across", value_number(p->across));
        finding_evidence(f, p->experiment);
        finish_gpcs(p, f, by, of_sm, count);
    } else if (err->code == 0) {
        by = "what SMs with one clock get together";
        if (ask_both(p, ask_by_clock, of_sm, &count, err) == 0)
            finish_gpcs(p, report(p, "gpc_of_sm", "gpcs", of_sm, count), by,
                        of_sm, count);
    }
    free(of_sm);
    return err->code;
}

static int ask(struct placement *p, struct error *err)
{
    if (ask_tpcs(p, err) != 0)
        return err->code;
    report_tpcs(p);
    if (p->why[0] != '\0')
        each_alone(p);
    return ask_gpcs(p, err);
}

static int run(struct lab *lab, struct error *err)
{
    const int64_t sms = lab->info->value[PROPERTY_SMS];
    const unsigned most = lab_block_warps(lab);
    struct placement p = {.lab = lab,
                          .sms = sms > 0 ? (size_t)sms : 0,
                          .warps = most < WARPS ? most : WARPS};
    if (p.sms < 2) {
        lab_leave_open(lab, "there is but one SM, or it is not told how many");
        return 0;
    }
    *err = (struct error){0};
    p.group = xcalloc(p.sms, sizeof *p.group);
    const int status = ask(&p, err);
    free(p.experiment);
    free(p.group);
    return status;
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
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
