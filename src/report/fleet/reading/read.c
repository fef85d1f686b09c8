/*
 * Paths become files, files reports, by as many threads as there are cores, and
 * reports GPUs: those of one GPU are one, of which each finding is the latest.
 */
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crew.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/fleet/reading/gather.h"
#include "report/fleet/reading/names.h"

/* ---- states -------------------------------------------------------------- */

static const struct {
    const char *name, *words;
} states[] = {
    [FLEET_READ] = {"read", "read"},
    [FLEET_BROKEN] = {"broken", "broken"},
    [FLEET_CUT] = {"cut", "cut short or still being written"},
    [FLEET_EMPTY] = {"empty", "empty"},
    [FLEET_FOREIGN] = {"foreign", "of something else"},
    [FLEET_NEWER] = {"newer", "of a newer sonde"},
    [FLEET_UNREADABLE] = {"unreadable", "not to be read"},
    [FLEET_OLD] = {"old", "of an older format"},
    [FLEET_DUPLICATE] = {"duplicate", "of a GPU that has a later one"},
};
_Static_assert(COUNT_OF(states) == FLEET_STATES, "all states have names");

const char *fleet_state_name(enum fleet_state state)
{
    return states[state].name;
}

const char *fleet_state_words(enum fleet_state state)
{
    return states[state].words;
}

/* ---- files --------------------------------------------------------------- */

struct files {
    char **paths;
    size_t count;
    struct gathered skipped; /* what is in folders and no report */
};

static void add_file(struct files *f, const char *path)
{
    /* By powers of two: there may be a hundred thousand. */
    if ((f->count & (f->count - 1)) == 0)
        f->paths = xreallocarray(f->paths, 2 * f->count + 1, sizeof *f->paths);
    f->paths[f->count++] = xstrdup(path);
}

static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcmp(path + length - tail, end) == 0;
}

static void add_folder(struct files *f, const char *path);

/* What lies in a folder beside the reports is nobody's fault. */
static void add_entry(struct files *f, const char *path)
{
    struct stat is;
    if (stat(path, &is) != 0)
        gather_note(&f->skipped, FLEET_UNREADABLE, path, strerror(errno));
    else if (S_ISDIR(is.st_mode))
        add_folder(f, path);
    else if (S_ISREG(is.st_mode) &&
             (ends_with(path, ".json") || ends_with(path, ".jsonl")))
        add_file(f, path);
    else
        gather_note(&f->skipped, FLEET_FOREIGN, path, NULL);
}

static int is_no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* In the order of their names, so that two runs say the same. */
static void add_folder(struct files *f, const char *path)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, is_no_dot, alphasort);
    if (count < 0) {
        gather_note(&f->skipped, FLEET_UNREADABLE, path, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        char *const below = xasprintf("%s/%s", path, entries[i]->d_name);
        add_entry(f, below);
        free(below);
        free(entries[i]);
    }
    free(entries);
}

/* Its lines are paths, unless it is reports. */
static int add_listed(struct files *f, char *text, struct error *err)
{
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        line[strcspn(line, "\r")] = '\0';
        struct stat is;
        if (line[0] != '\0' && stat(line, &is) == 0 && S_ISDIR(is.st_mode))
            add_folder(f, line);
        else if (line[0] != '\0')
            add_file(f, line);
    }
    (void)err;
    return 0;
}

enum { REPORT_MOST = 64 << 20, LIST_MOST = 1 << 30 };
static const char standard_input[] = "-";

static int add_input(struct files *f, struct buf *input, struct error *err)
{
    const int code = file_read("/dev/stdin", LIST_MOST, input, err);
    if (code != 0)
        return code;
    const char *const at =
        buf_string(input) + strspn(buf_string(input), " \t\r\n");
    if (*at == '{' || *at == '[') {
        add_file(f, standard_input);
        return 0;
    }
    return input->length > 0 ? add_listed(f, input->data, err) : 0;
}

static int add_path(struct files *f, const char *path, struct buf *input,
                    struct error *err)
{
    struct stat is;
    if (strcmp(path, standard_input) == 0)
        return add_input(f, input, err);
    if (stat(path, &is) != 0)
        return error_set(err, ERR_FILE, "cannot read %s: %s", path,
                         strerror(errno));
    if (S_ISDIR(is.st_mode))
        add_folder(f, path);
    else
        add_file(f, path);
    return 0;
}

/* ---- threads ------------------------------------------------------------- */

struct work {
    const struct files *files;
    const struct buf *input;
    struct fleet_names *names;
    atomic_size_t next;
    struct gathered *of; /* each file */
};

static void read_file(const struct work *w, struct memory *m, size_t i)
{
    const char *const path = w->files->paths[i];
    struct buf text = {0};
    struct error err;
    if (strcmp(path, standard_input) == 0) {
        gather(&w->of[i], m, buf_string(w->input), path);
        return;
    }
    if (file_read(path, REPORT_MOST, &text, &err) != 0)
        gather_note(&w->of[i], FLEET_UNREADABLE, path, err.text);
    else if (strlen(buf_string(&text)) < text.length)
        gather_note(&w->of[i], FLEET_FOREIGN, path, "it holds zero bytes");
    else
        gather(&w->of[i], m, buf_string(&text), path);
    buf_free(&text);
}

