/* Recordings: written and read back, replayed, and refused when damaged. */
#include "probe/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"
#include "probe/run.h"
#include "testing.h"

static struct device_info a_gpu(void)
{
    struct device_info info = {.spec = "cuda:0",
                               .name = "NVIDIA H200",
                               .architecture = "Hopper",
                               .driver = "13.0",
                               .uuid = "GPU-0123",
                               .cc_major = 9,
                               .cc_minor = 0};
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        info.value[i] = i % 3 == 0 ? -1 : (int64_t)(1000 * i);
    return info;
}

/* Samples of the probe `clock`: rows of numbers that count up from `first`. */
static struct samples clock_samples(size_t rows, int64_t first)
{
    struct samples s;
    samples_init(&s, probe_find("clock"));
    for (size_t i = 0; i < rows; i++) {
        int64_t *const row = samples_row(&s);
        for (size_t column = 0; column < s.columns; column++)
            row[column] = first++;
    }
    return s;
}

static void add(struct recording *r, const char *experiment, size_t rows,
                int64_t first)
{
    struct samples s = clock_samples(rows, first);
    recording_add(r, experiment, &s);
    samples_free(&s);
}

/* Three experiments; one of them was run twice. */
static struct recording *a_recording(void)
{
    const struct device_info info = a_gpu();
    struct recording *const r = recording_new(&info, UINT64_MAX);
    add(r, "clock", 3, INT64_MAX - 20);
    add(r, "clock spin=1000", 200, -50);
    add(r, "clock", 2, 500);
    return r;
}

static struct buf bytes_of(const struct recording *r)
{
    char *const path = testing_file("recording", "");
    struct error err;
    struct buf bytes = {0};
    ASSERT_DONE(recording_write(r, path, &err), err);
    ASSERT_DONE(file_read(path, 1 << 20, &bytes, &err), err);
    free(path);
    return bytes;
}

static struct buf some_bytes(void)
{
    struct recording *const r = a_recording();
    const struct buf bytes = bytes_of(r);
    recording_free(r);
    return bytes;
}

static struct recording *read_back(void)
{
    struct buf bytes = some_bytes();
    struct recording *r;
    struct error err;
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a.rec", &r, &err),
                err);
    buf_free(&bytes);
    return r;
}

/* ---- round trip ------------------------------------------------------- */

START_TEST(device_and_seed_come_back)
{
    struct recording *const r = read_back();
    const struct device_info was = a_gpu(), *const is = recording_info(r);
    ck_assert_uint_eq(recording_seed(r), UINT64_MAX);
    ck_assert_str_eq(is->spec, was.spec);
    ck_assert_str_eq(is->name, was.name);
    ck_assert_str_eq(is->architecture, was.architecture);
    ck_assert_str_eq(is->driver, was.driver);
    ck_assert_str_eq(is->uuid, was.uuid);
    ck_assert_int_eq(is->cc_major, 9);
    ck_assert_int_eq(is->cc_minor, 0);
    ck_assert(!is->simulated);
    ck_assert_mem_eq(is->value, was.value, sizeof was.value);
    recording_free(r);
}
END_TEST

static void assert_replays(struct recording *r, const char *experiment,
                           size_t rows, int64_t first)
{
    struct samples got = clock_samples(0, 0);
    struct samples expected = clock_samples(rows, first);
    struct error err;
    ASSERT_DONE(recording_find(r, experiment, &got, &err), err);
    ck_assert_uint_eq(got.rows, rows);
    for (size_t i = 0; i < rows * got.columns; i++)
        ck_assert_int_eq(got.data[i], expected.data[i]);
    samples_free(&got);
    samples_free(&expected);
}

START_TEST(samples_come_back)
{
    struct recording *const r = read_back();
    assert_replays(r, "clock spin=1000", 200, -50);
    recording_free(r);
}
END_TEST

