/*
 * A module: directives, variables, kernels, functions.  The subset is that of
 * programs that measure: kernels, functions that only compute and are called
 * by their addresses, memory of every space, one-dimensional textures.  What is
 * not known is an error that names its line.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/ptx/parser.h"

enum { RANGE_MAX = 1 << 20 };
#define ARRAY_MAX ((uint64_t)1 << 40)

/* Bytes that variables of a space may take together. */
static uint64_t space_limit(enum ptx_space space, bool initialized)
{
    switch (space) {
    case SPACE_CONST:
        return 65536;
    case SPACE_PARAM:
        return 4352;
    case SPACE_LOCAL:
        return 512 << 10;
    default: /* initial values travel in the host's memory */
        return initialized ? (uint64_t)1 << 30 : ARRAY_MAX;
    }
}

/* Takes the directive if it is there. */
static bool take(struct parser *p, const char *directive)
{
    if (!token_is(&p->lexer.token, directive))
        return false;
    lexer_next(&p->lexer);
    return true;
}

static int read_type(struct parser *p, enum ptx_type *type)
{
    const struct token *const t = &p->lexer.token;
    *type = t->length > 1 && t->text[0] == '.'
                ? parse_type_name(t->text + 1, t->length - 1)
                : TYPE_NONE;
    if (*type == TYPE_NONE)
        return parse_error(p, "'%.*s' is not a type", (int)t->length, t->text);
    lexer_next(&p->lexer);
    return 0;
}

static int read_name(struct parser *p, char **name)
{
    const struct token *const t = &p->lexer.token;
    if (t->kind != TOKEN_WORD || isdigit((unsigned char)t->text[0]) ||
        t->text[0] == '.')
        return parse_error(p, "'%.*s' is not a name", (int)t->length, t->text);
    *name = xstrndup(t->text, t->length);
    lexer_next(&p->lexer);
    return 0;
}

/* .reg .type a, b, %r<10>; */
static int read_registers(struct parser *p)
{
    enum ptx_type type;
    int code = read_type(p, &type);
    do {
        struct symbol s = {.kind = SYMBOL_REGISTER, .type = type};
        uint64_t count = 0;
        if (code == 0)
            code = read_name(p, &s.name);
        if (code != 0)
            return code;
        if (parse_if(p, '<')) {
            s.kind = SYMBOL_RANGE;
            code = parse_number(p, &count);
            if (code == 0)
                code = parse_character(p, '>');
            if (code == 0 && (count == 0 || count > RANGE_MAX))
                code = parse_error(p, "%s<…> must declare 1 to %d registers",
                                   s.name, RANGE_MAX);
            s.count = (uint32_t)count;
        }
        if (code != 0) {
            free(s.name);
            return code;
        }
        code = symbol_add(p, &s);
    } while (code == 0 && parse_if(p, ','));
    return code == 0 ? parse_character(p, ';') : code;
}

static uint64_t align_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* Where variables of a space are counted. */
static uint64_t *space_bytes(struct parser *p, enum ptx_space space)
{
    switch (space) {
    case SPACE_GLOBAL:
        return &p->module->globals.bytes;
    case SPACE_CONST:
        return &p->module->constants.bytes;
    case SPACE_SHARED:
        return p->kernel != NULL ? &p->kernel->shared_bytes
                                 : &p->module->shared_bytes;
    case SPACE_LOCAL:
        return &p->kernel->local_bytes;
    default:
        return &p->kernel->param_bytes;
    }
}

/* Gives the variable its place. */
static int place_variable(struct parser *p, struct variable *v,
                          bool initialized)
{
    uint64_t *const bytes = space_bytes(p, v->space);
    const uint64_t limit = space_limit(v->space, initialized);
    if (v->dynamic)
        return 0;
    v->offset = align_up(*bytes, v->align);
    if (v->offset > limit || v->bytes > limit - v->offset)
        return parse_error(p, "'%s' makes more than %llu bytes of .%s", v->name,
                           (unsigned long long)limit, ptx_spaces[v->space]);
    *bytes = v->offset + v->bytes;
    return 0;
}

