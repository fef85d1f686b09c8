/*
 * Any finding shows up without code for it: the tables here only give order
 * and better words to the components and attributes that they know; what they
 * do not know comes after, by its own name.
 */
#include "report/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/headline.h"
#include "report/quantity.h"
#include "report/storage.h"

/* The tree, parents first; the children of one parent in the order shown.
 * What has no parent stands alone, after the tree. */
static const struct component {
    const char *id, *label, *parent;
} components[] = {
    {"sm", "SM", NULL},
    {"shared", "shared memory", "sm"},
    {"dsm", "shared memory of the cluster", "sm"},
    {"readonly", "read-only cache", "sm"},
    {"texture", "texture cache", "sm"},
    {"local", "L1 for local memory", "sm"},
    {"const_l1", "constant L1", "sm"},
    {"const_l15", "constant L1.5", "const_l1"},
    {"icache_l0", "instruction L0", "sm"},
    {"icache_l1", "instruction L1", "icache_l0"},
    {"icache_l15", "instruction L1.5", "icache_l1"},
    {"l1", "L1 cache", "sm"},
    {"l2", "L2 cache", "l1"},
    {"memory", "memory", "l2"},
    {"tlb", "translation", "memory"},
    {"tlb_l1", "TLB L1", "tlb"},
    {"tlb_l2", "TLB L2", "tlb_l1"},
    {"tlb_l3", "TLB L3", "tlb_l2"},
    {"link", "links to other GPUs", "l2"},
};

/* The attributes of a component in this order; one that begins with such a
 * name (size_reported) follows it.  These have a line each even if the driver
 * reports them; its other limits are run together. */
static const char *const attributes[] = {
    "size",
    "line",
    "sector",
    "sets",
    "ways",
    "set_ways",
    "set_bits",
    "slices",
    "slice_bits",
    "slice_modulo",
    "policy",
    "policy_weights",
    "latency",
    "miss_penalty",
    "parts",
    "near_size",
    "near_latency",
    "far_latency",
    "near_miss_latency",
    "far_miss_latency",
    "replicates",
    "side_bits",
    "sm_sides",
    "read_bandwidth",
    "bulk_read_bandwidth",
    "write_bandwidth",
    "per_sm",
    "copy_of_warp",
    "sms_sharing",
    "shares_with",
    "page",
    "entries",
    "reach",
    "page_window",
    "page_window_latency",
    "patterns_ca",
    "patterns_cg",
    "banks",
    "bank_bytes",
    "row_words",
    "conflict_cycles",
    "conflict_latency",
    "stride_latency",
};

/* Attributes, and paths to the storage of others, that a person calls
 * otherwise. */
static const struct {
    const char *attribute, *label;
} labels[] = {
    {"bank_bytes", "bank width"},
    {"caches_global", "caches global loads"},
    {"conflict_cycles", "each further way of conflict"},
    {"conflict_latency", "latency by conflict"},
    {"copy_of_warp", "copy of each warp"},
    {"ecc", "ECC"},
    {"far_latency", "latency, far"},
    {"far_miss_latency", "latency of miss, far"},
    {"global_reported", "caches global loads"},
    {"icache_l1", "instructions"}, /* that a cache of constants holds */
    {"icache_l15", "instructions"},
    {"latency_indexed", "latency, with address arithmetic"},
    {"levels", "levels of TLBs"},
    {"loads", "held-out loads"},
    {"loads_right", "of these as predicted"},
    {"local_reported", "caches local loads"},
    {"means", "held-out mean costs"},
    {"means_right", "of these as predicted"},
    {"mig", "MIG"},
    {"near_latency", "latency, near"},
    {"near_miss_latency", "latency of miss, near"},
    {"near_size", "size of near part"},
    {"overhead", "two clock reads in a row"},
    {"parts", "partitions"},
    {"patterns_ca", "loads by ld.ca"},
    {"patterns_cg", "loads by ld.cg"},
    {"per_sm", "copies in an SM"},
    {"prefetch", "prefetches ahead"},
    {"reads", "while `reads` ran"},
    {"region", "an entry covers"},
    {"replicates", "far lines are copied near"},
    {"row_words", "words of a bank at once"},
    {"set_bits", "set index bits"},
    {"side_bits", "near/far hash bits"},
    {"size_by_change", "size by change point"},
    {"slice_bits", "slice hash bits"},
    {"sm_sides", "SMs of either part"},
    {"sms_sharing", "SMs that share it"},
    {"shared_optin", "opt-in shared"},
    {"shares_with", "same storage as"},
    {"stride_latency", "latency by stride, 4 B"},
    {"stride_latency_64", "latency by stride, 8 B"},
    {"trace_overhead", "timing a load adds"},
};

