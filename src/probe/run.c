#include "probe/run.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/aside.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/numeric.h"
#include "base/stop.h"
#include "probe/check.h"
#include "probe/guard.h"
#include "probe/record.h"

/* The assembler's optimisation level where an experiment names none. */
enum { LEVEL = 3 };

static int level_of(const struct experiment *e)
{
    return experiment_has(e, "level") ? (int)experiment_number(e, "level")
                                      : LEVEL;
}

struct loaded {
    char *ptx;
    int level;
    uint64_t hash; /* of the text */
    struct module *module;
};

struct prober {
    struct device *device;
    const struct device_info *info;
    struct recording *recording;
    struct prober_options options;
    size_t experiments, launches;
    struct guard guard;
    bool fresh;         /* nothing is taken again */
    double deadline;    /* … nor from then on; 0: never */
    struct watch watch; /* of the launch that runs */
    char *letter;       /* room for what is sent */
    bool warm;
    bool measures; /* an experiment; still, once there was no memory for it */
    unsigned renewals; /* for how many more lost devices there is another */
    struct loaded *loaded;
    size_t loaded_count;
    /* The experiment that ran last: repetitions need its kernel again. */
    char *latest;
    bool latest_brisk;
    struct module *latest_module;
    struct {
        uint64_t address, bytes;
        enum device_place place;
    } buffers[BUFFER_COUNT];
    struct {
        void *at;
        void (*close)(void *kept);
    } kept[KEPT_COUNT];
    struct aliases aliases[3]; /* of few addresses, of many, and beside them */
};

struct prober *prober_new(struct device *device, struct recording *recording,
                          const struct prober_options *options)
{
    struct prober *const p = xcalloc(1, sizeof *p);
    p->device = device;
    p->recording = recording;
    p->info = device != NULL ? &device->info : recording_info(recording);
    p->options = *options;
    p->renewals = 1;
    return p;
}

/* Mappings that are no more. */
static void forget_aliases(struct aliases *a)
{
    free((uint32_t *)a->only);
    *a = (struct aliases){0};
}

/* Forgets what it has on the device, without a word to that. */
static void forget(struct prober *p)
{
    memset(p->buffers, 0, sizeof p->buffers);
    for (size_t i = 0; i < COUNT_OF(p->aliases); i++)
        forget_aliases(&p->aliases[i]);
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        if (p->kept[i].close != NULL)
            p->kept[i].close(p->kept[i].at);
        free(p->kept[i].at);
        p->kept[i].at = NULL;
        p->kept[i].close = NULL;
    }
    for (size_t i = 0; i < p->loaded_count; i++)
        free(p->loaded[i].ptx);
    p->loaded_count = 0;
    free(p->latest);
    p->latest = NULL;
    p->warm = false;
}

static int release_memory(void *argument, struct error *err)
{
    struct prober *const p = argument;
    (void)err;
    for (size_t i = 0; i < BUFFER_COUNT; i++) {
        device_release(p->device, p->buffers[i].address);
        p->buffers[i].address = p->buffers[i].bytes = 0;
    }
    for (size_t i = 0; i < COUNT_OF(p->aliases); i++) {
        device_unmap(p->device, &p->aliases[i]);
        forget_aliases(&p->aliases[i]);
    }
    return 0;
}

static int give_back(void *argument, struct error *err)
{
    struct prober *const p = argument;
    release_memory(p, err);
    for (size_t i = 0; i < p->loaded_count; i++)
        device_unload(p->device, p->loaded[i].module);
    return 0;
}

/* For so long what has nothing to tell any more is waited for. */
static const double closing_s = 2;

void prober_free(struct prober *p)
{
    int status;
    struct error ignored;
    if (p == NULL)
        return;
    if (p->device != NULL) {
        p->device->until = now_seconds() + closing_s;
        if (!device_aside(p->device, give_back, p, &status, &ignored))
            return; /* the call that was left may use what it was given */
    }
    forget(p);
    free(p->loaded);
    free(p->letter);
    free(p);
}

