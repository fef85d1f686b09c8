/*
 * The reader of profiles.  Plain values are rows of tables (key, kind, place,
 * range, default); what has structure (caches, paths, instructions) has a
 * function of its own.  The reader keeps the path of the key that it is at,
 * so that every complaint can name it.
 */
#include "device/sim/profile.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/sim/shipped.h"

enum {
    FILE_MAX = 1 << 20, /* bytes; a shipped profile has some thousands */
    KEYS_MAX = 64,      /* of one object */
    PROFILES_MAX = 256, /* among which a nearest name is looked for */
    WAYS_MAX = 1 << 24, /* of all sets; cache_shape_check says more */
};
#define CYCLES_MAX 1e6
#define RATE_MAX   1e6                /* B/clk */
#define WHOLE_MAX  9007199254740992.0 /* 2^53, exact as a double */
#define NOT_TOLD   (-1.0) /* a default that follows from another key */

struct reader {
    const char *where;
    char path[256]; /* "paths.global.ca.latency" */
    struct profile *profile;
    struct error *err;
};

/* ---- complaints ---- */

/* Goes down to `key`; returns what leave needs to come back. */
static size_t enter(struct reader *r, const char *key)
{
    const size_t length = strlen(r->path);
    snprintf(r->path + length, sizeof r->path - length, "%s%s",
             length > 0 ? "." : "", key);
    return length;
}

static void leave(struct reader *r, size_t length)
{
    r->path[length] = '\0';
}

/* "FILE: KEY.PATH what is wrong with it" */
__attribute__((format(printf, 2, 3))) static int complain(struct reader *r,
                                                          const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return error_set(r->err, ERR_FILE, "%s: %s %s", r->where,
                     r->path[0] != '\0' ? r->path : "the profile", what);
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_NULL:
        return "null";
    case JSON_TRUE:
    case JSON_FALSE:
        break;
    }
    return "true or false";
}

static int wrong_type(struct reader *r, const char *wanted, const json_t *value)
{
    return complain(r, "must be %s, not %s", wanted, type_name(value));
}

static int unknown_key(struct reader *r, const char *key,
                       const char *const *known)
{
    const char *const nearest = text_nearest(key, known);
    enter(r, key);
    if (nearest == NULL)
        return complain(r, "is not a key of a profile");
    return complain(r, "is not a key of a profile; did you mean '%s'?",
                    nearest);
}

/* ---- values ---- */

static int read_text(struct reader *r, const json_t *value, char *text,
                     size_t size)
{
    if (!json_is_string(value))
        return wrong_type(r, "a string", value);
    if (json_string_length(value) >= size)
        return complain(r, "must be shorter than %zu bytes", size);
    memcpy(text, json_string_value(value), json_string_length(value) + 1);
    return 0;
}

static int read_number(struct reader *r, const json_t *value, double least,
                       double most, double *number)
{
    if (!json_is_number(value))
        return wrong_type(r, "a number", value);
    *number = json_number_value(value);
    if (*number < least || *number > most)
        return complain(r, "must be from %.16g to %.16g, not %.16g", least,
                        most, *number);
    return 0;
}

static int read_whole(struct reader *r, const json_t *value, double least,
                      double most, uint64_t *whole)
{
    if (json_is_real(value))
        return complain(r, "must be a whole number, not %.16g",
                        json_real_value(value));
    if (!json_is_integer(value))
        return wrong_type(r, "a whole number", value);
    double number;
    const int status = read_number(r, value, least, most, &number);
    if (status == 0)
        *whole = (uint64_t)json_integer_value(value);
    return status;
}

/* ---- tables of plain values ---- */

enum kind { TEXT, WHOLE, MAYBE_WHOLE, NUMBER };

/* Where the value goes, from the start of the struct profile. */
struct field {
    const char *key;
    enum kind kind; /* MAYBE_WHOLE: an int64_t that is -1 when absent */
    bool required;
    size_t offset, size;
    double fallback, least, most;
};

#define PLACE(member)                                                          \
    offsetof(struct profile, member), sizeof((struct profile *)0)->member
#define MUST_TEXT(member)                                                      \
    {                                                                          \
#member, TEXT, true, PLACE(member), 0, 0, 0                            \
    }
#define MAY_TEXT(member)                                                       \
    {                                                                          \
#member, TEXT, false, PLACE(member), 0, 0, 0                           \
    }
#define MUST(member, least, most)                                              \
    {                                                                          \
#member, WHOLE, true, PLACE(member), 0, least, most                    \
    }
#define MAY(member, fallback, least, most)                                     \
    {                                                                          \
#member, WHOLE, false, PLACE(member), fallback, least, most            \
    }
#define TOLD(member, most)                                                     \
    {                                                                          \
#member, MAYBE_WHOLE, false, PLACE(member), -1, 0, most                \
    }
#define END                                                                    \
    {                                                                          \
        NULL, TEXT, false, 0, 0, 0, 0, 0                                       \
    }

