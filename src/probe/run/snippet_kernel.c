#include "probe/run/snippet_kernel.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ptx/kernel.h"

const char *const copies_forms[] = {
    [FORM_GUARD] = "guard",
    [FORM_SWAP] = "swap",
    [FORM_PLAIN] = "plain",
    NULL,
};

/* Words of `data` before the registers' values: what the clock and results are
 * compared with, which they never are. */
enum { NEVER_WORDS = 2 };
static const uint64_t never[NEVER_WORDS] = {0x9e3779b9, 0x7f4a7c15};
/* Of each register of each chain: its value, and another, never taken, so that
 * the assembler does not know that it is the first. */
enum { VALUE, OTHER, VALUE_WORDS };

/* ---- reading ----------------------------------------------------------- */

const struct snippet_register *snippet_kernel_partner(const struct snippet *s)
{
    const struct snippet_register *const chain = snippet_chain(s);
    for (size_t i = 0; chain != NULL && i < s->register_count; i++)
        if (!s->registers[i].written && s->registers[i].kind == chain->kind)
            return &s->registers[i];
    return NULL;
}

static int read_form(struct snippet_kernel *t, struct error *err)
{
    t->chain = snippet_chain(&t->snippet);
    if (t->form != FORM_SWAP)
        return 0;
    t->partner = snippet_kernel_partner(&t->snippet);
    return t->partner != NULL
               ? 0
               : error_set(err, ERR_UNSUPPORTED,
                           "no operand can change places with the result");
}

static int read_texts(struct snippet_kernel *t, struct error *err)
{
    if (t->text[0] == '\0') {
        const struct instruction *const row = instruction_find(t->row);
        if (row == NULL || row->snippet == NULL)
            return error_set(err, ERR_USAGE,
                             "row=%s is no instruction of the table", t->row);
        t->text = row->snippet;
        t->setup_text = row->setup != NULL ? row->setup : "";
        t->values = row->values != NULL ? row->values : "";
        t->ptx = row->ptx;
    }
    if (snippet_parse(t->text, &t->snippet, err) != 0)
        return err->code;
    return t->setup_text[0] != '\0'
               ? snippet_parse(t->setup_text, &t->setup, err)
               : 0;
}

int snippet_kernel_prepare(struct experiment *e, const struct device_info *info,
                           struct error *err)
{
    struct snippet_kernel *const t = e->own;
    (void)info;
    if (read_texts(t, err) != 0)
        return err->code;
    return read_form(t, err);
}

void snippet_kernel_release(void *own)
{
    struct snippet_kernel *const t = own;
    snippet_free(&t->snippet);
    snippet_free(&t->setup);
}

/* ---- registers --------------------------------------------------------- */

/* True for those of which each chain has one of its own. */
static bool is_own(const struct snippet_kernel *t,
                   const struct snippet_register *r)
{
    const struct snippet_register *const main =
        snippet_register(&t->snippet, r->name);
    return main != NULL && (main->written || main == t->partner);
}

/* The copy of a chain that is written. */
struct copy {
    const struct snippet_kernel *timed;
    unsigned chain;
    bool swapped;
};

static void copy_name(struct buf *out, const struct snippet_register *r,
                      const void *context)
{
    const struct copy *const c = context;
    if (c->swapped && r == c->timed->chain)
        r = c->timed->partner;
    else if (c->swapped && r == c->timed->partner)
        r = c->timed->chain;
    buf_text(out, r->name);
    if (c->chain > 0 && is_own(c->timed, r))
        buf_printf(out, "_%u", c->chain);
}

/* Calls `each` for all registers, those of the setup last, and each chain that
 * has one of its own. */
typedef void register_act(struct kernel_text *k, const struct snippet_kernel *t,
                          const struct snippet_register *r, const char *name,
                          size_t slot);

static void each_chain(struct kernel_text *k, const struct snippet_kernel *t,
                       const struct snippet_register *r, size_t slot,
                       register_act *act)
{
    const unsigned chains = is_own(t, r) ? t->chains : 1;
    for (unsigned c = 0; c < chains; c++) {
        struct buf name = {0};
        copy_name(&name, r, &(struct copy){.timed = t, .chain = c});
        act(k, t, r, buf_string(&name), slot + c * VALUE_WORDS);
        buf_free(&name);
    }
}

