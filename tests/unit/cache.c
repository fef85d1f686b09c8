/* The cache model: policies by hand, index, sectors, and any shape against an
 * obvious slow implementation. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cache.h"
#include "testing.h"

enum { PAGE = 2 << 20 };

static struct cache *new_set(enum cache_policy policy, uint32_t ways,
                             double *weights)
{
    const struct cache_shape shape = {
        .line = 32,
        .sector = 32,
        .sets = 1,
        .set_ways = &ways,
        .policy = policy,
        .weights = weights,
        .rrip = {.most = 2, .insert = 1, .hit = 0},
        .behind = 2,
    };
    return cache_new(&shape, 1);
}

static enum cache_result use(struct cache *cache, char line)
{
    return cache_access(cache, (uint64_t)(line - 'A') * 32);
}

static bool has(const struct cache *cache, char line)
{
    return cache_holds(cache, (uint64_t)(line - 'A') * 32);
}

/* What becomes of the lines A, B, … in one set, from empty: H or M each. */
static const char *trace(enum cache_policy policy, uint32_t ways,
                         const char *lines)
{
    static char results[64];
    struct cache *const cache = new_set(policy, ways, NULL);
    size_t i;
    for (i = 0; lines[i] != '\0'; i++)
        results[i] = use(cache, lines[i]) == CACHE_HIT ? 'H' : 'M';
    results[i] = '\0';
    cache_free(cache);
    return results;
}

START_TEST(lru_evicts_what_was_used_longest_ago)
{
    /* D takes B's way, as A was used again; B takes C's, and so on. */
    ck_assert_str_eq(trace(POLICY_LRU, 3, "ABCADABC"), "MMMHMHMM");
}
END_TEST

START_TEST(lru_in_a_large_set_does_the_same)
{
    /* 40 ways are searched by hash: 41 lines in turn never hit, 40 always. */
    struct cache *const cache = new_set(POLICY_LRU, 40, NULL);
    for (int lap = 0; lap < 3; lap++)
        for (uint64_t line = 0; line < 41; line++)
            ck_assert_int_eq(cache_access(cache, 32 * line), CACHE_MISS);
    for (uint64_t line = 1; line < 41; line++)
        ck_assert_int_eq(cache_access(cache, 32 * line), CACHE_HIT);
    cache_free(cache);
}
END_TEST

START_TEST(fifo_evicts_what_came_first_even_if_used)
{
    ck_assert_str_eq(trace(POLICY_FIFO, 3, "ABCADAB"), "MMMHMMM");
}
END_TEST

START_TEST(plru_follows_the_tree)
{
    /* E takes A's way, which turns the root to C and D: A takes C's, where
     * LRU would take B's. */
    ck_assert_str_eq(trace(POLICY_PLRU, 4, "ABCDEABCD"), "MMMMMMHMM");
}
END_TEST

START_TEST(nru_evicts_the_lowest_unmarked_way)
{
    /* C fills the set: only it stays marked.  D takes A's way, A takes B's,
     * which again leaves one mark. */
    ck_assert_str_eq(trace(POLICY_NRU, 3, "ABCDADCBA"), "MMMMMHHMH");
}
END_TEST

START_TEST(rrip_evicts_the_lowest_of_the_greatest_age)
{
    /* A and B come in with age 1, and C takes A's way when both have 2. */
    ck_assert_str_eq(trace(POLICY_RRIP, 2, "ABCB"), "MMMH");
    /* A was used again at once, has age 0, and outlives B and C. */
    ck_assert_str_eq(trace(POLICY_RRIP, 2, "AABCADA"), "MHMMHMH");
    /* It outlives what comes in until it has grown as old: D has 1 then. */
    ck_assert_str_eq(trace(POLICY_RRIP, 2, "AABCDA"), "MHMMMM");
}
END_TEST

START_TEST(lru_midpoint_keeps_the_lines_of_the_last_hits)
{
    /* Without hits it is lru; B was hit, and outlives C and D. */
    ck_assert_str_eq(trace(POLICY_LRU_MIDPOINT, 2, "ABCBA"), "MMMHM");
    ck_assert_str_eq(trace(POLICY_LRU_MIDPOINT, 2, "ABBCDB"), "MMHMMH");
    /* Of three hits the first is no better than what comes in after it. */
    ck_assert_str_eq(trace(POLICY_LRU_MIDPOINT, 3, "ABCABCDA"), "MMMHHHMM");
    /* Two hits of one line are the last two. */
    ck_assert_str_eq(trace(POLICY_LRU_MIDPOINT, 3, "ABCABBDECB"), "MMMHHHMMMH");
}
END_TEST

START_TEST(a_single_way_holds_the_latest_line_under_any_policy)
{
    ck_assert_str_eq(trace((enum cache_policy)_i, 1, "AABBA"), "MHMHM");
}
END_TEST

/* How often each of four ways is the victim, in `misses` misses. */
static void count_victims(struct cache *cache, unsigned misses,
                          unsigned counts[4])
{
    uint64_t held[4] = {0, 1, 2, 3};
    for (int way = 0; way < 4; way++)
        cache_access(cache, 32 * held[way]);
    for (uint64_t line = 4; line < 4 + misses; line++) {
        cache_access(cache, 32 * line);
        for (int way = 0; way < 4; way++)
            if (!cache_holds(cache, 32 * held[way])) {
                held[way] = line;
                counts[way]++;
            }
    }
}

/* Four standard deviations of a count of 6000 are at most 155. */
START_TEST(random_takes_all_ways_alike)
{
    struct cache *const cache = new_set(POLICY_RANDOM, 4, NULL);
    unsigned counts[4] = {0};
    count_victims(cache, 6000, counts);
    for (int way = 0; way < 4; way++)
        ck_assert_int_lt(abs((int)counts[way] - 1500), 155);
    cache_free(cache);
}
END_TEST