/* [4][2]: the product, or 0 of []. */
static int read_dimensions(struct parser *p, uint64_t *count, bool *open)
{
    *count = 1;
    *open = false;
    while (parse_if(p, '[')) {
        uint64_t n = 0;
        if (parse_if(p, ']')) {
            *open = true;
            continue;
        }
        int code = parse_number(p, &n);
        if (code == 0 && (n == 0 || n > ARRAY_MAX / *count))
            code = parse_error(p, "an array of too many elements, or of none");
        if (code == 0)
            code = parse_character(p, ']');
        if (code != 0)
            return code;
        *count *= n;
    }
    return 0;
}

/* The name of a function, whose address value `index` will be; false if it is
 * none. */
static bool read_pointer(struct parser *p, enum ptx_type type, uint64_t index)
{
    struct module *const m = p->module;
    uint32_t none;
    const struct symbol *const s =
        p->lexer.token.kind == TOKEN_WORD && ptx_types[type].bytes == 8
            ? symbol_find(p, &p->lexer.token, &none)
            : NULL;
    if (s == NULL || s->kind != SYMBOL_FUNCTION)
        return false;
    m->pointers = xreallocarray(m->pointers, m->pointer_count + 1,
                                sizeof *m->pointers);
    m->pointers[m->pointer_count++] =
        (struct function_pointer){8 * index, s->number};
    lexer_next(&p->lexer);
    return true;
}

/* The values, { } anywhere among them, into a list of bits. */
static int read_values(struct parser *p, enum ptx_type type, uint64_t **values,
                       uint64_t *count)
{
    unsigned depth = 0;
    *count = 0;
    do {
        while (parse_if(p, '{'))
            depth++;
        *values = xreallocarray(*values, *count + 1, sizeof **values);
        (*values)[*count] = 0;
        const int code = read_pointer(p, type, *count)
                             ? 0
                             : parse_literal(p, type, &(*values)[*count]);
        if (code != 0)
            return code;
        ++*count;
        while (depth > 0 && parse_if(p, '}'))
            depth--;
    } while (depth > 0 && parse_character(p, ',') == 0);
    return depth > 0 ? p->err->code : 0;
}

static void store_values(struct parser *p, const struct variable *v,
                         enum ptx_type type, const uint64_t *values,
                         uint64_t count)
{
    struct segment *const segment =
        v->space == SPACE_CONST ? &p->module->constants : &p->module->globals;
    const unsigned size = ptx_types[type].bytes;
    const uint64_t end = v->offset + count * size;
    segment->image = xrealloc(segment->image, end);
    memset(segment->image + segment->image_bytes, 0,
           end - segment->image_bytes);
    for (uint64_t i = 0; i < count; i++)
        memcpy(segment->image + v->offset + i * size, &values[i], size);
    segment->image_bytes = end;
}

/* What stands before a variable's type. */
struct declaration {
    enum ptx_space space;
    enum ptx_type type;
    uint64_t align, elements; /* elements of a vector */
    bool external;
};

/* name[n] = { … }, for one name of the declaration. */
static int read_variable(struct parser *p, const struct declaration *d,
                         struct variable *v)
{
    uint64_t count, given = 0, *values = NULL;
    bool open;
    const uint64_t size = ptx_types[d->type].bytes * d->elements;
    size_t pointer = p->module->pointer_count;
    int code = read_name(p, &v->name);
    if (code == 0)
        code = read_dimensions(p, &count, &open);
    const bool initialized = code == 0 && parse_if(p, '=');
    if (initialized && d->space != SPACE_GLOBAL && d->space != SPACE_CONST)
        code =
            parse_error(p, ".%s takes no initial value", ptx_spaces[d->space]);
    else if (initialized)
        code = read_values(p, d->type, &values, &given);
    if (code != 0)
        goto out;
    v->dynamic = open && d->external && d->space == SPACE_SHARED;
    if (open)
        count *= given / d->elements;
    v->space = d->space;
    v->align = d->align > size ? d->align : size;
    v->bytes = count * size;
    if (given > count * d->elements)
        code = parse_error(p, "'%s' has %llu values for %llu places", v->name,
                           (unsigned long long)given,
                           (unsigned long long)(count * d->elements));
    else if (open && !v->dynamic && given == 0)
        code = parse_error(p, "'%s' has no size", v->name);
    if (code == 0)
        code = place_variable(p, v, initialized);
    if (code == 0 && initialized)
        store_values(p, v, d->type, values, given);
    for (; pointer < p->module->pointer_count; pointer++)
        p->module->pointers[pointer].offset += v->offset;
out:
    free(values);
    return code;
}

