/*
 * Whether a shared cache is in two partitions, which address bits tell a line's
 * home, which SMs are beside which, and whether what lies far is kept near.
 *
 * Whether lines that were just written are still in L2 no one promises (on an
 * H200 some are and some are not), and what is brought from memory costs more
 * than any difference of sides.  So lines are timed in states that are certain:
 * missing in L2, since much other memory was swept; warm, after laps that bring
 * near what can be brought near; and at their homes, where atomics are done.
 *
 * Where lines cost one of two values, and the XOR of some address bits says
 * which, those may still be slices of one cache at different distances.  So it
 * counts as two sides only if for some SMs the same bits make the other lines
 * the near ones.
 *
 * Addresses of the program are those of the memory within a page of 2 MiB and
 * no farther: the bits below are looked at, and each page has a state of its
 * own.  So where SMs are compared they load lines of one page.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/hits.h"
#include "analysis/statistics/otsu.h"
#include "analysis/statistics/stats.h"
#include "analysis/statistics/two_sided.h"
#include "analysis/statistics/xor_bits.h"
#include "base/num.h"
#include "base/text.h"
#include "probe/walk/ring.h"
#include "study/assume.h"
#include "study/l2/homes.h"
#include "study/script.h"

/* What growing rings show of the parts, single lines show better. */
static const struct answer proposes[] = {
    {ONE("l2"), "parts", ""},
    {0},
};
static const struct answer answers[] = {
    {ONE("l2"), "near_latency", "cycles"},
    {ONE("l2"), "far_latency", "cycles"},
    {ONE("l2"), "near_miss_latency", "cycles"},
    {ONE("l2"), "far_miss_latency", "cycles"},
    {ONE("l2"), "replicates", ""},
    {ONE("l2"), "side_bits", ""},
    {ONE("l2"), "sm_sides", ""},
    {0},
};

enum { PAGE_BITS = HOMES_PAGE_BITS, PAGES = 2, LINES = 768, LAPS = 2 };
#define PAGE HOMES_PAGE
/* Lines that each SM loads, and least of them of each home. */
enum { LINES_OF_SM = 64, LINES_LEAST = 16 };
/* SMs of a script beside SM 0; scripts that an unclear SM is asked in. */
enum { SMS_AT_ONCE = 31, TRIES = 3 };
/* Each of these blocks has one line loaded before others are timed, which
 * brings in the translation. */
enum { LEAD_BYTES = 65536 };
/* Sizes of the cache that are swept, so that nothing is left of what was in
 * it: of the far half, too, which only what has its home there goes to; and
 * where lines stay that were hit before, as samples of rings have shown, or as
 * what should be missing does. */
enum { FLUSH_SIZES = 4, FLUSH_SIZES_SAMPLED = 12 };
/* The chance that a far line costs more than a near one, midway from even to
 * sure; and how many standard errors it must be from even for an SM to be told:
 * chance goes so far for one SM of a thousand. */
static const double chance_least = 0.75, errors_least = 3.3;
/* 1.96 standard errors hold LAB_CONFIDENCE_PERCENT. */
static const double errors_held = 1.96;
/* Standard deviations from the median beyond which a load had to wait: of 768
 * lines chance puts none so far (0.05). */
static const double tail_from = 4;

static bool is_apart(const struct two_sided *h)
{
    return two_sided_apart(h, assume(ASSUME_SIDES_AGREE));
}

static bool is_clear(const struct two_sided *h)
{
    return two_sided_clear(h, assume(ASSUME_SIDES_AGREE));
}

static bool is_hinted(const struct two_sided *h)
{
    return two_sided_hinted(h, assume(ASSUME_SIDES_HINT));
}

/* Single loads, less what timing adds. */
struct lines {
    uint64_t *address; /* counted from the first of the pages */
    double *cycles;
    size_t count;
    const char *experiment;
    struct two_sided halves;
    bool *far; /* of the half that costs more, by the bits */
};

