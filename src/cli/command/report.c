/* `sonde report FILE.json...`: reports again, in any format. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/say.h"

struct reports {
    struct sonde **sessions;
    size_t count;
};

static int make_report(const void *from, const char *format,
                       const struct sonde_style *style, char **text,
                       struct sonde_error *err)
{
    const struct reports *const r = from;
    return sonde_report_all(r->sessions, r->count, format, style, text, err);
}

static int read_one(struct reports *r, const char *path,
                    struct sonde_error *err)
{
    const int code =
        sonde_read(&r->sessions[r->count],
                   strcmp(path, "-") == 0 ? "/dev/stdin" : path, err);
    r->count += code == 0;
    return code;
}

/* Reads them in order and merges those of one GPU; 0 or an exit status. */
static int read_all(struct reports *r, const struct options *o)
{
    struct sonde_error err;
    int code = 0;
    r->sessions = calloc(o->word_count, sizeof *r->sessions);
    if (r->sessions == NULL)
        abort();
    for (size_t i = 0; code == 0 && i < o->word_count; i++)
        code = read_one(r, o->words[i], &err);
    if (code == 0)
        code = sonde_merge(r->sessions, &r->count, o->merge > 0, &err);
    if (code == 0)
        return 0;
    say("%s", err.text);
    return sonde_exit_status(code);
}

static int report_run(const struct options *options)
{
    struct reports r = {0};
    if (!outputs_check(options))
        return 2;
    int status = read_all(&r, options);
    if (status == 0)
        status = outputs_write(options, &(struct shown){.format = "txt",
                                                        .tree = true,
                                                        .instead = true,
                                                        .make = make_report,
                                                        .from = &r});
    for (size_t i = 0; i < r.count; i++)
        sonde_close(r.sessions[i], NULL);
    free(r.sessions);
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
