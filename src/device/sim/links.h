/*
 * What a simulated GPU reaches beside its own memory: the host's, if it stands
 * in one (profile/host.h), and the copy engines that move bytes between.
 */
#ifndef SONDE_DEVICE_SIM_LINKS_H
#define SONDE_DEVICE_SIM_LINKS_H

#include "device/device.h"
#include "device/sim/machine/machine.h"
#include "device/sim/profile/host.h"

struct links {
    struct host *host;      /* NULL: the GPU stands in none */
    unsigned gpu;           /* its number there */
    struct memory pageable; /* which no kernel reaches */
    uint64_t copies;        /* of the host's memory */
};

/* Takes the host over; NULL: there is none. */
void links_init(struct links *links, struct host *host, unsigned gpu);
void links_free(struct links *links);

/* The hooks of these names; of release, whether the memory was elsewhere. */
int links_peers(const struct links *links, enum device_peer peers[PEERS_MOST],
                size_t *count, struct error *err);
int links_wires(const struct links *links, int64_t told[WIRE_COUNT],
                struct error *err);
int links_allocate(struct links *links, struct machine *m,
                   enum device_place place, uint64_t bytes, uint64_t *address,
                   struct error *err);
bool links_release(struct links *links, struct machine *m, uint64_t address);
int links_transfer(struct links *links, struct machine *m,
                   struct transfer *transfers, size_t count, struct error *err);

#endif
