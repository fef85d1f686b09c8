#include "cli/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "sonde.h"

static const char *said_of;

void say_of(const char *whom)
{
    said_of = whom;
}

/* What is left where there is no memory for more. */
static void keep_ascii(char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

void say(const char *fmt, ...)
{
    char brief[2048]; /* all that is said where there is no memory for more */
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int length = vsnprintf(brief, sizeof brief, fmt, args);
    char *const whole =
        length >= (int)sizeof brief ? malloc((size_t)length + 1) : NULL;
    if (whole != NULL)
        vsnprintf(whole, (size_t)length + 1, fmt, again);
    va_end(again);
    va_end(args);
    char *const plain = sonde_plain(whole != NULL ? whole : brief);
    if (plain == NULL)
        keep_ascii(brief);
    progress_clear();
    fprintf(stderr, "sonde: %s%s%s\n", said_of != NULL ? said_of : "",
            said_of != NULL ? ": " : "", plain != NULL ? plain : brief);
    free(whole);
    free(plain);
}

int say_no_memory(void)
{
    enum { CUT_SHORT = 1 };
    say("the host is out of memory");
    return CUT_SHORT;
}

int say_result(const char *text)
{
    fputs(text, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno == EPIPE) /* `sonde | head` has seen enough */
        return 0;
    say("cannot write to standard output: %s", strerror(errno));
    return 2;
}
