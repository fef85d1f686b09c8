#include "report/picture/sm_map.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/cell.h"
#include "report/storage.h"

/* More than any GPU has: what says more is not drawn one by one. */
enum { SMS_MOST = 512, SLICES_MOST = 256 };
enum { SM_SIDE = 20, SLICE_SIDE = 7 };
/* SMs in a line: of a group, of which two stand beside each other in half the
 * picture; of such a half; of the whole. */
enum { ABREAST_GROUP = 6, ABREAST_PART = 15, ABREAST_ALL = 30 };

/* How SMs are grouped, larger groups first. */
enum level { GPC, TPC, LEVELS };

static const struct grouping {
    const char *attribute, *number, *kind, *name, *label;
} groupings[LEVELS] = {
    [GPC] = {"gpc_of_sm", "gpcs", "gpc", "GPC", "GPCs"},
    [TPC] = {"tpc_of_sm", "tpcs", "tpc", "TPC", "TPCs"},
};

struct sm_map {
    const struct machine *machine;
    size_t count;       /* of SMs that are drawn; 0: none */
    int *group[LEVELS]; /* of each SM; NULL: not known */
    bool *beside[2];    /* the SMs beside either part of L2; NULL: not known */
    bool *all;
};

/* False where the list is not of one group for each SM. */
static bool read_groups(const struct value *list, size_t count, int *group)
{
    if (list->kind != VALUE_LIST || list->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct value *const v = &list->items[i];
        if (v->kind != VALUE_NUMBER || !(v->number >= 0) ||
            v->number >= (double)count)
            return false;
        group[i] = (int)v->number;
    }
    return true;
}

static void find_groups(struct sm_map *map)
{
    const struct machine *const m = map->machine;
    for (enum level l = 0; l < LEVELS; l++) {
        int *const group = arena_alloc(m->arena, map->count, sizeof *group);
        const struct finding *const f =
            storage_finding(m->results, "sm", groupings[l].attribute);
        if (f != NULL && read_groups(&f->value, map->count, group))
            map->group[l] = group;
    }
}

/* Both parts, or none, if these are not all SMs or one is in both. */
static void find_sides(struct sm_map *map)
{
    const struct machine *const m = map->machine;
    const struct finding *const f =
        storage_finding(m->results, "l2", "sm_sides");
    bool good = f != NULL && f->value.kind == VALUE_LIST && f->value.count == 2;
    for (size_t k = 0; k < 2; k++) {
        map->beside[k] = arena_alloc(m->arena, map->count, sizeof(bool));
        good = good && f->value.items[k].kind == VALUE_TEXT &&
               text_to_set(f->value.items[k].text, map->beside[k], map->count);
    }
    for (size_t i = 0; good && i < map->count; i++)
        good = map->beside[0][i] != map->beside[1][i];
    if (!good)
        map->beside[0] = map->beside[1] = NULL;
}

size_t sm_map_sms(const struct results *r)
{
    double sms;
    if (finding_number(storage_finding(r, "sm", "count"), &sms))
        return sms >= 1 ? (size_t)fmin(sms, 1e6) : 0;
    for (enum level l = 0; l < LEVELS; l++) {
        const struct finding *const f =
            storage_finding(r, "sm", groupings[l].attribute);
        if (f != NULL && f->value.kind == VALUE_LIST)
            return f->value.count;
    }
    return 0;
}

static struct sm_map find_map(const struct machine *m)
{
    struct sm_map map = {.machine = m};
    const size_t sms = sm_map_sms(m->results);
    if (sms == 0 || sms > SMS_MOST)
        return map;
    map.count = sms;
    map.all = arena_alloc(m->arena, map.count, sizeof *map.all);
    for (size_t i = 0; i < map.count; i++)
        map.all[i] = true;
    find_groups(&map);
    find_sides(&map);
    return map;
}

static size_t count_in(const struct sm_map *map, const bool *in)
{
    size_t count = 0;
    for (size_t i = 0; i < map->count; i++)
        count += in[i];
    return count;
}

