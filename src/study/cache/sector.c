/*
 * How many bytes one miss brings in: neighbouring elements are read one after
 * the other where nothing is cached, and the distance from one slow load to the
 * next is what came in at once (Groessler 2022, 4.3, who takes it for the
 * line; it is the sector).
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "study/assume.h"
#include "study/lab.h"
#include "study/script.h"

static const struct answer proposes[] = {
    {level_components, "sector", "B"},
    {0},
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
    size_t dear[BYTES / ELEMENT]; /* … or was clearly no hit */
    size_t elements, laps;
};

/* Elements that lie side by side in one part of a cache: addresses are dealt to
 * parts in no smaller pieces (4 KiB: H100, H200). */
enum { SIDE = 4096 / ELEMENT };

/* What tells a miss from a hit, both of which cost more where the part is far,
 * so that a far hit may cost what a near miss does: most elements near to one
 * another hit, and a miss costs more than these do by as much as anywhere. */
struct miss_rule {
    double above, more; /* cycles; half of what a miss adds */
    double nearest; /* … and from there on where clearly many cost more than
                       that, but not more than `above`; 0: nowhere */
};

/* What misses the cache of an SM finds L2 near or far, or nothing there, and
 * rings hold all of that: what is near may cost less than half-way to them.
 * Clearly many loads that do are no spikes. */
static double above_of(const struct miss_rule *rule, const double *cycles,
                       size_t count)
{
    if (rule->nearest == 0)
        return rule->above;
    const size_t near = hits_above(cycles, count, rule->nearest) -
                        hits_above(cycles, count, rule->above);
    return near * HITS_CLEARLY >= count ? rule->nearest : rule->above;
}

static double above_near(const struct miss_rule *rule, const double *cycles,
                         size_t count)
{
    return fmax(rule->above, stats_median(cycles, count) + rule->more);
}

