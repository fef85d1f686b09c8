/*
 * Assembling on the device cuda:N, and what is kept of it in memory and on
 * disk, against the fake driver, which counts its links.
 */
#include "fake_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "device/cuda/cache.h"

static const char *const other_ptx = ".entry other()\n{\n    ret;\n}\n";

START_TEST(rejected_ptx_quotes_complaint_and_line)
{
    NEED_FAKE();
    struct error err;
    struct module *module;
    struct device *const device = fake_open(NULL);
    const struct source source = {".entry a()\n{\n    bogus.u32 r1;\n}\n", 3};
    ASSERT_FAILS(device_load(device, &source, &module, &err), ERR_PTX, err,
                 "line 3; error   : Not a name");
    ck_assert_ptr_nonnull(strstr(err.text, "the line is: bogus.u32 r1;"));
    device_close(device);
}
END_TEST

START_TEST(code_is_the_machine_code)
{
    NEED_FAKE();
    struct error err;
    struct module *module;
    const void *code;
    size_t length;
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(
        device_load(device, &(struct source){fake_ptx, 4}, &module, &err), err);
    ASSERT_DONE(device_code(device, module, &code, &length, &err), err);
    ck_assert_uint_eq(length, 4 + strlen(fake_ptx) + 1);
    ck_assert_mem_eq(code, "\177ELF", 4);
    device_close(device);
}
END_TEST

/* Opens a device, loads one kernel, and tells how many links that took. */
static int links_of_a_load(const struct device_options *options)
{
    const int before = fake_count("fake_links");
    struct device *const device = fake_open(options);
    fake_kernel(device);
    device_close(device);
    return fake_count("fake_links") - before;
}

START_TEST(a_second_run_assembles_nothing)
{
    NEED_FAKE();
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    ck_assert_int_eq(links_of_a_load(NULL), 0);
}
END_TEST

START_TEST(no_cache_neither_reads_nor_writes)
{
    NEED_FAKE();
    const struct device_options options = {.no_cache = true};
    ck_assert_int_eq(links_of_a_load(&options), 1);
    ck_assert_int_eq(links_of_a_load(&options), 1);
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    ck_assert_int_eq(links_of_a_load(&options), 1);
}
END_TEST

START_TEST(another_driver_assembles_anew)
{
    NEED_FAKE();
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    setenv("FAKE_CUDA_VERSION", "12080", 1);
    ck_assert_int_eq(links_of_a_load(NULL), 1);
}
END_TEST

START_TEST(another_level_assembles_anew)
{
    NEED_FAKE();
    struct error err;
    struct module *module;
    struct device *const device = fake_open(NULL);
    for (int level = 0; level <= 4; level++)
        ASSERT_DONE(device_load(device, &(struct source){fake_ptx, level},
                                &module, &err),
                    err);
    ck_assert_int_eq(fake_count("fake_links"), 5);
    device_close(device);
}
END_TEST

START_TEST(prepared_programs_load_without_assembling)
{
    NEED_FAKE();
    struct error err;
    struct module *module;
    char text[16][64];
    struct source sources[17];
    for (int i = 0; i < 16; i++) {
        snprintf(text[i], sizeof text[i], ".entry k%d()\n{\n}\n", i);
        sources[i] = (struct source){text[i], 4};
    }
    sources[16] = sources[0];
    setenv("FAKE_CUDA_LINK_MS", "5", 1); /* enough for every thread's turn */
    /* The disk would hide that a program is assembled twice. */
    const struct device_options options = {.no_cache = true};
    struct device *const device = fake_open(&options);
    ASSERT_DONE(device_prepare(device, sources, 17, &err), err);
    ck_assert_int_eq(fake_count("fake_links"), 16);
    for (int i = 0; i < 17; i++)
        ASSERT_DONE(device_load(device, &sources[i], &module, &err), err);
    ck_assert_int_eq(fake_count("fake_links"), 16);
    device_close(device);
}
END_TEST