void prober_renewals(struct prober *p, unsigned times)
{
    p->renewals = times;
}

const struct device_info *prober_info(const struct prober *p)
{
    return p->info;
}

uint64_t prober_seed(const struct prober *p)
{
    return p->options.seed;
}

struct device *prober_device(struct prober *p)
{
    return p->device;
}

bool prober_stopped(const struct prober *p)
{
    return stop_requested(p->options.ticket);
}

const char *prober_recorded_stop(const struct prober *p)
{
    return p->device == NULL ? recording_stopped(p->recording) : NULL;
}

size_t prober_experiments(const struct prober *p)
{
    return p->experiments;
}

size_t prober_launches(const struct prober *p)
{
    return p->launches;
}

const struct guard *prober_guard(const struct prober *p)
{
    return &p->guard;
}

void prober_fresh(struct prober *p, bool fresh)
{
    p->fresh = fresh;
}

void prober_deadline(struct prober *p, double deadline)
{
    p->deadline = deadline;
    if (p->device != NULL)
        p->device->until = deadline;
}

static bool is_late(const struct prober *p)
{
    return p->deadline > 0 && now_seconds() > p->deadline;
}

void prober_watched(struct prober *p, uint64_t word)
{
    const struct watch w = {
        .told = word != 0, .gap = (uint32_t)word, .span = (double)(word >> 32)};
    p->watch.told = p->watch.told || w.told;
    p->watch.gap = fmax(p->watch.gap, w.gap);
    p->watch.span = fmax(p->watch.span, w.span);
}

static const struct loaded *
find_loaded(const struct prober *p, const struct source *source, uint64_t hash)
{
    for (size_t i = 0; i < p->loaded_count; i++) {
        const struct loaded *const l = &p->loaded[i];
        if (l->hash == hash && l->level == source->level &&
            strcmp(l->ptx, source->ptx) == 0)
            return l;
    }
    return NULL;
}

/* The module of a program, loaded once. */
static int load_module(struct prober *p, const struct source *source,
                       struct module **module, struct error *err)
{
    const uint64_t hash = hash_long_text(source->ptx);
    const struct loaded *const known = find_loaded(p, source, hash);
    if (known != NULL) {
        *module = known->module;
        return 0;
    }
    if (device_load(p->device, source, module, err) != 0)
        return err->code;
    p->loaded =
        xreallocarray(p->loaded, p->loaded_count + 1, sizeof *p->loaded);
    char *const ptx = xstrdup(source->ptx);
    p->loaded[p->loaded_count++] = (struct loaded){
        .ptx = ptx, .level = source->level, .hash = hash, .module = *module};
    return 0;
}

int prober_load(struct prober *p, const char *ptx, const char *name,
                struct kernel **kernel, struct error *err)
{
    const struct source source = {.ptx = ptx, .level = LEVEL};
    struct module *module;
    if (load_module(p, &source, &module, err) != 0)
        return err->code;
    return device_kernel(p->device, module, name, kernel, err);
}

int prober_variable(struct prober *p, const char *ptx, const char *name,
                    uint64_t *address, struct error *err)
{
    const struct source source = {.ptx = ptx, .level = LEVEL};
    struct module *module;
    size_t bytes;
    if (load_module(p, &source, &module, err) != 0)
        return err->code;
    return device_symbol(p->device, module, name, address, &bytes, err);
}

static int load_experiment(struct prober *p,
                           const struct experiment *experiment,
                           struct module **module, struct error *err)
{
    struct buf ptx = {0};
    experiment->probe->kernel(experiment, p->info, &ptx);
    const struct source source = {.ptx = buf_string(&ptx),
                                  .level = level_of(experiment)};
    const int status = load_module(p, &source, module, err);
    buf_free(&ptx);
    return status;
}

