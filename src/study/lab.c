#include "study/lab.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/hits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stop.h"
#include "base/text.h"

/* ---- errors ------------------------------------------------------------ */

void lab_fail(struct lab *lab, enum error_code code, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;
    if (!lab_ok(lab))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    error_set(&lab->err, code, "%s", text);
}

bool lab_excuses(const struct lab *lab)
{
    const int code = lab->err.code;
    return code == ERR_UNSUPPORTED || code == ERR_DEVICE_MEMORY ||
           code == ERR_INTERRUPTED || code == ERR_NOT_RECORDED ||
           (code == ERR_PTX && lab->bench == NULL);
}

bool lab_has_lost(const struct lab *lab)
{
    return !lab_ok(lab) && lab->err.code != ERR_UNSUPPORTED;
}

const char *lab_excuse(struct lab *lab)
{
    if (lab_ok(lab) || !lab_excuses(lab))
        return NULL;
    const int code = lab->err.code;
    if ((code == ERR_NOT_RECORDED || code == ERR_PTX) && lab->lost.code == 0)
        lab->lost = lab->err;
    const char *const why = lab_text(lab, "%s", lab->err.text);
    lab->err = (struct error){0};
    return why;
}

const char *lab_excuse_fault(struct lab *lab)
{
    const int code = lab->err.code;
    if (code != ERR_DEVICE && code != ERR_DEADLINE && code != ERR_NO_DEVICE)
        return lab_excuse(lab);
    if (lab->lost.code == 0)
        lab->lost = lab->err;
    const char *const why = lab_text(lab, "%s", lab->err.text);
    lab->err = (struct error){0};
    return why;
}

const char *lab_reason_to_stop(const struct lab *lab)
{
    if (prober_stopped(lab->prober))
        return why_stopped;
    if (mem_is_scarce())
        return why_scarce;
    if (lab->deadline > 0 && now_seconds() > lab->deadline)
        return why_budget;
    if (lab->experiments_most > 0 &&
        prober_experiments(lab->prober) >= lab->experiments_most)
        return why_endless;
    return NULL;
}

/* Where the launch was stopped that is no reason that a reader knows. */
static void say_why_stopped(struct lab *lab)
{
    const char *const stop = lab_reason_to_stop(lab);
    if (stop != NULL)
        error_set(&lab->err, ERR_INTERRUPTED, "%s", stop);
}

int lab_end(struct lab *lab, struct error *err)
{
    *err = lab->err;
    lab->err = (struct error){0};
    lab_uncite(lab);
    arena_empty(&lab->memory);
    return err->code;
}

/* ---- memory ------------------------------------------------------------ */

void *lab_alloc(struct lab *lab, size_t count, size_t size)
{
    return arena_alloc(&lab->memory, count, size);
}

