#include "probe/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a double holds exactly, as which all of them are calculated with: 52
 * days in cycles of 2 GHz, where a launch has ten seconds. */
#define NUMBER_MOST ((int64_t)1 << 53)

/* %smid has 32 bits; no GPU has more than some hundred SMs. */
enum { SMS_MOST = 1 << 16 };

/* What a column may hold: moments count from when the GPU was switched on, or
 * from 1970 in nanoseconds, and machine code is any word. */
static const struct range {
    const char *column;
    int64_t least, most;
} ranges[] = {
    {"low", INT64_MIN, INT64_MAX}, {"high", INT64_MIN, INT64_MAX},
    {"sm", -1, SMS_MOST - 1},      {"start", 0, INT64_MAX},
    {"end", 0, INT64_MAX},         {"begun", 0, INT64_MAX},
    {"ended", 0, INT64_MAX},       {"ns_begun", 0, INT64_MAX},
    {"ns_ended", 0, INT64_MAX},    {"ns", 0, INT64_MAX},
    {"throttle", 0, INT64_MAX},    {"over", -NUMBER_MOST, NUMBER_MOST},
    {NULL, -1, NUMBER_MOST},
};

static const struct range *range_of(const char *column)
{
    const struct range *r = ranges;
    while (r->column != NULL && strcmp(r->column, column) != 0)
        r++;
    return r;
}

static int refuse(const struct experiment *e, const char *why,
                  struct error *err)
{
    char *const text = experiment_text(e);
    error_set(err, ERR_NOT_RECORDED,
              "the recording is wrong about '%.200s': %s", text, why);
    free(text);
    return err->code;
}

static int check_column(const struct experiment *e, const struct samples *s,
                        size_t column, struct error *err)
{
    const struct range *const r = range_of(s->names[column]);
    for (size_t row = 0; row < s->rows; row++) {
        const int64_t value = samples_at(s, row, column);
        if (value >= r->least && value <= r->most)
            continue;
        error_set(err, ERR_NOT_RECORDED, "%s cannot be %" PRId64,
                  s->names[column], value);
        return refuse(e, err->text, err);
    }
    return 0;
}

/* Where the repetition that begins at `from` ends; 0 if it is not the one that
 * is due. */
static size_t repetition_end(const struct samples *s, size_t from, int64_t due)
{
    size_t to = from;
    while (to < s->rows && samples_at(s, to, 0) == due)
        to++;
    return to > from ? to : 0;
}

static int check_repetitions(const struct experiment *e,
                             const struct samples *s, struct error *err)
{
    int64_t due = 0;
    for (size_t from = 0, to; from < s->rows; from = to, due++) {
        to = repetition_end(s, from, due);
        if (to == 0)
            return refuse(e, "its repetitions are not in their order", err);
        const char *const why =
            e->probe->sound == NULL
                ? NULL
                : e->probe->sound(e, &(struct rows){s, from, to});
        if (why != NULL)
            return refuse(e, why, err);
    }
    return due > 0 ? 0 : refuse(e, "it has no samples", err);
}

int samples_check(const struct experiment *e, const struct samples *s,
                  struct error *err)
{
    for (size_t column = 0; column < s->columns; column++)
        if (check_column(e, s, column, err) != 0)
            return err->code;
    return check_repetitions(e, s, err);
}

const char *rows_are(const struct rows *rows, uint64_t count)
{
    return rows->to - rows->from == count ? NULL
                                          : "it has not as many rows as it "
                                            "gives";
}

const char *rows_are_one(const struct experiment *e, const struct rows *rows)
{
    (void)e;
    return rows_are(rows, 1);
}

const char *rows_are_below(const struct rows *rows, size_t column,
                           uint64_t bound)
{
    for (size_t row = rows->from; row < rows->to; row++)
        if ((uint64_t)samples_at(rows->samples, row, column) >= bound)
            return "a row is of nothing that it asks for";
    return NULL;
}
