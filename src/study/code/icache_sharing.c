/*
 * Who shares the instruction caches: constants, the warps of an SM, other SMs.
 *
 * Calls of code that takes a good part of a cache hit it.  Something else that
 * takes room in the same cache pushes it out: constants, or other code that
 * another warp calls, on this SM or on another.  All take turns.  What is
 * missed then is compared with what is missed where nobody else does anything,
 * and where the first warp calls the other code itself: if these two differ
 * little, nothing is said.  Who seems to share is asked twice.
 *
 * A cache that constants share is the constant cache behind the first one; its
 * size is then known beyond the 64 KiB of constants that a module may hold.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "finding/doubt.h"
#include "study/code/code_trace.h"
#include "study/lab.h"
#include "study/script.h"

/* Constants are too few to fill such a cache; instructions that share its
 * storage are not. */
static const struct answer proposes[] = {
    {ONE("const_l15"), "size", "B"},
    {0},
};
static const struct answer answers[] = {
    {code_components, "shares_with", ""},
    {code_components, "per_sm", ""},
    {code_components, "sms_sharing", ""},
    {0},
};

enum { CONSTANTS = 64 * 1024, WARPS = 8, GROUP = 31 };
enum { WARM = 2, LEAST = 3 };
/* A share of a hundred calls deviates by 0.05 at most.  Other code must push
 * out eight deviations more than is missed with nobody beside, so that half of
 * it, which decides, is four from either; of constants, which are fewer, two
 * do, a tenth.  Where half as much is missed with nobody beside nothing is
 * said. */
enum { ENOUGH = 100 };
static const double DEVIATION = 0.05;
static const double PUSHED_LEAST = 8 * 0.05, CALM_MOST = 4 * 0.05;
/* Where a lap tells itself what the nearer one has of it, that deviates not. */
static const double SEEN_LEAST = 4 * 0.05;

/* Functions so far apart that none comes with another, of which a cache has
 * room for more than the nearer one, and other code that alone takes more room,
 * if there are so many functions; the shares of the first that are missed with
 * nobody beside, and after the other. */
struct code_load {
    struct lab *lab;
    size_t i; /* which level … */
    const struct code_level *level;
    const char *ours;       /* who calls ours; NULL: warp 0 of SM 0 */
    uint64_t calls, others; /* functions */
    uint64_t apart;         /* B */
    double seen;            /* share of ours that the nearer one has not … */
    bool each;              /* … which each lap tells anew */
    bool whole;             /* untimed calls run through all of a function */
    double calm, pushed;
    bool *constants; /* they share a cache behind it, or this one */
};

static void add_calls(const struct code_load *l, struct script *s,
                      size_t reader, bool other, bool timed, uint64_t at)
{
    const uint64_t first = (other ? l->calls : 0) * l->apart;
    script_add(
        s, &(struct script_step){
               .reader = reader,
               .timed = timed,
               .places = {first + at, other ? l->others : l->calls, l->apart}});
}

/* Functions that are run through come last, so that the nearer cache has the
 * lines of few: those that have two halves do not end where others do. */
static void add_lap(const struct code_load *l, struct script *s, size_t reader,
                    bool other, bool timed)
{
    add_calls(l, s, reader, other, timed, CODE_TAIL);
    if (l->whole && !timed)
        add_calls(l, s, reader, other, false, CODE_TAIL - CODE_PLACE / 2);
}

/* The readers, and our code brought in. */
static struct script begin_laps(const struct code_load *l,
                                const char *const *others, size_t count)
{
    struct script s = {0};
    script_reader(&s, "%s", l->ours != NULL ? l->ours : "code");
    for (size_t i = 0; i < count; i++)
        script_reader(&s, "%s", others[i]);
    for (int lap = 0; lap < WARM; lap++)
        add_lap(l, &s, 0, false, false);
    return s;
}

/* Shares of our code: missed, and not in the nearer cache. */
struct code_missed {
    double share, seen;
};

static double share_above(const struct column *c, double limit)
{
    return (double)hits_above(c->at, c->count, limit) / (double)c->count;
}

