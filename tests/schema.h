/* Reports against docs/report.schema.json.  The few words of JSON Schema that
 * it uses are understood; any other stops the program. */
#ifndef SONDE_TESTS_SCHEMA_H
#define SONDE_TESTS_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

bool schema_fits(const json_t *report);

#endif
