/*
 * Tables as the seeds print them, a row for each component.  What is true is
 * the profile; where a print differs from it, the row says why in words.  They
 * are compared with the runs of the truth tests on the shipped profiles (see
 * truth_compare), and here with the profiles themselves.
 *
 * Two figures that are no parameters are measured here: how the miss rate of
 * Fermi's L1 and the misses of its second TLB grow with the array.
 */
#include "truth/seeds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/run.h"
#include "testing.h"
#include "truth/truth.h"

enum { COLUMNS = 6, ROWS = 10 };

/* A cell: a number with a unit or none ("12.129 KiB"), words or numbers of a
 * list ("l1 texture"), "no l1" where there is none of that, NULL for nothing.
 */
struct row {
    const char *component;
    const char *cell[COLUMNS];
    const char *but; /* why a cell differs from what is true; NULL: none does */
};

struct table {
    const char *gpu, *title;
    const char *columns[COLUMNS + 1];
    struct row rows[ROWS + 1];
};

#define STEPS  "the tool's steps; whole lines are true"
#define SECTOR "the tool calls a sector a line"
#define VOLTA                                                                  \
    "the tool's 6-8 KiB too little, of an L1 with less room besides; a "       \
    "sector called a line"
#define L15 "a module holds 64 KiB, 62.5 KiB to the tool; chosen"
#define GROESSLER                                                              \
    {                                                                          \
        "size", "line", "latency", "shares_with", "per_sm", NULL               \
    }

