/*
 * Instruction caches: what the studies find of the shipped profiles, and of
 * hierarchies that nobody built, is what the profile says; what is not found
 * is not measured, or a bound that holds.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "device/sim/profile/profile.h"
#include "gpu_made.h"
#include "sonde.h"
#include "testing.h"
#include "truth/truth.h"

static const char *const components[] = {"icache_l0", "icache_l1",
                                         "icache_l15"};

/* True if it was found; the test fails where it is not what is true. */
static bool is_true(const json_t *findings, const char *component,
                    const char *attribute, double truth, double tolerance)
{
    char id[64];
    double found;
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    if (!truth_number(findings, id, &found)) {
        /* Not measured, with the reason; or a level that does not show. */
        const json_t *const f = json_object_get(findings, id);
        ck_assert(f == NULL || json_object_get(f, "because") != NULL);
        return false;
    }
    ck_assert_msg(fabs(found - truth) <= tolerance, "%s: expected %g, found %g",
                  id, truth, found);
    return true;
}

/* A policy that was found is the cache's; of two ways any order of use is one.
 */
static void is_policy(const json_t *findings, const char *component,
                      const struct cache_shape *shape)
{
    const bool order =
        shape->policy == POLICY_NRU || shape->policy == POLICY_PLRU;
    const enum cache_policy policy =
        order && shape->set_ways[0] == 2 ? POLICY_LRU : shape->policy;
    char id[64];
    snprintf(id, sizeof id, "%s.policy", component);
    const json_t *const value =
        json_object_get(json_object_get(findings, id), "value");
    if (json_is_string(value))
        ck_assert_str_eq(json_string_value(value), cache_policy_name(policy));
}

/* How many findings of the levels before L2 were made. */
static size_t compare(const json_t *findings, const struct profile *p,
                      size_t *asked)
{
    const struct profile_path *const path = &p->paths[PATH_INSTRUCTION];
    size_t found = 0;
    *asked = 0;
    for (size_t i = 0; i < path->levels; i++) {
        const struct profile_cache *const cache = &p->caches[path->cache[i]];
        if (cache->scope == SCOPE_GPU)
            break;
        const double hit = path->latency[i].cycles[0];
        const double miss =
            (i + 1 < path->levels ? path->latency[i + 1] : path->memory)
                .cycles[0] -
            hit;
        *asked += 6;
        found += is_true(findings, components[i], "size",
                         (double)cache_shape_bytes(&cache->shape), 0);
        found += is_true(findings, components[i], "line",
                         (double)cache->shape.line, 0);
        found += is_true(findings, components[i], "ways",
                         (double)cache->shape.set_ways[0], 0);
        found += is_true(findings, components[i], "sets",
                         (double)cache->shape.sets, 0);
        is_policy(findings, components[i], &cache->shape);
        found += is_true(findings, components[i], "miss_penalty", miss,
                         fmax(1.5, 0.025 * miss));
        found += is_true(findings, components[i], "per_sm",
                         (double)cache->copies_per_sm, 0);
    }
    return found;
}

static double bound_of(const json_t *findings, const char *id)
{
    const json_t *const value =
        json_object_get(json_object_get(findings, id), "value");
    return json_is_number(value) ? json_number_value(value) : 0;
}

START_TEST(shipped_profiles_are_recovered)
{
    const char *const name = truth_gpus[_i % TRUTH_GPUS];
    json_t *const findings =
        truth_topology(name, 1 + (uint64_t)_i / TRUTH_GPUS);
    struct profile *profile;
    struct error err;
    size_t asked;
    ASSERT_DONE(profile_open(name, NULL, &profile, &err), err);
    ck_assert_uint_eq(compare(findings, profile, &asked), asked);
    ck_assert_uint_gt(asked, 0);
    json_decref(findings);
    profile_free(profile);
}
END_TEST

/* The v100's constants share a cache of 128 KiB with instructions: so its size
 * is found, though a module may hold 64 KiB of constants. */
START_TEST(constants_beyond_a_module_are_measured_by_code)
{
    json_t *const findings = truth_topology("v100", 1);
    ck_assert(is_true(findings, "const_l15", "size", 131072, 0));
    json_decref(findings);
}
END_TEST

/* ---- what a stop leaves ------------------------------------------------ */

static int stop_after(void *context, const struct sonde_progress *progress)
{
    const size_t *const experiments = context;
    return progress->experiments >= *experiments;
}

/* True if it came to its end before so many experiments. */
static bool icache_until(const char *spec, size_t experiments,
                         json_t **findings)
{
    const struct sonde_options options = {.device = spec,
                                          .seed = 1,
                                          .no_cache = true,
                                          .progress = stop_after,
                                          .context = &experiments};
    const struct sonde_style style = {.verbose = true};
    const char *const study = "icache";
    struct sonde_error err;
    struct sonde *session;
    char *text;
    ASSERT_DONE(sonde_open(&session, &options, &err), err);
    const int code = sonde_run(session, &study, 1, &err);
    ASSERT_DONE(sonde_report(session, "json", &style, &text, &err), err);
    ASSERT_DONE(sonde_close(session, &err), err);
    json_t *const report = json_loads(text, 0, NULL);
    *findings = json_incref(json_object_get(report, "findings"));
    json_decref(report);
    free(text);
    return code == 0;
}

/* How far is fetched ahead is told before it is known whether hits and misses
 * can be told at all.  Buggy result: beside ten calls in a hundred that are
 * 1000 cycles late it stayed where the time was over in between, a line for
 * none. */
START_TEST(what_a_stop_leaves_was_held_against_noise)
{
    char *const gpu = gpu_made(
        "sms=1 caches={} caches/i0={'line': 128, 'sets': 32, 'ways': 5} "
        "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
        "paths/instruction={'i0': 4, 'l2': 420, 'memory': 700} "
        "paths/instruction/prefetch=2");
    char *const spec = testing_spec_of(gpu);
    size_t told = 0, stopped = 0;
    double ahead;
    bool whole = false;
    for (size_t experiments = 52; !whole; experiments += 16) {
        json_t *findings;
        whole = icache_until(spec, experiments, &findings);
        const bool judged =
            truth_number(findings, "icache_l0.miss_penalty", &ahead);
        stopped += !judged;
        if (truth_number(findings, "icache_l0.prefetch", &ahead)) {
            ck_assert_msg(judged, "after %zu experiments", experiments);
            told++;
        }
        json_decref(findings);
    }
    ck_assert_uint_gt(told, 0);
    ck_assert_uint_gt(stopped, 1);
    free(spec);
}
END_TEST

/* Two caches of code, and so many lines that come after one that is called. */
#define FETCHED_AHEAD                                                          \
    "sms=2 caches={} caches/i0={'line': 128, 'sets': 32, 'ways': 5} "          \
    "caches/i1={'line': 128, 'sets': 64, 'ways': 10} "                         \
    "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "                    \
    "paths/instruction={'i0': 4, 'i1': 44, 'l2': 420, 'memory': 700} "         \
    "paths/instruction/prefetch=%d "

/* Lines that come after one that is called, where it misses or always, and have
 * no part in what fits. */
START_TEST(what_is_fetched_ahead_is_counted)
{
    const int lines = _i % 10;
    json_t *const findings = truth_findings_of(
        gpu_made(FETCHED_AHEAD "paths/instruction/prefetch_on_hits=%s", lines,
                 _i < 10 ? "false" : "true"),
        "icache");
    ck_assert(is_true(findings, "icache_l0", "prefetch", lines, 0));
    ck_assert(is_true(findings, "icache_l1", "prefetch", lines, 0));
    ck_assert(is_true(findings, "icache_l0", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l0", "ways", 5, 0));
    ck_assert(is_true(findings, "icache_l0", "size", 20480, 0));
    ck_assert(is_true(findings, "icache_l1", "size", 81920, 0));
    json_decref(findings);
}
END_TEST

/* Of lines that come the last one often stays away, other times at other
 * places: what comes to each place now and then comes there. */
START_TEST(what_does_not_come_each_time_is_counted)
{
    json_t *const findings = truth_findings_of(
        gpu_made(FETCHED_AHEAD "paths/instruction/prefetch_on_hits=true "
                               "paths/instruction/prefetch_short=40",
                 _i),
        "icache");
    ck_assert(is_true(findings, "icache_l0", "prefetch", _i, 0));
    ck_assert(is_true(findings, "icache_l1", "prefetch", _i, 0));
    json_decref(findings);
}
END_TEST

/* Behind lines of 64 B those of 128 B, of which two come with one that was
 * fetched ahead: that is one line ahead. */
START_TEST(what_comes_with_a_longer_line_is_not_ahead)
{
    const int lines = 1 + _i;
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=2 caches={} caches/i0={'line': 64, 'sets': 32, 'ways': 5} "
            "caches/i1={'line': 128, 'sets': 32, 'ways': 6} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 4, 'i1': 44, 'l2': 420, 'memory': 700} "
            "paths/instruction/prefetch=%d",
            lines),
        "icache");
    ck_assert(is_true(findings, "icache_l0", "line", 64, 0));
    ck_assert(is_true(findings, "icache_l1", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l0", "prefetch", lines, 0));
    ck_assert(is_true(findings, "icache_l1", "prefetch", lines, 0));
    json_decref(findings);
}
END_TEST

/* As an H200's nearest cache: one set, which the loop that calls lies in, too,
 * so that its ways are not known; and what pushes out is no row of lines that
 * come by themselves. */
START_TEST(what_is_fetched_ahead_hides_no_sharing)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=2 max_threads_per_block=512 max_warps_per_sm=16 caches={} "
            "caches/i0={'line': 128, 'sets': 1, 'ways': 40, "
            "           'policy': 'fifo', 'copies_per_sm': 4} "
            "caches/i1={'line': 128, 'sets': 64, 'ways': 4} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 4, 'i1': 16, 'l2': 220, 'memory': 500} "
            "paths/instruction/prefetch=3 "
            "paths/instruction/prefetch_on_hits=true"),
        "icache_sharing");
    ck_assert(is_true(findings, "icache_l0", "prefetch", 3, 0));
    ck_assert(is_true(findings, "icache_l0", "sets", 1, 0));
    ck_assert(is_true(findings, "icache_l0", "per_sm", 4, 0));
    ck_assert(is_true(findings, "icache_l1", "size", 32768, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 4, 0));
    json_decref(findings);
}
END_TEST

