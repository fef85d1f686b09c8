/*
 * The part of sonde.h that tells what there is: devices, profiles, studies,
 * probes and instructions, and of a study or a probe what it does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/session.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/device.h"
#include "device/sim/profile/host.h"
#include "device/sim/profile/profile.h"
#include "device/sim/profile/shipped.h"
#include "ptx/instruction.h"
#include "report/page.h"
#include "report/report.h"

/* ---- lists ------------------------------------------------------------ */

typedef void list_row(void *context, const struct sonde_entry *entry);

static int list_devices(list_row *row, void *context, struct error *err)
{
    struct device_entry *entries = NULL;
    size_t count = 0;
    int code = 0;
    for (size_t i = 0; code == 0 && device_backends[i] != NULL; i++)
        code = device_backends[i]->list(&entries, &count, err);
    for (size_t i = 0; i < count; i++) {
        /* Simulated GPUs have a heading of their own. */
        if (strncmp(entries[i].spec, "sim:", 4) == 0)
            continue;
        char *const raw = xasprintf("%s, %s", entries[i].name, entries[i].note);
        char *const text = text_plain(raw);
        free(raw);
        row(context, &(struct sonde_entry){entries[i].spec, text, ""});
        free(text);
    }
    free(entries);
    return code;
}

static int list_profile(const char *name, list_row *row, void *context,
                        struct error *err)
{
    struct profile *profile;
    const int code = profile_open(name, NULL, &profile, err);
    if (code != 0)
        return code;
    char *const raw =
        xasprintf("%s (%s, %d.%d)", profile->name, profile->architecture,
                  profile->cc_major, profile->cc_minor);
    char *const text = text_plain(raw);
    free(raw);
    row(context, &(struct sonde_entry){name, text, ""});
    free(text);
    profile_free(profile);
    return 0;
}

static int list_host(const struct shipped_profile *s, list_row *row,
                     void *context, struct error *err)
{
    struct host *host;
    const int code = host_parse(s->text, s->name, &host, err);
    if (code != 0)
        return code;
    char *const text = xasprintf("%s (a host: %s:0 to %s:%u)", host->name,
                                 s->name, s->name, host->count - 1);
    row(context, &(struct sonde_entry){s->name, text, ""});
    free(text);
    free(host);
    return 0;
}

static int list_profiles(list_row *row, void *context, struct error *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && shipped_profiles[i].name != NULL; i++)
        code = list_profile(shipped_profiles[i].name, row, context, err);
    if (code == 0)
        code = list_profile(QUICK_PROFILE, row, context, err);
    for (size_t i = 0; code == 0 && shipped_hosts[i].name != NULL; i++)
        code = list_host(&shipped_hosts[i], row, context, err);
    return code;
}

/* How long studies took on an H200, with compiled kernels on disk
 * (docs/h200.md, docs/load.md, docs/isa.md); others of the default run at most
 * OTHERS_S. */
static const struct {
    const char *study;
    double seconds;
} took_on_h200[] = {
    {"tlb", 1.9},         {"icache", 1.6},  {"structure", 1.2},
    {"bandwidth", 1.1},   {"isa", 5},       {"arithmetic", 0.5},
    {"contention", 0.05}, {"loaded", 0.25}, {"scheduling", 0.03},
    {"operators", 1.1},   {"hints", 0.04},  {"placement", 0.2},
    {"tensor", 8},
};
#define OTHERS_S 0.7

static void note_time(struct buf *note, const struct study *study)
{
    for (size_t i = 0; i < COUNT_OF(took_on_h200); i++)
        if (strcmp(took_on_h200[i].study, study->name) == 0) {
            buf_printf(note, "; %g s on an H200", took_on_h200[i].seconds);
            return;
        }
    if (!study->apart)
        buf_printf(note, "; at most %g s on an H200", OTHERS_S);
}

static void list_study(const struct study *study, list_row *row, void *context)
{
    struct buf note = {0};
    buf_text(&note, study->apart ? "when named" : "default");
    if (study->under_load)
        buf_text(&note, "; loads the GPU");
    note_time(&note, study);
    row(context,
        &(struct sonde_entry){study->name, study->question, buf_string(&note)});
    buf_free(&note);
}

static void list_format(const struct report_format *f, list_row *row,
                        void *context)
{
    row(context, &(struct sonde_entry){f->name, f->summary,
                                       f->write_several != NULL ? "several"
                                                                : "one GPU"});
}

/* Who listens, of whose memory we know nothing. */
struct listener {
    list_row *row;
    void *context;
};

static void tell(void *listener, const struct sonde_entry *entry)
{
    const struct listener *const l = listener;
    MEM_FOREIGN(l->row(l->context, entry));
}

