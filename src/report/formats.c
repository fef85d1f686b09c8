/* The table of report formats: a format is one file and one line here. */
#include "report/report.h"

#include <string.h>

static const struct report_format *const report_formats[] = {
    &report_text,
    &report_json,
    &report_table,
    &report_csv,
    NULL,
};

const struct report_format *report_format_find(const char *name)
{
    for (size_t i = 0; report_formats[i] != NULL; i++)
        if (strcmp(report_formats[i]->name, name) == 0)
            return report_formats[i];
    return NULL;
}
