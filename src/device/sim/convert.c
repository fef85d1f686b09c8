/* IEEE 754 halves by hand (not every compiler has the type), and cvt. */
#include "device/sim/convert.h"

#include <math.h>

#include "device/sim/opcodes.h"

float half_to_float(uint64_t bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const float mantissa = (float)(bits & 1023);
    float value;
    if (exponent == 31)
        value = mantissa == 0 ? INFINITY : NAN;
    else if (exponent == 0)
        value = ldexpf(mantissa, -24);
    else
        value = ldexpf(mantissa + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

uint64_t float_to_half(float value)
{
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    const float size = fabsf(value);
    if (isnan(value))
        return 0x7fff;
    if (size >= 65520) /* half way from the largest number to the next */
        return sign | 0x7c00;
    int exponent;
    frexpf(size, &exponent);
    if (exponent < -13) /* subnormal: a multiple of 2^-24 */
        return sign | (uint64_t)rintf(ldexpf(size, 24));
    /* A mantissa that rounds up to 2048 carries into the exponent. */
    const uint64_t mantissa = (uint64_t)rintf(ldexpf(size, 11 - exponent));
    return sign | (((uint64_t)(exponent + 13) << 10) + mantissa);
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

static double float_value(enum ptx_type type, uint64_t bits)
{
    switch (type) {
    case TYPE_F16:
        return (double)half_to_float(bits);
    case TYPE_F32:
        return (double)bits_to_float(bits);
    default:
        return bits_to_double(bits);
    }
}

static uint64_t float_bits(enum ptx_type type, double value)
{
    switch (type) {
    case TYPE_F16:
        return float_to_half((float)value);
    case TYPE_F32:
        return float_to_bits((float)value);
    default:
        return double_to_bits(value);
    }
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
    if (type == TYPE_F64)
        return double_to_bits(sign ? (double)s : (double)bits);
    const float value = sign ? (float)s : (float)bits;
    return type == TYPE_F32 ? float_to_bits(value) : float_to_half(value);
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

uint64_t convert(const struct op *op, uint64_t bits)
{
    if (ptx_types[op->from].class != 'f')
        return extend(from_integer(op, bits), op->type, op->dst_bytes);
    double value = round_whole(op->sub, float_value(op->from, bits));
    if (ptx_types[op->type].class != 'f')
        return extend(float_to_integer(op->type, value), op->type,
                      op->dst_bytes);
    if (op->saturate)
        value = fmin(fmax(value, 0), 1);
    return float_bits(op->type, value);
}
