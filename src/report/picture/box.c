#include "report/picture/box.h"

#include <string.h>

struct box *box_new(struct arena *arena, const char *kind)
{
    struct box *const box = arena_alloc(arena, 1, sizeof *box);
    box->kind = kind;
    return box;
}

struct box *box_add(struct box *parent, struct box *child)
{
    if (child == NULL)
        return NULL;
    if (parent->last != NULL)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    return child;
}

struct row *box_row(struct arena *arena, struct box *box)
{
    struct row *const row = arena_alloc(arena, box->row_count + 1, sizeof *row);
    if (box->row_count > 0)
        memcpy(row, box->row, box->row_count * sizeof *row);
    box->row = row;
    return &row[box->row_count++];
}

/* Shares of an em that characters take in DejaVu Sans, the widest of the usual
 * fonts without serifs, rounded up to a few kinds. */
static double character_width(unsigned char c)
{
    if (c >= 0x80) /* the first byte of a longer one */
        return c >= 0xe3 ? 1 : 0.84;
    if (strchr("ijlI.,:;'|!", c) != NULL)
        return 0.35;
    if (strchr("ftr ()[]/-\"", c) != NULL)
        return 0.42;
    if (strchr("mMwW@%&+=<>~#", c) != NULL)
        return 0.99;
    return c >= 'A' && c <= 'Z' ? 0.78 : 0.64;
}

static bool goes_on(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

double text_extent(const char *text, double size)
{
    double width = 0;
    for (; *text != '\0'; text++)
        width += goes_on(*text) ? 0 : character_width((unsigned char)*text);
    return width * size;
}

double title_extent(const char *title)
{
    return text_extent(title, TITLE_SIZE * BOLD);
}

size_t text_fitting(const char *text, double size, double width)
{
    size_t fits = 0;
    for (size_t i = 0; text[i] != '\0'; fits = i) {
        width -= character_width((unsigned char)text[i]) * size;
        if (width < 0)
            break;
        for (i++; goes_on(text[i]);)
            i++;
    }
    return fits;
}
