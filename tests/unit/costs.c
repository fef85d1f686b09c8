/* What instructions cost, as reports show it: the rows that findings make, the
 * table for people, and the CSV (RFC 4180). */
#include "report/costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "testing.h"

static struct finding *cost(struct results *r, const char *id,
                            const char *category, double number)
{
    struct finding *const f = results_add(r, id, "isa");
    const bool rate = strstr(id, ".throughput") != NULL;
    finding_protocol(f, "category", value_text(category));
    finding_set(f, STATUS_MEASURED, value_number(number),
                rate ? "/clk/SM" : "cycles");
    return f;
}

static struct finding *missing(struct results *r, const char *id,
                               const char *category, const char *why)
{
    struct finding *const f = results_add(r, id, "isa");
    finding_protocol(f, "category", value_text(category));
    finding_none(f, "%s", why);
    return f;
}

static void say_code(struct finding *f, const char *verdict,
                     const char *listing)
{
    finding_protocol(f, "copies", value_text("guard"));
    finding_protocol(f, "code", value_text(verdict));
    if (listing != NULL)
        finding_protocol(f, "machine_code", value_text(listing));
}

/* Rows of each sort: measured, in doubt, a bound, refused, skipped. */
static struct results example(void)
{
    struct results r = {0};
    results_device(&r, "spec", value_text("cuda:0"));
    results_device(&r, "name", value_text("a GPU"));
    cost(&r, "isa.add.u32.latency.O0", "integer", 15);
    say_code(cost(&r, "isa.add.u32.latency.O3", "integer", 4), "verified",
             "IADD3");
    cost(&r, "isa.add.u32.throughput", "integer", 63.98);
    struct finding *f = cost(&r, "isa.div.s32.latency.O3", "integer", 125.26);
    finding_interval(f, 120, 130, 0.99);
    say_code(f, "verified", "4 MOV, IMAD \"×\" 2");
    f = cost(&r, "isa.div.s32.throughput", "integer", 5);
    f->status = STATUS_AT_LEAST;
    missing(&r, "isa.xor.b32.latency.O3", "logic", "not verified: 0 of 16");
    missing(&r, "isa.xor.b32.throughput", "logic", "not verified: 1 of 64");
    missing(&r, "isa.redux.u32.latency.O3", "logic", "needs 8.0, this is 7.0")
        ->skipped = true;
    results_add(&r, "l1.latency", "latency");
    return r;
}

static char *written(const struct report_format *format,
                     const struct results *r)
{
    struct buf out = {0};
    const struct report_style style = {.ascii = true};
    struct error err;
    ck_assert_int_eq(format->write(r, &style, &out, &err), 0);
    return buf_take(&out);
}

/* ---- rows -------------------------------------------------------------- */

START_TEST(findings_of_one_name_are_a_row)
{
    static const char *const names[] = {"add.u32", "div.s32", "xor.b32",
                                        "redux.u32"};
    struct results r = example();
    struct costs costs;
    costs_collect(&r, &costs);
    ck_assert_uint_eq(costs.count, COUNT_OF(names));
    for (size_t i = 0; i < costs.count; i++)
        ck_assert_str_eq(costs.rows[i].name, names[i]);
    ck_assert_double_eq(costs.rows[0].latency[0]->value.number, 15);
    ck_assert_double_eq(costs.rows[0].latency[3]->value.number, 4);
    ck_assert_double_eq(costs.rows[0].throughput->value.number, 63.98);
    ck_assert_ptr_null(costs.rows[1].latency[0]);
    ck_assert_ptr_null(costs.rows[3].throughput);
    ck_assert_str_eq(costs.rows[2].category, "logic");
    costs_free(&costs);
    results_free(&r);
}
END_TEST

START_TEST(levels_are_those_that_some_row_has)
{
    struct results r = example();
    struct costs costs;
    costs_collect(&r, &costs);
    ck_assert(costs.level[0] && costs.level[3]);
    ck_assert(!costs.level[1] && !costs.level[2] && !costs.level[4]);
    costs_free(&costs);
    results_free(&r);
}
END_TEST

/* Ids, and the name of the row that they make; NULL: none. */
static const struct {
    const char *id, *name;
} ids[] = {
    {"isa.add.u32.latency.O4",            "add.u32"         },
    {"isa.ld.global.cg.u64.latency.O0",   "ld.global.cg.u64"},
    {"isa.fma.rn.f32.throughput",         "fma.rn.f32"      },
    {"bench.latency.O3",                  "bench"           },
    {"bench.throughput",                  "bench"           },
    {"isa.add.u32.latency.O5",            NULL              },
    {"isa.add.u32.latency.Ox",            NULL              },
    {"isa.add.u32.latency",               NULL              },
    {"l1.latency.O3",                     NULL              },
    {"clock.overhead.O0",                 NULL              },
    {"isa.add.u32.throughput_by_warps.1", NULL              },
};

