/*
 * The string of a cache, as gpu-cache.h reads it:
 *
 *   <N|S>:<sets>:<line>:<ways>,<policy>:<write>:<allocate>:<write allocate>:
 *   <index>,<MSHR>:<entries>:<merges>,<queue>:<fifo>,<port>
 *
 * Sonde measures the first six but for writing: what a cache does with writes,
 * its MSHRs and queues no study asks.  A string has all or is none, so each is
 * a comment, with what Accel-Sim's tuner and its template
 * (util/tuner/config_template) have for the rest, ready to be uncommented.
 */
#include "report/export/accelsim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/export/index_name.h"
#include "report/export/known.h"

void accelsim_comment(const struct accelsim *out, const char *text)
{
    page_line(&out->page, &(struct line){.rail = "#", .text = text});
}

struct cache_option {
    const char *option, *component;
    const char *writing; /* write, allocate, write allocate */
    const char *queues;  /* from the MSHRs on */
    const char *note;    /* NULL: none */
    bool sliced;         /* the sets are of all slices */
};

static const struct cache_option cache_options[] = {
    {"-gpgpu_cache:dl1", "l1", "T:m:L", "A:512:8,16:0,32",
     "With -gpgpu_adaptive_cache_config 1 ways are scaled to what shared "
     "memory leaves.",
     false},
    {"-gpgpu_cache:dl2", "l2", "B:m:L", "A:192:4,32:0,32",
     "Sets and index are of one slice, and of addresses without those bits "
     "that "
     "choose the slice.",
     true},
    {"-gpgpu_const_cache:l1", "const_l1", "R:f:N", "S:2:64,4",
     "Without effect where -gpgpu_perfect_inst_const_cache is 1.", false},
    {"-gpgpu_tex_cache:l1", "texture", "R:m:N", "T:512:8,128:2", NULL, false},
    {"-gpgpu_cache:il1", "icache_l1", "R:f:N", "S:2:48,4",
     "Accel-Sim has one cache of code, of an SM, and no next one. Without "
     "effect where -gpgpu_perfect_inst_const_cache is 1.",
     false},
};

/* ---- geometry ---------------------------------------------------------- */

enum part { SETS, LINE, WAYS, SECTOR, PART_COUNT };
static const char *const part_names[PART_COUNT] = {"sets", "line", "ways",
                                                   "sector"};

/* "l1.sets"; the caller frees. */
static char *id_of(const struct cache_option *c, const char *attribute)
{
    struct buf id = {0};
    buf_printf(&id, "%s.%s", c->component, attribute);
    return buf_take(&id);
}

static bool known_part(const struct accelsim *out, const struct cache_option *c,
                       const char *attribute, double *number)
{
    char *const id = id_of(c, attribute);
    const bool yes = known_number(out->results, id, number);
    free(id);
    return yes;
}

static void say_part(struct buf *text, const struct accelsim *out,
                     const struct cache_option *c, const char *attribute)
{
    char *const id = id_of(c, attribute);
    if (text->length > 0)
        buf_text(text, "; ");
    known_say(text, out->results, id);
    free(id);
}

/* Sets of all slices become those of one, if these are known. */
static void sets_of_slice(struct buf *missing, const struct accelsim *out,
                          const struct cache_option *c, double *part)
{
    double slices;
    if (!known_part(out, c, "slices", &slices))
        say_part(missing, out, c, "slices");
    else if (slices < 1 || fmod(part[SETS], slices) > 0)
        buf_printf(missing, "%.10g sets do not go into %.10g slices",
                   part[SETS], slices);
    else
        part[SETS] /= slices;
}

/* What is missing of the geometry, if something is.  Caches of code show no
 * sectors: they are of whole lines. */
static void geometry(struct buf *missing, const struct accelsim *out,
                     const struct cache_option *c, double *part)
{
    for (int i = 0; i < SECTOR; i++)
        if (!known_part(out, c, part_names[i], &part[i]))
            say_part(missing, out, c, part_names[i]);
    if (strncmp(c->component, "icache", 6) == 0)
        part[SECTOR] = part[LINE];
    else if (!known_part(out, c, part_names[SECTOR], &part[SECTOR]))
        say_part(missing, out, c, part_names[SECTOR]);
    if (c->sliced && missing->length == 0)
        sets_of_slice(missing, out, c, part);
}

static bool is_power(double n)
{
    return n >= 1 && n <= 1u << 20 && ((unsigned)n & ((unsigned)n - 1)) == 0 &&
           !(fmod(n, 1) > 0);
}

/* 'N' of whole lines; 'S' of sectors of 32 B, four to a line, which is all that
 * the reader knows; 0: none. */
static char type_letter(const double *part)
{
    if (!islessgreater(part[SECTOR], part[LINE]))
        return 'N';
    return !islessgreater(part[LINE], 128) && !islessgreater(part[SECTOR], 32)
               ? 'S'
               : '\0';
}

