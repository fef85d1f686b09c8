/* The picture of a machine: what is drawn, where it is, and how it is written.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/picture/machine.h"
#include "report/picture/picture.h"
#include "report/picture/style.h"
#include "report/report.h"
#include "report/storage.h"
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

static void group(struct results *r, const char *id, unsigned sms,
                  unsigned each)
{
    struct value list = value_list();
    for (unsigned i = 0; i < sms; i++)
        value_push(&list, value_number(i / each));
    finding_set(results_add(r, id, "placement"), STATUS_MEASURED, list, "");
}

/* An L1 that texture loads end in, L2 in parts, TLBs of two SMs and of all. */
static struct results example(void)
{
    struct results r = {0};
    results_device(&r, "name", value_text("GPU"));
    add(&r, "clock.measured", 1e9, "Hz");
    add(&r, "sm.count", 8, "");
    finding_interval(add(&r, "l1.size", 16384, "B"), 16000, 17000, 0.95);
    add(&r, "l1.line", 128, "B");
    add(&r, "l1.latency", 32.06, "cycles");
    add(&r, "l1.sms_sharing", 1, "");
    add(&r, "texture.latency", 88, "cycles");
    share(&r, "texture.shares_with", "l1");
    struct finding *f = add(&r, "const_l15.size", 65536, "B");
    finding_value(f, STATUS_AT_LEAST, value_number(65536));
    finding_because(f, "a module may hold 64 KiB of constants");
    add(&r, "const_l15.sms_sharing", 1, "");
    add(&r, "icache_l0.size", 4096, "B");
    add(&r, "icache_l0.per_sm", 4, "");
    finding_none(results_add(&r, "local.size", "size"), "no time");
    f = add(&r, "l2.size", 1 << 20, "B");
    finding_value(f, STATUS_IN_DOUBT, value_number(1 << 20));
    finding_because(f, "two ways differ");
    finding_none(results_add(&r, "l2.policy", "structure"), "too late");
    add(&r, "l2.parts", 2, "");
    add(&r, "l2.slices", 12, "");
    struct value sides = value_list();
    value_push(&sides, value_text("0-1,4"));
    value_push(&sides, value_text("2-3,5-7"));
    finding_set(results_add(&r, "l2.sm_sides", "partitions"), STATUS_MEASURED,
                sides, "");
    group(&r, "sm.gpc_of_sm", 8, 4);
    add(&r, "tlb_l1.reach", 32 << 20, "B");
    add(&r, "tlb_l1.sms_sharing", 2, "");
    add(&r, "tlb_l2.reach", 64 << 20, "B");
    add(&r, "tlb_l2.sms_sharing", 8, "");
    add(&r, "tlb_l3.reach", 128 << 20, "B");
    return r;
}

static struct results h200(void)
{
    struct results r = {0};
    struct error err;
    char *const text = testing_document("results/h200.json");
    ASSERT_DONE(report_read(text, "h200", &r, &err), err);
    free(text);
    return r;
}

static char *drawn(const struct results *r)
{
    struct buf out = {0};
    picture_write(r, &out);
    return buf_take(&out);
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        count++;
    return count;
}

/* The box of the component, in the tree; NULL: none. */
static const struct box *box_of(const struct box *box, const char *component)
{
    if (box->component != NULL && strcmp(box->component, component) == 0)
        return box;
    const struct box *found = NULL;
    for (const struct box *c = box->first; found == NULL && c != NULL;
         c = c->next)
        found = box_of(c, component);
    return found;
}

static const struct row *row_of(const struct box *box, const char *label)
{
    for (size_t i = 0; i < box->row_count; i++)
        if (strcmp(box->row[i].label, label) == 0)
            return &box->row[i];
    ck_abort_msg("no row '%s'", label);
    return NULL;
}