char *lab_text(struct lab *lab, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (length < 0)
        mem_none();
    char *const text = lab_alloc(lab, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    va_end(args);
    return text;
}

/* ---- experiments ------------------------------------------------------- */

void lab_spare(struct lab *lab, bool spare)
{
    lab->spare = spare;
    lab->spared = NULL;
}

const char *lab_spared(struct lab *lab)
{
    const char *const why = lab->spared;
    lab_spare(lab, false);
    return why;
}

bool lab_unrecorded(struct lab *lab)
{
    if (lab->err.code != ERR_NOT_RECORDED)
        return false;
    lab->err = (struct error){0};
    return true;
}

/* What was measured counts: as evidence, and with what is wrong with it. */
static void rely_on(struct lab *lab, const struct samples *samples)
{
    for (size_t i = 0; i < lab->cited_count; i++)
        finding_cite(lab->cited[i], samples->experiment);
    if (samples->disturbed != NULL)
        doubts_add(&lab->doubts, samples->experiment, samples->disturbed,
                   lab->asks);
}

/* No rows, and no name, after an error; the caller frees the samples. */
static struct samples measure_text(struct lab *lab, const char *text)
{
    struct samples samples = {0};
    char *canonical = NULL;
    if (!lab_ok(lab))
        return samples;
    const char *const stop = lab_reason_to_stop(lab);
    if (stop != NULL)
        lab_fail(lab, ERR_INTERRUPTED, "%s", stop);
    prober_fresh(lab->prober, lab->fresh);
    prober_deadline(lab->prober, lab->deadline);
    if (lab_ok(lab) && prober_run(lab->prober, text, &samples, &canonical,
                                  &lab->err) == ERR_INTERRUPTED)
        say_why_stopped(lab);
    /* Words of a study that this GPU cannot follow are no mistake of the user,
     * but in what the user wrote. */
    if (lab->err.code == ERR_USAGE && lab->bench == NULL)
        lab->err.code = ERR_UNSUPPORTED;
    if (!lab_ok(lab)) {
        lab->cut_short = lab->cut_short || lab->err.code == ERR_INTERRUPTED;
        return (struct samples){0};
    }
    samples.experiment = arena_adopt(&lab->memory, canonical);
    return samples;
}

static struct samples run_text(struct lab *lab, const char *text)
{
    struct samples samples = measure_text(lab, text);
    const bool spares = (lab->fresh || lab->spare) && samples.disturbed != NULL;
    if (spares) {
        lab->spared = lab_text(lab, "%s", samples.disturbed);
        samples.rows = 0;
    } else if (lab_ok(lab)) {
        rely_on(lab, &samples);
    }
    return samples;
}

const struct samples *lab_run(struct lab *lab, const char *text)
{
    struct samples *const samples = lab_alloc(lab, 1, sizeof *samples);
    *samples = run_text(lab, text);
    arena_adopt(&lab->memory, samples->data);
    if (samples->disturbed != NULL)
        arena_adopt(&lab->memory, samples->disturbed);
    return samples;
}

struct column lab_column_of(struct lab *lab, const struct samples *s,
                            const char *name)
{
    struct column c = {.at = lab_alloc(lab, s->rows, sizeof *c.at),
                       .count = s->rows,
                       .experiment = s->experiment};
    const size_t column = s->rows > 0 ? samples_column(s, name) : 0;
    for (size_t row = 0; row < s->rows; row++)
        c.at[row] = (double)samples_at(s, row, column);
    return c;
}

struct column lab_column_counted(struct lab *lab, const struct samples *s,
                                 const char *name)
{
    const struct column each = lab_column_of(lab, s, name);
    const struct column alike = lab_column_of(lab, s, "count");
    size_t all = 0, n = 0;
    for (size_t row = 0; row < s->rows; row++)
        all += (size_t)alike.at[row];
    const struct column c = {.at = lab_alloc(lab, all, sizeof *c.at),
                             .count = all,
                             .experiment = s->experiment};
    for (size_t row = 0; row < s->rows; row++)
        for (size_t end = n + (size_t)alike.at[row]; n < end; n++)
            c.at[n] = each.at[row];
    return c;
}

double lab_column_median(struct lab *lab, const struct samples *s,
                         const char *name)
{
    const struct column c = lab_column_of(lab, s, name);
    return stats_median(c.at, c.count);
}

double lab_column_most(struct lab *lab, const struct samples *s,
                       const char *name)
{
    const struct column c = lab_column_of(lab, s, name);
    return stats_max(c.at, c.count);
}

struct column lab_run_columns(struct lab *lab, const char *name,
                              const char *text, struct named_column *other)
{
    struct samples samples = run_text(lab, text);
    const struct column column = lab_column_of(lab, &samples, name);
    if (other != NULL)
        other->seen = lab_column_of(lab, &samples, other->name);
    samples_free(&samples);
    return column;
}

struct column lab_run_column(struct lab *lab, const char *name,
                             const char *text)
{
    return lab_run_columns(lab, name, text, NULL);
}

struct stats_interval lab_interval(const struct lab *lab, const double *values,
                                   size_t count)
{
    struct rng rng;
    rng_seed(&rng, prober_seed(lab->prober));
    return stats_bootstrap_median(values, count, LAB_CONFIDENCE_PERCENT / 100.0,
                                  &rng);
}

/* ---- costs ------------------------------------------------------------- */

/* Half-way to where the densest half is no longer that of undisturbed ones. */
static const double disturbed_most = 0.25;

/* Nothing costs less than no time.  What varies by a third of itself, which is
 * three deviations to there, would be cut off. */
static const double spread_most = 1.0 / 3;

static const char *doubt_of(struct lab *lab, const struct undisturbed *u)
{
    if (u->disturbed > disturbed_most)
        return lab_text(lab, why_disturbed, 100 * u->disturbed);
    if (u->spread > spread_most * u->cycles)
        return lab_text(lab, why_varies, u->spread);
    return NULL;
}

struct cost lab_cost_of(struct lab *lab, const struct undisturbed *u,
                        const char *experiment)
{
    struct cost cost = {.cycles = u->cycles,
                        .low = u->low,
                        .high = u->high,
                        .disturbed = u->disturbed,
                        .excess = u->excess,
                        .doubt = doubt_of(lab, u),
                        .experiment = experiment};
    if (!lab_ok(lab))
        return (struct cost){0};
    if (cost.doubt == NULL)
        return cost;
    /* Where too many are late it may be one of those, and how much less others
     * cost nobody knows. */
    cost.low = 0;
    cost.high = fmax(cost.high, cost.cycles + fmax(u->spread, cost.excess));
    return cost;
}

struct cost lab_cost_less(const struct cost *a, const struct cost *b)
{
    const double cycles = a->cycles - b->cycles;
    struct cost less = {
        .cycles = cycles,
        .low = cycles - hypot(a->cycles - a->low, b->high - b->cycles),
        .high = cycles + hypot(a->high - a->cycles, b->cycles - b->low),
        .disturbed = fmax(a->disturbed, b->disturbed),
        .excess = a->excess - b->excess,
        .doubt = a->doubt != NULL ? a->doubt : b->doubt,
        .experiment = a->experiment,
    };
    /* What is late is so by anything: either may be as little as nothing. */
    if (less.doubt != NULL) {
        less.low = 0;
        less.high = fmax(less.high, a->high);
    }
    return less;
}

/* Runs of a chase. */
struct runs {
    struct column shorter, longer; /* cycles by what the short run visits */
    double step;                   /* what a cycle of the timer is of that */
};

static struct runs run_chase(struct lab *lab, const char *text)
{
    struct samples s = run_text(lab, text);
    struct runs r = {.shorter = lab_column_of(lab, &s, "short"),
                     .longer = lab_column_of(lab, &s, "long")};
    const struct column loads = lab_column_of(lab, &s, "visits");
    samples_free(&s);
    for (size_t i = 0; i < loads.count; i++) {
        r.shorter.at[i] /= loads.at[i];
        r.longer.at[i] /= loads.at[i];
        r.step = 1 / loads.at[i];
    }
    return r;
}

static struct undisturbed column_undisturbed(const struct column *c,
                                             double step)
{
    return undisturbed_of(c->at, c->count, step);
}

/* Those of the long run less those of the short one.  Runs do not vary as
 * their loads do. */
struct cost lab_cost_of_runs(struct lab *lab, const char *text)
{
    const struct runs r = run_chase(lab, text);
    const struct undisturbed longer = column_undisturbed(&r.longer, r.step),
                             shorter = column_undisturbed(&r.shorter, r.step),
                             u = undisturbed_less(&longer, &shorter);
    struct cost cost = lab_cost_of(lab, &u, r.longer.experiment);
    cost.first = shorter.cycles;
    return cost;
}

/* Both runs as one: cycles of each of their loads. */
static struct runs run_both(struct lab *lab, const char *text)
{
    struct runs r = run_chase(lab, text);
    for (size_t i = 0; i < r.longer.count; i++)
        r.longer.at[i] = (r.longer.at[i] + r.shorter.at[i]) / 3;
    return r;
}

struct cost lab_mean_of_runs(struct lab *lab, const char *text)
{
    const struct runs r = run_both(lab, text);
    const struct undisturbed all =
        undisturbed_within(r.longer.at, r.longer.count, INFINITY);
    return lab_cost_of(lab, &all, r.longer.experiment);
}

struct cost lab_average_of_runs(struct lab *lab, const char *text)
{
    const struct runs r = run_both(lab, text);
    const struct undisturbed u = column_undisturbed(&r.longer, r.step / 3);
    return lab_cost_of(lab, &u, r.longer.experiment);
}

/* Loads of a trace, of which all cost the same: it is repeated until they tell
 * to a tenth of a cycle what that is, or often enough. */
static struct undisturbed traced_alike(struct lab *lab, const char *text,
                                       const char **experiment)
{
    enum { MOST = 8 };
    double *all = NULL;
    size_t n = 0;
    struct undisturbed u = {0};
    for (int i = 0; lab_ok(lab) && i < MOST; i++) {
        const struct column c = lab_column(lab, "cycles", "%s", text);
        double *const more = lab_alloc(lab, n + c.count + 1, sizeof *more);
        /* Launches that others disturbed may have left fewer loads. */
        if (n > 0)
            memcpy(more, all, n * sizeof *all);
        if (c.count > 0)
            memcpy(more + n, c.at, c.count * sizeof *more);
        all = more;
        n += c.count;
        *experiment = c.experiment;
        u = undisturbed_of(all, n, 1);
        /* a fifth of a cycle: what is asked costs whole cycles */
        if (u.high - u.low < 0.2)
            break;
    }
    return u;
}

struct cost lab_pair_cost(struct lab *lab, unsigned visits, const char *walk)
{
    const char *experiment = NULL;
    const struct undisturbed
        single =
            traced_alike(lab, lab_text(lab, "trace %s visits=%u", walk, visits),
                         &experiment),
        pair = traced_alike(
            lab, lab_text(lab, "trace %s visits=%u each=2", walk, visits),
            &experiment),
        u = undisturbed_less(&pair, &single);
    return lab_cost_of(lab, &u, experiment);
}

struct cost lab_load_cost_of(struct lab *lab, unsigned run, unsigned singles,
                             const char *walk)
{
    const struct cost runs = lab_chase(lab, "chase %s visits=%u", walk, run);
    /* Of runs most of which are late the densest half is no longer dense. */
    const bool unclear = runs.high - runs.low > 0.01 * runs.cycles;
    return unclear || runs.disturbed > disturbed_most
               ? lab_pair_cost(lab, singles, walk)
               : runs;
}

/* ---- findings ---------------------------------------------------------- */

static bool lists(const struct answer *answer, const char *component)
{
    const char *const *c = answer->components;
    while (*c != NULL && !text_glob(*c, component))
        c++;
    return *c != NULL;
}

/* The row that such a finding is of; NULL if there is none. */
static const struct answer *
answer_of(const struct answer *a, const char *component, const char *attribute)
{
    while (a != NULL && a->attribute != NULL &&
           !(text_glob(a->attribute, attribute) && lists(a, component)))
        a++;
    return a != NULL && a->attribute != NULL ? a : NULL;
}

/* A proposal is kept as that of its study: "size/l1.size". */
static void proposal_id(char id[STUDY_ID], const char *study,
                        const char *component, const char *attribute)
{
    snprintf(id, STUDY_ID, "%s/%s.%s", study, component, attribute);
}

const struct finding *lab_proposal(const struct lab *lab, const char *study,
                                   const char *component, const char *attribute)
{
    char id[STUDY_ID];
    proposal_id(id, study, component, attribute);
    return results_find(&lab->proposals, id);
}

/* A proposal keeps the place, among the findings, of what becomes of it. */
static struct finding *propose(struct lab *lab, const struct answer *a,
                               const char *component, const char *attribute)
{
    char id[STUDY_ID];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    if (results_find(lab->results, id) == NULL)
        results_add(lab->results, id, lab->study->name);
    proposal_id(id, lab->study->name, component, attribute);
    struct finding *const f =
        results_add(&lab->proposals, id, lab->study->name);
    finding_method(f, lab->study->method);
    finding_unit(f, a->unit);
    return f;
}

struct finding *lab_finding(struct lab *lab, const char *component,
                            const char *attribute)
{
    const struct study *const study = lab->study;
    char id[STUDY_ID];
    const struct answer *a = answer_of(study->proposes, component, attribute);
    if (a != NULL)
        return propose(lab, a, component, attribute);
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    struct finding *const f = results_add(lab->results, id, study->name);
    finding_method(f, study->method);
    if (study->answers == NULL)
        return f;
    a = answer_of(study->answers, component, attribute);
    if (a == NULL)
        log_say(LOG_WARN, "study %s does not list %s", study->name, id);
    assert(a != NULL);
    finding_unit(f, a->unit);
    return f;
}

void lab_point(struct lab *lab, const char *component, const char *attribute,
               const struct curve_kind *kind, struct curve_seen seen)
{
    char id[STUDY_ID];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    curve_point(results_curve(lab->results, id, kind), seen);
}

/* What the running study has found so far, or proposed. */
static const struct finding *found_so_far(const struct lab *lab,
                                          const char *component,
                                          const char *attribute)
{
    char id[STUDY_ID];
    const struct finding *const f =
        lab_proposal(lab, lab->study->name, component, attribute);
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    return f != NULL ? f : results_find(lab->results, id);
}

/* Of what several propose, the first has the reason. */
static const struct finding *proposed_or_found(const struct lab *lab,
                                               const char *id)
{
    for (size_t i = 0; i < lab->proposals.finding_count; i++) {
        const struct finding *const f = lab->proposals.findings[i];
        if (strcmp(strchr(f->id, '/') + 1, id) == 0)
            return f;
    }
    return results_find(lab->results, id);
}

const char *lab_why_unknown(struct lab *lab, const char *component,
                            const char *attribute)
{
    static const char link[] = " is not measured: ";
    const char *const id = lab_text(lab, "%s.%s", component, attribute);
    const struct finding *const f = proposed_or_found(lab, id);
    if (f == NULL || f->because == NULL)
        return lab_text(lab, why_unknown, id);
    if (strstr(f->because, link) != NULL)
        return lab_text(lab, "%s", f->because);
    return lab_text(lab,
                    f->status == STATUS_NOT_MEASURED ? why_unknown_since
                                                     : why_but_bound,
                    id, f->because);
}

void lab_cite(struct lab *lab, struct finding *finding)
{
    assert(lab->cited_count < LAB_CITED_MOST);
    lab->cited[lab->cited_count++] = finding;
}

void lab_uncite(struct lab *lab)
{
    lab->cited_count = 0;
}

static void leave_out_one(struct lab *lab, const struct study *study,
                          const char *id, const char *why, bool skipped)
{
    const struct finding *const f = results_find(lab->results, id);
    /* Of what a pattern stands for nobody knows how much there is. */
    if (strchr(id, '*') != NULL || results_dropped(lab->results, id) ||
        (f != NULL && (f->value.kind != VALUE_NONE || f->because != NULL)))
        return;
    struct finding *const none = results_add(lab->results, id, study->name);
    finding_method(none, study->method);
    finding_none(none, "%s", why);
    none->skipped = skipped;
}

static bool is_dependent(const struct study *study, const char *attribute)
{
    return study->dependent != NULL &&
           text_is_among(attribute, study->dependent);
}

static void leave_out(struct lab *lab, const struct study *study,
                      const char *pattern, const char *why, bool skipped)
{
    char id[STUDY_ID];
    const bool many = strchr(pattern, '*') != NULL;
    const struct answer *a = study->answers;
    for (; a != NULL && a->attribute != NULL; a++)
        for (const char *const *c = a->components;
             *c != NULL && !(many && is_dependent(study, a->attribute)); c++) {
            snprintf(id, sizeof id, "%s.%s", *c, a->attribute);
            if (text_glob(pattern, id))
                leave_out_one(lab, study, id, why, skipped);
        }
}

void lab_leave_out(struct lab *lab, const struct study *study,
                   const char *pattern, const char *why)
{
    leave_out(lab, study, pattern, why, false);
}

void lab_skip(struct lab *lab, const char *pattern, const char *why)
{
    leave_out(lab, lab->study, pattern, why, true);
}

void lab_cite_none(struct lab *lab, const char *pattern, const char *experiment)
{
    for (size_t i = 0; i < lab->results->finding_count; i++) {
        struct finding *const f = lab->results->findings[i];
        if (f->status == STATUS_NOT_MEASURED && text_glob(pattern, f->id) &&
            strcmp(f->study, lab->study->name) == 0)
            finding_cite(f, experiment);
    }
}

bool lab_requires(struct lab *lab, enum capability capability,
                  const char *pattern)
{
    struct error err;
    if (device_requires(lab->info, capability, &err) == 0)
        return true;
    lab_skip(lab, pattern, err.text);
    return false;
}

void lab_leave_open(struct lab *lab, const char *why)
{
    lab_leave_out(lab, lab->study, "*", why);
}

/* Whether the running study proposed something about it, if only why not. */
static bool came_to(const struct lab *lab, const char *component)
{
    const struct answer *a = lab->study->proposes;
    for (; a != NULL && a->attribute != NULL; a++) {
        const struct finding *const f =
            lab_proposal(lab, lab->study->name, component, a->attribute);
        if (f != NULL && !f->skipped &&
            (f->value.kind != VALUE_NONE || f->because != NULL))
            return true;
    }
    return false;
}

static void leave_proposal(struct lab *lab, const struct answer *a,
                           const char *component, const char *why, bool lost)
{
    if (lab_proposal(lab, lab->study->name, component, a->attribute) != NULL)
        return;
    struct finding *const f = propose(lab, a, component, a->attribute);
    finding_skip(f, why);
    f->unheard = lost;
}

void lab_leave_proposals(struct lab *lab, const char *why, bool lost)
{
    const struct answer *a = lab->study->proposes;
    for (; a != NULL && a->attribute != NULL; a++)
        for (const char *const *c = a->components; *c != NULL; c++)
            leave_proposal(lab, a, *c, why, lost && !came_to(lab, *c));
}

void lab_absent(struct lab *lab, const char *component, const char *attribute)
{
    const struct finding *const f = lab_finding(lab, component, attribute);
    size_t kept = 0;
    for (size_t i = 0; i < lab->cited_count; i++)
        if (lab->cited[i] != f)
            lab->cited[kept++] = lab->cited[i];
    lab->cited_count = kept;
    results_drop(lab->results, f);
}

static bool may_read(const struct study *study, const char *component,
                     const char *attribute, const char *id)
{
    const char *const *declared = study->reads_findings;
    while (declared != NULL && *declared != NULL && !text_glob(*declared, id))
        declared++;
    return study->judges || (declared != NULL && *declared != NULL) ||
           answer_of(study->answers, component, attribute) != NULL;
}

const struct finding *lab_found(const struct lab *lab, const char *component,
                                const char *attribute)
{
    char id[STUDY_ID];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    const bool may =
        lab->study == NULL || may_read(lab->study, component, attribute, id);
    if (!may)
        log_say(LOG_WARN,
                "study %s reads the finding %s and does not declare it",
                lab->study->name, id);
    assert(may);
    return results_find(lab->results, id);
}

bool lab_number(const struct lab *lab, const char *component,
                const char *attribute, double *number)
{
    return finding_number(lab_found(lab, component, attribute), number);
}

void finding_measured(struct finding *f, double number)
{
    finding_value(f, STATUS_MEASURED, value_number(number));
}

void finding_range(struct finding *f, const double *values, size_t n)
{
    finding_measured(f, stats_median(values, n));
    finding_interval(f, stats_min(values, n), stats_max(values, n),
                     stats_range_confidence(n));
}

void finding_cost(struct finding *f, const struct cost *cost)
{
    finding_set(f, cost->doubt != NULL ? STATUS_IN_DOUBT : STATUS_MEASURED,
                value_number(cost->cycles), "cycles");
    if (cost->doubt != NULL)
        finding_because(f, "%s", cost->doubt);
    finding_interval(f, cost->low, cost->high, LAB_CONFIDENCE_PERCENT / 100.0);
    finding_cite(f, cost->experiment);
}

/* ---- doubt ------------------------------------------------------------- */

/* What is asked, as shades count it: 0 is all. */
enum { ASKS_NO_FACT = LEVEL_COUNT + 1 };

void lab_about(struct lab *lab, size_t level)
{
    lab->asks = level == LAB_NO_FACT  ? ASKS_NO_FACT
                : level < LEVEL_COUNT ? 1 + level
                                      : 0;
}

static void cast(struct shade *to, size_t asks, const char *why)
{
    if (asks <= LEVEL_COUNT && to->why[asks] == NULL)
        to->why[asks] = why;
}

void lab_begin(struct lab *lab, const struct study *study)
{
    lab->study = study;
    lab->err = (struct error){0};
    lab->shade = (struct shade){0};
    lab_about(lab, LEVEL_COUNT);
    lab->fresh = false;
    lab_spare(lab, false);
    lab->doubts_before = lab->doubts.count;
    const enum fact_id *r = study->reads;
    for (; r != NULL && *r != FACT_NONE; r++)
        for (size_t i = 0; i <= LEVEL_COUNT; i++)
            cast(&lab->shade, i, lab->fact_shade[*r].why[i]);
}

static bool is_cited(const struct results *r, const struct doubt *doubt)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (finding_cites(r->findings[i], doubt->experiment))
            return true;
    return false;
}