static const struct table tables[] = {
    {"gtx780",
     "Mei 2014, table 3: latency patterns P1-P6, Kepler",           {"patterns_cg", NULL},
     {{"memory", {"230 236 289 371 734 1000"}, NULL}}                 },
    {"gtx560ti",
     "Mei 2014, table 3: latency patterns P1-P6, Fermi",            {"patterns_ca", "patterns_cg", NULL},
     {{"memory",
       {"116 404 488 655 1259 none", "371 398 482 639 1245 none"},
       NULL}}                                                         },
    {"gtx560ti",
     "Mei 2014, table 4: characteristics of caches (C, b, a, LRU)", {"size", "line", "sets", "ways", "policy", NULL},
     {{"l1", {"16 KiB", "128", "32", "4", "weighted"}, NULL},
      {"texture", {"12 KiB", "32", "4", "96", "lru"}, NULL}}          },
    {"gtx560ti",
     "Mei 2014, table 4: characteristics of TLBs (C, b, a, LRU)",   {"reach", "page", "sets", "entries", "policy", NULL},
     {{"tlb_l1", {"32 MiB", "2 MiB", "1", "16", "lru"}, NULL},
      {"tlb_l2", {"130 MiB", "2 MiB", "7", "65", "lru"}, NULL}}       },
    {"gtx780",
     "Mei 2014, table 4: characteristics of caches (C, b, a, LRU)", {"size", "line", "sets", "ways", "policy", NULL},
     {{"texture", {"12 KiB", "32", "4", "96", "lru"}, NULL}}          },
    {"gtx780",
     "Mei 2014, table 4: characteristics of TLBs (C, b, a, LRU)",   {"reach", "page", "sets", "entries", "policy", NULL},
     {{"tlb_l1", {"32 MiB", "2 MiB", "1", "16", "lru"}, NULL},
      {"tlb_l2", {"130 MiB", "2 MiB", "7", "65", "lru"}, NULL}}       },
    {"gtx560ti",
     "Mei 2014, table 5: L1 hit, and what L2 takes beyond it",      {"latency", "miss_penalty", NULL},
     {{"texture", {"240", "230"}, NULL}, {"l1", {"116", "288"}, NULL}}},
    {"gtx780",
     "Mei 2014, table 5: L1 hit, and what L2 takes beyond it",      {"latency", "miss_penalty", NULL},
     {{"texture", {"110", "110"}, NULL}, {"l2", {"230", NULL}, NULL}} },
    {"k20c",
     "Groessler 2022, table 5.4: Tesla K20c",                       GROESSLER,
     {{"l1", {"16.137 KiB", "128", "64", NULL, "1"}, STEPS},
      {"texture", {"12.012 KiB", "32", "111", "readonly", "4"}, STEPS},
      {"readonly", {"12.129 KiB", "32", "130", "texture", "4"}, STEPS},
      {"const_l1", {"1.828 KiB", "64", "50", NULL, "4"}, STEPS},
      {"const_l15", {"32.813 KiB", "256", "120", NULL, NULL}, STEPS},
      {"shared", {"48 KiB", NULL, "47", NULL, NULL}, NULL},
      {"l2", {"1.25 MiB", "32", "223", NULL, NULL}, SECTOR},
      {"memory", {NULL, NULL, "339", NULL, NULL}, NULL}}              },
    {"gtx840m",
     "Groessler 2022, table 5.5: GeForce 840M",                     GROESSLER,
     {{"l1", {"no l1", NULL, NULL, NULL, NULL}, NULL},
      {"texture", {"12.129 KiB", "32", "92", "readonly", "2"}, STEPS},
      {"readonly", {"12.129 KiB", "32", "92", "texture", "2"}, STEPS},
      {"const_l1", {"2.109 KiB", "64", "33", NULL, "1"}, STEPS},
      {"const_l15", {"30.469 KiB", "256", "86", NULL, NULL}, STEPS},
      {"shared", {"64 KiB", NULL, "31", NULL, NULL}, NULL},
      {"l2", {"1 MiB", "32", "173", NULL, NULL}, SECTOR},
      {"memory", {NULL, NULL, "448", NULL, NULL}, NULL}}              },
    {"p6000",
     "Groessler 2022, table 5.6: Quadro P6000",                     GROESSLER,
     {{"l1",
       {"24.012 KiB", "32", "92", "texture readonly", "2"},
       STEPS "; " SECTOR},
      {"texture",
       {"24.012 KiB", "32", "85", "l1 readonly", "2"},
       STEPS "; " SECTOR},
      {"readonly",
       {"24.012 KiB", "32", "94", "l1 texture", "2"},
       STEPS "; " SECTOR},
      {"const_l1", {"2.141 KiB", "64", "33", NULL, "1"}, STEPS},
      {"const_l15", {"31.25 KiB", "256", "94", NULL, NULL}, STEPS},
      {"shared", {"96 KiB", NULL, "31", NULL, NULL}, NULL},
      {"l2", {"3 MiB", "32", "243", NULL, NULL}, SECTOR},
      {"memory", {NULL, NULL, "412", NULL, NULL}, NULL}}              },
    {"v100",
     "Groessler 2022, table 5.7: Tesla V100",                       GROESSLER,
     {{"l1", {"25.629 KiB", "32", "36", "texture readonly", "1"}, VOLTA},
      {"texture", {"24.023 KiB", "32", "80", "l1 readonly", "1"}, VOLTA},
      {"readonly", {"25.629 KiB", "32", "36", "l1 texture", "1"}, VOLTA},
      {"const_l1", {"2.078 KiB", "64", "32", NULL, "1"}, STEPS},
      {"const_l15", {"62.5 KiB", "256", "105", NULL, NULL}, L15},
      {"shared", {"96 KiB", NULL, "27", NULL, NULL}, NULL},
      {"l2", {"6 MiB", "64", "215", NULL, NULL}, "two sectors called a line"},
      {"memory", {NULL, NULL, "430", NULL, NULL}, NULL}}              },
    {"rtx2080ti",
     "Groessler 2022, table 5.8: RTX 2080 Ti",                      GROESSLER,
     {{"l1", {"26.137 KiB", "32", "40", "texture readonly", "1"}, VOLTA},
      {"texture", {"25.012 KiB", "32", "86", "l1 readonly", "1"}, VOLTA},
      {"readonly", {"26.137 KiB", "32", "40", "l1 texture", "1"}, VOLTA},
      {"const_l1", {"2.078 KiB", "64", "32", NULL, "1"}, STEPS},
      {"const_l15", {"46 KiB", "256", "105", NULL, NULL}, NULL},
      {"shared", {"64 KiB", NULL, "30", NULL, NULL}, NULL},
      {"l2", {"5.5 MiB", "64", "230", NULL, NULL}, "two sectors called a line"},
      {"memory", {NULL, NULL, "425", NULL, NULL}, NULL}}              },
    {"a100",
     "Groessler 2022, table 5.9: A100",                             GROESSLER,
     {{"l1", {"22.254 KiB", "32", "39", "texture readonly", "1"}, VOLTA},
      {"texture", {"21.191 KiB", "32", "89", "l1 readonly", "1"}, VOLTA},
      {"readonly", {"22.254 KiB", "32", "38", "l1 texture", "1"}, VOLTA},
      {"const_l1", {"2.141 KiB", "64", "34", NULL, "1"}, STEPS},
      {"const_l15", {"62.5 KiB", "256", "114", NULL, NULL}, L15},
      {"shared", {"164 KiB", NULL, "28", NULL, NULL}, NULL},
      {"l2", {"40 MiB", "64", "223", NULL, NULL}, "two sectors called a line"},
      {"memory", {NULL, NULL, "567", NULL, NULL}, NULL}}              },
};

