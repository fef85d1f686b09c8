/*
 * Which studies run, and in which order: those that were asked for, what these
 * need or read, and who finds what several propose.  A study that fails costs
 * its own findings and those that build on them; no other.
 */
#include "study/lab.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stop.h"
#include "base/text.h"
#include "study/gpu_state.h"

/* As many as studies.def lists. */
enum {
#define STUDY(name, asks) PLAN_##name,
#include "study/studies.def"
#undef STUDY
    STUDIES
};

static const size_t on_quiet_gpu[STUDIES] = {
#define STUDY(name, asks) asks,
#include "study/studies.def"
#undef STUDY
};

/* ---- the order -------------------------------------------------------- */

static size_t index_of(const struct study *study)
{
    size_t i = 0;
    while (study_table[i] != study)
        i++;
    return i;
}

/* Marks a study and, through its needs, all that must run before it; with one
 * that judges, all that it judges. */
static void want(const struct study *study, bool wanted[STUDIES])
{
    if (wanted[index_of(study)])
        return;
    wanted[index_of(study)] = true;
    const struct study *need;
    for (size_t i = 0; (need = study_need(study, i)) != NULL; i++)
        want(need, wanted);
    for (size_t i = 0; study->judges && i < STUDIES; i++)
        if (study_table[i]->proposes != NULL)
            want(study_table[i], wanted);
}

/* What others propose is judged as soon as one of them is wanted. */
static void want_judges(bool wanted[STUDIES])
{
    bool proposed = false;
    for (size_t i = 0; i < STUDIES; i++)
        proposed = proposed || (wanted[i] && study_table[i]->proposes != NULL);
    for (size_t i = 0; i < STUDIES; i++)
        wanted[i] = wanted[i] || (proposed && study_table[i]->judges);
}

/* What loads the GPU comes when all else is done: it changes the clock, and
 * takes time. */
static bool must_wait(const struct study *study, const bool wanted[STUDIES],
                      const bool done[STUDIES])
{
    for (size_t i = 0; study->under_load && i < STUDIES; i++)
        if (wanted[i] && !done[i] && !study_table[i]->under_load)
            return true;
    return false;
}

static bool ready(const struct study *study, const bool wanted[STUDIES],
                  const bool done[STUDIES])
{
    const struct study *need;
    if (must_wait(study, wanted, done))
        return false;
    for (size_t i = 0; (need = study_need(study, i)) != NULL; i++)
        if (!done[index_of(need)])
            return false;
    for (size_t i = 0; study->judges && i < STUDIES; i++)
        if (wanted[i] && !done[i] && study_table[i]->proposes != NULL)
            return false;
    return true;
}

static int unknown_study(const char *name, struct error *err)
{
    const char *names[STUDIES + 1] = {0};
    for (size_t i = 0; i < STUDIES; i++)
        names[i] = study_table[i]->name;
    return error_set(err, ERR_USAGE,
                     "there is no study '%s'%s (`sonde list` shows them)", name,
                     text_guess(name, names).text);
}

/* ---- a study ---------------------------------------------------------- */

/*
 * A study may ask a few times as much as it does on a quiet GPU, which is the
 * most that one asked, as studies.def says: votes and pairs that noise leaves
 * undecided are asked two or three times more (of 76 disturbed runs none asked
 * more than 3.4 times as much), and a few costs 16 times more each
 * (traced_alike).  What asks still more finds no end.  All studies of a run
 * together may ask half of that.
 */
enum { STUDY_TIMES = 4, STUDY_COSTS = 256, RUN_PART = 2 };

size_t plan_asks(const struct study *study)
{
    return on_quiet_gpu[index_of(study)];
}

static size_t asks_most(size_t study)
{
    return on_quiet_gpu[study] == 0
               ? SIZE_MAX / STUDIES / 2
               : STUDY_TIMES * on_quiet_gpu[study] + STUDY_COSTS;
}

/* Of a device that is lost: a kernel that loses it does so again. */
enum { RENEWALS = 1 };

static void limit_study(struct lab *lab, const struct study *study)
{
    lab->experiments_most =
        u64_min(prober_experiments(lab->prober) + asks_most(index_of(study)),
                lab->all_experiments_most);
}

static void limit_all(struct lab *lab, const bool wanted[STUDIES])
{
    size_t most = 0;
    for (size_t i = 0; i < STUDIES; i++)
        most += wanted[i] ? asks_most(i) : 0;
    lab->all_experiments_most =
        prober_experiments(lab->prober) + u64_max(most / RUN_PART, STUDY_COSTS);
    lab->experiments_most = lab->all_experiments_most;
}

/* Between what the GPU says of itself before and after, where it is loaded. */
static void run_watched(struct lab *lab, const struct study *study)
{
    if (!study->under_load) {
        study->run(lab);
        return;
    }
    const struct gpu_state before = gpu_state_read(lab, "before");
    if (lab_ok(lab))
        study->run(lab);
    if (!lab_ok(lab))
        return;
    lab_uncite(lab);
    const struct gpu_state after = gpu_state_read(lab, "after");
    if (lab_ok(lab))
        gpu_state_report(lab, &before, &after);
}

struct watched {
    struct lab *lab;
    const struct study *study;
};

static int run_guarded(void *argument, struct error *err)
{
    const struct watched *const w = argument;
    (void)err; /* those of a study are its lab's */
    run_watched(w->lab, w->study);
    return 0;
}

/* One that there is no memory for ends there; those before it are reported. */
static void run_with_memory(struct lab *lab, const struct study *study)
{
    struct watched watched = {lab, study};
    struct error err;
    if (mem_guarded(run_guarded, &watched, &err) == 0)
        return;
    lab->err = err;
    lab->cut_short = true;
}

