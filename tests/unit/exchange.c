/*
 * Formats that others read, each read back by a grammar that was written from
 * its reader's specification:
 *
 *   csv   RFC 4180, section 2
 *   prom  OpenMetrics 1.0, "ABNF" and "Overall Structure"
 *         (github.com/OpenObservability/OpenMetrics,
 * specification/OpenMetrics.md) md    GitHub Flavored Markdown 0.29,
 * section 4.10, with the backslash escapes of section 6.1
 *
 * And what a hostile report must not do in any format.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "finding/axis.h"
#include "finding/curve.h"
#include "report/report.h"
#include "testing.h"

/* ---- reports to write ---------------------------------------------------- */

static void measured(struct results *r, const char *id, double number,
                     const char *unit)
{
    struct finding *const f = results_add(r, id, "test");
    finding_set(f, STATUS_MEASURED, value_number(number), unit);
    finding_interval(f, number - 1, number + 1, 0.95);
    finding_method(f, "Seen. Twice.");
}

static struct value words(const char *const *list)
{
    struct value value = value_list();
    for (; *list != NULL; list++)
        value_push(&value, value_text(*list));
    return value;
}

/* One of each kind of value. */
static struct results plain_report(void)
{
    struct results r = {0};
    results_device(&r, "spec", value_text("cuda:0"));
    results_device(&r, "name", value_text("GPU A"));
    results_device(&r, "uuid", value_text("GPU-1"));
    measured(&r, "l1.size", 16384, "B");
    measured(&r, "l1.latency", 32.06, "cycles");
    measured(&r, "l1.read_bandwidth", 124.2, "B/clk/SM");
    measured(&r, "l2.size_bytes", 1e6, "B");
    finding_set(results_add(&r, "l1.policy", "t"), STATUS_IN_DOUBT,
                value_text("plru"), "");
    finding_set(results_add(&r, "l1.caches_global", "t"), STATUS_MEASURED,
                value_bool(true), "");
    finding_set(results_add(&r, "l2.size", "t"), STATUS_AT_LEAST,
                value_number(1 << 20), "B");
    finding_none(results_add(&r, "l2.sets", "t"),
                 "it was, so to say, \"busy\"");
    finding_skip(results_add(&r, "dsm.latency", "t"), "there is none");
    finding_set(results_add(&r, "l1.shares_with", "t"), STATUS_MEASURED,
                words(TEXTS("texture", "local")), "");
    finding_set(results_add(&r, "l2.shares_with", "t"), STATUS_MEASURED,
                value_list(), "");
    struct value list = value_numbers((double[]){17, 8}, 2);
    value_push(&list, (struct value){0});
    finding_set(results_add(&r, "l1.set_ways", "t"), STATUS_MEASURED, list, "");
    struct value bits = value_list();
    value_push(&bits, value_bits(0x2080));
    value_push(&bits, value_number(8));
    finding_set(results_add(&r, "l1.set_bits", "t"), STATUS_MEASURED, bits, "");
    struct finding *const degrees =
        results_add(&r, "shared.conflict_latency", "t");
    finding_set(degrees, STATUS_MEASURED, value_numbers((double[]){23, 25}, 2),
                "cycles");
    finding_protocol(degrees, "first_degree", value_number(1));
    finding_protocol(degrees, "low", value_numbers((double[]){23, 24.5}, 2));
    finding_protocol(degrees, "high", value_numbers((double[]){23, 25.5}, 2));
    const struct curve_kind kind = {"latency", "bytes", "B", "cycles"};
    struct finding_curve *const c = results_curve(&r, "l1.size", &kind);
    curve_point(c, (struct curve_seen){1024, 32, "chase"});
    curve_point(c, (struct curve_seen){2048, 280.5, "chase"});
    return r;
}

/* What ends strings, cells, lines, elements and labels; what steers terminals,
 * turns text around, is no UTF-8, is a formula in a spreadsheet. */
static const char hostile[] =
    "=\"'|,;\\`*_[x](y)<b>&amp;{}#~$!%\x1b]0;t\a\x1b[2J\x7f\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xff\xc3\r\n# EOF\n\t</script>";

