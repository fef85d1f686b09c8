#include "twin/validate/validate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "twin/profile.h"
#include "twin/validate/trying.h"

/* What was reported stands again, in doubt. */
static void give_back(struct trying *t)
{
    for (size_t i = 0; i < t->repair_count; i++) {
        struct repair *const r = &t->repairs[i];
        value_free(&r->finding->value);
        r->finding->value = r->reported;
        r->finding->status = STATUS_IN_DOUBT;
        r->finding->has_interval = false;
        finding_because(r->finding, "%s", r->because);
        free(r->because);
    }
}

static void note_number(struct trying *t, const char *name, double x)
{
    struct finding *const f = results_add(t->results, name, "validate");
    finding_set(f, STATUS_MEASURED, value_number(x), "");
}

static void note_sum(struct trying *t)
{
    const struct validation *const v = &t->verdict;
    note_number(t, "predicted.loads", (double)v->loads);
    note_number(t, "predicted.loads_right",
                v->loads > 0 ? (double)v->loads_right / (double)v->loads : 1);
    note_number(t, "predicted.means", (double)v->means);
    note_number(t, "predicted.means_right",
                v->means > 0 ? (double)v->means_right / (double)v->means : 1);
}

int twin_validate(struct results *results, struct prober *device,
                  struct validation *verdict, struct error *err)
{
    struct trying t = {.results = results,
                       .told = {.results = results},
                       .device = device,
                       .err = err};
    char *const text = twin_profile(results, NULL, err);
    if (text == NULL)
        return err->code;
    free(text);
    rng_seed(&t.rng, prober_seed(device));
    int status = try_means(&t);
    if (status == 0)
        status = try_structure(&t);
    give_back(&t);
    note_sum(&t);
    buf_free(&t.told.chosen);
    buf_free(&t.told.doubted);
    *verdict = t.verdict;
    return status;
}
