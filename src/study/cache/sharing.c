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
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "study/lab.h"

static const char *const needs[] = {"clock", NULL};
static const char *const gives[] = {
    "l1.shares_with",    "texture.shares_with",  "readonly.shares_with",
    "local.shares_with", "const_l1.shares_with", NULL};
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

enum verdict { OPEN, SEPARATE, SHARED };

struct inquiry {
    struct lab *lab;
    struct finding *finding[FIRST_LEVEL_COUNT];
    enum verdict verdict[FIRST_LEVEL_COUNT][FIRST_LEVEL_COUNT];
    char *readers; /* all that are there, so that one kernel serves */
    size_t number[FIRST_LEVEL_COUNT]; /* of a kind among them */
};

/* ---- one script ------------------------------------------------------- */

/* `group` 0 … ROUNDS-1: loaded by one, timed by the other, which then times
 * them once more (they must hit) and first, as a control, a group that is
 * new. */
static char *find_script(size_t bringer, size_t finder)
{
    struct buf steps = {0};
    first_level_time(&steps, finder, FIRST_LEVEL_ROUNDS);
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        first_level_load(&steps, bringer, r);
        first_level_time(&steps, finder, r);
        first_level_time(&steps, finder, r);
    }
    return buf_take(&steps);
}

static enum hits_tally judge_find(const struct visited *v,
                                         const struct first_level *n)
{
    size_t first = 0, again = 0;
    const size_t fresh = visited_over(v, 0, FIRST_LEVEL_LINES, n->limit);
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        const size_t at = (1 + 2 * r) * FIRST_LEVEL_LINES;
        first += visited_over(v, at, FIRST_LEVEL_LINES, n->limit);
        again += visited_over(v, at + FIRST_LEVEL_LINES, FIRST_LEVEL_LINES,
                              n->limit);
    }
    const size_t lines = FIRST_LEVEL_ROUNDS * n->lines;
    if (hits_tally_of(fresh, n->lines) != TALLY_ALL ||
        hits_tally_of(again, lines) != TALLY_NONE)
        return TALLY_OPEN;
    return hits_tally_of(first, lines);
}

/* Groups of one kind, a flood of the other between; last a group that nothing
 * disturbs. */
static char *evict_script(size_t victim, size_t evictor, uint64_t flood)
{
    struct buf steps = {0};
    for (size_t r = 0; r < FIRST_LEVEL_ROUNDS; r++) {
        first_level_load(&steps, victim, r);
        first_level_overfill(&steps, evictor, flood);
        first_level_time(&steps, victim, r);
    }
    first_level_load(&steps, victim, FIRST_LEVEL_ROUNDS);
    first_level_time(&steps, victim, FIRST_LEVEL_ROUNDS);
    return buf_take(&steps);
}

static enum hits_tally judge_evict(const struct visited *v,
                                          const struct first_level *n)
{
    const size_t asked = FIRST_LEVEL_ROUNDS * FIRST_LEVEL_LINES;
    const size_t calm = visited_over(v, asked, FIRST_LEVEL_LINES, n->limit);
    if (hits_tally_of(calm, n->lines) != TALLY_NONE)
        return TALLY_OPEN;
    return hits_tally_of(visited_over(v, 0, asked, n->limit),
                                FIRST_LEVEL_ROUNDS * n->lines);
}

/* ---- one pair --------------------------------------------------------- */

static bool is_alias(const struct lab *lab)
{
    return !lab->first_level[FIRST_LEVEL_L1].present &&
           lab->first_level[FIRST_LEVEL_LOCAL].present;
}

static void add_evidence(struct inquiry *q, enum first_level_id id,
                         const char *experiment)
{
    finding_evidence(q->finding[id], experiment);
    if (id == FIRST_LEVEL_LOCAL && is_alias(q->lab))
        finding_evidence(q->finding[FIRST_LEVEL_L1], experiment);
}

/* How often a script is run whose outcome is left open. */
enum { TAKES = 3 };

/* Runs a script on behalf of two kinds until it says all or none of `asked`,
 * whose lines are timed. */
