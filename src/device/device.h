/*
 * A device is a GPU, or something that behaves like one: it takes PTX text,
 * runs it, and has memory and clocks.  Nothing above this header knows which
 * kind it has, and nothing above it may ask.
 *
 * A backend is one `const struct device_ops`.  Every hook is named after a
 * driver-level act.  Hooks marked optional may be NULL; the wrappers below
 * then answer ERR_UNSUPPORTED with a sentence.  All others are required.
 *
 * Units: addresses and sizes in bytes, times in the unit of their name.
 * Hooks return 0 or a negative `enum error_code` with one sentence in *err.
 * A device is used by one thread at a time.
 */
#ifndef SONDE_DEVICE_DEVICE_H
#define SONDE_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/aside.h"
#include "base/error.h"

/* Every property that a driver may report: see properties.def. */
enum device_property {
#define PROPERTY(id, component, attribute, unit, text) PROPERTY_##id,
#include "device/properties.def"
#undef PROPERTY
    PROPERTY_COUNT
};

struct device_info {
    char spec[128]; /* what opens it again: cuda:0, sim:k20c */
    char name[128];
    char architecture[32]; /* "" where not told */
    char driver[32];       /* version of CUDA that it speaks, "" if none */
    char release[32];      /* of the driver, "580.159.04", "" if not told */
    char uuid[64];         /* "GPU-…", "" if none */
    char pci[32];          /* "0000:1a:00.0", "" if none or not told */
    double power_limit_w;  /* 0: not told */
    int cc_major, cc_minor;
    bool simulated; /* for reports: nothing that measures may ask */
    /* How long it must work until its clock has risen from idle. */
    double warm_up_s;
    /* What is mapped at several addresses comes in pieces of so many bytes; 0:
     * it cannot be. */
    uint64_t mapping_bytes;
    /* -1: not reported.  The indices are enum device_property. */
    int64_t value[PROPERTY_COUNT];
};

/* 75 for compute capability 7.5. */
static inline int device_cc(const struct device_info *info)
{
    return 10 * info->cc_major + info->cc_minor;
}

/* What the driver tells, or that other number where it does not. */
static inline uint64_t device_told(const struct device_info *info,
                                   enum device_property property,
                                   uint64_t otherwise)
{
    const int64_t told = info->value[property];
    return told > 0 ? (uint64_t)told : otherwise;
}

/* Threads of a block: so many, or halved until a block may have them. */
unsigned device_block_threads(const struct device_info *info, unsigned threads);

/* One row of `sonde list`. */
struct device_entry {
    char spec[128];
    char name[128];
    char note[256]; /* capability and memory, or why it cannot be used */
};

struct module;
struct kernel;
struct device;

/* A program in PTX and how to assemble it. */
struct source {
    const char *ptx;
    int level; /* 0 … 4: the assembler's optimisation level */
};

enum { CARVE_OUT_DEFAULT = -1, LAUNCH_ARGS_MAX = 16 };

struct launch {
    unsigned grid[3], block[3]; /* a 0 counts as 1 */
    unsigned cluster[3];        /* all 0: no clusters */
    unsigned shared_bytes;      /* dynamic shared memory of a block */
    /* Share of the SM's array that goes to shared memory, in percent, or
     * CARVE_OUT_DEFAULT.  A hint on real GPUs, rounded up there to the next
     * configuration that the kernel fits. */
    int carve_out;
    /* One address for each .param, of a value of the declared size. */
    const void *args[LAUNCH_ARGS_MAX];
    size_t arg_count;
    double deadline_s; /* 0: the default of 10 s */
    /* It need not have ended on return: the next launch begins right behind it,
     * so that no other process comes between.  Nothing else may be between. */
    bool ahead;
};

/* The state of the GPU as its management library tells it; a field that it
 * does not tell is negative (throttle: 0). */
