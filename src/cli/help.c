/* `sonde help [COMMAND]`. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/say.h"

/* Where the right column begins, in the tables of commands and options. */
enum { COMMAND_COLUMN = 12, OPTION_COLUMN = 26 };

const struct help_status help_statuses[] = {
    {"0", "all that was asked ran to its end"},
    {"1", "it was cut short, or what is required was not measured"},
    {"2", "usage, or a file that is not what it should be"},
    {"3", "there is no such device or profile"},
    {"4", "the device failed"},
    {NULL, NULL},
};

/* Text of several lines, all but the first from this column on. */
static void put_lines(const char *text, int column)
{
    for (;;) {
        const int length = (int)strcspn(text, "\n");
        printf("%.*s\n", length, text);
        if (text[length] == '\0')
            return;
        text += length + 1;
        printf("%*s", column, "");
    }
}

static void put_option(const struct option_row *row)
{
    char left[64], letter[8] = "    ";
    if (row->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name,
             row->argument != NULL ? " " : "",
             row->argument != NULL ? row->argument : "");
    printf("%-*s", OPTION_COLUMN, left);
    if (strlen(left) >= (size_t)OPTION_COLUMN)
        printf("\n%*s", OPTION_COLUMN, "");
    put_lines(row->help, OPTION_COLUMN);
}

static void put_options(uint64_t set)
{
    printf("\nOptions, before or after the command:\n");
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (set >> i & 1)
            put_option(&option_rows[i]);
}

static void put_command(const struct command *c)
{
    printf("  %-*s%s\n", COMMAND_COLUMN - 2, c->name, c->summary);
}

static void put_commands(void)
{
#define HEADING(text) printf("\n%s:\n", text);
#define COMMAND(name) put_command(&command_##name);
#include "cli/commands.def"
#undef COMMAND
}

/* What most take; the others are said with their commands. */
#define OPTIONS_COMMON                                                         \
    (OPTION_BIT(DEVICE) | OPTION_BIT(JSON) | OPTION_BIT(OUTPUT) |              \
     OPTION_BIT(RECORD) | OPTION_BIT(SEED) | OPTION_BIT(BUDGET) | OPTIONS_ALL)

int help_overview(void)
{
    printf("sonde shows what is inside an NVIDIA GPU by measuring it.\n\n"
           "usage: sonde [COMMAND] [OPTION...]\n");
    put_commands();
    put_options(OPTIONS_COMMON);
    printf("\nsonde help COMMAND says more, and which other options it takes; "
           "sonde list\nshows what can be named.\n\nExit status:\n");
    for (size_t i = 0; help_statuses[i].status != NULL; i++)
        printf("  %s  %s\n", help_statuses[i].status, help_statuses[i].meaning);
    printf("\nExamples:\n"
           "  sonde                          the first GPU of this machine\n"
           "  sonde -d sim:k20c              a simulated GPU\n"
           "  sonde --json gpu.json          the report as JSON, too\n"
           "  sonde explain l1.size          how that is measured\n");
    return say_result("");
}

int help_command(const struct command *c)
{
    printf("sonde %s: %s\n\nusage: sonde %s%s%s [OPTION...]\n\n%s\n", c->name,
           c->summary, c->name, c->arguments[0] != '\0' ? " " : "",
           c->arguments, c->help);
    put_options(c->options | OPTIONS_ALL);
    return say_result("");
}

static int help_run(const struct options *options)
{
    if (options->word_count == 0)
        return help_overview();
    const struct command *const c = command_find(options->words[0]);
    return c != NULL ? help_command(c) : command_unknown(options->words[0]);
}

const struct command command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "say more about a command",
    .help = "    sonde help probe\n"
            "    sonde probe --help",
    .words_most = 1,
    .run = help_run,
};
