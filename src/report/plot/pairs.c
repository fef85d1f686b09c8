#include "report/plot/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/quantity.h"
#include "report/wide.h"

/* Reports are read from files of others: no host has more GPUs. */
enum { GPUS_MOST = 64 };

static const struct value *peers_of(const struct finding *f)
{
    const struct value *const peers =
        f != NULL ? finding_said(f, "peers") : NULL;
    return peers != NULL && peers->kind == VALUE_LIST &&
                   f->value.kind == VALUE_LIST &&
                   peers->count == f->value.count && peers->count > 0
               ? peers
               : NULL;
}

bool pairs_has(const struct finding *f)
{
    return text_glob("link.*", f->id) && peers_of(f) != NULL;
}

/* -1: it is none. */
static int gpu_number(const struct value *v)
{
    return v != NULL && v->kind == VALUE_NUMBER && v->number >= 0 &&
                   v->number < GPUS_MOST
               ? (int)v->number
               : -1;
}

/* ---- reports ----------------------------------------------------------- */

/* A report with its GPU's number on its host. */
struct gpu {
    const struct results *results;
    const char *host;
    int number; /* -1: not told */
};

static int number_of(const struct results *r)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (pairs_has(r->findings[i]))
            return gpu_number(finding_said(r->findings[i], "gpu"));
    return -1;
}

static bool has_any(const struct results *r)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (pairs_has(r->findings[i]))
            return true;
    return false;
}

static const char *text_of(const struct value *v)
{
    return v != NULL && v->kind == VALUE_TEXT ? v->text : "";
}

static int by_place(const void *a, const void *b)
{
    const struct gpu *const x = a, *const y = b;
    const int order = strcmp(x->host, y->host);
    return order != 0 ? order
                      : (x->number > y->number) - (x->number < y->number);
}

static bool is_simulated(const struct gpu *gpu)
{
    const struct value *const v = results_of_run(gpu->results, "simulated");
    return v != NULL && v->kind == VALUE_BOOL && v->number > 0;
}

static struct gpu *gpus_of(const struct results *const *results, size_t count,
                           size_t *found)
{
    struct gpu *const gpus = xcalloc(count, sizeof *gpus);
    *found = 0;
    for (size_t i = 0; i < count; i++)
        if (has_any(results[i]))
            gpus[(*found)++] = (struct gpu){
                results[i], text_of(results_of_run(results[i], "host")),
                number_of(results[i])};
    qsort(gpus, *found, sizeof *gpus, by_place);
    return gpus;
}

static char *name_of(const struct gpu *gpu)
{
    return gpu->number >= 0
               ? xasprintf("GPU %d", gpu->number)
               : xstrdup(text_of(results_of_device(gpu->results, "spec")));
}

/* ---- columns ----------------------------------------------------------- */

static void mark_peers(const struct finding *f, bool is[static GPUS_MOST])
{
    const struct value *const peers = peers_of(f);
    for (size_t i = 0; peers != NULL && i < peers->count; i++)
        if (gpu_number(&peers->items[i]) >= 0)
            is[gpu_number(&peers->items[i])] = true;
}

/* The place of each GPU among those that are marked; how many there are. */
static size_t columns_of(const bool is[static GPUS_MOST],
                         size_t column[static GPUS_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < GPUS_MOST; i++) {
        column[i] = count;
        count += is[i];
    }
    return count;
}

static void name_columns(struct matrix *m, const bool is[static GPUS_MOST])
{
    size_t k = 0;
    for (size_t i = 0; i < GPUS_MOST; i++)
        if (is[i])
            m->column[k++] = xasprintf("GPU %zu", i);
}

/* ---- cells ------------------------------------------------------------- */

static const char *mark_of(const struct finding *f)
{
    return f->status == STATUS_IN_DOUBT   ? "?"
           : f->status == STATUS_AT_LEAST ? "≥"
           : f->status == STATUS_AT_MOST  ? "≤"
                                          : "";
}

static double most_of(const struct finding *f)
{
    double most = 0;
    for (size_t i = 0; f->value.kind == VALUE_LIST && i < f->value.count; i++)
        if (f->value.items[i].kind == VALUE_NUMBER)
            most = fmax(most, fabs(f->value.items[i].number));
    return most;
}

static void fill_row(struct matrix *m, size_t row, const struct finding *f,
                     double factor, const size_t column[static GPUS_MOST])
{
    const struct value *const peers = peers_of(f);
    for (size_t i = 0; peers != NULL && i < peers->count; i++) {
        const int gpu = gpu_number(&peers->items[i]);
        const struct value *const v = &f->value.items[i];
        if (gpu < 0 || v->kind != VALUE_NUMBER || !isfinite(v->number))
            continue;
        const size_t at = row * m->columns + column[gpu];
        struct buf text = {0};
        buf_text(&text, mark_of(f));
        quantity_number(&text, v->number / factor, 0, "");
        m->value[at] = v->number / factor;
        free(m->text[at]);
        m->text[at] = buf_take(&text);
    }
}

/* ---- a matrix a quantity ------------------------------------------------ */

