/*
 * Whether a shared cache is in two partitions, which address bits tell a line's
 * home, which SMs are beside which, and whether what lies far is kept near.
 *
 * Lines spread over two pages are loaded once each by one SM, just after other
 * SMs have written them, so that they lie at their homes and nowhere else; and
 * again, after laps that bring near what can be brought near.  Where lines cost
 * one of two values, and the XOR of some address bits says which, those may
 * still be slices of one cache at different distances, or lines that are there
 * and lines that are not.  So it counts as two sides only if for some SMs the
 * same bits make the other lines the near ones.
 *
 * Addresses of the program are those of the memory within a page of 2 MiB and
 * no farther: the bits below are looked at, and each page has a state of its
 * own.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/parity.h"
#include "analysis/split.h"
#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "probe/ring.h"
#include "study/study.h"

static const char *const needs[] = {"size", NULL};
static const char *const gives[] = {
    "l2.near_latency", "l2.far_latency", "l2.near_size", "l2.replicates",
    "l2.side_bits",    "l2.sm_sides",    NULL,
};
static const char *const kernels[] = {"trace op=cg", NULL};

enum { PAGE_BITS = 21, PAGES = 2, LINES = 768, LAPS = 2 };
/* Lines that each SM loads, and least share of them that must agree. */
enum { LINES_OF_SM = 32, LINES_LEAST = 16 };
static const double agrees_least = 0.9, certain_share = 0.8;
/* 2.6 standard errors hold 99 %. */
static const double errors_of_99 = 2.6;

/* Single loads, less what tracing adds. */
struct lines {
    uint64_t *address; /* in the first pages of the ring's buffer */
    double *cycles;
    size_t *sm;
    size_t count;
    char *experiment;
};

/* What is known of the level. */
struct sides {
    struct lab *lab;
    const struct level_row *row;
    struct level_facts *facts;
    int laps; /* before lines are timed: 0 if just written */
    struct lines lines;
    struct split split;
    struct parity parity;
    bool odd_is_far; /* in the first page, for the first SM */
    size_t sms, same, other;
    signed char *side; /* of each SM: 0 as the first, 1 the other, −1 unclear */
    char *seen_by_all; /* an experiment with several SMs */
};

static void lines_free(struct lines *l)
{
    free(l->address);
    free(l->cycles);
    free(l->sm);
    free(l->experiment);
    *l = (struct lines){0};
}

/* The loads of a trace but for those that pay for the translation.  Rings of
 * SMs follow each other every `region` bytes from SM `first` on. */
static void take_lines(const struct lab *lab, const struct samples *s,
                       uint64_t region, size_t first, struct lines *l)
{
    const size_t sm = samples_column(s, "sm"),
                 visit = samples_column(s, "visit");
    const size_t offset = samples_column(s, "offset");
    const size_t cycles = samples_column(s, "cycles");
    l->address = xreallocarray(NULL, s->rows, sizeof *l->address);
    l->cycles = xreallocarray(NULL, s->rows, sizeof *l->cycles);
    l->sm = xreallocarray(NULL, s->rows, sizeof *l->sm);
    for (size_t row = 0; row < s->rows; row++) {
        const uint64_t at = (uint64_t)samples_at(s, row, offset);
        const size_t who = (size_t)samples_at(s, row, sm);
        if (samples_at(s, row, visit) < 0 || (at & RING_LEAD_OFFSET) != 0 ||
            who < first)
            continue;
        l->address[l->count] = at + (who - first) * region;
        l->sm[l->count] = who;
        l->cycles[l->count++] =
            (double)samples_at(s, row, cycles) - lab->trace_cost;
    }
}

static int load_lines(struct sides *s, uint64_t bytes, int count, size_t first,
                      size_t sms, struct lines *l, struct error *err)
{
    struct samples samples;
    *l = (struct lines){0};
    if (lab_probe(s->lab, &samples, &l->experiment, err,
                  "trace %s bytes=%" PRIu64 " stride=%" PRIu64
                  " order=random window=65536 sample=%d lead=65536 warm=%d "
                  "sm=%zu sms=%zu",
                  s->row->load, bytes, s->facts->line, count, s->laps, first,
                  sms) != 0)
        return err->code;
    take_lines(s->lab, &samples, bytes, first, l);
    samples_free(&samples);
    return 0;
}

/* ---- from one SM ------------------------------------------------------ */

