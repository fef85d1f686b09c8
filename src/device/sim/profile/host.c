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
    {"latency_ns", NANOSECONDS(host_link, latency_ns), .least = 1, REQUIRED,
     .help = "of a load from a kernel that no cache has"},
    {"atomic_ns", NANOSECONDS(host_link, atomic_ns), .fallback = -1,
     .help = "of an atomic; 0: it takes none", .otherwise = "as a load"},
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
    {"fetched", REAL(host_link, fetched, 1), .least = 0.01, .fallback = 1,
     .help = "share of its rate that a copy alone between GPUs has, if the GPU "
             "that it comes to makes it"},
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
    if (link->atomic_ns < 0)
        link->atomic_ns = link->latency_ns;
    if (link->both < wider || link->both > sum)
        schema_fail_at(r, "both",
                       "must be from %g, what the wider way has alone, to %g, "
                       "their sum",
                       wider, sum);
}

static const struct schema link_schema = {"link", link_rows, check_link};

/* ---- ways between GPUs ------------------------------------------------- */

/* A link, seen from the first of its GPUs; or a switch, from each of them. */
struct between {
    struct host_link link;
    unsigned count, gpus[HOST_GPUS_MOST];
    struct host_link ports[HOST_GPUS_MOST]; /* of the switch, by GPU */
    double total;
};

struct port {
    uint64_t gpu;
    double to_gpu, from_gpu;
};

/* The GPUs that are named, each once. */
static void read_members(struct schema_reader *r, json_t *value, void *into)
{
    struct between *const b = into;
    const struct host *const host = r->whole;
    const size_t count = json_array_size(value);
    if (count < 2 || count > host->count) {
        schema_fail(r, "must be a list of 2 to %u GPUs of the host",
                    host->count);
        return;
    }
    for (size_t i = 0; i < count && !r->failed; i++) {
        b->gpus[i] = (unsigned)schema_whole(r, json_array_get(value, i), 0,
                                            host->count - 1);
        for (size_t k = 0; k < i && !r->failed; k++)
            if (b->gpus[k] == b->gpus[i])
                schema_fail(r, "has GPU %u twice", b->gpus[i]);
    }
    b->count = (unsigned)count;
}

static const struct schema_row link_between_rows[] = {
    {"gpus", CALL(read_members), REQUIRED,
     .help = "two GPUs, by their numbers; the rest is seen from the first"},
    {.key = NULL, ALSO(link_schema)},
    {0},
};
static const struct schema link_between_schema = {
    "link_between", link_between_rows, check_link};

static const struct schema_row port_rows[] = {
    {"gpu", WHOLE(port, gpu, 0, HOST_GPUS_MOST - 1), REQUIRED,
     .help = "which GPU's way to the switch it is"},
    {"to_gpu", PER_SECOND(port, to_gpu), REQUIRED,
     .help = "its rates in place of those of the switch"},
    {"from_gpu", PER_SECOND(port, from_gpu), REQUIRED},
    {0},
};
static const struct schema port_schema = {"port", port_rows, NULL};

static void read_ports(struct schema_reader *r, json_t *value, void *into)
{
    struct between *const b = into;
    const json_t *item;
    size_t i;
    if (!json_is_array(value))
        schema_fail(r, "must be a list");
    json_array_foreach(value, i, item)
    {
        struct port port = {0};
        schema_read(r, json_array_get(value, i), &port_schema, &port);
        if (r->failed)
            return;
        b->ports[port.gpu].to_gpu = port.to_gpu;
        b->ports[port.gpu].from_gpu = port.from_gpu;
    }
}

static const struct schema_row switch_rows[] = {
    {"gpus", CALL(read_members), REQUIRED,
     .help = "the GPUs at it; the rest is seen from each, and a pair has what "
             "the narrower of its two ways has"},
    {.key = NULL, ALSO(link_schema)},
    {"total", PER_SECOND(between, total), .fallback = 0,
     .help = "what it passes on at once, of all that copy through it",
     .otherwise = "any number"},
    {"ports", CALL(read_ports), .object = &port_schema,
     .help = "ways that are not as the others", .otherwise = "none"},
    {0},
};
static const struct schema switch_schema = {"switch", switch_rows, check_link};

static double narrower(double a, double b)
{
    return a < b ? a : b;
}

static void connect(struct host *host, unsigned from, unsigned to,
                    const struct host_link *link, unsigned through)
{
    host->through[from][to] = host->through[to][from] = (unsigned char)through;
    host->peers[from][to] = *link;
    host->peers[to][from] = *link;
    host->peers[to][from].to_gpu = link->from_gpu;
    host->peers[to][from].from_gpu = link->to_gpu;
}

