/*
 * Compares two folders that tools/same.sh wrote: what sonde found and which
 * experiments it ran, before and after a change that is meant to alter
 * neither.
 *
 *     same compare OLD NEW    exit status 1 if anything differs
 *     same texts FILE.rec     the experiments of a recording, one a line
 *
 * Of each run NAME a folder holds NAME.end (how it ended), NAME.json (the
 * report), NAME.experiments and, where it was asked for, NAME.ptx.  The files
 * are read with the JSON and zstd libraries alone and not with sonde's own
 * readers, since both sides of a change of those must be readable.
 *
 * A difference has a kind, which the environment variable IGNORE may name, in
 * a list separated by blanks: it is counted then, and no more.  The kinds are
 * the keys of a finding (value unit status interval confidence because method
 * protocol study axis skipped ...), and finding (there or not), order (of
 * findings), evidence (as a set), experiments (how often each was run), turn
 * (in which order they were), ptx, report (the rest of the report), end.
 * MOST is how many differences of a kind are shown of each run (default 20).
 */
#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/report.h"

enum { FILE_MOST = 1 << 28, TEXT_MOST = 1 << 30, KINDS_MOST = 64 };

/* ---- counting and showing --------------------------------------------- */

static struct kind {
    const char *name;
    bool ignored;
    size_t all, in_run;
} kinds[KINDS_MOST];

static const char *run_name; /* the run that is compared */
static size_t most_shown = 20;

static bool is_ignored(const char *name)
{
    const char *const list = getenv("IGNORE");
    char *const words = xasprintf(" %s ", list != NULL ? list : "");
    char *const word = xasprintf(" %s ", name);
    const bool found = strstr(words, word) != NULL;
    free(words);
    free(word);
    return found;
}

/* Kinds beyond the table's end, which nobody has seen, are one with the last.
 */
static struct kind *kind_of(const char *name)
{
    size_t i = 0;
    while (i + 1 < KINDS_MOST && kinds[i].name != NULL &&
           strcmp(kinds[i].name, name) != 0)
        i++;
    if (kinds[i].name == NULL)
        kinds[i] =
            (struct kind){.name = xstrdup(name), .ignored = is_ignored(name)};
    return &kinds[i];
}

/* Counts a difference; true if it is to be shown. */
static bool differs(const char *kind)
{
    struct kind *const k = kind_of(kind);
    k->all++;
    if (k->ignored || k->in_run++ > most_shown)
        return false;
    if (k->in_run > most_shown)
        printf("%s: more differences of %s are not shown\n", run_name, kind);
    return k->in_run <= most_shown;
}

static void begin_run(const char *name)
{
    run_name = name;
    for (size_t i = 0; i < KINDS_MOST; i++)
        kinds[i].in_run = 0;
}

enum { SHOWN = 200, BEFORE = 40 };

/* A text in quotes, or what of it stands around the byte `at`. */
static void show_text(const char *text, size_t at)
{
    if (text == NULL) {
        fputs("nothing", stdout);
        return;
    }
    const size_t length = strlen(text);
    const size_t begin = length <= SHOWN || at < BEFORE
                             ? 0
                             : (at < length ? at : length) - BEFORE;
    printf("%s%.*s%s", begin > 0 ? "..." : "", (int)SHOWN, text + begin,
           length - begin > SHOWN ? "..." : "");
}

static void show_both(const char *what, const char *was, const char *is)
{
    size_t at = 0;
    while (was != NULL && is != NULL && was[at] != '\0' && was[at] == is[at])
        at++;
    printf("%s: %s was ", run_name, what);
    show_text(was, at);
    fputs(", is ", stdout);
    show_text(is, at);
    putchar('\n');
}

/* ---- files ------------------------------------------------------------ */

/* NULL where there is none. */
static char *file_text(const char *folder, const char *name, const char *ending)
{
    struct error err;
    struct buf text = {0};
    char *const path = xasprintf("%s/%s.%s", folder, name, ending);
    const int status = file_read(path, FILE_MOST, &text, &err);
    free(path);
    if (status == 0)
        return xstrdup(buf_string(&text));
    buf_free(&text);
    return NULL;
}

struct lines {
    char *text;
    const char **line;
    size_t count;
};

/* Takes the text, which may be NULL. */
static struct lines lines_of(char *text)
{
    struct lines l = {.text = text};
    char *rest = NULL;
    for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL;
         line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        l.line = xreallocarray(l.line, l.count + 1, sizeof *l.line);
        l.line[l.count++] = line;
    }
    return l;
}