static int module_of(struct prober *p, const struct experiment *experiment,
                     struct module **module, struct error *err)
{
    char *const name = experiment_text(experiment);
    int status = 0;
    if (p->latest == NULL || strcmp(p->latest, name) != 0 ||
        p->latest_brisk != experiment->piece.brisk)
        status = load_experiment(p, experiment, &p->latest_module, err);
    free(p->latest);
    p->latest = status == 0 ? name : NULL;
    p->latest_brisk = experiment->piece.brisk;
    if (status != 0)
        free(name);
    *module = p->latest_module;
    return status;
}

int prober_code(struct prober *p, const struct experiment *experiment,
                const void **data, size_t *length, struct error *err)
{
    struct module *module;
    if (module_of(p, experiment, &module, err) != 0)
        return err->code;
    return device_code(p->device, module, data, length, err);
}

int prober_kernel(struct prober *p, const struct experiment *experiment,
                  const char *name, struct kernel **kernel, struct error *err)
{
    struct module *module;
    if (module_of(p, experiment, &module, err) != 0)
        return err->code;
    return device_kernel(p->device, module, name, kernel, err);
}

int prober_symbol(struct prober *p, const struct experiment *experiment,
                  const char *name, uint64_t *address, struct error *err)
{
    struct module *module;
    size_t bytes;
    if (module_of(p, experiment, &module, err) != 0)
        return err->code;
    return device_symbol(p->device, module, name, address, &bytes, err);
}

/* One program that takes long, in a thread of its own: meanwhile nobody else
 * loads any. */
struct assembly {
    struct prober *prober;
    struct experiment experiment;
    bool there, started;
    pthread_t thread;
};

static int assemble(void *argument, struct error *err)
{
    struct assembly *const a = argument;
    return a->experiment.probe->assemble(a->prober, &a->experiment, err);
}

static void *assemble_aside(void *argument)
{
    NUMERIC_PLAIN();
    struct error ignored;
    mem_guarded(assemble, argument, &ignored);
    return NULL;
}

/* Writes the kernel of an experiment, unless its program is the one that takes
 * long. */
static bool write_kernel(struct prober *p, const char *text, struct assembly *a,
                         struct buf *ptx, struct source *source)
{
    struct experiment e;
    struct error ignored;
    if (experiment_parse(text, &e, &ignored) != 0)
        return false;
    const bool good = probe_kernel(&e, p->info, ptx, &ignored) == 0;
    *source = (struct source){.ptx = buf_string(ptx), .level = level_of(&e)};
    if (good && !a->there && e.probe->takes_long != NULL &&
        e.probe->takes_long(&e)) {
        a->there = true;
        a->experiment = e;
        return false;
    }
    experiment_free(&e);
    return good;
}

/* A program stays loaded, and those that take long are megabytes: of a device
 * with less memory it may be what other studies need. */
static const uint64_t roomy = 256 << 20;

/* What is compiled together: the programs of `ready` experiments, whose texts
 * were given. */
struct batch {
    struct prober *prober;
    const char *const *texts;
    size_t count, ready;
    struct buf *ptx;
    struct source *sources;
    struct assembly assembly;
};

static int prepare_ready(void *argument, struct error *err)
{
    const struct batch *const b = argument;
    device_prepare(b->prober->device, b->sources, b->ready, err);
    return 0;
}

static int compile_batch(void *argument, struct error *err)
{
    struct batch *const b = argument;
    struct prober *const p = b->prober;
    struct assembly *const a = &b->assembly;
    for (size_t i = 0; i < b->count; i++)
        b->ready +=
            write_kernel(p, b->texts[i], a, &b->ptx[i], &b->sources[b->ready]);
    a->started = a->there &&
                 device_told(p->info, PROPERTY_MEMORY_BYTES, 0) >= roomy &&
                 aside_thread(&a->thread, assemble_aside, a) == 0;
    mem_guarded(prepare_ready, b,
                err); /* a thread must not outlive the batch */
    if (a->started)
        pthread_join(a->thread, NULL);
    return 0;
}

static void batch_free(struct batch *b)
{
    if (b->assembly.there)
        experiment_free(&b->assembly.experiment);
    for (size_t i = 0; i < b->count; i++)
        buf_free(&b->ptx[i]);
    free(b->ptx);
    free(b->sources);
    free(b);
}

