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
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/translation/page_sweep.h"

static const char *const needs[] = {"tlb", NULL};
static const char *const gives[] = {"memory.patterns_ca", "memory.patterns_cg",
                                    NULL};
static const char *const kernels[] = {
    "visit readers=global.ca,global.cg",
    "visit readers=global.cg,global.cg",
    NULL,
};

enum { P1, P2, P3, P4, P5, P6, PATTERNS };

/* Pages that are asked about at once; how often; loads of each that is warm;
 * lines of a page that were never loaded. */
enum { SUBJECTS = 8, TAKES = 12, AGAIN = 33, NEW_PAGES = 12, NEW_LINES = 7 };

struct inquiry {
    struct lab *lab;
    const struct translation *t;
    struct page_sweep sweep;
    struct page_tour subjects, /* pages of the first TLB */
        apart;                 /* pages of every TLB */
    struct page_tour some,
        all;         /* that push out of the first TLB; of every one */
    uint64_t unseen; /* offset from which on no load has been made */
    uint64_t page;   /* distance of pages there */
    bool known;      /* the page of every TLB */
    double cycles[PATTERNS];
    const char *why[PATTERNS]; /* NULL: it has cycles */
    struct finding *finding;
};

/* ---- which pages ------------------------------------------------------ */

/* Entries of a TLB at least or at most, in pages of the first. */
static uint64_t pages_of(const struct translation *t, size_t level, bool most)
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
static void plan_some(struct inquiry *q)
{
    const struct translation *const t = q->t;
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

static void plan_all(struct inquiry *q)
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
static void plan(struct inquiry *q)
{
    const struct translation *const t = q->t;
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
    q->unseen =
        t->origin + ((t->room / q->page) - 2 - SUBJECTS - NEW_PAGES) * q->page;
    if (!known)
        return;
    plan_some(q);
    plan_all(q);
}

/* ---- the patterns ----------------------------------------------------- */

/* The mean of what lies about the median: finer than whole cycles, and free of
 * spikes. */
static double centre(const double *cycles, size_t count)
{
    enum { ABOUT = 6 };
    const double middle = stats_median(cycles, count);
    double sum = 0;
    size_t near = 0;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] >= middle - ABOUT && cycles[i] <= middle + ABOUT) {
            sum += cycles[i];
            near++;
        }
    return near > 0 ? sum / (double)near : middle;
}

static void set(struct inquiry *q, int pattern, double *cycles, size_t count)
{
    q->cycles[pattern] = centre(cycles, count) - q->t->overhead;
    finding_evidence(q->finding, q->sweep.experiment);
}

/* Each subject again and again; the first load of each is left out. */
static int ask_warm(struct inquiry *q, struct error *err)
{
    struct buf steps = {0};
    double *cycles;
    size_t count, kept = 0;
    for (uint64_t i = 0; i < q->subjects.count; i++)
        buf_printf(&steps, "%s0@!%" PRIu64 ":%d:0", i > 0 ? "," : "",
                   page_tour_place(&q->sweep, &q->subjects, i), AGAIN);
    if (page_sweep_visit(&q->sweep, &steps, &cycles, &count, err) != 0)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (i % AGAIN != 0)
            cycles[kept++] = cycles[i];
    set(q, P1, cycles, kept);
    free(cycles);
    return 0;
}

/* The subjects after others have pushed their pages out. */
static int ask_pushed_out(struct inquiry *q, int pattern,
                          const struct page_tour *subjects,
                          const struct page_tour *others, struct error *err)
{
    double all[SUBJECTS * TAKES];
    size_t kept = 0;
    for (int take = 0; take < TAKES; take++) {
        struct buf steps = {0};
        double *cycles;
        size_t count;
        page_tour_write(&q->sweep, subjects, "2x0@", &steps);
        page_tour_write(&q->sweep, others, "1@", &steps);
        page_tour_write(&q->sweep, subjects, "0@!", &steps);
        if (page_sweep_visit(&q->sweep, &steps, &cycles, &count, err) != 0)
            return err->code;
        for (size_t i = 0; i < count; i++)
            all[kept++] = cycles[i];
        free(cycles);
    }
    set(q, pattern, all, kept);
    return 0;
}

/* Distance of the lines of a page that were never loaded. */
static uint64_t apart(const struct inquiry *q)
{
    return q->subjects.pitch / 32 / 128 * 128 + 128;
}

/* The first line of a page, then others. */
static int ask_new_lines(struct inquiry *q, struct error *err)
{
    struct buf steps = {0};
    double *cycles;
    size_t count;
    for (uint64_t i = 0; i < NEW_PAGES; i++) {
        const uint64_t page = q->unseen + (SUBJECTS + i) * q->page;
        buf_printf(&steps, "%s1@%" PRIu64 ":1:0,0@!%" PRIu64 ":%d:%" PRIu64,
                   i > 0 ? "," : "", page, page + apart(q), NEW_LINES,
                   apart(q));
    }
    if (page_sweep_visit(&q->sweep, &steps, &cycles, &count, err) != 0)
        return err->code;
    set(q, P4, cycles, count);
    free(cycles);
    return 0;
}

