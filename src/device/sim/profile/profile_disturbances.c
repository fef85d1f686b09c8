/*
 * Keys of what disturbs a GPU: noise of its own, a clock that changes, another
 * process that takes turns with ours (intruder), and one that runs beside it
 * (neighbour).  They name caches and TLBs, so they are read last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "device/sim/profile/profile_keys.h"

/* A time slice is milliseconds: some 10^7 cycles. */
#define SLICE_CYCLES_MAX 1e9
/* Less between two visits would leave nothing of ours to time. */
#define EVERY_CYCLES_MIN 1000.0

enum { BURST_MAX = 1 << 20 };

/* ---- the GPU by itself ---- */

static const struct schema_row noise_rows[] = {
    {"jitter_cycles", CYCLES(profile, jitter_cycles),
     .help = "standard deviation of what each access is early or late"},
    {"spike_rate", REAL(profile, spike_rate, 1),
     .help = "share of accesses that are disturbed besides"},
    {"spike_cycles", CYCLES(profile, spike_cycles),
     .help = "what a disturbance costs"},
    {"crowd_cycles", CYCLES(profile, crowd_cycles),
     .help = "what each access costs more in a block of several warps"},
    {0},
};

static const struct schema_row changes_rows[] = {
    {"after_launches", WHOLE(profile, changes_after, 1, PROFILE_WHOLE_MAX),
     REQUIRED, .help = "it comes after so many kernel launches"},
    {"clock_khz", WHOLE(profile, changed_khz, 1000, 1e8), .unit = "kHz",
     .help = "the SM clock from then on; slower than before, or the timer "
             "would go back",
     .otherwise = "as before"},
    {"beyond_share", REAL(profile, changed_beyond, 1),
     .help = "of what L2 and memory cost, the share whose clock is another, "
             "which stays: it takes fewer cycles of the slower one"},
    {"throttle", WHOLE(profile, changed_throttle, 0, 1 << 16),
     .help = "why the clock is throttled, as NVML's bits: 64 is too hot, 4 the "
             "power cap"},
    {"other_processes", WHOLE(profile, changed_processes, 0, 1000),
     .help = "on the GPU"},
    {0},
};

/* The timer counts what cycles there were by the clock that there is. */
static void check_changes(struct schema_reader *r, void *into)
{
    const struct profile *const profile = into;
    if (profile->changed_khz > profile->clock_khz)
        schema_fail_at(r, "clock_khz",
                       "must be %" PRIu64 " at most, the clock before, not "
                       "%" PRIu64 ": else the timer would go back",
                       profile->clock_khz, profile->changed_khz);
}

/* ---- another process that takes turns ---- */

/* TLBs are named "tlb_l1" ... where caches are named, too. */
static int find_tlb(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->tlb_count; i++)
        if (strncmp(name, "tlb_", 4) == 0 &&
            strcmp(name + 4, profile->tlbs[i].name) == 0)
            return (int)i;
    return -1;
}

/* Of all that can be emptied. */
static void no_such_store(struct schema_reader *r, const char *name)
{
    const struct profile *const profile = r->whole;
    const char *names[PROFILE_CACHES_MAX + PROFILE_TLBS_MAX + 1] = {0};
    char tlbs[PROFILE_TLBS_MAX][sizeof "tlb_" + sizeof profile->tlbs[0].name];
    size_t count = 0;
    for (size_t i = 0; i < profile->cache_count; i++)
        names[count++] = profile->caches[i].name;
    for (size_t i = 0; i < profile->tlb_count; i++) {
        snprintf(tlbs[i], sizeof tlbs[i], "tlb_%s", profile->tlbs[i].name);
        names[count++] = tlbs[i];
    }
    schema_fail_name(r, name, names,
                     text_nearest(name, names) != NULL
                         ? "neither among caches nor a TLB"
                         : "neither among caches nor a TLB, as \"tlb_l1\"");
}

/* Adds what is named to those that an intruder empties. */
static void add_emptied(struct schema_reader *r, const char *name,
                        struct profile_intruder *intruder)
{
    const struct profile *const profile = r->whole;
    const int tlb = find_tlb(profile, name);
    for (size_t i = 0; i < profile->cache_count; i++)
        if (strcmp(name, profile->caches[i].name) == 0) {
            intruder->caches |= 1u << i;
            return;
        }
    if (tlb < 0)
        no_such_store(r, name);
    else
        intruder->tlbs |= 1u << tlb;
}

