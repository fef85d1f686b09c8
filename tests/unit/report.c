/* Reports: what is written as JSON, what is read back and what is refused, and
 * what a person sees as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ptx/instruction.h"
#include "finding/curve.h"
#include "report/headline.h"
#include "report/report.h"
#include "testing.h"

static struct finding *measured(struct results *r, const char *id,
                                double number, const char *unit)
{
    struct finding *const f = results_add(r, id, "latency");
    finding_set(f, STATUS_MEASURED, value_number(number), unit);
    return f;
}

static struct finding *reported(struct results *r, const char *id,
                                double number, const char *unit)
{
    struct finding *const f = results_add(r, id, "properties");
    finding_set(f, STATUS_REPORTED, value_number(number), unit);
    return f;
}

static void add_l1(struct results *r)
{
    struct finding *const f = measured(r, "l1.latency", 32.06, "cycles");
    finding_interval(f, 32, 32.1, 0.99);
    finding_method(f, "a chain of loads");
    finding_protocol(f, "load", value_text("ld.global.ca.u64"));
    finding_protocol(f, "warm", value_bool(true));
    finding_evidence(f, "chase space=global op=ca bytes=4096 stride=128");
    measured(r, "l1.size", 16384, "B");
}

static void add_bounds(struct results *r)
{
    struct finding *f = results_add(r, "const_l15.size", "size");
    finding_set(f, STATUS_AT_LEAST, value_number(65536), "B");
    finding_because(f, "a module may hold 64 KiB of constants");
    f = results_add(r, "l1.policy", "policy");
    finding_none(f, "the budget was spent");
    f = results_add(r, "tlb_l2.set_ways", "tlb");
    struct value ways = value_list();
    value_push(&ways, value_number(17));
    value_push(&ways, value_number(8));
    finding_set(f, STATUS_DERIVED, ways, "");
}

/* A report with something of everything. */
static struct results example(void)
{
    struct results r = {0};
    r.version = xstrdup("0.1.0");
    r.command = xcalloc(1, sizeof *r.command);
    r.command[r.command_count++] = xstrdup("sonde");
    results_device(&r, "spec", value_text("sim:k20c"));
    results_device(&r, "name", value_text("Tesla K20c"));
    results_device(&r, "compute_capability", value_text("3.5"));
    results_run(&r, "seed", value_number(7));
    results_run(&r, "simulated", value_bool(true));
    reported(&r, "sm.count", 13, "");
    reported(&r, "clock.sm", 1e9, "Hz");
    reported(&r, "memory.size", 5368709120.0, "B");
    add_l1(&r);
    add_bounds(&r);
    return r;
}

static char *written(const struct report_format *format,
                     const struct results *r, struct report_style style)
{
    struct error err;
    struct buf out = {0};
    ck_assert_int_eq(format->write(r, &style, &out, &err), 0);
    return buf_take(&out);
}

static void assert_says(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "\"%s\" is not in:\n%s", words,
                  text);
}

static void assert_is_silent(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) == NULL, "\"%s\" is in:\n%s", words,
                  text);
}

/* ---- JSON ---- */

static const char example_json[] =
    "{\n"
    "  \"schema\": \"sonde-report-2\",\n"
    "  \"sonde\": {\n"
    "    \"version\": \"0.1.0\",\n"
    "    \"command\": [\n"
    "      \"sonde\"\n"
    "    ]\n"
    "  },\n"
    "  \"run\": {\n"
    "    \"seed\": 7,\n"
    "    \"simulated\": true\n"
    "  },\n"
    "  \"device\": {\n"
    "    \"spec\": \"sim:k20c\",\n"
    "    \"name\": \"Tesla K20c\",\n"
    "    \"compute_capability\": \"3.5\"\n"
    "  },\n"
    "  \"findings\": {\n"
    "    \"sm.count\": {\n"
    "      \"value\": 13,\n"
    "      \"status\": \"reported\",\n"
    "      \"study\": \"properties\"\n"
    "    },\n"
    "    \"clock.sm\": {\n"
    "      \"value\": 1000000000,\n"
    "      \"unit\": \"Hz\",\n"
    "      \"status\": \"reported\",\n"
    "      \"study\": \"properties\"\n"
    "    },\n"
    "    \"memory.size\": {\n"
    "      \"value\": 5368709120,\n"
    "      \"unit\": \"B\",\n"
    "      \"status\": \"reported\",\n"
    "      \"study\": \"properties\"\n"
    "    },\n"
    "    \"l1.latency\": {\n"
    "      \"value\": 32.06,\n"
    "      \"unit\": \"cycles\",\n"
    "      \"status\": \"measured\",\n"
    "      \"interval\": [\n"
    "        32,\n"
    "        32.1\n"
    "      ],\n"
    "      \"confidence\": 0.99,\n"
    "      \"method\": \"a chain of loads\",\n"
    "      \"protocol\": {\n"
    "        \"load\": \"ld.global.ca.u64\",\n"
    "        \"warm\": true\n"
    "      },\n"
    "      \"study\": \"latency\",\n"
    "      \"evidence\": [\n"
    "        \"chase space=global op=ca bytes=4096 stride=128\"\n"
    "      ]\n"
    "    },\n"
    "    \"l1.size\": {\n"
    "      \"value\": 16384,\n"
    "      \"unit\": \"B\",\n"
    "      \"status\": \"measured\",\n"
    "      \"study\": \"latency\"\n"
    "    },\n"
    "    \"const_l15.size\": {\n"
    "      \"value\": 65536,\n"
    "      \"unit\": \"B\",\n"
    "      \"status\": \"at_least\",\n"
    "      \"study\": \"size\",\n"
    "      \"because\": \"a module may hold 64 KiB of constants\"\n"
    "    },\n"
    "    \"l1.policy\": {\n"
    "      \"status\": \"not_measured\",\n"
    "      \"study\": \"policy\",\n"
    "      \"because\": \"the budget was spent\"\n"
    "    },\n"
    "    \"tlb_l2.set_ways\": {\n"
    "      \"value\": [\n"
    "        17,\n"
    "        8\n"
    "      ],\n"
    "      \"axis\": {\n"
    "        \"name\": \"set\",\n"
    "        \"values\": [\n"
    "          0,\n"
    "          1\n"
    "        ]\n"
    "      },\n"
    "      \"status\": \"derived\",\n"
    "      \"study\": \"tlb\"\n"
    "    }\n"
    "  }\n"
    "}\n";

