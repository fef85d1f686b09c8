/*
 * How each cache is built: sets, ways, which address bits choose the set, and
 * which line makes room (Mei 2014, 3.2 (3) and (4); the sets are found without
 * knowing the policy, see geometry.c, and the policy then by replaying measured
 * loads on models of each, see analysis/structure/policy.h).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/statistics/rate_test.h"
#include "analysis/statistics/undisturbed.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/cache/geometry.h"
#include "study/l2/homes.h"

/* Where the lines of all sets are known, so is the size; and the line, where
 * there was too little room to tell it. */
static const struct answer proposes[] = {
    {level_components, "size", "B"},
    {level_components, "line", "B"},
    {0},
};
static const struct answer answers[] = {
    {level_components, "sets", ""},
    {level_components, "ways", ""},
    {level_components, "set_ways", ""},
    {level_components, "set_bits", ""},
    {level_components, "slice_modulo", ""},
    {level_components, "policy", ""},
    {level_components, "policy_weights", ""},
    {0},
};

struct structure_question {
    struct lab *lab;
    const struct level_row *row;
    const struct fact_bracket *facts;
    uint64_t line;
    bool open;    /* no study before could tell the line … */
    bool shorter; /* … and it may be shorter than what is asked for at once */
    unsigned parts; /* of the cache */
    struct eviction eviction;
    struct geometry shape;
    double base; /* what a hit costs among lines of a set */
    struct finding *policy;
};

static void refuse(const struct structure_question *q, const char *attribute,
                   const char *why)
{
    const char *const pattern =
        lab_text(q->lab, "%s.%s", q->row->component, attribute);
    lab_refuse(q->lab, pattern, "%s", why);
    lab_cite_none(q->lab, pattern, q->eviction.fits);
    lab_cite_none(q->lab, pattern, q->eviction.overflows);
}

/* There is none of this: sets chosen by a modulus have no index bits. */
static void drop(struct structure_question *q, const char *attribute)
{
    lab_absent(q->lab, q->row->component, attribute);
}

/* What shows a set: lines of it that stay, and one too many. */
static void cite_set(const struct structure_question *q, struct finding *f)
{
    finding_cite(f, q->eviction.fits);
    finding_cite(f, q->eviction.overflows);
}

static void tell(const struct structure_question *q, struct finding *f,
                 struct value value)
{
    finding_value(f, STATUS_MEASURED, value);
    cite_set(q, f);
}

static void report(struct structure_question *q, const char *attribute,
                   struct value value)
{
    tell(q, lab_finding(q->lab, q->row->component, attribute), value);
}

/* ---- the shape -------------------------------------------------------- */

static void report_ways(struct structure_question *q)
{
    const struct geometry *const g = &q->shape;
    if (g->index != GEOMETRY_UNEQUAL) {
        report(q, "ways", value_number((double)g->ways));
        drop(q, "set_ways");
        return;
    }
    struct value list = value_list();
    for (uint64_t i = 0; i < g->sets; i++)
        value_push(&list, value_number(g->set_ways[i]));
    drop(q, "ways");
    report(q, "set_ways", list);
}

/* Of numbers of lines at home the address bits: the lowest bit that tells homes
 * is none of theirs. */
static uint64_t address_bits(const struct structure_question *q, uint64_t mask)
{
    const uint64_t home = q->parts == 2 ? fact_sides(q->lab)->bits : 0;
    const uint64_t below = (home & -home) - 1;
    return home == 0 ? mask : (mask & below) | (mask & ~below) << 1;
}

/* One address bit as its number, several that are XORed as a list. */
static struct value bits_value(uint64_t mask)
{
    return (mask & (mask - 1)) == 0 ? value_number(__builtin_ctzll(mask))
                                    : value_bits(mask);
}

static struct finding *report_bits(struct structure_question *q)
{
    const struct geometry *const g = &q->shape;
    const unsigned bits = geometry_bits(g);
    if (bits == 0) {
        drop(q, "set_bits");
        return NULL;
    }
    struct value list = value_list();
    for (unsigned i = 0; i < bits; i++)
        value_push(&list, bits_value(address_bits(q, g->bits[i])));
    struct finding *const f =
        lab_finding(q->lab, q->row->component, "set_bits");
    tell(q, f, list);
    finding_protocol(
        f, "bits_below",
        value_number(63 - __builtin_clzll(address_bits(q, g->range))));
    if (g->mapped)
        finding_protocol(f, "address",
                         value_text(g->is_virtual ? "virtual" : "physical"));
    return f;
}

static void report_modulo(struct structure_question *q)
{
    const struct geometry *const g = &q->shape;
    if (g->modulo < 2) {
        drop(q, "slice_modulo");
        return;
    }
    struct finding *const f =
        lab_finding(q->lab, q->row->component, "slice_modulo");
    tell(q, f, value_number((double)g->modulo));
    finding_protocol(f, "from_bit", value_number(g->from_bit));
}

static void propose_size(struct structure_question *q)
{
    const double size = (double)(q->parts * q->shape.lines * q->line);
    struct finding *const f = lab_finding(q->lab, q->row->component, "size");
    finding_measured(f, size);
    finding_interval(f, size, size, -1);
}

/* Of lines that may be shorter: where several come at once there are as many
 * more, in one set or in several. */
static void bound_below(const struct structure_question *q, struct finding *f)
{
    f->status = STATUS_AT_LEAST;
    lab_because_short(f, q->row);
}

static void report_at_least(struct structure_question *q, const char *attribute,
                            uint64_t number)
{
    struct finding *const f = lab_finding(q->lab, q->row->component, attribute);
    tell(q, f, value_number((double)number));
    bound_below(q, f);
}

/* What comes at once comes to one set or, if bits within it choose one, to the
 * same few: XORs that are the same for all that push each other out are those
 * of the index that these bits have no part in, be lines as short as they may.
 */
static void report_short(struct structure_question *q)
{
    report_at_least(q, "ways", q->shape.ways);
    report_at_least(q, "sets", q->shape.sets);
    drop(q, "set_ways");
    if (q->shape.index == GEOMETRY_BITS && q->shape.sets > 1)
        bound_below(q, report_bits(q));
    refuse(q, "s*", lab_why_unknown(q->lab, q->row->component, "line"));
}

