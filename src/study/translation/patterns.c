/*
 * What a load costs by where its data and its translation are: Mei's patterns
 * (2014, table 3).
 *
 *     P1  data hit,  first TLB hit
 *     P2  data hit,  first TLB miss, second hit
 *     P3  data hit,  both TLBs miss
 *     P4  data miss, first TLB hit
 *     P5  data miss, both TLBs miss
 *     P6  the page window is left
 *
 * Each is made on purpose.  Pages are pushed out of a TLB by visits to others,
 * made past L1, which therefore keeps the data that is asked for; data that is
 * not there is lines that were never loaded.  So no pattern rests on the policy
 * of a TLB or a cache.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "study/translation/page_sweep.h"
#include "study/translation/tlb.h"

static const enum fact_id reads[] = {FACT_MEMORY, FACT_TLBS, FACT_NONE};
static const struct answer answers[] = {
    {ONE("memory"), "patterns_ca", "cycles"},
    {ONE("memory"), "patterns_cg", "cycles"},
    {0},
};
static const char *const kernels[] = {
    "visit readers=global.ca,global.cg",
    "visit readers=global.cg,global.cg",
    NULL,
};

enum { P1, P2, P3, P4, P5, P6, PATTERNS };

/* Pages that are asked about at once; how often; loads of each that is warm;
 * lines of a page that were never loaded. */
enum {
    SUBJECTS = 8,
    TAKES = 12,
    TAKES_MOST = 96, /* where there is noise */
    AGAIN = 33,
    NEW_PAGES = 12,
    NEW_LINES = 7,
    NEW_TIMES = 3
};

struct patterns_question {
    struct lab *lab;
    const struct fact_tlbs *t;
    const struct fact_memory *memory;
    struct page_sweep sweep;
    struct page_tour subjects, /* pages of the first TLB */
        apart;                 /* pages of every TLB */
    struct page_tour some,
        all;         /* that push out of the first TLB; of every one */
    uint64_t unseen; /* offset from which on no load has been made */
    uint64_t page;   /* distance of pages there */
    bool known;      /* the page of every TLB */
    struct cost cycles[PATTERNS];
    const char *why[PATTERNS]; /* NULL: it has cycles */
    struct finding *finding;
};

/* ---- which pages ------------------------------------------------------ */

/* Entries of a TLB at least or at most, in pages of the first. */
static uint64_t pages_of(const struct fact_tlbs *t, size_t level, bool most)
{
    const struct tlb_facts *const tlb = &t->tlb[level];
    const uint64_t unit = t->tlb[0].page;
    if (tlb->entries > 0)
        return tlb->entries * tlb->page / unit;
    const uint64_t age = most ? 2 * tlb->overflows : tlb->fits / 2;
    const uint64_t distance = tlb->page > t->pitch ? tlb->page : t->pitch;
    return age * t->pitch / distance * tlb->page / unit;
}

/* Pages that come right after the subjects, so that together they are as even
 * as pages can be in the sets of the second TLB, and stay in it. */
static void plan_some(struct patterns_question *q)
{
    const struct fact_tlbs *const t = q->t;
    const uint64_t first = pages_of(t, 0, true);
    /* Where no second TLB shows, no further than the first step was seen. */
    const uint64_t seen = 2 * t->tlb[0].overflows;
    uint64_t count = 4 * first + 8;
    if (t->levels == 1 && count > seen)
        count = seen;
    if (t->levels > 1) {
        const uint64_t second = pages_of(t, 1, false);
        while (q->subjects.count > 1 && second < first + 2 * q->subjects.count)
            q->subjects.count--;
        /* Half-way between the two, since programs use pages of their own. */
        const uint64_t middle = (first + second) / 2;
        if (count > middle - q->subjects.count)
            count = middle - q->subjects.count;
        /* Under chance a page may survive as many others as there are entries,
         * but hardly three times as many. */
        const uint64_t least = t->tlb[0].in_order ? first : 3 * first;
        if (second <= first || count < least)
            count = 0;
    }
    q->some = (struct page_tour){
        .start = q->subjects.start +
                 q->subjects.count * (q->subjects.pitch + q->sweep.skew),
        .pitch = q->subjects.pitch,
        .count = count};
}

