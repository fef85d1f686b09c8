/*
 * How many slices L2 has, by who waits for whom, and the address bits that
 * choose among them.
 *
 * Some SMs send atomics to one line without a pause.  Atomics on lines of its
 * slice wait for them, those on others do not.  Of lines that are in no slice
 * yet one is made the hot one, until each is in one.  Nothing is assumed of
 * what deals lines to slices, and each line is asked in each turn: one that
 * waits for two slices denies all of it.
 *
 * Of an L2 in two parts an SM reaches what is at home in the other one through
 * a slice beside it, where lines of this part wait as well (H200, 2026-11).  So
 * each part is asked by its own SMs, of the lines that are nearer to these.
 *
 * Address bits whose XOR is one for all lines of each slice are among those
 * that choose it.  Where memory is in pages of which nobody knows the place,
 * that is so of the lines of one page alone.
 *
 * What is loaded one after the other is spread over all slices, so a page has
 * lines of each.  An XOR of bits that are all above a page would keep pages out
 * of slices; it is found where what lies far apart does not wait for another
 * reason, as in windows of pages.  Then nearer lines are counted, too.
 */
#include <math.h>
#include <string.h>

#include "analysis/statistics/stats.h"
#include "analysis/structure/index_function.h"
#include "base/num.h"
#include "base/text.h"
#include "probe/walk/homes.h"
#include "study/lab.h"

static const enum fact_id reads[] = {FACT_BRACKET, FACT_SIDES, FACT_NONE};
static const struct answer answers[] = {
    {ONE("l2"), "slices", ""},
    {ONE("l2"), "slice_bits", ""},
    {0},
};
static const char *const kernels[] = {
    "hammer",
    NULL,
};

enum {
    LINES_MOST = 2048,
    SLICES_MOST = 256,
    PARTS = 2,
    LAPS = 3,
    LAPS_ALONE = 6,
    LAPS_AGAIN = 12, /* where something else makes one of five late */
    /* So many lines each SM times, until atomics have piled up: where it has
     * few of them it is done with laps before (0 of 6500 cycles waited). */
    LINES_EARLY = 16,
    /* Lines for each slice, of which any tell how unequal slices are. */
    LINES_EACH = 7,
    /* So often other lines are asked where a slice may have none of those; and
     * of so few slices two fields are to tell, which costs little. */
    FIELDS_MOST = 5,
    SLICES_FEW = 16,
    /* Atomics under way, of all SMs that hammer: more than come back while one
     * is on its way (some 1000 cycles), at one in a cycle. */
    UNDER_WAY = 2048,
    FLIGHT_MOST = 8,
    WARPS = 32,
    /* Differences that tell nothing new, of which half would if one more XOR
     * were not even. */
    SURE = 32,
    /* No line is shorter, B; and few are longer than those: what is asked is
     * to have room. */
    UNIT = 32,
    LINE = 128,
    ROOM = 8,
    /* Hot lines whose own atomics do not wait, before none is tried again. */
    ALONE_MOST = 3,
    UNSORTED = -1
};
/* Once in so many times lines fall to equal slices so unevenly. */
#define UNEQUAL 0.001
/* Bytes that are looked at: as many as a third of a GPU's memory allows. */
#define SPAN_MOST ((uint64_t)1 << 30)

/* How unevenly lines fall to slices, in fields that tell of as many. */
struct spread {
    double squares; /* chi-squared */
    size_t freedom; /* its degrees */
    size_t fields;
};

/* Lines `step` apart, modulo `bytes`, and the slice of each. */
struct field {
    uint64_t bytes, step;
    size_t lines;
    int laps;
    double *alone[PARTS]; /* what an atomic costs, by SMs of each part */
    int *slice;
    bool *torn; /* of each line: it waited for two */
    size_t slices;
    size_t twice, unclear; /* lines that waited for two; for none quite */
    double waits;          /* the least that a hot line's own atomics waited */
    double strays;         /* the most that an atomic differs by, alone */
    struct spread spread;  /* here, and in those before */
    const char *first, *last; /* experiments */
};

struct slices {
    struct lab *lab;
    size_t parts;
    const char *timers[PARTS], *hammers[PARTS]; /* SMs of each */
    size_t timing[PARTS];                       /* how many time */
    unsigned warps, flight;
};

/* ---- what is asked ------------------------------------------------------ */

