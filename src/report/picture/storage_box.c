#include "report/picture/storage_box.h"

#include <stdlib.h>
#include <string.h>

#include "report/cell.h"
#include "report/phrase.h"
#include "report/screen/open.h"
#include "report/storage.h"
#include "report/tree.h"

enum mark storage_mark(const struct finding *f)
{
    if (f == NULL)
        return MARK_PLAIN;
    if (f->status == STATUS_NOT_MEASURED)
        return open_is_missing(f) ? MARK_MISSING : MARK_PLAIN;
    if (f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST)
        return MARK_BOUND;
    return open_is_doubted(f) ? MARK_DOUBT : MARK_PLAIN;
}

enum mark mark_worse(enum mark a, enum mark b)
{
    return a > b ? a : b;
}

const char *machine_text(const struct machine *m, char *text)
{
    return arena_adopt(m->arena, text);
}

void storage_tip(const struct machine *m, struct buf *out,
                 const struct finding *f)
{
    if (f == NULL)
        return;
    char *const phrase = phrase_finding(f, m->clock_hz);
    buf_printf(out, "%s%s: %s", out->length > 0 ? "\n" : "", f->id, phrase);
    free(phrase);
    struct buf interval = {0};
    phrase_interval(&interval, f);
    if (interval.length > 0)
        buf_printf(out, "\ninterval: %s", interval.data);
    buf_free(&interval);
    if (f->study != NULL)
        buf_printf(out, "\nstudy: %s", f->study);
}

/* False of what nobody misses. */
static bool is_open(const struct finding *f)
{
    return f == NULL || f->status != STATUS_NOT_MEASURED || open_is_missing(f);
}

void storage_row(const struct machine *m, struct box *box, struct row_of of)
{
    if (of.text == NULL || !is_open(of.a)) {
        free(of.text);
        return;
    }
    struct buf tip = {0};
    storage_tip(m, &tip, of.a);
    storage_tip(m, &tip, of.b);
    struct row *const row = box_row(m->arena, box);
    row->label = of.label;
    row->text = machine_text(m, of.text);
    row->tip = machine_text(m, buf_take(&tip));
    row->mark = mark_worse(storage_mark(of.a), storage_mark(of.b));
}

char *storage_cycles(const struct machine *m, const struct finding *f)
{
    char *const cycles = cell_number(f, cell_put_short);
    if (cycles == NULL || f->value.kind != VALUE_NUMBER)
        return cycles;
    struct buf out = {0};
    buf_printf(&out, "%s cycles", cycles);
    free(cycles);
    if (m->clock_hz > 0) {
        buf_text(&out, " · ");
        cell_put_short(&out, f->value.number / m->clock_hz * 1e9, "");
        buf_text(&out, " ns");
    }
    return buf_take(&out);
}

/* Attributes that are one number and a row each; of either kind of storage
 * there is one size. */
static const struct attribute {
    const char *name, *label;
} sizes[] = {{"size", "size"},
             {"reach", "reach"},
             {"page", "page"},
             {"page_window", "window"},
             {"bus_width", "bus"}},
  rates[] = {{"read_bandwidth", "reads"}, {"write_bandwidth", "writes"}};

static void add_attribute(const struct machine *m, struct box *box,
                          const struct attribute *a)
{
    const struct finding *const f =
        storage_finding(m->results, box->component, a->name);
    storage_row(
        m, box,
        (struct row_of){a->label, cell_number(f, cell_put_quantity), f, NULL});
}

/* What a load costs, and how many come. */
static void add_costs(const struct machine *m, struct box *box,
                      const char *component)
{
    const char *plus;
    const struct finding *const f = cell_cost(m->results, component, &plus);
    storage_row(m, box,
                (struct row_of){plus[0] != '\0' ? "a miss adds" : "latency",
                                storage_cycles(m, f), f, NULL});
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        const struct finding *const rate =
            storage_finding(m->results, component, rates[i].name);
        storage_row(m, box,
                    (struct row_of){rates[i].label,
                                    cell_number(rate, cell_put_quantity), rate,
                                    NULL});
    }
}

static void add_sets(const struct machine *m, struct box *box)
{
    const struct results *const r = m->results;
    const char *const c = box->component;
    const struct finding *const list = storage_finding(r, c, "set_ways");
    const struct finding *const policy = storage_finding(r, c, "policy");
    const bool unequal = list != NULL && list->value.kind == VALUE_LIST;
    storage_row(m, box,
                (struct row_of){
                    unequal ? "ways of sets" : "sets × ways", cell_sets(r, c),
                    unequal ? list : storage_finding(r, c, "sets"),
                    unequal ? NULL : storage_finding(r, c, "ways")});
    storage_row(m, box,
                (struct row_of){"policy", cell_policy(r, c), policy, NULL});
}

