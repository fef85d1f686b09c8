/* Is markup well-formed: a reader of elements, attributes and entities that is
 * as strict as XML's. */
#ifndef SONDE_TESTS_UNIT_MARKUP_CHECK_H
#define SONDE_TESTS_UNIT_MARKUP_CHECK_H

#include <stddef.h>

/* NULL, or what is wrong and where; the caller frees. */
char *markup_wrong(const char *text);
/* How many elements of that name begin. */
size_t markup_elements(const char *text, const char *name);

#endif
