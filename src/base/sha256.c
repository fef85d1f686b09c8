#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes
 * (FIPS 180-4, 4.2.2). */
static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

/* 6.2.2, step 1: the block's words and 48 that are made of them. */
static void schedule(const unsigned char *block, uint32_t word[64])
{
    for (int i = 0; i < 16; i++)
        word[i] = (uint32_t)block[4 * i] << 24 |
                  (uint32_t)block[4 * i + 1] << 16 |
                  (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t a = word[i - 15], b = word[i - 2];
        word[i] = word[i - 16] + word[i - 7] +
                  (turn(a, 7) ^ turn(a, 18) ^ a >> 3) +
                  (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void take_block(uint32_t state[SHA256_WORDS], const unsigned char *block)
{
    uint32_t word[64], v[SHA256_WORDS];
    schedule(block, word);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        const uint32_t a = v[0], e = v[4];
        const uint32_t one = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                             ((e & v[5]) ^ (~e & v[6])) + rounds[i] + word[i];
        const uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                             ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < SHA256_WORDS; i++)
        state[i] += v[i];
}

void sha256_start(struct sha256 *hash)
{
    /* Of the square roots of the first eight primes (5.3.3). */
    *hash = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                      0xa54ff53a, 0x510e527f, 0x9b05688c,
                                      0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *hash, const void *data, size_t length)
{
    const unsigned char *byte = data;
    while (length > 0) {
        const size_t at = hash->length % SHA256_BLOCK;
        const size_t room = SHA256_BLOCK - at;
        const size_t now = length < room ? length : room;
        memcpy(hash->block + at, byte, now);
        hash->length += now;
        byte += now;
        length -= now;
        if (now == room)
            take_block(hash->state, hash->block);
    }
}

void sha256_end(struct sha256 *hash, char text[SHA256_DIGITS + 1])
{
    static const unsigned char padding[SHA256_BLOCK] = {0x80};
    const uint64_t bits = hash->length * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    /* One bit, then zeros up to where the length fills the block. */
    const size_t at = hash->length % SHA256_BLOCK;
    const size_t zeros = (2 * SHA256_BLOCK - sizeof length - at) % SHA256_BLOCK;
    sha256_add(hash, padding, zeros > 0 ? zeros : SHA256_BLOCK);
    sha256_add(hash, length, sizeof length);
    for (int i = 0; i < SHA256_WORDS; i++)
        snprintf(text + 8 * i, 9, "%08x", (unsigned)hash->state[i]);
}
