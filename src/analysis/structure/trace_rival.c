#include "analysis/structure/trace_rival.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* A cache explains the visits if so few are not as it foretells, of hits or of
 * misses, whichever are fewer: of as many as those or more would one be wrong
 * that has nothing to do with them, and none of them itself.  One that orders
 * victims otherwise (a tree for lru) is wrong about 0.3 of them at most, one
 * that victims are random in is at 0.55: half-way between those two … */
static const double WRONG_MOST = 0.42;
/* … or, if its victims are random, as many are as it expects, but for what the
 * clock tells wrongly of hits and of misses, and it is likelier than that all
 * hit with one chance: of a few thousand shapes, each with some hundred numbers
 * of ways, the best is so by e^13 by luck, and this is four times that. */
static const double EXPECTED_OFF = 2 * 0.03;
static const double GAIN_LEAST = 50;
/* Likelihood (its logarithm) that another cache must have less: by chance it
 * has once in e^10 = 20000. */
static const double LEAD_LEAST = 10;
/* Of two that foretell something else about a visit one is right; at random
 * each is about half of them, and the cache itself about all: this is half-way.
 */
static const double RIGHT_LEAST = 0.75;
static const double DEVIATIONS = 5;
/* By so many deviations of how many visits the better one is wrong about the
 * other is wrong about more: three beside 24 told a way too many, and of 156
 * caches of random GPUs all that was right was told by 4.5 at least. */
static const double WRONG_MORE = 3;
/* Of calls that show a policy so many hit, and miss: four deviations of what
 * the clock tells wrongly of a hundred. */
static const double MANY_LACKS = 0.2;

/* So many are off by chance by more than a fourth of what is rarer. */
enum { FEW = 100 };

/* What shows so many times the contrary outweighs it: lines that fit and were
 * pushed out by another process (an H200's L1.5 beside one that copies) said by
 * 14 that lines are twice as long, where all others said by 205 and 88 that
 * they are not. */
static const double CONTRARY = 10;

enum { BINS = 10 };

static size_t begin_of(const struct trace_outcome *o, size_t kind)
{
    return kind > 0 ? o->end[kind - 1] : 0;
}

static double hits_of(const struct trace_outcome *o, size_t from, size_t to)
{
    double hits = 0;
    for (size_t i = from; i < to; i++)
        hits += o->hit[i];
    return hits;
}

/* Whether a load is likelier a hit than a miss. */
static bool foretells_hit(const struct trace_rival *r, size_t load)
{
    return r->chance[load] > 0.5;
}

static double wrong_of(const struct trace_rival *r,
                       const struct trace_outcome *o, size_t from, size_t to)
{
    double wrong = 0;
    for (size_t i = from; i < to; i++)
        wrong += o->hit[i] != foretells_hit(r, i);
    return wrong;
}

static bool is_foretold(const struct trace_rival *r,
                        const struct trace_outcome *o)
{
    const double seen = (double)o->count, hits = hits_of(o, 0, o->count);
    return seen - r->agree <= WRONG_MOST * fmin(hits, seen - hits);
}

double trace_rival_missed(const struct trace_rival *r,
                          const struct trace_outcome *o)
{
    return wrong_of(r, o, begin_of(o, TRACE_FITTING), o->count);
}

/* Of lines that fit no more are wrong than the clock tells wrongly: they hit
 * whatever the policy is, and however much of what there is room for is fetched
 * ahead, but not if sets are others. */
static bool is_fitting(const struct trace_rival *r,
                       const struct trace_outcome *o)
{
    const size_t fitting = o->count - begin_of(o, TRACE_FITTING);
    const double few = (double)fitting * TRACE_WRONG;
    return trace_rival_missed(r, o) <= few + DEVIATIONS * sqrt(few);
}

/* Of those before, and of those that are apart; there some cache nearly always
 * hits, which is no proof: of what is rarer as much must be right as of what
 * two foretell otherwise. */
static bool is_expected(const struct trace_rival *r,
                        const struct trace_outcome *o, size_t part)
{
    const size_t from = begin_of(o, part), to = o->end[part];
    const double seen = (double)(to - from), hits = hits_of(o, from, to);
    double bins[BINS] = {0}, off = 0;
    for (size_t i = from; i < to; i++)
        bins[(size_t)(r->chance[i] * BINS)] += o->hit[i] - r->chance[i];
    for (size_t i = 0; i < BINS; i++)
        off += fabs(bins[i]);
    const double share = (hits + 0.5) / (seen + 1);
    const double alike =
        seen * (share * log(share) + (1 - share) * log(1 - share));
    const double fewer = fmin(hits, seen - hits);
    if (part > 0 && seen < FEW) /* they say nothing */
        return true;
    /* And what as many stray by themselves, or need not have been late. */
    if (part > 0)
        return off <= (1 - RIGHT_LEAST) * fewer + sqrt(BINS * (fewer + 1)) +
                          TRACE_LATE * seen;
    return off < EXPECTED_OFF * seen &&
           r->likelihood[part] > alike + GAIN_LEAST;
}

