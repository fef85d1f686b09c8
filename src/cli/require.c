#include "cli/require.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

bool require_check(const struct options *o)
{
    const char *const list = o->require;
    if (list == NULL || (list[0] != ',' && strstr(list, ",,") == NULL &&
                         list[strlen(list) - 1] != ','))
        return true;
    say("--require takes names of findings with commas between, as in "
        "l1.size,l2.*; not '%s'",
        list);
    return false;
}

static int require(const struct sonde *session, const char *const *patterns,
                   size_t count)
{
    struct sonde_error err;
    const int code = sonde_require(session, patterns, count, &err);
    if (code == 0)
        return 0;
    say("%s", err.text);
    return sonde_exit_status(code);
}

/* The list is taken apart in place. */
static int require_list(const struct sonde *session, char *list)
{
    const size_t most = strlen(list);
    const char **const patterns = calloc(most, sizeof *patterns);
    size_t count = 0;
    if (patterns == NULL)
        return say_no_memory();
    for (char *at = strtok(list, ","); at != NULL; at = strtok(NULL, ","))
        patterns[count++] = at;
    const int status = require(session, patterns, count);
    free(patterns);
    return status;
}

int require_status(const struct options *o, const struct sonde *session)
{
    int status = 0;
    if (o->require != NULL) {
        char *const list = strdup(o->require);
        if (list == NULL)
            return say_no_memory();
        status = require_list(session, list);
        free(list);
    }
    return status == 0 && o->strict > 0 ? require(session, NULL, 0) : status;
}
