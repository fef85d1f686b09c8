/*
 * Operands.  What a register may be used for follows the PTX manual: its size
 * must be the instruction's (loads, stores and cvt take wider ones too, of bits
 * for floats), bits fit everything of their size, integers and floats do not
 * mix.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/ptx/convert.h"
#include "device/sim/ptx/parser.h"

static const char *const special_names[SPECIAL_COUNT] = {
#define X(id, name) name,
    PTX_SPECIALS(X)
#undef X
};

/* SPECIAL_COUNT if it is none. */
static enum ptx_special special_find(const struct token *t)
{
    for (int i = 0; i < SPECIAL_COUNT; i++)
        if (t->length == strlen(special_names[i]) + 1 && t->text[0] == '%' &&
            strncmp(t->text + 1, special_names[i], t->length - 1) == 0)
            return (enum ptx_special)i;
    return SPECIAL_COUNT;
}

static bool takes_wider(const struct instruction *in)
{
    return in->op->kind == OP_LOAD || in->op->kind == OP_STORE ||
           in->opcode->code == ALU_CVT;
}

static bool fits(enum ptx_type wanted, enum ptx_type have, bool wider)
{
    const struct ptx_type_info *const w = &ptx_types[wanted];
    const struct ptx_type_info *const h = &ptx_types[have];
    if (w->class == 'p' || h->class == 'p')
        return w->class == h->class;
    if (h->bytes != w->bytes)
        return wider && h->bytes > w->bytes && h->class != 'f' &&
               (w->class != 'f' || h->class == 'b');
    if (w->class == 'b' || h->class == 'b')
        return true;
    return w->class != 'f' && h->class != 'f' ? true : wanted == have;
}

/* The number of the register that the current token names, and its type. */
static int read_register(struct parser *p, enum ptx_type wanted, bool wider,
                         uint32_t *number, enum ptx_type *type)
{
    const struct token *const t = &p->lexer.token;
    uint32_t index;
    struct symbol *const s = symbol_find(p, t, &index);
    if (s == NULL || s->kind > SYMBOL_RANGE)
        return parse_error(p, "register '%.*s' is not declared", (int)t->length,
                           t->text);
    if (!fits(wanted, s->type, wider))
        return parse_error(p, "'%.*s' is a .%s register where .%s is wanted",
                           (int)t->length, t->text, ptx_types[s->type].name,
                           ptx_types[wanted].name);
    *number = symbol_register(p, s, index);
    *type = s->type;
    lexer_next(&p->lexer);
    return 0;
}

static int read_destination(struct parser *p, struct instruction *in,
                            enum ptx_type type, uint32_t *number)
{
    enum ptx_type have = type;
    if (token_is(&p->lexer.token, "_")) {
        *number = REG_SINK;
        lexer_next(&p->lexer);
        return 0;
    }
    const int code = read_register(p, type, takes_wider(in), number, &have);
    in->op->dst_bytes = (uint8_t)ptx_types[have].bytes;
    return code;
}

static int read_address_constant(struct parser *p, const struct symbol *s,
                                 enum ptx_type type, uint32_t *number)
{
    struct constant c = {.kind = CONSTANT_ADDRESS,
                         .space = s->variable.space,
                         .dynamic = s->variable.dynamic,
                         .value = s->variable.offset};
    if (ptx_types[type].bytes < 4 || ptx_types[type].class == 'f')
        return parse_error(p, "the address of '%s' does not fit a .%s", s->name,
                           ptx_types[type].name);
    lexer_next(&p->lexer);
    uint64_t more = 0;
    if (parse_if(p, '+') && parse_number(p, &more) != 0)
        return p->err->code;
    c.value += more;
    *number = constant_add(p, c);
    return 0;
}

static unsigned special_bytes(enum ptx_special special)
{
    const bool wide = special == SPECIAL_CLOCK64 ||
                      special == SPECIAL_GLOBALTIMER ||
                      special == SPECIAL_GRIDID;
    return wide ? 8 : 4;
}

