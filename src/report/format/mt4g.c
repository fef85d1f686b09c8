/*
 * What was found as MT4G writes it (commit 4cc5566, 2026-03), in the keys that
 * sys-sage's parser reads (src/parsers/mt4g.cpp of commit 9a71fb5, 2026-01).
 *
 * JSON has no comments, and the parser reads on if a key is there, and looks up
 * others then without asking.  So keys are in groups: one that its reader needs
 * and does not find makes it leave out the group, and what was left out is told
 * in "sonde", which the parser does not read.  Without what it always needs,
 * which the driver reports, there is no file.
 */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/export/known.h"
#include "report/report.h"

/* ---- keys -------------------------------------------------------------- */

/* How MT4G writes a number: as it is; yes or no; in an object beside its unit,
 * under one of three names. */
enum shape { PLAIN, YES_NO, VALUE, SIZE, MEAN };

/* What is there together or not at all. */
enum group {
    ALWAYS, /* the parser needs it */
    ALONE,  /* it is left out alone */
    MAIN_SPEED,
    L2_SPEED,
    L1_SPEED,
    CONSTANT,
    TEXTURE,
    READ_ONLY,
    GROUP_COUNT
};

/* What a group's keys are read with. */
enum { NEEDS = 5 };
static const char *const needs[GROUP_COUNT][NEEDS] = {
    [MAIN_SPEED] = {"memory.latency", "memory.read_bandwidth",
                    "memory.write_bandwidth"},
    [L2_SPEED] = {"l2.latency", "l2.read_bandwidth", "l2.write_bandwidth"},
    [L1_SPEED] = {"l1.latency"},
    [CONSTANT] = {"const_l1.sector", "const_l1.size", "const_l1.latency",
                  "const_l15.sector", "const_l15.size"},
    [TEXTURE] = {"texture.sector", "texture.size", "texture.latency"},
    [READ_ONLY] = {"readonly.sector", "readonly.size", "readonly.latency"},
};

