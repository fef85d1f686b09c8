#include "twin/validate/others.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "twin/memory.h"
#include "twin/validate/values.h"

/* What explains all by one state of the sets is likelier than what needs
 * another for each load: a policy of marks, by 16 states, explains most laps.
 */
static bool better(const struct others *o, const struct foretold *f, bool whole)
{
    const struct foretold *const best = &o->foretold;
    if (o->finding == NULL || f->failed != best->failed)
        return o->finding == NULL || f->failed < best->failed;
    if (f->failed == 0 && f->strained != best->strained)
        return f->strained < best->strained;
    return whole && !o->consistent;
}

/* Takes the value over. */
static int try_value(struct others *o, struct finding *f, struct value value)
{
    struct foretold now = {0};
    if (value_equal(&value, &f->value) || trying_late(o->trying)) {
        value_free(&value);
        return 0;
    }
    trying_lend(o->trying, f, value);
    const bool whole = values_agree(o->trying, o->suspicion->component);
    const int status = suspicion_ask(o->trying, o->suspicion, &now);
    trying_return(o->trying);
    const bool best = status == 0 && better(o, &now, whole);
    if (best && now.strained < o->foretold.strained)
        rivals_free(&o->rivals);
    if (status == 0 && now.failed == 0 && whole &&
        (best || now.strained == o->foretold.strained))
        rivals_add(&o->rivals, f, &value);
    if (best) {
        value_free(&o->value);
        o->finding = f;
        o->value = value;
        o->foretold = now;
        o->consistent = whole;
        return 0;
    }
    value_free(&value);
    return status;
}

int others_try_number(struct others *o, const char *attribute, double x)
{
    struct finding *const f =
        trying_find(o->trying, o->suspicion->component, attribute);
    return f == NULL || f->value.kind != VALUE_NUMBER || x < 1 || x != floor(x)
               ? 0
               : try_value(o, f, value_number(x));
}

/* What the other values make of it; one more and less; twice and half. */
static int try_numbers(struct others *o, const char *attribute, double meant)
{
    const double now =
        values_number(o->trying, o->suspicion->component, attribute);
    const double others[] = {meant, now - 1, now + 1, now / 2, now * 2};
    int status = 0;
    for (size_t i = 0;
         status == 0 && now > 0 && i < sizeof others / sizeof *others; i++)
        status = others_try_number(o, attribute, others[i]);
    return status;
}

int others_try_policies(struct others *o)
{
    struct finding *const f =
        trying_find(o->trying, o->suspicion->component, "policy");
    int status = 0;
    if (f == NULL || f->value.kind != VALUE_TEXT)
        return 0;
    for (int p = 0; status == 0 && p < POLICY_COUNT; p++)
        status = try_value(o, f,
                           value_text(cache_policy_name((enum cache_policy)p)));
    return status;
}

/* Without them lines are dealt to sets one after the other. */
static int try_bits(struct others *o)
{
    struct finding *const f =
        trying_find(o->trying, o->suspicion->component, "set_bits");
    return f != NULL ? try_value(o, f, (struct value){.kind = VALUE_NONE}) : 0;
}

/* The mask of an index with the address bit, or without it if it has it; as it
 * is where nothing would be left. */
static struct value toggled(const struct value *mask, double bit)
{
    const bool one = mask->kind == VALUE_NUMBER;
    const size_t count = one ? 1 : mask->count;
    struct value other = value_list();
    for (size_t i = 0; i < count; i++) {
        const double has = one ? mask->number : mask->items[i].number;
        if (has != bit)
            value_push(&other, value_number(has));
    }
    if (other.count == count)
        value_push(&other, value_number(bit));
    if (other.count > 1)
        return other;
    const struct value left = other.count == 0
                                  ? value_copy(mask)
                                  : value_number(other.items[0].number);
    value_free(&other);
    return left;
}

static double top_bit(const struct value *v)
{
    double top = v->kind == VALUE_NUMBER ? v->number : 0;
    for (size_t i = 0; i < v->count; i++)
        top = fmax(top, top_bit(&v->items[i]));
    return top;
}

/* Of all that the first experiment leaves, which are few. */
static int try_if_first(struct others *o, struct finding *f, struct value value)
{
    struct suspicion first = *o->suspicion;
    struct foretold now = {0};
    first.trials = u64_min(first.trials, 1);
    trying_lend(o->trying, f, value);
    const int status = suspicion_ask(o->trying, &first, &now);
    trying_return(o->trying);
    if (status == 0 && now.failed == 0)
        return try_value(o, f, value);
    value_free(&value);
    return status;
}

