#include "study/instruction/verified_code.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/sass_proof.h"
#include "base/mem.h"

void code_reading_free(struct code_reading *r)
{
    free(r->listing);
    free(r->why);
    free(r->experiment);
    *r = (struct code_reading){0};
}

enum { FORMS = 3 };

/* The forms in which copies are tried: at level 0 nothing is folded. */
static size_t forms_of(const struct subject *s, unsigned level,
                       enum instruction_form forms[FORMS])
{
    static const enum instruction_form all[] = {FORM_GUARD, FORM_SWAP,
                                                FORM_PLAIN};
    size_t count = 0;
    forms[count++] = level > 0 || s->only_form ? s->form : FORM_PLAIN;
    if (s->only_form || level == 0)
        return count;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i] != s->form && (all[i] != FORM_SWAP || s->swaps))
            forms[count++] = all[i];
    return count;
}

/* The words of the samples as the bytes that they are. */
static int list_samples(const struct samples *s, struct listing *listing,
                        struct error *err)
{
    const size_t low = samples_column(s, "low");
    unsigned char *const text = xcalloc(s->rows, SASS_BYTES);
    for (size_t row = 0; row < s->rows; row++)
        for (size_t word = 0; word < 2; word++) {
            const int64_t bits = samples_at(s, row, low + word);
            memcpy(text + row * SASS_BYTES + word * sizeof bits, &bits,
                   sizeof bits);
        }
    const unsigned sm = (unsigned)samples_at(s, 0, samples_column(s, "sm"));
    listing_text(text, s->rows * SASS_BYTES, sm, listing, err);
    free(text);
    return err->code;
}

int code_listing(struct lab *lab, const struct subject *s, unsigned level,
                 enum instruction_form form, unsigned chains,
                 struct listing *listing, char **canonical, struct error *err)
{
    struct samples samples;
    char *const text = subject_experiment(s, "machine", level, form, chains, 0);
    *err = (struct error){0};
    if (lab_probe_err(lab, &samples, canonical, err, "%s", text) == 0) {
        list_samples(&samples, listing, err);
        samples_free(&samples);
    }
    free(text);
    return err->code;
}

/* Regions between clock reads: that of n copies, what lies between, that of
 * 3n copies. */
enum { REGION_SHORT = 0, REGION_LONG = 2, CLOCK_READS = 4 };

/* Guarded copies that a select follows cost more than what is timed. */
static const char *surplus(const struct subject *s, enum instruction_form form,
                           const struct sass_proof *t)
{
    return form == FORM_GUARD && t->others > 0 && !s->expands && !s->helped
               ? "the guard is no part of the instruction, but one of its own"
               : NULL;
}

/* Where nobody says which instruction is expected: one, of those that are
 * there, with which it all comes a whole number of times for each copy; or, if
 * there is none, what is said of the commonest. */
static struct sass_proof judge_any(struct sass_proof_claim *claim)
{
    struct tally tally = code_span_tally(claim->longer);
    struct sass_proof best = {.verdict = PROOF_FOLDED};
    size_t most = 0;
    for (size_t i = 0; i < tally.count && best.verdict != PROOF_VERIFIED; i++) {
        claim->expected = tally.rows[i].form;
        struct sass_proof next = sass_proof_judge(claim);
        if (next.verdict == PROOF_VERIFIED || tally.rows[i].count > most) {
            most = tally.rows[i].count;
            sass_proof_free(&best);
            best = next;
        } else {
            sass_proof_free(&next);
        }
    }
    if (tally.count == 0) {
        claim->expected = "*";
        best = sass_proof_judge(claim);
    }
    tally_free(&tally);
    return best;
}

static void judge(const struct subject *s, const struct listing *l,
                  unsigned chains, struct code_reading *reading)
{
    struct sass_proof_claim claim = {
        .shorter = listing_region(l, REGION_SHORT),
        .longer = listing_region(l, REGION_LONG),
        .whole = listing_whole(l),
        .copies = chains * (unsigned)subject_copies(s, chains),
        .chains = s->by_register ? chains : 0,
        .expected = s->machine,
    };
    reading->verdict = CODE_REFUSED;
    if (l->clock_count != CLOCK_READS) {
        reading->why = xasprintf("%zu clock reads where %d were written",
                                 l->clock_count, CLOCK_READS);
        return;
    }
    struct sass_proof t =
        s->machine != NULL ? sass_proof_judge(&claim) : judge_any(&claim);
    const char *const more = surplus(s, reading->form, &t);
    reading->listing = xstrdup(t.expansion);
    reading->length = t.expected + t.others;
    reading->chain = claim.chains > 0 && t.chain_read;
    if (t.verdict == PROOF_VERIFIED && more == NULL)
        reading->verdict = CODE_VERIFIED;
    else
        reading->why = more != NULL ? xasprintf("%s: %s", more, t.expansion)
                                    : xstrdup(t.because);
    sass_proof_free(&t);
}