START_TEST(weighted_takes_ways_by_weight)
{
    /* Fermi's L1: the second way is replaced by every second miss. */
    double weights[] = {1, 3, 1, 1};
    struct cache *const cache = new_set(POLICY_WEIGHTED, 4, weights);
    unsigned counts[4] = {0};
    count_victims(cache, 6000, counts);
    for (int way = 0; way < 4; way++)
        ck_assert_int_lt(abs((int)counts[way] - (int)(1000 * weights[way])),
                         155);
    cache_free(cache);
}
END_TEST

START_TEST(weight_zero_is_never_the_victim)
{
    double weights[] = {0, 1, 0, 1};
    struct cache *const cache = new_set(POLICY_WEIGHTED, 4, weights);
    unsigned counts[4] = {0};
    count_victims(cache, 1000, counts);
    ck_assert_uint_eq(counts[0] + counts[2], 0);
    ck_assert_uint_eq(counts[1] + counts[3], 1000);
    cache_free(cache);
}
END_TEST

START_TEST(the_same_seed_evicts_the_same)
{
    struct cache *const one = new_set(POLICY_RANDOM, 8, NULL);
    struct cache *const two = new_set(POLICY_RANDOM, 8, NULL);
    for (uint64_t i = 0; i < 1000; i++)
        ck_assert_int_eq(cache_access(one, i * i % 449 * 32),
                         cache_access(two, i * i % 449 * 32));
    cache_free(one);
    cache_free(two);
}
END_TEST

START_TEST(empty_ways_are_filled_lowest_first)
{
    /* The first way is the victim of every miss in the full set. */
    double weights[] = {1, 0, 0};
    struct cache *const cache = new_set(POLICY_WEIGHTED, 3, weights);
    for (const char *line = "ABC"; *line != '\0'; line++)
        use(cache, *line);
    cache_drop(cache, 0, 64); /* A and B */
    use(cache, 'D');
    use(cache, 'E');
    use(cache, 'F');
    ck_assert(!has(cache, 'D'));
    ck_assert(has(cache, 'E') && has(cache, 'C') && has(cache, 'F'));
    cache_free(cache);
}
END_TEST

START_TEST(lookup_changes_nothing)
{
    struct cache *const cache = new_set(POLICY_LRU, 2, NULL);
    use(cache, 'A');
    use(cache, 'B');
    ck_assert(has(cache, 'A') && !has(cache, 'C'));
    use(cache, 'C'); /* A is still the oldest */
    ck_assert(!has(cache, 'A') && has(cache, 'B'));
    cache_free(cache);
}
END_TEST

START_TEST(drop_forgets_each_line_that_it_touches)
{
    struct cache *const cache = new_set(POLICY_LRU, 4, NULL);
    for (const char *line = "ABCD"; *line != '\0'; line++)
        use(cache, *line);
    cache_drop(cache, 63, 2); /* the last byte of B, the first of C */
    ck_assert(has(cache, 'A') && !has(cache, 'B'));
    ck_assert(!has(cache, 'C') && has(cache, 'D'));
    cache_drop(cache, 0, 0);
    ck_assert(has(cache, 'A'));
    cache_drop(cache, 32, UINT64_MAX);
    ck_assert(has(cache, 'A') && !has(cache, 'D'));
    cache_free(cache);
}
END_TEST

START_TEST(clear_forgets_all)
{
    struct cache *const cache = new_set((enum cache_policy)_i, 64, NULL);
    for (int lap = 0; lap < 2; lap++) {
        for (uint64_t line = 0; line < 64; line++)
            ck_assert_int_eq(cache_access(cache, 32 * line), CACHE_MISS);
        cache_clear(cache);
        for (uint64_t line = 0; line < 64; line++)
            ck_assert(!cache_holds(cache, 32 * line));
    }
    cache_free(cache);
}
END_TEST

/* ---- sectors ---- */

START_TEST(a_miss_brings_in_one_sector)
{
    uint32_t ways[] = {2};
    const struct cache_shape shape = {
        .line = 128, .sector = 32, .sets = 1, .set_ways = ways};
    struct cache *const cache = cache_new(&shape, 1);
    ck_assert_int_eq(cache_access(cache, 64), CACHE_MISS);
    ck_assert_int_eq(cache_access(cache, 95), CACHE_HIT);
    ck_assert_int_eq(cache_access(cache, 96), CACHE_SECTOR_MISS);
    ck_assert_int_eq(cache_access(cache, 96), CACHE_HIT);
    ck_assert(!cache_holds(cache, 0));
    cache_free(cache);
}
END_TEST

START_TEST(a_sector_miss_evicts_nothing)
{
    uint32_t ways[] = {2};
    const struct cache_shape shape = {
        .line = 128, .sector = 32, .sets = 1, .set_ways = ways};
    struct cache *const cache = cache_new(&shape, 1);
    cache_access(cache, 0);
    cache_access(cache, 128);
    ck_assert_int_eq(cache_access(cache, 32), CACHE_SECTOR_MISS);
    ck_assert(cache_holds(cache, 0) && cache_holds(cache, 128));
    /* … and counts as a use of its line. */
    cache_access(cache, 256);
    ck_assert(cache_holds(cache, 32) && !cache_holds(cache, 128));
    /* An evicted line loses all its sectors. */
    cache_access(cache, 384);
    cache_access(cache, 64);
    ck_assert(!cache_holds(cache, 0) && cache_holds(cache, 64));
    cache_free(cache);
}
END_TEST

