/*
 * What is said of a storage in a few characters, where a table has a cell or a
 * picture a line for it: with a mark of how far it holds ("≥64 KiB" a bound,
 * "?…" in doubt, "~…" within more than 2 %, "(…)" as the driver says).  The
 * caller frees; NULL: nothing to say; "–": it was not measured.
 */
#ifndef SONDE_REPORT_CELL_H
#define SONDE_REPORT_CELL_H

#include "base/buf.h"
#include "finding/finding.h"

/* With its unit; without; in three digits, of large numbers all before the
 * point. */
typedef void cell_put(struct buf *out, double number, const char *unit);
cell_put cell_put_quantity, cell_put_plain, cell_put_short;

/* `finding` may be NULL. */
char *cell_number(const struct finding *finding, cell_put *put);

/* "128/32 B"; "64 B" where a sector is a line. */
char *cell_line(const struct results *results, const char *component);
/* "512 × 4", "17 + 6 × 8" */
char *cell_sets(const struct results *results, const char *component);
char *cell_policy(const struct results *results, const char *component);
/* What has one of its own: "SM", "1/4 SM", "2 SMs", "GPU", as far as was
 * found. */
char *cell_users(const struct results *results, const char *component);

/* What a load costs there; of what only its misses show (code, pages) what a
 * miss costs more, with *plus "+", else "". */
const struct finding *cell_cost(const struct results *results,
                                const char *component, const char **plus);

#endif