static const struct field profile_fields[] = {
    MUST_TEXT(name),
    MUST_TEXT(architecture),
    MAY_TEXT(source),
    MUST(sms, 1, 1024),
    MUST(warp_schedulers, 1, 16),
    MAY(sms_per_tpc, 1, 1, 1024),
    MAY(tpcs_per_gpc, 1, 1, 1024),
    MUST(max_threads_per_block, 32, 1024),
    MUST(max_warps_per_sm, 1, 128),
    MUST(max_blocks_per_sm, 1, 128),
    MAY(max_threads_per_sm, 0, 32, 4096),
    MUST(clock_khz, 1000, 1e8),
    MAY(memory_clock_khz, 0, 0, 1e8),
    MUST(memory_bytes, 1 << 20, 1LL << 46),
    MAY(constant_bytes, 65536, 0, 1 << 20),
    MAY(clusters, 0, 0, 1),
    MAY(globaltimer_ns, 1, 1, 1 << 20),
    {"favour_cycles",              NUMBER, false, PLACE(favour_cycles),          0,        0, CYCLES_MAX},
    {"block_gap_cycles",           NUMBER, false, PLACE(block_gap_cycles),       0,        0,
                                     CYCLES_MAX                                                                                         },
    {"block_interval_cycles",      NUMBER, false, PLACE(block_interval_cycles),  0,        0,
                                     CYCLES_MAX                                                                                         },
    TOLD(memory_bus_bits, 65536),
    TOLD(registers_per_sm, 1 << 24),
    TOLD(registers_per_block, 1 << 24),
    TOLD(cores_per_sm, 4096),
    TOLD(l2_reported_bytes, 1LL << 40),
    TOLD(l2_persisting_bytes, 1LL << 40),
    TOLD(texture_max_width, 1LL << 40),
    TOLD(copy_engines, 64),
    TOLD(ecc, 1),
    {"clock_overhead",             NUMBER, false, PLACE(clock_overhead),         2,        0, 1000      },
    {"clock_overhead_unoptimized", NUMBER, false,
                                     PLACE(clock_overhead_unoptimized),                                          NOT_TOLD, 0, 1000      },
    {"tpc_read_bandwidth",         NUMBER, false, PLACE(tpc_read_bandwidth),     0,        0,
                                     RATE_MAX                                                                                           },
    {"tpc_write_bandwidth",        NUMBER, false, PLACE(tpc_write_bandwidth),    0,        0,
                                     RATE_MAX                                                                                           },
    {"gpc_read_bandwidth",         NUMBER, false, PLACE(gpc_read_bandwidth),     0,        0,
                                     RATE_MAX                                                                                           },
    {"gpc_write_bandwidth",        NUMBER, false, PLACE(gpc_write_bandwidth),    0,        0,
                                     RATE_MAX                                                                                           },
    {"memory_read_bandwidth",      NUMBER, false, PLACE(memory_read_bandwidth),  0,        0,
                                     RATE_MAX                                                                                           },
    {"memory_write_bandwidth",     NUMBER, false, PLACE(memory_write_bandwidth), 0,
                                     0,                                                                                       RATE_MAX  },
    END,
};

static const struct field shared_fields[] = {
    {"bytes",              WHOLE,       true,  PLACE(shared_bytes),              0,  0, 1 << 24   },
    {"latency",            NUMBER,      true,  PLACE(shared_latency),            0,  0, CYCLES_MAX},
    {"banks",              WHOLE,       false, PLACE(banks.count),               32, 1, BANKS_MAX },
    {"bank_bytes",         WHOLE,       false, PLACE(banks.bank_bytes),          4,  4, 8         },
    {"row_words",          WHOLE,       false, PLACE(banks.row_words),           1,  1, 2         },
    {"conflict_cycles",    NUMBER,      true,  PLACE(shared_conflict_cycles),    0,  0,
     CYCLES_MAX                                                                                   },
    {"per_block",          WHOLE,       false, PLACE(shared_per_block),          0,  0, 1 << 24   },
    {"per_block_optin",    MAYBE_WHOLE, false, PLACE(shared_per_block_optin),    -1,
     0,                                                                                 1 << 24   },
    {"reserved",           MAYBE_WHOLE, false, PLACE(shared_reserved),           -1, 0, 1 << 24   },
    {"unoptimized_cycles", NUMBER,      false, PLACE(shared_unoptimized_cycles), 0,
     0,                                                                                 CYCLES_MAX},
    {"read_bandwidth",     NUMBER,      false, PLACE(shared_read_bandwidth),     0,  0,
     RATE_MAX                                                                                     },
    {"write_bandwidth",    NUMBER,      false, PLACE(shared_write_bandwidth),    0,  0,
     RATE_MAX                                                                                     },
    END,
};

static const struct field noise_fields[] = {
    {"jitter_cycles", NUMBER, false, PLACE(jitter_cycles), 0, 0, CYCLES_MAX},
    {"spike_rate",    NUMBER, false, PLACE(spike_rate),    0, 0, 1         },
    {"spike_cycles",  NUMBER, false, PLACE(spike_cycles),  0, 0, CYCLES_MAX},
    END,
};

static const struct field changes_fields[] = {
    {"after_launches",  WHOLE, true,  PLACE(changes_after),     0, 1,    WHOLE_MAX},
    {"clock_khz",       WHOLE, false, PLACE(changed_khz),       0, 1000, 1e8      },
    {"throttle",        WHOLE, false, PLACE(changed_throttle),  0, 0,    1 << 16  },
    {"other_processes", WHOLE, false, PLACE(changed_processes), 0, 0,    1000     },
    END,
};

static const struct field window_fields[] = {
    {"bytes",   WHOLE,  true, PLACE(page_window_bytes),   0, 4096, WHOLE_MAX },
    {"latency", NUMBER, true, PLACE(page_window_latency), 0, 0,    CYCLES_MAX},
    END,
};

static void put_whole(char *place, size_t size, uint64_t whole)
{
    const unsigned narrow = (unsigned)whole;
    if (size == sizeof narrow)
        memcpy(place, &narrow, sizeof narrow);
    else
        memcpy(place, &whole, sizeof whole);
}

static void put_fallback(struct profile *profile, const struct field *field)
{
    char *const place = (char *)profile + field->offset;
    if (field->kind == TEXT)
        place[0] = '\0';
    else if (field->kind == NUMBER)
        memcpy(place, &field->fallback, sizeof field->fallback);
    else /* through int64_t, as -1 is one */
        put_whole(place, field->size, (uint64_t)(int64_t)field->fallback);
}

static int read_value(struct reader *r, const json_t *value,
                      const struct field *field)
{
    char *const place = (char *)r->profile + field->offset;
    if (field->kind == TEXT)
        return read_text(r, value, place, field->size);
    double number;
    uint64_t whole;
    int status;
    if (field->kind == NUMBER) {
        status = read_number(r, value, field->least, field->most, &number);
        if (status == 0)
            memcpy(place, &number, sizeof number);
        return status;
    }
    status = read_whole(r, value, field->least, field->most, &whole);
    if (status == 0)
        put_whole(place, field->size, whole);
    return status;
}

