/*
 * What is to be in L2 when a kernel begins: loads past the first cache, all at
 * once, in a launch right before.
 *
 * On a GPU of our own it still is there since the last repetition.  Another
 * process takes L2 between launches; and a kernel that loads one thing after
 * another would spend its turn on fetching all from memory.
 */
#ifndef SONDE_PROBE_WALK_TOUCH_H
#define SONDE_PROBE_WALK_TOUCH_H

#include "probe/run/pin.h"

/* No sector is smaller. */
enum { TOUCH_APART = 32 };

struct touch {
    struct buf ranges;
    uint64_t args[1];
    struct buf ptx;
    struct pin_ahead ahead;
};

/* `count` places from an address in device memory on. */
void touch_add(struct touch *touch, uint64_t address, uint64_t step,
               uint64_t count);
/* Has the pin's launches go behind it.  It must live as long as the pin. */
int touch_ahead(struct prober *prober, struct touch *touch, struct pin *pin,
                struct error *err);
void touch_free(struct touch *touch);

#endif
