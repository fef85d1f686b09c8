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
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/paired_ratio.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

#define OF_FORM(form)                                                          \
    "transpose." form ".bandwidth", "transpose." form ".threads",              \
        "transpose." form ".blocks", "transpose." form ".blocks_per_sm",       \
        "transpose." form ".bandwidth_by_blocks",                              \
        "transpose." form ".load_effects", "transpose." form ".store_effects", \
        "transpose." form ".hint_effects", "transpose." form ".best_operators"

static const char *const needs[] = {NULL};
static const char *const gives[] = {
    OF_FORM("read_columns"), OF_FORM("write_columns"), OF_FORM("lines"), NULL};
static const char *const forms[] = {"read_columns", "write_columns", "lines"};

static const char *const loads[] = {"default", "ca", "cg", "cs", "lu", "cv"};
static const char *const stores[] = {"default", "wb", "cg", "cs", "wt"};
enum { LOADS = COUNT_OF(loads), STORES = COUNT_OF(stores) };
/* The oldest GPUs' first, so that those of a newer one are at the end. */
/* clang-format off */
static const struct {
    const char *load, *store, *name;
    int cc;
} hints[] = {
    {"no_allocate", "default",     "ld.L1::no_allocate",  70},
    {"l1_first",    "default",     "ld.L1::evict_first",  70},
    {"l1_last",     "default",     "ld.L1::evict_last",   70},
    {"default",     "no_allocate", "st.L1::no_allocate",  70},
    {"l2_64B",      "default",     "ld.L2::64B",          75},
    {"l2_128B",     "default",     "ld.L2::128B",         75},
    {"l2_256B",     "default",     "ld.L2::256B",         80},
    {"l2_first",    "default",     "ld.L2::evict_first",  80},
    {"l2_normal",   "default",     "ld.L2::evict_normal", 80},
    {"l2_last",     "default",     "ld.L2::evict_last",   80},
    {"default",     "l2_first",    "st.L2::evict_first",  80},
    {"default",     "l2_last",     "st.L2::evict_last",   80},
};
/* clang-format on */
enum { HINTS = COUNT_OF(hints) };

/* Less more is no more; and what is as good. */
static const double alike = 0.01;
enum { REPEATS_SEARCH = 3, REPEATS_FINAL = 9, TURNS = 7 };
/* A matrix is so many times what L2 holds, and no more than the probe takes. */
enum { SETS = 2, EDGE_MOST = 32736, LINE = 32 };
/* Blocks that give no more, in a row, before the search ends. */
enum { PATIENCE = 2 };

static const unsigned block_sizes[] = {32, 64, 128, 256, 512, 1024};
static const unsigned block_counts[] = {1,  2,  3,  4,  5,  6, 8,
                                        10, 12, 16, 20, 24, 32};
enum { SIZES = COUNT_OF(block_sizes), COUNTS = COUNT_OF(block_counts) };

/* One way to transpose, on this GPU. */
struct question {
    struct lab *lab;
    const char *form;
    char component[32];
    unsigned sms, edge; /* elements of a row and of a column */
    bool by_event;      /* the timer is too coarse: the launch's time counts */
    size_t hints;       /* that the GPU has */
};

/* ---- one experiment ---------------------------------------------------- */

/* A launch: threads of a block, blocks for each SM. */
struct config {
    unsigned threads, each;
    double rate; /* B/s, 0: not measured */
};

static double at(const struct samples *s, size_t row, const char *column)
{
    return (double)samples_at(s, row, samples_column(s, column));
}

/* So coarse that it is seen in the rate, or that it did not go on at all. */
static bool is_coarse(const struct samples *s)
{
    const double ns = at(s, 0, "ns");
    return ns <= 0 || at(s, 0, "ns_step") > 0.002 * ns;
}

static double rate_of(const struct question *q, const struct samples *s,
                      size_t row)
{
    const char *const time = q->by_event ? "ns_event" : "ns";
    return 1e9 * at(s, row, "bytes") / at(s, row, time);
}

static char *text_of(const struct question *q, const struct config *c,
                     const char *load, const char *store, unsigned repeats,
                     unsigned turn)
{
    return xasprintf("transpose form=%s load=%s store=%s threads=%u blocks=%u "
                     "rows=%u columns=%u turn=%u repeats=%u",
                     q->form, load, store, c->threads, c->each * q->sms,
                     q->edge, q->edge, turn, repeats);
}