static int declare_variable(struct parser *p, const struct variable *v)
{
    const struct symbol s = {
        .name = xstrdup(v->name), .kind = SYMBOL_VARIABLE, .variable = *v};
    return symbol_add(p, &s);
}

static void keep_module_variable(struct module *m, struct variable v)
{
    m->variables = xreallocarray(m->variables, m->variable_count + 1,
                                 sizeof *m->variables);
    m->variables[m->variable_count++] = v;
}

static int read_declaration(struct parser *p, struct declaration *d)
{
    d->elements = 1;
    d->align = 1;
    for (;;) {
        int code = 0;
        if (take(p, ".align"))
            code = parse_number(p, &d->align);
        else if (take(p, ".v2"))
            d->elements = 2;
        else if (take(p, ".v4"))
            d->elements = 4;
        else
            return read_type(p, &d->type);
        if (code == 0 && (d->align == 0 || d->align > 1 << 20 ||
                          (d->align & (d->align - 1)) != 0))
            code = parse_error(p, "an alignment must be a power of two");
        if (code != 0)
            return code;
    }
}

/* Of a pointer parameter, what it points to: .ptr .global .align 8. */
static int skip_pointer(struct parser *p)
{
    uint64_t align;
    if (!take(p, ".ptr"))
        return 0;
    while (take(p, ".global") || take(p, ".const") || take(p, ".shared") ||
           take(p, ".local"))
        continue;
    return take(p, ".align") ? parse_number(p, &align) : 0;
}

/* One or more variables up to the semicolon. */
static int read_variables(struct parser *p, enum ptx_space space, bool external)
{
    struct declaration d = {.space = space, .external = external};
    int code = read_declaration(p, &d);
    do {
        struct variable v = {0};
        if (code == 0)
            code = read_variable(p, &d, &v);
        if (code == 0)
            code = declare_variable(p, &v);
        if (code == 0 && p->kernel == NULL)
            keep_module_variable(p->module, v);
        else
            free(v.name);
    } while (code == 0 && parse_if(p, ','));
    return code == 0 ? parse_character(p, ';') : code;
}

static int read_param(struct parser *p)
{
    struct declaration d = {.space = SPACE_PARAM};
    struct kernel *const k = p->kernel;
    struct variable v = {0};
    if (!take(p, ".param"))
        return parse_error(p, "'%.*s' where .param is expected",
                           (int)p->lexer.token.length, p->lexer.token.text);
    if (k->param_count == PARAMS_LIMIT)
        return parse_error(p, "more than %d parameters", PARAMS_LIMIT);
    int code = read_declaration(p, &d);
    if (code == 0)
        code = skip_pointer(p);
    if (code == 0)
        code = read_variable(p, &d, &v);
    k->params[k->param_count++] = v;
    return code == 0 ? declare_variable(p, &v) : code;
}

static int read_params(struct parser *p)
{
    if (!parse_if(p, '(') || parse_if(p, ')'))
        return 0;
    int code;
    do
        code = read_param(p);
    while (code == 0 && parse_if(p, ','));
    return code == 0 ? parse_character(p, ')') : code;
}

/* n or n, n, n; what is not there is 1. */
static int read_three(struct parser *p, uint64_t n[3])
{
    n[0] = n[1] = n[2] = 1;
    int code = 0;
    for (int i = 0; code == 0 && i < 3; i++) {
        code = parse_number(p, &n[i]);
        if (!parse_if(p, ','))
            break;
    }
    return code;
}

/* .maxntid and its kin, before the body. */
static int read_limits(struct parser *p)
{
    struct kernel *const k = p->kernel;
    uint64_t n[3];
    int code = 0;
    while (code == 0 && !parse_at(p, '{')) {
        if (take(p, ".maxntid")) {
            code = read_three(p, n);
            k->max_threads = n[0] * n[1] * n[2];
        } else if (take(p, ".reqntid")) {
            code = read_three(p, k->required_threads);
        } else if (take(p, ".minnctapersm") || take(p, ".maxnreg") ||
                   take(p, ".maxnctapersm")) {
            code = read_three(p, n);
        } else {
            code = parse_error(p, "'%.*s' is not known before a kernel's body",
                               (int)p->lexer.token.length, p->lexer.token.text);
        }
    }
    return code;
}

