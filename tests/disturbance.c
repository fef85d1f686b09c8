/*
 * Strengths are chosen so that the second or third is what a bad day brings,
 * and the fifth what nobody can measure beside.
 */
#include "disturbance.h"

#include <stdbool.h>
#include <string.h>

#include "device/sim/profile/shipped.h"
#include "gpu_made.h"

/* ---- small GPUs: what topology shows of one takes a second ---- */

#define SMALL                                                                  \
    "name=Small compute_capability='6.0' sms=2 warp_schedulers=2 "             \
    "max_threads_per_block=256 max_warps_per_sm=16 max_blocks_per_sm=4 "       \
    "memory_bytes=1073741824 noise/jitter_cycles=1.5 "                         \
    "noise/spike_rate=0.002 noise/spike_cycles=300 "                           \
    "caches/l1={'sets': 16, 'ways': 4} "                                       \
    "caches/l2={'sets': 128, 'ways': 8, 'scope': 'gpu'} "                      \
    "caches/const_l1={'line': 64, 'sector': 64, 'sets': 8, 'ways': 4} "        \
    "caches/const_l15={'line': 256, 'sector': 256, 'sets': 16, 'ways': 8} "    \
    "paths/global.ca={'l1': 36, 'l2': [220, 250, 300], "                       \
    "                 'memory': [420, 450, 500]} "                             \
    "paths/global.cg={'l2': [216, 246, 296], 'memory': [416, 446, 496]} "      \
    "paths/constant={'const_l1': 24, 'const_l15': 80, 'l2': 230, "             \
    "                'memory': 430} "                                          \
    "tlbs/l1={'page': 2097152, 'entries': 8} "                                 \
    "tlbs/l2={'page': 2097152, 'entries': 24}"

static const struct small {
    const char *name, *wishes;
} smalls[] = {
    {"small", SMALL},
    {"small_code",
     SMALL " caches/icache_l1={'sets': 16, 'ways': 4, 'sector': 128} "
           "paths/instruction={'icache_l1': 4, 'const_l15': 44, "
           "                   'memory': 250}"},
    {"small_load",
     SMALL " max_warps_per_sm=32 l2_reported_bytes=131072 "
           "caches/l1/read_bandwidth=64 "
           "caches/l1/write_bandwidth=64 caches/l2/read_bandwidth=48 "
           "caches/l2/write_bandwidth=40 memory_read_bandwidth=24 "
           "memory_write_bandwidth=20 shared_memory/read_bandwidth=64 "
           "shared_memory/write_bandwidth=48"},
    /* Nothing to find but L2: all else would be noise. */
    {"small_bare",
     SMALL " caches/l1= caches/const_l1= caches/const_l15= tlbs= "
           "paths/global.ca={'l2': 220, 'memory': 420} "
           "paths/global.cg={'l2': 216, 'memory': 416} "
           "paths/constant={'l2': 230, 'memory': 430}"},
    {"small_rates",
     SMALL " sms=1 warp_schedulers=1 max_warps_per_sm=16 "
           "l2_reported_bytes=32768 caches/l2/sets=32 "
           "caches/const_l1/read_bandwidth=2 "
           "caches/l1/read_bandwidth=19 caches/l1/write_bandwidth=17 "
           "caches/l2/read_bandwidth=13 caches/l2/write_bandwidth=11 "
           "memory_read_bandwidth=7 memory_write_bandwidth=5 "
           "shared_memory/read_bandwidth=23 "
           "shared_memory/write_bandwidth=17"},
    {"small_fifo",
     "name='Small FIFO' compute_capability='3.5' sms=3 "
     "max_threads_per_block=512 max_warps_per_sm=32 max_blocks_per_sm=4 "
     "memory_bytes=1073741824 noise/jitter_cycles=1.5 "
     "noise/spike_rate=0.002 noise/spike_cycles=300 "
     "caches/l1={'line': 128, 'sets': 32, 'ways': 4, 'policy': 'fifo'} "
     "caches/texture={'line': 32, 'sets': 4, 'ways': 32, "
     "                'set_bits': [7, 8]} "
     "caches/l2={'line': 64, 'sector': 32, 'sets': 256, 'ways': 8, "
     "           'scope': 'gpu'} "
     "paths/global.ca={'l1': 30, 'l2': [180, 210, 280], "
     "                 'memory': [350, 380, 450]} "
     "paths/global.cg={'l2': [176, 206, 276], 'memory': [346, 376, 446]} "
     "paths/texture={'texture': 90, 'l2': 210, 'memory': 400} "
     "paths/readonly={'texture': 84, 'l2': 206, 'memory': 396} "
     "tlbs/l1={'page': 4194304, 'entries': 4} "
     "tlbs/l2={'page': 4194304, 'set_ways': [6, 4, 4]}"},
    {0},
};

