/*
 * Which caches of an SM are one storage (Groessler 2022, 4.5).
 *
 * Two kinds of loads that read the same memory are asked first whether each
 * finds, at the cost of its own hits, what the other brought in: then they
 * share, however large the cache is.  Where they do not, or read different
 * memory, one kind loads a group of lines, the other far more than its cache
 * holds, and the group is timed again: lines that are all still there were in
 * another cache.  Both ways are asked, so that a cache behind another is not
 * taken for the same.
 *
 * Every script has its own controls: a group that nothing disturbs, which must
 * hit, or one that nobody loaded, which must miss.
 */
#include "analysis/hits.h"
#include "base/num.h"
#include "study/cache/first_level.h"
#include "study/lab.h"
#include "study/script.h"

static const char *const components[] = {"l1",    "texture",  "readonly",
                                         "local", "const_l1", NULL};
static const struct answer answers[] = {
    {components, "shares_with", ""},
    {0},
};
/* Local memory is declared as large as the steps need it. */
static const char *const kernels[] = {
    "visit readers=global.cg,global.ca",
    "visit readers=global.cg,texture",
    "visit readers=global.cg,readonly",
    "visit readers=global.cg,constant",
    "visit readers=global.cg,local steps=1@!19456:1:0",
    "visit readers=global.cg,local steps=1@!57216:1:0",
    "visit readers=global.ca,texture,readonly,local,constant",
    "visit readers=global.ca,texture,readonly,local,constant steps=3@!7168:1:0",
    NULL,
};

enum sharing_verdict { OPEN, SEPARATE, SHARED };

struct sharing {
    struct lab *lab;
    const struct fact_first_level *kind; /* of each */
    struct finding *finding[FIRST_LEVEL_COUNT];
    enum sharing_verdict verdict[FIRST_LEVEL_COUNT][FIRST_LEVEL_COUNT];
};

/* Where global loads are not cached near, L1 is what local loads show. */
static bool is_alias(const struct sharing *q)
{
    return !q->kind[LEVEL_L1].present && !q->kind[LEVEL_L1].unclear &&
           q->kind[LEVEL_LOCAL].present;
}

static bool is_there(const struct sharing *q, size_t id)
{
    return q->kind[id].present || (id == LEVEL_L1 && is_alias(q));
}

/* ---- one script ------------------------------------------------------- */

/* A script by all kinds that are there, so that one kernel serves for all; and
 * the number of each. */
static struct script begin(const struct sharing *q,
                           size_t number[FIRST_LEVEL_COUNT])
{
    struct script s = {0};
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++)
        if (q->kind[i].present)
            number[i] = script_reader(&s, "%s", level_table[i].reader);
    return s;
}

/* As many lines as there is room for where they are looked for. */
static struct first_level_group group_of(const struct sharing *q, size_t id,
                                         size_t number)
{
    return (struct first_level_group){number, q->kind[id].loads};
}

/* `group` 0 … ROUNDS-1: loaded by one, timed by the other, which then times
 * them once more (they must hit) and first, as a control, a group that is
 * new. */
static const char *find_script(const struct sharing *q, size_t bringer,
                               size_t finder)
{
    size_t number[FIRST_LEVEL_COUNT];
    struct script s = begin(q, number);
    struct first_level_group group = group_of(q, finder, FIRST_LEVEL_ROUNDS);
    first_level_time(&s, number[finder], group);
    for (group.number = 0; group.number < FIRST_LEVEL_ROUNDS; group.number++) {
        script_part(&s);
        first_level_load(&s, number[bringer], group);
        first_level_time(&s, number[finder], group);
        first_level_time(&s, number[finder], group);
    }
    return script_text(&s, q->lab);
}

