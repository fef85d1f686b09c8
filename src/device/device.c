#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct {
    const char *finding, *text;
} properties[] = {
#define PROPERTY(id, component, attribute, unit, text)                         \
    {component "." attribute, text},
#include "device/properties.def"
#undef PROPERTY
};
_Static_assert(COUNT_OF(properties) == PROPERTY_COUNT, "one row a property");

const char *property_finding(enum device_property property)
{
    return properties[property].finding;
}

const char *property_text(enum device_property property)
{
    return properties[property].text;
}

static const struct device_ops *backend_of(const char *spec, const char **what)
{
    for (size_t i = 0; device_backends[i] != NULL; i++) {
        const size_t length = strlen(device_backends[i]->scheme);
        if (strncmp(spec, device_backends[i]->scheme, length) != 0 ||
            (spec[length] != ':' && spec[length] != '\0'))
            continue;
        *what = spec[length] == ':' ? spec + length + 1 : "";
        return device_backends[i];
    }
    return NULL;
}

/* "; did you mean sim:h200?", of a device that has this name behind its
 * colon. */
static char *guess_spec(const char *spec)
{
    struct device_entry *entries = NULL;
    struct error ignored;
    size_t count = 0;
    char *guess = NULL;
    for (size_t i = 0; device_backends[i] != NULL; i++)
        device_backends[i]->list(&entries, &count, &ignored);
    for (size_t i = 0; i < count && guess == NULL; i++)
        if (strcmp(strchr(entries[i].spec, ':') + 1, spec) == 0)
            guess = xasprintf("; did you mean %s?", entries[i].spec);
    free(entries);
    return guess;
}

static int no_device(const char *spec, struct error *err)
{
    char *const guess = guess_spec(spec);
    error_set(err, ERR_NO_DEVICE, "no device is named '%s'%s", spec,
              guess != NULL ? guess
                            : "; use cuda:N, sim:PROFILE or replay:FILE "
                              "(`sonde list` shows what is there)");
    free(guess);
    return ERR_NO_DEVICE;
}

static int open_spec(const char *spec, const struct device_options *options,
                     struct device **device, struct error *err)
{
    const char *what;
    const struct device_ops *const ops = backend_of(spec, &what);
    if (ops == NULL)
        return no_device(spec, err);
    return ops->open(what, options, device, err);
}

int device_open(const char *spec, const struct device_options *options,
                struct device **device, struct error *why, struct error *err)
{
    if (why != NULL)
        why->text[0] = '\0';
    if (spec != NULL && spec[0] != '\0')
        return open_spec(spec, options, device, err);
    const int status = open_spec("cuda:0", options, device, err);
    if (status != ERR_NO_DEVICE)
        return status;
    if (why != NULL)
        *why = *err;
    return open_spec("sim", options, device, err);
}

void device_close(struct device *device)
{
    if (device != NULL)
        device->ops->close(device);
}

bool device_aside(struct device *device, aside_work *work, void *argument,
                  int *status, struct error *err)
{
    if (device->ops->aside != NULL)
        return device->ops->aside(device, work, argument, status, err);
    *status = work(argument, err);
    return true;
}

int device_renew(struct device *device, struct error *err)
{
    if (!device->lost || device->ops->renew == NULL)
        return 0;
    return device->ops->renew(device, err);
}

bool device_may_pass(const struct device *device, int code)
{
    return device->ops->renew != NULL &&
           (code == ERR_DEVICE || code == ERR_NO_DEVICE ||
            code == ERR_DEVICE_MEMORY || code == ERR_UNSUPPORTED);
}

static int lacks(const struct device *device, const char *act,
                 struct error *err)
{
    return error_set(err, ERR_UNSUPPORTED, "%s cannot %s", device->info.spec,
                     act);
}

int device_prepare(struct device *device, const struct source *sources,
                   size_t count, struct error *err)
{
    /* Only a hint: a backend that compiles quickly does without. */
    if (device->ops->prepare == NULL)
        return 0;
    return device->ops->prepare(device, sources, count, err);
}

int device_load(struct device *device, const struct source *source,
                struct module **module, struct error *err)
{
    return device->ops->load(device, source, module, err);
}

void device_unload(struct device *device, struct module *module)
{
    device->ops->unload(device, module);
}

int device_code(struct device *device, struct module *module, const void **data,
                size_t *length, struct error *err)
{
    if (device->ops->code == NULL)
        return lacks(device, "show machine code", err);
    return device->ops->code(device, module, data, length, err);
}

int device_kernel(struct device *device, struct module *module,
                  const char *name, struct kernel **kernel, struct error *err)
{
    return device->ops->kernel(device, module, name, kernel, err);
}

int device_launch(struct device *device, struct kernel *kernel,
                  const struct launch *launch, struct error *err)
{
    return device->ops->launch(device, kernel, launch, err);
}

int device_elapsed(struct device *device, double *nanoseconds,
                   struct error *err)
{
    return device->ops->elapsed(device, nanoseconds, err);
}

int device_allocate(struct device *device, uint64_t bytes, uint64_t *address,
                    struct error *err)
{
    return device->ops->allocate(device, bytes, address, err);
}

