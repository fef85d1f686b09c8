/* How kinds of boxes look, in light, in dark and on paper. */
#ifndef SONDE_REPORT_PICTURE_STYLE_H
#define SONDE_REPORT_PICTURE_STYLE_H

#include "base/buf.h"

/* A <style> element.  All its rules are for what is in a .sonde-picture, and
 * each colour is a variable of that, which a page may set otherwise. */
void style_write(struct buf *out);

#endif
