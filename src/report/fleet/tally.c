#include "report/fleet/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *place_of(const struct fleet *f, size_t gpu,
                            enum fleet_level level)
{
    const char *const rack = f->racks[gpu];
    return level == FLEET_HOST ? f->now.gpus[gpu].host
                               : (rack != NULL ? rack : "");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tally_row *)a)->name,
                  ((const struct tally_row *)b)->name);
}

static int most_first(const void *a, const void *b)
{
    const struct tally_row *const x = a, *const y = b;
    if (x->out != y->out)
        return x->out > y->out ? -1 : 1;
    return by_name(a, b);
}

/* A row for each GPU becomes one for each place with somebody out. */
static void add_up(struct tally *t)
{
    size_t kept = 0;
    qsort(t->rows, t->count, sizeof *t->rows, by_name);
    for (size_t i = 0; i < t->count;) {
        struct tally_row all = {.name = t->rows[i].name};
        for (; i < t->count && strcmp(t->rows[i].name, all.name) == 0; i++) {
            all.out += t->rows[i].out;
            all.gpus++;
        }
        if (all.out > 0 && all.name[0] != '\0')
            t->rows[kept++] = all;
    }
    t->count = kept;
    qsort(t->rows, t->count, sizeof *t->rows, most_first);
}

struct tally fleet_tally(const struct fleet *f, const struct fleet_model *m,
                         enum fleet_level level)
{
    struct tally t = {.rows = xcalloc(m->count + 1, sizeof *t.rows),
                      .count = m->count};
    for (size_t i = 0; i < m->count; i++)
        t.rows[i].name = place_of(f, m->from + i, level);
    for (size_t i = 0; i < m->out_count; i++)
        if (m->out[i].level == FLEET_GPU)
            t.rows[m->out[i].gpu - m->from].out = 1;
    add_up(&t);
    return t;
}

void fleet_tally_free(struct tally *t)
{
    free(t->rows);
    *t = (struct tally){0};
}