/* One more lap. */
static const char *look_again(struct lab *lab, const struct level_row *row,
                              const char *text, const struct miss_rule *rule,
                              struct laps_seen *seen)
{
    const struct column cycles = lab_column(lab, "cycles", "%s", text);
    const double dear = lab_clearly_dearer(lab, row, &cycles);
    double above = above_of(rule, cycles.at, cycles.count);
    seen->elements = cycles.count < COUNT_OF(seen->slow) ? cycles.count
                                                         : COUNT_OF(seen->slow);
    for (size_t i = 0; i < seen->elements; i++) {
        const size_t left = seen->elements - i;
        if (rule->more > 0 && i % SIDE == 0)
            above = above_near(rule, cycles.at + i, left < SIDE ? left : SIDE);
        seen->slow[i] += cycles.at[i] > above;
        seen->dear[i] += cycles.at[i] > dear;
    }
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

/* The commonest distance, in elements, how many of all distances it is, and how
 * much of all that was looked at these are. */
struct common_gap {
    size_t elements;
    double share, covers;
};

static struct common_gap commonest(const struct laps_seen *seen)
{
    size_t gaps[LARGEST / ELEMENT + 1] = {0}, best = 0, total = 0;
    count_gaps(seen, gaps);
    for (size_t i = 1; i <= LARGEST / ELEMENT; i++) {
        total += gaps[i];
        if (gaps[i] > gaps[best])
            best = i;
    }
    return (struct common_gap){
        .elements = best,
        .share = total > 0 ? (double)gaps[best] / (double)total : 0,
        .covers = total > 0
                      ? (double)(gaps[best] * best) / (double)seen->elements
                      : 0};
}

/* True if what misses this level never asks for less. */
static bool is_bound(const struct lab *lab, const struct level_row *row,
                     uint64_t sector)
{
    return row->behind != LEVEL_COUNT &&
           sector <= fact_sector(lab, row->behind)->bytes;
}

/* Spikes split a distance in two, and a survivor of the flush joins two; both
 * are rare where this method works at all. */
static const double share_least = 0.6;
/* Of one or two distances nobody knows what lies between: something keeps
 * nearly all. */
static const double covers_least = 0.25;

/* What a miss costs that finds L2 near, where one before brought the line in,
 * may be so much less than of others that it seems to hit: so half-way between
 * two that are slow it is clearly no hit. */
static bool is_halved(const struct laps_seen *seen, size_t gap)
{
    size_t dear = 0, all = 0;
    for (size_t i = gap / 2; gap > 1 && i < seen->elements; i += gap) {
        dear += 2 * seen->dear[i] > seen->laps;
        all++;
    }
    return all > 0 && hits_tally_of(dear, all) == TALLY_ALL;
}

static void conclude(const struct lab *lab, struct finding *f,
                     const struct level_row *row, struct fact_sector *facts,
                     const struct laps_seen *seen)
{
    const struct common_gap common = commonest(seen);
    size_t gap = common.elements;
    if (gap == 0 || common.share < share_least) {
        finding_none(f, why_sector_irregular, 100 * common.share);
        return;
    }
    if (common.covers < covers_least) {
        finding_none(f, why_sector_kept);
        return;
    }
    if ((gap & (gap - 1)) != 0) {
        finding_none(f, why_sector_odd, gap * row->apart);
        return;
    }
    while (is_halved(seen, gap))
        gap /= 2;
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

/* Blocks of local memory, of rows that hold a word of each lane; so many blocks
 * for each distance that is tried. */
enum { ROW = 128, BLOCK = 1024, BLOCKS = 16, FARTHEST = 512 };
enum { LANES_OF_ROW = 4 }; /* distances within a row: 8 to 64 B */

/* Loads the first word of each block, and then the one so many bytes farther
 * on: of another lane, or in another row. */
static void add_distance(struct script *s, uint64_t bytes, size_t reader,
                         uint64_t start)
{
    for (uint64_t at = start; at < start + BLOCKS * BLOCK; at += BLOCK) {
        script_load(s, 0, (struct segment){at, 1, 0});
        script_time(s, reader, (struct segment){at + bytes / ROW * ROW, 1, 0});
    }
}

/*
 * Local memory that nobody has written is in no cache; what a thread writes
 * stays in its first one.  Between two words of a thread lie those of the other
 * lanes of its warp: so lanes look for what the first one brought in.
 */
static struct column ask_lanes(struct lab *lab)
{
    struct script s = {0};
    uint64_t bytes = ELEMENT, start = 0;
    script_reader(&s, "local");
    for (unsigned i = 0; i < LANES_OF_ROW; i++)
        script_reader(&s, "local/%u", 2u << i);
    for (size_t i = 1; bytes <= FARTHEST; i++, bytes *= 2) {
        add_distance(&s, bytes, i <= LANES_OF_ROW ? i : 0, start);
        start += BLOCKS * BLOCK;
    }
    return lab_column(lab, "cycles", "visit %s", script_text(&s, lab));
}

/* What is timed in a visit may cost more than in a trace: the nearest words,
 * where they hit, tell what a hit costs there.  What L2 has brought in together
 * lies in the part that is near to it, and a miss costs hardly half of what
 * rings say, which lie in both: a quarter of the way; or less, where rings miss
 * L2, too, and words so far apart as an eighth of all are clearly dearer. */
static double limit_of_lanes(struct lab *lab, const struct fact_bracket *b,
                             const struct column *c)
{
    const double hit = stats_median(c->at, BLOCKS);
    const double limit = hits_limit(b->hit, b->miss) + fact_trace(lab)->cycles;
    return hit <= limit ? hits_least_miss(c->at, c->count, b->hit, hit - b->hit,
                                          hit + (b->miss - b->hit) / 4)
                        : limit;
}

/* The nearest distance at which most words were not there is the sector. */
static void sector_of_lanes(struct lab *lab, const struct level_row *row)
{
    struct fact_sector *const facts = fact_sector_write(lab, level_of(row));
    const struct column c = ask_lanes(lab);
    if (!lab_ok(lab))
        return;
    const double above =
        limit_of_lanes(lab, fact_bracket(lab, level_of(row)), &c);
    struct finding *const f = lab_finding(lab, row->component, "sector");
    finding_cite(f, c.experiment);
    uint64_t bytes = ELEMENT;
    const double *at = c.at;
    while (bytes <= FARTHEST && 2 * hits_above(at, BLOCKS, above) < BLOCKS)
        bytes *= 2, at += BLOCKS;
    if (bytes == ELEMENT || bytes > FARTHEST) {
        finding_none(f, why_misses_alike);
        return;
    }
    facts->bytes = bytes;
    facts->bound = false;
    finding_measured(f, (double)bytes);
    finding_interval(f, (double)bytes, (double)bytes, -1);
}

static bool is_regular(const struct laps_seen *seen)
{
    const struct common_gap common = commonest(seen);
    return common.share >= share_least && common.covers >= covers_least;
}

/* Laps over the elements, until one tells. */
static const char *look_often(struct lab *lab, const struct level_row *row,
                              uint64_t shift, const struct miss_rule *rule,
                              struct laps_seen *seen)
{
    const char *const text = lab_sector_trace(lab, row, shift);
    const char *experiment = NULL;
    bool regular = false;
    *seen = (struct laps_seen){0};
    for (int i = 0; lab_ok(lab) && i < LAPS && !regular; i++) {
        experiment = look_again(lab, row, text, rule, seen);
        regular = i == 0 && is_regular(seen);
    }
    return experiment;
}

static bool is_told(const struct laps_seen *seen)
{
    const size_t gap = commonest(seen).elements;
    return gap > 0 && (gap & (gap - 1)) == 0 && is_regular(seen);
}

/* Rings that are too large for L2, too, or that lie in a far part of it, say
 * too much: a quarter of the way; of what has parts rings say what a hit costs
 * in both, and here most cost what one does in one of them. */
static struct miss_rule quarter_way(struct lab *lab,
                                    const struct level_row *row)
{
    const struct fact_bracket *const b = fact_bracket(lab, level_of(row));
    const double more = (b->miss - b->hit) / 4;
    return (struct miss_rule){
        .above = row->of_sm ? b->hit + more + fact_trace(lab)->cycles : 0,
        .more = row->of_sm ? 0 : more,
    };
}

/* Half-way between what rings say that hits and misses cost.  Of what SMs share
 * also above what most cost: what one has is as near to it as all of it. */
static struct miss_rule half_way(struct lab *lab, const struct level_row *row)
{
    const struct fact_bracket *const b = fact_bracket(lab, level_of(row));
    return (struct miss_rule){
        .above = hits_limit(b->hit, b->miss) + fact_trace(lab)->cycles,
        .more = row->of_sm ? 0 : (b->miss - b->hit) / 2,
        .nearest = row->of_sm ? quarter_way(lab, row).above : 0,
    };
}

/* No L2 is known to fetch less than that. */
enum { FETCH_LEAST = 32 };

/* Rings of lines farther apart were loaded before, and a cache that prefers to
 * keep what it was asked for again may have kept those through the sweep: then
 * only others are slow, or none.  So more than the least is looked at again
 * where no ring has been. */
static bool may_have_kept(const struct level_row *row,
                          const struct laps_seen *seen)
{
    return !row->of_sm && (!is_told(seen) ||
                           commonest(seen).elements * row->apart > FETCH_LEAST);
}

static const char *look(struct lab *lab, const struct level_row *row,
                        struct laps_seen *seen)
{
    const struct miss_rule rule = half_way(lab, row);
    uint64_t shift = 0;
    const char *experiment = look_often(lab, row, shift, &rule, seen);
    if (lab_ok(lab) && may_have_kept(row, seen)) {
        shift = 2 * fact_bracket(lab, level_of(row))->deep;
        experiment = look_often(lab, row, shift, &rule, seen);
    }
    if (!lab_ok(lab) || is_told(seen))
        return experiment;
    const struct miss_rule lower = quarter_way(lab, row);
    if (!row->of_sm)
        shift += LAB_SECTOR_BYTES;
    experiment = look_often(lab, row, shift, &lower, seen);
    if (lab_ok(lab) && row->of_sm && !is_told(seen))
        memcpy(seen->slow, seen->dear, sizeof seen->slow);
    return experiment;
}

static void sector_ask_level(struct lab *lab, const struct level_row *row)
{
    struct fact_sector *const facts = fact_sector_write(lab, level_of(row));
    struct laps_seen *const seen = lab_alloc(lab, 1, sizeof *seen);
    if (row->memory_is_own) {
        sector_of_lanes(lab, row);
        return;
    }
    const char *const experiment = look(lab, row, seen);
    if (!lab_ok(lab))
        return;
    struct finding *const f = lab_finding(lab, row->component, "sector");
    conclude(lab, f, row, facts, seen);
    finding_cite(f, experiment);
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
    .reads = FACTS(FACT_TRACE, FACT_BRACKET),
    .proposes = proposes,
    .kernels = TEXTS("trace op=ca", "trace op=cg flush=1 stride=8",
                     "trace space=texture", "trace space=readonly",
                     "trace space=constant",
                     "visit readers=local,local/2,local/4,local/8,local/16 "
                     "steps=!57344:1:0"),
    .run = sector_run,
};
