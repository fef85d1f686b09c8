/* Blocks of PTX: words, labels, and the head of a kernel. */
#include "ptx/kernel.h"

#include "testing.h"

/* What a block is written as. */
#define ck_assert_block(wanted, ...)                                           \
    do {                                                                       \
        struct buf out = {0};                                                  \
        struct kernel_text k = {.out = &out};                                  \
        __VA_ARGS__;                                                           \
        ck_assert_str_eq(buf_string(&out), wanted);                            \
        buf_free(&out);                                                        \
    } while (0)

START_TEST(lines_are_indented_and_labels_are_not)
{
    ck_assert_block("    mov.u32 %n, 0;\nAGAIN:\n    bra AGAIN;\n",
                    ptx(&k, "mov.u32 %n, 0;\n"
                            "AGAIN:\n"
                            "bra AGAIN;\n"));
}
END_TEST

START_TEST(the_last_line_needs_no_end)
{
    ck_assert_block("    ret;\n", ptx(&k, "ret;"));
}
END_TEST

START_TEST(words_stand_for_numbers_and_texts)
{
    const uint64_t most = UINT64_MAX;
    ck_assert_block("    add.u64 %sum, -8, 18446744073709551615;\n",
                    ptx_with(&k, "add.u64 $into, $from, $most;",
                             WORD(into, "%sum"), WORD(from, -8),
                             WORD(most, most)));
}
END_TEST

START_TEST(a_word_in_braces_may_be_followed_by_letters)
{
    ck_assert_block("    mma.m16n8k4.f16;\n",
                    ptx_with(&k, "mma.m${m}n${n}k$k.f16;", WORD(m, 16),
                             WORD(n, 8), WORD(k, 4)));
}
END_TEST

START_TEST(a_label_may_have_a_number)
{
    ck_assert_block("LAP3:\n", ptx_with(&k, "LAP$copy:", WORD(copy, 3)));
}
END_TEST

START_TEST(what_a_word_stands_for_is_not_looked_into)
{
    ck_assert_block("    // $5\n", ptx_note(&k, "$5"));
}
END_TEST

START_TEST(a_head_names_target_version_and_parameters)
{
    ck_assert_block(
        ".version 6.3\n.target sm_75\n.address_size 64\n\n"
        ".visible .entry chase(\n    .param .u64 jobs,\n"
        "    .param .u64 slots)\n{\n    ret;\n}\n",
        kernel_begin(&k, &out, 75, .name = "chase", .parameters = "jobs slots");
        kernel_end(&k));
}
END_TEST

START_TEST(a_head_says_what_only_one_architecture_has)
{
    ck_assert_block(".version 8.0\n.target sm_90a\n.address_size 64\n\n"
                    ".shared .b8 pool[4];\n.visible .entry w(\n"
                    "    .param .u64 out)\n.maxntid 64, 1, 1\n"
                    ".minnctapersm 2\n{\n",
                    kernel_begin(&k, &out, 90, .name = "w", .parameters = "out",
                                 .variables = ".shared .b8 pool[4];\n",
                                 .least = "8.0", .only = true,
                                 .resident_blocks = 2, .threads = 64));
}
END_TEST

Suite *suite_kernel(void)
{
    TCase *t;
    Suite *const suite = suite_of("kernel", 10, &t);
    tcase_add_test(t, lines_are_indented_and_labels_are_not);
    tcase_add_test(t, the_last_line_needs_no_end);
    tcase_add_test(t, words_stand_for_numbers_and_texts);
    tcase_add_test(t, a_word_in_braces_may_be_followed_by_letters);
    tcase_add_test(t, a_label_may_have_a_number);
    tcase_add_test(t, what_a_word_stands_for_is_not_looked_into);
    tcase_add_test(t, a_head_names_target_version_and_parameters);
    tcase_add_test(t, a_head_says_what_only_one_architecture_has);
    return suite;
}