static struct code_missed end_laps(const struct code_load *l, struct script *s)
{
    add_lap(l, s, 0, false, true);
    const struct column c =
        lab_column(l->lab, "cycles", "visit %s", script_text(s, l->lab));
    if (!lab_ok(l->lab))
        return (struct code_missed){0};
    return (struct code_missed){
        .share = share_above(&c, l->level->limit),
        .seen = l->i > 0 ? share_above(&c, l->level[-1].limit) : 1};
}

/* The same once others have called the other code; NULL: we ourselves. */
static struct code_missed missed_after(const struct code_load *l,
                                       const char *const *others, size_t count)
{
    struct script s = begin_laps(l, others, others == NULL ? 0 : count);
    for (size_t i = 0; i < count; i++)
        add_lap(l, &s, others == NULL ? 0 : 1 + i, true, false);
    return end_laps(l, &s);
}

/* How much surer (the logarithm) it is that our calls miss at one rate and not
 * at another, where that share of so many laps of them did.  Neither rate is
 * surer than one more lap might show. */
static double surer(const struct code_load *l, double one, double other,
                    double share, double laps)
{
    const double n = (double)l->calls;
    const double a = (one * n + 0.5) / (n + 1);
    const double b = (other * n + 0.5) / (n + 1);
    return laps * n *
           (share * log(a / b) + (1 - share) * log((1 - a) / (1 - b)));
}

/*
 * Whether the others push our code out as we do: half of it, but for what our
 * nearer cache may keep; of victims by chance that is more or less each time.
 * Of few calls chance may push out less than half, or more, where victims are
 * its own: unless it is surer than a thousand to one others are asked again,
 * until there were a hundred calls.
 */
static bool others_push_out(const struct code_load *l,
                            const char *const *others, size_t count)
{
    const double sure = 7;
    double sum = 0, seen = 0, share = 0, half = 0, laps = 0;
    do {
        const struct code_missed m = missed_after(l, others, count);
        sum += m.share;
        seen += l->each ? m.seen : l->seen;
        share = sum / ++laps;
        const double push = l->calm + (l->pushed - l->calm) * seen / laps;
        half = (l->calm + push) / 2;
        const double sign = share > half ? 1 : -1;
        if (sign * surer(l, push, l->calm, share, laps) >= sure)
            break;
    } while (lab_ok(l->lab) && laps * (double)l->calls < ENOUGH);
    return share > half;
}

/* One does so, and does it again. */
static bool other_pushes_out(const struct code_load *l, const char *other)
{
    return others_push_out(l, &other, 1) && lab_ok(l->lab) &&
           others_push_out(l, &other, 1);
}

/* ---- constants -------------------------------------------------------- */

static void propose_size(const struct code_load *l, const struct finding *by)
{
    const double bytes = (double)l->level->size;
    struct finding *const f = lab_finding(l->lab, "const_l15", "size");
    finding_measured(f, bytes);
    finding_interval(f, bytes, bytes, -1);
    finding_protocol(f, "filled_by",
                     value_text("instructions, which share the storage"));
    finding_cite_as(f, by);
}

/* The share that is missed after so many constants of 64 B, as many loads of
 * them however few they are: the loop that loads them is code, too. */
static double missed_after_constants(const struct code_load *l, uint64_t count)
{
    static const char *const readers[] = {"constant"};
    struct script s = begin_laps(l, readers, 1);
    script_add(&s, &(struct script_step){.reader = 1,
                                         .laps = WARM * CONSTANTS / 64 / count,
                                         .places = {0, count, 64}});
    return end_laps(l, &s).share;
}

/* Whether code of which the cache is full pushes few constants out of the first
 * cache of theirs.  Each is loaded cold, again, and again after the code: it
 * does not if less comes back than one of them costs cold. */
static bool code_spares_constants(const struct code_load *l)
{
    enum { COUNT = 16 };
    const struct segment few = {0, COUNT, 64};
    struct script s = {0};
    script_reader(&s, "code");
    const size_t constants = script_reader(&s, "constant");
    script_time(&s, constants, few);
    script_load(&s, constants, few);
    script_time(&s, constants, few);
    add_lap(l, &s, 0, false, false);
    add_lap(l, &s, 0, true, false);
    script_time(&s, constants, few);
    const struct column c =
        lab_column(l->lab, "cycles", "visit %s", script_text(&s, l->lab));
    if (!lab_ok(l->lab))
        return false;
    const double cold = stats_mean(c.at, COUNT);
    const double warm = stats_mean(c.at + COUNT, COUNT);
    const double after = stats_mean(c.at + 2 * COUNT, COUNT);
    return after - warm < (cold - warm) / (COUNT + 1);
}

