/* The report on one screen: a row a storage, marks, and what stays open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "report/report.h"
#include "testing.h"

static struct finding *add(struct results *r, const char *id, double number,
                           const char *unit)
{
    struct finding *const f = results_add(r, id, "latency");
    finding_set(f, STATUS_MEASURED, value_number(number), unit);
    return f;
}

static void share(struct results *r, const char *id, const char *with)
{
    struct value list = value_list();
    value_push(&list, value_text(with));
    finding_set(results_add(r, id, "sharing"), STATUS_MEASURED, list, "");
}

static char *screen_of(const struct results *r, size_t width)
{
    struct buf out = {0};
    struct error err;
    report_text.write(r, &(struct report_style){.tree = true, .width = width},
                      &out, &err);
    return buf_take(&out);
}

/* The lines after what is open. */
static const char *last_lines(const struct results *r, char line[256])
{
    char *const text = screen_of(r, 80);
    snprintf(line, 256, "%s", strstr(text, "-v says why") + 11);
    free(text);
    return line;
}

/* An L1 with a texture path of its own speed, an L2 in doubt, a TLB. */
static struct results example(void)
{
    struct results r = {0};
    results_device(&r, "name", value_text("GPU"));
    add(&r, "clock.measured", 1e9, "Hz");
    add(&r, "sm.count", 4, "");
    add(&r, "l1.size", 16384, "B");
    add(&r, "l1.line", 128, "B");
    add(&r, "l1.sector", 32, "B");
    add(&r, "l1.sets", 32, "");
    add(&r, "l1.ways", 4, "");
    add(&r, "l1.latency", 32.06, "cycles");
    add(&r, "l1.sms_sharing", 1, "");
    add(&r, "texture.latency", 88, "cycles");
    share(&r, "texture.shares_with", "l1");
    struct finding *const size = add(&r, "l2.size", 1 << 20, "B");
    finding_value(size, STATUS_IN_DOUBT, value_number(1 << 20));
    finding_because(size, "two ways differ");
    finding_none(results_add(&r, "l2.sets", "structure"), "no time");
    finding_set(results_add(&r, "l2.ways", "structure"), STATUS_AT_LEAST,
                value_number(16), "");
    add(&r, "tlb_l1.reach", 32 << 20, "B");
    add(&r, "tlb_l1.page", 2 << 20, "B");
    add(&r, "tlb_l1.miss_penalty", 53, "cycles");
    add(&r, "tlb_l1.sms_sharing", 4, "");
    return r;
}

START_TEST(a_storage_is_a_row)
{
    struct results r = example();
    char *const text = screen_of(&r, 0);
    ck_assert_str_eq(
        text,
        "GPU\n"
        "4 SMs\n"
        "\n"
        "storage        size  line/sector  sets × ways  cycles    ns  per\n"

        "L1 cache     16 KiB     128/32 B       32 × 4    32.1  32.1  SM\n"
        "  also serves texture (88 cycles)\n"
        "L2 cache     ?1 MiB                   – × ≥16\n"
        "translation   reach         page\n"
        "TLB L1       32 MiB        2 MiB                  +53   +53  GPU\n"
        "? in doubt; ≥ ≤ bounds; – unknown; + a miss adds\n"
        "Open: 1 not measured (l2.sets), 1 in doubt, 1 bound; -v says "
        "why\n");
    free(text);
    results_free(&r);
}
END_TEST

/* Wide pages have more columns, narrow ones fewer and closer. */
START_TEST(a_screen_takes_the_width_that_there_is)
{
    struct results r = example();
    finding_set(results_add(&r, "l1.policy", "structure"), STATUS_MEASURED,
                value_text("lru"), "");
    char *const wide = screen_of(&r, 100), *const narrow = screen_of(&r, 60);
    ck_assert_ptr_nonnull(strstr(wide, "policy"));
    ck_assert_ptr_null(strstr(narrow, "policy"));
    ck_assert_ptr_nonnull(strstr(narrow, "16 KiB    128/32 B"));
    free(wide);
    free(narrow);
    results_free(&r);
}
END_TEST

START_TEST(what_is_open_is_named_as_far_as_it_fits)
{
    struct results r = {0};
    add(&r, "l1.size", 16384, "B");
    char id[32];
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "l1.attribute_%d", i);
        finding_none(results_add(&r, id, "size"), "no time");
    }
    char *const text = screen_of(&r, 80);
    const char *const line = strstr(text, "Open: ");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_nonnull(
        strstr(line, "20 not measured (l1.attribute_0, l1.attribute_1, …); "
                     "-v says why\n"));
    ck_assert_uint_le(page_columns(line), 81);
    free(text);
    results_free(&r);
}
END_TEST