static int read_field(struct reader *r, const json_t *object,
                      const struct field *field)
{
    const size_t up = enter(r, field->key);
    const json_t *const value = json_object_get(object, field->key);
    int status = 0;
    if (value != NULL)
        status = read_value(r, value, field);
    else if (field->required)
        status = complain(r, "is missing");
    else
        put_fallback(r->profile, field);
    leave(r, up);
    return status;
}

/* ---- objects ---- */

static int check_object(struct reader *r, const json_t *value)
{
    if (value == NULL)
        return complain(r, "is missing");
    return json_is_object(value) ? 0 : wrong_type(r, "an object", value);
}

/* `known` ends with NULL. */
static int check_keys(struct reader *r, json_t *object,
                      const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0)
            i++;
        if (known[i] == NULL)
            return unknown_key(r, key, known);
    }
    return 0;
}

/* The object has no keys but those of `fields` and of `others`, and the
 * fields go to their places. */
static int read_fields(struct reader *r, json_t *object,
                       const struct field *fields, const char *const *others)
{
    const char *known[KEYS_MAX];
    size_t count = 0;
    for (const struct field *f = fields; f->key != NULL; f++)
        known[count++] = f->key;
    while (others != NULL && *others != NULL)
        known[count++] = *others++;
    known[count] = NULL;
    int status = check_keys(r, object, known);
    for (const struct field *f = fields; f->key != NULL && status == 0; f++)
        status = read_field(r, object, f);
    return status;
}

/* An object of plain values; absent, it is as if it were empty. */
static int read_plain(struct reader *r, const json_t *root, const char *key,
                      bool required, const struct field *fields)
{
    const size_t up = enter(r, key);
    json_t *const object = json_object_get(root, key);
    int status = 0;
    if (object != NULL || required)
        status = check_object(r, object);
    if (status == 0 && object != NULL)
        status = read_fields(r, object, fields, NULL);
    else
        for (const struct field *f = fields; f->key != NULL; f++)
            put_fallback(r->profile, f);
    leave(r, up);
    return status;
}

/* How the value of a key is read into what `into` points to. */
typedef int read_value_fn(struct reader *r, json_t *value, void *into);

enum need { OPTIONAL, REQUIRED };

/* Reads the value of `key` if it is there, and puts its name into the path
 * meanwhile. */
static int read_at(struct reader *r, const json_t *object, const char *key,
                   enum need need, read_value_fn *read, void *into)
{
    const size_t up = enter(r, key);
    json_t *const value = json_object_get(object, key);
    int status = 0;
    if (value != NULL)
        status = read(r, value, into);
    else if (need == REQUIRED)
        status = complain(r, "is missing");
    if (status == 0)
        leave(r, up);
    return status;
}

/* ---- caches and TLBs ---- */

static int read_cycles(struct reader *r, json_t *value, void *into)
{
    return read_number(r, value, 0, CYCLES_MAX, into);
}

static int read_rate(struct reader *r, json_t *value, void *into)
{
    return read_number(r, value, 0, RATE_MAX, into);
}

static int read_ways(struct reader *r, json_t *value, void *into)
{
    return read_whole(r, value, 1, WAYS_MAX, into);
}

static int read_power(struct reader *r, json_t *value, void *into)
{
    uint64_t *const power = into;
    const int status = read_whole(r, value, 1, 1LL << 40, power);
    if (status == 0 && (*power & (*power - 1)) != 0)
        return complain(r, "must be a power of two, not %" PRIu64, *power);
    return status;
}

static int read_set_ways(struct reader *r, json_t *list, void *into)
{
    struct cache_shape *const shape = into;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return complain(r, "must be an array of the ways of each set");
    shape->sets = json_array_size(list);
    shape->set_ways = xcalloc(shape->sets, sizeof *shape->set_ways);
    for (size_t set = 0; set < shape->sets; set++) {
        uint64_t ways;
        const int status = read_ways(r, json_array_get(list, set), &ways);
        if (status != 0)
            return status;
        shape->set_ways[set] = (uint32_t)ways;
    }
    return 0;
}

static int make_sets(struct reader *r, uint64_t sets, uint64_t ways,
                     struct cache_shape *shape)
{
    if (sets * ways > WAYS_MAX)
        return complain(r, "has more lines than the %d that can be simulated",
                        WAYS_MAX);
    shape->sets = (size_t)sets;
    shape->set_ways = xcalloc(shape->sets, sizeof *shape->set_ways);
    for (size_t set = 0; set < shape->sets; set++)
        shape->set_ways[set] = (uint32_t)ways;
    return 0;
}

/* Exactly one of the manners to say which sets there are: sets and ways,
 * set_ways, or entries (of a fully associative TLB). */
static int read_sets(struct reader *r, const json_t *object,
                     struct cache_shape *shape)
{
    const bool listed = json_object_get(object, "set_ways") != NULL;
    const bool counted = json_object_get(object, "entries") != NULL;
    const bool equal = json_object_get(object, "sets") != NULL ||
                       json_object_get(object, "ways") != NULL;
    if (listed + counted + equal > 1)
        return complain(r, "must tell its sets in one manner: sets and ways, "
                           "or set_ways, or (a TLB) entries");
    if (listed)
        return read_at(r, object, "set_ways", REQUIRED, read_set_ways, shape);
    uint64_t sets = 1, ways;
    if (!counted) {
        const int status =
            read_at(r, object, "sets", REQUIRED, read_ways, &sets);
        if (status != 0)
            return status;
    }
    const int status = read_at(r, object, counted ? "entries" : "ways",
                               REQUIRED, read_ways, &ways);
    return status == 0 ? make_sets(r, sets, ways, shape) : status;
}

static int add_address_bit(struct reader *r, const json_t *value,
                           uint64_t *mask)
{
    uint64_t bit;
    const int status = read_whole(r, value, 0, 63, &bit);
    if (status == 0)
        *mask ^= (uint64_t)1 << bit;
    return status;
}

