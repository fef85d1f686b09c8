#include "study/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "analysis/timed.h"
#include "base/buf.h"
#include "base/mem.h"
#include "probe/copies.h"

enum { COPIES_USUAL = 16, LANES = 32 };
/* Chains of most of the steps to saturation, whose machine code is read. */
enum { STEPPED_CHAINS = 4 };

char *timing_experiment(const struct subject *s, const char *probe,
                        unsigned level, enum instruction_form form,
                        unsigned chains, unsigned warps)
{
    struct buf text = {0};
    buf_printf(&text, "%s %s level=%u form=%s chains=%u copies=%d", probe,
               s->words, level, copies_forms[form], chains, timing_copies(s));
    if (warps > 0)
        buf_printf(&text, " warps=%u", warps);
    if (warps > 0 && s->laps > 0)
        buf_printf(&text, " laps=%u", s->laps);
    return buf_take(&text);
}

enum { COPIES_EXPANDED = 8, COPIES_OF_RATE = 2 };

struct subject timing_row(const struct instruction *row, char *words,
                          size_t room)
{
    struct snippet s;
    struct error ignored;
    struct subject subject = {
        .words = words,
        .machine = row->machine,
        .form = row->form,
        .only_form = row->form == FORM_PLAIN,
        .expands = row->expands,
        .copies = row->expands ? COPIES_EXPANDED : 0,
        .results = row->results,
        .merged = row->merged,
        .chained = row->in_order,
        .helped = row->helper != NULL,
    };
    snprintf(words, room, "row=%s", row->name);
    if (snippet_parse(row->snippet, &s, &ignored) == 0) {
        subject.by_register = snippet_chain(&s) != NULL;
        subject.chained |= subject.by_register;
        subject.swaps = copies_partner(&s) != NULL;
        snippet_free(&s);
    }
    return subject;
}

/* ---- samples ----------------------------------------------------------- */

/* What the long region takes more, of all laps but the first of each
 * repetition. */
static double *differences(const struct samples *s, size_t *count)
{
    const size_t lap = samples_column(s, "lap");
    const size_t from = samples_column(s, "short");
    const size_t to = samples_column(s, "long");
    double *const more = xcalloc(s->rows, sizeof *more);
    *count = 0;
    for (size_t row = 0; row < s->rows; row++)
        if (samples_at(s, row, lap) > 0)
            more[(*count)++] =
                (double)(samples_at(s, row, to) - samples_at(s, row, from));
    return more;
}

/* Median of the differences, and where it is. */
static int measure(struct lab *lab, const char *experiment, struct cost *cost,
                   struct error *err)
{
    struct samples samples;
    size_t count;
    struct rng rng;
    *cost = (struct cost){0};
    if (lab_probe(lab, &samples, &cost->experiment, err, "%s", experiment) != 0)
        return err->code;
    double *const more = differences(&samples, &count);
    rng_seed(&rng, prober_seed(lab->prober));
    const struct stats_interval interval = stats_bootstrap_median(
        more, count, LAB_CONFIDENCE_PERCENT / 100.0, &rng);
    cost->cycles = stats_median(more, count);
    cost->low = interval.low;
    cost->high = interval.high;
    free(more);
    samples_free(&samples);
    if (cost->cycles > 0)
        return 0;
    free(cost->experiment);
    *cost = (struct cost){0};
    return error_set(err, ERR_UNSUPPORTED,
                     "three times as many copies took no longer: they were "
                     "folded away, or the kernel left before them");
}

int timing_copies(const struct subject *s)
{
    return s->copies > 0 ? (int)s->copies : COPIES_USUAL;
}

/* By so many copies do the regions differ. */
static double copies_of(const struct subject *s)
{
    return (COPIES_LONG - 1) * timing_copies(s);
}

/* Of how many instructions a copy's cost is: machine instructions of a snippet
 * that is several PTX instructions merged into one, if they were. */
static unsigned parts_of(const struct subject *s, const struct code_reading *c)
{
    if (s->merged == 0)
        return 1;
    return c->verdict == CODE_VERIFIED ? c->length : s->merged;
}

int timing_latency(struct lab *lab, const struct subject *s, unsigned level,
                   const struct code_reading *code, struct cost *cost,
                   struct error *err)
{
    const double parts = copies_of(s) * parts_of(s, code);
    char *const text = timing_experiment(s, "isa", level, code->form, 1, 1);
    if (measure(lab, text, cost, err) == 0) {
        cost->cycles /= parts;
        cost->low /= parts;
        cost->high /= parts;
    }
    free(text);
    return err->code;
}

