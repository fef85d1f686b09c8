/*
 * The tool: reads the command line, sets up what a process needs (locale,
 * signals, open standard files), and hands over to a command.
 */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "sonde.h"

/* A standard file that was closed would else be the next file that is opened,
 * and reports would be written into that.  Writing into these fails, so that
 * results that nobody can get are told of. */
static void open_standard_files(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static enum sonde_log_level loudest;

static void hear(enum sonde_log_level level, const char *text)
{
    if (level > loudest)
        return;
    progress_clear();
    say("%s", text);
}

static void listen_to_library(const struct options *options)
{
    loudest = options->verbose > 1   ? SONDE_DEBUG
              : options->verbose > 0 ? SONDE_INFO
                                     : SONDE_WARN;
    sonde_log(options->quiet ? NULL : hear);
}

static int refuse_option(const struct command *c, unsigned index)
{
    say("%s does not take --%s; sonde help %s lists what it does", c->name,
        option_rows[index].name, c->name);
    return 2;
}

static int refuse_words(const struct command *c, const struct options *o)
{
    if (o->word_count < c->words_least)
        say("%s needs %s; sonde help %s says more", c->name, c->arguments,
            c->name);
    else
        say("%s cannot use '%s'; sonde help %s says what it takes", c->name,
            o->words[c->words_most], c->name);
    return 2;
}

static bool knows_color(const struct options *o)
{
    static const char *const whens[] = {"auto", "always", "never"};
    if (o->color == NULL)
        return true;
    for (size_t i = 0; i < sizeof whens / sizeof *whens; i++)
        if (strcmp(o->color, whens[i]) == 0)
            return true;
    say("--color takes auto, always or never, not '%s'", o->color);
    return false;
}

static int run_command(const struct command *c, const struct options *o)
{
    const uint64_t strange = o->given & ~(c->options | OPTIONS_ALL);
    if (o->help > 0)
        return help_command(c);
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (strange >> i & 1)
            return refuse_option(c, i);
    if (o->word_count < c->words_least || o->word_count > c->words_most)
        return refuse_words(c, o);
    if (!knows_color(o))
        return 2;
    listen_to_library(o);
    return c->run(o);
}

static int print_version(void)
{
    const char *const commit = sonde_commit();
    printf("sonde %s%s%s%s\n", sonde_version(), commit[0] != '\0' ? " (" : "",
           commit, commit[0] != '\0' ? ")" : "");
    return say_result("");
}

/* The first word is the command; without one it is the default. */
static int dispatch(struct options *o)
{
    if (o->version > 0)
        return print_version();
    if (o->word_count == 0)
        return o->help > 0 ? help_overview() : run_command(command_table[0], o);
    const struct command *const c = command_find(o->words[0]);
    if (c == NULL)
        return command_unknown(o->words[0]);
    o->words++;
    o->word_count--;
    return run_command(c, o);
}

/* The line as typed, for reports; getopt is going to reorder argv.  The
 * program's own path says something of the machine and nothing of the run. */
static const char **copy_line(int argc, char **argv)
{
    const char **const line = calloc((size_t)argc + 1, sizeof *line);
    if (line == NULL)
        exit(say_no_memory());
    line[0] = "sonde";
    for (int i = 1; i < argc; i++)
        line[i] = argv[i];
    return line;
}

static int refuse_more(const char *option, const char *takes)
{
    say("%s stands alone and takes %s", option, takes);
    return 2;
}

int main(int argc, char **argv)
{
    open_standard_files();
    setlocale(LC_CTYPE, "");
    /* A write fails instead (see say_result): what else there is to be written
     * may succeed. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const char **const line = copy_line(argc, argv);
    struct options options = {.command = line, .command_count = (size_t)argc};
    int status = 2;
    /* For the build and for shells, so not among the options. */
    if (argc > 1 && strcmp(argv[1], "--man") == 0)
        status = argc == 2 ? help_man() : refuse_more("--man", "nothing");
    else if (argc > 1 && strcmp(argv[1], "--completion") == 0)
        status = argc == 3 ? help_completion(argv[2])
                           : refuse_more("--completion", "bash, zsh or fish");
    else if (options_parse(argc, argv, &options))
        status = dispatch(&options);
    free(line);
    if (sonde_hangs()) {
        fflush(NULL);
        _exit(status);
    }
    return status;
}