START_TEST(ids_name_their_row)
{
    struct results r = {0};
    struct costs costs;
    cost(&r, ids[_i].id, "integer", 1);
    costs_collect(&r, &costs);
    ck_assert_uint_eq(costs.count, ids[_i].name != NULL);
    if (ids[_i].name != NULL)
        ck_assert_str_eq(costs.rows[0].name, ids[_i].name);
    costs_free(&costs);
    results_free(&r);
}
END_TEST

START_TEST(a_row_says_why_only_if_nothing_was_measured)
{
    struct results r = example();
    struct costs costs;
    missing(&r, "isa.abs.s32.latency.O0", "integer", "no");
    cost(&r, "isa.abs.s32.latency.O3", "integer", 8);
    costs_collect(&r, &costs);
    ck_assert_ptr_null(cost_row_because(&costs.rows[0]));
    ck_assert_str_eq(cost_row_because(&costs.rows[2]), "not verified: 0 of 16");
    ck_assert_ptr_null(cost_row_because(&costs.rows[4]));
    ck_assert_str_eq(cost_row_said(&costs.rows[0], "machine_code"), "IADD3");
    ck_assert_ptr_null(cost_row_said(&costs.rows[2], "machine_code"));
    costs_free(&costs);
    results_free(&r);
}
END_TEST

/* ---- the table --------------------------------------------------------- */

/* A line of the table, from its first word; NULL if none has it. */
static char *line_of(const char *table, const char *word)
{
    const char *const at = strstr(table, word);
    ck_assert_msg(at != NULL, "no %s in:\n%s", word, table);
    return xstrndup(at, strcspn(at, "\n"));
}

static void assert_line(const char *word, const char *line)
{
    struct results r = example();
    char *const table = written(&report_table, &r);
    char *const found = line_of(table, word);
    ck_assert_str_eq(found, line);
    free(found);
    free(table);
    results_free(&r);
}

START_TEST(the_table_has_a_row_each)
{
    assert_line("add.u32", "add.u32                 4.0     15.0     64.0 "
                           "IADD3");
}
END_TEST

START_TEST(doubts_and_bounds_have_marks)
{
    assert_line("div.s32", "div.s32              ~125.3              >5.0 "
                           "4 MOV, IMAD \"x\" 2");
}
END_TEST

START_TEST(what_was_not_measured_says_why)
{
    assert_line("xor.b32", "xor.b32                   -                 - "
                           "not verified: 0 of 16");
    assert_line("redux.u32", "redux.u32                 -                   "
                             "needs 8.0, this is 7.0");
    assert_line("    throughput", "    throughput      not verified: 1 of 64");
}
END_TEST

START_TEST(categories_head_their_rows)
{
    struct results r = example();
    char *const table = written(&report_table, &r);
    const char *const integer = strstr(table, "\ninteger\n");
    const char *const logic = strstr(table, "\nlogic\n");
    ck_assert(integer != NULL && logic != NULL && integer < logic);
    ck_assert(integer < strstr(table, "add.u32"));
    ck_assert(logic < strstr(table, "xor.b32"));
    ck_assert_ptr_null(strstr(logic + 1, "\nlogic\n"));
    free(table);
    results_free(&r);
}
END_TEST

START_TEST(notes_stand_where_something_needs_them)
{
    struct results r = {0};
    struct finding *const f = cost(&r, "isa.add.u32.latency.O3", "integer", 4);
    char *table = written(&report_table, &r);
    ck_assert_ptr_null(strstr(table, "was not read"));
    ck_assert_ptr_null(strstr(table, "a bound"));
    free(table);
    say_code(f, "not read", NULL);
    f->status = STATUS_AT_LEAST;
    table = written(&report_table, &r);
    ck_assert_ptr_nonnull(strstr(table, "Machine code was not read"));
    ck_assert_ptr_nonnull(strstr(table, "> a bound"));
    free(table);
    results_free(&r);
}
END_TEST

START_TEST(long_names_widen_the_column)
{
    struct results r = {0};
    cost(&r, "isa.a.name.of.thirty.characters.it.latency.O3", "x", 4);
    cost(&r, "isa.b.latency.O3", "x", 4);
    char *const table = written(&report_table, &r);
    char *const a = line_of(table, "a.name"), *const b = line_of(table, "b  ");
    ck_assert_uint_eq(strcspn(a, "4"), strcspn(b, "4"));
    ck_assert_uint_gt(strcspn(a, "4"), 34);
    free(a);
    free(b);
    free(table);
    results_free(&r);
}
END_TEST

START_TEST(names_too_long_for_the_column_have_a_line)
{
    struct results r = {0};
    cost(&r, "isa.a.name.longer.than.any.instruction.has.latency.O3", "x", 4);
    char *const table = written(&report_table, &r);
    ck_assert_ptr_nonnull(
        strstr(table, "\n  a.name.longer.than.any.instruction.has\n"));
    char *const next = line_of(table, "   4.0");
    free(next);
    free(table);
    results_free(&r);
}
END_TEST

