/* `sonde validate [FILE.json]`: do findings foretell what no study asked? */
#include "cli/command.h"
#include "cli/gpus/session.h"

static int measure(struct sonde *session, const void *path,
                   struct sonde_error *err)
{
    return sonde_validate(session, path, err);
}

static int validate_run(const struct options *o)
{
    return session_measure_with(
        o, measure, o->word_count > 0 ? o->words[0] : NULL, "validation");
}

const struct command command_validate = {
    .name = "validate",
    .arguments = "[FILE.json]",
    .summary = "let findings foretell experiments that no study asked",
    .help =
        "Makes a simulated GPU of a report in JSON, or of what topology finds\n"
        "first, draws by the seed experiments that no study asks (other\n"
        "lines, distances, orders), runs them on it and on the device, and\n"
        "says finding by finding how many loads are found where it foretells,\n"
        "and which mean costs are.  A value that foretells wrongly is in\n"
        "doubt, and the one that would foretell rightly is said.\n"
        "\n"
        "    sonde validate gpu.json -d cuda:0\n"
        "    sonde validate gpu.json -d cuda:0 --seed 7 --json checked.json\n"
        "    sonde validate -d sim:k20c\n"
        "\n"
        "Status 1 says that something is not as foretold.\n"
        "\n"
        "See also: sonde report -o gpu.profile.json (that simulated GPU).",
    .options = OPTIONS_OF_RUNS | OPTION_BIT(BUDGET),
    .words_most = 1,
    .run = validate_run,
};
