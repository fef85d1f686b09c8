/*
 * How many bytes one miss brings in: neighbouring elements are read one after
 * the other where nothing is cached, and the distance from one slow load to the
 * next is what came in at once (Groessler 2022, 4.3, who takes it for the
 * line; it is the sector).
 */
#include <inttypes.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "study/assume.h"
#include "study/lab.h"

static const struct answer proposes[] = {
    {level_components, "sector", "B"},
    {0},
};
static const enum fact_id reads[] = {FACT_TRACE, FACT_BRACKET, FACT_NONE};
static const char *const kernels[] = {
    "trace op=ca",
    "trace op=cg flush=1 stride=8",
    "trace space=texture",
    "trace space=readonly",
    "trace space=constant",
    "trace space=local",
    "visit readers=local,local/31",
    NULL,
};

enum { BYTES = LAB_SECTOR_BYTES, LARGEST = 4096 };
/* The nearest elements of all spaces are so far apart. */
enum { ELEMENT = 8 };

/* Each element is loaded so often, each time where nothing is cached, if once
 * does not tell: what disturbs does not come again at the same element. */
enum { LAPS = 5 };

/* What the laps over all elements showed. */
struct laps_seen {
    size_t slow[BYTES / ELEMENT]; /* laps in which the element was slow */
    size_t elements, laps;
};

/* One more lap. */
static const char *look_again(struct lab *lab, const char *text, double above,
                              struct laps_seen *seen)
{
    const struct column cycles = lab_column(lab, "cycles", "%s", text);
    seen->elements = cycles.count < COUNT_OF(seen->slow) ? cycles.count
                                                         : COUNT_OF(seen->slow);
    for (size_t i = 0; i < seen->elements; i++)
        seen->slow[i] += cycles.at[i] > above;
    seen->laps++;
    return cycles.experiment;
}

/* Counts the distances, in elements, between one that is slow in most laps and
 * the next. */
static void count_gaps(const struct laps_seen *seen, size_t *gaps)
{
    size_t last = 0;
    bool any = false;
    for (size_t i = 0; i < seen->elements; i++) {
        if (2 * seen->slow[i] <= seen->laps)
            continue;
        if (any && i - last <= LARGEST / ELEMENT)
            gaps[i - last]++;
        last = i;
        any = true;
    }
}

/* The commonest distance and how many of all distances it is. */
static size_t commonest(const struct laps_seen *seen, double *share)
{
    size_t gaps[LARGEST / ELEMENT + 1] = {0}, best = 0, total = 0;
    count_gaps(seen, gaps);
    for (size_t i = 1; i <= LARGEST / ELEMENT; i++) {
        total += gaps[i];
        if (gaps[i] > gaps[best])
            best = i;
    }
    *share = total > 0 ? (double)gaps[best] / (double)total : 0;
    return best;
}

/* True if what misses this level never asks for less. */
static bool is_bound(const struct lab *lab, const struct level_row *row,
                     uint64_t sector)
{
    if (row->behind != LEVEL_COUNT)
        return sector <= fact_sector(lab, row->behind)->bytes;
    return row->apart > ELEMENT && sector == row->apart;
}

/* Spikes split a distance in two, and a survivor of the flush joins two; both
 * are rare where this method works at all. */
static const double share_least = 0.6;

static void conclude(const struct lab *lab, struct finding *f,
                     const struct level_row *row, struct fact_sector *facts,
                     const struct laps_seen *seen)
{
    double share;
    const size_t gap = commonest(seen, &share);
    if (gap == 0 || share < share_least) {
        finding_none(f, why_sector_irregular, 100 * share);
        return;
    }
    if ((gap & (gap - 1)) != 0) {
        finding_none(f, why_sector_odd, gap * row->apart);
        return;
    }
    /* Elements are of no more than a word or two, and no sector is so small:
     * where each is slow no hit was seen. */
    if (gap == 1 && row->apart == ELEMENT) {
        finding_none(f, why_misses_alike);
        return;
    }
    facts->bytes = gap * row->apart;
    facts->bound = is_bound(lab, row, facts->bytes);
    finding_value(f, facts->bound ? STATUS_AT_MOST : STATUS_MEASURED,
                  value_number((double)facts->bytes));
    if (!facts->bound)
        finding_interval(f, (double)facts->bytes, (double)facts->bytes, -1);
}