/* "SM 17, GPC 1, TPC 8, beside part 0 of L2" */
static const char *sm_tip(const struct sm_map *map, size_t sm)
{
    struct buf tip = {0};
    buf_printf(&tip, "SM %zu", sm);
    for (enum level l = 0; l < LEVELS; l++)
        if (map->group[l] != NULL)
            buf_printf(&tip, ", %s %d", groupings[l].name, map->group[l][sm]);
    if (map->beside[0] != NULL)
        buf_printf(&tip, ", beside part %d of L2", map->beside[1][sm]);
    return machine_text(map->machine, buf_take(&tip));
}

static void add_sms(const struct sm_map *map, struct box *box, const bool *in)
{
    for (size_t i = 0; i < map->count; i++) {
        if (!in[i])
            continue;
        struct box *const sm =
            box_add(box, box_new(map->machine->arena, i == 0 ? "one" : "each"));
        sm->side = SM_SIDE;
        sm->title = machine_text(map->machine, xasprintf("%zu", i));
        sm->tip = sm_tip(map, i);
    }
}

static void add_level(const struct sm_map *map, struct box *box, const bool *in,
                      enum level level);

static void name_group(const struct sm_map *map, struct box *box,
                       const bool *members, enum level level, int group)
{
    const struct machine *const m = map->machine;
    const size_t count = count_in(map, members);
    size_t whole = 0;
    for (size_t i = 0; i < map->count; i++)
        whole += map->group[level][i] == group;
    struct buf tip = {0};
    char *const ranges = text_ranges(members, map->count);
    buf_printf(&tip, "%s %d: SM %s", groupings[level].name, group, ranges);
    free(ranges);
    storage_tip(m, &tip,
                storage_finding(m->results, "sm", groupings[level].number));
    box->tip = machine_text(m, buf_take(&tip));
    if (level == TPC)
        return;
    box->title = machine_text(m, xasprintf("GPC %d", group));
    box->note = machine_text(
        m, count == whole ? xasprintf("%zu SMs", count)
                          : xasprintf("%zu of %zu SMs", count, whole));
}

/* Those SMs of a group that are `in`. */
static void add_group(const struct sm_map *map, struct box *parent,
                      const bool *in, enum level level, int group)
{
    const struct machine *const m = map->machine;
    bool *const members = arena_alloc(m->arena, map->count, sizeof *members);
    for (size_t i = 0; i < map->count; i++)
        members[i] = in[i] && map->group[level][i] == group;
    if (count_in(map, members) == 0)
        return;
    struct box *const box =
        box_add(parent, box_new(m->arena, groupings[level].kind));
    const bool pairs = level == GPC && map->group[TPC] != NULL;
    box->abreast = pairs ? ABREAST_GROUP / 2 : ABREAST_GROUP;
    box->tight = level == TPC;
    box->mark = storage_mark(
        storage_finding(m->results, "sm", groupings[level].attribute));
    name_group(map, box, members, level, group);
    add_level(map, box, members, level + 1);
}

static void add_level(const struct sm_map *map, struct box *box, const bool *in,
                      enum level level)
{
    while (level < LEVELS && map->group[level] == NULL)
        level++;
    if (level == LEVELS) {
        add_sms(map, box, in);
        return;
    }
    for (size_t group = 0; group < map->count; group++)
        add_group(map, box, in, level, (int)group);
}

/* What was asked for and not found of groups. */
static void say_missing(const struct sm_map *map, struct box *box)
{
    const struct machine *const m = map->machine;
    for (enum level l = 0; l < LEVELS; l++) {
        const struct finding *const f =
            storage_finding(m->results, "sm", groupings[l].number);
        if (storage_mark(f) == MARK_MISSING)
            storage_row(
                m, box,
                (struct row_of){groupings[l].label, xstrdup("–"), f, NULL});
    }
}

static void add_slices(const struct machine *m, struct box *l2)
{
    const struct finding *const f = storage_finding(m->results, "l2", "slices");
    double count;
    storage_row(
        m, l2,
        (struct row_of){"slices", cell_number(f, cell_put_plain), f, NULL});
    if (!finding_number(f, &count) || !(count >= 1) || count > SLICES_MOST)
        return;
    struct buf tip = {0};
    struct box *const strip = box_add(l2, box_new(m->arena, NULL));
    storage_tip(m, &tip, f);
    strip->wide = true;
    strip->tip = machine_text(m, buf_take(&tip));
    for (double i = 0; i < count; i++)
        box_add(strip, box_new(m->arena, "slice"))->side = SLICE_SIDE;
}

