/*
 * All that a study says of small GPUs: values, intervals, reasons, protocols,
 * what is cited, and how many experiments it took.
 *
 * Other suites compare numbers with what a profile says; most of what a study
 * judges by (a limit, a count, whom it cites) changes none of these.  So the
 * whole answer is kept here, as that of recorded GPUs is in tests/replay:
 * tests/truth/said/NAME.txt.  `make goldens` writes them anew, for you to read
 * what changed.  A row of the table is a GPU that takes a path which others do
 * not, or stands at a limit; each takes some tenths of a second.
 * SAID=STUDY runs those of one study alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "gpu_made.h"
#include "testing.h"
#include "truth/truth.h"

#define FOLDER "tests/truth/said/"

struct said {
    const char *study, *name, *gpu;
    const char *shipped; /* which the GPU is but for that; NULL: a plain one */
};

/* A small L1 of two schedulers' blocks, which are as many as may be. */
#define COPIES(copies, blocks)                                                 \
    "sms=1 max_threads_per_block=256 max_blocks_per_sm=" blocks                \
    " caches/l2/sets=64 caches/l2/ways=8 "                                     \
    "caches/l1={'sets': 16, 'ways': 4, 'copies_per_sm': " copies "} "          \
    "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500} "                    \
    "paths/global.cg={'l2': 250, 'memory': 500} "
#define PORT(threads, cycles)                                                  \
    "sms=1 max_threads_per_block=" threads " max_blocks_per_sm=2 "             \
    "caches/l2/sets=64 caches/l2/ways=8 "                                      \
    "caches/l1={'sets': 16, 'ways': 4, 'port_cycles': " cycles "} "            \
    "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500} "                    \
    "paths/global.cg={'l2': 250, 'memory': 500} "
#define L2(capability, bytes)                                                  \
    "compute_capability='" capability "' sms=1 l2_reported_bytes=" bytes       \
    " caches/l2={'line': 128, 'sector': 32, 'sets': 64, 'ways': 8, "           \
    "'scope': 'gpu'} paths/global={'l2': 200, 'memory': 500} "
#define NOISE                                                                  \
    "noise={'jitter_cycles': 3, 'spike_rate': 0.005, 'spike_cycles': 400} "

static const struct said table[] = {
    {"contention", "copies_4", COPIES("4", "8"), NULL},
    {"contention", "copies_3", COPIES("3", "6"), NULL},
    {"contention", "copies_few_blocks", COPIES("4", "3"), NULL},
    {"contention", "copies_noise", COPIES("2", "4") NOISE, NULL},
    {"contention", "port_8_warps", PORT("256", "10"), NULL},
    {"contention", "port_never", PORT("96", "1"), NULL},
    {"contention", "port_two", PORT("1024", "16"), NULL},
    {"contention", "all_fit",
     "sms=1 max_threads_per_block=32 "
     "max_blocks_per_sm=2 caches/l1={'sets': 512, 'ways': 16} "
     "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500}",
     NULL},
    {"contention", "half_a_mebibyte",
     "sms=1 max_threads_per_block=32 "
     "max_blocks_per_sm=2 caches/l1={'sets': 512, 'ways': 8} "
     "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500}",
     NULL},
    {"contention", "largest",
     "sms=1 max_threads_per_block=32 "
     "max_blocks_per_sm=2 caches/l1={'sets': 512, 'ways': 5} "
     "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500}",
     NULL},
    {"contention", "pascal", "sms=1", "gtx1080ti"},
    {"contention", "turing", "sms=1", "rtx2080ti"},
    {"hints", "plain", L2("8.0", "65536"), NULL},
    {"hints", "random", L2("8.0", "65536") "caches/l2/policy=random", NULL},
    {"hints", "noise",
     L2("9.0", "65536") NOISE "caches/l2/fetch_128B=128 "
                              "caches/l2/fetch_256B=256 "
                              "caches/l2/evict_last=true",
     NULL},
    {"hints", "fetch_512", L2("8.0", "65536") "caches/l2/fetch_256B=512", NULL},
    {"hints", "fetch_1024",
     L2("8.0",
        "65536") "caches/l2/fetch_256B=1024 "
                 "caches/l2/line=1024 caches/l2/sets=8 caches/l2/fetch_64B=512",
     NULL},
    {"hints", "late",
     L2("8.0", "32768") "caches/l2/sets=32 "
                        "noise={'jitter_cycles': 60, 'spike_rate': 0.05, "
                        "'spike_cycles': 400}",
     NULL},
    {"hints", "near_memory",
     L2("8.0", "65536") "noise={'jitter_cycles': 25} paths/global={'l2': 200, "
                        "'memory': 260}",
     NULL},
    {"hints", "old", L2("7.5", "65536") "caches/l2/sector=64", NULL},
    {"hints", "mute",
     L2("8.0", "65536") "paths/global={'l2': 200, 'memory': 230}", NULL},
};

