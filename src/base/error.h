/*
 * Errors: a code that a program can branch on, and one sentence that the
 * user can act on.
 *
 * A function that can fail returns 0 or a negative `enum error_code`, and
 * takes a `struct error *` that is never NULL.  Broken invariants are no
 * errors: they stop the program.  Where the host is out of memory nobody looks,
 * but whoever guards the work (see mem.h).
 */
#ifndef SONDE_BASE_ERROR_H
#define SONDE_BASE_ERROR_H

/* X(name, value, exit status of the tool) */
#define ERROR_CODES(X)                                                         \
    X(ERR_USAGE, -1, 2)                                                        \
    X(ERR_FILE, -2, 2)                                                         \
    X(ERR_NO_DEVICE, -3, 3)                                                    \
    X(ERR_DEVICE, -4, 4)                                                       \
    X(ERR_DEADLINE, -5, 4)                                                     \
    X(ERR_PTX, -6, 4)                                                          \
    X(ERR_DEVICE_MEMORY, -7, 4)                                                \
    X(ERR_UNSUPPORTED, -8, 1)                                                  \
    X(ERR_NOT_RECORDED, -9, 2)                                                 \
    X(ERR_INTERRUPTED, -10, 1)

enum error_code {
#define X(name, value, status) name = value,
    ERROR_CODES(X)
#undef X
};

enum { ERROR_TEXT_MAX = 1024 };

struct error {
    int code;
    char text[ERROR_TEXT_MAX];
};

/* Replaces what `err` said; returns `code`, so `return error_set(…)` reads.
 * Control characters, as words from outside may have, do not get into it. */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "PREFIX: " in front of the sentence; returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Exit status of the tool for a code (0 for 0). */
int error_exit_status(int code);

#endif