static int read_special(struct parser *p, struct instruction *in,
                        enum ptx_special special, enum ptx_type type,
                        uint32_t *number)
{
    const struct token *const t = &p->lexer.token;
    const unsigned bytes = special_bytes(special);
    if (ptx_types[type].class == 'f' ||
        (ptx_types[type].bytes != bytes && special != SPECIAL_GRIDID))
        return parse_error(p, "%.*s has %u bits, .%s is wanted", (int)t->length,
                           t->text, bytes * 8, ptx_types[type].name);
    if (special >= SPECIAL_CLOCK) {
        if (in->opcode->code != ALU_MOV)
            return parse_error(p, "%.*s can only be read by mov",
                               (int)t->length, t->text);
        in->op->kind = OP_CLOCK;
        in->op->sub = (uint8_t)special;
        *number = REG_ZERO;
    } else {
        *number = constant_add(
            p, (struct constant){.kind = CONSTANT_SPECIAL, .special = special});
    }
    lexer_next(&p->lexer);
    return 0;
}

static bool looks_like_literal(const struct token *t)
{
    return isdigit((unsigned char)t->text[0]) || t->text[0] == '-' ||
           token_is(t, "WARP_SZ");
}

/* A register, a literal, an address or a special register. */
static int read_source(struct parser *p, struct instruction *in,
                       enum ptx_type type, uint32_t *number)
{
    const struct token *const t = &p->lexer.token;
    uint32_t index;
    if (looks_like_literal(t)) {
        struct constant c = {.kind = CONSTANT_VALUE};
        const int code = parse_literal(p, type, &c.value);
        *number = code == 0 ? constant_add(p, c) : REG_ZERO;
        return code;
    }
    const struct symbol *const s = symbol_find(p, t, &index);
    if (s != NULL && s->kind == SYMBOL_VARIABLE && in->opcode->code == ALU_MOV)
        return read_address_constant(p, s, type, number);
    const enum ptx_special special = special_find(t);
    if (s == NULL && special != SPECIAL_COUNT)
        return read_special(p, in, special, type, number);
    enum ptx_type have;
    return read_register(p, type, takes_wider(in), number, &have);
}

/* {a, b, …}: each element by `one`; puts how many there were. */
static int read_vector(struct parser *p, struct instruction *in,
                       enum ptx_type type, uint32_t *numbers,
                       int (*one)(struct parser *, struct instruction *,
                                  enum ptx_type, uint32_t *),
                       unsigned *count)
{
    int code = parse_character(p, '{');
    for (*count = 0; code == 0; ++*count) {
        if (*count == OP_DESTINATIONS)
            return parse_error(p, "a vector of more than %d elements",
                               OP_DESTINATIONS);
        code = one(p, in, type, &numbers[*count]);
        if (code == 0 && parse_if(p, '}')) {
            ++*count;
            return 0;
        }
        if (code == 0)
            code = parse_character(p, ',');
    }
    return code;
}

/* An element or a vector of as many as the instruction says. */
static int read_elements(struct parser *p, struct instruction *in,
                         uint32_t *numbers,
                         int (*one)(struct parser *, struct instruction *,
                                    enum ptx_type, uint32_t *))
{
    const unsigned wanted =
        in->has >> GROUP_VECTOR & 1 ? in->value[GROUP_VECTOR] : 1;
    in->op->elements = (uint8_t)wanted;
    if (wanted == 1)
        return one(p, in, in->types[0], numbers);
    unsigned count;
    const int code = read_vector(p, in, in->types[0], numbers, one, &count);
    if (code == 0 && count != wanted)
        return parse_error(p, "%u elements where .v%u has %u", count, wanted,
                           wanted);
    return code;
}

/* The type of one element of a register of `type` cut into `count`. */
static enum ptx_type part_type(enum ptx_type type, unsigned count)
{
    switch (ptx_types[type].class == 'b' ? ptx_types[type].bytes / count : 0) {
    case 1:
        return TYPE_B8;
    case 2:
        return TYPE_B16;
    case 4:
        return TYPE_B32;
    default:
        return TYPE_NONE;
    }
}

