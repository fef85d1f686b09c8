/* The report as a page: what is drawn, that nothing of a report gets out of its
 * place, and that all can be seen. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "finding/curve.h"
#include "report/html/html.h"
#include "report/merge.h"
#include "report/report.h"
#include "testing.h"
#include "unit/markup_check.h"

static char *page_of(const struct results *r)
{
    struct buf out = {0};
    struct error err = {0};
    ck_assert_int_eq(
        report_html.write(r, &(struct report_style){0}, &out, &err), 0);
    char *const wrong = markup_wrong(buf_string(&out));
    ck_assert_msg(wrong == NULL, "%s", wrong);
    return buf_take(&out);
}

static struct finding *list_of(struct results *r, const char *id,
                               const char *unit, const double *at, size_t count)
{
    struct finding *const f = results_add(r, id, "study");
    finding_set(f, STATUS_MEASURED, value_numbers(at, count), unit);
    finding_evidence(f, "chase bytes=1024");
    return f;
}

#define LIST(r, id, unit, ...)                                                 \
    list_of(r, id, unit, (const double[]){__VA_ARGS__},                        \
            sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void size_with_curve(struct results *r)
{
    static const struct curve_kind kind = {"latency", "bytes", "B", "cycles"};
    struct finding *const f = results_add(r, "l1.size", "size");
    finding_set(f, STATUS_MEASURED, value_number(16384), "B");
    finding_interval(f, 15000, 17000, 0.95);
    struct finding_curve *const c = results_curve(r, "l1.size", &kind);
    for (double bytes = 1024; bytes <= 1 << 20; bytes *= 2)
        curve_point(c, (struct curve_seen){bytes, bytes > 16384 ? 280 : 32,
                                           "chase op=ca bytes=16384"});
}

static bool has(const char *page, const char *text)
{
    return strstr(page, text) != NULL;
}

static size_t count_of(const char *page, const char *text)
{
    size_t count = 0;
    for (const char *at = strstr(page, text); at != NULL;
         at = strstr(at + 1, text))
        count++;
    return count;
}

/* ---- what is drawn ------------------------------------------------------- */

START_TEST(a_curve_has_its_value_its_experiment_and_its_data)
{
    struct results r = {0};
    size_with_curve(&r);
    char *const page = page_of(&r);
    ck_assert_uint_eq(markup_elements(page, "figure"), 1);
    ck_assert(has(page, "class=\"band\""));
    ck_assert(has(page, ">16 KiB</text>"));
    ck_assert(has(page, ">latency (cycles)</text>"));
    ck_assert(has(page, "sonde probe chase op=ca bytes=16384</code>"));
    ck_assert(has(page, "<td>1024</td><td>32</td>"));
    free(page);
    results_free(&r);
}
END_TEST