/* What stands in a line where so many SMs would: groups are as wide as their
 * SMs. */
static size_t groups_abreast(const struct sm_map *map, size_t sms)
{
    return map->group[GPC] != NULL   ? sms / ABREAST_GROUP
           : map->group[TPC] != NULL ? sms / 3
                                     : sms;
}

static void add_cost(const struct machine *m, struct box *box,
                     const char *label, const char *attribute)
{
    const struct finding *const f =
        storage_finding(m->results, "l2", attribute);
    storage_row(m, box, (struct row_of){label, storage_cycles(m, f), f, NULL});
}

/* What becomes of lines of the far part that were loaded. */
static void add_copies(const struct machine *m, struct box *l2)
{
    const struct finding *const f =
        storage_finding(m->results, "l2", "replicates");
    if (f == NULL || f->skipped)
        return;
    const bool known = f->value.kind == VALUE_BOOL;
    storage_row(m, l2,
                (struct row_of){"far lines",
                                xstrdup(!known                ? "–"
                                        : f->value.number > 0 ? "come near"
                                                              : "stay far"),
                                f, NULL});
}

/* The part of L2 beside SM 0, or the other. */
static void add_part(const struct sm_map *map, struct box *l2, bool far)
{
    const struct machine *const m = map->machine;
    struct box *const part = box_add(l2, box_new(m->arena, "half"));
    const struct finding *const size =
        storage_finding(m->results, "l2", "near_size");
    part->title = far ? "far part" : "near part";
    part->note = far ? "from SM 0" : "to SM 0";
    part->abreast =
        map->group[GPC] != NULL || map->group[TPC] != NULL ? 0 : ABREAST_PART;
    if (!far)
        storage_row(m, part,
                    (struct row_of){"size",
                                    cell_number(size, cell_put_quantity), size,
                                    NULL});
    part->mark =
        mark_worse(far ? MARK_PLAIN : storage_mark(size),
                   storage_mark(storage_finding(m->results, "l2", "sm_sides")));
    add_cost(m, part, "hit", far ? "far_latency" : "near_latency");
    add_cost(m, part, "miss", far ? "far_miss_latency" : "near_miss_latency");
    if (map->beside[far] != NULL)
        add_level(map, part, map->beside[far], GPC);
}

static void add_parts(const struct sm_map *map, struct box *l2)
{
    add_part(map, l2, false);
    add_part(map, l2, true);
}

/* SMs that are in no part of L2. */
static void add_region(const struct sm_map *map, struct box *parent)
{
    const struct machine *const m = map->machine;
    struct box *const region = box_add(parent, box_new(m->arena, "sms"));
    region->title = machine_text(
        m, xasprintf("%zu SM%s", map->count, map->count > 1 ? "s" : ""));
    region->wide = true;
    region->abreast = groups_abreast(map, ABREAST_ALL);
    say_missing(map, region);
    add_level(map, region, map->all, GPC);
}

struct box *sm_map_box(const struct machine *m)
{
    const struct sm_map map = find_map(m);
    double parts = 0;
    struct box *box = storage_box(m, "l2", "l2");
    const bool l2 = box != NULL;
    if (!l2 && map.count == 0)
        return NULL;
    box = l2 ? box : box_new(m->arena, NULL);
    box->wide = true;
    if (l2)
        add_slices(m, box);
    const struct finding *const f = storage_finding(m->results, "l2", "parts");
    if (f != NULL && f->value.kind == VALUE_NUMBER)
        parts = f->value.number;
    if (l2 && parts > 1) {
        add_copies(m, box);
        add_parts(&map, box);
        if (map.beside[0] != NULL)
            say_missing(&map, box);
    }
    if (map.count > 0 && (!l2 || parts < 2 || map.beside[0] == NULL))
        add_region(&map, box);
    return box;
}
