/*
 * What cache operators change where memory is all that counts: three ways to
 * transpose a matrix (van Stigt 2022, 7.1.2 and 7.3).
 *
 * Of each way the study looks for the launch that is fastest: for each size of
 * a block it adds blocks, multiples of the number of SMs, until that gives no
 * more, and goes from the best on in steps of one.  Of all that are as good
 * within a hundredth it takes the one with the fewest threads.
 *
 * With that launch every load operator is measured with every store operator,
 * in turns: in each turn all of them once, the default twice.  So what drifts
 * from turn to turn is in both sides of a quotient, and what the default
 * differs by from itself is what no operator may be praised for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/grow.h"
#include "analysis/statistics/paired_ratio.h"
#include "analysis/statistics/stats.h"
#include "analysis/statistics/undisturbed.h"
#include "base/mem.h"
#include "ptx/hint.h"
#include "study/assume.h"
#include "study/load/sweep.h"

/* clang-format off */
#define OF_FORM(form)                                                          \
    {ONE("transpose." form), "bandwidth",           "B/s"},                    \
    {ONE("transpose." form), "threads",             "threads"},                \
    {ONE("transpose." form), "blocks",              "blocks"},                 \
    {ONE("transpose." form), "blocks_per_sm",       "blocks"},                 \
    {ONE("transpose." form), "bandwidth_by_blocks", "B/s"},                    \
    {ONE("transpose." form), "load_effects",        ""},                       \
    {ONE("transpose." form), "store_effects",       ""},                       \
    {ONE("transpose." form), "hint_effects",        ""},                       \
    {ONE("transpose." form), "best_operators",      ""}
/* clang-format on */
static const struct answer answers[] = {
    OF_FORM("read_columns"),
    OF_FORM("write_columns"),
    OF_FORM("lines"),
    {0},
};
static const char *const forms[] = {"read_columns", "write_columns", "lines"};

static const char *const loads[] = {"default", "ca", "cg", "cs", "lu", "cv"};
static const char *const stores[] = {"default", "wb", "cg", "cs", "wt"};
enum { LOADS = COUNT_OF(loads), STORES = COUNT_OF(stores) };
/* The oldest GPUs' first, so that those of a newer one are at the end. */
/* clang-format off */
static const struct {
    const char *load, *store, *name;
} hints[] = {
    {"no_allocate", "default",     "ld.L1::no_allocate"},
    {"l1_first",    "default",     "ld.L1::evict_first"},
    {"l1_last",     "default",     "ld.L1::evict_last"},
    {"default",     "no_allocate", "st.L1::no_allocate"},
    {"l2_64B",      "default",     "ld.L2::64B"},
    {"l2_128B",     "default",     "ld.L2::128B"},
    {"l2_256B",     "default",     "ld.L2::256B"},
    {"l2_first",    "default",     "ld.L2::evict_first"},
    {"l2_normal",   "default",     "ld.L2::evict_normal"},
    {"l2_last",     "default",     "ld.L2::evict_last"},
    {"default",     "l2_first",    "st.L2::evict_first"},
    {"default",     "l2_last",     "st.L2::evict_last"},
};
/* clang-format on */
enum { HINTS = COUNT_OF(hints) };

/* Of dozens of operators none should be better by chance. */
static const double effect_confidence = 0.99;
enum { REPEATS_SEARCH = 3, REPEATS_FINAL = 9, TURNS = 7 };
/* A matrix is so many times what L2 holds, and no more than the probe takes. */
enum { SETS = 2, EDGE_MOST = 32736, LINE = 32 };
/* Blocks that give no more, in a row, before the search ends. */
enum { PATIENCE = 2 };

static const unsigned block_sizes[] = {32, 64, 128, 256, 512, 1024};
static const unsigned block_counts[] = {1,  2,  3,  4,  5,  6, 8,
                                        10, 12, 16, 20, 24, 32};
enum { SIZES = COUNT_OF(block_sizes), COUNTS = COUNT_OF(block_counts) };