/* ---- as text ---- */

static void say(struct buf *text, const json_t *value)
{
    char *const word =
        json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(5));
    buf_printf(text, "%s", word);
    free(word);
}

static void say_key(struct buf *text, const json_t *finding, const char *key)
{
    const json_t *const value = json_object_get(finding, key);
    if (value == NULL)
        return;
    buf_printf(text, " %s ", key);
    say(text, value);
}

static void say_protocol(struct buf *text, json_t *protocol)
{
    const char *name;
    json_t *value;
    if (json_object_size(protocol) > 0)
        buf_printf(text, "\n   ");
    json_object_foreach(protocol, name, value)
    {
        buf_printf(text, " %s=", name);
        say(text, value);
    }
}

/* How many experiments, the first and the last. */
static void say_evidence(struct buf *text, const json_t *list)
{
    const size_t count = json_array_size(list);
    for (size_t i = 0; i<count; i += count> 1 ? count - 1 : 1)
        buf_printf(text, "\n    %zu of %zu: %s", i + 1, count,
                   json_string_value(json_array_get(list, i)));
}

static void say_findings(struct buf *text, json_t *findings, const char *study)
{
    const char *id;
    json_t *f;
    json_object_foreach(findings, id, f)
    {
        const char *const by = json_string_value(json_object_get(f, "study"));
        if (strcmp(by, study) != 0)
            continue;
        buf_printf(text, "%s", id);
        say_key(text, f, "value");
        say_key(text, f, "status");
        say_key(text, f, "interval");
        say_key(text, f, "confidence");
        say_key(text, f, "because");
        say_protocol(text, json_object_get(f, "protocol"));
        say_evidence(text, json_object_get(f, "evidence"));
        buf_printf(text, "\n");
    }
}

/* ---- the tests ---- */

START_TEST(a_small_gpu_gives_its_golden_answer)
{
    const struct said *const s = &table[_i];
    char *const gpu = s->shipped != NULL ? gpu_changed(s->shipped, "%s", s->gpu)
                                         : gpu_made("%s", s->gpu);
    json_t *const report = truth_heard(gpu, s->study);
    char *const path = xasprintf(FOLDER "%s_%s.txt", s->study, s->name);
    struct buf text = {0};
    buf_printf(&text, "%s asks ", s->study);
    say(&text, json_object_get(json_object_get(report, "asks"), s->study));
    buf_printf(&text, " experiments\n");
    say_findings(&text, json_object_get(report, "findings"), s->study);
    testing_document_is(path, buf_string(&text));
    buf_free(&text);
    free(path);
    json_decref(report);
}
END_TEST

Suite *suite_truth_said(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_said", 60, &t);
    const char *const only = getenv("SAID");
    for (int i = 0; i < (int)COUNT_OF(table); i++)
        if (only == NULL || strcmp(only, table[i].study) == 0)
            tcase_add_loop_test(t, a_small_gpu_gives_its_golden_answer, i,
                                i + 1);
    return suite;
}
