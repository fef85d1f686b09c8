#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static log_sink *current;

void log_to(log_sink *sink)
{
    current = sink;
}

void log_say(enum log_level level, const char *fmt, ...)
{
    if (current == NULL)
        return;
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    current(level, text);
}