static int settle(struct inquiry *q, enum first_level_id asked,
                  enum first_level_id other, const char *steps,
                  enum hits_tally (*judge)(const struct visited *,
                                                  const struct first_level *),
                  enum hits_tally *tally, struct error *err)
{
    int status = 0;
    *tally = TALLY_OPEN;
    for (int take = 0; status == 0 && *tally == TALLY_OPEN && take < TAKES;
         take++) {
        struct visited v;
        status = first_level_visit(q->lab, &v, q->readers, steps, take, err);
        if (status == 0) {
            *tally = judge(&v, &q->lab->first_level[asked]);
            add_evidence(q, asked, v.experiment);
            add_evidence(q, other, v.experiment);
        }
        visited_free(&v);
    }
    return status;
}

/* True if each finds what the other brought. */
static int find_each_other(struct inquiry *q, enum first_level_id a,
                           enum first_level_id b, bool *found,
                           struct error *err)
{
    const enum first_level_id way[2][2] = {{a, b}, {b, a}};
    *found = true;
    for (size_t i = 0; *found && i < 2; i++) {
        enum hits_tally missed;
        char *const steps =
            find_script(q->number[way[i][0]], q->number[way[i][1]]);
        const int status =
            settle(q, way[i][1], way[i][0], steps, judge_find, &missed, err);
        free(steps);
        if (status != 0)
            return status;
        *found = missed == TALLY_NONE;
    }
    return 0;
}

/* Whether `victim` loses its lines to `evictor`; open if that cannot be asked
 * or told. */
static int evict(struct inquiry *q, enum first_level_id victim,
                 enum first_level_id evictor, enum hits_tally *lost,
                 struct error *err)
{
    const uint64_t flood = first_level_flood(&q->lab->first_level[evictor],
                                             &first_level_table[evictor]);
    *lost = TALLY_OPEN;
    if (flood == 0)
        return 0;
    char *const steps =
        evict_script(q->number[victim], q->number[evictor], flood);
    const int status =
        settle(q, victim, evictor, steps, judge_evict, lost, err);
    free(steps);
    return status;
}

/* One that keeps its lines shows that there are two; to show that there is
 * one, no way that can be asked may be open. */
static enum verdict judge_ways(const struct lab *lab,
                               const enum first_level_id *id,
                               const enum hits_tally *lost)
{
    if (lost[0] == TALLY_NONE || lost[1] == TALLY_NONE)
        return SEPARATE;
    bool shown = false;
    for (size_t i = 0; i < 2; i++) {
        const bool asked = lab->first_level[id[1 - i]].overfill > 0;
        if (asked && lost[i] == TALLY_OPEN)
            return OPEN;
        shown = shown || asked;
    }
    return shown ? SHARED : OPEN;
}

static int ask_pair(struct inquiry *q, enum first_level_id a,
                    enum first_level_id b, enum verdict *verdict,
                    struct error *err)
{
    const enum first_level_id id[2] = {a, b};
    enum hits_tally lost[2] = {TALLY_OPEN, TALLY_OPEN};
    bool found = false;
    if (first_level_table[a].same_data && first_level_table[b].same_data &&
        find_each_other(q, a, b, &found, err) != 0)
        return err->code;
    if (found) {
        *verdict = SHARED;
        return 0;
    }
    if (evict(q, a, b, &lost[0], err) != 0)
        return err->code;
    if (lost[0] != TALLY_NONE && evict(q, b, a, &lost[1], err) != 0)
        return err->code;
    *verdict = judge_ways(q->lab, id, lost);
    return 0;
}

/* ---- all of them ------------------------------------------------------ */

static void set_verdict(struct inquiry *q, size_t a, size_t b,
                        enum verdict verdict)
{
    q->verdict[a][b] = q->verdict[b][a] = verdict;
}

static int ask_pairs(struct inquiry *q, struct error *err)
{
    const struct first_level *const n = q->lab->first_level;
    for (size_t a = 0; a < FIRST_LEVEL_COUNT; a++)
        for (size_t b = a + 1; b < FIRST_LEVEL_COUNT; b++) {
            enum verdict verdict = OPEN;
            if (!n[a].present || !n[b].present)
                continue;
            const int status = ask_pair(q, (enum first_level_id)a,
                                        (enum first_level_id)b, &verdict, err);
            if (status != 0 && !lab_excuses(status))
                return status;
            set_verdict(q, a, b, verdict);
        }
    return 0;
}

/* What two are to each other if `c` is one with the first of them: what it is
 * to the other. */
