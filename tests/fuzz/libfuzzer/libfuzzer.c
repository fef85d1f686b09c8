/*
 * The targets of targets.def for libFuzzer, one of them a process: the one that
 * FUZZ_TARGET names.  `make fuzz` builds it and runs each; a crash leaves its
 * input, which then belongs into tests/fuzz/corpus, where `make check` reads
 * it.  FUZZ_SEEDS names a folder that gets what the target's own seeds are.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "testing.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);
size_t LLVMFuzzerMutate(uint8_t *data, size_t length, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t length, size_t most,
                               unsigned seed);

/* Check's, which tell a runner that is not here: linked before those (muldefs),
 * as an assertion that fails is a crash here. */
void _mark_point(const char *file, int line);
void _ck_assert_failed(const char *file, int line, const char *expression,
                       const char *message, ...);

void _mark_point(const char *file, int line)
{
    (void)file;
    (void)line;
}

void _ck_assert_failed(const char *file, int line, const char *expression,
                       const char *message, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: %s: ", file, line, expression);
    va_start(args, message);
    if (message != NULL)
        vfprintf(stderr, message, args);
    va_end(args);
    abort();
}

static const struct fuzz_target *target;

static void write_seeds(const char *folder)
{
    struct seeds seeds = {0};
    target->seeds(&seeds);
    for (size_t i = 0; i < seeds.count; i++) {
        char *const path = xasprintf("%s/seed-%zu", folder, i);
        FILE *const file = fopen(path, "wb");
        if (file == NULL)
            exit(2);
        fwrite(seeds.seed[i].data, 1, seeds.seed[i].length, file);
        fclose(file);
        free(path);
        buf_free(&seeds.seed[i]);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const name = getenv("FUZZ_TARGET");
    (void)argc;
    (void)argv;
    for (size_t i = 0; name != NULL && i < fuzz_target_count; i++)
        if (strcmp(fuzz_targets[i].name, name) == 0)
            target = &fuzz_targets[i];
    if (target != NULL) {
        testing_begin();
        atexit(testing_end);
        if (getenv("FUZZ_SEEDS") != NULL)
            write_seeds(getenv("FUZZ_SEEDS"));
        return 0;
    }
    for (size_t i = 0; i < fuzz_target_count; i++)
        fprintf(stderr, "FUZZ_TARGET=%s\n", fuzz_targets[i].name);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct error err = {0};
    struct buf input = {0};
    buf_append(&input, data, length);
    const int status = target->read(&input, &err);
    buf_free(&input);
    if (status != 0 && (status != err.code || err.text[0] == '\0'))
        abort(); /* refused without a reason */
    return 0;
}

/* Every other time the mutations of ours, which know numbers and words. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t length, size_t most,
                               unsigned seed)
{
    if (seed % 2 == 0 || length == 0)
        return LLVMFuzzerMutate(data, length, most);
    struct seeds seeds = {0};
    struct buf input = {0};
    struct rng rng;
    rng_seed(&rng, seed);
    seeds_add(&seeds, data, length);
    mutate(&seeds, &rng, &input);
    const size_t made = input.length < most ? input.length : most;
    memcpy(data, input.data, made);
    buf_free(&input);
    buf_free(&seeds.seed[0]);
    return made;
}