/* A launch: threads of a block, blocks for each SM. */
struct config {
    unsigned threads, each;
    double rate; /* B/s, 0: not measured */
};

/* One way to transpose, on this GPU. */
struct transpose_question {
    struct lab *lab;
    const char *form, *component;
    unsigned sms, edge; /* elements of a row and of a column */
    bool by_event;      /* the timer is too coarse: the launch's time counts */
    size_t hints;       /* that the GPU has */
    struct config best; /* the launch that is fastest */
    /* All launches that were tried. */
    size_t tried_count;
    struct config tried[SIZES * (COUNTS + 16)];
};

/* ---- one experiment ---------------------------------------------------- */

/* What is transposed with. */
struct way {
    const char *load, *store;
    unsigned repeats, turn;
};
static const struct way plain = {"default", "default", 1, 0};

static const char *text_of(const struct transpose_question *q,
                           const struct config *c, const struct way *way)
{
    return lab_text(q->lab,
                    "transpose form=%s load=%s store=%s threads=%u blocks=%u "
                    "rows=%u columns=%u turn=%u repeats=%u",
                    q->form, way->load, way->store, c->threads,
                    c->each * q->sms, q->edge, q->edge, way->turn,
                    way->repeats);
}

static struct column times_of(const struct transpose_question *q,
                              const struct samples *s)
{
    return lab_column_of(q->lab, s, q->by_event ? "ns_event" : "ns");
}

static struct column rates_of(const struct transpose_question *q,
                              const struct config *c, const struct way *way)
{
    struct lab *const lab = q->lab;
    const struct samples *const s = lab_probe(lab, "%s", text_of(q, c, way));
    struct column rates = lab_column_of(lab, s, "bytes");
    const struct column ns = times_of(q, s);
    for (size_t i = 0; i < rates.count; i++)
        rates.at[i] *= 1e9 / ns.at[i];
    return rates;
}

/* The first experiment tells whether the timer will do: it is too coarse if its
 * steps are seen in the rate, or if it did not go on at all. */
static bool is_timer_coarse(const struct transpose_question *q)
{
    const struct config c = {.threads = block_sizes[0], .each = 1};
    const struct samples *const s =
        lab_probe(q->lab, "%s", text_of(q, &c, &plain));
    const struct column ns = lab_column_of(q->lab, s, "ns");
    const struct column step = lab_column_of(q->lab, s, "ns_step");
    return lab_ok(q->lab) &&
           (ns.at[0] <= 0 || step.at[0] > assume(ASSUME_TIMER_STEP) * ns.at[0]);
}

/* ---- the fastest launch ------------------------------------------------ */

static bool is_tried(const struct transpose_question *q, const struct config *c)
{
    for (size_t i = 0; i < q->tried_count; i++)
        if (q->tried[i].threads == c->threads && q->tried[i].each == c->each)
            return true;
    return false;
}

/* What the launch gives; 0 if it was tried before. */
static double try_launch(struct transpose_question *q, unsigned threads,
                         unsigned each)
{
    static const struct way way = {"default", "default", REPEATS_SEARCH, 0};
    struct config c = {.threads = threads, .each = each};
    if (q->tried_count == COUNT_OF(q->tried) || is_tried(q, &c))
        return 0;
    const struct column rates = rates_of(q, &c, &way);
    if (!lab_ok(q->lab))
        return 0;
    c.rate = stats_median(rates.at, rates.count);
    q->tried[q->tried_count++] = c;
    return c.rate;
}

/* Blocks of this size, ever more of them; more than twice what is on an SM at
 * once is the same over again. */
static void try_size(struct transpose_question *q, unsigned threads)
{
    const uint64_t most =
        2 * device_told(q->lab->info, PROPERTY_SM_THREADS, 2048) / threads;
    struct grow grow = {.least = assume(ASSUME_ALIKE), .patience = PATIENCE};
    for (size_t i = 0; i < COUNTS && (i == 0 || block_counts[i] <= most); i++)
        if (!grow_more(&grow, try_launch(q, threads, block_counts[i])))
            return;
}

