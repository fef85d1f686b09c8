/*
 * What was read is used: recordings are replayed, programs run, simulated GPUs
 * measured, reports shown.  Nothing here knows what must come out; nothing may
 * crash or hang, and a report must be one that is read again.
 */
#include "fuzz/used.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"
#include "device/cuda/cache.h"
#include "device/sim/profile/profile.h"
#include "fuzz/fuzz.h"
#include "probe/experiment.h"
#include "probe/probe.h"
#include "probe/record.h"
#include "report/report.h"
#include "sonde.h"
#include "testing.h"
#include "unit/cubins.h"

/* A wrong file may describe a GPU that takes hours. */
static const double budget_s = 0.2;

/* In the place of the input before; not by file_write, which waits for the
 * disk. */
static void write_input(const char *path, const void *data, size_t length)
{
    FILE *const file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

/* What is said of it, whatever it is, is a report. */
static void assert_reported(struct sonde *s)
{
    struct sonde_error err;
    struct error why;
    struct results again = {0};
    char *text = NULL;
    static const char *const formats[] = {"text", "table", "csv"};
    ck_assert_int_eq(sonde_report(s, "json", NULL, &text, &err), 0);
    ASSERT_DONE(report_read(text, "own", &again, &why), why);
    results_free(&again);
    free(text);
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const struct sonde_style style = {.verbose = 3, .tree = i > 0};
        /* A table is of instructions; there may be none. */
        if (sonde_report(s, formats[i], &style, &text, &err) == 0)
            free(text);
    }
}

static int measure(const char *device, const char *const *studies, size_t count,
                   struct error *err)
{
    struct sonde *s;
    struct sonde_error why;
    const struct sonde_options options = {
        .device = device, .budget_s = budget_s, .no_cache = true};
    const int code = sonde_open(&s, &options, &why);
    if (code != 0)
        return error_set(err, (enum error_code)code, "%s", why.text);
    sonde_run(s, studies, count, &why);
    if (count > 0)
        sonde_isa(s,
                  &(struct sonde_isa){.patterns = TEXTS("add.u32"),
                                      .pattern_count = 1},
                  &why);
    assert_reported(s);
    sonde_close(s, NULL);
    return 0;
}

/* ---- recordings --------------------------------------------------------- */

static const char *const replayed[] = {"clock", "banks", "cached"};

static struct buf packed(const struct buf *text)
{
    struct buf bytes = {.capacity = ZSTD_compressBound(text->length) + 1};
    bytes.data = xmalloc(bytes.capacity);
    bytes.length = ZSTD_compress(bytes.data, bytes.capacity, buf_string(text),
                                 text->length, 1);
    ck_assert(!ZSTD_isError(bytes.length));
    return bytes;
}

static struct buf unpacked(const struct buf *bytes)
{
    const size_t length =
        (size_t)ZSTD_getFrameContentSize(bytes->data, bytes->length);
    struct buf text = {.length = length, .capacity = length + 1};
    text.data = xcalloc(1, text.capacity);
    ck_assert_uint_eq(
        ZSTD_decompress(text.data, length, bytes->data, bytes->length), length);
    return text;
}

void replay_seeds(struct seeds *seeds)
{
    struct sonde *s;
    struct sonde_error why;
    struct error err;
    struct buf bytes = {0};
    char *const path = testing_file("replay-seed", "");
    const struct sonde_options options = {.device = "sim:quick",
                                          .record = path};
    ck_assert_int_eq(sonde_open(&s, &options, &why), 0);
    ck_assert_int_eq(sonde_run(s, replayed, COUNT_OF(replayed), &why), 0);
    sonde_isa(
        s,
        &(struct sonde_isa){.patterns = TEXTS("add.u32"), .pattern_count = 1},
        &why);
    ck_assert_int_eq(sonde_close(s, &why), 0);
    ASSERT_DONE(file_read(path, 1 << 24, &bytes, &err), err);
    struct buf text = unpacked(&bytes);
    seeds_add(seeds, text.data, text.length);
    buf_free(&text);
    buf_free(&bytes);
    free(path);
}

int use_recording(const struct buf *input, struct error *err)
{
    struct recording *r;
    struct buf bytes = packed(input);
    int status = recording_parse(bytes.data, bytes.length, "input", &r, err);
    if (status == 0) {
        static char *path; /* the same for all inputs, as below */
        if (path == NULL)
            path = testing_file("replay", "");
        recording_free(r);
        char *const spec = xasprintf("replay:%s", path);
        write_input(path, bytes.data, bytes.length);
        status = measure(spec, replayed, COUNT_OF(replayed), err);
        free(spec);
    }
    buf_free(&bytes);
    return status;
}

/* ---- profiles ----------------------------------------------------------- */

