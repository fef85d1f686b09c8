#include "twin/validate/suspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "twin/memory.h"
#include "twin/validate/rivals.h"

/* ---- how well findings foretell --------------------------------------- */

/* Entries that lines are dealt to in turns, of unequal sets; 0: of sets that
 * are alike, or there is no such GPU. */
static uint64_t dealt_entries(const struct trying *t, const char *component)
{
    struct profile *const profile = trying_profile(t);
    const struct cache_shape *const shape =
        profile != NULL ? twin_shape(t, profile, component) : NULL;
    const uint64_t entries = shape != NULL && !cache_shape_even(shape)
                                 ? cache_shape_bytes(shape) / shape->line
                                 : 0;
    profile_free(profile);
    return entries;
}

/* How an experiment speaks against a place to deal from.  Laps go by sets
 * alone, whatever the policy: their loads count more, of which there are fewer.
 */
static size_t against(size_t trial, size_t wrong)
{
    enum { LAPS = 2, LAP_WEIGHT = 8 };
    return (trial < LAPS ? LAP_WEIGHT : 1) * wrong;
}

/* What foretells of a GPU that deals line 0 to an entry. */
struct dealt {
    uint64_t from;
    struct compared compared[DRAW_MOST];
    size_t failed, strained, against;
};

/* Laps of a policy of marks go round in one of many ways, by what was held
 * before, and stay in it; loads in random order soon forget, or begin with what
 * settles the marks.  Where all of these are as foretold, laps say nothing but
 * that a policy is likelier that foretells them, and whether they are right or
 * not, none of their loads counts. */
static void excuse_laps(const struct suspicion *s,
                        const struct cache_shape *shape, struct dealt *d)
{
    size_t laps = 0, at_random = 0;
    if (shape == NULL || !cache_lasts_misses(shape->policy))
        return;
    for (size_t i = 0; i < s->trials; i++) {
        const struct trial *const t = &s->trial[i];
        const bool failed = trial_fails(t, d->compared[i].wrong);
        if (failed && !t->laps)
            return;
        laps += failed;
        at_random += !t->laps;
    }
    if (at_random == 0)
        return;
    d->failed -= laps;
    d->strained += laps;
    for (size_t i = 0; i < s->trials; i++) {
        struct compared *const c = &d->compared[i];
        c->wrong = trial_fails(&s->trial[i], c->wrong) ? 0 : c->wrong;
        c->excused = s->trial[i].laps ? s->trial[i].count : c->excused;
    }
}

/* Nothing more than `most` is of interest. */
static int try_dealt(const struct trying *t, const struct suspicion *s,
                     size_t most, struct dealt *d)
{
    struct twin twin;
    d->failed = s->trials;
    d->against = SIZE_MAX;
    if (!twin_open_dealt(t, s->component, d->from, &twin))
        return 0;
    const struct cache_shape *const shape =
        twin_shape(t, twin.profile, s->component);
    int status = 0;
    d->against = 0;
    for (size_t i = 0; status == 0 && i < s->trials && d->against <= most;
         i++) {
        struct error err = {0};
        struct compared *const c = &d->compared[i];
        status = trial_compare(&s->trial[i], twin.prober, shape, c, &err);
        if (status != 0)
            *t->err = err;
        d->failed -= status == 0 && !trial_fails(&s->trial[i], c->wrong);
        d->strained += c->strained;
        d->against += against(i, c->wrong);
    }
    if (status == 0 && d->against <= most)
        excuse_laps(s, shape, d);
    twin_close(&twin);
    return status;
}

/* From where the device deals lines to unequal sets no finding says: from where
 * most loads are as foretold. */
static int find_dealt(const struct trying *t, const struct suspicion *s,
                      struct dealt *best)
{
    const uint64_t entries = dealt_entries(t, s->component);
    int status = 0;
    for (uint64_t at = 0; status == 0 && best->failed > 0 && at < entries;
         at++) {
        struct dealt other = {.from = at};
        status = try_dealt(t, s, best->against, &other);
        if (status == 0 && other.against < best->against)
            *best = other;
    }
    return status;
}

