#include "report/screen/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Between columns; one where two would not fit. */
enum { GAP = 2, NOTE_COLUMN = 2 };

struct columns_row *columns_add(struct columns *c)
{
    c->row = xreallocarray(c->row, c->rows + 1, sizeof *c->row);
    c->row[c->rows] = (struct columns_row){0};
    return &c->row[c->rows++];
}

void columns_note(struct columns *c, const char *text)
{
    columns_add(c)->note = xstrdup(text);
}

void columns_free(struct columns *c)
{
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = 0; k < CELLS_MOST; k++)
            free(c->row[i].cell[k]);
        free(c->row[i].note);
    }
    free(c->row);
    *c = (struct columns){0};
}

/* What is shown: how wide each column is, 0 for one that is not. */
struct layout {
    size_t width[CELLS_MOST], gap;
};

bool columns_used(const struct columns *c, size_t k)
{
    for (size_t i = 0; i < c->rows; i++)
        if (!c->row[i].heading && c->row[i].cell[k] != NULL)
            return true;
    return false;
}

static size_t width_of(const struct columns *c, size_t k)
{
    size_t width = page_columns(c->column[k].heading);
    for (size_t i = 0; i < c->rows; i++) {
        const char *const cell = c->row[i].cell[k];
        const size_t columns = cell != NULL ? page_columns(cell) : 0;
        width = columns > width ? columns : width;
    }
    return width;
}

static size_t whole_width(const struct layout *l)
{
    size_t width = 0;
    for (size_t k = 0; k < CELLS_MOST; k++)
        if (l->width[k] > 0)
            width += l->width[k] + (width > 0 ? l->gap : 0);
    return width;
}

static struct layout layout_of(const struct columns *c, size_t room)
{
    struct layout l = {.gap = GAP};
    size_t count = 0;
    for (; c->column[count].heading != NULL; count++)
        l.width[count] = columns_used(c, count) ? width_of(c, count) : 0;
    if (whole_width(&l) > room)
        l.gap = 1;
    for (size_t k = count; k > 0 && whole_width(&l) > room; k--)
        if (c->column[k - 1].spare)
            l.width[k - 1] = 0;
    return l;
}

static void put_spaces(struct buf *line, size_t count)
{
    for (; count > 0; count--)
        buf_text(line, " ");
}

static void put_cell(const struct columns *c, const struct layout *l, size_t k,
                     const char *text, struct buf *line)
{
    if (l->width[k] == 0)
        return;
    const size_t pad = l->width[k] - page_columns(text);
    put_spaces(line, line->length > 0 ? l->gap : 0);
    put_spaces(line, c->column[k].left ? 0 : pad);
    buf_text(line, text);
    put_spaces(line, c->column[k].left ? pad : 0);
}

/* NULL: the headings of the columns. */
static void put_row(const struct columns *c, const struct layout *l,
                    const struct columns_row *row, const struct page *page)
{
    struct buf line = {0};
    for (size_t k = 0; c->column[k].heading != NULL; k++) {
        const char *const text =
            row == NULL ? c->column[k].heading : row->cell[k];
        put_cell(c, l, k, text != NULL ? text : "", &line);
    }
    const bool faint = row == NULL || row->heading;
    page_line(page,
              &(struct line){.label = buf_string(&line),
                             .label_tone = faint ? TONE_FAINT : TONE_PLAIN});
    buf_free(&line);
}

void columns_write(struct columns *c, const struct page *page)
{
    const struct layout l = layout_of(c, page_width(page));
    c->shown = 0;
    for (size_t k = 0; k < CELLS_MOST; k++)
        c->shown |= (unsigned)(l.width[k] > 0) << k;
    put_row(c, &l, NULL, page);
    for (size_t i = 0; i < c->rows; i++) {
        if (c->row[i].note == NULL)
            put_row(c, &l, &c->row[i], page);
        else
            page_line(page, &(struct line){.column = NOTE_COLUMN,
                                           .text = c->row[i].note});
    }
}