int use_profile(const struct buf *input, struct error *err)
{
    static const char *const studies[] = {"clock", "cached", "sector", "banks"};
    static char *path;
    struct profile *profile;
    int status = profile_parse(input->data, "input", &profile, err);
    if (status != 0)
        return status;
    profile_free(profile);
    if (path == NULL)
        path = testing_file("profile.json", "");
    char *const spec = xasprintf("sim:%s", path);
    write_input(path, input->data, input->length);
    status = measure(spec, studies, COUNT_OF(studies), err);
    free(spec);
    return status;
}

/* ---- kernels kept on disk ------------------------------------------------ */

/* One entry of a folder of this process's own: its key, what was kept under
 * it, and the file as it was written. */
static struct {
    struct cache cache;
    struct buf key, payload;
    char *path;
} kept;

static char *only_entry(const char *folder)
{
    glob_t found;
    char *const pattern = xasprintf("%s/*.cubin", folder);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    char *const path = xstrdup(found.gl_pathv[0]);
    globfree(&found);
    free(pattern);
    return path;
}

static void keep_kernel(void)
{
    if (kept.path != NULL)
        return;
    char *const home = testing_folder();
    char *const folder = xasprintf("%s/sonde", home);
    setenv("XDG_CACHE_HOME", home, 1);
    cache_open(&kept.cache, false);
    ck_assert_int_ge(kept.cache.folder, 0);
    buf_text(&kept.key, "sm_90 level 3 driver 13.0\n.version 8.0\n");
    kept.payload = cubin_bytes(cubin_names[0]);
    cache_write(&kept.cache, &kept.key, kept.payload.data, kept.payload.length);
    kept.path = only_entry(folder);
    free(folder);
    free(home);
}

void kept_seeds(struct seeds *seeds)
{
    struct buf bytes = {0};
    struct error err;
    keep_kernel();
    ASSERT_DONE(file_read(kept.path, 1 << 20, &bytes, &err), err);
    seeds_add(seeds, bytes.data, bytes.length);
    buf_free(&bytes);
}

/* Only what was kept is taken, to the byte. */
int use_kept(const struct buf *input, struct error *err)
{
    struct buf payload = {0};
    keep_kernel();
    write_input(kept.path, input->data, input->length);
    const bool taken = cache_read(&kept.cache, &kept.key, &payload);
    ck_assert(!taken || payload.length == kept.payload.length);
    ck_assert(!taken ||
              memcmp(payload.data, kept.payload.data, payload.length) == 0);
    ck_assert(taken || payload.length == 0);
    buf_free(&payload);
    return taken ? 0 : error_set(err, ERR_FILE, "it is not what was kept");
}

/* ---- programs ----------------------------------------------------------- */

/* Run with as many parameters as there may be, all of them addresses that can
 * be written. */
static void run_module(struct device *device, struct module *module,
                       const char *name)
{
    enum { BYTES = 65536, ARGS = 8 };
    struct error err;
    struct kernel *kernel;
    uint64_t address = 0, args[ARGS];
    if (device_kernel(device, module, name, &kernel, &err) != 0 ||
        device_allocate(device, BYTES, &address, &err) != 0)
        return;
    struct launch launch = {.grid = {2},
                            .block = {33},
                            .shared_bytes = 1024,
                            .carve_out = CARVE_OUT_DEFAULT,
                            .deadline_s = 0.02};
    for (size_t i = 0; i < ARGS; i++) {
        args[i] = address + BYTES / ARGS * i;
        launch.args[i] = &args[i];
    }
    for (launch.arg_count = 0; launch.arg_count <= ARGS; launch.arg_count++)
        device_launch(device, kernel, &launch, &err);
}

int use_ptx(const struct buf *input, struct error *err)
{
    struct device *const device = testing_sim("a100", 1);
    const struct source source = {.ptx = input->data, .level = 3};
    struct module *module;
    const int status = device_load(device, &source, &module, err);
    const char *const entry = strstr(input->data, ".entry ");
    if (status == 0 && entry != NULL) {
        char *const name = xstrndup(entry + 7, strcspn(entry + 7, " (\n"));
        run_module(device, module, name);
        free(name);
    }
    if (status == 0)
        device_unload(device, module);
    device_close(device);
    return status;
}

/* ---- reports ------------------------------------------------------------ */

int use_report(const struct buf *input, struct error *err)
{
    struct results results = {0};
    const int status = report_read(input->data, "input", &results, err);
    for (size_t i = 0; status == 0 && report_formats[i] != NULL; i++)
        for (unsigned verbose = 0; verbose < 4; verbose++) {
            const struct report_style style = {.verbose = verbose,
                                               .tree = verbose % 2 == 0,
                                               .ascii = verbose == 1,
                                               .width = 40 * verbose};
            const struct results *const one = &results;
            struct buf out = {0};
            struct error why;
            report_write(report_formats[i], &one, 1, &style, &out, &why);
            buf_free(&out);
        }
    results_free(&results);
    return status;
}
