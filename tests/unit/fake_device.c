#include "unit/fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Where the text is, or belongs: by FNV-1a, of whose bits the low ones alone
 * would do less well. */
static char **place_of(const struct texts *texts, const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    size_t i = (size_t)(hash >> 20) & (texts->room - 1);
    while (texts->places[i] != NULL && strcmp(texts->places[i], text) != 0)
        i = (i + 1) & (texts->room - 1);
    return &texts->places[i];
}

static void make_room(struct texts *texts)
{
    enum { ROOM_LEAST = 64 };
    if (2 * texts->count < texts->room)
        return;
    free(texts->places);
    texts->room = texts->room > 0 ? 2 * texts->room : ROOM_LEAST;
    texts->places = xcalloc(texts->room, sizeof *texts->places);
    for (size_t i = 0; i < texts->count; i++)
        *place_of(texts, texts->at[i]) = texts->at[i];
}

void texts_add(struct texts *texts, const char *text)
{
    make_room(texts);
    char **const place = place_of(texts, text);
    if (*place != NULL)
        return;
    *place = xstrdup(text);
    texts->at = xreallocarray(texts->at, texts->count + 1, sizeof *texts->at);
    texts->at[texts->count++] = *place;
}

bool texts_have(const struct texts *texts, const char *text)
{
    return texts->count > 0 && *place_of(texts, text) != NULL;
}

void texts_free(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->at[i]);
    free(texts->at);
    free(texts->places);
    *texts = (struct texts){0};
}

/* ---- the hooks -------------------------------------------------------- */

static struct fake_device *fake_of(struct device *device)
{
    return (struct fake_device *)device;
}

static int load(struct device *device, const struct source *source,
                struct module **module, struct error *err)
{
    struct fake_device *const fake = fake_of(device);
    fake->loads++;
    fake->level = source->level;
    texts_add(&fake->programs, source->ptx);
    *module = (struct module *)fake;
    return fake->refuses != NULL ? error_set(err, ERR_PTX, "%s", fake->refuses)
                                 : 0;
}

static void unload(struct device *device, struct module *module)
{
    (void)device, (void)module;
}

static int kernel(struct device *device, struct module *module,
                  const char *name, struct kernel **kernel, struct error *err)
{
    (void)device, (void)module, (void)name, (void)err;
    *kernel = NULL;
    return 0;
}

static int launch(struct device *device, struct kernel *kernel,
                  const struct launch *launch, struct error *err)
{
    (void)kernel, (void)launch;
    struct fake_device *const fake = fake_of(device);
    fake->launches++;
    if (fake->fails_at > 0 && fake->launches >= fake->fails_at)
        return error_set(err, fake->fails_with, "the GPU is lost");
    return 0;
}

static int elapsed(struct device *device, double *nanoseconds,
                   struct error *err)
{
    (void)device, (void)err;
    *nanoseconds = 1;
    return 0;
}

static int allocate(struct device *device, uint64_t bytes, uint64_t *address,
                    struct error *err)
{
    (void)device, (void)bytes, (void)err;
    *address = 1 << 20;
    return 0;
}

static void release(struct device *device, uint64_t address)
{
    (void)device, (void)address;
}

static int copy_in(struct device *device, uint64_t to, const void *from,
                   size_t bytes, struct error *err)
{
    (void)device, (void)to, (void)from, (void)bytes, (void)err;
    return 0;
}

static int copy_out(struct device *device, void *to, uint64_t from,
                    size_t bytes, struct error *err)
{
    (void)from, (void)err;
    struct fake_device *const fake = fake_of(device);
    uint64_t *const words = to;
    const size_t count = bytes / sizeof *words;
    fake->reads++;
    for (size_t i = 0; i < count; i++)
        words[i] = 1;
    if (fake->read != NULL)
        fake->read(fake, words, count);
    return 0;
}

static int memory_free(struct device *device, uint64_t *bytes,
                       struct error *err)
{
    (void)device, (void)err;
    *bytes = 1ull << 40;
    return 0;
}

static int texture_open(struct device *device, uint64_t address, uint64_t bytes,
                        struct texture *texture, struct error *err)
{
    (void)device, (void)address, (void)bytes, (void)err;
    *texture = (struct texture){.object = 1};
    return 0;
}

static void texture_close(struct device *device, struct texture *texture)
{
    (void)device, (void)texture;
}

static int symbol(struct device *device, struct module *module,
                  const char *name, uint64_t *address, size_t *bytes,
                  struct error *err)
{
    (void)device, (void)module, (void)name, (void)err;
    *address = 1 << 20;
    *bytes = 1 << 16;
    return 0;
}

static int sense(struct device *device, struct device_sense *sense,
                 struct error *err)
{
    (void)err;
    struct fake_device *const fake = fake_of(device);
    *sense = (struct device_sense){.sm_mhz = 1000};
    if (fake->throttled == 0)
        return 0;
    fake->throttled--;
    sense->throttle = fake->reasons;
    return 0;
}

static const struct device_ops ops = {
    .scheme = "fake",
    .help = "for tests",
    .load = load,
    .unload = unload,
    .kernel = kernel,
    .launch = launch,
    .elapsed = elapsed,
    .allocate = allocate,
    .release = release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .memory_free = memory_free,
    .texture_open = texture_open,
    .texture_close = texture_close,
    .symbol = symbol,
    .sense = sense,
};

void fake_device_open(struct fake_device *fake, int cc)
{
    *fake = (struct fake_device){.device.ops = &ops, .fails_with = ERR_DEVICE};
    struct device_info *const info = &fake->device.info;
    snprintf(info->spec, sizeof info->spec, "fake:");
    snprintf(info->name, sizeof info->name, "a fake GPU");
    info->cc_major = cc / 10;
    info->cc_minor = cc % 10;
    info->simulated = true; /* its clock need not warm up */
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        info->value[i] = -1;
    info->value[PROPERTY_SMS] = 1024;
}

void fake_device_close(struct fake_device *fake)
{
    texts_free(&fake->programs);
}
