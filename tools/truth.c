/*
 * Random GPUs and what was found on them, held against what is true: the helper
 * of tools/truth.sh, which runs sonde and leaves reports in a folder.
 *
 *     truth profile SEED             the profile of that GPU
 *     truth judge PROFILE SEED REPORT   what became of each finding, a line
 *                                    each; what is wrong, on standard error
 *     truth table                    the sums of such lines, from standard
 *                                    input; exit status 1 if any was wrong
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "truth/claim.h"
#include "truth/gpu.h"
#include "truth/truth.h"

static int failed(const char *what, const char *why)
{
    fprintf(stderr, "truth: %s: %s\n", what, why);
    return 2;
}

static int show_profile(const char *seed)
{
    char *const json = gpu_random(strtoull(seed, NULL, 10));
    puts(json);
    free(json);
    return 0;
}

/* ---- one report ---- */

/* Rows of what is not measured are left out. */
static void show_wrong(const char *rows, const char *outcomes)
{
    char *const text = xstrdup(rows);
    char *rest = NULL;
    for (char *row = strtok_r(text, "\n", &rest); row != NULL;
         row = strtok_r(NULL, "\n", &rest)) {
        char id[80], wrong[96];
        if (sscanf(row, "random seed %*u %79s", id) != 1)
            continue;
        snprintf(wrong, sizeof wrong, "wrong %s\n", id);
        if (strstr(outcomes, wrong) != NULL)
            fprintf(stderr, "    %.400s\n", strstr(row, id));
    }
    free(text);
}

static int judge(const char *path, const char *seed, const char *report_path)
{
    struct profile *profile;
    struct truths truths;
    struct error err;
    struct buf rows = {0}, outcomes = {0};
    json_t *const report = json_load_file(report_path, 0, NULL);
    if (report == NULL)
        return failed(report_path, "there is no report");
    if (profile_open(path, NULL, &profile, &err) < 0)
        return failed(path, err.text);
    truths_of(profile, &truths);
    truth_compare(json_object_get(report, "findings"), "random",
                  strtoull(seed, NULL, 10), &truths, &rows, &outcomes);
    fputs(buf_string(&outcomes), stdout);
    show_wrong(buf_string(&rows), buf_string(&outcomes));
    buf_free(&rows);
    buf_free(&outcomes);
    profile_free(profile);
    json_decref(report);
    return 0;
}

/* ---- the table ---- */

enum { IDS_MOST = 400 };

static const char *const words[] = {
#define X(id, word) word,
    CLAIM_OUTCOMES(X)
#undef X
};

struct line {
    char id[64];
    size_t count[CLAIM_OUTCOME_COUNT];
};

static struct line lines[IDS_MOST];
static size_t line_count;

static struct line *line_of(const char *id)
{
    size_t i = 0;
    while (i < line_count && strcmp(lines[i].id, id) != 0)
        i++;
    if (i == IDS_MOST)
        exit(failed(id, "there are too many findings"));
    if (i == line_count)
        snprintf(lines[line_count++].id, sizeof lines->id, "%.63s", id);
    return &lines[i];
}

static void add(const char *word, const char *id)
{
    for (size_t i = 0; i < CLAIM_OUTCOME_COUNT; i++)
        if (strcmp(word, words[i]) == 0)
            line_of(id)->count[i]++;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->id, ((const struct line *)b)->id);
}

static void show(const char *name, const size_t *count, size_t of)
{
    printf("| %s |", name);
    for (size_t i = 0; i < CLAIM_OUTCOME_COUNT; i++)
        if (of > 0)
            printf(" %.1f %% |", 100 * (double)count[i] / (double)of);
        else if (count[i] > 0)
            printf(" %zu |", count[i]);
        else
            printf(" |");
    printf("\n");
}

static int table(void)
{
    char word[16], id[64];
    size_t sum[CLAIM_OUTCOME_COUNT] = {0}, all = 0;
    while (scanf("%15s %63s", word, id) == 2)
        add(word, id);
    qsort(lines, line_count, sizeof *lines, by_id);
    printf("| finding | right | bound | in doubt | not measured | wrong |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < line_count; i++) {
        show(lines[i].id, lines[i].count, 0);
        for (size_t k = 0; k < CLAIM_OUTCOME_COUNT; k++) {
            sum[k] += lines[i].count[k];
            all += lines[i].count[k];
        }
    }
    show("all", sum, 0);
    show("of them", sum, all);
    return sum[CLAIM_WRONG] > 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "profile") == 0)
        return show_profile(argv[2]);
    if (argc == 5 && strcmp(argv[1], "judge") == 0)
        return judge(argv[2], argv[3], argv[4]);
    if (argc == 2 && strcmp(argv[1], "table") == 0)
        return table();
    return failed("usage", "truth profile SEED | judge PROFILE SEED REPORT | "
                           "table");
}
