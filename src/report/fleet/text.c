/*
 * A fleet for a person: what was read, who is out and by what (structure
 * first), hosts and racks, what has changed, who is missing; with -v each
 * finding, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/fleet/fleet.h"
#include "report/fleet/tally.h"
#include "report/wide.h"
#include "report/writer.h"

/* More rows than these nobody reads; JSON has all. */
enum { ROWS_MOST = 200, NOTES_MOST = 20 };

static void put(const struct page *page, enum tone tone, struct buf *text)
{
    page_line(page, &(struct line){.text = buf_string(text), .tone = tone});
    buf_free(text);
}

static void put_words(const struct page *page, enum tone tone, const char *text)
{
    page_line(page, &(struct line){.text = text, .tone = tone});
}

/* ---- what was read ------------------------------------------------------- */

static void put_counts(const struct page *page, const struct fleet_set *set,
                       const char *whose)
{
    struct buf text = {0};
    buf_printf(&text, "%sreports: %zu read", whose, set->states[FLEET_READ]);
    for (int i = FLEET_READ + 1; i < FLEET_STATES; i++)
        if (set->states[i] > 0)
            buf_printf(&text, ", %zu %s", set->states[i],
                       fleet_state_words((enum fleet_state)i));
    put(page, TONE_PLAIN, &text);
}

static void put_note(const struct page *page, const struct fleet_note *note)
{
    struct buf text = {0};
    buf_printf(&text, "  %s: %s", note->path, fleet_state_words(note->state));
    /* The sentence of a reader begins with the path again. */
    const size_t length = strlen(note->path);
    const char *why = note->why;
    if (why != NULL && strncmp(why, note->path, length) == 0 &&
        why[length] == ':')
        why += length + 2;
    if (why != NULL)
        buf_printf(&text, ": %s", why);
    put(page, TONE_DOUBT, &text);
}

static void put_notes(const struct page *page, const struct fleet_set *set,
                      bool all)
{
    for (int state = FLEET_READ + 1; state < FLEET_STATES; state++) {
        size_t shown = 0;
        for (size_t i = 0; i < set->note_count; i++)
            if ((int)set->notes[i].state == state &&
                (shown++ < NOTES_MOST || all))
                put_note(page, &set->notes[i]);
        if (shown > NOTES_MOST && !all) {
            struct buf text = {0};
            buf_printf(&text, "  and %zu more (-v)", shown - NOTES_MOST);
            put(page, TONE_FAINT, &text);
        }
    }
}

/* Nothing where all are of one. */
static void put_versions(const struct page *page, const struct fleet *f)
{
    size_t count;
    struct fleet_version *const v = fleet_versions(f, &count);
    struct buf text = {0};
    for (size_t i = 0; i < count && i < NOTES_MOST; i++) {
        const char *const words = fleet_words(f, v[i].words);
        buf_printf(&text, "%s%s (%zu GPUs)",
                   i == 0 ? "of several versions of sonde: " : ", ",
                   words[0] != '\0' ? words : "not said", v[i].gpus);
    }
    if (count > 1)
        put(page, TONE_DOUBT, &text);
    buf_free(&text);
    free(v);
}

/* ---- who is out ---------------------------------------------------------- */

static void put_share(struct buf *out, double share)
{
    if (isfinite(share))
        buf_printf(out, "%+.3g %%", 100 * share);
}

static void put_name(const struct fleet *f, struct buf *out,
                     const struct fleet_out *o)
{
    const struct fleet_gpu *const g = &f->now.gpus[o->gpu];
    if (o->level == FLEET_GPU)
        buf_printf(out, "%s %s", g->host, fleet_gpu_name(g));
    else
        buf_printf(out, "%s %s (%zu GPUs)",
                   o->level == FLEET_HOST ? "host" : "rack", o->name, o->gpus);
}

static void put_others(const struct fleet *f, struct buf *out,
                       const struct fleet_finding *finding)
{
    fleet_put(f, out, finding->column, finding->words, finding->centre);
    if (finding->structure)
        buf_printf(out, " (%zu GPUs)", finding->agree);
    else if (finding->centre > 0 || finding->centre < 0)
        buf_printf(out, " ± %.2g %%",
                   100 * finding->spread / fabs(finding->centre));
}

static void take_cell(struct wide *table, struct buf *cell)
{
    wide_put(table, buf_string(cell));
    buf_clear(cell);
}

