/*
 * How the cost of one instruction came about, for people: kernel, machine code
 * of the timed regions, and samples, of the latency at each level.
 */
#include "study/instruction/explain.h"

#include <inttypes.h>

#include "ptx/sass/listing.h"
#include "study/instruction/cost.h"
#include "study/instruction/isa.h"

static void put_code(struct lab *lab, const struct code_layout *layout,
                     struct buf *out)
{
    static const char *const names[] = {"short region, n copies",
                                        "long region, 3n copies"};
    struct listing listing;
    if (!code_listing(lab, layout, &listing, NULL)) {
        buf_printf(out, "  %s\n", lab->err.text);
        lab->err = (struct error){0};
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        buf_printf(out, "  %s:\n    ", names[i]);
        code_span_write(listing_region(&listing, 2 * i), out);
        buf_text(out, "\n");
    }
    listing_free(&listing);
}

static void put_samples(struct lab *lab, const char *experiment,
                        struct buf *out)
{
    const struct samples *const s = lab_probe(lab, "%s", experiment);
    if (!lab_ok(lab))
        return;
    buf_printf(out, "samples (sonde probe %s)\n", s->experiment);
    for (size_t c = 0; c < s->columns; c++)
        buf_printf(out, "  %8s", s->names[c]);
    for (size_t r = 0; r < s->rows; r++)
        for (size_t c = 0; c < s->columns; c++)
            buf_printf(out, "%s  %8" PRId64, c == 0 ? "\n" : "",
                       samples_at(s, r, c));
    buf_text(out, "\n");
}

static void put_kernel(struct lab *lab, const char *experiment, struct buf *out)
{
    struct experiment e;
    if (!lab_ok(lab) || experiment_parse(experiment, &e, &lab->err) != 0)
        return;
    buf_text(out, "kernel\n\n");
    probe_kernel(&e, lab->info, out, &lab->err);
    buf_text(out, "\n");
    experiment_free(&e);
}

static void explain_level(struct lab *lab, const struct subject *s,
                          unsigned level, struct buf *out)
{
    static const char *const verdicts[] = {
        [CODE_UNREAD] = why_code_unread,
        [CODE_VERIFIED] = "verified",
        [CODE_REFUSED] = "not verified",
    };
    const struct code_reading code = code_verify(lab, s, level, 1);
    if (!lab_ok(lab))
        return;
    const bool refused = code.verdict == CODE_REFUSED;
    buf_printf(out, "\n-O%u: %s copies, %s%s%s\n", level,
               copies_forms[code.form], verdicts[code.verdict],
               refused ? ": " : "", refused ? code.why : "");
    buf_text(out, "machine code between the clock reads\n");
    struct code_layout layout = {s, level, code.form, 1, 0};
    put_code(lab, &layout, out);
    layout.warps = 1;
    const char *const experiment = subject_experiment(lab, "isa", &layout);
    put_samples(lab, experiment, out);
    const struct timed timed = {s, level, &code};
    const struct cost cost = cost_latency(lab, &timed);
    if (lab_ok(lab))
        buf_printf(out,
                   "(long - short) / %d copies, median without first laps: "
                   "%.2f cycles\n\n",
                   (SNIPPET_LONG - 1) * subject_copies(s, 1), cost.cycles);
    put_kernel(lab, experiment, out);
}

int explain_instruction(struct lab *lab, const char *name, unsigned levels,
                        struct buf *out, struct error *err)
{
    const struct instruction *const row = instruction_find(name);
    if (row == NULL)
        return isa_unknown(name, err);
    if (row->snippet == NULL)
        return error_set(err, ERR_USAGE,
                         "%s is made of other rows or of chased loads; sonde "
                         "isa -v %s says how",
                         name, name);
    buf_printf(out, "%s (%s)\n  %s\n", row->name, category_names[row->category],
               row->snippet);
    if (row->helper != NULL)
        buf_printf(out,
                   "  its chain also holds %s, whose latency is taken "
                   "away\n",
                   row->helper);
    const struct subject s = subject_row(lab, row);
    lab->err = (struct error){0};
    for (unsigned level = 0; lab_ok(lab) && level < LEVELS; level++)
        if ((levels >> level & 1) != 0)
            explain_level(lab, &s, level, out);
    return lab_end(lab, err);
}