static void lines_free(struct lines *l)
{
    free(l->text);
    free(l->line);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void lines_sort(struct lines *l)
{
    if (l->count > 0)
        qsort(l->line, l->count, sizeof *l->line, by_text);
}

/* How often the line at *at of sorted lines is there, and goes behind it. */
static size_t lines_skip(const struct lines *l, size_t *at)
{
    const size_t begin = *at;
    while (*at < l->count && strcmp(l->line[*at], l->line[begin]) == 0)
        ++*at;
    return *at - begin;
}

/* ---- experiments and PTX ---------------------------------------------- */

static void show_times(const char *kind, const char *line, size_t was,
                       size_t is)
{
    if (was == is || !differs(kind))
        return;
    printf("%s: %s: %zu times, was %zu: ", run_name, kind, is, was);
    show_text(line, 0);
    putchar('\n');
}

/* Compares sorted lines as multisets; true if they are the same. */
static bool same_lines(const char *kind, const struct lines *was,
                       const struct lines *is)
{
    bool same = true;
    for (size_t i = 0, j = 0; i < was->count || j < is->count;) {
        const int order = i == was->count  ? 1
                          : j == is->count ? -1
                                           : strcmp(was->line[i], is->line[j]);
        const char *const line = order <= 0 ? was->line[i] : is->line[j];
        const size_t before = order <= 0 ? lines_skip(was, &i) : 0;
        const size_t now = order >= 0 ? lines_skip(is, &j) : 0;
        same = same && before == now;
        show_times(kind, line, before, now);
    }
    return same;
}

/* The same experiments, but not one after the other as before? */
static void compare_turns(const struct lines *was, const struct lines *is)
{
    for (size_t i = 0; i < was->count; i++) {
        if (strcmp(was->line[i], is->line[i]) == 0)
            continue;
        if (differs("turn"))
            printf("%s: experiment %zu of %zu is the first in another place\n",
                   run_name, i + 1, was->count);
        return;
    }
}

static void compare_lines(const char *old, const char *new, const char *kind)
{
    struct lines was = lines_of(file_text(old, run_name, kind));
    struct lines is = lines_of(file_text(new, run_name, kind));
    struct lines a = lines_of(file_text(old, run_name, kind));
    struct lines b = lines_of(file_text(new, run_name, kind));
    lines_sort(&a);
    lines_sort(&b);
    /* PTX was asked for on one side only: there is nothing to compare. */
    const bool asked = strcmp(kind, "ptx") != 0 || (was.text && is.text);
    if (asked && same_lines(kind, &a, &b))
        compare_turns(&was, &is);
    lines_free(&was);
    lines_free(&is);
    lines_free(&a);
    lines_free(&b);
}

/* ---- findings --------------------------------------------------------- */

static char *json_words(const json_t *json)
{
    return json == NULL
               ? NULL
               : json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY |
                                      JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
}

static void compare_json(const char *kind, const char *what, const json_t *was,
                         const json_t *is)
{
    char *const a = json_words(was), *const b = json_words(is);
    const bool same = a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
    if (!same && differs(kind))
        show_both(what, a, b);
    free(a);
    free(b);
}

static struct lines lines_of_list(const json_t *list)
{
    struct lines l = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        l.line = xreallocarray(l.line, l.count + 1, sizeof *l.line);
        const char *const text = json_string_value(json_array_get(list, i));
        l.line[l.count++] = text != NULL ? text : "";
    }
    lines_sort(&l);
    return l;
}

static void show_evidence(const char *id, const char *what, const char *text)
{
    if (!differs("evidence"))
        return;
    printf("%s: %s evidence %s: ", run_name, id, what);
    show_text(text, 0);
    putchar('\n');
}

/* As sets: how often and in which order they are cited says nothing. */
static void compare_evidence(const char *id, const json_t *was,
                             const json_t *is)
{
    struct lines a = lines_of_list(was), b = lines_of_list(is);
    for (size_t i = 0, j = 0; i < a.count || j < b.count;) {
        const int order = i == a.count   ? 1
                          : j == b.count ? -1
                                         : strcmp(a.line[i], b.line[j]);
        if (order != 0)
            show_evidence(id, order < 0 ? "no longer" : "new",
                          order < 0 ? a.line[i] : b.line[j]);
        if (order <= 0)
            lines_skip(&a, &i);
        if (order >= 0)
            lines_skip(&b, &j);
    }
    lines_free(&a);
    lines_free(&b);
}

