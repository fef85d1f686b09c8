#include "report/picture/legend.h"

#include <string.h>

/* A mark of boxes and rows; or one that a row's text begins with. */
static const struct key {
    const char *meaning;
    enum mark mark;
    const char *before; /* NULL: none */
} keys[] = {
    {"dashed: a bound", MARK_BOUND, NULL},
    {"hatched: not measured", MARK_MISSING, NULL},
    {"?: in doubt", MARK_DOUBT, NULL},
    {"~: ± over 2 %", MARK_PLAIN, "~"},
    {"( ): by the driver", MARK_PLAIN, "("},
};

static bool is_of(const struct key *k, enum mark mark, const char *text)
{
    if (k->before == NULL)
        return mark == k->mark;
    return text != NULL && strncmp(text, k->before, strlen(k->before)) == 0;
}

static bool is_in(const struct box *box, const struct key *k)
{
    bool found = is_of(k, box->mark, NULL);
    for (size_t i = 0; i < box->row_count; i++)
        found |= is_of(k, box->row[i].mark, box->row[i].text);
    for (const struct box *c = box->first; !found && c != NULL; c = c->next)
        found = is_in(c, k);
    return found;
}

void legend_add(struct arena *arena, struct box *tree)
{
    struct box *const legend = box_new(arena, NULL);
    legend->wide = true;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (!is_in(tree, &keys[i]))
            continue;
        struct box *const key = box_add(legend, box_new(arena, "key"));
        key->note = keys[i].meaning;
        key->mark = keys[i].mark;
    }
    if (legend->first != NULL)
        box_add(tree, legend);
}