/* Another process comes after 4.1 million cycles of a launch, as on an H200,
 * and empties all caches; calls take as long as there. */
START_TEST(what_is_called_fits_a_turn)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=2 caches={} caches/i0={'line': 128, 'sets': 32, 'ways': 3} "
            "caches/i1={'line': 128, 'sets': 54, 'ways': 11} "
            "caches/l2={'sets': 4096, 'ways': 16, 'scope': 'gpu'} "
            "paths/global.cg={'l2': 380, 'memory': 520} "
            "paths/instruction={'i0': 180, 'i1': 250, 'l2': 650, "
            "                   'memory': 900} "
            "intruder={'share': 1, 'cycles': 4800000, "
            "          'every_cycles': 4100000, 'first_cycles': 4100000, "
            "          'empties': ['i0', 'i1', 'l2']}"),
        "icache");
    ck_assert(is_true(findings, "icache_l0", "size", 12288, 0));
    ck_assert(is_true(findings, "icache_l0", "miss_penalty", 70, 2));
    ck_assert(is_true(findings, "icache_l1", "size", 76032, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 11, 0));
    ck_assert(is_true(findings, "icache_l1", "miss_penalty", 400, 8));
    json_decref(findings);
}
END_TEST

/* Calls bring whole lines of the nearest cache to the next, which has shorter
 * ones: constants, which it holds, too, tell that.  Two of a call may be of one
 * set, so that it has twice as many ways as calls show. */
START_TEST(lines_get_shorter)
{
    static const char *const set_bits[] = {"[6, 7, 8, 9, 10, 11, 12]",
                                           "[7, 8, 9, 10, 11, 12, 13]"};
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} caches/i0={'line': 128, 'sets': 8, 'ways': 4} "
            "caches/c1={'line': 64, 'sets': 4, 'ways': 8} "
            "caches/c15={'line': 64, 'sets': 128, 'ways': 6, 'set_bits': %s} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/constant={'c1': 16, 'c15': 69, 'l2': 220, 'memory': 630} "
            "paths/instruction={'i0': 4, 'c15': 104, 'l2': 304, "
            "                   'memory': 604}",
            set_bits[_i]),
        "icache_sharing");
    ck_assert_double_eq(bound_of(findings, "icache_l1.size"), 49152);
    ck_assert(!is_true(findings, "icache_l1", "line", 64, 0));
    ck_assert(!is_true(findings, "icache_l1", "sets", 128, 0));
    ck_assert_str_eq(truth_text(findings, "icache_l1.ways", "status"),
                     "at_least");
    json_decref(findings);
}
END_TEST

/* Constants find the half that did not come in a cache that code does not pass,
 * which is far nearer than where code comes from; or the cache holds little
 * more than what pushes them out of their first one.  Expected: no lines, sets
 * that are not known, ways at least.  Buggy result: lines of 128 B, in half of
 * the ways. */
START_TEST(lines_get_shorter_near_by)
{
    static const uint64_t sets[] = {128, 32};
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} caches/i0={'line': 128, 'sets': 8, 'ways': 4} "
            "caches/c1={'line': 128, 'sector': 32, 'sets': 4, 'ways': 2} "
            "caches/c15={'line': 64, 'sets': %" PRIu64 ", 'ways': 6} "
            "caches/l2={'sector': 128, 'sets': 2048, 'ways': 16, "
            "           'scope': 'gpu'} "
            "paths/constant={'c1': 16, 'c15': 69, 'l2': 150, 'memory': 630} "
            "paths/instruction={'i0': 4, 'c15': 104, 'memory': 604}",
            sets[_i]),
        "icache_sharing");
    ck_assert_double_eq(bound_of(findings, "icache_l1.size"),
                        384. * (double)sets[_i]);
    truth_unmeasured(findings, "icache_l1.line", "shorter");
    truth_unmeasured(findings, "icache_l1.sets", "shorter");
    ck_assert_str_eq(truth_text(findings, "icache_l1.ways", "status"),
                     "at_least");
    json_decref(findings);
}
END_TEST

/* The first cache of constants brings as much at a time as calls do, so nobody
 * asks for less.  Expected: lines of 128 B at most, in so many sets and ways at
 * least.  Buggy result: lines of 128 B, since the first half was there. */
START_TEST(lines_that_nobody_asks_for_may_be_shorter)
{
    static const uint64_t sets[] = {128, 64};
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} caches/i0={'line': 128, 'sets': 8, 'ways': 4} "
            "caches/c1={'line': 128, 'sector': 128, 'sets': 2, 'ways': 5} "
            "caches/c15={'line': %d, 'sets': %" PRIu64 ", 'ways': 6} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/constant={'c1': 39, 'c15': 125, 'l2': 322, 'memory': 842} "
            "paths/instruction={'i0': 8, 'c15': 122, 'memory': 510}",
            8192 / (int)sets[_i], sets[_i]),
        "icache_sharing");
    ck_assert_str_eq(truth_text(findings, "icache_l1.line", "status"),
                     "at_most");
    ck_assert_str_eq(truth_text(findings, "icache_l1.sets", "status"),
                     "at_least");
    ck_assert(bound_of(findings, "icache_l1.line") == 128);
    ck_assert(bound_of(findings, "icache_l1.sets") == 64);
    ck_assert(bound_of(findings, "icache_l1.ways") == 6);
    json_decref(findings);
}
END_TEST

/* Chance puts out each of two short lines by itself, which blurs how often ways
 * go; and victims by age in sets that no model has pass for such of chance, but
 * the same functions in the same order hit and miss as before. */
START_TEST(short_lines_show_no_chance)
{
    static const char *const c15[] = {
        "'sets': 128, 'ways': 5, 'policy': {'kind': 'weighted', "
        "                                   'weights': [1, 4, 4, 4, 3]}",
        "'sets': 128, 'ways': 6, 'policy': 'fifo', "
        "'set_bits': [6, [7, 13], [8, 13], 9, 10, [11, 13], 12]"};
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 isa/default/O3=6 clock_overhead=37 caches={} "
            "caches/i0={'line': 128, 'sets': 5, 'ways': 12} "
            "caches/c1={'line': 64, 'sets': 4, 'ways': 4} "
            "caches/c15={'line': 64, %s} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/constant={'c1': 24, 'c15': 64, 'l2': 408, 'memory': 957} "
            "paths/instruction={'i0': 5, 'c15': 86, 'memory': 330} "
            "noise={'jitter_cycles': 0.4, 'spike_rate': 0.0028, "
            "       'spike_cycles': 596}",
            c15[_i]),
        "icache_sharing");
    truth_unmeasured(findings, "icache_l1.policy",
                     _i == 0 ? "shorter" : "foretell");
    json_decref(findings);
}
END_TEST

/* … and sets that no model has, of an index of XORs, may look like any.
 * Expected: no ways, nor sets.  Buggy result: ways of sets that were not said
 * any more; and where constants are not asked 15 at least, of 16 sets (the
 * random GPU 1240100040): few functions had room in these with what comes
 * ahead, and would have fit in finer ones, too. */
static const struct {
    const char *study, *c15, *why;
} of_chance[] = {
    {"icache_sharing",
     "'sets': 64, 'ways': 12, 'set_bits': [[6, 12], 7, 8, 9, 10, 11]",
     "shorter"},
    {"icache",
     "'sets': 256, 'ways': 3, "
     "'set_bits': [[6, 15], 7, [8, 15], [9, 15], 10, 11, 12, 13]",
     "foretell"},
};

START_TEST(short_lines_show_no_ways_of_chance)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 isa/default/O3=7 clock_overhead=6 caches={} "
                 "caches/i0={'line': 128, 'sets': 5, 'ways': 16} "
                 "caches/c1={'line': 64, 'sets': 4, 'ways': 4} "
                 "caches/c15={'line': 64, 'sector': 64, 'policy': 'random', "
                 "            %s} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/constant={'c1': 24, 'c15': 61, 'l2': 408, "
                 "                'memory': 957} "
                 "paths/instruction={'i0': 6, 'c15': 155, 'memory': 414} "
                 "paths/instruction/prefetch=2 "
                 "noise={'jitter_cycles': 0.3, 'spike_rate': 0.001, "
                 "       'spike_cycles': 400}",
                 of_chance[_i].c15),
        1, of_chance[_i].study);
    truth_unmeasured(findings, "icache_l1.sets", of_chance[_i].why);
    truth_unmeasured(findings, "icache_l1.ways", of_chance[_i].why);
    ck_assert_double_le(bound_of(findings, "icache_l1.size"), 49152);
    json_decref(findings);
}
END_TEST

