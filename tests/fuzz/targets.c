/* The readers of targets.def: seeds that each takes, and how it reads. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analysis/sass_proof.h"
#include "base/file.h"
#include "base/mem.h"
#include "device/device.h"
#include "device/sim/profile/profile.h"
#include "device/sim/profile/shipped.h"
#include "disturbance.h"
#include "fuzz/fuzz.h"
#include "fuzz/used.h"
#include "probe/experiment.h"
#include "probe/probe.h"
#include "probe/record.h"
#include "ptx/snippet.h"
#include "report/fleet/reading/gather.h"
#include "report/report.h"
#include "testing.h"
#include "unit/cubins.h"
#include "unit/markup_check.h"

static void add_text(struct seeds *seeds, const char *text)
{
    seeds_add(seeds, text, strlen(text));
}

/* ---- profiles ---- */

static void profile_seeds(struct seeds *seeds)
{
    for (size_t i = 0; shipped_profiles[i].name != NULL; i++)
        add_text(seeds, shipped_profiles[i].text);
    for (size_t i = 0; disturbances[i].kind != NULL; i++) {
        char *const text = disturbed_gpu("small", disturbances[i].kind, 4);
        add_text(seeds, text);
        free(text);
    }
}

/* A small one: it is measured. */
static void one_profile_seed(struct seeds *seeds)
{
    add_text(seeds, quick_profile);
}

static int read_profile(const struct buf *input, struct error *err)
{
    struct profile *profile;
    const int status = profile_parse(input->data, "input", &profile, err);
    if (status == 0)
        profile_free(profile);
    return status;
}

/* ---- reports ---- */

static const struct report_style plain = {0};

static char *report_of(const struct results *results)
{
    struct buf text = {0};
    struct error err;
    report_json.write(results, &plain, &text, &err);
    return buf_take(&text);
}

static struct results *sample_results(void)
{
    struct results *const r = xcalloc(1, sizeof *r);
    r->version = xstrdup("0.1.0");
    results_device(r, "spec", value_text("sim:k20c"));
    results_device(r, "name", value_text("Tesla K20c"));
    struct finding *f = results_add(r, "l1.latency", "latency");
    finding_set(f, STATUS_MEASURED, value_number(32.06), "cycles");
    finding_interval(f, 32, 32.1, 0.99);
    finding_method(f, "A chain of loads, each waiting for the last.");
    finding_protocol(f, "load", value_text("ld.global.ca.u64"));
    finding_protocol(f, "warm", value_bool(true));
    finding_evidence(f, "chase space=global op=ca bytes=4096 stride=128");
    f = results_add(r, "tlb_l2.set_ways", "tlb");
    struct value ways = value_list();
    value_push(&ways, value_number(17));
    value_push(&ways, value_number(8));
    finding_set(f, STATUS_DERIVED, ways, "");
    f = results_add(r, "const_l15.size", "size");
    finding_set(f, STATUS_AT_LEAST, value_number(65536), "B");
    finding_because(f, "a module may hold 64 KiB of constants");
    finding_none(results_add(r, "l2.sector", "line"), "it is \"not\" asked");
    return r;
}

static void report_seeds(struct seeds *seeds)
{
    struct results *const results = sample_results();
    char *const text = report_of(results);
    add_text(seeds, text);
    free(text);
    results_free(results);
    free(results);
}

/* What was read is written and read once more: the same must come of it. */
static void assert_round_trip(const struct results *results)
{
    struct error err;
    struct results again = {0};
    char *const once = report_of(results);
    ASSERT_DONE(report_read(once, "own", &again, &err), err);
    char *const twice = report_of(&again);
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
    results_free(&again);
}

/* Whatever a report says, its page is well-formed. */
static void assert_page(const struct results *results)
{
    struct buf page = {0};
    struct error err;
    ck_assert_int_eq(report_html.write(results, &plain, &page, &err), 0);
    char *const wrong = markup_wrong(buf_string(&page));
    ck_assert_msg(wrong == NULL, "%s", wrong);
    buf_free(&page);
}

static int read_report(const struct buf *input, struct error *err)
{
    struct results results = {0};
    const int status = report_read(input->data, "input", &results, err);
    if (status == 0)
        assert_round_trip(&results);
    if (status == 0)
        assert_page(&results);
    results_free(&results); /* what was read before it was refused, too */
    return status;
}

/* A fleet reads the same bytes by a scanner of its own: they are reports, or it
 * says why not. */