START_TEST(a_table_of_nothing_is_its_heading)
{
    struct results r = {0};
    char *const table = written(&report_table, &r);
    char *const csv = written(&report_costs, &r);
    ck_assert_ptr_nonnull(strstr(table, "latency in cycles"));
    ck_assert_str_eq(csv, "instruction,category,throughput,copies,code,"
                          "machine_code,because\r\n");
    free(table);
    free(csv);
    results_free(&r);
}
END_TEST

/* ---- CSV --------------------------------------------------------------- */

static const char example_csv[] =
    "instruction,category,latency_O0,latency_O3,throughput,copies,code,"
    "machine_code,because\r\n"
    "add.u32,integer,15,4,63.98,guard,verified,IADD3,\r\n"
    "div.s32,integer,,125.26,5,guard,verified,\"4 MOV, IMAD \"\"×\"\" 2\",\r\n"
    "xor.b32,logic,,,,,,,not verified: 0 of 16\r\n"
    "redux.u32,logic,,,,,,,\"needs 8.0, this is 7.0\"\r\n";

START_TEST(csv_is_of_rfc_4180)
{
    struct results r = example();
    char *const csv = written(&report_costs, &r);
    ck_assert_str_eq(csv, example_csv);
    free(csv);
    results_free(&r);
}
END_TEST

/* Reasons, and their field. */
static const struct {
    const char *text, *field;
} quoted[] = {
    {"plain",      ",plain\r\n"             },
    {"a \"word\"", ",\"a \"\"word\"\"\"\r\n"},
    {"\"",         ",\"\"\"\"\r\n"          },
    {"a, b",       ",\"a, b\"\r\n"          },
    {"it's ; ok",  ",it's ; ok\r\n"         },
};

START_TEST(csv_quotes_what_needs_it)
{
    struct results r = {0};
    missing(&r, "isa.add.u32.latency.O3", "integer", quoted[_i].text);
    char *const csv = written(&report_costs, &r);
    const size_t all = strlen(csv), field = strlen(quoted[_i].field);
    ck_assert_uint_gt(all, field);
    ck_assert_str_eq(csv + all - field, quoted[_i].field);
    free(csv);
    results_free(&r);
}
END_TEST

/* ---- JSON -------------------------------------------------------------- */

START_TEST(json_keeps_what_was_skipped)
{
    struct results r = example(), again = {0};
    struct error err;
    char *const json = written(&report_json, &r);
    ASSERT_DONE(report_read(json, "a.json", &again, &err), err);
    ck_assert(results_find(&again, "isa.redux.u32.latency.O3")->skipped);
    ck_assert(!results_find(&again, "isa.xor.b32.latency.O3")->skipped);
    char *const twice = written(&report_json, &again);
    ck_assert_str_eq(json, twice);
    free(json);
    free(twice);
    results_free(&r);
    results_free(&again);
}
END_TEST

/* The same table, whether measured now or read from a file. */
START_TEST(a_report_that_is_read_is_the_same_table)
{
    struct results r = example(), again = {0};
    struct error err;
    char *const json = written(&report_json, &r);
    ASSERT_DONE(report_read(json, "a.json", &again, &err), err);
    char *const table = written(&report_table, &r);
    char *const second = written(&report_table, &again);
    ck_assert_str_eq(table, second);
    free(json);
    free(table);
    free(second);
    results_free(&r);
    results_free(&again);
}
END_TEST

Suite *suite_costs(void)
{
    TCase *t;
    Suite *const suite = suite_of("costs", 10, &t);
    tcase_add_test(t, findings_of_one_name_are_a_row);
    tcase_add_test(t, levels_are_those_that_some_row_has);
    tcase_add_loop_test(t, ids_name_their_row, 0, COUNT_OF(ids));
    tcase_add_test(t, a_row_says_why_only_if_nothing_was_measured);
    tcase_add_test(t, the_table_has_a_row_each);
    tcase_add_test(t, doubts_and_bounds_have_marks);
    tcase_add_test(t, what_was_not_measured_says_why);
    tcase_add_test(t, categories_head_their_rows);
    tcase_add_test(t, notes_stand_where_something_needs_them);
    tcase_add_test(t, long_names_widen_the_column);
    tcase_add_test(t, names_too_long_for_the_column_have_a_line);
    tcase_add_test(t, a_table_of_nothing_is_its_heading);
    tcase_add_test(t, csv_is_of_rfc_4180);
    tcase_add_loop_test(t, csv_quotes_what_needs_it, 0, COUNT_OF(quoted));
    tcase_add_test(t, json_keeps_what_was_skipped);
    tcase_add_test(t, a_report_that_is_read_is_the_same_table);
    return suite;
}
