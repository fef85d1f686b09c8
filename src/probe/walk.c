#include "probe/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "probe/crew.h"

const char *const walk_spaces[] = {"global", "readonly", "shared",
                                   "shared_indexed", NULL};
const char *const walk_ops[] = {"default", "ca", "cg", "cs", "lu", "cv", NULL};
const char *const walk_sweep_ops[] = {"same", "ca", "cg", "cs",
                                      "lu",   "cv", NULL};
const char *const walk_orders[] = {"sequential", "random", NULL};

/* The seed of a random order comes from the experiment itself, so that its
 * name alone says which order it was. */
static uint64_t order_seed(const struct experiment *e)
{
    char *const text = experiment_text(e);
    const uint64_t seed = hash_text(HASH_START, text);
    free(text);
    return seed;
}

static int check(const struct walk *w, struct error *err)
{
    const struct ring_plan *const p = &w->plan;
    const char *const ops[] = {w->op, w->sweep_op};
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if (strcmp(ops[i], "default") != 0 && strcmp(ops[i], "same") != 0 &&
            !space_has_op(w->space, ops[i]))
            return error_set(err, ERR_USAGE, "space=%s has no operator %s",
                             w->space->name, ops[i]);
    if (p->stride % w->space->pointer_bytes != 0)
        return error_set(err, ERR_USAGE,
                         "stride=%" PRIu64 " is not a multiple of the %u bytes "
                         "of a pointer in space=%s",
                         p->stride, w->space->pointer_bytes, w->space->name);
    if (w->shift % w->space->pointer_bytes != 0)
        return error_set(err, ERR_USAGE,
                         "shift is not a multiple of the %u bytes of a pointer",
                         w->space->pointer_bytes);
    if (p->segment_count == 0 && p->bytes < p->stride)
        return error_set(err, ERR_USAGE, "bytes is smaller than stride");
    for (size_t i = 0; i < p->segment_count; i++)
        if ((p->segments[i].start | p->segments[i].step) %
                w->space->pointer_bytes !=
            0)
            return error_set(err, ERR_USAGE,
                             "list has offsets that are not multiples of the "
                             "%u bytes of a pointer",
                             w->space->pointer_bytes);
    for (size_t i = 0; i < p->segment_count; i++)
        if (p->segments[i].count > 1 && p->segments[i].step == 0)
            return error_set(err, ERR_USAGE,
                             "list visits one element several times: a step "
                             "is 0");
    if (p->segment_count > 0 && (w->sms > 1 || w->sweep > 0))
        return error_set(err, ERR_USAGE,
                         "list goes with one SM and without sweep");
    return 0;
}

int walk_read(const struct experiment *e, uint64_t reach, struct walk *w,
              struct error *err)
{
    *w = (struct walk){
        .space = space_find(experiment_word(e, "space")),
        .op = experiment_word(e, "op"),
        .sweep_op = experiment_word(e, "sweep_op"),
        .plan = {.bytes = experiment_number(e, "bytes"),
                 .stride = experiment_number(e, "stride"),
                 .random = strcmp(experiment_word(e, "order"), "random") == 0,
                 .window = experiment_number(e, "window"),
                 .sample = experiment_number(e, "sample"),
                 .lead = experiment_number(e, "lead"),
                 .seed = order_seed(e)},
        .step = experiment_number(e, "step"),
        .shift = experiment_number(e, "shift"),
        .warm = experiment_number(e, "warm"),
        .visits = experiment_number(e, "visits"),
        .sweep = experiment_number(e, "sweep"),
        .flush = experiment_number(e, "flush"),
        .carve = experiment_number(e, "carve"),
        .sm = experiment_number(e, "sm"),
        .sms = experiment_number(e, "sms"),
    };
    /* Loads come in 64s: some more than asked for. */
    if (w->warm == 0 && w->visits > 0)
        w->plan.most = reach * (w->visits + 64);
    w->plan.segments = experiment_list(e, "list", &w->plan.segment_count);
    if (check(w, err) == 0)
        return 0;
    walk_free(w);
    return err->code;
}

