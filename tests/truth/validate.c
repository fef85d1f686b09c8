/*
 * What a validation says: of simulated GPUs all that was found foretells what
 * no study asked; and of one value that is wrong, whichever it is, that one is
 * named.  A few values in seconds; all, and noise on all GPUs, with LIES=1 in
 * the environment (`make falsify`), which takes a core an hour; with
 * LIES=l1.ways,p6000:l2.policy these values alone, of all GPUs or of one; with
 * LIES=none noise alone.  PROFILES="k40m p100" asks these GPUs alone.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "device/sim/profile/shipped.h"
#include "device/sim/sim.h"
#include "gpu_made.h"
#include "report/report.h"
#include "testing.h"
#include "truth/gpu.h"
#include "truth/truth.h"
#include "twin/validate/validate.h"

/* What is asked: NULL, all. */
static const struct validation_wish *wish;

static struct validation validated_on(struct profile *profile, const char *name,
                                      uint64_t seed, struct results *results)
{
    struct error err = {0};
    struct validation verdict = {0};
    struct device *const device = sim_open_profile(profile, name, seed);
    struct prober *const prober =
        prober_new(device, NULL, &(struct prober_options){.seed = seed});
    ASSERT_DONE(twin_validate(results, prober, wish, &verdict, &err), err);
    ck_assert_uint_eq(verdict.refused, 0);
    prober_free(prober);
    device_close(device);
    return verdict;
}

/* Of a changed K20c, whose text is freed. */
static struct profile *parsed(char *text)
{
    struct error err = {0};
    struct profile *profile = NULL;
    ASSERT_DONE(profile_parse(text, "k20c", &profile, &err), err);
    free(text);
    return profile;
}

/* On the shipped GPU with so many times its noise. */
static struct validation validated(const char *gpu, double noise, uint64_t seed,
                                   struct results *results)
{
    struct error err = {0};
    struct profile *profile = NULL;
    ASSERT_DONE(profile_open(gpu, NULL, &profile, &err), err);
    profile->jitter_cycles *= noise;
    profile->spike_rate *= noise;
    return validated_on(profile, gpu, seed, results);
}

/* All but so many loads of sets that others come into, too. */
static void assert_foretold_but(size_t others, const char *gpu, double noise,
                                uint64_t seed)
{
    struct results results = {0};
    truth_results(gpu, &results);
    const struct validation v = validated(gpu, noise, seed, &results);
    /* What nothing asked is said, and is no doubt. */
    for (size_t i = 0; i < results.finding_count; i++) {
        const struct finding *const f = results.findings[i];
        ck_assert_msg(f->status == STATUS_NOT_MEASURED || f->because == NULL ||
                          strstr(f->because, "held-out") == NULL,
                      "%s, noise %g: %s: %s", gpu, noise, f->id, f->because);
    }
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_uint_gt(v.loads, 1000);
    /* Of a median that noise moves, one in a thousand. */
    ck_assert_uint_le(1000 * (v.loads - v.loads_right),
                      v.loads + 1000 * others);
    ck_assert_uint_eq(v.means, v.means_right);
    ck_assert_uint_ge(v.means, 10);
    results_free(&results);
}

static void assert_all_foretold(const char *gpu, double noise, uint64_t seed)
{
    assert_foretold_but(0, gpu, noise, seed);
}

START_TEST(all_is_foretold)
{
    assert_all_foretold(truth_gpus[_i], 1, 3);
}
END_TEST

/* Of as many lines of L2 as fit some are gone on the twin, by its addresses.
 * Buggy result: L2's policy in doubt, with two seeds of forty. */
START_TEST(sets_that_others_come_into_are_no_doubt)
{
    static const uint64_t seeds[] = {8, 28};
    enum { OF_A_SET = 5 };
    assert_foretold_but(OF_A_SET, "k20c", 1, seeds[_i]);
}
END_TEST

START_TEST(noise_is_no_doubt)
{
    assert_all_foretold(truth_gpus[_i], 3, 4);
}
END_TEST

/* ---- one value is wrong ----------------------------------------------- */

struct lie {
    const char *attribute, *what;
    /* False: there is no such lie of this value. */
    bool (*tell)(struct finding *f, const struct results *results);
};

static bool one_more(struct finding *f, const struct results *results)
{
    (void)results;
    f->value.number += 1;
    return true;
}

static bool one_less(struct finding *f, const struct results *results)
{
    (void)results;
    f->value.number -= 1;
    return true;
}

static bool doubled(struct finding *f, const struct results *results)
{
    (void)results;
    f->value.number *= 2;
    return true;
}

static bool tenth_more(struct finding *f, const struct results *results)
{
    (void)results;
    f->value.number *= 1.1;
    return true;
}

static bool tenth_less(struct finding *f, const struct results *results)
{
    (void)results;
    f->value.number *= 0.9;
    return true;
}

static bool other_policy(struct finding *f, const struct results *results)
{
    (void)results;
    const bool fifo = strcmp(f->value.text, "fifo") == 0;
    value_free(&f->value);
    f->value = value_text(fifo ? "lru" : "fifo");
    return true;
}

static double top_of(const struct value *v)
{
    double top = v->kind == VALUE_NUMBER ? v->number : 0;
    for (size_t i = 0; i < v->count; i++)
        top = fmax(top, top_of(&v->items[i]));
    return top;
}

/* The first index bit is the XOR with another one. */
static bool xored(struct finding *f, const struct results *results)
{
    (void)results;
    if (f->value.kind != VALUE_LIST || f->value.items[0].kind != VALUE_NUMBER)
        return false;
    struct value both = value_list();
    value_push(&both, value_number(f->value.items[0].number));
    value_push(&both, value_number(top_of(&f->value) + 1));
    f->value.items[0] = both;
    return true;
}

/* The last one is another bit. */
static bool other_bit(struct finding *f, const struct results *results)
{
    (void)results;
    struct value *const last = &f->value.items[f->value.count - 1];
    if (f->value.kind != VALUE_LIST || last->kind != VALUE_NUMBER)
        return false;
    last->number = top_of(&f->value) + 1;
    return true;
}

/* The first bit that is an XOR of several is one of fewer: of one that lies
 * low, since loads may never differ in a high one. */
static bool bit_less(struct finding *f, const struct results *results)
{
    (void)results;
    for (size_t i = 0; i < f->value.count; i++) {
        struct value *const mask = &f->value.items[i];
        if (mask->kind != VALUE_LIST || mask->count < 2)
            continue;
        for (size_t k = 1; k + 1 < mask->count; k++)
            mask->items[k] = mask->items[k + 1];
        mask->count--;
        return true;
    }
    return false;
}

static bool line_more(struct finding *f, const struct results *results)
{
    char id[64];
    snprintf(id, sizeof id, "%.*s.line", (int)(strchr(f->id, '.') - f->id),
             f->id);
    const struct finding *const line = results_find(results, id);
    f->value.number += line != NULL ? line->value.number : 0;
    return line != NULL;
}

static const struct lie lies[] = {
    {"ways", "a way more", one_more},
    {"line", "doubled", doubled},
    {"size", "a line more", line_more},
    {"sets", "doubled", doubled},
    {"policy", "another", other_policy},
    {"set_bits", "a bit XORed", xored},
    {"set_bits", "another bit", other_bit},
    {"set_bits", "of an XOR a bit less", bit_less},
    {"entries", "one less", one_less},
    {"region", "doubled", doubled},
    {"latency", "a tenth more", tenth_more},
    {"latency", "a tenth less", tenth_less},
    {"miss_penalty", "a tenth more", tenth_more},
};

/* True of what a validation speaks of: caches, TLBs, memory, code. */
static bool is_lie_of(const struct finding *f, const struct lie *lie)
{
    return strcmp(strchr(f->id, '.') + 1, lie->attribute) == 0 &&
           f->status != STATUS_NOT_MEASURED && f->value.kind != VALUE_NONE;
}

static bool is_known(const struct results *results, const struct finding *f,
                     const char *attribute)
{
    char id[64];
    snprintf(id, sizeof id, "%.*s.%s", (int)strcspn(f->id, "."), f->id,
             attribute);
    const struct finding *const other = results_find(results, id);
    return other != NULL && other->value.kind != VALUE_NONE;
}

/* Why no held-out experiment asks of it; NULL: some do. */
static const char *why_unasked(const struct finding *f,
                               const struct results *results)
{
    const bool cost =
        text_glob("*.latency", f->id) || text_glob("*.miss_penalty", f->id);
    if (cost && text_glob("icache_*", f->id))
        return "no held-out experiment asks what a miss of code costs";
    if (cost)
        return NULL;
    if (!is_known(results, f, "miss_penalty"))
        return "what a miss costs was not found, which tells it from a hit";
    /* Nor what they make room for, which ways and lines must agree with. */
    if (strncmp(f->id, "l2.", strlen("l2.")) == 0 &&
        !is_known(results, f, "set_bits") &&
        ((strcmp(f->id, "l2.ways") != 0 && strcmp(f->id, "l2.line") != 0) ||
         !is_known(results, f, "sets")))
        return "its index was not found, which tells what lines meet";
    return NULL;
}

/* Why such a lie is none that an experiment could tell; NULL: it is one. */
static const char *why_no_lie(const struct finding *f, const struct lie *lie)
{
    if (f->status == STATUS_AT_LEAST || f->status == STATUS_AT_MOST)
        return "it is but a bound";
    if (f->status == STATUS_IN_DOUBT)
        return "it is in doubt already";
    if (f->status == STATUS_REPORTED)
        return "it is what the driver says";
    if (lie->tell != tenth_more && lie->tell != tenth_less)
        return NULL;
    if (0.1 * f->value.number <= 1)
        return "a tenth is less than a cycle, which two ways of timing differ "
               "by";
    if (f->has_interval &&
        f->interval[1] - f->interval[0] >= 0.15 * f->value.number)
        return "it is not known to a tenth";
    return NULL;
}