/* One index bit: an address bit, or a list of those that are XORed. */
static int read_index_bit(struct reader *r, const json_t *value, uint64_t *mask)
{
    *mask = 0;
    if (!json_is_array(value))
        return add_address_bit(r, value, mask);
    int status = 0;
    for (size_t i = 0; i < json_array_size(value) && status == 0; i++)
        status = add_address_bit(r, json_array_get(value, i), mask);
    return status;
}

static int read_set_bits(struct reader *r, json_t *list, void *into)
{
    struct cache_shape *const shape = into;
    const size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count >= 32)
        return complain(r, "must be an array of 1 to 31 index bits");
    shape->index_bits = xcalloc(count, sizeof *shape->index_bits);
    shape->index_bit_count = count;
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status =
            read_index_bit(r, json_array_get(list, i), &shape->index_bits[i]);
    return status;
}

static int read_policy_name(struct reader *r, json_t *value, void *into)
{
    static const char *const names[] = {
#define X(id, name) name,
        CACHE_POLICIES(X)
#undef X
            NULL,
    };
    enum cache_policy *const policy = into;
    char name[32];
    const int status = read_text(r, value, name, sizeof name);
    if (status != 0)
        return status;
    *policy = cache_policy_find(name);
    if (*policy != POLICY_COUNT)
        return 0;
    const char *const nearest = text_nearest(name, names);
    if (nearest == NULL)
        return complain(r,
                        "has no policy '%s'; there are lru, fifo, plru, "
                        "nru, random and weighted",
                        name);
    return complain(r, "has no policy '%s'; did you mean '%s'?", name, nearest);
}

static int read_weights(struct reader *r, json_t *list, void *into)
{
    struct cache_shape *const shape = into;
    const uint32_t ways = shape->set_ways[0];
    if (shape->policy != POLICY_WEIGHTED)
        return complain(r, "belongs to the kind 'weighted' alone");
    if (!json_is_array(list) || json_array_size(list) != ways)
        return complain(r, "must be an array of %" PRIu32 " weights, one a way",
                        ways);
    shape->weights = xcalloc(ways, sizeof *shape->weights);
    int status = 0;
    for (uint32_t way = 0; way < ways && status == 0; way++)
        status = read_number(r, json_array_get(list, way), 0, WHOLE_MAX,
                             &shape->weights[way]);
    return status;
}

/* {"kind": "weighted", "weights": [...]} */
static int read_policy_object(struct reader *r, json_t *object,
                              struct cache_shape *shape)
{
    static const char *const keys[] = {"kind", "weights", NULL};
    int status = check_keys(r, object, keys);
    if (status == 0)
        status = read_at(r, object, "kind", REQUIRED, read_policy_name,
                         &shape->policy);
    if (status != 0)
        return status;
    const enum need need =
        shape->policy == POLICY_WEIGHTED ? REQUIRED : OPTIONAL;
    return read_at(r, object, "weights", need, read_weights, shape);
}

static int read_policy(struct reader *r, json_t *value, void *into)
{
    struct cache_shape *const shape = into;
    if (json_is_object(value))
        return read_policy_object(r, value, shape);
    if (!json_is_string(value))
        return wrong_type(r, "a string or an object", value);
    const int status = read_policy_name(r, value, &shape->policy);
    if (status == 0 && shape->policy == POLICY_WEIGHTED)
        return complain(r, "needs the weights: "
                           "{\"kind\": \"weighted\", \"weights\": [...]}");
    return status;
}

/* `size`, where it is given, repeats what the shape makes. */
static int read_size(struct reader *r, json_t *value, void *into)
{
    const uint64_t bytes = cache_shape_bytes(into);
    uint64_t size;
    const int status = read_whole(r, value, 1, WHOLE_MAX, &size);
    if (status != 0 || size == bytes)
        return status;
    return complain(r,
                    "is %" PRIu64 ", but the line times the ways of all sets "
                    "makes %" PRIu64,
                    size, bytes);
}

/* `line_key` is "line", or "page" of a TLB. */
static int read_shape(struct reader *r, const json_t *object,
                      const char *line_key, struct cache_shape *shape)
{
    int status =
        read_at(r, object, line_key, REQUIRED, read_power, &shape->line);
    shape->sector = shape->line;
    if (status == 0)
        status =
            read_at(r, object, "sector", OPTIONAL, read_power, &shape->sector);
    if (status == 0)
        status = read_sets(r, object, shape);
    if (status == 0)
        status = read_at(r, object, "set_bits", OPTIONAL, read_set_bits, shape);
    if (status == 0)
        status = read_at(r, object, "policy", REQUIRED, read_policy, shape);
    if (status == 0 && cache_shape_check(shape, r->err) != 0)
        return error_prefix(r->err, "%s: %s", r->where, r->path);
    if (status == 0)
        status = read_at(r, object, "size", OPTIONAL, read_size, shape);
    return status;
}

static int read_scope(struct reader *r, json_t *value, void *into)
{
    static const char *const names[] = {
        [SCOPE_SM] = "sm",
        [SCOPE_TPC] = "tpc",
        [SCOPE_GPC] = "gpc",
        [SCOPE_GPU] = "gpu",
    };
    char name[32];
    const int status = read_text(r, value, name, sizeof name);
    if (status != 0)
        return status;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0) {
            *(enum profile_scope *)into = (enum profile_scope)i;
            return 0;
        }
    return complain(r, "must be sm, tpc, gpc or gpu, not '%s'", name);
}

/* A warp uses copy (its scheduler) mod copies: more copies than schedulers
 * would lie idle. */
static int read_copies(struct reader *r, json_t *value, void *into)
{
    struct profile_cache *const cache = into;
    uint64_t copies;
    const int status =
        read_whole(r, value, 1, (double)r->profile->warp_schedulers, &copies);
    if (status != 0)
        return status;
    if (copies > 1 && cache->scope != SCOPE_SM)
        return complain(r, "must be 1 in a cache that several SMs share");
    cache->copies_per_sm = (unsigned)copies;
    return 0;
}

