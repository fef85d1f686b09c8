#include "probe/run/pin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* One for each SM number that can be asked for. */
enum { SLOTS = 1024 };

void pin_opening(struct kernel_text *k, size_t job_bytes)
{
    ptx_with(k,
             ".reg .b32 %sm, %me, %slot;\n"
             ".reg .b64 %job, %at;\n"
             ".reg .pred %other, %again;\n"
             "// the first block on a wanted SM takes its job\n"
             "mov.u32 %sm, %smid;\n"
             "mov.u32 %me, %tid.x;\n"
             "setp.ne.u32 %other, %me, 0;\n"
             "@%other bra CLAIMED;\n"
             "ld.param.u64 %at, [slots];\n"
             "mad.wide.u32 %at, %sm, 4, %at;\n"
             "atom.global.exch.b32 %slot, [%at], 0xffffffff;\n"
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

static int check_sms(const struct pin *crew, const struct device_info *info,
                     struct error *err)
{
    const int64_t sms = info->value[PROPERTY_SMS];
    for (size_t i = 0; i < crew->count; i++)
        if (crew->sms[i] >= SLOTS || (sms > 0 && crew->sms[i] >= (uint64_t)sms))
            return error_set(err, ERR_USAGE,
                             "there is no SM %" PRIu64 ": %s has %" PRId64,
                             crew->sms[i], info->name, sms);
    return 0;
}

int pin_place(struct prober *prober, struct pin *crew, struct error *err)
{
    if (check_sms(crew, prober_info(prober), err) != 0 ||
        prober_buffer(prober, BUFFER_JOBS, crew->count * crew->job_bytes,
                      &crew->jobs_at, err) != 0 ||
        prober_buffer(prober, BUFFER_SLOTS, SLOTS * sizeof(int32_t),
                      &crew->slots_at, err) != 0)
        return err->code;
    return prober_buffer(prober, BUFFER_OUT, crew->count * crew->words_each * 8,
                         &crew->out_at, err);
}

/* Which job each SM has: -1 for none. */
static int copy_slots(struct device *device, const struct pin *crew,
                      struct error *err)
{
    int32_t slots[SLOTS];
    memset(slots, 0xff, sizeof slots);
    for (size_t i = 0; i < crew->count; i++)
        slots[crew->sms[i]] = (int32_t)i;
    return device_copy_in(device, crew->slots_at, slots, sizeof slots, err);
}

/* `times` blocks for every SM; those that find nothing to do leave at once. */
static int launch(struct prober *prober, const struct pin *crew,
                  struct kernel *kernel, unsigned times, struct error *err)
{
    struct device *const d = prober_device(prober);
    const int64_t sms = prober_info(prober)->value[PROPERTY_SMS];
    const struct launch launch = {
        .grid = {times * (unsigned)(sms > 0 ? sms : SLOTS)},
        .block = {crew->threads},
        .shared_bytes = (unsigned)crew->shared_bytes,
        .carve_out = crew->carve_out,
        .args = {&crew->jobs_at, &crew->slots_at},
        .arg_count = 2,
    };
    if (copy_slots(d, crew, err) != 0)
        return err->code;
    return device_launch(d, kernel, &launch, err);
}

/* True if every SM asked for has done its job. */
static bool complete(const struct pin *crew, const uint64_t *words)
{
    for (size_t i = 0; i < crew->count; i++)
        if (words[(i + 1) * crew->words_each - 1] != 1)
            return false;
    return true;
}

/* A launch may leave an SM out: how often it is tried, with ever more blocks.
 */
enum { LAUNCHES_MOST = 5 };

static int launch_until_complete(struct prober *prober, const struct pin *crew,
                                 struct kernel *kernel, uint64_t *words,
                                 struct error *err)
{
    struct device *const d = prober_device(prober);
    const size_t bytes = crew->count * crew->words_each * 8;
    for (unsigned i = 1; i <= LAUNCHES_MOST; i++) {
        if (launch(prober, crew, kernel, i, err) != 0 ||
            device_copy_out(d, words, crew->out_at, bytes, err) != 0)
            return err->code;
        if (complete(crew, words))
            return 0;
    }
    return error_set(err, ERR_DEVICE,
                     "no block came to run on one of %zu SMs, the first of "
                     "which is %" PRIu64 ", in %d launches",
                     crew->count, crew->sms[0], LAUNCHES_MOST);
}

int pin_run(struct prober *prober, const struct pin *crew,
            struct kernel *kernel, uint64_t **words, struct error *err)
{
    struct device *const d = prober_device(prober);
    const size_t bytes = crew->count * crew->words_each * 8;
    *words = xcalloc(1, bytes);
    int status = device_copy_in(d, crew->out_at, *words, bytes, err);
    if (status == 0)
        status = device_copy_in(d, crew->jobs_at, crew->jobs,
                                crew->count * crew->job_bytes, err);
    if (status == 0)
        status = launch_until_complete(prober, crew, kernel, *words, err);
    if (status != 0) {
        free(*words);
        *words = NULL;
    }
    return status;
}