START_TEST(json_is_the_document_of_the_schema)
{
    struct results r = example();
    char *const json = written(&report_json, &r, (struct report_style){0});
    ck_assert_str_eq(json, example_json);
    free(json);
    results_free(&r);
}
END_TEST

START_TEST(json_that_is_read_is_written_the_same)
{
    struct results r = {0};
    struct error err;
    ASSERT_DONE(report_read(example_json, "a.json", &r, &err), err);
    char *const json = written(&report_json, &r, (struct report_style){0});
    ck_assert_str_eq(json, example_json);
    free(json);
    results_free(&r);
}
END_TEST

/* Numbers, and how JSON has them: whole, or with six digits. */
static const struct {
    double number;
    const char *json;
} numbers[] = {
    {0,                  "\"value\": 0,"               },
    {-0.0,               "\"value\": 0,"               },
    {32.0,               "\"value\": 32,"              },
    {32.0 + 1e-9,        "\"value\": 32,"              },
    {96.18 / 3,          "\"value\": 32.06,"           },
    {0.1 + 0.2,          "\"value\": 0.3,"             },
    {1.0 / 3,            "\"value\": 0.333333,"        },
    {99999.94,           "\"value\": 99999.9,"         },
    {123456.78,          "\"value\": 123457,"          },
    {4123456789012.5,    "\"value\": 4123456789012,"   },
    {9007199254740992.0, "\"value\": 9007199254740992,"},
    {-16384,             "\"value\": -16384,"          },
};

static void add_cost(struct results *r, const char *instruction,
                     const char *attribute)
{
    char *const id = xasprintf("isa.%s.%s", instruction, attribute);
    measured(r, id, 4, "cycles");
    free(id);
}

/* Expected: a report of any instruction is read.  Buggy result: "is no id of
 * the form component.attribute" for those whose PTX has a "::". */
START_TEST(json_of_every_instruction_is_read)
{
    struct results r = {0}, back = {0};
    struct error err;
    for (const struct instruction *i = instruction_table; i->name != NULL;
         i++) {
        add_cost(&r, i->name, "latency.O0");
        add_cost(&r, i->name, "throughput");
    }
    char *const text = written(&report_json, &r, (struct report_style){0});
    ASSERT_DONE(report_read(text, "report.json", &back, &err), err);
    ck_assert_uint_eq(back.finding_count, r.finding_count);
    for (size_t i = 0; i < r.finding_count; i++)
        ck_assert_str_eq(back.findings[i]->id, r.findings[i]->id);
    free(text);
    results_free(&back);
    results_free(&r);
}
END_TEST

START_TEST(json_numbers_are_whole_or_have_six_digits)
{
    struct results r = {0};
    measured(&r, "l1.latency", numbers[_i].number, "");
    char *const json = written(&report_json, &r, (struct report_style){0});
    assert_says(json, numbers[_i].json);
    free(json);
    results_free(&r);
}
END_TEST

START_TEST(json_numbers_survive_reading)
{
    struct results r = {0}, back = {0};
    struct error err;
    measured(&r, "l1.latency", numbers[_i].number, "");
    char *const once = written(&report_json, &r, (struct report_style){0});
    ASSERT_DONE(report_read(once, "a.json", &back, &err), err);
    char *const twice = written(&report_json, &back, (struct report_style){0});
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
    results_free(&r);
    results_free(&back);
}
END_TEST

START_TEST(json_is_utf8_even_if_a_word_is_not)
{
    struct results r = {0}, back = {0};
    struct error err;
    results_device(&r, "spec", value_text("sim:\xff.json"));
    char *const json = written(&report_json, &r, (struct report_style){0});
    ASSERT_DONE(report_read(json, "a.json", &back, &err), err);
    ck_assert_str_eq(back.device[0].value.text, "sim:?.json");
    free(json);
    results_free(&r);
    results_free(&back);
}
END_TEST

