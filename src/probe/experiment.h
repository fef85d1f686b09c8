/*
 * An experiment is a probe with its parameters, and it is text:
 *
 *     chase space=global op=ca bytes=4096 stride=128
 *
 * Studies, the command line, recordings and the evidence of findings all use
 * this text.  Its canonical form lists the parameters that differ from their
 * defaults, in the order of the probe's table, numbers in decimal; so the text
 * names the experiment and outlives changes of the kernels.  A value with
 * blanks stands in single quotes:
 *
 *     isa snippet='add.u32 %r0, %r0, %r1;' level=0
 *
 * Each parameter is a row of the probe's table, and the row says where in the
 * probe's own struct its value goes: the text is read once.
 */
#ifndef SONDE_PROBE_EXPERIMENT_H
#define SONDE_PROBE_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum param_kind {
    PARAM_NUMBER, /* decimal, 0x…, or with K, M, G */
    PARAM_WORD,   /* one of `words` */
    PARAM_LIST,   /* START:COUNT:STEP[,…]: segments of byte offsets */
    PARAM_TEXT,   /* any, which the probe itself reads */
};

struct param {
    const char *name; /* NULL ends a table */
    enum param_kind kind;
    const char *fallback; /* the default, as text */
    uint64_t least, most; /* PARAM_NUMBER */
    const char *const *words;
    const char *help; /* one line: what it is, its unit */
    /* Where in the probe's struct the value goes, and how large it is there;
     * 0 bytes: nowhere. */
    size_t offset, bytes;
};

/* clang-format off */
/* Rows of a table.  Each takes the parameter `field` of the struct `type`; the
 * first is for a field of another name, or inside of a field. */
#define PARAM_ROW(name, type, field, kind, fallback, least, most, words, help) \
    {name, kind, fallback, least, most, words, help,                           \
     offsetof(type, field), sizeof((type *)0)->field}
/* A number goes to an unsigned integer, or to a bool where it is 0 or 1. */
#define NUMBER(type, field, fallback, least, most, help)                       \
    PARAM_ROW(#field, type, field, PARAM_NUMBER, fallback, least, most, NULL,  \
              help)
/* One of `words` goes to an enum, or to a bool, as its index among them, or to
 * a `const char *`. */
#define CHOICE(type, field, fallback, words, help)                             \
    PARAM_ROW(#field, type, field, PARAM_WORD, fallback, 0, 0, words, help)
/* A text goes to a `const char *`. */
#define TEXT(type, field, fallback, help)                                      \
    PARAM_ROW(#field, type, field, PARAM_TEXT, fallback, 0, 0, NULL, help)
/* What the core reads itself: repetitions in place of the probe's own number of
 * them, and the level at which its kernel is assembled. */
#define REPEATS(most, help)                                                    \
    {"repeats", PARAM_NUMBER, "0", 0, most, NULL, help, 0, 0}
#define ASSEMBLER_LEVEL                                                        \
    {"level", PARAM_NUMBER, "3", 0, 4, NULL,                                   \
     "optimisation level of the assembler", 0, 0}
/* clang-format on */

enum { PARAMS_MAX = 32 };

struct segment {
    uint64_t start, count, step; /* bytes, elements, bytes */
};
/* Where the next element would be. */
static inline uint64_t segment_end(const struct segment *list)
{
    return list->start + list->count * list->step;
}
struct segments {
    struct segment *at;
    size_t count;
};

struct probe;

/* What a launch does of one repetition: all of it, or the piece of that index.
 */
struct piece {
    unsigned index, count; /* count 0: all, as 1 */
    bool brisk; /* what prepares it is to take little time, for it must fit a
                   turn of ours … */
    bool fresh; /* … and nothing is to be loaded before it is asked for */
    double room; /* loads from L2, one after the other, that take a quarter of
                    one */
};

struct experiment {
    const struct probe *probe;
    char *value[PARAMS_MAX]; /* canonical text of each parameter */
    void *own;               /* the probe's struct, with their values */
    bool prepared;           /* for a device; see probe_prepare() */
    struct piece piece;      /* that runs next; the prober's */
};

/* ERR_USAGE for an unknown probe or parameter (with the nearest name), a value
 * that is out of its range or not of its kind, or one given twice. */
int experiment_parse(const char *text, struct experiment *experiment,
                     struct error *err);
/* The same for one probe, of which the text has the parameters only. */
int experiment_parse_for(const struct probe *probe, const char *text,
                         struct experiment *experiment, struct error *err);
void experiment_free(struct experiment *experiment);
/* Canonical text; the caller frees. */
char *experiment_text(const struct experiment *experiment);

/* Where the piece that runs next begins, and ends, of so much work. */
uint64_t experiment_piece_begin(const struct experiment *e, uint64_t work);
uint64_t experiment_piece_end(const struct experiment *e, uint64_t work);

bool experiment_has(const struct experiment *e, const char *param);
/* A value; the parameter must be in the probe's table. */
uint64_t experiment_number(const struct experiment *e, const char *param);
/* A number that the text alone decides, for what is drawn at random: so the
 * experiment's name says which draw it was. */
uint64_t experiment_seed(const struct experiment *e);

#endif