static void compare_key(const char *id, const char *key, const json_t *was,
                        const json_t *is)
{
    if (strcmp(key, "evidence") == 0) {
        compare_evidence(id, was, is);
        return;
    }
    char *const what = xasprintf("%s %s", id, key);
    compare_json(key, what, was, is);
    free(what);
}

static void compare_finding(const char *id, json_t *was, json_t *is)
{
    const char *key;
    json_t *value;
    json_object_foreach(was, key, value)
        compare_key(id, key, value, json_object_get(is, key));
    json_object_foreach(is, key, value) if (json_object_get(was, key) == NULL)
        compare_key(id, key, NULL, value);
}

/* A finding with a value is told by it; one without by why it has none. */
static void show_lone(const char *id, const char *what, const json_t *finding)
{
    const json_t *const value = json_object_get(finding, "value");
    char *const text =
        json_words(value != NULL ? value : json_object_get(finding, "because"));
    printf("%s: %s %s: %s ", run_name, id, what,
           json_string_value(json_object_get(finding, "status")));
    show_text(text, 0);
    putchar('\n');
    free(text);
}

static void compare_order(json_t *was, json_t *is)
{
    void *a = json_object_iter(was), *b = json_object_iter(is);
    while (a != NULL && b != NULL &&
           strcmp(json_object_iter_key(a), json_object_iter_key(b)) == 0) {
        a = json_object_iter_next(was, a);
        b = json_object_iter_next(is, b);
    }
    if (a != NULL && b != NULL && differs("order"))
        show_both("the order of findings, first", json_object_iter_key(a),
                  json_object_iter_key(b));
}

/* Returns how many there are. */
static size_t compare_findings(json_t *was, json_t *is)
{
    const char *id;
    json_t *finding;
    bool same = true;
    json_object_foreach(was, id, finding)
    {
        json_t *const other = json_object_get(is, id);
        same = same && other != NULL;
        if (other != NULL)
            compare_finding(id, finding, other);
        else if (differs("finding"))
            show_lone(id, "is gone", finding);
    }
    json_object_foreach(is, id, finding) if (json_object_get(was, id) == NULL &&
                                             differs("finding"))
        show_lone(id, "is new", finding);
    if (same && json_object_size(was) == json_object_size(is))
        compare_order(was, is);
    return json_object_size(is);
}

/* What says which program ran, when and where is no answer. */
static bool is_answer(const char *key)
{
    static const char *const others[] = {"schema", "sonde", "run", "findings"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return true;
}

/* As it is written now, whichever version it was written in; NULL: none. */
static json_t *report_of(const char *folder)
{
    char *const text = file_text(folder, run_name, "json");
    struct results results = {0};
    struct buf out = {0};
    struct error err;
    json_t *report = NULL;
    if (text != NULL && report_read(text, run_name, &results, &err) == 0) {
        report_json.write(&results, &(struct report_style){0}, &out, &err);
        report = json_loads(buf_string(&out), 0, NULL);
    }
    results_free(&results);
    buf_free(&out);
    free(text);
    return report;
}

static size_t compare_reports(const char *old, const char *new)
{
    json_t *const was = report_of(old), *const is = report_of(new);
    const char *key;
    json_t *value;
    size_t count = 0;
    if ((was == NULL || is == NULL) && differs("report"))
        printf("%s: no report in %s\n", run_name, was == NULL ? old : new);
    if (was != NULL && is != NULL) {
        json_object_foreach(is, key, value) if (is_answer(key))
            compare_json("report", key, json_object_get(was, key), value);
        count = compare_findings(json_object_get(was, "findings"),
                                 json_object_get(is, "findings"));
    }
    json_decref(was);
    json_decref(is);
    return count;
}

/* ---- folders ---------------------------------------------------------- */

static size_t runs, findings, uncompared, unasked;

/* Why a run cannot be compared; NULL if it can. */
static const char *excuse(const char *before, const char *now)
{
    if (before == NULL)
        return "the old folder has no such run";
    if (strcmp(before, "limit") == 0)
        return "it took longer than LIMIT before";
    if (strcmp(now, "limit") == 0)
        return "it took longer than LIMIT";
    return NULL;
}

static void compare_ended(const char *old, const char *new, const char *before,
                          const char *now)
{
    if (strcmp(before, now) != 0 && differs("end"))
        show_both("exit status", before, now);
    findings += compare_reports(old, new);
    compare_lines(old, new, "experiments");
    compare_lines(old, new, "ptx");
    runs++;
}

static void compare_run(const char *old, const char *new, const char *name)
{
    begin_run(name);
    struct lines was = lines_of(file_text(old, name, "end"));
    struct lines is = lines_of(file_text(new, name, "end"));
    const char *const before = was.count > 0 ? was.line[0] : NULL;
    const char *const now = is.count > 0 ? is.line[0] : "";
    const char *const why = excuse(before, now);
    if (why == NULL)
        compare_ended(old, new, before, now);
    else
        printf("%s: not compared: %s\n", name, why);
    uncompared += why != NULL;
    lines_free(&was);
    lines_free(&is);
}

static int is_end(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".end") == 0;
}