/* … also where nothing else is unusual, nor any constant asks for less: a call
 * finds both parts as seldom as one line of fewer ways, but functions fit that
 * are too many for these.  Expected: neither lines, sets nor ways.  Buggy
 * result: 128 B in half of the sets, or in all of half as many ways. */
static const struct {
    unsigned nearer, line, sets, ways;
    const char *more;
} in_parts[] = {
    {128, 64, 128, 6, ""},
    {128, 64, 128, 12, ""},
    {128, 64, 128, 6, ", 'set_bits': [7, 8, 9, 10, 11, 12, 13]"},
    {64, 32, 256, 6, ""},
};

static json_t *find_in_parts(unsigned nearer, unsigned line, unsigned sets,
                             unsigned ways, const char *more)
{
    return truth_findings_seeded(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': %u, 'sector': %u, 'sets': 8, 'ways': 4} "
                 "caches/i1={'line': %u, 'sector': %u, 'sets': %u, 'ways': %u, "
                 "           'policy': 'random' %s} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 4, 'i1': 44, 'memory': 304}",
                 nearer, nearer, line, line, sets, ways, more),
        1, "icache");
}

START_TEST(lines_in_parts_are_not_whole)
{
    json_t *const findings =
        find_in_parts(in_parts[_i].nearer, in_parts[_i].line, in_parts[_i].sets,
                      in_parts[_i].ways, in_parts[_i].more);
    truth_unmeasured(findings, "icache_l1.line", "shorter");
    truth_unmeasured(findings, "icache_l1.sets", "shorter");
    truth_unmeasured(findings, "icache_l1.ways", "shorter");
    ck_assert_str_eq(truth_text(findings, "icache_l1.size", "status"),
                     "at_least");
    ck_assert_double_le(bound_of(findings, "icache_l1.size"),
                        in_parts[_i].line * in_parts[_i].sets *
                            in_parts[_i].ways);
    json_decref(findings);
}
END_TEST

/* Of four ways parts in five foretell nearly as much. */
START_TEST(whole_lines_are_not_in_parts)
{
    json_t *const findings = find_in_parts(128, 128, 64, _i == 0 ? 4 : 12, "");
    ck_assert(is_true(findings, "icache_l1", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 64, 0));
    json_decref(findings);
}
END_TEST

/* Functions come to every other line of 64 B, so to half of the sets of the
 * nearest cache and to all of the next: by bytes that has room for hardly more
 * of them. */
START_TEST(half_of_the_sets_leave_room_to_share)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=4 sms_per_tpc=2 max_threads_per_block=128 caches={} "
            "caches/i0={'line': 64, 'sets': 18, 'ways': 11} "
            "caches/i1={'line': 64, 'sets': 97, 'ways': 5, 'scope': 'tpc'} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 4, 'i1': 60, 'l2': 220, "
            "                   'memory': 500}"),
        "icache_sharing");
    ck_assert(is_true(findings, "icache_l0", "sms_sharing", 1, 0));
    ck_assert(is_true(findings, "icache_l1", "sms_sharing", 2, 0));
    ck_assert(is_true(findings, "icache_l1", "per_sm", 1, 0));
    json_decref(findings);
}
END_TEST

/* Ends of functions come to all sets of the nearest cache, but to half of the
 * lines of the next one, as these are longer, or to half of its sets: by ends
 * that has room for hardly more of them.  Expected: who shares it.  Buggy
 * result: not measured. */
START_TEST(functions_that_are_run_through_leave_room_to_share)
{
    static const char *const next[] = {
        "caches/i0={'line': 64, 'sets': 19, 'ways': 12} "
        "caches/i1={'line': 128, 'sets': 31, 'ways': 9, 'scope': 'tpc', "
        "           'policy': 'fifo'}",
        "caches/i0={'line': 64, 'sets': 57, 'ways': 4, 'policy': 'nru'} "
        "caches/i1={'line': 64, 'sets': 40, 'ways': 13, 'scope': 'tpc'}"};
    json_t *const findings = truth_findings_of(
        gpu_made("sms=3 sms_per_tpc=2 max_threads_per_block=128 caches={} %s "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 4, 'i1': 60, 'l2': 220, "
                 "                   'memory': 500}",
                 next[_i]),
        "icache_sharing");
    ck_assert(is_true(findings, "icache_l0", "sms_sharing", 1, 0));
    ck_assert(is_true(findings, "icache_l1", "sms_sharing", 2, 0));
    ck_assert(is_true(findings, "icache_l1", "per_sm", 1, 0));
    json_decref(findings);
}
END_TEST

/* Of seven functions, as fit where victims are of chance, others push out some
 * now and fewer then.  Expected: every other warp uses the same copy.  Buggy
 * result: none does, or every fourth. */
START_TEST(chance_of_few_functions_hides_no_warp)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 warp_schedulers=2 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 5, 'ways': %d, "
                 "           'policy': 'random', 'copies_per_sm': 2} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 6, 'l2': 164, 'memory': 400}",
                 _i),
        "icache_sharing");
    ck_assert(is_true(findings, "icache_l0", "per_sm", 2, 0));
    json_decref(findings);
}
END_TEST

/* Of six functions chance put out one after constants were loaded.  Expected: a
 * cache of its own.  Buggy result: the one behind that of constants. */
START_TEST(chance_of_few_functions_is_no_constants)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made(
            "sms=1 warp_schedulers=1 clock_overhead=9 clock_khz=2000000 "
            "isa/default/O3=10 memory_bytes=17179869184 sms_per_tpc=1 "
            "tpcs_per_gpc=7 caches={} "
            "caches/l1={'line': 32, 'sector': 32, 'sets': 16, 'ways': 16} "
            "caches/const_l1={'line': 64, 'sector': 64, 'sets': 1, "
            "                 'ways': 12} "
            "caches/const_l15={'line': 64, 'sector': 64, 'sets': 64, "
            "                  'ways': 21, 'policy': 'nru'} "
            "caches/l2={'line': 256, 'sector': 32, 'sets': 134, 'ways': 16, "
            "           'scope': 'gpu', 'atomic_cycles': 4, "
            "           'policy': {'kind': 'weighted', 'weights': [2, 4, 1, 1, "
            "           1, 3, 4, 4, 2, 2, 1, 3, 3, 3, 3, 3]}} "
            "caches/icache_l0={'line': 64, 'sector': 64, 'sets': 5, "
            "                  'ways': 12, 'policy': 'random'} "
            "caches/icache_l1={'line': 128, 'sector': 128, 'sets': 11, "
            "                  'ways': 14, 'scope': 'tpc'} "
            "paths/global.ca={'l1': 27, 'l2': [301, 307, 794], "
            "                 'memory': [748, 754, 1241]} "
            "paths/global.cg={'l2': [284, 290, 777], "
            "                 'memory': [731, 737, 1224]} "
            "paths/constant={'const_l1': 27, 'const_l15': 106, 'l2': 301, "
            "                'memory': 748} "
            "paths/instruction={'icache_l0': 1, 'icache_l1': 31, "
            "                   'memory': 393} paths/instruction/prefetch=4 "
            "tlbs/l1={'page': 262144, 'region': 262144, 'scope': 'sm', "
            "         'set_ways': [11, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, "
            "                      5, 5, 5, 5, 5, 5]} "
            "tlbs/l2={'page': 4194304, 'region': 4194304, 'fill': 'page', "
            "         'scope': 'gpc', 'set_ways': [9, 4, 4, 4, 4, 4, 4, 4, 4, "
            "                                      4, 4, 4]} "
            "noise={'jitter_cycles': 1.28, 'spike_rate': 0.00081, "
            "       'spike_cycles': 223}"),
        1142000375, "icache_sharing");
    const json_t *const with =
        json_object_get(findings, "icache_l0.shares_with");
    ck_assert_uint_eq(json_array_size(json_object_get(with, "value")), 0);
    json_decref(findings);
}
END_TEST

/* Of three schedulers the first and the last have one copy together.  Expected:
 * two copies.  Buggy result: not measured, as those that share one lie at no
 * regular distance. */
START_TEST(copies_may_be_dealt_unevenly)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 warp_schedulers=3 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 16, 'ways': 4, "
                 "           'copies_per_sm': 2} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 6, 'l2': 164, 'memory': 400}"),
        "icache_sharing");
    ck_assert(is_true(findings, "icache_l0", "per_sm", 2, 0));
    json_decref(findings);
}
END_TEST

/* Calls that come late by more than a miss costs are no misses; by less, they
 * are in its interval. */
START_TEST(late_calls_are_no_misses)
{
    static const char *const id = "icache_l1.miss_penalty";
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} caches/i0={'line': 128, 'sets': 16, 'ways': 4} "
            "caches/i1={'line': 256, 'sets': 16, 'ways': 8} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 4, 'i1': 44, 'l2': 260, 'memory': 560} "
            "noise={'jitter_cycles': 5, 'spike_rate': 0.25, "
            "'spike_cycles': %d}",
            _i),
        "icache");
    const json_t *const f = json_object_get(findings, id);
    const json_t *const interval = json_object_get(f, "interval");
    if (json_is_array(interval)) {
        ck_assert_double_le(json_number_value(json_array_get(interval, 0)),
                            216);
        ck_assert_double_ge(json_number_value(json_array_get(interval, 1)),
                            216);
    } else
        ck_assert_ptr_nonnull(json_object_get(f, "because"));
    json_decref(findings);
}
END_TEST

