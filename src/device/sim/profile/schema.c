/*
 * The reader of tables.  It keeps the path of the key that it is at, so that
 * every complaint can name it.
 */
#include "device/sim/profile/schema.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

enum {
    KEYS_MAX = 64, /* of one object */
    WORD_MAX = 32, /* bytes, longer than any word that a row knows */
};
#define POWER_MAX 1099511627776.0 /* 2^40 */

/* ---- complaints ---- */

size_t schema_enter(struct schema_reader *r, const char *key)
{
    const size_t length = strlen(r->path);
    snprintf(r->path + length, sizeof r->path - length, "%s%s",
             length > 0 ? "." : "", key);
    return length;
}

void schema_leave(struct schema_reader *r, size_t up)
{
    r->path[up] = '\0';
}

static void fail_va(struct schema_reader *r, const char *fmt, va_list args)
{
    char what[512];
    if (r->failed)
        return;
    r->failed = true;
    vsnprintf(what, sizeof what, fmt, args);
    if (r->path[0] == '\0')
        error_set(r->err, ERR_FILE, "%s: the %s %s", r->where, r->noun, what);
    else
        error_set(r->err, ERR_FILE, "%s: %s %s", r->where, r->path, what);
}

void schema_fail(struct schema_reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_va(r, fmt, args);
    va_end(args);
}

void schema_fail_at(struct schema_reader *r, const char *key, const char *fmt,
                    ...)
{
    const size_t up = schema_enter(r, key);
    va_list args;
    va_start(args, fmt);
    fail_va(r, fmt, args);
    va_end(args);
    schema_leave(r, up);
}

