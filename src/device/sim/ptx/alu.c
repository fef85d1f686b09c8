/*
 * Arithmetic: one small function for each instruction and type, made by the
 * macros below from the expression that it computes, and one table of them.
 * x, y, z are the sources in the type at hand.
 *
 * Approximate functions (.approx, .full) compute what libm computes, and .ftz
 * flushes nothing: no probe looks at the last bits.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "device/sim/ptx/bits.h"
#include "device/sim/ptx/convert.h"
#include "device/sim/ptx/opcodes.h"

/* The loop after it may go through several lanes at a time: what a lane becomes
 * depends on no other lane of any register.  (Clang complains where it finds
 * that this does not pay.) */
#ifdef __clang__
#define LANES_APART
#else
#define LANES_APART _Pragma("GCC ivdep")
#endif

/* Each lane of the mask; a full warp goes through in one plain loop. */
#define EACH_LANE(statement)                                                   \
    if (mask == UINT32_MAX) {                                                  \
        LANES_APART                                                            \
        for (unsigned l = 0; l < 32; l++)                                      \
            statement;                                                         \
    } else {                                                                   \
        for (uint32_t left = mask; left != 0; left &= left - 1) {              \
            const unsigned l = (unsigned)__builtin_ctz(left);                  \
            statement;                                                         \
        }                                                                      \
    }

#define ALU_FUNCTION(name)                                                     \
    static void name(const struct op *op, uint64_t *regs, unsigned shift,      \
                     uint32_t mask)

static uint64_t *lanes_of(uint64_t *regs, uint32_t reg, unsigned shift)
{
    return regs + ((size_t)reg << shift);
}

