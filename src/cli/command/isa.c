/* `sonde isa [PATTERN...]`: what instructions cost. */
#include "cli/command.h"
#include "cli/command/levels.h"
#include "cli/gpus/session.h"
#include "cli/say.h"

static int measure(struct sonde *session, const void *context,
                   struct sonde_error *err)
{
    return sonde_isa(session, context, err);
}

static int explain(struct sonde *session, const void *context, char **text,
                   struct sonde_error *err)
{
    const struct sonde_isa *const wish = context;
    return sonde_isa_explain(session, wish->patterns[0], wish->levels, text,
                             err);
}

/* What --explain shows is text of one instruction: nothing is found, so there
 * is nothing to write, to require or to cut short. */
static bool explains_alone(const struct options *o)
{
    static const unsigned others[] = {
        OPTION_JSON,   OPTION_CSV,    OPTION_HTML,
        OPTION_OUTPUT, OPTION_AS,     OPTION_REQUIRE,
        OPTION_STRICT, OPTION_BUDGET, OPTION_PARALLELISM};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (o->given >> others[i] & 1) {
            say("--explain and --%s cannot be given together: it shows how one "
                "cost came about, as text",
                option_rows[others[i]].name);
            return false;
        }
    return true;
}

static int isa_run(const struct options *o)
{
    struct sonde_isa wish = {
        .patterns = o->words,
        .pattern_count = o->word_count,
        .parallelism = o->parallelism > 0,
    };
    if (!levels_read(o->levels, &wish.levels))
        return 2;
    if (o->explain == 0)
        return session_measure_with(o, measure, &wish, "table");
    if (!explains_alone(o))
        return 2;
    if (o->word_count == 1)
        return session_print_with(o, explain, &wish);
    say("--explain takes one instruction, as in sonde isa --explain add.u32");
    return 2;
}

const struct command command_isa = {
    .name = "isa",
    .arguments = "[PATTERN...]",
    .summary = "measure what PTX instructions cost",
    .help =
        "Measures latency at each level of the assembler and throughput of\n"
        "the instructions that match: names (add.u32), globs ('cvt.*'),\n"
        "beginnings up to a dot (add) or categories (integer); all without\n"
        "one, shown as a row a category (-v: each).  The machine code of what\n"
        "was timed is read: a number stands only where it holds as many of\n"
        "the expected instruction and nothing that hides their latency.\n"
        "\n"
        "Latency is in cycles of a dependent copy; throughput in results of\n"
        "lanes per cycle and SM.  A number with ~ spread, one with > is a\n"
        "bound, - was not measured.\n"
        "\n"
        "    sonde isa\n"
        "    sonde isa add mad single -d cuda:0 --levels 0,1,2,3,4\n"
        "    sonde isa -o isa.costs.csv --json isa.json\n"
        "    sonde isa fma.rn.f32 --parallelism\n"
        "    sonde isa --explain add.u32\n"
        "\n"
        "See also: sonde list instructions, sonde bench (of your own).",
    .options = OPTIONS_OF_RUNS | OPTION_BIT(BUDGET) | OPTION_BIT(LEVELS) |
               OPTION_BIT(PARALLELISM) | OPTION_BIT(EXPLAIN),
    .words_most = WORDS_ANY,
    .run = isa_run,
};
