/*
 * Bank conflicts: lists, for each bank, the different rows that the lanes of
 * one pass need; the longest list is the degree.
 */
#include "model/banks.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* A pass has at most a warp's lanes, and each at most five words: 16 bytes
 * that begin within one. */
enum { LANES_MAX = 32, WORDS_MAX = 5 * LANES_MAX };

struct pass {
    uint8_t newest[BANKS_MAX]; /* need of each bank + 1, 0: none */
    uint8_t length[BANKS_MAX]; /* of each bank's list */
    uint32_t row[WORDS_MAX];   /* of each need */
    uint8_t next[WORDS_MAX];   /* need of the same bank + 1, 0: none */
    uint8_t needs;
};

static unsigned row_words(const struct banks *banks)
{
    return banks->row_words == 0 ? 1 : banks->row_words;
}

static bool is_listed(const struct pass *pass, uint32_t bank, uint32_t row)
{
    uint8_t need = pass->newest[bank];
    while (need != 0 && pass->row[need - 1] != row)
        need = pass->next[need - 1];
    return need != 0;
}

/* Nearly all that is divided by here is a power of two, and each lane of each
 * access to shared memory divides: a shift is many times as quick. */
static inline uint32_t quotient(uint32_t x, uint32_t by)
{
    return (by & (by - 1)) == 0 ? x >> __builtin_ctz(by) : x / by;
}

/* Lists the word's row under its bank; returns the length of that list. */
static unsigned add_word(struct pass *pass, const struct banks *banks,
                         uint32_t word)
{
    const uint32_t over = quotient(word, banks->count);
    const uint32_t bank = word - over * banks->count;
    const uint32_t row = quotient(over, row_words(banks));
    if (is_listed(pass, bank, row))
        return pass->length[bank];
    assert(pass->needs < WORDS_MAX);
    pass->row[pass->needs] = row;
    pass->next[pass->needs] = pass->newest[bank];
    pass->newest[bank] = ++pass->needs;
    return ++pass->length[bank];
}

static unsigned pass_degree(const struct banks *banks,
                            const uint32_t *addresses, size_t lanes,
                            unsigned bytes)
{
    struct pass pass; /* most of it is needed by what is listed only */
    unsigned degree = 0;
    memset(pass.newest, 0, banks->count * sizeof *pass.newest);
    memset(pass.length, 0, banks->count * sizeof *pass.length);
    pass.needs = 0;
    for (size_t lane = 0; lane < lanes; lane++) {
        const uint32_t last = addresses[lane] + bytes - 1;
        const uint32_t from = quotient(addresses[lane], banks->bank_bytes);
        const uint32_t to = quotient(last, banks->bank_bytes);
        for (uint32_t word = from; word <= to; word++) {
            const unsigned length = add_word(&pass, banks, word);
            degree = length > degree ? length : degree;
        }
    }
    return degree;
}

/* How many lanes one pass serves. */
static size_t pass_lanes(const struct banks *banks)
{
    return banks->count < LANES_MAX ? banks->count : LANES_MAX;
}

static bool are_one(const uint32_t *addresses, size_t lanes)
{
    uint32_t differ = 0;
    for (size_t lane = 1; lane < lanes; lane++)
        differ |= addresses[lane] ^ addresses[0];
    return differ == 0;
}

unsigned banks_degree(const struct banks *banks, const uint32_t *addresses,
                      size_t lanes, unsigned bytes)
{
    assert(banks->count <= BANKS_MAX && bytes > 0);
    const size_t fit = pass_lanes(banks);
    /* The common case: the words of one access lie in different banks. */
    if (are_one(addresses, lanes))
        return (unsigned)((lanes + fit - 1) / fit);
    unsigned degree = 0;
    for (size_t lane = 0; lane < lanes; lane += fit) {
        const size_t left = lanes - lane;
        degree += pass_degree(banks, addresses + lane, left < fit ? left : fit,
                              bytes);
    }
    return degree;
}
