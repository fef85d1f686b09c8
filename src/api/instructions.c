/* The part of sonde.h about what instructions cost. */
#include <stdlib.h>
#include <string.h>

#include "api/ptx_block.h"
#include "api/session.h"
#include "base/mem.h"
#include "base/text.h"
#include "study/instruction/bench.h"
#include "study/instruction/explain.h"
#include "study/instruction/isa.h"

enum { LEVELS_USUAL = 1 << 0 | 1 << 3 };

int sonde_isa(struct sonde *s, const struct sonde_isa *wish,
              struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    static const char *const studies[] = {"isa"};
    static const struct sonde_isa everything;
    if (session_measures(s, __func__, err) != 0)
        return ERR_USAGE;
    const struct sonde_isa *const w = wish != NULL ? wish : &everything;
    if (!session_words(w->patterns, w->pattern_count))
        return session_lacks(__func__, "a pattern", err);
    const struct isa_wish isa = {
        .patterns = w->patterns,
        .pattern_count = w->pattern_count,
        .levels = w->levels != 0 ? w->levels : LEVELS_USUAL,
        .latency_only = w->latency_only,
        .parallelism = w->parallelism,
    };
    s->lab.isa = &isa;
    const int code = session_run(s, studies, COUNT_OF(studies), err);
    s->lab.isa = NULL;
    return code;
}

static int form_of(const char *name, enum instruction_form *form,
                   struct error *err)
{
    *form = FORM_PLAIN;
    if (name == NULL)
        return 0;
    *form = (enum instruction_form)text_find(name, copies_forms);
    if (copies_forms[*form] != NULL)
        return 0;
    return error_set(err, ERR_USAGE,
                     "copies can be guard, swap or plain, not '%s'", name);
}

/* Runs the wish with its snippet and its setup, which were given in any form.
 */
static int bench_read(struct sonde *s, struct bench_wish *bench,
                      struct sonde_error *err)
{
    static const char *const studies[] = {"bench"};
    struct error why = {0};
    char *snippet = NULL, *setup = NULL;
    int code = ptx_block_read(bench->snippet, &snippet, &why);
    if (code == 0 && (code = ptx_block_read(bench->setup, &setup, &why)) != 0)
        error_prefix(&why, "setup");
    if (code != 0) {
        session_hand_out(code, &why, err);
    } else {
        bench->snippet = snippet;
        bench->setup = setup;
        s->lab.bench = bench;
        code = session_run(s, studies, COUNT_OF(studies), err);
        s->lab.bench = NULL;
    }
    free(snippet);
    free(setup);
    return code;
}

int sonde_bench(struct sonde *s, const struct sonde_bench *wish,
                struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    if (wish == NULL || wish->snippet == NULL)
        return session_lacks(__func__, "the snippet", err);
    if (session_measures(s, __func__, err) != 0)
        return ERR_USAGE;
    struct bench_wish bench = {
        .snippet = wish->snippet,
        .setup = wish->setup != NULL ? wish->setup : "",
        .values = wish->values != NULL ? wish->values : "",
        .levels = wish->levels != 0 ? wish->levels : LEVELS_USUAL,
        .chains = wish->chains,
        .warps = wish->warps,
        .parallelism = wish->parallelism,
    };
    if (form_of(wish->form, &bench.form, &why) != 0)
        return session_hand_out(why.code, &why, err);
    return bench_read(s, &bench, err);
}

int sonde_isa_explain(struct sonde *s, const char *name, unsigned levels,
                      char **text, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    struct buf out = {0};
    if (name == NULL || text == NULL)
        return session_lacks(__func__, "the name or the text", err);
    if (session_measures(s, __func__, err) != 0)
        return ERR_USAGE;
    const int code = explain_instruction(
        &s->lab, name, levels != 0 ? levels : LEVELS_USUAL, &out, &why);
    if (code == 0)
        *text = buf_take(&out);
    buf_free(&out);
    return session_hand_out(code, &why, err);
}
