/* Bulk copies of the simulator, and the barriers that they complete. */
#include "testing.h"
#include "unit/sim_rig.h"

/* A barrier of one arrival at 0 of the shared memory, the data at 128. */
static const char pool[] = ".extern .shared .align 128 .b8 pool[];";
#define MADE                                                                   \
    "mov.u32 %r0, pool; add.u32 %r1, %r0, 128;\n"                              \
    "mbarrier.init.shared::cta.b64 [%r0], 1;\nfence.proxy.async;\n"
#define EXPECT(bytes)                                                          \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], " bytes ";\n"
#define COPY(bytes)                                                            \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "       \
    "[%r1], [%in], " bytes ", [%r0];\n"
#define WAIT(parity)                                                           \
    "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r0], " parity ";\n"
/* Whether the wait was over goes to out[1]. */
#define TOLD "selp.u64 %rd1, 1, 0, %p0;\nst.global.u64 [%out+8], %rd1;\n"

/* Goes on when the wait is over. */
#define OVER "@!%p0 trap;\n"

START_TEST(what_is_copied_is_there)
{
    struct rig rig = rig_open();
    for (size_t i = 0; i < 8; i++)
        rig_in(&rig, i, 100 + i);
    rig_run(&rig,
            MADE EXPECT("64") COPY("64") WAIT("0") OVER
            "ld.shared.u64 %rd1, [%r1+56]; st.global.u64 [%out], %rd1;\n"
            "ld.shared.u64 %rd1, [%r1+64]; st.global.u64 [%out+8], %rd1;",
            .variables = pool, .shared = 256);
    ck_assert_uint_eq(rig_out(&rig, 0), 107);
    ck_assert_uint_eq(rig_out(&rig, 1), 0); /* no byte more */
    rig_close(&rig);
}
END_TEST

START_TEST(a_wait_is_over_when_the_phase_is)
{
    /* clang-format off */
    static const struct {
        const char *body;
        uint64_t over;
    } cases[] = {
        {MADE WAIT("0") TOLD, 0},
        {MADE WAIT("1") TOLD, 1}, /* as if a phase had been before */
        {MADE EXPECT("64") WAIT("0") TOLD, 0},
        {MADE COPY("64") WAIT("0") TOLD, 0},
        {MADE EXPECT("64") COPY("32") WAIT("0") TOLD, 0},
        {MADE EXPECT("64") COPY("32") COPY("32") WAIT("0") TOLD, 1},
        {MADE COPY("64") EXPECT("64") WAIT("0") TOLD, 1},
        {MADE EXPECT("64") COPY("64") WAIT("1") TOLD, 0},
        {MADE EXPECT("64") COPY("64") EXPECT("64") COPY("64") WAIT("1") TOLD, 1},
    };
    /* clang-format on */
    struct rig rig = rig_open();
    rig_run(&rig, cases[_i].body, .variables = pool, .shared = 256);
    ck_assert_uint_eq(rig_out(&rig, 1), cases[_i].over);
    rig_close(&rig);
}
END_TEST

/* From the copy's issue to the wait's end; the default row of the rig takes 6
 * cycles to tell of it, and the guard waits for that. */
#define ONE(bytes) EXPECT(bytes) COPY(bytes) WAIT("0") OVER

static uint64_t cycles_of(struct rig *rig, const char *body)
{
    rig_run(rig, body, .variables = pool, .shared = 2048);
    return rig_out(rig, 0);
}

START_TEST(a_copy_takes_as_long_as_a_load)
{
    struct rig rig = rig_open();
    const uint64_t cold = cycles_of(&rig, MADE TIMED(ONE("32")));
    const uint64_t warm = cycles_of(&rig, MADE TIMED(ONE("32")));
    ck_assert_uint_eq(cold - warm, 490 - 190);
    /* expect_tx, then the copy one cycle later; 190 to L2; 6 until it is told,
     * one issue, and the 2 of the clock. */
    ck_assert_uint_eq(warm, 2 + 1 + 190 + 6 + 1);
    rig_close(&rig);
}
END_TEST