/* What is known of the level. */
struct l2_sides {
    struct lab *lab;
    const struct level_row *row;
    const struct fact_bracket *facts;
    uint64_t line;
    struct lines warm, missing, home;
    uint64_t bits; /* 0: none tell */
    double apart;  /* what far lines cost more where the bits were found */
    size_t sms, same, other;
    signed char *side; /* of each SM: 0 as the first, 1 the other, -1 unclear */
    const char *seen_by_all; /* an experiment with several SMs */
};

/* The loads of an experiment, or those of them that are wanted. */
static struct lines lines_of(struct lab *lab, const struct samples *samples,
                             bool (*wanted)(const struct samples *, size_t row))
{
    const struct column offset = lab_column_of(lab, samples, "offset");
    const struct column cycles = lab_column_of(lab, samples, "cycles");
    struct lines l = {.address =
                          lab_alloc(lab, offset.count, sizeof *l.address),
                      .cycles = lab_alloc(lab, offset.count, sizeof *l.cycles),
                      .far = lab_alloc(lab, offset.count, sizeof *l.far),
                      .experiment = offset.experiment};
    for (size_t row = 0; row < offset.count; row++) {
        if (wanted != NULL && !wanted(samples, row))
            continue;
        l.address[l.count] = (uint64_t)offset.at[row];
        l.cycles[l.count++] = cycles.at[row] - fact_trace(lab)->cycles;
    }
    return l;
}

static struct two_sided_samples samples_of(const struct lines *l)
{
    return (struct two_sided_samples){l->address, l->cycles, l->count};
}

/* ---- where lines are taken -------------------------------------------- */

/* Pages in the ring's buffer: those in which SMs are asked, those of lines at
 * home, those that are traced.  All are there before the cache is emptied, and
 * none is used twice after that. */
static uint64_t pages_of_sms(const struct l2_sides *s)
{
    return TRIES * ((s->sms + SMS_AT_ONCE - 1) / SMS_AT_ONCE);
}

static uint64_t page_of_home(const struct l2_sides *s)
{
    return pages_of_sms(s) * PAGE;
}

static uint64_t traced_page(const struct l2_sides *s)
{
    return page_of_home(s) + PAGES * PAGE;
}

/* ---- from one SM ------------------------------------------------------ */

/* A load of a trace that does not pay for the translation. */
static bool is_line(const struct samples *s, size_t row)
{
    const int64_t offset = samples_at(s, row, samples_column(s, "offset"));
    return samples_at(s, row, samples_column(s, "visit")) >= 0 &&
           (offset & RING_LEAD_OFFSET) == 0;
}

/* So many lines of two pages after so many laps, or `flush` bytes of other
 * memory. */
static struct lines trace_lines(struct l2_sides *s, uint64_t lines, int laps,
                                uint64_t flush,
                                char experiment[FACT_EXPERIMENT])
{
    const char *const text =
        lab_text(s->lab,
                 "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                 " order=random window=%d sample=%" PRIu64
                 " lead=%d warm=%d flush=%" PRIu64 " shift=%" PRIu64,
                 s->row->load, PAGES * PAGE, s->line, LEAD_BYTES, lines,
                 LEAD_BYTES, laps, flush, traced_page(s));
    snprintf(experiment, FACT_EXPERIMENT, "%s", text);
    const struct samples *const t = lab_probe(s->lab, "%s", text);
    struct lines l = lines_of(s->lab, t, is_line);
    const struct two_sided_samples samples = samples_of(&l);
    if (lab_ok(s->lab))
        two_sided_find(&samples, (unsigned)__builtin_ctzll(s->line), PAGE_BITS,
                       &l.halves);
    return l;
}

/* Takes the bits that explain what was seen; none if there are two answers. */
static void take_bits(struct l2_sides *s)
{
    const struct two_sided *const warm = &s->warm.halves;
    const struct two_sided *const missing = &s->missing.halves;
    const struct two_sided *const best = is_clear(missing) ? missing : warm;
    if (!is_clear(best) || (is_clear(warm) && warm->bits != best->bits))
        return;
    s->bits = best->bits;
    s->apart = best->far - best->near;
}