static void find_bits(struct sides *s)
{
    const struct lines *const l = &s->lines;
    bool *const far = xcalloc(l->count, sizeof *far);
    size_t odd_far = 0, first_page = 0;
    for (size_t i = 0; i < l->count; i++)
        far[i] = l->cycles[i] > s->split.threshold;
    parity_find(l->address, far, l->count,
                (unsigned)__builtin_ctzll(s->facts->line), PAGE_BITS,
                &s->parity);
    for (size_t i = 0; i < l->count; i++)
        if (l->address[i] >> PAGE_BITS == 0) {
            first_page++;
            odd_far += far[i] == parity_of(l->address[i], s->parity.bits);
        }
    s->odd_is_far = 2 * odd_far > first_page;
    free(far);
}

/* Looks after `laps` laps; the split says whether there are two values. */
static int look(struct sides *s, int laps, struct error *err)
{
    s->laps = laps;
    lines_free(&s->lines);
    if (load_lines(s, (uint64_t)PAGES << PAGE_BITS, LINES, 0, 1, &s->lines,
                   err) != 0)
        return err->code;
    split_find(s->lines.cycles, s->lines.count, &s->split);
    if (s->split.clear)
        find_bits(s);
    return 0;
}

/* True if address bits explain the two values. */
static bool explained(const struct sides *s)
{
    return s->split.clear && s->parity.bits != 0 &&
           s->parity.agrees >= agrees_least &&
           s->parity.next < (s->parity.agrees + 0.5) / 2;
}

/* ---- from all SMs ----------------------------------------------------- */

/* How many lines an SM saw of each home, and how many of them as the first SM
 * would. */
struct ballot {
    size_t seen[2], alike;
};

static signed char verdict(const struct ballot *b)
{
    const size_t all = b->seen[0] + b->seen[1];
    if (4 * b->seen[0] < all || 4 * b->seen[1] < all || all < LINES_LEAST)
        return -1;
    const double share = (double)b->alike / (double)all;
    return share >= certain_share ? 0 : share <= 1 - certain_share ? 1 : -1;
}

static void count_votes(struct sides *s, const struct lines *l, size_t first,
                        size_t sms)
{
    struct ballot *const ballots = xcalloc(sms, sizeof *ballots);
    for (size_t i = 0; i < l->count; i++) {
        if (l->sm[i] >= first + sms)
            continue;
        struct ballot *const b = &ballots[l->sm[i] - first];
        const bool far =
            parity_of(l->address[i], s->parity.bits) == s->odd_is_far;
        b->seen[far]++;
        b->alike += far == (l->cycles[i] > s->split.threshold);
    }
    for (size_t k = 0; k < sms; k++) {
        s->side[first + k] = verdict(&ballots[k]);
        s->same += s->side[first + k] == 0;
        s->other += s->side[first + k] == 1;
    }
    free(ballots);
}

/* The stretch of memory in which an SM finds enough lines of both homes: as
 * long as the lowest of the bits needs to change. */
static uint64_t stretch_of(const struct sides *s)
{
    const uint64_t twice = 2 * (s->parity.bits & -s->parity.bits);
    const uint64_t least = 2 * LINES_OF_SM * s->facts->line;
    uint64_t stretch = twice > 4096 ? twice : 4096;
    while (stretch < least && stretch < (uint64_t)1 << PAGE_BITS)
        stretch *= 2;
    return stretch;
}

/* How many SMs can be asked at once: all stretches lie in the first page, and
 * their lines leave most of the cache to others. */
static size_t sms_at_once(const struct sides *s, uint64_t stretch)
{
    const uint64_t page = ((uint64_t)1 << PAGE_BITS) / stretch;
    const uint64_t room = s->facts->fits / 16 / (LINES_OF_SM * s->facts->line);
    const uint64_t sms = room < page ? room : page;
    return sms > 0 ? (size_t)sms : 1;
}

/* Every SM loads lines of both homes. */
static int ask_all_sms(struct sides *s, struct error *err)
{
    const uint64_t region = stretch_of(s);
    const size_t at_once = sms_at_once(s, region);
    for (size_t first = 0; first < s->sms; first += at_once) {
        const size_t rest = s->sms - first;
        const size_t sms = rest < at_once ? rest : at_once;
        struct lines l;
        if (load_lines(s, region, LINES_OF_SM, first, sms, &l, err) != 0)
            return err->code;
        count_votes(s, &l, first, sms);
        if (s->seen_by_all == NULL) {
            s->seen_by_all = l.experiment;
            l.experiment = NULL;
        }
        lines_free(&l);
    }
    return 0;
}