void prober_prepare(struct prober *p, const char *const *texts, size_t count)
{
    int status;
    struct error ignored;
    if (p->device == NULL)
        return;
    struct batch *const b = xcalloc(1, sizeof *b);
    *b = (struct batch){.prober = p,
                        .texts = texts,
                        .count = count,
                        .ptx = xcalloc(count, sizeof *b->ptx),
                        .sources = xcalloc(count, sizeof *b->sources),
                        .assembly.prober = p};
    if (device_aside(p->device, compile_batch, b, &status, &ignored))
        batch_free(b);
}
/* A driver puts what is shorter than 64 KiB among its commands, where it waits
 * for our turn; what is longer another engine copies, at any time (H200, driver
 * 580, 2026-11: 2400 us beside another process for 4 KiB, and 20 for 100). */
enum { SEND_LEAST = 128 << 10 };

static bool is_sent_to(enum prober_buffer which)
{
    return which != BUFFER_RING && which != BUFFER_SHARED &&
           which != BUFFER_FLUSH && which != BUFFER_REFERENCE &&
           which < BUFFER_FAR;
}

int prober_send(struct prober *p, enum prober_buffer to, const void *from,
                size_t bytes, struct error *err)
{
    const uint64_t at = p->buffers[to].address;
    if (!p->guard.company || bytes >= SEND_LEAST)
        return device_copy_in(p->device, at, from, bytes, err);
    if (p->letter == NULL)
        p->letter = xcalloc(1, SEND_LEAST);
    if (bytes > 0)
        memcpy(p->letter, from, bytes);
    return device_copy_in(p->device, at, p->letter, SEND_LEAST, err);
}

#define REACHED                                                                \
    "own", "host", "gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6",     \
        "gpu7", "gpu8", "gpu9", "gpu10", "gpu11", "gpu12", "gpu13", "gpu14",   \
        "gpu15"
const char *const prober_reached[] = {REACHED, NULL};
const char *const prober_places[] = {REACHED, "pageable", NULL};
_Static_assert(COUNT_OF(prober_places) == PLACE_COUNT + 1, "a word a place");

int prober_buffer(struct prober *p, enum prober_buffer which, uint64_t bytes,
                  uint64_t *address, struct error *err)
{
    return prober_buffer_at(p, which, PLACE_OWN, bytes, address, err);
}

int prober_buffer_at(struct prober *p, enum prober_buffer which,
                     enum device_place place, uint64_t bytes, uint64_t *address,
                     struct error *err)
{
    if (is_sent_to(which) && bytes < SEND_LEAST)
        bytes = SEND_LEAST;
    if (p->buffers[which].bytes < bytes || p->buffers[which].place != place) {
        if (p->buffers[which].address != 0)
            device_release(p->device, p->buffers[which].address);
        p->buffers[which].address = 0;
        p->buffers[which].bytes = 0;
        if (device_allocate_at(p->device, place, bytes,
                               &p->buffers[which].address, err) != 0)
            return err->code;
        p->buffers[which].bytes = bytes;
        p->buffers[which].place = place;
    }
    *address = p->buffers[which].address;
    return 0;
}

void *prober_kept(struct prober *p, enum prober_kept which, size_t bytes,
                  void (*close)(void *kept))
{
    if (p->kept[which].at == NULL)
        p->kept[which].at = xcalloc(1, bytes);
    p->kept[which].close = close;
    return p->kept[which].at;
}

/* How many of either list there are; all of them in `all`, if that is wanted.
 */
static size_t either(const struct aliases *a, const struct aliases *b,
                     uint32_t *all)
{
    size_t i = 0, k = 0, count = 0;
    while (i < a->only_count || k < b->only_count) {
        const uint32_t x = i < a->only_count ? a->only[i] : UINT32_MAX;
        const uint32_t y = k < b->only_count ? b->only[k] : UINT32_MAX;
        i += x <= y;
        k += y <= x;
        if (all != NULL)
            all[count] = x < y ? x : y;
        count++;
    }
    return count;
}