/* What the halves cost by these bits. */
static void split_by_bits(const struct l2_sides *s, struct lines *l)
{
    const struct two_sided_samples samples = samples_of(l);
    const double next = l->halves.next;
    two_sided_of_bits(&samples, PAGE_BITS, s->bits, &l->halves, l->far);
    l->halves.next = next;
}

/* ---- from all SMs ----------------------------------------------------- */

/* A script: SM 0 and others load lines of one page, each its own. */
struct batch {
    size_t sm[SMS_AT_ONCE + 1];
    size_t count;
};

/* Next to SM 0, the SMs from *next on that have not been told yet. */
static void next_batch(const struct l2_sides *s, size_t *next, struct batch *b)
{
    *b = (struct batch){.count = 1};
    for (; *next < s->sms && b->count <= SMS_AT_ONCE; (*next)++)
        if (s->side[*next] < 0)
            b->sm[b->count++] = *next;
}

/* Those lines of a page that pay for the translation of its blocks. */
static struct segment leads_of(uint64_t page, uint64_t bytes)
{
    return (struct segment){page, bytes / LEAD_BYTES, LEAD_BYTES};
}

static const char *script_of(const struct l2_sides *s, const struct batch *b,
                             uint64_t page)
{
    struct script script = {0};
    const uint64_t step = homes_step(s->line, s->bits, PAGE, LINES_OF_SM);
    for (size_t i = 0; i < b->count; i++)
        script_reader(&script, "global.cg@0.%zu", b->sm[i]);
    for (size_t i = 0; i < b->count; i++) {
        const uint64_t first = page + (i + 1) * s->line;
        script_load(&script, i, leads_of(page, PAGE));
        script_time(&script, i, (struct segment){first, LINES_OF_SM, step});
    }
    return script_text(&script, s->lab);
}

/* How the lines of one reader say that the odd ones are far, or the even. */
static void vote_of(const struct l2_sides *s, const struct samples *v,
                    size_t reader, struct two_sided_vote *vote)
{
    const size_t who = samples_column(v, "reader");
    const size_t offset = samples_column(v, "offset");
    const size_t cost = samples_column(v, "cycles");
    double cycles[LINES_OF_SM];
    bool odd[LINES_OF_SM];
    size_t count = 0;
    for (size_t row = 0; row < v->rows && count < LINES_OF_SM; row++) {
        if ((size_t)samples_at(v, row, who) != reader)
            continue;
        cycles[count] = (double)samples_at(v, row, cost);
        odd[count++] =
            xor_bits_of((uint64_t)samples_at(v, row, offset), s->bits);
    }
    two_sided_vote(cycles, odd, count, vote);
}

/* 1: the odd lines are far, 0: the even ones, -1: it is not clear.  Far lines
 * that were found after all may cost less than near ones that were not, but
 * then the difference is another one than SM 0 saw. */
static signed char verdict(const struct l2_sides *s,
                           const struct two_sided_vote *v)
{
    if (v->count[0] < LINES_LEAST || v->count[1] < LINES_LEAST ||
        fabs(v->errors) < errors_least ||
        fabs(v->chance - 0.5) < chance_least - 0.5 ||
        fabs(v->more) < assume(ASSUME_SIDE_LEAST) * s->apart ||
        fabs(v->more) > assume(ASSUME_SIDE_MOST) * s->apart)
        return -1;
    return v->errors > 0;
}

static void count_votes(struct l2_sides *s, const struct batch *b,
                        const struct samples *v)
{
    struct two_sided_vote vote;
    vote_of(s, v, 0, &vote);
    const signed char first = verdict(s, &vote);
    if (first < 0)
        return;
    for (size_t i = 1; i < b->count; i++) {
        vote_of(s, v, i, &vote);
        const signed char said = verdict(s, &vote);
        if (said < 0)
            continue;
        s->side[b->sm[i]] = said != first;
        s->same += said == first;
        s->other += said != first;
    }
}