struct count {
    unsigned told, named, alone, none;
};

/* Tells a lie, and counts who is named. */
static void tell(const char *gpu, const struct lie *lie, const char *id,
                 struct count *count)
{
    struct results results = {0};
    truth_results(gpu, &results);
    for (size_t i = 0; i < results.finding_count; i++) {
        struct finding *const at = results.findings[i];
        if (strcmp(at->id, id) != 0 || !lie->tell(at, &results))
            continue;
        const struct validation v = validated(gpu, 1, 5, &results);
        const bool named = at->status == STATUS_IN_DOUBT;
        count->told++;
        count->named += named;
        count->alone += named && v.doubted == 1;
        if (!named || v.doubted != 1)
            printf("%s: %s %s: %s, %zu in doubt\n", gpu, id, lie->what,
                   named ? "named" : "missed", v.doubted);
        break;
    }
    results_free(&results);
}

/* All lies of a GPU, or those of few ids.  What is not told is said. */
static struct count tell_all(const char *gpu, const char *const *ids)
{
    struct results results = {0};
    struct count count = {0};
    truth_results(gpu, &results);
    for (size_t i = 0; i < results.finding_count; i++)
        for (size_t k = 0; k < COUNT_OF(lies); k++) {
            const struct finding *const f = results.findings[i];
            if (!is_lie_of(f, &lies[k]) ||
                (ids != NULL && !text_is_among(f->id, ids)))
                continue;
            const char *why = why_no_lie(f, &lies[k]);
            why = why != NULL ? why : why_unasked(f, &results);
            if (why == NULL)
                tell(gpu, &lies[k], f->id, &count);
            else
                printf("%s: %s %s: not told: %s\n", gpu, f->id, lies[k].what,
                       why);
            count.none += why != NULL;
        }
    results_free(&results);
    return count;
}

/* A way, a line, a policy, an entry; the rest in slow tests.  The second GPU is
 * none of those that other suites try. */
static const struct {
    const char *gpu, *ids[4];
    unsigned lies;
} sample[] = {
    {"k20c", {"l1.ways", "tlb_l1.entries", "const_l1.policy"}, 3},
    {"quick", {"l1.line", "l2.set_bits", "tlb_l1.policy"}, 4},
};

START_TEST(a_wrong_value_is_named)
{
    const struct count count = tell_all(sample[_i].gpu, sample[_i].ids);
    ck_assert_uint_eq(count.told, sample[_i].lies);
    ck_assert_uint_eq(count.named, count.told);
    ck_assert_uint_eq(count.alone, count.told);
}
END_TEST

/* What was missed before, of GPUs that show why: windows of pages, which no
 * translation is seen beside; weights for another number of ways; a size of
 * half of what sets would hold; more constants than a module may hold; late
 * loads; a TLB of which no set is known, and one whose sets are dealt from
 * anywhere; walks whose jitter is as much as a tenth of a load; 128 ways, of
 * which one is lost by chance. */
static const struct {
    const char *gpu, *ids[4];
} missed[] = {
    {"gtx560ti", {"l1.ways"}},
    {"p6000", {"const_l15.sets"}},
    {"gtx780", {"tlb_l1.sets", "tlb_l2.policy", "tlb_l2.region"}},
    {"k40m", {"const_l1.latency"}},
    {"v100", {"const_l15.policy", "const_l15.miss_penalty", "const_l15.size"}},
    {"a100", {"shared.latency", "tlb_l1.miss_penalty", "tlb_l2.region"}},
    {"titanrtx", {"l1.ways"}},
};

START_TEST(a_hidden_value_is_named)
{
    const struct count count = tell_all(missed[_i].gpu, missed[_i].ids);
    ck_assert_uint_ge(count.told, 1);
    ck_assert_uint_eq(count.named, count.told);
    ck_assert_uint_eq(count.alone, count.told);
}
END_TEST

/* The ids that LIES lists, of all GPUs or, "gpu:id", of that one; NULL: all. */
static const char *const *asked_ids(char *list, const char *gpu)
{
    static const char *ids[33];
    size_t count = 0;
    if (strchr(list, '.') == NULL && strcmp(list, "none") != 0)
        return NULL;
    for (char *id = strtok(list, ","); id != NULL && count < COUNT_OF(ids) - 1;
         id = strtok(NULL, ",")) {
        const size_t named = strcspn(id, ":");
        if (id[named] == '\0')
            ids[count++] = id;
        else if (strlen(gpu) == named && strncmp(id, gpu, named) == 0)
            ids[count++] = id + named + 1;
    }
    ids[count] = NULL;
    return ids;
}

/* The shipped GPU, and after the last the quick one; NULL: PROFILES asks
 * others. */
static const char *asked_gpu(int i)
{
    const char *const list = getenv("PROFILES");
    const char *const name = shipped_profiles[i].name != NULL
                                 ? shipped_profiles[i].name
                                 : QUICK_PROFILE;
    const size_t length = strlen(name);
    const char *at = list != NULL && list[0] != '\0' ? list : NULL;
    if (at == NULL)
        return name;
    for (; *at != '\0'; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strcspn(at, " ") == length && strncmp(at, name, length) == 0)
            return name;
    }
    return NULL;
}

static int shipped_count(void)
{
    int count = 1; /* the quick one */
    while (shipped_profiles[count - 1].name != NULL)
        count++;
    return count;
}

START_TEST(all_is_foretold_of_each)
{
    if (asked_gpu(_i) != NULL)
        assert_all_foretold(asked_gpu(_i), 1, 3);
}
END_TEST

START_TEST(noise_is_no_doubt_of_any)
{
    if (asked_gpu(_i) != NULL)
        assert_all_foretold(asked_gpu(_i), 3, 4);
}
END_TEST

START_TEST(any_wrong_value_is_named)
{
    const char *const gpu = asked_gpu(_i);
    if (gpu == NULL)
        return;
    char *const list = xstrdup(getenv("LIES"));
    const char *const *const ids = asked_ids(list, gpu);
    const double began = now_seconds();
    const struct count count = tell_all(gpu, ids);
    printf("%s: %u lies, %u named, %u alone, %u not told, %.0f s\n", gpu,
           count.told, count.named, count.alone, count.none,
           now_seconds() - began);
    fflush(stdout); /* what fails ends the process */
    ck_assert_uint_ge(count.told, ids == NULL ? 40 : 0);
    ck_assert_uint_eq(count.named, count.told);
    free(list);
}
END_TEST

