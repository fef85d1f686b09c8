/* The base rooms: errors, buffers, random numbers, hash, text, files. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/text.h"
#include "testing.h"

START_TEST(text_ranges_joins_neighbours)
{
    const bool in[] = {true, true, false, true, false, true, true, true};
    char *text = text_ranges(in, COUNT_OF(in));
    ck_assert_str_eq(text, "0-1,3,5-7");
    free(text);
    text = text_ranges(in, 0);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

START_TEST(error_keeps_code_and_sentence)
{
    struct error err;
    const int code = error_set(&err, ERR_FILE, "cannot read %s", "a.json");
    ck_assert_int_eq(code, ERR_FILE);
    ck_assert_int_eq(err.code, ERR_FILE);
    ck_assert_str_eq(err.text, "cannot read a.json");
}
END_TEST

START_TEST(error_prefix_goes_in_front)
{
    struct error err;
    error_set(&err, ERR_PTX, "line 3");
    ck_assert_int_eq(error_prefix(&err, "cuda:%d", 0), ERR_PTX);
    ck_assert_str_eq(err.text, "cuda:0: line 3");
}
END_TEST

START_TEST(error_may_quote_itself)
{
    struct error err;
    error_set(&err, ERR_PTX, "inner");
    error_set(&err, ERR_DEVICE, "outer (%s)", err.text);
    ck_assert_str_eq(err.text, "outer (inner)");
}
END_TEST

START_TEST(error_too_long_is_cut)
{
    struct error err;
    char *const word = xmalloc(2 * ERROR_TEXT_MAX);
    memset(word, 'x', 2 * ERROR_TEXT_MAX);
    word[2 * ERROR_TEXT_MAX - 1] = '\0';
    error_set(&err, ERR_USAGE, "%s", word);
    ck_assert_uint_eq(strlen(err.text), ERROR_TEXT_MAX - 1);
    error_prefix(&err, "%s", word);
    ck_assert_uint_eq(strlen(err.text), ERROR_TEXT_MAX - 1);
    /* In the middle: what to do next comes last. */
    error_set(&err, ERR_USAGE, "no '%s'; see there", word);
    ck_assert_int_eq(strncmp(err.text, "no 'xxx", 7), 0);
    ck_assert_str_eq(err.text + strlen(err.text) - 11, "; see there");
    free(word);
}
END_TEST

START_TEST(error_is_one_line_without_control_characters)
{
    struct error err;
    error_set(&err, ERR_FILE, "no '%s'", "a\n\tb\x1b[31m\x7f");
    ck_assert_str_eq(err.text, "no 'a  b\\x1b[31m\\x7f'");
    error_prefix(&err, "in\r%s", "x");
    ck_assert_str_eq(err.text, "in x: no 'a  b\\x1b[31m\\x7f'");
}
END_TEST

START_TEST(error_is_not_cut_within_a_character)
{
    struct error err;
    struct buf word = {0};
    for (size_t i = 0; i < ERROR_TEXT_MAX; i++)
        buf_text(&word, "é");
    error_set(&err, ERR_FILE, "x%s", word.data);
    ck_assert_uint_lt(strlen(err.text), ERROR_TEXT_MAX);
    ck_assert_ptr_null(strstr(err.text, "\\x"));
    ck_assert(text_character(err.text + strlen(err.text) - 2).valid);
    error_set(&err, ERR_FILE, "%s", word.data);
    ck_assert_ptr_null(strstr(err.text, "\\x"));
    buf_free(&word);
}
END_TEST

/* Each as a terminal, or who reads there, must not get it; and as it is. */
static const struct {
    const char *text, *plain;
} plains[] = {
    {"NVIDIA H200", "NVIDIA H200"},
    {"≥ 16 µs – „é“", "≥ 16 µs – „é“"},
    {"\033]0;title\a", "\\x1b]0;title\\x07"},       /* OSC */
    {"\xc2\x9b" "2J", "\\x9b2J"},                    /* CSI in C1 */
    {"\x9b" "2J", "\\x9b2J"},                        /* … and bare */
    {"a\xe2\x80\xae" "b", "a\\u202eb"},              /* RLO */
    {"a\xe2\x81\xa6" "b\xe2\x81\xa9", "a\\u2066b\\u2069"},
    {"a\xd8\x9c", "a\\u061c"},                       /* ALM */
    {"a\xe2\x80\xa8" "b", "a\\u2028b"},              /* a line's end */
    {"\xf3\xa0\x81\xa1", "\\ue0061"},                /* a tag */
    {"a\tb\r\nc", "a b  c"},
    {"\x7f", "\\x7f"},
    {"\xc3", "\\xc3"},                               /* cut off */
    {"\xc0\xaf", "\\xc0\\xaf"},                     /* overlong */
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},            /* a surrogate */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  /* beyond Unicode */
    {"", ""},
};

