/*
 * Options of GPGPU-Sim and Accel-Sim (`-gpgpu_l1_latency 32`), to be given
 * after a base configuration: a later option takes the place of an earlier one,
 * so that the base goes on saying what could not be measured.
 *
 * A row of the table is an option and the findings that it is made of.  It is
 * written if all of these are known; else a comment says which are not, and
 * why.  GPGPU-Sim's reader takes '#' and what follows in a line as a comment.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/export/accelsim.h"
#include "report/export/known.h"
#include "report/report.h"

enum { OPERANDS = 4 };

struct setting {
    const char *option; /* NULL: a heading, which `note` is */
    const char *ids[OPERANDS];
    /* Writes the value; or says why it cannot be written.  NULL: the number of
     * the first finding, whole. */
    const char *(*put)(struct buf *out, const double *n);
    const char *note; /* what differs from the finding; NULL: nothing */
};

/* ---- values ------------------------------------------------------------ */

static const char *put_whole(struct buf *out, const double *n)
{
    const double whole = nearbyint(n[0]);
    if (whole > UINT32_MAX)
        return "the option holds 32 bits";
    buf_printf(out, "%.0f", whole);
    return NULL;
}

/* A stage at least: a pipeline of none is another one. */
static const char *put_cycles(struct buf *out, const double *n)
{
    return nearbyint(n[0]) < 1 ? "it is less than a cycle" : put_whole(out, n);
}

static const char *put_difference(struct buf *out, const double *n)
{
    const double difference = n[0] - n[1];
    return put_cycles(out, &difference);
}

static const char *put_not(struct buf *out, const double *n)
{
    buf_text(out, n[0] > 0 ? "0" : "1");
    return NULL;
}

static const char *put_one(struct buf *out, const double *n)
{
    (void)n;
    buf_text(out, "1");
    return NULL;
}

static const char *put_pair(struct buf *out, const double *n)
{
    if (n[1] < 1 || fmod(n[0], n[1]) > 0)
        return "threads are no whole warps";
    buf_printf(out, "%.0f:%.0f", n[0], n[1]);
    return NULL;
}

static const char *put_major(struct buf *out, const double *n)
{
    buf_printf(out, "%.0f", floor(n[0] / 10));
    return NULL;
}

static const char *put_minor(struct buf *out, const double *n)
{
    buf_printf(out, "%.0f", fmod(n[0], 10));
    return NULL;
}

#define NO_SCHEDULERS                                                          \
    "warps at once differ, so that they do not tell how many schedulers "      \
    "there "                                                                   \
    "are"

static const char *put_alike(struct buf *out, const double *n)
{
    return islessgreater(n[0], n[1]) ? NO_SCHEDULERS : put_cycles(out, n);
}

/*
 * Latency and initiation interval.  A unit takes a new instruction of a warp
 * every `interval` cycles.  The reader holds whole cycles: an interval that is
 * more than a twentieth off one (2.5 cycles) would make another machine.  It
 * puts an instruction so far into its pipeline as latency exceeds interval, and
 * keeps no more than 511 cycles (MAX_ALU_LATENCY in shader.h).
 */
static const char *put_interval(struct buf *out, double latency,
                                double interval)
{
    const double cycles = nearbyint(latency), every = nearbyint(interval);
    if (every < 1 || fabs(interval - every) > every / 20)
        return "the initiation interval is no whole number of cycles";
    if (every > cycles)
        return "the initiation interval exceeds the latency, which Accel-Sim's "
               "pipelines do not allow";
    if (cycles > 511)
        return "Accel-Sim's units have at most 511 cycles";
    buf_printf(out, "%.0f,%.0f", cycles, every);
    return NULL;
}

enum { WARP = 32 };

/* Of latency, lanes in a cycle on an SM, and units. */
static const char *put_lanes(struct buf *out, const double *n)
{
    if (!(n[1] > 0))
        return "the throughput is none";
    return put_interval(out, n[0], WARP * n[2] / n[1]);
}

/* The same of units of which is only known that Accel-Sim has one for each
 * scheduler, if warps at once of two kinds say how many these are. */
static const char *put_scheduled(struct buf *out, const double *n)
{
    return islessgreater(n[2], n[3]) ? NO_SCHEDULERS : put_lanes(out, n);
}

