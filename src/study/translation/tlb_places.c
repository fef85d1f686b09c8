/*
 * Scripts over the mappings of one piece of memory, and laps over them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "base/num.h"
#include "probe/memory/access_script.h"
#include "study/assume.h"
#include "study/translation/tlb.h"

/* What was disturbed costs what it was asked for, and no other finding. */
static struct column run_or_fail(struct lab *lab, const char *text,
                                 struct named_column *place)
{
    if (lab->spare || lab->fresh)
        return lab_run_columns(lab, "cycles", text, place);
    lab_spare(lab, true);
    const struct column c = lab_run_columns(lab, "cycles", text, place);
    const char *const why = lab_spared(lab);
    if (why != NULL)
        lab_fail(lab, ERR_UNSUPPORTED, "%s", why);
    return c;
}

/* Cycles, and of which places, if that is wanted. */
static struct column run(struct tlb_question *q, const struct tlb_places *p,
                         const char *steps, const char *words,
                         struct named_column *place)
{
    char row[48] = "";
    if (q->row.count > 0)
        snprintf(row, sizeof row, " row=%" PRIu64, q->row.apart);
    const char *const text = lab_text(
        q->lab,
        "visit steps=%s piece=%" PRIu64 " pieces=%" PRIu64 " apart=%" PRIu64
        " unit=%" PRIu64 " scramble=%u jitter=%u skew=%d wait=1%s %s%s",
        steps, p->piece, p->pieces, p->apart, p->unit, p->order, p->jitter,
        p->unit < p->piece ? TLB_SKEW : 0, row,
        strstr(words, "readers=") == NULL ? "readers=global.cg " : "", words);
    return run_or_fail(q->lab, text, place);
}

/* ---- lines ------------------------------------------------------------- */

/*
 * Where pages are smaller than what is mapped, places of one mapping are
 * different lines, and an L2 in two parts, or in slices, has some of them
 * nearer than others: by more than a miss costs, so that hits and misses are
 * not told apart.  What each line costs, over and over, is what a hit does.
 */
static const double *ask_lines(struct tlb_question *q, uint64_t unit)
{
    enum { WARM = 3, LOADS = 16 };
    const size_t lines = q->t->places.piece / unit;
    const struct tlb_places p = tlb_in_a_row(q, unit, lines);
    double *const more = lab_alloc(q->lab, lines, sizeof *more);
    struct buf steps = {0};
    for (size_t i = 0; i < lines; i++)
        buf_printf(&steps, "%s%dx%zu:1:0,%dx!%zu:1:0", i > 0 ? "," : "", WARM,
                   i, LOADS, i);
    lab_spare(q->lab, true);
    const struct column c = run(q, &p, buf_string(&steps), " ", NULL);
    lab_spared(q->lab);
    buf_free(&steps);
    for (size_t i = 0; c.count == lines * LOADS && i < lines; i++)
        more[i] = stats_trimmed_mean(c.at + i * LOADS, LOADS, 0.25);
    const double first = more[0], least = assume(ASSUME_TLB_LEAST);
    const bool alike = stats_max(more, lines) - stats_min(more, lines) < least;
    for (size_t i = 0; i < lines; i++)
        more[i] = alike ? 0 : more[i] - first;
    return more;
}

/* NULL if all places are of one line. */
static const double *lines_of(struct tlb_question *q,
                              const struct tlb_places *p)
{
    const uint64_t piece = q->t->places.piece;
    /* What lies in other pieces is not asked but beside the same again. */
    if (p->unit >= piece || p->piece != piece || q->t->places.jitter == 0 ||
        q->lab->fresh)
        return NULL;
    const double **const of =
        &q->lines[__builtin_ctzll(piece) - __builtin_ctzll(p->unit)];
    if (*of == NULL)
        *of = ask_lines(q, p->unit);
    return *of;
}

/* Which of its mapping's units the place is. */
static size_t line_of(const struct tlb_places *p, uint64_t number)
{
    const struct access_script_places places = {p->apart, p->unit, p->order,
                                                p->jitter};
    return access_script_address(number, &places) % p->apart / p->unit;
}