START_TEST(plain_text_steers_no_terminal)
{
    char *const plain = text_plain(plains[_i].text);
    ck_assert_str_eq(plain, plains[_i].plain);
    char *const again = text_plain(plain);
    ck_assert_str_eq(again, plain);
    free(again);
    free(plain);
}
END_TEST

/* The table of design §6. */
START_TEST(error_exit_status_follows_the_table)
{
    ck_assert_int_eq(error_exit_status(0), 0);
    ck_assert_int_eq(error_exit_status(ERR_UNSUPPORTED), 1);
    ck_assert_int_eq(error_exit_status(ERR_INTERRUPTED), 1);
    ck_assert_int_eq(error_exit_status(ERR_USAGE), 2);
    ck_assert_int_eq(error_exit_status(ERR_FILE), 2);
    ck_assert_int_eq(error_exit_status(ERR_NO_DEVICE), 3);
    ck_assert_int_eq(error_exit_status(ERR_DEADLINE), 4);
    ck_assert_int_eq(error_exit_status(-1000), 4);
}
END_TEST

START_TEST(buf_is_always_text)
{
    struct buf b = {0};
    ck_assert_str_eq(buf_string(&b), "");
    buf_text(&b, "one");
    buf_printf(&b, " %d", 2);
    buf_append(&b, "", 0);
    ck_assert_str_eq(buf_string(&b), "one 2");
    ck_assert_uint_eq(b.length, 5);
    buf_clear(&b);
    ck_assert_str_eq(buf_string(&b), "");
    buf_free(&b);
}
END_TEST

START_TEST(buf_grows_over_many_appends)
{
    struct buf b = {0};
    for (int i = 0; i < 100000; i++)
        buf_append(&b, "ab", 2);
    ck_assert_uint_eq(b.length, 200000);
    ck_assert_int_eq(b.data[199999], 'b');
    ck_assert_int_eq(b.data[200000], '\0');
    buf_free(&b);
}
END_TEST

START_TEST(buf_holds_bytes_after_a_nul)
{
    struct buf b = {0};
    buf_append(&b, "a\0b", 3);
    ck_assert_uint_eq(b.length, 3);
    ck_assert_mem_eq(b.data, "a\0b", 4);
    buf_free(&b);
}
END_TEST

START_TEST(buf_take_hands_over_and_empties)
{
    struct buf b = {0};
    buf_text(&b, "mine");
    char *const text = buf_take(&b);
    ck_assert_str_eq(text, "mine");
    ck_assert_ptr_null(b.data);
    free(text);
    char *const none = buf_take(&b);
    ck_assert_str_eq(none, "");
    free(none);
}
END_TEST

/* Vectors of Fowler, Noll and Vo's own test (draft-eastlake-fnv, 64 bits). */
START_TEST(hash_is_fnv_1a)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } vectors[] = {
        {"",       0xcbf29ce484222325u},
        {"a",      0xaf63dc4c8601ec8cu},
        {"b",      0xaf63df4c8601f1a5u},
        {"foobar", 0x85944171f73967e8u},
    };
    for (size_t i = 0; i < COUNT_OF(vectors); i++)
        ck_assert_uint_eq(
            hash_bytes(HASH_START, vectors[i].text, strlen(vectors[i].text)),
            vectors[i].hash);
}
END_TEST

START_TEST(hash_of_text_tells_where_texts_part)
{
    const uint64_t one = hash_text(hash_text(HASH_START, "ab"), "c");
    const uint64_t other = hash_text(hash_text(HASH_START, "a"), "bc");
    ck_assert_uint_ne(one, other);
    ck_assert_uint_eq(hash_text(HASH_START, "foobar"),
                      hash_bytes(HASH_START, "foobar", 7));
}
END_TEST

/* xoshiro256** from the state 1, 2, 3, 4: the first numbers of the reference
 * implementation. */
