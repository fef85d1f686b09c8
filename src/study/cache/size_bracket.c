/*
 * Roughly how much each cache holds: the region in which the other studies
 * look, found by doubling and halving (Groessler 2022, 3.2).
 *
 * Each size is swept by a whole block, which is quick, and then chased in
 * the same order; where the ring is larger than the cache, the start of it is
 * no longer there.  The curve of cost over size has a step where the cache
 * ends.  It has a further one, before, where a part of the cache is farther
 * away than the rest (partitions of an L2): seen by its slow loads, which cost
 * less than those that miss.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/search.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"cached", NULL};
static const char *const gives[] = {"l1.parts", "l2.parts", NULL};
static const char *const kernels[] = {
    "chase op=ca stride=32 sweep=1",
    "chase op=cg stride=32 sweep=1",
    "chase op=ca sweep=1",
    "chase op=cg sweep=1",
    "trace op=ca sweep=1",
    "trace op=cg sweep=1",
    NULL,
};

/* A far part is looked for with the commonest line. */
enum { COARSE = 128 };
/* Sweeps, or laps, after which a cache with random victims holds nearly what
 * fits. */
enum { SWEEPS_MOST = 64 };

/* What is asked, for the search's callback. */
struct curve {
    struct lab *lab;
    const struct level_row *row;
    const struct level_facts *facts;
    double limit;    /* cycles up to which a size fits … */
    double settles;  /* … and up to which more sweeps may make it fit */
    unsigned stride; /* with which sizes are tried … */
    uint64_t shift;  /* … and where the rings begin */
    double cycles;   /* of the size that was tried last */
    struct finding *finding; /* that it is evidence of, or NULL */
};

static void cite(struct curve *c, const char *experiment)
{
    if (c->finding != NULL)
        finding_evidence(c->finding, experiment);
}

static int try_size(struct curve *c, uint64_t bytes, unsigned stride,
                    unsigned times, struct error *err)
{
    struct old_cost cost;
    char fill[LAB_FILL];
    lab_fill(c->row, times, fill);
    if (lab_average_err(c->lab, &cost, err,
                    "chase %s bytes=%" PRIu64 " stride=%u shift=%" PRIu64
                    " %s visits=4096 repeats=1",
                    c->row->load, bytes, stride, c->shift, fill) != 0)
        return err->code;
    c->cycles = cost.cycles;
    cite(c, cost.experiment);
    free(cost.experiment);
    return 0;
}

/*
 * The same of a level behind another, which may keep more or less of a ring:
 * only the loads that are nearer to a miss than to a hit count, and what all
 * others cost is a hit.
 */
