#include "analysis/hits.h"

size_t hits_above(const double *cycles, size_t count, double limit)
{
    size_t above = 0;
    for (size_t i = 0; i < count; i++)
        above += cycles[i] > limit;
    return above;
}

size_t hits_between(double *cycles, size_t count, double above, double below)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (cycles[i] > above && cycles[i] < below)
            cycles[kept++] = cycles[i];
    return kept;
}
