/*
 * The text of a script (access_script.c) is read, and unfolded to orders.
 */
#include "probe/memory/visit_script.h"

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

enum {
    PLACES_MOST = 1 << 24,
    LAPS_MOST = 255,
    CONSTANT_BYTES = 64 * 1024,
};

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

bool visit_uses(const struct script *s, enum space_memory memory)
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
    if (!visit_uses(s, MEMORY_CODE))
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

uint64_t visit_end_of(const struct step *step)
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

bool visit_calls(const struct script *s, size_t reader)
{
    return s->reader[reader].load.space->memory == MEMORY_CODE;
}

bool visit_is_strewn(const struct script *s)
{
    return s->piece == 0 && s->scramble > 0;
}

/* Notes how far the places lie, or that some are of the row. */
static int note_span(struct script *s, uint64_t start, uint64_t end,
                     struct error *err)
{
    const uint64_t unit = s->piece > 0 ? 1 : UNIT;
    const uint64_t number = visit_is_strewn(s) ? end / s->apart : end;
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
    s->span = visit_is_strewn(s) ? s->apart << s->scramble
                                 : u64_max(s->span, end + unit);
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

uint64_t visit_shared_bytes(const struct script *s)
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
    if (visit_calls(s, step->reader))
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
        if (visit_shared_bytes(s) > s->shared_most)
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

void visit_release(void *own)
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
    const bool strewn = visit_is_strewn(s);
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
    if (s->turn > 0 && (s->piece == 0 || s->scramble == 0 ||
                        s->turn > (uint64_t)1 << s->scramble))
        return error_set(err, ERR_USAGE, "turn: of a numbered mapping");
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

int visit_read(struct script *s, uint64_t seed, struct error *err)
{
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
    if (unfold(s, seed, err) != 0)
        return err->code;
    return homes_check(&s->homes, s->span, err);
}
