/* `sonde topology`: the memory hierarchy of the device. */
#include "cli/command.h"
#include "cli/gpus/session.h"

/* So long what was found foretells experiments that nobody asked. */
static const double foretell_s = 2;

static int measure(struct sonde *session, const void *context,
                   struct sonde_error *err)
{
    (void)context;
    const int code = sonde_run(session, NULL, 0, err);
    return code != 0 ? code : sonde_foretell(session, foretell_s, err);
}

static int topology_run(const struct options *options)
{
    return session_measure_tree(options, measure);
}

const struct command command_topology = {
    .name = "topology",
    .arguments = "",
    .summary = "measure and show the memory hierarchy (the default)",
    .help =
        "Measures the caches, their structure and latency, memory and address\n"
        "translation, and shows them on one screen, a row a storage, with a\n"
        "mark at what is in doubt, a bound, or not measured.  With -v all "
        "that\n"
        "was found is a tree as a load sees it: from the SM through L1 and L2\n"
        "to memory; what could not be measured says why.  With -vv each says\n"
        "its method, protocol and evidence.\n"
        "\n"
        "Latencies are in cycles of the SM and in nanoseconds at the clock\n"
        "that was measured, sizes in KiB and MiB of 1024 and 1024^2 bytes.\n"
        "On the screen ? stands before what a check speaks against, >= and\n"
        "<= before bounds, ~ before what spreads by over 2 %, + before what\n"
        "a miss adds, and brackets around what only the driver says; with -v\n"
        "words say so.  The last line says how much of what no study asked was\n"
        "as what was found foretells (sonde validate says it of each).\n"
        "\n"
        "    sonde topology\n"
        "    sonde topology -d cuda:1 --json gpu1.json\n"
        "    sonde topology -d sim:k20c -v\n"
        "    sonde topology --record gpu.rec; sonde -d replay:gpu.rec\n"
        "\n"
        "See also: sonde explain STUDY (how a number was measured), sonde run\n"
        "(only some studies).",
    .options = OPTIONS_OF_RUNS | OPTION_BIT(BUDGET),
    .run = topology_run,
};