static void propose_line(struct structure_question *q)
{
    struct finding *const f = lab_finding(q->lab, q->row->component, "line");
    finding_measured(f, (double)q->line);
    finding_interval(f, (double)q->line, (double)q->line, -1);
    finding_cite(f, q->eviction.fits);
    finding_cite(f, q->eviction.overflows);
}

/* What is left of lines in random order; NULL: it is not known. */
static const struct finding *held_of(const struct structure_question *q)
{
    const struct finding *const held =
        lab_proposal(q->lab, "overfill", q->row->component, "size");
    return held != NULL && held->status == STATUS_MEASURED ? held : NULL;
}

/* It is as much as the sets have lines. */
static bool is_held(const struct structure_question *q)
{
    const struct finding *const held = held_of(q);
    const double size = (double)(q->parts * q->shape.lines * q->line);
    return held != NULL && held->interval[0] <= size &&
           size <= held->interval[1];
}

/* Lines that push each other out: the first, and as many others as its set has
 * ways. */
static void show_set(const struct structure_question *q)
{
    static const struct curve_kind members = {"conflict set", "member", "",
                                              "B"};
    const struct script_lines *const set = &q->shape.set;
    for (size_t i = 0; q->eviction.strewn == 0 && i < set->count; i++)
        lab_point(q->lab, q->row->component, "ways", &members,
                  (struct curve_seen){(double)i, (double)set->at[i],
                                      q->eviction.overflows});
}

/*
 * Rings may end before a cache is full, where an index deals lines in a row
 * unevenly.  Where its sets have more lines than these say, and no more than
 * what is left of lines in random order: of an L1 that has tags for 256 KiB and
 * room for 241 (H200) that may be so, too, so it counts for one line more; or
 * if as many lines as fill all sets are there at once.
 */
static bool is_room_for_more(struct structure_question *q,
                             const struct geometry_lines *lines)
{
    const bool first = q->row->of_sm && q->row->behind == LEVEL_COUNT;
    const uint64_t more = q->shape.lines - lines->most;
    return q->shape.lines > lines->most && is_held(q) &&
           (more == 1 || (first && geometry_has_room(&q->eviction, &q->shape)));
}

/* Sets and ways may name more lines than there is room for data. */
static void report_shape(struct structure_question *q,
                         const struct geometry_lines *lines)
{
    const struct geometry *const g = &q->shape;
    report_ways(q);
    show_set(q);
    report(q, "sets", value_number((double)(q->parts * g->sets)));
    report_bits(q);
    report_modulo(q);
    const bool near = g->lines >= lines->least && g->lines <= lines->most;
    if (near || is_room_for_more(q, lines))
        propose_size(q);
}

/* Of a cache in two parts what the near one holds; NULL: it is not known. */
static const struct finding *near_size(const struct structure_question *q)
{
    const struct finding *const f =
        q->parts == 2 ? lab_found(q->lab, "l2", "near_size") : NULL;
    return f != NULL && f->has_interval ? f : NULL;
}

/* Sets of which nothing tells the lines, but how many find room in both parts:
 * by what each holds, which may differ by what its policy keeps. */
static void report_room(struct structure_question *q)
{
    const struct finding *const held = held_of(q);
    const struct finding *const room = held != NULL ? held : near_size(q);
    const double bytes = (double)(q->shape.ways * q->line) /
                         (held != NULL ? 1 : q->parts); /* of a set */
    struct finding *const f = lab_finding(q->lab, q->row->component, "sets");
    report_ways(q);
    tell(q, f, value_number(round(room->value.number / bytes)));
    finding_interval(f, room->interval[0] / bytes, room->interval[1] / bytes,
                     -1);
    finding_value(f, STATUS_IN_DOUBT, value_number(f->value.number));
    finding_because(f, why_sets_by_room);
    refuse(q, "set_bits", why_index_strewn);
    refuse(q, "slice_modulo", why_index_strewn);
}

/* ---- who is the victim ------------------------------------------------ */

/* Loads of one launch: few, since a load that is disturbed ends what can be
 * followed; and ways of which shares are told apart. */
enum {
    FOLLOWED = 250,
    FOLLOWED_LASTING = 1500, /* unevenness shows in long sequences only */
    VICTIMS_LEAST = 3000,
    VICTIMS_LASTING = 12000,
    WAYS_WEIGHED = 32,
    LAUNCHES_MOST = 1000,
    LAUNCHES_UNEVEN = 4000,
    EARLY = 4, /* a launch's first part is a quarter of it */
};

/* Who was the victim, over all launches.  In a cache that lasts ways have other
 * names in each, and only the unevenness can be summed. */
struct weighing {
    uint32_t ways;
    size_t victims[WAYS_WEIGHED], found, launches;
    size_t early[WAYS_WEIGHED], early_found; /* in the first loads of each */
    /* Of each line; of all. */
    size_t loads[WAYS_WEIGHED + 1], unknown[WAYS_WEIGHED + 1];
    size_t all_loads, all_unknown, all_misses;
    double unevenness;
};

/* Deviations that chance does not leave of even shares. */
enum { UNEVEN = 7 };

/* As well as a share is to be known. */
static const double share_doubt = 0.02;

/* As many loads as the clock could not tell were disturbed to look like misses,
 * of which one load in five or fewer is one. */
static double disturbed_shares(const struct weighing *w)
{
    return w->all_loads == 0
               ? 0
               : 5 * (double)w->all_unknown / (double)w->all_loads;
}

/* Victims until the largest share is so, by 5.5 deviations; and two deviations
 * of a share of a half are what disturbances leave of the doubt, where they
 * leave a quarter. */
static size_t victims_wanted(const struct weighing *w, bool lasting)
{
    if (lasting)
        return VICTIMS_LASTING;
    double most = 0;
    for (uint32_t i = 0; i < w->ways; i++)
        most = fmax(most, (double)w->victims[i] / (double)(w->found + 1));
    const double left = share_doubt - disturbed_shares(w);
    const double known = most * (1 - most) * pow(5.5 / share_doubt, 2);
    /* (2 / left)^2 / 4, and a tenth more. */
    const double clear =
        4 * left > share_doubt ? 1.1 / (left * left) : VICTIMS_LEAST;
    return (size_t)fmax(fmax(known, clear), VICTIMS_LEAST);
}

