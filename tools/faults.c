/*
 * Faults of the driver at every entry point, run on the program: see
 * tests/driver/fault_points.h.
 *
 *     faults BUILD [EVERY [WORKERS [ENTRY]]]   every point, or each EVERYth; of
 *                                              entry points that begin so
 *
 * FIRST in the environment is the first of them, so that another run tries
 * others of each EVERYth.
 *
 * Prints a line for each that fails, with the command that shows it again, and
 * how many of each kind held and failed; exit status 1 if any failed.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "driver/fault_points.h"

/* Shared by all workers. */
struct tally {
    atomic_int held[FAULT_KINDS], failed[FAULT_KINDS];
    atomic_int longest_ms;
    atomic_size_t next;
};

static void try_point(const struct fault_rig *rig, const struct fault_point *p,
                      struct tally *t)
{
    char *const wrong = fault_try(rig, p);
    const int ms = (int)(1e3 * fault_last_wait());
    if (ms > t->longest_ms)
        t->longest_ms = ms;
    (wrong == NULL ? t->held : t->failed)[p->kind]++;
    if (wrong != NULL) {
        char *const command = fault_command(rig, p);
        printf("%s: %s\n    %s\n", fault_kind_names[p->kind], wrong, command);
        fflush(stdout);
        free(command);
    }
    free(wrong);
}

static int work(const char *build, size_t every, const char *entry,
                struct tally *t)
{
    char folder[] = "/tmp/sonde-faults-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 1;
    struct fault_rig *const rig = fault_rig_new(build, folder);
    if (rig == NULL)
        return 1;
    struct fault_points points = fault_points_of(rig);
    const char *const from = getenv("FIRST");
    const size_t first = from != NULL ? strtoul(from, NULL, 10) : 0;
    for (size_t i; (i = first + every * t->next++) < points.count;)
        if (strncmp(points.at[i].entry, entry, strlen(entry)) == 0)
            try_point(rig, &points.at[i], t);
    free(points.at);
    fault_rig_free(rig);
    char *const command = xasprintf("rm -rf %s", folder);
    const int status = system(command);
    free(command);
    return status;
}

static int show(const struct tally *t)
{
    int held = 0, failed = 0;
    printf("%-22s %6s %6s\n", "fault", "held", "failed");
    for (int i = 0; i < FAULT_KINDS; i++) {
        printf("%-22s %6d %6d\n", fault_kind_names[i], t->held[i],
               t->failed[i]);
        held += t->held[i];
        failed += t->failed[i];
    }
    printf("%-22s %6d %6d\n", "all", held, failed);
    printf("at most %.2f s from Ctrl-C to the end\n", t->longest_ms / 1e3);
    return failed > 0 || held == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const long every = argc > 2 ? atol(argv[2]) : 1;
    const long workers = argc > 3 ? atol(argv[3]) : 2;
    struct tally *const t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED || every < 1)
        return 2;
    for (long i = 0; i < workers; i++)
        if (fork() == 0)
            _exit(work(argv[1], (size_t)every, argc > 4 ? argv[4] : "", t));
    while (wait(NULL) > 0)
        ;
    return show(t);
}
