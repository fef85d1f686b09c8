/* Two sessions at once, each in a thread of its own; what is told of its
 * progress stops the second, and a third measures after it as if nothing had
 * been.  Argument: a device, or else the first GPU. */
#include <pthread.h>
#include <sonde.h>
#include <stddef.h>
#include <stdio.h>

static const char *device;

/* Enough after ten experiments. */
static int stop_soon(void *context, const struct sonde_progress *progress)
{
    (void)context;
    return progress->experiments >= 10;
}

static void *measure(void *stop)
{
    static const char *const studies[] = {"line"};
    const struct sonde_options options = {
        .device = device,
        .progress = stop != NULL ? stop_soon : NULL,
    };
    struct sonde_error err;
    struct sonde *s;
    double line;
    int code = sonde_open(&s, &options, &err);
    if (code == 0)
        code = sonde_run(s, studies, 1, &err);
    if (code < 0)
        printf("%s\n", err.text);
    else if (code > 0)
        printf("stopped\n");
    else if (sonde_number(s, "l1.line", &line))
        printf("L1 has lines of %.0f B\n", line);
    sonde_close(s, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t first, second;
    char stop[] = "";
    device = argc > 1 ? argv[1] : NULL;
    pthread_create(&first, NULL, measure, NULL);
    pthread_create(&second, NULL, measure, stop);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    measure(NULL);
    return 0;
}