static struct results hostile_report(void)
{
    struct results r = plain_report();
    static const char *const keys[] = {
        "architecture", "driver",   "cuda", "compute_capability",
        "bad key\n",    "bad_key_", hostile};
    for (size_t i = 0; i < r.device_count; i++) {
        value_free(&r.device[i].value);
        r.device[i].value = value_text(hostile);
    }
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        results_device(&r, keys[i], value_text(hostile));
    r.notice = xstrdup(hostile);
    r.version = xstrdup(hostile);
    finding_set(results_add(&r, "l1.policy", hostile), STATUS_MEASURED,
                value_text(hostile), hostile);
    finding_set(results_add(&r, "l1.shares_with", hostile), STATUS_MEASURED,
                words(TEXTS(hostile, "texture", hostile)), hostile);
    struct finding *const f = results_add(&r, "isa.a::b.latency.O3", hostile);
    finding_set(f, STATUS_MEASURED, value_number(NAN), hostile);
    finding_method(f, hostile);
    finding_because(f, "%s", hostile);
    finding_evidence(f, hostile);
    finding_protocol(f, hostile, value_text(hostile));
    measured(&r, "isa.a__b.latency.O3", 4, "info");
    measured(&r, "isa.a:.b.latency.O3", 5, "cycles");
    measured(&r, "isa.a.:b.latency.O3", INFINITY, "cycles");
    measured(&r, "isa.a..b.latency.O3", 1e300, hostile);
    finding_set(results_add(&r, "l1.policy_info", "t"), STATUS_MEASURED,
                value_number(1), "");
    finding_set(results_add(&r, "l1_policy.x", "t"), STATUS_MEASURED,
                value_number(1), "");
    finding_set(results_add(&r, "l1.policy.x", "t"), STATUS_MEASURED,
                value_text("x"), "");
    const struct curve_kind kind = {hostile, hostile, hostile, hostile};
    curve_point(results_curve(&r, "l1.size", &kind),
                (struct curve_seen){1, NAN, hostile});
    return r;
}

static char *written(const char *format, const struct results *const *reports,
                     size_t count)
{
    struct buf out = {0};
    struct error err;
    const struct report_style style = {.tree = true, .verbose = 2};
    const struct report_format *const f = report_format_find(format);
    ck_assert_ptr_nonnull(f);
    ASSERT_DONE(report_write(f, reports, count, &style, &out, &err), err);
    ck_assert_uint_eq(strlen(buf_string(&out)), out.length);
    return buf_take(&out);
}

static char *written_one(const char *format, const struct results *r)
{
    return written(format, &r, 1);
}

/* ---- CSV: RFC 4180, 2 ---------------------------------------------------- */

enum { COLUMNS = 9 };

struct record {
    char *field[COLUMNS];
};

/* field = (escaped / non-escaped); escaped = DQUOTE *(TEXTDATA / COMMA / CR /
 * LF / 2DQUOTE) DQUOTE; non-escaped = *TEXTDATA */
static char *csv_read_field(const char **at)
{
    struct buf field = {0};
    const bool escaped = **at == '"';
    *at += escaped;
    for (; escaped || strchr(",\r\n", **at) == NULL; (*at)++) {
        ck_assert_msg(**at != '\0', "a field does not end");
        ck_assert_msg(escaped || **at != '"', "a quote in a plain field");
        if (**at == '"' && *++*at != '"')
            break;
        buf_append(&field, *at, 1);
    }
    return buf_take(&field);
}

/* record = field *(COMMA field); file = record *(CRLF record) [CRLF] */
static struct record *csv_read(const char *text, size_t *count)
{
    struct record *records = NULL;
    for (*count = 0; *text != '\0'; ++*count) {
        records = xreallocarray(records, *count + 1, sizeof *records);
        for (size_t i = 0; i < COLUMNS; i++) {
            records[*count].field[i] = csv_read_field(&text);
            ck_assert_msg(i + 1 == COLUMNS || *text == ',',
                          "record %zu has %zu fields", *count, i + 1);
            text += i + 1 < COLUMNS;
        }
        ck_assert_msg(strncmp(text, "\r\n", 2) == 0, "record %zu goes on",
                      *count);
        text += 2;
    }
    return records;
}

static void csv_forget(struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < COLUMNS; k++)
            free(records[i].field[k]);
    free(records);
}

