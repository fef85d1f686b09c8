/* Snippets: what is read out of PTX that a user or the table gives. */
#include "ptx/snippet.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

static struct snippet snippet; /* of one test */

static void parse(const char *text)
{
    struct error err;
    ASSERT_DONE(snippet_parse(text, &snippet, &err), err);
}

static void refuses(const char *text, const char *place, const char *why)
{
    struct snippet s;
    struct error err;
    ASSERT_FAILS(snippet_parse(text, &s, &err), ERR_USAGE, err, place);
    ck_assert_msg(strstr(err.text, why) != NULL, "%s", err.text);
}

static void end(void)
{
    snippet_free(&snippet);
}

static const struct snippet_register *reg(const char *name)
{
    const struct snippet_register *const r = snippet_register(&snippet, name);
    ck_assert_msg(r != NULL, "no register %s", name);
    return r;
}

static bool reads(const char *name)
{
    return reg(name)->read_first;
}

static bool writes(const char *name)
{
    return reg(name)->written;
}

START_TEST(the_first_operand_is_written_and_the_others_are_read)
{
    parse("fma.rn.f32 %f0, %f1, %f2, %f3;");
    ck_assert(writes("f0") && !reads("f0"));
    ck_assert(reads("f1") && reads("f2") && reads("f3"));
    ck_assert(!writes("f1") && !writes("f2") && !writes("f3"));
    ck_assert_ptr_null(snippet_chain(&snippet));
}
END_TEST

START_TEST(a_register_that_is_read_and_written_carries)
{
    parse("add.u32 %r7, %r7, %r1;");
    ck_assert_ptr_eq(snippet_chain(&snippet), reg("r7"));
}
END_TEST

START_TEST(a_register_written_before_it_is_read_does_not_carry)
{
    parse("mul.f32 %f1, %f0, %f2; add.f32 %f0, %f1, %f2;");
    ck_assert(!register_carries(reg("f1")));
    ck_assert_ptr_eq(snippet_chain(&snippet), reg("f0"));
}
END_TEST

START_TEST(names_say_the_kind)
{
    static const struct {
        const char *name;
        enum register_kind kind;
    } all[] = {
        {"r0", REGISTER_B32},  {"rd1", REGISTER_B64}, {"f2", REGISTER_F32},
        {"fd3", REGISTER_F64}, {"h4", REGISTER_B16},  {"p5", REGISTER_PRED},
    };
    parse("made.up %r0, %rd1, %f2, %fd3, %h4, %p5;");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ck_assert_int_eq(reg(all[i].name)->kind, all[i].kind);
    ck_assert_uint_eq(snippet.register_count, 6);
}
END_TEST

START_TEST(a_guard_is_read_and_leaves_the_result_as_it_may_be)
{
    parse("@!%p1 add.u32 %r0, %r1, %r2;");
    ck_assert(reads("p1") && !writes("p1"));
    ck_assert(register_carries(reg("r0")));
}
END_TEST

START_TEST(an_address_is_read_even_in_the_first_operand)
{
    parse("st.shared.u32 [%rd0+4], %r0;");
    ck_assert(reads("rd0") && reads("r0"));
    ck_assert(!writes("rd0") && !writes("r0"));
}
END_TEST

START_TEST(a_load_reads_its_address)
{
    parse("ld.global.u64 %rd0, [%rd0];");
    ck_assert(register_carries(reg("rd0")));
}
END_TEST

START_TEST(all_of_a_vector_is_written)
{
    parse("tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%rd0, {%r4}];");
    ck_assert(writes("r0") && writes("r3") && !writes("r4"));
    ck_assert(reads("rd0") && reads("r4") && !reads("r0"));
}
END_TEST

START_TEST(both_of_a_pair_of_results_are_written)
{
    parse("setp.lt.f16x2 %p0|%p1, %r0, %r1;");
    ck_assert(writes("p0") && writes("p1") && !reads("p0"));
}
END_TEST

START_TEST(barriers_have_no_result_unless_they_reduce)
{
    parse("bar.sync %r0;");
    ck_assert(reads("r0") && !writes("r0"));
    end();
    parse("bar.red.popc.u32 %r0, 0, %p0;");
    ck_assert(writes("r0") && reads("p0"));
}
END_TEST

/* … also where an opcode is all that its line has. */
START_TEST(an_opcode_may_end_with_its_line)
{
    parse("nanosleep\r\n%r0;");
    ck_assert(reads("r0") && !writes("r0"));
    snippet_free(&snippet);
    parse("@%p0\r\nneg.s32 %r1, %r2;");
    ck_assert(reads("p0") && writes("r1") && reads("r2"));
    snippet_free(&snippet);
    parse("@;mov!%p0 %r1, 1;"); /* a guard ends with its instruction */
    ck_assert_uint_eq(snippet.register_count, 1);
    ck_assert(writes("r1"));
}
END_TEST

