/*
 * Which SMs share a way to L2: those of a TPC, and those of a GPC.
 *
 * Of two SMs that read, or write, as fast as they can, each gets less than
 * alone if they share a way that does not take what both could.  SM 0 is tried
 * with every other one.  The others are taken to be grouped in the same manner
 * (as many, as far apart), which is tried, too: each group by its members, and
 * with the next group, of which it must know nothing; where it is not so, SMs
 * are tried one by one.
 *
 * A larger group's way is full only when many of its SMs work.  So all work,
 * and then all but one small group: who gets more then, shared with it.  Where
 * that tells nothing and clocks run alike in groups, each such group works
 * alone, and then as many SMs of all groups: if these get more, the group has
 * one way.  What loads do not show is not measured.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "study/study.h"

static const char *const needs[] = {"scheduling", NULL};
static const char *const gives[] = {"sm.tpc_of_sm", "sm.tpcs", "sm.gpc_of_sm",
                                    "sm.gpcs", NULL};
static const char *const kernels[] = {
    "rivals op=write",
    "rivals",
    NULL,
};

enum { WARPS = 16, TILE = 2048, TILES = 2, REPEATS = 3, REPEATS_DOUBT = 9 };
/* Of what an SM gets alone: less is slowed, more is not, and between nobody
 * knows. */
static const double slowed_below = 0.92, free_above = 0.96;
/* SMs of a TPC; more have a larger part of the GPU together. */
enum { TPC_MOST = 4 };
/* Experiments with pairs, for each SM. */
enum { PAIRS_EACH = 8 };
/* By so much, at least, who shared gets more when a group does nothing. */
static const double gain_least = 0.03;

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
    size_t pairs;     /* that were tried */
    double slowest;   /* share that sharers got, the largest */
    double freest;    /* … and others, the least */
    char *experiment; /* one that shows it; NULL: none yet */
    char why[160];    /* it cannot be told */
    bool lonely;      /* no SM slowed those that were tried with all */
    bool crowded;     /* more than a TPC has did */
};

/* ---- what SMs of a set get --------------------------------------------- */

/* Bytes in a cycle of each SM, medians over repetitions; NAN of those that are
 * not in the set. */
