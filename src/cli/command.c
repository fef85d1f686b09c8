#include "cli/command.h"

#include <string.h>

#include "cli/say.h"
#include "sonde.h"

const struct command *const command_table[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
    NULL,
};

enum { COMMANDS = sizeof command_table / sizeof *command_table - 1 };

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_table[i] != NULL; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

int command_unknown(const char *name)
{
    const char *names[COMMANDS + 1];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = command_table[i]->name;
    names[COMMANDS] = NULL;
    const char *const nearest = sonde_nearest(name, names);
    if (nearest != NULL)
        say("there is no command '%s'; did you mean '%s'?", name, nearest);
    else
        say("there is no command '%s'; sonde --help lists them", name);
    return 2;
}