static void add_launch(struct weighing *w, const struct policy_load *loads,
                       size_t count)
{
    size_t here[WAYS_WEIGHED];
    const size_t found = policy_victims(loads, count, w->ways, here);
    size_t early[WAYS_WEIGHED];
    w->early_found += policy_victims(loads, count / EARLY, w->ways, early);
    /* The first loads of a launch cost what they cost. */
    for (size_t i = w->ways + 1; i < count; i++) {
        const bool unknown = loads[i].outcome == LOAD_UNKNOWN;
        w->loads[loads[i].line]++;
        w->unknown[loads[i].line] += unknown;
        w->all_loads++;
        w->all_unknown += unknown;
        w->all_misses += loads[i].outcome == LOAD_MISS;
    }
    w->found += found;
    w->launches += found > 0;
    w->unevenness += policy_unevenness(here, w->ways, found);
    for (uint32_t i = 0; i < w->ways; i++) {
        w->victims[i] += here[i];
        w->early[i] += early[i];
    }
}

/* Deviations from even shares. */
static double deviations(const struct weighing *w)
{
    return w->launches == 0 ? 0
                            : w->unevenness / sqrt(2.0 * (w->ways - 1) *
                                                   (double)w->launches);
}

/* More launches than most need, where shares differ, so that they are to be
 * told, and loads that the clock cannot tell end many a launch early. */
static unsigned launches_most(const struct weighing *w, bool lasting)
{
    struct weighing all = *w;
    all.unevenness = policy_unevenness(w->victims, w->ways, w->found);
    all.launches = 1;
    return !lasting && w->found > 0 && deviations(&all) > UNEVEN
               ? LAUNCHES_UNEVEN
               : LAUNCHES_MOST;
}

static struct weighing weigh(struct structure_question *q)
{
    const bool lasting = q->eviction.lasting;
    struct weighing w = {.ways = (uint32_t)q->shape.ways};
    struct eviction_draws draws = {
        .list = q->shape.set,
        .base = q->base,
        .stays = true,
        .visits =
            u64_min(lasting ? FOLLOWED_LASTING : FOLLOWED,
                    eviction_draws_most(&q->eviction) - 2 * q->shape.set.count),
    };
    struct policy_load *const loads =
        lab_alloc(q->lab, draws.visits + draws.list.count, sizeof *loads);
    for (draws.take = 1;
         lab_ok(q->lab) && draws.take < launches_most(&w, lasting) &&
         w.found < victims_wanted(&w, lasting);
         draws.take++) {
        const size_t count = eviction_draw(&q->eviction, &draws, loads);
        if (lab_ok(q->lab))
            add_launch(&w, loads, count);
    }
    if (!lasting) {
        w.unevenness = policy_unevenness(w.victims, w.ways, w.found);
        w.launches = 1;
    }
    return w;
}

/* True if the clock could not tell some line's loads far more often than those
 * of others, by less than a chance in a million: what is lost then is not lost
 * by chance, and shares are skewed. */
static bool is_skewed(const struct weighing *w)
{
    for (uint32_t i = 0; i <= w->ways; i++)
        if (rate_test_more(w->unknown[i], w->loads[i],
                           w->all_unknown - w->unknown[i],
                           w->all_loads - w->loads[i], 1e-6))
            return true;
    return false;
}

/* One line more than its ways is all that a set lacks, so that as many of all
 * loads miss, whatever the shares.  Where what comes at once are lines of two
 * sets each lacks another, but by chance, and no victim is one way's: half-way
 * between. */
static bool is_one_set(const struct structure_question *q,
                       const struct weighing *w)
{
    const double one = 1 / (double)(w->ways + 1);
    const double two = 1 - (1 - one) * (1 - one);
    const double told = (double)(w->all_loads - w->all_unknown);
    return (double)w->all_misses <=
           ((one + two) / 2 + q->eviction.disturbed) * told;
}

/* Whether ways that are followed stay those that they were: else victims are
 * evener the longer a launch goes on, and shares come out too even.  They may
 * be a fifth less uneven than the first, of which that is known to three
 * deviations. */
static bool keep_names(const struct weighing *w)
{
    const double first = policy_unevenness(w->early, w->ways, w->early_found);
    const double error = 3 * sqrt(2.0 * (w->ways - 1) + 4 * fmax(first, 0));
    return w->unevenness * (double)w->early_found >=
           (0.8 * first - error) * (double)w->found;
}

/* ---- the policy ------------------------------------------------------- */

/* Fewer loads than a script holds; and enough over all takes that the chance
 * of a line to be hit again is met often.  A set of few ways is asked by
 * shorter scripts, which leave an L1 as it is (SHARED_LEAN). */
enum {
    DRAWS_LEAST = 400,
    DRAWS_MOST = 1200,
    TAKES = 3,
    FEW_LINES = 30,
    DRAWS_LEAN = 240,
    TAKES_LEAN = 5
};

struct policy_loads {
    struct policy_load *at;
    size_t count;
};

static struct eviction_draws draws_of(const struct structure_question *q,
                                      const struct script_lines *list,
                                      const struct script_lines *others)
{
    const bool lean = list->count <= FEW_LINES && !q->eviction.lasting;
    return (struct eviction_draws){
        .list = *list,
        .others = others,
        .base = q->base,
        .visits =
            u64_min(lean ? DRAWS_LEAN
                         : u64_within(DRAWS_LEAST, 8 * list->count, DRAWS_MOST),
                    eviction_draws_most(&q->eviction)),
    };
}

static struct policy_loads draw(struct structure_question *q,
                                struct eviction_draws *draws)
{
    const unsigned takes = draws->visits == DRAWS_LEAN ? TAKES_LEAN : TAKES;
    struct policy_loads loads = {
        .at = lab_alloc(q->lab, takes * (draws->visits + draws->list.count),
                        sizeof *loads.at)};
    for (draws->take = 1; draws->take <= takes; draws->take++)
        loads.count +=
            eviction_draw(&q->eviction, draws, loads.at + loads.count);
    return loads;
}

static void say_score(struct finding *f, const char *what, const char *policy,
                      double score)
{
    char name[48];
    snprintf(name, sizeof name, "%s_%s", what, policy);
    finding_protocol(f, name, value_number(score));
}

