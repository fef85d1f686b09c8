/* Modules, their kernels and variables. */
#include "device/cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void count_programs(struct gpu *gpu)
{
    gpu->device.kernels = gpu->compiler.taken;
    gpu->device.kernels_kept = gpu->compiler.from_disk;
}

int gpu_prepare(struct device *device, const struct source *sources,
                size_t count, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const int status = gpu_enter(gpu, err);
    if (status == 0)
        compiler_prepare(&gpu->compiler, sources, count);
    count_programs(gpu);
    return status;
}

static int load_data(struct gpu *gpu, const struct program *program,
                     void **handle, struct error *err)
{
    const int status =
        GPU_CALL(gpu, err, cuModuleLoadData, (handle, program->cubin.data),
                 "loading a module of %zu bytes", program->cubin.length);
    return gpu_given(gpu, status, *handle != NULL, "cuModuleLoadData", err);
}

/* The assembler fails, too, once the context is lost, and does not say so. */
static int look_at_context(struct gpu *gpu, struct error *err)
{
    size_t free_bytes, total;
    struct error ignored;
    if (err->code != ERR_PTX)
        GPU_CALL(gpu, &ignored, cuMemGetInfo_v2, (&free_bytes, &total),
                 "asking how much memory is free");
    return err->code;
}

/* Machine code from the disk that this driver refuses, though it was written
 * under the same version, is assembled once more. */
static int load_program(struct gpu *gpu, const struct source *source,
                        struct program **program, void **handle,
                        struct error *err)
{
    int status = compiler_program(&gpu->compiler, source, program, err);
    count_programs(gpu);
    if (status != 0)
        return look_at_context(gpu, err);
    status = load_data(gpu, *program, handle, err);
    if (status == 0 || gpu->device.lost || !(*program)->from_disk)
        return status;
    *err = (struct error){0};
    status = compiler_renew(&gpu->compiler, *program, source, err);
    count_programs(gpu);
    return status != 0 ? status : load_data(gpu, *program, handle, err);
}

/* A linker puts each function anywhere; of a program that is not linked they
 * lie in the code of the kernel that calls them, side by side.  The driver
 * keeps what it assembles so, and shows it nobody. */
static int load_whole(struct gpu *gpu, const struct source *source,
                      void **handle, struct error *err)
{
    const int status =
        GPU_CALL(gpu, err, cuModuleLoadData, (handle, source->ptx),
                 "assembling a program with functions");
    return gpu_given(gpu, status, *handle != NULL, "cuModuleLoadData", err);
}

int gpu_load(struct device *device, const struct source *source,
             struct module **module, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    struct program *program = NULL;
    void *handle = NULL;
    int status = gpu_enter(gpu, err);
    if (status == 0)
        status = strstr(source->ptx, "\n.func ") != NULL
                     ? load_whole(gpu, source, &handle, err)
                     : load_program(gpu, source, &program, &handle, err);
    if (status != 0)
        return status;
    *module = xcalloc(1, sizeof **module);
    **module = (struct module){
        .next = gpu->modules,
        .handle = handle,
        .program = program,
    };
    gpu->modules = *module;
    return 0;
}

static void free_kernels(struct module *module)
{
    while (module->kernels != NULL) {
        struct kernel *const kernel = module->kernels;
        module->kernels = kernel->next;
        free(kernel->name);
        free(kernel);
    }
}

void gpu_unload(struct device *device, struct module *module)
{
    struct gpu *const gpu = gpu_of(device);
    struct error ignored;
    if (module == NULL)
        return;
    struct module **at = &gpu->modules;
    while (*at != module)
        at = &(*at)->next;
    *at = module->next;
    if (gpu_enter(gpu, &ignored) == 0)
        GPU_CALL(gpu, &ignored, cuModuleUnload, (module->handle),
                 "unloading a module");
    free_kernels(module);
    free(module);
}

int gpu_code(struct device *device, struct module *module, const void **data,
             size_t *length, struct error *err)
{
    (void)device;
    if (module->program == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "programs with functions show no machine code");
    *data = module->program->cubin.data;
    *length = module->program->cubin.length;
    return 0;
}

int gpu_kernel(struct device *device, struct module *module, const char *name,
               struct kernel **kernel, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    void *function = NULL;
    int status = gpu_enter(gpu, err);
    if (status == 0)
        status = GPU_CALL(gpu, err, cuModuleGetFunction,
                          (&function, module->handle, name),
                          "looking for the kernel '%s'", name);
    status =
        gpu_given(gpu, status, function != NULL, "cuModuleGetFunction", err);
    if (status != 0)
        return status;
    *kernel = xcalloc(1, sizeof **kernel);
    **kernel = (struct kernel){
        .next = module->kernels,
        .function = function,
        .name = xstrdup(name),
        .carve_out = CARVE_OUT_DEFAULT,
    };
    module->kernels = *kernel;
    return 0;
}

int gpu_symbol(struct device *device, struct module *module, const char *name,
               uint64_t *address, size_t *bytes, struct error *err)
{
    struct gpu *const gpu = gpu_of(device);
    const int status = gpu_enter(gpu, err);
    if (status != 0)
        return status;
    return GPU_CALL(gpu, err, cuModuleGetGlobal_v2,
                    (address, bytes, module->handle, name),
                    "looking for the variable '%s'", name);
}