int timing_rate(struct lab *lab, const struct subject *s, unsigned level,
                const struct code_reading *code, unsigned chains,
                unsigned warps, struct cost *rate, struct error *err)
{
    const double work = 32.0 * warps * chains * copies_of(s) *
                        parts_of(s, code) * (s->results > 0 ? s->results : 1);
    char *const text =
        timing_experiment(s, "isa", level, code->form, chains, warps);
    if (measure(lab, text, rate, err) == 0) {
        const struct cost cycles = *rate;
        rate->cycles = work / cycles.cycles;
        rate->low = work / cycles.high;
        rate->high = work / cycles.low;
    }
    free(text);
    return err->code;
}

/* Steps up, until one with more of both changes less than this. */
static const struct step {
    unsigned chains, warps;
} steps[] = {
    {1,              32},
    {STEPPED_CHAINS, 8 },
    {STEPPED_CHAINS, 16},
    {STEPPED_CHAINS, 32},
    {8,              32},
};
static const double grown = 1.01;

unsigned timing_warps(const struct lab *lab)
{
    const int64_t threads = lab->info->value[PROPERTY_BLOCK_THREADS];
    return threads > 0 && threads < LANES * COPIES_WARPS_MOST
               ? (unsigned)threads / LANES
               : COPIES_WARPS_MOST;
}

static bool is_larger(const struct step *a, const struct saturation *b)
{
    return a->chains * a->warps > b->chains * b->warps;
}

/* Keeps the better one of two; takes the step's experiment. */
static void keep_better(struct saturation *best, const struct cost *rate,
                        const struct step *step)
{
    if (rate->cycles <= best->rate.cycles) {
        free(rate->experiment);
        return;
    }
    free(best->rate.experiment);
    *best = (struct saturation){.rate = *rate,
                                .chains = step->chains,
                                .warps = step->warps,
                                .reached = best->reached};
}

int timing_throughput(struct lab *lab, const struct subject *s, unsigned level,
                      const struct code_reading *code, struct saturation *best,
                      struct error *err)
{
    const unsigned most = timing_warps(lab);
    *best = (struct saturation){0};
    for (size_t i = 0; i < COUNT_OF(steps) && !best->reached; i++) {
        struct cost rate;
        struct step step = steps[i];
        if (step.warps > most)
            step.warps = most;
        const int status = timing_rate(lab, s, level, code, step.chains,
                                       step.warps, &rate, err);
        /* So many warps may need more registers than there are. */
        if (status == ERR_UNSUPPORTED && best->rate.experiment != NULL)
            break;
        if (status == ERR_UNSUPPORTED)
            continue;
        if (status != 0) {
            free(best->rate.experiment);
            return status;
        }
        best->reached = i > 0 && is_larger(&step, best) &&
                        rate.cycles < grown * best->rate.cycles;
        keep_better(best, &rate, &step);
    }
    if (best->rate.experiment == NULL)
        return err->code;
    *err = (struct error){0};
    return 0;
}

/* ---- machine code ------------------------------------------------------ */

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