/* ---- what a cell says ---- */

static double unit_of(const char *text)
{
    return strcmp(text, " KiB") == 0   ? 1024
           : strcmp(text, " MiB") == 0 ? 1024 * 1024
                                       : 1;
}

/* A whole number as such, so that it is printed so. */
static json_t *number_value(double number)
{
    return number == floor(number) ? json_integer((json_int_t)number)
                                   : json_real(number);
}

/* "none" is what a list lacks. */
static json_t *word_value(const char *word)
{
    char *end;
    const double number = strtod(word, &end);
    if (strcmp(word, "none") == 0)
        return json_null();
    return end != word ? number_value(number) : json_string(word);
}

static json_t *list_value(const char *cell)
{
    json_t *const list = json_array();
    char *const words = xstrdup(cell);
    char *rest;
    for (char *w = strtok_r(words, " ", &rest); w != NULL;
         w = strtok_r(NULL, " ", &rest))
        json_array_append_new(list, word_value(w));
    free(words);
    return list;
}

/* Of attributes that are lists a list, else a number or a text. */
static json_t *printed_value(const char *attribute, const char *cell)
{
    char *end;
    const double number = strtod(cell, &end);
    if (strncmp(attribute, "patterns", 8) == 0 ||
        strcmp(attribute, "shares_with") == 0)
        return list_value(cell);
    return end != cell ? number_value(number * unit_of(end))
                       : json_string(cell);
}

/* ---- what is true ---- */

/* A pattern is its cycles, or null. */
static json_t *flat_patterns(const struct profile *profile,
                             enum profile_path_id path)
{
    json_t *const patterns = structure_patterns(profile, &profile->paths[path]);
    json_t *const flat = json_array();
    for (size_t i = 0; i < json_array_size(patterns); i++) {
        json_t *const item = json_array_get(patterns, i);
        json_t *const cycles = json_object_get(item, "cycles");
        json_array_append(flat, cycles != NULL ? cycles : item);
    }
    json_decref(patterns);
    return flat;
}

/* The seeds do not speak of local memory, which shares L1 with all. */
static json_t *sharers_but_local(const struct profile *profile,
                                 const struct component *component)
{
    json_t *const all = structure_sharers(profile, component);
    for (size_t i = json_array_size(all); i-- > 0;)
        if (strcmp(json_string_value(json_array_get(all, i)), "local") == 0)
            json_array_remove(all, i);
    return all;
}

static json_t *true_of_shape(const struct cache_shape *shape,
                             const char *attribute)
{
    const double bytes = (double)cache_shape_bytes(shape);
    const double line = (double)shape->line;
    if (strcmp(attribute, "policy") == 0)
        return json_string(cache_policy_name(shape->policy));
    if (strcmp(attribute, "size") == 0 || strcmp(attribute, "reach") == 0)
        return number_value(bytes);
    if (strcmp(attribute, "line") == 0 || strcmp(attribute, "page") == 0)
        return number_value(line);
    if (strcmp(attribute, "sets") == 0)
        return number_value((double)shape->sets);
    if (strcmp(attribute, "ways") == 0)
        return number_value(shape->set_ways[0]);
    return strcmp(attribute, "entries") == 0 ? number_value(bytes / line)
                                             : NULL;
}

static json_t *true_of_cache(const struct profile *profile,
                             const struct component *component,
                             const char *attribute)
{
    const struct profile_cache *const cache =
        component_cache(profile, component);
    if (cache == NULL)
        return NULL;
    const struct profile_path *const path = component_path(profile, component);
    const double hit = component_latency(profile, component);
    if (strcmp(attribute, "latency") == 0)
        return number_value(hit);
    if (strcmp(attribute, "miss_penalty") == 0)
        return number_value(path->latency[component->level + 1].cycles[0] -
                            hit);
    if (strcmp(attribute, "per_sm") == 0)
        return number_value(cache->copies_per_sm);
    if (strcmp(attribute, "shares_with") == 0)
        return sharers_but_local(profile, component);
    return true_of_shape(&cache->shape, attribute);
}

