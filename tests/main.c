/*
 * Runs the suites of SUITES (tests/suites.def), several at a time:
 *
 *     check [-l] [-q | -s] [-j N] [SUITE…]
 *
 * -j says how many processes (the number of cores), -l lists the suites, -q
 * runs those that are quick, -s the slow tests, which are left out else.  What
 * is LAST runs when all others have ended, as it asks what they did.  Each
 * test runs in a process of its own (CK_FORK=no: all in this one, one after
 * the other, for a debugger); CK_RUN_CASE, CK_VERBOSITY and the other variables
 * of Check work as its manual says; SEEDS is how many seeds tests with noise
 * try.  Exit status: 0 none failed, 1 some did, 2 usage.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "testing.h"

#ifndef SUITES
#define SUITES "suites.def"
#endif

static const struct {
    const char *name;
    Suite *(*make)(void);
    enum { MEDIUM, QUICK, LAST } kind;
} suites[] = {
#define SUITE(name) {#name, suite_##name, MEDIUM},
#define QUICK(name) {#name, suite_##name, QUICK},
#define LAST(name)  {#name, suite_##name, LAST},
#include SUITES
#undef SUITE
#undef QUICK
#undef LAST
};

enum { SUITE_COUNT = COUNT_OF(suites) };

static bool chosen[SUITE_COUNT];
static bool slow; /* the slow tests alone, in place of all others */

/* Of this process and all tests that it has run. */
static double cpu_seconds(void)
{
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double sum = 0;
    for (size_t i = 0; i < COUNT_OF(whose); i++) {
        struct rusage used;
        getrusage(whose[i], &used);
        sum += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    }
    return sum;
}

static void count(SRunner *runner)
{
    testing_counts->ran += (unsigned)srunner_ntests_run(runner);
    TestResult **const failed = srunner_failures(runner);
    for (int j = 0; j < srunner_ntests_failed(runner); j++)
        if (tr_rtype(failed[j]) == CK_FAILURE)
            testing_counts->failures++;
        else
            testing_counts->errors++;
    free(failed);
}

static void run_suite(size_t i)
{
    SRunner *const runner = srunner_create(suites[i].make());
    const double begin = now_seconds(), cpu = cpu_seconds();
    fflush(stdout);
    srunner_run_tagged(runner, NULL, NULL, slow ? TESTING_SLOW : NULL,
                       slow ? NULL : TESTING_SLOW, CK_SILENT);
    if (srunner_ntests_run(runner) > 0) {
        printf("%-17s %5.1f s, of a core %5.1f s  ", suites[i].name,
               now_seconds() - begin, cpu_seconds() - cpu);
        srunner_print(runner, CK_ENV);
        fflush(stdout);
    }
    count(runner);
    srunner_free(runner);
}

/* Takes one suite after the other from those that no process has taken. */
static void work(void)
{
    unsigned i;
    while ((i = testing_counts->next++) < SUITE_COUNT)
        if (chosen[i] && suites[i].kind != LAST)
            run_suite(i);
}

static void run_last(void)
{
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (chosen[i] && suites[i].kind == LAST)
            run_suite(i);
}

static pid_t start_worker(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        work();
        fflush(stdout);
        _exit(0);
    }
    return child;
}

/* A worker that dies takes its results along: that is an error, too. */
static void await_workers(void)
{
    int status;
    while (wait(&status) > 0)
        if (status != 0)
            testing_counts->errors++;
}

static void run_all(long workers)
{
    const char *const fork_of_check = getenv("CK_FORK");
    if (workers <= 1 ||
        (fork_of_check != NULL && strcmp(fork_of_check, "no") == 0)) {
        work();
        return;
    }
    for (long i = 0; i < workers; i++)
        if (start_worker() < 0)
            break;
    await_workers();
    work(); /* what is left if no worker could be started */
}

static int usage(const char *fmt, const char *word)
{
    fprintf(stderr, fmt, word);
    fputs("usage: check [-l] [-q | -s] [-j N] [SUITE...]\n", stderr);
    return 2;
}

static int no_such_suite(const char *word)
{
    const char *names[SUITE_COUNT + 1] = {NULL};
    for (size_t i = 0; i < SUITE_COUNT; i++)
        names[i] = suites[i].name;
    const char *const nearest = text_nearest(word, names);
    fprintf(stderr, "check: no suite is named %s; %s%s\n", word,
            nearest != NULL ? "did you mean " : "check -l lists them",
            nearest != NULL ? nearest : "");
    return 2;
}

static bool choose(const char *word)
{
    bool found = false;
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (text_glob(word, suites[i].name))
            found = chosen[i] = true;
    return found;
}

static int list(void)
{
    for (size_t i = 0; i < SUITE_COUNT; i++)
        puts(suites[i].name);
    return 0;
}

static void choose_all(bool quick)
{
    for (size_t i = 0; i < SUITE_COUNT; i++)
        chosen[i] = !quick || suites[i].kind == QUICK;
}

/* The totals as Check prints them, and in words with what was skipped. */
static int closing_lines(void)
{
    const unsigned ran = testing_counts->ran;
    const unsigned failed = testing_counts->failures + testing_counts->errors;
    const unsigned skipped = testing_counts->skipped;
    const unsigned good = ran > failed ? ran - failed : 0;
    if (slow && testing_counts->undrawn > 0)
        printf("%u slow tests were not drawn (SLOW_EVERY=%s)\n",
               testing_counts->undrawn, getenv("SLOW_EVERY"));
    printf("%u%%: Checks: %u, Failures: %u, Errors: %u\n",
           ran > 0 ? 100 * good / ran : 100, ran, testing_counts->failures,
           testing_counts->errors);
    printf("%u passed, %u failed, %u skipped\n",
           good > skipped ? good - skipped : 0, failed, skipped);
    return failed > 0;
}

int main(int argc, char **argv)
{
    long workers = sysconf(_SC_NPROCESSORS_ONLN);
    bool quick = false;
    int option;
    while ((option = getopt(argc, argv, "lqsj:")) != -1)
        if (option == 'l')
            return list();
        else if (option == 'q')
            quick = true;
        else if (option == 's')
            slow = true;
        else if (option != 'j' || (workers = atol(optarg)) < 1)
            return usage("%s",
                         option == 'j' ? "check: -j takes 1 or more\n" : "");
    for (int i = optind; i < argc; i++)
        if (!choose(argv[i]))
            return no_such_suite(argv[i]);
    if (optind == argc)
        choose_all(quick);
    setenv("CK_DEFAULT_TIMEOUT", "20", 0); /* Check's 4 s fail a busy machine */
    testing_begin();
    testing_counts->whole =
        optind == argc && !quick && !slow && getenv("CK_RUN_CASE") == NULL;
    run_all(workers);
    run_last();
    const int status = closing_lines();
    testing_end();
    return status;
}
