/*
 * The probe `visit`: loads in any order, by several readers, one at a time.
 *
 * Where a chase follows pointers, a visit follows a script: nothing need be
 * written to memory, the same address may come again, and what one reader
 * brought in another may look for.  So it asks what rings cannot: which lines
 * push each other out, and who shares a cache with whom.
 *
 * A reader is a kind of load in a warp of an SM: `texture`, `global.cg@3` (warp
 * 3), `constant@0.17` (warp 0 of the 18th SM), `local/31` (the last lane); or
 * `code`, whose loads are calls of functions, by their offset in a pool of them
 * (functions.h): none, in no cycles, where that has no code.  The script is a
 * list of steps
 *
 *     [LAPSx][READER@][!][~VISITS/]START:COUNT:STEP
 *
 * COUNT loads from START on, STEP bytes apart, LAPS times over; by reader
 * number READER (0); `!` keeps the cycles of each; `~` visits so many of the
 * COUNT places instead, drawn at random with repetition from a seed that is in
 * the experiment's text.  Places at no regular distance are a list of offsets,
 * START|START|…, in place of START:COUNT:STEP.  A step begins when the one
 * before has ended.  Before each load that is kept the steps `between` are
 * made, to empty a cache that lies in front of the one that is asked.  The
 * whole script is gone through `rounds` times.
 *
 * A `;` in place of a comma says that what follows builds on nothing before:
 * such parts may be run in launches of their own.
 *
 * With `piece` the places are not bytes of memory but mappings of one piece of
 * it, `apart` bytes from one to the next, in each of which the same line is
 * loaded: so nothing but the translation differs.  Numbers from 2^30 on are
 * those of a `row` of other places, mapped apart from these, so many bytes from
 * one to the next.
 *
 * With `home` the places are those of memory whose address has one parity of
 * some bits, numbered without the lowest of these: so of a cache in two parts
 * only what is at home in one is loaded.
 *
 * Every load is waited for as in a trace (trace.c), timed or not, so what is
 * kept costs the same as a trace's.  Each thread that loads watches for leaps
 * of the clock from one of its loads to the next.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/text.h"
#include "probe/memory/access_script.h"
#include "probe/run/functions.h"
#include "probe/run/pin.h"
#include "probe/walk/homes.h"
#include "probe/walk/touch.h"
#include "ptx/space.h"

enum {
    READERS_MOST = 32,
    WARPS_MOST = 32,
    STEP_BYTES = 16,
    /* Offsets travel in units of the smallest sector there is: 128 GiB. */
    UNIT = 32,
    /* What every device gives a block without asking. */
    SHARED_BYTES = 48 * 1024,
    PLACES_MOST = 1 << 24,
    /* Places of the row that are of one mapping are other lines of it, which
     * must not come to a few sets of a cache. */
    ROW_SKEW = 256,
    CONSTANT_BYTES = 64 * 1024,
};

enum { COLUMN_CYCLES = 3 };
enum job_word {
    JOB_BASE,
    JOB_TEXTURE,
    JOB_STEPS,
    JOB_STEP_COUNT,
    JOB_OUT,
    JOB_TURN,
    JOB_SELF,
    JOB_CALLS,
    JOB_HOMES,
    JOB_ROW,
    JOB_WORDS
};

/* A kind of load: the kernel has one loop for each. */
struct kind {
    const struct space *space;
    char op[8];
};

struct reader {
    struct kind load;
    uint64_t warp, lane, sm;
    size_t kind; /* index of its load among the kinds */
    size_t crew; /* index of its SM */
};

struct step {
    uint64_t laps, start, count, step, draws;
    uint64_t *list; /* of `count` places; NULL: they are `step` apart */
    size_t reader, part;
    bool kept;
};

/* A step as the kernel reads it; flags: the kind of load, 6 bits; the thread,
 * 10; the crew's SM, 8; 7 bits for us, the reader; whether to keep. */
struct order {
    uint32_t start, step, count, flags;
};
/* Calls have a list of addresses, of which `start` is the first; and as many
 * laps over it as stand above the count, less one.  So all that a step calls is
 * called in one loop, with no other code in between. */
enum { LAPS_SHIFT = 24, LAPS_MOST = 255 };
enum { THREAD_SHIFT = 6, CREW_SHIFT = 16, READER_SHIFT = 24 };
#define KEEP_FLAG (1u << 31)

struct script {
    const char *reader_list, *step_list, *between;
    uint64_t rounds, lap, sm, carve, take;
    uint64_t piece, pieces, apart, line;
    uint64_t unit;   /* of places, in bytes */
    uint64_t within; /* places of a mapping, if only these count; else 0 */
    bool dense;
    uint64_t scramble, jitter, skew, lead;
    uint64_t row;
    bool visits_row;
    struct homes homes;
    bool wait;
    unsigned many;
    uint64_t shared_most;
    struct reader reader[READERS_MOST];
    size_t readers;
    struct kind kind[READERS_MOST];
    size_t kinds;
    uint64_t sms[READERS_MOST];
    size_t sm_count;
    struct step *steps; /* those between come last */
    size_t step_count, between_count;
    struct order *orders;
    size_t order_count;
    size_t *ends; /* of each part's orders */
    size_t parts;
    uint64_t kept, warps, lanes, span;
    uint64_t *calls; /* offsets of what is called, in all steps */
    size_t call_count;
    unsigned padding; /* of the functions; 0: not known */
};

/* clang-format off */
static const struct param visit_params[] = {
    PARAM_ROW("readers", struct script, reader_list, PARAM_TEXT, "global.ca", 0, 0, NULL, "SPACE[.OP][/LANE][@WARP[.SM]],…: who loads"),
    PARAM_ROW("steps", struct script, step_list, PARAM_TEXT, "!0:1:0", 0, 0, NULL, "[LAPSx][READER@][!][~VISITS/]START:COUNT:STEP,…; a ';' begins a part that builds on none before"),
    TEXT(struct script, between, "", "steps before each load that is kept"),
    NUMBER(struct script, rounds, "1", 1, 1024, "times that the script is gone through"),
    NUMBER(struct script, lap, "0", 0, 1, "1: calls at random begin with all places in order"),
    NUMBER(struct script, sm, "0", 0, 1023, "SM of readers that name none"),
    NUMBER(struct script, carve, "0", 0, 100, "percent of the array for shared memory"),
    NUMBER(struct script, piece, "0", 0, 1u << 30, "visit mappings of one piece of so many bytes; 0: memory, by the byte"),
    NUMBER(struct script, pieces, "0", 0, ALIASES_MOST, "map it so often; 0: as often as is visited"),
    NUMBER(struct script, apart, "0", 0, ALIASES_SPAN / 2, "bytes from one mapping to the next; 0: side by side"),
    NUMBER(struct script, unit, "0", 0, 1u << 31, "bytes that places are counted in, or those in a mapping; 0: apart"),
    NUMBER(struct script, dense, "0", 0, 1, "1: the places of the mappings are numbered, and none between"),
    NUMBER(struct script, scramble, "0", 0, 24, "places are numbers of mappings, or of units of memory, in a random order of so many bits"),
    NUMBER(struct script, jitter, "0", 0, 16, "of each mapping, in units, one of so many bits, at random"),
    NUMBER(struct script, skew, "0", 0, 1 << 16, "bytes that each unit of a mapping begins later than it is counted, times its number"),
    NUMBER(struct script, row, "0", 0, 1u << 31, "bytes from one to the next of the places from number 2^30 on; 0: there are none"),
    NUMBER(struct script, wait, "0", 0, 1, "1: up to seven turns of a loop, at random, before each load that is kept"),
    NUMBER(struct script, many, "0", 0, WARPS_MOST, "so many warps make long steps at once of which no cycles are kept; 1: the reader's"),
    NUMBER(struct script, lead, "0", 0, 1 << 16, "before each load that is kept what lies at its offset XOR so many bytes is loaded, which brings in the translation; 0: nothing"),
    NUMBER(struct script, line, "0", 0, (1u << 30) - UNIT, "where in the piece is loaded, B"),
    HOMES_PARAMS(struct script),
    NUMBER(struct script, take, "0", 0, 1 << 30, "a number that only makes the random visits others"),
    {0},
};
/* clang-format on */

/* ---- reading the script ----------------------------------------------- */

