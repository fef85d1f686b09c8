/* `sonde run STUDY...`: some studies and what they need. */
#include "cli/command.h"
#include "cli/session.h"

static int run_run(const struct options *options)
{
    return session_measure(options, options->words, options->word_count, false);
}

const struct command command_run = {
    .name = "run",
    .arguments = "STUDY...",
    .summary = "run some studies, and those that they need",
    .help = "Runs the studies that are named and those whose answers they\n"
            "need, and lists what was found, one finding a line.\n"
            "\n"
            "    sonde run latency\n"
            "    sonde run latency -d cuda:0 --seed 7 --json -\n"
            "\n"
            "See also: sonde list studies, sonde explain STUDY.",
    .options = OPTION_BIT(DEVICE) | OPTION_BIT(JSON) | OPTION_BIT(RECORD) |
               OPTION_BIT(SEED) | OPTION_BIT(BUDGET) | OPTION_BIT(NO_CACHE) |
               OPTION_BIT(REQUIRE) | OPTION_BIT(STRICT),
    .words_least = 1,
    .words_most = WORDS_ANY,
    .run = run_run,
};
