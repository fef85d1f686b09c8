#include "twin/shape.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What is not known is 0. */
struct dimensions {
    double unit; /* bytes of a line, or of what an entry covers */
    double size; /* bytes */
    double sets, ways;
    const struct finding *set_ways, *bits;
    double modulo, from_bit;
};

static void choose(struct told *told, const char *component,
                   const char *attribute)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", component, attribute);
    told_choose(told, name);
}

static bool whole(double x)
{
    return x >= 1 && x == floor(x);
}

/* Bits that lie in the unit choose no set. */
static bool within_unit(const struct value *entry, double unit)
{
    const double least = log2(unit);
    if (entry->kind == VALUE_NUMBER)
        return entry->number < least;
    for (size_t i = 0; i < entry->count; i++)
        if (entry->items[i].number < least)
            return true;
    return false;
}

static json_t *json_of(const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return json_integer((json_int_t)value->number);
    json_t *const list = json_array();
    for (size_t i = 0; i < value->count; i++)
        json_array_append_new(list, json_of(&value->items[i]));
    return list;
}

/* The index bits above the unit; NULL: none are known. */
static json_t *index_bits(const struct dimensions *d)
{
    if (d->bits == NULL || d->bits->value.kind != VALUE_LIST)
        return NULL;
    json_t *const list = json_array();
    for (size_t i = 0; i < d->bits->value.count; i++)
        if (!within_unit(&d->bits->value.items[i], d->unit))
            json_array_append_new(list, json_of(&d->bits->value.items[i]));
    return list;
}

static double sets_of_bits(const struct dimensions *d)
{
    json_t *const bits = index_bits(d);
    const double sets = bits != NULL ? ldexp(d->modulo > 0 ? d->modulo : 1,
                                             (int)json_array_size(bits))
                                     : 0;
    json_decref(bits);
    return sets;
}

/* What is unknown, of what is known. */
static void complete(struct dimensions *d)
{
    if (d->unit == 0 && d->sets > 0 && d->ways > 0)
        d->unit = d->size / (d->sets * d->ways);
    if (d->sets == 0)
        d->sets = sets_of_bits(d);
    if (d->sets == 0 && d->ways > 0 && d->unit > 0)
        d->sets = d->size / (d->unit * d->ways);
    if (d->ways == 0 && d->sets > 0 && d->unit > 0)
        d->ways = d->size / (d->unit * d->sets);
}

/* Sets of which nothing is known: four ways, or as many as make it come out
 * whole. */
static void choose_sets(struct told *told, const char *component,
                        struct dimensions *d)
{
    enum { WAYS = 4 };
    const double lines = floor(d->size / d->unit);
    d->ways = fmod(lines, WAYS) == 0 ? WAYS : lines;
    d->sets = lines / d->ways;
    d->bits = NULL;
    d->modulo = 0;
    choose(told, component, "sets");
    choose(told, component, "ways");
}

static json_t *ages_of(const struct finding *f)
{
    const struct value *const ages = finding_said(f, "ages");
    if (ages == NULL || ages->kind != VALUE_LIST || ages->count != 3)
        return NULL;
    return json_pack("{ss si si si}", "kind", "rrip", "most",
                     (int)ages->items[0].number, "insert",
                     (int)ages->items[1].number, "hit",
                     (int)ages->items[2].number);
}

/* One a way: of another number of ways they tell nothing. */
static json_t *weights_of(struct told *told, const char *component, double ways)
{
    const struct finding *const f =
        told_finding(told, component, "policy_weights");
    if (f == NULL || f->value.kind != VALUE_LIST ||
        (double)f->value.count != ways)
        return NULL;
    json_t *const list = json_array();
    for (size_t i = 0; i < f->value.count; i++)
        json_array_append_new(list, json_real(f->value.items[i].number));
    return json_pack("{ss so}", "kind", "weighted", "weights", list);
}

/* NULL: none that a profile can say. */
static json_t *policy_of(struct told *told, const char *component, double ways)
{
    const struct finding *const f = told_finding(told, component, "policy");
    if (f == NULL || f->value.kind != VALUE_TEXT)
        return NULL;
    const char *const name = f->value.text;
    if (strcmp(name, "rrip") == 0)
        return ages_of(f);
    if (strcmp(name, "weighted") == 0)
        return weights_of(told, component, ways);
    if (strcmp(name, "plru") == 0 && !whole(log2(ways)) && ways != 1)
        return NULL;
    if (strcmp(name, "lru_midpoint") != 0)
        return json_string(name);
    const struct value *const behind = finding_said(f, "behind");
    return behind != NULL ? json_pack("{ss si}", "kind", name, "behind",
                                      (int)behind->number)
                          : NULL;
}

static void put_policy(struct told *told, const char *component, double ways,
                       json_t *into)
{
    json_t *policy = policy_of(told, component, ways);
    if (policy == NULL) {
        policy = json_string("lru");
        choose(told, component, "policy");
    }
    json_object_set_new(into, "policy", policy);
}