/* Laps that are over before the hot line's atomics pile up. */
static int early_laps(const struct slices *s, const struct field *f,
                      size_t part)
{
    const size_t each = u64_max(f->lines / s->timing[part], 1);
    return each < LINES_EARLY ? (int)((LINES_EARLY + each - 1) / each) : 0;
}

/* The least that each line cost but in early laps; as numbers of lines. */
static double *least_of(const struct slices *s, struct field *f,
                        const struct samples *samples, int early)
{
    struct lab *const lab = s->lab;
    const struct column line = lab_column_of(lab, samples, "line");
    const struct column cycles = lab_column_of(lab, samples, "cycles");
    const struct column atomics = lab_column_of(lab, samples, "atomics");
    double *const least = lab_alloc(lab, f->lines, sizeof *least);
    int *const laps = lab_alloc(lab, f->lines, sizeof *laps);
    for (size_t i = 0; i < f->lines; i++)
        least[i] = INFINITY;
    for (size_t row = 0; row < line.count; row++) {
        const size_t i = (size_t)line.at[row];
        if (atomics.at[row] == 0 && laps[i]++ >= early)
            least[i] = fmin(least[i], cycles.at[row]);
    }
    f->last = line.experiment;
    return least;
}

static double *ask_lines(const struct slices *s, struct field *f, size_t part,
                         const char *hammered)
{
    const bool alone = hammered[0] == '\0';
    const int early = alone ? 0 : early_laps(s, f, part);
    const int laps = alone ? (int)fmax(LAPS_ALONE, f->laps) : f->laps + early;
    return least_of(
        s, f,
        lab_probe(s->lab,
                  "hammer bytes=%" PRIu64 " step=%" PRIu64
                  " lines=%zu timers=%s warps=%u flight=%u laps=%d%s",
                  f->bytes, f->step, f->lines, s->timers[part], s->warps,
                  s->flight, laps, hammered),
        early);
}

/* Of 50 lines one may be disturbed each time, or be pushed out of L2 by others
 * now and then. */
enum { DISTURBED = 50 };

/* Twice, to know by how much the same line differs. */
static void ask_alone(const struct slices *s, struct field *f, size_t part)
{
    f->alone[part] = ask_lines(s, f, part, "");
    const double *const again = ask_lines(s, f, part, "");
    double *const strays = lab_alloc(s->lab, f->lines, sizeof *strays);
    for (size_t i = 0; lab_ok(s->lab) && i < f->lines; i++)
        strays[i] = fabs(again[i] - f->alone[part][i]);
    f->strays =
        fmax(f->strays, stats_quantile(strays, f->lines, 1 - 1.0 / DISTURBED));
    f->first = f->last;
}

/* The part that a line is nearer to. */
static size_t home_of(const struct slices *s, const struct field *f, size_t i)
{
    return s->parts == PARTS && f->alone[1][i] < f->alone[0][i];
}

/* ---- slices ------------------------------------------------------------- */

/* The slice of lines that wait together: that of most of them, or another. */
static int slice_of(const struct field *f, const bool *waits)
{
    size_t votes[SLICES_MOST + 1] = {0};
    int slice = (int)f->slices;
    for (size_t i = 0; i < f->lines; i++)
        if (waits[i])
            votes[f->slice[i] == UNSORTED ? f->slices : (size_t)f->slice[i]]++;
    for (size_t i = 0; i < f->slices; i++)
        if (votes[i] > votes[slice])
            slice = (int)i;
    return slice;
}

/* The lines of its part that wait for the hot one: an eighth of what its own
 * atomics do, and twice as long as atomics stray.  False if even these wait
 * hardly any longer. */
static bool sort_by(const struct slices *s, struct field *f, size_t hot)
{
    const size_t part = home_of(s, f, hot);
    const double *const cycles = ask_lines(
        s, f, part,
        lab_text(s->lab, " hammers=%s hot=%zu", s->hammers[part], hot));
    const double own = cycles[hot] - f->alone[part][hot];
    const double cut = fmax(own / 8, 2 * f->strays);
    bool *const waits = lab_alloc(s->lab, f->lines, sizeof *waits);
    if (!lab_ok(s->lab) || own <= 0 || own < 2 * cut)
        return false;
    f->waits = f->slices == 0 ? own : fmin(f->waits, own);
    for (size_t i = 0; i < f->lines; i++) {
        const double more = cycles[i] - f->alone[part][i];
        waits[i] = home_of(s, f, i) == part && more >= cut;
        f->unclear += home_of(s, f, i) == part && more >= cut / 2 && more < cut;
    }
    const int slice = slice_of(f, waits);
    for (size_t i = 0; i < f->lines; i++) {
        const bool other = f->slice[i] != UNSORTED && f->slice[i] != slice;
        f->twice += waits[i] && other;
        f->torn[i] = f->torn[i] || (waits[i] && other);
        if (waits[i] && f->slice[i] == UNSORTED)
            f->slice[i] = slice;
    }
    f->slices += (size_t)slice == f->slices;
    return true;
}

