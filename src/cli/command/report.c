/* `sonde report FILE.json`: a report again. */
#include <string.h>

#include "cli/command.h"
#include "cli/session.h"

static int make_report(const void *path, const char *format,
                       const struct sonde_style *style, char **text,
                       struct sonde_error *err)
{
    return sonde_report_file(path, format, style, text, err);
}

static int report_run(const struct options *options)
{
    if (!session_outputs(options))
        return 2;
    const char *const path = options->words[0];
    return session_show(options, "text", true, make_report,
                        strcmp(path, "-") == 0 ? "/dev/stdin" : path);
}

const struct command command_report = {
    .name = "report",
    .arguments = "FILE.json",
    .summary = "show a report that was written with --json",
    .help = "Reads a report in JSON and shows it as sonde topology does; with -\n"
            "one from standard input.\n"
            "\n"
            "    sonde report results/h200.json\n"
            "    sonde report -v results/h200.json\n"
            "    sonde report --json - old.json > new.json\n"
            "    ssh gpu sonde --json - | sonde report -",
    .options = OPTION_BIT(JSON),
    .words_least = 1,
    .words_most = 1,
    .run = report_run,
};
