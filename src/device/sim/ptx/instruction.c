/*
 * One instruction: its words, its operands, and what the profile says that it
 * costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/sim/ptx/convert.h"
#include "device/sim/ptx/parser.h"

#define HAS(in, group) (((in)->has >> (group)&1) != 0)

/* The word up to the next dot. */
static size_t word_length(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '.')
        length++;
    return length;
}

/* "ld.global.v4.u64 WHAT" */
static void complain(struct parser *p, const struct instruction *in,
                     const char *what)
{
    const struct token *const t = &in->mnemonic;
    parse_error_at(p, t->line, "%.*s %s", (int)t->length, t->text, what);
}

static void type_error(struct parser *p, const struct instruction *in)
{
    const struct token *const t = &in->mnemonic;
    parse_error_at(p, t->line, "%s does not take these types (%.*s)",
                   in->opcode->name, (int)t->length, t->text);
}

static void unknown_opcode(struct parser *p, const struct token *t,
                           size_t length)
{
    char *const name = xstrndup(t->text, length);
    const char *const near = text_nearest(name, opcode_names);
    parse_error_at(
        p, t->line, "instruction '%.*s' is not known to the simulator%s%s%s",
        (int)t->length, t->text, near != NULL ? " (did you mean '" : "",
        near != NULL ? near : "", near != NULL ? "'?)" : "");
    free(name);
}

/* A modifier goes to the first group of that name that the opcode takes and
 * that is still free. */
static void add_modifier(struct parser *p, struct instruction *in,
                        const char *text, size_t length)
{
    const enum ptx_type type = parse_type_name(text, length);
    if (type != TYPE_NONE && in->type_count < in->opcode->types) {
        in->types[in->type_count++] = type;
        return;
    }
    struct modifier m = {.row = 0};
    while (modifier_find(&m, text, length)) {
        const uint64_t bit = UINT64_C(1) << m.group;
        if ((in->opcode->takes & bit) == 0)
            continue;
        if ((in->has & bit) != 0 && m.group != GROUP_HINT &&
            m.group != GROUP_SCOPE && m.group != GROUP_LAYOUT)
            continue;
        in->has |= bit;
        if (m.group == GROUP_HINT) /* one of each level */
            in->value[m.group] |= m.value;
        else
            in->value[m.group] = m.value;
        return;
    }
    parse_error_at(p, in->mnemonic.line,
                   "'.%.*s' is nothing that %s takes (%.*s)", (int)length, text,
                   in->opcode->name, (int)in->mnemonic.length,
                   in->mnemonic.text);
}

static const char *group_example(uint64_t groups)
{
    static const char *const examples[] = {
#define X(id, example) example,
        MODIFIER_GROUPS(X)
#undef X
    };
    for (size_t i = 0; i < GROUP_COUNT; i++)
        if ((groups >> i & 1) != 0 && examples[i] != NULL)
            return examples[i];
    return "a modifier";
}

/* Groups that are alternatives of each other. */
#define EXACTNESS (UINT64_C(1) << GROUP_ROUND | UINT64_C(1) << GROUP_APPROX)

static void require(struct parser *p, const struct instruction *in,
                    uint64_t needs)
{
    char what[64];
    const bool either = (needs & EXACTNESS) == EXACTNESS;
    uint64_t lacking = needs & ~in->has;
    if (either && (in->has & EXACTNESS) != 0)
        lacking &= ~EXACTNESS;
    snprintf(what, sizeof what, "needs %s", group_example(lacking));
    if (lacking != 0)
        complain(p, in, what);
}

static void check_modifiers(struct parser *p, const struct instruction *in)
{
    const char class = ptx_types[in->types[0]].class;
    if (in->type_count < in->opcode->types)
        complain(p, in, "lacks its type");
    require(p, in, in->opcode->needs);
    if (class == 'f')
        require(p, in, in->opcode->needs_float);
    if (class == 'u' || class == 's')
        require(p, in, in->opcode->needs_integer);
}