/* The bits of an address whose XOR tells a line's home. */
static int read_side_bits(struct reader *r, json_t *list, void *into)
{
    uint64_t *const bits = into;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return complain(r, "must be an array of address bits");
    return read_index_bit(r, list, bits);
}

static int read_bool(struct reader *r, json_t *value, void *into)
{
    if (!json_is_boolean(value))
        return wrong_type(r, "true or false", value);
    *(bool *)into = json_is_true(value);
    return 0;
}

/* "halves" or "alternate" */
static int read_sides_of_sms(struct reader *r, json_t *value, void *into)
{
    char name[32];
    const int status = read_text(r, value, name, sizeof name);
    if (status != 0)
        return status;
    *(bool *)into = strcmp(name, "alternate") == 0;
    if (*(bool *)into || strcmp(name, "halves") == 0)
        return 0;
    return complain(r, "must be halves or alternate, not '%s'", name);
}

/* 64 if there is none. */
static unsigned lowest_bit(uint64_t bits)
{
    return bits != 0 ? (unsigned)__builtin_ctzll(bits) : 64;
}

enum { SIDE_BIT_LEAST = 11, SIDE_BIT_MOST = 20 };

/* Halves are alike, and a line lies in one of them. */
static int check_partitions(struct reader *r, const struct profile_cache *cache)
{
    const struct cache_shape *const shape = &cache->shape;
    if (shape->evict_first || shape->evict_last || cache->fetch[0] > 0 ||
        cache->fetch[1] > 0 || cache->fetch[2] > 0)
        return complain(r, "do not go with evict_first, evict_last, fetch_64B, "
                           "fetch_128B, fetch_256B");
    if (cache->scope != SCOPE_GPU)
        return complain(r, "belong to a cache of scope gpu");
    if (shape->index_bits != NULL)
        return complain(r, "do not go with set_bits");
    if (shape->sets % 2 != 0)
        return complain(r, "need an even number of sets, not %zu", shape->sets);
    for (size_t set = 1; set < shape->sets; set++)
        if (shape->set_ways[set] != shape->set_ways[0])
            return complain(r, "need sets with equal ways");
    const unsigned lowest = lowest_bit(cache->partitions.bits);
    if (lowest < SIDE_BIT_LEAST || lowest > SIDE_BIT_MOST)
        return complain(r,
                        "need bits of which the lowest is %d to %d, so that "
                        "sides take turns within a page and not within a line",
                        SIDE_BIT_LEAST, SIDE_BIT_MOST);
    if (cache->partitions.bits % shape->line != 0)
        return complain(r, "need address bits above those within a line");
    return 0;
}

static int read_partitions(struct reader *r, json_t *object, void *into)
{
    static const char *const keys[] = {"bits", "far_cycles", "replicates",
                                       "sms", NULL};
    struct profile_cache *const cache = into;
    struct profile_partitions *const p = &cache->partitions;
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, keys);
    if (status == 0)
        status = read_at(r, object, "bits", REQUIRED, read_side_bits, &p->bits);
    if (status == 0)
        status = read_at(r, object, "far_cycles", REQUIRED, read_cycles,
                         &p->far_cycles);
    if (status == 0)
        status = read_at(r, object, "replicates", OPTIONAL, read_bool,
                         &p->replicates);
    if (status == 0)
        status = read_at(r, object, "sms", OPTIONAL, read_sides_of_sms,
                         &p->alternate);
    return status == 0 ? check_partitions(r, cache) : status;
}

enum { FETCH_MOST = 4096 };

static int read_fetch(struct reader *r, json_t *value, void *into)
{
    uint64_t *const bytes = into;
    const int status = read_power(r, value, bytes);
    if (status == 0 && *bytes > FETCH_MOST)
        return complain(r, "must be at most %d", FETCH_MOST);
    return status;
}

/* How a cache answers to what loads tell it. */
static int read_hints(struct reader *r, const json_t *object,
                      struct profile_cache *cache)
{
    static const char *const fetch[] = {"fetch_64B", "fetch_128B",
                                        "fetch_256B"};
    struct cache_shape *const shape = &cache->shape;
    int status = read_at(r, object, "evict_first", OPTIONAL, read_bool,
                         &shape->evict_first);
    if (status == 0)
        status = read_at(r, object, "evict_last", OPTIONAL, read_bool,
                         &shape->evict_last);
    for (size_t i = 0; status == 0 && i < COUNT_OF(fetch); i++)
        status = read_at(r, object, fetch[i], OPTIONAL, read_fetch,
                         &cache->fetch[i]);
    return status;
}

static int read_placed(struct reader *r, const json_t *object,
                       const char *line_key, struct profile_cache *cache)
{
    cache->copies_per_sm = 1;
    int status = read_shape(r, object, line_key, &cache->shape);
    if (status == 0)
        status =
            read_at(r, object, "scope", OPTIONAL, read_scope, &cache->scope);
    if (status == 0)
        status =
            read_at(r, object, "copies_per_sm", OPTIONAL, read_copies, cache);
    if (status == 0)
        status = read_at(r, object, "port_cycles", OPTIONAL, read_cycles,
                         &cache->port_cycles);
    if (status == 0)
        status = read_at(r, object, "read_bandwidth", OPTIONAL, read_rate,
                         &cache->read_bandwidth);
    if (status == 0)
        status = read_at(r, object, "write_bandwidth", OPTIONAL, read_rate,
                         &cache->write_bandwidth);
    if (status == 0)
        status = read_hints(r, object, cache);
    if (status == 0)
        status =
            read_at(r, object, "partitions", OPTIONAL, read_partitions, cache);
    return status;
}