START_TEST(json_shows_what_steers_a_terminal_in_escapes)
{
    static const char name[] = "\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\xa1é";
    struct results r = {0}, back = {0};
    struct error err;
    results_device(&r, "spec", value_text("sim:x"));
    results_device(&r, "name", value_text(name));
    char *const json = written(&report_json, &r, (struct report_style){0});
    assert_says(json, "\"\\u007f\\u009b\\u202e\\udb40\\udc61é\"");
    ASSERT_DONE(report_read(json, "a.json", &back, &err), err);
    ck_assert_str_eq(back.device[1].value.text, name);
    free(json);
    results_free(&r);
    results_free(&back);
}
END_TEST

static const char old_json[] =
    "{\"schema\": \"sonde-report-1\", \"sonde\": {\"version\": \"0.1.0\", "
    "\"command\": []}, \"device\": {\"name\": \"A\", \"driver\": \"13.0\", "
    "\"simulated\": true}, \"findings\": {\"l1.size\": {\"value\": 1, "
    "\"status\": \"measured\", \"later\": {}}}, \"future\": []}";

/* Version 1 had no run, and called the version of CUDA the driver; what a later
 * one adds is skipped. */
START_TEST(reports_of_other_versions_are_read)
{
    struct results r = {0};
    struct error err;
    ASSERT_DONE(report_read(old_json, "old.json", &r, &err), err);
    char *const text = written(&report_text, &r, (struct report_style){0});
    char *const json = written(&report_json, &r, (struct report_style){0});
    assert_says(text, "SIMULATED");
    assert_says(text, "CUDA 13.0");
    assert_says(json, "\"sonde-report-2\"");
    assert_says(json, "\"cuda\": \"13.0\"");
    assert_is_silent(json, "later");
    ck_assert_uint_eq(r.device_count, 2);
    free(text);
    free(json);
    results_free(&r);
}
END_TEST

/* ---- what is refused ---- */

#define HEAD         "{\"schema\": \"sonde-report-1\", \"sonde\": {}, \"device\": {},\n"
#define ONE(finding) HEAD "\"findings\": {\n\"l1.size\": " finding "}}"

static const struct {
    const char *json, *says;
} refused[] = {
    {"",                                                                    "line 1: not a report in JSON"         },
    {"{\n\"schema\": \n!}",                                                 "line 3: not a report"                 },
    {"[]",                                                                  "should be an object"                  },
    {"{}",                                                                  "key \"schema\": is missing"           },
    {"{\"schema\": \"sonde-report-9\", \"sonde\": {}, \"device\": {}, "
     "\"findings\": {}}",                                              "is of a newer sonde"                  },
    {"{\"schema\": \"sonde-report-\", \"sonde\": {}, \"device\": {}, "
     "\"findings\": {}}",                                              "should be \"sonde-report-2\""         },
    {HEAD "\"findings\": []}",                                              "key \"findings\": should be an object"},
    {HEAD "\"findings\": {\"size\": {}}}",                                  "component.attribute"                  },
    {HEAD "\"findings\": {\"l1.si ze\": {}}}",                              "component.attribute"                  },
    {HEAD "\"findings\": {\"l1.\": {}}}",                                   "component.attribute"                  },
    {ONE("3"),                                                              "line 3: finding \"l1.size\""          },
    {ONE("{}"),                                                             "\"status\": is missing"               },
    {ONE("{\"status\": \"measurd\", \"value\": 1}"),                        "should be one of"                     },
    {ONE("{\"status\": 7, \"value\": 1}"),                                  "should be one of"                     },
    {ONE("{\"status\": \"measured\"}"),                                     "\"value\": is missing"                },
    {ONE("{\"status\": \"not_measured\", \"value\": 1}"),
     "what was not measured has none"                                                                              },
    {ONE("{\"status\": \"measured\", \"value\": null}"),                    "key \"value\""                        },
    {ONE("{\"status\": \"measured\", \"value\": [[[1]]]}"),                   "key \"value\""                        },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"value\": 2}"),
     "duplicate"                                                                                                   },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"interval\": [2, 1]}"),
     "the lower first"                                                                                             },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"interval\": 1}"),
     "the lower first"                                                                                             },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"confidence\": 1.5}"),
     "from 0 to 1"                                                                                                 },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"unit\": 1}"),
     "key \"unit\": should be a string"                                                                            },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"evidence\": [1]}"),
     "key \"evidence\""                                                                                            },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"evidence\": \"a\"}"),
     "should be a list of strings"                                                                                 },
    {ONE("{\"status\": \"measured\", \"value\": 1, \"protocol\": []}"),
     "key \"protocol\""                                                                                            },
    {ONE("{\"status\": \"measured\", \"value\": 1, "
         "\"protocol\": {\"load\": {}}}"),
     "key \"load\""                                                                                                },
    {HEAD "\"findings\": {}, \"curves\": []}",                              "key \"curves\": should be an object"  },
    {HEAD "\"findings\": {}, \"curves\": {\"l1.size\": 1}}",                "should be a list of curves"           },
    {HEAD "\"findings\": {}, \"curves\": {\"l1.size\": [{\"x\": {}}]}}",    "key \"name\": is missing"             },
    {HEAD "\"findings\": {}, \"curves\": {\"l1.size\": [{\"name\": \"a\", "
          "\"x\": {\"values\": [1, null]}, \"y\": {\"values\": [1, 2]}}]}}",
     "should be a list of numbers"                                                                                 },
    {HEAD "\"findings\": {}, \"curves\": {\"l1.size\": [{\"name\": \"a\", "
          "\"x\": {\"values\": [1]}, \"y\": {\"values\": [1, 2]}}]}}",
     "not as many values of x as of y"                                                                             },
};

