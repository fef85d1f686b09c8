/*
 * Other users of a simulated GPU: an intruder, who takes turns with us, and a
 * neighbour, who runs beside us.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "testing.h"
#include "unit/sim_rig.h"

/* %n dependent loads, timed, after eight to warm. */
#define LOOP(op)                                                               \
    "mov.u64 %rd0, %in; mov.u32 %r0, 0;\n"                                     \
    "warm: ld." op ".u64 %rd0, [%rd0];\n"                                      \
    "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 8; @%p0 bra warm;\n"           \
    "st.volatile.global.u64 [%out+8], %rd0; mov.u32 %r0, 0;\n" TIMED(          \
        "loop: ld." op ".u64 %rd0, [%rd0];\n"                                  \
        "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, %n;\n"                     \
        "@%p0 bra loop;\nst.global.u64 [%out+8], %rd0;")

static const char loop_ca[] = LOOP("global.ca");
static const char loop_cg[] = LOOP("global.cg");

enum { LOADS = 10000 };

/* So many loads in a ring of `lines`; the first launch tells how long one
 * takes, and the second is the one. */
static uint64_t loop_cycles(const char *gpu, uint64_t seed, const char *body,
                            size_t lines)
{
    struct rig rig = rig_open_with(gpu, seed);
    rig_ring(&rig, 0, lines, 16);
    rig_run(&rig, body, .n = LOADS);
    rig_run(&rig, body, .n = LOADS);
    const uint64_t cycles = rig_out(&rig, 0);
    rig_close(&rig);
    return cycles;
}

/* ---- an intruder ---- */

#define INTRUDER(more) "intruder={'share': 1, 'cycles': 50000" more "}"

START_TEST(the_clock_runs_on_while_the_intruder_does)
{
    ck_assert_uint_eq(loop_cycles(INTRUDER(""), (uint64_t)_i, loop_ca, 8),
                      loop_cycles("", 0, loop_ca, 8) + 50000);
}
END_TEST

/* In 64 bits, and in nanoseconds of 1 GHz. */
START_TEST(all_clocks_run_on_alike)
{
    static const char clocks[] =
        "mov.u64 %rd10, %clock64; mov.u64 %rd20, %globaltimer;\n" LOOP(
            "global.ca") "mov.u64 %rd11, %clock64;\n"
                         "mov.u64 %rd21, %globaltimer;\n"
                         "sub.u64 %rd11, %rd11, %rd10;\n"
                         "st.global.u64 [%out+16], %rd11;\n"
                         "sub.u64 %rd21, %rd21, %rd20;\n"
                         "st.global.u64 [%out+24], %rd21;\n";
    struct rig rig = rig_open_with(INTRUDER(""), 1);
    double ns;
    rig_ring(&rig, 0, 8, 16);
    rig_run(&rig, clocks, .n = LOADS);
    rig_run(&rig, clocks, .n = LOADS);
    const uint64_t clock = rig_out(&rig, 0);
    ck_assert_uint_gt(clock, 40 * LOADS + 50000);
    ck_assert_double_eq_tol((double)rig_out(&rig, 2), (double)clock, 2000);
    ck_assert_double_eq_tol((double)rig_out(&rig, 3), (double)clock, 2000);
    ASSERT_DONE(device_elapsed(rig.device, &ns, &rig.err), rig.err);
    ck_assert_double_eq_tol(ns, (double)clock, 3000);
    rig_close(&rig);
}
END_TEST

START_TEST(no_sm_runs_while_the_intruder_does)
{
    struct rig rig = rig_open_with("sms=2 " INTRUDER(""), 1);
    static const char both[] =
        LOOP("global.ca") "mov.u32 %r2, %smid; mul.wide.u32 %rd2, %r2, 8;\n"
                          "add.u64 %rd2, %out, %rd2;\n"
                          "st.global.u64 [%rd2+16], %rd31;\n";
    rig_ring(&rig, 0, 8, 16);
    rig_run(&rig, both, .blocks = 2, .n = LOADS);
    rig_run(&rig, both, .blocks = 2, .n = LOADS);
    ck_assert_uint_gt(rig_out(&rig, 2), 40 * LOADS + 50000);
    ck_assert_uint_gt(rig_out(&rig, 3), 40 * LOADS + 50000);
    rig_close(&rig);
}
END_TEST

/* Eight lines come again: to L1 from L2, or from memory; what is not named is
 * kept. */
START_TEST(what_is_named_is_emptied)
{
    static const struct {
        const char *empties, *body;
        uint64_t cycles;
    } cases[] = {
        {"['l1']", loop_ca, 8 * (200 - 40)},
        {"['l2']", loop_ca, 0},
        {"['l1', 'l2']", loop_ca, 8 * (500 - 40)},
        {"['l2']", loop_cg, 8 * (490 - 190)},
        {"['l1']", loop_cg, 0},
        {"['const']", loop_ca, 0},
    };
    char *const gpu = xasprintf(INTRUDER(", 'empties': %s"), cases[_i].empties);
    ck_assert_uint_eq(loop_cycles(gpu, 2, cases[_i].body, 8),
                      loop_cycles("", 0, cases[_i].body, 8) + 50000 +
                          cases[_i].cycles);
    free(gpu);
}
END_TEST

