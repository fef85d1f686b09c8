#include "ptx/sass/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ptx/sass/cubin.h"

static void find_clocks(struct listing *l)
{
    l->clocks = xcalloc(l->count + 1, sizeof *l->clocks);
    l->clock_count = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->code[i].clock)
            l->clocks[l->clock_count++] = i;
}

int listing_read(const void *file, size_t length, const char *kernel,
                 struct listing *listing, struct error *err)
{
    struct cubin cubin;
    if (cubin_read(file, length, kernel, &cubin, err) != 0)
        return err->code;
    return listing_text(cubin.text, cubin.bytes, cubin.sm, listing, err);
}

int listing_text(const unsigned char *text, size_t bytes, unsigned sm,
                 struct listing *listing, struct error *err)
{
    if (sm < SASS_SM)
        return error_set(err, ERR_UNSUPPORTED,
                         "machine code not read: that of sm_%u is not known, "
                         "only that of sm_%d and later",
                         sm, SASS_SM);
    listing->sm = sm;
    listing->code = sass_read_all(text, bytes, sm, &listing->count);
    find_clocks(listing);
    return 0;
}

void listing_free(struct listing *listing)
{
    free(listing->code);
    free(listing->clocks);
    *listing = (struct listing){0};
}

struct code_span listing_region(const struct listing *l, size_t k)
{
    if (k + 1 >= l->clock_count)
        return (struct code_span){0};
    const size_t first = l->clocks[k] + 1;
    return (struct code_span){l->code + first, l->clocks[k + 1] - first};
}

struct code_span listing_whole(const struct listing *l)
{
    return (struct code_span){l->code, l->count};
}

/* How many from the first on have its form. */
static size_t run_length(struct code_span span)
{
    size_t n = 1;
    while (n < span.count && strcmp(span.at[n].form, span.at->form) == 0)
        n++;
    return n;
}

void code_span_write(struct code_span span, struct buf *out)
{
    for (const char *gap = ""; span.count > 0; gap = " ") {
        const size_t run = run_length(span);
        buf_printf(out, "%s%s", gap, span.at->form);
        if (run > 1)
            buf_printf(out, "×%zu", run);
        span.at += run;
        span.count -= run;
    }
}

static struct tally_row *row_of(struct tally *tally, const char *form)
{
    for (size_t i = 0; i < tally->count; i++)
        if (strcmp(tally->rows[i].form, form) == 0)
            return &tally->rows[i];
    tally->rows =
        xreallocarray(tally->rows, tally->count + 1, sizeof *tally->rows);
    tally->rows[tally->count] = (struct tally_row){form, 0};
    return &tally->rows[tally->count++];
}

struct tally code_span_tally(struct code_span span)
{
    struct tally tally = {0};
    for (size_t i = 0; i < span.count; i++)
        row_of(&tally, span.at[i].form)->count++;
    return tally;
}

void tally_free(struct tally *tally)
{
    free(tally->rows);
    *tally = (struct tally){0};
}
