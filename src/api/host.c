/*
 * The part of sonde.h that needs no session: names that were meant, and files
 * of the host.
 */
#include "sonde.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

static int hand_out(int status, const struct error *from,
                    struct sonde_error *err)
{
    if (status != 0) {
        err->code = from->code;
        snprintf(err->text, sizeof err->text, "%s", from->text);
    }
    return status;
}

const char *sonde_nearest(const char *word, const char *const *names)
{
    return text_nearest(word, names);
}

int sonde_writable(const char *path, struct sonde_error *err)
{
    struct error why;
    return hand_out(file_writable(path, &why), &why, err);
}

int sonde_write(const char *path, const char *text, struct sonde_error *err)
{
    struct error why;
    return hand_out(file_write(path, text, strlen(text), &why), &why, err);
}
