#include "probe/experiment.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "probe/probe.h"

static size_t param_count(const struct probe *probe)
{
    size_t n = 0;
    while (probe->params[n].name != NULL)
        n++;
    return n;
}

/* Index of a parameter, or the count if there is none of that name. */
static size_t param_index(const struct probe *probe, const char *name)
{
    size_t i = 0;
    while (probe->params[i].name != NULL &&
           strcmp(probe->params[i].name, name) != 0)
        i++;
    return i;
}

static int unknown_param(const struct probe *probe, const char *name,
                         struct error *err)
{
    const char *names[PARAMS_MAX + 1] = {0};
    for (size_t i = 0; i < param_count(probe); i++)
        names[i] = probe->params[i].name;
    return error_set(err, ERR_USAGE,
                     "probe %s has no parameter '%s'%s (`sonde explain %s` "
                     "lists them)",
                     probe->name, name, text_guess(name, names).text,
                     probe->name);
}

static int read_number(const struct param *p, const char *text, char **value,
                       struct error *err)
{
    uint64_t number;
    if (!text_to_u64(text, &number))
        return error_set(err, ERR_USAGE,
                         "%s=%s is not a whole number (16384, 0x4000 or 16K)",
                         p->name, text);
    if (number < p->least || number > p->most)
        return error_set(err, ERR_USAGE,
                         "%s=%s is out of range: %" PRIu64 " to %" PRIu64,
                         p->name, text, p->least, p->most);
    *value = xasprintf("%" PRIu64, number);
    return 0;
}

static int read_word(const struct param *p, const char *text, char **value,
                     struct error *err)
{
    struct buf known = {0};
    if (text_is_among(text, p->words)) {
        *value = xstrdup(text);
        return 0;
    }
    for (const char *const *w = p->words; *w != NULL; w++)
        buf_printf(&known, "%s%s", known.length > 0 ? ", " : "", *w);
    error_set(err, ERR_USAGE, "%s=%s is not one of %s", p->name, text,
              buf_string(&known));
    buf_free(&known);
    return err->code;
}

/* START:COUNT:STEP, and nothing else up to the comma or the end. */
static int parse_segment(const char *text, size_t length,
                         struct segment *segment)
{
    char field[3][32];
    int end = 0;
    if (sscanf(text, "%31[^:,]:%31[^:,]:%31[^:,]%n", field[0], field[1],
               field[2], &end) != 3 ||
        (size_t)end != length)
        return -1;
    return text_to_u64(field[0], &segment->start) &&
                   text_to_u64(field[1], &segment->count) &&
                   text_to_u64(field[2], &segment->step)
               ? 0
               : -1;
}

/* START:COUNT:STEP[,…]; NULL if it is anything else. */
static struct segment *parse_list(const char *text, size_t *count)
{
    struct segment *list = NULL;
    bool more = *text != '\0';
    *count = 0;
    while (more) {
        list = xreallocarray(list, *count + 1, sizeof *list);
        const size_t length = strcspn(text, ",");
        if (parse_segment(text, length, &list[(*count)++]) != 0) {
            free(list);
            return NULL;
        }
        more = text[length] == ',';
        text += length + more;
    }
    return list;
}

static int read_list(const struct param *p, const char *text, char **value,
                     struct error *err)
{
    size_t count;
    struct segment *const list = parse_list(text, &count);
    if (list == NULL && text[0] != '\0')
        return error_set(err, ERR_USAGE,
                         "%s=%s is not START:COUNT:STEP[,…] in bytes, "
                         "elements and bytes",
                         p->name, text);
    struct buf canonical = {0};
    for (size_t i = 0; i < count; i++)
        buf_printf(&canonical, "%s%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                   i > 0 ? "," : "", list[i].start, list[i].count,
                   list[i].step);
    free(list);
    *value = buf_take(&canonical);
    return 0;
}

/* Runs of white space are one blank. */
static char *squeezed(const char *text)
{
    struct buf out = {0};
    buf_text(&out, "");
    for (; *text != '\0'; text++) {
        const bool space = strchr(" \t\n\r", *text) != NULL;
        if (!space)
            buf_append(&out, text, 1);
        else if (out.length > 0 && out.data[out.length - 1] != ' ')
            buf_text(&out, " ");
    }
    return buf_take(&out);
}

static int read_value(const struct param *p, const char *text, char **value,
                      struct error *err)
{
    switch (p->kind) {
    case PARAM_NUMBER:
        return read_number(p, text, value, err);
    case PARAM_WORD:
        return read_word(p, text, value, err);
    case PARAM_LIST:
        return read_list(p, text, value, err);
    case PARAM_TEXT:
        *value = squeezed(text);
        return 0;
    }
    return 0;
}

/* ---- values in the probe's struct -------------------------------------- */

static void store_number(void *field, size_t bytes, uint64_t number)
{
    switch (bytes) {
    case sizeof(uint64_t):
        *(uint64_t *)field = number;
        return;
    case sizeof(uint32_t):
        assert(number <= UINT32_MAX);
        *(uint32_t *)field = (uint32_t)number;
        return;
    default:
        assert(bytes == sizeof(bool) && number <= 1);
        *(bool *)field = number != 0;
    }
}

static void store_value(const struct param *p, const char *value, void *own)
{
    void *const field = (char *)own + p->offset;
    if (p->bytes == 0)
        return;
    if (p->kind == PARAM_LIST)
        ((struct segments *)field)->at =
            parse_list(value, &((struct segments *)field)->count);
    else if (p->kind == PARAM_NUMBER)
        store_number(field, p->bytes, strtoull(value, NULL, 10));
    else if (p->kind == PARAM_WORD && p->bytes != sizeof value)
        store_number(field, p->bytes, text_find(value, p->words));
    else
        *(const char **)field = value;
}

