/* The planner, with the studies as they are, on a GPU that answers little. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "study/lab.h"
#include "testing.h"
#include "unit/fake_device.h"

enum { STUDIES_MOST = 64 };

/* A lab on a fake GPU, and what its watcher saw. */
struct rig {
    struct fake_device fake;
    struct results results;
    struct lab lab;
    const struct study *seen[STUDIES_MOST];
    size_t seen_count, total;
    struct error err;
};

static void see(void *context, const struct study *study, size_t done,
                size_t total)
{
    struct rig *const rig = context;
    ck_assert_uint_eq(done, rig->seen_count);
    rig->seen[rig->seen_count++] = study;
    rig->total = total;
}

/* The launch number `fails_at` fails, and all that follow. */
static void open_rig(struct rig *rig, unsigned fails_at)
{
    const struct prober_options options = {.seed = 1, .ticket = stop_ticket()};
    *rig = (struct rig){0};
    fake_device_open(&rig->fake, 80);
    rig->fake.fails_at = fails_at;
    rig->lab.prober = prober_new(&rig->fake.device, NULL, &options);
    rig->lab.info = &rig->fake.device.info;
    rig->lab.results = &rig->results;
    rig->lab.watch = see;
    rig->lab.context = rig;
}

static void close_rig(struct rig *rig)
{
    prober_free(rig->lab.prober);
    results_free(&rig->results);
    fake_device_close(&rig->fake);
}

static size_t study_count(void)
{
    size_t count = 0;
    while (study_table[count] != NULL)
        count++;
    ck_assert_uint_lt(count, STUDIES_MOST);
    return count;
}

static int plan_one(struct rig *rig, const char *name)
{
    return plan_run(&rig->lab, &name, 1, &rig->err);
}

static int plan_all(struct rig *rig)
{
    const char *names[STUDIES_MOST];
    const size_t count = study_count();
    for (size_t i = 0; i < count; i++)
        names[i] = study_table[count - 1 - i]->name;
    return plan_run(&rig->lab, names, count, &rig->err);
}

/* Those that nobody need name. */
static int plan_usual(struct rig *rig)
{
    const char *names[STUDIES_MOST];
    size_t count = 0;
    for (size_t i = 0; study_table[i] != NULL; i++)
        if (!study_table[i]->apart)
            names[count++] = study_table[i]->name;
    return plan_run(&rig->lab, names, count, &rig->err);
}

/* When the study ran, counted from 0; the count of all if it did not. */
static size_t place_of(const struct rig *rig, const char *name)
{
    size_t i = 0;
    while (i < rig->seen_count && strcmp(rig->seen[i]->name, name) != 0)
        i++;
    return i;
}

static void assert_needs_came_first(const struct rig *rig)
{
    for (size_t i = 0; i < rig->seen_count; i++)
        for (size_t k = 0; study_need(rig->seen[i], k) != NULL; k++)
            ck_assert_msg(place_of(rig, study_need(rig->seen[i], k)->name) < i,
                          "%s ran before %s", rig->seen[i]->name,
                          study_need(rig->seen[i], k)->name);
}

static const struct finding *found(const struct rig *rig, const char *id)
{
    const struct finding *const f = results_find(&rig->results, id);
    ck_assert_msg(f != NULL, "%s is missing", id);
    return f;
}

static bool is_dependent(const struct study *study, const char *id)
{
    const char *const *d = study->dependent;
    while (d != NULL && *d != NULL && strcmp(strchr(id, '.') + 1, *d) != 0)
        d++;
    return d != NULL && *d != NULL;
}

/* All that the study gives is said not to be measured, for this reason; NULL:
 * for some, and what is beyond a first level that nobody found is not there. */
