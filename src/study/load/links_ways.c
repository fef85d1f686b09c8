/* What is declared in links.h of any memory that is not the GPU's own. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "study/assume.h"
#include "study/load/links.h"

/* ---- copies ------------------------------------------------------------ */

/* Copies in a row that are timed together.  One is to take so long that what
 * begins and ends it, some microseconds (7 between H100s), is hardly more than
 * a percent; and the host's memory, which is uneven, wants many.  By what one
 * of the least takes: of a fourth of that what begins and ends it made now 128
 * MiB and now 256 of the same way, and rates that differed by a percent. */
enum { COPY_LEAST = 32 << 20, COPY_MOST = 512 << 20 };
enum { TIMES_PEER = 8, TIMES_HOST = 16, TIMES_PAGEABLE = 2 };
enum { REPEATS_SIZE = 3, REPEATS_HOST = 7, REPEATS_PEER = 5, REPEATS_ONE = 9 };
/* Those between GPUs differ by 0.3 %, and of several at once by no more. */
enum { REPEATS_FEW = 3 };
static const double copy_ns = 5e5;

static bool is_either(const char *from, const char *to, const char *place)
{
    return strcmp(from, place) == 0 || strcmp(to, place) == 0;
}

static unsigned times_of(const char *from, const char *to)
{
    return is_either(from, to, "pageable") ? TIMES_PAGEABLE
           : is_either(from, to, "host")   ? TIMES_HOST
                                           : TIMES_PEER;
}

static unsigned repeats_of(const char *from, const char *to)
{
    return is_either(from, to, "pageable") || is_either(from, to, "host")
               ? REPEATS_HOST
               : REPEATS_PEER;
}

/* How large one is then: a power of two, by what one of the least takes. */
static int copy_bytes(struct lab *lab, const char *from, const char *to)
{
    const double ns = lab_column_median(
        lab,
        lab_probe(lab, "copy from=%s to=%s bytes=%d repeats=%d", from, to,
                  COPY_LEAST, REPEATS_SIZE),
        "ns");
    int bytes = COPY_LEAST;
    while (lab_ok(lab) && bytes < COPY_MOST &&
           ns * bytes / COPY_LEAST < copy_ns)
        bytes *= 2;
    return bytes;
}

const struct samples *links_copy_alone(struct lab *lab, const char *from,
                                       const char *to)
{
    const int bytes = copy_bytes(lab, from, to);
    return lab_probe(lab, "copy from=%s to=%s bytes=%d times=%u repeats=%u",
                     from, to, bytes, times_of(from, to), repeats_of(from, to));
}

const struct samples *links_copy_best(struct lab *lab, const char *from,
                                      const char *to, bool *by_other)
{
    const struct samples *const own = links_copy_alone(lab, from, to);
    *by_other = false;
    if (!lab_ok(lab))
        return own;
    const struct samples *const other = lab_probe(
        lab, "copy from=%s to=%s bytes=%d times=%u engine=other repeats=%u",
        from, to, copy_bytes(lab, from, to), times_of(from, to), REPEATS_FEW);
    /* A GPU to which the way back is not open, or a recording of before. */
    if (lab_excuse(lab) != NULL || !lab_ok(lab))
        return own;
    *by_other =
        lab_column_median(lab, other, "ns") < lab_column_median(lab, own, "ns");
    return *by_other ? other : own;
}

struct column links_rates(struct lab *lab, const struct samples *s)
{
    struct column rates = lab_column_of(lab, s, "bytes");
    const struct column ns = lab_column_of(lab, s, "ns");
    for (size_t i = 0; i < rates.count; i++)
        rates.at[i] *= 1e9 / fmax(ns.at[i], 1);
    return rates;
}

/*
 * Beside others: of the host as many again as alone, since its memory is more
 * uneven then; of other GPUs half as many, and smaller where several share a
 * way, and what begins and ends copies of one falls into those of others.
 * Others make a quarter more, or so many times as many as it takes until they
 * outlast what is timed: by what they lacked of its time, if that is told.
 */
enum { WIDER_LEAST = 2, WIDER_MOST = 16, SMALLER = 2 };

static double wider_by(struct lab *lab, const struct samples *s, double over,
                       double wider)
{
    const double ns = lab_column_median(lab, s, "ns"), beside = ns + over;
    const double lacking = beside * WIDER_MOST > ns ? ns / beside : WIDER_MOST;
    if (wider >= WIDER_MOST)
        return 2 * wider;
    /* A quarter more, as above. */
    return fmin(wider * fmax(WIDER_LEAST, 1.25 * lacking), WIDER_MOST);
}

