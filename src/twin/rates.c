#include "twin/rates.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "twin/memory.h"

/* In bytes a cycle of the SM clock that it was measured at; 0: it was not, or
 * is a bound, which says what there is at least. */
static double per_cycle(struct told *told, const char *component,
                        const char *attribute)
{
    const struct finding *const f = told_finding(told, component, attribute);
    if (f == NULL || f->value.kind != VALUE_NUMBER ||
        (f->status != STATUS_MEASURED && f->status != STATUS_DERIVED))
        return 0;
    if (strcmp(f->unit, "B/s") != 0)
        return f->value.number;
    const struct value *const said = finding_said(f, "sm_clock");
    const double clock = said != NULL && said->kind == VALUE_NUMBER
                             ? said->number
                             : told_number(told, "clock", "measured");
    return clock > 0 ? f->value.number / clock : 0;
}

/* True if there is one. */
static bool put_rate(struct told *told, const char *component,
                     const char *attribute, json_t *into, const char *key)
{
    const double rate = per_cycle(told, component, attribute);
    char name[64];
    snprintf(name, sizeof name, "%s.%s", component, attribute);
    if (rate <= 0)
        told_choose(told, name);
    else
        json_object_set_new(into, key, json_real(rate));
    return rate > 0;
}

/* An SM's copies share what was measured of the SM. */
static void put_cache(struct told *told, const char *component, json_t *caches)
{
    json_t *const cache =
        json_object_get(caches, twin_storage(told, component));
    if (cache == NULL)
        return;
    put_rate(told, component, "read_bandwidth", cache, "read_bandwidth");
    put_rate(told, component, "write_bandwidth", cache, "write_bandwidth");
    const json_t *const copies = json_object_get(cache, "copies_per_sm");
    const json_t *const rate = json_object_get(cache, "read_bandwidth");
    if (json_is_integer(copies) && rate != NULL)
        json_object_set_new(cache, "read_bandwidth",
                            json_real(json_number_value(rate) /
                                      (double)json_integer_value(copies)));
}

/* Reads and writes pass one bus: of the way that was not measured the nearest
 * profile's rate is to the other as it is there. */
static void put_memory(struct told *told, json_t *profile)
{
    static const char *const ways[] = {"read_bandwidth", "write_bandwidth"};
    static const char *const keys[] = {"memory_read_bandwidth",
                                       "memory_write_bandwidth"};
    double nearest[2];
    bool told_of[2];
    for (int i = 0; i < 2; i++) {
        nearest[i] = json_number_value(json_object_get(profile, keys[i]));
        told_of[i] = put_rate(told, "memory", ways[i], profile, keys[i]);
    }
    if (told_of[0] == told_of[1] || nearest[0] <= 0 || nearest[1] <= 0)
        return;
    const int other = told_of[0] ? 1 : 0, way = 1 - other;
    const double rate = json_number_value(json_object_get(profile, keys[way]));
    json_object_set_new(profile, keys[other],
                        json_real(rate * nearest[other] / nearest[way]));
}

void twin_put_rates(struct told *told, json_t *profile)
{
    json_t *const caches = json_object_get(profile, "caches");
    json_t *const shared = json_object_get(profile, "shared_memory");
    put_cache(told, "l1", caches);
    put_cache(told, "l2", caches);
    put_rate(told, "shared", "read_bandwidth", shared, "read_bandwidth");
    put_rate(told, "shared", "write_bandwidth", shared, "write_bandwidth");
    put_memory(told, profile);
}