static bool are_alike(const struct aliases *a, const struct aliases *b)
{
    return a->address != 0 && a->bytes == b->bytes && a->stride == b->stride;
}

static bool have_all(const struct aliases *made, const struct aliases *wanted)
{
    return are_alike(made, wanted) && made->count >= wanted->count &&
           (made->only == NULL ||
            (wanted->only != NULL &&
             either(made, wanted, NULL) == made->only_count));
}

/* What is wanted, and beside it what others that are alike wanted: those to
 * come want that again. */
static struct aliases with_others(const struct aliases *made,
                                  const struct aliases *wanted)
{
    enum { OTHERS_MOST = 2048 };
    struct aliases all = *wanted;
    const bool few = are_alike(made, wanted) && made->only != NULL &&
                     wanted->only != NULL && made->only_count < OTHERS_MOST;
    all.only = aliases_list(wanted);
    if (!few)
        return all;
    uint32_t *const list = xreallocarray(
        NULL, made->only_count + wanted->only_count + 1, sizeof *list);
    all.only_count = either(made, wanted, list);
    free((uint32_t *)all.only);
    all.only = list;
    all.count = u64_max(made->count, wanted->count);
    return all;
}

/* Those at many addresses take long to make and to undo (37 µs each on an
 * H200): rows of thousands, too, come beside them and not in their stead. */
int prober_aliases(struct prober *p, bool row, struct aliases *aliases,
                   struct error *err)
{
    enum { MANY = 1 << 14 };
    struct aliases *const made =
        &p->aliases[row ? 2 : aliases_mapped(aliases) >= MANY];
    if (!have_all(made, aliases)) {
        struct aliases all = with_others(made, aliases);
        device_unmap(p->device, made);
        forget_aliases(made);
        if (device_map(p->device, &all, err) != 0) {
            free((uint32_t *)all.only);
            return err->code;
        }
        *made = all;
    }
    aliases->address = made->address;
    return 0;
}

uint64_t prober_buffer_bytes(const struct prober *p, enum prober_buffer which)
{
    return p->buffers[which].bytes;
}

/* True once the middle half of the figures is narrow enough. */
static bool settled(const struct repetition *r, size_t count)
{
    double *const figures = xreallocarray(NULL, count, sizeof *figures);
    for (size_t i = 0; i < count; i++)
        figures[i] = r[i].figure;
    double *const sorted = stats_sorted(figures, count);
    const double width = sorted[3 * (count - 1) / 4] - sorted[count / 4];
    const bool narrow = width <= 0.002 * sorted[count / 2];
    free(sorted);
    free(figures);
    return narrow;
}

/* Asks the management library what it knows of the GPU now. */
static void judge(struct prober *p, struct repetition *r)
{
    struct device_sense now;
    struct error ignored;
    const bool told = device_sense(p->device, &now, &ignored) == 0;
    guard_judge(&p->guard, r, told && device_throttled(now.throttle),
                told ? now.other_processes : 0);
}

/* Lets the clock rise from idle: GPUs need some milliseconds of work for it. */
static int warm_up(struct prober *p, struct error *err)
{
    if (p->warm)
        return 0;
    struct samples samples;
    struct experiment spin;
    if (experiment_parse("clock spin=2000000", &spin, err) != 0)
        return err->code;
    samples_init(&samples, spin.probe);
    const double until = now_seconds() + p->info->warm_up_s;
    int status;
    do
        status = spin.probe->once(p, &spin, &samples, err);
    while (status == 0 && now_seconds() < until);
    samples_free(&samples);
    experiment_free(&spin);
    p->warm = status == 0;
    return status;
}

/* ---- repetitions ------------------------------------------------------- */

/* Of one experiment. */
struct series {
    unsigned least, most;
    struct repetition *r;
    size_t count;
    struct vigil vigil;
    struct samples *samples;
};

