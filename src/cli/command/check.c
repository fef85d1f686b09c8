/* `sonde check GOLDEN.json`: is a GPU as it was, in a few seconds? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/gpus/session.h"
#include "cli/progress.h"
#include "cli/say.h"

/* What takes a few seconds of the default run and sees most: latencies of all
 * levels, rates, slices, banks of shared memory. */
static const char *const studies[] = {"latency", "reads", "slices", "banks"};
enum { STUDIES = sizeof studies / sizeof *studies };

/* A prolog waits for ten seconds; one is for opening and ending. */
#define BUDGET_S 9
/* What two GPUs of a model may be apart by their chips, and no fault is. */
#define TOLERANCE 0.05

struct check {
    const struct options *options;
    struct sonde **golden; /* reports; of one GPU or of several */
    size_t count;
};

/* That of this GPU, else of one of its model; else the first. */
static struct sonde *golden_of(const struct check *c,
                               const struct sonde *session)
{
    const char *const uuid = sonde_device_uuid(session);
    for (size_t i = 0; i < c->count; i++)
        if (uuid[0] != '\0' &&
            strcmp(sonde_device_uuid(c->golden[i]), uuid) == 0)
            return c->golden[i];
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(sonde_device_name(c->golden[i]),
                   sonde_device_name(session)) == 0)
            return c->golden[i];
    return c->golden[0];
}

/* The findings that were asked for, with commas between. */
struct ids {
    char *text;
    size_t length;
    FILE *out;
    bool same; /* it is the same GPU, and no other of its model */
    bool any;
    bool cut; /* it was cut short: what is not measured says nothing */
};

/* Words, as which SMs are near which part of L2, are each GPU's own. */
static int add_id(void *context, const struct sonde_finding *f)
{
    struct ids *const ids = context;
    const bool none = strcmp(f->status, "not_measured") == 0;
    if ((none && ids->cut) ||
        !(none || ids->same || !isnan(f->number) || f->list != NULL))
        return 0;
    fprintf(ids->out, "%s%s", ids->any ? "," : "", f->id);
    ids->any = true;
    return 0;
}

static bool is_same(const struct sonde *a, const struct sonde *b)
{
    const char *const x = sonde_device_uuid(a), *const y = sonde_device_uuid(b);
    return x[0] != '\0' || y[0] != '\0'
               ? strcmp(x, y) == 0
               : strcmp(sonde_device_spec(a), sonde_device_spec(b)) == 0;
}

static char *asked_for(struct sonde *session, const struct sonde *golden,
                       bool cut)
{
    struct ids ids = {.same = is_same(session, golden), .cut = cut};
    ids.out = open_memstream(&ids.text, &ids.length);
    if (ids.out == NULL)
        abort();
    sonde_each(session, add_id, &ids);
    if (fclose(ids.out) != 0)
        abort();
    return ids.text;
}

/* "ok: cuda:0 NVIDIA H200 GPU-…: 84 findings alike" */
static int put_line(const struct sonde *session, int differs, const char *what)
{
    char *line;
    const char *const uuid = sonde_device_uuid(session);
    if (asprintf(&line, "%s: %s %s%s%s: %s", differs != 0 ? "DIFFERS" : "ok",
                 sonde_device_spec(session), sonde_device_name(session),
                 uuid[0] != '\0' ? " " : "", uuid, what) < 0)
        abort();
    progress_clear();
    const int status = say_result(line);
    free(line);
    return status != 0 ? status : differs;
}

static int compare(const struct check *c, struct sonde *const both[static 2],
                   bool cut, struct sonde_error *err)
{
    char *const ids = asked_for(both[1], both[0], cut);
    const bool given = (c->options->given & OPTION_BIT(TOLERANCE)) != 0;
    const struct sonde_comparison wish = {
        .only = ids,
        .tolerance = given ? c->options->tolerance : TOLERANCE,
        .format = "line"};
    char *line = NULL;
    int code = sonde_compare(both, 2, &wish, NULL, &line, err);
    free(ids);
    if (code >= 0)
        code = put_line(both[1], code, line);
    free(line);
    return code;
}

static int check_one(struct sonde *session, const void *context,
                     struct sonde_error *err)
{
    const struct check *const c = context;
    struct sonde *const golden = golden_of(c, session);
    char what[256];
    if (strcmp(sonde_device_name(golden), sonde_device_name(session)) != 0) {
        snprintf(what, sizeof what,
                 "the golden report is of another model, %s\n",
                 sonde_device_name(golden));
        return put_line(session, 1, what);
    }
    const int code = sonde_run(session, studies, STUDIES, err);
    if (code < 0)
        return code;
    if (sonde_found(session) == 0)
        return put_line(session, 1, "stopped before anything was found\n");
    struct sonde *const both[] = {golden, session};
    const int differs = compare(c, both, code > 0, err);
    if (code > 0 && differs == 0)
        say("it was cut short: only what was found until then is compared");
    return differs != 0 ? differs : code;
}

static int check_run(const struct options *options)
{
    struct options o = *options;
    struct sonde_error err;
    struct check c = {.options = &o};
    const int code = sonde_read_all(&c.golden, &c.count, o.words[0], &err);
    if (code != 0) {
        say("%s", err.text);
        return sonde_exit_status(code);
    }
    if (!(o.budget_s > 0))
        o.budget_s = BUDGET_S;
    const int status = session_measure_with(&o, check_one, &c, NULL);
    for (size_t i = 0; i < c.count; i++)
        sonde_close(c.golden[i], NULL);
    free(c.golden);
    return status;
}

const struct command command_check = {
    .name = "check",
    .arguments = "GOLDEN.json",
    .summary = "is a GPU as a report says? in a line, within 10 s",
    .help =
        "Measures latencies, rates, slices and banks, for 9 s at most\n"
        "(--budget), and compares them with a report that was kept: of the\n"
        "same GPU, or of one of its model; of a file with several reports the\n"
        "one that is nearest.  Numbers may be 5 % off (--tolerance).  Says "
        "one\n"
        "line a GPU: ok, or DIFFERS and what does; as the prolog of a job\n"
        "would ask.\n"
        "\n"
        "Status 0: as in the report; 1: something differs, or it was cut\n"
        "short; 2: no such report; 3: no such GPU; 4: the GPU failed.\n"
        "\n"
        "    sonde check golden.json\n"
        "    sonde check -q -d all /srv/sonde/golden.json || exit 1\n"
        "    sonde check golden.json -o 'today/%h-%i.json'",
    .options = OPTION_BIT(DEVICE) | OPTION_BIT(JOBS) | OPTION_BIT(JSON) |
               OPTION_BIT(OUTPUT) | OPTION_BIT(AS) | OPTION_BIT(TOLERANCE) |
               OPTION_BIT(BUDGET) | OPTION_BIT(SEED) | OPTION_BIT(NO_CACHE),
    .words_least = 1,
    .words_most = 1,
    .run = check_run,
};
