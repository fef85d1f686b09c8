/* What is declared in host.h. */
#include "device/sim/profile/host.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "device/sim/profile/profile_keys.h"
#include "device/sim/profile/shipped.h"

#define BANDWIDTH_MOST 1e13 /* B/s: ten times any link's of 2026 */
#define NS_MOST        1e6

#define PER_SECOND(type, member)                                               \
    REAL(type, member, BANDWIDTH_MOST), .least = 1e6, .unit = "B/s"
#define NANOSECONDS(type, member) REAL(type, member, NS_MOST), .unit = "ns"

/* ---- keys -------------------------------------------------------------- */

static void read_gpus(struct schema_reader *r, json_t *value, void *into)
{
    struct host *const host = into;
    const size_t count = json_array_size(value);
    if (count == 0 || count > HOST_GPUS_MOST) {
        schema_fail(r, "must be a list of 1 to %d names of profiles",
                    HOST_GPUS_MOST);
        return;
    }
    host->count = (unsigned)count;
    for (size_t i = 0; i < count && !r->failed; i++)
        schema_text(r, json_array_get(value, i), host->gpus[i],
                    sizeof host->gpus[i]);
}

static const struct schema_row link_rows[] = {
    {"latency_ns", NANOSECONDS(host_link, latency_ns), REQUIRED,
     .help = "of a load from a kernel that no cache has"},
    {"to_gpu", PER_SECOND(host_link, to_gpu), REQUIRED,
     .help = "what the GPU reads, or is sent, in a second"},
    {"from_gpu", PER_SECOND(host_link, from_gpu), REQUIRED,
     .help = "what the GPU writes, or sends"},
    {"both", PER_SECOND(host_link, both), .fallback = 0,
     .help = "both ways together; where copies go both ways at once, each has "
             "its share",
     .otherwise = "the sum"},
    {"copy_ns", NANOSECONDS(host_link, copy_ns),
     .help = "from the beginning of a copy to its first byte"},
    {"l1_keeps", BOOL(host_link, l1_keeps),
     .help = "whether L1 keeps what loads bring"},
    {"l2_keeps", BOOL(host_link, l2_keeps),
     .help = "whether the reader's L2 does"},
    {0},
};

static void check_link(struct schema_reader *r, void *into)
{
    struct host_link *const link = into;
    const double sum = link->to_gpu + link->from_gpu;
    const double wider =
        link->to_gpu > link->from_gpu ? link->to_gpu : link->from_gpu;
    if (link->both == 0)
        link->both = sum;
    if (link->both < wider || link->both > sum)
        schema_fail_at(r, "both",
                       "must be from %g, what the wider way has alone, to %g, "
                       "their sum",
                       wider, sum);
}

static const struct schema link_schema = {"link", link_rows, check_link};

static const struct schema_row host_rows[] = {
    {"name", TEXT(host, name), REQUIRED, .help = "what it is"},
    {"source", TEXT(host, source), .help = "where the numbers are from"},
    {"gpus", CALL(read_gpus), REQUIRED, .help = "profiles of its GPUs, in order"},
    {"memory", OBJECT(link_schema), SCHEMA_AT(host, memory), REQUIRED,
     .help = "the way of each GPU to the host's memory"},
    {"pageable_to_gpu", PER_SECOND(host, pageable_to_gpu), .fallback = 0,
     .help = "copies of memory that is not pinned", .otherwise = "as pinned"},
    {"pageable_from_gpu", PER_SECOND(host, pageable_from_gpu), .fallback = 0,
     .otherwise = "as pinned"},
    {0},
};

static void complete_host(struct schema_reader *r, void *into)
{
    struct host *const host = into;
    (void)r;
    if (host->pageable_to_gpu == 0)
        host->pageable_to_gpu = host->memory.to_gpu;
    if (host->pageable_from_gpu == 0)
        host->pageable_from_gpu = host->memory.from_gpu;
}

const struct schema host_schema = {"host", host_rows, complete_host};

int host_parse(const char *text, const char *where, struct host **host,
               struct error *err)
{
    struct host *const read = xcalloc(1, sizeof *read);
    const int status = schema_parse(text, where, &host_schema, read, err);
    if (status == 0)
        *host = read;
    else
        free(read);
    return status;
}

/* ---- names ------------------------------------------------------------- */

/* A profile has no GPUs in it.  What is no JSON, the reader of profiles says.
 */
static bool is_host(const char *text)
{
    json_t *const root = json_loads(text, 0, NULL);
    const bool is = json_object_get(root, "gpus") != NULL;
    json_decref(root);
    return is;
}

/* The text of what is called so; NULL: there is none. */
static char *text_of(const char *name, const char *folder)
{
    struct buf text = {0};
    struct error ignored;
    for (const struct shipped_profile *s = shipped_hosts; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return xstrdup(s->text);
    if (profile_read_file(name, folder, &text, &ignored) != 0)
        return NULL;
    return buf_take(&text);
}

/* ":1" behind a name, which ends before it; 0 without one. */
static unsigned cut_number(char *name)
{
    char *const colon = strrchr(name, ':');
    if (colon == NULL || colon[1] == '\0' ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return 0;
    *colon = '\0';
    return (unsigned)strtoul(colon + 1, NULL, 10);
}

int host_open(const char *what, const char *folder, struct host **host,
              unsigned *gpu, struct error *err)
{
    char *const name = xstrdup(what);
    *host = NULL;
    *gpu = cut_number(name);
    char *const text = text_of(name, folder);
    int status = text == NULL || !is_host(text)
                     ? 0
                     : host_parse(text, name, host, err);
    if (status == 0 && *host != NULL && *gpu >= (*host)->count) {
        status = error_set(err, ERR_NO_DEVICE,
                           "host '%s' has %u GPUs, from 0 on, and none of "
                           "number %u",
                           name, (*host)->count, *gpu);
        free(*host);
        *host = NULL;
    }
    free(text);
    free(name);
    return status;
}