static int read_cache(struct reader *r, json_t *object, void *into)
{
    static const char *const keys[] = {
        "size",           "line",
        "sector",         "sets",
        "ways",           "set_ways",
        "policy",         "scope",
        "copies_per_sm",  "set_bits",
        "partitions",     "port_cycles",
        "read_bandwidth", "write_bandwidth",
        "evict_first",    "evict_last",
        "fetch_64B",      "fetch_128B",
        "fetch_256B",     NULL,
    };
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, keys);
    return status == 0 ? read_placed(r, object, "line", into) : status;
}

static int read_tlb(struct reader *r, json_t *object, void *into)
{
    static const char *const keys[] = {
        "page",   "entries", "sets",          "ways",     "set_ways",
        "policy", "scope",   "copies_per_sm", "set_bits", NULL,
    };
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, keys);
    return status == 0 ? read_placed(r, object, "page", into) : status;
}

static int read_caches(struct reader *r, json_t *object, void *into)
{
    struct profile *const profile = into;
    int status = check_object(r, object);
    if (status != 0)
        return status;
    if (json_object_size(object) > PROFILE_CACHES_MAX)
        return complain(r, "has more than %d caches", PROFILE_CACHES_MAX);
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        struct profile_cache *const cache =
            &profile->caches[profile->cache_count];
        if (strlen(name) == 0 || strlen(name) >= sizeof cache->name)
            return complain(r, "has a name of no or too many letters: '%s'",
                            name);
        if (strcmp(name, "memory") == 0)
            return complain(r, "cannot hold a cache named 'memory', which is "
                               "the last level of each path");
        memcpy(cache->name, name, strlen(name) + 1);
        profile->cache_count++;
        status = read_at(r, object, name, REQUIRED, read_cache, cache);
        if (status != 0)
            return status;
    }
    return 0;
}

/* TLBs are named for their level, since objects of JSON have no order. */
static int read_tlbs(struct reader *r, json_t *object, void *into)
{
    static const char *const names[] = {"l1", "l2", "l3", NULL};
    _Static_assert(COUNT_OF(names) == PROFILE_TLBS_MAX + 1, "a name a level");
    struct profile *const profile = into;
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, names);
    const size_t count = status == 0 ? json_object_size(object) : 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        struct profile_cache *const tlb = &profile->tlbs[i];
        memcpy(tlb->name, names[i], strlen(names[i]) + 1);
        profile->tlb_count++;
        status = read_at(r, object, names[i], REQUIRED, read_tlb, tlb);
    }
    return status;
}

/* ---- paths ---- */

/* One number for all states of the TLBs, or one for each of three. */
static int read_latency(struct reader *r, json_t *value, void *into)
{
    struct profile_latency *const latency = into;
    const size_t count = COUNT_OF(latency->cycles);
    if (json_is_array(value) && json_array_size(value) != count)
        return complain(r, "must be one number or three: found in the first "
                           "TLB, in the second, by page walk");
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = read_number(
            r, json_is_array(value) ? json_array_get(value, i) : value, 0,
            CYCLES_MAX, &latency->cycles[i]);
    return status;
}

static int find_cache(struct reader *r, const char *name)
{
    const char *names[PROFILE_CACHES_MAX + 1] = {0};
    for (size_t i = 0; i < r->profile->cache_count; i++) {
        names[i] = r->profile->caches[i].name;
        if (strcmp(names[i], name) == 0)
            return (int)i;
    }
    const char *const nearest = text_nearest(name, names);
    if (nearest == NULL)
        return complain(r, "names '%s', which is not among caches", name);
    return complain(r,
                    "names '%s', which is not among caches; did you mean "
                    "'%s'?",
                    name, nearest);
}

static bool path_has(const struct profile_path *path, int cache)
{
    for (size_t i = 0; i < path->levels; i++)
        if (path->cache[i] == cache)
            return true;
    return false;
}

static int read_levels(struct reader *r, json_t *list, void *into)
{
    struct profile_path *const path = into;
    if (!json_is_array(list) || json_array_size(list) > PROFILE_LEVELS_MAX)
        return complain(r, "must be an array of at most %d names of caches",
                        PROFILE_LEVELS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const name = json_array_get(list, i);
        if (!json_is_string(name))
            return wrong_type(r, "an array of names of caches", name);
        const int cache = find_cache(r, json_string_value(name));
        if (cache < 0)
            return cache;
        if (path_has(path, cache))
            return complain(r, "names '%s' twice", json_string_value(name));
        path->cache[path->levels++] = cache;
    }
    return 0;
}

/* One latency for each level and for memory, and for nothing else. */
static int read_latencies(struct reader *r, json_t *object, void *into)
{
    struct profile_path *const path = into;
    const char *keys[PROFILE_LEVELS_MAX + 2] = {0};
    for (size_t i = 0; i < path->levels; i++)
        keys[i] = r->profile->caches[path->cache[i]].name;
    keys[path->levels] = "memory";
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, keys);
    for (size_t i = 0; i < path->levels && status == 0; i++)
        status = read_at(r, object, keys[i], REQUIRED, read_latency,
                         &path->latency[i]);
    if (status == 0)
        status =
            read_at(r, object, "memory", REQUIRED, read_latency, &path->memory);
    return status;
}

static int read_path(struct reader *r, json_t *object, void *into)
{
    static const char *const keys[] = {"caches", "latency",
                                       "unoptimized_cycles", NULL};
    struct profile_path *const path = into;
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, keys);
    if (status == 0)
        status = read_at(r, object, "caches", REQUIRED, read_levels, path);
    if (status == 0)
        status = read_at(r, object, "latency", REQUIRED, read_latencies, path);
    if (status == 0)
        status = read_at(r, object, "unoptimized_cycles", OPTIONAL, read_cycles,
                         &path->unoptimized_cycles);
    path->present = status == 0;
    return status;
}

static int read_paths(struct reader *r, json_t *object, void *into)
{
    static const char *const names[] = {
#define X(id, name) [id] = name,
        PROFILE_PATHS(X)
#undef X
            [PATH_COUNT] = NULL,
    };
    struct profile *const profile = into;
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, names);
    for (size_t i = 0; i < PATH_COUNT && status == 0; i++) {
        /* Every GPU has global memory. */
        const enum need need =
            i == PATH_GLOBAL_CA || i == PATH_GLOBAL_CG ? REQUIRED : OPTIONAL;
        status =
            read_at(r, object, names[i], need, read_path, &profile->paths[i]);
    }
    return status;
}

