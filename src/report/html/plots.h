/* How a finding is drawn. */
#ifndef SONDE_REPORT_HTML_PLOTS_H
#define SONDE_REPORT_HTML_PLOTS_H

#include "finding/curve.h"
#include "report/html/html.h"

/* Plots of these curves of the finding, those of the same axes in one. */
void plots_of_curves(const struct html *html, const struct finding *finding,
                     const struct finding_curve *const *curves, size_t count);
/* The plot of a list; false, and nothing is written, where its value is nothing
 * that one would draw. */
bool plots_can_list(const struct finding *finding);
void plots_of_list(const struct html *html, const struct finding *finding);

/* Candidates for a policy, by how well each explains what was seen; a finding of
 * no others has none. */
bool plots_can_policy(const struct finding *finding);
void plots_of_policy(const struct html *html, const struct finding *finding);

#endif
