/*
 * Some faults of the driver and the management library, of all kinds, on the
 * program as users run it; `make faults` tries all there are.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fault_points.h"
#include "testing.h"

/* Of each kind; a prime apart, so that they are of many entry points. */
enum { TRIED = 2, APART = 211 };

/* The folder of the build; NULL where program or driver are not built. */
static char *build_folder(void)
{
    char *const build = testing_fake_driver();
    char *const end = strstr(build, "/tests/fake");
    if (end != NULL)
        *end = '\0';
    char *const driver = xasprintf("%s/tests/faulty/libcuda.so.1", build);
    char *const sonde = xasprintf("%s/sonde", build);
    const bool built =
        end != NULL && access(driver, R_OK) == 0 && access(sonde, X_OK) == 0;
    free(sonde);
    free(driver);
    if (built)
        return build;
    free(build);
    return NULL;
}

static void try_kind(const struct fault_rig *rig,
                     const struct fault_points *points, int kind)
{
    int tried = 0;
    for (size_t i = 0; tried < TRIED && i < APART * points->count; i += APART) {
        const struct fault_point *const p = &points->at[i % points->count];
        if ((int)p->kind != kind)
            continue;
        char *const wrong = fault_try(rig, p);
        ck_assert_msg(wrong == NULL, "%s: %s\n%s", fault_kind_names[kind],
                      wrong, fault_command(rig, p));
        tried++;
    }
    ck_assert_int_eq(tried, TRIED);
}

/* What a study has not come to is not known: no other study may take it for
 * what it was before.  Textures fail from the middle of `capacity` on, too. */
static void try_textures(const struct fault_rig *rig,
                         const struct fault_points *points)
{
    int tried = 0;
    for (size_t i = 0; i < points->count; i++) {
        const struct fault_point *const p = &points->at[i];
        if (p->kind != FAULT_STAYS ||
            strncmp(p->what, "cuTexObjectCreate:1@", 20) != 0)
            continue;
        char *const wrong = fault_try(rig, p);
        ck_assert_msg(wrong == NULL, "%s\n%s", wrong, fault_command(rig, p));
        tried++;
    }
    ck_assert_int_gt(tried, 0);
}

START_TEST(faults_cost_what_they_befall_and_no_more)
{
    char *const build = build_folder();
    if (build == NULL)
        SKIP("the program or the faulty driver is not built");
    char *const folder = testing_folder();
    struct fault_rig *const rig = fault_rig_new(build, folder);
    ck_assert_msg(rig != NULL, "it fails without a fault");
    struct fault_points points = fault_points_of(rig);
    ck_assert_uint_gt(points.count, 1000);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        try_kind(rig, &points, kind);
    try_textures(rig, &points);
    free(points.at);
    fault_rig_free(rig);
    free(folder);
    free(build);
}
END_TEST

Suite *suite_faults(void)
{
    TCase *tests;
    Suite *const suite = suite_of("faults", 120, &tests);
    tcase_add_test(tests, faults_cost_what_they_befall_and_no_more);
    return suite;
}
