/*
 * The library's face (sonde.h): a session is a device or a recording, a lab on
 * it, and the results so far.
 */
#include "api/session.h"
#include "api/names.h"
#include "api/probe_summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/aside.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "device/device.h"
#include "probe/record.h"
#include "probe/run.h"
#include "report/report.h"
#include "study/lab.h"

_Static_assert((int)SONDE_WARN == (int)LOG_WARN &&
                   (int)SONDE_DEBUG == (int)LOG_DEBUG,
               "the log levels of the library are those of base/log.h");
_Static_assert(sizeof(struct sonde_error) == sizeof(struct error),
               "a sentence fits whole");

int session_hand_out(int code, const struct error *from,
                     struct sonde_error *err)
{
    if (code != 0 && err != NULL) {
        err->code = from->code;
        memcpy(err->text, from->text, sizeof err->text);
    }
    return code;
}

int session_out_of_memory(struct sonde_error *err)
{
    struct error why;
    return session_hand_out(mem_error(&why), &why, err);
}

int session_lacks(const char *function, const char *what,
                  struct sonde_error *err)
{
    struct error why;
    error_set(&why, ERR_USAGE, "%s was given NULL for %s", function, what);
    return session_hand_out(why.code, &why, err);
}

bool session_words(const char *const *words, size_t count)
{
    if (words == NULL)
        return count == 0;
    while (count > 0 && words[count - 1] != NULL)
        count--;
    return count == 0;
}

/* What builds reports must not leave out what it has no room for. */
void session_reserve(void)
{
    mem_reserve();
    json_set_alloc_funcs(mem_try, free);
}

int sonde_exit_status(int code)
{
    return code > 0 ? 1 : error_exit_status(code);
}

const char *sonde_version(void)
{
    return SONDE_VERSION;
}

const char *sonde_commit(void)
{
    return SONDE_COMMIT;
}

static void (*user_sink)(enum sonde_log_level level, const char *text);

static void pass_on(enum log_level level, const char *text)
{
    MEM_FOREIGN(user_sink((enum sonde_log_level)level, text));
}

void sonde_log(void (*sink)(enum sonde_log_level level, const char *text))
{
    user_sink = sink;
    log_to(sink != NULL ? pass_on : NULL);
}

void sonde_stop(struct sonde *s)
{
    if (s != NULL)
        stop_one(s->ticket);
    else
        stop_request();
}

bool sonde_hangs(void)
{
    return aside_was_left();
}

/* Sooner one study, the first, would say how long all take. */
#define GUESS_AFTER_S 1.0

/* ---- opening and closing ---------------------------------------------- */

/* By how long it took until now; a budget ends it sooner. */
static double seconds_left(const struct sonde *s)
{
    const struct sonde_progress *const p = &s->progress;
    double left = NAN;
    if (p->seconds >= GUESS_AFTER_S && p->part > 0)
        left = p->seconds * (1 - p->part) / p->part;
    return s->budget_s > 0 ? fmin(left, fmax(0, s->budget_s - p->seconds))
                           : left;
}

static void tell_progress(struct sonde *s)
{
    if (s->watch == NULL)
        return;
    s->progress.experiments = prober_experiments(s->prober);
    s->progress.seconds = now_seconds() - s->started;
    s->progress.part = progress_over(&s->part, s->progress.experiments);
    s->progress.left = seconds_left(s);
    int status = 0;
    MEM_FOREIGN(status = s->watch(s->context, &s->progress));
    if (status != 0)
        stop_one(s->ticket);
}

static void watch_experiment(void *context, const char *experiment)
{
    struct sonde *const s = context;
    s->progress.experiment = experiment;
    tell_progress(s);
}

static void watch_study(void *context, const struct study *study, size_t done,
                        size_t total)
{
    struct sonde *const s = context;
    s->progress.study = study->name;
    s->progress.experiment = NULL; /* its name went with the last study */
    s->progress.done = done;
    s->progress.total = total;
    progress_study(&s->part, study, done, total, prober_experiments(s->prober));
    tell_progress(s);
}

