/*
 * A cache of the profile stands for as many instances as its scope and its
 * copies need; each is made when it is first used, and emptied lazily: an
 * instance whose `epoch` is not the launch's is stale.
 *
 * An instance remembers the address that it saw last.  The same line (of a
 * sectored cache: the same sector) again is a hit that changes no policy's
 * state, so it is answered without asking the cache; but for those that tell a
 * hit from the miss before it.  It also remembers until
 * when it is busy passing bytes on, if its profile says at what rate.
 *
 * A cache in partitions has two instances, one for each side, of half of the
 * sets (sides.h).  A line's home is one of them; where lines are replicated the
 * other holds copies for the SMs of its side, and both compete for room.
 */
#include "device/sim/memory/paths.h"

#include <stdlib.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/sim/memory/l2_sides.h"
#include "device/sim/memory/noise.h"
#include "device/sim/ptx/opcodes.h"

struct instance {
    struct cache *cache; /* NULL until first used */
    uint64_t epoch;
    uint64_t latest; /* number of the last sector; NOTHING: none */
    uint64_t stored; /* the one that was stored to last, if it is still there */
    double busy;     /* until then */
};

struct cache_group {
    const struct profile_cache *profile;
    struct instance *instances;
    size_t count;
    struct instance **of; /* each scheduler's, by SM */
    unsigned copies;
    bool lasting;  /* over launches */
    bool parted;   /* instances are sides */
    bool hinted;   /* obeys hints */
    bool large;    /* to the host */
    uint64_t aged; /* NOTHING: cache_counts_uses; else 0 */
    unsigned sector_shift;
    struct cache_shape shape; /* of an instance; its lists are the profile's */
    double *atomics; /* until when each slice of each instance does some; NULL:
                        they take no time */
    size_t slices;   /* of an instance */
};

/* The way of several SMs to what all share. */
struct crossing {
    double read_bandwidth, write_bandwidth;
    double busy; /* until then */
};

#define NOTHING UINT64_MAX

/* Of a function that is seldom needed: what calls it often keeps its registers
 * for itself. */
#define SELDOM __attribute__((noinline))

/* What a path is made of, to be at hand. */
struct route {
    size_t levels;
    size_t shared; /* the first level that the neighbour uses, too */
    struct cache_group *level[PROFILE_LEVELS_MAX];
    /* Bytes that each is asked for: a load's own, 1, or, by a nearer one that
     * missed, all of the sector that this one keeps; and whether that takes
     * more than a look: it has several sectors, or the cache parts. */
    uint64_t asked[PROFILE_LEVELS_MAX];
    bool pieces[PROFILE_LEVELS_MAX];
    const struct profile_path *path;
};

struct paths {
    const struct profile *profile;
    uint64_t seed, epoch, window;
    size_t count, tlb_count;
    bool parted;  /* some cache is */
    bool farther; /* some slices are */
    bool limited; /* some cache, or memory, has a rate */
    bool open;    /* … but memory, none has */
    bool queued;  /* atomics wait for others */
    bool narrow;  /* the way of a TPC or GPC has */
    bool plain;   /* neither, no windows of pages, neighbour and aliases */
    struct memory *aliased; /* where aliases lead; NULL: there are none */
    struct memory *reached; /* of which some lies elsewhere; NULL: none does */
    struct paths_link links[PLACE_COUNT];
    struct neighbour neighbour;
    struct rng short_of; /* when a line that comes ahead does not */
    struct route routes[PATH_COUNT];
    struct profile_path quickened[PATH_COUNT]; /* of which routes are then */
    double memory_busy;
    struct crossing *crossings;      /* of each TPC, then of each GPC */
    unsigned *tpc_of_sm, *gpc_of_sm; /* into crossings */
    size_t crossing_count;
    struct cache_group caches[PROFILE_CACHES_MAX], tlbs[PROFILE_TLBS_MAX];
};

static unsigned shift_of(uint64_t bytes)
{
    return (unsigned)__builtin_ctzll(bytes);
}

/* Both sides of a parted cache have one rate together: that of the first. */
static void share_instances(struct cache_group *group, const struct profile *p,
                            enum profile_scope scope)
{
    const unsigned schedulers = (unsigned)p->warp_schedulers;
    group->of = xcalloc(p->sms * schedulers, sizeof *group->of);
    for (unsigned i = 0; i < p->sms * schedulers; i++) {
        const unsigned place = profile_place(p, scope, i / schedulers);
        const unsigned copy = i % schedulers % group->copies;
        group->of[i] =
            &group->instances[group->parted ? 0 : place * group->copies + copy];
    }
}

static void make_instances(struct cache_group *group, const struct profile *p,
                           enum profile_scope scope)
{
    unsigned last = 0;
    for (unsigned sm = 0; sm < p->sms; sm++) {
        const unsigned place = profile_place(p, scope, sm);
        last = place > last ? place : last;
    }
    group->count = group->parted ? SIDES : (last + 1) * group->copies;
    group->instances = xcalloc(group->count, sizeof *group->instances);
    for (size_t i = 0; i < group->count; i++)
        group->instances[i].latest = group->instances[i].stored = NOTHING;
    share_instances(group, p, scope);
}