static void assert_left_out(const struct rig *rig, const struct study *study,
                            const char *why)
{
    char id[STUDY_ID];
    for (size_t i = 0; study_gives(study, i, id); i++) {
        if (strchr(id, '*') != NULL || is_dependent(study, id))
            continue; /* nobody knows how many there are, or if */
        if (why == NULL && results_find(&rig->results, id) == NULL)
            continue;
        const struct finding *const f = found(rig, id);
        ck_assert_int_eq(f->status, STATUS_NOT_MEASURED);
        ck_assert_uint_gt(strlen(f->because), 0);
        if (why != NULL)
            ck_assert_str_eq(f->because, why);
        ck_assert_str_eq(f->study, study->name);
    }
}

static void assert_all_left_out(const struct rig *rig, const char *why)
{
    for (size_t i = 0; study_table[i] != NULL; i++)
        assert_left_out(rig, study_table[i], why);
}

/* ---- the table -------------------------------------------------------- */

START_TEST(every_need_is_a_study)
{
    for (size_t i = 0; study_table[i] != NULL; i++) {
        const char *const *need = study_table[i]->needs;
        for (; need != NULL && *need != NULL; need++)
            ck_assert_msg(study_find(*need) != NULL, "%s needs %s",
                          study_table[i]->name, *need);
    }
}
END_TEST

START_TEST(every_fact_is_written_by_a_study)
{
    for (enum fact_id i = FACT_NONE + 1; i < FACT_COUNT; i++)
        ck_assert_msg(study_find(fact_writer(i)) != NULL, "%s of %s",
                      fact_name(i), fact_writer(i));
}
END_TEST

static bool does_give(const struct study *study, const char *id)
{
    char given[STUDY_ID];
    for (size_t i = 0; study_gives(study, i, given); i++)
        if (text_glob(id, given))
            return true;
    return false;
}

static bool comes_before(const struct study *study, const struct study *other)
{
    size_t i = 0;
    while (study_need(other, i) != NULL && study_need(other, i) != study)
        i++;
    return study_need(other, i) == study;
}

/* By somebody, and all who do come before. */
START_TEST(every_finding_that_is_read_is_given)
{
    for (size_t i = 0; study_table[i] != NULL; i++) {
        const char *const *id = study_table[i]->reads_findings;
        for (; id != NULL && *id != NULL; id++) {
            size_t givers = 0;
            for (size_t k = 0; study_table[k] != NULL; k++) {
                const bool gives = does_give(study_table[k], *id);
                ck_assert_msg(!gives ||
                                  comes_before(study_table[k], study_table[i]),
                              "%s reads %s", study_table[i]->name, *id);
                givers += gives;
            }
            ck_assert_msg(givers > 0, "%s reads %s", study_table[i]->name, *id);
        }
    }
}
END_TEST

START_TEST(what_is_proposed_the_judge_finds)
{
    const struct study *const judge = study_find("verdict");
    char id[STUDY_ID];
    for (size_t i = 0; study_table[i] != NULL; i++)
        for (size_t n = 0; study_proposes(study_table[i], n, id); n++)
            ck_assert_msg(does_give(judge, id), "%s proposes %s",
                          study_table[i]->name, id);
}
END_TEST

START_TEST(a_fact_that_is_not_declared_cannot_be_read)
{
    const struct lab lab = {.study = study_find("cached")};
    testing_dies();
    fact_bracket(&lab, LEVEL_L1);
}
END_TEST

START_TEST(a_finding_that_is_not_declared_cannot_be_read)
{
    const struct lab lab = {.study = study_find("cached")};
    testing_dies();
    lab_found(&lab, "l1", "size");
}
END_TEST

START_TEST(a_fact_of_another_cannot_be_written)
{
    struct lab lab = {.study = study_find("sector")};
    testing_dies();
    fact_bracket_write(&lab, LEVEL_L1);
}
END_TEST

START_TEST(no_finding_is_given_twice)
{
    char id[STUDY_ID];
    struct texts ids = {0};
    for (size_t i = 0; study_table[i] != NULL; i++)
        for (size_t n = 0; study_gives(study_table[i], n, id); n++) {
            const size_t before = ids.count;
            texts_add(&ids, id);
            ck_assert_msg(ids.count > before, "%s is given twice", id);
        }
    texts_free(&ids);
}
END_TEST

