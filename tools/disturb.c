/*
 * What is found on disturbed simulated GPUs, held against the truth: the helper
 * of tools/disturb.sh, which runs sonde and leaves reports in a folder.
 *
 *     disturb kinds                          of disturbances, one a line
 *     disturb write PROFILE KIND STRENGTH    a disturbed profile
 *     disturb table FOLDER                   what was right; exit status 1 if
 *                                            anything was wrong
 *     disturb coverage FOLDER                how often intervals hold
 *
 * Of each run the folder holds NAME.end (how it ended) and NAME.json (the
 * report); NAME is PROFILE-KIND-STRENGTH-STUDY-SEED.  The truth of a profile
 * and study is the run of the kind none.  FOLDER/gpus holds the profiles as
 * PROFILE-KIND-STRENGTH.json.
 */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "disturbance.h"
#include "judge.h"
#include "study/lab.h"
#include "truth/truth.h"

enum { STRENGTHS = DISTURBANCE_STRENGTHS };

/* ---- runs ---- */

/* The parts of a run's name. */
struct run {
    char *name;
    const char *profile, *kind, *study, *seed;
    unsigned strength;
    size_t disturbance; /* index of the kind */
    bool cut;           /* before its end */
    bool hurried;       /* its time was over before all was asked */
};

/* Cuts off what follows the last '-'; NULL if there is none. */
static const char *cut_last(char *name)
{
    char *const dash = strrchr(name, '-');
    if (dash == NULL)
        return NULL;
    *dash = '\0';
    return dash + 1;
}

/* False if that is no name of a run. */
static bool run_parse(const char *name, struct run *run)
{
    char *const text = xstrdup(name);
    *run = (struct run){.name = text, .profile = text};
    run->seed = cut_last(text);
    run->study = run->seed != NULL ? cut_last(text) : NULL;
    const char *const strength = run->study != NULL ? cut_last(text) : NULL;
    run->kind = strength != NULL ? cut_last(text) : NULL;
    if (run->kind == NULL || disturbance_find(run->kind) == NULL)
        return false;
    run->strength = (unsigned)strtoul(strength, NULL, 10);
    run->disturbance = (size_t)(disturbance_find(run->kind) - disturbances);
    return run->strength <= STRENGTHS;
}

/* The findings of a report; NULL if there is none. */
static json_t *findings_of(const char *folder, const char *name)
{
    char *const path = xasprintf("%s/%s.json", folder, name);
    json_t *const report = json_load_file(path, 0, NULL);
    json_t *const findings = json_incref(json_object_get(report, "findings"));
    json_decref(report);
    free(path);
    return findings;
}

/* How a run ended: an exit status, or "limit". */
static char *end_of(const char *folder, const char *name)
{
    char end[16] = "";
    char *const path = xasprintf("%s/%s.end", folder, name);
    FILE *const file = fopen(path, "r");
    if (file == NULL || fgets(end, sizeof end, file) == NULL)
        end[0] = '\0';
    if (file != NULL)
        fclose(file);
    end[strcspn(end, "\n")] = '\0';
    free(path);
    return xstrdup(end);
}

/* The truth for a run, kept from one to the next; one that ran past its limit
 * is none. */
static json_t *truth_for(const char *folder, const struct run *run)
{
    static char *kept_name;
    static json_t *kept;
    char *const name = xasprintf("%s-none-0-%s-1", run->profile, run->study);
    if (kept_name == NULL || strcmp(kept_name, name) != 0) {
        json_decref(kept);
        free(kept_name);
        char *const end = end_of(folder, name);
        kept = end[0] != 'l' ? findings_of(folder, name) : NULL;
        free(end);
        kept_name = xstrdup(name);
    }
    free(name);
    return kept;
}

static const char *reason_of(const json_t *found)
{
    const char *const why =
        json_string_value(json_object_get(found, "because"));
    return why != NULL ? why : "no reason";
}

static bool is_hurried(json_t *findings)
{
    const char *id;
    json_t *finding;
    json_object_foreach(findings, id,
                        finding) if (strcmp(reason_of(finding), why_budget) ==
                                     0) return true;
    return false;
}

static int is_end(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".end") == 0;
}

/* What is asked of each run that was to be disturbed. */
typedef void visit_fn(const char *folder, const struct run *run, json_t *truth,
                      json_t *found, const char *end);

