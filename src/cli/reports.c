#include "cli/reports.h"

#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

int reports_read(struct reports *r, const struct options *o)
{
    struct sonde_error err;
    int code = 0;
    *r = (struct reports){0};
    for (size_t i = 0; code == 0 && i < o->word_count; i++) {
        const char *const path = o->words[i];
        code =
            sonde_read_all(&r->sessions, &r->count,
                           strcmp(path, "-") == 0 ? "/dev/stdin" : path, &err);
    }
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