/* How the device is set, as far as it tells. */
static void describe_settings(struct results *results,
                              const struct device_info *info)
{
    static const struct {
        const char *key;
        enum device_property property;
        bool is_switch;
    } rows[] = {
        {"sm_clock_hz", PROPERTY_CLOCK, false},
        {"memory_clock_hz", PROPERTY_MEMORY_CLOCK, false},
        {"ecc", PROPERTY_ECC, true},
        {"mig", PROPERTY_MIG, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const int64_t value = info->value[rows[i].property];
        if (value >= 0)
            results_device(results, rows[i].key,
                           rows[i].is_switch ? value_bool(value != 0)
                                             : value_number((double)value));
    }
    if (info->power_limit_w > 0)
        results_device(results, "power_limit_w",
                       value_number(info->power_limit_w));
}

/* What every report says of the device. */
static void describe(struct results *results, const struct device_info *info)
{
    char cc[16];
    snprintf(cc, sizeof cc, "%d.%d", info->cc_major, info->cc_minor);
    results_device(results, "spec", value_text(info->spec));
    results_device(results, "name", value_text(info->name));
    if (info->architecture[0] != '\0')
        results_device(results, "architecture", value_text(info->architecture));
    results_device(results, "compute_capability", value_text(cc));
    if (info->release[0] != '\0')
        results_device(results, "driver", value_text(info->release));
    if (info->driver[0] != '\0')
        results_device(results, "cuda", value_text(info->driver));
    if (info->uuid[0] != '\0')
        results_device(results, "uuid", value_text(info->uuid));
    if (info->pci[0] != '\0')
        results_device(results, "pci", value_text(info->pci));
    describe_settings(results, info);
}

static void describe_host(struct results *results)
{
    struct utsname host;
    if (uname(&host) != 0)
        return;
    char *const system =
        xasprintf("%s %s %s", host.sysname, host.release, host.machine);
    results_run(results, "host", value_text(host.nodename));
    results_run(results, "system", value_text(system));
    free(system);
}

/* What a report says of the run; seconds follow when something has run. */
static void describe_run(struct sonde *s, uint64_t seed)
{
    char start[32];
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL &&
        strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        results_run(&s->results, "start", value_text(start));
    results_run(&s->results, "seconds", value_number(0));
    describe_host(&s->results);
    results_run(&s->results, "seed", value_number((double)seed));
    results_run(&s->results, "simulated", value_bool(s->lab.info->simulated));
    results_run(&s->results, "replayed", value_bool(s->device == NULL));
}

static int open_source(struct sonde *s, const struct sonde_options *options,
                       struct error *err)
{
    static const char replay[] = "replay:";
    const size_t length = options->device != NULL ? strlen(options->device) : 0;
    if (length > 0 && options->device[length - 1] == ':')
        return error_set(err, ERR_NO_DEVICE,
                         "after the colon of '%s' must stand what it names "
                         "(`sonde list` shows what is there)",
                         options->device);
    if (options->device != NULL &&
        strncmp(options->device, replay, sizeof replay - 1) == 0) {
        if (options->record != NULL)
            return error_set(err, ERR_USAGE,
                             "a replay cannot be recorded; copy the file");
        return recording_read(options->device + sizeof replay - 1,
                              &s->recording, err);
    }
    const struct device_options device = {
        .seed = options->seed,
        .no_cache = options->no_cache,
        .ticket = s->ticket,
        .until = options->budget_s > 0 ? now_seconds() + options->budget_s : 0};
    struct error why;
    const int code =
        device_open(options->device, &device, &s->device, &why, err);
    if (code == 0)
        s->device->ticket = s->ticket;
    memcpy(s->why_not_gpu, why.text, sizeof s->why_not_gpu);
    return code;
}

static void set_up(struct sonde *s, const struct sonde_options *options)
{
    uint64_t seed = options->seed;
    if (s->device == NULL)
        seed = recording_seed(s->recording);
    else if (options->record != NULL)
        s->recording = recording_new(&s->device->info, seed);
    if (options->record != NULL) {
        s->record_path = xstrdup(options->record);
        recording_grow(s->recording, options->record);
    }
    const struct prober_options prober = {.seed = seed,
                                          .ticket = s->ticket,
                                          .watch = watch_experiment,
                                          .context = s};
    s->prober = prober_new(s->device, s->recording, &prober);
    s->lab = (struct lab){.prober = s->prober,
                          .info = prober_info(s->prober),
                          .results = &s->results,
                          .watch = watch_study,
                          .context = s};
    s->watch = options->progress;
    s->context = options->context;
    s->budget_s = options->budget_s;
    s->started = now_seconds();
    s->results.version = xstrdup(SONDE_VERSION);
    s->results.commit = xstrdup(sonde_commit());
    s->results.command =
        xcalloc(options->command_count, sizeof *s->results.command);
    for (size_t i = 0; i < options->command_count; i++) {
        s->results.command[i] = xstrdup(options->command[i]);
        s->results.command_count++;
    }
    describe(&s->results, s->lab.info);
    describe_run(s, seed);
    if (s->why_not_gpu[0] != '\0')
        s->results.notice =
            xasprintf("No GPU was measured: this is the simulated %s.",
                      s->lab.info->spec);
}

struct opening {
    const struct sonde_options *options;
    struct sonde *session;
};

static int open_session(void *argument, struct error *err)
{
    struct opening *const o = argument;
    session_reserve();
    struct sonde *const s = o->session = xcalloc(1, sizeof *s);
    s->ticket = stop_ticket(); /* a stop while it opens is for it, too */
    const int code = open_source(s, o->options, err);
    if (code == 0)
        set_up(s, o->options);
    return code;
}

int sonde_open(struct sonde **session, const struct sonde_options *options,
               struct sonde_error *err)
{
    NUMERIC_PLAIN();
    static const struct sonde_options plain;
    struct error why = {0};
    if (session == NULL)
        return session_lacks(__func__, "the session", err);
    *session = NULL;
    if (options == NULL)
        options = &plain;
    if (!session_words(options->command, options->command_count))
        return session_lacks(__func__, "a word of the command", err);
    struct opening opening = {.options = options};
    const int code = mem_guarded(open_session, &opening, &why);
    if (code == 0)
        *session = opening.session;
    else
        sonde_close(opening.session, NULL);
    return session_hand_out(code, &why, err);
}

/* A run that never came to an experiment has nothing worth a file. */
static int keep_recording(void *session, struct error *err)
{
    struct sonde *const s = session;
    const char *const stop =
        s->lab.cut_short ? lab_reason_to_stop(&s->lab) : NULL;
    if (s->record_path == NULL || s->prober == NULL)
        return 0;
    if (stop != NULL)
        recording_stop(s->recording, stop);
    return prober_experiments(s->prober) > 0
               ? recording_write(s->recording, s->record_path, err)
               : 0;
}

static int close_device(void *session, struct error *err)
{
    struct sonde *const s = session;
    (void)err;
    prober_free(s->prober);
    device_close(s->device);
    return 0;
}

int sonde_close(struct sonde *s, struct sonde_error *err)
{
    NUMERIC_PLAIN();
    struct error why = {0}, ignored;
    if (s == NULL)
        return 0;
    const int code = mem_guarded(keep_recording, s, &why);
    mem_guarded(close_device, s, &ignored);
    recording_free(s->recording);
    results_free(&s->results);
    session_forget(s);
    free(s->record_path);
    free(s);
    return session_hand_out(code, &why, err);
}

static const char *device_text(const struct sonde *s, const char *name)
{
    const struct value *const value =
        s != NULL ? results_of_device(&s->results, name) : NULL;
    return value != NULL && value->kind == VALUE_TEXT ? value->text : "";
}

const char *sonde_device_spec(const struct sonde *s)
{
    return device_text(s, "spec");
}

const char *sonde_device_name(const struct sonde *s)
{
    return device_text(s, "name");
}

const char *sonde_device_uuid(const struct sonde *s)
{
    return device_text(s, "uuid");
}

bool sonde_device_simulated(const struct sonde *s)
{
    const struct value *const simulated =
        s != NULL ? results_of_run(&s->results, "simulated") : NULL;
    return simulated != NULL && simulated->number > 0;
}

const char *sonde_device_why(const struct sonde *s)
{
    return s != NULL ? s->why_not_gpu : "";
}

int session_measures(const struct sonde *s, const char *function,
                     struct sonde_error *err)
{
    struct error why;
    if (s == NULL)
        return session_lacks(function, "the session", err);
    if (s->prober != NULL)
        return 0;
    error_set(&why, ERR_USAGE, "%s was given a report, which measures nothing",
              function);
    return session_hand_out(why.code, &why, err);
}

static void count_kernels(struct sonde *s)
{
    if (s->device == NULL || s->device->kernels == 0)
        return;
    results_run(&s->results, "kernels",
                value_number((double)s->device->kernels));
    results_run(&s->results, "kernels_from_cache",
                value_number((double)s->device->kernels_kept));
}

/* ---- measuring -------------------------------------------------------- */

int session_run(struct sonde *s, const char *const *studies, size_t count,
                struct sonde_error *err)
{
    struct error why = {0};
    session_forget(s);
    s->lab.err = (struct error){0};
    s->started = now_seconds();
    s->lab.deadline = s->budget_s > 0 ? s->started + s->budget_s : 0;
    const int code = plan_run(&s->lab, studies, count, &why);
    s->ran_s += now_seconds() - s->started;
    results_run(&s->results, "seconds", value_number(s->ran_s));
    count_kernels(s);
    if (code != 0)
        return session_hand_out(code, &why, err);
    return s->lab.cut_short;
}

static size_t study_count(void)
{
    size_t count = 0;
    while (study_table[count] != NULL)
        count++;
    return count;
}

int sonde_run(struct sonde *s, const char *const *studies, size_t count,
              struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    if (session_measures(s, __func__, err) != 0)
        return ERR_USAGE;
    if (!session_words(studies, count))
        return session_lacks(__func__, "a study", err);
    struct error why = {0};
    for (size_t i = 0; i < count; i++)
        if (names_study(studies[i], &why) != 0)
            return session_hand_out(why.code, &why, err);
    /* A run that there was no memory for may have left its wish. */
    s->lab.isa = NULL;
    s->lab.bench = NULL;
    const char **const names =
        xreallocarray(NULL, count + 2 * study_count(), sizeof *names);
    size_t named = 0;
    for (size_t i = 0; i < count; i++)
        names[named++] = studies[i];
    for (size_t i = 0; count == 0 && study_table[i] != NULL; i++)
        if (!study_table[i]->apart)
            names[named++] = study_table[i]->name;
    named += plan_rivals(names, named, names + named);
    const int status = session_run(s, names, named, err);
    free(names);
    return status;
}

static const struct finding *find(const struct sonde *s, const char *id)
{
    return s != NULL && id != NULL ? results_find(&s->results, id) : NULL;
}

size_t sonde_found(const struct sonde *s)
{
    size_t found = 0;
    for (size_t i = 0; s != NULL && i < s->results.finding_count; i++)
        found += s->results.findings[i]->value.kind != VALUE_NONE;
    return found;
}

bool sonde_number(const struct sonde *s, const char *id, double *number)
{
    double found;
    if (!finding_number(find(s, id), &found))
        return false;
    if (number != NULL)
        *number = found;
    return true;
}

bool sonde_interval(const struct sonde *s, const char *id, double *low,
                    double *high)
{
    const struct finding *const f = find(s, id);
    if (f == NULL || !f->has_interval)
        return false;
    if (low != NULL)
        *low = f->interval[0];
    if (high != NULL)
        *high = f->interval[1];
    return true;
}

const char *sonde_status(const struct sonde *s, const char *id)
{
    const struct finding *const f = find(s, id);
    return f != NULL ? finding_status_name(f->status) : NULL;
}

const char *sonde_because(const struct sonde *s, const char *id)
{
    const struct finding *const f = find(s, id);
    return f != NULL ? f->because : NULL;
}

/* ---- experiments by hand ---------------------------------------------- */

/* A word that came with blanks came in quotes, which the shell took. */
static char *experiment_words(const char *name, const char *const *parameters,
                              size_t count)
{
    struct buf text = {0};
    buf_text(&text, name);
    for (size_t i = 0; i < count; i++) {
        const bool quote = strchr(parameters[i], '\'') == NULL;
        buf_printf(&text, quote ? " '%s'" : " %s", parameters[i]);
    }
    return buf_take(&text);
}

static void write_table(const struct samples *samples, const char *experiment,
                        struct buf *out)
{
    struct experiment e;
    struct error ignored;
    for (size_t c = 0; c < samples->columns; c++)
        buf_printf(out, "%s%c", samples->names[c],
                   c + 1 < samples->columns ? '\t' : '\n');
    for (size_t r = 0; r < samples->rows; r++)
        for (size_t c = 0; c < samples->columns; c++)
            buf_printf(out, "%" PRId64 "%c", samples_at(samples, r, c),
                       c + 1 < samples->columns ? '\t' : '\n');
    if (experiment_parse(experiment, &e, &ignored) == 0) {
        probe_summary(&e, samples, out);
        experiment_free(&e);
    }
}

/* The words of the experiment that a caller of `function` names; to be freed.
 */
static int asked(struct sonde *s, const char *function, const char *name,
                 const char *const *parameters, size_t count, char **text,
                 struct sonde_error *err)
{
    struct error why = {0};
    if (session_measures(s, function, err) != 0)
        return ERR_USAGE;
    if (!session_words(parameters, count))
        return session_lacks(function, "a parameter", err);
    if (names_probe(name, &why) != 0)
        return session_hand_out(why.code, &why, err);
    *text = experiment_words(name, parameters, count);
    return 0;
}

int sonde_probe(struct sonde *s, const char *name,
                const char *const *parameters, size_t count, char **table,
                struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    struct samples samples;
    struct buf out = {0};
    if (name == NULL || table == NULL)
        return session_lacks(__func__, "the name or the table", err);
    char *text;
    int code = asked(s, __func__, name, parameters, count, &text, err);
    if (code != 0)
        return code;
    code = prober_run(s->prober, text, &samples, NULL, &why);
    /* The user's own parameters want more memory than there is. */
    if (code == ERR_DEVICE_MEMORY)
        code = why.code = ERR_USAGE;
    if (code == ERR_INTERRUPTED && prober_stopped(s->prober))
        error_set(&why, ERR_INTERRUPTED, why_stopped);
    if (code == 0) {
        write_table(&samples, text, &out);
        samples_free(&samples);
        *table = buf_take(&out);
    }
    free(text);
    return session_hand_out(code, &why, err);
}

int sonde_ptx(struct sonde *s, const char *name, const char *const *parameters,
              size_t count, char **ptx, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    struct experiment e;
    struct buf out = {0};
    if (name == NULL || ptx == NULL)
        return session_lacks(__func__, "the name or the PTX", err);
    char *text;
    int code = asked(s, __func__, name, parameters, count, &text, err);
    if (code != 0)
        return code;
    code = experiment_parse(text, &e, &why);
    free(text);
    if (code != 0)
        return session_hand_out(code, &why, err);
    code = probe_kernel(&e, s->lab.info, &out, &why);
    experiment_free(&e);
    if (code == 0)
        *ptx = buf_take(&out);
    else
        buf_free(&out);
    return session_hand_out(code, &why, err);
}
