#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "sonde.h"

const struct option_row option_rows[] = {
#define OPTION(id, field, name, letter, argument, kind, help)                  \
    {name, letter, argument, OPTION_##kind, offsetof(struct options, field),   \
     help},
#include "cli/options.def"
#undef OPTION
};

/* getopt_long answers FIRST + row for a long option, and the letter for a
 * short one; the rows fit a set of bits. */
enum { FIRST = 256, LETTERS_MAX = 3 * OPTION_COUNT + 2 };
_Static_assert(OPTION_COUNT <= 64, "options fit OPTION_BIT");

static void tell_getopt(char *letters, struct option *longs)
{
    *letters++ = ':'; /* tells a missing argument from an unknown option */
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *const row = &option_rows[i];
        const bool takes = row->argument != NULL;
        longs[i] = (struct option){row->name, takes, NULL, FIRST + i};
        if (row->letter == 0)
            continue;
        *letters++ = row->letter;
        if (takes)
            *letters++ = ':';
    }
    *letters = '\0';
    longs[OPTION_COUNT] = (struct option){0};
}

static int row_of(int answer)
{
    if (answer >= FIRST)
        return answer - FIRST;
    int i = 0;
    while (i < OPTION_COUNT && option_rows[i].letter != answer)
        i++;
    return i;
}

static void *field_of(struct options *options, const struct option_row *row)
{
    return (char *)options + row->offset;
}

static bool take_whole(const struct option_row *row, const char *text,
                       uint64_t *whole)
{
    char *end;
    errno = 0;
    *whole = strtoull(text, &end, 0);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
        return true;
    say("--%s takes a whole number below 2^64, not '%s'", row->name, text);
    return false;
}

static bool take_seconds(const struct option_row *row, const char *text,
                         double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*seconds) && *seconds > 0)
        return true;
    say("--%s takes a number%s larger than 0, not '%s'", row->name,
        strcmp(row->argument, "SECONDS") == 0 ? " of seconds" : "", text);
    return false;
}

/* "2%" or "0.02". */
static bool take_share(const struct option_row *row, const char *text,
                       double *share)
{
    char *end;
    *share = strtod(text, &end);
    const bool percent = end != text && *end == '%';
    if (percent)
        *share /= 100;
    if (end != text && end[percent] == '\0' && isfinite(*share) && *share >= 0)
        return true;
    say("--%s takes a share, as 2%% or 0.02, not '%s'", row->name, text);
    return false;
}

/* A later GPU or colour may stand for one of an alias; of two files or
 * patterns one would be lost in silence. */
static bool may_change(const struct option_row *row)
{
    return strcmp(row->name, "device") == 0 || strcmp(row->name, "color") == 0;
}

static bool take_text(const struct option_row *row, const char *text,
                      const char **into)
{
    const char *const before = *into;
    *into = text;
    if (text[0] == '\0')
        say("--%s needs a value (%s) that is not empty", row->name,
            row->argument);
    else if (before != NULL && strcmp(before, text) != 0 && !may_change(row))
        say("--%s is given twice, as '%s' and as '%s'; give it once", row->name,
            before, text);
    else
        return true;
    return false;
}

static bool take(struct options *options, int index, const char *argument)
{
    const struct option_row *const row = &option_rows[index];
    void *const field = field_of(options, row);
    options->given |= UINT64_C(1) << index;
    switch (row->kind) {
    case OPTION_TEXT:
        return take_text(row, argument, field);
    case OPTION_WHOLE:
        return take_whole(row, argument, field);
    case OPTION_SECONDS:
        return take_seconds(row, argument, field);
    case OPTION_SHARE:
        return take_share(row, argument, field);
    case OPTION_FLAG:
        break;
    }
    *(unsigned *)field += 1;
    return true;
}

static bool unknown_long(const char *typed)
{
    char name[64];
    const char *names[OPTION_COUNT + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed, "="), typed);
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = option_rows[i].name;
    names[OPTION_COUNT] = NULL;
    const char *const nearest = sonde_nearest(name, names);
    if (nearest != NULL)
        say("there is no option --%s; did you mean --%s?", name, nearest);
    else
        say("there is no option --%s; sonde --help lists them", name);
    return false;
}

/* What getopt_long would not take: `answer` is its ':' or '?', `typed` the
 * word at which it stopped. */
static bool refuse(int answer, const char *typed)
{
    if (answer == '?' && optopt == 0)
        return unknown_long(typed + 2);
    const int index = row_of(optopt);
    if (index == OPTION_COUNT)
        say("there is no option -%c; sonde --help lists them", optopt);
    else if (answer == ':')
        say("--%s needs a value (%s)", option_rows[index].name,
            option_rows[index].argument);
    else
        say("--%s takes no value", option_rows[index].name);
    return false;
}

bool options_parse(int argc, char **argv, struct options *options)
{
    char letters[LETTERS_MAX];
    struct option longs[OPTION_COUNT + 1];
    tell_getopt(letters, longs);
    opterr = 0; /* our sentences, not getopt's */
    int answer;
    while ((answer = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (answer == '?' || answer == ':')
            return refuse(answer, argv[optind - 1]);
        if (!take(options, row_of(answer), optarg))
            return false;
    }
    const char *const device = getenv("SONDE_DEVICE");
    if (options->device == NULL && device != NULL && device[0] != '\0')
        options->device = device;
    options->words = (const char *const *)(argv + optind);
    options->word_count = (size_t)(argc - optind);
    return true;
}