START_TEST(special_registers_are_none_of_the_snippets)
{
    parse("mov.u32 %r0, %laneid; mov.u32 %r1, %tid.x; mov.u32 %r2, %clock;");
    ck_assert_uint_eq(snippet.register_count, 3);
}
END_TEST

START_TEST(scratch_memory_is_asked_for_by_its_address)
{
    parse("atom.shared.add.u32 %r0, [%rd_shared], %r0;");
    ck_assert(snippet.shared && !snippet.global);
    end();
    parse("ld.global.u32 %r0, [%rd_global];");
    ck_assert(!snippet.shared && snippet.global);
}
END_TEST

START_TEST(comments_are_not_read_and_places_stay)
{
    parse("// %x\n/* %y; */ add.u32 %r0, %r0, %r1; // more");
    ck_assert_uint_eq(snippet.statement_count, 1);
    ck_assert_uint_eq(snippet.statements[0].line, 2);
    ck_assert_uint_eq(snippet.statements[0].column, 11);
    ck_assert_uint_eq(snippet.register_count, 2);
}
END_TEST

START_TEST(labels_and_declarations_get_a_scope)
{
    parse("AGAIN: sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0;\n"
          "@%p0 bra AGAIN;");
    ck_assert(snippet.scoped);
    ck_assert_uint_eq(snippet.statement_count, 4);
    end();
    parse("add.u32 %r0, %r0, 1;");
    ck_assert(!snippet.scoped);
}
END_TEST

static void name_as_it_is(struct buf *out, const struct snippet_register *r,
                          const void *context)
{
    buf_printf(out, "%s%s", r->name, (const char *)context);
}

static void writes_as(const char *guard, const char *expected)
{
    struct buf out = {0};
    snippet_write(&out, &snippet, guard, name_as_it_is, "_1");
    ck_assert_str_eq(buf_string(&out), expected);
    buf_free(&out);
}

START_TEST(copies_have_other_names_and_a_guard)
{
    parse("mov.u32 %r0, %laneid; @%p0 add.u32 %r0, %r0, %r1;");
    writes_as("%on", "    @%on mov.u32 %r0_1, %laneid;\n"
                     "    @%p0_1 add.u32 %r0_1, %r0_1, %r1_1;\n");
}
END_TEST

START_TEST(labels_take_no_guard)
{
    parse("L: bra L;");
    writes_as("%on", "    {\n    L:\n    @%on bra L;\n    }\n");
}
END_TEST

START_TEST(bad_snippets_are_refused_at_their_place)
{
    refuses("add.u32 %r0, %r0, %r1", "line 1, column 1", "no ';'");
    refuses("add.u32 %r0, %r0, 1;\n  neg.s32 %r0, %x0;", "line 2, column 16",
            "says what it holds");
    refuses("add.u32 %r0, %r, 1;", "column 14", "says what it holds");
    refuses("add.u32 %r0, %r1x, 1;", "column 14", "says what it holds");
    refuses("add.u32 %r12345678901234, %r1, 1;", "column 9",
            "says what it holds");
    refuses("", "no instruction", "");
    refuses("/* add */", "no instruction", "");
}
END_TEST

START_TEST(too_many_registers_are_refused)
{
    struct buf text = {0};
    for (unsigned i = 0; i <= REGISTERS_MAX; i++)
        buf_printf(&text, "neg.s32 %%r%u, 1;", i);
    refuses(buf_string(&text), "line 1", "too many registers");
    buf_free(&text);
}
END_TEST

Suite *suite_snippet(void)
{
    TCase *t;
    Suite *const suite = suite_of("snippet", 4, &t);
    tcase_add_checked_fixture(t, NULL, end);
    tcase_add_test(t, the_first_operand_is_written_and_the_others_are_read);
    tcase_add_test(t, a_register_that_is_read_and_written_carries);
    tcase_add_test(t, a_register_written_before_it_is_read_does_not_carry);
    tcase_add_test(t, names_say_the_kind);
    tcase_add_test(t, a_guard_is_read_and_leaves_the_result_as_it_may_be);
    tcase_add_test(t, an_address_is_read_even_in_the_first_operand);
    tcase_add_test(t, a_load_reads_its_address);
    tcase_add_test(t, all_of_a_vector_is_written);
    tcase_add_test(t, both_of_a_pair_of_results_are_written);
    tcase_add_test(t, barriers_have_no_result_unless_they_reduce);
    tcase_add_test(t, an_opcode_may_end_with_its_line);
    tcase_add_test(t, special_registers_are_none_of_the_snippets);
    tcase_add_test(t, scratch_memory_is_asked_for_by_its_address);
    tcase_add_test(t, comments_are_not_read_and_places_stay);
    tcase_add_test(t, labels_and_declarations_get_a_scope);
    tcase_add_test(t, copies_have_other_names_and_a_guard);
    tcase_add_test(t, labels_take_no_guard);
    tcase_add_test(t, bad_snippets_are_refused_at_their_place);
    tcase_add_test(t, too_many_registers_are_refused);
    return suite;
}
