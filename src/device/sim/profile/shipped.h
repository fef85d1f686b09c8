/* The profiles of profiles/ that tools/embed.sh put into the binary. */
#ifndef SONDE_DEVICE_SIM_PROFILE_SHIPPED_H
#define SONDE_DEVICE_SIM_PROFILE_SHIPPED_H

struct shipped_profile {
    const char *name; /* NULL ends the table */
    const char *text; /* the JSON */
};

extern const struct shipped_profile shipped_profiles[];
/* … of profiles/hosts/. */
extern const struct shipped_profile shipped_hosts[];

/* A small GPU that nobody built: measured in two seconds.  sim:quick. */
#define QUICK_PROFILE "quick"
extern const char *const quick_profile;

#endif