/* One miss in eight returns to a line of the loop that is gone, most of whose
 * miss is hidden.  Expected: 34 cycles.  Buggy result: 35.6, as what is 18
 * cycles late lay near what spreads by two. */
START_TEST(what_is_late_by_a_part_of_a_miss_is_none)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 isa/default/O3=17 caches={} "
                 "caches/c1={'line': 64, 'sets': 2, 'ways': 10} "
                 "caches/i0={'line': 128, 'sector': 128, 'sets': 11, "
                 "           'ways': 3, 'policy': 'fifo'} "
                 "caches/i1={'line': 128, 'sector': 128, 'sets': 25, "
                 "           'ways': 6, 'policy': 'random'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/constant={'c1': 53, 'l2': 405, 'memory': 729} "
                 "paths/instruction={'i0': 3, 'i1': 37, 'memory': 383} "
                 "paths/instruction/prefetch=1 "
                 "noise={'jitter_cycles': 2.16, 'spike_rate': 0.00245, "
                 "       'spike_cycles': 261}"),
        "icache");
    ck_assert(is_true(findings, "icache_l0", "miss_penalty", 34, 1));
    json_decref(findings);
}
END_TEST

/* Of some hundred calls in laps that fit none was late, and of 2000 of lines
 * that fit some were.  Expected: 50 ways.  Buggy result: not measured, as sets
 * that are others would overflow by as many. */
START_TEST(late_calls_are_no_overflow)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 128, 'sector': 128, 'sets': 8, "
                 "           'ways': 4} "
                 "caches/i1={'line': 128, 'sector': 128, 'sets': 2, "
                 "           'ways': 50} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 4, 'i1': 44, 'memory': 250} "
                 "noise={'jitter_cycles': 1, 'spike_rate': 0.004, "
                 "       'spike_cycles': 300}"),
        7, "icache");
    ck_assert(is_true(findings, "icache_l1", "sets", 2, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 50, 0));
    json_decref(findings);
}
END_TEST

/* Two lines of the nearest cache cost two of its misses, which may be more than
 * one of the next: they are no sign that its line has ended. */
START_TEST(two_short_lines_are_no_longer_one)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} caches/i0={'line': 64, 'sets': 7, 'ways': 13, "
            "           'policy': 'nru'} "
            "caches/i1={'line': 256, 'sets': 16, 'ways': 8} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 3, 'i1': 149, 'l2': 411, "
            "                   'memory': 700}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "prefetch", 0, 0));
    ck_assert(is_true(findings, "icache_l1", "line", 256, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 8, 0));
    json_decref(findings);
}
END_TEST

/* Lines of 64 and of 128 B are wrong about hardly more calls than the clock may
 * be, so that longer ones were not thought of.  Expected: one set of 61 lines
 * of 256 B.  Buggy result: 128 B, and 94 ways or more. */
START_TEST(what_shorter_lines_nearly_explain_may_be_longer)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 5, 'ways': 8} "
                 "caches/i1={'line': 256, 'sector': 64, 'sets': 1, 'ways': 61} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 1, 'i1': 64, 'memory': 246} "
                 "paths/instruction/prefetch=4"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "line", 256, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 1, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 61, 0));
    json_decref(findings);
}
END_TEST

/* What comes ahead, and lines of the loop, push out lines that were just
 * called, where victims are of chance.  Expected: lines of 128 B.  Buggy
 * result: 64 B, since their first halves were gone as often as not. */
START_TEST(lines_that_chance_pushed_out_are_as_long)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} "
            "caches/i0={'line': 128, 'sector': 128, 'sets': 2, 'ways': 10, "
            "           'policy': 'random'} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 9, 'l2': 430, 'memory': 630} "
            "paths/instruction/prefetch=4"),
        "icache");
    ck_assert(is_true(findings, "icache_l0", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l0", "sets", 2, 0));
    json_decref(findings);
}
END_TEST

/* Expected: a tree of four ways.  Buggy result: lru, since three ways looked
 * better at first, of which there is no tree, and only those were thought of
 * with every policy. */
START_TEST(a_late_shape_has_all_policies)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 128, 'sector': 128, 'sets': 4, "
                 "           'ways': 16, 'policy': 'nru'} "
                 "caches/i1={'line': 256, 'sector': 32, 'sets': 35, "
                 "           'ways': 4, 'policy': 'plru'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 9, 'i1': 69, 'l2': 462, "
                 "                   'memory': 700} "
                 "paths/instruction/prefetch=1"),
        "icache");
    ck_assert_str_eq(truth_text(findings, "icache_l1.policy", "value"), "plru");
    json_decref(findings);
}
END_TEST

/* Calls bring few lines of ages to each set, and none that is apart or fits
 * tells of ten ways or eleven.  Expected: ten.  Buggy result: eleven, which lru
 * and chance liked best, and no others were thought of with ages. */
START_TEST(ages_have_ways_of_their_own)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 isa/default/O3=10 clock_overhead=32 caches={} "
                 "caches/i0={'line': 128, 'sector': 128, 'sets': 11, "
                 "           'ways': 5} "
                 "caches/i1={'line': 128, 'sector': 32, 'sets': 41, "
                 "           'ways': 10, 'policy': {'kind': 'rrip', 'most': 3, "
                 "           'insert': 2, 'hit': 0}} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 6, 'i1': 57, 'memory': 306}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "ways", 10, 0));
    ck_assert(is_true(findings, "icache_l1", "size", 52480, 0));
    ck_assert_str_eq(truth_text(findings, "icache_l1.policy", "value"), "rrip");
    json_decref(findings);
}
END_TEST

/* Lines of which a call brings half, and what comes ahead the others, most of
 * the time: half as long in twice as many sets they foretell nearly as much. */
START_TEST(lines_that_mostly_come_whole_are_as_long)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} caches/i0={'line': 128, 'sets': 15, 'ways': 4} "
            "caches/i1={'line': 256, 'sector': 64, 'sets': 16, 'ways': 6, "
            "           'policy': 'nru'} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 5, 'i1': 131, 'l2': 465, "
            "                   'memory': 700} "
            "paths/instruction/prefetch=4"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "line", 256, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 16, 0));
    json_decref(findings);
}
END_TEST

/* Lines of two of what a call brings, in a set of many: as many single ones
 * foretell most calls, and longer ones are tried all the same. */
START_TEST(lines_that_come_by_halves_are_as_long)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} "
            "caches/i0={'line': 64, 'sector': 64, 'sets': 5, 'ways': 12} "
            "caches/i1={'line': 128, 'sector': 32, 'sets': 1, 'ways': 200} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 5, 'i1': 141, 'l2': 402, "
            "                   'memory': 700}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 200, 0));
    json_decref(findings);
}
END_TEST

/* Calls of lines that fit are hardly ever late, though models of chance think
 * that some are. */
START_TEST(calls_that_are_in_time_deny_no_chance)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 isa/default/O3=10 caches={} "
            "caches/i0={'line': 64, 'sector': 64, 'sets': 5, 'ways': 16} "
            "caches/i1={'line': 128, 'sector': 128, 'sets': 33, 'ways': 9, "
            "           'policy': 'random'} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 5, 'i1': 141, 'l2': 402, "
            "                   'memory': 700}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 33, 0));
    json_decref(findings);
}
END_TEST

/* Expected: lines of 256 B in 6 sets; of 128 B, or none.  Buggy result: 64 B,
 * in 24 sets and in 256, of which chance foretold the calls as well as any that
 * was tried. */
START_TEST(parts_of_lines_hide_no_chance)
{
    static const char *const i1[] = {
        "'line': 256, 'sector': 64, 'sets': 6, 'ways': 15, 'policy': 'random'",
        "'line': 128, 'sector': 64, 'sets': 128, 'ways': 3, "
        "'policy': {'kind': 'weighted', 'weights': [4, 4, 2]}"};
    static const char *const i0[] = {"'sets': 7, 'ways': 11",
                                     "'sets': 10, 'ways': 16, "
                                     "'policy': 'random'"};
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} caches/i0={'line': 64, 'sector': 64, %s} "
                 "caches/i1={%s} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 8, 'i1': 103, 'l2': 302, "
                 "                   'memory': 600} "
                 "paths/instruction/prefetch=%d",
                 i0[_i], i1[_i], _i == 0 ? 4 : 2),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "line", _i == 0 ? 256 : 128, 0) ||
              _i > 0);
    ck_assert(is_true(findings, "icache_l1", "sets", _i == 0 ? 6 : 128, 0) ||
              _i > 0);
    json_decref(findings);
}
END_TEST

/* Ways of which one goes little more often than the others are told from none
 * such by no number of calls that there is time for.  Expected: random, to so
 * much as was told.  Buggy result: random without a word. */
