/* What the tool says: results on standard output, all else on standard error.
 */
#ifndef SONDE_CLI_SAY_H
#define SONDE_CLI_SAY_H

/* "sonde: …" on standard error, in one line; control characters, which may
 * come from files, are written out. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whom all is of that is said from now on, as "cuda:1"; it is not copied. */
void say_of(const char *whom);

/* Says that the host is out of memory.  Returns the exit status. */
int say_no_memory(void);

/* Writes results to standard output at once.  Returns an exit status: 0 also
 * if nobody reads them any more, 2 if they could not be written. */
int say_result(const char *text);

#endif
