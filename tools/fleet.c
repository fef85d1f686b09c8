/*
 * Makes the reports of a fleet (tests/fleet_made.h):
 *
 *     build/tools/fleet FOLDER COUNT SEED FAULTS BASE.json...
 *
 * GPU i is of the base i modulo their number, and FAULTS of them, of the eight
 * kinds in turn, have a fault: FOLDER.planted says which, a line each, as
 * "UUID KIND FINDING".  Then: sonde fleet FOLDER.  tools/fleet.sh does all
 * that, and counts what was found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "fleet_made.h"

static json_t *load(const char *path)
{
    json_error_t why;
    json_t *const base = json_load_file(path, 0, &why);
    if (base == NULL) {
        fprintf(stderr, "fleet: %s: %s\n", path, why.text);
        exit(2);
    }
    fleet_made_base(base);
    return base;
}

/* Of `count` GPUs as many as there are faults have one, all over the fleet. */
static enum fleet_fault fault_of(size_t index, size_t count, size_t faults)
{
    const size_t each = faults > 0 ? count / faults : 0;
    if (each == 0 || index % each != each / 2 || index / each >= faults)
        return FAULT_NONE_PLANTED;
    return (enum fleet_fault)(1 + index / each % (FLEET_FAULTS - 1));
}

static void write_one(const char *folder, json_t *report, size_t index)
{
    char *const host = fleet_made_host(index);
    char *const below = xasprintf("%s/%s", folder, host);
    char *const path = xasprintf("%s/%zu.json", below, index);
    mkdir(below, 0777);
    if (json_dump_file(report, path, JSON_INDENT(2)) != 0) {
        fprintf(stderr, "fleet: cannot write %s\n", path);
        exit(2);
    }
    json_decref(report);
    free(host);
    free(below);
    free(path);
}

static void tell(FILE *planted, uint64_t seed, size_t index,
                 enum fleet_fault fault)
{
    char *const uuid = fleet_made_uuid(seed, index);
    if (fault != FAULT_NONE_PLANTED)
        fprintf(planted, "%s\t%s\t%s\n", uuid, fleet_fault_name(fault),
                fleet_fault_finding(fault));
    free(uuid);
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: fleet FOLDER COUNT SEED FAULTS BASE.json...\n");
        return 2;
    }
    const char *const folder = argv[1];
    const size_t count = strtoul(argv[2], NULL, 10),
                 faults = strtoul(argv[4], NULL, 10), bases = (size_t)argc - 5;
    const uint64_t seed = strtoull(argv[3], NULL, 10);
    char *const list = xasprintf("%s.planted", folder);
    json_t **const base = xcalloc(bases, sizeof *base);
    for (size_t i = 0; i < bases; i++)
        base[i] = load(argv[5 + i]);
    mkdir(folder, 0777);
    FILE *const planted = fopen(list, "w");
    if (planted == NULL)
        return 2;
    for (size_t i = 0; i < count; i++) {
        const enum fleet_fault fault = fault_of(i, count, faults);
        write_one(folder, fleet_made_report(base[i % bases], seed, i, fault),
                  i);
        tell(planted, seed, i, fault);
    }
    fclose(planted);
    for (size_t i = 0; i < bases; i++)
        json_decref(base[i]);
    free(base);
    free(list);
    return 0;
}
