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

enum { COLUMN_SM = 1 };

static const struct param machine_params[] = {
    SNIPPET_PARAMS,
    {0},
};

static int machine_once(struct prober *prober, const struct experiment *e,
                        struct samples *samples, struct error *err)
{
    const void *file;
    size_t length;
    struct cubin cubin;
    if (prober_code(prober, e, &file, &length, err) != 0 ||
        cubin_read(file, length, "isa", &cubin, err) != 0)
        return err->code;
    for (size_t at = 0; at + SASS_BYTES <= cubin.bytes; at += SASS_BYTES) {
        uint64_t code[2];
        memcpy(code, cubin.text + at, sizeof code);
        samples_add(samples, cubin.sm, code[0], code[1]);
    }
    return 0;
}

const struct probe probe_machine = {
    .name = "machine",
    .what = "machine code of the kernel that isa times",
    .params = machine_params,
    .bytes = sizeof(struct snippet_kernel),
    .columns = TEXTS("sm", "low", "high"),
    .figure_column = COLUMN_SM,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = snippet_kernel_prepare,
    .release = snippet_kernel_release,
    .kernel = snippet_kernel_write,
    .once = machine_once,
};