START_TEST(what_comes_at_once_is_one_use)
{
    uint32_t ways[] = {2};
    const struct cache_shape shape = {.line = 128,
                                      .sector = 32,
                                      .sets = 1,
                                      .set_ways = ways,
                                      .policy = POLICY_LRU_MIDPOINT,
                                      .behind = 1};
    struct cache *const cache = cache_new(&shape, 1);
    ck_assert_int_eq(cache_access(cache, 0), CACHE_MISS);
    ck_assert_int_eq(cache_access_more(cache, 32), CACHE_SECTOR_MISS);
    ck_assert_int_eq(cache_access_more(cache, 32), CACHE_HIT);
    /* It was not hit since it came, so two others put it out. */
    cache_access(cache, 128);
    cache_access(cache, 256);
    ck_assert(!cache_holds(cache, 0) && !cache_holds(cache, 32));
    /* What is asked for on another line comes as if it was alone. */
    ck_assert_int_eq(cache_access_more(cache, 0), CACHE_MISS);
    ck_assert(cache_holds(cache, 0));
    cache_free(cache);
}
END_TEST

/* ---- index ---- */

START_TEST(the_set_is_the_line_modulo_the_sets)
{
    uint32_t ways[] = {2, 2, 2, 2, 2, 2};
    const struct cache_shape shape = {
        .line = 128, .sector = 128, .sets = 6, .set_ways = ways};
    struct cache *const cache = cache_new(&shape, 1);
    ck_assert_uint_eq(cache_set_of(cache, 5 * 128 + 127), 5);
    ck_assert_uint_eq(cache_set_of(cache, 6 * 128), 0);
    /* A line number beyond 32 bits: 2^40 is 4 modulo 6. */
    ck_assert_uint_eq(cache_set_of(cache, (uint64_t)1 << 47), 4);
    cache_free(cache);
}
END_TEST

START_TEST(set_bits_choose_the_set)
{
    /* The texture cache of Fermi: runs of 128 bytes go to one set. */
    uint32_t ways[] = {96, 96, 96, 96};
    uint64_t bits[] = {1 << 7, 1 << 8};
    const struct cache_shape shape = {.line = 32,
                                      .sector = 32,
                                      .sets = 4,
                                      .set_ways = ways,
                                      .index_bits = bits,
                                      .index_bit_count = 2};
    struct cache *const cache = cache_new(&shape, 1);
    ck_assert_uint_eq(cache_set_of(cache, 127), 0);
    ck_assert_uint_eq(cache_set_of(cache, 128), 1);
    ck_assert_uint_eq(cache_set_of(cache, 256), 2);
    ck_assert_uint_eq(cache_set_of(cache, 511), 3);
    ck_assert_uint_eq(cache_set_of(cache, 512), 0);
    cache_free(cache);
}
END_TEST

START_TEST(listed_set_bits_are_xored)
{
    uint32_t ways[] = {1, 1, 1, 1};
    uint64_t bits[] = {1 << 7 | 1 << 12, 1 << 8 | (uint64_t)1 << 40};
    const struct cache_shape shape = {.line = 128,
                                      .sector = 128,
                                      .sets = 4,
                                      .set_ways = ways,
                                      .index_bits = bits,
                                      .index_bit_count = 2};
    struct cache *const cache = cache_new(&shape, 1);
    ck_assert_uint_eq(cache_set_of(cache, 1 << 7), 1);
    ck_assert_uint_eq(cache_set_of(cache, 1 << 12), 1);
    ck_assert_uint_eq(cache_set_of(cache, 1 << 12 | 1 << 7), 0);
    ck_assert_uint_eq(cache_set_of(cache, (uint64_t)1 << 40), 2);
    ck_assert_uint_eq(cache_set_of(cache, (uint64_t)1 << 40 | 1 << 8), 0);
    cache_free(cache);
}
END_TEST

/* Misses of the third lap over so many consecutive pages. */
static unsigned misses_of_lap(size_t pages)
{
    uint32_t ways[] = {17, 8, 8, 8, 8, 8, 8};
    const struct cache_shape shape = {
        .line = PAGE, .sector = PAGE, .sets = 7, .set_ways = ways};
    struct cache *const tlb = cache_new(&shape, 1);
    unsigned misses = 0;
    for (int lap = 0; lap < 3; lap++) {
        misses = 0;
        for (uint64_t page = 0; page < pages; page++)
            misses += cache_access(tlb, page * PAGE) != CACHE_HIT;
    }
    cache_free(tlb);
    return misses;
}

START_TEST(unequal_sets_are_filled_by_as_many_pages_as_they_hold)
{
    ck_assert_uint_eq(misses_of_lap(65), 0);
}
END_TEST

START_TEST(unequal_sets_are_dealt_to_from_an_entry_on)
{
    uint32_t ways[] = {3, 1};
    const struct cache_shape shape = {.line = PAGE,
                                      .sector = PAGE,
                                      .sets = 2,
                                      .set_ways = ways,
                                      .dealt_from = 1};
    static const uint32_t dealt[] = {1, 0, 0, 0};
    struct cache *const tlb = cache_new(&shape, 1);
    for (uint64_t page = 0; page < 8; page++)
        ck_assert_uint_eq(cache_set_of(tlb, page * PAGE), dealt[page % 4]);
    cache_free(tlb);
}
END_TEST

START_TEST(each_page_beyond_spoils_one_more_set)
{
    /* Mei 2014, figure 11: 132 MB miss in the set of 17, which one page more
     * makes 18; each further 2 MB miss in another set of 8. */
    ck_assert_uint_eq(misses_of_lap(66), 17 + 1);
    for (unsigned more = 1; more <= 6; more++)
        ck_assert_uint_eq(misses_of_lap(66 + more), 18 + 9 * more);
}
END_TEST