void device_release(struct device *device, uint64_t address)
{
    if (address != 0)
        device->ops->release(device, address);
}

int device_copy_in(struct device *device, uint64_t to, const void *from,
                   size_t bytes, struct error *err)
{
    return device->ops->copy_in(device, to, from, bytes, err);
}

int device_copy_out(struct device *device, void *to, uint64_t from,
                    size_t bytes, struct error *err)
{
    return device->ops->copy_out(device, to, from, bytes, err);
}

int device_peers(struct device *device, enum device_peer peers[PEERS_MOST],
                 size_t *count, struct error *err)
{
    if (device->ops->peers == NULL)
        return lacks(device, "tell which GPUs stand beside it", err);
    return device->ops->peers(device, peers, count, err);
}

int device_wires(struct device *device, int64_t told[WIRE_COUNT],
                 struct error *err)
{
    if (device->ops->wires == NULL)
        return lacks(device, "tell of its wires", err);
    return device->ops->wires(device, told, err);
}

int device_claim(struct device *device, struct error *err)
{
    return device != NULL && device->ops->claim != NULL
               ? device->ops->claim(device, err)
               : 0;
}

void device_let_go(struct device *device)
{
    if (device != NULL && device->ops->let_go != NULL)
        device->ops->let_go(device);
}

int device_allocate_at(struct device *device, enum device_place place,
                       uint64_t bytes, uint64_t *address, struct error *err)
{
    if (place == PLACE_OWN)
        return device_allocate(device, bytes, address, err);
    if (device->ops->allocate_at == NULL)
        return lacks(device, "reach memory that is not its own", err);
    return device->ops->allocate_at(device, place, bytes, address, err);
}

int device_transfer(struct device *device, struct transfer *transfers,
                    size_t count, struct error *err)
{
    if (device->ops->transfer == NULL)
        return lacks(device, "time copies", err);
    return device->ops->transfer(device, transfers, count, err);
}

int device_memory_free(struct device *device, uint64_t *bytes,
                       struct error *err)
{
    return device->ops->memory_free(device, bytes, err);
}

uint32_t *aliases_list(const struct aliases *a)
{
    if (a->only == NULL)
        return NULL;
    uint32_t *const list = xcalloc(a->only_count + 1, sizeof *list);
    memcpy(list, a->only, a->only_count * sizeof *list);
    return list;
}

static int check_aliases(uint64_t piece, const struct aliases *a,
                         struct error *err)
{
    if (a->count == 0 || a->bytes == 0 || a->stride < a->bytes ||
        a->bytes % piece != 0 || a->stride % piece != 0)
        return error_set(
            err, ERR_USAGE,
            "%llu mappings of %llu bytes every %llu bytes: the "
            "GPU maps pieces of %llu",
            (unsigned long long)a->count, (unsigned long long)a->bytes,
            (unsigned long long)a->stride, (unsigned long long)piece);
    if (aliases_mapped(a) > ALIASES_MOST / (a->bytes / piece) ||
        a->stride > ALIASES_SPAN / a->count)
        return error_set(err, ERR_USAGE,
                         "%llu mappings of %llu bytes every %llu bytes are "
                         "more than %d pieces or %llu bytes of addresses",
                         (unsigned long long)aliases_mapped(a),
                         (unsigned long long)a->bytes,
                         (unsigned long long)a->stride, ALIASES_MOST,
                         (unsigned long long)ALIASES_SPAN);
    return 0;
}

unsigned device_block_threads(const struct device_info *info, unsigned threads)
{
    const uint64_t most = device_told(info, PROPERTY_BLOCK_THREADS, threads);
    while (threads > 32 && threads > most)
        threads /= 2;
    return threads;
}

int device_map(struct device *device, struct aliases *aliases,
               struct error *err)
{
    aliases->address = 0;
    if (device->ops->map == NULL || device->info.mapping_bytes == 0)
        return lacks(device, "map memory at several addresses", err);
    const int status = check_aliases(device->info.mapping_bytes, aliases, err);
    return status == 0 ? device->ops->map(device, aliases, err) : status;
}

void device_unmap(struct device *device, struct aliases *aliases)
{
    if (aliases->address != 0)
        device->ops->unmap(device, aliases);
    aliases->address = 0;
}

int device_texture_open(struct device *device, uint64_t address, uint64_t bytes,
                        struct texture *texture, struct error *err)
{
    if (device->ops->texture_open == NULL)
        return lacks(device, "read textures", err);
    return device->ops->texture_open(device, address, bytes, texture, err);
}

void device_texture_close(struct device *device, struct texture *texture)
{
    if (texture->own != NULL || texture->object != 0)
        device->ops->texture_close(device, texture);
}

int device_symbol(struct device *device, struct module *module,
                  const char *name, uint64_t *address, size_t *bytes,
                  struct error *err)
{
    return device->ops->symbol(device, module, name, address, bytes, err);
}

int device_sense(struct device *device, struct device_sense *sense,
                 struct error *err)
{
    if (device->ops->sense == NULL)
        return lacks(device, "tell clocks and throttling", err);
    return device->ops->sense(device, sense, err);
}
