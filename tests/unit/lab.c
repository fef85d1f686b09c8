/* What studies do with errors, costs, reasons and what they know of levels; no
 * GPU is asked. */
#include "study/lab.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "testing.h"

static const char *const caches[] = {"near", "far", NULL};
static const struct answer answers[] = {
    {caches, "size", "B"},
    {caches, "cost", "cycles"},
    {caches, "rest", ""},
    {0},
};
static const struct answer proposed[] = {{caches, "guess", "B"}, {0}};
static const char *const dependent[] = {"rest", NULL};
static const enum fact_id read_facts[] = {FACT_LINE, FACT_SECTOR, FACT_RINGS,
                                          FACT_BRACKET, FACT_NONE};
static const struct study asking = {.name = "asking",
                                    .method = "by asking",
                                    .answers = answers,
                                    .proposes = proposed,
                                    .dependent = dependent,
                                    .reads = read_facts};

/* A lab in which that study runs. */
struct desk {
    struct results results;
    struct lab lab;
};

static void open_desk(struct desk *desk)
{
    *desk = (struct desk){.lab.study = &asking};
    desk->lab.results = &desk->results;
}

static void close_desk(struct desk *desk)
{
    struct error err;
    lab_end(&desk->lab, &err);
    results_free(&desk->results);
    results_free(&desk->lab.proposals);
}

static const struct finding *found(const struct desk *desk, const char *id)
{
    return results_find(&desk->results, id);
}

/* ---- errors ------------------------------------------------------------ */

static const struct {
    enum error_code code;
    bool excused, fault, keeps;
} errors[] = {
    {ERR_UNSUPPORTED, true, false, false},
    {ERR_DEVICE_MEMORY, true, false, false},
    {ERR_INTERRUPTED, true, false, false},
    {ERR_NOT_RECORDED, true, false, true},
    {ERR_PTX, true, false, true},
    {ERR_DEVICE, false, true, true},
    {ERR_DEADLINE, false, true, true},
    {ERR_NO_DEVICE, false, true, true},
    {ERR_USAGE, false, false, false},
};

START_TEST(what_a_device_cannot_do_is_excused_and_its_faults_are_not)
{
    struct desk desk;
    open_desk(&desk);
    lab_fail(&desk.lab, errors[_i].code, "as it is");
    ck_assert_int_eq(lab_excuses(&desk.lab), errors[_i].excused);
    ck_assert_int_eq(lab_has_lost(&desk.lab),
                     errors[_i].code != ERR_UNSUPPORTED);
    const char *const why = lab_excuse(&desk.lab);
    if (errors[_i].excused)
        ck_assert_str_eq(why, "as it is");
    else
        ck_assert_ptr_null(why);
    ck_assert_int_eq(desk.lab.err.code,
                     errors[_i].excused ? 0 : (int)errors[_i].code);
    ck_assert_int_eq(desk.lab.lost.code, errors[_i].excused && errors[_i].keeps
                                             ? (int)errors[_i].code
                                             : 0);
    close_desk(&desk);
}
END_TEST

START_TEST(a_fault_costs_what_was_asked_and_is_remembered)
{
    struct desk desk;
    open_desk(&desk);
    lab_fail(&desk.lab, errors[_i].code, "as it is");
    const char *const why = lab_excuse_fault(&desk.lab);
    const bool forgiven = errors[_i].excused || errors[_i].fault;
    ck_assert_int_eq(why != NULL, forgiven);
    ck_assert_int_eq(lab_ok(&desk.lab), forgiven);
    ck_assert_int_eq(desk.lab.lost.code,
                     errors[_i].keeps ? (int)errors[_i].code : 0);
    close_desk(&desk);
}
END_TEST

