/*
 * A figure: what is concluded, the plot, the experiment that repeats it, and
 * the numbers that were drawn.
 */
#ifndef SONDE_REPORT_HTML_FIGURE_H
#define SONDE_REPORT_HTML_FIGURE_H

#include "report/html/html.h"

void figure_open(const struct html *html, const struct finding *finding);
void figure_close(const struct html *html);
/* "Repeat: sonde probe …", for the shell that one types it into; all after the
 * first few are only counted.  Of none the study is repeated. */
void figure_repeat(const struct html *html, const char *study,
                   char *const *evidence, size_t count);

/* The numbers, in a table that is closed at first. */
void data_open(const struct html *html, const char *what, size_t count);
void data_head(const struct html *html, const char *name, const char *unit);
void data_row(const struct html *html);
/* NaN: none. */
void data_number(const struct html *html, double number);
void data_text(const struct html *html, const char *text);
void data_value(const struct html *html, const struct value *value);
/* With what else there is to say of how the finding came about. */
void data_close(const struct html *html, const struct finding *finding);

#endif