static void ask_batch(struct l2_sides *s, const struct batch *b, uint64_t page)
{
    const struct samples *const v =
        lab_probe(s->lab, "visit %s", script_of(s, b, page));
    if (!lab_ok(s->lab))
        return;
    count_votes(s, b, v);
    if (s->seen_by_all == NULL)
        s->seen_by_all = v->experiment;
}

/* Every SM loads lines that are missing, and once more if it was not clear. */
static void ask_all_sms(struct l2_sides *s)
{
    uint64_t page = 0;
    for (size_t sm = 1; sm < s->sms; sm++)
        s->side[sm] = -1;
    s->same = 1;
    for (int t = 0; t < TRIES; t++)
        for (size_t next = 1; next < s->sms; page += PAGE) {
            struct batch b;
            next_batch(s, &next, &b);
            if (b.count > 1)
                ask_batch(s, &b, page);
        }
}

static size_t unclear_sms(const struct l2_sides *s)
{
    return s->sms - s->same - s->other;
}

/* ---- at home ---------------------------------------------------------- */

/* So few of a small cache that no set has too many, be they spread unevenly: an
 * eighth of what it holds. */
static uint64_t few_lines(const struct l2_sides *s)
{
    return u64_within(2 * LINES_LEAST, s->facts->fits / s->line / 8, LINES);
}

/* What a script adds to a load more than a trace: by a few lines that are
 * warm. */
static double script_overhead(struct l2_sides *s)
{
    enum { COUNT = 8, LAPS_WARM = 4, LAPS_TIMED = 32 };
    const struct column visit =
        lab_column(s->lab, "cycles",
                   "visit readers=global.cg steps=%dx0:%d:%" PRIu64
                   ",%dx!0:%d:%" PRIu64,
                   LAPS_WARM, COUNT, s->line, LAPS_TIMED, COUNT, s->line);
    const struct column trace =
        lab_column(s->lab, "cycles",
                   "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                   " warm=%d visits=%d",
                   s->row->load, COUNT * s->line, s->line, LAPS_WARM,
                   LAPS_TIMED * COUNT);
    return lab_ok(s->lab) ? stats_median(visit.at, visit.count) -
                                stats_median(trace.at, trace.count)
                          : 0;
}

/* SM 0 finds what atomics have brought twice, so that it stays: at home, beside
 * itself or beside the others, and no copies of what is far. */
static void look_at_homes(struct l2_sides *s)
{
    struct script script = {0};
    const uint64_t page = page_of_home(s);
    const double more = script_overhead(s);
    const uint64_t count = few_lines(s);
    /* As close together as those of a large one, for the TLB's sake. */
    const uint64_t bytes = PAGES * PAGE / LINES * count;
    const struct segment lines = {page + s->line, count,
                                  homes_step(s->line, s->bits, bytes, count)};
    const size_t home = script_reader(&script, "atomic@0.0");
    const size_t near = script_reader(&script, "global.cg@0.0");
    script_load(&script, home, lines);
    script_load(&script, home, lines);
    script_load(&script, near,
                leads_of(page, (bytes + LEAD_BYTES - 1) / LEAD_BYTES *
                                   LEAD_BYTES));
    script_time(&script, near, lines);
    s->home = lines_of(
        s->lab, lab_probe(s->lab, "visit %s", script_text(&script, s->lab)),
        NULL);
    for (size_t i = 0; i < s->home.count; i++)
        s->home.cycles[i] -= more;
    if (lab_ok(s->lab))
        split_by_bits(s, &s->home);
}

/* ---- what is reported ------------------------------------------------- */

static struct finding *finding_of(struct l2_sides *s, const char *attribute,
                                  const struct lines *by)
{
    struct finding *const f = lab_finding(s->lab, s->row->component, attribute);
    finding_cite(f, by->experiment);
    return f;
}

