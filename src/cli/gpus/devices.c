#include "cli/gpus/devices.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say.h"
#include "sonde.h"

enum { USAGE = 2, NO_DEVICE = 3, DEVICE_FAILED = 4 }; /* exit statuses */

static void add(struct devices *d, const char *scheme, size_t scheme_length,
                const char *rest, size_t length)
{
    d->specs = realloc(d->specs, (d->count + 1) * sizeof *d->specs);
    char *const spec = malloc(scheme_length + length + 1);
    if (d->specs == NULL || spec == NULL)
        exit(say_no_memory());
    memcpy(spec, scheme, scheme_length);
    memcpy(spec + scheme_length, rest, length);
    spec[scheme_length + length] = '\0';
    d->specs[d->count++] = spec;
}

/* Files may have commas in their names. */
static bool names_file(const char *device)
{
    const char *const colon = strchr(device, ':');
    return colon != NULL && strncmp(device, "cuda:", 5) != 0 &&
           access(colon + 1, F_OK) == 0;
}

bool devices_is_list(const char *device)
{
    return device != NULL &&
           (strcmp(device, "all") == 0 ||
            (strchr(device, ',') != NULL && !names_file(device)));
}

static bool is_number(const char *text, size_t length)
{
    return length > 0 && strspn(text, "0123456789") >= length;
}

/* How much of a word says what kind of device it is, with the colon; 0: it does
 * not.  The GPUs of a host have a colon of their own: "pair:1". */
static size_t scheme_of(const char *word, size_t length)
{
    static const char *const schemes[] = {"cuda:", "sim:", "replay:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strlen(schemes[i]) <= length &&
            strncmp(word, schemes[i], strlen(schemes[i])) == 0)
            return strlen(schemes[i]);
    return 0;
}

/* How much of the word before stands before this one, too: a number follows
 * what its number follows, all else the scheme. */
static size_t shared_with(const char *before, const char *word, size_t length)
{
    const char *const colon = strrchr(before, ':');
    return is_number(word, length) && is_number(colon + 1, strlen(colon + 1))
               ? (size_t)(colon + 1 - before)
               : scheme_of(before, strlen(before));
}

static int take_apart(const char *list, struct devices *d)
{
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        const char *const before = d->count > 0 ? d->specs[d->count - 1] : NULL;
        const bool whole = scheme_of(at, length) > 0;
        if (length == 0 || (!whole && before == NULL)) {
            say("-d takes GPUs with commas between, as in cuda:0,2 or "
                "sim:k20c,sim:v100, or all; not '%s'",
                list);
            return USAGE;
        }
        add(d, before != NULL ? before : "",
            whole ? 0 : shared_with(before, at, length), at, length);
        at += length;
        if (*at == '\0')
            return 0;
    }
}

/* ---- hosts --------------------------------------------------------------- */

static void add_device(void *context, const struct sonde_entry *entry)
{
    add(context, "", 0, entry->name, strlen(entry->name));
}

/* A simulated host is all its GPUs. */
static int take_hosts_apart(struct devices *d)
{
    struct devices all = {.listed = d->listed};
    struct sonde_error err;
    for (size_t i = 0; i < d->count; i++) {
        const int code = sonde_devices(d->specs[i], add_device, &all, &err);
        if (code != 0) {
            say("%s", err.text);
            devices_free(&all);
            return sonde_exit_status(code);
        }
    }
    all.listed = all.listed || all.count > d->count;
    devices_free(d);
    *d = all;
    return 0;
}

/* ---- asking in a child --------------------------------------------------- */

/*
 * Who asks for a GPU opens the driver, and a driver that was opened does not
 * survive a fork, by which the GPUs get their processes: so a child asks.  It
 * writes a spec a line, or one that begins with a blank: an exit status, and
 * why.
 */
typedef void ask(FILE *out, const struct devices *devices);

static void put_why(FILE *out, int code, const struct sonde_error *err)
{
    fprintf(out, " %d %s\n", sonde_exit_status(code), err->text);
}

static void put_spec(void *context, const struct sonde_entry *entry)
{
    fprintf(context, "%s\n", entry->name);
}

static void list_gpus(FILE *out, const struct devices *ignored)
{
    struct sonde_error err;
    (void)ignored;
    const int code = sonde_list(SONDE_DEVICES, put_spec, out, &err);
    if (code != 0)
        put_why(out, code, &err);
}