/* The names of the runs in a folder, sorted; -1 if it cannot be read. */
static int runs_of(const char *folder, struct dirent ***entries)
{
    const int count = scandir(folder, entries, is_end, alphasort);
    if (count < 0)
        fprintf(stderr, "same: %s cannot be read\n", folder);
    for (int i = 0; i < count; i++)
        *strrchr((*entries)[i]->d_name, '.') = '\0';
    return count;
}

static void runs_free(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static size_t runs_lacking(struct dirent **entries, int count, const char *new)
{
    size_t lacking = 0;
    for (int i = 0; i < count; i++) {
        char *const end = file_text(new, entries[i]->d_name, "end");
        lacking += end == NULL;
        free(end);
    }
    return lacking;
}

/* Says what differed, by kind; the exit status. */
static int conclude(void)
{
    int status = 0;
    printf("%zu runs, %zu findings compared", runs, findings);
    if (uncompared > 0)
        printf("; %zu runs not compared", uncompared);
    if (unasked > 0)
        printf("; %zu runs of the old folder were not asked for", unasked);
    for (size_t i = 0; i < KINDS_MOST; i++) {
        if (kinds[i].all == 0)
            continue;
        printf("; %zu differences of %s%s", kinds[i].all, kinds[i].name,
               kinds[i].ignored ? " (ignored)" : "");
        status = kinds[i].ignored ? status : 1;
    }
    printf("%s\n", status != 0 ? "" : runs > 0 ? ": the same" : "");
    return runs > 0 ? status : 2;
}

static int compare(const char *old, const char *new)
{
    struct dirent **was = NULL, **is = NULL;
    const int before = runs_of(old, &was), now = runs_of(new, &is);
    if (before < 0 || now < 0)
        return 2;
    for (int i = 0; i < now; i++)
        compare_run(old, new, is[i]->d_name);
    unasked = runs_lacking(was, before, new);
    runs_free(was, before);
    runs_free(is, now);
    return conclude();
}

/* ---- recordings ------------------------------------------------------- */

/* Prints what follows "experiment " in lines that begin so. */
static void print_experiments(char *text)
{
    static const char word[] = "experiment ";
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, word, sizeof word - 1) == 0)
            puts(line + sizeof word - 1);
}

static int texts(const char *path)
{
    struct buf packed = {0};
    struct error err;
    if (file_read(path, FILE_MOST, &packed, &err) != 0) {
        fprintf(stderr, "same: %s\n", err.text);
        return 2;
    }
    const unsigned long long length =
        ZSTD_getFrameContentSize(packed.data, packed.length);
    char *const text = xcalloc(length <= TEXT_MOST ? length + 1 : 1, 1);
    const bool good = length <= TEXT_MOST &&
                      !ZSTD_isError(ZSTD_decompress(text, length, packed.data,
                                                    packed.length));
    if (good)
        print_experiments(text);
    else
        fprintf(stderr, "same: %s is no recording\n", path);
    free(text);
    buf_free(&packed);
    return good ? 0 : 2;
}

int main(int argc, char **argv)
{
    const char *const most = getenv("MOST");
    if (most != NULL)
        most_shown = (size_t)strtoul(most, NULL, 10);
    if (argc == 4 && strcmp(argv[1], "compare") == 0)
        return compare(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "texts") == 0)
        return texts(argv[2]);
    fputs("usage: same compare OLD NEW | same texts FILE.rec\n", stderr);
    return 2;
}
