/*
 * Mutation: what breaks readers is text that is nearly right.  So inputs are
 * seeds with bytes flipped, pieces taken out, doubled or brought in from other
 * seeds, and with numbers and words replaced by awkward ones.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz/fuzz.h"

static const char *const awkward[] = {
    "0",     "-1",   "1",       "2",          "65",     "4294967296",
    "1e999", "-0.0", "0.5",     "2147483648", "1e-320", "18446744073709551615",
    "null",  "true", "{}",      "[]",         "\"\"",   "9223372036854775807",
    "[[[[",  "}",    "\\u0000", "\xff",       "%s%n",   "\"lru\"",
    "\n",    ",",    "0x",      "K",          "=",      "\x1b[31m",
};

void seeds_add(struct seeds *seeds, const void *data, size_t length)
{
    if (seeds->count < SEEDS_MAX)
        buf_append(&seeds->seed[seeds->count++], data, length);
}

static size_t below(struct rng *rng, size_t bound)
{
    return bound > 0 ? (size_t)rng_below(rng, bound) : 0;
}

/* Puts `length` bytes in the place of `old` bytes at `at`. */
static void replace(struct buf *b, size_t at, size_t old, const char *data,
                    size_t length)
{
    struct buf result = {0};
    buf_append(&result, b->data, at);
    buf_append(&result, data, length);
    buf_append(&result, b->data + at + old, b->length - at - old);
    buf_free(b);
    *b = result;
}

static void flip_bit(struct buf *b, struct rng *rng)
{
    if (b->length > 0)
        b->data[below(rng, b->length)] ^= (char)(1 << below(rng, 8));
}

/* A short piece, mostly; now and then a long one. */
static size_t piece(const struct buf *b, struct rng *rng, size_t *at)
{
    *at = below(rng, b->length);
    const size_t most = below(rng, 8) == 0 ? b->length : 24;
    const size_t length = below(rng, most + 1);
    return length < b->length - *at ? length : b->length - *at;
}

static void take_out(struct buf *b, struct rng *rng)
{
    size_t at;
    const size_t length = piece(b, rng, &at);
    replace(b, at, length, "", 0);
}

/* Brings in a piece of a seed, which may be the same one. */
static void bring_in(struct buf *b, const struct seeds *seeds, struct rng *rng)
{
    const struct buf *const from = &seeds->seed[below(rng, seeds->count)];
    size_t at;
    const size_t length = piece(from, rng, &at);
    replace(b, below(rng, b->length), 0, from->data + at, length);
}

static void cut_off(struct buf *b, struct rng *rng)
{
    const size_t length = below(rng, b->length);
    replace(b, length, b->length - length, "", 0);
}

static size_t token_end(const struct buf *b, size_t at)
{
    while (at < b->length && (isalnum((unsigned char)b->data[at]) ||
                              b->data[at] == '_' || b->data[at] == '.'))
        at++;
    return at;
}

/* An awkward word in the place of a number, a name, or nothing. */
static void put_awkward(struct buf *b, struct rng *rng)
{
    const char *const word = awkward[below(rng, COUNT_OF(awkward))];
    size_t at = below(rng, b->length);
    for (int tries = 0; tries < 32 && token_end(b, at) == at; tries++)
        at = below(rng, b->length);
    while (at > 0 && token_end(b, at - 1) > at - 1)
        at--;
    replace(b, at, token_end(b, at) - at, word, strlen(word));
}

static void mutate_once(struct buf *b, const struct seeds *seeds,
                        struct rng *rng)
{
    switch (below(rng, 12)) {
    case 0:
    case 1:
        flip_bit(b, rng);
        break;
    case 2:
    case 3:
        take_out(b, rng);
        break;
    case 4:
    case 5:
        bring_in(b, seeds, rng);
        break;
    case 6:
        cut_off(b, rng);
        break;
    default:
        put_awkward(b, rng);
    }
}

void mutate(const struct seeds *seeds, struct rng *rng, struct buf *input)
{
    const struct buf *const seed = &seeds->seed[below(rng, seeds->count)];
    buf_clear(input);
    buf_append(input, seed->data, seed->length);
    for (size_t i = 1 + below(rng, 8) * below(rng, 2); i > 0; i--)
        mutate_once(input, seeds, rng);
}
