/*
 * Studies differ: one asks for two experiments, another for thousands, which
 * are short then.  In a run of all that topology shows a study weighs the
 * square root of what it asks at most (studies.def); in another, where only
 * their number is known beforehand, all weigh the same.
 */
#include "api/progress.h"

#include <math.h>

#define STUDY(name, asks) extern const struct study study_##name;
#include "study/studies.def"
#undef STUDY

static const struct {
    const struct study *study;
    unsigned asks;
} rows[] = {
#define STUDY(name, asks) {&study_##name, asks},
#include "study/studies.def"
#undef STUDY
};

enum { ROWS = sizeof rows / sizeof *rows };

static double weight_of(const struct study *study)
{
    size_t i = 0;
    while (i < ROWS - 1 && rows[i].study != study)
        i++;
    return sqrt(1 + (double)rows[i].asks);
}

/* The part of the study that is over: never all of it, and none of one that
 * asks as many as its table has. */
static double part_of(const struct study *study, size_t experiments)
{
    const double weight = weight_of(study), asks = weight * weight - 1;
    return asks > 0 ? fmin(0.95, (double)experiments / asks) : 0;
}

/* What all weigh; 0 if it is no run of all. */
static double weight_of_all(size_t total)
{
    double all = 0;
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (!rows[i].study->apart) {
            all += weight_of(rows[i].study);
            count++;
        }
    return count == total ? all : 0;
}

void progress_study(struct progress_part *p, const struct study *study,
                    size_t done, size_t total, size_t experiments)
{
    const double before = done > 0 ? p->before + weight_of(p->now) : 0;
    *p = (struct progress_part){study, done, total, experiments, before};
}

double progress_over(const struct progress_part *p, size_t experiments)
{
    if (p->now == NULL)
        return 0;
    const double part = part_of(p->now, experiments - p->since);
    const double all = weight_of_all(p->total);
    return all > 0 ? (p->before + part * weight_of(p->now)) / all
                   : ((double)p->done + part) / (double)p->total;
}