/* True if a is the better choice: as good as the best with fewer threads. */
static bool is_better(const struct config *a, const struct config *b,
                      double best)
{
    const bool a_good = a->rate >= best * (1 - assume(ASSUME_ALIKE));
    const bool b_good = b->rate >= best * (1 - assume(ASSUME_ALIKE));
    const unsigned a_threads = a->threads * a->each;
    const unsigned b_threads = b->threads * b->each;
    if (a_good != b_good)
        return a_good;
    return a_threads != b_threads ? a_threads < b_threads : a->each < b->each;
}

static struct config best_of(const struct transpose_question *q)
{
    double best = 0;
    for (size_t i = 0; i < q->tried_count; i++)
        best = fmax(best, q->tried[i].rate);
    size_t chosen = 0;
    for (size_t i = 1; i < q->tried_count; i++)
        if (is_better(&q->tried[i], &q->tried[chosen], best))
            chosen = i;
    return q->tried[chosen];
}

/* Each size of a block; then one block less or more, as long as that is
 * better. */
static void find_best(struct transpose_question *q)
{
    const uint64_t most =
        device_told(q->lab->info, PROPERTY_BLOCK_THREADS, 1024);
    for (size_t i = 0; i < SIZES && block_sizes[i] <= most; i++)
        try_size(q, block_sizes[i]);
    struct config from;
    q->best = best_of(q);
    do {
        from = q->best;
        if (from.each > 1)
            try_launch(q, from.threads, from.each - 1);
        try_launch(q, from.threads, from.each + 1);
        q->best = best_of(q);
    } while (q->best.each != from.each || q->best.threads != from.threads);
}

/* ---- what was found ---------------------------------------------------- */

static void say_launch(const struct transpose_question *q, struct finding *f)
{
    finding_protocol(f, "threads", value_number(q->best.threads));
    finding_protocol(f, "blocks", value_number(q->best.each * q->sms));
    finding_protocol(f, "rows", value_number(q->edge));
    finding_protocol(f, "columns", value_number(q->edge));
    finding_protocol(f, "timer",
                     value_text(q->by_event ? "launch" : "globaltimer"));
}

static struct finding *report_number(const struct transpose_question *q,
                                     const char *attribute, double number,
                                     const char *experiment)
{
    struct finding *const f = lab_finding(q->lab, q->component, attribute);
    finding_measured(f, number);
    finding_protocol(f, "alike", value_number(assume(ASSUME_ALIKE)));
    finding_cite(f, experiment);
    say_launch(q, f);
    return f;
}

static int by_blocks(const void *a, const void *b)
{
    const struct config *const x = a, *const y = b;
    return (x->each > y->each) - (x->each < y->each);
}

/* By how many blocks the best size has. */
static void report_by_blocks(struct transpose_question *q)
{
    static const struct way way = {"default", "default", REPEATS_SEARCH, 0};
    struct sweep s = sweep_begin(q->lab, q->component, "bandwidth_by_blocks",
                                 "blocks_per_sm");
    qsort(q->tried, q->tried_count, sizeof *q->tried, by_blocks);
    for (size_t i = 0; i < q->tried_count; i++) {
        const struct config *const c = &q->tried[i];
        if (c->threads == q->best.threads)
            sweep_add(&s, value_number(c->each), c->rate, text_of(q, c, &way));
    }
    sweep_end(&s);
    say_launch(q, s.finding);
}

static void report_best(struct transpose_question *q)
{
    static const struct way way = {"default", "default", REPEATS_FINAL, 0};
    const struct samples *const s =
        lab_probe(q->lab, "%s", text_of(q, &q->best, &way));
    const struct column ns = times_of(q, s);
    const struct column step = lab_column_of(q->lab, s, "ns_step");
    const struct column bytes = lab_column_of(q->lab, s, "bytes");
    if (!lab_ok(q->lab))
        return;
    const char *const e = ns.experiment;
    const struct undisturbed u = undisturbed_of(ns.at, ns.count, step.at[0]);
    const double work = 1e9 * bytes.at[0];
    struct finding *const f = report_number(q, "bandwidth", work / u.cycles, e);
    /* Either reading of the timer lags by less than a step. */
    if (u.low > step.at[0])
        finding_interval(f, work / (u.high + step.at[0]),
                         work / (u.low - step.at[0]),
                         LAB_CONFIDENCE_PERCENT / 100.0);
    report_number(q, "threads", q->best.threads, e);
    report_number(q, "blocks", q->best.each * q->sms, e);
    report_number(q, "blocks_per_sm", q->best.each, e);
    report_by_blocks(q);
}

