/* `sonde list [WHAT]`: what there is to name on the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/say.h"
#include "sonde.h"

static const struct section {
    const char *name, *heading, *none;
    enum sonde_list what;
    const char *notes; /* only rows whose note begins so */
} sections[] = {
    {"devices", "Devices (-d SPEC)", "no GPU was found", SONDE_DEVICES, ""},
    {"profiles", "Simulated GPUs (-d sim:NAME)", "none", SONDE_PROFILES, ""},
    {"studies",
     "Studies of the default run (sonde run STUDY), 8 s on an H200, most of "
     "them\n"
     "at most 0.7 s",
     "none", SONDE_STUDIES, "default"},
    {"studies", "Studies that run when they are named (sonde run STUDY)",
     "none", SONDE_STUDIES, "when named"},
    {"probes", "Probes (sonde probe NAME)", "none", SONDE_PROBES, ""},
    {"formats", "Formats of reports (-o FILE.NAME, --as NAME)", "none",
     SONDE_FORMATS, ""},
    {"instructions", "Instructions (sonde isa NAME)", "none",
     SONDE_INSTRUCTIONS, ""},
};

enum { SECTIONS = sizeof sections / sizeof *sections };

/* How wide the names are, and how many, of those whose notes begin so. */
struct measure {
    const char *notes;
    size_t width, count;
};

static bool is_shown(const struct measure *m, const struct sonde_entry *entry)
{
    return strncmp(entry->note, m->notes, strlen(m->notes)) == 0;
}

static void measure_row(void *context, const struct sonde_entry *entry)
{
    struct measure *const m = context;
    const size_t width = strlen(entry->name);
    if (!is_shown(m, entry))
        return;
    m->width = width > m->width ? width : m->width;
    m->count++;
}

static void aligned_row(void *context, const struct sonde_entry *entry)
{
    const struct measure *const m = context;
    if (!is_shown(m, entry))
        return;
    printf("  %-*s %s\n", (int)m->width, entry->name, entry->text);
    const char *const more = strstr(entry->note, "; ");
    /* What is short is said for all in the heading. */
    if (more != NULL && strncmp(more, "; at most ", 10) != 0)
        printf("  %-*s (%s)\n", (int)m->width, "", more + 2);
}

static void plain_row(void *context, const struct sonde_entry *entry)
{
    (void)context;
    printf("%s\t%s%s%s\n", entry->name, entry->text,
           entry->note[0] != '\0' ? "\t" : "", entry->note);
}

static int list_rows(const struct section *s,
                     void (*row)(void *context,
                                 const struct sonde_entry *entry),
                     void *context)
{
    struct sonde_error err;
    const int code = sonde_list(s->what, row, context, &err);
    if (code != 0)
        say("%s", err.text);
    return sonde_exit_status(code);
}

static int list_section(const struct section *s)
{
    struct measure m = {.notes = s->notes};
    printf("%s\n", s->heading);
    int status = list_rows(s, measure_row, &m);
    if (status == 0 && m.count > 0)
        status = list_rows(s, aligned_row, &m);
    else if (status == 0)
        printf("  (%s)\n", s->none);
    return status;
}

static int list_all(void)
{
    int status = 0;
    for (size_t i = 0; i < SECTIONS; i++) {
        if (sections[i].what == SONDE_INSTRUCTIONS)
            continue; /* hundreds: only when they are asked for */
        if (i > 0)
            printf("\n");
        const int one = list_section(&sections[i]);
        status = status != 0 ? status : one;
    }
    return status;
}

static const struct section *section_find(const char *name)
{
    const char *names[SECTIONS + 1] = {NULL};
    for (size_t i = 0; i < SECTIONS; i++) {
        if (strcmp(sections[i].name, name) == 0)
            return &sections[i];
        names[i] = sections[i].name;
    }
    const char *const nearest = sonde_nearest(name, names);
    if (nearest != NULL)
        say("cannot list '%s'; did you mean '%s'?", name, nearest);
    else
        say("cannot list '%s'; there are devices, profiles, studies, probes, "
            "formats and instructions",
            name);
    return NULL;
}

static int list_run(const struct options *options)
{
    int status;
    if (options->word_count == 0) {
        status = list_all();
    } else {
        const struct section *const s = section_find(options->words[0]);
        status = s == NULL ? 2 : list_rows(s, plain_row, NULL);
    }
    const int wrote = say_result("");
    return status != 0 ? status : wrote;
}

const struct command command_list = {
    .name = "list",
    .arguments = "[WHAT]",
    .summary = "list devices, simulated GPUs, studies, probes, formats",
    .help =
        "Without a word all of them but the instructions, which are hundreds,\n"
        "under headings.  With devices, profiles, studies, probes, formats or\n"
        "instructions only these, for scripts: a line each, the name, a tab,\n"
        "the description; of a study a tab and when it runs, if it loads the\n"
        "GPU, and how long it takes; of a format whether its reports may be "
        "of\n"
        "several GPUs.\n"
        "\n"
        "    sonde list\n"
        "    sonde list profiles | cut -f 1",
    .words_most = 1,
    .run = list_run,
};
