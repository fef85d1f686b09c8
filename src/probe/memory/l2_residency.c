/*
 * The probe `keep`: which lines of a set are still in L2 after others passed,
 * by what the loads of either told L2; and what a load brings in besides what
 * it asked for.
 *
 *   1. other memory passes, so that nothing of the set is in L2;
 *   2. all SMs load the set, an element each `stride`, `at` bytes from there;
 *   3. other memory passes again, `passing` bytes;
 *   4. one thread of one SM loads elements, `look` bytes from each stride, and
 *      reads the clock around each.
 *
 * The same elements of one SM can so be compared by what came before: a line
 * lies in the same slice of L2, near or far, each time.  Lines that L2 was told
 * to keep long are made normal again at the end.
 *
 * A row an element that is looked at.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/check.h"
#include "probe/run/pin.h"
#include "probe/run/shot.h"
#include "ptx/hint.h"

enum column { COLUMN_OFFSET = 1, COLUMN_CYCLES };

enum { THREADS = 256, BLOCKS_OF_SM = 4, LOOKS_MOST = 4096 };
/* Every sector of what passes is touched: none is shorter. */
enum { SECTOR = 32 };

/* clang-format off */
static const char *const touches[] = {
    "none", "prefetch", "default", "cg", "no_allocate", "l2_64B", "l2_128B",
    "l2_256B", "l2_first", "l2_normal", "l2_last", "l2_unchanged", NULL};
static const char *const passes[] = {
    "none", "default", "cg", "l2_first", "l2_normal", "l2_unchanged", NULL};

struct keep {
    const char *load, *pass;
    uint64_t bytes, stride, at, look, looks, flush, passing, sm;
};

static const struct param keep_params[] = {
    CHOICE(struct keep, load, "default", touches, "how the set is loaded; none: not at all; prefetch: by that instruction"),
    CHOICE(struct keep, pass, "none", passes, "how what passes then is loaded; none: nothing passes"),
    NUMBER(struct keep, bytes, "65536", 32, 1ull << 36, "of the set"),
    NUMBER(struct keep, stride, "32", 32, 1ull << 32, "distance of its elements, B"),
    NUMBER(struct keep, at, "0", 0, 1ull << 32, "where in a stride the element is, B"),
    NUMBER(struct keep, look, "0", 0, 1ull << 32, "where in a stride is looked, B"),
    NUMBER(struct keep, looks, "256", 1, LOOKS_MOST, "elements that are looked at, spread evenly"),
    NUMBER(struct keep, flush, "1048576", 0, 1ull << 36, "bytes that pass before"),
    NUMBER(struct keep, passing, "1048576", 0, 1ull << 36, "bytes that pass after the set was loaded"),
    NUMBER(struct keep, sm, "0", 0, 1023, "that looks"),
    {0},
};
/* clang-format on */

/* ---- reading ----------------------------------------------------------- */

static bool is_hint(const char *word)
{
    return strcmp(word, "none") != 0 && strcmp(word, "prefetch") != 0;
}

static int check_word(const char *word, const struct device_info *info,
                      struct error *err)
{
    return is_hint(word) ? hint_check(hint_find(word), info, err) : 0;
}

static uint64_t elements_of(const struct keep *k)
{
    return k->bytes / k->stride;
}

static int keep_prepare(struct experiment *e, const struct device_info *info,
                        struct error *err)
{
    const struct keep *const k = e->own;
    if (k->stride % 4 != 0 || k->at % 4 != 0 || k->look % 4 != 0)
        return error_set(err, ERR_USAGE,
                         "keep: stride, at and look are of whole words of 4 B");
    if (k->at >= k->stride || k->look >= k->stride)
        return error_set(err, ERR_USAGE,
                         "keep: at and look are within a stride");
    if (elements_of(k) < k->looks)
        return error_set(err, ERR_USAGE,
                         "keep: the set has %" PRIu64
                         " elements and not %" PRIu64,
                         elements_of(k), k->looks);
    if (check_word(k->load, info, err) != 0)
        return err->code;
    return check_word(k->pass, info, err);
}

/* ---- the kernel that looks --------------------------------------------- */

/* A job: where the first element is, how far the next, how many, results. */
enum job { JOB_FIRST, JOB_STEP, JOB_LOOKS, JOB_OUT, JOB_WORDS };

