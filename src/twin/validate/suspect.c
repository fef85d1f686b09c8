#include "twin/validate/suspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "twin/validate/others.h"
#include "twin/validate/values.h"

/* ---- how well findings foretell --------------------------------------- */

uint64_t suspicion_dealt_entries(const struct trying *t, const char *component)
{
    struct profile *const profile = trying_profile(t);
    const struct cache_shape *const shape =
        profile != NULL ? twin_shape(t, profile, component) : NULL;
    const uint64_t entries = shape != NULL && !cache_shape_even(shape)
                                 ? cache_shape_bytes(shape) / shape->line
                                 : 0;
    profile_free(profile);
    return entries;
}

/* How an experiment speaks against a place to deal from.  Laps go by sets
 * alone, whatever the policy: their loads count more, of which there are fewer.
 */
static size_t against(size_t trial, size_t wrong)
{
    enum { LAPS = 2, LAP_WEIGHT = 8 };
    return (trial < LAPS ? LAP_WEIGHT : 1) * wrong;
}

/* What foretells of a GPU that deals line 0 to an entry. */
struct dealt {
    uint64_t from;
    struct compared compared[DRAW_MOST];
    size_t failed, strained, against;
};

/* Laps of a policy of marks go round in one of many ways, by what was held
 * before, and stay in it; loads in random order soon forget, or begin with what
 * settles the marks.  Where all of these are as foretold, laps say nothing but
 * that a policy is likelier that foretells them, and whether they are right or
 * not, none of their loads counts. */
static void excuse_laps(const struct suspicion *s,
                        const struct cache_shape *shape, struct dealt *d)
{
    size_t laps = 0, at_random = 0;
    if (shape == NULL || !cache_lasts_misses(shape->policy))
        return;
    for (size_t i = 0; i < s->trials; i++) {
        const struct trial *const t = &s->trial[i];
        const bool failed = trial_fails(t, d->compared[i].wrong);
        if (failed && !t->laps)
            return;
        laps += failed;
        at_random += !t->laps;
    }
    if (at_random == 0)
        return;
    d->failed -= laps;
    d->strained += laps;
    for (size_t i = 0; i < s->trials; i++) {
        struct compared *const c = &d->compared[i];
        c->wrong = trial_fails(&s->trial[i], c->wrong) ? 0 : c->wrong;
        c->excused = s->trial[i].laps ? s->trial[i].count : c->excused;
    }
}

/* Nothing more than `most` is of interest. */
static int try_dealt(const struct trying *t, const struct suspicion *s,
                     size_t most, struct dealt *d)
{
    struct twin twin;
    d->failed = s->trials;
    d->against = SIZE_MAX;
    if (!twin_open_dealt(t, s->component, d->from, &twin))
        return 0;
    const struct cache_shape *const shape =
        twin_shape(t, twin.profile, s->component);
    int status = 0;
    d->against = 0;
    for (size_t i = 0; status == 0 && i < s->trials && d->against <= most;
         i++) {
        struct error err = {0};
        struct compared *const c = &d->compared[i];
        status = trial_compare(&s->trial[i], twin.prober, shape, c, &err);
        if (status != 0)
            *t->err = err;
        d->failed -= status == 0 && !trial_fails(&s->trial[i], c->wrong);
        d->strained += c->strained;
        d->against += against(i, c->wrong);
    }
    if (status == 0 && d->against <= most)
        excuse_laps(s, shape, d);
    twin_close(&twin);
    return status;
}

/* From where the device deals lines to unequal sets no finding says: from where
 * most loads are as foretold. */
static int find_dealt(const struct trying *t, const struct suspicion *s,
                      struct dealt *best)
{
    const uint64_t entries = suspicion_dealt_entries(t, s->component);
    int status = 0;
    for (uint64_t at = 0; status == 0 && best->failed > 0 && at < entries;
         at++) {
        struct dealt other = {.from = at};
        status = try_dealt(t, s, best->against, &other);
        if (status == 0 && other.against < best->against)
            *best = other;
    }
    return status;
}