START_TEST(read_refuses_what_is_no_report)
{
    struct results r = {0};
    struct error err;
    ASSERT_FAILS(report_read(refused[_i].json, "a.json", &r, &err), ERR_FILE,
                 err, refused[_i].says);
    ck_assert_int_eq(strncmp(err.text, "a.json: ", 8), 0);
    results_free(&r);
}
END_TEST

/* The report as JSON, which is the same when it is read and written again, and
 * as text after that; the caller frees both and `r` is ended. */
static char *written_again(struct results *r, char **text)
{
    struct results back = {0};
    struct error err;
    char *const once = written(&report_json, r, (struct report_style){0});
    ASSERT_DONE(report_read(once, "a.json", &back, &err), err);
    char *const twice = written(&report_json, &back, (struct report_style){0});
    *text = written(&report_text, &back, (struct report_style){0});
    ck_assert_str_eq(once, twice);
    free(twice);
    results_free(&back);
    results_free(r);
    return once;
}

/* A bit of its own, and one of two that are XORed. */
START_TEST(an_index_of_xors_is_read_again_and_shown)
{
    struct results r = {0};
    struct value bits = value_list(), pair = value_list();
    value_push(&pair, value_number(8));
    value_push(&pair, value_number(12));
    value_push(&bits, value_number(7));
    value_push(&bits, pair);
    results_device(&r, "spec", value_text("sim:k20c"));
    finding_set(results_add(&r, "l1.set_bits", "structure"), STATUS_MEASURED,
                bits, "");
    char *text;
    char *const once = written_again(&r, &text);
    assert_says(text, "7, 8^12");
    free(once);
    free(text);
}
END_TEST

/* Expected: what a list lacks is null.  Buggy result: the word "none" among
 * numbers, "1170, none cycles", and null was not read again. */
START_TEST(a_list_may_lack_items)
{
    struct results r = {0};
    struct value cycles = value_list();
    value_push(&cycles, (struct value){0});
    value_push(&cycles, value_number(1170));
    value_push(&cycles, (struct value){0});
    finding_set(results_add(&r, "memory.patterns_ca", "patterns"),
                STATUS_MEASURED, cycles, "cycles");
    char *text;
    char *const once = written_again(&r, &text);
    assert_says(once, "null,\n        1170,\n        null");
    assert_says(text, "  hit behind a miss of TLB L1 1170 cycles\n");
    free(once);
    free(text);
}
END_TEST

/* ---- text ---- */

static const char example_tree[] =
    "Tesla K20c (sim:k20c)\n"
    "SIMULATED: these are the numbers of a simulated GPU, not of one in this "
    "machine\n"
    "compute capability 3.5, 13 SMs, SM clock 1 GHz\n"
    "\n"
    "SM\n"
    "│\n"
    "├─ constant L1.5\n"
    "│     size                ≥ 64 KiB: a module may hold 64 KiB of "
    "constants\n"
    "│\n"
    "└─ L1 cache\n"
    "   │  size                16 KiB\n"
    "   │  policy              not measured: the budget was spent\n"
    "   │  latency             32.06 cycles (32.1 ns)\n"
    "   │\n"
    "   └─ memory\n"
    "      │  size             5 GiB (reported)\n"
    "      │\n"
    "      └─ TLB L2\n"
    "            set ways      17, 8 (derived)\n";

START_TEST(text_shows_the_hierarchy_as_a_tree)
{
    struct results r = example();
    char *const text =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    ck_assert_str_eq(text, example_tree);
    free(text);
    results_free(&r);
}
END_TEST

/* Texture loads end in L1: what they have in common with it is said once. */
START_TEST(paths_of_one_storage_are_told_with_it)
{
    struct results r = {0};
    struct value storage = value_list();
    value_push(&storage, value_text("l1"));
    const struct report_style style = {.tree = true, .verbose = REPORT_TREE};
    const char *const same[] = {"l1.line", "texture.line"};
    for (size_t i = 0; i < 2; i++)
        finding_set(results_add(&r, same[i], "line"), STATUS_MEASURED,
                    value_number(128), "B");
    finding_set(results_add(&r, "texture.latency", "latency"), STATUS_MEASURED,
                value_number(85), "cycles");
    finding_none(results_add(&r, "texture.sets", "structure"), "why");
    finding_set(results_add(&r, "texture.shares_with", "sharing"),
                STATUS_MEASURED, storage, "");
    char *const text = written(&report_text, &r, style);
    const char *const l1 = strstr(text, "L1 cache");
    ck_assert_ptr_nonnull(l1);
    ck_assert_ptr_nonnull(strstr(l1, "texture: latency"));
    ck_assert_ptr_null(strstr(text, "texture cache"));
    ck_assert_ptr_null(strstr(text, "texture: line"));
    ck_assert_ptr_null(strstr(text, "sets"));
    free(text);
    results_free(&r);
}
END_TEST

