/* The memory hierarchy as a picture. */
#include "report/report.h"

#include "report/picture/picture.h"

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

const struct report_format report_svg = {
    .name = "svg",
    .summary = "a picture of the memory hierarchy",
    .write = svg_write,
};
