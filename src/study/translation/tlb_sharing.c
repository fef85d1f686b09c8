/*
 * On which SMs loads of many places push the target out of a level that the
 * first SM has it in: those share it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/translation/tlb.h"

/* SMs that one script asks, besides the first; loads beyond which only some
 * SMs are asked, and how many. */
enum { AT_ONCE = 8, LOADS_MOST = 1 << 20, SOME = 12 };

/* Of a large second TLB the set is enough, which comes past the first one each
 * time; unless a victim buffer then has the target, until other sets lose some.
 */
static bool by_set(const struct tlb_question *q, size_t level)
{
    return level == 1 && q->t->tlb[level].spare == 0 &&
           tlb_is_large(q, level) &&
           tlb_conflict_of(q, level, 0)->set.count > 0;
}

/* As many places as push out of the level. */
static uint64_t places_of(const struct tlb_question *q, size_t level)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    return by_set(q, level) ? c->set.count + c->nearer.count
                            : tlb_pool(q, level);
}

/* Whether a TLB before the level may hold most of those: then an SM that has
 * one of its own asks the level for few of them, from its second turn on. */
static bool may_stay_nearer(const struct tlb_question *q, size_t level)
{
    bool may = false;
    for (size_t i = 0; i < level; i++)
        may = may || tlb_pool(q, level) <= 2 * q->t->tlb[i].about;
    return may;
}

static void write_pushers(const struct tlb_question *q, size_t level,
                          size_t reader, struct buf *steps)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    char at[16];
    snprintf(at, sizeof at, "%zu@", reader);
    if (by_set(q, level)) {
        tlb_write_nearer(steps, at, c);
        tlb_write(steps, at, &c->set);
    } else {
        if (may_stay_nearer(q, level))
            tlb_write_nearer(steps, at, c);
        buf_printf(steps, ",%s0:%" PRIu64 ":1", at, tlb_pool(q, level));
    }
}

/* Who loads between, and how often that is gone through; or a single place,
 * which pushes out none. */
struct turns {
    const unsigned *sms;
    unsigned count, laps;
    bool quiet;
    unsigned take;
    bool apart; /* each turn may be run by itself */
};

static void write_turn(const struct tlb_question *q, size_t level,
                       size_t reader, const struct turns *t, struct buf *steps)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    const char *const mark = t->apart ? ";" : ",";
    const bool quiet = t->quiet;
    /* The first load that is kept finds its code cold. */
    buf_printf(steps, "%s0@%s%" PRIu32 ":1:0", steps->length > 0 ? mark : "",
               t->apart ? "!" : "", c->target);
    if (quiet)
        buf_printf(steps, ",%zu@0:1:0", reader);
    else
        write_pushers(q, level, reader, steps);
    tlb_write_nearer(steps, "0@", c);
    buf_printf(steps, ",0@!%" PRIu32 ":1:0", c->target);
}

/* Each in turn twice: a load between turns meets the caches' clock at a phase
 * that goes by whether its turn is odd (H200: 291 or 296 cycles, where a miss
 * costs 10). */
enum { TWICE = 2 };

/* Steps of one SM's turns, at most. */
static size_t steps_of_turns(const struct tlb_question *q, size_t level)
{
    const struct tlb_conflict *const c = tlb_conflict_of(q, level, 0);
    return TWICE * (3 + 2 * tlb_steps_of(c) + c->set.count);
}

/* So many SMs as one script has room for: what pushes out of nearer levels is
 * many steps where it lies in no row. */
static unsigned at_once(const struct tlb_question *q, size_t level)
{
    const size_t laps = tlb_laps(q, level);
    const unsigned room =
        tlb_room(q, laps * steps_of_turns(q, level), laps * TWICE);
    return (unsigned)u64_within(1, room, AT_ONCE);
}

/* SMs that wait for each other look at a word in memory whose turn it is: where
 * pages have windows at one in that of the places, of a mapping that is not
 * asked about, so that none leaves it. */
static uint32_t turn_of(const struct tlb_question *q, size_t level)
{
    const uint32_t last = tlb_target(q, TLB_TARGETS_MOST - 1),
                   other = tlb_target(q, TLB_TARGETS_MOST - 2);
    if (q->window == 0)
        return 0;
    return 1 + (tlb_conflict_of(q, level, 0)->target == last ? other : last);
}

