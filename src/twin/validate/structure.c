/*
 * Which lines push each other out, of caches and TLBs: experiments are drawn
 * for each (draw.h), and where loads are not found as foretold, or what is
 * said of the cache contradicts itself, the value that is wrong is looked for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "twin/memory.h"
#include "twin/validate/suspect.h"
#include "twin/validate/values.h"

/* A cache or TLB, how its loads are made, and what stands in front of it. */
struct subject {
    const char *component, *reader, *front;
    uint64_t span;
};

static const struct subject subjects[] = {
    {"l1", "global.ca", NULL, 64u << 20},
    {"local", "local", NULL, 512u << 10},
    {"texture", "texture", NULL, 64u << 20},
    {"readonly", "readonly", NULL, 64u << 20},
    {"const_l1", "constant", NULL, 64u << 10},
    {"const_l15", "constant", "const_l1", 64u << 10},
    {"l2", "global.cg", NULL, 64u << 20},
    {"tlb_l1", "global.cg", NULL, 0},
    {"tlb_l2", "global.cg", "tlb_l1", 0},
    {"tlb_l3", "global.cg", "tlb_l2", 0},
};

/* What a miss of those costs that stand before what stands in front. */
static bool cost_before(struct trying *t, const struct subject *s, double *cost)
{
    *cost = strcmp(s->component, "tlb_l3") == 0
                ? told_number(&t->told, "tlb_l1", "miss_penalty")
                : 0;
    return strcmp(s->component, "tlb_l3") != 0 || *cost > 0;
}

/* Half of what misses cost, and behind them half of what the next ones do. */
static bool set_cuts(struct trying *t, const struct subject *s,
                     struct asked *asked)
{
    const double own = told_number(&t->told, s->component, "miss_penalty");
    const double front =
        s->front != NULL ? told_number(&t->told, s->front, "miss_penalty") : 0;
    double before;
    size_t n = 0;
    if (!cost_before(t, s, &before))
        return false;
    if (front > 0)
        asked->cuts[n++] = before + front / 2;
    asked->cuts[n++] = before + front + own / 2;
    return own > 0 && (s->front == NULL || front > 0);
}

/* Runs until the median of what is off by noise is surely nearer to the one
 * level than to the other: of levels that lie as close as TLBs' do, many. */
static unsigned runs_for(const struct asked *asked,
                         const struct cache_shape *shape)
{
    enum { CHANCE = 9 }; /* shares are told to a few percent */
    if (cache_by_chance(shape->policy))
        return CHANCE;
    const double gap =
        asked->cuts[1] > 0
            ? fmin(asked->cuts[0], asked->cuts[1] - asked->cuts[0])
            : asked->cuts[0];
    return gap > 25 ? 3 : gap > 8 ? 7 : 25;
}

/* How near mappings lie at most. */
enum { GRANULE = 2 << 20 };

/* Of a TLB the places are mappings, as far apart as an entry covers. */
static char *extra_of(const struct subject *s, const struct cache_shape *shape)
{
    return trying_tlb(s->component) ? xasprintf(" piece=%d apart=%llu", GRANULE,
                                                (unsigned long long)shape->line)
                                    : xstrdup("");
}

/* Several regions of one mapping would be several lines. */
static bool has_mappings(const struct subject *s,
                         const struct cache_shape *shape)
{
    return !trying_tlb(s->component) || shape->line >= GRANULE;
}

/* Of L2 what is loaded first, in another set, brings the translation. */
static const char *lead_of(const struct subject *s,
                           const struct cache_shape *shape)
{
    enum { SETS = 64, LINE_MOST = 512 }; /* three lines on, at least */
    return strcmp(s->component, "l2") == 0 && shape->sets >= SETS &&
                   shape->line <= LINE_MOST
               ? " lead=1664"
               : "";
}

static uint64_t lines_of(const struct cache_shape *shape)
{
    return cache_shape_bytes(shape) / shape->line;
}

/* Pages of one window: leaving it costs more than any translation.  Four times
 * as many as there are entries, at least, since sets are to be overfilled; and
 * behind a TLB of many, of which some sets are (draw.c), all that there may be.
 */
static uint64_t span_of_tlb(const struct cache_shape *shape,
                            const struct cache_shape *front, uint64_t window)
{
    enum { PAGES = 1 << 13, PAGES_MOST = 1 << 19 };
    static const uint64_t span_most = (uint64_t)1 << 44;
    const uint64_t pages = front != NULL && lines_of(front) > DRAW_FRONT_MOST
                               ? PAGES_MOST
                               : u64_max(PAGES, 4 * lines_of(shape));
    return u64_min(u64_min(pages * shape->line, span_most), window);
}