/* Shared memory is told in other words than caches. */
static void add_banks(const struct machine *m, struct box *box)
{
    const struct finding *const size =
        storage_finding(m->results, "sm", "shared");
    const struct finding *const banks =
        storage_finding(m->results, box->component, "banks");
    const struct finding *const bytes =
        storage_finding(m->results, box->component, "bank_bytes");
    storage_row(m, box,
                (struct row_of){"size", cell_number(size, cell_put_quantity),
                                size, NULL});
    char *const count = cell_number(banks, cell_put_plain);
    char *const each = cell_number(bytes, cell_put_quantity);
    if (count != NULL)
        storage_row(m, box,
                    (struct row_of){"banks",
                                    each == NULL
                                        ? xstrdup(count)
                                        : xasprintf("%s × %s", count, each),
                                    banks, bytes});
    free(count);
    free(each);
}

static void add_rows(const struct machine *m, struct box *box)
{
    const struct results *const r = m->results;
    const char *const c = box->component;
    if (strcmp(c, "shared") == 0)
        add_banks(m, box);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        add_attribute(m, box, &sizes[i]);
    char *const line = cell_line(r, c);
    const bool two = line != NULL && strchr(line, '/') != NULL;
    storage_row(m, box,
                (struct row_of){two ? "line/sector" : "line", line,
                                storage_finding(r, c, "line"),
                                storage_finding(r, c, "sector")});
    add_sets(m, box);
}

/* What a path has otherwise than the storage that it ends in. */
static void add_different(const struct machine *m, struct box *box,
                          const char *path, const char *storage)
{
    static const struct attribute asked[] = {
        {"size", "size"}, {"line", "line"}, {"sector", "sector"}};
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const struct finding *const f =
            storage_finding(m->results, path, asked[i].name);
        if (f != NULL && f->status == STATUS_MEASURED &&
            !storage_agree(f,
                           storage_finding(m->results, storage, asked[i].name)))
            storage_row(m, box,
                        (struct row_of){asked[i].label,
                                        cell_number(f, cell_put_quantity), f,
                                        NULL});
    }
}

static bool ends_in(const struct machine *m, const char *path,
                    const char *component)
{
    const char *const of = storage_of_path(m->results, path);
    return of != NULL && strcmp(of, component) == 0 &&
           storage_present(m->results, path);
}

/* A box for each path of several; false: there is but one. */
static bool add_paths(const struct machine *m, struct box *box)
{
    const char *const c = box->component;
    struct box *path = NULL;
    for (size_t i = 0; i < STORAGE_PATHS; i++) {
        if (!ends_in(m, storage_paths[i], c))
            continue;
        if (path == NULL) {
            path = box_add(box, box_new(m->arena, "path"));
            path->note = storage_path_words(c);
            add_costs(m, path, c);
        }
        path = box_add(box, box_new(m->arena, "path"));
        path->note = storage_path_words(storage_paths[i]);
        path->component = storage_paths[i];
        add_costs(m, path, storage_paths[i]);
        add_different(m, path, storage_paths[i], c);
    }
    return path != NULL;
}

static bool nothing_measured(const struct box *box)
{
    bool any = false;
    for (size_t i = 0; i < box->row_count; i++) {
        if (box->row[i].mark != MARK_MISSING ||
            strchr(box->row[i].text, ' ') != NULL) /* "– × 16" */
            return false;
        any = true;
    }
    return any;
}

/* One row in place of many that say nothing, and all their reasons. */
static void say_nothing(const struct machine *m, struct box *box)
{
    struct buf tip = {0};
    for (size_t i = 0; i < box->row_count; i++)
        buf_printf(&tip, "%s%s", i > 0 ? "\n" : "", box->row[i].tip);
    box->row_count = 0;
    struct row *const row = box_row(m->arena, box);
    row->label = "";
    row->text = "not measured";
    row->tip = box->tip = machine_text(m, buf_take(&tip));
    box->mark = MARK_MISSING;
}

/* What a box is above all: its bytes, else what it costs. */
static const struct finding *main_finding(const struct machine *m,
                                          const char *component)
{
    const char *plus;
    const struct finding *f =
        strcmp(component, "shared") == 0
            ? storage_finding(m->results, "sm", "shared")
            : storage_finding(m->results, component, "size");
    if (f == NULL)
        f = storage_finding(m->results, component, "reach");
    return f != NULL ? f : cell_cost(m->results, component, &plus);
}

static void add_tip(const struct machine *m, struct box *box)
{
    static const char *const asked[] = {"sms_sharing", "per_sm", "prefetch"};
    struct buf tip = {0};
    buf_text(&tip, box->title);
    storage_tip(m, &tip, main_finding(m, box->component));
    for (size_t i = 0; i < COUNT_OF(asked); i++)
        storage_tip(m, &tip,
                    storage_finding(m->results, box->component, asked[i]));
    box->tip = machine_text(m, buf_take(&tip));
}

struct box *storage_box(const struct machine *m, const char *component,
                        const char *kind)
{
    struct box *const box = box_new(m->arena, kind);
    const char *const title = tree_component(component);
    box->component = component;
    box->title = title != NULL ? title : component;
    add_rows(m, box);
    if (!add_paths(m, box))
        add_costs(m, box, component);
    if (box->row_count == 0 && box->first == NULL)
        return NULL;
    if (box->first == NULL && nothing_measured(box)) {
        say_nothing(m, box);
        return box;
    }
    const enum mark mark = storage_mark(main_finding(m, component));
    box->mark = mark == MARK_MISSING ? MARK_PLAIN : mark;
    add_tip(m, box);
    return box;
}