static const struct box *parent_of(const struct box *tree,
                                   const struct box *box)
{
    for (const struct box *c = tree->first; c != NULL; c = c->next) {
        const struct box *const found = c == box ? tree : parent_of(c, box);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static size_t count_kind(const struct box *box, const char *kind)
{
    size_t count = box->kind != NULL && strcmp(box->kind, kind) == 0;
    for (const struct box *c = box->first; c != NULL; c = c->next)
        count += count_kind(c, kind);
    return count;
}

/* Lengths are sums of rounded ones. */
#define NEAR 0.01

static bool is_within(const struct place *in, const struct place *out)
{
    return in->x >= out->x - NEAR && in->y >= out->y - NEAR &&
           in->x + in->width <= out->x + out->width + NEAR &&
           in->y + in->height <= out->y + out->height + NEAR;
}

static bool are_apart(const struct place *a, const struct place *b)
{
    return a->x + a->width <= b->x + NEAR || b->x + b->width <= a->x + NEAR ||
           a->y + a->height <= b->y + NEAR || b->y + b->height <= a->y + NEAR;
}

/* Each claim costs a write to a file, so that one is made where it is wrong. */
static void check(bool right, const char *what, const char *a, const char *b)
{
    if (!right)
        ck_abort_msg("'%.60s' %s '%.60s'", a, what, b);
}

static const char *name_of(const struct box *b)
{
    return b->title != NULL ? b->title : b->kind != NULL ? b->kind : "";
}

static void check_rows(const struct box *b)
{
    for (size_t i = 0; i < b->row_count; i++) {
        const struct row *const row = &b->row[i];
        const struct place *const p = &row->place;
        check(is_within(p, &b->place), "leaves", row->label, name_of(b));
        check(p->width > row->indent, "has no room in", row->label, name_of(b));
        for (size_t k = 0; k < i; k++)
            check(are_apart(p, &b->row[k].place), "lies on", row->label,
                  b->row[k].label);
        for (const struct box *c = b->first; c != NULL; c = c->next)
            check(are_apart(p, &c->place), "lies on", name_of(c), row->label);
    }
}

/* Nothing lies on anything else, or leaves what it is in. */
static void check_places(const struct box *b)
{
    check_rows(b);
    check(b->place.width > 0, "has no room in", name_of(b), "");
    for (const struct box *c = b->first; c != NULL; c = c->next) {
        check(is_within(&c->place, &b->place), "leaves", name_of(c),
              name_of(b));
        for (const struct box *d = c->next; d != NULL; d = d->next)
            check(are_apart(&c->place, &d->place), "lies on", name_of(d),
                  name_of(c));
        check_places(c);
    }
}

static void check_layout(const struct results *r)
{
    static const double widths[] = {780, 300, 2000};
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        struct arena arena = {0};
        struct box *const gpu = machine_boxes(r, &arena);
        box_lay(gpu, widths[i]);
        ck_assert_double_eq_tol(gpu->place.width, widths[i], NEAR);
        check_places(gpu);
        arena_empty(&arena);
    }
}

/* What is no markup is left out: elements close in the order in which they were
 * opened, attributes are quoted, and no "<" or "&" stands alone. */
static const char *after_tag(const char *at, bool *closes, bool *empty)
{
    *closes = *at == '/';
    while (*at != '>') {
        check(*at != '\0' && *at != '<', "is", at, "an open tag");
        if (*at == '"') {
            at += 1 + strcspn(at + 1, "\"<");
            check(*at == '"', "is", at, "an open attribute");
        }
        at++;
    }
    *empty = at[-1] == '/';
    return at + 1;
}

static void check_element(const char *text)
{
    enum { DEEP = 64 };
    const char *open[DEEP];
    size_t depth = 0;
    for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at, '<')) {
        bool closes, empty;
        const char *const name = ++at;
        const size_t length = strcspn(name + (*name == '/'), " >/");
        at = after_tag(at, &closes, &empty);
        if (closes) {
            check(depth-- > 0, "was not opened", name, "");
            check(strncmp(open[depth], name + 1, length) == 0, "closes", name,
                  open[depth]);
        } else if (!empty) {
            check(depth < DEEP, "is too deep", name, "");
            open[depth++] = name;
        }
        check(depth > 0 || strchr(at, '<') == NULL, "is after", at, "all");
    }
    ck_assert_uint_eq(depth, 0);
}

static void check_references(const char *text)
{
    for (const char *at = text; (at = strchr(at, '&')) != NULL; at++) {
        const size_t length = strcspn(at, "; \n<");
        check(at[length] == ';' && length < 9, "is", at, "a lone &");
    }
}

static void check_well_formed(const struct results *r)
{
    char *const text = drawn(r);
    ck_assert(strncmp(text, "<svg ", 5) == 0);
    check_element(text);
    check_references(text);
    const char *c = text;
    while ((unsigned char)*c >= ' ' || *c == '\n')
        c++;
    ck_assert_msg(*c == '\0', "a control character");
    free(text);
}

