/*
 * The documents know what the program's tables hold: docs/method.md each
 * reason of src/study/reasons.def; docs/architecture.md the facts with who
 * writes and who reads them, which `make goldens` writes anew.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "study/facts.h"
#include "study/study.h"
#include "testing.h"

static const char *const reasons[] = {
#define REASON(id, text) text,
#include "study/reasons.def"
#undef REASON
};

/* Behind the conversion (%s, %.0f, %zu) with which a format begins. */
static const char *past_conversion(const char *format)
{
    return format + 1 + strcspn(format + 1, "dufgsx%") + 1;
}

/* True if all that stands between the conversions of a reason stands in that
 * order in the line, which ends at `end`. */
static bool line_tells(const char *line, const char *end, const char *reason)
{
    while (*reason != '\0') {
        const size_t n = strcspn(reason, "%");
        const char *const found = memmem(line, (size_t)(end - line), reason, n);
        if (found == NULL)
            return false;
        line = found + n;
        reason += n;
        if (*reason == '%')
            reason = past_conversion(reason);
    }
    return true;
}

/* Rows of tables only. */
static bool tells(const char *doc, const char *reason)
{
    for (const char *end; *doc != '\0'; doc = end + (*end == '\n')) {
        end = strchrnul(doc, '\n');
        if (*doc == '|' && line_tells(doc, end, reason))
            return true;
    }
    return false;
}

START_TEST(each_reason_is_explained)
{
    char *const doc = testing_document("docs/method.md");
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        ck_assert_msg(tells(doc, reasons[i]),
                      "docs/method.md has no row that says what it means that "
                      "\"%s\", and what to do",
                      reasons[i]);
    free(doc);
}
END_TEST

START_TEST(a_reason_that_nobody_gave_is_not_explained)
{
    char *const doc = testing_document("docs/method.md");
    ck_assert(!tells(doc, "the moon is not known"));
    ck_assert(!tells(doc, "too few lines more than fit can be asked for: %s, "
                          "or for another thing"));
    free(doc);
}
END_TEST

/* ---- tables of docs/architecture.md ------------------------------------- */

#define DOC "docs/architecture.md"
#define END "<!-- end -->\n"

static const struct fact_row {
    enum fact_id id;
    const char *name, *of;
} fact_rows[] = {
#define FACT(id, name, writer)       {FACT_##id, #name, "the GPU"},
#define LEVEL_FACT(id, name, writer) {FACT_##id, #name, "each level"},
#include "study/facts.def"
#undef LEVEL_FACT
#undef FACT
};

static bool reads(const struct study *study, enum fact_id fact)
{
    const enum fact_id *r = study->reads;
    while (r != NULL && *r != FACT_NONE && *r != fact)
        r++;
    return r != NULL && *r == fact;
}

static void add_item(struct buf *b, const char *separator, const char *name)
{
    buf_printf(b, "%s`%s`", separator, name);
}

static void add_facts(struct buf *b)
{
    buf_text(b, "| fact | of | written by | read by |\n|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT_OF(fact_rows); i++) {
        const struct fact_row *const row = &fact_rows[i];
        const char *separator = " ";
        buf_printf(b, "| `%s` | %s | `%s` |", row->name, row->of,
                   fact_writer(row->id));
        for (size_t s = 0; study_table[s] != NULL; s++)
            if (reads(study_table[s], row->id)) {
                add_item(b, separator, study_table[s]->name);
                separator = ", ";
            }
        buf_text(b, " |\n");
    }
}

/* The document with what stands between the mark and the next END anew. */
static char *with_table(char *doc, const char *mark, void (*add)(struct buf *b))
{
    struct buf out = {0};
    const char *const begin = strstr(doc, mark);
    const char *const end = begin != NULL ? strstr(begin, END) : NULL;
    ck_assert_msg(end != NULL, DOC " has no %s with an end", mark);
    buf_append(&out, doc, (size_t)(begin - doc) + strlen(mark));
    add(&out);
    buf_text(&out, end);
    free(doc);
    return buf_take(&out);
}

START_TEST(facts_are_written_and_read_as_told)
{
    char *doc = testing_document(DOC);
    doc = with_table(doc, "<!-- facts -->\n", add_facts);
    testing_document_is(DOC, doc);
    free(doc);
}
END_TEST

Suite *suite_docs(void)
{
    TCase *t;
    Suite *const suite = suite_of("docs", 10, &t);
    tcase_add_test(t, each_reason_is_explained);
    tcase_add_test(t, facts_are_written_and_read_as_told);
    tcase_add_test(t, a_reason_that_nobody_gave_is_not_explained);
    return suite;
}