static void group_init(struct cache_group *group, const struct profile *p,
                       const struct profile_cache *cache)
{
    group->profile = cache;
    group->copies = cache->copies_per_sm > 0 ? cache->copies_per_sm : 1;
    group->lasting = cache->scope == SCOPE_GPU;
    group->parted = cache->partitions.bits != 0;
    group->hinted = profile_obeys_hints(cache);
    group->aged = cache_counts_uses(cache->shape.policy) ? NOTHING : 0;
    group->sector_shift = shift_of(cache->shape.sector);
    group->large = cache_shape_large(&cache->shape);
    group->shape = cache->shape;
    if (group->parted)
        group->shape.sets /= SIDES;
    make_instances(group, p, cache->scope);
    group->slices = group->shape.sets / cache_slice_sets(&group->shape);
    if (cache->atomic_cycles > 0 && group->lasting)
        group->atomics =
            xcalloc(group->count * group->slices, sizeof *group->atomics);
}

static bool is_narrow(const struct profile *p)
{
    return p->tpc_read_bandwidth > 0 || p->tpc_write_bandwidth > 0 ||
           p->gpc_read_bandwidth > 0 || p->gpc_write_bandwidth > 0;
}

/* True if what comes to memory may have waited before. */
static bool is_limited_before(const struct profile *p)
{
    for (size_t i = 0; i < p->cache_count; i++)
        if (p->caches[i].read_bandwidth > 0 || p->caches[i].write_bandwidth > 0)
            return true;
    return is_narrow(p);
}

static bool is_limited(const struct profile *p)
{
    return p->memory_read_bandwidth > 0 || p->memory_write_bandwidth > 0 ||
           is_limited_before(p);
}

/* There are no more TPCs than SMs, and no more GPCs. */
static void crossings_init(struct paths *paths)
{
    const struct profile *const p = paths->profile;
    const unsigned sms = (unsigned)p->sms;
    paths->crossing_count = 2 * sms;
    paths->crossings = xcalloc(2 * sms, sizeof *paths->crossings);
    paths->tpc_of_sm = xcalloc(sms, sizeof *paths->tpc_of_sm);
    paths->gpc_of_sm = xcalloc(sms, sizeof *paths->gpc_of_sm);
    for (unsigned sm = 0; sm < sms; sm++) {
        paths->crossings[sm] = (struct crossing){
            .read_bandwidth = p->tpc_read_bandwidth,
            .write_bandwidth = p->tpc_write_bandwidth,
        };
        paths->crossings[sms + sm] = (struct crossing){
            .read_bandwidth = p->gpc_read_bandwidth,
            .write_bandwidth = p->gpc_write_bandwidth,
        };
        paths->tpc_of_sm[sm] = profile_place(p, SCOPE_TPC, sm);
        paths->gpc_of_sm[sm] = sms + profile_place(p, SCOPE_GPC, sm);
    }
}

/* On a path without the cache that is shared, memory is beyond it. */
static size_t first_shared(const struct profile *p,
                           const struct profile_path *path)
{
    if (p->neighbour.share <= 0)
        return SIZE_MAX;
    size_t level = 0;
    while (level < path->levels && path->cache[level] != p->neighbour.from)
        level++;
    return level;
}

static void route_init(struct paths *paths, struct route *route,
                       const struct profile_path *path)
{
    route->path = path;
    route->levels = path->levels;
    route->shared = first_shared(paths->profile, path);
    for (size_t i = 0; i < route->levels; i++) {
        struct cache_group *const group = &paths->caches[path->cache[i]];
        route->level[i] = group;
        route->asked[i] = i > 0 ? route->level[i - 1]->shape.sector : 1;
        route->pieces[i] = group->parted || group->profile->slice_cycles > 0 ||
                           route->asked[i] >> group->sector_shift > 1;
    }
}

static void routes_init(struct paths *paths)
{
    for (int id = 0; id < PATH_COUNT; id++)
        route_init(paths, &paths->routes[id], &paths->profile->paths[id]);
}

static void find_plain(struct paths *paths)
{
    const struct profile *const p = paths->profile;
    paths->plain = paths->aliased == NULL && paths->reached == NULL &&
                   paths->open && !paths->parted && !paths->farther &&
                   p->page_window_bytes == 0 && p->walks_apart <= 0 &&
                   p->neighbour.share <= 0;
}

void paths_alias(struct paths *paths, struct memory *memory)
{
    paths->aliased = memory;
    find_plain(paths);
}

void paths_reach(struct paths *paths, struct memory *memory, unsigned place,
                 const struct paths_link *link)
{
    paths->reached = memory;
    paths->links[place] = *link;
    find_plain(paths);
}

/* The link to what an address is of; NULL: it is the device's. */
static struct paths_link *link_to(struct paths *paths, uint64_t address)
{
    if (paths->reached == NULL || memory_at(paths->reached, address, 1) == NULL)
        return NULL;
    const unsigned place = paths->reached->last.place;
    return place != PLACE_OWN ? &paths->links[place] : NULL;
}

/* What a cache knows an address by. */
static inline uint64_t place_in(const struct paths *paths,
                                const struct cache_group *group,
                                uint64_t address)
{
    return paths->aliased == NULL || group->profile->virtual
               ? address
               : memory_physical(paths->aliased, address);
}