/* Words of local memory that are looked for, so many bytes of cache apart. */
enum { ROWS = 32, ROWS_APART = 128, LANE_LAST = 31 };

/*
 * Between two words of a thread lie those of the other lanes of its warp.  What
 * the first lane brought in, the last one looks for, 124 B farther on: where it
 * finds it, one miss brings in all that lies between the thread's words.
 */
static void sector_ask_lanes(struct lab *lab, struct fact_sector *facts,
                             struct finding *f)
{
    const struct column cycles = lab_column(
        lab, "cycles",
        "visit readers=local,local/%d steps=!0:%d:%d,!0:%d:%d,1@!0:%d:%d",
        LANE_LAST, ROWS, ROWS_APART, ROWS, ROWS_APART, ROWS, ROWS_APART);
    if (!lab_ok(lab))
        return;
    const double cold = stats_median(cycles.at, ROWS);
    const double hit = stats_median(cycles.at + ROWS, ROWS);
    const double last = stats_median(cycles.at + 2 * ROWS, ROWS);
    if (cold > assume(ASSUME_NO_HIT_TIMES) * hit &&
        last < hit + assume(ASSUME_HIT_NEARER) * (cold - hit)) {
        facts->bound = false;
        finding_measured(f, (double)facts->bytes);
        finding_interval(f, (double)facts->bytes, (double)facts->bytes, -1);
        finding_cite(f, cycles.experiment);
    }
}

/* Laps over the elements, until one tells. */
static const char *look_often(struct lab *lab, const struct level_row *row,
                              uint64_t shift, struct laps_seen *seen)
{
    const struct fact_bracket *const bracket = fact_bracket(lab, level_of(row));
    const char *const text = lab_sector_trace(lab, row, shift);
    const double above =
        hits_limit(bracket->hit, bracket->miss) + fact_trace(lab)->cycles;
    const char *experiment = NULL;
    double share = 0;
    *seen = (struct laps_seen){0};
    for (int i = 0; lab_ok(lab) && i < LAPS && share < share_least; i++) {
        experiment = look_again(lab, text, above, seen);
        if (i == 0)
            commonest(seen, &share);
    }
    return experiment;
}

/* No L2 is known to fetch less than that. */
enum { FETCH_LEAST = 32 };

/* Rings of lines farther apart were loaded before, and a cache that prefers to
 * keep what it was asked for again may have kept those through the sweep: then
 * only others are slow.  So more than the least is looked at again where no
 * ring has been. */
static bool may_have_kept(const struct level_row *row,
                          const struct laps_seen *seen)
{
    double share;
    return !row->of_sm && commonest(seen, &share) * row->apart > FETCH_LEAST;
}

static void sector_ask_level(struct lab *lab, const struct level_row *row)
{
    struct fact_sector *const facts = fact_sector_write(lab, level_of(row));
    struct laps_seen *const seen = lab_alloc(lab, 1, sizeof *seen);
    const char *experiment = look_often(lab, row, 0, seen);
    if (lab_ok(lab) && may_have_kept(row, seen))
        experiment = look_often(
            lab, row, 2 * fact_bracket(lab, level_of(row))->deep, seen);
    if (!lab_ok(lab))
        return;
    struct finding *const f = lab_finding(lab, row->component, "sector");
    conclude(lab, f, row, facts, seen);
    finding_cite(f, experiment);
    if (row->apart > ELEMENT && facts->bound)
        sector_ask_lanes(lab, facts, f);
    if (lab_ok(lab) && facts->bound)
        lab_because_short(f, row);
}

static void sector_run(struct lab *lab)
{
    lab_each_level(lab, "sector", sector_ask_level);
}

const struct study study_sector = {
    .name = "sector",
    .question = "How many bytes does one miss bring in?",
    .method = "Consecutive elements are read where nothing is cached; the "
              "distance between slow loads is the sector.",
    .reads = reads,
    .proposes = proposes,
    .kernels = kernels,
    .run = sector_run,
};
