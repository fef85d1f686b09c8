/*
 * The part of sonde.h that needs no session: names that were meant, and files
 * of the host.
 */
#include <string.h>

#include "api/session.h"
#include "base/file.h"
#include "base/text.h"

char *sonde_plain(const char *text)
{
    SESSION_WORK(return NULL);
    return text_plain(text != NULL ? text : "");
}

const char *sonde_nearest(const char *word, const char *const *names)
{
    SESSION_WORK(return NULL);
    return word != NULL && names != NULL ? text_nearest(word, names) : NULL;
}

int sonde_writable(const char *path, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why;
    if (path == NULL)
        return session_lacks(__func__, "the path", err);
    return session_hand_out(file_writable(path, &why), &why, err);
}

int sonde_write(const char *path, const char *text, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why;
    if (path == NULL || text == NULL)
        return session_lacks(__func__, "the path or the text", err);
    return session_hand_out(file_write(path, text, strlen(text), &why), &why,
                            err);
}