/* Of an m16n8k16, of 2 m n k operations. */
static const char *put_tensor(struct buf *out, const double *n)
{
    if (!(n[1] > 0))
        return "the throughput is none";
    return put_interval(out, n[0], 2.0 * 16 * 8 * 16 * n[2] / n[1]);
}

/* ---- options ----------------------------------------------------------- */

/* What is said of the device, as a number: 90 of "9.0". */
#define CAPABILITY "compute_capability"

#define FP32       "arithmetic.fp32"
#define INT32      "arithmetic.int32"
#define MMA        "tensor.mma.m16n8k16.f32.f16.f16.f32"

#define SHARE                                                                  \
    "interval = 32 lanes x units / throughput, as Accel-Sim's tuner has it"

static const struct setting settings[] = {
    {.note = "Limits and facts"},
    {"-gpgpu_compute_capability_major", {CAPABILITY}, put_major, NULL},
    {"-gpgpu_compute_capability_minor", {CAPABILITY}, put_minor, NULL},
    {"-gpgpu_ptx_force_max_capability", {CAPABILITY}, NULL, NULL},
    {"-gpgpu_occupancy_sm_number", {CAPABILITY}, NULL, NULL},
    {"-gpgpu_coalesce_arch", {CAPABILITY}, NULL, NULL},
    {"-gpgpu_n_clusters", {"sm.count"}, NULL, NULL},
    {"-gpgpu_n_cores_per_cluster",
     {"sm.count"},
     put_one,
     "a cluster is one SM, as Accel-Sim's tuner has it: clusters times this "
     "are the SMs"},
    {"-gpgpu_shader_core_pipeline",
     {"sm.max_threads", "sm.warp_size"},
     put_pair,
     NULL},
    {"-gpgpu_shader_cta", {"sm.max_blocks"}, NULL, NULL},
    {"-gpgpu_shader_registers", {"sm.registers"}, NULL, NULL},
    {"-gpgpu_registers_per_block", {"block.registers"}, NULL, NULL},
    {"-gpgpu_shmem_size", {"sm.shared"}, NULL, NULL},
    {"-gpgpu_shmem_sizeDefault", {"sm.shared"}, NULL, NULL},
    {"-gpgpu_shmem_per_block", {"block.shared"}, NULL, NULL},

    {.note = "Memory: cycles of the SM's clock. Accel-Sim's L2 and memory "
             "latencies are what they take beyond the level before, with the "
             "way there"},
    {"-gpgpu_gmem_skip_L1D", {"l1.caches_global"}, put_not, NULL},
    {"-gpgpu_l1_latency", {"l1.latency"}, put_cycles, NULL},
    {"-gpgpu_smem_latency",
     {"shared.latency"},
     put_cycles,
     "by pointer: no address arithmetic is in it"},
    {"-gpgpu_l2_rop_latency",
     {"l2.latency", "l1.latency"},
     put_difference,
     "the first less the second"},
    {"-dram_latency",
     {"memory.latency", "l2.latency"},
     put_difference,
     "the first less the second"},
    {"-gpgpu_shmem_num_banks", {"shared.banks"}, NULL, NULL},

    {.note = "Units of an SM: warps of such instructions that work at once"},
    {"-gpgpu_num_sched_per_core",
     {FP32 ".sawtooth", INT32 ".sawtooth"},
     put_alike,
     "warps at once are one for each scheduler where units of both kinds say "
     "so"},
    {"-gpgpu_num_sp_units", {FP32 ".sawtooth"}, put_cycles, NULL},
    {"-gpgpu_num_int_units", {INT32 ".sawtooth"}, put_cycles, NULL},
    {"-gpgpu_num_dp_units", {"arithmetic.fp64.sawtooth"}, put_cycles, NULL},
    {"-gpgpu_num_sfu_units",
     {FP32 ".sawtooth", INT32 ".sawtooth"},
     put_alike,
     "one for each scheduler, as Accel-Sim's tuner has it"},
    {"-gpgpu_num_tensor_core_units", {MMA ".sawtooth"}, put_cycles, NULL},
    {"-gpgpu_tensor_core_avail", {MMA ".latency"}, put_one, NULL},

    {.note = "Instructions: latency,initiation interval of a unit. The "
             "pipelines of Accel-Sim are as deep as -ptx_opcode_latency_* (MAX "
             "of int, fp and dp) and -specialized_unit_* of the base say: they "
             "must be deeper than latency less interval"},
    {"-trace_opcode_latency_initiation_int",
     {"isa.mad.lo.s32.latency.O3", "isa.mad.lo.s32.throughput",
      INT32 ".sawtooth"},
     put_lanes,
     SHARE},
    {"-trace_opcode_latency_initiation_sp",
     {"isa.fma.rn.f32.latency.O3", "isa.fma.rn.f32.throughput",
      FP32 ".sawtooth"},
     put_lanes,
     SHARE},
    {"-trace_opcode_latency_initiation_dp",
     {"isa.fma.rn.f64.latency.O3", "isa.fma.rn.f64.throughput",
      "arithmetic.fp64.sawtooth"},
     put_lanes,
     SHARE},
    {"-trace_opcode_latency_initiation_sfu",
     {"isa.rcp.approx.ftz.f32.latency.O3", "isa.rcp.approx.ftz.f32.throughput",
      FP32 ".sawtooth", INT32 ".sawtooth"},
     put_scheduled,
     SHARE ", with one unit for each scheduler"},
    {"-trace_opcode_latency_initiation_tensor",
     {MMA ".latency", MMA ".throughput", MMA ".sawtooth"},
     put_tensor,
     "of one m16n8k16: interval = 4096 operations x units / throughput"},
};

