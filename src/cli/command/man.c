/* The man page, for `sonde --man`: the tables of help.c as man(7) writes them.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/say.h"
#include "sonde.h"

/* Text with what roff would take for its own escaped. */
static void put_text(const char *text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\''))
        printf("\\&");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '-')
            printf("\\-");
        else if (text[i] == '\\')
            printf("\\e");
        else
            putchar(text[i]);
    }
}

static void put_string(const char *text)
{
    put_text(text, strlen(text));
}

enum { INDENT = 4 };

static bool is_example(const char *line)
{
    return strspn(line, " ") >= INDENT;
}

/* Paragraphs between empty lines; examples line for line. */
static void put_paragraphs(const char *text)
{
    bool example = false;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (length > 0 && is_example(text) != example) {
            example = !example;
            printf(example ? ".EX\n" : ".EE\n");
        }
        if (length == 0)
            printf(".PP");
        else
            put_text(text, length);
        printf("\n");
        text += length + (text[length] == '\n');
    }
    if (example)
        printf(".EE\n");
}

static void put_command(const struct command *c)
{
    printf(".SS sonde %s", c->name);
    if (c->arguments[0] != '\0') {
        printf(" ");
        put_string(c->arguments);
    }
    printf("\n");
    putchar(toupper((unsigned char)c->summary[0]));
    put_string(c->summary + 1);
    printf(".\n.PP\n");
    put_paragraphs(c->help);
}

static void put_option(const struct option_row *row)
{
    printf(".TP\n");
    if (row->letter != 0)
        printf("\\fB\\-%c\\fR, ", row->letter);
    printf("\\fB\\-\\-");
    put_string(row->name);
    printf("\\fR");
    if (row->argument != NULL)
        printf(" \\fI%s\\fR", row->argument);
    printf("\n");
    put_paragraphs(row->help);
}

int help_man(void)
{
    printf(".\\\" Made by sonde --man of its tables of commands and options.\n"
           ".TH SONDE 1 \"\" \"sonde %s\" \"User Commands\"\n"
           ".SH NAME\nsonde \\- show what is inside an NVIDIA GPU by measuring "
           "it\n"
           ".SH SYNOPSIS\n.B sonde\n[\\fICOMMAND\\fR] [\\fIOPTION\\fR...]\n"
           ".SH DESCRIPTION\nsonde runs small programs on a GPU, times them, "
           "and infers the structure of\nits memory hierarchy from the "
           "timings.  Without a command it does what\n\\fBsonde topology\\fR "
           "does.\n.SH COMMANDS\n",
           sonde_version());
    for (size_t i = 0; command_table[i] != NULL; i++)
        put_command(command_table[i]);
    printf(".SH OPTIONS\nOptions may come before or after the command; "
           "\\fB\\-\\-\\fR ends them.\n");
    for (size_t i = 0; i < OPTION_COUNT; i++)
        put_option(&option_rows[i]);
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; help_statuses[i].status != NULL; i++)
        printf(".TP\n%s\n%s\n", help_statuses[i].status,
               help_statuses[i].meaning);
    printf(".SH ENVIRONMENT\n"
           ".TP\nNO_COLOR\nif set, no colours\n"
           ".TP\nSONDE_DEVICE\nwhat to measure without \\-\\-device\n"
           ".TP\nXDG_CACHE_HOME\nwhere compiled kernels are kept, in the "
           "folder sonde, which is the user's alone (0700) and holds 512 MiB at "
           "most; ~/.cache if not set\n");
    return say_result("");
}