static void say_scores(struct finding *f, const struct policy_verdict *v)
{
    for (int p = 0; p < POLICY_COUNT; p++)
        if (!isinf(v->score[p].likelihood)) {
            const char *const name = cache_policy_name((enum cache_policy)p);
            say_score(f, "agrees", name, v->score[p].agrees);
            say_score(f, "likelihood", name, v->score[p].likelihood);
        }
    if (v->policy == POLICY_RRIP) {
        struct value ages = value_list();
        value_push(&ages, value_number(v->ages.most));
        value_push(&ages, value_number(v->ages.insert));
        value_push(&ages, value_number(v->ages.hit));
        finding_protocol(f, "ages", ages);
    }
    if (v->policy == POLICY_LRU_MIDPOINT)
        finding_protocol(f, "behind", value_number(v->behind));
    finding_protocol(f, "likelihood_lead", value_number(fmin(v->lead, 1e6)));
}

static void report_policy(struct structure_question *q,
                          enum cache_policy policy)
{
    tell(q, q->policy, value_text(cache_policy_name(policy)));
    if (policy != POLICY_WEIGHTED)
        drop(q, "policy_weights");
}

/* Each is a share that chance leaves open: by three deviations, as a list
 * claims several at once. */
static void tell_weights(struct structure_question *q, const struct weighing *w,
                         const double *weights)
{
    struct finding *const f =
        lab_finding(q->lab, q->row->component, "policy_weights");
    struct value list = value_list(), low = value_list(), high = value_list();
    for (uint32_t i = 0; i < w->ways; i++) {
        const double share = weights[i];
        const double error = 3 * sqrt(share * (1 - share) / (double)w->found) +
                             disturbed_shares(w);
        value_push(&list, value_number(share));
        value_push(&low, value_number(fmax(0, share - error)));
        value_push(&high, value_number(fmin(1, share + error)));
    }
    tell(q, f, list);
    finding_protocol(f, "low", low);
    finding_protocol(f, "high", high);
}

/* The shares as weights, if the loads are as likely under them as they should
 * be: within six deviations, which chance leaves once in 10^9. */
static void report_weights(struct structure_question *q,
                           const struct weighing *w,
                           const struct policy_loads *loads)
{
    double weights[WAYS_WEIGHED];
    struct policy_score score;
    for (uint32_t i = 0; i < w->ways; i++)
        weights[i] = (double)w->victims[i] / (double)w->found;
    if (q->eviction.lasting) {
        report_policy(q, POLICY_WEIGHTED);
        refuse(q, "policy_weights", why_lasting_ways);
        return;
    }
    if (policy_random(loads->at, loads->count, weights, w->ways, true, &score) >
        6)
        return;
    report_policy(q, POLICY_WEIGHTED);
    /* Two deviations of a share of a half. */
    const double doubt = 1 / sqrt((double)w->found) + disturbed_shares(w);
    if (!is_one_set(q, w)) {
        refuse(q, "policy_weights", why_ways_of_several);
        return;
    }
    if (!keep_names(w)) {
        refuse(q, "policy_weights", why_ways_renamed);
        return;
    }
    if (doubt > share_doubt) {
        refuse(q, "policy_weights",
               lab_text(q->lab, why_weights_noise, w->found));
        return;
    }
    tell_weights(q, w, weights);
}

/* Random victims, or some ways more often than others?  Shares are even within
 * 3 deviations, as chance leaves them but once in 700, and uneven beyond
 * UNEVEN. */
static void find_weights(struct structure_question *q,
                         const struct policy_loads *loads, bool random_explains)
{
    if (q->shape.ways > WAYS_WEIGHED) {
        if (random_explains)
            report_policy(q, POLICY_RANDOM);
        return;
    }
    const struct weighing w = weigh(q);
    if (!lab_ok(q->lab))
        return;
    finding_protocol(q->policy, "victims", value_number((double)w.found));
    if (w.found < VICTIMS_LEAST || is_skewed(&w))
        return;
    const double uneven = deviations(&w);
    finding_protocol(q->policy, "uneven", value_number(uneven));
    if (uneven < 3 && random_explains)
        report_policy(q, POLICY_RANDOM);
    else if (uneven > UNEVEN)
        report_weights(q, &w, loads);
}

/* An lru_midpoint keeps those lines that were hit last through laps over more
 * than a set holds, each hit again; of an lru none is left. */
static void lap_order(struct structure_question *q,
                      const struct eviction_draws *d,
                      struct script_lines *order)
{
    enum { HIT = 3, LAPS = 5 };
    const struct script_lines *const list = &d->list;
    const size_t most = u64_min(d->visits, 2 * HIT + LAPS * list->count);
    *order =
        (struct script_lines){lab_alloc(q->lab, most, sizeof *order->at), 0};
    while (order->count < most) {
        const size_t n = order->count;
        order->at[order->count++] =
            list->at[n < 2 * HIT ? n % HIT : (n - 2 * HIT) % list->count];
    }
}

/* Adds such laps to the loads. */
static struct policy_loads add_laps(struct structure_question *q,
                                    const struct eviction_draws *draws,
                                    const struct policy_loads *drawn)
{
    enum { LAP_TAKES = 3 };
    struct script_lines order;
    lap_order(q, draws, &order);
    struct eviction_draws laps = *draws;
    laps.order = &order;
    struct policy_loads all = {
        .at = lab_alloc(q->lab,
                        drawn->count +
                            LAP_TAKES * (order.count + draws->list.count),
                        sizeof *all.at),
        .count = drawn->count};
    memcpy(all.at, drawn->at, drawn->count * sizeof *all.at);
    for (laps.take = 2; laps.take < 2 + LAP_TAKES; laps.take++)
        all.count += eviction_draw(&q->eviction, &laps, all.at + all.count);
    return all;
}

/* Lines that may be shorter than what comes at once: no sector is smaller. */
enum { SECTOR_LEAST = 32 };

static struct policy_verdict verdict_of(const struct structure_question *q,
                                        const struct policy_loads *loads)
{
    const uint64_t pieces = q->shorter ? q->line / SECTOR_LEAST : 1;
    return policy_find_pieces(loads->at, loads->count, (uint32_t)q->shape.ways,
                              (unsigned)pieces, !q->eviction.lasting);
}

/* Two ways are used by a tree, and a bit a way, as by an lru; sets of which not
 * all are known may be larger, and those are not. */
static bool is_lru_of_two(const struct structure_question *q,
                          const struct policy_verdict *v)
{
    return q->shape.sets == 0 && q->shape.ways == 2 && v->policy == POLICY_LRU;
}

