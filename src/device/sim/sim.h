/*
 * The device `sim:NAME`: a simulated GPU that interprets PTX against a
 * profile (profile.h).  NAME is a shipped profile or the path of a file.
 */
#ifndef SONDE_DEVICE_SIM_SIM_H
#define SONDE_DEVICE_SIM_SIM_H

#include "device/device.h"
#include "device/sim/profile/profile.h"

/* What is simulated where there is no GPU and the user named none. */
#define SIM_DEFAULT_PROFILE "quick"

extern const struct device_ops sim_device_ops;

/* A device from a profile, which it takes over; `name` is what comes after
 * "sim:" in its spec. */
struct device *sim_open_profile(struct profile *profile, const char *name,
                                uint64_t seed);

/* Instructions that the warps of such a device have issued so far. */
uint64_t sim_instructions(const struct device *device);

#endif
