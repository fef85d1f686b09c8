#include "api/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/sim/profile/shipped.h"
#include "probe/probe.h"
#include "ptx/instruction.h"
#include "study/study.h"

/* The first that gives or estimates the finding of this id; NULL: none. */
static const struct study *finder_of(const char *id)
{
    char one[STUDY_ID];
    for (size_t s = 0; study_table[s] != NULL; s++) {
        if (study_does_propose(study_table[s], id))
            return study_table[s];
        for (size_t i = 0; study_gives(study_table[s], i, one); i++)
            if (text_glob(one, id))
                return study_table[s];
    }
    return NULL;
}

static bool is_instruction(const char *name)
{
    const struct instruction *i = instruction_table;
    while (i->name != NULL && strcmp(i->name, name) != 0)
        i++;
    return i->name != NULL;
}

/* What it is, if neither study nor probe. */
static int name_other(const char *name, struct error *err)
{
    const struct study *const finder = finder_of(name);
    if (finder != NULL)
        return error_set(err, ERR_USAGE,
                         "'%s' is a finding, which the study '%s' finds", name,
                         finder->name);
    if (is_instruction(name))
        return error_set(err, ERR_USAGE,
                         "'%s' is an instruction, which isa measures", name);
    return 0;
}

int names_study(const char *name, struct error *err)
{
    if (study_find(name) != NULL)
        return 0;
    if (probe_find(name) != NULL)
        return error_set(err, ERR_USAGE,
                         "'%s' is a probe, one experiment, and no study", name);
    return name_other(name, err);
}

int names_probe(const char *name, struct error *err)
{
    if (probe_find(name) != NULL)
        return 0;
    if (study_find(name) != NULL)
        return error_set(err, ERR_USAGE, "'%s' is a study, and no probe", name);
    return name_other(name, err);
}

/* ---- what was meant ------------------------------------------------------ */

struct names {
    char **all;
    size_t count;
};

static void add(struct names *n, const char *before, const char *name)
{
    n->all = xreallocarray(n->all, n->count + 2, sizeof *n->all);
    n->all[n->count] = xasprintf("%s%s", before, name);
    n->all[++n->count] = NULL;
}

static void add_study(struct names *n, const struct study *study)
{
    char id[STUDY_ID];
    add(n, "", study->name);
    for (size_t i = 0; study_gives(study, i, id); i++)
        add(n, "", id);
    for (size_t i = 0; study_proposes(study, i, id); i++)
        add(n, "", id);
}

static struct names all_names(const char *scheme)
{
    struct names n = {0};
    for (size_t i = 0; study_table[i] != NULL; i++)
        add_study(&n, study_table[i]);
    for (size_t i = 0; probe_table[i] != NULL; i++)
        add(&n, "", probe_table[i]->name);
    for (size_t i = 0; shipped_profiles[i].name != NULL; i++)
        add(&n, scheme, shipped_profiles[i].name);
    for (size_t i = 0; shipped_hosts[i].name != NULL; i++)
        add(&n, scheme, shipped_hosts[i].name);
    for (size_t i = 0; instruction_table[i].name != NULL; i++)
        add(&n, "", instruction_table[i].name);
    return n;
}

int names_nothing(const char *name, struct error *err)
{
    static const char scheme[] = "sim:";
    const bool sim = strncmp(name, scheme, sizeof scheme - 1) == 0;
    struct names n = all_names(sim ? scheme : "");
    error_set(err, ERR_USAGE,
              "there is no study, probe, finding, instruction or simulated GPU "
              "'%s'%s (`sonde list` shows them)",
              name, text_guess(name, (const char *const *)n.all).text);
    for (size_t i = 0; i < n.count; i++)
        free(n.all[i]);
    free(n.all);
    return ERR_USAGE;
}
