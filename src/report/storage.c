#include "report/storage.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

const char *const storage_paths[STORAGE_PATHS] = {
    "l1",        "texture",   "readonly",  "local",      "const_l1",
    "const_l15", "icache_l0", "icache_l1", "icache_l15",
};

static const char *const path_words[STORAGE_PATHS] = {
    "global loads", "texture",      "read-only",    "local",        "constants",
    "constants",    "instructions", "instructions", "instructions",
};

const char *storage_path_words(const char *path)
{
    size_t i = 0;
    while (i + 1 < STORAGE_PATHS && strcmp(storage_paths[i], path) != 0)
        i++;
    return path_words[i];
}

bool storage_is_of(const char *id, const char *component)
{
    return strlen(component) == strcspn(id, ".") &&
           strncmp(id, component, strlen(component)) == 0;
}

bool storage_present(const struct results *r, const char *component)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (storage_is_of(r->findings[i]->id, component))
            return true;
    return false;
}

const struct finding *storage_finding(const struct results *r,
                                      const char *component,
                                      const char *attribute)
{
    char id[128];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    return results_find(r, id);
}

static bool names(const struct finding *f, const char *component)
{
    for (size_t i = 0; f != NULL && f->status == STATUS_MEASURED &&
                       f->value.kind == VALUE_LIST && i < f->value.count;
         i++)
        if (f->value.items[i].kind == VALUE_TEXT &&
            strcmp(f->value.items[i].text, component) == 0)
            return true;
    return false;
}

const char *storage_of_path(const struct results *r, const char *path)
{
    const struct finding *const f = storage_finding(r, path, "shares_with");
    for (size_t i = 0; i < STORAGE_PATHS; i++) {
        if (strcmp(storage_paths[i], path) == 0)
            return NULL;
        if (names(f, storage_paths[i]) && storage_present(r, storage_paths[i]))
            return storage_paths[i];
    }
    return NULL;
}

bool storage_agree(const struct finding *a, const struct finding *b)
{
    if (b == NULL ||
        (b->status != STATUS_MEASURED && b->status != STATUS_DERIVED))
        return false;
    if (a->has_interval && b->has_interval)
        return a->interval[0] <= b->interval[1] &&
               b->interval[0] <= a->interval[1];
    return value_equal(&a->value, &b->value);
}