static void check_all(const struct results *r)
{
    check_layout(r);
    check_well_formed(r);
}

START_TEST(nothing_lies_on_anything_else)
{
    struct results r = example(), real = h200(), nothing = {0};
    check_all(&r);
    check_all(&real);
    check_all(&nothing);
    results_free(&r);
    results_free(&real);
}
END_TEST

/* Whether it was measured or not, and whether with another or alone. */
START_TEST(each_storage_is_there_once)
{
    static const char *const there[] = {"l1",     "texture",   "local",
                                        "l2",     "const_l15", "icache_l0",
                                        "tlb_l1", "tlb_l2",    "tlb_l3"};
    struct results r = example(), real = h200();
    char *const text = drawn(&r), *const other = drawn(&real);
    for (size_t i = 0; i < COUNT_OF(there); i++) {
        char *const word = xasprintf("data-component=\"%s\"", there[i]);
        ck_assert_msg(occurrences(text, word) == 1, "%s", there[i]);
        ck_assert_msg(!storage_present(&real, there[i]) ||
                          occurrences(other, word) == 1,
                      "%s of the H200", there[i]);
        free(word);
    }
    ck_assert_uint_eq(occurrences(text, "data-component"), COUNT_OF(there));
    free(text);
    free(other);
    results_free(&r);
    results_free(&real);
}
END_TEST

START_TEST(a_storage_stands_in_what_has_one_of_it)
{
    struct arena arena = {0};
    struct results r = example();
    const struct box *const gpu = machine_boxes(&r, &arena);
    const struct box *sm = parent_of(gpu, box_of(gpu, "l1"));
    ck_assert_str_eq(sm->title, "SM 0");
    ck_assert_ptr_eq(parent_of(gpu, box_of(gpu, "texture")), box_of(gpu, "l1"));
    ck_assert_str_eq(parent_of(gpu, box_of(gpu, "icache_l0"))->title, "1/4 SM");
    const struct box *const two = parent_of(gpu, box_of(gpu, "tlb_l1"));
    ck_assert_str_eq(two->title, "2 SMs");
    ck_assert_ptr_eq(parent_of(gpu, sm), two);
    ck_assert_ptr_eq(parent_of(gpu, box_of(gpu, "tlb_l2")), gpu);
    const struct box *const unknown = parent_of(gpu, box_of(gpu, "tlb_l3"));
    ck_assert_str_eq(unknown->title, "– SMs");
    ck_assert_int_eq(unknown->mark, MARK_MISSING);
    arena_empty(&arena);
    results_free(&r);
}
END_TEST

/* All SMs, but in doubt; at least one, which says nothing; a cache that nobody
 * has heard of. */
START_TEST(an_owner_that_is_not_sure_is_said)
{
    struct arena arena = {0};
    struct results r = example();
    struct finding *const all = add(&r, "tlb_l2.sms_sharing", 8, "");
    finding_value(all, STATUS_IN_DOUBT, value_number(8));
    finding_because(all, "a check speaks against it");
    struct finding *const one = add(&r, "l1.sms_sharing", 1, "");
    finding_value(one, STATUS_AT_LEAST, value_number(1));
    finding_because(one, "the others were busy");
    add(&r, "l9.size", 4096, "B");
    const struct box *const gpu = machine_boxes(&r, &arena);
    const struct box *const eight = parent_of(gpu, box_of(gpu, "tlb_l2"));
    ck_assert_str_eq(eight->title, "?8 SMs");
    ck_assert_int_eq(eight->mark, MARK_DOUBT);
    ck_assert_str_eq(parent_of(gpu, box_of(gpu, "l1"))->title, "– SMs");
    ck_assert_str_eq(parent_of(gpu, box_of(gpu, "l9"))->title, "– SMs");
    arena_empty(&arena);
    results_free(&r);
}
END_TEST

