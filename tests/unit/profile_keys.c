/*
 * The tables of docs/profiles.md are those that the reader of profiles reads
 * with: between "<!-- keys: NAME -->" and "<!-- end -->" stands the table NAME.
 * GOLDENS=1 in the environment writes them anew (`make goldens`).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "device/sim/profile/profile_keys.h"
#include "testing.h"

#define DOC   "docs/profiles.md"
#define BEGIN "<!-- keys: "
#define NEXT  " -->\n"
#define END   "<!-- end -->\n"

/* ---- a table as text ---- */

static void add_number(struct buf *b, double number, const char *unit)
{
    static const char *const units[] = {"MiB", "GiB", "TiB"};
    int exponent;
    const bool power = frexp(number, &exponent) == 0.5;
    const int bits = exponent - 1;
    if (power && bits >= 20 && bits < 50 && unit != NULL && *unit == 'B')
        buf_printf(b, "%d %s", 1 << bits % 10, units[bits / 10 - 2]);
    else if (power && bits >= 24)
        buf_printf(b, "2^%d", bits);
    else
        buf_printf(b, "%.16g", number);
}

static void add_words(struct buf *b, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        buf_printf(b, "%s`\"%s\"`", i > 0 ? ", " : "", words[i]);
}

static void add_default(struct buf *b, const struct schema_row *row)
{
    if (row->required)
        return;
    if (row->otherwise != NULL)
        buf_text(b, row->otherwise);
    else if (row->kind == SCHEMA_TEXT)
        buf_text(b, "empty");
    else if (row->words != NULL)
        buf_printf(b, "`\"%s\"`", row->words[0]);
    else if (row->kind == SCHEMA_BOOL)
        buf_text(b, "false");
    else if (row->fallback < 0)
        buf_text(b, "absent");
    else if (row->most > 0)
        add_number(b, row->fallback, NULL);
}

static bool has_two_values(const struct schema_row *row)
{
    return row->kind == SCHEMA_WHOLE && row->most - row->least == 1;
}

static void add_range(struct buf *b, const struct schema_row *row)
{
    if (row->range != NULL) {
        buf_text(b, row->range);
    } else if (row->kind == SCHEMA_TEXT) {
        buf_printf(b, "under %zu bytes", row->size);
    } else if (row->words != NULL) {
        add_words(b, row->words);
    } else if (row->kind == SCHEMA_BOOL) {
        buf_text(b, "true, false");
    } else if (row->most > 0) {
        add_number(b, row->least, row->unit);
        buf_text(b, has_two_values(row) ? ", " : " … ");
        add_number(b, row->most, row->unit);
    }
}

static void add_key(struct buf *b, const struct schema_row *row, bool first)
{
    if (row->kind != SCHEMA_ALSO) {
        buf_printf(b, "%s`%s`", first ? "" : ", ", row->key);
        return;
    }
    for (const struct schema_row *k = row->object->rows; k->kind != SCHEMA_END;
         k++)
        add_key(b, k, first && k == row->object->rows);
}

static const char *unit_of(const struct schema_row *row)
{
    const bool text = row->kind == SCHEMA_TEXT || row->words != NULL;
    return row->unit != NULL || !text ? row->unit : "text";
}

static void add_cell(struct buf *b, const char *text)
{
    if (text != NULL && *text != '\0')
        buf_printf(b, " %s", text);
    buf_text(b, " |");
}

/* Rows that share the help of the first; returns the last of them. */
static const struct schema_row *add_line(struct buf *b,
                                         const struct schema_row *row)
{
    const struct schema_row *last = row;
    struct buf otherwise = {0}, range = {0};
    buf_text(b, "| ");
    add_key(b, row, true);
    while (last[1].key != NULL && last[1].help == NULL) {
        add_key(b, ++last, false);
        ck_assert_double_eq(last->most, row->most);
    }
    add_default(&otherwise, row);
    add_range(&range, row);
    buf_text(b, " |");
    add_cell(b, row->help);
    add_cell(b, unit_of(row));
    add_cell(b, buf_string(&otherwise));
    add_cell(b, buf_string(&range));
    buf_text(b, "\n");
    buf_free(&otherwise);
    buf_free(&range);
    return last;
}

static void add_rows(struct buf *b, const struct schema *schema)
{
    const struct schema_row *row = schema->rows;
    for (; row->kind != SCHEMA_END; row++)
        if (row->kind == SCHEMA_ALSO && row->help == NULL)
            add_rows(b, row->object);
        else
            row = add_line(b, row);
}

/* ---- the tables of the document ---- */

static const struct schema *find(const struct schema *schema, const char *name,
                                 size_t length)
{
    const struct schema *found = NULL;
    if (strlen(schema->name) == length &&
        strncmp(schema->name, name, length) == 0)
        return schema;
    const struct schema_row *row = schema->rows;
    for (; row->kind != SCHEMA_END && found == NULL; row++)
        if (row->object != NULL)
            found = find(row->object, name, length);
    return found;
}

/* After "<!-- keys: "; what follows the table. */
static const char *renew_table(struct buf *out, const char *name)
{
    const char *const begin = strstr(name, NEXT);
    const char *const end = strstr(name, END);
    ck_assert_msg(begin != NULL && end != NULL, "%.20s… has no end", name);
    const size_t length = (size_t)(begin - name);
    const struct schema *schema = find(&profile_schema, name, length);
    if (schema == NULL)
        schema = find(&host_schema, name, length);
    ck_assert_msg(schema != NULL, "no table %.*s", (int)length, name);
    buf_append(out, name, length + strlen(NEXT));
    buf_text(out, "| key | meaning | unit | default | range |\n"
                  "|---|---|---|---|---|\n");
    add_rows(out, schema);
    buf_text(out, END);
    return end + strlen(END);
}

static char *renewed(const char *doc)
{
    struct buf out = {0};
    for (const char *begin; (begin = strstr(doc, BEGIN)) != NULL;) {
        begin += strlen(BEGIN);
        buf_append(&out, doc, (size_t)(begin - doc));
        doc = renew_table(&out, begin);
    }
    buf_text(&out, doc);
    return buf_take(&out);
}

START_TEST(the_document_tells_the_keys_that_are_read)
{
    char *const is = testing_document(DOC);
    char *const wanted = renewed(is);
    testing_document_is(DOC, wanted);
    free(is);
    free(wanted);
}
END_TEST

static void assert_told(const struct schema *schema, const char *doc)
{
    const struct schema_row *row = schema->rows;
    for (; row->kind != SCHEMA_END; row++) {
        struct buf key = {0};
        buf_printf(&key, "`%s`", row->key != NULL ? row->key : "");
        ck_assert_msg(row->key == NULL || strstr(doc, buf_string(&key)),
                      DOC " does not tell %s of %s", row->key, schema->name);
        buf_free(&key);
        if (row->object != NULL)
            assert_told(row->object, doc);
    }
}

START_TEST(no_key_is_left_out)
{
    char *const doc = testing_document(DOC);
    assert_told(&profile_schema, doc);
    assert_told(&host_schema, doc);
    free(doc);
}
END_TEST

Suite *suite_profile_keys(void)
{
    TCase *t;
    Suite *const suite = suite_of("profile_keys", 10, &t);
    tcase_add_test(t, the_document_tells_the_keys_that_are_read);
    tcase_add_test(t, no_key_is_left_out);
    return suite;
}
