/*
 * Options of GPGPU-Sim and Accel-Sim, read by a grammar that was written from
 * their readers: OptionParser of src/option_parser.cc, the options that
 * src/gpgpu-sim/gpu-sim.cc and others register, and cache_config::init of
 * src/gpgpu-sim/gpu-cache.h (GPGPU-Sim, commit 667834c, 2024-10), and
 * trace_config of gpu-simulator/trace-driven/trace_driven.cc (Accel-Sim, commit
 * 2260456, 2022-04).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/export/index_name.h"
#include "report/report.h"
#include "testing.h"

/* ---- the reader -------------------------------------------------------- */

enum kind { NUMBER, FLAG, PAIR, PIPELINE, CACHE };

static const struct {
    const char *name;
    enum kind kind;
} registered[] = {
    {"-gpgpu_compute_capability_major", NUMBER},
    {"-gpgpu_compute_capability_minor", NUMBER},
    {"-gpgpu_ptx_force_max_capability", NUMBER},
    {"-gpgpu_occupancy_sm_number", NUMBER},
    {"-gpgpu_coalesce_arch", NUMBER},
    {"-gpgpu_n_clusters", NUMBER},
    {"-gpgpu_n_cores_per_cluster", NUMBER},
    {"-gpgpu_shader_core_pipeline", PIPELINE},
    {"-gpgpu_shader_cta", NUMBER},
    {"-gpgpu_shader_registers", NUMBER},
    {"-gpgpu_registers_per_block", NUMBER},
    {"-gpgpu_shmem_size", NUMBER},
    {"-gpgpu_shmem_sizeDefault", NUMBER},
    {"-gpgpu_shmem_per_block", NUMBER},
    {"-gpgpu_gmem_skip_L1D", FLAG},
    {"-gpgpu_l1_latency", NUMBER},
    {"-gpgpu_smem_latency", NUMBER},
    {"-gpgpu_l2_rop_latency", NUMBER},
    {"-dram_latency", NUMBER},
    {"-gpgpu_shmem_num_banks", NUMBER},
    {"-gpgpu_num_sched_per_core", NUMBER},
    {"-gpgpu_num_sp_units", NUMBER},
    {"-gpgpu_num_int_units", NUMBER},
    {"-gpgpu_num_dp_units", NUMBER},
    {"-gpgpu_num_sfu_units", NUMBER},
    {"-gpgpu_num_tensor_core_units", NUMBER},
    {"-gpgpu_tensor_core_avail", NUMBER},
    {"-trace_opcode_latency_initiation_int", PAIR},
    {"-trace_opcode_latency_initiation_sp", PAIR},
    {"-trace_opcode_latency_initiation_dp", PAIR},
    {"-trace_opcode_latency_initiation_sfu", PAIR},
    {"-trace_opcode_latency_initiation_tensor", PAIR},
    {"-gpgpu_cache:dl1", CACHE},
    {"-gpgpu_cache:dl2", CACHE},
    {"-gpgpu_cache:il1", CACHE},
    {"-gpgpu_const_cache:l1", CACHE},
    {"-gpgpu_tex_cache:l1", CACHE},
};

struct option_read {
    char *name, *value;
};

struct read {
    struct option_read *options;
    size_t count;
};

/* Digits, and no leading zero, which would make it octal. */
static bool is_number(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text) &&
           (text[0] != '0' || text[1] == '\0') &&
           strtoull(text, NULL, 10) <= UINT32_MAX;
}

static bool is_pair(const char *text, char between)
{
    unsigned first, second;
    char sign, end;
    return sscanf(text, "%u%c%u%c", &first, &sign, &second, &end) == 3 &&
           sign == between;
}