/* GPC 0 has SMs 0 to 3, of which two are beside the other part of L2. */
START_TEST(sms_stand_in_their_group_beside_their_part)
{
    struct arena arena = {0};
    struct results r = example();
    const struct box *const gpu = machine_boxes(&r, &arena);
    const struct box *near = box_of(gpu, "l2")->first;
    while (strcmp(near->title != NULL ? near->title : "", "near part") != 0)
        near = near->next;
    ck_assert_str_eq(near->first->title, "GPC 0");
    ck_assert_str_eq(near->first->note, "2 of 4 SMs");
    ck_assert_str_eq(near->first->next->note, "1 of 4 SMs");
    ck_assert_str_eq(near->first->next->first->tip,
                     "SM 4, GPC 1, beside part 0 of L2");
    ck_assert_uint_eq(count_kind(near, "each") + count_kind(near, "one"), 3);
    ck_assert_uint_eq(count_kind(near->next, "each"), 5);
    ck_assert_uint_eq(count_kind(gpu, "slice"), 12);
    arena_empty(&arena);
    results_free(&r);
}
END_TEST

/* A report of load alone has not the driver's number of SMs. */
START_TEST(a_list_of_groups_says_how_many_sms_there_are)
{
    struct arena arena = {0};
    struct results r = {0};
    group(&r, "sm.gpc_of_sm", 6, 2);
    const struct box *const gpu = machine_boxes(&r, &arena);
    ck_assert_uint_eq(count_kind(gpu, "each") + count_kind(gpu, "one"), 6);
    ck_assert_uint_eq(count_kind(gpu, "gpc"), 3);
    arena_empty(&arena);
    results_free(&r);
}
END_TEST

START_TEST(a_mark_says_how_far_it_holds)
{
    struct arena arena = {0};
    struct results r = example();
    const struct box *const gpu = machine_boxes(&r, &arena);
    ck_assert_int_eq(box_of(gpu, "l1")->mark, MARK_PLAIN);
    ck_assert_int_eq(box_of(gpu, "const_l15")->mark, MARK_BOUND);
    ck_assert_int_eq(row_of(box_of(gpu, "const_l15"), "size")->mark,
                     MARK_BOUND);
    ck_assert_int_eq(box_of(gpu, "local")->mark, MARK_MISSING);
    ck_assert_int_eq(box_of(gpu, "l2")->mark, MARK_DOUBT);
    ck_assert_int_eq(row_of(box_of(gpu, "l2"), "policy")->mark, MARK_MISSING);
    char *const text = drawn(&r);
    ck_assert_ptr_nonnull(strstr(text, "<g class=\"constant bound\" "
                                       "data-component=\"const_l15\">"));
    ck_assert_ptr_nonnull(
        strstr(text, "<g class=\"data missing\" data-component=\"local\">"));
    ck_assert_ptr_nonnull(
        strstr(text, "<g class=\"l2 doubt\" data-component=\"l2\">"));
    ck_assert_ptr_nonnull(strstr(text, "<g class=\"row missing\">"));
    ck_assert_uint_ge(occurrences(text, "<path class=\"hatch\""), 2);
    free(text);
    arena_empty(&arena);
    results_free(&r);
}
END_TEST

