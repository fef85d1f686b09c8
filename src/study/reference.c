#include "study/reference.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/num.h"
#include "base/text.h"
#include "finding/doubt.h"
#include "probe/guard.h"
#include "study/assume.h"
#include "study/gpu_state.h"
#include "study/lab.h"

/* ---- a moment ---------------------------------------------------------- */

/* Lines of the probe, and cycles by which each would be slower from memory: at
 * least so many on any GPU that was seen (k20c: 116). */
enum { LINES = 32, SLOWER = 50 };

/* The timer goes in steps, which divide all that it ever tells; those of no GPU
 * are known to be longer. */
enum { STEP_MOST = 1024 };

static void read_clock(struct lab *lab, const struct samples *s,
                       struct reference *r)
{
    const struct column cycles = lab_column_of(lab, s, "cycles");
    const struct column ns = lab_column_of(lab, s, "ns");
    uint64_t *const step = &lab->references.step_ns;
    r->ns = stats_min(ns.at, ns.count);
    if (r->ns <= 0) {
        r->slowest = r->fastest = -1;
        return;
    }
    for (size_t i = 0; i < ns.count; i++) {
        const double hz = 1e9 * cycles.at[i] / ns.at[i];
        *step = u64_gcd(*step, (uint64_t)ns.at[i]);
        r->slowest = i > 0 ? fmin(r->slowest, hz) : hz;
        r->fastest = fmax(r->fastest, hz);
    }
}

double reference_timer_step(const struct lab *lab, const double *ns,
                            size_t count)
{
    uint64_t step = lab->references.step_ns;
    for (size_t i = 0; i < count; i++)
        step = u64_gcd(step, (uint64_t)ns[i]);
    const bool several = count > 0 && (double)step < stats_min(ns, count);
    return several ? (double)step : fmin((double)step, STEP_MOST);
}

/* In the first repetition nobody knows since when. */
static bool was_lost(struct lab *lab, const struct samples *s)
{
    const struct column kept = lab_column_of(lab, s, "kept");
    const struct column again = lab_column_of(lab, s, "l2_all");
    size_t lost = 0;
    for (size_t i = 1; i < kept.count; i++)
        lost += kept.at[i] - again.at[i] > LINES * SLOWER;
    return lost > 0 && lost + 1 == kept.count;
}

static struct quickest quickest_of(struct lab *lab, const struct samples *s,
                                   const char *name)
{
    const struct column c = lab_column_of(lab, s, name);
    return (struct quickest){.cycles = stats_median(c.at, c.count),
                             .range = stats_max(c.at, c.count) -
                                      stats_min(c.at, c.count)};
}

/* Of a rate, since a spin may miss a step. */
static double error_of(const struct references *all, const struct reference *r)
{
    const double step = (double)all->step_ns;
    return r->ns > 0 ? fmin(step, STEP_MOST) / r->ns : 0;
}

/* The clock may move within a moment, too: what its spins came to each counts,
 * and no mean of them. */
static bool has_moved(const struct references *all, const struct reference *a,
                      const struct reference *b)
{
    const double most =
        assume(ASSUME_CLOCK_MOVED) + error_of(all, a) + error_of(all, b);
    const double least = fmin(a->slowest, b->slowest);
    const double fastest = fmax(a->fastest, b->fastest);
    return least > 0 && fastest - least > most * fastest;
}

/* What has a clock of its own takes fewer cycles of an SM's that fell: of hits
 * by another clock nothing is told of those of before. */
static void forget_hits(struct references *all, const struct reference *now)
{
    const struct reference *const before =
        all->latest.known ? &all->latest : now;
    if (has_moved(all, before, now))
        all->l2 = (struct hits){0};
}

static void add_hits(struct lab *lab, const struct samples *s)
{
    struct hits *const hits = &lab->references.l2;
    const struct column all = lab_column_of(lab, s, "l2_all");
    for (size_t i = 0; i < all.count; i++) {
        hits->least =
            hits->count == 0 ? all.at[i] : fmin(hits->least, all.at[i]);
        hits->count++;
        hits->sum += all.at[i];
        hits->squares += all.at[i] * all.at[i];
    }
}

static struct reference reference_of(struct lab *lab, const struct samples *s)
{
    struct reference r = {
        .known = true,
        .l1 = quickest_of(lab, s, "l1"),
        .l2 = quickest_of(lab, s, "l2"),
        .lost = was_lost(lab, s),
        .processes = lab_column_most(lab, s, "processes"),
        .dropped = lab_column_most(lab, s, "dropped"),
        .throttle = gpu_state_throttle(s),
    };
    read_clock(lab, s, &r);
    forget_hits(&lab->references, &r);
    add_hits(lab, s);
    return r;
}