static void judge_policy(struct structure_question *q,
                         const struct eviction_draws *draws,
                         const struct policy_loads *loads)
{
    struct policy_verdict v = verdict_of(q, loads);
    if (v.known && v.midpoint && !v.ambiguous) {
        const struct policy_loads all = add_laps(q, draws, loads);
        v = lab_ok(q->lab) ? verdict_of(q, &all) : v;
    }
    if (v.known && v.midpoint)
        finding_none(q->policy, why_policies_alike,
                     cache_policy_name(POLICY_LRU),
                     cache_policy_name(POLICY_LRU_MIDPOINT));
    else if (v.known && is_lru_of_two(q, &v))
        finding_none(q->policy, why_policies_alike,
                     cache_policy_name(POLICY_LRU),
                     cache_policy_name(POLICY_NRU));
    else if (v.known && v.ambiguous)
        finding_none(q->policy, why_policies_alike, cache_policy_name(v.policy),
                     cache_policy_name(v.runner_up));
    else if (v.known && v.policy != POLICY_RANDOM)
        report_policy(q, v.policy);
    else if (v.late)
        finding_none(q->policy, why_disturbed, 100 * v.untold);
    else if (eviction_repeats(&q->eviction, draws))
        finding_none(q->policy, why_policy_repeats);
    else
        find_weights(q, loads, v.known);
    if (!lab_ok(q->lab))
        return;
    if (q->policy->value.kind == VALUE_NONE && q->policy->because == NULL)
        finding_none(q->policy, why_policy_unlike);
    cite_set(q, q->policy);
    say_scores(q->policy, &v);
}

/* The set's lines and half as many more; after these, others of the set. */
static struct script_lines lines_of_set(struct structure_question *q)
{
    const struct script_lines set = q->shape.set;
    const size_t half = q->shape.ways > 3 ? (size_t)q->shape.ways / 2 : 1;
    const size_t others = q->eviction.lasting && q->eviction.strewn == 0
                              ? 3 * (set.count + half)
                              : 0;
    const struct script_lines more =
        geometry_members(&q->eviction, &q->shape, half - 1 + others);
    struct script_lines all = {
        lab_alloc(q->lab, set.count + more.count, sizeof *all.at), 0};
    for (size_t i = 0; i < set.count; i++)
        all.at[all.count++] = set.at[i];
    for (size_t i = 0; i < more.count; i++)
        all.at[all.count++] = more.at[i];
    return all;
}

static void find_policy(struct structure_question *q)
{
    const size_t ways = (size_t)q->shape.ways;
    if (ways < 2) {
        refuse(q, "policy*", why_one_way);
        return;
    }
    const struct script_lines all = lines_of_set(q);
    const size_t lines = u64_min(ways + (ways > 3 ? ways / 2 : 1), all.count);
    const struct script_lines list = {all.at, lines},
                              others = {all.at + lines, all.count - lines};
    /* Nothing pushes out what a lasting cache holds of the list. */
    if (q->eviction.lasting && q->eviction.strewn == 0 && others.count == 0) {
        refuse(q, "policy*", why_set_few_lines);
        return;
    }
    if (q->eviction.front.runs > 0)
        q->eviction.filler = geometry_filler(&q->eviction, &q->shape);
    q->base = eviction_base(&q->eviction, &list);
    struct eviction_draws draws = draws_of(q, &list, &others);
    const struct policy_loads loads = draw(q, &draws);
    q->policy = lab_finding(q->lab, q->row->component, "policy");
    if (lab_ok(q->lab))
        judge_policy(q, &draws, &loads);
}

/* ---- a level ---------------------------------------------------------- */

/* By how much a miss costs more than a hit.  Of an SM's cache before an L2 in
 * two parts it is the mean of what either answers: where half of that is more
 * than what the near one adds, which would look like a hit, it is that. */
static double more_of_miss(const struct structure_question *q)
{
    const struct fact_sides *const sides = fact_sides(q->lab);
    const double mean = q->facts->miss - q->facts->hit;
    if (q->parts == 2)
        return sides->miss;
    if (!q->row->of_sm || sides->parts != 2)
        return mean;
    const double near = mean - fmax(sides->far, sides->copied) / 2;
    return near > 0 && 2 * near < mean ? near : mean;
}

/* What hits cost in a visit; a miss costs as much more as in a chase. */
static void find_costs(struct structure_question *q)
{
    struct eviction *const e = &q->eviction;
    /* What lies in front may have as few places for lines of this cache; and
     * this one few: of half as many as fit chance puts none out. */
    enum { LINES = 8, LOADS = 256 };
    const bool behind = q->row->behind != LEVEL_COUNT;
    const uint64_t fit = q->facts->fits / e->unit / 2;
    const unsigned lines = behind ? 1 : (unsigned)u64_within(1, fit, LINES);
    const unsigned laps = LOADS / lines;
    const struct column c = lab_column(
        q->lab, "cycles",
        "visit readers=%s steps=4x0:%u:%" PRIu64 ",%ux!0:%u:%" PRIu64 "%s%s",
        e->reader, lines, e->unit, laps, lines, e->unit,
        e->homes != NULL ? " " : "", e->homes != NULL ? e->homes : "");
    const struct undisturbed hits = undisturbed_of(c.at, c.count, 1);
    e->hit = hits.cycles;
    if (behind)
        e->hit += q->facts->hit - fact_bracket(q->lab, q->row->behind)->hit;
    e->miss = e->hit + more_of_miss(q);
    /* Half as many again as were seen of 1000: one deviation of ten. */
    e->disturbed =
        fmax(1.5 * fact_memory(q->lab)->disturbed, assume(ASSUME_DISTURBED));
    /* Half-way to a miss is farther than hits stray, but once in 30,000. */
    if (4 * hits.spread > (e->miss - e->hit) / 2)
        lab_fail(q->lab, ERR_UNSUPPORTED, why_misses_alike);
}

/* Rings may fit where some of their lines are out, or not where all could be
 * there: if what is left of lines in random order is another size, both are
 * possible. */
static void allow_held(const struct structure_question *q,
                       struct geometry_lines *lines)
{
    const struct finding *const held = held_of(q);
    if (held == NULL)
        return;
    const double line = (double)q->line, most = (double)lines->most;
    const double said = held->value.number / line;
    if (said < (double)lines->least)
        lines->least = (uint64_t)(held->interval[0] / line);
    if (said > most)
        lines->most = (uint64_t)(held->interval[1] / line);
}