static uint64_t span_of(const struct subject *s,
                        const struct cache_shape *shape)
{
    uint64_t span = 1 << 16;
    while (span < s->span && span < 16 * cache_shape_bytes(shape))
        span *= 2;
    return u64_min(span, s->span);
}

/* As near as `visit` can load. */
enum { FINE = 32 };

/* Two words of a thread's local memory are a line apart. */
static bool has_offsets(const struct subject *s)
{
    return !trying_tlb(s->component) && strcmp(s->reader, "local") != 0;
}

/* Which set a line comes to.  Where that was asked and not found, the twin's
 * sets are chosen, and say nothing of what the device will do: an L2 of real
 * GPUs, of which a set was found among lines in random order, and no index. */
static bool index_is_known(struct trying *t, const char *component)
{
    const struct finding *const bits =
        results_edit(t->results, component, "set_bits");
    return bits == NULL || bits->status != STATUS_NOT_MEASURED ||
           trying_find(t, component, "slice_modulo") != NULL;
}

/* Third TLBs of real GPUs hold more lines of a set than it has ways, by no
 * policy that is known; and of some that go by chance no weights are found.  Of
 * what follows none what a lap finds is not foretold, and only what contradicts
 * itself is seen. */
static bool policy_is_known(struct trying *t, const char *component)
{
    return !values_weights_open(t, component) &&
           (strcmp(component, "tlb_l3") != 0 ||
            trying_find(t, component, "policy") != NULL);
}

static bool is_known(struct trying *t, const char *component)
{
    return trying_find(t, component, "set_ways") != NULL ||
           (trying_find(t, component, "sets") != NULL &&
            trying_find(t, component, "ways") != NULL &&
            index_is_known(t, component));
}

/* Up to where address bits were looked at for the index; of TLBs as far as they
 * can be mapped. */
static uint64_t index_span(struct trying *t, const char *component)
{
    const struct finding *const bits = trying_find(t, component, "set_bits");
    const struct value *const below = bits != NULL && !trying_tlb(component)
                                          ? finding_said(bits, "bits_below")
                                          : NULL;
    return below != NULL && below->number < 64
               ? (uint64_t)1 << (unsigned)below->number
               : UINT64_MAX;
}

static const char *front_of(struct trying *t, const struct subject *s)
{
    return s->front != NULL ? twin_storage(&t->told, s->front) : NULL;
}

/* Laps over more lines than the cache before it holds pass that; but of unequal
 * sets none knows from where lines are dealt to them, and of some policies
 * lines stay there. */
static bool front_lets_laps_pass(struct trying *t, const struct subject *s)
{
    const char *const front = front_of(t, s);
    return front == NULL || trying_find(t, front, "set_ways") == NULL ||
           trying_oldest_goes(t, front);
}

/* Which of loads at random do. */
static bool front_is_known(struct trying *t, const struct subject *s)
{
    const char *const front = front_of(t, s);
    return front == NULL ||
           (is_known(t, front) && trying_find(t, front, "policy") != NULL &&
            trying_find(t, front, "set_ways") == NULL &&
            !values_weights_open(t, front));
}

bool suspicion_draw(struct trying *t, struct suspicion *suspicion)
{
    const struct subject *const s = suspicion->subject;
    struct twin twin;
    if (!twin_open(t, &twin))
        return false;
    const struct cache_shape *const shape =
        twin_shape(t, twin.profile, s->component);
    const double window = told_number(&t->told, "tlb", "page_window");
    struct drawing d = {.shape = shape, .rng = &t->rng};
    d.asked.reader = s->reader;
    if (shape != NULL && has_mappings(s, shape) && front_lets_laps_pass(t, s) &&
        set_cuts(t, s, &d.asked)) {
        d.fine = has_offsets(s) ? FINE : 0;
        d.unit = trying_tlb(s->component) ? shape->line : 1;
        d.front =
            s->front != NULL ? twin_shape(t, twin.profile, s->front) : NULL;
        d.span = trying_tlb(s->component)
                     ? span_of_tlb(shape, d.front,
                                   window > 0 ? (uint64_t)window : UINT64_MAX)
                     : span_of(s, shape);
        d.span = u64_min(d.span, index_span(t, s->component));
        d.no_random = !front_is_known(t, s);
        d.no_policy = trying_find(t, s->component, "policy") == NULL;
        d.runs = runs_for(&d.asked, shape);
        d.lead = lead_of(s, shape);
        suspicion->extra = extra_of(s, shape);
        d.asked.extra = suspicion->extra;
        suspicion->trials = draw_trials(&d, suspicion->trial);
    }
    twin_close(&twin);
    return suspicion->trials > 0;
}