void walk_free(struct walk *w)
{
    free((void *)(uintptr_t)w->plan.segments);
}

/* ---- the kernel ------------------------------------------------------- */

void walk_load(struct kernel_text *k, unsigned copy, const void *context)
{
    (void)copy;
    const struct walk *const w = context;
    if (w->space->indexed)
        kernel_line(k, "mad.lo.u32 %%ptr, %%ptr, %u, %%pool;",
                    w->space->pointer_bytes);
    space_load(k, w->space->load, w->op, "%ptr", "%ptr");
}

enum { SWEEP_UNROLL = 4 };

/* A sweep wants many loads in flight; a chase wants company least of all. */
static unsigned threads_of(const struct walk *w)
{
    return w->flush > 0 || w->sweep > 0 ? 256 : 32;
}

/* A flush strides like the ring, as far as no line is left out (32 B is the
 * smallest there is) and no time is wasted (128 B the largest). */
static uint64_t flush_stride(const struct walk *w)
{
    const uint64_t stride = w->plan.stride;
    return stride < 32 ? 32 : stride > 128 ? 128 : stride;
}

/* All threads of the block load one word of each stride of [%at, %end). */
static void sweep_range(struct kernel_text *k, const struct walk *w,
                        const char *op, uint64_t stride, const char *label)
{
    kernel_line(k, "mul.wide.u32 %%next, %%me, %" PRIu64 ";", stride);
    kernel_line(k, "add.u64 %%at, %%at, %%next;");
    kernel_line(k, "%s:", label);
    for (int i = 0; i < SWEEP_UNROLL; i++) {
        kernel_line(k, "setp.lt.u64 %%in%d, %%at, %%end;", i);
        char word[32], guarded[160];
        snprintf(word, sizeof word, "%%word%d", i);
        snprintf(guarded, sizeof guarded, "@%%in%d %s", i, w->space->load_word);
        space_load(k, guarded, op, word, "%at");
        kernel_line(k, "add.u64 %%at, %%at, %" PRIu64 ";",
                    stride * threads_of(w));
    }
    for (int i = 0; i < SWEEP_UNROLL; i++)
        kernel_line(k, "xor.b32 %%sink, %%sink, %%word%d;", i);
    kernel_line(k, "setp.lt.u64 %%again, %%at, %%end;");
    kernel_line(k, "@%%again bra %s;", label);
}

static const char *sweep_op(const struct walk *w)
{
    return strcmp(w->sweep_op, "same") == 0 ? w->op : w->sweep_op;
}

static void sweep_declarations(struct kernel_text *k)
{
    kernel_line(k, ".reg .b64 %%next, %%end, %%times;");
    for (int i = 0; i < SWEEP_UNROLL; i++) {
        kernel_line(k, ".reg .pred %%in%d;", i);
        kernel_line(k, ".reg .b32 %%word%d;", i);
        kernel_line(k, "mov.u32 %%word%d, 0;", i);
    }
    kernel_line(k, "mov.u32 %%sink, 0;");
}

void walk_job_word(struct kernel_text *k, const char *into, int word)
{
    kernel_line(k, "ld.global.cg.u64 %s, [%%job+%d];", into, 8 * word);
}

static void flush_and_sweep(struct kernel_text *k, const struct walk *w)
{
    sweep_declarations(k);
    if (w->flush > 0) {
        kernel_note(k, "other memory, to empty the caches of the ring");
        walk_job_word(k, "%at", JOB_FLUSH);
        walk_job_word(k, "%end", JOB_FLUSH_BYTES);
        kernel_line(k, "add.u64 %%end, %%end, %%at;");
        sweep_range(k, w, w->op, flush_stride(w), "FLUSH");
    }
    if (w->sweep > 0) {
        kernel_note(k, "the ring's range, to fill them");
        walk_job_word(k, "%times", JOB_SWEEPS);
        kernel_line(k, "SWEEPS:");
        walk_job_word(k, "%at", JOB_SWEEP);
        walk_job_word(k, "%end", JOB_SWEEP_BYTES);
        kernel_line(k, "add.u64 %%end, %%end, %%at;");
        sweep_range(k, w, sweep_op(w), w->plan.stride, "SWEEP");
        kernel_line(k, "sub.u64 %%times, %%times, 1;");
        kernel_line(k, "setp.ne.u64 %%again, %%times, 0;");
        kernel_line(k, "@%%again bra SWEEPS;");
    }
    kernel_note(k, "a use of what was loaded, so that it is loaded");
    kernel_line(k, "setp.eq.u32 %%again, %%sink, 0x5eed5eed;");
    kernel_line(k, "@%%again st.shared.u32 [pool+8], %%sink;");
}

