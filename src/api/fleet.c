/* The part of sonde.h that compares many reports: a fleet. */
#include <stdlib.h>
#include <string.h>

#include "api/reports.h"
#include "api/session.h"
#include "base/buf.h"
#include "base/mem.h"
#include "report/fleet/fleet.h"

/* In a thousand fleets a hundred have a false alarm; less than a percent nobody
 * would act on. */
#define ALARMS    0.1
#define TOLERANCE 0.01

struct sonde_fleet {
    struct fleet fleet;
};

static int read_sets(struct fleet *f, const struct sonde_fleet_wish *wish,
                     const char *const *paths, size_t count, struct error *err)
{
    int code = fleet_read(&f->now, &f->names, paths, count, err);
    if (code == 0 && wish->since != NULL)
        code = fleet_read(&f->since, &f->names, &wish->since, 1, err);
    if (code == 0)
        code = fleet_judge(f, err);
    if (code == 0 && wish->since != NULL)
        fleet_compare(f);
    if (code == 0 && wish->expect != NULL)
        code = fleet_expect(f, wish->expect, err);
    return code;
}

int sonde_fleet_read(struct sonde_fleet **fleet, const char *const *paths,
                     size_t count, const struct sonde_fleet_wish *wish,
                     struct sonde_error *err)
{
    static const struct sonde_fleet_wish plain;
    struct error why = {0};
    if (fleet == NULL || count == 0 || !session_words(paths, count))
        return session_lacks(__func__, "the fleet or a path", err);
    wish = wish != NULL ? wish : &plain;
    session_reserve();
    struct sonde_fleet *const f = xcalloc(1, sizeof *f);
    fleet_names_init(&f->fleet.names);
    f->fleet.wish = (struct fleet_wish){
        .alarms = wish->alarms > 0 ? wish->alarms : ALARMS,
        .tolerance = wish->tolerance > 0 ? wish->tolerance : TOLERANCE,
        .rack = wish->rack,
        .only = wish->only};
    const int code = read_sets(&f->fleet, wish, paths, count, &why);
    *fleet = f;
    if (code != 0) {
        sonde_fleet_close(f);
        *fleet = NULL;
    }
    return session_hand_out(code, &why, err);
}

int sonde_fleet_report(const struct sonde_fleet *fleet, const char *format,
                       const struct sonde_style *style, char **text,
                       struct sonde_error *err)
{
    struct error why;
    struct buf out = {0};
    if (fleet == NULL || format == NULL || text == NULL)
        return session_lacks(__func__, "the fleet, the format or the text",
                             err);
    const struct report_style page = reports_style(style);
    if (strcmp(format, "txt") == 0)
        fleet_text(&fleet->fleet, &page, &out);
    else if (strcmp(format, "json") == 0)
        fleet_json(&fleet->fleet, &out);
    else if (strcmp(format, "html") == 0)
        fleet_page(&fleet->fleet, &out);
    else if (strcmp(format, "prom") == 0)
        fleet_metrics(&fleet->fleet, &out);
    else
        return session_hand_out(
            error_set(&why, ERR_USAGE,
                      "a fleet is written as txt, json, html or prom, not as "
                      "'%s'",
                      format),
            &why, err);
    *text = buf_take(&out);
    return 0;
}

bool sonde_fleet_differs(const struct sonde_fleet *fleet)
{
    return fleet != NULL && fleet_differs(&fleet->fleet);
}

size_t sonde_fleet_gpus(const struct sonde_fleet *fleet)
{
    return fleet != NULL ? fleet->fleet.now.count : 0;
}

size_t sonde_fleet_refused(const struct sonde_fleet *fleet)
{
    static const enum fleet_state states[] = {FLEET_BROKEN, FLEET_EMPTY,
                                              FLEET_NEWER, FLEET_UNREADABLE};
    size_t count = 0;
    for (size_t i = 0; fleet != NULL && i < COUNT_OF(states); i++)
        count += fleet->fleet.now.states[states[i]] +
                 fleet->fleet.since.states[states[i]];
    return count;
}

void sonde_fleet_close(struct sonde_fleet *fleet)
{
    if (fleet == NULL)
        return;
    fleet_free(&fleet->fleet);
    free(fleet);
}
