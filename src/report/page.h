/*
 * Lines of a text report: a rail (the branches of a tree), a label, and text
 * that is wrapped under itself.  Whatever is put here may come from a file
 * that somebody else wrote, so control characters never reach the terminal.
 */
#ifndef SONDE_REPORT_PAGE_H
#define SONDE_REPORT_PAGE_H

#include <stdbool.h>

#include "base/buf.h"

enum { PAGE_WIDTH = 100, PAGE_NARROW = 80 };

enum tone { TONE_PLAIN, TONE_STRONG, TONE_FAINT, TONE_DOUBT, TONE_COUNT };

struct page {
    struct buf *out;
    bool color;   /* tones are shown */
    bool ascii;   /* what is not ASCII is written with what is */
    size_t width; /* columns; 0: PAGE_WIDTH */
};

struct line {
    const char *rail;
    const char *label; /* of the first line */
    enum tone label_tone;
    size_t column; /* where the text begins, if the label is shorter */
    const char *text;
    enum tone tone;
};

size_t page_width(const struct page *page);
/* Columns that a text takes: one a character. */
size_t page_columns(const char *text);

/* One line, or more where the text does not fit; NULL is "". */
void page_line(const struct page *page, const struct line *line);

#endif