/* From the place that is known, or from that which explains most. */
static int deal(const struct trying *t, const struct suspicion *s,
                struct dealt *d)
{
    d->from = s->dealt_from;
    const int status = try_dealt(t, s, SIZE_MAX, d);
    return status == 0 && !s->dealt_is_known ? find_dealt(t, s, d) : status;
}

static struct foretold foretold_of(const struct suspicion *s,
                                   const struct dealt *d)
{
    struct foretold f = {.failed = d->failed, .strained = d->strained};
    for (size_t i = 0; i < s->trials; i++)
        f.wrong += d->compared[i].wrong;
    return f;
}

int suspicion_ask(const struct trying *t, const struct suspicion *s,
                  struct foretold *foretold)
{
    struct dealt d = {0};
    const int status = deal(t, s, &d);
    *foretold = foretold_of(s, &d);
    return status;
}

void suspicion_free(struct suspicion *s)
{
    for (size_t i = 0; i < s->trials; i++)
        trial_free(&s->trial[i]);
    free(s->extra);
    s->extra = NULL;
    s->trials = 0;
}

/* ---- what contradicts ------------------------------------------------- */

/* 0: not known for sure. */
static double number(struct trying *t, const char *component,
                     const char *attribute)
{
    const struct finding *const f = trying_sure(t, component, attribute);
    return f != NULL && f->value.kind == VALUE_NUMBER ? f->value.number : 0;
}

/* As above, of what only some caches have: 1 is none; 0: not known for sure. */
static double number_or_one(struct trying *t, const char *component,
                            const char *attribute)
{
    return trying_find(t, component, attribute) == NULL
               ? 1
               : number(t, component, attribute);
}

static double sum_of(const struct finding *f)
{
    double sum = 0;
    for (size_t i = 0; f != NULL && i < f->value.count; i++)
        sum += f->value.items[i].number;
    return sum;
}

/* Lines, or entries, by sets and ways; 0: not known. */
static double places(struct trying *t, const char *component)
{
    const struct finding *const list = trying_sure(t, component, "set_ways");
    return list != NULL
               ? sum_of(list)
               : number(t, component, "sets") * number(t, component, "ways");
}

/* Bytes of all places; 0: not known. */
static double sets_hold(struct trying *t, const char *component)
{
    return places(t, component) * number(t, component, "line");
}

/* As above, by the least that a line may be where no more is known of it; 0: it
 * is known, or not even that. */
static double sets_hold_least(struct trying *t, const char *component)
{
    const struct finding *const line = trying_find(t, component, "line");
    return line != NULL && line->status == STATUS_AT_LEAST
               ? places(t, component) * line->value.number
               : 0;
}

/* Bytes of all places if it is not more than they may hold: of a line that is
 * not known, of the next multiple of the least.  0: not known. */
static double meant_size(struct trying *t, const char *component)
{
    const double least = sets_hold_least(t, component);
    return least > 0 ? least * ceil(number(t, component, "size") / least)
                     : sets_hold(t, component);
}

/* Of an L2 in parts each has as many sets as the index tells. */
static double sets_by_bits(struct trying *t, const char *component)
{
    const struct finding *const bits = trying_sure(t, component, "set_bits");
    const double modulo = number_or_one(t, component, "slice_modulo");
    const double parts = number_or_one(t, component, "parts");
    return bits != NULL && bits->value.kind == VALUE_LIST
               ? parts * ldexp(modulo, (int)bits->value.count)
               : 0;
}

/* True if some bits of the index lie within a line, so that they can be none.
 */
static bool bits_within(struct trying *t, const char *c, double line)
{
    const struct finding *const bits = trying_sure(t, c, "set_bits");
    for (size_t i = 0; bits != NULL && i < bits->value.count; i++) {
        const struct value *const entry = &bits->value.items[i];
        if (entry->kind == VALUE_NUMBER && exp2(entry->number) < line)
            return true;
        for (size_t k = 0; k < entry->count; k++)
            if (exp2(entry->items[k].number) < line)
                return true;
    }
    return false;
}

static bool agree(double a, double b)
{
    return a == 0 || b == 0 || a == b;
}

