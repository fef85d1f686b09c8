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
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    char *const plain = sonde_plain(text);
    if (plain == NULL)
        keep_ascii(text);
    progress_clear();
    fprintf(stderr, "sonde: %s%s%s\n", said_of != NULL ? said_of : "",
            said_of != NULL ? ": " : "", plain != NULL ? plain : text);
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