/* Sorts all lines; NULL, or why that came to no end. */
static const char *sort_lines(const struct slices *s, struct field *f)
{
    f->slice = lab_alloc(s->lab, f->lines, sizeof *f->slice);
    f->torn = lab_alloc(s->lab, f->lines, sizeof *f->torn);
    for (size_t i = 0; i < f->lines; i++)
        f->slice[i] = UNSORTED;
    for (size_t part = 0; part < s->parts; part++)
        ask_alone(s, f, part);
    for (size_t i = 0; lab_ok(s->lab) && i < f->lines; i++) {
        if (f->slice[i] != UNSORTED)
            continue;
        if (f->slices == SLICES_MOST)
            return why_slices_many;
        f->unclear += !sort_by(s, f, i);
        if (f->slices == 0 && f->unclear == ALONE_MOST)
            return why_atomics_alone;
        if (f->slices > 0 && DISTURBED * (f->twice + f->unclear) > f->lines)
            return why_slices_mixed;
    }
    return f->slices <= s->parts ? why_slices_one : NULL;
}

/* ---- bits --------------------------------------------------------------- */

static uint64_t address_of(const struct field *f, size_t i)
{
    return i * f->step & (f->bytes - 1);
}

/* Whether they leave of equal slices what no further XOR would tell apart: of
 * an even rest one would, and a line in a wrong slice hides it. */
static bool are_all_masks(const struct field *f, size_t masks)
{
    return f->slices % ((size_t)1 << masks) == 0 &&
           (f->slices >> masks) % 2 == 1;
}

/* The masks of lines that are constant within each slice, but for lines that
 * waited for two; 0: not known, or there are none. */
static size_t find_masks(const struct field *f, struct index_function *masks)
{
    uint64_t first[SLICES_MOST];
    bool seen[SLICES_MOST] = {false};
    index_function_begin(masks, 0);
    for (size_t i = 0; i < f->lines; i++) {
        const uint64_t line = address_of(f, i) / UNIT;
        const int slice = f->slice[i];
        if (slice == UNSORTED || f->torn[i])
            continue;
        if (seen[slice])
            index_function_add(masks, line ^ first[slice], true);
        else
            first[slice] = line;
        seen[slice] = true;
    }
    index_function_solve(masks, f->bytes / UNIT - 1);
    return masks->since >= SURE && are_all_masks(f, masks->masks) ? masks->masks
                                                                  : 0;
}

static struct value value_of_masks(const struct index_function *masks)
{
    struct value list = value_list();
    for (size_t i = 0; i < masks->masks; i++)
        value_push(&list, value_bits(masks->mask[i] * UNIT));
    return list;
}

static bool report_bits(const struct slices *s, const struct field *f)
{
    struct index_function masks;
    const size_t count = find_masks(f, &masks);
    if (count > 0) {
        struct finding *const found = lab_finding(s->lab, "l2", "slice_bits");
        finding_cite(found, f->last);
        finding_value(found, STATUS_MEASURED, value_of_masks(&masks));
        finding_protocol(found, "bits_below",
                         value_number(__builtin_ctzll(f->bytes)));
        finding_protocol(found, "lines", value_number((double)f->lines));
    }
    index_function_end(&masks);
    return count > 0;
}

/* ---- the study ---------------------------------------------------------- */

/* Of each slice. */
static const size_t *count_lines(const struct slices *s, const struct field *f)
{
    size_t *const lines = lab_alloc(s->lab, f->slices, sizeof *lines);
    for (size_t i = 0; i < f->lines; i++)
        if (f->slice[i] != UNSORTED)
            lines[f->slice[i]]++;
    return lines;
}

