#include "truth/made.h"

#include <stdlib.h>

#include "base/mem.h"
#include "study/instruction/isa.h"
#include "testing.h"

/* All that `isa` knows would take minutes. */
static const char *const few[] = {"add.u32", "fma.rn.f32", "mul.lo.u32"};
static const struct isa_wish some_of_isa = {
    .patterns = few, .pattern_count = COUNT_OF(few), .levels = 1u << 3};

struct found *made_measured(char *profile, const char *study)
{
    const struct prober_options options = {.seed = 1};
    struct found *const f = xcalloc(1, sizeof *f);
    enum { STUDIES_MOST = 64 };
    const char *names[STUDIES_MOST] = {study};
    const size_t count = 1 + plan_rivals(names, 1, names + 1);
    struct error err = {0};
    f->device = testing_sim_of(profile, 1);
    f->prober = prober_new(f->device, NULL, &options);
    struct lab lab = {.prober = f->prober,
                      .info = prober_info(f->prober),
                      .isa = &some_of_isa,
                      .results = &f->results};
    ASSERT_DONE(plan_run(&lab, names, count, &err), err);
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
