/*
 * How much memory there is to ask about translation, and whether it falls into
 * windows of pages of which one is active (Kepler; Mei 2014, pattern 6).
 *
 * Two addresses are visited in turn.  Every TLB holds two pages, so what each
 * costs more than when it is loaded again at once is the price of leaving a
 * window.  The distance at which that begins is where the next window begins;
 * from there on the same distance again is the size of a window.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"cached", NULL};
static const char *const gives[] = {"tlb.page_window",
                                    "tlb.page_window_latency", NULL};
static const char *const kernels[] = {
    "visit readers=global.ca",
    "visit readers=global.cg",
    NULL,
};

/* Nothing less is asked about; more than 128 GiB no visit reaches. */
static const uint64_t memory_least = (uint64_t)64 << 20;
static const uint64_t memory_most = (uint64_t)127 << 30;
/* Boundaries are found to this; the smallest window there can be. */
enum { GRAIN = 4096 };
/* Both addresses in turn so often, of which the first does not count. */
enum { TURNS = 8, AGAIN = 4, PER_PAIR = 2 * TURNS + 2 * AGAIN };
enum { PAIRS_MOST = 40, AT_ONCE = 15 };

/* ---- memory and overhead ---------------------------------------------- */

/* Nine tenths of what is free: other programs, and our own tables, want some.
 */
static int find_memory(struct lab *lab, uint64_t *bytes, struct error *err)
{
    struct samples s;
    if (lab_probe_err(lab, &s, NULL, err, "memory") != 0)
        return err->code;
    const uint64_t available =
        (uint64_t)samples_at(&s, 0, samples_column(&s, "free")) / 10 * 9;
    *bytes = (available < memory_most ? available : memory_most) >> 21 << 21;
    samples_free(&s);
    return 0;
}

static double trimmed_cycles(const struct samples *s)
{
    const size_t column = samples_column(s, "cycles");
    double *const cycles = xreallocarray(NULL, s->rows, sizeof *cycles);
    for (size_t i = 0; i < s->rows; i++)
        cycles[i] = (double)samples_at(s, i, column);
    const double mean = stats_trimmed_mean(cycles, s->rows, 0.05);
    free(cycles);
    return mean;
}

/* The same small ring, visited and chased, in the nearest cache; few loads at a
 * time, so that most chases are free of spikes. */
static int find_overhead(struct lab *lab, double *overhead, struct error *err)
{
    const bool near = lab->facts[LEVEL_L1].present;
    struct old_cost chased;
    struct samples s;
    if (lab_probe_err(lab, &s, NULL, err,
                  "visit readers=global.%s steps=4x0:32:32,32x!0:32:32",
                  near ? "ca" : "cg") != 0)
        return err->code;
    *overhead = trimmed_cycles(&s);
    samples_free(&s);
    if (lab_chase_err(lab, &chased, err,
                  "chase %s bytes=1024 stride=32 warm=4 visits=64 "
                  "repeats=99",
                  level_table[near ? LEVEL_L1 : LEVEL_L2].load) != 0)
        return err->code;
    *overhead -= chased.cycles;
    free(chased.experiment);
    return 0;
}

/* ---- pairs ------------------------------------------------------------ */

struct pair {
    uint64_t from, to;
    double excess, cycles; /* of `to`, in turn with `from` */
};

static void write_pair(const struct pair *p, struct buf *steps)
{
    buf_printf(steps, "%s%dx!%" PRIu64 ":2:%" PRIu64 ",!%" PRIu64 ":%d:0",
               steps->length > 0 ? "," : "", TURNS, p->from, p->to - p->from,
               p->to, 2 * AGAIN);
}

static void read_pair(const struct samples *s, size_t first, struct pair *p)
{
    double turn[TURNS - 1], again[2 * AGAIN - 1];
    const size_t column = samples_column(s, "cycles");
    for (size_t i = 1; i < TURNS; i++)
        turn[i - 1] = (double)samples_at(s, first + 2 * i + 1, column);
    for (size_t i = 1; i < 2 * AGAIN; i++)
        again[i - 1] = (double)samples_at(s, first + 2 * TURNS + i, column);
    p->cycles = stats_median(turn, TURNS - 1);
    p->excess = p->cycles - stats_median(again, 2 * AGAIN - 1);
}

static int try_pairs(struct lab *lab, struct finding *f, struct pair *pairs,
                     size_t count, struct error *err)
{
    struct samples s;
    struct buf steps = {0};
    char *name;
    for (size_t i = 0; i < count; i++)
        write_pair(&pairs[i], &steps);
    const int status =
        lab_probe_err(lab, &s, &name, err, "visit readers=global.cg steps=%s",
                  buf_string(&steps));
    buf_free(&steps);
    if (status != 0)
        return status;
    for (size_t i = 0; i < count; i++)
        read_pair(&s, i * PER_PAIR, &pairs[i]);
    finding_evidence(f, name);
    free(name);
    samples_free(&s);
    return 0;
}

/* A tenth of a load and more is beyond what noise does to a median. */
static bool leaves(const struct pair *p)
{
    return p->excess > 8 && p->excess > 0.1 * (p->cycles - p->excess);
}

/* ---- boundaries ------------------------------------------------------- */

struct search_edge {
    uint64_t from, stays, leaves; /* leaves 0: none did */
    double cycles;
};

