/* The memory hierarchy as a picture; of several GPUs what lies between them. */
#include "report/report.h"

#include "report/merge.h"
#include "report/picture/picture.h"
#include "report/plot/draw.h"
#include "report/plot/pairs.h"

static int svg_write(const struct results *results,
                     const struct report_style *style, struct buf *out,
                     struct error *err)
{
    (void)style;
    (void)err;
    buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    picture_write(results, out);
    return 0;
}

/* ---- several ------------------------------------------------------------ */

/* A title, and room below its matrix. */
enum { TITLE = 22, BELOW = 16, EDGE = 8 };

/* In light and in dark; the contrasts are those of the page, whose colours they
 * are. */
static const char style_of_pairs[] =
    "text{font:12px system-ui,sans-serif;fill:#1a1a1a}.tick{fill:#595959}"
    ".incell{font-size:11px}.title{font-weight:bold}.back{fill:#ffffff}"
    ".g0{fill:#b9dcf2}.cell.none{fill:none;stroke:#d0d0d0}\n"
    "@media screen and (prefers-color-scheme:dark){text{fill:#e8e8e8}"
    ".tick{fill:#a8a8a8}.back{fill:#16181c}.g0{fill:#1d4b66}"
    ".cell.none{stroke:#44474d}}\n";

static double height_of(const struct pairs_list *pairs)
{
    double height = EDGE;
    for (size_t i = 0; i < pairs->count; i++)
        height += TITLE + matrix_height(&pairs->at[i].matrix) + BELOW;
    return height;
}

static void put_pairs(const struct pairs_list *pairs, struct buf *out)
{
    const double height = height_of(pairs);
    double y = EDGE;
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" "
               "viewBox=\"%d %d %d %.0f\" width=\"%d\">\n"
               "<title>links between GPUs</title>\n<style>\n%s",
               -EDGE, 0, DRAW_WIDTH + 2 * EDGE, height,
               2 * (DRAW_WIDTH + 2 * EDGE), style_of_pairs);
    matrix_style(out);
    buf_text(out, "</style>\n");
    draw_box(out, "back", (struct at){-EDGE, 0},
             (struct at){DRAW_WIDTH + EDGE, height}, NULL);
    for (size_t i = 0; i < pairs->count; i++) {
        draw_text(out, "title", (struct at){0, y + TITLE - 8}, DRAW_START,
                  pairs->at[i].title);
        matrix_draw(&pairs->at[i].matrix, y + TITLE, out);
        y += TITLE + matrix_height(&pairs->at[i].matrix) + BELOW;
    }
    buf_text(out, "</svg>\n");
}

static int svg_write_several(const struct results *const *results, size_t count,
                             const struct report_style *style, struct buf *out,
                             struct error *err)
{
    struct pairs_list pairs = pairs_of(results, count);
    const bool any = pairs.count > 0;
    (void)style;
    if (any)
        put_pairs(&pairs, out);
    pairs_free(&pairs);
    if (any)
        return 0;
    merge_refuse(results[0], results[1], false, err);
    return error_prefix(err, "svg takes reports of one GPU, or what `sonde run "
                             "links` found of several");
}

const struct report_format report_svg = {
    .name = "svg",
    .summary = "a picture of the memory hierarchy; of several GPUs their links",
    .write = svg_write,
    .write_several = svg_write_several,
};