/* What lies on facts, and on findings: a disturbed experiment that is evidence
 * lies on that alone. */
static void cast_shades(const struct lab *lab, struct shade *facts,
                        struct shade *findings)
{
    *facts = *findings = lab->shade;
    for (size_t i = lab->doubts_before; i < lab->doubts.count; i++) {
        const struct doubt *const d = lab->doubts.at[i];
        cast(facts, d->asks, d->why);
        if (!is_cited(lab->results, d) && !is_cited(&lab->proposals, d))
            cast(findings, d->asks % ASKS_NO_FACT, d->why);
    }
}

/* A fact of the whole GPU rests on what was about all of it, and on the levels
 * that it was found by. */
static struct shade shade_of_fact(enum fact_id fact, const struct shade *shade)
{
    struct shade own = {0};
    const size_t about = fact_about(fact);
    const size_t asks = about < LEVEL_COUNT ? 1 + about : 0;
    if (fact_of_level(fact))
        return *shade;
    cast(&own, asks, shade->why[0]);
    for (size_t i = 0; i < LEVEL_COUNT; i++)
        if ((fact_found_by(fact) >> i & 1) != 0)
            cast(&own, asks, shade->why[1 + i]);
    return own;
}

static void shade_facts(struct lab *lab, const struct shade *shade)
{
    for (int i = FACT_NONE + 1; i < FACT_COUNT; i++) {
        const enum fact_id fact = (enum fact_id)i;
        if (strcmp(fact_writer(fact), lab->study->name) == 0)
            lab->fact_shade[fact] = shade_of_fact(fact, shade);
    }
}