static const char *inexpressible(const double *part)
{
    if (!is_power(part[SETS]))
        return "the reader masks the set's number, so that sets must be a "
               "power "
               "of two";
    if (!is_power(part[LINE]))
        return "lines must be a power of two";
    if (type_letter(part) == '\0')
        return "sectors must be lines, or 32 B of lines of 128 B";
    return part[WAYS] >= 1 && part[WAYS] <= 1u << 20 ? NULL : "no ways";
}

/* ---- policy and index -------------------------------------------------- */

static char policy_letter(const struct accelsim *out,
                          const struct cache_option *c, struct buf *text)
{
    static const struct {
        const char *policy;
        char letter;
    } letters[] = {{"lru", 'L'}, {"fifo", 'F'}};
    char *const id = id_of(c, "policy");
    const char *const word = known_word(out->results, id);
    char letter = '?';
    for (size_t i = 0; word != NULL && i < COUNT_OF(letters); i++)
        if (strcmp(word, letters[i].policy) == 0)
            letter = letters[i].letter;
    say_part(text, out, c, "policy");
    if (word != NULL && letter == '?')
        buf_text(text, ", which is neither of the reader's (L is LRU, F FIFO)");
    free(id);
    return letter;
}

static char index_letter(const struct accelsim *out,
                         const struct cache_option *c, const double *part,
                         struct buf *text)
{
    char *const id = id_of(c, "set_bits");
    const struct finding *const f = known(out->results, id);
    const char letter =
        c->sliced ? '?'
                  : index_name(f, (unsigned)part[LINE], (unsigned)part[SETS]);
    if (!islessgreater(part[SETS], 1))
        buf_text(text, "; one set, so that any index is right");
    else if (f == NULL || letter != '?')
        say_part(text, out, c, "set_bits");
    else
        buf_printf(text, "; %s is none of the reader's functions (L, X, P, H)",
                   id);
    free(id);
    return islessgreater(part[SETS], 1) ? letter : 'L';
}

/* ---- writing ----------------------------------------------------------- */

static void put_string(const struct accelsim *out, const struct cache_option *c,
                       const double *part)
{
    struct buf text = {0};
    for (int i = 0; i < SECTOR; i++)
        say_part(&text, out, c, part_names[i]);
    const char policy = policy_letter(out, c, &text);
    const char index = index_letter(out, c, part, &text);
    if (c->note != NULL)
        buf_printf(&text, ". %s", c->note);
    accelsim_comment(out, buf_string(&text));
    buf_printf(out->page.out, "#%s %c:%.0f:%.0f:%.0f,%c:%s:%c,%s\n", c->option,
               type_letter(part), part[SETS], part[LINE], part[WAYS], policy,
               c->writing, index, c->queues);
    buf_free(&text);
}

static void put_cache(const struct accelsim *out, const struct cache_option *c)
{
    double part[PART_COUNT];
    struct buf missing = {0}, text = {0};
    geometry(&missing, out, c, part);
    const char *const why = missing.length == 0 ? inexpressible(part) : NULL;
    if (missing.length == 0 && why == NULL) {
        put_string(out, c, part);
        return;
    }
    buf_printf(&text, "%s is not %s: ", c->option,
               missing.length > 0 ? "known" : "expressed");
    if (why != NULL)
        for (int i = 0; i < SECTOR; i++)
            say_part(&missing, out, c, part_names[i]);
    buf_text(&text, buf_string(&missing));
    if (why != NULL)
        buf_printf(&text, "; %s", why);
    accelsim_comment(out, buf_string(&text));
    buf_free(&missing);
    buf_free(&text);
}

/* Accel-Sim's cache of code is one of an SM: where the nearest is not, the
 * next. */
static struct cache_option code_cache(const struct accelsim *out,
                                      const struct cache_option *c)
{
    double copies;
    struct cache_option code = *c;
    if (known_number(out->results, "icache_l0.per_sm", &copies) &&
        !islessgreater(copies, 1))
        code.component = "icache_l0";
    return code;
}

void accelsim_caches(const struct accelsim *out)
{
    buf_text(out->page.out, "\n");
    accelsim_comment(
        out, "Caches: <type>:<sets>:<line>:<ways>,<policy>:<write>:<allocate>:"
             "<write allocate>:<index>,<MSHR>:<entries>:<merges>,<queue>... A "
             "string has all of these, and how a cache writes, its MSHRs and "
             "its queues are not measured: they are as Accel-Sim's tuner has "
             "them, and the strings are comments. '?' is what is not known, "
             "or has no letter.");
    for (size_t i = 0; i < COUNT_OF(cache_options); i++) {
        const struct cache_option c =
            strcmp(cache_options[i].component, "icache_l1") == 0
                ? code_cache(out, &cache_options[i])
                : cache_options[i];
        put_cache(out, &c);
    }
}