/* The planner has them compiled beforehand and would not tell. */
START_TEST(every_kernel_to_prepare_is_an_experiment)
{
    for (size_t i = 0; study_table[i] != NULL; i++) {
        const char *const *k = study_table[i]->kernels;
        for (; k != NULL && *k != NULL; k++) {
            struct experiment e;
            struct error err;
            ASSERT_DONE(experiment_parse(*k, &e, &err), err);
            experiment_free(&e);
        }
    }
}
END_TEST

/* ---- order ------------------------------------------------------------ */

START_TEST(all_studies_run_once_after_their_needs)
{
    struct rig rig;
    open_rig(&rig, 1);
    plan_all(&rig);
    ck_assert_uint_eq(rig.seen_count, study_count());
    ck_assert_uint_eq(rig.total, study_count());
    for (size_t i = 0; study_table[i] != NULL; i++)
        ck_assert_uint_lt(place_of(&rig, study_table[i]->name), rig.seen_count);
    assert_needs_came_first(&rig);
    close_rig(&rig);
}
END_TEST

START_TEST(a_study_brings_its_needs_and_no_more)
{
    struct rig rig;
    open_rig(&rig, 1);
    plan_one(&rig, "capacity");
    assert_needs_came_first(&rig);
    ck_assert_uint_eq(place_of(&rig, "capacity"), rig.seen_count - 2);
    ck_assert_uint_eq(place_of(&rig, "verdict"), rig.seen_count - 1);
    ck_assert_uint_lt(place_of(&rig, "cached"), rig.seen_count);
    ck_assert_uint_eq(place_of(&rig, "latency"), rig.seen_count);
    close_rig(&rig);
}
END_TEST

START_TEST(a_study_without_needs_runs_alone)
{
    struct rig rig;
    open_rig(&rig, 0);
    ck_assert_int_eq(plan_one(&rig, "properties"), 0);
    ck_assert_uint_eq(rig.seen_count, 1);
    ck_assert_int_eq(found(&rig, "sm.count")->status, STATUS_REPORTED);
    close_rig(&rig);
}
END_TEST

START_TEST(an_unknown_study_is_told_with_the_nearest)
{
    struct rig rig;
    open_rig(&rig, 0);
    const char *const names[] = {"properties", "latenzy"};
    ASSERT_FAILS(plan_run(&rig.lab, names, 2, &rig.err), ERR_USAGE, rig.err,
                 "there is no study 'latenzy'; did you mean 'latency'?");
    ck_assert_uint_eq(rig.seen_count, 0);
    ck_assert_uint_eq(rig.results.finding_count, 0);
    close_rig(&rig);
}
END_TEST

/* ---- what is not reached ---------------------------------------------- */

START_TEST(a_failed_device_leaves_a_reason_everywhere)
{
    struct rig rig;
    open_rig(&rig, 1);
    ASSERT_FAILS(plan_usual(&rig), ERR_DEVICE, rig.err, "the GPU is lost");
    for (size_t i = 0; study_table[i] != NULL; i++)
        if (!study_table[i]->apart &&
            strcmp(study_table[i]->name, "properties") != 0)
            assert_left_out(&rig, study_table[i], NULL);
    ck_assert_str_eq(found(&rig, "clock.overhead")->because, "the GPU is lost");
    ck_assert_int_eq(found(&rig, "sm.count")->status, STATUS_REPORTED);
    close_rig(&rig);
}
END_TEST

/* What was found until then stays: the study `clock` needs ten launches; and
 * the next one asks, too, since what failed once may pass. */
START_TEST(what_was_measured_before_a_failure_stays)
{
    struct rig rig;
    open_rig(&rig, 11);
    static const char *const names[] = {"clock", "cached"};
    ck_assert_int_eq(plan_run(&rig.lab, names, 2, &rig.err), ERR_DEVICE);
    ck_assert_int_eq(found(&rig, "clock.overhead")->status, STATUS_MEASURED);
    assert_left_out(&rig, study_find("cached"), "the GPU is lost");
    ck_assert_uint_gt(rig.fake.launches, 11);
    close_rig(&rig);
}
END_TEST

