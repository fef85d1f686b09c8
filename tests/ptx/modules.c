#include "ptx/modules.h"

#include <check.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* ---- names ------------------------------------------------------------- */

enum { NAMES_MOST = 8 };

/* Parts of a program, which it declares outside of its kernel. */
struct names {
    struct {
        const char *at;
        size_t length;
    } list[NAMES_MOST];
    size_t count;
};

/* Of a line at the left margin: what stands before its first bracket. */
static void add_name(struct names *names, const char *line, size_t length)
{
    size_t end = 0;
    while (end < length && line[end] != '(' && line[end] != '[')
        end++;
    size_t begin = end;
    while (begin > 0 && in_name(line[begin - 1]))
        begin--;
    if (end == length || begin == end)
        return;
    ck_assert_uint_lt(names->count, NAMES_MOST);
    names->list[names->count].at = line + begin;
    names->list[names->count++].length = end - begin;
}

static struct names declared(const char *ptx)
{
    struct names names = {.count = 0};
    for (const char *line = ptx; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        if (line[0] == '.')
            add_name(&names, line, length);
        line += length + (line[length] == '\n');
    }
    return names;
}

static bool is_declared(const struct names *names, const char *word,
                        size_t length)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->list[i].length == length &&
            memcmp(names->list[i].at, word, length) == 0)
            return true;
    return false;
}

/* Appends what follows the head, its names with the number behind them; parts
 * of instructions and registers, with . or % before, are none of them. */
static void add_renamed(struct buf *text, const char *ptx, const char *body,
                        size_t number)
{
    const struct names names = declared(ptx);
    for (const char *at = body; *at != '\0';) {
        size_t length = 0;
        while (in_name(at[length]))
            length++;
        const bool part = at > ptx && (at[-1] == '.' || at[-1] == '%');
        const bool own = !part && is_declared(&names, at, length);
        buf_append(text, at, length > 0 ? length : 1);
        if (own)
            buf_printf(text, "_%zu", number);
        at += length > 0 ? length : 1;
    }
}

/* ---- modules ----------------------------------------------------------- */

/* Where what follows the head begins. */
static const char *body_of(const char *ptx)
{
    static const char last[] = ".address_size 64\n";
    const char *const at = strstr(ptx, last);
    ck_assert_ptr_nonnull(at);
    return at + strlen(last);
}

static bool is_alone(const char *ptx)
{
    return strstr(ptx, "\n.func") != NULL || strstr(ptx, ".const .") != NULL ||
           strstr(ptx, "\n.visible .global") != NULL;
}

static struct module_text *add_module(struct module_texts *texts, char *head)
{
    texts->at = xreallocarray(texts->at, texts->count + 1, sizeof *texts->at);
    struct module_text *const new = &texts->at[texts->count++];
    *new = (struct module_text){.head = head};
    return new;
}

/* One that begins so and has room; a new one if there is none. */
static struct module_text *module_for(struct module_texts *texts,
                                      const char *ptx, const char *body)
{
    char *const head = xstrndup(ptx, (size_t)(body - ptx));
    for (size_t i = texts->count; i-- > 0;) {
        struct module_text *const m = &texts->at[i];
        const bool room = texts->most == 0 || m->count < texts->most;
        if (room && strcmp(m->head, head) == 0 && !is_alone(m->programs[0])) {
            free(head);
            return m;
        }
    }
    struct module_text *const new = add_module(texts, head);
    buf_text(&new->text, head);
    return new;
}

void module_texts_add(struct module_texts *texts, const char *ptx)
{
    const char *const body = body_of(ptx);
    struct module_text *const m = is_alone(ptx) ? add_module(texts, xstrdup(""))
                                                : module_for(texts, ptx, body);
    if (is_alone(ptx))
        buf_text(&m->text, ptx);
    else
        add_renamed(&m->text, ptx, body, m->count);
    m->programs = xreallocarray(m->programs, m->count + 1, sizeof *m->programs);
    m->programs[m->count++] = ptx;
}

void module_texts_free(struct module_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->at[i].head);
        free(texts->at[i].programs);
        buf_free(&texts->at[i].text);
    }
    free(texts->at);
    *texts = (struct module_texts){0};
}