static const struct key {
    const char *path; /* names are between strokes, since one has a dot */
    const char *id;
    const char *unit;
    enum shape shape;
    enum group group;
    double scale; /* what it is multiplied by; 0: nothing */
} keys[] = {
    {"general/clockRate", "clock.sm", "kHz", VALUE, ALWAYS, 1e-3},
    {"compute/multiProcessorCount", "sm.count", "", PLAIN, ALWAYS, 0},
    {"compute/numberOfCoresPerMultiProcessor", "sm.cores", "", PLAIN, ALWAYS,
     0},
    {"compute/warpSize", "sm.warp_size", "", PLAIN, ALWAYS, 0},
    {"compute/maxThreadsPerBlock", "block.max_threads", "", PLAIN, ALWAYS, 0},
    {"compute/maxThreadsPerMultiProcessor", "sm.max_threads", "", PLAIN, ALWAYS,
     0},
    {"compute/maxBlocksPerMultiProcessor", "sm.max_blocks", "", PLAIN, ALWAYS,
     0},
    {"compute/regsPerBlock", "block.registers", "", PLAIN, ALONE, 0},
    {"compute/regsPerMultiProcessor", "sm.registers", "", PLAIN, ALONE, 0},

    {"memory/main/totalGlobalMem", "memory.size", "bytes", VALUE, ALWAYS, 0},
    {"memory/main/memoryClockRate", "clock.memory", "kHz", VALUE, ALWAYS, 1e-3},
    {"memory/main/memoryBusWidth", "memory.bus_width", "bit", VALUE, ALWAYS, 0},
    {"memory/main/latency", "memory.latency", "cycles", MEAN, MAIN_SPEED, 0},
    {"memory/main/readBandwidth", "memory.read_bandwidth", "GiB/s", VALUE,
     MAIN_SPEED, 0x1p-30},
    {"memory/main/writeBandwidth", "memory.write_bandwidth", "GiB/s", VALUE,
     MAIN_SPEED, 0x1p-30},

    {"memory/l2/size", "l2.size_reported", "bytes", VALUE, ALWAYS, 0},
    {"memory/l2/lineSize", "l2.line", "bytes", SIZE, ALONE, 0},
    {"memory/l2/fetchGranularity", "l2.sector", "bytes", SIZE, ALONE, 0},
    {"memory/l2/segmentSize", "l2.near_size", "bytes", SIZE, ALONE, 0},
    {"memory/l2/persistingL2CacheMaxSize", "l2.persisting", "bytes", VALUE,
     ALONE, 0},
    {"memory/l2/latency", "l2.latency", "cycles", MEAN, L2_SPEED, 0},
    {"memory/l2/readBandwidth", "l2.read_bandwidth", "GiB/s", VALUE, L2_SPEED,
     0x1p-30},
    {"memory/l2/writeBandwidth", "l2.write_bandwidth", "GiB/s", VALUE, L2_SPEED,
     0x1p-30},
    {"memory/l2/missPenalty", "l2.miss_penalty", "cycles", VALUE, L2_SPEED, 0},

    {"memory/l1/globalL1CacheSupported", "l1.global_reported", "", YES_NO, ALONE,
     0},
    {"memory/l1/localL1CacheSupported", "l1.local_reported", "", YES_NO, ALONE,
     0},
    {"memory/l1/size", "l1.size", "bytes", SIZE, ALONE, 0},
    {"memory/l1/lineSize", "l1.line", "bytes", SIZE, ALONE, 0},
    {"memory/l1/fetchGranularity", "l1.sector", "bytes", SIZE, ALONE, 0},
    {"memory/l1/amountPerMultiprocessor", "l1.per_sm", "", PLAIN, ALONE, 0},
    {"memory/l1/latency", "l1.latency", "cycles", MEAN, L1_SPEED, 0},
    {"memory/l1/missPenalty", "l1.miss_penalty", "cycles", VALUE, L1_SPEED, 0},

    {"memory/constant/totalConstMem", "constant.size", "bytes", VALUE, ALWAYS,
     0},
    {"memory/constant/l1/size", "const_l1.size", "bytes", SIZE, CONSTANT, 0},
    {"memory/constant/l1/lineSize", "const_l1.line", "bytes", SIZE, CONSTANT,
     0},
    {"memory/constant/l1/fetchGranularity", "const_l1.sector", "bytes", SIZE,
     CONSTANT, 0},
    {"memory/constant/l1/amountPerMultiprocessor", "const_l1.per_sm", "", PLAIN,
     CONSTANT, 0},
    {"memory/constant/l1/latency", "const_l1.latency", "cycles", MEAN, CONSTANT,
     0},
    {"memory/constant/l1/missPenalty", "const_l1.miss_penalty", "cycles", VALUE,
     CONSTANT, 0},
    {"memory/constant/l1.5/size", "const_l15.size", "bytes", SIZE, CONSTANT, 0},
    {"memory/constant/l1.5/lineSize", "const_l15.line", "bytes", SIZE, CONSTANT,
     0},
    {"memory/constant/l1.5/fetchGranularity", "const_l15.sector", "bytes", SIZE,
     CONSTANT, 0},
    {"memory/constant/l1.5/latency", "const_l15.latency", "cycles", MEAN,
     CONSTANT, 0},

    {"memory/texture/size", "texture.size", "bytes", SIZE, TEXTURE, 0},
    {"memory/texture/lineSize", "texture.line", "bytes", SIZE, TEXTURE, 0},
    {"memory/texture/fetchGranularity", "texture.sector", "bytes", SIZE,
     TEXTURE, 0},
    {"memory/texture/amountPerMultiprocessor", "texture.per_sm", "", PLAIN,
     TEXTURE, 0},
    {"memory/texture/latency", "texture.latency", "cycles", MEAN, TEXTURE, 0},
    {"memory/texture/missPenalty", "texture.miss_penalty", "cycles", VALUE,
     TEXTURE, 0},

    {"memory/readOnly/size", "readonly.size", "bytes", SIZE, READ_ONLY, 0},
    {"memory/readOnly/lineSize", "readonly.line", "bytes", SIZE, READ_ONLY, 0},
    {"memory/readOnly/fetchGranularity", "readonly.sector", "bytes", SIZE,
     READ_ONLY, 0},
    {"memory/readOnly/amountPerMultiprocessor", "readonly.per_sm", "", PLAIN,
     READ_ONLY, 0},
    {"memory/readOnly/latency", "readonly.latency", "cycles", MEAN, READ_ONLY,
     0},
    {"memory/readOnly/missPenalty", "readonly.miss_penalty", "cycles", VALUE,
     READ_ONLY, 0},

    {"memory/shared/sharedMemPerBlock", "block.shared", "bytes", VALUE, ALWAYS,
     0},
    {"memory/shared/sharedMemPerMultiProcessor", "sm.shared", "bytes", VALUE,
     ALWAYS, 0},
    {"memory/shared/reservedSharedMemPerBlock", "block.shared_reserved",
     "bytes", VALUE, ALONE, 0},
    {"memory/shared/latency", "shared.latency", "cycles", MEAN, ALONE, 0},
};

