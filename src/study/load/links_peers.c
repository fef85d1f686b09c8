/*
 * The part of the study `links` that asks of other GPUs: lists, in whose
 * protocol `peers` are their numbers and `gpu` is this one's, so that the
 * reports of all GPUs of a host make matrices.
 *
 * What a switch that several ways go through keeps to itself shows where they
 * are busy at once: all others send to this GPU, this one sends to all, or each
 * GPU sends to each.
 */
#include <string.h>

#include "study/load/links.h"
#include "study/load/sweep.h"

struct peers {
    unsigned self; /* the number of the GPU itself */
    size_t count;
    unsigned number[PEERS_MOST];
    const char *memory[PEERS_MOST]; /* the word of experiments */
    double latency[PEERS_MOST];
    bool atomics[PEERS_MOST];  /* it takes some of this one */
    bool by_other[PEERS_MOST]; /* copies alone, as last asked, are made by its
                                  engine */
};

static struct peers find_peers(struct lab *lab)
{
    struct peers p = {0};
    const struct samples *const s = lab_probe(lab, "peers");
    const struct column gpus = lab_column_of(lab, s, "gpu"),
                        self = lab_column_of(lab, s, "self"),
                        reached = lab_column_of(lab, s, "reached"),
                        atomics = lab_column_of(lab, s, "atomics");
    for (size_t i = 0; i < gpus.count && p.count < PEERS_MOST; i++)
        if (self.at[i] > 0) {
            p.self = (unsigned)gpus.at[i];
        } else if (reached.at[i] > 0) {
            p.atomics[p.count] = atomics.at[i] > 0;
            p.number[p.count] = (unsigned)gpus.at[i];
            p.memory[p.count++] = lab_text(lab, "gpu%.0f", gpus.at[i]);
        }
    return p;
}

static struct sweep begin_list(struct lab *lab, const char *attribute)
{
    return sweep_begin(lab, "link", attribute, "peers");
}

/* Whose row of the matrix it is. */
static bool end_list(struct sweep *list, const struct peers *p)
{
    const bool measured = sweep_end(list);
    if (measured)
        finding_protocol(list->finding, "gpu", value_number(p->self));
    return measured;
}

static void ask_latencies(struct lab *lab, struct peers *p)
{
    struct sweep list = begin_list(lab, "latency");
    for (size_t i = 0; i < p->count; i++) {
        const struct cost c =
            lab_load_cost(lab, "memory=%s op=cv " LINKS_RING, p->memory[i]);
        p->latency[i] = c.cycles;
        sweep_add(&list, value_number(p->number[i]), c.cycles, c.experiment);
    }
    if (end_list(&list, p))
        finding_protocol(list.finding, "load", value_text("ld.global.cv.u64"));
}

/* A word for all of them; true if L2 keeps what is read, or nobody knows. */
static bool ask_caches_of_peers(struct lab *lab, const struct peers *p)
{
    struct finding *const f = lab_finding(lab, "link", "cached_in");
    const char *first = NULL, *other = NULL;
    lab_cite(lab, f);
    for (size_t i = 0; lab_ok(lab) && i < p->count; i++) {
        const char *const caches =
            links_caches(lab, p->memory[i], p->latency[i]);
        first = first == NULL ? caches : first;
        other = strcmp(caches, first) != 0 ? caches : other;
    }
    lab_uncite(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(f, "%s", why);
    else if (lab_ok(lab) && other != NULL)
        finding_none(f, why_peers_unlike, first, other);
    else if (lab_ok(lab))
        finding_value(f, STATUS_MEASURED, value_text(first));
    return why != NULL || first == NULL || other != NULL ||
           strstr(first, "L2") != NULL;
}

/* ---- copies ------------------------------------------------------------ */

/* To or from each; beside other copies, or alone. */
static const struct question {
    const char *attribute;
    bool to_peer;
    const char *others; /* NULL: alone */
} questions[] = {
    {"from_peer_bandwidth", false, NULL},
    {"to_peer_bandwidth", true, NULL},
    {"from_peer_bandwidth_both_ways", false, "back"},
    {"to_peer_bandwidth_both_ways", true, "back"},
    {"from_peer_bandwidth_all_to_one", false, "same_way"},
    {"to_peer_bandwidth_one_to_all", true, "same_way"},
    {"from_peer_bandwidth_all_pairs", false, "all_pairs"},
};

static const char *from_of(const struct peers *p, const struct question *q,
                           size_t i)
{
    return q->to_peer ? "own" : p->memory[i];
}

static const char *to_of(const struct peers *p, const struct question *q,
                         size_t i)
{
    return q->to_peer ? p->memory[i] : "own";
}

/* Whose engine made each. */
static void say_engines(struct finding *f, const struct peers *p)
{
    struct value engines = value_list();
    for (size_t i = 0; i < p->count; i++)
        value_push(&engines, value_text(p->by_other[i] ? "other" : "own"));
    finding_protocol(f, "engines", engines);
}

static void ask_copies_of_peers(struct lab *lab, struct peers *p,
                                const struct question *q)
{
    struct sweep list = begin_list(lab, q->attribute);
    for (size_t i = 0; lab_ok(lab) && i < p->count; i++) {
        const char *const from = from_of(p, q, i), *const to = to_of(p, q, i);
        const struct samples *const s =
            q->others != NULL ? links_copy_beside(lab, from, to, q->others)
                              : links_copy_best(lab, from, to, &p->by_other[i]);
        if (s == NULL) {
            lab_fail(lab, ERR_UNSUPPORTED, why_other_way_ends);
            continue;
        }
        const struct column rates = links_rates(lab, s);
        sweep_add(&list, value_number(p->number[i]),
                  lab_ok(lab) ? stats_median(rates.at, rates.count) : 0,
                  rates.experiment);
    }
    if (end_list(&list, p) && q->others == NULL)
        say_engines(list.finding, p);
}

/* By size: curves behind the rates, one for each other GPU. */
static void ask_sizes_of_peers(struct lab *lab, const struct peers *p,
                               const struct question *q)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct curve_kind by_bytes = {
            lab_text(lab, "GPU %u", p->number[i]), "bytes", "B", "B/s"};
        const char *const how =
            lab_text(lab, "from=%s to=%s engine=%s", from_of(p, q, i),
                     to_of(p, q, i), p->by_other[i] ? "other" : "own");
        for (uint64_t bytes = LINKS_LEAST; lab_ok(lab) && bytes <= LINKS_MOST;
             bytes *= LINKS_FACTOR) {
            struct curve_seen seen = {.x = (double)bytes};
            seen.y = links_copy_of(lab, how, bytes, &seen.experiment);
            lab_point(lab, "link", q->attribute, &by_bytes, seen);
        }
    }
}