/* Returns how many there were. */
static size_t each_run(const char *folder, visit_fn *visit)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_end, alphasort);
    size_t runs = 0;
    for (int i = 0; i < count; i++) {
        struct run run;
        *strrchr(entries[i]->d_name, '.') = '\0';
        if (run_parse(entries[i]->d_name, &run) && run.disturbance > 0) {
            char *const end = end_of(folder, entries[i]->d_name);
            run.cut = strcmp(end, "0") != 0;
            json_t *const found = findings_of(folder, entries[i]->d_name);
            run.hurried = is_hurried(found);
            visit(folder, &run, truth_for(folder, &run), found, end);
            json_decref(found);
            free(end);
            runs++;
        }
        free(run.name);
        free(entries[i]);
    }
    free(entries);
    return runs;
}

/* ---- the table of judgements ---- */

enum { KINDS_MOST = 16 };

struct cell {
    size_t count[JUDGEMENT_COUNT];
    size_t unasked; /* the run's time was over before; they are in no count */
};

/* Of one finding, or of all. */
struct row {
    char *id;
    struct cell cell[KINDS_MOST][STRENGTHS + 1];
};

static struct row *rows, total;
static size_t row_count, runs_of[KINDS_MOST][STRENGTHS + 1];
static size_t failed_of[KINDS_MOST][STRENGTHS + 1];

static struct row *row_of(const char *id)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].id, id) == 0)
            return &rows[i];
    rows = xreallocarray(rows, row_count + 1, sizeof *rows);
    rows[row_count] = (struct row){.id = xstrdup(id)};
    return &rows[row_count++];
}

/* Once for each run of which something is wrong: how to see it again. */
static void show_command(const char *folder, const struct run *run)
{
    static char *shown;
    char *const command =
        xasprintf("sonde %s%s --seed %s -d sim:%s/gpus/%s-%s-%u.json",
                  strcmp(run->study, "topology") == 0 ? "" : "run ", run->study,
                  run->seed, folder, run->profile, run->kind, run->strength);
    if (shown == NULL || strcmp(shown, command) != 0)
        printf("%s\n", command);
    free(shown);
    shown = command;
}

/* The findings as if none were in doubt.  The caller frees. */
static json_t *without_doubts(const json_t *found)
{
    json_t *const sure = json_deep_copy(found);
    const char *id;
    json_t *finding;
    json_object_foreach(sure, id, finding) if (judge_is_doubted(finding))
        json_object_set_new(finding, "status", json_string("measured"));
    return sure;
}

/* A line for each finding: what it is by the profile; NULL if that cannot be
 * read.  The caller frees. */
static char *outcomes_of(const char *folder, const struct run *run,
                         const json_t *found)
{
    struct profile *profile;
    struct truths truths;
    struct error err;
    struct buf rows_ = {0}, outcomes = {0};
    char *const path =
        xasprintf("%s/gpus/%s-none-0.json", folder, run->profile);
    if (profile_open(path, NULL, &profile, &err) == 0) {
        truths_of(profile, &truths);
        truth_compare(found, "disturbed", 0, &truths, &rows_, &outcomes);
        profile_free(profile);
    }
    buf_free(&rows_);
    free(path);
    return buf_take(&outcomes);
}

/* … of the run's, what its value is, in doubt or not. */
static char *outcomes_of_values(const char *folder, const struct run *run,
                                const json_t *found)
{
    json_t *const sure = without_doubts(found);
    char *const outcomes = outcomes_of(folder, run, sure);
    json_decref(sure);
    return outcomes;
}

static bool is_said(const char *outcomes, const char *word, const char *id)
{
    char *const line = xasprintf("%s %s\n", word, id);
    const bool says = outcomes != NULL && strstr(outcomes, line) != NULL;
    free(line);
    return says;
}

/* True if the profile says so.  What was not found on the undisturbed GPU may
 * be there. */
static bool profile_says(const char *outcomes, const char *id)
{
    return is_said(outcomes, "right", id);
}

static enum judgement judgement_of(const struct run *run, const char *id,
                                   const json_t *truth, const json_t *found,
                                   const char *outcomes)
{
    const double slowed = disturbance_clock(run->kind, run->strength);
    enum judgement is = judge(truth, found, slowed);
    /* The clock may not have fallen yet. */
    if (is == JUDGED_WRONG && run->cut)
        is = judge(truth, found, 1);
    const bool unknown = truth == NULL || !judge_has(truth, truth);
    if (is != JUDGED_WRONG || !unknown || !profile_says(outcomes, id))
        return is;
    return judge_is_doubted(found) ? JUDGED_DOUBTED : JUDGED_RIGHT;
}

