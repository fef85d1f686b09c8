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
#include <stdlib.h>

#include "analysis/search.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "study/study.h"

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

/* The edge is looked for with the smallest line there is, so that no line is
 * skipped; where everything is to miss, the largest is skipped along; a far
 * part is looked for with the commonest. */
enum { FINE = 32, COARSE = 128, DEEP = 256 };
/* Sweeps after which a cache with random victims holds nearly what fits. */
enum { SWEEPS_MOST = 64 };

/* What is asked, for the search's callback. */
struct curve {
    struct lab *lab;
    const struct level_row *row;
    double limit;   /* cycles up to which a size fits … */
    double settles; /* … and up to which more sweeps may make it fit */
    int stride;     /* with which sizes are tried … */
    uint64_t shift; /* … and where the rings begin */
    double cycles;  /* of the size that was tried last */
    struct finding *finding;
};

static int try_size(struct curve *c, uint64_t bytes, int stride, int sweeps,
                    struct error *err)
{
    struct cost cost;
    if (lab_average(c->lab, &cost, err,
                    "chase %s bytes=%" PRIu64 " stride=%d shift=%" PRIu64
                    " sweep=%d warm=0 visits=4096 repeats=1",
                    c->row->load, bytes, stride, c->shift, sweeps) != 0)
        return err->code;
    c->cycles = cost.cycles;
    finding_evidence(c->finding, cost.experiment);
    free(cost.experiment);
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
    for (int sweeps = 1; sweeps <= SWEEPS_MOST; sweeps *= 8) {
        if (try_size(c, sizes->first, c->stride, sweeps, err) != 0)
            return err->code;
        *yes = c->cycles <= c->limit;
        if (*yes || c->cycles >= settles)
            break;
        /* What fits has settled by three quarters and more each time. */
        settles = c->limit + (c->cycles - c->limit) * 0.5;
    }
    return 0;
}

/*
 * Doubles from `bytes` until every load misses.  The cost is left in the curve,
 * the size in *deep.  Of a cache that an SM has, a miss costs at least what
 * loads cost that go past it, and larger rings would miss the next cache, too.
 * Of one that is shared nothing is known: three sizes in a row must cost the
 * same, 3 % or so, and clearly more than a hit.
 */
static int find_miss_cost(struct curve *c, const struct level_facts *facts,
                          uint64_t bytes, uint64_t *deep, bool *found,
                          struct error *err)
{
    const double hit = facts->hit;
    const double past = hit + 0.8 * (facts->next_hit - hit);
    double before = 0;
    int alike = 0;
    *found = false;
    for (; !*found && bytes <= c->row->most; bytes *= 2) {
        *deep = bytes;
        if (try_size(c, bytes, DEEP, 1, err) != 0)
            return err->code;
        alike = c->cycles > 1.1 * hit && c->cycles < 1.03 * before &&
                        c->cycles > 0.97 * before
                    ? alike + 1
                    : 0;
        *found = c->row->of_sm ? c->cycles >= past : alike == 2;
        before = c->cycles;
    }
    return 0;
}

/* Mean cost, as a chase would find it, of the loads of a trace over `bytes`
 * that are slower than `above`; 0 if they are less than a fifth. */
static int mean_of_slow(struct curve *c, uint64_t bytes, double above,
                        double *mean, struct error *err)
{
    const double overhead = c->lab->trace_cost;
    struct samples s;
    char *name;
    if (lab_probe(c->lab, &s, &name, err,
                  "trace %s bytes=%" PRIu64
                  " stride=%d sweep=1 warm=0 visits=2048",
                  c->row->load, bytes, COARSE) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    double *const slow = xreallocarray(NULL, s.rows, sizeof *slow);
    size_t count = 0;
    for (size_t row = 0; row < s.rows; row++)
        if ((double)samples_at(&s, row, cycles) - overhead > above)
            slow[count++] = (double)samples_at(&s, row, cycles) - overhead;
    *mean = 5 * count > s.rows ? stats_trimmed_mean(slow, count, 0.02) : 0;
    free(slow);
    finding_evidence(c->finding, name);
    free(name);
    samples_free(&s);
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
    c->limit = facts->plateau + 0.1 * (facts->miss - facts->plateau);
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
 * of a level that has them, and rings far too large. */
static int find_costs(struct curve *c, struct level_facts *facts,
                      uint64_t least, bool *found, struct error *err)
{
    if (try_size(c, least, FINE, 1, err) != 0)
        return err->code;
    facts->hit = facts->plateau = c->cycles;
    if (find_miss_cost(c, facts, 2 * least, &facts->deep, found, err) != 0)
        return err->code;
    facts->miss = c->cycles;
    /* Doubling may have gone beyond the next cache. */
    if (c->row->of_sm && facts->miss > 1.2 * facts->next_hit)
        facts->miss = 1.2 * facts->next_hit;
    return 0;
}

/* The bracket of the first step of the curve. */
static int find_knee(struct curve *c, struct level_facts *facts, uint64_t least,
                     struct search *search, struct error *err)
{
    const double more = facts->miss - facts->hit;
    /* 2 cycles or 4 %: above what jitter and the choice of slices do; but not
     * so much that a good part of the loads could miss. */
    c->limit = facts->hit + fmin(fmax(0.04 * facts->hit, 2), 0.1 * more);
    c->settles = facts->hit + 0.7 * more;
    const struct search_range range = {.least = least,
                                       .most = facts->deep,
                                       .granularity = FINE,
                                       .relative = 32};
    return search_size(&range, fits, c, search, err);
}

static int ask(struct lab *lab, const struct level_row *row,
               struct level_facts *facts, struct error *err)
{
    struct curve c = {.lab = lab,
                      .row = row,
                      .stride = FINE,
                      .finding = lab_finding(lab, row->component, "parts")};
    const uint64_t least = row->of_sm ? 1024 : 32768;
    struct search search = {.state = SEARCH_ALL_FIT};
    bool found = false, far = false;
    facts->why = "the size of the cache could not be found";
    facts->present = false;
    if (find_costs(&c, facts, least, &found, err) != 0 ||
        (found && find_knee(&c, facts, least, &search, err) != 0))
        return err->code;
    if (search.state != SEARCH_BRACKETED) {
        finding_none(c.finding,
                     "loads of rings from %" PRIu64 " to %" PRIu64
                     " B cost too much alike",
                     least, facts->deep);
        return 0;
    }
    facts->fits = search.fits;
    facts->overflows = search.overflows;
    if (has_far_part(&c, facts, &far, err) != 0 ||
        (far && find_far_end(&c, facts, err) != 0))
        return err->code;
    facts->present = true;
    finding_set(c.finding, STATUS_MEASURED, value_number(far ? 2 : 1), "");
    finding_protocol(
        c.finding, "near_bytes",
        value_number((double)(far ? facts->near_fits : facts->fits)));
    return 0;
}

static int run(struct lab *lab, struct error *err)
{
    return lab_each_level(lab, "parts", ask, err);
}

const struct study study_capacity = {
    .name = "capacity",
    .question = "Roughly where does each cache end, and is all of it alike?",
    .method = "Rings of doubling size are swept and chased.  Where the first "
              "loads get slower the cache ends, or, if they are cheaper than "
              "misses, its near part.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run = run,
};