static const struct {
    const char *row;
} csv_rows[] = {
    {"GPU A GPU-1|l1.size|||16384|16383|16385|B|measured"},
    {"GPU A GPU-1|l1.latency|||32.06|31.06|33.06|cycles|measured"},
    {"GPU A GPU-1|l1.policy|||plru||||in_doubt"},
    {"GPU A GPU-1|l1.caches_global|||true||||measured"},
    {"GPU A GPU-1|l2.size|||1048576|||B|at_least"},
    {"GPU A GPU-1|l2.sets|||||||not_measured"},
    {"GPU A GPU-1|l1.shares_with|item|1|local||||measured"},
    {"GPU A GPU-1|l2.shares_with|||none||||measured"},
    {"GPU A GPU-1|l1.set_ways|set|0|17||||measured"},
    {"GPU A GPU-1|l1.set_ways|set|2|||||not_measured"},
    {"GPU A GPU-1|shared.conflict_latency|degree|2|25|24.5|25.5|cycles|"
     "measured"},
    {"GPU A GPU-1|l1.set_bits|index_bit|0|7^13||||measured"},
    {"GPU A GPU-1|l1.size:latency|bytes|2048|280.5|||cycles|measured"},
};

START_TEST(csv_has_a_record_a_number)
{
    struct results r = plain_report();
    char *const text = written_one("csv", &r);
    size_t count, found = 0;
    struct record *const records = csv_read(text, &count);
    for (size_t i = 0; i < count; i++) {
        struct buf row = {0};
        for (size_t k = 0; k < COLUMNS; k++)
            buf_printf(&row, "%s%s", k > 0 ? "|" : "", records[i].field[k]);
        found += strcmp(buf_string(&row), csv_rows[_i].row) == 0;
        buf_free(&row);
    }
    ck_assert_msg(found == 1, "%zu of %s in\n%s", found, csv_rows[_i].row,
                  text);
    ck_assert_str_eq(records[0].field[0], "gpu");
    ck_assert_str_eq(records[0].field[8], "status");
    csv_forget(records, count);
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(csv_of_a_hostile_report_is_one_table)
{
    struct results r = hostile_report();
    char *const text = written_one("csv", &r);
    size_t count, rows = 1;
    struct record *const records = csv_read(text, &count);
    for (size_t i = 0; i < r.finding_count; i++)
        rows += r.findings[i]->value.count > 0 ? r.findings[i]->value.count : 1;
    for (size_t i = 0; i < r.curve_count; i++)
        rows += r.curves[i]->count;
    ck_assert_uint_eq(count, rows);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < COLUMNS; k++)
            ck_assert_msg(strchr("=@", records[i].field[k][0]) == NULL ||
                              records[i].field[k][0] == '\0',
                          "a formula: %s", records[i].field[k]);
    csv_forget(records, count);
    free(text);
    results_free(&r);
}
END_TEST

/* ---- OpenMetrics --------------------------------------------------------- */

enum { FAMILIES = 200, SAMPLES = 2000 };

struct exposition {
    const char *at; /* what is to be read */
    char *families[FAMILIES];
    size_t family_count;
    char type[16], unit[256];
    char *samples[SAMPLES]; /* name and labels: no two are the same */
    size_t sample_count;
};

static void om_expect(struct exposition *x, const char *text)
{
    ck_assert_msg(strncmp(x->at, text, strlen(text)) == 0,
                  "\"%s\" should come at: %.120s", text, x->at);
    x->at += strlen(text);
}

static bool om_is_next(const struct exposition *x, const char *text)
{
    return strncmp(x->at, text, strlen(text)) == 0;
}

/* metricname = metricname-initial-char 0*metricname-char; a label's name is the
 * same without ':'. */
static char *om_name(struct exposition *x)
{
    const char *const from = x->at;
    ck_assert_msg(isalpha((unsigned char)*from) || *from == '_',
                  "no name at: %.60s", from);
    while (isalnum((unsigned char)*x->at) || *x->at == '_')
        x->at++;
    return xstrndup(from, (size_t)(x->at - from));
}

/* escaped-string = *escaped-char: BS ("n" / DQUOTE / BS), or any other
 * character but LF, DQUOTE and BS. */
static void om_string(struct exposition *x, char end)
{
    for (; *x->at != end; x->at++) {
        ck_assert_msg(*x->at != '\0' && *x->at != '\n' && *x->at != '"',
                      "a string does not end: %.60s", x->at);
        if (*x->at == '\\') {
            x->at++;
            ck_assert_msg(strchr("n\"\\", *x->at) != NULL && *x->at != '\0',
                          "\\%c is no escape", *x->at);
        }
    }
}