/* Whether calls ask for no less than what they show of its lines.  Of longer
 * ones they bring parts, and show them all the same. */
static bool has_lines_of_nearer(const struct code_load *l)
{
    const struct finding *const line =
        results_edit(l->lab->results, code_components[l->i], "line");
    const uint64_t nearer = l->i > 0 ? l->level[-1].line : 0;
    return l->i > 0 && l->level->line == nearer &&
           (line == NULL || line->status != STATUS_MEASURED ||
            line->value.number <= (double)nearer);
}

/* Lines of which constants are asked for the halves, and other constants that
 * push them out of the first cache of theirs, but not out of this one. */
enum { PARTED = 16, OTHERS = CONSTANTS / 4 };

static void push_out_of_first(const struct code_load *l, struct script *s,
                              size_t constants)
{
    const uint64_t bytes = u64_min(OTHERS, l->level->size / 2);
    script_load(s, constants, (struct segment){OTHERS, bytes / 64, 64});
}

/* 1: of loads `step` behind each other one costs more than another at the
 * median, by what tells two levels, and by a deviation of what they differ, of
 * which that of the median is a third; -1: less; 0: neither. */
static int compare_costs(const double *one, const double *other, size_t step)
{
    double more[PARTED], costs[PARTED];
    for (size_t i = 0; i < PARTED; i++) {
        more[i] = one[i * step] - other[i * step];
        costs[i] = other[i * step];
    }
    const double median = stats_median(more, PARTED);
    const double apart = fmax(code_levels_apart * stats_median(costs, PARTED),
                              stats_mad_sigma(more, PARTED));
    return (median > apart) - (median < -apart);
}

/* Whether the others did so: what is loaded once more costs less. */
static bool leaves_first(const struct code_load *l)
{
    const uint64_t line = l->level->line;
    struct script s = {0};
    const size_t constants = script_reader(&s, "constant");
    script_load(&s, constants, (struct segment){0, PARTED, line});
    push_out_of_first(l, &s, constants);
    for (size_t i = 0; i < PARTED; i++)
        for (int times = 0; times < 2; times++)
            script_time(&s, constants, (struct segment){i * line, 1, 0});
    const struct column c =
        lab_column(l->lab, "cycles", "visit %s", script_text(&s, l->lab));
    return lab_ok(l->lab) && compare_costs(c.at, c.at + 1, 2) > 0;
}

/*
 * Calls bring whole lines of the nearer cache, so of shorter ones they say
 * nothing.  Of constants the first half of what comes with a call is loaded
 * cold after the second, and again when others pushed it out of their first
 * cache: it did not come with that if it costs more then, be it less than a
 * miss of code does, as constants may find it in a cache that code does not
 * pass.  If it costs less, their first cache brings as much at a time as calls
 * do, and nobody asks for shorter lines.
 */
enum comes { COMES_WHOLE, COMES_IN_PARTS, COMES_UNKNOWN };

static enum comes lines_come(const struct code_load *l)
{
    const uint64_t line = l->level->line;
    struct script s = {0};
    const size_t constants = script_reader(&s, "constant");
    for (size_t i = 0; i < PARTED; i++) {
        script_load(&s, constants, (struct segment){i * line + line / 2, 1, 0});
        script_time(&s, constants, (struct segment){i * line, 1, 0});
    }
    push_out_of_first(l, &s, constants);
    script_time(&s, constants, (struct segment){0, PARTED, line});
    const struct column c =
        lab_column(l->lab, "cycles", "visit %s", script_text(&s, l->lab));
    if (!lab_ok(l->lab))
        return COMES_UNKNOWN;
    const int more = compare_costs(c.at, c.at + PARTED, 1);
    return more == 0                     ? COMES_WHOLE
           : more > 0 && leaves_first(l) ? COMES_IN_PARTS
                                         : COMES_UNKNOWN;
}

