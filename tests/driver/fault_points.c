#include "fault_points.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stop.h"
#include "schema.h"

const char *const fault_kind_names[FAULT_KINDS] = {
    "a code once", "a code from then on", "context lost",
    "no return",   "garbage given",       "entry point missing",
};

/* What is run, in the planner's order: loads of each kind, textures, shared
 * memory, in a tenth of a second.  `sector` stands here since `sharing` needs it:
 * what the first n run must be what all run first, or calls would be taken for
 * those of another study (run_clean sees to that). */
static const char *const studies[] = {"clock", "cached", "sector", "banks",
                                      "sharing"};
enum { STUDIES = COUNT_OF(studies), ENTRIES_MOST = 128 };

struct calls {
    char entry[64];
    int of[STUDIES + 1]; /* [0] of opening, then with so many studies */
};

struct fault_rig {
    char *build, *folder;
    struct calls calls[ENTRIES_MOST];
    size_t count;
    json_t *clean; /* findings */
    double clean_s;
};

/* ---- a run ------------------------------------------------------------- */

/* How one ended. */
struct run {
    int status;  /* as waitpid tells */
    bool killed; /* it did not end */
    double s;
    double wait_s; /* after it was interrupted */
};

static double last_wait_s;

double fault_last_wait(void)
{
    return last_wait_s;
}

static char *path_in(const struct fault_rig *rig, const char *name)
{
    return xasprintf("%s/%s", rig->folder, name);
}

static void set_path(const char *variable, char *path)
{
    setenv(variable, path, 1);
    free(path);
}

/* In the child. */
static void become_sonde(const struct fault_rig *rig, const char *fault,
                         const char *libraries, const char *command,
                         size_t count)
{
    const char *words[16] = {"sonde", command};
    size_t n = 2;
    char *const sonde = xasprintf("%s/sonde", rig->build);
    for (size_t i = 0; i < count; i++)
        words[n++] = studies[i];
    char *const json = path_in(rig, "report.json");
    /* Without a fault it tells which studies ran (read_order). */
    const char *const rest[] = {"-d", "cuda:0", fault[0] == '\0' ? "-v" : "-q"};
    for (size_t i = 0; i < COUNT_OF(rest); i++)
        words[n++] = rest[i];
    if (strcmp(command, "run") == 0) {
        words[n++] = "--json";
        words[n++] = json;
    }
    set_path("SONDE_LIBCUDA", xasprintf("%s/libcuda.so.1", libraries));
    set_path("SONDE_LIBNVML", xasprintf("%s/libnvidia-ml.so.1", libraries));
    setenv("FAULT_PROFILE", "./tests/driver/faulty/gpu.json", 1);
    set_path("FAULT_COUNTS", path_in(rig, "counts"));
    set_path("FAULT_TELL", path_in(rig, "hangs"));
    /* No kernel is kept: each run assembles as the first one did. */
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    /* What a driver holds for a context that is lost is its own. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
    unsetenv("FAULT");
    if (fault[0] != '\0')
        setenv("FAULT", fault, 1);
    char *const out = path_in(rig, "out"), *const err = path_in(rig, "err");
    signal(SIGINT, SIG_DFL);
    if (freopen(out, "w", stdout) != NULL && freopen(err, "w", stderr) != NULL)
        execv(sonde, (char *const *)words);
    _exit(127);
}

static bool is_there(const struct fault_rig *rig, const char *name)
{
    char *const path = path_in(rig, name);
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static void remove_file(const struct fault_rig *rig, const char *name)
{
    char *const path = path_in(rig, name);
    unlink(path);
    free(path);
}

/* Longer than a machine needs that does ten things at once. */
static const double most_s = 60;

/* Interrupts it, once, as soon as a call hangs. */
static void await(const struct fault_rig *rig, pid_t child, struct run *run)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    const double begun = now_seconds();
    double interrupted = 0;
    while (waitpid(child, &run->status, WNOHANG) == 0) {
        if (interrupted <= 0 && is_there(rig, "hangs")) {
            kill(child, SIGINT);
            interrupted = now_seconds();
        }
        if (now_seconds() - begun > most_s && !run->killed) {
            run->killed = true;
            kill(child, SIGKILL);
        }
        nanosleep(&nap, NULL);
    }
    run->s = now_seconds() - begun;
    run->wait_s = interrupted > 0 ? now_seconds() - interrupted : 0;
    last_wait_s = run->wait_s;
}

