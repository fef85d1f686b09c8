/* The lab, the table of studies and the planner. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "study/gpu_state.h"
#include "study/study.h"

#define STUDY(name) extern const struct study study_##name;
#include "study/studies.def"
#undef STUDY

const struct study *const study_table[] = {
#define STUDY(name) &study_##name,
#include "study/studies.def"
#undef STUDY
    NULL,
};

enum { STUDIES = COUNT_OF(study_table) - 1 };

static const char constants_bound[] = "a module may hold 64 KiB of constants";

const struct level_row level_table[LEVEL_COUNT] = {
    [LEVEL_L1] = {.component = "l1",
                  .load = "space=global op=ca",
                  .words = "ld.global.ca.u64",
                  .below = "l2",
                  .of_sm = true,
                  .swept = true,
                  .most = 16u << 20,
                  .apart = 8,
                  .fine = 32,
                  .coarse = 256,
                  .behind = LEVEL_COUNT},
    [LEVEL_TEXTURE] = {.component = "texture",
                       .load = "space=texture",
                       .words = "tex.1d.v4.u32.s32",
                       .below = "l2",
                       .of_sm = true,
                       .most = 4u << 20,
                       .apart = 8,
                       .fine = 32,
                       .coarse = 256,
                       .behind = LEVEL_COUNT},
    [LEVEL_READONLY] = {.component = "readonly",
                        .load = "space=readonly",
                        .words = "ld.global.nc.u64",
                        .below = "l2",
                        .of_sm = true,
                        .most = 4u << 20,
                        .apart = 8,
                        .fine = 32,
                        .coarse = 256,
                        .behind = LEVEL_COUNT},
    [LEVEL_LOCAL] = {.component = "local",
                     .load = "space=local",
                     .words = "ld.local.u32",
                     .below = "l2",
                     .of_sm = true,
                     .most = 4u << 20,
                     .apart = 128,
                     .fine = 128,
                     .coarse = 256,
                     .behind = LEVEL_COUNT},
    [LEVEL_CONST_L1] = {.component = "const_l1",
                        .load = "space=constant",
                        .words = "ld.const.u32",
                        .below = "const_l15",
                        .of_sm = true,
                        .most = 64u << 10,
                        .bound = constants_bound,
                        .apart = 8,
                        .fine = 32,
                        .coarse = 64,
                        .behind = LEVEL_COUNT},
    [LEVEL_CONST_L15] = {.component = "const_l15",
                         .load = "space=constant",
                         .words = "ld.const.u32",
                         .below = "l2",
                         .of_sm = true,
                         .most = 64u << 10,
                         .bound = constants_bound,
                         .apart = 8,
                         .fine = 64,
                         .coarse = 256,
                         .behind = LEVEL_CONST_L1},
    [LEVEL_L2] = {.component = "l2",
                  .load = "space=global op=cg",
                  .words = "ld.global.cg.u64",
                  .below = "memory",
                  .swept = true,
                  .most = 1024u << 20,
                  .apart = 8,
                  .fine = 32,
                  .coarse = 256,
                  .behind = LEVEL_COUNT},
};

const struct study *study_find(const char *name)
{
    for (size_t i = 0; i < STUDIES; i++)
        if (strcmp(study_table[i]->name, name) == 0)
            return study_table[i];
    return NULL;
}

/* ---- the planner ------------------------------------------------------ */

static size_t index_of(const struct study *study)
{
    size_t i = 0;
    while (study_table[i] != study)
        i++;
    return i;
}

/* Marks a study and, through its needs, all that must run before it. */
static void want(const struct study *study, bool wanted[STUDIES])
{
    if (wanted[index_of(study)])
        return;
    wanted[index_of(study)] = true;
    for (const char *const *need = study->needs; *need != NULL; need++)
        want(study_find(*need), wanted);
}