static enum hits_tally judge_find(const double *cycles,
                                  const struct fact_first_level *n)
{
    size_t first = 0, again = 0;
    const size_t fresh = hits_above(cycles, n->loads, n->limit);
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        const double *const at = cycles + (1 + 2 * r) * n->loads;
        first += hits_above(at, n->loads, n->limit);
        again += hits_above(at + n->loads, n->loads, n->limit);
    }
    const size_t lines = FIRST_LEVEL_ROUNDS * n->lines;
    if (hits_tally_of(fresh, n->lines) != TALLY_ALL ||
        hits_tally_of(again, lines) != TALLY_NONE)
        return TALLY_OPEN;
    return hits_tally_of(first, lines);
}

/* Groups of one kind, a flood of the other between; last a group that nothing
 * disturbs. */
static const char *evict_script(const struct sharing *q, size_t victim,
                                size_t evictor, uint64_t flood, uint64_t apart)
{
    size_t number[FIRST_LEVEL_COUNT];
    struct script s = begin(q, number);
    struct first_level_group group = group_of(q, victim, 0);
    for (; group.number < FIRST_LEVEL_ROUNDS; group.number++) {
        script_part(&s);
        first_level_load(&s, number[victim], group);
        first_level_overfill_by(&s, number[evictor], flood, apart);
        first_level_time(&s, number[victim], group);
    }
    script_part(&s);
    first_level_load(&s, number[victim], group);
    first_level_time(&s, number[victim], group);
    return script_text(&s, q->lab);
}

static enum hits_tally judge_evict(const double *cycles,
                                   const struct fact_first_level *n)
{
    const size_t asked = FIRST_LEVEL_ROUNDS * n->loads;
    const size_t calm = hits_above(cycles + asked, n->loads, n->limit);
    if (hits_tally_of(calm, n->lines) != TALLY_NONE)
        return TALLY_OPEN;
    return hits_tally_of(hits_above(cycles, asked, n->limit),
                         FIRST_LEVEL_ROUNDS * n->lines);
}

/* ---- one pair --------------------------------------------------------- */

/* How often a script is run whose outcome is left open. */
enum { TAKES = 3 };

typedef enum hits_tally tally_judge(const double *cycles,
                                    const struct fact_first_level *n);

/* Runs a script until it says all or none of the kind whose lines are timed. */
static enum hits_tally settle(struct sharing *q, size_t timed,
                              const char *script, tally_judge *judge)
{
    enum hits_tally tally = TALLY_OPEN;
    for (int take = 0; lab_ok(q->lab) && tally == TALLY_OPEN && take < TAKES;
         take++) {
        const struct column v =
            lab_column(q->lab, "cycles", "visit %s take=%d", script, take);
        if (lab_ok(q->lab))
            tally = judge(v.at, &q->kind[timed]);
    }
    return tally;
}

static bool finds(struct sharing *q, size_t bringer, size_t finder)
{
    return settle(q, finder, find_script(q, bringer, finder), judge_find) ==
           TALLY_NONE;
}

/* Whether `victim` loses its lines to so many loads of `evictor`, so far apart;
 * open if that cannot be asked or told. */
static enum hits_tally loses(struct sharing *q, size_t victim, size_t evictor,
                             uint64_t flood, uint64_t apart)
{
    return flood == 0 ? TALLY_OPEN
                      : settle(q, victim,
                               evict_script(q, victim, evictor, flood, apart),
                               judge_evict);
}

/*
 * Loads in a row that push out the loader's own lines may leave out the sets of
 * another's: a hashed index may deal what lies in a row to half of the sets or
 * fewer, and others of local than of global memory, which is far off.  Rings in
 * a row show as little of it.  So if both are one storage four times what the
 * larger of them shows is loaded (as WIDER of size_bracket.c); 0: no more is
 * needed than `flood`, or so few loads push out the evictor's own lines, less
 * than an eighth, that it is no such storage.
 */
enum { WIDER = 4, LEFT_OUT = 8 };

