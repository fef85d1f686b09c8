#include "report/costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The parts of an id; false if it is none of a cost. */
struct cost_id {
    const char *name;
    size_t length; /* of the name */
    int level;     /* -1: throughput */
};

static bool read_id(const char *id, struct cost_id *parts)
{
    static const char isa[] = "isa.", rate[] = ".throughput";
    static const char latency[] = ".latency.O";
    const size_t all = strlen(id);
    parts->name =
        strncmp(id, isa, sizeof isa - 1) == 0 ? id + sizeof isa - 1 : id;
    if (parts->name == id && strncmp(id, "bench.", 6) != 0)
        return false;
    if (all > sizeof rate && strcmp(id + all - (sizeof rate - 1), rate) == 0) {
        parts->level = -1;
        parts->length = (size_t)(id + all - (sizeof rate - 1) - parts->name);
        return true;
    }
    const char *const at = strstr(id, latency);
    if (at == NULL)
        return false;
    parts->level = at[sizeof latency - 1] - '0';
    parts->length = (size_t)(at - parts->name);
    return parts->level >= 0 && parts->level < COST_LEVELS;
}

static struct cost_row *row_of(struct costs *costs, const struct cost_id *id)
{
    struct cost_row *const last =
        costs->count > 0 ? &costs->rows[costs->count - 1] : NULL;
    if (last != NULL && strlen(last->name) == id->length &&
        strncmp(last->name, id->name, id->length) == 0)
        return last;
    costs->rows =
        xreallocarray(costs->rows, costs->count + 1, sizeof *costs->rows);
    struct cost_row *const row = &costs->rows[costs->count++];
    *row = (struct cost_row){.category = ""};
    snprintf(row->name, sizeof row->name, "%.*s", (int)id->length, id->name);
    return row;
}

/* A text of the finding's protocol; NULL if it has none of that name. */
static const char *said_of(const struct finding *f, const char *name)
{
    const struct value *const said = f != NULL ? finding_said(f, name) : NULL;
    return said != NULL && said->kind == VALUE_TEXT ? said->text : NULL;
}

void costs_collect(const struct results *results, struct costs *costs)
{
    *costs = (struct costs){0};
    for (size_t i = 0; i < results->finding_count; i++) {
        const struct finding *const f = results->findings[i];
        struct cost_id id;
        if (!read_id(f->id, &id))
            continue;
        struct cost_row *const row = row_of(costs, &id);
        const char *const category = said_of(f, "category");
        row->category = category != NULL ? category : row->category;
        if (id.level < 0) {
            row->throughput = f;
        } else {
            row->latency[id.level] = f;
            costs->level[id.level] = true;
        }
    }
}

bool costs_has(const char *id)
{
    struct cost_id parts;
    return read_id(id, &parts);
}

bool costs_only(const struct results *results)
{
    size_t count = 0;
    for (size_t i = 0; i < results->finding_count; i++) {
        const char *const id = results->findings[i]->id;
        struct cost_id parts;
        if (read_id(id, &parts))
            count++;
        else if (strncmp(id, "clock.", 6) != 0)
            return false;
    }
    return count > 0;
}

void costs_free(struct costs *costs)
{
    free(costs->rows);
    *costs = (struct costs){0};
}

const char *cost_row_said(const struct cost_row *row, const char *name)
{
    for (int level = COST_LEVELS - 1; level >= 0; level--) {
        const char *const text = said_of(row->latency[level], name);
        if (text != NULL)
            return text;
    }
    return said_of(row->throughput, name);
}

const char *cost_row_because(const struct cost_row *row)
{
    const char *why = NULL;
    for (int level = 0; level < COST_LEVELS; level++) {
        const struct finding *const f = row->latency[level];
        if (f != NULL && f->status != STATUS_NOT_MEASURED)
            return NULL;
        why = f != NULL ? f->because : why;
    }
    return why;
}
