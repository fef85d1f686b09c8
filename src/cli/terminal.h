/* How wide the terminal is. */
#ifndef SONDE_CLI_TERMINAL_H
#define SONDE_CLI_TERMINAL_H

#include <stddef.h>

/* Columns of the terminal that the file is; 80 where it tells none. */
size_t terminal_columns(int fd);

#endif
