/* What the driver itself reports (Groessler 2022, 4.1); nothing is measured. */
#include "study/lab.h"

static const struct answer answers[] = {
#define PROPERTY(id, component, attribute, unit, text)                         \
    {ONE(component), attribute, unit},
#include "device/properties.def"
#undef PROPERTY
    {0},
};

static void properties_run(struct lab *lab)
{
    for (enum device_property i = 0; i < PROPERTY_COUNT; i++) {
        const struct answer *const a = &answers[i];
        struct finding *const f =
            lab_finding(lab, a->components[0], a->attribute);
        finding_method(f, property_text(i));
        if (lab->info->value[i] < 0)
            finding_none(f, why_unreported);
        else
            finding_value(f, STATUS_REPORTED,
                          value_number((double)lab->info->value[i]));
    }
}

const struct study study_properties = {
    .name = "properties",
    .question = "What does the driver say of the GPU?",
    .method = "The driver's and the management library's own figures, not "
              "measured.",
    .answers = answers,
    .run = properties_run,
};
