/*
 * Faults on demand, for the libraries of this folder.  They are asked for in
 * the environment, since what is tried is the program as users run it:
 *
 *   FAULT=ENTRY:WHAT@N    at the Nth call of the entry point; N+ from then on
 *     WHAT is a number    it answers that result code
 *     lost:CODE           it and all that follow answer it, until there is a
 *                         new context
 *     hang                it does not come back
 *     garbage:KIND        it succeeds with what it gives being garbage: 0 zeros,
 *                         1 all bits set, 2 the largest number, 3 no number
 *   FAULT_COUNTS=FILE     how often each was called, written at exit
 *   FAULT_TELL=FILE       is made when it hangs
 *   FAULT_GPUS=N          there are N GPUs (1), and with
 *   FAULT_GPU=I           the fault is that of a process that uses GPU I
 */
#ifndef SONDE_TESTS_DRIVER_FAULTY_FAULT_H
#define SONDE_TESTS_DRIVER_FAULTY_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>

enum { FAULT_NONE = -1, GARBAGE_NONE = -1 };

enum { GARBAGE_ZEROS, GARBAGE_ONES, GARBAGE_LARGEST, GARBAGE_NAN };

struct fault_entry {
    const char *name;
    atomic_int calls;
};

/* Counts a call.  The code that it must answer now, FAULT_NONE for what it
 * would; *garbage is the kind, GARBAGE_NONE for none.  May not come back. */
int fault_at(struct fault_entry *entry, int *garbage);

/* The process uses this GPU from now on. */
void fault_uses(int gpu);

/* From now on nothing is lost any more. */
void fault_mend(void);

/* Writes the counts of entries, a line each. */
void fault_counts(const struct fault_entry *entries, int count);

/* A number in the place of that one. */
long long fault_number(int garbage, long long number, long long largest);

#endif