int timing_listing(struct lab *lab, const struct subject *s, unsigned level,
                   enum instruction_form form, unsigned chains,
                   struct listing *listing, char **canonical, struct error *err)
{
    struct samples samples;
    char *const text = timing_experiment(s, "machine", level, form, chains, 0);
    *err = (struct error){0};
    if (lab_probe(lab, &samples, canonical, err, "%s", text) == 0) {
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
                           const struct timed *t)
{
    return form == FORM_GUARD && t->others > 0 && !s->expands && !s->helped
               ? "the guard is no part of the instruction, but one of its own"
               : NULL;
}

/* Where nobody says which instruction is expected: one, of those that are
 * there, with which it all comes a whole number of times for each copy; or, if
 * there is none, what is said of the commonest. */
static struct timed judge_any(struct timed_claim *claim)
{
    struct tally tally = span_tally(claim->longer);
    struct timed best = {.verdict = TIMED_FOLDED};
    size_t most = 0;
    for (size_t i = 0; i < tally.count && best.verdict != TIMED_VERIFIED; i++) {
        claim->expected = tally.rows[i].form;
        struct timed next = timed_judge(claim);
        if (next.verdict == TIMED_VERIFIED || tally.rows[i].count > most) {
            most = tally.rows[i].count;
            timed_free(&best);
            best = next;
        } else {
            timed_free(&next);
        }
    }
    if (tally.count == 0) {
        claim->expected = "*";
        best = timed_judge(claim);
    }
    tally_free(&tally);
    return best;
}

static void judge(const struct subject *s, const struct listing *l,
                  unsigned chains, struct code_reading *reading)
{
    struct timed_claim claim = {
        .shorter = listing_region(l, REGION_SHORT),
        .longer = listing_region(l, REGION_LONG),
        .whole = listing_whole(l),
        .copies = chains * (unsigned)timing_copies(s),
        .chains = s->by_register ? chains : 0,
        .expected = s->machine,
    };
    reading->verdict = CODE_REFUSED;
    if (l->clock_count != CLOCK_READS) {
        reading->why = xasprintf("%zu clock reads where %d were written",
                                 l->clock_count, CLOCK_READS);
        return;
    }
    struct timed t =
        s->machine != NULL ? timed_judge(&claim) : judge_any(&claim);
    const char *const more = surplus(s, reading->form, &t);
    reading->listing = xstrdup(t.expansion);
    reading->length = t.expected + t.others;
    if (t.verdict == TIMED_VERIFIED && more == NULL)
        reading->verdict = CODE_VERIFIED;
    else
        reading->why = more != NULL ? xasprintf("%s: %s", more, t.expansion)
                                    : xstrdup(t.because);
    timed_free(&t);
}

static int read_code(struct lab *lab, const struct subject *s, unsigned level,
                     enum instruction_form form, unsigned chains,
                     struct code_reading *reading, struct error *err)
{
    struct listing listing;
    *reading = (struct code_reading){.form = form};
    const int code = timing_listing(lab, s, level, form, chains, &listing,
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

int timing_code(struct lab *lab, const struct subject *s, unsigned level,
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

int timing_excuse(struct finding *f, struct error *err)
{
    const int code = err->code;
    if (!lab_excuses(code) && code != ERR_NOT_RECORDED)
        return code;
    finding_none(f, "%s", err->text);
    *err = (struct error){0};
    return 0;
}

void timing_say_code(struct finding *f, const struct code_reading *code)
{
    static const char *const words[] = {
        [CODE_UNREAD] = "not read",
        [CODE_VERIFIED] = "verified",
        [CODE_REFUSED] = "not verified",
    };
    finding_protocol(f, "copies", value_text(copies_forms[code->form]));
    finding_protocol(f, "code", value_text(words[code->verdict]));
    if (code->listing != NULL)
        finding_protocol(f, "machine_code", value_text(code->listing));
    if (code->experiment != NULL)
        finding_evidence(f, code->experiment);
}

/* ---- throughput --------------------------------------------------------- */

double timing_pipe(double rate)
{
    for (double lanes = 1; lanes <= 4096; lanes *= 2) {
        if (fabs(rate - lanes) <= 0.03 * lanes)
            return lanes;
        if (fabs(rate - 1.5 * lanes) <= 0.03 * lanes)
            return 1.5 * lanes;
    }
    return 0;
}

void timing_say_rate(struct finding *f, const struct saturation *s)
{
    const double pipe = timing_pipe(s->rate.cycles);
    finding_set(f, s->reached ? STATUS_MEASURED : STATUS_AT_LEAST,
                value_number(s->rate.cycles), "/clk/SM");
    if (!s->reached)
        finding_because(f, "it still grew with the last chains and warps");
    finding_interval(f, s->rate.low, s->rate.high,
                     LAB_CONFIDENCE_PERCENT / 100.0);
    finding_evidence(f, s->rate.experiment);
    finding_protocol(f, "chains", value_number(s->chains));
    finding_protocol(f, "warps", value_number(s->warps));
    finding_protocol(f, "saturated", value_bool(s->reached));
    if (pipe > 0)
        finding_protocol(f, "pipe", value_number(pipe));
}

/* For a throughput: fewer copies of what is long, since the chains multiply
 * the code, which must fit the instruction caches. */
static struct subject timing_of_rate(const struct subject *s)
{
    struct subject rate = *s;
    if (rate.expands)
        rate.copies = COPIES_OF_RATE;
    return rate;
}

int timing_ask_throughput(struct lab *lab, const struct subject *of,
                          unsigned level, struct finding *f, struct error *err)
{
    const struct subject rate = timing_of_rate(of), *const s = &rate;
    struct code_reading code;
    struct saturation found;
    if (timing_code(lab, s, level, STEPPED_CHAINS, &code, err) != 0)
        return err->code;
    int status = 0;
    if (code.verdict == CODE_REFUSED)
        finding_none(f, "not verified: %s", code.why);
    else
        status = timing_throughput(lab, s, level, &code, &found, err);
    if (code.verdict != CODE_REFUSED && status == 0) {
        timing_say_rate(f, &found);
        free(found.rate.experiment);
    }
    timing_say_code(f, &code);
    code_reading_free(&code);
    return status;
}

int timing_rates(struct lab *lab, const struct subject *s, unsigned level,
                 const struct code_reading *code, unsigned chains,
                 unsigned most, double *rates, char **experiment,
                 struct error *err)
{
    *experiment = NULL;
    for (unsigned warps = 1; warps <= most; warps++) {
        struct cost rate;
        free(*experiment);
        *experiment = NULL;
        if (timing_rate(lab, s, level, code, chains, warps, &rate, err) != 0)
            return err->code;
        rates[warps - 1] = rate.cycles;
        *experiment = rate.experiment;
    }
    return 0;
}

/* The row of the table for so many chains. */
static int rates_of_chains(struct lab *lab, const struct subject *s,
                           unsigned level, const struct code_reading *code,
                           unsigned chains, struct finding *f,
                           struct error *err)
{
    double rates[COPIES_WARPS_MOST];
    char *experiment;
    struct value list = value_list();
    const unsigned most = timing_warps(lab);
    if (timing_rates(lab, s, level, code, chains, most, rates, &experiment,
                     err) != 0)
        return err->code;
    for (unsigned warps = 0; warps < most; warps++)
        value_push(&list, value_number(rates[warps]));
    finding_set(f, STATUS_MEASURED, list, "/clk/SM");
    finding_evidence(f, experiment);
    free(experiment);
    return 0;
}

int timing_parallelism(struct lab *lab, const struct subject *s, unsigned level,
                       const char *component, struct error *err)
{
    struct code_reading code;
    int status = timing_code(lab, s, level, 1, &code, err);
    for (unsigned chains = 1; status == 0 && chains <= COPIES_CHAINS_MOST;
         chains++) {
        char attribute[48];
        snprintf(attribute, sizeof attribute, "throughput_by_warps.%u", chains);
        struct finding *const f = lab_finding(lab, component, attribute);
        if (code.verdict == CODE_REFUSED)
            finding_none(f, "not verified: %s", code.why);
        else if (rates_of_chains(lab, s, level, &code, chains, f, err) != 0)
            status = timing_excuse(f, err);
    }
    code_reading_free(&code);
    return status;
}

/* ---- kernels compiled beforehand ----------------------------------------- */

void timing_add(struct timing_texts *texts, char *text)
{
    texts->at = xreallocarray(texts->at, texts->count + 1, sizeof *texts->at);
    texts->at[texts->count++] = text;
}

void timing_prepare(struct lab *lab, struct timing_texts *texts)
{
    prober_prepare(lab->prober, (const char *const *)texts->at, texts->count);
    for (size_t i = 0; i < texts->count; i++)
        free(texts->at[i]);
    free(texts->at);
    *texts = (struct timing_texts){0};
}

void timing_first_form(const struct subject *s, unsigned level,
                       struct timing_texts *texts)
{
    enum instruction_form forms[FORMS];
    forms_of(s, level, forms);
    timing_add(texts, timing_experiment(s, "isa", level, forms[0], 1, 1));
}

void timing_other_forms(struct lab *lab, const struct subject *s,
                        unsigned level, struct timing_texts *texts)
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
            timing_add(texts, timing_experiment(s, "isa", level, forms[i], 1, 1));
    code_reading_free(&first);
}

void timing_rate_forms(struct lab *lab, const struct subject *s, unsigned level,
                       struct timing_texts *texts)
{
    struct code_reading code;
    struct error ignored;
    if (timing_code(lab, s, level, 1, &code, &ignored) != 0)
        return;
    const struct subject rate = timing_of_rate(s);
    if (code.verdict != CODE_REFUSED)
        timing_add(texts, timing_experiment(&rate, "isa", level, code.form,
                                          STEPPED_CHAINS, 1));
    code_reading_free(&code);
}
