/* Devices for tests; apart from testing.c, so that tests of the lower rooms
 * link without the devices. */
#include <stdlib.h>

#include "base/mem.h"
#include "device/device.h"
#include "probe/run.h"
#include "testing.h"

struct device *testing_sim(const char *profile, uint64_t seed)
{
    char *const spec = xasprintf("sim:%s", profile);
    const struct device_options options = {.seed = seed, .no_cache = true};
    struct device *device;
    struct error err;
    ASSERT_DONE(device_open(spec, &options, &device, NULL, &err), err);
    free(spec);
    return device;
}

struct device *testing_sim_of(const char *json, uint64_t seed)
{
    char *const path = testing_file("profile.json", json);
    struct device *const device = testing_sim(path, seed);
    free(path);
    return device;
}

int testing_run_on(struct device *device, const char *text,
                   struct samples *samples, struct error *err)
{
    const struct prober_options options = {.seed = 1};
    struct prober *const prober = prober_new(device, NULL, &options);
    const int status = prober_run(prober, text, samples, NULL, err);
    prober_free(prober);
    return status;
}

int testing_run(const char *profile, const char *text, struct samples *samples,
                struct error *err)
{
    struct device *const device = testing_sim(profile, 1);
    const int status = testing_run_on(device, text, samples, err);
    device_close(device);
    return status;
}

char *testing_spec_of(char *json)
{
    char *const path = testing_file("profile.json", json);
    char *const spec = xasprintf("sim:%s", path);
    free(path);
    free(json);
    return spec;
}