struct paths *paths_new(const struct profile *profile, uint64_t seed)
{
    struct paths *const paths = xcalloc(1, sizeof *paths);
    paths->profile = profile;
    paths->seed = seed;
    paths->window = NOTHING;
    paths->count = profile->cache_count;
    paths->tlb_count = profile->tlb_count;
    for (size_t i = 0; i < paths->count; i++)
        group_init(&paths->caches[i], profile, &profile->caches[i]);
    for (size_t i = 0; i < paths->count; i++) {
        paths->parted |= paths->caches[i].parted;
        paths->farther |= profile->caches[i].slice_cycles > 0;
    }
    for (size_t i = 0; i < paths->count; i++)
        paths->queued |= paths->caches[i].atomics != NULL;
    paths->limited = is_limited(profile);
    paths->open = !is_limited_before(profile);
    paths->narrow = is_narrow(profile);
    paths_alias(paths, NULL);
    neighbour_init(&paths->neighbour, &profile->neighbour, seed);
    rng_seed(&paths->short_of, seed);
    routes_init(paths);
    crossings_init(paths);
    for (size_t i = 0; i < paths->tlb_count; i++) {
        group_init(&paths->tlbs[i], profile, &profile->tlbs[i]);
        paths->tlbs[i].lasting = true;
    }
    return paths;
}

static void group_free(struct cache_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        cache_free(group->instances[i].cache);
    free(group->instances);
    free(group->atomics);
    free(group->of);
}

void paths_free(struct paths *paths)
{
    if (paths == NULL)
        return;
    for (size_t i = 0; i < paths->count; i++)
        group_free(&paths->caches[i]);
    for (size_t i = 0; i < paths->tlb_count; i++)
        group_free(&paths->tlbs[i]);
    free(paths->crossings);
    free(paths->tpc_of_sm);
    free(paths->gpc_of_sm);
    free(paths);
}

static void quicken(struct profile_latency *latency, double share)
{
    for (size_t i = 0; i < COUNT_OF(latency->cycles); i++)
        latency->cycles[i] *= share;
}

void paths_quicken(struct paths *paths, double share)
{
    for (size_t id = 0; id < PATH_COUNT; id++) {
        struct route *const route = &paths->routes[id];
        struct profile_path *const path = &paths->quickened[id];
        *path = *route->path;
        for (size_t i = 0; i < route->levels; i++)
            if (route->level[i]->lasting)
                quicken(&path->latency[i], share);
        quicken(&path->memory, share);
        route->path = path;
    }
}

void paths_begin(struct paths *paths)
{
    paths->epoch++;
    paths->memory_busy = 0;
    for (size_t i = 0; i < PLACE_COUNT; i++)
        paths->links[i].read_busy = paths->links[i].write_busy = 0;
    for (size_t i = 0; i < paths->crossing_count; i++)
        paths->crossings[i].busy = 0;
    for (size_t i = 0; i < paths->count; i++) {
        const struct cache_group *const group = &paths->caches[i];
        for (size_t k = 0;
             group->atomics != NULL && k < group->count * group->slices; k++)
            group->atomics[k] = 0;
        for (size_t k = 0; k < group->count; k++) {
            group->instances[k].busy = 0;
            if (!group->lasting)
                group->instances[k].latest = NOTHING;
        }
    }
}

void paths_drop(struct paths *paths, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct cache_group *const group = &paths->caches[i];
        for (size_t k = 0; k < group->count; k++) {
            struct instance *const instance = &group->instances[k];
            /* A stale instance will be emptied anyway. */
            if (instance->cache == NULL || !group->lasting)
                continue;
            const uint64_t at = place_in(paths, group, address);
            if (group->parted)
                side_drop(&group->profile->partitions, instance->cache, at,
                          bytes);
            else
                cache_drop(instance->cache, at, bytes);
            instance->latest = instance->stored = NOTHING;
        }
    }
}

/* A stale instance will be emptied anyway. */
static void group_forget(const struct paths *paths,
                         const struct cache_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        struct instance *const instance = &group->instances[i];
        if (instance->cache == NULL ||
            (!group->lasting && instance->epoch != paths->epoch))
            continue;
        cache_clear(instance->cache);
        instance->latest = instance->stored = NOTHING;
    }
}

void paths_forget(struct paths *paths, uint32_t caches, uint32_t tlbs)
{
    for (size_t i = 0; i < paths->count; i++)
        if ((caches >> i & 1) != 0)
            group_forget(paths, &paths->caches[i]);
    for (size_t i = 0; i < paths->tlb_count; i++)
        if ((tlbs >> i & 1) != 0)
            group_forget(paths, &paths->tlbs[i]);
}

/* Makes the instance, or empties it if an earlier launch left it. */
SELDOM static void refresh(const struct paths *paths,
                           const struct cache_group *group,
                           struct instance *instance)
{
    const size_t index = (size_t)(instance - group->instances);
    if (instance->cache == NULL)
        instance->cache = cache_new(&group->shape, paths->seed + index);
    else if (!group->lasting)
        cache_clear(instance->cache);
    instance->epoch = paths->epoch;
    instance->stored = NOTHING;
}

static bool look_up(const struct paths *paths, const struct cache_group *group,
                    struct instance *instance, uint64_t address)
{
    if (instance->epoch != paths->epoch)
        refresh(paths, group, instance);
    instance->latest = group->aged | address >> group->sector_shift;
    instance->stored = NOTHING;
    return cache_access(instance->cache, address) == CACHE_HIT;
}

/* Cycles that so many bytes wait for their turn, and keep others waiting. */
static double take_turn(double *busy, double t, double bytes, double rate)
{
    if (rate <= 0)
        return 0;
    const double start = *busy > t ? *busy : t;
    *busy = start + bytes / rate;
    return start - t;
}