/* Words of `data` for a register. */
static size_t slot_words(const struct snippet_kernel *t)
{
    return (size_t)t->chains * VALUE_WORDS;
}

static void each_register(struct kernel_text *k, const struct snippet_kernel *t,
                          register_act *act)
{
    size_t slot = NEVER_WORDS;
    for (size_t i = 0; i < t->snippet.register_count; i++) {
        each_chain(k, t, &t->snippet.registers[i], slot, act);
        slot += slot_words(t);
    }
    for (size_t i = 0; i < t->setup.register_count; i++)
        if (snippet_register(&t->snippet, t->setup.registers[i].name) == NULL) {
            each_chain(k, t, &t->setup.registers[i], slot, act);
            slot += slot_words(t);
        }
}

static const char *type_of(const struct snippet_register *r)
{
    return register_kinds[r->kind].type;
}

static void declare(struct kernel_text *k, const struct snippet_kernel *t,
                    const struct snippet_register *r, const char *name,
                    size_t slot)
{
    (void)slot;
    if (is_own(t, r))
        ptx_with(k, ".reg .$type %$name, %${name}_x, %${name}_y;",
                 WORD(type, type_of(r)), WORD(name, name));
    else
        ptx_with(k, ".reg .$type %$name;", WORD(type, type_of(r)),
                 WORD(name, name));
}

static void load_word(struct kernel_text *k, const struct snippet_register *r,
                      const char *name, const char *suffix, size_t word)
{
    if (r->kind != REGISTER_PRED) {
        ptx_with(k, "ld.global.$type %$name$suffix, [%data+$word];",
                 WORD(type, type_of(r)), WORD(name, name), WORD(suffix, suffix),
                 WORD(word, 8 * word));
        return;
    }
    ptx_with(k,
             "ld.global.u32 %word, [%data+$word];\n"
             "setp.ne.u32 %$name$suffix, %word, 0;\n",
             WORD(word, 8 * word), WORD(name, name), WORD(suffix, suffix));
}

static void load(struct kernel_text *k, const struct snippet_kernel *t,
                 const struct snippet_register *r, const char *name,
                 size_t slot)
{
    load_word(k, r, name, "", slot + VALUE);
    if (is_own(t, r))
        load_word(k, r, name, "_y", slot + OTHER);
}

static void keep(struct kernel_text *k, const struct snippet_kernel *t,
                 const struct snippet_register *r, const char *name,
                 size_t slot)
{
    (void)slot;
    if (is_own(t, r))
        ptx_with(k, "mov.$type %${name}_x, %$name;", WORD(type, type_of(r)),
                 WORD(name, name));
}

/* Its value, known only once the clock is. */
static void begin(struct kernel_text *k, const struct snippet_kernel *t,
                  const struct snippet_register *r, const char *name,
                  size_t slot)
{
    (void)slot;
    if (!is_own(t, r))
        return;
    if (r->kind == REGISTER_PRED)
        ptx_with(k, "and.pred %$name, %${name}_x, %on;", WORD(name, name));
    else
        ptx_with(k, "selp.$type %$name, %${name}_x, %${name}_y, %on;",
                 WORD(type, type_of(r)), WORD(name, name));
}

/* Adds a result to %sum; not by xor, or two registers that hold the same would
 * cancel, and the chain with them. */
static void collect(struct kernel_text *k, const struct snippet_kernel *t,
                    const struct snippet_register *r, const char *name,
                    size_t slot)
{
    static const char *const into_word[REGISTER_KIND_COUNT] = {
        [REGISTER_B32] = "mov.b32 %%word, %%%s;",
        [REGISTER_F32] = "mov.b32 %%word, %%%s;",
        [REGISTER_B64] = "mov.b64 {%%word, %%high}, %%%s;",
        [REGISTER_F64] = "mov.b64 {%%word, %%high}, %%%s;",
        [REGISTER_B16] = "cvt.u32.u16 %%word, %%%s;",
        [REGISTER_PRED] = "selp.b32 %%word, 1, 0, %%%s;",
    };
    char line[64];
    (void)slot;
    if (!is_own(t, r))
        return;
    snprintf(line, sizeof line, into_word[r->kind], name);
    ptx_with(k,
             "$line\n"
             "mad.lo.u32 %sum, %sum, 5, %word;\n",
             WORD(line, line));
    if (register_kinds[r->kind].bytes == 8)
        ptx(k, "mad.lo.u32 %sum, %sum, 5, %high;");
}