struct device_sense {
    double sm_mhz, power_w;
    uint64_t throttle; /* NVML's clock event reasons, idle left out */
    int other_processes;
};
/* True for reasons that come as they will, and change what is measured: heat,
 * power brake and hardware slowdowns; not idleness, clocks that somebody set or
 * the ordinary power cap. */
static inline bool device_throttled(uint64_t throttle)
{
    return (throttle & (0x8 | 0x20 | 0x40 | 0x80)) != 0;
}

struct texture {
    uint64_t object;
    void *own; /* the backend's */
};

/* One piece of device memory at many addresses: `bytes` of it from `address` +
 * i × `stride` on, for each i below `count`, or for some of them alone. */
struct aliases {
    uint64_t bytes, stride, count;
    const uint32_t *only; /* those i, which ascend; NULL: all */
    size_t only_count;
    uint64_t address; /* 0: not mapped */
};

/* How often it is mapped. */
static inline uint64_t aliases_mapped(const struct aliases *a)
{
    return a->only != NULL ? a->only_count : a->count;
}
/* A copy of the list; NULL: there is none. */
uint32_t *aliases_list(const struct aliases *aliases);

/* Where memory lies. */
enum device_place {
    PLACE_OWN,  /* the GPU's own */
    PLACE_HOST, /* the host's, which no page leaves: kernels reach it, too */
    PLACE_PEER, /* of GPU i of the host: PLACE_PEER + i; kernels reach it */
    PLACE_PAGEABLE = PLACE_PEER + 16, /* the host's as any program has it: for
                                        transfers alone */
    PLACE_COUNT
};
enum { PEERS_MOST = PLACE_PAGEABLE - PLACE_PEER };

/* What a GPU of the host is to this one. */
enum device_peer {
    PEER_SELF,
    PEER_REACHED, /* kernels of this one can use its memory */
    PEER_ATOMICS, /* … and their atomics are such there, too */
    PEER_APART
};

/* What is told of the wires of a GPU; -1: it is not. */
enum device_wire {
#define WIRE(id, name, text) WIRE_##id,
#include "device/wires.def"
#undef WIRE
    WIRE_COUNT
};

/* Copies of `bytes` that copy engines make one after the other, so often. */
struct transfer {
    uint64_t to, from, bytes;
    unsigned times;
    bool by_other; /* of one alone: by the engine of the other GPU */
    /* Set: ns, from a moment that all of a call share; of one between two other
     * GPUs, whose clocks are others, only whether it ended before the first. */
    double began, ended;
    bool none; /* set: there is no way between the two, and it was left out */
};

/* Of mapping_bytes, in all: each costs a driver time and room, and too many
 * have upset hosts. */
enum { ALIASES_MOST = 1 << 18 };
/* … from the first to the last, of 57 bits of addresses. */
#define ALIASES_SPAN ((uint64_t)1 << 46)

/* Choices of the user that a backend may need when it opens. */
struct device_options {
    uint64_t seed;        /* of the simulator's noise */
    bool no_cache;        /* do not keep compiled kernels on disk */
    const char *profiles; /* further folder with profiles, or NULL */
    /* How long opening may take, as of a device that is open. */
    unsigned ticket;
    double until;
};

struct device_ops {
    const char *scheme; /* the word before the colon: "cuda", "sim" */
    const char *help;   /* what comes after the colon */

    /* Appends what there is to `*entries` (a malloc'ed array that grows).  A
     * backend with nothing to offer adds nothing and returns 0. */
    int (*list)(struct device_entry **entries, size_t *count,
                struct error *err);
    /* `what` is the text after "scheme:". */
    int (*open)(const char *what, const struct device_options *options,
                struct device **device, struct error *err);
    void (*close)(struct device *device);