static bool is_log2(unsigned n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* What cache_config::init asks of the string; '?' is sonde's, and none of the
 * reader's letters. */
static bool is_cache(const char *text)
{
    char type, policy, write, allocate, write_allocate, index, mshr;
    unsigned sets, line, ways, entries, merge, queue, fifo, port = 0;
    const int parts =
        sscanf(text, "%c:%u:%u:%u,%c:%c:%c:%c:%c,%c:%u:%u,%u:%u,%u", &type,
               &sets, &line, &ways, &policy, &write, &allocate, &write_allocate,
               &index, &mshr, &entries, &merge, &queue, &fifo, &port);
    return parts >= 12 && strchr("NS", type) != NULL &&
           strchr("LF?", policy) != NULL && strchr("RBTEL", write) != NULL &&
           strchr("mfs", allocate) != NULL &&
           strchr("NWFL", write_allocate) != NULL &&
           strchr("HPCLX?", index) != NULL && strchr("FTAS", mshr) != NULL &&
           (strchr("FT", mshr) == NULL || parts == 14) && is_log2(sets) &&
           is_log2(line) && ways > 0 && (type == 'N' || line == 128) &&
           (port == 0 || line % port == 0);
}

static bool accepts(enum kind kind, const char *value)
{
    switch (kind) {
    case NUMBER:
        return is_number(value);
    case FLAG:
        return strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
    case PAIR:
        return is_pair(value, ',');
    case PIPELINE:
        return is_pair(value, ':');
    case CACHE:
        break;
    }
    return is_cache(value);
}

static void take_option(struct read *r, const char *name, const char *value)
{
    size_t i = 0;
    while (i < COUNT_OF(registered) && strcmp(registered[i].name, name) != 0)
        i++;
    ck_assert_msg(i < COUNT_OF(registered), "unknown option '%s'", name);
    ck_assert_msg(value != NULL && accepts(registered[i].kind, value),
                  "%s does not take '%s'", name, value);
    r->options = xreallocarray(r->options, r->count + 1, sizeof *r->options);
    r->options[r->count++] =
        (struct option_read){xstrdup(name), xstrdup(value)};
}

/* Comments end with their line; what is left is words between blanks, of which
 * every first is an option and every second its value. */
static struct read config_read(const char *text)
{
    struct read r = {0};
    char *const copy = xstrdup(text);
    bool comment = false;
    for (char *c = copy; *c != '\0'; c++) {
        comment = *c != '\n' && (comment || *c == '#');
        if (comment)
            *c = ' ';
    }
    char *save = NULL;
    for (char *name = strtok_r(copy, " \t\n\r\v\f", &save); name != NULL;
         name = strtok_r(NULL, " \t\n\r\v\f", &save))
        take_option(&r, name, strtok_r(NULL, " \t\n\r\v\f", &save));
    free(copy);
    return r;
}

static const char *option_of(const struct read *r, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->options[i].name, name) == 0)
            value = r->options[i].value;
    return value;
}

static void read_free(struct read *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->options[i].name);
        free(r->options[i].value);
    }
    free(r->options);
}

/* ---- reports ----------------------------------------------------------- */

static void add(struct results *r, const char *id, double number)
{
    finding_set(results_add(r, id, "test"), STATUS_MEASURED,
                value_number(number), "");
}

static void add_word(struct results *r, const char *id, const char *word)
{
    finding_set(results_add(r, id, "test"), STATUS_MEASURED, value_text(word),
                "");
}

static char *written(const struct results *r)
{
    struct buf out = {0};
    struct error err = {0};
    const struct report_style plain = {0};
    ASSERT_DONE(report_format_find("config")->write(r, &plain, &out, &err),
                err);
    return buf_take(&out);
}

/* What the reader takes of one option; "" if it is not there. */
static void assert_option(const struct results *r, const char *name,
                          const char *value)
{
    char *const text = written(r);
    struct read read = config_read(text);
    const char *const got = option_of(&read, name);
    ck_assert_str_eq(got != NULL ? got : "", value);
    read_free(&read);
    free(text);
}

/* The comments as one line, without what wraps them; the caller frees. */
static char *comments(const char *text)
{
    struct buf out = {0};
    for (; *text != '\0'; text++)
        if (strncmp(text, "\n# ", 3) == 0) {
            buf_text(&out, " ");
            text += 2;
        } else
            buf_append(&out, text, 1);
    return buf_take(&out);
}

static void assert_says(const struct results *r, const char *words)
{
    char *const text = written(r), *const line = comments(text);
    ck_assert_msg(strstr(line, words) != NULL, "'%s' is not in %s", words,
                  line);
    free(text);
    free(line);
}

/* A string that is a comment, as it is read without the '#'. */
static void assert_string(const struct results *r, const char *name,
                          const char *value)
{
    char *const text = written(r);
    for (char *c = text; *c != '\0'; c++)
        if (strncmp(c, "\n#-", 3) == 0)
            c[1] = ' ';
    struct read read = config_read(text);
    const char *const got = option_of(&read, name);
    ck_assert_str_eq(got != NULL ? got : "", value);
    read_free(&read);
    free(text);
}

/* ---- options ----------------------------------------------------------- */

