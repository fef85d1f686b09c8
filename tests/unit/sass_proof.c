/*
 * The judge of timed regions: the kernels of tests/data/sass, of which each
 * but "chain" is a trap that ptxas made of an honest question.
 */
#include "analysis/sass_proof.h"

#include <string.h>

#include "testing.h"
#include "unit/cubins.h"

enum { COPIES = 8 };
static const char *const ADD = "IADD3 IMAD.IADD VIADD";

/* What is claimed of a kernel, judged; the listing stays for the claim. */
struct trial {
    struct listing listing;
    struct sass_proof_claim claim;
    struct sass_proof timed;
};

static void judge(struct trial *t, const char *kernel, unsigned chains,
                  const char *expected)
{
    t->listing = cubin_listing(kernel);
    t->claim = (struct sass_proof_claim){
        .shorter = listing_region(&t->listing, 0),
        .longer = listing_region(&t->listing, 2),
        .whole = listing_whole(&t->listing),
        .copies = COPIES,
        .chains = chains,
        .expected = expected,
    };
    t->timed = sass_proof_judge(&t->claim);
}

static void trial_free(struct trial *t)
{
    sass_proof_free(&t->timed);
    listing_free(&t->listing);
}

static void assert_refused(const char *kernel, unsigned chains,
                           const char *expected, enum sass_proof_verdict verdict,
                           const char *why)
{
    struct trial t;
    judge(&t, kernel, chains, expected);
    ck_assert_int_eq(t.timed.verdict, verdict);
    ck_assert_str_eq(t.timed.because, why);
    trial_free(&t);
}

START_TEST(a_true_chain_is_verified)
{
    static const struct {
        const char *kernel, *copy;
    } chains[] = {
        {"chain-sm_75",  "IMAD.IADD/IADD3"},
        {"chain",        "IMAD.IADD/IADD3"},
        {"chain-sm_120", "IADD3"          },
    };
    struct trial t;
    judge(&t, chains[_i].kernel, 1, ADD);
    ck_assert_str_eq(t.timed.because, "");
    ck_assert_int_eq(t.timed.verdict, PROOF_VERIFIED);
    ck_assert(t.timed.chain_read);
    ck_assert_uint_eq(t.timed.expected, 1);
    ck_assert_uint_eq(t.timed.others, 0);
    ck_assert_str_eq(t.timed.expansion, chains[_i].copy);
    trial_free(&t);
}
END_TEST

START_TEST(what_is_around_the_copies_is_the_frame)
{
    struct trial t;
    judge(&t, "chain", 1, ADD);
    ck_assert_str_eq(t.timed.frame, "NOP ISETP×3");
    trial_free(&t);
}
END_TEST

START_TEST(a_chain_that_folds_is_refused)
{
    assert_refused("folded", 1, "LOP3.LUT", PROOF_FOLDED,
                   "folded: 1 LOP3.LUT for 24 copies");
}
END_TEST

START_TEST(copies_merged_in_pairs_are_refused)
{
    assert_refused("merged", 1, ADD, PROOF_MERGED,
                   "merged: 12 IADD3 for 24 copies");
}
END_TEST

START_TEST(copies_moved_out_of_the_region_are_refused)
{
    assert_refused("moved", 1, "POPC", PROOF_MOVED,
                   "moved: 32 POPC are outside of the timed regions, 0 inside "
                   "for 32 copies");
}
END_TEST

START_TEST(an_instruction_that_was_replaced_is_refused)
{
    assert_refused("replaced", 1, "IMAD", PROOF_REPLACED,
                   "replaced: a copy is IMAD.SHL/SHF.L, with 0 IMAD for 24");
}
END_TEST

START_TEST(work_that_was_done_once_is_refused)
{
    struct trial t;
    judge(&t, "uneven", 1, "MUFU.RCP");
    ck_assert_int_eq(t.timed.verdict, PROOF_UNEVEN);
    ck_assert_ptr_nonnull(
        strstr(t.timed.because, "what does not change was done once"));
    trial_free(&t);
}
END_TEST

START_TEST(two_chains_are_not_one)
{
    assert_refused("loose", 1, "IMAD.HI", PROOF_UNCHAINED,
                   "the copies do not depend on each other: 12 of 24 machine "
                   "instructions wait for each other");
    struct trial t;
    judge(&t, "loose", 2, "IMAD.HI");
    ck_assert_int_eq(t.timed.verdict, PROOF_VERIFIED);
    trial_free(&t);
}
END_TEST

