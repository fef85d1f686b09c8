#include "twin/profile.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "twin/memory.h"
#include "twin/nearest.h"
#include "twin/rates.h"

/* ---- what a driver reports -------------------------------------------- */

/* A key of a profile, or of an object in it, that is a finding times a
 * factor. */
struct plain {
    const char *component, *attribute;
    const char *object, *key; /* object NULL: of the GPU */
    double factor;
    bool required; /* else the key goes where nothing was found */
};

static const struct plain plain_keys[] = {
    {"sm", "count", NULL, "sms", 1, true},
    {"sm", "cores", NULL, "cores_per_sm", 1, false},
    {"sm", "max_threads", NULL, "max_warps_per_sm", 1 / 32., true},
    {"sm", "max_threads", NULL, "max_threads_per_sm", 1, false},
    {"sm", "max_blocks", NULL, "max_blocks_per_sm", 1, true},
    {"sm", "registers", NULL, "registers_per_sm", 1, false},
    {"block", "max_threads", NULL, "max_threads_per_block", 1, true},
    {"block", "registers", NULL, "registers_per_block", 1, false},
    {"clock", "sm", NULL, "clock_khz", 1e-3, true},
    {"clock", "memory", NULL, "memory_clock_khz", 1e-3, false},
    {"clock", "overhead", NULL, "clock_overhead", 1, false},
    {"memory", "size", NULL, "memory_bytes", 1, true},
    {"memory", "bus_width", NULL, "memory_bus_bits", 1, false},
    {"memory", "ecc", NULL, "ecc", 1, false},
    {"l2", "size_reported", NULL, "l2_reported_bytes", 1, false},
    {"l2", "persisting", NULL, "l2_persisting_bytes", 1, false},
    {"constant", "size", NULL, "constant_bytes", 1, false},
    {"texture", "max_width", NULL, "texture_max_width", 1, false},
    {"cluster", "supported", NULL, "clusters", 1, false},
    {"gpu", "copy_engines", NULL, "copy_engines", 1, false},
    {"sm", "shared", "shared_memory", "bytes", 1, true},
    {"block", "shared", "shared_memory", "per_block", 1, false},
    {"block", "shared_optin", "shared_memory", "per_block_optin", 1, false},
    {"block", "shared_reserved", "shared_memory", "reserved", 1, false},
    {"shared", "latency", "shared_memory", "latency", 1, true},
    {"shared", "conflict_cycles", "shared_memory", "conflict_cycles", 1, true},
    {"shared", "banks", "shared_memory", "banks", 1, true},
    {"shared", "bank_bytes", "shared_memory", "bank_bytes", 1, true},
    {"shared", "row_words", "shared_memory", "row_words", 1, true},
};

/* What is whole stays so. */
static json_t *number_of(double x)
{
    return x == floor(x) ? json_integer((json_int_t)x) : json_real(x);
}

static void put_plain(struct told *told, json_t *profile,
                      const struct plain *row)
{
    json_t *const into =
        row->object != NULL ? json_object_get(profile, row->object) : profile;
    const struct finding *const f =
        told_finding(told, row->component, row->attribute);
    if (f != NULL &&
        (f->value.kind == VALUE_NUMBER || f->value.kind == VALUE_BOOL)) {
        const double x = f->value.number * row->factor;
        /* Times are as found; all else is counted. */
        const bool cycles = strcmp(f->unit, "cycles") == 0;
        json_object_set_new(into, row->key, number_of(cycles ? x : round(x)));
        return;
    }
    if (!row->required) {
        json_object_del(into, row->key);
        return;
    }
    char name[64];
    snprintf(name, sizeof name, "%s.%s", row->component, row->attribute);
    told_choose(told, name);
}

/* ---- who it is -------------------------------------------------------- */

static const char *device_says(const struct results *results, const char *name)
{
    const struct value *const v = results_of_device(results, name);
    return v != NULL && v->kind == VALUE_TEXT ? v->text : NULL;
}

/* A word that the report says of the device; of one that it does not, the
 * nearest profile's is kept. */
static void put_device(struct told *told, json_t *profile, const char *key,
                       size_t most)
{
    const char *const said = device_says(told->results, key);
    if (said == NULL) {
        told_choose(told, key);
        return;
    }
    char *const text = xstrndup(said, most);
    json_object_set_new(profile, key, json_string(text));
    free(text);
}