/* The second clock read waits for what was read: it is made unless that is one
 * number of all, and then 0 cycles are written. */
static void keep_look(struct kernel_text *k)
{
    ptx(k, "LOOK:\n"
           "mov.u64 %t0, %clock64;\n"
           "max.u64 %t1, %t0, %first;\n"
           "setp.ne.u64 %again, %t1, 0xffffffffffffffff;\n"
           "@!%again bra DONE;\n"
           "ld.global.cg.u32 %value, [%first];\n"
           "setp.ne.u32 %again, %value, 0x9e3779b9;\n"
           "mov.u64 %t1, %t0;\n"
           "@%again mov.u64 %t1, %clock64;\n"
           "sub.u64 %t1, %t1, %t0;\n"
           "st.global.u64 [%out], %t1;\n"
           "add.u64 %out, %out, 8;\n"
           "add.u64 %first, %first, %step;\n"
           "sub.u64 %left, %left, 1;\n"
           "setp.ne.u64 %again, %left, 0;\n"
           "@%again bra LOOK;\n"
           "mov.u64 %left, 1;\n"
           "st.global.u64 [%out], %left;\n"
           "DONE:\n");
}

static void keep_kernel(const struct experiment *e,
                        const struct device_info *info, struct buf *out)
{
    static const char *const words[] = {"first", "step", "left", "out"};
    struct kernel_text k;
    (void)e;
    kernel_begin(&k, out, device_cc(info), .name = "keep",
                 .parameters = PIN_PARAMETERS, .variables = PIN_VARIABLES);
    pin_opening(&k, JOB_WORDS * 8);
    ptx(&k, ".reg .b64 %first, %step, %left, %out, %t0, %t1;\n"
            ".reg .b32 %value;\n");
    for (size_t i = 0; i < COUNT_OF(words); i++)
        ptx_with(&k, "ld.global.cg.u64 %$words, [%job+$i];",
                 WORD(words, words[i]), WORD(i, 8 * i));
    keep_look(&k);
    kernel_end(&k);
}

/* ---- the kernel that loads --------------------------------------------- */

static void load_element(struct kernel_text *k, const struct hint *hint)
{
    if (hint == NULL) {
        ptx(k, "prefetch.global.L2 [%at];");
        return;
    }
    ptx_with(k,
             "ld.global$modifier.u32 %value, [%at]$policy;\n"
             "// what is read is used, or it would not be read\n"
             "setp.eq.u32 %end, %value, 0xffffffff;\n"
             "@%end st.global.u32 [%at], %value;\n",
             WORD(modifier, hint->modifier),
             WORD(policy, hint->policy != NULL ? ", %policy" : ""));
}

/* All threads load `count` elements, `step` apart. */
static void write_loader(const struct device_info *info, const char *word,
                         struct buf *out)
{
    const struct hint *const hint = is_hint(word) ? hint_find(word) : NULL;
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(info), .name = "load",
                 .parameters = "first step count",
                 .least = hint != NULL ? hint_version(hint) : NULL);
    ptx(&k, ".reg .b64 %at, %i, %all, %first, %step, %count;\n"
            ".reg .b32 %value, %x, %y;\n"
            ".reg .pred %end;\n");
    if (hint != NULL)
        hint_policy(&k, hint, "policy");
    ptx_with(&k,
             "ld.param.u64 %first, [first];\n"
             "ld.param.u64 %step, [step];\n"
             "ld.param.u64 %count, [count];\n"
             "mov.u32 %x, %ctaid.x;\n"
             "mov.u32 %y, %tid.x;\n"
             "cvt.u64.u32 %i, %y;\n"
             "mad.wide.u32 %i, %x, $threads, %i;\n"
             "mov.u32 %x, %nctaid.x;\n"
             "mul.wide.u32 %all, %x, $threads;\n"
             "NEXT:\n"
             "setp.ge.u64 %end, %i, %count;\n"
             "@%end bra DONE;\n"
             "mad.lo.u64 %at, %i, %step, %first;\n",
             WORD(threads, THREADS));
    load_element(&k, hint);
    ptx(&k, "add.u64 %i, %i, %all;\n"
            "bra NEXT;\n"
            "DONE:\n");
    kernel_end(&k);
}

