#include "report/headline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/phrase.h"
#include "report/quantity.h"

/* Findings that belong to the GPU as a whole, and the words around them. */
static const struct {
    const char *id, *before, *after;
} headlines[] = {
    {"sm.count", "", "SMs"},
    {"clock.sm", "SM clock ", ""},
    {"clock.memory", "memory clock ", ""},
    {"memory.bus_width", "memory bus ", ""},
};

static const char simulated_notice[] =
    "SIMULATED: these are the numbers of a simulated GPU, not of one in this "
    "machine";

bool headline_says(const struct finding *f)
{
    double number;
    if (!finding_number(f, &number))
        return false;
    for (size_t i = 0; i < COUNT_OF(headlines); i++)
        if (strcmp(headlines[i].id, f->id) == 0)
            return true;
    return false;
}

static const struct value *device_value(const struct results *r,
                                        const char *name)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (strcmp(r->device[i].name, name) == 0)
            return &r->device[i].value;
    return NULL;
}

static const char *device_text(const struct results *r, const char *name)
{
    const struct value *const value = device_value(r, name);
    return value != NULL && value->kind == VALUE_TEXT ? value->text : "";
}

static bool is_simulated(const struct results *r)
{
    const struct value *const value = device_value(r, "simulated");
    return value != NULL && value->kind == VALUE_BOOL && value->number > 0;
}

static void put_name(const struct writer *w)
{
    const char *name = device_text(w->results, "name");
    const char *const spec = device_text(w->results, "spec");
    char *const rest = spec[0] != '\0' ? xasprintf("(%s)", spec) : NULL;
    if (name[0] == '\0')
        name = "unnamed GPU";
    page_line(
        &w->page,
        &(struct line){.label = name, .label_tone = TONE_STRONG, .text = rest});
    if (is_simulated(w->results))
        page_line(&w->page,
                  &(struct line){.text = simulated_notice, .tone = TONE_DOUBT});
    const char *const disturbed = device_text(w->results, "disturbed");
    char *const shared = xasprintf("DISTURBED: %s", disturbed);
    if (disturbed[0] != '\0')
        page_line(&w->page, &(struct line){.text = shared, .tone = TONE_DOUBT});
    free(shared);
    free(rest);
}

static void put_fact(struct buf *out, const char *before, const char *text,
                     const char *after)
{
    if (text[0] != '\0')
        buf_printf(out, "%s%s%s%s%s", out->length > 0 ? ", " : "", before, text,
                   after[0] != '\0' ? " " : "", after);
}

static void put_headlines(const struct writer *w, struct buf *out)
{
    for (size_t i = 0; i < COUNT_OF(headlines); i++) {
        const struct finding *const f =
            results_find(w->results, headlines[i].id);
        double number;
        if (!finding_number(f, &number))
            continue;
        struct buf text = {0};
        quantity_number(&text, number, 0, f->unit);
        put_fact(out, headlines[i].before, text.data, headlines[i].after);
        buf_free(&text);
    }
}

void headline_write(const struct writer *w)
{
    put_name(w);
    struct buf facts = {0};
    put_fact(&facts, "compute capability ",
             device_text(w->results, "compute_capability"), "");
    put_headlines(w, &facts);
    put_fact(&facts, "CUDA driver ", device_text(w->results, "driver"), "");
    if (facts.length > 0)
        page_line(&w->page, &(struct line){.text = facts.data});
    buf_clear(&facts);
    phrase_entries(&facts, w->results->device, w->results->device_count);
    if (w->style->verbose && facts.length > 0)
        page_line(&w->page,
                  &(struct line){.text = facts.data, .tone = TONE_FAINT});
    buf_free(&facts);
}