/* Shared memory has no address on the host: the block links the ring itself. */
static void link_shared(struct kernel_text *k, const struct walk *w)
{
    kernel_line(k, ".reg .b64 %%count, %%turn;");
    kernel_line(k, ".reg .b32 %%element, %%to;");
    walk_job_word(k, "%at", JOB_LINKS);
    walk_job_word(k, "%count", JOB_LINK_COUNT);
    kernel_line(k, "cvt.u64.u32 %%turn, %%me;");
    kernel_line(k, "LINK:");
    kernel_line(k, "setp.ge.u64 %%again, %%turn, %%count;");
    kernel_line(k, "@%%again bra LINKED;");
    kernel_line(k, "shl.b64 %%ptr64, %%turn, 4;");
    kernel_line(k, "add.u64 %%ptr64, %%ptr64, %%at;");
    kernel_line(k, "ld.global.u32 %%element, [%%ptr64];");
    kernel_line(k, "ld.global.u32 %%to, [%%ptr64+8];");
    kernel_line(k, "add.u32 %%element, %%element, %%pool;");
    if (w->space->indexed)
        kernel_line(k, "shr.u32 %%to, %%to, 2;");
    else
        kernel_line(k, "add.u32 %%to, %%to, %%pool;");
    kernel_line(k, "st.shared.u32 [%%element], %%to;");
    kernel_line(k, "add.u64 %%turn, %%turn, %u;", threads_of(w));
    kernel_line(k, "bra LINK;");
    kernel_line(k, "LINKED:");
}

static void first_pointer(struct kernel_text *k, const struct walk *w)
{
    if (w->space->memory == MEMORY_GLOBAL) {
        walk_job_word(k, "%ptr", JOB_START);
        return;
    }
    walk_job_word(k, "%ptr64", JOB_START);
    kernel_line(k, "cvt.u32.u64 %%ptr, %%ptr64;");
    if (w->space->indexed)
        kernel_line(k, "shr.u32 %%ptr, %%ptr, 2;");
    else
        kernel_line(k, "add.u32 %%ptr, %%ptr, %%pool;");
}

void walk_opening(struct kernel_text *k, const struct walk *w)
{
    crew_opening(k, JOB_WORDS * 8);
    kernel_line(k, ".reg .b32 %%sink, %%pool;");
    kernel_line(k, ".reg .b64 %%ptr64;");
    kernel_line(k, ".reg .b%u %%ptr;", 8 * w->space->pointer_bytes);
    kernel_line(k, "mov.u32 %%pool, pool;");
    kernel_line(k, "add.u32 %%pool, %%pool, %d;", WALK_POOL_OWN);
    if (w->space->memory == MEMORY_SHARED)
        link_shared(k, w);
    else if (w->flush > 0 || w->sweep > 0)
        flush_and_sweep(k, w);
    kernel_line(k, "bar.sync 0;");
    kernel_line(k, "@%%other ret;");
    first_pointer(k, w);
}

void walk_wait(struct kernel_text *k, const struct walk *w)
{
    /* No pointer and no index has all bits set. */
    kernel_line(k, "setp.eq.s%u %%again, %%ptr, -1;",
                8 * w->space->pointer_bytes);
    kernel_line(k, "@%%again bra BROKEN;");
}

void walk_closing(struct kernel_text *k)
{
    kernel_line(k, "BROKEN:");
    kernel_end(k);
}

/* ---- the launch ------------------------------------------------------- */

