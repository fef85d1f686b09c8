/*
 * Of an L2 of real GPUs a set was found among lines in random order alone, and
 * no index: no experiment tells which lines meet.  But its sets, ways and lines
 * make room for what fits, as far as sets and size are known, each of which may
 * be in doubt between two values.  Of an L1 some may be taken, so that this
 * holds of L2 alone.
 */
#include <math.h>
#include <string.h>

#include "twin/validate/trying.h"

struct range {
    double low, high; /* low 0: it is not known */
};

/* What is in doubt is somewhere in its interval, or nobody knows where.  Of
 * twenty such intervals one does not hold the value; of twice as wide ones,
 * hardly any. */
static struct range range_of(struct trying *t, const char *component,
                             const char *attribute)
{
    const struct finding *const f = trying_find(t, component, attribute);
    if (f == NULL || f->value.kind != VALUE_NUMBER ||
        f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST)
        return (struct range){0};
    if (f->has_interval) {
        const double more = (f->interval[1] - f->interval[0]) / 2;
        return (struct range){f->interval[0] - more, f->interval[1] + more};
    }
    return f->status == STATUS_IN_DOUBT
               ? (struct range){0}
               : (struct range){f->value.number, f->value.number};
}

static bool meet(struct range a, struct range b)
{
    return a.low <= b.high && b.low <= a.high;
}

/* By how much the value is to be multiplied, so that all that there is room for
 * is what fits. */
static struct range factor_of(struct range size, struct range room)
{
    return (struct range){size.low / room.high, size.high / room.low};
}

/* Ways are a whole number; 0: none would do. */
static double other_ways(double ways, struct range factor)
{
    const double most = floor(ways * factor.high);
    return most >= fmax(1, ways * factor.low) ? most : 0;
}

/* … and a line is a power of two. */
static double other_line(double line, struct range factor)
{
    const double most = exp2(floor(log2(line * factor.high)));
    return most >= line * factor.low ? most : 0;
}

static void doubt(struct trying *t, const char *component,
                  const char *attribute, double other)
{
    static const char because[] =
        "sets, ways and lines make room for another size than what was found";
    struct finding *const f = trying_sure(t, component, attribute);
    const struct value value = value_number(other);
    trying_note(t, component, attribute, 0, NULL);
    trying_doubt(t, f, other > 0 ? &value : &f->value, because);
}

/* 0: it is not known for sure. */
static double sure(struct trying *t, const char *component,
                   const char *attribute)
{
    const struct finding *const f = trying_sure(t, component, attribute);
    return f != NULL && f->value.kind == VALUE_NUMBER ? f->value.number : 0;
}

void try_product(struct trying *t, const char *component)
{
    const double ways = sure(t, component, "ways"),
                 line = sure(t, component, "line");
    const struct range size = range_of(t, component, "size"),
                       sets = range_of(t, component, "sets"),
                       room = {sets.low * ways * line, sets.high * ways * line};
    if (strcmp(component, "l2") != 0 || size.low <= 0 || room.low <= 0 ||
        meet(size, room))
        return;
    const struct range factor = factor_of(size, room);
    const double of_ways = other_ways(ways, factor),
                 of_line = other_line(line, factor);
    if (of_ways > 0 || of_line == 0)
        doubt(t, component, "ways", of_ways);
    if (of_line > 0)
        doubt(t, component, "line", of_line);
}