/* What is read, or written, passes the ways of the SM's TPC and GPC; cycles
 * that it waits there. */
static double cross(struct paths *paths, const struct accessor *who, double t,
                    double bytes, bool writes)
{
    if (!paths->narrow)
        return 0;
    struct crossing *const ways[] = {
        &paths->crossings[paths->tpc_of_sm[who->sm]],
        &paths->crossings[paths->gpc_of_sm[who->sm]]};
    double waits = 0;
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        waits += take_turn(&ways[i]->busy, t + waits, bytes,
                           writes ? ways[i]->write_bandwidth
                                  : ways[i]->read_bandwidth);
    return waits;
}

static inline struct instance *instance_of(const struct cache_group *group,
                                           const struct accessor *who)
{
    return group->of[who->scheduler];
}

static enum cache_keep keep_of(uint8_t hint)
{
    return (hint & HINT_FIRST) != 0    ? CACHE_KEEP_SHORT
           : (hint & HINT_LAST) != 0   ? CACHE_KEEP_LONG
           : (hint & HINT_NORMAL) != 0 ? CACHE_KEEP_NORMAL
                                       : CACHE_KEEP_AS_IS;
}

/* Bytes that a miss with this hint brings in. */
static uint64_t fetched_by(const struct cache_group *group, uint8_t hint)
{
    const uint64_t *const fetch = group->profile->fetch;
    const uint64_t bytes = (hint & HINT_FETCH_64) != 0    ? fetch[0]
                           : (hint & HINT_FETCH_128) != 0 ? fetch[1]
                           : (hint & HINT_FETCH_256) != 0 ? fetch[2]
                                                          : 0;
    return bytes;
}

/* As look_up, by a load that says what is to be kept and fetched. */
SELDOM static bool look_up_hinted(const struct paths *paths,
                                  const struct cache_group *group,
                                  struct instance *instance, uint64_t address,
                                  uint8_t hint)
{
    const enum cache_keep keep = keep_of(hint);
    const uint64_t sector = group->profile->shape.sector;
    const uint64_t bytes = fetched_by(group, hint);
    if (instance->epoch != paths->epoch)
        refresh(paths, group, instance);
    instance->latest = group->aged | address >> group->sector_shift;
    instance->stored = NOTHING;
    if (cache_access_as(instance->cache, address, keep) == CACHE_HIT)
        return true;
    for (uint64_t at = address - address % (bytes > 0 ? bytes : 1), i = 0;
         i < bytes; i += sector)
        if ((at + i) / sector != address / sector)
            cache_access_as(instance->cache, at + i, keep);
    return false;
}

static inline bool instance_hit(const struct paths *paths,
                                const struct cache_group *group,
                                struct instance *instance,
                                const struct accessor *who, uint64_t address)
{
    if (who->hint != 0 && group->hinted)
        return look_up_hinted(paths, group, instance, address, who->hint);
    if (address >> group->sector_shift == instance->latest)
        return true;
    return look_up(paths, group, instance, address);
}

static inline bool group_hit(const struct paths *paths,
                             const struct cache_group *group,
                             const struct accessor *who, uint64_t address)
{
    return instance_hit(paths, group, instance_of(group, who), who, address);
}

/* As group_hit, of a further piece of what was asked for at once. */
static bool group_hit_more(const struct paths *paths,
                           const struct cache_group *group,
                           const struct accessor *who, uint64_t address)
{
    struct instance *const instance = instance_of(group, who);
    if (who->hint != 0 && group->hinted)
        return look_up_hinted(paths, group, instance, address, who->hint);
    instance->latest = NOTHING;
    instance->stored = NOTHING;
    return cache_access_more(instance->cache, address) == CACHE_HIT;
}

static struct instance *side_instance(const struct paths *paths,
                                      const struct cache_group *group,
                                      unsigned side)
{
    struct instance *const instance = &group->instances[side];
    if (instance->epoch != paths->epoch)
        refresh(paths, group, instance);
    return instance;
}

/* Looks into the half that is near to the SM, as far as it may hold the line,
 * and then into its home.  Adds to *more what lies between. */
static bool parted_hit(const struct paths *paths,
                       const struct cache_group *group,
                       const struct accessor *who, uint64_t address,
                       double *more)
{
    const struct profile_partitions *const p = &group->profile->partitions;
    const unsigned home = side_home(p, address);
    const unsigned near = side_of_sm(p, who->sm, (unsigned)paths->profile->sms);
    const uint64_t key = side_key(p, address);
    if (near != home && who->at_home)
        cache_drop(side_instance(paths, group, near)->cache, key, 1);
    else if (p->replicates && near != home &&
             cache_access(side_instance(paths, group, near)->cache, key) ==
                 CACHE_HIT)
        return true;
    if (near != home)
        *more += p->far_cycles;
    return cache_access(side_instance(paths, group, home)->cache, key) ==
           CACHE_HIT;
}

/* Slices lie ever farther away. */
static double slice_is_farther(const struct cache_group *group,
                               const struct instance *instance,
                               uint64_t address)
{
    const size_t slice = cache_set_of(instance->cache, address) /
                         cache_slice_sets(&group->shape);
    return group->slices > 1 ? group->profile->slice_cycles * (double)slice /
                                   (double)(group->slices - 1)
                             : 0;
}

/* What a level is asked for; the bytes are a power of two.  To *more what lies
 * between parts is added, and what a slice is farther than the first. */