START_TEST(numbers_are_converted)
{
    struct results r = {0};
    results_device(&r, "compute_capability", value_text("8.6"));
    add(&r, "sm.count", 46);
    add(&r, "sm.max_threads", 1536);
    add(&r, "sm.warp_size", 32);
    add(&r, "l1.latency", 31.7);
    add(&r, "l2.latency", 210.4);
    add(&r, "memory.latency", 500.2);
    finding_set(results_add(&r, "l1.caches_global", "test"), STATUS_MEASURED,
                value_bool(true), "");
    assert_option(&r, "-gpgpu_compute_capability_major", "8");
    assert_option(&r, "-gpgpu_compute_capability_minor", "6");
    assert_option(&r, "-gpgpu_coalesce_arch", "86");
    assert_option(&r, "-gpgpu_n_clusters", "46");
    assert_option(&r, "-gpgpu_n_cores_per_cluster", "1");
    assert_option(&r, "-gpgpu_shader_core_pipeline", "1536:32");
    assert_option(&r, "-gpgpu_l1_latency", "32");
    assert_option(&r, "-gpgpu_l2_rop_latency", "179");
    assert_option(&r, "-dram_latency", "290");
    assert_option(&r, "-gpgpu_gmem_skip_L1D", "0");
    results_free(&r);
}
END_TEST

/* One that has no value, by any status, is in no option that needs it. */
START_TEST(unknown_ones_are_comments)
{
    static const enum finding_status statuses[] = {
        STATUS_IN_DOUBT, STATUS_AT_LEAST, STATUS_AT_MOST};
    struct results r = {0};
    add(&r, "l2.latency", 200);
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        struct finding *const f = results_add(&r, "l1.latency", "test");
        finding_set(f, statuses[i], value_number(32), "cycles");
        finding_because(f, "of this and that");
        assert_option(&r, "-gpgpu_l1_latency", "");
        assert_option(&r, "-gpgpu_l2_rop_latency", "");
        assert_says(&r, "-gpgpu_l1_latency is not known: l1.latency is");
        assert_says(&r, "32 cycles: of this and that");
    }
    finding_none(results_add(&r, "l1.latency", "test"), "the budget was spent");
    assert_option(&r, "-gpgpu_l1_latency", "");
    assert_says(&r, "l1.latency is not measured: the budget was spent");
    assert_says(&r, "-gpgpu_n_clusters is not known: sm.count is not in the "
                    "report");
    results_free(&r);
}
END_TEST

static void add_instruction(struct results *r, double latency,
                            double throughput, double units)
{
    add(r, "isa.fma.rn.f64.latency.O3", latency);
    add(r, "isa.fma.rn.f64.throughput", throughput);
    add(r, "arithmetic.fp64.sawtooth", units);
}