/* Doubling sizes are as far from each other as others. */
START_TEST(sizes_that_double_have_equal_steps)
{
    struct results r = {0};
    size_with_curve(&r);
    char *const page = page_of(&r);
    const char *at = strstr(page, "class=\"line s0\" d=\"M");
    ck_assert_ptr_nonnull(at);
    double x[3], y;
    ck_assert_int_eq(sscanf(at, "class=\"line s0\" d=\"M%lf %lfL%lf %lfL%lf",
                            &x[0], &y, &x[1], &y, &x[2]),
                     5);
    ck_assert_double_eq_tol(x[1] - x[0], x[2] - x[1], 0.11);
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(a_sawtooth_has_its_model)
{
    struct results r = {0};
    LIST(&r, "arithmetic.fp32.by_warps", "/clk/SM", 32, 64, 96, 128, 80, 96);
    LIST(&r, "tensor.a.by_warps", "op/clk/SM", 32, 64, 96, 128, 80, 96);
    finding_set(results_add(&r, "arithmetic.fp32.sawtooth", "study"),
                STATUS_MEASURED, value_number(4), "warps");
    finding_set(results_add(&r, "arithmetic.fp32.peak", "study"),
                STATUS_MEASURED, value_number(128), "/clk/SM");
    char *const page = page_of(&r);
    ck_assert_uint_eq(markup_elements(page, "figure"), 2);
    ck_assert_uint_eq(count_of(page, "class=\"model s1\""), 2); /* + legend */
    ck_assert(has(page, ">4 at once</text>"));
    /* It is counted from one warp on. */
    ck_assert_uint_eq(count_of(page, "<td>1</td><td>32</td>"), 2);
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(sms_are_cells_of_their_group)
{
    struct results r = {0};
    LIST(&r, "sm.gpc_of_sm", "", 0, 0, 1, 1, 2);
    struct value sides = value_list();
    value_push(&sides, value_text("0-1,4"));
    value_push(&sides, value_text("2-3"));
    finding_set(results_add(&r, "l2.sm_sides", "partitions"), STATUS_MEASURED,
                sides, "");
    LIST(&r, "l1.copy_of_warp", "", 0, 0, 0);
    char *const page = page_of(&r);
    ck_assert_uint_eq(markup_elements(page, "figure"), 2);
    ck_assert(has(page, "<title>SM 4: gpc 2</title>"));
    ck_assert(has(page, "<title>SM 3: part of L2 1</title>"));
    ck_assert(has(page, "<title>SM 4: part of L2 0</title>"));
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(index_bits_are_masks)
{
    struct results r = {0};
    struct value bits = value_list();
    value_push(&bits, value_number(7));
    value_push(&bits, value_bits(1u << 8 | 1u << 12));
    finding_set(results_add(&r, "l1.set_bits", "structure"), STATUS_MEASURED,
                bits, "");
    char *const page = page_of(&r);
    ck_assert_uint_eq(count_of(page, "class=\"on\""), 3);
    ck_assert(has(page, "<title>address bit 12</title>"));
    ck_assert_uint_eq(count_of(page, "class=\"off\""), 2 * 6 - 3);
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(words_and_effects_are_bars)
{
    struct results r = {0};
    struct value names = value_list(), words = value_list();
    for (int i = 0; i < 2; i++) {
        value_push(&names, value_text(i == 0 ? "ca" : "cv"));
        value_push(&words, value_text(i == 0 ? "none" : "-40 %"));
    }
    struct finding *const f = results_add(&r, "transpose.a.load_effects", "op");
    finding_set(f, STATUS_MEASURED, words, "");
    finding_protocol(f, "operators", names);
    finding_protocol(f, "percent", value_numbers((double[]){0, -40}, 2));
    finding_protocol(f, "low", value_numbers((double[]){-1, -45}, 2));
    finding_protocol(f, "high", value_numbers((double[]){1, -35}, 2));
    char *const page = page_of(&r);
    ck_assert_uint_eq(count_of(page, "class=\"bar\""), 2);
    ck_assert_uint_eq(count_of(page, "line class=\"spread\""), 2);
    ck_assert(has(page, ">cv</text>"));
    ck_assert(has(page, ">-40</text>"));
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(starts_and_ends_are_a_raster)
{
    static const struct curve_kind kinds[] = {{"start", "warp", "", "cycles"},
                                              {"end", "warp", "", "cycles"}};
    struct results r = {0};
    finding_set(results_add(&r, "scheduling.policy_memory", "scheduling"),
                STATUS_MEASURED, value_text("in pairs"), "");
    for (int i = 0; i < 2; i++)
        for (int warp = 0; warp < 4; warp++)
            curve_point(
                results_curve(&r, "scheduling.policy_memory", &kinds[i]),
                (struct curve_seen){warp, 100 * i + warp, "timeline"});
    char *const page = page_of(&r);
    ck_assert_uint_eq(markup_elements(page, "figure"), 1);
    ck_assert_uint_eq(count_of(page, "class=\"span s0\""), 4);
    free(page);
    results_free(&r);
}
END_TEST

static void curve_of(struct results *r, const char *id,
                     const struct curve_kind *kind, const double *y,
                     size_t count)
{
    finding_set(results_add(r, id, "study"), STATUS_MEASURED, value_number(4),
                "");
    for (size_t i = 0; i < count; i++)
        curve_point(results_curve(r, id, kind),
                    (struct curve_seen){(double)i + 1, y[i], "visit"});
}

START_TEST(sms_that_share_and_lines_of_a_set_are_seen)
{
    static const struct curve_kind sharing = {"shares it", "sm", "", ""},
                                   set = {"conflict set", "member", "", "B"};
    struct results r = {0};
    curve_of(&r, "tlb_l2.sms_sharing", &sharing, (double[]){1, 0}, 2);
    curve_of(&r, "l1.ways", &set, (double[]){4096, 8192, 12288}, 3);
    char *const page = page_of(&r);
    ck_assert(has(page, "<title>SM 0: shares it 1</title>"));
    ck_assert(has(page, "<title>SM 1: shares it 1</title>"));
    ck_assert(has(page, "<title>SM 2: shares it 0</title>"));
    ck_assert_uint_eq(count_of(page, "class=\"on\""), 4);
    free(page);
    results_free(&r);
}
END_TEST

/* 8 KiB stay of 16: half of what a cache of 8 KiB is asked for. */
START_TEST(hits_of_a_sample_have_their_model)
{
    static const struct curve_kind sample = {"sample", "bytes", "B", ""};
    struct results r = {0};
    finding_set(results_add(&r, "l2.size", "size"), STATUS_MEASURED,
                value_number(8192), "B");
    curve_point(results_curve(&r, "l2.size", &sample),
                (struct curve_seen){16384, 0.5, "overfill"});
    char *const page = page_of(&r);
    ck_assert(has(page, ">hit share (%)</text>"));
    ck_assert(has(page, ">8 KiB</text>"));
    ck_assert_uint_eq(count_of(page, "class=\"model s1\""), 2);
    ck_assert(has(page, "<td>16384</td><td>0.5</td>"));
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(candidates_for_a_policy_are_bars)
{
    struct results r = {0};
    struct finding *const f = results_add(&r, "l1.policy", "structure");
    finding_set(f, STATUS_MEASURED, value_text("lru"), "");
    finding_protocol(f, "agrees_lru", value_number(1));
    finding_protocol(f, "agrees_fifo", value_number(0.75));
    char *page = page_of(&r);
    ck_assert(has(page, ">loads as predicted (%)</text>"));
    ck_assert(has(page, "<td>fifo</td><td>75</td><td>–</td>"));
    free(page);
    finding_protocol(f, "likelihood_lru", value_number(-0.01));
    finding_protocol(f, "likelihood_fifo", value_number(-0.7));
    page = page_of(&r);
    ck_assert(has(page, ">log-likelihood of a load</text>"));
    ck_assert(has(page, ">-0.7</text>"));
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(experiments_are_typed_as_they_stand)
{
    struct results r = {0};
    struct finding *const f = LIST(&r, "l2.read_bandwidth_by_sms", "B/s", 1, 2);
    finding_evidence(f, "visit steps=0;1,!2 turn=0");
    char *page = page_of(&r);
    ck_assert(has(page, "sonde probe visit &#39;steps=0;1,!2&#39; turn=0</"));
    free(page);
    finding_evidence(f, "grid snippet='add %r0, %r0;' it's");
    results_device(&r, "spec", value_text("sim:k20c"));
    page = page_of(&r);
    ck_assert(has(page, "sonde probe grid snippet=&#39;add %r0, %r0;&#39; "
                        "&#39;it&#39;\\&#39;&#39;s&#39; -d sim:k20c</"));
    free(page);
    results_free(&r);
}
END_TEST

/* ---- what stays open, and all else --------------------------------------- */

START_TEST(what_is_open_says_why)
{
    struct results r = {0};
    finding_none(results_add(&r, "l2.policy", "structure"), "no time");
    struct finding *const f = results_add(&r, "l2.size", "size");
    finding_set(f, STATUS_IN_DOUBT, value_number(1 << 20), "B");
    finding_because(f, "two ways differ");
    char *const page = page_of(&r);
    ck_assert(has(page, "Not measured: 1</summary>"));
    ck_assert(has(page, "not measured: no time</dd>"));
    ck_assert(has(page, "In doubt: 1</summary>"));
    ck_assert(has(page, "two ways differ</dd>"));
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(a_cost_is_a_row_of_its_own_table)
{
    struct results r = {0};
    struct finding *f = results_add(&r, "isa.add.u32.latency.O3", "isa");
    finding_set(f, STATUS_MEASURED, value_number(4), "cycles");
    f = results_add(&r, "isa.add.u32.throughput", "isa");
    finding_none(f, "no time");
    char *const page = page_of(&r);
    ck_assert(has(page, "<th scope=\"row\">add.u32</th>"));
    ck_assert(has(page, "<td>4</td><td title=\"no time\">–</td>"));
    ck_assert(!has(page, "<th scope=\"row\">isa."));
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(a_simulated_gpu_is_said_to_be_one)
{
    struct results r = {0};
    results_run(&r, "simulated", value_bool(true));
    char *const page = page_of(&r);
    ck_assert(has(page, "<p class=\"warning\">SIMULATED:"));
    free(page);
    results_free(&r);
}
END_TEST

/* ---- hostile reports ----------------------------------------------------- */

static const char evil[] =
    "</title></text></code><script>alert(1)</script>\"' onload='x' & &amp; "
    "\033[31m \xe2\x80\xae \xff\xc3 javascript:alert(2) "
    "<img src=http://example.org/x onerror=alert(3)> </style> ]]>";

static void evil_curves(struct results *r, const char *id)
{
    const struct curve_kind kind = {evil, evil, evil, evil};
    const struct curve_kind spans[] = {{"start", evil, "", evil},
                                       {"end", evil, "", evil}};
    for (int i = 0; i < 3; i++) {
        const struct curve_seen seen = {i, 1e308 * (i - 1), evil};
        curve_point(results_curve(r, id, &kind), seen);
        curve_point(results_curve(r, id, &spans[0]), seen);
        curve_point(results_curve(r, id, &spans[1]), seen);
    }
}

/* Each text of a report is evil. */
static struct results evil_report(void)
{
    static const char *const ids[] = {
        "l1.size",
        "l1.set_bits",
        "sm.gpc_of_sm",
        "a.b_effects",
        "l2.sm_sides",
        "isa.x.latency.O3",
        "x.y_by_sms",
        evil,
        "memory.patterns_cg",
        "memory.loaded_latency",
    };
    static const double numbers[] = {-1e308, 1e308, 1e-320, NAN, INFINITY, -5};
    struct results r = {.version = xstrdup(evil), .notice = xstrdup(evil)};
    results_device(&r, "name", value_text(evil));
    results_device(&r, "spec", value_text("sim:'; rm -rf <x>"));
    results_device(&r, "disturbed", value_text(evil));
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct finding *const f = results_add(&r, ids[i], evil);
        struct value words = value_list();
        for (size_t k = 0; k < COUNT_OF(numbers); k++)
            value_push(&words, value_text(evil));
        finding_set(f, STATUS_MEASURED,
                    i % 2 == 0 ? value_numbers(numbers, COUNT_OF(numbers))
                               : words,
                    evil);
        finding_because(f, "%s", evil);
        finding_method(f, evil);
        finding_evidence(f, evil);
        finding_protocol(f, evil, value_text(evil));
        finding_protocol(f, "percent", value_numbers(numbers, 6));
        finding_protocol(f, "category", value_text(evil));
        finding_protocol(f, "machine_code", value_text(evil));
        evil_curves(&r, ids[i]);
    }
    return r;
}

START_TEST(no_text_of_a_report_gets_out_of_its_place)
{
    struct results r = evil_report();
    char *const page = page_of(&r); /* which is well-formed */
    ck_assert_uint_eq(markup_elements(page, "script"), 1);
    ck_assert_uint_eq(markup_elements(page, "img"), 0);
    ck_assert(has(page, "&lt;script&gt;alert(1)"));
    ck_assert(!has(page, " onload='"));
    ck_assert(!has(page, " onerror=alert(3)>"));
    ck_assert(!has(page, "\033"));
    ck_assert(!has(page, "\xe2\x80\xae"));
    /* Coordinates are numbers, whatever was to be drawn. */
    ck_assert(!has(page, "nan ") && !has(page, "\"nan") && !has(page, "\"inf"));
    free(page);
    results_free(&r);
}
END_TEST

START_TEST(a_report_of_nothing_is_a_page)
{
    struct results r = {0};
    char *const page = page_of(&r);
    ck_assert(has(page, "<h1>unnamed GPU</h1>"));
    ck_assert_uint_eq(markup_elements(page, "figure"), 0);
    free(page);
    results_free(&r);
}
END_TEST

/* ---- of a real GPU ------------------------------------------------------- */

static struct results h200(void)
{
    static const char *const paths[] = {
        "results/h200.json", "results/h200-load.json", "results/h200-isa.json"};
    struct results all = {0};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct results one = {0};
        struct error err = {0};
        char *const text = testing_document(paths[i]);
        ASSERT_DONE(report_read(text, paths[i], i == 0 ? &all : &one, &err),
                    err);
        if (i > 0)
            merge_add(&all, &one);
        results_free(&one);
        free(text);
    }
    return all;
}

/* What the page may take (issue 15): 3 MiB, half a second. */
START_TEST(a_whole_h200_is_a_small_page_soon)
{
    struct results r = h200();
    const clock_t start = clock();
    char *const page = page_of(&r);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    ck_assert_uint_lt(strlen(page), 3u << 20);
    ck_assert_double_lt(seconds, 0.5);
    /* Nothing is asked of a network, or of another file. */
    static const char *const asks[] = {" src=",   "url(",   "@import", "<link",
                                       "<iframe", "fetch(", NULL};
    for (const char *const *ask = asks; *ask != NULL; ask++)
        ck_assert_uint_eq(count_of(page, *ask), strcmp(*ask, "<link") == 0);
    ck_assert(has(page, "<link rel=\"icon\" href=\"data:,\"/>"));
    /* Every plot has a name, its experiments and its data. */
    const size_t figures = markup_elements(page, "figure");
    ck_assert_uint_gt(figures, 100);
    ck_assert_uint_eq(count_of(page, "<div class=\"repeat\">"), figures);
    ck_assert_uint_eq(count_of(page, "<summary>Data: "), figures);
    ck_assert_uint_eq(count_of(page, "role=\"img\" aria-label=\""), figures);
    free(page);
    results_free(&r);
}
END_TEST

/* ---- contrast ------------------------------------------------------------ */

/* The nth colour that the style sheet gives this name: light, dark. */
static unsigned colour(const char *style, const char *name, int nth)
{
    unsigned rgb = 0;
    char *const wanted = xasprintf("--%s:#", name);
    const char *at = strstr(style, wanted);
    for (int i = 0; i < nth && at != NULL; i++)
        at = strstr(at + 1, wanted);
    ck_assert_msg(at != NULL, "no colour %s", name);
    ck_assert_int_eq(sscanf(at + strlen(wanted), "%6x", &rgb), 1);
    free(wanted);
    return rgb;
}

/* WCAG 2.2, relative luminance and contrast ratio. */
static double luminance(unsigned rgb)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double c = (rgb >> (8 * i) & 0xff) / 255.0;
        sum += weights[i] *
               (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(unsigned a, unsigned b)
{
    const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return fmax(x, y) / fmin(x, y);
}

/* Text 4.5 (1.4.3), what is drawn 3 (1.4.11). */
static const struct pair {
    const char *front, *back;
    double least;
} pairs[] = {
    {"ink", "page", 4.5},  {"faint", "page", 4.5},    {"faint", "shade", 4.5},
    {"link", "page", 4.5}, {"warn", "warnback", 4.5}, {"warn", "page", 4.5},
    {"s1", "page", 4.5},   {"s0", "page", 3},         {"s2", "page", 3},
    {"s3", "page", 3},     {"s4", "page", 3},         {"s5", "page", 3},
    {"s6", "page", 3},     {"s7", "page", 3},         {"s0", "band", 3},
    {"s1", "band", 3},     {"on", "off", 3},          {"ink", "g0", 4.5},
    {"ink", "g1", 4.5},    {"ink", "g2", 4.5},        {"ink", "g3", 4.5},
    {"ink", "g4", 4.5},    {"ink", "g5", 4.5},        {"ink", "g6", 4.5},
    {"ink", "g7", 4.5},
};

START_TEST(all_that_meets_can_be_told_apart)
{
    struct buf style = {0};
    html_style(&style);
    for (int dark = 0; dark < 2; dark++)
        for (size_t i = 0; i < COUNT_OF(pairs); i++) {
            const struct pair *const p = &pairs[i];
            const double ratio = contrast(colour(style.data, p->front, dark),
                                          colour(style.data, p->back, dark));
            if (getenv("CONTRAST") != NULL)
                printf("%s %s on %s %.1f\n", dark ? "dark" : "light", p->front,
                       p->back, ratio);
            ck_assert_msg(ratio >= p->least, "%s: %s on %s has %.2f",
                          dark ? "dark" : "light", p->front, p->back, ratio);
        }
    buf_free(&style);
}
END_TEST

Suite *suite_html(void)
{
    TCase *tests;
    Suite *const s = suite_of("html", 10, &tests);
    tcase_add_test(tests, a_curve_has_its_value_its_experiment_and_its_data);
    tcase_add_test(tests, sizes_that_double_have_equal_steps);
    tcase_add_test(tests, a_sawtooth_has_its_model);
    tcase_add_test(tests, sms_are_cells_of_their_group);
    tcase_add_test(tests, index_bits_are_masks);
    tcase_add_test(tests, words_and_effects_are_bars);
    tcase_add_test(tests, starts_and_ends_are_a_raster);
    tcase_add_test(tests, sms_that_share_and_lines_of_a_set_are_seen);
    tcase_add_test(tests, hits_of_a_sample_have_their_model);
    tcase_add_test(tests, candidates_for_a_policy_are_bars);
    tcase_add_test(tests, experiments_are_typed_as_they_stand);
    tcase_add_test(tests, what_is_open_says_why);
    tcase_add_test(tests, a_cost_is_a_row_of_its_own_table);
    tcase_add_test(tests, a_simulated_gpu_is_said_to_be_one);
    tcase_add_test(tests, no_text_of_a_report_gets_out_of_its_place);
    tcase_add_test(tests, a_report_of_nothing_is_a_page);
    tcase_add_test(tests, a_whole_h200_is_a_small_page_soon);
    tcase_add_test(tests, all_that_meets_can_be_told_apart);
    return s;
}
