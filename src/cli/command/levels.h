/* The option --levels. */
#ifndef SONDE_CLI_COMMAND_LEVELS_H
#define SONDE_CLI_COMMAND_LEVELS_H

#include <stdbool.h>

/* "0,3" as a set of bits; NULL is none.  Says what is wrong and returns false
 * for anything else. */
bool levels_read(const char *text, unsigned *levels);

#endif