static json_t *true_of_memory(const struct profile *profile,
                              const char *attribute)
{
    if (strcmp(attribute, "patterns_ca") == 0)
        return flat_patterns(profile, PATH_GLOBAL_CA);
    if (strcmp(attribute, "patterns_cg") == 0)
        return flat_patterns(profile, PATH_GLOBAL_CG);
    return number_value(profile->paths[PATH_GLOBAL_CG].memory.cycles[0]);
}

/* NULL where there is no such thing.  The caller decrefs. */
static json_t *true_value(const struct profile *profile, const char *component,
                          const char *attribute)
{
    const struct component *const cache = component_find(component);
    if (cache != NULL)
        return true_of_cache(profile, cache, attribute);
    if (strcmp(component, "memory") == 0)
        return true_of_memory(profile, attribute);
    if (strcmp(component, "shared") == 0)
        return number_value(strcmp(attribute, "size") == 0
                                ? (double)profile->shared_bytes
                                : profile->shared_latency);
    const size_t level = (size_t)(component[strlen("tlb_l")] - '1');
    return level < profile->tlb_count
               ? true_of_shape(&profile->tlbs[level].shape, attribute)
               : NULL;
}

/* ---- comparison ---- */

static bool has_value(const json_t *list, const json_t *value);

/* Cycles may differ by 1 % or one; lists of names may be in any order. */
static bool agree(const json_t *truth, const json_t *value, double tolerance)
{
    if (json_is_number(truth) && json_is_number(value))
        return fabs(json_number_value(truth) - json_number_value(value)) <=
               tolerance * claim_doubt(json_number_value(truth));
    if (!json_is_array(truth) || !json_is_array(value))
        return json_equal(truth, value) != 0;
    if (json_array_size(truth) != json_array_size(value))
        return false;
    for (size_t i = 0; i < json_array_size(truth); i++) {
        const json_t *const item = json_array_get(truth, i);
        if (json_is_string(item)
                ? !has_value(value, item)
                : !agree(item, json_array_get(value, i), tolerance))
            return false;
    }
    return true;
}

static bool has_value(const json_t *list, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), value) != 0)
            return true;
    return false;
}

static bool is_cycles(const char *attribute)
{
    return strcmp(attribute, "latency") == 0 ||
           strcmp(attribute, "miss_penalty") == 0 ||
           strncmp(attribute, "patterns", 8) == 0;
}

/* ---- printing ---- */

/* The caller frees. */
static char *text_of(const json_t *value)
{
    return value == NULL ? xstrdup("-")
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                                 JSON_REAL_PRECISION(6));
}

/* What a table shows of a finding: its value, whatever its status, and the
 * status if it is no measured one. */
static char *shown(const struct run_seen *seen, const char *id)
{
    const json_t *const finding = json_object_get(seen->findings, id);
    const char *const status =
        json_string_value(json_object_get(finding, "status"));
    char *const value = text_of(json_object_get(finding, "value"));
    if (status == NULL || strcmp(status, "measured") == 0)
        return value;
    char *const both = xasprintf("%s %s", status, value);
    free(value);
    return both;
}

static void print_cells(const struct run_seen *seen, const struct table *table,
                        const struct row *row)
{
    for (int i = 0; table->columns[i] != NULL; i++) {
        if (row->cell[i] == NULL)
            continue;
        char id[64];
        snprintf(id, sizeof id, "%s.%s", row->component, table->columns[i]);
        json_t *const truth =
            true_value(seen->profile, row->component, table->columns[i]);
        char *const expected = text_of(truth);
        char *const found = shown(seen, id);
        printf("    %-20s printed %-26s expected %-26s found %s\n", id,
               row->cell[i], expected, found);
        free(expected);
        free(found);
        json_decref(truth);
    }
}

static void print_table(const struct run_seen *seen, const struct table *table)
{
    printf("%s (sim:%s)\n", table->title, table->gpu);
    for (const struct row *row = table->rows; row->component != NULL; row++) {
        print_cells(seen, table, row);
        if (row->but != NULL)
            printf("    %-20s %s\n", "", row->but);
    }
    fflush(stdout);
}

