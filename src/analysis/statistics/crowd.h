/*
 * Many things of one kind, each with a number: what is typical, how far it
 * scatters, and how far one of them may be off by chance alone.
 */
#ifndef SONDE_ANALYSIS_STATISTICS_CROWD_H
#define SONDE_ANALYSIS_STATISTICS_CROWD_H

#include <stdbool.h>
#include <stddef.h>

struct crowd {
    double centre; /* the median */
    double spread; /* standard deviation, from the median deviation */
    /* Further from the centre lies one of the crowd with this probability or
     * less; INFINITY where the crowd is too small to say. */
    double limit;
};

/* How far out the tail of deviations is, in spreads: the share `from` of all
 * deviates by less than `near`, `to` by less than `far`. */
struct crowd_tail {
    double from, to, near, far;
};
/* Of so many values, of one crowd; false of too few, or where they do not
 * scatter. */
bool crowd_tail_of(const double *values, size_t n, struct crowd_tail *tail);

/*
 * What spreads of such crowds are, as a share of the centre, where each crowd
 * is too small to know its own: that in the middle, and as how many values'
 * worth that is to be taken.
 */
struct crowd_prior {
    double share, freedom; /* 0: not known */
};
/* Of the spreads of many crowds of so many values each, as shares; changes
 * nothing. */
struct crowd_prior crowd_prior_of(const double *shares, size_t count, size_t n);
/* The limit of a small crowd of so many with that. */
double crowd_small_limit(const struct crowd *crowd, size_t n,
                         const struct crowd_prior *prior, double chance);
enum { CROWD_LARGE = 40 }; /* from here on its own tail is known */

/* What a normal number exceeds on either side with this chance. */
double crowd_normal(double chance);

/*
 * Up to a fifth of the values may be of something else, anywhere.  Tails are
 * taken to fall at least as exponentials do.
 */
struct crowd crowd_of(const double *values, size_t n, double chance);
/* The same where crowds of such numbers are known to have that tail, which may
 * be further out than a single one shows. */
double crowd_limit(const struct crowd *crowd, const struct crowd_tail *tail,
                   double chance);

#endif