START_TEST(the_first_error_stays_and_so_does_the_first_that_is_lost)
{
    struct desk desk;
    open_desk(&desk);
    ck_assert_ptr_null(lab_excuse(&desk.lab));
    ck_assert_ptr_null(lab_excuse_fault(&desk.lab));
    ck_assert(!lab_has_lost(&desk.lab));
    lab_fail(&desk.lab, ERR_NOT_RECORDED, "first");
    lab_fail(&desk.lab, ERR_USAGE, "second");
    ck_assert_str_eq(lab_excuse(&desk.lab), "first");
    lab_fail(&desk.lab, ERR_PTX, "third");
    ck_assert_str_eq(lab_excuse(&desk.lab), "third");
    lab_fail(&desk.lab, ERR_DEVICE, "fourth");
    ck_assert_str_eq(lab_excuse_fault(&desk.lab), "fourth");
    ck_assert_str_eq(desk.lab.lost.text, "first");
    close_desk(&desk);
}
END_TEST

/* The text is the user's own there. */
START_TEST(what_a_user_wrote_and_no_assembler_takes_is_an_error)
{
    struct desk desk;
    open_desk(&desk);
    desk.lab.bench = (const void *)&desk;
    lab_fail(&desk.lab, ERR_PTX, "no such instruction");
    ck_assert_ptr_null(lab_excuse(&desk.lab));
    ck_assert_int_eq(desk.lab.err.code, ERR_PTX);
    close_desk(&desk);
}
END_TEST

START_TEST(only_what_is_not_recorded_may_be_unrecorded)
{
    struct desk desk;
    open_desk(&desk);
    ck_assert(!lab_unrecorded(&desk.lab));
    lab_fail(&desk.lab, ERR_NOT_RECORDED, "older");
    ck_assert(lab_unrecorded(&desk.lab));
    ck_assert(lab_ok(&desk.lab));
    lab_fail(&desk.lab, ERR_DEVICE, "gone");
    ck_assert(!lab_unrecorded(&desk.lab));
    ck_assert(!lab_ok(&desk.lab));
    close_desk(&desk);
}
END_TEST

/* ---- costs ------------------------------------------------------------- */

static void assert_cost(const struct cost *c, double low, double cycles,
                        double high)
{
    ck_assert_double_eq_tol(c->low, low, 1e-9);
    ck_assert_double_eq_tol(c->cycles, cycles, 1e-9);
    ck_assert_double_eq_tol(c->high, high, 1e-9);
}

START_TEST(a_difference_is_as_uncertain_as_both)
{
    const struct cost a = {.low = 97, .cycles = 100, .high = 112, .excess = 7},
                      b = {.low = 35,
                           .cycles = 40,
                           .high = 44,
                           .excess = 2,
                           .disturbed = 0.2};
    const struct cost c = lab_cost_less(&a, &b);
    assert_cost(&c, 60 - 5, 60, 60 + 13);
    ck_assert_double_eq(c.excess, 5);
    ck_assert_double_eq(c.disturbed, 0.2);
    ck_assert_ptr_null(c.doubt);
}
END_TEST

START_TEST(a_difference_of_what_is_in_doubt_may_be_all_or_nothing)
{
    const struct cost sure = {.low = 99, .cycles = 100, .high = 101},
                      late = {
                          .low = 0, .cycles = 90, .high = 95, .doubt = "late"};
    const struct cost c = lab_cost_less(&sure, &late),
                      d = lab_cost_less(&late, &sure);
    assert_cost(&c, 0, 10, 101);
    ck_assert_str_eq(c.doubt, "late");
    assert_cost(&d, 0, -10, 95);
    ck_assert_str_eq(d.doubt, "late");
}
END_TEST

/* Samples of 100 cycles, of which such a share is late and that spread. */
static struct cost cost_where(struct desk *desk, double late, double spread,
                              double excess)
{
    const struct undisturbed u = {.cycles = 100,
                                  .low = 99,
                                  .high = 101,
                                  .disturbed = late,
                                  .spread = spread,
                                  .excess = excess};
    return lab_cost_of(&desk->lab, &u, "it");
}