/* Of shorter lines that come at once there are as many more in one set, or in
 * several. */
static void bound(const struct code_load *l, const char *attribute,
                  enum finding_status status, const char *why)
{
    struct finding *const f =
        results_edit(l->lab->results, code_components[l->i], attribute);
    if (f == NULL || f->status != STATUS_MEASURED)
        return;
    finding_value(f, status, value_number(f->value.number));
    f->has_interval = false;
    finding_because(f, "%s", why);
}

static void void_one(const struct code_load *l, const char *attribute,
                     const char *why)
{
    struct finding *const f =
        results_edit(l->lab->results, code_components[l->i], attribute);
    if (f != NULL)
        finding_void(f, why);
}

/* Of those chance puts each out by itself: a call hits while all are there,
 * which is not what ways that weigh alike do to one, nor what others do; and so
 * the sets that foretell it may be any, and of how many ways they are. */
static void void_chance(const struct code_load *l, const char *why)
{
    const struct finding *const policy =
        results_edit(l->lab->results, code_components[l->i], "policy");
    if (!l->level->chance)
        return;
    if (policy != NULL && policy->status == STATUS_MEASURED)
        void_one(l, "policy", why);
    void_one(l, "ways", why);
}

/* If lines are shorter neither they nor sets are what calls show, and ways and
 * size are but bounds, since a set may hold a part of one more call; if they
 * may be, all are bounds, but for ways of chance.  True: they are not. */
static bool judge_lines(const struct code_load *l)
{
    const char *const component = code_components[l->i];
    const char *why = why_code_shorter;
    if (!has_lines_of_nearer(l))
        return true;
    const enum comes comes = lines_come(l);
    if (!lab_ok(l->lab) || comes == COMES_WHOLE)
        return lab_ok(l->lab);
    if (comes == COMES_IN_PARTS) {
        void_one(l, "line", why);
        void_one(l, "sets", why);
    } else {
        why = lab_text(l->lab, why_least_asked, component);
        bound(l, "line", STATUS_AT_MOST, why);
        bound(l, "sets", STATUS_AT_LEAST, why);
    }
    void_chance(l, why);
    bound(l, "ways", STATUS_AT_LEAST, why);
    bound(l, "size", STATUS_AT_LEAST, why);
    return false;
}

/* Whether they push code out, a tenth at least, and what is missed without.  Of
 * few calls one that chance puts out is as much: such are asked again, until
 * there were a hundred. */
static bool constants_push_out(const struct code_load *l, double *calm)
{
    double without = 0, with = 0, laps = 0;
    bool more;
    do {
        without += missed_after_constants(l, 1);
        with += missed_after_constants(l, CONSTANTS / 64);
        laps++;
        more = with > without + 2 * DEVIATION * laps;
    } while (lab_ok(l->lab) && more && laps * (double)l->calls < ENOUGH);
    *calm = without / laps;
    return more;
}

/* Where nothing else is asked, as the nearer cache holds most of the code:
 * constants that push out some of the rest are in this cache, too, and may be
 * where so much is missed that nobody can say. */
static void doubt_lines(const struct code_load *l)
{
    double calm;
    if (has_lines_of_nearer(l) &&
        (constants_push_out(l, &calm) || calm > CALM_MOST))
        judge_lines(l);
    lab_excuse(l->lab);
}

/* Constants are fewer than the other code, and push out as much more than one
 * does as they take room that there is not, a tenth at least.  Of several
 * caches that they push code out of the farthest is the one behind the first of
 * constants.  A nearer one is none of theirs if they push code out of it and it
 * does not push them out of their first: something else empties it then. */
static void ask_constants(const struct code_load *l, struct finding *f)
{
    const uint64_t room = l->level->size;
    const uint64_t bytes = room > CONSTANTS / 2 ? room - CONSTANTS / 2 : 0;
    struct code_load more = *l;
    more.calls = u64_max(l->calls, bytes / l->apart);
    double calm;
    bool shared = constants_push_out(&more, &calm);
    if (shared && *l->constants && calm <= CALM_MOST)
        shared = !code_spares_constants(l);
    if (!lab_ok(l->lab))
        return;
    if (calm > CALM_MOST || (shared && *l->constants)) {
        finding_none(f, calm > CALM_MOST ? why_code_constants
                                         : why_code_constants_twice);
        judge_lines(l);
        return;
    }
    *l->constants = *l->constants || shared;
    struct value list = value_list();
    if (shared)
        value_push(&list, value_text("const_l15"));
    finding_value(f, STATUS_MEASURED, list);
    if (shared && judge_lines(l) && l->level->exact &&
        l->level->size > CONSTANTS)
        propose_size(l, f);
}