static int bad_reader(const char *text, struct error *err)
{
    return error_set(
        err, ERR_USAGE,
        "readers: '%s' is not SPACE[.OP][/LANE][@WARP[.SM]], as in "
        "global.cg@0.5",
        text);
}

/* Takes a number that stands behind the mark, if that is there; false: there is
 * none, or something else. */
static bool take_behind(const char **text, char mark, uint64_t *number)
{
    char digits[24];
    if (**text != mark)
        return true;
    const size_t length = strspn(*text + 1, "0123456789");
    snprintf(digits, sizeof digits, "%.*s", (int)length, *text + 1);
    *text += 1 + length;
    return length < sizeof digits && text_to_u64(digits, number);
}

static int read_reader(const char *text, uint64_t sm, struct reader *r,
                       struct error *err)
{
    char space[32] = "", op[8] = "default";
    int length = 0;
    *r = (struct reader){.sm = sm};
    sscanf(text, "%31[^./@]%n.%7[^/@]%n", space, &length, op, &length);
    const char *rest = text + length;
    if (space[0] == '\0' || !take_behind(&rest, '/', &r->lane) ||
        r->lane > 31 || !take_behind(&rest, '@', &r->warp) ||
        !take_behind(&rest, '.', &r->sm) || *rest != '\0')
        return bad_reader(text, err);
    const bool code = strcmp(space, code_space.name) == 0;
    r->load.space = code ? &code_space : space_find(space);
    memcpy(r->load.op, op, sizeof op);
    if (r->load.space == NULL || r->load.space->memory == MEMORY_SHARED ||
        (strcmp(op, "default") != 0 && !space_has_op(r->load.space, op)))
        return error_set(err, ERR_USAGE,
                         "readers: '%s' names no space and operator whose "
                         "loads go through caches",
                         text);
    if (r->warp >= WARPS_MOST)
        return error_set(err, ERR_USAGE, "readers: warps are 0 to %d",
                         WARPS_MOST - 1);
    return 0;
}

/* Calls `take` for each part of a list between commas. */
static int each_part(struct script *s, const char *list,
                     int (*take)(struct script *s, const char *part,
                                 struct error *err),
                     struct error *err)
{
    char *const copy = xstrdup(list);
    char *rest = NULL;
    int status = 0;
    for (char *part = strtok_r(copy, ",;", &rest); status == 0 && part != NULL;
         part = strtok_r(NULL, ",;", &rest)) {
        s->parts += part > copy && list[part - copy - 1] == ';';
        status = take(s, part, err);
    }
    free(copy);
    return status;
}

static size_t crew_index(struct script *s, uint64_t sm)
{
    size_t i = 0;
    while (i < s->sm_count && s->sms[i] != sm)
        i++;
    if (i == s->sm_count)
        s->sms[s->sm_count++] = sm;
    return i;
}

static size_t kind_index(struct script *s, const struct kind *load)
{
    size_t i = 0;
    while (i < s->kinds && (s->kind[i].space != load->space ||
                            strcmp(s->kind[i].op, load->op) != 0))
        i++;
    if (i == s->kinds)
        s->kind[s->kinds++] = *load;
    return i;
}

static int take_reader(struct script *s, const char *part, struct error *err)
{
    if (s->readers == READERS_MOST)
        return error_set(err, ERR_USAGE, "readers: at most %d", READERS_MOST);
    struct reader *const r = &s->reader[s->readers];
    if (read_reader(part, s->sm, r, err) != 0)
        return err->code;
    r->crew = crew_index(s, r->sm);
    r->kind = kind_index(s, &r->load);
    s->warps = r->warp + 1 > s->warps ? r->warp + 1 : s->warps;
    s->lanes = r->lane + 1 > s->lanes ? r->lane + 1 : s->lanes;
    s->readers++;
    return 0;
}

static bool uses(const struct script *s, enum space_memory memory)
{
    for (size_t i = 0; i < s->kinds; i++)
        if (s->kind[i].space->memory == memory)
            return true;
    return false;
}

/* All that calls has one kernel, which also loads constants, whoever is asked
 * for: its functions take seconds to assemble. */
static int set_kinds(struct script *s, struct error *err)
{
    if (!uses(s, MEMORY_CODE))
        return 0;
    s->kind[0] = (struct kind){&code_space, "default"};
    s->kind[1] = (struct kind){space_find("constant"), "default"};
    s->kinds = 2;
    for (size_t i = 0; i < s->readers; i++) {
        struct reader *const r = &s->reader[i];
        r->kind = r->load.space != &code_space;
        if (r->load.space != s->kind[r->kind].space)
            return error_set(err, ERR_UNSUPPORTED,
                             "readers: beside code only constants are read");
    }
    return 0;
}

/* Takes a number and the character after it, if they stand there. */
static uint64_t take_number(const char **text, char after, uint64_t otherwise)
{
    char digits[24];
    uint64_t number;
    const size_t length = strspn(*text, "0123456789");
    if (length == 0 || length >= sizeof digits || (*text)[length] != after)
        return otherwise;
    memcpy(digits, *text, length);
    digits[length] = '\0';
    if (!text_to_u64(digits, &number))
        return otherwise;
    *text += length + 1;
    return number;
}

static bool take_mark(const char **text, char mark)
{
    const bool there = **text == mark;
    *text += there;
    return there;
}

/* START:COUNT:STEP */
static bool read_segment(const char *text, struct step *step)
{
    char field[3][24];
    int end = 0;
    return sscanf(text, "%23[^:]:%23[^:]:%23[^:]%n", field[0], field[1],
                  field[2], &end) == 3 &&
           text[end] == '\0' && text_to_u64(field[0], &step->start) &&
           text_to_u64(field[1], &step->count) &&
           text_to_u64(field[2], &step->step);
}

/* START|START|…; the list is the step's to free. */
static bool read_list(const char *text, struct step *step)
{
    char *const copy = xstrdup(text);
    char *rest = NULL;
    bool good = true;
    for (char *part = strtok_r(copy, "|", &rest); good && part != NULL;
         part = strtok_r(NULL, "|", &rest)) {
        step->list =
            xreallocarray(step->list, step->count + 1, sizeof *step->list);
        good = text_to_u64(part, &step->list[step->count++]);
    }
    free(copy);
    return good && step->count > 0;
}

static uint64_t place_of(const struct step *step, uint64_t i)
{
    return step->list != NULL ? step->list[i] : step->start + i * step->step;
}

/* The last byte's place: of a list the farthest. */
static uint64_t end_of(const struct step *step)
{
    uint64_t end = place_of(step, step->count - 1);
    for (uint64_t i = 0; step->list != NULL && i < step->count; i++)
        end = step->list[i] > end ? step->list[i] : end;
    return end;
}

static bool is_aligned(const struct step *step)
{
    bool aligned = step->start % UNIT == 0 && step->step % UNIT == 0;
    for (uint64_t i = 0; step->list != NULL && i < step->count; i++)
        aligned = aligned && step->list[i] % UNIT == 0;
    return aligned;
}

static int check_step(const struct script *s, const struct step *step,
                      const char *part, struct error *err)
{
    if (s->piece == 0 && !is_aligned(step))
        return error_set(err, ERR_USAGE,
                         "steps: '%s' has offsets that are not multiples of "
                         "%d B",
                         part, UNIT);
    if (step->reader >= s->readers || step->count == 0 || step->laps == 0 ||
        step->count > PLACES_MOST)
        return error_set(err, ERR_USAGE,
                         "steps: '%s' has no such reader, or "
                         "nothing to visit",
                         part);
    return 0;
}

static int take_step(struct script *s, const char *part, struct error *err)
{
    const char *text = part;
    struct step step = {.laps = take_number(&text, 'x', 1), .part = s->parts};
    step.reader = (size_t)take_number(&text, '@', 0);
    step.kept = take_mark(&text, '!');
    if (take_mark(&text, '~'))
        step.draws = take_number(&text, '/', 0);
    const bool read = strchr(text, ':') != NULL ? read_segment(text, &step)
                                                : read_list(text, &step);
    s->steps = xreallocarray(s->steps, s->step_count + 1, sizeof *s->steps);
    s->steps[s->step_count++] = step;
    if (!read)
        return error_set(err, ERR_USAGE,
                         "steps: '%s' is not [LAPSx][READER@][!][~VISITS/]"
                         "START:COUNT:STEP",
                         part);
    return check_step(s, &step, part, err);
}

