/*
 * mma.sync: a warp multiplies a matrix A (m × k) by B (k × 8) and adds C.
 *
 * Which lane holds what follows the PTX manual (warp-level matrix fragments),
 * where all shapes share one rule: lane 4 g + t holds in register i of A row g,
 * or g + 8 in every second one of 16 rows, and as many columns as a register
 * has elements, from t of them on; the registers go on a whole row of lanes
 * further in k.  B the same with its column g.  C and D have the columns 2 t
 * and 2 t + 1 of row g, then of row g + 8.
 */
#include <string.h>

#include "device/sim/machine/units.h"
#include "device/sim/ptx/convert.h"

enum { ROWS_MOST = 16, COLUMNS = 8, DEEP_MOST = 32, QUAD = 4 };

struct product {
    double a[ROWS_MOST][DEEP_MOST], b[DEEP_MOST][COLUMNS];
    double c[ROWS_MOST][COLUMNS];
};

/* Elements of a register. */
static unsigned packed(enum ptx_type type)
{
    return type == TYPE_F64 ? 1 : 4 / ptx_types[type].bytes;
}

static double element(enum ptx_type type, uint64_t bits, unsigned i)
{
    switch (type) {
    case TYPE_F64:
        return bits_to_double(bits);
    case TYPE_F16:
        return half_to_float(bits >> 16 * i & 0xffff);
    case TYPE_BF16:
        return bfloat_to_float(bits >> 16 * i & 0xffff);
    case TYPE_TF32: /* the lowest 13 bits are not read */
        return bits_to_float(bits & 0xffffe000);
    case TYPE_S8:
        return (int8_t)(bits >> 8 * i);
    case TYPE_U8:
        return (uint8_t)(bits >> 8 * i);
    case TYPE_S32:
        return (int32_t)bits;
    default:
        return bits_to_float(bits);
    }
}

static void read_a(struct machine *m, struct warp *w, const struct matrix *x,
                   unsigned lane, struct product *p)
{
    const unsigned pack = packed(x->from), rows = x->m / 8;
    for (unsigned i = 0; i < x->a_count; i++) {
        const uint64_t bits = lanes_of(m, w, x->a[i])[lane];
        const unsigned row = lane / QUAD + 8 * (i % rows);
        const unsigned k = pack * (i / rows * QUAD + lane % QUAD);
        for (unsigned e = 0; e < pack; e++)
            p->a[row][k + e] = element(x->from, bits, e);
    }
}

static void read_b(struct machine *m, struct warp *w, const struct matrix *x,
                   unsigned lane, struct product *p)
{
    const unsigned pack = packed(x->from);
    for (unsigned i = 0; i < x->b_count; i++) {
        const uint64_t bits = lanes_of(m, w, x->b[i])[lane];
        const unsigned k = pack * (i * QUAD + lane % QUAD);
        for (unsigned e = 0; e < pack; e++)
            p->b[k + e][lane / QUAD] = element(x->from, bits, e);
    }
}

/* Where element e of register i of C or D is. */
static double *place(struct product *p, unsigned lane, unsigned pack,
                     unsigned i, unsigned e)
{
    const unsigned at = i * pack + e;
    return &p->c[lane / QUAD + 8 * (at / 2)][2 * (lane % QUAD) + at % 2];
}

static void read_c(struct machine *m, struct warp *w, const struct matrix *x,
                   unsigned lane, struct product *p)
{
    const unsigned pack = packed(x->to);
    for (unsigned i = 0; i < x->c_count; i++)
        for (unsigned e = 0; e < pack; e++)
            *place(p, lane, pack, i, e) =
                element(x->to, lanes_of(m, w, x->c[i])[lane], e);
}

/* The sums of a row in registers: most of a product's time goes here. */
static void multiply(const struct matrix *x, struct product *p)
{
    for (unsigned row = 0; row < x->m; row++) {
        double sums[COLUMNS];
        memcpy(sums, p->c[row], sizeof sums);
        for (unsigned k = 0; k < x->k; k++)
            for (unsigned column = 0; column < COLUMNS; column++)
                sums[column] += p->a[row][k] * p->b[k][column];
        memcpy(p->c[row], sums, sizeof sums);
    }
}

static uint64_t bits_of(enum ptx_type type, double value)
{
    if (type == TYPE_S32) /* wraps around */
        return (uint32_t)(int64_t)value;
    return real_to_bits(type, value);
}

static void write_d(struct machine *m, struct warp *w, const struct matrix *x,
                    unsigned lane, struct product *p)
{
    const unsigned pack = packed(x->to);
    for (unsigned i = 0; i < x->c_count; i++) {
        uint64_t bits = 0;
        for (unsigned e = 0; e < pack; e++)
            bits |= bits_of(x->to, *place(p, lane, pack, i, e)) << 16 * e;
        lanes_of(m, w, x->d[i])[lane] = bits;
    }
}

void matrix_multiply(struct machine *m, struct warp *w, const struct op *op,
                     uint32_t mask, double t)
{
    const struct matrix *const x = &m->kernel->matrices[op->offset];
    struct product p;
    if (mask != UINT32_MAX) {
        machine_fault(m, op, "mma by some lanes of a warp");
        return;
    }
    EACH_LANE(mask, l)
    {
        read_a(m, w, x, l, &p);
        read_b(m, w, x, l, &p);
        read_c(m, w, x, l, &p);
    }
    multiply(x, &p);
    EACH_LANE(mask, l)
    write_d(m, w, x, l, &p);
    for (unsigned i = 0; i < x->c_count; i++)
        set_ready(w, x->d[i], mask, t + op->latency);
}