START_TEST(rng_is_xoshiro256)
{
    static const uint64_t expected[] = {
        11520u,
        0u,
        1509978240u,
        1215971899390074240u,
        1216172134540287360u,
        607988272756665600u,
    };
    struct rng r = {
        {1, 2, 3, 4}
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        ck_assert_uint_eq(rng_next(&r), expected[i]);
}
END_TEST

/* splitmix64 from 0: the first numbers of the reference implementation. */
START_TEST(rng_seed_is_splitmix64)
{
    struct rng r;
    rng_seed(&r, 0);
    ck_assert_uint_eq(r.state[0], 0xe220a8397b1dcdafu);
    ck_assert_uint_eq(r.state[1], 0x6e789e6aa1b965f4u);
    ck_assert_uint_eq(r.state[2], 0x06c45d188009454fu);
    ck_assert_uint_eq(r.state[3], 0xf88bb8a8724c81ecu);
}
END_TEST

START_TEST(rng_same_seed_same_sequence)
{
    struct rng a, b, c;
    rng_seed(&a, 7);
    rng_seed(&b, 7);
    rng_seed(&c, 8);
    unsigned same = 0;
    for (int i = 0; i < 1000; i++) {
        const uint64_t x = rng_next(&a);
        ck_assert_uint_eq(x, rng_next(&b));
        same += x == rng_next(&c);
    }
    ck_assert_uint_eq(same, 0);
}
END_TEST

/* Each of 10 numbers is drawn 10,000 times of 100,000, give or take five
 * standard deviations of 95. */
START_TEST(rng_below_is_even)
{
    struct rng r;
    rng_seed(&r, 1);
    int count[10] = {0};
    for (int i = 0; i < 100000; i++)
        count[rng_below(&r, 10)]++;
    for (int i = 0; i < 10; i++)
        ck_assert_int_lt(abs(count[i] - 10000), 475);
    ck_assert_uint_eq(rng_below(&r, 1), 0);
}
END_TEST

START_TEST(rng_unit_is_in_its_range)
{
    struct rng r;
    rng_seed(&r, 2);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        const double x = rng_unit(&r);
        ck_assert(x >= 0 && x < 1);
        sum += x;
    }
    /* 0.5 within five of its standard deviations, sqrt(1 / 12 / 100000). */
    ck_assert_double_eq_tol(sum / 100000, 0.5, 0.0046);
}
END_TEST

START_TEST(rng_normal_has_mean_0_and_deviation_1)
{
    struct rng r;
    rng_seed(&r, 3);
    double sum = 0, squares = 0;
    int inside = 0;
    for (int i = 0; i < 100000; i++) {
        const double x = rng_normal(&r);
        sum += x;
        squares += x * x;
        inside += fabs(x) < 1.959964;
    }
    ck_assert_double_eq_tol(sum / 100000, 0, 0.016);
    ck_assert_double_eq_tol(squares / 100000, 1, 0.023);
    ck_assert_int_lt(abs(inside - 95000), 350);
}
END_TEST

static const struct {
    const char *text;
    bool good;
    uint64_t value;
} numbers[] = {
    {"0",                    true,  0                },
    {"42",                   true,  42               },
    {"010",                  true,  10               },
    {"0x10",                 true,  16               },
    {"0XfF",                 true,  255              },
    {"1K",                   true,  1024             },
    {"1k",                   true,  1024             },
    {"24KiB",                true,  24576            },
    {"24KB",                 true,  24576            },
    {"2MiB",                 true,  2097152          },
    {"2Gi",                  true,  2147483648       },
    {"1T",                   true,  1099511627776    },
    {"0x10K",                true,  16384            },
    {"18446744073709551615", true,  UINT64_MAX       },
    {"18446744073709551616", false, 0                },
    {"0xffffffffffffffff",   true,  UINT64_MAX       },
    {"16777215T",            true,  16777215ull << 40},
    {"16777216T",            false, 0                },
    {"17179869184G",         false, 0                },
    {"",                     false, 0                },
    {"-1",                   false, 0                },
    {"+1",                   false, 0                },
    {" 1",                   false, 0                },
    {"1 ",                   false, 0                },
    {"1KK",                  false, 0                },
    {"1Kx",                  false, 0                },
    {"1.5K",                 false, 0                },
    {"1e3",                  false, 0                },
    {"0x",                   false, 0                },
    {"0xg",                  false, 0                },
    {"0x-1",                 false, 0                },
    {"0x+1",                 false, 0                },
    {"0x 1",                 false, 0                },
    {"0x0x1",                false, 0                },
    {"K",                    false, 0                },
    {"B",                    false, 0                },
    {"1B",                   false, 0                },
    {"1iB",                  false, 0                },
};

