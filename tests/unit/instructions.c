/* The table of instructions: what every row must be for the study to time it.
 */
#include "ptx/instruction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/run/snippet_kernel.h"
#include "ptx/kernel.h"
#include "testing.h"

#define EACH_ROW(r)                                                            \
    (const struct instruction *r = instruction_table; r->name != NULL; r++)

static struct snippet parsed(const char *text)
{
    struct snippet s;
    struct error err;
    ASSERT_DONE(snippet_parse(text, &s, &err), err);
    return s;
}

static bool chains(const struct instruction *row)
{
    struct snippet s = parsed(row->snippet);
    const bool found = snippet_chain(&s) != NULL;
    snippet_free(&s);
    return found || row->in_order;
}

START_TEST(names_are_unique)
{
    for
        EACH_ROW(r)
    ck_assert_msg(instruction_find(r->name) == r, "%s comes twice", r->name);
}
END_TEST

START_TEST(no_other_name_is_found)
{
    ck_assert_ptr_null(instruction_find("add.u33"));
    ck_assert_ptr_null(instruction_find("add"));
}
END_TEST

START_TEST(categories_come_in_order_and_none_is_empty)
{
    unsigned rows[CATEGORY_COUNT] = {0};
    for
        EACH_ROW(r)
        {
            rows[r->category]++;
            ck_assert_msg(r == instruction_table ||
                              r[-1].category <= r->category,
                          "%s stands behind another category", r->name);
        }
    for (int c = 0; c < CATEGORY_COUNT; c++)
        ck_assert_msg(rows[c] > 0, "%s has no row", category_names[c]);
}
END_TEST

START_TEST(a_row_is_a_snippet_or_loads_or_a_mean)
{
    for
        EACH_ROW(r)
        {
            ck_assert_msg(r->snippet == NULL || r->chase == NULL, "%s is both",
                          r->name);
            ck_assert_msg(
                r->snippet == NULL || r->machine != NULL || r->expands,
                "%s neither names its machine code nor expands", r->name);
        }
}
END_TEST

/* "div.s32" of "div.s32.regular" and "div.s32.irregular". */
START_TEST(means_have_both_of_their_rows)
{
    for
        EACH_ROW(r)
        {
            char name[80];
            if (r->snippet != NULL || r->chase != NULL)
                continue;
            snprintf(name, sizeof name, "%s.regular", r->name);
            ck_assert_msg(instruction_find(name) != NULL, "%s is missing",
                          name);
            snprintf(name, sizeof name, "%s.irregular", r->name);
            ck_assert_msg(instruction_find(name) != NULL, "%s is missing",
                          name);
        }
}
END_TEST

/* All have one but reductions, which return nothing. */
START_TEST(snippets_have_chains)
{
    for
        EACH_ROW(r)
    if (r->snippet != NULL)
        ck_assert_msg(chains(r) != (strncmp(r->name, "red.", 4) == 0), "%s",
                      r->name);
}
END_TEST

START_TEST(helpers_exist_and_have_chains)
{
    for
        EACH_ROW(r)
        {
            if (r->helper == NULL)
                continue;
            const struct instruction *const helper =
                instruction_find(r->helper);
            ck_assert_msg(helper != NULL && helper->snippet != NULL,
                          "%s needs %s, which is no row", r->name, r->helper);
            ck_assert_msg(chains(helper), "%s, %s's helper", r->helper,
                          r->name);
            ck_assert_msg(strstr(r->snippet, ";") + 1 !=
                              r->snippet + strlen(r->snippet),
                          "%s has a helper but one instruction", r->name);
        }
}
END_TEST

/* Not more than one behind the other, or their costs would be guesses. */
START_TEST(helpers_end)
{
    for
        EACH_ROW(r)
        {
            unsigned steps = 0;
            for (const struct instruction *h = r; h->helper != NULL; steps++) {
                h = instruction_find(h->helper);
                ck_assert_msg(steps < 2, "%s's helpers do not end", r->name);
            }
        }
}
END_TEST

START_TEST(helpers_need_no_more_than_the_row)
{
    for
        EACH_ROW(r)
    if (r->helper != NULL)
        ck_assert_msg(instruction_find(r->helper)->cc <= r->cc, "%s", r->name);
}
END_TEST

/* The words of `values` that name no register of the row. */
static void check_values(const struct instruction *row)
{
    struct snippet s = parsed(row->snippet);
    struct snippet setup =
        parsed(row->setup != NULL ? row->setup : row->snippet);
    for (const char *at = row->values; *at != '\0';) {
        char name[REGISTER_NAME] = "";
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "="), at);
        ck_assert_msg(snippet_register(&s, name) != NULL ||
                          snippet_register(&setup, name) != NULL,
                      "%s has no %s", row->name, name);
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    snippet_free(&s);
    snippet_free(&setup);
}

START_TEST(values_are_of_registers_that_exist)
{
    for
        EACH_ROW(r)
    if (r->values != NULL)
        check_values(r);
}
END_TEST

START_TEST(forms_can_be_had)
{
    for
        EACH_ROW(r)
        {
            if (r->snippet == NULL || r->form != FORM_SWAP)
                continue;
            struct snippet s = parsed(r->snippet);
            ck_assert_msg(snippet_kernel_partner(&s) != NULL, "%s cannot be swapped",
                          r->name);
            snippet_free(&s);
        }
}
END_TEST

START_TEST(drivers_take_the_versions_of_their_time)
{
    ck_assert(kernel_driver_takes("13.0", "9.0"));
    ck_assert(kernel_driver_takes("12.9", "8.8"));
    ck_assert(!kernel_driver_takes("12.9", "9.0"));
    ck_assert(kernel_driver_takes("12.6", "8.5"));
    ck_assert(!kernel_driver_takes("12.6", "8.6"));
    ck_assert(kernel_driver_takes("11.8", "7.8"));
    ck_assert(!kernel_driver_takes("11.8", "8.0"));
    ck_assert(kernel_driver_takes("9.0", "6.0"));
    ck_assert(!kernel_driver_takes("9.0", "6.1"));
}
END_TEST

Suite *suite_instructions(void)
{
    TCase *t;
    Suite *const suite = suite_of("instructions", 10, &t);
    tcase_add_test(t, names_are_unique);
    tcase_add_test(t, no_other_name_is_found);
    tcase_add_test(t, categories_come_in_order_and_none_is_empty);
    tcase_add_test(t, a_row_is_a_snippet_or_loads_or_a_mean);
    tcase_add_test(t, means_have_both_of_their_rows);
    tcase_add_test(t, snippets_have_chains);
    tcase_add_test(t, helpers_exist_and_have_chains);
    tcase_add_test(t, helpers_end);
    tcase_add_test(t, helpers_need_no_more_than_the_row);
    tcase_add_test(t, values_are_of_registers_that_exist);
    tcase_add_test(t, forms_can_be_had);
    tcase_add_test(t, drivers_take_the_versions_of_their_time);
    return suite;
}