#define TLBS                                                                   \
    "tlbs={'l1': {'page': 4096, 'entries': 2, 'policy': 'lru'}, "              \
    "      'l2': {'page': 4096, 'entries': 4, 'policy': 'lru'}} "              \
    "paths={} paths/global.ca={'l2': 200, 'memory': 500} "                     \
    "paths/global.cg={'l2': [200, 250, 350], 'memory': [500, 550, 650]} "

/* One page. */
START_TEST(a_tlb_that_is_named_is_emptied)
{
    static const struct {
        const char *empties;
        uint64_t cycles;
    } cases[] = {
        {"['tlb_l1']", 50},
        {"['tlb_l2']", 0},
        {"['tlb_l1', 'tlb_l2']", 150},
    };
    char *const gpu =
        xasprintf(TLBS INTRUDER(", 'empties': %s"), cases[_i].empties);
    ck_assert_uint_eq(loop_cycles(gpu, 2, loop_cg, 2),
                      loop_cycles(TLBS, 0, loop_cg, 2) + 50000 +
                          cases[_i].cycles);
    free(gpu);
}
END_TEST

static double elapsed_of(struct rig *rig, uint32_t loads)
{
    double ns;
    rig_run(rig, loop_ca, .n = loads);
    ASSERT_DONE(device_elapsed(rig->device, &ns, &rig->err), rig->err);
    return ns;
}

/* 100 of 400 launches, 9 of standard deviation. */
START_TEST(it_comes_to_the_share_of_launches)
{
    struct rig rig =
        rig_open_with("intruder={'share': 0.25, 'cycles': 1000000}", 1);
    unsigned came = 0;
    rig_ring(&rig, 0, 8, 16);
    for (uint32_t i = 0; i < 400; i++)
        came += elapsed_of(&rig, 10 + i % 7) > 1000000;
    ck_assert_uint_ge(came, 70);
    ck_assert_uint_le(came, 130);
    rig_close(&rig);
}
END_TEST

/* A launch takes 20 times as long as it runs between two visits. */
START_TEST(it_comes_again)
{
    const char *const gpu = INTRUDER(", 'every_cycles': 20000");
    unsigned visits = 0;
    for (uint64_t seed = 0; seed < 16; seed++) {
        const uint64_t more = loop_cycles(gpu, seed, loop_ca, 8) -
                              loop_cycles("", seed, loop_ca, 8);
        ck_assert_uint_eq(more % 50000, 0);
        visits += (unsigned)(more / 50000);
    }
    /* 1 to 21, 11 on average, 1.5 of standard error. */
    ck_assert_uint_ge(visits, 16 * 7);
    ck_assert_uint_le(visits, 16 * 15);
}
END_TEST

/* Of 64 visits the second half of the loop has 32, 4 of standard deviation. */
START_TEST(it_comes_at_any_moment)
{
    static const char halves[] = LOOP("global.ca") "mov.u32 %r0, 0;\n" TIMED(
        "again: ld.global.ca.u64 %rd0, [%rd0];\n"
        "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, %n;\n"
        "@%p0 bra again;\nst.global.u64 [%out+8], %rd0;");
    struct rig rig = rig_open_with(INTRUDER(""), 3);
    unsigned late = 0;
    rig_ring(&rig, 0, 8, 16);
    for (int i = 0; i < 64; i++) {
        rig_run(&rig, halves, .n = 1000);
        late += rig_out(&rig, 0) > 50000 + 40 * 1000;
    }
    ck_assert_uint_ge(late, 20);
    ck_assert_uint_le(late, 44);
    rig_close(&rig);
}
END_TEST

/* A bit for each launch. */
static uint64_t visits_of(uint64_t seed)
{
    struct rig rig =
        rig_open_with("intruder={'share': 0.5, 'cycles': 1000000}", seed);
    uint64_t visits = 0;
    rig_ring(&rig, 0, 8, 16);
    for (int i = 0; i < 32; i++)
        visits = 2 * visits + (elapsed_of(&rig, 10) > 1000000);
    rig_close(&rig);
    return visits;
}

START_TEST(the_seed_decides_when_it_comes)
{
    ck_assert_uint_eq(visits_of(5), visits_of(5));
    ck_assert_uint_ne(visits_of(5), visits_of(6));
}
END_TEST

/* ---- a neighbour ---- */

#define NEIGHBOUR(more)                                                        \
    "neighbour={'from': 'l2', 'share': 0.1, 'cycles': 500" more "}"
