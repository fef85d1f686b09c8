/*
 * A storage stands within what has one of it: a part of an SM, an SM, SMs that
 * share it, the GPU.  SM 0 is drawn in full, within the groups of SMs that
 * share something with it; of these only the numbers of SMs were found, and
 * that the smaller are in the larger is how it is drawn.
 */
#include "report/picture/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/cell.h"
#include "report/headline.h"
#include "report/picture/legend.h"
#include "report/picture/sm_map.h"
#include "report/storage.h"
#include "report/tree.h"

/* More copies of a storage than any SM has. */
enum { PARTS_MOST = 64 };

/* What has a box, and whose it is, where that is no question. */
enum owner { OF_SM, OF_GPU, ASKED };

static const struct kind {
    const char *component, *kind;
    enum owner owner;
} kinds[] = {
    {"memory", "memory", OF_GPU},
    {"link", "memory", OF_GPU},
    {"l1", "data", ASKED},
    {"texture", "data", ASKED},
    {"readonly", "data", ASKED},
    {"local", "data", ASKED},
    {"shared", "shared", OF_SM},
    {"dsm", "shared", OF_SM},
    {"const_l1", "constant", ASKED},
    {"const_l15", "constant", ASKED},
    {"icache_l0", "code", ASKED},
    {"icache_l1", "code", ASKED},
    {"icache_l15", "code", ASKED},
    {"tlb_l1", "translation", ASKED},
    {"tlb_l2", "translation", ASKED},
    {"tlb_l3", "translation", ASKED},
};

/* What has one of a storage. */
struct scope {
    size_t parts;                  /* of an SM, each with one; 1: none */
    size_t sms;                    /* that share it; 0: not known */
    const struct finding *finding; /* that says how many SMs; NULL: none */
};

struct plan {
    const struct machine *machine;
    size_t all; /* SMs of the GPU; 0: not known */
    struct scope scope[COUNT_OF(kinds)];
    struct box *box[COUNT_OF(kinds)]; /* NULL: nothing of it is drawn */
};

/* A count that is said, at least 1, of which no GPU has a million; 0: none. */
static size_t count_of(const struct finding *f)
{
    if (f == NULL || f->value.kind != VALUE_NUMBER)
        return 0;
    return (size_t)fmin(1e6, fmax(1, f->value.number));
}

/* What is said of the storage, or of a path that ends in it. */
static const struct finding *
find_of(const struct results *r, const char *component, const char *attribute)
{
    const struct finding *f = storage_finding(r, component, attribute);
    for (size_t i = 0; count_of(f) == 0 && i < STORAGE_PATHS; i++) {
        const char *const of = storage_of_path(r, storage_paths[i]);
        if (of != NULL && strcmp(of, component) == 0)
            f = storage_finding(r, storage_paths[i], attribute);
    }
    return f;
}

/* True of "at least one SM": that says nothing. */
static bool is_idle(const struct finding *f)
{
    return f != NULL && f->status == STATUS_AT_LEAST && count_of(f) <= 1;
}

static struct scope scope_of(const struct plan *p, const struct kind *k)
{
    const struct results *const r = p->machine->results;
    struct scope s = {.parts = 1, .sms = 1};
    if (k->owner != ASKED)
        return s;
    const struct finding *const per = find_of(r, k->component, "per_sm");
    const struct finding *const sms = find_of(r, k->component, "sms_sharing");
    if (count_of(per) > PARTS_MOST)
        return (struct scope){.parts = 1, .finding = per};
    s.parts = count_of(per) > 1 ? count_of(per) : 1;
    s.finding = s.parts > 1 ? per : sms;
    if (s.parts == 1)
        s.sms = is_idle(sms) ? 0 : count_of(sms);
    return s;
}

/* True of what the GPU has one of: by what is sure, else SMs are said. */
static bool is_whole(const struct plan *p, size_t i)
{
    const struct scope *const s = &p->scope[i];
    return kinds[i].owner == OF_GPU ||
           (s->sms > 1 && p->all > 0 && s->sms >= p->all &&
            storage_mark(s->finding) == MARK_PLAIN);
}

static bool is_drawn(const struct plan *p, size_t i, struct scope scope)
{
    return p->box[i] != NULL && !is_whole(p, i) &&
           p->scope[i].sms == scope.sms && p->scope[i].parts == scope.parts;
}