/* ---- instructions ---- */

static const char *const level_keys[] = {"O0", "O1", "O2", "O3", "O4"};

/* Where only O3 is told, all levels that optimise are alike, and O0 is no
 * quicker than the default's. */
static void fill_times(struct profile_times *times,
                       const struct profile_times *base)
{
    const double optimised = times->level[3];
    for (size_t i = 1; i < COUNT_OF(times->level); i++)
        times->level[i] = optimised;
    times->level[0] = optimised > base->level[0] ? optimised : base->level[0];
}

static int read_times(struct reader *r, const json_t *object,
                      struct profile_times *times)
{
    int status =
        read_at(r, object, "O3", REQUIRED, read_cycles, &times->level[3]);
    fill_times(times, &r->profile->isa[0].latency);
    for (size_t i = 0; i < COUNT_OF(level_keys) && status == 0; i++)
        status = read_at(r, object, level_keys[i], OPTIONAL, read_cycles,
                         &times->level[i]);
    return status;
}

/* Absent, a divisor makes no difference. */
static int read_power_of_two(struct reader *r, json_t *object, void *into)
{
    static const char *const keys[] = {"O0", "O1", "O2", "O3", "O4", NULL};
    struct profile_isa *const row = into;
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, keys);
    row->has_power_of_two = status == 0;
    return status == 0 ? read_times(r, object, &row->power_of_two) : status;
}

static int read_row(struct reader *r, json_t *object, void *into)
{
    static const char *const keys[] = {
        "O0", "O1", "O2", "O3", "O4", "issue", "power_of_two", NULL,
    };
    struct profile_isa *const row = into;
    const double issue = r->profile->isa[0].issue;
    row->issue = issue > 0 ? issue : 1;
    int status = check_object(r, object);
    if (status == 0)
        status = check_keys(r, object, keys);
    if (status == 0)
        status = read_times(r, object, &row->latency);
    if (status == 0)
        status =
            read_at(r, object, "issue", OPTIONAL, read_cycles, &row->issue);
    if (status == 0)
        status = read_at(r, object, "power_of_two", OPTIONAL, read_power_of_two,
                         row);
    return status;
}

static int add_row(struct reader *r, const json_t *object, const char *name)
{
    struct profile *const profile = r->profile;
    struct profile_isa row = {.name = ""};
    if (strlen(name) >= sizeof row.name)
        return complain(r, "has a name of too many letters: '%s'", name);
    memcpy(row.name, name, strlen(name) + 1);
    const int status = read_at(r, object, name, REQUIRED, read_row, &row);
    profile->isa[profile->isa_count++] = row;
    return status;
}

static int read_isa(struct reader *r, json_t *object, void *into)
{
    struct profile *const profile = into;
    int status = check_object(r, object);
    if (status != 0)
        return status;
    profile->isa = xcalloc(json_object_size(object) + 1, sizeof *profile->isa);
    status = add_row(r, object, "default");
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (status == 0 && strcmp(name, "default") != 0)
            status = add_row(r, object, name);
    }
    return status;
}

/* ---- the whole ---- */

/* "2.1" */
static int read_capability(struct reader *r, json_t *value, void *into)
{
    struct profile *const profile = into;
    char text[16];
    int end = 0;
    const int status = read_text(r, value, text, sizeof text);
    if (status != 0)
        return status;
    if (sscanf(text, "%2d.%1d%n", &profile->cc_major, &profile->cc_minor,
               &end) != 2 ||
        text[end] != '\0' || profile->cc_major < 1 || profile->cc_minor < 0)
        return complain(r, "must be like \"9.0\", not \"%s\"", text);
    return 0;
}

/* What follows from other keys where it is not told. */
static void complete(struct profile *profile)
{
    if (profile->max_threads_per_sm == 0)
        profile->max_threads_per_sm = 32 * profile->max_warps_per_sm;
    if (profile->shared_per_block == 0)
        profile->shared_per_block = profile->shared_bytes;
    if (profile->clock_overhead_unoptimized < 0)
        profile->clock_overhead_unoptimized = profile->clock_overhead;
}

/* "ca" or "cg" */
static int read_default_operator(struct reader *r, json_t *value, void *into)
{
    char name[32];
    const int status = read_text(r, value, name, sizeof name);
    if (status != 0)
        return status;
    *(bool *)into = strcmp(name, "cg") == 0;
    if (*(bool *)into || strcmp(name, "ca") == 0)
        return 0;
    return complain(r, "must be ca or cg, not '%s'", name);
}

static int check_banks(struct reader *r)
{
    const unsigned bytes = r->profile->banks.bank_bytes;
    if (bytes == 4 || bytes == 8)
        return 0;
    enter(r, "shared_memory.bank_bytes");
    return complain(r, "must be 4 or 8, not %u", bytes);
}

/* A name of the list, which NULL ends, as its index. */
static int read_choice(struct reader *r, json_t *value,
                       const char *const *names, size_t *choice)
{
    char name[32];
    const int status = read_text(r, value, name, sizeof name);
    if (status != 0)
        return status;
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) {
            *choice = i;
            return 0;
        }
    const char *const nearest = text_nearest(name, names);
    return complain(r, "may not be '%s'; did you mean '%s'?", name,
                    nearest != NULL ? nearest : names[0]);
}

static int read_favours(struct reader *r, json_t *value, void *into)
{
    static const char *const names[] = {
        [FAVOUR_NONE] = "none",
        [FAVOUR_LOW_WARPS] = "low_warps",
        [FAVOUR_OLDER_BLOCKS] = "older_blocks",
        NULL,
    };
    struct profile *const profile = into;
    size_t choice = 0;
    const int status = read_choice(r, value, names, &choice);
    profile->favours = (enum profile_favour)choice;
    return status;
}