/* Sets, their index and slices. */
static void put_sets(struct told *told, const char *component,
                     struct dimensions *d, json_t *into)
{
    json_t *bits = index_bits(d);
    const double slices = d->modulo > 0 ? d->modulo : 1;
    /* The index chooses a set of a slice, in the part where the line lies; with
     * a remainder it is that of its number among those of its home, as it is
     * where a profile says none. */
    const double parts = fmax(told_number(told, component, "parts"), 1);
    const bool by_number = parts > 1 && slices > 1;
    json_object_set_new(into, "sets", json_integer((json_int_t)d->sets));
    json_object_set_new(into, "ways", json_integer((json_int_t)d->ways));
    if (bits != NULL && !by_number &&
        ldexp(parts * slices, (int)json_array_size(bits)) == d->sets) {
        if (d->modulo > 0)
            json_object_set_new(into, "slices",
                                json_pack("{si si}", "modulo", (int)d->modulo,
                                          "from_bit", (int)d->from_bit));
        if (json_array_size(bits) > 0)
            json_object_set(into, "set_bits", bits);
    } else if (d->sets > 1)
        choose(told, component, "set_bits");
    json_decref(bits);
}

static void put_shape(struct told *told, const char *component,
                      struct dimensions *d, json_t *into)
{
    if (d->set_ways != NULL && d->set_ways->value.kind == VALUE_LIST) {
        json_object_set_new(into, "set_ways", json_of(&d->set_ways->value));
        put_policy(told, component, 1, into);
        return;
    }
    put_sets(told, component, d, into);
    put_policy(told, component, d->ways, into);
}

static struct dimensions dimensions_of(struct told *told, const char *component)
{
    struct dimensions d = {
        .sets = told_number(told, component, "sets"),
        .ways = told_number(told, component, "ways"),
        .set_ways = told_finding(told, component, "set_ways"),
        .bits = told_finding(told, component, "set_bits"),
        .modulo = told_number(told, component, "slice_modulo"),
    };
    const struct finding *const modulo =
        told_finding(told, component, "slice_modulo");
    const struct value *const from =
        modulo != NULL ? finding_said(modulo, "from_bit") : NULL;
    d.from_bit = from != NULL ? from->number : 0;
    return d;
}

/* True if sets and ways are known now, or could be chosen. */
static bool settle(struct told *told, const char *component,
                   struct dimensions *d)
{
    complete(d);
    if (d->unit == 0 || !whole(log2(d->unit)))
        return false;
    if (d->set_ways == NULL && (!whole(d->sets) || !whole(d->ways))) {
        if (d->size < d->unit)
            return false;
        choose_sets(told, component, d);
    }
    return true;
}

/* How a cache's addresses are known, where that was found. */
static void put_address(const struct dimensions *d, json_t *into)
{
    const struct value *const address =
        d->bits != NULL ? finding_said(d->bits, "address") : NULL;
    if (address != NULL && address->kind == VALUE_TEXT &&
        strcmp(address->text, "virtual") == 0)
        json_object_set_new(into, "address", json_string("virtual"));
}

/* Of all lines that its sets hold; of an L1 of which shared memory takes some,
 * more than what finds room. */
static void put_size(const struct dimensions *d, json_t *cache)
{
    const json_t *const list = json_object_get(cache, "set_ways");
    double lines = list == NULL ? d->sets * d->ways : 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        lines += json_number_value(json_array_get(list, i));
    json_object_set_new(cache, "size",
                        json_integer((json_int_t)(lines * d->unit)));
}

/* Parts and slices are alike, so each has a whole number of sets: of about as
 * many as were counted, where no index tells how many there are. */
static void share_sets(struct told *told, const char *component,
                       struct dimensions *d)
{
    const double alike = fmax(told_number(told, component, "slices"),
                              told_number(told, component, "parts"));
    if (d->bits == NULL && d->set_ways == NULL && alike > 1 && d->sets > alike)
        d->sets = alike * round(d->sets / alike);
}

json_t *twin_cache(struct told *told, const char *component)
{
    struct dimensions d = dimensions_of(told, component);
    d.unit = told_number(told, component, "line");
    d.size = told_number(told, component, "size");
    if (!settle(told, component, &d))
        return NULL;
    share_sets(told, component, &d);
    double sector = told_number(told, component, "sector");
    if (sector == 0 || sector > d.unit || d.unit / sector > 64) {
        sector = d.unit;
        choose(told, component, "sector");
    }
    json_t *const cache = json_pack("{sI sI}", "line", (json_int_t)d.unit,
                                    "sector", (json_int_t)sector);
    put_shape(told, component, &d, cache);
    put_size(&d, cache);
    put_address(&d, cache);
    return cache;
}

json_t *twin_tlb(struct told *told, const char *component)
{
    struct dimensions d = dimensions_of(told, component);
    double page = told_number(told, component, "page");
    d.unit = told_number(told, component, "region");
    d.unit = d.unit == 0 ? page : d.unit;
    d.size = told_number(told, component, "entries") * d.unit;
    if (d.size == 0)
        d.size = told_number(told, component, "reach");
    if (!settle(told, component, &d))
        return NULL;
    page = page == 0 || page > d.unit || d.unit / page > 64 ? d.unit : page;
    json_t *const tlb = json_pack("{sI sI}", "page", (json_int_t)page, "region",
                                  (json_int_t)d.unit);
    put_shape(told, component, &d, tlb);
    return tlb;
}
