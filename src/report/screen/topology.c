/*
 * The memory hierarchy as one table: a row a storage, as a load meets them.
 * What is not plainly measured carries a mark, which a legend explains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/cell.h"
#include "report/screen/columns.h"
#include "report/screen/open.h"
#include "report/screen/screen.h"
#include "report/storage.h"

enum cell { NAME, SIZE, LINE, SETS, POLICY, CYCLES, NS, RATE, USERS };

static const struct column headings[] = {
    [NAME] = {.heading = "storage", .left = true},
    [SIZE] = {.heading = "size"},
    [LINE] = {.heading = "line/sector"},
    [SETS] = {.heading = "sets × ways"},
    [POLICY] = {.heading = "policy", .left = true, .spare = true},
    [CYCLES] = {.heading = "cycles"},
    [NS] = {.heading = "ns"},
    [RATE] = {.heading = "read"},
    [USERS] = {.heading = "per", .left = true},
    {0},
};

/* The rows. */
static const struct storage {
    const char *id, *name;
} storages[] =
    {
        {"shared", "shared memory"},
        {"dsm", "cluster's"},
        {"const_l1", "constant L1"},
        {"const_l15", "constant L1.5"},
        {"icache_l0", "instr. L0"},
        {"icache_l1", "instr. L1"},
        {"icache_l15", "instr. L1.5"},
        {"l1", "L1 cache"},
        {"texture", "texture cache"},
        {"readonly", "read-only"},
        {"local", "L1 for local"},
        {"l2", "L2 cache"},
        {"memory", "memory"},
},
  translations[] = {
      {"tlb_l1", "TLB L1"},
      {"tlb_l2", "TLB L2"},
      {"tlb_l3", "TLB L3"},
};

struct screen {
    const struct writer *writer;
    const struct results *results;
    struct columns columns;
};

static const struct finding *find(const struct screen *s, const char *component,
                                  const char *attribute)
{
    return storage_finding(s->results, component, attribute);
}

static char *banks_cell(const struct screen *s)
{
    char *const banks = cell_number(find(s, "shared", "banks"), cell_put_plain);
    char *const text = banks != NULL ? xasprintf("%s banks", banks) : NULL;
    free(banks);
    return text;
}

static char *with_plus(const char *plus, char *text)
{
    if (text == NULL || plus[0] == '\0' || strcmp(text, "–") == 0)
        return text;
    char *const whole = xasprintf("%s%s", plus, text);
    free(text);
    return whole;
}

static char *ns_cell(const struct screen *s, const struct finding *f,
                     const char *plus)
{
    struct buf out = {0};
    if (f == NULL || f->value.kind != VALUE_NUMBER || s->writer->clock_hz <= 0)
        return NULL;
    cell_put_short(&out, f->value.number / s->writer->clock_hz * 1e9, "");
    return with_plus(plus, buf_take(&out));
}

/* Of what is in an SM three digits will do: "126 B/clk", of each as the column
 * beside it says. */
static void put_rate(struct buf *out, double number, const char *unit)
{
    if (strcmp(unit, "B/clk/SM") != 0) {
        cell_put_quantity(out, number, unit);
        return;
    }
    cell_put_short(out, number, unit);
    buf_text(out, " B/clk");
}

static void add_row(struct screen *s, const struct storage *storage,
                    const char *size, const char *line)
{
    const char *plus;
    const char *const id = storage->id;
    const struct finding *const cost = cell_cost(s->results, id, &plus);
    const struct finding *const bytes =
        strcmp(id, "shared") == 0 ? find(s, "sm", "shared") : find(s, id, size);
    struct columns_row *const row = columns_add(&s->columns);
    row->cell[NAME] = xstrdup(storage->name);
    row->cell[SIZE] = cell_number(bytes, cell_put_quantity);
    row->cell[LINE] = line == NULL
                          ? cell_line(s->results, id)
                          : cell_number(find(s, id, line), cell_put_quantity);
    row->cell[SETS] =
        strcmp(id, "shared") == 0 ? banks_cell(s) : cell_sets(s->results, id);
    row->cell[POLICY] = cell_policy(s->results, id);
    row->cell[CYCLES] = with_plus(plus, cell_number(cost, cell_put_short));
    row->cell[NS] = ns_cell(s, cost, plus);
    row->cell[RATE] = cell_number(find(s, id, "read_bandwidth"), put_rate);
    row->cell[USERS] = strcmp(id, "shared") == 0
                           ? xstrdup("SM")
                           : cell_users(s->results, id);
}

static void put_path(const struct screen *s, const char *storage,
                     const struct storage *path, struct buf *out)
{
    const char *plus, *ignored;
    const struct finding *const cost = cell_cost(s->results, path->id, &plus);
    buf_printf(out, "%s %s", out->length > 0 ? "," : "also serves",
               storage_path_words(path->id));
    if (cost == NULL || cost->value.kind != VALUE_NUMBER ||
        storage_agree(cost, cell_cost(s->results, storage, &ignored)))
        return;
    char *const cycles = cell_number(cost, cell_put_short);
    if (plus[0] != '\0')
        buf_printf(out, " (a miss adds %s cycles)", cycles);
    else
        buf_printf(out, " (%s cycles)", cycles);
    free(cycles);
}