void schema_fail_name(struct schema_reader *r, const char *name,
                      const char *const *known, const char *what)
{
    schema_fail(r, "names '%s', which is %s%s", name, what,
                text_guess(name, known).text);
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

void schema_wrong_type(struct schema_reader *r, const char *wanted,
                       const json_t *value)
{
    schema_fail(r, "must be %s, not %s", wanted, type_name(value));
}

/* ---- values ---- */

void schema_text(struct schema_reader *r, const json_t *value, char *text,
                 size_t size)
{
    if (!json_is_string(value))
        schema_wrong_type(r, "a string", value);
    else if (json_string_length(value) >= size)
        schema_fail(r, "must be shorter than %zu bytes", size);
    else
        memcpy(text, json_string_value(value), json_string_length(value) + 1);
}

double schema_real(struct schema_reader *r, const json_t *value, double least,
                   double most)
{
    const double real = json_number_value(value);
    if (!json_is_number(value))
        schema_wrong_type(r, "a number", value);
    else if (real < least || real > most)
        schema_fail(r, "must be from %.16g to %.16g, not %.16g", least, most,
                    real);
    return r->failed ? least : real;
}

uint64_t schema_whole(struct schema_reader *r, const json_t *value,
                      double least, double most)
{
    if (json_is_real(value))
        schema_fail(r, "must be a whole number, not %.16g",
                    json_real_value(value));
    else if (!json_is_integer(value))
        schema_wrong_type(r, "a whole number", value);
    schema_real(r, value, least, most);
    return r->failed ? (uint64_t)least : (uint64_t)json_integer_value(value);
}

static uint64_t read_power(struct schema_reader *r, const json_t *value,
                           double least, double most)
{
    const uint64_t power = schema_whole(r, value, least, POWER_MAX);
    if ((power & (power - 1)) != 0)
        schema_fail(r, "must be a power of two, not %" PRIu64, power);
    if ((double)power > most)
        schema_fail(r, "must be at most %.16g", most);
    return power;
}

static void no_such_word(struct schema_reader *r, const char *word,
                        const char *const *words)
{
    struct buf all = {0};
    for (size_t i = 0; words[i] != NULL; i++) {
        const char *const link = words[i + 1] == NULL ? " or " : ", ";
        buf_printf(&all, "%s%s", i == 0 ? "" : link, words[i]);
    }
    schema_fail(r, "must be %s, not '%s'", buf_string(&all), word);
    buf_free(&all);
}

static void no_such_name(struct schema_reader *r, const char *name,
                        const char *const *names)
{
    const char *const nearest = text_nearest(name, names);
    schema_fail(r, "may not be '%s'; did you mean '%s'?", name,
                nearest != NULL ? nearest : names[0]);
}

static uint64_t read_choice(struct schema_reader *r, const json_t *value,
                            const struct schema_row *row)
{
    char word[WORD_MAX] = "";
    schema_text(r, value, word, sizeof word);
    const size_t i = text_find(word, row->words);
    if (row->words[i] != NULL)
        return i;
    if (row->kind == SCHEMA_WORD)
        no_such_word(r, word, row->words);
    else
        no_such_name(r, word, row->words);
    return 0;
}

static bool read_bool(struct schema_reader *r, const json_t *value)
{
    if (!json_is_boolean(value))
        schema_wrong_type(r, "true or false", value);
    return json_is_true(value);
}

/* ---- rows ---- */

/* The place is as wide as what its row names. */
static void put_whole(void *place, size_t size, uint64_t whole)
{
    const unsigned narrow = (unsigned)whole;
    const bool is_true = whole != 0;
    if (size == sizeof is_true)
        memcpy(place, &is_true, sizeof is_true);
    else if (size == sizeof narrow)
        memcpy(place, &narrow, sizeof narrow);
    else
        memcpy(place, &whole, sizeof whole);
}

static void put_fallback(const struct schema_row *row, void *place)
{
    if (row->kind == SCHEMA_REAL)
        memcpy(place, &row->fallback, sizeof row->fallback);
    else if (row->kind == SCHEMA_WHOLE || row->kind == SCHEMA_POWER)
        put_whole(place, row->size, (uint64_t)(int64_t)row->fallback);
}

/* What is kept as a whole number, be it a word. */
static uint64_t read_whole_of(struct schema_reader *r, const json_t *value,
                              const struct schema_row *row)
{
    switch (row->kind) {
    case SCHEMA_POWER:
        return read_power(r, value, row->least, row->most);
    case SCHEMA_BOOL:
        return read_bool(r, value);
    case SCHEMA_WORD:
    case SCHEMA_NAME:
        return read_choice(r, value, row);
    default:
        return schema_whole(r, value, row->least, row->most);
    }
}

static void read_value(struct schema_reader *r, json_t *value,
                       const struct schema_row *row, void *place)
{
    if (row->kind == SCHEMA_TEXT)
        schema_text(r, value, place, row->size);
    else if (row->kind == SCHEMA_OBJECT)
        schema_read(r, value, row->object, place);
    else if (row->kind == SCHEMA_CALL)
        row->read(r, value, place);
    else if (row->kind == SCHEMA_REAL)
        *(double *)place = schema_real(r, value, row->least, row->most);
    else
        put_whole(place, row->size, read_whole_of(r, value, row));
}

static void read_rows(struct schema_reader *r, const json_t *object,
                      const struct schema *schema, void *into);

static void read_row(struct schema_reader *r, const json_t *object,
                     const struct schema_row *row, void *into)
{
    void *const place = (char *)into + row->offset;
    if (row->kind == SCHEMA_ALSO) {
        read_rows(r, object, row->object, place);
        return;
    }
    json_t *const value = json_object_get(object, row->key);
    const size_t up = schema_enter(r, row->key);
    if (value != NULL)
        read_value(r, value, row, place);
    else if (row->required)
        schema_fail(r, "is missing");
    else
        put_fallback(row, place);
    schema_leave(r, up);
}

static void read_rows(struct schema_reader *r, const json_t *object,
                      const struct schema *schema, void *into)
{
    const struct schema_row *row = schema->rows;
    for (; row->kind != SCHEMA_END && !r->failed; row++)
        read_row(r, object, row, into);
    if (!r->failed && schema->check != NULL)
        schema->check(r, into);
}

/* ---- objects ---- */

static size_t add_keys(const struct schema *schema, const char **keys,
                       size_t count)
{
    const struct schema_row *row = schema->rows;
    for (; row->kind != SCHEMA_END && count < KEYS_MAX; row++)
        if (row->kind == SCHEMA_ALSO)
            count = add_keys(row->object, keys, count);
        else
            keys[count++] = row->key;
    return count;
}

static void check_keys(struct schema_reader *r, json_t *object,
                       const struct schema *schema)
{
    const char *known[KEYS_MAX + 1] = {0};
    add_keys(schema, known, 0);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!text_is_among(key, known))
            schema_fail_at(r, key, "is not a key of a %s%s", r->noun,
                           text_guess(key, known).text);
    }
}

void schema_read(struct schema_reader *r, json_t *value,
                 const struct schema *schema, void *into)
{
    if (!json_is_object(value))
        schema_wrong_type(r, "an object", value);
    else
        check_keys(r, value, schema);
    if (!r->failed)
        read_rows(r, value, schema, into);
}

void schema_read_at(struct schema_reader *r, const char *key, json_t *value,
                    const struct schema *schema, void *into)
{
    const size_t up = schema_enter(r, key);
    schema_read(r, value, schema, into);
    schema_leave(r, up);
}

int schema_parse(const char *text, const char *where,
                 const struct schema *schema, void *whole, struct error *err)
{
    json_error_t wrong;
    json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
    if (root == NULL)
        return error_set(err, ERR_FILE, "%s: line %d: %s", where, wrong.line,
                         wrong.text);
    struct schema_reader reader = {
        .where = where, .noun = schema->name, .whole = whole, .err = err};
    schema_read(&reader, root, schema, whole);
    json_decref(root);
    return reader.failed ? err->code : 0;
}
