/* The GPUs that -d names: one, several with commas between, or all. */
#ifndef SONDE_CLI_GPUS_DEVICES_H
#define SONDE_CLI_GPUS_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

/* Start from {0}; devices_free() frees. */
struct devices {
    char **specs;
    size_t count;
    bool listed; /* more than one may be meant: "all", or with a comma */
};

/* True of "all" and of what names several. */
bool devices_is_list(const char *device);

/* Takes the text apart: "cuda:0,2" is cuda:0 and cuda:2, "sim:pair" and
 * "sim:pair:0,1" the GPUs of a simulated host, "all" what the driver shows.  0,
 * or says what is wrong and returns an exit status. */
int devices_named(const char *device, struct devices *devices);
/* The GPUs that the driver shows; none is no error. */
int devices_all(struct devices *devices);
void devices_free(struct devices *devices);

#endif
