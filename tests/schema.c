#include "schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static json_t *schema;

static bool fits(const json_t *rule, const json_t *value);

/* Nothing can be tested by a schema that is not understood. */
static void broken(const char *how, const char *what)
{
    fprintf(stderr, "docs/report.schema.json: %s: %s\n", how, what);
    abort();
}

static bool is_of_type(const char *type, const json_t *value)
{
    static const struct {
        const char *name;
        json_type type, other;
    } types[] = {
        {"object", JSON_OBJECT, JSON_OBJECT},
        {"array", JSON_ARRAY, JSON_ARRAY},
        {"string", JSON_STRING, JSON_STRING},
        {"number", JSON_REAL, JSON_INTEGER},
        {"boolean", JSON_TRUE, JSON_FALSE},
        {"null", JSON_NULL, JSON_NULL},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(types[i].name, type) == 0)
            return json_typeof(value) == types[i].type ||
                   json_typeof(value) == types[i].other;
    broken("it has a type", type);
    return false;
}

static bool fits_type(const json_t *type, const json_t *value)
{
    if (json_is_string(type))
        return is_of_type(json_string_value(type), value);
    for (size_t i = 0; i < json_array_size(type); i++)
        if (is_of_type(json_string_value(json_array_get(type, i)), value))
            return true;
    return false;
}

static bool fits_required(const json_t *names, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (json_object_get(
                value, json_string_value(json_array_get(names, i))) == NULL)
            return false;
    return true;
}

static bool fits_properties(const json_t *rules, const json_t *value)
{
    const char *name;
    json_t *rule;
    json_object_foreach((json_t *)rules, name, rule)
    {
        const json_t *const member = json_object_get(value, name);
        if (member != NULL && !fits(rule, member))
            return false;
    }
    return true;
}

static bool fits_members(const json_t *rule, const json_t *value)
{
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)value, name, member)
    {
        if (!fits(rule, member))
            return false;
    }
    return true;
}

static bool fits_items(const json_t *rule, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!fits(rule, json_array_get(value, i)))
            return false;
    return true;
}

static bool fits_any(const json_t *rules, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(rules); i++)
        if (fits(json_array_get(rules, i), value))
            return true;
    return false;
}

static bool is_one_of(const json_t *values, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_equal(json_array_get(values, i), value))
            return true;
    return false;
}

/* "#/$defs/NAME" */
static bool fits_reference(const json_t *reference, const json_t *value)
{
    const char *const name = strrchr(json_string_value(reference), '/') + 1;
    const json_t *const rule =
        json_object_get(json_object_get(schema, "$defs"), name);
    if (rule == NULL)
        broken("it has no", name);
    return fits(rule, value);
}

static bool is_at_least(const json_t *least, const json_t *value)
{
    return json_number_value(value) >= json_number_value(least);
}

static bool is_at_most(const json_t *most, const json_t *value)
{
    return json_number_value(value) <= json_number_value(most);
}

static bool has_at_least(const json_t *least, const json_t *value)
{
    return json_array_size(value) >= (size_t)json_integer_value(least);
}

static bool has_at_most(const json_t *most, const json_t *value)
{
    return json_array_size(value) <= (size_t)json_integer_value(most);
}

static bool is_equal(const json_t *rule, const json_t *value)
{
    return json_equal(rule, value);
}

static bool is_remark(const json_t *rule, const json_t *value)
{
    return json_is_string(rule) || json_is_object(value);
}

static const struct {
    const char *name;
    bool (*fits)(const json_t *rule, const json_t *value);
} words[] = {
    {"type", fits_type},
    {"required", fits_required},
    {"properties", fits_properties},
    {"additionalProperties", fits_members},
    {"items", fits_items},
    {"anyOf", fits_any},
    {"enum", is_one_of},
    {"const", is_equal},
    {"$ref", fits_reference},
    {"minimum", is_at_least},
    {"maximum", is_at_most},
    {"minItems", has_at_least},
    {"maxItems", has_at_most},
    {"description", is_remark},
    {"title", is_remark},
    {"$schema", is_remark},
    {"$defs", is_remark},
};

static bool fits(const json_t *rule, const json_t *value)
{
    const char *name;
    json_t *part;
    json_object_foreach((json_t *)rule, name, part)
    {
        size_t i = 0;
        while (i < COUNT_OF(words) && strcmp(words[i].name, name) != 0)
            i++;
        if (i == COUNT_OF(words))
            broken("it says", name);
        if (!words[i].fits(part, value))
            return false;
    }
    return true;
}

bool schema_fits(const json_t *report)
{
    json_error_t why;
    schema =
        json_load_file("docs/report.schema.json", JSON_REJECT_DUPLICATES, &why);
    if (schema == NULL)
        broken("it cannot be read", why.text);
    const bool good = fits(schema, report);
    json_decref(schema);
    return good;
}
