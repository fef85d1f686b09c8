#include "cli/gpus/session.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/gpus/alone.h"
#include "cli/gpus/devices.h"
#include "cli/gpus/several.h"
#include "cli/gpus/task.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/require.h"
#include "cli/say.h"

/* What a session tells while it runs. */
struct watcher {
    const struct options *options;
    struct sonde *session;
    bool announced;
};

/* How much of the reason why no GPU was taken is told in a line: what can be
 * done about it, which follows, is for those who ask for a GPU with -d; and of
 * what failed as much as fits. */
static int reason_length(const char *why)
{
    enum { FITS = 48 };
    const char *const advice = strstr(why, "; ");
    size_t length = advice != NULL ? (size_t)(advice - why) : strlen(why);
    for (size_t i = length; length > FITS && i-- > 1;)
        if (why[i] == ':')
            length = i;
    return (int)length;
}

/* Not silenced by -q: the numbers that follow are not of this machine. */
static void announce(struct watcher *w)
{
    const char *const why = sonde_device_why(w->session);
    if (!w->announced && why[0] != '\0') {
        say("no GPU is measured: %.*s", reason_length(why), why);
        say("the simulated %s is shown instead; choose with -d SPEC",
            sonde_device_spec(w->session));
    }
    w->announced = true;
}

/* "auto" asks for what no device at all does, and takes what comes. */
static bool is_auto(const struct options *o)
{
    return o->device != NULL && strcmp(o->device, "auto") == 0;
}

/* What a batch system puts into the environment of a job; NULL: it is none. */
static const char *job(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID",
                                        "LSB_JOBID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return names[i];
    return NULL;
}

/* Files outlive these notices, and nobody reads them in a job: there only a
 * simulated GPU that was asked for is measured. */
static bool may_simulate(const struct watcher *w)
{
    const struct options *const o = w->options;
    const char *const why = sonde_device_why(w->session);
    const char *const option = outputs_option(o) != NULL ? outputs_option(o)
                               : o->record != NULL       ? "--record"
                                                         : job();
    if (why[0] == '\0' || option == NULL || is_auto(o))
        return true;
    say("no GPU can be measured (%.*s), and with %s a simulated one is taken "
        "only if it is asked for, by -d sim:NAME or -d auto",
        reason_length(why), why, option);
    return false;
}

static int watch(void *context, const struct sonde_progress *progress)
{
    struct watcher *const w = context;
    announce(w);
    if (!w->options->quiet)
        progress_show(progress);
    return 0;
}

static int fail(int code, const struct sonde_error *err)
{
    say("%s", err->text);
    return sonde_exit_status(code);
}

enum { STOPPED = 1 }; /* exit status */

/* What was to be reported cannot get out, as where nobody reads a pipe. */
static void end_hard(int number)
{
    static const char text[] =
        "sonde: it was stopped, and could not end by itself\n";
    (void)number;
    /* Whether anybody hears it is all the same. */
    const ssize_t told = write(STDERR_FILENO, text, sizeof text - 1);
    (void)told;
    _exit(STOPPED);
}

/* The first signal ends measuring, and what is there is reported, within ten
 * seconds, which a busy host's largest recording takes; a second interrupt ends
 * the process.  What ends others, as timeout(1) does, may tell the process and
 * its group, which is the same twice: nobody presses keys so fast. */
static void stop_softly(int number)
{
    enum { PATIENCE_S = 10, TWICE_MS = 100 };
    static atomic_llong first_ms;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long ms = 1000LL * now.tv_sec + now.tv_nsec / 1000000;
    long long before = 0;
    if (atomic_compare_exchange_strong(&first_ms, &before, ms)) {
        sonde_stop(NULL);
        signal(SIGALRM, end_hard);
        alarm(PATIENCE_S);
    } else if (number == SIGINT && ms - before > TWICE_MS) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT); /* as soon as this returns */
    }
}

/* Unless whoever started us wants the signal ignored (nohup, a shell's &). */
static void catch_signal(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || now.sa_handler == SIG_IGN)
        return;
    struct sigaction soft = {.sa_handler = stop_softly, .sa_flags = SA_RESTART};
    sigaction(number, &soft, NULL);
}

enum { NO_DEVICE = 3 }; /* exit status */

static int open_session(const struct options *o, struct watcher *w)
{
    const struct sonde_options options = {
        .device = is_auto(o) ? NULL : o->device,
        .record = o->record,
        .seed = o->seed,
        .budget_s = o->budget_s,
        .no_cache = o->no_cache > 0,
        .command = o->command,
        .command_count = o->command_count,
        .progress = watch,
        .context = w,
    };
    struct sonde_error err;
    /* Until it is open there is nothing to report, and a signal ends all. */
    const int code = sonde_open(&w->session, &options, &err);
    if (code != 0)
        return fail(code, &err);
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
    if (may_simulate(w))
        return 0;
    sonde_close(w->session, NULL);
    return NO_DEVICE;
}