static const char not_measured[] = "not measured";

struct item {
    const struct finding *finding;
    const char *attribute;
    size_t rank;
};

struct items {
    struct item *item;
    size_t count;
};

/* True if each finding is wanted with how it came about. */
static bool all_is_said(const struct writer *w)
{
    return w->style->verbose >= REPORT_EVIDENCE;
}

static const char *attribute_of(const char *id)
{
    return strchr(id, '.') + 1;
}

static size_t component_length(const char *id)
{
    return strcspn(id, ".");
}

/* The longest name of `attributes` that this one is or begins with. */
static size_t attribute_rank(const char *attribute)
{
    size_t rank = COUNT_OF(attributes), longest = 0;
    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        const size_t length = strlen(attributes[i]);
        if (length > longest &&
            strncmp(attribute, attributes[i], length) == 0 &&
            strchr("._", attribute[length]) != NULL) {
            rank = i;
            longest = length;
        }
    }
    return rank;
}

/* "miss_penalty" as a person writes it; the caller frees. */
char *tree_words(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        if (strcmp(labels[i].attribute, name) == 0)
            return xstrdup(labels[i].label);
    char *const words = xstrdup(name);
    for (char *c = words; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    return words;
}

static int item_order(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->attribute, y->attribute);
}

/* True of what goes without saying: of one copy all warps use it. */
static bool is_plain(const struct writer *w, const char *component,
                     const struct finding *f)
{
    double copies;
    return !all_is_said(w) &&
           strcmp(attribute_of(f->id), "copy_of_warp") == 0 &&
           finding_number(storage_finding(w->results, component, "per_sm"),
                          &copies) &&
           copies <= 1;
}

/* The findings of a component in the order shown; free(items.item). */
static struct items items_of(const struct writer *w, const char *component)
{
    const struct results *const r = w->results;
    struct items items = {xcalloc(r->finding_count + 1, sizeof *items.item), 0};
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct finding *const f = r->findings[i];
        if (!storage_is_of(f->id, component) || headline_says(f) ||
            is_plain(w, component, f))
            continue;
        const char *const attribute = attribute_of(f->id);
        items.item[items.count++] =
            (struct item){f, attribute, attribute_rank(attribute)};
    }
    qsort(items.item, items.count, sizeof *items.item, item_order);
    return items;
}

/* The storage that the path is told with; NULL: it has a place of its own.
 * Where the report is verbose all have. */
static const char *storage_of(const struct writer *w, const char *path)
{
    return all_is_said(w) ? NULL : storage_of_path(w->results, path);
}

/* What the driver says beside the attributes that have a line each. */
static bool is_limit(const struct writer *w, const struct item *item)
{
    const bool known = item->rank < COUNT_OF(attributes) &&
                       strcmp(item->attribute, attributes[item->rank]) == 0;
    return item->finding->status == STATUS_REPORTED && !known &&
           !all_is_said(w);
}

/* "max threads 2048": the name says the unit. */
static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* What the driver tells as 1 and 0. */
static const char *const yes_or_no[] = {
    "ecc", "global_reported", "local_reported", "mig", "supported", NULL};

static void put_limit(struct buf *out, const struct item *item)
{
    const char *const unit = item->finding->unit;
    char *const label = tree_words(item->attribute);
    if (ends_with(label, " reported")) /* as is all in this paragraph */
        label[strlen(label) - strlen(" reported")] = '\0';
    buf_printf(out, "%s%s ", out->length > 0 ? ", " : "", label);
    if (text_is_among(item->attribute, yes_or_no) &&
        item->finding->value.kind == VALUE_NUMBER)
        buf_text(out, item->finding->value.number > 0 ? "yes" : "no");
    else
        quantity_value(out, &item->finding->value, 0,
                       ends_with(label, unit) ? "" : unit);
    free(label);
}

static void put_limits(const struct writer *w, const char *rail,
                       const struct items *items)
{
    struct buf out = {0};
    for (size_t i = 0; i < items->count; i++)
        if (is_limit(w, &items->item[i]))
            put_limit(&out, &items->item[i]);
    if (out.length > 0)
        page_line(&w->page, &(struct line){.rail = rail,
                                           .label = "the driver says",
                                           .column = w->column,
                                           .text = out.data,
                                           .tone = TONE_FAINT});
    buf_free(&out);
}