static void read_empties(struct schema_reader *r, json_t *list, void *into)
{
    static const char wanted[] = "an array of names of caches and TLBs";
    (void)into;
    if (!json_is_array(list))
        schema_wrong_type(r, wanted, list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const name = json_array_get(list, i);
        if (json_is_string(name))
            add_emptied(r, json_string_value(name),
                        &((struct profile *)r->whole)->intruder);
        else
            schema_wrong_type(r, wanted, name);
    }
}

static void check_intruder(struct schema_reader *r, void *into)
{
    const double every = ((struct profile *)into)->intruder.every_cycles;
    if (every != 0 && every < EVERY_CYCLES_MIN)
        schema_fail_at(r, "every_cycles",
                       "must be 0 (once a launch) or at least %g, not %g: "
                       "nothing could be timed between two visits",
                       EVERY_CYCLES_MIN, every);
}

static const struct schema_row intruder_rows[] = {
    {"share", REAL(profile, intruder.share, 1), REQUIRED,
     .help = "share of launches that it interrupts, at a random moment"},
    {"cycles", REAL(profile, intruder.cycles, SLICE_CYCLES_MAX), REQUIRED,
     .unit = "cycles",
     .help = "for which it runs: all clocks run on, nothing of ours does"},
    {"empties", CALL(read_empties),
     .help = "names from `caches`, and `\"tlb_l1\"` … of `tlbs`: what they "
             "held is lost, on all SMs",
     .otherwise = "nothing"},
    {"every_cycles", REAL(profile, intruder.every_cycles, SLICE_CYCLES_MAX),
     .unit = "cycles",
     .help = "it comes again each time the launch has run for so many more; "
             "0: once",
     .range = "0, 1000 … 10^9"},
    {"first_cycles", REAL(profile, intruder.first_cycles, SLICE_CYCLES_MAX),
     .unit = "cycles",
     .help = "a launch begins a turn of ours: it first comes after so many, "
             "give or take a quarter, and after what ends before; 0: at a "
             "random moment of the launch"},
    {0},
};

/* ---- one that runs beside ours ---- */

static void read_from(struct schema_reader *r, json_t *value, void *into)
{
    char name[sizeof((struct profile_cache *)0)->name] = "";
    schema_text(r, value, name, sizeof name);
    *(int *)into = profile_find_cache(r, name);
}

static const struct schema_row neighbour_rows[] = {
    {"from", CALL(read_from), SCHEMA_AT(profile, neighbour.from), REQUIRED,
     .unit = "text",
     .help = "the cache that it shares with us: accesses that reach it, or "
             "what is beyond it, may wait"},
    {"share", REAL(profile, neighbour.share, 1), REQUIRED,
     .help = "share of these that do"},
    {"cycles", CYCLES(profile, neighbour.cycles), REQUIRED,
     .help = "for which each waits: exponentially distributed, this is the "
             "mean"},
    {"burst", WHOLE(profile, neighbour.burst, 1, BURST_MAX), .fallback = 1,
     .help = "so many accesses in a row wait"},
    {0},
};

static const struct schema noise_schema = {"noise", noise_rows, NULL};
static const struct schema changes_schema = {"changes", changes_rows,
                                             check_changes};
static const struct schema intruder_schema = {"intruder", intruder_rows,
                                              check_intruder};
static const struct schema neighbour_schema = {"neighbour", neighbour_rows,
                                               NULL};

static const struct schema_row disturbance_rows[] = {
    {"changes", OBJECT(changes_schema),
     .help = "what becomes of the GPU while it is used", .otherwise = "none"},
    {"noise", OBJECT(noise_schema), .help = "what disturbs memory accesses",
     .otherwise = "none"},
    {"intruder", OBJECT(intruder_schema),
     .help = "another process that takes turns with ours", .otherwise = "none"},
    {"neighbour", OBJECT(neighbour_schema),
     .help = "another user at the same time", .otherwise = "none"},
    {0},
};

const struct schema profile_disturbances_schema = {"disturbances",
                                                   disturbance_rows, NULL};