static void store_values(struct experiment *e)
{
    e->own = xcalloc(1, e->probe->bytes > 0 ? e->probe->bytes : 1);
    for (size_t i = 0; e->probe->params[i].name != NULL; i++)
        store_value(&e->probe->params[i], e->value[i], e->own);
}

static void free_lists(struct experiment *e)
{
    for (const struct param *p = e->probe->params; p->name != NULL; p++)
        if (p->kind == PARAM_LIST && p->bytes > 0)
            free(((struct segments *)((char *)e->own + p->offset))->at);
}

/* ---- the text ----------------------------------------------------------- */

static int take_pair(struct experiment *e, char *pair, struct error *err)
{
    char *const equals = strchr(pair, '=');
    if (equals == NULL)
        return error_set(err, ERR_USAGE,
                         "'%s' is not a parameter of the form name=value",
                         pair);
    *equals = '\0';
    const size_t i = param_index(e->probe, pair);
    if (e->probe->params[i].name == NULL)
        return unknown_param(e->probe, pair, err);
    if (e->value[i] != NULL)
        return error_set(err, ERR_USAGE, "%s is given twice", pair);
    return read_value(&e->probe->params[i], equals + 1, &e->value[i], err);
}

static int find_probe(const char *name, const struct probe **probe,
                      struct error *err)
{
    *probe = probe_find(name);
    if (*probe != NULL)
        return 0;
    const char *names[32] = {0};
    for (size_t i = 0; probe_table[i] != NULL && i < COUNT_OF(names) - 1; i++)
        names[i] = probe_table[i]->name;
    return error_set(err, ERR_USAGE,
                     "there is no probe '%s'%s (`sonde list` shows them)", name,
                     text_guess(name, names).text);
}

static int fill_defaults(struct experiment *e, struct error *err)
{
    for (size_t i = 0; e->probe->params[i].name != NULL; i++)
        if (e->value[i] == NULL &&
            read_value(&e->probe->params[i], e->probe->params[i].fallback,
                       &e->value[i], err) != 0)
            return err->code;
    return 0;
}

/* The next word, ended with \0: up to white space that is not in quotes, which
 * are taken away.  NULL at the end. */
static char *next_word(char **rest)
{
    char *from = *rest + strspn(*rest, " \t\n"), *to = from;
    char *const word = from;
    bool quoted = false;
    if (*from == '\0')
        return NULL;
    for (; *from != '\0'; from++) {
        if (*from == '\'')
            quoted = !quoted;
        else if (!quoted && strchr(" \t\n", *from) != NULL)
            break;
        else
            *to++ = *from;
    }
    *rest = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return word;
}

int experiment_parse_for(const struct probe *probe, const char *text,
                         struct experiment *e, struct error *err)
{
    char *const copy = xstrdup(text), *rest = copy, *pair;
    int status = 0;
    *e = (struct experiment){.probe = probe};
    while (status == 0 && (pair = next_word(&rest)) != NULL)
        status = take_pair(e, pair, err);
    if (status == 0)
        status = fill_defaults(e, err);
    if (status == 0)
        store_values(e);
    else
        experiment_free(e);
    free(copy);
    return status;
}

int experiment_parse(const char *text, struct experiment *e, struct error *err)
{
    char *const copy = xstrdup(text), *rest = copy;
    const char *const name = next_word(&rest);
    *e = (struct experiment){0};
    int status = find_probe(name != NULL ? name : "", &e->probe, err);
    if (status == 0)
        status = experiment_parse_for(e->probe, rest, e, err);
    free(copy);
    return status;
}

void experiment_free(struct experiment *e)
{
    if (e->own != NULL && e->probe->release != NULL)
        e->probe->release(e->own);
    if (e->own != NULL)
        free_lists(e);
    free(e->own);
    for (size_t i = 0; i < PARAMS_MAX; i++)
        free(e->value[i]);
    *e = (struct experiment){0};
}

static void write_pair(struct buf *text, const char *name, const char *value)
{
    const char *const quote = strchr(value, ' ') != NULL ? "'" : "";
    buf_printf(text, " %s=%s%s%s", name, quote, value, quote);
}

char *experiment_text(const struct experiment *e)
{
    struct buf text = {0};
    buf_text(&text, e->probe->name);
    for (size_t i = 0; e->probe->params[i].name != NULL; i++)
        if (strcmp(e->value[i], e->probe->params[i].fallback) != 0)
            write_pair(&text, e->probe->params[i].name, e->value[i]);
    return buf_take(&text);
}

bool experiment_has(const struct experiment *e, const char *param)
{
    return e->probe->params[param_index(e->probe, param)].name != NULL;
}

uint64_t experiment_number(const struct experiment *e, const char *param)
{
    return strtoull(e->value[param_index(e->probe, param)], NULL, 10);
}

uint64_t experiment_seed(const struct experiment *e)
{
    char *const text = experiment_text(e);
    const uint64_t seed = hash_text(HASH_START, text);
    free(text);
    return seed;
}

uint64_t experiment_piece_begin(const struct experiment *e, uint64_t work)
{
    return e->piece.count > 1 ? work * e->piece.index / e->piece.count : 0;
}

uint64_t experiment_piece_end(const struct experiment *e, uint64_t work)
{
    return e->piece.count > 1 ? work * (e->piece.index + 1) / e->piece.count
                              : work;
}
