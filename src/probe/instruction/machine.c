/*
 * The probe `machine`: the machine code of a kernel of
 * probe/run/snippet_kernel.h, as the assembler made it for the architecture
 * `sm`: two words of 64 bits an instruction, low one first.  Nothing is run.
 */
#include <string.h>

#include "probe/run.h"
#include "probe/run/snippet_kernel.h"
#include "ptx/sass/cubin.h"
#include "ptx/sass/sass.h"

enum column { COLUMN_SM = 1, COLUMN_LOW, COLUMN_HIGH };

static const struct param machine_params[] = {
    SNIPPET_PARAMS,
    {0},
};

static const char *const machine_columns[] = {"sm", "low", "high", NULL};

static void add_row(struct samples *samples, unsigned sm,
                    const unsigned char *code)
{
    int64_t *const row = samples_row(samples);
    row[COLUMN_SM] = (int64_t)sm;
    memcpy(&row[COLUMN_LOW], code, 8);
    memcpy(&row[COLUMN_HIGH], code + 8, 8);
}

static int machine_once(struct prober *prober, const struct experiment *e,
                        struct samples *samples, struct error *err)
{
    const void *file;
    size_t length;
    struct cubin cubin;
    if (prober_code(prober, e, &file, &length, err) != 0 ||
        cubin_read(file, length, "isa", &cubin, err) != 0)
        return err->code;
    for (size_t at = 0; at + SASS_BYTES <= cubin.bytes; at += SASS_BYTES)
        add_row(samples, cubin.sm, cubin.text + at);
    return 0;
}

const struct probe probe_machine = {
    .name = "machine",
    .what = "machine code of the kernel that isa times",
    .params = machine_params,
    .bytes = sizeof(struct snippet_kernel),
    .columns = machine_columns,
    .figure_column = COLUMN_SM,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = snippet_kernel_prepare,
    .release = snippet_kernel_release,
    .kernel = snippet_kernel_write,
    .once = machine_once,
};
