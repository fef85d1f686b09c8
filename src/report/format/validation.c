/*
 * How far findings foretell experiments that no study asked: a row a component
 * with its findings, and why one is in doubt.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"

static const char before[] = "predicted.";

/* "l1.ways" of "predicted.l1.ways"; NULL: it is of something else. */
static const char *subject_of(const struct finding *f)
{
    const size_t length = sizeof before - 1;
    return strncmp(f->id, before, length) == 0 &&
                   strchr(f->id + length, '.') != NULL
               ? f->id + length
               : NULL;
}

static size_t component_length(const char *id)
{
    return (size_t)(strchr(id, '.') - id);
}

static bool was_asked(const struct finding *f)
{
    return subject_of(f) != NULL && f->status != STATUS_NOT_MEASURED;
}

static bool is_new(const struct results *r, size_t at, const char *id)
{
    const size_t length = component_length(id);
    for (size_t i = 0; i < at; i++) {
        const char *const other = subject_of(r->findings[i]);
        if (was_asked(r->findings[i]) && component_length(other) == length &&
            strncmp(other, id, length) == 0)
            return false;
    }
    return true;
}

static bool in_doubt(const struct results *r, const char *id)
{
    const struct finding *const f = results_find(r, id);
    return f != NULL && f->status == STATUS_IN_DOUBT;
}

/* All attributes of the component that were tried, `!` before one in doubt. */
static void put_component(const struct results *r, const char *id,
                          struct buf *out)
{
    const size_t length = component_length(id);
    double least = 1;
    buf_printf(out, "%-10.*s", (int)length, id);
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct finding *const f = r->findings[i];
        const char *const other = subject_of(f);
        if (!was_asked(f) || component_length(other) != length ||
            strncmp(other, id, length) != 0)
            continue;
        least = fmin(least, f->value.number);
        buf_printf(out, " %s%s", in_doubt(r, other) ? "!" : "",
                   other + length + 1);
    }
    buf_printf(out, ": %.4g %% foretold\n", 100 * least);
}

static void put_unasked(const struct results *r, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < r->finding_count; i++) {
        const char *const id = subject_of(r->findings[i]);
        if (id == NULL || was_asked(r->findings[i]))
            continue;
        buf_printf(out, "%s %s", first ? "not asked:" : ",", id);
        first = false;
    }
    buf_text(out, first ? "" : "\n");
}

static void put_doubts(const struct results *r, struct buf *out)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const char *const id = subject_of(r->findings[i]);
        if (id == NULL || !in_doubt(r, id))
            continue;
        const struct finding *const f = results_find(r, id);
        buf_printf(out, "\n%s is in doubt: %s\n", id,
                   f->because != NULL ? f->because : "not said why");
    }
}

static double number_of(const struct results *r, const char *id)
{
    const struct finding *const f = results_find(r, id);
    return f != NULL && f->value.kind == VALUE_NUMBER ? f->value.number : 0;
}

static int validation_write(const struct results *r,
                            const struct report_style *style, struct buf *out,
                            struct error *err)
{
    (void)style;
    if (results_find(r, "predicted.loads") == NULL &&
        results_find(r, "predicted.means") == NULL)
        return error_set(err, ERR_USAGE,
                         "nothing of it was validated: `sonde validate`");
    for (size_t i = 0; i < r->finding_count; i++) {
        const char *const id = subject_of(r->findings[i]);
        if (was_asked(r->findings[i]) && is_new(r, i, id))
            put_component(r, id, out);
    }
    put_unasked(r, out);
    put_doubts(r, out);
    buf_printf(out,
               "\nOf %.0f loads of held-out experiments %.4g %% are found "
               "where the findings foretell,\nand %.4g %% of %.0f mean costs "
               "are within 5 %%.\n",
               number_of(r, "predicted.loads"),
               100 * number_of(r, "predicted.loads_right"),
               100 * number_of(r, "predicted.means_right"),
               number_of(r, "predicted.means"));
    return 0;
}

const struct report_format report_validation = {
    .name = "validation",
    .summary = "how far the findings foretell what no study asked",
    .write = validation_write,
};