/* ---- unfolding it ----------------------------------------------------- */

static uint32_t flags_of(const struct script *s, const struct step *step)
{
    const struct reader *const r = &s->reader[step->reader];
    return (uint32_t)(r->kind | (32 * r->warp + r->lane) << THREAD_SHIFT |
                      r->crew << CREW_SHIFT | step->reader << READER_SHIFT) |
           (step->kept ? KEEP_FLAG : 0);
}

static bool calls(const struct script *s, size_t reader)
{
    return s->reader[reader].load.space->memory == MEMORY_CODE;
}

/* Units of memory in a random order. */
static bool is_strewn(const struct script *s)
{
    return s->piece == 0 && s->scramble > 0;
}

/* Notes how far the places lie, or that some are of the row. */
static int note_span(struct script *s, uint64_t start, uint64_t end,
                     struct error *err)
{
    const uint64_t unit = s->piece > 0 ? 1 : UNIT;
    const uint64_t number = is_strewn(s) ? end / s->apart : end;
    if (s->row > 0 && start >= ACCESS_SCRIPT_ROW) {
        s->visits_row = true;
        return end - ACCESS_SCRIPT_ROW < ACCESS_SCRIPT_ROW_PLACES
                   ? 0
                   : error_set(err, ERR_USAGE, "steps: beyond the row");
    }
    if (s->scramble > 0 && number >> s->scramble != 0)
        return error_set(err, ERR_USAGE, "steps: numbers of more than %u bits",
                         (unsigned)s->scramble);
    if (s->row > 0 && end >= ACCESS_SCRIPT_ROW)
        return error_set(err, ERR_USAGE, "steps: in the row and before it");
    s->span =
        is_strewn(s) ? s->apart << s->scramble : u64_max(s->span, end + unit);
    return 0;
}

static int add_order(struct script *s, const struct step *step, uint64_t start,
                     uint64_t count, struct error *err)
{
    const uint64_t end = start + step->step * (count - 1);
    const uint64_t unit = s->piece > 0 ? 1 : UNIT;
    if (s->reader[step->reader].load.space->memory == MEMORY_CONSTANT &&
        end >= CONSTANT_BYTES)
        return error_set(err, ERR_UNSUPPORTED,
                         "steps: a module has %d B of constants",
                         CONSTANT_BYTES);
    if (note_span(s, start, end, err) != 0)
        return err->code;
    if (s->within > 0 && start / s->within != end / s->within)
        return error_set(err, ERR_USAGE, "steps: beyond a mapping");
    if (end / unit > UINT32_MAX || step->step / unit > UINT32_MAX)
        return error_set(err, ERR_USAGE, "steps: beyond 128 GiB");
    s->orders = xreallocarray(s->orders, s->order_count + 1, sizeof *s->orders);
    s->orders[s->order_count++] =
        (struct order){.start = (uint32_t)(start / unit),
                       .step = (uint32_t)(step->step / unit),
                       .count = (uint32_t)count,
                       .flags = flags_of(s, step)};
    s->kept += step->kept ? count : 0;
    return 0;
}

/* All places of a step, once. */
static int add_all(struct script *s, const struct step *step, struct error *err)
{
    int status = 0;
    if (step->list == NULL)
        return add_order(s, step, step->start, step->count, err);
    for (uint64_t i = 0; status == 0 && i < step->count; i++)
        status = add_order(s, step, step->list[i], 1, err);
    return status;
}

/* One place, after the steps between. */
static int add_apart(struct script *s, const struct step *step, uint64_t place,
                     struct error *err)
{
    const struct step *const between = s->steps + s->step_count;
    int status = 0;
    for (size_t i = 0; status == 0 && step->kept && i < s->between_count; i++)
        status = add_all(s, &between[i], err);
    return status == 0 ? add_order(s, step, place, 1, err) : status;
}

static int unfold_step(struct script *s, const struct step *step,
                       struct rng *rng, struct error *err)
{
    const bool drawn = step->draws > 0;
    int status = 0;
    if (!drawn && !(step->kept && s->between_count > 0))
        return add_all(s, step, err);
    for (uint64_t i = 0; status == 0 && i < (drawn ? step->draws : step->count);
         i++)
        status = add_apart(
            s, step, place_of(step, drawn ? rng_below(rng, step->count) : i),
            err);
    return status;
}

static uint64_t shared_bytes(const struct script *s)
{
    return PIN_POOL + STEP_BYTES * s->order_count + 4 * s->kept;
}

/* All laps of calls, or all draws, as one order. */
static int add_calls(struct script *s, const struct step *step, struct rng *rng,
                     struct error *err)
{
    const uint64_t count = step->draws > 0 ? step->draws : step->count;
    const struct order order = {
        .start = (uint32_t)s->call_count,
        .count = (uint32_t)(count | (step->laps - 1) << LAPS_SHIFT),
        .flags = flags_of(s, step)};
    if (step->laps > LAPS_MOST || count >> LAPS_SHIFT != 0)
        return error_set(err, ERR_USAGE, "steps: more than %d laps of calls",
                         LAPS_MOST);
    s->calls = xreallocarray(s->calls, s->call_count + count, sizeof *s->calls);
    const uint64_t ordered = step->draws == 0 ? count
                             : s->lap > 0     ? step->count
                                              : 0;
    for (uint64_t i = 0; i < count; i++)
        s->calls[s->call_count++] =
            place_of(step, i < ordered ? i : rng_below(rng, step->count));
    s->orders = xreallocarray(s->orders, s->order_count + 1, sizeof *s->orders);
    s->orders[s->order_count++] = order;
    s->kept += step->kept ? count * step->laps : 0;
    return 0;
}

/* Each call after the steps between. */
static int add_calls_apart(struct script *s, const struct step *step,
                           struct rng *rng, struct error *err)
{
    const struct step *const between = s->steps + s->step_count;
    const uint64_t count = step->draws > 0 ? step->draws : step->count;
    int status = 0;
    for (uint64_t n = 0; status == 0 && n < count * step->laps; n++) {
        const uint64_t i =
            step->draws > 0 ? rng_below(rng, step->count) : n % step->count;
        const struct step one = {.laps = 1,
                                 .start = place_of(step, i),
                                 .count = 1,
                                 .reader = step->reader,
                                 .kept = true};
        for (size_t k = 0; status == 0 && k < s->between_count; k++)
            status = add_calls(s, &between[k], rng, err);
        if (status == 0)
            status = add_calls(s, &one, rng, err);
    }
    return status;
}

/* All laps of a step. */
static int unfold_laps(struct script *s, const struct step *step,
                       struct rng *rng, struct error *err)
{
    int status = 0;
    if (calls(s, step->reader))
        return step->kept && s->between_count > 0
                   ? add_calls_apart(s, step, rng, err)
                   : add_calls(s, step, rng, err);
    for (uint64_t lap = 0; status == 0 && lap < step->laps; lap++)
        status = unfold_step(s, step, rng, err);
    return status;
}

static int unfold(struct script *s, uint64_t seed, struct error *err)
{
    struct rng rng;
    rng_seed(&rng, seed);
    s->ends = xcalloc(s->parts, sizeof *s->ends);
    for (size_t i = 0; i < s->step_count * s->rounds; i++) {
        if (unfold_laps(s, &s->steps[i % s->step_count], &rng, err) != 0)
            return err->code;
        if (shared_bytes(s) > s->shared_most)
            return error_set(err, ERR_USAGE,
                             "steps: too many steps and kept loads for %" PRIu64
                             " B of shared memory",
                             s->shared_most);
        s->ends[s->parts > 1 ? s->steps[i % s->step_count].part : 0] =
            s->order_count;
    }
    if (s->kept == 0)
        return error_set(err, ERR_USAGE, "steps: no step keeps its cycles (!)");
    return 0;
}

static void visit_release(void *own)
{
    struct script *const s = own;
    for (size_t i = 0; i < s->step_count + s->between_count; i++)
        free(s->steps[i].list);
    free(s->steps);
    free(s->orders);
    free(s->ends);
    free(s->calls);
}

/* Bytes that places are counted in, and from one to the next. */
static int set_units(struct script *s, struct error *err)
{
    const bool strewn = is_strewn(s);
    s->apart = strewn ? s->unit : s->apart == 0 ? s->piece : s->apart;
    if (strewn && (s->unit < UNIT || (s->unit & (s->unit - 1)) != 0))
        return error_set(err, ERR_USAGE,
                         "scramble: units of memory are a power of two of "
                         "sectors");
    if (s->piece == 0)
        s->unit = UNIT;
    else if (s->unit == 0)
        s->unit = s->apart;
    return 0;
}

