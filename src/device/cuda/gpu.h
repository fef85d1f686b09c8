/*
 * An open GPU, shared by the files of this folder.
 *
 * It has a context of its own and not the device's primary one: a kernel of
 * ours that faults or hangs takes its context with it, and the primary one
 * belongs to whatever else uses CUDA in a program that links the library.
 *
 * Once the context is lost (a kernel faulted, or passed its deadline and may
 * still run), the GPU is dead: every further call answers at once, with the
 * reason, and none goes to the driver, where it could wait for ever.
 */
#ifndef SONDE_DEVICE_CUDA_GPU_H
#define SONDE_DEVICE_CUDA_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "device/cuda/compile.h"
#include "device/cuda/library/driver.h"
#include "device/cuda/library/nvml.h"
#include "device/device.h"

struct kernel {
    struct kernel *next;
    void *function;
    char *name;
    int carve_out;         /* as last set */
    unsigned shared_bytes; /* as last set */
    bool wide_clusters;    /* clusters above the portable size allowed */
};

struct module {
    struct module *next;
    void *handle;
    const struct program *program;
    struct kernel *kernels;
};

struct host_memory;

struct gpu {
    struct device device; /* first: a struct device * is a struct gpu * */
    struct driver driver;
    struct nvml nvml;
    struct compiler compiler;
    int handle;
    void *context;
    void *started, *stopped; /* events around the last launch */
    bool timed;              /* there was a launch to tell the time of */
    struct module *modules;
    struct mapping *mappings;
    struct host_memory *host; /* and of other GPUs, that was allocated */
    void *peers[PEERS_MOST];  /* contexts on these; NULL: none yet */
    /* Between two, this one before the others: asked whether one reaches the
     * other, and so. */
    bool asked[PEERS_MOST + 1][PEERS_MOST + 1];
    bool reaches[PEERS_MOST + 1][PEERS_MOST + 1];
    int claim; /* a socket, plus 1: it has what the host's GPUs share; 0: not */
    int starting; /* likewise: it is being opened, or makes ready to measure */
    /* What is mapped, B of it: always the same, since what a load of it costs
     * depends on where it lies; 0: there is none. */
    uint64_t piece, piece_bytes;
    /* A kernel may still run, or a call: the context cannot be destroyed. */
    bool hung;
    struct error cause; /* why the device is lost */
    struct aside *aside;
    bool left;    /* a call of it was: what it knows must stay */
    bool closing; /* there is little patience left */
};

struct gpu *gpu_of(struct device *device);

/* First in every operation: an error if the GPU is dead, else its context is
 * made this thread's. */
int gpu_enter(struct gpu *gpu, struct error *err);

/* As DRIVER_CALL; a result that means a lost context also marks the GPU dead.
 */
#define GPU_CALL(gpu, err, entry, arguments, ...)                              \
    gpu_check(gpu, DRIVER_ASK(&(gpu)->driver, entry, arguments), err, #entry,  \
              __VA_ARGS__)
int gpu_check(struct gpu *gpu, int result, struct error *err, const char *entry,
              const char *act, ...) __attribute__((format(printf, 5, 6)));

/* The status, or an error if what succeeded gave no handle or address. */
int gpu_given(const struct gpu *gpu, int status, bool given, const char *entry,
              struct error *err);

/* Marks the GPU dead, which is `device.lost`, for the reason in *err; returns
 * its code. */
int gpu_bury(struct gpu *gpu, bool hung, struct error *err);

/* leave.c: as the hook; and whether nobody wants to wait any more, the run
 * being stopped or its time over. */
bool gpu_aside(struct device *device, aside_work *work, void *argument,
               int *status, struct error *err);
bool gpu_ends(const struct gpu *gpu);

/* context.c: the context and what lives as long; and another in its place. */
int gpu_open_context(struct gpu *gpu, struct error *err);
void gpu_close_context(struct gpu *gpu);
int gpu_renew(struct device *device, struct error *err);

/* find.c: GPUs by what stands after "cuda:". */
int gpu_find(const struct driver *driver, const char *what, int *ordinal,
             int *handle, struct error *err);
int gpu_list(struct device_entry **entries, size_t *count, struct error *err);

/* Of a GPU that is there: what failed is no missing device. */
int gpu_is_there(struct error *err);