START_TEST(one_chain_is_not_two)
{
    assert_refused("chain", 2, ADD, PROOF_UNCHAINED,
                   "the copies do not make 2 chains: 24 machine instructions "
                   "wait for each other, not 12");
}
END_TEST

START_TEST(a_chain_may_be_left_unasked)
{
    struct trial t;
    judge(&t, "loose", 0, "IMAD.*");
    ck_assert_int_eq(t.timed.verdict, PROOF_VERIFIED);
    trial_free(&t);
}
END_TEST

/* ---- code that no assembler made -------------------------------------- */

enum { LONGEST = 3 * COPIES };

static struct sass machine(const char *name)
{
    struct sass s = {.guard = SASS_ALWAYS, .registers_known = true};
    strcpy(s.name, name);
    strcpy(s.form, name);
    return s;
}

/* r = f(a), of registers with these numbers. */
static struct sass unary(const char *name, unsigned r, unsigned a)
{
    struct sass s = machine(name);
    s.writes = (struct sass_operands){{{SASS_R, r, 1}}, 1};
    s.reads = (struct sass_operands){{{SASS_R, a, 1}}, 1};
    return s;
}

static struct sass_proof judge_code(const struct sass *code, size_t each)
{
    const struct sass_proof_claim claim = {
        .shorter = {code, each * COPIES },
        .longer = {code, each * LONGEST},
        .whole = {code, each * LONGEST},
        .copies = COPIES,
        .chains = 1,
        .expected = "MUFU.RCP",
    };
    return sass_proof_judge(&claim);
}

START_TEST(an_expansion_is_listed)
{
    struct sass code[2 * LONGEST];
    for (size_t i = 0; i < LONGEST; i++) {
        code[2 * i] = unary("MUFU.RCP", 1, 0);
        code[2 * i + 1] = unary("FMUL", 0, 1);
    }
    struct sass_proof timed = judge_code(code, 2);
    ck_assert_int_eq(timed.verdict, PROOF_VERIFIED);
    ck_assert_str_eq(timed.expansion, "MUFU.RCP FMUL");
    ck_assert_str_eq(timed.frame, "");
    ck_assert_uint_eq(timed.others, 1);
    sass_proof_free(&timed);
}
END_TEST

START_TEST(what_of_an_expansion_does_not_wait_is_told)
{
    struct sass code[2 * LONGEST];
    for (size_t i = 0; i < LONGEST; i++) {
        code[2 * i] = unary("MUFU.RCP", 1, 2);
        code[2 * i + 1] = unary("FMUL", 0, 0);
    }
    struct sass_proof timed = judge_code(code, 2);
    ck_assert_int_eq(timed.verdict, PROOF_VERIFIED);
    ck_assert_str_eq(timed.because, "MUFU.RCP does not wait for the copy "
                                    "before, as the rest does");
    sass_proof_free(&timed);
}
END_TEST

START_TEST(a_pair_of_registers_is_read_by_either)
{
    struct sass code[LONGEST];
    for (size_t i = 0; i < LONGEST; i++) {
        code[i] = unary("MUFU.RCP", 4, 5);
        code[i].writes.at[0].count = 2;
    }
    struct sass_proof timed = judge_code(code, 1);
    ck_assert_int_eq(timed.verdict, PROOF_VERIFIED);
    sass_proof_free(&timed);
}
END_TEST

START_TEST(a_chain_that_is_cut_once_is_refused)
{
    struct sass code[LONGEST];
    for (size_t i = 0; i < LONGEST; i++)
        code[i] = unary("MUFU.RCP", 0, 0);
    code[LONGEST / 2] = unary("MUFU.RCP", 0, 1);
    struct sass_proof timed = judge_code(code, 1);
    ck_assert_int_eq(timed.verdict, PROOF_UNCHAINED);
    sass_proof_free(&timed);
}
END_TEST

START_TEST(a_jump_hides_the_chain)
{
    struct sass code[2 * LONGEST];
    for (size_t i = 0; i < LONGEST; i++) {
        code[2 * i] = unary("MUFU.RCP", 0, 0);
        code[2 * i + 1] = machine("BRA");
        code[2 * i + 1].jumps = true;
    }
    struct sass_proof timed = judge_code(code, 2);
    ck_assert_int_eq(timed.verdict, PROOF_VERIFIED);
    ck_assert(!timed.chain_read);
    ck_assert_ptr_nonnull(strstr(timed.because, "chain not read: the timed "
                                                "region has BRA"));
    sass_proof_free(&timed);
}
END_TEST

