/*
 * Whether this process is one of several on its host that a launcher started
 * (srun, mpirun), and which of them: then it takes one GPU, its own.
 */
#ifndef SONDE_CLI_GPUS_TASK_H
#define SONDE_CLI_GPUS_TASK_H

#include <stddef.h>

struct task {
    const char *variable; /* of the environment that told; NULL: it is none */
    size_t rank;          /* on this host, from 0 */
    size_t size;          /* tasks on this host; 0: not told */
};

struct task task_of_environment(void);

#endif
