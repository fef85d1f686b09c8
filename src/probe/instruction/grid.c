/*
 * The probe `grid`: copies of an instruction, in a loop, all over the GPU.
 *
 * What `isa` does in one block on one SM, with operands of its own in every
 * thread and chain, as of a program: on what values are calculated with,
 * power depends and so the clock.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "probe/run/grid_timer.h"
#include "probe/run/snippet_kernel.h"

struct grid {
    struct grid_timer timer; /* first: its rows say so */
    const char *row, *text;
    unsigned chains, copies, warps;
    const char *values, *ptx; /* the row's */
    struct snippet snippet;
};

/* clang-format off */
static const struct param grid_params[] = {
    TEXT(struct grid, row, "fma.rn.f32", "instruction of the table"),
    PARAM_ROW("snippet", struct grid, text, PARAM_TEXT, "", 0, 0, NULL, "instructions instead of a row"),
    NUMBER(struct grid, chains, "1", 1, SNIPPET_CHAINS_MOST, "independent chains of copies"),
    NUMBER(struct grid, copies, "1", 1, SNIPPET_COPIES_MOST, "copies of a chain in the loop"),
    NUMBER(struct grid, warps, "1", 1, SNIPPET_WARPS_MOST, "warps of a block"),
    GRID_TIMER_PARAMS,
    {0},
};
/* clang-format on */

static int takes(const struct grid *g, struct error *err)
{
    bool fits = !g->snippet.shared && !g->snippet.global;
    for (size_t i = 0; i < g->snippet.register_count; i++)
        fits = fits && g->snippet.registers[i].kind != REGISTER_PRED;
    return fits ? 0
                : error_set(err, ERR_USAGE,
                            "grid takes neither predicates nor scratch memory");
}

static void grid_release(void *own)
{
    struct grid *const g = own;
    snippet_free(&g->snippet);
}

static int grid_prepare(struct experiment *e, const struct device_info *info,
                        struct error *err)
{
    struct grid *const g = e->own;
    (void)info;
    g->values = "";
    if (g->text[0] == '\0') {
        const struct instruction *const row = instruction_find(g->row);
        if (row == NULL || row->snippet == NULL || row->setup != NULL)
            return error_set(err, ERR_USAGE,
                             "row=%s is no instruction of the table that needs "
                             "no more than registers",
                             g->row);
        g->text = row->snippet;
        g->values = row->values != NULL ? row->values : "";
        g->ptx = row->ptx;
    }
    if (snippet_parse(g->text, &g->snippet, err) != 0)
        return err->code;
    return takes(g, err);
}

/* ---- the kernel -------------------------------------------------------- */

static void chain_name(struct buf *out, const struct snippet_register *r,
                       const void *context)
{
    buf_printf(out, "%s_%u", r->name, *(const unsigned *)context);
}

/* Adds it to %sum. */
static void grid_collect(struct kernel_text *k,
                         const struct snippet_register *r, unsigned chain)
{
    const unsigned bytes = register_kinds[r->kind].bytes;
    if (bytes == 2)
        ptx_with(k, "cvt.u32.u16 %word, %${name}_$chain;", WORD(name, r->name),
                 WORD(chain, chain));
    else if (bytes == 4)
        ptx_with(k, "mov.b32 %word, %${name}_$chain;", WORD(name, r->name),
                 WORD(chain, chain));
    else
        ptx_with(k, "mov.b64 {%word, %high}, %${name}_$chain;",
                 WORD(name, r->name), WORD(chain, chain));
    ptx(k, "mad.lo.u32 %sum, %sum, 5, %word;");
    if (bytes == 8)
        ptx(k, "mad.lo.u32 %sum, %sum, 5, %high;");
}

