#include "report/export/index_name.h"

#include <math.h>
#include <stdint.h>

#include "base/mem.h"

enum { BITS_MOST = 24 };

/* An index: its bits, each as the address bits that are XORed. */
struct index {
    uint64_t masks[BITS_MOST];
    unsigned count;
};

static uint64_t bit(unsigned at)
{
    return at < 64 ? UINT64_C(1) << at : 0;
}

/* L: the bits above the line. */
static bool linear(struct index *x, unsigned line)
{
    for (unsigned i = 0; i < x->count; i++)
        x->masks[i] = bit(line + i);
    return true;
}

/* X: XORed with as many above them. */
static bool folded(struct index *x, unsigned line)
{
    for (unsigned i = 0; i < x->count; i++)
        x->masks[i] = bit(line + i) | bit(line + x->count + i);
    return true;
}

/*
 * P: XORed with the remainder of the bits above them, as a polynomial over two
 * elements, by a primitive one (Rau 1991).  GPGPU-Sim has it of 16, 32 and 64
 * sets, and of so many bits.
 */
static bool polynomial(struct index *x, unsigned line)
{
    static const struct {
        unsigned count, divisor, above;
    } known[] = {{4, 0x13, 13}, {5, 0x25, 15}, {6, 0x43, 19}};
    size_t k = 0;
    while (k < COUNT_OF(known) && known[k].count != x->count)
        k++;
    if (k == COUNT_OF(known))
        return false;
    linear(x, line);
    unsigned remainder = 1u << (x->count - 1);
    for (unsigned j = 0; j < known[k].above; j++) {
        remainder <<= 1;
        if (remainder >> x->count & 1)
            remainder ^= known[k].divisor;
        for (unsigned i = 0; i < x->count; i++)
            if (remainder >> i & 1)
                x->masks[i] |= bit(line + x->count + j);
    }
    return true;
}

/* H: Fermi's of 32 sets (Nugteren 2014), and bit 12 for 64. */
static bool fermi(struct index *x, unsigned line)
{
    static const unsigned with[] = {13, 14, 15, 17, 19};
    if (x->count != 5 && x->count != 6)
        return false;
    x->masks[5] = bit(12);
    for (unsigned i = 0; i < COUNT_OF(with); i++)
        x->masks[i] = bit(line + i) | bit(with[i]);
    return true;
}

/* Whether a mask is an XOR of those of the index, in echelon form: what is
 * left of it is put into it if there is room. */
static bool reduces(struct index *echelon, uint64_t mask)
{
    for (unsigned i = 0; i < echelon->count; i++)
        if ((mask ^ echelon->masks[i]) < mask)
            mask ^= echelon->masks[i];
    if (mask != 0 && echelon->count < BITS_MOST)
        echelon->masks[echelon->count++] = mask;
    return mask == 0;
}

/* Sets are the same if each bit of one index is an XOR of those of the other;
 * of as many independent ones it is enough to ask one way. */
static bool same_sets(const struct index *a, const struct index *b,
                      uint64_t told)
{
    struct index echelon = {{0}, 0};
    for (unsigned i = 0; i < a->count; i++)
        if (reduces(&echelon, a->masks[i] & told))
            return false;
    for (unsigned i = 0; i < b->count; i++)
        if (!reduces(&echelon, b->masks[i] & told))
            return false;
    return true;
}

static bool add_bit(uint64_t *mask, const struct value *v)
{
    if (v->kind != VALUE_NUMBER || !(v->number >= 0 && v->number < 64))
        return false;
    *mask |= bit((unsigned)v->number);
    return true;
}

static bool measured_mask(uint64_t *mask, const struct value *entry)
{
    bool good = entry->kind == VALUE_LIST || add_bit(mask, entry);
    for (size_t i = 0; entry->kind == VALUE_LIST && i < entry->count; i++)
        good = add_bit(mask, &entry->items[i]) && good;
    return good;
}

static bool measured(struct index *x, const struct value *list)
{
    if (list->kind != VALUE_LIST || list->count != x->count)
        return false;
    for (unsigned i = 0; i < x->count; i++)
        if (!measured_mask(&x->masks[i], &list->items[i]))
            return false;
    return true;
}

/* Addresses differed in the bits below that one. */
static uint64_t told_bits(const struct finding *set_bits)
{
    const struct value *const below = finding_said(set_bits, "bits_below");
    if (below == NULL || below->kind != VALUE_NUMBER ||
        !(below->number >= 0 && below->number < 64))
        return UINT64_MAX;
    return bit((unsigned)below->number) - 1;
}

/* -1 if it is no power of two. */
static int log2_of(unsigned n)
{
    for (int i = 0; i < BITS_MOST; i++)
        if (n == 1u << i)
            return i;
    return -1;
}

char index_name(const struct finding *set_bits, unsigned line, unsigned sets)
{
    static const struct {
        char letter;
        bool (*make)(struct index *, unsigned line);
    } functions[] = {
        {'L', linear}, {'X', folded}, {'P', polynomial}, {'H', fermi}};
    const int line_bits = log2_of(line), set_bits_count = log2_of(sets);
    if (set_bits == NULL || line_bits < 0 || set_bits_count < 0)
        return '?';
    struct index found = {{0}, (unsigned)set_bits_count};
    if (!measured(&found, &set_bits->value))
        return '?';
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        struct index x = {{0}, found.count};
        if (functions[i].make(&x, (unsigned)line_bits) &&
            same_sets(&found, &x, told_bits(set_bits)))
            return functions[i].letter;
    }
    return '?';
}
