#include "ptx/instruction.h"

#include <string.h>

const char *const category_names[CATEGORY_COUNT] = {
#define X(id, name) name,
    INSTRUCTION_CATEGORIES(X)
#undef X
};

const struct instruction instruction_table[] = {
#define ROW(id, text, ptx, code, ...)                                          \
    {.category = CATEGORY_##id,                                                \
     .name = (text),                                                           \
     .snippet = (ptx),                                                         \
     .machine = (code),                                                        \
     __VA_ARGS__},
#include "ptx/instructions.def"
#undef ROW
    {0},
};

const struct instruction *instruction_find(const char *name)
{
    for (const struct instruction *i = instruction_table; i->name != NULL; i++)
        if (strcmp(i->name, name) == 0)
            return i;
    return NULL;
}