static int try_behind(struct curve *c, uint64_t bytes, unsigned times,
                      struct error *err)
{
    const struct level_facts *const f = c->facts;
    const double half = (f->hit + f->miss) / 2 + c->lab->trace_cost;
    struct samples s;
    if (lab_probe_err(c->lab, &s, NULL, err,
                  "trace %s bytes=%" PRIu64 " stride=%u warm=%u visits=2048",
                  c->row->load, bytes, c->stride, times) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    size_t slow = 0;
    for (size_t row = 0; row < s.rows; row++)
        slow += (double)samples_at(&s, row, cycles) > half;
    c->cycles = f->hit + (double)slow / (double)s.rows * (f->miss - f->hit);
    samples_free(&s);
    return 0;
}

/*
 * A size fits if its loads cost what hits cost.  Where some miss, but far from
 * all, the ring may only not have settled: a cache that picks its victims at
 * random keeps what was in it before, and throws out what has just come.  Then
 * it is swept more often.
 */
static int fits(void *context, const struct search_sizes *sizes, bool *yes,
                struct error *err)
{
    struct curve *const c = context;
    double settles = c->settles;
    for (unsigned times = 1; times <= SWEEPS_MOST; times *= 8) {
        const int status =
            c->row->behind != LEVEL_COUNT
                ? try_behind(c, sizes->first, times, err)
                : try_size(c, sizes->first, c->stride, times, err);
        if (status != 0)
            return status;
        *yes = c->cycles <= c->limit;
        if (*yes || c->cycles >= settles)
            break;
        /* What fits has settled by three quarters and more each time. */
        settles = c->limit + (c->cycles - c->limit) * 0.5;
    }
    return 0;
}

/* Mean cost, as a chase would find it, of the loads of a trace over `bytes`
 * that are slower than `above`; 0 if they are less than a fifth, or than a
 * twelfth where the stride may be an eighth of a line. */
static int mean_of_slow(struct curve *c, uint64_t bytes, double above,
                        double *mean, struct error *err)
{
    const double overhead = c->lab->trace_cost;
    const size_t share_least = c->row->swept ? 5 : 12;
    struct samples s;
    char *name, fill[LAB_FILL];
    lab_fill(c->row, 1, fill);
    if (lab_probe_err(c->lab, &s, &name, err,
                  "trace %s bytes=%" PRIu64 " stride=%u %s visits=2048",
                  c->row->load, bytes, c->row->swept ? COARSE : c->row->fine,
                  fill) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    double *const slow = xreallocarray(NULL, s.rows, sizeof *slow);
    size_t count = 0;
    for (size_t row = 0; row < s.rows; row++)
        if ((double)samples_at(&s, row, cycles) - overhead > above)
            slow[count++] = (double)samples_at(&s, row, cycles) - overhead;
    *mean = share_least * count > s.rows ? stats_trimmed_mean(slow, count, 0.02)
                                         : 0;
    free(slow);
    cite(c, name);
    free(name);
    samples_free(&s);
    return 0;
}

/* What a load costs of a ring that may be too large; where the cost of a miss
 * is not known, of those loads that are slower than hits. */
static int miss_cost_at(struct curve *c, const struct level_facts *facts,
                        uint64_t bytes, struct error *err)
{
    if (!c->row->of_sm || facts->next_hit > 0)
        return try_size(c, bytes, c->row->coarse, 1, err);
    return mean_of_slow(c, bytes, facts->hit + fmax(8, 0.1 * facts->hit),
                        &c->cycles, err);
}

/* True if that cost is a miss's and not, in part, a hit's. */
static bool is_miss_cost(const struct curve *c, const struct level_facts *facts,
                         int alike)
{
    const double more = facts->next_hit - facts->hit;
    /* What was not in the next cache, or far away in it, made `next_hit`
     * dearer than misses are later. */
    if (c->row->of_sm && facts->next_hit > 0)
        return c->cycles >= facts->hit + 0.8 * more ||
               (alike > 0 && c->cycles >= facts->hit + 0.5 * more);
    return alike == (c->row->of_sm ? 1 : 2);
}

/*
 * Doubles from `bytes` until every load misses.  The cost is left in the curve,
 * the size in *deep.  Of a cache that an SM has, a miss costs at least what
 * loads cost that go past it, and larger rings would miss the next cache, too.
 * Where that is not known, sizes in a row must cost the same, 3 % or so, and
 * clearly more than a hit: two of a cache behind which an SM has another, three
 * of one that is shared.
 */
static int find_miss_cost(struct curve *c, const struct level_facts *facts,
                          uint64_t bytes, uint64_t *deep, bool *found,
                          struct error *err)
{
    const double hit = facts->hit;
    double before = 0;
    int alike = 0;
    *found = false;
    for (; !*found && bytes <= c->row->most; bytes *= 2) {
        *deep = bytes;
        if (miss_cost_at(c, facts, bytes, err) != 0)
            return err->code;
        alike = c->cycles > 1.1 * hit && c->cycles < 1.03 * before &&
                        c->cycles > 0.97 * before
                    ? alike + 1
                    : 0;
        *found = is_miss_cost(c, facts, alike);
        before = c->cycles;
    }
    return 0;
}

/*
 * True if what does not fit is still cheaper than a miss: slow loads of a ring
 * that is somewhat too large against those of one that is far too large.
 */
static int has_far_part(struct curve *c, const struct level_facts *facts,
                        bool *far, struct error *err)
{
    const uint64_t somewhat = facts->overflows / 128 * 180;
    const double above = (facts->hit + facts->miss) / 2;
    double here, deep;
    if (mean_of_slow(c, somewhat, above, &here, err) != 0 ||
        mean_of_slow(c, facts->deep, above, &deep, err) != 0)
        return err->code;
    *far = here > 0 && here - facts->hit < 0.85 * (deep - facts->hit);
    return 0;
}

/* Where a ring begins changes which memory it lies in, and how evenly that is
 * spread over the slices of the cache: the far end is looked for at several
 * places. */
enum { PLACES = 5 };

static int far_end_at(struct curve *c, const struct level_facts *facts,
                      struct search *search, struct error *err)
{
    const struct search_range range = {
        .least = facts->near_overflows / 128 * 172,
        .most = 16 * facts->near_overflows,
        .granularity = COARSE,
        .relative = 256,
    };
    return search_size(&range, fits, c, search, err);
}

/* The end of the near part more closely: the first bracket is wide. */
static int narrow_near(struct curve *c, struct level_facts *facts,
                       struct error *err)
{
    const struct search_range range = {.least = facts->fits,
                                       .most = facts->overflows,
                                       .granularity = COARSE,
                                       .relative = 256};
    struct search search;
    facts->near_fits = facts->fits;
    facts->near_overflows = facts->overflows;
    c->stride = COARSE;
    if (search_size(&range, fits, c, &search, err) != 0)
        return err->code;
    if (search.state == SEARCH_BRACKETED) {
        facts->near_fits = search.fits;
        facts->near_overflows = search.overflows;
    }
    return 0;
}

/* Whether rings somewhat larger miss for the most part: where victims are
 * picked at random the cost rises slowly, and its first rise is no end. */
static int ends_at_once(struct curve *c, struct level_facts *facts,
                        struct error *err)
{
    const uint64_t beyond = (facts->overflows + facts->overflows / 16) / COARSE;
    if (try_size(c, beyond * COARSE, COARSE, 1, err) != 0)
        return err->code;
    facts->soft = c->cycles < (facts->plateau + facts->miss) / 2;
    return 0;
}

/*
 * The end of the far part: the largest ring whose start is still there when
 * its end has come in, by the cost of the far part and a tenth of what a miss
 * costs more.  The middle of several places is the size, the bracket holds
 * them all.
 */
static int find_far_end(struct curve *c, struct level_facts *facts,
                        struct error *err)
{
    double ends[PLACES];
    uint64_t least = UINT64_MAX, most = 0;
    if (narrow_near(c, facts, err) != 0)
        return err->code;
    if (try_size(c, facts->near_overflows / 128 * 172, COARSE, 1, err) != 0)
        return err->code;
    facts->plateau = c->cycles;
    c->limit = facts->plateau + FAR_MISSES_PERCENT / 100.0 *
                                    (facts->miss - facts->plateau);
    c->settles = 0;
    for (int i = 0; i < PLACES; i++) {
        struct search search;
        c->shift = (uint64_t)i * (facts->near_overflows >> 21 << 21) * 2;
        if (far_end_at(c, facts, &search, err) != 0)
            return err->code;
        if (search.state != SEARCH_BRACKETED)
            return 0;
        ends[i] = (double)search.fits;
        least = search.fits < least ? search.fits : least;
        most = search.overflows > most ? search.overflows : most;
    }
    facts->fits = least;
    facts->overflows = most;
    facts->size = (uint64_t)stats_median(ends, PLACES);
    return ends_at_once(c, facts, err);
}

/* What hits and misses cost: a ring of enough lines to spread over all slices
 * of a level that has them, and rings far too large, from `deep` on. */
static int find_costs(struct curve *c, struct level_facts *facts,
                      uint64_t least, uint64_t deep, bool *found,
                      struct error *err)
{
    if (try_size(c, least, c->stride, 1, err) != 0)
        return err->code;
    facts->hit = facts->plateau = c->cycles;
    if (find_miss_cost(c, facts, deep, &facts->deep, found, err) != 0)
        return err->code;
    facts->miss = c->cycles;
    /* Doubling may have gone beyond the next cache. */
    if (c->row->of_sm && facts->next_hit > 0 &&
        facts->miss > 1.2 * facts->next_hit)
        facts->miss = 1.2 * facts->next_hit;
    return 0;
}

/* From which cost on a size no longer fits: above what jitter does, and the
 * choice of slices, what other warps' sweeps leave out and what the level
 * before keeps, where there are such; but not so much that a good part of the
 * loads could miss. */
static void set_limit(struct curve *c, double hit, double miss)
{
    const double more = miss - hit;
    const double noise =
        c->row->swept ? fmax(0.04 * hit, 2) : fmax(0.01 * hit, 1.5);
    c->limit = hit + fmin(noise, 0.1 * more);
    c->settles = hit + 0.7 * more;
}

/* The bracket of the first step of the curve. */
static int find_knee(struct curve *c, uint64_t least, uint64_t most,
                     struct search *search, struct error *err)
{
    const struct search_range range = {
        .least = least, .most = most, .granularity = c->stride, .relative = 32};
    return search_size(&range, fits, c, search, err);
}

static void keep_bracket(struct level_facts *facts, const struct search *search)
{
    facts->fits = search->fits;
    facts->overflows = search->overflows;
    facts->present = true;
}

static int report_parts(struct curve *c, struct level_facts *facts,
                        struct error *err)
{
    bool far = false;
    /* What an SM has for itself is as near to it as all of it. */
    if (!c->row->of_sm && (has_far_part(c, facts, &far, err) != 0 ||
                           (far && find_far_end(c, facts, err) != 0)))
        return err->code;
    finding_set(c->finding, STATUS_MEASURED, value_number(far ? 2 : 1), "");
    finding_protocol(
        c->finding, "near_bytes",
        value_number((double)(far ? facts->near_fits : facts->fits)));
    return 0;
}

static int too_alike(struct curve *c, struct level_facts *facts, uint64_t least)
{
    snprintf(facts->why, sizeof facts->why,
             "loads of rings from %" PRIu64 " to %" PRIu64
             " B cost too much alike",
             least, facts->deep);
    if (c->finding != NULL)
        finding_none(c->finding, "%s", facts->why);
    return 0;
}

/* Most spaces share the storage of L1: its bracket is tried before others. */
static int find_knee_of(struct curve *c, struct level_facts *facts,
                        uint64_t least, struct search *search,
                        struct error *err)
{
    const struct level_facts *const l1 = &c->lab->facts[LEVEL_L1];
    set_limit(c, facts->hit, facts->miss);
    search->state = SEARCH_ALL_FIT;
    if (facts != l1 && l1->overflows > 0 && c->row->of_sm &&
        l1->fits % c->stride == 0 && l1->overflows <= facts->deep) {
        const struct search_range range = {.least = l1->fits,
                                           .most = l1->overflows,
                                           .granularity = UINT32_MAX};
        if (search_size(&range, fits, c, search, err) != 0 ||
            search->state == SEARCH_BRACKETED)
            return err->code;
    }
    return find_knee(c, least, facts->deep, search, err);
}

/* Single loads tell a miss's cost though lines be longer than the stride. */
static int refine_miss(struct curve *c, struct level_facts *facts,
                       struct error *err)
{
    double mean;
    if (mean_of_slow(c, facts->deep, (facts->hit + facts->miss) / 2, &mean,
                     err) != 0)
        return err->code;
    if (mean > 0)
        facts->miss = mean;
    return 0;
}

/* A level that loads reach first. */
static int ask_first(struct curve *c, struct level_facts *facts,
                     struct error *err)
{
    const struct level_facts *const l1 = &c->lab->facts[LEVEL_L1];
    const struct level_row *const row = c->row;
    const bool constant = row->bound != NULL;
    const uint64_t least = !row->of_sm ? 32768 : constant ? 256 : 1024;
    const uint64_t deep = facts != l1 && row->of_sm && !constant && l1->present
                              ? l1->deep
                              : 2 * least;
    struct search search = {.state = SEARCH_ALL_FIT};
    bool found = false;
    if (find_costs(c, facts, least, deep, &found, err) != 0 ||
        (found && find_knee_of(c, facts, least, &search, err) != 0))
        return err->code;
    if (search.state != SEARCH_BRACKETED)
        return too_alike(c, facts, least);
    keep_bracket(facts, &search);
    return c->finding != NULL ? report_parts(c, facts, err)
                              : refine_miss(c, facts, err);
}

/* A level that only what misses another reaches: rings of four times what that
 * one holds miss it under nearly every policy, and what they cost is a hit
 * here; unless it is what a load costs that finds the SM empty. */
static int ask_behind(struct curve *c, struct level_facts *facts,
                      struct error *err)
{
    const struct level_facts *const above = &c->lab->facts[c->row->behind];
    const uint64_t least = 4 * above->overflows / c->stride * c->stride;
    struct search search;
    facts->hit = facts->plateau = above->miss;
    facts->miss = above->cold;
    facts->deep = c->row->most;
    snprintf(facts->why, sizeof facts->why, "%s",
             above->present ? "loads that miss the level before cost what L2 "
                              "costs"
                            : above->why);
    if (!above->present || facts->hit >= 0.9 * facts->miss)
        return 0;
    set_limit(c, facts->hit, facts->miss);
    /* Three times the spikes that are common. */
    c->limit = facts->hit + 0.01 * (facts->miss - facts->hit);
    if (find_knee(c, least, c->row->most, &search, err) != 0)
        return err->code;
    if (search.state == SEARCH_NONE_FITS)
        return too_alike(c, facts, least);
    keep_bracket(facts, &search);
    return 0;
}

static int ask(struct lab *lab, const struct level_row *row,
               struct level_facts *facts, struct error *err)
{
    struct curve c = {
        .lab = lab, .row = row, .facts = facts, .stride = row->fine};
    if (row->swept)
        c.finding = lab_finding(lab, row->component, "parts");
    snprintf(facts->why, sizeof facts->why,
             "the size of the cache could not be found");
    facts->present = false;
    return row->behind != LEVEL_COUNT ? ask_behind(&c, facts, err)
                                      : ask_first(&c, facts, err);
}

/* Only global memory can have parts; of other spaces nothing is reported. */
static int ask_level(struct lab *lab, enum level_id id, struct error *err)
{
    struct level_facts *const facts = &lab->facts[id];
    if (level_table[id].swept)
        return lab_ask_level_err(lab, id, "parts", ask, err);
    if (!facts->present)
        return 0;
    const int status = ask(lab, &level_table[id], facts, err);
    if (status == 0 || !lab_excuses(status))
        return status;
    facts->present = false;
    snprintf(facts->why, sizeof facts->why, "%.255s", err->text);
    return 0;
}

static int run(struct lab *lab, struct error *err)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (ask_level(lab, (enum level_id)i, err) != 0)
            return err->code;
    *err = (struct error){0};
    return 0;
}

const struct study study_size_bracket = {
    .name = "capacity",
    .question = "Roughly where does each cache end, and is all of it alike?",
    .method = "Rings of doubling size are swept and chased.  Where the first "
              "loads get slower the cache ends, or, if they are cheaper than "
              "misses, its near part.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