/* Where places lie within mappings: skewed, spread, in rows. */
static int check_places(const struct script *s, struct error *err)
{
    const bool drawn = s->scramble + s->jitter > 0;
    if (s->jitter > 0 && s->unit << s->jitter > s->piece)
        return error_set(err, ERR_USAGE,
                         "jitter is of mappings, and within one");
    if (s->skew % UNIT != 0 ||
        (s->skew > 0 && (s->piece == 0 || s->piece % s->unit != 0 ||
                         s->piece / s->unit * s->skew > s->unit)))
        return error_set(err, ERR_USAGE,
                         "skew: no multiple of %d B, or units are too short or "
                         "do not divide the piece",
                         UNIT);
    if (s->dense &&
        (drawn || s->within == 0 || (s->within & (s->within - 1)) != 0))
        return error_set(err, ERR_USAGE,
                         "dense: mappings have a power of two of places");
    if (s->row > 0 &&
        (s->piece == 0 || s->dense ||
         (s->row % s->piece != 0 &&
          (s->piece % s->row != 0 || s->piece / s->row * ROW_SKEW > s->row))))
        return error_set(err, ERR_USAGE,
                         "row: of mappings, and a multiple or part of one");
    if (s->apart > UINT32_MAX && drawn)
        return error_set(err, ERR_USAGE,
                         "apart: numbers in a random order lie within 4 GiB");
    return 0;
}

/* Mappings are of global memory alone. */
static int check_piece(struct script *s, struct error *err)
{
    if (set_units(s, err) != 0)
        return err->code;
    s->within = s->dense && s->unit > 0 ? s->piece / s->unit : 0;
    if (check_places(s, err) != 0)
        return err->code;
    for (size_t i = 0; s->piece > 0 && i < s->kinds; i++)
        if (s->kind[i].space->memory != MEMORY_GLOBAL ||
            s->kind[i].space->texture)
            return error_set(err, ERR_USAGE,
                             "piece: mappings are loaded as global memory");
    if (s->lead % UNIT != 0 || (s->lead > 0 && s->piece > 0))
        return error_set(err, ERR_USAGE,
                         "lead: no multiple of %d B, or not in memory", UNIT);
    if (s->line % UNIT != 0 || (s->piece > 0 && s->line >= s->piece))
        return error_set(err, ERR_USAGE,
                         "line: no multiple of %d B within the piece", UNIT);
    return 0;
}

static int visit_prepare(struct experiment *e, const struct device_info *info,
                         struct error *err)
{
    struct script *const s = e->own;
    /* Less the crew's. */
    s->shared_most =
        device_told(info, PROPERTY_BLOCK_SHARED_OPTIN, SHARED_BYTES) -
        2 * PIN_POOL;
    if (each_part(s, s->reader_list, take_reader, err) != 0 ||
        set_kinds(s, err) != 0 || check_piece(s, err) != 0 ||
        homes_prepare(&s->homes, UNIT, err) != 0)
        return err->code;
    s->parts = 0;
    if (each_part(s, s->step_list, take_step, err) != 0)
        return err->code;
    const size_t own = s->step_count;
    s->parts = s->rounds == 1 ? s->parts + 1 : 1;
    if (each_part(s, s->between, take_step, err) != 0)
        return err->code;
    s->between_count = s->step_count - own;
    s->step_count = own;
    if (s->homes.bits > 0 && s->piece > 0)
        return error_set(err, ERR_USAGE, "home goes with memory, not pieces");
    if (unfold(s, experiment_seed(e), err) != 0)
        return err->code;
    return homes_check(&s->homes, s->span, err);
}

/* ---- the kernel ------------------------------------------------------- */

/* Bytes of the variable of a space that the module itself must have. */
static uint64_t variable_bytes(const struct script *s, enum space_memory memory)
{
    uint64_t bytes = 64;
    for (size_t i = 0; i < s->step_count + s->between_count; i++) {
        const struct space *const space =
            s->reader[s->steps[i].reader].load.space;
        const uint64_t end = end_of(&s->steps[i]);
        while (space->memory == memory && bytes < end / space->spread + UNIT)
            bytes *= 2;
    }
    return bytes;
}

static void declare(struct kernel_text *k, const struct script *s)
{
    ptx(k, ".reg .b32 %step, %steps, %kept, %count, %flags, %start, %stride, "
           "%who, %record, %order, %t0, %t1, %at32, %value, %self, %seen, "
           "%mover, %polls, %seed, %began, %last, %gap, %longest, %laps, "
           "%all;\n"
           ".reg .b64 %base, %table, %offset, %next, %out, %turn, %word, "
           "%address, %value64, %calls, %first;\n"
           ".reg .pred %mine, %keep, %more, %wait, %idle, %none;\n");
    if (uses(s, MEMORY_CODE)) {
        pin_job_word(k, "%calls", JOB_CALLS);
        ptx(k, "mov.u32 %value, 0;");
    }
    bool textured = false;
    for (size_t i = 0; i < s->kinds; i++) {
        if (s->kind[i].space->texture && !textured)
            space_declare(k, s->kind[i].space);
        textured = textured || s->kind[i].space->texture;
    }
    if (textured)
        pin_job_word(k, "%texture", JOB_TEXTURE);
    homes_declare(k, &s->homes, JOB_HOMES);
    if (s->row > 0) {
        ptx(k, ".reg .b64 %row, %side;");
        pin_job_word(k, "%row", JOB_ROW);
    }
    if (uses(s, MEMORY_LOCAL))
        ptx_with(k, ".local .align 16 .b8 own[$variable_bytes];",
                 WORD(variable_bytes, variable_bytes(s, MEMORY_LOCAL)));
}

/* All threads bring the orders to shared memory, past the first cache. */
static void fetch_orders(struct kernel_text *k)
{
    pin_job_word(k, "%base", JOB_BASE);
    pin_job_word(k, "%table", JOB_STEPS);
    pin_job_word(k, "%word", JOB_STEP_COUNT);
    ptx(k, "cvt.u32.u64 %steps, %word;");
    pin_job_word(k, "%turn", JOB_TURN);
    pin_job_word(k, "%word", JOB_SELF);
    ptx(k,
        "cvt.u32.u64 %self, %word;\n"
        "mov.u32 %step, %me;\n"
        "FETCH:\n"
        "setp.ge.u32 %again, %step, %steps;\n"
        "@%again bra FETCHED;\n"
        "mad.wide.u32 %next, %step, $bytes, %table;\n"
        "ld.global.cg.v4.u32 {%start, %stride, %count, %flags}, [%next];\n"
        "mov.u32 %order, pool;\n"
        "mad.lo.u32 %order, %step, $bytes, %order;\n"
        "st.shared.v4.u32 [%order+$pool], {%start, %stride, %count, %flags};\n"
        "mov.u32 %t0, %ntid.x;\n"
        "add.u32 %step, %step, %t0;\n"
        "bra FETCH;\n"
        "FETCHED:\n"
        "bar.sync 0;\n");
}

/* Begins an order of calls at its list, with the laps apart from the count. */
static void begin_calls(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "CALL$number:\n"
             "mul.wide.u32 %first, %start, 8;\n"
             "add.u64 %first, %calls, %first;\n"
             "mov.u64 %next, %first;\n",
             WORD(number, number));
}

/* Waits for the address, of which there is none where there is no code. */
static void next_call(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "ld.global.cg.u64 %address, [%next];\n"
             "setp.eq.u64 %none, %address, 0;\n"
             "@%none bra TIMED$number;\n",
             WORD(number, number));
}

static void next_lap(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "mov.u64 %next, %first;\n"
             "mov.u32 %count, %all;\n"
             "setp.ne.u32 %more, %laps, 0;\n"
             "sub.u32 %laps, %laps, 1;\n"
             "@%more bra READ$number;\n",
             WORD(number, number));
}

/* Factors of the rounds of a bijection of words of so many bits, each of which
 * first brings the upper half down: as good as any order. */
static const uint32_t factors[] = {0x9e3779b1, 0x85ebca6b, 0xc2b2ae35,
                                   0x27d4eb2f};

