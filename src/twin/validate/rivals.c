#include "twin/validate/rivals.h"

#include <stdlib.h>

void rivals_add(struct rivals *r, struct finding *f, const struct value *value)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->at[i].finding == f &&
            (f == NULL || value_equal(&r->at[i].value, value)))
            return;
    if (r->count == RIVALS_MOST)
        return;
    r->at[r->count++] = (struct rival){
        f, value != NULL ? value_copy(value) : (struct value){0}, false};
}

struct rival *rivals_first(struct rivals *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->at[i].out)
            return &r->at[i];
    return NULL;
}

void rivals_free(struct rivals *r)
{
    for (size_t i = 0; i < r->count; i++)
        value_free(&r->at[i].value);
    r->count = 0;
}

static size_t left(const struct rivals *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        count += !r->at[i].out;
    return count;
}

/* The finding has the value of the rival until trying_return(). */
static void lend(struct trying *t, const struct rival *rival)
{
    if (rival->finding != NULL)
        trying_lend(t, rival->finding, rival->value);
}

/* Experiments by what the rival says, as if they had not been drawn for what is
 * drawn next. */
static bool draw_by(struct trying *t, const struct rival *rival,
                    struct suspicion *more)
{
    const struct rng before = t->rng;
    lend(t, rival);
    const bool drawn = suspicion_draw(t, more);
    trying_return(t);
    t->rng = before;
    return drawn;
}

static int strike_out(struct trying *t, struct rivals *r,
                      const struct suspicion *more)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < r->count; i++) {
        struct foretold now = {0};
        if (r->at[i].out)
            continue;
        lend(t, &r->at[i]);
        status = suspicion_ask(t, more, &now);
        trying_return(t);
        r->at[i].out = now.failed > 0;
    }
    return status;
}

int rivals_decide(struct trying *t, const struct suspicion *s, struct rivals *r,
                  bool *decided)
{
    int status = 0;
    *decided = false;
    for (size_t i = 0; status == 0 && i < r->count && left(r) > 1; i++) {
        struct suspicion more = {.component = s->component,
                                 .subject = s->subject};
        if (r->at[i].out || trying_late(t) || !draw_by(t, &r->at[i], &more))
            continue;
        for (size_t k = 0; status == 0 && k < more.trials; k++)
            status = trial_measure(&more.trial[k], t->device, t->err);
        if (status == 0)
            status = strike_out(t, r, &more);
        *decided = *decided || status == 0;
        suspicion_free(&more);
    }
    return status != 0 && trying_excused(t) ? 0 : status;
}
