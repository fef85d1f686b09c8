/*
 * Candidates for a replacement policy: the protocol of the finding says of each
 * how many loads are as it predicts, and how likely all are under it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/html/figure.h"
#include "report/html/plots.h"
#include "report/plot/bars.h"

static const char agrees[] = "agrees_", likelihood[] = "likelihood_";

enum { CANDIDATES_MOST = 16 };

struct candidates {
    struct candidate {
        const char *name;
        double agrees, likelihood; /* percent; natural logarithm, of a load */
    } at[CANDIDATES_MOST];
    size_t count;
};

static double number_said(const struct finding *f, const char *what,
                          const char *policy)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", what, policy);
    const struct value *const v = finding_said(f, name);
    return v != NULL && v->kind == VALUE_NUMBER ? v->number : NAN;
}

static struct candidates candidates_of(const struct finding *f)
{
    struct candidates c = {.count = 0};
    for (size_t i = 0; i < f->protocol_count; i++) {
        const char *const entry = f->protocol[i].name;
        if (strncmp(entry, agrees, sizeof agrees - 1) != 0 ||
            c.count == CANDIDATES_MOST)
            continue;
        const char *const name = entry + sizeof agrees - 1;
        c.at[c.count++] =
            (struct candidate){name, 100 * number_said(f, agrees, name),
                               number_said(f, likelihood, name)};
    }
    return c;
}

/* What another storage is told by is drawn there. */
bool plots_can_policy(const struct finding *f)
{
    return candidates_of(f).count > 1 &&
           finding_said(f, "same_storage_as") == NULL;
}

static void put_data(const struct html *h, const struct finding *f,
                     const struct candidates *c)
{
    data_open(h, "candidates", c->count);
    data_head(h, "policy", "");
    data_head(h, "loads as predicted", "%");
    data_head(h, "log-likelihood of a load", "");
    buf_text(h->out, "</tr></thead>");
    for (size_t i = 0; i < c->count; i++) {
        data_row(h);
        data_text(h, c->at[i].name);
        data_number(h, c->at[i].agrees);
        data_number(h, c->at[i].likelihood);
        buf_text(h->out, "</tr>");
    }
    data_close(h, f);
}

/* By likelihood, which is what decides, where a report has it. */
void plots_of_policy(const struct html *h, const struct finding *f)
{
    const struct candidates c = candidates_of(f);
    const bool likely = !isnan(c.at[0].likelihood);
    struct bar bar[CANDIDATES_MOST];
    for (size_t i = 0; i < c.count; i++)
        bar[i] = (struct bar){c.at[i].name,
                              likely ? c.at[i].likelihood : c.at[i].agrees, NAN,
                              NAN};
    figure_open(h, f);
    bars_write(&(struct bars){.label = "candidates for the policy",
                              .name = likely ? "log-likelihood of a load"
                                             : "loads as predicted",
                              .unit = likely ? "" : "%",
                              .bar = bar,
                              .count = c.count},
               h->out);
    figure_repeat(h, f->study, f->evidence, f->evidence_count);
    put_data(h, f, &c);
    figure_close(h);
}