static void read_mnemonic(struct parser *p, struct instruction *in)
{
    in->mnemonic = p->lexer.token;
    const char *at = in->mnemonic.text;
    const char *const end = at + in->mnemonic.length;
    size_t length = word_length(at, in->mnemonic.length);
    const size_t more =
        length + 1 < in->mnemonic.length
            ? 1 + word_length(at + length + 1, in->mnemonic.length - length - 1)
            : 0;
    in->opcode = opcode_find(at, length + more);
    if (in->opcode != NULL)
        length += more;
    else
        in->opcode = opcode_find(at, length);
    if (in->opcode == NULL) {
        unknown_opcode(p, &in->mnemonic, length);
        return;
    }
    for (at += length; at < end; at += length) {
        at++;
        length = word_length(at, (size_t)(end - at));
        add_modifier(p, in, at, length);
    }
    lexer_next(&p->lexer);
    check_modifiers(p, in);
}

static void read_guard(struct parser *p, struct op *op)
{
    if (!parse_if(p, '@'))
        return;
    op->guard_inverted = parse_if(p, '!');
    uint32_t index;
    struct symbol *const s = symbol_find(p, &p->lexer.token, &index);
    if (s == NULL || s->kind == SYMBOL_VARIABLE || s->type != TYPE_PRED)
        parse_error_token(p, "is no declared predicate");
    else
        op->guard = (int32_t)symbol_register(p, s, index);
    lexer_next(&p->lexer);
}

static struct op *append_op(struct kernel *k)
{
    if (k->op_count == k->op_capacity) {
        k->op_capacity = k->op_capacity == 0 ? 64 : 2 * k->op_capacity;
        k->ops = xreallocarray(k->ops, k->op_capacity, sizeof *k->ops);
    }
    struct op *const op = &k->ops[k->op_count++];
    memset(op, 0, sizeof *op);
    op->guard = NO_REGISTER;
    op->elements = 1;
    for (int i = 0; i < OP_DESTINATIONS; i++)
        op->dst[i] = REG_SINK;
    return op;
}

/* True if the row is that of `name`, or of `name.type`. */
static bool is_row(const struct profile_isa *row, const char *name,
                   size_t length, const char *type)
{
    if (strncmp(row->name, name, length) != 0)
        return false;
    const char *const rest = row->name + length;
    return type == NULL ? rest[0] == '\0'
                        : rest[0] == '.' && strcmp(rest + 1, type) == 0;
}

/* The isa row that is nearest to the instruction: all of its text, its opcode
 * with its type, its opcode, the default.  Asked for each instruction that is
 * decoded, so it formats no text. */
static uint32_t isa_find(const struct profile *profile,
                         const struct instruction *in)
{
    const struct token *const full = &in->mnemonic;
    const char *const name = in->opcode->name;
    const size_t length = strlen(name);
    const char *const type = ptx_types[in->types[0]].name;
    uint32_t with_type = 0, alone = 0;
    for (uint32_t i = 1; i < profile->isa_count; i++) {
        const struct profile_isa *const row = &profile->isa[i];
        if (is_row(row, full->text, full->length, NULL))
            return i;
        if (with_type == 0 && is_row(row, name, length, type))
            with_type = i;
        if (alone == 0 && is_row(row, name, length, NULL))
            alone = i;
    }
    return with_type != 0 ? with_type : alone;
}

static bool is_memory(const struct op *op)
{
    return op->kind == OP_LOAD || op->kind == OP_STORE ||
           op->kind == OP_ATOMIC || op->kind == OP_TEXTURE ||
           op->kind == OP_BULK_COPY;
}

/* Memory instructions have a pipe of their own, and so have those that
 * compute nothing, which never keep it busy. */
