/*
 * How many bytes fit, of a cache whose sets would hold more than its size: some
 * of them may be taken, as of an H200's L1.  Then lines that meet say nothing
 * of the size, and rings do: laps over all lines of one are timed, and lines
 * that are late in several laps do not fit.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/returns.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "twin/validate/trying.h"

/* Slow loads that a trace keeps, in shared memory, of which an L1 may have to
 * make room for 4 KiB; half of them are for those that are late by chance. */
enum { RECORDS = 256 };
/* Laps that are timed; the first brings in what the code of these needs. */
enum { LAPS_LEAST = 4, LAPS_MOST = 32, ENTRY = 1 };
/* A page's first access pays for its translation, and an element more in each
 * 64 KiB takes that on itself. */
enum { LEAD = 65536, LEAD_BIT = 8 };

struct rings {
    struct trying *t;
    struct prober *on; /* that is asked */
    struct level level;
    uint64_t line;
    double above; /* cycles, timing included, of a load that misses */
    double rate;  /* of loads that are as late by chance */
    char *text;   /* of the last ring */
};

/* What a ring showed. */
struct ring {
    uint64_t lines, loads, laps;
    size_t slow;     /* loads that are late */
    size_t returned; /* lines that are in several laps */
};

static struct ring ring_of(const struct rings *r, uint64_t bytes)
{
    struct ring ring = {.lines = bytes / r->line};
    const double room = RECORDS / 2 / (r->rate * (double)ring.lines);
    ring.laps = r->rate > 0 && room < LAPS_MOST
                    ? u64_max(LAPS_LEAST, (uint64_t)room)
                    : LAPS_MOST;
    ring.loads = ring.laps * (ring.lines + (bytes + LEAD - 1) / LEAD);
    return ring;
}

/* Lines that are late in more laps than by chance. */
static size_t returned(const struct rings *r, const struct ring *ring,
                       const struct samples *s)
{
    static const double chance = 1e-6;
    const size_t offset = samples_column(s, "offset");
    const size_t visit = samples_column(s, "visit");
    const int64_t entry = (int64_t)(ENTRY * ring->loads / ring->laps);
    const struct returns wanted =
        returns_beyond_chance(ring->lines, ring->laps - ENTRY, r->rate, chance);
    double *const at = xreallocarray(NULL, s->rows + 1, sizeof *at);
    size_t count = 0;
    for (size_t i = 0; i < s->rows; i++)
        if (samples_at(s, i, visit) >= entry &&
            (samples_at(s, i, offset) & LEAD_BIT) == 0)
            at[count++] = (double)samples_at(s, i, offset);
    double *const sorted = stats_sorted(at, count);
    const size_t places = returns_count(sorted, count, wanted.times);
    free(sorted);
    free(at);
    return places >= wanted.places ? places : 0;
}

static int look(struct rings *r, uint64_t bytes, unsigned warm,
                struct ring *ring)
{
    struct samples s = {0};
    *ring = ring_of(r, bytes);
    free(r->text);
    r->text =
        xasprintf("trace %s bytes=%" PRIu64 " stride=%" PRIu64
                  " lead=%d warm=%u visits=%" PRIu64 " above=%.0f records=%d",
                  r->level.load, bytes, r->line, LEAD, warm, ring->loads,
                  r->above, RECORDS);
    const int status = prober_run(r->on, r->text, &s, NULL, r->t->err);
    if (status == 0 && s.rows > 0) {
        ring->slow = (size_t)samples_at(&s, 0, samples_column(&s, "events"));
        ring->returned = returned(r, ring, &s);
    }
    samples_free(&s);
    return status;
}

/* A cache that picks its victims at random keeps what was in it for long. */
static int ring_fits(struct rings *r, uint64_t bytes, bool *fits)
{
    static const unsigned warm_ups[] = {16, 256};
    int status = 0;
    *fits = false;
    for (size_t i = 0; status == 0 && !*fits && i < COUNT_OF(warm_ups); i++) {
        struct ring ring;
        status = look(r, bytes, warm_ups[i], &ring);
        *fits = status == 0 && ring.returned == 0 && ring.slow <= RECORDS;
    }
    return status;
}

/* What half of the size shows is late by chance.  False: it cannot be asked, as
 * of local memory, of which no load leads into a page. */
