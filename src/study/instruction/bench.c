/*
 * What a snippet of the user's costs: the same as of a row of the table, but
 * of copies as they are given, unless another form is asked for.
 */
#include "study/instruction/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ptx/snippet.h"
#include "study/instruction/cost.h"

static const char *const needs[] = {NULL};
static const char *const gives[] = {NULL}; /* for each level asked for */

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

static const char unchained[] =
    "no chain: the snippet writes no register that it reads before, so that "
    "copies of it do not wait for each other";

static int ask_level(struct lab *lab, const struct subject *s, unsigned level,
                     struct error *err)
{
    char attribute[32];
    struct old_cost cost;
    struct code_reading code;
    snprintf(attribute, sizeof attribute, "latency.O%u", level);
    struct finding *const f = lab_finding(lab, "bench", attribute);
    if (code_verify(lab, s, level, 1, &code, err) != 0)
        return cost_excuse(f, err);
    int status = 0;
    if (!s->chained)
        finding_none(f, "%s", unchained);
    else if (code.verdict == CODE_REFUSED)
        finding_none(f, "not verified: %s", code.why);
    else
        status = cost_latency(lab, s, level, &code, &cost, err);
    if (s->chained && code.verdict != CODE_REFUSED && status == 0) {
        finding_old_cost(f, &cost);
        free(cost.experiment);
    }
    code_say(f, &code);
    code_reading_free(&code);
    return status == 0 ? 0 : cost_excuse(f, err);
}

/* With just so many chains and warps, of which what is not given is one chain
 * and all warps. */
static int ask_rate(struct lab *lab, const struct subject *s, unsigned level,
                    struct finding *f, struct error *err)
{
    const struct bench_wish *const wish = lab->bench;
    struct saturation found = {
        .chains = wish->chains > 0 ? wish->chains : 1,
        .warps = wish->warps > 0 ? wish->warps : SNIPPET_WARPS_MOST,
        .reached = true,
    };
    struct code_reading code;
    if (code_verify(lab, s, level, found.chains, &code, err) != 0)
        return err->code;
    int status = 0;
    if (code.verdict == CODE_REFUSED)
        finding_none(f, "not verified: %s", code.why);
    else
        status = cost_rate(lab, s, level, &code, found.chains, found.warps,
                           &found.rate, err);
    if (code.verdict != CODE_REFUSED && status == 0) {
        cost_say_rate(f, &found);
        free(found.rate.experiment);
    }
    code_say(f, &code);
    code_reading_free(&code);
    return status;
}

static int ask_throughput(struct lab *lab, const struct subject *s,
                          unsigned level, struct error *err)
{
    const struct bench_wish *const wish = lab->bench;
    struct finding *const f = lab_finding(lab, "bench", "throughput");
    const int status = wish->chains == 0 && wish->warps == 0
                           ? cost_ask_throughput(lab, s, level, f, err)
                           : ask_rate(lab, s, level, f, err);
    return status == 0 ? 0 : cost_excuse(f, err);
}

static int ask(struct lab *lab, const struct subject *s, struct error *err)
{
    const struct bench_wish *const wish = lab->bench;
    unsigned top = 0;
    for (unsigned level = 0; level < LEVELS; level++) {
        if ((wish->levels >> level & 1) == 0)
            continue;
        top = level;
        if (ask_level(lab, s, level, err) != 0)
            return err->code;
    }
    if (ask_throughput(lab, s, top, err) != 0)
        return err->code;
    return wish->parallelism ? cost_parallelism(lab, s, top, "bench", err) : 0;
}

/* The complaint in terms of the snippet. */
static int complain(struct lab *lab, const struct subject *subject,
                    const struct snippet *s, const struct snippet *setup,
                    struct error *err)
{
    struct experiment e;
    struct error ignored;
    char *const text =
        subject_experiment(subject, "isa", 3, subject->form, 1, 1);
    if (experiment_parse(text, &e, &ignored) == 0) {
        snippet_kernel_complain(&e, lab->info, s, setup, err);
        experiment_free(&e);
    }
    free(text);
    return err->code;
}

static int measure(struct lab *lab, const struct snippet *s,
                   const struct snippet *setup, struct error *err)
{
    char *const words = words_of(lab->bench, s, setup);
    const struct subject subject = subject_of(lab->bench, s, words);
    if (ask(lab, &subject, err) == ERR_PTX)
        complain(lab, &subject, s, setup, err);
    free(words);
    return err->code;
}

static int run(struct lab *lab, struct error *err)
{
    const struct bench_wish *const wish = lab->bench;
    struct snippet s = {0}, setup = {0};
    if (wish == NULL)
        return error_set(err, ERR_USAGE,
                         "bench needs a snippet: sonde bench 'SNIPPET'");
    int code = snippet_parse(wish->snippet, &s, err);
    if (code == 0 && wish->setup[0] != '\0' &&
        snippet_parse(wish->setup, &setup, err) != 0)
        code = error_prefix(err, "setup");
    if (code == 0)
        code = measure(lab, &s, &setup, err);
    snippet_free(&s);
    snippet_free(&setup);
    return code;
}

const struct study study_bench = {
    .name = "bench",
    .question = "What does a snippet of PTX cost?",
    .method = "As isa, of the instructions that the user gives.",
    .needs = needs,
    .gives = gives,
    .apart = true,
    .run_err = run,
};
