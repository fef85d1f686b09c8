/* `sonde ptx NAME key=value...`: the kernel of an experiment. */
#include "cli/command.h"
#include "cli/gpus/session.h"

static int ptx_run(const struct options *options)
{
    return session_print(options, sonde_ptx);
}

const struct command command_ptx = {
    .name = "ptx",
    .arguments = "NAME [KEY=VALUE...]",
    .summary = "print the kernel of an experiment",
    .help = "Prints the PTX that sonde probe would run with these words on\n"
            "this device; nothing is run.\n"
            "\n"
            "    sonde ptx chase space=global bytes=16K\n"
            "    sonde ptx chase -d sim:k20c > chase.ptx\n"
            "\n"
            "See also: sonde explain PROBE, sonde probe.",
    .options = OPTION_BIT(DEVICE),
    .words_least = 1,
    .words_most = WORDS_ANY,
    .run = ptx_run,
};