static int read_body_directive(struct parser *p)
{
    if (take(p, ".reg"))
        return read_registers(p);
    const bool external = take(p, ".extern");
    if (take(p, ".shared"))
        return read_variables(p, SPACE_SHARED, external);
    if (take(p, ".local"))
        return read_variables(p, SPACE_LOCAL, false);
    if (take(p, ".param"))
        return read_registers(p);
    if (take(p, ".callprototype")) {
        while (!parse_at(p, ';') && p->lexer.token.kind != TOKEN_END)
            lexer_next(&p->lexer);
        return parse_character(p, ';');
    }
    if (token_is(&p->lexer.token, ".loc")) {
        lexer_skip_line(&p->lexer);
        return 0;
    }
    if (take(p, ".pragma")) {
        lexer_next(&p->lexer);
        return parse_character(p, ';');
    }
    return parse_error(p, "directive '%.*s' is not known here",
                       (int)p->lexer.token.length, p->lexer.token.text);
}

/* A label if a colon follows, else an instruction. */
static int read_labelled(struct parser *p)
{
    const struct lexer before = p->lexer;
    lexer_next(&p->lexer);
    if (!parse_at(p, ':')) {
        p->lexer = before;
        return parse_instruction(p);
    }
    lexer_next(&p->lexer);
    return label_add(p, &before.token);
}

static int read_statement(struct parser *p)
{
    if (parse_if(p, '{'))
        return scope_open(p);
    if (parse_if(p, '}'))
        return scope_close(p);
    if (parse_if(p, ';'))
        return 0;
    if (parse_at(p, '@'))
        return parse_instruction(p);
    if (p->lexer.token.kind != TOKEN_WORD)
        return parse_error(p, "'%.*s' is no statement",
                           (int)p->lexer.token.length, p->lexer.token.text);
    if (p->lexer.token.text[0] == '.')
        return read_body_directive(p);
    return read_labelled(p);
}

static void resolve_register(const struct kernel *k, uint32_t *number)
{
    if ((*number & CONSTANT_BIT) != 0)
        *number = k->registers + (*number & ~CONSTANT_BIT);
}

static void add_wait(struct op *op, const struct kernel *k, uint32_t number)
{
    if (number < REG_CARRY || number >= k->registers)
        return;
    for (unsigned i = 0; i < op->waits; i++)
        if (op->wait[i] == number)
            return;
    op->wait[op->waits++] = number;
}

static void add_matrix_waits(struct op *op, const struct kernel *k)
{
    const struct matrix *const x = &k->matrices[op->offset];
    for (unsigned i = 0; i < x->a_count; i++)
        add_wait(op, k, x->a[i]);
    for (unsigned i = 0; i < x->b_count; i++)
        add_wait(op, k, x->b[i]);
    for (unsigned i = 0; i < x->c_count; i++)
        add_wait(op, k, x->c[i]);
}

/* Now that all registers have numbers: the constants', and what waits. */
static void finish_ops(struct kernel *k)
{
    for (size_t i = 0; i < k->op_count; i++) {
        struct op *const op = &k->ops[i];
        for (int s = 0; s < OP_SOURCES; s++) {
            resolve_register(k, &op->src[s]);
            add_wait(op, k, op->src[s]);
        }
        if (op->kind == OP_MATRIX)
            add_matrix_waits(op, k);
        if (op->guard != NO_REGISTER)
            add_wait(op, k, (uint32_t)op->guard);
    }
}

/* Loads a pointer from where the last one that it loaded points. */
static bool is_link(const struct op *op)
{
    return op->kind == OP_LOAD && op->space == SPACE_GLOBAL && op->direct &&
           op->bytes == sizeof(uint64_t) && op->guard == NO_REGISTER &&
           op->sub == 0 && !op->unoptimized && op->src[0] == op->dst[0] &&
           op->waits == 1;
}

/* Chains are long in programs that measure, and all links alike. */
static void find_chains(struct kernel *k)
{
    for (size_t i = k->op_count; i-- > 1;) {
        struct op next = k->ops[i];
        next.line = k->ops[i - 1].line;
        next.again = 0;
        if (is_link(&next) && k->ops[i].again < UINT8_MAX &&
            memcmp(&next, &k->ops[i - 1], sizeof next) == 0)
            k->ops[i - 1].again = (uint8_t)(k->ops[i].again + 1);
    }
}

/* The dynamic shared memory begins after the static one. */
static void finish_constants(const struct parser *p)
{
    struct kernel *const k = p->kernel;
    k->shared_bytes = align_up(k->shared_bytes, 16);
    for (size_t i = 0; i < k->constant_count; i++)
        if (k->constants[i].dynamic)
            k->constants[i].value += k->shared_bytes;
}