/* A function of up to three sources of type t; the result has type r. */
#define DEFINE(name, t, r, expression)                                         \
    static inline uint64_t name##_of(uint64_t a, uint64_t b, uint64_t c)       \
    {                                                                          \
        const CTYPE_##t x = get_##t(a), y = get_##t(b), z = get_##t(c);        \
        (void)x, (void)y, (void)z;                                             \
        return put_##r(expression);                                            \
    }                                                                          \
    ALU_FUNCTION(name)                                                         \
    {                                                                          \
        uint64_t *const d = lanes_of(regs, op->dst[0], shift);                 \
        const uint64_t *const a = lanes_of(regs, op->src[0], shift);           \
        const uint64_t *const b = lanes_of(regs, op->src[1], shift);           \
        const uint64_t *const c = lanes_of(regs, op->src[2], shift);           \
        EACH_LANE(d[l] = name##_of(a[l], b[l], c[l]))                          \
    }

/* A function of up to four sources as their registers hold them, and of what
 * else the instruction says. */
#define DEFINE_OF(name, expression)                                            \
    static inline uint64_t name##_of(const struct op *op, uint64_t x,          \
                                     uint64_t y, uint64_t z, uint64_t v)       \
    {                                                                          \
        (void)op, (void)x, (void)y, (void)z, (void)v;                          \
        return expression;                                                     \
    }                                                                          \
    ALU_FUNCTION(name)                                                         \
    {                                                                          \
        uint64_t *const d = lanes_of(regs, op->dst[0], shift);                 \
        const uint64_t *const a = lanes_of(regs, op->src[0], shift);           \
        const uint64_t *const b = lanes_of(regs, op->src[1], shift);           \
        const uint64_t *const c = lanes_of(regs, op->src[2], shift);           \
        const uint64_t *const e = lanes_of(regs, op->src[3], shift);           \
        EACH_LANE(d[l] = name##_of(op, a[l], b[l], c[l], e[l]))                \
    }

#define CTYPE_u16  uint16_t
#define CTYPE_s16  int16_t
#define CTYPE_u32  uint32_t
#define CTYPE_s32  int32_t
#define CTYPE_u64  uint64_t
#define CTYPE_s64  int64_t
#define CTYPE_f16  float
#define CTYPE_bf16 float
#define CTYPE_f32  float
#define CTYPE_f64  double

#define INTEGER_ACCESS(t)                                                      \
    static inline CTYPE_##t get_##t(uint64_t v)                                \
    {                                                                          \
        return (CTYPE_##t)v;                                                   \
    }
INTEGER_ACCESS(u16)
INTEGER_ACCESS(s16)
INTEGER_ACCESS(u32)
INTEGER_ACCESS(s32)
INTEGER_ACCESS(u64)
INTEGER_ACCESS(s64)

static inline uint64_t put_u16(uint64_t v)
{
    return (uint16_t)v;
}
static inline uint64_t put_s16(int64_t v)
{
    return (uint16_t)v;
}
static inline uint64_t put_u32(uint64_t v)
{
    return (uint32_t)v;
}
static inline uint64_t put_s32(int64_t v)
{
    return (uint32_t)v;
}
static inline uint64_t put_u64(uint64_t v)
{
    return v;
}
static inline uint64_t put_s64(int64_t v)
{
    return (uint64_t)v;
}
static inline uint64_t put_bit(bool v)
{
    return v;
}

#define get_f16  half_to_float
#define put_f16  real_to_half
#define get_bf16 bfloat_to_float
#define put_bf16 real_to_bfloat
#define get_f32  bits_to_float
#define put_f32  float_to_bits
#define get_f64  bits_to_double
#define put_f64  double_to_bits

/* Where the sign does not matter, one function a width. */
#define DEFINE_WIDTHS(name, expression)                                        \
    DEFINE(name##_16, u16, u16, expression)                                    \
    DEFINE(name##_32, u32, u32, expression)                                    \
    DEFINE(name##_64, u64, u64, expression)

#define DEFINE_UNSIGNED(name, expression)                                      \
    DEFINE(name##_u16, u16, u16, expression)                                   \
    DEFINE(name##_u32, u32, u32, expression)                                   \
    DEFINE(name##_u64, u64, u64, expression)

#define DEFINE_SIGNED(name, expression)                                        \
    DEFINE(name##_s16, s16, s16, expression)                                   \
    DEFINE(name##_s32, s32, s32, expression)                                   \
    DEFINE(name##_s64, s64, s64, expression)

#define DEFINE_NARROW_FLOATS(name, expression)                                 \
    DEFINE(name##_f16, f16, f16, expression)                                   \
    DEFINE(name##_bf16, bf16, bf16, expression)                                \
    DEFINE(name##_f32, f32, f32, (float)(expression))
#define DEFINE_FLOATS(name, expression)                                        \
    DEFINE_NARROW_FLOATS(name, expression)                                     \
    DEFINE(name##_f64, f64, f64, expression)

DEFINE_WIDTHS(add, (uint64_t)x + y)
DEFINE_WIDTHS(sub, (uint64_t)x - y)
/* As wide as the type, but for 16 bits, whose product may be no int. */
DEFINE_WIDTHS(mul_lo, 1u * x * y)
DEFINE_WIDTHS(mad_lo, 1u * x * y + z)
DEFINE_WIDTHS(and, x &y)
DEFINE_WIDTHS(or, x | y)
DEFINE_WIDTHS(xor, x ^ y)
DEFINE_WIDTHS(not, ~(uint64_t)x)
DEFINE_WIDTHS(cnot, (uint64_t)(x == 0))
DEFINE_WIDTHS(neg, 0 - (uint64_t)x)
DEFINE_WIDTHS(mov, x)

DEFINE_UNSIGNED(min, x < y ? x : y)
DEFINE_SIGNED(min, x < y ? x : y)
DEFINE_UNSIGNED(max, x > y ? x : y)
DEFINE_SIGNED(max, x > y ? x : y)
/* The quotient by zero is all ones, as on the hardware. */
DEFINE_UNSIGNED(div, y == 0 ? UINT64_MAX : (uint64_t)(x / y))
DEFINE_UNSIGNED(rem, y == 0 ? (uint64_t)x : (uint64_t)(x % y))
/* -1 apart: the smallest number has no negative to divide into. */
DEFINE_SIGNED(div, y == 0    ? -1
                   : y == -1 ? (int64_t)(0 - (uint64_t)x)
                             : (int64_t)(x / y))
DEFINE_SIGNED(rem, y == 0 ? (int64_t)x : y == -1 ? 0 : (int64_t)(x % y))
DEFINE_SIGNED(abs, x < 0 ? (int64_t)(0 - (uint64_t)x) : (int64_t)x)
DEFINE_UNSIGNED(sad, (uint64_t)z + (x > y ? (uint64_t)x - y : (uint64_t)y - x))
DEFINE_SIGNED(sad, (int64_t)((uint64_t)z + (x > y ? (uint64_t)x - (uint64_t)y
                                                  : (uint64_t)y - (uint64_t)x)))

DEFINE(mul_hi_u16, u16, u16, (uint64_t)x *y >> 16)
DEFINE(mul_hi_s16, s16, s16, (int64_t)x *y >> 16)
DEFINE(mul_hi_u32, u32, u32, (uint64_t)x *y >> 32)
DEFINE(mul_hi_s32, s32, s32, (int64_t)x *y >> 32)
DEFINE(mul_hi_u64, u64, u64, bits_high(x, y))
DEFINE(mul_hi_s64, s64, s64, (int64_t)bits_high_signed(x, y))
DEFINE(mad_hi_u16, u16, u16, ((uint64_t)x * y >> 16) + z)
DEFINE(mad_hi_s16, s16, s16, ((int64_t)x * y >> 16) + z)
DEFINE(mad_hi_u32, u32, u32, ((uint64_t)x * y >> 32) + z)
DEFINE(mad_hi_s32, s32, s32, ((int64_t)x * y >> 32) + z)
DEFINE(mad_hi_u64, u64, u64, bits_high(x, y) + z)
DEFINE(mad_hi_s64, s64, s64, (int64_t)(bits_high_signed(x, y) + (uint64_t)z))
DEFINE(mul_wide_u16, u16, u32, (uint64_t)x *y)
DEFINE(mul_wide_s16, s16, s32, (int64_t)x *y)
DEFINE(mul_wide_u32, u32, u64, (uint64_t)x *y)
DEFINE(mul_wide_s32, s32, s64, (int64_t)x *y)

/* The addend is as wide as the product, so it is taken as it is. */
#define DEFINE_MAD_WIDE(t, r)                                                  \
    DEFINE(mad_wide_##t, u64, r, (CTYPE_##r)(mul_wide_##t##_of(x, y, 0) + z))
DEFINE_MAD_WIDE(u16, u32)
DEFINE_MAD_WIDE(s16, s32)
DEFINE_MAD_WIDE(u32, u64)
DEFINE_MAD_WIDE(s32, s64)

#define LOW24(v)    ((uint64_t)(v)&0xffffff)
#define SIGNED24(v) ((int64_t)(LOW24(v) ^ 0x800000) - 0x800000)
DEFINE(mul24_lo_u32, u32, u32, LOW24(x) * LOW24(y))
DEFINE(mul24_lo_s32, s32, s32, SIGNED24(x) * SIGNED24(y))
DEFINE(mul24_hi_u32, u32, u32, LOW24(x) * LOW24(y) >> 16)
DEFINE(mul24_hi_s32, s32, s32, SIGNED24(x) * SIGNED24(y) >> 16)
DEFINE(mad24_lo_u32, u32, u32, LOW24(x) * LOW24(y) + z)
DEFINE(mad24_lo_s32, s32, s32, SIGNED24(x) * SIGNED24(y) + z)
DEFINE(mad24_hi_u32, u32, u32, (LOW24(x) * LOW24(y) >> 16) + z)
DEFINE(mad24_hi_s32, s32, s32, (SIGNED24(x) * SIGNED24(y) >> 16) + z)

/* Shift counts have 32 bits whatever the type, and more than the width gives
 * what shifting bit by bit would give. */
#define COUNT_BELOW(bits, yes, no) ((uint32_t)b < (bits) ? (yes) : (no))
#define DEFINE_SHIFT(name, t, expression)                                      \
    static inline uint64_t name##_of(uint64_t a, uint64_t b)                   \
    {                                                                          \
        const CTYPE_##t x = get_##t(a);                                        \
        return put_##t(expression);                                            \
    }                                                                          \
    ALU_FUNCTION(name)                                                         \
    {                                                                          \
        uint64_t *const d = lanes_of(regs, op->dst[0], shift);                 \
        const uint64_t *const a = lanes_of(regs, op->src[0], shift);           \
        const uint64_t *const b = lanes_of(regs, op->src[1], shift);           \
        EACH_LANE(d[l] = name##_of(a[l], b[l]))                                \
    }
#define SHIFT_LEFT(bits)  COUNT_BELOW(bits, (uint64_t)x << (uint32_t)b, 0)
#define SHIFT_RIGHT(bits) COUNT_BELOW(bits, (uint64_t)x >> (uint32_t)b, 0)
#define SHIFT_SIGNED(bits)                                                     \
    ((int64_t)x >> COUNT_BELOW(bits, (uint32_t)b, (bits)-1))
DEFINE_SHIFT(shl_16, u16, SHIFT_LEFT(16))
DEFINE_SHIFT(shl_32, u32, SHIFT_LEFT(32))
DEFINE_SHIFT(shl_64, u64, SHIFT_LEFT(64))
DEFINE_SHIFT(shr_u16, u16, SHIFT_RIGHT(16))
DEFINE_SHIFT(shr_u32, u32, SHIFT_RIGHT(32))
DEFINE_SHIFT(shr_u64, u64, SHIFT_RIGHT(64))
DEFINE_SHIFT(shr_s16, s16, SHIFT_SIGNED(16))
DEFINE_SHIFT(shr_s32, s32, SHIFT_SIGNED(32))
DEFINE_SHIFT(shr_s64, s64, SHIFT_SIGNED(64))

/* A funnel shift of y:x; op->sub says that the count wraps. */
static uint32_t funnel_count(const struct op *op, uint64_t count)
{
    const uint32_t c = (uint32_t)count;
    if (op->sub != 0)
        return c % 32;
    return c < 32 ? c : 32;
}

DEFINE_OF(shf_l, (uint32_t)((y << 32 | x) >> (32 - funnel_count(op, z))))
DEFINE_OF(shf_r, (uint32_t)((y << 32 | x) >> funnel_count(op, z)))

/* bmsk and szext: a count that wraps or is clamped, as that of a shift. */
DEFINE_OF(bmsk, bits_mask(funnel_count(op, x), funnel_count(op, y)))
DEFINE_OF(szext,
          bits_extend((uint32_t)x, funnel_count(op, y), op->type == TYPE_S32))

DEFINE(popc_32, u32, u32, (uint64_t)__builtin_popcount(x))
DEFINE(popc_64, u64, u32, (uint64_t)__builtin_popcountll(x))
DEFINE(clz_32, u32, u32, bits_leading_zeros(x, 32))
DEFINE(clz_64, u64, u32, bits_leading_zeros(x, 64))
DEFINE(brev_32, u32, u32, bits_reverse(x, 32))
DEFINE(brev_64, u64, u64, bits_reverse(x, 64))
DEFINE(bfind_u32, u32, u32, bits_highest(x, 32))
DEFINE(bfind_u64, u64, u32, bits_highest(x, 64))
DEFINE(bfind_s32, s32, u32, bits_highest((uint32_t)(x < 0 ? ~x : x), 32))
DEFINE(bfind_s64, s64, u32, bits_highest((uint64_t)(x < 0 ? ~x : x), 64))
/* The shift that brings the bit to the top; all ones stay. */
#define DEFINE_SHIFTAMT(t, bits)                                               \
    DEFINE(bfind_shiftamt_##t, u64, u32,                                       \
           bfind_##t##_of(x, 0, 0) == UINT32_MAX                               \
               ? UINT32_MAX                                                    \
               : (bits)-1 - bfind_##t##_of(x, 0, 0))
DEFINE_SHIFTAMT(u32, 32)
DEFINE_SHIFTAMT(s32, 32)
DEFINE_SHIFTAMT(u64, 64)
DEFINE_SHIFTAMT(s64, 64)

DEFINE(bfe_u32, u32, u32, bits_extract(x, y, z, 32, false))
DEFINE(bfe_s32, u32, u32, bits_extract(x, y, z, 32, true))
DEFINE(bfe_u64, u64, u64, bits_extract(x, (unsigned)y, (unsigned)z, 64, false))
DEFINE(bfe_s64, u64, u64, bits_extract(x, (unsigned)y, (unsigned)z, 64, true))

DEFINE_OF(bfi, bits_insert(x, y, (unsigned)z, (unsigned)v,
                           ptx_types[op->type].bytes * 8))
DEFINE_OF(prmt,
          bits_permute_mode(op->sub, (uint32_t)x, (uint32_t)y, (uint32_t)z))
DEFINE_OF(fns, bits_nth_set((uint32_t)x, (uint32_t)y, (int32_t)z))
DEFINE_OF(lop3, bits_lookup((uint32_t)x, (uint32_t)y, (uint32_t)z,
                            (uint32_t)op->offset))
DEFINE_OF(dp4a, (uint32_t)z +
                    bits_dot4(x, op->type == TYPE_S32, y, op->from == TYPE_S32))
DEFINE_OF(dp2a_lo, (uint32_t)z + bits_dot2(x, op->type == TYPE_S32, y,
                                           op->from == TYPE_S32))
DEFINE_OF(dp2a_hi, (uint32_t)z + bits_dot2(x, op->type == TYPE_S32, y >> 16,
                                           op->from == TYPE_S32))

/* .sat of integers: the nearest number that the type holds. */
static int64_t clamp_s32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

DEFINE(add_sat_s32, s32, s32, clamp_s32((int64_t)x + y))
DEFINE(sub_sat_s32, s32, s32, clamp_s32((int64_t)x - y))
DEFINE(mad24_hi_sat_s32, s32, s32,
       clamp_s32((SIGNED24(x) * SIGNED24(y) >> 16) + z))
DEFINE(mad_hi_sat_s32, s32, s32, clamp_s32(((int64_t)x * y >> 32) + z))

/* Sums with a carry: src[from] comes in, which is zero where the instruction
 * reads none, and dst[1] takes what goes out.  A difference borrows. */
#define SUM        (x + y + in)
#define CARRY      (in ? sum <= x : sum < x)
#define DIFFERENCE (x - y - in)
#define BORROW     (in ? x <= y : x < y)
#define DEFINE_CARRY(name, first, second, from, total, out)                    \
    ALU_FUNCTION(name)                                                         \
    {                                                                          \
        uint64_t *const d = lanes_of(regs, op->dst[0], shift);                 \
        uint64_t *const carry = lanes_of(regs, op->dst[1], shift);             \
        const uint64_t *const a = lanes_of(regs, op->src[0], shift);           \
        const uint64_t *const b = lanes_of(regs, op->src[1], shift);           \
        const uint64_t *const c = lanes_of(regs, op->src[2], shift);           \
        const uint64_t *const taken = lanes_of(regs, op->src[from], shift);    \
        const uint64_t mask_of_type = low_bits(ptx_types[op->type].bytes * 8); \
        (void)c;                                                               \
        for (uint32_t left = mask; left != 0; left &= left - 1) {              \
            const unsigned l = (unsigned)__builtin_ctz(left);                  \
            const uint64_t x = (first)&mask_of_type, y = (second);             \
            const uint64_t in = taken[l];                                      \
            const uint64_t sum = (total)&mask_of_type;                         \
            carry[l] = out;                                                    \
            d[l] = sum;                                                        \
        }                                                                      \
    }
DEFINE_CARRY(add_carry, a[l], b[l], 2, SUM, CARRY)
DEFINE_CARRY(sub_carry, a[l], b[l], 2, DIFFERENCE, BORROW)
DEFINE_CARRY(mad_lo_carry, a[l] * b[l], c[l], 3, SUM, CARRY)
#define DEFINE_MAD_HI_CARRY(t)                                                 \
    DEFINE_CARRY(mad_hi_carry_##t, mul_hi_##t##_of(a[l], b[l], 0), c[l], 3,    \
                 SUM, CARRY)
DEFINE_MAD_HI_CARRY(u32)
DEFINE_MAD_HI_CARRY(s32)
DEFINE_MAD_HI_CARRY(u64)
DEFINE_MAD_HI_CARRY(s64)

DEFINE_FLOATS(fadd, x + y)
DEFINE_FLOATS(fsub, x - y)
DEFINE_FLOATS(fmul, x *y)
DEFINE_FLOATS(fneg, -x)
DEFINE_FLOATS(fabs, x < 0 ? -x : x == 0 ? 0 : x)
DEFINE_FLOATS(fmin, fmin(x, y))
DEFINE_FLOATS(fmax, fmax(x, y))
/* .NaN: what is no number stays none. */
DEFINE_NARROW_FLOATS(fmin_nan, isnan(x) || isnan(y) ? NAN : fmin(x, y))
DEFINE_NARROW_FLOATS(fmax_nan, isnan(x) || isnan(y) ? NAN : fmax(x, y))
DEFINE(fma_f16, f16, f16, fma((double)x, (double)y, (double)z))
DEFINE(fma_bf16, bf16, bf16, fma((double)x, (double)y, (double)z))
DEFINE(fma_f32, f32, f32, fmaf(x, y, z))
DEFINE(fma_f64, f64, f64, fma(x, y, z))
DEFINE(fdiv_f32, f32, f32, x / y)
DEFINE(fdiv_f64, f64, f64, x / y)
DEFINE(sqrt_f32, f32, f32, sqrtf(x))
DEFINE(sqrt_f64, f64, f64, sqrt(x))
DEFINE(rcp_f32, f32, f32, 1 / x)
DEFINE(rcp_f64, f64, f64, 1 / x)
DEFINE(rsqrt_f32, f32, f32, 1 / sqrtf(x))
DEFINE(rsqrt_f64, f64, f64, 1 / sqrt(x))
DEFINE(sin_f32, f32, f32, sinf(x))
DEFINE(cos_f32, f32, f32, cosf(x))
DEFINE(lg2_f32, f32, f32, log2f(x))
DEFINE_NARROW_FLOATS(ex2, exp2f(x))
DEFINE_NARROW_FLOATS(tanh, tanhf(x))
DEFINE(copysign_f32, f32, f32, copysignf(y, x))
DEFINE(copysign_f64, f64, f64, copysign(y, x))

/* Two halves in 32 bits. */
#define DEFINE_PAIR(name, single)                                              \
    DEFINE(name, u32, u32,                                                     \
           single##_of(x & 0xffff, y & 0xffff, z & 0xffff) |                   \
               single##_of(x >> 16, y >> 16, z >> 16) << 16)
#define DEFINE_PAIRS(name)                                                     \
    DEFINE_PAIR(name##_f16x2, name##_f16)                                      \
    DEFINE_PAIR(name##_bf16x2, name##_bf16)
DEFINE_PAIRS(fadd)
DEFINE_PAIRS(fsub)
DEFINE_PAIRS(fmul)
DEFINE_PAIRS(fma)
DEFINE_PAIRS(fneg)
DEFINE_PAIRS(fabs)
DEFINE_PAIRS(fmin)
DEFINE_PAIRS(fmax)
DEFINE_PAIRS(fmin_nan)
DEFINE_PAIRS(fmax_nan)
DEFINE_PAIRS(ex2)
DEFINE_PAIRS(tanh)

static bool test_class(enum ptx_test test, int class)
{
    switch (test) {
    case TEST_FINITE:
        return class != FP_INFINITE && class != FP_NAN;
    case TEST_INFINITE:
        return class == FP_INFINITE;
    case TEST_NUMBER:
        return class != FP_NAN;
    case TEST_NOTANUMBER:
        return class == FP_NAN;
    case TEST_NORMAL:
        return class == FP_NORMAL;
    case TEST_SUBNORMAL:
        break;
    }
    return class == FP_SUBNORMAL;
}

DEFINE_OF(testp_f32, test_class(op->sub, fpclassify(get_f32(x))))
DEFINE_OF(testp_f64, test_class(op->sub, fpclassify(get_f64(x))))

/* {a, b, …} into one register, and back. */
ALU_FUNCTION(pack)
{
    const unsigned bits = ptx_types[op->type].bytes * 8u / op->elements;
    uint64_t *const d = lanes_of(regs, op->dst[0], shift);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        uint64_t value = 0;
        for (unsigned i = 0; i < op->elements; i++)
            value |= lanes_of(regs, op->src[i], shift)[l] << (i * bits);
        d[l] = value;
    }
}

ALU_FUNCTION(unpack)
{
    const unsigned bits = ptx_types[op->type].bytes * 8u / op->elements;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        const uint64_t value = lanes_of(regs, op->src[0], shift)[l];
        for (unsigned i = 0; i < op->elements; i++)
            lanes_of(regs, op->dst[i], shift)[l] =
                value >> (i * bits) & low_bits(bits);
    }
}

DEFINE_OF(selp, z != 0 ? x : y)

static bool not_negative(const struct op *op, uint64_t c)
{
    return op->from == TYPE_F32 ? get_f32(c) >= 0 : get_s32(c) >= 0;
}

DEFINE_OF(slct, not_negative(op, z) ? x : y)
DEFINE_OF(cvt, convert(op, x))
/* Two into one register, the first above. */
DEFINE_OF(cvt_pair, convert(op, x) << 16 | convert(op, y))

static uint64_t window_of(enum ptx_space space)
{
    return space == SPACE_SHARED  ? SHARED_WINDOW
           : space == SPACE_LOCAL ? LOCAL_WINDOW
           : space == SPACE_CONST ? CONST_WINDOW
                                  : 0;
}

/* Adds the window of the space, or (op->sub) takes it away. */
DEFINE_OF(cvta,
          op->sub != 0 ? x - window_of(op->space) : x + window_of(op->space))
DEFINE_OF(isspacep, generic_space(x) == op->space)

#define DEFINE_SETP(name, t, expression)                                       \
    DEFINE(setp_##name##_##t, t, bit, expression)
#define DEFINE_SETP_INTEGER(t)                                                 \
    DEFINE_SETP(eq, t, x == y)                                                 \
    DEFINE_SETP(ne, t, x != y)                                                 \
    DEFINE_SETP(lt, t, x < y)                                                  \
    DEFINE_SETP(le, t, x <= y)                                                 \
    DEFINE_SETP(gt, t, x > y)                                                  \
    DEFINE_SETP(ge, t, x >= y)
/* Not equal, of floats, is false where one is no number; …u is true there. */
#define DEFINE_SETP_FLOAT(t)                                                   \
    DEFINE_SETP(eq, t, x == y)                                                 \
    DEFINE_SETP(ne, t, x<y || x> y)                                            \
    DEFINE_SETP(lt, t, x < y)                                                  \
    DEFINE_SETP(le, t, x <= y)                                                 \
    DEFINE_SETP(gt, t, x > y)                                                  \
    DEFINE_SETP(ge, t, x >= y)                                                 \
    DEFINE_SETP(equ, t, !(x < y || x > y))                                     \
    DEFINE_SETP(neu, t, x != y)                                                \
    DEFINE_SETP(ltu, t, !(x >= y))                                             \
    DEFINE_SETP(leu, t, !(x > y))                                              \
    DEFINE_SETP(gtu, t, !(x <= y))                                             \
    DEFINE_SETP(geu, t, !(x < y))                                              \
    DEFINE_SETP(num, t, !isnan(x) && !isnan(y))                                \
    DEFINE_SETP(nan, t, isnan(x) || isnan(y))
DEFINE_SETP_INTEGER(u16)
DEFINE_SETP_INTEGER(s16)
DEFINE_SETP_INTEGER(u32)
DEFINE_SETP_INTEGER(s32)
DEFINE_SETP_INTEGER(u64)
DEFINE_SETP_INTEGER(s64)
DEFINE_SETP_FLOAT(f16)
DEFINE_SETP_FLOAT(bf16)
DEFINE_SETP_FLOAT(f32)
DEFINE_SETP_FLOAT(f64)

/* A result that is combined with a third predicate, and its complement. */
static bool combine(enum ptx_boolean boolean, bool a, bool b)
{
    switch (boolean) {
    case BOOLEAN_AND:
        return a && b;
    case BOOLEAN_OR:
        return a || b;
    case BOOLEAN_XOR:
        break;
    }
    return a != b;
}

void alu_combined(const struct op *op, uint64_t *regs, unsigned shift,
                  uint32_t mask)
{
    uint64_t third[32];
    const size_t lanes = (size_t)1 << shift;
    memcpy(third, lanes_of(regs, op->src[2], shift), lanes * sizeof *third);
    op->inner(op, regs, shift, mask);
    uint64_t *const p = lanes_of(regs, op->dst[0], shift);
    uint64_t *const q = lanes_of(regs, op->dst[1], shift);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        const bool result = p[l] != 0;
        const bool with = (third[l] != 0) != op->third_inverted;
        q[l] = combine(op->sub, !result, with);
        p[l] = combine(op->sub, result, with);
    }
}

/* What set gives for true. */
static uint64_t true_of(enum ptx_type type)
{
    return ptx_types[type].class == 'f' ? real_to_bits(type, 1)
                                        : low_bits(ptx_types[type].bytes * 8);
}

ALU_FUNCTION(set)
{
    const uint64_t yes = true_of(op->type);
    const uint64_t *const third = lanes_of(regs, op->src[2], shift);
    uint64_t *const d = lanes_of(regs, op->dst[0], shift);
    op->inner(op, regs, shift, mask);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        bool result = d[l] != 0;
        if (op->combine)
            result =
                combine(op->sub, result, (third[l] != 0) != op->third_inverted);
        d[l] = result ? yes : 0;
    }
}

/* Rounds as op->sub says, if not to nearest, and clamps the result. */
void alu_adjusted(const struct op *op, uint64_t *regs, unsigned shift,
                  uint32_t mask)
{
    static const int modes[] = {
        [ROUND_RN] = FE_TONEAREST,
        [ROUND_RZ] = FE_TOWARDZERO,
        [ROUND_RM] = FE_DOWNWARD,
        [ROUND_RP] = FE_UPWARD,
    };
    uint64_t *const d = lanes_of(regs, op->dst[0], shift);
    if (op->sub > ROUND_RN)
        fesetround(modes[op->sub]);
    op->inner(op, regs, shift, mask);
    fesetround(FE_TONEAREST);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        if (op->saturate || op->relu)
            d[l] = clamp_bits(op, d[l]);
    }
}

#define WIDTHS_UNTYPED(name)                                                   \
    [TYPE_B16] = name##_16, [TYPE_B32] = name##_32, [TYPE_B64] = name##_64
#define WIDTHS_UNSIGNED(name)                                                  \
    [TYPE_U16] = name##_16, [TYPE_U32] = name##_32, [TYPE_U64] = name##_64
#define WIDTHS_SIGNED(name)                                                    \
    [TYPE_S16] = name##_16, [TYPE_S32] = name##_32, [TYPE_S64] = name##_64
#define WIDTHS_INTEGER(name) WIDTHS_UNSIGNED(name), WIDTHS_SIGNED(name)
#define UNSIGNED(name)                                                         \
    [TYPE_U16] = name##_u16, [TYPE_U32] = name##_u32, [TYPE_U64] = name##_u64
#define SIGNED(name)                                                           \
    [TYPE_S16] = name##_s16, [TYPE_S32] = name##_s32, [TYPE_S64] = name##_s64
#define INTEGERS(name) UNSIGNED(name), SIGNED(name)
#define REALS(name)                                                            \
    [TYPE_F16] = name##_f16, [TYPE_BF16] = name##_bf16,                        \
    [TYPE_F32] = name##_f32, [TYPE_F64] = name##_f64
#define PAIRS(name) [TYPE_F16X2] = name##_f16x2, [TYPE_BF16X2] = name##_bf16x2
#define NARROW_REALS(name)                                                     \
    [TYPE_F16] = name##_f16, [TYPE_BF16] = name##_bf16,                        \
    [TYPE_F32] = name##_f32, PAIRS(name)
#define CARRYING(name)                                                         \
    [TYPE_U32] = name, [TYPE_S32] = name, [TYPE_U64] = name, [TYPE_S64] = name
#define WIDE_REALS(name) [TYPE_F32] = name##_f32, [TYPE_F64] = name##_f64
#define WIDE_INTEGERS(name)                                                    \
    [TYPE_U16] = name##_u16, [TYPE_U32] = name##_u32, [TYPE_S16] = name##_s16, \
    [TYPE_S32] = name##_s32
#define ONLY24(name) [TYPE_U32] = name##_u32, [TYPE_S32] = name##_s32
#define REGISTERS(name)                                                        \
    ONLY24(name), [TYPE_U64] = name##_u64, [TYPE_S64] = name##_s64
#define BOTH32(fn) [TYPE_U32] = fn, [TYPE_S32] = fn
#define BITS(fn)   [TYPE_B16] = fn, [TYPE_B32] = fn, [TYPE_B64] = fn
#define UNTYPED_UNSIGNED(name)                                                 \
    [TYPE_B16] = name##_u16, [TYPE_B32] = name##_u32, [TYPE_B64] = name##_u64
#define NONE [TYPE_NONE] = NULL
#define UNTYPED(name) [TYPE_B32] = name##_32, [TYPE_B64] = name##_64
#define TYPED(fn)                                                              \
    [TYPE_U16] = fn, [TYPE_U32] = fn, [TYPE_U64] = fn, [TYPE_S16] = fn,        \
    [TYPE_S32] = fn, [TYPE_S64] = fn, [TYPE_F32] = fn, [TYPE_F64] = fn
#define EVERY(fn)    TYPED(fn), BITS(fn)
#define ORDERED(cmp) INTEGERS(setp_##cmp), REALS(setp_##cmp)

static alu_fn *const functions[ALU_COUNT][TYPE_COUNT] = {
#define ALU(id, ...) [ALU_##id] = {__VA_ARGS__},
#include "device/sim/ptx/alu.def"
#undef ALU
};

/* clang-format off */
/* The same with .cc or after it. */
static alu_fn *const carrying[ALU_COUNT][TYPE_COUNT] = {
    [ALU_ADD] = {CARRYING(add_carry)},
    [ALU_SUB] = {CARRYING(sub_carry)},
    [ALU_MAD_LO] = {CARRYING(mad_lo_carry)},
    [ALU_MAD_HI] = {REGISTERS(mad_hi_carry)},
};

/* … with .sat, of integers. */
static alu_fn *const saturating[ALU_COUNT][TYPE_COUNT] = {
    [ALU_ADD] = {[TYPE_S32] = add_sat_s32},
    [ALU_SUB] = {[TYPE_S32] = sub_sat_s32},
    [ALU_MAD_HI] = {[TYPE_S32] = mad_hi_sat_s32},
    [ALU_MAD24_HI] = {[TYPE_S32] = mad24_hi_sat_s32},
};
/* clang-format on */

alu_fn *alu_find(unsigned code, enum ptx_type type)
{
    return functions[code][type];
}

alu_fn *alu_find_carrying(unsigned code, enum ptx_type type)
{
    return carrying[code][type];
}

alu_fn *alu_find_saturating(unsigned code, enum ptx_type type)
{
    return saturating[code][type];
}
