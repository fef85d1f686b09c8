/*
 * How many lines a cache has room for: many more than it is said to hold are
 * loaded, far apart, and the share that is still there tells, by no index,
 * policy or set.  A size that is half of what it is, or twice, with sets that
 * are, too, contradicts nothing, and sets that are asked by that claim behave
 * as it says: the lines that would tell come to none of them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/structure/occupancy.h"
#include "base/mem.h"
#include "base/num.h"
#include "twin/memory.h"
#include "twin/validate/trying.h"

/* A cache, and how many bytes may be asked for. */
struct room_row {
    const char *component;
    uint64_t most;
    bool shared; /* by all SMs */
};

static const struct room_row rows[] = {
    {"l1", 16u << 20, false},      {"texture", 4u << 20, false},
    {"readonly", 4u << 20, false}, {"const_l1", 64u << 10, false},
    {"l2", 1u << 30, true},
};

/* Lines from one that is loaded to the next, of which the studies ask only the
 * last ones: where the number of sets is a multiple of one, it is none of the
 * next. */
static const unsigned distances[] = {127, 53, 37, 23, 19, 17, 11, 5, 3, 1};

/* Four times as many lines as are told fill sets of two ways but for a
 * twentieth, though they come to them by chance; so do as many as twice that is
 * half of what there is. */
enum { OVERFILL = 4 };
/* Of a sixteenth that is left, which is half of what is told, the size is known
 * to 8 %. */
enum { LOOKS = 2560, LOOKS_MOST = 64, LOOKS_PART = 16, SETTLE = 2 };
/* Half-way, by ratio, to half and to twice; the root of 2. */
static const double more_most = 1.4, less_most = 0.7;
/* Standard errors that chance leaves once in 30,000. */
static const double sure = 4;

struct room {
    struct trying *t;
    const struct room_row *row;
    struct level level;
    uint64_t line, lines; /* that the cache is told to hold */
    uint64_t loaded;      /* lines, a power of two */
    double above;         /* cycles, timing included, of a load that misses */
    struct occupancy left;
    char *text; /* of the last experiment */
};

static bool room_begin(struct trying *t, const struct room_row *row,
                       struct room *r)
{
    struct told *const told = &t->told;
    const char *const c = row->component;
    const double miss = told_number(told, c, "miss_penalty");
    const double hit = told_number(told, c, "latency");
    *r = (struct room){
        .t = t,
        .row = row,
        .line = (uint64_t)told_number(told, c, "line"),
        .loaded = OVERFILL,
        .above = hit + told_number(told, "clock", "trace_overhead") + miss / 2};
    /* Threads of one block each have local memory of their own. */
    if (!trying_level(t, c, &r->level) ||
        strstr(r->level.load, "space=local") != NULL || r->line == 0 ||
        hit == 0 || miss == 0 || trying_sure(t, c, "size") == NULL)
        return false;
    r->lines = (uint64_t)told_number(told, c, "size") / r->line;
    while (r->loaded < OVERFILL * r->lines)
        r->loaded *= 2;
    return r->lines > 0;
}

static void room_end(struct room *r)
{
    free(r->text);
}

static uint64_t bytes_most(const struct room *r)
{
    const double memory = told_number(&r->t->told, "memory", "size");
    return memory > 0 ? u64_min(r->row->most, (uint64_t)memory / 2)
                      : r->row->most;
}

/* Of what all SMs share the looks of one are at any line that is there, each
 * behind a load of its page, which brings in the translation: members come in
 * pairs.  Others load all anew for each trial. */
static char *words_of(const struct room *r, uint64_t apart)
{
    const uint64_t looks = u64_within(1, r->lines / LOOKS_PART, LOOKS_MOST);
    const uint64_t members = r->row->shared ? r->loaded / 2 : r->loaded;
    char pairs[96] = "warps=1";
    if (r->row->shared)
        snprintf(pairs, sizeof pairs,
                 "together=1 beside=%" PRIu64 " either=1 lead=%" PRIu64
                 " settle=%d fills=%d order=sequential",
                 r->line, r->line, SETTLE, SETTLE);
    return xasprintf("overfill %s bytes=%" PRIu64 " stride=%" PRIu64
                     " members=%" PRIu64 " looks=%" PRIu64 " trials=%" PRIu64
                     " %s",
                     r->level.load, members * apart * r->line, apart * r->line,
                     members, looks, LOOKS / looks, pairs);
}

static void count_left(struct room *r, const struct samples *s)
{
    const size_t quarter = samples_column(s, "quarter"),
                 cycles = samples_column(s, "cycles"),
                 count = samples_column(s, "count");
    struct occupancy_looks looks = {.members = (double)r->loaded, .looks = 1};
    for (size_t i = 0; i < s->rows; i++) {
        const int64_t in = samples_at(s, i, quarter);
        const double seen = (double)samples_at(s, i, count);
        looks.seen[in] += seen;
        if ((double)samples_at(s, i, cycles) < r->above)
            looks.there[in] += seen;
    }
    occupancy_of_looks(&looks, &r->left);
}

