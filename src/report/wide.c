#include "report/wide.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

enum { CELL_MOST = 28, GAP = 2 };

void wide_put(struct wide *w, const char *text)
{
    w->cell = xreallocarray(w->cell, w->cells + 1, sizeof *w->cell);
    w->cell[w->cells++] = text_plain(text[0] != '\0' ? text : "–");
}

void wide_free(struct wide *w)
{
    for (size_t i = 0; i < w->cells; i++)
        free(w->cell[i]);
    free(w->cell);
    *w = (struct wide){0};
}

static size_t width_of(const struct wide *w, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < w->cells; i += w->columns) {
        const size_t columns = page_columns(w->cell[i]);
        width = columns > width ? columns : width;
    }
    return column > 0 && width > CELL_MOST ? CELL_MOST : width;
}

/* The text, or as much of it as fits, and blanks to where the next begins. */
static void put_cell(struct buf *line, const char *text, size_t width)
{
    size_t bytes = 0, used = 0;
    const bool cut = page_columns(text) > width;
    for (; text[bytes] != '\0' && used + cut < width; used++)
        bytes += text_character(text + bytes).bytes;
    buf_append(line, text, bytes);
    if (cut)
        buf_text(line, "…");
    for (used += cut; used < width + GAP; used++)
        buf_text(line, " ");
}

void wide_write(const struct wide *w, const struct page *page)
{
    struct page whole = *page;
    size_t *const widths = xcalloc(w->columns, sizeof *widths);
    whole.width = 0;
    for (size_t i = 0; i < w->columns; i++) {
        widths[i] = width_of(w, i);
        whole.width += widths[i] + GAP;
    }
    for (size_t row = 0; row + w->columns <= w->cells; row += w->columns) {
        struct buf line = {0};
        for (size_t i = 0; i < w->columns; i++)
            put_cell(&line, w->cell[row + i], widths[i]);
        page_line(&whole,
                  &(struct line){.text = line.data,
                                 .tone = row == 0 ? TONE_STRONG : TONE_PLAIN});
        buf_free(&line);
    }
    free(widths);
}