/* Rates of the repetitions; `*text` (may be NULL) is the experiment (free). */
static int measure(const struct question *q, const struct config *c,
                   const char *load, const char *store, unsigned repeats,
                   unsigned turn, double *rates, char **text, struct error *err)
{
    struct samples samples;
    char *const words = text_of(q, c, load, store, repeats, turn);
    if (lab_probe_err(q->lab, &samples, text, err, "%s", words) == 0) {
        for (size_t i = 0; i < samples.rows && i < repeats; i++)
            rates[i] = rate_of(q, &samples, i);
        samples_free(&samples);
    }
    free(words);
    return err->code;
}

/* ---- the fastest launch ------------------------------------------------ */

/* All launches that were tried. */
struct tried {
    size_t count;
    struct config list[SIZES * (COUNTS + 16)];
};

static bool is_tried(const struct tried *t, unsigned threads, unsigned each)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->list[i].threads == threads && t->list[i].each == each)
            return true;
    return false;
}

static int try(const struct question *q, struct tried *t, unsigned threads,
               unsigned each, double *rate, struct error *err)
{
    double rates[REPEATS_SEARCH];
    struct config *const c = &t->list[t->count];
    *c = (struct config){.threads = threads, .each = each};
    *rate = 0;
    if (t->count == COUNT_OF(t->list) || is_tried(t, threads, each))
        return 0;
    if (measure(q, c, "default", "default", REPEATS_SEARCH, 0, rates, NULL,
                err) != 0)
        return err->code;
    *rate = c->rate = stats_median(rates, REPEATS_SEARCH);
    t->count++;
    return 0;
}

/* Blocks of this size, ever more of them; more than twice what is on an SM at
 * once is the same over again. */
static int try_size(const struct question *q, struct tried *t, unsigned threads,
                    struct error *err)
{
    const uint64_t most =
        2 * device_told(q->lab->info, PROPERTY_SM_THREADS, 2048) / threads;
    double best = 0;
    unsigned vain = 0;
    for (size_t i = 0; i < COUNTS && vain < PATIENCE; i++) {
        double rate;
        if (block_counts[i] > most && i > 0)
            break;
        if (try(q, t, threads, block_counts[i], &rate, err) != 0)
            return err->code;
        vain = rate > best * (1 + alike) ? 0 : vain + 1;
        best = fmax(best, rate);
    }
    return 0;
}

/* True if a is the better choice: as good as the best with fewer threads. */
static bool is_better(const struct config *a, const struct config *b,
                      double best)
{
    const bool a_good = a->rate >= best * (1 - alike);
    const bool b_good = b->rate >= best * (1 - alike);
    const unsigned a_threads = a->threads * a->each;
    const unsigned b_threads = b->threads * b->each;
    if (a_good != b_good)
        return a_good;
    return a_threads != b_threads ? a_threads < b_threads : a->each < b->each;
}

static struct config best_of(const struct tried *t)
{
    double best = 0;
    for (size_t i = 0; i < t->count; i++)
        best = fmax(best, t->list[i].rate);
    size_t chosen = 0;
    for (size_t i = 1; i < t->count; i++)
        if (is_better(&t->list[i], &t->list[chosen], best))
            chosen = i;
    return t->list[chosen];
}

/* One block less or more, as long as that is better. */
static int refine(const struct question *q, struct tried *t,
                  struct config *best, struct error *err)
{
    struct config from;
    do {
        double rate;
        from = *best;
        if (from.each > 1 &&
            try(q, t, from.threads, from.each - 1, &rate, err) != 0)
            return err->code;
        if (try(q, t, from.threads, from.each + 1, &rate, err) != 0)
            return err->code;
        *best = best_of(t);
    } while (best->each != from.each || best->threads != from.threads);
    return 0;
}

/* The first experiment tells whether the timer will do. */
static int choose_timer(struct question *q, struct error *err)
{
    const struct config c = {.threads = block_sizes[0], .each = 1};
    struct samples samples;
    char *const text = text_of(q, &c, "default", "default", 1, 0);
    if (lab_probe_err(q->lab, &samples, NULL, err, "%s", text) == 0) {
        q->by_event = is_coarse(&samples);
        samples_free(&samples);
    }
    free(text);
    return err->code;
}

static int find_best(const struct question *q, struct tried *t,
                     struct config *best, struct error *err)
{
    const uint64_t most =
        device_told(q->lab->info, PROPERTY_BLOCK_THREADS, 1024);
    for (size_t i = 0; i < SIZES && block_sizes[i] <= most; i++)
        if (try_size(q, t, block_sizes[i], err) != 0)
            return err->code;
    *best = best_of(t);
    return refine(q, t, best, err);
}

