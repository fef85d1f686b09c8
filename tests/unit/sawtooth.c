/* A sawtooth must give back how many work at once, and say how well it fits. */
#include "analysis/curve/sawtooth.h"

#include "testing.h"

enum { COUNT = 32 };

static struct sawtooth fit_of(unsigned servers, double wrong)
{
    double n[COUNT], rates[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        n[i] = i + 1;
        rates[i] = 128 * sawtooth_share(n[i], servers) *
                   (1 + (i % 2 == 0 ? wrong : -wrong));
    }
    return sawtooth_fit(n, rates, COUNT, COUNT / 2);
}

START_TEST(servers_come_back)
{
    const struct sawtooth fit = fit_of((unsigned)_i, 0);
    ck_assert_uint_eq(fit.servers, (unsigned)_i);
    ck_assert_double_eq_tol(fit.peak, 128, 1e-9);
    ck_assert_double_lt(fit.residual, 1e-9);
}
END_TEST

START_TEST(noise_shows_in_the_residual)
{
    const struct sawtooth fit = fit_of(4, 0.02);
    ck_assert_uint_eq(fit.servers, 4);
    ck_assert_double_gt(fit.residual, 0.01);
    ck_assert_double_lt(fit.residual, 0.03);
}
END_TEST

START_TEST(nothing_has_no_servers)
{
    ck_assert_uint_eq(sawtooth_fit(NULL, NULL, 0, 4).servers, 0);
}
END_TEST

Suite *suite_sawtooth(void)
{
    TCase *t;
    Suite *const suite = suite_of("sawtooth", 10, &t);
    tcase_add_loop_test(t, servers_come_back, 1, COUNT / 2 + 1);
    tcase_add_test(t, noise_shows_in_the_residual);
    tcase_add_test(t, nothing_has_no_servers);
    return suite;
}