START_TEST(one_bad_program_does_not_spoil_the_others)
{
    NEED_FAKE();
    struct error err;
    struct module *module;
    const struct source sources[] = {
        {fake_ptx,  4},
        {"bogus",   4},
        {other_ptx, 4}
    };
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(device_prepare(device, sources, 3, &err), err);
    ASSERT_DONE(device_load(device, &sources[0], &module, &err), err);
    ASSERT_FAILS(device_load(device, &sources[1], &module, &err), ERR_PTX, err,
                 "bogus");
    ASSERT_DONE(device_load(device, &sources[2], &module, &err), err);
    device_close(device);
}
END_TEST

static char *only_cache_file(void)
{
    char *const command =
        xasprintf("echo %s/sonde/*", getenv("XDG_CACHE_HOME"));
    FILE *const echo = popen(command, "r");
    char path[512] = "";
    ck_assert_ptr_nonnull(fgets(path, sizeof path, echo));
    pclose(echo);
    path[strcspn(path, "\n")] = '\0';
    free(command);
    return xstrdup(path);
}

/* What may happen to a file: 0 a bit of the payload, 1 a bit of the heading,
 * 2 a bit of the key, 3 cut short, 4 empty, 5 longer. */
static void damage(const char *path, int how)
{
    struct buf file = {0};
    struct error err;
    ASSERT_DONE(file_read(path, 1 << 20, &file, &err), err);
    if (how < 3)
        file.data[how == 0 ? file.length - 2 : how == 1 ? 20 : 120] ^= 1;
    size_t length = how == 3 ? file.length / 2 : how == 4 ? 0 : file.length;
    if (how == 5)
        buf_text(&file, "x"), length = file.length;
    ASSERT_DONE(file_write(path, file.data, length, &err), err);
    buf_free(&file);
}

START_TEST(a_damaged_file_is_assembled_anew_and_mended)
{
    NEED_FAKE();
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    char *const path = only_cache_file();
    damage(path, _i);
    free(path);
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    ck_assert_int_eq(links_of_a_load(NULL), 0);
}
END_TEST

START_TEST(code_that_the_driver_refuses_is_assembled_anew)
{
    NEED_FAKE();
    struct error err;
    struct module *module;
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    fake_fail("cuModuleLoadData", 200, 1);
    struct device *const device = fake_open(NULL);
    ASSERT_DONE(
        device_load(device, &(struct source){fake_ptx, 4}, &module, &err), err);
    ck_assert_int_eq(fake_count("fake_links"), 2);
    device_close(device);
}
END_TEST

START_TEST(a_cache_that_cannot_be_is_no_cache)
{
    NEED_FAKE();
    setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    ck_assert_int_eq(links_of_a_load(NULL), 1);
}
END_TEST

/* The folder of the cache, and the file in it. */
static char *cache_folder(void)
{
    return xasprintf("%s/sonde", getenv("XDG_CACHE_HOME"));
}

START_TEST(what_is_no_file_of_ours_is_not_read)
{
    NEED_FAKE();
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    char *const path = only_cache_file();
    char *const aside = xasprintf("%s.aside", path);
    if (_i == 0) { /* a link to what it was */
        ck_assert_int_eq(rename(path, aside), 0);
        ck_assert_int_eq(symlink(aside, path), 0);
    } else if (_i == 1) { /* a pipe, into which nobody writes */
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
    } else { /* a file that others may write */
        ck_assert_int_eq(chmod(path, 0622), 0);
    }
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    ck_assert_int_eq(links_of_a_load(NULL), 0);
    struct stat st;
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
    free(path);
    free(aside);
}
END_TEST

START_TEST(a_link_is_not_written_through)
{
    NEED_FAKE();
    struct error err;
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    char *const path = only_cache_file(), *const folder = testing_folder();
    char *const victim = xasprintf("%s/private", folder);
    struct buf text = {0};
    ASSERT_DONE(file_write(victim, "mine", 4, &err), err);
    ck_assert_int_eq(chmod(victim, 0600), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink(victim, path), 0);
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    ASSERT_DONE(file_read(victim, 100, &text, &err), err);
    ck_assert_str_eq(buf_string(&text), "mine");
    buf_free(&text);
    free(victim);
    free(folder);
    free(path);
}
END_TEST

