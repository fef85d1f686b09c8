/* Reports against a base: src/report/compare. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/compare/compare.h"
#include "testing.h"

/* ---- one finding --------------------------------------------------------- */

/* A number with its interval (low > high: none), unit and status. */
struct number {
    double number, low, high;
    const char *unit;
    enum finding_status status;
};

static struct finding *add(struct results *r, const char *id, struct number n)
{
    struct finding *const f = results_add(r, id, "test");
    finding_set(f, n.status, value_number(n.number), n.unit);
    if (n.low <= n.high)
        finding_interval(f, n.low, n.high, 0.95);
    return f;
}

#define CYCLES(n, low, high)                                                   \
    {                                                                          \
        n, low, high, "cycles", STATUS_MEASURED                                \
    }
#define COUNT(n)                                                               \
    {                                                                          \
        n, 1, 0, "", STATUS_MEASURED                                           \
    }

static const struct {
    struct number base, other;
    double tolerance;
    enum verdict verdict;
    double beyond;
} numbers[] = {
    /* Intervals that meet, and those that do not. */
    {CYCLES(100, 98, 102), CYCLES(103, 102, 104), 0, VERDICT_ALIKE, 0},
    {CYCLES(100, 98, 102), CYCLES(105, 103, 107), 0, VERDICT_DIFFERS, 0.01},
    {CYCLES(100, 98, 102), CYCLES(90, 88, 92), 0, VERDICT_DIFFERS, 0.06},
    {CYCLES(100, 98, 102), CYCLES(105, 103, 107), 0.01, VERDICT_ALIKE, 0},
    {CYCLES(100, 98, 102), CYCLES(105, 103, 107), 0.009, VERDICT_DIFFERS, 0.01},
    /* None is a point; the tolerance is of the base. */
    {CYCLES(100, 1, 0), CYCLES(102, 1, 0), 0.02, VERDICT_ALIKE, 0},
    {CYCLES(100, 1, 0), CYCLES(103, 1, 0), 0.02, VERDICT_DIFFERS, 0.03},
    {CYCLES(0, 1, 0), CYCLES(1, 1, 0), 0.5, VERDICT_DIFFERS, INFINITY},
    /* The value counts where it is outside of its interval. */
    {CYCLES(100, 101, 102), CYCLES(100, 1, 0), 0, VERDICT_ALIKE, 0},
    /* What is counted has no tolerance. */
    {COUNT(100), COUNT(101), 0.5, VERDICT_DIFFERS, 0.01},
    {COUNT(100), COUNT(100), 0, VERDICT_ALIKE, 0},
    /* Bounds have one end. */
    {{64, 1, 0, "B", STATUS_AT_LEAST}, COUNT(32), 0, VERDICT_DIFFERS, INFINITY},
    {{64, 1, 0, "B", STATUS_AT_LEAST},
     {96, 1, 0, "B", STATUS_MEASURED},
     0,
     VERDICT_STATUS,
     0},
    {{64, 1, 0, "B", STATUS_AT_LEAST},
     {32, 1, 0, "B", STATUS_MEASURED},
     0,
     VERDICT_DIFFERS,
     0.5},
    {{64, 1, 0, "B", STATUS_AT_MOST},
     {96, 1, 0, "B", STATUS_MEASURED},
     0,
     VERDICT_DIFFERS,
     0.5},
    {{64, 1, 0, "B", STATUS_AT_MOST},
     {99, 1, 0, "B", STATUS_AT_LEAST},
     0,
     VERDICT_DIFFERS,
     35. / 64},
    /* Doubt is another status, what the driver says is none. */
    {CYCLES(100, 98, 102),
     {101, 0, 200, "cycles", STATUS_IN_DOUBT},
     0,
     VERDICT_STATUS,
     0},
    {COUNT(4), {4, 1, 0, "", STATUS_REPORTED}, 0, VERDICT_ALIKE, 0},
    /* Another unit is another thing. */
    {CYCLES(100, 1, 0),
     {100, 1, 0, "ns", STATUS_MEASURED},
     0,
     VERDICT_DIFFERS,
     INFINITY},
};