/* A size that was measured may be some lines off, where victims are random; a
 * rough one is too small, where some of what fits is put out, or too large by
 * up to a quarter, where rings miss but a few of their lines (size.c); and
 * where loads are disturbed a size is no better than a rough one. */
static struct geometry_lines lines_of(const struct structure_question *q)
{
    const struct finding *const near = near_size(q);
    if (near != NULL)
        return (struct geometry_lines){
            .least = (uint64_t)near->interval[0] / q->line,
            .most = (uint64_t)near->interval[1] / q->line + 1};
    const uint64_t size = fact_size(q->lab, level_of(q->row));
    const bool rough =
        size == 0 || q->eviction.disturbed > 3 * assume(ASSUME_DISTURBED);
    const uint64_t fits = q->facts->fits, over = q->facts->overflows / 4 * 5;
    const uint64_t low = !rough     ? size
                         : size > 0 ? u64_min(size, fits)
                                    : fits - fits / 4;
    const uint64_t high = rough && over > size ? over : size;
    struct geometry_lines lines = {.least = (low - low / 32) / q->line,
                                   .most = (high + high / 32) / q->line};
    allow_held(q, &lines);
    return lines;
}

/* Whether rings told how long a line is: then it is the sets that are not
 * known. */
static bool is_line_told(const struct structure_question *q)
{
    const enum level_id id = level_of(q->row);
    const struct fact_line *const l = fact_line(q->lab, id);
    return fact_sure_line(q->lab, id) > 0 && !l->bound && !l->longer;
}

/* What is asked for at once lies in one line; whether that is longer its
 * neighbours tell.  False if they do not. */
static bool find_line(struct structure_question *q)
{
    struct eviction *const e = &q->eviction;
    const struct geometry_lines lines = lines_of(q);
    e->held = lines.least;
    e->longest = q->row->coarse;
    const uint64_t line = geometry_line(e, &lines);
    e->longest = 0;
    if (!lab_ok(q->lab))
        return false;
    if (line == 0) {
        refuse(q, "*",
               is_line_told(q)
                   ? why_index_hashed
                   : lab_why_unknown(q->lab, q->row->component, "line"));
        return false;
    }
    q->shorter =
        line == e->unit && fact_sector(q->lab, level_of(q->row))->bound;
    q->line = e->unit = line;
    return true;
}

/* Lines here and there. */
static struct script_lines some_lines(const struct eviction *e, uint64_t end)
{
    enum { LINES = 8 };
    struct script_lines lines = {lab_alloc(e->lab, LINES, sizeof *lines.at),
                                 LINES};
    for (uint64_t i = 0; i < LINES; i++)
        lines.at[i] = (end / e->unit - 1) * i / LINES * e->unit;
    return lines;
}

/* The cache in front has four times as many lines as `quarter`. */
static void set_front(struct eviction *e, uint64_t quarter, uint64_t line,
                      const struct front *how)
{
    const uint64_t lines = quarter * how->runs;
    e->front.run.start = e->span - lines * line;
    e->front.run.count = how->twice ? quarter : lines;
    e->front.run.step = line;
    e->front.runs = how->twice ? how->runs : 1;
    e->front.laps = how->laps;
    e->front.twice = how->twice;
}

/* What empties the cache in front: as few lines as do, since they lie in this
 * one, too; by half more than it has lines, since some may be left out.  Which
 * of them are of a set is told by what is left out of them, so the others must
 * do without; where so many would take a quarter of this cache, as few as do.
 * False if nine times as many are not enough. */
static bool put_front(struct structure_question *q)
{
    static const struct front tries[] = {
        {.runs = 6, .laps = 2},  {.runs = 6, .laps = 2, .twice = true},
        {.runs = 10, .laps = 3}, {.runs = 10, .laps = 3, .twice = true},
        {.runs = 18, .laps = 3}, {.runs = 18, .laps = 3, .twice = true},
        {.runs = 36, .laps = 3},
    };
    struct eviction *const e = &q->eviction;
    const enum level_id front = q->row->behind;
    if (front == LEVEL_COUNT)
        return true;
    const uint64_t line =
        u64_max(fact_sure_line(q->lab, front), level_table[front].fine);
    const uint64_t size =
        u64_max(fact_size(q->lab, front), fact_bracket(q->lab, front)->fits);
    const uint64_t quarter = u64_max(size / line / 4, 1);
    struct front least = {.runs = 0};
    bool spares = false;
    e->front.answers =
        e->hit - (q->facts->hit - fact_bracket(q->lab, front)->hit) / 2;
    for (size_t i = 0; lab_ok(q->lab) && !spares && i < COUNT_OF(tries); i++) {
        const uint64_t bytes = tries[i].runs * quarter * line;
        if (bytes > e->span / 4 ||
            (least.runs > 0 && 4 * bytes >= q->facts->fits))
            break;
        set_front(e, quarter, line, &tries[i]);
        const struct script_lines lines = some_lines(e, e->front.run.start);
        if (!eviction_front_empties(e, &lines))
            continue;
        least = least.runs > 0 ? least : e->front;
        spares = eviction_front_spares(e, u64_max(q->row->coarse, e->unit));
    }
    if (!spares)
        e->front = least;
    return least.runs > 0;
}

/* The bytes that are left at least of lines in random order, some of which lie
 * farther apart than any that were asked whether they push each other out.
 * What looks bring in may make them up to a sixteenth too many (verdict.c). */
static double held_least(const struct structure_question *q)
{
    const struct finding *const held =
        lab_proposal(q->lab, "overfill", q->row->component, "size");
    if (held != NULL && held->status == STATUS_AT_LEAST)
        return held->value.number;
    return held != NULL && held->status == STATUS_MEASURED
               ? held->interval[0] * 16 / 17
               : 0;
}

/* Sets that hold less are not all: a bit chooses among them that none of their
 * lines differ by. */
static bool are_more_held(const struct structure_question *q)
{
    return q->shape.sets > 0 &&
           (double)(q->parts * q->shape.lines * q->line) < held_least(q);
}

static void refuse_few(struct structure_question *q)
{
    const double bytes = (double)(q->parts * q->shape.lines * q->line);
    refuse(q, "s*", lab_text(q->lab, why_sets_few, bytes, held_least(q)));
    if (q->shape.index == GEOMETRY_UNEQUAL)
        refuse(q, "ways", why_index_hashed);
    else
        report_ways(q);
}

