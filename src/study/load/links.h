/*
 * What the study `links` asks of any memory that is not the GPU's own: the
 * host's (links.c), other GPUs' (links_peers.c); both ask by links_ways.c.
 */
#ifndef SONDE_STUDY_LOAD_LINKS_H
#define SONDE_STUDY_LOAD_LINKS_H

#include "study/load/bandwidth_rows.h"

/* Few enough pages for any first TLB, and so many of the host's that it does
 * not matter where these are: a line costs about 2030 or 2300 cycles (H100),
 * and of 64 KiB, five times, half of them 2070 to 2440; of four times as much,
 * with as many lines, 2249 to 2264. */
#define LINKS_RING "bytes=262144 stride=512 order=random"
/* Sizes of single copies, in bytes. */
enum { LINKS_LEAST = 4096, LINKS_FACTOR = 4, LINKS_MOST = 16 << 20 };

/* Copies in a row, each so large that what begins and ends it does not count.
 */
const struct samples *links_copy_alone(struct lab *lab, const char *from,
                                       const char *to);
/* The same between GPUs by the engine of this one, or of the other, whichever
 * makes more of it. */
const struct samples *links_copy_best(struct lab *lab, const char *from,
                                      const char *to, bool *by_other);
/* The same while others copy (`others` of the probe copy) from before the
 * beginning to after the end; NULL: they never did. */
const struct samples *links_copy_beside(struct lab *lab, const char *from,
                                        const char *to, const char *others);
/* B/s of one such copy, with what begins and ends it; `how`: other words of
 * the probe. */
double links_copy_of(struct lab *lab, const char *how, uint64_t bytes,
                     const char **experiment);
/* B/s of each sample. */
struct column links_rates(struct lab *lab, const struct samples *samples);

/* Which caches keep what loads bring, by what small rings cost in the GPU's own
 * memory and in another, of which a load takes `latency` cycles. */
const char *links_caches(struct lab *lab, const char *memory, double latency);
/* B that they do, at first. */
uint64_t links_stream_bytes(const struct lab *lab);
/* What kernels read, or write, of it in a time: the best of a few ways to, of
 * which `question` becomes the one.  `l2_keeps`: L2 keeps what is read. */
struct bandwidth_found links_kernels(struct bandwidth_question *question,
                                     const char *memory, bool writes,
                                     bool l2_keeps);

/* All that is asked of other GPUs. */
void links_ask_peers(struct lab *lab);

#endif
