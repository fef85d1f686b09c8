/* What all parts of the page use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/html/html.h"
#include "report/markup.h"
#include "report/tree.h"

void html_text(const struct html *h, const char *text)
{
    markup_text(h->out, text);
}

void html_element(const struct html *h, const char *tag, const char *text)
{
    buf_printf(h->out, "<%s>", tag);
    html_text(h, text);
    buf_printf(h->out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

char *html_name(const char *id)
{
    const char *const component = tree_component(id);
    const char *const dot = strchr(id, '.');
    if (component == NULL || dot == NULL) {
        char *const words = tree_words(id);
        for (char *c = words; *c != '\0'; c++)
            *c = *c == '.' ? ' ' : *c;
        return words;
    }
    char *const words = tree_words(dot + 1);
    char *const name = xasprintf("%s: %s", component, words);
    free(words);
    return name;
}

/* A policy that lets nothing be loaded, should a text ever come through. */
void html_open(const struct html *h, const char *title)
{
    buf_text(h->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                     "<meta charset=\"utf-8\"/>\n"
                     "<meta name=\"viewport\" "
                     "content=\"width=device-width, initial-scale=1\"/>\n"
                     "<meta http-equiv=\"Content-Security-Policy\" "
                     "content=\"default-src 'none'; style-src 'unsafe-inline'; "
                     "script-src 'unsafe-inline'; img-src data:\"/>\n"
                     "<link rel=\"icon\" href=\"data:,\"/>\n<title>");
    html_text(h, title);
    buf_text(h->out, " – sonde</title>\n");
    html_style(h->out);
    buf_text(h->out, "</head>\n<body>\n"
                     "<a class=\"skip\" href=\"#answer\">To the answer</a>\n"
                     "<header>\n");
    html_element(h, "h1", title);
    buf_text(h->out, "</header>\n");
}