uint64_t access_script_address(uint64_t number,
                               const struct access_script_places *p)
{
    const uint32_t most = (uint32_t)(((uint64_t)1 << p->scramble) - 1);
    uint32_t x = (uint32_t)number;
    if (p->scramble + p->jitter == 0)
        return number * p->unit;
    const unsigned half = p->scramble / 2;
    for (size_t i = 0; p->scramble > 0 && i < COUNT_OF(factors); i++)
        x = ((x ^ x >> half) * factors[i]) & most;
    x = p->scramble > 0 ? x ^ x >> half : x;
    const uint32_t low = (x * 0x9e3779b1u >> 16) & ((1u << p->jitter) - 1);
    return x * p->apart + low * p->unit;
}

/* Places that are no fixed distance from one to the next. */
static bool are_numbered(const struct script *s)
{
    return s->scramble + s->jitter + s->skew + s->row > 0;
}

/* The same of number %start; what lies farther in a mapping begins later. */
static void write_row(struct kernel_text *k, const struct script *s)
{
    ptx_with(k,
             "and.b32 %t0, %start, $low;\n"
             "mul.wide.u32 %offset, %start, $unit;\n"
             "mul.wide.u32 %next, %t0, $skew;\n"
             "add.u64 %offset, %offset, %next;\n",
             WORD(low, s->piece / s->unit - 1), WORD(skew, s->skew));
}

/* Of numbers in the row another offset. */
static void write_side_by_side(struct kernel_text *k, const struct script *s)
{
    ptx_with(k,
             "setp.ge.u32 %none, %start, $first;\n"
             "sub.u32 %at32, %start, $first;\n"
             "and.b32 %t0, %at32, $low;\n"
             "mul.wide.u32 %next, %t0, $skew;\n"
             "add.u64 %next, %next, %row;\n"
             "mul.wide.u32 %side, %at32, $row;\n"
             "@%none add.u64 %offset, %side, %next;\n",
             WORD(first, ACCESS_SCRIPT_ROW),
             WORD(low, s->row < s->piece ? s->piece / s->row - 1 : 0),
             WORD(skew, ROW_SKEW), WORD(row, s->row));
}

static void write_scramble(struct kernel_text *k, const struct script *s)
{
    ptx_with(k, "shr.u32 %at32, %start, $shift;",
             WORD(shift, is_strewn(s) ? __builtin_ctzll(s->apart / UNIT) : 0));
    for (size_t i = 0; s->scramble > 0 && i <= COUNT_OF(factors); i++) {
        ptx_with(k,
                 "shr.u32 %t0, %at32, $half;\n"
                 "xor.b32 %at32, %at32, %t0;\n",
                 WORD(half, s->scramble / 2));
        if (i < COUNT_OF(factors))
            ptx_with(k,
                     "mul.lo.u32 %at32, %at32, $factor;\n"
                     "and.b32 %at32, %at32, $most;\n",
                     WORD(factor, factors[i]),
                     WORD(most, ((uint64_t)1 << s->scramble) - 1));
    }
    ptx_with(k,
             "mul.lo.u32 %t0, %at32, 2654435761;\n"
             "shr.u32 %t0, %t0, 16;\n"
             "and.b32 %t0, %t0, $low;\n"
             "mul.wide.u32 %offset, %at32, $apart;\n"
             "mul.wide.u32 %next, %t0, $unit;\n"
             "add.u64 %offset, %offset, %next;\n",
             WORD(low, ((uint64_t)1 << s->jitter) - 1),
             WORD(unit, s->unit + s->skew));
}

/* The offset of number %start. */
static void write_number(struct kernel_text *k, const struct script *s)
{
    (s->scramble + s->jitter > 0 ? write_scramble : write_row)(k, s);
    if (s->row > 0)
        write_side_by_side(k, s);
}

/* Some turns of a loop before a load that is kept: what comes at a steady rate
 * would always meet the caches' clock at the same phase. */
static void write_wait(struct kernel_text *k, size_t number)
{
    ptx_with(k,
             "@!%keep bra WAITED$number;\n"
             "mad.lo.u32 %seed, %seed, 1664525, 1013904223;\n"
             "shr.u32 %t0, %seed, 29;\n"
             "WAIT$number:\n"
             "sub.u32 %t0, %t0, 1;\n"
             "setp.gt.s32 %more, %t0, 0;\n"
             "@%more bra WAIT$number;\n"
             "WAITED$number:\n",
             WORD(number, number));
}

static const char *next_visit(const struct script *s, bool calls)
{
    if (calls)
        return "add.u64 %next, %next, 8;";
    return are_numbered(s) ? "add.u32 %start, %start, %stride;"
                           : "add.u64 %offset, %offset, %word;";
}

/* ---- by a whole warp -------------------------------------------------- */

/* Where that is asked for, or little time is left, all lanes of the reader's
 * warp, or of several, make those steps at once of which no cycles are kept and
 * that visit so many places: the others are what is measured, or its order
 * matters.  So does all that is called. */
enum { MANY_LEAST = 16, MANY_UNROLL = 4, LANES = 32 };

static bool makes_many(const struct experiment *e)
{
    const struct script *const s = e->own;
    for (size_t i = 0; i < s->kinds; i++)
        if (s->kind[i].space->memory != MEMORY_GLOBAL)
            return false;
    return s->many > 0 || e->piece.brisk;
}

/* Those of several warps, whoever the reader is. */
static unsigned lanes_of_many(const struct script *s)
{
    return LANES * (unsigned)u64_max(s->many, 1);
}

static void declare_many(struct kernel_text *k)
{
    ptx(k, ".reg .b32 %index, %sink;\n"
           ".reg .b64 %leap;\n"
           ".reg .pred %many;\n");
    ptx_times(k, MANY_UNROLL,
              ".reg .b32 %value$i;\n"
              ".reg .pred %in$i;\n"
              "mov.u32 %value$i, 0;\n");
}

/* Who is of the warp whose step it is, or of several, counts as the reader. */
static void choose_many(struct kernel_text *k, const struct script *s)
{
    ptx_with(k, "setp.ge.and.u32 %many, %count, $least, !%keep;",
             WORD(least, MANY_LEAST));
    if (s->many > 1)
        ptx_with(k, "@%many setp.ge.u32 %mine, %me, $lanes;",
                 WORD(lanes, lanes_of_many(s)));
    else
        ptx(k, "xor.b32 %t0, %who, %me;\n"
               "shr.u32 %t0, %t0, 5;\n"
               "@%many setp.ne.u32 %mine, %t0, 0;\n");
}

static void load_one_of_many(struct kernel_text *k, const struct script *s,
                             const struct kind *r, int i)
{
    char value[16], load[160];
    ptx_with(k, "setp.lt.u32 %in$i, %index, %count;", WORD(i, i));
    if (are_numbered(s))
        write_number(k, s);
    const char *const address = homes_address(k, &s->homes, r->space);
    snprintf(value, sizeof value, "%%value%d", i);
    snprintf(load, sizeof load, "@%%in%d %s", i, space_word_load(r->space));
    space_load(k, load, r->op, value, address);
    ptx_with(k,
             "add.u32 %index, %index, $lanes;\n"
             "$next\n",
             WORD(lanes, lanes_of_many(s)),
             WORD(next, are_numbered(s) ? "add.u32 %start, %start, %stride;"
                                        : "add.u64 %offset, %offset, %leap;"));
}

/* The loop of such a step. */
static void write_many(struct kernel_text *k, const struct script *s,
                       const struct kind *r, size_t number)
{
    ptx_with(k,
             "MANY$number:\n"
             "rem.u32 %index, %me, $lanes;\n"
             "mad.lo.u32 %start, %index, %stride, %start;\n"
             "mul.lo.u32 %stride, %stride, $lanes;\n"
             "cvt.u64.u32 %next, %index;\n"
             "mad.lo.u64 %offset, %next, %word, %offset;\n"
             "mul.lo.u64 %leap, %word, $lanes;\n"
             "MORE$number:\n",
             WORD(number, number), WORD(lanes, lanes_of_many(s)));
    for (int i = 0; i < MANY_UNROLL; i++)
        load_one_of_many(k, s, r, i);
    ptx(k, "mov.u32 %sink, 0;");
    ptx_times(k, MANY_UNROLL, "xor.b32 %sink, %sink, %value$i;");
    ptx(k, "st.shared.u32 [pool+8], %sink;\n"
           "mov.u32 %t1, %clock;\n");
    pin_mark(k, "%t1");
    ptx_with(k,
             "setp.lt.u32 %more, %index, %count;\n"
             "@%more bra MORE$number;\n"
             "bra STEPPED;\n",
             WORD(number, number));
}

