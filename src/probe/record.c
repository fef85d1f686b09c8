#include "probe/record.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

static const char magic[] = "sonde-recording 1\n";

/* Far beyond any real recording. */
enum { FILE_MOST = 1 << 28 };

/* How long the text of a file may be, so that a small file takes little memory:
 * those of GPUs hold 9 to 43 times their length, of simulated ones 21. */
static size_t text_most(size_t packed)
{
    enum { LEAST = 8 << 20, TIMES = 100 };
    return LEAST + TIMES * packed;
}

struct entry {
    char *experiment;
    uint64_t hash; /* of it: there are many, and each is looked for */
    char *columns; /* names, separated by blanks */
    size_t width, rows;
    int64_t *data;
    int refused; /* the code, and then no samples but a sentence; or 0 */
    char *why;
    char *disturbed; /* by what, or NULL */
    size_t replayed; /* times it was handed out */
};

struct recording {
    char *where;
    struct device_info info;
    uint64_t seed;
    struct entry *entries;
    size_t count;
    char *stopped; /* why the run came to no end, or NULL */
    char *path;    /* of the file that grows with it, or NULL */
    int file;      /* that file once it has begun, else -1 */
};

static void grow(struct recording *r, const struct entry *entry);

struct recording *recording_new(const struct device_info *info, uint64_t seed)
{
    struct recording *const r = xcalloc(1, sizeof *r);
    r->where = xstrdup("the recording");
    r->info = *info;
    r->seed = seed;
    r->file = -1;
    return r;
}

void recording_free(struct recording *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++) {
        free(r->entries[i].experiment);
        free(r->entries[i].columns);
        free(r->entries[i].data);
        free(r->entries[i].why);
        free(r->entries[i].disturbed);
    }
    free(r->entries);
    if (r->file >= 0)
        close(r->file);
    free(r->where);
    free(r->path);
    free(r->stopped);
    free(r);
}

const struct device_info *recording_info(const struct recording *r)
{
    return &r->info;
}

uint64_t recording_seed(const struct recording *r)
{
    return r->seed;
}

static struct entry *new_entry(struct recording *r, const char *experiment)
{
    char *const copy = xstrdup(experiment);
    r->entries = xreallocarray(r->entries, r->count + 1, sizeof *r->entries);
    struct entry *const e = &r->entries[r->count++];
    *e = (struct entry){.experiment = copy, .hash = hash_long_text(copy)};
    return e;
}

static char *column_names(const struct samples *s)
{
    struct buf names = {0};
    for (size_t i = 0; i < s->columns; i++)
        buf_printf(&names, "%s%s", i > 0 ? " " : "", s->names[i]);
    return buf_take(&names);
}

void recording_add(struct recording *r, const char *experiment,
                   const struct samples *s)
{
    const size_t bytes = s->rows * s->columns * sizeof *s->data;
    char *const columns = column_names(s), *disturbed = NULL;
    if (s->disturbed != NULL)
        disturbed = xstrdup(s->disturbed);
    int64_t *const data = xmalloc(bytes);
    if (bytes > 0)
        memcpy(data, s->data, bytes);
    /* Without memory there is no entry, and never half of one. */
    struct entry *const e = new_entry(r, experiment);
    e->columns = columns;
    e->disturbed = disturbed;
    e->width = s->columns;
    e->rows = s->rows;
    e->data = data;
    grow(r, e);
}

void recording_refuse(struct recording *r, const char *experiment,
                      const struct error *why)
{
    char *const sentence = xstrdup(why->text);
    struct entry *const e = new_entry(r, experiment);
    e->refused = why->code;
    e->why = sentence;
    grow(r, e);
}

void recording_grow(struct recording *r, const char *path)
{
    r->path = xstrdup(path);
}

void recording_stop(struct recording *r, const char *why)
{
    char *const copy = xstrdup(why);
    free(r->stopped);
    r->stopped = copy;
}

const char *recording_stopped(const struct recording *r)
{
    return r->stopped;
}

/* The first entry of that name not yet handed out, else the last one. */
static struct entry *next_entry(struct recording *r, const char *experiment)
{
    const uint64_t hash = hash_long_text(experiment);
    struct entry *found = NULL;
    for (size_t i = 0; i < r->count; i++) {
        if (r->entries[i].hash != hash ||
            strcmp(r->entries[i].experiment, experiment) != 0)
            continue;
        found = &r->entries[i];
        if (found->replayed == 0)
            break;
    }
    return found;
}