/* From the place that is known, or from that which explains most. */
static int deal(const struct trying *t, const struct suspicion *s,
                struct dealt *d)
{
    d->from = s->dealt_from;
    const int status = try_dealt(t, s, SIZE_MAX, d);
    return status == 0 && !s->dealt_is_known ? find_dealt(t, s, d) : status;
}

static struct foretold foretold_of(const struct suspicion *s,
                                   const struct dealt *d)
{
    struct foretold f = {.failed = d->failed, .strained = d->strained};
    for (size_t i = 0; i < s->trials; i++)
        f.wrong += d->compared[i].wrong;
    return f;
}

int suspicion_ask(const struct trying *t, const struct suspicion *s,
                  struct foretold *foretold)
{
    struct dealt d = {0};
    const int status = deal(t, s, &d);
    *foretold = foretold_of(s, &d);
    return status;
}

void suspicion_free(struct suspicion *s)
{
    for (size_t i = 0; i < s->trials; i++)
        trial_free(&s->trial[i]);
    free(s->extra);
    s->extra = NULL;
    s->trials = 0;
}

/* ---- who it was ------------------------------------------------------- */

static void put_value(char *text, size_t size, const struct value *v)
{
    if (v->kind == VALUE_NUMBER)
        snprintf(text, size, "%.6g", v->number);
    else if (v->kind == VALUE_TEXT)
        snprintf(text, size, "%s", v->text);
    else if (v->kind == VALUE_NONE)
        snprintf(text, size, "no such value");
    else
        snprintf(text, size, "another list");
}

bool suspicion_laps_are_right(const struct suspicion *s)
{
    enum { LAPS = 2 };
    bool right = s->trials > LAPS;
    for (size_t i = 0; right && i < LAPS; i++)
        right = !trial_fails(&s->trial[i], s->compared[i].wrong);
    return right;
}

/* An index of XORs is known among lines of one home: where the nearer part of
 * an L2 holds copies of the farther one's, these meet by bits that tell the
 * home as well, and no value of one finding says so. */
static bool copies_meet(struct trying *t, const char *component)
{
    const struct finding *const bits = trying_find(t, component, "set_bits");
    bool xors = false;
    for (size_t i = 0; bits != NULL && i < bits->value.count; i++)
        xors = xors || bits->value.items[i].kind == VALUE_LIST;
    return xors && strcmp(component, "l2") == 0 &&
           told_true(&t->told, "l2", "replicates");
}

/* Nothing else explains it: of an index that was found, that is it; or the
 * policy, where only loads in random order are not as foretold. */
static void blame_what_is_left(struct trying *t, const struct suspicion *s,
                               size_t failed)
{
    const char *const order[] = {"policy", "set_bits", "ways"};
    const char *const index[] = {"set_bits", "policy", "ways"};
    const char *const *const names =
        suspicion_laps_are_right(s) ? order : index;
    struct finding *f = NULL;
    for (size_t i = 0; f == NULL && i < 3; i++)
        f = trying_find(t, s->component, names[i]);
    if (f == NULL)
        return;
    if (failed == 0) {
        trying_repair(t, f, value_copy(&f->value),
                      "it contradicts what else was found, and no other value "
                      "of one finding would not");
        return;
    }
    size_t worst = 0;
    for (size_t i = 1; i < s->trials; i++)
        if (s->compared[i].wrong > s->compared[worst].wrong)
            worst = i;
    char *const because = xasprintf(
        "of %zu held-out experiments %zu are not as foretold (%s: %zu of %zu "
        "loads), and no other value of one finding foretells them",
        s->trials, failed, s->trial[worst].what, s->compared[worst].wrong,
        s->trial[worst].count);
    trying_repair(t, f, value_copy(&f->value), because);
    free(because);
}

/* What an experiment loads beside its lines, as what leads the way into pages,
 * comes into other sets of a cache that all SMs share than on the twin, whose
 * addresses are others, and takes the place of one of as many lines as fit.  No
 * value foretells that: other sets are asked, and only what fails there, too,
 * is not as foretold. */
