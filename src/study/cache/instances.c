/*
 * How many of a cache there are: copies in an SM and which warps use which
 * (Groessler 2022, 4.6), and SMs that have one together.
 *
 * One reader loads lines until they are surely there, whatever makes room, and
 * finds them itself; another one, in another warp or on another SM, looks for
 * them right after: where they cost more than its hits, it has another copy.
 * The same lines once more are a control and must hit; lines that nobody loaded
 * are another and must miss.  Each pair of readers has lines of its own, so
 * that what one looks for does not help the next.  Local memory is a thread's
 * own: there the other reader floods its copy, and the first one sees whether
 * it lost its lines, as it must by such a flood of its own before and after.
 * A flood of one lane's words leaves out lines between them, and of a hashed
 * index half of the sets or more, others than that of another warp; so the
 * first reader's lines are of several lanes, and those of one are enough to
 * lose.
 *
 * Constants that an SM's first cache never held tell of the next one, too: they
 * cost what it takes to find them there if an SM that shares it loaded them.
 */
#include <math.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/cache/first_level.h"
#include "study/lab.h"
#include "study/script.h"

static const char *const of_sm[] = {"l1", "texture", "readonly", "const_l1",
                                    NULL};
/* The read-only path never had a cache to itself. */
static const char *const of_sms[] = {"l1", "texture", "const_l1", "const_l15",
                                     NULL};
static const struct answer answers[] = {
    {of_sm, "per_sm", ""},
    {of_sm, "copy_of_warp", ""},
    {of_sms, "sms_sharing", ""},
    {0},
};

/* Warps that are asked; readers of a script; SMs that are asked one by one. */
enum { WARPS = 16, READERS = 32, SMS_MOST = 512 };
/* Of a pair: lines that are looked for, lines that are new.  They lie so far
 * apart that none of any cache holds two, not by a power of two, lest all be
 * in one set, and all pairs within 64 KiB of constants. */
enum { LINES = 2, APART = 640, PAIR = 2048, TAKES = 8 };

/* Loads that tell, where misses cost little more than hits: one that looks like
 * a hit one time in five does so in two of two 40 times in 1000, in five of six
 * once or twice.  Where they cost much more two are as good. */
enum { SURE = 3 * LINES };

/* Of local memory the lanes whose words no line of 32 B or more shares, in the
 * 128 B that a warp's words take. */
enum { LANES = 4, LANES_APART = 8, LANES_BYTES = 128 };

/* A cache, and by which loads it is asked. */
struct instances_question {
    struct lab *lab;
    const struct level_row *row;
    const struct fact_first_level *first;
    double next; /* cycles up to which a load hits the next cache; 0: none */
    struct finding *per_sm, *copy_of_warp, *sms_sharing, *next_sharing;
    bool uneven; /* a flood in a row left alone what a strewn one did not */
};

/* How many of another reader's lines were not found: in the first cache, and
 * not in the next one either. */
struct seen {
    size_t asked, missed;
    size_t next_asked, next_missed;
};

/* The readers of a script, warps of an SM or, from `sm` on if that is not 0,
 * SM 0 and so many more: those whose copy is not known (-1) are asked what they
 * see of the lines of `base`. */
struct readers {
    size_t count, base, sm;
    int copy[READERS];
    struct seen seen[READERS];
};

/* Neither of two findings, which may be NULL, was measured. */
static void refuse(struct finding *f, struct finding *also, const char *why)
{
    if (f != NULL)
        finding_none(f, "%s", why);
    if (also != NULL)
        finding_none(also, "%s", why);
}

/* So many loads of a reader, over and over, or fewer over as many bytes that
 * are farther apart, and what they push out. */
struct flood {
    uint64_t loads, apart;
    unsigned laps;
    struct first_level_group group;
};

/* ---- one script ------------------------------------------------------- */

static void add_pair(struct script *s, size_t base, size_t other)
{
    const struct segment sought = {other * PAIR, LINES, APART};
    const struct segment fresh = {other * PAIR + LINES * APART, LINES, APART};
    script_part(s);
    script_time(s, other, fresh);
    script_add(
        s, &(struct script_step){.laps = 4, .reader = base, .places = sought});
    script_time(s, base, sought);
    script_add(
        s, &(struct script_step){
               .laps = 2, .reader = other, .timed = true, .places = sought});
}