START_TEST(a_folder_of_others_is_no_cache)
{
    NEED_FAKE();
    char *const folder = cache_folder();
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    struct stat st;
    ck_assert_int_eq(stat(folder, &st), 0);
    ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
    if (_i == 0) {
        ck_assert_int_eq(chmod(folder, 0777), 0);
    } else if (_i == 1) {
        char *const aside = xasprintf("%s.aside", folder);
        ck_assert_int_eq(rename(folder, aside), 0);
        ck_assert_int_eq(symlink(aside, folder), 0);
        free(aside);
    } else if (chown(folder, 12345, 12345) != 0) {
        free(folder); /* only the superuser can try */
        return;
    }
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    ck_assert_int_eq(links_of_a_load(NULL), 1);
    free(folder);
}
END_TEST

START_TEST(what_was_not_used_for_longest_goes)
{
    NEED_FAKE();
    enum { PROGRAMS = 4, BYTES = 1000 };
    struct cache cache;
    struct buf key[PROGRAMS] = {{0}}, code = {0};
    static const char payload[BYTES];
    cache_open(&cache, false);
    for (int i = 0; i < PROGRAMS; i++) {
        buf_printf(&key[i], "kernel %d", i);
        cache_write(&cache, &key[i], payload, sizeof payload);
    }
    cache_shrink(&cache, PROGRAMS * (BYTES + 200)); /* all have room */
    /* The first and the last are used once more; files have times to a tick of
     * the system's, 10 ms at most. */
    usleep(20000);
    ck_assert(cache_read(&cache, &key[0], &code));
    ck_assert(cache_read(&cache, &key[PROGRAMS - 1], &code));
    cache_shrink(&cache, 2 * (BYTES + 200));
    ck_assert(cache_read(&cache, &key[0], &code));
    ck_assert(cache_read(&cache, &key[PROGRAMS - 1], &code));
    ck_assert(!cache_read(&cache, &key[1], &code));
    ck_assert(!cache_read(&cache, &key[2], &code));
    for (int i = 0; i < PROGRAMS; i++)
        buf_free(&key[i]);
    buf_free(&code);
    cache_close(&cache);
}
END_TEST

START_TEST(the_device_counts_what_came_from_the_disk)
{
    NEED_FAKE();
    for (size_t run = 0; run < 2; run++) {
        struct device *const device = fake_open(NULL);
        fake_kernel(device);
        ck_assert_uint_eq(device->kernels, 1);
        ck_assert_uint_eq(device->kernels_kept, run);
        device_close(device);
    }
}
END_TEST

START_TEST(processes_share_the_cache)
{
    NEED_FAKE();
    pid_t children[4];
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(links_of_a_load(NULL) <= 1 ? 0 : 1);
    }
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        int status;
        waitpid(children[i], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(links_of_a_load(NULL), 0);
}
END_TEST

Suite *suite_compile(void)
{
    TCase *tests;
    Suite *const suite = suite_of("compile", 20, &tests);
    tcase_add_test(tests, rejected_ptx_quotes_complaint_and_line);
    tcase_add_test(tests, code_is_the_machine_code);
    tcase_add_test(tests, a_second_run_assembles_nothing);
    tcase_add_test(tests, no_cache_neither_reads_nor_writes);
    tcase_add_test(tests, another_driver_assembles_anew);
    tcase_add_test(tests, another_level_assembles_anew);
    tcase_add_test(tests, prepared_programs_load_without_assembling);
    tcase_add_test(tests, one_bad_program_does_not_spoil_the_others);
    tcase_add_loop_test(tests, a_damaged_file_is_assembled_anew_and_mended, 0,
                        6);
    tcase_add_test(tests, code_that_the_driver_refuses_is_assembled_anew);
    tcase_add_test(tests, a_cache_that_cannot_be_is_no_cache);
    tcase_add_loop_test(tests, what_is_no_file_of_ours_is_not_read, 0, 3);
    tcase_add_test(tests, a_link_is_not_written_through);
    tcase_add_loop_test(tests, a_folder_of_others_is_no_cache, 0, 3);
    tcase_add_test(tests, what_was_not_used_for_longest_goes);
    tcase_add_test(tests, the_device_counts_what_came_from_the_disk);
    tcase_add_test(tests, processes_share_the_cache);
    return suite;
}
