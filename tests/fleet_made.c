/*
 * Each quantity has a spread of its own, from a tenth of a percent to a
 * percent, in which hosts have a part (their air, their power); one number in
 * fifty was disturbed and is three times as far off, and its interval says so,
 * as that of a study does.  Structure is that of the base.
 */
#include "fleet_made.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "finding/judge.h"

enum { GPUS_A_HOST = 8, HOSTS_A_RACK = 16, LINKS = 7, SMS = 16, SLICES = 48 };

static const struct {
    const char *name, *finding;
} faults[] = {
    [FAULT_NONE_PLANTED] = {"none", ""},
    [FAULT_SLOW_MEMORY] = {"slow memory", "memory.read_bandwidth"},
    [FAULT_SLICE] = {"missing slice", "l2.slices"},
    [FAULT_LINK] = {"slow link", "link.read_bandwidth["},
    [FAULT_THROTTLED] = {"throttling", "clock.measured"},
    [FAULT_WARM] = {"warm GPU", "gpu.temperature"},
    [FAULT_DRIVER] = {"other driver", "device.driver"},
    [FAULT_ECC] = {"ECC off", "device.ecc"},
    [FAULT_HALF_SM] = {"half an SM", "l1.read_bandwidth_by_sm["},
};

const char *fleet_fault_name(enum fleet_fault fault)
{
    return faults[fault].name;
}

const char *fleet_fault_finding(enum fleet_fault fault)
{
    return faults[fault].finding;
}

char *fleet_made_host(size_t index)
{
    const size_t host = index / GPUS_A_HOST;
    return xasprintf("r%02zu-n%02zu", host / HOSTS_A_RACK, host % HOSTS_A_RACK);
}

char *fleet_made_uuid(uint64_t seed, size_t index)
{
    return xasprintf("GPU-%08" PRIx64 "-0000-4000-8000-%012zx",
                     seed & 0xffffffff, index);
}

/* ---- the base ------------------------------------------------------------ */

static json_t *finding_of(json_t *report, const char *id)
{
    return json_object_get(json_object_get(report, "findings"), id);
}

static void add(json_t *base, const char *id, json_t *value, const char *unit)
{
    json_t *const f = json_object();
    json_object_set_new(f, "value", value);
    json_object_set_new(f, "unit", json_string(unit));
    json_object_set_new(f, "status", json_string("measured"));
    if (finding_of(base, id) == NULL ||
        json_object_get(finding_of(base, id), "value") == NULL)
        json_object_set_new(json_object_get(base, "findings"), id, f);
    else
        json_decref(f);
}

static void add_list(json_t *base, const char *id, const char *axis,
                     size_t count, double number, const char *unit)
{
    json_t *const values = json_array(), *const places = json_array(),
                  *const about = json_object();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(values, json_real(number));
        json_array_append_new(places, json_integer((json_int_t)i));
    }
    add(base, id, values, unit);
    json_object_set_new(about, "name", json_string(axis));
    json_object_set_new(about, "values", places);
    json_object_set_new(finding_of(base, id), "axis", about);
}

void fleet_made_base(json_t *base)
{
    json_t *const device = json_object_get(base, "device");
    add(base, "memory.read_bandwidth", json_real(4.6e12), "B/s");
    add(base, "l2.slices", json_integer(SLICES), "");
    add(base, "clock.measured", json_real(1.98e9), "Hz");
    add(base, "gpu.temperature", json_real(45), "°C");
    add_list(base, "link.read_bandwidth", "peer", LINKS, 4.5e11, "B/s");
    add_list(base, "l1.read_bandwidth_by_sm", "sm", SMS, 127, "B/clk/SM");
    json_object_set_new(device, "driver", json_string("580.159.04"));
    json_object_set_new(device, "ecc", json_true());
}

/* ---- numbers ------------------------------------------------------------- */

/* What is drawn for a finding of a GPU. */
struct draw {
    uint64_t seed, gpu, host;
};

static double normal(uint64_t seed, const char *id, uint64_t who)
{
    struct rng r;
    rng_seed(&r, hash_text(seed * 1000003 + who, id));
    return rng_normal(&r);
}

static bool is_disturbed(const struct draw *d, const char *id)
{
    return hash_text(d->seed * 7919 + d->gpu, id) % 50 == 0;
}

static double spread_of(const char *id)
{
    return 0.001 * pow(10, (double)(hash_text(0, id) % 1000) / 1000);
}

