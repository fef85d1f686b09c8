#include "report/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void put_quoted(struct buf *out, const char *text)
{
    buf_text(out, "\"");
    for (; *text != '\0'; text++)
        buf_printf(out, *text == '"' ? "\"%c" : "%c", *text);
    buf_text(out, "\"");
}

void csv_field(struct buf *out, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    struct buf field = {0};
    if (strchr("=+-@", text[0]) != NULL)
        buf_text(&field, "'");
    text_put_plain(&field, text);
    if (strpbrk(field.data, ",\"") != NULL)
        put_quoted(out, field.data);
    else
        buf_text(out, field.data);
    buf_free(&field);
}

void csv_end(struct buf *out)
{
    buf_text(out, "\r\n");
}