static void infer(struct inquiry *q, size_t a, size_t b, size_t c)
{
    if (q->verdict[a][b] == OPEN && q->verdict[a][c] == SHARED && a != b)
        set_verdict(q, a, b, q->verdict[c][b]);
}

/* If all three are known and contradict each other, nothing is sure. */
static void doubt(struct inquiry *q, size_t a, size_t b, size_t c)
{
    if (q->verdict[a][b] != SEPARATE || q->verdict[a][c] != SHARED ||
        q->verdict[c][b] != SHARED)
        return;
    set_verdict(q, a, b, OPEN);
    set_verdict(q, a, c, OPEN);
    set_verdict(q, c, b, OPEN);
}

static void each_three(struct inquiry *q,
                       void (*act)(struct inquiry *, size_t, size_t, size_t))
{
    for (size_t a = 0; a < FIRST_LEVEL_COUNT; a++)
        for (size_t b = 0; b < FIRST_LEVEL_COUNT; b++)
            for (size_t c = 0; c < FIRST_LEVEL_COUNT; c++)
                act(q, a, b, c);
}

/* Where global loads are not cached near, L1 is what local loads show. */
static void follow_local(struct inquiry *q)
{
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++)
        set_verdict(q, FIRST_LEVEL_L1, i, q->verdict[FIRST_LEVEL_LOCAL][i]);
    set_verdict(q, FIRST_LEVEL_L1, FIRST_LEVEL_LOCAL, SHARED);
}

static void conclude(const struct inquiry *q, size_t id)
{
    struct finding *const f = q->finding[id];
    const struct first_level *const n = q->lab->first_level;
    const bool alias = is_alias(q->lab);
    struct value list = value_list();
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++) {
        if (i == id || (!n[i].present && !(i == FIRST_LEVEL_L1 && alias)))
            continue;
        if (q->verdict[id][i] == OPEN) {
            finding_none(f, "whether it shares with %s could not be told",
                         first_level_table[i].component);
            value_free(&list);
            return;
        }
        if (q->verdict[id][i] == SHARED)
            value_push(&list, value_text(first_level_table[i].component));
    }
    finding_set(f, STATUS_MEASURED, list, "");
    const struct first_level *const own =
        &n[id == FIRST_LEVEL_L1 && alias ? FIRST_LEVEL_LOCAL : id];
    finding_protocol(f, "hit_cycles", value_number(own->hit));
    finding_protocol(f, "hit_at_most", value_number(own->limit));
    finding_protocol(f, "overfilled_by", value_number((double)own->overfill));
}

static void conclude_all(const struct inquiry *q)
{
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++)
        if (q->lab->first_level[i].present ||
            (i == FIRST_LEVEL_L1 && is_alias(q->lab)))
            conclude(q, i);
        else
            finding_none(q->finding[i], "%s", q->lab->first_level[i].why);
}

static void name_readers(struct inquiry *q)
{
    struct buf readers = {0};
    size_t count = 0;
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++) {
        if (!q->lab->first_level[i].present)
            continue;
        buf_printf(&readers, "%s%s", count > 0 ? "," : "",
                   first_level_table[i].reader);
        q->number[i] = count++;
    }
    q->readers = buf_take(&readers);
}

static int ask_all(struct inquiry *q, struct error *err)
{
    if (first_level_measure(q->lab, q->finding, err) != 0)
        return err->code;
    name_readers(q);
    const int status = ask_pairs(q, err);
    free(q->readers);
    return status;
}

static int run(struct lab *lab, struct error *err)
{
    struct inquiry q = {.lab = lab};
    for (size_t i = 0; i < FIRST_LEVEL_COUNT; i++)
        q.finding[i] =
            lab_finding(lab, first_level_table[i].component, "shares_with");
    if (ask_all(&q, err) != 0)
        return err->code;
    each_three(&q, doubt);
    each_three(&q, infer);
    if (is_alias(lab))
        follow_local(&q);
    conclude_all(&q);
    return 0;
}

const struct study study_sharing = {
    .name = "sharing",
    .question = "Which caches of an SM are one storage?",
    .method = "Lines that one kind of load brought in are looked for by the "
              "other; where they are not found, or cannot be, one kind loads "
              "more than its cache holds, and what the other had loaded "
              "before is timed again.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
