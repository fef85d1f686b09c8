/*
 * The probe `wires`: what is told of the GPU's links to others and to the host.
 * It runs no kernel; it is a probe so that a recording knows the answer, too.
 */
#include "probe/check.h"
#include "probe/run.h"

static const struct param wires_params[] = {{0}};

static int wires_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    int64_t told[WIRE_COUNT];
    (void)e;
    if (device_wires(prober_device(prober), told, err) != 0)
        return err->code;
    int64_t *const row = samples_row(samples);
    for (int i = 0; i < WIRE_COUNT; i++)
        row[1 + i] = told[i];
    return 0;
}

static const char *const columns[] = {
#define WIRE(id, name, text) name,
#include "device/wires.def"
#undef WIRE
    NULL,
};

const struct probe probe_wires = {
    .name = "wires",
    .what = "what is told of the GPU's links: NVLinks, PCI Express, NUMA node",
    .params = wires_params,
    .columns = columns,
    .figure_column = 1,
    .repeats_least = 1,
    .repeats_most = 1,
    .once = wires_once,
    .sound = rows_are_one,
};
