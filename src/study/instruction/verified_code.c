/* Which form of copies the machine code bears out, and what it says of each. */
#include "study/instruction/verified_code.h"

#include <string.h>

#include "analysis/sass_proof.h"
#include "base/mem.h"

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
static void list_samples(struct lab *lab, const struct samples *s,
                         struct listing *listing)
{
    const size_t low = samples_column(s, "low");
    unsigned char *const text = lab_alloc(lab, s->rows, SASS_BYTES);
    for (size_t row = 0; row < s->rows; row++)
        for (size_t word = 0; word < 2; word++) {
            const int64_t bits = samples_at(s, row, low + word);
            memcpy(text + row * SASS_BYTES + word * sizeof bits, &bits,
                   sizeof bits);
        }
    const unsigned sm = (unsigned)samples_at(s, 0, samples_column(s, "sm"));
    listing_text(text, s->rows * SASS_BYTES, sm, listing, &lab->err);
}

bool code_listing(struct lab *lab, const struct code_layout *layout,
                  struct listing *listing, const char **experiment)
{
    const struct samples *const s =
        lab_probe(lab, "%s", subject_experiment(lab, "machine", layout));
    if (experiment != NULL)
        *experiment = s->experiment;
    if (lab_ok(lab))
        list_samples(lab, s, listing);
    return lab_ok(lab);
}

/* Regions between clock reads: that of n copies, what lies between, that of
 * 3n copies. */
enum { REGION_SHORT = 0, REGION_LONG = 2, CLOCK_READS = 4 };

/* Guarded copies that a select follows cost more than what is timed. */
static bool is_guard_apart(const struct subject *s, enum instruction_form form,
                           const struct sass_proof *t)
{
    return form == FORM_GUARD && t->others > 0 && !s->expands && !s->helped;
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

static void judge_code(struct lab *lab, const struct listing *l,
                       const struct code_layout *layout,
                       struct code_reading *reading)
{
    const struct subject *const s = layout->subject;
    const unsigned chains = layout->chains;
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
        reading->why =
            lab_text(lab, why_clock_reads, l->clock_count, CLOCK_READS);
        return;
    }
    struct sass_proof t =
        s->machine != NULL ? sass_proof_judge(&claim) : judge_any(&claim);
    const bool apart = is_guard_apart(s, reading->form, &t);
    reading->listing = lab_text(lab, "%s", t.expansion);
    reading->length = t.expected + t.others;
    reading->chain = claim.chains > 0 && t.chain_read;
    if (t.verdict == PROOF_VERIFIED && !apart)
        reading->verdict = CODE_VERIFIED;
    else
        reading->why = apart ? lab_text(lab, why_guard_apart, t.expansion)
                             : lab_text(lab, "%s", t.because);
    sass_proof_free(&t);
}

static struct code_reading read_code(struct lab *lab,
                                     const struct code_layout *layout)
{
    struct listing listing;
    struct code_reading reading = {.form = layout->form};
    if (code_listing(lab, layout, &listing, &reading.experiment)) {
        judge_code(lab, &listing, layout, &reading);
        listing_free(&listing);
    } else if (lab->err.code == ERR_UNSUPPORTED) {
        lab->err = (struct error){0};
        reading.verdict = CODE_UNREAD;
        reading.why = why_code_unread;
    }
    return reading;
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

struct code_reading code_verify(struct lab *lab, const struct subject *s,
                                unsigned level, unsigned chains)
{
    enum instruction_form forms[FORMS];
    const size_t count = forms_of(s, level, forms);
    struct code_reading best = {0};
    for (size_t i = 0; lab_ok(lab) && i < count; i++) {
        const struct code_layout layout = {
            .subject = s, .level = level, .form = forms[i], .chains = chains};
        const struct code_reading next = read_code(lab, &layout);
        if (i == 0 || is_better(&next, &best))
            best = next;
        if (best.verdict == CODE_UNREAD ||
            (best.verdict == CODE_VERIFIED && (best.length == 1 || s->helped)))
            break;
    }
    return lab_ok(lab) ? best : (struct code_reading){0};
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
    finding_cite(f, code->experiment);
}

void code_refuse(struct finding *f, const struct code_reading *code)
{
    finding_none(f, why_not_verified, code->why);
}

/* ---- kernels compiled beforehand ----------------------------------------- */

void code_texts_add(struct code_texts *texts, const char *text)
{
    if (texts->count == texts->capacity) {
        const size_t more = 2 * texts->capacity + 64;
        const char **const at = lab_alloc(texts->lab, more, sizeof *at);
        if (texts->count > 0)
            memcpy(at, texts->at, texts->count * sizeof *at);
        texts->at = at;
        texts->capacity = more;
    }
    texts->at[texts->count++] = text;
}

void code_prepare(struct code_texts *texts)
{
    prober_prepare(texts->lab->prober, texts->at, texts->count);
    texts->count = 0;
}

static void add_form(struct code_texts *texts, const struct subject *s,
                     unsigned level, enum instruction_form form,
                     unsigned chains)
{
    const struct code_layout layout = {s, level, form, chains, 1};
    code_texts_add(texts, subject_experiment(texts->lab, "isa", &layout));
}

void code_first_form(struct code_texts *texts, const struct subject *s,
                     unsigned level)
{
    enum instruction_form forms[FORMS];
    forms_of(s, level, forms);
    add_form(texts, s, level, forms[0], 1);
}

/* What cannot be prepared is said by the experiment itself. */
static bool is_read(struct lab *lab)
{
    const bool ok = lab_ok(lab);
    lab->err = (struct error){0};
    return ok;
}

void code_other_forms(struct code_texts *texts, const struct subject *s,
                      unsigned level)
{
    enum instruction_form forms[FORMS];
    const size_t count = forms_of(s, level, forms);
    if (count == 1)
        return;
    const struct code_layout layout = {s, level, forms[0], 1, 0};
    const struct code_reading first = read_code(texts->lab, &layout);
    if (!is_read(texts->lab) || settles(s, &first))
        return;
    for (size_t i = 1; i < count; i++)
        add_form(texts, s, level, forms[i], 1);
}

void code_rate_forms(struct code_texts *texts, const struct subject *s,
                     unsigned level)
{
    const struct code_reading code = code_verify(texts->lab, s, level, 1);
    const struct subject rate = subject_of_rate(s);
    if (is_read(texts->lab) && code.verdict != CODE_REFUSED)
        add_form(texts, &rate, level, code.form, STEPPED_CHAINS);
}