/* How many elements the { } at the current token has. */
static unsigned count_elements(const struct parser *p)
{
    unsigned count = 1;
    for (const char *at = p->lexer.token.text; *at != '\0' && *at != '}'; at++)
        count += *at == ',';
    return count;
}

/* mov with a vector on one side packs or unpacks. */
static int read_vector_of_mov(struct parser *p, struct instruction *in,
                              uint32_t *numbers, unsigned code,
                              int (*one)(struct parser *, struct instruction *,
                                         enum ptx_type, uint32_t *))
{
    unsigned count = count_elements(p);
    const enum ptx_type part = part_type(in->types[0], count);
    if (part == TYPE_NONE || (count != 2 && count != 4))
        return parse_error(p, "a .%s cannot be made of %u elements",
                           ptx_types[in->types[0]].name, count);
    in->op->elements = (uint8_t)count;
    in->op->alu = alu_find(code, in->types[0]);
    return read_vector(p, in, part, numbers, one, &count);
}

static int read_mov(struct parser *p, struct instruction *in)
{
    struct op *const op = in->op;
    int code =
        parse_at(p, '{')
            ? read_vector_of_mov(p, in, op->dst, ALU_UNPACK, read_destination)
            : read_destination(p, in, in->types[0], &op->dst[0]);
    if (code == 0)
        code = parse_character(p, ',');
    if (code != 0)
        return code;
    if (!parse_at(p, '{'))
        return read_source(p, in, in->types[0], &op->src[0]);
    if (op->alu != NULL)
        return parse_error(p, "mov takes one vector, not two");
    return read_vector_of_mov(p, in, op->src, ALU_PACK, read_source);
}

static int read_predicate(struct parser *p, uint32_t *number)
{
    enum ptx_type type;
    return read_register(p, TYPE_PRED, false, number, &type);
}

/* p or p|q, of which either may be _. */
static int read_predicates(struct parser *p, struct instruction *in)
{
    in->op->dst[1] = REG_SINK;
    int code = read_destination(p, in, TYPE_PRED, &in->op->dst[0]);
    if (code == 0 && parse_if(p, '|')) {
        /* Without a third predicate, combined with "true". */
        in->op->combine = true;
        in->op->third_inverted = true;
        code = read_destination(p, in, TYPE_PRED, &in->op->dst[1]);
    }
    return code;
}

/* d or d|p of shfl and its kin. */
static int read_shuffled(struct parser *p, struct instruction *in,
                         enum ptx_type type)
{
    in->op->dst[1] = REG_SINK;
    const int code = read_destination(p, in, type, &in->op->dst[0]);
    if (code != 0 || !parse_if(p, '|'))
        return code;
    return read_destination(p, in, TYPE_PRED, &in->op->dst[1]);
}

/* The address's symbol: its offset, and a base if it is not known yet. */
static int read_address_symbol(struct parser *p, struct instruction *in,
                               const struct symbol *s)
{
    const struct variable *const v = &s->variable;
    if (v->space != in->op->space)
        return parse_error(p, "'%s' is .%s, not .%s", s->name,
                           ptx_spaces[v->space], ptx_spaces[in->op->space]);
    if (v->space == SPACE_PARAM) {
        in->op->offset += (int64_t)v->offset;
        lexer_next(&p->lexer);
        return 0;
    }
    in->op->src[0] = constant_add(p, (struct constant){
                                         .kind = CONSTANT_ADDRESS,
                                         .space = v->space,
                                         .dynamic = v->dynamic,
                                         .value = v->offset,
                                     });
    lexer_next(&p->lexer);
    return 0;
}

static int read_address_register(struct parser *p, struct instruction *in)
{
    const struct token t = p->lexer.token;
    uint32_t index;
    const struct symbol *const s = symbol_find(p, &t, &index);
    const unsigned bytes = s != NULL && ptx_types[s->type].class != 'f'
                               ? ptx_types[s->type].bytes
                               : 0;
    if (s != NULL && bytes != 4 && bytes != 8)
        return parse_error(p, "'%.*s' is a .%s register and no address",
                           (int)t.length, t.text, ptx_types[s->type].name);
    enum ptx_type type;
    return read_register(p, bytes == 4 ? TYPE_B32 : TYPE_B64, false,
                         &in->op->src[0], &type);
}

