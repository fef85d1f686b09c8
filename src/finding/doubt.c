#include "finding/doubt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void doubts_add(struct doubts *d, const char *experiment, const char *why,
                size_t asks)
{
    struct doubt *const doubt = xmalloc(sizeof *doubt);
    *doubt = (struct doubt){xstrdup(experiment), xstrdup(why), asks};
    d->at = xreallocarray(d->at, d->count + 1, sizeof *d->at);
    d->at[d->count++] = doubt;
}

static const char *doubt_of(const struct doubts *d, const char *experiment)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->at[i]->experiment, experiment) == 0)
            return d->at[i]->why;
    return NULL;
}

const char *doubts_of(const struct doubts *d, const struct finding *f)
{
    for (size_t i = 0; i < f->evidence_count; i++) {
        const char *const why = doubt_of(d, f->evidence[i]);
        if (why != NULL)
            return why;
    }
    return NULL;
}

void doubts_free(struct doubts *d)
{
    for (size_t i = 0; i < d->count; i++) {
        free(d->at[i]->experiment);
        free(d->at[i]->why);
        free(d->at[i]);
    }
    free(d->at);
    *d = (struct doubts){0};
}

static bool is_time(const struct finding *f)
{
    return strcmp(f->unit, "cycles") == 0 || strcmp(f->unit, "ns") == 0;
}

bool finding_has_seconds(const struct finding *f)
{
    const size_t length = strlen(f->unit);
    return strcmp(f->unit, "ns") == 0 || strcmp(f->unit, "Hz") == 0 ||
           (length >= 2 && strcmp(f->unit + length - 2, "/s") == 0);
}

static bool may_fall(const struct finding *f)
{
    return f->value.kind != VALUE_NONE && f->status != STATUS_REPORTED;
}

static bool is_bound(const struct finding *f)
{
    return f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST;
}

/* What disturbs makes loads late, by anything: a time is between nothing and
 * what was seen. */
static void reach_down(struct finding *f)
{
    if (!is_time(f) || f->value.kind != VALUE_NUMBER || f->value.number < 0)
        return;
    if (!f->has_interval)
        f->interval[1] = f->value.number;
    f->interval[0] = 0;
    f->has_interval = true;
}

void finding_void(struct finding *f, const char *why)
{
    if (!may_fall(f))
        return;
    finding_none(f, "%s", why);
    f->fallen = true;
    f->has_interval = false;
    f->confidence = -1;
}

void finding_doubt(struct finding *f, const char *why)
{
    if (!may_fall(f))
        return;
    if (is_bound(f)) {
        finding_void(f, why);
        return;
    }
    f->fallen = true;
    reach_down(f);
    f->status = STATUS_IN_DOUBT;
    f->confidence = -1;
    if (f->because == NULL)
        finding_because(f, "%s", why);
}

/* What one thing costs more than another: if the other was late it is more than
 * was seen, and if the one was it is less. */
static bool is_difference(const struct finding *f)
{
    return strstr(f->id, "penalty") != NULL;
}

void finding_blur(struct finding *f, const char *why)
{
    const bool is_rate = finding_has_seconds(f) || strstr(f->unit, "/") != NULL;
    if (f->value.kind == VALUE_NUMBER && !is_difference(f) &&
        (is_time(f) || is_rate))
        finding_doubt(f, why);
    else
        finding_void(f, why);
}

/* Cycles, or nanoseconds, of more than a month, to which no clock has gone since
 * it began, nor any two are apart; as what a counter that was never written
 * holds is. */
static const double time_most = 1e16;

/* Why a number is no answer to anything; NULL: it may be one.  What has a unit
 * is an amount of it. */
static const char *why_cannot_be(const struct finding *f, const struct value *v)
{
    if (v->kind != VALUE_NUMBER)
        return NULL;
    if (!isfinite(v->number))
        return "it came out as no number";
    if (f->unit[0] != '\0' && v->number < 0)
        return "it came out below zero: noise is larger than it";
    if (is_time(f) && v->number > time_most)
        return "it came out longer than anything may take";
    return NULL;
}

void finding_settle(struct finding *f)
{
    for (size_t i = 0; i < f->value.count; i++)
        if (why_cannot_be(f, &f->value.items[i]) != NULL)
            value_free(&f->value.items[i]);
    const char *const why = why_cannot_be(f, &f->value);
    if (why != NULL)
        finding_none(f, "%s", why);
    if (f->has_interval &&
        !(isfinite(f->interval[0]) && isfinite(f->interval[1])))
        f->has_interval = false;
    if (f->status == STATUS_MEASURED && f->because != NULL)
        f->status = STATUS_IN_DOUBT;
}
