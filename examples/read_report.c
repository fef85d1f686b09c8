/* Reads a report in JSON, with no GPU, and prints what is not plainly
 * measured. */
#include <sonde.h>
#include <stdio.h>
#include <string.h>

static int show(void *context, const struct sonde_finding *f)
{
    size_t *const open = context;
    if (f->because == NULL)
        return 0;
    printf("%s %s%s%s: %s\n", f->id, f->status, f->text[0] != '\0' ? " " : "",
           f->text, f->because);
    ++*open;
    return 0;
}

int main(int argc, char **argv)
{
    struct sonde_error err;
    struct sonde *s;
    size_t open = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: read_report FILE.json\n");
        return 2;
    }
    const int code = sonde_read(&s, argv[1], &err);
    if (code < 0)
        fprintf(stderr, "%s\n", err.text);
    const size_t all = sonde_each(s, show, &open);
    printf("%s: %zu of %zu findings are open\n", sonde_device_name(s), open,
           all);
    sonde_close(s, NULL);
    return sonde_exit_status(code);
}
