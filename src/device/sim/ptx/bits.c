/* What is declared in bits.h. */
#include "device/sim/ptx/bits.h"

uint64_t bits_high(uint64_t x, uint64_t y)
{
    const uint64_t xl = (uint32_t)x, xh = x >> 32;
    const uint64_t yl = (uint32_t)y, yh = y >> 32;
    const uint64_t middle = xh * yl + (xl * yl >> 32);
    const uint64_t low = xl * yh + (uint32_t)middle;
    return xh * yh + (middle >> 32) + (low >> 32);
}

uint64_t bits_high_signed(int64_t x, int64_t y)
{
    return bits_high((uint64_t)x, (uint64_t)y) - (x < 0 ? (uint64_t)y : 0) -
           (y < 0 ? (uint64_t)x : 0);
}

unsigned bits_leading_zeros(uint64_t v, unsigned bits)
{
    return v == 0 ? bits : (unsigned)__builtin_clzll(v) - (64 - bits);
}

uint64_t bits_reverse(uint64_t v, unsigned bits)
{
    uint64_t reversed = 0;
    for (unsigned i = 0; i < bits; i++)
        reversed |= (v >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* Position of the highest bit that differs from the sign; all ones: none. */
uint32_t bits_highest(uint64_t v, unsigned bits)
{
    return bits - 1 - bits_leading_zeros(v, bits);
}

/* The field of `length` bits at `start`; sign: that of its highest bit, or of
 * the number's where the field ends above it. */
uint64_t bits_extract(uint64_t v, unsigned start, unsigned length,
                      unsigned bits, bool sign)
{
    start &= 255;
    length &= 255;
    if (length == 0)
        return 0;
    const uint64_t field = start < bits ? v >> start & low_bits(length) : 0;
    const unsigned top =
        start + length - 1 < bits - 1 ? start + length - 1 : bits - 1;
    if (!sign || (v >> top & 1) == 0)
        return field;
    const unsigned have = start < bits ? top - start + 1 : 0;
    return (field | ~low_bits(have)) & low_bits(bits);
}

uint64_t bits_insert(uint64_t field, uint64_t into, unsigned start,
                     unsigned length, unsigned bits)
{
    start &= 255;
    length &= 255;
    if (start >= bits || length == 0)
        return into;
    const uint64_t hole = low_bits(length) << start & low_bits(bits);
    return (into & ~hole) | (field << start & hole);
}

/* Each nibble of the selector names a byte of y:x; its top bit repeats that
 * byte's sign. */
static uint32_t permute(uint32_t x, uint32_t y, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)y << 32 | x;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned pick = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (pick & 7))) & 255;
        if (pick & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

/* One bit of the table for each combination of the three inputs' bits. */
uint32_t bits_lookup(uint32_t x, uint32_t y, uint32_t z, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
    return result;
}

/* Four nibbles that name the bytes of a result, by mode and the two low bits
 * of the selector; PRMT's modes in the PTX manual, with their columns. */
static const uint16_t permutations[][4] = {
    [PERMUTE_F4E] = {0x3210, 0x4321, 0x5432, 0x6543},
    [PERMUTE_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [PERMUTE_RC8] = {0x0000, 0x1111, 0x2222, 0x3333},
    [PERMUTE_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [PERMUTE_ECR] = {0x0000, 0x1110, 0x2210, 0x3210},
    [PERMUTE_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
};

uint32_t bits_permute_mode(enum permute_mode mode, uint32_t x, uint32_t y,
                           uint32_t selector)
{
    if (mode != PERMUTE_BYTES)
        selector = permutations[mode][selector & 3];
    return permute(x, y, selector);
}

/* Element `i` of `width` bits. */
static uint32_t element(uint64_t v, unsigned i, unsigned width, bool sign)
{
    const uint32_t top = (uint32_t)1 << (width - 1);
    const uint32_t value =
        (uint32_t)(v >> (width * i)) & (uint32_t)low_bits(width);
    return sign ? (value ^ top) - top : value;
}

uint32_t bits_dot4(uint64_t x, bool x_signed, uint64_t y, bool y_signed)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum += element(x, i, 8, x_signed) * element(y, i, 8, y_signed);
    return sum;
}

uint32_t bits_dot2(uint64_t x, bool x_signed, uint64_t y, bool y_signed)
{
    return element(x, 0, 16, x_signed) * element(y, 0, 8, y_signed) +
           element(x, 1, 16, x_signed) * element(y, 1, 8, y_signed);
}

uint32_t bits_mask(uint32_t start, uint32_t width)
{
    return (uint32_t)(start < 32 ? low_bits(width) << start : 0);
}

uint32_t bits_extend(uint32_t v, uint32_t width, bool sign)
{
    if (width == 0 || width >= 32)
        return width == 0 ? 0 : v;
    return element(v, 0, width, sign);
}

uint32_t bits_nth_set(uint32_t mask, uint32_t base, int32_t nth)
{
    const int step = nth < 0 ? -1 : 1;
    int64_t left = nth < 0 ? -(int64_t)nth : nth;
    if (nth == 0)
        return base < 32 && (mask >> base & 1) != 0 ? base : UINT32_MAX;
    for (int64_t at = (int32_t)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) != 0 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}
