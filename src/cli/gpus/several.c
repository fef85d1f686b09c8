#include "cli/gpus/several.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/say.h"

enum { CUT_SHORT = 1, DEVICE_FAILED = 4 }; /* exit statuses */

/* A GPU and the process that measures it. */
struct gpu {
    const char *spec;
    pid_t process; /* 0: it has not begun */
    int out, far;  /* pipes: what it puts out, how far it is; -1: ended */
    char *text;    /* what it put out */
    size_t length;
    struct progress_far is_at;
    bool ended;
    int status;
};

struct several {
    const struct options *options;
    struct gpu *gpus;
    size_t count, begun, ended, shown, jobs;
    int worst;
};

/* ---- a child ------------------------------------------------------------- */

/* As the parent found them. */
static void let_signals_end(void);

static void become_child(const struct several *s, size_t index, int out,
                         int far, several_act *act, const void *context)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (size_t i = 0; i < s->begun; i++) {
        close(s->gpus[i].out);
        close(s->gpus[i].far);
    }
    dup2(out, STDOUT_FILENO);
    close(out);
    say_of(s->gpus[index].spec);
    progress_tell(far);
    let_signals_end();
    const int status = act(s->options, s->gpus[index].spec, index, context);
    fflush(NULL);
    /* A driver that was left would keep exit() from returning. */
    _exit(status);
}

static void end_unbegun(struct several *s, struct gpu *g)
{
    say("%s: no process could be started for it: %s", g->spec, strerror(errno));
    g->ended = true;
    g->status = DEVICE_FAILED;
    g->out = g->far = -1;
    s->ended++;
}

static void begin(struct several *s, several_act *act, const void *context)
{
    struct gpu *const g = &s->gpus[s->begun];
    int out[2], far[2];
    fflush(NULL);
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(far, O_CLOEXEC | O_NONBLOCK) != 0 ||
        (g->process = fork()) < 0) {
        end_unbegun(s, g);
        s->begun++;
        return;
    }
    if (g->process == 0) {
        close(out[0]);
        close(far[0]);
        become_child(s, s->begun, out[1], far[1], act, context);
    }
    close(out[1]);
    close(far[1]);
    g->out = out[0];
    g->far = far[0];
    s->begun++;
}

/* ---- signals ------------------------------------------------------------- */

/* The children are told to stop softly, and what they have is reported. */
static volatile sig_atomic_t stopped;
static struct several *running;