START_TEST(what_disturbed_comes_back)
{
    const struct device_info info = a_gpu();
    struct recording *const made = recording_new(&info, 1);
    struct samples s = clock_samples(2, 7), got = clock_samples(0, 0);
    s.disturbed = xstrdup("another process ran on the GPU during 3 of 3 runs");
    recording_add(made, "clock", &s);
    struct buf bytes = bytes_of(made);
    struct recording *r;
    struct error err;
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a.rec", &r, &err),
                err);
    ASSERT_DONE(recording_find(r, "clock", &got, &err), err);
    ck_assert_str_eq(got.disturbed, s.disturbed);
    ck_assert_uint_eq(got.rows, 2);
    samples_free(&s);
    samples_free(&got);
    buf_free(&bytes);
    recording_free(made);
    recording_free(r);
}
END_TEST

START_TEST(a_repeated_experiment_is_replayed_in_its_order)
{
    struct recording *const r = read_back();
    assert_replays(r, "clock", 3, INT64_MAX - 20);
    assert_replays(r, "clock", 2, 500);
    recording_free(r);
}
END_TEST

START_TEST(the_last_is_repeated)
{
    struct recording *const r = read_back();
    for (int i = 0; i < 3; i++)
        assert_replays(r, "clock spin=1000", 200, -50);
    recording_free(r);
}
END_TEST

START_TEST(what_was_read_writes_the_same_file)
{
    struct buf once = some_bytes();
    struct recording *const r = read_back();
    struct buf twice = bytes_of(r);
    ck_assert_uint_eq(once.length, twice.length);
    ck_assert_mem_eq(once.data, twice.data, once.length);
    recording_free(r);
    buf_free(&once);
    buf_free(&twice);
}
END_TEST

START_TEST(an_experiment_without_rows_comes_back)
{
    const struct device_info info = a_gpu();
    struct recording *const r = recording_new(&info, 1);
    add(r, "clock", 0, 0);
    struct buf bytes = bytes_of(r);
    struct recording *again;
    struct error err;
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a", &again, &err),
                err);
    assert_replays(again, "clock", 0, 0);
    recording_free(r);
    recording_free(again);
    buf_free(&bytes);
}
END_TEST

START_TEST(a_refusal_comes_back)
{
    const struct device_info info = a_gpu();
    struct recording *const r = recording_new(&info, 1);
    struct samples s = clock_samples(0, 0);
    struct error err;
    error_set(&err, ERR_DEVICE_MEMORY, "only 5 bytes are free");
    recording_refuse(r, "clock", &err);
    struct buf bytes = bytes_of(r);
    struct recording *again;
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a", &again, &err),
                err);
    ASSERT_FAILS(recording_find(again, "clock", &s, &err), ERR_DEVICE_MEMORY,
                 err, "only 5 bytes are free");
    samples_free(&s);
    recording_free(r);
    recording_free(again);
    buf_free(&bytes);
}
END_TEST

/* The name of a file may be in any encoding. */
START_TEST(a_spec_that_is_no_utf8_does_not_spoil_the_recording)
{
    struct device_info info = a_gpu();
    strcpy(info.spec, "sim:./\xff.json");
    struct recording *const r = recording_new(&info, 1);
    struct buf bytes = bytes_of(r);
    struct recording *again;
    struct error err;
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a", &again, &err),
                err);
    ck_assert_str_eq(recording_info(again)->name, "NVIDIA H200");
    recording_free(r);
    recording_free(again);
    buf_free(&bytes);
}
END_TEST

/* ---- what is not there ------------------------------------------------ */

START_TEST(an_experiment_that_is_not_there_is_named)
{
    struct recording *const r = read_back();
    struct samples s = clock_samples(0, 0);
    struct error err;
    ASSERT_FAILS(recording_find(r, "clock spin=7", &s, &err), ERR_NOT_RECORDED,
                 err, "a.rec does not hold the experiment 'clock spin=7'");
    ck_assert_uint_eq(s.rows, 0);
    char longer[300] = "clock spin=";
    memset(longer + strlen(longer), '7', 200);
    ASSERT_FAILS(recording_find(r, longer, &s, &err), ERR_NOT_RECORDED, err,
                 "7777777 ...'; record the study again");
    ck_assert_uint_lt(strlen(err.text), 250);
    samples_free(&s);
    recording_free(r);
}
END_TEST