/* The cycles of one half without those that had to wait. */
static struct column half_of(struct lab *lab, const struct lines *l, bool far)
{
    struct column c = {.at = lab_alloc(lab, l->count, sizeof *c.at)};
    for (size_t i = 0; i < l->count; i++)
        if (l->far[i] == far)
            c.at[c.count++] = l->cycles[i];
    const double middle = stats_median(c.at, c.count);
    /* The clock's step counts where samples do not spread at all. */
    const double off = tail_from * fmax(stats_mad_sigma(c.at, c.count), 1);
    size_t kept = 0;
    for (size_t i = 0; i < c.count; i++)
        if (fabs(c.at[i] - middle) <= off)
            c.at[kept++] = c.at[i];
    c.count = kept;
    return c;
}

static void report_latency(struct l2_sides *s, const char *attribute,
                           const struct lines *l, bool far, const char *state)
{
    struct finding *const f = finding_of(s, attribute, l);
    if (!is_apart(&l->halves)) {
        finding_none(f, why_not_two_values, state);
        return;
    }
    const struct column c = half_of(s->lab, l, far);
    const double mean = stats_mean(c.at, c.count);
    const double error =
        errors_held * stats_mad_sigma(c.at, c.count) / sqrt((double)c.count);
    finding_measured(f, mean);
    finding_interval(f, mean - error, mean + error,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_protocol(f, "load", value_text(s->row->words));
    finding_protocol(f, "lines", value_text(state));
    finding_protocol(f, "timer",
                     value_text("around each load, less what that adds"));
    finding_protocol(f, "sm", value_number(0));
    finding_protocol(f, "agrees", value_number(l->halves.agrees));
}

static void report_latencies(struct l2_sides *s)
{
    static const char at_home[] = "at their homes";
    static const char missing[] = "that L2 does not hold";
    report_latency(s, "near_latency", &s->home, false, at_home);
    report_latency(s, "far_latency", &s->home, true, at_home);
    report_latency(s, "near_miss_latency", &s->missing, false, missing);
    report_latency(s, "far_miss_latency", &s->missing, true, missing);
}

/* What far lines cost more when they are warm: nothing, or as much as when they
 * are not, or what no copies explain. */
static void report_replicates(struct l2_sides *s)
{
    /* Of as many a small one may have no room for copies. */
    char experiment[FACT_EXPERIMENT];
    const uint64_t lines = few_lines(s);
    if (lines < LINES)
        s->warm = trace_lines(s, lines, LAPS, 0, experiment);
    if (!lab_ok(s->lab))
        return;
    struct finding *const f = finding_of(s, "replicates", &s->warm);
    const struct two_sided *const cold =
        is_apart(&s->home.halves) ? &s->home.halves : &s->missing.halves;
    split_by_bits(s, &s->warm);
    const double more =
        (s->warm.halves.far - s->warm.halves.near) / (cold->far - cold->near);
    /* Nothing or all of it is expected: what is nearer to either is that one,
     * and what is nearer to the middle is left open. */
    struct fact_sides *const facts = fact_sides_write(s->lab);
    facts->far_stays = more >= 0.5;
    if (facts->far_stays)
        facts->far = s->warm.halves.far - s->warm.halves.near;
    else
        facts->copied = cold->far - cold->near;
    if (more > 0.25 && more < 0.75) /* nearer to the middle */
        finding_none(f, why_far_between, 100 * more);
    else
        finding_value(f, STATUS_MEASURED, value_bool(!facts->far_stays));
    finding_protocol(f, "laps", value_number(LAPS));
    finding_protocol(f, "near", value_number(s->warm.halves.near));
    finding_protocol(f, "far", value_number(s->warm.halves.far));
}

static void report_bits(struct l2_sides *s)
{
    const bool missing = is_clear(&s->missing.halves);
    const struct lines *const by = missing ? &s->missing : &s->warm;
    struct finding *const f = finding_of(s, "side_bits", by);
    finding_value(f, STATUS_MEASURED, value_bits(s->bits));
    finding_protocol(f, "within", value_text("pages of 2 MiB"));
    finding_protocol(f, "lines",
                     value_text(missing ? "that L2 does not hold" : "warm"));
    finding_protocol(f, "agrees", value_number(by->halves.agrees));
    finding_protocol(f, "next_best", value_number(by->halves.next));
}

/* "0-3,8" */
static const char *numbers_of(const struct l2_sides *s, int side)
{
    bool *const in = lab_alloc(s->lab, s->sms, sizeof *in);
    for (size_t sm = 0; sm < s->sms; sm++)
        in[sm] = s->side[sm] == side;
    return arena_adopt(&s->lab->memory, text_ranges(in, s->sms));
}

static void report_sms(struct l2_sides *s)
{
    struct finding *const f = finding_of(s, "sm_sides", &s->missing);
    finding_cite(f, s->seen_by_all);
    if (unclear_sms(s) > 0) {
        finding_none(f, why_sides_unclear, unclear_sms(s), s->sms);
        return;
    }
    struct value sides = value_list();
    value_push(&sides, value_text(numbers_of(s, 0)));
    value_push(&sides, value_text(numbers_of(s, 1)));
    finding_value(f, STATUS_MEASURED, sides);
    finding_protocol(f, "lines", value_text("that L2 does not hold"));
}

static struct finding *parts_of(struct l2_sides *s)
{
    struct finding *const f = lab_finding(s->lab, "l2", "parts");
    finding_cite(f, s->missing.experiment);
    return f;
}

static void report_parts(struct l2_sides *s)
{
    struct finding *const f = parts_of(s);
    finding_cite(f, s->seen_by_all);
    finding_measured(f, 2);
    finding_protocol(f, "told_by",
                     value_text("two latencies that change "
                                "places between SMs"));
    if (s->facts->near_fits > 0)
        finding_protocol(f, "near_bytes",
                         value_number((double)s->facts->near_fits));
}

static void report_two(struct l2_sides *s)
{
    struct fact_sides *const facts = fact_sides_write(s->lab);
    facts->parts = 2;
    facts->bits = s->bits;
    if (is_apart(&s->home.halves))
        facts->hit = s->home.halves.near;
    facts->miss = s->missing.halves.near - s->home.halves.near;
    facts->missing_cycles = (s->missing.halves.near + s->missing.halves.far) / 2;
    for (int side = 0; side < 2; side++)
        snprintf(facts->sms[side], sizeof facts->sms[side], "%s",
                 numbers_of(s, side));
    report_parts(s);
    report_latencies(s);
    report_replicates(s);
    report_bits(s);
    report_sms(s);
}

/* All of L2 is equally far: there are no sides to tell of. */
static void report_absent(struct l2_sides *s)
{
    for (const struct answer *a = answers; a->attribute != NULL; a++)
        lab_absent(s->lab, s->row->component, a->attribute);
}

/* Two values that nothing explains: that the cache is one is in doubt. */
static void report_unclear(struct l2_sides *s, const char *why)
{
    lab_leave_open(s->lab, why);
    if (s->facts->near_fits == 0)
        finding_none(parts_of(s), "%s", why);
}

/* Growing rings showed one step, and single lines no sides. */
static void report_one(struct l2_sides *s)
{
    fact_sides_write(s->lab)->parts = 1;
    struct finding *const f = parts_of(s);
    finding_cite(f, s->warm.experiment);
    finding_measured(f, 1);
    finding_protocol(f, "near_bytes", value_number((double)s->facts->fits));
    finding_protocol(f, "lines", value_number((double)s->missing.count));
    finding_protocol(f, "best_bits_explain",
                     value_number(s->missing.halves.agrees));
    finding_protocol(f, "best_bits_explain_warm",
                     value_number(s->warm.halves.agrees));
    report_absent(s);
}

/* ---- the study -------------------------------------------------------- */

/* True if warm lines that are there cost one of two values.  What costs as much
 * as memory is not there, which is no side. */
static bool warm_differs(const struct l2_sides *s)
{
    struct otsu split;
    otsu_find(s->warm.cycles, s->warm.count, &split);
    return split.clear && hits_cheaper(split.high, s->facts->miss);
}

static void report_no_sides(struct l2_sides *s)
{
    if (s->bits != 0 || warm_differs(s) || is_hinted(&s->warm.halves) ||
        is_hinted(&s->missing.halves))
        report_unclear(s, why_sides_unexplained);
    else if (s->facts->near_fits > 0)
        lab_leave_open(s->lab, why_no_side_bits);
    else
        report_one(s);
}

static void ask_missing(struct l2_sides *s, uint64_t sizes)
{
    s->missing = trace_lines(s, LINES, 0, sizes * s->facts->overflows,
                             fact_sides_write(s->lab)->missing);
}

/* True if lines that should all be missing cost one of two values that no bits
 * tell.  Then some may not have been: of far lines those that stayed at their
 * homes cost far less than others, and both together are no half. */
static bool are_some_left(const struct l2_sides *s)
{
    struct otsu split;
    otsu_find(s->missing.cycles, s->missing.count, &split);
    return split.clear && !is_clear(&s->missing.halves);
}

/* Where sweeps leave some of them, longer ones are asked, too. */
static void trace_missing(struct l2_sides *s)
{
    ask_missing(s, s->facts->sampled ? FLUSH_SIZES_SAMPLED : FLUSH_SIZES);
    if (lab_ok(s->lab) && !s->facts->sampled && are_some_left(s))
        ask_missing(s, FLUSH_SIZES_SAMPLED);
}

static void ask_sides(struct l2_sides *s)
{
    s->warm = trace_lines(s, LINES, LAPS, 0, fact_sides_write(s->lab)->warm);
    trace_missing(s);
    if (!lab_ok(s->lab))
        return;
    take_bits(s);
    if (s->bits != 0)
        ask_all_sms(s);
    if (!lab_ok(s->lab))
        return;
    /* Where a quarter of the SMs saw nothing clear, the others may be chance.
     */
    if (s->other == 0 || 4 * unclear_sms(s) > s->sms) {
        report_no_sides(s);
        return;
    }
    split_by_bits(s, &s->missing);
    look_at_homes(s);
    if (lab_ok(s->lab))
        report_two(s);
}

static void l2_sides_run(struct lab *lab)
{
    struct l2_sides s = {.lab = lab,
                         .row = &level_table[LEVEL_L2],
                         .facts = fact_bracket(lab, LEVEL_L2),
                         .line = fact_sure_line(lab, LEVEL_L2),
                         .sms = lab_sms(lab)};
    s.side = lab_alloc(lab, s.sms, sizeof *s.side);
    if (!s.facts->present)
        lab_leave_open(lab, s.facts->why);
    else if (s.line == 0)
        lab_leave_open(lab, lab_why_unknown(lab, "l2", "line"));
    else
        ask_sides(&s);
}

const struct study study_l2_sides = {
    .name = "partitions",
    .question = "Is L2 in partitions, and what does the far one cost?",
    .method = "Single loads of lines that L2 does not hold, of warm ones, and "
              "of those that atomics have brought to their homes.  Two "
              "latencies are two sides where the XOR of address bits tells "
              "them apart and they change places for other SMs.",
    .reads = FACTS(FACT_TRACE, FACT_BRACKET, FACT_LINE, FACT_RINGS),
    .answers = answers,
    .proposes = proposes,
    .kernels = TEXTS("trace op=cg", "trace op=cg flush=4096",
                     "visit readers=global.cg@0.0,global.cg@0.1",
                     "visit readers=atomic@0.0,global.cg@0.0",
                     "visit readers=global.cg"),
    .run = l2_sides_run,
};
