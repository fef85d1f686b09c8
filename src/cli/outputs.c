#include "cli/outputs.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/terminal.h"

/* A file that a report goes to, or "-" for standard output. */
struct output {
    const char *option, *path;
    const char *format; /* NULL: neither --as nor the extension says one */
};

enum { OUTPUTS = 4 };

static const char *format_of_output(const struct options *o)
{
    return o->as != NULL ? o->as : sonde_format_of(o->output);
}

/* Those of a NULL path are not asked for. */
static void list_outputs(const struct options *o,
                         struct output outputs[static OUTPUTS])
{
    outputs[0] = (struct output){"--json", o->json, "json"};
    outputs[1] = (struct output){"--csv", o->csv, "csv"};
    outputs[2] = (struct output){"--html", o->html, "html"};
    outputs[3] = (struct output){"-o", o->output, format_of_output(o)};
}

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

/* By whatever names: the folders of files that are not there yet are. */
static char *real_path(const char *path)
{
    char *const there = realpath(path, NULL);
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;
    if (there != NULL)
        return there;
    char *const before =
        slash != NULL ? strndup(path, (size_t)(name - path)) : strdup(".");
    char *const folder = before != NULL ? realpath(before, NULL) : NULL;
    const size_t length = folder != NULL ? strlen(folder) : 0;
    char *const whole = malloc(length + strlen(path) + 2);
    if (before == NULL || whole == NULL)
        exit(say_no_memory());
    if (folder != NULL)
        snprintf(whole, length + strlen(path) + 2, "%s/%s", folder, name);
    else
        strcpy(whole, path);
    free(before);
    free(folder);
    return whole;
}

static bool is_same(const char *a, const char *b)
{
    if (a == NULL || b == NULL || is_stdout(a) || is_stdout(b))
        return false;
    char *const x = real_path(a), *const y = real_path(b);
    const bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

/* Of two files of one name the later would be all that is left. */
static bool is_once(const struct options *o, const struct output *outputs)
{
    const char *paths[OUTPUTS + 1] = {o->record};
    for (size_t i = 0; i < OUTPUTS; i++)
        paths[i + 1] = outputs[i].path;
    for (size_t i = 0; i <= OUTPUTS; i++)
        for (size_t j = 0; j < i; j++)
            if (is_same(paths[i], paths[j])) {
                say("%s is to be two files; name one of them otherwise",
                    paths[i]);
                return false;
            }
    return true;
}

/* Standard output takes one report, and a recording is no text. */
static bool is_one_output(const struct options *o, const struct output *outputs)
{
    const char *first = o->as != NULL && o->output == NULL ? "--as" : NULL;
    if (is_stdout(o->record)) {
        say("--record cannot be written to standard output; name a file");
        return false;
    }
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (!is_stdout(outputs[i].path))
            continue;
        if (first != NULL) {
            say("%s and %s cannot both be written to standard output; name a "
                "file for one",
                first, outputs[i].option);
            return false;
        }
        first = outputs[i].option;
    }
    return true;
}

/* The names of all formats, NULL at the end; they live as long as the program.
 */
enum { FORMATS_MOST = 32 };

struct formats {
    const char *names[FORMATS_MOST];
    size_t count;
};

static void name_format(void *context, const struct sonde_entry *entry)
{
    struct formats *const f = context;
    if (f->count + 1 < FORMATS_MOST)
        f->names[f->count++] = entry->name;
}

static bool is_format(const char *name)
{
    struct formats f = {0};
    sonde_list(SONDE_FORMATS, name_format, &f, NULL);
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.names[i], name) == 0)
            return true;
    const char *const nearest = sonde_nearest(name, f.names);
    if (nearest != NULL)
        say("there is no format '%s'; did you mean '%s'?", name, nearest);
    else
        say("there is no format '%s'; sonde list formats shows them", name);
    return false;
}

static bool has_format(const struct output *output)
{
    if (output->path == NULL)
        return true;
    if (output->format != NULL)
        return is_format(output->format);
    say("no format is meant by the name '%s'; say which with --as (sonde list "
        "formats)",
        output->path);
    return false;
}

static bool is_writable(const char *path)
{
    struct sonde_error err;
    if (path == NULL || is_stdout(path) || sonde_writable(path, &err) == 0)
        return true;
    say("%s", err.text);
    return false;
}

/* What names are filled into is known later. */
static bool is_fit(const char *option, const char *path)
{
    if (path != NULL && strchr(path, '%') != NULL)
        return pattern_check(option, path);
    return is_writable(path);
}

/* It is begun before the GPU says which it is. */
static bool is_fit_record(const struct options *o)
{
    if (!pattern_has(o->record, 'u'))
        return is_fit("--record", o->record);
    say("--record takes the marks %%h and %%i in its name, but not %%u: the "
        "GPU is not open yet when it begins");
    return false;
}

bool outputs_check(const struct options *o)
{
    struct output outputs[OUTPUTS];
    list_outputs(o, outputs);
    if (!is_once(o, outputs) || !is_one_output(o, outputs) ||
        (o->as != NULL && !is_format(o->as)))
        return false;
    for (size_t i = 0; i < OUTPUTS; i++)
        if (!has_format(&outputs[i]) ||
            !is_fit(outputs[i].option, outputs[i].path))
            return false;
    return is_fit_record(o);
}

