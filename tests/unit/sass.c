/*
 * The reader of machine code.  The specimens are instructions that ptxas 13.0
 * made, and what nvdisasm 13.0 says of them.
 */
#include "ptx/sass/sass.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "testing.h"
#include "unit/cubins.h"
#include "unit/disassembler.h"

static struct sass read_words(unsigned sm, uint64_t low, uint64_t high)
{
    unsigned char bytes[SASS_BYTES];
    struct sass s;
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(low >> 8 * i);
        bytes[8 + i] = (unsigned char)(high >> 8 * i);
    }
    sass_read(bytes, sm, &s);
    return s;
}

static void write_operands(const struct sass_operands *operands,
                           struct buf *out)
{
    static const char *const files[] = {
        [SASS_R] = "R", [SASS_UR] = "UR", [SASS_P] = "P", [SASS_UP] = "UP"};
    for (size_t i = 0; i < operands->count; i++) {
        const struct sass_registers *const r = &operands->at[i];
        buf_printf(out, " %s%u", files[r->file], r->number);
        if (r->count > 1)
            buf_printf(out, "+%u", r->count - 1);
    }
}

/* "@!P0 IMAD.WIDE R2+1 = R3 R4 R2+1 P0"; ? where registers are not known. */
static char *written(const struct sass *s)
{
    struct buf out = {0};
    if (s->guard != SASS_ALWAYS)
        buf_printf(&out, "@%sP%d ", s->guard_negated ? "!" : "", s->guard);
    buf_text(&out, s->form);
    if (s->registers_known) {
        write_operands(&s->writes, &out);
        buf_text(&out, " =");
        write_operands(&s->reads, &out);
    } else {
        buf_text(&out, " ?");
    }
    return buf_take(&out);
}

