/* Measures three findings of a device (the first GPU, or the one that is named)
 * and prints them with how far they hold. */
#include <math.h>
#include <sonde.h>
#include <stdio.h>

static void show(struct sonde *s, const char *id)
{
    struct sonde_finding f;
    if (!sonde_find(s, id, &f))
        return;
    printf("%s: %s (%s)", f.id, f.text[0] != '\0' ? f.text : "-", f.status);
    if (!isnan(f.low))
        printf(", %g to %g %s", f.low, f.high, f.unit);
    printf("%s%s\n", f.because != NULL ? ": " : "",
           f.because != NULL ? f.because : "");
}

int main(int argc, char **argv)
{
    static const char *const studies[] = {"line", "latency"};
    const struct sonde_options options = {.device = argc > 1 ? argv[1] : NULL};
    struct sonde_error err;
    struct sonde *s;
    int code = sonde_open(&s, &options, &err);
    if (code == 0)
        code = sonde_run(s, studies, 2, &err);
    if (code < 0)
        fprintf(stderr, "%s\n", err.text);
    show(s, "l1.line");
    show(s, "l1.latency");
    show(s, "readonly.latency");
    sonde_close(s, NULL);
    return sonde_exit_status(code);
}
