#include "cli/command/levels.h"

#include <stddef.h>

#include "cli/say.h"

bool levels_read(const char *text, unsigned *levels)
{
    *levels = 0;
    if (text == NULL)
        return true;
    for (const char *at = text;; at++) {
        if (*at < '0' || *at > '4' || (at[1] != ',' && at[1] != '\0')) {
            say("--levels takes levels of the assembler from 0 to 4, as in "
                "0,3; not '%s'",
                text);
            return false;
        }
        *levels |= 1u << (*at - '0');
        if (*++at == '\0')
            return true;
    }
}