/* Which caches are one storage, as MT4G names them; the parser wants the list
 * where the first is, and names the cache by it. */
static const struct {
    const char *path, *id, *component, *name;
    enum group group;
} partners[] = {
    {"memory/l1/sharedWith", "l1.shares_with", "readonly", "Read Only", ALONE},
    {"memory/l1/sharedWith", "l1.shares_with", "texture", "Texture", ALONE},
    {"memory/texture/sharedWith", "texture.shares_with", "l1", "L1", TEXTURE},
    {"memory/texture/sharedWith", "texture.shares_with", "readonly",
     "Read Only", TEXTURE},
    {"memory/readOnly/sharedWith", "readonly.shares_with", "l1", "L1",
     READ_ONLY},
    {"memory/readOnly/sharedWith", "readonly.shares_with", "texture", "Texture",
     READ_ONLY},
};

/* ---- writing ----------------------------------------------------------- */

struct mt4g {
    const struct results *results;
    json_t *root;
    json_t *left_out; /* path: why */
};

static json_t *text_json(const char *text)
{
    char *const plain = text_plain(text);
    json_t *const json = json_string(plain);
    free(plain);
    return json;
}

enum { NAME_MOST = 64 };

/* The object in which the path's last name is; made where need be. */
static json_t *object_of(json_t *root, const char *path, const char **last)
{
    const char *stroke;
    while ((stroke = strchr(path, '/')) != NULL) {
        char name[NAME_MOST];
        snprintf(name, sizeof name, "%.*s", (int)(stroke - path), path);
        json_t *next = json_object_get(root, name);
        if (next == NULL) {
            next = json_object();
            json_object_set_new(root, name, next);
        }
        root = next;
        path = stroke + 1;
    }
    *last = path;
    return root;
}

static void set_path(const struct mt4g *m, const char *path, json_t *value)
{
    const char *last;
    json_t *const object = object_of(m->root, path, &last);
    json_object_set_new(object, last, value);
}

static void leave_out(const struct mt4g *m, const char *path, struct buf *why)
{
    json_object_set_new(m->left_out, path, text_json(buf_string(why)));
    buf_free(why);
}

/* What the parser cannot do without of the group, and the report has not; true
 * if there is nothing like that. */
static bool has_needs(const struct mt4g *m, enum group group, struct buf *why)
{
    double number;
    for (size_t i = 0; i < NEEDS && needs[group][i] != NULL; i++)
        if (!known_number(m->results, needs[group][i], &number)) {
            buf_text(why, why->length == 0 ? "needed with it: " : "; ");
            known_say(why, m->results, needs[group][i]);
        }
    return why->length == 0;
}

/* Counts and bytes are whole; what takes time, and bandwidths, need not be. */
static bool is_whole(const struct key *k)
{
    return k->shape == PLAIN || k->shape == SIZE ||
           (k->shape == VALUE && strcmp(k->unit, "cycles") != 0 &&
            strcmp(k->unit, "GiB/s") != 0);
}

static json_t *number_json(const struct key *k, double number)
{
    const double scaled = k->scale > 0 ? number * k->scale : number;
    return is_whole(k) ? json_integer((json_int_t)nearbyint(scaled))
                       : json_real(scaled);
}

static json_t *shaped(const struct key *k, double number)
{
    static const char *const names[] = {
        [VALUE] = "value", [SIZE] = "size", [MEAN] = "mean"};
    if (k->shape == YES_NO)
        return json_boolean(number > 0);
    if (k->shape == PLAIN)
        return number_json(k, number);
    return json_pack("{s:o, s:s}", names[k->shape], number_json(k, number),
                     "unit", k->unit);
}

/* The parser takes whole numbers but those of bytes into an int, divides by
 * counts, and takes L2's bytes for an int, too. */
static bool fits(const struct key *k, double number)
{
    const double scaled = k->scale > 0 ? number * k->scale : number;
    if (k->shape == PLAIN && nearbyint(scaled) < 1)
        return false;
    if (!is_whole(k))
        return true;
    return scaled <= (strcmp(k->unit, "bytes") == 0 &&
                              strcmp(k->id, "l2.size_reported") != 0
                          ? 0x1p53
                          : INT_MAX);
}