/* ---- which share keeps its status ---- */

/* What is wanted of those that were asked; and by which reasons others lost
 * it. */
static struct share {
    const char *when, *kind;
    unsigned from, to; /* strengths */
    double wanted;
    size_t asked, kept;
    struct lost {
        char *why, *id; /* numbers left out; the first finding of it */
        size_t count;
    } * lost;
    size_t lost_count;
} shares[] = {
    {"at the shipped noise", "noise", 1, 1, 1, .asked = 0},
    {"at three times that", "noise", 2, 2, 0.9, .asked = 0},
    {"beside an intruder", "intruder", 1, 3, 2.0 / 3, .asked = 0},
};

/* What a run without enough time does not even name it has not asked; what the
 * undisturbed one had no time for may be there or not. */
static bool was_asked(const struct run *run, const json_t *truth,
                      const json_t *found)
{
    if (strstr(reason_of(truth), why_budget) != NULL)
        return false;
    return found == NULL ? !run->hurried
                         : strstr(reason_of(found), why_budget) == NULL;
}

static char *without_numbers(const char *why)
{
    struct buf text = {0};
    for (; *why != '\0' && text.length < 90; why++)
        if (strchr("0123456789.", *why) == NULL)
            buf_printf(&text, "%c", *why);
        else if (text.length == 0 || text.data[text.length - 1] != '#')
            buf_printf(&text, "#");
    return buf_take(&text);
}

static void lose(struct share *s, const char *id, const json_t *found)
{
    char *const why = without_numbers(reason_of(found));
    size_t i = 0;
    while (i < s->lost_count && strcmp(s->lost[i].why, why) != 0)
        i++;
    if (i < s->lost_count) {
        free(why);
    } else {
        s->lost = xreallocarray(s->lost, ++s->lost_count, sizeof *s->lost);
        s->lost[i] = (struct lost){.why = why, .id = xstrdup(id)};
    }
    s->lost[i].count++;
}

static void count_share(const struct run *run, const char *id,
                        const json_t *found, enum judgement is)
{
    for (struct share *s = shares; s < shares + COUNT_OF(shares); s++) {
        if (strcmp(run->kind, s->kind) != 0 || run->strength < s->from ||
            run->strength > s->to)
            continue;
        s->asked++;
        s->kept += is == JUDGED_RIGHT;
        if (is != JUDGED_RIGHT)
            lose(s, id, found);
    }
}

static int by_count(const void *a, const void *b)
{
    const size_t x = ((const struct lost *)a)->count,
                 y = ((const struct lost *)b)->count;
    return (x < y) - (x > y);
}

/* Of what was asked; and what most of the others lost their status by. */
static void show_shares(void)
{
    enum { REASONS = 12 };
    printf("\nof what was asked keeps its status:\n");
    for (const struct share *s = shares; s < shares + COUNT_OF(shares); s++)
        printf("%-22s %6zu of %6zu: %5.1f%% (wanted %.1f%%)\n", s->when,
               s->kept, s->asked,
               100 * (double)s->kept / fmax(1, (double)s->asked),
               100 * s->wanted);
    for (const struct share *s = shares; s < shares + COUNT_OF(shares); s++) {
        if (s->lost_count > 0)
            qsort(s->lost, s->lost_count, sizeof *s->lost, by_count);
        for (size_t i = 0; i < s->lost_count && i < REASONS; i++)
            printf("lost %s: %zu, as %s: %s\n", s->when, s->lost[i].count,
                   s->lost[i].id, s->lost[i].why);
    }
}

/* ---- counts ---- */

/* What the simulator draws for each seed is not held against that of another:
 * when the clocks of SMs began. */
static bool is_drawn(const char *id)
{
    return strcmp(id, "scheduling.clocks_apart") == 0;
}

static void count_finding(const char *folder, const struct run *run,
                          const char *id, const json_t *truth,
                          const json_t *found, const char *outcomes)
{
    struct cell *const all = &total.cell[run->disturbance][run->strength];
    if (is_drawn(id) || !judge_has(truth, found))
        return;
    if (!was_asked(run, truth, found)) {
        all->unasked++;
        return;
    }
    const enum judgement is = judgement_of(run, id, truth, found, outcomes);
    row_of(id)->cell[run->disturbance][run->strength].count[is]++;
    all->count[is]++;
    count_share(run, id, found, is);
    if (is != JUDGED_WRONG)
        return;
    struct buf text = {0};
    judge_show(&text, truth, found);
    show_command(folder, run);
    printf("    %s: %s\n", id, buf_string(&text));
    buf_free(&text);
}

