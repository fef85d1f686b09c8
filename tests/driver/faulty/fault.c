#include "fault.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int lost;

static void hang(void)
{
    const char *const tell = getenv("FAULT_TELL");
    if (tell != NULL)
        close(open(tell, O_CREAT | O_WRONLY, 0600));
    for (;;)
        pause();
}

static atomic_int used = -1;

void fault_uses(int gpu)
{
    used = gpu;
}

static bool is_of_other_gpu(void)
{
    const char *const gpu = getenv("FAULT_GPU");
    return gpu != NULL && atoi(gpu) != used;
}

/* What stands behind "ENTRY:"; NULL if the fault is another's, or at another
 * call. */
static const char *wish_for(const char *name, int call)
{
    const char *const wish = getenv("FAULT");
    const size_t length = strlen(name);
    if (wish == NULL || is_of_other_gpu() || strncmp(wish, name, length) != 0 ||
        wish[length] != ':')
        return NULL;
    char *end;
    const char *const at = strrchr(wish, '@');
    const long n = at != NULL ? strtol(at + 1, &end, 10) : 0;
    if (at != NULL && call != n && !(*end == '+' && call > n))
        return NULL;
    return wish + length + 1;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What answers, however lost a context is: words, and what needs none. */
static bool outlives(const char *name)
{
    static const char *const names[] = {"cuGetError", "cuDriverGet", "cuInit",
                                        "cuDevice",   "cuCtx",       "nvml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(name, names[i]))
            return true;
    return false;
}

int fault_at(struct fault_entry *entry, int *garbage)
{
    const int call = atomic_fetch_add(&entry->calls, 1) + 1;
    const char *const wish = wish_for(entry->name, call);
    *garbage = GARBAGE_NONE;
    if (wish == NULL)
        return lost != 0 && !outlives(entry->name) ? lost : FAULT_NONE;
    if (begins(wish, "hang"))
        hang();
    if (begins(wish, "lost:"))
        return lost = atoi(wish + strlen("lost:"));
    if (!begins(wish, "garbage:"))
        return atoi(wish);
    *garbage = atoi(wish + strlen("garbage:"));
    return FAULT_NONE;
}

void fault_mend(void)
{
    lost = 0;
}

void fault_counts(const struct fault_entry *entries, int count)
{
    const char *const path = getenv("FAULT_COUNTS");
    FILE *const file = path != NULL ? fopen(path, "a") : NULL;
    if (file == NULL)
        return;
    for (int i = 0; i < count; i++)
        fprintf(file, "%s %d\n", entries[i].name, entries[i].calls);
    fclose(file);
}

long long fault_number(int garbage, long long number, long long largest)
{
    return garbage == GARBAGE_NONE    ? number
           : garbage == GARBAGE_ZEROS ? 0
           : garbage == GARBAGE_ONES  ? -1
                                      : largest;
}
