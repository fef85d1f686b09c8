/* A report as a tree of boxes. */
#ifndef SONDE_REPORT_PICTURE_MACHINE_H
#define SONDE_REPORT_PICTURE_MACHINE_H

#include "report/picture/storage_box.h"

/* Not laid out yet; all of it in the arena. */
struct box *machine_boxes(const struct results *results, struct arena *arena);

#endif
