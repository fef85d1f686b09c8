#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/terminal.h"

/* Ten times a second is as often as an eye can follow. */
#define INTERVAL_S 0.1

/* What takes no longer needs no sign of life. */
#define LONG_S 5

/* There is one terminal, so there is one line. */
static bool shown;
static double shown_at;

/* A line for each study that runs when a run has become long. */
static void tell_study(const struct sonde_progress *p)
{
    static size_t told; /* studies */
    if (p->seconds < LONG_S || p->done < told)
        return;
    fprintf(stderr, "sonde: %s, study %zu of %zu, %.0f s\n", p->study,
            p->done + 1, p->total, p->seconds);
    told = p->done + 1;
}

static void write_line(const struct sonde_progress *p, char *text, size_t most)
{
    char over[16] = "", left[48] = "";
    if (p->part > 0)
        snprintf(over, sizeof over, "%3.0f %%, ", 100 * p->part);
    if (!isnan(p->left))
        snprintf(left, sizeof left, ", about %.0f s left", p->left);
    snprintf(text, most, "%s%s, study %zu of %zu, %.1f s%s%s%s", over, p->study,
             p->done + 1, p->total, p->seconds, left,
             p->experiment != NULL ? ": " : "",
             p->experiment != NULL ? p->experiment : "");
}

static int parent = -1;

void progress_tell(int fd)
{
    parent = fd;
}

static void tell_parent(const struct sonde_progress *p)
{
    struct progress_far now = {.part = p->part > 0 ? p->part : 0};
    snprintf(now.study, sizeof now.study, "%s", p->study);
    /* A pipe that is full has enough to say. */
    const ssize_t told = write(parent, &now, sizeof now);
    (void)told;
}

/* The last column stays free, or some terminals begin a new line. */
void progress_line(const char *text)
{
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%.*s\033[K", (int)terminal_columns(STDERR_FILENO) - 1,
            text);
    fflush(stderr);
    shown = true;
}

void progress_show(const struct sonde_progress *p)
{
    if (parent >= 0) {
        tell_parent(p);
        return;
    }
    if (!isatty(STDERR_FILENO)) {
        tell_study(p);
        return;
    }
    if (shown && p->seconds < shown_at + INTERVAL_S)
        return;
    char text[512];
    write_line(p, text, sizeof text);
    progress_line(text);
    shown_at = p->seconds;
}

void progress_clear(void)
{
    if (!shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    shown = false;
}
