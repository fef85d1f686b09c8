#include "study/translation/page_sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"

void page_sweep_done(struct page_sweep *t)
{
    free(t->experiment);
    t->experiment = NULL;
}

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

int page_sweep_visit(struct page_sweep *t, struct buf *steps, double **cycles,
                     size_t *count, struct error *err)
{
    struct samples s;
    page_sweep_done(t);
    const int status =
        lab_probe_err(t->lab, &s, &t->experiment, err, "visit readers=%s steps=%s",
                  t->reader, buf_string(steps));
    buf_free(steps);
    *cycles = NULL;
    *count = 0;
    if (status != 0)
        return status;
    const size_t column = samples_column(&s, "cycles");
    *cycles = xreallocarray(NULL, s.rows + 1, sizeof **cycles);
    for (*count = 0; *count < s.rows; ++*count)
        (*cycles)[*count] = (double)samples_at(&s, *count, column);
    samples_free(&s);
    return 0;
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

/* Runs the script so often; its kept loads come in pairs, one for each place.
 */
static int median_of_takes(struct page_sweep *t, const struct buf *steps,
                           size_t places, unsigned takes, double *excess,
                           struct error *err)
{
    double *const all = xreallocarray(NULL, places * takes, sizeof *all);
    double *const second = xreallocarray(NULL, places * takes, sizeof *second);
    int status = 0;
    for (unsigned take = 0; status == 0 && take < takes; take++) {
        struct buf copy = {0};
        double *cycles;
        size_t count;
        buf_text(&copy, buf_string(steps));
        status = page_sweep_visit(t, &copy, &cycles, &count, err);
        for (size_t i = 0; i < places && 2 * i + 1 < count; i++) {
            all[i * takes + take] = cycles[2 * i] - cycles[2 * i + 1];
            second[i * takes + take] = cycles[2 * i + 1];
        }
        free(cycles);
    }
    double *const own = xreallocarray(NULL, places, sizeof *own);
    double *const middle = xreallocarray(NULL, places, sizeof *middle);
    for (size_t i = 0; status == 0 && i < places; i++) {
        excess[i] = stats_median(all + i * takes, takes);
        own[i] = stats_mad_sigma(all + i * takes, takes);
        if (t->spreads != NULL)
            t->spreads[i] = own[i];
        middle[i] = stats_mad_sigma(second + i * takes, takes);
    }
    t->spread = status == 0 ? stats_mean(own, places) : 0;
    if (status == 0 && t->sigma == 0 && takes > 8)
        t->sigma = fmax(stats_mean(middle, places), 0.25);
    free(own);
    free(middle);
    free(second);
    free(all);
    return status;
}

int page_sweep_ages(struct page_sweep *t, const struct page_tour *lap,
                    enum page_sweep_ask ask, const uint64_t *ages, size_t count,
                    unsigned takes, double *excess, struct error *err)
{
    struct buf steps = {0};
    page_tour_write(t, lap, "", &steps);
    for (size_t i = 0; i < count; i++)
        write_look(t, page_tour_place(t, lap, lap->count - ages[i]), ask,
                   &steps);
    const int status = median_of_takes(t, &steps, count, takes, excess, err);
    buf_free(&steps);
    return status;
}

int page_sweep_scan(struct page_sweep *t, const struct page_tour *scan,
                    const struct page_tour *flood, unsigned takes,
                    double *excess, struct error *err)
{
    struct buf steps = {0};
    page_tour_write(t, scan, "", &steps);
    page_tour_write(t, flood, "", &steps);
    for (uint64_t i = 0; i < scan->count; i++)
        write_look(t, page_tour_place(t, scan, i), ASK_PAGE, &steps);
    const int status =
        median_of_takes(t, &steps, scan->count, takes, excess, err);
    buf_free(&steps);
    return status;
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

int page_sweep_laps(struct page_sweep *t, const struct page_tour *lap,
                    uint64_t from, size_t count, unsigned takes, double *excess,
                    struct error *err)
{
    struct buf steps = {0};
    struct page_tour before = *lap;
    before.count = from;
    before.subs = 0;
    settle(t, lap, &steps);
    page_tour_write(t, &before, "", &steps);
    for (uint64_t i = from; i < from + count; i++)
        write_look(t, page_tour_place(t, lap, i), ASK_PAGE, &steps);
    const int status = median_of_takes(t, &steps, count, takes, excess, err);
    buf_free(&steps);
    return status;
}

int page_sweep_order(struct page_sweep *t, const struct page_tour *lap,
                     const uint32_t *places, size_t count, unsigned takes,
                     double *excess, struct error *err)
{
    struct buf steps = {0};
    settle(t, lap, &steps);
    for (size_t i = 0; i < count; i++)
        write_look(t, page_tour_place(t, lap, places[i]), ASK_PAGE, &steps);
    const int status = median_of_takes(t, &steps, count, takes, excess, err);
    buf_free(&steps);
    return status;
}

/* The median of n excesses strays by 1.25 √2 sigma / √n: a quarter of the
 * step shall be four of that. */
unsigned page_sweep_takes(const struct page_sweep *t, double step)
{
    const double wanted = pow(4 * 1.25 * sqrt(2) * t->sigma / (step / 4), 2);
    return wanted < 3 ? 3 : wanted > 48 ? 48 : (unsigned)wanted | 1;
}