static double gpu_ns(const struct guard *guard)
{
    return guard->kept_ns + guard->spent_ns;
}

/* What cannot be asked is not known, and harms nothing else. */
static struct reference take(struct lab *lab, const char *when)
{
    const struct guard *const guard = prober_guard(lab->prober);
    const double ns = gpu_ns(guard);
    const size_t launches = prober_launches(lab->prober);
    struct samples s = {0};
    struct error ignored;
    struct reference r = {0};
    const char *const text = lab_text(lab, "reference at=%s", when);
    prober_fresh(lab->prober, false);
    if (prober_run(lab->prober, text, &s, NULL, &ignored) == 0)
        r = reference_of(lab, &s);
    lab->references.ns += gpu_ns(guard) - ns;
    lab->references.launches += prober_launches(lab->prober) - launches;
    samples_free(&s);
    return r;
}

/* ---- what it means ----------------------------------------------------- */

/* From one study to the next the quickest hits of an H200's L2 moved by up to 3
 * cycles (2026-11): twice that, and a cycle for each of two clock reads, is
 * noise also of hits that cost little.  Of jitter the quickest of 32 differ by
 * more: by how much those of one moment do says how much. */
static bool costs_more(const struct quickest *before,
                       const struct quickest *now)
{
    enum { CYCLES = 8 };
    const double noise = CYCLES + before->range + now->range;
    return fabs(now->cycles - before->cycles) >
           noise + assume(ASSUME_HITS_MOVED) * before->cycles;
}

/* Cycles of what has a clock of its own. */
static bool is_beyond_sm(const struct finding *f)
{
    static const char *const parts[] = {"l2.", "memory.", "tlb_", "link.",
                                        "miss_penalty"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (strcmp(f->unit, "cycles") == 0 && strstr(f->id, parts[i]) != NULL)
            return true;
    return false;
}

static bool is_any(const struct finding *f)
{
    (void)f;
    return true;
}

static bool is_cycles(const struct finding *f)
{
    return strcmp(f->unit, "cycles") == 0;
}

typedef bool harmed(const struct finding *f);

static void doubt_of(const struct lab *lab, const struct results *r,
                     harmed *is_harmed, const char *why)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (strcmp(r->findings[i]->study, lab->study->name) == 0 &&
            is_harmed(r->findings[i]))
            finding_doubt(r->findings[i], why);
}

static void doubt(struct lab *lab, harmed *is_harmed, const char *why)
{
    doubt_of(lab, lab->results, is_harmed, why);
    doubt_of(lab, &lab->proposals, is_harmed, why);
}

/* A clock's rate at some time is not that of the whole run. */
static void doubt_rate(struct finding *f, double slowest, double fastest,
                       const char *why)
{
    if (f == NULL || f->value.kind != VALUE_NUMBER)
        return;
    const double low = f->has_interval ? f->interval[0] : f->value.number;
    const double high = f->has_interval ? f->interval[1] : f->value.number;
    finding_interval(f, fmin(low, slowest), fmax(high, fastest), -1);
    finding_doubt(f, why);
}

/* Beside others the SM's clock may be another for the whole run, and that of
 * what is beyond it is not: its cycles are others by as much as a clock may
 * move unseen.  (An H200's L2 took 0.4 % fewer beside a process that streams,
 * its third TLB 0.6 %, 2026-11.) */
static void widen(const struct lab *lab, const struct results *r)
{
    const double unseen = assume(ASSUME_CLOCK_MOVED);
    for (size_t i = 0; i < r->finding_count; i++) {
        struct finding *const f = r->findings[i];
        if (strcmp(f->study, lab->study->name) == 0 && f->has_interval &&
            is_beyond_sm(f))
            finding_interval(f, f->interval[0] - unseen * f->value.number,
                             f->interval[1] + unseen * f->value.number,
                             f->confidence);
    }
}

static double variance_of(const struct hits *hits)
{
    const double n = (double)hits->count, mean = hits->sum / n;
    return fmax(hits->squares / n - mean * mean, 0);
}

/* Cycles that disturbances add to a load, on average: so many at least, by two
 * standard errors. */
static double late_by(const struct hits *hits)
{
    const double n = (double)hits->count, mean = hits->sum / n;
    return (mean - hits->least - 2 * sqrt(variance_of(hits) / n)) / LINES;
}

/* Averages are not what loads cost where disturbances make these late, nor is
 * it known by how much they differ: what waits for one another is late
 * together. */
