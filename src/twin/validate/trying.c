#include "twin/validate/trying.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "device/sim/sim.h"
#include "twin/memory.h"
#include "twin/profile.h"

bool trying_tlb(const char *component)
{
    return strncmp(component, "tlb_", 4) == 0;
}

static struct cache_shape *shape_in(const struct trying *t, struct profile *p,
                                    const char *component)
{
    if (trying_tlb(component)) {
        const size_t level = (size_t)(component[5] - '1');
        return level < p->tlb_count ? &p->tlbs[level].shape : NULL;
    }
    struct told told = {.results = t->results};
    const char *const name = twin_storage(&told, component);
    struct cache_shape *shape = NULL;
    for (size_t i = 0; i < p->cache_count; i++)
        if (strcmp(p->caches[i].name, name) == 0)
            shape = &p->caches[i].shape;
    buf_free(&told.doubted);
    return shape;
}

const struct cache_shape *twin_shape(const struct trying *t,
                                     const struct profile *p,
                                     const char *component)
{
    return shape_in(t, (struct profile *)p, component);
}

struct profile *trying_profile(const struct trying *t)
{
    struct error err = {0};
    struct profile *profile = NULL;
    char *const text = twin_profile(t->results, NULL, &err);
    if (text != NULL)
        profile_parse(text, "the findings", &profile, &err);
    free(text);
    return profile;
}

bool twin_open(const struct trying *t, struct twin *twin)
{
    return twin_open_dealt(t, NULL, 0, twin);
}

bool twin_open_dealt(const struct trying *t, const char *component,
                     uint64_t from, struct twin *twin)
{
    struct profile *const profile = trying_profile(t);
    *twin = (struct twin){0};
    if (profile == NULL)
        return false;
    struct cache_shape *const shape =
        from > 0 ? shape_in(t, profile, component) : NULL;
    if (shape != NULL)
        shape->dealt_from = from;
    const struct prober_options options = {.seed = prober_seed(t->device)};
    twin->profile = profile;
    twin->device = sim_open_profile(profile, "twin", prober_seed(t->device));
    twin->prober = prober_new(twin->device, NULL, &options);
    return true;
}

void twin_close(struct twin *twin)
{
    if (twin->prober == NULL)
        return;
    prober_free(twin->prober);
    device_close(twin->device);
}

struct finding *trying_find(struct trying *t, const char *component,
                            const char *attribute)
{
    struct finding *const f = results_edit(t->results, component, attribute);
    return f != NULL && f->status != STATUS_NOT_MEASURED &&
                   f->value.kind != VALUE_NONE
               ? f
               : NULL;
}

struct finding *trying_sure(struct trying *t, const char *component,
                            const char *attribute)
{
    struct finding *const f = trying_find(t, component, attribute);
    return f != NULL &&
                   (f->status == STATUS_MEASURED || f->status == STATUS_DERIVED)
               ? f
               : NULL;
}

void trying_lend(struct trying *t, struct finding *f, struct value value)
{
    t->lent_value = f->value;
    t->lent = f;
    f->value = value;
}

void trying_return(struct trying *t)
{
    if (t->lent != NULL)
        t->lent->value = t->lent_value;
    t->lent = NULL;
}

const struct repair *trying_repair_of(const struct trying *t,
                                      const struct finding *f)
{
    for (size_t i = 0; i < t->repair_count; i++)
        if (t->repairs[i].finding == f)
            return &t->repairs[i];
    return NULL;
}

bool trying_repaired(const struct trying *t, const struct finding *f)
{
    return trying_repair_of(t, f) != NULL;
}

bool trying_unknown(const struct trying *t, const struct finding *f)
{
    const struct repair *const r = trying_repair_of(t, f);
    return r != NULL && value_equal(&f->value, &r->reported);
}

static double number_of(const struct value *v)
{
    return v->kind == VALUE_NUMBER ? v->number : NAN;
}

/* Takes `value` over. */
static void repair(struct trying *t, struct finding *f, struct value value,
                   double low, double high, const char *because)
{
    if (t->repair_count == REPAIRS_MOST || trying_repaired(t, f)) {
        value_free(&value);
        return;
    }
    char *const why = xstrdup(because);
    t->repairs[t->repair_count++] =
        (struct repair){f, f->value, low, high, why};
    f->value = value;
    t->verdict.doubted++;
}

void trying_repair(struct trying *t, struct finding *f, struct value value,
                   const char *because)
{
    const double other = number_of(&value);
    repair(t, f, value, other, other, because);
}

void trying_doubt(struct trying *t, struct finding *f,
                  const struct value *other, const char *because)
{
    const double number = number_of(other);
    trying_doubt_within(t, f, number, number, because);
}

void trying_doubt_within(struct trying *t, struct finding *f, double low,
                         double high, const char *because)
{
    repair(t, f, value_copy(&f->value), low, high, because);
}

void trying_note(struct trying *t, const char *component, const char *attribute,
                 double share, const char *experiment)
{
    t->verdict.findings++;
    if (t->brief)
        return;
    char id[96];
    snprintf(id, sizeof id, "predicted.%s.%s", component, attribute);
    struct finding *const f = results_add(t->results, id, "validate");
    finding_set(f, STATUS_MEASURED, value_number(share), "");
    finding_method(f, "The share of loads of held-out experiments that the "
                      "simulated GPU of the findings foretells.");
    if (experiment != NULL)
        finding_evidence(f, experiment);
}

bool trying_l1_is_global(struct trying *t)
{
    return told_finding(&t->told, "l1", "caches_global") == NULL ||
           told_true(&t->told, "l1", "caches_global");
}

bool trying_oldest_goes(struct trying *t, const char *component)
{
    const char *const policy = told_word(&t->told, component, "policy");
    return policy != NULL &&
           (strcmp(policy, "lru") == 0 || strcmp(policy, "fifo") == 0);
}

bool trying_late(const struct trying *t)
{
    return now_seconds() > t->until;
}

bool trying_excused(struct trying *t)
{
    const int code = t->err->code;
    const bool refused = code == ERR_USAGE;
    const bool is = refused || code == ERR_UNSUPPORTED ||
                    code == ERR_NOT_RECORDED || code == ERR_PTX ||
                    code == ERR_DEVICE_MEMORY;
    if (refused)
        log_say(LOG_WARN, "a held-out experiment is left out: %s",
                t->err->text);
    t->verdict.refused += refused;
    if (is && t->excuse[0] == '\0')
        snprintf(t->excuse, sizeof t->excuse, "%.255s", t->err->text);
    if (is)
        *t->err = (struct error){0};
    return is;
}
