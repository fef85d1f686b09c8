/* The simulator's clock: each timing rule by itself. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "testing.h"
#include "unit/sim_rig.h"

#define LOAD1(op) "ld." op ".u64 %rd0, [%rd0];\n"
#define LOAD8(op)                                                              \
    LOAD1(op)                                                                  \
    LOAD1(op) LOAD1(op) LOAD1(op) LOAD1(op) LOAD1(op) LOAD1(op) LOAD1(op)
/* Waits for the load, then reads the clock. */
#define MARK(register)                                                         \
    "st.volatile.global.u64 [%out+8], %rd0;\nmov.u32 " register ", %clock;\n"

/* What eight dependent loads from %in cost, once warm: 16 less 8 of them, so
 * that the clock's own cost is out. */
#define CHASE(op)                                                              \
    "mov.u64 %rd0, %in;\n" LOAD8(op) MARK("%r0") LOAD8(op) MARK("%r1")         \
        LOAD8(op) LOAD8(op) MARK("%r2") CHASE_DIFFERENCE
#define CHASE_DIFFERENCE                                                       \
    "sub.u32 %r2, %r2, %r1; sub.u32 %r1, %r1, %r0; sub.u32 %r2, %r2, %r1;\n"   \
    "cvt.u64.u32 %rd1, %r2; st.global.u64 [%out], %rd1;\n"
/* %n loads and a loop around them, timed, after eight to warm. */
#define LOOP                                                                   \
    "mov.u64 %rd0, %in; mov.u32 %r0, 0;\n" LOAD8("global.ca") MARK("%r1")      \
        TIMED("loop: ld.global.ca.u64 %rd0, [%rd0];\n"                         \
              "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, %n;\n"               \
              "@%p0 bra loop;\nst.global.u64 [%out+8], %rd0;")

static const char chase_ca[] = CHASE("global.ca");
static const char chase_cg[] = CHASE("global.cg");
static const char chase_nc[] = CHASE("global.nc");
static const char loop[] = LOOP;

static uint64_t cycles_of(struct rig *rig, const char *body)
{
    rig_run(rig, body);
    return rig_out(rig, 0);
}

START_TEST(clock_reads_in_a_row_lie_the_overhead_apart)
{
    struct rig rig = rig_open();
    ck_assert_uint_eq(cycles_of(&rig, TIMED("")), 2);
    rig_close(&rig);
}
END_TEST

START_TEST(a_chain_in_l1_costs_its_latency_a_load)
{
    struct rig rig = rig_open();
    rig_ring(&rig, 0, 8, 16);
    ck_assert_uint_eq(cycles_of(&rig, chase_ca), 8 * 40);
    rig_close(&rig);
}
END_TEST

START_TEST(a_chain_past_l1_costs_the_latency_of_l2)
{
    struct rig rig = rig_open();
    rig_ring(&rig, 0, 8, 16);
    ck_assert_uint_eq(cycles_of(&rig, chase_cg), 8 * 190);
    rig_close(&rig);
}
END_TEST

START_TEST(a_chain_larger_than_l1_costs_the_latency_behind_it)
{
    struct rig rig = rig_open();
    /* 16 lines in 2 sets of 4 ways: LRU misses them all, L2 holds them. */
    rig_ring(&rig, 0, 16, 16);
    rig_run(&rig, chase_ca);
    ck_assert_uint_eq(cycles_of(&rig, chase_ca), 8 * 200);
    rig_close(&rig);
}
END_TEST

START_TEST(a_chain_larger_than_l2_goes_to_memory)
{
    struct rig rig = rig_open();
    rig_ring(&rig, 0, 128, 16);
    ck_assert_uint_eq(cycles_of(&rig, chase_cg), 8 * 490);
    rig_close(&rig);
}
END_TEST

START_TEST(readonly_loads_take_their_own_path)
{
    struct rig rig = rig_open();
    rig_ring(&rig, 0, 8, 4);
    ck_assert_uint_eq(cycles_of(&rig, chase_nc), 8 * 90);
    rig_close(&rig);
}
END_TEST

START_TEST(a_line_is_there_once_its_sector_is)
{
    struct rig rig = rig_open();
    /* Word 0 brings sector 0 of the line; word 4 lies in sector 1. */
    const char *const body =
        "ld.global.ca.u64 %rd1, [%in];\nadd.u64 %rd1, %rd1, "
        "1;\n" TIMED("ld.global.ca.u64 %rd2, [%in+8];\nadd.u64 %rd2, "
                     "%rd2, 1;") "ld.global.ca.u64 %rd1, "
                                 "[%in+32];\nadd.u64 %rd1, %rd1, 1;\n";
    ck_assert_uint_lt(cycles_of(&rig, body), 60);
    ck_assert_uint_gt(cycles_of(&rig, "ld.global.ca.u64 %rd1, [%in];\n"
                                      "add.u64 %rd1, %rd1, 1;\n" TIMED(
                                          "ld.global.ca.u64 %rd2, [%in+64];\n"
                                          "st.global.u64 [%out+8], %rd2;")),
                      400);
    rig_close(&rig);
}
END_TEST