/* ---- operators --------------------------------------------------------- */

/* Rates in each turn; [0][0] of pairs is the default. */
struct turns {
    double pairs[LOADS][STORES][TURNS];
    double again[TURNS]; /* the default once more */
    double hinted[HINTS][TURNS];
    double noise; /* what the default differs by from itself */
};

static double rate_in_turn(const struct transpose_question *q, const char *load,
                           const char *store, unsigned turn)
{
    const struct way way = {load, store, 1, turn};
    const struct column rates = rates_of(q, &q->best, &way);
    return rates.count > 0 ? rates.at[0] : 0;
}

static void measure_turn(const struct transpose_question *q, struct turns *t,
                         unsigned turn)
{
    for (size_t l = 0; l < LOADS; l++)
        for (size_t s = 0; s < STORES; s++)
            t->pairs[l][s][turn] =
                rate_in_turn(q, loads[l], stores[s], turn + 1);
    for (size_t h = 0; h < q->hints; h++)
        t->hinted[h][turn] =
            rate_in_turn(q, hints[h].load, hints[h].store, turn + 1);
    t->again[turn] = rate_in_turn(q, "default", "default", TURNS + turn + 1);
}

/* Kernels of all operators, assembled together. */
static void prepare(const struct transpose_question *q)
{
    const struct config c = {.threads = block_sizes[0], .each = 1};
    const char *texts[LOADS * STORES + HINTS];
    size_t n = 0;
    for (size_t i = 0; i < LOADS * STORES; i++)
        texts[n++] = text_of(
            q, &c, &(struct way){loads[i / STORES], stores[i % STORES], 1, 0});
    for (size_t h = 0; h < q->hints; h++)
        texts[n++] =
            text_of(q, &c, &(struct way){hints[h].load, hints[h].store, 1, 0});
    prober_prepare(q->lab->prober, texts, n);
}

/* Effects of some operators, as they are put together. */
struct effects {
    const struct transpose_question *q;
    double noise;
    struct rng rng;
    struct value words, names, percent, low, high;
};

static struct effects effects_of(const struct transpose_question *q,
                                 const struct turns *t)
{
    struct effects e = {.q = q,
                        .noise = t->noise,
                        .words = value_list(),
                        .names = value_list(),
                        .percent = value_list(),
                        .low = value_list(),
                        .high = value_list()};
    rng_seed(&e.rng, prober_seed(q->lab->prober));
    return e;
}

static double percent_of(double ratio)
{
    return 100 * (ratio - 1);
}

/* True if the default differs from itself by so much, more than a step of the
 * clock up and one down, that what does not show may yet be there. */
static bool hides(double noise)
{
    return noise > 2 * assume(ASSUME_ALIKE);
}

static void add_effect(struct effects *e, const char *name,
                       const double *changed, const double *unchanged, size_t n)
{
    char text[32];
    const struct paired_ratio effect =
        paired_ratio_of(changed, unchanged, n, effect_confidence, &e->rng);
    snprintf(text, sizeof text, "%+.1f %%", percent_of(effect.ratio));
    const bool shows = paired_ratio_shows(&effect, e->noise);
    value_push(&e->words, shows             ? value_text(text)
                          : hides(e->noise) ? (struct value){0}
                                            : value_text("none"));
    value_push(&e->names, value_text(name));
    value_push(&e->percent, value_number(percent_of(effect.ratio)));
    value_push(&e->low, value_number(percent_of(effect.low)));
    value_push(&e->high, value_number(percent_of(effect.high)));
}

