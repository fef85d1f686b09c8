/*
 * The device interface on top of the simulated machine (machine.h): a module
 * is decoded PTX (program.h) whose variables lie in the machine's memory.
 */
#include "device/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/links.h"
#include "device/sim/machine/machine.h"
#include "device/sim/profile/shipped.h"
#include "device/sim/ptx/program.h"

struct sim {
    struct device device; /* first: a device is one of these */
    struct profile *profile;
    struct machine *machine;
    struct links links;
};

static struct sim *sim_of(struct device *device)
{
    return (struct sim *)device;
}

/* ---- what it is ---- */

static void fill_limits(const struct profile *p, int64_t *value)
{
    value[PROPERTY_SMS] = (int64_t)p->sms;
    value[PROPERTY_CORES] = p->cores_per_sm;
    value[PROPERTY_WARP] = WARP_LANES;
    value[PROPERTY_SM_THREADS] = (int64_t)p->max_threads_per_sm;
    value[PROPERTY_SM_BLOCKS] = (int64_t)p->max_blocks_per_sm;
    value[PROPERTY_SM_REGISTERS] = p->registers_per_sm;
    value[PROPERTY_SM_SHARED] = (int64_t)p->shared_bytes;
    value[PROPERTY_BLOCK_THREADS] = (int64_t)p->max_threads_per_block;
    value[PROPERTY_BLOCK_REGISTERS] = p->registers_per_block;
    value[PROPERTY_BLOCK_SHARED] = (int64_t)p->shared_per_block;
    value[PROPERTY_BLOCK_SHARED_OPTIN] = p->shared_per_block_optin;
    value[PROPERTY_BLOCK_SHARED_RESERVED] = p->shared_reserved;
    value[PROPERTY_BLOCK_X] = (int64_t)p->max_threads_per_block;
    value[PROPERTY_BLOCK_Y] = (int64_t)p->max_threads_per_block;
    value[PROPERTY_BLOCK_Z] = BLOCK_Z_MAX;
    value[PROPERTY_GRID_X] = GRID_X_MAX;
    value[PROPERTY_GRID_Y] = GRID_YZ_MAX;
    value[PROPERTY_GRID_Z] = GRID_YZ_MAX;
}

static void fill_memory(const struct profile *p, int64_t *value)
{
    value[PROPERTY_CLOCK] = (int64_t)p->clock_khz * 1000;
    if (p->memory_clock_khz > 0)
        value[PROPERTY_MEMORY_CLOCK] = (int64_t)p->memory_clock_khz * 1000;
    value[PROPERTY_MEMORY_BYTES] = (int64_t)p->memory_bytes;
    value[PROPERTY_MEMORY_BUS] = p->memory_bus_bits;
    value[PROPERTY_ECC] = p->ecc;
    value[PROPERTY_L2_BYTES] = p->l2_reported_bytes;
    value[PROPERTY_L2_PERSISTING] = p->l2_persisting_bytes;
    value[PROPERTY_CONSTANT_BYTES] = (int64_t)p->constant_bytes;
    value[PROPERTY_GLOBAL_L1] = p->paths[PATH_GLOBAL_CA].present;
    value[PROPERTY_LOCAL_L1] = p->paths[PATH_LOCAL].present;
    value[PROPERTY_TEXTURE_WIDTH] = p->texture_max_width;
    value[PROPERTY_CLUSTER] = (int64_t)p->clusters;
    value[PROPERTY_COPY_ENGINES] = p->copy_engines;
    value[PROPERTY_MIG] = 0;
}

static void fill_info(struct device_info *info, const struct profile *p,
                      const char *name)
{
    snprintf(info->spec, sizeof info->spec, "sim:%s", name);
    snprintf(info->name, sizeof info->name, "%s", p->name);
    snprintf(info->architecture, sizeof info->architecture, "%s",
             p->architecture);
    info->cc_major = p->cc_major;
    info->cc_minor = p->cc_minor;
    info->simulated = true;
    info->mapping_bytes = p->mapping_bytes;
    for (int i = 0; i < PROPERTY_COUNT; i++)
        info->value[i] = -1;
    fill_limits(p, info->value);
    fill_memory(p, info->value);
}

