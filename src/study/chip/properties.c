/* What the driver itself reports (Groessler 2022, 4.1); nothing is measured. */
#include "study/lab.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {
#define PROPERTY(id, finding, unit, text) finding,
#include "device/properties.def"
#undef PROPERTY
    NULL,
};

static int run(struct lab *lab, struct error *err)
{
    (void)err;
    for (enum device_property i = 0; i < PROPERTY_COUNT; i++) {
        struct finding *const f =
            results_add(lab->results, property_finding(i), lab->study->name);
        finding_method(f, property_text(i));
        if (lab->info->value[i] < 0)
            finding_none(f, "the driver does not report it");
        else
            finding_set(f, STATUS_REPORTED,
                        value_number((double)lab->info->value[i]),
                        property_unit(i));
    }
    return 0;
}

const struct study study_properties = {
    .name = "properties",
    .question = "What does the driver say of the GPU?",
    .method = "The driver's and the management library's own figures, not "
              "measured.",
    .needs = needs,
    .gives = gives,
    .run_err = run,
};
