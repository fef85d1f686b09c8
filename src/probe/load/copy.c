/*
 * The probe `copy`: what copy engines move in a time.  It runs no kernel; the
 * driver notes when copies begin and end.  With `against` others copy
 * meanwhile: the other way, or between other GPUs.  They begin before, and
 * `over` says by how many nanoseconds the first of them to end outlasted what
 * was timed (of one that another GPU's engine makes only its sign counts);
 * below 0 it did not, and what was timed is no rate beside others.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "probe/check.h"
#include "probe/run.h"

/* Who copies meanwhile: the other way; each other GPU that this one reaches the
 * same way, to it or from it; each GPU to each. */
enum others { OTHERS_BACK, OTHERS_SAME_WAY, OTHERS_ALL_PAIRS };
static const char *const others_words[] = {"back", "same_way", "all_pairs",
                                           NULL};

/* Whose copy engine makes a copy that nobody else copies beside. */
enum engine { ENGINE_OWN, ENGINE_OTHER };
static const char *const engine_words[] = {"own", "other", NULL};

struct copy {
    enum device_place from, to;
    enum others others;
    enum engine engine;
    uint64_t bytes, times, against;
};

enum column { COLUMN_BYTES = 1, COLUMN_NS, COLUMN_OVER };

/* clang-format off */
static const struct param copy_params[] = {
    CHOICE(struct copy, from, "host", prober_places, "whose memory is copied: the GPU's own; the host's, pinned; another GPU's; the host's, pageable"),
    CHOICE(struct copy, to, "own", prober_places, "where to"),
    NUMBER(struct copy, bytes, "1048576", 1, (uint64_t)1 << 36, "of a copy"),
    NUMBER(struct copy, times, "1", 1, 4096, "copies, one after the other, that are timed together"),
    NUMBER(struct copy, against, "0", 0, 65536, "copies that others make meanwhile"),
    CHOICE(struct copy, others, "back", others_words, "which: of the other way; of each other GPU the same way; of each GPU to each"),
    CHOICE(struct copy, engine, "own", engine_words, "whose copy engine makes it: the GPU's, or the other GPU's"),
    REPEATS(1000, "repetitions; 0: as many as the stopping rule wants"),
    {0},
};
/* clang-format on */

static bool is_peer(enum device_place place)
{
    return place >= PLACE_PEER && place < PLACE_PEER + PEERS_MOST;
}

static int copy_prepare(struct experiment *e, const struct device_info *info,
                        struct error *err)
{
    const struct copy *const c = e->own;
    (void)info;
    if ((c->from == PLACE_OWN) == (c->to == PLACE_OWN))
        return error_set(err, ERR_USAGE,
                         "copy: one of from and to is own memory");
    if (c->against > 0 &&
        (c->from == PLACE_PAGEABLE || c->to == PLACE_PAGEABLE))
        return error_set(err, ERR_USAGE,
                         "copy: the driver copies pageable memory by the "
                         "host, one way at a time");
    if (c->others != OTHERS_BACK && !is_peer(c->from) && !is_peer(c->to))
        return error_set(err, ERR_USAGE,
                         "copy: others=%s goes with another GPU",
                         others_words[c->others]);
    if (c->engine == ENGINE_OTHER &&
        (c->against > 0 || (!is_peer(c->from) && !is_peer(c->to))))
        return error_set(err, ERR_USAGE,
                         "copy: engine=other goes with another GPU, and with "
                         "nobody who copies meanwhile");
    return 0;
}

/* What is copied each way lies apart from what is copied the other way. */
static int place(struct prober *prober, const struct copy *c, bool against,
                 struct transfer *t, struct error *err)
{
    const bool to_own = (c->to == PLACE_OWN) != against;
    const enum device_place far = c->to == PLACE_OWN ? c->from : c->to;
    /* That of another GPU, and what is pinned, is kept while others are asked.
     */
    const enum prober_buffer far_buffer =
        against || far == PLACE_PAGEABLE ? BUFFER_FAR_TOO
        : is_peer(far) ? (enum prober_buffer)(BUFFER_PEER + (far - PLACE_PEER))
                       : BUFFER_FAR;
    uint64_t own_at, far_at;
    if (prober_buffer(prober, against ? BUFFER_FLUSH : BUFFER_RING, c->bytes,
                      &own_at, err) != 0 ||
        prober_buffer_at(prober, far_buffer, far, c->bytes, &far_at, err) != 0)
        return err->code;
    *t = (struct transfer){
        .to = to_own ? own_at : far_at,
        .from = to_own ? far_at : own_at,
        .bytes = c->bytes,
        .times = (unsigned)(against ? c->against : c->times),
        .by_other = c->engine == ENGINE_OTHER,
    };
    return 0;
}