/* What the driver does not tell, and what the GPU has not, is not missing. */
START_TEST(what_cannot_be_found_is_not_open)
{
    struct results r = {0};
    add(&r, "l1.size", 16384, "B");
    finding_none(results_add(&r, "block.shared", "properties"), "not told");
    finding_skip(results_add(&r, "texture.size", "size"), "there is none");
    char *const text = screen_of(&r, 0);
    ck_assert_ptr_nonnull(strstr(text, "\nAll is measured; -v says more"));
    ck_assert_ptr_null(strstr(text, "–"));
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(a_bandwidth_and_parts_have_their_place)
{
    struct results r = {0};
    add(&r, "l2.read_bandwidth", 9.5e12, "B/s");
    add(&r, "l2.near_size", 30 << 20, "B");
    add(&r, "l2.near_latency", 279.4, "cycles");
    add(&r, "l2.far_latency", 455.6, "cycles");
    char *const text = screen_of(&r, 0);
    ck_assert_ptr_nonnull(strstr(text,
                                 "\nL2 cache  9.5 TB/s\n"
                                 "  2 partitions of 30 MiB: hits 279 near, "
                                 "456 far cycles\n"));
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(what_spreads_has_a_mark)
{
    struct results r = {0};
    finding_interval(add(&r, "l1.latency", 30, "cycles"), 29.5, 30.5, 0.99);
    finding_interval(add(&r, "l2.latency", 300, "cycles"), 290, 307, 0.99);
    char *const text = screen_of(&r, 0);
    ck_assert_ptr_nonnull(strstr(text, "\nL1 cache      30\n"
                                       "L2 cache    ~300\n"
                                       "~ ± over 2 %\n"));
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(sets_of_unequal_size_are_run_together)
{
    struct results r = {0};
    struct value ways = value_list();
    value_push(&ways, value_number(17));
    for (int i = 0; i < 6; i++)
        value_push(&ways, value_number(8));
    finding_set(results_add(&r, "tlb_l2.set_ways", "tlb"), STATUS_MEASURED,
                ways, "");
    char *const text = screen_of(&r, 0);
    ck_assert_ptr_nonnull(strstr(text, "17 + 6 × 8\n"));
    free(text);
    results_free(&r);
}
END_TEST

/* Of a GPU a report says when it was measured; of a replay that it is one. */
START_TEST(a_replay_says_that_it_is_one)
{
    struct results r = {0};
    add(&r, "l1.size", 16384, "B");
    results_run(&r, "start", value_text("2026-11-22T08:00:07Z"));
    results_run(&r, "seconds", value_number(9.84));
    char *const measured = screen_of(&r, 0);
    results_run(&r, "replayed", value_bool(true));
    char *const replayed = screen_of(&r, 0);
    ck_assert_ptr_nonnull(
        strstr(measured, "\nmeasured 2026-11-22 08:00 UTC in 9.8 s\n"));
    ck_assert_ptr_null(strstr(replayed, "2026"));
    ck_assert_ptr_nonnull(strstr(replayed, "\nREPLAYED: "));
    ck_assert_ptr_null(strstr(measured, "REPLAYED"));
    free(measured);
    free(replayed);
    results_free(&r);
}
END_TEST

/* In full numbers, and of a recording that holds none that is said. */
START_TEST(what_was_predicted_comes_last)
{
    struct results r = example();
    char line[256];
    add(&r, "predicted.means", 15, "");
    add(&r, "predicted.means_right", 1, "");
    ck_assert_str_eq(last_lines(&r, line),
                     "\nHeld-out tests: 15 of 15 mean costs as predicted\n");
    add(&r, "predicted.loads", 10000, "");
    add(&r, "predicted.loads_right", 0.9999, "");
    ck_assert_str_eq(
        last_lines(&r, line),
        "\nHeld-out tests: 9999 of 10000 loads, 15 of 15 mean costs "
        "as predicted\n");
    results_edit(&r, "predicted", "means_right")->value.number = 14 / 15.;
    ck_assert_str_eq(
        last_lines(&r, line),
        "\nHeld-out tests: 9999 of 10000 loads, 14 of 15 mean costs "
        "as predicted\n");
    finding_none(results_edit(&r, "predicted", "means"), "not recorded");
    finding_none(results_edit(&r, "predicted", "loads"), "not recorded");
    for (size_t i = 0; i < r.finding_count; i++)
        if (strncmp(r.findings[i]->id, "predicted", 9) == 0)
            r.findings[i]->skipped = true;
    ck_assert_str_eq(last_lines(&r, line),
                     "\nHeld-out tests: none could be asked\n");
    results_free(&r);
}
END_TEST

Suite *suite_screen(void)
{
    TCase *tests;
    Suite *const suite = suite_of("screen", 10, &tests);
    tcase_add_test(tests, a_storage_is_a_row);
    tcase_add_test(tests, a_screen_takes_the_width_that_there_is);
    tcase_add_test(tests, what_is_open_is_named_as_far_as_it_fits);
    tcase_add_test(tests, what_cannot_be_found_is_not_open);
    tcase_add_test(tests, a_bandwidth_and_parts_have_their_place);
    tcase_add_test(tests, what_spreads_has_a_mark);
    tcase_add_test(tests, sets_of_unequal_size_are_run_together);
    tcase_add_test(tests, a_replay_says_that_it_is_one);
    tcase_add_test(tests, what_was_predicted_comes_last);
    return suite;
}
