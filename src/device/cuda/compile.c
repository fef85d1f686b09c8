#include "device/cuda/compile.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

/* More threads than this only wait for each other inside the driver. */
enum { THREADS_MOST = 32 };

enum { OPTION_COUNT = 4 };

/* The longest of ours are megabytes. */
enum { CODE_MOST = 1 << 28 };

/* One link: the option values must outlive the link state, since the driver
 * writes the log's length into them. */
struct link {
    void *state;
    int options[OPTION_COUNT];
    void *values[OPTION_COUNT];
    char log[8192];
};

void compiler_open(struct compiler *compiler, const struct driver *driver,
                   void *context, const char *platform, bool no_cache)
{
    *compiler = (struct compiler){
        .driver = driver,
        .context = context,
        .platform = xstrdup(platform),
    };
    cache_open(&compiler->cache, no_cache);
}

static void program_free(struct program *program)
{
    buf_free(&program->key);
    buf_free(&program->cubin);
    free(program);
}

void compiler_close(struct compiler *compiler)
{
    while (compiler->programs != NULL) {
        struct program *const program = compiler->programs;
        compiler->programs = program->next;
        program_free(program);
    }
    cache_close(&compiler->cache);
    free(compiler->platform);
    compiler->platform = NULL;
}

static struct program *program_new(const struct compiler *compiler,
                                   const struct source *source)
{
    struct program *const program = xcalloc(1, sizeof *program);
    buf_printf(&program->key, "%s\nlevel %d\n%s", compiler->platform,
               source->level, source->ptx);
    program->hash =
        hash_bytes(HASH_START, program->key.data, program->key.length);
    return program;
}

static bool same_key(const struct program *a, const struct program *b)
{
    return a->hash == b->hash && a->key.length == b->key.length &&
           memcmp(a->key.data, b->key.data, a->key.length) == 0;
}

static struct program *find(struct program *list, const struct program *wanted)
{
    while (list != NULL && !same_key(list, wanted))
        list = list->next;
    return list;
}

static void set_option(struct link *link, int at, int option, void *value)
{
    link->options[at] = option;
    link->values[at] = value;
}

static void set_options(struct link *link, int level)
{
    set_option(link, 0, CUDA_JIT_TARGET_FROM_CONTEXT, NULL);
    set_option(link, 1, CUDA_JIT_LEVEL, (void *)(uintptr_t)level);
    set_option(link, 2, CUDA_JIT_ERROR_LOG, link->log);
    set_option(link, 3, CUDA_JIT_ERROR_LOG_BYTES,
               (void *)(uintptr_t)(sizeof link->log - 1));
}

/* The first line of the log that tells of an error, or its first line; NULL
 * if the log is empty.  Cuts the log there. */
static char *complaint(char *log)
{
    char *first = NULL, *rest;
    for (char *line = strtok_r(log, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strstr(line, "error") != NULL || strstr(line, "fatal") != NULL)
            return line;
        if (first == NULL)
            first = line;
    }
    return first;
}

/* Quotes the PTX that the complaint is about. */
static int quote_line(const char *ptx, const char *line, struct error *err)
{
    char *const quoted = text_line_meant(ptx, line);
    if (quoted != NULL)
        error_set(err, ERR_PTX, "%s; the line is: %s", err->text, quoted);
    free(quoted);
    return err->code;
}

static bool is_about_ptx(int result)
{
    return result == CUDA_INVALID_PTX || result == CUDA_INVALID_IMAGE ||
           result == CUDA_INVALID_SOURCE || result == CUDA_NO_BINARY_FOR_GPU ||
           result == CUDA_UNSUPPORTED_PTX_VERSION;
}

/* Turns the result of a link's step into an error; what the log says comes
 * before the driver's own few words. */
static int check_link(const struct driver *driver, struct link *link,
                      int result, const char *entry,
                      const struct source *source, struct error *err)
{
    if (result == 0)
        return 0;
    const char *const line = complaint(link->log);
    const int status =
        driver_check(driver, result, err, entry, "assembling PTX at level %d",
                     source->level);
    if (status == ERR_DEVICE_MEMORY || (line == NULL && !is_about_ptx(result)))
        return status;
    if (line == NULL)
        return error_set(err, ERR_PTX, "%s", err->text);
    error_set(err, ERR_PTX, "%s: %s does not take the PTX at level %d: %s",
              driver->who, entry, source->level, line);
    return quote_line(source->ptx, line, err);
}

static int run_link(const struct driver *driver, struct link *link,
                    const struct source *source, struct buf *cubin,
                    struct error *err)
{
    void *code = NULL;
    size_t length = 0;
    int status = check_link(
        driver, link,
        DRIVER_ASK(driver, cuLinkAddData_v2,
                   (link->state, CUDA_JIT_INPUT_PTX,
                    (void *)(uintptr_t)source->ptx, strlen(source->ptx) + 1,
                    "sonde", 0, NULL, NULL)),
        "cuLinkAddData_v2", source, err);
    if (status == 0)
        status = check_link(
            driver, link,
            DRIVER_ASK(driver, cuLinkComplete, (link->state, &code, &length)),
            "cuLinkComplete", source, err);
    if (status != 0)
        return status;
    if (code == NULL || length == 0 || length > CODE_MOST)
        return error_set(err, ERR_DEVICE,
                         "%s: cuLinkComplete gave %zu bytes of machine code",
                         driver->who, length);
    buf_append(cubin, code, length);
    return 0;
}

