#include "probe/walk/homes.h"

#include <string.h>

#include "probe/run/pin.h"

int homes_prepare(struct homes *h, uint64_t sector, struct error *err)
{
    h->pages = strlen(h->sides);
    if ((h->bits == 0) != (h->pages == 0) || h->pages > HOMES_MOST ||
        strspn(h->sides, "01") != h->pages || h->bits % sector != 0)
        return error_set(err, ERR_USAGE, "home goes with homes of %d pages",
                         HOMES_MOST);
    for (size_t i = 0; i < h->pages; i++)
        h->table[i] = h->sides[i] == '1';
    return 0;
}

int homes_check(const struct homes *h, uint64_t span, struct error *err)
{
    return h->bits > 0 && 2 * span > h->pages << HOMES_PAGE_BITS
               ? error_set(err, ERR_USAGE, "places beyond the pages of homes")
               : 0;
}

void homes_declare(struct kernel_text *k, const struct homes *h, int word)
{
    if (h->bits == 0)
        return;
    ptx(k, ".reg .b64 %homes, %number, %above;");
    pin_job_word(k, "%homes", word);
}

/* Room is made for the lowest of the bits, which is put in as the others and
 * the page want it. */
static void write_place(struct kernel_text *k, const struct homes *h)
{
    const uint64_t lowest = h->bits & -h->bits;
    ptx_with(k,
             "mov.u64 %number, %offset;\n"
             "and.b64 %above, %offset, $above;\n"
             "add.u64 %offset, %offset, %above;\n"
             "shr.u64 %next, %offset, $page;\n"
             "add.u64 %next, %homes, %next;\n"
             "ld.global.ca.u8 %t0, [%next];\n"
             "and.b64 %above, %offset, $bits;\n"
             "popc.b64 %at32, %above;\n"
             "xor.b32 %t0, %t0, %at32;\n"
             "and.b32 %t0, %t0, 1;\n"
             "mad.wide.u32 %offset, %t0, $lowest, %offset;\n",
             WORD(above, ~(lowest - 1)), WORD(page, HOMES_PAGE_BITS),
             WORD(bits, h->bits), WORD(lowest, lowest));
}

const char *homes_address(struct kernel_text *k, const struct homes *h,
                          const struct space *space)
{
    if (h->bits == 0)
        return space_address(k, space);
    write_place(k, h);
    const char *const address = space_address(k, space);
    ptx(k, "mov.u64 %offset, %number;");
    return address;
}
