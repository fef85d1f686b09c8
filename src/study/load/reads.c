/*
 * How many bytes can be read in a time: of L1 and shared memory by one SM, of
 * L2 and memory by all.  It belongs to what `topology` shows, so it asks no
 * more than it takes to be sure, and as few runs where that cannot be had; by
 * widths, shapes, operators and ways to write the study `bandwidth` asks.
 */
#include "analysis/hits.h"
#include "base/mem.h"
#include "study/gpu_state.h"
#include "study/load/bandwidth_rows.h"

static const char *const of_sm[] = {"l1", "shared", NULL};
static const char *const of_gpu[] = {"memory", "l2", NULL};
static const struct answer answers[] = {
    {of_sm, "read_bandwidth", "B/clk/SM"},
    {of_gpu, "read_bandwidth", "B/s"},
    {0},
};
static const char *const kernels[] = {"chase op=ca", "chase op=cg",
                                      "chase space=shared", NULL};

/* What is disturbed by nobody adds 2 % to loads that are near (docs/trust.md,
 * the shipped noise), and rates are right; from 8 % on some are not. */
static const double late_least = 0.05;

/* What a question is asked beside. */
struct beside {
    struct gpu_state now;
    bool late; /* loads are */
};

static struct bandwidth_question question(struct lab *lab,
                                          const struct memory *m,
                                          const struct beside *beside,
                                          enum bandwidth_row row)
{
    const struct gpu_state *const now = &beside->now;
    struct bandwidth_question q = bandwidth_question(lab, m, row);
    q.brief = true;
    q.late = beside->late;
    q.others = now->known && now->processes > 0;
    q.hz = now->known ? now->hz : 0;
    return q;
}

static struct cost cost_by(struct lab *lab, const char *how)
{
    return lab_chase(lab, "chase %s bytes=1024 stride=32 warm=4 visits=64",
                     how);
}

/* True if it is known to be at most so large a share: of what noise hides
 * nothing is (a cost of no cycles, or of none that is a number). */
static bool is_small(double cycles, const struct cost *c)
{
    return c->cycles > 0 && cycles <= late_least * c->cycles;
}

/* Where each run has late loads by chance runs do not tell by how much, and
 * differ: then single loads do.  What is late by as much is late by more of
 * what costs less, so what is asked itself says it. */
static bool are_late(struct lab *lab, const char *how, const struct cost *runs)
{
    struct cost c = *runs;
    if (lab_ok(lab) && !is_small(c.high - c.cycles, &c))
        c = lab_load_cost(lab, "%s bytes=1024 stride=32 warm=4", how);
    return !is_small(c.excess, &c);
}

static struct fact_reading ask_l1(struct lab *lab, struct beside *beside)
{
    struct bandwidth_found found = {0};
    const struct cost ca = cost_by(lab, "op=ca"), cg = cost_by(lab, "op=cg");
    beside->late = are_late(lab, "op=ca", &ca);
    const struct bandwidth_question q = question(lab, NULL, beside, L1_READ);
    if (lab_ok(lab) && !hits_cheaper(ca.cycles, cg.cycles))
        lab_refuse(lab, "l1.*", why_l1_bypassed);
    else if (lab_ok(lab))
        found = bandwidth_ask(&q, NULL);
    return bandwidth_reading(&found);
}

static struct fact_reading ask_shared(struct lab *lab,
                                      const struct beside *beside)
{
    struct beside shared = *beside;
    const struct cost c = cost_by(lab, "space=shared");
    shared.late |= are_late(lab, "space=shared", &c);
    const struct bandwidth_question q =
        question(lab, NULL, &shared, SHARED_READ);
    const struct bandwidth_found found = bandwidth_ask(&q, NULL);
    return bandwidth_reading(&found);
}

static void ask_gpu(struct lab *lab, const struct beside *beside,
                    struct fact_reads *known)
{
    struct memory m;
    if (!bandwidth_find_memory(lab, &m))
        return;
    const struct bandwidth_question read = question(lab, &m, beside, MEMORY_ROUND);
    const struct bandwidth_question l2 = question(lab, &m, beside, L2_READ);
    m.read = bandwidth_ask(&read, NULL);
    known->memory = bandwidth_reading(&m.read);
    lab_about(lab, LEVEL_L2); /* what disturbs that disturbs nothing else */
    if (lab_ok(lab))
        bandwidth_ask_l2(&l2, &m.read);
    lab_about(lab, LEVEL_COUNT);
}

static void reads_run(struct lab *lab)
{
    struct fact_reads *const known = fact_reads_write(lab);
    struct beside beside = {.now = gpu_state_read(lab, "clock")};
    if (lab_ok(lab))
        known->l1 = ask_l1(lab, &beside);
    if (lab_ok(lab))
        known->shared = ask_shared(lab, &beside);
    if (lab_ok(lab))
        ask_gpu(lab, &beside, known);
}

const struct study study_reads = {
    .name = "reads",
    .question = "How many bytes can be read in a time, from L1, shared memory, "
                "L2 and memory?",
    .method = "Many warps read; what is in flight is doubled until nothing "
              "gives more.",
    .answers = answers,
    .kernels = kernels,
    .under_load = true,
    .run = reads_run,
};
