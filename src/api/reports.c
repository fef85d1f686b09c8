/*
 * The part of sonde.h that reads and writes reports: of a session that measured
 * or of files, of one GPU or of several.
 */
#include <stdlib.h>
#include <string.h>

#include "api/reports.h"
#include "api/session.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/compare/compare.h"
#include "report/merge.h"
#include "report/report.h"

/* ---- reading ------------------------------------------------------------ */

enum { REPORT_MOST = 64 << 20 };

/* By what zstd begins with (RFC 8878, 3.1.1). */
static bool is_recording(const struct buf *file)
{
    static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    return file->length >= sizeof magic &&
           memcmp(file->data, magic, sizeof magic) == 0;
}

static int read_file(const char *path, struct buf *file, struct error *err)
{
    session_reserve();
    const int code = file_read(path, REPORT_MOST, file, err);
    if (code == 0 && is_recording(file))
        return error_set(err, ERR_FILE,
                         "%s is a recording and no report: it is replayed, as "
                         "the device replay:%s",
                         path, path);
    return code;
}

int sonde_read(struct sonde **session, const char *path,
               struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    struct buf file = {0};
    if (session == NULL || path == NULL)
        return session_lacks(__func__, "the session or the path", err);
    *session = NULL;
    struct sonde *const s = xcalloc(1, sizeof *s);
    int code = read_file(path, &file, &why);
    if (code == 0)
        code = report_read(buf_string(&file), path, &s->results, &why);
    buf_free(&file);
    if (code == 0)
        *session = s;
    else
        sonde_close(s, NULL);
    return session_hand_out(code, &why, err);
}

/* A session of each; takes the results over. */
static void add_sessions(struct sonde ***sessions, size_t *count,
                         const struct results *list, size_t more)
{
    *sessions = xreallocarray(*sessions, *count + more, sizeof **sessions);
    for (size_t i = 0; i < more; i++) {
        struct sonde *const s = xcalloc(1, sizeof *s);
        s->results = list[i];
        (*sessions)[(*count)++] = s;
    }
}

int sonde_read_all(struct sonde ***sessions, size_t *count, const char *path,
                   struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    struct buf file = {0};
    struct results *list = NULL;
    size_t more = 0;
    if (sessions == NULL || count == NULL || path == NULL)
        return session_lacks(__func__, "the sessions or the path", err);
    int code = read_file(path, &file, &why);
    if (code == 0)
        code = report_read_all(buf_string(&file), path, &list, &more, &why);
    buf_free(&file);
    if (code == 0)
        add_sessions(sessions, count, list, more);
    for (size_t i = 0; code != 0 && i < more; i++)
        results_free(&list[i]);
    free(list);
    return session_hand_out(code, &why, err);
}

/* ---- several ------------------------------------------------------------ */

static bool are_sessions(struct sonde *const *sessions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sessions == NULL || sessions[i] == NULL)
            return false;
    return count > 0;
}

/* The first of the sessions that is of the same GPU as this one; itself if
 * there is none. */
static size_t first_of_gpu(struct sonde *const *sessions, size_t at,
                           bool models)
{
    size_t i = 0;
    while (i < at && merge_difference(&sessions[i]->results,
                                      &sessions[at]->results, models)
                             .field != NULL)
        i++;
    return i;
}

/* With `models` all are to become one, so what cannot is told of. */
static int check_models(struct sonde *const *sessions, size_t count,
                        struct error *err)
{
    for (size_t i = 1; i < count; i++)
        if (merge_difference(&sessions[0]->results, &sessions[i]->results, true)
                .field != NULL) {
            merge_refuse(&sessions[0]->results, &sessions[i]->results, true,
                         err);
            return error_prefix(err, "only reports of one model are merged");
        }
    return 0;
}

int sonde_merge(struct sonde **sessions, size_t *count, bool models,
                struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    if (count == NULL || !are_sessions(sessions, *count))
        return session_lacks(__func__, "a session or their number", err);
    if (models && check_models(sessions, *count, &why) != 0)
        return session_hand_out(why.code, &why, err);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct sonde *const s = sessions[i];
        /* Each is there once, also if this comes to no end. */
        sessions[i] = NULL;
        sessions[kept] = s;
        const size_t first = first_of_gpu(sessions, kept, models);
        if (first == kept) {
            kept++;
            continue;
        }
        session_forget(sessions[first]);
        merge_add(&sessions[first]->results, &s->results);
        sessions[kept] = NULL;
        sonde_close(s, NULL);
    }
    *count = kept;
    return 0;
}

/* ---- writing ------------------------------------------------------------ */