static void share(struct results *r, const char *id, const char *with)
{
    struct value storage = value_list();
    value_push(&storage, value_text(with));
    finding_set(results_add(r, id, "sharing"), STATUS_MEASURED, storage, "");
}

/* Code in the first cache of constants: what lies behind it is not lost with
 * it, and hangs where it would. */
START_TEST(code_in_a_cache_of_constants_is_told_with_it)
{
    struct results r = {0};
    measured(&r, "const_l1.size", 2048, "B");
    measured(&r, "icache_l0.size", 1024, "B");
    measured(&r, "icache_l1.size", 2048, "B");
    measured(&r, "icache_l1.line", 128, "B");
    share(&r, "icache_l1.shares_with", "const_l1");
    measured(&r, "icache_l15.size", 131072, "B");
    char *const text =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    ck_assert_str_eq(text, "unnamed GPU\n"
                           "\n"
                           "SM\n"
                           "│\n"
                           "├─ constant L1\n"
                           "│     size                2 KiB\n"
                           "│     instructions: line  128 B\n"
                           "│     instructions: same storage as const_l1\n"
                           "│\n"
                           "└─ instruction L0\n"
                           "   │  size                1 KiB\n"
                           "   │\n"
                           "   └─ instruction L1.5\n"
                           "         size             128 KiB\n");
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_without_a_tree_is_one_finding_a_line)
{
    struct results r = example();
    char *const text = written(&report_text, &r, (struct report_style){0});
    assert_says(text, "\nsm.count         13 (reported)\n");
    assert_says(text, "\nl1.latency       32.06 cycles (32.1 ns)\n");
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_in_ascii_is_ascii)
{
    struct results r = example();
    struct finding *const f = measured(&r, "l2.latency", 280, "cycles");
    finding_interval(f, 270, 285, 0.9);
    finding_because(f, "2 × “far” → 鲸");
    char *const text =
        written(&report_text, &r,
                (struct report_style){
                    .tree = true, .verbose = REPORT_TREE, .ascii = true});
    for (const char *c = text; *c != '\0'; c++)
        ck_assert_int_lt((unsigned char)*c, 0x80);
    assert_says(text, "`- L1 cache");
    assert_says(text, ">= 64 KiB");
    assert_says(text, "280 +- 10 cycles");
    assert_says(text, "2 x \"far\" -> ?");
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_has_colours_only_when_asked)
{
    struct results r = example();
    char *const plain =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    char *const color =
        written(&report_text, &r,
                (struct report_style){
                    .tree = true, .verbose = REPORT_TREE, .color = true});
    assert_is_silent(plain, "\033");
    assert_says(color, "\033[1mTesla K20c\033[0m");
    free(plain);
    free(color);
    results_free(&r);
}
END_TEST

START_TEST(text_lets_no_control_character_through)
{
    struct results r = {0};
    results_device(&r, "name",
                   value_text("a\033[2Jb\xc2\x9b"
                              "c\td\ne"));
    struct finding *const f = results_add(&r, "l1.size", "size");
    finding_none(f, "x\033]0;y\a\x7f\r\nz");
    char *const text =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    assert_says(text, "a\\x1b[2Jb\\x9bc d e\n");
    assert_says(text, "x\\x1b]0;y\\x07\\x7f  z\n");
    free(text);
    results_free(&r);
}
END_TEST

/* Columns of the widest line, a character each. */
static size_t widest(const char *text)
{
    size_t columns = 0, most = 0;
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            columns = 0;
        else
            columns += ((unsigned char)*text & 0xc0) != 0x80;
        most = columns > most ? columns : most;
    }
    return most;
}

START_TEST(text_wraps_long_reasons_and_long_words)
{
    struct results r = {0};
    char words[601], word[301];
    for (size_t i = 0; i < sizeof words - 1; i++)
        words[i] = i % 7 == 6 ? ' ' : 'w';
    words[sizeof words - 1] = '\0';
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    finding_none(results_add(&r, "l1.size", "size"), "%s", words);
    finding_none(results_add(&r, "l2.size", "size"), "%s", word);
    char *const text =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    ck_assert_uint_le(widest(text), 100);
    ck_assert_uint_gt(widest(text), 90);
    free(text);
    results_free(&r);
}
END_TEST

/* Expected: a list without spaces is cut between its items.  Buggy result: in a
 * number, "98-10" and "3". */
