/*
 * Every reader of targets.def reads mutated inputs: it may take or refuse
 * them, but it must come back, and what it refuses it must say in one
 * sentence.  The inputs are the same in every run; FUZZ in the environment
 * says how many (2000 a reader), FUZZ_SEED from where.
 */
#include "fuzz/fuzz.h"

#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "testing.h"

static unsigned long setting(const char *name, unsigned long fallback)
{
    const char *const text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : fallback;
}

/* An exact copy on the heap, so that a sanitizer sees a read past its end. */
static struct buf exact(const struct buf *input)
{
    struct buf copy = {.length = input->length, .capacity = input->length + 1};
    copy.data = xmalloc(copy.capacity);
    memcpy(copy.data, buf_string(input), copy.capacity);
    return copy;
}

static bool is_sentence(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            return false;
    return strlen(text) >= 10;
}

static void assert_read(const struct fuzz_target *target,
                        const struct buf *input, unsigned long number)
{
    struct error err = {0};
    struct buf copy = exact(input);
    const int status = target->read(&copy, &err);
    buf_free(&copy);
    if (status == 0)
        return;
    ck_assert_msg(status < 0 && status == err.code && is_sentence(err.text),
                  "input %lu of %s: code %d (%d), \"%s\"", number, target->name,
                  status, err.code, err.text);
}

static struct seeds seeds_of(const struct fuzz_target *target)
{
    struct seeds seeds = {0};
    target->seeds(&seeds);
    ck_assert_uint_gt(seeds.count, 0);
    return seeds;
}

static void seeds_free(struct seeds *seeds)
{
    for (size_t i = 0; i < seeds->count; i++)
        buf_free(&seeds->seed[i]);
}

/* Else mutations would all stop at the first key. */
START_TEST(seeds_are_taken)
{
    const struct fuzz_target *const target = &fuzz_targets[_i];
    struct seeds seeds = seeds_of(target);
    for (size_t i = 0; i < seeds.count; i++) {
        struct error err = {0};
        ck_assert_msg(target->read(&seeds.seed[i], &err) == 0,
                      "%s refuses its seed %zu: %s", target->name, i, err.text);
    }
    seeds_free(&seeds);
}
END_TEST

START_TEST(mutated_inputs_are_taken_or_refused)
{
    const struct fuzz_target *const target = &fuzz_targets[_i];
    const unsigned long count = setting("FUZZ", 2000) / target->cost;
    struct seeds seeds = seeds_of(target);
    struct buf input = {0};
    struct rng rng;
    rng_seed(&rng, setting("FUZZ_SEED", 1));
    for (unsigned long i = 0; i < count; i++) {
        mutate(&seeds, &rng, &input);
        assert_read(target, &input, i);
    }
    buf_free(&input);
    seeds_free(&seeds);
}
END_TEST

/* Inputs that broke something, or reach what others do not. */
START_TEST(what_was_found_once_is_read)
{
    glob_t found;
    char *const pattern =
        xasprintf("tests/fuzz/corpus/%s/*", fuzz_targets[_i].name);
    const int status = glob(pattern, 0, NULL, &found);
    ck_assert(status == 0 || status == GLOB_NOMATCH);
    for (size_t i = 0; status == 0 && i < found.gl_pathc; i++) {
        struct buf input = {0};
        struct error err;
        ASSERT_DONE(file_read(found.gl_pathv[i], 1 << 20, &input, &err), err);
        buf_append(&input, "", 0);
        assert_read(&fuzz_targets[_i], &input, i);
        buf_free(&input);
    }
    if (status == 0)
        globfree(&found);
    free(pattern);
}
END_TEST

START_TEST(empty_input_is_refused)
{
    struct buf empty = {.data = xstrdup(""), .capacity = 1};
    struct error err = {0};
    ck_assert_msg(fuzz_targets[_i].read(&empty, &err) < 0, "%s takes nothing",
                  fuzz_targets[_i].name);
    buf_free(&empty);
}
END_TEST

Suite *suite_fuzz(void)
{
    TCase *t;
    Suite *const suite = suite_of("fuzz", 60, &t);
    const int count = (int)fuzz_target_count;
    tcase_add_loop_test(t, seeds_are_taken, 0, count);
    tcase_add_loop_test(t, mutated_inputs_are_taken_or_refused, 0, count);
    tcase_add_loop_test(t, empty_input_is_refused, 0, count);
    tcase_add_loop_test(t, what_was_found_once_is_read, 0, count);
    return suite;
}