/* Who shares a cache is compared in structure.c, local memory included. */
static void compare_cell(const struct run_seen *seen, const char *component,
                         const char *attribute, struct verdict *verdict)
{
    char id[64];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    const json_t *const found = claim_found(seen, id);
    json_t *const truth = true_value(seen->profile, component, attribute);
    const bool right = found == NULL || strcmp(attribute, "shares_with") == 0 ||
                       agree(truth, found, is_cycles(attribute) ? 1 : 0);
    if (!right) {
        char *const a = text_of(truth), *const b = text_of(found);
        buf_printf(seen->rows, "%s seed %llu %s expected %s, found %s\n",
                   seen->name, (unsigned long long)seen->seed, id, a, b);
        free(a);
        free(b);
    }
    verdict->wrong += !right;
    json_decref(truth);
}

static void compare_table(const struct run_seen *seen,
                          const struct table *table, struct verdict *verdict)
{
    for (const struct row *row = table->rows; row->component != NULL; row++)
        for (int i = 0; table->columns[i] != NULL; i++)
            if (row->cell[i] != NULL)
                compare_cell(seen, row->component, table->columns[i], verdict);
}

void seeds_compare(const struct run_seen *seen, struct verdict *verdict)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        if (strcmp(tables[i].gpu, seen->name) != 0)
            continue;
        compare_table(seen, &tables[i], verdict);
        if (seen->seed == 1)
            print_table(seen, &tables[i]);
    }
}

/* ---- the tables and the profiles ---- */

/* True if the seed prints what the profile has. */
static bool is_as_printed(const struct profile *profile,
                          const struct table *table, const struct row *row,
                          int column)
{
    const char *const attribute = table->columns[column];
    json_t *const truth = true_value(profile, row->component, attribute);
    json_t *const printed = printed_value(attribute, row->cell[column]);
    const bool same = truth == NULL ? strncmp(row->cell[column], "no ", 3) == 0
                                    : agree(truth, printed, 0);
    json_decref(truth);
    json_decref(printed);
    return same;
}

START_TEST(a_seed_differs_from_its_profile_only_where_it_says_why)
{
    const struct table *const table = &tables[_i];
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(table->gpu, NULL, &profile, &err), err);
    for (const struct row *row = table->rows; row->component != NULL; row++) {
        bool same = true;
        for (int i = 0; table->columns[i] != NULL; i++)
            if (row->cell[i] != NULL)
                same &= is_as_printed(profile, table, row, i);
        ck_assert_msg(same == (row->but == NULL), "%s: %s %s", table->title,
                      row->component,
                      same ? "is as printed, and yet says why not"
                           : "is not as printed, and does not say why");
    }
    profile_free(profile);
}
END_TEST

/* ---- figures ---- */

struct bench {
    struct device *device;
    struct prober *prober;
};

static struct bench open_bench(const char *profile)
{
    struct bench b = {.device = testing_sim(profile, 1)};
    b.prober = prober_new(b.device, NULL, &(struct prober_options){.seed = 1});
    return b;
}

static void close_bench(struct bench *b)
{
    prober_free(b->prober);
    device_close(b->device);
}

__attribute__((format(printf, 3, 4))) static void
trace(struct bench *b, struct samples *samples, const char *fmt, ...)
{
    char text[256];
    struct error err;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ASSERT_DONE(prober_run(b->prober, text, samples, NULL, &err), err);
}

/* Between a hit of Fermi's L1 and what L2 takes, clock and store included. */
enum { L1_MISS = 240, LINE = 128, LAPS = 64 };

static double found_miss_rate(struct bench *b, uint64_t lines)
{
    struct samples samples;
    trace(b, &samples,
          "trace op=ca stride=%d bytes=%" PRIu64 " warm=16 visits=%" PRIu64
          " above=%d records=1",
          LINE, LINE * lines, LAPS * lines, L1_MISS);
    const double events =
        (double)samples_at(&samples, 0, samples_column(&samples, "events"));
    samples_free(&samples);
    return events / (double)(LAPS * lines);
}

static double model_miss_rate(const struct cache_shape *shape, uint64_t lines)
{
    struct cache *const cache = cache_new(shape, 1);
    uint64_t misses = 0;
    for (uint64_t i = 0; i < 16 * lines; i++)
        cache_access(cache, LINE * (i % lines));
    for (uint64_t i = 0; i < LAPS * lines; i++)
        misses += cache_access(cache, LINE * (i % lines)) != CACHE_HIT;
    cache_free(cache);
    return (double)misses / (double)(LAPS * lines);
}

/* Mei 2014, figure 9: laps over arrays from 16 to 24 KiB.  With LRU all loads
 * would miss from 20 KiB on, when each set has a line too many.  The figure
 * ends at 50 %; a victim that is drawn anew each time, as the profile has it,
 * comes to that at 22 KiB and goes on to 60 % at 24 KiB. */
