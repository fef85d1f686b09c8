/*
 * What PTX's integer instructions make of bits, on plain numbers.  `bits` is
 * the width of the type; x, y and z are the sources in their order.
 */
#ifndef SONDE_DEVICE_SIM_PTX_BITS_H
#define SONDE_DEVICE_SIM_PTX_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t low_bits(unsigned count)
{
    return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* The upper half of a product of 128 bits. */
uint64_t bits_high(uint64_t x, uint64_t y);
uint64_t bits_high_signed(int64_t x, int64_t y);

unsigned bits_leading_zeros(uint64_t v, unsigned bits);
uint64_t bits_reverse(uint64_t v, unsigned bits);
uint32_t bits_highest(uint64_t v, unsigned bits);
uint64_t bits_extract(uint64_t v, unsigned start, unsigned length,
                      unsigned bits, bool sign);
uint64_t bits_insert(uint64_t field, uint64_t into, unsigned start,
                     unsigned length, unsigned bits);
uint32_t bits_lookup(uint32_t x, uint32_t y, uint32_t z, uint32_t table);

/* How prmt reads its selector. */
enum permute_mode {
    PERMUTE_BYTES, /* a nibble a byte */
    PERMUTE_F4E,
    PERMUTE_B4E,
    PERMUTE_RC8,
    PERMUTE_ECL,
    PERMUTE_ECR,
    PERMUTE_RC16,
};

uint32_t bits_permute_mode(enum permute_mode mode, uint32_t x, uint32_t y,
                           uint32_t selector);

/* The sum of products of four bytes; of two halves with two bytes. */
uint32_t bits_dot4(uint64_t x, bool x_signed, uint64_t y, bool y_signed);
uint32_t bits_dot2(uint64_t x, bool x_signed, uint64_t y, bool y_signed);

/* `width` ones from bit `start` on. */
uint32_t bits_mask(uint32_t start, uint32_t width);
/* The low `width` bits, extended to 32. */
uint32_t bits_extend(uint32_t v, uint32_t width, bool sign);
/* Where the nth set bit is, from `base` up or (nth < 0) down; 0 asks for base
 * itself.  All ones: there is none. */
uint32_t bits_nth_set(uint32_t mask, uint32_t base, int32_t nth);

#endif