static void judge_averages(struct lab *lab)
{
    const struct hits *const hits = &lab->references.l2;
    const char *const *pattern = lab->study->averages;
    const double late = late_by(hits), cost = hits->least / LINES;
    if (!(late > assume(ASSUME_NOISE_CHASED) * cost))
        return;
    const char *const why = lab_text(lab, why_averages_raised, late, cost);
    for (; pattern != NULL && *pattern != NULL; pattern++)
        for (size_t i = 0; i < lab->results->finding_count; i++) {
            struct finding *const f = lab->results->findings[i];
            if (strcmp(f->study, lab->study->name) == 0 &&
                text_glob(*pattern, f->id))
                finding_void(f, why);
        }
}

static bool has_company(const struct lab *lab)
{
    return prober_guard(lab->prober)->leapt || lab->doubts.count > 0 ||
           lab->references.processes > 0;
}

static void judge_clock(struct lab *lab, const struct reference *first,
                        const struct reference *now)
{
    if (!has_moved(&lab->references, first, now))
        return;
    lab->references.moved = true;
    const double slowest = fmin(first->slowest, now->slowest);
    const double fastest = fmax(first->fastest, now->fastest);
    const bool rose = fastest > first->fastest;
    const char *const why =
        lab_text(lab, why_clock_moved, (rose ? slowest : fastest) / 1e6,
                 (rose ? fastest : slowest) / 1e6);
    doubt(lab, finding_has_seconds, why);
    doubt_rate(results_edit(lab->results, "clock", "measured"), slowest,
               fastest, why);
    doubt_rate(results_edit(lab->results, "clock", lab->study->name), slowest,
               fastest, why);
}

static void judge(struct lab *lab, const struct reference *first,
                  const struct reference *before, const struct reference *now)
{
    struct references *const all = &lab->references;
    all->processes = fmax(all->processes, now->processes);
    if (device_throttled(before->throttle | now->throttle) ||
        now->dropped > before->dropped) {
        all->throttled = true;
        doubt(lab, is_any, why_throttled);
    }
    if (has_company(lab)) {
        widen(lab, lab->results);
        widen(lab, &lab->proposals);
    }
    judge_clock(lab, first, now);
    judge_averages(lab);
    if (costs_more(&first->l2, &now->l2))
        doubt(lab, is_beyond_sm,
              lab_text(lab, why_hits_moved, "L2", first->l2.cycles,
                       now->l2.cycles));
    if (costs_more(&first->l1, &now->l1))
        doubt(lab, is_cycles,
              lab_text(lab, why_hits_moved, "L1", first->l1.cycles,
                       now->l1.cycles));
}

/* ---- the run ----------------------------------------------------------- */

static void add_part(struct buf *text, bool is_so, const char *what)
{
    if (is_so)
        buf_printf(text, "%s%s", text->length > 0 ? ", " : "", what);
}

static size_t count_fallen(const struct results *r)
{
    size_t fallen = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        fallen += r->findings[i]->fallen;
    return fallen;
}

/* A recording is asked for nothing. */
static void log_costs(struct lab *lab)
{
    const struct references *const all = &lab->references;
    const struct guard *const guard = prober_guard(lab->prober);
    const size_t launches = prober_launches(lab->prober);
    if (launches > 0)
        log_say(LOG_INFO,
                "guard: %.2f of %.2f ms that the GPU ran were references, "
                "%.2f were thrown away; %zu and %zu of %zu launches",
                all->ns / 1e6, gpu_ns(guard) / 1e6, guard->spent_ns / 1e6,
                all->launches, guard->spent, launches);
}

void reference_report(struct lab *lab)
{
    const struct references *const all = &lab->references;
    log_costs(lab);
    const size_t again = prober_guard(lab->prober)->thrown_away;
    const size_t fallen = count_fallen(lab->results);
    struct buf text = {0};
    add_part(&text, prober_guard(lab->prober)->leapt || lab->doubts.count > 0,
             "another process ran");
    add_part(&text, all->processes > 0, "others use it");
    add_part(&text, all->throttled, "it was throttled");
    add_part(&text, all->moved, "its clock moved");
    if (text.length > 0) {
        /* A line of a terminal holds two reasons with it. */
        buf_printf(&text, "; %zu repeats, %zu findings less sure", again,
                   fallen);
        if (prober_guard(lab->prober)->left > 0)
            buf_printf(&text, "; no time for %zu experiments",
                       prober_guard(lab->prober)->left);
        results_device(lab->results, "disturbed",
                       value_text(buf_string(&text)));
    }
    buf_free(&text);
}

void reference_judge(struct lab *lab)
{
    struct references *const all = &lab->references;
    const struct reference now = take(lab, lab->study->name);
    if (!now.known)
        return;
    if (!all->first.known)
        all->first = all->latest = now;
    judge(lab, &all->first, &all->latest, &now);
    all->latest = now;
}
