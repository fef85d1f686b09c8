#include "report/headline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/phrase.h"
#include "report/quantity.h"

/* Findings that belong to the GPU as a whole, and the words around them. */
static const struct {
    const char *id, *before, *after;
    bool screen; /* also where all is one screen */
} headlines[] = {
    {"sm.count", "", "SMs", true},
    {"clock.sm", "SM clock ", "", true},
    {"clock.memory", "memory clock ", "", false},
    {"memory.bus_width", "memory bus ", "", false},
};

static const char simulated_notice[] =
    "SIMULATED: these are the numbers of a simulated GPU, not of one in this "
    "machine";

static const char replayed_notice[] =
    "REPLAYED: inferred again from recorded samples; nothing was measured now";

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

static const char *text_of(const struct value *value)
{
    return value != NULL && value->kind == VALUE_TEXT ? value->text : "";
}

static const char *device_text(const struct results *r, const char *name)
{
    return text_of(results_of_device(r, name));
}

static bool is_true(const struct value *value)
{
    return value != NULL && value->kind == VALUE_BOOL && value->number > 0;
}

static bool is_simulated(const struct results *r)
{
    return is_true(results_of_run(r, "simulated"));
}

static void put_warning(const struct writer *w, const char *text)
{
    page_line(&w->page, &(struct line){.text = text, .tone = TONE_DOUBT});
}

void headline_warnings(const struct writer *w)
{
    const char *const disturbed = device_text(w->results, "disturbed");
    if (is_true(results_of_run(w->results, "replayed")))
        put_warning(w, replayed_notice);
    if (is_simulated(w->results))
        put_warning(w, simulated_notice);
    if (disturbed[0] == '\0')
        return;
    char *const shared = xasprintf("DISTURBED: %s", disturbed);
    put_warning(w, shared);
    free(shared);
}

/* "(cuda:0) GPU-…" */
static char *identity(const struct results *r)
{
    struct buf out = {0};
    const char *const spec = device_text(r, "spec");
    const char *const uuid = device_text(r, "uuid");
    if (spec[0] != '\0')
        buf_printf(&out, "(%s)", spec);
    if (uuid[0] != '\0')
        buf_printf(&out, "%s%s", out.length > 0 ? " " : "", uuid);
    return out.length > 0 ? buf_take(&out) : NULL;
}

static void put_name(const struct writer *w)
{
    const char *const name = device_text(w->results, "name");
    char *const rest = identity(w->results);
    page_line(&w->page,
              &(struct line){.label = name[0] != '\0' ? name : "unnamed GPU",
                             .label_tone = TONE_STRONG,
                             .text = rest});
    free(rest);
}

/* "; 97 kernels, 90 from the cache", where it is told. */
static void put_kernels(struct buf *out, const struct results *r)
{
    const struct value *const all = results_of_run(r, "kernels");
    const struct value *const kept = results_of_run(r, "kernels_from_cache");
    if (all != NULL && kept != NULL)
        buf_printf(out, "; %.0f kernels, %.0f from the cache", all->number,
                   kept->number);
}

/* "measured 2026-11-22 08:00 UTC in 9.8 s": of a GPU alone, since a simulated
 * one is always the same. */
static void put_time(const struct writer *w)
{
    const char *const start = text_of(results_of_run(w->results, "start"));
    const struct value *const seconds = results_of_run(w->results, "seconds");
    if (strlen(start) < sizeof "2026-11-22T08:00" - 1 || seconds == NULL ||
        is_simulated(w->results) ||
        is_true(results_of_run(w->results, "replayed")))
        return;
    struct buf text = {0};
    buf_printf(&text, "measured %.10s %.5s UTC in %.1f s", start, start + 11,
               seconds->number);
    put_kernels(&text, w->results);
    page_line(&w->page, &(struct line){.text = text.data});
    buf_free(&text);
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
    const bool all = !w->style->tree || w->style->verbose > REPORT_SCREEN;
    for (size_t i = 0; i < COUNT_OF(headlines); i++) {
        const struct finding *const f =
            all || headlines[i].screen
                ? results_find(w->results, headlines[i].id)
                : NULL;
        double number;
        if (!finding_number(f, &number))
            continue;
        struct buf text = {0};
        quantity_number(&text, number, 0, f->unit);
        put_fact(out, headlines[i].before, text.data, headlines[i].after);
        buf_free(&text);
    }
}

void headline_facts(const struct writer *w)
{
    struct buf facts = {0};
    put_fact(&facts, "compute capability ",
             device_text(w->results, "compute_capability"), "");
    put_headlines(w, &facts);
    put_fact(&facts, "driver ", device_text(w->results, "driver"), "");
    put_fact(&facts, "CUDA ", device_text(w->results, "cuda"), "");
    if (facts.length > 0)
        page_line(&w->page, &(struct line){.text = facts.data});
    put_time(w);
    buf_free(&facts);
}

void headline_write(const struct writer *w)
{
    struct buf facts = {0};
    put_name(w);
    headline_warnings(w);
    headline_facts(w);
    phrase_entries(&facts, w->results->device, w->results->device_count);
    if (w->style->verbose >= REPORT_EVIDENCE && facts.length > 0)
        page_line(&w->page,
                  &(struct line){.text = facts.data, .tone = TONE_FAINT});
    buf_free(&facts);
}