struct asked {
    uint64_t address, bytes;
    double *more;
};

/* Each piece is loaded, and all must be there. */
SELDOM static bool pieces_hit(const struct paths *paths,
                              const struct cache_group *group,
                              const struct accessor *who, struct asked a)
{
    const uint64_t sector = (uint64_t)1 << group->sector_shift;
    const uint64_t first = a.address & ~(a.bytes - 1);
    bool hit = group->parted ? parted_hit(paths, group, who, a.address, a.more)
                             : group_hit(paths, group, who, a.address);
    if (group->profile->slice_cycles > 0 && !group->parted)
        *a.more += slice_is_farther(group, instance_of(group, who), a.address);
    for (uint64_t at = first; at < first + a.bytes; at += sector) {
        double nothing = 0;
        if (at >> group->sector_shift == a.address >> group->sector_shift)
            continue;
        hit = (group->parted ? parted_hit(paths, group, who, at, &nothing)
                             : group_hit_more(paths, group, who, at)) &&
              hit;
    }
    return hit;
}

static inline bool level_hit(const struct paths *paths,
                             const struct route *route, size_t level,
                             const struct accessor *who, uint64_t address,
                             double *more)
{
    const struct cache_group *const group = route->level[level];
    return route->pieces[level]
               ? pieces_hit(paths, group, who,
                            (struct asked){address, route->asked[level], more})
               : group_hit(paths, group, who, address);
}

/* 0: found in the first TLB, 1: in the second, 2: in the third; or walked. */
SELDOM static unsigned translate(const struct paths *paths,
                                 const struct accessor *who, uint64_t address)
{
    for (unsigned i = 0; i < paths->tlb_count; i++)
        if (group_hit(paths, &paths->tlbs[i], who, address))
            return i;
    return paths->tlb_count > 0 ? TRANSLATION_WALKED : 0;
}

/* Cycles that an atomic waits for those that came to a slice of that side
 * before. */
static double wait_in_slice(const struct paths *paths,
                            const struct cache_group *group, unsigned side,
                            uint64_t key, double t)
{
    const struct cache *const cache = side_instance(paths, group, side)->cache;
    const size_t slice =
        cache_set_of(cache, key) / cache_slice_sets(&group->shape);
    return take_turn(&group->atomics[side * group->slices + slice], t,
                     group->profile->atomic_cycles, 1);
}

/* What is at home on the other side is asked for through the slice of this one
 * that would hold its copy. */
SELDOM static double atomic_waits(const struct paths *paths,
                                  const struct cache_group *group,
                                  const struct accessor *who, uint64_t address,
                                  double t)
{
    const struct profile_partitions *const p = &group->profile->partitions;
    if (!group->parted)
        return wait_in_slice(paths, group, 0, address, t);
    const unsigned home = side_home(p, address);
    const unsigned near = side_of_sm(p, who->sm, (unsigned)paths->profile->sms);
    const uint64_t key = side_key(p, address);
    const double waits =
        near != home ? wait_in_slice(paths, group, near, key, t) : 0;
    return waits + wait_in_slice(paths, group, home, key, t + waits);
}

/* What a load that a level does not have takes from the next one: as much as
 * it was asked for, in whole sectors. */
static uint64_t bytes_below(const struct route *route, size_t level)
{
    const uint64_t sector = route->level[level]->shape.sector;
    return route->asked[level] > sector ? route->asked[level] : sector;
}

/* Where a load is, on its way to what holds the data. */
struct way {
    const struct accessor *who;
    uint64_t address;
    double bytes; /* that it takes from the next level */
    double t;     /* when it asks there, but for latencies */
};

/* Cycles of a load whose translation was `found` so, and the level that it
 * reached. */
static double walk(struct paths *paths, const struct route *route,
                   struct way way, unsigned found, size_t *level)
{
    const struct profile_path *const path = route->path;
    const double began = way.t;
    double more = 0;
    bool across = !paths->limited;
    for (*level = 0; *level < route->levels; ++*level) {
        const struct cache_group *const group = route->level[*level];
        if (!across && group->lasting) {
            way.t += cross(paths, way.who, way.t, way.bytes, false);
            across = true;
        }
        if (paths->limited)
            way.t += take_turn(&instance_of(group, way.who)->busy, way.t,
                               way.bytes, group->profile->read_bandwidth);
        const uint64_t at = place_in(paths, group, way.address);
        if (way.who->at_home && group->atomics != NULL)
            way.t += atomic_waits(paths, group, way.who, at, way.t);
        if (level_hit(paths, route, *level, way.who, at, &more))
            return path->latency[*level].cycles[found] + more + (way.t - began);
        way.bytes = (double)bytes_below(route, *level);
    }
    if (!across)
        way.t += cross(paths, way.who, way.t, way.bytes, false);
    if (paths->limited)
        way.t += take_turn(&paths->memory_busy, way.t, way.bytes,
                           paths->profile->memory_read_bandwidth);
    return path->memory.cycles[found] + more + (way.t - began);
}

/* What the walk for a page costs more than for others, the same each time: of
 * eight pages of an H100, 2026-11, three walks took 733 cycles, four 826, one
 * 1042. */
static double walk_more(const struct paths *paths, uint64_t address)
{
    static const double shares[] = {0, 0, 0, 0.3, 0.3, 0.3, 0.3, 1};
    const uint64_t page = address >> paths->tlbs[0].sector_shift;
    return paths->profile->walks_apart *
           shares[(page * 0x9e3779b97f4a7c15u) >> 61];
}

