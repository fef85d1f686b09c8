#include "truth/made.h"

#include <stdio.h>
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

struct ear {
    struct lab lab;
    const char *study, *component, *attribute;
    struct proposed heard;
};

/* Before each study: before the judge, too, who is the last. */
static void listen(void *context, const struct study *study, size_t done,
                   size_t total)
{
    struct ear *const e = context;
    const struct finding *const f =
        lab_proposal(&e->lab, e->study, e->component, e->attribute);
    (void)study, (void)done, (void)total;
    if (f == NULL)
        return;
    e->heard = (struct proposed){
        .status = f->status,
        .number = f->value.kind == VALUE_NUMBER ? f->value.number : 0};
    snprintf(e->heard.because, sizeof e->heard.because, "%s",
             f->because != NULL ? f->because : "");
}

struct proposed made_proposed(char *profile, const char *study,
                              const char *component, const char *attribute)
{
    const struct prober_options options = {.seed = 1};
    struct device *const device = testing_sim_of(profile, 1);
    struct prober *const prober = prober_new(device, NULL, &options);
    struct results results = {0};
    struct ear e = {.lab = {.prober = prober,
                            .info = prober_info(prober),
                            .results = &results,
                            .watch = listen,
                            .context = &e},
                    .study = study,
                    .component = component,
                    .attribute = attribute,
                    .heard = {.status = STATUS_NOT_MEASURED}};
    struct error err = {0};
    ASSERT_DONE(plan_run(&e.lab, &study, 1, &err), err);
    results_free(&results);
    prober_free(prober);
    device_close(device);
    free(profile);
    return e.heard;
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
