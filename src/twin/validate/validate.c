#include "twin/validate/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"
#include "twin/profile.h"
#include "twin/validate/trying.h"

/* What was reported, as exactly as it was, and what it may be in its stead, for
 * all that is known. */
static void reach_others(struct finding *f, double from, double to)
{
    const double told = f->value.kind == VALUE_NUMBER ? f->value.number : NAN;
    const double low = f->has_interval ? fmin(told, f->interval[0]) : told;
    const double high = f->has_interval ? fmax(told, f->interval[1]) : told;
    f->has_interval = isfinite(told) && isfinite(from) && isfinite(to) &&
                      (told != from || told != to);
    f->interval[0] = fmin(low, from);
    f->interval[1] = fmax(high, to);
    f->confidence = -1;
}

/* What was reported stands again, in doubt: first all values, then, which takes
 * memory, why. */
static void give_back(struct trying *t)
{
    trying_return(t);
    for (size_t i = 0; i < t->repair_count; i++) {
        struct repair *const r = &t->repairs[i];
        value_free(&r->finding->value);
        r->finding->value = r->reported;
        r->finding->status = STATUS_IN_DOUBT;
        reach_others(r->finding, r->low, r->high);
    }
    for (size_t i = 0; i < t->repair_count; i++) {
        finding_because(t->repairs[i].finding, "%s", t->repairs[i].because);
        free(t->repairs[i].because);
    }
}

/* How many there were, and the share that was right; nothing of none. */
static void note_sum(struct trying *t, const char *what, size_t right,
                     size_t count)
{
    if (count == 0)
        return;
    char id[32];
    snprintf(id, sizeof id, "predicted.%s", what);
    finding_set(results_add(t->results, id, "validate"), STATUS_MEASURED,
                value_number((double)count), "");
    snprintf(id, sizeof id, "predicted.%s_right", what);
    finding_set(results_add(t->results, id, "validate"), STATUS_MEASURED,
                value_number((double)right / (double)count), "");
}

/* Where nothing could be asked that is said, and why. */
static void note_sums(struct trying *t)
{
    const struct validation *const v = &t->verdict;
    note_sum(t, "loads", v->loads_right, v->loads);
    note_sum(t, "means", v->means_right, v->means);
    if (v->loads + v->means > 0)
        return;
    struct finding *const none =
        results_add(t->results, "predicted.means", "validate");
    finding_none(none, "no held-out experiment could be asked%s%s",
                 t->excuse[0] != '\0' ? ": " : "", t->excuse);
    none->skipped = true; /* nobody misses it */
}

static int try_all(void *trying, struct error *err)
{
    struct trying *const t = trying;
    (void)err;
    /* What sweeps lines out of L2 is as large as its size wants it. */
    int status = try_room(t);
    status = status == 0 ? try_means(t) : status;
    if (status == 0 && !trying_late(t))
        status = try_code(t);
    status = status == 0 ? try_structure(t) : status;
    if (status == 0)
        try_room_sets(t);
    return status;
}

int twin_validate(struct results *results, struct prober *device,
                  const struct validation_wish *wish,
                  struct validation *verdict, struct error *err)
{
    static const struct validation_wish all;
    if (wish == NULL)
        wish = &all;
    struct trying t = {
        .results = results,
        .told = {.results = results},
        .device = device,
        .brief = wish->brief,
        .means_only = wish->means_only,
        .until = wish->seconds > 0 ? now_seconds() + wish->seconds : INFINITY,
        .err = err};
    char *const text = twin_profile(results, NULL, err);
    if (text == NULL)
        return err->code;
    free(text);
    rng_seed(&t.rng, prober_seed(device));
    const int status = mem_guarded(try_all, &t, err);
    if (status == 0)
        trying_note_unasked(&t);
    give_back(&t);
    note_sums(&t);
    buf_free(&t.told.chosen);
    buf_free(&t.told.doubted);
    *verdict = t.verdict;
    return status;
}
