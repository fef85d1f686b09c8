/* `sonde run STUDY...`: some studies and what they need. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/gpus/session.h"
#include "cli/say.h"

struct studies {
    const char **names;
    size_t count;
};

static void name_study(struct studies *s, const char *name, size_t length)
{
    s->names = realloc(s->names, (s->count + 1) * sizeof *s->names);
    char *const copy = strndup(name, length);
    if (s->names == NULL || copy == NULL)
        exit(say_no_memory()); /* nothing is begun yet */
    s->names[s->count++] = copy;
}

/* "size,line" is two words, and "size," one and an empty one, which no study
 * is called. */
static void name_studies(struct studies *s, const char *word)
{
    for (;;) {
        const size_t length = strcspn(word, ",");
        name_study(s, word, length);
        if (word[length] == '\0')
            return;
        word += length + 1;
    }
}

static int run_run(const struct options *options)
{
    struct studies named = {0};
    for (size_t i = 0; i < options->word_count; i++)
        name_studies(&named, options->words[i]);
    const int status =
        session_measure(options, named.names, named.count);
    for (size_t i = 0; i < named.count; i++)
        free((char *)named.names[i]);
    free(named.names);
    return status;
}

const struct command command_run = {
    .name = "run",
    .arguments = "STUDY...",
    .summary = "run some studies, and those that they need",
    .help = "Runs the studies that are named and those whose answers they\n"
            "need, and lists what was found, one finding a line.\n"
            "\n"
            "    sonde run latency\n"
            "    sonde run size,line sector\n"
            "    sonde run latency -d cuda:0 --seed 7 --json -\n"
            "\n"
            "See also: sonde list studies, sonde explain STUDY.",
    .options = OPTIONS_OF_RUNS | OPTION_BIT(BUDGET),
    .words_least = 1,
    .words_most = WORDS_ANY,
    .run = run_run,
};
