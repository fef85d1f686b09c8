/*
 * Models of a cache that visits to lines are held against: its shape, its
 * policy, and lines of a neighbour; and with what chance each visit hits that
 * was seen.
 */
#ifndef SONDE_ANALYSIS_TRACE_MODEL_H
#define SONDE_ANALYSIS_TRACE_MODEL_H

#include "analysis/structure/trace_fit.h"

/* What is taken for the share of visits that the clock tells wrongly, or what
 * else is not in the model: it weighs all caches alike. */
#define TRACE_WRONG 0.03
/* Nothing is surer: where a model has all else, some calls return late. */
#define TRACE_LATE 0.001

/* A policy that is thought of. */
struct trace_policy {
    enum cache_policy policy;
    struct cache_rrip ages;
    unsigned behind;
    /* Variance of what ways weigh, where some go more often, as a part of their
     * mean's square: Fermi's L1 has a third, since one way of four goes three
     * times as often (Mei 4.4), and a fourth of that is told from none in 4000
     * calls.  What is nearer to none than to that is none. */
    double uneven;
};
extern const struct trace_policy trace_policies[];
enum { TRACE_LRU, TRACE_FIFO, TRACE_TREE = 3, TRACE_AGES };
enum { TRACE_RANDOM = 6, TRACE_WEIGHTED, TRACE_MOST_WEIGHTED };
enum { TRACE_POLICIES = 12 };
enum { TRACE_INDEX_BITS = 32, TRACE_SHIFT_MOST = 3 };

struct trace_model {
    uint64_t line; /* if it is less than what a visit brings, of victims of
                      chance, that brings several */
    uint64_t sets, ways;
    unsigned shift; /* the index begins so many bits above those of a line */
    uint64_t fold;  /* half of the sets are of lines of which so many of these
                       address bits are set that it is an odd number; 0: none */
    size_t policy;  /* index into trace_policies[] */
    /* So many lines from that set on are the neighbour's. */
    uint64_t own_at, own;
    bool touched; /* they are looked for before each call, not left out */
    double score; /* mean likelihood of a visit, or of all */
};

/* The set of an address. */
uint64_t trace_model_set(const struct trace_model *c, uint64_t at);
/* Those of a set that the neighbour leaves to others. */
uint64_t trace_model_ways(const struct trace_model *c, uint64_t set);
/* Whether victims are of chance. */
bool trace_model_is_chance(const struct trace_model *c);
struct cache *trace_model_cache(const struct trace_model *c, uint64_t sector);
/* Whether there is such a cache, and no plainer one that is the same. */
bool trace_model_can_be(const struct trace_model *c);
bool trace_model_is_same(const struct trace_model *a,
                         const struct trace_model *b);
bool trace_model_is_shape(const struct trace_model *a,
                          const struct trace_model *b);
uint64_t trace_model_bytes(const struct trace_model *c);

/* What a cache foretells is kept, since many models are put together of the
 * same few. */
struct trace_foretold {
    struct trace_model by;
    float *chance; /* that a visit hits */
};

/* Visits, and of those that were seen where and what. */
struct trace_seen_visits {
    const struct trace_range *range;
    struct trace trace;
    size_t count;
    uint64_t *at;
    bool *hit;
    struct trace_foretold *foretold;
    size_t foretolds;
};

struct trace_seen_visits trace_model_new_seen(size_t most,
                                              const struct trace_range *range);
void trace_model_forget(struct trace_seen_visits *s);
void trace_model_free_seen(struct trace_seen_visits *s);
void trace_model_add(struct trace_seen_visits *s, const struct trace_visit *v);
struct trace_seen_visits trace_model_seen(const struct trace *t,
                                          const struct trace_range *range);
uint64_t trace_model_end(const struct trace *t);

/* The chance that is said of a visit that hits with another: the clock may be
 * wrong. */
double trace_model_chance(double hits);
/* Of each visit that was seen the chance that it hits; if all sets have the
 * same ways. */
void trace_model_foretell(struct trace_seen_visits *s,
                          const struct trace_model *c, float *chance);
const float *trace_model_even(struct trace_seen_visits *s,
                              const struct trace_model *c);
/* The same of several models in one go, by as many threads as there are cores:
 * then those that are asked are known. */
void trace_model_expect(struct trace_seen_visits *s,
                        const struct trace_model *models, size_t count);
void trace_model_expect_even(struct trace_seen_visits *s,
                             const struct trace_model *models, size_t count);
/* How likely it is (its logarithm) what was seen: of a visit, of all, and the
 * mean. */
double trace_model_of_hit(float chance, bool hit);
double trace_model_of_seen(const struct trace_seen_visits *s,
                           const float *chance);
double trace_model_mean(const struct trace_seen_visits *s, const float *chance);

#endif
