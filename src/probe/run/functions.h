/*
 * A pool of functions, one after the other: code that can be called line by
 * line, in any order.  Each may be entered at any of its instructions, and
 * returns within the line of 128 B in which it is entered; so a place is an
 * offset in the pool, a multiple of 32 B, and a call there fetches its line and
 * no other.  At multiples of 1 KiB it returns after 64 B.
 *
 * They stand in the text of the kernel that calls them, behind which assemblers
 * put them in the order of their names, or in the opposite one; addresses of
 * functions are good for their own kernel alone.
 */
#ifndef SONDE_PROBE_RUN_FUNCTIONS_H
#define SONDE_PROBE_RUN_FUNCTIONS_H

#include "base/buf.h"
#include "device/device.h"
#include "ptx/space.h"

enum {
    FUNCTION_UNIT = 32,    /* B from one place to the next */
    FUNCTION_LINE = 128,   /* B that a call stays within */
    FUNCTION_ALIGN = 1024, /* of the pool's beginning, B */
    /* 256 KiB: assemblers take 2 s for as many, and 20 s for twice as many. */
    FUNCTION_LINES = 2041
};

/* How a kernel calls: a `load` at an address gives a word that hangs on the
 * call before. */
extern const struct space code_space;

/* The functions, behind so many instructions of padding; and the variable
 * `functions`, which has their addresses.  Padding 0: behind one, and only few
 * of them, which assemblers are quick with. */
void functions_text(struct buf *out, unsigned padding);

struct functions {
    unsigned padding; /* 0: not known yet */
    bool alone;       /* the kernel loads no constants */
    uint64_t bytes;   /* that the pool spans */
    uint64_t *place;  /* addresses by offset / FUNCTION_UNIT; 0: no place;
                         NULL: not known yet */
};

/* Looks where the functions lie, by the variable `functions` of the program
 * with that padding.  Where all of them do and the pool is aligned, its places
 * are known then; else the padding is the one that would align it.  The kernel
 * before them may be another beside other functions, so that is seen once they
 * are all there. */
int functions_find(struct functions *f, struct device *device,
                   uint64_t variable, struct error *err);
void functions_close(void *functions);
/* True if the pool has code at that offset. */
bool functions_has(const struct functions *f, uint64_t offset);

#endif