static bool is_of(const struct finding *f, const char *component)
{
    const char *const slash = strchr(f->id, '/'); /* of a proposal */
    const char *const id = slash != NULL ? slash + 1 : f->id;
    const size_t length = strlen(component);
    return strncmp(id, component, length) == 0 && id[length] == '.';
}

/* What lies behind a level is found by it: the next one, and memory by L2; and
 * the next one is told from L2. */
static bool rests_on(const struct finding *f, enum level_id id)
{
    const struct level_row *const row = &level_table[id];
    bool rests =
        is_of(f, row->component) || (!row->of_sm && is_of(f, row->below));
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const enum level_id front = level_table[i].behind;
        rests =
            rests || (front != LEVEL_COUNT && (front == id || !row->of_sm) &&
                      is_of(f, level_table[i].component));
    }
    return rests;
}

/* Why the study has no clean eye for what was found; NULL if it has. */
static const char *shade_of(const struct shade *shade, const struct finding *f)
{
    const char *why = shade->why[0];
    for (int i = 0; why == NULL && i < LEVEL_COUNT; i++)
        if (rests_on(f, (enum level_id)i))
            why = shade->why[1 + i];
    return why;
}

static void settle(const struct lab *lab, const struct shade *shade,
                   const struct results *results)
{
    for (size_t i = 0; i < results->finding_count; i++) {
        struct finding *const f = results->findings[i];
        if (strcmp(f->study, lab->study->name) != 0)
            continue;
        const char *const evidence = doubts_of(&lab->doubts, f);
        const char *const why = shade_of(shade, f);
        if (evidence != NULL)
            finding_void(f, evidence);
        else if (why != NULL)
            finding_blur(f, why);
        finding_settle(f);
    }
}

