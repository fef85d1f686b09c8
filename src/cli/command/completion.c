/*
 * `sonde --completion SHELL`: what a shell needs to complete words of the
 * command line, from the tables of commands and options.
 */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/say.h"

static void put_options(uint64_t set)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (set >> i & 1)
            printf(" --%s", option_rows[i].name);
}

/* Words that a command takes, for those that take names; as `sonde list` tells
 * them when the shell asks. */
static const struct {
    const char *command, *list;
} named[] = {
    {"run", "studies"}, {"explain", "studies"},  {"probe", "probes"},
    {"ptx", "probes"},  {"isa", "instructions"},
};

/* The same for the values of options. */
static const struct {
    const char *option, *list;
} valued[] = {{"as", "formats"}};

static void put_bash_values(void)
{
    printf("    case ${COMP_WORDS[COMP_CWORD-1]} in\n");
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++)
        printf("    --%s)\n"
               "        words=$(sonde list %s | cut -f 1)\n"
               "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
               "        return ;;\n",
               valued[i].option, valued[i].list);
    printf("    esac\n");
}

static void put_commands(void)
{
    for (size_t i = 0; command_table[i] != NULL; i++)
        printf(" %s", command_table[i]->name);
}

/* What is none of these is a file, by -o default. */
static void put_bash(void)
{
    printf("_sonde() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} command= i words=\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n"
           "        -*) ;;\n");
    for (size_t i = 0; command_table[i] != NULL; i++)
        printf("        %s) command=%s ;;\n", command_table[i]->name,
               command_table[i]->name);
    printf("        esac\n    done\n");
    put_bash_values();
    printf("    case $word in\n"
           "    -*)\n        case $command in\n");
    for (size_t i = 0; command_table[i] != NULL; i++) {
        printf("        %s%s) words='", i == 0 ? "''|" : "",
               command_table[i]->name); /* the first is the default */
        put_options(command_table[i]->options | OPTIONS_ALL);
        printf("' ;;\n");
    }
    printf("        esac ;;\n"
           "    *)\n        case $command in\n");
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        printf("        %s) words=$(sonde list %s | cut -f 1) ;;\n",
               named[i].command, named[i].list);
    printf("        ''|help) words='");
    put_commands();
    printf("' ;;\n        esac ;;\n    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "}\ncomplete -o default -F _sonde sonde\n");
}

static void put_zsh(void)
{
    printf(
        "(( $+functions[compdef] )) || { autoload -U compinit && compinit -i }\n"
        "autoload -U +X bashcompinit && bashcompinit\n");
    put_bash();
}

/* In single quotes; of several lines the first. */
static void put_quoted(const char *text)
{
    putchar('\'');
    for (; *text != '\0' && *text != '\n'; text++)
        printf(*text == '\'' ? "\\%c" : "%c", *text);
    putchar('\'');
}

static void put_fish(void)
{
    for (size_t i = 0; command_table[i] != NULL; i++) {
        printf("complete -c sonde -n __fish_use_subcommand -a %s -d ",
               command_table[i]->name);
        put_quoted(command_table[i]->summary);
        printf("\n");
    }
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        printf("complete -c sonde -l %s%s", option_rows[i].name,
               option_rows[i].argument != NULL ? " -r" : "");
        if (option_rows[i].letter != 0)
            printf(" -s %c", option_rows[i].letter);
        printf(" -d ");
        put_quoted(option_rows[i].help);
        printf("\n");
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        printf("complete -c sonde -n '__fish_seen_subcommand_from %s' "
               "-a '(sonde list %s | cut -f 1)'\n",
               named[i].command, named[i].list);
    printf("complete -c sonde -n '__fish_seen_subcommand_from help' -a '");
    put_commands();
    printf("'\n");
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++)
        printf("complete -c sonde -l %s -x -a '(sonde list %s | cut -f 1)'\n",
               valued[i].option, valued[i].list);
}

int help_completion(const char *shell)
{
    static const struct {
        const char *name;
        void (*put)(void);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].put();
            return say_result("");
        }
    say("--completion takes bash, zsh or fish, not '%s'", shell);
    return 2;
}
