#include "study/gpu_state.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "analysis/timer.h"
#include "base/buf.h"
#include "base/mem.h"
#include "study/assume.h"
#include "study/reference.h"

/* NVML's clock event reasons, lowest bit first. */
static const char *const reasons[] = {
    "idle",
    "application clocks",
    "power cap",
    "hardware slowdown",
    "sync boost",
    "software thermal",
    "hardware thermal",
    "hardware power",
    "display clocks",
};

struct value gpu_state_reasons(uint64_t throttle)
{
    struct value list = value_list();
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (throttle >> i & 1)
            value_push(&list, value_text(reasons[i]));
    return list;
}

uint64_t gpu_state_throttle(const struct samples *s)
{
    const size_t throttle = s->rows > 0 ? samples_column(s, "throttle") : 0;
    uint64_t all = 0;
    for (size_t row = 0; row < s->rows; row++)
        if (samples_at(s, row, throttle) > 0)
            all |= (uint64_t)samples_at(s, row, throttle);
    return all;
}

/* ---- a moment ---------------------------------------------------------- */

/* The rate of a spin, and what it may have been: one that took as many steps of
 * the timer each time is known no better for that. */
static void set_rate(struct lab *lab, const struct samples *s,
                     struct gpu_state *state)
{
    const struct column all = lab_column_of(lab, s, "ns");
    const double ns = lab_column_median(lab, s, "ns"),
                 cycles = lab_column_median(lab, s, "cycles");
    state->hz = ns > 0 ? 1e9 * cycles / ns : -1;
    state->range[0] = state->range[1] = state->hz;
    if (!(ns > 0) || !(cycles > 0))
        return;
    const double step = reference_timer_step(lab, all.at, all.count);
    timer_widen(state->range, fmin(step, ns / 2), ns, cycles);
}

static struct gpu_state state_of(struct lab *lab, const struct samples *s)
{
    const double mhz = lab_column_median(lab, s, "mhz");
    struct gpu_state state = {0};
    set_rate(lab, s, &state);
    const double hz = state.hz;
    return (struct gpu_state){
        .known = true,
        .hz = hz,
        .range = {state.range[0], state.range[1]},
        .told_hz = mhz > 0 ? 1e6 * mhz : -1,
        .gap_ns = hz > 0 ? 1e9 * lab_column_most(lab, s, "gap") / hz : -1,
        .processes = lab_column_most(lab, s, "processes"),
        .dropped = lab_column_most(lab, s, "dropped"),
        .throttle = gpu_state_throttle(s),
        .experiment = s->experiment,
    };
}

struct gpu_state gpu_state_read(struct lab *lab, const char *when)
{
    const struct samples *const s =
        lab_probe(lab, "state at=%s.%s", lab->study->name, when);
    if (lab_ok(lab))
        return state_of(lab, s);
    if (!lab_unrecorded(lab))
        lab_excuse(lab);
    return (struct gpu_state){0};
}

/* ---- what it means ----------------------------------------------------- */

static bool has_moved(const struct gpu_state *a, const struct gpu_state *b)
{
    return a->hz > 0 && b->hz > 0 &&
           fabs(a->hz - b->hz) >
               assume(ASSUME_CLOCK_MOVED) * fmax(a->hz, b->hz);
}

static void add_reason(struct buf *why, const char *text)
{
    buf_printf(why, "%s%s", why->length > 0 ? "; " : "", text);
}

/* What disturbed all; empty: nothing. */
static const char *disturbances(struct lab *lab, const struct gpu_state *before,
                                const struct gpu_state *after)
{
    const double gap = fmax(before->gap_ns, after->gap_ns);
    const double others = fmax(before->processes, after->processes);
    struct buf why = {0};
    if (device_throttled(before->throttle | after->throttle) ||
        after->dropped > before->dropped)
        add_reason(&why, why_throttled);
    if (others > 0)
        add_reason(&why, others == 1 ? why_other_process : why_other_processes);
    if (gap > assume(ASSUME_GAP_NS))
        add_reason(&why, lab_text(lab, why_sm_away, gap / 1000));
    return arena_adopt(&lab->memory, buf_take(&why));
}

/* What disturbed all that has time in its unit; empty: nothing. */
static const char *describe_move(struct lab *lab,
                                 const struct gpu_state *before,
                                 const struct gpu_state *after)
{
    if (!has_moved(before, after))
        return "";
    return lab_text(lab, why_clock_moved, before->hz / 1e6, after->hz / 1e6);
}

static void mark(struct finding *f, const char *why)
{
    if (f->status == STATUS_NOT_MEASURED || why[0] == '\0')
        return;
    finding_protocol(f, "disturbed", value_text(why));
    if (f->because == NULL)
        finding_because(f, "%s", why);
}

static void mark_all(struct lab *lab, const char *always, const char *timed)
{
    struct results *const r = lab->results;
    for (size_t i = 0; i < r->finding_count; i++) {
        struct finding *const f = r->findings[i];
        if (strcmp(f->study, lab->study->name) != 0)
            continue;
        mark(f, always);
        if (always[0] == '\0' && finding_has_seconds(f))
            mark(f, timed);
    }
}

static void say_hz(struct finding *f, const char *name, double hz)
{
    if (hz > 0)
        finding_protocol(f, name, value_number(round(hz)));
}

static void say_states(struct finding *f, const struct gpu_state *before,
                       const struct gpu_state *after)
{
    say_hz(f, "before", before->hz);
    say_hz(f, "before_reported", before->told_hz);
    say_hz(f, "after", after->hz);
    say_hz(f, "after_reported", after->told_hz);
    finding_protocol(f, "throttle",
                     gpu_state_reasons(before->throttle | after->throttle));
    finding_protocol(f, "repetitions_dropped",
                     value_number(after->dropped - before->dropped));
    if (after->processes >= 0)
        finding_protocol(
            f, "other_processes",
            value_number(fmax(before->processes, after->processes)));
    finding_protocol(f, "longest_gap_ns",
                     value_number(round(fmax(before->gap_ns, after->gap_ns))));
    finding_cite(f, before->experiment);
    finding_cite(f, after->experiment);
}

static const char method[] =
    "Right before and right after the study one thread reads the SM's clock "
    "again and again, and the management library is asked.";

/* Each study under load has one; no study lists it among its answers. */
static struct finding *finding_of_clock(struct lab *lab)
{
    const char *const name = lab->study->name;
    struct finding *const f =
        results_add(lab->results, lab_text(lab, "clock.%s", name), name);
    finding_method(f, method);
    finding_unit(f, "Hz");
    return f;
}

void gpu_state_report(struct lab *lab, const struct gpu_state *before,
                      const struct gpu_state *after)
{
    if (!before->known || !after->known) {
        finding_none(finding_of_clock(lab), why_unwatched);
        return;
    }
    const char *const always = disturbances(lab, before, after);
    const char *const timed = describe_move(lab, before, after);
    mark_all(lab, always, timed);
    struct finding *const f = finding_of_clock(lab);
    if (after->hz > 0) {
        finding_measured(f, round(after->hz));
        const double *const a = before->hz > 0 ? before->range : after->range;
        finding_interval(f, fmin(a[0], after->range[0]),
                         fmax(a[1], after->range[1]), -1);
    } else {
        finding_none(f, why_timer_still);
    }
    say_states(f, before, after);
    mark(f, always);
    mark(f, timed);
}