START_TEST(text_wraps_a_list_between_items)
{
    struct results r = {0};
    struct buf list = {0};
    for (int i = 100; i < 160; i++)
        buf_printf(&list, "%s%d", i > 100 ? "," : "", i);
    finding_set(results_add(&r, "l2.sm_sides", "partitions"), STATUS_MEASURED,
                value_text(buf_string(&list)), "");
    char *const text = written(&report_text, &r, (struct report_style){0});
    char *line = text, *end = strchr(strstr(text, "l2.sm_sides"), '\n');
    for (; end[1] != '\0'; line = end + 1, end = strchr(line, '\n'))
        ck_assert_int_eq(end[-1], ',');
    ck_assert_ptr_ne(line, text);
    ck_assert_uint_le(widest(text), 100);
    buf_free(&list);
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_survives_an_absurdly_long_name)
{
    struct results r = {0};
    char id[300];
    memset(id, 'i', sizeof id);
    memcpy(id, "l1.", 3);
    id[sizeof id - 1] = '\0';
    measured(&r, id, 1, "");
    char *const tree =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    char *const list = written(&report_text, &r, (struct report_style){0});
    assert_says(tree, "iii 1\n");
    assert_says(list, "iii 1\n");
    free(tree);
    free(list);
    results_free(&r);
}
END_TEST

START_TEST(text_verbose_says_how_a_number_came_about)
{
    struct results r = example();
    char *const text = written(
        &report_text, &r,
        (struct report_style){.tree = true, .verbose = REPORT_EVIDENCE});
    assert_says(text, "interval: 32 cycles to 32.1 cycles, confidence 99 %");
    assert_says(text, "method: a chain of loads");
    assert_says(text, "protocol: load ld.global.ca.u64, warm yes");
    assert_says(text, "evidence: chase space=global op=ca bytes=4096");
    free(text);
    results_free(&r);
}
END_TEST

static size_t times(const char *text, const char *words)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; count++)
        at += strlen(words);
    return count;
}

/* How many lines of each kind the findings need that stand below the head; and
 * that what stands in them is there. */
struct notes {
    size_t findings, methods, protocols, evidence;
};

static struct notes notes_of(const struct results *r, const char *text)
{
    struct notes n = {0};
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct finding *const f = r->findings[i];
        if (headline_says(f))
            continue;
        char *const id = xasprintf(" id: %s\n", f->id);
        ck_assert_msg(times(text, id) == 1, "%s: %zu times", f->id,
                      times(text, id));
        free(id);
        for (size_t e = 0; e < f->evidence_count; e++)
            assert_says(text, f->evidence[e]);
        n.findings++;
        n.methods += f->method != NULL;
        n.protocols += f->protocol_count > 0;
        n.evidence += f->evidence_count;
    }
    return n;
}

/* What -vv prints of a GPU: each finding by its id, with its study, method,
 * protocol and evidence.  Nothing wraps in so wide a page. */
START_TEST(text_with_evidence_tells_all_of_every_finding)
{
    struct results r = {0};
    struct error err = {0};
    char *const json = testing_document("results/h200.json");
    ASSERT_DONE(report_read(json, "h200", &r, &err), err);
    free(json);
    struct report_style style = {
        .tree = true, .verbose = REPORT_EVIDENCE, .width = 1 << 20};
    char *const text = written(&report_text, &r, style);
    const struct notes n = notes_of(&r, text);
    ck_assert_uint_ge(n.findings, 200);
    ck_assert_uint_eq(times(text, " study: "), n.findings);
    ck_assert_uint_eq(times(text, " method: "), n.methods);
    ck_assert_uint_eq(times(text, " protocol: "), n.protocols);
    ck_assert_uint_eq(times(text, " evidence: "), n.evidence);
    style.verbose = REPORT_EVIDENCE - 1;
    char *const less = written(&report_text, &r, style);
    ck_assert_uint_eq(times(less, " evidence: ") + times(less, " id: "), 0);
    free(less);
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_shows_components_and_attributes_that_nobody_told_it_of)
{
    struct results r = {0};
    measured(&r, "warp_drive.flux", 3, "cycles");
    measured(&r, "l1.zeta", 1, "");
    measured(&r, "l1.alpha", 2, "");
    measured(&r, "l1.latency_far", 9, "cycles");
    char *const text =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    ck_assert_str_eq(text, "unnamed GPU\n"
                           "\n"
                           "SM\n"
                           "│\n"
                           "└─ L1 cache\n"
                           "      latency far   9 cycles\n"
                           "      alpha         2\n"
                           "      zeta          1\n"
                           "\n"
                           "warp drive\n"
                           "   flux             3 cycles\n");
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_says_one_reason_once)
{
    struct results r = {0};
    finding_none(results_add(&r, "l1.size", "a"), "loads pass it by");
    finding_none(results_add(&r, "l1.line", "a"), "loads pass it by");
    finding_none(results_add(&r, "l1.ways", "a"), "the budget was spent");
    char *const text =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    assert_says(text, "ways          not measured: the budget was spent\n");
    assert_says(text, "not measured  size, line: loads pass it by\n");
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_runs_the_limits_of_the_driver_together)
{
    struct results r = {0};
    reported(&r, "l2.size_reported", 52428800, "B");
    reported(&r, "l2.persisting", 1048576, "B");
    reported(&r, "block.max_threads", 1024, "threads");
    char *const text =
        written(&report_text, &r,
                (struct report_style){.tree = true, .verbose = REPORT_TREE});
    assert_says(text, "the driver says size 50 MiB, persisting 1 MiB\n");
    assert_says(text, "\nblock\n   the driver says   max threads 1024\n");
    free(text);
    results_free(&r);
}
END_TEST

