/* Numbers as bits in a register, and from one type to another. */
#ifndef SONDE_DEVICE_SIM_PTX_CONVERT_H
#define SONDE_DEVICE_SIM_PTX_CONVERT_H

#include <stdint.h>
#include <string.h>

#include "device/sim/ptx/program.h"

static inline float bits_to_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline uint64_t float_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double bits_to_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t double_to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* To 16 bits, rounded once as the host's mode says. */
float half_to_float(uint64_t bits);
float bfloat_to_float(uint64_t bits);
uint64_t real_to_half(double value);
uint64_t real_to_bfloat(double value);
/* As a value of `type`: F16, BF16, F64 (or B64), else F32; and back. */
uint64_t real_to_bits(enum ptx_type type, double value);
double real_value(enum ptx_type type, uint64_t bits);

/* F16 of F16X2, BF16 of BF16X2; another type is its own. */
enum ptx_type element_of(enum ptx_type type);
/* .sat and .relu, as the op says, of all elements in a register. */
uint64_t clamp_bits(const struct op *op, uint64_t bits);

/* cvt: op->from to op->type (or one element of it), rounded as op->sub says,
 * into a register of op->dst_bytes. */
uint64_t convert(const struct op *op, uint64_t bits);
/* A value of `type` in the low bits, extended as its sign says to a register
 * of `bytes`. */
uint64_t extend(uint64_t bits, enum ptx_type type, unsigned bytes);

#endif