static int measure(const struct placement *p, const char *set, unsigned repeats,
                   double *rates, char **experiment, struct error *err)
{
    struct samples s;
    double *const own = xcalloc(repeats, sizeof *own);
    const int status =
        lab_probe(p->lab, &s, experiment, err,
                  "rivals op=%s sms=%s warps=%u bytes=%u repeats=%u", p->op,
                  set, p->warps, p->warps * TILE * TILES, repeats);
    for (size_t sm = 0; status == 0 && sm < p->sms; sm++) {
        size_t count = 0;
        for (size_t row = 0; row < s.rows; row++)
            if ((size_t)samples_at(&s, row, 1) == sm && count < repeats)
                own[count++] = (double)samples_at(&s, row, 2) /
                               (double)samples_at(&s, row, 3);
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

static enum verdict judge(double share)
{
    return share < slowed_below ? SLOWED : share > free_above ? FREE : UNCLEAR;
}

/* What the slower of two gets of what `alone` says. */
static int try_pair(struct placement *p, size_t a, size_t b, double alone,
                    unsigned repeats, double *share, struct error *err)
{
    char set[32], *experiment;
    double *const rates = xcalloc(p->sms, sizeof *rates);
    snprintf(set, sizeof set, "%zu,%zu", a, b);
    p->pairs++;
    const int status = measure(p, set, repeats, rates, &experiment, err);
    if (status == 0) {
        *share = fmin(rates[a], rates[b]) / alone;
        if (judge(*share) == SLOWED && p->experiment == NULL)
            p->experiment = xstrdup(experiment);
        free(experiment);
    }
    free(rates);
    return status;
}

static int ask_pair(struct placement *p, size_t a, size_t b, double alone,
                    enum verdict *verdict, struct error *err)
{
    double share;
    if (try_pair(p, a, b, alone, REPEATS, &share, err) != 0)
        return err->code;
    if (judge(share) == UNCLEAR &&
        try_pair(p, a, b, alone, REPEATS_DOUBT, &share, err) != 0)
        return err->code;
    *verdict = judge(share);
    if (*verdict == SLOWED)
        p->slowest = fmax(p->slowest, share);
    else
        p->freest = fmin(p->freest, share);
    if (*verdict == UNCLEAR)
        snprintf(p->why, sizeof p->why,
                 "SMs %zu and %zu get %.1f %% of what one gets alone: neither "
                 "clearly less nor as much",
                 a, b, 100 * share);
    return 0;
}

static int ask_alone(struct placement *p, size_t sm, double *alone,
                     struct error *err)
{
    char set[32];
    double *const rates = xcalloc(p->sms, sizeof *rates);
    snprintf(set, sizeof set, "%zu", sm);
    if (measure(p, set, REPEATS_DOUBT, rates, NULL, err) == 0)
        *alone = rates[sm];
    free(rates);
    return err->code;
}

/* The SM's group, of those that have none yet: all that slow it. */
static int scan(struct placement *p, size_t sm, double alone, struct error *err)
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
        if (ask_pair(p, sm, k, alone, &verdict, err) != 0)
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
                          size_t count, double alone, bool *is,
                          struct error *err)
{
    *is = true;
    for (size_t i = 1; i < count && *is; i++) {
        const size_t other = sm + first[i] - first[0];
        enum verdict verdict = FREE;
        if (other < p->sms && p->group[other] == NOBODY &&
            ask_pair(p, sm, other, alone, &verdict, err) != 0)
            return err->code;
        *is = verdict == SLOWED;
    }
    for (size_t i = 0; i < count && *is; i++)
        p->group[sm + first[i] - first[0]] = p->groups;
    p->groups += *is;
    return 0;
}

static int group_others(struct placement *p, int from, double alone,
                        struct error *err)
{
    size_t *const first = xcalloc(p->sms, sizeof *first);
    const size_t count = members(p, from, first);
    for (size_t sm = 0; sm < p->sms && p->why[0] == '\0' && err->code == 0;
         sm++) {
        bool is = false;
        if (p->group[sm] == NOBODY &&
            try_like_first(p, sm, first, count, alone, &is, err) == 0 && !is &&
            p->why[0] == '\0')
            scan(p, sm, alone, err);
    }
    free(first);
    return err->code;
}

/* Neighbouring groups know nothing of each other. */
static int check_apart(struct placement *p, double alone, struct error *err)
{
    size_t *const list = xcalloc(p->sms, sizeof *list);
    size_t before = 0;
    for (int g = 0; g < p->groups && p->why[0] == '\0' && err->code == 0; g++) {
        enum verdict verdict = FREE;
        members(p, g, list);
        if (g > 0 && ask_pair(p, before, list[0], alone, &verdict, err) == 0 &&
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
    free(p->experiment);
    p->experiment = NULL;
}

/* The groups of one operation, as SM `sm` leads to them; none: p->why. */
static int ask_from(struct placement *p, size_t sm, struct error *err)
{
    double alone = 0;
    forget(p);
    if (ask_alone(p, sm, &alone, err) != 0 || scan(p, sm, alone, err) != 0)
        return err->code;
    const size_t size = size_of(p, 0);
    p->lonely = size == 1 && p->why[0] == '\0';
    p->crowded = size > TPC_MOST && p->why[0] == '\0';
    if (p->why[0] != '\0')
        return 0;
    if (size == 1)
        snprintf(p->why, sizeof p->why,
                 "no pair of SMs slows another: the ways to L2 are not shared, "
                 "or not so that loads show it");
    else if (size > TPC_MOST)
        snprintf(p->why, sizeof p->why,
                 "%zu SMs slow each other in pairs: more than a TPC has", size);
    else if (group_others(p, 0, alone, err) == 0)
        check_apart(p, alone, err);
    return err->code;
}

/* A GPU may have an SM that is alone: so from the middle, too.  Of the reasons
 * that stays which tells most. */
static int ask_tpcs(struct placement *p, struct error *err)
{
    char told[sizeof p->why] = "";
    bool lonely = true, crowded = true;
    for (size_t i = 0; i < 2 * OPERATIONS; i++) {
        p->op = operations[i / 2];
        p->pairs = 0;
        if (ask_from(p, i % 2 * p->sms / 2, err) != 0 || p->why[0] == '\0')
            return err->code;
        lonely = lonely && p->lonely;
        crowded = crowded && (p->lonely || p->crowded);
        if (told[0] == '\0' || !p->lonely)
            memcpy(told, p->why, sizeof told);
        i += i % 2 == 0 && !p->lonely;
    }
    memcpy(p->why, told, sizeof told);
    p->lonely = lonely;
    p->crowded = crowded;
    return 0;
}

/* ---- larger groups ----------------------------------------------------- */

/* gains[t × groups + u]: by how much group u gets more without group t. */
static void add_gains(const struct placement *p, int without, const double *all,
                      const double *rates, double *gains)
{
    const size_t groups = (size_t)p->groups;
    double *const own = xcalloc(p->sms, sizeof *own);
    for (int u = 0; u < p->groups; u++) {
        size_t count = 0;
        for (size_t sm = 0; sm < p->sms; sm++)
            if (p->group[sm] == u && u != without)
                own[count++] = rates[sm] / all[sm] - 1;
        gains[(size_t)without * groups + (size_t)u] =
            count > 0 ? stats_median(own, count) : 0;
    }
    free(own);
}

/* Whether all SMs together get less than each would alone. */
static int all_wait(struct placement *p, bool *do_wait, struct error *err)
{
    double alone = 0;
    double *const rates = xcalloc(p->sms, sizeof *rates);
    char set[32];
    snprintf(set, sizeof set, "0-%zu", p->sms - 1);
    if (ask_alone(p, 0, &alone, err) == 0 &&
        measure(p, set, REPEATS, rates, NULL, err) == 0)
        *do_wait = stats_min(rates, p->sms) < slowed_below * alone;
    free(rates);
    return err->code;
}

static int measure_gains(struct placement *p, double *gains, struct error *err)
{
    double *const all = xcalloc(2 * p->sms, sizeof *all);
    double *const rates = all + p->sms;
    bool *const in = xcalloc(p->sms, sizeof *in);
    for (int without = NOBODY; without < p->groups && err->code == 0;
         without++) {
        for (size_t sm = 0; sm < p->sms; sm++)
            in[sm] = p->group[sm] != without;
        char *const set = set_of(in, p->sms);
        const bool first = without == NOBODY;
        if (measure(p, set, first ? REPEATS_DOUBT : REPEATS,
                    first ? all : rates, NULL, err) == 0 &&
            !first)
            add_gains(p, without, all, rates, gains);
        free(set);
    }
    free(in);
    free(all);
    return err->code;
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

/* Who gains much from whom is of one group with it; `larger` gets the numbers.
 * Returns how many there are; 0, and p->why, where gains make no groups. */
static int join(struct placement *p, const double *gains, int *larger)
{
    const size_t n = (size_t)p->groups;
    double most = 0;
    int count = 0;
    for (size_t i = 0; i < n * n; i++)
        most = fmax(most, gains[i]);
    if (most < gain_least) {
        snprintf(p->why, sizeof p->why,
                 "when some SMs do nothing, others get at most %.1f %% more",
                 100 * most);
        return 0;
    }
    for (size_t t = 0; t < n; t++) {
        larger[t] = NOBODY;
        for (size_t u = 0; u < t && larger[t] == NOBODY; u++)
            if (gains[t * n + u] + gains[u * n + t] > most)
                larger[t] = larger[u];
        if (larger[t] == NOBODY)
            larger[t] = count++;
    }
    return count;
}

static size_t first_of(const struct placement *p, int group)
{
    size_t sm = 0;
    while (p->group[sm] != group)
        sm++;
    return sm;
}

/* All of a group gain from each other and from nobody else, clearly; and none
 * is alone, of which nothing was seen. */
static bool is_consistent(struct placement *p, const double *gains,
                          const int *larger, int count)
{
    const size_t n = (size_t)p->groups;
    double least = INFINITY, most = 0;
    for (size_t t = 0; t < n; t++) {
        size_t mates = 0;
        for (size_t u = 0; u < n; u++) {
            const double gain = (gains[t * n + u] + gains[u * n + t]) / 2;
            if (u == t)
                continue;
            if (larger[u] == larger[t]) {
                mates++;
                least = fmin(least, gain);
            } else {
                most = fmax(most, gain);
            }
        }
        if (mates == 0)
            snprintf(p->why, sizeof p->why,
                     "some SMs share with others, but when SM %zu does nothing "
                     "nobody gets more",
                     first_of(p, (int)t));
    }
    if (p->why[0] == '\0' && (count < 2 || least < 2 * fmax(most, 0)))
        snprintf(p->why, sizeof p->why,
                 "SMs that get more when others do nothing do not form groups");
    return p->why[0] == '\0';
}

/* By what others gain; *count is 0 where that tells nothing. */
static int ask_by_gain(struct placement *p, int *of_sm, int *count,
                       struct error *err)
{
    const size_t n = (size_t)p->groups;
    double *const gains = xcalloc(n * n, sizeof *gains);
    int *const larger = xcalloc(n, sizeof *larger);
    p->why[0] = '\0';
    *count = 0;
    bool do_wait = false;
    if (all_wait(p, &do_wait, err) != 0 || !do_wait) {
        snprintf(p->why, sizeof p->why,
                 "all SMs together get as much as each alone");
    } else if (measure_gains(p, gains, err) == 0) {
        *count = join(p, gains, larger);
        if (*count > 0 && (!is_consistent(p, gains, larger, *count) ||
                           may_be_tpcs(p, larger, *count)))
            *count = 0;
        for (size_t sm = 0; sm < p->sms; sm++)
            of_sm[sm] = larger[p->group[sm]];
    }
    free(larger);
    free(gains);
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
        if (measure(p, set, REPEATS, rates, NULL, err) == 0)
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
    for (size_t sm = 0; sm < p->sms; sm++)
        value_push(&value, value_number(of_sm[sm]));
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

static int ask_gpcs(struct placement *p, struct error *err)
{
    int *const of_sm = xcalloc(p->sms, sizeof *of_sm);
    const char *by = "what others get more when some do nothing";
    int count = 0;
    if (ask_both(p, ask_by_gain, of_sm, &count, err) == 0 && count == 0) {
        by = "what SMs with one clock get together";
        ask_both(p, ask_by_clock, of_sm, &count, err);
    }
    if (err->code == 0) {
        struct finding *const f = report(p, "gpc_of_sm", "gpcs", of_sm, count);
        finding_protocol(f, "by", value_text(by));
        if (count > 0)
            compare_clocks(p, of_sm, f);
    }
    free(of_sm);
    return err->code;
}

static void report_none(struct lab *lab, const char *why)
{
    for (size_t i = 0; gives[i] != NULL; i++)
        if (results_find(lab->results, gives[i]) == NULL)
            finding_none(results_add(lab->results, gives[i], lab->study->name),
                         "%s", why);
}

static int ask(struct placement *p, struct error *err)
{
    if (ask_tpcs(p, err) != 0)
        return err->code;
    report_tpcs(p);
    if (p->why[0] == '\0')
        return ask_gpcs(p, err);
    if (p->lonely || p->crowded) {
        each_alone(p);
        return ask_gpcs(p, err);
    }
    snprintf(p->why, sizeof p->why, "it is not known which SMs share a TPC");
    report(p, "gpc_of_sm", "gpcs", p->group, 0);
    return 0;
}

static int run(struct lab *lab, struct error *err)
{
    const int64_t sms = lab->info->value[PROPERTY_SMS];
    const unsigned most = lab_block_warps(lab);
    struct placement p = {.lab = lab,
                          .sms = sms > 0 ? (size_t)sms : 0,
                          .warps = most < WARPS ? most : WARPS};
    if (p.sms < 2) {
        report_none(lab, "there is but one SM, or it is not told how many");
        return 0;
    }
    *err = (struct error){0};
    p.group = xcalloc(p.sms, sizeof *p.group);
    const int status = ask(&p, err);
    free(p.experiment);
    free(p.group);
    if (status == 0 || !lab_excuses(status))
        return status;
    report_none(lab, err->text);
    *err = (struct error){0};
    return 0;
}

const struct study study_placement = {
    .name = "placement",
    .question = "Which SMs share a TPC, and which a GPC?",
    .method =
        "Two SMs read or write L2 as fast as they can; where each gets less "
        "than alone, they share a way to it. One SM is tried with all others, "
        "the groups that follow from it with their members and with the next "
        "group. Then all SMs work but one group: who gets more shared a larger "
        "way with it.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .apart = true,
    .under_load = true,
    .run = run,
};