START_TEST(only_dependent_instructions_wait)
{
    struct rig rig = rig_open();
    /* The clock does not wait for the load: one issue, then the overhead. */
    ck_assert_uint_eq(cycles_of(&rig, TIMED("ld.global.ca.u64 %rd1, [%in];")),
                      3);
    rig_close(&rig);
}
END_TEST

START_TEST(a_dependent_store_waits_and_does_not_stall)
{
    struct rig rig = rig_open();
    rig_run(&rig, "ld.global.cg.u64 %rd1, [%in];");
    /* 2 of the clock, the load's 190, one issue of the store. */
    ck_assert_uint_eq(cycles_of(&rig, TIMED("ld.global.cg.u64 %rd1, [%in];\n"
                                            "st.global.u64 [%out+8], %rd1;")),
                      2 + 190 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(loop_overhead_hides_behind_a_load)
{
    struct rig rig = rig_open();
    rig_ring(&rig, 0, 8, 16);
    rig_run(&rig, loop, .n = 100);
    const uint64_t hundred = rig_out(&rig, 0);
    rig_run(&rig, loop, .n = 300);
    ck_assert_uint_eq(rig_out(&rig, 0) - hundred, 200 * 40);
    rig_close(&rig);
}
END_TEST

#define ADD4                                                                   \
    "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r2;\n"                         \
    "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r2;\n"

START_TEST(a_chain_of_adds_costs_its_latency)
{
    struct rig rig = rig_open();
    const uint64_t four =
        cycles_of(&rig, TIMED(ADD4 "st.global.u32 [%out+8], %r1;"));
    ck_assert_uint_eq(
        cycles_of(&rig, TIMED(ADD4 ADD4 "st.global.u32 [%out+8], %r1;")) - four,
        4 * 5);
    rig_close(&rig);
}
END_TEST

START_TEST(the_level_of_the_load_picks_the_latency)
{
    struct rig rig = rig_open_with("isa={'default': {'O3': 6, 'O0': 18}}", 0);
    rig_run(&rig, TIMED("xor.b32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r2;\n"
                        "st.global.u32 [%out+8], %r1;"));
    const uint64_t optimised = rig_out(&rig, 0);
    rig_run(&rig,
            TIMED("xor.b32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r2;\n"
                  "st.global.u32 [%out+8], %r1;"),
            .level = LEVEL_O0);
    ck_assert_uint_eq(rig_out(&rig, 0) - optimised, 2 * (18 - 6) + (19 - 2));
    rig_close(&rig);
}
END_TEST

/* 2 of the clock, or 19 at -O0, and one issue of the store. */
START_TEST(unoptimised_loads_cost_more_and_stores_do_not)
{
    static const struct {
        const char *body;
        uint64_t optimised, unoptimised;
    } cases[] = {
        {TIMED(""),                                                                    2, 19              },
        {"ld.global.cg.u64 %rd1, [%in];\n" TIMED(
             "ld.global.cg.u64 %rd1, [%in];\nst.global.u64 [%out+8], %rd1;"),
         2 + 190 + 1,                                                                     19 + 190 + 7 + 1},
        {"ld.global.ca.u64 %rd1, [%in];\n" TIMED(
             "ld.global.ca.u64 %rd1, [%in];\nst.global.u64 [%out+8], %rd1;"),
         2 + 40 + 1,                                                                      19 + 40 + 1     },
        {TIMED("ld.shared.u64 %rd1, [8];\nst.global.u64 [%out+8], %rd1;"),
         2 + 30 + 1,                                                                      19 + 30 + 11 + 1},
        {TIMED("st.shared.u64 [8], %rd1;"),                                            3, 20              },
    };
    struct rig rig = rig_open();
    rig_run(&rig, cases[_i].body, .shared = 64);
    ck_assert_uint_eq(rig_out(&rig, 0), cases[_i].optimised);
    rig_run(&rig, cases[_i].body, .shared = 64, .level = LEVEL_O0);
    ck_assert_uint_eq(rig_out(&rig, 0), cases[_i].unoptimised);
    rig_close(&rig);
}
END_TEST

START_TEST(a_divisor_that_is_a_power_of_two_may_cost_less)
{
    static const struct {
        const char *text;
        uint64_t cycles;
    } cases[] = {
        {"div.u32 %r1, %r5, 8; cvt.u64.u32 %rd1, %r1;",           30},
        {"div.u32 %r1, %r5, 1; cvt.u64.u32 %rd1, %r1;",           30},
        {"div.u32 %r1, %r5, 7; cvt.u64.u32 %rd1, %r1;",           50},
        {"div.u32 %r1, %r5, 0; cvt.u64.u32 %rd1, %r1;",           50},
        {"div.s32 %r1, %r5, -8; cvt.u64.u32 %rd1, %r1;",          31},
        {"div.s32 %r1, %r5, -2147483648; cvt.u64.u32 %rd1, %r1;", 31},
        {"div.s32 %r1, %r5, -7; cvt.u64.u32 %rd1, %r1;",          51},
        {"div.s32 %r1, %r5, %laneid; cvt.u64.u32 %rd1, %r1;",     51},
        {"div.rn.f32 %f1, %f5, 0.25; mov.b64 %rd1, {%f1, %f1};",  32},
        {"div.rn.f32 %f1, %f5, -4.0; mov.b64 %rd1, {%f1, %f1};",  32},
        {"div.rn.f32 %f1, %f5, 3.0; mov.b64 %rd1, {%f1, %f1};",   52},
        {"div.rn.f32 %f1, %f5, 0.0; mov.b64 %rd1, {%f1, %f1};",   52},
        {"div.rn.f64 %d1, %d5, 0.5; mov.b64 %rd1, %d1;",          33},
        {"div.rn.f64 %d1, %d5, 0.6; mov.b64 %rd1, %d1;",          53},
    };
    struct rig rig =
        rig_open_with("isa={'default': {'O3': 1}, "
                      "'div.u32': {'O3': 50, 'power_of_two': {'O3': 30}}, "
                      "'div.s32': {'O3': 51, 'power_of_two': {'O3': 31}}, "
                      "'div.f32': {'O3': 52, 'power_of_two': {'O3': 32}}, "
                      "'div.f64': {'O3': 53, 'power_of_two': {'O3': 33}}}",
                      0);
    char *const body = xasprintf(
        "mov.u32 %%r30, %%clock;\n%s\nst.global.u64 [%%out+8], %%rd1;\n"
        "mov.u32 %%r31, %%clock;\nsub.u32 %%r31, %%r31, %%r30;\n"
        "st.global.u32 [%%out], %%r31;\n",
        cases[_i].text);
    rig_run(&rig, body, .threads = 4);
    ck_assert_uint_eq(rig_out(&rig, 0), 2 + cases[_i].cycles + 1 + 1);
    free(body);
    rig_close(&rig);
}
END_TEST

START_TEST(independent_instructions_issue_one_a_cycle)
{
    struct rig rig = rig_open();
    ck_assert_uint_eq(
        cycles_of(&rig, TIMED("add.u32 %r1, %r5, 1; add.u32 %r2, %r5, 1;\n"
                              "add.u32 %r3, %r5, 1; add.u32 %r4, %r5, 1;")),
        2 + 4);
    rig_close(&rig);
}
END_TEST

START_TEST(a_pipe_is_busy_for_its_issue_cycles)
{
    struct rig rig = rig_open();
    /* The fourth starts 3 × 4 cycles after the first. */
    ck_assert_uint_eq(
        cycles_of(&rig,
                  TIMED("mul.lo.u32 %r1, %r5, 3; mul.lo.u32 %r2, %r5, 3;\n"
                        "mul.lo.u32 %r3, %r5, 3; mul.lo.u32 %r4, %r5, 3;")),
        2 + 3 * 4 + 1);
    rig_close(&rig);
}
END_TEST

/* Every warp times 64 independent instructions; warp 0's cycles. */
static const char busy_body[] =
    "mov.u32 %r10, 0;\n"
    "mov.u32 %r30, %clock;\n"
    "loop: add.u32 %r1, %r5, 1; add.u32 %r2, %r5, 1; add.u32 %r3, %r5, 1;\n"
    "add.u32 %r4, %r5, 1; add.u32 %r6, %r5, 1; add.u32 %r7, %r5, 1;\n"
    "add.u32 %r8, %r5, 1; add.u32 %r9, %r5, 1; add.u32 %r10, %r10, 1;\n"
    "setp.lt.u32 %p0, %r10, 8;\n@%p0 bra loop;\n"
    "mov.u32 %r31, %clock;\nsub.u32 %r31, %r31, %r30;\n"
    "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0;\n"
    "@%p1 st.global.u32 [%out], %r31;\n";

START_TEST(warps_of_one_scheduler_share_its_cycles)
{
    struct rig rig = rig_open();
    rig_run(&rig, busy_body, .threads = 8 * 32);
    /* 4 warps a scheduler, each with 88 instructions or a few more. */
    const uint64_t shared = rig_out(&rig, 0);
    ck_assert_uint_ge(shared, 4 * 80);
    ck_assert_uint_le(shared, 4 * 100);
    rig_close(&rig);
}
END_TEST

START_TEST(warps_of_different_schedulers_do_not_meet)
{
    struct rig rig = rig_open();
    rig_run(&rig, busy_body, .threads = 32);
    const uint64_t alone = rig_out(&rig, 0);
    rig_run(&rig, busy_body, .threads = 64);
    ck_assert_uint_eq(rig_out(&rig, 0), alone);
    rig_close(&rig);
}
END_TEST

/* A warp's shared load with a stride of `n` words, and what depends on it. */
static const char bank_body[] =
    ".shared .align 8 .b8 buffer[4096];\n"
    "mov.u32 %r0, %tid.x; mul.lo.u32 %r0, %r0, %n; shl.b32 %r0, %r0, 2;\n"
    "and.b32 %r0, %r0, 4095; mov.u32 %r1, buffer; add.u32 %r0, %r0, %r1;\n"
    "add.u32 %r0, %r0, 0;\nst.shared.u32 [%r0], %r0;\n"
    "nanosleep.u32 500;\nmov.u32 %r30, %clock;\nld.shared.u32 %r2, [%r0];\n"
    "st.global.u32 [%out+8], %r2;\nmov.u32 %r31, %clock;\n"
    "sub.u32 %r31, %r31, %r30;\nst.global.u32 [%out], %r31;\n";

static uint64_t bank_cycles(uint32_t stride)
{
    struct rig rig = rig_open();
    rig_run(&rig, bank_body, .threads = 32, .n = stride);
    const uint64_t cycles = rig_out(&rig, 0);
    rig_close(&rig);
    return cycles;
}

START_TEST(shared_memory_without_conflict_costs_its_latency)
{
    ck_assert_uint_eq(bank_cycles(1), 2 + 30 + 1);
}
END_TEST

START_TEST(a_bank_conflict_costs_its_degree)
{
    ck_assert_uint_eq(bank_cycles(2), 2 + 30 + 10 + 1);
    ck_assert_uint_eq(bank_cycles(8), 2 + 30 + 7 * 10 + 1);
}
END_TEST

START_TEST(lanes_that_read_one_word_do_not_conflict)
{
    ck_assert_uint_eq(bank_cycles(0), 2 + 30 + 1);
}
END_TEST

static const char lanes_body[] =
    "mov.u32 %r0, %laneid; mul.wide.u32 %rd1, %r0, %n;\n"
    "add.u64 %rd1, %rd1, %in;\nld.global.cg.u32 %r2, [%rd1];\n"
    "st.global.u32 [%out+8], %r2;\nnanosleep.u32 500;\n"
    "mov.u32 %r30, %clock;\nld.global.cg.u32 %r2, [%rd1];\n"
    "st.global.u32 [%out+8], %r2;\nmov.u32 %r31, %clock;\n"
    "sub.u32 %r31, %r31, %r30;\nst.global.u32 [%out], %r31;\n";

START_TEST(a_coalesced_load_costs_as_much_as_one_lane)
{
    struct rig rig = rig_open();
    rig_run(&rig, lanes_body, .threads = 32, .n = 4);
    ck_assert_uint_eq((uint32_t)rig_out(&rig, 0), 2 + 190 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(each_further_line_of_a_load_costs_a_cycle)
{
    struct rig rig = rig_open();
    rig_run(&rig, lanes_body, .threads = 32, .n = 128);
    ck_assert_uint_eq((uint32_t)rig_out(&rig, 0), 2 + 190 + 31 + 1);
    rig_close(&rig);
}
END_TEST

static const char tlbs[] =
    "tlbs={'l1': {'page': 4096, 'entries': 2, 'policy': 'lru'}, "
    "      'l2': {'page': 4096, 'entries': 4, 'policy': 'lru'}} "
    "paths={} paths/global.ca={'l2': 200, 'memory': 500} "
    "paths/global.cg={'l2': [200, 250, 350], 'memory': [500, 550, 650]}";

START_TEST(a_latency_depends_on_the_tlb_that_knows_the_page)
{
    static const struct {
        size_t pages;
        uint64_t cycles;
    } cases[] = {
        {2, 200},
        {4, 250},
        {8, 350}
    };
    /* 520 words: another page and another line of L2 each. */
    struct rig rig = rig_open_with(tlbs, 0);
    rig_ring(&rig, 0, cases[_i].pages, 528);
    rig_run(&rig, chase_cg);
    ck_assert_uint_eq(cycles_of(&rig, chase_cg), 8 * cases[_i].cycles);
    rig_close(&rig);
}
END_TEST

START_TEST(tlbs_keep_their_pages_over_launches)
{
    struct rig rig = rig_open_with(tlbs, 0);
    const char *const body =
        TIMED("ld.global.cg.u64 %rd1, [%in];\nst.global.u64 [%out+8], %rd1;");
    rig_run(&rig, body);
    ck_assert_uint_eq(cycles_of(&rig, body), 2 + 200 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(a_load_that_leaves_the_page_window_pays_for_it)
{
    struct rig rig =
        rig_open_with("page_window={'bytes': 4096, 'latency': 2000}", 0);
    rig_ring(&rig, 0, 2, 512);
    ck_assert_uint_eq(cycles_of(&rig, chase_cg), 8 * 2000);
    rig_ring(&rig, 0, 2, 16);
    ck_assert_uint_eq(cycles_of(&rig, chase_cg), 8 * 190);
    rig_close(&rig);
}
END_TEST

static const char first_load[] =
    TIMED("ld.global.ca.u64 %rd1, [%in];\nst.global.u64 [%out+8], %rd1;");

START_TEST(l2_keeps_its_lines_over_launches_and_l1_does_not)
{
    struct rig rig = rig_open();
    ck_assert_uint_eq(cycles_of(&rig, first_load), 2 + 500 + 1);
    ck_assert_uint_eq(cycles_of(&rig, first_load), 2 + 200 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(copying_in_drops_what_the_caches_hold)
{
    struct rig rig = rig_open();
    rig_run(&rig, first_load);
    rig_in(&rig, 0, 1);
    ck_assert_uint_eq(cycles_of(&rig, first_load), 2 + 500 + 1);
    rig_close(&rig);
}
END_TEST

/* Warp %n loads, then warp 0 times the same load. */
static const char copies_body[] =
    "mov.u32 %r0, %warpid; setp.eq.u32 %p0, %r0, %n;\n"
    "@!%p0 bra over;\nld.global.ca.u64 %rd1, [%in];\n"
    "st.global.u64 [%out+8], %rd1;\nover: bar.sync 0;\n"
    "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra done;\n" TIMED(
        "ld.global.ca.u64 %rd1, [%in];\nst.global.u64 [%out+8], %rd1;") "done:"
                                                                        "\n";

START_TEST(warps_use_their_copy_of_a_split_cache)
{
    struct rig rig =
        rig_open_with("caches={} paths={} "
                      "caches/l1={'line': 128, 'sets': 2, 'ways': 4, "
                      "           'copies_per_sm': 2} "
                      "caches/l2={'line': 128, 'sets': 4, 'ways': 16, "
                      "           'scope': 'gpu'} "
                      "paths/global.ca={'l1': 40, 'l2': 200, 'memory': 500} "
                      "paths/global.cg={'l2': 190, 'memory': 490}",
                      0);
    rig_run(&rig, copies_body, .threads = 96, .n = 1);
    ck_assert_uint_eq(rig_out(&rig, 0), 2 + 200 + 1);
    rig_run(&rig, copies_body, .threads = 96, .n = 2);
    ck_assert_uint_eq(rig_out(&rig, 0), 2 + 40 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(constant_memory_takes_the_constant_path)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "ld.const.u32 %r1, [c]; add.u32 %r1, %r1, 0;\n"
            "add.u32 %r1, %r1, 0;\n" TIMED("ld.const.u32 %r1, [c+4];\n"
                                           "st.global.u32 [%out+8], %r1;"),
            .variables = ".const .u32 c[4] = {1, 2, 3, 4};");
    ck_assert_uint_eq(rig_out(&rig, 0), 2 + 20 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(local_memory_takes_the_local_path)
{
    struct rig rig = rig_open();
    rig_run(&rig, ".local .align 8 .b8 mine[16];\n"
                  "ld.local.u32 %r1, [mine]; add.u32 %r1, %r1, 0;\n" TIMED(
                      "ld.local.u32 %r1, [mine];\n"
                      "st.global.u32 [%out+8], %r1;"));
    ck_assert_uint_eq(rig_out(&rig, 0), 2 + 41 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(blocks_go_to_sms_in_turn)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r0, %ctaid.x; mul.wide.u32 %rd0, %r0, 8;\n"
            "add.u64 %rd0, %rd0, %out;\nmov.u32 %r1, %smid;\n"
            "st.global.u32 [%rd0], %r1;",
            .blocks = 10);
    for (uint64_t i = 0; i < 10; i++)
        ck_assert_uint_eq(rig_out(&rig, i), i % 4);
    rig_close(&rig);
}
END_TEST

START_TEST(a_waiting_block_starts_where_one_ended)
{
    struct rig rig = rig_open();
    /* 4 SMs × 4 blocks at once; block 0 is the first to end. */
    rig_run(&rig,
            "mov.u32 %r0, %ctaid.x; mul.wide.u32 %rd0, %r0, 8;\n"
            "add.u64 %rd0, %rd0, %out;\nmov.u32 %r1, %smid;\n"
            "add.u32 %r1, %r1, 1;\nst.global.u32 [%rd0], %r1;\n"
            "setp.eq.u32 %p0, %r0, 2;\n@%p0 bra done;\nnanosleep.u32 1000;\n"
            "done:\n",
            .blocks = 17);
    ck_assert_uint_eq(rig_out(&rig, 16), 3);
    rig_close(&rig);
}
END_TEST

START_TEST(sms_do_not_share_an_l1)
{
    struct rig rig = rig_open();
    /* Block 1 waits for block 0, whose load fills the L1 of another SM. */
    rig_run(&rig,
            "mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 0;\n"
            "@%p0 ld.global.ca.u64 %rd1, [%in];\n@%p0 bra done;\n"
            "nanosleep.u32 2000;\n" TIMED(
                "ld.global.ca.u64 %rd1, [%in];\n"
                "st.global.u64 [%out+8], %rd1;") "done:\n",
            .blocks = 2);
    ck_assert_uint_eq(rig_out(&rig, 0), 2 + 200 + 1);
    rig_close(&rig);
}
END_TEST

/* An L2 whose 4 KiB blocks lie on two sides in turn, for 4 SMs of which the
 * first two are beside the even blocks. */
#define PARTED(replicates)                                                     \
    "caches={} caches/l2={'sets': 4, 'ways': 16, 'scope': 'gpu', "             \
    "'partitions': {'bits': [12], 'far_cycles': 70, "                          \
    "'replicates': " replicates "}} "                                          \
    "paths={} paths/global.ca={'l2': 200, 'memory': 500} "                     \
    "paths/global.cg={'l2': 190, 'memory': 490}"

/* Block %n times a load of word %r8 of `in`; the others only end. */
#define FROM_SM(word)                                                          \
    "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, %n;\n@%p0 bra "              \
    "done;\n" TIMED("ld.global.cg.u64 %rd1, [%in+" word "];\n"                 \
                    "st.global.u64 [%out+8], %rd1;") "done:\n"
static const char near_word[] = FROM_SM("0"), far_word[] = FROM_SM("4096");

static uint64_t cycles_from(struct rig *rig, const char *body, unsigned sm)
{
    rig_run(rig, body, .blocks = 4, .n = sm);
    return rig_out(rig, 0) - 3;
}

START_TEST(what_lies_on_the_other_side_costs_more)
{
    struct rig rig = rig_open_with(PARTED("false"), 0);
    ck_assert_uint_eq(cycles_from(&rig, near_word, 0), 490);
    ck_assert_uint_eq(cycles_from(&rig, far_word, 0), 490 + 70);
    for (int again = 0; again < 2; again++) {
        ck_assert_uint_eq(cycles_from(&rig, near_word, 1), 190);
        ck_assert_uint_eq(cycles_from(&rig, far_word, 1), 190 + 70);
        ck_assert_uint_eq(cycles_from(&rig, near_word, 2), 190 + 70);
        ck_assert_uint_eq(cycles_from(&rig, far_word, 3), 190);
    }
    rig_close(&rig);
}
END_TEST

START_TEST(a_replicated_line_is_near_the_second_time)
{
    struct rig rig = rig_open_with(PARTED("true"), 0);
    ck_assert_uint_eq(cycles_from(&rig, far_word, 3), 490);
    ck_assert_uint_eq(cycles_from(&rig, far_word, 0), 190 + 70);
    ck_assert_uint_eq(cycles_from(&rig, far_word, 1), 190);
    ck_assert_uint_eq(cycles_from(&rig, far_word, 3), 190);
    rig_close(&rig);
}
END_TEST

START_TEST(a_store_leaves_the_line_at_home_alone)
{
    struct rig rig = rig_open_with(PARTED("true"), 0);
    rig_run(&rig, "st.global.u64 [%in+4096], %in;");
    ck_assert_uint_eq(cycles_from(&rig, far_word, 0), 190 + 70);
    ck_assert_uint_eq(cycles_from(&rig, far_word, 0), 190);
    rig_run(&rig, "st.global.u64 [%in+4096], %in;");
    ck_assert_uint_eq(cycles_from(&rig, far_word, 0), 190 + 70);
    rig_close(&rig);
}
END_TEST

START_TEST(copying_in_drops_the_lines_of_both_sides)
{
    struct rig rig = rig_open_with(PARTED("true"), 0);
    cycles_from(&rig, near_word, 0);
    cycles_from(&rig, far_word, 0);
    rig_in(&rig, 4096 / 8, 1);
    ck_assert_uint_eq(cycles_from(&rig, near_word, 0), 190);
    ck_assert_uint_eq(cycles_from(&rig, far_word, 0), 490 + 70);
    rig_close(&rig);
}
END_TEST

START_TEST(elapsed_is_the_launch_in_nanoseconds)
{
    struct rig rig = rig_open();
    double ns;
    rig_run(&rig, "nanosleep.u32 5000;");
    ASSERT_DONE(device_elapsed(rig.device, &ns, &rig.err), rig.err);
    ck_assert_double_ge(ns, 5000);
    ck_assert_double_le(ns, 5100);
    rig_close(&rig);
}
END_TEST

START_TEST(the_global_timer_runs_in_nanoseconds)
{
    struct rig rig = rig_open();
    rig_run(&rig, "mov.u64 %rd0, %globaltimer;\nnanosleep.u32 5000;\n"
                  "mov.u64 %rd1, %globaltimer;\nsub.u64 %rd1, %rd1, %rd0;\n"
                  "st.global.u64 [%out], %rd1;");
    ck_assert_uint_ge(rig_out(&rig, 0), 5000);
    ck_assert_uint_le(rig_out(&rig, 0), 5010);
    rig_close(&rig);
}
END_TEST

START_TEST(the_clock_counts_while_a_warp_waits_at_a_barrier)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r0, %warpid; setp.eq.u32 %p0, %r0, 1;\n"
            "@%p0 nanosleep.u32 3000;\nsetp.eq.u32 %p1, %r0, 0;\n"
            "mov.u32 %r30, %clock;\nbar.sync 0;\nmov.u32 %r31, %clock;\n"
            "sub.u32 %r31, %r31, %r30;\n@%p1 st.global.u32 [%out], %r31;",
            .threads = 64);
    ck_assert_uint_ge(rig_out(&rig, 0), 2990);
    ck_assert_uint_le(rig_out(&rig, 0), 3030);
    rig_close(&rig);
}
END_TEST

static const char noise[] = "noise/jitter_cycles=3";

START_TEST(jitter_leaves_the_mean_alone)
{
    struct rig rig = rig_open_with(noise, (uint64_t)_i);
    rig_ring(&rig, 0, 8, 16);
    rig_run(&rig, loop, .n = 100000);
    /* Three standard errors: 3 × 3 / √100000. */
    ck_assert_double_eq_tol((double)rig_out(&rig, 0) / 100000, 40, 0.03);
    rig_close(&rig);
}
END_TEST

START_TEST(spikes_come_as_often_as_the_profile_says)
{
    struct rig rig =
        rig_open_with("noise={'spike_rate': 0.01, 'spike_cycles': 1000}", 0);
    rig_ring(&rig, 0, 8, 16);
    rig_run(&rig, loop, .n = 100000);
    /* 1000 spikes of 1000 cycles, 3 % of standard error each way. */
    ck_assert_double_eq_tol((double)rig_out(&rig, 0) / 100000, 50, 1);
    rig_close(&rig);
}
END_TEST

static uint64_t noisy_run(uint64_t seed)
{
    struct rig rig = rig_open_with(noise, seed);
    rig_ring(&rig, 0, 8, 16);
    const uint64_t cycles = cycles_of(&rig, chase_ca);
    rig_close(&rig);
    return cycles;
}

START_TEST(the_same_seed_gives_the_same_run)
{
    ck_assert_uint_eq(noisy_run(7), noisy_run(7));
}
END_TEST

START_TEST(another_seed_gives_another_run)
{
    unsigned different = 0;
    for (uint64_t seed = 1; seed <= 8; seed++)
        different += noisy_run(seed) != noisy_run(seed + 1);
    ck_assert_uint_ge(different, 4);
}
END_TEST

static void add_memory_tests(TCase *t)
{
    tcase_add_test(t, a_chain_in_l1_costs_its_latency_a_load);
    tcase_add_test(t, a_chain_past_l1_costs_the_latency_of_l2);
    tcase_add_test(t, a_chain_larger_than_l1_costs_the_latency_behind_it);
    tcase_add_test(t, a_chain_larger_than_l2_goes_to_memory);
    tcase_add_test(t, readonly_loads_take_their_own_path);
    tcase_add_test(t, a_line_is_there_once_its_sector_is);
    tcase_add_test(t, shared_memory_without_conflict_costs_its_latency);
    tcase_add_test(t, a_bank_conflict_costs_its_degree);
    tcase_add_test(t, lanes_that_read_one_word_do_not_conflict);
    tcase_add_test(t, a_coalesced_load_costs_as_much_as_one_lane);
    tcase_add_test(t, each_further_line_of_a_load_costs_a_cycle);
    tcase_add_loop_test(t, a_latency_depends_on_the_tlb_that_knows_the_page, 0,
                        3);
    tcase_add_test(t, tlbs_keep_their_pages_over_launches);
    tcase_add_test(t, a_load_that_leaves_the_page_window_pays_for_it);
    tcase_add_test(t, l2_keeps_its_lines_over_launches_and_l1_does_not);
    tcase_add_test(t, copying_in_drops_what_the_caches_hold);
    tcase_add_test(t, warps_use_their_copy_of_a_split_cache);
    tcase_add_test(t, constant_memory_takes_the_constant_path);
    tcase_add_test(t, local_memory_takes_the_local_path);
    tcase_add_test(t, sms_do_not_share_an_l1);
    tcase_add_test(t, what_lies_on_the_other_side_costs_more);
    tcase_add_test(t, a_replicated_line_is_near_the_second_time);
    tcase_add_test(t, a_store_leaves_the_line_at_home_alone);
    tcase_add_test(t, copying_in_drops_the_lines_of_both_sides);
}

/* Each of four SMs reads 8 lines of its own, 32 bytes each; %n words lie
 * between.  Its cycles go to its word of out. */
#define READ_LINES                                                             \
    "mov.u32 %r2, %smid; mul.wide.u32 %rd2, %r2, 1024;\n"                      \
    "add.u64 %rd2, %in, %rd2; mov.u32 %r3, %clock;\n"                          \
    "ld.global.cg.u64 %rd4, [%rd2]; ld.global.cg.u64 %rd5, [%rd2+128];\n"      \
    "ld.global.cg.u64 %rd6, [%rd2+256]; ld.global.cg.u64 %rd7, [%rd2+384];\n"  \
    "add.u64 %rd4, %rd4, %rd5; add.u64 %rd6, %rd6, %rd7;\n"                    \
    "add.u64 %rd4, %rd4, %rd6; st.volatile.global.u64 [%out+512], %rd4;\n"     \
    "mov.u32 %r4, %clock; sub.u32 %r4, %r4, %r3;\n"                            \
    "mul.wide.u32 %rd8, %r2, 8; add.u64 %rd8, %out, %rd8;\n"                   \
    "cvt.u64.u32 %rd9, %r4; st.global.u64 [%rd8], %rd9;\n"

static void read_lines(const char *gpu, uint64_t cycles[4], unsigned blocks)
{
    struct rig rig = rig_open_with(gpu, 0);
    rig_run(&rig, READ_LINES, .blocks = blocks);
    for (size_t sm = 0; sm < 4; sm++)
        cycles[sm] = sm < blocks ? rig_out(&rig, sm) : 0;
    rig_close(&rig);
}

START_TEST(sms_of_a_tpc_share_its_way)
{
    uint64_t alone[4], two[4], free[4];
    read_lines("sms_per_tpc=2", free, 2);
    read_lines("sms_per_tpc=2 tpc_read_bandwidth=0.25", alone, 1);
    read_lines("sms_per_tpc=2 tpc_read_bandwidth=0.25", two, 2);
    /* Four words of 8 bytes, one in 32 cycles: those of the second SM come 128
     * cycles later than had it been alone; a wide way holds nobody up. */
    ck_assert_uint_gt(alone[0], free[0]);
    ck_assert_uint_eq(free[1], free[0]);
    ck_assert_uint_ge(two[1], alone[0] + 96);
    ck_assert_uint_le(two[1], alone[0] + 128);
}
END_TEST

Suite *suite_sim_time(void)
{
    TCase *t;
    Suite *const suite = suite_of("sim_time", 20, &t);
    add_memory_tests(t);
    tcase_add_test(t, clock_reads_in_a_row_lie_the_overhead_apart);
    tcase_add_test(t, only_dependent_instructions_wait);
    tcase_add_test(t, a_dependent_store_waits_and_does_not_stall);
    tcase_add_test(t, loop_overhead_hides_behind_a_load);
    tcase_add_test(t, a_chain_of_adds_costs_its_latency);
    tcase_add_test(t, the_level_of_the_load_picks_the_latency);
    tcase_add_loop_test(t, unoptimised_loads_cost_more_and_stores_do_not, 0, 5);
    tcase_add_loop_test(t, a_divisor_that_is_a_power_of_two_may_cost_less, 0,
                        14);
    tcase_add_test(t, independent_instructions_issue_one_a_cycle);
    tcase_add_test(t, a_pipe_is_busy_for_its_issue_cycles);
    tcase_add_test(t, warps_of_one_scheduler_share_its_cycles);
    tcase_add_test(t, warps_of_different_schedulers_do_not_meet);
    tcase_add_test(t, blocks_go_to_sms_in_turn);
    tcase_add_test(t, a_waiting_block_starts_where_one_ended);
    tcase_add_test(t, elapsed_is_the_launch_in_nanoseconds);
    tcase_add_test(t, the_global_timer_runs_in_nanoseconds);
    tcase_add_test(t, the_clock_counts_while_a_warp_waits_at_a_barrier);
    tcase_add_loop_test(t, jitter_leaves_the_mean_alone, 1, 4);
    tcase_add_test(t, spikes_come_as_often_as_the_profile_says);
    tcase_add_test(t, the_same_seed_gives_the_same_run);
    tcase_add_test(t, another_seed_gives_another_run);
    tcase_add_test(t, sms_of_a_tpc_share_its_way);
    return suite;
}
