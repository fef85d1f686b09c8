/*
 * What a snippet of the user's costs: the same as of a row of the table, but
 * of copies as they are given, unless another form is asked for.
 */
#include "study/instruction/bench.h"

#include <string.h>

#include "base/buf.h"
#include "ptx/snippet.h"
#include "study/instruction/cost.h"

static const struct answer answers[] = {
    {ONE("bench"), "latency.O*", "cycles"},
    {ONE("bench"), "throughput", "/clk/SM"},
    {ONE("bench"), "throughput_by_warps.*", "/clk/SM"},
    {0},
};

/* ---- the snippet -------------------------------------------------------- */

/* The instruction without guard and operands. */
static size_t mnemonic(const struct snippet *s, const char **text)
{
    const char *at = s->text + s->statements[0].start;
    if (*at == '@') {
        at += strcspn(at, " \t\n");
        at += strspn(at, " \t\n");
    }
    *text = at;
    return strcspn(at, " \t\n;");
}

/* A row of the table that does just this instruction; NULL: none. */
static const struct instruction *row_of(const struct snippet *s)
{
    const char *text;
    const size_t length = mnemonic(s, &text);
    if (s->statement_count != 1)
        return NULL;
    for (const struct instruction *r = instruction_table; r->name != NULL; r++)
        if (r->snippet != NULL && strncmp(r->snippet, text, length) == 0 &&
            strchr(" ;", r->snippet[length]) != NULL)
            return r;
    return NULL;
}

/* Without comments: an experiment is one line, in which they would not end. */
static char *words_of(const struct bench_wish *wish, const struct snippet *s,
                      const struct snippet *setup)
{
    struct buf text = {0};
    buf_printf(&text, "snippet='%s'", s->text);
    if (setup->text != NULL)
        buf_printf(&text, " setup='%s'", setup->text);
    if (wish->values[0] != '\0')
        buf_printf(&text, " values='%s'", wish->values);
    return buf_take(&text);
}

static struct subject subject_of(const struct bench_wish *wish,
                                 const struct snippet *s, const char *words)
{
    const struct instruction *const row = row_of(s);
    return (struct subject){
        .words = words,
        .machine = row != NULL ? row->machine : NULL,
        .form = wish->form,
        .only_form = true,
        .swaps = snippet_kernel_partner(s) != NULL,
        .expands = row != NULL ? row->expands : true,
        .statements = (unsigned)s->statement_count,
        .results = row != NULL ? row->results : 1,
        .by_register = snippet_chain(s) != NULL,
        .chained = snippet_chain(s) != NULL || (row != NULL && row->in_order),
    };
}

/* ---- findings ----------------------------------------------------------- */

static void bench_latency(struct lab *lab, const struct subject *s,
                          unsigned level)
{
    struct finding *const f =
        lab_finding(lab, "bench", lab_text(lab, "latency.O%u", level));
    cost_ask_latency(lab, s, level, f);
    cost_excuse(lab, f);
}

/* With just so many chains and warps, if some are given: of which what is not
 * given is one chain and all warps. */
static void bench_throughput(struct lab *lab, const struct subject *s,
                             unsigned level)
{
    const struct bench_wish *const wish = lab->bench;
    struct finding *const f = lab_finding(lab, "bench", "throughput");
    const struct saturation with = {
        .chains = wish->chains > 0 ? wish->chains : 1,
        .warps = wish->warps > 0 ? wish->warps : SNIPPET_WARPS_MOST,
        .reached = true,
    };
    const bool given = wish->chains > 0 || wish->warps > 0;
    cost_ask_throughput(lab, s, level, given ? &with : NULL, f);
    cost_excuse(lab, f);
}

static void bench_ask(struct lab *lab, const struct subject *s)
{
    const struct bench_wish *const wish = lab->bench;
    unsigned top = 0;
    for (unsigned level = 0; lab_ok(lab) && level < LEVELS; level++)
        if (wish->levels >> level & 1) {
            top = level;
            bench_latency(lab, s, level);
        }
    if (lab_ok(lab))
        bench_throughput(lab, s, top);
    if (lab_ok(lab) && wish->parallelism)
        cost_parallelism(lab, s, top, "bench");
}

/* The complaint in terms of the snippet. */
static void complain(struct lab *lab, const struct subject *subject,
                     const struct snippet *s, const struct snippet *setup)
{
    struct experiment e;
    struct error ignored;
    const struct code_layout layout = {subject, 3, subject->form, 1, 1};
    const char *const text = subject_experiment(lab, "isa", &layout);
    if (experiment_parse(text, &e, &ignored) == 0) {
        snippet_kernel_complain(&e, lab->info, s, setup, &lab->err);
        experiment_free(&e);
    }
}

static void bench_snippet(struct lab *lab, const struct snippet *s,
                          const struct snippet *setup)
{
    const char *const words =
        arena_adopt(&lab->memory, words_of(lab->bench, s, setup));
    const struct subject subject = subject_of(lab->bench, s, words);
    bench_ask(lab, &subject);
    if (lab->err.code == ERR_PTX)
        complain(lab, &subject, s, setup);
}

static void bench_run(struct lab *lab)
{
    const struct bench_wish *const wish = lab->bench;
    struct snippet s = {0}, setup = {0};
    if (wish == NULL) {
        error_set(&lab->err, ERR_USAGE,
                  "bench needs a snippet: sonde bench 'SNIPPET'");
        return;
    }
    if (snippet_parse(wish->snippet, &s, &lab->err) == 0 &&
        wish->setup[0] != '\0' &&
        snippet_parse(wish->setup, &setup, &lab->err) != 0)
        error_prefix(&lab->err, "setup");
    if (lab_ok(lab))
        bench_snippet(lab, &s, &setup);
    snippet_free(&s);
    snippet_free(&setup);
}

const struct study study_bench = {
    .name = "bench",
    .question = "What does a snippet of PTX cost?",
    .method = "As isa, of the instructions that the user gives.",
    .answers = answers,
    .apart = true,
    .run = bench_run,
};
