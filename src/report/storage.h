/* Which cache a path of an SM (loads, textures, constants, code) ends in, as
 * was found: what is told with that cache needs no place of its own. */
#ifndef SONDE_REPORT_STORAGE_H
#define SONDE_REPORT_STORAGE_H

#include <stdbool.h>

#include "finding/finding.h"

/* Paths that may end in one storage, which is that of the first of them. */
enum { STORAGE_PATHS = 9 };
extern const char *const storage_paths[STORAGE_PATHS];

/* What comes on that path: "texture", "constants". */
const char *storage_path_words(const char *path);

/* True if the id is one of the component's. */
bool storage_is_of(const char *id, const char *component);
/* True if there is a finding of the component. */
bool storage_present(const struct results *results, const char *component);
/* NULL if there is none of that name. */
const struct finding *storage_finding(const struct results *results,
                                      const char *component,
                                      const char *attribute);
/* The component whose storage the path uses; NULL: its own. */
const char *storage_of_path(const struct results *results, const char *path);
/* True if both may be one number, or are one value; `b` may be NULL. */
bool storage_agree(const struct finding *a, const struct finding *b);

#endif