static int read_fleet(const struct buf *input, struct error *err)
{
    struct fleet_names names;
    fleet_names_init(&names);
    struct memory memory = {.names = &names};
    struct gathered g = {0};
    gather(&g, &memory, input->data, "input");
    ck_assert_uint_gt(g.count + g.note_count, 0);
    const int status =
        g.note_count > 0 ? error_set(err, ERR_FILE, "it is no report") : 0;
    gathered_free(&g);
    memory_free(&memory);
    fleet_names_free(&names);
    return status;
}

/* ---- recordings ---- */

static struct buf sample_recording(void)
{
    struct device_info info = {.spec = "cuda:0", .name = "NVIDIA H200"};
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        info.value[i] = -1;
    struct recording *const r = recording_new(&info, 7);
    struct samples samples;
    samples_init(&samples, probe_table[0]);
    for (int64_t i = 0; i < 3; i++) {
        int64_t *const row = samples_row(&samples);
        for (size_t column = 0; column < samples.columns; column++)
            row[column] = i * 1000;
    }
    recording_add(r, "clock", &samples);
    recording_add(r, "chase bytes=4096", &samples);
    char *const path = testing_file("recording", "");
    struct error err;
    struct buf bytes = {0};
    ASSERT_DONE(recording_write(r, path, &err), err);
    ASSERT_DONE(file_read(path, 1 << 20, &bytes, &err), err);
    free(path);
    samples_free(&samples);
    recording_free(r);
    return bytes;
}

static void recording_byte_seeds(struct seeds *seeds)
{
    struct buf bytes = sample_recording();
    seeds_add(seeds, bytes.data, bytes.length);
    buf_free(&bytes);
}

static int read_recording_bytes(const struct buf *input, struct error *err)
{
    struct recording *r;
    const int status =
        recording_parse(input->data, input->length, "input", &r, err);
    if (status == 0)
        recording_free(r);
    return status;
}

/* The checksum refuses changed bytes; behind it is text, which is mutated
 * before it is packed. */
static void recording_seeds(struct seeds *seeds)
{
    struct buf bytes = sample_recording();
    char text[65536];
    const size_t length =
        ZSTD_decompress(text, sizeof text, bytes.data, bytes.length);
    ck_assert(!ZSTD_isError(length));
    seeds_add(seeds, text, length);
    buf_free(&bytes);
}

static int read_recording(const struct buf *input, struct error *err)
{
    struct buf packed = {0};
    packed.capacity = ZSTD_compressBound(input->length) + 1;
    packed.data = xmalloc(packed.capacity);
    packed.length = ZSTD_compress(packed.data, packed.capacity, input->data,
                                  input->length, 1);
    ck_assert(!ZSTD_isError(packed.length));
    const int status = read_recording_bytes(&packed, err);
    buf_free(&packed);
    return status;
}

/* ---- experiments ---- */

static void experiment_seeds(struct seeds *seeds)
{
    for (size_t i = 0; probe_table[i] != NULL; i++) {
        struct buf text = {0};
        buf_text(&text, probe_table[i]->name);
        for (const struct param *p = probe_table[i]->params; p->name != NULL;
             p++)
            buf_printf(&text, " %s=%s", p->name, p->fallback);
        seeds_add(seeds, text.data, text.length);
        buf_free(&text);
    }
    add_text(seeds, "chase bytes=0x4000 stride=1K");
    add_text(seeds, "isa snippet='add.u32 %r0, %r0, %r1;' values='r0=7 r1=8'");
    add_text(seeds, "isa 'row=mul.hi.u32' setup='mov.u32 %r1,\t7;' level=0");
}

/* Its canonical text must read back as itself. */
static int read_experiment(const struct buf *input, struct error *err)
{
    struct experiment e, again;
    const int status = experiment_parse(input->data, &e, err);
    if (status != 0)
        return status;
    char *const once = experiment_text(&e);
    ASSERT_DONE(experiment_parse(once, &again, err), *err);
    char *const twice = experiment_text(&again);
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
    experiment_free(&e);
    experiment_free(&again);
    return 0;
}

/* ---- snippets ---- */

static void snippet_seeds(struct seeds *seeds)
{
    add_text(seeds, "fma.rn.f32 %f0, %f0, %f1, %f2; // one\n"
                    "  add.u32 %r12, %r12,\n 0x7; /* two */");
    add_text(seeds, "@%p0 bra L;\nadd.cc.u32 %r0, %r0, %r1;\nL:\n"
                    "@!%p0 addc.u32 %r2, %r2, 0;");
    add_text(seeds, ".reg .b32 %r_own; mov.b64 {%r0, %r1}, %rd0; "
                    "st.shared.v2.u32 [%rd_shared+8], {%r0, %r1};");
    add_text(seeds, "shfl.sync.idx.b32 %r0|%p1, %r0, %laneid, 31, -1; "
                    "ld.global.f64 %fd0, [%rd_global]; cvt.f16.f32 %h0, %f0;");
}