static void append_entry(struct device_entry **entries, size_t *count,
                         const char *name, const struct profile *p)
{
    *entries = xreallocarray(*entries, *count + 1, sizeof **entries);
    struct device_entry *const e = &(*entries)[(*count)++];
    snprintf(e->spec, sizeof e->spec, "sim:%s", name);
    snprintf(e->name, sizeof e->name, "%s", p->name);
    snprintf(e->note, sizeof e->note,
             "simulated, %s, compute capability %d.%d, %.3g GiB",
             p->architecture, p->cc_major, p->cc_minor,
             (double)p->memory_bytes / (1024.0 * 1024 * 1024));
}

static int sim_list(struct device_entry **entries, size_t *count,
                    struct error *err)
{
    for (const struct shipped_profile *s = shipped_profiles; s->name != NULL;
         s++) {
        struct profile *profile;
        const int code = profile_parse(s->text, s->name, &profile, err);
        if (code != 0)
            return code;
        append_entry(entries, count, s->name, profile);
        profile_free(profile);
    }
    return 0;
}

/* ---- open and close ---- */

struct device *sim_open_profile(struct profile *profile, const char *name,
                                uint64_t seed)
{
    struct sim *const sim = xcalloc(1, sizeof *sim);
    sim->device.ops = &sim_device_ops;
    sim->profile = profile;
    sim->machine = machine_new(profile, seed);
    links_init(&sim->links, NULL, 0);
    fill_info(&sim->device.info, profile, name);
    return &sim->device;
}

uint64_t sim_instructions(const struct device *device)
{
    return ((const struct sim *)device)->machine->issued;
}

/* GPU i of a host: "sim:pair:i". */
static int open_in_host(struct host *host, unsigned gpu, const char *what,
                        const struct device_options *options,
                        struct device **device, struct error *err)
{
    struct profile *profile;
    const int code =
        profile_open(host->gpus[gpu],
                     options != NULL ? options->profiles : NULL, &profile, err);
    if (code != 0) {
        free(host);
        return error_prefix(err, "host '%s'", what);
    }
    *device =
        sim_open_profile(profile, what, options != NULL ? options->seed : 0);
    sim_of(*device)->links.host = host;
    sim_of(*device)->links.gpu = gpu;
    return 0;
}

static int sim_open(const char *what, const struct device_options *options,
                    struct device **device, struct error *err)
{
    const char *const name = what[0] != '\0' ? what : SIM_DEFAULT_PROFILE;
    const char *const folder = options != NULL ? options->profiles : NULL;
    struct profile *profile;
    struct host *host;
    unsigned gpu;
    int code = host_open(name, folder, &host, &gpu, err);
    if (code != 0)
        return code;
    if (host != NULL)
        return open_in_host(host, gpu, name, options, device, err);
    code = profile_open(name, folder, &profile, err);
    if (code != 0)
        return code;
    *device =
        sim_open_profile(profile, name, options != NULL ? options->seed : 0);
    return 0;
}

static void sim_close(struct device *device)
{
    struct sim *const sim = sim_of(device);
    links_free(&sim->links);
    machine_free(sim->machine);
    profile_free(sim->profile);
    free(sim);
}

/* ---- programs ---- */

static void sim_unload(struct device *device, struct module *module)
{
    struct memory *const memory = &sim_of(device)->machine->memory;
    call_remove(sim_of(device)->machine, module);
    memory_release(memory, module->globals.address);
    memory_release(memory, module->constants.address);
    module_free(module);
}

/* Gives a segment its place on the device, with its initial values. */
static int place_segment(struct machine *m, struct segment *segment,
                         struct error *err)
{
    if (segment->bytes == 0)
        return 0;
    const int code =
        memory_allocate(&m->memory, segment->bytes, &segment->address, err);
    if (code == 0 && segment->image_bytes > 0)
        memcpy(memory_at(&m->memory, segment->address, segment->bytes),
               segment->image, segment->image_bytes);
    return code;
}

static void align_code(struct machine *m, uint64_t to)
{
    m->code_end = (m->code_end + to - 1) / to * to;
}

/* Functions follow the last kernel without gaps; a real assembler sorts them by
 * their names. */
static void place_functions(struct machine *m, struct module *module)
{
    for (size_t i = 0; i < module->function_count; i++) {
        struct kernel *const k = &module->functions[i];
        k->code_address = m->code_end;
        m->code_end += k->code_instructions * OP_BYTES;
    }
    for (size_t i = 0; i < module->pointer_count; i++)
        memcpy(module->globals.image + module->pointers[i].offset,
               &module->functions[module->pointers[i].function].code_address,
               sizeof(uint64_t));
    call_add(m, module);
}

/* An assembler makes another kernel beside few functions than beside many: it
 * ends so many instructions later.  By a prime few numbers make it the same. */