static double lines_each(const struct field *f)
{
    return (double)f->lines / (double)f->slices;
}

static size_t fewest_of(const struct slices *s, const struct field *f)
{
    const size_t *const lines = count_lines(s, f);
    size_t fewest = f->lines;
    for (size_t i = 0; i < f->slices; i++)
        fewest = u64_min(fewest, lines[i]);
    return fewest;
}

/* The chance that one of as many equal slices holds so few lines or fewer, by
 * Poisson's law; small where slices are not equal, and one may have none. */
static double chance_of_fewest(const struct field *f, size_t fewest)
{
    const double mean = lines_each(f), least = (double)fewest;
    double chance = 0;
    /* From its largest term down: the first is 0 of a mean above 745. */
    double term = exp(least * log(mean) - mean - lgamma(least + 1));
    for (size_t k = fewest + 1; k-- > 0; term *= (double)k / mean)
        chance += term;
    return chance * (double)f->slices;
}

static struct spread spread_of(const struct slices *s, const struct field *f)
{
    const size_t *const lines = count_lines(s, f);
    struct spread spread = {.freedom = f->slices - 1, .fields = 1};
    for (size_t i = 0; i < f->slices; i++)
        spread.squares +=
            pow((double)lines[i] - lines_each(f), 2) / lines_each(f);
    return spread;
}

/* Equal steps may keep step with what deals lines to slices: then some get few
 * and some none, as hardly ever by chance.  So many times what chance gives the
 * variance of a slice's lines is at most, in 19 of 20 cases: 1.645 deviations.
 * Chi-squared by Wilson and Hilferty (1931); its root of one degree is 0.16,
 * where theirs is 0.003. */
static double unevenness(const struct spread *s)
{
    const double degrees = (double)s->freedom, part = 2 / (9 * degrees);
    const double root = fmax(1 - part - 1.645 * sqrt(part), 0.1);
    return s->squares / (degrees * pow(root, 3));
}

/* The chance that in all these fields a slice has none of the lines: that of a
 * negative binomial law of this mean and variance; at least Poisson's. */
static double chance_of_none(const struct field *f)
{
    const double mean = lines_each(f), uneven = unevenness(&f->spread);
    const double one =
        uneven > 1 ? exp(-mean * log(uneven) / (uneven - 1)) : exp(-mean);
    return pow((double)f->slices * one, (double)f->spread.fields);
}

/* Whether some lines are in each slice.  Of few slices, unevenness is hardly
 * known. */
static bool are_all_met(const struct field *f)
{
    return chance_of_none(f) < UNEQUAL &&
           (f->slices > SLICES_FEW || f->spread.fields > 1);
}

/* Beside as many that others tell of; 0: none do. */
static void report_slices(const struct slices *s, const struct field *f,
                          size_t others)
{
    const size_t fewest = fewest_of(s, f);
    struct finding *const found = lab_finding(s->lab, "l2", "slices");
    finding_cite(found, f->first);
    finding_cite(found, f->last);
    finding_measured(found, (double)f->slices);
    finding_protocol(found, "lines", value_number((double)f->lines));
    finding_protocol(found, "bytes", value_number((double)f->bytes));
    finding_protocol(found, "fewest_lines", value_number((double)fewest));
    finding_protocol(found, "waits", value_number(f->waits));
    finding_protocol(found, "strays", value_number(f->strays));
    if (f->lines < LINES_EACH * f->slices || !are_all_met(f) ||
        chance_of_fewest(f, fewest) < UNEQUAL) {
        finding_value(found, STATUS_AT_LEAST, value_number((double)f->slices));
        finding_because(found, why_slices_crowded, f->lines, f->slices);
    } else if (others > 0 && others != f->slices) {
        finding_value(found, STATUS_IN_DOUBT, value_number((double)f->slices));
        finding_interval(found, (double)u64_min(f->slices, others),
                         (double)u64_max(f->slices, others), -1);
        finding_because(found, why_slices_unlike, others, f->slices);
    }
}

/* An odd number of lines, about the golden part of all: however few of them are
 * far apart; or about parts of which that is nearly so, for other lines. */
static struct field field_of(uint64_t bytes, size_t lines, size_t which)
{
    static const double part[FIELDS_MOST] = {
        0.6180339887, 0.4142135624, 0.3027756377, 0.1925824036, 0.1622776602};
    const uint64_t all = bytes / UNIT;
    return (struct field){.bytes = bytes,
                          .step = ((uint64_t)(part[which] * (double)all) | 1) *
                                  UNIT,
                          .lines = u64_min(lines, all / 2),
                          .laps = LAPS};
}

