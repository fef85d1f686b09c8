/*
 * How the cost of one instruction came about, for people: kernel, machine code
 * of the timed regions, and samples, of the latency at each level.
 */
#include "study/instruction/explain.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ptx/listing.h"
#include "study/instruction/cost.h"
#include "study/instruction/isa.h"

static void put_code(struct lab *lab, const struct subject *s, unsigned level,
                     const struct code_reading *code, struct buf *out)
{
    static const char *const names[] = {"short region, n copies",
                                        "long region, 3n copies"};
    struct listing listing;
    struct error err = {0};
    if (code_listing(lab, s, level, code->form, 1, &listing, NULL, &err) != 0) {
        buf_printf(out, "  %s\n", err.text);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        buf_printf(out, "  %s:\n    ", names[i]);
        code_span_write(listing_region(&listing, 2 * i), out);
        buf_text(out, "\n");
    }
    listing_free(&listing);
}

static int put_samples(struct lab *lab, const struct subject *s, unsigned level,
                       enum instruction_form form, struct buf *out,
                       struct error *err)
{
    struct samples samples;
    char *const text = subject_experiment(s, "isa", level, form, 1, 1);
    char *canonical;
    const int code = lab_probe_err(lab, &samples, &canonical, err, "%s", text);
    free(text);
    if (code != 0)
        return code;
    buf_printf(out, "samples (sonde probe %s)\n", canonical);
    free(canonical);
    for (size_t c = 0; c < samples.columns; c++)
        buf_printf(out, "  %8s", samples.names[c]);
    for (size_t r = 0; r < samples.rows; r++)
        for (size_t c = 0; c < samples.columns; c++)
            buf_printf(out, "%s  %8" PRId64, c == 0 ? "\n" : "",
                       samples_at(&samples, r, c));
    buf_text(out, "\n");
    samples_free(&samples);
    return 0;
}

static int put_kernel(struct lab *lab, const struct subject *s, unsigned level,
                      enum instruction_form form, struct buf *out,
                      struct error *err)
{
    struct experiment e;
    char *const text = subject_experiment(s, "isa", level, form, 1, 1);
    int code = experiment_parse(text, &e, err);
    free(text);
    if (code != 0)
        return code;
    buf_text(out, "kernel\n\n");
    code = probe_kernel(&e, lab->info, out, err);
    buf_text(out, "\n");
    experiment_free(&e);
    return code;
}

static int explain_level(struct lab *lab, const struct subject *s,
                         unsigned level, struct buf *out, struct error *err)
{
    static const char *const verdicts[] = {
        [CODE_UNREAD] = "machine code not read",
        [CODE_VERIFIED] = "verified",
        [CODE_REFUSED] = "not verified",
    };
    struct code_reading code;
    struct old_cost cost;
    if (code_verify(lab, s, level, 1, &code, err) != 0)
        return err->code;
    buf_printf(out, "\n-O%u: %s copies, %s%s%s\n", level,
               copies_forms[code.form], verdicts[code.verdict],
               code.verdict == CODE_REFUSED ? ": " : "",
               code.verdict == CODE_REFUSED ? code.why : "");
    buf_text(out, "machine code between the clock reads\n");
    put_code(lab, s, level, &code, out);
    int status = put_samples(lab, s, level, code.form, out, err);
    if (status == 0)
        status = cost_latency(lab, s, level, &code, &cost, err);
    if (status == 0) {
        buf_printf(out,
                   "(long - short) / %d copies, median without first laps: "
                   "%.2f cycles\n\n",
                   (SNIPPET_LONG - 1) * subject_copies(s, 1), cost.cycles);
        free(cost.experiment);
        status = put_kernel(lab, s, level, code.form, out, err);
    }
    code_reading_free(&code);
    return status;
}

int explain_instruction(struct lab *lab, const char *name, unsigned levels,
                        struct buf *out, struct error *err)
{
    char words[96];
    const struct instruction *const row = instruction_find(name);
    if (row == NULL)
        return isa_unknown(name, err);
    if (row->snippet == NULL)
        return error_set(err, ERR_USAGE,
                         "%s is made of other rows or of chased loads; sonde "
                         "isa -v %s says how",
                         name, name);
    const struct subject s = subject_row(row, words, sizeof words);
    buf_printf(out, "%s (%s)\n  %s\n", row->name, category_names[row->category],
               row->snippet);
    if (row->helper != NULL)
        buf_printf(out,
                   "  its chain also holds %s, whose latency is taken "
                   "away\n",
                   row->helper);
    for (unsigned level = 0; level < LEVELS; level++)
        if ((levels >> level & 1) != 0 &&
            explain_level(lab, &s, level, out, err) != 0)
            return err->code;
    return 0;
}