/* Where several processes measure GPUs of a host, they would measure each other
 * on what these share. */
static void run_claimed(struct lab *lab, const struct study *study)
{
    struct device *const device = prober_device(lab->prober);
    if (study->shares && device_claim(device, &lab->err) != 0)
        return;
    run_with_memory(lab, study);
    if (study->shares)
        device_let_go(device);
}

/* Runs one study; an error of the device is kept in *err for all that follow.
 */
static void run_study(struct lab *lab, const struct study *study,
                      struct error *err)
{
    const char *const stop = lab_reason_to_stop(lab);
    const char *why = err->code != 0 ? err->text : stop;
    const double began = now_seconds();
    const size_t before = prober_experiments(lab->prober),
                 launches = prober_launches(lab->prober);
    lab_begin(lab, study);
    lab->cut_short = stop != NULL && !study->judges;
    limit_study(lab, study);
    prober_renewals(lab->prober, RENEWALS);
    if (why == NULL || study->judges)
        run_claimed(lab, study);
    lab->experiments_most = lab->all_experiments_most;
    const bool lost = why != NULL || lab_has_lost(lab);
    if (!lab_ok(lab)) {
        const char *const excused = lab_excuse_fault(lab);
        why = excused != NULL ? excused : lab->err.text;
        if (excused == NULL)
            *err = lab->err;
    }
    if (why != NULL)
        facts_lose(&lab->known, study->name, why);
    why = why != NULL ? why : why_not_reached;
    lab_leave_proposals(lab, why, lost);
    /* What was not proposed nobody asked to be judged. */
    if (!study->judges)
        lab_leave_out(lab, study, "*", why);
    const size_t ran = prober_experiments(lab->prober) - before;
    if (lab_ok(lab) && err->code == 0 && lab_reason_to_stop(lab) == NULL &&
        ran > 0)
        reference_judge(lab);
    lab_settle(lab);
    lab_uncite(lab);
    arena_empty(&lab->memory);
    log_say(LOG_INFO, "study %s: %.2f s, %zu experiments, %zu launches",
            study->name, now_seconds() - began, ran,
            prober_launches(lab->prober) - launches);
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

static bool are_rivals(const struct study *a, const struct study *b)
{
    char id[STUDY_ID];
    for (size_t i = 0; a != b && a->answers == NULL && study_proposes(a, i, id);
         i++)
        if (study_does_propose(b, id))
            return true;
    return false;
}

size_t plan_rivals(const char *const *names, size_t count, const char **rivals)
{
    size_t found = 0;
    for (size_t i = 0; i < STUDIES; i++) {
        bool is_one = false;
        for (size_t k = 0; k < count; k++) {
            const struct study *const named = study_find(names[k]);
            is_one =
                is_one || (named != NULL && are_rivals(named, study_table[i]));
        }
        if (is_one)
            rivals[found++] = study_table[i]->name;
    }
    return found;
}

/* Names of studies that did not come to their end. */
static void tell_left_out(const struct lab *lab, struct buf *names)
{
    const char *stop = lab_reason_to_stop(lab);
    if (stop == NULL)
        stop = prober_recorded_stop(lab->prober);
    if (lab->cut_short)
        log_say(LOG_WARN, "%s; left out, or in part: %s",
                stop != NULL ? stop : why_endless, buf_string(names));
    buf_free(names);
}

/* Forgets what a run before left, and has ready what those wanted need. */
static void begin_run(struct lab *lab, const bool wanted[STUDIES])
{
    lab->lost = (struct error){0};
    results_free(&lab->proposals);
    doubts_free(&lab->doubts);
    memset(lab->fact_shade, 0, sizeof lab->fact_shade);
    lab->references = (struct references){0};
    prober_deadline(lab->prober, lab->deadline);
    prepare(lab, wanted);
    limit_all(lab, wanted);
}

/* Each as soon as all that it needs have run; names of those that did not come
 * to their end are added. */
static void run_in_order(struct lab *lab, const bool wanted[STUDIES],
                         struct buf *left_out, struct error *err)
{
    bool done[STUDIES] = {false};
    size_t total = 0, ran = 0;
    for (size_t i = 0; i < STUDIES; i++)
        total += wanted[i];
    while (ran < total)
        for (size_t i = 0; i < STUDIES; i++) {
            if (!wanted[i] || done[i] || !ready(study_table[i], wanted, done))
                continue;
            if (lab->watch != NULL)
                lab->watch(lab->context, study_table[i], ran, total);
            run_study(lab, study_table[i], err);
            if (lab->cut_short)
                buf_printf(left_out, "%s%s", left_out->length > 0 ? ", " : "",
                           study_table[i]->name);
            done[i] = true;
            ran++;
        }
}

int plan_run(struct lab *lab, const char *const *names, size_t count,
             struct error *err)
{
    bool wanted[STUDIES] = {false};
    struct buf left_out = {0};
    for (size_t i = 0; i < count; i++) {
        const struct study *const study = study_find(names[i]);
        if (study == NULL)
            return unknown_study(names[i], err);
        want(study, wanted);
    }
    want_judges(wanted);
    *err = (struct error){0};
    begin_run(lab, wanted);
    run_in_order(lab, wanted, &left_out, err);
    lab->cut_short = left_out.length > 0;
    tell_left_out(lab, &left_out);
    results_free(&lab->proposals);
    reference_report(lab);
    results_settle_curves(lab->results);
    doubts_free(&lab->doubts);
    if (err->code == 0)
        *err = lab->lost;
    return err->code;
}