enum { UUID_TEXT_MAX = 37 };
/* The hexadecimal part of the UUID; false if the driver does not tell it. */
bool gpu_uuid(const struct driver *driver, int handle,
              char text[UUID_TEXT_MAX]);

/* describe.c: fills in info, all but spec. */
int gpu_wires(struct device *device, int64_t told[WIRE_COUNT],
              struct error *err);
int gpu_describe(struct gpu *gpu, struct error *err);

/* program.c */
int gpu_prepare(struct device *device, const struct source *sources,
                size_t count, struct error *err);
int gpu_load(struct device *device, const struct source *source,
             struct module **module, struct error *err);
void gpu_unload(struct device *device, struct module *module);
int gpu_code(struct device *device, struct module *module, const void **data,
             size_t *length, struct error *err);
int gpu_kernel(struct device *device, struct module *module, const char *name,
               struct kernel **kernel, struct error *err);
int gpu_symbol(struct device *device, struct module *module, const char *name,
               uint64_t *address, size_t *bytes, struct error *err);

/* launch.c */
int gpu_launch(struct device *device, struct kernel *kernel,
               const struct launch *launch, struct error *err);
int gpu_elapsed(struct device *device, double *nanoseconds, struct error *err);

/* Waits for an event, as long as there is time for it, and never inside the
 * driver: what the driver says then, or CUDA_NOT_READY. */
int gpu_await(const struct gpu *gpu, void *event, double deadline_s);

/* peers.c: other GPUs of the host, and memory of theirs that this one reaches.
 */
int gpu_peers(struct device *device, enum device_peer peers[PEERS_MOST],
              size_t *count, struct error *err);
int gpu_allocate_of(struct gpu *gpu, unsigned peer, uint64_t bytes, void **at,
                    struct error *err);
void gpu_release_of(struct gpu *gpu, unsigned peer, void *at);
/* Its context on a GPU, of which memory was allocated before; -1: this one.
 * Making it the current one; gpu_enter() comes back. */
void *gpu_context_on(const struct gpu *gpu, int number);
int gpu_enter_on(struct gpu *gpu, int number, struct error *err);
/* Copies of `from` go to and from the memory of `to`; *can: the driver has a
 * way between these, and the context may use it.  Another context may then be
 * the current one. */
int gpu_open_pair(struct gpu *gpu, int from, int to, bool *can,
                  struct error *err);
/* Contexts on all GPUs that it reaches, and the ways between these: they take
 * tenths of a second, and are made while nobody measures. */
void gpu_meet_peers(struct gpu *gpu);
/* Once all that memory is released. */
void gpu_leave_peers(struct gpu *gpu);

/* transfer.c: the host's memory, and copies that are timed. */
int gpu_allocate_at(struct device *device, enum device_place place,
                    uint64_t bytes, uint64_t *address, struct error *err);
int gpu_transfer(struct device *device, struct transfer *transfers,
                 size_t count, struct error *err);
/* True if it was there, and is freed; and all of it, before the context goes.
 */
bool gpu_release_host(struct gpu *gpu, uint64_t address);
void gpu_release_all_host(struct gpu *gpu);

/* claim.c: who has what the host's GPUs share; and who is about to: from when
 * it is opened to its first launch, or its claim. */
void gpu_starts(struct gpu *gpu);
void gpu_has_started(struct gpu *gpu);
int gpu_claim(struct device *device, struct error *err);
void gpu_let_go(struct device *device);

/* memory.c */
int gpu_allocate(struct device *device, uint64_t bytes, uint64_t *address,
                 struct error *err);
void gpu_release(struct device *device, uint64_t address);
int gpu_copy_in(struct device *device, uint64_t to, const void *from,
                size_t bytes, struct error *err);
int gpu_copy_out(struct device *device, void *to, uint64_t from, size_t bytes,
                 struct error *err);
int gpu_memory_free(struct device *device, uint64_t *bytes, struct error *err);
int gpu_texture_open(struct device *device, uint64_t address, uint64_t bytes,
                     struct texture *texture, struct error *err);
void gpu_texture_close(struct device *device, struct texture *texture);

/* aliases.c */
int gpu_map(struct device *device, struct aliases *aliases, struct error *err);
void gpu_unmap(struct device *device, struct aliases *aliases);
void gpu_unmap_all(struct gpu *gpu);
/* Fills in mapping_bytes, if the driver can map. */
void gpu_ask_mapping(struct gpu *gpu);

#endif