/* What a run that was stopped did not come to is no fault of the recording. */
START_TEST(a_stop_comes_back)
{
    struct recording *const r = a_recording();
    struct recording *again;
    struct samples s = clock_samples(0, 0);
    struct error err;
    recording_stop(r, "measuring was stopped");
    struct buf bytes = bytes_of(r);
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a", &again, &err),
                err);
    ck_assert_str_eq(recording_stopped(again), "measuring was stopped");
    ASSERT_FAILS(recording_find(again, "clock spin=7", &s, &err),
                 ERR_INTERRUPTED, err, "measuring was stopped");
    ASSERT_DONE(recording_find(again, "clock", &s, &err), err);
    samples_free(&s);
    recording_free(r);
    recording_free(again);
    buf_free(&bytes);
}
END_TEST

START_TEST(other_columns_are_refused)
{
    struct recording *const r = read_back();
    struct samples s;
    struct error err;
    samples_init(&s, probe_find("chase"));
    ASSERT_FAILS(recording_find(r, "clock", &s, &err), ERR_NOT_RECORDED, err,
                 "'clock' has the columns repeat pair cycles ns");
    samples_free(&s);
    recording_free(r);
}
END_TEST

START_TEST(a_missing_file_is_named)
{
    struct recording *r;
    struct error err;
    ASSERT_FAILS(recording_read("/nowhere/a.rec", &r, &err), ERR_FILE, err,
                 "/nowhere/a.rec");
}
END_TEST

/* ---- damage ----------------------------------------------------------- */

enum { FLIPS = 200 };

static int parse(const struct buf *bytes, struct error *err)
{
    struct recording *r;
    const int status =
        recording_parse(bytes->data, bytes->length, "a.rec", &r, err);
    if (status == 0)
        recording_free(r);
    return status;
}

START_TEST(a_changed_byte_is_noticed)
{
    struct buf bytes = some_bytes();
    ck_assert_uint_gt(bytes.length, FLIPS);
    for (size_t i = 0; i < FLIPS; i++) {
        char *const byte = bytes.data + i * (bytes.length - 1) / (FLIPS - 1);
        struct error err;
        *byte = (char)~*byte;
        ck_assert_msg(parse(&bytes, &err) == ERR_FILE, "byte %td of %zu",
                      byte - bytes.data, bytes.length);
        *byte = (char)~*byte;
    }
    buf_free(&bytes);
}
END_TEST

START_TEST(a_missing_end_is_noticed)
{
    struct buf bytes = some_bytes();
    for (size_t left = 0; left < bytes.length; left += 1 + left / 16) {
        const struct buf part = {.data = bytes.data, .length = left};
        struct error err;
        ASSERT_FAILS(parse(&part, &err), ERR_FILE, err, "a.rec");
    }
    buf_free(&bytes);
}
END_TEST

START_TEST(something_behind_the_end_is_noticed)
{
    struct buf bytes = some_bytes();
    struct error err;
    buf_text(&bytes, "x");
    ASSERT_FAILS(parse(&bytes, &err), ERR_FILE, err, "a.rec is damaged");
    buf_free(&bytes);
}
END_TEST

/* A file that grew by three experiments and was not closed, of so many bytes
 * after each. */
static struct buf grown(size_t length[3])
{
    const struct device_info info = a_gpu();
    struct recording *const r = recording_new(&info, 1);
    char *const path = testing_file("grown", "");
    struct samples s;
    struct error err;
    struct buf bytes = {0};
    unlink(path);
    recording_grow(r, path);
    samples_init(&s, probe_find("clock"));
    for (int i = 0; i < 3; i++) {
        samples_add(&s, 1, 2, 7);
        recording_add(r, "clock", &s);
        buf_clear(&bytes);
        ASSERT_DONE(file_read(path, 1 << 20, &bytes, &err), err);
        length[i] = bytes.length;
    }
    recording_free(r);
    samples_free(&s);
    free(path);
    return bytes;
}