/* How much more visits hit than is foretold, of one place. */
struct place {
    uint64_t at;
    double seen, off, var; /* … and the variance that chance has of that */
};

static int by_place(const void *a, const void *b)
{
    const uint64_t x = ((const struct place *)a)->at;
    const uint64_t y = ((const struct place *)b)->at;
    return (x > y) - (x < y);
}

/* The mixed visits by what they asked for; returns how many places. */
static size_t gather_places(const struct trace_rival *r,
                            const struct trace_outcome *o, struct place *places)
{
    const size_t seen = o->end[TRACE_MIXED];
    size_t last = 0;
    for (size_t i = 0; i < seen; i++) {
        const double p = r->chance[i];
        places[i] =
            (struct place){o->at[i], 1, (double)o->hit[i] - p, p * (1 - p)};
    }
    qsort(places, seen, sizeof *places, by_place);
    for (size_t i = 1; i < seen; i++)
        if (places[i].at != places[last].at)
            places[++last] = places[i];
        else {
            places[last].seen++;
            places[last].off += places[i].off;
            places[last].var += places[i].var;
        }
    return seen > 0 ? last + 1 : 0;
}

/*
 * Whether each place hits as often as it is expected to, as all together do.
 * In sets that are others some places meet more lines than is thought, and some
 * less: whatever the chance of all is, their own is another.  Of each place the
 * square of what it is off by is more than chance makes it by that; surely, if
 * it is by three deviations.
 */
static bool is_expected_everywhere(const struct trace_rival *r,
                                   const struct trace_outcome *o)
{
    if (o->at == NULL)
        return true;
    struct place *const places =
        xcalloc(o->end[TRACE_MIXED] + 1, sizeof *places);
    const size_t count = gather_places(r, o, places);
    double more = 0, squares = 0, variance = 0;
    for (size_t i = 0; i < count; i++) {
        const struct place *const p = &places[i];
        more += p->off * p->off - p->var;
        squares += p->seen * p->seen;
        variance += 2 * p->var * p->var;
    }
    free(places);
    return more - 3 * sqrt(variance) <= EXPECTED_OFF * EXPECTED_OFF * squares;
}

/* Of one set any chance looks like random victims, and so it tells nothing. */
bool trace_rival_explains(const struct trace_rival *r,
                          const struct trace_outcome *o)
{
    if (!is_fitting(r, o))
        return false;
    return trace_model_is_chance(&r->c)
               ? r->c.sets > 1 && is_expected(r, o, TRACE_MIXED) &&
                     is_expected(r, o, TRACE_APART) &&
                     is_expected_everywhere(r, o)
               : is_foretold(r, o);
}

/* Of so many visits that hit, by the share of them, which is no surer than what
 * chances are foretold with. */
static double likelihood_of_share(double hits, double of)
{
    if (of == 0)
        return 0;
    const double share = fmin(fmax(hits / of, TRACE_WRONG), 1 - TRACE_WRONG);
    return hits * log(share) + (of - hits) * log(1 - share);
}

/* Likelihood of what came about from one visit to another: for random victims
 * by the chances, otherwise by what these turned out to be, so that what is in
 * no model weighs as much as it does. */
static double likelihood_of(const struct trace_rival *r,
                            const struct trace_outcome *o, size_t from,
                            size_t to)
{
    double in[BINS] = {0}, count[BINS] = {0}, sum = 0;
    for (size_t i = from; i < to; i++) {
        const size_t bin = (size_t)(r->chance[i] * BINS);
        in[bin] += o->hit[i];
        count[bin]++;
        if (trace_model_is_chance(&r->c))
            sum += trace_model_of_hit(r->chance[i], o->hit[i]);
    }
    for (size_t i = 0; !trace_model_is_chance(&r->c) && i < BINS; i++)
        sum += likelihood_of_share(in[i], count[i]);
    return sum;
}

void trace_rival_weigh(struct trace_rival *r, const struct trace_outcome *o)
{
    r->agree = (double)o->count - wrong_of(r, o, 0, o->count);
    for (size_t kind = 0; kind < TRACE_KINDS; kind++)
        r->likelihood[kind] =
            likelihood_of(r, o, begin_of(o, kind), o->end[kind]);
}