/* What a run that was stopped did not come to is no fault of the recording. */
static int not_recorded(const struct recording *r, const char *experiment,
                        struct error *err)
{
    /* A report, which tells it, is the same wherever the recording lies. */
    const char *const folder = strrchr(r->where, '/');
    /* Of a long one so much tells which it is, in a line or two. */
    enum { NAMED = 100 };
    if (r->stopped != NULL)
        return error_set(err, ERR_INTERRUPTED, "%s", r->stopped);
    return error_set(err, ERR_NOT_RECORDED,
                     "%s does not hold the experiment '%.*s%s'; record "
                     "the study again on the GPU",
                     folder != NULL ? folder + 1 : r->where, NAMED, experiment,
                     strlen(experiment) > NAMED ? " ..." : "");
}

int recording_find(struct recording *r, const char *experiment,
                   struct samples *s, struct error *err)
{
    struct entry *const e = next_entry(r, experiment);
    if (e == NULL)
        return not_recorded(r, experiment, err);
    e->replayed++;
    if (e->refused != 0)
        return error_set(err, (enum error_code)e->refused, "%s", e->why);
    char *const columns = column_names(s);
    const bool same = strcmp(columns, e->columns) == 0;
    free(columns);
    if (!same)
        return error_set(err, ERR_NOT_RECORDED,
                         "%s: '%s' has the columns %s, which this version does "
                         "not know",
                         r->where, experiment, e->columns);
    const struct samples rows = {
        .columns = e->width, .rows = e->rows, .data = e->data};
    samples_append(s, s->rows, &rows);
    if (e->disturbed != NULL)
        s->disturbed = xstrdup(e->disturbed);
    return 0;
}

void recording_rewind(struct recording *r)
{
    for (size_t i = 0; i < r->count; i++)
        r->entries[i].replayed = 0;
}

/* ---- writing ---------------------------------------------------------- */

/* Text that is no UTF-8, as the path in a spec may be, is left out. */
static void set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, json_string(text));
}

static void write_info(const struct device_info *info, struct buf *out)
{
    json_t *const properties = json_object();
    for (int i = 0; i < PROPERTY_COUNT; i++)
        if (info->value[i] >= 0)
            json_object_set_new(properties,
                                property_finding((enum device_property)i),
                                json_integer(info->value[i]));
    json_t *const device = json_object();
    set_text(device, "spec", info->spec);
    set_text(device, "name", info->name);
    set_text(device, "architecture", info->architecture);
    set_text(device, "driver", info->driver);
    set_text(device, "release", info->release);
    set_text(device, "uuid", info->uuid);
    json_object_set_new(device, "cc_major", json_integer(info->cc_major));
    json_object_set_new(device, "cc_minor", json_integer(info->cc_minor));
    json_object_set_new(device, "simulated", json_boolean(info->simulated));
    json_object_set_new(device, "mapping_bytes",
                        json_integer((json_int_t)info->mapping_bytes));
    json_object_set_new(device, "properties", properties);
    char *const text = json_dumps(device, JSON_COMPACT);
    buf_printf(out, "device %s\n", text);
    free(text);
    json_decref(device);
}

static void write_entry(const struct entry *e, struct buf *out)
{
    if (e->refused != 0) {
        buf_printf(out, "experiment %s\nrefused %d %s\n", e->experiment,
                   e->refused, e->why);
        return;
    }
    buf_printf(out, "experiment %s\n", e->experiment);
    if (e->disturbed != NULL)
        buf_printf(out, "disturbed %s\n", e->disturbed);
    buf_printf(out, "columns %s\nrows %zu\n", e->columns, e->rows);
    for (size_t i = 0; i < e->rows * e->width; i++)
        buf_printf(out, "%" PRId64 "%c", e->data[i],
                   (i + 1) % e->width == 0 ? '\n' : ' ');
}

/* Level 12 takes a second of what an H200's default run gives, 6 % less room
 * than what is quick. */
enum { QUICK = 3, SMALL = 12 };

