/*
 * The parts of the page in HTML.  Whatever a report says goes through
 * html_text; all other text is ours.
 */
#ifndef SONDE_REPORT_HTML_HTML_H
#define SONDE_REPORT_HTML_HTML_H

#include "finding/finding.h"
#include "report/writer.h"

struct html {
    const struct results *results;
    struct buf *out;
    double clock_hz; /* of the SM; 0: not known */
};

void html_text(const struct html *html, const char *text);
/* An element of that name with nothing but the text. */
void html_element(const struct html *html, const char *tag, const char *text);
/* "L1 cache: size"; the caller frees. */
char *html_name(const char *id);

/* Up to the heading, which is the title. */
void html_open(const struct html *html, const char *title);
/* The style sheet and the script, each an element of its own. */
void html_style(struct buf *out);
void html_script(struct buf *out);

/* Which GPU, what is in it, what stays open. */
void html_answer(const struct html *html);
/* All that is drawn, in sections, of which the names are listed beforehand. */
struct figures;
struct figures *figures_of(const struct html *html);
void figures_links(const struct figures *figures);
void figures_write(const struct figures *figures);
void figures_free(struct figures *figures);
/* What instructions cost; false, and nothing is written, where nobody asked. */
bool html_instructions(const struct html *html);
/* Every finding that is no cost of an instruction, with its evidence. */
void html_findings(const struct html *html);

#endif