/* Addresses far apart may cost more by themselves, as where pages have windows
 * or TLBs hold few, and what hammers read may lie in another window: then
 * nearer ones are asked, and those of one page, and each more often. */
enum { NEARER = 32 };

/* What line 0 costs in turn with one `step` from it. */
static double cost_beside(const struct slices *s, const struct field *f,
                          uint64_t step)
{
    struct field two = {
        .bytes = f->bytes, .step = step, .lines = 2, .laps = LAPS_AGAIN};
    return ask_lines(
        &(struct slices){
            .lab = s->lab, .timers = {"0"}, .warps = 1, .flight = 1},
        &two, 0, "")[0];
}

/* True if a line costs more in turn with one that differs in the lowest of
 * these bits than with one nearby, by an eighth at least: bits of a window, for
 * a TLB has both translations. */
static bool is_window(const struct slices *s, const struct field *f,
                      uint64_t bits)
{
    const double near = cost_beside(s, f, LINE),
                 far = cost_beside(s, f, bits & -bits);
    return far > near + near / 8;
}

/* True if an XOR of bits above a page is one for all lines of each slice.  What
 * no window explains may still be slices: *others. */
static bool is_misled(const struct slices *s, const struct field *f,
                      size_t *others)
{
    struct index_function masks;
    uint64_t high = 0;
    if (find_masks(f, &masks) > 0)
        high = UNIT * index_function_without(&masks, (HOMES_PAGE - 1) / UNIT);
    index_function_end(&masks);
    if (high != 0 && !is_window(s, f, high))
        *others = u64_max(*others, f->slices);
    return high != 0;
}

static const char *sort_nearer(const struct slices *s, struct field *f,
                               uint64_t bytes, size_t lines, size_t *others)
{
    const char *why = why_slices_mixed;
    bool misled = true;
    for (uint64_t now = bytes, before = 0;
         lab_ok(s->lab) && misled && now != before;
         before = now, now = u64_max(now / NEARER, HOMES_PAGE)) {
        *f = field_of(now, lines, 0);
        f->laps = before == 0 ? LAPS : LAPS_AGAIN;
        why = sort_lines(s, f);
        misled =
            why == why_slices_mixed || (why == NULL && is_misled(s, f, others));
    }
    return why;
}

/* Takes what other lines tell, if it is of more slices, or of as many more
 * evenly.  Of fewer: those lines missed some, and tell nothing. */
static void take_other(const struct slices *s, struct field *all,
                       struct field *other)
{
    if (other->slices < all->slices)
        return;
    other->spread = spread_of(s, other);
    if (other->slices == all->slices) {
        other->spread.squares += all->spread.squares;
        other->spread.freedom += all->spread.freedom;
        other->spread.fields += all->spread.fields;
    }
    all->spread = other->spread;
    if (other->slices > all->slices || fewest_of(s, other) > fewest_of(s, all))
        *all = *other;
}

/* Of many slices one may have none of so many lines, and is not counted: then
 * others are sorted, too, and the most slices that any lines show are there. */
static void sort_others(const struct slices *s, struct field *all)
{
    all->spread = spread_of(s, all);
    for (size_t i = 1; i < FIELDS_MOST && !are_all_met(all); i++) {
        struct field other = field_of(all->bytes, all->lines, i);
        other.laps = all->laps;
        if (all->lines < LINES_EACH * all->slices)
            return;
        /* What these do not tell takes nothing from what the others told. */
        const char *const why = sort_lines(s, &other);
        if (lab_excuse(s->lab) != NULL)
            return;
        if (why == NULL)
            take_other(s, all, &other);
    }
}

/* Whether so few slices are those that a page has lines of. */
static bool tells_fewer(const struct slices *s, const struct field *page,
                        const struct field *all)
{
    return page->slices < all->slices &&
           page->lines >= LINES_EACH * all->slices &&
           chance_of_fewest(page, fewest_of(s, page)) >= UNEQUAL;
}

/* If far lines tell none, of those of a page, which may tell of fewer slices.
 */