/* True if neither was measured, and for the same reason. */
static bool same_reason(const struct finding *a, const struct finding *b)
{
    return a->status == STATUS_NOT_MEASURED &&
           b->status == STATUS_NOT_MEASURED && a->because != NULL &&
           b->because != NULL && strcmp(a->because, b->because) == 0;
}

/* The first item that was not measured for the reason of this one; itself if
 * there is none before. */
static size_t first_of_reason(const struct items *items, size_t at)
{
    size_t i = 0;
    while (i < at &&
           !same_reason(items->item[i].finding, items->item[at].finding))
        i++;
    return i;
}

/* Where several share a reason it is said once: see put_reasons. */
static bool shares_reason(const struct writer *w, const struct items *items,
                          size_t at)
{
    for (size_t i = 0; i < items->count; i++)
        if (i != at &&
            same_reason(items->item[i].finding, items->item[at].finding))
            return !all_is_said(w);
    return false;
}

/* "size, line, sector: global loads are not cached here" */
static void put_reason(const struct writer *w, const char *rail,
                       const struct items *items, size_t first)
{
    const struct finding *const f = items->item[first].finding;
    struct buf out = {0};
    for (size_t i = first; i < items->count; i++) {
        if (!same_reason(items->item[i].finding, f))
            continue;
        char *const label = tree_words(items->item[i].attribute);
        buf_printf(&out, "%s%s", i > first ? ", " : "", label);
        free(label);
    }
    buf_printf(&out, ": %s", f->because);
    page_line(&w->page, &(struct line){.rail = rail,
                                       .label = not_measured,
                                       .column = w->column,
                                       .text = out.data,
                                       .tone = TONE_DOUBT});
    buf_free(&out);
}

static void put_reasons(const struct writer *w, const char *rail,
                        const struct items *items)
{
    for (size_t i = 0; i < items->count; i++)
        if (shares_reason(w, items, i) && first_of_reason(items, i) == i)
            put_reason(w, rail, items, i);
}

/* True if what was found of a path is said with the storage that it uses.  Two
 * that list each other share with each other; one of both lists is enough. */
static bool is_said(const struct writer *w, const char *storage,
                    const struct item *item)
{
    const struct finding *const f =
        storage_finding(w->results, storage, item->attribute);
    return item->finding->status != STATUS_MEASURED ||
           storage_agree(item->finding, f) ||
           (f != NULL && strcmp(item->attribute, "shares_with") == 0);
}

/* What a path has otherwise than the storage that it uses: "texture latency".
 */
static void put_path(const struct writer *w, const char *rail,
                     const char *storage, const char *path)
{
    const struct items items = items_of(w, path);
    for (size_t i = 0; i < items.count; i++) {
        const struct item *const item = &items.item[i];
        if (is_said(w, storage, item))
            continue;
        char *const words = tree_words(item->attribute);
        char *const whose = tree_words(path);
        char *const label = xasprintf("%s: %s", whose, words);
        writer_finding(w, rail, label, item->finding);
        free(label);
        free(whose);
        free(words);
    }
    free(items.item);
}

static void put_component(const struct writer *w, const char *rail,
                          const char *component)
{
    struct items items = items_of(w, component);
    for (size_t i = 0; i < items.count; i++) {
        if (is_limit(w, &items.item[i]) || shares_reason(w, &items, i))
            continue;
        char *const label = tree_words(items.item[i].attribute);
        writer_finding(w, rail, label, items.item[i].finding);
        free(label);
    }
    put_reasons(w, rail, &items);
    put_limits(w, rail, &items);
    free(items.item);
    for (size_t i = 0; i < STORAGE_PATHS; i++) {
        const char *const storage = storage_of(w, storage_paths[i]);
        if (storage != NULL && strcmp(storage, component) == 0)
            put_path(w, rail, component, storage_paths[i]);
    }
}

static const struct component *component_find(const char *id)
{
    for (size_t i = 0; i < COUNT_OF(components); i++)
        if (storage_is_of(id, components[i].id))
            return &components[i];
    return NULL;
}

const char *tree_component(const char *id)
{
    const struct component *const c = component_find(id);
    return c != NULL ? c->label : NULL;
}

/* True of what has a place of its own in the tree; the root always has. */
static bool is_shown(const struct writer *w, const struct component *c)
{
    return c->parent == NULL ||
           (storage_present(w->results, c->id) && storage_of(w, c->id) == NULL);
}