/* ---- what was found ---------------------------------------------------- */

static void say_launch(const struct question *q, struct finding *f,
                       const struct config *c)
{
    finding_protocol(f, "threads", value_number(c->threads));
    finding_protocol(f, "blocks", value_number(c->each * q->sms));
    finding_protocol(f, "rows", value_number(q->edge));
    finding_protocol(f, "columns", value_number(q->edge));
    finding_protocol(f, "timer",
                     value_text(q->by_event ? "launch" : "globaltimer"));
}

static void report_number(const struct question *q, const char *attribute,
                          double number, const char *unit,
                          const struct config *c, const char *experiment)
{
    struct finding *const f = lab_finding(q->lab, q->component, attribute);
    finding_set(f, STATUS_MEASURED, value_number(number), unit);
    finding_protocol(f, "alike", value_number(alike));
    finding_evidence(f, experiment);
    say_launch(q, f, c);
}

static int by_blocks(const void *a, const void *b)
{
    const struct config *const x = a, *const y = b;
    return (x->each > y->each) - (x->each < y->each);
}

/* By how many blocks the best size has. */
static void report_by_blocks(const struct question *q, const struct tried *t,
                             const struct config *best)
{
    struct finding *const f =
        lab_finding(q->lab, q->component, "bandwidth_by_blocks");
    struct value rates = value_list(), each = value_list();
    struct tried sorted = *t;
    qsort(sorted.list, sorted.count, sizeof *sorted.list, by_blocks);
    for (size_t i = 0; i < sorted.count; i++) {
        if (sorted.list[i].threads != best->threads)
            continue;
        value_push(&rates, value_number(sorted.list[i].rate));
        value_push(&each, value_number(sorted.list[i].each));
        char *const text = text_of(q, &sorted.list[i], "default", "default",
                                   REPEATS_SEARCH, 0);
        finding_evidence(f, text);
        free(text);
    }
    finding_set(f, STATUS_MEASURED, rates, "B/s");
    finding_protocol(f, "blocks_per_sm", each);
    say_launch(q, f, best);
}