static void set_times(const struct parser *p, const struct instruction *in)
{
    struct op *const op = in->op;
    const uint32_t row = isa_find(p->profile, in);
    const bool computes = op->dst[0] != REG_SINK || op->kind == OP_ALU;
    op->latency = p->profile->isa[row].latency.level[p->level];
    op->easy_latency = p->profile->isa[row].power_of_two.level[p->level];
    op->varies = p->profile->isa[row].has_power_of_two;
    op->pipe = row;
    op->issue = p->profile->isa[row].issue;
    op->unoptimized = p->level == 0;
    if (op->kind == OP_CLOCK)
        op->latency = p->level == 0 ? p->profile->clock_overhead_unoptimized
                                    : p->profile->clock_overhead;
    if (is_memory(op) && op->space != SPACE_PARAM) {
        op->pipe = (uint32_t)p->profile->isa_count;
        op->issue = 1;
    } else if (!computes && op->kind != OP_BARRIER) {
        op->pipe = (uint32_t)p->profile->isa_count + 1;
        op->issue = 0;
    }
}

static enum profile_path_id path_of(const struct profile *profile,
                                    const struct instruction *in)
{
    const bool cache = HAS(in, GROUP_CACHE);
    const uint8_t how = in->value[GROUP_CACHE];
    if (in->op->kind == OP_TEXTURE)
        return PATH_TEXTURE;
    if (in->op->space == SPACE_CONST)
        return PATH_CONSTANT;
    if (in->op->space == SPACE_LOCAL)
        return PATH_LOCAL;
    if (cache && how == CACHE_OP_NC)
        return PATH_READONLY;
    /* What other SMs may have written must come from where they meet. */
    const bool beyond_block =
        in->value[GROUP_ORDER] != 0 && in->value[GROUP_SCOPE] != 1;
    if (in->op->kind == OP_ATOMIC || in->op->kind == OP_BULK_COPY ||
        beyond_block || (cache && (how == CACHE_OP_CG || how == CACHE_OP_CV)))
        return PATH_GLOBAL_CG;
    if (!cache && profile->default_cg)
        return PATH_GLOBAL_CG;
    return PATH_GLOBAL_CA;
}

/* Loads that an L1 does not serve go where the others go. */
static enum profile_path_id fallback_of(enum profile_path_id path)
{
    switch (path) {
    case PATH_LOCAL:
    case PATH_GLOBAL_CG:
        return PATH_GLOBAL_CA;
    case PATH_GLOBAL_CA:
        return PATH_GLOBAL_CG;
    default:
        return path;
    }
}

static const char *path_name(enum profile_path_id path)
{
    static const char *const names[] = {
#define X(id, name) [id] = name,
        PROFILE_PATHS(X)
#undef X
    };
    return names[path];
}

static void set_path(struct parser *p, const struct instruction *in)
{
    const enum profile_path_id wanted = path_of(p->profile, in);
    enum profile_path_id path = wanted;
    for (int tries = 0; tries < 3 && !p->profile->paths[path].present; tries++)
        path = fallback_of(path);
    if (p->profile->paths[path].present) {
        in->op->path = (uint8_t)path;
        return;
    }
    if (!p->failed)
        error_set(p->err, ERR_UNSUPPORTED,
                  "line %u: %.*s: the profile of %s describes no path '%s'",
                  in->mnemonic.line, (int)in->mnemonic.length,
                  in->mnemonic.text, p->profile->name, path_name(wanted));
    parse_stop(p);
}

/* The function, before wrappers: the code, its part or comparison, the type. */
static alu_fn *alu_of(const struct instruction *in)
{
    unsigned code = in->opcode->code;
    enum ptx_type type = in->types[0];
    const bool carries =
        HAS(in, GROUP_CARRY) || strchr(in->opcode->operands, 'c') != NULL;
    if (HAS(in, GROUP_PART))
        code += in->value[GROUP_PART];
    if (HAS(in, GROUP_DIRECTION))
        code += in->value[GROUP_DIRECTION];
    if (HAS(in, GROUP_SHIFTAMT) || HAS(in, GROUP_NAN))
        code += 1;
    if (HAS(in, GROUP_COMPARE)) {
        code += in->value[GROUP_COMPARE];
        type = in->types[in->opcode->types - 1]; /* set has the result's too */
    }
    if (carries)
        return alu_find_carrying(code, type);
    if (HAS(in, GROUP_SAT) && ptx_types[type].class != 'f' && code != ALU_CVT)
        return alu_find_saturating(code, type);
    return alu_find(code, type);
}