static uint64_t flood_of_both(const struct sharing *q, size_t victim,
                              size_t evictor, uint64_t flood)
{
    const struct fact_bracket *const a =
        fact_bracket(q->lab, (enum level_id)victim);
    const struct fact_bracket *const b =
        fact_bracket(q->lab, (enum level_id)evictor);
    const uint64_t lines =
        u64_max(a->present ? a->overflows : 0, b->present ? b->overflows : 0) /
        FIRST_LEVEL_APART;
    const uint64_t most = first_level_most(&level_table[evictor]);
    return WIDER * lines <= flood ||
                   LEFT_OUT * q->kind[evictor].overfill < lines
               ? 0
               : u64_min(WIDER * lines, most);
}

/* Of lines that are shorter than loads are apart a flood leaves some out: of a
 * hashed index sets, others at other addresses.  The line that both have, as
 * they do if they are one storage; else the loads' distance. */
static uint64_t line_of_both(const struct sharing *q, size_t a, size_t b)
{
    const uint64_t x = fact_line(q->lab, (enum level_id)a)->bytes;
    const uint64_t y = fact_line(q->lab, (enum level_id)b)->bytes;
    const uint64_t line = x > 0 && (y == 0 || x == y) ? x : y;
    const bool may_be_one = x == 0 || y == 0 || x == y;
    return may_be_one && line > 0 && line < FIRST_LEVEL_APART
               ? line
               : FIRST_LEVEL_APART;
}

/* What one way of asking said. */
struct way {
    bool asked; /* it can be asked */
    enum hits_tally lost;
};

/* A flood that leaves no line out shows whether what stayed had not met one
 * that does; a lane of local memory reaches each such part of 128 B alone. */
static struct way ask_way(struct sharing *q, size_t victim, size_t evictor)
{
    const uint64_t line = line_of_both(q, victim, evictor);
    uint64_t flood =
        first_level_flood(&q->kind[evictor], &level_table[evictor], 2);
    struct way w = {.asked = q->kind[evictor].overfill > 0,
                    .lost =
                        loses(q, victim, evictor, flood, FIRST_LEVEL_APART)};
    const uint64_t more = flood_of_both(q, victim, evictor, flood);
    if (w.lost == TALLY_NONE && more > flood) {
        flood = more;
        w.lost = loses(q, victim, evictor, flood, FIRST_LEVEL_APART);
    }
    if (w.lost != TALLY_NONE || line == FIRST_LEVEL_APART)
        return w;
    if (level_table[evictor].memory_is_own)
        return (struct way){.lost = TALLY_OPEN};
    w.lost = loses(q, victim, evictor, flood, line);
    return w;
}

/* One that keeps its lines shows that there are two; to show that there is
 * one, no way that can be asked may be open. */
static enum sharing_verdict judge_ways(const struct way way[2])
{
    bool shown = false;
    for (size_t i = 0; i < 2; i++) {
        if (way[i].asked && way[i].lost == TALLY_OPEN)
            return OPEN;
        shown = shown || way[i].asked;
    }
    return shown ? SHARED : OPEN;
}

static enum sharing_verdict ask_pair(struct sharing *q, size_t a, size_t b)
{
    const size_t id[2] = {a, b};
    struct way way[2];
    if (level_table[a].same_data && level_table[b].same_data &&
        finds(q, a, b) && finds(q, b, a))
        return SHARED;
    for (size_t i = 0; i < 2; i++) {
        way[i] = ask_way(q, id[i], id[1 - i]);
        if (way[i].lost == TALLY_NONE)
            return SEPARATE;
    }
    return judge_ways(way);
}

/* ---- all of them ------------------------------------------------------ */

static void set_verdict(struct sharing *q, size_t a, size_t b,
                        enum sharing_verdict verdict)
{
    q->verdict[a][b] = q->verdict[b][a] = verdict;
}

static void cite_pair(struct sharing *q, size_t a, size_t b)
{
    lab_cite(q->lab, q->finding[a]);
    lab_cite(q->lab, q->finding[b]);
    if (is_alias(q) && (a == LEVEL_LOCAL || b == LEVEL_LOCAL))
        lab_cite(q->lab, q->finding[LEVEL_L1]);
}