/* The probe's own bounds, or what the experiment asks for. */
static void series_begin(struct series *s, const struct experiment *e,
                         const struct guard *guard, bool once,
                         struct samples *samples)
{
    *s = (struct series){
        .least = e->probe->repeats_least,
        .most = e->probe->repeats_most,
        .samples = samples,
        .vigil = {.once = once,
                  .pieces = 1,
                  .pieces_most = !once && e->probe->pieces != NULL
                                     ? e->probe->pieces(e)
                                     : 1},
    };
    guard_begin(guard, &s->vigil,
                e->probe->loads != NULL ? e->probe->loads(e) : 0);
    if (experiment_has(e, "repeats") && experiment_number(e, "repeats") > 0)
        s->least = s->most = (unsigned)experiment_number(e, "repeats");
    s->r = xcalloc(s->most, sizeof *s->r);
}

/* Of the last launch; 0 if that is not told. */
static double elapsed_ns(struct prober *p)
{
    struct error ignored;
    double ns;
    return device_elapsed(p->device, &ns, &ignored) == 0 ? ns : 0;
}

/* So often a piece is taken again by itself. */
enum { PIECE_TRIES = 3 };

static int run_launch(struct prober *p, const struct experiment *e,
                      struct samples *samples, double *spent_ns,
                      struct error *err)
{
    p->watch = (struct watch){0};
    p->launches++;
    const int status = e->probe->once(p, e, samples, err);
    *spent_ns += elapsed_ns(p);
    guard_learn(&p->guard, &p->watch);
    return status;
}

static int run_piece(struct prober *p, const struct experiment *e,
                     struct samples *piece, double *spent_ns, struct error *err)
{
    int status = 0;
    for (unsigned i = 0; i < PIECE_TRIES && status == 0; i++) {
        piece->rows = 0;
        status = run_launch(p, e, piece, spent_ns, err);
        if (!guard_leapt(&p->watch))
            break;
    }
    return status;
}

/* All of them, or up to the first that is disturbed. */
static int run_pieces(struct prober *p, struct experiment *e,
                      struct samples *samples, double *spent_ns,
                      struct error *err)
{
    const size_t from = samples->rows;
    struct piece *const at = &e->piece;
    struct samples piece;
    samples_init(&piece, e->probe);
    int status = 0;
    for (at->index = 0; status == 0 && at->index < at->count; at->index++) {
        status = run_piece(p, e, &piece, spent_ns, err);
        if (status == 0)
            e->probe->join(samples, from, &piece);
        if (guard_leapt(&p->watch))
            break;
    }
    samples_free(&piece);
    return status;
}

/* Runs the experiment once; its rows have the repetition's number. */
static int repeat_once(struct prober *p, struct experiment *e, struct series *s,
                       struct error *err)
{
    struct repetition *const r = &s->r[s->count];
    struct samples *const samples = s->samples;
    const size_t from = samples->rows, launches = p->launches;
    *r = (struct repetition){0};
    s->vigil.tries++;
    e->piece = (struct piece){.count = s->vigil.pieces,
                              .brisk = s->vigil.brisk,
                              .fresh = s->vigil.once,
                              .room = guard_room(&p->guard)};
    if ((e->piece.count > 1
             ? run_pieces(p, e, samples, &r->spent_ns, err)
             : run_launch(p, e, samples, &r->spent_ns, err)) != 0)
        return err->code;
    for (size_t row = from; row < samples->rows; row++)
        samples->data[row * samples->columns] = (int64_t)s->count;
    r->ns = elapsed_ns(p);
    r->more = p->launches - launches - 1;
    r->watch = p->watch;
    r->figure = probe_figure(e, samples, from);
    judge(p, r);
    s->count++;
    return 0;
}