/* The finding, whose evidence is the first turn with these operators. */
static struct finding *report_effects(struct effects *e, const char *attribute)
{
    const struct transpose_question *const q = e->q;
    struct finding *const f = lab_finding(q->lab, q->component, attribute);
    finding_value(f, STATUS_MEASURED, e->words);
    finding_protocol(f, "operators", e->names);
    finding_protocol(f, "percent", e->percent);
    finding_protocol(f, "low", e->low);
    finding_protocol(f, "high", e->high);
    finding_protocol(f, "repetition_percent", value_number(100 * e->noise));
    finding_protocol(f, "turns", value_number(TURNS));
    say_launch(q, f);
    return f;
}

static void cite_turn(const struct transpose_question *q, struct finding *f,
                      const char *load, const char *store)
{
    finding_cite(f, text_of(q, &q->best, &(struct way){load, store, 1, 1}));
}

/* A load operator, with every store operator, against the default with that. */
static void report_loads(const struct transpose_question *q,
                         const struct turns *t)
{
    struct effects e = effects_of(q, t);
    for (size_t l = 1; l < LOADS; l++)
        add_effect(&e, loads[l], t->pairs[l][0], t->pairs[0][0],
                   STORES * TURNS);
    struct finding *const f = report_effects(&e, "load_effects");
    for (size_t l = 0; l < 3; l++)
        cite_turn(q, f, loads[l], "default");
}

static void report_stores(const struct transpose_question *q,
                          const struct turns *t)
{
    struct effects e = effects_of(q, t);
    for (size_t s = 1; s < STORES; s++) {
        double changed[LOADS * TURNS], unchanged[LOADS * TURNS];
        for (size_t l = 0; l < LOADS; l++) {
            memcpy(changed + l * TURNS, t->pairs[l][s], sizeof t->pairs[l][s]);
            memcpy(unchanged + l * TURNS, t->pairs[l][0],
                   sizeof t->pairs[l][0]);
        }
        add_effect(&e, stores[s], changed, unchanged, LOADS * TURNS);
    }
    struct finding *const f = report_effects(&e, "store_effects");
    cite_turn(q, f, "default", "default");
    cite_turn(q, f, "default", "wt");
}

static void report_hints(const struct transpose_question *q,
                         const struct turns *t)
{
    if (q->hints == 0) {
        lab_requires(q->lab, CAP_L1_EVICTION,
                     lab_text(q->lab, "%s.hint_effects", q->component));
        return;
    }
    struct effects e = effects_of(q, t);
    for (size_t h = 0; h < q->hints; h++)
        add_effect(&e, hints[h].name, t->hinted[h], t->pairs[0][0], TURNS);
    struct finding *const f = report_effects(&e, "hint_effects");
    cite_turn(q, f, "default", "default");
    cite_turn(q, f, "no_allocate", "default");
}

/* "ld.cg st.wt" */
static const char *words_of(struct lab *lab, size_t l, size_t s)
{
    if (l == 0 && s == 0)
        return "default";
    return lab_text(lab, "ld%s%s st%s%s", l > 0 ? "." : "",
                    l > 0 ? loads[l] : "", s > 0 ? "." : "",
                    s > 0 ? stores[s] : "");
}

/* The pair that gives most; the default where it is no better than that. */
static void report_pair(const struct transpose_question *q,
                        const struct turns *t)
{
    struct paired_ratio best = {1, 1, 1};
    struct rng rng;
    size_t load = 0, store = 0;
    rng_seed(&rng, prober_seed(q->lab->prober));
    for (size_t i = 1; i < LOADS * STORES; i++) {
        const size_t l = i / STORES, s = i % STORES;
        const struct paired_ratio e = paired_ratio_of(
            t->pairs[l][s], t->pairs[0][0], TURNS, effect_confidence, &rng);
        if (!paired_ratio_shows(&e, t->noise) || e.ratio <= best.ratio)
            continue;
        best = e;
        load = l;
        store = s;
    }
    struct finding *const f =
        lab_finding(q->lab, q->component, "best_operators");
    if (best.ratio == 1 && hides(t->noise))
        finding_none(f, why_default_differs, 100 * t->noise);
    else
        finding_value(f, STATUS_MEASURED,
                      value_text(words_of(q->lab, load, store)));
    finding_protocol(f, "percent", value_number(percent_of(best.ratio)));
    finding_protocol(f, "low", value_number(percent_of(best.low)));
    finding_protocol(f, "high", value_number(percent_of(best.high)));
    say_launch(q, f);
    cite_turn(q, f, loads[load], stores[store]);
}