/* That bit may be one of memory that lies farther apart. */
static void find_far(struct structure_question *q, struct geometry_lines lines)
{
    lines.least = (uint64_t)held_least(q) / q->line;
    if (q->parts == 1 && lines.least <= lines.most)
        geometry_find_far(&q->eviction, &lines, &q->shape);
}

/* A few sets that are alike are no proof that all are, but at random. */
static void report_found(struct structure_question *q,
                         const struct geometry_lines *lines)
{
    if (are_more_held(q)) {
        refuse_few(q);
    } else if (q->shape.sets > 0 && q->shorter) {
        report_short(q);
    } else if (q->shape.sets > 0) {
        report_shape(q, lines);
        if (q->open)
            propose_line(q);
    } else if (q->eviction.strewn > 0 && q->parts == 2) {
        report_room(q);
    } else {
        refuse(q, "s*", why_index_hashed);
        refuse(q, "ways", why_index_hashed);
    }
}

/* What lies in front may hold some of a set's lines, so that more seem to fit:
 * ways alone say nothing there. */
static bool is_shape_told(const struct structure_question *q)
{
    return q->shape.ways > 0 &&
           (q->shape.sets > 0 || q->row->behind == LEVEL_COUNT);
}

static void find_structure(struct structure_question *q)
{
    find_costs(q);
    if (!put_front(q)) {
        refuse(q, "*", why_front_answers);
        return;
    }
    if (q->open && !find_line(q))
        return;
    const struct geometry_lines lines = lines_of(q);
    q->eviction.held = lines.least;
    q->shape = geometry_find(&q->eviction, &lines);
    if (lab_ok(q->lab) && are_more_held(q))
        find_far(q, lines);
    if (!lab_ok(q->lab))
        return;
    /* The policy is one set's, be others larger. */
    if (q->shape.ways == 0 && q->eviction.strewn == 0)
        q->shape.ways = q->shape.own;
    if (!is_shape_told(q)) {
        refuse(q, "*", why_index_hashed);
        return;
    }
    report_found(q, &lines);
    find_policy(q);
    const char *const why = lab_excuse(q->lab);
    refuse(q, "policy*",
           why != NULL ? why
                       : lab_why_unknown(q->lab, q->row->component, "policy"));
}

/* No more than half of the memory that there is, and within one window of
 * active pages, of which buffers of this size begin one. */
static uint64_t span_of(const struct lab *lab, const struct level_row *row)
{
    const int64_t memory = lab->info->value[PROPERTY_MEMORY_BYTES];
    uint64_t most = row->span;
    if (memory > 0)
        most = u64_min(most, (uint64_t)memory / 2);
    if (fact_memory(lab)->window > 0)
        most = u64_min(most, fact_memory(lab)->window);
    return most;
}

/* A level before this one whose storage it shares, as `sharing` found; NULL if
 * it has its own. */
static const char *shares_with(struct lab *lab, enum level_id id)
{
    const struct finding *const f =
        lab_found(lab, level_table[id].component, "shares_with");
    for (size_t i = 0;
         f != NULL && f->status == STATUS_MEASURED && i < f->value.count; i++)
        for (int before = 0; before < (int)id; before++)
            if (fact_bracket(lab, (enum level_id)before)->present &&
                strcmp(f->value.items[i].text, level_table[before].component) ==
                    0)
                return level_table[before].component;
    return NULL;
}

/* Code that lies in the same storage tells what too few constants cannot; NULL:
 * none does. */
static const char *code_of(struct lab *lab, const char *component)
{
    static const char *const caches[] = {"icache_l0", "icache_l1",
                                         "icache_l15"};
    for (size_t i = 0; i < COUNT_OF(caches); i++) {
        const struct finding *const f =
            lab_found(lab, caches[i], "shares_with");
        for (size_t n = 0;
             f != NULL && f->status == STATUS_MEASURED && n < f->value.count;
             n++)
            if (strcmp(f->value.items[n].text, component) == 0)
                return caches[i];
    }
    return NULL;
}

/* It is known of the other, which is the same storage. */
static void derive(struct finding *f, const char *other)
{
    if (f->status == STATUS_MEASURED)
        f->status = STATUS_DERIVED;
    finding_protocol(f, "same_storage_as", value_text(other));
}

static void follow(struct structure_question *q, const char *attribute,
                   const struct finding *from, const char *other)
{
    struct finding *const f = lab_finding(q->lab, q->row->component, attribute);
    finding_copy(f, from);
    derive(f, other);
}

/* What sets of the other make, or rings that lines in random order confirm;
 * NULL: neither is known. */
static const struct finding *size_of_other(const struct lab *lab,
                                           const char *other)
{
    const struct finding *const sets =
        lab_proposal(lab, "structure", other, "size");
    const struct finding *const rings =
        lab_proposal(lab, "size", other, "size");
    const struct finding *const held =
        lab_proposal(lab, "overfill", other, "size");
    if (sets != NULL && sets->status == STATUS_MEASURED)
        return sets;
    return rings != NULL && held != NULL && rings->status == STATUS_MEASURED &&
                   held->status == STATUS_MEASURED &&
                   held->interval[0] <= rings->value.number &&
                   rings->value.number <= held->interval[1]
               ? rings
               : NULL;
}

/* What was found of the other holds for this one: it is the same storage. */
static void take_over(struct structure_question *q, const char *other)
{
    const struct finding *const size = size_of_other(q->lab, other);
    if (size != NULL)
        follow(q, "size", size, other);
    for (const struct answer *a = answers; a->attribute != NULL; a++) {
        const struct finding *const from =
            lab_found(q->lab, other, a->attribute);
        if (from == NULL) {
            drop(q, a->attribute);
            continue;
        }
        follow(q, a->attribute, from, other);
    }
}

/* Whether random calls were foretold by nothing, or by what cannot be, or is
 * but a bound. */
static bool is_irregular(const struct finding *f)
{
    if (f == NULL || f->because == NULL)
        return false;
    return (f->status == STATUS_NOT_MEASURED &&
            (strcmp(f->because, why_code_irregular) == 0 ||
             strcmp(f->because, why_code_parts) == 0)) ||
           strcmp(f->because, why_code_shorter) == 0;
}