uint64_t walk_region(const struct walk *w)
{
    uint64_t span = w->plan.bytes + w->step * (w->sms - 1);
    for (size_t i = 0; i < w->plan.segment_count; i++) {
        const struct segment *const s = &w->plan.segments[i];
        const uint64_t end = s->start + s->step * s->count + 8;
        span = end > span ? end : span;
    }
    uint64_t region = 4096;
    while (region < span)
        region *= 2;
    return region;
}

/* Appends (element, pointer) pairs of one ring. */
static void append_links(struct buf *links, const uint64_t *order, size_t count,
                         uint64_t base)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t pair[2] = {base + order[i],
                                  base + order[i + 1 < count ? i + 1 : 0]};
        buf_append(links, pair, sizeof pair);
    }
}

/* Writes the pairs where they belong, on the device: a thread a pair, and pairs
 * for whole blocks, so that no thread need ask whether there is one for it. */
enum { SCATTER_THREADS = 256, LINK_BYTES = 16 };

static const char scatter_body[] =
    "    .reg .b32 %block, %me;\n"
    "    .reg .b64 %links, %element, %to;\n"
    "    ld.param.u64 %links, [links];\n"
    "    mov.u32 %block, %ctaid.x;\n"
    "    mov.u32 %me, %tid.x;\n"
    "    mad.lo.u32 %me, %block, 256, %me;\n"
    "    mad.wide.u32 %links, %me, 16, %links;\n"
    "    ld.global.v2.u64 {%element, %to}, [%links];\n"
    "    st.global.u64 [%element], %to;\n";

static int scatter(struct prober *prober, const struct buf *links,
                   uint64_t address, struct error *err)
{
    const struct device_info *const info = prober_info(prober);
    struct buf ptx = {0};
    struct kernel_text k;
    kernel_begin(&k, &ptx, info->cc_major, info->cc_minor, "", "scatter",
                 "links");
    buf_text(&ptx, scatter_body);
    kernel_end(&k);
    struct kernel *kernel;
    int status = prober_load(prober, buf_string(&ptx), "scatter", &kernel, err);
    buf_free(&ptx);
    if (status != 0)
        return status;
    const struct launch launch = {
        .grid = {(unsigned)(links->length / LINK_BYTES / SCATTER_THREADS)},
        .block = {SCATTER_THREADS},
        .carve_out = CARVE_OUT_DEFAULT,
        .args = {&address},
        .arg_count = 1,
    };
    return device_launch(prober_device(prober), kernel, &launch, err);
}

/* Repeats the last pair until they fill whole blocks. */
static void pad_links(struct buf *links)
{
    char last[LINK_BYTES];
    memcpy(last, links->data + links->length - LINK_BYTES, LINK_BYTES);
    while (links->length % (LINK_BYTES * SCATTER_THREADS) != 0)
        buf_append(links, last, LINK_BYTES);
}

/* Everything that one launch needs, on the host and on the device. */
struct stage {
    const struct walk *walk;
    struct crew crew;
    uint64_t region, ring, flush, links_at;
    struct buf links;
    uint64_t *jobs, *sms;
};

static int place_buffers(struct prober *prober, struct stage *s,
                         struct error *err)
{
    const struct walk *const w = s->walk;
    s->region = walk_region(w);
    if (w->space->memory == MEMORY_GLOBAL &&
        prober_buffer(prober, BUFFER_RING, w->shift + s->region * w->sms,
                      &s->ring, err))
        return err->code;
    s->ring += w->shift;
    if (w->flush > 0 &&
        prober_buffer(prober, BUFFER_FLUSH, w->flush, &s->flush, err) != 0)
        return err->code;
    return crew_place(prober, &s->crew, err);
}

static void fill_job(struct stage *s, uint64_t slot, const uint64_t *order,
                     size_t elements, size_t links_before,
                     void (*own)(const struct walk *, size_t, uint64_t *))
{
    const struct walk *const w = s->walk;
    uint64_t *const job = s->jobs + slot * JOB_WORDS;
    const uint64_t base =
        w->space->memory == MEMORY_GLOBAL ? s->ring + slot * s->region : 0;
    job[JOB_START] = base + order[0];
    job[JOB_BASE] = base;
    job[JOB_FLUSH] = s->flush;
    job[JOB_FLUSH_BYTES] = w->flush;
    job[JOB_SWEEP] = base;
    job[JOB_SWEEP_BYTES] = w->plan.bytes + slot * w->step;
    job[JOB_SWEEPS] = w->sweep;
    job[JOB_LINKS] = s->links_at + links_before;
    job[JOB_LINK_COUNT] = elements;
    job[JOB_OUT] = s->crew.out_at + slot * s->crew.words_each * 8;
    own(w, elements, job + JOB_OWN);
}