/* True if a size is but a bound, or known to within an interval. */
static bool size_agrees(struct trying *t, const char *component,
                        const char *attribute, double size)
{
    const struct finding *const f = trying_find(t, component, attribute);
    if (f == NULL || f->value.kind != VALUE_NUMBER || size == 0 ||
        f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST)
        return true;
    return f->value.number == size ||
           (f->has_interval && f->interval[0] < f->interval[1] &&
            size >= f->interval[0] && size <= f->interval[1]);
}

bool suspect_weights_open(struct trying *t, const char *c)
{
    const struct finding *const policy = results_edit(t->results, c, "policy");
    const struct finding *const weights =
        results_edit(t->results, c, "policy_weights");
    return policy != NULL && policy->value.kind == VALUE_TEXT &&
           cache_policy_find(policy->value.text) == POLICY_WEIGHTED &&
           weights != NULL && weights->status == STATUS_NOT_MEASURED;
}

/* True if a profile can say the policy: some need numbers of the protocol, and
 * a tree of bits a power of two of ways. */
static bool policy_can_be(struct trying *t, const char *c)
{
    const struct finding *const f = trying_sure(t, c, "policy");
    const double ways = number(t, c, "ways");
    if (f == NULL || f->value.kind != VALUE_TEXT || ways == 0)
        return true;
    const struct finding *const weights = trying_find(t, c, "policy_weights");
    switch (cache_policy_find(f->value.text)) {
    case POLICY_LRU_MIDPOINT:
        return finding_said(f, "behind") != NULL;
    case POLICY_RRIP:
        return finding_said(f, "ages") != NULL;
    case POLICY_WEIGHTED:
        return suspect_weights_open(t, c) ||
               (weights != NULL && (double)weights->value.count == ways);
    case POLICY_PLRU:
        return exp2(floor(log2(ways))) == ways;
    case POLICY_COUNT:
        return false;
    default:
        return true;
    }
}

static bool consistent(struct trying *t, const char *c)
{
    if (!policy_can_be(t, c))
        return false;
    const double lines = places(t, c);
    const struct finding *const list = trying_sure(t, c, "set_ways");
    const double line = number(t, c, "line"), sector = number(t, c, "sector");
    const double sets = number(t, c, "sets");
    if (list != NULL && !agree(sets, (double)list->value.count))
        return false;
    if (!agree(sets, sets_by_bits(t, c)))
        return false;
    if ((line > 0 && sector > line) ||
        bits_within(t, c, trying_tlb(c) ? number(t, c, "region") : line))
        return false;
    if (!trying_tlb(c))
        return size_agrees(t, c, "size", meant_size(t, c));
    const double entries = number(t, c, "entries"),
                 region = number(t, c, "region");
    return size_agrees(t, c, "entries", lines) &&
           (region == 0 || number(t, c, "page") <= region) &&
           size_agrees(t, c, "reach", entries * region);
}

/* Twice as much, or a list that lacks its last. */
static bool another_of(const struct value *v, struct value *other)
{
    if (v->kind == VALUE_NUMBER)
        *other = value_number(2 * v->number);
    else if (v->kind == VALUE_LIST)
        *other = value_list();
    for (size_t i = 0; v->kind == VALUE_LIST && i + 1 < v->count; i++)
        value_push(other, value_copy(&v->items[i]));
    return v->kind == VALUE_NUMBER || v->kind == VALUE_LIST;
}

bool suspect_holds(struct trying *t, const char *component, struct finding *f)
{
    struct value other;
    if (!another_of(&f->value, &other))
        return false;
    trying_lend(t, f, other);
    const bool holds = !consistent(t, component);
    trying_return(t);
    value_free(&other);
    return holds;
}

/* ---- other values ----------------------------------------------------- */

struct search {
    struct trying *trying;
    struct suspicion *suspicion;
    /* The best so far. */
    struct finding *finding;
    struct value value;
    struct foretold foretold;
    bool consistent;
    struct rivals rivals; /* all that explain everything as well */
};

/* What explains all by one state of the sets is likelier than what needs
 * another for each load: a policy of marks, by 16 states, explains most laps.
 */