/* Storages of that scope into the box. */
static void add_storages(const struct plan *p, struct box *box,
                         struct scope scope)
{
    struct buf tip = {0};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (!is_drawn(p, i, scope))
            continue;
        box_add(box, p->box[i]);
        if (kinds[i].owner != ASKED || p->box[i]->mark == MARK_MISSING)
            continue;
        box->mark = mark_worse(box->mark, storage_mark(p->scope[i].finding));
        storage_tip(p->machine, &tip, p->scope[i].finding);
    }
    if (scope.sms > 1)
        buf_text(&tip, "\nHow many share it was found, not which: that smaller "
                       "groups lie in larger ones is but drawn so.");
    box->tip = machine_text(p->machine, buf_take(&tip));
}

/* What stands before the number of a scope of which something is not sure. */
static const char *sign_of(const struct plan *p, struct scope scope)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct finding *const f = p->scope[i].finding;
        const enum mark mark = storage_mark(f);
        if (is_drawn(p, i, scope) && mark != MARK_PLAIN)
            return mark == MARK_DOUBT             ? "?"
                   : f->status == STATUS_AT_LEAST ? "≥"
                                                  : "≤";
    }
    return "";
}

/* Small boxes for what is as the one before. */
static void add_ghosts(const struct plan *p, struct box *box, size_t count)
{
    enum { GHOSTS_MOST = 16, GHOST_SIDE = 12 };
    for (size_t i = 0; count <= GHOSTS_MOST && i < count; i++)
        box_add(box, box_new(p->machine->arena, "each"))->side = GHOST_SIDE;
}

/* Storages of which an SM has several: one part of it, and the others small. */
static void add_parts(const struct plan *p, struct box *sm)
{
    for (size_t parts = 2; parts <= PARTS_MOST; parts++) {
        struct box *const part = box_new(p->machine->arena, "part");
        const struct scope scope = {.parts = parts, .sms = 1};
        add_storages(p, part, scope);
        if (part->first == NULL)
            continue;
        struct box *const all = box_add(sm, box_new(p->machine->arena, NULL));
        box_add(all, part);
        all->one_line = true;
        part->title = machine_text(p->machine, xasprintf("1/%zu SM", parts));
        part->note = machine_text(
            p->machine, xasprintf("%s%zu ×", sign_of(p, scope), parts));
        add_ghosts(p, all, parts - 1);
    }
}

/* What the driver says of an SM. */
static void add_limits(const struct machine *m, struct box *sm)
{
    static const char *const limits[][2] = {{"cores", "cores"},
                                            {"max_threads", "threads"},
                                            {"max_blocks", "blocks"},
                                            {"registers", "registers"}};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        const struct finding *const f =
            storage_finding(m->results, "sm", limits[i][0]);
        if (storage_mark(f) == MARK_PLAIN)
            storage_row(m, sm,
                        (struct row_of){limits[i][1],
                                        cell_number(f, cell_put_plain), f,
                                        NULL});
    }
}

static void add_sm(const struct plan *p, struct box *parent)
{
    const struct machine *const m = p->machine;
    struct box *const sm = box_new(m->arena, "sm");
    sm->title = "SM 0";
    if (p->all > 1)
        sm->note =
            machine_text(m, xasprintf("%zu ×, drawn once in full", p->all));
    sm->wide = true;
    add_storages(p, sm, (struct scope){.parts = 1, .sms = 1});
    add_parts(p, sm);
    if (sm->first == NULL)
        return;
    add_limits(m, sm);
    box_add(parent, sm);
}

/* The most SMs below so many that share something. */
static size_t most_below(const struct plan *p, size_t sms)
{
    size_t most = 1;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (p->box[i] != NULL && !is_whole(p, i) && p->scope[i].sms < sms &&
            p->scope[i].sms > most)
            most = p->scope[i].sms;
    return most;
}

