#include "report/html/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/phrase.h"
#include "report/quantity.h"

void figure_open(const struct html *h, const struct finding *f)
{
    char *const name = html_name(f->id);
    buf_text(h->out, "<figure>\n<figcaption><h3>");
    html_text(h, name);
    buf_text(h->out, "</h3> <code>");
    html_text(h, f->id);
    buf_text(h->out, "</code>");
    if (f->value.kind != VALUE_LIST || !phrase_certain(f)) {
        char *const said = phrase_finding(f, h->clock_hz);
        buf_printf(h->out, "<p%s>",
                   phrase_certain(f) ? "" : " class=\"doubt\"");
        html_text(h, said);
        buf_text(h->out, "</p>");
        free(said);
    }
    buf_text(h->out, "</figcaption>\n");
    free(name);
}

void figure_close(const struct html *h)
{
    buf_text(h->out, "</figure>\n");
}

/* ---- the command --------------------------------------------------------- */

/* What no shell takes for anything but itself. */
static bool is_plain(const char *word, size_t length)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ_=,.:/@%+-";
    return length > 0 && strspn(word, plain) >= length;
}

/* True of key='…' where a shell takes all as the experiment means it. */
static bool is_quoted(const char *word, size_t length)
{
    const char *const quote = memchr(word, '\'', length);
    const size_t before = quote != NULL ? (size_t)(quote - word) : 0;
    return is_plain(word, before) && length > before + 1 &&
           memchr(quote + 1, '\'', length - before - 1) == word + length - 1;
}

/* Up to a space that stands between no quotes. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    for (bool quoted = false; text[length] != '\0'; length++) {
        if (text[length] == ' ' && !quoted)
            break;
        quoted ^= text[length] == '\'';
    }
    return length;
}

static void put_word(struct buf *out, const char *word, size_t length)
{
    buf_text(out, " ");
    if (is_plain(word, length) || is_quoted(word, length)) {
        buf_append(out, word, length);
        return;
    }
    buf_text(out, "'");
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\'')
            buf_text(out, "'\\''");
        else
            buf_append(out, &word[i], 1);
    buf_text(out, "'");
}

static void put_words(struct buf *out, const char *text)
{
    while (*text != '\0') {
        const size_t length = word_length(text);
        if (length > 0)
            put_word(out, text, length);
        text += length + (text[length] == ' ');
    }
}

/* A simulated GPU is there wherever the page is read. */
static void put_device(const struct html *h, struct buf *out)
{
    const struct value *const spec = results_of_device(h->results, "spec");
    if (spec == NULL || spec->kind != VALUE_TEXT ||
        strncmp(spec->text, "sim:", 4) != 0)
        return;
    buf_text(out, " -d");
    put_words(out, spec->text);
}

static void put_command(const struct html *h, const char *verb,
                        const char *words)
{
    struct buf command = {0};
    buf_printf(&command, "sonde %s", verb);
    put_words(&command, words);
    put_device(h, &command);
    buf_text(h->out, "<code>");
    html_text(h, buf_string(&command));
    buf_text(h->out, "</code>\n");
    buf_free(&command);
}

void figure_repeat(const struct html *h, const char *study,
                   char *const *evidence, size_t count)
{
    /* The first and the last: a curve's ends, or a level and what it is
     * compared with. */
    enum { NAMED = 2 };
    if (count == 0 && (study == NULL || study[0] == '\0'))
        return;
    buf_text(h->out, "<div class=\"repeat\">Repeat: ");
    put_command(h, count > 0 ? "probe" : "run",
                count > 0 ? evidence[0] : study);
    if (count > NAMED)
        buf_printf(h->out, "… (%zu more) …\n", count - NAMED);
    if (count > 1)
        put_command(h, "probe", evidence[count - 1]);
    buf_text(h->out, "</div>\n");
}

/* ---- data ---------------------------------------------------------------- */

void data_open(const struct html *h, const char *what, size_t count)
{
    buf_text(h->out, "<details><summary>Data: ");
    html_text(h, what);
    buf_printf(h->out, ", %zu</summary>\n", count);
    buf_text(h->out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
                     "aria-label=\"data\"><table class=\"data\"><thead><tr>");
}

void data_head(const struct html *h, const char *name, const char *unit)
{
    buf_text(h->out, "<th scope=\"col\">");
    html_text(h, name);
    if (unit[0] != '\0') {
        buf_text(h->out, " (");
        html_text(h, unit);
        buf_text(h->out, ")");
    }
    buf_text(h->out, "</th>");
}

void data_row(const struct html *h)
{
    buf_text(h->out, "\n<tr>");
}

void data_number(const struct html *h, double number)
{
    if (isnan(number))
        buf_text(h->out, "<td>–</td>");
    else if (fabs(number) >= 1e5 && fabs(number) < 1e15)
        buf_printf(h->out, "<td>%.0f</td>", number);
    else
        buf_printf(h->out, "<td>%.6g</td>", number);
}

void data_text(const struct html *h, const char *text)
{
    buf_text(h->out, "<td>");
    html_text(h, text);
    buf_text(h->out, "</td>");
}

void data_value(const struct html *h, const struct value *value)
{
    struct buf text = {0};
    if (value->kind == VALUE_NUMBER) {
        data_number(h, value->number);
        return;
    }
    quantity_value(&text, value, 0, "");
    data_text(h, buf_string(&text));
    buf_free(&text);
}

static void put_origin(const struct html *h, const char *name, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    buf_printf(h->out, "<dt>%s</dt><dd>", name);
    html_text(h, text);
    buf_text(h->out, "</dd>\n");
}

void data_close(const struct html *h, const struct finding *f)
{
    struct buf text = {0};
    buf_text(h->out, "\n</table></div>\n<dl>\n");
    phrase_interval(&text, f);
    put_origin(h, "interval", buf_string(&text));
    put_origin(h, "method", f->method);
    buf_clear(&text);
    phrase_entries(&text, f->protocol, f->protocol_count);
    put_origin(h, "protocol", buf_string(&text));
    put_origin(h, "study", f->study);
    buf_text(h->out, "</dl></details>\n");
    buf_free(&text);
}
