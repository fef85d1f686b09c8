/*
 * A tree of boxes: what each says, and, once it is laid out, where it is.  All
 * of it lives in one arena.
 *
 * A box has a title, rows, and children, in this order from the top.  Rows
 * stand in as many columns as there is room for.  Children stand beside each
 * other while there is room, then below; a line of them fills its width.
 */
#ifndef SONDE_REPORT_PICTURE_BOX_H
#define SONDE_REPORT_PICTURE_BOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

/* How far it holds what is said, the worse the later. */
enum mark { MARK_PLAIN, MARK_BOUND, MARK_DOUBT, MARK_MISSING, MARK_COUNT };

struct place {
    double x, y, width, height;
};

struct row {
    const char *label, *text;
    const char *tip; /* NULL: none; lines end in \n */
    enum mark mark;
    bool warning; /* it is to be read first */
    struct place place;
    double indent; /* of the text, behind the label */
};

struct box {
    const char *kind;      /* what it is; NULL: is not drawn, only holds */
    const char *component; /* whose findings it shows; NULL: nobody's */
    const char *title;     /* NULL: none */
    const char *note;      /* beside the title; NULL: none */
    const char *tip;       /* NULL: none */
    enum mark mark;
    double side;     /* > 0: a small square, with its title in it */
    bool wide;       /* stands in a line of its own */
    bool one_line;   /* what it holds stands in one line */
    bool tight;      /* what it holds is near its edge */
    size_t abreast;  /* so many children in a line, if there is room; 0: all */
    struct row *row; /* in the arena, row_count of them */
    size_t row_count;
    struct box *first, *last, *next; /* children; the next of the same */
    struct place place;              /* set by box_lay */
};

struct box *box_new(struct arena *arena, const char *kind);
/* As the last child of `parent`; returns the child, which may be NULL. */
struct box *box_add(struct box *parent, struct box *child);
struct row *box_row(struct arena *arena, struct box *box);

/* Gives the box the width, and it and all in it places from 0, 0 on. */
void box_lay(struct box *box, double width);

/* Lengths, in units of the picture. */
enum { BOX_PAD = 8, BOX_GAP = 8, TITLE_SIZE = 16, TITLE_LINE = 24 };
enum { ROW_SIZE = 14, ROW_LINE = 20, SMALL_GAP = 3, SMALL_SIZE = 10 };
/* What bold characters are wider. */
#define BOLD 1.13

/* At most what a text takes in the widest of the fonts that are asked for. */
double text_extent(const char *text, double size);
/* The same of a title, which is bold. */
double title_extent(const char *title);
/* How many bytes of the text fit, without parting a character. */
size_t text_fitting(const char *text, double size, double width);

#endif