START_TEST(sectors_of_a_copy_come_together)
{
    struct rig rig = rig_open();
    (void)cycles_of(&rig, MADE TIMED(ONE("1024")));
    const uint64_t one = cycles_of(&rig, MADE TIMED(ONE("32")));
    /* 8 lines: a cycle for each after the first. */
    ck_assert_uint_eq(cycles_of(&rig, MADE TIMED(ONE("1024"))), one + 7);
    rig_close(&rig);
}
END_TEST

START_TEST(copies_queue_up_where_bytes_have_a_rate)
{
    struct rig rig = rig_open_with(
        "caches={} caches/l2={'sets': 64, 'ways': 16, "
        "                     'scope': 'gpu', 'read_bandwidth': 4} "
        "paths={} paths/global={'l2': 190, 'memory': 490}",
        0);
    (void)cycles_of(&rig, MADE TIMED(ONE("1024")));
    const uint64_t one = cycles_of(&rig, MADE TIMED(ONE("32")));
    /* 31 sectors more at 4 B/clk, and 7 lines. */
    ck_assert_uint_eq(cycles_of(&rig, MADE TIMED(ONE("1024"))),
                      one + 31 * 32 / 4 + 7);
    rig_close(&rig);
}
END_TEST

START_TEST(a_bad_copy_is_a_fault)
{
    /* clang-format off */
    static const struct {
        const char *body, *words;
    } cases[] = {
        {MADE "add.u32 %r1, %r1, 8;\n" COPY("16"), "misaligned"},
        {MADE "add.u64 %in, %in, 8;\n" COPY("16"), "misaligned"},
        {MADE COPY("24"), "no multiple of 16"},
        {MADE COPY("0"), "no multiple of 16"},
        {MADE "mov.u64 %in, 16;\n" COPY("16"), "outside"},
        {MADE "add.u64 %in, %in, 65520;\n" COPY("32"), "outside"},
        {MADE COPY("144"), "outside"}, /* 128 B are left in shared memory */
        {MADE "add.u32 %r0, %r0, 8;\n" COPY("16"), "no barrier"},
        {MADE "add.u32 %r0, %r0, 4;\n" EXPECT("16"), "misaligned"},
        {MADE "add.u32 %r0, %r0, 4096;\n" EXPECT("16"), "outside"},
        {MADE EXPECT("16") EXPECT("16"), "more than 1 arrive"},
        {"mov.u32 %r0, pool; mbarrier.init.shared::cta.b64 [%r0], 0;", "0 arrivals"},
    };
    /* clang-format on */
    struct rig rig = rig_open();
    ASSERT_FAILS(
        rig_try(&rig, cases[_i].body, .variables = pool, .shared = 256),
        ERR_DEVICE, rig.err, cases[_i].words);
    rig_close(&rig);
}
END_TEST

START_TEST(what_is_left_out_is_named)
{
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"cp.async.shared::cluster.global.mbarrier::complete_tx::bytes "
         "[%r1], [%in], 16, [%r0];",
         ".bulk"},
        {"mbarrier.arrive.shared::cta.b64 _, [%r0], 1;", ".expect_tx"},
        {"mbarrier.init.shared::cta.b32 [%r0], 1;", "types"},
        {"mbarrier.try_wait.shared::cta.b64 %p0, [%r0], 1;", ".parity"},
    };
    struct rig rig = rig_open();
    ASSERT_FAILS(rig_try(&rig, cases[_i].body), ERR_PTX, rig.err,
                 cases[_i].words);
    rig_close(&rig);
}
END_TEST

Suite *suite_sim_async(void)
{
    TCase *t;
    Suite *const suite = suite_of("sim_async", 20, &t);
    tcase_add_test(t, what_is_copied_is_there);
    tcase_add_loop_test(t, a_wait_is_over_when_the_phase_is, 0, 9);
    tcase_add_test(t, a_copy_takes_as_long_as_a_load);
    tcase_add_test(t, sectors_of_a_copy_come_together);
    tcase_add_test(t, copies_queue_up_where_bytes_have_a_rate);
    tcase_add_loop_test(t, a_bad_copy_is_a_fault, 0, 12);
    tcase_add_loop_test(t, what_is_left_out_is_named, 0, 4);
    return suite;
}