/* What was found and has no option. */
static const struct {
    const char *id, *why;
} unspeakable[] = {
    {"l2.slices", "are -gpgpu_n_mem times -gpgpu_n_sub_partition_per_mchannel, "
                  "of which the second is a power of two; which two is not "
                  "measured"},
    {"l2.far_latency", "Accel-Sim's L2 has one distance"},
    {"l2.replicates", "Accel-Sim's L2 keeps no copies of its other part"},
    {"l2.size", "is the size of all slices of -gpgpu_cache:dl2 together"},
    {"l1.size", "was found with no shared memory; -gpgpu_unified_l1d_size is "
                "that of both, which is not measured"},
    {"clock.measured", "-gpgpu_clock_domains wants the clocks of interconnect, "
                       "L2 and memory with it, which are not measured"},
    {"clock.memory", "-gpgpu_clock_domains wants the command clock, which "
                     "depends on the kind of memory"},
    {"memory.bus_width", "is -gpgpu_n_mem times -gpgpu_n_mem_per_ctrlr times "
                         "-gpgpu_dram_buswidth, which depend on the kind of "
                         "memory"},
    {"scheduling.empty_launch", "is at most -gpgpu_kernel_launch_latency, "
                                "since it holds the end of the launch, too"},
    {"texture.latency", "-trace_opcode_latency_initiation_spec_op_2 is of all "
                        "texture loads, hits or not"},
    {"const_l15.size", "Accel-Sim has no second constant cache"},
    {"tlb.levels", "Accel-Sim does not translate addresses"},
};

/* What no study measures. */
static const char *const unmeasured[] = {
    "-gpgpu_scheduler, -gpgpu_max_insn_issue_per_warp, -gpgpu_sub_core_model",
    "-gpgpu_l1_banks, -gpgpu_adaptive_cache_config, -gpgpu_shmem_option, "
    "-gpgpu_l1_cache_write_ratio",
    "-gpgpu_num_reg_banks, -gpgpu_reg_file_port_throughput, "
    "-gpgpu_operand_collector_*, -gpgpu_pipeline_widths",
    "-gpgpu_dram_timing_opt and all else of the DRAM and the interconnect",
    "-trace_opcode_latency_initiation_spec_op_1 (branches) and _4 (uniform "
    "instructions)",
};

/* ---- writing ----------------------------------------------------------- */

static void comment_buf(const struct accelsim *out, struct buf *text)
{
    accelsim_comment(out, buf_string(text));
    buf_free(text);
}

/* 90 of "9.0". */
static bool capability(const struct results *results, double *number)
{
    const struct value *const v = results_of_device(results, CAPABILITY);
    char *end;
    if (v == NULL || v->kind != VALUE_TEXT)
        return false;
    const unsigned long major = strtoul(v->text, &end, 10);
    if (end == v->text || *end != '.' || end[1] < '0' || end[1] > '9' ||
        end[2] != '\0' || major > 99)
        return false;
    *number = 10.0 * (double)major + (end[1] - '0');
    return true;
}

static bool operand(const struct results *results, const char *id,
                    double *number)
{
    return strcmp(id, CAPABILITY) == 0 ? capability(results, number)
                                       : known_number(results, id, number);
}