static int look(struct room *r, uint64_t apart)
{
    struct samples s = {0};
    free(r->text);
    r->text = words_of(r, apart);
    const int status = prober_run(r->t->device, r->text, &s, NULL, r->t->err);
    if (status == 0)
        count_left(r, &s);
    samples_free(&s);
    return status;
}

static bool is_more(const struct room *r)
{
    return r->left.lines - sure * r->left.error > more_most * (double)r->lines;
}

static bool is_less(const struct room *r)
{
    return r->left.lines + sure * r->left.error < less_most * (double)r->lines;
}

/* More lines are there than are told, which no index or policy makes of fewer;
 * or fewer are at two distances, of which one alone may come to some sets. */
static int ask(struct room *r, bool *asked, bool *wrong)
{
    enum { TRIED = 2 };
    int status = 0;
    unsigned less = 0, tried = 0;
    bool more = false;
    for (size_t i = 0; status == 0 && !more && tried == less && tried < TRIED &&
                       i < COUNT_OF(distances);
         i++) {
        if (r->loaded * distances[i] * r->line > bytes_most(r))
            continue;
        status = look(r, distances[i]);
        tried++;
        more = status == 0 && is_more(r);
        less += status == 0 && is_less(r);
    }
    *asked = tried > 0;
    *wrong = more || less == TRIED;
    return status;
}

/* A power of two times what is told, where that is what is left. */
static double bytes_left(const struct room *r)
{
    static const double near = 0.2;
    const double times = r->left.lines / (double)r->lines;
    const double power = exp2(round(log2(times)));
    return (double)r->line * (fabs(times / power - 1) < near
                                  ? power * (double)r->lines
                                  : round(r->left.lines));
}

static void blame(struct room *r)
{
    char *const because =
        xasprintf("of %" PRIu64 " lines that were loaded, far apart, some %.0f "
                  "are left, where %" PRIu64 " are told to fit: %s",
                  r->loaded, r->left.lines, r->lines, r->text);
    trying_repair(r->t, trying_find(r->t, r->row->component, "size"),
                  value_number(bytes_left(r)), because);
    free(because);
}

/* Lines of an L2 in two parts lie in either, of which the farther one's hits
 * may cost what misses do. */
static bool can_be_asked(struct trying *t, const struct room_row *row)
{
    const double line = told_number(&t->told, row->component, "line");
    return strcmp(twin_storage(&t->told, row->component), row->component) ==
               0 &&
           (!row->shared || (told_number(&t->told, "l2", "parts") <= 1 &&
                             u64_is_power((uint64_t)line)));
}

static int try_room_of(struct trying *t, const struct room_row *row)
{
    struct room r;
    bool asked = false, wrong = false;
    if (!can_be_asked(t, row) || !room_begin(t, row, &r))
        return 0;
    const int status = ask(&r, &asked, &wrong);
    if (status == 0 && asked)
        trying_note(t, row->component, "size", wrong ? 0 : 1, r.text);
    if (status == 0 && wrong)
        blame(&r);
    room_end(&r);
    return status != 0 && trying_excused(t) ? 0 : status;
}

int try_room(struct trying *t)
{
    int status = 0;
    for (size_t i = 0; status == 0 && !trying_late(t) && i < COUNT_OF(rows);
         i++)
        status = try_room_of(t, &rows[i]);
    return status;
}

/* ---- its sets ---------------------------------------------------------- */

/* What was reported of it, if it was repaired; NULL: it was not. */
static const struct value *reported(const struct trying *t,
                                    const struct finding *f)
{
    for (size_t i = 0; f != NULL && i < t->repair_count; i++)
        if (t->repairs[i].finding == f)
            return &t->repairs[i].reported;
    return NULL;
}

/* The number, as it was reported; 0: there is none. */
static double number_told(struct trying *t, const char *component,
                          const char *attribute)
{
    const struct finding *const f = trying_sure(t, component, attribute);
    const struct value *const v = reported(t, f);
    const struct value *const told = v != NULL || f == NULL ? v : &f->value;
    return told != NULL && told->kind == VALUE_NUMBER ? told->number : 0;
}

static bool is_blamed(struct trying *t, const char *component)
{
    static const char *const made_of[] = {"sets", "ways", "line"};
    bool is = false;
    for (size_t i = 0; i < COUNT_OF(made_of); i++)
        is |= reported(t, trying_find(t, component, made_of[i])) != NULL;
    return is;
}

/* Sets that hold what the wrong size says are as wrong, where nothing that they
 * are made of was found to be: with bits of the index that make as many no
 * other number of them is one that contradicts nothing. */
static void doubt_sets(struct trying *t, const char *c)
{
    struct finding *const sets = trying_sure(t, c, "sets");
    const struct finding *const size = trying_sure(t, c, "size");
    const double told = number_told(t, c, "size");
    if (sets == NULL || reported(t, size) == NULL || is_blamed(t, c) ||
        told != number_told(t, c, "sets") * number_told(t, c, "ways") *
                    number_told(t, c, "line"))
        return;
    const double times = size->value.number / told;
    const struct value other = value_number(sets->value.number * times);
    if (times > less_most && times < more_most)
        return;
    trying_doubt(t, sets, &other,
                 "they hold as many lines as its size, which is in doubt");
}

void try_room_sets(struct trying *t)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        doubt_sets(t, rows[i].component);
}
