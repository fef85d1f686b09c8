/* The part of sonde.h that lets findings foretell what no study asked. */
#include "twin/validate/validate.h"
#include "api/session.h"

#include <stdlib.h>

/* Of a report nothing is measured but what it foretells; else all that
 * `topology` shows is measured first. */
static int findings_of(struct sonde *s, const char *path,
                       struct sonde_error *err)
{
    struct sonde *read = NULL;
    if (path == NULL)
        return sonde_run(s, NULL, 0, err);
    const int code = sonde_read(&read, path, err);
    if (code != 0)
        return code;
    session_forget(s);
    results_free(&s->results);
    s->results = read->results;
    read->results = (struct results){0};
    sonde_close(read, NULL);
    return 0;
}

/* What experiments are for from here on. */
static void tell_study(struct sonde *s)
{
    session_forget(s);
    s->progress.study = "validate";
    s->progress.experiment = NULL;
    s->progress.done = s->progress.total++;
}

int sonde_validate(struct sonde *s, const char *path, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    enum { NOT_FORETOLD = 1 };
    struct error why = {0};
    struct validation verdict = {0};
    if (session_measures(s, __func__, err) != 0)
        return ERR_USAGE;
    const int code = findings_of(s, path, err);
    if (code < 0)
        return code;
    tell_study(s);
    const int status =
        twin_validate(&s->results, s->prober, NULL, &verdict, &why);
    if (status != 0)
        return session_hand_out(status, &why, err);
    return verdict.doubted > 0 ? NOT_FORETOLD : code;
}

int sonde_foretell(struct sonde *s, double seconds, struct sonde_error *err)
{
    SESSION_WORK(return session_out_of_memory(err));
    struct error why = {0};
    struct validation verdict = {0};
    if (session_measures(s, __func__, err) != 0)
        return ERR_USAGE;
    /* Where loads are found takes a simulated GPU a tenth of what a run of all
     * studies does, and what they cost a hundredth. */
    const struct validation_wish wish = {
        .seconds = s->lab.info->simulated ? 0 : seconds,
        .means_only = s->lab.info->simulated,
        .brief = true};
    tell_study(s);
    const int status =
        twin_validate(&s->results, s->prober, &wish, &verdict, &why);
    /* What was found stands without it. */
    const bool stands = status == ERR_FILE || status == ERR_INTERRUPTED;
    return status == 0 || (stands && !mem_is_scarce())
               ? 0
               : session_hand_out(status, &why, err);
}
