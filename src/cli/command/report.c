/* `sonde report FILE.json...`: reports again, in any format. */
#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"

static int make_report(const void *from, const char *format,
                       const struct sonde_style *style, char **text,
                       struct sonde_error *err)
{
    const struct reports *const r = from;
    return sonde_report_all(r->sessions, r->count, format, style, text, err);
}

static int merge(struct reports *r, const struct options *o)
{
    struct sonde_error err;
    const int code = sonde_merge(r->sessions, &r->count, o->merge > 0, &err);
    if (code == 0)
        return 0;
    say("%s", err.text);
    return sonde_exit_status(code);
}

static int report_run(const struct options *options)
{
    struct reports r;
    if (!outputs_check(options))
        return 2;
    int status = reports_read(&r, options);
    if (status == 0)
        status = merge(&r, options);
    if (status == 0)
        status = outputs_write(options, &(struct shown){.format = "txt",
                                                        .tree = true,
                                                        .instead = true,
                                                        .make = make_report,
                                                        .from = &r});
    reports_close(&r);
    return status;
}

const struct command command_report = {
    .name = "report",
    .arguments = "FILE.json...",
    .summary = "show reports that were written with --json, in any format",
    .help =
        "Reads reports in JSON and shows them as sonde topology does; with -\n"
        "one from standard input.  With -o the report goes to a file, in the\n"
        "format that its extension means (sonde list formats shows them).\n"
        "\n"
        "Reports of one GPU are merged: those of one uuid, or of one spec and\n"
        "name where none is known.  Those of several GPUs stand side by side\n"
        "in the formats that take several, or are merged with --merge if they\n"
        "are of one model.\n"
        "\n"
        "    sonde report results/h200.json\n"
        "    sonde report -v results/h200.json\n"
        "    sonde report gpu.json gpu-load.json gpu-isa.json -o gpu.html\n"
        "    sonde report rack/*.json -o rack.csv\n"
        "    ssh gpu sonde --json - | sonde report --as json -",
    .options = OPTIONS_OF_REPORTS | OPTION_BIT(MERGE),
    .words_least = 1,
    .words_most = WORDS_ANY,
    .run = report_run,
};