static void report_bits_of(const struct slices *s, const struct field *all,
                           size_t lines, size_t *others)
{
    /* An odd number of equal ones is no multiple of what one XOR tells apart.
     */
    if (all->slices % 2 == 1) {
        lab_absent(s->lab, "l2", "slice_bits");
        return;
    }
    if (report_bits(s, all))
        return;
    struct field page = field_of(HOMES_PAGE, lines, 0);
    page.laps = all->laps;
    const char *why = why_slices_no_bits;
    if (all->bytes > HOMES_PAGE)
        why = sort_lines(s, &page);
    if (!lab_ok(s->lab))
        return;
    if (why == NULL && tells_fewer(s, &page, all))
        *others = page.slices;
    if (why == NULL && report_bits(s, &page))
        return;
    lab_refuse(s->lab, "*.slice_bits", "%s",
               why != NULL ? why : why_slices_no_bits);
    lab_cite_none(s->lab, "*.slice_bits", page.last);
}

static void ask_slices(const struct slices *s, uint64_t bytes, size_t lines)
{
    struct field all;
    size_t others = 0;
    const char *why = sort_nearer(s, &all, bytes, lines, &others);
    if (!lab_ok(s->lab))
        return;
    if (why != NULL) {
        lab_leave_open(s->lab, why);
        lab_cite_none(s->lab, "*", all.last);
        return;
    }
    sort_others(s, &all);
    lab_finding(s->lab, "l2", "slices"); /* stands before its bits */
    report_bits_of(s, &all, lines, &others);
    report_slices(s, &all, others);
}

/* Of these SMs every second one times, and the others hammer; false if there
 * are no two. */
static bool deal_sms(struct slices *s, size_t part, const bool *in, size_t sms)
{
    bool *const half[] = {lab_alloc(s->lab, sms, 1), lab_alloc(s->lab, sms, 1)};
    size_t count = 0;
    for (size_t sm = 0; sm < sms; sm++)
        if (in[sm])
            half[count++ % 2][sm] = true;
    s->timing[part] = (count + 1) / 2;
    s->timers[part] = arena_adopt(&s->lab->memory, text_ranges(half[0], sms));
    s->hammers[part] = arena_adopt(&s->lab->memory, text_ranges(half[1], sms));
    s->flight = (unsigned)u64_within(
        1, UNDER_WAY / (u64_max(count / 2, 1) * s->warps), FLIGHT_MOST);
    return count > 1;
}

static bool deal_parts(struct slices *s)
{
    const struct fact_sides *const sides = fact_sides(s->lab);
    const size_t sms = lab_sms(s->lab);
    bool *const in = lab_alloc(s->lab, sms, sizeof *in);
    for (size_t part = 0; part < s->parts; part++) {
        for (size_t sm = 0; sm < sms; sm++)
            in[sm] = s->parts == 1;
        if (s->parts == PARTS && !text_to_set(sides->sms[part], in, sms))
            return false;
        if (!deal_sms(s, part, in, sms))
            return false;
    }
    return true;
}

static void slices_run(struct lab *lab)
{
    const struct fact_bracket *const bracket = fact_bracket(lab, LEVEL_L2);
    struct slices s = {.lab = lab,
                       .parts = fact_sides(lab)->parts,
                       .warps = lab_warps(lab, WARPS)};
    const uint64_t memory =
        device_told(lab->info, PROPERTY_MEMORY_BYTES, SPAN_MOST);
    uint64_t bytes = HOMES_PAGE;
    while (bytes < SPAN_MOST && bytes < memory / 3)
        bytes *= 2;
    if (!bracket->present)
        lab_leave_open(lab, bracket->why);
    else if (s.parts == 0)
        lab_leave_open(lab, lab_why_unknown(lab, "l2", "parts"));
    else if (!deal_parts(&s))
        lab_leave_open(lab, why_one_sm);
    else
        ask_slices(&s, bytes, u64_min(LINES_MOST, bracket->fits / LINE / ROOM));
}

const struct study study_slices = {
    .name = "slices",
    .question = "How many slices has L2, and which address bits choose them?",
    .method = "Some SMs send atomics to one line without a pause; atomics on "
              "lines of its slice wait for them.  Ever another line is the hot "
              "one, until each line is in a slice.  XORs of address bits that "
              "are one for all lines of each slice choose among slices.",
    .reads = reads,
    .answers = answers,
    .kernels = kernels,
    .run = slices_run,
};