static int read_block_order(struct reader *r, json_t *value, void *into)
{
    static const char *const names[] = {"sms", "tpcs", NULL};
    struct profile *const profile = into;
    size_t choice = 0;
    const int status = read_choice(r, value, names, &choice);
    profile->tpcs_in_turn = choice == 1;
    return status;
}

static int read_tpc_members(struct reader *r, json_t *value, void *into)
{
    static const char *const names[] = {"neighbours", "apart", NULL};
    struct profile *const profile = into;
    size_t choice = 0;
    const int status = read_choice(r, value, names, &choice);
    profile->tpcs_apart = choice == 1;
    return status;
}

static int read_root(struct reader *r, json_t *root)
{
    static const char *const others[] = {
        "compute_capability",
        "caches",
        "tlbs",
        "paths",
        "shared_memory",
        "isa",
        "page_window",
        "changes",
        "noise",
        "favours",
        "block_order",
        "tpc_members",
        "clock_scope",
        "default_operator",
        NULL,
    };
    struct profile *const p = r->profile;
    int status = check_object(r, root);
    if (status == 0)
        status = read_fields(r, root, profile_fields, others);
    if (status == 0)
        status = read_at(r, root, "compute_capability", REQUIRED,
                         read_capability, p);
    if (status == 0)
        status = read_at(r, root, "favours", OPTIONAL, read_favours, p);
    if (status == 0)
        status = read_at(r, root, "block_order", OPTIONAL, read_block_order, p);
    if (status == 0)
        status = read_at(r, root, "tpc_members", OPTIONAL, read_tpc_members, p);
    if (status == 0)
        status = read_at(r, root, "clock_scope", OPTIONAL, read_scope,
                         &p->clock_scope);
    if (status == 0)
        status = read_at(r, root, "caches", REQUIRED, read_caches, p);
    if (status == 0)
        status = read_at(r, root, "tlbs", OPTIONAL, read_tlbs, p);
    if (status == 0)
        status = read_at(r, root, "paths", REQUIRED, read_paths, p);
    if (status == 0)
        status = read_plain(r, root, "shared_memory", true, shared_fields);
    if (status == 0)
        status = check_banks(r);
    if (status == 0)
        status = read_at(r, root, "default_operator", OPTIONAL,
                         read_default_operator, &p->default_cg);
    if (status == 0)
        status = read_at(r, root, "isa", REQUIRED, read_isa, p);
    if (status == 0)
        status = read_plain(r, root, "page_window", false, window_fields);
    if (status == 0)
        status = read_plain(r, root, "noise", false, noise_fields);
    if (status == 0)
        status = read_plain(r, root, "changes", false, changes_fields);
    complete(p);
    return status;
}

int profile_parse(const char *text, const char *where, struct profile **profile,
                  struct error *err)
{
    json_error_t wrong;
    json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
    if (root == NULL)
        return error_set(err, ERR_FILE, "%s: line %d: %s", where, wrong.line,
                         wrong.text);
    struct reader reader = {
        .where = where,
        .profile = xcalloc(1, sizeof *reader.profile),
        .err = err,
    };
    const int status = read_root(&reader, root);
    json_decref(root);
    if (status == 0)
        *profile = reader.profile;
    else
        profile_free(reader.profile);
    return status;
}

static unsigned tpc_of(const struct profile *p, unsigned sm)
{
    const unsigned each = (unsigned)p->sms_per_tpc;
    if (each == 0)
        return sm;
    return p->tpcs_apart ? sm % (((unsigned)p->sms + each - 1) / each)
                         : sm / each;
}

unsigned profile_place(const struct profile *p, enum profile_scope scope,
                       unsigned sm)
{
    const unsigned tpcs = (unsigned)p->tpcs_per_gpc;
    switch (scope) {
    case SCOPE_SM:
        return sm;
    case SCOPE_TPC:
        return tpc_of(p, sm);
    case SCOPE_GPC:
        return tpc_of(p, sm) / (tpcs > 0 ? tpcs : 1);
    case SCOPE_GPU:
        break;
    }
    return 0;
}

void profile_free(struct profile *profile)
{
    if (profile == NULL)
        return;
    for (size_t i = 0; i < profile->cache_count; i++)
        cache_shape_free(&profile->caches[i].shape);
    for (size_t i = 0; i < profile->tlb_count; i++)
        cache_shape_free(&profile->tlbs[i].shape);
    free(profile->isa);
    free(profile);
}

static bool is_path(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') != NULL ||
           (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static int open_file(const char *path, struct profile **profile,
                     struct error *err)
{
    struct buf text = {0};
    int status = file_read(path, FILE_MAX, &text, err);
    if (status == 0)
        status = profile_parse(buf_string(&text), path, profile, err);
    buf_free(&text);
    return status;
}

static int no_such_profile(const char *name, struct error *err)
{
    const char *names[PROFILES_MAX + 1] = {0};
    for (size_t i = 0; i < PROFILES_MAX && shipped_profiles[i].name; i++)
        names[i] = shipped_profiles[i].name;
    const char *const nearest = text_nearest(name, names);
    if (nearest == NULL)
        return error_set(err, ERR_NO_DEVICE,
                         "there is no profile '%s'; `sonde list` shows those "
                         "that there are, and a path must hold a '/' or end "
                         "in .json",
                         name);
    return error_set(err, ERR_NO_DEVICE,
                     "there is no profile '%s'; did you mean '%s'?", name,
                     nearest);
}

int profile_open(const char *name, const char *extra_folder,
                 struct profile **profile, struct error *err)
{
    if (is_path(name))
        return open_file(name, profile, err);
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return profile_parse(s->text, name, profile, err);
    if (extra_folder == NULL)
        return no_such_profile(name, err);
    char *const path = xasprintf("%s/%s.json", extra_folder, name);
    const int status = access(path, F_OK) == 0 ? open_file(path, profile, err)
                                               : no_such_profile(name, err);
    free(path);
    return status;
}
