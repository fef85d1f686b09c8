#include "study/translation/page_sweep.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/statistics/stats.h"

uint64_t page_tour_place(const struct page_sweep *t,
                         const struct page_tour *tour, uint64_t i)
{
    const uint64_t skewed = tour->chunk > 0 ? i % tour->chunk : i;
    return t->origin + tour->start + i * tour->pitch + skewed * t->skew;
}

uint64_t page_tour_most(const struct page_sweep *t, uint64_t start,
                        uint64_t pitch, uint64_t most)
{
    /* A page is left free at the end, for loads beside the last place. */
    const uint64_t step = pitch + t->skew;
    const uint64_t room = t->room > start ? (t->room - start) / step : 0;
    return room < most + 1 ? (room > 0 ? room - 1 : 0) : most;
}

static void write_step(struct buf *steps, const char *how, uint64_t start,
                       uint64_t count, uint64_t step)
{
    buf_printf(steps, "%s%s%" PRIu64 ":%" PRIu64 ":%" PRIu64,
               steps->length > 0 ? "," : "", how, start, count, step);
}

/* One round of a tour, chunk after chunk. */
static void write_round(const struct page_sweep *t,
                        const struct page_tour *tour, uint64_t shift,
                        const char *how, struct buf *steps)
{
    const uint64_t chunk = tour->chunk > 0 ? tour->chunk : tour->count;
    for (uint64_t i = 0; i < tour->count; i += chunk)
        write_step(steps, how, page_tour_place(t, tour, i) + shift,
                   tour->count - i < chunk ? tour->count - i : chunk,
                   tour->pitch + t->skew);
}

void page_tour_write(const struct page_sweep *t, const struct page_tour *tour,
                     const char *how, struct buf *steps)
{
    write_round(t, tour, 0, how, steps);
    for (uint64_t sub = 1; sub < tour->subs; sub++)
        write_round(t, tour, sub * tour->sub_pitch, how, steps);
}

struct column page_sweep_visit(struct page_sweep *t, struct buf *steps)
{
    const struct column cycles =
        lab_column(t->lab, "cycles", "visit readers=%s steps=%s", t->reader,
                   buf_string(steps));
    t->experiment = cycles.experiment;
    buf_free(steps);
    return cycles;
}

/* ---- places looked for ------------------------------------------------ */

/* A place and again: what the first costs more is its excess. */
static void write_look(const struct page_sweep *t, uint64_t place,
                       enum page_sweep_ask ask, struct buf *steps)
{
    if (ask == ASK_DATA)
        write_step(steps, "", place + t->skew, 1, 0);
    write_step(steps, "!", place, 2, 0);
}

/* What the takes of a script showed, place after place. */
struct takes {
    size_t places;
    unsigned count;
    double *excess, *second;
};

/* Kept loads come in pairs, one for each place. */
static void add_take(struct takes *all, unsigned take,
                     const struct column *cycles)
{
    for (size_t i = 0; i < all->places && 2 * i + 1 < cycles->count; i++) {
        const double *const pair = cycles->at + 2 * i;
        all->excess[i * all->count + take] = pair[0] - pair[1];
        all->second[i * all->count + take] = pair[1];
    }
}

/* Takes from which on deviations say something. */
enum { SETTLED_BY = 9 };

/* The share of the loads that stray by more than five sigma, the most that one
 * in a million does without being disturbed. */
static double share_disturbed(const struct page_sweep *t,
                              const struct takes *all)
{
    size_t far = 0;
    for (size_t i = 0; i < all->places; i++) {
        const double *const cycles = all->second + i * all->count;
        const double middle = stats_median(cycles, all->count);
        for (unsigned k = 0; k < all->count; k++)
            far += fabs(cycles[k] - middle) > 5 * t->sigma + 1;
    }
    return (double)far / ((double)all->places * all->count);
}

/* The median excess of each place, and how much takes differ. */
static const double *settle_takes(struct page_sweep *t, const struct takes *all)
{
    double *const excess = lab_alloc(t->lab, all->places, sizeof *excess);
    double *const spreads = lab_alloc(t->lab, all->places, sizeof *spreads);
    double *const sigmas = lab_alloc(t->lab, all->places, sizeof *sigmas);
    for (size_t i = 0; i < all->places; i++) {
        const size_t at = i * all->count;
        excess[i] = stats_median(all->excess + at, all->count);
        spreads[i] = stats_mad_sigma(all->excess + at, all->count);
        sigmas[i] = stats_mad_sigma(all->second + at, all->count);
    }
    t->spreads = spreads;
    t->spread = stats_mean(spreads, all->places);
    if (!t->settled && all->count >= SETTLED_BY) {
        /* Reads of the clock are whole cycles: a quarter is what they hide. */
        t->sigma = fmax(stats_mean(sigmas, all->places), 0.25);
        t->disturbed = fmax(t->disturbed, share_disturbed(t, all));
        t->settled = true;
    }
    return excess;
}