static struct run run_sonde(const struct fault_rig *rig, const char *fault,
                            const char *libraries, const char *command,
                            size_t count)
{
    static const char *const files[] = {"report.json", "counts", "hangs", "out",
                                        "err"};
    struct run run = {0};
    for (size_t i = 0; i < COUNT_OF(files); i++)
        remove_file(rig, files[i]);
    const pid_t child = fork();
    if (child == 0)
        become_sonde(rig, fault, libraries, command, count);
    await(rig, child, &run);
    return run;
}

/* ---- without faults ---------------------------------------------------- */

static char *good_libraries(const struct fault_rig *rig)
{
    return xasprintf("%s/tests/faulty", rig->build);
}

static struct calls *calls_of(struct fault_rig *rig, const char *entry)
{
    size_t i = 0;
    while (i < rig->count && strcmp(rig->calls[i].entry, entry) != 0)
        i++;
    if (i == rig->count && rig->count < ENTRIES_MOST)
        snprintf(rig->calls[rig->count++].entry, sizeof rig->calls[i].entry,
                 "%s", entry);
    return &rig->calls[i];
}

static bool read_counts(struct fault_rig *rig, size_t run)
{
    char *const path = path_in(rig, "counts");
    FILE *const file = fopen(path, "r");
    char entry[64];
    int calls;
    free(path);
    if (file == NULL)
        return false;
    while (fscanf(file, "%63s %d", entry, &calls) == 2)
        calls_of(rig, entry)->of[run] = calls;
    fclose(file);
    return true;
}

static json_t *read_report(const struct fault_rig *rig, json_error_t *why)
{
    char *const path = path_in(rig, "report.json");
    json_t *const report = json_load_file(path, JSON_REJECT_DUPLICATES, why);
    free(path);
    return report;
}

/* Appends the studies of a run, a line each, in the order in which they ran, but
 * for the verdict, which calls nothing and comes last. */
static void read_order(const struct fault_rig *rig, struct buf *order)
{
    char *const path = path_in(rig, "err");
    FILE *const file = fopen(path, "r");
    char line[512], name[64];
    free(path);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "sonde: study %63[^:]:", name) == 1 &&
            strcmp(name, "verdict") != 0)
            buf_printf(order, "%s\n", name);
    if (file != NULL)
        fclose(file);
}

/* Whether the latest run began with all that the run before it did, and then did
 * more; `before` becomes its own. */
static bool goes_on(const struct fault_rig *rig, struct buf *before)
{
    struct buf now = {0};
    read_order(rig, &now);
    const bool on =
        now.length > before->length &&
        (before->length == 0 ||
         memcmp(now.data, before->data, before->length) == 0);
    buf_free(before);
    *before = now;
    return on;
}

static bool run_clean(struct fault_rig *rig)
{
    char *const libraries = good_libraries(rig);
    struct buf order = {0};
    bool good = true;
    for (size_t n = 0; good && n <= STUDIES; n++) {
        const struct run run = n == 0 ? run_sonde(rig, "", libraries, "ptx", 1)
                                      : run_sonde(rig, "", libraries, "run", n);
        rig->clean_s = run.s;
        good = run.status == 0 && read_counts(rig, n) &&
               (n == 0 || goes_on(rig, &order));
    }
    buf_free(&order);
    json_error_t why;
    json_t *const report = good ? read_report(rig, &why) : NULL;
    rig->clean = json_incref(json_object_get(report, "findings"));
    json_decref(report);
    free(libraries);
    return rig->clean != NULL;
}

