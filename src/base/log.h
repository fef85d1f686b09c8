/*
 * What the library wants to say beside its results.  It does not print: the
 * tool installs a sink, and decides by level what is shown.
 */
#ifndef SONDE_BASE_LOG_H
#define SONDE_BASE_LOG_H

enum log_level { LOG_WARN, LOG_INFO, LOG_DEBUG };

typedef void log_sink(enum log_level level, const char *text);

/* NULL silences.  Set once, before threads start. */
void log_to(log_sink *sink);
void log_say(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
