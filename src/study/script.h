/*
 * The text of a `visit` (probe/access_script.c): who loads, and the steps of
 * the script, a call each.
 *
 *     struct script s = {0};
 *     const size_t near = script_reader(&s, "global.ca@%zu", warp);
 *     script_load(&s, near, (struct segment){0, 8, 128});
 *     script_time(&s, near, (struct segment){0, 8, 128});
 *     const struct column c =
 *         lab_column(lab, "cycles", "visit %s", script_text(&s, lab));
 *
 * Readers are named before the steps that they make: a step says its reader
 * where there are several.
 */
#ifndef SONDE_STUDY_SCRIPT_H
#define SONDE_STUDY_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "probe/experiment.h"

struct lab;

struct script {
    struct buf readers, steps;
    size_t reader_count;
    bool apart; /* the next step begins a part */
};

/* Adds a reader; its number for the steps. */
size_t script_reader(struct script *script, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Lines by their offsets. */
struct script_lines {
    uint64_t *at;
    size_t count;
};
bool script_lists(const struct script_lines *lines, uint64_t at);

struct script_step {
    size_t reader;
    uint64_t laps;  /* times over; 0 is 1, and not written */
    bool timed;     /* the cycles of each load are kept */
    uint64_t draws; /* so many of the places, at random; 0: all, in order */
    struct segment places;
    const struct script_lines *lines; /* not NULL: these are the places */
};
void script_add(struct script *script, const struct script_step *step);

/* What follows builds on nothing before. */
void script_part(struct script *script);

/* Once over the places; the same, with the cycles kept. */
void script_load(struct script *script, size_t reader, struct segment places);
void script_time(struct script *script, size_t reader, struct segment places);

/* "readers=… steps=…", until the study ends; the script is empty again. */
const char *script_text(struct script *script, struct lab *lab);

#endif
