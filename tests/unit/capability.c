/* What a GPU lacks is said in one sentence. */
#include "ptx/capability.h"

#include "testing.h"

static const struct device_info ampere = {
    .driver = "11.4", .cc_major = 8, .cc_minor = 0};

START_TEST(what_came_later_is_refused)
{
    struct error err = {0};
    ck_assert_int_eq(device_requires(&ampere, CAP_L2_POLICY, &err), 0);
    ck_assert(!device_has(&ampere, CAP_BULK));
    ck_assert_int_eq(device_requires(&ampere, CAP_BULK, &err),
                     ERR_UNSUPPORTED);
    ck_assert_str_eq(err.text, "needs compute capability 9.0, this is 8.0");
}
END_TEST

START_TEST(what_one_has_alone_no_later_one_has)
{
    struct error err = {0};
    ck_assert_int_eq(device_requires_only(&ampere, 80, "it", &err), 0);
    ck_assert_int_eq(device_requires_only(&ampere, 75, "it", &err),
                     ERR_UNSUPPORTED);
    ck_assert_str_eq(err.text,
                     "only compute capability 7.5 has it, this is 8.0");
}
END_TEST

START_TEST(a_driver_takes_the_ptx_of_its_time)
{
    struct error err = {0};
    ck_assert_int_eq(device_requires_ptx(&ampere, NULL, &err), 0);
    ck_assert_int_eq(device_requires_ptx(&ampere, "7.4", &err), 0);
    ck_assert_int_eq(device_requires_ptx(&ampere, "8.0", &err),
                     ERR_UNSUPPORTED);
    ck_assert_str_eq(err.text, "needs PTX 8.0, which a driver of CUDA 11.4 "
                               "does not take");
}
END_TEST

Suite *suite_capability(void)
{
    TCase *t;
    Suite *const suite = suite_of("capability", 10, &t);
    tcase_add_test(t, what_came_later_is_refused);
    tcase_add_test(t, what_one_has_alone_no_later_one_has);
    tcase_add_test(t, a_driver_takes_the_ptx_of_its_time);
    return suite;
}
