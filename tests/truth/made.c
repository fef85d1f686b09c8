#include "truth/made.h"

#include <stdlib.h>

#include "base/mem.h"
#include "testing.h"

struct found *made_measured(char *profile, const char *study)
{
    const struct prober_options options = {.seed = 1};
    struct found *const f = xcalloc(1, sizeof *f);
    struct error err = {0};
    f->device = testing_sim_of(profile, 1);
    f->prober = prober_new(f->device, NULL, &options);
    struct lab lab = {.prober = f->prober,
                      .info = prober_info(f->prober),
                      .results = &f->results};
    ASSERT_DONE(plan_run(&lab, &study, 1, &err), err);
    free(profile);
    return f;
}

void made_done(struct found *f)
{
    results_free(&f->results);
    prober_free(f->prober);
    device_close(f->device);
    free(f);
}