/* [register or symbol or number, + number] */
static int read_address(struct parser *p, struct instruction *in)
{
    int code = parse_character(p, '[');
    if (code != 0)
        return code;
    const struct token *const t = &p->lexer.token;
    uint32_t index;
    const struct symbol *const s = symbol_find(p, t, &index);
    uint64_t more = 0;
    if (looks_like_literal(t))
        code = parse_number(p, &more);
    else if (s != NULL && s->kind == SYMBOL_VARIABLE)
        code = read_address_symbol(p, in, s);
    else
        code = read_address_register(p, in);
    in->op->offset += (int64_t)more;
    more = 0;
    if (code == 0 && (parse_if(p, '+') || parse_at(p, '-')))
        code = parse_number(p, &more);
    in->op->offset += (int64_t)more;
    return code == 0 ? parse_character(p, ']') : code;
}

/* [register] */
static int read_further_address(struct parser *p, uint32_t *number)
{
    enum ptx_type type;
    uint32_t index;
    int code = parse_character(p, '[');
    if (code != 0)
        return code;
    const struct symbol *const s = symbol_find(p, &p->lexer.token, &index);
    const bool narrow = s != NULL && ptx_types[s->type].bytes == 4;
    code = read_register(p, narrow ? TYPE_B32 : TYPE_B64, false, number, &type);
    return code == 0 ? parse_character(p, ']') : code;
}

/* [texture object, {coordinate}] */
static int read_texel(struct parser *p, struct instruction *in)
{
    int code = parse_character(p, '[');
    if (code == 0)
        code = read_source(p, in, TYPE_B64, &in->op->src[0]);
    if (code == 0)
        code = parse_character(p, ',');
    if (code != 0)
        return code;
    const bool braces = parse_if(p, '{');
    code = read_source(p, in, in->types[1], &in->op->src[1]);
    if (code == 0 && braces)
        code = parse_character(p, '}');
    return code == 0 ? parse_character(p, ']') : code;
}

static int read_label(struct parser *p, struct instruction *in)
{
    if (p->lexer.token.kind != TOKEN_WORD)
        return parse_error(p, "a label is missing");
    jump_add(p, &p->lexer.token, (uint32_t)(in->op - p->kernel->ops));
    lexer_next(&p->lexer);
    return 0;
}

/* (register, …): .params, which are registers here. */
int parse_passed(struct parser *p, struct passed *passed)
{
    enum ptx_type have;
    int code = parse_character(p, '(');
    passed->count = 0;
    while (code == 0 && !parse_if(p, ')')) {
        if (passed->count == PASSED_MOST)
            return parse_error(p, "more than %d values are passed",
                               PASSED_MOST);
        if (passed->count > 0)
            code = parse_character(p, ',');
        if (code == 0)
            code = read_register(p, TYPE_B32, false,
                                 &passed->number[passed->count++], &have);
    }
    return code;
}

/* (results), address, (arguments), prototype */
static int read_call(struct parser *p, struct instruction *in)
{
    struct op *const op = in->op;
    struct passed results = {0}, arguments = {0};
    int code = parse_passed(p, &results);
    if (code == 0)
        code = parse_character(p, ',');
    if (code == 0)
        code = read_source(p, in, TYPE_B64, &op->src[0]);
    if (code == 0)
        code = parse_character(p, ',');
    if (code == 0)
        code = parse_passed(p, &arguments);
    if (code == 0)
        code = parse_character(p, ',');
    memcpy(op->dst, results.number, results.count * sizeof *op->dst);
    memcpy(op->src + 1, arguments.number, arguments.count * sizeof *op->src);
    op->elements = (uint8_t)results.count;
    op->bytes = (uint8_t)arguments.count;
    lexer_next(&p->lexer); /* whatever its prototype is called */
    return code;
}