static struct column ask_turns(struct tlb_question *q, size_t level,
                               const struct turns *t)
{
    struct buf steps = {0}, readers = {0};
    buf_text(&readers, "global.cg@0.0");
    for (unsigned i = 0; i < t->count; i++) {
        buf_printf(&readers, ",global.cg@0.%u", t->sms[i]);
        for (unsigned turn = 0; turn < TWICE; turn++)
            write_turn(q, level, i + 1, t, &steps);
    }
    const struct column c =
        tlb_ask(q, &q->t->places, buf_string(&steps),
                "readers=%s rounds=%u take=%u turn=%" PRIu32,
                buf_string(&readers), t->laps, t->take, turn_of(q, level));
    buf_free(&steps);
    buf_free(&readers);
    return c;
}

/* Lap by lap, each turn in a launch of its own if need be: each of them begins
 * with the target. */
static struct column ask_turns_apart(struct tlb_question *q, size_t level,
                                     const struct turns *t)
{
    const size_t each = TWICE * t->count;
    struct column all = {.at =
                             lab_alloc(q->lab, each * t->laps, sizeof *all.at)};
    for (unsigned lap = 0; lab_ok(q->lab) && lap < t->laps; lap++) {
        struct turns one = *t;
        one.laps = 1;
        one.take = t->take * t->laps + lap;
        one.apart = true;
        const struct column c = ask_turns(q, level, &one);
        for (size_t i = 0; c.count == 2 * each && i < each; i++)
            all.at[all.count++] = c.at[2 * i + 1];
    }
    return all;
}

/* Where all of it takes longer than another process leaves us, apart: so from
 * then on. */
static struct column ask_turns_anyhow(struct tlb_question *q, size_t level,
                                      const struct turns *t)
{
    struct column c = {0};
    if (!q->apart) {
        lab_spare(q->lab, true);
        c = ask_turns(q, level, t);
        q->apart = lab_spared(q->lab) != NULL;
    }
    return q->apart ? ask_turns_apart(q, level, t) : c;
}

/* Of an SM's turns those after which the target missed. */
struct missed {
    size_t turns, of;
};

static double missed_share(const struct missed *m)
{
    return (double)m->turns / (double)u64_max(m->of, 1);
}

/* Of victims by chance the target may stay in a nearer TLB, however much is
 * loaded to push it out.  Then it does not come here, and tells nothing. */
static bool came_here(const struct tlb_question *q, size_t level, double cycles)
{
    return level == 0 || cycles > q->t->tlb[level - 1].middle;
}

static void count_missed(const struct tlb_question *q, size_t level,
                         const struct column *c, size_t sms,
                         struct missed *missed)
{
    for (size_t i = 0; i < c->count; i++) {
        struct missed *const m = &missed[i % (TWICE * sms) / TWICE];
        if (!came_here(q, level, c->at[i]))
            continue;
        m->turns += c->at[i] > q->t->tlb[level].middle;
        m->of++;
    }
}

/* What the target cost after one turn of each lap, from a hit (0) to a miss
 * (1); some may miss the next TLB, too, which tells no more.  NAN: it never
 * came. */
static double share_of_turn(const struct tlb_question *q, size_t level,
                            const double *at, size_t laps, size_t stride)
{
    double *const came = xcalloc(laps, sizeof *came);
    size_t count = 0;
    for (size_t lap = 0; lap < laps; lap++)
        if (came_here(q, level, at[lap * stride]))
            came[count++] = at[lap * stride];
    const double share =
        count > 0 ? fmin(tlb_share(q, level, came, count, 1), 1) : NAN;
    free(came);
    return share;
}

/* The mean of both turns, or what one tells; half if none does. */
static double share_of_turns(const struct tlb_question *q, size_t level,
                             const double *at, size_t laps, size_t stride)
{
    double sum = 0;
    size_t told = 0;
    for (size_t turn = 0; turn < TWICE; turn++) {
        const double share = share_of_turn(q, level, at + turn, laps, stride);
        sum += isnan(share) ? 0 : share;
        told += isnan(share) ? 0 : 1;
    }
    return told > 0 ? sum / (double)told : 0.5;
}

/* What the target cost after each one's turns; adds how often it missed. */
static void ask_some(struct tlb_question *q, size_t level,
                     const struct turns *t, double *share,
                     struct missed *missed)
{
    const size_t all = TWICE * t->count;
    const struct column c = ask_turns_anyhow(q, level, t);
    count_missed(q, level, &c, t->count, missed);
    for (size_t i = 0; i < t->count; i++)
        share[i] =
            c.count == all * t->laps
                ? share_of_turns(q, level, c.at + TWICE * i, t->laps, all)
                : 0.5;
}

/* What that is if the target stays, and if it does not, and how often it is
 * missed then: as the first SM itself has it. */
struct ends {
    double stays, goes;
    double missed, pushed;
};

