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

#include "analysis/hits.h"
#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "study/assume.h"
#include "study/lab.h"

/* clang-format off */
static const struct answer answers[] = {
    {ONE("l2"), "keeps_normal",           ""},
    {ONE("l2"), "keeps_evict_last",       ""},
    {ONE("l2"), "keeps_from_evict_first", ""},
    {ONE("l2"), "fetched",                "B"},
    {ONE("l2"), "fetched_64B",            "B"},
    {ONE("l2"), "fetched_128B",           "B"},
    {ONE("l2"), "fetched_256B",           "B"},
    {ONE("l2"), "fetched_prefetch",       "B"},
    {0},
};
/* clang-format on */

/* Shares of what L2 holds: of the set; of what passes. */
enum { SET_PART = 4, FLUSHES = 4, PASSES = 2, SECTOR = 32 };
/* Elements that are looked at lie so far apart that none brings in another. */
enum { LOOKS_MOST = 512, LOOKS_APART = 256 };
/* A place: what is loaded in it, and around that what is looked at, so far
 * that 256 B are seen on either side.  Places lie an odd number of 256 B apart,
 * so that they share few sets. */
enum { PLACES = 16, PLACE = 17 * 256, AT = 1024 + 96 };
enum { AROUND_FIRST = AT - 96 - 256, AROUND = 24 };
/* ---- one experiment ---------------------------------------------------- */

/* Where is looked, and what each element there costs where it is in L2, and
 * where it is not. */
struct looks {
    struct lab *lab;
    uint64_t l2;
    const char *where; /* words of the experiment */
    struct column hit, miss;
};

static struct column look(const struct looks *l, const char *where,
                          const char *how)
{
    return lab_column(l->lab, "cycles",
                      "keep flush=%" PRIu64 " passing=%" PRIu64 " %s %s",
                      FLUSHES * l->l2, PASSES * l->l2, how, where);
}

/* What is looked for costs there, seen from where it was loaded itself. */
static void calibrate(struct looks *l, const char *itself)
{
    l->hit = look(l, itself, "load=default");
    l->miss = look(l, itself, "load=none");
}

/* False where misses cost what hits do: then nothing can be told. */
static bool is_told(const struct looks *l)
{
    return stats_median(l->miss.at, l->miss.count) >
           assume(ASSUME_MISS) * stats_median(l->hit.at, l->hit.count);
}

/* Elements that are found; those that tell nothing are not among `*of`. */
static size_t count_found(const struct looks *l, const struct column *cycles,
                          size_t *of)
{
    size_t found = 0;
    *of = 0;
    for (size_t i = 0; i < cycles->count; i++) {
        const double hit = l->hit.at[i], miss = l->miss.at[i];
        if (miss <= assume(ASSUME_MISS) * hit || cycles->at[i] <= 0)
            continue;
        ++*of;
        found += cycles->at[i] < hits_limit(hit, miss);
    }
    return found;
}

/* The share of hits that were so late that they pass for misses. */
static double late_share(const struct looks *l)
{
    const double limit = hits_limit(stats_median(l->hit.at, l->hit.count),
                                    stats_median(l->miss.at, l->miss.count));
    return (double)hits_above(l->hit.at, l->hit.count, limit) /
           (double)l->hit.count;
}

/* ---- what is kept ------------------------------------------------------ */

/* Where a share is whose sample was so: Wilson's interval at
 * LAB_CONFIDENCE_PERCENT; and as many may be late here, or were so when hits
 * were to be known. */