/* 0, or ERR_USAGE for what the parser needs and cannot get. */
static int put_key(const struct mt4g *m, const struct key *k, struct error *err)
{
    double number;
    struct buf why = {0};
    const bool is_known = known_number(m->results, k->id, &number);
    if (!is_known)
        known_say(&why, m->results, k->id);
    else if (!fits(k, number))
        buf_printf(&why, "%s is no number that sys-sage's parser takes", k->id);
    else if (has_needs(m, k->group, &why))
        set_path(m, k->path, shaped(k, number));
    if (why.length > 0 && k->group == ALWAYS) {
        error_set(err, ERR_USAGE,
                  "mt4g.json needs %s, since sys-sage's parser does: %s", k->id,
                  buf_string(&why));
        buf_free(&why);
        return ERR_USAGE;
    }
    if (why.length > 0)
        leave_out(m, k->path, &why);
    return 0;
}

static void add_partner(const struct mt4g *m, const char *path,
                        const char *name)
{
    const char *last;
    json_t *const object = object_of(m->root, path, &last);
    if (json_object_get(object, last) == NULL)
        json_object_set_new(object, last, json_array());
    json_array_append_new(json_object_get(object, last), json_string(name));
}

static void put_partners(const struct mt4g *m)
{
    for (size_t i = 0; i < COUNT_OF(partners); i++) {
        struct buf why = {0};
        if (known_has_word(m->results, partners[i].id, partners[i].component) &&
            has_needs(m, partners[i].group, &why))
            add_partner(m, partners[i].path, partners[i].name);
        buf_free(&why);
    }
}

static const char *word_of_device(const struct results *r, const char *name)
{
    const struct value *const v = results_of_device(r, name);
    return v != NULL && v->kind == VALUE_TEXT ? v->text : NULL;
}

/* Name and compute capability, which are no findings. */
static int put_general(const struct mt4g *m, struct error *err)
{
    const char *const name = word_of_device(m->results, "name");
    const char *const cc = word_of_device(m->results, "compute_capability");
    char *end = NULL;
    const long major = cc != NULL ? strtol(cc, &end, 10) : -1;
    if (name == NULL || major < 0 || major > 99 || *end != '.' ||
        end[1] < '0' || end[1] > '9' || end[2] != '\0')
        return error_set(err, ERR_USAGE,
                         "mt4g.json needs the GPU's name and compute "
                         "capability, which the report has not");
    set_path(m, "general/name", text_json(name));
    set_path(m, "general/vendor", json_string("NVIDIA"));
    set_path(m, "general/computeCapability/major", json_integer(major));
    set_path(m, "general/computeCapability/minor", json_integer(end[1] - '0'));
    return 0;
}

/* Of an L2 in one part the segment that an SM reaches is all of it. */
static void put_whole_segment(const struct mt4g *m)
{
    static const struct key whole = {
        "memory/l2/segmentSize", "l2.size", "bytes", SIZE, ALONE, 0};
    double parts, size;
    if (!known_number(m->results, "l2.parts", &parts) ||
        islessgreater(parts, 1) || !known_number(m->results, whole.id, &size) ||
        !fits(&whole, size))
        return;
    set_path(m, whole.path, shaped(&whole, size));
    json_object_del(m->left_out, whole.path);
}

static int put_all(const struct mt4g *m, struct error *err)
{
    int code = put_general(m, err);
    set_path(m, "memory/l1", json_object()); /* is looked up, if empty */
    for (size_t i = 0; code == 0 && i < COUNT_OF(keys); i++)
        code = put_key(m, &keys[i], err);
    if (code != 0)
        return code;
    put_whole_segment(m);
    put_partners(m);
    struct buf by = {0};
    known_origin(&by, m->results);
    set_path(m, "sonde/by", text_json(buf_string(&by)));
    set_path(m, "sonde/left_out", json_incref(m->left_out));
    buf_free(&by);
    return 0;
}

static int append(const char *text, size_t length, void *out)
{
    buf_append(out, text, length);
    return 0;
}

static int mt4g_write(const struct results *results,
                      const struct report_style *style, struct buf *out,
                      struct error *err)
{
    const struct mt4g m = {results, json_object(), json_object()};
    (void)style; /* a program reads it */
    const int code = put_all(&m, err);
    if (code == 0) {
        json_dump_callback(m.root, append, out,
                           JSON_INDENT(4) | JSON_REAL_PRECISION(10));
        buf_text(out, "\n");
    }
    json_decref(m.left_out);
    json_decref(m.root);
    return code;
}

const struct report_format report_mt4g = {
    .name = "mt4g.json",
    .summary = "what MT4G writes, for sys-sage",
    .write = mt4g_write,
};