/* ---- warps ------------------------------------------------------------ */

/* Of victims that are picked by chance enough may stay for once.  Where the
 * first warp that disturbs is the only one within those that are asked, one at
 * a part of its distance may have been such: it is asked again. */
static bool is_first(const struct code_load *l, unsigned first)
{
    enum { AGAIN = 3 };
    for (unsigned warp = 1; 2 * first > WARPS && warp < first; warp++)
        for (int i = 0; first % warp == 0 && i < AGAIN; i++)
            if (other_pushes_out(l, lab_text(l->lab, "code@%u", warp)))
                return false;
    return true;
}

/* Copies by the warps that use them, as they appear; -1: not known. */
struct code_copies {
    unsigned warps, count;
    int of[WARPS + 1];
};

static bool warp_pushes_out(const struct code_load *l, unsigned ours,
                            unsigned warp)
{
    struct code_load of_ours = *l;
    of_ours.ours = ours > 0 ? lab_text(l->lab, "code@%u", ours) : NULL;
    return other_pushes_out(&of_ours, lab_text(l->lab, "code@%u", warp));
}

/* Gives a copy to the warp and to later ones that disturb it; false if there
 * are none. */
static bool begin_copy(const struct code_load *l, struct code_copies *c,
                       unsigned ours)
{
    unsigned users = 1;
    c->of[ours] = (int)c->count;
    for (unsigned warp = ours + 1; lab_ok(l->lab) && warp < c->warps; warp++)
        if (c->of[warp] < 0 && warp_pushes_out(l, ours, warp)) {
            c->of[warp] = (int)c->count;
            users++;
        }
    c->count++;
    return users > 1;
}

/* Warps that use one copy are so far apart: those that disturb warp 0 are the
 * first that does, and all at a multiple of it; 0: it is not so. */
static unsigned distance_of(const struct code_load *l,
                            const struct code_copies *c)
{
    unsigned first = 1;
    while (first < c->warps && c->of[first] != 0)
        first++;
    for (unsigned warp = 1; warp < c->warps; warp++)
        if ((c->of[warp] == 0) != (warp % first == 0))
            return 0;
    return first < c->warps && is_first(l, first) ? first : 0;
}

/* As the first warp of a copy does not disturb those of copies before, these do
 * not disturb it. */
static bool is_apart(const struct code_load *l, const struct code_copies *c,
                     unsigned first)
{
    int before = 0;
    for (unsigned warp = 0; warp < first; warp++)
        if (c->of[warp] == before) {
            if (warp_pushes_out(l, first, warp))
                return false;
            before++;
        }
    return true;
}

/* Where they lie at no such distance, as where schedulers take turns at fewer
 * copies, each warp that disturbs none before it begins a copy.  What chance
 * left in its place for once begins none: several warps use each.  0: it cannot
 * be told. */
static unsigned count_copies(const struct code_load *l, struct code_copies *c)
{
    for (unsigned warp = 1; lab_ok(l->lab) && warp < c->warps; warp++)
        if (c->of[warp] < 0 &&
            (!begin_copy(l, c, warp) || !is_apart(l, c, warp)))
            return 0;
    return c->count;
}

static void ask_warps(const struct code_load *l, struct finding *f)
{
    struct code_copies c = {.warps = lab_warps(l->lab, WARPS + 1)};
    memset(c.of, -1, sizeof c.of);
    const bool several = begin_copy(l, &c, 0);
    unsigned copies = lab_ok(l->lab) ? distance_of(l, &c) : 0;
    if (lab_ok(l->lab) && copies == 0 && several)
        copies = count_copies(l, &c);
    if (!lab_ok(l->lab))
        return;
    if (copies > 0)
        finding_measured(f, copies);
    else
        finding_none(f, why_code_warps, WARPS);
}