/* *told: the assembler had something to say. */
static int assemble_once(const struct driver *driver,
                         const struct source *source, struct buf *cubin,
                         bool *told, struct error *err)
{
    struct link link = {0};
    set_options(&link, source->level);
    int status =
        DRIVER_CALL(driver, err, cuLinkCreate_v2,
                    (OPTION_COUNT, link.options, link.values, &link.state),
                    "starting the driver's assembler");
    if (status != 0)
        return status;
    status = run_link(driver, &link, source, cubin, err);
    *told = link.log[0] != '\0';
    struct error ignored;
    const int ended =
        DRIVER_CALL(driver, status == 0 ? err : &ignored, cuLinkDestroy,
                    (link.state), "ending the driver's assembler");
    return status != 0 ? status : ended;
}

/* What the assembler complains of is so for ever; what has just failed may
 * pass. */
static int assemble(const struct driver *driver, const struct source *source,
                    struct buf *cubin, struct error *err)
{
    bool told = false;
    const int status = assemble_once(driver, source, cubin, &told, err);
    if (status == 0 || told)
        return status;
    buf_clear(cubin);
    *err = (struct error){0};
    return assemble_once(driver, source, cubin, &told, err);
}

static int assemble_and_store(struct compiler *compiler,
                              struct program *program,
                              const struct source *source, struct error *err)
{
    const int status = assemble(compiler->driver, source, &program->cubin, err);
    if (status == 0)
        cache_write(&compiler->cache, &program->key, program->cubin.data,
                    program->cubin.length);
    return status;
}

/* Fills in the machine code, from disk or by the assembler. */
static int complete(struct compiler *compiler, struct program *program,
                    const struct source *source, struct error *err)
{
    program->from_disk =
        cache_read(&compiler->cache, &program->key, &program->cubin);
    if (program->from_disk)
        return 0;
    return assemble_and_store(compiler, program, source, err);
}

static void keep(struct compiler *compiler, struct program *program)
{
    program->next = compiler->programs;
    compiler->programs = program;
    compiler->taken++;
    compiler->from_disk += program->from_disk;
}

int compiler_program(struct compiler *compiler, const struct source *source,
                     struct program **program, struct error *err)
{
    struct program *const wanted = program_new(compiler, source);
    *program = find(compiler->programs, wanted);
    if (*program != NULL) {
        program_free(wanted);
        return 0;
    }
    const int status = complete(compiler, wanted, source, err);
    if (status != 0) {
        program_free(wanted);
        return status;
    }
    keep(compiler, wanted);
    *program = wanted;
    return 0;
}

int compiler_renew(struct compiler *compiler, struct program *program,
                   const struct source *source, struct error *err)
{
    buf_clear(&program->cubin);
    program->from_disk = false;
    compiler->from_disk--;
    return assemble_and_store(compiler, program, source, err);
}

/* What prepare hands to its threads: each takes the next job until none is
 * left, and touches that job alone. */
struct batch {
    struct compiler *compiler;
    struct job {
        struct program *program;
        const struct source *source;
        bool done;
    } * jobs;
    size_t count;
    atomic_size_t next;
};

static int work(void *argument, struct error *err)
{
    struct batch *const batch = argument;
    if (DRIVER_ASK(batch->compiler->driver, cuCtxSetCurrent,
                   (batch->compiler->context)) != 0)
        return ERR_DEVICE;
    for (size_t i; (i = atomic_fetch_add(&batch->next, 1)) < batch->count;) {
        struct job *const job = &batch->jobs[i];
        job->done =
            complete(batch->compiler, job->program, job->source, err) == 0;
    }
    return 0;
}

/* Adds a job unless the program is in memory or another job already. */
static void add_job(struct batch *batch, const struct source *source,
                    struct program **planned)
{
    struct program *const program = program_new(batch->compiler, source);
    if (find(batch->compiler->programs, program) != NULL ||
        find(*planned, program) != NULL) {
        program_free(program);
        return;
    }
    program->next = *planned;
    *planned = program;
    batch->jobs[batch->count++] = (struct job){program, source, false};
}

static void keep_batch(struct compiler *compiler, const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->jobs[i].done)
            keep(compiler, batch->jobs[i].program);
        else
            program_free(batch->jobs[i].program);
    }
}

void compiler_prepare(struct compiler *compiler, const struct source *sources,
                      size_t count)
{
    struct program *planned = NULL;
    struct batch batch = {
        .compiler = compiler,
        .jobs = xcalloc(count, sizeof *batch.jobs),
    };
    for (size_t i = 0; i < count; i++)
        add_job(&batch, &sources[i], &planned);
    if (batch.count > 0)
        crew_run(work, &batch,
                 batch.count < THREADS_MOST ? batch.count : THREADS_MOST);
    keep_batch(compiler, &batch);
    free(batch.jobs);
}