START_TEST(text_to_u64_takes_whole_numbers_only)
{
    uint64_t value = 77;
    const bool good = text_to_u64(numbers[_i].text, &value);
    ck_assert_msg(good == numbers[_i].good, "'%s' was %staken",
                  numbers[_i].text, good ? "" : "not ");
    ck_assert_uint_eq(value, good ? numbers[_i].value : 77);
}
END_TEST

START_TEST(text_nearest_finds_what_was_meant)
{
    const char *const names[] = {"gtx780", "k20c", "v100", "a100", NULL};
    ck_assert_str_eq(text_nearest("gtx870", names), "gtx780");
    ck_assert_str_eq(text_nearest("k20", names), "k20c");
    ck_assert_str_eq(text_nearest("v100", names), "v100");
    ck_assert_ptr_null(text_nearest("elephant", names));
    ck_assert_ptr_null(text_nearest("", names));
}
END_TEST

START_TEST(text_nearest_of_no_names_is_none)
{
    const char *const none[] = {NULL};
    ck_assert_ptr_null(text_nearest("a", none));
}
END_TEST

START_TEST(text_nearest_survives_long_words)
{
    char word[4096];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    const char *const names[] = {word, "a100", NULL};
    ck_assert_ptr_null(text_nearest(word, names));
}
END_TEST

START_TEST(text_glob_matches_runs)
{
    ck_assert(text_glob("*", ""));
    ck_assert(text_glob("add.*", "add.u32"));
    ck_assert(text_glob("*.f32", "fma.rn.f32"));
    ck_assert(text_glob("a*b*c", "aXbYbZc"));
    ck_assert(text_glob("**", "x"));
    ck_assert(text_glob("", ""));
    ck_assert(!text_glob("", "x"));
    ck_assert(!text_glob("add", "add.u32"));
    ck_assert(!text_glob("add.*", "mad.u32"));
    ck_assert(!text_glob("a*b", "aXbY"));
}
END_TEST

/* A matcher that tries every way in turn would not end in this life. */
START_TEST(text_glob_is_quick_on_many_stars)
{
    char text[2001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ck_assert(!text_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}
END_TEST

START_TEST(file_write_then_read_gives_the_bytes)
{
    struct error err;
    struct buf b = {0};
    char *const path = testing_file("f", "old and longer");
    ASSERT_DONE(file_write(path, "n\0w", 3, &err), err);
    ASSERT_DONE(file_read(path, 3, &b, &err), err);
    ck_assert_uint_eq(b.length, 3);
    ck_assert_mem_eq(b.data, "n\0w", 3);
    buf_free(&b);
    free(path);
}
END_TEST

static int entries(const char *folder)
{
    char *const command = xasprintf("ls -A '%s' | wc -l", folder);
    FILE *const pipe = popen(command, "r");
    int count = -1;
    ck_assert_int_eq(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    free(command);
    return count;
}

struct overwriting {
    const char *path;
    volatile bool done;
};

static void *overwrite(void *context)
{
    struct overwriting *const o = context;
    char text[20000];
    struct error err;
    for (int i = 0; i < 200; i++) {
        memset(text, 'a' + i % 26, sizeof text);
        if (file_write(o->path, text, sizeof text, &err) != 0)
            break;
    }
    __atomic_store_n(&o->done, true, __ATOMIC_RELEASE);
    return NULL;
}

START_TEST(file_write_is_all_or_nothing_to_a_reader)
{
    struct error err;
    char *const path = testing_file("f", "");
    struct overwriting o = {.path = path};
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, overwrite, &o), 0);
    while (!__atomic_load_n(&o.done, __ATOMIC_ACQUIRE)) {
        struct buf b = {0};
        ASSERT_DONE(file_read(path, 20000, &b, &err), err);
        ck_assert(b.length == 0 || b.length == 20000);
        if (b.length > 0)
            ck_assert_int_eq(b.data[0], b.data[19999]);
        buf_free(&b);
    }
    pthread_join(writer, NULL);
    free(path);
}
END_TEST

START_TEST(file_write_that_fails_leaves_nothing)
{
    struct error err;
    char *const folder = testing_folder();
    /* A folder cannot be replaced by a file. */
    char *const path = xasprintf("%s/d", folder);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    ASSERT_FAILS(file_write(path, "x", 1, &err), ERR_FILE, err, path);
    ck_assert_int_eq(entries(folder), 1);
    free(path);
    free(folder);
}
END_TEST

static mode_t mode_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_mode & 07777;
}