/* cvt must say how it rounds wherever it does. */
static void check_cvt(struct parser *p, const struct instruction *in)
{
    const enum ptx_type target = element_of(in->types[0]);
    const struct ptx_type_info *const to = &ptx_types[target];
    const struct ptx_type_info *const from = &ptx_types[in->types[1]];
    const bool pair = target != in->types[0];
    const bool narrows =
        to->bytes < from->bytes || (to->bytes == 2 && target != in->types[1]);
    const bool rounds =
        from->class == 'f' ? to->class != 'f' || narrows : to->class == 'f';
    /* Between halves and bfloats it may be left out. */
    const bool may = to->class == from->class && to->bytes == from->bytes;
    const bool whole =
        HAS(in, GROUP_ROUND) && in->value[GROUP_ROUND] >= ROUND_RNI;
    if (alu_find(ALU_CVT, in->types[1]) == NULL ||
        in->sources != (pair ? 2 : 1) || (pair && in->types[1] != TYPE_F32) ||
        (HAS(in, GROUP_RELU) && (to->bytes != 2 || in->types[1] != TYPE_F32)) ||
        (HAS(in, GROUP_SAT) && target == TYPE_BF16))
        type_error(p, in);
    if (HAS(in, GROUP_ROUND) && !rounds && !whole)
        complain(p, in, "rounds nothing");
    if (rounds && !may)
        require(p, in, UINT64_C(1) << GROUP_ROUND);
    if (from->class == 'f' && to->class != 'f' && !whole)
        complain(p, in, "needs .rni, .rzi, .rmi or .rpi");
}

#define TYPE_BIT(id) (1u << TYPE_##id)
#define NARROW_TYPES                                                           \
    (TYPE_BIT(F16) | TYPE_BIT(F16X2) | TYPE_BIT(BF16) | TYPE_BIT(BF16X2))
#define WIDE_TYPES (TYPE_BIT(F32) | TYPE_BIT(F64))
#define SATURATING_TYPES                                                       \
    (TYPE_BIT(S32) | TYPE_BIT(F16) | TYPE_BIT(F16X2) | TYPE_BIT(F32))

/* Modifiers that an arithmetic instruction takes with some types only. */
static const struct {
    enum modifier_group group;
    uint32_t types;
} restrictions[] = {
    {GROUP_ROUND, NARROW_TYPES | WIDE_TYPES},
    {GROUP_NAN,   NARROW_TYPES | WIDE_TYPES},
    {GROUP_RELU,  NARROW_TYPES             },
    {GROUP_SAT,   SATURATING_TYPES         },
};

#define FLUSHED           (TYPE_BIT(F16) | TYPE_BIT(F16X2) | TYPE_BIT(F32))
#define FLUSHED_IF_APPROX (TYPE_BIT(BF16) | TYPE_BIT(BF16X2) | WIDE_TYPES)

/* set gives 16 bits only of halves, and of those no single. */
static bool fits_set(const struct instruction *in)
{
    const bool narrow = (1u << in->types[1] & NARROW_TYPES) != 0;
    return narrow ? in->types[0] != TYPE_F32
                  : ptx_types[in->types[0]].bytes == 4;
}