/* Distances that double, up to the end of the memory. */
static int bracket(struct lab *lab, struct finding *f, uint64_t memory,
                   struct search_edge *e, struct error *err)
{
    struct pair pairs[PAIRS_MOST];
    size_t count = 0;
    for (uint64_t d = GRAIN; e->from + d < memory - GRAIN; d *= 2)
        pairs[count++] = (struct pair){.from = e->from, .to = e->from + d};
    pairs[count++] = (struct pair){.from = e->from, .to = memory - GRAIN};
    if (try_pairs(lab, f, pairs, count, err) != 0)
        return err->code;
    e->stays = e->from;
    for (size_t i = 0; i < count && e->leaves == 0; i++) {
        if (leaves(&pairs[i])) {
            e->leaves = pairs[i].to;
            e->cycles = pairs[i].cycles;
        } else {
            e->stays = pairs[i].to;
        }
    }
    return 0;
}

static int narrow(struct lab *lab, struct finding *f, struct search_edge *e,
                  struct error *err)
{
    while (e->leaves - e->stays > GRAIN) {
        struct pair pairs[AT_ONCE];
        size_t count = 0;
        const uint64_t grains = (e->leaves - e->stays) / GRAIN;
        const uint64_t step = (grains + AT_ONCE) / (AT_ONCE + 1) * GRAIN;
        for (uint64_t to = e->stays + step; to < e->leaves && count < AT_ONCE;
             to += step)
            pairs[count++] = (struct pair){.from = e->from, .to = to};
        if (try_pairs(lab, f, pairs, count, err) != 0)
            return err->code;
        for (size_t i = 0; i < count; i++)
            if (leaves(&pairs[i])) {
                e->leaves = pairs[i].to;
                break;
            } else {
                e->stays = pairs[i].to;
            }
    }
    return 0;
}

/* Where the next window after `from` begins; leaves 0: nowhere. */
static int find_edge(struct lab *lab, struct finding *f, uint64_t from,
                     struct search_edge *e, struct error *err)
{
    *e = (struct search_edge){.from = from};
    if (bracket(lab, f, lab->translation.memory, e, err) != 0 ||
        (e->leaves != 0 && narrow(lab, f, e, err) != 0))
        return err->code;
    return 0;
}

/* ---- the study -------------------------------------------------------- */

/* Two addresses cost no more in turn, wherever they lie: there is no window. */
static void report_none(struct lab *lab, struct finding *f,
                        struct finding *latency)
{
    results_drop(lab->results, f);
    results_drop(lab->results, latency);
}

static void report(struct lab *lab, const struct search_edge *first,
                   const struct search_edge *second, struct finding *f,
                   struct finding *latency)
{
    struct translation *const t = &lab->translation;
    const uint64_t begin = first->leaves;
    if (second->leaves != 0) {
        t->window = second->leaves - begin;
        finding_set(f, STATUS_MEASURED, value_number((double)t->window), "B");
    } else {
        t->window = begin > t->memory - begin ? begin : t->memory - begin;
        finding_set(f, STATUS_AT_LEAST, value_number((double)t->window), "B");
        finding_because(f, "the memory that is free has one end of a window");
    }
    t->window_cycles = first->cycles - t->overhead;
    finding_set(latency, STATUS_MEASURED, value_number(t->window_cycles),
                "cycles");
    const bool after = begin < t->window / 2;
    t->origin = after ? begin : 0;
    t->room = after ? t->window : begin;
    if (t->room > t->memory - t->origin)
        t->room = t->memory - t->origin;
}

static int ask(struct lab *lab, struct finding *f, struct finding *latency,
               struct error *err)
{
    struct translation *const t = &lab->translation;
    struct search_edge first, second = {0};
    if (find_edge(lab, f, 0, &first, err) != 0)
        return err->code;
    t->asked = true;
    t->origin = 0;
    t->room = t->memory;
    if (first.leaves == 0) {
        report_none(lab, f, latency);
        return 0;
    }
    if (find_edge(lab, f, first.leaves, &second, err) != 0)
        return err->code;
    report(lab, &first, &second, f, latency);
    return 0;
}

static int run(struct lab *lab, struct error *err)
{
    struct translation *const t = &lab->translation;
    struct finding *const f = lab_finding(lab, "tlb", "page_window");
    struct finding *const latency =
        lab_finding(lab, "tlb", "page_window_latency");
    *t = (struct translation){0};
    if (find_memory(lab, &t->memory, err) != 0 ||
        find_overhead(lab, &t->overhead, err) != 0)
        return err->code;
    int status = ERR_DEVICE_MEMORY;
    /* What is free need not be in one piece. */
    for (; status == ERR_DEVICE_MEMORY && t->memory >= memory_least;
         t->memory = t->memory / 2 >> 21 << 21) {
        status = ask(lab, f, latency, err);
        if (status == 0)
            return 0;
    }
    if (status != ERR_DEVICE_MEMORY)
        return status;
    return error_set(err, ERR_DEVICE_MEMORY,
                     "less than %" PRIu64 " MiB of memory are free",
                     memory_least >> 20);
}

const struct study study_page_window = {
    .name = "window",
    .question = "Does memory fall into windows of pages, of which one is "
                "active?",
    .method = "Two addresses are visited in turn, at growing distances; in "
              "one window they cost what each costs alone.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