static void declare_and_load(struct kernel_text *k, const struct grid *g)
{
    ptx(k, "// of each register, values of all threads\n"
           ".reg .b64 %slot;\n"
           "mov.u32 %word, %ntid.x;\n"
           "mul.wide.u32 %slot, %word, 8;\n"
           "mad.wide.u32 %data, %me, 8, %data;\n");
    for (size_t i = 0; i < g->snippet.register_count; i++) {
        const struct snippet_register *const r = &g->snippet.registers[i];
        const char *const type = register_kinds[r->kind].type;
        for (unsigned c = 0; c < g->chains; c++) {
            ptx_with(k,
                     ".reg .$type %${name}_$c;\n"
                     "ld.global.$type %${name}_$c, [%data+$timer_head];\n"
                     "add.u64 %data, %data, %slot;\n",
                     WORD(type, type), WORD(name, r->name), WORD(c, c),
                     WORD(timer_head, GRID_TIMER_HEAD));
        }
    }
    ptx_note(k, "nothing is timed before all of it is there");
    for (size_t i = 0; i < g->snippet.register_count; i++)
        for (unsigned c = 0; c < g->chains; c++)
            grid_collect(k, &g->snippet.registers[i], c);
}

static void write_body(struct kernel_text *k, const struct grid *g)
{
    grid_timer_loop(k);
    for (unsigned i = 0; i < g->copies; i++)
        for (unsigned c = 0; c < g->chains; c++)
            snippet_write(k->out, &g->snippet, NULL, chain_name, &c);
    grid_timer_again(k);
    for (size_t i = 0; i < g->snippet.register_count; i++)
        for (unsigned c = 0; c < g->chains; c++)
            if (g->snippet.registers[i].written)
                grid_collect(k, &g->snippet.registers[i], c);
}

static void grid_kernel(const struct experiment *e,
                        const struct device_info *info, struct buf *out)
{
    const struct grid *const g = e->own;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "grid",
                 .parameters = GRID_TIMER_PARAMETERS, .least = g->ptx);
    grid_timer_opening(&k);
    declare_and_load(&k, g);
    grid_timer_begin(&k);
    write_body(&k, g);
    grid_timer_end(&k);
    kernel_end(&k);
}

/* ---- operands ---------------------------------------------------------- */

static void grid_fill(const struct grid *g, uint64_t seed, unsigned threads,
                      unsigned char *data)
{
    const struct grid_timer_bits kind = grid_timer_bits(g->text);
    const bool zeros = g->timer.operands == OPERANDS_ZEROS;
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t i = 0; i < g->snippet.register_count; i++) {
        const char *const told =
            snippet_kernel_value(g->values, g->snippet.registers[i].name);
        uint64_t bits = told != NULL ? strtoull(told, NULL, 0) : 0;
        for (size_t n = 0; n < (size_t)g->chains * threads; n++) {
            if (told == NULL && !zeros)
                bits = (rng_next(&rng) & kind.random) | kind.fixed;
            memcpy(data, &bits, sizeof bits);
            data += sizeof bits;
        }
    }
}

static int grid_once(struct prober *prober, const struct experiment *e,
                     struct samples *samples, struct error *err)
{
    const struct grid *const g = e->own;
    const unsigned threads = 32 * g->warps;
    const size_t bytes =
        GRID_TIMER_HEAD + 8 * g->snippet.register_count * g->chains * threads;
    const struct grid_timer_work work = {
        .threads = threads, .data = xcalloc(1, bytes), .bytes = bytes};
    grid_fill(g, prober_seed(prober), threads, work.data + GRID_TIMER_HEAD);
    const int code = grid_timer_run(prober, e, &work, samples, err);
    free(work.data);
    return code;
}

const struct probe probe_grid = {
    .name = "grid",
    .what = "copies of an instruction in a loop, in blocks all over the GPU",
    .params = grid_params,
    .bytes = sizeof(struct grid),
    .columns = grid_timer_columns,
    .figure_column = GRID_TIMER_ELAPSED,
    .repeats_least = 3,
    .repeats_most = 9,
    .prepare = grid_prepare,
    .release = grid_release,
    .kernel = grid_kernel,
    .once = grid_once,
};