static bool takes_types(const struct instruction *in)
{
    const unsigned last = in->opcode->types > 0 ? in->opcode->types - 1 : 0;
    const uint32_t type = 1u << in->types[last];
    const uint8_t rounding = in->value[GROUP_ROUND];
    const uint32_t flushed =
        HAS(in, GROUP_APPROX) ? FLUSHED_IF_APPROX : FLUSHED;
    for (size_t i = 0; i < COUNT_OF(restrictions); i++)
        if (HAS(in, restrictions[i].group) &&
            (type & restrictions[i].types) == 0)
            return false;
    /* What steers slct is one of two types. */
    const bool steers = in->opcode->code != ALU_SLCT ||
                        in->types[1] == TYPE_S32 || in->types[1] == TYPE_F32;
    return (!HAS(in, GROUP_FTZ) || (type & flushed) != 0) &&
           (!HAS(in, GROUP_COMPARE) || in->opcode->types != 2 ||
            fits_set(in)) &&
           rounding < ROUND_RNI &&
           (rounding <= ROUND_RN || (type & NARROW_TYPES) == 0) && steers;
}

static void wrap(struct op *op, alu_fn *wrapper)
{
    op->inner = op->alu;
    op->alu = wrapper;
}

/* What else the function is told by op->sub; of these groups an instruction
 * has one at most. */
static uint8_t variant_of(const struct instruction *in)
{
    static const enum modifier_group groups[] = {
        GROUP_ROUND, GROUP_BOOLEAN, GROUP_TO,
        GROUP_WRAP,  GROUP_TEST,    GROUP_PERMUTE,
    };
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        if (HAS(in, groups[i]))
            return in->value[groups[i]];
    return 0;
}

/* The function with what it is wrapped in. */
static void set_function(const struct instruction *in)
{
    struct op *const op = in->op;
    const uint8_t rounding = in->value[GROUP_ROUND];
    const bool compares = in->opcode->code == ALU_SETP;
    const bool real = ptx_types[in->types[0]].class == 'f';
    if (op->alu == NULL)
        op->alu = alu_of(in);
    if (op->alu == NULL)
        return;
    if ((rounding > ROUND_RN && rounding < ROUND_RNI) ||
        (real && op->saturate) || op->relu)
        wrap(op, alu_adjusted);
    else if (compares && in->opcode->types == 2)
        wrap(op, alu_find(ALU_SET, in->types[0]));
    else if (compares && op->combine)
        wrap(op, alu_combined);
}

static void finish_alu(struct parser *p, const struct instruction *in)
{
    struct op *const op = in->op;
    op->sub = variant_of(in);
    op->saturate = HAS(in, GROUP_SAT);
    op->relu = HAS(in, GROUP_RELU);
    if (HAS(in, GROUP_CARRY))
        op->dst[1] = REG_CARRY;
    set_function(in);
    if (op->alu != NULL && in->opcode->code == ALU_CVT)
        check_cvt(p, in);
    else if (op->alu == NULL || !takes_types(in))
        type_error(p, in);
}

/* A policy is there where the instruction says so, and nowhere else. */
static void check_policy(struct parser *p, const struct instruction *in)
{
    const bool stores = in->op->kind == OP_STORE;
    const unsigned without = stores ? 1u + in->op->elements : 1;
    const bool told = (in->value[GROUP_HINT] & HINT_POLICY) != 0;
    if (told != (in->sources > without))
        complain(p, in,
                 told ? "lacks a cache policy" : "takes no cache policy");
}

/* .params of functions are registers here. */
static void pass(struct op *op)
{
    if (op->kind == OP_STORE) {
        op->dst[0] = op->src[0];
        op->src[0] = op->src[1];
        op->src[1] = REG_ZERO;
    }
    op->kind = OP_ALU;
    op->alu = alu_find(ALU_MOV, TYPE_B32);
    op->passes = true;
}