START_TEST(file_write_takes_its_mode_from_umask_or_the_old_file)
{
    struct error err;
    char *const folder = testing_folder();
    char *const path = xasprintf("%s/f", folder);
    umask(027);
    ASSERT_DONE(file_write(path, "x", 1, &err), err);
    ck_assert_uint_eq(mode_of(path), 0640);
    ck_assert_int_eq(chmod(path, 0600), 0);
    umask(0);
    ASSERT_DONE(file_write(path, "y", 1, &err), err);
    ck_assert_uint_eq(mode_of(path), 0600);
    ck_assert_int_eq(chmod(path, 0664), 0);
    umask(077);
    ASSERT_DONE(file_write(path, "z", 1, &err), err);
    ck_assert_uint_eq(mode_of(path), 0664);
    ck_assert_int_eq(entries(folder), 1);
    free(path);
    free(folder);
}
END_TEST

/* The examples of FIPS 180-4, and the padding's edges: 55 bytes fill a block
 * with it, 56 need another (computed with sha256sum). */
START_TEST(sha256_is_the_standards)
{
    static const struct {
        size_t length; /* of so many letters a, or of the text */
        const char *text, *hash;
    } cases[] = {
        {0,       "",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {3,       "abc",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {56,      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {55,      NULL,
         "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {64,      NULL,
         "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {1000000, NULL,
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sha256 hash;
        char text[SHA256_DIGITS + 1];
        sha256_start(&hash);
        if (cases[i].text != NULL)
            sha256_add(&hash, cases[i].text, cases[i].length);
        for (size_t at = 0; cases[i].text == NULL && at < cases[i].length; at++)
            sha256_add(&hash, "a", 1);
        sha256_end(&hash, text);
        ck_assert_str_eq(text, cases[i].hash);
    }
}
END_TEST

START_TEST(file_write_says_path_and_reason)
{
    struct error err;
    const char *const path = "/nonexistent/folder/report.json";
    ck_assert_int_eq(file_write(path, "x", 1, &err), ERR_FILE);
    ck_assert_str_eq(err.text, "cannot write /nonexistent/folder/report.json: "
                               "No such file or directory");
}
END_TEST

START_TEST(file_write_goes_into_what_is_no_file)
{
    struct error err;
    ASSERT_DONE(file_write("/dev/null", "x", 1, &err), err);
    struct stat st;
    ck_assert_int_eq(stat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
    ASSERT_FAILS(file_write("/dev/full", "x", 1, &err), ERR_FILE, err,
                 "No space left");
}
END_TEST

START_TEST(file_write_follows_a_link)
{
    struct error err;
    struct stat st;
    char *const folder = testing_folder();
    char *const target = xasprintf("%s/target", folder);
    char *const link = xasprintf("%s/link", folder);
    ASSERT_DONE(file_write(target, "old", 3, &err), err);
    ck_assert_int_eq(symlink("target", link), 0);
    ASSERT_DONE(file_write(link, "newer", 5, &err), err);
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert_msg(S_ISLNK(st.st_mode), "the link was replaced");
    ck_assert_int_eq(stat(target, &st), 0);
    ck_assert_int_eq(st.st_size, 5);
    free(link);
    free(target);
    free(folder);
}
END_TEST

START_TEST(file_writable_tries_and_leaves_nothing)
{
    struct error err;
    char *const folder = testing_folder();
    char *const path = xasprintf("%s/report.json", folder);
    ASSERT_DONE(file_writable(path, &err), err);
    ck_assert_int_eq(entries(folder), 0);
    ASSERT_DONE(file_writable("/dev/null", &err), err);
    ASSERT_FAILS(file_writable("/nonexistent/x", &err), ERR_FILE, err,
                 "cannot write /nonexistent/x: No such file");
    free(path);
    free(folder);
}
END_TEST

START_TEST(file_writable_refuses_a_folder)
{
    struct error err;
    char *const folder = testing_folder();
    ASSERT_FAILS(file_writable(folder, &err), ERR_FILE, err, "directory");
    free(folder);
}
END_TEST

START_TEST(file_read_refuses_what_is_too_large)
{
    struct error err;
    struct buf b = {0};
    char *const path = testing_file("f", "four");
    ASSERT_FAILS(file_read(path, 3, &b, &err), ERR_FILE, err, "3 bytes");
    buf_free(&b);
    free(path);
}
END_TEST

START_TEST(file_read_says_path_and_reason)
{
    struct error err;
    struct buf b = {0};
    ck_assert_int_eq(file_read("/nonexistent", 9, &b, &err), ERR_FILE);
    ck_assert_str_eq(err.text,
                     "cannot read /nonexistent: No such file or directory");
    ASSERT_FAILS(file_read("/", 9, &b, &err), ERR_FILE, err, "directory");
    buf_free(&b);
}
END_TEST

static char said[64];
static enum log_level said_at;

static void note(enum log_level level, const char *text)
{
    said_at = level;
    snprintf(said, sizeof said, "%s", text);
}

START_TEST(log_goes_to_the_sink_only)
{
    log_to(note);
    log_say(LOG_INFO, "%d kernels", 3);
    ck_assert_str_eq(said, "3 kernels");
    ck_assert_int_eq(said_at, LOG_INFO);
    log_to(NULL);
    log_say(LOG_WARN, "unheard");
    ck_assert_str_eq(said, "3 kernels");
}
END_TEST

static void add_text_tests(TCase *t)
{
    tcase_add_loop_test(t, text_to_u64_takes_whole_numbers_only, 0,
                        COUNT_OF(numbers));
    tcase_add_test(t, text_nearest_finds_what_was_meant);
    tcase_add_test(t, text_nearest_of_no_names_is_none);
    tcase_add_test(t, text_nearest_survives_long_words);
    tcase_add_test(t, text_glob_matches_runs);
    tcase_add_test(t, text_glob_is_quick_on_many_stars);
}

static void add_file_tests(TCase *t)
{
    tcase_add_test(t, file_write_then_read_gives_the_bytes);
    tcase_add_test(t, file_write_is_all_or_nothing_to_a_reader);
    tcase_add_test(t, file_write_that_fails_leaves_nothing);
    tcase_add_test(t, file_write_takes_its_mode_from_umask_or_the_old_file);
    tcase_add_test(t, sha256_is_the_standards);
    tcase_add_test(t, file_write_says_path_and_reason);
    tcase_add_test(t, file_write_goes_into_what_is_no_file);
    tcase_add_test(t, file_write_follows_a_link);
    tcase_add_test(t, file_writable_tries_and_leaves_nothing);
    tcase_add_test(t, file_writable_refuses_a_folder);
    tcase_add_test(t, file_read_refuses_what_is_too_large);
    tcase_add_test(t, file_read_says_path_and_reason);
}

Suite *suite_base(void)
{
    TCase *t;
    Suite *const suite = suite_of("base", 20, &t);
    tcase_add_test(t, text_ranges_joins_neighbours);
    tcase_add_test(t, error_keeps_code_and_sentence);
    tcase_add_test(t, error_prefix_goes_in_front);
    tcase_add_test(t, error_may_quote_itself);
    tcase_add_test(t, error_too_long_is_cut);
    tcase_add_test(t, error_is_one_line_without_control_characters);
    tcase_add_test(t, error_is_not_cut_within_a_character);
    tcase_add_loop_test(t, plain_text_steers_no_terminal, 0,
                        COUNT_OF(plains));
    tcase_add_test(t, error_exit_status_follows_the_table);
    tcase_add_test(t, buf_is_always_text);
    tcase_add_test(t, buf_grows_over_many_appends);
    tcase_add_test(t, buf_holds_bytes_after_a_nul);
    tcase_add_test(t, buf_take_hands_over_and_empties);
    tcase_add_test(t, hash_is_fnv_1a);
    tcase_add_test(t, hash_of_text_tells_where_texts_part);
    tcase_add_test(t, rng_is_xoshiro256);
    tcase_add_test(t, rng_seed_is_splitmix64);
    tcase_add_test(t, rng_same_seed_same_sequence);
    tcase_add_test(t, rng_below_is_even);
    tcase_add_test(t, rng_unit_is_in_its_range);
    tcase_add_test(t, rng_normal_has_mean_0_and_deviation_1);
    tcase_add_test(t, log_goes_to_the_sink_only);
    add_text_tests(t);
    add_file_tests(t);
    return suite;
}