START_TEST(figure_9_miss_rate_of_a_cache_that_is_not_lru)
{
    struct bench b = open_bench("gtx560ti");
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open("gtx560ti", NULL, &profile, &err), err);
    struct cache_shape lru =
        cache_shape_copy(&profile->caches[profile->paths[0].cache[0]].shape);
    lru.policy = POLICY_LRU;
    puts("Mei 2014, figure 9: miss rate of Fermi's L1 by array size (%)");
    for (uint64_t kib = 16; kib <= 24; kib++) {
        const uint64_t lines = kib * 1024 / LINE;
        const double expected = model_miss_rate(
            &profile->caches[profile->paths[0].cache[0]].shape, lines);
        const double found = found_miss_rate(&b, lines);
        const double of_lru = model_miss_rate(&lru, lines);
        printf("    %" PRIu64 " KiB  expected %5.1f  found %5.1f  LRU %5.1f\n",
               kib, 100 * expected, 100 * found, 100 * of_lru);
        ck_assert_double_le(fabs(found - expected), 0.02);
        ck_assert_double_le(found, kib <= 22 ? 0.53 : 0.63);
        ck_assert_double_ge(of_lru, kib < 20 ? 0 : 1);
    }
    cache_shape_free(&lru);
    profile_free(profile);
    close_bench(&b);
}
END_TEST

/* One line in each page, no two of them in one set of L2. */
enum { PAGE = 2 << 20, STEP = PAGE + LINE, TLB_MISS = 480, TURNS = 3 };
/* What fits in the second TLB, and how many sets it has. */
enum { ENTRIES = 65, SETS = 7, BIG_SET = 17, SMALL_SET = 8 };

/* Pages whose translation is missed in most laps: a spike does not return. */
static unsigned missed_pages(struct bench *b, unsigned first, unsigned pages)
{
    struct samples samples;
    unsigned misses[ENTRIES + SETS] = {0}, missed = 0;
    trace(b, &samples,
          "trace op=cg stride=%d bytes=%" PRIu64 " shift=%" PRIu64
          " warm=2 visits=%u above=%d",
          STEP, (uint64_t)STEP * pages, (uint64_t)PAGE * first, TURNS * pages,
          TLB_MISS);
    const size_t visit = samples_column(&samples, "visit");
    for (size_t row = 0; row < samples.rows; row++)
        if (samples_at(&samples, row, visit) >= 0)
            misses[samples_at(&samples, row, visit) % pages]++;
    for (unsigned page = 0; page < pages; page++)
        missed += misses[page] > TURNS / 2;
    samples_free(&samples);
    return missed;
}

/* A first page from which the pages that are too many go to the big set, then
 * to each of the others. */
static unsigned first_page(struct bench *b)
{
    unsigned first = 0;
    while (first < ENTRIES &&
           (missed_pages(b, first, ENTRIES + 1) != BIG_SET + 1 ||
            missed_pages(b, first, ENTRIES + SETS) != ENTRIES + SETS))
        first++;
    ck_assert_uint_lt(first, ENTRIES);
    return first;
}

/* Mei 2014, figure 11, counts the entries of the sets that overflow: 17 at 132
 * MiB, 8 more for each further page.  The pages that take turns in such a set,
 * and all miss, are one more than its entries. */
START_TEST(figure_11_misses_of_a_tlb_with_unequal_sets)
{
    struct bench b = open_bench("gtx560ti");
    const unsigned first = first_page(&b);
    puts("Mei 2014, figure 11: missed entries of the second TLB by array");
    for (unsigned more = 0; more <= SETS; more++) {
        const unsigned printed =
            more > 0 ? BIG_SET + (more - 1) * SMALL_SET : 0;
        const unsigned found = missed_pages(&b, first, ENTRIES + more);
        printf("    %u MiB  printed %2u  expected %2u pages  found %2u\n",
               2 * (ENTRIES + more), printed, printed + more, found);
        ck_assert_uint_eq(found, printed + more);
    }
    close_bench(&b);
}
END_TEST

Suite *suite_truth_seeds(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_seeds", 30, &t);
    tcase_add_loop_test(t,
                        a_seed_differs_from_its_profile_only_where_it_says_why,
                        0, COUNT_OF(tables));
    tcase_add_test(t, figure_9_miss_rate_of_a_cache_that_is_not_lru);
    tcase_add_test(t, figure_11_misses_of_a_tlb_with_unequal_sets);
    return suite;
}