static void finish_memory(struct parser *p, const struct instruction *in)
{
    struct op *const op = in->op;
    const enum ptx_type type = in->types[0];
    if (op->space == SPACE_PARAM && op->src[0] != REG_ZERO &&
        ptx_types[type].bytes == 4 && op->elements == 1) {
        pass(op);
        return;
    }
    if (ptx_types[type].class == 'p' ||
        (ptx_types[type].class == 'f' && type != TYPE_F32 && type != TYPE_F64))
        type_error(p, in);
    if (op->elements * ptx_types[type].bytes > 16)
        complain(p, in, "is wider than 16 bytes");
    op->bytes = (uint8_t)(op->elements * ptx_types[type].bytes);
    op->extends = ptx_types[type].class == 's';
    op->sub = in->value[GROUP_HINT];
    op->anew = op->kind == OP_LOAD && HAS(in, GROUP_CACHE) &&
               in->value[GROUP_CACHE] == CACHE_OP_CV;
    check_policy(p, in);
    if (op->kind == OP_STORE &&
        (op->space == SPACE_CONST || op->space == SPACE_PARAM))
        parse_error_at(p, in->mnemonic.line, ".%s cannot be written",
                       ptx_spaces[op->space]);
    if (op->kind == OP_STORE || op->space == SPACE_SHARED ||
        op->space == SPACE_PARAM)
        return;
    op->direct = op->elements == 1 && op->space != SPACE_GENERIC;
    set_path(p, in);
}

static void finish_atomic(struct parser *p, const struct instruction *in)
{
    static const char *const classes[] = {
        [ATOMIC_ADD] = "usf", [ATOMIC_EXCH] = "b", [ATOMIC_CAS] = "b",
        [ATOMIC_MIN] = "us",  [ATOMIC_MAX] = "us", [ATOMIC_AND] = "b",
        [ATOMIC_OR] = "b",    [ATOMIC_XOR] = "b",  [ATOMIC_INC] = "u",
        [ATOMIC_DEC] = "u",
    };
    struct op *const op = in->op;
    const struct ptx_type_info *const type = &ptx_types[in->types[0]];
    op->sub = in->value[GROUP_ATOMIC];
    op->bytes = (uint8_t)type->bytes;
    const bool cas = op->sub == ATOMIC_CAS;
    const bool counts = op->sub == ATOMIC_INC || op->sub == ATOMIC_DEC;
    const bool packed =
        in->types[0] == TYPE_F16X2 || in->types[0] == TYPE_BF16X2;
    if (strchr(classes[op->sub], type->class) == NULL || type->bytes < 4 ||
        (counts && type->bytes != 4) || packed != HAS(in, GROUP_FTZ) ||
        (op->sub == ATOMIC_ADD && in->types[0] == TYPE_S64))
        type_error(p, in);
    if (in->sources != (cas ? 3 : 2))
        complain(p, in, cas ? "takes 2 values after the address"
                            : "takes 1 values after the address");
    if (op->space != SPACE_GENERIC && op->space != SPACE_GLOBAL &&
        op->space != SPACE_SHARED)
        parse_error_at(p, in->mnemonic.line,
                       "atomics work on .global and .shared");
    if (op->space != SPACE_SHARED)
        set_path(p, in);
}

static void finish_texture(struct parser *p, const struct instruction *in)
{
    if (in->value[GROUP_VECTOR] != 4 || ptx_types[in->types[0]].bytes != 4 ||
        ptx_types[in->types[0]].class == 'b' || in->types[1] != TYPE_S32)
        type_error(p, in);
    set_path(p, in);
}

static void finish_vote(struct parser *p, const struct instruction *in)
{
    const bool ballot = in->value[GROUP_VOTE] == VOTE_BALLOT;
    const bool active = !HAS(in, GROUP_VOTE);
    in->op->sub = active ? VOTE_ACTIVE : in->value[GROUP_VOTE];
    const enum ptx_type wanted = active || ballot ? TYPE_B32 : TYPE_PRED;
    if (in->types[0] != wanted)
        type_error(p, in);
}

/* Lanes with equal values find each other. */
static void finish_match(struct parser *p, const struct instruction *in)
{
    const uint8_t how = in->value[GROUP_VOTE];
    in->op->sub = how;
    if (how != VOTE_ANY && how != VOTE_ALL)
        parse_error_at(p, in->mnemonic.line, "match needs .any or .all");
    if (how == VOTE_ANY && in->op->dst[1] != REG_SINK)
        parse_error_at(p, in->mnemonic.line, "match.any gives no predicate");
    if (in->types[0] != TYPE_B32 && in->types[0] != TYPE_B64)
        type_error(p, in);
}