const struct samples *links_copy_beside(struct lab *lab, const char *from,
                                        const char *to, const char *others)
{
    const bool of_host = is_either(from, to, "host"),
               several = strcmp(others, "back") != 0,
               shared = strcmp(others, "same_way") == 0;
    const int bytes = copy_bytes(lab, from, to) / (shared ? SMALLER : 1);
    const unsigned alone = times_of(from, to),
                   times = of_host ? 2 * alone : alone / 2;
    const struct samples *s = NULL;
    double least = -1;
    for (double wider = 1; lab_ok(lab) && least < 0 && wider <= WIDER_MOST;) {
        s = lab_probe(lab,
                      "copy from=%s to=%s bytes=%d times=%u against=%u "
                      "others=%s repeats=%u",
                      from, to, bytes, times,
                      (unsigned)(wider * (times + times / 4 + 3)), others,
                      several ? REPEATS_FEW : repeats_of(from, to));
        const struct column over = lab_column_of(lab, s, "over");
        least = lab_ok(lab) ? stats_min(over.at, over.count) : 0;
        if (least < 0)
            wider = wider_by(lab, s, least, wider);
    }
    return least < 0 ? NULL : s;
}

double links_copy_of(struct lab *lab, const char *how, uint64_t bytes,
                     const char **experiment)
{
    const struct column rates =
        links_rates(lab, lab_probe(lab, "copy %s bytes=%" PRIu64 " repeats=%d",
                                   how, bytes, REPEATS_ONE));
    *experiment = rates.experiment;
    return lab_ok(lab) ? stats_median(rates.at, rates.count) : 0;
}

/* ---- loads ------------------------------------------------------------- */

/* So few lines that any cache keeps them. */
#define SMALL_RING "bytes=2048 stride=128 warm=4 visits=64"

/* Whether a load costs what one of a cache does, and not what it would cost
 * without that: it is nearer to the former. */
static bool is_kept(double cost, double hit, double miss)
{
    return hit < miss && fabs(cost - hit) < fabs(cost - miss);
}

const char *links_caches(struct lab *lab, const char *memory, double latency)
{
    const struct cost l2 = lab_chase(lab, "chase op=cg " SMALL_RING),
                      l1 = lab_chase(lab, "chase op=ca " SMALL_RING),
                      cg = lab_chase(lab, "chase memory=%s op=cg " SMALL_RING,
                                     memory),
                      ca = lab_chase(lab, "chase memory=%s op=ca " SMALL_RING,
                                     memory);
    const bool in_l2 = is_kept(cg.cycles, l2.cycles, latency);
    /* Where L1 takes no global loads at all, both operators cost the same. */
    const bool in_l1 =
        is_kept(ca.cycles, l1.cycles, fmin(cg.cycles, l2.cycles));
    return in_l1 && in_l2 ? "L1 and L2" : in_l1 ? "L1" : in_l2 ? "L2" : "none";
}

/* ---- what kernels read and write ---------------------------------------- */

/*
 * Which way gives most differs, by little where links are the limit: an H200
 * reads 374 to 377 GB/s of another's memory, and 51 of the host's, in all of
 * them.  Plain loads may find in L2 what it keeps, and are asked only where it
 * keeps nothing.
 */
static const struct shape {
    const char *words;
    enum bandwidth_way way;
    unsigned unroll, warps;
    bool writes, plain;
} shapes[] = {
    {"cache=cv", STREAM_BLOCKS, 4, 8, false, false},
    {"cache=cv", STREAM_BLOCKS, 8, 8, false, false},
    {"cache=default", STREAM_BLOCKS, 4, 32, false, true},
    {"cache=cv", STREAM_GPU, 4, 8, false, false},
    {"op=write", STREAM_BLOCKS, 1, 8, true, false},
    {"op=write", STREAM_BLOCKS, 4, 8, true, false},
    {"op=write", STREAM_GPU, 2, 8, true, false},
};

/* B of the shorter of two runs, of which the difference takes long enough for
 * the driver's events; and more than L2 holds, so that what is written must go.
 */
enum { STREAM_LEAST = 1 << 20, STREAM_MOST = 256 << 20 };
enum { REPEATS_SHAPE = 3, REPEATS_BEST = 5 };
static const double stream_s = 3e-4;
/* Tiles of a warp in a run that counts cycles. */
enum { TILES = 12, CYCLES_LEAST = 16384, CYCLES_MOST = 1 << 22 };
/* What gives so little more is chance. */
static const double alike = 0.003;

static uint64_t bytes_of(const struct lab *lab)
{
    const uint64_t l2 = device_told(lab->info, PROPERTY_L2_BYTES, 0);
    uint64_t bytes = STREAM_LEAST;
    while (bytes < l2 && bytes < STREAM_MOST)
        bytes *= 2;
    return bytes;
}