bool outputs_check_named(const struct options *o)
{
    struct output outputs[OUTPUTS];
    list_outputs(o, outputs);
    for (size_t i = 0; i < OUTPUTS; i++)
        if (!is_writable(outputs[i].path))
            return false;
    return true;
}

static bool tells_apart(const char *option, const char *path)
{
    if (path == NULL || is_stdout(path) || pattern_has(path, 'i') ||
        pattern_has(path, 'u'))
        return true;
    say("%s %s would be one file of several GPUs: give it %%i (number of the "
        "GPU) or %%u (uuid) in its name, as in 'run/%%h-%%i.json'",
        option, path);
    return false;
}

/* What has a heading of its own, or is one document, is no list of such. */
static bool can_follow(const char *format)
{
    static const char *const formats[] = {"txt", "json", "md", "table"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i], format) == 0)
            return true;
    say("several GPUs are written to standard output as txt, json or md, not "
        "as %s: give each a file with -o, then sonde report makes one of these",
        format);
    return false;
}

bool outputs_check_several(const struct options *o)
{
    struct output outputs[OUTPUTS];
    list_outputs(o, outputs);
    if (o->as != NULL && o->output == NULL && !can_follow(o->as))
        return false;
    for (size_t i = 0; i < OUTPUTS; i++)
        if (!tells_apart(outputs[i].option, outputs[i].path) ||
            (is_stdout(outputs[i].path) && !can_follow(outputs[i].format)))
            return false;
    return tells_apart("--record", o->record);
}

struct options outputs_named(const struct options *o,
                             const struct pattern_names *names)
{
    struct options named = *o;
    named.record = NULL;
    named.json = pattern_fill(o->json, names);
    named.csv = pattern_fill(o->csv, names);
    named.html = pattern_fill(o->html, names);
    named.output = pattern_fill(o->output, names);
    return named;
}

void outputs_free(struct options *named)
{
    free((char *)named->json);
    free((char *)named->csv);
    free((char *)named->html);
    free((char *)named->output);
}

const char *outputs_option(const struct options *o)
{
    struct output outputs[OUTPUTS];
    list_outputs(o, outputs);
    for (size_t i = 0; i < OUTPUTS; i++)
        if (outputs[i].path != NULL)
            return outputs[i].option;
    return NULL;
}

/* --color goes before $NO_COLOR, and that before what the terminal is. */
bool outputs_colored(const struct options *o)
{
    if (o->color != NULL && strcmp(o->color, "auto") != 0)
        return strcmp(o->color, "always") == 0;
    const char *const no_color = getenv("NO_COLOR");
    const char *const term = getenv("TERM");
    return isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

/* What a terminal has, colours and a width, is nothing for a file. */
static struct sonde_style style_of(const struct options *o, bool tree,
                                   const char *path)
{
    const bool screen = is_stdout(path);
    return (struct sonde_style){
        .color = screen && outputs_colored(o),
        .width = screen && isatty(STDOUT_FILENO)
                     ? terminal_columns(STDOUT_FILENO)
                     : 0,
        .verbose = o->verbose,
        .tree = tree,
        .ascii = screen && strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
    };
}

static int fail(int code, const struct sonde_error *err)
{
    say("%s", err->text);
    return sonde_exit_status(code);
}

/* JSON on one line: no string of it holds an end of a line, and what follows
 * one is blanks. */
static void put_on_line(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';)
        if (*at == '\n')
            at += 1 + strspn(at + 1, " ");
        else
            *to++ = *at++;
    *to++ = '\n'; /* in the place of the last one */
    *to = '\0';
}

static int write_one(const struct options *o, const struct shown *shown,
                     const char *path, const char *format)
{
    const struct sonde_style style = style_of(o, shown->tree, path);
    char *text = NULL;
    struct sonde_error err;
    int code = shown->make(shown->from, format, &style, &text, &err);
    if (code != 0)
        return fail(code, &err);
    int status = 0;
    if (is_stdout(path) && o->one_of_many && strcmp(format, "json") == 0)
        put_on_line(text);
    if (is_stdout(path))
        status = say_result(text);
    else if ((code = sonde_write(path, text, &err)) != 0)
        status = fail(code, &err);
    free(text);
    return status;
}

int outputs_write(const struct options *o, const struct shown *shown)
{
    struct output outputs[OUTPUTS];
    bool screen = !shown->only_files && (!shown->instead || o->output == NULL);
    int status = 0;
    list_outputs(o, outputs);
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (outputs[i].path == NULL)
            continue;
        screen = screen && !is_stdout(outputs[i].path);
        const int one = write_one(o, shown, outputs[i].path, outputs[i].format);
        status = one > status ? one : status; /* they are ordered so */
    }
    if (!screen)
        return status;
    const char *const as = o->output == NULL ? o->as : NULL;
    const int one = write_one(o, shown, "-", as != NULL ? as : shown->format);
    return one > status ? one : status;
}