START_TEST(a_recording_that_grows_can_be_read_at_any_time)
{
    size_t length[3];
    const struct buf bytes = grown(length);
    ck_assert_uint_lt(length[0], length[1]);
    ck_assert_uint_lt(length[1], length[2]);
    for (size_t left = length[0]; left <= bytes.length; left++) {
        char *const copy = xmalloc(left);
        memcpy(copy, bytes.data, left);
        struct recording *r;
        struct error err;
        ASSERT_DONE(recording_parse(copy, left, "a.rec", &r, &err), err);
        const int whole = 1 + (left >= length[1]) + (left >= length[2]);
        struct samples s;
        for (int i = 1; i <= whole; i++) {
            samples_init(&s, probe_find("clock"));
            ASSERT_DONE(recording_find(r, "clock", &s, &err), err);
            ck_assert_uint_eq(s.rows, (size_t)i);
            samples_free(&s);
        }
        char *const told = xasprintf("after experiment %d", whole);
        ck_assert_ptr_nonnull(strstr(recording_stopped(r), told));
        free(told);
        recording_free(r);
        free(copy);
    }
    free(bytes.data);
}
END_TEST

START_TEST(a_changed_byte_of_one_that_grows_is_noticed_or_cuts_it_short)
{
    size_t length[3];
    struct buf bytes = grown(length);
    for (size_t i = 0; i < bytes.length; i++) {
        struct recording *r;
        struct error err;
        bytes.data[i] = (char)~bytes.data[i];
        if (recording_parse(bytes.data, bytes.length, "a.rec", &r, &err) == 0) {
            /* Nothing that was changed is believed: at most what came before.
             */
            ck_assert_uint_ge(i, length[0]);
            ck_assert_ptr_null(
                strstr(recording_stopped(r), "after experiment 3"));
            recording_free(r);
        }
        bytes.data[i] = (char)~bytes.data[i];
    }
    free(bytes.data);
}
END_TEST

START_TEST(another_file_is_no_recording)
{
    struct buf bytes = {0};
    struct error err;
    buf_text(&bytes, "{\"schema\": \"sonde-report-1\"}\n");
    ASSERT_FAILS(parse(&bytes, &err), ERR_FILE, err,
                 "a.rec is not a recording of sonde's");
    buf_free(&bytes);
}
END_TEST

/* ---- text that is not what it should be ------------------------------- */

#define HEAD  "sonde-recording 1\nseed 1\ndevice {\"name\":\"x\"}\n"
#define CLOCK "experiment clock\ncolumns repeat pair cycles ns\n"

static const struct {
    const char *text, *word;
} bad[] = {
    {"sonde-recording 2\nseed 1\n",                            "does not begin with 'sonde-recording 1'"},
    {"sonde-recording 10\nseed 1\n",                           "does not begin with 'sonde-recording 1'"},
    {"",                                                       "does not begin"                         },
    {"sonde-recording 1\nsead 1\n",                            "line 2: there is no seed"               },
    {"sonde-recording 1\nseed -\n",                            "line 2: there is no seed"               },
    {"sonde-recording 1\nseed 1\ndevice {\n",
     "line 3: there is no description of the device"                                                    },
    {"sonde-recording 1\nseed 1\ndevice []\n",
     "line 3: there is no description of the device"                                                    },
    {HEAD,                                                     "line 3: the end is missing"             },
    {HEAD "end 1\n",                                           "the end is missing"                     },
    {HEAD "end 0",                                             "the end is missing"                     },
    {HEAD "end 0\nend 0\n",                                    "the end is missing"                     },
    {HEAD "experiment clock\nrows 1\n",                        "no columns"                             },
    {HEAD "experiment clock\nrefused 7 no\nend 1\n",           "no code"                                },
    {HEAD "experiment clock\nrefused -7\nend 1\n",             "no code"                                },
    {HEAD CLOCK "rows x\nend 1\n",                             "no number of rows"                      },
    {HEAD CLOCK "rows 4000000000\n0 1 2 3\nend 1\n",           "no number of rows"                      },
    {HEAD CLOCK "rows 2\n0 1 2 3\nend 1\n",                    "line 8: a row of samples"               },
    {HEAD CLOCK "rows 1\n0 1 2\nend 1\n",                      "line 7: a row of samples"               },
    {HEAD CLOCK "rows 1\n0 1 2 3 4\nend 1\n",                  "line 7: a row of samples"               },
    {HEAD CLOCK "rows 1\n0 1 2 99999999999999999999\nend 1\n", "a row"                                  },
    {HEAD CLOCK "rows 1\n",                                    "samples are missing"                    },
};