static void put_source(struct told *told, const char *nearest, json_t *profile)
{
    const struct value *const start = results_of_run(told->results, "start");
    struct buf text = {0};
    buf_printf(&text, "measured by sonde%s%.10s",
               start != NULL && start->kind == VALUE_TEXT ? ", " : "",
               start != NULL && start->kind == VALUE_TEXT ? start->text : "");
    if (told->doubted.length > 0)
        buf_printf(&text, "; bounds or in doubt: %s",
                   buf_string(&told->doubted));
    buf_printf(&text, "; chosen, as of %s: %s", nearest,
               told->chosen.length > 0 ? buf_string(&told->chosen) : "nothing");
    json_object_set_new(profile, "source", json_string(buf_string(&text)));
    buf_free(&text);
}

/* ---- instructions ----------------------------------------------------- */

/* "isa.add.u32.latency.O3": the row, and the key of it. */
static bool is_latency(const char *id, char *row, size_t size, char key[3])
{
    static const char before[] = "isa.", within[] = ".latency.";
    const char *const end = strstr(id, within);
    if (strncmp(id, before, sizeof before - 1) != 0 || end == NULL)
        return false;
    const size_t length = (size_t)(end - id) - (sizeof before - 1);
    const char *const level = end + sizeof within - 1;
    if (length >= size || level[0] != 'O' || level[1] < '0' || level[1] > '4' ||
        level[2] != '\0')
        return false;
    memcpy(row, id + sizeof before - 1, length);
    row[length] = '\0';
    memcpy(key, level, 3);
    return true;
}

/* Without a table of instructions one is known all the same: what an address by
 * index takes. */
static void put_index(struct told *told, json_t *isa)
{
    const double plain = told_number(told, "shared", "latency");
    const double indexed = told_number(told, "shared", "latency_indexed");
    if (plain > 0 && indexed > plain)
        json_object_set_new(isa, "mad.lo.u32",
                            json_pack("{s:f}", "O3", indexed - plain));
    told_choose(told, "isa");
}

static void put_instructions(struct told *told, json_t *profile)
{
    json_t *const isa = json_object_get(profile, "isa");
    bool any = false;
    for (size_t i = 0; i < told->results->finding_count; i++) {
        const struct finding *const f = told->results->findings[i];
        char name[64], key[3];
        double cycles;
        if (!is_latency(f->id, name, sizeof name, key) ||
            !finding_number(f, &cycles))
            continue;
        json_t *row = json_object_get(isa, name);
        if (!any || row == NULL) {
            row = json_pack("{s:f}", "O3", cycles);
            json_object_set_new(isa, name, row);
        }
        json_object_set_new(row, key, number_of(cycles));
        any = true;
    }
    if (!any)
        put_index(told, isa);
}

/* ---- the whole -------------------------------------------------------- */

/* What disturbs is no part of what a GPU is. */
static void drop_disturbances(json_t *profile)
{
    static const char *const parts[] = {"noise", "changes", "intruder",
                                        "neighbour"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_object_del(profile, parts[i]);
}

static void put_window(struct told *told, json_t *profile)
{
    const double bytes = told_number(told, "tlb", "page_window");
    json_object_del(profile, "page_window");
    if (bytes > 0)
        json_object_set_new(
            profile, "page_window",
            json_pack("{sI sf}", "bytes", (json_int_t)bytes, "latency",
                      told_number(told, "tlb", "page_window_latency")));
}

static json_t *patched(struct told *told, const struct shipped_profile *nearest)
{
    json_t *const base = json_loads(nearest->text, 0, NULL);
    json_t *const profile = json_deep_copy(base);
    put_device(told, profile, "name", 127);
    put_device(told, profile, "compute_capability", 15);
    put_device(told, profile, "architecture", 31);
    for (size_t i = 0; i < sizeof plain_keys / sizeof *plain_keys; i++)
        put_plain(told, profile, &plain_keys[i]);
    twin_put_memory(told, base, profile);
    put_window(told, profile);
    put_instructions(told, profile);
    drop_disturbances(profile);
    told_choose(told, "warp_schedulers");
    told_choose(told, "what is said of blocks, TPCs and GPCs");
    twin_put_rates(told, profile);
    put_source(told, nearest->name, profile);
    json_decref(base);
    return profile;
}

char *twin_profile(const struct results *results, const char *without,
                   struct error *err)
{
    struct told told = {.results = results, .without = without};
    if (told_number(&told, "l2", "latency") == 0 &&
        told_number(&told, "memory", "latency") == 0) {
        error_set(err, ERR_FILE,
                  "of neither L2 nor memory it says what a load costs: too "
                  "little to make a profile of");
        return NULL;
    }
    json_t *const profile = patched(&told, twin_nearest(results));
    char *const text = json_dumps(
        profile, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    json_decref(profile);
    buf_free(&told.chosen);
    buf_free(&told.doubted);
    return text;
}
