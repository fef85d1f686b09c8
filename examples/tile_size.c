/* The largest square tiles of floats of which two fit in L1 at once, whole
 * lines long: what a blocked matrix product would take.  Argument: a device. */
#include <math.h>
#include <sonde.h>
#include <stdio.h>

/* What surely fits: a bound or a doubt counts with its low end. */
static double surely(struct sonde *s, const char *id)
{
    struct sonde_finding f;
    if (!sonde_find(s, id, &f) || isnan(f.number))
        return 0;
    return isnan(f.low) ? f.number : fmin(f.low, f.number);
}

int main(int argc, char **argv)
{
    static const char *const studies[] = {"size", "line"};
    const struct sonde_options options = {.device = argc > 1 ? argv[1] : NULL};
    struct sonde_error err;
    struct sonde *s;
    int code = sonde_open(&s, &options, &err);
    if (code == 0)
        code = sonde_run(s, studies, 2, &err);
    if (code < 0)
        fprintf(stderr, "%s\n", err.text);
    const double bytes = surely(s, "l1.size"), line = surely(s, "l1.line");
    if (bytes > 0 && line > 0) {
        const double floats = line / sizeof(float);
        const double edge = floor(sqrt(bytes / 2 / sizeof(float)) / floats);
        printf("L1 of %.0f B, lines of %.0f B: tiles of %.0f x %.0f floats\n",
               bytes, line, edge * floats, edge * floats);
    }
    sonde_close(s, NULL);
    return sonde_exit_status(code);
}