#define ALL_WAIT "neighbour={'from': 'l2', 'share': 1, 'cycles': 500}"

START_TEST(what_does_not_reach_it_does_not_wait)
{
    ck_assert_uint_eq(loop_cycles(ALL_WAIT, 1, loop_ca, 8),
                      loop_cycles("", 1, loop_ca, 8));
}
END_TEST

START_TEST(what_goes_beyond_it_waits)
{
    /* L2 has room for half of them. */
    const double memory = 490, waits = 500, cycles = memory + waits;
    ck_assert_double_eq_tol((double)loop_cycles(ALL_WAIT, 1, loop_cg, 128) /
                                LOADS,
                            cycles, 3 * waits / sqrt(LOADS));
}
END_TEST

/* On average a tenth of 500 cycles; an access has a standard deviation of
 * 312, which bursts of b make √b times as much of the mean. */
START_TEST(a_share_waits)
{
    const unsigned bursts[] = {1, 16};
    char *const gpu = xasprintf(NEIGHBOUR(", 'burst': %u"), bursts[_i]);
    ck_assert_double_eq_tol((double)loop_cycles(gpu, 1, loop_cg, 8) / LOADS,
                            190 + 50, 3 * 312 * sqrt(bursts[_i] / 10000.0));
    free(gpu);
}
END_TEST

/* Of so many loops of 50 loads, how many had nobody wait. */
static unsigned undisturbed(const char *gpu, unsigned loops)
{
    struct rig quiet = rig_open(), rig = rig_open_with(gpu, 1);
    unsigned count = 0;
    rig_ring(&quiet, 0, 8, 16);
    rig_run(&quiet, loop_cg, .n = 50);
    rig_run(&quiet, loop_cg, .n = 50);
    rig_ring(&rig, 0, 8, 16);
    for (unsigned i = 0; i < loops; i++) {
        rig_run(&rig, loop_cg, .n = 50);
        count += rig_out(&rig, 0) == rig_out(&quiet, 0);
    }
    rig_close(&quiet);
    rig_close(&rig);
    return count;
}

/* 0.9^50 of the loops are without any; in bursts of 200 most are. */
START_TEST(bursts_come_in_a_row)
{
    ck_assert_uint_le(undisturbed(NEIGHBOUR(""), 100), 4);
    ck_assert_uint_ge(undisturbed(NEIGHBOUR(", 'burst': 200"), 100), 60);
}
END_TEST

/* 1/e of what is exponentially distributed exceeds its mean. */
START_TEST(how_long_is_exponentially_distributed)
{
    struct rig rig = rig_open_with(ALL_WAIT, 1);
    unsigned longer = 0;
    rig_ring(&rig, 0, 8, 16);
    for (int i = 0; i < 500; i++) {
        rig_run(&rig, loop_cg, .n = 1);
        longer += rig_out(&rig, 0) > 190 + 500;
    }
    /* 184, 11 of standard deviation. */
    ck_assert_uint_ge(longer, 150);
    ck_assert_uint_le(longer, 217);
    rig_close(&rig);
}
END_TEST

START_TEST(who_is_not_there_changes_nothing)
{
    const char *const none[] = {
        "intruder={'share': 0, 'cycles': 50000, 'empties': ['l1']}",
        "neighbour={'from': 'l2', 'share': 0, 'cycles': 500}"};
    char *const gpu = xasprintf("noise/jitter_cycles=3 %s", none[_i]);
    ck_assert_uint_eq(loop_cycles(gpu, 1, loop_cg, 128),
                      loop_cycles("noise/jitter_cycles=3", 1, loop_cg, 128));
    free(gpu);
}
END_TEST

Suite *suite_sim_users(void)
{
    TCase *t;
    Suite *const suite = suite_of("sim_users", 10, &t);
    tcase_add_loop_test(t, the_clock_runs_on_while_the_intruder_does, 0, 4);
    tcase_add_test(t, all_clocks_run_on_alike);
    tcase_add_test(t, no_sm_runs_while_the_intruder_does);
    tcase_add_loop_test(t, what_is_named_is_emptied, 0, 6);
    tcase_add_loop_test(t, a_tlb_that_is_named_is_emptied, 0, 3);
    tcase_add_test(t, it_comes_to_the_share_of_launches);
    tcase_add_test(t, it_comes_again);
    tcase_add_test(t, it_comes_at_any_moment);
    tcase_add_test(t, the_seed_decides_when_it_comes);
    tcase_add_test(t, what_does_not_reach_it_does_not_wait);
    tcase_add_test(t, what_goes_beyond_it_waits);
    tcase_add_loop_test(t, a_share_waits, 0, 2);
    tcase_add_test(t, bursts_come_in_a_row);
    tcase_add_test(t, how_long_is_exponentially_distributed);
    tcase_add_loop_test(t, who_is_not_there_changes_nothing, 0, 2);
    return suite;
}