static void say_operand(struct buf *text, const struct results *results,
                        const char *id)
{
    double number;
    if (strcmp(id, CAPABILITY) != 0)
        known_say(text, results, id);
    else if (capability(results, &number))
        buf_printf(text, "compute capability %.0f.%.0f", floor(number / 10),
                   fmod(number, 10));
    else
        buf_text(text, "the compute capability is not in the report");
}

/* True if all findings are known; what they say, those that are not first of
 * all, is in the text. */
static bool operands(const struct accelsim *out, const struct setting *s,
                     double *n, struct buf *text)
{
    bool all = true;
    for (size_t i = 0; i < OPERANDS && s->ids[i] != NULL; i++)
        all = operand(out->results, s->ids[i], &n[i]) && all;
    const char *between = "";
    for (size_t i = 0; i < OPERANDS && s->ids[i] != NULL; i++) {
        double number;
        if (!all && operand(out->results, s->ids[i], &number))
            continue;
        buf_text(text, between);
        say_operand(text, out->results, s->ids[i]);
        between = "; ";
    }
    return all;
}

static void put_setting(const struct accelsim *out, const struct setting *s)
{
    double n[OPERANDS];
    struct buf text = {0}, value = {0}, line = {0};
    const bool all = operands(out, s, n, &text);
    const char *const refused =
        all ? (s->put != NULL ? s->put : put_whole)(&value, n) : NULL;
    if (all && s->note != NULL)
        buf_printf(&text, ": %s", s->note);
    if (refused != NULL)
        buf_printf(&text, "; %s", refused);
    if (!all || refused != NULL)
        buf_printf(&line, "%s is %s: ", s->option,
                   all ? "not expressed" : "not known");
    buf_text(&line, buf_string(&text));
    comment_buf(out, &line);
    if (all && refused == NULL)
        buf_printf(out->page.out, "%s %s\n", s->option, buf_string(&value));
    buf_free(&text);
    buf_free(&value);
}

static void heading(const struct accelsim *out, const char *text)
{
    buf_text(out->page.out, "\n");
    accelsim_comment(out, text);
}

static void put_settings(const struct accelsim *out)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        if (settings[i].option == NULL)
            heading(out, settings[i].note);
        else
            put_setting(out, &settings[i]);
}

static void put_rest(const struct accelsim *out)
{
    heading(out, "Found, and Accel-Sim has no option that means the same:");
    for (size_t i = 0; i < COUNT_OF(unspeakable); i++) {
        if (known(out->results, unspeakable[i].id) == NULL)
            continue;
        struct buf text = {0};
        known_say(&text, out->results, unspeakable[i].id);
        buf_printf(&text, ": %s", unspeakable[i].why);
        comment_buf(out, &text);
    }
    heading(out, "Not measured by any study:");
    for (size_t i = 0; i < COUNT_OF(unmeasured); i++)
        accelsim_comment(out, unmeasured[i]);
}

/* The tuner makes a folder of the name that it reads here. */
static void put_name(const struct accelsim *out)
{
    const struct value *const v = results_of_device(out->results, "name");
    struct buf text = {0};
    buf_text(&text, "Device Name = ");
    for (const char *c = v != NULL && v->kind == VALUE_TEXT ? v->text : "GPU";
         *c != '\0'; c++)
        buf_printf(&text, "%c",
                   (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9')
                       ? *c
                       : '_');
    comment_buf(out, &text);
}

static int config_write(const struct results *results,
                        const struct report_style *style, struct buf *bytes,
                        struct error *err)
{
    const struct accelsim out = {results, {.out = bytes, .ascii = true}};
    struct buf text = {0};
    (void)style;
    (void)err;
    buf_text(&text, "GPGPU-Sim and Accel-Sim options by ");
    known_origin(&text, results);
    comment_buf(&out, &text);
    put_name(&out);
    accelsim_comment(&out,
                     "To be given after a base configuration, which goes on "
                     "saying what is not known here: -config BASE -config "
                     "THIS. Options are what was measured, what the driver "
                     "reports and what follows from these; bounds and what is "
                     "in doubt are comments.");
    put_settings(&out);
    accelsim_caches(&out);
    put_rest(&out);
    return 0;
}

const struct report_format report_config = {
    .name = "config",
    .summary = "options of GPGPU-Sim and Accel-Sim",
    .write = config_write,
};
