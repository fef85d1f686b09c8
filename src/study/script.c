#include "study/script.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "study/lab.h"

size_t script_reader(struct script *s, const char *fmt, ...)
{
    char name[64];
    va_list args;
    va_start(args, fmt);
    vsnprintf(name, sizeof name, fmt, args);
    va_end(args);
    if (s->readers.length > 0)
        buf_text(&s->readers, ",");
    buf_text(&s->readers, name);
    return s->reader_count++;
}

void script_add(struct script *s, const struct script_step *step)
{
    struct buf *const text = &s->steps;
    if (text->length > 0)
        buf_text(text, s->apart ? ";" : ",");
    s->apart = false;
    if (step->laps > 0)
        buf_printf(text, "%" PRIu64 "x", step->laps);
    if (s->reader_count > 1)
        buf_printf(text, "%zu@", step->reader);
    if (step->timed)
        buf_text(text, "!");
    if (step->draws > 0)
        buf_printf(text, "~%" PRIu64 "/", step->draws);
    if (step->lines == NULL)
        buf_printf(text, "%" PRIu64 ":%" PRIu64 ":%" PRIu64, step->places.start,
                   step->places.count, step->places.step);
    for (size_t i = 0; step->lines != NULL && i < step->lines->count; i++)
        buf_printf(text, "%s%" PRIu64, i > 0 ? "|" : "", step->lines->at[i]);
}

void script_part(struct script *s)
{
    s->apart = true;
}

void script_load(struct script *s, size_t reader, struct segment places)
{
    script_add(s, &(struct script_step){.reader = reader, .places = places});
}

void script_time(struct script *s, size_t reader, struct segment places)
{
    script_add(s, &(struct script_step){
                      .reader = reader, .timed = true, .places = places});
}

const char *script_text(struct script *s, struct lab *lab)
{
    const char *const text =
        lab_text(lab, "readers=%s steps=%s", buf_string(&s->readers),
                 buf_string(&s->steps));
    buf_free(&s->readers);
    buf_free(&s->steps);
    *s = (struct script){0};
    return text;
}

bool script_lists(const struct script_lines *lines, uint64_t at)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->at[i] == at)
            return true;
    return false;
}
