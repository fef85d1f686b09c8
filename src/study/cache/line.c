/*
 * How many bytes are looked up and evicted together.
 *
 * For a candidate L the ring visits one element of each L bytes of the cache's
 * size, and three quarters as many from the middles of L-byte blocks beyond.
 * Is the line L or longer, those are many more lines than the cache has, and by
 * the pigeonhole principle loads miss whatever index and policy are.  Is it
 * shorter, the first part occupies at most half of the cache and all fits;
 * unless an index happens to put both parts in the same sets, which is why
 * several places beyond are tried, and one that fits decides.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "study/study.h"

static const char *const needs[] = {"sector", NULL};
static const char *const gives[] = {
    "l1.line",       "texture.line",   "readonly.line", "local.line",
    "const_l1.line", "const_l15.line", "l2.line",       NULL,
};

enum { LINE_MOST = 1024 };

/* Where the second part begins, in multiples of the first one's length: odd and
 * even, and such that no address bit is the same in all. */
static const unsigned places[] = {1, 2, 3, 4, 7, 8};

/* The elements of one candidate: `count` in the cache's size, and `more` from
 * `beyond` on. */
struct layout {
    uint64_t line, count, beyond, more;
};

/* No more elements beyond than there is room for, where that is bounded; none
 * if that leaves too few to tell. */
static struct layout lay_out(const struct level_row *row,
                             const struct level_facts *facts, uint64_t line,
                             size_t place)
{
    struct layout l = {.line = line, .count = facts->fits / line};
    l.beyond = places[place] * l.count * line + line / 2;
    l.more = l.count - l.count / 4;
    if (row->bound == NULL)
        return l;
    const uint64_t room = row->most > l.beyond ? row->most - l.beyond : 0;
    if (room / line < l.more)
        l.more = room / line < l.count / 16 + 2 ? 0 : room / line;
    return l;
}

/* Shares of the loads: that miss; that the level before kept. */
struct shares {
    double miss, before;
};

/* By their average cost. */
static int average_share(struct lab *lab, const struct level_row *row,
                         const struct level_facts *facts, const char *list,
                         int warm, struct finding *f, struct shares *shares,
                         struct error *err)
{
    struct cost cost;
    if (lab_average(lab, &cost, err,
                    "chase %s %s warm=%d visits=4096 repeats=1", row->load,
                    list, warm) != 0)
        return err->code;
    shares->miss =
        (cost.cycles - facts->plateau) / (facts->miss - facts->plateau);
    shares->before = 0;
    finding_evidence(f, cost.experiment);
    free(cost.experiment);
    return 0;
}

/* One by one, since some may not be asked of this level at all. */
static int traced_share(struct lab *lab, const struct level_row *row,
                        const struct level_facts *facts, const char *list,
                        int warm, struct finding *f, struct shares *shares,
                        struct error *err)
{
    const double before = lab->facts[row->behind].hit;
    struct samples s;
    char *name;
    if (lab_probe(lab, &s, &name, err, "trace %s %s warm=%d visits=2048",
                  row->load, list, warm) != 0)
        return err->code;
    const size_t cycles = samples_column(&s, "cycles");
    size_t slow = 0, fast = 0;
    for (size_t i = 0; i < s.rows; i++) {
        const double c = (double)samples_at(&s, i, cycles) - lab->trace_cost;
        slow += c > (facts->hit + facts->miss) / 2;
        fast += c < (before + facts->hit) / 2;
    }
    shares->miss = (double)slow / (double)s.rows;
    shares->before = (double)fast / (double)s.rows;
    finding_evidence(f, name);
    free(name);
    samples_free(&s);
    return 0;
}

static int shares_of(struct lab *lab, const struct level_row *row,
                     const struct level_facts *facts, const struct layout *l,
                     int warm, struct finding *f, struct shares *shares,
                     struct error *err)
{
    char *const list = xasprintf(
        "list=0:%" PRIu64 ":%" PRIu64 ",%" PRIu64 ":%" PRIu64 ":%" PRIu64,
        l->count, l->line, l->beyond, l->more, l->line);
    const int status =
        row->behind != LEVEL_COUNT
            ? traced_share(lab, row, facts, list, warm, f, shares, err)
            : average_share(lab, row, facts, list, warm, f, shares, err);
    free(list);
    return status;
}

/* Of too many lines nearly as many miss as there are too many, 40 % with three
 * quarters beyond, under any policy of the model; of what fits, next to none,
 * once it has settled.  What the level before keeps is not too many here; if
 * that leaves none, the limit is below all shares, and the line is in doubt. */
static double overfull_share(const struct layout *l, const struct shares *s)
{
    const double more = (double)l->more / (double)(l->count + l->more);
    return more - s->before > 0.05 ? 0.58 * (more - s->before) : -1;
}
static const double certain_share = 0.95;
/* Laps after which a cache with random victims has settled well enough. */
enum { SETTLING = 16 };

/* Asks once the ring has settled, as far as that may change the verdict. */
static int is_overfull_at(struct lab *lab, const struct level_row *row,
                          const struct level_facts *facts,
                          const struct layout *l, struct finding *f, bool *yes,
                          struct error *err)
{
    struct shares s;
    if (shares_of(lab, row, facts, l, 1, f, &s, err) != 0)
        return err->code;
    *yes = s.miss > overfull_share(l, &s);
    if (!*yes || s.miss >= certain_share)
        return 0;
    if (shares_of(lab, row, facts, l, SETTLING, f, &s, err) != 0)
        return err->code;
    *yes = s.miss > overfull_share(l, &s);
    return 0;
}