/* labels = "{" [label *(COMMA label)] "}"; names of labels are unique. */
static void om_labels(struct exposition *x)
{
    char *names[64];
    size_t count = 0;
    om_expect(x, "{");
    do {
        x->at += count > 0;
        ck_assert_uint_lt(count, COUNT_OF(names));
        names[count] = om_name(x);
        for (size_t i = 0; i < count; i++)
            ck_assert_str_ne(names[i], names[count]);
        count++;
        om_expect(x, "=\"");
        om_string(x, '"');
        x->at++;
    } while (*x->at == ',');
    om_expect(x, "}");
    while (count > 0)
        free(names[--count]);
}

/* "The combination of MetricName and labels must be unique", "MetricFamily
 * names must be unique", "all metrics of a family in one group". */
static void add_once(char **list, size_t *count, size_t most, char *text)
{
    ck_assert_uint_lt(*count, most);
    for (size_t i = 0; i < *count; i++)
        ck_assert_str_ne(list[i], text);
    list[(*count)++] = text;
}

static void om_sample(struct exposition *x)
{
    const char *const from = x->at;
    const char *const family = x->families[x->family_count - 1];
    char *const name = om_name(x);
    char *const wanted =
        xasprintf("%s%s", family, strcmp(x->type, "info") == 0 ? "_info" : "");
    ck_assert_str_eq(name, wanted);
    om_labels(x);
    add_once(x->samples, &x->sample_count, SAMPLES,
             xstrndup(from, (size_t)(x->at - from)));
    om_expect(x, " ");
    char *end;
    const double number = strtod(x->at, &end);
    ck_assert_msg(end != x->at && isfinite(number), "no number: %.60s", x->at);
    ck_assert_msg(strcmp(x->type, "info") != 0 || number == 1, "an Info is 1");
    x->at = end;
    om_expect(x, "\n");
    free(name);
    free(wanted);
}

/* A descriptor's keyword and the family's name, which must be the one that TYPE
 * began; false if another descriptor comes. */
