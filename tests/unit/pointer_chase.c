/*
 * Rings in each memory space: chased where they are cached nearest, loads cost
 * what the profile says of the space's path; and what a space cannot do is
 * refused with a word.
 */
#include "probe/walk/pointer_chase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "device/sim/profile/profile.h"
#include "device/sim/profile/shipped.h"
#include "probe/run.h"
#include "testing.h"

static const struct {
    const char *space; /* and operator */
    enum profile_path_id path;
} spaces[] = {
    {"global op=ca", PATH_GLOBAL_CA},
    {"readonly",     PATH_READONLY },
    {"texture",      PATH_TEXTURE  },
    {"constant",     PATH_CONSTANT },
    {"local",        PATH_LOCAL    },
};

struct bench {
    struct device *device;
    struct prober *prober;
    struct error err;
};

static struct bench bench_open(const char *profile)
{
    struct bench b = {.device = testing_sim(profile, 1)};
    const struct prober_options options = {.seed = 1};
    b.prober = prober_new(b.device, NULL, &options);
    return b;
}

static void bench_close(struct bench *b)
{
    prober_free(b->prober);
    device_close(b->device);
}

/* Median cycles of a load of a small ring. */
static double chased(struct bench *b, const char *space)
{
    struct samples s;
    char *const text = xasprintf(
        "chase space=%s bytes=1024 stride=128 warm=4 visits=64", space);
    ASSERT_DONE(prober_run(b->prober, text, &s, NULL, &b->err), b->err);
    double *const cycles = xreallocarray(NULL, s.rows, sizeof *cycles);
    for (size_t row = 0; row < s.rows; row++)
        cycles[row] =
            (double)(samples_at(&s, row, 4) - samples_at(&s, row, 3)) /
            (double)samples_at(&s, row, 2);
    const double median = stats_median(cycles, s.rows);
    free(cycles);
    free(text);
    samples_free(&s);
    return median;
}

START_TEST(a_load_costs_what_the_nearest_cache_does)
{
    const char *const name = shipped_profiles[_i].name;
    struct bench b = bench_open(name);
    struct profile *profile;
    ASSERT_DONE(profile_open(name, NULL, &profile, &b.err), b.err);
    for (size_t i = 0; i < COUNT_OF(spaces); i++) {
        const struct profile_path *const path = &profile->paths[spaces[i].path];
        if (!path->present)
            continue;
        const double expected = path->latency[0].cycles[0];
        const double found = chased(&b, spaces[i].space);
        ck_assert_msg(fabs(found - expected) <= 1, "%s: %s costs %g, not %g",
                      name, spaces[i].space, found, expected);
    }
    profile_free(profile);
    bench_close(&b);
}
END_TEST

/* Local elements are 128 B apart where caches see them, texels 4 B. */
START_TEST(a_trace_tells_where_each_load_was)
{
    struct bench b = bench_open("k20c");
    struct samples s;
    char *const text = xasprintf(
        "trace space=%s bytes=1024 stride=128 sms=2 step=1024 visits=16",
        space_names[_i]);
    ASSERT_DONE(prober_run(b.prober, text, &s, NULL, &b.err), b.err);
    ck_assert_uint_eq(s.rows, 32);
    for (size_t row = 0; row < s.rows; row++) {
        const size_t elements = row < 16 ? 8 : 16;
        ck_assert_int_eq(samples_at(&s, row, samples_column(&s, "offset")),
                         (int64_t)(row % elements * 128));
    }
    samples_free(&s);
    free(text);
    bench_close(&b);
}
END_TEST

static const struct {
    const char *text;
    enum error_code code;
    const char *word;
} refused[] = {
    {"chase space=texture sweep=1",            ERR_USAGE,       "warm=1"      },
    {"chase space=constant flush=4096",        ERR_USAGE,       "warm=1"      },
    {"chase space=local stride=64",            ERR_USAGE,       "128 bytes"   },
    {"chase space=local lead=4096",            ERR_USAGE,       "lead"        },
    {"chase space=local shift=128",            ERR_USAGE,       "shift"       },
    {"chase space=constant bytes=64K shift=4", ERR_UNSUPPORTED, "constants"   },
    {"chase space=local bytes=32M",            ERR_UNSUPPORTED, "local memory"},
    {"chase space=constant op=ca",             ERR_USAGE,       "no operator" },
};

START_TEST(what_a_space_cannot_do_is_refused)
{
    struct bench b = bench_open("k20c");
    struct samples s;
    ASSERT_FAILS(prober_run(b.prober, refused[_i].text, &s, NULL, &b.err),
                 refused[_i].code, b.err, refused[_i].word);
    bench_close(&b);
}
END_TEST

START_TEST(all_constants_of_a_module_make_a_ring)
{
    struct bench b = bench_open("v100");
    struct samples s;
    ASSERT_DONE(prober_run(b.prober,
                           "trace space=constant bytes=64K stride=64 visits=0",
                           &s, NULL, &b.err),
                b.err);
    ck_assert_uint_eq(s.rows, 1024);
    ck_assert_int_eq(samples_at(&s, 1023, samples_column(&s, "offset")),
                     64 * 1023);
    samples_free(&s);
    bench_close(&b);
}
END_TEST

static int profile_count(void)
{
    int count = 0;
    while (shipped_profiles[count].name != NULL)
        count++;
    return count;
}

static int count_spaces(void)
{
    int count = 0;
    while (space_names[count] != NULL)
        count++;
    return count;
}

Suite *suite_pointer_chase(void)
{
    TCase *t;
    Suite *const suite = suite_of("pointer_chase", 20, &t);
    tcase_add_loop_test(t, a_load_costs_what_the_nearest_cache_does, 0,
                        profile_count());
    tcase_add_loop_test(t, a_trace_tells_where_each_load_was, 0,
                        count_spaces());
    tcase_add_loop_test(t, what_a_space_cannot_do_is_refused, 0,
                        COUNT_OF(refused));
    tcase_add_test(t, all_constants_of_a_module_make_a_ring);
    return suite;
}