/* ---- kernels ----------------------------------------------------------- */

/* Of those that take them. */
static void ask_atomics(struct lab *lab, const struct peers *p)
{
    struct sweep list = begin_list(lab, "atomic_latency");
    size_t asked = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (!p->atomics[i])
            continue;
        const struct cost c = lab_load_cost(
            lab, "memory=%s space=atomic " LINKS_RING, p->memory[i]);
        sweep_add(&list, value_number(p->number[i]), c.cycles, c.experiment);
        asked++;
    }
    if (asked == 0)
        lab_fail(lab, ERR_UNSUPPORTED, why_no_atomics);
    if (end_list(&list, p))
        finding_protocol(list.finding, "load",
                         value_text("atom.global.add.u64 of 0"));
}

static void ask_kernels_of_peers(struct lab *lab, const struct peers *p,
                                 bool writes, bool l2_keeps)
{
    const char *const attribute = writes ? "write_bandwidth" : "read_bandwidth";
    struct sweep list = begin_list(lab, attribute);
    for (size_t i = 0; lab_ok(lab) && i < p->count; i++) {
        struct bandwidth_question q = {.lab = lab, .attribute = attribute};
        const struct bandwidth_found found =
            links_kernels(&q, p->memory[i], writes, l2_keeps);
        const char *const flaw = bandwidth_flaw(&found.rate);
        sweep_add(&list, value_number(p->number[i]), found.rate.value,
                  found.rate.experiment);
        if (lab_ok(lab) && (flaw != NULL || !found.saturated))
            lab_fail(lab, ERR_UNSUPPORTED, "%s",
                     flaw != NULL ? flaw : why_no_more_room);
    }
    end_list(&list, p);
}

void links_ask_peers(struct lab *lab)
{
    struct peers p = find_peers(lab);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        lab_refuse(lab, "link.*", "%s", why);
    else if (lab_ok(lab) && p.count == 0)
        lab_skip(lab, "link.*", why_no_peers);
    if (p.count == 0 || !lab_ok(lab))
        return;
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(questions); i++) {
        ask_copies_of_peers(lab, &p, &questions[i]);
        if (lab_ok(lab) && questions[i].others == NULL)
            ask_sizes_of_peers(lab, &p, &questions[i]);
    }
    ask_latencies(lab, &p);
    if (lab_ok(lab))
        ask_atomics(lab, &p);
    bool l2_keeps = true;
    if (lab_ok(lab) && p.latency[0] > 0)
        l2_keeps = ask_caches_of_peers(lab, &p);
    ask_kernels_of_peers(lab, &p, false, l2_keeps);
    ask_kernels_of_peers(lab, &p, true, l2_keeps);
    lab_refuse(lab, "link.cached_in", "%s",
               lab_why_unknown(lab, "link", "latency"));
}
