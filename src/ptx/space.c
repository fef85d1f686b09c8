#include "ptx/space.h"

#include <string.h>

#include "base/buf.h"

static const char *const global_ops[] = {"ca", "cg", "cs", "lu", "cv", NULL};
static const char *const no_ops[] = {"none", NULL};

const struct space space_table[] = {
    {.name = "global",
     .ops = global_ops,
     .memory = MEMORY_GLOBAL,
     .load = "ld.global$o.u64 $d, [$a];",
     .load_word = "ld.global$o.u32 $d, [$a];",
     .pointer_bytes = 8,
     .spread = 1,
     .help = "global memory; op says which caches may hold it"},
    {.name = "readonly",
     .ops = no_ops,
     .memory = MEMORY_GLOBAL,
     .load = "ld.global.nc$o.u64 $d, [$a];",
     .load_word = "ld.global.nc$o.u32 $d, [$a];",
     .pointer_bytes = 8,
     .spread = 1,
     .help = "global memory through the read-only path (ld.global.nc)"},
    {.name = "texture",
     .ops = no_ops,
     .memory = MEMORY_GLOBAL,
     .load = "tex.1d.v4.u32.s32 {$d, %texel1, %texel2, %texel3}, "
             "[%texture, {$a}];",
     .pointer_bytes = 4,
     .texture = true,
     .spread = 1,
     .help = "global memory through a texture object of 32-bit texels"},
    {.name = "constant",
     .ops = no_ops,
     .memory = MEMORY_CONSTANT,
     .load = "ld.const$o.u32 $d, [$a];",
     .pointer_bytes = 4,
     .spread = 1,
     .help = "constant memory of the module, 64 KiB"},
    {.name = "local",
     .ops = no_ops,
     .memory = MEMORY_LOCAL,
     .load = "ld.local$o.u32 $d, [$a];",
     .pointer_bytes = 4,
     .spread = 32,
     .help = "local memory of the thread; 32 threads' words lie side by side"},
    {.name = "shared",
     .ops = no_ops,
     .memory = MEMORY_SHARED,
     .load = "ld.shared$o.u32 $d, [$a];",
     .pointer_bytes = 4,
     .spread = 1,
     .help = "shared memory of the block"},
    {.name = "shared_indexed",
     .ops = no_ops,
     .memory = MEMORY_SHARED,
     .load = "ld.shared$o.u32 $d, [$a];",
     .pointer_bytes = 4,
     .indexed = true,
     .spread = 1,
     .help = "the same by index, as `j = a[j]` compiles: address arithmetic "
             "is in the chain"},
    {.name = NULL},
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
    for (const char *const *o = space->ops; *o != NULL; o++)
        if (strcmp(*o, op) == 0)
            return true;
    return false;
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

void space_load(struct kernel_text *k, const char *format, const char *op,
                const char *into, const char *address)
{
    struct buf line = {0};
    const bool plain = strcmp(op, "default") == 0 || strcmp(op, "none") == 0;
    for (const char *c = format; *c != '\0'; c++) {
        if (*c != '$') {
            buf_append(&line, c, 1);
            continue;
        }
        c++;
        if (*c == 'o')
            buf_printf(&line, "%s%s", plain ? "" : ".", plain ? "" : op);
        else
            buf_text(&line, *c == 'd' ? into : address);
    }
    ptx_with(k, "$buf_string", WORD(buf_string, buf_string(&line)));
    buf_free(&line);
}