/* Appends a frame. */
static int compress(const struct buf *text, int level, struct buf *packed,
                    struct error *err)
{
    ZSTD_CCtx *const context = ZSTD_createCCtx();
    if (context == NULL)
        return error_set(err, ERR_FILE, "cannot compress the recording: %s",
                         strerror(ENOMEM));
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const size_t bound = ZSTD_compressBound(text->length);
    char *const data = xmalloc(bound);
    const size_t length =
        ZSTD_compress2(context, data, bound, text->data, text->length);
    ZSTD_freeCCtx(context);
    int status = 0;
    if (ZSTD_isError(length))
        status = error_set(err, ERR_FILE, "cannot compress the recording: %s",
                           ZSTD_getErrorName(length));
    else
        buf_append(packed, data, length);
    free(data);
    return status;
}

static void write_head(const struct recording *r, struct buf *out)
{
    buf_printf(out, "%sseed %" PRIu64 "\n", magic, r->seed);
    write_info(&r->info, out);
}

/* The file's first bytes are two frames: by the second one that was not closed
 * is told from one that is damaged. */
static int begin(struct recording *r, const struct buf *first,
                 struct error *err)
{
    struct buf head = {0}, packed = {0};
    write_head(r, &head);
    int status = compress(&head, QUICK, &packed, err);
    buf_append(&packed, first->data, first->length);
    if (status == 0)
        status = file_begin(r->path, packed.data, packed.length, &r->file, err);
    buf_free(&head);
    buf_free(&packed);
    return status;
}

static void stop_growing(struct recording *r)
{
    if (r->file >= 0)
        close(r->file);
    r->file = -1;
    free(r->path);
    r->path = NULL;
}

/* A frame each, so that those which are whole can be read whatever becomes of
 * the next.  What cannot be written is told of when the recording is: until
 * then it may have become possible. */
static void grow(struct recording *r, const struct entry *entry)
{
    if (r->path == NULL)
        return;
    struct buf text = {0}, packed = {0};
    struct error ignored;
    write_entry(entry, &text);
    int status = compress(&text, QUICK, &packed, &ignored);
    if (status == 0 && r->file < 0)
        status = begin(r, &packed, &ignored);
    else if (status == 0 && !file_append(r->file, packed.data, packed.length))
        status = ERR_FILE;
    if (status != 0 || r->file < 0)
        stop_growing(r);
    buf_free(&text);
    buf_free(&packed);
}

int recording_write(const struct recording *r, const char *path,
                    struct error *err)
{
    struct buf text = {0}, packed = {0};
    write_head(r, &text);
    for (size_t i = 0; i < r->count; i++)
        write_entry(&r->entries[i], &text);
    if (r->stopped != NULL)
        buf_printf(&text, "stopped %s\n", r->stopped);
    buf_printf(&text, "end %zu\n", r->count);
    int status = compress(&text, SMALL, &packed, err);
    if (status == 0)
        status = file_write(path, packed.data, packed.length, err);
    buf_free(&text);
    buf_free(&packed);
    return status;
}

/* ---- reading ---------------------------------------------------------- */

/* The text, read line by line. */
struct reader {
    const char *where;
    char *next;
    const char *end;
    bool open; /* it may end after any experiment */
    size_t line;
    struct error *err;
};

static char *take_line(struct reader *in)
{
    char *const line = in->next;
    char *const end = strchr(line, '\n');
    if (end == NULL)
        return NULL;
    *end = '\0';
    in->next = end + 1;
    in->line++;
    return line;
}

static int bad(struct reader *in, const char *what)
{
    return error_set(in->err, ERR_FILE,
                     "%s, line %zu: %s; it is not a whole "
                     "recording of this version",
                     in->where, in->line, what);
}

/* The rest of the next line behind `word` and a blank; NULL if it is none. */
static char *take_word(struct reader *in, const char *word)
{
    char *const line = take_line(in);
    const size_t length = strlen(word);
    if (line == NULL || strncmp(line, word, length) != 0 || line[length] != ' ')
        return NULL;
    return line + length + 1;
}

static bool take_number(struct reader *in, const char *word, uint64_t most,
                        uint64_t *number)
{
    const char *const text = take_word(in, word);
    char *end;
    if (text == NULL)
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *number <= most;
}

static void copy_text(char *to, size_t size, json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    snprintf(to, size, "%s", text != NULL ? text : "");
}

