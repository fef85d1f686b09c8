#include "report/picture/machine.h"

#include <stdlib.h>
#include <string.h>

#include "report/cell.h"
#include "report/phrase.h"
#include "report/storage.h"

struct machine {
    const struct results *results;
    struct arena *arena;
};

/* What has a box, from the nearest to the farthest of its kind. */
static const struct kind {
    const char *component, *title, *kind;
} kinds[] = {
    {"l1", "L1 cache", "data"},
    {"texture", "texture cache", "data"},
    {"readonly", "read-only cache", "data"},
    {"local", "L1 for local", "data"},
    {"shared", "shared memory", "shared"},
    {"dsm", "cluster's memory", "shared"},
    {"const_l1", "constant L1", "constant"},
    {"const_l15", "constant L1.5", "constant"},
    {"icache_l0", "instruction L0", "code"},
    {"icache_l1", "instruction L1", "code"},
    {"icache_l15", "instruction L1.5", "code"},
    {"tlb_l1", "TLB L1", "translation"},
    {"tlb_l2", "TLB L2", "translation"},
    {"tlb_l3", "TLB L3", "translation"},
    {"l2", "L2 cache", "l2"},
    {"memory", "memory", "memory"},
};

static enum mark mark_of(const struct finding *f)
{
    if (f == NULL)
        return MARK_PLAIN;
    if (f->status == STATUS_NOT_MEASURED)
        return MARK_MISSING;
    if (f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST)
        return MARK_BOUND;
    return f->status == STATUS_IN_DOUBT || f->because != NULL ? MARK_DOUBT
                                                              : MARK_PLAIN;
}

/* The finding, its interval and its study, a line each. */
static void put_tip(struct buf *out, const struct finding *f)
{
    if (f == NULL)
        return;
    char *const phrase = phrase_finding(f, 0);
    buf_printf(out, "%s%s: %s\n", out->length > 0 ? "\n" : "", f->id, phrase);
    free(phrase);
    const size_t length = out->length;
    phrase_interval(out, f);
    buf_text(out, out->length > length ? "\n" : "");
    if (f->study != NULL)
        buf_printf(out, "study: %s\n", f->study);
}

/* A row of what a cell says of findings (NULL ends); takes the cell. */
static void add_row(struct machine *m, struct box *box, const char *label,
                    char *cell, const struct finding *a,
                    const struct finding *b)
{
    if (cell == NULL)
        return;
    struct buf tip = {0};
    struct row *const row = box_row(m->arena, box);
    put_tip(&tip, a);
    put_tip(&tip, b);
    row->label = label;
    row->text = arena_adopt(m->arena, cell);
    row->tip = arena_adopt(m->arena, buf_take(&tip));
    row->mark = mark_of(a) > mark_of(b) ? mark_of(a) : mark_of(b);
}

static void add_storage(struct machine *m, struct box *parent,
                        const struct kind *k)
{
    const struct results *const r = m->results;
    const char *plus;
    struct box *const box = box_add(m->arena, parent, k->kind);
    box->component = k->component;
    box->title = k->title;
    const struct finding *size = storage_finding(r, k->component, "size");
    if (size == NULL)
        size = storage_finding(r, k->component, "reach");
    add_row(m, box, "size", cell_number(size, cell_put_quantity), size, NULL);
    add_row(m, box, "line", cell_line(r, k->component),
            storage_finding(r, k->component, "line"),
            storage_finding(r, k->component, "sector"));
    add_row(m, box, "sets × ways", cell_sets(r, k->component),
            storage_finding(r, k->component, "sets"),
            storage_finding(r, k->component, "ways"));
    const struct finding *const cost = cell_cost(r, k->component, &plus);
    add_row(m, box, plus[0] != '\0' ? "a miss adds" : "cycles",
            cell_number(cost, cell_put_short), cost, NULL);
    box->mark = mark_of(size);
}

struct box *machine_boxes(const struct results *r, struct arena *arena)
{
    struct machine m = {r, arena};
    const struct value *const name = results_of_device(r, "name");
    struct box *const gpu = box_add(arena, NULL, "gpu");
    gpu->title =
        name != NULL && name->kind == VALUE_TEXT ? name->text : "unnamed GPU";
    for (size_t i = COUNT_OF(kinds); i-- > 0;)
        if (storage_present(r, kinds[i].component) &&
            storage_of_path(r, kinds[i].component) == NULL)
            add_storage(&m, gpu, &kinds[i]);
    return gpu;
}
