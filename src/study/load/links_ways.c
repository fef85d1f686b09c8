/* What is declared in links.h of any memory that is not the GPU's own. */
#include <inttypes.h>
#include <math.h>

#include "study/load/links.h"

/* ---- copies ------------------------------------------------------------ */

/* Copies in a row that are timed together.  One is to take so long that what
 * begins and ends it, a microsecond or two, is under half a percent. */
enum { COPY_TIMES = 8, COPY_LEAST = 8 << 20, COPY_MOST = 512 << 20 };
static const double copy_ns = 5e5;

/* How large one is then: a power of two, by what one of the least takes. */
static int copy_bytes(struct lab *lab, const char *from, const char *to)
{
    const double ns = lab_column_median(
        lab,
        lab_probe(lab, "copy from=%s to=%s bytes=%d", from, to, COPY_LEAST),
        "ns");
    int bytes = COPY_LEAST;
    while (lab_ok(lab) && bytes < COPY_MOST &&
           ns * bytes / COPY_LEAST < copy_ns)
        bytes *= 2;
    return bytes;
}

const struct samples *links_copy_alone(struct lab *lab, const char *from,
                                       const char *to)
{
    const int bytes = copy_bytes(lab, from, to);
    return lab_probe(lab, "copy from=%s to=%s bytes=%d times=%d", from, to,
                     bytes, COPY_TIMES);
}

struct column links_rates(struct lab *lab, const struct samples *s)
{
    struct column rates = lab_column_of(lab, s, "bytes");
    const struct column ns = lab_column_of(lab, s, "ns");
    for (size_t i = 0; i < rates.count; i++)
        rates.at[i] *= 1e9 / fmax(ns.at[i], 1);
    return rates;
}

const struct samples *links_copy_beside(struct lab *lab, const char *from,
                                        const char *to, const char *others)
{
    enum { AGAINST = 2 * COPY_TIMES, AGAINST_MOST = 16 * COPY_TIMES };
    const int bytes = copy_bytes(lab, from, to);
    const struct samples *s = NULL;
    double least = -1;
    for (int against = AGAINST;
         lab_ok(lab) && least < 0 && against <= AGAINST_MOST; against *= 2) {
        s = lab_probe(lab,
                      "copy from=%s to=%s bytes=%d times=%d against=%d "
                      "others=%s",
                      from, to, bytes, COPY_TIMES, against, others);
        const struct column over = lab_column_of(lab, s, "over");
        least = lab_ok(lab) ? stats_min(over.at, over.count) : 0;
    }
    return least < 0 ? NULL : s;
}

double links_copy_of(struct lab *lab, const char *from, const char *to,
                     uint64_t bytes, const char **experiment)
{
    const struct column rates =
        links_rates(lab, lab_probe(lab, "copy from=%s to=%s bytes=%" PRIu64,
                                   from, to, bytes));
    *experiment = rates.experiment;
    return lab_ok(lab) ? stats_median(rates.at, rates.count) : 0;
}

/* ---- loads ------------------------------------------------------------- */

/* So few lines that any cache keeps them. */
#define SMALL_RING "bytes=2048 stride=128 warm=4 visits=64"

/* Whether a load costs what one of a cache does, and not what it would cost
 * without that: it is nearer to the former. */
static bool is_kept(double cost, double hit, double miss)
{
    return hit < miss && fabs(cost - hit) < fabs(cost - miss);
}

const char *links_caches(struct lab *lab, const char *memory, double latency)
{
    const struct cost l2 = lab_chase(lab, "chase op=cg " SMALL_RING),
                      l1 = lab_chase(lab, "chase op=ca " SMALL_RING),
                      cg = lab_chase(lab, "chase memory=%s op=cg " SMALL_RING,
                                     memory),
                      ca = lab_chase(lab, "chase memory=%s op=ca " SMALL_RING,
                                     memory);
    const bool in_l2 = is_kept(cg.cycles, l2.cycles, latency);
    /* Where L1 takes no global loads at all, both operators cost the same. */
    const bool in_l1 =
        is_kept(ca.cycles, l1.cycles, fmin(cg.cycles, l2.cycles));
    return in_l1 && in_l2 ? "L1 and L2" : in_l1 ? "L1" : in_l2 ? "L2" : "none";
}

/* More than any L2 holds, so that what is written must go. */
enum { STREAM_BYTES = 128 << 20 };

struct bandwidth_question links_kernels(struct lab *lab, const char *attribute,
                                        const char *memory, bool writes)
{
    return (struct bandwidth_question){
        .lab = lab,
        .component = "link",
        .attribute = attribute,
        .words = lab_text(lab, "%s memory=%s warm=0",
                          writes ? "op=write" : "cache=cv", memory),
        .way = STREAM_GPU,
        .least = BANDWIDTH_CYCLES_LIST,
        .lanes = BANDWIDTH_LANES,
        .width = 16,
        .arrays = 1,
        .bytes = STREAM_BYTES,
    };
}