/* ---- the kernel -------------------------------------------------------- */

static void opening(struct kernel_text *k, const struct snippet_kernel *t)
{
    ptx(k, ".reg .b32 %word, %high, %sum, %laps, %never0, %never1, %now;\n"
           ".reg .b64 %data, %out, %t0, %t1, %rd_shared, %rd_global;\n"
           ".reg .pred %on, %also, %done, %true;\n");
    each_register(k, t, declare);
    ptx(k, "ld.param.u64 %data, [data];\n"
           "ld.param.u64 %out, [out];\n"
           "ld.param.u64 %rd_global, [scratch];\n"
           "ld.param.u32 %laps, [laps];\n");
    if (t->snippet.shared || t->setup.shared)
        ptx(k, "mov.u64 %rd_shared, scratch_shared;");
    ptx(k, "ld.global.u32 %never0, [%data];\n"
           "ld.global.u32 %never1, [%data+8];\n"
           "// each warp has results of its own\n"
           "mov.u32 %word, %tid.x;\n"
           "shr.u32 %word, %word, 5;\n"
           "mad.wide.u32 %out, %word, 16, %out;\n");
    each_register(k, t, load);
    for (unsigned c = 0; c < t->chains && t->setup.text != NULL; c++)
        snippet_write(k->out, &t->setup, NULL, copy_name,
                      &(struct copy){.timed = t, .chain = c});
    each_register(k, t, keep);
}

static void write_copies(struct kernel_text *k, const struct snippet_kernel *t,
                         unsigned count)
{
    static const char *const guards[] = {"%on", "%also"};
    for (unsigned i = 0; i < count; i++)
        for (unsigned c = 0; c < t->chains; c++)
            snippet_write(
                k->out, &t->snippet,
                t->form == FORM_GUARD ? guards[i % 2] : NULL, copy_name,
                &(struct copy){.timed = t,
                               .chain = c,
                               .swapped = t->form == FORM_SWAP && i % 2 == 1});
}

/* One region; its two clock reads go to the warp's place in `out`. */
static void region(struct kernel_text *k, const struct snippet_kernel *t,
                   unsigned count)
{
    ptx(k, "// a barrier alone would not hold the clock read back\n"
           "bar.red.or.pred %done, 0, %true;\n"
           "@!%done bra DONE;\n"
           "mov.u64 %t0, %clock64;\n"
           "cvt.u32.u64 %now, %t0;\n"
           "setp.ne.u32 %on, %now, %never0;\n"
           "setp.ne.u32 %also, %now, %never1;\n");
    each_register(k, t, begin);
    ptx(k, "mov.u32 %sum, 0;");
    write_copies(k, t, count);
    each_register(k, t, collect);
    ptx_with(k,
             "setp.ne.u32 %done, %sum, %never0;\n"
             "@%done mov.u64 %t1, %clock64;\n"
             "st.global.v2.u64 [%out], {%t0, %t1};\n"
             "add.u64 %out, %out, $warps_most;\n",
             WORD(warps_most, 16 * SNIPPET_WARPS_MOST));
}

void snippet_kernel_write(const struct experiment *e,
                          const struct device_info *info, struct buf *out)
{
    const struct snippet_kernel *const t = e->own;
    char variables[64] = "";
    struct kernel_text k;
    if (t->snippet.shared || t->setup.shared)
        snprintf(variables, sizeof variables,
                 ".shared .align 16 .b8 scratch_shared[%d];\n", SCRATCH_SHARED);
    kernel_begin(&k, out, device_cc(info), .name = "isa",
                 .parameters = "data out scratch laps", .variables = variables,
                 .least = t->ptx);
    opening(&k, t);
    ptx(&k, "setp.ne.u32 %true, %never0, 0;\n"
            "mov.u64 %t1, 0;\n"
            "LAP:\n"
            ".pragma \"nounroll\";\n");
    region(&k, t, t->copies);
    region(&k, t, SNIPPET_LONG * t->copies);
    ptx(&k, "sub.u32 %laps, %laps, 1;\n"
            "setp.ne.u32 %done, %laps, 0;\n"
            "@%done bra LAP;\n"
            "DONE:\n");
    kernel_end(&k);
}