void lab_settle(struct lab *lab)
{
    struct shade facts, findings;
    cast_shades(lab, &facts, &findings);
    settle(lab, &findings, lab->results);
    settle(lab, &findings, &lab->proposals);
    shade_facts(lab, &facts);
}

/* ---- levels ------------------------------------------------------------ */

enum level_id level_of(const struct level_row *row)
{
    return (enum level_id)(row - level_table);
}

/* Whether the level is there, as far as the running study may know; else *why
 * says why not. */
static bool has_level(const struct lab *lab, enum level_id id, const char **why)
{
    const enum fact_id *r = lab->study->reads;
    while (r != NULL && *r != FACT_NONE && *r != FACT_BRACKET)
        r++;
    if (r != NULL && *r == FACT_BRACKET) {
        *why = fact_bracket(lab, id)->why;
        return fact_bracket(lab, id)->present;
    }
    *why = fact_cached(lab, id)->why;
    return fact_cached(lab, id)->present;
}

void lab_ask_level(struct lab *lab, enum level_id id, const char *attribute,
                   level_question *ask)
{
    const struct level_row *const row = &level_table[id];
    const char *why;
    if (!lab_ok(lab))
        return;
    if (!has_level(lab, id, &why)) {
        finding_none(lab_finding(lab, row->component, attribute), "%s", why);
        return;
    }
    lab_about(lab, id);
    ask(lab, row);
    lab_about(lab, LEVEL_COUNT);
    lab_uncite(lab);
    const bool lost = lab_has_lost(lab);
    why = lab_excuse_fault(lab);
    if (why == NULL)
        return;
    finding_none(lab_finding(lab, row->component, attribute), "%s", why);
    const struct answer *a = lab->study->proposes;
    for (; a != NULL && a->attribute != NULL; a++)
        if (text_is_among(row->component, a->components))
            leave_proposal(lab, a, row->component, why, lost);
}