START_TEST(pages_are_dealt_in_rounds)
{
    uint32_t ways[] = {3, 1, 2};
    const struct cache_shape shape = {
        .line = PAGE, .sector = PAGE, .sets = 3, .set_ways = ways};
    const size_t dealt[] = {0, 1, 2, 0, 2, 0, 0, 1};
    struct cache *const tlb = cache_new(&shape, 1);
    for (uint64_t page = 0; page < COUNT_OF(dealt); page++)
        ck_assert_uint_eq(cache_set_of(tlb, page * PAGE), dealt[page]);
    cache_free(tlb);
}
END_TEST

/* ---- against the obvious implementation ---- */

enum { SLOW_SETS = 8, SLOW_WAYS = 64, SLOW_SPARE = 3 };

struct slow_way {
    bool present, marked;
    unsigned age;
    int64_t stamp;
    uint64_t line, sectors, used, came;
};

/* In the victim buffer since then. */
struct slow_spare {
    uint64_t line, sectors, since; /* 0: empty */
};

struct slow {
    const struct cache_shape *shape;
    struct slow_spare spare[SLOW_SPARE];
    size_t spare_of; /* the set that lost the last one, + 1 */
    struct slow_way ways[SLOW_SETS][SLOW_WAYS];
    bool to_right[SLOW_SETS][SLOW_WAYS]; /* plru, by the half's first way */
    uint64_t now;
    int64_t hits[SLOW_SETS];
};

static size_t slow_dealt(const struct cache_shape *shape, uint64_t line)
{
    uint32_t given[SLOW_SETS] = {0}, total = 0;
    for (size_t set = 0; set < shape->sets; set++)
        total += shape->set_ways[set];
    size_t set = 0;
    for (uint64_t left = line % total;; set = (set + 1) % shape->sets) {
        if (given[set] == shape->set_ways[set])
            continue;
        given[set]++;
        if (left-- == 0)
            return set;
    }
}

static size_t slow_number(const uint64_t *masks, size_t count, uint64_t address)
{
    size_t number = 0;
    for (size_t i = 0; i < count; i++)
        for (int bit = 0; bit < 64; bit++)
            if ((masks[i] >> bit & 1) != 0)
                number ^= (size_t)(address >> bit & 1) << i;
    return number;
}

static size_t slow_set(const struct cache_shape *shape, uint64_t address)
{
    const struct cache_slices *const s = &shape->slices;
    const size_t in_slice =
        slow_number(shape->index_bits, shape->index_bit_count, address);
    if (s->modulo == 0)
        return shape->index_bits != NULL
                   ? in_slice
                   : slow_dealt(shape, address / shape->line);
    const size_t sets = cache_slice_sets(shape);
    const size_t slice =
        (address >> s->from_bit) % s->modulo +
        s->modulo * slow_number(s->bits, s->bit_count, address);
    return slice * sets + (shape->index_bits != NULL
                               ? in_slice
                               : (size_t)(address / shape->line % sets));
}

/* Turns the tree of the ways [from, from + n) away from `way`. */
static void slow_turn(bool *to_right, uint32_t from, uint32_t n, uint32_t way)
{
    for (; n > 1; n /= 2) {
        const uint32_t half = from + n / 2;
        to_right[half] = way < half;
        from = way < half ? from : half;
    }
}

static uint32_t slow_leaf(const bool *to_right, uint32_t n)
{
    uint32_t from = 0;
    for (; n > 1; n /= 2)
        from += to_right[from + n / 2] ? n / 2 : 0;
    return from;
}

static uint32_t slow_oldest(struct slow_way *ways, uint32_t n, unsigned most)
{
    for (;;) {
        for (uint32_t way = 0; way < n; way++)
            if (ways[way].age == most)
                return way;
        for (uint32_t way = 0; way < n; way++)
            ways[way].age++;
    }
}

static uint32_t slow_victim(struct slow *s, size_t set)
{
    struct slow_way *const ways = s->ways[set];
    const uint32_t n = s->shape->set_ways[set];
    uint32_t victim = 0;
    if (s->shape->policy == POLICY_PLRU)
        return slow_leaf(s->to_right[set], n);
    if (s->shape->policy == POLICY_RRIP)
        return slow_oldest(ways, n, s->shape->rrip.most);
    for (uint32_t way = 0; way < n; way++) {
        if (s->shape->policy == POLICY_NRU && !ways[way].marked)
            return way;
        if (s->shape->policy == POLICY_LRU &&
            ways[way].used < ways[victim].used)
            victim = way;
        if (s->shape->policy == POLICY_FIFO &&
            ways[way].came < ways[victim].came)
            victim = way;
        if (s->shape->policy == POLICY_LRU_MIDPOINT &&
            (ways[way].stamp < ways[victim].stamp ||
             (ways[way].stamp == ways[victim].stamp &&
              ways[way].used < ways[victim].used)))
            victim = way;
    }
    return victim;
}

static void slow_note_use(struct slow *s, size_t set, uint32_t way)
{
    const uint32_t n = s->shape->set_ways[set];
    struct slow_way *const ways = s->ways[set];
    ways[way].used = ++s->now;
    slow_turn(s->to_right[set], 0, n, way);
    ways[way].marked = true;
    for (uint32_t i = 0; i < n; i++)
        if (!ways[i].marked)
            return;
    for (uint32_t i = 0; i < n; i++)
        ways[i].marked = i == way;
}

