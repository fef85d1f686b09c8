#include "probe/run/shot.h"

#include <stdlib.h>

#include "base/mem.h"

static int launch(struct prober *prober, struct kernel *kernel,
                  const struct shot *shot, struct error *err)
{
    struct launch launch = {
        .grid = {shot->blocks},
        .block = {shot->threads},
        .shared_bytes = (unsigned)shot->shared_bytes,
        .carve_out = shot->carve_out,
        .arg_count = shot->arg_count,
        .deadline_s = shot->deadline_s,
        .ahead = shot->ahead,
    };
    for (size_t i = 0; i < shot->arg_count; i++)
        launch.args[i] = &shot->args[i];
    return device_launch(prober_device(prober), kernel, &launch, err);
}

int prober_shoot(struct prober *prober, const struct experiment *e,
                 const struct shot *shot, struct error *err)
{
    struct kernel *kernel;
    if (prober_kernel(prober, e, shot->kernel, &kernel, err) != 0)
        return err->code;
    return launch(prober, kernel, shot, err);
}

int prober_shoot_thread(struct prober *prober, const struct experiment *e,
                        uint64_t number, uint64_t *words, size_t count,
                        struct error *err)
{
    uint64_t args[] = {0, number};
    const struct shot shot = {
        .kernel = e->probe->name,
        .blocks = 1,
        .threads = 1,
        .carve_out = CARVE_OUT_DEFAULT,
        .args = args,
        .arg_count = COUNT_OF(args),
    };
    if (prober_buffer(prober, BUFFER_OUT, 8 * count, &args[0], err) != 0 ||
        prober_shoot(prober, e, &shot, err) != 0)
        return err->code;
    return device_copy_out(prober_device(prober), words, args[0], 8 * count,
                           err);
}

int prober_shoot_helper(struct prober *prober, const struct buf *ptx,
                        const struct shot *shot, struct error *err)
{
    struct kernel *kernel;
    if (prober_load(prober, buf_string(ptx), shot->kernel, &kernel, err) != 0)
        return err->code;
    return launch(prober, kernel, shot, err);
}

int prober_place(struct prober *prober, enum prober_buffer which,
                 const void *from, size_t bytes, uint64_t *address,
                 struct error *err)
{
    if (prober_buffer(prober, which, bytes, address, err) != 0)
        return err->code;
    return device_copy_in(prober_device(prober), *address, from, bytes, err);
}

int prober_zeros(struct prober *prober, enum prober_buffer which, size_t bytes,
                 uint64_t *address, struct error *err)
{
    void *const zeros = xcalloc(1, bytes);
    const int status = prober_place(prober, which, zeros, bytes, address, err);
    free(zeros);
    return status;
}

uint64_t *prober_fetch(struct prober *prober, uint64_t address, size_t bytes,
                       struct error *err)
{
    uint64_t *const words = xmalloc(bytes);
    if (device_copy_out(prober_device(prober), words, address, bytes, err) == 0)
        return words;
    free(words);
    return NULL;
}