static enum ptx_type wide_type(const struct instruction *in)
{
    static const enum ptx_type wide[TYPE_COUNT] = {
        [TYPE_U16] = TYPE_U32,
        [TYPE_S16] = TYPE_S32,
        [TYPE_U32] = TYPE_U64,
        [TYPE_S32] = TYPE_S64,
    };
    const bool doubles = (in->has >> GROUP_PART & 1) != 0 &&
                         in->value[GROUP_PART] == PART_WIDE &&
                         wide[in->types[0]] != TYPE_NONE;
    return doubles ? wide[in->types[0]] : in->types[0];
}

/* { } of just so many registers. */
static int read_fragment(struct parser *p, enum ptx_type type,
                         uint32_t *numbers, unsigned count)
{
    enum ptx_type have;
    int code = parse_character(p, '{');
    for (unsigned i = 0; code == 0 && i < count; i++) {
        if (i > 0)
            code = parse_character(p, ',');
        if (code == 0)
            code = read_register(p, type, false, &numbers[i], &have);
    }
    return code == 0 ? parse_character(p, '}') : code;
}

/* True if such elements are multiplied in that shape: rows of 16 or 32 bytes,
 * of doubles up to 128. */
static bool fits_shape(const struct matrix *x)
{
    const unsigned bytes = ptx_types[x->from].bytes * x->k;
    if (x->from == TYPE_F64)
        return x->m == 16 || x->k == 4;
    return (x->m == 16 && (bytes == 16 || bytes == 32)) ||
           (x->m == 8 && bytes == 16 && x->to == TYPE_S32);
}

/* True if products of `from` are added to `to`. */
static bool fits_sum(enum ptx_type from, enum ptx_type to)
{
    switch (from) {
    case TYPE_F16:
        return to == TYPE_F16 || to == TYPE_F32;
    case TYPE_BF16:
    case TYPE_TF32:
        return to == TYPE_F32;
    case TYPE_S8:
    case TYPE_U8:
        return to == TYPE_S32;
    default:
        return from == TYPE_F64 && to == TYPE_F64;
    }
}

/* Registers of 32 bits, or of 64 of doubles. */
static enum ptx_type register_of(enum ptx_type type)
{
    return type == TYPE_F64 || type == TYPE_F32 ? type : TYPE_B32;
}

static int read_matrix(struct parser *p, struct instruction *in)
{
    struct kernel *const k = p->kernel;
    struct matrix x = {.m = SHAPE_M(in->value[GROUP_SHAPE]),
                       .k = SHAPE_K(in->value[GROUP_SHAPE]),
                       .from = in->types[1],
                       .to = in->types[0]};
    if (in->types[2] != x.from || in->types[3] != x.to ||
        !fits_sum(x.from, x.to) || !fits_shape(&x))
        return parse_error(p,
                           "mma does not multiply these types in this shape "
                           "(%.*s)",
                           (int)in->mnemonic.length, in->mnemonic.text);
    const unsigned lanes = 32 * (x.from == TYPE_F64 ? 8 : 4);
    x.a_count = x.m * x.k * ptx_types[x.from].bytes / lanes;
    x.b_count = 8 * x.k * ptx_types[x.from].bytes / lanes;
    x.c_count = x.m * 8 * ptx_types[x.to].bytes / lanes;
    const enum ptx_type sums = register_of(x.to);
    const enum ptx_type factors = x.from == TYPE_F64 ? TYPE_F64 : TYPE_B32;
    int code = read_fragment(p, sums, x.d, x.c_count);
    if (code == 0 && (code = parse_character(p, ',')) == 0)
        code = read_fragment(p, factors, x.a, x.a_count);
    if (code == 0 && (code = parse_character(p, ',')) == 0)
        code = read_fragment(p, factors, x.b, x.b_count);
    if (code == 0 && (code = parse_character(p, ',')) == 0)
        code = read_fragment(p, sums, x.c, x.c_count);
    k->matrices =
        xreallocarray(k->matrices, k->matrix_count + 1, sizeof *k->matrices);
    in->op->dst[0] = x.d[0];
    in->op->offset = (int64_t)k->matrix_count;
    k->matrices[k->matrix_count++] = x;
    return code;
}