/* What ends so has no answer that could be trusted; 1 is a run cut short, or
 * with doubts. */
static bool has_failed(const char *end, const json_t *truth,
                       const json_t *found)
{
    return truth == NULL || found == NULL ||
           (strcmp(end, "0") != 0 && strcmp(end, "1") != 0);
}

static json_t *profile_of(const char *folder, const struct run *run)
{
    char *const path =
        xasprintf("%s/gpus/%s-none-0.json", folder, run->profile);
    json_t *const profile = json_load_file(path, 0, NULL);
    free(path);
    return profile;
}

/* The number at "caches/l2/sets" of a profile; 0 if there is none. */
static double profile_number(const json_t *profile, const char *path)
{
    char *const words = xstrdup(path);
    for (char *word = strtok(words, "/"); word != NULL;
         word = strtok(NULL, "/"))
        profile = json_object_get(profile, word);
    free(words);
    return json_number_value(profile);
}

/* What a bandwidth is by the profile, which an undisturbed run finds but for
 * its own chance; 0: the profile does not say. */
static double rate_told(const json_t *profile, const char *id,
                        const json_t *found)
{
    static const struct {
        const char *id, *path;
    } rates[] = {
        {"const_l1.read_bandwidth", "caches/const_l1/read_bandwidth"},
        {"l1.read_bandwidth", "caches/l1/read_bandwidth"},
        {"l2.read_bandwidth", "caches/l2/read_bandwidth"},
        {"l2.read_bandwidth_half", "caches/l2/read_bandwidth"},
        {"l2.write_bandwidth", "caches/l2/write_bandwidth"},
        {"shared.read_bandwidth", "shared_memory/read_bandwidth"},
        {"shared.write_bandwidth", "shared_memory/write_bandwidth"},
        {"memory.read_bandwidth", "memory_read_bandwidth"},
        {"memory.write_bandwidth", "memory_write_bandwidth"},
    };
    const char *const unit = json_string_value(json_object_get(found, "unit"));
    const bool by_second = unit != NULL && strcmp(unit, "B/s") == 0;
    const double hz = 1e3 * profile_number(profile, "clock_khz");
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        if (strcmp(id, rates[i].id) == 0)
            return profile_number(profile, rates[i].path) *
                   (by_second ? hz : 1);
    return 0;
}

/* The truth has a width of its own where what is timed has steps; and decimals
 * are rounded. */
static bool range_holds(struct judge_range is, struct judge_range truth)
{
    const double more = 1e-5 * fabs(truth.high);
    return is.low <= truth.high + more && is.high >= truth.low - more;
}

static bool has_interval(const json_t *truth, const json_t *found)
{
    return json_is_number(json_object_get(truth, "value")) &&
           json_is_number(json_object_get(found, "value")) &&
           json_array_size(json_object_get(found, "interval")) == 2 &&
           !judge_is_bound(found);
}

/* By the profile; of a bandwidth that is a hundredth, since one interval of
 * twenty misses by less. */
static bool is_wrong(const json_t *profile, const char *outcomes,
                     const char *id, const json_t *finding)
{
    const double told = rate_told(profile, id, finding);
    const struct judge_range near = {0.99 * told, 1.01 * told};
    return is_said(outcomes, "wrong", id) ||
           (told > 0 && has_interval(finding, finding) &&
            !range_holds(judge_range(finding), near));
}

/* What is wrong where nothing disturbs is no truth, either. */
static size_t wrong_undisturbed;

static void show_wrong_undisturbed(const char *folder, const struct run *run,
                                   json_t *truth, const char *name)
{
    const char *id;
    json_t *finding;
    json_t *const profile = profile_of(folder, run);
    char *const outcomes = outcomes_of(folder, run, truth);
    if (outcomes == NULL || outcomes[0] == '\0') {
        printf("undisturbed %s: its profile cannot be read\n", name);
        wrong_undisturbed++;
    }
    json_object_foreach(truth, id, finding)
    {
        struct buf text = {0};
        if (!is_wrong(profile, outcomes, id, finding))
            continue;
        judge_show(&text, NULL, finding);
        printf("undisturbed %s: %s is wrong by the profile: %s\n", name, id,
               buf_string(&text));
        buf_free(&text);
        wrong_undisturbed++;
    }
    free(outcomes);
    json_decref(profile);
}