/* Takes the line out of the victim buffer: the sectors of it. */
static uint64_t slow_take(struct slow *s, uint64_t line)
{
    uint64_t sectors = 0;
    for (unsigned i = 0; i < s->shape->spare; i++)
        if (s->spare[i].since > 0 && s->spare[i].line == line) {
            sectors = s->spare[i].sectors;
            s->spare[i].since = 0;
        }
    return sectors;
}

static void slow_lose(struct slow *s, size_t set, const struct slow_way *way)
{
    unsigned oldest = 0;
    const bool another = way->present && s->spare_of != set + 1;
    if (s->shape->spare_of_one && another) {
        s->spare_of = set + 1;
        memset(s->spare, 0, sizeof s->spare);
        return;
    }
    for (unsigned i = 0; i < s->shape->spare; i++)
        if (s->spare[i].since < s->spare[oldest].since)
            oldest = i;
    if (s->shape->spare > 0 && way->present)
        s->spare[oldest] =
            (struct slow_spare){way->line, way->sectors, ++s->now};
}

static enum cache_result slow_access(struct slow *s, uint64_t address)
{
    const struct cache_shape *const shape = s->shape;
    const uint64_t line = address / shape->line;
    const uint64_t sector = (uint64_t)1
                            << address % shape->line / shape->sector;
    const size_t set = slow_set(shape, address);
    const uint32_t n = shape->set_ways[set];
    struct slow_way *const ways = s->ways[set];
    enum cache_result result = CACHE_SECTOR_MISS;
    uint64_t had = 0;
    uint32_t way = 0;
    while (way < n && !(ways[way].present && ways[way].line == line))
        way++;
    if (way == n) {
        result = CACHE_MISS;
        for (way = 0; way < n && ways[way].present; way++)
            ;
        way = way == n ? slow_victim(s, set) : way;
        had = slow_take(s, line);
        slow_lose(s, set, &ways[way]);
        ways[way] = (struct slow_way){
            .present = true, .line = line, .sectors = had, .came = ++s->now};
    } else if ((ways[way].sectors & sector) != 0) {
        result = CACHE_HIT;
    }
    ways[way].age = result == CACHE_MISS ? shape->rrip.insert : shape->rrip.hit;
    ways[way].stamp = result == CACHE_MISS
                          ? s->hits[set] - (int64_t)shape->behind
                          : ++s->hits[set];
    ways[way].sectors |= sector;
    slow_note_use(s, set, way);
    return had == 0              ? result
           : (had & sector) != 0 ? CACHE_HIT
                                 : CACHE_SECTOR_MISS;
}

static void slow_drop(struct slow *s, uint64_t from, uint64_t bytes)
{
    for (unsigned i = 0; i < s->shape->spare; i++) {
        const uint64_t first = s->spare[i].line * s->shape->line;
        if (first < from + bytes && first + s->shape->line > from)
            s->spare[i].since = 0;
    }
    for (size_t set = 0; set < s->shape->sets; set++)
        for (uint32_t way = 0; way < s->shape->set_ways[set]; way++) {
            struct slow_way *const w = &s->ways[set][way];
            const uint64_t first = w->line * s->shape->line;
            if (w->present && first < from + bytes &&
                first + s->shape->line > from)
                *w = (struct slow_way){.present = false};
        }
}

/* As many slices as there is room for; `bits` has room for one. */
static void random_slices(struct rng *r, struct cache_shape *shape,
                          uint64_t *bits)
{
    struct cache_slices *const s = &shape->slices;
    const size_t most = SLOW_SETS / shape->sets;
    s->modulo = 1 + rng_below(r, most);
    s->bit_count = 2 * s->modulo <= most && rng_below(r, 2) ? 1 : 0;
    s->bits = s->bit_count > 0 ? bits : NULL;
    bits[0] = shape->line << rng_below(r, 20) ^ (uint64_t)1 << 45;
    s->from_bit = (unsigned)__builtin_ctzll(shape->line << rng_below(r, 8));
    shape->sets *= (size_t)(s->modulo << s->bit_count);
    for (size_t set = 0; set < shape->sets; set++)
        shape->set_ways[set] = shape->set_ways[0];
}

/* A random shape that the slow cache can hold; arrays are the caller's, of
 * which `bits` has room for four. */
static struct cache_shape random_shape(struct rng *r, uint32_t *ways,
                                       uint64_t *bits)
{
    static const enum cache_policy policies[] = {
        POLICY_LRU, POLICY_FIFO, POLICY_PLRU,
        POLICY_NRU, POLICY_RRIP, POLICY_LRU_MIDPOINT};
    struct cache_shape shape = {.set_ways = ways};
    shape.policy = policies[rng_below(r, COUNT_OF(policies))];
    shape.behind = 1 + (unsigned)rng_below(r, 4);
    shape.spare = (unsigned)rng_below(r, 1 + SLOW_SPARE);
    shape.spare_of_one = rng_below(r, 2) == 0;
    shape.rrip.most = 1 + (unsigned)rng_below(r, 7);
    shape.rrip.insert = (unsigned)rng_below(r, shape.rrip.most + 1);
    shape.rrip.hit = (unsigned)rng_below(r, shape.rrip.most + 1);
    shape.sector = (uint64_t)8 << rng_below(r, 4);
    shape.line = shape.sector << rng_below(r, 4);
    if (rng_below(r, 8) == 0)
        shape.line = 3 * shape.sector;
    shape.sets = 1 + (size_t)rng_below(r, SLOW_SETS);
    const bool even = rng_below(r, 2) == 0;
    for (size_t set = 0; set < shape.sets; set++) {
        ways[set] = 1 + (uint32_t)rng_below(r, rng_below(r, 2) ? 8 : SLOW_WAYS);
        if (shape.policy == POLICY_PLRU)
            ways[set] = (uint32_t)1 << rng_below(r, 7);
        if (even)
            ways[set] = ways[0];
    }
    if (even && (shape.line & (shape.line - 1)) == 0 && rng_below(r, 2)) {
        shape.index_bit_count = (size_t)rng_below(r, 4);
        shape.sets = (size_t)1 << shape.index_bit_count;
        shape.index_bits = bits;
        for (size_t set = 0; set < shape.sets; set++)
            ways[set] = ways[0];
        for (size_t i = 0; i < shape.index_bit_count; i++)
            bits[i] = shape.line << rng_below(r, 9) ^ shape.line << (9 + i);
    }
    if (even && (shape.line & (shape.line - 1)) == 0 && rng_below(r, 2))
        random_slices(r, &shape, bits + 3);
    return shape;
}

