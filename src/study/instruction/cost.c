#include "study/instruction/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/buf.h"
#include "base/mem.h"
#include "probe/run/snippet_kernel.h"

enum { COPIES_USUAL = 16, COPIES_LEAST = 2, LANES = 32 };
/* Of the short region, where there are several chains: with the long one they
 * take 4 KiB, which fits the smallest instruction cache known (8 KiB). */
enum { INSTRUCTIONS_MOST = 64 };

char *subject_experiment(const struct subject *s, const char *probe,
                         unsigned level, enum instruction_form form,
                         unsigned chains, unsigned warps)
{
    struct buf text = {0};
    buf_printf(&text, "%s %s level=%u form=%s chains=%u copies=%d", probe,
               s->words, level, copies_forms[form], chains,
               subject_copies(s, chains));
    if (warps > 0)
        buf_printf(&text, " warps=%u", warps);
    if (warps > 0 && s->laps > 0)
        buf_printf(&text, " laps=%u", s->laps);
    return buf_take(&text);
}

enum { COPIES_EXPANDED = 8, COPIES_OF_RATE = 2 };

/* True if the text of `length` is the instruction that a row is called by. */
static bool names_row(const char *text, size_t length,
                      const struct instruction *row)
{
    return strncmp(row->name, text, length) == 0 &&
           (row->name[length] == '\0' || row->name[length] == '.');
}

/* … that its snippet begins with. */
static bool begins_row(const char *text, size_t length,
                       const struct instruction *row)
{
    return row != NULL && strncmp(row->snippet, text, length) == 0 &&
           row->snippet[length] == ' ';
}

static bool is_mixed(const struct instruction *row)
{
    const struct instruction *const helper =
        row->helper != NULL ? instruction_find(row->helper) : NULL;
    size_t own = 0, helpers = 0;
    struct snippet s;
    struct error ignored;
    if (snippet_parse(row->snippet, &s, &ignored) != 0)
        return false;
    for (size_t i = 0; i < s.statement_count; i++) {
        const char *at = s.text + s.statements[i].start;
        at += *at == '@' ? strcspn(at, " ") + 1 : 0;
        const size_t length = strcspn(at, " ;");
        own += names_row(at, length, row);
        helpers += begins_row(at, length, helper);
    }
    const size_t others = s.statement_count - own - helpers;
    snippet_free(&s);
    return own > 0 && (others > 0 || helpers != (helper != NULL) ||
                       (helper != NULL && is_mixed(helper)));
}

struct subject subject_row(const struct instruction *row, char *words,
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
        .mixed = is_mixed(row),
    };
    snprintf(words, room, "row=%s", row->name);
    if (snippet_parse(row->snippet, &s, &ignored) == 0) {
        subject.statements = (unsigned)s.statement_count;
        subject.by_register = snippet_chain(&s) != NULL;
        subject.chained |= subject.by_register;
        subject.swaps = snippet_kernel_partner(&s) != NULL;
        snippet_free(&s);
    }
    return subject;
}