START_TEST(what_a_device_cannot_do_is_no_failure)
{
    struct rig rig;
    open_rig(&rig, 1);
    rig.fake.fails_with = ERR_UNSUPPORTED;
    ck_assert_int_eq(plan_one(&rig, "clock"), 0);
    assert_left_out(&rig, study_find("clock"), "the GPU is lost");
    close_rig(&rig);
}
END_TEST

/* Words that the GPU cannot follow cost what they ask for. */
START_TEST(a_study_that_asks_for_too_much_is_no_failure)
{
    struct rig rig;
    open_rig(&rig, 1);
    rig.fake.fails_with = ERR_USAGE;
    ck_assert_int_eq(plan_one(&rig, "cached"), 0);
    ck_assert_uint_gt(rig.fake.launches, 1);
    assert_left_out(&rig, study_find("clock"), "the GPU is lost");
    close_rig(&rig);
}
END_TEST

/* A kernel that is refused, an experiment that no recording holds: the others
 * still run, and the status says so. */
START_TEST(what_is_lost_is_said_at_the_end)
{
    static const enum error_code codes[] = {ERR_PTX, ERR_NOT_RECORDED};
    struct rig rig;
    open_rig(&rig, 1);
    rig.fake.fails_with = codes[_i];
    ASSERT_FAILS(plan_one(&rig, "cached"), codes[_i], rig.err,
                 "the GPU is lost");
    ck_assert_uint_gt(rig.fake.launches, 1);
    close_rig(&rig);
}
END_TEST

START_TEST(a_spent_budget_is_the_reason)
{
    struct rig rig;
    open_rig(&rig, 0);
    rig.lab.deadline = now_seconds() - 1;
    ck_assert_int_eq(plan_all(&rig), 0);
    assert_all_left_out(&rig, "the time budget was used up");
    ck_assert_uint_eq(rig.fake.launches, 0);
    close_rig(&rig);
}
END_TEST

START_TEST(a_budget_ends_a_study_between_its_experiments)
{
    struct rig rig;
    open_rig(&rig, 0);
    rig.lab.deadline = now_seconds() - 1;
    ck_assert_uint_eq(lab_probe(&rig.lab, "clock")->rows, 0);
    ASSERT_FAILS(lab_end(&rig.lab, &rig.err), ERR_INTERRUPTED, rig.err,
                 "the time budget was used up");
    ck_assert_uint_eq(rig.fake.launches, 0);
    close_rig(&rig);
}
END_TEST

/* … of experiments, which a study gets from the planner. */
START_TEST(a_study_that_finds_no_end_is_ended)
{
    struct rig rig;
    open_rig(&rig, 0);
    rig.lab.experiments_most = 2;
    for (int i = 0; i < 2; i++)
        ck_assert_uint_gt(lab_probe(&rig.lab, "clock")->rows, 0);
    ck_assert_uint_eq(lab_probe(&rig.lab, "clock")->rows, 0);
    ASSERT_FAILS(lab_end(&rig.lab, &rig.err), ERR_INTERRUPTED, rig.err,
                 "several times as much was asked as a quiet GPU has to be");
    ck_assert_int_eq(plan_one(&rig, "cached"), 0);
    ck_assert_uint_gt(rig.lab.experiments_most, 2);
    ck_assert_uint_lt(rig.lab.experiments_most, 1000);
    close_rig(&rig);
}
END_TEST

START_TEST(a_stop_is_the_reason)
{
    struct rig rig;
    open_rig(&rig, 0);
    stop_request();
    ck_assert_int_eq(plan_all(&rig), 0);
    assert_all_left_out(&rig, "measuring was stopped");
    close_rig(&rig);
}
END_TEST

/* Expected: what the study that would have contradicted it could not, since the
 * device was lost, is in doubt; unless it had come to the end of that
 * component. Was: measured. */