/* With all measured there is no mark, and none is explained. */
START_TEST(what_is_plain_has_no_mark)
{
    struct results r = {0};
    add(&r, "l1.size", 16384, "B");
    add(&r, "l1.sms_sharing", 1, "");
    add(&r, "sm.count", 1, "");
    char *const text = drawn(&r);
    const char *const body = strstr(text, "</style>");
    ck_assert_ptr_null(strstr(body, "hatch"));
    ck_assert_ptr_null(strstr(body, "bound"));
    ck_assert_ptr_null(strstr(body, "doubt"));
    ck_assert_ptr_null(strstr(body, "class=\"key"));
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(a_tool_tip_says_interval_study_and_reason)
{
    struct results r = example();
    char *const text = drawn(&r);
    ck_assert_ptr_nonnull(
        strstr(text, "<title>l1.size: 16 ± 0.6 KiB\n"
                     "interval: 15.62 KiB to 16.6 KiB, confidence 95 %\n"
                     "study: latency</title>"));
    ck_assert_ptr_nonnull(strstr(text, "local.size: not measured: no time"));
    ck_assert_ptr_nonnull(strstr(text, "two ways differ"));
    free(text);
    results_free(&r);
}
END_TEST

static void say_evil(struct results *r)
{
    static const char evil[] =
        "</title></svg><script>\"'&]]>\x1b[2J\xff <a onload=x> "
        "0123456789012345678901234567890123456789012345678901234567890123456789"
        "012345678901234567890123456789012345678901234567890123456789012345678"
        "9";
    results_device(r, "name", value_text(evil));
    results_device(r, "driver", value_text(evil));
    results_device(r, "disturbed", value_text(evil));
    finding_set(results_add(r, "l1.policy", evil), STATUS_MEASURED,
                value_text(evil), evil);
    struct finding *const f = add(r, "l1.size", 5, evil);
    finding_value(f, STATUS_IN_DOUBT, value_number(5));
    finding_because(f, "%s", evil);
    finding_none(results_add(r, "l2.size", evil), "%s", evil);
}

START_TEST(hostile_text_stays_text)
{
    struct results r = example();
    say_evil(&r);
    check_all(&r);
    char *const text = drawn(&r);
    ck_assert_ptr_null(strstr(text, "<script"));
    ck_assert_ptr_null(strstr(text, "<a "));
    ck_assert_ptr_null(strchr(text, '\x1b'));
    ck_assert_uint_eq(occurrences(text, "</svg>"), 1);
    free(text);
    results_free(&r);
}
END_TEST

static void add_list(struct results *r, const char *id, size_t count,
                     double item)
{
    struct value list = value_list();
    for (size_t i = 0; i < count; i++)
        value_push(&list, value_number(item));
    finding_set(results_add(r, id, "placement"), STATUS_MEASURED, list, "");
}

/* Counts that are none, lists that are too long, ranges beyond the last SM: it
 * is drawn without. */
START_TEST(absurd_numbers_are_not_drawn_one_by_one)
{
    static const double counts[] = {0, -3, 0.5, 1e300, INFINITY, 513};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct results r = example();
        add(&r, "sm.count", counts[i], "");
        add(&r, "l2.slices", counts[i], "");
        add(&r, "icache_l0.per_sm", counts[i], "");
        add(&r, "l1.sms_sharing", counts[i], "");
        check_all(&r);
        char *const text = drawn(&r);
        ck_assert_uint_lt(strlen(text), 100000);
        ck_assert_uint_lt(occurrences(text, "class=\"one"), 1);
        free(text);
        results_free(&r);
    }
    struct results r = example();
    add_list(&r, "sm.gpc_of_sm", 8, 1e9);
    add_list(&r, "sm.tpc_of_sm", 10000, 0);
    add_list(&r, "l2.sm_sides", 2, 0);
    check_all(&r);
    results_free(&r);
}
END_TEST

START_TEST(reports_of_nothing_are_drawn)
{
    struct results r = {0}, real = h200();
    results_device(&r, "name", value_text("GPU"));
    for (size_t i = 0; i < real.finding_count; i++)
        finding_none(results_add(&r, real.findings[i]->id, "size"),
                     "the GPU was lost");
    check_all(&r);
    char *const text = drawn(&r);
    ck_assert_ptr_nonnull(strstr(text, "<g class=\"l2 missing\""));
    ck_assert_ptr_nonnull(strstr(text, "<g class=\"data missing\" "
                                       "data-component=\"texture\""));
    ck_assert_ptr_nonnull(strstr(text, "the GPU was lost"));
    free(text);
    results_free(&r);
    results_free(&real);
}
END_TEST

START_TEST(what_does_not_exist_is_not_drawn)
{
    struct results r = example();
    finding_skip(results_add(&r, "readonly.size", "size"), "there is none");
    finding_skip(results_add(&r, "readonly.latency", "size"), "there is none");
    char *const text = drawn(&r);
    ck_assert_ptr_null(strstr(text, "data-component=\"readonly\""));
    free(text);
    results_free(&r);
}
END_TEST

/* All SMs of a GPU with as many as any, in groups of two kinds. */
START_TEST(a_large_gpu_stays_small_and_apart)
{
    struct results r = example(), real = h200();
    add(&r, "sm.count", 512, "");
    group(&r, "sm.gpc_of_sm", 512, 18);
    group(&r, "sm.tpc_of_sm", 512, 2);
    check_all(&r);
    char *const text = drawn(&real);
    ck_assert_uint_eq(occurrences(text, "class=\"each\"") +
                          occurrences(text, "class=\"one\""),
                      132 + 3); /* and the other quarters of an SM */
    ck_assert_uint_lt(strlen(text), 200 << 10);
    free(text);
    results_free(&r);
    results_free(&real);
}
END_TEST