static json_t *small_gpu(const char *name)
{
    for (const struct small *s = smalls; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0) {
            json_t *const gpu = gpu_plain();
            gpu_wish(gpu, "%s", s->wishes);
            return gpu;
        }
    return NULL;
}

json_t *disturbance_gpu(const char *name)
{
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return json_loads(s->text, 0, NULL);
    if (strcmp(name, QUICK_PROFILE) == 0)
        return json_loads(quick_profile, 0, NULL);
    json_t *const small = small_gpu(name);
    return small != NULL ? small : json_load_file(name, 0, NULL);
}

/* ---- disturbances ---- */

static void quiet(json_t *gpu, unsigned strength)
{
    (void)strength;
    gpu_wish(gpu, "noise= changes= intruder= neighbour=");
}

/* The first is that of the shipped profiles. */
static void noise(json_t *gpu, unsigned strength)
{
    static const struct {
        double jitter, rate, cycles;
    } noises[] = {
        {1.5, 0.002, 300}, {5, 0.01, 300},   {10, 0.03, 500},
        {30, 0.1, 1000},   {100, 0.3, 2000},
    };
    gpu_wish(gpu,
             "noise={'jitter_cycles': %g, 'spike_rate': %g, "
             "'spike_cycles': %g}",
             noises[strength - 1].jitter, noises[strength - 1].rate,
             noises[strength - 1].cycles);
}

static void rare(json_t *gpu, unsigned strength)
{
    static const int cycles[] = {1000, 5000, 20000, 100000, 500000};
    gpu_wish(gpu,
             "noise={'jitter_cycles': 0, 'spike_rate': 0.0005, "
             "'spike_cycles': %d}",
             cycles[strength - 1]);
}

/* ['l1', 'l2', 'tlb_l1']: all that there is.  The caller decrefs. */
static json_t *all_stores(const json_t *gpu)
{
    json_t *const names = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(gpu, "caches"), name, value)
        json_array_append_new(names, json_string(name));
    json_object_foreach(json_object_get(gpu, "tlbs"), name, value)
        json_array_append_new(names, json_sprintf("tlb_%s", name));
    return names;
}

static void intruder(json_t *gpu, unsigned strength)
{
    static const struct {
        double share;
        int cycles, every;
    } intruders[] = {
        {0.01, 20000, 0},       {0.03, 100000, 0},     {0.1, 500000, 0},
        {0.3, 1000000, 200000}, {0.6, 2000000, 50000},
    };
    gpu_wish(gpu, "intruder={'share': %g, 'cycles': %d, 'every_cycles': %d}",
             intruders[strength - 1].share, intruders[strength - 1].cycles,
             intruders[strength - 1].every);
    json_object_set_new(json_object_get(gpu, "intruder"), "empties",
                        all_stores(gpu));
}

/* A launch begins a turn of ours: the first is that of an H200, in which one
 * thread loads from memory, sector by sector, two thirds of what L1 holds; of
 * smaller caches as much is loaded in shorter ones. */