struct fault_rig *fault_rig_new(const char *build, const char *folder)
{
    struct fault_rig *const rig = xcalloc(1, sizeof *rig);
    rig->build = xstrdup(build);
    rig->folder = xstrdup(folder);
    if (run_clean(rig))
        return rig;
    fprintf(stderr,
            "faults: %s/sonde fails without any, or runs studies in another "
            "order (%s/err)\n",
            build, folder);
    fault_rig_free(rig);
    return NULL;
}

void fault_rig_free(struct fault_rig *rig)
{
    json_decref(rig->clean);
    free(rig->folder);
    free(rig->build);
    free(rig);
}

/* ---- points ------------------------------------------------------------ */

/* Bad value, no memory, no GPU, bad PTX, unsupported, unknown. */
static const int codes[] = {1, 2, 100, 218, 801, 999};
static const int losses[] = {4, 700, 719};

static void add(struct fault_points *points, const struct fault_point *point)
{
    points->at =
        xreallocarray(points->at, points->count + 1, sizeof *points->at);
    points->at[points->count++] = *point;
}

static void add_fault(struct fault_points *points, enum fault_kind kind,
                      const char *entry, const char *fault, int call)
{
    struct fault_point p = {.kind = kind, .call = call};
    snprintf(p.entry, sizeof p.entry, "%s", entry);
    if (fault[0] != '\0')
        snprintf(p.what, sizeof p.what, "%s:%s@%d%s", entry, fault, call,
                 kind == FAULT_STAYS ? "+" : "");
    add(points, &p);
}

/* At one call, and from it on. */
static void add_at(struct fault_points *points, const char *entry, int call)
{
    char fault[32];
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        snprintf(fault, sizeof fault, "%d", codes[i]);
        add_fault(points, FAULT_PASSES, entry, fault, call);
        add_fault(points, FAULT_STAYS, entry, fault, call);
    }
    for (size_t i = 0; i < COUNT_OF(losses) && entry[0] == 'c'; i++) {
        snprintf(fault, sizeof fault, "lost:%d", losses[i]);
        add_fault(points, FAULT_LOSES, entry, fault, call);
    }
    for (int kind = 0; kind < 4; kind++) {
        snprintf(fault, sizeof fault, "garbage:%d", kind);
        add_fault(points, FAULT_GARBAGE, entry, fault, call);
    }
    add_fault(points, FAULT_HANGS, entry, "hang", call);
}

/* The first calls, the last ones, and some between, among them the first after
 * opening. */
static void add_entry(struct fault_points *points, const struct calls *calls)
{
    const int all = calls->of[STUDIES];
    const int at[] = {1,       2,           calls->of[0] + 1, all / 4,
                      all / 2, all / 4 * 3, all - 1,          all};
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        bool again = at[i] < 1 || at[i] > all;
        for (size_t k = 0; k < i; k++)
            again = again || at[k] == at[i];
        if (!again)
            add_at(points, calls->entry, at[i]);
    }
    if (all > 0)
        add_fault(points, FAULT_LACKS, calls->entry, "", 0);
}

struct fault_points fault_points_of(const struct fault_rig *rig)
{
    struct fault_points points = {0};
    for (size_t i = 0; i < rig->count; i++)
        add_entry(&points, &rig->calls[i]);
    return points;
}

/* ---- a library without an entry point ---------------------------------- */

static bool belongs_to(const char *library, const char *entry)
{
    return (strstr(library, "nvidia-ml") != NULL) ==
           (strncmp(entry, "nvml", 4) == 0);
}

/* Changes the name where it stands as a string of its own. */
static void hide(struct buf *library, const char *name)
{
    const size_t length = strlen(name) + 2; /* a NUL on either side */
    for (size_t at = 0; at + length <= library->length; at++)
        if (library->data[at] == '\0' &&
            memcmp(library->data + at + 1, name, length - 1) == 0)
            library->data[at + 1] = 'X';
}