static int report_best(const struct question *q, const struct tried *t,
                       const struct config *best, struct error *err)
{
    double rates[REPEATS_FINAL];
    char *text;
    if (measure(q, best, "default", "default", REPEATS_FINAL, 0, rates, &text,
                err) != 0)
        return err->code;
    const struct stats_interval interval =
        lab_interval(q->lab, rates, REPEATS_FINAL);
    report_number(q, "bandwidth", stats_median(rates, REPEATS_FINAL), "B/s",
                  best, text);
    finding_interval(results_edit(q->lab->results, q->component, "bandwidth"),
                     interval.low, interval.high,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    report_number(q, "threads", best->threads, "threads", best, text);
    report_number(q, "blocks", best->each * q->sms, "blocks", best, text);
    report_number(q, "blocks_per_sm", best->each, "blocks", best, text);
    report_by_blocks(q, t, best);
    free(text);
    return 0;
}

/* ---- operators --------------------------------------------------------- */

/* Rates in each turn; [0][0] of pairs is the default. */
struct turns {
    double pairs[LOADS][STORES][TURNS];
    double again[TURNS]; /* the default once more */
    double hinted[HINTS][TURNS];
};

static int measure_turn(const struct question *q, const struct config *c,
                        struct turns *t, unsigned turn, struct error *err)
{
    for (size_t l = 0; l < LOADS; l++)
        for (size_t s = 0; s < STORES; s++)
            if (measure(q, c, loads[l], stores[s], 1, turn + 1,
                        &t->pairs[l][s][turn], NULL, err) != 0)
                return err->code;
    for (size_t h = 0; h < q->hints; h++)
        if (measure(q, c, hints[h].load, hints[h].store, 1, turn + 1,
                    &t->hinted[h][turn], NULL, err) != 0)
            return err->code;
    return measure(q, c, "default", "default", 1, TURNS + turn + 1,
                   &t->again[turn], NULL, err);
}

/* Kernels of all operators, assembled together. */
static void prepare(const struct question *q)
{
    const struct config c = {.threads = block_sizes[0], .each = 1};
    char *texts[LOADS * STORES + HINTS];
    size_t n = 0;
    for (size_t l = 0; l < LOADS; l++)
        for (size_t s = 0; s < STORES; s++)
            texts[n++] = text_of(q, &c, loads[l], stores[s], 1, 0);
    for (size_t h = 0; h < q->hints; h++)
        texts[n++] = text_of(q, &c, hints[h].load, hints[h].store, 1, 0);
    prober_prepare(q->lab->prober, (const char *const *)texts, n);
    while (n > 0)
        free(texts[--n]);
}

/* Effects of some operators, as they are put together. */
struct effects {
    const struct question *q;
    double noise;
    struct rng rng;
    struct value words, names, percent, low, high;
};

static struct effects effects_of(const struct question *q, double noise)
{
    struct effects e = {.q = q,
                        .noise = noise,
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

static void add_effect(struct effects *e, const char *name,
                       const double *changed, const double *plain, size_t n)
{
    char text[32];
    const struct paired_ratio effect = paired_ratio_of(
        changed, plain, n, LAB_CONFIDENCE_PERCENT / 100.0, &e->rng);
    snprintf(text, sizeof text, "%+.1f %%", percent_of(effect.ratio));
    const bool shows = paired_ratio_shows(&effect, e->noise);
    value_push(&e->words, value_text(shows ? text : "none"));
    value_push(&e->names, value_text(name));
    value_push(&e->percent, value_number(percent_of(effect.ratio)));
    value_push(&e->low, value_number(percent_of(effect.low)));
    value_push(&e->high, value_number(percent_of(effect.high)));
}

static void report_effects(struct effects *e, const char *attribute,
                           const struct config *c, const char *const *evidence)
{
    const struct question *const q = e->q;
    struct finding *const f = lab_finding(q->lab, q->component, attribute);
    finding_set(f, STATUS_MEASURED, e->words, "");
    finding_protocol(f, "operators", e->names);
    finding_protocol(f, "percent", e->percent);
    finding_protocol(f, "low", e->low);
    finding_protocol(f, "high", e->high);
    finding_protocol(f, "repetition_percent", value_number(100 * e->noise));
    finding_protocol(f, "turns", value_number(TURNS));
    say_launch(q, f, c);
    for (; *evidence != NULL; evidence++) {
        const bool loads_differ = strcmp(attribute, "store_effects") != 0;
        char *const text = text_of(q, c, loads_differ ? *evidence : "default",
                                   loads_differ ? "default" : *evidence, 1, 1);
        finding_evidence(f, text);
        free(text);
    }
}

/* A load operator, with every store operator, against the default with that. */
static void report_loads(const struct question *q, const struct turns *t,
                         const struct config *c, double noise)
{
    static const char *const evidence[] = {"default", "ca", "cg", NULL};
    struct effects e = effects_of(q, noise);
    for (size_t l = 1; l < LOADS; l++)
        add_effect(&e, loads[l], t->pairs[l][0], t->pairs[0][0],
                   STORES * TURNS);
    report_effects(&e, "load_effects", c, evidence);
}

static void report_stores(const struct question *q, const struct turns *t,
                          const struct config *c, double noise)
{
    static const char *const evidence[] = {"default", "wt", NULL};
    struct effects e = effects_of(q, noise);
    for (size_t s = 1; s < STORES; s++) {
        double changed[LOADS * TURNS], plain[LOADS * TURNS];
        for (size_t l = 0; l < LOADS; l++) {
            memcpy(changed + l * TURNS, t->pairs[l][s], sizeof t->pairs[l][s]);
            memcpy(plain + l * TURNS, t->pairs[l][0], sizeof t->pairs[l][0]);
        }
        add_effect(&e, stores[s], changed, plain, LOADS * TURNS);
    }
    report_effects(&e, "store_effects", c, evidence);
}

static void report_hints(const struct question *q, const struct turns *t,
                         const struct config *c, double noise)
{
    static const char *const evidence[] = {"default", "no_allocate", NULL};
    if (q->hints == 0) {
        struct finding *const f =
            lab_finding(q->lab, q->component, "hint_effects");
        finding_none(f, "hints need compute capability 7.0, this is %d.%d",
                     q->lab->info->cc_major, q->lab->info->cc_minor);
        f->skipped = true;
        return;
    }
    struct effects e = effects_of(q, noise);
    for (size_t h = 0; h < q->hints; h++)
        add_effect(&e, hints[h].name, t->hinted[h], t->pairs[0][0], TURNS);
    report_effects(&e, "hint_effects", c, evidence);
}

/* The pair that gives most; the default where it is no better than that. */
static void report_pair(const struct question *q, const struct turns *t,
                        const struct config *c, double noise)
{
    struct finding *const f =
        lab_finding(q->lab, q->component, "best_operators");
    struct paired_ratio best = {1, 1, 1};
    struct rng rng;
    const char *load = loads[0], *store = stores[0];
    char words[32] = "default";
    rng_seed(&rng, prober_seed(q->lab->prober));
    for (size_t i = 1; i < LOADS * STORES; i++) {
        const size_t l = i / STORES, s = i % STORES;
        const struct paired_ratio e =
            paired_ratio_of(t->pairs[l][s], t->pairs[0][0], TURNS,
                            LAB_CONFIDENCE_PERCENT / 100.0, &rng);
        if (!paired_ratio_shows(&e, noise) || e.ratio <= best.ratio)
            continue;
        best = e;
        load = loads[l];
        store = stores[s];
        snprintf(words, sizeof words, "ld%s%s st%s%s", l > 0 ? "." : "",
                 l > 0 ? loads[l] : "", s > 0 ? "." : "",
                 s > 0 ? stores[s] : "");
    }
    finding_set(f, STATUS_MEASURED, value_text(words), "");
    finding_protocol(f, "percent", value_number(percent_of(best.ratio)));
    finding_protocol(f, "low", value_number(percent_of(best.low)));
    finding_protocol(f, "high", value_number(percent_of(best.high)));
    say_launch(q, f, c);
    char *const text = text_of(q, c, load, store, 1, 1);
    finding_evidence(f, text);
    free(text);
}

static int ask_operators(const struct question *q, const struct config *c,
                         struct error *err)
{
    struct turns *const t = xcalloc(1, sizeof *t);
    struct rng rng;
    for (unsigned turn = 0; err->code == 0 && turn < TURNS; turn++)
        measure_turn(q, c, t, turn, err);
    if (err->code == 0) {
        rng_seed(&rng, prober_seed(q->lab->prober));
        const struct paired_ratio same =
            paired_ratio_of(t->again, t->pairs[0][0], TURNS,
                            LAB_CONFIDENCE_PERCENT / 100.0, &rng);
        const double noise = fmax(paired_ratio_noise(&same), 0.001);
        report_loads(q, t, c, noise);
        report_stores(q, t, c, noise);
        report_hints(q, t, c, noise);
        report_pair(q, t, c, noise);
    }
    free(t);
    return err->code;
}

/* ---- the study --------------------------------------------------------- */

static int ask_form(struct question *q, struct error *err)
{
    struct tried tried = {0};
    struct config best;
    prepare(q);
    if (choose_timer(q, err) != 0 || find_best(q, &tried, &best, err) != 0 ||
        report_best(q, &tried, &best, err) != 0)
        return err->code;
    return ask_operators(q, &best, err);
}

/* Whatever has no finding gets one that says why. */
static void leave(struct lab *lab, const char *component, const char *why)
{
    const size_t length = strlen(component);
    for (const char *const *id = gives; *id != NULL; id++)
        if (strncmp(*id, component, length) == 0 &&
            results_find(lab->results, *id) == NULL)
            finding_none(results_add(lab->results, *id, lab->study->name), "%s",
                         why);
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
    const int cc = 10 * info->cc_major + info->cc_minor;
    size_t n = 0;
    while (n < HINTS && hints[n].cc <= cc)
        n++;
    return n;
}

static int run(struct lab *lab, struct error *err)
{
    const uint64_t l2 = device_told(lab->info, PROPERTY_L2_BYTES, 0);
    *err = (struct error){0};
    if (l2 == 0) {
        leave(lab, "transpose.", "the driver does not tell how large L2 is");
        return 0;
    }
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct question q = {
            .lab = lab,
            .form = forms[i],
            .sms = (unsigned)device_told(lab->info, PROPERTY_SMS, 1),
            .edge = edge_of(l2),
            .hints = hints_of(lab->info)};
        snprintf(q.component, sizeof q.component, "transpose.%s", forms[i]);
        if (ask_form(&q, err) == 0)
            continue;
        if (!lab_excuses(err->code))
            return err->code;
        leave(lab, q.component, err->text);
        *err = (struct error){0};
    }
    return 0;
}

const struct study study_transpose = {
    .name = "operators",
    .question = "What do cache operators change where memory counts?",
    .method =
        "A matrix is transposed in three ways.  For each the block size and "
        "number of blocks that are fastest are searched; with these all load "
        "and store operators are measured in turns, and each is compared with "
        "the default of its turn.",
    .needs = needs,
    .gives = gives,
    .apart = true,
    .under_load = true,
    .run_err = run,
};
