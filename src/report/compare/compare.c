#include "report/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* The next pattern of a list with commas; false at its end.  The caller frees.
 */
static bool next_pattern(const char **list, char **pattern)
{
    if (*list == NULL)
        return false;
    const size_t length = strcspn(*list, ",");
    *pattern = xstrndup(*list, length);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

static bool is_wanted(const char *only, const char *id)
{
    char *pattern;
    bool wanted = only == NULL;
    while (!wanted && next_pattern(&only, &pattern)) {
        wanted = text_glob(pattern, id);
        free(pattern);
    }
    return wanted;
}

static bool is_of_any(const struct comparison *c, const char *pattern)
{
    for (size_t i = 0; i <= c->count; i++)
        for (size_t k = 0; k < c->results[i]->finding_count; k++)
            if (text_glob(pattern, c->results[i]->findings[k]->id))
                return true;
    return false;
}

static int check_patterns(const struct comparison *c, struct error *err)
{
    const char *only = c->wish.only;
    char *pattern;
    int code = 0;
    while (code == 0 && next_pattern(&only, &pattern)) {
        if (!is_of_any(c, pattern))
            code = error_set(err, ERR_USAGE,
                             "none of the reports has a finding '%s'", pattern);
        free(pattern);
    }
    return code;
}

static void judge_row(const struct comparison *c, struct compare_row *row)
{
    row->base = results_find(c->results[0], row->id);
    row->other = xcalloc(c->count, sizeof *row->other);
    row->judged = xcalloc(c->count, sizeof *row->judged);
    for (size_t i = 0; i < c->count; i++) {
        row->other[i] = results_find(c->results[i + 1], row->id);
        row->judged[i] =
            judge_pair(row->base, row->other[i], c->wish.tolerance);
        if (row->judged[i].verdict > row->worst)
            row->worst = row->judged[i].verdict;
        if (row->judged[i].beyond > row->beyond)
            row->beyond = row->judged[i].beyond;
    }
}

/* True if one of the first so many reports has it. */
static bool is_known(const struct comparison *c, size_t reports, const char *id)
{
    for (size_t i = 0; i < reports; i++)
        if (results_find(c->results[i], id) != NULL)
            return true;
    return false;
}

static void add_rows(struct comparison *c, size_t report)
{
    const struct results *const r = c->results[report];
    for (size_t i = 0; i < r->finding_count; i++) {
        const char *const id = r->findings[i]->id;
        if (!is_wanted(c->wish.only, id) || is_known(c, report, id))
            continue;
        struct compare_row *const row = &c->rows[c->row_count];
        *row = (struct compare_row){.id = id, .order = c->row_count++};
        judge_row(c, row);
    }
}

/* What is lost comes after what differs: it says less. */
static int rank(const struct compare_row *row)
{
    static const int ranks[] = {
        [VERDICT_DIFFERS] = 0, [VERDICT_LOST] = 1,  [VERDICT_STATUS] = 2,
        [VERDICT_GAINED] = 3,  [VERDICT_ALIKE] = 4,
    };
    return ranks[row->worst];
}

static int by_distance(const void *a, const void *b)
{
    const struct compare_row *const x = a, *const y = b;
    if (rank(x) != rank(y))
        return rank(x) < rank(y) ? -1 : 1;
    if (x->beyond > y->beyond || x->beyond < y->beyond)
        return x->beyond > y->beyond ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

int compare(const struct results *const *results, size_t count,
            const struct compare_wish *wish, struct comparison *c,
            struct error *err)
{
    size_t most = 0;
    *c = (struct comparison){
        .results = results, .count = count - 1, .wish = *wish};
    if (check_patterns(c, err) != 0)
        return err->code;
    for (size_t i = 0; i < count; i++)
        most += results[i]->finding_count;
    c->rows = xcalloc(most + 1, sizeof *c->rows);
    for (size_t i = 0; i < count; i++)
        add_rows(c, i);
    qsort(c->rows, c->row_count, sizeof *c->rows, by_distance);
    return 0;
}

void compare_free(struct comparison *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        free(c->rows[i].other);
        free(c->rows[i].judged);
    }
    free(c->rows);
    *c = (struct comparison){0};
}

size_t compare_counts(const struct comparison *c, enum verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < c->row_count; i++)
        count += c->rows[i].worst == verdict;
    return count;
}

bool compare_alike(const struct comparison *c)
{
    return compare_counts(c, VERDICT_DIFFERS) == 0 &&
           compare_counts(c, VERDICT_LOST) == 0;
}