/* By the lanes of a warp, which are readers from `base` on.  What was loaded
 * once before is the next to go by the time that as many came as are held, but
 * not the first, be ways marked in turns: a flood of less than twice that comes
 * a second time. */
static void add_flood(struct script *s, size_t base, size_t other,
                      const struct flood *flood)
{
    script_part(s);
    for (size_t lane = 0; lane < LANES; lane++)
        first_level_load(s, base + lane, flood->group);
    for (size_t lane = 0; lane < LANES; lane++)
        first_level_time(s, base + lane, flood->group);
    for (unsigned lap = 0; lap < flood->laps; lap++)
        first_level_overfill_by(s, other, flood->loads, flood->apart);
    for (size_t lane = 0; lane < LANES; lane++)
        first_level_time(s, base + lane, flood->group);
}

/* The kept loads of a pair: lines that are new, which bring the other's code
 * near, too; lines by the one that loaded them, by the other that looks for
 * them, and these again. */
enum {
    FRESH,
    OWN = LINES,
    SOUGHT = 2 * LINES,
    AGAIN = 3 * LINES,
    KEPT = 4 * LINES
};

/* Up to what a load of a script hits the first cache, and the next one. */
struct limits {
    double first, next; /* next 0: nothing tells */
    bool clear;         /* misses never look like a hit */
};

/* The cheapest load past L1: others delay loads, they speed none up. */
static double cheapest_of_l2(const struct fact_first_level *n)
{
    return fmin(n->past, n->cold);
}

/* What it costs to find a line in the cache after the first one.  Where no
 * number of loads pushed out what the first one held, as what was hit there may
 * stay whatever comes, rings that miss it tell.  Constants may have a cache
 * there, and where rings did not tell the first one what pushed lines out of it
 * may have done so of both.  0: nothing tells; INFINITY: other loads find L2.
 */
static double next_hit(const struct instances_question *q)
{
    const struct fact_bracket *const b = fact_bracket(q->lab, level_of(q->row));
    const struct fact_first_level *const n = q->first;
    const bool hidden = !q->row->same_data && !q->row->memory_is_own;
    if (hidden && !b->present)
        return 0;
    if (n->beyond > 0)
        return n->beyond;
    if (b->present)
        return n->hit + b->miss - b->hit;
    return q->row->same_data ? INFINITY : 0;
}

/* The least that a load costs that misses: what others loaded is found in the
 * next cache, and not where lines are that are new. */
static double least_miss(const struct instances_question *q)
{
    return fmin(next_hit(q), cheapest_of_l2(q->first));
}

/*
 * A hit costs more where many warps wait for their turn (H200: 10 cycles), so
 * the script's own hits tell, too: what a reader looks for again was loaded
 * just before.  Of these only what may be a hit counts: no load of the next
 * cache makes the limit.  Where hits are cheaper than what the lines of a whole
 * group cost, the cache is too small for a group, and they alone count.  Code
 * that was not there makes a load a few cycles late, the same each time: what
 * is nearer than a quarter to the least of a miss is a hit.  Where a cache may
 * come next that nobody has seen, they alone count, too.
 */
static struct limits limits_of_pairs(const struct instances_question *q,
                                     const double *cycles, size_t pairs)
{
    double own[READERS * LINES], again[READERS * LINES];
    const size_t count = pairs * LINES;
    for (size_t i = 0; i < pairs; i++) {
        memcpy(own + i * LINES, cycles + i * KEPT + OWN, sizeof(double[LINES]));
        memcpy(again + i * LINES, cycles + i * KEPT + AGAIN,
               sizeof(double[LINES]));
    }
    const double hit = stats_median(own, count);
    const double limit = fmax(first_level_limit(q->first, own, count, hit),
                              first_level_limit(q->first, again, count, hit));
    const double miss = least_miss(q);
    if (next_hit(q) <= 0)
        return (struct limits){.first = limit, .next = q->next};
    const double nearer = hit + (miss - hit) / 4;
    struct limits l = {.first = limit};
    if (q->first->hit <= limit)
        l = (struct limits){.first = fmax(fmax(q->first->limit, limit), nearer),
                            .next = q->next};
    /* As far beyond the limit as that is from what most hits cost. */
    l.clear = miss > 2 * l.first - hit;
    return l;
}