/* The nearest ancestor that is shown. */
static const struct component *parent_of(const struct writer *w,
                                         const struct component *c)
{
    do
        c = component_find(c->parent);
    while (!is_shown(w, c));
    return c;
}

static bool is_child(const struct writer *w, const struct component *c,
                     const struct component *parent)
{
    return c->parent != NULL && is_shown(w, c) && parent_of(w, c) == parent;
}

/* The child that comes after `from` (NULL: the first); NULL: no more. */
static const struct component *child_after(const struct writer *w,
                                           const struct component *parent,
                                           const struct component *from)
{
    const struct component *c = from == NULL ? components : from + 1;
    for (; c < components + COUNT_OF(components); c++)
        if (is_child(w, c, parent))
            return c;
    return NULL;
}

/* `rail` is what stands left of the children of this node. */
static void put_node(const struct writer *w, const struct component *node,
                     const char *rail)
{
    const struct component *child = child_after(w, node, NULL);
    char *const own = xasprintf("%s%s", rail, child != NULL ? "│  " : "   ");
    put_component(w, own, node->id);
    while (child != NULL) {
        const struct component *const next = child_after(w, node, child);
        char *const branch =
            xasprintf("%s%s", rail, next != NULL ? "├─ " : "└─ ");
        char *const below =
            xasprintf("%s%s", rail, next != NULL ? "│  " : "   ");
        page_line(&w->page, &(struct line){.rail = own});
        page_line(&w->page, &(struct line){.rail = branch,
                                           .label = child->label,
                                           .label_tone = TONE_STRONG});
        put_node(w, child, below);
        free(branch);
        free(below);
        child = next;
    }
    free(own);
}

static bool has_tree(const struct writer *w)
{
    for (size_t i = 0; i < COUNT_OF(components); i++)
        if (storage_present(w->results, components[i].id))
            return true;
    return false;
}

static void put_tree(const struct writer *w)
{
    if (!has_tree(w))
        return;
    page_line(&w->page, &(struct line){0});
    page_line(&w->page, &(struct line){.label = components[0].label,
                                       .label_tone = TONE_STRONG});
    put_node(w, &components[0], "");
}

/* True if an earlier finding that is still to say is of the same component. */
static bool seen_before(const struct results *r, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!headline_says(r->findings[i]) &&
            component_length(r->findings[i]->id) ==
                component_length(r->findings[at]->id) &&
            strncmp(r->findings[i]->id, r->findings[at]->id,
                    component_length(r->findings[at]->id)) == 0)
            return true;
    return false;
}

static void put_other(const struct writer *w, const char *component)
{
    char *const label = tree_words(component);
    page_line(&w->page,
              &(struct line){.label = label, .label_tone = TONE_STRONG});
    put_component(w, "   ", component);
    free(label);
}

/* The components that the tree does not know, as they come. */
static void put_others(const struct writer *w)
{
    const struct results *const r = w->results;
    bool first = true;
    for (size_t i = 0; i < r->finding_count; i++) {
        const char *const id = r->findings[i]->id;
        if (component_find(id) != NULL || seen_before(r, i) ||
            headline_says(r->findings[i]))
            continue;
        if (first)
            page_line(&w->page, &(struct line){0});
        first = false;
        char *const component = xstrndup(id, component_length(id));
        put_other(w, component);
        free(component);
    }
}

void tree_write(const struct writer *w)
{
    put_tree(w);
    put_others(w);
}

enum { RAIL_COLUMNS = 3 };

/* How deep a component hangs in the tree that is shown. */
static size_t depth_of(const struct writer *w, const struct component *c)
{
    size_t depth = 0;
    for (; c != NULL && c->parent != NULL; depth++)
        c = parent_of(w, c);
    return depth;
}

size_t tree_label_columns(const struct writer *w, size_t most)
{
    size_t columns = 0;
    for (size_t i = 0; i < w->results->finding_count; i++) {
        const char *const id = w->results->findings[i]->id;
        char *const text = tree_words(attribute_of(id));
        const size_t words = strlen(text);
        free(text);
        const size_t least = sizeof not_measured - 1;
        const size_t rails = depth_of(w, component_find(id)) + 1;
        const size_t label =
            RAIL_COLUMNS * rails + (words > least ? words : least);
        if (label > columns && label <= most)
            columns = label;
    }
    return columns;
}