/* Groups of SMs with SM 0, the larger around the smaller. */
static void add_groups(const struct plan *p, struct box *parent)
{
    size_t sms = SIZE_MAX;
    while ((sms = most_below(p, sms)) > 1) {
        struct box *const group = box_new(p->machine->arena, "group");
        const struct scope scope = {.parts = 1, .sms = sms};
        add_storages(p, group, scope);
        group->title = machine_text(
            p->machine, xasprintf("%s%zu SMs", sign_of(p, scope), sms));
        group->note = "share this, SM 0 among them";
        group->wide = true;
        parent = box_add(parent, group);
    }
    add_sm(p, parent);
}

static bool has_kind(const char *component)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(kinds[i].component, component) == 0)
            return true;
    return strcmp(component, "l2") == 0;
}

/* The component of a size that was measured and is of none of the kinds: a
 * storage that nobody told this file of.  NULL: it is no such size. */
static const char *strange_storage(const struct machine *m,
                                   const struct finding *f)
{
    const char *const dot = strchr(f->id, '.');
    if (dot == NULL || strcmp(dot, ".size") != 0 ||
        f->status == STATUS_REPORTED || f->skipped)
        return NULL;
    const char *const component =
        machine_text(m, xstrndup(f->id, (size_t)(dot - f->id)));
    return has_kind(component) ? NULL : component;
}

/* What is shared by nobody knows how many SMs. */
static void add_unknown(const struct plan *p, struct box *gpu)
{
    const struct machine *const m = p->machine;
    struct box *const unknown = box_new(m->arena, "group");
    unknown->title = "– SMs";
    unknown->note = "how many share it was not measured";
    unknown->wide = true;
    add_storages(p, unknown, (struct scope){.parts = 1, .sms = 0});
    for (size_t i = 0; i < m->results->finding_count; i++) {
        const char *const component =
            strange_storage(m, m->results->findings[i]);
        if (component != NULL)
            box_add(unknown, storage_box(m, component, "data"));
    }
    unknown->mark = MARK_MISSING;
    if (unknown->first != NULL)
        box_add(gpu, unknown);
}

/* Lines of the text report, at the top of the GPU. */
static void add_lines(const struct machine *m, struct box *gpu,
                      void write(const struct writer *), bool warning)
{
    enum { COLUMNS = 84 };
    struct buf out = {0};
    const struct report_style style = {.tree = true, .width = COLUMNS};
    struct writer w = {.results = m->results, .style = &style};
    w.page = writer_page(&style, &out);
    write(&w);
    for (char *line = out.data; line != NULL && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        struct row *const row = box_row(m->arena, gpu);
        row->label = "";
        row->text = machine_text(m, xstrndup(line, length));
        row->warning = warning;
        line += length + (line[length] == '\n');
    }
    buf_free(&out);
}

static const char *device_text(const struct results *r, const char *name,
                               const char *otherwise)
{
    const struct value *const v = results_of_device(r, name);
    return v != NULL && v->kind == VALUE_TEXT ? v->text : otherwise;
}

static void make_plan(struct plan *p)
{
    p->all = sm_map_sms(p->machine->results);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const char *const component = kinds[i].component;
        if (!storage_present(p->machine->results, component) ||
            storage_of_path(p->machine->results, component) != NULL)
            continue;
        p->box[i] = storage_box(p->machine, component, kinds[i].kind);
        p->scope[i] = scope_of(p, &kinds[i]);
        if (p->box[i] != NULL && p->box[i]->mark == MARK_MISSING &&
            p->scope[i].sms == 0)
            p->scope[i].sms = 1; /* of what is hatched, that says nothing */
    }
}

struct box *machine_boxes(const struct results *r, struct arena *arena)
{
    const struct machine m = {r, arena, writer_clock(r)};
    struct plan p = {.machine = &m};
    struct box *const gpu = box_new(arena, "gpu");
    gpu->title = device_text(r, "name", "unnamed GPU");
    gpu->note = machine_text(&m, xasprintf("%s %s", device_text(r, "spec", ""),
                                           device_text(r, "pci", "")));
    add_lines(&m, gpu, headline_warnings, true);
    add_lines(&m, gpu, headline_facts, false);
    make_plan(&p);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (p.box[i] != NULL && is_whole(&p, i))
            box_add(gpu, p.box[i]);
    box_add(gpu, sm_map_box(&m));
    add_unknown(&p, gpu);
    add_groups(&p, gpu);
    legend_add(arena, gpu);
    return gpu;
}
