#include "ptx/sass/sass.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"

enum { OPCODE_BITS = 12, CODE_BITS = 9 };
/* Ways to name operands (see sass.def). */
enum { WAY_REGISTERS = 1, WAY_IMMEDIATE = 4, WAY_B_UNIFORM = 6, WAY_C_UNIFORM };
/* Numbers that stand for no register and no predicate. */
enum { ZERO = 255, ZERO_OLD_UNIFORM = 63, TRUE = 7 };
/* Since then uniform registers are named as the others are. */
enum { SM_MANY_UNIFORM = 100 };
/* Which special register is read, in byte 9: the clock and its upper half. */
enum { SPECIAL_AT = 72, SPECIAL_CLOCK = 0x50, SPECIAL_CLOCK_HIGH };

struct row {
    unsigned first, last, ways, since, until; /* first and last code */
    const char *text, *registers;
};

static const struct row rows[] = {
#define SASS(code, ...)              {code, code, __VA_ARGS__},
#define SASS_NAME(first, last, text) {first, last, 0xff, 0, 999, text, "?"},
#include "ptx/sass/sass.def"
#undef SASS_NAME
#undef SASS
};

/* Some bits of instructions, by their value. */
enum { FIELD_CODES = 5, FIELD_VALUES = 1 << 5 };
struct field {
    unsigned codes[FIELD_CODES], at, width; /* code 0: no more */
    const char *words[FIELD_VALUES];
};

static const struct field fields[] = {
#define OF(...)                                                                \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define SASS_WORDS(codes, at, width, ...) {codes, at, width, {__VA_ARGS__}},
#include "ptx/sass/sass.def"
#undef SASS_WORDS
#undef OF
};

/* An instruction that is being read. */
struct reading {
    uint64_t low, high;
    unsigned code, way, sm;
    struct sass *s;
};

/* `width` bits from bit `at`, none of which are on both sides of bit 64. */
static unsigned bits(const struct reading *r, unsigned at, unsigned width)
{
    const uint64_t word = at < 64 ? r->low >> at : r->high >> (at - 64);
    return (unsigned)(word & ((UINT64_C(1) << width) - 1));
}

/* ---- names ------------------------------------------------------------ */

static const struct row *row_of(const struct reading *r)
{
    for (const struct row *row = rows; row < rows + COUNT_OF(rows); row++)
        if (row->first <= r->code && r->code <= row->last &&
            row->ways >> r->way & 1 && row->since <= r->sm &&
            r->sm <= row->until)
            return row;
    return NULL;
}

/* What the field says of the instruction; empty: nothing. */
static const char *word_of(const struct reading *r, const struct field *f)
{
    for (size_t i = 0; i < FIELD_CODES && f->codes[i] != 0; i++)
        if (f->codes[i] == r->code) {
            const char *const word = f->words[bits(r, f->at, f->width)];
            return word != NULL ? word : "";
        }
    return "";
}

/* The disassembler calls a multiply-add that only moves, adds or shifts so;
 * which it does not was seen, too: not a move of a uniform register, nor the
 * shifts by 16 and by 31. */
static const char *alias(const struct reading *r)
{
    const unsigned a = bits(r, 24, 8), b = bits(r, 32, 32), c = bits(r, 64, 8);
    const bool constant = r->way == WAY_IMMEDIATE;
    /* The second factor is in the other place where the summand is none of
     * the registers. */
    const unsigned factor = r->way == WAY_REGISTERS ? b & 0xff : c;
    if (a == ZERO && factor == ZERO && r->way <= WAY_IMMEDIATE)
        return "MOV";
    if (a == ZERO && factor == ZERO && r->way == WAY_C_UNIFORM)
        return "U32"; /* a move from a uniform register */
    if (constant && b == 1)
        return "IADD";
    if (constant && c == ZERO && u64_is_power(b) && b != 1u << 16 &&
        b != 1u << 31)
        return "SHL";
    return NULL;
}

static void begin(struct sass *s, const char *text)
{
    snprintf(s->name, sizeof s->name, "%.*s", (int)strcspn(text, "."), text);
    snprintf(s->form, sizeof s->form, "%s", text);
}

/* Up to the colon. */
static void append_word(struct sass *s, const char *word)
{
    const size_t length = strlen(s->form), letters = strcspn(word, ":");
    if (word[0] == '=')
        begin(s, word + 1);
    else if (letters > 0)
        snprintf(s->form + length, sizeof s->form - length, ".%.*s",
                 (int)letters, word);
}

static void name(const struct reading *r, const struct row *row)
{
    struct sass *const s = r->s;
    begin(s, row->text);
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        append_word(s, word_of(r, &fields[i]));
    if (strcmp(s->form, "IMAD") == 0 && alias(r) != NULL)
        append_word(s, alias(r));
}

/* ---- registers -------------------------------------------------------- */

/* How many registers an operand has. */
static unsigned count_of(const struct reading *r, char letter)
{
    const char small[] = {(char)tolower(letter), '\0'};
    unsigned count = isupper(letter) ? 2 : 1;
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        const char *const word = word_of(r, &fields[i]);
        const char *const at = strstr(word + strcspn(word, ":"), small);
        if (at != NULL)
            count = (unsigned)(at[1] - '0');
    }
    return count;
}

static void add(struct sass_operands *operands, enum sass_file file,
                unsigned number, unsigned count)
{
    if (operands->count < SASS_OPERANDS_MAX)
        operands->at[operands->count++] =
            (struct sass_registers){file, number, count};
}