/* ---- complaints -------------------------------------------------------- */

/* The part of a statement that a complaint has in quotes, or all of it. */
static struct statement word_of(const struct snippet *s,
                                const struct statement *st,
                                const char *complaint)
{
    const char *const quote = strchr(complaint, '\'');
    const size_t length = quote != NULL ? strcspn(quote + 1, "'") : 0;
    struct statement word = *st;
    for (; length > 0 && word.length >= length; word.start++, word.length--) {
        if (strncmp(s->text + word.start, quote + 1, length) == 0)
            return word;
        const bool ends = s->text[word.start] == '\n';
        word.column = ends ? 1 : word.column + 1;
        word.line += ends;
    }
    return *st;
}

/* What a complaint says after "line 40; error   : " or "line 40: ", up to the
 * line that it quotes. */
static char *saying(const char *text)
{
    const char *at = strstr(text, "line ");
    const char *const colon = at != NULL ? strstr(at, ": ") : NULL;
    at = colon != NULL ? colon + 2 : text;
    const char *const end = strstr(at, "; the line is:");
    return xstrndup(at, end != NULL ? (size_t)(end - at) : strlen(at));
}

/* True, with the complaint rewritten, if the line is a statement of `s`; its
 * place is that in the text as it was given, where lines are not yet one. */
static bool blame(const struct snippet_kernel *t, const struct snippet *s,
                  const struct snippet *given, const char *whose,
                  const char *line, struct error *err)
{
    bool found = false;
    for (size_t i = 0; !found && i < s->statement_count; i++) {
        const struct statement *const st = &given->statements[i];
        struct buf own = {0};
        snippet_write_statement(&own, s, i, NULL, copy_name,
                                &(struct copy){.timed = t});
        found = strcmp(buf_string(&own), line) == 0;
        buf_free(&own);
        if (!found)
            continue;
        char *const says = saying(err->text);
        const struct statement word = word_of(given, st, says);
        error_set(err, ERR_USAGE, "%s, line %u, column %u: %s", whose,
                  word.line, word.column, says);
        free(says);
    }
    return found;
}

int snippet_kernel_complain(struct experiment *e,
                            const struct device_info *info,
                            const struct snippet *snippet,
                            const struct snippet *setup, struct error *err)
{
    const struct snippet_kernel *const t = e->own;
    struct error ignored;
    struct buf text = {0};
    if (probe_kernel(e, info, &text, &ignored) != 0)
        return err->code;
    char *const line = text_line_meant(buf_string(&text), err->text);
    if (line != NULL && !blame(t, &t->snippet, snippet, "snippet", line, err))
        blame(t, &t->setup, setup, "setup", line, err);
    free(line);
    buf_free(&text);
    return err->code;
}

/* ---- values ------------------------------------------------------------ */

