#include "report/grid.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "finding/axis.h"
#include "report/label.h"
#include "report/number.h"
#include "report/quantity.h"

/* True if one of the first so many reports has it. */
static bool is_known(const struct grid *g, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (results_find(g->results[i], id) != NULL)
            return true;
    return false;
}

struct grid grid_of(const struct results *const *results, size_t count)
{
    struct grid g = {.results = results,
                     .count = count,
                     .labels = labels_of(results, count)};
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most += results[i]->finding_count;
    g.ids = xcalloc(most + 1, sizeof *g.ids);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < results[i]->finding_count; k++)
            if (!is_known(&g, i, results[i]->findings[k]->id))
                g.ids[g.rows++] = results[i]->findings[k]->id;
    return g;
}

void grid_free(struct grid *g)
{
    labels_free(g->labels, g->count);
    free(g->ids);
    *g = (struct grid){0};
}

static const char *mark_of(const struct finding *f)
{
    switch (f->status) {
    case STATUS_AT_LEAST:
        return "≥ ";
    case STATUS_AT_MOST:
        return "≤ ";
    case STATUS_IN_DOUBT:
        return "? ";
    default:
        return "";
    }
}

char *grid_words(const struct finding *f)
{
    if (f == NULL || f->skipped)
        return xstrdup("");
    if (f->value.kind == VALUE_NONE)
        return xstrdup("not measured");
    struct buf text = {0};
    buf_text(&text, mark_of(f));
    if (text_glob("*.side_bits", f->id)) /* one XOR, and no list */
        quantity_item(&text, &f->value);
    else
        quantity_value(&text, &f->value, 0, f->unit);
    return buf_take(&text);
}

char *grid_exact(const struct finding *f)
{
    struct buf text = {0};
    double factor;
    const char *const unit = quantity_scale(f->value.number, f->unit, &factor);
    buf_text(&text, mark_of(f));
    number_put(&text, number_rounded(f->value.number / factor));
    buf_printf(&text, "%s%s", unit[0] != '\0' ? " " : "", unit);
    return buf_take(&text);
}

char *grid_item(const struct finding *f, size_t i, bool place)
{
    struct buf text = {0};
    if (place) {
        struct axis axis = axis_of(f);
        buf_printf(&text, "%s ", axis.name);
        quantity_value(&text, &axis.values.items[i], 0, axis.unit);
        buf_text(&text, ": ");
        value_free(&axis.values);
    }
    buf_text(&text, mark_of(f));
    quantity_value(&text, &f->value.items[i], 0, f->unit);
    return buf_take(&text);
}

char *grid_cell(const struct grid *g, size_t row, size_t column)
{
    return grid_words(results_find(g->results[column], g->ids[row]));
}