struct column tlb_ask(struct tlb_question *q, const struct tlb_places *p,
                      const char *steps, const char *more, ...)
{
    char words[4096];
    va_list args;
    va_start(args, more);
    vsnprintf(words, sizeof words, more, args);
    va_end(args);
    const bool spare = q->lab->spare;
    const double *const lines = lines_of(q, p);
    lab_spare(q->lab, spare);
    struct named_column place = {.name = "offset"};
    const struct column cycles =
        run(q, p, steps, words, lines != NULL ? &place : NULL);
    if (cycles.experiment != NULL)
        q->experiment = cycles.experiment;
    for (size_t i = 0; lines != NULL && i < cycles.count; i++)
        cycles.at[i] -= lines[line_of(p, (uint64_t)place.seen.at[i])];
    return cycles;
}

void tlb_write(struct buf *steps, const char *reader,
               const struct tlb_numbers *n)
{
    for (size_t i = 0, end; i < n->count; i = end) {
        end = i + 1;
        while (end < n->count && n->at[end] == n->at[end - 1] + 1)
            end++;
        buf_printf(steps, "%s%s%" PRIu32 ":%zu:1", steps->length > 0 ? "," : "",
                   reader, n->at[i], end - i);
    }
}

struct tlb_places tlb_in_a_row(const struct tlb_question *q, uint64_t distance,
                               uint64_t places)
{
    const uint64_t piece = q->t->places.piece, apart = u64_max(distance, piece);
    return (struct tlb_places){.piece = piece,
                               .apart = apart,
                               .unit = distance,
                               .pieces = places * distance / apart + 1};
}

void tlb_write_nearer(struct buf *steps, const char *reader,
                      const struct tlb_conflict *c)
{
    for (unsigned lap = 0; lap < c->laps; lap++)
        tlb_write(steps, reader, &c->nearer);
}

uint64_t tlb_address(const struct tlb_question *q, uint64_t number)
{
    const struct tlb_places *const p = &q->t->places;
    const struct access_script_places places = {p->apart, p->unit, p->order,
                                                p->jitter};
    return access_script_address(number, &places);
}

/* In which bits of their regions' numbers two places differ. */
static uint64_t differing(const struct tlb_question *q, size_t level,
                          uint64_t a, uint64_t b)
{
    const uint64_t region = q->t->tlb[level].region;
    return tlb_address(q, a) / region ^ tlb_address(q, b) / region;
}

bool tlb_may_share_set(const struct tlb_question *q, size_t level,
                       const struct index_function *f, uint64_t a, uint64_t b)
{
    const uint64_t differ = differing(q, level, a, b);
    for (size_t i = 0; i < f->masks; i++)
        if (__builtin_parityll(f->mask[i] & differ) != 0)
            return false;
    return true;
}

int tlb_same_set(const struct tlb_question *q, size_t level,
                 const struct index_function *f, uint64_t a, uint64_t b)
{
    return (differing(q, level, a, b) & ~f->seen) != 0 ? -1
           : tlb_may_share_set(q, level, f, a, b)      ? 1
                                                       : 0;
}

/* Two places in turn: every TLB holds two, so what they cost more than again
 * and again is the price of leaving a window. */
uint64_t tlb_window(struct tlb_question *q)
{
    enum { TURNS = 9, FARTHEST = 1 << 30 };
    for (uint64_t far = q->t->places.piece; far <= 2u * FARTHEST; far *= 2) {
        const struct tlb_places p = tlb_in_a_row(q, far, 2);
        const struct column c =
            tlb_ask(q, &p, "2x0:2:1,9x!0:2:1,!0:9:0,!1:9:0", " ");
        if (c.count != 4 * TURNS)
            return 0;
        const double turn = stats_median(c.at, 2 * TURNS),
                     again = stats_median(c.at + 2 * TURNS, 2 * TURNS);
        if (turn - again > assume(ASSUME_WINDOW_CYCLES) &&
            turn - again > assume(ASSUME_WINDOW_SHARE) * again)
            return far;
    }
    return 0;
}

/* ---- laps ------------------------------------------------------------- */

/* Loads of a lap that are timed; what is loaded before, and laps of few places:
 * where victims are random what fits comes to stay only in some laps. */