uint64_t links_stream_bytes(const struct lab *lab)
{
    return 2 * bytes_of(lab);
}

static struct bandwidth_question question_of(const struct bandwidth_question *q,
                                             const char *memory,
                                             const struct shape *shape)
{
    struct bandwidth_question of = *q;
    of.words = lab_text(q->lab, "%s memory=%s%s", shape->words, memory,
                        shape->way == STREAM_GPU ? " warm=0" : "");
    of.way = shape->way;
    return of;
}

/* Where cycles are timed, so many that at that rate each warp passes enough. */
static struct bandwidth_setup setup_of(const struct bandwidth_question *q,
                                       const struct shape *shape, double rate)
{
    struct bandwidth_setup s = {
        .unroll = shape->unroll,
        .warps = shape->warps,
        .blocks = 1,
        .width = 16,
        .stride = 1,
        .row = BANDWIDTH_LANES,
        .length = 2 * q->bytes,
        .repeats = REPEATS_SHAPE,
    };
    if (shape->way != STREAM_GPU)
        return s;
    const double hz =
                     (double)device_told(q->lab->info, PROPERTY_CLOCK, 1000000),
                 bytes = 32.0 * s.unroll * s.warps * s.width * lab_sms(q->lab);
    s.length = CYCLES_LEAST;
    while (s.length < CYCLES_MOST && rate > 0 &&
           (double)s.length < TILES * bytes / rate * hz)
        s.length *= 2;
    return s;
}

/* Sets so large that the difference of two takes long enough. */
static void enlarge(struct bandwidth_question *q, double rate)
{
    while (q->bytes < STREAM_MOST && (double)q->bytes / rate < stream_s)
        q->bytes *= 2;
}

/* What is tried, and by how many others the best is nearly reached, so that
 * more in flight would hardly give more. */
struct trials {
    struct bandwidth_question base, best;
    struct bandwidth_found found;
    double rates[COUNT_OF(shapes)];
    size_t count;
};

static void try_shape(struct trials *t, const char *memory,
                      const struct shape *shape)
{
    const struct bandwidth_question q = question_of(&t->base, memory, shape);
    const struct bandwidth_setup s = setup_of(&q, shape, t->found.rate.value);
    if (!bandwidth_fits(&q, &s))
        return;
    const struct bandwidth_rate rate = bandwidth_measure_well(&q, &s);
    if (!lab_ok(t->base.lab) || bandwidth_flaw(&rate) != NULL)
        return;
    if (t->count == 0)
        enlarge(&t->base, rate.value);
    t->rates[t->count++] = rate.value;
    if (rate.value <= (1 + alike) * t->found.rate.value)
        return;
    t->best = q;
    t->found.setup = s;
    t->found.rate = rate;
}

static bool is_nearly_reached(const struct trials *t)
{
    size_t near = 0;
    for (size_t i = 0; i < t->count; i++)
        near += t->rates[i] * (1 + assume(ASSUME_GROWTH_FAR)) >=
                t->found.rate.value;
    return near > 1;
}

struct bandwidth_found links_kernels(struct bandwidth_question *q,
                                     const char *memory, bool writes,
                                     bool l2_keeps)
{
    q->component = "link";
    q->least = BANDWIDTH_CYCLES_LIST;
    q->lanes = BANDWIDTH_LANES;
    q->width = 16;
    q->arrays = 1;
    q->bytes = bytes_of(q->lab);
    q->room = 2 * STREAM_MOST;
    struct trials t = {.base = *q};
    for (size_t i = 0; lab_ok(q->lab) && i < COUNT_OF(shapes); i++)
        if (shapes[i].writes == writes && !(shapes[i].plain && l2_keeps))
            try_shape(&t, memory, &shapes[i]);
    if (!lab_ok(q->lab))
        return t.found;
    if (t.count == 0 || !is_nearly_reached(&t)) {
        *q = question_of(&t.base, memory,
                         &(struct shape){writes ? "op=write" : "cache=cv",
                                         STREAM_GPU, 0, 0, writes, false});
        return bandwidth_find(q, NULL);
    }
    *q = t.best;
    q->bytes = t.base.bytes;
    t.found.saturated = true;
    t.found.setup.repeats =
        q->way == STREAM_BLOCKS ? REPEATS_BEST : BANDWIDTH_REPEATS_FINAL;
    if (q->way == STREAM_BLOCKS)
        t.found.setup.length = 2 * q->bytes;
    t.found.rate = bandwidth_measure_well(q, &t.found.setup);
    return t.found;
}
