#include "twin/validate/values.h"

#include <math.h>

#include "model/cache.h"

double values_number(struct trying *t, const char *component,
                     const char *attribute)
{
    const struct finding *const f = trying_sure(t, component, attribute);
    return f != NULL && f->value.kind == VALUE_NUMBER ? f->value.number : 0;
}

double values_number_or_one(struct trying *t, const char *component,
                            const char *attribute)
{
    return trying_find(t, component, attribute) == NULL
               ? 1
               : values_number(t, component, attribute);
}

double values_sum(const struct finding *f)
{
    double sum = 0;
    for (size_t i = 0; f != NULL && i < f->value.count; i++)
        sum += f->value.items[i].number;
    return sum;
}

double values_places(struct trying *t, const char *component)
{
    const struct finding *const list = trying_sure(t, component, "set_ways");
    return list != NULL ? values_sum(list)
                        : values_number(t, component, "sets") *
                              values_number(t, component, "ways");
}

double values_hold(struct trying *t, const char *component)
{
    return values_places(t, component) * values_number(t, component, "line");
}

double values_hold_least(struct trying *t, const char *component)
{
    const struct finding *const line = trying_find(t, component, "line");
    return line != NULL && line->status == STATUS_AT_LEAST
               ? values_places(t, component) * line->value.number
               : 0;
}

double values_size(struct trying *t, const char *component)
{
    const double least = values_hold_least(t, component);
    return least > 0 ? least * ceil(values_number(t, component, "size") / least)
                     : values_hold(t, component);
}

double values_sets_by_bits(struct trying *t, const char *component)
{
    const struct finding *const bits = trying_sure(t, component, "set_bits");
    const double modulo = values_number_or_one(t, component, "slice_modulo");
    const double parts = values_number_or_one(t, component, "parts");
    return bits != NULL && bits->value.kind == VALUE_LIST
               ? parts * ldexp(modulo, (int)bits->value.count)
               : 0;
}

/* True if some bits of the index lie within a line, so that they can be none.
 */
static bool bits_within(struct trying *t, const char *c, double line)
{
    const struct finding *const bits = trying_sure(t, c, "set_bits");
    for (size_t i = 0; bits != NULL && i < bits->value.count; i++) {
        const struct value *const entry = &bits->value.items[i];
        if (entry->kind == VALUE_NUMBER && exp2(entry->number) < line)
            return true;
        for (size_t k = 0; k < entry->count; k++)
            if (exp2(entry->items[k].number) < line)
                return true;
    }
    return false;
}

static bool agree(double a, double b)
{
    return a == 0 || b == 0 || a == b;
}

bool values_size_agrees(struct trying *t, const char *component,
                        const char *attribute, double size)
{
    const struct finding *const f = trying_find(t, component, attribute);
    if (f == NULL || f->value.kind != VALUE_NUMBER || size == 0 ||
        f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST)
        return true;
    return f->value.number == size ||
           (f->has_interval && f->interval[0] < f->interval[1] &&
            size >= f->interval[0] && size <= f->interval[1]);
}

bool values_weights_open(struct trying *t, const char *c)
{
    const struct finding *const policy = results_edit(t->results, c, "policy");
    const struct finding *const weights =
        results_edit(t->results, c, "policy_weights");
    return policy != NULL && policy->value.kind == VALUE_TEXT &&
           cache_policy_find(policy->value.text) == POLICY_WEIGHTED &&
           weights != NULL && weights->status == STATUS_NOT_MEASURED;
}

/* True if a profile can say the policy: some need numbers of the protocol, and
 * a tree of bits a power of two of ways. */
static bool policy_can_be(struct trying *t, const char *c)
{
    const struct finding *const f = trying_sure(t, c, "policy");
    const double ways = values_number(t, c, "ways");
    if (f == NULL || f->value.kind != VALUE_TEXT || ways == 0)
        return true;
    const struct finding *const weights = trying_find(t, c, "policy_weights");
    switch (cache_policy_find(f->value.text)) {
    case POLICY_LRU_MIDPOINT:
        return finding_said(f, "behind") != NULL;
    case POLICY_RRIP:
        return finding_said(f, "ages") != NULL;
    case POLICY_WEIGHTED:
        return values_weights_open(t, c) ||
               (weights != NULL && (double)weights->value.count == ways);
    case POLICY_PLRU:
        return exp2(floor(log2(ways))) == ways;
    case POLICY_COUNT:
        return false;
    default:
        return true;
    }
}

bool values_agree(struct trying *t, const char *c)
{
    if (!policy_can_be(t, c))
        return false;
    const double lines = values_places(t, c);
    const struct finding *const list = trying_sure(t, c, "set_ways");
    const double line = values_number(t, c, "line"),
                 sector = values_number(t, c, "sector");
    const double sets = values_number(t, c, "sets");
    if (list != NULL && !agree(sets, (double)list->value.count))
        return false;
    if (!agree(sets, values_sets_by_bits(t, c)))
        return false;
    if ((line > 0 && sector > line) ||
        bits_within(t, c, trying_tlb(c) ? values_number(t, c, "region") : line))
        return false;
    if (!trying_tlb(c))
        return values_size_agrees(t, c, "size", values_size(t, c));
    const double entries = values_number(t, c, "entries"),
                 region = values_number(t, c, "region");
    return values_size_agrees(t, c, "entries", lines) &&
           (region == 0 || values_number(t, c, "page") <= region) &&
           values_size_agrees(t, c, "reach", entries * region);
}

/* Twice as much, or a list that lacks its last. */
static bool another_of(const struct value *v, struct value *other)
{
    if (v->kind == VALUE_NUMBER)
        *other = value_number(2 * v->number);
    else if (v->kind == VALUE_LIST)
        *other = value_list();
    for (size_t i = 0; v->kind == VALUE_LIST && i + 1 < v->count; i++)
        value_push(other, value_copy(&v->items[i]));
    return v->kind == VALUE_NUMBER || v->kind == VALUE_LIST;
}

bool values_deny_another(struct trying *t, const char *component,
                         struct finding *f)
{
    struct value other;
    if (!another_of(&f->value, &other))
        return false;
    trying_lend(t, f, other);
    const bool holds = !values_agree(t, component);
    trying_return(t);
    value_free(&other);
    return holds;
}