/* True if the load leaves the window of active pages, which then moves. */
static bool leaves_window(struct paths *paths, uint64_t address)
{
    if (paths->profile->page_window_bytes == 0)
        return false;
    const uint64_t window = address / paths->profile->page_window_bytes;
    const bool leaves = paths->window != window && paths->window != NOTHING;
    paths->window = window;
    return leaves;
}

/* Cycles of a load over a link. */
SELDOM static double load_over(struct paths *paths, struct paths_link *link,
                               const struct lane_load *load, unsigned found)
{
    const struct route *const route = &paths->routes[load->path];
    uint64_t bytes = load->bytes;
    for (size_t i = 0; i < route->levels; i++) {
        const bool kept =
            route->level[i]->lasting ? link->l2_keeps : link->l1_keeps;
        double more = 0;
        if (kept && !load->who->anew && !load->who->at_home &&
            level_hit(paths, route, i, load->who, load->address, &more))
            return route->path->latency[i].cycles[found] + more;
        bytes = bytes_below(route, i);
    }
    const double cycles =
        load->who->at_home ? link->atomic_cycles : link->cycles;
    return cycles + take_turn(&link->read_busy, load->t, (double)bytes,
                              link->read_bandwidth);
}

/* Cycles of a load where caches are in partitions or have rates, pages are in
 * windows, or there is a neighbour. */
SELDOM static double load_in_turn(struct paths *paths,
                                  const struct lane_load *load)
{
    const struct route *const route = &paths->routes[load->path];
    const struct way way = {load->who, load->address, load->bytes, load->t};
    const unsigned found = translate(paths, load->who, load->address);
    struct paths_link *const link = link_to(paths, load->address);
    size_t level;
    if (link != NULL)
        return load_over(paths, link, load, found);
    const double cycles =
        walk(paths, route, way, found, &level) +
        (found == TRANSLATION_WALKED ? walk_more(paths, load->address) : 0);
    const double waits =
        level < route->shared ? 0 : neighbour_wait(&paths->neighbour);
    return waits + (leaves_window(paths, load->address)
                        ? paths->profile->page_window_latency
                        : cycles);
}

/* Bytes of a load that comes to memory. */
static double bytes_of_memory(const struct route *route, unsigned bytes)
{
    return route->levels > 0 ? (double)bytes_below(route, route->levels - 1)
                             : bytes;
}

/* Cycles of a load that the nearest cache does not have; *far if it comes to
 * memory. */
SELDOM static double load_from_beyond(const struct paths *paths,
                                      const struct lane_load *load,
                                      unsigned found, bool *far)
{
    const struct route *const route = &paths->routes[load->path];
    const struct profile_path *const path = route->path;
    for (size_t i = 1; i < route->levels; i++)
        if (level_hit(paths, route, i, load->who, load->address, NULL))
            return path->latency[i].cycles[found];
    *far = true;
    return path->memory.cycles[found];
}

bool paths_are_timeless(const struct paths *paths, enum profile_path_id path,
                        double t)
{
    const struct route *const route = &paths->routes[path];
    const double rate = paths->profile->memory_read_bandwidth;
    return paths->plain && paths->memory_busy <= t &&
           (rate <= 0 ||
            bytes_of_memory(route, 8) / rate < route->path->memory.cycles[0]);
}

/* What all loads of one scheduler on one path come to first: of the TLB and the
 * cache, NULL if there is none. */
struct nearest {
    const struct route *route;
    const struct cache_group *group, *pages;
    struct instance *cache, *tlb;
};

static inline struct nearest nearest_to(const struct paths *paths,
                                        const struct lane_load *load)
{
    struct nearest near = {.route = &paths->routes[load->path]};
    if (paths->tlb_count > 0) {
        near.pages = &paths->tlbs[0];
        near.tlb = instance_of(near.pages, load->who);
    }
    if (near.route->levels > 0) {
        near.group = near.route->level[0];
        near.cache = instance_of(near.group, load->who);
    }
    return near;
}

/* Cycles of a load where paths are timeless; most are in the page that was used
 * last, and in the nearest cache. */
static inline double load_plain(const struct paths *paths, struct nearest near,
                                const struct lane_load *load, bool *far)
{
    const uint64_t address = load->address;
    unsigned found = 0;
    if (near.tlb != NULL &&
        address >> near.pages->sector_shift != near.tlb->latest)
        found = translate(paths, load->who, address);
    if (near.cache == NULL ||
        !instance_hit(paths, near.group, near.cache, load->who, address))
        return load_from_beyond(paths, load, found, far);
    return near.route->path->latency[0].cycles[found];
}

double paths_take_memory(struct paths *paths, const struct lane_load *load)
{
    return take_turn(&paths->memory_busy, load->t,
                     bytes_of_memory(&paths->routes[load->path], load->bytes),
                     paths->profile->memory_read_bandwidth);
}

double paths_load_one(struct paths *paths, const struct lane_load *load)
{
    bool far = false;
    if (!paths->plain || (paths->queued && load->who->at_home))
        return load_in_turn(paths, load);
    const struct nearest near = nearest_to(paths, load);
    const double cycles = load_plain(paths, near, load, &far);
    if (!far || !paths->limited)
        return cycles;
    return cycles + paths_take_memory(paths, load);
}