static void say_share(struct finding *f, size_t found, size_t of, double late)
{
    static const double z = 1.96;
    const double n = (double)of, p = (double)found / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half =
        z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    finding_measured(f, p);
    finding_interval(f, fmax(0, fmin(p, middle - half) - late),
                     fmin(1, fmax(p, middle + half) + late),
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_protocol(f, "looks", value_number(n));
}

static void ask_kept(const struct looks *l, const char *attribute,
                     const char *load, const char *pass)
{
    struct lab *const lab = l->lab;
    size_t of;
    const struct column cycles =
        look(l, l->where, lab_text(lab, "load=%s pass=%s", load, pass));
    if (!lab_ok(lab))
        return;
    struct finding *const f = lab_finding(lab, "l2", attribute);
    const size_t found = count_found(l, &cycles, &of);
    if (of < cycles.count / 2)
        finding_none(f, why_elements_alike, cycles.count, cycles.count - of);
    else
        say_share(f, found, of, late_share(l));
    finding_protocol(f, "set_loads", value_text(load));
    finding_protocol(f, "passing_loads", value_text(pass));
    finding_protocol(f, "set", value_number((double)(l->l2 / SET_PART)));
    finding_protocol(f, "passing", value_number((double)(PASSES * l->l2)));
    finding_cite(f, cycles.experiment);
}

static void l2_residency_ask_kept(struct lab *lab, uint64_t l2)
{
    const uint64_t set = l2 / SET_PART / SECTOR * SECTOR;
    struct looks l = {.lab = lab, .l2 = l2};
    l.where = lab_text(lab, "bytes=%" PRIu64 " stride=%d looks=%" PRIu64, set,
                       SECTOR, u64_min(set / LOOKS_APART, LOOKS_MOST));
    calibrate(&l, l.where);
    if (!lab_ok(lab) || !is_told(&l))
        return;
    ask_kept(&l, "keeps_normal", "default", "default");
    if (!lab_ok(lab) || !lab_requires(lab, CAP_L2_POLICY, "l2.keeps_*"))
        return;
    ask_kept(&l, "keeps_evict_last", "l2_last", "default");
    ask_kept(&l, "keeps_from_evict_first", "default", "l2_first");
}

/* ---- what is fetched --------------------------------------------------- */

/* How a sector is loaded. */
static const struct fetch {
    const char *attribute, *load;
    enum capability needs;
} fetches[] = {
    {"fetched", "cg", CAP_ANY},
    {"fetched_64B", "l2_64B", CAP_L2_FETCH},
    {"fetched_128B", "l2_128B", CAP_L2_FETCH},
    {"fetched_256B", "l2_256B", CAP_L2_FETCH_256},
    {"fetched_prefetch", "prefetch", CAP_ANY},
};

static const char *text_of_place(struct lab *lab, unsigned at, unsigned look)
{
    return lab_text(lab, "bytes=%d stride=%d looks=%d at=%u look=%u",
                    PLACES * PLACE, PLACE, PLACES, at, look);
}

/* Sectors around the one that is loaded. */
static struct looks *looks_around(struct lab *lab, uint64_t l2)
{
    struct looks *const around = lab_alloc(lab, AROUND, sizeof *around);
    for (unsigned i = 0; i < AROUND; i++) {
        const unsigned at = AROUND_FIRST + i * SECTOR;
        around[i] = (struct looks){
            .lab = lab, .l2 = l2, .where = text_of_place(lab, AT, at)};
        calibrate(&around[i], text_of_place(lab, at, at));
    }
    return around;
}

/* What is found apart from the run puts the answer in doubt: it may be all
 * between, or chance. */
static void doubt_run(struct finding *f, const struct hits_run *r)
{
    f->status = STATUS_IN_DOUBT;
    finding_interval(f, r->end > r->first ? SECTOR : 0,
                     SECTOR * (double)r->around, -1);
    finding_because(f, why_fetched_apart, (unsigned)r->apart);
}

/* The run is all, but where it goes on beyond what was looked at; or at some
 * places, as of blocks that are longer than what places are aligned to. */
static void report_fetched(struct finding *f, const enum hits_tally *found)
{
    const struct hits_run r =
        hits_run_around(found, AROUND, (AT - AROUND_FIRST) / SECTOR);
    const unsigned open = (unsigned)r.open;
    if (open > 0 && r.end == r.first) {
        finding_none(f, why_fetched_some, open);
        return;
    }
    finding_value(f,
                  r.to_an_end || open > 0 ? STATUS_AT_LEAST : STATUS_MEASURED,
                  value_number(SECTOR * (double)(r.end - r.first)));
    finding_protocol(
        f, "from", value_number(AROUND_FIRST + SECTOR * (double)r.first - AT));
    if (r.to_an_end)
        finding_because(f, why_fetched_side);
    else if (open > 0)
        finding_because(f, why_fetched_some, open);
    else if (r.apart > 0)
        doubt_run(f, &r);
}

/* A sector is found where the places have it; where none tells, nothing is. */
static void ask_fetch(struct lab *lab, const struct looks *around,
                      const struct fetch *fetch)
{
    enum hits_tally found[AROUND];
    bool told = true;
    const char *experiment = NULL;
    const char *const id = lab_text(lab, "l2.%s", fetch->attribute);
    if (!lab_requires(lab, fetch->needs, id))
        return;
    for (unsigned i = 0; i < AROUND; i++) {
        size_t of;
        const struct column cycles = look(
            &around[i], around[i].where, lab_text(lab, "load=%s", fetch->load));
        const size_t hits = count_found(&around[i], &cycles, &of);
        told = told && of > 0;
        found[i] = hits_tally_of(hits, of);
        experiment = cycles.experiment;
    }
    if (!lab_ok(lab))
        return;
    struct finding *const f = lab_finding(lab, "l2", fetch->attribute);
    if (told)
        report_fetched(f, found);
    else
        finding_none(f, why_misses_alike);
    finding_protocol(f, "load", value_text(fetch->load));
    finding_cite(f, experiment);
}

static void l2_residency_ask_fetched(struct lab *lab, uint64_t l2)
{
    const struct looks *const around = looks_around(lab, l2);
    for (size_t i = 0; lab_ok(lab) && i < COUNT_OF(fetches); i++)
        ask_fetch(lab, around, &fetches[i]);
}

/* ---- the study --------------------------------------------------------- */

static void l2_residency_run(struct lab *lab)
{
    const uint64_t l2 = device_told(lab->info, PROPERTY_L2_BYTES, 0);
    if (l2 == 0) {
        lab_leave_open(lab, why_l2_untold);
        return;
    }
    l2_residency_ask_kept(lab, l2);
    if (lab_ok(lab))
        l2_residency_ask_fetched(lab, l2);
    if (lab_ok(lab))
        lab_leave_open(lab, why_misses_alike);
}

const struct study study_l2_residency = {
    .name = "hints",
    .question = "What does L2 make of what loads tell it?",
    .method = "A set is loaded with a policy, other memory passes, and single "
              "elements of the set are timed: how many are still there.  Of "
              "one sector loaded with a fetch size, those around it are timed.",
    .answers = answers,
    .apart = true,
    .run = l2_residency_run,
};
