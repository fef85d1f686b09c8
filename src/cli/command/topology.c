/* `sonde topology`: the memory hierarchy of the device. */
#include "cli/command.h"
#include "cli/session.h"

static int topology_run(const struct options *options)
{
    return session_measure(options, NULL, 0, true);
}

const struct command command_topology = {
    .name = "topology",
    .arguments = "",
    .summary = "measure and show the memory hierarchy (the default)",
    .help =
        "Measures sizes, lines, sectors and latencies of the caches and of\n"
        "memory, and shows them as a load sees them: from the SM through L1\n"
        "and L2 to memory.  What the driver reports is marked as reported;\n"
        "what could not be measured says why.\n"
        "\n"
        "Latencies are in cycles of the SM and in nanoseconds at the clock\n"
        "that was measured, sizes in KiB and MiB of 1024 and 1024^2 bytes.  A\n"
        "value has a +- where repeated measurements spread, a >= or <= where\n"
        "it is only a bound.\n"
        "\n"
        "    sonde topology\n"
        "    sonde topology -d cuda:1 --json gpu1.json\n"
        "    sonde topology -d sim:k20c -v\n"
        "    sonde topology --record gpu.rec; sonde -d replay:gpu.rec\n"
        "\n"
        "See also: sonde explain STUDY (how a number was measured), sonde run\n"
        "(only some studies).",
    .options = OPTION_BIT(DEVICE) | OPTION_BIT(JSON) | OPTION_BIT(RECORD) |
               OPTION_BIT(SEED) | OPTION_BIT(BUDGET) | OPTION_BIT(NO_CACHE) |
               OPTION_BIT(REQUIRE) | OPTION_BIT(STRICT),
    .run = topology_run,
};
