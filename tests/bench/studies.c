/*
 * What the studies cost, in seconds of the host on simulated GPUs: each study
 * on some shipped profiles, and all of them together on GPUs with an L1, or an
 * L2, of growing size; but for those that run only when they are named.  An
 * instruction of a warp counts once, however many lanes it has; most are loads
 * of a chase.
 *
 *     studies [REPEATS]        how often each size is measured; 3
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/mem.h"
#include "base/stop.h"
#include "device/sim/sim.h"
#include "gpu_made.h"
#include "study/lab.h"

enum { STUDIES_MOST = 64, REPEATS = 3, REPEATS_MOST = 99 };
enum { KIB = 1024, MIB = 1024 * 1024 };

static void stop_on(int code, const struct error *err)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* ---- one run of all studies ---- */

struct run {
    double seconds[STUDIES_MOST]; /* of each study of study_table */
    double total;
    uint64_t instructions;
    /* The study that runs, since when. */
    size_t current;
    double since;
};

static size_t index_of(const struct study *study)
{
    size_t i = 0;
    while (study_table[i] != study)
        i++;
    return i;
}

static void end_study(struct run *run)
{
    const double now = now_seconds();
    run->seconds[run->current] += now - run->since;
    run->since = now;
}

static void see(void *context, const struct study *study, size_t done,
                size_t total)
{
    struct run *const run = context;
    (void)done, (void)total;
    end_study(run);
    run->current = index_of(study);
}

static size_t study_names(const char *names[STUDIES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; study_table[i] != NULL && count < STUDIES_MOST; i++)
        if (!study_table[i]->apart)
            names[count++] = study_table[i]->name;
    return count;
}

/* Takes the profile. */
static struct run run_all(struct profile *profile, uint64_t seed)
{
    const char *names[STUDIES_MOST];
    const size_t count = study_names(names);
    struct error err;
    struct results results = {0};
    struct device *const device = sim_open_profile(profile, "bench", seed);
    struct prober *const prober =
        prober_new(device, NULL, &(struct prober_options){.seed = seed});
    struct run run = {.since = now_seconds()};
    const double began = run.since;
    struct lab lab = {.prober = prober,
                      .info = prober_info(prober),
                      .results = &results,
                      .watch = see,
                      .context = &run};
    stop_on(plan_run(&lab, names, count, &err), &err);
    end_study(&run);
    run.total = run.since - began;
    run.instructions = sim_instructions(device);
    prober_free(prober);
    device_close(device);
    results_free(&results);
    return run;
}

/* ---- each study ---- */

static struct run run_shipped(const char *name)
{
    struct profile *profile;
    struct error err;
    stop_on(profile_open(name, NULL, &profile, &err), &err);
    return run_all(profile, 1);
}

static void show_studies(void)
{
    static const char *const gpus[] = {"gtx560ti", "gtx780", "p6000", "v100"};
    struct run runs[COUNT_OF(gpus)];
    printf("%-20s", "seconds of study");
    for (size_t i = 0; i < COUNT_OF(gpus); i++) {
        runs[i] = run_shipped(gpus[i]);
        printf("%10s", gpus[i]);
    }
    putchar('\n');
    for (size_t s = 0; study_table[s] != NULL; s++) {
        if (study_table[s]->apart)
            continue;
        printf("  %-18s", study_table[s]->name);
        for (size_t i = 0; i < COUNT_OF(gpus); i++)
            printf("%10.3f", runs[i].seconds[s]);
        putchar('\n');
    }
    printf("  %-18s", "all");
    for (size_t i = 0; i < COUNT_OF(gpus); i++)
        printf("%10.3f", runs[i].total);
    puts("\n");
}

/* ---- growing caches ---- */

enum { L1_LEAST = 16 * KIB, L2_USUAL = 4 * MIB, LINE = 128, WAYS = 16 };

static struct profile *gpu_with(uint64_t l1, uint64_t l2)
{
    struct profile *profile;
    struct error err;
    char *const text = gpu_made(
        "compute_capability='9.0' sms=16 max_blocks_per_sm=32 "
        "memory_bytes=17179869184 "
        "caches/l1={'line': %d, 'sector': 32, 'sets': %" PRIu64 ", 'ways': %d} "
        "caches/l2={'line': %d, 'sector': 32, 'sets': %" PRIu64
        ", 'ways': %d, 'scope': 'gpu'} "
        "tlbs/l1={'page': 2097152, 'entries': 32} "
        "paths/global.ca={'l1': 32, 'l2': 280, 'memory': [650, 650, 700]} "
        "paths/global.cg={'l2': 280, 'memory': [650, 650, 700]} "
        "shared_memory={'bytes': 65536, 'latency': 29, 'conflict_cycles': 2} "
        "isa/default/O0=15 noise={'jitter_cycles': 1.5, "
        "                         'spike_rate': 0.002, 'spike_cycles': 300}",
        LINE, l1 / LINE / WAYS, WAYS, LINE, l2 / LINE / WAYS, WAYS);
    stop_on(profile_parse(text, "bench", &profile, &err), &err);
    free(text);
    return profile;
}

static void show_size(const char *cache, uint64_t size, uint64_t l1,
                      uint64_t l2, size_t repeats)
{
    double seconds[REPEATS_MOST], least = 0, most = 0;
    uint64_t instructions = 0;
    for (size_t i = 0; i < repeats; i++) {
        const struct run run = run_all(gpu_with(l1, l2), i + 1);
        seconds[i] = run.total;
        instructions += run.instructions / repeats;
        least = i == 0 || run.total < least ? run.total : least;
        most = run.total > most ? run.total : most;
    }
    printf("  %-6s %10" PRIu64 " KiB %9.3f s  (%.3f - %.3f) %10.1f\n", cache,
           size / KIB, stats_median(seconds, repeats), least, most,
           (double)instructions * 1e-6);
    fflush(stdout);
}

static void show_sizes(size_t repeats)
{
    printf("all studies, by the size of a cache: median of %zu runs, their "
           "range,\nand millions of simulated instructions\n",
           repeats);
    for (uint64_t l1 = L1_LEAST; l1 <= 256 * KIB; l1 *= 2)
        show_size("L1", l1, l1, L2_USUAL, repeats);
    for (uint64_t l2 = 256 * KIB; l2 <= 128 * MIB; l2 *= 2)
        show_size("L2", l2, L1_LEAST, l2, repeats);
}

int main(int argc, char **argv)
{
    const int asked = argc > 1 ? atoi(argv[1]) : REPEATS;
    if (asked < 1 || asked > REPEATS_MOST) {
        fprintf(stderr, "usage: studies [REPEATS], 1 to %d\n", REPEATS_MOST);
        return 2;
    }
    show_studies();
    show_sizes((size_t)asked);
    return 0;
}
