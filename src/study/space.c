#include "study/space.h"

#include <stddef.h>

#include "study/lab.h"

const struct level_row level_table[LEVEL_COUNT] = {
#define LEVEL_OF_GPU(id, name, ...) {.component = name, __VA_ARGS__},
#define LEVEL_OF_SM(id, name, ...)                                             \
    {.component = name, .of_sm = true, __VA_ARGS__},
#include "study/levels.def"
#undef LEVEL_OF_SM
#undef LEVEL_OF_GPU
};

const char *const level_components[LEVEL_COUNT + 1] = {
#define LEVEL_OF_GPU(id, name, ...) name,
#define LEVEL_OF_SM                 LEVEL_OF_GPU
#include "study/levels.def"
#undef LEVEL_OF_SM
#undef LEVEL_OF_GPU
    NULL,
};

const char *const sm_level_components[] = {
#define LEVEL_OF_GPU(id, name, ...)
#define LEVEL_OF_SM(id, name, ...) name,
#include "study/levels.def"
#undef LEVEL_OF_SM
#undef LEVEL_OF_GPU
    NULL,
};

const char *level_ring(const struct level_row *row)
{
    return row->ring != NULL ? row->ring : row->load;
}