static uint64_t beside_functions(size_t functions)
{
    enum { OTHER = 61 };
    return functions % OTHER;
}

/* Gives the code addresses, so that caches can tell instructions apart. */
static void place_code(struct machine *m, struct module *module)
{
    for (size_t i = 0; i < module->kernel_count; i++) {
        struct kernel *const k = &module->kernels[i];
        align_code(m, module->function_count > 0 ? CODE_PAGE : CODE_ALIGN);
        k->code_address = m->code_end;
        k->module = module;
        m->code_end += (uint64_t)k->op_count * OP_BYTES;
    }
    m->code_end += beside_functions(module->function_count) * OP_BYTES;
    place_functions(m, module);
    align_code(m, CODE_ALIGN);
}

static int sim_load(struct device *device, const struct source *source,
                    struct module **module, struct error *err)
{
    const struct sim *const sim = sim_of(device);
    if (source->level < 0 || source->level > 4)
        return error_set(err, ERR_USAGE, "there is no optimisation level %d",
                         source->level);
    int code =
        module_parse(source->ptx, source->level, sim->profile, module, err);
    if (code != 0)
        return code;
    place_code(sim->machine, *module);
    code = place_segment(sim->machine, &(*module)->globals, err);
    if (code == 0)
        code = place_segment(sim->machine, &(*module)->constants, err);
    if (code != 0) {
        sim_unload(device, *module);
        *module = NULL;
    }
    return code;
}

static int sim_kernel(struct device *device, struct module *module,
                      const char *name, struct kernel **kernel,
                      struct error *err)
{
    (void)device;
    *kernel = module_kernel(module, name);
    if (*kernel == NULL)
        return error_set(err, ERR_USAGE, "the module has no kernel '%s'", name);
    return 0;
}

static int sim_symbol(struct device *device, struct module *module,
                      const char *name, uint64_t *address, size_t *bytes,
                      struct error *err)
{
    (void)device;
    const struct variable *const v = module_variable(module, name);
    if (v == NULL || (v->space != SPACE_GLOBAL && v->space != SPACE_CONST))
        return error_set(err, ERR_USAGE,
                         "the module has no .global or .const variable '%s'",
                         name);
    *address = v->offset + (v->space == SPACE_CONST ? module->constants.address
                                                    : module->globals.address);
    *bytes = v->bytes;
    return 0;
}

static int sim_launch(struct device *device, struct kernel *kernel,
                      const struct launch *launch, struct error *err)
{
    struct machine *const machine = sim_of(device)->machine;
    machine->ticket = device->ticket;
    machine->until = device->until;
    return machine_launch(machine, kernel, launch, err);
}

static int sim_elapsed(struct device *device, double *nanoseconds,
                       struct error *err)
{
    (void)err;
    const struct sim *const sim = sim_of(device);
    *nanoseconds = sim->machine->last_cycles * 1e6 / sim->machine->khz;
    return 0;
}

/* ---- memory ---- */

static int sim_allocate(struct device *device, uint64_t bytes,
                        uint64_t *address, struct error *err)
{
    return memory_allocate(&sim_of(device)->machine->memory, bytes, address,
                           err);
}

static void sim_release(struct device *device, uint64_t address)
{
    struct sim *const sim = sim_of(device);
    if (!links_release(&sim->links, sim->machine, address))
        memory_release(&sim->machine->memory, address);
}

static int sim_peers(struct device *device, enum device_peer peers[PEERS_MOST],
                     size_t *count, struct error *err)
{
    return links_peers(&sim_of(device)->links, peers, count, err);
}

static int sim_wires(struct device *device, int64_t told[WIRE_COUNT],
                     struct error *err)
{
    return links_wires(&sim_of(device)->links, told, err);
}

static int sim_allocate_at(struct device *device, enum device_place place,
                           uint64_t bytes, uint64_t *address, struct error *err)
{
    struct sim *const sim = sim_of(device);
    return links_allocate(&sim->links, sim->machine, place, bytes, address,
                          err);
}

static int sim_transfer(struct device *device, struct transfer *transfers,
                        size_t count, struct error *err)
{
    struct sim *const sim = sim_of(device);
    return links_transfer(&sim->links, sim->machine, transfers, count, err);
}