/* Builds all rings. */
static int build_rings(struct stage *s,
                       void (*own)(const struct walk *, size_t, uint64_t *),
                       struct walk_out *out, struct error *err)
{
    const struct walk *const w = s->walk;
    for (uint64_t slot = 0; slot < w->sms; slot++) {
        struct ring_plan plan = w->plan;
        plan.bytes += slot * w->step;
        size_t count;
        uint64_t *const order = ring_order(&plan, &count);
        if (count == 0) {
            free(order);
            return error_set(err, ERR_USAGE, "the ring has no element");
        }
        const uint64_t base =
            w->space->memory == MEMORY_GLOBAL ? s->ring + slot * s->region : 0;
        fill_job(s, slot, order, count, s->links.length, own);
        append_links(&s->links, order, count, base);
        out->elements[slot] = count;
        free(order);
    }
    pad_links(&s->links);
    return 0;
}

static int upload_rings(struct prober *prober, struct stage *s,
                        struct error *err)
{
    const uint64_t old = s->links_at;
    if (prober_buffer(prober, BUFFER_LINKS, s->links.length, &s->links_at,
                      err) != 0)
        return err->code;
    /* The jobs were filled before the size of the links was known. */
    for (uint64_t slot = 0; slot < s->walk->sms; slot++)
        s->jobs[slot * JOB_WORDS + JOB_LINKS] += s->links_at - old;
    int status = device_copy_in(prober_device(prober), s->links_at,
                                s->links.data, s->links.length, err);
    if (status == 0 && s->walk->space->memory == MEMORY_GLOBAL)
        status = scatter(prober, &s->links, s->links_at, err);
    return status;
}

static void muster(struct stage *s, size_t words_each, uint64_t pool)
{
    const struct walk *const w = s->walk;
    s->sms = xcalloc(w->sms, sizeof *s->sms);
    for (uint64_t i = 0; i < w->sms; i++)
        s->sms[i] = w->sm + i;
    s->jobs = xcalloc(w->sms * JOB_WORDS, 8);
    s->crew = (struct crew){
        .count = w->sms,
        .sms = s->sms,
        .jobs = s->jobs,
        .job_bytes = JOB_WORDS * 8,
        .words_each = words_each,
        .threads = threads_of(w),
        .shared_bytes = WALK_POOL_OWN + pool,
        .carve_out =
            w->carve == WALK_CARVE_DRIVER ? CARVE_OUT_DEFAULT : (int)w->carve,
    };
}

int walk_run(struct prober *prober, const struct experiment *experiment,
             const struct walk *walk, const char *name,
             void (*own)(const struct walk *, size_t, uint64_t *),
             size_t words_each, uint64_t pool, struct walk_out *out,
             struct error *err)
{
    struct stage s = {.walk = walk};
    struct kernel *kernel;
    *out = (struct walk_out){0};
    muster(&s, words_each, pool);
    int status = prober_kernel(prober, experiment, name, &kernel, err);
    if (status == 0)
        status = place_buffers(prober, &s, err);
    if (status == 0) {
        out->elements = xcalloc(walk->sms, sizeof *out->elements);
        status = build_rings(&s, own, out, err);
    }
    if (status == 0)
        status = upload_rings(prober, &s, err);
    if (status == 0)
        status = crew_run(prober, &s.crew, kernel, &out->words, err);
    free(s.jobs);
    free(s.sms);
    buf_free(&s.links);
    if (status != 0)
        walk_done(out);
    return status;
}

void walk_done(struct walk_out *out)
{
    free(out->elements);
    free(out->words);
    *out = (struct walk_out){0};
}
