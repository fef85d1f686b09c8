/*
 * The probe `machine`: the machine code of a kernel of probe/timed.h, as the
 * assembler made it: two words of 64 bits an instruction, low one first.
 * Nothing is run.
 */
#include <string.h>

#include "probe/run.h"
#include "probe/timed.h"
#include "ptx/machine.h"

enum column { COLUMN_ADDRESS = 1, COLUMN_LOW, COLUMN_HIGH };

static const struct param params[] = {
    TIMED_PARAMS{0},
};

static const char *const columns[] = {"address", "low", "high", NULL};

static void add_row(struct samples *samples, size_t address,
                    const unsigned char *code)
{
    int64_t *const row = samples_row(samples);
    row[COLUMN_ADDRESS] = (int64_t)address;
    memcpy(&row[COLUMN_LOW], code, 8);
    memcpy(&row[COLUMN_HIGH], code + 8, 8);
}

static int once(struct prober *prober, const struct experiment *e,
                struct samples *samples, struct error *err)
{
    const void *cubin;
    size_t length, bytes = 0;
    if (prober_code(prober, e, &cubin, &length, err) != 0)
        return err->code;
    const unsigned char *const text =
        machine_text(cubin, length, "isa", &bytes);
    if (text == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "machine code not read: the kernel was not found in "
                         "what the driver assembled");
    for (size_t at = 0; at + MACHINE_BYTES <= bytes; at += MACHINE_BYTES)
        add_row(samples, at, text + at);
    return 0;
}

static double figure(const struct experiment *e, const struct samples *samples,
                     size_t from)
{
    (void)e;
    return (double)(samples->rows - from);
}

const struct probe probe_machine = {
    .name = "machine",
    .what = "machine code of the kernel that isa times",
    .params = params,
    .columns = columns,
    .figure = figure,
    .repeats_least = 1,
    .repeats_most = 1,
    .kernel = timed_kernel,
    .once = once,
};