START_TEST(text_that_does_not_fit_is_cut_between_characters)
{
    ck_assert_uint_eq(text_fitting("××", 10, 10), 2);
    ck_assert_uint_eq(text_fitting("××", 10, 100), 4);
    ck_assert_uint_eq(text_fitting("a", 10, 1), 0);
    ck_assert_double_gt(text_extent("WW", 10), text_extent("ii", 10));
}
END_TEST

/* The colour of that name in this part of a style sheet, as three shares. */
static void read_colour(const char *sheet, const char *name, double rgb[3])
{
    char *const word = xasprintf("--%s:#", name);
    const char *const at = strstr(sheet, word);
    unsigned value = 0;
    ck_assert_msg(at != NULL, "no colour %s", name);
    ck_assert_int_eq(sscanf(at + strlen(word), "%6x", &value), 1);
    for (unsigned i = 0; i < 3; i++)
        rgb[i] = (value >> (16 - 8 * i) & 0xff) / 255.0;
    free(word);
}

/* Relative luminance and contrast are those of the W3C's WCAG 2.1. */
static double luminance(const char *sheet, const char *name)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double rgb[3], sum = 0;
    read_colour(sheet, name, rgb);
    for (size_t i = 0; i < 3; i++)
        sum += weights[i] * (rgb[i] <= 0.03928
                                 ? rgb[i] / 12.92
                                 : pow((rgb[i] + 0.055) / 1.055, 2.4));
    return sum;
}

static void check_contrast(const char *sheet, const char *text,
                           const char *const *boxes)
{
    for (; *boxes != NULL; boxes++) {
        const double a = luminance(sheet, text), b = luminance(sheet, *boxes);
        const double contrast = (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
        ck_assert_msg(contrast >= 4.5, "%s on %s: %.2f", text, *boxes,
                      contrast);
    }
}

/* In light, and in dark: whatever stands in a box, and numbers of SMs. */
START_TEST(text_can_be_read_on_every_box)
{
    static const char *const filled[] = {
        "gpu",  "sm",       "memory", "l2",          "half", "sms",
        "gpc",  "group",    "part",   "data",        "path", "shared",
        "code", "constant", "key",    "translation", NULL};
    static const char *const small[] = {"one", "each", NULL};
    struct buf sheet = {0};
    style_write(&sheet);
    const char *const modes[] = {sheet.data, strstr(sheet.data, "@media")};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        check_contrast(modes[i], "ink", filled);
        check_contrast(modes[i], "faint", filled);
        check_contrast(modes[i], "doubt", filled);
        check_contrast(modes[i], "ink", small);
    }
    buf_free(&sheet);
}
END_TEST

START_TEST(the_picture_in_docs_is_of_the_report)
{
    struct buf out = {0};
    struct error err;
    struct results r = h200();
    ASSERT_DONE(report_svg.write(&r, &(struct report_style){0}, &out, &err),
                err);
    testing_document_is("docs/h200.svg", buf_string(&out));
    buf_free(&out);
    results_free(&r);
}
END_TEST

Suite *suite_picture(void)
{
    TCase *tests;
    Suite *const suite = suite_of("picture", 10, &tests);
    tcase_add_test(tests, nothing_lies_on_anything_else);
    tcase_add_test(tests, each_storage_is_there_once);
    tcase_add_test(tests, a_storage_stands_in_what_has_one_of_it);
    tcase_add_test(tests, an_owner_that_is_not_sure_is_said);
    tcase_add_test(tests, sms_stand_in_their_group_beside_their_part);
    tcase_add_test(tests, a_list_of_groups_says_how_many_sms_there_are);
    tcase_add_test(tests, a_mark_says_how_far_it_holds);
    tcase_add_test(tests, what_is_plain_has_no_mark);
    tcase_add_test(tests, a_tool_tip_says_interval_study_and_reason);
    tcase_add_test(tests, hostile_text_stays_text);
    tcase_add_test(tests, absurd_numbers_are_not_drawn_one_by_one);
    tcase_add_test(tests, reports_of_nothing_are_drawn);
    tcase_add_test(tests, what_does_not_exist_is_not_drawn);
    tcase_add_test(tests, a_large_gpu_stays_small_and_apart);
    tcase_add_test(tests, text_that_does_not_fit_is_cut_between_characters);
    tcase_add_test(tests, text_can_be_read_on_every_box);
    tcase_add_test(tests, the_picture_in_docs_is_of_the_report);
    return suite;
}
