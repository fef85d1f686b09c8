/*
 * The one measuring protocol, and what a probe needs to follow it.
 *
 * prober_run() is the only way to samples.  It warms the GPU's clock up once,
 * repeats the experiment until the stopping rule says enough, throws away
 * repetitions during which the GPU was throttled, keeps every raw sample, and
 * writes them to the recording, if there is one.  On a replay it takes them
 * from there instead, and no device is needed.
 *
 * The stopping rule: at least `repeats_least` repetitions; then, until
 * `repeats_most`, as long as the middle half of the figures is wider than
 * 0.2 % of their median.  The figure itself is the probe's; where it is a time
 * it is the difference of a long and a short run, so that all that both have
 * in common (clock reads, loop, cold instructions) is gone.
 */
#ifndef SONDE_PROBE_RUN_H
#define SONDE_PROBE_RUN_H

#include "probe/probe.h"

struct guard;
struct recording;

/* Device memory that probes share and that grows on demand. */
enum prober_buffer {
    BUFFER_RING,
    BUFFER_SHARED, /* a small one in the stead of BUFFER_RING, which may come to
                      lie in another window of active pages than the rest */
    BUFFER_FLUSH,
    BUFFER_LINKS,
    BUFFER_JOBS,
    BUFFER_SLOTS,
    BUFFER_OUT,
    BUFFER_REFERENCE,
    BUFFER_TOUCH,
    BUFFER_FAR, /* two that may lie elsewhere */
    BUFFER_FAR_TOO,
    BUFFER_PEER, /* … and one on each other GPU */
    BUFFER_PEER_LAST = BUFFER_PEER + PEERS_MOST - 1,
    BUFFER_COUNT
};

struct prober_options {
    uint64_t seed;
    unsigned
        ticket; /* by which it can be stopped (base/stop.h); 0: it cannot */
    /* Called with the text of each experiment before it runs; may be NULL. */
    void (*watch)(void *context, const char *experiment);
    void *context;
};

/* Either a device that measures, with a recording to write or NULL; or, with
 * `device` NULL, a recording to replay.  Both stay the caller's. */
struct prober *prober_new(struct device *device, struct recording *recording,
                          const struct prober_options *options);
void prober_free(struct prober *prober);

const struct device_info *prober_info(const struct prober *prober);
uint64_t prober_seed(const struct prober *prober);
struct device *prober_device(struct prober *prober);
/* True once a stop was requested of whoever has its ticket. */
bool prober_stopped(const struct prober *prober);
/* Why the run that is replayed came to no end; NULL: it did, or is none. */
const char *prober_recorded_stop(const struct prober *prober);
/* Experiments run or replayed so far. */
size_t prober_experiments(const struct prober *prober);
/* How often one was launched, or a piece of it, with what was thrown away; none
 * is on a replay. */
size_t prober_launches(const struct prober *prober);

/*
 * Runs one experiment given as text.  `*samples` is filled (samples_free), and
 * `*canonical`, unless NULL, is its name (free).  ERR_NOT_RECORDED on a replay
 * that does not hold it; ERR_INTERRUPTED once a stop was requested.
 */
int prober_run(struct prober *prober, const char *text, struct samples *samples,
               char **canonical, struct error *err);

/* From now on nothing is taken again, since it asks for what no load has
 * brought before; or it is, as is usual. */
void prober_fresh(struct prober *prober, bool fresh);

/* From then on (now_seconds(); 0: never) nothing is taken again either, and
 * no call of the device is waited for. */
void prober_deadline(struct prober *prober, double deadline);

/* So often, from now on, a device that is lost is made usable again for the
 * experiment that lost it, or that comes next; 1 at first. */
void prober_renewals(struct prober *prober, unsigned times);

/* What was seen so far of others on the GPU, and what it cost (guard.h). */
const struct guard *prober_guard(const struct prober *prober);

/* Compiles the kernels of experiments that are to come, all at once, so that
 * the first run of each need not wait for its own.  A hint: whatever cannot be
 * compiled is said by the experiment itself. */
void prober_prepare(struct prober *prober, const char *const *texts,
                    size_t count);

/* For probes whose kernels read the clock all the time: the longest from one
 * read to the next (the lower 32 bits), and from the first to the last. */
void prober_watched(struct prober *prober, uint64_t word);
/* For probes: the experiment's kernel, compiled once; a buffer of at least so
 * many bytes, its contents lost when it grows. */
int prober_kernel(struct prober *prober, const struct experiment *experiment,
                  const char *name, struct kernel **kernel, struct error *err);
/* Where on the device a variable of the experiment's module is. */
int prober_symbol(struct prober *prober, const struct experiment *experiment,
                  const char *name, uint64_t *address, struct error *err);
int prober_buffer(struct prober *prober, enum prober_buffer which,
                  uint64_t bytes, uint64_t *address, struct error *err);
/* … that lies there. */
int prober_buffer_at(struct prober *prober, enum prober_buffer which,
                     enum device_place place, uint64_t bytes, uint64_t *address,
                     struct error *err);
/* The words of parameters for these, by enum device_place; of the second those
 * that kernels reach. */
extern const char *const prober_places[], *const prober_reached[];
/* Copies to the start of a buffer, of which all else may be lost: BUFFER_JOBS
 * and those after it but BUFFER_REFERENCE, and BUFFER_LINKS. */
int prober_send(struct prober *prober, enum prober_buffer to, const void *from,
                size_t bytes, struct error *err);
/* So many bytes, zeros at first, that a probe's experiments keep for those to
 * come; `close`, unless NULL, gives up what stands in them in the end. */
enum prober_kept { KEPT_FUNCTIONS, KEPT_COUNT };
void *prober_kept(struct prober *prober, enum prober_kept which, size_t bytes,
                  void (*close)(void *kept));
/* Mappings of one piece, at least as many as asked for; those that were made
 * before, if they do; or of a row that lies beside them. */
int prober_aliases(struct prober *prober, bool row, struct aliases *aliases,
                   struct error *err);
/* Bytes that the buffer has now. */
uint64_t prober_buffer_bytes(const struct prober *prober,
                             enum prober_buffer which);
/* For probes whose helper kernels are not their own. */
int prober_load(struct prober *prober, const char *ptx, const char *name,
                struct kernel **kernel, struct error *err);
/* Where on the device a variable of such a program is. */
int prober_variable(struct prober *prober, const char *ptx, const char *name,
                    uint64_t *address, struct error *err);
/* The machine code of the experiment's kernel, as a cubin that lives as long as
 * the prober; ERR_UNSUPPORTED where the device has none. */
int prober_code(struct prober *prober, const struct experiment *experiment,
                const void **data, size_t *length, struct error *err);

#endif
