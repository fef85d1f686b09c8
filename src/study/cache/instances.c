/*
 * How many of a cache there are: copies in an SM and which warps use which
 * (Groessler 2022, 4.6), and SMs that have one together.
 *
 * One reader loads lines, another one, in another warp or on another SM, looks
 * for them: where they cost more than its hits, it has another copy.  Lines
 * that nobody loaded are a control and must miss; the same lines once more
 * are another and must hit.  Each pair of readers has lines of its own, so
 * that what one looks for does not help the next.  Local memory is a thread's
 * own: there the other reader floods its copy, and the first one sees whether
 * it lost its lines.
 *
 * Constants that an SM's first cache never held tell of the next one, too: they
 * cost what it takes to find them there if an SM that shares it loaded them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "study/lab.h"

static const char *const needs[] = {"sharing", "size", NULL};
static const char *const gives[] = {
    "l1.per_sm",
    "l1.copy_of_warp",
    "l1.sms_sharing",
    "texture.per_sm",
    "texture.copy_of_warp",
    "texture.sms_sharing",
    "readonly.per_sm",
    "readonly.copy_of_warp",
    "const_l1.per_sm",
    "const_l1.copy_of_warp",
    "const_l1.sms_sharing",
    "const_l15.sms_sharing",
    NULL,
};

static const char *const kernels[] = {
    "visit readers=global.ca@0,global.ca@1",
    "visit readers=texture@0,texture@1",
    "visit readers=readonly@0,readonly@1",
    "visit readers=constant@0,constant@1",
    "visit readers=global.ca@0.0,global.ca@0.1",
    "visit readers=texture@0.0,texture@0.1",
    "visit readers=constant@0.0,constant@0.1",
    NULL,
};

/* Warps that are asked; readers of a script; SMs that are asked one by one. */
enum { WARPS = 16, READERS = 32, SMS_MOST = 512 };
/* Of a pair: lines that are looked for, lines that are new.  They lie so far
 * apart that none of any cache holds two, not by a power of two, lest all be
 * in one set, and all pairs within 64 KiB of constants. */
enum { LINES = 2, APART = 640, PAIR = 2048, TAKES = 4 };

/* How many of another reader's lines were not found: in the first cache, and
 * not in the next one either. */
struct seen {
    size_t asked, missed;
    size_t next_asked, next_missed;
};

/* A cache, and by which loads it is asked. */
struct inquiry {
    struct lab *lab;
    const struct first_level_row *row;
    const struct first_level *nearest;
    double next; /* cycles up to which a load hits the next cache; 0: none */
    struct finding *per_sm, *copy_of_warp, *sms_sharing, *next_sharing;
};

/* ---- one script ------------------------------------------------------- */

static void add_pair(struct buf *steps, size_t base, size_t other)
{
    const uint64_t at = (uint64_t)other * PAIR;
    buf_printf(steps,
               "%zu@%" PRIu64 ":%d:%d,%zu@!%" PRIu64 ":%d:%d,2x%zu@!%" PRIu64
               ":%d:%d,",
               base, at, LINES, APART, other, at + LINES * APART, LINES, APART,
               other, at, LINES, APART);
}

static void add_flood(struct buf *steps, const struct inquiry *q, size_t base,
                      size_t other)
{
    first_level_load(steps, base, 0);
    first_level_time(steps, base, 0);
    first_level_overfill(steps, other, first_level_flood(q->nearest, q->row));
    first_level_time(steps, base, 0);
}

/* Of all readers but `base` that have no number yet. */
static char *script(const struct inquiry *q, const int *number, size_t count,
                    size_t base)
{
    struct buf steps = {0};
    for (size_t i = 0; i < count; i++)
        if (number[i] < 0 && q->row->memory_is_own)
            add_flood(&steps, q, base, i);
        else if (number[i] < 0)
            add_pair(&steps, base, i);
    return buf_take(&steps);
}

/* The kept loads of a pair: lines that are new, lines that are looked for,
 * and these again.  Counts only what the controls bear out. */