/* An index of which one bit is an XOR with one more, or with one less. */
static int try_masks(struct others *o, double unit)
{
    struct finding *const f =
        trying_find(o->trying, o->suspicion->component, "set_bits");
    const double top = f != NULL ? top_bit(&f->value) : 0;
    int status = 0;
    for (size_t i = 0; f != NULL && i < f->value.count; i++)
        for (double bit = log2(unit);
             status == 0 && bit <= top && !trying_late(o->trying); bit++) {
            struct value bits = value_copy(&f->value);
            value_free(&bits.items[i]);
            bits.items[i] = toggled(&f->value.items[i], bit);
            status = try_if_first(o, f, bits);
        }
    return status;
}

/* A list of sets of which one has a way more or less. */
static int try_set_ways(struct others *o, double entries)
{
    const char *const c = o->suspicion->component;
    struct finding *const f = trying_find(o->trying, c, "set_ways");
    const double off = f != NULL ? entries - values_sum(f) : 0;
    int status = 0;
    for (size_t i = 0; status == 0 && f != NULL && entries > 0 && off != 0 &&
                       i < f->value.count;
         i++) {
        struct value list = value_copy(&f->value);
        list.items[i].number += off;
        status = list.items[i].number >= 1 ? try_value(o, f, list) : 0;
    }
    return status;
}

/* What others say of the same storage. */
static int try_siblings(struct others *o)
{
    static const char *const components[] = {"l1", "texture", "readonly",
                                             "local"};
    static const char *const attributes[] = {
        "ways", "sets", "line", "size", "set_bits", "policy", "sector"};
    struct trying *const t = o->trying;
    const char *const own = o->suspicion->component;
    int status = 0;
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        const char *const c = components[i];
        if (strcmp(c, own) == 0 || strcmp(twin_storage(&t->told, c), own) != 0)
            continue;
        for (size_t k = 0;
             status == 0 && k < sizeof attributes / sizeof *attributes; k++) {
            struct finding *const f = trying_find(t, own, attributes[k]);
            const struct finding *const g = trying_find(t, c, attributes[k]);
            if (f != NULL && g != NULL)
                status = try_value(o, f, value_copy(&g->value));
        }
    }
    return status;
}

static double by(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static int try_each(struct others *o)
{
    struct trying *const t = o->trying;
    const char *const c = o->suspicion->component;
    const bool tlb = trying_tlb(c);
    const char *const unit = tlb ? "region" : "line";
    const double line = values_number(t, c, unit),
                 sets = values_number(t, c, "sets"),
                 ways = values_number(t, c, "ways");
    const double lines = tlb ? values_number(t, c, "entries")
                             : by(values_number(t, c, "size"), line);
    const double size =
        tlb ? values_number(t, c, "reach") : values_number(t, c, "size");
    const double product = values_places(t, c), least = values_hold_least(t, c);
    int status = try_siblings(o);
    status = status ? status : try_numbers(o, "ways", by(lines, sets));
    status = status ? status
                    : others_try_number(o, "sets", values_sets_by_bits(t, c));
    status = status ? status : try_numbers(o, "sets", by(lines, ways));
    status = status ? status : try_numbers(o, unit, by(size, product));
    status = status ? status : try_numbers(o, "sector", line);
    status = status
                 ? status
                 : others_try_number(o, tlb ? "entries" : "size",
                                     tlb ? product : values_size(t, c) - least);
    status = status ? status
                    : others_try_number(o, "size",
                                        least > 0 ? values_size(t, c) : 0);
    status = status ? status
                    : others_try_number(o, "reach",
                                        values_number(t, c, "entries") * line);
    status = status
                 ? status
                 : others_try_number(o, "page", values_number(t, c, "region"));
    status = status ? status
                    : others_try_number(
                          o, "slice_modulo",
                          by(sets * values_number_or_one(t, c, "slice_modulo"),
                             values_sets_by_bits(t, c)));
    status = status ? status : try_set_ways(o, values_number(t, c, "entries"));
    status = status ? status : others_try_policies(o);
    return status ? status : try_bits(o);
}

bool others_explain(const struct others *o)
{
    return o->finding != NULL && o->foretold.failed == 0 &&
           !(o->value.kind == VALUE_TEXT &&
             cache_by_chance(cache_policy_find(o->value.text)));
}

/* Where lines are dealt to unequal sets, the best place for wrong values may be
 * none of the right ones'. */
int others_try_all(struct others *o)
{
    const char *const c = o->suspicion->component;
    const double unit =
        values_number(o->trying, c, trying_tlb(c) ? "region" : "line");
    int status = try_each(o);
    if (status == 0 && !others_explain(o) && unit > 0 &&
        o->suspicion->trials > 0 && !suspicion_laps_are_right(o->suspicion))
        status = try_masks(o, unit);
    if (status != 0 || others_explain(o) ||
        suspicion_dealt_entries(o->trying, o->suspicion->component) == 0)
        return status;
    o->suspicion->dealt_is_known = false;
    return try_each(o);
}

void others_free(struct others *o)
{
    rivals_free(&o->rivals);
    value_free(&o->value);
}
