#include "report/writer.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/phrase.h"

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
                       const struct finding *f)
{
    struct buf text = {0};
    phrase_interval(&text, f);
    put_note(w, rail, "interval", buf_string(&text));
    put_note(w, rail, "method", f->method);
    buf_clear(&text);
    phrase_entries(&text, f->protocol, f->protocol_count);
    put_note(w, rail, "protocol", buf_string(&text));
    buf_free(&text);
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
    if (w->style->verbose)
        put_origin(w, rail, f);
}

void writer_notice(const struct writer *w)
{
    if (w->results->notice == NULL)
        return;
    page_line(&w->page, &(struct line){0});
    page_line(&w->page,
              &(struct line){.text = w->results->notice, .tone = TONE_DOUBT});
}
