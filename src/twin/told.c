#include "twin/told.h"

#include <stdio.h>
#include <string.h>

static void note(struct buf *list, const char *what)
{
    const char *const there = buf_string(list);
    const size_t length = strlen(what);
    for (const char *at = strstr(there, what); at != NULL;
         at = strstr(at + 1, what))
        if ((at == there || at[-1] == ' ') &&
            (at[length] == ',' || at[length] == '\0'))
            return;
    buf_printf(list, "%s%s", list->length > 0 ? ", " : "", what);
}

void told_choose(struct told *told, const char *what)
{
    note(&told->chosen, what);
}

const struct finding *told_finding(struct told *told, const char *component,
                                   const char *attribute)
{
    char id[96];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    const struct finding *const f = results_find(told->results, id);
    if (f == NULL || f->status == STATUS_NOT_MEASURED ||
        (told->without != NULL && strcmp(id, told->without) == 0))
        return NULL;
    if (f->status == STATUS_IN_DOUBT || f->status == STATUS_AT_LEAST ||
        f->status == STATUS_AT_MOST)
        note(&told->doubted, id);
    return f;
}

double told_number(struct told *told, const char *component,
                   const char *attribute)
{
    const struct finding *const f = told_finding(told, component, attribute);
    return f != NULL && f->value.kind == VALUE_NUMBER ? f->value.number : 0;
}

const char *told_word(struct told *told, const char *component,
                      const char *attribute)
{
    const struct finding *const f = told_finding(told, component, attribute);
    return f != NULL && f->value.kind == VALUE_TEXT ? f->value.text : NULL;
}

bool told_true(struct told *told, const char *component, const char *attribute)
{
    const struct finding *const f = told_finding(told, component, attribute);
    return f != NULL && f->value.kind == VALUE_BOOL && f->value.number != 0;
}

double told_item(struct told *told, const char *component,
                 const char *attribute, size_t item)
{
    const struct finding *const f = told_finding(told, component, attribute);
    return f != NULL && f->value.kind == VALUE_LIST && item < f->value.count &&
                   f->value.items[item].kind == VALUE_NUMBER
               ? f->value.items[item].number
               : 0;
}
