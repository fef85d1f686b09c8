/* Halves and bfloats by hand (not every compiler has the types), and cvt. */
#include "device/sim/ptx/convert.h"

#include <fenv.h>
#include <math.h>

#include "device/sim/ptx/bits.h"
#include "device/sim/ptx/opcodes.h"

/* Bits of the mantissa and of the exponent below the sign. */
struct layout {
    int mantissa, exponent;
};

static const struct layout half = {10, 5}, bfloat = {7, 8};

/* A normal half is a normal float with another bias and a longer mantissa. */
float half_to_float(uint64_t bits)
{
    enum { BIAS = 127 - 15, SHIFT = 23 - 10 };
    const uint64_t exponent = bits >> 10 & 31;
    const uint64_t mantissa = bits & 1023;
    float value;
    if (exponent == 31)
        value = mantissa == 0 ? INFINITY : NAN;
    else if (exponent == 0)
        value = ldexpf((float)mantissa, -24);
    else
        value = bits_to_float((exponent + BIAS) << 23 | mantissa << SHIFT);
    return bits & 0x8000 ? -value : value;
}

float bfloat_to_float(uint64_t bits)
{
    return bits_to_float(bits << 16);
}

/* Where rounding leads past the largest number: there or to infinity. */
static uint64_t overflow(const struct layout *to, bool negative)
{
    const uint64_t infinity = low_bits((unsigned)to->exponent) << to->mantissa;
    switch (fegetround()) {
    case FE_TOWARDZERO:
        return infinity - 1;
    case FE_DOWNWARD:
        return negative ? infinity : infinity - 1;
    case FE_UPWARD:
        return negative ? infinity - 1 : infinity;
    default:
        return infinity;
    }
}

/* Rounded once, as the host's mode says. */
static uint64_t encode(const struct layout *to, double value)
{
    const uint64_t infinity = low_bits((unsigned)to->exponent) << to->mantissa;
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    const int least = 2 - (1 << (to->exponent - 1)); /* normal exponent */
    int exponent;
    if (isnan(value))
        return 0x7fff;
    if (isinf(value) || value == 0)
        return sign | (value == 0 ? 0 : infinity);
    frexp(value, &exponent);
    const int above = exponent - 1 > least ? exponent - 1 - least : 0;
    const int64_t steps = llrint(ldexp(value, to->mantissa - least - above));
    /* The highest bit of a normal mantissa, or its carry, adds to the
     * exponent. */
    const uint64_t bits = ((uint64_t)above << to->mantissa) +
                          (uint64_t)(sign != 0 ? -steps : steps);
    return sign | (bits < infinity ? bits : overflow(to, sign != 0));
}

uint64_t real_to_half(double value)
{
    return encode(&half, value);
}

uint64_t real_to_bfloat(double value)
{
    return encode(&bfloat, value);
}

static uint64_t truncate_to(uint64_t bits, unsigned bytes)
{
    return bytes >= 8 ? bits : bits & (((uint64_t)1 << (8 * bytes)) - 1);
}

static int64_t sign_extend(uint64_t bits, unsigned bytes)
{
    const unsigned up = 64 - 8 * bytes;
    return (int64_t)(bits << up) >> up;
}

uint64_t extend(uint64_t bits, enum ptx_type type, unsigned bytes)
{
    const unsigned width = ptx_types[type].bytes;
    if (ptx_types[type].class == 's')
        return truncate_to((uint64_t)sign_extend(bits, width), bytes);
    return truncate_to(bits, width);
}

double real_value(enum ptx_type type, uint64_t bits)
{
    switch (type) {
    case TYPE_F16:
        return (double)half_to_float(bits);
    case TYPE_BF16:
        return (double)bfloat_to_float(bits);
    case TYPE_F32:
        return (double)bits_to_float(bits);
    default:
        return bits_to_double(bits);
    }
}

uint64_t real_to_bits(enum ptx_type type, double value)
{
    switch (type) {
    case TYPE_F16:
        return real_to_half(value);
    case TYPE_BF16:
        return real_to_bfloat(value);
    case TYPE_B64:
    case TYPE_F64:
        return double_to_bits(value);
    default:
        return float_to_bits((float)value);
    }
}