static const struct {
    unsigned sm;
    uint64_t low, high;
    const char *written;
} specimens[] = {
    {103, 0x00000000110a7225, 0x078e020a, "IMAD.WIDE R10+1 = R17 R0 R10+1" },
    {89,  0x0000000708027825, 0x078e02ff, "IMAD.WIDE R2+1 = R8"            },
    {100, 0x000000ffff197224, 0x078e0008, "IMAD.MOV R25 = R8"              },
    {86,  0x0000000804047824, 0x078e00ff, "IMAD.SHL R4 = R4"               },
    {90,  0x0000000106060824, 0x078e0211, "@P0 IMAD.IADD R6 = R6 R17 R6 P0"},
    {80,  0x00000007001d7424, 0x010e0603, "IMAD.X R29 = R0 R3 P2"          },
    {100, 0x0000000919107210, 0x0075e4ff, "IADD3.X R16 P2 = R25 R9 P0"     },
    {110, 0x0000000614187c10, 0x08f3e4ff, "IADD3.X R24 P1 = R20 UR6 P1"    },
    {90,  0x80000006000d7c10, 0x0fffe0ff, "IADD3 R13 = R0 UR6"             },
    {100, 0x0000000a000b7308, 0x00001000, "MUFU.RCP R11 = R10"             },
    {80,  0x0000000f000d7308, 0x00001c00, "MUFU.RSQ64H R13 = R15"          },
    {87,  0x400000001010b82b, 0x00000818,
     "@!P3 DFMA R16+1 = R16+1 R24+1 R16+1 P3"                              },
    {110, 0x0000000004067229, 0x0000000c, "DADD R6+1 = R4+1 R12+1"         },
    {87,  0x000080000e0a7629, 0x00000000, "DADD R10+1 = R14+1"             },
    {100, 0x0000000400047310, 0x00201800, "F2F.F64.F32 R4+1 = R4"          },
    {110, 0x0000000400187d11, 0x08401900, "F2I.S64.BF16 R24+1 = UR4"       },
    {100, 0x0000001600167312, 0x00309c00, "I2F.F64 R22+1 = R22+1"          },
    {87,  0x000000ff1100720c, 0x03f05300, "ISETP P0 = R17 P0"              },
    {120, 0x0000002218227212, 0x078ec0ff, "LOP3.LUT R34 = R24 R34"         },
    {86,  0x0000000f0c147819, 0x0000120d, "SHF.R R20 = R12 R13"            },
    {90,  0x3c003c0002037835, 0x0000000c, "HFMA2.MMA R3 = R2 R12"          },
    {120, 0x80000006000d7221, 0x00060000, "FHADD R13 = R0 R6"              },
    {120, 0x00000006040c7c35, 0x0f8e0200, "IADD.64 R12+1 = R4+1 UR6+1"     },
    {120, 0x0000000a14147607, 0x00000000, "SEL.64 R20+1 = R20+1 R10+1 P0"  },
    {90,  0x0000002011117248, 0x07fe0100, "VIMNMX R17 = R17 R32"           },
    {80,  0x00000007001d7309, 0x00000000, "POPC R29 = R7"                  },
    {100, 0x0c00000e070f7389, 0x00020011, "SHFL.BFLY R15 P1 = R7 R14 R17"  },
    {90,  0x000190040c0e7981, 0x0c1f5b00, "LDG.64 R14+1 = R12+1"           },
    {110, 0x00001004ff187984, 0x08000c00, "LDS.128 R24+3 ="                },
    {80,  0x0000000000047805, 0x0001ff00, "CS2R R4+1 ="                    },
    {90,  0x00000000030712ca, 0x000e0000, "@P1 R2UR UR7 = R3 UR7 P1"       },
    {90,  0x000000110d0d7290, 0x0fffe03f, "UIADD3 UR13 = UR13 UR17"        },
    {120, 0x0000000d0b0a7290, 0x0fffe0ff, "UIADD3 UR10 = UR11 UR13"        },
    {75,  0x0000000808147236, 0x00000408, "HMMA R20 = R8 R8 R8"            },
    {100, 0x000000160c08723c, 0x00001008, "HMMA.1688.F32 R8 = R12 R22 R8"  },
    {75,  0x0000023000008947, 0x03800000, "@!P0 BRA ?"                     },
    {103, 0x000000000000094d, 0x03800000, "@P0 EXIT = P0"                  },
    {75,  0x0000000000007918, 0x00000000, "NOP ="                          },
    {90,  0x0000000000007fff, 0x00000000, "0xfff ?"                        },
};

START_TEST(an_instruction_is_read_as_the_disassembler_does)
{
    const struct sass s =
        read_words(specimens[_i].sm, specimens[_i].low, specimens[_i].high);
    char *const text = written(&s);
    ck_assert_str_eq(text, specimens[_i].written);
    free(text);
}
END_TEST

START_TEST(one_opcode_may_be_two_instructions)
{
    ck_assert_str_eq(read_words(90, 0x7235, 0).name, "HFMA2");
    ck_assert_str_eq(read_words(120, 0x7235, 0).name, "IADD");
    ck_assert_str_eq(read_words(75, 0x7236, 0).name, "HMMA");
    ck_assert_str_eq(read_words(90, 0x7236, 0).name, "VIADD");
}
END_TEST

START_TEST(reads_of_the_clock_are_known)
{
    ck_assert(read_words(90, 0x0000000000007805, 0x5000).clock);
    ck_assert(read_words(90, 0x0000000000007919, 0x5000).clock);
    ck_assert(read_words(90, 0x00000000000679c3, 0x5000).clock);
    ck_assert(read_words(120, 0x00000000000678cb, 0x5000).clock);
    ck_assert(read_words(90, 0x0000000000007919, 0x5100).clock);
    ck_assert(!read_words(90, 0x0000000000007919, 0x2100).clock);
    ck_assert(!read_words(90, 0x0000000000007805, 0xff00).clock);
    /* Another instruction, with the same in that byte. */
    ck_assert(!read_words(90, 0x0000000706067221, 0x5000).clock);
}
END_TEST

