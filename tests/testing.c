#include "testing.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"

struct testing_counts *testing_counts;

/* Every temporary folder is in this one; "" before testing_begin. */
static char root[256];
static bool owned; /* it is this run's, and goes with it */

static void must(bool done, const char *what)
{
    if (!done) {
        perror(what);
        exit(2);
    }
}

/* An empty folder; or that of a run before, of the same program, whose shared
 * texts this one takes over. */
static void make_root(void)
{
    const char *const before = getenv("CHECK_SHARED");
    const char *const tmp = getenv("TMPDIR");
    if (before != NULL && before[0] != '\0') {
        snprintf(root, sizeof root, "%s", before);
        return;
    }
    snprintf(root, sizeof root, "%s/sonde-check.XXXXXX",
             tmp != NULL ? tmp : "/tmp");
    must(mkdtemp(root) != NULL, root);
    owned = true;
}

void testing_begin(void)
{
    testing_counts = mmap(NULL, sizeof *testing_counts, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(testing_counts != MAP_FAILED, "mmap");
    make_root();
    /* No test reads or writes the user's cache of kernels. */
    setenv("XDG_CACHE_HOME", root, 1);
}

static int remove_entry(const char *path, const struct stat *st, int kind,
                        struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

void testing_end(void)
{
    if (owned)
        nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    munmap(testing_counts, sizeof *testing_counts);
}

void testing_skip(const char *test, const char *fmt, ...)
{
    char why[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    /* START_TEST appends _fn to the name that the test was given. */
    const size_t length = strlen(test);
    const size_t name = length > 3 ? length - 3 : length;
    printf("skipped: %.*s: %s\n", (int)name, test, why);
    testing_counts->skipped++;
}

/* The slow cases of the suite that is made. */
static struct {
    const TCase *at[4];
    size_t count;
} slow;

Suite *suite_of(const char *name, double timeout_s, TCase **tests)
{
    Suite *const suite = suite_create(name);
    slow.count = 0;
    *tests = tcase_create(name);
    tcase_set_timeout(*tests, timeout_s);
    suite_add_tcase(suite, *tests);
    return suite;
}

TCase *suite_slow(Suite *suite, double timeout_s)
{
    TCase *const tests = tcase_create(TESTING_SLOW);
    tcase_set_tags(tests, TESTING_SLOW);
    tcase_set_timeout(tests, timeout_s);
    suite_add_tcase(suite, tests);
    must(slow.count < COUNT_OF(slow.at), "a suite has too many slow cases");
    slow.at[slow.count++] = tests;
    return tests;
}

static bool is_slow(const TCase *tests)
{
    for (size_t i = 0; i < slow.count; i++)
        if (slow.at[i] == tests)
            return true;
    return false;
}

static bool is_drawn(const TTest *test, int i)
{
    const char *const every = getenv("SLOW_EVERY");
    const char *const commit = getenv("RANDOM_COMMIT");
    const unsigned long of = every != NULL ? strtoul(every, NULL, 10) : 1;
    uint64_t hash = hash_text(HASH_START, commit != NULL ? commit : "");
    hash = hash_text(hash, test->name);
    hash = hash_bytes(hash, &i, sizeof i);
    return of <= 1 || (hash >> 32) % of == 0;
}

void testing_add(TCase *tests, const TTest *test, int from, int end)
{
    for (int i = from; i < end; i++)
        if (!is_slow(tests) || is_drawn(test, i))
            _tcase_add_test(tests, test, 0, 0, i, i + 1);
        else
            testing_counts->undrawn++;
}

void testing_dies(void)
{
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

unsigned testing_seeds(void)
{
    const char *const seeds = getenv("SEEDS");
    const int number = seeds != NULL ? atoi(seeds) : 0;
    return number > 0 ? (unsigned)number : 1;
}

char *testing_folder(void)
{
    char *const path = xasprintf("%s/XXXXXX", root);
    ck_assert_ptr_nonnull(mkdtemp(path));
    return path;
}

char *testing_file(const char *name, const char *text)
{
    char *const folder = testing_folder();
    char *const path = xasprintf("%s/%s", folder, name);
    struct error err;
    ASSERT_DONE(file_write(path, text, strlen(text), &err), err);
    free(folder);
    return path;
}

char *testing_document(const char *path)
{
    enum { DOCUMENT_MOST = 4 << 20 };
    struct buf text = {0};
    struct error err;
    ASSERT_DONE(file_read(path, DOCUMENT_MOST, &text, &err), err);
    return buf_take(&text);
}

/* Where the line begins in which two texts begin to differ. */
static size_t same_lines(const char *a, const char *b)
{
    size_t same = 0;
    while (a[same] != '\0' && a[same] == b[same])
        same++;
    while (same > 0 && a[same - 1] != '\n')
        same--;
    return same;
}

void testing_document_is(const char *path, const char *wanted)
{
    struct error err;
    if (getenv("GOLDENS") != NULL) {
        ASSERT_DONE(file_write(path, wanted, strlen(wanted), &err), err);
        return;
    }
    char *const is = testing_document(path);
    const size_t same = same_lines(is, wanted);
    ck_assert_msg(strcmp(is, wanted) == 0,
                  "%s has \"%.*s\", not \"%.*s\"; `make goldens` writes it "
                  "anew",
                  path, (int)strcspn(is + same, "\n"), is + same,
                  (int)strcspn(wanted + same, "\n"), wanted + same);
    free(is);
}

/* As long as the lock is held; the process' end gives it back. */
static char *read_or_make(const char *path, char *(*make)(const void *context),
                          const void *context)
{
    struct buf text = {0};
    struct error err;
    if (access(path, R_OK) == 0) {
        ASSERT_DONE(file_read(path, SIZE_MAX, &text, &err), err);
        return buf_take(&text);
    }
    char *const made = make(context);
    ASSERT_DONE(file_write(path, made, strlen(made), &err), err);
    return made;
}

char *testing_shared(const char *name)
{
    return xasprintf("%s/%s", root, name);
}

char *testing_once(const char *key, char *(*make)(const void *context),
                   const void *context)
{
    char *const path = testing_shared(key);
    char *const lock = xasprintf("%s.lock", path);
    const int file = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert(file >= 0 && flock(file, LOCK_EX) == 0);
    char *const text = read_or_make(path, make, context);
    close(file);
    free(lock);
    free(path);
    return text;
}

char *testing_fake_driver(void)
{
    char self[512];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return xstrdup("");
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    char *const folder = xasprintf("%s/tests/fake", self);
    if (access(folder, R_OK) != 0)
        folder[0] = '\0';
    return folder;
}

char *testing_assembler(void)
{
    FILE *const found = popen("PATH=$PATH:/usr/local/cuda/bin; "
                              "command -v ptxas",
                              "r");
    char line[512] = "";
    char *path = NULL;
    if (found == NULL)
        return NULL;
    if (fgets(line, sizeof line, found) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        path = xstrdup(line);
    }
    pclose(found);
    return path;
}