/* ---- SMs -------------------------------------------------------------- */

/* How many of some SMs push our code out: those of a group in which all
 * together do.  Of a few that do not among many that do some did not by chance:
 * they are asked again. */
static uint64_t sharing_among(const struct code_load *l, uint64_t from,
                              uint64_t to)
{
    const char *others[GROUP] = {0};
    bool shares[GROUP] = {0};
    const uint64_t count = to - from;
    uint64_t sharing = 0;
    for (uint64_t i = 0; i < count; i++)
        others[i] = lab_text(l->lab, "code@0.%" PRIu64, from + i);
    if (!others_push_out(l, others, count))
        return 0;
    for (uint64_t i = 0; lab_ok(l->lab) && i < count; i++)
        sharing += shares[i] = other_pushes_out(l, others[i]);
    const bool most = 2 * sharing > count;
    for (uint64_t i = 0; lab_ok(l->lab) && most && i < count; i++)
        sharing += !shares[i] && other_pushes_out(l, others[i]);
    return sharing;
}

static void ask_sms(const struct code_load *l, struct finding *f)
{
    const uint64_t sms = lab_sms(l->lab);
    uint64_t sharing = 1;
    for (uint64_t sm = 1; lab_ok(l->lab) && sm < sms; sm += GROUP)
        sharing += sharing_among(l, sm, u64_min(sm + GROUP, sms));
    if (lab_ok(l->lab))
        finding_measured(f, (double)sharing);
}

/* ---- the study -------------------------------------------------------- */

/* Of functions so far apart a level has room for as many as bring so many
 * bytes, if they are of all sets alike. */
static uint64_t holds(const struct code_level *level)
{
    return level->line == 0 ? 0 : level->size / level->reach;
}

static bool is_between(const struct code_load *l, uint64_t nearer)
{
    return l->calls > nearer + nearer / 8 && l->calls >= LEAST &&
           l->calls < CODE_POOL / l->apart / 2;
}

/* False if no number lies well between those of the two caches: beyond the
 * nearer one by an eighth, so that what it holds is a small part of the code.
 */
static bool load_for(struct lab *lab, size_t i, struct code_load *l)
{
    const struct code_level *const level = &fact_code(lab)->level[i];
    /* Of a bound more here, too: what the nearer one keeps does not show. */
    const uint64_t nearer =
        i > 0 ? holds(&level[-1]) * (level[-1].exact ? 1 : 2) : 0;
    *l = (struct code_load){.lab = lab, .i = i, .level = level};
    l->apart = (level->reach + CODE_PLACE - 1) / CODE_PLACE * CODE_PLACE;
    const uint64_t room = level->size / l->apart, pool = CODE_POOL / l->apart;
    l->calls = u64_min(u64_max((nearer + room) / 2, nearer / 2 * 3),
                       u64_max(room * 7 / 8, 1));
    /* Of a bound more, since there may be more room. */
    l->others = u64_min(holds(level) * (level->exact ? 1 : 3), pool - l->calls);
    l->seen = 1 - (double)nearer / (double)l->calls;
    l->each = i > 0 && !level[-1].exact;
    return is_between(l, nearer);
}

/* True if other code makes a difference, even to what the nearer one has not,
 * where each lap tells that. */
static bool can_tell(struct code_load *l)
{
    const struct code_missed calm = missed_after(l, NULL, 0);
    l->calm = calm.share;
    l->seen = l->each ? calm.seen : l->seen;
    l->pushed = missed_after(l, NULL, 1).share;
    return l->calm < CALM_MOST && l->pushed > l->calm + PUSHED_LEAST &&
           (!l->each || (l->pushed - l->calm) * l->seen > SEEN_LEAST);
}

/* The same of the likeliest cache, and of those sets that functions come to
 * which bring a line each. */
static uint64_t holds_about(const struct code_level *level, uint64_t apart)
{
    const uint64_t bytes = u64_max(level->about, level->size);
    if (level->line == 0)
        return 0;
    return level->reach == level->line && level->sets > 0
               ? bytes / level->line / u64_gcd(level->sets, apart / level->line)
               : bytes / level->reach;
}