START_TEST(unknown_registers_hide_the_chain)
{
    struct sass code[LONGEST];
    for (size_t i = 0; i < LONGEST; i++) {
        code[i] = machine("MUFU.RCP");
        code[i].registers_known = false;
    }
    struct sass_proof timed = judge_code(code, 1);
    ck_assert(!timed.chain_read);
    ck_assert_ptr_nonnull(strstr(timed.because, "is not known"));
    sass_proof_free(&timed);
}
END_TEST

/* Of copies from `shorter` on, and of LONGEST and an instruction from `code`. */
static struct sass_proof_claim claim_of_one_more(const struct sass *shorter,
                                                 const struct sass *code)
{
    return (struct sass_proof_claim){.shorter = {shorter, COPIES},
                                     .longer = {code, LONGEST + 1},
                                     .whole = {code, LONGEST + 1},
                                     .copies = COPIES,
                                     .chains = 1,
                                     .expected = "MUFU.RCP"};
}

/* An instruction now and then to hold a value is no matter, one for every
 * other copy is. */
START_TEST(few_more_instructions_are_told_and_many_refused)
{
    struct sass code[LONGEST + COPIES];
    for (size_t i = 0; i < LONGEST; i++)
        code[i] = unary("MUFU.RCP", 0, 0);
    for (size_t i = LONGEST; i < LONGEST + COPIES; i++)
        code[i] = unary("SEL", 9, 9);
    struct sass_proof_claim claim = claim_of_one_more(code, code);
    struct sass_proof timed = sass_proof_judge(&claim);
    ck_assert_int_eq(timed.verdict, PROOF_VERIFIED);
    ck_assert_uint_eq(timed.missed, 1);
    sass_proof_free(&timed);
    claim.longer.count = LONGEST + COPIES - 1;
    timed = sass_proof_judge(&claim);
    ck_assert_int_eq(timed.verdict, PROOF_UNEVEN);
    ck_assert_str_eq(timed.because,
                     "uneven: beside MUFU.RCP come 7 SEL for 24 copies and 0 "
                     "for 8, no whole number for each");
    sass_proof_free(&timed);
}
END_TEST

/* Wherever it stands. */
START_TEST(one_more_in_front_is_told)
{
    struct sass code[1 + LONGEST];
    code[0] = unary("SEL", 9, 9);
    for (size_t i = 1; i <= LONGEST; i++)
        code[i] = unary("MUFU.RCP", 0, 0);
    const struct sass_proof_claim claim = claim_of_one_more(code + 1, code);
    struct sass_proof timed = sass_proof_judge(&claim);
    ck_assert_int_eq(timed.verdict, PROOF_VERIFIED);
    ck_assert_uint_eq(timed.missed, 1);
    sass_proof_free(&timed);
}
END_TEST

START_TEST(empty_regions_are_folded)
{
    struct sass_proof timed = judge_code(NULL, 0);
    ck_assert_int_eq(timed.verdict, PROOF_FOLDED);
    ck_assert_str_eq(timed.because, "folded: 0 MUFU.RCP for 24 copies");
    sass_proof_free(&timed);
}
END_TEST

Suite *suite_sass_proof(void)
{
    TCase *t;
    Suite *const suite = suite_of("sass_proof", 10, &t);
    tcase_add_loop_test(t, a_true_chain_is_verified, 0, 3);
    tcase_add_test(t, what_is_around_the_copies_is_the_frame);
    tcase_add_test(t, a_chain_that_folds_is_refused);
    tcase_add_test(t, copies_merged_in_pairs_are_refused);
    tcase_add_test(t, copies_moved_out_of_the_region_are_refused);
    tcase_add_test(t, an_instruction_that_was_replaced_is_refused);
    tcase_add_test(t, work_that_was_done_once_is_refused);
    tcase_add_test(t, two_chains_are_not_one);
    tcase_add_test(t, one_chain_is_not_two);
    tcase_add_test(t, a_chain_may_be_left_unasked);
    tcase_add_test(t, an_expansion_is_listed);
    tcase_add_test(t, what_of_an_expansion_does_not_wait_is_told);
    tcase_add_test(t, a_pair_of_registers_is_read_by_either);
    tcase_add_test(t, a_chain_that_is_cut_once_is_refused);
    tcase_add_test(t, a_jump_hides_the_chain);
    tcase_add_test(t, unknown_registers_hide_the_chain);
    tcase_add_test(t, few_more_instructions_are_told_and_many_refused);
    tcase_add_test(t, one_more_in_front_is_told);
    tcase_add_test(t, empty_regions_are_folded);
    return suite;
}