static void ask_pairs(struct sharing *q)
{
    for (size_t a = 0; a < FIRST_LEVEL_COUNT; a++)
        for (size_t b = a + 1; b < FIRST_LEVEL_COUNT; b++) {
            if (!q->kind[a].present || !q->kind[b].present)
                continue;
            cite_pair(q, a, b);
            const enum sharing_verdict verdict = ask_pair(q, a, b);
            lab_uncite(q->lab);
            set_verdict(q, a, b, lab_ok(q->lab) ? verdict : OPEN);
            lab_excuse(q->lab);
        }
}

/* What two are to each other if `c` is one with the first of them: what it is
 * to the other. */
static void infer(struct sharing *q, size_t a, size_t b, size_t c)
{
    if (q->verdict[a][b] == OPEN && q->verdict[a][c] == SHARED && a != b)
        set_verdict(q, a, b, q->verdict[c][b]);
}

/* If all three are known and contradict each other, nothing is sure. */
static void doubt(struct sharing *q, size_t a, size_t b, size_t c)
{
    if (q->verdict[a][b] != SEPARATE || q->verdict[a][c] != SHARED ||
        q->verdict[c][b] != SHARED)
        return;
    set_verdict(q, a, b, OPEN);
    set_verdict(q, a, c, OPEN);
    set_verdict(q, c, b, OPEN);
}

static void each_three(struct sharing *q,
                       void (*act)(struct sharing *, size_t, size_t, size_t))
{
    for (size_t a = 0; a < FIRST_LEVEL_COUNT; a++)
        for (size_t b = 0; b < FIRST_LEVEL_COUNT; b++)
            for (size_t c = 0; c < FIRST_LEVEL_COUNT; c++)
                act(q, a, b, c);
}

static void follow_local(struct sharing *q)
{
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++)
        set_verdict(q, LEVEL_L1, i, q->verdict[LEVEL_LOCAL][i]);
    set_verdict(q, LEVEL_L1, LEVEL_LOCAL, SHARED);
}

static void conclude(const struct sharing *q, size_t id)
{
    struct finding *const f = q->finding[id];
    struct value list = value_list();
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++) {
        if (i == id || (!is_there(q, i) && !q->kind[i].unclear))
            continue;
        if (q->verdict[id][i] == OPEN) {
            finding_none(f, why_sharing_untold, level_table[i].component);
            value_free(&list);
            return;
        }
        if (q->verdict[id][i] == SHARED)
            value_push(&list, value_text(level_table[i].component));
    }
    finding_value(f, STATUS_MEASURED, list);
    const struct fact_first_level *const own =
        &q->kind[id == LEVEL_L1 && is_alias(q) ? LEVEL_LOCAL : id];
    finding_protocol(f, "hit_cycles", value_number(own->hit));
    finding_protocol(f, "hit_at_most", value_number(own->limit));
    finding_protocol(f, "overfilled_by", value_number((double)own->overfill));
}

static void sharing_run(struct lab *lab)
{
    struct sharing q = {.lab = lab, .kind = fact_first_level(lab, 0)};
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++)
        q.finding[i] =
            lab_finding(lab, level_table[i].component, "shares_with");
    first_level_measure(lab, q.finding);
    lab_about(lab, LAB_NO_FACT);
    ask_pairs(&q);
    if (!lab_ok(lab))
        return;
    each_three(&q, doubt);
    each_three(&q, infer);
    if (is_alias(&q))
        follow_local(&q);
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++)
        if (is_there(&q, i))
            conclude(&q, i);
        else
            finding_none(q.finding[i], "%s", q.kind[i].why);
}

const struct study study_sharing = {
    .name = "sharing",
    .question = "Which caches of an SM are one storage?",
    .method = "Lines that one kind of load brought in are looked for by the "
              "other; where they are not found, or cannot be, one kind loads "
              "more than its cache holds, and what the other had loaded "
              "before is timed again.",
    .reads = FACTS(FACT_CACHED, FACT_BRACKET, FACT_LINE),
    .reads_findings = TEXTS("clock.overhead"),
    .answers = answers,
    .kernels = kernels,
    .run = sharing_run,
};