static bool ready(const struct study *study, const bool done[STUDIES])
{
    for (const char *const *need = study->needs; *need != NULL; need++)
        if (!done[index_of(study_find(*need))])
            return false;
    return true;
}

static int unknown_study(const char *name, struct error *err)
{
    const char *names[STUDIES + 1] = {0};
    for (size_t i = 0; i < STUDIES; i++)
        names[i] = study_table[i]->name;
    const char *const near = text_nearest(name, names);
    return error_set(err, ERR_USAGE,
                     "there is no study '%s'%s%s%s (`sonde list` shows them)",
                     name, near != NULL ? "; did you mean '" : "",
                     near != NULL ? near : "", near != NULL ? "'?" : "");
}

/* Says of everything that the study gives and that it left open why. */
static void leave_out(struct lab *lab, const struct study *study,
                      const char *why)
{
    for (const char *const *id = study->gives; *id != NULL; id++) {
        const struct finding *const f = results_find(lab->results, *id);
        if (results_dropped(lab->results, *id))
            continue;
        if (f == NULL || (f->value.kind == VALUE_NONE && f->because == NULL))
            finding_none(results_add(lab->results, *id, study->name), "%s",
                         why);
    }
}

void lab_leave_open(struct lab *lab, const char *why)
{
    leave_out(lab, lab->study, why);
}

static const char *reason_to_stop(const struct lab *lab)
{
    if (prober_stopped(lab->prober))
        return "measuring was stopped";
    if (lab->deadline > 0 && now_seconds() > lab->deadline)
        return "the time budget was used up";
    return NULL;
}

/* Between what the GPU says of itself before and after, where it is loaded. */
static int run_watched(struct lab *lab, const struct study *study,
                       struct error *err)
{
    struct gpu_state before = {0}, after = {0};
    if (!study->under_load)
        return study->run(lab, err);
    if (gpu_state_read(lab, "before", &before, err) == 0 &&
        study->run(lab, err) == 0 &&
        gpu_state_read(lab, "after", &after, err) == 0)
        gpu_state_report(lab, &before, &after);
    gpu_state_free(&before);
    gpu_state_free(&after);
    return err->code;
}

/* Runs one study; an error of the device is kept in *err for all that follow.
 */
static void run_study(struct lab *lab, const struct study *study,
                      struct error *err)
{
    const char *const stop = reason_to_stop(lab);
    const char *why = err->code != 0 ? err->text : stop;
    struct error own = {0};
    const double began = now_seconds();
    const size_t before = prober_experiments(lab->prober);
    lab->study = study;
    lab->cut_short = lab->cut_short || stop != NULL;
    if (why == NULL && run_watched(lab, study, &own) != 0) {
        why = own.text;
        if (!lab_excuses(own.code))
            *err = own;
    }
    leave_out(lab, study, why != NULL ? why : "the study did not come to it");
    log_say(LOG_INFO, "study %s: %.2f s, %zu experiments", study->name,
            now_seconds() - began, prober_experiments(lab->prober) - before);
}

/* Has the kernels of all studies to come compiled together. */
static void prepare(struct lab *lab, const bool wanted[STUDIES])
{
    const char *texts[128];
    size_t count = 0;
    for (size_t i = 0; i < STUDIES; i++) {
        const char *const *k = study_table[i]->kernels;
        for (; wanted[i] && k != NULL && *k != NULL; k++)
            if (count < COUNT_OF(texts))
                texts[count++] = *k;
    }
    prober_prepare(lab->prober, texts, count);
}

int plan_run(struct lab *lab, const char *const *names, size_t count,
             struct error *err)
{
    bool wanted[STUDIES] = {false}, done[STUDIES] = {false};
    for (size_t i = 0; i < count; i++) {
        const struct study *const study = study_find(names[i]);
        if (study == NULL)
            return unknown_study(names[i], err);
        want(study, wanted);
    }
    size_t total = 0, ran = 0;
    for (size_t i = 0; i < STUDIES; i++)
        total += wanted[i];
    *err = (struct error){0};
    lab->cut_short = false;
    prepare(lab, wanted);
    while (ran < total)
        for (size_t i = 0; i < STUDIES; i++) {
            if (!wanted[i] || done[i] || !ready(study_table[i], done))
                continue;
            if (lab->watch != NULL)
                lab->watch(lab->context, study_table[i], ran, total);
            run_study(lab, study_table[i], err);
            done[i] = true;
            ran++;
        }
    return err->code;
}

