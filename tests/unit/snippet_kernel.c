/*
 * Kernels of timed copies: what stands in their text, what the registers begin
 * with, and how the assembler's complaint about such a kernel becomes one
 * about the snippet.
 */
#include "probe/run/snippet_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "testing.h"

static const struct device_info volta = {.cc_major = 7};

#define ADD "snippet='add.u32 %r0, %r0, 7;'"

static struct experiment parsed(const char *text)
{
    struct experiment e;
    struct error err;
    ASSERT_DONE(experiment_parse(text, &e, &err), err);
    return e;
}

/* The kernel of an experiment; the caller frees. */
static char *kernel_of(const char *text)
{
    struct experiment e = parsed(text);
    struct buf ptx = {0};
    struct error err;
    ASSERT_DONE(probe_kernel(&e, &volta, &ptx, &err), err);
    experiment_free(&e);
    return buf_take(&ptx);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

/* Where a word stands first; the test fails if it does not. */
static size_t place_of(const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    ck_assert_msg(at != NULL, "\"%s\" is not there", word);
    return (size_t)(at - text);
}

/* How often a word stands in the kernel of an experiment. */
static const struct {
    const char *text, *word;
    size_t count;
} kernels[] = {
  /* n copies and 3n of them */
    {"isa " ADD " copies=5",                                                   " add.u32 %r0, %r0, 7;\n",     20},
    {"isa " ADD " copies=1",                                                   " add.u32 %r0, %r0, 7;\n",     4 },
    {"isa " ADD " copies=2 chains=3",                                          " add.u32 %r0_2, %r0_2, 7;\n", 8 },
    {"isa " ADD " copies=2 chains=3",                                          "%r0_3",                       0 },
 /* forms */
    {"isa " ADD " copies=4 form=guard",                                        "\n    @%on add.u32",          8 },
    {"isa " ADD " copies=4 form=guard",                                        "\n    @%also add.u32",        8 },
    {"isa " ADD " copies=4 form=guard",                                        "\n    add.u32",               0 },
    {"isa " ADD " copies=4 form=plain",                                        "\n    add.u32",               16},
    {"isa snippet='xor.b32 %r0, %r0, %r1;' copies=2 form=swap",
     "xor.b32 %r0, %r0, %r1;",                                                                                4 },
    {"isa snippet='xor.b32 %r0, %r0, %r1;' copies=2 form=swap",
     "xor.b32 %r1, %r1, %r0;",                                                                                4 },
 /* what has a guard of its own keeps it */
    {"isa snippet='@%p1 add.u32 %r0, %r0, 1; @!%p1 add.u32 %r0, %r0, 2;' "
     "copies=2 form=guard",                                               "@!%p1 add.u32 %r0, %r0, 2;",  8 },
    {"isa snippet='@%p1 add.u32 %r0, %r0, 1;' copies=2 form=guard",            "@%on",                        0 },
 /* chains share what none of them writes */
    {"isa snippet='fma.rn.f32 %f0, %f0, %f1, %f2;' copies=1 chains=2",
     "fma.rn.f32 %f0_1, %f0_1, %f1, %f2;",                                                                    4 },
    {"isa snippet='xor.b32 %r0, %r0, %r1;' copies=2 chains=2 form=swap",
     "xor.b32 %r1_1, %r1_1, %r0_1;",                                                                          4 },
 /* scratch memory only where it is asked for */
    {"isa " ADD,                                                               "scratch_shared",              0 },
    {"isa snippet='st.shared.u32 [%rd_shared], %r0;'",
     ".shared .align 16 .b8 scratch_shared[16384];",                                                          1 },
    {"isa snippet='add.u64 %rd0, %rd0, 1;' setup='mov.u64 %rd0, %rd_shared;'",
     "mov.u64 %rd_shared, scratch_shared;",                                                                   1 },
 /* labels of copies do not clash */
    {"isa snippet='bra L; L: add.u32 %r0, %r0, 1;' copies=1",                  "\n    {\n",                   4 },
 /* one that each chain sets up for itself */
    {"isa snippet='add.u32 %r0, %r0, 1;' setup='mov.u32 %r0, 9;' chains=2",
     "mov.u32 %r0_1, 9;",                                                                                     1 },
};

START_TEST(the_kernel_has_so_many)
{
    char *const ptx = kernel_of(kernels[_i].text);
    ck_assert_msg(count_of(ptx, kernels[_i].word) == kernels[_i].count,
                  "%s: \"%s\" comes %zu times, not %zu", kernels[_i].text,
                  kernels[_i].word, count_of(ptx, kernels[_i].word),
                  kernels[_i].count);
    free(ptx);
}
END_TEST

START_TEST(setup_runs_before_the_clock_is_read)
{
    char *const ptx = kernel_of(
        "isa snippet='add.u32 %r0, %r0, %r1;' setup='mov.u32 %r1, %laneid;'");
    const size_t loaded = place_of(ptx, "ld.global.b32 %r1, [%data");
    const size_t setup = place_of(ptx, "mov.u32 %r1, %laneid;");
    const size_t clock = place_of(ptx, "mov.u64 %t0, %clock64;");
    const size_t copy = place_of(ptx, "add.u32 %r0, %r0, %r1;");
    ck_assert_uint_lt(loaded, setup);
    ck_assert_uint_lt(setup, clock);
    ck_assert_uint_lt(clock, copy);
    free(ptx);
}
END_TEST

START_TEST(the_chain_waits_for_the_clock_and_the_clock_for_the_chain)
{
    char *const ptx = kernel_of("isa row=fma.rn.f32");
    const size_t chosen = place_of(ptx, "selp.f32 %f0, %f0_x, %f0_y, %on;");
    const size_t copy = place_of(ptx, "fma.rn.f32 %f0,");
    const size_t summed = place_of(ptx, "mov.b32 %word, %f0;");
    const size_t read = place_of(ptx, "@%done mov.u64 %t1, %clock64;");
    ck_assert_uint_lt(place_of(ptx, "mov.u64 %t0, %clock64;"), chosen);
    ck_assert_uint_lt(chosen, copy);
    ck_assert_uint_lt(copy, summed);
    ck_assert_uint_lt(summed, read);
    free(ptx);
}
END_TEST

START_TEST(every_kind_of_register_is_declared_begun_and_collected)
{
    static const char *const lines[] = {
        ".reg .b64 %rd0, %rd0_x, %rd0_y;",  ".reg .f64 %fd0, %fd0_x, %fd0_y;",
        ".reg .b16 %h0, %h0_x, %h0_y;",     ".reg .pred %p0, %p0_x, %p0_y;",
        "and.pred %p0, %p0_x, %on;",        "setp.ne.u32 %p0, %word, 0;",
        "selp.b16 %h0, %h0_x, %h0_y, %on;", "cvt.u32.u16 %word, %h0;",
        "mov.b64 {%word, %high}, %fd0;",    "selp.b32 %word, 1, 0, %p0;",
    };
    char *const ptx = kernel_of(
        "isa snippet='add.u64 %rd0, %rd0, 1; add.f64 %fd0, %fd0, %fd0; "
        "add.u16 %h0, %h0, 1; not.pred %p0, %p0;'");
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        place_of(ptx, lines[i]);
    free(ptx);
}
END_TEST

/* ---- values ------------------------------------------------------------ */

enum { NEVER = 2, OF_A_CHAIN = 2 };

/* What `data` holds for an experiment; the caller frees. */
static uint64_t *data_of(const char *text, size_t *words)
{
    struct experiment e = parsed(text);
    struct error err;
    ASSERT_DONE(probe_prepare(&e, &volta, &err), err);
    uint64_t *const data = snippet_kernel_data(e.own, words, &err);
    ck_assert_msg(data != NULL, "%s", err.text);
    experiment_free(&e);
    return data;
}

/* The bits that the register with that number begins with. */
static const struct {
    const char *text;
    size_t place;
    uint64_t bits;
} values[] = {
    {"isa snippet='add.u32 %r0, %r0, %r1;'",                      0, 0x12345   },
    {"isa snippet='add.u32 %r0, %r0, %r1;'",                      1, 3         },
    {"isa snippet='add.u32 %r0, %r0, %r1;' values='r1=7 r0=0x9'", 0, 9         },
    {"isa snippet='add.u32 %r0, %r0, %r1;' values='r1=7 r0=0x9'", 1, 7         },
    {"isa snippet='add.u64 %rd0, %rd0, %rd1;' values=rd0=-1",     0, UINT64_MAX},
    {"isa snippet='add.f32 %f0, %f0, %f1;' values=f1=-0.5",       1, 0xbf000000},
    {"isa snippet='add.f32 %f0, %f0, %f1;' values=f0=0x1p-130",   0, 0x00080000},
    {"isa snippet='add.f64 %fd0, %fd0, %fd1;' values=fd0=2",      0,
     0x4000000000000000                                                        },
    {"isa snippet='add.f32 %f0, %f0, %f1;'",                      0, 0x3fc00000},
    {"isa snippet='add.f16 %h0, %h0, %h1;'",                      1, 0x3a00    },
    {"isa snippet='not.pred %p0, %p0;'",                          0, 1         },
    {"isa snippet='not.pred %p0, %p0;' values=p0=0",              0, 0         },
 /* r10 is not r1 */
    {"isa snippet='add.u32 %r1, %r1, %r10;' values='r10=5 r1=6'", 0, 6         },
 /* a row has values of its own */
    {"isa row=div.s32.irregular",                                 1, 7919      },
};

START_TEST(registers_begin_with_their_values)
{
    size_t words;
    uint64_t *const data = data_of(values[_i].text, &words);
    const size_t at = NEVER + OF_A_CHAIN * values[_i].place;
    ck_assert_uint_lt(at + 1, words);
    ck_assert_msg(data[at] == values[_i].bits && data[at + 1] == data[at],
                  "%s: %#llx", values[_i].text, (unsigned long long)data[at]);
    free(data);
}
END_TEST

START_TEST(each_chain_begins_with_the_same)
{
    size_t words;
    uint64_t *const data = data_of(
        "isa snippet='not.b32 %r0, %r0;' chains=8 values=r0=77", &words);
    ck_assert_uint_eq(words, NEVER + OF_A_CHAIN * 8);
    for (size_t i = NEVER; i < words; i++)
        ck_assert_uint_eq(data[i], 77);
    free(data);
}
END_TEST

static const struct {
    const char *text, *says;
} bad_values[] = {
    {"isa snippet='not.b32 %r0, %r0;' values=r0=x",                  "'r0=x' is not a number"},
    {"isa snippet='not.b32 %r0, %r0;' values=r0=",                   "is not a number"       },
    {"isa snippet='not.b32 %r0, %r0;' values=r0=7x",                 "is not a number"       },
    {"isa snippet='not.b32 %r0, %r0;' values='r0=1 r1=1'",
     "'r1=1' is not NAME=NUMBER of a register"                                               },
    {"isa snippet='not.b32 %r0, %r0;' values=r00=1",
     "'r00=1' is not NAME=NUMBER of a register"                                              },
    {"isa snippet='not.b32 %r0, %r0;' values=r0",
     "'r0' is not NAME=NUMBER of a register"                                                 },
    {"isa snippet='not.b32 %r0, %r0;' values=aVeryLongNameIndeed=1",
     "is not NAME=NUMBER of a register"                                                      },
};

START_TEST(a_value_that_is_none_is_named)
{
    struct experiment e = parsed(bad_values[_i].text);
    struct error err;
    size_t words;
    ASSERT_DONE(probe_prepare(&e, &volta, &err), err);
    ck_assert_ptr_null(snippet_kernel_data(e.own, &words, &err));
    ASSERT_FAILS(err.code, ERR_USAGE, err, bad_values[_i].says);
    experiment_free(&e);
}
END_TEST

static const struct {
    const char *text;
    int code;
    const char *says;
} refused[] = {
    {"isa row=add.u33",                           ERR_USAGE,       "row=add.u33 is no instruction"},
    {"isa row=div.s32",                           ERR_USAGE,       "row=div.s32 is no instruction"},
    {"isa snippet='add %x0;'",                    ERR_USAGE,       "line 1, column 5"             },
    {"isa snippet='not.b32 %r0, %r0;' setup=x",   ERR_USAGE,       "no ';'"                       },
    {"isa snippet='not.b32 %r0, %r0;' form=swap", ERR_UNSUPPORTED,
     "no operand can change places"                                                               },
};

START_TEST(words_that_make_no_kernel_are_refused)
{
    struct experiment e = parsed(refused[_i].text);
    struct buf ptx = {0};
    struct error err;
    ASSERT_FAILS(probe_kernel(&e, &volta, &ptx, &err), refused[_i].code, err,
                 refused[_i].says);
    ck_assert_uint_eq(ptx.length, 0);
    experiment_free(&e);
}
END_TEST

/* ---- complaints -------------------------------------------------------- */

/* As a user wrote it, and the experiment's, which is one line. */
static const char given[] = "add.u32 %r0, %r0, %r1; // good\n"
                            "  sub.u32 %r0,\n"
                            "     oops, %r1;";
static const char given_setup[] = "mov.u32 %r1,\n"
                                  "    wrong;";
static const char experiment[] = "isa copies=2 "
                                 "snippet='add.u32 %r0, %r0, %r1; "
                                 "sub.u32 %r0, oops, %r1;' "
                                 "setup='mov.u32 %r1, wrong;'";

/* The number of the first line of the kernel that has this in it. */
static unsigned line_with(const char *word)
{
    char *const ptx = kernel_of(experiment);
    unsigned line = 1;
    const char *const end = ptx + place_of(ptx, word);
    for (const char *c = ptx; c < end; c++)
        line += *c == '\n';
    free(ptx);
    return line;
}

/* Has the complaint rewritten, `err` its text. */
static void complain(struct error *err)
{
    struct experiment e = parsed(experiment);
    struct snippet snippet, setup;
    struct error other;
    ASSERT_DONE(snippet_parse(given, &snippet, &other), other);
    ASSERT_DONE(snippet_parse(given_setup, &setup, &other), other);
    snippet_kernel_complain(&e, &volta, &snippet, &setup, err);
    snippet_free(&snippet);
    snippet_free(&setup);
    experiment_free(&e);
}

/* A complaint about the line that has the word, and what comes of it. */
static const struct {
    const char *word, *complaint, *says;
} complaints[] = {
  /* as the simulator and the driver's linker say it */
    {"sub.u32",      "sim:v100: line %u: register 'oops' is not declared",
     "snippet, line 3, column 6: register 'oops' is not declared"                                                                               },
    {"sub.u32",      "line %u: something is wrong",
     "snippet, line 2, column 3: something is wrong"                                                                                            },
    {"add.u32",      "line %u: no such word as 'nowhere'",
     "snippet, line 1, column 1: no such word as 'nowhere'"                                                                                     },
    {"mov.u32 %r1,", "line %u: register 'wrong' is not declared",
     "setup, line 2, column 5: register 'wrong' is not declared"                                                                                },
 /* as the driver's assembler says it */
    {"sub.u32",
     "cuLinkAddData: ptxas application ptx input, line %u; error   : "
     "Arguments mismatch for instruction 'sub'",                           "snippet, line 2, column 3: Arguments mismatch for instruction 'sub'"},
    {"add.u32",
     "ptxas x, line %u; error   : Unknown modifier '.u32'; the line is: "
     "add.u32 %%r0",                                                       "snippet, line 1, column 4: Unknown modifier '.u32'"                 },
};

START_TEST(a_complaint_is_about_the_snippet)
{
    struct error err;
    char *const text =
        xasprintf(complaints[_i].complaint, line_with(complaints[_i].word));
    error_set(&err, ERR_PTX, "%s", text);
    complain(&err);
    ck_assert_str_eq(err.text, complaints[_i].says);
    ck_assert_int_eq(err.code, ERR_USAGE);
    free(text);
}
END_TEST

/* … of a line that is no copy, of none, of one beyond the end. */
static const char *const kept[] = {
    "line 3: unknown directive",
    "no kernel image is available",
    "line 99999: what is this",
    "line -4: what is this",
    "line : nothing",
};

START_TEST(a_complaint_about_something_else_is_kept)
{
    struct error err;
    error_set(&err, ERR_PTX, "%s", kept[_i]);
    complain(&err);
    ck_assert_str_eq(err.text, kept[_i]);
    ck_assert_int_eq(err.code, ERR_PTX);
}
END_TEST

Suite *suite_snippet_kernel(void)
{
    TCase *t;
    Suite *const suite = suite_of("snippet_kernel", 10, &t);
    tcase_add_loop_test(t, the_kernel_has_so_many, 0, COUNT_OF(kernels));
    tcase_add_test(t, setup_runs_before_the_clock_is_read);
    tcase_add_test(t,
                   the_chain_waits_for_the_clock_and_the_clock_for_the_chain);
    tcase_add_test(t, every_kind_of_register_is_declared_begun_and_collected);
    tcase_add_loop_test(t, registers_begin_with_their_values, 0,
                        COUNT_OF(values));
    tcase_add_test(t, each_chain_begins_with_the_same);
    tcase_add_loop_test(t, a_value_that_is_none_is_named, 0,
                        COUNT_OF(bad_values));
    tcase_add_loop_test(t, words_that_make_no_kernel_are_refused, 0,
                        COUNT_OF(refused));
    tcase_add_loop_test(t, a_complaint_is_about_the_snippet, 0,
                        COUNT_OF(complaints));
    tcase_add_loop_test(t, a_complaint_about_something_else_is_kept, 0,
                        COUNT_OF(kept));
    return suite;
}