static size_t judge_pair(const struct inquiry *q, const struct visited *v,
                         size_t at, struct seen *seen)
{
    const double limit = q->nearest->limit;
    const size_t sought = at + LINES, again = at + 2 * LINES;
    const bool hits = visited_over(v, again, LINES, limit) == 0;
    if (hits && visited_over(v, at, LINES, limit) == LINES) {
        seen->asked += LINES;
        seen->missed += visited_over(v, sought, LINES, limit);
    }
    /* What is found in the first cache does not tell of the next. */
    if (hits && visited_over(v, at, LINES, q->next) == LINES &&
        visited_over(v, sought, LINES, limit) == LINES) {
        seen->next_asked += LINES;
        seen->next_missed += visited_over(v, sought, LINES, q->next);
    }
    return at + 3 * LINES;
}

/* Of a flood: lines that the first reader lost are in the copy of both. */
static size_t judge_flood(const struct inquiry *q, const struct visited *v,
                          size_t at, struct seen *seen)
{
    const struct first_level *const n = q->nearest;
    const size_t after = at + FIRST_LEVEL_LINES;
    if (hits_tally_of(visited_over(v, at, FIRST_LEVEL_LINES, n->limit),
                             n->lines) == TALLY_NONE) {
        const size_t lost = visited_over(v, after, FIRST_LEVEL_LINES, n->limit);
        seen->asked += n->lines;
        seen->missed += lost < n->lines ? n->lines - lost : 0;
    }
    return after + FIRST_LEVEL_LINES;
}

/* Without a pair whose controls were good nothing is known. */
static enum hits_tally tally_seen(size_t missed, size_t asked)
{
    return asked == 0 ? TALLY_OPEN : hits_tally_of(missed, asked);
}

static bool is_settled(const struct inquiry *q, const int *number,
                       const struct seen *seen, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (number[i] < 0 &&
            (tally_seen(seen[i].missed, seen[i].asked) == TALLY_OPEN ||
             (q->next > 0 && seen[i].missed > 0 &&
              tally_seen(seen[i].next_missed, seen[i].next_asked) ==
                  TALLY_OPEN)))
            return false;
    return true;
}

static void judge(const struct inquiry *q, const int *number, size_t count,
                  const struct visited *v, struct seen *seen)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (number[i] < 0)
            at = q->row->memory_is_own ? judge_flood(q, v, at, &seen[i])
                                       : judge_pair(q, v, at, &seen[i]);
}

/* What of `base` the readers without a number see: a script is run again as
 * long as it leaves one of them open. */
static int ask_others(const struct inquiry *q, const char *readers,
                      const int *number, size_t count, size_t base,
                      struct seen *seen, struct finding *const findings[2],
                      struct error *err)
{
    char *const steps = script(q, number, count, base);
    int status = 0;
    for (int take = 0; status == 0 && take < TAKES; take++) {
        struct visited v;
        status = first_level_visit(q->lab, &v, readers, steps, take, err);
        if (status == 0)
            judge(q, number, count, &v, seen);
        for (size_t i = 0; status == 0 && i < 2; i++)
            if (findings[i] != NULL)
                finding_evidence(findings[i], v.experiment);
        visited_free(&v);
        if (is_settled(q, number, seen, count))
            break;
    }
    free(steps);
    return status;
}

/* ---- warps of an SM --------------------------------------------------- */

static size_t warps_of(const struct lab *lab)
{
    const int64_t threads = lab->info->value[PROPERTY_BLOCK_THREADS];
    return threads > 0 && threads < 32 * WARPS ? (size_t)threads / 32 : WARPS;
}

static char *warp_readers(const struct first_level_row *row, size_t warps)
{
    struct buf readers = {0};
    for (size_t i = 0; i < warps; i++)
        buf_printf(&readers, "%s%s@%zu", i > 0 ? "," : "", row->reader, i);
    return buf_take(&readers);
}

/* Gives `copy` to all warps that use the one of `base`; false if one of them
 * cannot be told. */
static bool number_warps(const struct seen *seen, int *number, size_t warps,
                         int copy, struct inquiry *q)
{
    for (size_t i = 0; i < warps; i++) {
        if (number[i] >= 0)
            continue;
        const enum hits_tally missed =
            tally_seen(seen[i].missed, seen[i].asked);
        if (missed == TALLY_OPEN) {
            finding_none(q->per_sm, "the copy of warp %zu could not be told",
                         i);
            finding_none(q->copy_of_warp,
                         "the copy of warp %zu could not be told", i);
            return false;
        }
        if (missed == TALLY_NONE)
            number[i] = copy;
    }
    return true;
}