/* Counts only what the controls bear out; returns where the next pair's loads
 * are. */
static const double *judge_pair(const struct limits *limit, const double *pair,
                                struct seen *seen)
{
    const double *const fresh = pair + FRESH, *const sought = pair + SOUGHT;
    const size_t missed = hits_above(sought, LINES, limit->first);
    const bool hits = hits_above(pair + AGAIN, LINES, limit->first) == 0 &&
                      hits_above(pair + OWN, LINES, limit->first) == 0;
    if (hits && hits_above(fresh, LINES, limit->first) == LINES) {
        const size_t times = limit->clear ? SURE / LINES : 1;
        seen->asked += times * LINES;
        seen->missed += times * missed;
    }
    /* What is found in the first cache does not tell of the next. */
    if (hits && limit->next > 0 && missed == LINES &&
        hits_above(fresh, LINES, limit->next) == LINES) {
        seen->next_asked += SURE;
        seen->next_missed +=
            SURE / LINES * hits_above(sought, LINES, limit->next);
    }
    return pair + KEPT;
}

/* The kept loads of a flood, before it and after. */
static size_t flood_kept(const struct fact_first_level *n)
{
    return 2 * LANES * n->loads;
}

/* Of a flood: lines that some lane of the first reader lost are in the copy of
 * both.  Returns where the next flood's loads are. */
static const double *judge_flood(const struct instances_question *q,
                                 const double *before, struct seen *seen)
{
    const struct fact_first_level *const n = q->first;
    size_t asked = 0, most = 0;
    for (size_t i = 0; i < LANES * n->loads; i += n->loads) {
        const double *const after = before + LANES * n->loads + i;
        if (hits_tally_of(hits_above(before + i, n->loads, n->limit),
                          n->lines) != TALLY_NONE)
            continue;
        asked++;
        most = u64_max(most, hits_above(after, n->loads, n->limit));
    }
    if (asked == LANES) {
        seen->asked += n->lines;
        seen->missed += most < n->lines ? n->lines - most : 0;
    }
    return before + flood_kept(n);
}

static size_t unknown(const struct readers *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->copy[i] < 0;
    return n;
}

/* By its own flood, the first one and the last, the reader lost its lines. */
static bool floods_do(const struct instances_question *q, const double *cycles,
                      size_t parts)
{
    struct seen own = {0};
    judge_flood(q, cycles, &own);
    judge_flood(q, cycles + (parts - 1) * flood_kept(q->first), &own);
    return own.asked == 2 * q->first->lines && own.missed == 0;
}

static void judge_readers(const struct instances_question *q,
                          const double *cycles, struct readers *r)
{
    const bool floods = q->row->memory_is_own;
    const size_t others = unknown(r);
    if (floods && !floods_do(q, cycles, others + 2))
        return;
    const double *flood = cycles + flood_kept(q->first); /* after its own */
    const struct limits limits =
        floods ? (struct limits){0} : limits_of_pairs(q, cycles, others);
    for (size_t i = 0; i < r->count; i++)
        if (r->copy[i] < 0 && floods)
            flood = judge_flood(q, flood, &r->seen[i]);
        else if (r->copy[i] < 0)
            cycles = judge_pair(&limits, cycles, &r->seen[i]);
}

/* Without a pair whose controls were good nothing is known. */
static enum hits_tally tally_seen(size_t missed, size_t asked)
{
    return asked < SURE ? TALLY_OPEN : hits_tally_of(missed, asked);
}

static bool is_settled(const struct instances_question *q,
                       const struct readers *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct seen *const s = &r->seen[i];
        if (r->copy[i] < 0 &&
            (tally_seen(s->missed, s->asked) == TALLY_OPEN ||
             (q->next > 0 && s->missed > 0 &&
              tally_seen(s->next_missed, s->next_asked) == TALLY_OPEN)))
            return false;
    }
    return true;
}

static struct script script_of(const struct instances_question *q,
                               const struct readers *r)
{
    struct script s = {0};
    for (size_t i = 0; i < r->count; i++)
        if (r->sm > 0)
            script_reader(&s, "%s@0.%zu", q->row->reader,
                          i > 0 ? r->sm + i - 1 : 0);
        else
            script_reader(&s, "%s@%zu", q->row->reader, i);
    for (size_t lane = 0; q->row->memory_is_own && lane < LANES; lane++)
        script_reader(&s, "%s/%zu@%zu", q->row->reader, lane * LANES_APART,
                      r->base);
    return s;
}