/* ---- for studies ------------------------------------------------------ */

/* The caller frees. */
static char *formatted(const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *const text = xmalloc((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    return text;
}

static int probe_text(struct lab *lab, const char *text,
                      struct samples *samples, char **canonical,
                      struct error *err)
{
    const int status =
        lab->deadline > 0 && now_seconds() > lab->deadline
            ? error_set(err, ERR_INTERRUPTED, "the time budget was used up")
            : prober_run(lab->prober, text, samples, canonical, err);
    lab->cut_short = lab->cut_short || status == ERR_INTERRUPTED;
    return status;
}

int lab_probe(struct lab *lab, struct samples *samples, char **canonical,
              struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    const int status = probe_text(lab, text, samples, canonical, err);
    free(text);
    return status;
}

struct finding *lab_finding(struct lab *lab, const char *component,
                            const char *attribute)
{
    char id[128];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    struct finding *const f = results_add(lab->results, id, lab->study->name);
    finding_method(f, lab->study->method);
    return f;
}

void lab_absent(struct lab *lab, const char *component, const char *attribute)
{
    results_drop(lab->results, lab_finding(lab, component, attribute));
}

bool lab_number(const struct lab *lab, const char *component,
                const char *attribute, double *number)
{
    char id[128];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    return finding_number(results_find(lab->results, id), number);
}

unsigned lab_block_warps(const struct lab *lab)
{
    enum { LANES = 32 };
    const int64_t threads = lab->info->value[PROPERTY_BLOCK_THREADS];
    if (threads <= 0 || threads >= LANES * LAB_BLOCK_WARPS)
        return LAB_BLOCK_WARPS;
    return threads < LANES ? 1 : (unsigned)threads / LANES;
}

bool lab_excuses(int code)
{
    return code == ERR_UNSUPPORTED || code == ERR_DEVICE_MEMORY ||
           code == ERR_INTERRUPTED;
}

/* Cycles a load of each repetition: the long run less the short one, or both
 * together. */
static double *per_load(const struct samples *s, bool difference)
{
    const size_t visits = samples_column(s, "visits");
    const size_t from = samples_column(s, "short");
    const size_t to = samples_column(s, "long");
    double *const cycles = xreallocarray(NULL, s->rows, sizeof *cycles);
    for (size_t row = 0; row < s->rows; row++) {
        const double first = (double)samples_at(s, row, from);
        const double second = (double)samples_at(s, row, to);
        const double loads = (double)samples_at(s, row, visits);
        cycles[row] = difference ? (second - first) / loads
                                 : (second + first) / (3 * loads);
    }
    return cycles;
}

struct stats_interval lab_interval(const struct lab *lab, const double *values,
                                   size_t count)
{
    struct rng rng;
    rng_seed(&rng, prober_seed(lab->prober));
    return stats_bootstrap_median(values, count, LAB_CONFIDENCE_PERCENT / 100.0,
                                  &rng);
}

/* The median of what repetitions or places gave, and where it is. */
static void summarise(struct lab *lab, struct cost *cost, const double *cycles,
                      size_t count)
{
    const struct stats_interval interval = lab_interval(lab, cycles, count);
    cost->cycles = stats_median(cycles, count);
    cost->low = interval.low;
    cost->high = interval.high;
}

static int cost_of(struct lab *lab, struct cost *cost, bool difference,
                   struct error *err, const char *text)
{
    struct samples samples;
    *cost = (struct cost){0};
    if (probe_text(lab, text, &samples, &cost->experiment, err) != 0)
        return err->code;
    double *const cycles = per_load(&samples, difference);
    summarise(lab, cost, cycles, samples.rows);
    free(cycles);
    samples_free(&samples);
    return 0;
}

enum { PLACES_MOST = 32 };

int lab_chase_places(struct lab *lab, struct cost *cost, uint64_t first,
                     uint64_t apart, size_t places, struct error *err,
                     const char *fmt, ...)
{
    double cycles[PLACES_MOST];
    int status = 0;
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    assert(places <= PLACES_MOST);
    *cost = (struct cost){0};
    for (size_t i = 0; status == 0 && i < places; i++) {
        free(cost->experiment);
        char *const at_place =
            xasprintf("%s repeats=1 shift=%" PRIu64, text, first + i * apart);
        status = cost_of(lab, cost, true, err, at_place);
        cycles[i] = cost->cycles;
        free(at_place);
    }
    free(text);
    if (status == 0)
        summarise(lab, cost, cycles, places);
    return status;
}

int lab_chase(struct lab *lab, struct cost *cost, struct error *err,
              const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    const int status = cost_of(lab, cost, true, err, text);
    free(text);
    return status;
}

int lab_average(struct lab *lab, struct cost *cost, struct error *err,
                const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *const text = formatted(fmt, args);
    va_end(args);
    const int status = cost_of(lab, cost, false, err, text);
    free(text);
    return status;
}

int lab_ask_level(struct lab *lab, enum level_id id, const char *attribute,
                  level_question *ask, struct error *err)
{
    const struct level_row *const row = &level_table[id];
    struct level_facts *const facts = &lab->facts[id];
    if (!facts->present) {
        finding_none(lab_finding(lab, row->component, attribute), "%s",
                     facts->why);
        return 0;
    }
    const int status = ask(lab, row, facts, err);
    if (status == 0 || !lab_excuses(status))
        return status;
    finding_none(lab_finding(lab, row->component, attribute), "%s", err->text);
    return 0;
}

void lab_show_l1(struct lab *lab, const char *attribute)
{
    char from[128];
    snprintf(from, sizeof from, "%s.%s", level_table[LEVEL_LOCAL].component,
             attribute);
    const struct finding *const f = results_find(lab->results, from);
    if (!lab->facts[LEVEL_L1].as_local || f == NULL)
        return;
    finding_copy(lab_finding(lab, level_table[LEVEL_L1].component, attribute),
                 f);
}

int lab_each_level(struct lab *lab, const char *attribute, level_question *ask,
                   struct error *err)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (lab_ask_level(lab, (enum level_id)i, attribute, ask, err) != 0)
            return err->code;
    lab_show_l1(lab, attribute);
    *err = (struct error){0};
    return 0;
}

uint64_t lab_shortest(const struct lab *lab, const struct level_row *row)
{
    return row->behind == LEVEL_COUNT ? row->apart
                                      : lab->facts[row->behind].line;
}

void lab_because_short(struct finding *f, const struct level_row *row)
{
    if (row->behind == LEVEL_COUNT)
        finding_because(f,
                        "two words of a thread are %u B apart in the caches "
                        "of %s memory, since those of its warp lie between "
                        "them",
                        row->apart, row->component);
    else
        finding_because(f, "%s is asked for no less at a time", row->component);
}

void lab_fill(const struct level_row *row, unsigned times, char text[LAB_FILL])
{
    snprintf(text, LAB_FILL, row->swept ? "sweep=%u warm=0" : "warm=%u", times);
}

void finding_cost(struct finding *f, const struct cost *cost)
{
    finding_set(f, STATUS_MEASURED, value_number(cost->cycles), "cycles");
    finding_interval(f, cost->low, cost->high, LAB_CONFIDENCE_PERCENT / 100.0);
    finding_evidence(f, cost->experiment);
}
