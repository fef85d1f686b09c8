#include "report/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/phrase.h"

struct page writer_page(const struct report_style *style, struct buf *out)
{
    const bool narrow = style->tree && style->verbose == REPORT_SCREEN;
    return (struct page){
        .out = out,
        .color = style->color,
        .ascii = style->ascii,
        .width = style->width > 0 ? style->width
                 : narrow         ? PAGE_NARROW
                                  : PAGE_WIDTH,
    };
}

static void put_note(const struct writer *w, const char *rail, const char *what,
                     const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    char *const note = xasprintf("%s: %s", what, text);
    page_line(&w->page, &(struct line){.rail = rail,
                                       .column = w->column + 2,
                                       .text = note,
                                       .tone = TONE_FAINT});
    free(note);
}

/* What -v adds: how the number came about. */
static void put_origin(const struct writer *w, const char *rail,
                       const char *label, const struct finding *f)
{
    struct buf text = {0};
    phrase_interval(&text, f);
    put_note(w, rail, "interval", buf_string(&text));
    put_note(w, rail, "method", f->method);
    buf_clear(&text);
    phrase_entries(&text, f->protocol, f->protocol_count);
    put_note(w, rail, "protocol", buf_string(&text));
    buf_free(&text);
    put_note(w, rail, "id", strcmp(label, f->id) != 0 ? f->id : NULL);
    put_note(w, rail, "study", f->study);
    for (size_t i = 0; i < f->evidence_count; i++)
        put_note(w, rail, "evidence", f->evidence[i]);
}

void writer_finding(const struct writer *w, const char *rail, const char *label,
                    const struct finding *f)
{
    const enum tone tone = phrase_certain(f) ? TONE_PLAIN : TONE_DOUBT;
    char *const text = phrase_finding(f, w->clock_hz);
    page_line(&w->page, &(struct line){.rail = rail,
                                       .label = label,
                                       .column = w->column,
                                       .text = text,
                                       .tone = tone});
    free(text);
    if (w->style->verbose >= REPORT_EVIDENCE)
        put_origin(w, rail, label, f);
}

void writer_notice(const struct writer *w)
{
    if (w->results->notice == NULL)
        return;
    page_line(&w->page, &(struct line){0});
    page_line(&w->page,
              &(struct line){.text = w->results->notice, .tone = TONE_DOUBT});
}

double writer_clock(const struct results *results)
{
    double hz;
    const struct finding *const f = results_find(results, "clock.measured");
    if (f != NULL && f->status == STATUS_IN_DOUBT)
        return 0;
    if (finding_number(results_find(results, "clock.measured"), &hz) ||
        finding_number(results_find(results, "clock.sm"), &hz))
        return hz;
    return 0;
}