/* What of a subject's experiments counts: not what was excused. */
struct counted {
    size_t loads, loads_right;
    size_t shares, shares_right; /* of experiments that chance decides in */
    bool order;                  /* any of that was not a lap */
    const char *text;            /* the first such experiment; NULL: none */
};

static struct counted count_all(const struct suspicion *s)
{
    struct counted all = {0};
    for (size_t i = 0; i < s->trials; i++) {
        const struct trial *const t = &s->trial[i];
        const struct compared *const c = &s->compared[i];
        const size_t loads = trial_asked(t, c);
        if (loads == 0 && !c->by_share)
            continue;
        all.loads += loads;
        all.loads_right += loads - u64_min(loads, c->wrong);
        all.shares += c->by_share;
        all.shares_right += c->by_share && c->wrong == 0;
        all.order = all.order || !t->laps;
        all.text = all.text != NULL ? all.text : t->text;
    }
    return all;
}

static double share_of(const struct counted *c)
{
    return c->loads > 0    ? (double)c->loads_right / (double)c->loads
           : c->shares > 0 ? (double)c->shares_right / (double)c->shares
                           : 1;
}

/* By laps alone most policies, and their weights, are alike.  Where nothing
 * could be asked of it, what the other values hold; of a policy that nobody
 * knows, what they deny.  A value that was repaired may be none. */
static bool was_tried(struct trying *t, const struct suspicion *s,
                      const struct counted *counted, const char *attribute)
{
    struct finding *const f = results_edit(t->results, s->component, attribute);
    if (f == NULL || trying_is_of_parts(t, s->component, attribute))
        return false;
    if (trying_repaired(t, f))
        return true;
    if (trying_find(t, s->component, attribute) == NULL)
        return false;
    if (s->trials > 0)
        return counted->order ||
               strncmp(attribute, "policy", strlen("policy")) != 0;
    return policy_is_known(t, s->component) &&
           values_deny_another(t, s->component, f);
}

static void note_all(struct trying *t, const struct suspicion *s)
{
    const struct counted counted = count_all(s);
    if (s->trials > 0 && counted.text == NULL)
        return;
    t->verdict.loads += counted.loads;
    t->verdict.loads_right += counted.loads_right;
    for (size_t i = 0; trying_attributes[i] != NULL; i++)
        if (was_tried(t, s, &counted, trying_attributes[i]))
            trying_note(t, s->component, trying_attributes[i],
                        share_of(&counted), counted.text);
}

/* Values that one storage has, whichever loads ask it. */
static const char *const same[] = {"size", "line",     "sector", "sets",
                                   "ways", "set_bits", "policy"};

/* Of that storage loads are found as it foretells; where none was asked nothing
 * says which of both is wrong. */
static void doubt_either(struct trying *t, struct finding *f,
                         const char *component, struct finding *of_storage,
                         const char *storage, const char *attribute)
{
    static const char same_storage[] =
        "%s, which is the same storage, has another %s%s";
    char *const because = xasprintf(
        same_storage, storage, attribute,
        t->means_only ? "" : ", and of that loads are found as it foretells");
    char *const other = xasprintf(same_storage, component, attribute, "");
    if (t->means_only)
        trying_doubt(t, of_storage, &f->value, other);
    trying_repair(t, f, value_copy(&of_storage->value), because);
    free(other);
    free(because);
}

static void compare_storage(struct trying *t, const char *component,
                            const char *storage)
{
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct finding *const f = trying_sure(t, component, same[i]);
        struct finding *const g = trying_sure(t, storage, same[i]);
        /* Of what is in doubt itself no other is known. */
        if (f == NULL || g == NULL || trying_unknown(t, g))
            continue;
        const bool right = value_equal(&f->value, &g->value);
        trying_note(t, component, same[i], right ? 1 : 0, NULL);
        if (!right)
            doubt_either(t, f, component, g, storage, same[i]);
    }
}

/* The size that loads of another path told, where those of the storage's own
 * told none: it is what the sets hold that are known of that.  Of local memory
 * nothing is said: what is less may be all that is not taken, and no ring of
 * it can be asked whether more fits. */