/* Lines of which about half fit, most of them near the latest. */
static uint64_t random_address(struct rng *r, const struct cache_shape *shape,
                               uint64_t latest)
{
    const uint64_t span = 2 * cache_shape_bytes(shape);
    if (rng_below(r, 2))
        return (latest + rng_below(r, 4 * shape->line)) % span;
    return rng_below(r, span) + (rng_below(r, 16) == 0) * ((uint64_t)1 << 45);
}

/* One random access, after a random drop now and then; false if the two do
 * not agree. */
static bool step_agrees(struct rng *r, struct cache *cache, struct slow *slow,
                        uint64_t *address)
{
    *address = random_address(r, slow->shape, *address);
    if (rng_below(r, 100) == 0) {
        const uint64_t bytes = 1 + rng_below(r, 8 * slow->shape->line);
        cache_drop(cache, *address, bytes);
        slow_drop(slow, *address, bytes);
    }
    cache_expect(cache, *address); /* changes nothing */
    return cache_set_of(cache, *address) == slow_set(slow->shape, *address) &&
           cache_access(cache, *address) == slow_access(slow, *address);
}

START_TEST(any_shape_does_what_the_obvious_implementation_does)
{
    struct rng r;
    struct error err;
    rng_seed(&r, (uint64_t)_i);
    uint32_t ways[SLOW_SETS];
    uint64_t bits[4], address = 0;
    const struct cache_shape shape = random_shape(&r, ways, bits);
    ASSERT_DONE(cache_shape_check(&shape, &err), err);
    struct cache *const cache = cache_new(&shape, 1);
    struct slow slow = {.shape = &shape};
    int steps = 0;
    while (steps < 3000 && step_agrees(&r, cache, &slow, &address))
        steps++;
    ck_assert_int_eq(steps, 3000);
    cache_free(cache);
}
END_TEST

/* ---- slices ---- */

/* Lines of 128 bytes. */
static size_t set_in(const struct cache_shape *shape, uint64_t address)
{
    struct cache *const cache = cache_new(shape, 1);
    const size_t set = cache_set_of(cache, address);
    cache_free(cache);
    return set;
}

START_TEST(an_address_has_a_slice_and_a_set_in_it)
{
    uint32_t ways[24];
    uint64_t bits[] = {1 << 7 | (uint64_t)1 << 46},
             slice_bits[] = {1 << 9 | 1 << 20, 1 << 10};
    struct cache_shape shape = {
        .line = 128, .sector = 32, .sets = 24, .set_ways = ways};
    shape.slices = (struct cache_slices){3, 12, slice_bits, 2};
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        ways[i] = 4;
    /* Twelve slices of two sets, by the line's number. */
    ck_assert_uint_eq(set_in(&shape, 128), 1);
    ck_assert_uint_eq(set_in(&shape, 4096), 2 * 1);
    ck_assert_uint_eq(set_in(&shape, 3 * 4096 + 128), 1);
    ck_assert_uint_eq(set_in(&shape, 5 * 4096), 2 * 2);
    ck_assert_uint_eq(set_in(&shape, 512), 2 * 3);
    ck_assert_uint_eq(set_in(&shape, 1024), 2 * 6);
    ck_assert_uint_eq(set_in(&shape, 4096 + 1024 + 512), 2 * 10);
    ck_assert_uint_eq(set_in(&shape, ((uint64_t)1 << 20) + 512), 2 * 1);
    /* … and by a bit that is XORed with one far above. */
    shape.index_bits = bits;
    shape.index_bit_count = 1;
    ck_assert_uint_eq(set_in(&shape, 128), 1);
    ck_assert_uint_eq(set_in(&shape, ((uint64_t)3 << 46) + 128), 2 * 0);
}
END_TEST

/* ---- shapes ---- */

START_TEST(a_shape_has_the_bytes_of_all_its_lines)
{
    uint32_t ways[] = {17, 8, 8, 8, 8, 8, 8};
    const struct cache_shape shape = {
        .line = PAGE, .sector = PAGE, .sets = 7, .set_ways = ways};
    ck_assert_uint_eq(cache_shape_bytes(&shape), (uint64_t)130 << 20);
}
END_TEST

START_TEST(a_copied_shape_is_its_own)
{
    uint32_t ways[] = {2, 2};
    uint64_t bits[] = {128}, slice_bits[] = {256};
    double weights[] = {1, 2};
    const struct cache_shape shape = {.line = 128,
                                      .sector = 32,
                                      .sets = 2,
                                      .set_ways = ways,
                                      .index_bits = bits,
                                      .index_bit_count = 1,
                                      .slices = {1, 7, slice_bits, 1},
                                      .policy = POLICY_WEIGHTED,
                                      .weights = weights};
    struct cache_shape copy = cache_shape_copy(&shape);
    ways[1] = 9, bits[0] = 9, weights[1] = 9, slice_bits[0] = 9;
    ck_assert_uint_eq(copy.set_ways[1], 2);
    ck_assert_uint_eq(copy.index_bits[0], 128);
    ck_assert_uint_eq(copy.slices.bits[0], 256);
    ck_assert_double_eq(copy.weights[1], 2);
    cache_shape_free(&copy);
}
END_TEST