static int fails_elsewhere(struct trying *t, const struct suspicion *s,
                           size_t failed, bool *again)
{
    struct foretold now = {0};
    struct suspicion other = {.component = s->component, .subject = s->subject};
    *again = true;
    if (strcmp(s->component, "l2") != 0 || failed != 1 || trying_late(t) ||
        !suspicion_draw(t, &other))
        return 0;
    int status = 0;
    for (size_t i = 0; status == 0 && i < other.trials; i++)
        status = trial_measure(&other.trial[i], t->device, t->err);
    if (status == 0)
        status = suspicion_ask(t, &other, &now);
    *again = now.failed > 0;
    suspicion_free(&other);
    return status;
}

/* Few loads more than disturbance makes are not as foretold: by chance another
 * value may foretell them. */
static bool fails_barely(const struct suspicion *s)
{
    for (size_t i = 0; i < s->trials; i++)
        if (trial_fails(&s->trial[i], (s->compared[i].wrong + 1) / 2))
            return false;
    return true;
}

/* Then it contradicts what else was found. */
static const struct foretold all_foretold = {0};

/* What speaks against the finding, and what the value in its stead does. */
static void blame(struct others *o, const struct foretold *now)
{
    char value[64];
    put_value(value, sizeof value, &o->value);
    char *because;
    if (now->failed > 0)
        because =
            xasprintf("of %zu held-out experiments %zu are not as foretold; "
                      "with %s in its stead all are",
                      o->suspicion->trials, now->failed, value);
    else if (now->strained > 0)
        because = xasprintf(
            "of %zu held-out experiments no one state of the sets "
            "explains all loads of %zu; with %s in its stead one does",
            o->suspicion->trials, now->strained, value);
    else if (now->wrong > o->foretold.wrong)
        because = xasprintf("of held-out experiments %zu loads are not as "
                            "foretold; with %s in its stead %zu are not",
                            now->wrong, value, o->foretold.wrong);
    else
        because = xasprintf("it contradicts what else was found; %s would not, "
                            "and foretells all held-out experiments",
                            value);
    trying_repair(o->trying, o->finding, o->value, because);
    o->value = (struct value){0};
    free(because);
}

/* A size that is less than all sets hold is none that contradicts if that much
 * does not fit: some of a storage may be taken, as an H200's L1 shows.  Unless
 * by the index it would not, though nothing is taken. */
static int size_is_less(struct trying *t, const char *c, bool *is)
{
    const double product = values_size(t, c);
    struct finding *const size = trying_find(t, c, "size");
    *is = false;
    if (trying_tlb(c) || size == NULL || size->value.number >= product)
        return 0;
    const double told = size->value.number;
    size->value.number = product;
    const bool only = values_agree(t, c);
    size->value.number = told;
    bool fits = true, foretold = true;
    int status = only ? try_fits(t, c, product, &fits) : 0;
    if (status == 0 && !fits) {
        size->value.number = product;
        status = twin_fits(t, c, product, &foretold);
        size->value.number = told;
    }
    *is = !fits && foretold;
    return status;
}

int suspect_size(struct trying *t, const char *c, double *holds, bool *is)
{
    bool less = false;
    *holds = values_hold(t, c);
    *is = trying_sure(t, c, "size") != NULL &&
          !values_size_agrees(t, c, "size", *holds);
    const int status = *is ? size_is_less(t, c, &less) : 0;
    *is = *is && !less;
    return status;
}

/* Which of several it is; none that is left explains what was asked then. Where
 * a size may be less than all sets hold (`*less`), which was seen, it is not
 * that size, and may be nothing. */
static int choose(struct others *o, bool *less)
{
    bool decided = false;
    const struct finding *const size =
        trying_find(o->trying, o->suspicion->component, "size");
    if (o->rivals.count + *less < 2)
        return 0;
    for (size_t i = 0; *less && i < o->rivals.count; i++)
        o->rivals.at[i].out = o->rivals.at[i].finding == size;
    if (*less)
        rivals_add(&o->rivals, NULL, NULL);
    const int status =
        rivals_decide(o->trying, o->suspicion, &o->rivals, &decided);
    const struct rival *const first = rivals_first(&o->rivals);
    if (status != 0 || (!decided && !*less))
        return status;
    *less = *less && (!decided || first != NULL);
    value_free(&o->value);
    o->finding = decided && first != NULL ? first->finding : NULL;
    o->value =
        o->finding != NULL ? value_copy(&first->value) : (struct value){0};
    return 0;
}

