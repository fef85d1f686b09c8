/*
 * What L2 makes of what loads tell it (PTX ISA 7.4: policies by createpolicy,
 * .L2::64B and its kin, prefetch).
 *
 * Keeping: a set that is a quarter of L2 is loaded, then twice what L2 holds
 * passes through it, then some elements of the set are loaded again and timed.
 * How many are still found, by what the loads of either said.
 *
 * Fetching: one sector of every place is loaded; then another one near it is
 * timed, on places that nothing else touched.  All that are found were brought
 * in by that one load.
 *
 * What is found is told element by element: each costs less than the middle of
 * what the same element, seen from the same SM, costs right after it was
 * loaded and after it was not.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {
    "l2.keeps_normal", "l2.keeps_evict_last", "l2.keeps_from_evict_first",
    "l2.fetched",      "l2.fetched_64B",      "l2.fetched_128B",
    "l2.fetched_256B", "l2.fetched_prefetch", NULL};

/* Shares of what L2 holds: of the set; of what passes. */
enum { SET_PART = 4, FLUSHES = 4, PASSES = 2, SECTOR = 32 };
/* Elements that are looked at lie so far apart that none brings in another. */
enum { LOOKS_MOST = 512, LOOKS_APART = 256 };
/* A place: what is loaded in it, and around that what is looked at, so far
 * that 256 B are seen on either side.  Places lie an odd number of 256 B apart,
 * so that they share few sets. */
enum { PLACES = 16, PLACE = 17 * 256, AT = 1024 + 96 };
enum { AROUND_FIRST = AT - 96 - 256, AROUND = 24 };
/* A miss that costs no more than this is no miss. */
static const double miss_least = 1.15;

/* An experiment's times, element by element. */
struct looks {
    size_t count;
    double *cycles; /* the owner frees */
};

/* ---- one experiment ---------------------------------------------------- */

struct question {
    struct lab *lab;
    uint64_t l2;
};

static void read_looks(const struct samples *s, struct looks *looks)
{
    const size_t cycles = samples_column(s, "cycles");
    looks->count = s->rows;
    looks->cycles = xcalloc(s->rows, sizeof *looks->cycles);
    for (size_t i = 0; i < s->rows; i++)
        looks->cycles[i] = (double)samples_at(s, i, cycles);
}

static int measure(const struct question *q, const char *words,
                   struct looks *looks, char **text, struct error *err)
{
    struct samples samples;
    *looks = (struct looks){0};
    if (lab_probe_err(q->lab, &samples, text, err,
                  "keep flush=%" PRIu64 " passing=%" PRIu64 " %s",
                  FLUSHES * q->l2, PASSES * q->l2, words) != 0)
        return err->code;
    read_looks(&samples, looks);
    samples_free(&samples);
    return 0;
}

/* What each element costs where it is in L2, and where it is not. */
struct scale {
    struct looks hit, miss;
};

static void scale_free(struct scale *scale)
{
    free(scale->hit.cycles);
    free(scale->miss.cycles);
}

static int measure_scale(const struct question *q, const char *where,
                         struct scale *scale, struct error *err)
{
    char *const hit = xasprintf("load=default %s", where);
    char *const miss = xasprintf("load=none %s", where);
    *scale = (struct scale){0};
    if (measure(q, hit, &scale->hit, NULL, err) == 0)
        measure(q, miss, &scale->miss, NULL, err);
    free(hit);
    free(miss);
    return err->code;
}

/* False where misses cost what hits do: then nothing can be told. */
static bool is_told(const struct scale *s)
{
    return stats_median(s->miss.cycles, s->miss.count) >
           miss_least * stats_median(s->hit.cycles, s->hit.count);
}

/* Elements that are found; those that tell nothing are not among `*of`. */
static size_t count_found(const struct scale *s, const struct looks *l,
                          size_t *of)
{
    size_t found = 0;
    *of = 0;
    for (size_t i = 0; i < l->count; i++) {
        const double hit = s->hit.cycles[i], miss = s->miss.cycles[i];
        if (miss <= miss_least * hit || l->cycles[i] <= 0)
            continue;
        ++*of;
        found += l->cycles[i] < 0.5 * (hit + miss);
    }
    return found;
}

/* ---- what is kept ------------------------------------------------------ */