static bool om_descriptor(struct exposition *x, const char *keyword)
{
    if (!om_is_next(x, keyword))
        return false;
    x->at += strlen(keyword);
    char *const name = om_name(x);
    ck_assert_str_eq(name, x->families[x->family_count - 1]);
    free(name);
    om_expect(x, " ");
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static void om_family(struct exposition *x)
{
    om_expect(x, "# TYPE ");
    add_once(x->families, &x->family_count, FAMILIES, om_name(x));
    ck_assert_int_eq(sscanf(x->at, " %15[a-z]\n", x->type), 1);
    ck_assert(strcmp(x->type, "gauge") == 0 || strcmp(x->type, "info") == 0);
    x->at += strlen(x->type) + 2;
    if (om_descriptor(x, "# UNIT ")) {
        ck_assert_int_eq(sscanf(x->at, "%255[a-zA-Z0-9_]", x->unit), 1);
        x->at += strlen(x->unit);
        om_expect(x, "\n");
        char *const tail = xasprintf("_%s", x->unit);
        ck_assert(ends_with(x->families[x->family_count - 1], tail));
        ck_assert_str_ne(x->type, "info"); /* "unit MUST be empty" */
        free(tail);
    }
    if (om_descriptor(x, "# HELP ")) {
        om_string(x, '\n');
        x->at++;
    }
    while (!om_is_next(x, "#"))
        om_sample(x);
}

/* No name of a family may be that of another one's samples. */
static void om_names_are_apart(const struct exposition *x)
{
    for (size_t i = 0; i < x->family_count; i++)
        for (size_t k = 0; k < x->family_count; k++) {
            char *const sample = xasprintf("%s_info", x->families[i]);
            ck_assert_str_ne(sample, x->families[k]);
            free(sample);
        }
}

/* exposition = metricset "# EOF" [LF] */
static struct exposition om_read(const char *text)
{
    struct exposition x = {.at = text};
    while (om_is_next(&x, "# TYPE "))
        om_family(&x);
    om_expect(&x, "# EOF\n");
    ck_assert_str_eq(x.at, "");
    om_names_are_apart(&x);
    return x;
}

static void om_forget(struct exposition *x)
{
    while (x->family_count > 0)
        free(x->families[--x->family_count]);
    while (x->sample_count > 0)
        free(x->samples[--x->sample_count]);
}

#define OF(id, status)                                                         \
    "{gpu=\"GPU A GPU-1\",id=\"" id "\",status=\"" status "\""
static const char *const om_samples[] = {
    "\nsonde_l1_size_bytes" OF("l1.size", "measured") "} 16384\n",
    "\nsonde_l1_latency_low_cycles" OF("l1.latency", "measured") "} 31.06\n",
    "\nsonde_l1_latency_high_cycles" OF("l1.latency", "measured") "} 33.06\n",
    "\nsonde_l1_read_bandwidth_bytes_per_cycle_per_sm" OF(
        "l1.read_bandwidth", "measured") "} 124.2\n",
    "\nsonde_l2_size_bytes" OF("l2.size", "at_least") "} 1048576\n",
    "\nsonde_l2_size_bytes" OF("l2.size_bytes", "measured") "} 1000000\n",
    "\nsonde_l1_policy_info" OF("l1.policy", "in_doubt") ",value=\"plru\"} 1\n",
    "\nsonde_l1_caches_global" OF("l1.caches_global", "measured") "} 1\n",
    "\nsonde_l1_set_ways" OF("l1.set_ways", "measured") ",set=\"1\"} 8\n",
    "\nsonde_l1_set_bits_info" OF(
        "l1.set_bits", "measured") ",index_bit=\"0\",value=\"7^13\"} 1\n",
    "\nsonde_missing{gpu=\"GPU A GPU-1\",id=\"l1.set_ways\"} 1\n",
    "\nsonde_missing{gpu=\"GPU A GPU-1\",id=\"l2.sets\"} 1\n",
};

START_TEST(openmetrics_has_a_sample_a_number)
{
    struct results r = plain_report();
    char *const text = written_one("prom", &r);
    struct exposition x = om_read(text);
    ck_assert_msg(strstr(text, om_samples[_i]) != NULL, "no %s in\n%s",
                  om_samples[_i], text);
    ck_assert_ptr_null(
        strstr(text, "dsm.latency")); /* there is no such thing */
    om_forget(&x);
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(openmetrics_of_hostile_reports_is_one_exposition)
{
    struct results a = hostile_report(), b = plain_report(),
                   c = hostile_report();
    const struct results *const all[] = {&a, &b, &c};
    char *const text = written("prom", all, 3);
    struct exposition x = om_read(text);
    /* No number of a kind is lost in silence. */
    ck_assert_ptr_nonnull(strstr(text, ",id=\"isa.a.:b.latency.O3\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(text, ",id=\"isa.a::b.latency.O3\"} 1\n"));
    for (size_t i = 0; i < a.finding_count; i++) {
        char *const id = xasprintf(",id=\"%s\"", a.findings[i]->id);
        ck_assert_msg(a.findings[i]->skipped || strstr(text, id) != NULL ||
                          a.findings[i]->value.kind == VALUE_LIST,
                      "nothing of %s", a.findings[i]->id);
        free(id);
    }
    om_forget(&x);
    free(text);
    results_free(&a);
    results_free(&b);
    results_free(&c);
}
END_TEST

/* ---- Markdown: GFM 4.10 -------------------------------------------------- */

/* Cells of a row: bars that no backslash escapes end them; it begins and ends
 * with one. */
static size_t md_cells(const char *row, size_t length)
{
    size_t bars = 0;
    ck_assert_msg(row[0] == '|' && row[length - 1] == '|', "no row: %.*s",
                  (int)length, row);
    for (size_t i = 0; i < length; i++)
        if (row[i] == '\\')
            i++;
        else
            bars += row[i] == '|';
    return bars - 1;
}

/* Outside of code no mark is left that means something (6.1: a backslash
 * before a mark makes it plain). */
static void md_is_plain(const char *line, size_t length)
{
    bool code = false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\')
            i++;
        else if (line[i] == '`')
            code = !code;
        else if (!code)
            ck_assert_msg(strchr("*_[]<>&~$", line[i]) == NULL,
                          "%c means something in: %.*s", line[i], (int)length,
                          line);
    }
    ck_assert(!code);
}

/* A table is a row, a row of ---, and rows of as many cells; lists and headings
 * are lines of their own.  Returns how many rows tables have. */
static size_t md_read(const char *text)
{
    size_t cells = 0, rows = 0, line = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        md_is_plain(text, length);
        if (text[0] != '|') {
            cells = line = 0;
            ck_assert_msg(length == 0 || strchr("#-", text[0]) != NULL ||
                              text[0] == '=' || text[0] == '\\',
                          "what is %.*s", (int)length, text);
        } else {
            const size_t here = md_cells(text, length);
            ck_assert_uint_eq(line == 0 ? here : cells, here);
            ck_assert_int_eq(line == 1, strncmp(text, "|---|", 5) == 0);
            cells = here;
            rows += line++ > 1;
        }
        text += length + (text[length] == '\n');
    }
    return rows;
}

