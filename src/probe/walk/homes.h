/*
 * Memory of one home: of a cache in two parts the lines that are at home in one
 * of them, of which some address bits have one parity within a page.  They are
 * numbered in order of address, without the lowest of these bits.
 */
#ifndef SONDE_PROBE_WALK_HOMES_H
#define SONDE_PROBE_WALK_HOMES_H

#include "probe/probe.h"
#include "ptx/kernel.h"
#include "ptx/space.h"

/* Pages within which address bits are those of the memory. */
enum { HOMES_PAGE_BITS = 21, HOMES_MOST = 1024 };
#define HOMES_PAGE ((uint64_t)1 << HOMES_PAGE_BITS)

/* The field `homes` of a probe's struct. */
struct homes {
    uint64_t bits;     /* 0: all memory counts */
    const char *sides; /* the parity in each page */
    uint64_t pages;
    uint8_t table[HOMES_MOST]; /* the same, for the kernel */
};

/* Rows for the table of a probe. */
/* clang-format off */
#define HOMES_PARAMS(type)                                                     \
    PARAM_ROW("home", type, homes.bits, PARAM_NUMBER, "0", 0,                  \
              HOMES_PAGE - 1, NULL, "places are counted among those of a "     \
              "page of 2 MiB of which so many address bits have one parity; "  \
              "0: all"),                                                       \
    PARAM_ROW("homes", type, homes.sides, PARAM_TEXT, "", 0, 0, NULL,          \
              "the parity in each page: 0 or 1, from the first page on")
/* clang-format on */

/* Reads the sides; the buffer begins with these pages, of which so many bytes
 * of one home are asked for. */
int homes_prepare(struct homes *homes, uint64_t sector, struct error *err);
int homes_check(const struct homes *homes, uint64_t span, struct error *err);

/* Bytes that the kernel's table takes. */
enum { HOMES_BYTES = HOMES_MOST };
/* Declares what homes_write() needs; the table's address is a job's word. */
void homes_declare(struct kernel_text *k, const struct homes *homes, int word);
/* The address of what lies at %offset, which is a number of bytes, as
 * space_address() gives it.  Uses %next (.b64), %t0 and %at32 (.b32). */
const char *homes_address(struct kernel_text *k, const struct homes *homes,
                          const struct space *space);

#endif
