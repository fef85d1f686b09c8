/* The tables of the room: studies, and what each gives; what they assume. */
#include "study/study.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "study/assume.h"

#define STUDY(name, asks) extern const struct study study_##name;
#include "study/studies.def"
#undef STUDY

const struct study *const study_table[] = {
#define STUDY(name, asks) &study_##name,
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

const struct study *study_judge(void)
{
    size_t i = 0;
    while (!study_table[i]->judges)
        i++;
    return study_table[i];
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

static bool id_among(const struct answer *a, size_t *i, char id[STUDY_ID])
{
    for (; a != NULL && a->attribute != NULL; a++)
        if (id_of_answer(a, i, id))
            return true;
    return false;
}

bool study_proposes(const struct study *study, size_t i, char id[STUDY_ID])
{
    return id_among(study->proposes, &i, id);
}

bool study_does_propose(const struct study *study, const char *finding)
{
    char id[STUDY_ID];
    for (size_t i = 0; study_proposes(study, i, id); i++)
        if (strcmp(id, finding) == 0)
            return true;
    return false;
}

bool study_gives(const struct study *study, size_t i, char id[STUDY_ID])
{
    return id_among(study->answers, &i, id);
}

/* The first study that finds what is like the pattern; NULL if none does. */
static const struct study *finder_of(const char *finding)
{
    char id[STUDY_ID];
    for (size_t i = 0; study_table[i] != NULL; i++)
        for (size_t k = 0; study_gives(study_table[i], k, id); k++)
            if (text_glob(finding, id))
                return study_table[i];
    return NULL;
}

const struct study *study_need(const struct study *study, size_t i)
{
    const enum fact_id *r = study->reads;
    for (; r != NULL && *r != FACT_NONE; r++)
        if (i-- == 0)
            return study_find(fact_writer(*r));
    const char *const *f = study->reads_findings;
    for (; f != NULL && *f != NULL; f++)
        if (i-- == 0)
            return finder_of(*f);
    const char *const *n = study->needs;
    for (; n != NULL && *n != NULL; n++)
        if (i-- == 0)
            return study_find(*n);
    return NULL;
}

/* ---- assumptions ------------------------------------------------------- */

const struct assumption assume_table[ASSUME_COUNT] = {
#define ASSUME(id, value, low, high, study, basis, why)                        \
    {#id, value, low, high, #study, basis, why},
#include "study/assume.def"
#undef ASSUME
};

/* What is assumed: of the table, but for what a test has moved. */
static double assumed[ASSUME_COUNT] = {
#define ASSUME(id, value, low, high, study, basis, why) value,
#include "study/assume.def"
#undef ASSUME
};

double assume(enum assumption_id id)
{
    return assumed[id];
}

void assume_move(enum assumption_id id, double value)
{
    assumed[id] = value;
}

void assume_restore(enum assumption_id id)
{
    assumed[id] = assume_table[id].value;
}