static void copy_without(const struct fault_rig *rig, const char *name,
                         const char *entry)
{
    struct buf library = {0};
    struct error err;
    char *const from = xasprintf("%s/tests/faulty/%s", rig->build, name);
    char *const to = path_in(rig, name);
    if (file_read(from, 1 << 26, &library, &err) == 0) {
        if (belongs_to(name, entry))
            hide(&library, entry);
        file_write(to, library.data, library.length, &err);
    }
    buf_free(&library);
    free(from);
    free(to);
}

/* The folder of the libraries for a point. */
static char *libraries_for(const struct fault_rig *rig,
                           const struct fault_point *p)
{
    if (p->kind != FAULT_LACKS)
        return good_libraries(rig);
    copy_without(rig, "libcuda.so.1", p->entry);
    copy_without(rig, "libnvidia-ml.so.1", p->entry);
    return xstrdup(rig->folder);
}

/* ---- what must hold ---------------------------------------------------- */

static const char *text_of(const json_t *finding, const char *key)
{
    const char *const text = json_string_value(json_object_get(finding, key));
    return text != NULL ? text : "";
}

/* What is called at the end, too, or before the first study for all. */
static bool is_any_time(const char *entry)
{
    static const char *const names[] = {"cuMemFree_v2",    "cuModuleUnload",
                                        "cuCtxDestroy_v2", "cuEventDestroy_v2",
                                        "cuCtxSetCurrent", "nvmlShutdown"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], entry) == 0)
            return true;
    return strncmp(entry, "cuLink", 6) == 0 ||
           strncmp(entry, "cuGetError", 10) == 0;
}

/* How many studies had ended before the fault; -1: it was not even open. */
static int studies_before(const struct fault_rig *rig,
                          const struct fault_point *p)
{
    const struct calls *const c =
        calls_of((struct fault_rig *)(uintptr_t)rig, p->entry);
    int n = -1;
    if (p->kind == FAULT_LACKS)
        return -1;
    if (is_any_time(p->entry))
        return p->call > c->of[0] ? 0 : -1;
    while (n < (int)STUDIES && p->call > c->of[n + 1])
        n++;
    return n;
}

static int study_number(const char *name)
{
    for (int i = 0; i < (int)STUDIES; i++)
        if (strcmp(studies[i], name) == 0)
            return i;
    return STUDIES;
}

/* What ends the same whatever fails. */
static bool leaves_no_mark(const struct fault_point *p)
{
    return p->kind == FAULT_PASSES || p->kind == FAULT_LOSES;
}

/* A driver that goes on saying that the GPU has no such thing, or does not know
 * of it, is believed: of those that share a cache that thing is none. */
static bool says_it_has_not(const struct fault_point *p)
{
    return p->kind == FAULT_LACKS ||
           (p->kind == FAULT_STAYS && strstr(p->what, ":801@") != NULL);
}

static char *compare_finding(const struct fault_point *p, int before,
                             const char *id, const json_t *clean,
                             const json_t *found)
{
    const json_t *const value = json_object_get(found, "value");
    const bool same =
        json_equal(json_object_get(clean, "value"), value) == 1 &&
        strcmp(text_of(clean, "status"), text_of(found, "status")) == 0;
    const bool had_ended = study_number(text_of(clean, "study")) < before;
    const bool has_value = value != NULL && !json_is_null(value);
    if (same || (!has_value && json_object_get(clean, "value") == NULL))
        return NULL;
    if (had_ended || leaves_no_mark(p))
        return xasprintf("%s is not what it was: %s %s", id,
                         text_of(found, "status"), text_of(found, "because"));
    if (has_value && strcmp(text_of(found, "status"), "in_doubt") != 0 &&
        !says_it_has_not(p))
        return xasprintf("%s has another value", id);
    if (!has_value && text_of(found, "because")[0] == '\0')
        return xasprintf("%s does not say why it was not measured", id);
    return NULL;
}

static bool cannot_be(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (cannot_be(json_array_get(value, i)))
            return true;
    const double number = json_number_value(value);
    return json_is_number(value) && !(number >= 0 && number < 1e300);
}

