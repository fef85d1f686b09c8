#include "probe/run/pin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "probe/run/grid_barrier.h"

/* Behind the slots: one that counts, what it comes to when all have, and one
 * that counts the blocks that share an SM. */
enum { SLOTS = PIN_SLOTS, COUNTER = SLOTS, WANTED, SHARED, WORDS };
enum { SLOT_BYTES = WORDS * 4 };

void pin_claim(struct kernel_text *k)
{
    ptx(k, "ld.param.u64 %at, [slots];\n"
           "mad.wide.u32 %at, %sm, 4, %at;\n"
           "atom.global.exch.b32 %slot, [%at], 0xffffffff;\n");
}

void pin_opening(struct kernel_text *k, size_t job_bytes)
{
    ptx(k, ".reg .b32 %sm, %me, %slot;\n"
           ".reg .b64 %job, %at;\n"
           ".reg .pred %other, %again;\n"
           "// the first block on a wanted SM takes its job\n"
           "mov.u32 %sm, %smid;\n"
           "mov.u32 %me, %tid.x;\n"
           "setp.ne.u32 %other, %me, 0;\n"
           "@%other bra CLAIMED;\n");
    pin_claim(k);
    ptx_with(k,
             "st.shared.u32 [pool], %slot;\n"
             "CLAIMED:\n"
             "bar.sync 0;\n"
             "ld.shared.u32 %slot, [pool];\n"
             "setp.eq.u32 %again, %slot, 0xffffffff;\n"
             "@%again ret;\n"
             "ld.param.u64 %job, [jobs];\n"
             "mad.wide.u32 %job, %slot, $job_bytes, %job;\n",
             WORD(job_bytes, job_bytes));
}

void pin_job_word(struct kernel_text *k, const char *into, int word)
{
    ptx_with(k, "ld.global.cg.u64 $into, [%job+$word];", WORD(into, into),
             WORD(word, 8 * word));
}

void pin_mark(struct kernel_text *k, const char *clock)
{
    ptx_with(k,
             "sub.u32 %gap, $clock, %last;\n"
             "max.u32 %longest, %longest, %gap;\n"
             "mov.u32 %last, $clock;\n",
             WORD(clock, clock));
}

/* Of a pin whose blocks meet: %want is what they come to. */
static void declare_meeting(struct kernel_text *k)
{
    ptx_with(k,
             ".reg .b32 %count, %looks, %want;\n"
             ".reg .b64 %slots;\n"
             "ld.param.u64 %slots, [slots];\n"
             "ld.global.cg.u32 %want, [%slots+$wanted];\n",
             WORD(wanted, 4 * WANTED));
}

void pin_opening_shared(struct kernel_text *k, uint64_t sm)
{
    ptx(k, ".reg .b32 %sm, %me, %slot;\n"
           ".reg .b64 %at;\n"
           ".reg .pred %other, %again;\n"
           "mov.u32 %sm, %smid;\n"
           "mov.u32 %me, %tid.x;\n"
           "setp.ne.u32 %other, %me, 0;\n");
    declare_meeting(k);
    ptx_with(k,
             "@%other bra CLAIMED;\n"
             "mov.u32 %slot, 0xffffffff;\n"
             "setp.eq.u32 %again, %sm, $sm;\n"
             "@%again atom.global.add.u32 %slot, [%slots+$shared], 1;\n"
             "st.shared.u32 [pool], %slot;\n"
             "@%again bra CLAIMED;\n"
             "// keeps its place, or those that follow would all come here\n",
             WORD(sm, sm), WORD(shared, 4 * SHARED));
    grid_barrier_await(k, "ELSEWHERE", 4 * SHARED, GRID_BARRIER_LOOKS);
    ptx(k, "CLAIMED:\n"
           "bar.sync 0;\n"
           "ld.shared.u32 %slot, [pool];\n"
           "setp.ge.u32 %again, %slot, %want;\n"
           "@%again ret;\n");
}

void pin_meet_shared(struct kernel_text *k)
{
    ptx_with(k,
             "@%other bra MET;\n"
             "// no fence, which would empty L1 of what has just been loaded\n"
             "atom.global.add.u32 %count, [%slots+$counter], 1;\n",
             WORD(counter, 4 * COUNTER));
    grid_barrier_await(k, "GATE", 4 * COUNTER, GRID_BARRIER_LOOKS);
    ptx(k, "MET:");
}

void pin_meet(struct kernel_text *k)
{
    declare_meeting(k);
    ptx(k, "@%other bra MET;");
    grid_barrier_meet(k, "GATE", 4 * COUNTER, GRID_BARRIER_LOOKS);
    ptx(k, "MET:");
}

void pin_count(struct kernel_text *k)
{
    ptx_with(k, "atom.global.add.u32 %count, [%slots+$counter], 1;",
             WORD(counter, 4 * COUNTER));
}

void pin_counted(struct kernel_text *k)
{
    ptx_with(k, "ld.volatile.global.u32 %count, [%slots+$counter];",
             WORD(counter, 4 * COUNTER));
}

static int check_sms(const struct pin *pin, const struct device_info *info,
                     struct error *err)
{
    const int64_t sms = info->value[PROPERTY_SMS];
    for (size_t i = 0; i < pin->count; i++)
        if (pin->sms[i] >= SLOTS || (sms > 0 && pin->sms[i] >= (uint64_t)sms))
            return error_set(err, ERR_USAGE,
                             "there is no SM %" PRIu64 ": %s has %" PRId64,
                             pin->sms[i], info->name, sms);
    return 0;
}

static size_t runs_of(const struct pin *pin)
{
    return pin->runs > 0 ? pin->runs : 1;
}