START_TEST(numbers_differ_where_their_intervals_do_not_meet)
{
    struct results a = {0}, b = {0};
    const struct judgement j = judge_pair(
        add(&a, "l1.latency", numbers[_i].base),
        add(&b, "l1.latency", numbers[_i].other), numbers[_i].tolerance);
    ck_assert_str_eq(verdict_name(j.verdict),
                     verdict_name(numbers[_i].verdict));
    if (isinf(numbers[_i].beyond))
        ck_assert(isinf(j.beyond));
    else
        ck_assert_double_eq_tol(j.beyond, numbers[_i].beyond, 1e-12);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* In pairs: value, and another one; a list as "1,2", bits as "1^2,3". */
static struct value value_of(const char *text)
{
    struct value list = value_list();
    char *end;
    if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)
        return value_bool(text[0] == 'y');
    if (strpbrk(text, ",^") == NULL)
        return value_text(text);
    for (; *text != '\0'; text = end + (*end == ',')) {
        struct value item =
            *text == '-' ? (struct value){0} : value_number(strtod(text, &end));
        if (*text == '-')
            end = (char *)text + 1;
        while (*end == '^') {
            const struct value bit = value_number(strtod(end + 1, &end));
            if (item.kind != VALUE_LIST) {
                struct value bits = value_list();
                value_push(&bits, item);
                item = bits;
            }
            value_push(&item, bit);
        }
        value_push(&list, item);
    }
    return list;
}

static const struct {
    const char *base, *other, *unit;
    double tolerance;
    enum verdict verdict;
    size_t apart;
} values[] = {
    {"lru", "lru", "", 0, VERDICT_ALIKE, 0},
    {"lru", "plru", "", 1, VERDICT_DIFFERS, 0},
    {"yes", "no", "", 1, VERDICT_DIFFERS, 0},
    {"7^13,8", "7^13,8", "", 0, VERDICT_ALIKE, 0},
    {"7^13,8", "7^14,8", "", 1, VERDICT_DIFFERS, 0},
    {"7^13,8", "7,8", "", 1, VERDICT_DIFFERS, 0},
    {"17,8,8", "17,8,8", "", 0, VERDICT_ALIKE, 0},
    {"17,8,8", "17,8,9", "", 1, VERDICT_DIFFERS, 1},
    {"17,8,8", "17,8", "", 1, VERDICT_DIFFERS, 1},
    {"17,8", "17,8,8", "", 1, VERDICT_DIFFERS, 1},
    {"100,200,300", "101,202,300", "cycles", 0.01, VERDICT_ALIKE, 0},
    {"100,200,300", "101,210,330", "cycles", 0.02, VERDICT_DIFFERS, 2},
    {"100,200", "100,-", "cycles", 1, VERDICT_LOST, 0},
    {"100,-", "100,200", "cycles", 1, VERDICT_GAINED, 0},
    {"100,200,-", "100,-,300", "cycles", 1, VERDICT_LOST, 0},
    {"100,200,300", "101,-,330", "cycles", 0.02, VERDICT_DIFFERS, 1},
    {"100,-", "100,-", "cycles", 0, VERDICT_ALIKE, 0},
};