/* Where a share is whose sample was so: Wilson's interval at 99 %. */
static void say_share(struct finding *f, size_t found, size_t of)
{
    static const double z = 2.5758;
    const double n = (double)of, p = (double)found / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half =
        z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    finding_set(f, STATUS_MEASURED, value_number(p), "");
    finding_interval(f, fmax(0, fmin(p, middle - half)),
                     fmin(1, fmax(p, middle + half)),
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_protocol(f, "looks", value_number(n));
}

static int ask_kept(const struct question *q, const char *where,
                    const struct scale *scale, const char *attribute,
                    const char *load, const char *pass, struct error *err)
{
    struct finding *const f = lab_finding(q->lab, "l2", attribute);
    struct looks looks;
    char *text;
    char *const words = xasprintf("load=%s pass=%s %s", load, pass, where);
    if (measure(q, words, &looks, &text, err) == 0) {
        size_t of;
        const size_t found = count_found(scale, &looks, &of);
        if (of < looks.count / 2)
            finding_none(f,
                         "of %zu elements %zu cost as much in L2 as in "
                         "memory",
                         looks.count, looks.count - of);
        else
            say_share(f, found, of);
        finding_protocol(f, "set_loads", value_text(load));
        finding_protocol(f, "passing_loads", value_text(pass));
        finding_protocol(f, "set", value_number((double)(q->l2 / SET_PART)));
        finding_protocol(f, "passing", value_number((double)(PASSES * q->l2)));
        finding_evidence(f, text);
        free(text);
        free(looks.cycles);
    }
    free(words);
    return err->code;
}

static bool has(const struct lab *lab, int cc)
{
    return 10 * lab->info->cc_major + lab->info->cc_minor >= cc;
}

/* Not measured since the GPU has no such instruction. */
static void skip(struct lab *lab, const char *attribute, int cc)
{
    struct finding *const f = lab_finding(lab, "l2", attribute);
    finding_none(f, "needs compute capability %d.%d, this is %d.%d", cc / 10,
                 cc % 10, lab->info->cc_major, lab->info->cc_minor);
    f->skipped = true;
}

static int ask_policies(const struct question *q, const char *where,
                        const struct scale *scale, struct error *err)
{
    if (ask_kept(q, where, scale, "keeps_normal", "default", "default", err) !=
        0)
        return err->code;
    if (!has(q->lab, 80)) {
        skip(q->lab, "keeps_evict_last", 80);
        skip(q->lab, "keeps_from_evict_first", 80);
        return 0;
    }
    if (ask_kept(q, where, scale, "keeps_evict_last", "l2_last", "default",
                 err) != 0)
        return err->code;
    return ask_kept(q, where, scale, "keeps_from_evict_first", "default",
                    "l2_first", err);
}

static int ask_keeping(const struct question *q, struct error *err)
{
    const uint64_t set = q->l2 / SET_PART / SECTOR * SECTOR;
    const uint64_t looks = set / LOOKS_APART;
    struct scale scale;
    char *const where =
        xasprintf("bytes=%" PRIu64 " stride=%d looks=%" PRIu64, set, SECTOR,
                  looks < LOOKS_MOST ? looks : (uint64_t)LOOKS_MOST);
    int status = measure_scale(q, where, &scale, err);
    if (status == 0 && is_told(&scale))
        status = ask_policies(q, where, &scale, err);
    scale_free(&scale);
    free(where);
    return status;
}

/* ---- what is fetched --------------------------------------------------- */

/* How a sector is loaded. */
static const struct fetch {
    const char *attribute, *load;
    int cc;
} fetches[] = {
    {"fetched", "cg", 0},
    {"fetched_64B", "l2_64B", 75},
    {"fetched_128B", "l2_128B", 75},
    {"fetched_256B", "l2_256B", 80},
    {"fetched_prefetch", "prefetch", 0},
};
enum { FETCHES = COUNT_OF(fetches) };

/* Sectors around the one that is loaded. */
struct around {
    struct scale scale[AROUND];
    char *where[AROUND];
};

static char *text_of_place(unsigned at, unsigned look)
{
    return xasprintf("bytes=%d stride=%d looks=%d at=%u look=%u",
                     PLACES * PLACE, PLACE, PLACES, at, look);
}

static int measure_around(const struct question *q, struct around *a,
                          struct error *err)
{
    for (unsigned i = 0; i < AROUND; i++) {
        const unsigned look = AROUND_FIRST + i * SECTOR;
        char *const itself = text_of_place(look, look);
        a->where[i] = text_of_place(AT, look);
        const int status = measure_scale(q, itself, &a->scale[i], err);
        free(itself);
        if (status != 0)
            return status;
    }
    return 0;
}

static void around_free(struct around *a)
{
    for (unsigned i = 0; i < AROUND; i++) {
        scale_free(&a->scale[i]);
        free(a->where[i]);
    }
}

/* Of each sector whether most places have it; false if none tells. */
static int look_around(const struct question *q, const struct around *a,
                       const char *load, bool *found, bool *told, char **text,
                       struct error *err)
{
    *told = true;
    *text = NULL;
    for (unsigned i = 0; i < AROUND; i++) {
        struct looks looks;
        size_t of;
        free(*text);
        *text = NULL;
        char *const words = xasprintf("load=%s %s", load, a->where[i]);
        const int status = measure(q, words, &looks, text, err);
        free(words);
        if (status != 0)
            return status;
        const size_t hits = count_found(&a->scale[i], &looks, &of);
        *told = *told && of > 0;
        found[i] = 2 * hits > of;
        free(looks.cycles);
    }
    return 0;
}

/* The run of sectors around the one that was loaded; what is found apart from
 * it puts the answer in doubt. */
static void report_fetched(struct finding *f, const bool *found)
{
    unsigned all = 0, first = (AT - AROUND_FIRST) / SECTOR;
    unsigned end = first;
    for (unsigned i = 0; i < AROUND; i++)
        all += found[i];
    if (found[first]) {
        while (first > 0 && found[first - 1])
            first--;
        while (end < AROUND && found[end])
            end++;
    }
    const bool open = end > first && (first == 0 || end == AROUND);
    finding_set(f, open ? STATUS_AT_LEAST : STATUS_MEASURED,
                value_number(SECTOR * (double)(end - first)), "B");
    finding_protocol(f, "from",
                     value_number((double)AROUND_FIRST + first * SECTOR - AT));
    if (open)
        finding_because(f, "all that was looked at on one side was there");
    else if (all != end - first)
        finding_because(f, "%u sectors apart from it were found, too",
                        all - (end - first));
}

static int ask_fetch(const struct question *q, const struct around *a,
                     const struct fetch *fetch, struct error *err)
{
    bool found[AROUND], told;
    char *text;
    if (!has(q->lab, fetch->cc)) {
        skip(q->lab, fetch->attribute, fetch->cc);
        return 0;
    }
    if (look_around(q, a, fetch->load, found, &told, &text, err) != 0)
        return err->code;
    struct finding *const f = lab_finding(q->lab, "l2", fetch->attribute);
    if (told)
        report_fetched(f, found);
    else
        finding_none(f, "some elements cost as much in L2 as in memory");
    finding_protocol(f, "load", value_text(fetch->load));
    finding_evidence(f, text);
    free(text);
    return 0;
}

static int ask_fetching(const struct question *q, struct error *err)
{
    struct around *const a = xcalloc(1, sizeof *a);
    int status = measure_around(q, a, err);
    for (size_t i = 0; status == 0 && i < FETCHES; i++)
        status = ask_fetch(q, a, &fetches[i], err);
    around_free(a);
    free(a);
    return status;
}

/* ---- the study --------------------------------------------------------- */

/* Whatever has no finding gets one that says why. */
static void leave(struct lab *lab, const char *why)
{
    for (const char *const *id = gives; *id != NULL; id++)
        if (results_find(lab->results, *id) == NULL)
            finding_none(results_add(lab->results, *id, lab->study->name), "%s",
                         why);
}

static int run(struct lab *lab, struct error *err)
{
    const int64_t l2 = lab->info->value[PROPERTY_L2_BYTES];
    const struct question q = {.lab = lab, .l2 = (uint64_t)l2};
    *err = (struct error){0};
    if (l2 <= 0) {
        leave(lab, "the driver does not tell how large L2 is");
        return 0;
    }
    int status = ask_keeping(&q, err);
    if (status == 0)
        status = ask_fetching(&q, err);
    if (status != 0 && !lab_excuses(status))
        return status;
    leave(lab,
          status != 0 ? err->text : "misses of L2 cost hardly more than hits");
    *err = (struct error){0};
    return 0;
}

const struct study study_l2_residency = {
    .name = "hints",
    .question = "What does L2 make of what loads tell it?",
    .method = "A set is loaded with a policy, other memory passes, and single "
              "elements of the set are timed: how many are still there.  Of "
              "one sector loaded with a fetch size, those around it are timed.",
    .needs = needs,
    .gives = gives,
    .apart = true,
    .run_err = run,
};
