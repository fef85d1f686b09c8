/*
 * Memory instructions: where addresses lead, what lies there, and how long it
 * takes to come.  Stores take their turn in the pipes, and hold their warp up
 * until it comes.
 */
#include <string.h>

#include "base/mem.h"
#include "device/sim/machine/units.h"
#include "device/sim/ptx/convert.h"
#include "device/sim/ptx/opcodes.h"

/* Local memory's addresses as the caches see them, below all allocations. */
#define LOCAL_ADDRESSES ((uint64_t)1 << 36)

static void bad_access(struct machine *m, const struct op *op, const char *what,
                       unsigned space, uint64_t address)
{
    machine_fault(m, op, "%u bytes at .%s address 0x%llx are %s", op->bytes,
                  ptx_spaces[space], (unsigned long long)address, what);
}

/* The space of an address, of which the window is cut off. */
static unsigned space_of(const struct op *op, uint64_t *address)
{
    if (op->space != SPACE_GENERIC)
        return op->space;
    const unsigned space = generic_space(*address);
    if (space != SPACE_GLOBAL)
        *address &= SHARED_WINDOW - 1;
    return space;
}

static unsigned char *within(unsigned char *host, uint64_t size,
                             uint64_t address, uint64_t bytes)
{
    if (address >= size || bytes > size - address)
        return NULL;
    return host + address;
}

static uint64_t local_address(const struct machine *m, const struct warp *w,
                              unsigned lane, uint64_t offset)
{
    const uint64_t warp =
        w->block->sm->number * m->profile->max_warps_per_sm + w->number;
    const uint64_t words = (m->kernel->local_bytes + 3) / 4;
    return LOCAL_ADDRESSES +
           ((warp * words + offset / 4) * WARP_LANES + lane) * 4 + offset % 4;
}

/* The warp's local memory, made when it is first used: most blocks of our
 * launches leave at once. */
static unsigned char *local_of(struct warp *w, const struct kernel *k)
{
    if (w->local == NULL)
        w->local = xcalloc(WARP_LANES, k->local_bytes + 1);
    return w->local;
}

/* Where the caches see a lane's address.  Constants are addressed from the
 * start of their module's; words of the lanes of a warp lie side by side in
 * local memory. */
static inline uint64_t cached_address(const struct machine *m,
                                      const struct warp *w, unsigned space,
                                      unsigned lane, uint64_t address)
{
    if (space == SPACE_CONST)
        return m->kernel->module->constants.address + address;
    return space == SPACE_LOCAL ? local_address(m, w, lane, address) : address;
}

/* Host bytes behind a lane's address; NULL after a fault. */
static inline unsigned char *resolve(struct machine *m, struct warp *w,
                                     const struct op *op, unsigned space,
                                     unsigned lane, uint64_t address)
{
    const struct kernel *const k = m->kernel;
    unsigned char *host = NULL;
    switch (space) {
    case SPACE_SHARED:
        host = within(w->block->shared, m->shared_bytes, address, op->bytes);
        break;
    case SPACE_LOCAL:
        host = within(local_of(w, k) + lane * k->local_bytes, k->local_bytes,
                      address, op->bytes);
        break;
    case SPACE_PARAM:
        host = within(m->params, k->param_bytes, address, op->bytes);
        break;
    case SPACE_CONST:
        host = address < k->module->constants.bytes
                   ? memory_at(&m->memory,
                               cached_address(m, w, space, lane, address),
                               op->bytes)
                   : NULL;
        break;
    default:
        host = memory_at(&m->memory, address, op->bytes);
    }
    if (host == NULL)
        bad_access(m, op, "outside of what is allocated", space, address);
    else if ((address & (op->bytes - 1u)) != 0)
        bad_access(m, op, "misaligned", space, address);
    else
        return host;
    return NULL;
}

/* The addresses of one warp's access. */
struct access {
    unsigned space, count;
    uint64_t address[WARP_LANES];
    unsigned char *host[WARP_LANES]; /* by lane */
};

/* As resolve, of the spaces that most accesses name; NULL: resolve knows more.
 */
static inline unsigned char *quick_bytes(struct machine *m,
                                         const struct warp *w,
                                         const struct op *op, unsigned space,
                                         uint64_t address)
{
    if ((address & (op->bytes - 1u)) != 0)
        return NULL;
    if (space == SPACE_GLOBAL)
        return memory_at(&m->memory, address, op->bytes);
    return space == SPACE_SHARED
               ? within(w->block->shared, m->shared_bytes, address, op->bytes)
               : NULL;
}