void lab_each_level(struct lab *lab, const char *attribute, level_question *ask)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        lab_ask_level(lab, (enum level_id)i, attribute, ask);
    if (lab_ok(lab))
        lab_show_l1(lab, attribute);
}

void lab_show_l1(struct lab *lab, const char *attribute)
{
    const struct finding *const f =
        found_so_far(lab, level_table[LEVEL_LOCAL].component, attribute);
    if (!lab->known.cached[LEVEL_L1].as_local || f == NULL)
        return;
    finding_copy(lab_finding(lab, level_table[LEVEL_L1].component, attribute),
                 f);
}

void lab_because_short(struct finding *f, const struct level_row *row)
{
    finding_because(f, why_least_asked, row->component);
}

void lab_fill(const struct level_row *row, unsigned times, char text[LAB_FILL])
{
    snprintf(text, LAB_FILL, row->of_sm ? "warm=%u" : "sweep=%u warm=0", times);
}

/* What an SM has is empty when a kernel begins; what is shared is emptied by
 * sweeping twice its size, or more where lines stay that were hit before. */
const char *lab_sector_trace(struct lab *lab, const struct level_row *row,
                             uint64_t shift)
{
    const struct fact_bracket *const b = fact_bracket(lab, level_of(row));
    const uint64_t flush = row->of_sm ? 0 : (b->sampled ? 8 : 2) * b->overflows;
    return lab_text(lab,
                    "trace %s bytes=%d stride=%u flush=%" PRIu64
                    " warm=0 shift=%" PRIu64,
                    row->load, LAB_SECTOR_BYTES, row->apart, flush, shift);
}