static double typical_share(struct tlb_question *q, size_t level, bool quiet,
                            double *missed_of)
{
    static const unsigned self[AT_ONCE];
    const unsigned some = at_once(q, level);
    double share[AT_ONCE];
    struct missed missed[AT_ONCE] = {0}, all = {0};
    for (unsigned i = 0; i < AT_ONCE; i += some) {
        const struct turns t = {.sms = self,
                                .count = (unsigned)u64_min(AT_ONCE - i, some),
                                .laps = tlb_laps(q, level),
                                .quiet = quiet,
                                .take = i};
        ask_some(q, level, &t, share + i, missed + i);
    }
    for (unsigned i = 0; i < AT_ONCE; i++)
        all =
            (struct missed){all.turns + missed[i].turns, all.of + missed[i].of};
    *missed_of = missed_share(&all);
    return stats_trimmed_mean(share, AT_ONCE, 0.25);
}

/* Neither as a hit nor as a miss: what phases leave is up to a third of what
 * that costs. */
static bool is_between(double share)
{
    return share > 0.375 && share < 0.625;
}

/* Nearer to a miss. */
static bool is_miss(double share)
{
    return share > 0.5;
}

static void ask_between(struct tlb_question *q, size_t level,
                        const struct turns *t, const struct ends *e,
                        double *share, struct missed *missed)
{
    ask_some(q, level, t, share, missed);
    for (unsigned i = 0; i < t->count; i++)
        share[i] = (share[i] - e->stays) / (e->goes - e->stays);
}

/* Where it seems to share it, or may, three times as many laps decide; or one
 * more load, where of single loads hardly any is late and none of the target's
 * set stays by chance. */
static bool is_shared_by(struct tlb_question *q, size_t level, unsigned sm,
                         const struct ends *e, struct missed *missed)
{
    const unsigned laps = tlb_laps(q, level);
    const unsigned more =
        laps == 1 && !q->t->tlb[level].chance
            ? 1
            : (unsigned)u64_within(
                  1, 3 * laps, tlb_room(q, steps_of_turns(q, level), TWICE));
    const struct turns t = {.sms = &sm, .count = 1, .laps = more};
    double share;
    ask_between(q, level, &t, e, &share, missed);
    q->unclear |= is_between(share);
    return is_miss(share);
}

/* It is what these SMs load that pushes the target out, and not that they take
 * turns with the first: then a single place of theirs leaves it where it is. */
static void doubt_turns(struct tlb_question *q, size_t level,
                        const unsigned *sms, unsigned count,
                        const struct ends *e)
{
    const struct turns t = {
        .sms = sms, .count = count, .laps = tlb_laps(q, level), .quiet = true};
    double share[AT_ONCE];
    struct missed missed[AT_ONCE] = {0};
    if (count == 0 || !lab_ok(q->lab))
        return;
    ask_between(q, level, &t, e, share, missed);
    const double typical = stats_median(share, count);
    q->unclear |= is_between(typical) || is_miss(typical);
}

/* Loads may be late, so those that seem to share it are asked again, all at
 * once: of five loads three are late by chance once in 900 times where one in
 * twenty is, and a GPU has a hundred SMs. */
static void ask_again(struct tlb_question *q, size_t level,
                      const struct turns *t, const struct ends *e,
                      double *share, struct missed *missed)
{
    unsigned sms[AT_ONCE], count = 0;
    double again[AT_ONCE];
    struct missed then[AT_ONCE] = {0};
    for (unsigned i = 0; i < t->count; i++)
        if (is_miss(share[i]))
            sms[count++] = t->sms[i];
    if (count == 0 || t->laps == 1)
        return;
    const struct turns some = {.sms = sms,
                               .count = count,
                               .laps = t->laps,
                               .quiet = t->quiet,
                               .take = 1};
    ask_between(q, level, &some, e, again, then);
    for (unsigned i = 0, at = 0; i < t->count; i++)
        if (is_miss(share[i])) {
            share[i] = fmin(share[i], again[at]);
            missed[i].turns += then[at].turns;
            missed[i].of += then[at++].of;
        }
}

/* Of a set that is not known, or whose victims are of chance, what pushes out
 * of nearer levels may push the target out, too, every third time or every
 * other, and in most of an SM's few turns as chance has it.  One that shares it
 * does so each time, as the first SM does; what lies beyond half-way from what
 * happens anyhow to that is one or the other. */
static bool pushes_each_time(struct tlb_question *q, size_t level,
                             const struct ends *e, const struct missed *missed)
{
    if (!q->t->tlb[level].chance && tlb_conflict_of(q, level, 0)->set.count > 0)
        return true;
    const double share =
        (missed_share(missed) - e->missed) / (e->pushed - e->missed);
    if (e->pushed - e->missed < 0.5 || (share > 0.5 && share < 0.75))
        q->unclear = true;
    return share > 0.5;
}