static struct buf packed(const char *text)
{
    char data[1024];
    struct buf bytes = {0};
    const size_t length =
        ZSTD_compress(data, sizeof data, text, strlen(text), 1);
    ck_assert(!ZSTD_isError(length));
    buf_append(&bytes, data, length);
    return bytes;
}

START_TEST(bad_text_is_refused_with_its_line)
{
    struct buf bytes = packed(bad[_i].text);
    struct error err;
    ASSERT_FAILS(parse(&bytes, &err), ERR_FILE, err, bad[_i].word);
    buf_free(&bytes);
}
END_TEST

START_TEST(good_text_is_taken)
{
    struct buf bytes = packed(HEAD CLOCK "rows 1\n0 1 -2 3\nend 1\n");
    struct error err;
    ASSERT_DONE(parse(&bytes, &err), err);
    buf_free(&bytes);
}
END_TEST

/* As `zstd` writes what it reads from a pipe: a frame that does not tell its
 * size. */
static struct buf piped(const char *text)
{
    struct buf bytes = {0};
    ZSTD_CCtx *const context = ZSTD_createCCtx();
    ZSTD_inBuffer in = {text, strlen(text), 0};
    size_t left;
    bool whole;
    do {
        char piece[64];
        ZSTD_outBuffer out = {piece, sizeof piece, 0};
        whole = in.pos == in.size;
        left = ZSTD_compressStream2(context, &out, &in,
                                    whole ? ZSTD_e_end : ZSTD_e_continue);
        ck_assert(!ZSTD_isError(left));
        buf_append(&bytes, piece, out.pos);
    } while (!whole || left > 0);
    ZSTD_freeCCtx(context);
    ck_assert_uint_eq(ZSTD_getFrameContentSize(bytes.data, bytes.length),
                      ZSTD_CONTENTSIZE_UNKNOWN);
    return bytes;
}

/* More text than is unpacked at once. */
START_TEST(a_frame_from_a_pipe_is_read)
{
    enum { ROWS = 40000 };
    struct buf text = {0};
    struct recording *r;
    struct error err;
    buf_printf(&text, HEAD CLOCK "rows %d\n", ROWS);
    for (int64_t i = 0; i < 4 * (int64_t)ROWS; i++)
        buf_printf(&text, "%lld%c", (long long)(7 + i), i % 4 < 3 ? ' ' : '\n');
    buf_text(&text, "end 1\n");
    ck_assert_uint_gt(text.length, 2 * ZSTD_DStreamOutSize());
    struct buf bytes = piped(text.data);
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a.rec", &r, &err),
                err);
    assert_replays(r, "clock", ROWS, 7);
    recording_free(r);
    buf_free(&bytes);
    buf_free(&text);
}
END_TEST

/* Text is repeated a thousandfold: 8 MiB and a hundred times the file's length
 * are read, and no more. */
START_TEST(a_small_file_does_not_become_large)
{
    struct buf text = {0};
    struct error err;
    buf_text(&text, HEAD CLOCK "rows 2000000\n");
    for (int i = 0; i < 2000000; i++)
        buf_text(&text, "0 0 0 0\n");
    buf_text(&text, "end 1\n");
    struct buf bytes = piped(text.data);
    ck_assert_uint_lt(bytes.length, 65536);
    ASSERT_FAILS(parse(&bytes, &err), ERR_FILE, err, "it is too long");
    buf_free(&bytes);
    buf_free(&text);
}
END_TEST