/* ---- what is reported ------------------------------------------------- */

static struct finding *finding_of(struct sides *s, const char *attribute)
{
    struct finding *const f = lab_finding(s->lab, s->row->component, attribute);
    if (s->lines.experiment != NULL)
        finding_evidence(f, s->lines.experiment);
    if (s->seen_by_all != NULL)
        finding_evidence(f, s->seen_by_all);
    return f;
}

static void report_latency(struct sides *s, const char *attribute, bool far)
{
    struct finding *const f = finding_of(s, attribute);
    double *const cycles = xreallocarray(NULL, s->lines.count, sizeof *cycles);
    /* What costs far more than far was not there any more. */
    const double most = s->split.high + (s->split.high - s->split.low) / 2;
    size_t count = 0;
    for (size_t i = 0; i < s->lines.count; i++)
        if ((s->lines.cycles[i] > s->split.threshold) == far &&
            s->lines.cycles[i] < most)
            cycles[count++] = s->lines.cycles[i];
    const double mean = stats_trimmed_mean(cycles, count, 0.05);
    const double error =
        errors_of_99 * stats_mad_sigma(cycles, count) / sqrt((double)count);
    finding_set(f, STATUS_MEASURED, value_number(mean), "cycles");
    finding_interval(f, mean - error, mean + error,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_protocol(f, "load", value_text(s->row->words));
    finding_protocol(f, "order", value_text("random lines of two pages"));
    finding_protocol(f, "warm", value_bool(s->laps > 0));
    finding_protocol(f, "timer",
                     value_text("around each load, less what that "
                                "adds"));
    finding_protocol(f, "sm", value_number(0));
    free(cycles);
}

static void report_bits(struct sides *s)
{
    struct finding *const f = finding_of(s, "side_bits");
    struct value bits = value_list();
    for (int bit = 0; bit < PAGE_BITS; bit++)
        if ((s->parity.bits >> bit & 1) != 0)
            value_push(&bits, value_number(bit));
    finding_set(f, STATUS_MEASURED, bits, "");
    finding_protocol(f, "within", value_text("pages of 2 MiB"));
    finding_protocol(f, "agrees", value_number(s->parity.agrees));
    finding_protocol(f, "next_best", value_number(s->parity.next));
}

/* "0-3,8" */
static struct value numbers_of(const struct sides *s, int side)
{
    struct buf text = {0};
    for (size_t sm = 0; sm < s->sms; sm++) {
        if (s->side[sm] != side)
            continue;
        size_t last = sm;
        while (last + 1 < s->sms && s->side[last + 1] == side)
            last++;
        buf_printf(&text, "%s%zu", text.length > 0 ? "," : "", sm);
        if (last > sm)
            buf_printf(&text, "-%zu", last);
        sm = last;
    }
    const struct value value = value_text(buf_string(&text));
    buf_free(&text);
    return value;
}

static void report_sms(struct sides *s)
{
    struct finding *const f = finding_of(s, "sm_sides");
    const size_t unclear = s->sms - s->same - s->other;
    if (unclear > 0) {
        finding_none(f, "%zu of %zu SMs saw no clear difference", unclear,
                     s->sms);
        return;
    }
    struct value sides = value_list();
    value_push(&sides, numbers_of(s, 0));
    value_push(&sides, numbers_of(s, 1));
    finding_set(f, STATUS_MEASURED, sides, "");
}

static void report_parts(struct sides *s)
{
    struct finding *const f = finding_of(s, "parts");
    finding_set(f, STATUS_MEASURED, value_number(2), "");
    finding_protocol(f, "told_by",
                     value_text("two latencies that change "
                                "places between SMs"));
    if (s->facts->near_fits > 0)
        finding_protocol(f, "near_bytes",
                         value_number((double)s->facts->near_fits));
}

/* ---- how much is near ------------------------------------------------- */

/* Where growing rings stop to be all near. */
static void report_step(struct finding *f, const struct level_facts *facts)
{
    if (facts->soft) {
        finding_set(f, STATUS_AT_MOST,
                    value_number((double)facts->near_overflows), "B");
        finding_because(f, "rings up to there cost what near lines do, but "
                           "larger ones cost more little by little");
        return;
    }
    finding_set(f, STATUS_MEASURED, value_number((double)facts->near_fits),
                "B");
    finding_interval(f, (double)facts->near_fits, (double)facts->near_overflows,
                     0.95);
}

/* A far part that the cost of growing rings did not show: what was taken for
 * the end of the cache was that of its near part. */
static void report_end_as_near(struct sides *s, struct finding *f, double size)
{
    finding_set(f, STATUS_MEASURED, value_number(size), "B");
    struct finding *const whole =
        lab_finding(s->lab, s->row->component, "size");
    finding_set(whole, STATUS_AT_LEAST, value_number(size), "B");
    finding_because(whole, "that is where the near part ends; the end of the "
                           "far part could not be told from it");
}

/* Without copies, the lines near to an SM are those that have their home
 * there: half of the cache. */
static void report_near_size(struct sides *s)
{
    struct finding *const f = finding_of(s, "near_size");
    double size;
    if (!s->facts->far_stays && s->facts->near_fits > 0)
        report_step(f, s->facts);
    else if (!lab_number(s->lab, s->row->component, "size", &size))
        finding_none(f, "the size is not known");
    else if (s->facts->far_stays)
        finding_set(f, STATUS_DERIVED, value_number(size / 2), "B");
    else
        report_end_as_near(s, f, size);
}

static void report_two(struct sides *s)
{
    s->facts->far_stays = s->laps > 0;
    report_parts(s);
    report_latency(s, "near_latency", false);
    report_latency(s, "far_latency", true);
    struct finding *const f = finding_of(s, "replicates");
    finding_set(f, STATUS_MEASURED, value_bool(!s->facts->far_stays), "");
    report_bits(s);
    report_sms(s);
    report_near_size(s);
}

/* ---- the study -------------------------------------------------------- */

static void report_none(struct sides *s, const char *why)
{
    for (size_t i = 0; gives[i] != NULL; i++)
        finding_none(
            results_add(s->lab->results, gives[i], s->lab->study->name), "%s",
            why);
}

/* Two values that nothing explains: that the cache is one is in doubt. */
static void report_unclear(struct sides *s, const char *why)
{
    report_none(s, why);
    if (s->facts->near_fits == 0)
        finding_none(finding_of(s, "parts"), "%s", why);
}

/* True once lines show two values, explained by bits and turned over between
 * SMs, after so many laps. */
static int two_sides(struct sides *s, int laps, bool *yes, struct error *err)
{
    *yes = false;
    s->same = s->other = 0;
    free(s->seen_by_all);
    s->seen_by_all = NULL;
    if (look(s, laps, err) != 0)
        return err->code;
    if (!explained(s))
        return 0;
    if (ask_all_sms(s, err) != 0)
        return err->code;
    *yes = s->same > 0 && s->other > 0;
    return 0;
}

/* Not even what was just written shows two sides. */
static void report_one(struct sides *s, bool warm_differs)
{
    if (warm_differs)
        report_unclear(s, "lines cost one of two values, but no address bits "
                          "that change places between SMs tell which");
    else if (s->facts->near_fits > 0)
        report_none(s, "no address bits tell which lines are near to an SM");
    else
        report_none(s, "all of L2 is equally far");
}

static int ask(struct sides *s, struct error *err)
{
    bool yes;
    if (two_sides(s, LAPS, &yes, err) != 0)
        return err->code;
    /* What costs as much as memory is not there, which is no side. */
    const bool warm_differs =
        s->split.clear && s->split.high < 0.9 * s->facts->miss;
    if (!yes && !warm_differs && two_sides(s, 0, &yes, err) != 0)
        return err->code;
    if (yes)
        report_two(s);
    else
        report_one(s, warm_differs);
    return 0;
}

static int run(struct lab *lab, struct error *err)
{
    const int64_t sms = lab->info->value[PROPERTY_SMS];
    struct sides s = {.lab = lab,
                      .row = &level_table[LEVEL_L2],
                      .facts = &lab->facts[LEVEL_L2],
                      .sms = sms > 0 ? (size_t)sms : 1};
    int status = 0;
    if (!s.facts->present) {
        report_none(&s, s.facts->why);
        return 0;
    }
    if (s.facts->line == 0) {
        report_none(&s, "the line is not known");
        return 0;
    }
    s.side = xcalloc(s.sms, 1);
    status = ask(&s, err);
    lines_free(&s.lines);
    free(s.side);
    free(s.seen_by_all);
    return status;
}

const struct study study_partitions = {
    .name = "partitions",
    .question = "Is L2 in partitions, and what does the far one cost?",
    .method = "Single loads of lines that were just written, and of warm ones. "
              "Two latencies are two sides where the XOR of address bits tells "
              "them apart and they change places for other SMs.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run = run,
};
