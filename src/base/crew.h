/*
 * Work that several threads do together.
 *
 * Each of them runs `hand`, which takes what is next from the context, as by an
 * atomic counter, until nothing is left.  The thread that asks is one of them,
 * so one that cannot be started is no loss, and nobody goes on before all have
 * come back.
 */
#ifndef SONDE_BASE_CREW_H
#define SONDE_BASE_CREW_H

#include <stddef.h>

#include "base/mem.h"

/* With no more threads than there are items, or cores that we may use.  0, or
 * what a hand came back with that was not 0: one that there was no memory for
 * comes back with mem_error's. */
int crew_run(mem_work *hand, void *context, size_t items);

/* So many pieces, of which each is done once, by the hand that comes to it
 * first; there is memory for all of them, or mem_none. */
typedef void crew_piece(void *context, size_t piece);
void crew_each(crew_piece *work, void *context, size_t count);

#endif