/* Runs the script, which is freed, so often. */
static const double *median_of_takes(struct page_sweep *t, struct buf *steps,
                                     size_t places, unsigned takes)
{
    struct takes all = {
        .places = places,
        .count = takes,
        .excess = lab_alloc(t->lab, places * takes, sizeof *all.excess),
        .second = lab_alloc(t->lab, places * takes, sizeof *all.second)};
    for (unsigned take = 0; lab_ok(t->lab) && take < takes; take++) {
        struct buf copy = {0};
        buf_text(&copy, buf_string(steps));
        const struct column cycles = page_sweep_visit(t, &copy);
        add_take(&all, take, &cycles);
    }
    buf_free(steps);
    return settle_takes(t, &all);
}

const double *page_sweep_ages(struct page_sweep *t, const struct page_tour *lap,
                              enum page_sweep_ask ask,
                              const struct page_looks *looks, unsigned takes)
{
    struct buf steps = {0};
    page_tour_write(t, lap, "", &steps);
    for (size_t i = 0; i < looks->count; i++)
        write_look(t, page_tour_place(t, lap, lap->count - looks->ages[i]), ask,
                   &steps);
    return median_of_takes(t, &steps, looks->count, takes);
}

const double *page_sweep_scan(struct page_sweep *t,
                              const struct page_tour *scan,
                              const struct page_tour *flood, unsigned takes)
{
    struct buf steps = {0};
    page_tour_write(t, scan, "", &steps);
    page_tour_write(t, flood, "", &steps);
    for (uint64_t i = 0; i < scan->count; i++)
        write_look(t, page_tour_place(t, scan, i), ASK_PAGE, &steps);
    return median_of_takes(t, &steps, scan->count, takes);
}

/*
 * Laps after which only pages of the lap are there.  The program's own pages
 * come in when it begins; under fifo it takes a lap until they are the oldest
 * again and one more to bring back what they have pushed out, and as much for
 * each TLB before, which keeps pages from the one behind.  Of very many pages
 * the takes before have settled most.
 */
static void settle(const struct page_sweep *t, const struct page_tour *lap,
                   struct buf *steps)
{
    enum { LAPS = 5, LAPS_OF_MANY = 2, MANY = 2048 };
    const int laps = lap->count > MANY ? LAPS_OF_MANY : LAPS;
    for (int i = 0; i < laps; i++)
        page_tour_write(t, lap, "", steps);
}

const double *page_sweep_laps(struct page_sweep *t, const struct page_tour *lap,
                              uint64_t from, size_t count, unsigned takes)
{
    struct buf steps = {0};
    struct page_tour before = *lap;
    before.count = from;
    before.subs = 0;
    settle(t, lap, &steps);
    page_tour_write(t, &before, "", &steps);
    for (uint64_t i = from; i < from + count; i++)
        write_look(t, page_tour_place(t, lap, i), ASK_PAGE, &steps);
    return median_of_takes(t, &steps, count, takes);
}

const double *page_sweep_order(struct page_sweep *t,
                               const struct page_tour *lap,
                               const uint32_t *places, size_t count,
                               unsigned takes)
{
    struct buf steps = {0};
    settle(t, lap, &steps);
    for (size_t i = 0; i < count; i++)
        write_look(t, page_tour_place(t, lap, places[i]), ASK_PAGE, &steps);
    return median_of_takes(t, &steps, count, takes);
}

/* A median of n strays by 1.25 sigma / √n, a difference √2 times that. */
double page_sweep_error(const struct page_sweep *t, unsigned takes)
{
    return 1.25 * sqrt(2.0 / takes) * t->sigma;
}

/* Half a step shall be five of these: one place of 3.5 million is taken for the
 * other. */
double page_sweep_takes(const struct page_sweep *t, double step)
{
    return pow(5 * page_sweep_error(t, 1) / (step / 2), 2);
}

/* The chance that half of n or more are disturbed: at most that of any half of
 * them (union bound), which is C(n, n/2+1) d^(n/2+1). */
unsigned page_sweep_least(const struct page_sweep *t, double chance)
{
    enum { MOST = 99 };
    unsigned n = 1;
    double half = t->disturbed;
    while (half > chance && n < MOST) {
        /* From C(2k+1, k+1) to C(2k+3, k+2). */
        const double k = (n - 1) / 2;
        half *= (2 * k + 3) * (2 * k + 2) / ((k + 2) * (k + 1)) * t->disturbed;
        n += 2;
    }
    return n;
}