/* As gather, of an instruction that names one of these spaces. */
static inline bool gather_quick(struct machine *m, struct warp *w,
                                const struct op *op, uint32_t mask,
                                unsigned space, struct access *a)
{
    const uint64_t *const base = lanes_of(m, w, op->src[0]);
    unsigned count = 0;
    EACH_LANE(mask, l)
    {
        const uint64_t address = base[l] + (uint64_t)op->offset;
        a->host[l] = quick_bytes(m, w, op, space, address);
        if (a->host[l] == NULL)
            return resolve(m, w, op, space, l, address) != NULL;
        a->address[count++] = address;
    }
    a->space = space;
    a->count = count;
    return true;
}

/* False after a fault. */
static bool gather(struct machine *m, struct warp *w, const struct op *op,
                   uint32_t mask, struct access *a)
{
    if (op->space == SPACE_GLOBAL)
        return gather_quick(m, w, op, mask, SPACE_GLOBAL, a);
    if (op->space == SPACE_SHARED)
        return gather_quick(m, w, op, mask, SPACE_SHARED, a);
    const uint64_t *const base = lanes_of(m, w, op->src[0]);
    a->count = 0;
    EACH_LANE(mask, l)
    {
        uint64_t address = base[l] + (uint64_t)op->offset;
        const unsigned space = space_of(op, &address);
        if (a->count != 0 && space != a->space) {
            machine_fault(m, op, "lanes of one warp access .%s and .%s",
                          ptx_spaces[a->space], ptx_spaces[space]);
            return false;
        }
        a->space = space;
        a->host[l] = resolve(m, w, op, space, l, address);
        if (a->host[l] == NULL)
            return false;
        a->address[a->count++] = cached_address(m, w, space, l, address);
    }
    return true;
}

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* As banks_degree, of several lanes. */
static unsigned degree_of(struct bank_access *last, const struct banks *banks,
                          const struct access *a, unsigned bytes)
{
    uint32_t address[WARP_LANES];
    for (unsigned i = 0; i < a->count; i++)
        address[i] = (uint32_t)a->address[i];
    const size_t size = a->count * sizeof *address;
    if (last->count == a->count && last->bytes == bytes &&
        memcmp(last->address, address, size) == 0)
        return last->degree;
    memcpy(last->address, address, size);
    last->count = a->count;
    last->bytes = bytes;
    last->degree = banks_degree(banks, address, a->count, bytes);
    return last->degree;
}

/* Takes the shared memory's pipe; cycles from t until the data is there. */
static double shared_access(struct machine *m, struct warp *w,
                            const struct op *op, const struct access *a,
                            double t)
{
    const struct profile *const p = m->profile;
    struct sm *const sm = w->block->sm;
    const unsigned degree =
        a->count > 1 ? degree_of(&sm->banks, &p->banks, a, op->bytes) : 1;
    const double more = (degree - 1) * p->shared_conflict_cycles;
    const double start = later(t, sm->shared_free);
    const double rate = op->kind == OP_STORE ? p->shared_write_bandwidth
                                             : p->shared_read_bandwidth;
    const double busy = rate > 0 ? a->count * op->bytes / rate : 0;
    sm->shared_free = start + later(1 + more, busy);
    return start - t + p->shared_latency + more;
}

/* What a load takes more for the code around it that nobody optimised. */
static inline double unoptimized_cycles(const struct machine *m,
                                        const struct op *op, unsigned space)
{
    if (!op->unoptimized || op->kind == OP_ATOMIC)
        return 0;
    return space == SPACE_SHARED
               ? m->profile->shared_unoptimized_cycles
               : m->profile->paths[op->path].unoptimized_cycles;
}

/* Who loads: the warp; or, in `own`, the warp and that it is an atomic, or what
 * the load tells L2, its own words and the policy that it takes. */
static inline const struct accessor *
loader_of(const struct machine *m, const struct warp *w, const struct op *op,
          unsigned lane, struct accessor *own)
{
    if (op->kind != OP_ATOMIC &&
        ((op->sub == 0 && !op->anew) || op->kind != OP_LOAD))
        return &w->accessor;
    *own = w->accessor;
    own->anew = op->anew;
    own->at_home = op->kind == OP_ATOMIC;
    if (own->at_home)
        return own;
    own->hint = op->sub;
    if ((own->hint & HINT_POLICY) != 0)
        own->hint |= (uint8_t)lanes_of(m, w, op->src[1])[lane];
    return own;
}

/* Cycles from t until the data of a load is there. */
static double access_cycles(struct machine *m, struct warp *w,
                            const struct op *op, const struct access *a,
                            unsigned lane, double t)
{
    if (a->space == SPACE_PARAM)
        return op->latency;
    const double more = unoptimized_cycles(m, op, a->space);
    if (a->space == SPACE_SHARED)
        return more + noise_add(&m->noise, shared_access(m, w, op, a, t));
    struct accessor own;
    struct warp_load load = {
        .addresses = a->address, .count = a->count, .bytes = op->bytes};
    const double cycles = m->crowd + more +
                          paths_load(m->paths, (enum profile_path_id)op->path,
                                     loader_of(m, w, op, lane, &own), &load, t);
    m->lines = load.lines;
    if (load.lines > 1)
        w->scheduler->pipe_free[op->pipe] = t + load.lines;
    return noise_add(&m->noise, cycles);
}