static void add_pairs(struct script *s, const struct readers *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->copy[i] < 0)
            add_pair(s, r->base, i);
}

static void add_floods(struct script *s, const struct readers *r,
                       const struct flood *flood)
{
    const size_t lanes = r->count;
    add_flood(s, lanes, r->base, flood);
    for (size_t i = 0; i < r->count; i++)
        if (r->copy[i] < 0)
            add_flood(s, lanes, i, flood);
    add_flood(s, lanes, r->base, flood);
}

static struct flood in_a_row(const struct instances_question *q, unsigned times)
{
    const uint64_t loads = first_level_flood(q->first, q->row, times);
    return (struct flood){.loads = loads,
                          .apart = FIRST_LEVEL_APART,
                          .laps = loads < 2 * q->first->overfill ? 2 : 1,
                          .group = {0, q->first->loads}};
}

/* Over so many bytes, each an odd number of lines from the next. */
enum {
    STREWN_BYTES = 1 << 20,
    STREWN_LOADS = STREWN_BYTES / FIRST_LEVEL_APART
};
/* Of half of the sets, or a quarter, as many lines are pushed out by so many
 * times fewer loads than of all: hence from four times as many on. */
enum { STREWN_TIMES = 4, STREWN_TAKES = 4 };

static struct flood strewn(const struct instances_question *q, unsigned times)
{
    const uint64_t rows = STREWN_LOADS / (times * q->first->overfill);
    return (struct flood){.loads = STREWN_LOADS,
                          .apart = FIRST_LEVEL_APART *
                                   (rows > 0 ? (rows - 1) | 1 : 1),
                          .laps = 1,
                          .group = {0, q->first->loads}};
}

/* By floods, or by pairs where there is none. */
static void ask_once(const struct instances_question *q, struct readers *r,
                     const struct flood *flood, unsigned take)
{
    struct script s = script_of(q, r);
    if (flood != NULL)
        add_floods(&s, r, flood);
    else
        add_pairs(&s, r);
    const struct column v = lab_column(q->lab, "cycles", "visit %s take=%u",
                                       script_text(&s, q->lab), take);
    if (lab_ok(q->lab))
        judge_readers(q, v.at, r);
}

static bool is_left_alone(const struct readers *r, size_t i)
{
    return r->copy[i] < 0 &&
           tally_seen(r->seen[i].missed, r->seen[i].asked) == TALLY_ALL;
}

/*
 * A hashed index may deal the lines of one reader to half of the sets, or
 * fewer, and those of another, which has memory of its own, to others: then a
 * flood leaves alone what is in the same copy.  Lines that are strewn over far
 * more memory come to all sets.  So those that left the lines of `base` alone
 * are asked by such floods; what these say counts.
 */
static void ask_strewn(struct instances_question *q, struct readers *r)
{
    struct readers again = *r;
    for (size_t i = 0; i < r->count; i++)
        if (is_left_alone(r, i))
            again.seen[i] = (struct seen){0};
        else
            again.copy[i] = 0;
    if (unknown(&again) == 0)
        return;
    for (unsigned take = 0; take < STREWN_TAKES && lab_ok(q->lab); take++) {
        const struct flood flood = strewn(q, (unsigned)STREWN_TIMES << take);
        ask_once(q, &again, &flood, take);
        if (is_settled(q, &again))
            break;
    }
    for (size_t i = 0; i < r->count; i++)
        if (again.copy[i] < 0) {
            r->seen[i] = again.seen[i];
            q->uneven = q->uneven ||
                        tally_seen(again.seen[i].missed, again.seen[i].asked) ==
                            TALLY_NONE;
        }
}

/* What of `base` the readers see: asked again as long as it leaves one of them
 * open, by ever larger floods. */
static void ask_others(struct instances_question *q, struct readers *r)
{
    for (unsigned take = 0; take < TAKES && lab_ok(q->lab); take++) {
        const struct flood flood = in_a_row(q, 2u << take);
        ask_once(q, r, q->row->memory_is_own ? &flood : NULL, take);
        if (is_settled(q, r))
            return;
    }
}