    /* Compiles many programs at once on the host's cores, so that the loads
     * that follow are quick.  Optional. */
    int (*prepare)(struct device *device, const struct source *sources,
                   size_t count, struct error *err);
    /* ERR_PTX with the assembler's message and line if it will not assemble. */
    int (*load)(struct device *device, const struct source *source,
                struct module **module, struct error *err);
    void (*unload)(struct device *device, struct module *module);
    /* The machine code as a cubin that lives as long as the module.  Optional.
     */
    int (*code)(struct device *device, struct module *module, const void **data,
                size_t *length, struct error *err);
    int (*kernel)(struct device *device, struct module *module,
                  const char *name, struct kernel **kernel, struct error *err);
    /* Runs to the end, but one that goes ahead.  ERR_DEADLINE leaves the device
     * usable for close only. */
    int (*launch)(struct device *device, struct kernel *kernel,
                  const struct launch *launch, struct error *err);
    /* Device time of the last launch. */
    int (*elapsed)(struct device *device, double *nanoseconds,
                   struct error *err);

    int (*allocate)(struct device *device, uint64_t bytes, uint64_t *address,
                    struct error *err);
    void (*release)(struct device *device, uint64_t address);
    int (*copy_in)(struct device *device, uint64_t to, const void *from,
                   size_t bytes, struct error *err);
    int (*copy_out)(struct device *device, void *to, uint64_t from,
                    size_t bytes, struct error *err);
    /* The GPUs of the host, by the numbers that places have, PEERS_MOST at
     * most.  Optional. */
    int (*peers)(struct device *device, enum device_peer peers[PEERS_MOST],
                 size_t *count, struct error *err);
    /* What a management library, or the driver, tells.  Optional. */
    int (*wires)(struct device *device, int64_t told[WIRE_COUNT],
                 struct error *err);
    /* Memory that lies elsewhere; `release` frees it, too.  Optional. */
    int (*allocate_at)(struct device *device, enum device_place place,
                       uint64_t bytes, uint64_t *address, struct error *err);
    /* Copies all at once; those of a later one begin first.  Of memory that was
     * allocated by these hooks, the first's on this GPU at one end.  Optional.
     */
    int (*transfer)(struct device *device, struct transfer *transfers,
                    size_t count, struct error *err);
    /* What the GPUs of a host share, links and the host's memory, is this one's
     * alone until it lets go, or ends: waits for others of ours that have it,
     * for minutes at most.  Optional: of a device that shares nothing. */
    int (*claim)(struct device *device, struct error *err);
    void (*let_go)(struct device *device);
    /* Bytes that could be allocated now. */
    int (*memory_free)(struct device *device, uint64_t *bytes,
                       struct error *err);

    /* Memory, of any content, at as many addresses as `aliases` asks for, which
     * it brings the first of; until it is unmapped or the device is closed.
     * Optional. */
    int (*map)(struct device *device, struct aliases *aliases,
               struct error *err);
    void (*unmap)(struct device *device, struct aliases *aliases);

    /* A texture object over `bytes` of linear memory of 32-bit words; lives
     * until texture_close.  Optional. */
    int (*texture_open)(struct device *device, uint64_t address, uint64_t bytes,
                        struct texture *texture, struct error *err);
    void (*texture_close)(struct device *device, struct texture *texture);
    /* Address and size of a module's .global or .const variable. */
    int (*symbol)(struct device *device, struct module *module,
                  const char *name, uint64_t *address, size_t *bytes,
                  struct error *err);
    /* Optional. */
    int (*sense)(struct device *device, struct device_sense *sense,
                 struct error *err);

    /* Does work that calls these hooks, where it can be left if a call of what
     * is behind the device does not come back; then false (base/aside.h).
     * Optional: of a device that always comes back. */
    bool (*aside)(struct device *device, aside_work *work, void *argument,
                  int *status, struct error *err);
    /* Makes a device that is lost usable again.  What it held is gone: memory,
     * modules, kernels, textures, mappings.  Optional. */
    int (*renew)(struct device *device, struct error *err);
};

/* What the backends share; each embeds it first in its own struct. */
struct device {
    const struct device_ops *ops;
    struct device_info info;
    unsigned ticket; /* by which launches can be stopped; 0: they cannot */
    double until;    /* from then on (now_seconds()) none is waited for; 0:
                        never */
    /* It answers nothing but an error, until it is renewed, if it can be. */
    bool lost;
    /* Assembled or taken from the disk since it was opened, and those of them
     * that came from the disk; 0 where there is no assembler. */
    size_t kernels, kernels_kept;
};