START_TEST(what_one_did_not_hear_who_was_lost_is_in_doubt)
{
    const bool heard = _i == 2, lost = _i == 1;
    struct rig rig;
    open_rig(&rig, 0);
    lab_begin(&rig.lab, study_find("sector"));
    finding_set(lab_finding(&rig.lab, "l1", "sector"), STATUS_MEASURED,
                value_number(32), "B");
    lab_leave_proposals(&rig.lab, why_not_reached, false);
    lab_begin(&rig.lab, study_find("size"));
    if (heard)
        finding_set(lab_finding(&rig.lab, "l1", "size"), STATUS_MEASURED,
                    value_number(4096), "B");
    lab_leave_proposals(&rig.lab, _i == 0 ? why_not_reached : why_stopped,
                        _i > 0);
    lab_begin(&rig.lab, study_find("verdict"));
    study_find("verdict")->run(&rig.lab);
    const struct finding *const f = results_find(&rig.results, "l1.sector");
    ck_assert_double_eq(f->value.number, 32);
    ck_assert_int_eq(f->status, lost ? STATUS_IN_DOUBT : STATUS_MEASURED);
    if (lost)
        ck_assert_pstr_eq(f->because,
                          "the study size, which may speak against it, did not "
                          "come to its end: measuring was stopped");
    results_free(&rig.lab.proposals);
    close_rig(&rig);
}
END_TEST

START_TEST(a_block_has_a_warp_at_least)
{
    static const struct {
        int64_t threads;
        unsigned warps;
    } rows[] = {{-1, 32}, {0, 32}, {1, 1},    {31, 1},
                {32, 1},  {95, 2}, {2048, 32}};
    struct device_info info = {0};
    const struct lab lab = {.info = &info};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        info.value[PROPERTY_BLOCK_THREADS] = rows[i].threads;
        ck_assert_uint_eq(lab_block_warps(&lab), rows[i].warps);
    }
}
END_TEST

Suite *suite_plan(void)
{
    TCase *t;
    Suite *const suite = suite_of("plan", 20, &t);
    tcase_add_test(t, every_need_is_a_study);
    tcase_add_test(t, every_fact_is_written_by_a_study);
    tcase_add_test(t, every_finding_that_is_read_is_given);
    tcase_add_test(t, what_is_proposed_the_judge_finds);
    tcase_add_test_raise_signal(t, a_fact_that_is_not_declared_cannot_be_read,
                                SIGABRT);
    tcase_add_test_raise_signal(
        t, a_finding_that_is_not_declared_cannot_be_read, SIGABRT);
    tcase_add_test_raise_signal(t, a_fact_of_another_cannot_be_written,
                                SIGABRT);
    tcase_add_test(t, no_finding_is_given_twice);
    tcase_add_test(t, every_kernel_to_prepare_is_an_experiment);
    tcase_add_test(t, all_studies_run_once_after_their_needs);
    tcase_add_test(t, a_study_brings_its_needs_and_no_more);
    tcase_add_test(t, a_study_without_needs_runs_alone);
    tcase_add_test(t, an_unknown_study_is_told_with_the_nearest);
    tcase_add_test(t, a_failed_device_leaves_a_reason_everywhere);
    tcase_add_test(t, what_was_measured_before_a_failure_stays);
    tcase_add_test(t, what_a_device_cannot_do_is_no_failure);
    tcase_add_test(t, a_study_that_asks_for_too_much_is_no_failure);
    tcase_add_loop_test(t, what_is_lost_is_said_at_the_end, 0, 2);
    tcase_add_test(t, a_spent_budget_is_the_reason);
    tcase_add_test(t, a_budget_ends_a_study_between_its_experiments);
    tcase_add_test(t, a_study_that_finds_no_end_is_ended);
    tcase_add_test(t, a_stop_is_the_reason);
    tcase_add_loop_test(t, what_one_did_not_hear_who_was_lost_is_in_doubt, 0,
                        3);
    tcase_add_test(t, a_block_has_a_warp_at_least);
    return suite;
}