/* Samples that no run of their experiment can have given. */
static const struct {
    const char *experiment, *rows, *says;
} unsound[] = {
    {"clock",               CLOCK "rows 0\n",                    "it has no samples"},
    {"clock",               CLOCK "rows 1\n0 1 -2 3\n",         "cycles cannot be -2"},
    {"clock",               CLOCK "rows 1\n0 1 9007199254740993 3\n",
     "cycles cannot be 9007199254740993"},
    {"clock",               CLOCK "rows 1\n1 1 2 3\n",          "not in their order"},
    {"clock",               CLOCK "rows 3\n0 1 2 3\n1 1 2 3\n0 1 2 3\n",
     "not in their order"},
    {"clock",               CLOCK "rows 2\n0 1 2 3\n0 1 2 3\n", "not as many rows"},
    {"clock",
     "experiment clock\ndisturbed somebody was there\n"
     "columns repeat pair cycles ns\nrows 2\n0 1 2 3\n0 1 2 3\n",
     "somebody was there"},
    {"banks to=2",
     "experiment banks to=2\ncolumns repeat case visits short long\n"
     "rows 2\n0 1 12 5 9\n0 5 12 5 9\n",                       "not in their order"},
};

START_TEST(samples_that_no_run_gives_are_refused)
{
    struct buf text = {0};
    struct recording *r;
    struct samples s;
    struct error err;
    buf_printf(&text, HEAD "%send 1\n", unsound[_i].rows);
    struct buf bytes = piped(text.data);
    ASSERT_DONE(recording_parse(bytes.data, bytes.length, "a.rec", &r, &err),
                err);
    struct prober *const p =
        prober_new(NULL, r, &(struct prober_options){.seed = 1});
    ASSERT_FAILS(prober_run(p, unsound[_i].experiment, &s, NULL, &err),
                 ERR_NOT_RECORDED, err, unsound[_i].says);
    prober_free(p);
    recording_free(r);
    buf_free(&bytes);
    buf_free(&text);
}
END_TEST

START_TEST(a_cut_frame_from_a_pipe_is_noticed)
{
    struct buf bytes = piped(HEAD CLOCK "rows 1\n0 1 -2 3\nend 1\n");
    struct error err;
    ASSERT_DONE(parse(&bytes, &err), err);
    for (bytes.length--; bytes.length > 0; bytes.length--)
        ASSERT_FAILS(parse(&bytes, &err), ERR_FILE, err, "a.rec");
    buf_free(&bytes);
}
END_TEST

Suite *suite_record(void)
{
    TCase *t;
    Suite *const suite = suite_of("record", 20, &t);
    tcase_add_test(t, device_and_seed_come_back);
    tcase_add_test(t, samples_come_back);
    tcase_add_test(t, what_disturbed_comes_back);
    tcase_add_test(t, a_repeated_experiment_is_replayed_in_its_order);
    tcase_add_test(t, the_last_is_repeated);
    tcase_add_test(t, what_was_read_writes_the_same_file);
    tcase_add_test(t, an_experiment_without_rows_comes_back);
    tcase_add_test(t, a_refusal_comes_back);
    tcase_add_test(t, a_spec_that_is_no_utf8_does_not_spoil_the_recording);
    tcase_add_test(t, an_experiment_that_is_not_there_is_named);
    tcase_add_test(t, a_stop_comes_back);
    tcase_add_test(t, other_columns_are_refused);
    tcase_add_test(t, a_missing_file_is_named);
    tcase_add_test(t, a_changed_byte_is_noticed);
    tcase_add_test(t, a_missing_end_is_noticed);
    tcase_add_test(t, something_behind_the_end_is_noticed);
    tcase_add_test(t, a_recording_that_grows_can_be_read_at_any_time);
    tcase_add_test(t,
                   a_changed_byte_of_one_that_grows_is_noticed_or_cuts_it_short);
    tcase_add_test(t, a_small_file_does_not_become_large);
    tcase_add_loop_test(t, samples_that_no_run_gives_are_refused, 0,
                        COUNT_OF(unsound));
    tcase_add_test(t, another_file_is_no_recording);
    tcase_add_loop_test(t, bad_text_is_refused_with_its_line, 0, COUNT_OF(bad));
    tcase_add_test(t, good_text_is_taken);
    tcase_add_test(t, a_frame_from_a_pipe_is_read);
    tcase_add_test(t, a_cut_frame_from_a_pipe_is_noticed);
    return suite;
}
