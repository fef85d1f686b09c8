#include "truth/claim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "truth/truth.h"

/* ---- comparisons ---- */

bool claim_is_close(const json_t *a, const json_t *b, double tolerance)
{
    return json_is_number(a) && json_is_number(b) &&
           fabs(json_number_value(a) - json_number_value(b)) <= tolerance;
}

bool claim_equals(const json_t *expected, const json_t *found)
{
    return claim_is_close(expected, found, 0);
}

double claim_doubt(double cycles)
{
    return fmax(1, 0.01 * cycles);
}

bool claim_close_cycles(const json_t *expected, const json_t *found)
{
    return claim_is_close(expected, found,
                          claim_doubt(json_number_value(expected)));
}

/* ---- what was found ---- */

static const json_t *member(const struct run_seen *seen, const char *id,
                            const char *key)
{
    return json_object_get(json_object_get(seen->findings, id), key);
}

static bool has_status(const struct run_seen *seen, const char *id,
                       const char *status)
{
    const char *const is = json_string_value(member(seen, id, "status"));
    return is != NULL && strcmp(is, status) == 0;
}

static bool is_unknown(const json_t *value)
{
    return json_is_string(value) &&
           strcmp(json_string_value(value), "unknown") == 0;
}

const json_t *claim_found(const struct run_seen *seen, const char *id)
{
    if (!has_status(seen, id, "measured") && !has_status(seen, id, "derived"))
        return NULL;
    const json_t *const value = member(seen, id, "value");
    return is_unknown(value) ? NULL : value;
}

/* What is said in doubt: its interval holds the truth, or it is right. */
static bool holds(const struct run_seen *seen, const char *id,
                  const json_t *expected, same_fn *same)
{
    const json_t *const interval = member(seen, id, "interval");
    if (same(expected, member(seen, id, "value")))
        return true;
    if (json_array_size(interval) != 2 || !json_is_number(expected))
        return false;
    const double truth = json_number_value(expected);
    return json_number_value(json_array_get(interval, 0)) <= truth &&
           truth <= json_number_value(json_array_get(interval, 1));
}

/* Of a bound: the truth is on its right side; of a list, what is the same by a
 * comparison that knows of bounds; a bound of what is neither says nothing. */
static bool bounds(const struct run_seen *seen, const char *id,
                   const json_t *expected, same_fn *same)
{
    const json_t *const value = member(seen, id, "value");
    if (json_is_array(value) && json_is_array(expected))
        return same(expected, value);
    if (!json_is_number(value) || !json_is_number(expected))
        return true;
    const double more = json_number_value(value) - json_number_value(expected);
    return has_status(seen, id, "at_least") ? more <= 0 : more >= 0;
}

static enum claim_outcome outcome_of(const struct run_seen *seen,
                                     const char *id, enum need need,
                                     const json_t *expected, same_fn *same)
{
    const json_t *const found = claim_found(seen, id);
    if (found != NULL)
        return need != NEVER && same(expected, found) ? CLAIM_RIGHT
                                                      : CLAIM_WRONG;
    if (need == NEVER)
        return CLAIM_MISSING;
    if (has_status(seen, id, "at_least") || has_status(seen, id, "at_most"))
        return bounds(seen, id, expected, same) ? CLAIM_BOUND : CLAIM_WRONG;
    if (has_status(seen, id, "in_doubt"))
        return holds(seen, id, expected, same) ? CLAIM_DOUBT : CLAIM_WRONG;
    return CLAIM_MISSING;
}

/* ---- claims ---- */

void claim_note(const struct run_seen *seen, enum claim_outcome outcome,
                const char *id)
{
    static const char *const words[] = {
#define X(id_, word) word,
        CLAIM_OUTCOMES(X)
#undef X
    };
    if (seen->outcomes != NULL)
        buf_printf(seen->outcomes, "%s %s\n", words[outcome], id);
}

/* A row of the rows; the JSON of what is short enough to be read. */
static void say(const struct check *c, const char *id, const json_t *expected)
{
    const size_t flags =
        JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6);
    const struct run_seen *const seen = c->seen;
    const json_t *const value = member(seen, id, "value");
    char *const wanted =
        expected != NULL ? json_dumps(expected, flags) : xstrdup("nothing");
    char *const got = value != NULL ? json_dumps(value, flags) : xstrdup("");
    const char *const status = json_string_value(member(seen, id, "status"));
    const char *const because = json_string_value(member(seen, id, "because"));
    buf_printf(
        seen->rows, "%s seed %llu %s expected %.300s, found %.300s %s%s%s\n",
        seen->name, (unsigned long long)seen->seed, id, wanted, got,
        status != NULL ? status : "no such finding",
        because != NULL ? " because " : "", because != NULL ? because : "");
    free(wanted);
    free(got);
}

static void settle(struct check *c, const char *id, enum need need,
                   const json_t *expected, same_fn *same)
{
    const enum claim_outcome outcome =
        outcome_of(c->seen, id, need, expected, same);
    const bool wrong = outcome == CLAIM_WRONG;
    const bool missing =
        need == MUST && !wrong && claim_found(c->seen, id) == NULL;
    c->verdict->asked += need == MUST;
    c->verdict->wrong += wrong;
    c->verdict->missing += missing;
    if (wrong || missing)
        say(c, id, need == NEVER ? NULL : expected);
    if (wrong || need == MUST || need == HOPED)
        claim_note(c->seen, outcome, id);
}

void claim(struct check *c, const char *component, const char *attribute,
           enum need need, json_t *expected, same_fn *same)
{
    char id[64];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    settle(c, id, need, expected, same);
    json_decref(expected);
}

void claim_whole(struct check *c, const char *component, const char *attribute,
                 enum need need, uint64_t whole)
{
    claim(c, component, attribute, need, json_integer((json_int_t)whole),
          claim_equals);
}

void claim_nothing(struct check *c, const char *component,
                   const char *const *attributes)
{
    for (; *attributes != NULL; attributes++)
        claim(c, component, *attributes, NEVER, NULL, claim_equals);
}
