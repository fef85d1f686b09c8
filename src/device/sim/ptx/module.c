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

static enum ptx_type read_type(struct parser *p)
{
    const struct token *const t = &p->lexer.token;
    const enum ptx_type type = t->length > 1 && t->text[0] == '.'
                                   ? parse_type_name(t->text + 1, t->length - 1)
                                   : TYPE_NONE;
    if (type == TYPE_NONE)
        parse_error_token(p, "is not a type");
    lexer_next(&p->lexer);
    return type;
}

/* The caller frees. */
static char *read_name(struct parser *p)
{
    const struct token t = p->lexer.token;
    if (t.kind != TOKEN_WORD || isdigit((unsigned char)t.text[0]) ||
        t.text[0] == '.')
        parse_error_token(p, "is not a name");
    lexer_next(&p->lexer);
    return xstrndup(t.text, t.length);
}

/* .reg .type a, b, %r<10>; */
static void read_registers(struct parser *p)
{
    const enum ptx_type type = read_type(p);
    do {
        struct symbol s = {.type = type, .name = read_name(p)};
        if (parse_if(p, '<')) {
            const uint64_t count = parse_number(p);
            parse_character(p, '>');
            if (count == 0 || count > RANGE_MAX)
                parse_error(p, "%s<…> must declare 1 to %d registers", s.name,
                            RANGE_MAX);
            s.kind = SYMBOL_RANGE;
            s.count = p->failed ? 1 : (uint32_t)count;
        }
        symbol_add(p, &s);
    } while (parse_if(p, ','));
    parse_character(p, ';');
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
static void place_variable(struct parser *p, struct variable *v,
                           bool initialized)
{
    uint64_t *const bytes = space_bytes(p, v->space);
    const uint64_t limit = space_limit(v->space, initialized);
    if (v->dynamic)
        return;
    v->offset = align_up(*bytes, v->align);
    if (v->offset > limit || v->bytes > limit - v->offset)
        parse_error(p, "'%s' makes more than %llu bytes of .%s", v->name,
                    (unsigned long long)limit, ptx_spaces[v->space]);
    *bytes = v->offset + v->bytes;
}

/* [4][2]: the product; of [] as if it was not there, and `open`. */
static uint64_t read_dimensions(struct parser *p, bool *open)
{
    uint64_t count = 1;
    *open = false;
    while (parse_if(p, '[')) {
        if (parse_if(p, ']')) {
            *open = true;
            continue;
        }
        const uint64_t n = parse_number(p);
        if (n == 0 || n > ARRAY_MAX / count)
            parse_error(p, "an array of too many elements, or of none");
        else
            count *= n;
        parse_character(p, ']');
    }
    return count;
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
    m->pointers =
        xreallocarray(m->pointers, m->pointer_count + 1, sizeof *m->pointers);
    m->pointers[m->pointer_count++] =
        (struct function_pointer){8 * index, s->number};
    lexer_next(&p->lexer);
    return true;
}

/* The values, { } anywhere among them, as a list of bits, which the caller
 * frees. */
static uint64_t *read_values(struct parser *p, enum ptx_type type,
                             uint64_t *count)
{
    uint64_t *values = NULL;
    unsigned depth = 0;
    *count = 0;
    for (;;) {
        while (parse_if(p, '{'))
            depth++;
        values = xreallocarray(values, *count + 1, sizeof *values);
        values[*count] =
            read_pointer(p, type, *count) ? 0 : parse_literal(p, type);
        ++*count;
        while (depth > 0 && parse_if(p, '}'))
            depth--;
        if (depth == 0 || p->failed)
            return values;
        parse_character(p, ',');
    }
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

/* name[n] = { … }, for one name of the declaration; the name is the caller's to
 * free. */
static struct variable read_variable(struct parser *p,
                                     const struct declaration *d)
{
    const uint64_t size = ptx_types[d->type].bytes * d->elements;
    struct variable v = {.space = d->space,
                         .align = d->align > size ? d->align : size,
                         .name = read_name(p)};
    size_t pointer = p->module->pointer_count;
    uint64_t given = 0, *values = NULL;
    bool open;
    uint64_t count = read_dimensions(p, &open);
    const bool initialized = parse_if(p, '=');
    if (initialized && d->space != SPACE_GLOBAL && d->space != SPACE_CONST)
        parse_error(p, ".%s takes no initial value", ptx_spaces[d->space]);
    else if (initialized)
        values = read_values(p, d->type, &given);
    v.dynamic = open && d->external && d->space == SPACE_SHARED;
    if (open)
        count *= given / d->elements;
    v.bytes = count * size;
    if (given > count * d->elements)
        parse_error(p, "'%s' has %llu values for %llu places", v.name,
                    (unsigned long long)given,
                    (unsigned long long)(count * d->elements));
    else if (open && !v.dynamic && given == 0)
        parse_error(p, "'%s' has no size", v.name);
    if (!p->failed)
        place_variable(p, &v, initialized);
    if (!p->failed && initialized)
        store_values(p, &v, d->type, values, given);
    for (; pointer < p->module->pointer_count; pointer++)
        p->module->pointers[pointer].offset += v.offset;
    free(values);
    return v;
}

static void declare_variable(struct parser *p, const struct variable *v)
{
    const struct symbol s = {
        .name = xstrdup(v->name), .kind = SYMBOL_VARIABLE, .variable = *v};
    symbol_add(p, &s);
}

static void keep_module_variable(struct module *m, struct variable v)
{
    m->variables = xreallocarray(m->variables, m->variable_count + 1,
                                 sizeof *m->variables);
    m->variables[m->variable_count++] = v;
}

static void read_declaration(struct parser *p, struct declaration *d)
{
    d->elements = 1;
    d->align = 1;
    for (;;) {
        if (take(p, ".align"))
            d->align = parse_number(p);
        else if (take(p, ".v2"))
            d->elements = 2;
        else if (take(p, ".v4"))
            d->elements = 4;
        else
            break;
        if (d->align == 0 || d->align > 1 << 20 ||
            (d->align & (d->align - 1)) != 0)
            parse_error(p, "an alignment must be a power of two");
    }
    d->type = read_type(p);
}

/* Of a pointer parameter, what it points to: .ptr .global .align 8. */
static void skip_pointer(struct parser *p)
{
    if (!take(p, ".ptr"))
        return;
    while (take(p, ".global") || take(p, ".const") || take(p, ".shared") ||
           take(p, ".local"))
        continue;
    if (take(p, ".align"))
        parse_number(p);
}

/* One or more variables up to the semicolon. */
static void read_variables(struct parser *p, enum ptx_space space,
                           bool external)
{
    struct declaration d = {.space = space, .external = external};
    read_declaration(p, &d);
    do {
        const struct variable v = read_variable(p, &d);
        declare_variable(p, &v);
        if (p->kernel == NULL)
            keep_module_variable(p->module, v);
        else
            free(v.name);
    } while (parse_if(p, ','));
    parse_character(p, ';');
}

static void read_param(struct parser *p)
{
    struct declaration d = {.space = SPACE_PARAM};
    struct kernel *const k = p->kernel;
    if (!take(p, ".param"))
        parse_error_token(p, "where .param is expected");
    if (k->param_count == PARAMS_LIMIT) {
        parse_error(p, "more than %d parameters", PARAMS_LIMIT);
        return;
    }
    read_declaration(p, &d);
    skip_pointer(p);
    k->params[k->param_count] = read_variable(p, &d);
    declare_variable(p, &k->params[k->param_count++]);
}

static void read_params(struct parser *p)
{
    if (!parse_if(p, '(') || parse_if(p, ')'))
        return;
    do
        read_param(p);
    while (parse_if(p, ','));
    parse_character(p, ')');
}

/* n or n, n, n; what is not there is 1. */
static void read_three(struct parser *p, uint64_t n[3])
{
    n[0] = n[1] = n[2] = 1;
    for (int i = 0; i < 3; i++) {
        n[i] = parse_number(p);
        if (!parse_if(p, ','))
            break;
    }
}

/* .maxntid and its kin, before the body. */
static void read_limits(struct parser *p)
{
    struct kernel *const k = p->kernel;
    uint64_t n[3];
    while (!p->failed && !parse_at(p, '{')) {
        if (take(p, ".maxntid")) {
            read_three(p, n);
            k->max_threads = n[0] * n[1] * n[2];
        } else if (take(p, ".reqntid")) {
            read_three(p, k->required_threads);
        } else if (take(p, ".minnctapersm") || take(p, ".maxnreg") ||
                   take(p, ".maxnctapersm")) {
            read_three(p, n);
        } else {
            parse_error_token(p, "is not known before a kernel's body");
        }
    }
}

static void read_body_directive(struct parser *p)
{
    const bool external = take(p, ".extern");
    if (take(p, ".reg") || take(p, ".param")) {
        read_registers(p);
    } else if (take(p, ".shared")) {
        read_variables(p, SPACE_SHARED, external);
    } else if (take(p, ".local")) {
        read_variables(p, SPACE_LOCAL, false);
    } else if (take(p, ".callprototype")) {
        while (!parse_at(p, ';') && p->lexer.token.kind != TOKEN_END)
            lexer_next(&p->lexer);
        parse_character(p, ';');
    } else if (token_is(&p->lexer.token, ".loc")) {
        lexer_skip_line(&p->lexer);
    } else if (take(p, ".pragma")) {
        lexer_next(&p->lexer);
        parse_character(p, ';');
    } else {
        parse_error(p, "directive '%.*s' is not known here",
                    (int)p->lexer.token.length, p->lexer.token.text);
    }
}

/* A label if a colon follows, else an instruction. */
static void read_labelled(struct parser *p)
{
    const struct lexer before = p->lexer;
    lexer_next(&p->lexer);
    if (parse_if(p, ':')) {
        label_add(p, &before.token);
        return;
    }
    p->lexer = before;
    parse_instruction(p);
}

static void read_statement(struct parser *p)
{
    if (parse_if(p, '{'))
        scope_open(p);
    else if (parse_if(p, '}'))
        scope_close(p);
    else if (parse_at(p, '@'))
        parse_instruction(p);
    else if (parse_if(p, ';'))
        return;
    else if (p->lexer.token.kind != TOKEN_WORD)
        parse_error_token(p, "is no statement");
    else if (p->lexer.token.text[0] == '.')
        read_body_directive(p);
    else
        read_labelled(p);
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

/* What a kernel or a function does, after its parameters; false if it failed.
 */
static bool read_body(struct parser *p, struct kernel *k)
{
    const size_t outside = p->scope_count;
    scope_open(p);
    lexer_next(&p->lexer);
    while (!p->failed && p->scope_count > outside) {
        if (p->lexer.token.kind == TOKEN_END)
            parse_error(p, "the text ends inside kernel '%s'", k->name);
        else
            read_statement(p);
    }
    scope_close(p);
    if (p->failed)
        return false;
    append_exit(k, p->profile);
    finish_ops(k);
    return true;
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
static struct passed declare_passed(struct parser *p)
{
    struct passed passed = {0};
    uint32_t none;
    if (!parse_if(p, '('))
        return passed;
    while (!p->failed && !parse_if(p, ')')) {
        struct symbol s = {.kind = SYMBOL_REGISTER};
        if (passed.count < PASSED_MOST && take(p, ".param"))
            s.type = read_type(p);
        if (ptx_types[s.type].bytes != 4)
            parse_error(p, "a function is given up to %d .param of 32 bits",
                        PASSED_MOST);
        const struct token name = p->lexer.token;
        s.name = read_name(p);
        symbol_add(p, &s);
        if (!p->failed)
            passed.number[passed.count++] =
                symbol_register(p, symbol_find(p, &name, &none), 0);
        parse_if(p, ',');
    }
    return passed;
}

/* A function computes and returns; constants of it are literals. */
static void check_function(struct parser *p, struct kernel *k)
{
    for (size_t i = 0; i < k->op_count; i++) {
        const struct op *const op = &k->ops[i];
        const bool returns = op->kind == OP_EXIT && i + 2 == k->op_count;
        const bool ends = i + 1 == k->op_count;
        if (op->guard != NO_REGISTER ||
            (op->kind != OP_ALU && !returns && !ends))
            parse_error_at(p, op->line,
                           "functions only compute and return here");
        k->code_instructions += !op->passes && !ends;
    }
    for (size_t i = 0; i < k->constant_count; i++)
        if (k->constants[i].kind != CONSTANT_VALUE)
            parse_error(p, "functions know no addresses here");
}

/* .func (results) name (arguments) { … } */
static void read_function(struct parser *p)
{
    struct module *const m = p->module;
    struct kernel *const k = begin(p, &m->functions, &m->function_count);
    scope_open(p);
    k->results = declare_passed(p);
    k->name = read_name(p);
    k->arguments = declare_passed(p);
    if (!read_body(p, k))
        return;
    p->kernel = NULL;
    check_function(p, k);
    symbol_add(p, &(struct symbol){.kind = SYMBOL_FUNCTION,
                                   .number = (uint32_t)m->function_count - 1,
                                   .name = xstrdup(k->name)});
}

static void read_kernel(struct parser *p)
{
    struct module *const m = p->module;
    struct kernel *const k = begin(p, &m->kernels, &m->kernel_count);
    k->name = read_name(p);
    scope_open(p);
    read_params(p);
    read_limits(p);
    if (!read_body(p, k))
        return;
    find_chains(k);
    finish_constants(p);
    p->kernel = NULL;
}

static void read_target(struct parser *p)
{
    char copy[32];
    const int have = p->profile->cc_major * 10 + p->profile->cc_minor;
    if (!token_starts(&p->lexer.token, "sm_"))
        parse_error_token(p, "is no target");
    else if (strtol(parse_token_copy(p, copy, sizeof copy) + 3, NULL, 10) >
             have)
        parse_error(p, "the program is for %s, the GPU is sm_%d", copy, have);
    lexer_next(&p->lexer);
    while (parse_if(p, ','))
        lexer_next(&p->lexer);
}

static void read_top(struct parser *p)
{
    bool external = false;
    while (take(p, ".visible") || take(p, ".weak") ||
           (take(p, ".extern") && (external = true)))
        continue;
    if (take(p, ".target"))
        read_target(p);
    else if (take(p, ".entry"))
        read_kernel(p);
    else if (take(p, ".func"))
        read_function(p);
    else if (take(p, ".global"))
        read_variables(p, SPACE_GLOBAL, external);
    else if (take(p, ".const"))
        read_variables(p, SPACE_CONST, external);
    else if (take(p, ".shared"))
        read_variables(p, SPACE_SHARED, external);
    else if (token_is(&p->lexer.token, ".file"))
        lexer_skip_line(&p->lexer);
    else if (!take(p, ".address_size"))
        parse_error_token(p, "is not known to the simulator here");
    else if (parse_number(p) != 64)
        parse_error(p, "addresses have 64 bits here");
}

static void read_module(struct parser *p)
{
    if (!take(p, ".version"))
        parse_error(p, "a program begins with .version");
    lexer_next(&p->lexer);
    if (!token_is(&p->lexer.token, ".target"))
        parse_error(p, ".version is followed by .target");
    while (p->lexer.token.kind != TOKEN_END)
        read_top(p);
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
    read_module(p);
    const bool failed = p->failed;
    if (failed)
        module_free(p->module);
    else
        *module = p->module;
    symbols_free(p);
    free(p);
    return failed ? err->code : 0;
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
