#include "probe/gate.h"

#include <inttypes.h>

static int too_many(const char *probe, const char *what, uint64_t have,
                    int64_t most, struct error *err)
{
    return error_set(err, ERR_USAGE, "%s: %" PRIu64 " %s; an SM has %" PRId64,
                     probe, have, what, most);
}

int gate_room(const struct gate_blocks *b, const struct device_info *info,
              struct error *err)
{
    const uint64_t block = (uint64_t)GATE_LANES * b->warps;
    const uint64_t threads = block * b->blocks;
    const struct {
        const char *what;
        uint64_t have;
        enum device_property most;
    } limits[] = {
        {"threads in a block", block,                  PROPERTY_BLOCK_THREADS},
        {"threads",            threads,                PROPERTY_SM_THREADS   },
        {"blocks",             b->blocks,              PROPERTY_SM_BLOCKS    },
        {"registers",          threads * b->registers, PROPERTY_SM_REGISTERS },
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const int64_t most = info->value[limits[i].most];
        if (most > 0 && limits[i].have > (uint64_t)most)
            return too_many(b->probe, limits[i].what, limits[i].have, most,
                            err);
    }
    return 0;
}

void gate_meet(struct kernel_text *k, const char *name, int offset,
               unsigned looks)
{
    kernel_line(k, "membar.gl;");
    kernel_line(k, "atom.global.add.u32 %%count, [%%slots+%d], 1;", offset);
    kernel_line(k, "mov.u32 %%looks, 0;");
    kernel_line(k, "%s:", name);
    kernel_line(k, "ld.volatile.global.u32 %%count, [%%slots+%d];", offset);
    kernel_line(k, "setp.ge.u32 %%again, %%count, %%want;");
    kernel_line(k, "@%%again bra %s_OPEN;", name);
    kernel_line(k, "add.u32 %%looks, %%looks, 1;");
    kernel_line(k, "setp.lt.u32 %%again, %%looks, %u;", looks);
    kernel_line(k, "@%%again bra %s;", name);
    kernel_line(k, "%s_OPEN:", name);
}

void gate_hold(struct kernel_text *k)
{
    kernel_note(k, "a barrier alone would not hold the clock read back");
    kernel_line(k, "bar.red.or.pred %%on, 0, %%true;");
    kernel_line(k, "@!%%on bra DONE;");
}