static void finish_redux(struct parser *p, const struct instruction *in)
{
    static const char *const classes[] = {
        [ATOMIC_ADD] = "us", [ATOMIC_EXCH] = "",  [ATOMIC_CAS] = "",
        [ATOMIC_MIN] = "us", [ATOMIC_MAX] = "us", [ATOMIC_AND] = "b",
        [ATOMIC_OR] = "b",   [ATOMIC_XOR] = "b",  [ATOMIC_INC] = "",
        [ATOMIC_DEC] = "",
    };
    const struct ptx_type_info *const type = &ptx_types[in->types[0]];
    in->op->sub = in->value[GROUP_ATOMIC];
    if (strchr(classes[in->op->sub], type->class) == NULL || type->bytes != 4)
        type_error(p, in);
}

static void finish_barrier(struct parser *p, const struct instruction *in)
{
    struct op *const op = in->op;
    const bool reduces = in->opcode->types == 1;
    const uint8_t how = in->value[GROUP_REDUCTION];
    op->sub = how;
    op->combine = op->src[0] != REG_ZERO; /* a number of threads is given */
    if (reduces &&
        in->types[0] != (how == REDUCTION_POPC ? TYPE_U32 : TYPE_PRED))
        type_error(p, in);
    if (op->offset < 0 || op->offset > 15)
        parse_error_at(p, in->mnemonic.line,
                       "there is no barrier %lld, only 0 to 15",
                       (long long)op->offset);
}

/* Barriers and what is copied to lie in the block's shared memory. */
static void finish_shared(struct parser *p, const struct instruction *in)
{
    if (in->op->space != SPACE_SHARED ||
        (in->type_count > 0 && in->types[0] != TYPE_B64))
        type_error(p, in);
    if (in->op->kind == OP_BULK_COPY)
        set_path(p, in);
}

static void finish_shuffle(struct parser *p, const struct instruction *in)
{
    in->op->sub = in->value[GROUP_SHUFFLE];
    if (in->types[0] != TYPE_B32)
        type_error(p, in);
}

/* What is left to do when the operands are known, by enum op_kind. */
typedef void finish_fn(struct parser *p, const struct instruction *in);
static finish_fn *const finishes[OP_BARRIER + 1] = {
    [OP_ALU] = finish_alu,
    [OP_LOAD] = finish_memory,
    [OP_STORE] = finish_memory,
    [OP_ATOMIC] = finish_atomic,
    [OP_TEXTURE] = finish_texture,
    [OP_SHUFFLE] = finish_shuffle,
    [OP_VOTE] = finish_vote,
    [OP_MATCH] = finish_match,
    [OP_REDUX] = finish_redux,
    [OP_BULK_COPY] = finish_shared,
    [OP_MBARRIER_INIT] = finish_shared,
    [OP_MBARRIER_ARRIVE] = finish_shared,
    [OP_MBARRIER_WAIT] = finish_shared,
    [OP_BARRIER] = finish_barrier,
};

void parse_instruction(struct parser *p)
{
    struct op *const op = append_op(p->kernel);
    struct instruction in = {.op = op};
    read_guard(p, op);
    read_mnemonic(p, &in);
    if (p->failed)
        return;
    op->kind = (uint8_t)in.opcode->kind;
    op->line = in.mnemonic.line;
    op->type = (uint8_t)in.types[0];
    op->from = (uint8_t)in.types[1];
    op->space = in.value[GROUP_SPACE];
    parse_operands(p, &in);
    parse_character(p, ';');
    if (!p->failed && finishes[op->kind] != NULL)
        finishes[op->kind](p, &in);
    if (!p->failed)
        set_times(p, &in);
}