static struct host_link port_of(const struct between *b, unsigned gpu)
{
    struct host_link port = b->link;
    if (b->ports[gpu].to_gpu > 0) {
        port.to_gpu = b->ports[gpu].to_gpu;
        port.from_gpu = b->ports[gpu].from_gpu;
        port.both = narrower(port.both, port.to_gpu + port.from_gpu);
    }
    return port;
}

/* Of a link, whose two GPUs have no ports of their own, the link itself. */
static void connect_pair(struct host *host, const struct between *b,
                         unsigned from, unsigned to, unsigned through)
{
    const struct host_link own = port_of(b, from), other = port_of(b, to);
    struct host_link link = own;
    if (through > 0) {
        link.to_gpu = narrower(own.to_gpu, other.from_gpu);
        link.from_gpu = narrower(own.from_gpu, other.to_gpu);
        link.both = narrower(narrower(own.both, other.both),
                             link.to_gpu + link.from_gpu);
    }
    connect(host, from, to, &link, through);
}

/* Its number, from 1 on. */
static unsigned add_switch(struct schema_reader *r, struct host *host,
                           const struct between *b)
{
    if (host->switch_count == HOST_SWITCHES_MOST) {
        schema_fail(r, "must be at most %d", HOST_SWITCHES_MOST);
        return 0;
    }
    struct host_switch *const s = &host->switches[host->switch_count++];
    s->total = b->total;
    for (unsigned i = 0; i < b->count; i++)
        s->ports[b->gpus[i]] = port_of(b, b->gpus[i]);
    return host->switch_count;
}

static void read_between(struct schema_reader *r, json_t *value,
                         struct host *host, const struct schema *schema)
{
    const bool switched = schema == &switch_schema;
    if (!json_is_array(value))
        schema_fail(r, "must be a list");
    for (size_t n = 0; n < json_array_size(value) && !r->failed; n++) {
        struct between b = {0};
        schema_read(r, json_array_get(value, n), schema, &b);
        if (!r->failed && !switched && b.count != 2)
            schema_fail(r, "joins two GPUs, and not %u", b.count);
        const unsigned through =
            switched && !r->failed ? add_switch(r, host, &b) : 0;
        for (unsigned i = 0; !r->failed && i < b.count; i++)
            for (unsigned k = i + 1; k < b.count; k++)
                connect_pair(host, &b, b.gpus[i], b.gpus[k], through);
    }
}

static void read_links(struct schema_reader *r, json_t *value, void *into)
{
    read_between(r, value, into, &link_between_schema);
}

static void read_switches(struct schema_reader *r, json_t *value, void *into)
{
    read_between(r, value, into, &switch_schema);
}

/* ---- what is told ------------------------------------------------------- */

#define WIRES_MOST 64

static const struct schema_row told_rows[] = {
#define WIRE(id, name, text)                                                   \
    {name, REAL(host, told[WIRE_##id], WIRES_MOST), .fallback = -1,            \
     .help = text, .otherwise = "not told"},
#include "device/wires.def"
#undef WIRE
    {0},
};
static const struct schema told_schema = {"told", told_rows, NULL};

static const struct schema_row host_rows[] = {
    {"name", TEXT(host, name), REQUIRED, .help = "what it is"},
    {"source", TEXT(host, source), .help = "where the numbers are from"},
    {"gpus", CALL(read_gpus), REQUIRED,
     .help = "profiles of its GPUs, in order"},
    {"memory", OBJECT(link_schema), SCHEMA_AT(host, memory), REQUIRED,
     .help = "the way of each GPU to the host's memory"},
    {"uneven", REAL(host, uneven, 0.9),
     .help = "share by which a copy of the host's memory has less, at most"},
    {"pageable_to_gpu", PER_SECOND(host, pageable_to_gpu), .fallback = 0,
     .help = "copies of memory that is not pinned", .otherwise = "as pinned"},
    {"pageable_from_gpu", PER_SECOND(host, pageable_from_gpu), .fallback = 0,
     .otherwise = "as pinned"},
    {.key = NULL, ALSO(told_schema)},
    {"links", CALL(read_links), .object = &link_between_schema,
     .help = "between two GPUs each", .otherwise = "none"},
    {"switches", CALL(read_switches), .object = &switch_schema,
     .help = "between several", .otherwise = "none"},
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
    int status =
        text == NULL || !is_host(text) ? 0 : host_parse(text, name, host, err);
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

unsigned host_gpus(const char *what, const char *folder)
{
    struct host *host;
    struct error ignored;
    unsigned gpu;
    char *const name = xstrdup(what);
    cut_number(name);
    const bool whole = strcmp(name, what) == 0;
    free(name);
    if (!whole || host_open(what, folder, &host, &gpu, &ignored) != 0 ||
        host == NULL)
        return 0;
    const unsigned count = host->count;
    free(host);
    return count;
}