/* The worse of two exit statuses: they are ordered so. */
static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int close_session(struct watcher *w)
{
    struct sonde_error err;
    const int code = sonde_close(w->session, &err);
    return code == 0 ? 0 : fail(code, &err);
}

static int make_report(const void *session, const char *format,
                       const struct sonde_style *style, char **text,
                       struct sonde_error *err)
{
    return sonde_report(session, format, style, text, err);
}

/* What is measured of a GPU, and how it is shown. */
struct job {
    session_act *measure;
    const void *context;
    const char *format;
    bool tree;
    struct task task; /* that it is for */
    bool by_place;    /* GPUs are numbered as they stand in the list */
};

static int write_reports(const struct options *o, const struct job *job,
                         const struct sonde *session)
{
    return outputs_write(o, &(struct shown){.format = job->format,
                                            .tree = job->tree,
                                            .only_files = job->format == NULL,
                                            .make = make_report,
                                            .from = session});
}

static int measure_open(const struct options *o, struct watcher *w,
                        const struct job *job)
{
    struct sonde_error err;
    const int code = job->measure(w->session, job->context, &err);
    progress_clear();
    int status = code < 0 ? fail(code, &err) : code;
    /* What failed half-way leaves findings; a typing error none. */
    if ((status != 2 && status != 3) || sonde_found(w->session) > 0) {
        announce(w);
        status = worse(status, write_reports(o, job, w->session));
        status = worse(status, require_status(o, w->session));
    }
    if (!o->quiet && alone_disturbed())
        say("another sonde measured this GPU at the same time");
    return status;
}

/* What tells the GPU from all others of the host.  A simulated one is shared
 * only by tasks of one launcher, and one of a driver that the user names by
 * those of one parent. */
static bool name_gpu(const struct sonde *session, const struct job *job,
                     bool one_of_many, char gpu[static 128])
{
    const char *const uuid = sonde_device_uuid(session);
    const bool own_driver = getenv("SONDE_LIBCUDA") != NULL;
    const bool together = job->task.variable != NULL || one_of_many;
    if (uuid[0] != '\0' && !own_driver)
        snprintf(gpu, 128, "%s", uuid);
    else if (uuid[0] != '\0' && together)
        snprintf(gpu, 128, "%s of %ld", uuid, (long)getppid());
    else if (job->task.variable != NULL)
        snprintf(gpu, 128, "%s of %ld", sonde_device_spec(session),
                 (long)getppid());
    else
        return false;
    return true;
}

/* Two tasks may have taken one GPU, or somebody else has. */
static void look_for_others(const struct options *o, const struct job *job,
                            const struct sonde *session)
{
    char gpu[128];
    if (name_gpu(session, job, o->one_of_many, gpu) && alone_taken(gpu) &&
        !o->quiet)
        say("another sonde measures this GPU (%s) now: each disturbs the other",
            sonde_device_spec(session));
}

/* "sim:pair:1" is GPU 1 of its host. */
static const char *number_in_host(const char *spec)
{
    if (strncmp(spec, "sim:", 4) != 0)
        return NULL;
    const char *const number = strrchr(spec, ':') + 1;
    return number > spec + 4 && number[0] != '\0' &&
                   number[strspn(number, "0123456789")] == '\0'
               ? number
               : NULL;
}

/* Its number on the host: that of the driver, before CUDA_VISIBLE_DEVICES; of
 * what has none its place in the list. */
static size_t number_of(const char *spec, size_t index)
{
    const char *at = getenv("CUDA_VISIBLE_DEVICES");
    if (number_in_host(spec) != NULL)
        return strtoul(number_in_host(spec), NULL, 10);
    if (strncmp(spec, "cuda:", 5) != 0 || spec[5] < '0' || spec[5] > '9')
        return index;
    const size_t shown = strtoul(spec + 5, NULL, 10);
    for (size_t i = 0; at != NULL && *at >= '0' && *at <= '9'; i++) {
        if (i == shown)
            return strtoul(at, NULL, 10);
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return shown;
}

/* Names of files must tell the GPUs of a list apart, which may be of several
 * hosts: then each has its place as its number. */
static bool is_number_twice(const struct devices *d)
{
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < i; k++)
            if (number_of(d->specs[i], i) == number_of(d->specs[k], k))
                return true;
    return false;
}

/* That of a task is its rank, which is the task's alone. */
static size_t number_among(const struct job *job, const char *spec,
                           size_t index)
{
    if (job->task.variable != NULL)
        return job->task.rank;
    return spec == NULL || job->by_place ? index : number_of(spec, index);
}