static void own_name(struct buf *out, const struct snippet_register *r,
                     const void *context)
{
    (void)context;
    buf_text(out, r->name);
}

static void assert_same_snippet(const struct snippet *a,
                                const struct snippet *b)
{
    ck_assert_uint_eq(a->statement_count, b->statement_count);
    ck_assert_uint_eq(a->register_count, b->register_count);
    ck_assert(a->shared == b->shared && a->global == b->global);
    ck_assert(a->scoped == b->scoped);
    for (size_t i = 0; i < a->register_count; i++) {
        const struct snippet_register *const r = &a->registers[i];
        const struct snippet_register *const again = &b->registers[i];
        ck_assert_str_eq(r->name, again->name);
        ck_assert(r->kind == again->kind && r->written == again->written &&
                  r->read_first == again->read_first);
    }
}

/* What is written, a line each statement, must read back as the same. */
static void assert_written(const struct snippet *s)
{
    struct buf text = {0}, copy = {0};
    struct snippet again;
    struct error err;
    snippet_write(&copy, s, "%on", own_name, NULL);
    for (size_t i = 0; i < s->statement_count; i++) {
        snippet_write_statement(&text, s, i, NULL, own_name, NULL);
        buf_text(&text, "\n");
    }
    ASSERT_DONE(snippet_parse(buf_string(&text), &again, &err), err);
    assert_same_snippet(s, &again);
    ck_assert_uint_ge(copy.length, text.length);
    snippet_free(&again);
    buf_free(&text);
    buf_free(&copy);
}

static int read_snippet(const struct buf *input, struct error *err)
{
    struct snippet snippet;
    const int status = snippet_parse(input->data, &snippet, err);
    if (status != 0)
        return status;
    assert_written(&snippet);
    snippet_free(&snippet);
    return 0;
}

/* ---- PTX, as the simulator reads it ---- */

static struct device *simulated(void)
{
    static struct device *device; /* one for all inputs of a test */
    if (device == NULL)
        device = testing_sim("a100", 1);
    return device;
}

static void ptx_seeds(struct seeds *seeds)
{
    for (size_t i = 0; probe_table[i] != NULL; i++) {
        struct buf ptx = {0};
        struct experiment e;
        struct error err;
        ASSERT_DONE(experiment_parse(probe_table[i]->name, &e, &err), err);
        /* The probe of free memory has no kernel, and not every GPU all. */
        const int status =
            probe_kernel(&e, &simulated()->info, &ptx, &err);
        ck_assert_msg(status == 0 || status == ERR_UNSUPPORTED, "%s", err.text);
        if (status == 0 && ptx.length > 0)
            seeds_add(seeds, ptx.data, ptx.length);
        buf_free(&ptx);
        experiment_free(&e);
    }
}

static int read_ptx(const struct buf *input, struct error *err)
{
    const struct source source = {.ptx = input->data, .level = 3};
    struct module *module;
    const int status = device_load(simulated(), &source, &module, err);
    if (status == 0)
        device_unload(simulated(), module);
    return status;
}

/* ---- machine code ----------------------------------------------------- */

static void cubin_seeds(struct seeds *seeds)
{
    for (size_t i = 0; cubin_names[i] != NULL; i++) {
        struct buf bytes = cubin_bytes(cubin_names[i]);
        seeds_add(seeds, bytes.data, bytes.length);
        buf_free(&bytes);
    }
}

static void judge_listing(const struct listing *listing)
{
    struct buf text = {0};
    const struct sass_proof_claim claim = {.shorter = listing_region(listing, 0),
                                      .longer = listing_region(listing, 2),
                                      .whole = listing_whole(listing),
                                      .copies = 8,
                                      .chains = 1,
                                      .expected = "IADD3 IMAD.* MUFU.RCP"};
    struct sass_proof timed = sass_proof_judge(&claim);
    code_span_write(claim.whole, &text);
    ck_assert(timed.verdict == PROOF_VERIFIED || timed.because[0] != '\0');
    buf_free(&text);
    sass_proof_free(&timed);
}

/* Read, listed and judged. */
static int read_cubin(const struct buf *input, struct error *err)
{
    struct listing listing;
    const int status =
        listing_read(input->data, input->length, "timed", &listing, err);
    if (status != 0)
        return status;
    judge_listing(&listing);
    listing_free(&listing);
    return 0;
}

const struct fuzz_target fuzz_targets[] = {
#define TARGET(name, seeds, read, cost) {#name, seeds, read, cost},
#include "fuzz/targets.def"
#undef TARGET
};
const size_t fuzz_target_count = COUNT_OF(fuzz_targets);