/* Says of the code's cache what it did not tell itself; NULL: nothing. */
static struct finding *tell_of_code(struct structure_question *q,
                                    const char *code, const char *attribute,
                                    const struct finding *from)
{
    struct finding *const f = results_edit(q->lab->results, code, attribute);
    if (!is_irregular(f) || from == NULL || from->status != STATUS_MEASURED)
        return NULL;
    finding_copy(f, from);
    derive(f, q->row->component);
    return f;
}

/*
 * What code that lies in the same storage could not tell, as of functions it is
 * only known how far apart they are: an index of XORs is linear over addresses
 * and over nothing else.  An index that code should have told by itself is one
 * that code denies, so nothing is said of that.
 */
static void tell_code(struct structure_question *q)
{
    static const char *const told[] = {"sets", "ways", "policy"};
    const char *const component = q->row->component;
    const char *const code = code_of(q->lab, component);
    if (!lab_ok(q->lab) || code == NULL || q->shape.sets == 0 || q->shorter ||
        !geometry_is_hashed(&q->shape))
        return;
    struct finding *const line =
        tell_of_code(q, code, "line", lab_found(q->lab, component, "sets"));
    if (line != NULL)
        finding_set(line, STATUS_DERIVED, value_number((double)q->line), "B");
    for (size_t i = 0; i < COUNT_OF(told); i++)
        tell_of_code(q, code, told[i], lab_found(q->lab, component, told[i]));
    tell_of_code(q, code, "size",
                 lab_proposal(q->lab, "structure", component, "size"));
}

/* Why the sets of a level cannot be asked for; NULL if they can. */
static const char *why_not(const struct structure_question *q)
{
    const struct fact_bracket *const b = q->facts;
    if (!b->present)
        return b->why;
    if (q->line == 0)
        return lab_why_unknown(q->lab, q->row->component, "line");
    if (q->line < q->row->apart)
        return lab_text(q->lab, why_words_apart, q->row->apart,
                        q->row->component);
    if (b->fits == 0 || b->overflows == 0)
        return why_never_overflows;
    if (b->near_fits > 0 && q->parts < 2)
        return why_two_parts;
    return NULL;
}

/* Of a cache in two parts the lines at home beside SM 0 are asked, and in the
 * other part there are as many sets; its pages. */
enum { HOMES = 256 };

static bool take_homes(struct structure_question *q)
{
    const size_t pages = u64_within(1, q->eviction.span / HOMES_PAGE, HOMES);
    const char *const sides = homes_learn(q->lab, q->line, pages);
    if (sides != NULL)
        q->eviction.homes = homes_words(q->lab, sides, 0);
    q->eviction.sides = sides;
    q->eviction.side_bits = fact_sides(q->lab)->bits;
    q->eviction.span = pages * HOMES_PAGE / 2;
    return sides != NULL;
}

static struct structure_question question(struct lab *lab, enum level_id id)
{
    const struct level_row *const row = &level_table[id];
    const struct fact_line *const asked = fact_line(lab, id);
    /* Rings in order say little of a cache that few lines can be asked for. */
    const bool open =
        asked->bound || asked->longer || row->behind != LEVEL_COUNT;
    const uint64_t line =
        open ? fact_sure_sector(lab, id) : fact_sure_line(lab, id);
    return (struct structure_question){
        .lab = lab,
        .row = row,
        .facts = fact_bracket(lab, id),
        .line = line,
        .open = open,
        .parts = id == LEVEL_L2 && fact_sides(lab)->parts == 2 ? 2 : 1,
        .eviction = {.lab = lab,
                     .reader = row->reader,
                     .unit = line,
                     .span = span_of(lab, row),
                     .maps = (id == LEVEL_L1 || id == LEVEL_READONLY) &&
                             lab->info->mapping_bytes > 0,
                     .lasting = !row->of_sm,
                     .fresh = row->of_sm}};
}

static void structure_ask_level(struct lab *lab, enum level_id id)
{
    struct structure_question q = question(lab, id);
    const struct fact_bracket *const facts = q.facts;
    const char *other = facts->present ? shares_with(lab, id) : NULL;
    if (facts->present && facts->overflows == 0 && q.row->behind != LEVEL_COUNT)
        other = code_of(lab, q.row->component);
    const char *const why = why_not(&q);
    if (other != NULL)
        take_over(&q, other);
    else if (why != NULL)
        refuse(&q, "*", why);
    else if (q.parts == 2 && (near_size(&q) == NULL || !take_homes(&q)))
        refuse(&q, "*", why_two_parts);
    else
        find_structure(&q);
    if (other == NULL && why == NULL)
        tell_code(&q);
    const char *const failed = lab_excuse(lab);
    if (failed != NULL)
        refuse(&q, "*", failed);
}

/* What only local loads show of L1, and what they show that there is not. */
static void show_l1(struct lab *lab, const char *attribute)
{
    const char *const local =
        lab_text(lab, "%s.%s", level_table[LEVEL_LOCAL].component, attribute);
    lab_show_l1(lab, attribute);
    if (fact_cached(lab, LEVEL_L1)->as_local &&
        results_dropped(lab->results, local))
        lab_absent(lab, level_table[LEVEL_L1].component, attribute);
}

static void structure_run(struct lab *lab)
{
    for (int i = 0; lab_ok(lab) && i < LEVEL_COUNT; i++) {
        lab_about(lab, (size_t)i);
        structure_ask_level(lab, (enum level_id)i);
    }
    for (const struct answer *a = answers; a->attribute != NULL; a++)
        show_l1(lab, a->attribute);
}

const struct study study_structure = {
    .name = "structure",
    .question = "How is each cache built, and which line makes room?",
    .method = "Group testing leaves of many lines as few as push one out: as "
              "many as its set has ways.  Other lines that come into that full "
              "set, or do not, give the address bits that choose it.  Loads of "
              "random lines of one set are replayed on models of each policy.",
    .reads = FACTS(FACT_CACHED, FACT_BRACKET, FACT_SECTOR, FACT_LINE,
                   FACT_RINGS, FACT_MEMORY, FACT_SIDES),
    .reads_findings = TEXTS("l2.near_size", "*.shares_with", "icache_*",
                            "icache_*.shares_with"),
    .answers = answers,
    .dependent =
        TEXTS("set_ways", "set_bits", "slice_modulo", "policy_weights"),
    .proposes = proposes,
    .kernels = TEXTS("visit readers=global.ca", "visit readers=global.cg",
                     "visit readers=texture", "visit readers=readonly",
                     "visit readers=constant"),
    .run = structure_run,
};
