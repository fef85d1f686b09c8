/* `sonde explain NAME...`: a study, a probe and what else has a name, in words.
 */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/say.h"
#include "sonde.h"

static int explain_one(const char *name)
{
    char *text = NULL;
    struct sonde_error err;
    const int code = sonde_explain(name, &text, &err);
    int status = sonde_exit_status(code);
    if (code == 0)
        status = say_result(text);
    else
        say("%s", err.text);
    free(text);
    return status;
}

static int explain_run(const struct options *options)
{
    int status = 0;
    for (size_t i = 0; i < options->word_count && status == 0; i++) {
        if (i > 0)
            status = say_result("\n");
        if (status == 0)
            status = explain_one(options->words[i]);
    }
    return status;
}

const struct command command_explain = {
    .name = "explain",
    .arguments = "NAME...",
    .summary = "say what a study, probe, finding, instruction or GPU is",
    .help = "Of a study: its question, its method, what it needs and what it\n"
            "finds.  Of a probe: its parameters with ranges and defaults, and\n"
            "the columns of its samples.  Of a finding: which studies find it,\n"
            "and how.  Of an instruction: what is timed.  Of a simulated GPU:\n"
            "where its numbers come from.\n"
            "\n"
            "    sonde explain latency\n"
            "    sonde explain chase\n"
            "    sonde explain l1.size add.u32 sim:k20c\n"
            "\n"
            "See also: sonde list.",
    .words_least = 1,
    .words_most = WORDS_ANY,
    .run = explain_run,
};