static bool better(const struct search *s, const struct foretold *f, bool whole)
{
    const struct foretold *const best = &s->foretold;
    if (s->finding == NULL || f->failed != best->failed)
        return s->finding == NULL || f->failed < best->failed;
    if (f->failed == 0 && f->strained != best->strained)
        return f->strained < best->strained;
    return whole && !s->consistent;
}

/* Takes the value over. */
static int try_value(struct search *s, struct finding *f, struct value value)
{
    struct foretold now = {0};
    if (value_equal(&value, &f->value) || trying_late(s->trying)) {
        value_free(&value);
        return 0;
    }
    trying_lend(s->trying, f, value);
    const bool whole = consistent(s->trying, s->suspicion->component);
    const int status = suspicion_ask(s->trying, s->suspicion, &now);
    trying_return(s->trying);
    const bool best = status == 0 && better(s, &now, whole);
    if (best && now.strained < s->foretold.strained)
        rivals_free(&s->rivals);
    if (status == 0 && now.failed == 0 && whole &&
        (best || now.strained == s->foretold.strained))
        rivals_add(&s->rivals, f, &value);
    if (best) {
        value_free(&s->value);
        s->finding = f;
        s->value = value;
        s->foretold = now;
        s->consistent = whole;
        return 0;
    }
    value_free(&value);
    return status;
}

static int try_number(struct search *s, const char *attribute, double x)
{
    struct finding *const f =
        trying_find(s->trying, s->suspicion->component, attribute);
    return f == NULL || f->value.kind != VALUE_NUMBER || x < 1 || x != floor(x)
               ? 0
               : try_value(s, f, value_number(x));
}

/* What the other values make of it; one more and less; twice and half. */
static int try_numbers(struct search *s, const char *attribute, double meant)
{
    const double now = number(s->trying, s->suspicion->component, attribute);
    const double others[] = {meant, now - 1, now + 1, now / 2, now * 2};
    int status = 0;
    for (size_t i = 0;
         status == 0 && now > 0 && i < sizeof others / sizeof *others; i++)
        status = try_number(s, attribute, others[i]);
    return status;
}

static int try_policies(struct search *s)
{
    struct finding *const f =
        trying_find(s->trying, s->suspicion->component, "policy");
    int status = 0;
    if (f == NULL || f->value.kind != VALUE_TEXT)
        return 0;
    for (int p = 0; status == 0 && p < POLICY_COUNT; p++)
        status = try_value(s, f,
                           value_text(cache_policy_name((enum cache_policy)p)));
    return status;
}

/* Without them lines are dealt to sets one after the other. */
static int try_bits(struct search *s)
{
    struct finding *const f =
        trying_find(s->trying, s->suspicion->component, "set_bits");
    return f != NULL ? try_value(s, f, (struct value){.kind = VALUE_NONE}) : 0;
}

/* The mask of an index with the address bit, or without it if it has it; as it
 * is where nothing would be left. */
static struct value toggled(const struct value *mask, double bit)
{
    const bool one = mask->kind == VALUE_NUMBER;
    const size_t count = one ? 1 : mask->count;
    struct value other = value_list();
    for (size_t i = 0; i < count; i++) {
        const double has = one ? mask->number : mask->items[i].number;
        if (has != bit)
            value_push(&other, value_number(has));
    }
    if (other.count == count)
        value_push(&other, value_number(bit));
    if (other.count > 1)
        return other;
    const struct value left = other.count == 0
                                  ? value_copy(mask)
                                  : value_number(other.items[0].number);
    value_free(&other);
    return left;
}

static double top_bit(const struct value *v)
{
    double top = v->kind == VALUE_NUMBER ? v->number : 0;
    for (size_t i = 0; i < v->count; i++)
        top = fmax(top, top_bit(&v->items[i]));
    return top;
}

/* Of all that the first experiment leaves, which are few. */
static int try_if_first(struct search *s, struct finding *f, struct value value)
{
    struct suspicion first = *s->suspicion;
    struct foretold now = {0};
    first.trials = u64_min(first.trials, 1);
    trying_lend(s->trying, f, value);
    const int status = suspicion_ask(s->trying, &first, &now);
    trying_return(s->trying);
    if (status == 0 && now.failed == 0)
        return try_value(s, f, value);
    value_free(&value);
    return status;
}

