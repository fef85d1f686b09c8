/* What the parts of the text report share: the page, and how a finding gets
 * its lines there. */
#ifndef SONDE_REPORT_WRITER_H
#define SONDE_REPORT_WRITER_H

#include "report/page.h"
#include "report/report.h"

struct writer {
    const struct results *results;
    const struct report_style *style;
    struct page page;
    size_t column;   /* where values begin */
    double clock_hz; /* of the SM; 0: not known */
};

/* The SM clock as it ran while measuring, or else as the driver tells it; 0 if
 * neither is known, or it was now this and now that. */
double writer_clock(const struct results *results);
struct page writer_page(const struct report_style *style, struct buf *out);
/* A finding under this label; with -v also how it came about. */
void writer_finding(const struct writer *writer, const char *rail,
                    const char *label, const struct finding *finding);
/* What a person is to read last, if there is something. */
void writer_notice(const struct writer *writer);

#endif