/* Jobs of all runs. */
static size_t jobs_of(const struct pin *pin)
{
    return runs_of(pin) * pin->count;
}

static size_t out_bytes(const struct pin *pin)
{
    return jobs_of(pin) * pin->words_each * 8;
}

int pin_place(struct prober *prober, struct pin *pin, struct error *err)
{
    if (check_sms(pin, prober_info(prober), err) != 0 ||
        prober_buffer(prober, BUFFER_JOBS, jobs_of(pin) * pin->job_bytes,
                      &pin->jobs_at, err) != 0 ||
        prober_buffer(prober, BUFFER_SLOTS, runs_of(pin) * SLOT_BYTES,
                      &pin->slots_at, err) != 0)
        return err->code;
    return prober_buffer(prober, BUFFER_OUT, out_bytes(pin), &pin->out_at, err);
}

uint64_t pin_counter(const struct pin *pin, size_t run)
{
    return pin->counter_at != 0
               ? pin->counter_at
               : pin->slots_at + run * SLOT_BYTES + COUNTER * sizeof(int32_t);
}

/* Which job each SM has: -1 for none; nobody has counted yet, and no job is
 * done. */
static int reset(struct prober *prober, const struct pin *pin, uint64_t *words,
                 struct error *err)
{
    int32_t *const slots = xmalloc(runs_of(pin) * SLOT_BYTES);
    memset(slots, 0xff, runs_of(pin) * SLOT_BYTES);
    for (size_t run = 0; run < runs_of(pin); run++) {
        int32_t *const own = slots + run * WORDS;
        own[COUNTER] = own[SHARED] = 0;
        own[WANTED] = (int32_t)pin->count;
        for (size_t i = 0; i < pin->count; i++)
            own[pin->sms[i]] = (int32_t)i;
    }
    memset(words, 0, out_bytes(pin));
    int status = prober_send(prober, BUFFER_OUT, words, out_bytes(pin), err);
    if (status == 0)
        status = prober_send(prober, BUFFER_SLOTS, slots,
                             runs_of(pin) * SLOT_BYTES, err);
    free(slots);
    const uint32_t none = 0;
    if (status == 0 && pin->counter_at != 0)
        status = device_copy_in(prober_device(prober), pin->counter_at, &none,
                                sizeof none, err);
    return status;
}

/* True if every SM asked for has done its job. */
static bool complete(const struct pin *pin, const uint64_t *words)
{
    for (size_t i = 0; pin->words_each > 0 && i < jobs_of(pin); i++)
        if (words[(i + 1) * pin->words_each - 1] != 1)
            return false;
    return true;
}

/* A launch may leave an SM out: how often it is tried, with ever more blocks.
 */
enum { LAUNCHES_MOST = 5 };

static int go_ahead(struct prober *prober, const struct pin *pin,
                    struct error *err)
{
    if (pin->ahead == NULL)
        return 0;
    return prober_shoot_helper(prober, pin->ahead->ptx, &pin->ahead->shot, err);
}

/* All runs, of which the last is waited for. */
static int launch_runs(struct prober *prober, const struct experiment *e,
                       const struct pin *pin, struct shot *shot,
                       struct error *err)
{
    uint64_t args[PIN_ARGUMENTS_MOST];
    for (size_t i = 0; i < pin->arg_count; i++)
        args[2 + i] = pin->args[i];
    shot->args = args;
    for (size_t run = 0; run < runs_of(pin); run++) {
        args[0] = pin->jobs_at + run * pin->count * pin->job_bytes;
        args[1] = pin->slots_at + run * SLOT_BYTES;
        shot->ahead = run + 1 < runs_of(pin);
        if (go_ahead(prober, pin, err) != 0 ||
            prober_shoot(prober, e, shot, err) != 0)
            return err->code;
    }
    return 0;
}

/* A block for every SM, then two, …; those that find nothing to do leave at
 * once. */
static int launch_until_complete(struct prober *prober,
                                 const struct experiment *e,
                                 const struct pin *pin, uint64_t *words,
                                 struct error *err)
{
    struct device *const d = prober_device(prober);
    struct shot shot = {
        .kernel = e->probe->name,
        .threads = pin->threads,
        .shared_bytes = pin->shared_bytes,
        .carve_out = pin->carve_out,
        .deadline_s = pin->deadline_s,
        .arg_count = 2 + pin->arg_count,
    };
    for (unsigned i = 1; i <= LAUNCHES_MOST; i++) {
        shot.blocks +=
            (pin->each > 0 ? pin->each : 1) *
            (unsigned)device_told(prober_info(prober), PROPERTY_SMS, SLOTS);
        if (reset(prober, pin, words, err) != 0 ||
            launch_runs(prober, e, pin, &shot, err) != 0 ||
            device_copy_out(d, words, pin->out_at, out_bytes(pin), err) != 0)
            return err->code;
        if (complete(pin, words))
            return 0;
    }
    return error_set(err, ERR_UNSUPPORTED,
                     "no block came to run on one of %zu SMs, the first of "
                     "which is %" PRIu64 ", in %d launches",
                     pin->count, pin->sms[0], LAUNCHES_MOST);
}

uint64_t *pin_run(struct prober *prober, const struct experiment *e,
                  const struct pin *pin, struct error *err)
{
    uint64_t *const words = xcalloc(jobs_of(pin) * pin->words_each, 8);
    if (prober_send(prober, BUFFER_JOBS, pin->jobs,
                    jobs_of(pin) * pin->job_bytes, err) == 0 &&
        launch_until_complete(prober, e, pin, words, err) == 0)
        return words;
    free(words);
    return NULL;
}