START_TEST(chance_is_alike_within_a_bound)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 7, "
                 "           'ways': 13} "
                 "caches/i1={'line': 256, 'sector': 256, 'sets': 32, "
                 "           'ways': 3, 'policy': {'kind': 'weighted', "
                 "           'weights': [4, 3, 3]}} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 4, 'i1': 51, 'l2': 426, "
                 "                   'memory': 700}"),
        "icache");
    const json_t *const f = json_object_get(findings, "icache_l1.policy");
    const double within = json_number_value(
        json_object_get(json_object_get(f, "protocol"), "weights_within"));
    ck_assert_str_eq(truth_text(findings, "icache_l1.policy", "value"),
                     "random");
    /* They deviate by 0.47, of 3.3. */
    ck_assert_double_gt(within, 0.47 / 3.3);
    ck_assert_double_lt(within, 0.25);
    json_decref(findings);
}
END_TEST

/* Indexes of XORs, which no model has: of few sets, of whose lines the nearest
 * cache has those that fit, so that none of them is seen to overflow; and with
 * victims of chance, which are missed as often as is thought, but not of each
 * function.  Expected: not measured, since none foretells that.  Buggy result:
 * one set for four; 16 for 32. */
START_TEST(sets_that_no_model_has_are_not_others)
{
    static const char *const i0[] = {"'sets': 31, 'ways': 8, 'policy': 'fifo'",
                                     "'sets': 14, 'ways': 5"};
    static const char *const i1[] = {
        "'sets': 4, 'ways': 74, 'set_bits': [[7, 9, 10], [8, 11]]",
        "'sets': 32, 'ways': 8, "
        "'set_bits': [[7, 12], [8, 13], [9, 12], 10, 11], "
        "'policy': 'random'"};
    static const double sets[] = {4, 32};
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} caches/i0={'line': 64, 'sector': 64, %s} "
                 "caches/i1={'line': 128, 'sector': 64, %s} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 5, 'i1': 82, 'l2': 299, "
                 "                   'memory': 600} "
                 "paths/instruction/prefetch=%d",
                 i0[_i], i1[_i], _i == 0 ? 4 : 0),
        "icache");
    is_true(findings, "icache_l1", "line", 128, 0);
    is_true(findings, "icache_l1", "sets", sets[_i], 0);
    ck_assert_double_le(bound_of(findings, "icache_l1.ways"), _i == 0 ? 74 : 8);
    json_decref(findings);
}
END_TEST

/* An index of XORs, with victims of chance: in fewer sets lines fit as well if
 * half of the room is left.  Expected: 128 sets, or none.  Buggy result: 64,
 * and 32 with other noise. */
START_TEST(lines_that_fit_come_to_be_there)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 isa/default/O3=6 clock_overhead=3 caches={} "
            "caches/i0={'line': 64, 'sector': 64, 'sets': 8, 'ways': 16, "
            "           'policy': 'random', 'copies_per_sm': 4} "
            "caches/i1={'line': 64, 'sector': 64, 'sets': 128, 'ways': 5, "
            "           'policy': 'random', "
            "           'set_bits': [[6, 13], 7, 8, [9, 13], 10, [11, 13], "
            "                        12]} "
            "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 10, 'i1': 72, 'l2': 395, "
            "                   'memory': 700} "
            "noise={'jitter_cycles': 1.84, 'spike_rate': 0.00019, "
            "       'spike_cycles': 266}"),
        "icache");
    is_true(findings, "icache_l1", "sets", 128, 0);
    ck_assert_double_le(bound_of(findings, "icache_l1.size"), 40960);
    json_decref(findings);
}
END_TEST

/* What the loop's lines bring when chance has pushed them out makes an index
 * that leaves out a bit likelier in few calls, and no others were thought of
 * in more.  Expected: four sets.  Buggy result: two. */
START_TEST(more_calls_decide_between_sets)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 4, "
                 "           'ways': 15, 'policy': 'random'} "
                 "caches/i1={'line': 64, 'sector': 64, 'sets': 26, "
                 "           'ways': 15} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 8, 'i1': 154, 'l2': 271, "
                 "                   'memory': 600} "
                 "paths/instruction/prefetch=4"),
        (uint64_t)_i, "icache");
    ck_assert(is_true(findings, "icache_l0", "sets", 4, 0));
    ck_assert_str_eq(truth_text(findings, "icache_l0.policy", "value"),
                     "random");
    json_decref(findings);
}
END_TEST

/* Where a line of the loop is gone from the nearest cache a hit of the next one
 * costs as much as a miss of that. */
START_TEST(lines_of_the_loop_are_no_misses)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 isa/default/O3=4 clock_overhead=33 caches={} "
                 "caches/i0={'line': 128, 'sets': 5, 'ways': 14, "
                 "           'policy': 'random'} "
                 "caches/i1={'line': 128, 'sets': 20, 'ways': 11, "
                 "           'policy': 'random'} "
                 "caches/i15={'line': 128, 'sets': 47, 'ways': 14} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 4, 'i1': 86, 'i15': 151, 'l2': 448, "
                 "                   'memory': 700} "
                 "paths/instruction/prefetch=4 "
                 "noise={'jitter_cycles': 2.34, 'spike_rate': 0.0006, "
                 "       'spike_cycles': 527}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "miss_penalty", 65, 1));
    json_decref(findings);
}
END_TEST

/* … and a hit of the next one that returns to a line of the loop costs more
 * than its miss, where a miss of the nearest one costs more than that.
 * Expected: 20 sets, lru.  Buggy result: not measured, as too many lines that
 * fit were missed. */
START_TEST(late_hits_that_cost_more_than_misses_are_hits)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 128, 'sector': 128, 'sets': 7, "
                 "           'ways': 11, 'policy': 'random'} "
                 "caches/i1={'line': 128, 'sector': 128, 'sets': 20, "
                 "           'ways': 9} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 5, 'i1': 152, 'l2': 252, "
                 "                   'memory': 600} "
                 "paths/instruction/prefetch=1 "
                 "noise={'jitter_cycles': 0.9, 'spike_rate': 0.003, "
                 "       'spike_cycles': 167}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "miss_penalty", 100, 1));
    ck_assert(is_true(findings, "icache_l1", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 20, 0));
    ck_assert_str_eq(truth_text(findings, "icache_l1.policy", "value"), "lru");
    json_decref(findings);
}
END_TEST

/* Lines of the loop that what comes in pushes out bring others with them, and
 * both have room in each of four sets.  Expected: a bound of the ways.  Buggy
 * result: a way less, and none of the others in any set. */
START_TEST(what_comes_with_the_loop_is_no_way)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 128, 'sector': 128, 'sets': 4, "
                 "           'ways': 15, 'policy': 'fifo'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 7, 'l2': 144, 'memory': 300} "
                 "paths/instruction/prefetch=4"),
        "icache");
    is_true(findings, "icache_l0", "ways", 15, 0);
    is_true(findings, "icache_l0", "size", 7680, 0);
    ck_assert(is_true(findings, "icache_l0", "sets", 4, 0));
    json_decref(findings);
}
END_TEST

/* Expected: ways and size, or bounds of them.  Buggy result: 16 ways, with room
 * for one line more of the loop in each set, since five lines, as come at each
 * call, were fewer than the loop has in all. */
START_TEST(lines_of_the_loop_are_no_way)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 64, 'sets': 8, 'ways': 15, "
                 "           'policy': 'nru'} "
                 "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'} "
                 "paths/constant={'l2': 296, 'memory': 622} "
                 "paths/instruction={'i0': 10, 'memory': 401} "
                 "paths/instruction/prefetch=2"),
        "icache");
    is_true(findings, "icache_l0", "ways", 15, 0);
    is_true(findings, "icache_l0", "size", 7680, 0);
    json_decref(findings);
}
END_TEST

/* Expected: ways and size, or bounds of them.  Buggy result: 15 ways, by three
 * calls of 8000 that the loop's last lines, which seldom come, made otherwise;
 * both were wrong about eight times as many. */
START_TEST(lines_that_come_seldom_are_no_way)
{
    json_t *const gpu = gpu_plain();
    gpu_wish(gpu, "sms=1 caches={} "
                  "caches/i0={'line': 64, 'sector': 64, 'sets': 8, 'ways': 14, "
                  "           'policy': 'nru'} "
                  "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'} "
                  "paths/constant={'l2': 282, 'memory': 465} "
                  "paths/instruction={'i0': 8, 'l2': 36, 'memory': 156} "
                  "paths/instruction/prefetch=1");
    json_t *const findings = truth_findings_of(gpu_text(gpu), "icache");
    ck_assert(is_true(findings, "icache_l0", "sets", 8, 0));
    is_true(findings, "icache_l0", "ways", 14, 0);
    is_true(findings, "icache_l0", "size", 7168, 0);
    ck_assert_double_eq(bound_of(findings, "icache_l0.ways"), 14);
    json_decref(findings);
}
END_TEST

/* Random victims of few calls that come so far pass for a policy with more
 * ways, of which the least is no bound. */
START_TEST(what_no_policy_foretells_bounds_no_ways)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 128, 'sets': 6, 'ways': 11, "
                 "           'policy': 'random'} "
                 "caches/i1={'line': 128, 'sets': 21, 'ways': 12} "
                 "caches/i15={'line': 128, 'sets': 70, 'ways': 8, "
                 "            'policy': 'random'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 7, 'i1': 89, 'i15': 208, 'l2': 564, "
                 "                   'memory': 700} "
                 "paths/instruction/prefetch=1"),
        "icache");
    ck_assert_double_le(bound_of(findings, "icache_l15.ways"), 8);
    ck_assert_double_le(bound_of(findings, "icache_l15.size"), 71680);
    json_decref(findings);
}
END_TEST