static void turns(json_t *gpu, unsigned strength)
{
    static const struct {
        int ours, cycles;
    } turns[] = {
        {4100000, 800000}, {1000000, 4800000}, {500000, 4800000},
        {250000, 4800000}, {100000, 4800000},
    };
    gpu_wish(gpu,
             "intruder={'share': 1, 'cycles': %d, 'every_cycles': %d, "
             "'first_cycles': %d}",
             turns[strength - 1].cycles, turns[strength - 1].ours,
             turns[strength - 1].ours);
    json_object_set_new(json_object_get(gpu, "intruder"), "empties",
                        all_stores(gpu));
}

/* The last cache on the way of global loads is what users share. */
static void neighbour(json_t *gpu, unsigned strength)
{
    static const struct {
        double share;
        int cycles, burst;
    } neighbours[] = {
        {0.02, 50, 1},  {0.05, 100, 4}, {0.1, 200, 16},
        {0.3, 400, 64}, {0.6, 800, 64},
    };
    const json_t *const paths = json_object_get(gpu, "paths");
    const json_t *const caches =
        json_object_get(json_object_get(paths, "global.cg"), "caches");
    const size_t count = json_array_size(caches);
    if (count == 0)
        return;
    gpu_wish(gpu,
             "neighbour={'from': '%s', 'share': %g, 'cycles': %d, 'burst': %d}",
             json_string_value(json_array_get(caches, count - 1)),
             neighbours[strength - 1].share, neighbours[strength - 1].cycles,
             neighbours[strength - 1].burst);
}

/* A clock that falls, after so many launches. */
static const struct fall {
    double to;
    int after;
} falls[] = {
    {0.98, 1000}, {0.95, 300}, {0.8, 100}, {0.6, 300}, {0.43, 1000},
};

static void fall(json_t *gpu, unsigned strength, const char *more)
{
    const json_int_t khz =
        json_integer_value(json_object_get(gpu, "clock_khz"));
    const struct fall *const f = &falls[strength - 1];
    gpu_wish(gpu, "changes={'after_launches': %d, 'clock_khz': %d %s}",
             f->after, (int)((double)khz * f->to), more);
}

static void clock_falls(json_t *gpu, unsigned strength)
{
    fall(gpu, strength, "");
}

static void throttled(json_t *gpu, unsigned strength)
{
    fall(gpu, strength, ", 'throttle': 64");
}

static void processes(json_t *gpu, unsigned strength)
{
    noise(gpu, strength);
    gpu_wish(gpu, "changes={'after_launches': 1, 'other_processes': %u}",
             strength);
}

const struct disturbance disturbances[] = {
    {"none", "nothing: the truth", quiet},
    {"noise", "jitter and spikes; the first as shipped", noise},
    {"rare", "one access in 2000 much later, no jitter", rare},
    {"intruder", "a process that takes turns and empties caches", intruder},
    {"turns", "one whose turns begin where a launch of ours ends", turns},
    {"neighbour", "another user of the last cache and of memory", neighbour},
    {"clock", "the clock falls after some launches", clock_falls},
    {"throttle", "the same, and the GPU says that it is hot", throttled},
    {"processes", "noise, and other processes are reported", processes},
    {0},
};

const struct disturbance *disturbance_find(const char *kind)
{
    for (const struct disturbance *d = disturbances; d->kind != NULL; d++)
        if (strcmp(d->kind, kind) == 0)
            return d;
    return NULL;
}

double disturbance_clock(const char *kind, unsigned strength)
{
    const bool falls_down =
        strcmp(kind, "clock") == 0 || strcmp(kind, "throttle") == 0;
    return falls_down ? falls[strength - 1].to : 1;
}

char *disturbed_gpu(const char *name, const char *kind, unsigned strength)
{
    json_t *const gpu = disturbance_gpu(name);
    const struct disturbance *const d = disturbance_find(kind);
    if (gpu == NULL || d == NULL) {
        json_decref(gpu);
        return NULL;
    }
    d->apply(gpu, strength);
    return gpu_text(gpu);
}