/* By which the number of this finding is larger than the base's. */
static double factor(const struct draw *d, const char *id)
{
    const uint64_t host = (uint64_t)1 << 32 | d->host;
    return 1 + spread_of(id) * (0.9 * normal(d->seed, id, d->gpu) +
                                0.4 * normal(d->seed, id, host));
}

/* Of a number with an interval, which is that wide. */
static double disturbed(const char *id, json_t *interval, double number,
                        double by)
{
    const double wide = 2 * 3 * spread_of(id) * number;
    json_array_set_new(interval, 0, json_real(by * number - wide));
    json_array_set_new(interval, 1, json_real(by * number + wide));
    return by;
}

static void scale(json_t *list, size_t i, double by)
{
    const json_t *const number = json_array_get(list, i);
    if (json_is_number(number))
        json_array_set_new(list, i, json_real(by * json_number_value(number)));
}

static void vary(json_t *finding, const char *id, const struct draw *d)
{
    json_t *const value = json_object_get(finding, "value");
    json_t *const interval = json_object_get(finding, "interval");
    const char *const unit =
        json_string_value(json_object_get(finding, "unit"));
    if (unit == NULL || !judge_is_quantity(unit))
        return;
    char item[256];
    for (size_t i = 0; i < json_array_size(value); i++) {
        snprintf(item, sizeof item, "%s %zu", id, i);
        scale(value, i, factor(d, item));
    }
    if (!json_is_number(value))
        return;
    const double number = json_number_value(value);
    double by = factor(d, id);
    if (interval != NULL && is_disturbed(d, id))
        by = disturbed(id, interval, number, 1 + 3 * (by - 1));
    else {
        scale(interval, 0, by);
        scale(interval, 1, by);
    }
    json_object_set_new(finding, "value", json_real(by * number));
}

/* ---- faults -------------------------------------------------------------- */

static void multiply(json_t *report, const char *id, double by)
{
    json_t *const f = finding_of(report, id);
    json_t *const value = json_object_get(f, "value");
    json_object_set_new(f, "value", json_real(by * json_number_value(value)));
    scale(json_object_get(f, "interval"), 0, by);
    scale(json_object_get(f, "interval"), 1, by);
}

static void plant(json_t *report, enum fleet_fault fault, size_t index)
{
    json_t *const device = json_object_get(report, "device");
    switch (fault) {
    case FAULT_SLOW_MEMORY:
        multiply(report, "memory.read_bandwidth", 0.9);
        break;
    case FAULT_SLICE:
        json_object_set_new(finding_of(report, "l2.slices"), "value",
                            json_integer(SLICES - 1));
        break;
    case FAULT_LINK:
        scale(
            json_object_get(finding_of(report, "link.read_bandwidth"), "value"),
            index % LINKS, 0.7);
        break;
    case FAULT_THROTTLED:
        multiply(report, "clock.measured", 0.8);
        break;
    case FAULT_WARM:
        multiply(report, "gpu.temperature", 1.5);
        break;
    case FAULT_DRIVER:
        json_object_set_new(device, "driver", json_string("570.10.01"));
        break;
    case FAULT_ECC:
        json_object_set_new(device, "ecc", json_false());
        break;
    case FAULT_HALF_SM:
        scale(json_object_get(finding_of(report, "l1.read_bandwidth_by_sm"),
                              "value"),
              index % SMS, 0.5);
        break;
    case FAULT_NONE_PLANTED:
    case FLEET_FAULTS:
        break;
    }
}

/* ---- a report ------------------------------------------------------------ */

static void set_text(json_t *object, const char *key, char *text)
{
    json_object_set_new(object, key, json_string(text));
    free(text);
}

static void name(json_t *report, uint64_t seed, size_t index)
{
    json_t *const device = json_object_get(report, "device");
    json_t *run = json_object_get(report, "run");
    if (run == NULL) {
        run = json_object();
        json_object_set_new(report, "run", run);
    }
    set_text(device, "uuid", fleet_made_uuid(seed, index));
    set_text(device, "spec", xasprintf("cuda:%zu", index % GPUS_A_HOST));
    set_text(run, "host", fleet_made_host(index));
    json_object_set_new(run, "simulated", json_false());
}

json_t *fleet_made_report(const json_t *base, uint64_t seed, size_t index,
                          enum fleet_fault fault)
{
    const struct draw d = {seed, index, index / GPUS_A_HOST};
    json_t *const report = json_deep_copy(base);
    const char *id;
    json_t *finding;
    json_object_foreach(json_object_get(report, "findings"), id, finding)
    {
        vary(finding, id, &d);
    }
    name(report, seed, index);
    plant(report, fault, index);
    return report;
}
