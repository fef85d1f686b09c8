/*
 * The keys of a profile: tables of rows (schema.h), which profile.c reads with
 * and docs/profiles.md is printed from.
 */
#ifndef SONDE_DEVICE_SIM_PROFILE_PROFILE_KEYS_H
#define SONDE_DEVICE_SIM_PROFILE_PROFILE_KEYS_H

#include "device/sim/profile/profile.h"
#include "device/sim/profile/schema.h"

/* For a struct profile of zeros; profile_free frees what a failure leaves. */
extern const struct schema profile_schema;

/* host.c: a file of its own; for a struct host. */
extern const struct schema host_schema;

/* profile_caches.c: the objects `caches` and `tlbs`; into a struct profile. */
extern const struct schema profile_cache_schema, profile_tlbs_schema;
extern const char *const profile_scopes[]; /* by enum profile_scope */
void profile_read_caches(struct schema_reader *r, json_t *object, void *into);
/* The index of the cache of that name; a complaint if there is none. */
int profile_find_cache(struct schema_reader *r, const char *name);

/* profile_disturbances.c: noise, changes, intruder, neighbour. */
extern const struct schema profile_disturbances_schema;

#define PROFILE_CYCLES_MAX 1e6
#define PROFILE_RATE_MAX   1e6                /* B/clk */
#define PROFILE_WHOLE_MAX  9007199254740992.0 /* 2^53, exact as a double */

/* Parts of rows; `type` is that of the table's struct. */
#define TEXT(type, member) .kind = SCHEMA_TEXT, SCHEMA_AT(type, member)
#define WHOLE(type, member, low, high)                                         \
    .kind = SCHEMA_WHOLE, SCHEMA_AT(type, member), .least = (low),             \
    .most = (double)(high)
#define POWER(type, member, high)                                              \
    .kind = SCHEMA_POWER, SCHEMA_AT(type, member), .least = 1,                 \
    .most = (double)(high)
#define REAL(type, member, high)                                               \
    .kind = SCHEMA_REAL, SCHEMA_AT(type, member), .most = (high)
#define CYCLES(type, member)                                                   \
    REAL(type, member, PROFILE_CYCLES_MAX), .unit = "cycles"
#define RATE(type, member) REAL(type, member, PROFILE_RATE_MAX), .unit = "B/clk"
#define BOOL(type, member) .kind = SCHEMA_BOOL, SCHEMA_AT(type, member)
#define WORD(type, member, list)                                               \
    .kind = SCHEMA_WORD, SCHEMA_AT(type, member), .words = (list)
#define NAME(type, member, list)                                               \
    .kind = SCHEMA_NAME, SCHEMA_AT(type, member), .words = (list)
#define OBJECT(table)  .kind = SCHEMA_OBJECT, .object = &(table)
#define ALSO(table)    .kind = SCHEMA_ALSO, .object = &(table)
#define CALL(function) .kind = SCHEMA_CALL, .read = (function)
#define REQUIRED       .required = true

#endif