/* Through a variable of the width: reading 8 bytes back of which 4 were just
 * written stalls the host. */
static inline uint64_t read_bytes(const unsigned char *from, unsigned bytes)
{
    uint64_t value = 0;
    uint32_t word;
    switch (bytes) {
    case 8:
        memcpy(&value, from, 8);
        return value;
    case 4:
        memcpy(&word, from, 4);
        return word;
    default:
        memcpy(&value, from, bytes);
        return value;
    }
}

/* The commonest load of a program that measures: one lane, no bank conflict. */
static inline void load_lane(struct machine *m, struct warp *w,
                             const struct op *op, unsigned lane, double t)
{
    const uint64_t address =
        lanes_of(m, w, op->src[0])[lane] + (uint64_t)op->offset;
    const unsigned char *const quick =
        quick_bytes(m, w, op, op->space, address);
    const unsigned char *const host =
        quick != NULL ? quick : resolve(m, w, op, op->space, lane, address);
    if (host == NULL)
        return;
    const uint64_t bits = read_bytes(host, op->bytes);
    m->lines = 1;
    lanes_of(m, w, op->dst[0])[lane] =
        op->extends ? extend(bits, op->type, op->dst_bytes) : bits;
    struct accessor own;
    const struct lane_load load = {
        .path = (enum profile_path_id)op->path,
        .bytes = op->bytes,
        .who = loader_of(m, w, op, lane, &own),
        .address = cached_address(m, w, op->space, lane, address),
        .t = t,
    };
    const double cycles = m->crowd + unoptimized_cycles(m, op, op->space) +
                          paths_load_one(m->paths, &load);
    set_ready(w, op->dst[0], 1u << lane, t + noise_add(&m->noise, cycles));
}

/* What lies `offset` behind those bytes; twice as quick where `bytes` is known
 * when this is compiled. */
static inline void read_lanes(const struct access *a, uint32_t mask,
                              size_t offset, unsigned bytes, uint64_t *to)
{
    EACH_LANE(mask, l)
    to[l] = read_bytes(a->host[l] + offset, bytes);
}

static inline void write_lanes(const struct access *a, uint32_t mask,
                               size_t offset, unsigned bytes,
                               const uint64_t *from)
{
    EACH_LANE(mask, l)
    memcpy(a->host[l] + offset, &from[l], bytes);
}

static void load_lanes(struct machine *m, struct warp *w, const struct op *op,
                       uint32_t mask, double t)
{
    struct access a;
    if (!gather(m, w, op, mask, &a))
        return;
    const unsigned size = op->bytes / op->elements;
    const double when = t + access_cycles(m, w, op, &a, first_lane(mask), t);
    for (unsigned e = 0; e < op->elements; e++) {
        uint64_t *const d = lanes_of(m, w, op->dst[e]);
        if (size == 4)
            read_lanes(&a, mask, e * size, 4, d);
        else
            read_lanes(&a, mask, e * size, size, d);
        if (op->extends) {
            EACH_LANE(mask, l)
            d[l] = extend(d[l], op->type, op->dst_bytes);
        }
        set_ready(w, op->dst[e], mask, when);
    }
}

void access_load(struct machine *m, struct warp *w, const struct op *op,
                 uint32_t mask, double t)
{
    if (op->direct && (mask & (mask - 1)) == 0)
        load_lane(m, w, op, first_lane(mask), t);
    else
        load_lanes(m, w, op, mask, t);
}

/* The warp goes on when what it stores is taken. */
static void hold(struct warp *w, double t, double cycles)
{
    w->next = later(w->next, t + cycles);
}

static void store_shared(struct machine *m, struct warp *w, const struct op *op,
                         const struct access *a, double t)
{
    const double waits = w->block->sm->shared_free - t;
    shared_access(m, w, op, a, t);
    hold(w, t, waits);
}

static void store_global(struct machine *m, struct warp *w, const struct op *op,
                         const struct access *a, double t)
{
    double waits = 0;
    for (unsigned i = 0; i < a->count; i++)
        waits = later(waits, paths_store(m->paths, &w->accessor, a->address[i],
                                         op->bytes, t));
    hold(w, t, waits);
}

