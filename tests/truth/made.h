/*
 * One study on a simulated GPU that a test makes up, and its findings.
 */
#ifndef SONDE_TESTS_MADE_H
#define SONDE_TESTS_MADE_H

#include "device/device.h"
#include "study/lab.h"

struct found {
    struct device *device; /* NULL: it was replayed */
    struct recording *recording;
    struct prober *prober;
    struct results results;
};

/* The study on that profile, whose text is freed; the test fails if the device
 * does.  To be given back to made_done. */
struct found *made_measured(char *profile, const char *study);
/* The study again, on the samples that were measured; NULL if it asks for what
 * was not. */
struct found *made_replayed(const struct found *measured, const char *study);
/* What a study proposes of what it finds with others, before they are judged;
 * a status of what is not measured where it proposes nothing. */
struct proposed {
    enum finding_status status;
    double number;     /* 0: its value is none */
    char because[160]; /* "" for no reason */
};
struct proposed made_proposed(char *profile, const char *study,
                              const char *component, const char *attribute);
void made_done(struct found *found); /* may be NULL */

#endif
