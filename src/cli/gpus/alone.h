/*
 * Whether another sonde on this host measures the same GPU at the same time:
 * each says so, whoever came first.
 */
#ifndef SONDE_CLI_GPUS_ALONE_H
#define SONDE_CLI_GPUS_ALONE_H

#include <stdbool.h>

/* What tells the GPU from others of the host; true if another measures it now,
 * who is told.  The name is held until the process ends. */
bool alone_taken(const char *gpu);
/* True if another came while this one measured. */
bool alone_disturbed(void);

#endif
