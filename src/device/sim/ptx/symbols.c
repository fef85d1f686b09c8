/*
 * Names of a module: registers, variables, labels, and the scopes that { }
 * make.  Registers get their numbers when they are first used, so that
 * `.reg .b32 %r<1000>` costs what is used of it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "device/sim/ptx/parser.h"

static unsigned bucket_of(const char *name, size_t length)
{
    return (unsigned)(hash_bytes(HASH_START, name, length) % BUCKETS);
}

static struct symbol *find(struct parser *p, const char *name, size_t length,
                           bool range)
{
    struct symbol *s = p->buckets[bucket_of(name, length)];
    for (; s != NULL; s = s->next)
        if ((s->kind == SYMBOL_RANGE) == range &&
            strncmp(s->name, name, length) == 0 && s->name[length] == '\0')
            return s;
    return NULL;
}

struct symbol *symbol_find(struct parser *p, const struct token *name,
                           uint32_t *index)
{
    *index = 0;
    struct symbol *const exact = find(p, name->text, name->length, false);
    if (exact != NULL)
        return exact;
    size_t stem = name->length;
    while (stem > 0 && isdigit((unsigned char)name->text[stem - 1]))
        stem--;
    const size_t digits = name->length - stem;
    if (digits == 0 || digits > 7)
        return NULL;
    struct symbol *const range = find(p, name->text, stem, true);
    if (range == NULL)
        return NULL;
    *index = (uint32_t)strtoul(name->text + stem, NULL, 10);
    return *index < range->count ? range : NULL;
}

/* True if the innermost scope has that name already. */
static bool declared_here(const struct parser *p, const struct symbol *symbol)
{
    const size_t from =
        p->scope_count > 0 ? p->scopes[p->scope_count - 1].symbols : 0;
    const struct symbol *s = p->buckets[symbol->bucket];
    for (; s != NULL; s = s->next)
        if (s->kind == symbol->kind && strcmp(s->name, symbol->name) == 0)
            for (size_t i = from; i < p->symbol_count; i++)
                if (p->symbols[i] == s)
                    return true;
    return false;
}

static void symbol_free(struct symbol *symbol)
{
    free(symbol->name);
    free(symbol->numbers);
    free(symbol);
}

void symbol_add(struct parser *p, const struct symbol *symbol)
{
    struct symbol *const s = xmalloc(sizeof *s);
    *s = *symbol;
    s->bucket = bucket_of(s->name, strlen(s->name));
    if (declared_here(p, s)) {
        parse_error(p, "'%s' is declared a second time", s->name);
        symbol_free(s);
        return;
    }
    if (s->kind == SYMBOL_RANGE)
        s->numbers = xcalloc(s->count, sizeof *s->numbers);
    p->symbols = xreallocarray(p->symbols, p->symbol_count + 1, sizeof(void *));
    p->symbols[p->symbol_count++] = s;
    s->next = p->buckets[s->bucket];
    p->buckets[s->bucket] = s;
}

uint32_t symbol_register(struct parser *p, struct symbol *symbol,
                         uint32_t index)
{
    uint32_t *const number = symbol->kind == SYMBOL_RANGE
                                 ? &symbol->numbers[index]
                                 : &symbol->number;
    if (*number == 0)
        *number = p->kernel->registers++;
    return *number;
}

void scope_open(struct parser *p)
{
    if (p->scope_count == SCOPES_MAX)
        parse_error(p, "more than %d nested blocks", SCOPES_MAX);
    else
        p->scopes[p->scope_count++] =
            (struct scope){p->symbol_count, p->label_count, p->jump_count};
}

static void drop_symbols(struct parser *p, size_t down_to)
{
    while (p->symbol_count > down_to) {
        struct symbol *const s = p->symbols[--p->symbol_count];
        p->buckets[s->bucket] = s->next;
        symbol_free(s);
    }
}

static void drop_labels(struct parser *p, size_t down_to)
{
    while (p->label_count > down_to)
        free(p->labels[--p->label_count].name);
}

static const struct label *label_find(const struct parser *p, size_t from,
                                      const char *name)
{
    for (size_t i = from; i < p->label_count; i++)
        if (strcmp(p->labels[i].name, name) == 0)
            return &p->labels[i];
    return NULL;
}

/* Resolves the jumps of the scope to its labels; the others are left to the
 * scope around it, and of the outermost they are errors. */
static void resolve_jumps(struct parser *p, const struct scope *scope)
{
    size_t kept = scope->jumps;
    for (size_t i = scope->jumps; i < p->jump_count; i++) {
        struct jump *const jump = &p->jumps[i];
        const struct label *const to = label_find(p, scope->labels, jump->name);
        if (to == NULL && p->scope_count > 0) {
            p->jumps[kept++] = *jump;
            continue;
        }
        if (to != NULL)
            p->kernel->ops[jump->op].target = to->op;
        else
            parse_error_at(p, jump->line, "there is no label '%s'", jump->name);
        free(jump->name);
    }
    p->jump_count = kept;
}

void scope_close(struct parser *p)
{
    const struct scope scope = p->scopes[--p->scope_count];
    resolve_jumps(p, &scope);
    drop_symbols(p, scope.symbols);
    drop_labels(p, scope.labels);
}

void label_add(struct parser *p, const struct token *name)
{
    char *const copy = xstrndup(name->text, name->length);
    if (label_find(p, p->scopes[p->scope_count - 1].labels, copy) != NULL) {
        parse_error(p, "label '%s' is there twice", copy);
        free(copy);
        return;
    }
    p->labels = xreallocarray(p->labels, p->label_count + 1, sizeof *p->labels);
    p->labels[p->label_count++] =
        (struct label){copy, (uint32_t)p->kernel->op_count};
}

void jump_add(struct parser *p, const struct token *name, uint32_t op)
{
    p->jumps = xreallocarray(p->jumps, p->jump_count + 1, sizeof *p->jumps);
    p->jumps[p->jump_count++] =
        (struct jump){xstrndup(name->text, name->length), op, name->line};
}

static bool same_constant(const struct constant *a, const struct constant *b)
{
    return a->kind == b->kind && a->special == b->special &&
           a->space == b->space && a->dynamic == b->dynamic &&
           a->value == b->value;
}

uint32_t constant_add(struct parser *p, struct constant constant)
{
    struct kernel *const k = p->kernel;
    const size_t bucket =
        hash_bytes(HASH_START, &constant.value, sizeof constant.value) %
        BUCKETS;
    /* Links hold an index + 1; 0 ends. */
    for (uint32_t i = p->constant_heads[bucket]; i != 0;
         i = p->constant_links[i - 1])
        if (same_constant(&k->constants[i - 1], &constant))
            return (i - 1) | CONSTANT_BIT;
    const size_t n = k->constant_count++;
    k->constants = xreallocarray(k->constants, n + 1, sizeof *k->constants);
    p->constant_links =
        xreallocarray(p->constant_links, n + 1, sizeof *p->constant_links);
    k->constants[n] = constant;
    p->constant_links[n] = p->constant_heads[bucket];
    p->constant_heads[bucket] = (uint32_t)n + 1;
    return (uint32_t)n | CONSTANT_BIT;
}

void symbols_free(struct parser *p)
{
    drop_symbols(p, 0);
    drop_labels(p, 0);
    while (p->jump_count > 0)
        free(p->jumps[--p->jump_count].name);
    free(p->symbols);
    free(p->labels);
    free(p->jumps);
    free(p->constant_heads);
    free(p->constant_links);
}
