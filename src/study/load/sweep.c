#include "study/load/sweep.h"

struct sweep sweep_begin(struct lab *lab, const char *component,
                         const char *attribute, const char *name)
{
    return (struct sweep){.lab = lab,
                          .finding = lab_finding(lab, component, attribute),
                          .name = name,
                          .at = value_list(),
                          .values = value_list()};
}

void sweep_add(struct sweep *s, struct value at, double value,
               const char *experiment)
{
    if (!lab_ok(s->lab)) {
        value_free(&at);
        return;
    }
    value_push(&s->at, at);
    value_push(&s->values, value_number(value));
    finding_cite(s->finding, experiment);
}

bool sweep_end(struct sweep *s)
{
    if (lab_ok(s->lab)) {
        finding_value(s->finding, STATUS_MEASURED, s->values);
        if (s->name != NULL)
            finding_protocol(s->finding, s->name, s->at);
        else
            value_free(&s->at);
        return true;
    }
    value_free(&s->at);
    value_free(&s->values);
    const char *const why = lab_excuse(s->lab);
    if (why != NULL)
        finding_none(s->finding, "%s", why);
    return false;
}
