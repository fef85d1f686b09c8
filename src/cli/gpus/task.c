/*
 * The variables are those that the launchers document: Open MPI (mpirun's man
 * page), MVAPICH2, MPICH's hydra and Intel MPI, Cray PALS, Slurm (srun's man
 * page); PMI_RANK counts over all hosts, and comes last.
 */
#include "cli/gpus/task.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool number_of(const char *text, char **end, size_t *number)
{
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *number = strtoul(text, end, 10);
    return errno == 0;
}

static bool variable_number(const char *name, size_t *number)
{
    char *end;
    return name != NULL && number_of(getenv(name), &end, number) &&
           *end == '\0';
}

/* Of "4(x2),3", tasks of each node of a step, those of node `node`; 0: it is
 * not said. */
static size_t tasks_of_node(const char *list, size_t node)
{
    size_t tasks, times;
    char *end;
    while (number_of(list, &end, &tasks)) {
        times = 1;
        if (strncmp(end, "(x", 2) == 0 && number_of(end + 2, &end, &times))
            end += *end == ')';
        if (node < times)
            return tasks;
        node -= times;
        list = *end == ',' ? end + 1 : end;
    }
    return 0;
}

/*
 * A batch script runs once and is no task, but has SLURM_LOCALID=0, too: what
 * it has not is the step.
 */
static struct task task_of_slurm(void)
{
    struct task t = {.variable = "SLURM_LOCALID"};
    size_t node = 0;
    if (!variable_number(t.variable, &t.rank))
        return (struct task){0};
    variable_number("SLURM_NODEID", &node);
    t.size = tasks_of_node(getenv("SLURM_STEP_TASKS_PER_NODE"), node);
    if (t.size == 0 && t.rank == 0 && getenv("SLURM_JOB_ID") != NULL)
        return (struct task){0};
    return t;
}

static struct task task_of(const char *rank, const char *size)
{
    struct task t = {.variable = rank};
    if (!variable_number(rank, &t.rank))
        return (struct task){0};
    variable_number(size, &t.size);
    return t;
}

struct task task_of_environment(void)
{
    static const struct {
        const char *rank, *size;
    } rows[] = {
        {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
        {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
        {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
        {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"},
        {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
    };
    struct task t = {0};
    for (size_t i = 0; t.variable == NULL && i < sizeof rows / sizeof *rows;
         i++)
        t = task_of(rows[i].rank, rows[i].size);
    if (t.variable == NULL)
        t = task_of_slurm();
    if (t.variable == NULL)
        t = task_of("PMI_RANK", "PMI_SIZE");
    /* The only one of its host has all its GPUs. */
    return t.size == 1 ? (struct task){0} : t;
}
