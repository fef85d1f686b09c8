#include "truth/said.h"

#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "testing.h"

#define FOLDER "tests/truth/said"

/* ---- as text ---- */

static void say(struct buf *text, const json_t *value)
{
    char *const word =
        json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(5));
    buf_printf(text, "%s", word);
    free(word);
}

static void say_key(struct buf *text, const json_t *finding, const char *key)
{
    const json_t *const value = json_object_get(finding, key);
    if (value == NULL)
        return;
    buf_printf(text, " %s ", key);
    say(text, value);
}

static void say_protocol(struct buf *text, json_t *protocol)
{
    const char *name;
    json_t *value;
    if (json_object_size(protocol) > 0)
        buf_printf(text, "\n   ");
    json_object_foreach(protocol, name, value)
    {
        buf_printf(text, " %s=", name);
        say(text, value);
    }
}

static void say_digest(struct buf *text, uint64_t hash)
{
    buf_printf(text, " %08" PRIx64, hash & UINT32_MAX);
}

/* How many experiments, the first and the last, and a digest of more. */
static void say_evidence(struct buf *text, const json_t *list)
{
    const size_t count = json_array_size(list);
    uint64_t all = HASH_START;
    for (size_t i = 0; i < count; i++) {
        const char *const cited = json_string_value(json_array_get(list, i));
        all = hash_text(all, cited);
        if (i == 0 || i + 1 == count)
            buf_printf(text, "\n    %zu of %zu: %s", i + 1, count, cited);
    }
    if (count > 2)
        say_digest(text, all);
}

/* The curves are too long to be kept. */
static void say_curves(struct buf *text, const json_t *curves)
{
    if (curves == NULL)
        return;
    struct buf points = {0};
    say(&points, curves);
    buf_printf(text, "\n    curves");
    say_digest(text, hash_text(HASH_START, buf_string(&points)));
    buf_free(&points);
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void say_finding(struct buf *text, const char *id, const json_t *f,
                        const json_t *curves)
{
    static const char *const keys[] = {"value", "status", "interval",
                                       "confidence", "because"};
    buf_printf(text, "%s", id);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        say_key(text, f, keys[i]);
    say_protocol(text, json_object_get(f, "protocol"));
    say_evidence(text, json_object_get(f, "evidence"));
    say_curves(text, curves);
    buf_printf(text, "\n");
}

/* How many experiments each study asked, and a digest of which. */
static void say_asks(struct buf *text, const json_t *report)
{
    const json_t *const digests = json_object_get(report, "digests");
    const char *study;
    json_t *asks;
    json_object_foreach(json_object_get(report, "asks"), study, asks)
    {
        buf_printf(text, "%s asks ", study);
        say(text, asks);
        say_digest(text, (uint64_t)json_integer_value(
                             json_object_get(digests, study)));
        buf_printf(text, "\n");
    }
}

/* What these studies say; with the verdict, what all do of what is measured. */
static void say_findings(struct buf *text, const json_t *report,
                         const char *const *studies, size_t count)
{
    const bool all = is_among("verdict", studies, count);
    json_t *const findings = json_object_get(report, "findings");
    const json_t *const curves = json_object_get(report, "curves");
    const char *id;
    json_t *f;
    say_asks(text, report);
    json_object_foreach(findings, id, f)
    {
        const char *const by = json_string_value(json_object_get(f, "study"));
        if (all ? strcmp(by, "properties") != 0 : is_among(by, studies, count))
            say_finding(text, id, f, json_object_get(curves, id));
    }
}

/* ---- who asks ---- */

/* The paths that the tests of this run asked for, one a line. */
static char *path_of_asked(void)
{
    return testing_shared("said");
}

static void remember(const char *path)
{
    char *const list = path_of_asked();
    FILE *const file = fopen(list, "a");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", path); /* in one piece: tests run at once */
    fclose(file);
    free(list);
}

/* Expected: each answer that is kept is one of a GPU that a test measures.
 * Buggy result: when a GPU of a test changed, its old answer stayed, which
 * nothing was compared with. */
START_TEST(a_test_asks_for_each_kept_answer)
{
    if (!testing_counts->whole ||
        testing_counts->failures + testing_counts->errors > 0)
        SKIP("other tests were left out, or failed before they asked");
    struct buf asked = {0}, unasked = {0};
    struct error err;
    char *const list = path_of_asked();
    ASSERT_DONE(file_read(list, SIZE_MAX, &asked, &err), err);
    DIR *const folder = opendir(FOLDER);
    ck_assert_ptr_nonnull(folder);
    for (const struct dirent *e; (e = readdir(folder)) != NULL;) {
        char *const line = xasprintf(FOLDER "/%s\n", e->d_name);
        if (e->d_name[0] != '.' && strstr(buf_string(&asked), line) == NULL)
            buf_printf(&unasked, " %.*s", (int)strlen(line) - 1, line);
        free(line);
    }
    closedir(folder);
    ck_assert_msg(unasked.length == 0,
                  "no test asks for these any more; delete them: git rm%s",
                  buf_string(&unasked));
    buf_free(&unasked);
    buf_free(&asked);
    free(list);
}
END_TEST

Suite *suite_said(void)
{
    TCase *t;
    Suite *const suite = suite_of("said", 20, &t);
    tcase_add_test(t, a_test_asks_for_each_kept_answer);
    return suite;
}

/* ---- what is kept ---- */

void said_is_kept(const char *spec, uint64_t seed, const char *const *studies,
                  size_t count, const json_t *report)
{
    /* Of a GPU of a host more than its number is told. */
    if (strncmp(spec, "sim:/", 5) != 0 || count == 0 ||
        access(spec + 4, R_OK) != 0)
        return;
    struct buf text = {0};
    char *const profile = testing_document(spec + 4);
    buf_printf(&text, "seed %" PRIu64 " of %s\n", seed, profile);
    const uint64_t key = hash_text(HASH_START, buf_string(&text));
    char *const path =
        xasprintf(FOLDER "/%s-%08" PRIx64 ".txt", studies[0], key & UINT32_MAX);
    say_findings(&text, report, studies, count);
    if (getenv("GOLDENS") != NULL || access(path, R_OK) == 0) {
        remember(path);
        testing_document_is(path, buf_string(&text));
    }
    buf_free(&text);
    free(path);
    free(profile);
}
