/* What the marks of a picture mean. */
#ifndef SONDE_REPORT_PICTURE_LEGEND_H
#define SONDE_REPORT_PICTURE_LEGEND_H

#include "report/picture/box.h"

/* Adds a box of those marks that are in the tree, if there are any. */
void legend_add(struct arena *arena, struct box *tree);

#endif
