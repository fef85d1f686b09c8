/* Experiments as text: what is taken, its canonical form, what is refused. */
#include "probe/experiment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/probe.h"
#include "testing.h"

static struct experiment parsed(const char *text)
{
    struct experiment e;
    struct error err;
    ASSERT_DONE(experiment_parse(text, &e, &err), err);
    return e;
}

static void assert_canonical(const char *text, const char *canonical)
{
    struct experiment e = parsed(text);
    char *const got = experiment_text(&e);
    ck_assert_str_eq(got, canonical);
    free(got);
    experiment_free(&e);
}

static const struct {
    const char *text, *canonical;
} forms[] = {
    {"chase",                                   "chase"                          },
    {"chase bytes=4096 space=global",           "chase"                          },
    {"chase stride=256 op=ca",                  "chase op=ca stride=256"         },
    {"chase bytes=0x4000",                      "chase bytes=16384"              },
    {"chase bytes=16K",                         "chase bytes=16384"              },
    {"chase bytes=16KiB",                       "chase bytes=16384"              },
    {"  chase\tbytes=16384\n",                  "chase bytes=16384"              },
    {"chase list=0x10:2:1K,4096:1:8",           "chase list=16:2:1024,4096:1:8"  },
    {"chase list=",                             "chase"                          },
    {"chase bytes=1T",                          "chase bytes=1099511627776"      },
    {"isa row='add.u32'",                       "isa"                            },
    {"isa 'row=mul.hi.u32'",                    "isa row=mul.hi.u32"             },
    {"isa values='r0=7'",                       "isa values=r0=7"                },
    {"isa values='r0=7 r1=0x10'",               "isa values='r0=7 r1=0x10'"      },
    {"isa values=' r0=7\t\n r1=8 '",            "isa values='r0=7 r1=8 '"        },
    {"isa snippet='not.b32 %r0, %r0;' level=0",
     "isa snippet='not.b32 %r0, %r0;' level=0"                                   },
    {"isa snippet=not.b32' '%r0,' '%r0;",       "isa snippet='not.b32 %r0, %r0;'"},
    {"isa snippet='a;' setup=''",               "isa snippet=a;"                 },
};

START_TEST(canonical_form_is_one)
{
    assert_canonical(forms[_i].text, forms[_i].canonical);
}
END_TEST

START_TEST(canonical_form_is_its_own)
{
    assert_canonical(forms[_i].canonical, forms[_i].canonical);
}
END_TEST

/* Recordings name experiments so: a default may not be written out. */
START_TEST(every_probe_by_default_is_its_name)
{
    for (size_t i = 0; probe_table[i] != NULL; i++)
        assert_canonical(probe_table[i]->name, probe_table[i]->name);
}
END_TEST

START_TEST(values_are_read)
{
    struct experiment e = parsed("chase bytes=64K op=cg");
    ck_assert_uint_eq(experiment_number(&e, "bytes"), 65536);
    ck_assert_uint_eq(experiment_number(&e, "stride"), 128);
    ck_assert_str_eq(experiment_word(&e, "op"), "cg");
    experiment_free(&e);
}
END_TEST

START_TEST(quotes_keep_a_value_together)
{
    struct experiment e =
        parsed("isa snippet='add.u32 %r0, %r0, 1;' values='r0=7 r1=8' warps=2");
    ck_assert_str_eq(experiment_word(&e, "snippet"), "add.u32 %r0, %r0, 1;");
    ck_assert_str_eq(experiment_word(&e, "values"), "r0=7 r1=8");
    ck_assert_uint_eq(experiment_number(&e, "warps"), 2);
    experiment_free(&e);
}
END_TEST

START_TEST(a_parameter_is_there_or_not)
{
    struct experiment e = parsed("clock");
    ck_assert(experiment_has(&e, "spin"));
    ck_assert(!experiment_has(&e, "stride"));
    experiment_free(&e);
}
END_TEST

