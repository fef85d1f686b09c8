#include "truth/made.h"

#include <stdlib.h>

#include "base/mem.h"
#include "probe/record.h"
#include "study/instruction/isa.h"
#include "testing.h"

/* All that `isa` knows would take minutes. */
static const char *const few[] = {"add.u32", "fma.rn.f32", "mul.lo.u32"};
static const struct isa_wish some_of_isa = {
    .patterns = few, .pattern_count = COUNT_OF(few), .levels = 1u << 3};

/* The study, and those that propose what it finds. */
static int run_study(struct found *f, const char *study, struct error *err)
{
    const struct prober_options options = {.seed = 1};
    enum { STUDIES_MOST = 64 };
    const char *names[STUDIES_MOST] = {study};
    const size_t count = 1 + plan_rivals(names, 1, names + 1);
    f->prober = prober_new(f->device, f->recording, &options);
    struct lab lab = {.prober = f->prober,
                      .info = prober_info(f->prober),
                      .isa = &some_of_isa,
                      .results = &f->results};
    return plan_run(&lab, names, count, err);
}

struct found *made_measured(char *profile, const char *study)
{
    struct found *const f = xcalloc(1, sizeof *f);
    struct error err = {0};
    f->device = testing_sim_of(profile, 1);
    f->recording = recording_new(&f->device->info, 1);
    ASSERT_DONE(run_study(f, study, &err), err);
    free(profile);
    return f;
}

struct found *made_replayed(const struct found *measured, const char *study)
{
    struct found *f = xcalloc(1, sizeof *f);
    char *const path = testing_file("made.rec", "");
    struct error err = {0};
    ASSERT_DONE(recording_write(measured->recording, path, &err), err);
    ASSERT_DONE(recording_read(path, &f->recording, &err), err);
    if (run_study(f, study, &err) != 0) {
        made_done(f);
        f = NULL;
    }
    free(path);
    return f;
}

void made_done(struct found *f)
{
    if (f == NULL)
        return;
    results_free(&f->results);
    prober_free(f->prober);
    recording_free(f->recording);
    if (f->device != NULL)
        device_close(f->device);
    free(f);
}