/* Other than that of a trace of global memory, nobody measured what timing adds
 * to loads: the cheapest tell, which hit the first cache, by their middle,
 * since the very cheapest are that by noise; if they did not, it seems more,
 * and nothing is told.  It makes none cheaper: then what disturbs rings made
 * their hits dearer. */
static double timing_of(const struct lab *lab, const struct level_row *row,
                        const struct column *c)
{
    const enum level_id first =
        row->behind != LEVEL_COUNT ? row->behind : level_of(row);
    return fmax(0,
                hits_cheapest(c->at, c->count) - fact_bracket(lab, first)->hit);
}

/* Of an L2 in two parts a near hit may cost less than half-way to the mean of
 * near and far, and is no hit of an SM's cache. */
double lab_least_miss(const struct lab *lab, const struct level_row *row,
                      const struct column *c, double half)
{
    if (!row->of_sm || c->count == 0)
        return half;
    return hits_least_miss(c->at, c->count,
                           fact_bracket(lab, level_of(row))->hit,
                           timing_of(lab, row, c), half);
}

double lab_clearly_dearer(const struct lab *lab, const struct level_row *row,
                          const struct column *c)
{
    if (!row->of_sm || c->count == 0)
        return INFINITY;
    return hits_clearly_dearer(c->at, c->count,
                               fact_bracket(lab, level_of(row))->hit,
                               timing_of(lab, row, c));
}

