/*
 * Repeating a body, apart from the body: `unroll` copies of it inside a loop
 * that runs `count` times.  In-order issue hides each of the loop's own
 * instructions in the shadow of a dependent body's result; they stand apart,
 * since all of them together may take longer than one body.
 */
#ifndef SONDE_PTX_REPEAT_H
#define SONDE_PTX_REPEAT_H

#include "ptx/kernel.h"

/* Writes one copy of the body; `copy` counts from 0. */
typedef void repeat_body(struct kernel_text *k, unsigned copy,
                         const void *context);

/* Runs the body unroll × `count_register` times (.b64, used up; 0: never).
 * LABEL makes the loop's labels unique in the kernel; the caller declares the
 * predicate %again, which bodies leave alone.  From the second copy on the
 * register holds how many turns are to come. */
void repeat_loop(struct kernel_text *k, const char *label,
                 const char *count_register, unsigned unroll, repeat_body *body,
                 const void *context);

#endif