/* An index of which one bit is an XOR with one more, or with one less. */
static int try_masks(struct search *s, double unit)
{
    struct finding *const f =
        trying_find(s->trying, s->suspicion->component, "set_bits");
    const double top = f != NULL ? top_bit(&f->value) : 0;
    int status = 0;
    for (size_t i = 0; f != NULL && i < f->value.count; i++)
        for (double bit = log2(unit);
             status == 0 && bit <= top && !trying_late(s->trying); bit++) {
            struct value bits = value_copy(&f->value);
            value_free(&bits.items[i]);
            bits.items[i] = toggled(&f->value.items[i], bit);
            status = try_if_first(s, f, bits);
        }
    return status;
}

/* A list of sets of which one has a way more or less. */
static int try_set_ways(struct search *s, double entries)
{
    const char *const c = s->suspicion->component;
    struct finding *const f = trying_find(s->trying, c, "set_ways");
    const double off = f != NULL ? entries - sum_of(f) : 0;
    int status = 0;
    for (size_t i = 0; status == 0 && f != NULL && entries > 0 && off != 0 &&
                       i < f->value.count;
         i++) {
        struct value list = value_copy(&f->value);
        list.items[i].number += off;
        status = list.items[i].number >= 1 ? try_value(s, f, list) : 0;
    }
    return status;
}

/* What others say of the same storage. */
static int try_siblings(struct search *s)
{
    static const char *const components[] = {"l1", "texture", "readonly",
                                             "local"};
    static const char *const attributes[] = {
        "ways", "sets", "line", "size", "set_bits", "policy", "sector"};
    struct trying *const t = s->trying;
    const char *const own = s->suspicion->component;
    int status = 0;
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        const char *const c = components[i];
        if (strcmp(c, own) == 0 || strcmp(twin_storage(&t->told, c), own) != 0)
            continue;
        for (size_t k = 0;
             status == 0 && k < sizeof attributes / sizeof *attributes; k++) {
            struct finding *const f = trying_find(t, own, attributes[k]);
            const struct finding *const g = trying_find(t, c, attributes[k]);
            if (f != NULL && g != NULL)
                status = try_value(s, f, value_copy(&g->value));
        }
    }
    return status;
}