static int compare_size(struct trying *t, const char *component,
                        const char *storage)
{
    struct finding *const f = trying_find(t, component, "size");
    double holds = 0;
    bool is = false;
    if (strcmp(component, "local") == 0 ||
        trying_sure(t, storage, "size") != NULL)
        return 0;
    const int status = suspect_size(t, component, &holds, &is);
    if (status != 0 || !is)
        return status;
    const struct value other = value_number(holds);
    char *const because = xasprintf(
        "sets, ways and line of %s, which is the same storage, make %.0f B",
        storage, holds);
    trying_doubt(t, f, &other, because);
    free(because);
    return 0;
}

/* Of several others nobody knows which it is, nor of what was derived of it. */
static void doubt_derived(struct trying *t, struct finding *f,
                          const struct finding *of)
{
    const struct repair *const r = trying_repair_of(t, of);
    if (r == NULL || !trying_unknown(t, of))
        return;
    char *const because =
        xasprintf("it was derived of %s, which is in doubt", of->id);
    trying_doubt_within(t, f, r->low, r->high, because);
    free(because);
}

/* Of what no load can ask: what was derived of another component, whose storage
 * it is, has its value. */
static void compare_derived(struct trying *t, const char *component)
{
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct finding *const f = trying_sure(t, component, same[i]);
        const struct value *const of =
            f != NULL ? finding_said(f, "same_storage_as") : NULL;
        const struct finding *const g = of != NULL && of->kind == VALUE_TEXT
                                            ? trying_sure(t, of->text, same[i])
                                            : NULL;
        if (g == NULL)
            continue;
        doubt_derived(t, f, g);
        if (value_equal(&f->value, &g->value))
            continue;
        char *const because = xasprintf(
            "it was derived of %s, which has another %s", of->text, same[i]);
        trying_repair(t, f, value_copy(&g->value), because);
        free(because);
    }
}

/* Where global loads are not cached, L1 is what local ones show of it. */
static struct subject shown(struct trying *t, const struct subject *s)
{
    struct subject as = *s;
    if (strcmp(s->component, "l1") == 0 && !trying_l1_is_global(t)) {
        as.reader = "local";
        as.span = 512u << 10;
    }
    return as;
}

/* True if any load was asked, and all but few are found as foretold. */
static bool are_foretold(const struct suspicion *s)
{
    size_t loads = 0, wrong = 0;
    for (size_t i = 0; i < s->trials; i++) {
        loads += s->trial[i].count - s->trial[i].unclear;
        wrong += s->compared[i].wrong;
    }
    return loads > 0 && wrong <= loads / 100;
}

static int try_subject(struct trying *t, const struct subject *row)
{
    const struct subject of = shown(t, row), *const s = &of;
    struct suspicion suspicion = {.component = s->component, .subject = s};
    if (told_number(&t->told, s->component, "miss_penalty") == 0)
        return 0;
    const char *const storage = twin_storage(&t->told, s->component);
    if (strcmp(storage, s->component) != 0) {
        compare_storage(t, s->component, storage);
        const int asked = compare_size(t, s->component, storage);
        return asked != 0 && trying_excused(t) ? 0 : asked;
    }
    if (!is_known(t, s->component)) {
        try_product(t, s->component);
        return 0;
    }
    if (t->means_only || !policy_is_known(t, s->component) ||
        !suspicion_draw(t, &suspicion))
        compare_derived(t, s->component);
    int status = 0;
    bool whole = true;
    for (size_t i = 0; status == 0 && whole && i < suspicion.trials; i++) {
        whole = i == 0 || !trying_late(t);
        if (whole)
            status = trial_measure(&suspicion.trial[i], t->device, t->err);
    }
    if (status == 0 && whole)
        status = suspect(t, &suspicion);
    if (status == 0 && whole && strcmp(s->component, "l2") == 0 &&
        are_foretold(&suspicion))
        try_halves(t);
    else if (trying_is_of_parts(t, s->component, "set_bits"))
        suspicion_free(&suspicion); /* by another index nothing was asked */
    if (status == 0 && whole)
        note_all(t, &suspicion);
    suspicion_free(&suspicion);
    return status != 0 && trying_excused(t) ? 0 : status;
}

/* Code that lies in a cache of constants. */
static void compare_code(struct trying *t)
{
    static const char *const components[] = {"icache_l0", "icache_l1",
                                             "icache_l15"};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        const char *const storage = twin_storage(&t->told, components[i]);
        if (strcmp(storage, components[i]) != 0)
            compare_storage(t, components[i], storage);
    }
}

int try_structure(struct trying *t)
{
    int status = 0;
    for (size_t i = 0; status == 0 && !trying_late(t) &&
                       i < sizeof subjects / sizeof *subjects;
         i++)
        status = try_subject(t, &subjects[i]);
    if (status == 0)
        compare_code(t);
    return status;
}