START_TEST(a_cost_is_in_doubt_where_many_are_late_or_all_vary)
{
    struct desk desk;
    open_desk(&desk);
    struct cost c = cost_where(&desk, 0.25, 33, 400);
    ck_assert_ptr_null(c.doubt);
    assert_cost(&c, 99, 100, 101);
    c = cost_where(&desk, 0.26, 3, 40);
    ck_assert_ptr_nonnull(strstr(c.doubt, "26"));
    assert_cost(&c, 0, 100, 140);
    c = cost_where(&desk, 0, 34, 2);
    ck_assert_ptr_nonnull(strstr(c.doubt, "34"));
    assert_cost(&c, 0, 100, 134);
    c = cost_where(&desk, 0.5, 0, 0.5);
    assert_cost(&c, 0, 100, 101);
    close_desk(&desk);
}
END_TEST

START_TEST(after_an_error_nothing_costs_anything)
{
    struct desk desk;
    open_desk(&desk);
    lab_fail(&desk.lab, ERR_DEVICE, "gone");
    const struct cost c = cost_where(&desk, 0, 0, 0);
    assert_cost(&c, 0, 0, 0);
    ck_assert_ptr_null(c.experiment);
    close_desk(&desk);
}
END_TEST

START_TEST(a_cost_that_is_found_says_its_doubt)
{
    struct desk desk;
    open_desk(&desk);
    const struct cost sure = {.low = 9, .cycles = 10, .high = 12},
                      late = {.cycles = 10, .high = 30, .doubt = "many late"};
    struct finding *const near = lab_finding(&desk.lab, "near", "cost");
    finding_cost(near, &sure);
    ck_assert_int_eq(near->status, STATUS_MEASURED);
    ck_assert_double_eq(near->interval[0], 9);
    ck_assert_double_eq(near->interval[1], 12);
    struct finding *const far = lab_finding(&desk.lab, "far", "cost");
    finding_cost(far, &late);
    ck_assert_int_eq(far->status, STATUS_IN_DOUBT);
    ck_assert_str_eq(far->because, "many late");
    close_desk(&desk);
}
END_TEST

/* ---- columns ----------------------------------------------------------- */

START_TEST(rows_that_are_alike_count_each)
{
    struct desk desk;
    open_desk(&desk);
    int64_t data[] = {7, 2, 5, 0, 9, 3};
    const struct samples s = {
        .columns = 2, .names = {"cycles", "count"}, .rows = 3, .data = data};
    const struct column c = lab_column_counted(&desk.lab, &s, "cycles");
    static const double expected[] = {7, 7, 9, 9, 9};
    ck_assert_uint_eq(c.count, COUNT_OF(expected));
    for (size_t i = 0; i < c.count; i++)
        ck_assert_double_eq(c.at[i], expected[i]);
    ck_assert_double_eq(lab_column_median(&desk.lab, &s, "cycles"), 7);
    ck_assert_double_eq(lab_column_most(&desk.lab, &s, "cycles"), 9);
    close_desk(&desk);
}
END_TEST

/* ---- reasons ----------------------------------------------------------- */

START_TEST(what_is_unknown_has_the_first_reason_of_the_chain)
{
    struct desk desk;
    open_desk(&desk);
    struct lab *const lab = &desk.lab;
    ck_assert_ptr_nonnull(
        strstr(lab_why_unknown(lab, "near", "size"), "near.size"));
    finding_none(lab_finding(lab, "near", "size"), "it is dark");
    const char *const first = lab_why_unknown(lab, "near", "size");
    ck_assert_str_eq(first, "near.size is not measured: it is dark");
    finding_none(lab_finding(lab, "near", "cost"), "%s", first);
    ck_assert_str_eq(lab_why_unknown(lab, "near", "cost"), first);
    struct finding *const bound = lab_finding(lab, "far", "size");
    finding_value(bound, STATUS_AT_LEAST, value_number(8));
    finding_because(bound, "it is far");
    ck_assert_str_eq(
        lab_why_unknown(lab, "far", "size"),
        "far.size was only a bound when this was measured: it is far");
    finding_none(lab_finding(lab, "far", "guess"), "nobody guessed");
    ck_assert_str_eq(lab_why_unknown(lab, "far", "guess"),
                     "far.guess is not measured: nobody guessed");
    close_desk(&desk);
}
END_TEST