/* "also the path of texture (88 cycles), read-only, local (29 cycles)" */
static void add_paths(struct screen *s, const char *storage)
{
    struct buf out = {0};
    for (size_t i = 0; i < COUNT_OF(storages); i++) {
        const char *const of = storage_of_path(s->results, storages[i].id);
        if (of != NULL && strcmp(of, storage) == 0)
            put_path(s, storage, &storages[i], &out);
    }
    if (out.length > 0)
        columns_note(&s->columns, buf_string(&out));
    buf_free(&out);
}

/* "hits 279 near, 456 far; misses 548, 727 cycles": an L2 in parts. */
static void add_sides(struct screen *s)
{
    static const struct {
        const char *attribute, *before, *after;
    } sides[] = {
        {"near_latency", "hits ", " near"},
        {"far_latency", ", ", " far"},
        {"near_miss_latency", "; misses ", ""},
        {"far_miss_latency", ", ", ""},
    };
    struct buf out = {0};
    char *const size =
        cell_number(find(s, "l2", "near_size"), cell_put_quantity);
    if (size != NULL && strcmp(size, "–") != 0)
        buf_printf(&out, "2 partitions of %s: ", size);
    free(size);
    const size_t length = out.length;
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        char *const cycles =
            cell_number(find(s, "l2", sides[i].attribute), cell_put_short);
        if (cycles != NULL)
            buf_printf(&out, "%s%s%s", sides[i].before, cycles, sides[i].after);
        free(cycles);
    }
    if (out.length > length) {
        buf_text(&out, " cycles");
        columns_note(&s->columns, buf_string(&out));
    }
    buf_free(&out);
}

static bool is_shown(const struct screen *s, const struct storage *storage)
{
    return storage_present(s->results, storage->id) &&
           storage_of_path(s->results, storage->id) == NULL;
}

static void add_storages(struct screen *s)
{
    for (size_t i = 0; i < COUNT_OF(storages); i++) {
        if (!is_shown(s, &storages[i]))
            continue;
        add_row(s, &storages[i], "size", NULL);
        add_paths(s, storages[i].id);
        if (strcmp(storages[i].id, "l2") == 0)
            add_sides(s);
    }
}

static void add_translations(struct screen *s)
{
    bool any = false;
    for (size_t i = 0; i < COUNT_OF(translations); i++) {
        if (!is_shown(s, &translations[i]))
            continue;
        if (!any) {
            struct columns_row *const row = columns_add(&s->columns);
            row->heading = true;
            row->cell[NAME] = xstrdup("translation");
            row->cell[SIZE] = xstrdup("reach");
            row->cell[LINE] = xstrdup("page");
        }
        any = true;
        add_row(s, &translations[i], "reach", "page");
    }
}

/* Marks that stand in the table, and what they mean. */
static const struct mark {
    const char *mark, *meaning;
    bool first; /* it means that only before all else */
} marks[] = {
    {"?", "? in doubt", false},     {"~", "~ ± over 2 %", false},
    {"≥", "≥ ≤ bounds", false},     {"≤", "≥ ≤ bounds", false},
    {"–", "– unknown", false},      {"+", "+ a miss adds", true},
    {"(", "( ) driver says", true},
};

static bool has_mark(const struct columns *c, const struct mark *m)
{
    for (size_t i = 0; i < c->rows; i++)
        for (size_t k = SIZE; k < CELLS_MOST; k++) {
            const char *const cell =
                c->shown >> k & 1 ? c->row[i].cell[k] : NULL;
            const char *const at = cell != NULL ? strstr(cell, m->mark) : NULL;
            if (at != NULL && (at == cell || !m->first))
                return true;
        }
    return false;
}

char *screen_legend(const struct columns *c)
{
    struct buf out = {0};
    for (size_t i = 0; i < COUNT_OF(marks); i++)
        if (has_mark(c, &marks[i]) &&
            strstr(buf_string(&out), marks[i].meaning) == NULL)
            buf_printf(&out, "%s%s", out.length > 0 ? "; " : "",
                       marks[i].meaning);
    buf_text(&out, "");
    return buf_take(&out);
}

static void put_legend(const struct writer *w, const struct columns *c)
{
    char *const text = screen_legend(c);
    if (text[0] != '\0')
        page_line(&w->page, &(struct line){.text = text, .tone = TONE_FAINT});
    free(text);
}

struct columns screen_storages(const struct writer *w)
{
    struct screen s = {
        .writer = w, .results = w->results, .columns.column = headings};
    add_storages(&s);
    add_translations(&s);
    return s.columns;
}

bool screen_topology(const struct writer *w)
{
    struct columns c = screen_storages(w);
    const bool any = c.rows > 0;
    if (any) {
        page_line(&w->page, &(struct line){0});
        columns_write(&c, &w->page);
        put_legend(w, &c);
        open_line(w);
    }
    columns_free(&c);
    return any;
}