static double by(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static int try_all(struct search *s)
{
    struct trying *const t = s->trying;
    const char *const c = s->suspicion->component;
    const bool tlb = trying_tlb(c);
    const char *const unit = tlb ? "region" : "line";
    const double line = number(t, c, unit), sets = number(t, c, "sets"),
                 ways = number(t, c, "ways");
    const double lines =
        tlb ? number(t, c, "entries") : by(number(t, c, "size"), line);
    const double size = tlb ? number(t, c, "reach") : number(t, c, "size");
    const double product = places(t, c), least = sets_hold_least(t, c);
    int status = try_siblings(s);
    status = status ? status : try_numbers(s, "ways", by(lines, sets));
    status = status ? status : try_number(s, "sets", sets_by_bits(t, c));
    status = status ? status : try_numbers(s, "sets", by(lines, ways));
    status = status ? status : try_numbers(s, unit, by(size, product));
    status = status ? status : try_numbers(s, "sector", line);
    status = status ? status
                    : try_number(s, tlb ? "entries" : "size",
                                 tlb ? product : meant_size(t, c) - least);
    status = status ? status
                    : try_number(s, "size", least > 0 ? meant_size(t, c) : 0);
    status = status ? status
                    : try_number(s, "reach", number(t, c, "entries") * line);
    status = status ? status : try_number(s, "page", number(t, c, "region"));
    status = status ? status
                    : try_number(s, "slice_modulo",
                                 by(sets * number_or_one(t, c, "slice_modulo"),
                                    sets_by_bits(t, c)));
    status = status ? status : try_set_ways(s, number(t, c, "entries"));
    status = status ? status : try_policies(s);
    return status ? status : try_bits(s);
}

/* ---- who it was ------------------------------------------------------- */

static void put_value(char *text, size_t size, const struct value *v)
{
    if (v->kind == VALUE_NUMBER)
        snprintf(text, size, "%.6g", v->number);
    else if (v->kind == VALUE_TEXT)
        snprintf(text, size, "%s", v->text);
    else if (v->kind == VALUE_NONE)
        snprintf(text, size, "no such value");
    else
        snprintf(text, size, "another list");
}

/* True if laps are as foretold, over as many lines as sets have ways and over
 * one more in each (the first two of draw_trials): then lines are told apart
 * and counted right, and what is not is the order in which they go. */
static bool laps_are_right(const struct suspicion *s)
{
    enum { LAPS = 2 };
    bool right = s->trials > LAPS;
    for (size_t i = 0; right && i < LAPS; i++)
        right = !trial_fails(&s->trial[i], s->compared[i].wrong);
    return right;
}

/* An index of XORs is known among lines of one home: where the nearer part of
 * an L2 holds copies of the farther one's, these meet by bits that tell the
 * home as well, and no value of one finding says so. */
static bool copies_meet(struct trying *t, const char *component)
{
    const struct finding *const bits = trying_find(t, component, "set_bits");
    bool xors = false;
    for (size_t i = 0; bits != NULL && i < bits->value.count; i++)
        xors = xors || bits->value.items[i].kind == VALUE_LIST;
    return xors && strcmp(component, "l2") == 0 &&
           told_true(&t->told, "l2", "replicates");
}

/* Nothing else explains it: of an index that was found, that is it; or the
 * policy, where only loads in random order are not as foretold. */
static void blame_what_is_left(struct trying *t, const struct suspicion *s,
                               size_t failed)
{
    const char *const order[] = {"policy", "set_bits", "ways"};
    const char *const index[] = {"set_bits", "policy", "ways"};
    const char *const *const names = laps_are_right(s) ? order : index;
    struct finding *f = NULL;
    for (size_t i = 0; f == NULL && i < 3; i++)
        f = trying_find(t, s->component, names[i]);
    if (f == NULL)
        return;
    if (failed == 0) {
        trying_repair(t, f, value_copy(&f->value),
                      "it contradicts what else was found, and no other value "
                      "of one finding would not");
        return;
    }
    size_t worst = 0;
    for (size_t i = 1; i < s->trials; i++)
        if (s->compared[i].wrong > s->compared[worst].wrong)
            worst = i;
    char *const because = xasprintf(
        "of %zu held-out experiments %zu are not as foretold (%s: %zu of %zu "
        "loads), and no other value of one finding foretells them",
        s->trials, failed, s->trial[worst].what, s->compared[worst].wrong,
        s->trial[worst].count);
    trying_repair(t, f, value_copy(&f->value), because);
    free(because);
}

/* What an experiment loads beside its lines, as what leads the way into pages,
 * comes into other sets of a cache that all SMs share than on the twin, whose
 * addresses are others, and takes the place of one of as many lines as fit.  No
 * value foretells that: other sets are asked, and only what fails there, too,
 * is not as foretold. */
static int fails_elsewhere(struct trying *t, const struct suspicion *s,
                           size_t failed, bool *again)
{
    struct foretold now = {0};
    struct suspicion other = {.component = s->component, .subject = s->subject};
    *again = true;
    if (strcmp(s->component, "l2") != 0 || failed != 1 || trying_late(t) ||
        !suspicion_draw(t, &other))
        return 0;
    int status = 0;
    for (size_t i = 0; status == 0 && i < other.trials; i++)
        status = trial_measure(&other.trial[i], t->device, t->err);
    if (status == 0)
        status = suspicion_ask(t, &other, &now);
    *again = now.failed > 0;
    suspicion_free(&other);
    return status;
}

/* Few loads more than disturbance makes are not as foretold: by chance another
 * value may foretell them. */
static bool fails_barely(const struct suspicion *s)
{
    for (size_t i = 0; i < s->trials; i++)
        if (trial_fails(&s->trial[i], (s->compared[i].wrong + 1) / 2))
            return false;
    return true;
}

/* Then it contradicts what else was found. */
static const struct foretold all_foretold = {0};

/* What speaks against the finding, and what the value in its stead does. */
static void blame(struct search *s, const struct foretold *now)
{
    char value[64];
    put_value(value, sizeof value, &s->value);
    char *because;
    if (now->failed > 0)
        because =
            xasprintf("of %zu held-out experiments %zu are not as foretold; "
                      "with %s in its stead all are",
                      s->suspicion->trials, now->failed, value);
    else if (now->strained > 0)
        because = xasprintf(
            "of %zu held-out experiments no one state of the sets "
            "explains all loads of %zu; with %s in its stead one does",
            s->suspicion->trials, now->strained, value);
    else if (now->wrong > s->foretold.wrong)
        because = xasprintf("of held-out experiments %zu loads are not as "
                            "foretold; with %s in its stead %zu are not",
                            now->wrong, value, s->foretold.wrong);
    else
        because = xasprintf("it contradicts what else was found; %s would not, "
                            "and foretells all held-out experiments",
                            value);
    trying_repair(s->trying, s->finding, s->value, because);
    s->value = (struct value){0};
    free(because);
}

/* A size that is less than all sets hold is none that contradicts if that much
 * does not fit: some of a storage may be taken, as an H200's L1 shows.  Unless
 * by the index it would not, though nothing is taken. */
static int size_is_less(struct trying *t, const char *c, bool *is)
{
    const double product = meant_size(t, c);
    struct finding *const size = trying_find(t, c, "size");
    *is = false;
    if (trying_tlb(c) || size == NULL || size->value.number >= product)
        return 0;
    const double told = size->value.number;
    size->value.number = product;
    const bool only = consistent(t, c);
    size->value.number = told;
    bool fits = true, foretold = true;
    int status = only ? try_fits(t, c, product, &fits) : 0;
    if (status == 0 && !fits) {
        size->value.number = product;
        status = twin_fits(t, c, product, &foretold);
        size->value.number = told;
    }
    *is = !fits && foretold;
    return status;
}

int suspect_size(struct trying *t, const char *c, double *holds, bool *is)
{
    bool less = false;
    *holds = sets_hold(t, c);
    *is =
        trying_sure(t, c, "size") != NULL && !size_agrees(t, c, "size", *holds);
    const int status = *is ? size_is_less(t, c, &less) : 0;
    *is = *is && !less;
    return status;
}

/* Which of several it is; none that is left explains what was asked then. Where
 * a size may be less than all sets hold (`*less`), which was seen, it is not
 * that size, and may be nothing. */
static int choose(struct search *s, bool *less)
{
    bool decided = false;
    const struct finding *const size =
        trying_find(s->trying, s->suspicion->component, "size");
    if (s->rivals.count + *less < 2)
        return 0;
    for (size_t i = 0; *less && i < s->rivals.count; i++)
        s->rivals.at[i].out = s->rivals.at[i].finding == size;
    if (*less)
        rivals_add(&s->rivals, NULL, NULL);
    const int status =
        rivals_decide(s->trying, s->suspicion, &s->rivals, &decided);
    const struct rival *const first = rivals_first(&s->rivals);
    if (status != 0 || (!decided && !*less))
        return status;
    *less = *less && (!decided || first != NULL);
    value_free(&s->value);
    s->finding = decided && first != NULL ? first->finding : NULL;
    s->value =
        s->finding != NULL ? value_copy(&first->value) : (struct value){0};
    return 0;
}

/* Of many ways that are lost by chance one more or less is as few misses as
 * disturbance makes.  So the number of them by which the sets hold what fits is
 * likelier than that some is taken. */
static int try_ways_by_size(struct trying *t, struct suspicion *s, bool *found)
{
    const char *const c = s->component;
    const struct finding *const policy = trying_sure(t, c, "policy");
    struct search search = {.trying = t, .suspicion = s};
    *found = false;
    if (policy == NULL || policy->value.kind != VALUE_TEXT ||
        cache_policy_find(policy->value.text) != POLICY_RANDOM)
        return 0;
    const double line = number(t, c, "line"), sets = number(t, c, "sets");
    const int status =
        try_number(&search, "ways", by(number(t, c, "size"), line * sets));
    *found = status == 0 && search.rivals.count > 0;
    if (*found)
        blame(&search, &all_foretold);
    rivals_free(&search.rivals);
    value_free(&search.value);
    return status;
}

/* As the findings are now; from where they deal best, others are tried to deal
 * first. */
static int look_first(struct trying *t, struct suspicion *s,
                      struct foretold *foretold)
{
    struct dealt d = {0};
    const int status = deal(t, s, &d);
    memcpy(s->compared, d.compared, sizeof d.compared);
    *foretold = foretold_of(s, &d);
    s->dealt_from = d.from;
    s->dealt_is_known = true;
    return status;
}

/* That chance explains all is little: it foretells no more than shares. */
static bool is_explained(const struct search *s)
{
    return s->finding != NULL && s->foretold.failed == 0 &&
           !(s->value.kind == VALUE_TEXT &&
             cache_by_chance(cache_policy_find(s->value.text)));
}

/* Where lines are dealt to unequal sets, the best place for wrong values may be
 * none of the right ones'. */
static int try_all_dealt(struct search *s)
{
    const char *const c = s->suspicion->component;
    const double unit = number(s->trying, c, trying_tlb(c) ? "region" : "line");
    int status = try_all(s);
    if (status == 0 && !is_explained(s) && unit > 0 &&
        s->suspicion->trials > 0 && !laps_are_right(s->suspicion))
        status = try_masks(s, unit);
    if (status != 0 || is_explained(s) ||
        dealt_entries(s->trying, s->suspicion->component) == 0)
        return status;
    s->suspicion->dealt_is_known = false;
    return try_all(s);
}

/* All is explained well enough, but some loads are not, or only if each met
 * another state of the sets: a policy that explains these, too, is likelier. */
static int try_other_policies(struct trying *t, struct suspicion *s,
                              const struct foretold *now)
{
    enum { FEW = 2 }; /* as disturbance makes */
    struct search search = {.trying = t, .suspicion = s};
    if (now->strained == 0 && now->wrong <= FEW)
        return 0;
    const int status = try_policies(&search);
    const struct foretold *const other = &search.foretold;
    if (status == 0 && is_explained(&search) && search.consistent &&
        other->strained == 0 && other->wrong <= now->wrong &&
        (now->strained > 0 || other->wrong + FEW < now->wrong))
        blame(&search, now);
    rivals_free(&search.rivals);
    value_free(&search.value);
    return status;
}

int suspect(struct trying *t, struct suspicion *s)
{
    struct foretold now = {0};
    bool less = false, found = false;
    int status = look_first(t, s, &now);
    /* The simulated GPU cannot have that index, so another value explains what
     * it does not by chance alone. */
    if (now.failed > 0 && trying_is_of_parts(t, s->component, "set_bits"))
        return status;
    if (status == 0 && now.failed == 0 && consistent(t, s->component))
        return try_other_policies(t, s, &now);
    if (status != 0)
        return status;
    if (now.failed == 0)
        status = size_is_less(t, s->component, &less);
    /* What was asked foretells the sets, and nothing of the size. */
    if (status == 0 && less && s->trials > 0) {
        status = try_ways_by_size(t, s, &found);
        return status != 0 || found ? status : try_size(t, s->component);
    }
    if (status != 0)
        return status;
    struct search search = {.trying = t, .suspicion = s};
    status = try_all_dealt(&search);
    if (status == 0)
        status = choose(&search, &less);
    found = search.finding != NULL && search.foretold.failed == 0 &&
            (now.failed > 0 || search.consistent);
    bool again = true;
    if (status == 0 && (!found || fails_barely(s)) && !less)
        status = fails_elsewhere(t, s, now.failed, &again);
    if (status == 0 && found && again)
        blame(&search, now.failed > 0 ? &now : &all_foretold);
    else if (status == 0 && !less && again && !copies_meet(t, s->component))
        blame_what_is_left(t, s, now.failed);
    rivals_free(&search.rivals);
    value_free(&search.value);
    return status;
}
