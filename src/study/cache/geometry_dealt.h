/*
 * Unequal sets: lines are dealt to them in rounds (Mei 2014, figure 10), so
 * lines as far apart as there are entries are in one set, and each set is asked
 * for its ways.
 */
#ifndef SONDE_STUDY_CACHE_GEOMETRY_DEALT_H
#define SONDE_STUDY_CACHE_GEOMETRY_DEALT_H

#include "study/cache/geometry.h"

/* Sets stay 0 where no dealing explains which lines push each other out. */
void geometry_by_dealing(struct eviction *eviction,
                         const struct geometry_lines *lines,
                         struct geometry *geometry);

#endif