/* A line, or what is nearest to it.  Behind another level no more than one of
 * that, so that it keeps as little of a ring as it can; or what that one asks
 * for at a time, which is all there where lines may be as short. */
uint64_t lab_ring_stride(const struct lab *lab, const struct level_row *row)
{
    const struct fact_line *const line = fact_line(lab, level_of(row));
    uint64_t before = 0;
    if (row->behind != LEVEL_COUNT)
        before = line->bound ? fact_sure_sector(lab, row->behind)
                             : fact_sure_line(lab, row->behind);
    return u64_max(before > 0 ? u64_min(before, line->bytes) : line->bytes,
                   row->apart);
}

/* ---- the GPU ----------------------------------------------------------- */

unsigned lab_sms(const struct lab *lab)
{
    const int64_t sms = lab->info->value[PROPERTY_SMS];
    return sms > 0 ? (unsigned)sms : 1;
}

unsigned lab_block_warps(const struct lab *lab)
{
    enum { LANES = 32 };
    const int64_t threads = lab->info->value[PROPERTY_BLOCK_THREADS];
    if (threads <= 0 || threads >= LANES * LAB_BLOCK_WARPS)
        return LAB_BLOCK_WARPS;
    return threads < LANES ? 1 : (unsigned)threads / LANES;
}

unsigned lab_warps(const struct lab *lab, unsigned wanted)
{
    return (unsigned)u64_min(wanted, lab_block_warps(lab));
}
