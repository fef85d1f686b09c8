/*
 * Lines of a text report: a rail (the branches of a tree), a label, and text
 * that is wrapped under itself.  Whatever is put here may come from a file
 * that somebody else wrote, so control characters never reach the terminal.
 */
#ifndef SONDE_REPORT_PAGE_H
#define SONDE_REPORT_PAGE_H

#include <stdbool.h>

#include "base/buf.h"

enum { PAGE_WIDTH = 100 };

enum tone { TONE_PLAIN, TONE_STRONG, TONE_FAINT, TONE_DOUBT, TONE_COUNT };

struct page {
    struct buf *out;
    bool color; /* tones are shown */
    bool ascii; /* what is not ASCII is written with what is */
};

struct line {
    const char *rail;
    const char *label; /* of the first line */
    enum tone label_tone;
    size_t column; /* where the text begins, if the label is shorter */
    const char *text;
    enum tone tone;
};

/* One line, or more where the text does not fit; NULL is "". */
void page_line(const struct page *page, const struct line *line);

#endif
