/* Experiments as text: what is taken, its canonical form, what is refused. */
#include "probe/experiment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/probe.h"
#include "probe/walk/pointer_chase.h"
#include "probe/run/snippet_kernel.h"
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
    {"chase", "chase"},
    {"chase bytes=4096 space=global", "chase"},
    {"chase stride=256 op=ca", "chase op=ca stride=256"},
    {"chase bytes=0x4000", "chase bytes=16384"},
    {"chase bytes=16K", "chase bytes=16384"},
    {"chase bytes=16KiB", "chase bytes=16384"},
    {"  chase\tbytes=16384\n", "chase bytes=16384"},
    {"chase list=0x10:2:1K,4096:1:8", "chase list=16:2:1024,4096:1:8"},
    {"chase list=", "chase"},
    {"chase bytes=1T", "chase bytes=1099511627776"},
    {"isa row='add.u32'", "isa"},
    {"isa 'row=mul.hi.u32'", "isa row=mul.hi.u32"},
    {"isa values='r0=7'", "isa values=r0=7"},
    {"isa values='r0=7 r1=0x10'", "isa values='r0=7 r1=0x10'"},
    {"isa values=' r0=7\t\n r1=8 '", "isa values='r0=7 r1=8 '"},
    {"isa snippet='not.b32 %r0, %r0;' level=0",
     "isa snippet='not.b32 %r0, %r0;' level=0"},
    {"isa snippet=not.b32' '%r0,' '%r0;", "isa snippet='not.b32 %r0, %r0;'"},
    {"isa snippet='a;' setup=''", "isa snippet=a;"},
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
    const struct pointer_chase *const chase = e.own;
    ck_assert_uint_eq(chase->plan.bytes, 65536);
    ck_assert_uint_eq(chase->plan.stride, 128);
    ck_assert_str_eq(chase->op, "cg");
    experiment_free(&e);
}
END_TEST

/* Of each kind one: what a probe finds in its struct. */
struct fields {
    uint64_t wide;
    unsigned narrow;
    bool flag, second;
    enum { RED, GREEN, BLUE } colour;
    const char *word, *text;
    struct segments list;
};
static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct param fields_params[] = {
    NUMBER(struct fields, wide, "0", 0, UINT64_MAX, "a number"),
    NUMBER(struct fields, narrow, "1", 0, UINT32_MAX, "a smaller one"),
    NUMBER(struct fields, flag, "0", 0, 1, "yes or no"),
    CHOICE(struct fields, second, "red", colours, "one of two"),
    CHOICE(struct fields, colour, "red", colours, "one of three"),
    CHOICE(struct fields, word, "red", colours, "the word itself"),
    TEXT(struct fields, text, "none", "any"),
    PARAM_ROW("segments", struct fields, list, PARAM_LIST, "", 0, 0, NULL,
              "a list"),
    REPEATS(9, "of the core's"),
    {0},
};
static const char *const no_columns[] = {NULL};
static const struct probe fields_probe = {
    .name = "fields",
    .params = fields_params,
    .bytes = sizeof(struct fields),
    .columns = no_columns,
};

START_TEST(values_go_to_the_fields_of_the_probe)
{
    struct experiment e;
    struct error err;
    ASSERT_DONE(experiment_parse_for(&fields_probe,
                                     "wide=1G narrow=7 flag=1 second=green "
                                     "colour=blue word=green text='a b' "
                                     "segments=0:2:32,64:1:0 repeats=3",
                                     &e, &err),
                err);
    const struct fields *const f = e.own;
    ck_assert_uint_eq(f->wide, 1 << 30);
    ck_assert_uint_eq(f->narrow, 7);
    ck_assert(f->flag && f->second);
    ck_assert_int_eq(f->colour, BLUE);
    ck_assert_str_eq(f->word, "green");
    ck_assert_str_eq(f->text, "a b");
    ck_assert_uint_eq(f->list.count, 2);
    ck_assert_uint_eq(f->list.at[1].start, 64);
    experiment_free(&e);
}
END_TEST

/* A field that is not of the probe's struct would be written beyond it; a
 * number that it cannot hold would be another. */
START_TEST(every_parameter_fits_its_field)
{
    for (size_t i = 0; probe_table[i] != NULL; i++)
        for (const struct param *p = probe_table[i]->params; p->name != NULL;
             p++) {
            ck_assert_msg(p->offset + p->bytes <= probe_table[i]->bytes ||
                              p->bytes == 0,
                          "%s %s", probe_table[i]->name, p->name);
            if (p->kind == PARAM_NUMBER && p->bytes > 0)
                ck_assert_msg(p->most <= (p->bytes == 8   ? UINT64_MAX
                                          : p->bytes == 4 ? UINT32_MAX
                                                          : 1),
                              "%s %s", probe_table[i]->name, p->name);
        }
}
END_TEST