/* Where operands are: a row for each kind of register that one may be. */
struct place {
    char letter;
    bool written, predicate;
    enum { ITS_OWN, UNIFORM } kind;
    unsigned at, ways;
};

enum { ALL_WAYS = 0xff };

static const struct place places[] = {
    {'d', true, false, ITS_OWN, 16, ALL_WAYS},
    {'t', true, false, UNIFORM, 16, ALL_WAYS},
    {'p', true, true, ITS_OWN, 81, ALL_WAYS},
    {'q', true, true, ITS_OWN, 84, ALL_WAYS},
    {'a', false, false, ITS_OWN, 24, ALL_WAYS},
    {'b', false, false, ITS_OWN, 32, 1 << WAY_REGISTERS},
    {'b', false, false, UNIFORM, 32, 1 << WAY_B_UNIFORM | 1 << WAY_C_UNIFORM},
    {'y', false, false, ITS_OWN, 32, ALL_WAYS},
    {'c', false, false, ITS_OWN, 64, ALL_WAYS},
    {'e', false, false, ITS_OWN, 64, 1 << WAY_REGISTERS},
    {'e', false, false, UNIFORM, 32, 1 << WAY_C_UNIFORM},
    {'u', false, true, ITS_OWN, 87, ALL_WAYS},
    {'v', false, true, ITS_OWN, 77, ALL_WAYS},
    {'w', false, true, ITS_OWN, 68, ALL_WAYS},
};

static void add_predicate(const struct reading *r, struct sass_operands *to,
                          bool uniform, unsigned at)
{
    if (bits(r, at, 3) != TRUE)
        add(to, uniform ? SASS_UP : SASS_P, bits(r, at, 3), 1);
}

static void add_register(const struct reading *r, struct sass_operands *to,
                         bool uniform, unsigned at, unsigned count)
{
    const bool old = uniform && r->sm < SM_MANY_UNIFORM;
    const unsigned number = bits(r, at, old ? 6 : 8);
    if (number != (old ? ZERO_OLD_UNIFORM : ZERO))
        add(to, uniform ? SASS_UR : SASS_R, number, count);
}

static void add_operand(const struct reading *r, char letter, bool uniform)
{
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        const struct place *const p = &places[i];
        struct sass_operands *const to =
            p->written ? &r->s->writes : &r->s->reads;
        if (p->letter != tolower(letter) || !(p->ways >> r->way & 1))
            continue;
        if (p->predicate)
            add_predicate(r, to, uniform, p->at);
        else
            add_register(r, to, uniform || p->kind == UNIFORM, p->at,
                         count_of(r, letter));
    }
}

static void add_guard(const struct reading *r, bool uniform)
{
    struct sass *const s = r->s;
    if (s->guard == SASS_ALWAYS)
        return;
    for (size_t i = 0; i < s->writes.count; i++)
        add(&s->reads, s->writes.at[i].file, s->writes.at[i].number,
            s->writes.at[i].count);
    add(&s->reads, uniform ? SASS_UP : SASS_P, (unsigned)s->guard, 1);
}

static void registers(const struct reading *r, const struct row *row)
{
    const char *letter = row->registers;
    const bool uniform = *letter == 'U';
    r->s->registers_known = *letter != '?' && count_of(r, '?') > 0;
    if (!r->s->registers_known)
        return;
    for (letter += uniform; *letter != '\0'; letter++)
        if (*letter != ' ')
            add_operand(r, *letter, uniform);
    add_guard(r, uniform);
}

/* ---- what it does ----------------------------------------------------- */

static bool reads_clock(const struct reading *r)
{
    static const char *const specials[] = {"CS2R", "S2R", "S2UR", "CS2UR",
                                           NULL};
    const unsigned which = bits(r, SPECIAL_AT, 8);
    return (which == SPECIAL_CLOCK || which == SPECIAL_CLOCK_HIGH) &&
           text_is_among(r->s->name, specials);
}

static bool leaves(const struct sass *s)
{
    static const char *const jumps[] = {"BRA", "BRX",  "JMP",  "JMX", "CALL",
                                        "RET", "EXIT", "KILL", NULL};
    return text_is_among(s->name, jumps);
}

static void read_guard(const struct reading *r)
{
    const unsigned guard = bits(r, OPCODE_BITS, 3);
    r->s->guard = guard == TRUE ? SASS_ALWAYS : (int)guard;
    r->s->guard_negated = bits(r, OPCODE_BITS + 3, 1);
}

static uint64_t little_endian(const unsigned char *bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

void sass_read(const unsigned char *bytes, unsigned sm, struct sass *s)
{
    struct reading r = {.low = little_endian(bytes),
                        .high = little_endian(bytes + 8),
                        .sm = sm,
                        .s = s};
    *s = (struct sass){.opcode = bits(&r, 0, OPCODE_BITS)};
    r.code = bits(&r, 0, CODE_BITS);
    r.way = s->opcode >> CODE_BITS;
    read_guard(&r);
    const struct row *const row = row_of(&r);
    if (row == NULL) {
        snprintf(s->form, sizeof s->form, "0x%03x", s->opcode);
        return;
    }
    name(&r, row);
    registers(&r, row);
    s->clock = reads_clock(&r);
    s->jumps = leaves(s);
}

struct sass *sass_read_all(const unsigned char *text, size_t bytes, unsigned sm,
                           size_t *count)
{
    *count = bytes / SASS_BYTES;
    struct sass *const all = xcalloc(*count + 1, sizeof *all);
    for (size_t i = 0; i < *count; i++)
        sass_read(text + i * SASS_BYTES, sm, &all[i]);
    return all;
}