static void plan_all(struct patterns_question *q)
{
    const struct tlb_facts *const last = &q->t->tlb[q->t->levels - 1];
    const uint64_t start =
        q->subjects.start + (SUBJECTS + 1) * (q->page + q->sweep.skew);
    const uint64_t room = q->unseen - q->sweep.origin - start;
    uint64_t count = 2 * last->overflows + 16;
    if (count > q->t->lap)
        count = q->t->lap;
    if (count > room / (q->t->pitch + q->sweep.skew))
        count = room / (q->t->pitch + q->sweep.skew);
    q->all = (struct page_tour){.start = start,
                                .pitch = q->t->pitch,
                                .count = count > last->overflows ? count : 0};
}

/* Half a MiB is at least a page apart where no page is known. */
static void plan(struct patterns_question *q)
{
    const struct fact_tlbs *const t = q->t;
    bool known = t->levels > 0 && !t->mixed;
    for (size_t i = 0; i < t->levels; i++)
        known = known && t->tlb[i].page > 0;
    const uint64_t first = known ? t->tlb[0].page : 512 * 1024;
    q->known = known;
    q->page = first;
    for (size_t i = 0; i < t->levels; i++)
        if (t->tlb[i].page > q->page)
            q->page = t->tlb[i].page;
    q->subjects = (struct page_tour){.start = known ? t->tlb[0].start : 0,
                                     .pitch = first,
                                     .count = SUBJECTS};
    q->apart = (struct page_tour){
        .start = q->subjects.start, .pitch = q->page, .count = SUBJECTS};
    const uint64_t used = 2 + SUBJECTS + NEW_PAGES;
    const uint64_t room = q->memory->room / q->page;
    q->unseen = q->memory->origin + (room > used ? room - used : 0) * q->page;
    if (room <= used + SUBJECTS + 1)
        lab_fail(q->lab, ERR_UNSUPPORTED, why_memory_little);
    if (!known || !lab_ok(q->lab))
        return;
    plan_some(q);
    plan_all(q);
}

/* ---- the patterns ----------------------------------------------------- */

/* Misses vary, by what memory has open and how far it lies: the middle one is
 * typical, and how far noise moves it is two deviations of a median. */
static struct cost cost_of_misses(const struct patterns_question *q,
                                  const double *cycles, size_t count)
{
    const double middle = stats_median(cycles, count);
    const double error = 2 * 1.25 * q->memory->sigma / sqrt((double)count);
    return (struct cost){
        .cycles = middle, .low = middle - error, .high = middle + error};
}

static struct cost cost_of_hits(struct lab *lab, const double *cycles,
                                size_t count)
{
    const struct undisturbed u = undisturbed_of(cycles, count, 1);
    return lab_cost_of(lab, &u, NULL);
}

static void set_pattern(struct patterns_question *q, int pattern,
                        const double *cycles, size_t count)
{
    const struct fact_cycles *const over = &q->memory->overhead;
    const struct cost more = {
        .cycles = over->cycles, .low = over->low, .high = over->high};
    if (count == 0)
        lab_fail(q->lab, ERR_UNSUPPORTED, why_no_quiet);
    if (lab_ok(q->lab)) {
        const struct cost timed = pattern >= P4
                                      ? cost_of_misses(q, cycles, count)
                                      : cost_of_hits(q->lab, cycles, count);
        q->cycles[pattern] = lab_cost_less(&timed, &more);
    }
    finding_cite(q->finding, q->sweep.experiment);
}

/* Patterns that noise leaves open are not known: to a cycle or two hundredths,
 * which is no more than a list, which has no intervals, should hide. */
static void drop_noisy(struct patterns_question *q)
{
    for (int i = 0; i < PATTERNS; i++) {
        const struct cost *const c = &q->cycles[i];
        if (q->why[i] != NULL)
            continue;
        if (c->doubt != NULL)
            q->why[i] = c->doubt;
        else if ((c->high - c->low) / 2 > fmax(1, 0.02 * c->cycles))
            q->why[i] = lab_text(q->lab, why_pattern_noise);
    }
}

/* As many as leave two deviations of a mean of the subjects a third of a cycle.
 */
static unsigned takes_of(const struct patterns_question *q)
{
    const double wanted = pow(2 * q->memory->sigma * 3, 2) / SUBJECTS;
    return (unsigned)fmin(fmax(wanted, TAKES), TAKES_MOST);
}