static void append_exit(struct kernel *k, const struct profile *profile)
{
    k->ops = xreallocarray(k->ops, k->op_count + 1, sizeof *k->ops);
    k->ops[k->op_count++] = (struct op){
        .kind = OP_EXIT,
        .guard = NO_REGISTER,
        .pipe = (uint32_t)profile->isa_count + 1,
    };
}

static int read_body(struct parser *p)
{
    const size_t outside = p->scope_count;
    int code = scope_open(p);
    lexer_next(&p->lexer);
    while (code == 0 && p->scope_count > outside) {
        if (p->lexer.token.kind == TOKEN_END)
            return parse_error(p, "the text ends inside kernel '%s'",
                               p->kernel->name);
        code = read_statement(p);
    }
    return code;
}

/* Another one of *list. */
static struct kernel *begin(struct parser *p, struct kernel **list,
                            size_t *count)
{
    *list = xreallocarray(*list, *count + 1, sizeof **list);
    struct kernel *const k = &(*list)[(*count)++];
    memset(k, 0, sizeof *k);
    k->registers = REG_FIRST;
    k->shared_bytes = p->module->shared_bytes;
    p->kernel = k;
    memset(p->constant_heads, 0, BUCKETS * sizeof *p->constant_heads);
    return k;
}

/* What it is given or gives back: (.param .b32 a, …). */
static int read_passed(struct parser *p, struct passed *passed)
{
    enum ptx_type type;
    struct symbol s = {.kind = SYMBOL_REGISTER};
    uint32_t none;
    if (!parse_at(p, '('))
        return 0;
    struct lexer ahead;
    int code = 0;
    lexer_next(&p->lexer);
    for (passed->count = 0; code == 0 && !parse_if(p, ')');) {
        if (passed->count == PASSED_MOST || !take(p, ".param") ||
            read_type(p, &type) != 0 || ptx_types[type].bytes != 4)
            return parse_error(p, "a function is given up to %d .param of 32 "
                                  "bits",
                               PASSED_MOST);
        ahead = p->lexer;
        s.type = type;
        code = read_name(p, &s.name);
        if (code == 0)
            code = symbol_add(p, &s);
        if (code == 0)
            passed->number[passed->count++] = symbol_register(
                p, symbol_find(p, &ahead.token, &none), 0);
        parse_if(p, ',');
    }
    return code;
}

/* A function computes and returns; constants of it are literals. */
static int check_function(struct parser *p, struct kernel *k)
{
    for (size_t i = 0; i < k->op_count; i++) {
        const struct op *const op = &k->ops[i];
        const bool returns = op->kind == OP_EXIT && i + 2 == k->op_count;
        const bool ends = i + 1 == k->op_count;
        if (op->guard != NO_REGISTER ||
            (op->kind != OP_ALU && !returns && !ends))
            return parse_error_at(p, op->line,
                                  "functions only compute and return here");
        k->code_instructions += !op->passes && !ends;
    }
    for (size_t i = 0; i < k->constant_count; i++)
        if (k->constants[i].kind != CONSTANT_VALUE)
            return parse_error(p, "functions know no addresses here");
    return 0;
}

/* .func (results) name (arguments) { … } */
static int read_function(struct parser *p)
{
    struct module *const m = p->module;
    struct kernel *const k = begin(p, &m->functions, &m->function_count);
    struct symbol s = {.kind = SYMBOL_FUNCTION,
                       .number = (uint32_t)m->function_count - 1};
    struct passed results = {0}, arguments = {0};
    int code = scope_open(p);
    if (code == 0)
        code = read_passed(p, &results);
    if (code == 0)
        code = read_name(p, &k->name);
    if (code == 0)
        code = read_passed(p, &arguments);
    if (code == 0)
        code = read_body(p);
    if (code == 0)
        code = scope_close(p);
    if (code != 0)
        return code;
    k->results = results;
    k->arguments = arguments;
    append_exit(k, p->profile);
    finish_ops(k);
    p->kernel = NULL;
    s.name = xstrdup(k->name);
    code = check_function(p, k);
    return code == 0 ? symbol_add(p, &s) : code;
}

