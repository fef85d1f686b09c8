#include "ptx/space.h"

#include <string.h>

#include "base/text.h"

static const char *const global_ops[] = {"ca", "cg", "cs", "lu", "cv", NULL};
static const char *const no_ops[] = {"none", NULL};

static const struct space space_table[] = {
#define SPACE(word, ...) {.name = word, __VA_ARGS__},
#include "ptx/spaces.def"
#undef SPACE
    {.name = NULL},
};

const char *const space_names[] = {
#define SPACE(word, ...) word,
#include "ptx/spaces.def"
#undef SPACE
    NULL,
};

const struct space *space_find(const char *name)
{
    for (const struct space *s = space_table; s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

bool space_has_op(const struct space *space, const char *op)
{
    return text_is_among(op, space->ops);
}

unsigned space_unit(const struct space *space)
{
    return space->texture || space->indexed ? space->pointer_bytes
                                            : space->spread;
}

void space_declare(struct kernel_text *k, const struct space *space)
{
    if (space->texture) {
        ptx(k, ".reg .b64 %texture;\n"
               ".reg .b32 %texel1, %texel2, %texel3;\n");
    }
}

/* Constants have 64-bit addresses here, since only so wide a register holds the
 * address of any variable. */
static bool is_wide(const struct space *space)
{
    return !space->texture && space->memory != MEMORY_LOCAL;
}

const char *space_address(struct kernel_text *k, const struct space *space)
{
    if (is_wide(space)) {
        ptx_with(k,
                 "mov.u64 %next, $bank;\n"
                 "add.u64 %address, %next, %offset;\n",
                 WORD(bank, space->memory == MEMORY_GLOBAL ? "%base" : "bank"));
        return "%address";
    }
    ptx_with(k,
             "shr.u64 %next, %offset, $spread;\n"
             "cvt.u32.u64 %at32, %next;\n",
             WORD(spread, space->texture ? 2 : __builtin_ctz(space->spread)));
    if (!space->texture)
        ptx(k, "mov.u32 %value, own;\n"
               "add.u32 %at32, %at32, %value;\n");
    return "%at32";
}

const char *space_word_load(const struct space *space)
{
    return space->load_word != NULL ? space->load_word : space->load;
}

void space_load(struct kernel_text *k, const char *format, const char *op,
                const char *into, const char *address)
{
    const bool plain = strcmp(op, "default") == 0 || strcmp(op, "none") == 0;
    ptx_with(k, format, WORD(o, plain ? "" : "."), WORD(op, plain ? "" : op),
             WORD(d, into), WORD(a, address));
}
