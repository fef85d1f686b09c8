#include "ptx/snippet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const struct register_kind_row register_kinds[REGISTER_KIND_COUNT] = {
#define X(id, prefix, type, bytes) {prefix, type, bytes},
    REGISTER_KINDS(X)
#undef X
};

/* Opcodes without a result (PTX ISA, chapter 9). */
static const char *const no_result[] = {
    "st",
    "red",
    "bar",
    "barrier",
    "membar",
    "fence",
    "bra",
    "brx",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "prefetch",
    "prefetchu",
    "nanosleep",
    "discard",
    "applypriority",
    "multimem",
    "stmatrix",
    "cp",
    "pmevent",
    "setmaxnreg",
    "griddepcontrol",
    NULL,
};

/* Registers of the machine (PTX ISA, chapter 10), by what their names begin
 * with. */
static const char *const special[] = {
    "tid",
    "ntid",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid",
    "nctaid",
    "smid",
    "nsmid",
    "gridid",
    "is_explicit_cluster",
    "cluster",
    "ncluster",
    "lanemask",
    "clock",
    "pm",
    "envreg",
    "globaltimer",
    "reserved_smem",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "current_graph_exec",
    NULL,
};

/* What stands between words. */
#define BLANKS " \t\r\n"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (is_word(text[n]))
        n++;
    return n;
}

/* ---- the text --------------------------------------------------------- */

/* Comments become blanks, so that lines and columns stay. */
static char *without_comments(const char *from)
{
    char *const text = xstrdup(from);
    const char *end = NULL;
    for (char *c = text; *c != '\0'; c++) {
        if (end == NULL && c[0] == '/' && (c[1] == '/' || c[1] == '*'))
            end = c[1] == '/' ? "\n" : "*/";
        if (end == NULL)
            continue;
        const size_t length = strlen(end);
        if (strncmp(c, end, length) == 0) {
            if (length == 2)
                c[0] = c[1] = ' ';
            c += length - 1;
            end = NULL;
        } else if (*c != '\n') {
            *c = ' ';
        }
    }
    return text;
}

struct place {
    unsigned line, column;
};

static struct place place_of(const char *text, const char *at)
{
    struct place p = {1, 1};
    for (const char *c = text; c < at; c++) {
        p.column = *c == '\n' ? 1 : p.column + 1;
        p.line += *c == '\n';
    }
    return p;
}

static int refuse(struct error *err, const char *text, const char *at,
                  const char *why)
{
    const struct place p = place_of(text, at);
    return error_set(err, ERR_USAGE, "snippet, line %u, column %u: %s", p.line,
                     p.column, why);
}

static void add_statement(struct snippet *s, const char *from, const char *to)
{
    const struct place p = place_of(s->text, from);
    s->statements = xreallocarray(s->statements, s->statement_count + 1,
                                  sizeof *s->statements);
    s->statements[s->statement_count++] =
        (struct statement){.start = (size_t)(from - s->text),
                           .length = (size_t)(to - from),
                           .line = p.line,
                           .column = p.column};
}

/* The label at `at`, with its colon; NULL if there is none. */
static const char *label_end(const char *at)
{
    const size_t length = word_length(at);
    const char *const after = at + length + strspn(at + length, BLANKS);
    return length > 0 && *after == ':' ? after + 1 : NULL;
}

static int split(struct snippet *s, struct error *err)
{
    const char *at = s->text;
    for (at += strspn(at, BLANKS); *at != '\0'; at += strspn(at, BLANKS)) {
        const char *const label = label_end(at);
        const char *const semicolon = strchr(at, ';');
        if (label == NULL && semicolon == NULL)
            return refuse(err, s->text, at, "the instruction has no ';'");
        const char *const end = label != NULL ? label : semicolon + 1;
        if (at == semicolon) { /* an empty instruction */
            at = end;
            continue;
        }
        s->scoped |= label != NULL || *at == '.';
        add_statement(s, at, end);
        at = end;
    }
    if (s->statement_count == 0)
        return error_set(err, ERR_USAGE, "the snippet has no instruction");
    return 0;
}

/* ---- registers -------------------------------------------------------- */

/* Of a name such as rd12; false if it names none. */
static bool kind_of(const char *name, size_t length, enum register_kind *kind)
{
    size_t letters = 0;
    while (letters < length && isalpha((unsigned char)name[letters]))
        letters++;
    for (size_t i = letters; i < length; i++)
        if (!isdigit((unsigned char)name[i]))
            return false;
    for (int k = 0; k < REGISTER_KIND_COUNT; k++)
        if (letters < length && strlen(register_kinds[k].prefix) == letters &&
            strncmp(register_kinds[k].prefix, name, letters) == 0) {
            *kind = (enum register_kind)k;
            return true;
        }
    return false;
}

static bool is_special(const char *name, size_t length)
{
    for (const char *const *s = special; *s != NULL; s++)
        if (length >= strlen(*s) && strncmp(*s, name, strlen(*s)) == 0)
            return true;
    return false;
}

static struct snippet_register *find(const struct snippet *s, const char *name,
                                     size_t length)
{
    for (size_t i = 0; i < s->register_count; i++)
        if (strlen(s->registers[i].name) == length &&
            strncmp(s->registers[i].name, name, length) == 0)
            return (struct snippet_register *)&s->registers[i];
    return NULL;
}

const struct snippet_register *snippet_register(const struct snippet *s,
                                                const char *name)
{
    return find(s, name, strlen(name));
}