static int read_info(struct reader *in, struct device_info *info)
{
    const char *const text = take_word(in, "device");
    json_t *const device =
        text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json_is_object(device)) {
        json_decref(device);
        return bad(in, "there is no description of the device");
    }
    copy_text(info->spec, sizeof info->spec, device, "spec");
    copy_text(info->name, sizeof info->name, device, "name");
    copy_text(info->architecture, sizeof info->architecture, device,
              "architecture");
    copy_text(info->driver, sizeof info->driver, device, "driver");
    copy_text(info->release, sizeof info->release, device, "release");
    copy_text(info->uuid, sizeof info->uuid, device, "uuid");
    info->cc_major =
        (int)json_integer_value(json_object_get(device, "cc_major"));
    info->cc_minor =
        (int)json_integer_value(json_object_get(device, "cc_minor"));
    info->simulated = json_is_true(json_object_get(device, "simulated"));
    info->mapping_bytes = (uint64_t)json_integer_value(
        json_object_get(device, "mapping_bytes"));
    json_t *const properties = json_object_get(device, "properties");
    for (int i = 0; i < PROPERTY_COUNT; i++) {
        json_t *const value = json_object_get(
            properties, property_finding((enum device_property)i));
        info->value[i] =
            json_is_integer(value) ? json_integer_value(value) : -1;
    }
    json_decref(device);
    return 0;
}

static size_t count_words(const char *text)
{
    size_t words = 0;
    for (const char *c = text; *c != '\0'; c++)
        words += *c != ' ' && (c == text || c[-1] == ' ');
    return words;
}

static int read_row(struct reader *in, int64_t *row, size_t width)
{
    char *text = take_line(in);
    for (size_t i = 0; text != NULL && i < width; i++) {
        char *end;
        errno = 0;
        row[i] = strtoll(text, &end, 10);
        if (end == text || errno != 0 || *end != (i + 1 < width ? ' ' : '\0'))
            return bad(in, "a row of samples is not what its columns say");
        text = end + 1;
    }
    return text != NULL ? 0 : bad(in, "samples are missing");
}

/* CODE SENTENCE of an experiment that was refused. */
static int read_refusal(struct reader *in, struct entry *e, const char *text)
{
    char *end;
    const long code = strtol(text, &end, 10);
    if (code >= 0 || code < -99 || *end != ' ')
        return bad(in, "a refusal has no code");
    e->refused = (int)code;
    e->why = xstrdup(end + 1);
    return 0;
}

static int read_samples(struct reader *in, struct entry *e, const char *columns)
{
    e->columns = xstrdup(columns);
    e->width = count_words(e->columns);
    uint64_t rows;
    /* No row is shorter than two characters a column, so a length beyond the
     * text that is left cannot be true. */
    if (e->width == 0 || e->width > COLUMNS_MAX ||
        !take_number(in, "rows",
                     (uint64_t)(in->end - in->next) / 2 / e->width + 1, &rows))
        return bad(in, "an experiment has no columns or no number of rows");
    e->data = xreallocarray(NULL, rows * e->width + 1, sizeof *e->data);
    for (; e->rows < rows; e->rows++)
        if (read_row(in, e->data + e->rows * e->width, e->width) != 0)
            return in->err->code;
    return 0;
}

static int read_entry(struct reader *in, struct recording *r, char *experiment)
{
    struct entry *const e = new_entry(r, experiment);
    const char *line = take_line(in);
    if (line != NULL && strncmp(line, "disturbed ", 10) == 0) {
        e->disturbed = xstrdup(line + 10);
        line = take_line(in);
    }
    if (line != NULL && strncmp(line, "refused ", 8) == 0)
        return read_refusal(in, e, line + 8);
    if (line != NULL && strncmp(line, "columns ", 8) == 0)
        return read_samples(in, e, line + 8);
    return bad(in, "an experiment has no columns or no number of rows");
}

