#include "cli/reports.h"

#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

static int read_one(struct reports *r, const char *path,
                    struct sonde_error *err)
{
    const int code =
        sonde_read(&r->sessions[r->count],
                   strcmp(path, "-") == 0 ? "/dev/stdin" : path, err);
    r->count += code == 0;
    return code;
}

int reports_read(struct reports *r, const struct options *o)
{
    struct sonde_error err;
    int code = 0;
    *r = (struct reports){calloc(o->word_count, sizeof *r->sessions), 0};
    if (r->sessions == NULL)
        abort();
    for (size_t i = 0; code == 0 && i < o->word_count; i++)
        code = read_one(r, o->words[i], &err);
    if (code == 0)
        return 0;
    say("%s", err.text);
    return sonde_exit_status(code);
}

void reports_close(struct reports *r)
{
    for (size_t i = 0; i < r->count; i++)
        sonde_close(r->sessions[i], NULL);
    free(r->sessions);
}