static int measure_one(const struct options *all, const char *spec,
                       size_t index, const void *context)
{
    const struct job *const job = context;
    struct options o = *all;
    struct pattern_names names = {.index = number_among(job, spec, index)};
    char *const record = pattern_fill(all->record, &names);
    o.device = spec;
    o.record = record;
    struct watcher w = {.options = &o};
    int status = open_session(&o, &w);
    free(record);
    if (status != 0)
        return status;
    const char *const uuid = sonde_device_uuid(w.session);
    names.uuid = uuid[0] != '\0' ? uuid : sonde_device_spec(w.session);
    struct options named = outputs_named(&o, &names);
    /* A recording takes nothing of the GPU that it is of. */
    if (spec == NULL || strncmp(spec, "replay:", 7) != 0)
        look_for_others(&o, job, w.session);
    status = outputs_check_named(&named) ? measure_open(&named, &w, job) : 2;
    outputs_free(&named);
    return worse(status, close_session(&w));
}

/* One GPU of those that there are; which, is said. */
static void take_own(const struct options *o, struct devices *d,
                     const struct task *t)
{
    const size_t own = t->rank % d->count;
    char *const spec = d->specs[own];
    if (!o->quiet)
        say("task %zu on this host (%s) takes %s", t->rank, t->variable, spec);
    if (!o->quiet && t->size > d->count)
        say("%zu tasks share %zu GPUs on this host: %s is not this one's alone",
            t->size, d->count, spec);
    d->specs[own] = d->specs[0];
    d->specs[0] = spec;
    while (d->count > 1)
        free(d->specs[--d->count]);
}

/* A task that names no GPU takes its own of all, if there are any. */
static int choose(const struct options *o, struct devices *d,
                  const struct task *t)
{
    const int status = devices_named(o->device, d);
    if (status != 0 || t->variable == NULL)
        return status;
    if (o->device == NULL && devices_all(d) != 0)
        return 4;
    if (d->listed && d->count > 0)
        take_own(o, d, t);
    return 0;
}

static int measure_all(const struct options *o, struct devices *d,
                       struct job *job)
{
    job->by_place = is_number_twice(d);
    struct options one = *o;
    const bool several = d->count > 1;
    one.one_of_many = several || job->task.variable != NULL;
    /* What each puts out goes through a pipe, of which it cannot tell. */
    if (several && outputs_colored(o))
        one.color = "always";
    if (several)
        return outputs_check_several(o) ? several_run(&one, d, measure_one, job)
                                        : 2;
    return measure_one(&one, d->count > 0 ? d->specs[0] : NULL, 0, job);
}

static int measure_and_show(const struct options *o, struct job job)
{
    struct devices devices = {0};
    if (!outputs_check(o) || !require_check(o))
        return 2;
    if (o->given & OPTION_BIT(JOBS) && o->jobs == 0) {
        say("--jobs takes 1 or more GPUs at a time");
        return 2;
    }
    job.task = task_of_environment();
    int status = choose(o, &devices, &job.task);
    if (status == 0)
        status = measure_all(o, &devices, &job);
    devices_free(&devices);
    return status;
}

struct studies {
    const char *const *names;
    size_t count;
};

static int run_studies(struct sonde *session, const void *context,
                       struct sonde_error *err)
{
    const struct studies *const s = context;
    return sonde_run(session, s->names, s->count, err);
}

int session_measure(const struct options *o, const char *const *studies,
                    size_t count)
{
    const struct studies context = {studies, count};
    return measure_and_show(o, (struct job){.measure = run_studies,
                                            .context = &context,
                                            .format = "txt"});
}

int session_measure_tree(const struct options *o, session_act *measure)
{
    return measure_and_show(
        o, (struct job){.measure = measure, .format = "txt", .tree = true});
}

int session_measure_with(const struct options *o, session_act *measure,
                         const void *context, const char *format)
{
    return measure_and_show(
        o,
        (struct job){.measure = measure, .context = context, .format = format});
}

int session_print_with(const struct options *o,
                       int (*make)(struct sonde *session, const void *context,
                                   char **text, struct sonde_error *err),
                       const void *context)
{
    struct watcher w = {.options = o};
    if (!outputs_check(o))
        return 2;
    if (devices_is_list(o->device)) {
        say("this is of one GPU, as -d cuda:0, not of '%s'", o->device);
        return 2;
    }
    int status = open_session(o, &w);
    if (status != 0)
        return status;
    char *text = NULL;
    struct sonde_error err;
    const int code = make(w.session, context, &text, &err);
    progress_clear();
    if (code >= 0) {
        announce(&w);
        status = say_result(text);
    } else {
        status = fail(code, &err);
    }
    free(text);
    return worse(status, close_session(&w));
}

struct words {
    const struct options *options;
    session_words *act;
};

static int act_on_words(struct sonde *session, const void *context, char **text,
                        struct sonde_error *err)
{
    const struct words *const w = context;
    return w->act(session, w->options->words[0], w->options->words + 1,
                  w->options->word_count - 1, text, err);
}

int session_print(const struct options *o, session_words *act)
{
    return session_print_with(o, act_on_words, &(struct words){o, act});
}
