#include "study/load/timelines.h"

#include <math.h>

enum { REPEAT, SM, BLOCK, WARP, ACCESS, START, END, NS };

/* Nanoseconds count from `origin`: since 1970 they are too many for a double.
 */
static struct warp_span warp_of(const struct samples *s, size_t row,
                                int64_t origin)
{
    return (struct warp_span){
        .repeat = (unsigned)samples_at(s, row, REPEAT),
        .sm = (unsigned)samples_at(s, row, SM),
        .block = (unsigned)samples_at(s, row, BLOCK),
        .warp = (unsigned)samples_at(s, row, WARP),
        .span = {(double)samples_at(s, row, START),
                 (double)samples_at(s, row, END)},
        .ns = (double)(samples_at(s, row, NS) - origin),
    };
}

/* Rows of accesses are left out; the row of a launch has SM -1. */
static void collect(struct timelines *t, const struct samples *s)
{
    const int64_t origin = s->rows > 0 ? samples_at(s, 0, NS) : 0;
    for (size_t row = 0; row < s->rows; row++)
        if (samples_at(s, row, SM) < 0)
            t->launch_ns[t->repeats++] = (double)samples_at(s, row, END);
        else if (samples_at(s, row, ACCESS) < 0)
            t->warps[t->count++] = warp_of(s, row, origin);
}

struct timelines timelines_of(struct lab *lab, const struct samples *s)
{
    struct timelines t = {.experiment = s->experiment};
    t.warps = lab_alloc(lab, s->rows, sizeof *t.warps);
    t.launch_ns = lab_alloc(lab, s->rows, sizeof *t.launch_ns);
    collect(&t, s);
    return t;
}

struct warp_spans timelines_blocks(struct lab *lab, const struct timelines *t,
                                   size_t repeat)
{
    struct warp_spans blocks = {
        .at = lab_alloc(lab, t->count + 1, sizeof *blocks.at)};
    for (size_t i = 0; i < t->count; i++) {
        const struct warp_span *const w = &t->warps[i];
        struct warp_span *const last =
            &blocks.at[blocks.count - (blocks.count > 0)];
        if (w->repeat != repeat)
            continue;
        if (blocks.count == 0 || last->block != w->block) {
            blocks.at[blocks.count++] = *w;
            continue;
        }
        span_hold(&last->span, w->span.start, w->span.end);
        last->ns = fmin(last->ns, w->ns);
    }
    return blocks;
}
