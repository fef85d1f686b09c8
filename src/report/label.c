#include "report/label.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/merge.h"
#include "report/quantity.h"

static const char *text_of(const struct results *r, const char *field)
{
    const struct value *const value = results_of_device(r, field);
    return value != NULL && value->kind == VALUE_TEXT ? value->text : "";
}

static char *label_of(const struct results *r)
{
    const char *const name = text_of(r, "name");
    const char *const uuid = text_of(r, "uuid");
    const char *const which = uuid[0] != '\0' ? uuid : text_of(r, "spec");
    if (name[0] == '\0' && which[0] == '\0')
        return xstrdup("unnamed GPU");
    return xasprintf("%s%s%s", name,
                     name[0] != '\0' && which[0] != '\0' ? " " : "", which);
}

static bool is_taken(char *const *labels, size_t count, const char *label)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(labels[i], label) == 0)
            return true;
    return false;
}

/* "…, driver 580.159.04", of a report that is called as another one. */
static void tell_apart(char **label, const struct results *r,
                       const struct results *other)
{
    const struct difference d = merge_difference(other, r, false);
    if (d.field == NULL)
        return;
    struct buf text = {0};
    buf_printf(&text, "%s, %s ", *label, d.field);
    quantity_value(&text, d.other, 0, "");
    free(*label);
    *label = buf_take(&text);
}

static void number(char *const *labels, size_t count, char **label)
{
    char *const plain = *label;
    *label = xstrdup(plain);
    for (size_t n = 2; is_taken(labels, count, *label); n++) {
        free(*label);
        *label = xasprintf("%s (%zu)", plain, n);
    }
    free(plain);
}

char **labels_of(const struct results *const *results, size_t count)
{
    char **const labels = xcalloc(count + 1, sizeof *labels);
    for (size_t i = 0; i < count; i++) {
        labels[i] = label_of(results[i]);
        for (size_t j = 0; j < i && is_taken(labels, i, labels[i]); j++)
            if (strcmp(labels[i], labels[j]) == 0)
                tell_apart(&labels[i], results[i], results[j]);
        number(labels, i, &labels[i]);
    }
    return labels;
}

void labels_free(char **labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(labels[i]);
    free(labels);
}