static uint64_t bits_of(enum register_kind kind, double number)
{
    const float narrow = (float)number;
    uint64_t bits = 0;
    if (kind == REGISTER_F64)
        memcpy(&bits, &number, sizeof number);
    else
        memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

/* Halves of this kind would be 1.5, 0.75, 0.5 …: values that stay what they
 * are through multiplications and additions. */
static uint64_t usual_value(const struct snippet_register *r)
{
    static const double reals[] = {1.5, 0.75, 0.5, 0.25};
    static const uint64_t halves[] = {0x3e00, 0x3a00, 0x3800, 0x3400};
    const size_t number =
        strtoul(r->name + strlen(register_kinds[r->kind].prefix), NULL, 10);
    switch (r->kind) {
    case REGISTER_F32:
    case REGISTER_F64:
        return bits_of(r->kind, reals[number % COUNT_OF(reals)]);
    case REGISTER_B16:
        return halves[number % COUNT_OF(halves)];
    case REGISTER_PRED:
        return 1;
    default:
        return number == 0 ? 0x12345 : 2 * number + 1;
    }
}

/* A whole number in so many bytes, with or without a sign. */
static bool fits(uint64_t value, unsigned bytes, bool negative)
{
    const uint64_t most =
        bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
    return negative ? (int64_t)value >= -(int64_t)(most >> 1) - 1
                    : value <= most;
}

/* What is larger than any number of the kind becomes infinite. */
static bool read_real(enum register_kind kind, const char *text, char **end,
                      uint64_t *value)
{
    const double number = strtod(text, end);
    const double most = kind == REGISTER_F32 ? FLT_MAX : DBL_MAX;
    *value = bits_of(kind, number);
    /* "inf" and "nan" are what they say. */
    return fabs(number) <= most || (!isfinite(number) && errno != ERANGE);
}

static bool read_whole(unsigned bytes, const char *text, char **end,
                       uint64_t *value)
{
    const bool negative = text[0] == '-';
    *value =
        negative ? (uint64_t)strtoll(text, end, 0) : strtoull(text, end, 0);
    return errno != ERANGE && fits(*value, bytes, negative);
}

static int read_value(const struct snippet_register *r, const char *text,
                      uint64_t *value, struct error *err)
{
    const bool real = r->kind == REGISTER_F32 || r->kind == REGISTER_F64;
    const unsigned bytes = register_kinds[r->kind].bytes;
    char *end;
    errno = 0;
    const bool whole = real ? read_real(r->kind, text, &end, value)
                            : read_whole(bytes, text, &end, value);
    if (end == text || (*end != '\0' && *end != ' '))
        return error_set(err, ERR_USAGE, "values: '%s=%.*s' is not a number",
                         r->name, (int)strcspn(text, " "), text);
    if (!whole)
        return error_set(err, ERR_USAGE,
                         "values: '%s=%.*s' does not fit into the register's "
                         "%u bytes",
                         r->name, (int)strcspn(text, " "), text, bytes);
    return 0;
}

const char *snippet_kernel_value(const char *values, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = values; *at != '\0'; at += strspn(at, " ")) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
        at += strcspn(at, " ");
    }
    return NULL;
}

static int put_values(const struct snippet_kernel *t,
                      const struct snippet_register *r, uint64_t *words,
                      struct error *err)
{
    const char *const told = snippet_kernel_value(t->values, r->name);
    uint64_t value = usual_value(r);
    if (told != NULL && read_value(r, told, &value, err) != 0)
        return err->code;
    for (size_t i = 0; i < slot_words(t); i++)
        words[i] = value;
    return 0;
}

/* Each word of the values must be about a register that there is. */
static int check_names(const struct snippet_kernel *t, struct error *err)
{
    for (const char *at = t->values; *at != '\0'; at += strspn(at, " ")) {
        char name[REGISTER_NAME];
        const size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "= "), at);
        if (memchr(at, '=', length) == NULL ||
            (snippet_register(&t->snippet, name) == NULL &&
             snippet_register(&t->setup, name) == NULL))
            return error_set(err, ERR_USAGE,
                             "values: '%.*s' is not NAME=NUMBER of a register "
                             "of the snippet",
                             (int)length, at);
        at += length;
    }
    return 0;
}

uint64_t *snippet_kernel_data(const struct snippet_kernel *t, size_t *words,
                              struct error *err)
{
    const size_t most = t->snippet.register_count + t->setup.register_count;
    uint64_t *const data =
        xcalloc(NEVER_WORDS + most * slot_words(t), sizeof *data);
    uint64_t *at = data + NEVER_WORDS;
    int code = check_names(t, err);
    memcpy(data, never, sizeof never);
    for (size_t i = 0; code == 0 && i < t->snippet.register_count; i++) {
        code = put_values(t, &t->snippet.registers[i], at, err);
        at += slot_words(t);
    }
    for (size_t i = 0; code == 0 && i < t->setup.register_count; i++)
        if (snippet_register(&t->snippet, t->setup.registers[i].name) == NULL) {
            code = put_values(t, &t->setup.registers[i], at, err);
            at += slot_words(t);
        }
    *words = (size_t)(at - data);
    if (code == 0)
        return data;
    free(data);
    return NULL;
}
