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

void progress_show(const struct sonde_progress *p)
{
    if (!isatty(STDERR_FILENO)) {
        tell_study(p);
        return;
    }
    if (shown && p->seconds < shown_at + INTERVAL_S)
        return;
    char text[512];
    write_line(p, text, sizeof text);
    /* The last column stays free, or some terminals begin a new line. */
    fprintf(stderr, "\r%.*s\033[K", (int)terminal_columns(STDERR_FILENO) - 1,
            text);
    fflush(stderr);
    shown = true;
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