/* The caches must tell aliases apart, or not, while there are any. */
static int sim_map(struct device *device, struct aliases *a, struct error *err)
{
    struct machine *const m = sim_of(device)->machine;
    uint32_t *const only = aliases_list(a);
    const int status =
        memory_map(&m->memory, a->bytes, a->stride, a->count, &a->address, err);
    if (status == 0)
        memory_only(&m->memory, a->address, only, a->only_count);
    else
        free(only);
    if (status == 0 && m->aliases++ == 0)
        paths_alias(m->paths, &m->memory);
    return status;
}

/* What comes to the same addresses later is translated anew. */
static void sim_unmap(struct device *device, struct aliases *aliases)
{
    struct machine *const m = sim_of(device)->machine;
    memory_release(&m->memory, aliases->address);
    paths_forget(m->paths, 0, UINT32_MAX);
    if (--m->aliases == 0)
        paths_alias(m->paths, NULL);
}

static int not_allocated(uint64_t address, size_t bytes, struct error *err)
{
    return error_set(err, ERR_DEVICE,
                     "%zu bytes at 0x%llx are not in one allocation", bytes,
                     (unsigned long long)address);
}

static int sim_copy_in(struct device *device, uint64_t to, const void *from,
                       size_t bytes, struct error *err)
{
    struct machine *const m = sim_of(device)->machine;
    if (bytes == 0)
        return 0;
    unsigned char *const host = memory_at(&m->memory, to, bytes);
    if (host == NULL)
        return not_allocated(to, bytes, err);
    memcpy(host, from, bytes);
    paths_drop(m->paths, to, bytes);
    return 0;
}

static int sim_copy_out(struct device *device, void *to, uint64_t from,
                        size_t bytes, struct error *err)
{
    struct machine *const m = sim_of(device)->machine;
    if (bytes == 0)
        return 0;
    const unsigned char *const host = memory_at(&m->memory, from, bytes);
    if (host == NULL)
        return not_allocated(from, bytes, err);
    memcpy(to, host, bytes);
    return 0;
}

static int sim_memory_free(struct device *device, uint64_t *bytes,
                           struct error *err)
{
    (void)err;
    const struct memory *const memory = &sim_of(device)->machine->memory;
    *bytes = memory->capacity - memory->used;
    return 0;
}

static int sim_texture_open(struct device *device, uint64_t address,
                            uint64_t bytes, struct texture *texture,
                            struct error *err)
{
    struct machine *const m = sim_of(device)->machine;
    const int64_t width = m->profile->texture_max_width;
    if (bytes == 0 || memory_at(&m->memory, address, bytes) == NULL)
        return not_allocated(address, bytes, err);
    if (width > 0 && bytes / 4 > (uint64_t)width)
        return error_set(err, ERR_UNSUPPORTED,
                         "a texture of %llu texels; the GPU has %lld at most",
                         (unsigned long long)bytes / 4, (long long)width);
    m->textures =
        xreallocarray(m->textures, m->texture_count + 1, sizeof *m->textures);
    m->textures[m->texture_count++] = (struct texture_view){address, bytes};
    *texture = (struct texture){.object = m->texture_count};
    return 0;
}

static void sim_texture_close(struct device *device, struct texture *texture)
{
    struct machine *const m = sim_of(device)->machine;
    m->textures[texture->object - 1].bytes = 0;
    texture->object = 0;
}

static int sim_sense(struct device *device, struct device_sense *sense,
                     struct error *err)
{
    (void)err;
    const struct profile *const p = sim_of(device)->profile;
    const struct machine *const m = sim_of(device)->machine;
    const bool changed = machine_has_changed(m);
    *sense = (struct device_sense){
        .sm_mhz = m->khz / 1000,
        .power_w = -1,
        .throttle = changed ? p->changed_throttle : 0,
        .other_processes = changed ? (int)p->changed_processes : 0,
    };
    return 0;
}

const struct device_ops sim_device_ops = {
    .scheme = "sim",
    .help = "a profile's name or file",
    .list = sim_list,
    .open = sim_open,
    .close = sim_close,
    .load = sim_load,
    .unload = sim_unload,
    .kernel = sim_kernel,
    .launch = sim_launch,
    .elapsed = sim_elapsed,
    .allocate = sim_allocate,
    .release = sim_release,
    .copy_in = sim_copy_in,
    .copy_out = sim_copy_out,
    .peers = sim_peers,
    .wires = sim_wires,
    .allocate_at = sim_allocate_at,
    .transfer = sim_transfer,
    .memory_free = sim_memory_free,
    .map = sim_map,
    .unmap = sim_unmap,
    .texture_open = sim_texture_open,
    .texture_close = sim_texture_close,
    .symbol = sim_symbol,
    .sense = sim_sense,
};