static int read_code(struct lab *lab, const struct subject *s, unsigned level,
                     enum instruction_form form, unsigned chains,
                     struct code_reading *reading, struct error *err)
{
    struct listing listing;
    *reading = (struct code_reading){.form = form};
    const int code = code_listing(lab, s, level, form, chains, &listing,
                                  &reading->experiment, err);
    if (code == ERR_UNSUPPORTED) {
        reading->verdict = CODE_UNREAD;
        reading->why = xstrdup("machine code not read");
        *err = (struct error){0};
        return 0;
    }
    if (code != 0)
        return code;
    judge(s, &listing, chains, reading);
    listing_free(&listing);
    return 0;
}

/* True if the one reading is a better ground for a number than the other. */
static bool is_better(const struct code_reading *a,
                      const struct code_reading *b)
{
    if (a->verdict == CODE_VERIFIED && b->verdict == CODE_VERIFIED)
        return a->length < b->length;
    return a->verdict == CODE_VERIFIED;
}

/* True if no other form needs to be looked at. */
static bool settles(const struct subject *s, const struct code_reading *r)
{
    return r->verdict == CODE_UNREAD ||
           (r->verdict == CODE_VERIFIED &&
            (r->length == 1 || s->helped || s->expands));
}

int code_verify(struct lab *lab, const struct subject *s, unsigned level,
                unsigned chains, struct code_reading *best, struct error *err)
{
    enum instruction_form forms[FORMS];
    const size_t count = forms_of(s, level, forms);
    *best = (struct code_reading){0};
    for (size_t i = 0; i < count; i++) {
        struct code_reading next;
        if (read_code(lab, s, level, forms[i], chains, &next, err) != 0) {
            code_reading_free(best);
            return err->code;
        }
        if (i == 0 || is_better(&next, best)) {
            code_reading_free(best);
            *best = next;
        } else {
            code_reading_free(&next);
        }
        if (best->verdict == CODE_UNREAD || (best->verdict == CODE_VERIFIED &&
                                             (best->length == 1 || s->helped)))
            break;
    }
    return 0;
}

void code_say(struct finding *f, const struct code_reading *code)
{
    static const char *const words[] = {
        [CODE_UNREAD] = "not read",
        [CODE_VERIFIED] = "verified",
        [CODE_REFUSED] = "not verified",
    };
    finding_protocol(f, "copies", value_text(copies_forms[code->form]));
    finding_protocol(f, "code", value_text(words[code->verdict]));
    if (code->verdict == CODE_VERIFIED)
        finding_protocol(f, "chain",
                         value_text(code->chain ? "verified" : "not read"));
    if (code->listing != NULL)
        finding_protocol(f, "machine_code", value_text(code->listing));
    if (code->experiment != NULL)
        finding_evidence(f, code->experiment);
}

/* ---- kernels compiled beforehand ----------------------------------------- */

void code_texts_add(struct code_texts *texts, char *text)
{
    texts->at = xreallocarray(texts->at, texts->count + 1, sizeof *texts->at);
    texts->at[texts->count++] = text;
}

void code_prepare(struct lab *lab, struct code_texts *texts)
{
    prober_prepare(lab->prober, (const char *const *)texts->at, texts->count);
    for (size_t i = 0; i < texts->count; i++)
        free(texts->at[i]);
    free(texts->at);
    *texts = (struct code_texts){0};
}

void code_first_form(const struct subject *s, unsigned level,
                     struct code_texts *texts)
{
    enum instruction_form forms[FORMS];
    forms_of(s, level, forms);
    code_texts_add(texts, subject_experiment(s, "isa", level, forms[0], 1, 1));
}

void code_other_forms(struct lab *lab, const struct subject *s, unsigned level,
                      struct code_texts *texts)
{
    enum instruction_form forms[FORMS];
    struct code_reading first;
    struct error ignored;
    const size_t count = forms_of(s, level, forms);
    if (count == 1 ||
        read_code(lab, s, level, forms[0], 1, &first, &ignored) != 0)
        return;
    if (!settles(s, &first))
        for (size_t i = 1; i < count; i++)
            code_texts_add(texts,
                           subject_experiment(s, "isa", level, forms[i], 1, 1));
    code_reading_free(&first);
}

void code_rate_forms(struct lab *lab, const struct subject *s, unsigned level,
                     struct code_texts *texts)
{
    struct code_reading code;
    struct error ignored;
    if (code_verify(lab, s, level, 1, &code, &ignored) != 0)
        return;
    const struct subject rate = subject_of_rate(s);
    if (code.verdict != CODE_REFUSED)
        code_texts_add(texts, subject_experiment(&rate, "isa", level, code.form,
                                                 STEPPED_CHAINS, 1));
    code_reading_free(&code);
}