/* Where bounds leave no number between two caches, or a wrong one, the middle
 * of what they hold if they are the likeliest.  What the nearer one has is seen
 * by what our calls cost; what is pushed out of the rest must do, and that we
 * miss little by ourselves shows that this one has it. */
static bool can_tell_about(struct code_load *l)
{
    const uint64_t pool = CODE_POOL / l->apart;
    const uint64_t room = holds_about(l->level, l->apart);
    const uint64_t nearer = l->i > 0 ? holds_about(&l->level[-1], l->apart) : 0;
    l->calls = u64_max((nearer + room) / 2, 1);
    l->others = u64_min(2 * room, pool - u64_min(pool, l->calls));
    l->each = true;
    return is_between(l, nearer) && l->others >= room && can_tell(l);
}

/*
 * A nearer cache of shorter lines than functions are has room for half as many,
 * or fewer, of those that are run through, where this one has room for as many
 * as before: of longer lines, and of sets that ends alone do not come to.
 */
static bool can_tell_whole(struct code_load *l)
{
    struct code_load whole = *l;
    if (l->i == 0 || l->level[-1].line == 0 || l->level[-1].line >= CODE_PLACE)
        return false;
    const uint64_t room = l->level->size / l->apart;
    const uint64_t nearer = l->level[-1].size / CODE_PLACE;
    whole.calls = (nearer + room) / 2;
    whole.others =
        u64_min(2 * room, CODE_POOL / l->apart -
                              u64_min(CODE_POOL / l->apart, whole.calls));
    whole.each = whole.whole = true;
    if (!is_between(&whole, nearer) || !can_tell(&whole))
        return false;
    *l = whole;
    return true;
}

/* What is asked of each cache, in the order of the answers. */
static void (*const questions[])(const struct code_load *, struct finding *) = {
    ask_constants, ask_warps, ask_sms};

static void icache_sharing_ask_level(struct lab *lab, size_t i, bool *constants)
{
    struct code_load l;
    const bool known = fact_code(lab)->level[i].size > 0;
    const bool fits = known && load_for(lab, i, &l);
    const bool tells = (fits && can_tell(&l)) ||
                       (known && lab_ok(lab) && can_tell_about(&l)) ||
                       (known && lab_ok(lab) && can_tell_whole(&l));
    if (!lab_ok(lab))
        return;
    if (!tells && known)
        doubt_lines(&l);
    if (!tells) {
        lab_refuse(lab, lab_text(lab, "%s.*", code_components[i]), "%s",
                   !known ? lab_why_unknown(lab, code_components[i], "size")
                   : fits ? why_code_pushed
                          : why_code_little_more);
        return;
    }
    l.constants = constants;
    for (size_t k = 0; lab_ok(lab) && k < COUNT_OF(questions); k++) {
        struct finding *const f =
            lab_finding(lab, code_components[i], answers[k].attribute);
        lab_cite(lab, f);
        questions[k](&l, f);
        lab_uncite(lab);
        const char *const why = lab_excuse(lab);
        if (why != NULL)
            finding_none(f, "%s", why);
    }
}

static void icache_sharing_run(struct lab *lab)
{
    bool constants = false;
    for (size_t i = fact_code(lab)->count; i-- > 0;)
        icache_sharing_ask_level(lab, i, &constants);
    for (size_t i = u64_max(fact_code(lab)->count, 1); i < CODE_LEVELS_MAX; i++)
        for (const struct answer *a = answers; a->attribute != NULL; a++)
            lab_absent(lab, code_components[i], a->attribute);
    if (fact_code(lab)->count == 0)
        lab_leave_open(lab,
                       fact_code(lab)->why != NULL
                           ? fact_code(lab)->why
                           : lab_why_unknown(lab, code_components[0], "size"));
}

const struct study study_icache_sharing = {
    .name = "icache_sharing",
    .question = "Who shares the instruction caches?",
    .method =
        "Calls of code that takes a good part of a cache, after something "
        "else took room, which is to miss as if we had called that: "
        "constants, another warp's code, other SMs'.",
    .reads = FACTS(FACT_CODE),
    .answers = answers,
    .proposes = proposes,
    .run = icache_sharing_run,
};