START_TEST(intervals_are_lanes_through_units)
{
    static const struct {
        double latency, throughput, units;
        const char *value, *says;
    } cases[] = {
        {8, 63.7, 4, "8,2", "interval = 32 lanes"},
        {4.4, 127.3, 4, "4,1", "4.4"},
        {48, 2, 1, "48,16", "48"},
        {8, 51.2, 4, "", "no whole number of cycles"},
        {4, 192, 4, "", "no whole number of cycles"},
        {40, 2, 4, "", "exceeds the latency"},
        {600, 32, 4, "", "at most 511 cycles"},
        {4, 0, 4, "", "the throughput is none"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct results r = {0};
        add_instruction(&r, cases[i].latency, cases[i].throughput,
                        cases[i].units);
        assert_option(&r, "-trace_opcode_latency_initiation_dp",
                      cases[i].value);
        assert_says(&r, cases[i].says);
        results_free(&r);
    }
}
END_TEST

START_TEST(a_tensor_core_takes_a_product)
{
    struct results r = {0};
    add(&r, "tensor.mma.m16n8k16.f32.f16.f16.f32.latency", 24);
    add(&r, "tensor.mma.m16n8k16.f32.f16.f16.f32.throughput", 2730.67);
    add(&r, "tensor.mma.m16n8k16.f32.f16.f16.f32.sawtooth", 4);
    assert_option(&r, "-trace_opcode_latency_initiation_tensor", "24,6");
    assert_option(&r, "-gpgpu_tensor_core_avail", "1");
    assert_option(&r, "-gpgpu_num_tensor_core_units", "4");
    results_free(&r);
}
END_TEST

START_TEST(schedulers_are_told_by_two_kinds)
{
    struct results r = {0};
    add(&r, "arithmetic.fp32.sawtooth", 4);
    assert_option(&r, "-gpgpu_num_sched_per_core", "");
    add(&r, "arithmetic.int32.sawtooth", 4);
    assert_option(&r, "-gpgpu_num_sched_per_core", "4");
    assert_option(&r, "-gpgpu_num_sfu_units", "4");
    add(&r, "arithmetic.fp32.sawtooth", 6);
    assert_option(&r, "-gpgpu_num_sched_per_core", "");
    assert_option(&r, "-gpgpu_num_sp_units", "6");
    assert_says(&r, "-gpgpu_num_sched_per_core is not expressed");
    results_free(&r);
}
END_TEST

/* ---- caches ------------------------------------------------------------ */

static void add_cache(struct results *r, const char *component,
                      const double *part)
{
    static const char *const names[] = {"sets", "line", "ways", "sector"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct buf id = {0};
        buf_printf(&id, "%s.%s", component, names[i]);
        add(r, buf_string(&id), part[i]);
        buf_free(&id);
    }
}

static void add_bits(struct results *r, const char *id, const double *bits,
                     size_t count)
{
    finding_set(results_add(r, id, "test"), STATUS_MEASURED,
                value_numbers(bits, count), "");
}

START_TEST(strings_have_the_geometry)
{
    struct results r = {0};
    add_cache(&r, "l1", (const double[]){4, 128, 64, 32});
    add_word(&r, "l1.policy", "lru");
    add_bits(&r, "l1.set_bits", (const double[]){7, 8}, 2);
    assert_string(&r, "-gpgpu_cache:dl1",
                  "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32");
    assert_option(&r, "-gpgpu_cache:dl1", "");
    add_word(&r, "l1.policy", "fifo");
    add_bits(&r, "l1.set_bits", (const double[]){12, 13}, 2);
    assert_string(&r, "-gpgpu_cache:dl1",
                  "S:4:128:64,F:T:m:L:?,A:512:8,16:0,32");
    add_word(&r, "l1.policy", "plru");
    assert_string(&r, "-gpgpu_cache:dl1",
                  "S:4:128:64,?:T:m:L:?,A:512:8,16:0,32");
    assert_says(&r, "plru (measured), which is neither of the reader's");
    results_free(&r);
}
END_TEST

START_TEST(a_string_is_of_one_slice)
{
    struct results r = {0};
    add_cache(&r, "l2", (const double[]){2048, 128, 16, 32});
    assert_string(&r, "-gpgpu_cache:dl2", "");
    assert_says(&r, "-gpgpu_cache:dl2 is not known: l2.slices is not in");
    add(&r, "l2.slices", 32);
    assert_string(&r, "-gpgpu_cache:dl2",
                  "S:64:128:16,?:B:m:L:?,A:192:4,32:0,32");
    add(&r, "l2.slices", 94);
    assert_string(&r, "-gpgpu_cache:dl2", "");
    assert_says(&r, "2048 sets do not go into 94 slices");
    assert_says(&r, "l2.slices 94 (measured): are -gpgpu_n_mem times");
    results_free(&r);
}
END_TEST

START_TEST(what_a_string_cannot_say)
{
    static const struct {
        double part[4];
        const char *says;
    } cases[] = {
        {{6, 128, 4, 128}, "sets must be a power of two"},
        {{4, 96, 4, 96}, "lines must be a power of two"},
        {{4, 64, 4, 32}, "sectors must be lines, or 32 B"},
        {{4, 128, 0, 32}, "no ways"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct results r = {0};
        add_cache(&r, "const_l1", cases[i].part);
        assert_string(&r, "-gpgpu_const_cache:l1", "");
        assert_says(&r, cases[i].says);
        results_free(&r);
    }
}
END_TEST

/* ---- index functions --------------------------------------------------- */

static char letter_of(const uint64_t *masks, unsigned count, double below)
{
    struct results r = {0};
    struct value list = value_list();
    for (unsigned i = 0; i < count; i++)
        value_push(&list, value_bits(masks[i]));
    struct finding *const f = results_add(&r, "l1.set_bits", "test");
    finding_set(f, STATUS_MEASURED, list, "");
    finding_protocol(f, "bits_below", value_number(below));
    const char letter = index_name(f, 128, 1u << count);
    results_free(&r);
    return letter;
}

/* Bits of the line's number, from 7 on, as hashing.cc has them of 16 sets: what
 * it calls a[0] is the fifth. */
static const uint64_t polynomial_of_16[] = {
    0xf59u << 11 | 1u << 7, 0x11ebu << 11 | 1u << 8, 0x3d6u << 11 | 1u << 9,
    0x7acu << 11 | 1u << 10};

START_TEST(functions_have_letters)
{
    static const uint64_t linear[] = {1u << 7, 1u << 8, 1u << 9},
                          folded[] = {1u << 7 | 1u << 10, 1u << 8 | 1u << 11,
                                      1u << 9 | 1u << 12},
                          fermi[] = {1u << 7 | 1u << 13, 1u << 8 | 1u << 14,
                                     1u << 9 | 1u << 15, 1u << 10 | 1u << 17,
                                     1u << 11 | 1u << 19};
    ck_assert_int_eq(letter_of(linear, 3, 47), 'L');
    ck_assert_int_eq(letter_of(folded, 3, 47), 'X');
    ck_assert_int_eq(letter_of(fermi, 5, 47), 'H');
    ck_assert_int_eq(letter_of(polynomial_of_16, 4, 47), 'P');
    /* Of bits that no address differed in nothing is told. */
    ck_assert_int_eq(letter_of(folded, 3, 10), 'L');
}
END_TEST

/* The same sets under other numbers, and one bit that is another. */
START_TEST(sets_have_no_names)
{
    uint64_t masks[4];
    memcpy(masks, polynomial_of_16, sizeof masks);
    masks[2] ^= masks[0];
    masks[0] = polynomial_of_16[3];
    masks[3] = polynomial_of_16[0] ^ polynomial_of_16[1];
    ck_assert_int_eq(letter_of(masks, 4, 47), 'P');
    masks[1] ^= 1u << 14;
    ck_assert_int_eq(letter_of(masks, 4, 47), '?');
    masks[1] = masks[0];
    ck_assert_int_eq(letter_of(masks, 4, 47), '?');
}
END_TEST

/* ---- what others wrote ------------------------------------------------- */

START_TEST(no_text_becomes_an_option)
{
    static const char *const hostile[] = {
        "x\n-gpgpu_l1_latency 1", "x\r\n-gpgpu_l1_latency 1",
        "x\v-gpgpu_l1_latency 1", "\033[31m\302\205-gpgpu_l1_latency 1",
        "# \" ; = $(reboot) \\\n -gpgpu_l1_latency 1"};
    for (size_t i = 0; i < COUNT_OF(hostile); i++) {
        struct results r = {0};
        results_device(&r, "name", value_text(hostile[i]));
        r.version = xstrdup(hostile[i]);
        finding_none(results_add(&r, "l1.latency", "test"), "%s", hostile[i]);
        add_word(&r, "l1.policy", hostile[i]);
        char *const text = written(&r);
        struct read read = config_read(text);
        ck_assert_uint_eq(read.count, 0);
        for (const char *c = text; *c != '\0'; c++)
            ck_assert_msg(isprint((unsigned char)*c) || *c == '\n', "byte %02x",
                          (unsigned char)*c);
        read_free(&read);
        free(text);
        results_free(&r);
    }
}
END_TEST

START_TEST(an_h200_is_read)
{
    struct results r = {0};
    struct error err = {0};
    struct buf file = {0};
    ASSERT_DONE(file_read("results/h200.json", 64 << 20, &file, &err), err);
    ASSERT_DONE(report_read(buf_string(&file), "h200", &r, &err), err);
    assert_option(&r, "-gpgpu_n_clusters", "132");
    assert_option(&r, "-gpgpu_l1_latency", "32");
    assert_string(&r, "-gpgpu_const_cache:l1", "N:8:64:4,?:R:f:N:L,S:2:64,4");
    assert_says(&r, "Device Name = NVIDIA_H200");
    buf_free(&file);
    results_free(&r);
}
END_TEST

Suite *suite_exchange_config(void)
{
    TCase *tests;
    Suite *const suite = suite_of("exchange_config", 20, &tests);
    tcase_add_test(tests, numbers_are_converted);
    tcase_add_test(tests, unknown_ones_are_comments);
    tcase_add_test(tests, intervals_are_lanes_through_units);
    tcase_add_test(tests, a_tensor_core_takes_a_product);
    tcase_add_test(tests, schedulers_are_told_by_two_kinds);
    tcase_add_test(tests, strings_have_the_geometry);
    tcase_add_test(tests, a_string_is_of_one_slice);
    tcase_add_test(tests, what_a_string_cannot_say);
    tcase_add_test(tests, functions_have_letters);
    tcase_add_test(tests, sets_have_no_names);
    tcase_add_test(tests, no_text_becomes_an_option);
    tcase_add_test(tests, an_h200_is_read);
    return suite;
}