/* Forgets a repetition; those after it take its place. */
static void series_drop(struct series *s, size_t which)
{
    struct samples *const samples = s->samples;
    size_t rows = 0;
    for (size_t row = 0; row < samples->rows; row++) {
        int64_t *const from = samples->data + row * samples->columns;
        int64_t *const to = samples->data + rows * samples->columns;
        const int64_t repeat = from[0];
        memmove(to, from, samples->columns * sizeof *to);
        to[0] = repeat - (repeat > (int64_t)which);
        rows += repeat != (int64_t)which;
    }
    samples->rows = rows;
    s->count--;
    memmove(s->r + which, s->r + which + 1, (s->count - which) * sizeof *s->r);
}

/* Throws a disturbed one away; false if it has to stay. */
static bool series_again(struct prober *p, struct series *s, size_t which)
{
    if (is_late(p) || prober_stopped(p) ||
        !guard_again(&p->guard, &s->vigil, &s->r[which]))
        return false;
    series_drop(s, which);
    return true;
}

/* True once there is enough, none of which took clearly longer than others. */
static bool is_enough(struct prober *p, struct series *s)
{
    if (s->count < s->least || (s->count < s->most && !settled(s->r, s->count)))
        return false;
    for (;;) {
        const size_t slow = guard_outlier(&p->guard, s->r, s->count);
        if (slow == s->count)
            return true;
        s->r[slow].by = BY_DELAY;
        if (series_again(p, s, slow))
            return false;
    }
}

/* Where enough is undisturbed, that is all; else the samples say so. */
static void series_end(struct prober *p, struct series *s)
{
    size_t clean = 0;
    for (size_t i = 0; i < s->count; i++)
        clean += s->r[i].by == UNDISTURBED;
    for (size_t i = s->count; 2 * clean >= s->least && i-- > 0;)
        if (s->r[i].by != UNDISTURBED)
            series_drop(s, i);
    s->samples->in_pieces = s->vigil.pieces > 1;
    s->samples->disturbed = guard_verdict(&p->guard, &s->vigil, s->r, s->count);
}

static int measure(struct prober *p, struct experiment *e,
                   struct samples *samples, struct error *err)
{
    struct series s;
    series_begin(&s, e, &p->guard, p->fresh, samples);
    int status = warm_up(p, err);
    while (status == 0 && !is_enough(p, &s)) {
        status = repeat_once(p, e, &s, err);
        if (status != 0)
            break;
        if (s.r[s.count - 1].by != UNDISTURBED)
            series_again(p, &s, s.count - 1);
        else if (guard_outlier(&p->guard, s.r, s.count) == s.count)
            s.vigil.failed = 0;
    }
    if (status == 0)
        series_end(p, &s);
    free(s.r);
    return status;
}

/* ---- an experiment ----------------------------------------------------- */

/* One try at an experiment. */
struct trial {
    struct prober *prober;
    struct experiment experiment;
    struct samples samples;
};

static int measure_trial(void *argument, struct error *err)
{
    struct trial *const t = argument;
    return measure(t->prober, &t->experiment, &t->samples, err);
}

/* Takes its samples if it succeeded.  A trial that was left stays as it is. */
static int try_once(struct prober *p, const char *text, struct samples *samples,
                    struct error *err)
{
    int status;
    struct trial *const t = xcalloc(1, sizeof *t);
    t->prober = p;
    *err = (struct error){0};
    if (experiment_parse(text, &t->experiment, err) != 0) {
        free(t);
        return err->code;
    }
    samples_init(&t->samples, t->experiment.probe);
    if (probe_prepare(&t->experiment, p->info, err) != 0)
        status = err->code;
    else if (!device_aside(p->device, measure_trial, t, &status, err))
        return status;
    /* It was there when it was opened. */
    if (status == ERR_NO_DEVICE)
        status = err->code = ERR_DEVICE;
    if (status == 0) {
        *samples = t->samples;
        *err = (struct error){0}; /* of what passed within */
    } else {
        samples_free(&t->samples);
    }
    experiment_free(&t->experiment);
    free(t);
    return status;
}

static int renew(void *device, struct error *err)
{
    return device_renew(device, err);
}