/* What is in doubt where nothing disturbs is no truth; once for each. */
static void show_undisturbed(const char *folder, const struct run *run,
                             json_t *truth)
{
    static char *shown;
    const char *id;
    json_t *finding;
    char *const name = xasprintf("%s, %s", run->profile, run->study);
    const bool known = shown != NULL && strcmp(shown, name) == 0;
    free(shown);
    shown = name;
    if (known)
        return;
    json_object_foreach(truth, id, finding) if (judge_is_doubted(finding))
        printf("undisturbed %s: %s is in doubt: %s\n", name, id,
               json_string_value(json_object_get(finding, "because")));
    show_wrong_undisturbed(folder, run, truth, name);
}

static void count_run(const char *folder, const struct run *run, json_t *truth,
                      json_t *found, const char *end)
{
    const char *id;
    json_t *finding;
    runs_of[run->disturbance][run->strength]++;
    if (has_failed(end, truth, found)) {
        failed_of[run->disturbance][run->strength]++;
        show_command(folder, run);
        printf("    ended with %s%s\n", end,
               truth == NULL   ? "; there is no truth to compare with"
               : found == NULL ? ", without a report"
                               : "");
    }
    if (truth == NULL || found == NULL)
        return;
    show_undisturbed(folder, run, truth);
    char *const outcomes = outcomes_of_values(folder, run, found);
    json_object_foreach(found, id, finding) count_finding(
        folder, run, id, json_object_get(truth, id), finding, outcomes);
    json_object_foreach(truth, id,
                        finding) if (json_object_get(found, id) == NULL)
        count_finding(folder, run, id, finding, NULL, outcomes);
    free(outcomes);
}

static size_t sum(const struct cell *cell)
{
    size_t all = 0;
    for (int i = 0; i < JUDGEMENT_COUNT; i++)
        all += cell->count[i];
    return all;
}

/* How all came out, a line for each kind and strength. */
static void show_totals(void)
{
    printf("\n%-10s %8s %5s %6s", "kind", "strength", "runs", "failed");
    for (int i = 0; i < JUDGEMENT_COUNT; i++)
        printf(" %12s", judgement_names[i]);
    printf(" %9s %6s\n", "not asked", "kept");
    for (size_t kind = 1; disturbances[kind].kind != NULL; kind++)
        for (size_t strength = 1; strength <= STRENGTHS; strength++) {
            const struct cell *const cell = &total.cell[kind][strength];
            if (runs_of[kind][strength] == 0)
                continue;
            printf("%-10s %8zu %5zu %6zu", disturbances[kind].kind, strength,
                   runs_of[kind][strength], failed_of[kind][strength]);
            for (int i = 0; i < JUDGEMENT_COUNT; i++)
                printf(" %12zu", cell->count[i]);
            printf(" %9zu %5.1f%%\n", cell->unasked,
                   100.0 * (double)cell->count[JUDGED_RIGHT] /
                       fmax(1, (double)sum(cell)));
        }
}

/* The worst of a cell. */
static char letter_of(const struct cell *cell)
{
    static const char letters[] = ".bdnW";
    int worst = JUDGED_RIGHT;
    for (int i = 0; i < JUDGEMENT_COUNT; i++)
        if (cell->count[i] > 0)
            worst = i;
    return sum(cell) == 0 ? ' ' : letters[worst];
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->id, ((const struct row *)b)->id);
}

static bool is_right(const struct row *row)
{
    for (size_t kind = 1; disturbances[kind].kind != NULL; kind++)
        for (size_t strength = 1; strength <= STRENGTHS; strength++)
            if (strchr(" .", letter_of(&row->cell[kind][strength])) == NULL)
                return false;
    return true;
}

static void show_row(const struct row *row)
{
    printf("%-36s", row->id);
    for (size_t kind = 1; disturbances[kind].kind != NULL; kind++) {
        putchar(' ');
        for (size_t strength = 1; strength <= STRENGTHS; strength++)
            putchar(letter_of(&row->cell[kind][strength]));
        printf("%*s", 10 - STRENGTHS, "");
    }
    printf("\n");
}

