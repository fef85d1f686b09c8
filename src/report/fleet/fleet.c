/* What all parts of a fleet share: names, who is missing, what it ends with. */
#include "report/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/quantity.h"

void fleet_name_columns(struct fleet *f)
{
    const struct names *const n = &f->names.columns;
    f->columns = xcalloc(n->count + 1, sizeof *f->columns);
    f->units = xcalloc(n->count + 1, sizeof *f->units);
    for (size_t i = 0; i < n->count; i++) {
        const char *const tab = strrchr(n->at[i], FLEET_UNIT_BEHIND[0]);
        f->columns[i] = xstrndup(n->at[i], (size_t)(tab - n->at[i]));
        f->units[i] = xstrdup(tab + 1);
    }
}

const char *fleet_column(const struct fleet *f, uint32_t column)
{
    return f->columns[column];
}

const char *fleet_unit(const struct fleet *f, uint32_t column)
{
    return f->units[column];
}

const char *fleet_words(const struct fleet *f, double number)
{
    return f->names.words.at[(size_t)number];
}

const char *fleet_model_name(const struct fleet *f, uint32_t model)
{
    return f->names.words.at[model];
}

const char *fleet_gpu_name(const struct fleet_gpu *gpu)
{
    return gpu->uuid[0] != '\0' ? gpu->uuid : gpu->spec;
}

void fleet_put(const struct fleet *f, struct buf *out, uint32_t column,
               bool words, double number)
{
    if (words)
        buf_text(out, fleet_words(f, number));
    else
        quantity_number(out, number, 0, fleet_unit(f, column));
}

static int by_column(const void *key, const void *value)
{
    const uint32_t column = *(const uint32_t *)key;
    const struct fleet_value *const v = value;
    return column < v->column ? -1 : column > v->column;
}

const struct fleet_value *fleet_value_of(const struct fleet_gpu *gpu,
                                         uint32_t column)
{
    return bsearch(&column, gpu->values, gpu->count, sizeof *gpu->values,
                   by_column);
}

static void count_version(struct fleet_version *v, size_t *count,
                          uint32_t words)
{
    size_t i = 0;
    while (i < *count && v[i].words != words)
        i++;
    *count += i == *count;
    v[i].words = words;
    v[i].gpus++;
}

struct fleet_version *fleet_versions(const struct fleet *f, size_t *count)
{
    struct fleet_version *const v = xcalloc(f->now.count + 1, sizeof *v);
    *count = 0;
    for (size_t i = 0; i < f->now.count; i++)
        count_version(v, count, f->now.gpus[i].version);
    return v;
}

/* ---- who is missing ------------------------------------------------------ */

/* A list may have long names of hosts, and reports short ones, or the other way
 * round. */
static bool is_host(const char *a, const char *b)
{
    const size_t x = strcspn(a, "."), y = strcspn(b, ".");
    if (a[x] != '\0' && b[y] != '\0')
        return strcmp(a, b) == 0;
    return x == y && strncmp(a, b, x) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool gave_report(const char *const *hosts, size_t count,
                        const char *host)
{
    /* Hosts in order: those that begin as this one are neighbours. */
    const size_t length = strcspn(host, ".");
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strncmp(hosts[middle], host, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && strncmp(hosts[low], host, length) == 0; low++)
        if (is_host(hosts[low], host))
            return true;
    return false;
}

static void expect_host(struct fleet *f, const char *const *hosts, size_t count,
                        char *line)
{
    line[strcspn(line, "#\r")] = '\0';
    line += strspn(line, " \t");
    line[strcspn(line, " \t")] = '\0';
    if (line[0] == '\0')
        return;
    f->expected++;
    if (gave_report(hosts, count, line))
        return;
    f->missing =
        xreallocarray(f->missing, f->missing_count + 1, sizeof *f->missing);
    f->missing[f->missing_count++] = xstrdup(line);
}

enum { LIST_MOST = 64 << 20 };

int fleet_expect(struct fleet *f, const char *path, struct error *err)
{
    struct buf list = {0};
    const int code = file_read(path, LIST_MOST, &list, err);
    if (code != 0 || list.length == 0) {
        buf_free(&list);
        return code;
    }
    const char **const hosts = xcalloc(f->now.count + 1, sizeof *hosts);
    for (size_t i = 0; i < f->now.count; i++)
        hosts[i] = f->now.gpus[i].host;
    qsort(hosts, f->now.count, sizeof *hosts, by_name);
    char *rest = list.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        expect_host(f, hosts, f->now.count, line);
    free(hosts);
    buf_free(&list);
    return 0;
}

/* ---- the end ------------------------------------------------------------- */

bool fleet_differs(const struct fleet *f)
{
    size_t out = 0;
    for (size_t i = 0; i < f->model_count; i++)
        out += f->models[i].out_count;
    return out + f->missing_count + f->change_count + f->gone_count > 0;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++)
        free(texts[i]);
    free(texts);
}

void fleet_free(struct fleet *f)
{
    for (size_t i = 0; i < f->model_count; i++) {
        free(f->models[i].findings);
        free(f->models[i].out);
    }
    free(f->models);
    free(f->changes);
    free_texts(f->racks, f->now.count);
    free_texts(f->gone, f->gone_count);
    free_texts(f->came, f->came_count);
    free_texts(f->missing, f->missing_count);
    free_texts(f->columns, f->names.columns.count);
    free_texts(f->units, f->names.columns.count);
    fleet_set_free(&f->now);
    fleet_set_free(&f->since);
    fleet_names_free(&f->names);
    *f = (struct fleet){0};
}