bool paths_load_each(struct paths *paths, struct lane_load load,
                     const uint64_t *addresses, size_t count, double *cycles)
{
    const struct nearest near = nearest_to(paths, &load);
    bool far = false;
    for (size_t i = 0; i < count; i++) {
        far = false;
        load.address = addresses[i];
        cycles[i] = load_plain(paths, near, &load, &far);
    }
    return far && paths->limited;
}

/* What the lanes of a warp touch, each once. */
struct distinct {
    size_t count;
    uint64_t most;
    uint64_t value[32];
};

/* True if the value is new.  Lanes mostly go upwards, so that it need not be
 * searched for. */
static bool put_distinct(struct distinct *d, uint64_t value)
{
    if (d->count != 0 && value <= d->most) {
        for (size_t i = d->count; i-- > 0;)
            if (d->value[i] == value)
                return false;
    } else {
        d->most = value;
    }
    d->value[d->count++] = value;
    return true;
}

/* What is nearest on the path; without caches, what a memory transaction
 * brings: 32 bytes. */
static const struct cache_shape *nearest_shape(const struct paths *paths,
                                               enum profile_path_id id)
{
    static const struct cache_shape uncached = {.line = 32, .sector = 32};
    const struct profile_path *const p = &paths->profile->paths[id];
    return p->levels > 0 ? &paths->profile->caches[p->cache[0]].shape
                         : &uncached;
}

/* Most lines are powers of two, and a shift is many times as quick. */
static inline uint64_t line_of(const struct cache_shape *shape,
                               uint64_t address)
{
    return (shape->line & (shape->line - 1)) == 0
               ? address >> shift_of(shape->line)
               : address / shape->line;
}

static void expect_at(const struct instance *instance, uint64_t address)
{
    if (instance->cache != NULL)
        cache_expect(instance->cache, address);
}

/* What lanes will ask their nearest cache, if the host would wait for each. */
static void expect(const struct route *route, const struct accessor *who,
                   const struct warp_load *load)
{
    const struct cache_group *const group = route->level[0];
    if (route->levels == 0 || !group->large)
        return;
    const struct profile_partitions *const p = &group->profile->partitions;
    for (size_t i = 0; i < load->count; i++) {
        const uint64_t at = load->addresses[i];
        if (!group->parted)
            expect_at(instance_of(group, who), at);
        for (unsigned side = 0; group->parted && side < SIDES; side++)
            if (p->replicates || side == side_home(p, at))
                expect_at(&group->instances[side], side_key(p, at));
    }
}

double paths_load(struct paths *paths, enum profile_path_id path,
                  const struct accessor *who, struct warp_load *load, double t)
{
    const struct cache_shape *const shape = nearest_shape(paths, path);
    const unsigned sector_shift = shift_of(shape->sector);
    const unsigned each =
        path == PATH_CONSTANT ? load->bytes : (unsigned)shape->sector;
    struct lane_load one = {.path = path, .bytes = each, .who = who, .t = t};
    struct distinct sector, line;
    sector.count = line.count = 0;
    sector.most = line.most = 0;
    double slowest = 0;
    if (load->count > 1)
        expect(&paths->routes[path], who, load);
    for (size_t i = 0; i < load->count; i++) {
        const uint64_t address = load->addresses[i];
        if (!put_distinct(&sector, address >> sector_shift))
            continue;
        put_distinct(&line, line_of(shape, address));
        one.address = address;
        const double cycles = paths_load_one(paths, &one);
        slowest = cycles > slowest ? cycles : slowest;
    }
    load->lines = (unsigned)line.count;
    return slowest + (double)(line.count - 1);
}

double paths_copy(struct paths *paths, enum profile_path_id path,
                  const struct accessor *who, uint64_t address, uint64_t bytes,
                  double t)
{
    const struct cache_shape *const shape = nearest_shape(paths, path);
    const uint64_t sector = shape->sector, end = address + bytes;
    struct lane_load one = {
        .path = path, .bytes = (unsigned)sector, .who = who, .t = t};
    double slowest = 0;
    for (uint64_t at = address / sector * sector; at < end; at += sector) {
        one.address = at;
        const double cycles = paths_load_one(paths, &one);
        slowest = cycles > slowest ? cycles : slowest;
    }
    return slowest + (double)((end - 1) / shape->line - address / shape->line);
}

/* Cycles of a fetch that found its piece there. */
static double fetched_from(struct paths *paths, size_t level)
{
    const struct route *const route = &paths->routes[PATH_INSTRUCTION];
    const struct profile_latency *const latency =
        level == route->levels ? &route->path->memory
                               : &route->path->latency[level];
    return latency->cycles[0] +
           (level < route->shared ? 0 : neighbour_wait(&paths->neighbour));
}

/* Brings `bytes` from `address` on to the level above `level`, in pieces as
 * this one keeps them; the cycles of the piece that took longest. */
static double fetch_from(struct paths *paths, const struct accessor *who,
                         size_t level, uint64_t address, uint64_t bytes)
{
    const struct profile_path *const path =
        &paths->profile->paths[PATH_INSTRUCTION];
    /* More levels than can be there are none, so that compilers see it too. */
    if (level == path->levels || level == PROFILE_LEVELS_MAX)
        return fetched_from(paths, level);
    const struct cache_group *const group = &paths->caches[path->cache[level]];
    const uint64_t sector = (uint64_t)1 << group->sector_shift;
    const uint64_t first = address & ~(sector - 1);
    double slowest = 0;
    for (uint64_t at = first; at < address + bytes; at += sector) {
        const bool hit = at == first ? group_hit(paths, group, who, at)
                                     : group_hit_more(paths, group, who, at);
        const double cycles =
            hit ? fetched_from(paths, level)
                : fetch_from(paths, who, level + 1, at, sector);
        slowest = cycles > slowest ? cycles : slowest;
    }
    return slowest;
}

