/* `sonde bench 'SNIPPET'`: what instructions of the user's cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command/levels.h"
#include "cli/gpus/session.h"
#include "cli/say.h"

enum { SNIPPET_MOST = 1 << 16 };

static int measure(struct sonde *session, const void *context,
                   struct sonde_error *err)
{
    return sonde_bench(session, context, err);
}

/* All of a file, or of standard input for "-"; NULL after saying why not.  The
 * caller frees. */
static char *read_snippet(const char *path)
{
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *const text = calloc(1, SNIPPET_MOST + 1);
    if (text == NULL)
        exit(say_no_memory()); /* nothing is begun yet */
    const size_t length = file != NULL ? fread(text, 1, SNIPPET_MOST, file) : 0;
    const char *why = NULL;
    if (file == NULL || ferror(file))
        why = "cannot be read";
    else if (length == SNIPPET_MOST)
        why = "is too long for a snippet (64 KiB)";
    else if (memchr(text, '\0', length) != NULL)
        why = "is not text";
    if (file != NULL && file != stdin)
        fclose(file);
    if (why == NULL)
        return text;
    say("%s %s", path, why);
    free(text);
    return NULL;
}

/* Not given it is what saturates. */
static bool in_range(const struct options *o, uint64_t option, const char *name,
                     uint64_t number, unsigned most)
{
    if ((o->given & option) == 0 || (number > 0 && number <= most))
        return true;
    say("--%s can be 1 to %u", name, most);
    return false;
}

static int bench_snippet(const struct options *o, const char *snippet)
{
    struct sonde_bench wish = {
        .snippet = snippet,
        .setup = o->init,
        .values = o->values,
        .form = o->copies,
        .chains = (unsigned)o->chains,
        .warps = (unsigned)o->warps,
        .parallelism = o->parallelism > 0,
    };
    if (!levels_read(o->levels, &wish.levels))
        return 2;
    return session_measure_with(o, measure, &wish, "table");
}

/* What has no ';' is no instruction. */
static bool names_file(const char *word)
{
    const char *const end = strrchr(word, '.');
    return strchr(word, ';') == NULL &&
           (strchr(word, '/') != NULL ||
            (end != NULL && strcmp(end, ".ptx") == 0));
}

static int bench_run(const struct options *o)
{
    const bool from_file = o->file != NULL || (o->word_count == 1 &&
                                               strcmp(o->words[0], "-") == 0);
    if (!in_range(o, OPTION_BIT(CHAINS), "chains", o->chains, 8) ||
        !in_range(o, OPTION_BIT(WARPS), "warps", o->warps, 32))
        return 2;
    if ((o->word_count == 1) == (o->file != NULL)) {
        say("bench takes a snippet: sonde bench 'add.u32 %%r0, %%r0, %%r1;', "
            "or --file FILE, or - for standard input");
        return 2;
    }
    if (!from_file && names_file(o->words[0])) {
        say("'%s' is no instruction; a file is read by --file %s", o->words[0],
            o->words[0]);
        return 2;
    }
    if (!from_file)
        return bench_snippet(o, o->words[0]);
    char *const text = read_snippet(o->file != NULL ? o->file : "-");
    const int status = text != NULL ? bench_snippet(o, text) : 2;
    free(text);
    return status;
}

const struct command command_bench = {
    .name = "bench",
    .arguments = "SNIPPET",
    .summary = "measure what PTX of your own costs",
    .help =
        "Measures one or more PTX instructions as sonde isa does its own:\n"
        "latency through the registers that they read and write, throughput,\n"
        "machine code.  Registers are declared from their names:\n"
        "\n"
        "    %r0 32 bits   %rd0 64 bits   %f0 .f32   %fd0 .f64\n"
        "    %h0 16 bits   %p0 predicate\n"
        "\n"
        "%rd_shared and %rd_global are addresses of scratch memory (16 KiB\n"
        "and 1 MiB, zeros).  --init gives instructions that run before,\n"
        "--values what registers begin with.  Copies that the assembler folds\n"
        "are not a measurement and are said to be not verified; --copies\n"
        "guard or swap may keep them apart.  The snippet can come from a file\n"
        "or, with -, from standard input; instructions that nvcc -ptx printed\n"
        "are taken with their .reg lines, braces, labels and comments.\n"
        "\n"
        "    sonde bench 'fma.rn.f32 %f0, %f0, %f1, %f2;'\n"
        "    sonde bench 'xor.b32 %r0, %r0, %r1;' --copies guard\n"
        "    sonde bench 'ld.shared.u64 %rd0, [%rd0];' \\\n"
        "      --init 'st.shared.u64 [%rd_shared], %rd_shared; \\\n"
        "              mov.u64 %rd0, %rd_shared;'\n"
        "    sonde bench --file snippet.ptx --levels 3 --warps 8 --chains 2\n"
        "    sonde bench '{ .reg .f32 x; mul.f32 x, %f0, %f0; add.f32 %f0, x, "
        "x; }'\n"
        "\n"
        "See also: sonde isa (the table), sonde probe isa (one experiment).",
    .options = OPTIONS_OF_RUNS | OPTION_BIT(LEVELS) | OPTION_BIT(PARALLELISM) |
               OPTION_BIT(INIT) | OPTION_BIT(VALUES) | OPTION_BIT(COPIES) |
               OPTION_BIT(FILE) | OPTION_BIT(CHAINS) | OPTION_BIT(WARPS),
    .words_most = 1,
    .run = bench_run,
};