/* Each subject again and again; the first load of each is left out. */
static void ask_warm(struct patterns_question *q)
{
    double all[TAKES_MOST / TAKES * SUBJECTS * AGAIN];
    size_t kept = 0;
    for (unsigned take = 0; take < takes_of(q); take += TAKES) {
        struct buf steps = {0};
        for (uint64_t i = 0; i < q->subjects.count; i++)
            buf_printf(&steps, "%s0@!%" PRIu64 ":%d:0", i > 0 ? "," : "",
                       page_tour_place(&q->sweep, &q->subjects, i), AGAIN);
        const struct column cycles = page_sweep_visit(&q->sweep, &steps);
        for (size_t i = 0; i < cycles.count; i++)
            if (i % AGAIN != 0)
                all[kept++] = cycles.at[i];
    }
    set_pattern(q, P1, all, kept);
}

/* A pattern from several takes, each of which writes its own script. */
typedef void write_take(const struct patterns_question *q, int pattern,
                        unsigned take, struct buf *steps);

static void ask_takes(struct patterns_question *q, int pattern,
                      write_take *write)
{
    /* Each take of these has new lines, of which there are no more. */
    const unsigned takes = pattern == P5 ? TAKES : takes_of(q);
    double all[SUBJECTS * TAKES_MOST];
    size_t kept = 0;
    for (unsigned take = 0; lab_ok(q->lab) && take < takes; take++) {
        struct buf steps = {0};
        write(q, pattern, take, &steps);
        const struct column cycles = page_sweep_visit(&q->sweep, &steps);
        for (size_t i = 0; i < cycles.count; i++)
            all[kept++] = cycles.at[i];
    }
    set_pattern(q, pattern, all, kept);
}

/* The subjects after others have pushed their pages out. */
static void write_pushed_out(const struct patterns_question *q, int pattern,
                             unsigned take, struct buf *steps)
{
    const struct page_tour *const subjects =
        pattern == P2 ? &q->subjects : &q->apart;
    (void)take;
    page_tour_write(&q->sweep, subjects, "2x0@", steps);
    page_tour_write(&q->sweep, pattern == P2 ? &q->some : &q->all, "1@", steps);
    page_tour_write(&q->sweep, subjects, "0@!", steps);
}

/* Distance of the lines of a page that were never loaded. */
static uint64_t apart(const struct patterns_question *q)
{
    return q->subjects.pitch / 32 / 128 * 128 + 128;
}

/* The first line of a page, then others; elsewhere in the page each time. */
static struct column ask_lines_of(struct patterns_question *q, unsigned time)
{
    struct buf steps = {0};
    for (uint64_t i = 0; i < NEW_PAGES; i++) {
        const uint64_t first = q->unseen + (SUBJECTS + i) * q->page +
                               time * (NEW_LINES + 1) * apart(q);
        buf_printf(&steps, "%s1@%" PRIu64 ":1:0,0@!%" PRIu64 ":%d:%" PRIu64,
                   i > 0 ? "," : "", first, first + apart(q), NEW_LINES,
                   apart(q));
    }
    return page_sweep_visit(&q->sweep, &steps);
}

static void ask_new_lines(struct patterns_question *q)
{
    struct column cycles = {0};
    for (unsigned time = 0; cycles.count == 0 && time < NEW_TIMES; time++)
        cycles = ask_lines_of(q, time);
    set_pattern(q, P4, cycles.at, cycles.count);
}

/* A new line each time, of pages that all visits have pushed out. */
static void write_new_pages(const struct patterns_question *q, int pattern,
                            unsigned take, struct buf *steps)
{
    (void)pattern;
    page_tour_write(&q->sweep, &q->all, "1@", steps);
    buf_printf(steps, ",0@!%" PRIu64 ":%d:%" PRIu64,
               q->unseen + take * apart(q), SUBJECTS, q->page);
}

/* ---- the study -------------------------------------------------------- */

/* Of the first TLB whose page it is; where none shows, that of the first. */
static const char *unknown_page(const struct patterns_question *q)
{
    size_t level = 0;
    while (level < q->t->levels && q->t->tlb[level].page > 0)
        level++;
    return lab_why_unknown(q->lab, tlb_components[level], "page");
}

static void find_reasons(struct patterns_question *q)
{
    const struct fact_tlbs *const t = q->t;
    if (!q->known)
        q->why[P2] = q->why[P3] = q->why[P5] = unknown_page(q);
    else if (t->levels == 1)
        q->why[P2] = q->why[P3] = q->why[P5] = why_tlb_only_one;
    else if (q->all.count == 0)
        q->why[P3] = q->why[P5] = why_memory_little;
    if (q->why[P2] == NULL && q->some.count == 0)
        q->why[P2] = why_tlb_little_more;
    if (q->memory->window == 0)
        q->why[P6] = why_no_window;
}