/* ---- warps of an SM --------------------------------------------------- */

static void ask_about_warp(struct instances_question *q, size_t base,
                           struct readers *r)
{
    r->base = base;
    memset(r->seen, 0, sizeof r->seen);
    ask_others(q, r);
    if (q->row->memory_is_own)
        ask_strewn(q, r);
}

/* Gives `copy` to all warps that use the one of `base`; false if one of them
 * cannot be told. */
static bool number_warps(const struct instances_question *q, struct readers *r,
                         int copy)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->copy[i] >= 0)
            continue;
        const enum hits_tally missed =
            tally_seen(r->seen[i].missed, r->seen[i].asked);
        if (missed == TALLY_OPEN) {
            refuse(q->per_sm, q->copy_of_warp,
                   lab_text(q->lab, why_copy_untold, i));
            return false;
        }
        if (missed == TALLY_NONE)
            r->copy[i] = copy;
    }
    return true;
}

/* The lowest warp of each of so many copies is asked, too. */
static void ask_firsts(struct readers *r, const size_t *first, int copies)
{
    for (int copy = 0; copy < copies; copy++)
        r->copy[first[copy]] = -1;
}

/* A warp that did not see the lines of the first of each copy has lines that
 * none of these sees, or one of them says nothing: what noise made of a few
 * loads is no copy. */
static bool is_apart(const struct instances_question *q, struct readers *r,
                     size_t base, const size_t *first, int copies)
{
    bool apart = true;
    for (int copy = 0; copy < copies; copy++) {
        const struct seen *const s = &r->seen[first[copy]];
        r->copy[first[copy]] = copy;
        apart = apart && tally_seen(s->missed, s->asked) == TALLY_ALL;
    }
    if (!apart)
        refuse(q->per_sm, q->copy_of_warp,
               lab_text(q->lab, why_copy_untold, base));
    return apart;
}

/* Where no two warps share a copy further ones may have copies, too. */
static void conclude_warps(const struct instances_question *q,
                           const struct readers *r, int copies)
{
    const bool all = (size_t)copies < r->count;
    const enum finding_status status = all ? STATUS_MEASURED : STATUS_AT_LEAST;
    struct value list = value_list();
    for (size_t i = 0; i < r->count; i++)
        value_push(&list, value_number(r->copy[i]));
    finding_value(q->per_sm, status, value_number(copies));
    finding_value(q->copy_of_warp, status, list);
    if (!all) {
        finding_because(q->per_sm, why_warps_asked, r->count);
        finding_because(q->copy_of_warp, why_warps_asked, r->count);
    }
    finding_protocol(q->per_sm, "warps", value_number((double)r->count));
}

/* The lowest warp without a number begins a copy. */
static void ask_warps(struct instances_question *q)
{
    struct readers r = {.count = lab_warps(q->lab, WARPS)};
    size_t first[WARPS];
    int copies = 0;
    for (size_t i = 0; i < r.count; i++)
        r.copy[i] = -1;
    for (size_t i = 0; i < r.count; i++) {
        if (r.copy[i] >= 0)
            continue;
        r.copy[i] = copies;
        ask_firsts(&r, first, copies);
        if (unknown(&r) > 0)
            ask_about_warp(q, i, &r);
        if (!lab_ok(q->lab) || !is_apart(q, &r, i, first, copies) ||
            !number_warps(q, &r, copies))
            return;
        first[copies++] = i;
    }
    conclude_warps(q, &r, copies);
}

/* ---- SMs -------------------------------------------------------------- */

/* How many SMs share, SM 0 among them; those that could not be told. */
struct sharers {
    size_t shared, open, asked;
};

static void count_sharer(struct sharers *s, size_t missed, size_t asked)
{
    const enum hits_tally tally = tally_seen(missed, asked);
    s->asked++;
    s->shared += tally == TALLY_NONE;
    s->open += tally == TALLY_OPEN;
}

/* SMs that are asked beside SM 0 in a script, which has so many readers. */
static size_t sms_at_once(const struct instances_question *q)
{
    return READERS - 1 - (q->row->memory_is_own ? LANES : 0);
}

