/*
 * The part of sonde.h that says whether findings are there that somebody rests
 * on.  Missing is what was not measured; what the device has not (`skipped`,
 * dropped) is not missing, and a bound is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "base/mem.h"
#include "base/text.h"

enum { MISSING = 1 };

static int missing(const struct error *why, struct sonde_error *err)
{
    session_hand_out(MISSING, why, err);
    if (err != NULL)
        err->code = MISSING;
    return MISSING;
}

static bool is_missing(const struct finding *f)
{
    return f->status == STATUS_NOT_MEASURED && !f->skipped;
}

static bool is_named(const struct results *results, const char *pattern)
{
    for (size_t i = 0; i < results->finding_count; i++)
        if (text_glob(pattern, results->findings[i]->id))
            return true;
    for (size_t i = 0; i < results->dropped_count; i++)
        if (text_glob(pattern, results->dropped[i]))
            return true;
    return false;
}

static int unknown_finding(const struct results *results, const char *pattern,
                           struct sonde_error *err)
{
    struct error why;
    const char **const ids = xcalloc(results->finding_count + 1, sizeof *ids);
    for (size_t i = 0; i < results->finding_count; i++)
        ids[i] = results->findings[i]->id;
    error_set(&why, ERR_USAGE,
              "'%s' is required, and no finding of what ran is named so%s",
              pattern, text_guess(pattern, ids).text);
    free(ids);
    return missing(&why, err);
}

/* With no patterns all is, but what nobody measures: the driver's word. */
static bool is_required(const struct finding *f, const char *const *patterns,
                        size_t count)
{
    if (count == 0)
        return strcmp(f->study, "properties") != 0;
    for (size_t i = 0; i < count; i++)
        if (text_glob(patterns[i], f->id))
            return true;
    return false;
}

static int not_measured(const struct finding *first, size_t others,
                        struct sonde_error *err)
{
    struct error why;
    char more[48] = "";
    if (others > 0)
        snprintf(more, sizeof more, " (nor %s %zu other%s)",
                 others > 1 ? "are" : "is", others, others > 1 ? "s" : "");
    error_set(&why, ERR_UNSUPPORTED, "%s is required and not measured%s: %s",
              first->id, more, first->because);
    return missing(&why, err);
}

int sonde_require(const struct sonde *s, const char *const *patterns,
                  size_t count, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    if (s == NULL)
        return session_lacks(__func__, "the session", err);
    if (!session_words(patterns, count))
        return session_lacks(__func__, "a pattern", err);
    for (size_t i = 0; i < count; i++)
        if (!is_named(&s->results, patterns[i]))
            return unknown_finding(&s->results, patterns[i], err);
    const struct finding *first = NULL;
    size_t others = 0;
    for (size_t i = 0; i < s->results.finding_count; i++) {
        const struct finding *const f = s->results.findings[i];
        if (!is_missing(f) || !is_required(f, patterns, count))
            continue;
        others += first != NULL;
        first = first != NULL ? first : f;
    }
    return first != NULL ? not_measured(first, others, err) : 0;
}
