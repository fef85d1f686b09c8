/*
 * What instructions cost as a table: a line each under its category, a column
 * for each level of the assembler, throughput, and the machine code.
 */
#include <stdio.h>
#include <string.h>

#include "report/costs.h"
#include "report/headline.h"
#include "report/report.h"
#include "report/screen/screen.h"
#include "report/writer.h"

enum { NUMBER_WIDTH = 9, NAME_LEAST = 18, NAME_MOST = 30, LINE_MOST = 256 };

struct table {
    const struct writer *writer;
    const struct costs *costs;
    size_t name_width;
    bool any_unread, any_bound, any_most, any_doubt;
};

static void put_line(const struct table *t, const char *head,
                     enum tone head_tone, const char *text, enum tone tone)
{
    page_line(&t->writer->page, &(struct line){.label = head,
                                               .label_tone = head_tone,
                                               .text = text,
                                               .tone = tone});
}

static size_t name_width(const struct costs *costs)
{
    size_t width = NAME_LEAST;
    for (size_t i = 0; i < costs->count; i++) {
        const size_t length = strlen(costs->rows[i].name);
        width = length > width && length <= NAME_MOST ? length : width;
    }
    return width + 2;
}

static void put_heading(const struct table *t)
{
    char line[LINE_MOST];
    int at = snprintf(line, sizeof line, "%-*s", (int)t->name_width,
                      "latency in cycles");
    for (int level = COST_LEVELS - 1; level >= 0; level--)
        if (t->costs->level[level])
            at += snprintf(line + at, sizeof line - (size_t)at, "%*s%d",
                           NUMBER_WIDTH - 1, "-O", level);
    snprintf(line + at, sizeof line - (size_t)at, "%*s", NUMBER_WIDTH + 2,
             "/clk/SM");
    put_line(t, line, TONE_FAINT, "machine code", TONE_FAINT);
}

/* "4.0", "?4.0" where it is in doubt, "-" where it was not measured. */
static void number_text(const struct finding *f, char *text, size_t room)
{
    double number = f != NULL ? f->value.number : 0;
    const char *mark = "";
    if (f == NULL || f->value.kind != VALUE_NUMBER) {
        snprintf(text, room, "%s", f == NULL ? "" : "-");
        return;
    }
    if (f->status == STATUS_AT_LEAST)
        mark = ">";
    else if (f->status == STATUS_AT_MOST)
        mark = "<";
    else if (f->status == STATUS_IN_DOUBT)
        mark = "?";
    else if (f->has_interval && f->interval[1] - f->interval[0] > 0.1 &&
             f->interval[1] - f->interval[0] > 0.02 * number)
        mark = "~";
    snprintf(text, room, "%s%.1f", mark, number);
}

static void put_number(const struct finding *f, char *line, int *at)
{
    char text[32];
    number_text(f, text, sizeof text);
    *at += snprintf(line + *at, LINE_MOST - (size_t)*at, "%*s", NUMBER_WIDTH,
                    text);
}

/* Why there is no throughput, unless that was said of the latency. */
static void put_doubt(const struct table *t, const struct finding *f,
                      const char *said)
{
    if (f == NULL || f->status != STATUS_NOT_MEASURED || f->because == NULL ||
        (said != NULL && strcmp(said, f->because) == 0))
        return;
    page_line(&t->writer->page, &(struct line){.column = t->name_width,
                                               .label = "    throughput",
                                               .label_tone = TONE_FAINT,
                                               .text = f->because,
                                               .tone = TONE_DOUBT});
}

/* A name that is too long has a line of its own. */
static int put_name(const struct table *t, const char *name, char *line)
{
    const size_t room = t->name_width - 2;
    char shown[LINE_MOST];
    snprintf(shown, sizeof shown, "  %s", name);
    if (strlen(name) > room)
        put_line(t, shown, TONE_PLAIN, NULL, TONE_PLAIN);
    return snprintf(line, LINE_MOST, "  %-*s", (int)room,
                    strlen(name) > room ? "" : name);
}

static void put_row(struct table *t, const struct cost_row *row)
{
    char line[LINE_MOST];
    const char *const why = cost_row_because(row);
    const char *const code = cost_row_said(row, "machine_code");
    const char *const reading = cost_row_said(row, "code");
    int at = put_name(t, row->name, line);
    for (int level = COST_LEVELS - 1; level >= 0; level--)
        if (t->costs->level[level])
            put_number(row->latency[level], line, &at);
    put_number(row->throughput, line, &at);
    t->any_unread |= reading != NULL && strcmp(reading, "not read") == 0;
    t->any_bound |= strchr(line, '>') != NULL;
    t->any_most |= strchr(line, '<') != NULL;
    t->any_doubt |= strchr(line, '?') != NULL;
    page_line(&t->writer->page,
              &(struct line){.label = line,
                             .column = (size_t)at + 1,
                             .text = why != NULL ? why : code,
                             .tone = why != NULL ? TONE_DOUBT : TONE_FAINT});
    put_doubt(t, row->throughput, why);
}

static void put_notes(const struct table *t)
{
    if (t->any_unread)
        put_line(t, NULL, TONE_PLAIN,
                 "Machine code was not read on this device, so no number "
                 "here is proved by it.",
                 TONE_DOUBT);
    if (t->any_bound)
        put_line(t, NULL, TONE_PLAIN,
                 "> a bound: it still grew with the last chains and warps, or "
                 "the copies hold other instructions, too",
                 TONE_FAINT);
    if (t->any_doubt)
        put_line(t, NULL, TONE_PLAIN, "? in doubt: a check speaks against it",
                 TONE_FAINT);
    if (t->any_most)
        put_line(t, NULL, TONE_PLAIN,
                 "< a bound: the chain holds other instructions, too",
                 TONE_FAINT);
}

static void put_rows(struct table *t)
{
    const char *category = "";
    for (size_t i = 0; i < t->costs->count; i++) {
        const struct cost_row *const row = &t->costs->rows[i];
        if (strcmp(category, row->category) != 0)
            put_line(t, row->category, TONE_STRONG, NULL, TONE_PLAIN);
        category = row->category;
        put_row(t, row);
    }
}

static int table_write(const struct results *results,
                       const struct report_style *style, struct buf *out,
                       struct error *err)
{
    struct costs costs;
    (void)err;
    struct writer w = {
        .results = results,
        .style = style,
        .page = writer_page(style, out),
    };
    costs_collect(results, &costs);
    struct table t = {
        .writer = &w, .costs = &costs, .name_width = name_width(&costs)};
    headline_write(&w);
    page_line(&w.page, &(struct line){0});
    if (!screen_costs(&w, &costs)) {
        put_heading(&t);
        put_rows(&t);
        put_notes(&t);
    }
    writer_notice(&w);
    costs_free(&costs);
    return 0;
}

const struct report_format report_table = {
    .name = "table",
    .summary = "what instructions cost, as a table to read",
    .write = table_write,
};
