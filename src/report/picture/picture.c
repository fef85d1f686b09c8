/* Boxes as elements of SVG.  What a box is and how far it holds are classes; a
 * style sheet within says how these look, in light, in dark and on paper. */
#include "report/picture/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/markup.h"
#include "report/picture/box.h"
#include "report/picture/machine.h"

/* Narrow, so that the text is still to be read where 400 pixels are all. */
enum { WIDTH = 780, HATCH = 7, ROUND = 4 };

static const char style_sheet[] =
    ".sonde-picture{--ink:#1b1b1b;--faint:#555;--paper:#fff;--edge:#666;"
    "--doubt:#a33c00;--hatch:#bbb;--gpu:#f4f4f2;--sm:#fff;--memory:#f9e3e0;"
    "--l2:#e0ebf8;--data:#e0ebf8;--shared:#dff1ee;--constant:#e8f2da;"
    "--code:#fdf0cf;--translation:#ece5f5;"
    "font-family:\"Helvetica Neue\",Arial,\"Liberation Sans\",\"DejaVu Sans\","
    "sans-serif;font-size:14px;max-width:100%;height:auto}"
    "@media (prefers-color-scheme:dark){.sonde-picture{--ink:#eee;"
    "--faint:#b0b0b0;--paper:#16181b;--edge:#8a8a8a;--doubt:#ffab70;"
    "--hatch:#555;--gpu:#1e2125;--sm:#16181b;--memory:#4a2b28;--l2:#22354d;"
    "--data:#22354d;--shared:#1d403b;--constant:#31401f;--code:#4a3d17;"
    "--translation:#392e4d}}"
    ".sonde-picture text{fill:var(--ink)}"
    ".sonde-picture .box{stroke:var(--edge);fill:var(--sm)}"
    ".sonde-picture .title{font-size:16px;font-weight:bold}"
    ".sonde-picture .label,.sonde-picture .note{fill:var(--faint)}"
    ".sonde-picture .bound>.box{stroke-dasharray:5 3;stroke-width:1.5}"
    ".sonde-picture .doubt>.text{fill:var(--doubt)}"
    ".sonde-picture .hatch{stroke:var(--hatch);fill:none}";

static void put_length(struct buf *out, const char *name, double length)
{
    buf_printf(out, " %s=\"%.5g\"", name, round(length * 10) / 10);
}

static void put_tip(struct buf *out, const char *tip)
{
    if (tip == NULL || tip[0] == '\0')
        return;
    buf_text(out, "<title>");
    for (const char *line = tip; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        char *const text = xstrndup(line, length);
        buf_text(out, line > tip ? "\n" : "");
        markup_text(out, text);
        free(text);
        line += length + (line[length] == '\n');
    }
    buf_text(out, "</title>");
}

/* The text, or as much of it as fits, with an ellipsis. */
static void put_text(struct buf *out, const char *class, double x, double y,
                     const char *text, double size, double width)
{
    char *whole = NULL;
    if (text_extent(text, size) > width + 0.01) { /* of rounding */
        const size_t fits = text_fitting(text, size, width - size);
        whole = xasprintf("%.*s…", (int)fits, text);
    }
    buf_printf(out, "<text class=\"%s\"", class);
    put_length(out, "x", x);
    put_length(out, "y", y);
    buf_text(out, ">");
    markup_text(out, whole != NULL ? whole : text);
    buf_text(out, "</text>");
    free(whole);
}

static void put_rectangle(struct buf *out, const struct box *b)
{
    buf_text(out, "<rect class=\"box\"");
    put_length(out, "x", b->place.x);
    put_length(out, "y", b->place.y);
    put_length(out, "width", b->place.width);
    put_length(out, "height", b->place.height);
    buf_printf(out, " rx=\"%d\" style=\"fill:var(--%s)\"/>", ROUND, b->kind);
}

/* Lines from the left and the bottom edge up to the top and the right one. */
static void put_hatch(struct buf *out, const struct place *p)
{
    buf_text(out, "<path class=\"hatch\" d=\"");
    for (double d = HATCH; d < p->width + p->height; d += HATCH) {
        const double left = fmax(0, d - p->height), right = fmin(d, p->width);
        buf_printf(out, "M%.5g %.5gL%.5g %.5g", p->x + left,
                   p->y + fmin(d, p->height), p->x + right,
                   p->y + fmax(0, d - p->width));
    }
    buf_text(out, "\"/>");
}

static const char *const mark_classes[MARK_COUNT] = {
    [MARK_PLAIN] = "",
    [MARK_BOUND] = " bound",
    [MARK_DOUBT] = " doubt",
    [MARK_MISSING] = " missing",
};

static void put_row(struct buf *out, const struct row *row)
{
    const struct place *const p = &row->place;
    const double baseline = p->y + ROW_LINE - (ROW_LINE - ROW_SIZE);
    buf_printf(out, "<g class=\"row%s\">", mark_classes[row->mark]);
    put_tip(out, row->tip);
    put_text(out, "label", p->x, baseline, row->label, ROW_SIZE, p->width);
    put_text(out, "text", p->x + row->indent, baseline, row->text, ROW_SIZE,
             p->width - row->indent);
    buf_text(out, "</g>");
}

static void put_title(struct buf *out, const struct box *b)
{
    const double x = b->place.x + BOX_PAD, room = b->place.width - 2 * BOX_PAD;
    if (b->title != NULL)
        put_text(out, "title", x, b->place.y + BOX_PAD + TITLE_SIZE - 2,
                 b->title, TITLE_SIZE, room);
}

static void put_box(struct buf *out, const struct box *b)
{
    buf_printf(out, "<g class=\"%s%s\"", b->kind != NULL ? b->kind : "group",
               mark_classes[b->mark]);
    if (b->component != NULL)
        buf_printf(out, " data-component=\"%s\"", b->component);
    buf_text(out, ">");
    put_tip(out, b->tip);
    if (b->kind != NULL)
        put_rectangle(out, b);
    if (b->mark == MARK_MISSING)
        put_hatch(out, &b->place);
    put_title(out, b);
    for (size_t i = 0; i < b->row_count; i++)
        put_row(out, &b->row[i]);
    for (const struct box *c = b->first; c != NULL; c = c->next)
        put_box(out, c);
    buf_text(out, "</g>\n");
}

void picture_write(const struct results *results, struct buf *out)
{
    struct arena arena = {0};
    struct box *const gpu = machine_boxes(results, &arena);
    box_lay(gpu, WIDTH);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" "
               "class=\"sonde-picture\" viewBox=\"0 0 %d %.0f\" "
               "width=\"%d\">\n<title>",
               WIDTH, ceil(gpu->place.height), WIDTH);
    markup_text(out, gpu->title);
    buf_printf(out, "</title><style>%s</style>\n", style_sheet);
    put_box(out, gpu);
    buf_text(out, "</svg>\n");
    arena_empty(&arena);
}
