#include "probe/probe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PROBE(name) extern const struct probe probe_##name;
#include "probe/probes.def"
#undef PROBE

const struct probe *const probe_table[] = {
#define PROBE(name) &probe_##name,
#include "probe/probes.def"
#undef PROBE
    NULL,
};

const struct probe *probe_find(const char *name)
{
    for (size_t i = 0; probe_table[i] != NULL; i++)
        if (strcmp(probe_table[i]->name, name) == 0)
            return probe_table[i];
    return NULL;
}

int probe_prepare(struct experiment *e, const struct device_info *info,
                  struct error *err)
{
    if (!e->prepared && e->probe->prepare != NULL &&
        e->probe->prepare(e, info, err) != 0)
        return err->code;
    e->prepared = true;
    return 0;
}

int probe_kernel(struct experiment *e, const struct device_info *info,
                 struct buf *out, struct error *err)
{
    if (e->probe->kernel == NULL)
        return error_set(err, ERR_UNSUPPORTED, "the probe %s has no kernel",
                         e->probe->name);
    if (probe_prepare(e, info, err) != 0)
        return err->code;
    e->probe->kernel(e, info, out);
    return 0;
}

double probe_figure(const struct experiment *e, const struct samples *samples,
                    size_t from)
{
    if (e->probe->figure != NULL)
        return e->probe->figure(e, samples, from);
    return samples->rows > from
               ? (double)samples_at(samples, from, e->probe->figure_column)
               : 0;
}

void samples_init(struct samples *s, const struct probe *probe)
{
    *s = (struct samples){.columns = 1, .names = {"repeat"}};
    for (const char *const *c = probe->columns; *c != NULL; c++)
        s->names[s->columns++] = *c;
}

void samples_free(struct samples *s)
{
    free(s->data);
    free(s->disturbed);
    *s = (struct samples){0};
}

int64_t *samples_row(struct samples *s)
{
    if (s->rows == s->capacity) {
        s->capacity = s->capacity > 0 ? 2 * s->capacity : 64;
        s->data =
            xreallocarray(s->data, s->capacity * s->columns, sizeof *s->data);
    }
    int64_t *const row = s->data + s->rows++ * s->columns;
    memset(row, 0, s->columns * sizeof *row);
    return row;
}

void samples_add_words(struct samples *s, const uint64_t *words, size_t bytes)
{
    assert(bytes <= (s->columns - 1) * sizeof *s->data);
    memcpy(samples_row(s) + 1, words, bytes);
}

void samples_append(struct samples *s, size_t from, const struct samples *more)
{
    (void)from;
    for (size_t i = 0; i < more->rows; i++)
        memcpy(samples_row(s), more->data + i * more->columns,
               more->columns * sizeof *more->data);
}

int64_t *samples_row_of(struct samples *s, size_t from, size_t column,
                        int64_t value)
{
    for (size_t i = from; i < s->rows; i++)
        if (samples_at(s, i, column) == value)
            return s->data + i * s->columns;
    int64_t *const row = samples_row(s);
    row[column] = value;
    return row;
}

int64_t samples_at(const struct samples *s, size_t row, size_t column)
{
    return s->data[row * s->columns + column];
}

size_t samples_column(const struct samples *s, const char *name)
{
    size_t i = 0;
    while (strcmp(s->names[i], name) != 0)
        i++;
    return i;
}