/* A new line each time, of pages that all visits have pushed out. */
static int ask_new_pages(struct inquiry *q, struct error *err)
{
    double all[SUBJECTS * TAKES];
    size_t kept = 0;
    for (int take = 0; take < TAKES; take++) {
        struct buf steps = {0};
        double *cycles;
        size_t count;
        page_tour_write(&q->sweep, &q->all, "1@", &steps);
        buf_printf(&steps, ",0@!%" PRIu64 ":%d:%" PRIu64,
                   q->unseen + (uint64_t)take * apart(q), SUBJECTS, q->page);
        if (page_sweep_visit(&q->sweep, &steps, &cycles, &count, err) != 0)
            return err->code;
        for (size_t i = 0; i < count; i++)
            all[kept++] = cycles[i];
        free(cycles);
    }
    set(q, P5, all, kept);
    return 0;
}

/* ---- the study -------------------------------------------------------- */

static void find_reasons(struct inquiry *q)
{
    const struct translation *const t = q->t;
    if (t->levels == 0)
        q->why[P2] = q->why[P3] = q->why[P5] = "no TLB shows";
    else if (t->mixed)
        q->why[P2] = q->why[P3] = q->why[P5] = "the costs of TLBs mix";
    else if (!q->known)
        q->why[P2] = q->why[P3] = q->why[P5] = "the page of a TLB is not known";
    else if (t->levels == 1)
        q->why[P2] = q->why[P3] = q->why[P5] =
            "one TLB shows, and what it misses may be found in a second that "
            "holds all, or by a walk";
    else if (q->all.count == 0)
        q->why[P3] = q->why[P5] = "there is too little memory to push pages "
                                  "out of the second TLB";
    if (q->why[P2] == NULL && q->some.count == 0)
        q->why[P2] = "the second TLB holds too little more than the first";
    if (t->window == 0)
        q->why[P6] = "there is no window of active pages";
}

static int measure(struct inquiry *q, struct error *err)
{
    int status = ask_warm(q, err);
    if (status == 0 && q->why[P2] == NULL)
        status = ask_pushed_out(q, P2, &q->subjects, &q->some, err);
    if (status == 0 && q->why[P3] == NULL)
        status = ask_pushed_out(q, P3, &q->apart, &q->all, err);
    if (status == 0)
        status = ask_new_lines(q, err);
    if (status == 0 && q->why[P5] == NULL)
        status = ask_new_pages(q, err);
    q->cycles[P6] = q->t->window_cycles;
    return status;
}

static void report(struct inquiry *q, const char *load)
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
        value_push(&list, q->why[i] == NULL ? value_number(q->cycles[i])
                          : i == P6         ? value_text("none")
                                            : value_text("unknown"));
        value_push(&a, value_text(data[i]));
        value_push(&b, value_text(tlb_l1[i]));
        value_push(&c, value_text(tlb_l2[i]));
        if (q->why[i] != NULL)
            buf_printf(&because, "%sP%d: %s", because.length > 0 ? "; " : "",
                       i + 1, q->why[i]);
    }
    finding_set(q->finding, STATUS_MEASURED, list, "cycles");
    finding_protocol(q->finding, "load", value_text(load));
    finding_protocol(q->finding, "data", a);
    finding_protocol(q->finding, "tlb_l1", b);
    finding_protocol(q->finding, "tlb_l2", c);
    if (because.length > 0)
        finding_protocol(q->finding, "none", value_text(buf_string(&because)));
    buf_free(&because);
}

static int ask(struct lab *lab, const char *attribute, const char *readers,
               const char *load, uint64_t page, struct error *err)
{
    const struct translation *const t = &lab->translation;
    struct inquiry q = {.lab = lab,
                        .t = t,
                        .sweep = {.lab = lab,
                                  .reader = readers,
                                  .origin = t->origin,
                                  .room = t->room,
                                  .skew = t->skew},
                        .finding = lab_finding(lab, "memory", attribute)};
    plan(&q);
    q.unseen += page;
    find_reasons(&q);
    const int status = measure(&q, err);
    if (status == 0)
        report(&q, load);
    else if (lab_excuses(status))
        finding_none(q.finding, "%s", err->text);
    page_sweep_done(&q.sweep);
    return lab_excuses(status) ? 0 : status;
}

static int run(struct lab *lab, struct error *err)
{
    if (!lab->translation.asked)
        return error_set(err, ERR_UNSUPPORTED,
                         "it is not known how much memory may be used");
    /* The second asks for lines that the first has not loaded: half a line's
     * distance further. */
    if (ask(lab, "patterns_ca", "global.ca,global.cg", "ld.global.ca.u32", 0,
            err) != 0 ||
        ask(lab, "patterns_cg", "global.cg,global.cg", "ld.global.cg.u32", 1024,
            err) != 0)
        return err->code;
    return 0;
}

const struct study study_patterns = {
    .name = "patterns",
    .question = "What does a load cost, by where data and translation are?",
    .method = "Pages are pushed out of the TLBs by visits to others, data that "
              "misses was never loaded; each load is timed.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
