/* What reports and comparisons in JSON share: values and findings. */
#ifndef SONDE_REPORT_AS_JSON_H
#define SONDE_REPORT_AS_JSON_H

#include <jansson.h>

#include "base/buf.h"
#include "finding/finding.h"

/* Rounded (report/number.h); null of what is not finite. */
json_t *as_json_number(double number);
/* JSON is UTF-8; a file name need not be.  What is not becomes '?'. */
json_t *as_json_text(const char *text);
json_t *as_json_texts(char *const *texts, size_t count);
json_t *as_json_value(const struct value *value);
json_t *as_json_entries(const struct protocol_entry *entries, size_t count);
json_t *as_json_finding(const struct finding *finding);
/* A member of an object, unless the text is NULL or "". */
void as_json_set(json_t *object, const char *key, const char *text);

/* JSON that another room wrote, with what a terminal had better not see in
 * escapes. */
void as_json_visible(struct buf *out, const char *json);
/* Writes it, with what a terminal had better not see in escapes, and frees it.
 */
void as_json_put(json_t *json, struct buf *out);

#endif
