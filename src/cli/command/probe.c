/* `sonde probe NAME key=value...`: one experiment by hand. */
#include "cli/command.h"
#include "cli/gpus/session.h"

static int probe_run(const struct options *options)
{
    return session_print(options, sonde_probe);
}

const struct command command_probe = {
    .name = "probe",
    .arguments = "NAME [KEY=VALUE...]",
    .summary = "run one experiment by hand and print its samples",
    .help = "Runs the experiment and prints its samples as a table: a line of\n"
            "column names, then a row each, separated by tabs; last a line\n"
            "that begins with #: the median, in cycles mostly, and how it is\n"
            "made of the columns.  Times are in cycles, sizes in bytes; a\n"
            "number may end in K, M or G (KiB, MiB, GiB).  Parameters that are\n"
            "not given have their defaults.  The evidence in a report is such\n"
            "an experiment, so it can be run again here.\n"
            "\n"
            "    sonde probe chase space=global bytes=16K stride=128\n"
            "    sonde probe chase -d sim:k20c bytes=1M\n"
            "\n"
            "See also: sonde list probes, sonde explain PROBE (its parameters\n"
            "and their ranges), sonde ptx (the kernel it runs).",
    .options = OPTION_BIT(DEVICE) | OPTION_BIT(RECORD) | OPTION_BIT(SEED) |
               OPTION_BIT(NO_CACHE),
    .words_least = 1,
    .words_most = WORDS_ANY,
    .run = probe_run,
};
