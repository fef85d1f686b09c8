#include "study/load/sweep.h"

#include <math.h>

struct sweep sweep_begin(struct lab *lab, const char *component,
                         const char *attribute, const char *name)
{
    return (struct sweep){.lab = lab,
                          .finding = lab_finding(lab, component, attribute),
                          .name = name,
                          .at = value_list(),
                          .values = value_list(),
                          .low = value_list(),
                          .high = value_list()};
}

void sweep_add_within(struct sweep *s, struct value at, double value,
                      double low, double high, const char *experiment)
{
    if (!lab_ok(s->lab)) {
        value_free(&at);
        return;
    }
    value_push(&s->at, at);
    value_push(&s->values, value_number(value));
    s->unbounded |= !isfinite(low) || !isfinite(high);
    value_push(&s->low, value_number(low));
    value_push(&s->high, value_number(high));
    finding_cite(s->finding, experiment);
}

void sweep_add(struct sweep *s, struct value at, double value,
               const char *experiment)
{
    sweep_add_within(s, at, value, -INFINITY, INFINITY, experiment);
}

/* Says it, if it is to be said. */
static void say(struct finding *f, bool is_to_be, const char *name,
                struct value list)
{
    if (is_to_be)
        finding_protocol(f, name, list);
    else
        value_free(&list);
}

bool sweep_end(struct sweep *s)
{
    const bool ok = lab_ok(s->lab);
    const bool bounded = ok && !s->unbounded && s->values.count > 0;
    say(s->finding, ok && s->name != NULL, s->name, s->at);
    say(s->finding, bounded, "low", s->low);
    say(s->finding, bounded, "high", s->high);
    if (ok) {
        finding_value(s->finding, STATUS_MEASURED, s->values);
        return true;
    }
    value_free(&s->values);
    const char *const why = lab_excuse(s->lab);
    if (why != NULL)
        finding_none(s->finding, "%s", why);
    return false;
}