/* ---- one load after the other ------------------------------------------ */

/* A load, waited for. */
static void load_place(struct kernel_text *k, const struct kind *r,
                       const char *address)
{
    space_load(k, space_word_load(r->space), r->op, "%value", address);
    ptx(k, "st.shared.u32 [pool+8], %value;\n"
           "mov.u32 %t1, %clock;\n");
    pin_mark(k, "%t1");
}

/* What lies on the same page comes first. */
static void write_lead(struct kernel_text *k, const struct script *s,
                       const struct kind *r, size_t number)
{
    ptx_with(k,
             "@!%keep bra LED$number;\n"
             "xor.b64 %offset, %offset, $lead;\n",
             WORD(number, number), WORD(lead, s->lead));
    load_place(k, r, homes_address(k, &s->homes, r->space));
    ptx_with(k,
             "xor.b64 %offset, %offset, $lead;\n"
             "LED$number:\n",
             WORD(number, number), WORD(lead, s->lead));
}

/* The loop of a step by one kind of load. */
static void write_visits(struct kernel_text *k, const struct script *s,
                         const struct kind *r, size_t number)
{
    const bool calls = r->space->memory == MEMORY_CODE;
    if (calls)
        begin_calls(k, number);
    ptx_with(k, "READ$number:", WORD(number, number));
    if (calls)
        next_call(k, number);
    if (are_numbered(s))
        write_number(k, s);
    if (s->lead > 0 && !calls)
        write_lead(k, s, r, number);
    const char *const address =
        calls ? "%address" : homes_address(k, &s->homes, r->space);
    if (s->wait > 0)
        write_wait(k, number);
    ptx(k, "mov.u32 %t0, %clock;");
    load_place(k, r, address);
    ptx_with(k,
             "TIMED$number:\n"
             "@!%keep bra KEPT$number;\n"
             "sub.u32 %t1, %t1, %t0;\n"
             "st.shared.u32 [%record], %t1;\n"
             "add.u32 %record, %record, 4;\n"
             "KEPT$number:\n"
             "$next\n"
             "sub.u32 %count, %count, 1;\n"
             "setp.ne.u32 %more, %count, 0;\n"
             "@%more bra READ$number;\n",
             WORD(number, number), WORD(next, next_visit(s, calls)));
    if (calls)
        next_lap(k, number);
    ptx(k, "bra STEPPED;");
}

static void write_field(struct kernel_text *k, const char *into, int shift,
                        int bits)
{
    ptx_with(k,
             "shr.u32 $into, %flags, $shift;\n"
             "and.b32 $into, $into, $bits;\n",
             WORD(into, into), WORD(shift, shift), WORD(bits, (1 << bits) - 1));
}

/* Goes to the loop of the step's kind of load in its thread on its SM, and past
 * all loops elsewhere. */
static void write_choice(struct kernel_text *k, const struct script *s,
                         bool many)
{
    write_field(k, "%who", THREAD_SHIFT, 10);
    write_field(k, "%mover", CREW_SHIFT, 8);
    ptx(k, "setp.ne.u32 %mine, %who, %me;");
    if (many)
        choose_many(k, s);
    ptx(k, "setp.ne.or.u32 %idle, %mover, %self, %mine;\n"
           "@%idle bra STEPPED;\n");
    write_field(k, "%who", 0, 6);
    for (size_t i = 0; i < s->kinds; i++) {
        if (many)
            ptx_with(k,
                     "setp.eq.and.u32 %mine, %who, $i, %many;\n"
                     "@%mine bra MANY$i;\n",
                     WORD(i, i));
        ptx_with(
            k,
            "setp.eq.u32 %mine, %who, $i;\n"
            "@%mine bra $to$i;\n",
            WORD(to, s->kind[i].space->memory == MEMORY_CODE ? "CALL" : "READ"),
            WORD(i, i));
    }
    ptx(k, "bra STEPPED;");
}

/* True if those who make a step are not always the same; the kernel that calls
 * is the same for all scripts, since its functions take long to assemble. */
static bool meets(const struct script *s)
{
    return s->warps > 1 || s->lanes > 1 || s->sm_count > 1 ||
           uses(s, MEMORY_CODE);
}

/* Over several SMs a counter in memory says which step it is: the block whose
 * step it was sets it on, the others wait for it, so many polls at most.  Its
 * loads have come, and there is nothing else to be ordered by a fence, which
 * would have L1 forget what it holds (compute capability 7.0 on). */
enum { POLLS_MOST = 1 << 22 };

static void write_turn(struct kernel_text *k, const struct script *s)
{
    if (s->sm_count < 2 && !uses(s, MEMORY_CODE))
        return;
    ptx_with(k,
             "@%other bra TURNED;\n"
             "add.u32 %t1, %step, 1;\n"
             "setp.eq.u32 %mine, %mover, %self;\n"
             "@%mine atom.global.exch.b32 %seen, [%turn], %t1;\n"
             "mov.u32 %polls, 0;\n"
             "WAIT:\n"
             "ld.volatile.global.u32 %seen, [%turn];\n"
             "add.u32 %polls, %polls, 1;\n"
             "setp.lt.u32 %wait, %polls, $most;\n"
             "setp.lt.and.u32 %wait, %seen, %t1, %wait;\n"
             "@%wait bra WAIT;\n"
             "TURNED:\n"
             "bar.sync 0;\n",
             WORD(most, POLLS_MOST));
}

/* Whose step it was has come here at once; for the others a span begins. */
static void hand_over(struct kernel_text *k)
{
    ptx(k, "mov.u32 %t1, %clock;\n"
           "sub.u32 %gap, %t1, %last;\n"
           "@!%idle max.u32 %longest, %longest, %gap;\n"
           "mov.u32 %last, %t1;\n");
}

/* Of an order of calls: the count of all laps, and that of one. */
static const char split_count[] =
    "shr.u32 %laps, %count, 24;\n"
    "and.b32 %all, %count, 0xffffff;\n"
    "@%keep mad.lo.u32 %kept, %laps, %all, %kept;\n"
    "mov.u32 %count, %all;\n";

/* The head of the loop: the next order, and where its records go and its places
 * begin. */
static void begin_step(struct kernel_text *k, const struct script *s)
{
    ptx_with(k,
             "mov.u32 %longest, 0;\n"
             "mov.u32 %last, %clock;\n"
             "mov.u32 %began, %last;\n"
             "mov.u32 %step, 0;\n"
             "mov.u32 %seed, %clock;\n"
             "mov.u32 %kept, 0;\n"
             "mov.u32 %order, pool;\n"
             "add.u32 %order, %order, $pool;\n"
             "STEP:\n"
             "ld.shared.v4.u32 {%start, %stride, %count, %flags}, [%order];\n"
             "setp.lt.s32 %keep, %flags, 0;\n"
             "// its records follow those of the steps before\n"
             "mov.u32 %record, pool;\n"
             "mad.lo.u32 %record, %steps, $bytes, %record;\n"
             "mad.lo.u32 %record, %kept, 4, %record;\n"
             "add.u32 %record, %record, $pool;\n"
             "$split_count"
             "@%keep add.u32 %kept, %kept, %count;\n"
             "mul.wide.u32 %offset, %start, $unit;\n"
             "mul.wide.u32 %word, %stride, $unit;\n",
             WORD(split_count, uses(s, MEMORY_CODE) ? split_count : ""));
    if (s->within > 0)
        ptx_with(k,
                 "shr.u32 %at32, %start, $shift;\n"
                 "cvt.u64.u32 %next, %at32;\n"
                 "mul.lo.u64 %next, %next, $apart;\n"
                 "and.b32 %at32, %start, $low;\n"
                 "mul.wide.u32 %offset, %at32, $unit;\n"
                 "add.u64 %offset, %offset, %next;\n",
                 WORD(shift, __builtin_ctzll(s->within)),
                 WORD(low, s->within - 1));
}