static struct pairs of_quantity(const struct gpu *gpus, size_t count,
                                const char *id, bool several_hosts)
{
    bool is[GPUS_MOST] = {false};
    size_t column[GPUS_MOST];
    double most = 0, factor;
    const char *unit = "";
    for (size_t i = 0; i < count; i++) {
        const struct finding *const f = results_find(gpus[i].results, id);
        mark_peers(f, is);
        if (gpus[i].number >= 0)
            is[gpus[i].number] = true;
        unit = f != NULL && f->unit != NULL && peers_of(f) != NULL ? f->unit
                                                                   : unit;
        most = f != NULL ? fmax(most, most_of(f)) : most;
    }
    struct pairs p = {.matrix = matrix_make(count, columns_of(is, column))};
    unit = quantity_scale(most, unit, &factor);
    p.title = xasprintf("%s%s%s%s%s%s", id, unit[0] != '\0' ? ", " : "", unit,
                        several_hosts ? " on " : "",
                        several_hosts ? gpus[0].host : "",
                        is_simulated(&gpus[0]) ? " (simulated)" : "");
    name_columns(&p.matrix, is);
    for (size_t i = 0; i < count; i++) {
        p.matrix.row[i] = name_of(&gpus[i]);
        const struct finding *const f = results_find(gpus[i].results, id);
        if (f != NULL)
            fill_row(&p.matrix, i, f, factor, column);
    }
    return p;
}

static bool came_before(const struct gpu *gpus, size_t gpu, const char *id)
{
    for (size_t i = 0; i < gpu; i++) {
        const struct finding *const f = results_find(gpus[i].results, id);
        if (f != NULL && pairs_has(f))
            return true;
    }
    return false;
}

static void add(struct pairs_list *list, struct pairs pairs)
{
    list->at = xreallocarray(list->at, list->count + 1, sizeof *list->at);
    list->at[list->count++] = pairs;
}

/* Of the GPUs of one host. */
static void add_host(struct pairs_list *list, const struct gpu *gpus,
                     size_t count, bool several_hosts)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < gpus[i].results->finding_count; k++) {
            const struct finding *const f = gpus[i].results->findings[k];
            if (pairs_has(f) && !came_before(gpus, i, f->id))
                add(list, of_quantity(gpus, count, f->id, several_hosts));
        }
}

struct matrix pairs_row(const struct finding *f)
{
    bool is[GPUS_MOST] = {false};
    size_t column[GPUS_MOST];
    double factor;
    const int own = gpu_number(finding_said(f, "gpu"));
    mark_peers(f, is);
    struct matrix m = matrix_make(1, columns_of(is, column));
    quantity_scale(most_of(f), f->unit != NULL ? f->unit : "", &factor);
    name_columns(&m, is);
    m.row[0] = own >= 0 ? xasprintf("GPU %d", own) : xstrdup("this GPU");
    fill_row(&m, 0, f, factor, column);
    return m;
}

/* ---- a row a quantity --------------------------------------------------- */

static void put_quantity(struct matrix *m, size_t row, const struct finding *f,
                         const size_t column[static GPUS_MOST])
{
    double factor;
    const char *const unit =
        quantity_scale(most_of(f), f->unit != NULL ? f->unit : "", &factor);
    m->row[row] = xasprintf("%s%s%s", f->id + strlen("link."),
                            unit[0] != '\0' ? ", " : "", unit);
    fill_row(m, row, f, factor, column);
}

static struct pairs of_gpu(const struct gpu *gpu)
{
    const struct results *const r = gpu->results;
    bool is[GPUS_MOST] = {false};
    size_t column[GPUS_MOST], rows = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        if (pairs_has(r->findings[i])) {
            mark_peers(r->findings[i], is);
            rows++;
        }
    char *const name = name_of(gpu);
    struct pairs p = {
        .title = xasprintf("links between %s and", name),
        .matrix = matrix_make(rows, columns_of(is, column)),
    };
    free(name);
    name_columns(&p.matrix, is);
    rows = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        if (pairs_has(r->findings[i]))
            put_quantity(&p.matrix, rows++, r->findings[i], column);
    return p;
}

/* ---- all ---------------------------------------------------------------- */

struct pairs_list pairs_of(const struct results *const *results, size_t count)
{
    struct pairs_list list = {0};
    size_t found, end;
    struct gpu *const gpus = gpus_of(results, count, &found);
    if (count == 1 && found == 1)
        add(&list, of_gpu(&gpus[0]));
    for (size_t from = 0; count > 1 && from < found; from = end) {
        end = from + 1;
        while (end < found && strcmp(gpus[end].host, gpus[from].host) == 0)
            end++;
        add_host(&list, gpus + from, end - from, end - from < found);
    }
    free(gpus);
    return list;
}

void pairs_free(struct pairs_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].title);
        matrix_free(&list->at[i].matrix);
    }
    free(list->at);
    *list = (struct pairs_list){0};
}

void pairs_write(const struct pairs *p, const struct page *page)
{
    const struct matrix *const m = &p->matrix;
    struct wide table = {.columns = m->columns + 1};
    page_line(page, &(struct line){0});
    wide_put(&table, p->title);
    for (size_t k = 0; k < m->columns; k++)
        wide_put(&table, m->column[k]);
    for (size_t i = 0; i < m->rows; i++) {
        wide_put(&table, m->row[i]);
        for (size_t k = 0; k < m->columns; k++) {
            const char *const text = m->text[i * m->columns + k];
            wide_put(&table, text != NULL ? text : "");
        }
    }
    wide_write(&table, page);
    wide_free(&table);
}