/* The backends in the order in which they are looked through; defined above
 * all of them, in api/backends.c. */
extern const struct device_ops *const device_backends[];

/*
 * Opens SPEC ("cuda:0", "sim:k20c").  NULL or "" is the best device: the first
 * GPU, or the simulated default where there is none; `*why` (may be NULL) then
 * says why no GPU was taken, "" if one was.  A GPU or a driver that is there
 * and fails is an error.
 */
int device_open(const char *spec, const struct device_options *options,
                struct device **device, struct error *why, struct error *err);
void device_close(struct device *device);

/*
 * Does work that calls the device, as often as it likes, where it can be left:
 * true once it has come to its end, with its result in *status.  False if it
 * was left, with the reason in *err and its code in *status: nothing of what
 * the work knows may be freed then.
 */
bool device_aside(struct device *device, aside_work *work, void *argument,
                  int *status, struct error *err);
/* As the hook; of a device that is not lost it does nothing. */
int device_renew(struct device *device, struct error *err);
/* Whether what failed may pass when it is tried again: nothing that a simulated
 * GPU says does. */
bool device_may_pass(const struct device *device, int code);

/* The finding id ("sm.count") and description of a property. */
const char *property_finding(enum device_property property);
const char *property_text(enum device_property property);

/* The wrappers: ops->hook, or ERR_UNSUPPORTED where an optional one is NULL. */
int device_prepare(struct device *device, const struct source *sources,
                   size_t count, struct error *err);
int device_load(struct device *device, const struct source *source,
                struct module **module, struct error *err);
void device_unload(struct device *device, struct module *module);
int device_code(struct device *device, struct module *module, const void **data,
                size_t *length, struct error *err);
int device_kernel(struct device *device, struct module *module,
                  const char *name, struct kernel **kernel, struct error *err);
int device_launch(struct device *device, struct kernel *kernel,
                  const struct launch *launch, struct error *err);
int device_elapsed(struct device *device, double *nanoseconds,
                   struct error *err);
int device_allocate(struct device *device, uint64_t bytes, uint64_t *address,
                    struct error *err);
void device_release(struct device *device, uint64_t address);
int device_copy_in(struct device *device, uint64_t to, const void *from,
                   size_t bytes, struct error *err);
int device_copy_out(struct device *device, void *to, uint64_t from,
                    size_t bytes, struct error *err);
int device_peers(struct device *device, enum device_peer peers[PEERS_MOST],
                 size_t *count, struct error *err);
int device_wires(struct device *device, int64_t told[WIRE_COUNT],
                 struct error *err);
int device_allocate_at(struct device *device, enum device_place place,
                       uint64_t bytes, uint64_t *address, struct error *err);
int device_transfer(struct device *device, struct transfer *transfers,
                    size_t count, struct error *err);
/* Nothing, and 0, where there is no such hook, or no device. */
int device_claim(struct device *device, struct error *err);
void device_let_go(struct device *device);
int device_memory_free(struct device *device, uint64_t *bytes,
                       struct error *err);
/* ERR_USAGE unless bytes and stride are multiples of mapping_bytes, and no more
 * of them are mapped than ALIASES_MOST. */
int device_map(struct device *device, struct aliases *aliases,
               struct error *err);
void device_unmap(struct device *device, struct aliases *aliases);
int device_texture_open(struct device *device, uint64_t address, uint64_t bytes,
                        struct texture *texture, struct error *err);
void device_texture_close(struct device *device, struct texture *texture);
int device_symbol(struct device *device, struct module *module,
                  const char *name, uint64_t *address, size_t *bytes,
                  struct error *err);
int device_sense(struct device *device, struct device_sense *sense,
                 struct error *err);

#endif