static int list(enum sonde_list what, list_row *row, void *context,
                struct error *err)
{
    int code = 0;
    switch (what) {
    case SONDE_DEVICES:
        code = list_devices(row, context, err);
        break;
    case SONDE_PROFILES:
        code = list_profiles(row, context, err);
        break;
    case SONDE_STUDIES:
        for (size_t i = 0; study_table[i] != NULL; i++)
            list_study(study_table[i], row, context);
        break;
    case SONDE_PROBES:
        for (size_t i = 0; probe_table[i] != NULL; i++)
            row(context, &(struct sonde_entry){probe_table[i]->name,
                                               probe_table[i]->what, ""});
        break;
    case SONDE_INSTRUCTIONS:
        for (size_t i = 0; instruction_table[i].name != NULL; i++)
            row(context,
                &(struct sonde_entry){
                    instruction_table[i].name,
                    category_names[instruction_table[i].category], ""});
        break;
    case SONDE_FORMATS:
        for (size_t i = 0; report_formats[i] != NULL; i++)
            list_format(report_formats[i], row, context);
        break;
    }
    return code;
}

int sonde_list(enum sonde_list what, list_row *row, void *context,
               struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    if (row == NULL)
        return session_lacks(__func__, "what takes a row", err);
    struct listener listener = {row, context};
    const int code = list(what, tell, &listener, &why);
    return session_hand_out(code, &why, err);
}

static void each_device(const char *spec, struct listener *l)
{
    static const char scheme[] = "sim:";
    const unsigned gpus = strncmp(spec, scheme, sizeof scheme - 1) == 0
                              ? host_gpus(spec + sizeof scheme - 1, NULL)
                              : 0;
    if (gpus == 0)
        tell(l, &(struct sonde_entry){spec, "", ""});
    for (unsigned i = 0; i < gpus; i++) {
        char *const gpu = xasprintf("%s:%u", spec, i);
        tell(l, &(struct sonde_entry){gpu, "", ""});
        free(gpu);
    }
}

int sonde_devices(const char *spec, list_row *row, void *context,
                  struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    if (spec == NULL || row == NULL)
        return session_lacks(__func__, "the spec or what takes a row", err);
    struct listener listener = {row, context};
    each_device(spec, &listener);
    return 0;
}

/* A paragraph, indented and wrapped. */
static void explain_text(struct buf *out, const char *label, const char *text)
{
    const struct page page = {.out = out};
    page_line(&page, &(struct line){.rail = "  ",
                                    .label = label,
                                    .column = label[0] != '\0' ? 12 : 0,
                                    .text = text});
}

static bool came_before(const struct study *study, size_t i)
{
    size_t first = 0;
    while (study_need(study, first) != study_need(study, i))
        first++;
    return first < i;
}

static void explain_needs(const struct study *study, struct buf *out)
{
    const struct study *need;
    buf_text(out, "\n  needs: ");
    for (size_t i = 0; (need = study_need(study, i)) != NULL; i++)
        if (!came_before(study, i))
            buf_printf(out, "%s%s", i == 0 ? "" : ", ", need->name);
    if (study->judges)
        buf_text(out, "all that estimate what it finds\n");
    else
        buf_text(out, study_need(study, 0) == NULL ? "nothing\n" : "\n");
}

static void explain_study(const struct study *study, struct buf *out)
{
    char id[STUDY_ID];
    buf_printf(out, "study %s\n\n", study->name);
    explain_text(out, "", study->question);
    explain_text(out, "", study->method);
    explain_needs(study, out);
    if (study_gives(study, 0, id))
        buf_text(out, "  finds:\n");
    else if (study->proposes == NULL)
        buf_text(out, "  finds: what is asked for (docs/findings.md)\n");
    for (size_t i = 0; study_gives(study, i, id); i++)
        buf_printf(out, "    %s\n", id);
    if (study_proposes(study, 0, id))
        buf_printf(out, "  estimates, of which %s finds what holds:\n",
                   study_judge()->name);
    for (size_t i = 0; study_proposes(study, i, id); i++)
        buf_printf(out, "    %s\n", id);
}

static void explain_param(const struct param *p, struct buf *out)
{
    struct buf text = {0};
    buf_printf(&text, "%s (default %s%s", p->help,
               p->fallback[0] != '\0' ? p->fallback : "none",
               p->kind == PARAM_TEXT ? ")" : "; ");
    if (p->kind == PARAM_NUMBER)
        buf_printf(&text, "%" PRIu64 " to %" PRIu64 ")", p->least, p->most);
    else if (p->kind == PARAM_LIST)
        buf_text(&text, "bytes:elements:bytes)");
    for (const char *const *w = p->words; p->kind == PARAM_WORD && *w; w++)
        buf_printf(&text, "%s%s", *w, w[1] != NULL ? ", " : ")");
    explain_text(out, p->name, buf_string(&text));
    buf_free(&text);
}