/* SM 0 and those from `first` on. */
static void ask_some_sms(struct instances_question *q, size_t first, size_t sms,
                         struct sharers *own, struct sharers *next)
{
    struct readers r = {.count = 1 + u64_min(sms - first, sms_at_once(q)),
                        .sm = first};
    for (size_t i = 1; i < r.count; i++)
        r.copy[i] = -1;
    ask_others(q, &r);
    if (q->uneven)
        ask_strewn(q, &r);
    for (size_t i = 1; i < r.count; i++) {
        count_sharer(own, r.seen[i].missed, r.seen[i].asked);
        count_sharer(next, r.seen[i].next_missed, r.seen[i].next_asked);
    }
}

static void conclude_sms(struct finding *f, const struct sharers *s, size_t all)
{
    if (s->open > 0) {
        finding_none(f, why_sms_untold_of, s->open);
        return;
    }
    finding_value(f, s->asked == all ? STATUS_MEASURED : STATUS_AT_LEAST,
                  value_number((double)s->shared));
    if (s->asked < all)
        finding_because(f, why_sms_asked, s->asked, all);
    finding_protocol(f, "sms", value_number((double)s->asked));
}

static void conclude_next(const struct instances_question *q,
                          const struct sharers *own, const struct sharers *next,
                          size_t all)
{
    if (q->next <= 0 && q->first->beyond <= 0)
        finding_none(q->next_sharing, why_next_unseen);
    else if (q->next <= 0)
        finding_none(q->next_sharing,
                     hits_cheaper(q->first->beyond, cheapest_of_l2(q->first))
                         ? why_next_near
                         : why_next_none);
    else if (own->shared > 1)
        finding_none(q->next_sharing, why_next_shared);
    else
        conclude_sms(q->next_sharing, next, all);
}

static void ask_sms(struct instances_question *q)
{
    const size_t all = lab_sms(q->lab), sms = u64_min(all, SMS_MOST);
    struct sharers own = {.shared = 1, .asked = 1}, next = own;
    for (size_t first = 1; lab_ok(q->lab) && first < sms;
         first += sms_at_once(q))
        ask_some_sms(q, first, sms, &own, &next);
    if (!lab_ok(q->lab))
        return;
    conclude_sms(q->sms_sharing, &own, all);
    if (q->next_sharing != NULL)
        conclude_next(q, &own, &next, all);
}

/* ---- all of them ------------------------------------------------------ */

/* True if a cache surely has room for two groups, so that what a flood leaves
 * there is not by chance. */
static bool has_room(const struct instances_question *q)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (strcmp(level_table[i].component, q->row->component) == 0) {
            const uint64_t size = fact_size(q->lab, (enum level_id)i);
            const uint64_t line = fact_sure_line(q->lab, (enum level_id)i);
            const uint64_t lanes =
                line > 0 && line < LANES_BYTES ? LANES_BYTES / line : 1;
            return size == 0 || line == 0 ||
                   size / line >= 2 * lanes * (FIRST_LEVEL_LINES + 1);
        }
    return true;
}

/* Why a cache cannot be asked; NULL if it can.  Where nobody could ask for it
 * at all, what is unknown is who shares it. */
static const char *why_not(const struct instances_question *q,
                           const char *component)
{
    if (!q->first->present)
        return q->first->why[0] != '\0'
                   ? q->first->why
                   : lab_why_unknown(q->lab, component, "shares_with");
    if (q->row->memory_is_own && !has_room(q))
        return why_few_lines;
    if (q->row->memory_is_own && q->first->overfill == 0)
        return why_own_local;
    return NULL;
}

/* Asks; the experiments are evidence of both findings, of which the second may
 * be NULL. */
static void ask_and_cite(struct instances_question *q,
                         void (*ask)(struct instances_question *),
                         struct finding *f, struct finding *also)
{
    lab_cite(q->lab, f);
    if (also != NULL)
        lab_cite(q->lab, also);
    ask(q);
    lab_uncite(q->lab);
    const char *const why = lab_excuse(q->lab);
    if (why != NULL)
        refuse(f, also, why);
}

static void instances_ask(struct instances_question *q)
{
    ask_and_cite(q, ask_warps, q->per_sm, q->copy_of_warp);
    if (q->sms_sharing != NULL)
        ask_and_cite(q, ask_sms, q->sms_sharing, q->next_sharing);
}