static void write_loop(struct kernel_text *k, const struct script *s, bool many)
{
    begin_step(k, s);
    write_choice(k, s, many);
    for (size_t i = 0; i < s->kinds; i++)
        write_visits(k, s, &s->kind[i], i);
    for (size_t i = 0; many && i < s->kinds; i++)
        write_many(k, s, &s->kind[i], i);
    ptx(k, "STEPPED:");
    if (many || meets(s))
        ptx(k, "bar.sync 0;");
    write_turn(k, s);
    if (many || meets(s))
        hand_over(k);
    ptx(k, "add.u32 %order, %order, $bytes;\n"
           "add.u32 %step, %step, 1;\n"
           "setp.lt.u32 %more, %step, %steps;\n"
           "@%more bra STEP;\n");
}

/* Thread 0 writes all records out, the longest span of all threads, and that it
 * is done. */
static void write_out(struct kernel_text *k)
{
    ptx(k, "bar.sync 0;\n"
           "@!%other st.shared.u32 [pool+8], %longest;\n"
           "bar.sync 0;\n"
           "atom.shared.max.u32 %gap, [pool+8], %longest;\n"
           "bar.sync 0;\n"
           "@%other ret;\n"
           "ld.shared.u32 %longest, [pool+8];\n"
           "mov.u32 %gap, %clock;\n"
           "sub.u32 %gap, %gap, %began;\n");
    pin_job_word(k, "%out", JOB_OUT);
    ptx(k, "mov.u32 %record, pool;\n"
           "mad.lo.u32 %record, %steps, $bytes, %record;\n"
           "add.u32 %record, %record, $pool;\n"
           "WRITE:\n"
           "ld.shared.u32 %t0, [%record];\n"
           "cvt.u64.u32 %value64, %t0;\n"
           "st.global.u64 [%out], %value64;\n"
           "add.u32 %record, %record, 4;\n"
           "add.u64 %out, %out, 8;\n"
           "sub.u32 %kept, %kept, 1;\n"
           "setp.ne.u32 %more, %kept, 0;\n"
           "@%more bra WRITE;\n"
           "mov.b64 %value64, {%longest, %gap};\n"
           "st.global.u64 [%out], %value64;\n"
           "mov.u64 %value64, 1;\n"
           "st.global.u64 [%out+8], %value64;\n");
}

static void visit_kernel(const struct experiment *e,
                         const struct device_info *info, struct buf *out)
{
    const struct script *const s = e->own;
    struct kernel_text k;
    struct buf variables = {0};
    buf_text(&variables, PIN_VARIABLES);
    if (uses(s, MEMORY_CONSTANT))
        buf_text(&variables, ".visible .const .align 256 .b8 bank[65536];\n\n");
    if (uses(s, MEMORY_CODE))
        functions_text(&variables, s->padding);
    kernel_begin(&k, out, device_cc(info), .name = "visit",
                 .parameters = PIN_PARAMETERS,
                 .variables = buf_string(&variables));
    buf_free(&variables);
    ptx_words(&k, WORD(pool, PIN_POOL), WORD(bytes, STEP_BYTES),
              WORD(unit, s->unit), WORD(apart, s->apart));
    pin_opening(&k, JOB_WORDS * 8);
    declare(&k, s);
    if (makes_many(e))
        declare_many(&k);
    fetch_orders(&k);
    write_loop(&k, s, makes_many(e));
    write_out(&k);
    kernel_end(&k);
}

/* ---- the launch ------------------------------------------------------- */

/* The orders of some parts. */
struct excerpt {
    const struct order *orders;
    size_t count;
    uint64_t kept;
};

static size_t reader_of(const struct order *o)
{
    return (o->flags & ~KEEP_FLAG) >> READER_SHIFT;
}

/* Loads of an order, or calls, over all its laps. */
static uint64_t visits_of(const struct script *s, const struct order *o)
{
    const size_t reader = reader_of(o);
    const uint64_t each = o->count & ((1u << LAPS_SHIFT) - 1);
    return calls(s, reader) ? each * ((o->count >> LAPS_SHIFT) + 1) : o->count;
}

static uint64_t kept_of(const struct script *s, const struct order *o)
{
    return (o->flags & KEEP_FLAG) != 0 ? visits_of(s, o) : 0;
}

static struct excerpt excerpt_of(const struct experiment *e)
{
    const struct script *const s = e->own;
    const size_t first = experiment_piece_begin(e, s->parts);
    const size_t from = first > 0 ? s->ends[first - 1] : 0;
    struct excerpt x = {
        .orders = s->orders + from,
        .count = s->ends[experiment_piece_end(e, s->parts) - 1] - from,
    };
    for (size_t i = 0; i < x.count; i++)
        x.kept += kept_of(s, &x.orders[i]);
    return x;
}

struct visit {
    const struct script *script;
    struct excerpt excerpt;
    struct touch touch;
    struct pin pin;
    struct texture texture;
    const struct functions *functions; /* NULL: nobody calls any */
    uint64_t calls_at;                 /* addresses of what is called */
    uint64_t jobs[READERS_MOST * JOB_WORDS];
    uint64_t base, row, orders_at;
};

/* Offsets up to ALIGNED_MOST are XORed into the address as into 0, so that what
 * its bits do shows; the driver aligns what is small.  SMs that wait for each
 * other poll memory while one of them is timed: what they visit lies beside
 * that, so that no load leaves the window of active pages. */
static int place_global(struct prober *prober, struct visit *v,
                        struct error *err)
{
    enum { ALIGNED_LEAST = 1 << 20, ALIGNED_MOST = 64 << 20 };
    const bool paged = v->script->homes.bits > 0;
    const uint64_t span =
        paged ? v->script->homes.pages * HOMES_PAGE : v->script->span;
    uint64_t align = 1;
    while (!paged && span > ALIGNED_LEAST && span <= ALIGNED_MOST &&
           align < span)
        align *= 2;
    if (prober_buffer(prober,
                      v->script->sm_count > 1 ? BUFFER_SHARED : BUFFER_RING,
                      span + align - 1, &v->base, err) != 0)
        return err->code;
    v->base = (v->base + align - 1) & ~(align - 1);
    return 0;
}

static bool reads_constants(const struct script *s)
{
    for (size_t i = 0; i < s->readers; i++)
        if (s->reader[i].kind > 0)
            return true;
    return false;
}

/* Assembles the kernel until its functions lie aligned: beside few of them
 * first, which is quick, then beside all, and again with what these lacked.
 * Where nothing loads constants it is one that does not. */
static int find_functions(struct prober *prober, const struct experiment *e,
                          struct functions *f, struct error *err)
{
    enum { TAKES = 4 };
    struct script *const s = e->own;
    int status = 0;
    for (int i = 0; status == 0 && f->place == NULL && i < TAKES; i++) {
        struct buf text = {0};
        uint64_t at = 0;
        s->padding = f->padding;
        visit_kernel(e, prober_info(prober), &text);
        status =
            prober_variable(prober, buf_string(&text), "functions", &at, err);
        buf_free(&text);
        if (status == ERR_UNSUPPORTED && s->kinds > 1 && !reads_constants(s)) {
            *err = (struct error){0};
            f->alone = true;
            s->kinds = 1;
            status = 0;
        } else if (status == 0)
            status = functions_find(f, prober_device(prober), at, err);
    }
    return status == 0 && f->place == NULL
               ? error_set(err, ERR_UNSUPPORTED,
                           "functions lie at another place each time")
               : status;
}

static struct functions *functions_of(struct prober *prober)
{
    return prober_kept(prober, KEPT_FUNCTIONS, sizeof(struct functions),
                       functions_close);
}

static bool visit_takes_long(const struct experiment *e)
{
    return uses(e->own, MEMORY_CODE);
}

static int visit_assemble(struct prober *prober, const struct experiment *e,
                          struct error *err)
{
    return find_functions(prober, e, functions_of(prober), err);
}

static int place_calls(struct prober *prober, const struct experiment *e,
                       struct visit *v, struct error *err)
{
    struct script *const s = e->own;
    struct functions *const f = functions_of(prober);
    if (f->alone && !reads_constants(s))
        s->kinds = 1;
    if (f->place == NULL && find_functions(prober, e, f, err) != 0)
        return err->code;
    s->padding = f->padding;
    v->functions = f;
    const size_t bytes = s->call_count * sizeof *s->calls;
    uint64_t *const list = xmalloc(bytes);
    int status = 0;
    for (size_t i = 0; status == 0 && i < s->call_count; i++) {
        if (s->calls[i] >= f->bytes)
            status = error_set(err, ERR_UNSUPPORTED,
                               "steps: there are %" PRIu64 " B of functions",
                               f->bytes);
        else
            list[i] = f->place[s->calls[i] / FUNCTION_UNIT];
    }
    if (status == 0)
        status =
            prober_place(prober, BUFFER_FLUSH, list, bytes, &v->calls_at, err);
    free(list);
    return status;
}