START_TEST(structure_is_the_same_or_not_and_lists_are_judged_by_items)
{
    struct results a = {0}, b = {0};
    struct finding *const f = results_add(&a, "l1.by_test", "test");
    struct finding *const g = results_add(&b, "l1.by_test", "test");
    finding_set(f, STATUS_MEASURED, value_of(values[_i].base), values[_i].unit);
    finding_set(g, STATUS_MEASURED, value_of(values[_i].other),
                values[_i].unit);
    const struct judgement j = judge_pair(f, g, values[_i].tolerance);
    ck_assert_str_eq(verdict_name(j.verdict), verdict_name(values[_i].verdict));
    ck_assert_uint_eq(j.apart, values[_i].apart);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* Items are matched by what they are of. */
START_TEST(items_are_compared_at_one_place_of_their_axis)
{
    struct results a = {0}, b = {0};
    struct finding *const f =
        results_add(&a, "l1.read_bandwidth_by_width", "t");
    struct finding *const g =
        results_add(&b, "l1.read_bandwidth_by_width", "t");
    finding_set(f, STATUS_MEASURED, value_of("30,60,120"), "B/clk/SM");
    finding_protocol(f, "widths", value_of("4,8,16"));
    finding_set(g, STATUS_MEASURED, value_of("120,30,50"), "B/clk/SM");
    finding_protocol(g, "widths", value_of("16,4,8"));
    const struct judgement j = judge_pair(f, g, 0);
    ck_assert_int_eq(j.verdict, VERDICT_DIFFERS);
    ck_assert_uint_eq(j.apart, 1);
    ck_assert_uint_eq(j.worst, 1);
    ck_assert_double_eq_tol(j.beyond, 1. / 6, 1e-12);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* Each item has an interval where the protocol says it. */
START_TEST(items_have_intervals)
{
    struct results a = {0}, b = {0};
    struct finding *const f = results_add(&a, "memory.patterns_cg", "t");
    struct finding *const g = results_add(&b, "memory.patterns_cg", "t");
    finding_set(f, STATUS_MEASURED, value_of("280,290,600,-"), "cycles");
    finding_protocol(f, "low", value_of("278,288,560,-"));
    finding_protocol(f, "high", value_of("282,292,640,-"));
    finding_set(g, STATUS_MEASURED, value_of("283,296,650,-"), "cycles");
    finding_protocol(g, "low", value_of("281,293,610,-"));
    finding_protocol(g, "high", value_of("285,298,690,-"));
    const struct judgement j = judge_pair(f, g, 0);
    ck_assert_uint_eq(j.apart, 1);
    ck_assert_uint_eq(j.worst, 1);
    ck_assert_double_eq_tol(j.beyond, 1. / 290, 1e-12);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* One bit is no distance from another. */
START_TEST(bits_are_the_same_or_not)
{
    struct results a = {0}, b = {0};
    struct finding *const f = results_add(&a, "l2.side_bits", "t");
    struct finding *const g = results_add(&b, "l2.side_bits", "t");
    finding_set(f, STATUS_MEASURED, value_of("12,13,15"), "");
    finding_set(g, STATUS_MEASURED, value_of("12,13,16"), "");
    const struct judgement j = judge_pair(f, g, 0);
    ck_assert_int_eq(j.verdict, VERDICT_DIFFERS);
    ck_assert_uint_eq(j.apart, 0);
    ck_assert(isinf(j.beyond));
    ck_assert_int_eq(judge_pair(f, f, 0).verdict, VERDICT_ALIKE);
    results_free(&a);
    results_free(&b);
}
END_TEST

START_TEST(what_has_no_value_any_more_is_lost)
{
    struct results a = {0}, b = {0};
    const struct finding *const f =
        add(&a, "l1.latency", (struct number)CYCLES(32, 32, 32));
    struct finding *const none = results_add(&b, "l1.latency", "test");
    finding_none(none, "it was busy");
    ck_assert_int_eq(judge_pair(f, none, 1).verdict, VERDICT_LOST);
    ck_assert_int_eq(judge_pair(f, NULL, 1).verdict, VERDICT_LOST);
    ck_assert_int_eq(judge_pair(none, f, 0).verdict, VERDICT_GAINED);
    ck_assert_int_eq(judge_pair(NULL, f, 0).verdict, VERDICT_GAINED);
    ck_assert_int_eq(judge_pair(NULL, none, 0).verdict, VERDICT_ALIKE);
    ck_assert_int_eq(judge_pair(none, none, 0).verdict, VERDICT_ALIKE);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* ---- reports ------------------------------------------------------------- */

static void set_text(struct results *r, const char *id, const char *text)
{
    finding_set(results_add(r, id, "t"), STATUS_MEASURED, value_text(text), "");
}

static struct results base_report(void)
{
    struct results r = {0};
    results_device(&r, "spec", value_text("cuda:0"));
    results_device(&r, "name", value_text("GPU A"));
    add(&r, "l1.latency", (struct number)CYCLES(32, 32, 32));
    add(&r, "l2.latency", (struct number)CYCLES(280, 278, 282));
    add(&r, "l2.ways", (struct number)COUNT(16));
    set_text(&r, "l1.policy", "lru");
    add(&r, "memory.latency", (struct number)CYCLES(650, 640, 660));
    return r;
}

/* Other experiments are drawn by each seed. */
START_TEST(what_a_run_foretold_is_no_property)
{
    struct results base = {0}, other = {0};
    struct finding *const a =
        add(&base, "predicted.loads", (struct number)COUNT(100));
    struct finding *const b =
        add(&other, "predicted.loads", (struct number)COUNT(200));
    ck_assert_int_eq(judge_pair(a, b, 0).verdict, VERDICT_ALIKE);
    ck_assert_int_eq(judge_pair(a, NULL, 0).verdict, VERDICT_ALIKE);
    results_free(&base);
    results_free(&other);
}
END_TEST

/* Each report in its order; the furthest of all comes first. */
START_TEST(the_furthest_comes_first)
{
    struct results base = base_report(), near = base_report(),
                   far = base_report();
    add(&near, "l1.latency", (struct number)CYCLES(33, 33, 33));
    add(&far, "l2.latency", (struct number)CYCLES(380, 378, 382));
    set_text(&far, "l1.policy", "fifo");
    finding_none(results_add(&far, "memory.latency", "t"), "it was busy");
    add(&far, "tlb_l1.entries", (struct number)COUNT(16));
    const struct results *const all[] = {&base, &near, &far};
    struct comparison c;
    struct error err;
    ASSERT_DONE(compare(all, 3, &(struct compare_wish){0}, &c, &err), err);
    static const char *const order[] = {"l1.policy",      "l2.latency",
                                        "l1.latency",     "memory.latency",
                                        "tlb_l1.entries", "l2.ways"};
    ck_assert_uint_eq(c.row_count, COUNT_OF(order));
    for (size_t i = 0; i < c.row_count; i++)
        ck_assert_str_eq(c.rows[i].id, order[i]);
    ck_assert(!compare_alike(&c));
    ck_assert_uint_eq(compare_counts(&c, VERDICT_DIFFERS), 3);
    ck_assert_int_eq(c.rows[1].judged[0].verdict, VERDICT_ALIKE);
    ck_assert_int_eq(c.rows[1].judged[1].verdict, VERDICT_DIFFERS);
    compare_free(&c);
    results_free(&base);
    results_free(&near);
    results_free(&far);
}
END_TEST

START_TEST(only_what_is_asked_for_is_compared)
{
    struct results base = base_report(), other = base_report();
    set_text(&other, "l1.policy", "fifo");
    const struct results *const all[] = {&base, &other};
    struct comparison c;
    struct error err;
    ASSERT_DONE(compare(all, 2,
                        &(struct compare_wish){.only = "l2.*,*.latency"}, &c,
                        &err),
                err);
    ck_assert_uint_eq(c.row_count, 4);
    ck_assert(compare_alike(&c));
    compare_free(&c);
    ASSERT_FAILS(
        compare(all, 2, &(struct compare_wish){.only = "l2.*,l3.*"}, &c, &err),
        ERR_USAGE, err, "'l3.*'");
    compare_free(&c);
    results_free(&base);
    results_free(&other);
}
END_TEST

/* A report is like itself, whatever is in it. */
START_TEST(a_report_is_like_itself)
{
    struct results r = base_report();
    finding_none(results_add(&r, "l2.sets", "t"), "it was busy");
    finding_set(results_add(&r, "l1.set_bits", "t"), STATUS_IN_DOUBT,
                value_of("7^13,8"), "");
    finding_set(results_add(&r, "l1.set_ways", "t"), STATUS_DERIVED,
                value_of("17,-,8"), "");
    const struct results *const all[] = {&r, &r, &r};
    struct comparison c;
    struct error err;
    ASSERT_DONE(compare(all, 3, &(struct compare_wish){0}, &c, &err), err);
    ck_assert_uint_eq(compare_counts(&c, VERDICT_ALIKE), r.finding_count);
    compare_free(&c);
    results_free(&r);
}
END_TEST

/* What differs is seen: the item, the digits, the XOR. */
START_TEST(a_difference_shows)
{
    struct results base = {0}, other = {0};
    struct results *const both[] = {&base, &other};
    static const char *const costs[] = {"280,600", "280,630"};
    static const char *const sides[] = {"12,13,15", "12,13,16"};
    for (size_t i = 0; i < 2; i++) {
        finding_set(results_add(both[i], "clock.reads", "t"), STATUS_MEASURED,
                    value_number(i == 0 ? 1979701159 : 1979952008), "Hz");
        finding_set(results_add(both[i], "memory.patterns_cg", "t"),
                    STATUS_MEASURED, value_of(costs[i]), "cycles");
        finding_set(results_add(both[i], "l2.side_bits", "t"), STATUS_MEASURED,
                    value_of(sides[i]), "");
    }
    const struct results *const all[] = {&base, &other};
    struct comparison c;
    struct error err;
    struct buf out = {0};
    ASSERT_DONE(compare(all, 2, &(struct compare_wish){0}, &c, &err), err);
    compare_text(&c, &(struct report_style){0}, &out);
    static const char *const shown[] = {"1.9797 GHz",
                                        "1.97995 GHz",
                                        "pattern 2: 600 cycles",
                                        "630 cycles (1 of 2 differ)",
                                        "12^13^15",
                                        "12^13^16"};
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        ck_assert_msg(strstr(out.data, shown[i]) != NULL, "no %s in\n%s",
                      shown[i], out.data);
    buf_free(&out);
    compare_free(&c);
    results_free(&base);
    results_free(&other);
}
END_TEST

/* What a hostile report says reaches neither a terminal nor JSON as it is. */
START_TEST(a_comparison_steers_no_terminal)
{
    static const char hostile[] = "\x1b]0;t\a\xc2\x9b\xe2\x80\xae\"<b>\n\xff";
    struct results base = base_report(), other = base_report();
    value_free(&other.device[1].value);
    other.device[1].value = value_text(hostile);
    set_text(&other, "l1.policy", hostile);
    finding_none(results_add(&other, "l2.ways", "t"), "%s", hostile);
    const struct results *const all[] = {&base, &other};
    struct comparison c;
    struct error err;
    struct buf out = {0};
    ASSERT_DONE(compare(all, 2, &(struct compare_wish){0}, &c, &err), err);
    compare_text(&c, &(struct report_style){0}, &out);
    compare_json(&c, &out);
    for (const char *at = out.data; *at != '\0';) {
        const struct text_character ch = text_character(at);
        ck_assert_msg(ch.shown || *at == '\n', "%02x in\n%s",
                      (unsigned char)*at, out.data);
        at += ch.bytes;
    }
    ck_assert_ptr_nonnull(strstr(out.data, "\\x1b]0;t"));
    buf_free(&out);
    compare_free(&c);
    results_free(&base);
    results_free(&other);
}
END_TEST

Suite *suite_compare(void)
{
    TCase *tests;
    Suite *const s = suite_of("compare", 10, &tests);
    tcase_add_loop_test(tests, numbers_differ_where_their_intervals_do_not_meet,
                        0, COUNT_OF(numbers));
    tcase_add_loop_test(
        tests, structure_is_the_same_or_not_and_lists_are_judged_by_items, 0,
        COUNT_OF(values));
    tcase_add_test(tests, items_are_compared_at_one_place_of_their_axis);
    tcase_add_test(tests, items_have_intervals);
    tcase_add_test(tests, bits_are_the_same_or_not);
    tcase_add_test(tests, what_has_no_value_any_more_is_lost);
    tcase_add_test(tests, what_a_run_foretold_is_no_property);
    tcase_add_test(tests, the_furthest_comes_first);
    tcase_add_test(tests, only_what_is_asked_for_is_compared);
    tcase_add_test(tests, a_report_is_like_itself);
    tcase_add_test(tests, a_difference_shows);
    tcase_add_test(tests, a_comparison_steers_no_terminal);
    return s;
}