static int read_kernel(struct parser *p)
{
    struct module *const m = p->module;
    struct kernel *const k = begin(p, &m->kernels, &m->kernel_count);
    int code = read_name(p, &k->name);
    if (code == 0)
        code = scope_open(p);
    if (code == 0)
        code = read_params(p);
    if (code == 0)
        code = read_limits(p);
    if (code == 0)
        code = read_body(p);
    if (code == 0)
        code = scope_close(p);
    if (code != 0)
        return code;
    append_exit(k, p->profile);
    finish_ops(k);
    find_chains(k);
    finish_constants(p);
    p->kernel = NULL;
    return 0;
}

static int read_target(struct parser *p)
{
    const struct token t = p->lexer.token;
    char copy[32];
    const int have = p->profile->cc_major * 10 + p->profile->cc_minor;
    if (!token_starts(&t, "sm_"))
        return parse_error(p, "'%.*s' is no target", (int)t.length, t.text);
    const long wanted = strtol(parse_token_copy(p, copy, sizeof copy) + 3, NULL, 10);
    if (wanted > have)
        return parse_error(p, "the program is for %s, the GPU is sm_%d", copy,
                           have);
    lexer_next(&p->lexer);
    while (parse_if(p, ','))
        lexer_next(&p->lexer);
    return 0;
}

static int read_address_size(struct parser *p)
{
    uint64_t bits;
    const int code = parse_number(p, &bits);
    if (code == 0 && bits != 64)
        return parse_error(p, "addresses have 64 bits here");
    return code;
}

static int read_top(struct parser *p)
{
    bool external = false;
    while (take(p, ".visible") || take(p, ".weak") ||
           (token_is(&p->lexer.token, ".extern") && take(p, ".extern") &&
            (external = true)))
        continue;
    if (take(p, ".target"))
        return read_target(p);
    if (take(p, ".address_size"))
        return read_address_size(p);
    if (take(p, ".entry"))
        return read_kernel(p);
    if (take(p, ".func"))
        return read_function(p);
    if (take(p, ".global"))
        return read_variables(p, SPACE_GLOBAL, external);
    if (take(p, ".const"))
        return read_variables(p, SPACE_CONST, external);
    if (take(p, ".shared"))
        return read_variables(p, SPACE_SHARED, external);
    if (token_is(&p->lexer.token, ".file")) {
        lexer_skip_line(&p->lexer);
        return 0;
    }
    return parse_error(p, "'%.*s' is not known to the simulator here",
                       (int)p->lexer.token.length, p->lexer.token.text);
}

static int read_module(struct parser *p)
{
    if (!take(p, ".version"))
        return parse_error(p, "a program begins with .version");
    lexer_next(&p->lexer);
    if (!token_is(&p->lexer.token, ".target"))
        return parse_error(p, ".version is followed by .target");
    int code = 0;
    while (code == 0 && p->lexer.token.kind != TOKEN_END)
        code = read_top(p);
    return code;
}

int module_parse(const char *ptx, int level, const struct profile *profile,
                 struct module **module, struct error *err)
{
    struct parser *const p = xcalloc(1, sizeof *p);
    p->profile = profile;
    p->level = level;
    p->err = err;
    p->module = xcalloc(1, sizeof *p->module);
    p->constant_heads = xcalloc(BUCKETS, sizeof *p->constant_heads);
    lexer_init(&p->lexer, ptx);
    const int code = read_module(p);
    if (code == 0)
        *module = p->module;
    else
        module_free(p->module);
    symbols_free(p);
    free(p);
    return code;
}

static void kernel_free(struct kernel *k)
{
    for (size_t i = 0; i < k->param_count; i++)
        free(k->params[i].name);
    free(k->name);
    free(k->ops);
    free(k->constants);
    free(k->matrices);
}

void module_free(struct module *module)
{
    if (module == NULL)
        return;
    for (size_t i = 0; i < module->kernel_count; i++)
        kernel_free(&module->kernels[i]);
    for (size_t i = 0; i < module->variable_count; i++)
        free(module->variables[i].name);
    for (size_t i = 0; i < module->function_count; i++)
        kernel_free(&module->functions[i]);
    free(module->functions);
    free(module->pointers);
    free(module->kernels);
    free(module->variables);
    free(module->globals.image);
    free(module->constants.image);
    free(module);
}

struct kernel *module_kernel(struct module *module, const char *name)
{
    for (size_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

const struct variable *module_variable(const struct module *module,
                                       const char *name)
{
    for (size_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i].name, name) == 0)
            return &module->variables[i];
    return NULL;
}