struct report_style reports_style(const struct sonde_style *style)
{
    static const struct sonde_style plain;
    const struct sonde_style *const s = style != NULL ? style : &plain;
    return (struct report_style){.color = s->color,
                                 .verbose = s->verbose,
                                 .tree = s->tree,
                                 .ascii = s->ascii,
                                 .width = s->width};
}

/* What so many sessions found; the caller frees the list. */
static const struct results **results_of(struct sonde *const *sessions,
                                         size_t count)
{
    const struct results **const results =
        xreallocarray(NULL, count, sizeof *results);
    for (size_t i = 0; i < count; i++)
        results[i] = &sessions[i]->results;
    return results;
}

static int format_results(const struct results *const *results, size_t count,
                          const char *format, const struct sonde_style *style,
                          char **text, struct error *err)
{
    const struct report_format *const f = report_format_find(format);
    if (f == NULL)
        return error_set(err, ERR_USAGE, "there is no report format '%s'",
                         format);
    const struct report_style inner = reports_style(style);
    struct buf out = {0};
    const int code = report_write(f, results, count, &inner, &out, err);
    if (code == 0)
        *text = buf_take(&out);
    buf_free(&out);
    return code;
}

int sonde_report_all(struct sonde *const *sessions, size_t count,
                     const char *format, const struct sonde_style *style,
                     char **text, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    if (!are_sessions(sessions, count) || format == NULL || text == NULL)
        return session_lacks(__func__, "a session, the format or the text",
                             err);
    const struct results **const results = results_of(sessions, count);
    const int code = format_results(results, count, format, style, text, &why);
    free(results);
    return session_hand_out(code, &why, err);
}

int sonde_report(const struct sonde *s, const char *format,
                 const struct sonde_style *style, char **text,
                 struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    if (s == NULL || format == NULL || text == NULL)
        return session_lacks(__func__, "the session, the format or the text",
                             err);
    const struct results *const one = &s->results;
    const int code = format_results(&one, 1, format, style, text, &why);
    return session_hand_out(code, &why, err);
}

int sonde_report_file(const char *path, const char *format,
                      const struct sonde_style *style, char **text,
                      struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct sonde *s;
    if (path == NULL || format == NULL || text == NULL)
        return session_lacks(__func__, "the path, the format or the text", err);
    int code = sonde_read(&s, path, err);
    if (code == 0)
        code = sonde_report(s, format, style, text, err);
    sonde_close(s, NULL);
    return code;
}

const char *sonde_format_of(const char *path)
{
    const struct report_format *const f =
        path != NULL ? report_format_of_path(path) : NULL;
    return f != NULL ? f->name : NULL;
}

/* ---- comparing ---------------------------------------------------------- */

static bool is_format(const char *format, const char *name)
{
    return strcmp(format, name) == 0;
}

static int put_comparison(const struct comparison *c,
                          const struct sonde_comparison *wish,
                          const struct report_style *style, struct buf *out,
                          struct error *err)
{
    if (wish->format == NULL || is_format(wish->format, "txt"))
        compare_text(c, style, out);
    else if (is_format(wish->format, "json"))
        compare_json(c, out);
    else if (is_format(wish->format, "line"))
        compare_line(c, out);
    else
        return error_set(err, ERR_USAGE,
                         "a comparison is written as txt, json or line, not as '%s'",
                         wish->format);
    return compare_alike(c) ? 0 : 1;
}

static int compare_results(const struct results *const *results, size_t count,
                           const struct sonde_comparison *wish,
                           const struct sonde_style *style, struct buf *out,
                           struct error *err)
{
    const struct compare_wish inner = {wish->only, wish->tolerance};
    const struct report_style page = reports_style(style);
    struct comparison c;
    int code = compare(results, count, &inner, &c, err);
    if (code == 0)
        code = put_comparison(&c, wish, &page, out, err);
    compare_free(&c);
    return code;
}

int sonde_compare(struct sonde *const *sessions, size_t count,
                  const struct sonde_comparison *wish,
                  const struct sonde_style *style, char **text,
                  struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    static const struct sonde_comparison plain;
    struct error why = {0};
    struct buf out = {0};
    if (count < 2 || !are_sessions(sessions, count) || text == NULL)
        return session_lacks(__func__, "two sessions or the text", err);
    const struct results **const results = results_of(sessions, count);
    const int code = compare_results(
        results, count, wish != NULL ? wish : &plain, style, &out, &why);
    free(results);
    if (code >= 0)
        *text = buf_take(&out);
    buf_free(&out);
    return code < 0 ? session_hand_out(code, &why, err) : code;
}