/* cuda:1, cuda:GPU-…: what may be gone since it was written down. */
static bool is_of_driver(const char *spec)
{
    return strncmp(spec, "cuda:", 5) == 0;
}

static bool names_gpu(const char *spec)
{
    const char *const what = spec + strlen("cuda:");
    return is_of_driver(spec) && (what[strspn(what, "0123456789")] == '\0' ||
                                  strncasecmp(what, "GPU-", 4) == 0 ||
                                  strncasecmp(what, "MIG-", 4) == 0);
}

/* True if there is no such device; of one that fails its run says why. */
static bool is_missing(FILE *out, const char *spec)
{
    const struct sonde_options options = {.device = spec};
    struct sonde *session;
    struct sonde_error err;
    const int code = sonde_open(&session, &options, &err);
    sonde_close(session, NULL);
    if (code == 0 || sonde_exit_status(code) >= DEVICE_FAILED)
        return false;
    put_why(out, code, &err);
    return true;
}

static void count_one(void *context, const struct sonde_entry *ignored)
{
    (void)ignored;
    ++*(size_t *)context;
}

/* The first word that can name nothing, or a GPU where there is none at all.
 * One GPU that is lost of several costs the others nothing. */
static void look_for_missing(FILE *out, const struct devices *d)
{
    struct sonde_error ignored;
    size_t gpus = 0;
    const char *first = NULL;
    for (size_t i = 0; i < d->count; i++) {
        if (!names_gpu(d->specs[i]) && is_missing(out, d->specs[i]))
            return;
        if (first == NULL && is_of_driver(d->specs[i]))
            first = d->specs[i];
    }
    if (first != NULL &&
        sonde_list(SONDE_DEVICES, count_one, &gpus, &ignored) == 0 && gpus == 0)
        is_missing(out, first);
}

/* What a driver may take to count its GPUs: one that has not answered by then
 * does not come back (the library itself waits 30 s for a call). */
enum { PATIENCE_MS = 60000 };

static int take_line(struct devices *d, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == ' ') {
        char *why;
        const long status = strtol(line, &why, 10);
        say("%s", why + 1);
        return (int)status;
    }
    add(d, "", 0, line, strlen(line));
    return 0;
}

static int read_answer(int fd, struct devices *d)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char line[2048];
    int status = 0;
    if (poll(&wait, 1, PATIENCE_MS) == 0) {
        say("the driver did not say within %d s which GPUs there are",
            PATIENCE_MS / 1000);
        return DEVICE_FAILED;
    }
    FILE *const in = fdopen(fd, "r");
    while (status == 0 && in != NULL && fgets(line, sizeof line, in) != NULL)
        status = take_line(d, line);
    if (in != NULL)
        fclose(in);
    return status;
}

static _Noreturn void be_child(int fd, ask *question, const struct devices *d)
{
    FILE *const out = fdopen(fd, "w");
    if (out == NULL)
        _exit(DEVICE_FAILED);
    question(out, d);
    fclose(out);
    _exit(0); /* what the driver left for exit() may hang */
}

/* The specs that the child names come to those that there are. */
static int ask_child(ask *question, struct devices *d)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0)
        return DEVICE_FAILED;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(ends[1], question, d);
    }
    close(ends[1]);
    int status = child > 0 ? read_answer(ends[0], d) : DEVICE_FAILED;
    int ended = 0;
    if (child > 0) {
        kill(child, SIGKILL); /* it has said all, or never will */
        waitpid(child, &ended, 0);
    }
    return status == 0 && WIFEXITED(ended) ? WEXITSTATUS(ended) : status;
}

int devices_all(struct devices *d)
{
    d->listed = true;
    return ask_child(list_gpus, d);
}

int devices_named(const char *device, struct devices *d)
{
    *d = (struct devices){0};
    if (device == NULL)
        return 0;
    if (!devices_is_list(device)) {
        add(d, "", 0, device, strlen(device));
        return take_hosts_apart(d);
    }
    if (strcmp(device, "all") != 0) {
        d->listed = true;
        int status = take_apart(device, d);
        if (status == 0)
            status = take_hosts_apart(d);
        return status != 0 ? status : ask_child(look_for_missing, d);
    }
    const int status = devices_all(d);
    if (status == 0 && d->count == 0) {
        say("there is no GPU for -d all to measure (sonde list says more)");
        return NO_DEVICE;
    }
    return status;
}

void devices_free(struct devices *d)
{
    for (size_t i = 0; i < d->count; i++)
        free(d->specs[i]);
    free(d->specs);
    *d = (struct devices){0};
}