struct subject subject_of_rate(const struct subject *s)
{
    struct subject rate = *s;
    if (rate.expands)
        rate.copies = COPIES_OF_RATE;
    return rate;
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
static int measure(struct lab *lab, const char *experiment, struct old_cost *cost,
                   struct error *err)
{
    struct samples samples;
    size_t count;
    *cost = (struct old_cost){0};
    if (lab_probe_err(lab, &samples, &cost->experiment, err, "%s", experiment) != 0)
        return err->code;
    double *const more = differences(&samples, &count);
    const struct stats_interval interval = lab_interval(lab, more, count);
    cost->cycles = stats_median(more, count);
    cost->low = interval.low;
    cost->high = interval.high;
    free(more);
    samples_free(&samples);
    if (cost->cycles > 0)
        return 0;
    free(cost->experiment);
    *cost = (struct old_cost){0};
    return error_set(err, ERR_UNSUPPORTED,
                     "three times as many copies took no longer: they were "
                     "folded away, or the kernel left before them");
}

int subject_copies(const struct subject *s, unsigned chains)
{
    const int usual = s->copies > 0 ? (int)s->copies : COPIES_USUAL;
    const int room = INSTRUCTIONS_MOST /
                     (int)(chains * (s->statements > 0 ? s->statements : 1));
    if (chains == 1 || usual <= room)
        return usual;
    return room > COPIES_LEAST ? room : COPIES_LEAST;
}

/* By so many copies of a chain do the regions differ. */
static double copies_of(const struct subject *s, unsigned chains)
{
    return (SNIPPET_LONG - 1) * subject_copies(s, chains);
}

/* Of how many instructions a copy's cost is: machine instructions of a snippet
 * that is several PTX instructions merged into one, if they were. */
static unsigned parts_of(const struct subject *s, const struct code_reading *c)
{
    if (s->merged == 0)
        return 1;
    return c->verdict == CODE_VERIFIED ? c->length : s->merged;
}

int cost_latency(struct lab *lab, const struct subject *s, unsigned level,
                 const struct code_reading *code, struct old_cost *cost,
                 struct error *err)
{
    const double parts = copies_of(s, 1) * parts_of(s, code);
    char *const text = subject_experiment(s, "isa", level, code->form, 1, 1);
    if (measure(lab, text, cost, err) == 0) {
        cost->cycles /= parts;
        cost->low /= parts;
        cost->high /= parts;
    }
    free(text);
    return err->code;
}

int cost_rate(struct lab *lab, const struct subject *s, unsigned level,
              const struct code_reading *code, unsigned chains, unsigned warps,
              struct old_cost *rate, struct error *err)
{
    const double work = 32.0 * warps * chains * copies_of(s, chains) *
                        parts_of(s, code) * (s->results > 0 ? s->results : 1);
    char *const text =
        subject_experiment(s, "isa", level, code->form, chains, warps);
    if (measure(lab, text, rate, err) == 0) {
        const struct old_cost cycles = *rate;
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
    {1, 32}, {STEPPED_CHAINS, 8}, {STEPPED_CHAINS, 16}, {STEPPED_CHAINS, 32},
    {8, 32},
};
static const double grown = 1.01;

/* True if the step has more of one and no less of the other: fewer warps of
 * more chains may do less than more warps of fewer, and say nothing. */
static bool is_larger(const struct step *a, const struct saturation *b)
{
    return a->chains >= b->chains && a->warps >= b->warps &&
           a->chains + a->warps > b->chains + b->warps;
}

/* Keeps the better one of two; takes the step's experiment. */
static void keep_better(struct saturation *best, const struct old_cost *rate,
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

int cost_throughput(struct lab *lab, const struct subject *s, unsigned level,
                    const struct code_reading *code, struct saturation *best,
                    struct error *err)
{
    const unsigned most = lab_block_warps(lab);
    *best = (struct saturation){0};
    for (size_t i = 0; i < COUNT_OF(steps) && !best->reached; i++) {
        struct step step = steps[i];
        struct old_cost rate;
        if (step.warps > most)
            step.warps = most;
        const int status =
            cost_rate(lab, s, level, code, step.chains, step.warps, &rate, err);
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

int cost_excuse(struct finding *f, struct error *err)
{
    const int code = err->code;
    finding_none(f, "%s", err->text);
    if (!lab_excuses(code) && code != ERR_NOT_RECORDED)
        return code;
    *err = (struct error){0};
    return 0;
}

/* ---- throughput --------------------------------------------------------- */

double cost_pipe(double rate)
{
    for (double lanes = 1; lanes <= 4096; lanes *= 2) {
        if (fabs(rate - lanes) <= 0.03 * lanes)
            return lanes;
        if (fabs(rate - 1.5 * lanes) <= 0.03 * lanes)
            return 1.5 * lanes;
    }
    return 0;
}

void cost_say_rate(struct finding *f, const struct saturation *s)
{
    const double pipe = cost_pipe(s->rate.cycles);
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

/* Why more of the instruction could be done than of its copies. */
static const char *unsettled(const struct subject *s,
                             const struct code_reading *code)
{
    if (s->mixed && code->verdict == CODE_UNREAD)
        return "the copies hold other instructions, too";
    return parts_of(s, code) > 1
               ? "a copy is several instructions that wait for each other"
               : NULL;
}

int cost_ask_throughput(struct lab *lab, const struct subject *of,
                        unsigned level, struct finding *f, struct error *err)
{
    const struct subject rate = subject_of_rate(of), *const s = &rate;
    struct code_reading code;
    struct saturation found;
    if (code_verify(lab, s, level, STEPPED_CHAINS, &code, err) != 0)
        return err->code;
    int status = 0;
    if (code.verdict == CODE_REFUSED)
        finding_none(f, "not verified: %s", code.why);
    else
        status = cost_throughput(lab, s, level, &code, &found, err);
    if (code.verdict != CODE_REFUSED && status == 0) {
        cost_say_rate(f, &found);
        free(found.rate.experiment);
    }
    const char *const why = unsettled(s, &code);
    if (f->status == STATUS_MEASURED && why != NULL) {
        f->status = STATUS_AT_LEAST;
        finding_because(f, "%s", why);
    }
    code_say(f, &code);
    code_reading_free(&code);
    return status;
}

int cost_rates(struct lab *lab, const struct subject *s, unsigned level,
               const struct code_reading *code, unsigned chains, unsigned most,
               double *rates, char **experiment, struct error *err)
{
    *experiment = NULL;
    for (unsigned warps = 1; warps <= most; warps++) {
        struct old_cost rate;
        free(*experiment);
        *experiment = NULL;
        if (cost_rate(lab, s, level, code, chains, warps, &rate, err) != 0)
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
    double rates[SNIPPET_WARPS_MOST];
    char *experiment;
    struct value list = value_list();
    const unsigned most = lab_block_warps(lab);
    if (cost_rates(lab, s, level, code, chains, most, rates, &experiment,
                   err) != 0)
        return err->code;
    for (unsigned warps = 0; warps < most; warps++)
        value_push(&list, value_number(rates[warps]));
    finding_set(f, STATUS_MEASURED, list, "/clk/SM");
    finding_evidence(f, experiment);
    free(experiment);
    return 0;
}

int cost_parallelism(struct lab *lab, const struct subject *s, unsigned level,
                     const char *component, struct error *err)
{
    struct code_reading code;
    int status = code_verify(lab, s, level, 1, &code, err);
    for (unsigned chains = 1; status == 0 && chains <= SNIPPET_CHAINS_MOST;
         chains++) {
        char attribute[48];
        snprintf(attribute, sizeof attribute, "throughput_by_warps.%u", chains);
        struct finding *const f = lab_finding(lab, component, attribute);
        if (code.verdict == CODE_REFUSED)
            finding_none(f, "not verified: %s", code.why);
        else if (rates_of_chains(lab, s, level, &code, chains, f, err) != 0)
            status = cost_excuse(f, err);
    }
    code_reading_free(&code);
    return status;
}