START_TEST(only_what_was_not_told_is_left_out)
{
    struct desk desk;
    open_desk(&desk);
    struct lab *const lab = &desk.lab;
    finding_measured(lab_finding(lab, "near", "size"), 64);
    finding_none(lab_finding(lab, "near", "cost"), "it is free");
    lab_refuse(lab, "*.size", "there is no %s", "time");
    ck_assert_int_eq(found(&desk, "near.size")->status, STATUS_MEASURED);
    ck_assert_str_eq(found(&desk, "far.size")->because, "there is no time");
    ck_assert(!found(&desk, "far.size")->skipped);
    ck_assert_ptr_null(found(&desk, "far.cost"));
    lab_skip(lab, "*", "it has none");
    ck_assert_str_eq(found(&desk, "near.cost")->because, "it is free");
    ck_assert_str_eq(found(&desk, "far.cost")->because, "it has none");
    ck_assert(found(&desk, "far.cost")->skipped);
    ck_assert_ptr_null(found(&desk, "near.rest"));
    lab_refuse(lab, "near.rest", "it was named");
    ck_assert_str_eq(found(&desk, "near.rest")->because, "it was named");
    close_desk(&desk);
}
END_TEST

START_TEST(what_is_absent_is_no_finding_and_cites_nothing_more)
{
    struct desk desk;
    open_desk(&desk);
    struct lab *const lab = &desk.lab;
    struct finding *const size = lab_finding(lab, "near", "size"),
                          *const cost = lab_finding(lab, "near", "cost"),
                          *const far = lab_finding(lab, "far", "cost");
    lab_cite(lab, size);
    lab_cite(lab, cost);
    lab_cite(lab, far);
    lab_absent(lab, "near", "cost");
    ck_assert_uint_eq(lab->cited_count, 2);
    ck_assert_ptr_eq(lab->cited[0], size);
    ck_assert_ptr_eq(lab->cited[1], far);
    lab_leave_open(lab, "the rest");
    const struct finding *const none = found(&desk, "near.cost");
    ck_assert(none == NULL || none->because == NULL);
    close_desk(&desk);
}
END_TEST

START_TEST(what_was_not_proposed_has_a_reason)
{
    struct desk desk;
    open_desk(&desk);
    struct lab *const lab = &desk.lab;
    finding_measured(lab_finding(lab, "near", "guess"), 64);
    lab_leave_proposals(lab, "it ended", true);
    const struct finding *const near = lab_proposal(lab, "asking", "near",
                                                    "guess"),
                                *const far =
                                    lab_proposal(lab, "asking", "far", "guess");
    ck_assert_ptr_null(near->because);
    ck_assert(!near->unheard);
    ck_assert_str_eq(far->because, "it ended");
    ck_assert(far->unheard);
    close_desk(&desk);
}
END_TEST

/* ---- doubt ------------------------------------------------------------- */

/* One that writes the fact of lines and one that reads it, of real levels. */
static const struct answer of_levels[] = {
    {level_components, "size", "B"},
    {level_components, "latency", "cycles"},
    {0}};
static const struct study writing = {
    .name = "line", .method = "by lines", .answers = of_levels};
static const enum fact_id reads_lines[] = {FACT_LINE, FACT_NONE};
static const struct study reading = {.name = "reading",
                                     .method = "by reading",
                                     .answers = of_levels,
                                     .reads = reads_lines};