static int read_third_predicate(struct parser *p, struct instruction *in,
                                uint32_t *number)
{
    in->op->combine = true;
    in->op->third_inverted = parse_if(p, '!');
    if (in->opcode->code == ALU_SELP && in->op->third_inverted)
        return parse_error(p, "selp takes no !");
    return read_predicate(p, number);
}

/* One piece: a letter of an opcode's pattern, a case. */
static int read_operand(struct parser *p, struct instruction *in, char letter,
                        unsigned *source)
{
    struct op *const op = in->op;
    uint64_t literal;
    int code;
    switch (letter) {
    case 'd':
        return read_destination(p, in, in->types[0], &op->dst[0]);
    case 'D':
        return read_destination(p, in, wide_type(in), &op->dst[0]);
    case 'r':
        return read_destination(p, in, TYPE_B32, &op->dst[0]);
    case 'P':
        return read_predicates(p, in);
    case 's':
        return read_shuffled(p, in, in->types[0]);
    case 'R':
        return read_shuffled(p, in, TYPE_B32);
    case 'p':
        return read_destination(p, in, TYPE_PRED, &op->dst[0]);
    case 'g':
        return read_source(p, in, TYPE_B64, &op->src[(*source)++]);
    case 'v':
        return read_elements(p, in, op->dst, read_destination);
    case 'w':
        code = read_elements(p, in, op->src + 1, read_source);
        *source += op->elements;
        return code;
    case 'm':
        *source += 1;
        return read_address(p, in);
    case 'k':
        return read_further_address(p, &op->src[(*source)++]);
    case 'x':
        return read_texel(p, in);
    case 'M':
        return read_mov(p, in);
    case 'F':
        return read_matrix(p, in);
    case 'l':
        return read_label(p, in);
    case 'C':
        return read_call(p, in);
    case 'i':
        if (parse_number(p, &literal) != 0)
            return p->err->code;
        op->offset = (int64_t)literal;
        return 0;
    case 'q':
        return read_third_predicate(p, in, &op->src[(*source)++]);
    case 'A':
        return read_source(p, in, wide_type(in), &op->src[(*source)++]);
    case 'f':
        return read_source(p, in, in->types[1], &op->src[(*source)++]);
    case 'u':
    case 'n':
        return read_source(p, in, TYPE_B32, &op->src[(*source)++]);
    default:
        return read_source(p, in, in->types[0], &op->src[(*source)++]);
    }
}

/* Whether a predicate, and no number of threads, follows the comma. */
static bool lacks_threads(struct parser *p)
{
    struct lexer ahead = p->lexer;
    uint32_t index;
    lexer_next(&ahead);
    const struct symbol *const s = symbol_find(p, &ahead.token, &index);
    return ahead.token.text[0] == '!' || (s != NULL && s->type == TYPE_PRED);
}

int parse_operands(struct parser *p, struct instruction *in)
{
    unsigned source = 0;
    for (const char *letter = in->opcode->operands; *letter != '\0'; letter++) {
        const bool first = letter == in->opcode->operands;
        const bool optional = letter[1] == '?';
        if (optional && parse_at(p, ';'))
            return 0;
        if (*letter == 'c' || (*letter == 'n' && lacks_threads(p))) {
            in->op->src[source++] = *letter == 'c' ? REG_CARRY : REG_ZERO;
            continue;
        }
        if (*letter == 'e') {
            in->op->src[source++] =
                constant_add(p, (struct constant){
                                    .kind = CONSTANT_VALUE,
                                    .value = in->value[GROUP_HINT],
                                });
            continue;
        }
        int code = first ? 0 : parse_character(p, ',');
        if (code == 0)
            code = read_operand(p, in, *letter, &source);
        if (code != 0)
            return code;
        letter += optional;
        in->sources = source;
    }
    return 0;
}
