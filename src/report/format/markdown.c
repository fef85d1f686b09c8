/*
 * The report in Markdown, as GitHub and GitLab show it (tables of GFM): one GPU
 * with a table a component, several with a column a GPU.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/grid.h"
#include "report/phrase.h"
#include "report/quantity.h"
#include "report/report.h"

/* Text of anybody within a line.  A backslash before any of the marks makes it
 * plain (CommonMark 2.4), a bar in a table, too (GFM 4.10). */
static void put_text(struct buf *out, const char *text)
{
    char *const plain = text_plain(text);
    for (const char *c = plain; *c != '\0'; c++) {
        if (strchr("\\`*_[]<>|&~#!$", *c) != NULL)
            buf_text(out, "\\");
        buf_append(out, c, 1);
    }
    free(plain);
}

static void put_cell(struct buf *out, const char *text)
{
    buf_text(out, " ");
    put_text(out, text);
    buf_text(out, " |");
}

/* Ids are plain characters (report/read.c). */
static void put_id(struct buf *out, const char *id)
{
    buf_printf(out, "| `%s` |", id);
}

/* ---- one GPU ------------------------------------------------------------- */

static void put_entries(struct buf *out, const struct protocol_entry *entries,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buf text = {0};
        quantity_value(&text, &entries[i].value, 0, "");
        buf_text(out, "- ");
        put_text(out, entries[i].name);
        buf_text(out, ": ");
        put_text(out, buf_string(&text));
        buf_text(out, "\n");
        buf_free(&text);
    }
}

static void put_head(struct buf *out, const struct results *r)
{
    const struct value *const name = results_of_device(r, "name");
    buf_text(out, "# ");
    put_text(out, name != NULL && name->kind == VALUE_TEXT ? name->text
                                                           : "unnamed GPU");
    buf_text(out, "\n\n");
    put_entries(out, r->device, r->device_count);
    put_entries(out, r->run, r->run_count);
}

static size_t component_length(const char *id)
{
    return strcspn(id, ".");
}

static bool same_component(const char *a, const char *b)
{
    const size_t length = component_length(a);
    return length == component_length(b) && strncmp(a, b, length) == 0;
}

static void put_finding(struct buf *out, const struct finding *f)
{
    char *const words = grid_words(f);
    struct buf interval = {0};
    phrase_interval(&interval, f);
    put_id(out, f->id);
    put_cell(out, f->value.kind == VALUE_NONE ? "" : words);
    put_cell(out, buf_string(&interval));
    put_cell(out, finding_status_name(f->status));
    put_cell(out, f->because != NULL ? f->because : "");
    buf_text(out, "\n");
    buf_free(&interval);
    free(words);
}

/* True if the component of this finding was told with an earlier one. */
static bool is_told(const struct results *r, size_t at)
{
    size_t i = 0;
    while (!same_component(r->findings[i]->id, r->findings[at]->id))
        i++;
    return i < at;
}

static void put_component(struct buf *out, const struct results *r, size_t at)
{
    const char *const id = r->findings[at]->id;
    char *const component = xstrndup(id, component_length(id));
    buf_text(out, "\n## ");
    put_text(out, component);
    free(component);
    buf_text(out, "\n\n| finding | value | interval | status | because |\n"
                  "|---|---|---|---|---|\n");
    for (size_t i = at; i < r->finding_count; i++)
        if (same_component(r->findings[i]->id, id))
            put_finding(out, r->findings[i]);
}

static int markdown_write(const struct results *r,
                          const struct report_style *style, struct buf *out,
                          struct error *err)
{
    (void)style;
    (void)err;
    put_head(out, r);
    for (size_t i = 0; i < r->finding_count; i++)
        if (!is_told(r, i))
            put_component(out, r, i);
    if (r->notice != NULL) {
        buf_text(out, "\n");
        put_text(out, r->notice);
        buf_text(out, "\n");
    }
    return 0;
}

/* ---- several ------------------------------------------------------------- */

static int markdown_write_several(const struct results *const *results,
                                  size_t count,
                                  const struct report_style *style,
                                  struct buf *out, struct error *err)
{
    struct grid g = grid_of(results, count);
    (void)style;
    (void)err;
    buf_text(out, "| finding |");
    for (size_t i = 0; i < count; i++)
        put_cell(out, g.labels[i]);
    buf_text(out, "\n|---|");
    for (size_t i = 0; i < count; i++)
        buf_text(out, "---|");
    buf_text(out, "\n");
    for (size_t row = 0; row < g.rows; row++) {
        put_id(out, g.ids[row]);
        for (size_t i = 0; i < count; i++) {
            char *const cell = grid_cell(&g, row, i);
            put_cell(out, cell);
            free(cell);
        }
        buf_text(out, "\n");
    }
    grid_free(&g);
    return 0;
}

const struct report_format report_markdown = {
    .name = "md",
    .summary = "tables in Markdown",
    .write = markdown_write,
    .write_several = markdown_write_several,
};