START_TEST(a_list_gives_its_segments)
{
    struct experiment e = parsed("chase list=0:4:128,1M:2:8");
    size_t count;
    struct segment *const list = experiment_list(&e, "list", &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(list[0].start, 0);
    ck_assert_uint_eq(list[0].count, 4);
    ck_assert_uint_eq(list[0].step, 128);
    ck_assert_uint_eq(list[1].start, 1 << 20);
    ck_assert_uint_eq(list[1].count, 2);
    ck_assert_uint_eq(list[1].step, 8);
    free(list);
    experiment_free(&e);
}
END_TEST

START_TEST(no_list_has_no_segments)
{
    struct experiment e = parsed("chase");
    size_t count;
    struct segment *const list = experiment_list(&e, "list", &count);
    ck_assert_uint_eq(count, 0);
    free(list);
    experiment_free(&e);
}
END_TEST

START_TEST(the_ends_of_a_range_are_in_it)
{
    for (const struct param *p = probe_find("clock")->params; p->name; p++) {
        char *const least = xasprintf("clock %s=%" PRIu64, p->name, p->least);
        char *const most = xasprintf("clock %s=%" PRIu64, p->name, p->most);
        assert_canonical(least, least);
        assert_canonical(most, most);
        free(least);
        free(most);
    }
}
END_TEST

static const struct {
    const char *text, *word;
} refused[] = {
    {"",                                       "there is no probe ''"                             },
    {"chaze",                                  "did you mean 'chase'?"                            },
    {"qwertyuiop",                             "`sonde list` shows them"                          },
    {"chase byts=4096",                        "did you mean 'bytes'?"                            },
    {"chase =4096",                            "no parameter ''"                                  },
    {"clock stride=1",                         "`sonde explain clock` lists them"                 },
    {"chase bytes",                            "'bytes' is not a parameter of the form name=value"},
    {"chase bytes=",                           "not a whole number"                               },
    {"chase bytes=many",                       "not a whole number"                               },
    {"chase bytes=-1",                         "not a whole number"                               },
    {"chase bytes=1.5",                        "not a whole number"                               },
    {"chase bytes=99999999999999999999",       "not a whole number"                               },
    {"chase bytes=7",                          "out of range: 8 to 1099511627776"                 },
    {"chase sms=1025",                         "out of range: 1 to 1024"                          },
    {"chase bytes=4096 stride=128 bytes=8192", "bytes is given twice"                             },
    {"chase bytes=4096 bytes=4096",            "bytes is given twice"                             },
    {"chase space=glob",
     "is not one of global, readonly, texture, constant, local, shared"                           },
    {"chase space=",                           "is not one of"                                    },
    {"chase list=5",                           "not START:COUNT:STEP"                             },
    {"chase list=0:4",                         "not START:COUNT:STEP"                             },
    {"chase list=0:4:128:9",                   "not START:COUNT:STEP"                             },
    {"chase list=0:4:128,",                    "not START:COUNT:STEP"                             },
    {"chase list=,0:4:128",                    "not START:COUNT:STEP"                             },
    {"chase list=0:4:128,,0:1:8",              "not START:COUNT:STEP"                             },
    {"chase list=a:b:c",                       "not START:COUNT:STEP"                             },
    {"isa snippet=add.u32 %r0",                "'%r0' is not a parameter of the form"             },
    {"isa snippet='a;' snippet='a;'",          "snippet is given twice"                           },
    {"isa level=5",                            "level=5 is out of range: 0 to 4"                  },
    {"isa form=fold",                          "not one of guard, swap, plain"                    },
};

START_TEST(what_is_wrong_is_named)
{
    struct experiment e;
    struct error err = {0};
    ASSERT_FAILS(experiment_parse(refused[_i].text, &e, &err), ERR_USAGE, err,
                 refused[_i].word);
}
END_TEST

START_TEST(what_is_refused_holds_nothing)
{
    struct experiment e;
    struct error err;
    ck_assert_int_eq(experiment_parse("chase op=ca bytes=7", &e, &err),
                     ERR_USAGE);
    for (size_t i = 0; i < PARAMS_MAX; i++)
        ck_assert_ptr_null(e.value[i]);
}
END_TEST

Suite *suite_experiment(void)
{
    TCase *t;
    Suite *const suite = suite_of("experiment", 20, &t);
    tcase_add_loop_test(t, canonical_form_is_one, 0, COUNT_OF(forms));
    tcase_add_loop_test(t, canonical_form_is_its_own, 0, COUNT_OF(forms));
    tcase_add_test(t, every_probe_by_default_is_its_name);
    tcase_add_test(t, values_are_read);
    tcase_add_test(t, quotes_keep_a_value_together);
    tcase_add_test(t, a_parameter_is_there_or_not);
    tcase_add_test(t, a_list_gives_its_segments);
    tcase_add_test(t, no_list_has_no_segments);
    tcase_add_test(t, the_ends_of_a_range_are_in_it);
    tcase_add_loop_test(t, what_is_wrong_is_named, 0, COUNT_OF(refused));
    tcase_add_test(t, what_is_refused_holds_nothing);
    return suite;
}
