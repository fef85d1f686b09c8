/* `sonde fleet PATH...`: many GPUs, each beside those of its model. */
#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "sonde.h"

enum { BAD_FILES = 2 }; /* exit status */

static int make_fleet(const void *from, const char *format,
                      const struct sonde_style *style, char **text,
                      struct sonde_error *err)
{
    return sonde_fleet_report(from, format, style, text, err);
}

/* Whoever is out is what one wants to know; else what could not be read. */
static int status_of(const struct sonde_fleet *fleet)
{
    if (sonde_fleet_differs(fleet))
        return 1;
    if (sonde_fleet_gpus(fleet) == 0)
        say("there is no report to judge");
    return sonde_fleet_gpus(fleet) == 0 || sonde_fleet_refused(fleet) > 0
               ? BAD_FILES
               : 0;
}

static int fleet_run(const struct options *o)
{
    const struct sonde_fleet_wish wish = {.since = o->since,
                                          .expect = o->expect,
                                          .rack = o->rack,
                                          .only = o->only,
                                          .alarms = o->alarms,
                                          .tolerance = o->tolerance};
    struct sonde_fleet *fleet;
    struct sonde_error err;
    if (!outputs_check(o))
        return 2;
    const int code =
        sonde_fleet_read(&fleet, o->words, o->word_count, &wish, &err);
    if (code != 0) {
        say("%s", err.text);
        return sonde_exit_status(code);
    }
    int status = outputs_write(
        o, &(struct shown){.format = "txt", .make = make_fleet, .from = fleet});
    status = status == 0 ? status_of(fleet) : status;
    sonde_fleet_close(fleet);
    return status;
}

const struct command command_fleet = {
    .name = "fleet",
    .arguments = "PATH...",
    .summary = "say which GPUs of many are not as the others",
    .help =
        "Reads reports in JSON: files, folders with all that is below them,\n"
        "and with - paths (or reports) from standard input.  Compares the\n"
        "GPUs of each model: a GPU is out if it is built otherwise than most\n"
        "(a slice or an SM less, another driver), or if a number is further\n"
        "from the median than the scatter of all explains, than its own\n"
        "interval reaches, and than the tolerance (1 %).  Hosts and racks are\n"
        "asked the same.  What is broken, empty, of something else, still\n"
        "being written, or older than another report of its GPU is counted\n"
        "and named.  -v shows centre, spread and limit of each finding.\n"
        "\n"
        "Status 0: all alike; 1: someone is out or missing, or something has\n"
        "changed; 2: no reports, or files that could not be read.\n"
        "\n"
        "    sonde fleet reports/\n"
        "    sonde fleet today/ --since yesterday/ --expect hosts.txt\n"
        "    find /srv/sonde -name '*.json' | sonde fleet - -o fleet.html\n"
        "    sonde fleet reports/ --only 'memory.*,link.*' --json -",
    .options = OPTION_BIT(JSON) | OPTION_BIT(HTML) | OPTION_BIT(OUTPUT) |
               OPTION_BIT(AS) | OPTION_BIT(SINCE) | OPTION_BIT(EXPECT) |
               OPTION_BIT(RACK) | OPTION_BIT(ALARMS) | OPTION_BIT(TOLERANCE) |
               OPTION_BIT(ONLY),
    .words_least = 1,
    .words_most = WORDS_ANY,
    .run = fleet_run,
};
