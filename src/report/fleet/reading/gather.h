/* What a fleet wants of a file with reports. */
#ifndef SONDE_REPORT_FLEET_GATHER_H
#define SONDE_REPORT_FLEET_GATHER_H

#include "report/fleet/fleet.h"

/* What one thread has read. */
struct gathered {
    struct fleet_gpu *gpus;
    size_t count;
    struct fleet_note *notes;
    size_t note_count;
};

/* What a thread remembers: reports are alike, so that the name that follows
 * another one mostly is the one that followed it in the last report. */
struct memory {
    struct fleet_names *names;
    struct memory_name {
        char *text;
        uint32_t number;
    } * columns;
    size_t count, capacity, next;
    struct fleet_value *values; /* of the report that is read */
    size_t value_count, value_capacity;
    struct buf name, text, key;
};

void memory_free(struct memory *memory);

/* Adds the reports of a file, or a note why there is none: one report, a list,
 * or one after the other. */
void gather(struct gathered *into, struct memory *memory, const char *text,
            const char *path);
/* Of what nobody takes over. */
void gathered_free(struct gathered *gathered);
void gather_note(struct gathered *into, enum fleet_state state,
                 const char *path, const char *why);

#endif