static const struct study apart = {
    .name = "apart", .method = "by itself", .answers = of_levels};

/* L1 and L2, each measured by the study, which then ends; `about` is what a
 * disturbed experiment of it was, evidence of that finding of L1 or of none. */
static void run_study(struct desk *desk, const struct study *study,
                      const char *attribute, size_t about,
                      const char *disturbed, bool cited)
{
    struct lab *const lab = &desk->lab;
    lab_begin(lab, study);
    lab_about(lab, about);
    struct finding *const l1 = lab_finding(lab, "l1", attribute);
    finding_measured(l1, 64);
    finding_measured(lab_finding(lab, "l2", attribute), 128);
    if (disturbed != NULL)
        doubts_add(&lab->doubts, disturbed, "others came", lab->asks);
    if (cited)
        finding_cite(l1, disturbed);
    lab_settle(lab);
}

static void assert_doubt(const struct desk *desk, const char *id, bool doubted)
{
    const struct finding *const f = found(desk, id);
    ck_assert_msg((f->status != STATUS_MEASURED) == doubted, "%s: %s", id,
                  f->because != NULL ? f->because : "measured");
    if (doubted)
        ck_assert_ptr_nonnull(strstr(f->because, "others came"));
}

static void close_doubtful(struct desk *desk)
{
    doubts_free(&desk->lab.doubts);
    close_desk(desk);
}

START_TEST(what_is_disturbed_casts_doubt_on_the_level_it_was_about)
{
    struct desk desk;
    open_desk(&desk);
    run_study(&desk, &writing, "size", LEVEL_L1, "stray", false);
    assert_doubt(&desk, "l1.size", true);
    assert_doubt(&desk, "l2.size", false);
    close_doubtful(&desk);
    open_desk(&desk);
    run_study(&desk, &writing, "size", LEVEL_COUNT, "stray", false);
    assert_doubt(&desk, "l1.size", true);
    assert_doubt(&desk, "l2.size", true);
    close_doubtful(&desk);
}
END_TEST

/* And on what reads what was written by it, but not on what does not. */
START_TEST(a_fact_in_doubt_casts_doubt_on_who_reads_it)
{
    struct desk desk;
    open_desk(&desk);
    run_study(&desk, &apart, "size", LEVEL_COUNT, NULL, false);
    run_study(&desk, &writing, "size", LEVEL_L1, "stray", false);
    run_study(&desk, &reading, "latency", LEVEL_COUNT, NULL, false);
    assert_doubt(&desk, "l1.latency", true);
    assert_doubt(&desk, "l2.latency", false);
    close_doubtful(&desk);
    open_desk(&desk);
    run_study(&desk, &writing, "size", LEVEL_L1, "stray", false);
    run_study(&desk, &apart, "latency", LEVEL_COUNT, NULL, false);
    assert_doubt(&desk, "l1.latency", false);
    close_doubtful(&desk);
}
END_TEST

/* Only what it is evidence of; but the fact has it all the same. */
START_TEST(what_is_evidence_casts_doubt_on_that_alone)
{
    struct desk desk;
    open_desk(&desk);
    run_study(&desk, &writing, "size", LEVEL_COUNT, "stray", true);
    assert_doubt(&desk, "l1.size", true);
    assert_doubt(&desk, "l2.size", false);
    run_study(&desk, &reading, "latency", LEVEL_COUNT, NULL, false);
    assert_doubt(&desk, "l1.latency", true);
    assert_doubt(&desk, "l2.latency", true);
    close_doubtful(&desk);
}
END_TEST