/* What the default differs by from itself, a thousandth at least: half a step
 * of the timer may be as much. */
static double noise_of(const struct transpose_question *q,
                       const struct turns *t)
{
    struct rng rng;
    rng_seed(&rng, prober_seed(q->lab->prober));
    const struct paired_ratio same = paired_ratio_of(
        t->again, t->pairs[0][0], TURNS, effect_confidence, &rng);
    return fmax(paired_ratio_noise(&same), 0.001);
}

static void transpose_ask_operators(const struct transpose_question *q)
{
    struct turns *const t = lab_alloc(q->lab, 1, sizeof *t);
    for (unsigned turn = 0; lab_ok(q->lab) && turn < TURNS; turn++)
        measure_turn(q, t, turn);
    if (!lab_ok(q->lab))
        return;
    t->noise = noise_of(q, t);
    report_loads(q, t);
    report_stores(q, t);
    report_hints(q, t);
    report_pair(q, t);
}

/* ---- the study --------------------------------------------------------- */

static void transpose_ask_form(struct transpose_question *q)
{
    prepare(q);
    q->by_event = is_timer_coarse(q);
    if (lab_ok(q->lab))
        find_best(q);
    if (lab_ok(q->lab))
        report_best(q);
    if (lab_ok(q->lab))
        transpose_ask_operators(q);
}

/* Rows of whole lines, so many that a matrix is more than L2 holds; an odd
 * number of lines, so that columns do not all meet in some sets of caches. */
static unsigned edge_of(uint64_t l2)
{
    const double elements = (double)SETS * (double)l2 / 4;
    const double lines = ceil(sqrt(elements) / LINE);
    const double most = (double)EDGE_MOST / LINE;
    return LINE * ((unsigned)fmin(lines, most) | 1);
}

/* How many the GPU has. */
static size_t hints_of(const struct device_info *info)
{
    struct error ignored;
    size_t n = 0;
    while (n < HINTS &&
           hint_check(hint_find(hints[n].load), info, &ignored) == 0 &&
           hint_check(hint_find(hints[n].store), info, &ignored) == 0)
        n++;
    return n;
}

static void transpose_run(struct lab *lab)
{
    const uint64_t l2 = device_told(lab->info, PROPERTY_L2_BYTES, 0);
    if (l2 == 0) {
        lab_leave_open(lab, why_l2_untold);
        return;
    }
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(forms); i++) {
        struct transpose_question *const q = lab_alloc(lab, 1, sizeof *q);
        *q = (struct transpose_question){
            .lab = lab,
            .form = forms[i],
            .component = lab_text(lab, "transpose.%s", forms[i]),
            .sms = lab_sms(lab),
            .edge = edge_of(l2),
            .hints = hints_of(lab->info)};
        transpose_ask_form(q);
        const char *const why = lab_excuse(lab);
        if (why != NULL)
            lab_refuse(lab, lab_text(lab, "%s.*", q->component), "%s", why);
    }
}

const struct study study_transpose = {
    .name = "operators",
    .question = "What do cache operators change where memory counts?",
    .method =
        "A matrix is transposed in three ways.  For each the block size and "
        "number of blocks that are fastest are searched; with these all load "
        "and store operators are measured in turns, and each is compared with "
        "the default of its turn.",
    .answers = answers,
    .apart = true,
    .under_load = true,
    .averages = TEXTS("transpose.*"),
    .run = transpose_run,
};