static int work(void *argument, struct error *err)
{
    struct work *const w = argument;
    struct memory memory = {.names = w->names};
    for (;;) {
        const size_t i = atomic_fetch_add(&w->next, 1);
        if (i >= w->files->count)
            break;
        read_file(w, &memory, i);
    }
    memory_free(&memory);
    (void)err;
    return 0;
}

/* ---- GPUs ---------------------------------------------------------------- */

static void take_notes(struct fleet_set *set, struct gathered *g)
{
    set->notes = xreallocarray(set->notes, set->note_count + g->note_count + 1,
                               sizeof *set->notes);
    for (size_t i = 0; i < g->note_count; i++) {
        set->notes[set->note_count++] = g->notes[i];
        set->states[g->notes[i].state]++;
    }
    free(g->notes);
}

static void take_gpus(struct fleet_set *set, struct gathered *g)
{
    if (g->count > 0)
        memcpy(&set->gpus[set->count], g->gpus, g->count * sizeof *g->gpus);
    set->count += g->count;
    set->states[FLEET_READ] += g->count;
    free(g->gpus);
}

/* Threads number models as they come across them, so it is names that count;
 * of one GPU the latest report comes first: ISO 8601 in UTC is in the order of
 * its letters, and of one time the later path holds. */
static int by_gpu(const void *a, const void *b, void *names)
{
    const struct fleet_gpu *const x = a, *const y = b;
    const struct fleet_names *const n = names;
    int order = x->model == y->model
                    ? 0
                    : strcmp(n->words.at[x->model], n->words.at[y->model]);
    if (order == 0)
        order = strverscmp(x->host, y->host);
    if (order == 0)
        order = strcmp(x->id, y->id);
    if (order == 0)
        order = strcmp(y->start, x->start);
    return order != 0 ? order : strcmp(y->path, x->path);
}

/* A GPU that moved to another host is the same one. */
static int by_id(const void *a, const void *b, void *names)
{
    const struct fleet_gpu *const x = a, *const y = b;
    const int order = strcmp(x->id, y->id);
    const int start = order != 0 ? order : strcmp(y->start, x->start);
    return start != 0 ? start : by_gpu(a, b, names);
}

/* What the earlier report alone knows is taken over. */
static void merge(struct fleet_gpu *into, struct fleet_gpu *from)
{
    struct fleet_value *const all =
        xcalloc((size_t)into->count + from->count, sizeof *all);
    uint32_t count = 0, i = 0, j = 0;
    while (i < into->count || j < from->count) {
        const bool second = i == into->count ||
                            (j < from->count &&
                             from->values[j].column < into->values[i].column);
        if (!second && j < from->count &&
            from->values[j].column == into->values[i].column)
            j++;
        all[count++] = second ? from->values[j++] : into->values[i++];
    }
    free(into->values);
    into->values = all;
    into->count = count;
    into->reports++;
}

static void note_duplicate(struct fleet_set *set, const struct fleet_gpu *g)
{
    struct gathered one = {0};
    gather_note(&one, FLEET_DUPLICATE, g->path, g->id);
    take_notes(set, &one);
}

static void merge_all(struct fleet_set *set, struct fleet_names *names)
{
    size_t kept = 0;
    qsort_r(set->gpus, set->count, sizeof *set->gpus, by_id, names);
    for (size_t i = 0; i < set->count; i++) {
        struct fleet_gpu *const g = &set->gpus[i];
        if (kept > 0 && strcmp(set->gpus[kept - 1].id, g->id) == 0) {
            note_duplicate(set, g);
            merge(&set->gpus[kept - 1], g);
            fleet_gpu_free(g);
            continue;
        }
        set->gpus[kept++] = *g;
    }
    set->count = kept;
    qsort_r(set->gpus, set->count, sizeof *set->gpus, by_gpu, names);
}

static void collect(struct fleet_set *set, struct work *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->files->count; i++)
        count += w->of[i].count;
    set->gpus = xcalloc(count, sizeof *set->gpus);
    for (size_t i = 0; i < w->files->count; i++) {
        take_gpus(set, &w->of[i]);
        take_notes(set, &w->of[i]);
    }
    merge_all(set, w->names);
}

/* ---- all ----------------------------------------------------------------- */

static void free_files(struct files *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->paths[i]);
    free(f->paths);
}

int fleet_read(struct fleet_set *set, struct fleet_names *names,
               const char *const *paths, size_t count, struct error *err)
{
    struct files files = {0};
    struct buf input = {0};
    int code = 0;
    *set = (struct fleet_set){0};
    for (size_t i = 0; code == 0 && i < count; i++)
        code = add_path(&files, paths[i], &input, err);
    if (code == 0) {
        struct work w = {.files = &files, .input = &input, .names = names};
        w.of = xcalloc(files.count, sizeof *w.of);
        if (crew_run(work, &w, files.count) != 0)
            mem_none();
        take_notes(set, &files.skipped);
        files.skipped = (struct gathered){0};
        collect(set, &w);
        free(w.of);
    }
    take_notes(set, &files.skipped);
    free_files(&files);
    buf_free(&input);
    return code;
}

void fleet_names_init(struct fleet_names *n)
{
    names_init(&n->columns);
    names_init(&n->words);
}

void fleet_names_free(struct fleet_names *n)
{
    names_free(&n->columns);
    names_free(&n->words);
}