static void conclude_warps(struct inquiry *q, const int *number, size_t warps,
                           int copies)
{
    struct value list = value_list();
    for (size_t i = 0; i < warps; i++)
        value_push(&list, value_number(number[i]));
    finding_set(q->per_sm, STATUS_MEASURED, value_number(copies), "");
    finding_set(q->copy_of_warp, STATUS_MEASURED, list, "");
    finding_protocol(q->per_sm, "warps", value_number((double)warps));
}

/* The lowest warp without a number begins a copy. */
static int ask_warps(struct inquiry *q, struct error *err)
{
    const size_t warps = warps_of(q->lab);
    struct finding *const findings[2] = {q->per_sm, q->copy_of_warp};
    char *const readers = warp_readers(q->row, warps);
    int number[WARPS] = {0}, copies = 0, status = 0;
    bool told = true;
    for (size_t i = 0; i < warps; i++)
        number[i] = -1;
    for (size_t i = 0; status == 0 && told && i < warps; i++) {
        struct seen seen[WARPS] = {0};
        if (number[i] >= 0)
            continue;
        number[i] = copies++;
        if (i + 1 < warps)
            status =
                ask_others(q, readers, number, warps, i, seen, findings, err);
        told = status == 0 && number_warps(seen, number, warps, number[i], q);
    }
    if (status == 0 && told)
        conclude_warps(q, number, warps, copies);
    free(readers);
    return status;
}

/* ---- SMs -------------------------------------------------------------- */

static char *sm_readers(const struct first_level_row *row, size_t first,
                        size_t count)
{
    struct buf readers = {0};
    buf_printf(&readers, "%s@0.0", row->reader);
    for (size_t i = 1; i < count; i++)
        buf_printf(&readers, ",%s@0.%zu", row->reader, first + i - 1);
    return buf_take(&readers);
}

/* How many SMs share, SM 0 among them; those that could not be told. */
struct sharers {
    size_t shared, open, asked;
};

static void count_sharer(struct sharers *s, size_t missed, size_t asked)
{
    const enum hits_tally tally = tally_seen(missed, asked);
    s->asked++;
    s->shared += tally == TALLY_NONE;
    s->open += tally == TALLY_OPEN;
}

/* SM 0 and up to READERS - 1 more, from `first` on. */
static int ask_some_sms(struct inquiry *q, size_t first, size_t sms,
                        struct sharers *own, struct sharers *next,
                        struct error *err)
{
    const size_t left = sms - first + 1;
    const size_t count = left < READERS ? left : READERS;
    struct finding *const findings[2] = {q->sms_sharing, q->next_sharing};
    char *const readers = sm_readers(q->row, first, count);
    struct seen seen[READERS] = {0};
    int number[READERS] = {0};
    for (size_t i = 1; i < count; i++)
        number[i] = -1;
    const int status =
        ask_others(q, readers, number, count, 0, seen, findings, err);
    for (size_t i = 1; status == 0 && i < count; i++) {
        count_sharer(own, seen[i].missed, seen[i].asked);
        count_sharer(next, seen[i].next_missed, seen[i].next_asked);
    }
    free(readers);
    return status;
}

static void conclude_sms(struct finding *f, const struct sharers *s, size_t all)
{
    if (s->open > 0) {
        finding_none(f,
                     "of %zu SMs it could not be told whether they share "
                     "that of SM 0",
                     s->open);
        return;
    }
    finding_set(f, s->asked == all ? STATUS_MEASURED : STATUS_AT_LEAST,
                value_number((double)s->shared), "");
    if (s->asked < all)
        finding_because(f, "%zu of %zu SMs were asked", s->asked, all);
    finding_protocol(f, "sms", value_number((double)s->asked));
}

static void conclude_next(struct inquiry *q, const struct sharers *own,
                          const struct sharers *next, size_t all)
{
    if (q->nearest->beyond <= 0)
        finding_none(q->next_sharing,
                     "constants do not overfill the first cache, behind which "
                     "the next one would be seen");
    else if (q->next <= 0)
        finding_none(q->next_sharing,
                     "no cache is seen between the first one and L2");
    else if (own->shared > 1)
        finding_none(q->next_sharing,
                     "SMs share the first cache, behind which the next one "
                     "is not seen");
    else
        conclude_sms(q->next_sharing, next, all);
}