enum ptx_type element_of(enum ptx_type type)
{
    return type == TYPE_F16X2    ? TYPE_F16
           : type == TYPE_BF16X2 ? TYPE_BF16
                                 : type;
}

static double clamp_real(const struct op *op, double value)
{
    if (op->saturate)
        return fmin(fmax(value, 0), 1);
    return op->relu && value < 0 ? 0 : value;
}

static uint64_t clamp_one(const struct op *op, enum ptx_type type,
                          uint64_t bits)
{
    const double value = real_value(type, bits);
    /* What stays keeps all of its bits. */
    const double clamped = clamp_real(op, value);
    return clamped == value || isnan(clamped) ? bits
                                              : real_to_bits(type, clamped);
}

uint64_t clamp_bits(const struct op *op, uint64_t bits)
{
    const enum ptx_type element = element_of(op->type);
    if (element == op->type)
        return clamp_one(op, element, bits);
    return clamp_one(op, element, bits & 0xffff) |
           clamp_one(op, element, bits >> 16) << 16;
}

static double round_whole(unsigned rounding, double value)
{
    switch (rounding) {
    case ROUND_RNI:
        return nearbyint(value);
    case ROUND_RZI:
        return trunc(value);
    case ROUND_RMI:
        return floor(value);
    case ROUND_RPI:
        return ceil(value);
    default:
        return value;
    }
}

/* Out of range: the nearest there is; what is no number: 0. */
static uint64_t float_to_integer(enum ptx_type type, double value)
{
    const unsigned bits = 8 * ptx_types[type].bytes;
    const bool sign = ptx_types[type].class == 's';
    const double top = ldexp(1, (int)bits - (sign ? 1 : 0));
    const double bottom = sign ? -top : 0;
    if (isnan(value))
        return 0;
    if (value <= bottom)
        return sign ? (uint64_t)1 << (bits - 1) : 0;
    if (value >= top)
        return truncate_to(sign ? ((uint64_t)1 << (bits - 1)) - 1 : UINT64_MAX,
                           ptx_types[type].bytes);
    return sign ? (uint64_t)(int64_t)value : (uint64_t)value;
}

/* Straight from the integer, so that it is rounded once. */
static uint64_t integer_to_float(enum ptx_type type, uint64_t bits, bool sign)
{
    const int64_t s = (int64_t)bits;
    if (type == TYPE_F32)
        return float_to_bits(sign ? (float)s : (float)bits);
    return real_to_bits(type, sign ? (double)s : (double)bits);
}

/* .sat: the nearest number that `type` holds. */
static uint64_t clamp_integer(enum ptx_type type, uint64_t bits, bool sign)
{
    const unsigned width = 8 * ptx_types[type].bytes;
    const bool negative = sign && (int64_t)bits < 0;
    if (ptx_types[type].class != 's') {
        const uint64_t top = truncate_to(UINT64_MAX, width / 8);
        return negative ? 0 : bits < top ? bits : top;
    }
    const uint64_t top = ((uint64_t)1 << (width - 1)) - 1;
    if (negative)
        return (int64_t)bits < -(int64_t)top - 1 ? ~top : bits;
    return bits < top ? bits : top;
}

static uint64_t from_integer(const struct op *op, uint64_t bits)
{
    const unsigned width = ptx_types[op->from].bytes;
    const bool sign = ptx_types[op->from].class == 's';
    const uint64_t value =
        sign ? (uint64_t)sign_extend(bits, width) : truncate_to(bits, width);
    if (ptx_types[op->type].class == 'f')
        return integer_to_float(op->type, value, sign);
    return op->saturate ? clamp_integer(op->type, value, sign) : value;
}

static uint64_t from_real(const struct op *op, uint64_t bits)
{
    const double value = round_whole(op->sub, real_value(op->from, bits));
    if (ptx_types[op->type].class == 'f')
        return real_to_bits(element_of(op->type), clamp_real(op, value));
    return extend(float_to_integer(op->type, value), op->type, op->dst_bytes);
}

uint64_t convert(const struct op *op, uint64_t bits)
{
    if (ptx_types[op->from].class == 'f')
        return from_real(op, bits);
    return extend(from_integer(op, bits), op->type, op->dst_bytes);
}
