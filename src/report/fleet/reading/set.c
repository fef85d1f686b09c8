/* The end of what was read. */
#include <stdlib.h>

#include "report/fleet/fleet.h"

void fleet_gpu_free(struct fleet_gpu *g)
{
    free(g->path);
    free(g->host);
    free(g->uuid);
    free(g->spec);
    free(g->start);
    free(g->id);
    free(g->values);
}

void fleet_set_free(struct fleet_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        fleet_gpu_free(&set->gpus[i]);
    for (size_t i = 0; i < set->note_count; i++) {
        free(set->notes[i].path);
        free(set->notes[i].why);
    }
    free(set->gpus);
    free(set->notes);
    *set = (struct fleet_set){0};
}