static int ask_sms(struct inquiry *q, struct error *err)
{
    const int64_t property = q->lab->info->value[PROPERTY_SMS];
    const size_t all = property > 0 ? (size_t)property : 1;
    const size_t sms = all < SMS_MOST ? all : SMS_MOST;
    struct sharers own = {.shared = 1, .asked = 1}, next = own;
    for (size_t first = 1; first < sms; first += READERS - 1)
        if (ask_some_sms(q, first, sms, &own, &next, err) != 0)
            return err->code;
    conclude_sms(q->sms_sharing, &own, all);
    if (q->next_sharing == NULL)
        return 0;
    conclude_next(q, &own, &next, all);
    return 0;
}

/* ---- all of them ------------------------------------------------------ */

static int excuse(int status, struct finding *f, const struct error *err)
{
    if (status == 0 || !lab_excuses(status))
        return status;
    finding_none(f, "%s", err->text);
    return 0;
}

static void leave_out(struct inquiry *q, const char *why)
{
    finding_none(q->per_sm, "%s", why);
    finding_none(q->copy_of_warp, "%s", why);
    if (q->sms_sharing != NULL)
        finding_none(q->sms_sharing, "%s", why);
    if (q->next_sharing != NULL)
        finding_none(q->next_sharing, "%s", why);
}

/* True if a cache surely has room for two groups, so that what one warp brought
 * in is still there when the others look for it. */
static bool has_room(const struct inquiry *q)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (strcmp(level_table[i].component, q->row->component) == 0) {
            const struct level_facts *const f = &q->lab->facts[i];
            return f->size == 0 || f->line == 0 ||
                   f->size / f->line >= 2 * (FIRST_LEVEL_LINES + 1);
        }
    return true;
}

static int ask(struct inquiry *q, struct error *err)
{
    if (!q->nearest->present) {
        leave_out(q, q->nearest->why);
        return 0;
    }
    if (!has_room(q)) {
        leave_out(q, "it has too few lines to keep some for a while");
        return 0;
    }
    if (q->row->memory_is_own && q->nearest->overfill == 0) {
        leave_out(q, "each thread has its own local memory, and the cache is "
                     "too large to be flooded with it");
        return 0;
    }
    const int status = excuse(ask_warps(q, err), q->per_sm, err);
    if (status != 0 || q->sms_sharing == NULL)
        return status;
    return excuse(ask_sms(q, err), q->sms_sharing, err);
}

/* Where global loads are not cached near, local ones show L1. */
static enum first_level_id kind_of(const struct lab *lab,
                                   enum first_level_id id)
{
    return id == FIRST_LEVEL_L1 && !lab->first_level[id].present
               ? FIRST_LEVEL_LOCAL
               : id;
}

static struct inquiry inquiry_of(struct lab *lab, enum first_level_id id)
{
    const enum first_level_id kind = kind_of(lab, id);
    const char *const component = first_level_table[id].component;
    const struct first_level *const n = &lab->first_level[kind];
    struct inquiry q = {
        .lab = lab,
        .row = &first_level_table[kind],
        .nearest = n,
        .per_sm = lab_finding(lab, component, "per_sm"),
        .copy_of_warp = lab_finding(lab, component, "copy_of_warp"),
        /* The read-only path never had a cache to itself. */
        .sms_sharing = id == FIRST_LEVEL_READONLY
                           ? NULL
                           : lab_finding(lab, component, "sms_sharing"),
    };
    if (id != FIRST_LEVEL_CONSTANT)
        return q;
    q.next_sharing = lab_finding(lab, "const_l15", "sms_sharing");
    if (n->beyond > 0 && n->beyond < 0.9 * n->cold)
        q.next = (n->beyond + n->cold) / 2;
    return q;
}

static int run(struct lab *lab, struct error *err)
{
    static const enum first_level_id asked[] = {
        FIRST_LEVEL_L1,
        FIRST_LEVEL_TEXTURE,
        FIRST_LEVEL_READONLY,
        FIRST_LEVEL_CONSTANT,
    };
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct inquiry q = inquiry_of(lab, asked[i]);
        if (ask(&q, err) != 0)
            return err->code;
    }
    return 0;
}

const struct study study_instances = {
    .name = "copies",
    .question = "How many of each cache has an SM, and do SMs share one?",
    .method = "What one warp loaded is looked for by the others, on its SM and "
              "on all others; those that find it have the same copy.",
    .needs = needs,
    .gives = gives,
    .kernels = kernels,
    .run_err = run,
};
