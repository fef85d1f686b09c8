/*
 * From numbers to places along an axis of a plot, and where its ticks are.
 * Where numbers grow by doubling, an axis is one of powers of two.
 */
#ifndef SONDE_REPORT_PLOT_SCALE_H
#define SONDE_REPORT_PLOT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

/* The numbers that an axis is for; start from range_none. */
struct range {
    double low, high;
};
extern const struct range range_none;
/* What is no number that can be drawn (NaN, or so large that differences are
 * no numbers any more) changes nothing. */
void range_hold(struct range *range, double number);
bool range_is_empty(const struct range *range);
bool scale_can_show(double number);

struct scale {
    bool doubling;
    bool binary;      /* if not doubling, in round numbers of bytes */
    double low, high; /* the numbers at its ends */
    double from, to;  /* places of these */
};

/* Powers of two if the numbers are positive and span three or more of them. */
struct scale scale_doubling(const struct range *range, bool binary);
/* From round number to round number; from zero on where the least number is
 * not beyond half of the largest, so that heights may be compared. */
struct scale scale_even(const struct range *range, bool binary);

double scale_place(const struct scale *scale, double number);
bool scale_holds(const struct scale *scale, double number);

enum { TICKS_MOST = 12 };
struct ticks {
    double at[TICKS_MOST];
    size_t count;
};
/* Round numbers, or powers of two, at most so many. */
struct ticks scale_ticks(const struct scale *scale, size_t most);

#endif