/* Where global loads are not cached near, local ones show L1. */
static enum level_id kind_of(const struct lab *lab, enum level_id id)
{
    const struct fact_first_level *const n = fact_first_level(lab, id);
    return id == LEVEL_L1 && !n->present && !n->unclear ? LEVEL_LOCAL : id;
}

/* The least that a line costs that L2 holds.  The cheapest load past L1 is as
 * cheap as L2 ever is: others delay loads, they speed none up.  But of an L2 in
 * two parts all of those may have been far, and constants near.  0: nothing
 * tells. */
static double least_of_l2(const struct lab *lab,
                          const struct fact_first_level *n)
{
    const struct fact_sides *const sides = fact_sides(lab);
    const double least = cheapest_of_l2(n);
    if (sides->parts == 1)
        return least;
    if (sides->parts == 0)
        return assume(ASSUME_L2_NEAREST) * least;
    return sides->hit > 0 ? fmin(least, sides->hit + n->timed) : 0;
}

/*
 * Up to what a load hits the next cache: what L2 holds must cost more, which
 * may be cheap beside what a new line costs, since others that use the GPU push
 * lines out of L2.  Where constants have a longer way to L2, or what pushed
 * lines out of the first cache did so of the next, too, rings that were found
 * to fit the next one tell it, if all of L2 is as far.  0 if nothing does.
 */
static double next_limit(const struct lab *lab,
                         const struct fact_first_level *n)
{
    const struct fact_bracket *const b = fact_bracket(lab, LEVEL_CONST_L15);
    const double l2 = least_of_l2(lab, n), cold = fmin(b->miss, n->cold);
    if (n->beyond > 0 && hits_cheaper(n->beyond, l2))
        return hits_limit(n->beyond, l2);
    const bool tells =
        fact_sides(lab)->parts == 1 && b->present && hits_cheaper(b->hit, cold);
    return tells ? hits_limit(b->hit, cold) : 0;
}

static struct instances_question question_of(struct lab *lab, enum level_id id)
{
    const enum level_id kind = kind_of(lab, id);
    const char *const component = level_table[id].component;
    const struct fact_first_level *const n = fact_first_level(lab, kind);
    struct instances_question q = {
        .lab = lab,
        .row = &level_table[kind],
        .first = n,
        .per_sm = lab_finding(lab, component, "per_sm"),
        .copy_of_warp = lab_finding(lab, component, "copy_of_warp"),
    };
    if (id != LEVEL_READONLY)
        q.sms_sharing = lab_finding(lab, component, "sms_sharing");
    if (id == LEVEL_CONST_L1)
        q.next_sharing = lab_finding(lab, "const_l15", "sms_sharing");
    if (id == LEVEL_CONST_L1)
        q.next = next_limit(lab, n);
    return q;
}

static void instances_run(struct lab *lab)
{
    static const enum level_id asked[] = {
        LEVEL_L1,
        LEVEL_TEXTURE,
        LEVEL_READONLY,
        LEVEL_CONST_L1,
    };
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(asked); i++) {
        struct instances_question q = question_of(lab, asked[i]);
        const char *const why = why_not(&q, level_table[asked[i]].component);
        lab_about(lab, asked[i]);
        if (why == NULL) {
            instances_ask(&q);
            continue;
        }
        refuse(q.per_sm, q.copy_of_warp, why);
        refuse(q.sms_sharing, q.next_sharing, why);
    }
}

const struct study study_instances = {
    .name = "copies",
    .question = "How many of each cache has an SM, and do SMs share one?",
    .method = "What one warp loaded is looked for by the others, on its SM and "
              "on all others; those that find it have the same copy.",
    .reads = FACTS(FACT_BRACKET, FACT_LINE, FACT_RINGS, FACT_FIRST_LEVEL,
                   FACT_SIDES),
    .answers = answers,
    .kernels = TEXTS("visit readers=global.ca@0,global.ca@1",
                     "visit readers=texture@0,texture@1",
                     "visit readers=readonly@0,readonly@1",
                     "visit readers=constant@0,constant@1",
                     "visit readers=global.ca@0.0,global.ca@0.1",
                     "visit readers=texture@0.0,texture@0.1",
                     "visit readers=constant@0.0,constant@0.1"),
    .run = instances_run,
};