START_TEST(markdown_has_a_row_a_finding)
{
    struct results r = plain_report(), h = hostile_report();
    char *text = written_one("md", &r);
    ck_assert_uint_eq(md_read(text), r.finding_count);
    ck_assert_ptr_nonnull(
        strstr(text, "\n| `l1.size` | 16 KiB | 16 KiB to 16 KiB, confidence "));
    ck_assert_ptr_nonnull(
        strstr(text, "\n| `l2.size` | ≥ 1 MiB |  | at\\_least"));
    ck_assert_ptr_nonnull(strstr(text, "\n| `l2.sets` |  |  | not\\_measured | "
                                       "it was, so to say, \"busy\" |\n"));
    free(text);
    text = written_one("md", &h);
    ck_assert_uint_eq(md_read(text), h.finding_count);
    free(text);
    const struct results *const both[] = {&h, &r};
    text = written("md", both, 2);
    ck_assert_uint_eq(md_read(text), h.finding_count);
    free(text);
    results_free(&r);
    results_free(&h);
}
END_TEST

/* What a format makes of it; "" where it says that it cannot. */
static char *written_or_none(const struct report_format *f,
                             const struct results *r)
{
    struct buf out = {0};
    struct error err;
    const struct report_style style = {.tree = true};
    if (report_write(f, &r, 1, &style, &out, &err) != 0)
        buf_clear(&out);
    return buf_take(&out);
}

/* True if the text begins with this word. */
static bool is_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(text, word, length) == 0 &&
           !isalnum((unsigned char)text[length]) && text[length] != '_';
}

/* ---- all formats --------------------------------------------------------- */

/* Of what is in a text a terminal shows all: no control but the end of a line,
 * no sign of direction, nothing that is no character. */
static void all_is_shown(const char *format, const char *text)
{
    while (*text != '\0') {
        const struct text_character c = text_character(text);
        ck_assert_msg(c.shown || *text == '\n' || strncmp(text, "\r\n", 2) == 0,
                      "%s holds %02x at: %.60s", format, (unsigned char)*text,
                      text);
        text += c.bytes;
    }
}

START_TEST(no_format_lets_what_steers_a_terminal_through)
{
    struct results r = hostile_report();
    const struct results *const one = &r;
    for (size_t i = 0; report_formats[i] != NULL; i++) {
        struct buf out = {0};
        struct error err = {0};
        const struct report_style style = {.tree = true, .verbose = 2};
        /* What it cannot hold it may refuse, in a sentence. */
        if (report_write(report_formats[i], &one, 1, &style, &out, &err) != 0)
            all_is_shown(report_formats[i]->name, err.text);
        all_is_shown(report_formats[i]->name, buf_string(&out));
        buf_free(&out);
    }
    results_free(&r);
}
END_TEST

START_TEST(a_format_takes_several_or_says_why_not)
{
    struct results a = plain_report(), b = plain_report();
    const struct results *const both[] = {&a, &b};
    free(b.device[2].value.text);
    b.device[2].value.text = xstrdup("GPU-2");
    for (size_t i = 0; report_formats[i] != NULL; i++) {
        struct buf out = {0};
        struct error err;
        const int code = report_write(report_formats[i], both, 2,
                                      &(struct report_style){0}, &out, &err);
        /* Of several the picture draws links alone, and there are none. */
        if (report_formats[i]->write_several == NULL ||
            report_formats[i] == &report_svg) {
            ck_assert_int_eq(code, ERR_USAGE);
            ck_assert_ptr_nonnull(strstr(err.text, "uuid: GPU-1 and GPU-2"));
        } else {
            ck_assert_int_eq(code, 0);
            ck_assert_ptr_nonnull(strstr(buf_string(&out), "GPU-1"));
            ck_assert_ptr_nonnull(strstr(buf_string(&out), "GPU-2"));
        }
        buf_free(&out);
    }
    results_free(&a);
    results_free(&b);
}
END_TEST