static bool group_holds(const struct paths *paths,
                        const struct cache_group *group,
                        const struct accessor *who, uint64_t address)
{
    struct instance *const instance = instance_of(group, who);
    if (instance->epoch != paths->epoch)
        refresh(paths, group, instance);
    return cache_holds(instance->cache, address);
}

static uint64_t lines_ahead(struct paths *paths)
{
    const struct profile_path *const path =
        &paths->profile->paths[PATH_INSTRUCTION];
    return path->prefetch -
           (path->prefetch_short > 0 &&
            rng_below(&paths->short_of, 100) < path->prefetch_short);
}

/* As paths_fetch, and on a miss, or always, what follows comes too. */
static double fetch_ahead(struct paths *paths, const struct accessor *who,
                          uint64_t address)
{
    const struct profile_path *const path =
        &paths->profile->paths[PATH_INSTRUCTION];
    const struct cache_group *const near =
        paths->routes[PATH_INSTRUCTION].level[0];
    const uint64_t line = near->profile->shape.line;
    const bool missed = !group_holds(paths, near, who, address);
    const double cycles = fetch_from(paths, who, 0, address, 1);
    if (missed || path->prefetch_on_hits)
        fetch_from(paths, who, 0, (address / line + 1) * line,
                   lines_ahead(paths) * line);
    return cycles;
}

double paths_fetch(struct paths *paths, const struct accessor *who,
                   uint64_t address)
{
    return paths->profile->paths[PATH_INSTRUCTION].prefetch > 0
               ? fetch_ahead(paths, who, address)
               : fetch_from(paths, who, 0, address, 1);
}

/* In partitions, what is stored goes to its home. */
static void bring_home(struct paths *paths, const struct cache_group *group,
                       uint64_t address)
{
    const struct profile_partitions *const p = &group->profile->partitions;
    const unsigned home = side_home(p, address);
    const uint64_t key = side_key(p, address);
    cache_access(side_instance(paths, group, home)->cache, key);
    cache_drop(side_instance(paths, group, !home)->cache, key, 1);
}

/* True if the cache has what is stored.  If not, it stays there from now on,
 * and another line goes; or lines that were read long ago would take what is
 * stored to them for ever.  Lanes of a warp mostly store to one sector. */
static bool take_store(const struct cache_group *group,
                       const struct accessor *who, uint64_t address)
{
    if (group->parted)
        return true;
    struct instance *const instance = instance_of(group, who);
    const uint64_t sector = address >> group->sector_shift;
    if (instance->cache == NULL)
        return false;
    if (instance->stored == sector)
        return true;
    instance->stored = sector;
    if (cache_holds(instance->cache, address))
        return true;
    cache_access(instance->cache, address);
    return false;
}

/* Through the caches that all SMs share; what none of them holds goes on to
 * memory. */
static double store_waits(struct paths *paths, const struct accessor *who,
                          uint64_t address, unsigned bytes, double t)
{
    const struct profile_path *const path =
        &paths->profile->paths[PATH_GLOBAL_CG];
    double waits = cross(paths, who, t, bytes, true);
    for (size_t i = 0; i < path->levels; i++) {
        const struct cache_group *const group = &paths->caches[path->cache[i]];
        waits += take_turn(&instance_of(group, who)->busy, t + waits, bytes,
                           group->profile->write_bandwidth);
        if (take_store(group, who, place_in(paths, group, address)))
            return waits;
        if (bytes < group->profile->shape.sector)
            bytes =
                (unsigned)group->profile->shape.sector; /* goes back whole */
    }
    return waits + take_turn(&paths->memory_busy, t + waits, bytes,
                             paths->profile->memory_write_bandwidth);
}

double paths_store(struct paths *paths, const struct accessor *who,
                   uint64_t address, unsigned bytes, double t)
{
    struct paths_link *const link = link_to(paths, address);
    if (link != NULL)
        return take_turn(&link->write_busy, t, bytes, link->write_bandwidth);
    const double waits =
        paths->limited ? store_waits(paths, who, address, bytes, t) : 0;
    for (size_t i = 0; paths->parted && i < paths->count; i++)
        if (paths->caches[i].parted)
            bring_home(paths, &paths->caches[i],
                       place_in(paths, &paths->caches[i], address));
    return waits;
}

void paths_store_local(struct paths *paths, const struct accessor *who,
                       const struct warp_load *store)
{
    const struct profile_path *const path = &paths->profile->paths[PATH_LOCAL];
    if (path->levels == 0 || paths->caches[path->cache[0]].parted)
        return;
    const struct cache_group *const group = &paths->caches[path->cache[0]];
    uint64_t sector = NOTHING, written = 0;
    for (size_t i = 0; i < store->count; i++) {
        const uint64_t here = store->addresses[i] >> group->sector_shift;
        written = here == sector ? written + store->bytes : store->bytes;
        sector = here;
        if (written == (uint64_t)1 << group->sector_shift)
            group_hit(paths, group, who,
                      place_in(paths, group, store->addresses[i]));
    }
}
