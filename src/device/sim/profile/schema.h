/*
 * A JSON object as rows of a table: each row has a key, what kind of value it
 * takes, from what to what, where the value goes in a struct, and a line of
 * help.  The reader takes exactly the keys that rows name; the lists of keys
 * in docs/profiles.md are printed from the same rows.
 *
 * Objects nest: a row points to the table of the object that it takes.  What
 * is irregular has a function of its own, which reads with the functions
 * below.  Rows are read in their order, so a function may use what earlier
 * rows brought.  The first failure, an ERR_FILE "FILE: KEY.PATH what is wrong",
 * sticks: no further row is read, no further failure said, and a number that
 * could not be read is the least that it may be.
 */
#ifndef SONDE_DEVICE_SIM_PROFILE_SCHEMA_H
#define SONDE_DEVICE_SIM_PROFILE_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum schema_kind {
    SCHEMA_END,    /* after the last row */
    SCHEMA_TEXT,   /* char[size] */
    SCHEMA_WHOLE,  /* a whole number: unsigned, uint64_t or int64_t */
    SCHEMA_POWER,  /* … that is a power of two, or 0 if it may be */
    SCHEMA_REAL,   /* double */
    SCHEMA_BOOL,   /* bool */
    SCHEMA_WORD,   /* one of few words, as its index: bool or enum */
    SCHEMA_NAME,   /* … of many: a complaint offers the nearest */
    SCHEMA_OBJECT, /* an object with a table of its own */
    SCHEMA_ALSO,   /* no key: the rows of that table are keys here too */
    SCHEMA_CALL,   /* a function reads it */
};

struct schema_reader {
    const char *where, *noun; /* "my.json", "profile" */
    char path[256];           /* "paths.global.ca.latency" */
    void *whole;              /* the struct of the outermost object */
    struct error *err;
    bool failed;
};

/* `into`: the struct of the object, or where a row says that its value goes. */
typedef void schema_read_fn(struct schema_reader *r, json_t *value, void *into);
typedef void schema_check_fn(struct schema_reader *r, void *into);

struct schema_row {
    const char *key;
    enum schema_kind kind;
    bool required;
    size_t offset, size;
    double least, most;
    double fallback;             /* of a number that is absent; -1: none */
    const char *const *words;    /* NULL ends them */
    const struct schema *object; /* SCHEMA_CALL: for the docs alone */
    schema_read_fn *read;

    /* For the docs.  `otherwise` and `range` stand in for the fallback and the
     * range where numbers do not tell them; a row without help shares the line
     * of the row before it. */
    const char *help, *unit, *otherwise, *range;
};

/* What is absent and has no fallback leaves its place as it was: zero. */
struct schema {
    const char *name; /* in the docs */
    const struct schema_row *rows;
    schema_check_fn *check; /* after all rows; may be NULL */
};

#define SCHEMA_AT(type, member)                                                \
    .offset = offsetof(struct type, member),                                   \
    .size = sizeof((struct type *)0)->member

/* The text is an object of the schema, whose name is what complaints call it;
 * it goes into `whole`, a struct of zeros, in part even if it fails. */
int schema_parse(const char *text, const char *where,
                 const struct schema *schema, void *whole, struct error *err);

/* For functions of rows. */
void schema_read(struct schema_reader *r, json_t *value,
                 const struct schema *schema, void *into);
/* … that is the value of `key`. */
void schema_read_at(struct schema_reader *r, const char *key, json_t *value,
                    const struct schema *schema, void *into);
/* Nothing is written where that fails. */
void schema_text(struct schema_reader *r, const json_t *value, char *text,
                 size_t size);
double schema_real(struct schema_reader *r, const json_t *value, double least,
                   double most);
uint64_t schema_whole(struct schema_reader *r, const json_t *value,
                      double least, double most);

/* Goes down to `key` in the path; returns what schema_leave needs. */
size_t schema_enter(struct schema_reader *r, const char *key);
void schema_leave(struct schema_reader *r, size_t up);
void schema_fail(struct schema_reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* … about a key of the object that it is at. */
void schema_fail_at(struct schema_reader *r, const char *key, const char *fmt,
                    ...) __attribute__((format(printf, 3, 4)));
/* … about a name, of which `known` has the nearest, if one is near. */
void schema_fail_name(struct schema_reader *r, const char *name,
                      const char *const *known, const char *what);
void schema_wrong_type(struct schema_reader *r, const char *wanted,
                       const json_t *value);

#endif
