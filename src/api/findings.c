/*
 * The part of sonde.h that hands findings out.  What a caller is given lives
 * in the session, under the id, until it is closed or the finding is made anew.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "base/buf.h"
#include "base/mem.h"
#include "finding/axis.h"
#include "report/quantity.h"

/* What is made of one finding for whoever asks. */
struct handed_out {
    char *id, *text;
    double *list, *axis;
};

static void forget(struct handed_out *h)
{
    free(h->id);
    free(h->text);
    free(h->list);
    free(h->axis);
    *h = (struct handed_out){0};
}

void session_forget(struct sonde *s)
{
    for (size_t i = 0; i < s->handed_out_count; i++)
        forget(&s->handed_out[i]);
    s->handed_out_count = 0;
    free(s->handed_out);
    s->handed_out = NULL;
}

/* The place under this id, as one call made it or empty. */
static struct handed_out *place_of(struct sonde *s, const char *id)
{
    for (size_t i = 0; i < s->handed_out_count; i++)
        if (strcmp(s->handed_out[i].id, id) == 0)
            return &s->handed_out[i];
    char *const copy = xstrdup(id);
    s->handed_out = xreallocarray(s->handed_out, s->handed_out_count + 1,
                                  sizeof *s->handed_out);
    struct handed_out *const h = &s->handed_out[s->handed_out_count++];
    *h = (struct handed_out){0};
    h->id = copy;
    return h;
}

/* The numbers of a list, NAN for what is none; NULL if none is one. */
static double *numbers_of(const struct value *list)
{
    bool any = false;
    double *const numbers = xcalloc(list->count + 1, sizeof *numbers);
    for (size_t i = 0; i < list->count; i++) {
        const bool known = list->items[i].kind == VALUE_NUMBER;
        numbers[i] = known ? list->items[i].number : NAN;
        any |= known;
    }
    if (any)
        return numbers;
    free(numbers);
    return NULL;
}

static char *text_of(const struct finding *f)
{
    struct buf out = {0};
    buf_text(&out, "");
    if (f->value.kind != VALUE_NONE)
        quantity_value(&out, &f->value, 0, f->unit);
    return buf_take(&out);
}

static void hand_out_list(struct handed_out *h, const struct finding *f,
                          struct sonde_finding *to)
{
    struct axis axis = axis_of(f);
    if (h->list == NULL)
        h->list = numbers_of(&f->value);
    if (h->axis == NULL)
        h->axis = numbers_of(&axis.values);
    to->list = h->list;
    to->count = f->value.count;
    to->axis_name = axis.name;
    to->axis_unit = axis.unit;
    to->axis = h->axis;
    value_free(&axis.values);
}

static void hand_out(struct sonde *s, const struct finding *f,
                     struct sonde_finding *to)
{
    struct handed_out *const h = place_of(s, f->id);
    const bool number =
        f->value.kind == VALUE_NUMBER || f->value.kind == VALUE_BOOL;
    if (h->text == NULL)
        h->text = text_of(f);
    *to = (struct sonde_finding){
        .id = f->id,
        .unit = f->unit,
        .status = finding_status_name(f->status),
        .because = f->because,
        .text = h->text,
        .number = number ? f->value.number : NAN,
        .low = f->has_interval ? f->interval[0] : NAN,
        .high = f->has_interval ? f->interval[1] : NAN,
        .confidence = f->confidence >= 0 ? f->confidence : NAN,
        .axis_name = "",
        .axis_unit = "",
        .study = f->study,
        .method = f->method,
    };
    if (f->value.kind == VALUE_LIST)
        hand_out_list(h, f, to);
}

bool sonde_find(struct sonde *s, const char *id, struct sonde_finding *finding)
{
    SESSION_WORK(return false);
    const struct finding *const f =
        s != NULL && id != NULL ? results_find(&s->results, id) : NULL;
    if (f != NULL && finding != NULL)
        hand_out(s, f, finding);
    return f != NULL;
}

size_t sonde_each(struct sonde *s,
                  int (*each)(void *context,
                              const struct sonde_finding *finding),
                  void *context)
{
    SESSION_WORK(return 0);
    size_t i = 0;
    struct sonde_finding finding;
    if (s == NULL || each == NULL)
        return 0;
    while (i < s->results.finding_count) {
        hand_out(s, s->results.findings[i++], &finding);
        int status = 0;
        MEM_FOREIGN(status = each(context, &finding));
        if (status != 0)
            break;
    }
    return i;
}