static int map_pieces(struct prober *prober, struct visit *v, struct error *err)
{
    const struct script *const s = v->script;
    const uint64_t places =
        s->scramble > 0 ? (uint64_t)1 << s->scramble : s->span;
    const uint64_t bytes =
        places * (s->scramble + s->jitter > 0 ? s->apart : s->unit);
    const uint64_t each = s->within > 0 ? s->piece : s->apart;
    struct aliases aliases = {.bytes = s->piece,
                              .stride = s->apart,
                              .count = (bytes + each - 1) / each};
    if (s->pieces > 0 && aliases.count > s->pieces)
        return error_set(err, ERR_USAGE,
                         "steps: places beyond %" PRIu64 " mappings",
                         s->pieces);
    if (s->pieces > 0)
        aliases.count = s->pieces;
    const int status = prober_aliases(prober, false, &aliases, err);
    v->base = aliases.address + s->line;
    return status;
}

/* All of it, so that its places are at the same addresses each time. */
static int map_row(struct prober *prober, struct visit *v, struct error *err)
{
    const struct script *const s = v->script;
    const uint64_t stride = u64_max(s->row, s->piece);
    struct aliases aliases = {.bytes = s->piece,
                              .stride = stride,
                              .count =
                                  s->row * ACCESS_SCRIPT_ROW_PLACES / stride};
    const int status = prober_aliases(prober, true, &aliases, err);
    v->row = aliases.address - v->base;
    return status;
}

static int place_memory(struct prober *prober, const struct experiment *e,
                        struct visit *v, struct error *err)
{
    const struct script *const s = v->script;
    bool textured = false;
    for (size_t i = 0; i < s->kinds; i++)
        textured = textured || s->kind[i].space->texture;
    if (s->piece > 0 && map_pieces(prober, v, err) != 0)
        return err->code;
    if (s->visits_row && map_row(prober, v, err) != 0)
        return err->code;
    if (s->piece == 0 && uses(s, MEMORY_GLOBAL) &&
        place_global(prober, v, err) != 0)
        return err->code;
    if (uses(s, MEMORY_CODE) && place_calls(prober, e, v, err) != 0)
        return err->code;
    if (textured && device_texture_open(prober_device(prober), v->base, s->span,
                                        &v->texture, err) != 0)
        return err->code;
    return prober_buffer(prober, BUFFER_LINKS,
                         v->excerpt.count * STEP_BYTES + HOMES_BYTES,
                         &v->orders_at, err);
}

static int upload(struct prober *prober, struct visit *v, struct error *err)
{
    const struct script *const s = v->script;
    if (prober_send(prober, v->orders_at, v->excerpt.orders,
                    v->excerpt.count * STEP_BYTES, err) != 0 ||
        (s->homes.bits > 0 &&
         prober_send(prober, v->orders_at + v->excerpt.count * STEP_BYTES,
                     s->homes.table, HOMES_BYTES, err) != 0))
        return err->code;
    for (size_t i = 0; i < s->sm_count; i++) {
        uint64_t *const job = v->jobs + i * JOB_WORDS;
        job[JOB_BASE] = v->base;
        job[JOB_TEXTURE] = v->texture.object;
        job[JOB_STEPS] = v->orders_at;
        job[JOB_STEP_COUNT] = v->excerpt.count;
        job[JOB_OUT] = pin_out(&v->pin, i);
        job[JOB_TURN] = pin_counter(&v->pin, 0);
        job[JOB_SELF] = i;
        job[JOB_CALLS] = v->calls_at;
        job[JOB_HOMES] = v->orders_at + v->excerpt.count * STEP_BYTES;
        job[JOB_ROW] = v->row;
    }
    return 0;
}

/* Words of an SM's result: what it kept, its watch, that it is done. */
static size_t out_words(const struct visit *v)
{
    return v->excerpt.kept + 2;
}

static uint64_t offset_of(const struct script *s, const struct order *o,
                          uint64_t n)
{
    const size_t reader = reader_of(o);
    if (!calls(s, reader))
        return (s->piece > 0 ? 1 : UNIT) * (o->start + n * (uint64_t)o->step);
    return s->calls[o->start + n % (o->count & ((1u << LAPS_SHIFT) - 1))];
}

/* The cycles of a visit are those that its reader's SM wrote. */
static void add_rows(const struct visit *v, const uint64_t *words,
                     struct samples *samples)
{
    const struct script *const s = v->script;
    size_t record = 0;
    for (size_t i = 0; i < v->excerpt.count; i++) {
        const struct order *const o = &v->excerpt.orders[i];
        const size_t reader = reader_of(o);
        const size_t from = s->reader[reader].crew * out_words(v);
        const uint64_t visits = kept_of(s, o);
        for (uint64_t n = 0; n < visits; n++) {
            const uint64_t offset = offset_of(s, o, n);
            const uint64_t cycles = words[from + record++];
            const bool made =
                !calls(s, reader) || functions_has(v->functions, offset);
            samples_add(samples, reader, offset, made ? cycles : 0);
        }
    }
}

/* Where another process takes L2 from us, which would still have what it is
 * asked for. */
static int bring(struct prober *prober, struct visit *v, struct error *err)
{
    for (size_t i = 0; i < v->excerpt.count; i++) {
        const struct order *const o = &v->excerpt.orders[i];
        const size_t reader = reader_of(o);
        if (v->script->piece == 0 && v->script->homes.bits == 0 &&
            v->script->reader[reader].load.space->memory == MEMORY_GLOBAL)
            touch_add(&v->touch, v->base + UNIT * (uint64_t)o->start,
                      UNIT * (uint64_t)o->step, o->count);
    }
    return touch_ahead(prober, &v->touch, &v->pin, err);
}

static int visit_run(struct prober *prober, const struct experiment *e,
                     struct visit *v, struct samples *samples,
                     struct error *err)
{
    const struct script *const s = v->script;
    v->pin = (struct pin){
        .count = s->sm_count,
        .sms = s->sms,
        .jobs = v->jobs,
        .job_bytes = JOB_WORDS * 8,
        .words_each = out_words(v),
        .threads = LANES * (unsigned)u64_max(s->warps, s->many),
        .shared_bytes = shared_bytes(s),
        .carve_out = (int)s->carve,
    };
    if (place_memory(prober, e, v, err) != 0 ||
        pin_place(prober, &v->pin, err) != 0 || upload(prober, v, err) != 0 ||
        (e->piece.brisk && !e->piece.fresh && bring(prober, v, err) != 0))
        return err->code;
    uint64_t *const words = pin_run(prober, e, &v->pin, err);
    for (size_t i = 0; words != NULL && i < s->sm_count; i++)
        prober_watched(prober, words[i * out_words(v) + v->excerpt.kept]);
    if (words != NULL)
        add_rows(v, words, samples);
    free(words);
    return err->code;
}

static int visit_once(struct prober *prober, const struct experiment *e,
                      struct samples *samples, struct error *err)
{
    struct visit v = {.script = e->own, .excerpt = excerpt_of(e)};
    const int status = visit_run(prober, e, &v, samples, err);
    touch_free(&v.touch);
    if (v.texture.object != 0)
        device_texture_close(prober_device(prober), &v.texture);
    return status;
}

static unsigned visit_pieces(const struct experiment *e)
{
    return (unsigned)((const struct script *)e->own)->parts;
}

/* A script is run once. */
const struct probe probe_access_script = {
    .name = "visit",
    .what = "latency of loads that follow a script, by one reader or several",
    .params = visit_params,
    .bytes = sizeof(struct script),
    .columns = TEXTS("reader", "offset", "cycles"),
    .figure_column = COLUMN_CYCLES,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = visit_prepare,
    .release = visit_release,
    .kernel = visit_kernel,
    .once = visit_once,
    .pieces = visit_pieces,
    .join = samples_append,
    .takes_long = visit_takes_long,
    .assemble = visit_assemble,
};