static void show_sm(const struct tlb_question *q, size_t level, unsigned sm,
                    bool shares)
{
    static const struct curve_kind by_sm = {"shares it", "sm", "", ""};
    lab_point(q->lab, tlb_components[level], "sms_sharing", &by_sm,
              (struct curve_seen){sm, shares, q->experiment});
}

/* How many of the SMs push the target out. */
static uint64_t ask_few(struct tlb_question *q, size_t level,
                        const unsigned *sms, unsigned count,
                        const struct ends *e)
{
    const unsigned laps = tlb_laps(q, level);
    const struct turns t = {.sms = sms, .count = count, .laps = laps};
    double share[AT_ONCE];
    unsigned sharing[AT_ONCE], shared = 0;
    struct missed missed[AT_ONCE] = {0};
    ask_between(q, level, &t, e, share, missed);
    ask_again(q, level, &t, e, share, missed);
    for (unsigned i = 0; lab_ok(q->lab) && i < count; i++) {
        const bool seems =
            is_between(share[i]) || (laps == 1 && is_miss(share[i]))
                ? is_shared_by(q, level, sms[i], e, &missed[i])
                : is_miss(share[i]);
        const bool shares = seems && pushes_each_time(q, level, e, &missed[i]);
        show_sm(q, level, sms[i], shares);
        if (shares)
            sharing[shared++] = sms[i];
    }
    doubt_turns(q, level, sharing, shared, e);
    log_say(LOG_DEBUG, "tlb_l%zu: %u of %u SMs from SM %u on share it",
            level + 1, shared, count, sms[0]);
    return shared;
}

/* True if what an SM's turns cost, a hit, is taken for no miss (more than 5/8)
 * by chance: five deviations. */
static bool noise_hides(const struct tlb_question *q, size_t level)
{
    const double error = q->sigma / sqrt(TWICE * tlb_laps(q, level));
    return 8 * error > q->miss[level] - q->hit[level];
}

/* Why it cannot be asked, or NULL.  A target that a nearer TLB still has does
 * not come here, whoever may have pushed it out.  The first SM must push it out
 * itself, or nobody is seen to. */
static const char *why_not(struct tlb_question *q, size_t level, struct ends *e)
{
    if (level > 0 && tlb_conflict_of(q, level, 0)->nearer.count == 0)
        return why_tlb_nearer;
    if (noise_hides(q, level))
        return why_tlb_unclear;
    e->goes = typical_share(q, level, false, &e->pushed);
    e->stays = typical_share(q, level, true, &e->missed);
    const double stays =
        q->hit[level] + e->stays * (q->miss[level] - q->hit[level]);
    return is_miss(e->goes - e->stays) &&
                   (level == 0 || stays > q->t->tlb[level - 1].middle)
               ? NULL
               : why_tlb_nearer;
}

static void report(struct tlb_question *q, size_t level, uint64_t sharing,
                   unsigned asked)
{
    const unsigned sms = lab_sms(q->lab);
    if (q->unclear)
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why_tlb_unclear);
    else if (asked == sms - 1 || sharing == 0)
        tlb_found(q, level, TLB_SMS_SHARING, (double)(1 + sharing));
    else if (sharing == asked)
        tlb_found(q, level, TLB_SMS_SHARING, (double)sms);
    else
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING,
                 why_tlb_some_share);
}

void tlb_find_sharing(struct tlb_question *q, size_t level)
{
    const unsigned sms = lab_sms(q->lab);
    const bool all = sms * places_of(q, level) < LOADS_MOST;
    const unsigned asked = all || sms < SOME ? sms - 1 : SOME;
    unsigned *const list = lab_alloc(q->lab, asked + 1, sizeof *list);
    uint64_t sharing = 0;
    q->unclear = q->apart = false;
    struct ends e;
    const char *const why = why_not(q, level, &e);
    if (!lab_ok(q->lab))
        return; /* that is why */
    if (why != NULL) {
        tlb_none(q, level, TLB_SMS_SHARING, TLB_SMS_SHARING, why);
        return;
    }
    for (unsigned i = 0; i < asked; i++)
        list[i] = 1 + (unsigned)((uint64_t)i * (sms - 1) / asked);
    const unsigned some = at_once(q, level);
    for (unsigned i = 0; lab_ok(q->lab) && i < asked; i += some)
        sharing +=
            ask_few(q, level, list + i, (unsigned)u64_min(asked - i, some), &e);
    if (lab_ok(q->lab))
        report(q, level, sharing, asked);
}