START_TEST(quotes_keep_a_value_together)
{
    struct experiment e =
        parsed("isa snippet='add.u32 %r0, %r0, 1;' values='r0=7 r1=8' warps=2");
    const struct snippet_kernel *const timed = e.own;
    ck_assert_str_eq(timed->text, "add.u32 %r0, %r0, 1;");
    ck_assert_str_eq(timed->values, "r0=7 r1=8");
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
    const struct segments *const segments =
        &((const struct pointer_chase *)e.own)->plan.list;
    const struct segment *const list = segments->at;
    ck_assert_uint_eq(segments->count, 2);
    ck_assert_uint_eq(list[0].start, 0);
    ck_assert_uint_eq(list[0].count, 4);
    ck_assert_uint_eq(list[0].step, 128);
    ck_assert_uint_eq(list[1].start, 1 << 20);
    ck_assert_uint_eq(list[1].count, 2);
    ck_assert_uint_eq(list[1].step, 8);
    experiment_free(&e);
}
END_TEST

START_TEST(no_list_has_no_segments)
{
    struct experiment e = parsed("chase");
    const struct pointer_chase *const chase = e.own;
    ck_assert_uint_eq(chase->plan.list.count, 0);
    experiment_free(&e);
}
END_TEST

/* An end that is the default is left out, as any default is. */
static void assert_end(const struct param *p, uint64_t end)
{
    char *const value = xasprintf("%" PRIu64, end);
    char *const text = xasprintf("clock %s=%s", p->name, value);
    assert_canonical(text, strcmp(value, p->fallback) == 0 ? "clock" : text);
    free(value);
    free(text);
}

START_TEST(the_ends_of_a_range_are_in_it)
{
    for (const struct param *p = probe_find("clock")->params; p->name; p++) {
        assert_end(p, p->least);
        assert_end(p, p->most);
    }
}
END_TEST

static const struct {
    const char *text, *word;
} refused[] = {
    {"", "there is no probe ''"},
    {"chaze", "did you mean 'chase'?"},
    {"qwertyuiop", "`sonde list` shows them"},
    {"chase byts=4096", "did you mean 'bytes'?"},
    {"chase =4096", "no parameter ''"},
    {"clock stride=1", "`sonde explain clock` lists them"},
    {"chase bytes", "'bytes' is not a parameter of the form name=value"},
    {"chase bytes=", "not a whole number"},
    {"chase bytes=many", "not a whole number"},
    {"chase bytes=-1", "not a whole number"},
    {"chase bytes=1.5", "not a whole number"},
    {"chase bytes=99999999999999999999", "not a whole number"},
    {"chase bytes=7", "out of range: 8 to 1099511627776"},
    {"chase sms=1025", "out of range: 1 to 1024"},
    {"chase bytes=4096 stride=128 bytes=8192", "bytes is given twice"},
    {"chase bytes=4096 bytes=4096", "bytes is given twice"},
    {"chase space=glob",
     "is not one of global, readonly, atomic, texture, constant, local, shared"},
    {"chase space=", "is not one of"},
    {"chase list=5", "not START:COUNT:STEP"},
    {"chase list=0:4", "not START:COUNT:STEP"},
    {"chase list=0:4:128:9", "not START:COUNT:STEP"},
    {"chase list=0:4:128,", "not START:COUNT:STEP"},
    {"chase list=,0:4:128", "not START:COUNT:STEP"},
    {"chase list=0:4:128,,0:1:8", "not START:COUNT:STEP"},
    {"chase list=a:b:c", "not START:COUNT:STEP"},
    {"isa snippet=add.u32 %r0", "'%r0' is not a parameter of the form"},
    {"isa snippet='a;' snippet='a;'", "snippet is given twice"},
    {"isa level=5", "level=5 is out of range: 0 to 4"},
    {"isa form=fold", "not one of guard, swap, plain"},
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
    tcase_add_test(t, values_go_to_the_fields_of_the_probe);
    tcase_add_test(t, every_parameter_fits_its_field);
    tcase_add_test(t, quotes_keep_a_value_together);
    tcase_add_test(t, a_parameter_is_there_or_not);
    tcase_add_test(t, a_list_gives_its_segments);
    tcase_add_test(t, no_list_has_no_segments);
    tcase_add_test(t, the_ends_of_a_range_are_in_it);
    tcase_add_loop_test(t, what_is_wrong_is_named, 0, COUNT_OF(refused));
    tcase_add_test(t, what_is_refused_holds_nothing);
    return suite;
}