static bool rings_begin(struct trying *t, const char *component,
                        struct rings *r)
{
    struct told *const told = &t->told;
    const double hit = told_number(told, component, "latency");
    const double miss = told_number(told, component, "miss_penalty");
    const double size = told_number(told, component, "size");
    *r = (struct rings){
        .t = t,
        .on = t->device,
        .line = (uint64_t)told_number(told, component, "line"),
        .above = floor(hit + told_number(told, "clock", "trace_overhead") +
                       miss / 2)};
    return trying_level(t, component, &r->level) &&
           strstr(r->level.load, "space=local") == NULL && r->line > 0 &&
           hit > 0 && miss > 0 && size >= (double)(4 * r->line);
}

static int tell_rate(struct rings *r, const char *component)
{
    const uint64_t half =
        (uint64_t)told_number(&r->t->told, component, "size") / 2;
    struct ring ring = {0};
    const int status = look(r, half / r->line * r->line, 16, &ring);
    if (status == 0)
        r->rate = (double)ring.slow / (double)ring.loads;
    return status;
}

static void rings_end(struct rings *r)
{
    free(r->text);
}

/* Asks the device, or who stands for it. */
static int ask_fits(struct trying *t, struct prober *on, const char *component,
                    double bytes, bool *fits)
{
    struct rings r;
    *fits = true;
    if (!rings_begin(t, component, &r) || bytes > (double)r.level.most)
        return 0;
    r.on = on;
    int status = tell_rate(&r, component);
    if (status == 0)
        status = ring_fits(&r, (uint64_t)bytes / r.line * r.line, fits);
    rings_end(&r);
    *fits = *fits || status != 0;
    return status != 0 && trying_excused(t) ? 0 : status;
}

int try_fits(struct trying *t, const char *component, double bytes, bool *fits)
{
    return ask_fits(t, t->device, component, bytes, fits);
}

int twin_fits(struct trying *t, const char *component, double bytes, bool *fits)
{
    struct twin twin;
    *fits = true;
    if (!twin_open(t, &twin))
        return 0;
    const int status = ask_fits(t, twin.prober, component, bytes, fits);
    twin_close(&twin);
    return status;
}

/* ---- what it is -------------------------------------------------------- */

/* True if so much fits, and a line more does not. */
static int is_edge(struct rings *r, double bytes, bool *fits, bool *more)
{
    const uint64_t lines = (uint64_t)bytes / r->line;
    int status = ring_fits(r, lines * r->line, fits);
    *more = false;
    if (status == 0 && *fits)
        status = ring_fits(r, (lines + 1) * r->line, more);
    return status;
}

/* The size by others of the same storage, or a line more or less, that is one;
 * 0: none of them. */
static int find_size(struct rings *r, const struct finding *size, double *is)
{
    static const char *const components[] = {"l1", "texture", "readonly",
                                             "local"};
    enum { OTHERS = COUNT_OF(components) };
    const double line = (double)r->line, told = size->value.number;
    double may[OTHERS + 2] = {[OTHERS] = told - line, told + line};
    for (size_t i = 0; i < OTHERS; i++)
        may[i] = told_number(&r->t->told, components[i], "size");
    int status = 0;
    *is = 0;
    for (size_t i = 0; status == 0 && *is == 0 && i < COUNT_OF(may); i++) {
        bool fits = false, more = false;
        if (may[i] < line || may[i] == told || trying_late(r->t))
            continue;
        status = is_edge(r, may[i], &fits, &more);
        *is = status == 0 && fits && !more ? may[i] : 0;
    }
    return status;
}

static void blame_size(struct rings *r, struct finding *size, bool fits,
                       double is)
{
    char other[48] = "";
    if (is > 0)
        snprintf(other, sizeof other, "; %.0f B do, and no line more", is);
    char *const because =
        xasprintf(fits ? "of a ring of a line more no load misses, either%s"
                       : "loads miss in laps over a ring of as many bytes%s",
                  other);
    trying_repair(r->t, size,
                  is > 0 ? value_number(is) : value_copy(&size->value),
                  because);
    free(because);
}

int try_size(struct trying *t, const char *component)
{
    struct rings r;
    struct finding *const size = trying_find(t, component, "size");
    bool fits = true, more = false;
    double is = 0;
    if (size == NULL || !rings_begin(t, component, &r) ||
        size->value.number + (double)r.line > (double)r.level.most)
        return 0;
    int status = tell_rate(&r, component);
    if (status == 0)
        status = is_edge(&r, size->value.number, &fits, &more);
    const bool wrong = status == 0 && (!fits || more);
    if (wrong)
        status = find_size(&r, size, &is);
    if (status == 0 && wrong)
        blame_size(&r, size, fits, is);
    rings_end(&r);
    return status != 0 && trying_excused(t) ? 0 : status;
}
