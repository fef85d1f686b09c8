#include "study/facts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "study/lab.h"

/* ---- levels ------------------------------------------------------------ */

const struct level_row level_table[LEVEL_COUNT] = {
#define LEVEL_OF_GPU(id, name, ...) {.component = name, __VA_ARGS__},
#define LEVEL_OF_SM(id, name, ...)                                             \
    {.component = name, .of_sm = true, __VA_ARGS__},
#include "study/levels.def"
#undef LEVEL_OF_SM
#undef LEVEL_OF_GPU
};

const char *const level_components[LEVEL_COUNT + 1] = {
#define LEVEL_OF_GPU(id, name, ...) name,
#define LEVEL_OF_SM                 LEVEL_OF_GPU
#include "study/levels.def"
#undef LEVEL_OF_SM
#undef LEVEL_OF_GPU
    NULL,
};

const char *const sm_level_components[] = {
#define LEVEL_OF_GPU(id, name, ...)
#define LEVEL_OF_SM(id, name, ...) name,
#include "study/levels.def"
#undef LEVEL_OF_SM
#undef LEVEL_OF_GPU
    NULL,
};

const char *level_ring(const struct level_row *row)
{
    return row->ring != NULL ? row->ring : row->load;
}

/* ---- facts ------------------------------------------------------------- */

static const struct {
    const char *name, *writer;
    bool of_level;
    unsigned found_by;
    enum level_id about;
} rows[] = {
    [FACT_NONE] = {.name = "", .writer = ""},
#define FACT(id, name, writer, found_by, about)                                \
    {#name, writer, false, found_by, about},
#define LEVEL_FACT(id, name, writer) {#name, writer, true, 0, LEVEL_COUNT},
#include "study/facts.def"
#undef LEVEL_FACT
#undef FACT
};

const char *fact_name(enum fact_id fact)
{
    return rows[fact].name;
}

const char *fact_writer(enum fact_id fact)
{
    return rows[fact].writer;
}

bool fact_of_level(enum fact_id fact)
{
    return rows[fact].of_level;
}

unsigned fact_found_by(enum fact_id fact)
{
    return rows[fact].found_by;
}

enum level_id fact_about(enum fact_id fact)
{
    return rows[fact].about;
}

static void give_reason(char why[FACT_WHY], const char *reason)
{
    if (why[0] == '\0')
        snprintf(why, FACT_WHY, "%.*s", FACT_WHY - 1, reason);
}

void facts_lose(struct facts *facts, const char *study, const char *why)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        if (strcmp(rows[FACT_CACHED].writer, study) == 0)
            give_reason(facts->cached[i].why, why);
        if (strcmp(rows[FACT_BRACKET].writer, study) == 0)
            give_reason(facts->bracket[i].why, why);
    }
    if (strcmp(rows[FACT_MEMORY].writer, study) == 0)
        give_reason(facts->memory.why, why);
}

static bool is_writer(const struct lab *lab, enum fact_id fact)
{
    return lab->study == NULL ||
           strcmp(lab->study->name, rows[fact].writer) == 0;
}

static bool declares(const struct study *study, enum fact_id fact)
{
    const enum fact_id *r = study->reads;
    while (r != NULL && *r != FACT_NONE && *r != fact)
        r++;
    return r != NULL && *r == fact;
}

static void check_read(const struct lab *lab, enum fact_id fact)
{
    const bool may = is_writer(lab, fact) || declares(lab->study, fact);
    if (!may)
        log_say(LOG_WARN,
                "study %s reads the fact '%s' and does not declare it",
                lab->study->name, rows[fact].name);
    assert(may);
}

static void check_write(const struct lab *lab, enum fact_id fact)
{
    const bool may = is_writer(lab, fact);
    if (!may)
        log_say(LOG_WARN, "study %s writes the fact '%s', which is that of %s",
                lab->study->name, rows[fact].name, rows[fact].writer);
    assert(may);
}

#define FACT(id, name, ...)                                                    \
    const struct fact_##name *fact_##name(const struct lab *lab)               \
    {                                                                          \
        check_read(lab, FACT_##id);                                            \
        return &lab->known.name;                                               \
    }                                                                          \
    struct fact_##name *fact_##name##_write(struct lab *lab)                   \
    {                                                                          \
        check_write(lab, FACT_##id);                                           \
        return &lab->known.name;                                               \
    }
#define LEVEL_FACT(id, name, writer)                                           \
    const struct fact_##name *fact_##name(const struct lab *lab,               \
                                          enum level_id level)                 \
    {                                                                          \
        check_read(lab, FACT_##id);                                            \
        return &lab->known.name[level];                                        \
    }                                                                          \
    struct fact_##name *fact_##name##_write(struct lab *lab,                   \
                                            enum level_id level)               \
    {                                                                          \
        check_write(lab, FACT_##id);                                           \
        return &lab->known.name[level];                                        \
    }
#include "study/facts.def"
#undef LEVEL_FACT
#undef FACT

uint64_t fact_sure_line(const struct lab *lab, enum level_id level)
{
    return fact_rings(lab, level)->doubtful ? 0 : fact_line(lab, level)->bytes;
}

uint64_t fact_sure_sector(const struct lab *lab, enum level_id level)
{
    return fact_rings(lab, level)->doubtful ? 0
                                            : fact_sector(lab, level)->bytes;
}

uint64_t fact_size(const struct lab *lab, enum level_id level)
{
    const uint64_t far_end = fact_bracket(lab, level)->far_end;
    return far_end > 0 ? far_end : fact_rings(lab, level)->bytes;
}