void access_store(struct machine *m, struct warp *w, const struct op *op,
                  uint32_t mask, double t)
{
    struct access a;
    if (!gather(m, w, op, mask, &a))
        return;
    const unsigned size = op->bytes / op->elements;
    for (unsigned e = 0; e < op->elements; e++) {
        const uint64_t *const s = lanes_of(m, w, op->src[1 + e]);
        if (size == 4)
            write_lanes(&a, mask, e * size, 4, s);
        else if (size == 8)
            write_lanes(&a, mask, e * size, 8, s);
        else
            write_lanes(&a, mask, e * size, size, s);
    }
    if (a.space == SPACE_SHARED)
        store_shared(m, w, op, &a, t);
    else if (a.space == SPACE_GLOBAL)
        store_global(m, w, op, &a, t);
    else if (a.space == SPACE_LOCAL)
        paths_store_local(m->paths, &w->accessor,
                          &(struct warp_load){.addresses = a.address,
                                              .count = a.count,
                                              .bytes = op->bytes});
}

static uint64_t add_typed(enum ptx_type type, uint64_t old, uint64_t value)
{
    const enum ptx_type element = element_of(type);
    if (ptx_types[type].class != 'f')
        return old + value;
    if (element == type)
        return real_to_bits(type,
                            real_value(type, old) + real_value(type, value));
    return add_typed(element, old & 0xffff, value & 0xffff) |
           add_typed(element, old >> 16, value >> 16) << 16;
}

static bool less(enum ptx_type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case TYPE_S32:
        return (int32_t)a < (int32_t)b;
    case TYPE_S64:
        return (int64_t)a < (int64_t)b;
    default:
        return a < b;
    }
}

uint64_t atomic_result(const struct op *op, uint64_t old, uint64_t b,
                       uint64_t c)
{
    switch ((enum ptx_atomic)op->sub) {
    case ATOMIC_ADD:
        return add_typed(op->type, old, b);
    case ATOMIC_EXCH:
        return b;
    case ATOMIC_CAS:
        return old == b ? c : old;
    case ATOMIC_MIN:
        return less(op->type, b, old) ? b : old;
    case ATOMIC_MAX:
        return less(op->type, old, b) ? b : old;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > b ? b : old - 1;
    }
    return old;
}

/* Lanes go one after the other, lowest first. */
void access_atomic(struct machine *m, struct warp *w, const struct op *op,
                   uint32_t mask, double t)
{
    struct access a;
    if (!gather(m, w, op, mask, &a))
        return;
    uint64_t *const d = lanes_of(m, w, op->dst[0]);
    const uint64_t *const b = lanes_of(m, w, op->src[1]);
    const uint64_t *const c = lanes_of(m, w, op->src[2]);
    const double when = t + access_cycles(m, w, op, &a, first_lane(mask), t);
    EACH_LANE(mask, l)
    {
        const uint64_t old = read_bytes(a.host[l], op->bytes);
        const uint64_t value = atomic_result(op, old, b[l], c[l]);
        memcpy(a.host[l], &value, op->bytes);
        d[l] = old;
    }
    set_ready(w, op->dst[0], mask, when);
}

/* Outside the texture, zeros are read. */
void access_texture(struct machine *m, struct warp *w, const struct op *op,
                    uint32_t mask, double t)
{
    const uint64_t *const object = lanes_of(m, w, op->src[0]);
    const uint64_t *const x = lanes_of(m, w, op->src[1]);
    struct access a = {.space = SPACE_GLOBAL};
    EACH_LANE(mask, l)
    {
        const uint64_t i = object[l] - 1;
        if (i >= m->texture_count || m->textures[i].bytes == 0) {
            machine_fault(m, op, "0x%llx is no texture object",
                          (unsigned long long)object[l]);
            return;
        }
        const struct texture_view *const view = &m->textures[i];
        const uint64_t offset = (uint64_t)(uint32_t)x[l] * 4;
        const bool inside = offset < view->bytes && view->bytes - offset >= 4;
        const unsigned char *const host =
            inside ? memory_at(&m->memory, view->address + offset, 4) : NULL;
        lanes_of(m, w, op->dst[0])[l] = host != NULL ? read_bytes(host, 4) : 0;
        for (unsigned e = 1; e < op->elements; e++)
            lanes_of(m, w, op->dst[e])[l] = 0;
        a.address[a.count++] = view->address + offset;
    }
    const double when = t + access_cycles(m, w, op, &a, first_lane(mask), t);
    for (unsigned e = 0; e < op->elements; e++)
        set_ready(w, op->dst[e], mask, when);
}

/* A line that is in the nearest cache was fetched ahead and costs nothing; any
 * other stops the warp for as much longer as it takes to come. */
double access_fetch(struct machine *m, const struct warp *w, uint64_t address)
{
    const double cycles = paths_fetch(m->paths, &w->accessor, address);
    const double hit = m->profile->paths[PATH_INSTRUCTION].latency[0].cycles[0];
    return cycles > hit ? noise_add(&m->noise, cycles - hit) : 0;
}
