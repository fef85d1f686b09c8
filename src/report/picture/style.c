#include "report/picture/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

/* Colours in light and in dark; a kind of box has that of its name.  Text
 * has a contrast of 4.5 : 1 at least, which a test computes. */
static const struct colour {
    const char *name, *light, *dark;
    bool box;
} colours[] = {
    {"ink", "#1b1b1b", "#eeeeee", false},
    {"faint", "#565656", "#c0c0c0", false},
    {"edge", "#777777", "#8a8a8a", false},
    {"first", "#a87400", "#e0a92e", false},
    {"doubt", "#a03a00", "#ffb27c", false},
    {"hatch", "#b5b5b5", "#5c6168", false},
    {"gpu", "#f3f3f1", "#1b1e22", true},
    {"sm", "#ffffff", "#24282d", true},
    {"one", "#ffd25c", "#7a5a00", true},
    {"each", "#ffffff", "#30353b", true},
    {"memory", "#f9e3e0", "#4a2b28", true},
    {"l2", "#dce8f6", "#20344d", true},
    {"half", "#eef4fb", "#1a2737", true},
    {"sms", "#eef4fb", "#1a2737", true},
    {"slice", "#8fb3dc", "#5883b5", true},
    {"gpc", "#e3e3df", "#3a3f45", true},
    {"tpc", "#cfcfca", "#4a5057", true},
    {"group", "#e6e6e2", "#2d3136", true},
    {"part", "#f3f3f1", "#2d3136", true},
    {"data", "#dce8f6", "#20344d", true},
    {"path", "#f1f6fc", "#182434", true},
    {"shared", "#d9efeb", "#1c3f3a", true},
    {"constant", "#e4f1d3", "#2f401d", true},
    {"code", "#fdeec6", "#483b15", true},
    {"translation", "#ebe3f5", "#392e4d", true},
    {"key", "#ffffff", "#24282d", true},
};

/* What a selector has; $NAME is the colour of that name. */
static const struct rule {
    const char *selector, *properties;
} rules[] = {
    {"text", "fill:$ink;stroke:none"},
    {"rect", "stroke:$edge"},
    {".title", "font-size:16px;font-weight:bold"},
    {".number", "font-size:10px;text-anchor:middle"},
    {".label", "fill:$faint"},
    {".note", "fill:$faint"},
    {".slice>rect", "stroke:none"},
    {".one>rect", "stroke:$first;stroke-width:2"},
    {".sm>rect", "stroke:$first;stroke-width:2.5"},
    {".bound>rect", "stroke:$ink;stroke-width:1.5;stroke-dasharray:5 3"},
    {".doubt>rect", "stroke:$doubt;stroke-width:1.5"},
    {".doubt>.text", "fill:$doubt"},
    {".doubt>.label", "fill:$doubt"},
    {".warning>.text", "fill:$doubt"},
    {".row>rect", "fill:none;stroke-width:1"},
    {".hatch", "fill:none;stroke:$hatch"},
};

static const char whole[] =
    "font-family:\"Helvetica Neue\",Arial,\"Liberation Sans\","
    "\"DejaVu Sans\",sans-serif;font-size:14px;max-width:100%;height:auto;"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact";

/* On one page, since what is drawn does not break. */
static const char on_paper[] = "max-height:94vh;width:100%";

static void put_colours(struct buf *out, bool dark)
{
    buf_text(out, ".sonde-picture{");
    for (size_t i = 0; i < COUNT_OF(colours); i++)
        buf_printf(out, "%s--%s:%s", i > 0 ? ";" : "", colours[i].name,
                   dark ? colours[i].dark : colours[i].light);
    buf_text(out, "}\n");
}

static const struct colour *colour_find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(colours); i++)
        if (strlen(colours[i].name) == length &&
            strncmp(colours[i].name, name, length) == 0)
            return &colours[i];
    return NULL;
}

/* One with a colour twice: viewers that know no variables keep the light one.
 */
static void put_property(struct buf *out, const char *text, size_t length)
{
    const char *const dollar = memchr(text, '$', length);
    if (dollar == NULL) {
        buf_append(out, text, length);
        return;
    }
    const int before = (int)(dollar - text);
    const struct colour *const c =
        colour_find(dollar + 1, length - (size_t)before - 1);
    buf_printf(out, "%.*s%s;%.*svar(--%s)", before, text, c->light, before,
               text, c->name);
}

static void put_rule(struct buf *out, const struct rule *rule)
{
    buf_printf(out, ".sonde-picture %s{", rule->selector);
    for (const char *p = rule->properties; *p != '\0';) {
        const size_t length = strcspn(p, ";");
        put_property(out, p, length);
        p += length;
        if (*p == ';') {
            buf_text(out, ";");
            p++;
        }
    }
    buf_text(out, "}\n");
}

void style_write(struct buf *out)
{
    buf_text(out, "<style>\n");
    put_colours(out, false);
    buf_text(out, "@media screen and (prefers-color-scheme:dark){");
    put_colours(out, true);
    buf_printf(out, "}\n.sonde-picture{%s}\n", whole);
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        put_rule(out, &rules[i]);
    for (size_t i = 0; i < COUNT_OF(colours); i++)
        if (colours[i].box)
            buf_printf(out, ".sonde-picture .%s>rect{fill:%s;fill:var(--%s)}\n",
                       colours[i].name, colours[i].light, colours[i].name);
    buf_printf(out, "@media print{.sonde-picture{%s}}\n</style>\n", on_paper);
}