static void explain_probe(const struct probe *probe, struct buf *out)
{
    buf_printf(out, "probe %s\n\n", probe->name);
    explain_text(out, "", probe->what);
    buf_text(out, "\n");
    for (const struct param *p = probe->params; p->name != NULL; p++)
        explain_param(p, out);
    buf_text(out, "\n  samples: repeat");
    for (const char *const *c = probe->columns; *c != NULL; c++)
        buf_printf(out, ", %s", *c);
    buf_text(out, "\n");
}

/* What a simulated GPU is said to be, and where its numbers come from. */
static void explain_profile(const struct profile *p, const char *name,
                            struct buf *out)
{
    buf_printf(out, "simulated GPU sim:%s\n\n", name);
    explain_text(out, "", p->name);
    buf_printf(out, "  %s, compute capability %d.%d, %" PRIu64 " SMs\n",
               p->architecture, p->cc_major, p->cc_minor, p->sms);
    explain_text(out, "numbers:",
                 p->source[0] != '\0' ? p->source : "not said where from");
}

static void explain_host(const struct host *h, const char *name,
                         struct buf *out)
{
    char *const gpus = h->count == 1 ? xasprintf("sim:%s:0", name)
                                     : xasprintf("sim:%s:0 to sim:%s:%u", name,
                                                 name, h->count - 1);
    buf_printf(out, "simulated host sim:%s\n\n", name);
    explain_text(out, "", h->name);
    explain_text(out, "GPUs:", gpus);
    explain_text(out, "numbers:",
                 h->source[0] != '\0' ? h->source : "not said where from");
    free(gpus);
}

/* "sim:NAME" or the name alone; false if there is no such profile or host. */
static bool explain_gpu(const char *name, struct buf *out)
{
    static const char scheme[] = "sim:";
    struct profile *profile;
    struct host *host;
    unsigned gpu;
    struct error ignored;
    if (strncmp(name, scheme, sizeof scheme - 1) == 0)
        name += sizeof scheme - 1;
    if (host_gpus(name, NULL) > 0 &&
        host_open(name, NULL, &host, &gpu, &ignored) == 0) {
        explain_host(host, name, out);
        free(host);
        return true;
    }
    if (profile_open(name, NULL, &profile, &ignored) != 0)
        return false;
    explain_profile(profile, name, out);
    profile_free(profile);
    return true;
}

static bool explain_instruction_row(const char *name, struct buf *out)
{
    const struct instruction *i = instruction_table;
    while (i->name != NULL && strcmp(i->name, name) != 0)
        i++;
    if (i->name == NULL)
        return false;
    buf_printf(out, "instruction %s (%s)\n\n", i->name,
               category_names[i->category]);
    if (i->snippet != NULL)
        explain_text(out, "copies of", i->snippet);
    if (i->machine != NULL)
        explain_text(out, "becomes", i->machine);
    if (i->cc > 0)
        buf_printf(out, "  from compute capability %u.%u on\n", i->cc / 10,
                   i->cc % 10);
    buf_printf(out, "  finds:\n    isa.%s.latency.O3\n    isa.%s.throughput\n",
               i->name, i->name);
    return true;
}

/* Those that give or estimate the finding of this id. */
static bool explain_finding(const char *name, struct buf *out)
{
    char id[STUDY_ID];
    const size_t before = out->length;
    for (size_t s = 0; study_table[s] != NULL; s++) {
        const struct study *const study = study_table[s];
        bool gives = study_does_propose(study, name);
        for (size_t i = 0; !gives && study_gives(study, i, id); i++)
            gives = text_glob(id, name);
        if (!gives)
            continue;
        buf_printf(out, "%sfinding %s, of study %s\n\n",
                   out->length > before ? "\n" : "", name, study->name);
        explain_text(out, "", study->question);
        explain_text(out, "", study->method);
    }
    return out->length > before;
}

/* A name may be a study and a probe at once (clock): then both are told.  What
 * is neither is a finding, an instruction or a simulated GPU. */
int sonde_explain(const char *name, char **text, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    if (name == NULL || text == NULL)
        return session_lacks(__func__, "the name or the text", err);
    const struct study *const study = study_find(name);
    const struct probe *const probe = probe_find(name);
    struct buf out = {0};
    if (study == NULL && probe == NULL && !explain_finding(name, &out) &&
        !explain_instruction_row(name, &out) && !explain_gpu(name, &out))
        return session_hand_out(names_nothing(name, &why), &why, err);
    if (study != NULL)
        explain_study(study, &out);
    if (study != NULL && probe != NULL)
        buf_text(&out, "\n");
    if (probe != NULL)
        explain_probe(probe, &out);
    *text = buf_take(&out);
    return 0;
}
