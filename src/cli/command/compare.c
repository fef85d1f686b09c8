/* `sonde compare BASE NEW...`: which findings of reports differ. */
#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"

struct compared {
    struct reports reports;
    const struct options *options;
    int *differ; /* what sonde_compare said */
};

static int make_comparison(const void *from, const char *format,
                           const struct sonde_style *style, char **text,
                           struct sonde_error *err)
{
    const struct compared *const c = from;
    const struct sonde_comparison wish = {.only = c->options->only,
                                          .tolerance = c->options->tolerance,
                                          .format = format};
    const int code = sonde_compare(c->reports.sessions, c->reports.count, &wish,
                                   style, text, err);
    *c->differ = code;
    return code < 0 ? code : 0;
}

static int compare_run(const struct options *options)
{
    int differ = 0;
    struct compared c = {.options = options, .differ = &differ};
    if (!outputs_check(options))
        return 2;
    int status = reports_read(&c.reports, options);
    if (status == 0)
        status = outputs_write(options, &(struct shown){.format = "txt",
                                                        .make = make_comparison,
                                                        .from = &c});
    reports_close(&c.reports);
    return status == 0 && differ > 0 ? 1 : status;
}

const struct command command_compare = {
    .name = "compare",
    .arguments = "BASE.json NEW.json...",
    .summary = "show which findings of reports differ, the furthest first",
    .help =
        "Judges each finding of the base in the other reports.  Numbers "
        "differ\n"
        "where their intervals do not meet, by more than the tolerance;\n"
        "words, counts and bits where they are not the same; lists item by\n"
        "item.  What had a value and has none any more is told with its\n"
        "reason.  -v also tells what only the new reports know.\n"
        "\n"
        "Status 0: alike; 1: something differs or is no longer known; 2: no\n"
        "such reports.\n"
        "\n"
        "    sonde compare golden.json rack/*.json --tolerance 2%\n"
        "    sonde compare before.json after.json --only 'l2.*,*.latency'\n"
        "    sonde compare a.json b.json --json -",
    .options = OPTION_BIT(JSON) | OPTION_BIT(ONLY) | OPTION_BIT(TOLERANCE),
    .words_least = 2,
    .words_most = WORDS_ANY,
    .run = compare_run,
};
