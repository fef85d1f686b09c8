#include "unit/cubins.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "testing.h"

const char *const cubin_names[] = {
    "chain",  "chain-sm_75", "chain-sm_120", "folded", "loose",
    "merged", "moved",       "replaced",     "uneven", NULL};

char *cubin_path(const char *name)
{
    return xasprintf("tests/data/sass/%s.cubin", name);
}

struct buf cubin_bytes(const char *name)
{
    struct buf bytes = {0};
    struct error err;
    char *const path = cubin_path(name);
    ASSERT_DONE(file_read(path, 1 << 20, &bytes, &err), err);
    free(path);
    return bytes;
}

struct listing cubin_listing(const char *name)
{
    struct listing listing;
    struct error err;
    struct buf bytes = cubin_bytes(name);
    ASSERT_DONE(listing_read(bytes.data, bytes.length, "timed", &listing, &err),
                err);
    buf_free(&bytes);
    return listing;
}