/* Expected: what is held at least is so many ways of all sets.  Buggy result:
 * some bytes more, which a share of the calls says only about. */
START_TEST(whole_ways_are_held)
{
    const double way = 33 * 128;
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} caches/i0={'line': 128, 'sets': 5, 'ways': 6} "
            "caches/i1={'line': 128, 'sets': 33, 'ways': 9, "
            "           'policy': 'random'} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 5, 'i1': 141, 'l2': 402, "
            "                   'memory': 700}"),
        "icache");
    const double held = bound_of(findings, "icache_l1.size");
    const double ways = bound_of(findings, "icache_l1.ways");
    ck_assert_str_eq(truth_text(findings, "icache_l1.size", "status"),
                     "at_least");
    ck_assert_double_gt(ways, 1);
    ck_assert_double_le(ways, 9);
    ck_assert_double_eq_tol(held, ways * way, 0.5);
    json_decref(findings);
}
END_TEST

/* An index of XORs is linear over addresses, which nobody knows of functions;
 * constants that lie in the same cache tell it.  Expected: their sets and their
 * policy.  Before: no line, sets and ways, as none foretold what is missed. */
START_TEST(constants_tell_the_sets_of_code)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} "
            "caches/i0={'line': 64, 'sector': 64, 'sets': 8, 'ways': 8} "
            "caches/c1={'line': 64, 'sector': 32, 'sets': 4, 'ways': 8} "
            "caches/c15={'line': 64, 'sector': 64, 'sets': 32, 'ways': 8, "
            "            'policy': 'fifo', "
            "            'set_bits': [[6, 11], [7, 12, 13], [8, 11], 9, "
            "                         [10, 13]]} "
            "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'} "
            "paths/constant={'c1': 16, 'c15': 69, 'l2': 220, 'memory': 630} "
            "paths/instruction={'i0': 4, 'c15': 104, 'l2': 304, "
            "                   'memory': 604}"),
        "structure");
    ck_assert(is_true(findings, "icache_l1", "line", 64, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 32, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 8, 0));
    ck_assert_str_eq(truth_text(findings, "icache_l1.policy", "value"), "fifo");
    json_decref(findings);
}
END_TEST

/* An index of XORs, with victims of chance: half of the lines that come to a
 * set of the model do not come to the same set, and of those that do, few by
 * chance are more than it has ways.  Expected: 128 sets of 5 ways, or none.
 * Buggy result: 32 sets of 16 ways at least, as functions that were picked by
 * chance fit. */
START_TEST(lines_that_are_alike_fit)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 isa/default/O3=6 clock_overhead=4 caches={} "
            "caches/l1={'line': 128, 'sets': 4, 'ways': 16} "
            "caches/c1={'line': 64, 'sector': 64, 'sets': 1, 'ways': 24, "
            "           'policy': 'random'} "
            "caches/c15={'line': 128, 'sector': 32, 'sets': 128, 'ways': 5, "
            "            'policy': {'kind': 'weighted', "
            "                       'weights': [4, 2, 1, 3, 4]}, "
            "            'set_bits': [[7, 14], [8, 14], 9, [10, 14], 11, "
            "                         [12, 14], [13, 14]]} "
            "caches/l2={'line': 64, 'sector': 64, 'sets': 512, 'ways': 12, "
            "           'scope': 'gpu'} "
            "caches/i0={'line': 128, 'sector': 128, 'sets': 12, 'ways': 11} "
            "paths/constant={'c1': 36, 'c15': 81, 'l2': 224, 'memory': 501} "
            "paths/instruction={'i0': 8, 'c15': 60, 'memory': 441} "
            "paths/instruction/prefetch=2 "
            "noise={'jitter_cycles': 0.49, 'spike_rate': 0.0029, "
            "       'spike_cycles': 248}"),
        "icache");
    is_true(findings, "icache_l1", "sets", 128, 0);
    ck_assert_double_le(bound_of(findings, "icache_l1.ways"), 5);
    json_decref(findings);
}
END_TEST

/* An index of XORs: what is fetched ahead of each line is one of the other set,
 * so that one set of all ways foretells nearly as much.  Expected: two sets, or
 * none, of at most 48 ways.  Buggy result: one set of 88 ways at least (the
 * random GPU 1145000049). */
START_TEST(bits_that_are_folded_tell_sets)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 isa/default/O3=11 caches={} "
            "caches/i0={'line': 128, 'sector': 128, 'sets': 10, 'ways': 5, "
            "           'policy': 'random'} "
            "caches/i1={'line': 256, 'sector': 256, 'sets': 2, 'ways': 48, "
            "           'policy': {'kind': 'rrip', 'most': 3, 'insert': 2, "
            "                      'hit': 0}, 'set_bits': [[8, 13]]} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 1, 'i1': 41, 'memory': 303} "
            "paths/instruction/prefetch=2 "
            "noise={'jitter_cycles': 1.5, 'spike_rate': 0.0018, "
            "       'spike_cycles': 452}"),
        "icache");
    is_true(findings, "icache_l1", "sets", 2, 0);
    ck_assert(is_true(findings, "icache_l1", "line", 256, 0));
    ck_assert_double_le(bound_of(findings, "icache_l1.ways"), 48);
    json_decref(findings);
}
END_TEST

/* Lines that are longer than what constants bring at a time.  Expected: 128 B
 * in 16 sets, as calls show, which bring half a line.  Buggy result: neither,
 * since the other sectors of a line did not come. */
START_TEST(sectors_are_no_shorter_lines)
{
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 caches={} "
            "caches/i0={'line': 64, 'sector': 64, 'sets': 13, 'ways': 5} "
            "caches/c1={'line': 64, 'sector': 32, 'sets': 1, 'ways': 9} "
            "caches/c15={'line': 128, 'sector': 32, 'sets': 16, 'ways': 23} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/constant={'c1': 11, 'c15': 88, 'l2': 289, 'memory': 595} "
            "paths/instruction={'i0': 7, 'c15': 104, 'memory': 187}"),
        "icache_sharing");
    ck_assert(is_true(findings, "icache_l1", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 16, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 23, 0));
    json_decref(findings);
}
END_TEST

/* Lines of two sectors, of which a call brings one and what comes ahead both of
 * the next line, in a cache that holds all that lies apart: only first halves
 * that are called alone tell them from lines of one sector.  Expected: 128 B in
 * 33 sets.  Buggy result: none; or, of random victims, 64 B in twice as many
 * sets, since a call that hit and returned late said of lines of 128 B that the
 * other sector, which hit next, was gone as well. */
START_TEST(halves_alone_tell_longer_lines)
{
    static const char *const policy[] = {"lru", "random"};
    json_t *const findings = truth_findings_of(
        gpu_made(
            "sms=1 clock_overhead=12 isa/default/O3=11 caches={} "
            "caches/i0={'line': 64, 'sector': 64, 'sets': 7, 'ways': 9, "
            "           'policy': 'fifo'} "
            "caches/i1={'line': 128, 'sector': 64, 'sets': 33, 'ways': 17, "
            "           'policy': '%s'} "
            "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
            "paths/instruction={'i0': 10, 'i1': 137, 'memory': 405} "
            "paths/instruction/prefetch=2 "
            "noise={'jitter_cycles': 0.52, 'spike_rate': 0.0017, "
            "       'spike_cycles': 477}",
            policy[_i]),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "line", 128, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 33, 0));
    json_decref(findings);
}
END_TEST

static uint64_t draw(struct rng *r, uint64_t least, uint64_t most)
{
    return least + rng_below(r, most - least + 1);
}

/* One to three caches, each at least 1.6 times the one before; the L2 comes
 * last, since chance of a cache depends on its place. */
static void draw_hierarchy(struct rng *r, json_t *gpu)
{
    static const char *const policies[] = {"lru", "lru", "fifo", "nru",
                                           "random"};
    static const char *const scopes[] = {"sm", "sm", "tpc", "gpc"};
    struct buf latency = {0};
    const uint64_t levels = draw(r, 1, 3);
    uint64_t line = 64u << rng_below(r, 2), size = draw(r, 4096, 20480);
    uint64_t cycles = draw(r, 1, 10);
    gpu_wish(gpu, "caches={}");
    for (uint64_t i = 0; i < levels && size <= 112 * 1024; i++) {
        const uint64_t ways = draw(r, 2, 12);
        const uint64_t sets = (size + line * ways - 1) / (line * ways);
        gpu_wish(gpu,
                 "caches/i%" PRIu64 "={'line': %" PRIu64 ", 'sets': %" PRIu64
                 ", 'ways': %" PRIu64 ", 'policy': '%s', 'scope': '%s'}",
                 i, line, sets, ways, policies[rng_below(r, 5)],
                 scopes[rng_below(r, 4)]);
        buf_printf(&latency, "'i%" PRIu64 "': %" PRIu64 ", ", i, cycles);
        cycles += draw(r, 20, 150);
        size = sets * ways * line * draw(r, 16, 60) / 10;
        line *= line < 256 ? draw(r, 1, 2) : 1;
    }
    gpu_wish(gpu,
             "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
             "paths/instruction={%s 'l2': %" PRIu64 ", 'memory': %" PRIu64 "}",
             buf_string(&latency), cycles, cycles + 300);
    buf_free(&latency);
}

