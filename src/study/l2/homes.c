#include "study/l2/homes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/statistics/two_sided.h"
#include "analysis/statistics/xor_bits.h"
#include "study/script.h"

/* Lines of a page, whose two halves lie 4.1 standard errors apart if no line is
 * late; pages of a script; and how often a page is asked. */
enum { LINES = 24, PAGES_AT_ONCE = 64, TRIES = 8, LEAD = 13 };
/* As in sides.c: chance does so once in a thousand. */
static const double errors_least = 3.3;

uint64_t homes_step(uint64_t line, uint64_t bits, uint64_t bytes,
                    uint64_t count)
{
    const uint64_t most = (bytes / count / line - 2) | 1;
    for (uint64_t lines = most; lines > most / 2; lines -= 2) {
        uint64_t odd = 0;
        for (uint64_t i = 0; i < count; i++)
            odd += xor_bits_of(i * lines * line, bits);
        /* Means of three eighths and of five are as far apart as those of
         * halves but for 3 % of the error: sqrt(1/9 + 1/15) for sqrt(2/12). */
        if (8 * odd >= 3 * count && 8 * odd <= 5 * count)
            return lines * line;
    }
    return most * line;
}

/* Atomics bring lines of each page to their homes, twice, so that they stay;
 * then SM 0 finds them near or far. */
static const char *script_of(struct lab *lab, uint64_t first, size_t pages,
                             uint64_t step)
{
    struct script script = {0};
    const size_t home = script_reader(&script, "atomic@0.0");
    const size_t near = script_reader(&script, "global.cg@0.0");
    for (size_t i = 0; i < pages; i++) {
        const struct segment lines = {(first + i) * HOMES_PAGE, LINES, step};
        script_add(&script, &(struct script_step){
                                .reader = home, .laps = 2, .places = lines});
        script_time(&script, near, lines);
    }
    return script_text(&script, lab);
}

/* '1': lines of odd parity are near, '0': those of even, ' ': it is not clear.
 */
static char side_of(const struct column *cycles, size_t page, uint64_t bits,
                    uint64_t step)
{
    struct two_sided_vote vote;
    bool odd[LINES];
    for (size_t i = 0; i < LINES; i++)
        odd[i] = xor_bits_of(i * step, bits);
    two_sided_vote(cycles->at + page * LINES, odd, LINES, &vote);
    return fabs(vote.errors) < errors_least ? ' ' : vote.errors < 0 ? '1' : '0';
}

/* Some pages: which lines are nearer.  Where their translations do not last,
 * what these cost hides it; then another line nearby, as that so many lines
 * aside, brings each before its line is timed. */
struct some_pages {
    size_t first, count;
    unsigned take; /* the first does without */
};

static void ask_pages(struct lab *lab, uint64_t line, uint64_t bits,
                      const struct some_pages *some, char *sides)
{
    const size_t first = some->first, pages = some->count;
    const uint64_t step = homes_step(line, bits, HOMES_PAGE, LINES);
    const char *text = script_of(lab, first, pages, step);
    if (some->take > 0)
        text = lab_text(lab, "%s lead=%" PRIu64 " take=%u", text, LEAD * line,
                        some->take);
    const struct column cycles = lab_column(lab, "cycles", "visit %s", text);
    for (size_t i = 0; lab_ok(lab) && i < pages; i++)
        if (sides[first + i] == ' ')
            sides[first + i] = side_of(&cycles, i, bits, step);
}

const char *homes_learn(struct lab *lab, uint64_t line, size_t pages)
{
    const uint64_t bits = fact_sides(lab)->bits;
    char *const sides = lab_alloc(lab, pages + 1, 1);
    memset(sides, ' ', pages);
    for (size_t at = 0; at < pages; at += PAGES_AT_ONCE) {
        const size_t count =
            pages - at < PAGES_AT_ONCE ? pages - at : PAGES_AT_ONCE;
        for (unsigned i = 0;
             lab_ok(lab) && i < TRIES && memchr(sides + at, ' ', count) != NULL;
             i++)
            ask_pages(lab, line, bits, &(struct some_pages){at, count, i},
                      sides);
    }
    return lab_ok(lab) && strchr(sides, ' ') == NULL ? sides : NULL;
}

uint64_t homes_place(uint64_t bits, const char *sides, uint64_t number)
{
    const uint64_t lowest = bits & -bits,
                   place = number + (number & ~(lowest - 1));
    const bool odd = sides[place / HOMES_PAGE] == '1';
    return xor_bits_of(place, bits) == odd ? place : place + lowest;
}

const char *homes_words(struct lab *lab, const char *sides, int side)
{
    char *const text = lab_text(lab, "home=%" PRIu64 " homes=%s",
                                fact_sides(lab)->bits, sides);
    for (char *at = strrchr(text, '=') + 1; side > 0 && *at != '\0'; at++)
        *at = *at == '0' ? '1' : '0';
    return text;
}
