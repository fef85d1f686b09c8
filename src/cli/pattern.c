#include "cli/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "cli/say.h"

static const char marks[] = "hiu%";

bool pattern_check(const char *option, const char *path)
{
    for (const char *at = path; at != NULL && (at = strchr(at, '%')) != NULL;
         at += 2)
        if (at[1] == '\0' || strchr(marks, at[1]) == NULL) {
            say("%s takes the marks %%h (host), %%i (number of the GPU), %%u "
                "(uuid) and %%%% in a name, not '%%%.1s' as in '%s'",
                option, at + 1, path);
            return false;
        }
    return true;
}

bool pattern_has(const char *path, char mark)
{
    for (const char *at = path; at != NULL && (at = strchr(at, '%')) != NULL;
         at += 2)
        if (at[1] == mark)
            return true;
    return false;
}

/* A part of a file's name: what would be a folder, or is not plain, is '-'. */
static void put_plain(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(isalnum((unsigned char)*text) || strchr("._-", *text) != NULL
                  ? *text
                  : '-',
              out);
}

static void put_mark(FILE *out, char mark, const struct pattern_names *names)
{
    struct utsname host;
    if (mark == '%')
        fputc('%', out);
    else if (mark == 'i')
        fprintf(out, "%zu", names->index);
    else if (mark == 'u')
        put_plain(out, names->uuid);
    else
        put_plain(out, uname(&host) == 0 ? host.nodename : "host");
}

/* What stands in the way is said by whoever then cannot write. */
static void make_folders(const char *path)
{
    char *const folder = strdup(path);
    if (folder == NULL)
        exit(say_no_memory());
    for (char *at = folder + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(folder, 0777);
        *at = '/';
    }
    free(folder);
}

char *pattern_fill(const char *path, const struct pattern_names *names)
{
    char *text = NULL;
    size_t length;
    if (path == NULL)
        return NULL;
    FILE *const out = open_memstream(&text, &length);
    if (out == NULL)
        exit(say_no_memory());
    for (const char *at = path; *at != '\0'; at++)
        if (*at == '%')
            put_mark(out, *++at, names);
        else
            fputc(*at, out);
    if (fclose(out) != 0)
        exit(say_no_memory());
    if (strchr(path, '%') != NULL)
        make_folders(text);
    return text;
}
