/*
 * A host of simulated GPUs (profiles/hosts): which GPUs stand in it, and what
 * lies between them and its memory.  docs/profiles.md says what the keys mean.
 */
#ifndef SONDE_DEVICE_SIM_PROFILE_HOST_H
#define SONDE_DEVICE_SIM_PROFILE_HOST_H

#include <stdbool.h>

#include "device/device.h"

enum { HOST_GPUS_MOST = 16, HOST_SWITCHES_MOST = 16 };

/* Seen from a GPU: what comes to it is read. */
struct host_link {
    double latency_ns;             /* of a load from a kernel */
    double atomic_ns;              /* of an atomic; 0: it takes none */
    double to_gpu, from_gpu, both; /* B/s; both: of both ways together */
    double copy_ns;                /* until a copy moves its first byte */
    double fetched; /* share of its rate that a copy from another GPU has, if
                       the GPU that it comes to makes it */
    bool l1_keeps, l2_keeps; /* what loads bring */
};

/* What several GPUs are at, each by a way of its own. */
struct host_switch {
    struct host_link ports[HOST_GPUS_MOST]; /* seen from the GPU */
    double total; /* B/s that it passes on at once; 0: any number */
};

struct host {
    char name[128], source[512];
    unsigned count;
    char gpus[HOST_GPUS_MOST][128]; /* profiles, as sim: takes them */
    struct host_link memory;        /* pinned; the same for each GPU */
    double pageable_to_gpu, pageable_from_gpu;
    double uneven; /* share by which its memory may give copies less */
    /* From the first to the memory of the second; latency 0: there is none. */
    struct host_link peers[HOST_GPUS_MOST][HOST_GPUS_MOST];
    struct host_switch switches[HOST_SWITCHES_MOST];
    unsigned switch_count;
    /* Which switch is between them, from 1 on; 0: a link of their own. */
    unsigned char through[HOST_GPUS_MOST][HOST_GPUS_MOST];
    double told[WIRE_COUNT]; /* of each GPU; -1: not */
};

/*
 * A host and one of its GPUs, by what stands behind "sim:": "pair", "pair:1",
 * "./my.json:1".  `*host` is NULL, and the result 0, if it names no host; the
 * caller frees it.  The folder is a further one with profiles, or NULL.
 */
int host_open(const char *what, const char *folder, struct host **host,
              unsigned *gpu, struct error *err);
/* How many GPUs it has, if `what` names a host as a whole, without a number;
 * 0: it names something else, or is wrong, which opening it says. */
unsigned host_gpus(const char *what, const char *folder);
/* `where` is what complaints call it. */
int host_parse(const char *text, const char *where, struct host **host,
               struct error *err);

#endif