double trace_rival_lead(const struct trace_rival *a,
                        const struct trace_rival *b)
{
    double lead = 0;
    for (size_t kind = 0; kind < TRACE_KINDS; kind++)
        lead += a->likelihood[kind] - b->likelihood[kind];
    return lead;
}

/* Of the visits of which both foretell something else the better one is right
 * about so many, if it is the cache and not just nearer to it.  Where the
 * policy is none of those, either shape is wrong about many, and it does for
 * the shape that it is right about more than half by five deviations of a coin.
 */
static bool is_right(const struct trace_rival *a, const struct trace_rival *b,
                     const struct trace_outcome *o, size_t from, size_t to)
{
    double differ = 0, right = 0;
    for (size_t i = from; i < to; i++)
        if (foretells_hit(a, i) != foretells_hit(b, i)) {
            differ++;
            right += foretells_hit(a, i) == o->hit[i];
        }
    return right >= RIGHT_LEAST * differ ||
           (!trace_model_is_shape(&a->c, &b->c) &&
            2 * right - differ >= DEVIATIONS * sqrt(differ));
}

/* Whether the one is wrong about fewer visits than the other, by more than
 * chance: what no model has, such as lines of the neighbour that come seldom,
 * makes wrong what it is wrong about, and makes some that the other is. */
static bool is_less_wrong(const struct trace_rival *one,
                          const struct trace_rival *other,
                          const struct trace_outcome *o, size_t from, size_t to)
{
    const double wrong = wrong_of(one, o, from, to);
    return wrong_of(other, o, from, to) - wrong >= WRONG_MORE * sqrt(wrong);
}

/* True if visits show that it is one and not the other: it foretells more, and
 * what else is there, which no model has, is not what tells them apart. */
static bool is_shown_in(const struct trace_rival *one,
                        const struct trace_rival *other,
                        const struct trace_outcome *o, size_t from, size_t to)
{
    const double lead =
        likelihood_of(one, o, from, to) - likelihood_of(other, o, from, to);
    return lead >= LEAD_LEAST && is_less_wrong(one, other, o, from, to) &&
           (one->c.line != other->c.line || is_right(one, other, o, from, to));
}

/* … those that are apart, those that fit, or those before: the most that any of
 * them shows of it. */
static double shown(const struct trace_rival *one,
                    const struct trace_rival *other,
                    const struct trace_outcome *o)
{
    double most = 0;
    for (size_t i = 0; i < TRACE_KINDS; i++)
        if (is_shown_in(one, other, o, begin_of(o, i), o->end[i]))
            most = fmax(most, one->likelihood[i] - other->likelihood[i]);
    return most;
}

/* Whether visits of many lines tell trace_policies: what comes ahead blurs
 * others, as it may come in otherwise.  Of those that nearly all hit, or nearly
 * none, any cache foretells most. */
static bool many_tell(const struct trace_outcome *o)
{
    const double many = (double)(o->many_end - o->many);
    const double hits = hits_of(o, o->many, o->many_end);
    return fmin(hits, many - hits) > MANY_LACKS * many;
}

/* Whether the neighbour leaves the same room in all sets, though it has more
 * lines there in the one than in the other: what it does there decides little,
 * and models of it are not as good as that. */
static bool is_same_room(const struct trace_model *a,
                         const struct trace_model *b)
{
    bool same = a->line == b->line && a->sets == b->sets &&
                a->shift == b->shift && a->fold == b->fold &&
                a->policy == b->policy;
    for (uint64_t set = 0; same && set < a->sets; set++)
        same = trace_model_ways(a, set) == trace_model_ways(b, set);
    return same;
}

/* … and the others do not show the contrary. */
bool trace_rival_is_behind(const struct trace_rival *best,
                           const struct trace_rival *r,
                           const struct trace_outcome *o)
{
    if (trace_model_is_chance(&best->c) || trace_model_is_chance(&r->c))
        return trace_rival_lead(best, r) >= LEAD_LEAST;
    if (is_same_room(&best->c, &r->c))
        return false;
    /* Sets that are joined foretell the same of nearly all visits, and of those
     * that differ what no model has makes many wrong. */
    if (best->c.shift != r->c.shift)
        return trace_rival_lead(best, r) >= GAIN_LEAST;
    if (best->c.policy != r->c.policy && many_tell(o))
        return is_shown_in(best, r, o, o->many, o->many_end);
    return shown(best, r, o) > CONTRARY * shown(r, best, o);
}

double trace_rival_agrees(const struct trace_rival *r,
                          const struct trace_outcome *o)
{
    const double all = r->agree / (double)o->count;
    const double wrong = wrong_of(r, o, o->many, o->many_end);
    return many_tell(o) ? fmax(all, 1 - wrong / (double)(o->many_end - o->many))
                        : all;
}
