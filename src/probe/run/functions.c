#include "probe/run/functions.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "ptx/kernel.h"

/* Each eighth line, the first and the last among them, has two short functions,
 * so that its halves can be called alone. */
enum { SHORT = 8, PADDINGS = 2 };
/* Of those that only show how the pool is aligned. */
enum { FEW_LINES = 32 * SHORT + 1 };
static_assert(FUNCTION_LINES % SHORT == 1, "the last line is short, too");
static_assert((FUNCTION_LINES - FEW_LINES) * FUNCTION_LINE % FUNCTION_ALIGN ==
                  0,
              "the pool's beginning lies alike, from whichever end");

static size_t functions_of(unsigned lines)
{
    return PADDINGS + lines + lines / SHORT + 1;
}
enum { FUNCTIONS = PADDINGS + FUNCTION_LINES + FUNCTION_LINES / SHORT + 1 };
enum {
    INSTRUCTION = 16,
    WHOLE = FUNCTION_LINE / INSTRUCTION
}; /* since sm_70 */

const struct space code_space = {
    .name = "code",
    .ops = (const char *const[]){"none", NULL},
    .memory = MEMORY_CODE,
    .load = "{\n"
            ".param .b32 in;\n"
            ".param .b32 out;\n"
            "st.param.b32 [in], $d;\n"
            "called: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
            "call (out), $a, (in), called;\n"
            "ld.param.b32 $d, [out];\n"
            "}",
    .pointer_bytes = 8,
    .spread = 1,
    .help = "functions, which are called",
};

/* A sum and an exclusive or in turn cannot be folded; with its return it has so
 * many instructions. */
static void write_function(struct buf *out, const char *name, int number,
                           unsigned instructions)
{
    buf_printf(out,
               ".func (.param .b32 out) %s%05d(.param .b32 in)\n{\n"
               "    .reg .b32 %%a;\n"
               "    ld.param.b32 %%a, [in];\n",
               name, number);
    for (unsigned i = 1; i < instructions; i++)
        buf_text(out, i % 2 == 0 ? "    add.u32 %a, %a, 19088743;\n"
                                 : "    xor.b32 %a, %a, 124076833;\n");
    buf_text(out, "    st.param.b32 [out], %a;\n    ret;\n}\n");
}

void functions_text(struct buf *out, unsigned padding)
{
    struct buf names = {0};
    const unsigned lines = padding == 0 ? FEW_LINES : FUNCTION_LINES;
    int number = 0;
    padding = padding == 0 ? 1 : padding;
    write_function(out, "a", 0, padding);
    for (unsigned line = 0; line < lines; line++)
        for (unsigned i = 0; i < (line % SHORT == 0 ? 2 : 1); i++) {
            buf_printf(&names, ", f%05d", number);
            write_function(out, "f", number++,
                           line % SHORT == 0 ? WHOLE / 2 : WHOLE);
        }
    write_function(out, "z", 0, padding);
    buf_printf(out,
               ".visible .global .u64 functions[%d] = {a00000, z00000%s};\n\n",
               number + PADDINGS, buf_string(&names));
    buf_free(&names);
}

/* More padding, by which a pool that begins at `base` begins aligned; as much
 * as is needed, and no more. */
static unsigned padding_from(unsigned padding, uint64_t base)
{
    const unsigned most = FUNCTION_ALIGN / INSTRUCTION;
    const uint64_t more = (0 - base) % FUNCTION_ALIGN / INSTRUCTION;
    return 1 + (unsigned)((padding - 1 + more) % most);
}

/* Places of a function: those from which its end lies in the same line. */
static void add_places(struct functions *f, uint64_t base, uint64_t from,
                       uint64_t end)
{
    uint64_t at = (from + FUNCTION_UNIT - 1) / FUNCTION_UNIT * FUNCTION_UNIT;
    for (; at < end; at += FUNCTION_UNIT)
        if (at / FUNCTION_LINE == (end - 1) / FUNCTION_LINE && at >= base &&
            at - base < f->bytes)
            f->place[(at - base) / FUNCTION_UNIT] = at;
}

static int read_places(struct functions *f, const uint64_t *where,
                       struct error *err)
{
    const uint64_t base = where[1], end = where[FUNCTIONS - 1];
    if (end - base > 2 * FUNCTION_LINES * FUNCTION_LINE)
        return error_set(
            err, ERR_UNSUPPORTED,
            "functions do not lie one after the other: from %#" PRIx64
            " to %#" PRIx64,
            where[0], end);
    f->bytes = end - base;
    f->place = xcalloc(f->bytes / FUNCTION_UNIT + 1, sizeof *f->place);
    for (size_t k = 1; k + 1 < FUNCTIONS; k++)
        add_places(f, base, where[k], where[k + 1]);
    return 0;
}

int functions_find(struct functions *f, struct device *device,
                   uint64_t variable, struct error *err)
{
    const bool all = f->padding > 0;
    const size_t count = functions_of(all ? FUNCTION_LINES : FEW_LINES);
    uint64_t where[FUNCTIONS];
    if (device_copy_out(device, where, variable, count * sizeof *where, err) !=
        0)
        return err->code;
    qsort(where, count, sizeof *where, u64_compare); /* the first is padding */
    log_say(LOG_DEBUG, "functions: %zu from %#" PRIx64 ", padding %u", count,
            where[1], f->padding);
    f->padding = padding_from(all ? f->padding : 1, where[1]);
    return all && where[1] % FUNCTION_ALIGN == 0 ? read_places(f, where, err)
                                                 : 0;
}

void functions_close(void *functions)
{
    free(((struct functions *)functions)->place);
}

bool functions_has(const struct functions *f, uint64_t offset)
{
    return offset < f->bytes && f->place[offset / FUNCTION_UNIT] != 0;
}