static int keep_load(struct prober *prober, const char *word, uint64_t first,
                     uint64_t step, uint64_t count, struct error *err)
{
    const struct device_info *const info = prober_info(prober);
    const uint64_t args[] = {first, step, count};
    const struct shot shot = {
        .kernel = "load",
        .blocks = BLOCKS_OF_SM * (unsigned)device_told(info, PROPERTY_SMS, 1),
        .threads = THREADS,
        .carve_out = CARVE_OUT_DEFAULT,
        .args = args,
        .arg_count = COUNT_OF(args),
    };
    struct buf text = {0};
    if (strcmp(word, "none") == 0)
        return 0;
    write_loader(info, word, &text);
    const int status = prober_shoot_helper(prober, &text, &shot, err);
    buf_free(&text);
    return status;
}

/* ---- running ----------------------------------------------------------- */

/* Elements between two that are looked at. */
static uint64_t spread_of(const struct keep *k)
{
    return elements_of(k) / k->looks;
}

static int look_all(struct prober *prober, const struct experiment *e,
                    const struct keep *keep, uint64_t set,
                    struct samples *samples, struct error *err)
{
    const uint64_t step = spread_of(keep) * keep->stride;
    uint64_t job[JOB_WORDS] = {[JOB_FIRST] = set + keep->look,
                               [JOB_STEP] = step,
                               [JOB_LOOKS] = keep->looks};
    struct pin pin = {.count = 1,
                      .sms = &keep->sm,
                      .jobs = job,
                      .job_bytes = sizeof job,
                      .words_each = keep->looks + 1,
                      .threads = 1,
                      .shared_bytes = PIN_POOL};
    if (pin_place(prober, &pin, err) != 0)
        return err->code;
    job[JOB_OUT] = pin_out(&pin, 0);
    uint64_t *const words = pin_run(prober, e, &pin, err);
    for (size_t i = 0; words != NULL && i < keep->looks; i++) {
        int64_t *const row = samples_row(samples);
        row[COLUMN_OFFSET] = (int64_t)(i * step + keep->look);
        row[COLUMN_CYCLES] = (int64_t)words[i];
    }
    free(words);
    return err->code;
}

/* What passes lies behind the set. */
static int keep_place(struct prober *prober, const struct keep *k,
                      uint64_t *set, uint64_t *other, struct error *err)
{
    const uint64_t most = k->flush > k->passing ? k->flush : k->passing;
    if (prober_buffer(prober, BUFFER_RING, k->bytes + most, set, err) != 0)
        return err->code;
    *other = *set + (k->bytes + SECTOR - 1) / SECTOR * SECTOR;
    return 0;
}

static int keep_once(struct prober *prober, const struct experiment *e,
                     struct samples *samples, struct error *err)
{
    const struct keep *const k = e->own;
    const uint64_t all = elements_of(k);
    uint64_t set = 0, other = 0;
    if (keep_place(prober, k, &set, &other, err) != 0 ||
        keep_load(prober, "default", other, SECTOR, k->flush / SECTOR, err) !=
            0 ||
        keep_load(prober, k->load, set + k->at, k->stride, all, err) != 0 ||
        keep_load(prober, k->pass, other, SECTOR, k->passing / SECTOR, err) !=
            0 ||
        look_all(prober, e, k, set, samples, err) != 0)
        return err->code;
    return strcmp(k->load, "l2_last") == 0
               ? keep_load(prober, "l2_normal", set + k->at, k->stride, all,
                           err)
               : 0;
}

static const char *keep_sound(const struct experiment *e,
                              const struct rows *rows)
{
    const struct keep *const k = e->own;
    const char *const why = rows_are(rows, k->looks);
    return why != NULL ? why : rows_are_below(rows, COLUMN_OFFSET, k->bytes);
}

/* One run gives many samples: it is not repeated. */
const struct probe probe_l2_residency = {
    .name = "keep",
    .what = "what L2 keeps and fetches, by what loads tell it",
    .params = keep_params,
    .bytes = sizeof(struct keep),
    .columns = TEXTS("offset", "cycles"),
    .figure_column = COLUMN_CYCLES,
    .repeats_least = 1,
    .repeats_most = 1,
    .prepare = keep_prepare,
    .kernel = keep_kernel,
    .once = keep_once,
    .sound = keep_sound,
};