/* What json writes of several is read back, each as it was. */
START_TEST(json_of_several_is_read_back)
{
    struct results a = plain_report(), b = plain_report(), *list;
    const struct results *const both[] = {&a, &b};
    size_t count;
    struct error err;
    char *const text = written("json", both, 2);
    ASSERT_DONE(report_read_all(text, "a.json", &list, &count, &err), err);
    ck_assert_uint_eq(count, 2);
    const struct results *const again[] = {&list[0], &list[1]};
    char *const twice = written("json", again, 2);
    ck_assert_str_eq(text, twice);
    free(twice);
    free(text);
    results_free(&list[0]);
    results_free(&list[1]);
    free(list);
    ASSERT_FAILS(report_read_all("[]", "a.json", &list, &count, &err), ERR_FILE,
                 err, "without a report");
    ck_assert_uint_eq(count, 0);
    ASSERT_FAILS(report_read_all("[{}]", "a.json", &list, &count, &err),
                 ERR_FILE, err, "\"schema\": is missing");
    ck_assert_uint_eq(count, 1);
    results_free(&list[0]);
    free(list);
    results_free(&a);
    results_free(&b);
}
END_TEST

/* NaN and infinity are no numbers of JSON (RFC 8259, 6), CSV and text: said to
 * be missing, and never written. */
START_TEST(what_is_no_number_is_said_to_be_missing)
{
    static const double numbers[] = {NAN, INFINITY, -INFINITY};
    struct results r = {0}, *list;
    size_t count;
    struct error err;
    results_device(&r, "spec", value_text("cuda:0"));
    measured(&r, "l1.latency", numbers[_i], "cycles");
    for (size_t i = 0; report_formats[i] != NULL; i++) {
        char *const text = written_or_none(report_formats[i], &r);
        char *lower = text;
        for (char *c = text; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        for (; (lower = strpbrk(lower, "ni")) != NULL; lower++)
            ck_assert_msg(lower > text && isalpha((unsigned char)lower[-1])
                              ? true
                              : !is_word(lower, "nan") &&
                                    !is_word(lower, "inf"),
                          "%s: %.40s", report_formats[i]->name, lower);
        free(text);
    }
    char *const json = written_one("json", &r);
    ASSERT_DONE(report_read_all(json, "a.json", &list, &count, &err), err);
    ck_assert_int_eq(list->findings[0]->status, STATUS_NOT_MEASURED);
    ck_assert_str_eq(list->findings[0]->because, "it came out as no number");
    results_free(list);
    free(list);
    free(json);
    results_free(&r);
}
END_TEST

/* The longest extension holds, and a name is more than one. */
static const struct {
    const char *path, *format;
} paths[] = {
    {"a.json", "json"},
    {"a/b.c/gpu.md", "md"},
    {"a.costs.csv", "costs.csv"},
    {"costs.csv", "csv"},
    {"a.txt", "txt"},
    {".json", NULL},
    {"a/.json", NULL},
    {"json", NULL},
    {"a.json/b", NULL},
    {"a.JSON", NULL},
    {"", NULL},
};

START_TEST(a_path_means_the_format_of_its_longest_extension)
{
    const struct report_format *const f = report_format_of_path(paths[_i].path);
    if (paths[_i].format == NULL)
        ck_assert_ptr_null(f);
    else
        ck_assert_str_eq(f->name, paths[_i].format);
}
END_TEST

Suite *suite_exchange(void)
{
    TCase *tests;
    Suite *const s = suite_of("exchange", 10, &tests);
    tcase_add_loop_test(tests, csv_has_a_record_a_number, 0,
                        COUNT_OF(csv_rows));
    tcase_add_test(tests, csv_of_a_hostile_report_is_one_table);
    tcase_add_loop_test(tests, openmetrics_has_a_sample_a_number, 0,
                        COUNT_OF(om_samples));
    tcase_add_test(tests, openmetrics_of_hostile_reports_is_one_exposition);
    tcase_add_test(tests, markdown_has_a_row_a_finding);
    tcase_add_test(tests, no_format_lets_what_steers_a_terminal_through);
    tcase_add_test(tests, a_format_takes_several_or_says_why_not);
    tcase_add_test(tests, json_of_several_is_read_back);
    tcase_add_loop_test(tests, what_is_no_number_is_said_to_be_missing, 0, 3);
    tcase_add_loop_test(tests, a_path_means_the_format_of_its_longest_extension,
                        0, COUNT_OF(paths));
    return s;
}