/* Of many ways that are lost by chance one more or less is as few misses as
 * disturbance makes.  So the number of them by which the sets hold what fits is
 * likelier than that some is taken. */
static int try_ways_by_size(struct trying *t, struct suspicion *s, bool *found)
{
    const char *const c = s->component;
    const struct finding *const policy = trying_sure(t, c, "policy");
    struct others others = {.trying = t, .suspicion = s};
    *found = false;
    if (policy == NULL || policy->value.kind != VALUE_TEXT ||
        cache_policy_find(policy->value.text) != POLICY_RANDOM)
        return 0;
    const double each =
        values_number(t, c, "line") * values_number(t, c, "sets");
    const int status = others_try_number(
        &others, "ways", each > 0 ? values_number(t, c, "size") / each : 0);
    *found = status == 0 && others.rivals.count > 0;
    if (*found)
        blame(&others, &all_foretold);
    others_free(&others);
    return status;
}

/* As the findings are now; from where they deal best, others are tried to deal
 * first. */
static int look_first(struct trying *t, struct suspicion *s,
                      struct foretold *foretold)
{
    struct dealt d = {0};
    const int status = deal(t, s, &d);
    memcpy(s->compared, d.compared, sizeof d.compared);
    *foretold = foretold_of(s, &d);
    s->dealt_from = d.from;
    s->dealt_is_known = true;
    return status;
}

/* All is explained well enough, but some loads are not, or only if each met
 * another state of the sets: a policy that explains these, too, is likelier. */
static int try_other_policies(struct trying *t, struct suspicion *s,
                              const struct foretold *now)
{
    enum { FEW = 2 }; /* as disturbance makes */
    struct others others = {.trying = t, .suspicion = s};
    if (now->strained == 0 && now->wrong <= FEW)
        return 0;
    const int status = others_try_policies(&others);
    const struct foretold *const other = &others.foretold;
    if (status == 0 && others_explain(&others) && others.consistent &&
        other->strained == 0 && other->wrong <= now->wrong &&
        (now->strained > 0 || other->wrong + FEW < now->wrong))
        blame(&others, now);
    others_free(&others);
    return status;
}

int suspect(struct trying *t, struct suspicion *s)
{
    struct foretold now = {0};
    bool less = false, found = false;
    int status = look_first(t, s, &now);
    /* The simulated GPU cannot have that index, so another value explains what
     * it does not by chance alone. */
    if (now.failed > 0 && trying_is_of_parts(t, s->component, "set_bits"))
        return status;
    if (status == 0 && now.failed == 0 && values_agree(t, s->component))
        return try_other_policies(t, s, &now);
    if (status != 0)
        return status;
    if (now.failed == 0)
        status = size_is_less(t, s->component, &less);
    /* What was asked foretells the sets, and nothing of the size. */
    if (status == 0 && less && s->trials > 0) {
        status = try_ways_by_size(t, s, &found);
        return status != 0 || found ? status : try_size(t, s->component);
    }
    if (status != 0)
        return status;
    struct others others = {.trying = t, .suspicion = s};
    status = others_try_all(&others);
    if (status == 0)
        status = choose(&others, &less);
    found = others.finding != NULL && others.foretold.failed == 0 &&
            (now.failed > 0 || others.consistent);
    bool again = true;
    if (status == 0 && (!found || fails_barely(s)) && !less)
        status = fails_elsewhere(t, s, now.failed, &again);
    if (status == 0 && found && again)
        blame(&others, now.failed > 0 ? &now : &all_foretold);
    else if (status == 0 && !less && again && !copies_meet(t, s->component))
        blame_what_is_left(t, s, now.failed);
    others_free(&others);
    return status;
}
