#include "study/instruction/subject.h"

#include <string.h>

#include "base/buf.h"

enum { COPIES_USUAL = 16, COPIES_LEAST = 2, LANES = 32 };
/* Of the short region, where there are several chains: with the long one they
 * take 4 KiB, which fits the smallest instruction cache known (8 KiB). */
enum { INSTRUCTIONS_MOST = 64 };

int subject_copies(const struct subject *s, unsigned chains)
{
    const int usual = s->copies > 0 ? (int)s->copies : COPIES_USUAL;
    const int room = INSTRUCTIONS_MOST /
                     (int)(chains * (s->statements > 0 ? s->statements : 1));
    if (chains == 1 || usual <= room)
        return usual;
    return room > COPIES_LEAST ? room : COPIES_LEAST;
}

const char *subject_experiment(struct lab *lab, const char *probe,
                               const struct code_layout *l)
{
    const struct subject *const s = l->subject;
    struct buf text = {0};
    buf_printf(&text, "%s %s level=%u form=%s chains=%u copies=%d", probe,
               s->words, l->level, copies_forms[l->form], l->chains,
               subject_copies(s, l->chains));
    if (l->warps > 0)
        buf_printf(&text, " warps=%u", l->warps);
    if (l->warps > 0 && s->laps > 0)
        buf_printf(&text, " laps=%u", s->laps);
    return arena_adopt(&lab->memory, buf_take(&text));
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

struct subject subject_row(struct lab *lab, const struct instruction *row)
{
    struct snippet s;
    struct error ignored;
    struct subject subject = {
        .words = lab_text(lab, "row=%s", row->name),
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
