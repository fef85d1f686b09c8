/* The table of studies, and what each gives. */
#include "study/study.h"

#include <stdio.h>
#include <string.h>

#define STUDY(name) extern const struct study study_##name;
#include "study/studies.def"
#undef STUDY

const struct study *const study_table[] = {
#define STUDY(name) &study_##name,
#include "study/studies.def"
#undef STUDY
    NULL,
};

const struct study *study_find(const char *name)
{
    for (size_t i = 0; study_table[i] != NULL; i++)
        if (strcmp(study_table[i]->name, name) == 0)
            return study_table[i];
    return NULL;
}

static bool id_of_answer(const struct answer *answer, size_t *i,
                         char id[STUDY_ID])
{
    for (const char *const *c = answer->components; *c != NULL; c++)
        if ((*i)-- == 0) {
            snprintf(id, STUDY_ID, "%s.%s", *c, answer->attribute);
            return true;
        }
    return false;
}

bool study_gives(const struct study *study, size_t i, char id[STUDY_ID])
{
    const struct answer *a = study->answers;
    for (; a != NULL && a->attribute != NULL; a++)
        if (id_of_answer(a, &i, id))
            return true;
    const char *const *g = study->gives;
    while (g != NULL && *g != NULL && i > 0) {
        g++;
        i--;
    }
    if (g == NULL || *g == NULL)
        return false;
    snprintf(id, STUDY_ID, "%s", *g);
    return true;
}
