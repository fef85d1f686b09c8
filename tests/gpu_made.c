/* A wish that cannot be read is a wrong test, and stops it. */
#include "gpu_made.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/profile/shipped.h"

static const char plain[] =
    "name='Made up' architecture=None compute_capability='8.0' sms=4 "
    "warp_schedulers=4 max_threads_per_block=1024 max_warps_per_sm=64 "
    "max_blocks_per_sm=16 clock_khz=1000000 memory_bytes=1073741824 "
    "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'} "
    "paths/global={'l2': 200, 'memory': 500} "
    "shared_memory={'bytes': 49152, 'latency': 30, 'conflict_cycles': 2} "
    "isa/default/O3=4";

static void fail(const char *what, const char *where)
{
    fprintf(stderr, "a wish %s: %.60s\n", what, where);
    abort();
}

/* Up to the first blank outside of brackets and quotes. */
static size_t value_length(const char *text)
{
    size_t length = 0;
    int depth = 0;
    bool quoted = false;
    for (; text[length] != '\0'; length++) {
        const char c = text[length];
        if (c == '\'')
            quoted = !quoted;
        if (quoted)
            continue;
        if (isspace((unsigned char)c) && depth == 0)
            break;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
    }
    return length;
}

/* NULL: nothing. */
static json_t *value_of(const char *text, size_t length)
{
    char *const json = xstrndup(text, length);
    for (char *c = json; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    if (value == NULL && strpbrk(json, "[]{}\"") != NULL)
        fail("is not JSON", text);
    if (value == NULL && length > 0)
        value = json_string(json);
    free(json);
    return value;
}

/* {"l1": 40, "memory": 300} as {"caches": ["l1"], "latency": …} */
static json_t *path_of(json_t *costs)
{
    json_t *const caches = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(costs, name, value) if (strcmp(name, "memory") != 0)
        json_array_append_new(caches, json_string(name));
    json_t *const path = json_object();
    json_object_set_new(path, "caches", caches);
    json_object_set_new(path, "latency", costs);
    return path;
}

/* A TLB has a page in place of a line. */
static void fill_cache(json_t *cache)
{
    if (json_object_get(cache, "line") == NULL &&
        json_object_get(cache, "page") == NULL) {
        json_object_set_new(cache, "line", json_integer(128));
        json_object_set_new(cache, "sector", json_integer(32));
    }
    if (json_object_get(cache, "policy") == NULL)
        json_object_set_new(cache, "policy", json_string("lru"));
}

static json_t *child(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_object(value)) {
        value = json_object();
        json_object_set_new(object, key, value);
    }
    return value;
}

static void grant(json_t *gpu, char *keys, json_t *value)
{
    json_t *object = gpu;
    char *rest = NULL, *key = strtok_r(keys, "/", &rest), *next;
    for (; (next = strtok_r(NULL, "/", &rest)) != NULL; key = next)
        object = child(object, key);
    if (object == json_object_get(gpu, "paths") &&
        json_object_get(value, "memory") != NULL)
        value = path_of(value);
    if (object == json_object_get(gpu, "caches") ||
        object == json_object_get(gpu, "tlbs"))
        fill_cache(value);
    if (value == NULL)
        json_object_del(object, key);
    else if (strcmp(key, "global") == 0) {
        json_object_set(object, "global.ca", value);
        json_object_set_new(object, "global.cg", value);
    } else
        json_object_set_new(object, key, value);
}

static void wish(json_t *gpu, const char *text)
{
    while (*(text += strspn(text, " \n")) != '\0') {
        const size_t length = strcspn(text, "= \n");
        if (text[length] != '=')
            fail("has no value", text);
        char *const keys = xstrndup(text, length);
        const char *const value = text + length + 1;
        text = value + value_length(value);
        grant(gpu, keys, value_of(value, (size_t)(text - value)));
        free(keys);
    }
}

static void wish_va(json_t *gpu, const char *fmt, va_list args)
{
    char *text;
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    wish(gpu, text);
    free(text);
}

json_t *gpu_plain(void)
{
    json_t *const gpu = json_object();
    wish(gpu, plain);
    return gpu;
}

void gpu_wish(json_t *gpu, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    wish_va(gpu, fmt, args);
    va_end(args);
}

char *gpu_text(json_t *gpu)
{
    char *const text = json_dumps(gpu, JSON_INDENT(1));
    json_decref(gpu);
    return text;
}

char *gpu_made(const char *fmt, ...)
{
    json_t *const gpu = gpu_plain();
    va_list args;
    va_start(args, fmt);
    wish_va(gpu, fmt, args);
    va_end(args);
    return gpu_text(gpu);
}

static json_t *shipped_gpu(const char *name)
{
    const struct shipped_profile *s = shipped_profiles;
    while (s->name != NULL && strcmp(s->name, name) != 0)
        s++;
    if (s->name == NULL)
        fail("is for a GPU that is not shipped", name);
    return json_loads(s->text, 0, NULL);
}

char *gpu_changed(const char *shipped, const char *fmt, ...)
{
    json_t *const gpu = shipped_gpu(shipped);
    va_list args;
    va_start(args, fmt);
    wish_va(gpu, fmt, args);
    va_end(args);
    return gpu_text(gpu);
}
