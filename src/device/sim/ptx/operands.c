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
#include "device/sim/ptx/parser.h"

static const char *const special_names[SPECIAL_COUNT] = {
#define SPECIAL(id, name, value) name,
#define CLOCK                    SPECIAL
#include "device/sim/ptx/specials.def"
#undef CLOCK
#undef SPECIAL
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

/* The number of the register that the current token names; its type, unless
 * that is NULL. */
static uint32_t read_register(struct parser *p, enum ptx_type wanted,
                              bool wider, enum ptx_type *type)
{
    const struct token *const t = &p->lexer.token;
    uint32_t index;
    struct symbol *const s = symbol_find(p, t, &index);
    if (s == NULL || s->kind > SYMBOL_RANGE)
        parse_error(p, "register '%.*s' is not declared", (int)t->length,
                    t->text);
    else if (!fits(wanted, s->type, wider))
        parse_error(p, "'%.*s' is a .%s register where .%s is wanted",
                    (int)t->length, t->text, ptx_types[s->type].name,
                    ptx_types[wanted].name);
    if (p->failed)
        return REG_ZERO;
    if (type != NULL)
        *type = s->type;
    lexer_next(&p->lexer);
    return symbol_register(p, s, index);
}

static uint32_t read_destination(struct parser *p, struct instruction *in,
                                 enum ptx_type type)
{
    if (token_is(&p->lexer.token, "_")) {
        lexer_next(&p->lexer);
        return REG_SINK;
    }
    const uint32_t number = read_register(p, type, takes_wider(in), &type);
    in->op->dst_bytes = (uint8_t)ptx_types[type].bytes;
    return number;
}

/* What a variable's address is, as far as it is known yet. */
static struct constant address_of(const struct variable *v)
{
    return (struct constant){.kind = CONSTANT_ADDRESS,
                             .space = v->space,
                             .dynamic = v->dynamic,
                             .value = v->offset};
}

static uint32_t read_address_constant(struct parser *p, const struct symbol *s,
                                      enum ptx_type type)
{
    struct constant c = address_of(&s->variable);
    if (ptx_types[type].bytes < 4 || ptx_types[type].class == 'f')
        parse_error(p, "the address of '%s' does not fit a .%s", s->name,
                    ptx_types[type].name);
    lexer_next(&p->lexer);
    if (parse_if(p, '+'))
        c.value += parse_number(p);
    return constant_add(p, c);
}

static unsigned special_bytes(enum ptx_special special)
{
    const bool wide = special == SPECIAL_CLOCK64 ||
                      special == SPECIAL_GLOBALTIMER ||
                      special == SPECIAL_GRIDID;
    return wide ? 8 : 4;
}

static uint32_t read_special(struct parser *p, struct instruction *in,
                             enum ptx_special special, enum ptx_type type)
{
    const struct token t = p->lexer.token;
    const unsigned bytes = special_bytes(special);
    const bool varies = special >= SPECIAL_CLOCK;
    if (ptx_types[type].class == 'f' ||
        (ptx_types[type].bytes != bytes && special != SPECIAL_GRIDID))
        parse_error(p, "%.*s has %u bits, .%s is wanted", (int)t.length, t.text,
                    bytes * 8, ptx_types[type].name);
    if (varies && in->opcode->code != ALU_MOV)
        parse_error(p, "%.*s can only be read by mov", (int)t.length, t.text);
    lexer_next(&p->lexer);
    if (!varies)
        return constant_add(
            p, (struct constant){.kind = CONSTANT_SPECIAL, .special = special});
    in->op->kind = OP_CLOCK;
    in->op->sub = (uint8_t)special;
    return REG_ZERO;
}

static bool looks_like_literal(const struct token *t)
{
    return isdigit((unsigned char)t->text[0]) || t->text[0] == '-' ||
           token_is(t, "WARP_SZ");
}

/* A register, a literal, an address or a special register. */
static uint32_t read_source(struct parser *p, struct instruction *in,
                            enum ptx_type type)
{
    const struct token *const t = &p->lexer.token;
    uint32_t index;
    if (looks_like_literal(t))
        return constant_add(p, (struct constant){.kind = CONSTANT_VALUE,
                                                 .value = parse_literal(p, type)});
    const struct symbol *const s = symbol_find(p, t, &index);
    if (s != NULL && s->kind == SYMBOL_VARIABLE && in->opcode->code == ALU_MOV)
        return read_address_constant(p, s, type);
    const enum ptx_special special = special_find(t);
    if (s == NULL && special != SPECIAL_COUNT)
        return read_special(p, in, special, type);
    return read_register(p, type, takes_wider(in), NULL);
}

/* A destination, or a source. */
typedef uint32_t read_fn(struct parser *p, struct instruction *in,
                         enum ptx_type type);

/* {a, b, …}: each element by `one`; returns how many there were. */
static unsigned read_vector(struct parser *p, struct instruction *in,
                            enum ptx_type type, uint32_t *numbers, read_fn *one)
{
    unsigned count = 0;
    for (parse_character(p, '{'); !p->failed; parse_character(p, ',')) {
        if (count == OP_DESTINATIONS)
            parse_error(p, "a vector of more than %d elements",
                        OP_DESTINATIONS);
        else
            numbers[count++] = one(p, in, type);
        if (parse_if(p, '}'))
            break;
    }
    return count;
}

/* An element or a vector of as many as the instruction says. */
static void read_elements(struct parser *p, struct instruction *in,
                          uint32_t *numbers, read_fn *one)
{
    const unsigned wanted =
        in->has >> GROUP_VECTOR & 1 ? in->value[GROUP_VECTOR] : 1;
    in->op->elements = (uint8_t)wanted;
    if (wanted == 1) {
        numbers[0] = one(p, in, in->types[0]);
        return;
    }
    const unsigned count = read_vector(p, in, in->types[0], numbers, one);
    if (count != wanted)
        parse_error(p, "%u elements where .v%u has %u", count, wanted, wanted);
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
static void read_vector_of_mov(struct parser *p, struct instruction *in,
                               uint32_t *numbers, unsigned code, read_fn *one)
{
    const unsigned count = count_elements(p);
    const enum ptx_type part = part_type(in->types[0], count);
    if (part == TYPE_NONE || (count != 2 && count != 4))
        parse_error(p, "a .%s cannot be made of %u elements",
                    ptx_types[in->types[0]].name, count);
    in->op->elements = (uint8_t)count;
    in->op->alu = alu_find(code, in->types[0]);
    read_vector(p, in, part, numbers, one);
}

static void read_mov(struct parser *p, struct instruction *in)
{
    struct op *const op = in->op;
    if (parse_at(p, '{'))
        read_vector_of_mov(p, in, op->dst, ALU_UNPACK, read_destination);
    else
        op->dst[0] = read_destination(p, in, in->types[0]);
    parse_character(p, ',');
    if (!parse_at(p, '{'))
        op->src[0] = read_source(p, in, in->types[0]);
    else if (op->alu != NULL)
        parse_error(p, "mov takes one vector, not two");
    else
        read_vector_of_mov(p, in, op->src, ALU_PACK, read_source);
}

/* p or p|q, of which either may be _. */
static void read_predicates(struct parser *p, struct instruction *in)
{
    struct op *const op = in->op;
    op->dst[1] = REG_SINK;
    op->dst[0] = read_destination(p, in, TYPE_PRED);
    if (!parse_if(p, '|'))
        return;
    /* Without a third predicate, combined with "true". */
    op->combine = true;
    op->third_inverted = true;
    op->dst[1] = read_destination(p, in, TYPE_PRED);
}

/* d or d|p of shfl and its kin. */
static void read_shuffled(struct parser *p, struct instruction *in,
                          enum ptx_type type)
{
    in->op->dst[0] = read_destination(p, in, type);
    in->op->dst[1] =
        parse_if(p, '|') ? read_destination(p, in, TYPE_PRED) : REG_SINK;
}

/* The address's symbol: its offset, and a base if it is not known yet. */
static void read_address_symbol(struct parser *p, struct instruction *in,
                                const struct symbol *s)
{
    const struct variable *const v = &s->variable;
    if (v->space != in->op->space)
        parse_error(p, "'%s' is .%s, not .%s", s->name, ptx_spaces[v->space],
                    ptx_spaces[in->op->space]);
    else if (v->space == SPACE_PARAM)
        in->op->offset += (int64_t)v->offset;
    else
        in->op->src[0] = constant_add(p, address_of(v));
    lexer_next(&p->lexer);
}

/* A register of 32 or 64 bits. */
static uint32_t read_address_register(struct parser *p)
{
    const struct token *const t = &p->lexer.token;
    uint32_t index;
    const struct symbol *const s = symbol_find(p, t, &index);
    const unsigned bytes = s != NULL && ptx_types[s->type].class != 'f'
                               ? ptx_types[s->type].bytes
                               : 0;
    if (s != NULL && bytes != 4 && bytes != 8)
        parse_error(p, "'%.*s' is a .%s register and no address",
                    (int)t->length, t->text, ptx_types[s->type].name);
    return read_register(p, bytes == 4 ? TYPE_B32 : TYPE_B64, false, NULL);
}

/* [register or symbol or number, + number] */
static void read_address(struct parser *p, struct instruction *in)
{
    const struct token *const t = &p->lexer.token;
    uint32_t index;
    parse_character(p, '[');
    const struct symbol *const s = symbol_find(p, t, &index);
    if (looks_like_literal(t))
        in->op->offset += (int64_t)parse_number(p);
    else if (s != NULL && s->kind == SYMBOL_VARIABLE)
        read_address_symbol(p, in, s);
    else
        in->op->src[0] = read_address_register(p);
    if (parse_if(p, '+') || parse_at(p, '-'))
        in->op->offset += (int64_t)parse_number(p);
    parse_character(p, ']');
}

/* [register] */
static uint32_t read_further_address(struct parser *p)
{
    parse_character(p, '[');
    const uint32_t number = read_address_register(p);
    parse_character(p, ']');
    return number;
}

/* [texture object, {coordinate}] */
static void read_texel(struct parser *p, struct instruction *in)
{
    parse_character(p, '[');
    in->op->src[0] = read_source(p, in, TYPE_B64);
    parse_character(p, ',');
    const bool braces = parse_if(p, '{');
    in->op->src[1] = read_source(p, in, in->types[1]);
    if (braces)
        parse_character(p, '}');
    parse_character(p, ']');
}

static void read_label(struct parser *p, struct instruction *in)
{
    if (p->lexer.token.kind != TOKEN_WORD)
        parse_error(p, "a label is missing");
    else
        jump_add(p, &p->lexer.token, (uint32_t)(in->op - p->kernel->ops));
    lexer_next(&p->lexer);
}

/* (register, …): .params, which are registers here. */
static struct passed read_passed(struct parser *p)
{
    struct passed passed = {0};
    parse_character(p, '(');
    while (!p->failed && !parse_if(p, ')')) {
        if (passed.count == PASSED_MOST) {
            parse_error(p, "more than %d values are passed", PASSED_MOST);
            break;
        }
        if (passed.count > 0)
            parse_character(p, ',');
        passed.number[passed.count++] = read_register(p, TYPE_B32, false, NULL);
    }
    return passed;
}

/* (results), address, (arguments), prototype */
static void read_call(struct parser *p, struct instruction *in)
{
    struct op *const op = in->op;
    const struct passed results = read_passed(p);
    parse_character(p, ',');
    op->src[0] = read_source(p, in, TYPE_B64);
    parse_character(p, ',');
    const struct passed arguments = read_passed(p);
    parse_character(p, ',');
    memcpy(op->dst, results.number, results.count * sizeof *op->dst);
    memcpy(op->src + 1, arguments.number, arguments.count * sizeof *op->src);
    op->elements = (uint8_t)results.count;
    op->bytes = (uint8_t)arguments.count;
    lexer_next(&p->lexer); /* whatever its prototype is called */
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
static void read_fragment(struct parser *p, enum ptx_type type,
                          uint32_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        parse_character(p, i == 0 ? '{' : ',');
        numbers[i] = read_register(p, type, false, NULL);
    }
    parse_character(p, '}');
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

static void read_matrix(struct parser *p, struct instruction *in)
{
    struct kernel *const k = p->kernel;
    struct matrix x = {.m = SHAPE_M(in->value[GROUP_SHAPE]),
                       .k = SHAPE_K(in->value[GROUP_SHAPE]),
                       .from = in->types[1],
                       .to = in->types[0]};
    if (in->types[2] != x.from || in->types[3] != x.to ||
        !fits_sum(x.from, x.to) || !fits_shape(&x)) {
        parse_error(p,
                    "mma does not multiply these types in this shape (%.*s)",
                    (int)in->mnemonic.length, in->mnemonic.text);
        return;
    }
    const unsigned lanes = 32 * (x.from == TYPE_F64 ? 8 : 4);
    x.a_count = x.m * x.k * ptx_types[x.from].bytes / lanes;
    x.b_count = 8 * x.k * ptx_types[x.from].bytes / lanes;
    x.c_count = x.m * 8 * ptx_types[x.to].bytes / lanes;
    const enum ptx_type sums = register_of(x.to);
    const enum ptx_type factors = x.from == TYPE_F64 ? TYPE_F64 : TYPE_B32;
    read_fragment(p, sums, x.d, x.c_count);
    parse_character(p, ',');
    read_fragment(p, factors, x.a, x.a_count);
    parse_character(p, ',');
    read_fragment(p, factors, x.b, x.b_count);
    parse_character(p, ',');
    read_fragment(p, sums, x.c, x.c_count);
    k->matrices =
        xreallocarray(k->matrices, k->matrix_count + 1, sizeof *k->matrices);
    in->op->dst[0] = x.d[0];
    in->op->offset = (int64_t)k->matrix_count;
    k->matrices[k->matrix_count++] = x;
}

static uint32_t read_third_predicate(struct parser *p, struct instruction *in)
{
    in->op->combine = true;
    in->op->third_inverted = parse_if(p, '!');
    if (in->opcode->code == ALU_SELP && in->op->third_inverted)
        parse_error(p, "selp takes no !");
    return read_register(p, TYPE_PRED, false, NULL);
}

/* What the operand of that letter is of, where that is one type. */
static enum ptx_type operand_type(const struct instruction *in, char letter)
{
    switch (letter) {
    case 'D':
    case 'A':
        return wide_type(in);
    case 'f':
        return in->types[1];
    case 'g':
        return TYPE_B64;
    case 'p':
        return TYPE_PRED;
    default:
        return strchr("rRun", letter) != NULL ? TYPE_B32 : in->types[0];
    }
}

/* Operands that are more than one destination or source. */
static const struct {
    char letter;
    void (*read)(struct parser *p, struct instruction *in);
} whole_operands[] = {
    {'P', read_predicates}, {'x', read_texel}, {'M', read_mov},
    {'F', read_matrix},     {'l', read_label}, {'C', read_call},
};

/* A letter of an opcode's pattern that is one destination or source. */
static void read_one(struct parser *p, struct instruction *in, char letter,
                     uint32_t *into)
{
    const enum ptx_type type = operand_type(in, letter);
    if (strchr("dDrp", letter) != NULL)
        in->op->dst[0] = read_destination(p, in, type);
    else if (strchr("sR", letter) != NULL)
        read_shuffled(p, in, type);
    else if (letter == 'k')
        *into = read_further_address(p);
    else if (letter == 'q')
        *into = read_third_predicate(p, in);
    else
        *into = read_source(p, in, type);
}

/* Returns how many sources it was. */
static unsigned read_operand(struct parser *p, struct instruction *in,
                             char letter, uint32_t *into)
{
    struct op *const op = in->op;
    for (size_t i = 0; i < COUNT_OF(whole_operands); i++)
        if (whole_operands[i].letter == letter) {
            whole_operands[i].read(p, in);
            return 0;
        }
    switch (letter) {
    case 'v':
        read_elements(p, in, op->dst, read_destination);
        return 0;
    case 'w':
        read_elements(p, in, op->src + 1, read_source);
        return op->elements;
    case 'm':
        read_address(p, in);
        return 1;
    case 'i':
        op->offset = (int64_t)parse_number(p);
        return 0;
    default:
        read_one(p, in, letter, into);
        return strchr("dDrpsR", letter) == NULL;
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

void parse_operands(struct parser *p, struct instruction *in)
{
    const char *const letters = in->opcode->operands;
    unsigned source = 0;
    for (const char *letter = letters; *letter != '\0'; letter++) {
        const bool optional = letter[1] == '?';
        if (p->failed || (optional && parse_at(p, ';')))
            return;
        if (*letter == 'c' || (*letter == 'n' && lacks_threads(p))) {
            in->op->src[source++] = *letter == 'c' ? REG_CARRY : REG_ZERO;
            continue;
        }
        if (*letter == 'e') {
            in->op->src[source++] = constant_add(
                p, (struct constant){.kind = CONSTANT_VALUE,
                                     .value = in->value[GROUP_HINT]});
            continue;
        }
        if (letter > letters)
            parse_character(p, ',');
        source += read_operand(p, in, *letter, &in->op->src[source]);
        letter += optional;
        in->sources = source;
    }
}