static char *random_profile(uint64_t seed)
{
    struct rng r;
    json_t *const gpu = gpu_plain();
    rng_seed(&r, seed);
    draw_hierarchy(&r, gpu);
    gpu_wish(gpu,
             "sms=8 sms_per_tpc=2 tpcs_per_gpc=2 max_warps_per_sm=48 "
             "isa/default/O3=%" PRIu64 " noise={'jitter_cycles': 1.5, "
             "'spike_rate': 0.002, 'spike_cycles': 300}",
             draw(&r, 4, 20));
    return gpu_text(gpu);
}

START_TEST(nothing_measured_of_random_hierarchies_is_wrong)
{
    char *const json = random_profile((uint64_t)_i);
    char *const file = testing_file("gpu.json", json);
    char *const spec = xasprintf("sim:%s", file);
    struct profile *profile;
    struct error err;
    size_t asked;
    ASSERT_DONE(profile_parse(json, file, &profile, &err), err);
    json_t *const findings = truth_findings(
        spec, (uint64_t)_i, (const char *[]){"icache_sharing"}, 1);
    compare(findings, profile, &asked);
    json_decref(findings);
    profile_free(profile);
    free(spec);
    free(file);
    free(json);
}
END_TEST

/* Jitter is half of what a miss costs, so that the clock takes one in six for a
 * hit.  Expected: not measured.  Buggy result: 10240 B of five ways, which
 * foretell those hits as well as what is there does. */
START_TEST(misses_that_look_like_hits_make_no_room)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made(
            "sms=2 caches/icache_l1={'sets': 16, 'ways': 4, 'sector': 128} "
            "caches/const_l15={'line': 256, 'sector': 256, 'sets': 16, 'ways': "
            "8} "
            "paths/constant={'const_l15': 80, 'l2': 230, 'memory': 430} "
            "paths/instruction={'icache_l1': 4, 'const_l15': 44, 'memory': "
            "250} "
            "noise={'jitter_cycles': 20, 'spike_rate': 0.005, "
            "       'spike_cycles': 200}"),
        29, "icache");
    is_true(findings, "icache_l0", "size", 8192, 0);
    is_true(findings, "icache_l0", "ways", 4, 0);
    json_decref(findings);
}
END_TEST

/* Of random victims some lines stay in laps over any that the next cache, which
 * is hardly larger, holds.  Expected: both caches.  Buggy result: nothing, as
 * those hits were taken for misses that the clock told wrongly. */
START_TEST(lines_that_chance_left_are_hits)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 128, 'sector': 128, 'sets': 5, "
                 "           'ways': 15, 'policy': 'random'} "
                 "caches/i1={'line': 128, 'sector': 128, 'sets': 40, "
                 "           'ways': 5, 'policy': 'fifo'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 3, 'i1': 43, 'l2': 252, "
                 "                   'memory': 600} "
                 "noise={'jitter_cycles': 1.3, 'spike_rate': 0.002, "
                 "       'spike_cycles': 210}"),
        "icache");
    ck_assert(is_true(findings, "icache_l0", "miss_penalty", 40, 1));
    ck_assert(is_true(findings, "icache_l0", "sets", 5, 0));
    ck_assert(is_true(findings, "icache_l1", "sets", 40, 0));
    ck_assert(is_true(findings, "icache_l1", "ways", 5, 0));
    json_decref(findings);
}
END_TEST

/* Of functions there are hardly more than a cache holds, and only laps over the
 * last few sizes miss it.  Expected: both caches.  Buggy result: one, as three
 * sizes are a level. */
START_TEST(a_cache_that_is_nearly_as_large_as_all_code_is_seen)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 21, "
                 "           'ways': 4} "
                 "caches/i1={'line': 64, 'sector': 64, 'sets': 101, "
                 "           'ways': 17} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 5, 'i1': 71, 'l2': 378, "
                 "                   'memory': 600}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "miss_penalty", 307, 2));
    ck_assert(is_true(findings, "icache_l1", "line", 64, 0));
    is_true(findings, "icache_l1", "sets", 101, 0);
    is_true(findings, "icache_l1", "ways", 17, 0);
    ck_assert_double_le(bound_of(findings, "icache_l1.size"), 109888);
    json_decref(findings);
}
END_TEST

/* A certain policy that is wrong about one in ten of those that chance decides
 * was surer of what nearly all hit, and so led.  Expected: sets, and that no
 * policy is told wrongly.  Buggy result: neither sets nor ways. */
START_TEST(what_hits_anyway_hides_no_chance)
{
    json_t *const findings = truth_findings_of(
        gpu_made("sms=1 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 80, "
                 "           'ways': 3, 'policy': 'random'} "
                 "caches/i1={'line': 64, 'sector': 64, 'sets': 69, "
                 "           'ways': 15, 'policy': 'random'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 5, 'i1': 71, 'l2': 378, "
                 "                   'memory': 600}"),
        "icache");
    ck_assert(is_true(findings, "icache_l1", "sets", 69, 0));
    ck_assert_double_le(bound_of(findings, "icache_l1.ways"), 15);
    ck_assert_double_gt(bound_of(findings, "icache_l1.ways"), 0);
    json_decref(findings);
}
END_TEST

/* Of random victims, of which the size is but a bound, the nearer cache keeps
 * more of some calls than of others.  Expected: all four SMs share the next
 * one.  Buggy result: two of them, since what the nearer one keeps at most was
 * taken from its bound. */
START_TEST(what_chance_keeps_nearer_hides_no_sharing)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=4 isa/default/O3=16 warp_schedulers=2 clock_overhead=27 "
                 "clock_khz=1400000 memory_bytes=268435456 sms_per_tpc=3 "
                 "tpcs_per_gpc=7 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 41, 'ways': 3, "
                 "           'policy': 'random'} "
                 "caches/i1={'line': 64, 'sector': 64, 'sets': 29, "
                 "           'ways': 11, 'scope': 'gpc'} "
                 "caches/i15={'line': 64, 'sector': 64, 'sets': 100, "
                 "            'ways': 7, 'policy': 'nru'} "
                 "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 10, 'i1': 131, 'i15': 263, "
                 "                   'memory': 655} "
                 "paths/instruction/prefetch=2 "
                 "noise={'jitter_cycles': 1.0, 'spike_rate': 0.00184, "
                 "       'spike_cycles': 155}"),
        1129200062, "icache_sharing");
    ck_assert(is_true(findings, "icache_l1", "sms_sharing", 4, 0));
    json_decref(findings);
}
END_TEST

/* A call brings two lines that come to one set of two random ways, so that one
 * may push out the other.  Expected: no shape.  Buggy result: lines of 256 B,
 * as one way of sets that foretell nine calls in ten. */
START_TEST(one_way_leaves_chance_no_choice)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 caches={} caches/i0={'line': 128, 'sets': 6, "
                 "'ways': 15, 'policy': 'nru'} "
                 "caches/i1={'line': 64, 'sector': 64, 'sets': 256, 'ways': 2, "
                 "'policy': 'random', "
                 "'set_bits': [7, 8, 9, 10, 11, 12, 13, 14]} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 10, 'i1': 55, 'memory': 352} "
                 "noise={'jitter_cycles': 0.39, 'spike_rate': 0.00197, "
                 "       'spike_cycles': 334}"),
        3, "icache");
    truth_unmeasured(findings, "icache_l1.line", "no sets, ways and policy");
    json_decref(findings);
}
END_TEST

/* Constants come in halves of what calls ask for, and a set holds 209 of them.
 * Expected: so many whole calls fit at least.  Buggy result: 26624 B, measured,
 * of 26752. */
START_TEST(a_set_may_hold_half_a_call_more)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 clock_khz=1400000 caches={} "
                 "caches/c1={'line': 128, 'sets': 1, 'ways': 12, "
                 "'policy': 'nru'} "
                 "caches/c15={'line': 64, 'sector': 64, 'sets': 2, "
                 "'ways': 209, 'set_bits': [[7, 8, 9]]} "
                 "caches/i0={'line': 128, 'sets': 4, 'ways': 12} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/constant={'c1': 23, 'c15': 53, 'l2': 235, "
                 "                'memory': 638} "
                 "paths/instruction={'i0': 10, 'c15': 89, 'memory': 258} "
                 "paths/instruction/prefetch=2 "
                 "noise={'jitter_cycles': 0.29, 'spike_rate': 0.00043, "
                 "       'spike_cycles': 362}"),
        1, "icache_sharing");
    ck_assert_str_eq(truth_text(findings, "icache_l1.size", "status"),
                     "at_least");
    ck_assert_double_gt(bound_of(findings, "icache_l1.size"), 25600);
    ck_assert_double_le(bound_of(findings, "icache_l1.size"), 26624);
    json_decref(findings);
}
END_TEST

/* Of random victims half as many sets of twice the ways foretell nearly as
 * well.  Buggy result of a GPU like it, by one seed in ten: 23 sets of 25 ways
 * at least. */
START_TEST(sets_of_chance_are_not_halved)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 caches={} caches/i0={'line': 128, 'sets': 6, "
                 "'ways': 15, 'policy': 'nru', 'copies_per_sm': 3} "
                 "caches/i1={'line': 128, 'sets': 46, 'ways': 14, "
                 "'policy': 'random'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 4, 'i1': 153, 'memory': 448} "
                 "paths/instruction/prefetch=2 "
                 "noise={'jitter_cycles': 1.97, 'spike_rate': 0.00078, "
                 "       'spike_cycles': 544}"),
        3 + (uint64_t)_i, "icache");
    ck_assert(is_true(findings, "icache_l1", "sets", 46, 0));
    json_decref(findings);
}
END_TEST