static uint32_t one_way[] = {1}, four_ways[] = {4, 4}, three_ways[] = {3, 3},
                unequal[] = {4, 2}, no_ways[] = {4, 0},
                many_ways[] = {1 << 24, 1 << 24};
static uint64_t good_bit[] = {128}, two_bits[] = {128, 256}, low_bit[] = {64},
                empty_bit[] = {0};
static double negative[] = {1, -1, 1, 1}, zero[] = {0, 0, 0, 0},
              not_a_number[] = {1, NAN, 1, 1}, fine[] = {1, 1, 1, 1};

static const struct {
    struct cache_shape shape;
    const char *says;
} impossible[] = {
    {{.line = 0, .sector = 32, .sets = 2, .set_ways = four_ways}, "one byte"},
    {{.line = 128, .sector = 48, .sets = 2, .set_ways = four_ways}, "divide"},
    {{.line = 128, .sector = 0, .sets = 2, .set_ways = four_ways}, "divide"},
    {{.line = 128, .sector = 1, .sets = 2, .set_ways = four_ways}, "sectors"},
    {{.line = 128, .sector = 32, .sets = 0, .set_ways = one_way}, "one set"},
    {{.line = 128, .sector = 32, .sets = 1 << 25, .set_ways = one_way},
     "33554432 sets"},
    {{.line = 128, .sector = 32, .sets = 2, .set_ways = no_ways},
     "set 1 has no ways"},
    {{.line = 128, .sector = 32, .sets = 2, .set_ways = many_ways},
     "more than can"},
    {{.line = (uint64_t)1 << 63,
      .sector = (uint64_t)1 << 63,
      .sets = 2,
      .set_ways = four_ways},
     "more than can"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .index_bits = two_bits,
      .index_bit_count = 2},
     "2 index bits do not make 2 sets"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = unequal,
      .index_bits = good_bit,
      .index_bit_count = 1},
     "equally large"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .index_bits = low_bit,
      .index_bit_count = 1},
     "within the line"},
    {{.line = 96,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .index_bits = good_bit,
      .index_bit_count = 1},
     "within the line"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .slices = {.modulo = 3, .from_bit = 7}},
     "3 × 2^0 slices cannot share 2 sets"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = unequal,
      .slices = {.modulo = 2, .from_bit = 7}},
     "equally large"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .slices = {.modulo = 2, .from_bit = 6}},
     "slices by bit 6 cut through lines of 128"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .slices = {1, 7, low_bit, 1}},
     "slice bit 0 lies within the line"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .index_bits = good_bit,
      .index_bit_count = 1,
      .slices = {.modulo = 2, .from_bit = 7}},
     "1 index bits do not make 1 sets of a slice"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .index_bits = empty_bit,
      .index_bit_count = 1},
     "no address bit"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = three_ways,
      .policy = POLICY_PLRU},
     "power of two of ways, not 3"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .policy = POLICY_WEIGHTED},
     "one weight for each way"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = unequal,
      .policy = POLICY_WEIGHTED,
      .weights = fine},
     "equally many ways"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .policy = POLICY_WEIGHTED,
      .weights = negative},
     "way 1 is negative"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .policy = POLICY_WEIGHTED,
      .weights = not_a_number},
     "way 1"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .policy = POLICY_WEIGHTED,
      .weights = zero},
     "above zero"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .policy = POLICY_RRIP},
     "greatest age of 1 to 255"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .policy = POLICY_RRIP,
      .rrip = {.most = 2, .insert = 3}},
     "at most 2"},
    {{.line = 128,
      .sector = 32,
      .sets = 2,
      .set_ways = four_ways,
      .policy = POLICY_COUNT},
     "no such policy"},
};

START_TEST(an_impossible_shape_is_refused_with_a_reason)
{
    struct error err;
    ASSERT_FAILS(cache_shape_check(&impossible[_i].shape, &err), ERR_FILE, err,
                 impossible[_i].says);
}
END_TEST

START_TEST(policies_have_names)
{
    for (int policy = 0; policy < POLICY_COUNT; policy++)
        ck_assert_int_eq(
            cache_policy_find(cache_policy_name((enum cache_policy)policy)),
            policy);
    ck_assert_int_eq(cache_policy_find("lru"), POLICY_LRU);
    ck_assert_int_eq(cache_policy_find("mru"), POLICY_COUNT);
}
END_TEST

/* Sixteen lines into a set of four; how many of the first two are left. */
static unsigned left_of_two(enum cache_policy policy, bool obeys,
                            enum cache_keep first, enum cache_keep others)
{
    uint32_t ways = 4;
    const struct cache_shape shape = {.line = 32,
                                      .sector = 32,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = policy,
                                      .evict_first = obeys,
                                      .evict_last = obeys};
    struct cache *const cache = cache_new(&shape, 1);
    unsigned left = 0;
    for (uint64_t line = 0; line < 16; line++)
        cache_access_as(cache, 32 * line, line < 2 ? first : others);
    for (uint64_t line = 0; line < 2; line++)
        left += cache_holds(cache, 32 * line);
    cache_free(cache);
    return left;
}

