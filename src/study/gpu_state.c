#include "study/gpu_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"

/* Clocks further apart than this share have moved: a GPU's steps are about a
 * hundredth of its clock, and the timer's a thousandth of the spin. */
static const double moved = 0.01;
/* An instruction that comes from memory takes a microsecond; another process
 * has an SM for far longer than this. */
static const double gap_most_ns = 20000;

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
/* Those that come as they will, and not from a limit that somebody set. */
static const uint64_t throttled = 0x8 | 0x20 | 0x40 | 0x80;

struct value gpu_state_reasons(uint64_t throttle)
{
    struct value list = value_list();
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (throttle >> i & 1)
            value_push(&list, value_text(reasons[i]));
    return list;
}

/* ---- a moment ---------------------------------------------------------- */

static double median(const struct samples *s, const char *name)
{
    const size_t column = samples_column(s, name);
    double *const values = xreallocarray(NULL, s->rows, sizeof *values);
    for (size_t row = 0; row < s->rows; row++)
        values[row] = (double)samples_at(s, row, column);
    const double found = stats_median(values, s->rows);
    free(values);
    return found;
}

static double largest(const struct samples *s, const char *name)
{
    const size_t column = samples_column(s, name);
    double most = -INFINITY;
    for (size_t row = 0; row < s->rows; row++)
        most = fmax(most, (double)samples_at(s, row, column));
    return most;
}

static void read_samples(const struct samples *s, struct gpu_state *state)
{
    const double ns = median(s, "ns"), mhz = median(s, "mhz");
    const size_t throttle = samples_column(s, "throttle");
    state->known = true;
    state->hz = ns > 0 ? 1e9 * median(s, "cycles") / ns : -1;
    state->told_hz = mhz > 0 ? 1e6 * mhz : -1;
    state->gap_ns = state->hz > 0 ? 1e9 * largest(s, "gap") / state->hz : -1;
    state->processes = largest(s, "processes");
    state->dropped = largest(s, "dropped");
    for (size_t row = 0; row < s->rows; row++)
        if (samples_at(s, row, throttle) > 0)
            state->throttle |= (uint64_t)samples_at(s, row, throttle);
}

int gpu_state_read(struct lab *lab, const char *when, struct gpu_state *state,
                   struct error *err)
{
    struct samples s;
    *state = (struct gpu_state){0};
    const int status = lab_probe_err(lab, &s, &state->experiment, err,
                                     "state at=%s.%s", lab->study->name, when);
    if (status == 0) {
        read_samples(&s, state);
        samples_free(&s);
    }
    if (status != ERR_NOT_RECORDED && !lab_excuses(status))
        return status;
    *err = (struct error){0};
    return 0;
}

void gpu_state_free(struct gpu_state *state)
{
    free(state->experiment);
    *state = (struct gpu_state){0};
}

/* ---- what it means ----------------------------------------------------- */

static bool has_moved(const struct gpu_state *a, const struct gpu_state *b)
{
    return a->hz > 0 && b->hz > 0 &&
           fabs(a->hz - b->hz) > moved * fmax(a->hz, b->hz);
}

static void add_reason(struct buf *why, const char *text)
{
    buf_printf(why, "%s%s", why->length > 0 ? "; " : "", text);
}

/* What disturbed all; empty: nothing. */
static void disturbances(const struct gpu_state *before,
                         const struct gpu_state *after, struct buf *why)
{
    const double gap = fmax(before->gap_ns, after->gap_ns);
    const double others = fmax(before->processes, after->processes);
    char text[96];
    buf_text(why, "");
    if (((before->throttle | after->throttle) & throttled) != 0 ||
        after->dropped > before->dropped)
        add_reason(why, "the GPU was throttled");
    if (others > 0)
        add_reason(why, others == 1 ? "another process was on the GPU"
                                    : "other processes were on the GPU");
    if (gap > gap_most_ns) {
        snprintf(text, sizeof text, "for %.0f us the SM did not run us",
                 gap / 1000);
        add_reason(why, text);
    }
}

/* What disturbed all that has time in its unit. */
static void describe_move(const struct gpu_state *before,
                          const struct gpu_state *after, struct buf *why)
{
    buf_text(why, "");
    if (has_moved(before, after))
        buf_printf(why, "the SM clock moved from %.0f to %.0f MHz",
                   before->hz / 1e6, after->hz / 1e6);
}

/* Cycles pass with the clock; seconds do not. */
static bool has_time(const struct finding *f)
{
    const size_t length = strlen(f->unit);
    return strcmp(f->unit, "ns") == 0 || strcmp(f->unit, "Hz") == 0 ||
           (length >= 2 && strcmp(f->unit + length - 2, "/s") == 0);
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
        if (always[0] == '\0' && has_time(f))
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
    finding_evidence(f, before->experiment);
    finding_evidence(f, after->experiment);
}

static const char method[] =
    "Right before and right after the study one thread reads the SM's clock "
    "again and again, and the management library is asked.";

void gpu_state_report(struct lab *lab, const struct gpu_state *before,
                      const struct gpu_state *after)
{
    struct buf always = {0}, timed = {0};
    if (!before->known || !after->known) {
        finding_none(lab_finding(lab, "clock", lab->study->name),
                     "the GPU was not asked before and after the study");
        return;
    }
    disturbances(before, after, &always);
    describe_move(before, after, &timed);
    mark_all(lab, buf_string(&always), buf_string(&timed));
    struct finding *const f = lab_finding(lab, "clock", lab->study->name);
    if (after->hz > 0) {
        finding_set(f, STATUS_MEASURED, value_number(round(after->hz)), "Hz");
        finding_interval(f, fmin(before->hz, after->hz),
                         fmax(before->hz, after->hz), 1);
    } else {
        finding_none(f, "%%globaltimer did not advance");
    }
    finding_method(f, method);
    say_states(f, before, after);
    mark(f, buf_string(&always));
    mark(f, buf_string(&timed));
    buf_free(&always);
    buf_free(&timed);
}
