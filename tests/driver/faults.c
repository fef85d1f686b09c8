/*
 * Some faults of the driver and the management library, of all kinds, on the
 * program as users run it; `make faults` tries all there are.
 */
#include <stdlib.h>
#include <string.h>

#include "fault_points.h"
#include "testing.h"

/* Of each kind; a prime apart, so that they are of many entry points. */
enum { TRIED = 2, APART = 211 };

static struct fault_rig *rig_of(char *folder)
{
    char *const build = testing_fake_driver();
    char *const end = strstr(build, "/tests/fake");
    struct fault_rig *rig = NULL;
    if (end != NULL) {
        *end = '\0';
        rig = fault_rig_new(build, folder);
    }
    free(build);
    return rig;
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

START_TEST(faults_cost_what_they_befall_and_no_more)
{
    char *const folder = testing_folder();
    struct fault_rig *const rig = rig_of(folder);
    if (rig == NULL)
        SKIP("the program or the faulty driver is not built");
    struct fault_points points = fault_points_of(rig);
    ck_assert_uint_gt(points.count, 1000);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        try_kind(rig, &points, kind);
    free(points.at);
    fault_rig_free(rig);
    free(folder);
}
END_TEST

Suite *suite_faults(void)
{
    TCase *tests;
    Suite *const suite = suite_of("faults", 120, &tests);
    tcase_add_test(tests, faults_cost_what_they_befall_and_no_more);
    return suite;
}