/* Another device in the place of one that is lost, while there may be one. */
static bool renewed(struct prober *p)
{
    struct error ignored;
    int status;
    if (p->renewals == 0)
        return false;
    p->renewals--;
    forget(p);
    device_aside(p->device, renew, p->device, &status, &ignored);
    return !p->device->lost;
}

/* Gives back all memory that is kept for experiments to come, of which one has
 * found too little left: a GPU has no more than a ring of those before took. */
static void make_room(struct prober *p)
{
    struct error ignored;
    int status;
    log_say(LOG_INFO, "what earlier experiments took of memory is given back");
    device_aside(p->device, release_memory, p, &status, &ignored);
}

/* What failed and may pass is tried once more, and so it is on another device.
 * A second fault is not the first that stayed: where the driver says that the
 * GPU has no such thing, and fails when it is asked again, it has not said so
 * twice. */
static int try_again(struct prober *p, const char *text,
                     struct samples *samples, struct error *err)
{
    int before = 0; /* how it failed */
    unsigned again = 2;
    bool given = false;
    while (try_once(p, text, samples, err) != 0) {
        if (err->code == ERR_DEVICE_MEMORY && !given && !p->device->lost) {
            make_room(p);
            given = true;
            continue;
        }
        const bool lost = p->device->lost;
        const bool anew = again > 0 && err->code != before;
        if (!device_may_pass(p->device, err->code) || is_late(p) ||
            prober_stopped(p) || !(lost ? renewed(p) : anew))
            return err->code;
        if (!lost) {
            before = err->code;
            again--;
        }
        log_say(LOG_INFO, "%s; it is tried once more", err->text);
    }
    return 0;
}

static int replay(struct prober *p, struct experiment *e, const char *name,
                  struct samples *samples, struct error *err)
{
    int status = recording_find(p->recording, name, samples, err);
    if (status == 0 && samples->disturbed != NULL)
        guard_recall(&p->guard, samples->disturbed);
    if (status == 0)
        status = probe_prepare(e, p->info, err);
    if (status == 0)
        status = samples_check(e, samples, err);
    /* What broke off after some of its pieces was disturbed, not damaged. */
    if (status != 0 && samples->disturbed != NULL)
        error_set(err, status, "%s", samples->disturbed);
    return status;
}

static int run_named(struct prober *p, const char *text, const char *name,
                     struct samples *samples, struct error *err)
{
    const int status = try_again(p, text, samples, err);
    if (p->recording == NULL)
        return status;
    if (status == 0)
        recording_add(p->recording, name, samples);
    else if (status != ERR_INTERRUPTED)
        recording_refuse(p->recording, name, err);
    return status;
}

int prober_run(struct prober *p, const char *text, struct samples *samples,
               char **canonical, struct error *err)
{
    struct experiment e;
    if (canonical != NULL)
        *canonical = NULL;
    if (prober_stopped(p))
        return error_set(err, ERR_INTERRUPTED,
                         "stopped before it was measured");
    /* Its device was left in the middle of something. */
    if (p->measures)
        return mem_error(err);
    if (experiment_parse(text, &e, err) != 0)
        return err->code;
    char *const name = experiment_text(&e);
    if (p->options.watch != NULL)
        p->options.watch(p->options.context, name);
    samples_init(samples, e.probe);
    p->experiments++;
    const double began = now_seconds();
    p->measures = true;
    const int status = p->device == NULL
                           ? replay(p, &e, name, samples, err)
                           : run_named(p, text, name, samples, err);
    p->measures = false;
    log_say(LOG_DEBUG, "%.1f ms: %s", 1e3 * (now_seconds() - began), name);
    if (status == 0 && samples->disturbed != NULL)
        log_say(LOG_DEBUG,
                "%s, turns of %.0f cycles, of us %.0f, leap %.0f: %s",
                samples->disturbed, p->guard.turn, p->watch.span, p->watch.gap,
                name);
    if (status != 0)
        samples_free(samples);
    if (status == 0 && canonical != NULL)
        *canonical = name;
    else
        free(name);
    experiment_free(&e);
    return status;
}
