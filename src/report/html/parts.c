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
