/*
 * The index of an L2 in parts with a remainder, which no profile can say: its
 * lines come to the sets of a half by their number among the lines of their
 * home (docs/profiles.md), which lacks an address bit before it is divided.
 * Bits of that number are those of the address without the lowest one that
 * tells the home; of sets that are no power of two a remainder is beside them.
 * Where held-out experiments are as that foretells, this is the index, and
 * another one that was told is not.
 */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "twin/validate/values.h"

struct halves {
    struct value bits; /* none: too little is known of it */
    double modulo;     /* 1: there is none */
};

static double lowest_of(const struct finding *bits)
{
    double lowest = INFINITY;
    for (size_t i = 0; i < bits->value.count; i++)
        lowest = fmin(lowest, bits->value.items[i].number);
    return lowest;
}

/* False: the index has no remainder, or the L2 no parts. */
static bool halves_of(struct trying *t, struct halves *h)
{
    const struct finding *const side = trying_sure(t, "l2", "side_bits");
    const double parts = values_number(t, "l2", "parts"),
                 sets = values_number(t, "l2", "sets"),
                 line = values_number(t, "l2", "line");
    const double each = parts > 1 ? sets / parts : 0;
    *h = (struct halves){.modulo = each};
    if (told_number(&t->told, "l2", "parts") <= 1 ||
        told_number(&t->told, "l2", "slice_modulo") <= 1)
        return false;
    if (side == NULL || each < 1 || each != floor(each) || line < 1)
        return true;
    const double hidden = lowest_of(side);
    h->bits = value_list();
    for (double bit = log2(line); fmod(h->modulo, 2) == 0; bit++) {
        bit += bit == hidden;
        value_push(&h->bits, value_number(bit));
        h->modulo /= 2;
    }
    return true;
}

/* ---- alike ------------------------------------------------------------- */

/* Rows of a matrix of bits, each without the highest bits of those before. */
struct matrix {
    uint64_t at[64];
    size_t count;
};

static void add_row(struct matrix *r, uint64_t row)
{
    for (size_t i = 0; i < r->count; i++)
        row = u64_min(row, row ^ r->at[i]);
    if (row != 0)
        r->at[r->count++] = row;
}

static uint64_t mask_of(const struct value *v)
{
    uint64_t mask = 0;
    if (v->kind == VALUE_NUMBER)
        return (uint64_t)1 << (unsigned)v->number % 64;
    for (size_t i = 0; i < v->count; i++)
        mask ^= mask_of(&v->items[i]);
    return mask;
}

static void add_rows(struct matrix *r, const struct value *list)
{
    for (size_t i = 0; i < list->count; i++)
        add_row(r, mask_of(&list->items[i]));
}

/* True if two lines of one home that come to one set by the one list do so by
 * the other: if neither, nor the bits that tell the home, which all of these
 * have alike, adds anything to the rest. */
static bool are_alike(const struct value *a, const struct value *b,
                      uint64_t home)
{
    struct matrix one = {.count = 0}, other = {.count = 0};
    add_row(&one, home);
    add_row(&other, home);
    add_rows(&one, a);
    add_rows(&other, b);
    const size_t rank = one.count;
    add_rows(&one, b);
    return rank == other.count && rank == one.count;
}

/* True if that is what was told. */
static bool are_told(struct trying *t, const struct halves *h)
{
    const struct finding *const bits = trying_find(t, "l2", "set_bits");
    const struct finding *const modulo = trying_find(t, "l2", "slice_modulo");
    const struct finding *const side = trying_find(t, "l2", "side_bits");
    return bits != NULL && side != NULL && h->bits.kind == VALUE_LIST &&
           are_alike(&bits->value, &h->bits, mask_of(&side->value)) &&
           (modulo != NULL ? modulo->value.number : 1) == h->modulo;
}

/* ---- all --------------------------------------------------------------- */

bool trying_is_of_parts(struct trying *t, const char *component,
                        const char *attribute)
{
    struct halves h;
    if (strcmp(component, "l2") != 0 ||
        (strcmp(attribute, "set_bits") != 0 &&
         strcmp(attribute, "slice_modulo") != 0) ||
        !halves_of(t, &h))
        return false;
    const bool told = are_told(t, &h);
    value_free(&h.bits);
    return !told;
}

void try_halves(struct trying *t)
{
    struct finding *const bits = trying_sure(t, "l2", "set_bits");
    struct halves h;
    if (bits == NULL || trying_repaired(t, bits) || !halves_of(t, &h))
        return;
    if (h.bits.count == 0 || are_told(t, &h))
        value_free(&h.bits);
    else
        trying_repair(t, bits, h.bits,
                      "held-out experiments are as a half's lines foretell "
                      "that come to its sets one after the other");
}
