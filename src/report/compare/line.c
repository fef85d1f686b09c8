/* A comparison in a line, for a log or a job's prolog: what differs, the
 * furthest first, and how much else does. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/compare/compare.h"
#include "report/grid.h"

/* More than these a line does not hold. */
enum { NAMED_MOST = 4 };

static bool is_told(const struct compare_row *row)
{
    return row->worst == VERDICT_DIFFERS || row->worst == VERDICT_LOST;
}

/* "l2.slices 94, was 96"; of a number also by how much it is beyond. */
static void put_row(const struct compare_row *row, struct buf *out)
{
    char *const base = grid_words(row->base);
    const struct finding *const other = row->other[0];
    const bool lost = other == NULL || other->value.kind == VALUE_NONE;
    char *const now = lost ? xstrdup("not measured") : grid_words(other);
    buf_printf(out, "%s %s, was %s", row->id, now, base);
    if (isfinite(row->beyond) && row->beyond > 0 && !lost)
        buf_printf(out, " (%.2g %% beyond)", 100 * row->beyond);
    free(base);
    free(now);
}

void compare_line(const struct comparison *c, struct buf *out)
{
    size_t told = 0;
    if (compare_alike(c))
        buf_printf(out, "%zu findings alike", c->row_count);
    for (size_t i = 0; i < c->row_count; i++) {
        if (!is_told(&c->rows[i]) || told++ >= NAMED_MOST)
            continue;
        buf_text(out, told > 1 ? "; " : "");
        put_row(&c->rows[i], out);
    }
    if (told > NAMED_MOST)
        buf_printf(out, "; and %zu more", told - NAMED_MOST);
    buf_text(out, "\n");
}
