/*
 * The documents know what the program's tables hold: docs/method.md each
 * reason of src/study/reasons.def.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

Suite *suite_docs(void)
{
    TCase *t;
    Suite *const suite = suite_of("docs", 10, &t);
    tcase_add_test(t, each_reason_is_explained);
    tcase_add_test(t, a_reason_that_nobody_gave_is_not_explained);
    return suite;
}