START_TEST(what_shows_no_fact_casts_doubt_on_none)
{
    struct desk desk;
    open_desk(&desk);
    run_study(&desk, &writing, "size", LAB_NO_FACT, "stray", true);
    assert_doubt(&desk, "l1.size", true);
    assert_doubt(&desk, "l2.size", false);
    run_study(&desk, &reading, "latency", LEVEL_COUNT, NULL, false);
    assert_doubt(&desk, "l1.latency", false);
    close_doubtful(&desk);
    open_desk(&desk);
    run_study(&desk, &writing, "size", LAB_NO_FACT, "stray", false);
    assert_doubt(&desk, "l1.size", true);
    assert_doubt(&desk, "l2.size", true);
    close_doubtful(&desk);
}
END_TEST

/* ---- levels ------------------------------------------------------------ */

/* Lines of L1 and of L2 as they are known, and sectors of L1. */
static struct lab *lab_of_lines(struct desk *desk, uint64_t l1, uint64_t sector,
                                uint64_t l2)
{
    open_desk(desk);
    desk->lab.known.line[LEVEL_L1].bytes = l1;
    desk->lab.known.sector[LEVEL_L1].bytes = sector;
    desk->lab.known.line[LEVEL_L2].bytes = l2;
    return &desk->lab;
}

START_TEST(a_ring_leaves_no_line_out)
{
    const struct level_row *const l1 = &level_table[LEVEL_L1],
                                  *const behind = &level_table[LEVEL_CONST_L15];
    struct desk desk;
    struct lab *const lab = lab_of_lines(&desk, 128, 32, 64);
    ck_assert_uint_eq(lab_ring_stride(lab, l1), 128);
    lab->known.line[LEVEL_L1].bytes = 1;
    ck_assert_uint_eq(lab_ring_stride(lab, l1), l1->apart);
    ck_assert_int_ne(behind->behind, LEVEL_COUNT);
    struct fact_line *const line = &lab->known.line[LEVEL_CONST_L15];
    struct fact_line *const front = &lab->known.line[behind->behind];
    line->bytes = 256;
    ck_assert_uint_eq(lab_ring_stride(lab, behind), 256);
    front->bytes = 64;
    ck_assert_uint_eq(lab_ring_stride(lab, behind), 64);
    front->bytes = 512;
    ck_assert_uint_eq(lab_ring_stride(lab, behind), 256);
    line->bound = true;
    lab->known.sector[behind->behind].bytes = 128;
    ck_assert_uint_eq(lab_ring_stride(lab, behind), 128);
    lab->known.rings[behind->behind].doubtful = true;
    ck_assert_uint_eq(lab_ring_stride(lab, behind), 256);
    close_desk(&desk);
}
END_TEST

START_TEST(what_all_sms_share_is_never_clearly_dearer)
{
    struct desk desk;
    struct lab *const lab = lab_of_lines(&desk, 128, 32, 64);
    double cycles[64];
    for (size_t i = 0; i < COUNT_OF(cycles); i++)
        cycles[i] = i % 2 == 0 ? 30 + (double)(i % 3) : 200;
    const struct column c = {cycles, COUNT_OF(cycles), "it"};
    const struct level_row *const l1 = &level_table[LEVEL_L1],
                                  *const l2 = &level_table[LEVEL_L2];
    lab->known.bracket[LEVEL_L1].hit = 30;
    ck_assert_double_eq(lab_least_miss(lab, l2, &c, 300), 300);
    ck_assert(isinf(lab_clearly_dearer(lab, l2, &c)));
    const double least = lab_least_miss(lab, l1, &c, 115);
    ck_assert(least > 32 && least <= 200);
    const double dearer = lab_clearly_dearer(lab, l1, &c);
    ck_assert(dearer > 32 && dearer <= 200);
    const struct column none = {.at = NULL};
    ck_assert_double_eq(lab_least_miss(lab, l1, &none, 77), 77);
    ck_assert(isinf(lab_clearly_dearer(lab, l1, &none)));
    close_desk(&desk);
}
END_TEST