/* A value, and the text that a person sees. */
static const struct {
    double value;
    const char *unit;
    double low, high, confidence;
    const char *text;
} shown[] = {
    {216 * 1024, "B",      0,        0,        -1,   " 216 KiB\n"                             },
    {1536,       "B",      0,        0,        -1,   " 1.5 KiB\n"                             },
    {1000,       "B",      0,        0,        -1,   " 1000 B\n"                              },
    {62914560,   "B",      58720256, 64000000, -1,   " 60 ± 4 MiB\n"                         },
    {4.8e12,     "B/s",    0,        0,        -1,   " 4.8 TB/s\n"                            },
    {1980e6,     "Hz",     0,        0,        -1,   " 1.98 GHz\n"                            },
    {280.4,      "cycles", 280.3,    280.5,    0.99, " 280.4 cycles\n"                        },
    {280.4,      "cycles", 276,      284,      0.9,  " 280.4 ± 4.4 cycles, confidence 90 %\n"},
    {655.25,     "cycles", 0,        0,        -1,   " 655.2 cycles\n"                        },
    {0.0625,     "",       0,        0,        -1,   " 0.0625\n"                              },
    {2147483647, "blocks", 0,        0,        -1,   " 2147483647 blocks\n"                   },
};

START_TEST(text_uses_units_that_people_use)
{
    struct results r = {0};
    struct finding *const f =
        measured(&r, "l2.thing", shown[_i].value, shown[_i].unit);
    if (shown[_i].high > 0)
        finding_interval(f, shown[_i].low, shown[_i].high,
                         shown[_i].confidence);
    char *const text = written(&report_text, &r, (struct report_style){0});
    assert_says(text, shown[_i].text);
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_times_cycles_by_the_clock_that_was_measured)
{
    struct results r = {0};
    reported(&r, "clock.sm", 2e9, "Hz");
    measured(&r, "clock.measured", 1e9, "Hz");
    measured(&r, "l1.latency", 30, "cycles");
    char *const text = written(&report_text, &r, (struct report_style){0});
    assert_says(text, "30 cycles (30 ns)\n");
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(text_shows_costs_by_degree_at_powers_of_two)
{
    struct results r = {0};
    struct value costs = value_list();
    for (int degree = 1; degree <= 9; degree++)
        value_push(&costs, value_number(21.06 + 2 * degree));
    finding_set(results_add(&r, "shared.conflict_latency", "banks"),
                STATUS_MEASURED, costs, "cycles");
    char *const text = written(&report_text, &r, (struct report_style){0});
    ck_assert_ptr_nonnull(
        strstr(text, "1-way 23, 2-way 25, 4-way 29, 8-way 37 cycles\n"));
    free(text);
    results_free(&r);
}
END_TEST

/* As much below as above would be wrong where the doubt lies below. */
START_TEST(a_doubt_that_lies_below_is_a_range)
{
    struct results r = {0};
    struct finding *const f = measured(&r, "l1.latency", 23, "cycles");
    f->status = STATUS_IN_DOUBT;
    finding_interval(f, 0, 24, 0.95);
    finding_because(f, "some are late");
    char *const text = written(&report_text, &r, (struct report_style){0});
    assert_says(text, "23 cycles; in doubt, 0 cycles to 24 cycles: some are");
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(what_is_in_doubt_is_said_to_be_and_survives_reading)
{
    struct results r = {0}, back = {0};
    struct error err;
    double number;
    struct finding *const f = measured(&r, "l2.size", 1000, "B");
    f->status = STATUS_IN_DOUBT;
    finding_interval(f, 900, 1050, -1);
    finding_because(f, "two ways differ");
    char *const json = written(&report_json, &r, (struct report_style){0});
    assert_says(json, "\"status\": \"in_doubt\"");
    ASSERT_DONE(report_read(json, "report.json", &back, &err), err);
    char *const text = written(&report_text, &back, (struct report_style){0});
    assert_says(text, "; in doubt: two ways differ");
    ck_assert(!finding_number(back.findings[0], &number));
    free(text);
    free(json);
    results_free(&back);
    results_free(&r);
}
END_TEST

START_TEST(text_has_one_unit_for_a_list_of_rates)
{
    struct results r = {0};
    struct value rates = value_list();
    value_push(&rates, value_number(50e9));
    value_push(&rates, value_number(4.73e12));
    finding_set(results_add(&r, "memory.read_bandwidth_by_sms", "bandwidth"),
                STATUS_MEASURED, rates, "B/s");
    char *const text = written(&report_text, &r, (struct report_style){0});
    ck_assert_ptr_nonnull(strstr(text, "0.05, 4.73 TB/s\n"));
    free(text);
    results_free(&r);
}
END_TEST

static struct finding_curve *latency_curve(struct results *r)
{
    static const struct curve_kind latency = {"latency", "bytes", "B",
                                              "cycles"};
    return results_curve(r, "l1.size", &latency);
}

START_TEST(curves_are_in_order_and_thinned)
{
    struct results r = {0};
    enum { MANY = 1000 };
    for (int i = MANY; i > 0; i--)
        curve_point(latency_curve(&r), (struct curve_seen){i, 2 * i, "chase"});
    curve_point(latency_curve(&r),
                (struct curve_seen){MANY, 7, "chase bytes=1000"});
    curve_point(latency_curve(&r), (struct curve_seen){0, 7, NULL});
    curve_point(latency_curve(&r), (struct curve_seen){MANY + 9, NAN, "x"});
    results_settle_curves(&r);
    const struct finding_curve *const c = r.curves[0];
    ck_assert_uint_eq(r.curve_count, 1);
    ck_assert_uint_eq(c->count, CURVE_POINTS);
    ck_assert_double_eq(c->x[0], 1);
    ck_assert_double_eq(c->x[CURVE_POINTS - 1], MANY);
    ck_assert_double_eq(c->y[CURVE_POINTS - 1], 7);
    for (size_t i = 1; i < c->count; i++)
        ck_assert_double_lt(c->x[i - 1], c->x[i]);
    ck_assert_str_eq(c->evidence, "chase bytes=1000");
    results_free(&r);
}
END_TEST

START_TEST(curves_of_what_is_told_survive_reading)
{
    static const struct curve_kind untold = {"latency", "places", "", ""};
    struct results r = example();
    curve_point(latency_curve(&r),
                (struct curve_seen){1024, 32.5, "chase bytes=1024"});
    curve_point(latency_curve(&r),
                (struct curve_seen){2048, 33, "chase bytes=2048"});
    curve_point(results_curve(&r, "tlb.levels", &untold),
                (struct curve_seen){1, 2, "visit"});
    char *text, *const json = written_again(&r, &text);
    assert_says(json, "\"curves\": {\n    \"l1.size\": [");
    assert_says(json, "chase bytes=2048");
    assert_is_silent(json, "tlb.levels");
    free(json);
    free(text);
}
END_TEST

START_TEST(formats_are_found_by_name)
{
    ck_assert_ptr_eq(report_format_find("txt"), &report_text);
    ck_assert_ptr_eq(report_format_find("json"), &report_json);
    ck_assert_ptr_null(report_format_find("jso"));
}
END_TEST

Suite *suite_report(void)
{
    TCase *tests;
    Suite *const suite = suite_of("report", 10, &tests);
    tcase_add_test(tests, json_is_the_document_of_the_schema);
    tcase_add_test(tests, json_that_is_read_is_written_the_same);
    tcase_add_test(tests, json_of_every_instruction_is_read);
    tcase_add_loop_test(tests, json_numbers_are_whole_or_have_six_digits, 0,
                        COUNT_OF(numbers));
    tcase_add_loop_test(tests, json_numbers_survive_reading, 0,
                        COUNT_OF(numbers));
    tcase_add_test(tests, json_is_utf8_even_if_a_word_is_not);
    tcase_add_test(tests, json_shows_what_steers_a_terminal_in_escapes);
    tcase_add_test(tests, an_index_of_xors_is_read_again_and_shown);
    tcase_add_test(tests, a_list_may_lack_items);
    tcase_add_test(tests, reports_of_other_versions_are_read);
    tcase_add_loop_test(tests, read_refuses_what_is_no_report, 0,
                        COUNT_OF(refused));
    tcase_add_test(tests, text_shows_the_hierarchy_as_a_tree);
    tcase_add_test(tests, text_has_one_unit_for_a_list_of_rates);
    tcase_add_test(tests, a_doubt_that_lies_below_is_a_range);
    tcase_add_test(tests, what_is_in_doubt_is_said_to_be_and_survives_reading);
    tcase_add_test(tests, paths_of_one_storage_are_told_with_it);
    tcase_add_test(tests, code_in_a_cache_of_constants_is_told_with_it);
    tcase_add_test(tests, text_wraps_a_list_between_items);
    tcase_add_test(tests, text_without_a_tree_is_one_finding_a_line);
    tcase_add_test(tests, text_in_ascii_is_ascii);
    tcase_add_test(tests, text_has_colours_only_when_asked);
    tcase_add_test(tests, text_lets_no_control_character_through);
    tcase_add_test(tests, text_wraps_long_reasons_and_long_words);
    tcase_add_test(tests, text_survives_an_absurdly_long_name);
    tcase_add_test(tests, text_verbose_says_how_a_number_came_about);
    tcase_add_test(tests, text_with_evidence_tells_all_of_every_finding);
    tcase_add_test(tests,
                   text_shows_components_and_attributes_that_nobody_told_it_of);
    tcase_add_test(tests, text_says_one_reason_once);
    tcase_add_test(tests, text_runs_the_limits_of_the_driver_together);
    tcase_add_loop_test(tests, text_uses_units_that_people_use, 0,
                        COUNT_OF(shown));
    tcase_add_test(tests, text_times_cycles_by_the_clock_that_was_measured);
    tcase_add_test(tests, text_shows_costs_by_degree_at_powers_of_two);
    tcase_add_test(tests, curves_are_in_order_and_thinned);
    tcase_add_test(tests, curves_of_what_is_told_survive_reading);
    tcase_add_test(tests, formats_are_found_by_name);
    return suite;
}
