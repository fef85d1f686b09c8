#include "report/export/known.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/quantity.h"

const struct finding *known(const struct results *results, const char *id)
{
    const struct finding *const f = results_find(results, id);
    if (f == NULL || f->value.kind == VALUE_NONE ||
        (f->status != STATUS_MEASURED && f->status != STATUS_REPORTED &&
         f->status != STATUS_DERIVED))
        return NULL;
    return f;
}

bool known_number(const struct results *results, const char *id, double *number)
{
    const struct finding *const f = known(results, id);
    if (f == NULL ||
        (f->value.kind != VALUE_NUMBER && f->value.kind != VALUE_BOOL) ||
        !isfinite(f->value.number) || f->value.number < 0)
        return false;
    *number = f->value.number;
    return true;
}

const char *known_word(const struct results *results, const char *id)
{
    const struct finding *const f = known(results, id);
    return f != NULL && f->value.kind == VALUE_TEXT ? f->value.text : NULL;
}

bool known_has_word(const struct results *results, const char *id,
                    const char *word)
{
    const struct finding *const f = known(results, id);
    if (f == NULL || f->value.kind != VALUE_LIST)
        return f != NULL && f->value.kind == VALUE_TEXT &&
               strcmp(f->value.text, word) == 0;
    for (size_t i = 0; i < f->value.count; i++)
        if (f->value.items[i].kind == VALUE_TEXT &&
            strcmp(f->value.items[i].text, word) == 0)
            return true;
    return false;
}

void known_value(struct buf *out, const struct finding *f)
{
    const double number = f->value.number;
    if (f->value.kind != VALUE_NUMBER || !isfinite(number)) {
        quantity_value(out, &f->value, 0, f->unit);
        return;
    }
    const bool whole =
        fabs(number) < 0x1p53 && !islessgreater(fmod(number, 1), 0);
    buf_printf(out, whole ? "%.0f" : "%.10g", number);
    if (f->unit[0] != '\0')
        buf_printf(out, " %s", f->unit);
}

static const char *status_words(enum finding_status status)
{
    static const char *const words[] = {
        [STATUS_MEASURED] = "measured",
        [STATUS_IN_DOUBT] = "is in doubt",
        [STATUS_REPORTED] = "reported by the driver",
        [STATUS_DERIVED] = "derived",
        [STATUS_AT_LEAST] = "is a bound, at least",
        [STATUS_AT_MOST] = "is a bound, at most",
        [STATUS_NOT_MEASURED] = "is not measured",
    };
    _Static_assert(COUNT_OF(words) == STATUS_COUNT, "words of each status");
    return words[status];
}

void known_say(struct buf *out, const struct results *results, const char *id)
{
    const struct finding *const f = results_find(results, id);
    buf_text(out, id);
    if (f == NULL) {
        buf_text(out, " is not in the report");
        return;
    }
    if (known(results, id) != NULL) {
        buf_text(out, " ");
        known_value(out, f);
        buf_printf(out, " (%s)", status_words(f->status));
        return;
    }
    buf_printf(out, " %s", status_words(f->status));
    if (f->value.kind != VALUE_NONE) {
        buf_text(out, " ");
        known_value(out, f);
    }
    if (f->because != NULL)
        buf_printf(out, ": %s", f->because);
}

static bool ran(const struct results *results, const char *how)
{
    const struct value *const v = results_of_run(results, how);
    return v != NULL && v->kind == VALUE_BOOL && v->number > 0;
}

void known_origin(struct buf *out, const struct results *results)
{
    buf_printf(out, "sonde %s",
               results->version != NULL ? results->version : "");
    if (ran(results, "simulated"))
        buf_text(out, ", of a simulated GPU");
    if (ran(results, "replayed"))
        buf_text(out, ", from a recording");
}