static void put_out(const struct fleet *f, const struct fleet_model *m,
                    const struct fleet_out *o, struct wide *table)
{
    const struct fleet_finding *const finding = &m->findings[o->finding];
    struct buf cell = {0};
    put_name(f, &cell, o);
    take_cell(table, &cell);
    wide_put(table, fleet_column(f, finding->column));
    fleet_put(f, &cell, finding->column, o->words, o->number);
    take_cell(table, &cell);
    if (!o->words && !finding->words)
        put_share(&cell, o->share);
    take_cell(table, &cell);
    put_others(f, &cell, finding);
    take_cell(table, &cell);
    buf_free(&cell);
}

static void put_heading(struct wide *table, const char *title)
{
    wide_put(table, title);
    wide_put(table, "finding");
    wide_put(table, "has");
    wide_put(table, "beyond");
    wide_put(table, "others");
}

static void put_rows(const struct page *page, const struct fleet *f,
                     const struct fleet_model *m, bool structure)
{
    struct wide table = {.columns = 5};
    size_t rows = 0;
    put_heading(&table, structure ? "structure" : "further off than the rest");
    for (size_t i = 0; i < m->out_count; i++)
        if (m->findings[m->out[i].finding].structure == structure &&
            rows++ < ROWS_MOST)
            put_out(f, m, &m->out[i], &table);
    if (rows > 0) {
        put_words(page, TONE_PLAIN, "");
        wide_write(&table, page);
    }
    if (rows > ROWS_MOST) {
        struct buf text = {0};
        buf_printf(&text, "and %zu more (--json has all)", rows - ROWS_MOST);
        put(page, TONE_FAINT, &text);
    }
    wide_free(&table);
}

/* What is not the same of all, but of too many for one to be out. */
static void put_divided(const struct page *page, const struct fleet *f,
                        const struct fleet_model *m)
{
    for (size_t i = 0; i < m->finding_count; i++) {
        const struct fleet_finding *const finding = &m->findings[i];
        if (!finding->divided)
            continue;
        struct buf text = {0};
        buf_printf(&text, "not the same of all, and nobody is odd: %s, ",
                   fleet_column(f, finding->column));
        fleet_put(f, &text, finding->column, finding->words, finding->centre);
        buf_printf(&text, " of %zu of %zu GPUs", finding->agree, finding->gpus);
        put(page, TONE_FAINT, &text);
    }
}

/* Where several are out at one place. */
static void put_tally(const struct page *page, const struct fleet *f,
                      const struct fleet_model *m, enum fleet_level level)
{
    struct tally t = fleet_tally(f, m, level);
    size_t shown = 0;
    for (size_t i = 0; i < t.count; i++) {
        if (t.rows[i].out < 2 || shown++ >= NOTES_MOST)
            continue;
        struct buf text = {0};
        buf_printf(&text, "%s %s: %zu of %zu GPUs out",
                   level == FLEET_HOST ? "host" : "rack", t.rows[i].name,
                   t.rows[i].out, t.rows[i].gpus);
        put(page, TONE_STRONG, &text);
    }
    fleet_tally_free(&t);
}

/* ---- a model ------------------------------------------------------------- */

static void put_finding(const struct fleet *f, const struct fleet_finding *g,
                        struct wide *table)
{
    struct buf cell = {0};
    wide_put(table, fleet_column(f, g->column));
    buf_printf(&cell, "%zu", g->gpus);
    take_cell(table, &cell);
    buf_printf(&cell, "%zu", g->unknown);
    take_cell(table, &cell);
    if (g->gpus > 0)
        put_others(f, &cell, g);
    take_cell(table, &cell);
    if (g->limit > 0 && isfinite(g->limit) && fabs(g->centre) > 0)
        buf_printf(&cell, "%.2g %%", 100 * g->limit / fabs(g->centre));
    take_cell(table, &cell);
    buf_printf(&cell, "%zu", g->out);
    take_cell(table, &cell);
    buf_free(&cell);
}

static void put_findings(const struct page *page, const struct fleet *f,
                         const struct fleet_model *m)
{
    static const char *const heads[] = {"finding", "GPUs",  "unknown",
                                        "centre",  "limit", "out"};
    struct wide table = {.columns = COUNT_OF(heads)};
    for (size_t i = 0; i < COUNT_OF(heads); i++)
        wide_put(&table, heads[i]);
    for (size_t i = 0; i < m->finding_count; i++)
        put_finding(f, &m->findings[i], &table);
    put_words(page, TONE_PLAIN, "");
    wide_write(&table, page);
    wide_free(&table);
}

