/*
 * Where profiles come from: text, files, and those that are shipped.  Their
 * keys are in profile_keys.c.
 */
#include "device/sim/profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/sim/profile/profile_keys.h"
#include "device/sim/profile/shipped.h"

enum {
    FILE_MAX = 1 << 20, /* bytes; a shipped profile has some thousands */
    PROFILES_MAX = 256, /* among which a nearest name is looked for */
};

int profile_parse(const char *text, const char *where, struct profile **profile,
                  struct error *err)
{
    struct profile *const read = xcalloc(1, sizeof *read);
    const int status = schema_parse(text, where, &profile_schema, read, err);
    if (status == 0)
        *profile = read;
    else
        profile_free(read);
    return status;
}

static unsigned tpc_of(const struct profile *p, unsigned sm)
{
    const unsigned each = (unsigned)p->sms_per_tpc;
    if (each == 0)
        return sm;
    return p->tpcs_apart ? sm % (((unsigned)p->sms + each - 1) / each)
                         : sm / each;
}

unsigned profile_place(const struct profile *p, enum profile_scope scope,
                       unsigned sm)
{
    const unsigned tpcs = (unsigned)p->tpcs_per_gpc;
    switch (scope) {
    case SCOPE_SM:
        return sm;
    case SCOPE_TPC:
        return tpc_of(p, sm);
    case SCOPE_GPC:
        return tpc_of(p, sm) / (tpcs > 0 ? tpcs : 1);
    case SCOPE_GPU:
        break;
    }
    return 0;
}

bool profile_obeys_hints(const struct profile_cache *cache)
{
    return cache->shape.evict_first || cache->shape.evict_last ||
           cache->fetch[0] > 0 || cache->fetch[1] > 0 || cache->fetch[2] > 0;
}

void profile_free(struct profile *profile)
{
    if (profile == NULL)
        return;
    for (size_t i = 0; i < profile->cache_count; i++)
        cache_shape_free(&profile->caches[i].shape);
    for (size_t i = 0; i < PROFILE_TLBS_MAX; i++)
        cache_shape_free(&profile->tlbs[i].shape);
    free(profile->isa);
    free(profile);
}

static bool is_path(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') != NULL ||
           (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static int no_such_profile(const char *name, struct error *err)
{
    const char *names[PROFILES_MAX + 1] = {0};
    for (size_t i = 0; i < PROFILES_MAX && shipped_profiles[i].name; i++)
        names[i] = shipped_profiles[i].name;
    const char *const nearest = text_nearest(name, names);
    if (nearest == NULL)
        return error_set(err, ERR_NO_DEVICE,
                         "there is no profile '%s'; `sonde list` shows those "
                         "that there are, and a path must hold a '/' or end "
                         "in .json",
                         name);
    return error_set(err, ERR_NO_DEVICE,
                     "there is no profile '%s'; did you mean '%s'?", name,
                     nearest);
}

int profile_read_file(const char *name, const char *extra_folder,
                      struct buf *text, struct error *err)
{
    if (!is_path(name) && extra_folder == NULL)
        return no_such_profile(name, err);
    char *const path = is_path(name)
                           ? xstrdup(name)
                           : xasprintf("%s/%s.json", extra_folder, name);
    int status = file_read(path, FILE_MAX, text, err);
    if (status != 0 && access(path, F_OK) != 0)
        status = err->code = ERR_NO_DEVICE;
    free(path);
    return status;
}

static int open_file(const char *path, struct profile **profile,
                     struct error *err)
{
    struct buf text = {0};
    int status = profile_read_file(path, NULL, &text, err);
    if (status == 0)
        status = profile_parse(buf_string(&text), path, profile, err);
    buf_free(&text);
    return status;
}

int profile_open(const char *name, const char *extra_folder,
                 struct profile **profile, struct error *err)
{
    if (is_path(name))
        return open_file(name, profile, err);
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return profile_parse(s->text, name, profile, err);
    if (strcmp(name, QUICK_PROFILE) == 0)
        return profile_parse(quick_profile, name, profile, err);
    if (extra_folder == NULL)
        return no_such_profile(name, err);
    char *const path = xasprintf("%s/%s.json", extra_folder, name);
    const int status = access(path, F_OK) == 0 ? open_file(path, profile, err)
                                               : no_such_profile(name, err);
    free(path);
    return status;
}