/* Scratch addresses and special registers need no declaration of ours. */
static bool is_given(struct snippet *s, const char *name, size_t length)
{
    static const char shared[] = "rd_shared", global[] = "rd_global";
    if (length == sizeof shared - 1 && strncmp(name, shared, length) == 0)
        return s->shared = true;
    if (length == sizeof global - 1 && strncmp(name, global, length) == 0)
        return s->global = true;
    return is_special(name, length);
}

/* Notes that the register at `at` (after its %) is read or written. */
static int note_register(struct snippet *s, const char *at, bool writes,
                         bool reads, struct error *err)
{
    const size_t length = word_length(at);
    enum register_kind kind;
    if (is_given(s, at, length))
        return 0;
    struct snippet_register *r = find(s, at, length);
    if (r == NULL) {
        if (length >= REGISTER_NAME || !kind_of(at, length, &kind))
            return refuse(err, s->text, at - 1,
                          "a register's name says what it holds: %r0 (32 "
                          "bits), %rd0 (64), %f0, %fd0, %h0 (16), %p0");
        if (s->register_count == REGISTERS_MAX)
            return refuse(err, s->text, at - 1, "too many registers");
        r = &s->registers[s->register_count++];
        *r = (struct snippet_register){.kind = kind};
        memcpy(r->name, at, length);
    }
    r->read_first |= reads && !r->written;
    r->written |= writes;
    return 0;
}

/* ---- what statements read and write ------------------------------------ */

static bool has_result(const char *opcode)
{
    /* Of barriers only those that reduce. */
    if (strncmp(opcode, "bar.red.", 8) == 0 ||
        strncmp(opcode, "barrier.red.", 12) == 0)
        return true;
    const size_t length = strcspn(opcode, BLANKS ".;{");
    for (const char *const *o = no_result; *o != NULL; o++)
        if (strlen(*o) == length && strncmp(*o, opcode, length) == 0)
            return false;
    return true;
}

/* Where the first operand ends: the comma outside of brackets. */
static const char *operand_end(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end; at++) {
        depth += strchr("{[(", *at) != NULL;
        depth -= strchr("}])", *at) != NULL;
        if (*at == ',' && depth == 0)
            break;
    }
    return at;
}

/* All registers from `at` to `end`; what stands in [] is only read. */
static int note_all(struct snippet *s, const char *at, const char *end,
                    bool writes, bool reads, struct error *err)
{
    int depth = 0, code = 0;
    for (; code == 0 && at < end; at++) {
        depth += *at == '[';
        depth -= *at == ']';
        if (*at == '%')
            code = note_register(s, at + 1, writes && depth == 0,
                                 reads || depth > 0, err);
    }
    return code;
}

static int note_statement(struct snippet *s, const struct statement *st,
                          struct error *err)
{
    const char *at = s->text + st->start;
    const char *const end = at + st->length;
    const bool guarded = *at == '@';
    if (guarded) {
        const char *const after = at + strcspn(at, BLANKS ";");
        if (note_all(s, at, after, false, true, err) != 0)
            return err->code;
        at = after + strspn(after, BLANKS);
    }
    const char *const operands = at + strcspn(at, BLANKS ";");
    const char *const first =
        has_result(at) ? operand_end(operands, end) : operands;
    /* What is read comes first, as it does in time. */
    int code = note_all(s, first, end, false, true, err);
    if (code == 0)
        code = note_all(s, operands, first, true, guarded, err);
    return code;
}

int snippet_parse(const char *text, struct snippet *s, struct error *err)
{
    *s = (struct snippet){.text = without_comments(text)};
    int code = split(s, err);
    for (size_t i = 0; code == 0 && i < s->statement_count; i++) {
        const char first = s->text[s->statements[i].start];
        if (first != '.' && label_end(s->text + s->statements[i].start) == NULL)
            code = note_statement(s, &s->statements[i], err);
    }
    if (code != 0)
        snippet_free(s);
    return code;
}

void snippet_free(struct snippet *s)
{
    free(s->text);
    free(s->statements);
    *s = (struct snippet){0};
}

bool register_carries(const struct snippet_register *r)
{
    return r->written && r->read_first;
}

const struct snippet_register *snippet_chain(const struct snippet *s)
{
    for (size_t i = 0; i < s->register_count; i++)
        if (register_carries(&s->registers[i]))
            return &s->registers[i];
    return NULL;
}

/* ---- copies ------------------------------------------------------------ */

static void write_text(struct buf *out, const struct snippet *s,
                       const struct statement *st, register_name *name,
                       const void *context)
{
    const char *at = s->text + st->start;
    const char *const end = at + st->length;
    while (at < end) {
        const size_t length = *at == '%' ? word_length(at + 1) : 0;
        const struct snippet_register *const r = find(s, at + 1, length);
        if (*at == '%' && r != NULL) {
            buf_text(out, "%");
            name(out, r, context);
            at += 1 + length;
        } else {
            buf_append(out, *at == '\n' ? " " : at, 1);
            at++;
        }
    }
}

void snippet_write_statement(struct buf *out, const struct snippet *s, size_t i,
                             const char *guard, register_name *name,
                             const void *context)
{
    const char *const text = s->text + s->statements[i].start;
    const bool instruction = text[0] != '.' && label_end(text) == NULL;
    if (guard != NULL && instruction && text[0] != '@')
        buf_printf(out, "@%s ", guard);
    write_text(out, s, &s->statements[i], name, context);
}

void snippet_write(struct buf *out, const struct snippet *s, const char *guard,
                   register_name *name, const void *context)
{
    if (s->scoped)
        buf_text(out, "    {\n");
    for (size_t i = 0; i < s->statement_count; i++) {
        buf_text(out, "    ");
        snippet_write_statement(out, s, i, guard, name, context);
        buf_text(out, "\n");
    }
    if (s->scoped)
        buf_text(out, "    }\n");
}
