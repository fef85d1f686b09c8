/*
 * A device that takes every program and runs none: it counts what it is asked,
 * keeps the programs, and hands out memory in which every 64-bit word is 1,
 * unless the test has another idea.
 */
#ifndef SONDE_TESTS_UNIT_FAKE_DEVICE_H
#define SONDE_TESTS_UNIT_FAKE_DEVICE_H

#include "device/device.h"

/* Texts without repeats, which may be sorted. */
struct texts {
    char **at;
    size_t count;
    char **places; /* of the texts by their hash; NULL: free */
    size_t room;
};
void texts_add(struct texts *texts, const char *text);
bool texts_have(const struct texts *texts, const char *text);
void texts_free(struct texts *texts);

struct fake_device {
    struct device device;
    struct texts programs; /* all that were loaded */
    unsigned loads, launches, reads;
    int level;           /* of the latest program */
    const char *refuses; /* what is said of every program; NULL: taken */
    /* This launch and all that follow fail with that code; 0: none. */
    unsigned fails_at;
    enum error_code fails_with; /* ERR_DEVICE unless the test says another */
    /* So many senses in a row tell of these reasons, later ones of none. */
    unsigned throttled;
    uint64_t reasons;
    /* Changes the words of the read number `reads` (from 1); may be NULL. */
    void (*read)(struct fake_device *fake, uint64_t *words, size_t count);
};

/* A GPU of that capability; not on the heap: fake_device_close at the end. */
void fake_device_open(struct fake_device *fake, int cc);
void fake_device_close(struct fake_device *fake);

#endif