static void stop_children(int number)
{
    (void)number;
    stopped = 1;
    for (size_t i = 0; i < running->begun; i++)
        if (!running->gpus[i].ended && running->gpus[i].process > 0)
            kill(running->gpus[i].process, SIGTERM);
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Unless whoever started us wants the signal ignored. */
static void handle_signals(void (*handler)(int))
{
    struct sigaction now,
        next = {.sa_handler = handler, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < NUMBERS; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(numbers[i], &next, NULL);
}

static void let_signals_end(void)
{
    handle_signals(SIG_DFL);
}

/* ---- what they say ------------------------------------------------------- */

/* Of several lines, and not one a GPU. */
static bool is_text(const struct gpu *g)
{
    const char *const end =
        g->length > 0 ? memchr(g->text, '\n', g->length) : NULL;
    return end != NULL && (size_t)(end + 1 - g->text) < g->length;
}

/* In the order of the list, as soon as all before have ended. */
static void show(struct several *s)
{
    static bool any;
    while (s->shown < s->begun && s->gpus[s->shown].ended) {
        struct gpu *const g = &s->gpus[s->shown++];
        if (any && is_text(g))
            fputs("\n", stdout);
        fwrite(g->text, 1, g->length, stdout);
        any = any || g->length > 0;
        free(g->text);
        g->text = NULL;
        const int status = say_result("");
        s->worst = status > s->worst ? status : s->worst;
    }
}

static void end(struct several *s, struct gpu *g)
{
    int how = 0;
    while (waitpid(g->process, &how, 0) < 0 && errno == EINTR)
        ;
    g->ended = true;
    g->status = WIFEXITED(how) ? WEXITSTATUS(how) : DEVICE_FAILED;
    if (WIFSIGNALED(how))
        say("%s: its process was ended by signal %d (%s)", g->spec,
            WTERMSIG(how), strsignal(WTERMSIG(how)));
    s->worst = g->status > s->worst ? g->status : s->worst;
    s->ended++;
    show(s);
}

/* False at its end. */
static bool read_out(struct gpu *g)
{
    enum { PIECE = 65536 };
    g->text = realloc(g->text, g->length + PIECE);
    if (g->text == NULL)
        exit(say_no_memory());
    const ssize_t got = read(g->out, g->text + g->length, PIECE);
    if (got > 0)
        g->length += (size_t)got;
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* The latest is all that counts. */
static void read_far(struct gpu *g)
{
    struct progress_far now;
    while (read(g->far, &now, sizeof now) == (ssize_t)sizeof now)
        g->is_at = now;
}

static void hear(struct several *s, struct gpu *g, const struct pollfd *p)
{
    read_far(g);
    if (p->revents == 0 || read_out(g))
        return;
    close(g->out);
    close(g->far);
    g->out = g->far = -1;
    end(s, g);
}

/* How far all are, in one line. */
static void show_far(const struct several *s)
{
    char text[512];
    double part = 0;
    int length = 0;
    if (s->options->quiet)
        return;
    for (size_t i = 0; i < s->count; i++)
        part += s->gpus[i].ended ? 1 : s->gpus[i].is_at.part;
    length += snprintf(text, sizeof text, "%3.0f %%, %zu of %zu GPUs done",
                       100 * part / (double)s->count, s->ended, s->count);
    for (size_t i = 0; i < s->begun && length < (int)sizeof text - 1; i++)
        if (!s->gpus[i].ended && s->gpus[i].is_at.study[0] != '\0')
            length +=
                snprintf(text + length, sizeof text - (size_t)length,
                         "; %s %.0f %% %s", s->gpus[i].spec,
                         100 * s->gpus[i].is_at.part, s->gpus[i].is_at.study);
    progress_line(text);
}

/* Ten times a second is as often as an eye can follow. */
enum { LOOK_MS = 100 };

static void wait_for_some(struct several *s)
{
    struct pollfd *const waits = calloc(s->begun, sizeof *waits);
    if (waits == NULL)
        exit(say_no_memory());
    for (size_t i = 0; i < s->begun; i++)
        waits[i] = (struct pollfd){.fd = s->gpus[i].out, .events = POLLIN};
    const int ready = poll(waits, s->begun, LOOK_MS);
    for (size_t i = 0; i < s->begun; i++)
        if (!s->gpus[i].ended)
            hear(s, &s->gpus[i],
                 ready > 0 ? &waits[i] : &(struct pollfd){.fd = -1});
    free(waits);
    show_far(s);
}

/* ---- all ----------------------------------------------------------------- */

/* Which did not end well; what it was each said itself. */
static void tell_failed(const struct several *s)
{
    size_t failed = 0;
    for (size_t i = 0; i < s->count; i++)
        failed += !s->gpus[i].ended || s->gpus[i].status != 0;
    if (failed == 0)
        return;
    for (size_t i = 0; i < s->count; i++)
        if (!s->gpus[i].ended)
            say("%s: not measured: all was stopped before", s->gpus[i].spec);
        else if (s->gpus[i].status != 0)
            say("%s: ended with status %d", s->gpus[i].spec, s->gpus[i].status);
    say("%zu of %zu GPUs ended well; the status is the worst, %d",
        s->count - failed, s->count, s->worst);
}

/* Real GPUs wait for each other in nothing; a simulated one takes a core. */
static size_t jobs_of(const struct options *o, const struct devices *d)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t real = 0;
    if (o->jobs > 0)
        return o->jobs < d->count ? (size_t)o->jobs : d->count;
    for (size_t i = 0; i < d->count; i++)
        real += strncmp(d->specs[i], "cuda:", 5) == 0;
    const size_t most = real + (cores > 0 ? (size_t)cores : 1);
    return real == d->count || most > d->count ? d->count : most;
}

static void run(struct several *s, several_act *act, const void *context)
{
    while (s->ended < s->count) {
        while (!stopped && s->begun < s->count && s->begun - s->ended < s->jobs)
            begin(s, act, context);
        if (stopped && s->ended == s->begun)
            break;
        wait_for_some(s);
    }
    progress_clear();
    show(s);
    if (s->ended < s->count && s->worst < CUT_SHORT)
        s->worst = CUT_SHORT;
}

int several_run(const struct options *options, const struct devices *devices,
                several_act *act, const void *context)
{
    struct several s = {.options = options,
                        .count = devices->count,
                        .jobs = jobs_of(options, devices),
                        .gpus = calloc(devices->count, sizeof *s.gpus)};
    if (s.gpus == NULL)
        exit(say_no_memory());
    for (size_t i = 0; i < s.count; i++)
        s.gpus[i] =
            (struct gpu){.spec = devices->specs[i], .out = -1, .far = -1};
    running = &s;
    handle_signals(stop_children);
    run(&s, act, context);
    tell_failed(&s);
    free(s.gpus);
    running = NULL;
    return s.worst;
}