static int read_text(struct reader *in, struct recording *r)
{
    char *line = take_line(in);
    if (line == NULL || strncmp(line, magic, sizeof magic - 2) != 0 ||
        line[sizeof magic - 2] != '\0')
        return bad(in, "it does not begin with 'sonde-recording 1'");
    if (!take_number(in, "seed", UINT64_MAX, &r->seed))
        return bad(in, "there is no seed");
    if (read_info(in, &r->info) != 0)
        return in->err->code;
    while ((line = take_line(in)) != NULL) {
        if (strncmp(line, "experiment ", 11) != 0)
            break;
        if (read_entry(in, r, line + 11) != 0)
            return in->err->code;
    }
    if (line == NULL && in->open) {
        r->stopped = xasprintf("the run that was recorded ended before its "
                               "recording was closed, after experiment %zu",
                               r->count);
        return 0;
    }
    if (line != NULL && strncmp(line, "stopped ", 8) == 0) {
        r->stopped = xstrdup(line + 8);
        line = take_line(in);
    }
    char end[32];
    snprintf(end, sizeof end, "end %zu", r->count);
    if (line == NULL || strcmp(line, end) != 0 || *in->next != '\0')
        return bad(in, "the end is missing");
    if (in->open)
        return error_set(in->err, ERR_FILE,
                         "%s is damaged: something stands behind its end",
                         in->where);
    return 0;
}

static const char cut_short[] = "its end is missing";

/* Appends what the frame holds to the text, up to its end; NULL, or what is
 * wrong.  A frame that came through a pipe does not tell how long that is. */
static const char *unpack(ZSTD_inBuffer *in, struct buf *text)
{
    ZSTD_DCtx *const context = ZSTD_createDCtx();
    if (context == NULL)
        return strerror(ENOMEM);
    const size_t size = ZSTD_DStreamOutSize();
    char *const piece = xmalloc(size);
    const char *why = NULL;
    size_t left;
    do {
        ZSTD_outBuffer out = {piece, size, 0};
        left = ZSTD_decompressStream(context, &out, in);
        if (ZSTD_isError(left))
            why = ZSTD_getErrorName(left);
        else if (left > 0 && in->pos == in->size && out.pos < out.size)
            why = cut_short;
        else if (memchr(piece, '\0', out.pos) != NULL)
            why = "it is not text";
        else if (text->length + out.pos > text_most(in->size))
            why = "it is too long";
        else
            buf_append(text, piece, out.pos);
    } while (why == NULL && left > 0);
    free(piece);
    ZSTD_freeDCtx(context);
    return why;
}

/* One frame of a recording that was closed.  Of one that was not the first
 * holds the head, then each holds an experiment, and the last may be cut short:
 * `*open` tells. */
static const char *unpack_all(ZSTD_inBuffer *in, struct buf *text, bool *open)
{
    const char *why = unpack(in, text);
    *open = false;
    while (why == NULL && in->pos < in->size) {
        const size_t whole = text->length;
        *open = true;
        why = unpack(in, text);
        if (why != cut_short)
            continue;
        text->length = whole;
        text->data[whole] = '\0';
        return NULL;
    }
    return why;
}

static int decompress(const void *data, size_t length, struct reader *reader,
                      struct buf *text)
{
    if (ZSTD_getFrameContentSize(data, length) == ZSTD_CONTENTSIZE_ERROR)
        return error_set(reader->err, ERR_FILE,
                         "%s is not a recording of sonde's", reader->where);
    ZSTD_inBuffer in = {data, length, 0};
    const char *const why = unpack_all(&in, text, &reader->open);
    return why == NULL ? 0
                       : error_set(reader->err, ERR_FILE, "%s is damaged: %s",
                                   reader->where, why);
}

int recording_parse(const void *data, size_t length, const char *where,
                    struct recording **recording, struct error *err)
{
    struct buf text = {0};
    struct reader in = {.where = where, .err = err};
    if (decompress(data, length, &in, &text) != 0) {
        buf_free(&text);
        return err->code;
    }
    struct recording *const r = xcalloc(1, sizeof *r);
    r->where = xstrdup(where);
    r->file = -1;
    in.next = text.data;
    in.end = text.data + text.length;
    const int status = read_text(&in, r);
    buf_free(&text);
    if (status == 0)
        *recording = r;
    else
        recording_free(r);
    return status;
}

int recording_read(const char *path, struct recording **recording,
                   struct error *err)
{
    struct buf file = {0};
    int status = file_read(path, FILE_MOST, &file, err);
    if (status == 0)
        status = recording_parse(buf_string(&file), file.length, path,
                                 recording, err);
    buf_free(&file);
    return status;
}
