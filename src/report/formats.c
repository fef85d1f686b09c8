/* The table of report formats: a format is one file and one line of
 * formats.def. */
#include <string.h>

#include "base/mem.h"
#include "report/merge.h"
#include "report/report.h"

const struct report_format *const report_formats[] = {
#define FORMAT(name) &report_##name,
#include "report/formats.def"
#undef FORMAT
    NULL,
};

const struct report_format *report_format_find(const char *name)
{
    for (size_t i = 0; report_formats[i] != NULL; i++)
        if (strcmp(report_formats[i]->name, name) == 0)
            return report_formats[i];
    return NULL;
}

/* True of "a/gpu.mt4g.json" and "mt4g.json": something stands before the dot,
 * since ".json" is a hidden file of no extension. */
static bool has_extension(const char *path, const char *extension)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name), tail = strlen(extension);
    return length > tail + 1 && name[length - tail - 1] == '.' &&
           strcmp(name + length - tail, extension) == 0;
}

const struct report_format *report_format_of_path(const char *path)
{
    const struct report_format *longest = NULL;
    for (size_t i = 0; report_formats[i] != NULL; i++) {
        const struct report_format *const f = report_formats[i];
        if (has_extension(path, f->name) &&
            (longest == NULL || strlen(f->name) > strlen(longest->name)))
            longest = f;
    }
    return longest;
}

char *report_format_names(void)
{
    struct buf names = {0};
    for (size_t i = 0; report_formats[i] != NULL; i++)
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", report_formats[i]->name);
    return buf_take(&names);
}

int report_write(const struct report_format *f,
                 const struct results *const *results, size_t count,
                 const struct report_style *style, struct buf *out,
                 struct error *err)
{
    if (count == 1 && f->write != NULL)
        return f->write(results[0], style, out, err);
    if (f->write_several != NULL)
        return f->write_several(results, count, style, out, err);
    merge_refuse(results[0], results[1], false, err);
    return error_prefix(err, "%s takes reports of one GPU", f->name);
}