static char *compare_findings(const struct fault_rig *rig,
                              const struct fault_point *p,
                              const json_t *findings)
{
    const int before = studies_before(rig, p);
    const char *id;
    json_t *finding;
    if (p->kind == FAULT_GARBAGE) {
        json_object_foreach((json_t *)(uintptr_t)findings, id, finding)
        {
            if (cannot_be(json_object_get(finding, "value")))
                return xasprintf("%s cannot be", id);
        }
        return NULL;
    }
    json_object_foreach(rig->clean, id, finding)
    {
        const json_t *const found = json_object_get(findings, id);
        char *const wrong =
            found == NULL ? xasprintf("%s is missing", id)
                          : compare_finding(p, before, id, finding, found);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

/* Without a report there is a sentence, and the GPU was not open. */
static char *judge_sentence(const struct fault_rig *rig,
                            const struct fault_point *p, int status)
{
    struct buf said = {0};
    struct error err;
    char *const path = path_in(rig, "err");
    file_read(path, 1 << 20, &said, &err);
    const bool sentence = said.length > 0;
    buf_free(&said);
    free(path);
    if (status == 0)
        return xstrdup("status 0 and no report");
    if (!sentence)
        return xstrdup("neither a report nor a sentence");
    if (studies_before(rig, p) >= 0)
        return xstrdup("no report, though the GPU was open");
    return NULL;
}

static char *judge_report(const struct fault_rig *rig,
                          const struct fault_point *p)
{
    json_error_t why;
    json_t *const report = read_report(rig, &why);
    if (report == NULL)
        return xasprintf("the report is no JSON: %s", why.text);
    char *const wrong =
        schema_fits(report)
            ? compare_findings(rig, p, json_object_get(report, "findings"))
            : xstrdup("the report does not fit its schema");
    json_decref(report);
    return wrong;
}

/* What may be added where other processes have the machine. */
static const double busy_s = 2;

static char *judge(const struct fault_rig *rig, const struct fault_point *p,
                   const struct run *run)
{
    if (run->killed)
        return xstrdup("it did not end");
    /* Until it is open there is nothing to report, and a signal ends all. */
    if (p->kind == FAULT_HANGS && studies_before(rig, p) < 0 &&
        WIFSIGNALED(run->status) && WTERMSIG(run->status) == SIGINT)
        return NULL;
    if (!WIFEXITED(run->status))
        return xasprintf("ended by signal %d", WTERMSIG(run->status));
    const int status = WEXITSTATUS(run->status);
    if (status > 4)
        return xasprintf("status %d", status);
    if (p->kind == FAULT_HANGS && run->wait_s <= 0 && status != 0)
        return xstrdup("it was never in that call");
    if (run->wait_s > 1 + busy_s)
        return xasprintf("it ended %.1f s after it was interrupted",
                         run->wait_s);
    if (run->wait_s <= 0 && run->s > 10 * rig->clean_s + 2 * busy_s)
        return xasprintf("it took %.1f s", run->s);
    if (!is_there(rig, "report.json"))
        return judge_sentence(rig, p, status);
    if (leaves_no_mark(p) && status != 0)
        return xasprintf("status %d, though it passed", status);
    return judge_report(rig, p);
}

char *fault_try(const struct fault_rig *rig, const struct fault_point *p)
{
    char *const libraries = libraries_for(rig, p);
    const struct run run = run_sonde(rig, p->what, libraries, "run", STUDIES);
    free(libraries);
    return judge(rig, p, &run);
}

char *fault_command(const struct fault_rig *rig, const struct fault_point *p)
{
    if (p->kind == FAULT_LACKS)
        return xasprintf("(a library without %s)", p->entry);
    return xasprintf("FAULT=%s FAULT_PROFILE=./tests/driver/faulty/gpu.json "
                     "SONDE_LIBCUDA=%s/tests/faulty/libcuda.so.1 "
                     "SONDE_LIBNVML=%s/tests/faulty/libnvidia-ml.so.1 "
                     "%s/sonde run clock cached sector banks sharing -d cuda:0 "
                     "--no-cache --json -",
                     p->what, rig->build, rig->build, rig->build);
}