/* "1 host", "12 hosts" */
static void put_number_of(struct buf *out, const char *before, size_t count,
                          const char *what)
{
    buf_printf(out, "%s%zu %s%s", before, count, what, count == 1 ? "" : "s");
}

static void put_model(const struct page *page, const struct fleet *f,
                      const struct fleet_model *m, bool all)
{
    struct buf text = {0};
    buf_printf(&text, "%s: ", fleet_model_name(f, m->name));
    put_number_of(&text, "", m->count, "GPU");
    put_number_of(&text, " in ", m->hosts, "host");
    if (m->racks > 0)
        put_number_of(&text, " of ", m->racks, "rack");
    put_number_of(&text, ", ", m->finding_count, "finding");
    put_number_of(&text, ": ", m->gpus_out, "GPU");
    buf_text(&text, " out");
    put_words(page, TONE_PLAIN, "");
    put(page, TONE_STRONG, &text);
    put_rows(page, f, m, true);
    put_rows(page, f, m, false);
    put_divided(page, f, m);
    put_tally(page, f, m, FLEET_HOST);
    put_tally(page, f, m, FLEET_RACK);
    if (m->count < 3)
        put_words(page, TONE_FAINT,
                  "of fewer than three GPUs none can be told to be odd");
    if (all)
        put_findings(page, f, m);
}

/* ---- changes and the missing --------------------------------------------- */

static void put_change(const struct fleet *f, const struct fleet_change *c,
                       struct wide *table)
{
    struct buf cell = {0};
    if (c->gpu == SIZE_MAX)
        buf_printf(&cell, "all %s", fleet_model_name(f, c->model));
    else
        buf_printf(&cell, "%s %s", f->now.gpus[c->gpu].host,
                   fleet_gpu_name(&f->now.gpus[c->gpu]));
    take_cell(table, &cell);
    wide_put(table, fleet_column(f, c->column));
    if (!isnan(c->before))
        fleet_put(f, &cell, c->column, c->words, c->before);
    take_cell(table, &cell);
    if (!isnan(c->now))
        fleet_put(f, &cell, c->column, c->words, c->now);
    take_cell(table, &cell);
    if (!c->words)
        put_share(&cell, c->share);
    take_cell(table, &cell);
    buf_free(&cell);
}

static void put_names(const struct page *page, const char *title,
                      char *const *names, size_t count)
{
    struct buf text = {0};
    if (count == 0)
        return;
    buf_printf(&text, "%s (%zu):", title, count);
    for (size_t i = 0; i < count && i < ROWS_MOST; i++)
        buf_printf(&text, "%s %s", i > 0 ? "," : "", names[i]);
    buf_text(&text, count > ROWS_MOST ? ", …" : "");
    put_words(page, TONE_PLAIN, "");
    put(page, TONE_DOUBT, &text);
}

static void put_changes(const struct page *page, const struct fleet *f)
{
    static const char *const heads[] = {"changed", "finding", "before", "now",
                                        "by"};
    struct wide table = {.columns = COUNT_OF(heads)};
    for (size_t i = 0; i < COUNT_OF(heads); i++)
        wide_put(&table, heads[i]);
    for (size_t i = 0; i < f->change_count && i < ROWS_MOST; i++)
        put_change(f, &f->changes[i], &table);
    put_words(page, TONE_PLAIN, "");
    if (f->change_count > 0)
        wide_write(&table, page);
    else
        put_words(page, TONE_PLAIN, "nothing has changed");
    if (f->change_count > ROWS_MOST) {
        struct buf text = {0};
        buf_printf(&text, "and %zu more (--json has all)",
                   f->change_count - ROWS_MOST);
        put(page, TONE_FAINT, &text);
    }
    wide_free(&table);
    put_names(page, "no longer there", f->gone, f->gone_count);
    put_names(page, "new", f->came, f->came_count);
}

void fleet_text(const struct fleet *f, const struct report_style *style,
                struct buf *out)
{
    const struct page page = writer_page(style, out);
    const bool all = style->verbose > 0;
    put_counts(&page, &f->now, "");
    put_notes(&page, &f->now, all);
    put_versions(&page, f);
    if (f->compared) {
        put_counts(&page, &f->since, "before, ");
        put_notes(&page, &f->since, all);
    }
    for (size_t i = 0; i < f->model_count; i++)
        put_model(&page, f, &f->models[i], all);
    if (f->compared)
        put_changes(&page, f);
    put_names(&page, "no report of hosts", f->missing, f->missing_count);
}