/* Ways of which some go more often: chances of each line by itself are
 * likeliest for 18 of them, dice for the 16 that there are.  Expected: 64 sets,
 * and not that all go as often.  Buggy result of a GPU like it: of random
 * victims 17 ways were thrown dice for, of such ways none but 18, and `random`
 * was measured by half of the seeds (the random GPU 1241000181), by others no
 * sets. */
START_TEST(dice_choose_the_ways_that_are_compared)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 isa/default/O3=11 clock_overhead=39 caches={} "
                 "caches/c15={'line': 128, 'sector': 128, 'sets': 64, "
                 "'ways': 16, 'policy': {'kind': 'weighted', 'weights': "
                 "[2, 3, 2, 2, 4, 1, 4, 3, 4, 3, 2, 3, 1, 3, 3, 4]}, "
                 "'set_bits': [9, 10, 11, 12, 13, 14]} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 16, "
                 "'ways': 12} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/constant={'c15': 73, 'l2': 369, 'memory': 705} "
                 "paths/instruction={'i0': 1, 'c15': 109, 'memory': 327} "
                 "paths/instruction/prefetch=2 "
                 "noise={'jitter_cycles': 0.14, 'spike_rate': 0.00185, "
                 "       'spike_cycles': 592}"),
        _i == 0 ? 2 : 5, "icache");
    ck_assert(is_true(findings, "icache_l1", "sets", 64, 0));
    ck_assert_double_le(bound_of(findings, "icache_l1.ways"), 16);
    truth_unmeasured(findings, "icache_l1.policy", "");
    json_decref(findings);
}
END_TEST

/* By half of the calls that were looked at first a few sets of 130 to 160 ways
 * each are likelier than the sets there are, by all calls less likely by far.
 * Expected: lines of 64 B in 130 sets, or none said.  Buggy result by one seed
 * in four (the random GPU 1245000044): each of these ways was kept, these sets
 * were not, and 128 B in 65 sets measured. */
START_TEST(many_ways_of_few_sets_leave_room_for_others)
{
    json_t *const findings = truth_findings_seeded(
        gpu_made("sms=1 isa/default/O3=18 caches={} "
                 "caches/i0={'line': 64, 'sector': 64, 'sets': 23, "
                 "'ways': 12, 'policy': 'random', 'copies_per_sm': 4} "
                 "caches/i1={'line': 64, 'sector': 64, 'sets': 48, "
                 "'ways': 15, 'policy': 'fifo'} "
                 "caches/i15={'line': 64, 'sector': 64, 'sets': 130, "
                 "'ways': 12, 'policy': 'random'} "
                 "caches/l2={'sets': 2048, 'ways': 16, 'scope': 'gpu'} "
                 "paths/instruction={'i0': 1, 'i1': 34, 'i15': 66, "
                 "                   'memory': 241} "
                 "paths/instruction/prefetch=4 "
                 "noise={'jitter_cycles': 0.93, 'spike_rate': 0.00196, "
                 "       'spike_cycles': 323}"),
        (uint64_t)_i, "icache");
    ck_assert(is_true(findings, "icache_l15", "line", 64, 0));
    ck_assert(is_true(findings, "icache_l15", "sets", 130, 0));
    json_decref(findings);
}
END_TEST

Suite *suite_truth_icache(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_icache", 240, &t);
    TCase *const slow = suite_slow(suite, 240);
    truth_add_gpus(suite, t, shipped_profiles_are_recovered, 0, 1);
    tcase_add_test(slow, constants_beyond_a_module_are_measured_by_code);
    tcase_add_loop_test(t, what_is_fetched_ahead_is_counted, 3, 5);
    tcase_add_loop_test(t, what_is_fetched_ahead_is_counted, 12, 13);
    tcase_add_loop_test(t, what_does_not_come_each_time_is_counted, 4, 5);
    tcase_add_loop_test(t, what_comes_with_a_longer_line_is_not_ahead, 0, 2);
    tcase_add_test(t, what_is_fetched_ahead_hides_no_sharing);
    tcase_add_test(t, what_is_called_fits_a_turn);
    tcase_add_loop_test(t, lines_get_shorter, 0, 2);
    tcase_add_loop_test(t, lines_get_shorter_near_by, 0, 2);
    tcase_add_loop_test(t, lines_that_nobody_asks_for_may_be_shorter, 0, 2);
    tcase_add_loop_test(t, short_lines_show_no_chance, 0, 2);
    tcase_add_loop_test(slow, short_lines_show_no_ways_of_chance, 0,
                        COUNT_OF(of_chance));
    tcase_add_loop_test(t, lines_in_parts_are_not_whole, 0, COUNT_OF(in_parts));
    tcase_add_loop_test(t, whole_lines_are_not_in_parts, 0, 2);
    tcase_add_test(t, lines_that_chance_pushed_out_are_as_long);
    tcase_add_test(t, a_late_shape_has_all_policies);
    tcase_add_test(t, ages_have_ways_of_their_own);
    tcase_add_test(t, lines_that_mostly_come_whole_are_as_long);
    tcase_add_test(t, lines_that_come_by_halves_are_as_long);
    tcase_add_test(t, bits_that_are_folded_tell_sets);
    tcase_add_test(t, sectors_are_no_shorter_lines);
    tcase_add_loop_test(t, halves_alone_tell_longer_lines, 0, 1);
    tcase_add_test(t, late_hits_that_cost_more_than_misses_are_hits);
    tcase_add_test(t, lines_of_the_loop_are_no_way);
    tcase_add_test(t, lines_that_come_seldom_are_no_way);
    tcase_add_test(t, what_comes_with_the_loop_is_no_way);
    tcase_add_test(t, whole_ways_are_held);
    tcase_add_test(t, misses_that_look_like_hits_make_no_room);
    tcase_add_test(t, lines_that_chance_left_are_hits);
    tcase_add_test(t, copies_may_be_dealt_unevenly);
    tcase_add_test(t, what_a_stop_leaves_was_held_against_noise);
    tcase_add_loop_test(t, late_calls_are_no_misses, 500, 501);
    tcase_add_test(slow, lines_that_fit_come_to_be_there);
    tcase_add_test(slow, what_shorter_lines_nearly_explain_may_be_longer);
    tcase_add_loop_test(slow, halves_alone_tell_longer_lines, 1, 2);
    tcase_add_loop_test(slow, parts_of_lines_hide_no_chance, 1, 2);
    tcase_add_loop_test(slow, sets_that_no_model_has_are_not_others, 1, 2);
    tcase_add_loop_test(slow, what_does_not_come_each_time_is_counted, 3, 4);
    tcase_add_loop_test(slow, what_does_not_come_each_time_is_counted, 5, 6);
    tcase_add_loop_test(slow, more_calls_decide_between_sets, 4, 5);
    tcase_add_loop_test(slow, more_calls_decide_between_sets, 6, 7);
    tcase_add_test(slow, lines_of_the_loop_are_no_misses);
    tcase_add_test(slow, what_no_policy_foretells_bounds_no_ways);
    tcase_add_test(slow, what_hits_anyway_hides_no_chance);
    tcase_add_test(slow, what_chance_keeps_nearer_hides_no_sharing);
    tcase_add_test(slow, half_of_the_sets_leave_room_to_share);
    tcase_add_loop_test(
        slow, functions_that_are_run_through_leave_room_to_share, 0, 2);
    tcase_add_loop_test(slow, chance_of_few_functions_hides_no_warp, 10, 13);
    tcase_add_test(slow, constants_tell_the_sets_of_code);
    tcase_add_loop_test(slow, late_calls_are_no_misses, 20, 21);
    tcase_add_loop_test(t, nothing_measured_of_random_hierarchies_is_wrong, 1,
                        2);
    tcase_add_loop_test(slow, nothing_measured_of_random_hierarchies_is_wrong,
                        2, 10);
    tcase_add_test(slow, chance_of_few_functions_is_no_constants);
    tcase_add_loop_test(slow, sets_that_no_model_has_are_not_others, 0, 1);
    tcase_add_test(slow, two_short_lines_are_no_longer_one);
    tcase_add_test(slow, lines_that_are_alike_fit);
    tcase_add_loop_test(slow, parts_of_lines_hide_no_chance, 0, 1);
    tcase_add_test(slow, what_is_late_by_a_part_of_a_miss_is_none);
    tcase_add_test(slow, late_calls_are_no_overflow);
    tcase_add_test(slow, chance_is_alike_within_a_bound);
    tcase_add_test(slow, a_cache_that_is_nearly_as_large_as_all_code_is_seen);
    tcase_add_test(slow, calls_that_are_in_time_deny_no_chance);
    tcase_add_test(t, one_way_leaves_chance_no_choice);
    tcase_add_loop_test(t, sets_of_chance_are_not_halved, 0, 2);
    tcase_add_test(t, a_set_may_hold_half_a_call_more);
    tcase_add_loop_test(slow, dice_choose_the_ways_that_are_compared, 0, 2);
    tcase_add_loop_test(slow, many_ways_of_few_sets_leave_room_for_others, 3,
                        4);
    return suite;
}