START_TEST(what_is_shared_is_emptied_by_twice_its_size_or_eight_times)
{
    struct desk desk;
    struct lab *const lab = lab_of_lines(&desk, 128, 32, 64);
    lab->known.bracket[LEVEL_L2].overflows = 1000;
    lab->known.bracket[LEVEL_L1].overflows = 1000;
    ck_assert_ptr_nonnull(
        strstr(lab_sector_trace(lab, &level_table[LEVEL_L2], 8),
               " flush=2000 warm=0 shift=8"));
    lab->known.bracket[LEVEL_L2].sampled = true;
    ck_assert_ptr_nonnull(strstr(
        lab_sector_trace(lab, &level_table[LEVEL_L2], 8), " flush=8000 "));
    ck_assert_ptr_nonnull(
        strstr(lab_sector_trace(lab, &level_table[LEVEL_L1], 0), " flush=0 "));
    close_desk(&desk);
}
END_TEST

START_TEST(a_gpu_has_an_sm_at_least_and_a_block_no_more_warps_than_it_may)
{
    struct device_info info = {0};
    const struct lab lab = {.info = &info};
    info.value[PROPERTY_SMS] = -1;
    ck_assert_uint_eq(lab_sms(&lab), 1);
    info.value[PROPERTY_SMS] = 0;
    ck_assert_uint_eq(lab_sms(&lab), 1);
    info.value[PROPERTY_SMS] = 5;
    ck_assert_uint_eq(lab_sms(&lab), 5);
    info.value[PROPERTY_BLOCK_THREADS] = 96;
    ck_assert_uint_eq(lab_warps(&lab, 2), 2);
    ck_assert_uint_eq(lab_warps(&lab, 4), 3);
}
END_TEST

Suite *suite_lab(void)
{
    TCase *t;
    Suite *const suite = suite_of("lab", 10, &t);
    tcase_add_loop_test(
        t, what_a_device_cannot_do_is_excused_and_its_faults_are_not, 0,
        COUNT_OF(errors));
    tcase_add_loop_test(t, a_fault_costs_what_was_asked_and_is_remembered, 0,
                        COUNT_OF(errors));
    tcase_add_test(t, the_first_error_stays_and_so_does_the_first_that_is_lost);
    tcase_add_test(t, what_a_user_wrote_and_no_assembler_takes_is_an_error);
    tcase_add_test(t, only_what_is_not_recorded_may_be_unrecorded);
    tcase_add_test(t, a_difference_is_as_uncertain_as_both);
    tcase_add_test(t, a_difference_of_what_is_in_doubt_may_be_all_or_nothing);
    tcase_add_test(t, a_cost_is_in_doubt_where_many_are_late_or_all_vary);
    tcase_add_test(t, after_an_error_nothing_costs_anything);
    tcase_add_test(t, a_cost_that_is_found_says_its_doubt);
    tcase_add_test(t, rows_that_are_alike_count_each);
    tcase_add_test(t, what_is_unknown_has_the_first_reason_of_the_chain);
    tcase_add_test(t, only_what_was_not_told_is_left_out);
    tcase_add_test(t, what_is_absent_is_no_finding_and_cites_nothing_more);
    tcase_add_test(t, what_was_not_proposed_has_a_reason);
    tcase_add_test(t, what_is_disturbed_casts_doubt_on_the_level_it_was_about);
    tcase_add_test(t, a_fact_in_doubt_casts_doubt_on_who_reads_it);
    tcase_add_test(t, what_is_evidence_casts_doubt_on_that_alone);
    tcase_add_test(t, what_shows_no_fact_casts_doubt_on_none);
    tcase_add_test(t, a_ring_leaves_no_line_out);
    tcase_add_test(t, what_all_sms_share_is_never_clearly_dearer);
    tcase_add_test(t,
                   what_is_shared_is_emptied_by_twice_its_size_or_eight_times);
    tcase_add_test(
        t, a_gpu_has_an_sm_at_least_and_a_block_no_more_warps_than_it_may);
    return suite;
}
