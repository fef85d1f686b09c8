#include "cli/gpus/devices.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A word without a scheme has that of the word before. */
static int take_apart(const char *list, struct devices *d)
{
    const char *scheme = list;
    size_t scheme_length = 0;
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        const char *const colon = memchr(at, ':', length);
        if (length == 0 || (colon == NULL && scheme_length == 0)) {
            say("-d takes GPUs with commas between, as in cuda:0,2 or "
                "sim:k20c,sim:v100, or all; not '%s'",
                list);
            return USAGE;
        }
        if (colon != NULL) {
            scheme = at;
            scheme_length = (size_t)(colon + 1 - at);
            add(d, "", 0, at, length);
        } else {
            add(d, scheme, scheme_length, at, length);
        }
        at += length;
        if (*at == '\0')
            return 0;
    }
}

/* ---- all ----------------------------------------------------------------- */

/*
 * Who lists opens the driver, and a driver that was opened does not survive a
 * fork, by which the GPUs get their processes: so a child lists.  It writes a
 * spec a line, or one that begins with a blank: why there is none.
 */
static void put_spec(void *context, const struct sonde_entry *entry)
{
    fprintf(context, "%s\n", entry->name);
}

static void list_in_child(int fd)
{
    struct sonde_error err;
    FILE *const out = fdopen(fd, "w");
    int status = out != NULL ? 0 : DEVICE_FAILED;
    if (out != NULL) {
        const int code = sonde_list(SONDE_DEVICES, put_spec, out, &err);
        if (code != 0)
            fprintf(out, " %s\n", err.text);
        status = sonde_exit_status(code);
        fclose(out);
    }
    _exit(status); /* what the driver left for exit() may hang */
}

/* What a driver may take to count its GPUs: one that has not answered by then
 * does not come back (the library itself waits 30 s for a call). */
enum { PATIENCE_MS = 60000 };

static int take_line(struct devices *d, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == ' ') {
        say("%s", line + 1);
        return DEVICE_FAILED;
    }
    add(d, "", 0, line, strlen(line));
    return 0;
}

static int read_specs(int fd, struct devices *d)
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

int devices_all(struct devices *d)
{
    int ends[2];
    d->listed = true;
    fflush(NULL);
    if (pipe(ends) != 0)
        return DEVICE_FAILED;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        list_in_child(ends[1]);
    }
    close(ends[1]);
    int status = child > 0 ? read_specs(ends[0], d) : DEVICE_FAILED, ended = 0;
    if (child > 0) {
        kill(child, SIGKILL); /* it has said all, or never will */
        waitpid(child, &ended, 0);
    }
    if (status == 0 && WIFEXITED(ended) && WEXITSTATUS(ended) != 0)
        status = WEXITSTATUS(ended);
    return status;
}

int devices_named(const char *device, struct devices *d)
{
    *d = (struct devices){0};
    if (device == NULL)
        return 0;
    if (!devices_is_list(device)) {
        add(d, "", 0, device, strlen(device));
        return 0;
    }
    if (strcmp(device, "all") != 0) {
        d->listed = true;
        return take_apart(device, d);
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