/* True if a cache with lines of `line` bytes or more is overfull at every
 * place; false if at one all fits. */
static int overfull(struct lab *lab, const struct level_row *row,
                    const struct level_facts *facts, uint64_t line,
                    struct finding *f, bool *yes, struct error *err)
{
    *yes = true;
    for (size_t place = 0; *yes && place < COUNT_OF(places); place++) {
        const struct layout l = lay_out(row, facts, line, place);
        if (l.more > 0 && is_overfull_at(lab, row, facts, &l, f, yes, err) != 0)
            return err->code;
    }
    return 0;
}

/* One that no candidate but the shortest was found to be longer than. */
static void report(struct finding *f, struct level_facts *facts, uint64_t line)
{
    facts->line = line;
    finding_set(f, STATUS_MEASURED, value_number((double)line), "B");
    finding_interval(f, (double)line, (double)line, 0.99);
}

static void report_at_most(struct finding *f, const struct level_row *row,
                           struct level_facts *facts, uint64_t line)
{
    facts->line = line;
    facts->line_bound = true;
    finding_set(f, STATUS_AT_MOST, value_number((double)line), "B");
    lab_because_short(f, row);
}

/* A line that is not seen to make room is no shorter than what it brings in. */
static void report_at_least(struct finding *f, const struct level_row *row,
                            struct level_facts *facts)
{
    facts->line = facts->sector;
    facts->line_bound = facts->sector_bound;
    if (facts->sector_bound) {
        finding_none(f, "too few lines more than fit can be asked for: %s",
                     row->bound);
        return;
    }
    finding_set(f, STATUS_AT_LEAST, value_number((double)facts->sector), "B");
    finding_because(f,
                    "it is no shorter than the sector, and too few lines more "
                    "than fit can be asked for: %s",
                    row->bound);
}

/* Where there is room for few places, all may put both parts in the same sets;
 * then only what fits is sure.  The sector is no longer than the line. */
static void report_doubt(struct finding *f, const struct level_row *row,
                         struct level_facts *facts, uint64_t line)
{
    facts->line = facts->sector;
    facts->line_bound = facts->sector_bound;
    finding_set(f, STATUS_AT_MOST, value_number((double)line), "B");
    finding_because(f,
                    "longer ones would not fit; whether it is shorter could "
                    "be tried at too few places: %s",
                    row->bound);
}

/* The longest candidate: a cache has four lines at least. */
static uint64_t longest(const struct level_facts *facts)
{
    uint64_t line = LINE_MOST;
    while (line > 64 && facts->fits / line < 4)
        line /= 2;
    return line;
}

static size_t places_for(const struct level_row *row,
                         const struct level_facts *facts, uint64_t line)
{
    size_t count = 0;
    for (size_t place = 0; place < COUNT_OF(places); place++)
        count += lay_out(row, facts, line, place).more > 0;
    return count;
}

/* Overfull at so many places is no accident. */
enum { PLACES_LEAST = 3 };

static void conclude(struct finding *f, const struct level_row *row,
                     struct level_facts *facts, uint64_t line, bool over)
{
    const bool absurd = over && line == longest(facts);
    if (over && (places_for(row, facts, line) < PLACES_LEAST ||
                 (absurd && row->behind != LEVEL_COUNT)))
        report_doubt(f, row, facts, line);
    else if (absurd)
        finding_none(f,
                     "even elements %" PRIu64 " B apart share lines, which no "
                     "cache known does",
                     line);
    else if (!over && facts->sector_bound)
        report_at_most(f, row, facts, line);
    else
        report(f, facts, line);
}

static int ask(struct lab *lab, const struct level_row *row,
               struct level_facts *facts, struct error *err)
{
    struct finding *const f = lab_finding(lab, row->component, "line");
    if (facts->sector == 0) {
        finding_none(f, "the sector is not known");
        return 0;
    }
    if (row->bound != NULL && places_for(row, facts, longest(facts)) == 0) {
        report_at_least(f, row, facts);
        return 0;
    }
    /* From above, since long lines make short rings; a line is no shorter than
     * the sector that a miss fills. */
    const uint64_t least = facts->sector_bound && row->behind != LEVEL_COUNT
                               ? lab_shortest(lab, row)
                               : facts->sector;
    uint64_t line = 2 * longest(facts);
    bool over = false;
    while (!over && line > least) {
        line /= 2;
        if (line > least && overfull(lab, row, facts, line, f, &over, err) != 0)
            return err->code;
    }
    conclude(f, row, facts, line, over);
    return 0;
}

static int run(struct lab *lab, struct error *err)
{
    return lab_each_level(lab, "line", ask, err);
}

const struct study study_line = {
    .name = "line",
    .question = "How many bytes are looked up and evicted together?",
    .method = "One element of each L bytes, more than fit if L is the line or "
              "less: they miss by the pigeonhole principle, and "
              "fit if the line is shorter.",
    .needs = needs,
    .gives = gives,
    .run = run,
};
