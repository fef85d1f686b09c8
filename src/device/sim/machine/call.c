/*
 * Calls of functions by their addresses.  A function computes from what it is
 * given, on registers of its own, and returns: so a call is one op, which takes
 * as long as its instructions one after the other, with the fetches of their
 * lines.  A function may be entered at any of its instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/machine/machine.h"
#include "device/sim/machine/units.h"

void call_add(struct machine *m, const struct module *module)
{
    if (module->function_count == 0)
        return;
    m->callables = xreallocarray(m->callables, m->callable_count + 1,
                                 sizeof *m->callables);
    m->callables[m->callable_count++] = (struct callable){
        module->functions[0].code_address, m->code_end, module};
}

void call_remove(struct machine *m, const struct module *module)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->callable_count; i++)
        if (m->callables[i].module != module)
            m->callables[kept++] = m->callables[i];
    m->callable_count = kept;
}

/* The function that has an instruction at the address; NULL: none. */
static const struct kernel *function_at(const struct machine *m,
                                        uint64_t address)
{
    size_t i = 0;
    while (i < m->callable_count &&
           address - m->callables[i].start >=
               m->callables[i].end - m->callables[i].start)
        i++;
    if (i == m->callable_count || address % OP_BYTES != 0)
        return NULL;
    const struct module *const module = m->callables[i].module;
    size_t low = 0, high = module->function_count;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (module->functions[middle].code_address <= address)
            low = middle;
        else
            high = middle;
    }
    return &module->functions[low];
}

/* A call: the function, its registers, where it is entered and by whom. */
struct call {
    const struct kernel *function;
    uint64_t *regs, entry;
    uint32_t mask;
};

/* Runs it from time t on; the time when it has returned. */
static double run(struct machine *m, const struct warp *w, const struct call *c,
                  double t)
{
    uint64_t at = c->function->code_address, line = UINT64_MAX;
    for (const struct op *op = c->function->ops;; op++) {
        const bool runs = !op->passes && at >= c->entry;
        if (runs && m->fetch_span != UINTPTR_MAX &&
            at / m->fetch_bytes != line) {
            line = at / m->fetch_bytes;
            t += access_fetch(m, w, at);
        }
        if (op->kind == OP_EXIT)
            return t;
        if (runs || op->passes)
            op->alu(op, c->regs, m->shift, c->mask);
        t += runs ? op->latency : 0;
        at += op->passes ? 0 : OP_BYTES;
    }
}

static void copy_lanes(const struct machine *m, uint64_t *to_regs, uint32_t to,
                       const uint64_t *from_regs, uint32_t from)
{
    const size_t lanes = (size_t)1 << m->shift;
    memcpy(to_regs + (to << m->shift), from_regs + (from << m->shift),
           lanes * sizeof *to_regs);
}

/* Its registers: what it is given, its literals, the rest 0. */
static uint64_t *own_registers(const struct machine *m, const struct warp *w,
                               const struct op *op, const struct kernel *f)
{
    uint64_t *const regs = xcalloc(
        (f->registers + f->constant_count) << m->shift, sizeof *regs);
    for (unsigned i = 0; i < f->arguments.count; i++)
        copy_lanes(m, regs, f->arguments.number[i], w->regs, op->src[1 + i]);
    for (size_t i = 0; i < f->constant_count; i++)
        for (size_t l = 0; l < (size_t)1 << m->shift; l++)
            regs[((f->registers + i) << m->shift) + l] = f->constants[i].value;
    return regs;
}

static bool is_one(const uint64_t *values, uint32_t mask)
{
    EACH_LANE(mask, l)
    if (values[l] != values[first_lane(mask)])
        return false;
    return true;
}

void call_function(struct machine *m, struct warp *w, const struct op *op,
                   uint32_t mask, double t)
{
    const uint64_t *const address = lanes_of(m, w, op->src[0]);
    const uint64_t entry = address[first_lane(mask)];
    const struct kernel *const f = function_at(m, entry);
    if (f == NULL || !is_one(address, mask) ||
        f->arguments.count != op->bytes || f->results.count != op->elements) {
        machine_fault(m, op, "there is no such function at %#llx",
                      (unsigned long long)entry);
        return;
    }
    uint64_t *const regs = own_registers(m, w, op, f);
    w->next = run(m, w, &(struct call){f, regs, entry, mask}, t) + op->latency;
    w->fetched = 0; /* the line that it came from is asked again */
    for (unsigned i = 0; i < f->results.count; i++) {
        uint64_t *const to = lanes_of(m, w, op->dst[i]);
        EACH_LANE(mask, l)
        to[l] = regs[(f->results.number[i] << m->shift) + l];
        set_ready(w, op->dst[i], mask, w->next);
    }
    free(regs);
}