static void ask_patterns(struct patterns_question *q)
{
    ask_warm(q);
    if (q->why[P2] == NULL)
        ask_takes(q, P2, write_pushed_out);
    if (q->why[P3] == NULL)
        ask_takes(q, P3, write_pushed_out);
    q->lab->fresh = true;
    ask_new_lines(q);
    if (q->why[P5] == NULL)
        ask_takes(q, P5, write_new_pages);
    q->lab->fresh = false;
    const struct fact_cycles *const window = &q->memory->window_cycles;
    q->cycles[P6] = (struct cost){
        .cycles = window->cycles, .low = window->low, .high = window->high};
}

static void report(struct patterns_question *q, const char *load)
{
    static const char *const data[] = {"hit",  "hit",  "hit",
                                       "miss", "miss", "-"};
    static const char *const tlb_l1[] = {"hit", "miss", "miss",
                                         "hit", "miss", "-"};
    static const char *const tlb_l2[] = {"-", "hit", "miss", "-", "miss", "-"};
    struct value list = value_list(), a = value_list(), b = value_list(),
                 c = value_list();
    struct buf because = {0};
    for (int i = 0; i < PATTERNS; i++) {
        /* That there is no window is known; of TLBs only that none shows. */
        const bool none = i == P6 && q->memory->window == 0;
        value_push(&list, q->why[i] == NULL ? value_number(q->cycles[i].cycles)
                          : none            ? value_text("none")
                                            : value_text("unknown"));
        value_push(&a, value_text(data[i]));
        value_push(&b, value_text(tlb_l1[i]));
        value_push(&c, value_text(tlb_l2[i]));
        if (q->why[i] != NULL)
            buf_printf(&because, "%sP%d: %s", because.length > 0 ? "; " : "",
                       i + 1, q->why[i]);
    }
    finding_value(q->finding, STATUS_MEASURED, list);
    finding_protocol(q->finding, "load", value_text(load));
    finding_protocol(q->finding, "data", a);
    finding_protocol(q->finding, "tlb_l1", b);
    finding_protocol(q->finding, "tlb_l2", c);
    if (because.length > 0)
        finding_protocol(q->finding, "none", value_text(buf_string(&because)));
    buf_free(&because);
}

static void conclude(struct patterns_question *q, const char *load)
{
    drop_noisy(q);
    for (int i = 0; i < PATTERNS; i++)
        if (q->why[i] == NULL) {
            report(q, load);
            return;
        }
    finding_none(q->finding, "%s", q->why[P1]);
}

static void patterns_ask(struct lab *lab, const char *attribute,
                         const char *readers, const char *load, uint64_t unseen)
{
    const struct fact_tlbs *const t = fact_tlbs(lab);
    const struct fact_memory *const memory = fact_memory(lab);
    struct patterns_question q = {.lab = lab,
                                  .t = t,
                                  .memory = memory,
                                  .sweep = {.lab = lab,
                                            .reader = readers,
                                            .origin = memory->origin,
                                            .room = memory->room,
                                            .skew = t->skew},
                                  .finding =
                                      lab_finding(lab, "memory", attribute)};
    plan(&q);
    q.unseen += unseen;
    find_reasons(&q);
    ask_patterns(&q);
    const char *const why = lab_excuse(lab);
    if (why != NULL)
        finding_none(q.finding, "%s", why);
    else if (lab_ok(lab))
        conclude(&q, load);
}

static void patterns_run(struct lab *lab)
{
    if (!fact_memory(lab)->asked) {
        lab_refuse(lab, "*", why_memory_unknown, fact_memory(lab)->why);
        return;
    }
    /* The second asks for lines that the first has not loaded: half a line's
     * distance further. */
    patterns_ask(lab, "patterns_ca", "global.ca,global.cg", "ld.global.ca.u32",
                 0);
    if (lab_ok(lab))
        patterns_ask(lab, "patterns_cg", "global.cg,global.cg",
                     "ld.global.cg.u32", 1024);
}

const struct study study_patterns = {
    .name = "patterns",
    .question = "What does a load cost, by where data and translation are?",
    .method = "Pages are pushed out of the TLBs by visits to others, data that "
              "misses was never loaded; each load is timed.",
    .reads = reads,
    .answers = answers,
    .kernels = kernels,
    .run = patterns_run,
};