/* ---- others ------------------------------------------------------------ */

/* What is timed, and each GPU to each. */
enum { TRANSFERS_MOST = 2 + (PEERS_MOST + 1) * PEERS_MOST };

struct crowd {
    struct prober *prober;
    const struct copy *copy;
    struct transfer transfer[TRANSFERS_MOST];
    size_t count;
};

/* What several read or write there is anything. */
static int place_at(const struct crowd *c, enum device_place place,
                    uint64_t *address, struct error *err)
{
    if (place == PLACE_OWN)
        return prober_buffer(c->prober, BUFFER_FLUSH, c->copy->bytes, address,
                             err);
    return prober_buffer_at(
        c->prober, (enum prober_buffer)(BUFFER_PEER + (place - PLACE_PEER)),
        place, c->copy->bytes, address, err);
}

static int add(struct crowd *c, enum device_place from, enum device_place to,
               struct error *err)
{
    struct transfer t = {.bytes = c->copy->bytes,
                         .times = (unsigned)c->copy->against};
    if (from == to || (from == c->copy->from && to == c->copy->to))
        return 0;
    if (place_at(c, from, &t.from, err) != 0 ||
        place_at(c, to, &t.to, err) != 0)
        return err->code;
    c->transfer[c->count++] = t;
    return 0;
}

/* This GPU and those that it reaches. */
static int members_of(const struct crowd *c, enum device_place *place,
                      size_t *count, struct error *err)
{
    enum device_peer peers[PEERS_MOST];
    size_t gpus;
    if (device_peers(prober_device(c->prober), peers, &gpus, err) != 0)
        return err->code;
    *count = 0;
    for (size_t i = 0; i < gpus; i++)
        if (peers[i] != PEER_APART)
            place[(*count)++] = peers[i] == PEER_SELF
                                    ? PLACE_OWN
                                    : (enum device_place)(PLACE_PEER + (int)i);
    return 0;
}

static int add_others(struct crowd *c, struct error *err)
{
    enum device_place place[PEERS_MOST];
    size_t count = 0;
    int status = members_of(c, place, &count, err);
    for (size_t i = 0; status == 0 && i < count; i++) {
        if (c->copy->others == OTHERS_SAME_WAY && place[i] != PLACE_OWN)
            status = c->copy->to == PLACE_OWN
                         ? add(c, place[i], PLACE_OWN, err)
                         : add(c, PLACE_OWN, place[i], err);
        for (size_t k = 0;
             status == 0 && k < count && c->copy->others == OTHERS_ALL_PAIRS;
             k++)
            status = add(c, place[i], place[k], err);
    }
    return status;
}

static int fill(struct crowd *c, struct error *err)
{
    int status =
        place(c->prober, c->copy, false, &c->transfer[c->count++], err);
    if (status != 0 || c->copy->against == 0)
        return status;
    if (c->copy->others != OTHERS_BACK)
        return add_others(c, err);
    return place(c->prober, c->copy, true, &c->transfer[c->count++], err);
}

/* By how much the first of them to end outlasted what was timed. */
static double over_of(const struct crowd *c)
{
    double least = 0;
    bool any = false;
    for (size_t i = 1; i < c->count; i++) {
        const double over = c->transfer[i].ended - c->transfer[0].ended;
        if (c->transfer[i].none || (any && over >= least))
            continue;
        least = over;
        any = true;
    }
    return least;
}

static int copy_once(struct prober *prober, const struct experiment *e,
                     struct samples *samples, struct error *err)
{
    const struct copy *const c = e->own;
    struct crowd *const crowd = xcalloc(1, sizeof *crowd);
    crowd->prober = prober;
    crowd->copy = c;
    int status = fill(crowd, err);
    if (status == 0)
        status = device_transfer(prober_device(prober), crowd->transfer,
                                 crowd->count, err);
    if (status == 0) {
        int64_t *const row = samples_row(samples);
        row[COLUMN_BYTES] = (int64_t)(c->bytes * c->times);
        row[COLUMN_NS] =
            (int64_t)(crowd->transfer[0].ended - crowd->transfer[0].began);
        row[COLUMN_OVER] = (int64_t)over_of(crowd);
    }
    free(crowd);
    return status;
}

const struct probe probe_copy = {
    .name = "copy",
    .what = "bandwidth of copy engines between the GPU and the host, or "
            "another GPU",
    .params = copy_params,
    .bytes = sizeof(struct copy),
    .columns = TEXTS("bytes", "ns", "over"),
    .figure_column = COLUMN_NS,
    .repeats_least = 5,
    .repeats_most = 15,
    .prepare = copy_prepare,
    .once = copy_once,
    .sound = rows_are_one,
};