/* A line for each finding that was not always right: for each kind the worst
 * at each strength. */
static void show_matrix(void)
{
    if (row_count > 0)
        qsort(rows, row_count, sizeof *rows, by_id);
    printf("\nworst by strength: . right, b bound, d doubted, n not measured, "
           "W wrong\n%-36s",
           "finding");
    for (size_t kind = 1; disturbances[kind].kind != NULL; kind++)
        printf(" %-10s", disturbances[kind].kind);
    printf("\n");
    size_t right = 0;
    for (size_t i = 0; i < row_count; i++) {
        right += is_right(&rows[i]);
        if (!is_right(&rows[i]))
            show_row(&rows[i]);
    }
    printf("always right: %zu of %zu\n", right, row_count);
}

/* FOLDER/table.tsv: all counts. */
static void write_table(const char *folder)
{
    char *const path = xasprintf("%s/table.tsv", folder);
    FILE *const file = fopen(path, "w");
    free(path);
    if (file == NULL)
        return;
    fputs("finding\tkind\tstrength", file);
    for (int i = 0; i < JUDGEMENT_COUNT; i++)
        fprintf(file, "\t%s", judgement_names[i]);
    fputs("\n", file);
    for (size_t i = 0; i < row_count; i++)
        for (size_t kind = 1; disturbances[kind].kind != NULL; kind++)
            for (size_t strength = 1; strength <= STRENGTHS; strength++) {
                const struct cell *const cell = &rows[i].cell[kind][strength];
                if (sum(cell) == 0)
                    continue;
                fprintf(file, "%s\t%s\t%zu", rows[i].id,
                        disturbances[kind].kind, strength);
                for (int k = 0; k < JUDGEMENT_COUNT; k++)
                    fprintf(file, "\t%zu", cell->count[k]);
                fputs("\n", file);
            }
    fclose(file);
}

static int table(const char *folder)
{
    size_t failed = 0;
    const size_t runs = each_run(folder, count_run);
    size_t wrong = wrong_undisturbed;
    show_matrix();
    show_totals();
    show_shares();
    write_table(folder);
    for (size_t kind = 0; kind < KINDS_MOST; kind++)
        for (size_t strength = 0; strength <= STRENGTHS; strength++) {
            wrong += total.cell[kind][strength].count[JUDGED_WRONG];
            failed += failed_of[kind][strength];
        }
    printf("\n%zu runs, %zu failed, %zu findings wrong\n", runs, failed, wrong);
    return runs == 0 ? 2 : wrong + failed > 0;
}

/* ---- how often intervals hold the truth ---- */

static const char *const classes[] = {"latency", "penalty", "size", "bandwidth",
                                      "throughput"};

struct coverage {
    size_t count, held;       /* intervals that claim a confidence */
    double claimed;           /* sum of these */
    double width;             /* sum of widths over values */
    size_t steps, steps_held; /* that claim none, but hold */
};

static struct coverage covered[COUNT_OF(classes)][KINDS_MOST][STRENGTHS + 1];

static void cover(struct coverage *c, struct judge_range truth,
                  const json_t *found)
{
    const double value = (truth.low + truth.high) / 2;
    const struct judge_range is = judge_range(found);
    const bool holds = range_holds(is, truth);
    if (json_object_get(found, "confidence") == NULL) {
        c->steps++;
        c->steps_held += holds;
        return;
    }
    c->count++;
    c->held += holds;
    c->claimed += json_number_value(json_object_get(found, "confidence"));
    c->width += value != 0 ? (is.high - is.low) / value : 0;
}

static double percent(double part, size_t of)
{
    return 100 * part / fmax(1, (double)of);
}

/* Runs, and those that found what is not there. */
static struct {
    size_t runs, alarmed;
} alarms[KINDS_MOST][STRENGTHS + 1];

/* What is not there, neither by the undisturbed run nor by the profile, and was
 * looked for; NULL: nothing was found of it. */
static const char *first_alarm(const struct run *run, json_t *truth,
                               json_t *found, const char *outcomes)
{
    const char *id;
    json_t *finding;
    json_object_foreach(found, id, finding)
    {
        const json_t *const true_ = json_object_get(truth, id);
        if (judge_has(true_, finding) && !judge_has(true_, true_) &&
            judgement_of(run, id, true_, finding, outcomes) == JUDGED_WRONG)
            return id;
    }
    return NULL;
}

