#include "probe/run/grid_barrier.h"

#include <inttypes.h>

static int too_many(const char *probe, const char *what, uint64_t have,
                    uint64_t most, struct error *err)
{
    return error_set(err, ERR_USAGE, "%s: %" PRIu64 " %s; an SM has %" PRIu64,
                     probe, have, what, most);
}

static int too_much(const struct grid_barrier_blocks *b, uint64_t have,
                    const char *of, uint64_t most, struct error *err)
{
    return error_set(err, ERR_USAGE,
                     "%s: %" PRIu64 " B of shared memory in %s, which has "
                     "%" PRIu64,
                     b->probe, have, of, most);
}

/* Of several blocks each takes some more that is the system's. */
static int check_shared(const struct grid_barrier_blocks *b,
                        const struct device_info *info, struct error *err)
{
    const uint64_t plain = device_told(info, PROPERTY_BLOCK_SHARED, UINT64_MAX);
    const uint64_t most = device_told(info, PROPERTY_BLOCK_SHARED_OPTIN, plain);
    const uint64_t kept = device_told(info, PROPERTY_BLOCK_SHARED_RESERVED, 0);
    const uint64_t have = device_told(info, PROPERTY_SM_SHARED, UINT64_MAX);
    if (b->shared > most)
        return too_much(b, b->shared, "a block", most, err);
    if (b->blocks * (b->shared + kept) > have)
        return too_much(b, b->blocks * (b->shared + kept), "an SM", have, err);
    return 0;
}

static int check_sms(const struct grid_barrier_blocks *b,
                     const struct device_info *info, struct error *err)
{
    const uint64_t have = device_told(info, PROPERTY_SMS, UINT64_MAX);
    if (b->sms <= have)
        return 0;
    return error_set(err, ERR_USAGE, "%s: sms=%u; the GPU has %" PRIu64,
                     b->probe, b->sms, have);
}

static int check_threads(const struct grid_barrier_blocks *b,
                         const struct device_info *info, struct error *err)
{
    const uint64_t block = (uint64_t)GRID_BARRIER_LANES * b->warps;
    const uint64_t threads = block * b->blocks;
    const struct {
        const char *what;
        uint64_t have;
        enum device_property most;
    } limits[] = {
        {"threads in a block", block, PROPERTY_BLOCK_THREADS},
        {"threads", threads, PROPERTY_SM_THREADS},
        {"blocks", b->blocks, PROPERTY_SM_BLOCKS},
        {"registers", threads * b->registers, PROPERTY_SM_REGISTERS},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const uint64_t most = device_told(info, limits[i].most, UINT64_MAX);
        if (limits[i].have > most)
            return too_many(b->probe, limits[i].what, limits[i].have, most,
                            err);
    }
    return 0;
}

int grid_barrier_room(const struct grid_barrier_blocks *b,
                      const struct device_info *info, struct error *err)
{
    if (check_sms(b, info, err) != 0 || check_threads(b, info, err) != 0)
        return err->code;
    return check_shared(b, info, err);
}

void grid_barrier_await(struct kernel_text *k, const char *name, int offset,
                        unsigned looks)
{
    ptx_with(k,
             "mov.u32 %looks, 0;\n"
             "$name:\n"
             "ld.volatile.global.u32 %count, [%slots+$offset];\n"
             "setp.ge.u32 %again, %count, %want;\n"
             "@%again bra ${name}_OPEN;\n"
             "add.u32 %looks, %looks, 1;\n"
             "setp.lt.u32 %again, %looks, $looks;\n"
             "@%again bra $name;\n"
             "${name}_OPEN:\n",
             WORD(offset, offset), WORD(name, name), WORD(looks, looks));
}

void grid_barrier_meet(struct kernel_text *k, const char *name, int offset,
                       unsigned looks)
{
    ptx_with(k,
             "membar.gl;\n"
             "atom.global.add.u32 %count, [%slots+$offset], 1;\n",
             WORD(offset, offset));
    grid_barrier_await(k, name, offset, looks);
}

void grid_barrier_hold(struct kernel_text *k)
{
    ptx(k, "// a barrier alone would not hold the clock read back\n"
           "bar.red.or.pred %on, 0, %true;\n"
           "@!%on bra DONE;\n");
}