START_TEST(every_opcode_can_be_read)
{
    static const unsigned architectures[] = {70, 75, 90, 120, 255};
    for (size_t a = 0; a < COUNT_OF(architectures); a++)
        for (uint64_t opcode = 0; opcode < 4096; opcode++)
            for (int bits = 0; bits < 2; bits++) {
                const uint64_t rest = bits == 0 ? 0 : UINT64_MAX;
                const struct sass s =
                    read_words(architectures[a], rest << 12 | opcode, rest);
                ck_assert_uint_eq(s.opcode, opcode);
                ck_assert_uint_gt(strlen(s.form), 0);
                ck_assert_uint_le(s.reads.count, SASS_OPERANDS_MAX);
                ck_assert(s.registers_known || s.reads.count == 0);
            }
}
END_TEST

START_TEST(a_region_lies_between_reads_of_the_clock)
{
    struct listing l = cubin_listing("chain");
    struct buf text = {0};
    ck_assert_uint_eq(l.clock_count, 4);
    code_span_write(listing_region(&l, 0), &text);
    ck_assert_str_eq(buf_string(&text),
                     "NOP ISETP×2 IMAD.IADD×2 IADD3 IMAD.IADD×2 IADD3 "
                     "IMAD.IADD×2 ISETP");
    ck_assert_uint_eq(listing_region(&l, 2).count, 4 + 3 * 8);
    ck_assert_uint_eq(listing_region(&l, 3).count, 0);
    ck_assert_uint_eq(listing_region(&l, 4).count, 0);
    buf_free(&text);
    listing_free(&l);
}
END_TEST

START_TEST(a_tally_counts_each_form)
{
    struct listing l = cubin_listing("chain");
    struct tally tally = code_span_tally(listing_region(&l, 0));
    ck_assert_uint_eq(tally.count, 4);
    ck_assert_str_eq(tally.rows[1].form, "ISETP");
    ck_assert_uint_eq(tally.rows[1].count, 3);
    ck_assert_str_eq(tally.rows[2].form, "IMAD.IADD");
    ck_assert_uint_eq(tally.rows[2].count, 6);
    tally_free(&tally);
    tally = code_span_tally((struct code_span){0});
    ck_assert_uint_eq(tally.count, 0);
    tally_free(&tally);
    listing_free(&l);
}
END_TEST

START_TEST(nothing_is_unknown_in_what_the_assembler_made)
{
    struct listing l = cubin_listing(cubin_names[_i]);
    for (size_t i = 0; i < l.count; i++)
        ck_assert_msg(l.code[i].name[0] != '\0', "%s at %zx", l.code[i].form,
                      i * SASS_BYTES);
    listing_free(&l);
}
END_TEST

START_TEST(the_disassembler_says_the_same)
{
    if (!disassembler_installed())
        SKIP("no nvdisasm");
    char *const path = cubin_path(cubin_names[_i]);
    ck_assert_uint_ge(disassembler_compare(path), 40);
    free(path);
}
END_TEST

Suite *suite_sass(void)
{
    TCase *t;
    Suite *const suite = suite_of("sass", 20, &t);
    const int files = 9;
    tcase_add_loop_test(t, an_instruction_is_read_as_the_disassembler_does, 0,
                        COUNT_OF(specimens));
    tcase_add_test(t, one_opcode_may_be_two_instructions);
    tcase_add_test(t, reads_of_the_clock_are_known);
    tcase_add_test(t, every_opcode_can_be_read);
    tcase_add_test(t, a_region_lies_between_reads_of_the_clock);
    tcase_add_test(t, a_tally_counts_each_form);
    tcase_add_loop_test(t, nothing_is_unknown_in_what_the_assembler_made, 0,
                        files);
    tcase_add_loop_test(t, the_disassembler_says_the_same, 0, files);
    return suite;
}
