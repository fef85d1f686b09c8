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
 * loaded: so nothing but the translation differs; those are mapped that are
 * visited, or as many as `pieces` says.  Numbers from 2^30 on are
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
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "probe/check.h"
#include "probe/memory/access_script.h"
#include "probe/memory/visit_script.h"
#include "probe/run/functions.h"
#include "probe/run/pin.h"
#include "probe/walk/touch.h"

enum { COLUMN_READER = 1, COLUMN_CYCLES = 3 };

/* What every device gives a block without asking. */
enum { SHARED_BYTES = 48 * 1024 };

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
    NUMBER(struct script, turn, "0", 0, 1 << 24, "number of the place, plus one, in whose mapping SMs look whose turn it is, halfway through it; 0: elsewhere"),
    NUMBER(struct script, wait, "0", 0, 1, "1: up to seven turns of a loop, at random, before each load that is kept"),
    NUMBER(struct script, many, "0", 0, WARPS_MOST, "so many warps make long steps at once of which no cycles are kept; 1: the reader's"),
    NUMBER(struct script, lead, "0", 0, 1 << 16, "before each load that is kept what lies at its offset XOR so many bytes is loaded, which brings in the translation; 0: nothing"),
    NUMBER(struct script, line, "0", 0, (1u << 30) - UNIT, "where in the piece is loaded, B"),
    HOMES_PARAMS(struct script),
    NUMBER(struct script, take, "0", 0, 1 << 30, "a number that only makes the random visits others"),
    {0},
};
/* clang-format on */

static int visit_prepare(struct experiment *e, const struct device_info *info,
                         struct error *err)
{
    struct script *const s = e->own;
    /* Less the crew's. */
    s->shared_most =
        device_told(info, PROPERTY_BLOCK_SHARED_OPTIN, SHARED_BYTES) -
        2 * PIN_POOL;
    return visit_read(s, experiment_seed(e), err);
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
    return visit_calls(s, reader) ? each * ((o->count >> LAPS_SHIFT) + 1)
                                  : o->count;
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

/* All that is visited, and what leads it: an offset XOR `lead` may lie beyond,
 * but not in another block of the power of two above that. */
static uint64_t span_of(const struct script *s)
{
    uint64_t block = 1;
    while (block <= s->lead)
        block *= 2;
    return (s->span + block - 1) & ~(block - 1);
}

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
        paged ? v->script->homes.pages * HOMES_PAGE : span_of(v->script);
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
    return visit_uses(e->own, MEMORY_CODE);
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

/* A word of the mapping of that place, in a line where none of its units is:
 * units are a power of two, and skewed by an even number of lines. */
static uint64_t turn_place(const struct script *s, uint64_t base)
{
    enum { LINE = 128 };
    const struct access_script_places places = {
        s->apart, s->unit, (unsigned)s->scramble, (unsigned)s->jitter};
    const uint64_t at = access_script_address(s->turn - 1, &places);
    return base + at / s->apart * s->apart + s->piece / 2 + LINE;
}

/* Numbers of the mappings that an order visits, as often as it does. */
static size_t add_visited(const struct script *s, const struct order *o,
                          uint32_t *list)
{
    for (uint64_t n = 0; n < o->count; n++) {
        const uint64_t place = o->start + n * (uint64_t)o->step;
        list[n] =
            (uint32_t)(s->within > 0         ? place / s->within
                       : s->unit == s->apart ? place
                                             : place * s->unit / s->apart);
    }
    return o->count;
}

/* Those that are visited, and no others. */
static void choose_visited(const struct script *s, struct aliases *a)
{
    uint64_t visits = 0;
    for (size_t i = 0; i < s->order_count; i++)
        visits += s->orders[i].count;
    if (s->pieces > 0 || s->scramble + s->jitter + s->row > 0 ||
        visits > UINT32_MAX / sizeof *a->only)
        return;
    uint32_t *const list = xcalloc(visits + 1, sizeof *list);
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < s->order_count; i++)
        count += add_visited(s, &s->orders[i], list + count);
    qsort(list, count, sizeof *list, u32_compare);
    for (size_t i = 0; i < count; i++)
        if (list[i] < a->count && (i == 0 || list[i] != list[i - 1]))
            list[kept++] = list[i];
    a->only = list;
    a->only_count = kept;
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
    choose_visited(s, &aliases);
    const int status = prober_aliases(prober, false, &aliases, err);
    free((uint32_t *)aliases.only);
    v->base = aliases.address + s->line;
    if (s->turn > 0)
        v->pin.counter_at = turn_place(s, aliases.address);
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
    if (s->piece == 0 && visit_uses(s, MEMORY_GLOBAL) &&
        place_global(prober, v, err) != 0)
        return err->code;
    if (visit_uses(s, MEMORY_CODE) && place_calls(prober, e, v, err) != 0)
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
    struct buf sent = {0};
    buf_append(&sent, v->excerpt.orders, v->excerpt.count * STEP_BYTES);
    if (s->homes.bits > 0)
        buf_append(&sent, s->homes.table, HOMES_BYTES);
    const int status =
        prober_send(prober, BUFFER_LINKS, sent.data, sent.length, err);
    buf_free(&sent);
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
    return status;
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
    if (!visit_calls(s, reader))
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
                !visit_calls(s, reader) || functions_has(v->functions, offset);
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
        .shared_bytes = visit_shared_bytes(s),
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

/* All but those that several lanes make at once. */
static uint64_t visit_loads(const struct experiment *e)
{
    const struct script *const s = e->own;
    uint64_t loads = 0;
    for (size_t i = 0; i < s->order_count; i++)
        if (s->many == 0 || (s->orders[i].flags & KEEP_FLAG) != 0)
            loads += visits_of(s, &s->orders[i]);
    return loads;
}

static const char *visit_sound(const struct experiment *e,
                               const struct rows *rows)
{
    const struct script *const s = e->own;
    const char *const why = rows_are(rows, excerpt_of(e).kept);
    return why != NULL ? why : rows_are_below(rows, COLUMN_READER, s->readers);
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
    .loads = visit_loads,
    .join = samples_append,
    .sound = visit_sound,
    .takes_long = visit_takes_long,
    .assemble = visit_assemble,
};