START_TEST(what_is_to_stay_stays_and_what_is_not_goes_first)
{
    const enum cache_policy policy = (enum cache_policy)_i;
    ck_assert_uint_eq(
        left_of_two(policy, true, CACHE_KEEP_LONG, CACHE_KEEP_NORMAL), 2);
    ck_assert_uint_eq(
        left_of_two(policy, true, CACHE_KEEP_NORMAL, CACHE_KEEP_SHORT), 2);
    ck_assert_uint_eq(
        left_of_two(policy, true, CACHE_KEEP_SHORT, CACHE_KEEP_AS_IS), 0);
    if (policy == POLICY_LRU || policy == POLICY_FIFO)
        ck_assert_uint_eq(
            left_of_two(policy, false, CACHE_KEEP_LONG, CACHE_KEEP_SHORT), 0);
}
END_TEST

/* Of equals the policy's: the middle of three is made to go, then the oldest.
 */
START_TEST(among_equals_the_oldest_goes)
{
    uint32_t ways = 3;
    const struct cache_shape shape = {.line = 32,
                                      .sector = 32,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = POLICY_LRU,
                                      .evict_first = true};
    struct cache *const cache = cache_new(&shape, 1);
    use(cache, 'A');
    cache_access_as(cache, 32, CACHE_KEEP_SHORT);
    use(cache, 'C');
    use(cache, 'D');
    ck_assert(has(cache, 'A') && !has(cache, 'B') && has(cache, 'C'));
    use(cache, 'E');
    ck_assert(!has(cache, 'A') && has(cache, 'C') && has(cache, 'D'));
    cache_free(cache);
}
END_TEST

/* What a set has lost last comes back from the victim buffer, and what it loses
 * for it goes there; B is lost when C follows it. */
START_TEST(what_was_lost_last_comes_back_from_the_victim_buffer)
{
    uint32_t ways = 2;
    const struct cache_shape shape = {.line = 32,
                                      .sector = 32,
                                      .sets = 1,
                                      .set_ways = &ways,
                                      .policy = POLICY_LRU,
                                      .spare = 1};
    struct cache *const cache = cache_new(&shape, 1);
    for (const char *c = "ABC"; *c != '\0'; c++)
        ck_assert(use(cache, *c) == CACHE_MISS);
    for (const char *c = "ABCAB"; *c != '\0'; c++)
        ck_assert(use(cache, *c) == CACHE_HIT);
    ck_assert(use(cache, 'D') == CACHE_MISS);
    ck_assert(!has(cache, 'C') && has(cache, 'A') && has(cache, 'B'));
    cache_clear(cache);
    ck_assert(!has(cache, 'A') && !has(cache, 'B') && !has(cache, 'D'));
    cache_free(cache);
}
END_TEST

static void add_policy_tests(TCase *t)
{
    tcase_add_test(t, what_was_lost_last_comes_back_from_the_victim_buffer);
    tcase_add_test(t, lru_evicts_what_was_used_longest_ago);
    tcase_add_test(t, lru_in_a_large_set_does_the_same);
    tcase_add_test(t, fifo_evicts_what_came_first_even_if_used);
    tcase_add_test(t, plru_follows_the_tree);
    tcase_add_test(t, nru_evicts_the_lowest_unmarked_way);
    tcase_add_test(t, rrip_evicts_the_lowest_of_the_greatest_age);
    tcase_add_test(t, lru_midpoint_keeps_the_lines_of_the_last_hits);
    tcase_add_loop_test(t, a_single_way_holds_the_latest_line_under_any_policy,
                        0, POLICY_WEIGHTED);
    tcase_add_test(t, random_takes_all_ways_alike);
    tcase_add_test(t, weighted_takes_ways_by_weight);
    tcase_add_test(t, weight_zero_is_never_the_victim);
    tcase_add_test(t, the_same_seed_evicts_the_same);
    tcase_add_test(t, empty_ways_are_filled_lowest_first);
    tcase_add_loop_test(t, what_is_to_stay_stays_and_what_is_not_goes_first, 0,
                        POLICY_WEIGHTED);
    tcase_add_test(t, among_equals_the_oldest_goes);
}

Suite *suite_cache(void)
{
    TCase *t;
    Suite *const suite = suite_of("cache", 20, &t);
    add_policy_tests(t);
    tcase_add_test(t, lookup_changes_nothing);
    tcase_add_test(t, drop_forgets_each_line_that_it_touches);
    tcase_add_loop_test(t, clear_forgets_all, 0, POLICY_WEIGHTED);
    tcase_add_test(t, a_miss_brings_in_one_sector);
    tcase_add_test(t, a_sector_miss_evicts_nothing);
    tcase_add_test(t, what_comes_at_once_is_one_use);
    tcase_add_test(t, the_set_is_the_line_modulo_the_sets);
    tcase_add_test(t, set_bits_choose_the_set);
    tcase_add_test(t, listed_set_bits_are_xored);
    tcase_add_test(t, unequal_sets_are_filled_by_as_many_pages_as_they_hold);
    tcase_add_test(t, unequal_sets_are_dealt_to_from_an_entry_on);
    tcase_add_test(t, each_page_beyond_spoils_one_more_set);
    tcase_add_test(t, pages_are_dealt_in_rounds);
    tcase_add_loop_test(t, any_shape_does_what_the_obvious_implementation_does,
                        0, 200);
    tcase_add_test(t, an_address_has_a_slice_and_a_set_in_it);
    tcase_add_test(t, a_shape_has_the_bytes_of_all_its_lines);
    tcase_add_test(t, a_copied_shape_is_its_own);
    tcase_add_loop_test(t, an_impossible_shape_is_refused_with_a_reason, 0,
                        (int)COUNT_OF(impossible));
    tcase_add_test(t, policies_have_names);
    return suite;
}