enum { TIMED_MOST = 256, TIMED_LEAST = TLB_TIMED_LEAST, PARTS = 8 };
enum { WARM_LOADS = 1024, WARM_MOST = 24 };

void tlb_write_laps(const struct tlb_question *q, uint64_t laps,
                    const char *kept, uint64_t from, uint64_t places,
                    struct buf *steps)
{
    const bool row = q->row.count > 0;
    for (uint64_t i = 0; i == 0 || (row && i < laps); i++) {
        buf_text(steps, steps->length > 0 ? "," : "");
        if (!row && laps > 0)
            buf_printf(steps, "%" PRIu64 "x", laps);
        buf_printf(steps, "%s%" PRIu64 ":%" PRIu64 ":1", kept, from, places);
        if (row)
            buf_printf(steps, ",%" PRIu32 ":%" PRIu64 ":1", ACCESS_SCRIPT_ROW,
                       q->row.count);
    }
}

/* Of few places all are timed, often; of many some, evenly spread. */
void tlb_write_lap(const struct tlb_question *q, struct buf *steps,
                   uint64_t from, uint64_t places)
{
    const uint64_t warm = u64_within(2, WARM_LOADS / places, WARM_MOST);
    tlb_write_laps(q, warm, "", from, places, steps);
    if (places <= TIMED_MOST)
        tlb_write_laps(q, 1 + TIMED_LEAST / places, "!", from, places, steps);
    else
        for (uint64_t i = 0; i < PARTS; i++) {
            const uint64_t at = from + places * i / PARTS,
                           end = from + places * (i + 1) / PARTS;
            const uint64_t timed = TIMED_MOST / PARTS;
            buf_printf(steps, ",!%" PRIu64 ":%" PRIu64 ":1", at, timed);
            if (end - at > timed)
                buf_printf(steps, ",%" PRIu64 ":%" PRIu64 ":1", at + timed,
                           end - at - timed);
        }
}

/*
 * A lap over places in a row, of which those that may share an entry lie as far
 * apart in the order as can be: else one would bring it in and the others find
 * it, and the lap cost something between two levels.  So it is made in passes
 * over each 32nd place, of bit-reversed numbers.
 */
enum { PASS_BITS = 5, PASSES = 1 << PASS_BITS, WARM = 3 };

static uint64_t reversed(uint64_t number)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < PASS_BITS; i++)
        r |= (number >> i & 1) << (PASS_BITS - 1 - i);
    return r;
}

/* How many passes are timed of a lap over so many, which lie evenly in it. */
static bool keeps(uint64_t pass, uint64_t kept, uint64_t places)
{
    return kept * PASSES <= pass * u64_min(TIMED_MOST, places);
}

static uint64_t places_of_pass(uint64_t pass, uint64_t places)
{
    const uint64_t first = reversed(pass);
    return first < places ? (places - first + PASSES - 1) / PASSES : 0;
}

static void write_passes(struct buf *steps, uint64_t places, uint64_t passes,
                         bool timed)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < passes; i++) {
        const uint64_t count = places_of_pass(i, places);
        const bool keep = timed && keeps(i, kept, places);
        if (count > 0)
            buf_printf(steps, "%s%s%" PRIu64 ":%" PRIu64 ":%d",
                       steps->length > 0 ? "," : "", keep ? "!" : "",
                       reversed(i), count, PASSES);
        kept += keep ? count : 0;
    }
}

void tlb_write_row(struct buf *steps, uint64_t places)
{
    const uint64_t laps = places <= TIMED_MOST ? 1 + TIMED_LEAST / places : 1;
    for (uint64_t i = 0; i < WARM + laps; i++)
        write_passes(steps, places, PASSES, i >= WARM);
}

void tlb_write_short_row(struct buf *steps, uint64_t places)
{
    uint64_t kept = 0, passes = 0;
    for (uint64_t i = 0; i < PASSES; i++)
        if (keeps(i, kept, places)) {
            kept += places_of_pass(i, places);
            passes = i + 1;
        }
    write_passes(steps, places, PASSES, false);
    write_passes(steps, places, passes, true);
}