/* A report that lacks most is validated in what it has. */
START_TEST(what_was_measured_is_tried)
{
    struct results results = {0};
    truth_results("k20c", &results);
    for (size_t i = 0; i < results.finding_count; i++)
        if (strncmp(results.findings[i]->id, "l2.", 3) != 0 &&
            strncmp(results.findings[i]->id, "memory.", 7) != 0)
            finding_none(results.findings[i], "%s", "it was not asked");
    const struct validation v = validated("k20c", 1, 1, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_ptr_nonnull(results_find(&results, "predicted.l2.ways"));
    ck_assert_ptr_null(results_find(&results, "predicted.l1.ways"));
    results_free(&results);
}
END_TEST

/* What was found of all others is not there, but for what hits cost. */
static void leave_alone(struct results *results, const char *ids)
{
    for (size_t i = 0; i < results->finding_count; i++)
        if (!text_glob(ids, results->findings[i]->id) &&
            !text_glob("*.latency", results->findings[i]->id))
            finding_none(results->findings[i], "%s", "it was not asked");
}

/* Which loads of chance hit is not foretold, and how many are.  Expected: it
 * was asked, and no load of it counts.  Buggy result: all were right. */
START_TEST(loads_of_chance_do_not_count)
{
    struct results results = {0};
    char *const text = gpu_changed("k20c", "caches/texture/policy=random");
    truth_results("k20c", &results);
    struct finding *const policy = results_edit(&results, "texture", "policy");
    value_free(&policy->value);
    policy->value = value_text("random");
    leave_alone(&results, "texture.*");
    const struct validation v = validated_on(parsed(text), "k20c", 1, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_uint_eq(v.loads, 0);
    ck_assert_double_eq(
        results_find(&results, "predicted.texture.policy")->value.number, 1);
    results_free(&results);
}
END_TEST

/* By laps alone most policies are alike, and of what lies behind a cache of
 * which no policy is known nothing else is asked.  Expected: nor is its policy.
 * Buggy result: that was foretold. */
START_TEST(laps_ask_no_policy)
{
    struct results results = {0};
    truth_results("k20c", &results);
    leave_alone(&results, "const_*");
    finding_none(results_edit(&results, "const_l1", "policy"), "not found");
    const struct validation v = validated("k20c", 1, 1, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_int_eq(results_find(&results, "predicted.const_l15.ways")->status,
                     STATUS_MEASURED);
    ck_assert_int_eq(
        results_find(&results, "predicted.const_l15.policy")->status,
        STATUS_NOT_MEASURED);
    results_free(&results);
}
END_TEST

/* Of an L2 of real GPUs a set is found among lines in random order, and no
 * index: which lines push each other out is not foretold then.  Buggy result:
 * of sets that were chosen it was, and H100s were in doubt. */
START_TEST(sets_without_an_index_foretell_nothing)
{
    struct results results = {0};
    truth_results("k20c", &results);
    finding_none(results_edit(&results, "l2", "set_bits"), "not asked");
    finding_none(results_edit(&results, "l2", "slice_modulo"), "not asked");
    const struct validation v = validated("k20c", 1, 1, &results);
    ck_assert_uint_eq(v.doubted, 0);
    const struct finding *const ways =
        results_find(&results, "predicted.l2.ways");
    ck_assert_ptr_nonnull(ways); /* and says that nothing asked of it */
    ck_assert_int_eq(ways->status, STATUS_NOT_MEASURED);
    ck_assert_ptr_nonnull(results_find(&results, "predicted.l1.ways"));
    results_free(&results);
}
END_TEST

/* Ways and lines of such sets make room for what fits, though it is known to
 * within a hundredth alone how many there are.  Buggy result: of an H200's L2 a
 * way more passed. */
static const struct {
    const char *id; /* NULL: nothing is wrong */
    double times;
} rooms[] = {{NULL, 1}, {"l2.ways", 17.0 / 16}, {"l2.line", 2}};

START_TEST(sets_without_an_index_make_room)
{
    struct results results = {0};
    const char *const id = rooms[_i].id;
    truth_results("k20c", &results);
    struct finding *const sets = results_edit(&results, "l2", "sets");
    finding_none(results_edit(&results, "l2", "set_bits"), "not asked");
    finding_none(results_edit(&results, "l2", "slice_modulo"), "not asked");
    sets->status = STATUS_IN_DOUBT;
    finding_interval(sets, 0.99 * sets->value.number, 1.01 * sets->value.number,
                     0.95);
    for (size_t i = 0; id != NULL && i < results.finding_count; i++)
        if (strcmp(results.findings[i]->id, id) == 0)
            results.findings[i]->value.number *= rooms[_i].times;
    const struct validation v = validated("k20c", 1, 1, &results);
    ck_assert_int_eq(v.doubted > 0, id != NULL);
    if (id != NULL)
        ck_assert_int_eq(results_find(&results, id)->status, STATUS_IN_DOUBT);
    results_free(&results);
}
END_TEST

/* An L1 of whose sets two hold a line less, which of the others' lines nobody
 * sees. */
enum { FEWER_SETS = 512, FEWER_WAYS = 4, FEWER_LINES = 2046 };

static struct profile *with_less_than_sets_hold(void)
{
    struct error err = {0};
    struct profile *profile = NULL;
    char *const text =
        gpu_changed("k20c", "caches/l1={'line': 128, 'sector': 128, "
                            "'policy': 'lru', 'sets': 512, 'ways': 4, "
                            "'set_bits': [7, 8, 9, 10, 11, 12, 13, 14, 15]}");
    ASSERT_DONE(profile_parse(text, "k20c", &profile, &err), err);
    for (size_t i = 0; i < profile->cache_count; i++)
        if (strcmp(profile->caches[i].name, "l1") == 0)
            for (size_t set = FEWER_SETS - 2; set < FEWER_SETS; set++)
                profile->caches[i].shape.set_ways[set]--;
    free(text);
    return profile;
}

static void say_number(struct results *results, const char *component,
                       const char *attribute, double number)
{
    struct finding *const f = results_edit(results, component, attribute);
    value_free(&f->value);
    f->value = value_number(number);
    f->has_interval = false;
}

static void say_cache(struct results *results, const char *component,
                      double lines)
{
    struct finding *const bits = results_edit(results, component, "set_bits");
    say_number(results, component, "size", 128 * lines);
    say_number(results, component, "sets", FEWER_SETS);
    say_number(results, component, "ways", FEWER_WAYS);
    value_free(&bits->value);
    bits->value = value_list();
    for (int bit = 7; 1 << (bit - 7) < FEWER_SETS; bit++)
        value_push(&bits->value, value_number(bit));
}

/* Of a size that is less than what all sets hold lines that meet tell nothing,
 * and rings do.  Buggy result: of an L1 that was told to be a line larger what
 * local loads see of it was in doubt, and its size was not. */
START_TEST(a_size_of_less_than_sets_hold_is_asked)
{
    const int off = _i - 1; /* a line less, none, a line more */
    struct results results = {0};
    truth_results("k20c", &results);
    say_cache(&results, "local", FEWER_LINES);
    say_cache(&results, "l1", FEWER_LINES + off);
    const struct validation v =
        validated_on(with_less_than_sets_hold(), "k20c", 1, &results);
    const struct finding *const size = results_find(&results, "l1.size");
    ck_assert_uint_eq(v.doubted, off != 0);
    ck_assert_int_eq(size->status == STATUS_IN_DOUBT, off != 0);
    ck_assert_msg(off == 0 || strstr(size->because, "261888 B do") != NULL,
                  "%s", size->because);
    results_free(&results);
}
END_TEST

/* Lines of local memory are 128 bytes apart, whatever is of a line there, and
 * of a ring as large as five caches a fourth as many of 32.  Buggy result:
 * 15 KiB of such were asked of 12, of which victims by chance leave most, and
 * what a miss adds was in doubt. */
START_TEST(short_lines_of_local_memory_overfill)
{
    static const char *const open[] = {"sets", "ways", "set_bits", "policy"};
    struct results results = {0};
    struct profile *profile = NULL;
    char *const text = gpu_changed(
        "k20c", "caches/l1={'line': 32, 'sector': 32, 'policy': 'random', "
                "'sets': 16, 'ways': 24, 'set_bits': [7, 8, 9, 10]}");
    profile = parsed(text);
    truth_results("k20c", &results);
    for (int i = 0; i < 2; i++) {
        const char *const component = i == 0 ? "l1" : "local";
        say_number(&results, component, "line", 32);
        say_number(&results, component, "sector", 32);
        say_number(&results, component, "size", 12288);
        for (size_t k = 0; k < COUNT_OF(open); k++)
            finding_none(results_edit(&results, component, open[k]), "open");
    }
    const struct validation v = validated_on(profile, "k20c", 2, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_int_eq(
        results_find(&results, "predicted.local.miss_penalty")->status,
        STATUS_MEASURED);
    results_free(&results);
}
END_TEST

/* Half a MiB of local memory is twice what this L1 holds, of which its policy
 * keeps some lines: the share that it does not tells what a miss costs.  Buggy
 * result: no experiment asked of it, so that any penalty was believed. */
static const double penalty_told[] = {1, 0.9, 1.1};

START_TEST(misses_of_a_large_l1_are_asked_of_local_memory)
{
    const double times = penalty_told[_i];
    struct results results = {0};
    struct profile *profile = NULL;
    char *const text =
        gpu_changed("k20c", "caches/l1={'line': 128, 'sector': 128, "
                            "'policy': {'kind': 'lru_midpoint', 'behind': 2}, "
                            "'sets': 512, 'ways': 4, "
                            "'set_bits': [7, 8, 9, 10, 11, 12, 13, 14, 15]}");
    profile = parsed(text);
    truth_results("k20c", &results);
    for (int i = 0; i < 2; i++) {
        const char *const component = i == 0 ? "l1" : "local";
        struct finding *const policy =
            results_edit(&results, component, "policy");
        say_cache(&results, component, FEWER_SETS * FEWER_WAYS);
        finding_set(policy, STATUS_MEASURED, value_text("lru_midpoint"), "");
        finding_protocol(policy, "behind", value_number(2));
    }
    struct finding *const told =
        results_edit(&results, "local", "miss_penalty");
    say_number(&results, "local", "miss_penalty", times * told->value.number);
    const struct validation v = validated_on(profile, "k20c", 1, &results);
    ck_assert_uint_eq(v.doubted, times != 1);
    ck_assert_int_eq(told->status == STATUS_IN_DOUBT, times != 1);
    ck_assert_int_eq(
        results_find(&results, "predicted.local.miss_penalty")->status,
        STATUS_MEASURED);
    results_free(&results);
}
END_TEST

/* Buggy result: of an L1.5 whose lines nobody knows words in a row were asked,
 * which the first cache of constants has, and what its hits cost was in doubt.
 */
START_TEST(lines_that_are_not_known_are_those_in_front)
{
    static const char *const open[] = {"line", "sector",   "sets",
                                       "ways", "set_bits", "policy"};
    struct results results = {0};
    truth_results("k20c", &results);
    for (size_t k = 0; k < COUNT_OF(open); k++)
        finding_none(results_edit(&results, "const_l15", open[k]), "open");
    const struct validation v = validated("k20c", 1, 1, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_int_eq(
        results_find(&results, "predicted.const_l15.latency")->status,
        STATUS_MEASURED);
    results_free(&results);
}
END_TEST

/* ---- code --------------------------------------------------------------- */

/* What costs little, as at the end of a run of all studies. */
static const struct validation_wish quickly = {.means_only = true,
                                               .brief = true};

static void assert_doubted(const struct results *results, const char *id,
                           bool expected)
{
    const struct finding *const f = results_find(results, id);
    ck_assert_msg((f->status == STATUS_IN_DOUBT) == expected, "%s %s: %s", id,
                  expected ? "is told" : "is in doubt",
                  f->because != NULL ? f->because : "not said why");
}

enum { TOLD_QUICKLY = 4 };

/* What is told of k20c's caches of code, so that it contradicts nothing; some
 * number of times what was found, but of a policy. */
static const struct {
    const char *component;
    double line, sets, ways;
    const char *policy;
} told_of_code[] = {
    {"icache_l0", 2, 1, 0.5, NULL},
    {"icache_l1", 0.5, 1, 2, NULL},
    {"icache_l1", 1, 1, 1.125, NULL},
    {"icache_l0", 1, 1, 1, "fifo"},
    /* slow */
    {"icache_l0", 0.5, 1, 2, NULL},
    {"icache_l0", 2, 0.5, 1, NULL},
    {"icache_l0", 0.5, 2, 1, NULL},
    {"icache_l0", 1, 2, 0.5, NULL},
    {"icache_l0", 1, 0.5, 2, NULL},
    {"icache_l0", 1, 1, 0.75, NULL},
    {"icache_l0", 1, 1, 1.25, NULL},
    {"icache_l0", 1, 1, 1, "random"},
    {"icache_l1", 2, 1, 0.5, NULL},
    {"icache_l1", 2, 0.5, 1, NULL},
    {"icache_l1", 0.5, 2, 1, NULL},
    {"icache_l1", 1, 2, 0.5, NULL},
    {"icache_l1", 1, 0.5, 2, NULL},
    {"icache_l1", 1, 1, 0.875, NULL},
    {"icache_l1", 1, 1, 1, "fifo"},
    {"icache_l1", 1, 1, 1, "nru"},
};

static void tell_times(struct results *results, const char *component,
                       const char *attribute, double times)
{
    const struct finding *const f = results_edit(results, component, attribute);
    say_number(results, component, attribute, times * f->value.number);
}

/* Expected: what is wrong is in doubt, and nothing of another cache.  Buggy
 * result: nothing asked of code, and lines of 128 B for 64, of half as many
 * ways, passed. */
START_TEST(what_is_wrong_of_code_is_named)
{
    static const char *const names[] = {"line", "sets", "ways", "policy",
                                        "size"};
    const char *const component = told_of_code[_i].component;
    const double line = told_of_code[_i].line, sets = told_of_code[_i].sets,
                 ways = told_of_code[_i].ways;
    const bool wrong[] = {line != 1, sets != 1, ways != 1,
                          told_of_code[_i].policy != NULL,
                          line * sets * ways != 1};
    struct results results = {0};
    wish = &quickly;
    truth_results("k20c", &results);
    tell_times(&results, component, "line", line);
    tell_times(&results, component, "sets", sets);
    tell_times(&results, component, "ways", ways);
    tell_times(&results, component, "size", line * sets * ways);
    if (told_of_code[_i].policy != NULL) {
        struct finding *const f = results_edit(&results, component, "policy");
        value_free(&f->value);
        f->value = value_text(told_of_code[_i].policy);
    }
    validated("k20c", 1, (uint64_t)_i, &results);
    wish = NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char id[64];
        snprintf(id, sizeof id, "%s.%s", component, names[i]);
        if (wrong[i])
            assert_doubted(&results, id, true);
        snprintf(id, sizeof id, "icache_l%d.%s", component[8] == '0', names[i]);
        assert_doubted(&results, id, false);
    }
    results_free(&results);
}
END_TEST

/* Whatever is drawn, and with as much noise as there may be. */
START_TEST(what_is_right_of_code_is_no_doubt)
{
    static const char *const of[] = {"icache_l0", "icache_l1"};
    static const double noise[] = {1, 1, 1, 2, 3};
    struct results results = {0};
    wish = &quickly;
    truth_results("k20c", &results);
    const struct validation v =
        validated("k20c", noise[_i], 10 + (uint64_t)_i, &results);
    wish = NULL;
    ck_assert_uint_eq(v.doubted, 0);
    for (size_t i = 0; i < COUNT_OF(of); i++) {
        struct finding *const line = results_edit(&results, of[i], "line");
        ck_assert_int_eq(line->status, STATUS_MEASURED);
    }
    results_free(&results);
}
END_TEST

/* The last cache of code is that of constants, of 128 KiB in lines of 128 B, of
 * which the nearest asks for two at a time: only constants show that they are
 * two.  Expected: lines of 256 B in half as many ways are in doubt, and lines
 * of 128 B are not.  Buggy result: they were believed (the random GPU
 * 1141000044).
 */
START_TEST(halves_of_lines_are_asked_by_constants)
{
    const double line = _i == 0 ? 256 : 128;
    struct results results = {0};
    struct profile *profile = NULL;
    char *const text = gpu_changed(
        "k20c", "caches/icache_l1={'line': 256, 'sector': 256, 'sets': 8, "
                "'ways': 4, 'policy': 'lru'} caches/const_l15={'line': 128, "
                "'sector': 128, 'sets': 64, 'ways': 16, 'policy': 'lru', "
                "'set_bits': [8, 9, 10, 11, 12, 13]}");
    profile = parsed(text);
    wish = &quickly;
    truth_results("k20c", &results);
    say_number(&results, "icache_l0", "line", 256);
    say_number(&results, "icache_l0", "sets", 8);
    say_number(&results, "icache_l1", "line", line);
    say_number(&results, "icache_l1", "sets", 64);
    say_number(&results, "icache_l1", "ways", 2048 / line);
    say_number(&results, "icache_l1", "size", 131072);
    for (int i = 0; i < 5; i++)
        finding_none(
            results_edit(&results, "const_l15",
                         (const char *const[]){"line", "sector", "sets", "ways",
                                               "policy"}[i]),
            "open");
    say_number(&results, "const_l15", "size", 131072);
    validated_on(profile, "k20c", 1, &results);
    wish = NULL;
    assert_doubted(&results, "icache_l1.line", _i == 0);
    assert_doubted(&results, "icache_l1.ways", _i == 0);
    assert_doubted(&results, "icache_l1.size", false);
    results_free(&results);
}
END_TEST

static void tell_code(struct results *results, const char *component,
                      double line, double sets, double ways, const char *policy)
{
    say_number(results, component, "line", line);
    say_number(results, component, "sets", sets);
    say_number(results, component, "ways", ways);
    say_number(results, component, "size", line * sets * ways);
    struct finding *const f = results_edit(results, component, "policy");
    value_free(&f->value);
    f->value = value_text(policy);
}

/* Ways are a bound, and so is the size. */
static void tell_bound(struct results *results, const char *component,
                       double size)
{
    say_number(results, component, "size", size);
    results_edit(results, component, "ways")->status = STATUS_AT_LEAST;
    results_edit(results, component, "size")->status = STATUS_AT_LEAST;
}

/* What comes ahead to both caches, and what a miss of each costs. */
static void tell_ahead(struct results *results, double lines, double penalty,
                       double penalty_l1)
{
    say_number(results, "icache_l0", "prefetch", lines);
    say_number(results, "icache_l1", "prefetch", lines);
    say_number(results, "icache_l0", "miss_penalty", penalty);
    say_number(results, "icache_l1", "miss_penalty", penalty_l1);
}

/* Of a nearest cache whose victims are the first that came, calls return now
 * and then to a line of the loop that is gone, which costs 138 cycles more; a
 * miss of the next one costs 190.  Expected: the bound of that one is none that
 * is wrong.  Buggy result: such calls were taken for misses, and the bound was
 * in doubt, since of calls that fit by it 24 % missed (the random GPU
 * 1145000137). */
START_TEST(late_hits_are_no_misses_of_code)
{
    struct results results = {0};
    struct profile *profile = NULL;
    char *const text = gpu_changed(
        "k20c", "caches/i0={'line': 64, 'sector': 64, 'sets': 7, 'ways': 16, "
                "'policy': 'fifo'} caches/i1={'line': 64, 'sector': 64, "
                "'sets': 84, 'ways': 12, 'policy': 'random'} "
                "paths/instruction={'i0': 2, 'i1': 140, 'memory': 330} "
                "paths/instruction/prefetch=4");
    profile = parsed(text);
    wish = &quickly;
    truth_results("k20c", &results);
    tell_code(&results, "icache_l0", 64, 7, 16, "fifo");
    tell_bound(&results, "icache_l0", 64 * 7 * 16);
    tell_code(&results, "icache_l1", 64, 84, 5, "random");
    tell_bound(&results, "icache_l1", 64 * 84 * 5);
    tell_ahead(&results, 4, 138, 190);
    validated_on(profile, "k20c", 1 + (uint64_t)_i, &results);
    wish = NULL;
    assert_doubted(&results, "icache_l1.ways", false);
    assert_doubted(&results, "icache_l1.size", false);
    results_free(&results);
}
END_TEST

/* The same, and what was asked is said. */
static const struct validation_wish noted = {.means_only = true};

/* What is told of a nearest cache as an H100's, one set of 46 lines of 128 B,
 * of which the first that came goes: three more come with one that is missed,
 * or with each, so that no line is called to which none of them comes.  Its
 * ways are but a bound. */
static const struct {
    double line, sets, ways;
    const char *policy, *named; /* NULL: nothing is wrong */
    bool each;
} told_of_nearest[] = {
    {128, 1, 46, "fifo", NULL, false},    {128, 1, 46, "fifo", NULL, true},
    {128, 1, 41, "fifo", NULL, false},    {256, 1, 46, "fifo", "line", false},
    {128, 2, 46, "fifo", "sets", false},  {128, 1, 46, "lru", "policy", false},
    {128, 1, 41, "lru", "policy", false}, {128, 1, 46, "lru", "policy", true},
    {128, 1, 60, "fifo", "ways", false},
};

/* Buggy result: nothing was asked of it, and all was believed. */
START_TEST(a_nearest_code_cache_of_few_sets_is_foretold)
{
    static const char *const sure[] = {"line", "sets", "policy"};
    static const char *const bounds[] = {"icache_l0.ways", "icache_l0.size"};
    static const double size = 5888;
    const char *const named = told_of_nearest[_i].named;
    struct results results = {0};
    char *const text = gpu_changed(
        "k20c",
        told_of_nearest[_i].each
            ? "caches/i0={'line': 128, 'sector': 128, 'sets': 1, 'ways': 46, "
              "'policy': 'fifo'} caches/i1={'line': 128, 'sector': 128, "
              "'sets': 64, 'ways': 4, 'policy': 'plru'} "
              "paths/instruction={'i0': 4, 'i1': 17, 'memory': 300} "
              "paths/instruction/prefetch=3 "
              "paths/instruction/prefetch_on_hits=true"
            : "caches/i0={'line': 128, 'sector': 128, 'sets': 1, 'ways': 46, "
              "'policy': 'fifo'} caches/i1={'line': 128, 'sector': 128, "
              "'sets': 64, 'ways': 4, 'policy': 'plru'} "
              "paths/instruction={'i0': 4, 'i1': 17, 'memory': 300} "
              "paths/instruction/prefetch=3");
    struct profile *const profile = parsed(text);
    wish = &noted;
    truth_results("k20c", &results);
    tell_code(&results, "icache_l0", told_of_nearest[_i].line,
              told_of_nearest[_i].sets, told_of_nearest[_i].ways,
              told_of_nearest[_i].policy);
    tell_bound(&results, "icache_l0", size / 46 * told_of_nearest[_i].ways);
    tell_code(&results, "icache_l1", 128, 64, 4, "plru");
    tell_ahead(&results, 3, 13, 283);
    finding_protocol(
        results_edit(&results, "icache_l0", "prefetch"), "after",
        value_text(told_of_nearest[_i].each ? "each call" : "a miss"));
    validated_on(profile, "k20c", (uint64_t)_i, &results);
    wish = NULL;
    for (size_t i = 0; i < COUNT_OF(sure); i++) {
        char id[64];
        snprintf(id, sizeof id, "icache_l0.%s", sure[i]);
        assert_doubted(&results, id,
                       named != NULL && strcmp(named, sure[i]) == 0);
        snprintf(id, sizeof id, "predicted.icache_l0.%s", sure[i]);
        ck_assert_int_eq(results_find(&results, id)->status, STATUS_MEASURED);
    }
    for (size_t i = 0; i < COUNT_OF(bounds); i++)
        assert_doubted(&results, bounds[i],
                       named != NULL && strcmp(named, "ways") == 0);
    results_free(&results);
}
END_TEST

/* A cache that chance decides in has been full of other lines, which it takes
 * one by one; where some ways go seldom, that takes long.  Expected: a bound
 * that holds is no doubt.  Buggy result: run from when it is empty it foretold
 * no miss of what fits, 7 % missed, and were said to be 23 % (the random GPU
 * 1241000181). */
START_TEST(bounds_that_chance_decides_in_are_no_doubt)
{
    struct results results = {0};
    char *const text = gpu_changed(
        "k20c", "caches/i0={'line': 64, 'sector': 64, 'sets': 16, 'ways': 12, "
                "'policy': 'lru'} caches/i1={'line': 128, 'sector': 128, "
                "'sets': 64, 'ways': 16, 'set_bits': [9, 10, 11, 12, 13, 14], "
                "'policy': {'kind': 'weighted', "
                "'weights': [2, 3, 2, 2, 4, 1, 4, 3, 4, 3, 2, 3, 1, 3, 3, 4]}} "
                "paths/instruction={'i0': 1, 'i1': 109, 'memory': 327} "
                "paths/instruction/prefetch=2");
    struct profile *const profile = parsed(text);
    wish = &noted;
    truth_results("k20c", &results);
    tell_code(&results, "icache_l0", 64, 16, 12, "lru");
    tell_code(&results, "icache_l1", 128, 64, 14, "random");
    tell_bound(&results, "icache_l1", 128 * 64 * 14);
    tell_ahead(&results, 2, 108, 218);
    validated_on(profile, "k20c", 1 + (uint64_t)_i, &results);
    wish = NULL;
    ck_assert_int_eq(results_find(&results, "predicted.icache_l1.line")->status,
                     STATUS_MEASURED);
    assert_doubted(&results, "icache_l1.ways", false);
    assert_doubted(&results, "icache_l1.size", false);
    results_free(&results);
}
END_TEST

/* ---- what an entry covers ---------------------------------------------- */

/* Each entry covers two pages. */
#define PAIRS "'page': 2097152, 'region': 4194304"

/* A GPU of one TLB, and what is told of it: a region and entries, which make up
 * its reach, so that nothing contradicts; of one set, or of sets that nobody
 * knows, and then entries are in doubt. */
static const struct {
    const char *tlb;
    double region, entries; /* MiB */
    bool one_set;
    const char *named; /* NULL: it is right */
} covers[] = {
    /* one set */
    {"'page': 1048576, 'entries': 16, 'policy': 'lru'", 1, 16, true, NULL},
    {PAIRS ", 'entries': 16, 'policy': 'lru'", 4, 16, true, NULL},
    {PAIRS ", 'entries': 16, 'policy': 'lru'", 8, 16, true, "region"},
    {PAIRS ", 'entries': 16, 'policy': 'lru'", 2, 16, true, "region"},
    {PAIRS ", 'entries': 16, 'policy': 'lru'", 2, 32, true, "region"},
    {PAIRS ", 'entries': 16, 'policy': 'lru'", 4, 17, true, "ways"},
    {PAIRS ", 'entries': 16, 'policy': 'lru'", 4, 15, true, "ways"},
    {PAIRS ", 'entries': 16, 'policy': 'random'", 4, 16, false, NULL},
    {PAIRS ", 'entries': 16, 'policy': 'random'", 8, 16, false, "region"},
    /* of six sets every second region comes to three */
    {"'page': 2097152, 'set_ways': [17, 15, 15, 15, 15, 15], 'policy': 'lru'",
     2, 92, false, NULL},
    {"'page': 2097152, 'set_ways': [17, 15, 15, 15, 15, 15], 'policy': 'lru'",
     4, 46, false, "region"},
    {"'page': 2097152, 'set_ways': [17, 15, 15, 15, 15, 15], 'policy': 'lru'",
     4, 92, false, "region"},
    {PAIRS ", 'set_ways': [17, 15, 15, 15, 15, 15], 'policy': 'lru'", 4, 92,
     false, NULL},
    {PAIRS ", 'set_ways': [17, 15, 15, 15, 15, 15], 'policy': 'lru'", 2, 184,
     false, "region"},
    {PAIRS ", 'set_ways': [17, 15, 15, 15, 15, 15], 'policy': 'lru'", 2, 92,
     false, "region"},
};

/* What is not there yet is added. */
static struct finding *told_of(struct results *results, const char *component,
                               const char *attribute)
{
    char id[32];
    snprintf(id, sizeof id, "%s.%s", component, attribute);
    struct finding *const f = results_edit(results, component, attribute);
    return f != NULL ? f : results_add(results, id, "tlb");
}

static void tell_number(struct results *results, const char *component,
                        const char *attribute, double number)
{
    finding_set(told_of(results, component, attribute), STATUS_MEASURED,
                value_number(number), "");
}

/* What an entry covers, and how many there are. */
static void tell_entries(struct results *results, const char *component,
                         double region, double entries, double penalty)
{
    enum { GRANULE = 2 << 20 };
    tell_number(results, component, "entries", entries);
    tell_number(results, component, "page", fmin(region, GRANULE));
    tell_number(results, component, "region", region);
    tell_number(results, component, "reach", entries * region);
    tell_number(results, component, "miss_penalty", penalty);
}

/* A miss of the only TLB of such a GPU costs what one of k20c's second does. */
static void say_covers(struct results *results, double region, double entries,
                       bool one_set)
{
    static const char *const open[] = {"sets", "ways", "set_ways", "set_bits",
                                       "policy"};
    for (size_t i = 0; i < results->finding_count; i++)
        if (text_glob("tlb_l2.*", results->findings[i]->id))
            finding_none(results->findings[i], "there is none");
    for (size_t i = 0; !one_set && i < COUNT_OF(open); i++)
        if (results_edit(results, "tlb_l1", open[i]) != NULL)
            finding_none(results_edit(results, "tlb_l1", open[i]), "open");
    tell_entries(results, "tlb_l1", region * (1 << 20), entries, 59);
    if (one_set) {
        say_number(results, "tlb_l1", "ways", entries);
        return;
    }
    results_edit(results, "tlb_l1", "entries")->status = STATUS_IN_DOUBT;
    results_edit(results, "tlb_l1", "reach")->status = STATUS_IN_DOUBT;
}

/* Expected: what is wrong is named, and nothing of what is right.  Buggy
 * result: of the first TLB nothing asked what an entry covers, and a random GPU
 * of 46 entries for 92 of half as much passed. */
START_TEST(what_an_entry_covers_is_asked)
{
    struct results results = {0};
    struct profile *profile = NULL;
    char *const text = gpu_changed("k20c", "tlbs={'l1': {%s}}", covers[_i].tlb);
    profile = parsed(text);
    truth_results("k20c", &results);
    say_covers(&results, covers[_i].region, covers[_i].entries,
               covers[_i].one_set);
    const struct validation v = validated_on(profile, "k20c", 3, &results);
    if (covers[_i].named == NULL)
        ck_assert_uint_eq(v.doubted, 0);
    else
        ck_assert_int_eq(
            results_edit(&results, "tlb_l1", covers[_i].named)->status,
            STATUS_IN_DOUBT);
    ck_assert_int_eq(results_edit(&results, "tlb_l1", "miss_penalty")->status,
                     STATUS_MEASURED);
    results_free(&results);
}
END_TEST

/* ---- a third TLB ------------------------------------------------------- */

/* Behind a second one of 512 entries, which holds more than can be loaded at
 * once; indices are folded, as those of current GPUs are. */
#define SECOND_BITS                                                            \
    "[[21, 27, 33], [22, 28, 34], [23, 29], [24, 30], [25, 31], [26, 32]]"
#define THIRD_BITS                                                             \
    "[21, [22, 30], [23, 31], [24, 32], [25, 33], [26, 34], 28, 29]"
#define THREE_TLBS                                                             \
    "tlbs={'l1': {'page': 2097152, 'entries': 16, 'policy': 'lru'},"           \
    "      'l2': {'page': 2097152, 'sets': 64, 'ways': 8, 'policy': 'lru',"    \
    "             'set_bits': " SECOND_BITS "},"                               \
    "      'l3': {'page': 2097152, 'sets': 256, 'ways': 8, 'policy': 'lru',"   \
    "             'set_bits': " THIRD_BITS "}}"                                \
    " paths/global.cg={'l2': [223, 233, 323, 1085],"                           \
    "               'memory': [339, 349, 439, 1201]}"

static void tell_tlb(struct results *results, const char *component,
                     double sets, double ways, double penalty)
{
    enum { REGION = 2 << 20 };
    tell_number(results, component, "sets", sets);
    tell_number(results, component, "ways", ways);
    tell_entries(results, component, REGION, sets * ways, penalty);
    finding_set(told_of(results, component, "policy"), STATUS_MEASURED,
                value_text("lru"), "");
    finding_none(told_of(results, component, "set_ways"), "all have as many");
}

/* Each is a bit, or an XOR of several, of which 0 are none. */
static void tell_bits(struct results *results, const char *component,
                      const int (*bits)[3], size_t count)
{
    struct value all = value_list();
    for (size_t i = 0; i < count; i++) {
        struct value mask = value_number(bits[i][0]);
        if (bits[i][1] > 0)
            mask = value_list();
        for (size_t k = 0; bits[i][1] > 0 && k < 3 && bits[i][k] > 0; k++)
            value_push(&mask, value_number(bits[i][k]));
        value_push(&all, mask);
    }
    finding_set(told_of(results, component, "set_bits"), STATUS_MEASURED, all,
                "");
}

static void tell_three_tlbs(struct results *results)
{
    static const int second[][3] = {{21, 27, 33}, {22, 28, 34}, {23, 29},
                                    {24, 30},     {25, 31},     {26, 32}},
                     third[][3] = {{21},     {22, 30}, {23, 31}, {24, 32},
                                   {25, 33}, {26, 34}, {28},     {29}};
    tell_number(results, "tlb", "levels", 3);
    tell_tlb(results, "tlb_l1", 1, 16, 10);
    tell_tlb(results, "tlb_l2", 64, 8, 90);
    tell_bits(results, "tlb_l2", second, COUNT_OF(second));
    tell_tlb(results, "tlb_l3", 256, 8, 762);
    tell_bits(results, "tlb_l3", third, COUNT_OF(third));
}

static struct count three_of(const char *component, const char *attribute)
{
    struct count count = {0};
    for (size_t k = 0; k < COUNT_OF(lies); k++) {
        struct results results = {0};
        struct profile *profile = NULL;
        if (strcmp(lies[k].attribute, attribute) != 0)
            continue;
        char *const text = gpu_changed("k20c", THREE_TLBS);
        profile = parsed(text);
        truth_results("k20c", &results);
        tell_three_tlbs(&results);
        struct finding *const f = results_edit(&results, component, attribute);
        if (lies[k].tell(f, &results)) {
            const struct validation v =
                validated_on(profile, "k20c", 1, &results);
            count.told++;
            count.named += f->status == STATUS_IN_DOUBT;
            count.alone += f->status == STATUS_IN_DOUBT && v.doubted == 1;
        } else {
            profile_free(profile);
        }
        results_free(&results);
    }
    return count;
}

static const struct {
    const char *component, *attribute;
} of_three[] = {{"tlb_l3", "ways"},         {"tlb_l3", "sets"},
                {"tlb_l3", "policy"},       {"tlb_l3", "set_bits"},
                {"tlb_l3", "entries"},      {"tlb_l3", "region"},
                {"tlb_l3", "miss_penalty"}, {"tlb_l2", "set_bits"}};

/* Buggy results: nothing asked of a third one, so that anything was believed;
 * of an XOR of the second's that lacks a bit its policy was in doubt, as if
 * chance chose, though the same entries were lost each time, and the index of
 * the third. */
START_TEST(three_tlbs_are_foretold)
{
    const struct count count =
        three_of(of_three[_i].component, of_three[_i].attribute);
    ck_assert_uint_ge(count.told, 1);
    ck_assert_uint_eq(count.named, count.told);
    ck_assert_uint_eq(count.alone, count.told);
}
END_TEST

/* Of unequal sets no finding says from where on lines are dealt to them. */
START_TEST(lines_may_be_dealt_from_anywhere)
{
    static const uint64_t from[] = {7, 40};
    struct results results = {0};
    struct error err = {0};
    struct profile *profile = NULL;
    ASSERT_DONE(profile_open("gtx780", NULL, &profile, &err), err);
    profile->tlbs[1].shape.dealt_from = from[_i];
    truth_results("gtx780", &results);
    const struct validation v =
        validated_on(profile, "gtx780", 2 + (uint64_t)_i, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_int_eq(results_find(&results, "predicted.tlb_l2.policy")->status,
                     STATUS_MEASURED);
    results_free(&results);
}
END_TEST

/* As it is, and by a policy that nobody knows: then nothing is asked of it. */
START_TEST(a_third_tlb_that_is_right_is_no_doubt)
{
    struct results results = {0};
    struct profile *profile = NULL;
    char *const text = gpu_changed("k20c", THREE_TLBS);
    profile = parsed(text);
    truth_results("k20c", &results);
    tell_three_tlbs(&results);
    if (_i == 1)
        finding_none(results_edit(&results, "tlb_l3", "policy"), "none");
    const struct validation v = validated_on(profile, "k20c", 1, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_int_eq(results_find(&results, "predicted.tlb_l3.ways")->status,
                     _i == 1 ? STATUS_NOT_MEASURED : STATUS_MEASURED);
    results_free(&results);
}
END_TEST

/* ---- an L2 in parts ---------------------------------------------------- */

/* Of the second, as of real ones, misses of the nearer side cost little more
 * than hits of the farther one. */
static const struct {
    int far, miss; /* cycles; of the nearer side */
} parted[] = {{90, 475}, {200, 428}};

static char *gpu_of_parts(int i)
{
    return gpu_made(
        "clock_khz=1400000 memory_bytes=2147483648 caches/l2/sets=256 "
        "caches/l2/partitions={'bits': [12], 'far_cycles': %d, "
        "                      'replicates': true, 'sms': 'alternate'} "
        "tlbs/l1={'page': 2097152, 'entries': 16} "
        "paths/global={'l2': [208, 208, 308], 'memory': [%d, %d, %d]} "
        "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, "
        "       'spike_cycles': 300}",
        parted[i].far, parted[i].miss, parted[i].miss, parted[i].miss + 100);
}

static const struct {
    const char *id; /* NULL: no lie */
    double times;
} of_parts[] = {
    {NULL, 1},
    {"memory.latency", 1.1},
    {"memory.latency", 0.9},
    {"l2.miss_penalty", 1.1},
    {"l2.sets", 2},
    {"l2.set_bits", 1}, /* XORed */
};

static void assert_named(int gpu, json_t *findings, const char *id,
                         double times)
{
    struct results results = {0};
    struct error err = {0};
    struct profile *profile = NULL;
    char *const text = gpu_of_parts(gpu);
    truth_read(json_incref(findings), "made up", &results);
    ASSERT_DONE(profile_parse(text, "made up", &profile, &err), err);
    for (size_t i = 0; id != NULL && i < results.finding_count; i++)
        if (strcmp(results.findings[i]->id, id) != 0)
            continue;
        else if (results.findings[i]->value.kind == VALUE_LIST)
            xored(results.findings[i], &results);
        else
            results.findings[i]->value.number *= times;
    const struct validation v = validated_on(profile, "made up", 1, &results);
    ck_assert_msg(v.doubted == (id != NULL), "%s: %zu in doubt",
                  id != NULL ? id : "no lie", v.doubted);
    if (id != NULL)
        ck_assert_int_eq(results_find(&results, id)->status, STATUS_IN_DOUBT);
    const struct finding *const index =
        results_find(&results, "predicted.l2.set_bits");
    ck_assert_ptr_nonnull(index);
    ck_assert_int_eq(index->status, STATUS_MEASURED);
    results_free(&results);
    free(text);
}

/* Its index is that of each part, so that all have twice as many sets, and
 * memory behind it costs what both sides do on average.  Buggy results: the
 * index was in doubt, and what memory costs was not asked; on an H200 it was
 * in doubt, since misses of the nearer side were taken for hits. */
START_TEST(an_l2_in_parts_is_foretold)
{
    static const char *const studies[] = {"structure", "latency"};
    char *const spec = testing_spec_of(gpu_of_parts(_i));
    json_t *const findings = truth_findings(spec, 1, studies, 2);
    for (size_t i = 0; i < COUNT_OF(of_parts); i++)
        assert_named(_i, findings, of_parts[i].id, of_parts[i].times);
    json_decref(findings);
    free(spec);
}
END_TEST

/* ---- marks that last in L2 ---------------------------------------------- */

static const char *const lasting[] = {
    "caches/l2/policy=nru caches/l2/ways=7",
    "caches/l2/policy=fifo caches/l2/ways=4 caches/l2/sets=1740",
    "caches/l2/policy={'kind': 'rrip', 'most': 3, 'insert': 2, 'hit': 0} "
    "caches/l2/ways=14",
    "caches/l2/policy={'kind': 'rrip', 'most': 2, 'insert': 1, 'hit': 0} "
    "caches/l2/ways=21",
};

static char *gpu_of_marks(int i)
{
    return gpu_made("clock_khz=1400000 memory_bytes=2147483648 "
                    "caches/l2/sets=320 %s "
                    "noise={'jitter_cycles': 1.5, 'spike_rate': 0.002, "
                    "       'spike_cycles': 300}",
                    lasting[i]);
}

/* Of the GPU with these findings, but of L2 another policy or so many ways
 * more; NULL and 0: as they are. */
static void assert_of_marks(json_t *findings, int i, uint64_t seed,
                            const char *policy, int more)
{
    struct results results = {0};
    char *const text = gpu_of_marks(i);
    truth_read(json_incref(findings), "made up", &results);
    struct finding *const f =
        results_edit(&results, "l2", more != 0 ? "ways" : "policy");
    f->value.number += more;
    if (policy != NULL) {
        value_free(&f->value);
        f->value = value_text(policy);
    }
    const bool lie = policy != NULL || more != 0;
    const struct validation v =
        validated_on(parsed(text), "made up", seed, &results);
    ck_assert_msg(v.doubted == lie, "%s, seed %d: %zu in doubt for %s %d",
                  lasting[i], (int)seed, v.doubted,
                  policy != NULL ? policy : "ways", more);
    ck_assert_msg((f->status == STATUS_IN_DOUBT) == lie,
                  "%s, seed %d: another is named for %s %d", lasting[i],
                  (int)seed, policy != NULL ? policy : "ways", more);
    ck_assert_int_eq(results_find(&results, "predicted.l2.policy")->status,
                     STATUS_MEASURED);
    results_free(&results);
}

/* Laps of marks go round by what was there, and say nothing.  Expected: none of
 * their loads counts, which are hundreds, and those in random order, 64 and 88.
 * Buggy result: all were right. */
START_TEST(laps_of_marks_do_not_count)
{
    static const char *const studies[] = {"structure", "latency"};
    char *const spec = testing_spec_of(gpu_of_marks(0));
    struct results results = {0};
    truth_read(truth_findings(spec, 1, studies, 2), "made up", &results);
    leave_alone(&results, "l2.*");
    const struct validation v =
        validated_on(parsed(gpu_of_marks(0)), "made up", 1, &results);
    ck_assert_uint_eq(v.doubted, 0);
    ck_assert_uint_gt(v.loads, 100);
    ck_assert_uint_le(v.loads, 152);
    results_free(&results);
    free(spec);
}
END_TEST

/* Which lines go is not what laps decide alone: what was there before left
 * lines in other ways, of which the lowest goes, or in another order, by which
 * laps over a line more than there are ways find some.  Buggy results: the
 * policy or the index in doubt, since the twin's sets began otherwise. */
START_TEST(what_lasts_in_sets_is_no_doubt)
{
    static const char *const studies[] = {"structure", "latency"};
    static const char *const others[] = {"lru", "plru", "nru"};
    char *const spec = testing_spec_of(gpu_of_marks(_i));
    json_t *const findings = truth_findings(spec, 1, studies, 2);
    for (uint64_t seed = 1; seed <= 4; seed++)
        assert_of_marks(findings, _i, seed, NULL, 0);
    for (size_t k = 0; k + (_i == 0) < COUNT_OF(others); k++)
        assert_of_marks(findings, _i, 2, others[k], 0);
    assert_of_marks(findings, _i, 1, NULL, 1);
    json_decref(findings);
    free(spec);
}
END_TEST

/* ---- right all the same ------------------------------------------------ */

#define CONSTANTS                                                              \
    "paths/constant={'const_l1': 12, 'const_l15': 100, 'l2': 220, "            \
    "'memory': 480} "

/* What random GPUs were that had something right in doubt. */
static const struct {
    const char *gpu;
    const char *unknown; /* NULL: all was found */
} right[] = {
    /* parts without copies, an index of XORs */
    {"caches/l2/sets=2048 caches/l2/ways=4 "
     "caches/l2/set_bits=[[7, 16], 8, 9, 10, 11, 12, [13, 18], 15, 16, 17] "
     "caches/l2/partitions={'bits': [14, 19], 'far_cycles': 90, "
     "'replicates': false} "
     "paths/global={'l2': [208, 208, 308], 'memory': [475, 475, 575]}",
     NULL},
    {"caches/l2/policy={'kind': 'weighted', 'weights': [3, 1, 1, 4, 4, 2, 4]} "
     "caches/l2/ways=7",
     "l2.policy_weights"},
    /* a ring of lines at the distance of sets comes to one of two ways */
    {CONSTANTS
     "caches/const_l1={'sets': 7, 'ways': 2, 'line': 128, 'sector': 64} "
     "caches/const_l15={'sets': 64, 'ways': 4, 'line': 128}",
     NULL},
    /* chance lets some loads through */
    {CONSTANTS
     "caches/const_l1={'sets': 1, 'ways': 32, 'line': 32, 'sector': 32, "
     "'policy': 'random'} "
     "caches/const_l15={'sets': 64, 'ways': 3, 'line': 128, 'sector': 64, "
     "'policy': {'kind': 'lru_midpoint', 'behind': 1}}",
     NULL},
    /* translations that a device without aliases does not tell */
    {"mapping_bytes=0 caches/l2/sets=256 caches/l2/ways=7 caches/l2/line=256 "
     "tlbs/l1={'page': 262144, 'entries': 11} "
     "paths/global={'l2': [345, 345, 650], 'memory': [746, 746, 1051]}",
     NULL},
};

/* Expected: nothing in doubt.  Buggy result: something of each. */
START_TEST(what_is_right_is_no_doubt)
{
    static const char *const studies[] = {"structure", "latency"};
    char *const text =
        gpu_made("clock_khz=1400000 memory_bytes=2147483648 %s", right[_i].gpu);
    char *const spec = testing_spec_of(xstrdup(text));
    json_t *const findings = truth_findings(spec, 1, studies, 2);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct results results = {0};
        struct error err = {0};
        struct profile *profile = NULL;
        truth_read(json_incref(findings), "made up", &results);
        for (size_t i = 0; i < results.finding_count; i++)
            if (right[_i].unknown != NULL &&
                strcmp(results.findings[i]->id, right[_i].unknown) == 0)
                finding_none(results.findings[i], "too dear");
        ASSERT_DONE(profile_parse(text, "made up", &profile, &err), err);
        const struct validation v =
            validated_on(profile, "made up", seed, &results);
        ck_assert_msg(v.doubted == 0, "%s, seed %d: %zu in doubt",
                      right[_i].gpu, (int)seed, v.doubted);
        ck_assert_uint_gt(v.loads + v.means, 0);
        results_free(&results);
    }
    json_decref(findings);
    free(spec);
    free(text);
}
END_TEST

/* The random GPU of an L1.5 under nru behind an L1 under rrip.  Expected: its
 * index is not in doubt.  Buggy result: it was, since by what both caches held
 * before laps go round otherwise, and 2 to 3 % of loads in random order. */
START_TEST(marks_behind_marks_are_no_doubt)
{
    enum { GPU = 1260000072 };
    static const char *const studies[] = {"structure", "latency"};
    char *const text = gpu_random(GPU);
    char *const spec = testing_spec_of(xstrdup(text));
    json_t *const findings = truth_findings(spec, GPU, studies, 2);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct results results = {0};
        truth_read(json_incref(findings), "random", &results);
        validated_on(parsed(xstrdup(text)), "random", seed, &results);
        ck_assert_int_eq(results_find(&results, "const_l15.set_bits")->status,
                         STATUS_MEASURED);
        results_free(&results);
    }
    json_decref(findings);
    free(spec);
    free(text);
}
END_TEST

/* What ends a run of all studies: costs alone, and only sums are told. */
START_TEST(in_brief_sums_are_told)
{
    static const struct validation_wish brief = {.means_only = true,
                                                 .brief = true};
    struct results results = {0};
    truth_results("k20c", &results);
    wish = &brief;
    const struct validation v = validated("k20c", 1, 1, &results);
    ck_assert_uint_ge(v.means, 10);
    ck_assert_uint_eq(v.means_right, v.means);
    ck_assert_ptr_nonnull(results_find(&results, "predicted.means_right"));
    ck_assert_ptr_null(results_find(&results, "predicted.loads"));
    ck_assert_ptr_null(results_find(&results, "predicted.l1.latency"));
    results_free(&results);
}
END_TEST

/* ---- a size and its sets are wrong -------------------------------------- */

static const struct {
    const char *gpu, *component;
    double times;
    bool bits; /* the index has a bit less */
} together[] = {
    {"k20c", "l2", 1, false},       {"k20c", "l2", 0.5, false},
    {"k20c", "l2", 2, false},       {"k20c", "l2", 0.5, true},
    {"k20c", "l1", 0.5, false},     {"k20c", "l1", 2, false},
    {"k20c", "texture", 2, false},  {"k20c", "const_l1", 0.5, false},
    {"k20c", "const_l1", 2, false},
};

/*
 * A size that is half of what it is, or twice, as its sets are, too.
 * Expected: in doubt, and what it is lies between it and the other one.
 * Buggy result: nothing contradicts, and of lines of one set those that are
 * asked are as that foretells; all was measured.
 */
START_TEST(sizes_are_asked_whatever_their_sets)
{
    static const struct validation_wish brief = {.means_only = true,
                                                 .brief = true};
    struct results results = {0};
    const char *const c = together[_i].component;
    const double times = together[_i].times;
    truth_results(together[_i].gpu, &results);
    wish = &brief;
    struct finding *const size = results_edit(&results, c, "size");
    struct finding *const sets = results_edit(&results, c, "sets");
    const double is = size->value.number;
    say_number(&results, c, "size", times * is);
    say_number(&results, c, "sets", times * sets->value.number);
    if (together[_i].bits) {
        struct value *const bits =
            &results_edit(&results, c, "set_bits")->value;
        value_free(&bits->items[--bits->count]);
    }
    const struct validation v = validated(together[_i].gpu, 1, 1, &results);
    if (times == 1) {
        ck_assert_uint_eq(v.doubted, 0);
    } else {
        ck_assert_int_eq(size->status, STATUS_IN_DOUBT);
        ck_assert_double_le(size->interval[0], is);
        ck_assert_double_ge(size->interval[1], is);
        ck_assert_int_eq(sets->status, STATUS_IN_DOUBT);
    }
    results_free(&results);
}
END_TEST

static void assert_between(const struct results *results, const char *id,
                           double value, double other)
{
    const struct finding *const f = results_find(results, id);
    ck_assert_msg(f->status == STATUS_IN_DOUBT && f->has_interval &&
                      f->interval[0] == fmin(value, other) &&
                      f->interval[1] == fmax(value, other),
                  "%s is not between %g and %g, in doubt", id, value, other);
}

/* What a held-out mean puts in doubt is somewhere from where its own interval
 * begins to that mean, or from there to where it ends.  Buggy result: it began
 * at the value itself, and left out what is less by less than it was known to.
 */
START_TEST(a_doubt_keeps_the_interval)
{
    static const struct validation_wish brief = {.means_only = true,
                                                 .brief = true};
    struct results results = {0};
    truth_results("k20c", &results);
    wish = &brief;
    struct finding *const f = results_edit(&results, "shared", "latency");
    const double is = f->value.number;
    f->value.number = 1.2 * is;
    finding_interval(f, 1.2 * is - 0.5, 1.2 * is + 0.25, 0.95);
    validated("k20c", 1, 1, &results);
    ck_assert_int_eq(f->status, STATUS_IN_DOUBT);
    ck_assert(f->has_interval);
    ck_assert_double_eq(f->interval[1], 1.2 * is + 0.25);
    ck_assert_double_lt(fabs(f->interval[0] - is), 0.5);
    results_free(&results);
}
END_TEST

/* Where no load is asked, two sizes of one storage are both in doubt, between
 * each other; and so is a size that is not what all sets hold.  A bound, and
 * what is in doubt itself, contradict nothing.  Buggy result: all were
 * measured, of a random GPU a read-only cache of twice the L1 that it is. */
START_TEST(what_contradicts_is_in_doubt_unasked)
{
    static const struct validation_wish brief = {.means_only = true,
                                                 .brief = true};
    static const enum finding_status said[] = {STATUS_MEASURED, STATUS_AT_LEAST,
                                               STATUS_IN_DOUBT};
    struct results results = {0};
    truth_results("k20c", &results);
    wish = &brief;
    const double size = results_find(&results, "texture.size")->value.number,
                 sets = results_find(&results, "const_l1.sets")->value.number;
    say_number(&results, "readonly", "size", 2 * size);
    results_edit(&results, "readonly", "size")->status = said[_i];
    say_number(&results, "const_l1", "sets", 2 * sets);
    results_edit(&results, "const_l1", "sets")->status = said[_i];
    const struct validation v = validated("k20c", 1, 1, &results);
    const bool sure = said[_i] == STATUS_MEASURED;
    ck_assert_uint_eq(v.doubted, sure ? 3 : 0);
    ck_assert_uint_eq(v.loads, 0);
    if (sure) {
        assert_between(&results, "texture.size", size, 2 * size);
        assert_between(&results, "readonly.size", 2 * size, size);
        assert_between(&results, "const_l1.sets", 2 * sets, sets);
    }
    results_free(&results);
}
END_TEST

/* A cache of whose sets a ring in order fills half before the others, so that
 * it ends at 40 lines of 48. */
#define UNLIKE_BITS "[[7, 10, 12], [8, 12, 13], [9, 13], [11, 13]]"

static void say_unlike(struct results *results, const char *component)
{
    static const int bits[][3] = {{7, 10, 12}, {8, 12, 13}, {9, 13}, {11, 13}};
    struct finding *const f = results_edit(results, component, "set_bits");
    say_number(results, component, "line", 128);
    say_number(results, component, "sector", 128);
    say_number(results, component, "sets", 16);
    say_number(results, component, "ways", 3);
    value_free(&f->value);
    f->value = value_list();
    for (size_t i = 0; i < COUNT_OF(bits); i++) {
        struct value mask = value_list();
        for (size_t k = 0; k < 3 && bits[i][k] > 0; k++)
            value_push(&mask, value_number(bits[i][k]));
        value_push(&f->value, mask);
    }
}

/* A size that is less than what the sets of the same storage hold, which has
 * none itself; that rings of as much miss says nothing where they should.
 * Expected: in doubt.  Buggy result: of a random GPU 5120 B were measured. */
START_TEST(sets_of_the_same_storage_deny_a_size)
{
    static const struct validation_wish brief = {.means_only = true,
                                                 .brief = true};
    struct results results = {0};
    struct profile *profile = NULL;
    char *const text = gpu_changed(
        "k20c", "caches/texture={'line': 128, 'sector': 128, 'sets': 16, "
                "'ways': 3, 'policy': 'lru', 'set_bits': " UNLIKE_BITS "}");
    profile = parsed(text);
    truth_results("k20c", &results);
    say_unlike(&results, "texture");
    say_unlike(&results, "readonly");
    say_number(&results, "readonly", "size", _i == 0 ? 5120 : 6144);
    finding_none(results_edit(&results, "texture", "size"), "rings deny it");
    wish = &brief;
    validated_on(profile, "k20c", 1, &results);
    if (_i == 0)
        assert_between(&results, "readonly.size", 5120, 6144);
    else
        ck_assert_int_ne(results_find(&results, "readonly.size")->status,
                         STATUS_IN_DOUBT);
    results_free(&results);
}
END_TEST

/* What local memory finds of a storage whose size is not known otherwise may be
 * all that is not taken.  Expected: no doubt, and nothing foretold of it. Buggy
 * result: on an H200 a ring of local memory was asked that cannot be, and the
 * run ended with that. */
START_TEST(a_size_of_local_memory_is_not_asked)
{
    struct results results = {0};
    truth_results("v100", &results);
    say_number(&results, "local", "size", 114688);
    results_edit(&results, "local", "size")->status = STATUS_MEASURED;
    say_number(&results, "l1", "size", 114688);
    results_edit(&results, "l1", "size")->status = STATUS_IN_DOUBT;
    const struct validation v = validated("v100", 1, 1, &results);
    ck_assert_uint_gt(v.loads, 0);
    ck_assert_int_eq(results_find(&results, "local.size")->status,
                     STATUS_MEASURED);
    ck_assert_int_eq(results_find(&results, "predicted.local.size")->status,
                     STATUS_NOT_MEASURED);
    results_free(&results);
}
END_TEST

Suite *suite_truth_validate(void)
{
    enum { FIRST = 1, FEW = 4 }; /* all others are slow */
    TCase *t;
    Suite *const suite = suite_of("truth_validate", 600, &t);
    tcase_add_loop_test(t, all_is_foretold, 1, TRUTH_GPUS_QUICK);
    tcase_add_test(t, a_doubt_keeps_the_interval);
    tcase_add_loop_test(t, a_wrong_value_is_named, 0, FIRST);
    tcase_add_test(t, what_was_measured_is_tried);
    tcase_add_test(t, loads_of_chance_do_not_count);
    tcase_add_test(t, laps_ask_no_policy);
    tcase_add_test(t, laps_of_marks_do_not_count);
    tcase_add_test(t, sets_without_an_index_foretell_nothing);
    tcase_add_loop_test(t, sets_without_an_index_make_room, 0,
                        (int)COUNT_OF(rooms));
    tcase_add_test(t, short_lines_of_local_memory_overfill);
    tcase_add_loop_test(t, misses_of_a_large_l1_are_asked_of_local_memory, 0,
                        COUNT_OF(penalty_told));
    tcase_add_test(t, lines_that_are_not_known_are_those_in_front);
    tcase_add_loop_test(t, a_size_of_less_than_sets_hold_is_asked, 0, 3);
    tcase_add_test(t, a_size_of_local_memory_is_not_asked);
    tcase_add_loop_test(t, what_is_right_is_no_doubt, 0, 2);
    tcase_add_loop_test(t, what_an_entry_covers_is_asked, 0, FEW);
    tcase_add_loop_test(t, three_tlbs_are_foretold, 0, FIRST);
    tcase_add_loop_test(t, a_third_tlb_that_is_right_is_no_doubt, 0, 2);
    tcase_add_loop_test(t, what_is_wrong_of_code_is_named, 0, TOLD_QUICKLY);
    tcase_add_loop_test(t, what_is_right_of_code_is_no_doubt, 0, 1);
    tcase_add_loop_test(t, late_hits_are_no_misses_of_code, 0, 2);
    tcase_add_loop_test(t, a_nearest_code_cache_of_few_sets_is_foretold, 0,
                        (int)COUNT_OF(told_of_nearest));
    tcase_add_loop_test(t, bounds_that_chance_decides_in_are_no_doubt, 1, 4);
    tcase_add_loop_test(t, halves_of_lines_are_asked_by_constants, 0, 2);
    tcase_add_loop_test(t, an_l2_in_parts_is_foretold, 0, 1);
    tcase_add_loop_test(t, what_lasts_in_sets_is_no_doubt, 0, 1);
    tcase_add_test(t, in_brief_sums_are_told);
    tcase_add_loop_test(t, sizes_are_asked_whatever_their_sets, 0, FEW);
    tcase_add_loop_test(t, what_contradicts_is_in_doubt_unasked, 0, 3);
    tcase_add_loop_test(t, sets_of_the_same_storage_deny_a_size, 0, 2);
    if (getenv("LIES") == NULL) {
        TCase *const slow = suite_slow(suite, 600);
        tcase_add_loop_test(slow, noise_is_no_doubt, 0, 1);
        tcase_add_loop_test(slow, an_l2_in_parts_is_foretold, 1,
                            COUNT_OF(parted));
        tcase_add_loop_test(slow, what_lasts_in_sets_is_no_doubt, 1,
                            (int)COUNT_OF(lasting));
        tcase_add_loop_test(slow, sets_that_others_come_into_are_no_doubt, 0,
                            2);
        tcase_add_loop_test(slow, a_wrong_value_is_named, FIRST,
                            COUNT_OF(sample));
        tcase_add_test(slow, marks_behind_marks_are_no_doubt);
        tcase_add_loop_test(slow, what_is_right_is_no_doubt, 2,
                            COUNT_OF(right));
        tcase_add_loop_test(slow, what_an_entry_covers_is_asked, FEW,
                            COUNT_OF(covers));
        tcase_add_loop_test(slow, three_tlbs_are_foretold, FIRST,
                            COUNT_OF(of_three));
        tcase_add_loop_test(slow, sizes_are_asked_whatever_their_sets, FEW,
                            COUNT_OF(together));
        tcase_add_loop_test(slow, lines_may_be_dealt_from_anywhere, 0, 2);
        tcase_add_loop_test(slow, a_hidden_value_is_named, 0,
                            (int)COUNT_OF(missed));
        tcase_add_loop_test(slow, what_is_wrong_of_code_is_named, TOLD_QUICKLY,
                            (int)COUNT_OF(told_of_code));
        tcase_add_loop_test(slow, what_is_right_of_code_is_no_doubt, 1, 5);
        return suite;
    }
    const int gpus = shipped_count();
    TCase *const long_ones = suite_slow(suite, 7200);
    if (strchr(getenv("LIES"), '.') == NULL) {
        tcase_add_loop_test(long_ones, all_is_foretold_of_each, 0, gpus);
        tcase_add_loop_test(long_ones, noise_is_no_doubt_of_any, 0, gpus);
    }
    tcase_add_loop_test(long_ones, any_wrong_value_is_named, 0, gpus);
    return suite;
}