static void count_alarm(const char *folder, const struct run *run,
                        json_t *truth, json_t *found)
{
    char *const outcomes = outcomes_of_values(folder, run, found);
    const char *const alarm = first_alarm(run, truth, found, outcomes);
    alarms[run->disturbance][run->strength].runs++;
    if (alarm != NULL) {
        alarms[run->disturbance][run->strength].alarmed++;
        show_command(folder, run);
        printf("    finds %s, which is not there\n", alarm);
    }
    free(outcomes);
}

static void show_alarms(void)
{
    printf("\nfound what is not there:\n");
    for (size_t kind = 1; disturbances[kind].kind != NULL; kind++)
        for (size_t strength = 1; strength <= STRENGTHS; strength++)
            if (alarms[kind][strength].runs > 0)
                printf("%-10s %8zu  %zu of %zu runs\n", disturbances[kind].kind,
                       strength, alarms[kind][strength].alarmed,
                       alarms[kind][strength].runs);
}

static void cover_run(const char *folder, const struct run *run, json_t *truth,
                      json_t *found, const char *end)
{
    (void)end;
    const char *id;
    json_t *finding;
    json_t *const profile = profile_of(folder, run);
    json_object_foreach(found, id, finding)
    {
        const json_t *const true_ = json_object_get(truth, id);
        const char *const class = judge_class(id, finding);
        const double told = rate_told(profile, id, finding);
        const struct judge_range range =
            told > 0 ? (struct judge_range){told, told} : judge_range(true_);
        for (size_t i = 0; class != NULL && i < COUNT_OF(classes); i++)
            if (strcmp(class, classes[i]) == 0 && has_interval(true_, finding))
                cover(&covered[i][run->disturbance][run->strength], range,
                      finding);
    }
    json_decref(profile);
    if (truth != NULL && found != NULL && strcmp(run->study, "topology") == 0)
        count_alarm(folder, run, truth, found);
}

static int coverage(const char *folder)
{
    const size_t runs = each_run(folder, cover_run);
    printf("%-10s %-10s %8s %9s %7s %7s %9s %7s %7s\n", "of", "kind",
           "strength", "intervals", "held", "claimed", "width", "steps",
           "held");
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        for (size_t kind = 1; disturbances[kind].kind != NULL; kind++)
            for (size_t strength = 1; strength <= STRENGTHS; strength++) {
                const struct coverage *const c = &covered[i][kind][strength];
                if (c->count + c->steps > 0)
                    printf("%-10s %-10s %8zu %9zu %6.1f%% %6.1f%% %8.2f%% %7zu "
                           "%6.1f%%\n",
                           classes[i], disturbances[kind].kind, strength,
                           c->count, percent((double)c->held, c->count),
                           percent(c->claimed, c->count),
                           percent(c->width, c->count), c->steps,
                           percent((double)c->steps_held, c->steps));
            }
    show_alarms();
    printf("%zu runs\n", runs);
    return runs == 0 ? 2 : 0;
}

/* ---- words of the command line ---- */

static int kinds(void)
{
    for (const struct disturbance *d = disturbances; d->kind != NULL; d++)
        printf("%-10s %s\n", d->kind, d->text);
    return 0;
}

static int write_profile(const char *name, const char *kind,
                         const char *strength)
{
    const unsigned long number = strtoul(strength, NULL, 10);
    const bool none = strcmp(kind, disturbances[0].kind) == 0;
    char *const text = none || (number >= 1 && number <= STRENGTHS)
                           ? disturbed_gpu(name, kind, (unsigned)number)
                           : NULL;
    if (text == NULL) {
        fprintf(stderr, "disturb: no profile %s, kind %s or strength %s\n",
                name, kind, strength);
        return 2;
    }
    puts(text);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    const char *const word = argc > 1 ? argv[1] : "";
    if (argc == 2 && strcmp(word, "kinds") == 0)
        return kinds();
    if (argc == 5 && strcmp(word, "write") == 0)
        return write_profile(argv[2], argv[3], argv[4]);
    if (argc == 3 && strcmp(word, "table") == 0)
        return table(argv[2]);
    if (argc == 3 && strcmp(word, "coverage") == 0)
        return coverage(argv[2]);
    fputs("usage: disturb kinds | write PROFILE KIND STRENGTH | table FOLDER | "
          "coverage FOLDER\n",
          stderr);
    return 2;
}
